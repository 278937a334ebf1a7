"""Images answer as the tree that an engine would unpack; hostile ones are refused."""

import gzip
import json
import os
import random
import shutil
import tarfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuwhy.facts.fact import Absent, Known, Unknown
from gpuwhy.machine.folder import FolderMachine, FolderSystem
from gpuwhy.machine.image import _PATH as PATH
from gpuwhy.machine.image import UnreadableImageError, open_image

from .images import Layout, config, entry, hard, layer, link, oci, saved

PASSWD = b"app:x:1000:1000::/srv/app:/bin/sh\n"
LOWER = layer(
    *(entry("etc"), entry("etc/passwd", PASSWD), entry("usr/lib/liba.so.1", b"old")),
    *(link("lib", "usr/lib"), entry("usr/lib/gone.so", b"x"), entry("opt/a/1", b"1")),
    *(entry("opt/a/2", b"2"), hard("opt/again", "opt/a/1")),
)
UPPER = layer(
    *(entry("usr/lib/.wh.gone.so", b""), entry("opt/a/3", b"3"), entry("opt/a/.wh..wh..opq", b"")),
    *(entry("lib/libb.so", b"through the link"), entry("usr/lib/liba.so.1", b"new!")),
    link("usr/lib/liba.so", "/lib/liba.so.1"),
)


FORMS = ["folder", "folder, gzip layers", "archive", "saved", "saved, gzip", "layout in gzip"]


@pytest.fixture(params=FORMS)
def image(request, tmp_path):
    """The same two layers in every form they come in."""
    forms = {
        "folder": lambda: oci(tmp_path / "i", LOWER, UPPER),
        "folder, gzip layers": lambda: oci(tmp_path / "i", LOWER, UPPER, packed=True),
        "saved": lambda: saved(tmp_path / "i.tar", LOWER, UPPER),
        "saved, gzip": lambda: saved(tmp_path / "i.tar.gz", LOWER, UPPER, packed=True),
    }
    if request.param in forms:
        return open_image(str(forms[request.param]()))
    layout = Layout()
    layout.add("mine:1", config(), gzip.compress(LOWER), UPPER)
    path = layout.archive(tmp_path / "i.tar")
    if request.param == "layout in gzip":
        path.write_bytes(gzip.compress(path.read_bytes()))
    return open_image(str(path))


def test_every_form_gives_the_same_tree(image):
    assert image.read("/lib/liba.so").need() == "new!"
    assert image.real("/lib/liba.so").need() == "/usr/lib/liba.so.1"
    assert image.link("/lib/liba.so").need() == "/lib/liba.so.1"
    assert [e.name for e in image.list("/usr/lib").need()] == ["liba.so", "liba.so.1", "libb.so"]
    assert [e.name for e in image.list("/opt/a").need()] == ["3"]
    assert image.read("/opt/again").need() == "1"
    assert isinstance(image.stat("/usr/lib/gone.so"), Absent)
    assert image.offline().need().name == "mine:1, linux/amd64"


def test_the_config_is_the_environment_without_its_secrets(tmp_path):
    env = ["LD_LIBRARY_PATH=/opt/cuda/lib64", "HF_TOKEN=abc", "CUDA_TOKEN=abc", "BROKEN"]
    host = open_image(str(oci(tmp_path / "i", LOWER, env=env, User="app", WorkingDir="/opt/a")))
    seen = host.environ()
    assert seen.need() == {"LD_LIBRARY_PATH": "/opt/cuda/lib64", "PATH": PATH}
    assert seen.source.detail == "image config"
    assert host.home == "/srv/app"
    assert host.real(".").need() == "/opt/a"
    assert isinstance(host.call("nvml"), Unknown)


def test_a_docker_export_is_a_file_system_without_a_config(tmp_path):
    (tmp_path / "fs.tar").write_bytes(LOWER)
    host = open_image(str(tmp_path / "fs.tar"))
    assert host.read("/lib/liba.so.1").need() == "old"
    assert host.offline().need().kind == "archive"
    assert isinstance(host.environ(), Unknown)


def test_nothing_leads_out_and_nothing_hangs(tmp_path):
    (tmp_path / "secret").write_text("outside")
    bad = layer(
        *(entry("../../escape", b"in"), entry("/absolute", b"in"), link("up", "/..")),
        *(link("out", "../../../../secret"), link("loop", "loop"), link("a", "b"), link("b", "a")),
        *(hard("dead", "nowhere"), hard("self", "self"), entry("."), link("me", ".")),
        *(entry("dev/null", type=tarfile.CHRTYPE), entry("pipe", type=tarfile.FIFOTYPE)),
        *(entry("me/" * 2000 + "deep", b""), entry("x" * 5000, b""), entry("loop/inside", b"")),
        *(entry("etc/f/under", b""), entry("etc/f", b"a file"), entry("etc/f/below", b"a folder")),
        *(entry("twice", b"1"), entry("twice", b"22"), entry(".wh.", b"")),
    )
    host = open_image(str(oci(tmp_path / "i", bad)))
    assert host.read("/escape").need() == "in"
    assert host.read("/absolute").need() == "in"
    assert isinstance(host.read("/out"), Absent)
    assert host.real("/up/up/me/me").need() == "/"
    assert host.read("/twice").need() == "22"
    assert host.read("/etc/f/below").need() == "a folder"
    assert all(isinstance(host.ask(op, "/loop"), Unknown) for op in ("read", "stat", "real"))
    assert all(isinstance(host.stat(path), Absent) for path in ("/dead", "/self"))
    assert isinstance(host.read("/pipe"), Unknown)
    assert isinstance(host.read("/dev/null"), Unknown)
    assert host.stat("/dev/null").need().kind == "char"


def cut(data: bytes) -> bytes:
    return data[: len(data) * 2 // 3]


BIG = layer(entry("etc/big", random.Random(1).randbytes(200_000)))
PACKED = gzip.compress(BIG)


@pytest.mark.parametrize(
    "name, data, says",
    [
        ("cut tar", cut(BIG), "cut short"),
        ("cut gzip", cut(PACKED), "cut short"),
        ("damaged gzip", PACKED[:5000] + bytes(1000) + PACKED[6000:], "damaged"),
        ("text", b"hello" * 1000, "no tar archive"),
        ("empty", b"", "no tar archive"),
        ("zip", b"PK\x03\x04" + bytes(1000), "zip archive"),
        ("sif", b"#!/usr/bin/env run-singularity\n" + bytes(1000), "Singularity"),
        ("nothing in it", layer(entry("readme", b"")), "neither an image nor a file system"),
        ("huge size", BIG[:124] + b"\x80" + b"\xff" * 11 + BIG[136:], "no tar archive"),
    ],
)
def test_a_bad_archive_is_one_sentence(tmp_path, name, data, says):
    (tmp_path / "i.tar").write_bytes(data)
    with pytest.raises(UnreadableImageError, match=says) as error:
        open_image(str(tmp_path / "i.tar"))
    assert "\n" not in str(error.value)


BROKEN = ["layer", "json", "manifest", "config", "digest", "windows"]


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_layout_is_one_sentence(tmp_path, what):
    layout = Layout()
    system = {"os": "windows" if what == "windows" else "linux", "architecture": "amd64"}
    row = layout.add("mine:1", json.dumps(system).encode(), BIG)
    names = {}
    for name, data in layout.files.items():
        kind = "manifest" if b'"layers"' in data else "config" if b'"os"' in data else ""
        names["layer" if data == BIG else kind] = name
    broken = {"json": b"[" * 100_000, "manifest": b"{}", "config": b"[1]"}
    digest = json.dumps({"manifests": [{**row, "digest": "sha256:../../etc/passwd"}]})
    if what == "layer":
        del layout.files[names["layer"]]
    elif what == "digest":
        layout.files["index.json"] = digest.encode()
    elif what in broken:
        layout.files["index.json" if what == "json" else names[what]] = broken[what]
    folder = str(layout.folder(tmp_path / "i"))
    if what == "manifest":
        assert open_image(folder) is None
        return
    with pytest.raises(UnreadableImageError) as error:
        open_image(folder)
    assert len(str(error.value)) < 400


def several(tmp_path):
    """An index in an index, for two platforms; one that was not saved, and an attestation."""
    layout = Layout()
    rows = []
    for arch in ("amd64", "arm64"):
        row = layout.add("", config(architecture=arch), layer(entry(f"etc/{arch}", b"")))
        row.pop("annotations")
        rows.append({**row, "platform": {"os": "linux", "architecture": arch}})
    unsaved = {**rows[0], "digest": "sha256:" + "0" * 64}
    proof = {**rows[0], "platform": {"os": "unknown", "architecture": "unknown"}}
    nested = layout.blob(json.dumps({"manifests": [*rows, unsaved, proof]}).encode())
    nested["mediaType"] = "application/vnd.oci.image.index.v1+json"
    nested["annotations"] = {"io.containerd.image.name": "docker.io/library/mine:1"}
    layout.add("other:2", config(architecture="arm64"), layer(entry("etc/other", b"")))
    last = json.loads(layout.files["index.json"])["manifests"][-1]
    layout.files["index.json"] = json.dumps({"manifests": [nested, last]}).encode()
    return str(layout.folder(tmp_path / "i"))


WANTED = {"": "amd64", "mine:1": "amd64", "mine:1@linux/arm64": "arm64", "other:2": "other"}


@pytest.mark.parametrize("wanted", [*WANTED, "linux/arm64", "nobody:1"])
def test_one_of_several_images_is_chosen_or_all_are_listed(tmp_path, wanted):
    if wanted in WANTED:
        found = open_image(several(tmp_path), wanted).list("/etc").need()
        assert [e.name for e in found] == [WANTED[wanted]]
        return
    with pytest.raises(UnreadableImageError, match=r"other:2@linux/arm64"):
        open_image(several(tmp_path), wanted)


NAME = st.sampled_from(["a", "b", "c"])
PLACE = st.lists(NAME, min_size=1, max_size=3).map("/".join)
TARGET = st.one_of(PLACE, PLACE.map("/{}".format), PLACE.map("../{}".format))
ENTRY = st.one_of(
    st.tuples(st.just("file"), PLACE, st.binary(max_size=40)),
    st.tuples(st.just("folder"), PLACE, st.integers(0o700, 0o777)),
    st.tuples(st.just("link"), PLACE, TARGET),
    st.tuples(st.just("hard"), PLACE, PLACE),
    st.tuples(st.just("gone"), PLACE, st.just(b"")),
    st.tuples(st.just("opaque"), PLACE, st.just(b"")),
)


def written(kind, place, value):
    """One drawn entry as tar has it."""
    folder, _, name = place.rpartition("/")
    if kind == "gone":
        return entry(f"{folder}/.wh.{name}".lstrip("/"), b"")
    if kind == "opaque":
        return entry(f"{place}/.wh..wh..opq", b"")
    if kind == "folder":
        return entry(place, mode=value)
    return {"file": entry, "link": link, "hard": hard}[kind](place, value)


class Unpacked:
    """The judge: layers applied to a real folder, whiteouts first, with os functions."""

    def __init__(self, root):
        self.root = root
        root.mkdir()

    def add(self, drawn):
        system = FolderSystem(str(self.root))
        hides = [one for one in drawn if one[0] in ("gone", "opaque")]
        for kind, place, _ in hides:
            where = self.inside(system, place, kind == "gone")
            names = [where] if kind == "gone" else [f"{where}/{n}" for n in os.listdir(where)]
            for one in names:
                self.remove(one)
        for one in drawn:
            if one not in hides:
                self.put(system, *one)

    def inside(self, system, place, plain):
        """The place on disk; of a plain one, the last part is not followed."""
        folder, _, name = place.rpartition("/")
        if plain:
            return f"{system.place('/' + folder)}/{name}"
        return system.place("/" + place)

    def remove(self, path):
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)

    def put(self, system, kind, place, value):
        path = self.inside(system, place, True)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        there = os.path.isdir(path) and not os.path.islink(path)
        if kind == "folder" and there:
            os.chmod(path, value)
        elif kind == "hard":
            self.join(self.inside(system, value, True), path)
        else:
            self.remove(path)
            if kind == "link":
                os.symlink(value, path)
            elif kind == "folder":
                os.mkdir(path)
                os.chmod(path, value)
            else:
                Path(path).write_bytes(value)
                os.chmod(path, 0o644)

    def join(self, first, path):
        folder = os.path.isdir(first) and not os.path.islink(first)
        if folder or not os.path.lexists(first) or first == path:
            return
        os.link(first, path + ".new", follow_symlinks=False)
        self.remove(path)
        os.rename(path + ".new", path)
        if os.path.lexists(path + ".new"):  # rename of two names of one file does nothing
            os.unlink(path + ".new")


def paths_of(root):
    out = ["/", "/a/b", "/c/a/b", "/a/../a", "/nobody"]
    for folder, folders, files in os.walk(root):
        out += [os.path.join(folder, name).removeprefix(str(root)) for name in folders + files]
    return out


def answers(machine, paths):
    """Every file question about every path; folders' sizes and times are the disk's own affair."""
    out = {}
    for path in paths:
        for question in ("read", "list", "link", "real", "sha256", "stat", "lines", "elf"):
            fact = machine.ask(question, path, *({"lines": ("a",)}.get(question, ())))
            value = fact.value if isinstance(fact, Known) else type(fact).__name__
            if question == "stat" and isinstance(fact, Known):
                size = fact.value.kind == "file" and fact.value.size
                value = (fact.value.kind, fact.value.mode, size)
            out[question, path] = value
    return out


def twins(machine, paths):
    """Which files are one file, by their inodes."""
    groups = {}
    for path in paths:
        real, stat = machine.real(path), machine.stat(path)
        if isinstance(stat, Known) and stat.value.kind == "file" and stat.value.inode:
            groups.setdefault(stat.value.inode, set()).add(real.need())
    return {frozenset(one) for one in groups.values() if len(one) > 1}


def contradictory(drawn):
    """Whether a whiteout lies where its own layer has no folder, or hides what it fills."""
    replaced = {place for kind, place, _ in drawn if kind in ("file", "link", "hard")}
    gone = {place for kind, place, _ in drawn if kind == "gone"}
    hidden = {place for kind, place, _ in drawn if kind == "opaque"}
    hidden |= {place.rpartition("/")[0] for place in gone}
    under_file = any(f"{place}/".startswith(f"{one}/") for place in hidden for one in replaced)
    return under_file or any(p.startswith(f"{one}/") for _, p, _ in drawn for one in gone)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(st.lists(st.lists(ENTRY, max_size=8), min_size=1, max_size=4))
def test_answers_are_those_of_the_unpacked_tree(tmp_path_factory, drawn):
    base = tmp_path_factory.mktemp("image")
    judge = Unpacked(base / "root")
    for one in drawn:
        if contradictory(one):
            return
        try:
            judge.add(one)
        except OSError:  # a file in the way of a folder: engines refuse such layers, each in its way
            return
    image = open_image(str(oci(base / "i", *(layer(*(written(*e) for e in one)) for one in drawn))))
    paths = paths_of(base / "root")
    unpacked = FolderMachine(FolderSystem(str(base / "root")))
    assert answers(image, paths) == answers(unpacked, paths)
    assert twins(image, paths) == twins(unpacked, paths)
