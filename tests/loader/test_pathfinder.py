"""CuPy's libraries: since 14 by cuda-pathfinder, before that by glibc alone; each law was seen in a real import."""

from typing import Any

import pytest

from gpuwhy.formats.elf import Elf
from gpuwhy.loader.frameworks import run
from gpuwhy.loader.glibc import World
from gpuwhy.facts.fact import Known, Source, Unknown
from gpuwhy.facts.environment import Environment, Python
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework, Opened
from gpuwhy.facts.libraries import Libraries, LibraryCopy
from gpuwhy.loader.process import Process
from tests.loader.test_process import SOURCE, Made, elf

NOT = Unknown("not asked")
SITE = "/v/lib/python3.12/site-packages"
MODULE = f"{SITE}/cupy_backends/cuda/libs/cublas.so"
TEXT = f"{SITE}/cupy_backends/cuda/libs/__init__.py"
OLD, NEW = f"{SITE}/nvidia/cublas/lib/libcublas.so.12", f"{SITE}/nvidia/cu13/lib/libcublas.so.13"
LT = f"{SITE}/nvidia/cublas/lib/libcublasLt.so.12"


def files(*wheels: str, **more: Elf) -> dict[str, Elf]:
    out = {"/p": elf(), MODULE: elf(["libcublas.so.12"]), "/e/libcublas.so.12": elf(["libcublasLt.so.12"])}
    out["/e/libcublasLt.so.12"] = elf()
    needs = {OLD: ["libcublasLt.so.12"]}
    return out | {path: elf(needs.get(path, ()), soname=path.rpartition("/")[2]) for path in wheels} | more


def used(there: dict[str, Elf], answers: dict[tuple, object], opened: str, **more: Any) -> Process:
    """A process that has used one library by CuPy."""
    copies = tuple(
        LibraryCopy("cublas", path.rpartition("/")[2], path, path, "wheel", NOT, NOT, NOT, NOT)
        for path in there
        if "nvidia" in path
    )
    opens = Known((Opened(opened, MODULE, False),), SOURCE)
    cupy = Framework("cupy", "CuPy", "cupy-cuda12x", "14.0", f"{SITE}/cupy", *[NOT] * 5, opens)
    python = Known(Python("/p", "3.12.1", "/v", "venv", "PATH", "x86_64"), Source("file", "/p"))
    facts = Facts(libraries=Libraries(copies=Known(copies, SOURCE)), environment=Environment(python=python))
    return run(World(Made(there, answers), "x86_64", **more), facts, cupy)


def loaded(
    there: dict[str, Elf], pathfinder: bool = True, environ: dict[str, str] | None = None, **more: Any
) -> list[str]:
    """The CUDA libraries of a process that has used cuBLAS by CuPy."""
    answers: dict[tuple, object] = {("environ",): environ or {}}
    if pathfinder:
        answers["lines", TEXT, "load_nvidia_dynamic_lib"] = ("_pathfinder.load_nvidia_dynamic_lib(name)",)
    process = used(there, answers, "libcublas.so.12", **more)
    return [one.path for one in process.loaded if "libcublas" in one.path]


FOUND = ["/e/libcublas.so.12", "/e/libcublasLt.so.12"]


def test_wheels_come_before_the_library_path_with_what_they_need_since_14() -> None:
    assert loaded(files(OLD, LT), pathfinder=False) == []
    assert loaded(files(OLD, LT), pathfinder=False, library_path="/e") == FOUND
    assert loaded(files(OLD, LT), library_path="/e") == [LT, OLD]
    assert loaded(files(), library_path="/e") == FOUND
    assert loaded(files(OLD, LT, NEW))[0] == NEW, "the newest, whichever was meant"


@pytest.mark.parametrize("name", ["CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX"])
def test_the_folder_that_a_variable_names(name: str) -> None:
    """Conda's comes before the loader's own search, that of a toolkit last."""
    own = "/c/lib64/libcublas.so.12"
    there = files(**{own: elf(soname="libcublas.so.12")})
    assert loaded(there, environ={name: "/c"}) == [own]
    beside = loaded(there, environ={name: "/c"}, library_path="/e")
    assert beside == ([own] if name == "CONDA_PREFIX" else FOUND)


@pytest.mark.parametrize("version", ["12.4", "12.4.127", ""])
def test_what_nvrtc_opens_when_it_compiles_is_missed(version: str) -> None:
    nvrtc = "/e/libnvrtc.so.12"
    there = {"/p": elf(), MODULE: elf(["libnvrtc.so.12"]), nvrtc: elf(soname="libnvrtc.so.12")}
    answers: dict[tuple, object] = {("environ",): {}, ("real", nvrtc): "/e/libnvrtc.so.12.4.127"}
    if version:
        answers["cuda_version", nvrtc] = version
    process = used(there, answers, "libnvrtc.so.12", library_path="/e")
    assert [(one.name, one.needed_by) for one in process.missing] == [("libnvrtc-builtins.so.12.4", nvrtc)]
