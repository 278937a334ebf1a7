"""Images answer as the tree that an engine would unpack; hostile ones are refused."""

from __future__ import annotations

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
from gpuwhy.formats import compress
from gpuwhy.machine.folder import FolderMachine, FolderSystem
from gpuwhy.machine.image import _PATH as PATH
from gpuwhy.machine.image import open_image
from gpuwhy.machine.image_files import UnreadableImageError, open_file, plain_tar
from gpuwhy.machine.image_layers import Tree
from gpuwhy.machine.record_changed import emptied

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


@pytest.fixture(
    params=["folder", "folder, gzip layers", "archive", "saved", "saved, gzip", "layout in gzip"]
)
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
    env = [
        "LD_LIBRARY_PATH=/opt/cuda/lib64",
        "NVIDIA_VISIBLE_DEVICES=all",
        "HF_TOKEN=abc",
        "CUDA_TOKEN=abc",
        "BROKEN",
    ]
    host = open_image(str(oci(tmp_path / "i", LOWER, env=env, User="app", WorkingDir="/opt/a")))
    seen = host.environ()
    assert seen.need() == {
        "LD_LIBRARY_PATH": "/opt/cuda/lib64",
        "NVIDIA_VISIBLE_DEVICES": "all",
        "PATH": PATH,
    }
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


def several(tmp_path):
    layout = Layout()
    rows = [
        layout.add("", config(architecture=a), layer(entry(f"etc/{a}", b"")))
        for a in ("amd64", "arm64")
    ]
    for row, a in zip(rows, ("amd64", "arm64"), strict=True):
        row["platform"] = {"os": "linux", "architecture": a}
        row.pop("annotations")
    unsaved = {
        **rows[0],
        "digest": "sha256:" + "0" * 64,
        "platform": {"os": "linux", "architecture": "s390x"},
    }
    proof = {**rows[0], "platform": {"os": "unknown", "architecture": "unknown"}}
    nested = layout.blob(json.dumps({"manifests": [*rows, unsaved, proof]}).encode())
    nested |= {"mediaType": "application/vnd.oci.image.index.v1+json"}
    nested |= {"annotations": {"io.containerd.image.name": "docker.io/library/mine:1"}}
    layout.add("other:2", config(architecture="arm64"), layer(entry("etc/other", b"")))
    index = json.loads(layout.files["index.json"])
    index["manifests"] = [nested, index["manifests"][-1]]
    layout.files["index.json"] = json.dumps(index).encode()
    return str(layout.folder(tmp_path / "i"))


@pytest.mark.parametrize(
    "wanted, there",
    [
        ("", "amd64"),
        ("mine:1", "amd64"),
        ("mine:1@linux/arm64", "arm64"),
        ("linux/amd64", "amd64"),
        ("other:2", "other"),
    ],
)
def test_one_of_several_images_is_chosen(tmp_path, wanted, there):
    assert [e.name for e in open_image(several(tmp_path), wanted).list("/etc").need()] == [there]


# ---------------------------------------------------------------- hostile ones


def test_nothing_leads_out_and_nothing_hangs(tmp_path):
    (tmp_path / "secret").write_text("outside")
    bad = layer(
        *(entry("../../escape", b"in"), entry("/absolute", b"in"), link("up", "/..")),
        *(link("out", "../../../../secret"), link("loop", "loop"), link("a", "b"), link("b", "a")),
        *(hard("dead", "nowhere"), hard("self", "self"), entry("."), link("me", ".")),
        *(entry("dev/null", type=tarfile.CHRTYPE), entry("pipe", type=tarfile.FIFOTYPE)),
        *(entry("me/" * 2000 + "deep", b""), entry("x" * 5000, b""), entry("loop/inside", b"")),
        *(entry("etc/f/under", b""), entry("etc/f", b"a file"), entry("etc/f/below", b"a folder")),
        *(
            entry("twice", b"1"),
            entry("twice", b"22"),
            entry(".wh.", b""),
            entry("etc/.wh...", b""),
        ),
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


@pytest.mark.parametrize(
    "name, data, says",
    [
        ("cut tar", cut(BIG), "cut short"),
        ("cut gzip", cut(gzip.compress(BIG)), "cut short"),
        (
            "damaged gzip",
            gzip.compress(BIG)[:5000] + bytes(1000) + gzip.compress(BIG)[6000:],
            "damaged",
        ),
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


@pytest.mark.parametrize(
    "what", ["layer", "size", "json", "manifest", "config", "digest", "windows"]
)
def test_a_broken_layout_is_one_sentence(tmp_path, what):
    layout = Layout()
    row = layout.add("mine:1", config(), BIG)
    blobs = {
        (json.loads(d).get("layers") and "manifest") or "config": n
        for n, d in layout.files.items()
        if d[:1] == b"{"
    }
    big = next(n for n, d in layout.files.items() if d == BIG)
    if what == "layer":
        del layout.files[big]
    elif what == "size":
        layout.files[big] = BIG + b"\0"
    elif what == "json":
        layout.files["index.json"] = b"[" * 100_000
    elif what in ("manifest", "config"):
        layout.files[blobs[what]] = b"{}" if what == "manifest" else b"[1]"
    elif what == "digest":
        layout.files["index.json"] = json.dumps(
            {"manifests": [{**row, "digest": "sha256:../../etc/passwd"}]}
        ).encode()
    else:
        layout = Layout()
        layout.add("mine:1", json.dumps({"os": "windows", "architecture": "amd64"}).encode(), BIG)
    folder = str(layout.folder(tmp_path / "i"))
    if what == "manifest":
        assert open_image(folder) is None
        return
    with pytest.raises(UnreadableImageError) as error:
        open_image(folder)
    assert len(str(error.value)) < 400


# ---------------------------------------------------------------- against a tree on disk

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
            return f"{self.root}{system._walk('/' + folder)}/{name}"
        return f"{self.root}{system._walk('/' + place)}"

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
                value = (fact.value.kind, fact.value.mode, size, bool(fact.value.inode))
            out[question, path] = value
    return out


def contradictory(drawn):
    """Whether a whiteout lies where its own layer has no folder, or hides what it fills."""
    replaced = {place for kind, place, _ in drawn if kind in ("file", "link", "hard")}
    gone = {place for kind, place, _ in drawn if kind == "gone"}
    hidden = {place for kind, place, _ in drawn if kind == "opaque"}
    hidden |= {place.rpartition("/")[0] for place in gone}
    under_file = any(f"{place}/".startswith(f"{one}/") for place in hidden for one in replaced)
    return under_file or any(p.startswith(f"{one}/") for _, p, _ in drawn for one in gone)


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
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
        except (
            OSError
        ):  # a file in the way of a folder: engines refuse such layers, each in its way
            return
    image = open_image(str(oci(base / "i", *(layer(*(written(*e) for e in one)) for one in drawn))))
    paths = paths_of(base / "root")
    assert answers(image, paths) == answers(FolderMachine(FolderSystem(str(base / "root"))), paths)


def test_libraries_are_sampled_while_the_layer_is_unpacked(tmp_path, monkeypatch):
    whole, holed = os.urandom(40 << 20), bytes(30 << 20) + os.urandom(1 << 20)
    parts = layer(entry("a/libx.so.1", whole), entry("a/liby.so", holed), entry("a/z.txt", b"text"))
    counted = []
    inflate = compress._Deflated._inflate

    def counting(self, state, done):
        counted.append(done)
        return inflate(self, state, done)

    monkeypatch.setattr(compress._Deflated, "_inflate", counting)
    (tmp_path / "layer.tar.gz").write_bytes(gzip.compress(parts, 1))
    tree = Tree()
    tree.add(plain_tar(open_file(str(tmp_path / "layer.tar.gz")), "layer 1"))
    assert len(counted) == len(set(counted)), "no block twice"
    found = {name: tree.at(f"/a/{name}").emptied for name in ("libx.so.1", "liby.so", "z.txt")}
    assert found == {"libx.so.1": False, "liby.so": True, "z.txt": None}
    assert emptied(lambda place, size: holed[place : place + size], len(holed))
