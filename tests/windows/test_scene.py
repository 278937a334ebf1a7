"""The scene of the Windows machine: each thing that goes wrong is named, with its evidence and a fix, twice.

Once from the tree with the answers of a running Windows, once from the recording of that.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from gpuwhy.app import Run
from gpuwhy.host.recording import RecordingHost
from gpuwhy.model.fact import Known, Unknown
from gpuwhy.observe.scene import Options
from tests.formats.made_pe import I386, pe
from tests.windows import trees
from tests.windows.scene import CUDNN, PYTHON, World, again, tensorflow


class Case(NamedTuple):
    """What is changed, and what must come out: causes, words of the finding, words of evidence, words of a fix."""

    change: Callable[[World], None]
    causes: tuple[str, ...]
    because: str = ""
    evidence: str = ""
    fix: str = ""
    status: str = "broken"


def healthy(world: World) -> None:
    """Nothing is changed."""


def newer_cudnn(world: World) -> None:
    world.remove(f"{CUDNN}/bin/cudnn64_7.dll")
    for name in ("cudnn64_8.dll", "cudnn_ops_infer64_8.dll"):
        world.disk.real(f"{CUDNN}/bin/{name}")


def cudnn_off_path(world: World) -> None:
    world.path.remove(f"{CUDNN}/bin")


def written(form: str) -> Callable[[World], None]:
    """The entry of cuDNN on PATH written in another way."""

    def change(world: World) -> None:
        place = world.path.index(f"{CUDNN}/bin")
        world.path[place] = form.format(f"{CUDNN}/bin")

    return change


def cudnn_32_bit(world: World) -> None:
    world.remove(f"{CUDNN}/bin/cudnn64_7.dll")
    world.disk.put(f"{CUDNN}/bin/cudnn64_7.dll", pe(machine=I386))


def cudnn_in_downloads(world: World) -> None:
    cudnn_off_path(world)
    world.remove(f"{CUDNN}/bin/cudnn64_7.dll")
    world.disk.put("C:/cudnn-10.1/cuda/bin/cudnn64_7.dll", pe())


def no_cudnn(world: World) -> None:
    world.remove(f"{CUDNN}/bin/cudnn64_7.dll")


def newer_cuda(world: World) -> None:
    world.remove(world.bin.rpartition("/")[0])
    world.path[world.path.index(world.bin)] = trees.toolkit(world.disk, "11.0", trees.CUDA_11_0)
    world.variables.update(CUDA_PATH=f"{trees.TOOLKITS}/v11.0")
    world.driver, world.cuda = "451.82", 11000


def cuda_path_gone(world: World) -> None:
    world.remove(world.bin.rpartition("/")[0])


def cuda_moved(world: World) -> None:
    cuda_path_gone(world)
    for name, exact in trees.CUDA_10_1.items():
        world.disk.put(f"C:/cuda/bin/{name}", trees.made(f"NVIDIA CUDA {exact} Library"))


def stale_cuda_path(world: World) -> None:
    world.variables["CUDA_PATH"] = f"{trees.TOOLKITS}/v9.0"


def old_driver(world: World) -> None:
    world.driver, world.cuda = "411.31", 10000


def no_driver(world: World) -> None:
    world.driver = ""
    for name in ("nvcuda.dll", "nvml.dll"):
        world.remove(f"{trees.SYSTEM}/{name}")


def newer_card(world: World) -> None:
    world.driver, world.cuda, world.capability = "536.23", 12020, "8.6"


def no_runtime(world: World) -> None:
    world.remove(f"{trees.SYSTEM}/msvcp140_1.dll")


def newer_python(world: World) -> None:
    world.remove(PYTHON)
    world.site = trees.python(world.disk, "3.9.13", "C:/Python39")
    tensorflow(world.disk, world.site)
    world.path[0] = "C:/Python39"


def newer_tensorflow(world: World) -> None:
    """tensorflow 2.13 brings tensorflow-intel, which has the module."""
    world.remove(world.site)
    info = "build_info = collections.OrderedDict([('is_cuda_build', False), ('is_rocm_build', False)])\n"
    world.disk.put(f"{world.site}/tensorflow/python/platform/build_info.py", info)
    for name in ("tensorflow", "tensorflow_intel"):
        meta = f"{world.site}/{name}-2.13.0.dist-info"
        world.disk.put(f"{meta}/METADATA", f"Name: {name}\nVersion: 2.13.0\n")
        world.disk.put(f"{meta}/INSTALLER", "pip\n")


def quarantined(world: World) -> None:
    world.remove(f"{world.site}/tensorflow/python/_pywrap_tensorflow_internal.pyd")


def conda_not_active(world: World) -> None:
    """The libraries came with conda; Python is started by its path."""
    prefix = "C:/miniconda3/envs/tf"
    for path in (PYTHON, world.bin.rpartition("/")[0], CUDNN):
        world.remove(path)
    tensorflow(world.disk, trees.python(world.disk, folder=prefix))
    for name, exact in trees.CUDA_10_1.items():
        world.disk.put(f"{prefix}/Library/bin/{name}", trees.made(f"NVIDIA CUDA {exact} Library"))
    world.disk.put(f"{prefix}/Library/bin/cudnn64_7.dll", trees.cudnn7())
    world.disk.put(f"{prefix}/conda-meta/cudatoolkit-10.1.243-h74a9793_0.json", "{}")
    world.path, world.variables, world.python = [trees.SYSTEM], {}, prefix


def torch_without_a_library(world: World) -> None:
    """PyTorch carries its CUDA in torch/lib; the default package index has no such build for Windows."""
    world.remove(PYTHON)
    site = trees.python(world.disk, "3.12.4", "C:/Python312")
    world.path[0] = "C:/Python312"
    world.disk.put(f"{site}/torch/version.py", "cuda: Optional[str] = '12.8'\n")
    world.disk.put(f"{site}/torch-2.9.1+cu128.dist-info/METADATA", "Name: torch\nVersion: 2.9.1+cu128\n")
    world.disk.put(f"{site}/torch/lib/torch_cuda.dll", trees.pe({"cusolver64_11.dll": ["cusolverDnCreate"]}))
    world.driver, world.cuda = "576.57", 12090


def zlib_missing(world: World) -> None:
    """TensorFlow 2.10 with CUDA 11 and cuDNN 8.9, complete but for zlib."""
    for path in (f"{world.site}/tensorflow", f"{world.site}/tensorflow_gpu-2.3.4.dist-info"):
        world.remove(path)
    world.remove(PYTHON)
    world.site = trees.python(world.disk, "3.9.13", "C:/Python39")
    trees.tensorflow(world.disk, world.site, "2.10.1")
    world.path[0] = "C:/Python39"
    newer_cudnn(world)
    rest = ("adv_infer", "adv_train", "cnn_infer", "cnn_train", "ops_train")
    for part in rest:
        world.disk.put(f"{CUDNN}/bin/cudnn_{part}64_8.dll", trees.made("", (6, 14, 11, 8904)))
    libraries = {**trees.CUDA_11_0, "cusolver64_11.dll": "11.1.0.152", "nvrtc64_112_0.dll": "11.2.152"}
    world.path[world.path.index(world.bin)] = trees.toolkit(world.disk, "11.2", libraries)
    world.variables.update(CUDA_PATH=f"{trees.TOOLKITS}/v11.2")
    world.driver, world.cuda = "461.33", 11020


def driver_of_32_bit(world: World) -> None:
    """NVML answers, and the only nvcuda.dll is one that a 64-bit program passes over."""
    world.lies["nvcuda.dll"] = pe(machine=I386)


def renamed_cudart(world: World) -> None:
    world.remove(f"{world.bin}/cudart64_101.dll")
    world.disk.real(f"{world.bin}/cudart64_101.dll", "cudart64_110.dll")


def path_too_long(world: World) -> None:
    world.path[-1:] = [*(f"C:/pad/{'x' * 200}{n}" for n in range(165)), world.path[-1]]


def only_app_paths(world: World) -> None:
    """The folder is added for a python.exe that the Start menu starts."""
    cudnn_off_path(world)
    world.registry["HKLM/SOFTWARE/Microsoft/Windows/CurrentVersion/App Paths/python.exe"] = {
        "Path": r"C:\tools\cuda\bin"
    }


def python_without_its_dll(world: World) -> None:
    world.remove(f"{PYTHON}/python38.dll")


def added_for_what_python_loads(world: World) -> None:
    """os.add_dll_directory does not reach a plain LoadLibrary, which is how TensorFlow opens cuDNN."""
    cudnn_off_path(world)
    world.disk.put(f"{world.site}/sitecustomize.py", r'import os; os.add_dll_directory(r"C:\tools\cuda\bin")')


def folder_like_a_dll(world: World) -> None:
    world.disk.at("C:/aa/cudart64_101.dll").mkdir(parents=True)
    world.path.insert(0, "C:/aa")


def web_page_for_a_dll(world: World) -> None:
    world.disk.put(f"{world.bin}/cublas64_10.dll", b"<html>404</html>" * 50)


def cudnn_8_renamed(world: World) -> None:
    no_cudnn(world)
    world.disk.real(f"{CUDNN}/bin/cudnn64_7.dll", "cudnn64_8.dll")


CASES: dict[str, Case] = {
    "a healthy": Case(healthy, (), status="healthy"),
    "b cuDNN 8 for 7": Case(
        newer_cudnn, ("cudnn.version_mismatch",),
        "opens cudnn64_7.dll; only cudnn64_8.dll is installed", "cudnn64_8.dll 8.9.4",
        "cudnn-10.1-windows10-x64-v7.6.5.32.zip",
    ),
    "c cuDNN not on PATH": Case(
        cudnn_off_path, ("env.path",), "C:/tools/cuda/bin holds it", "cudnn64_7.dll 7.6.5",
        r'set "PATH=C:\tools\cuda\bin;%PATH%"',
    ),
    "c blank after it": Case(written("{} "), ("env.path",), evidence="has a blank after it", fix="set \"PATH="),
    "c blank before it": Case(written(" {}"), ("env.path",), evidence="has a blank before it", fix="set \"PATH="),
    "c quotes": Case(written('"{}"'), ("env.path",), evidence="has quotes in it", fix="correct that entry"),
    "c not replaced": Case(written("%CUDNN%/bin"), ("env.path",), evidence="%CUDNN% literally", fix="set \"PATH="),
    "c left where it was unpacked": Case(
        cudnn_in_downloads, ("env.path",), "C:/cudnn-10.1/cuda/bin holds it", fix="set \"PATH="
    ),
    "c 32 bit": Case(
        cudnn_32_bit, ("install.corrupted",), "32 bit", fix="cudnn-10.1-windows10-x64-v7.6.5.32.zip",
    ),
    "c only App Paths": Case(
        only_app_paths, ("env.path",), evidence="App Paths adds C:/tools/cuda/bin", fix="set \"PATH="
    ),
    "c PATH too long": Case(
        path_too_long, ("env.path",), evidence="no program is handed more than 32767", fix="Make PATH shorter"
    ),
    "c added for Python alone": Case(added_for_what_python_loads, ("env.path",), fix="set \"PATH="),
    "c cuDNN 8 renamed": Case(cudnn_8_renamed, ("cudnn.version_mismatch",), "8.9.4 is loaded"),
    "d cudart renamed": Case(
        renamed_cudart, ("cuda.version_mismatch",), "the file of that name is 11.8.89: it was renamed", fix='del "C:\\',
    ),
    "d a web page": Case(web_page_for_a_dll, ("install.corrupted",), "not PE"),
    "d a folder": Case(folder_like_a_dll, ("install.corrupted",), "it is a folder"),
    "f nvcuda.dll of 32 bit": Case(
        driver_of_32_bit, ("install.corrupted",), "nvcuda.dll is what programs get, and the file is no good"
    ),
    "i no python38.dll": Case(python_without_its_dll, ("other.not_gpu",), "python38.dll", fix="again over this one"),
    "c2 no cuDNN": Case(
        no_cudnn, ("cudnn.missing",), "cudnn64_7.dll; it is nowhere on this machine", "9 folders searched",
        "Unpack cudnn-10.1",
    ),
    "d CUDA 11.0 for 10.1": Case(
        newer_cuda, ("cuda.version_mismatch",), "is built for CUDA 10.1 and opens cudart64_101.dll",
        "cudart64_110.dll 11.0.221", "cuda_10.1.243_426.00_win10.exe",
    ),
    "e CUDA_PATH gone": Case(
        cuda_path_gone, ("cuda.missing_library",), "cudart64_101.dll and 5 more; they are nowhere",
        "CUDA_PATH: C:/Program Files/NVIDIA GPU Computing Toolkit/CUDA/v10.1 does not exist",
        "Install cuda_10.1.243_426.00_win10.exe (from",
    ),
    "e2 CUDA moved": Case(
        cuda_moved, ("env.path",), "C:/cuda/bin holds them",
        "PATH: C:/Program Files/NVIDIA GPU Computing Toolkit/CUDA/v10.1/bin does not exist",
        r'set "PATH=C:\cuda\bin;%PATH%"',
    ),
    "e3 only CUDA_PATH is stale": Case(
        stale_cuda_path, ("env.path",), "CUDA_PATH names a folder that does not exist", "CUDA/v9.0 does not exist",
        r'setx CUDA_PATH "C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v10.1"', "degraded",
    ),
    "f driver too old": Case(
        old_driver, ("driver.too_old",), "needs driver 418.96 or newer; 411.31 is loaded", "driver 411.31",
        "Install driver 418.96 or newer",
    ),
    "f2 no driver": Case(
        no_driver, ("driver.missing",), "no NVIDIA driver is installed: nvcuda.dll is not in System32",
        "nvcuda.dll is not there", "nvidia.com/drivers",
    ),
    "g RTX 30": Case(
        newer_card, ("framework.gpu_unsupported",), "PTX for compute_70; NVIDIA GeForce RTX 3090 is sm_86",
        "CUDA 11.1 is the first", "python -m pip install tensorflow-gpu==2.10.1", "degraded",
    ),
    "h no msvcp140_1.dll": Case(
        no_runtime, ("other.not_gpu",), "TensorFlow 2.3.4 needs msvcp140_1.dll of the Visual C++ runtime",
        "not there: C:/Windows/System32", "Microsoft.VCRedist.2015+.x64",
    ),
    "i Python 3.9": Case(
        newer_python, ("framework.platform_dropped",), "built for Python 3.8, whose python38.dll",
        "has wheels for Python 3.6, 3.7, 3.8 on Windows", "py -3.8 -m venv",
    ),
    "j TensorFlow 2.13": Case(
        newer_tensorflow, ("framework.platform_dropped",), "2.10 was the last release with CUDA on native Windows",
        "windows x86_64", "WSL 2",
    ),
    "quarantined": Case(
        quarantined, ("install.corrupted",), "_pywrap_tensorflow_internal.pyd of tensorflow-gpu 2.3.4 is missing",
        "missing, of tensorflow-gpu 2.3.4", "virus scanner",
    ),
    "conda, not active": Case(
        conda_not_active, ("env.path",), "C:/miniconda3/envs/tf/Library/bin holds them", "from cudatoolkit 10.1.243",
        r'conda activate "C:\miniconda3\envs\tf"',
    ),
    "PyTorch without cuSOLVER": Case(
        torch_without_a_library, ("cuda.version_mismatch",), "opens cusolver64_11.dll; only cusolver64_10.dll",
        "cusolver64_10.dll", "--torch-backend=cu128",
    ),
    "cuDNN without zlib": Case(
        zlib_missing, ("cudnn.dependency_missing",), "loads cuDNN 8.9.4, which opens zlibwapi.dll",
        "opens zlibwapi.dll, 9 folders searched", r"into C:\tools\cuda\bin",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_case(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    world = World(tmp_path)
    case.change(world)
    run = world.run()
    for report in (run.report(), again(run)):
        assert not report.crashed
        assert (report.status, tuple(c.id for c in report.causes)) == (case.status, case.causes)
        if not case.causes:
            continue
        first = report.causes[0]
        assert case.because in " ".join(f.text for f in first.because)
        assert case.evidence in " ".join(e.text for f in first.because for e in f.evidence)
        assert case.fix in "\n".join(f"{fix.text} {fix.command}" for fix in first.fixes)
        for fix in first.fixes:
            assert "LD_LIBRARY_PATH" not in fix.command
            assert "sudo" not in fix.command
            assert "export " not in fix.command


def test_replay_tells_the_same(tmp_path: Path) -> None:
    world = World(tmp_path)
    newer_cuda(world)
    run = world.run()
    first, second = run.report(), again(run)
    assert first.causes == second.causes
    assert first.ruled_out == second.ruled_out
    assert first.layers == second.layers


def test_the_picture_of_a_healthy_machine(tmp_path: Path) -> None:
    rows = {row.name: row.text for row in World(tmp_path).run().report().layers}
    assert rows["driver"] == "431.60 · CUDA 10.1"
    assert rows["CUDA"] == "10.1.243 (PATH)"
    assert rows["cuDNN"] == "7.6.5 (PATH)"
    assert rows["TensorFlow"] == "2.3.4 · built for CUDA 10.1 · cuDNN 7.6.5"


def test_a_disk_alone_says_what_it_cannot_know(tmp_path: Path) -> None:
    """Without variables, PATH is not known: no library is called lost; the driver's version is that of its files."""
    world = World(tmp_path)
    run = Run(RecordingHost(world.disk.host()), Options())
    report, facts = run.report(), run.facts
    assert report.causes == ()
    assert report.status == "unknown"
    assert facts.driver.module_version.need() == "431.60"
    assert facts.target.interpreter.need().path == f"{PYTHON}/python.exe"
    assert isinstance(facts.devices.devices, Unknown)
    needs = facts.loads.needs.need() or ()
    assert {type(need.found) for need in needs} <= {Known, Unknown}


def test_a_disk_with_given_variables_is_judged(tmp_path: Path) -> None:
    """PATH alone is enough to see that cuDNN's folder is not on it, once something says that there is a GPU."""
    world = World(tmp_path)
    cudnn_off_path(world)
    path = ";".join(world.path).replace("/", "\\")
    report = Run(RecordingHost(world.disk.host(PATH=path)), Options()).report()
    assert [c.id for c in report.causes] == ["env.path"]


def moved_to_downloads(world: World) -> None:
    world.remove(f"{CUDNN}/bin/cudnn64_7.dll")
    world.disk.put("C:/Users/ada/Downloads/cudnn-10.1-windows10-x64-v7.6.5.32/cuda/bin/cudnn64_7.dll", trees.cudnn7())


@pytest.mark.parametrize(
    "change, cause, word",
    [
        (healthy, "", ""),
        (moved_to_downloads, "env.path", "Downloads"),
        (no_cudnn, "cudnn.missing", "cudnn64_7.dll"),
        (no_driver, "driver.missing", "nvcuda.dll"),
    ],
)
def test_a_disk_without_a_registry_is_judged_by_a_path_at_its_best(tmp_path: Path, change, cause, word) -> None:
    world = World(tmp_path)
    change(world)
    world.host()
    report = Run(RecordingHost(world.disk.host()), Options()).report()
    assert report.status != "healthy"
    assert [one.id for one in report.causes[:1]] == ([cause] if cause else [])
    assert not cause or word in report.causes[0].because[0].text
