"""Packages that open CUDA by themselves, on a disk: CuPy, CTranslate2, Numba, and any other that imports its DLLs."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.app import Run
from gpuwhy.formats.cuda_version import read_cuda_version
from gpuwhy.observe.loader_v0.windows_frameworks import CUDNN_PARTS
from gpuwhy.observe.as_if import Elsewhere
from gpuwhy.observe.scene import Options
from tests.formats.made_pe import I386, pe
from tests.windows import trees

CUDA_12 = {"cudart64_12.dll": "12.4.127", "cublas64_12.dll": "12.4.5", "nvrtc64_120_0.dll": "12.4.127"}


def install(disk: trees.Disk, site: str, name: str, version: str, files: dict[str, bytes]) -> None:
    for path, data in files.items():
        disk.put(f"{site}/{path}", data)
    meta = f"{site}/{name.replace('-', '_')}-{version}.dist-info"
    disk.put(f"{meta}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    disk.put(f"{meta}/RECORD", "".join(f"{path},,\n" for path in files))


def cupy(disk: trees.Disk, site: str) -> None:
    runtime = pe({"cudart64_12.dll": [], **trees.KERNEL})
    blas = pe({"cublas64_12.dll": [], **trees.KERNEL})
    files = {
        "cupy_backends/cuda/api/runtime.cp311-win_amd64.pyd": runtime,
        "cupy_backends/cuda/libs/cublas.cp311-win_amd64.pyd": blas, "cupy/__init__.py": b"",
    }  # fmt: skip
    install(disk, site, "cupy-cuda12x", "12.3.0", files)


def ctranslate2(disk: trees.Disk, site: str) -> None:
    library = pe({"cudnn64_9.dll": ["cudnnCreate"], **trees.KERNEL}) + b"\0cublas64_12.dll\0"
    shim = trees.made("NVIDIA cuDNN", (9, 1, 0, 70), exports={"cudnnCreate": b"\xc3"})
    files = {"ctranslate2/ctranslate2.dll": library, "ctranslate2/cudnn64_9.dll": shim, "ctranslate2/__init__.py": b""}
    install(disk, site, "ctranslate2", "4.5.0", files)


def numba(disk: trees.Disk, site: str) -> None:
    install(disk, site, "numba", "0.60.0", {"numba/__init__.py": b""})


def other(disk: trees.Disk, site: str) -> None:
    module = pe({"cudart64_12.dll": [], **trees.KERNEL})
    install(disk, site, "something-gpu", "1.0", {"something/_core.cp311-win_amd64.pyd": module})


def causes(folder: Path, package, libraries: dict[str, str], *more: tuple[str, bytes]) -> list[str]:
    disk = trees.windows(folder, "552.22")
    site = trees.python(disk, "3.11.0", "C:/Python311")
    trees.toolkit(disk, "12.4" if "cudart64_12.dll" in libraries else "11.0", libraries)
    package(disk, site)
    for path, data in more:
        disk.put(path, data)
    return [one.id for one in Run(disk.host(), Options(python="C:/Python311/python.exe")).report().causes]


NVVM = (f"{trees.TOOLKITS}/v12.4/nvvm/bin/nvvm64_40_0.dll", pe())


@pytest.mark.parametrize(
    "package, libraries, more, cause",
    [
        (cupy, CUDA_12, (), ""), (cupy, trees.CUDA_11_0, (), "cuda.version_mismatch"),
        (ctranslate2, CUDA_12, (), "cudnn.missing"), (numba, CUDA_12, (NVVM,), ""),
        (numba, CUDA_12, (), "cuda.missing_library"), (numba, CUDA_12, ((NVVM[0], b""),), "install.corrupted"),
        (other, CUDA_12, (), ""), (other, {}, (), "cuda.missing_library"),
    ],
    ids=lambda one: getattr(one, "__name__", None),
)  # fmt: skip
def test_what_opens_cuda_by_itself(tmp_path, package, libraries, more, cause):
    assert causes(tmp_path, package, libraries, *more)[:1] == ([cause] if cause else [])


def test_numba_that_another_package_asks_for_needs_no_nvvm(tmp_path):
    def librosa(disk: trees.Disk, site: str) -> None:
        numba(disk, site)
        install(disk, site, "librosa", "0.10", {})
        disk.put(f"{site}/librosa-0.10.dist-info/METADATA", "Name: librosa\nVersion: 0.10\nRequires-Dist: numba\n")

    assert causes(tmp_path, librosa, CUDA_12) == []


BIN = f"{trees.TOOLKITS}/v12.4/bin"
BUILTINS = f"{BIN}/nvrtc-builtins64_124.dll"


def cupy_by_name(disk: trees.Disk, site: str) -> None:
    """As CuPy 13: NVRTC is opened by a name that stands in its module."""
    cupy(disk, site)
    module = pe(trees.KERNEL) + b"\0nvrtc64_112_0.dll\0nvrtc64_120_0.dll\0"
    disk.put(f"{site}/cupy_backends/cuda/libs/nvrtc.cp311-win_amd64.pyd", module)


@pytest.mark.parametrize(
    "more, cause",
    [
        (((BUILTINS, pe()),), []), ((), ["cuda.missing_library"]),
        (((BUILTINS, b""),), ["install.corrupted"]), (((BUILTINS, pe(machine=I386)),), ["install.corrupted"]),
    ],
    ids=["there", "gone", "empty", "32-bit"],
)  # fmt: skip
def test_what_nvrtc_opens_at_its_first_compilation(tmp_path, more, cause):
    assert causes(tmp_path, cupy_by_name, CUDA_12, *more)[:1] == cause


def test_nvrtc_itself_is_opened_by_name(tmp_path):
    without = {name: version for name, version in CUDA_12.items() if "nvrtc" not in name}
    assert causes(tmp_path, cupy_by_name, without)[:1] == ["cuda.missing_library"]


def ctranslate2_with(parts: dict[str, bytes]):
    def package(disk: trees.Disk, site: str) -> None:
        ctranslate2(disk, site)
        for part in CUDNN_PARTS["9"]:
            disk.put(f"{BIN}/cudnn_{part}64_9.dll", trees.made("NVIDIA cuDNN", (9, 1, 0, 70)))
        for name, data in parts.items():
            disk.put(f"{BIN}/{name}", data)

    return package


def made_for(cuda: int) -> dict[str, bytes]:
    return {"cudnn_adv64_9.dll": pe(trees.KERNEL) + f"\0cublasLt64_{cuda}.dll\0".encode()}


@pytest.mark.parametrize(
    "parts, cause",
    [
        (made_for(12), []), (made_for(13), ["cudnn.dependency_missing"]),
        ({"cudnn_cnn64_9.dll": b""}, ["install.corrupted"]),
        ({"cudnn_ops64_9.dll": pe(machine=I386)}, ["install.corrupted"]),
    ],
    ids=["right", "another CUDA", "empty", "32-bit"],
)  # fmt: skip
def test_parts_of_cudnn_that_are_opened_later(tmp_path, parts, cause):
    libraries = {**CUDA_12, "cublasLt64_12.dll": "12.4.5"}
    disk = trees.windows(tmp_path, "552.22")
    site = trees.python(disk, "3.11.0", "C:/Python311")
    trees.toolkit(disk, "12.4", libraries)
    ctranslate2_with(parts)(disk, site)
    host = disk.host(PATH=BIN.replace("/", "\\"))
    found = Run(host, Options(python="C:/Python311/python.exe")).report().causes
    assert [one.id for one in found][:1] == cause


def test_the_user_s_own_packages_come_first_on_a_disk_that_tells_its_variables(tmp_path):
    disk = trees.windows(tmp_path, "552.22")
    home = "C:/Users/anna/AppData"
    site = trees.python(disk, "3.11.0", f"{home}/Local/Programs/Python/Python311")
    install(disk, site, "cupy-cuda12x", "12.3.0", {"cupy/__init__.py": b""})
    mine = f"{home}/Roaming/Python/Python311/site-packages"
    install(disk, mine, "torch", "2.3.0+cpu", {"torch/__init__.py": b""})
    install(disk, mine.replace("anna", "ben"), "jax", "0.4.30", {"jax/__init__.py": b""})
    run = Run(disk.host(PATH="C:\\Windows"), Options(python=f"{home}/Local/Programs/Python/Python311/python.exe"))
    assert [one.rpartition("/AppData/")[2][:7] for one in run.facts.target.site_packages.need()] == [
        "Roaming",
        "Local/P",
    ]


@pytest.mark.parametrize(
    "name, said, version",
    [
        ("cudnn64_8.dll", {"FileDescription": "NVIDIA CUDA CUDNN Library. Version 8.2.4"}, "8.2.4"),
        ("cudnn64_7.dll", {"FileDescription": "CUDNN, Version 10.1.243", "ProductVersion": "10.1.243"}, None),
        ("cudnn64_6.dll", {"ProductVersion": "6.14.11.8000"}, None),
    ],
)
def test_cudnn_by_its_words(name, said, version):
    """Only a number of its own major is cuDNN's; others are of the CUDA that it was built with."""
    data = pe(trees.KERNEL, version=(6, 14, 11, 0), strings=said)
    assert read_cuda_version(lambda offset, size: data[offset : offset + size], len(data), name) == version


CARD = Elsewhere(gpus=(("GeForce RTX 3080", "8.6"),))


@pytest.mark.parametrize(
    "place", ["C:/work/faces/venv", "C:/Users/anna/projects/faces/.venv", "C:/Users/anna/upscaling"]
)
def test_on_a_disk_the_environment_with_a_framework_is_judged(tmp_path: Path, place: str) -> None:
    disk = trees.windows(tmp_path, "552.22")
    trees.python(disk, "3.11.0", "C:/Python311")
    trees.toolkit(disk, "12.4", CUDA_12)
    disk.put(f"{place}/pyvenv.cfg", "home = C:\\Python311\nversion = 3.11.0\n")
    disk.put(f"{place}/Scripts/python.exe", trees.made("Python", (3, 11, 150, 1013)))
    cupy(disk, f"{place}/Lib/site-packages")
    run = Run(disk.host(PATH="C:\\Python311;C:\\Windows\\System32"), Options())
    assert [one.title for one in run.facts.target.frameworks.need() or ()] == ["CuPy"]
    assert (run.facts.target.interpreter.need() or run).chosen_by == "usual place"


def test_a_card_that_is_told_does_not_bring_the_driver_that_the_disk_lacks(tmp_path: Path) -> None:
    disk = trees.windows(tmp_path, "")
    site = trees.python(disk, "3.11.0", "C:/Python311")
    trees.toolkit(disk, "12.4", CUDA_12)
    cupy(disk, site)
    disk.at("C:/Windows/System32/nvcuda.dll").unlink(missing_ok=True)
    report = Run(disk.host(), Options(python="C:/Python311/python.exe"), elsewhere=CARD).report()
    assert [one.id for one in report.causes][:1] == ["driver.missing"]
    told = Elsewhere(gpus=CARD.gpus, driver="552.22")
    report = Run(disk.host(), Options(python="C:/Python311/python.exe"), elsewhere=told).report()
    assert "driver.missing" not in [one.id for one in report.causes]


@pytest.mark.parametrize("value, hidden", [("-1", True), ("0", False), ("3", True)])
def test_a_variable_of_the_disk_hides_the_card_that_is_told(tmp_path: Path, value: str, hidden: bool) -> None:
    disk = trees.windows(tmp_path, "552.22")
    site = trees.python(disk, "3.11.0", "C:/Python311")
    trees.toolkit(disk, "12.4", CUDA_12)
    cupy(disk, site)
    host = disk.host(PATH="C:\\Windows\\System32", CUDA_VISIBLE_DEVICES=value)
    report = Run(host, Options(python="C:/Python311/python.exe"), elsewhere=CARD).report()
    assert ("device.selection" in [one.id for one in report.causes]) == hidden


@pytest.mark.parametrize("value, hidden", [("-1", True), ("0", False), ("3", False)])
def test_a_variable_that_hides_every_card_is_told_whichever_there_is(tmp_path: Path, value: str, hidden: bool) -> None:
    disk = trees.windows(tmp_path, "552.22")
    site = trees.python(disk, "3.11.0", "C:/Python311")
    trees.toolkit(disk, "12.4", CUDA_12)
    cupy(disk, site)
    host = disk.host(PATH="C:\\Windows\\System32", CUDA_VISIBLE_DEVICES=value)
    report = Run(host, Options(python="C:/Python311/python.exe")).report()
    assert ("device.selection" in [one.id for one in report.causes]) == hidden
