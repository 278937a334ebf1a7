"""Images answer as the tree that an engine would unpack from them, and hostile ones are refused in one sentence."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import sys
import tarfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpuwhy.formats import compress
from gpuwhy.host.alias import Alias
from gpuwhy.host.altered import emptied
from gpuwhy.host.blobs import UnreadableImageError, open_file, plain_tar
from gpuwhy.host.image import PATH, open_image
from gpuwhy.host.layers import Tree
from gpuwhy.host.root import RootHost
from gpuwhy.model.fact import Absent, Known, Unknown

from .images import Layout, config, entry, hard, layer, link, oci, saved

LOWER = layer(
    entry("etc"), entry("etc/passwd", b"app:x:1000:1000::/srv/app:/bin/sh\n"), entry("usr/lib/liba.so.1", b"old"),
    link("lib", "usr/lib"), entry("usr/lib/gone.so", b"x"), entry("opt/a/1", b"1"), entry("opt/a/2", b"2"),
    hard("opt/again", "opt/a/1"),
)  # fmt: skip
UPPER = layer(
    entry("usr/lib/.wh.gone.so", b""), entry("opt/a/3", b"3"), entry("opt/a/.wh..wh..opq", b""),
    entry("lib/libb.so", b"through the link"), entry("usr/lib/liba.so.1", b"new!"),
    link("usr/lib/liba.so", "/lib/liba.so.1"),
)  # fmt: skip


@pytest.fixture(params=["folder", "folder, gzip layers", "archive", "saved", "saved, gzip", "layout in gzip"])
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
    env = ["LD_LIBRARY_PATH=/opt/cuda/lib64", "NVIDIA_VISIBLE_DEVICES=all", "HF_TOKEN=abc", "CUDA_TOKEN=abc", "BROKEN"]
    host = open_image(str(oci(tmp_path / "i", LOWER, env=env, User="app", WorkingDir="/opt/a")))
    seen = host.environ()
    assert seen.need() == {"LD_LIBRARY_PATH": "/opt/cuda/lib64", "NVIDIA_VISIBLE_DEVICES": "all", "PATH": PATH}
    assert seen.source.detail == "image config"
    assert host.alias.home == "/srv/app"
    assert host.real(".").need() == "/opt/a"
    assert isinstance(host.call("nvml"), Unknown)


def test_a_docker_export_is_a_file_system_without_a_config(tmp_path):
    (tmp_path / "fs.tar").write_bytes(LOWER)
    host = open_image(str(tmp_path / "fs.tar"))
    assert host.read("/lib/liba.so.1").need() == "old"
    assert host.offline().need().kind == "archive"
    assert isinstance(host.environ(), Unknown)


def test_a_root_folder_is_no_image(tmp_path):
    (tmp_path / "etc").mkdir()
    assert open_image(str(tmp_path)) is None


def several(tmp_path):
    layout = Layout()
    rows = [layout.add("", config(architecture=a), layer(entry(f"etc/{a}", b""))) for a in ("amd64", "arm64")]
    for row, a in zip(rows, ("amd64", "arm64"), strict=True):
        row["platform"] = {"os": "linux", "architecture": a}
        row.pop("annotations")
    unsaved = {**rows[0], "digest": "sha256:" + "0" * 64, "platform": {"os": "linux", "architecture": "s390x"}}
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


@pytest.mark.parametrize("wanted", ["linux/arm64", "nobody:1"])
def test_what_cannot_be_chosen_is_listed(tmp_path, wanted):
    with pytest.raises(UnreadableImageError, match=r"other:2@linux/arm64"):
        open_image(several(tmp_path), wanted)


# ---------------------------------------------------------------- hostile ones


def test_nothing_leads_out_and_nothing_hangs(tmp_path):
    (tmp_path / "secret").write_text("outside")
    bad = layer(
        entry("../../escape", b"in"), entry("/absolute", b"in"), link("out", "../../../../secret"), link("up", "/.."),
        link("loop", "loop"), link("a", "b"), link("b", "a"), hard("dead", "nowhere"), hard("self", "self"), entry("."),
        entry("dev/null", type=tarfile.CHRTYPE), entry("pipe", type=tarfile.FIFOTYPE), link("me", "."),
        entry("me/" * 2000 + "deep", b""), entry("x" * 5000, b""), entry("loop/inside", b""), entry("etc/f/under", b""),
        entry("etc/f", b"a file"), entry("etc/f/below", b"so now a folder"), entry("twice", b"1"),
        entry("twice", b"22"), entry(".wh.", b""), entry("etc/.wh...", b""),
    )  # fmt: skip
    host = open_image(str(oci(tmp_path / "i", bad)))
    assert host.read("/escape").need() == "in"
    assert host.read("/absolute").need() == "in"
    assert isinstance(host.read("/out"), Absent)
    assert host.real("/up/up/me/me").need() == "/"
    assert host.read("/twice").need() == "22"
    assert host.read("/etc/f/below").need() == "so now a folder"
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
        ("damaged gzip", gzip.compress(BIG)[:5000] + bytes(1000) + gzip.compress(BIG)[6000:], "damaged"),
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


def test_a_bomb_is_refused_before_it_unpacks(tmp_path, monkeypatch):
    monkeypatch.setattr("gpuwhy.formats.compress._FREE", 1 << 20)
    bomb = gzip.compress(layer(entry("etc/zeros", bytes(64 << 20))))
    with pytest.raises(UnreadableImageError, match="which no layer does"):
        open_image(str(oci(tmp_path / "i", bomb)))


def test_too_many_files_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("gpuwhy.host.layers.MAX_WEIGHT", 10_000)
    with pytest.raises(UnreadableImageError, match="more files than an image has"):
        open_image(str(oci(tmp_path / "i", layer(*(entry(f"etc/{n}", b"") for n in range(100))))))


@pytest.mark.parametrize("what", ["layer", "size", "json", "manifest", "config", "digest", "windows"])
def test_a_broken_layout_is_one_sentence(tmp_path, what):
    layout = Layout()
    row = layout.add("mine:1", config(), BIG)
    blobs = {
        (json.loads(d).get("layers") and "manifest") or "config": n for n, d in layout.files.items() if d[:1] == b"{"
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
        layout.files["index.json"] = json.dumps({"manifests": [{**row, "digest": "sha256:../../etc/passwd"}]}).encode()
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


@pytest.mark.parametrize("seed", range(60))
def test_random_damage_never_raises_anything_else(tmp_path, seed):
    chance = random.Random(seed)
    data = bytearray(saved(tmp_path / "i.tar", LOWER, UPPER, LOWER).read_bytes())
    for _ in range(chance.randint(1, 8)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    (tmp_path / "i.tar").write_bytes(data[: chance.choice([len(data), chance.randrange(len(data))])])
    try:
        host = open_image(str(tmp_path / "i.tar"))
    except UnreadableImageError:
        return
    for path in ("/", "/lib/liba.so", "/opt/again", "/etc/passwd"):
        for op in ("read", "stat", "real", "link", "sha256"):
            host.ask(op, path)


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
        host = RootHost(str(self.root))
        for kind, place, _ in drawn:
            if kind in ("gone", "opaque"):
                self.hide(host, kind, place)
        for kind, place, value in drawn:
            if kind not in ("gone", "opaque"):
                self.put(host, kind, place, value)

    def inside(self, host, place):
        return str(self.root) + host._walk("/" + place)

    def hide(self, host, kind, place):
        folder, _, name = place.rpartition("/")
        where = self.inside(host, place) if kind == "opaque" else f"{self.inside(host, folder)}/{name}"
        for one in [f"{where}/{n}" for n in os.listdir(where)] if kind == "opaque" else [where]:
            self.remove(one)

    def remove(self, path):
        if os.path.isdir(path) and not os.path.islink(path):
            for name in os.listdir(path):
                self.remove(f"{path}/{name}")
            os.rmdir(path)
        elif os.path.lexists(path):
            os.unlink(path)

    def put(self, host, kind, place, value):
        folder, _, name = place.rpartition("/")
        where = self.inside(host, folder)
        os.makedirs(where, exist_ok=True)
        path = f"{where}/{name}"
        if kind == "folder" and os.path.isdir(path) and not os.path.islink(path):
            os.chmod(path, value)
            return
        if kind == "hard":
            base, _, last = value.rpartition("/")
            first = f"{self.inside(host, base)}/{last}"
            if (os.path.isdir(first) and not os.path.islink(first)) or not os.path.lexists(first) or first == path:
                return
            os.link(first, path + ".new", follow_symlinks=False)
            self.remove(path)
            os.rename(path + ".new", path)
            if os.path.lexists(path + ".new"):  # rename of two names of one file does nothing
                os.unlink(path + ".new")
            return
        self.remove(path)
        if kind == "file":
            with open(path, "wb") as file:
                file.write(value)
            os.chmod(path, 0o644)
        elif kind == "folder":
            os.mkdir(path)
            os.chmod(path, value)
        else:
            os.symlink(value, path)


def paths_of(root):
    out = ["/"]
    for folder, folders, files in os.walk(root):
        out += [os.path.join(folder, name).removeprefix(str(root)) for name in folders + files]
    return [*out, *("/" + "/".join(p) for p in (("a", "b"), ("c", "a", "b"), ("a", "..", "a"), ("nobody",)))]


def answers(host, paths):
    """Every file question about every path; folders' sizes and times are the disk's own affair."""
    out = {}
    for path in paths:
        for op in ("read", "list", "link", "real", "sha256", "stat", "lines", "elf"):
            args = {"list": ("",), "lines": ("a",)}.get(op, ())
            fact = host.ask(op, path, *args)
            value = fact.value if isinstance(fact, Known) else type(fact).__name__
            if op == "stat" and isinstance(fact, Known):
                value = (fact.value.kind, fact.value.mode, fact.value.kind == "file" and fact.value.size)
                value += (bool(fact.value.inode),)
            out[op, path] = value
    return out


def contradictory(drawn):
    """Whether a whiteout lies where the same layer has no folder, or hides what it fills: engines guess there."""
    replaced = {place for kind, place, _ in drawn if kind in ("file", "link", "hard")}
    gone = {place for kind, place, _ in drawn if kind == "gone"}
    hidden = {place.rpartition("/")[0] for place in gone} | {place for kind, place, _ in drawn if kind == "opaque"}
    under_file = any(f"{place}/".startswith(f"{one}/") for place in hidden for one in replaced)
    return under_file or any(place.startswith(f"{one}/") for kind, place, _ in drawn for one in gone)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
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
    image = open_image(str(oci(base / "i", *(layer(*(written(*e) for e in one)) for one in drawn))), alias=Alias())
    paths = paths_of(base / "root")
    assert answers(image, paths) == answers(RootHost(str(base / "root")), paths)


def test_a_large_file_in_a_gzip_layer_is_read_anywhere(tmp_path):
    data = b"".join(n.to_bytes(4, "big") for n in range(6 << 20))
    host = open_image(str(oci(tmp_path / "i", layer(entry("etc/x", b""), entry("opt/big", data)), packed=True)))
    with host._files._open("/opt/big") as file:
        for place in (0, 20 << 20, 9 << 20, (24 << 20) - 4, 4):
            assert file.pread(place, 4) == (place // 4).to_bytes(4, "big")
    assert io.BytesIO(data).getbuffer().nbytes == host.stat("/opt/big").need().size


def test_the_places_by_which_damage_is_told_are_read_while_the_layer_is_unpacked(tmp_path, monkeypatch):
    """Later every one of them would unpack a block of its own again: most of the time of a large image went there."""
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


def test_layers_that_zstd_compressed_need_a_python_that_has_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "compression", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    (tmp_path / "i.tar").write_bytes(compress.ZSTD + bytes(600))
    with pytest.raises(UnreadableImageError, match="compressed with zstd, which this Python cannot read"):
        open_image(str(tmp_path / "i.tar"))


def test_layers_that_zstd_compressed(tmp_path, monkeypatch):
    zstd = pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    monkeypatch.setitem(sys.modules, "compression", sys.modules[zstd.__name__.split(".")[0]])
    monkeypatch.setitem(sys.modules, "compression.zstd", zstd)
    data = random.Random(3).randbytes(30_000)
    layout = Layout()
    layout.add("mine:1", config(), zstd.compress(layer(entry("etc/big", data), entry("etc/small", b"s"))))
    host = open_image(str(layout.folder(tmp_path)))
    assert host.stat("/etc/big").need().size == len(data)
    assert host.read("/etc/small").need() == "s"
