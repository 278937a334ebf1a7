"""A Windows machine with tensorflow-gpu 2.3.4, and what goes wrong with it: from files to findings."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.formats.made_pe import I386, pe
from tests.windows import trees

from .fixtures import state_of
from .windows_world import CUDNN, PYTHON, World, tensorflow


def newer_cudnn(world: World) -> None:
    world.remove(f"{CUDNN}/bin/cudnn64_7.dll")
    for name in ("cudnn64_8.dll", "cudnn_ops_infer64_8.dll"):
        world.disk.real(f"{CUDNN}/bin/{name}")


def cudnn_off_path(world: World) -> None:
    world.path.remove(f"{CUDNN}/bin")


def cudnn_written(entry: str) -> Callable[[World], None]:
    def change(world: World) -> None:
        world.path[world.path.index(f"{CUDNN}/bin")] = entry

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


def without(path: str) -> Callable[[World], None]:
    return lambda world: world.remove(path)


def driver(version: str, cuda: int, capability: str = "6.1") -> Callable[[World], None]:
    def change(world: World) -> None:
        world.driver, world.cuda, world.capability = version, cuda, capability

    return change


def no_driver(world: World) -> None:
    world.driver = ""
    for name in ("nvcuda.dll", "nvml.dll"):
        world.remove(f"{trees.SYSTEM}/{name}")


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
    key = "HKLM/SOFTWARE/Microsoft/Windows/CurrentVersion/App Paths/python.exe"
    world.registry[key] = {"Path": r"C:\tools\cuda\bin"}


def folder_like_a_dll(world: World) -> None:
    world.disk.at("C:/aa/cudart64_101.dll").mkdir(parents=True)
    world.path.insert(0, "C:/aa")


def web_page_for_a_dll(world: World) -> None:
    world.disk.put(f"{world.bin}/cublas64_10.dll", b"<html>404</html>" * 50)


def cudnn_8_renamed(world: World) -> None:
    no_cudnn(world)
    world.disk.real(f"{CUDNN}/bin/cudnn64_7.dll", "cudnn64_8.dll")


SCENES: dict[str, tuple[Callable[[World], None], tuple[str, ...]]] = {
    "a healthy": (lambda world: None, ()),
    "b cuDNN 8 for 7": (newer_cudnn, ("cudnn.version_mismatch",)),
    "c cuDNN not on PATH": (cudnn_off_path, ("env.path",)),
    "c quotes": (cudnn_written(f'"{CUDNN}/bin"'), ("env.path",)),
    "c not replaced": (cudnn_written("%CUDNN%/bin"), ("env.path",)),
    "c left where it was unpacked": (cudnn_in_downloads, ("env.path",)),
    "c 32 bit": (cudnn_32_bit, ("install.corrupted",)),
    "c only App Paths": (only_app_paths, ("env.path",)),
    "c PATH too long": (path_too_long, ("env.path",)),
    "c cuDNN 8 renamed": (cudnn_8_renamed, ("cudnn.version_mismatch",)),
    "d cudart renamed": (renamed_cudart, ("cuda.version_mismatch",)),
    "d a web page": (web_page_for_a_dll, ("install.corrupted",)),
    "d a folder": (folder_like_a_dll, ("install.corrupted",)),
    "f nvcuda.dll of 32 bit": (driver_of_32_bit, ("install.corrupted",)),
    "i no python38.dll": (without(f"{PYTHON}/python38.dll"), ("other.not_gpu",)),
    "c2 no cuDNN": (no_cudnn, ("cudnn.missing",)),
    "d CUDA 11.0 for 10.1": (newer_cuda, ("cuda.version_mismatch",)),
    "e CUDA_PATH gone": (cuda_path_gone, ("cuda.missing_library",)),
    "e2 CUDA moved": (cuda_moved, ("env.path",)),
    "e3 only CUDA_PATH is stale": (stale_cuda_path, ("env.path",)),
    "f driver too old": (driver("411.31", 10000), ("driver.too_old",)),
    "f2 no driver": (no_driver, ("driver.missing",)),
    "g RTX 30": (driver("536.23", 12020, "8.6"), ("framework.gpu_unsupported",)),
    "h no msvcp140_1.dll": (without(f"{trees.SYSTEM}/msvcp140_1.dll"), ("other.not_gpu",)),
    "i Python 3.9": (newer_python, ("framework.platform_dropped",)),
    "j TensorFlow 2.13": (newer_tensorflow, ("framework.platform_dropped",)),
    "conda, not active": (conda_not_active, ("env.path",)),
    "PyTorch without cuSOLVER": (torch_without_a_library, ("cuda.version_mismatch",)),
    "cuDNN without zlib": (zlib_missing, ("cudnn.dependency_missing",)),
}


@pytest.mark.parametrize("name", SCENES)
def test_scene(name: str, tmp_path: Path) -> None:
    change, causes = SCENES[name]
    world = World(tmp_path)
    change(world)
    facts = world.facts()
    shown = {cause for cause in world.causes(facts) if state_of(facts, cause) == "shown"}
    assert set(causes) <= shown
    assert shown == set() or causes
