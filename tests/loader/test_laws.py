"""Laws of glibc's loader, each a tiny world: what gpuwhy says is loaded, in order, is what glibc has loaded."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess

import pytest

from gpuwhy.host.live import LiveHost
from gpuwhy.loader.versions import unmet_versions

from .ground import FAILED, Ground, RootGround, write
from .worlds import needs_gcc

pytestmark = needs_gcc


def agree(ground: Ground, *opens: str, **environ: str) -> list[str]:
    """Both answers, equal; as paths below the world's folder."""
    said = ground.ask(*opens, **environ)
    assert ground.predict(*opens, **environ) == said
    start = f"{ground.real(ground.seen)}/"
    return [path.removeprefix(start) for path in said if path.startswith(start) or said is FAILED]


def knows_its_origin(ground: Ground) -> None:
    """glibc asks /proc/self/exe where a program lies, and the small roots have no /proc."""
    if isinstance(ground, RootGround):
        pytest.skip("a program's $ORIGIN needs /proc")


# ---------------------------------------------------------------- RPATH and RUNPATH


def test_rpath_is_inherited_by_grandchildren(ground):
    ground.program(("liba.so",), rpath="@/x")
    ground.library("x/liba.so", ("libb.so",))
    ground.library("x/libb.so")
    assert agree(ground) == ["x/liba.so", "x/libb.so"]


def test_runpath_is_not_inherited(ground):
    ground.program(("liba.so",), runpath="@/x")
    ground.library("x/liba.so", ("libb.so",))
    ground.library("x/libb.so")
    assert agree(ground) == FAILED


def test_runpath_of_the_parent_switches_off_the_rpath_of_the_grandparent(ground):
    ground.program(("liba.so",), rpath="@/x")
    ground.library("x/liba.so", ("libb.so",), runpath="@/nowhere")
    ground.library("x/libb.so")
    ground.library("e/libb.so")
    assert agree(ground) == FAILED
    assert agree(ground, PATH_="@/e") == ["x/liba.so", "e/libb.so"]


def test_runpath_of_the_grandparent_switches_off_nothing_below_the_parent(ground):
    ground.program(("liba.so",), rpath="@/x")
    ground.library("x/liba.so", ("libm1.so",), rpath="@/y")
    ground.library("y/libm1.so", ("libb.so",))
    for folder in "xye":
        ground.library(f"{folder}/libb.so")
    assert agree(ground, PATH_="@/e") == ["x/liba.so", "y/libm1.so", "y/libb.so"]
    ground.place("y/libb.so").unlink()
    assert agree(ground, PATH_="@/e") == ["x/liba.so", "y/libm1.so", "x/libb.so"]


def test_dlopened_libraries_inherit_no_rpath_but_the_programs(ground):
    ground.program(("liba.so",), rpath="@/x")
    ground.library("x/liba.so", rpath="@/y")
    ground.library("y/libc1.so", ("libb.so",))
    for folder in "xye":
        ground.library(f"{folder}/libb.so")
    assert agree(ground, "a=libc1.so", PATH_="@/e") == ["x/liba.so", "y/libc1.so", "x/libb.so"]
    ground.place("x/libb.so").unlink()
    assert agree(ground, "a=libc1.so", PATH_="@/e") == ["x/liba.so", "y/libc1.so", "e/libb.so"]
    assert agree(ground, "a=libc1.so") == ["x/liba.so"]


def _dynamic(path) -> tuple[bytearray, list[tuple[int, int, int]]]:
    """A library's bytes and its dynamic entries: (place, tag, value)."""
    data = bytearray(path.read_bytes())
    (phoff,), (count,) = struct.unpack_from("<Q", data, 32), struct.unpack_from("<H", data, 56)
    headers = [struct.unpack_from("<IIQQQQQQ", data, phoff + 56 * i) for i in range(count)]
    start, size = next((h[2], h[5]) for h in headers if h[0] == 2)
    return data, [(at, *struct.unpack_from("<qQ", data, at)) for at in range(start, start + size, 16)]


def test_an_empty_runpath_switches_rpath_off_too(ground):
    ground.program(("liba.so",), rpath="@/x")
    library = ground.library("x/liba.so", ("libb.so",), runpath="@/nowhere")
    data, entries = _dynamic(library)
    place = next(at for at, tag, _ in entries if tag == 29)
    struct.pack_into("<qQ", data, place, 29, 0)
    library.write_bytes(data)
    ground.library("x/libb.so")
    assert agree(ground) == FAILED


def test_with_both_tags_rpath_is_ignored(ground):
    ground.program(("liba.so",), rpath="@/x")
    library = ground.library("x/liba.so", ("libb.so",), runpath="/nowhere:@/y")
    data, entries = _dynamic(library)
    runpath = next(value for _, tag, value in entries if tag == 29)
    spare = next(at for at, tag, _ in entries if tag == 0)
    struct.pack_into("<qQ", data, spare, 15, runpath + len("/nowhere:"))
    library.write_bytes(data)
    for folder in "ye":
        ground.library(f"{folder}/libb.so")
    assert agree(ground, PATH_="@/e") == ["x/liba.so", "e/libb.so"]
    assert agree(ground) == ["x/liba.so", "y/libb.so"]


def test_of_a_tag_given_twice_the_last_counts(ground):
    ground.program(("liba.so",), rpath="@/x")
    library = ground.library("x/liba.so", ("libb.so",), runpath="@/y/:@/z")
    data, entries = _dynamic(library)
    runpath = next(value for _, tag, value in entries if tag == 29)
    spare = next(at for at, tag, _ in entries if tag == 0)
    struct.pack_into("<qQ", data, spare, 29, runpath + len(f"{ground.seen}/y/:"))
    library.write_bytes(data)
    for folder in "yz":
        ground.library(f"{folder}/libb.so")
    assert agree(ground) == ["x/liba.so", "z/libb.so"]


# ---------------------------------------------------------------- variables


def test_dlopen_uses_the_callers_runpath(ground):
    ground.program(("liba.so",), runpath="@/x")
    ground.library("x/liba.so", runpath="@/y")
    for folder in "xye":
        ground.library(f"{folder}/libb.so")
    assert agree(ground, "a=libb.so") == ["x/liba.so", "y/libb.so"]
    assert agree(ground, "main=libb.so") == ["x/liba.so", "x/libb.so"]
    assert agree(ground, "a=libb.so", PATH_="@/e") == ["x/liba.so", "e/libb.so"]


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
    ground.library("x/libr.so")
    ground.library("p.so")
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
    assert [m.name for m in ground.process(PRELOAD="@/text.so libnone.so").ignored] == [
        f"{ground.seen}/text.so",
        "libnone.so",
    ]


def test_the_preload_file(root):
    root.program(("libb.so",), rpath="@/x")
    root.library("x/libb.so")
    root.library("p.so")
    root.library("q.so")
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
    for folder in folders:
        ground.library(f"{folder}/libb.so".lstrip("/"))
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
    here.library("cwd/libb.so")
    here.library("e/libb.so")
    here.place("n").mkdir()
    for variable in ("", ":", "@/n:", ":@/e", "@/e:", "@/n::@/e", ";@/e", "../e", ".", "../n/../cwd"):
        agree(here, "main=libb.so", folder=here.seen + "/cwd", PATH_=variable)


def test_a_program_with_another_users_rights_ignores_the_variables(ground):
    if os.getuid():
        pytest.skip("only root can make such a program")
    program = ground.program(runpath="$ORIGIN/x:@/y")
    for folder in "exy":
        ground.library(f"{folder}/libb.so")
    assert agree(ground, "main=libb.so", PATH_="@/e") == ["e/libb.so"]
    for folder in (ground.disk, *ground.disk.parents):
        if not os.access(folder, os.X_OK) or not os.stat(folder).st_mode & 1:
            os.chmod(folder, os.stat(folder).st_mode | 0o711)
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    assert agree(ground, "main=libb.so", PATH_="@/e", PRELOAD="@/e/libb.so") == ["y/libb.so"]


# ---------------------------------------------------------------- what counts as loaded already


def test_a_soname_is_reused_for_bare_names(ground):
    ground.program(("liba.so",), rpath="@/x")
    ground.library("x/liba.so")
    ground.library("x/libb.so.1")
    ground.library("other.so", soname="libb.so.1")
    assert agree(ground, "main=@/other.so", "a=libb.so.1") == ["x/liba.so", "other.so"]


def test_a_second_path_loads_a_second_copy(ground):
    ground.program(("libb.so",), rpath="@/x")
    ground.library("x/libb.so")
    ground.library("y/libb.so")
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
    ground.library("x/libb.so")
    ground.library("y/libb.so")
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


@pytest.mark.parametrize("what", list(PATCHES))
def test_headers_that_are_skipped_and_headers_that_stop(ground, what):
    ground.program()
    _patch(ground.library("x/libb.so"), *PATCHES[what])
    ground.library("y/libb.so")
    agree(ground, "main=libb.so", PATH_="@/x:@/y")


@pytest.mark.parametrize("by", ["rpath", "runpath"])
def test_a_loop_of_links_ends_its_list_only(ground, by):
    ground.program(**{by: "@/x:@/y"})
    ground.library("y/libb.so")
    ground.library("e/libb.so")
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


# ---------------------------------------------------------------- subfolders, cache, default folders

BELOW = ("glibc-hwcaps/x86-64-v4", "glibc-hwcaps/x86-64-v3", "glibc-hwcaps/x86-64-v2", "glibc-hwcaps/power9")
LEGACY = ("tls/haswell", "tls/x86_64/x86_64", "tls/x86_64", "tls", "haswell", "x86_64/x86_64", "x86_64", "avx512_1")


@pytest.mark.parametrize("by", ["variable", "rpath", "runpath"])
def test_subfolders_are_searched_first(ground, by):
    ground.program(**({} if by == "variable" else {by: "@/e"}))
    environ = {"PATH_": "@/e"} if by == "variable" else {}
    library = ground.library("libb.so")
    for folder in (*BELOW, *LEGACY, ""):
        ground.place(f"e/{folder}").mkdir(parents=True, exist_ok=True)
        shutil.copy(library, ground.place(f"e/{folder}/libb.so"))
    seen = []
    while found := agree(ground, "main=libb.so", **environ):
        seen += found
        ground.place(found[0]).unlink()
    assert seen[-1] == "e/libb.so"
    assert ground.glibc < (2, 33) or seen[0].startswith("e/glibc-hwcaps/") or len(seen) < 4
    assert ground.glibc < (2, 37) or len(seen) <= 4


def test_the_cache_and_its_levels(root):
    root.program()
    library = root.library("libb.so.1")
    for folder in (*BELOW, *LEGACY, ""):
        root.place(f"c/{folder}").mkdir(parents=True, exist_ok=True)
        shutil.copy(library, root.place(f"c/{folder}/libb.so.1"))
    default = root.root / "usr/lib/x86_64-linux-gnu/libb.so.1"
    shutil.copy(library, default)
    for _ in range(8):
        root.ldconfig("@/c")
        found = agree(root, "main=libb.so.1")
        if not found:
            break
        root.place(found[0]).unlink()
    assert root.predict("main=libb.so.1") == ["/usr/lib/x86_64-linux-gnu/libb.so.1"] or "libc" in str(
        root.predict("main=libb.so.1")
    )


def test_a_stale_cache_falls_through_to_the_default_folders(root):
    root.program()
    root.library("c/libb.so.1")
    shutil.copy(root.place("c/libb.so.1"), root.root / "usr/lib/x86_64-linux-gnu/libb.so.1")
    root.ldconfig("@/c")
    assert agree(root, "main=libb.so.1") == ["c/libb.so.1"]
    root.place("c/libb.so.1").unlink()
    assert root.ask("main=libb.so.1") == root.predict("main=libb.so.1")
    assert any("usr/lib" in path and "libb" in path for path in root.predict("main=libb.so.1"))


def test_first_folder_of_the_configuration_wins_in_the_cache(root):
    root.program()
    root.library("c/libb.so.1")
    root.library("d/libb.so.1")
    root.ldconfig("@/d", "@/c")
    assert agree(root, "main=libb.so.1") == ["d/libb.so.1"]


@pytest.mark.parametrize("folder", ["lib", "usr/lib", "lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu", "lib64"])
@pytest.mark.parametrize("cached", [True, False])
def test_nodefaultlib(root, folder, cached):
    root.program(("liba.so",), runpath="@/x")
    root.library("x/liba.so", extra=("-Wl,-z,nodefaultlib",))
    root.library("y/libb.so.1")
    (root.root / folder).mkdir(parents=True, exist_ok=True)
    shutil.copy(root.place("y/libb.so.1"), root.root / folder / "libb.so.1")
    if cached:
        root.ldconfig()
    for opens in ("a=libb.so.1", "main=libb.so.1"):
        assert root.predict(opens) == root.ask(opens)


# ---------------------------------------------------------------- symbol versions


def _versioned(ground: Ground, path: str, *nodes: str) -> None:
    script = ground.tmp / "script"
    script.write_text("".join(f"{node} {{ global: f_{node}; }};\n" for node in nodes))
    source = "".join(f"int f_{node}(void) {{ return 0; }}\n" for node in nodes) or "int f_V2(void) { return 0; }"
    code = ground.tmp / "versioned.c"
    code.write_text(source)
    out = ground.place(path)
    out.parent.mkdir(parents=True, exist_ok=True)
    options = [f"-Wl,--version-script,{script}"] if nodes else []
    argv = ["gcc", "-shared", "-fPIC", "-nostdlib", "-o", str(out), str(code), "-Wl,-soname,libv.so", *options]
    subprocess.run(argv, check=True, capture_output=True)


@pytest.mark.parametrize("nodes, missing", [(("V1", "V2"), []), (("V1",), ["V2"]), ((), [])])
def test_a_missing_version_is_an_error_only_if_the_library_has_versions(ground, nodes, missing):
    _versioned(ground, "x/libv.so", "V1", "V2")
    code = ground.tmp / "user.c"
    code.write_text("int f_V2(void); int user(void) { return f_V2(); }\n")
    argv = ["gcc", "-shared", "-fPIC", "-nostdlib", "-o", str(ground.place("x/libu.so")), str(code)]
    subprocess.run([*argv, str(ground.place("x/libv.so"))], check=True, capture_output=True)
    _versioned(ground, "x/libv.so", *nodes)
    ground.program(("libu.so",), rpath="@/x")
    process = ground.process()
    unmet = [one.version for one in unmet_versions(process) if one.library == "libv.so"]
    assert unmet == missing
    assert (ground.ask() == FAILED) == bool(missing)


def test_this_python_has_all_its_versions():
    """A real program's version needs are met on the machine where it runs."""
    import sys

    from gpuwhy.host.recording import RecordingHost
    from gpuwhy.loader.glibc import World
    from gpuwhy.loader.process import Process

    process = Process(World(RecordingHost(LiveHost()), os.uname().machine))
    process.start(os.path.realpath(sys.executable))
    assert len(process.loaded) > 1
    assert unmet_versions(process) == ()
