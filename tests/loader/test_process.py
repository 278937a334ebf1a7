"""The process on hosts made by hand: hostile files, recordings that lack answers, other distributions."""

import time

import pytest

from gpuwhy.formats.elf import Elf
from gpuwhy.formats.ldcache import CacheEntry
from gpuwhy.machine.machine import Entry, Machine, Stat
from gpuwhy.loader.glibc import Asker, World, best_entry, cpu_of, default_folders, expand, legacy, search
from gpuwhy.loader.process import Process
from gpuwhy.facts.fact import Absent, Known, Source, Unknown

SOURCE = Source("file", "x")


def elf(needed=(), rpath="", runpath="", soname="", interpreter="") -> Elf:
    return Elf(64, "x86_64", 3, tuple(needed), soname, rpath, runpath, interpreter, 0, 0)


class Made(Machine):
    """A host with some ELF files, folders and other answers."""

    def __init__(self, files: dict[str, Elf], answers: dict[tuple, object] | None = None) -> None:
        self.files, self.answers, self.asked = files, answers or {}, 0

    def ask(self, op, *args):
        self.asked += 1
        if (op, *args) in self.answers:
            found = self.answers[(op, *args)]
            return found if isinstance(found, (Absent, Unknown)) else Known(found, SOURCE)
        if op == "list":
            return Known((), SOURCE)
        if args and args[0] in self.files and op in ("stat", "elf", "real"):
            stat = Stat("file", 1, "-rwxr-xr-x", 0.0)
            return Known({"stat": stat, "elf": self.files[args[0]], "real": args[0]}[op], SOURCE)
        return Known((), SOURCE) if op == "ldcache" else Absent(SOURCE)


def start(files: dict[str, Elf], **more) -> Process:
    process = Process(World(Made(files), "x86_64", **more))
    process.start("/p")
    return process


def test_cyclic_needs_end_and_a_program_that_is_not_elf_loads_nothing():
    assert start({}).loaded == []
    files = {"/p": elf(["liba.so"], rpath="/l"), "/l/liba.so": elf(["libb.so"])}
    files["/l/libb.so"] = elf(["liba.so", "libb.so"])
    assert [one.path for one in start(files).loaded] == ["/p", "/l/liba.so", "/l/libb.so"]


def test_a_long_chain_of_needs_is_followed_without_recursion():
    files = {"/p": elf(["lib0.so"], rpath="/l")}
    files |= {f"/l/lib{n}.so": elf([f"lib{n + 1}.so"]) for n in range(1500)}
    process = start(files)
    assert len(process.loaded) == 1501
    assert [m.name for m in process.missing] == ["lib1500.so"]


def test_a_runpath_of_a_megabyte_is_cut_and_said():
    runpath = ":".join(f"/f{n}" for n in range(150_000))
    before = time.perf_counter()
    process = start({"/p": elf(["liba.so"], runpath=runpath)})
    assert time.perf_counter() - before < 2
    assert process.world.machine.asked < 5000
    found = search(process.world, "liba.so", process.loaded[0].asker)
    assert isinstance(found.path, Unknown)
    assert "first 1000 folders" in found.path.reason


SUBFOLDERS = ("list", "/l", "(glibc-hwcaps|tls|x86_64|haswell|xeon_phi|avx512_1)$")


def test_answers_that_a_recording_lacks_are_passed_over_but_not_the_cache():
    host = Made({}, {("ldcache",): Unknown("/etc/ld.so.cache: permission denied")})
    assert isinstance(search(World(host, "x86_64"), "liba.so", None).path, Unknown)
    host = Made({"/l/liba.so": elf()}, {SUBFOLDERS: Unknown("not in the recording")})
    assert search(World(host, "x86_64", "/l"), "liba.so", None).path.need() == "/l/liba.so"


@pytest.mark.parametrize(
    "answers, interpreter, folders, lib",
    [
        ({("stat", "/usr/lib/x86_64-linux-gnu"): Stat("folder", 0, "", 0.0)}, "", 4, "lib/x86_64-linux-gnu"),
        ({}, "", 2, "lib64"),
        ({("link", "/usr/lib64"): "lib"}, "", 1, "lib"),
        ({}, "/nix/store/x-glibc-2.40/lib/ld-linux-x86-64.so.2", 1, "lib"),
    ],
)
def test_default_folders_of_distributions(answers, interpreter, folders, lib):
    """Debian, Fedora, Arch and NixOS."""
    main = Asker("/p", elf(interpreter=interpreter))
    world = World(Made({}, answers), "x86_64", main=main)
    assert len(default_folders(world)) == folders
    assert expand(world, "/opt/$LIB", main) == f"/opt/{lib}"


SKYLAKE_X = (
    "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma abm movbe "
    "avx512f avx512bw avx512cd avx512dq avx512vl"
)


def cpu(vendor: str, flags: str):
    answers = {("lines", "/proc/cpuinfo", "flags\t", "vendor_id\t"): (f"vendor_id\t: {vendor}", f"flags\t\t: {flags}")}
    return Made({}, answers)


def test_processors():
    intel, amd = cpu_of(cpu("GenuineIntel", SKYLAKE_X)), cpu_of(cpu("AuthenticAMD", SKYLAKE_X))
    assert intel.levels == amd.levels == ("x86-64-v4", "x86-64-v3", "x86-64-v2")
    assert legacy(intel)[:3] == ["tls/haswell/avx512_1/x86_64", "tls/haswell/avx512_1", "tls/haswell/x86_64"]
    assert legacy(amd) == ["tls/x86_64/x86_64", "tls/x86_64", "tls/x86_64", "tls", "x86_64/x86_64", "x86_64", "x86_64"]
    assert cpu_of(cpu("GenuineIntel", "popcnt")).levels == ()
    assert cpu_of(Made({})).levels == ()


def entry(path: str, hwcap: int = 0, level: str = "") -> CacheEntry:
    return CacheEntry("libb.so", path, 0x0303, hwcap, level)


def test_of_several_cache_entries_the_best_level_is_taken():
    host = cpu("AuthenticAMD", SKYLAKE_X.split(" avx512f")[0])
    named = [entry(f"/{n}", 1 << 62 | n, f"x86-64-v{n}") for n in (2, 3, 4)]
    entries = [*named, entry("/haswell", 1 << 50), entry("/tls", 1 << 63), entry("/plain")]
    assert best_entry(host, (2, 36), entries).path == "/3"
    assert best_entry(host, (2, 31), entries).path == "/tls"
    assert best_entry(host, (2, 36), entries[3:]).path == "/tls"
    assert best_entry(host, (2, 41), entries[3:]).path == "/plain"
    assert best_entry(host, (2, 41), [entry("/haswell", 1 << 50)]) is None


def test_subfolders_cost_one_question_a_folder():
    host = Made({}, {SUBFOLDERS: (Entry("tls", "folder"),)})
    tried = search(World(host, "x86_64", "/l", glibc=(2, 31)), "libb.so", None).tried
    assert [one.path for one in tried][:2] == ["/l/tls/x86_64/x86_64/libb.so", "/l/tls/x86_64/libb.so"]
    assert search(World(host, "x86_64", "/l", glibc=(2, 41)), "libb.so", None).tried[0].path == "/l/libb.so"
