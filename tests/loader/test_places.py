"""Laws about subfolders, the cache, default folders and symbol versions; glibc is the judge."""

import shutil
import subprocess

import pytest

from gpuwhy.loader.symbols import unmet_versions

from .ground import FAILED, Ground, agree, needs_gcc

pytestmark = needs_gcc

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
    last = root.predict("main=libb.so.1")
    assert last == ["/usr/lib/x86_64-linux-gnu/libb.so.1"] or "libc" in str(last)


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
    root.plain("c/libb.so.1", "d/libb.so.1")
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
    unmet = [one for library in process.loaded for one in unmet_versions(process, library.path)]
    assert [one.version for one in unmet if one.library == "libv.so"] == missing
    assert (ground.ask() == FAILED) == bool(missing)
