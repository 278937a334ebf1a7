"""Laws of glibc's loader, each a tiny world: what gpuwhy says is loaded, in order, is what glibc has loaded."""

import itertools
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from gpuwhy.loader.process import Process
from gpuwhy.loader.glibc import World
from gpuwhy.loader.symbols import unmet_versions
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.recording import RecordingMachine

from ..length import halved
from .ground import FAILED, Ground, RootGround, agree, needs_gcc, write

pytestmark = needs_gcc


def knows_its_origin(ground: Ground) -> None:
    """glibc asks /proc/self/exe where a program lies, and the small roots have no /proc."""
    if isinstance(ground, RootGround):
        pytest.skip("a program's $ORIGIN needs /proc")


# ---------------------------------------------------------------- RPATH and RUNPATH


@pytest.mark.parametrize("program", ["", "rpath", "runpath"])
@pytest.mark.parametrize("library", ["", "rpath", "runpath"])
def test_every_combination_of_tags_copies_and_variable(ground, program, library):
    """RPATH before LD_LIBRARY_PATH before RUNPATH; RPATH is inherited, RUNPATH is not, and switches RPATH off."""
    whole = ground.library("all/libb.so")
    for needs in ((), ("libb.so",)):
        ground.program(("liba.so",), **({program: "@/p"} if program else {}))
        ground.library("p/liba.so", needs, **({library: "@/a"} if library else {}))
        subsets = (some for count in range(4) for some in itertools.combinations("pae", count))
        for copies, variable in itertools.product(subsets, ("", "@/e")):
            for folder in "pae":
                ground.place(folder).mkdir(exist_ok=True)
                ground.place(f"{folder}/libb.so").unlink(missing_ok=True)
            for folder in copies:
                shutil.copy(whole, ground.place(f"{folder}/libb.so"))
            path = ":".join(filter(None, (variable, "" if program else "@/p")))  # liba is found in each world
            agree(ground, *(() if needs else ("a=libb.so",)), **({"PATH_": path} if path else {}))


def test_runpath_of_the_parent_switches_off_the_rpath_of_the_grandparent(ground):
    ground.program(("liba.so",), rpath="@/x")
    ground.library("x/liba.so", ("libb.so",), runpath="@/nowhere")
    ground.plain("x/libb.so", "e/libb.so")
    assert agree(ground) == FAILED
    assert agree(ground, PATH_="@/e") == ["x/liba.so", "e/libb.so"]


def test_runpath_of_the_grandparent_switches_off_nothing_below_the_parent(ground):
    ground.program(("liba.so",), rpath="@/x")
    ground.library("x/liba.so", ("libm1.so",), rpath="@/y")
    ground.library("y/libm1.so", ("libb.so",))
    ground.plain("x/libb.so", "y/libb.so", "e/libb.so")
    assert agree(ground, PATH_="@/e") == ["x/liba.so", "y/libm1.so", "y/libb.so"]
    ground.place("y/libb.so").unlink()
    assert agree(ground, PATH_="@/e") == ["x/liba.so", "y/libm1.so", "x/libb.so"]


def test_dlopened_libraries_inherit_no_rpath_but_the_programs(ground):
    ground.program(("liba.so",), rpath="@/x")
    ground.library("x/liba.so", rpath="@/y")
    ground.library("y/libc1.so", ("libb.so",))
    ground.plain("x/libb.so", "y/libb.so", "e/libb.so")
    assert agree(ground, "a=libc1.so", PATH_="@/e") == ["x/liba.so", "y/libc1.so", "x/libb.so"]
    ground.place("x/libb.so").unlink()
    assert agree(ground, "a=libc1.so", PATH_="@/e") == ["x/liba.so", "y/libc1.so", "e/libb.so"]
    assert agree(ground, "a=libc1.so") == ["x/liba.so"]


def _retag(path, replaced: int, tag: int, skip: int | None) -> None:
    """Write over a library's first dynamic entry of a kind: another tag, for what follows `skip` bytes of its RUNPATH."""
    data = bytearray(path.read_bytes())
    (phoff,), (count,) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<H", data, 56)
    headers = [struct.unpack_from("<IIQQQQQQ", data, phoff + 56 * i) for i in range(count)]
    start, size = next((h[2], h[5]) for h in headers if h[0] == 2)
    entries = [(at, *struct.unpack_from("<qQ", data, at)) for at in range(start, start + size, 16)]
    runpath = next(value for _, tag, value in entries if tag == 29)
    place = next(at for at, tag, _ in entries if tag == replaced)
    struct.pack_into("<qQ", data, place, tag, 0 if skip is None else runpath + skip)
    path.write_bytes(data)


def test_an_empty_runpath_switches_rpath_off_too(ground):
    ground.program(("liba.so",), rpath="@/x")
    _retag(ground.library("x/liba.so", ("libb.so",), runpath="@/nowhere"), 29, 29, None)
    ground.library("x/libb.so")
    assert agree(ground) == FAILED


def test_with_both_tags_rpath_is_ignored(ground):
    ground.program(("liba.so",), rpath="@/x")
    library = ground.library("x/liba.so", ("libb.so",), runpath="/nowhere:@/y")
    _retag(library, 0, 15, len("/nowhere:"))
    ground.plain("y/libb.so", "e/libb.so")
    assert agree(ground, PATH_="@/e") == ["x/liba.so", "e/libb.so"]
    assert agree(ground) == ["x/liba.so", "y/libb.so"]


def test_of_a_tag_given_twice_the_last_counts(ground):
    ground.program(("liba.so",), rpath="@/x")
    library = ground.library("x/liba.so", ("libb.so",), runpath="@/y/:@/z")
    _retag(library, 0, 29, len(f"{ground.seen}/y/:"))
    ground.plain("y/libb.so", "z/libb.so")
    assert agree(ground) == ["x/liba.so", "z/libb.so"]


# ---------------------------------------------------------------- variables


def test_the_variable_changed_after_the_start_has_no_effect(ground):
    ground.program()
    ground.library("e/libb.so")
    assert agree(ground, f"setenv={ground.seen}/e", "main=libb.so") == []
    assert agree(ground, "setenv=/nowhere", "main=libb.so", PATH_="@/e") == ["e/libb.so"]


@pytest.mark.parametrize("spelling", ["@/p.so libq.so", "@/p.so:libq.so", " @/p.so : libq.so ", "@/none.so:libq.so"])
def test_preloaded_libraries_come_first(ground, spelling):
    ground.program(("libb.so",), rpath="@/x")
    ground.library("x/libb.so")
    ground.library("x/libq.so", ("libr.so",))
    ground.plain("x/libr.so", "p.so")
    said = agree(ground, PRELOAD=spelling)
    assert said == [*(["p.so"] if "p.so" in spelling else []), "x/libq.so", "x/libb.so", "x/libr.so"]


def test_a_preloaded_soname_is_reused(ground):
    ground.program(("libb.so",), rpath="@/x")
    ground.library("x/libb.so")
    ground.library("mine.so", soname="libb.so")
    assert agree(ground, PRELOAD="@/mine.so") == ["mine.so"]


def test_what_cannot_be_preloaded_is_ignored(ground):
    ground.program(("libb.so",), rpath="@/x")
    ground.library("x/libb.so")
    ground.place("text.so").write_text("INPUT(libb.so)\n")
    assert agree(ground, PRELOAD="@/text.so libnone.so") == ["x/libb.so"]
    assert ground.process(PRELOAD="@/text.so libnone.so").missing == []


def test_the_preload_file(root):
    root.program(("libb.so",), rpath="@/x")
    root.plain("x/libb.so", "p.so", "q.so")
    write(root.root / "etc/ld.so.preload", f"# ours\n{root.seen}/p.so:{root.seen}/gone.so # and gone\n")
    assert agree(root, PRELOAD="@/q.so") == ["q.so", "p.so", "x/libb.so"]


@pytest.mark.parametrize(
    "variable", ["$ORIGIN/e", "${ORIGIN}/e", "@/$LIB", "@/${LIB}/", "@/$PLATFORM", "$ORIGINX/e", "@/e$", "@/$LIBS", "@"]
)
def test_tokens(ground, variable):
    if "ORIGIN" in variable:
        knows_its_origin(ground)
    ground.program()
    folders = ("e", "lib/x86_64-linux-gnu", "lib", "lib64", "haswell", "x86_64", "e$", "$LIBS", "")
    ground.plain(*(f"{folder}/libb.so".lstrip("/") for folder in folders))
    agree(ground, "main=libb.so", PATH_=variable)


def test_origin_is_the_folder_of_the_path_used(ground):
    ground.program(("liba.so",), rpath="@/x")
    ground.library("y/liba.so", ("libb.so",), runpath="$ORIGIN")
    ground.place("x").mkdir()
    ground.place("x/liba.so").symlink_to("../y/liba.so")
    ground.library("y/libb.so")
    assert agree(ground) == FAILED
    ground.library("x/libb.so")
    assert agree(ground) == ["y/liba.so", "x/libb.so"]


def test_empty_elements_are_the_current_folder(tmp_path):
    here = Ground(tmp_path / "t", str(tmp_path / "w"), tmp_path / "w", (2, 36))
    here.program()
    here.plain("cwd/libb.so", "e/libb.so")
    here.place("n").mkdir()
    for variable in ("", ":", "@/n:", ":@/e", "@/e:", "@/n::@/e", ";@/e", "../e", ".", "../n/../cwd"):
        agree(here, "main=libb.so", folder=here.seen + "/cwd", PATH_=variable)


# ---------------------------------------------------------------- what counts as loaded already


def test_a_soname_is_reused_for_bare_names(ground):
    ground.program(("liba.so",), rpath="@/x")
    ground.plain("x/liba.so", "x/libb.so.1")
    ground.library("other.so", soname="libb.so.1")
    assert agree(ground, "main=@/other.so", "a=libb.so.1") == ["x/liba.so", "other.so"]


def test_a_second_path_loads_a_second_copy(ground):
    ground.program(("libb.so",), rpath="@/x")
    ground.plain("x/libb.so", "y/libb.so")
    assert agree(ground, "main=@/y/libb.so", "main=@/x/libb.so") == ["x/libb.so", "y/libb.so"]


def test_without_soname_a_path_is_not_reused(ground):
    ground.program(rpath="@/x")
    ground.library("x/libb.so", soname=None)
    ground.library("y/libb.so", soname=None)
    assert agree(ground, "main=@/y/libb.so", "main=libb.so") == ["y/libb.so", "x/libb.so"]
    assert agree(ground, "main=libb.so", "main=libb.so") == ["x/libb.so"]


def test_another_name_loads_a_second_copy_of_the_same_soname(ground):
    ground.program(("libb.so.1",), rpath="@/x")
    ground.library("x/libb.so.1")
    ground.library("y/libb.so.1.2", soname="libb.so.1")
    ground.place("y/libb.so").symlink_to("libb.so.1.2")
    assert agree(ground, "main=libb.so", PATH_="@/y") == ["x/libb.so.1", "y/libb.so.1.2"]


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_the_same_file_under_two_paths_is_loaded_once(ground, link):
    ground.program(rpath="@/x")
    ground.library("x/libb.so", soname=None)
    ground.place("y").mkdir()
    link(ground.place("x/libb.so"), ground.place("y/libb.so"))
    if link is os.symlink:
        ground.place("y/libb.so").unlink()
        ground.place("y/libb.so").symlink_to("../x/libb.so")
    assert len(agree(ground, "main=libb.so", "main=@/y/libb.so")) == 1


def test_breadth_first(ground):
    ground.program(("liba.so", "libb.so"), rpath="@/x")
    ground.library("x/liba.so", ("libc1.so", "libd.so"), rpath="@/x")
    ground.library("x/libb.so", ("libd.so", "liba.so"))
    ground.library("x/libc1.so", ("libe.so", "liba.so"))
    ground.library("x/libd.so", ("libd.so",))
    ground.library("x/libe.so")
    assert agree(ground) == [f"x/lib{name}.so" for name in ("a", "b", "c1", "d", "e")]


def test_the_first_asker_lends_its_rpath(ground):
    ground.program(("liba.so", "libb.so"), rpath="@/x")
    ground.library("x/liba.so", ("libm1.so",), rpath="@/y")
    ground.library("x/libb.so", ("libm1.so",), rpath="@/z")
    for folder in "yz":
        ground.library(f"{folder}/libm1.so", ("libn.so",))
        ground.library(f"{folder}/libn.so")
    assert agree(ground) == ["x/liba.so", "x/libb.so", "y/libm1.so", "y/libn.so"]


def test_a_failed_dlopen_leaves_nothing(ground):
    ground.program(rpath="@/x")
    ground.library("x/liba.so", ("libb.so", "libnone.so"))
    ground.plain("x/libb.so", "y/libb.so")
    assert agree(ground, "main=liba.so") == []
    assert agree(ground, "main=liba.so", "main=@/y/libb.so", "main=libb.so") == ["y/libb.so"]


def test_needs_may_be_paths(ground):
    knows_its_origin(ground)
    ground.program(("$ORIGIN/x/libb.so",))
    ground.library("x/libb.so")
    assert agree(ground) == ["x/libb.so"]


# ---------------------------------------------------------------- files on the way


def _patch(path, *changes: tuple[int, bytes]) -> None:
    data = bytearray(path.read_bytes())
    for place, value in changes:
        data[place : place + len(value)] = value
    path.write_bytes(data)


PATCHES = {
    "class 32": [(4, b"\1")],
    "big endian": [(5, b"\2")],
    "ident version": [(6, b"\2")],
    "OS ABI Linux": [(7, b"\3")],
    "OS ABI FreeBSD": [(7, b"\x09")],
    "ABI version": [(8, b"\1")],
    "padding": [(12, b"\1")],
    "relocatable": [(16, b"\1\0")],
    "core": [(16, b"\4\0")],
    "aarch64": [(18, b"\xb7\0")],
    "aarch64, FreeBSD": [(18, b"\xb7\0"), (7, b"\x09")],
    "aarch64, relocatable": [(18, b"\xb7\0"), (16, b"\1\0")],
    "aarch64, padding": [(18, b"\xb7\0"), (12, b"\1")],
    "aarch64, ident version": [(18, b"\xb7\0"), (6, b"\2")],
    "aarch64, version": [(18, b"\xb7\0"), (20, b"\2")],
    "version": [(20, b"\2")],
    "program headers of 32 bytes": [(54, b"\x20\0")],
}


BROKEN = {
    "folder": Path.mkdir,
    "empty": Path.touch,
    "text": lambda place: place.write_text("INPUT ( -lb )\n"),
    "cut header": lambda place: place.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(9)),
    "dangling": lambda place: place.symlink_to("nowhere.so"),
}


@pytest.mark.parametrize("what", [*BROKEN, *halved(PATCHES)])
def test_files_that_are_skipped_and_files_that_stop(ground, what):
    ground.program()
    first = ground.library("x/libb.so")
    if what in BROKEN:
        first.unlink()
        BROKEN[what](first)
    else:
        _patch(first, *PATCHES[what])
    ground.library("y/libb.so")
    agree(ground, "main=libb.so", PATH_="@/x:@/y")


@pytest.mark.parametrize("by", ["rpath", "runpath"])
def test_a_loop_of_links_ends_its_list_only(ground, by):
    ground.program(**{by: "@/x:@/y"})
    ground.plain("y/libb.so", "e/libb.so")
    for folder in ("x", "l"):
        ground.place(folder).mkdir()
        ground.place(f"{folder}/libb.so").symlink_to("libb.so")
    agree(ground, "main=libb.so")
    agree(ground, "main=libb.so", PATH_="@/l:@/e")
    agree(ground, "main=libb.so", PATH_="@/e")


def test_folders_that_are_files(ground):
    ground.program()
    ground.place("file").write_text("")
    ground.library("e/libb.so")
    assert agree(ground, "main=libb.so", PATH_="@/file:@/file/x:@/e") == ["e/libb.so"]


def test_the_python_we_run_in():
    """Every object of a real program: the same files that LD_DEBUG shows."""
    program = os.path.realpath(sys.executable)
    argv = [program, "-I", "-S", "-c", "import ssl, ctypes, lzma"]
    said = subprocess.run(argv, env={**os.environ, "LD_DEBUG": "files"}, capture_output=True, text=True).stderr
    shown = {os.path.realpath(line.split("calling init: ")[1]) for line in said.splitlines() if "calling init: " in line}
    path = os.environ.get("LD_LIBRARY_PATH", "")
    process = Process(World(RecordingMachine(LiveMachine()), os.uname().machine, path))
    main = process.start(program)
    for extension in (one for one in shown if "lib-dynload" in one):
        process.dlopen(extension, main)
    assert {os.path.realpath(one.path) for one in process.loaded} - {program} == shown
    assert process.missing == []
    assert [unmet for one in process.loaded for unmet in unmet_versions(process, one.path)] == []
