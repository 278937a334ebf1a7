"""Windows disks built in a folder: real libraries from their skeletons, others made with the right names and tables.

Real (skeletons of published wheels, see tools/skeleton.py): TensorFlow's and ONNX Runtime's extensions, torch's CPU
DLLs, cudart 11.8 and 12.4, cuDNN 8.9.4 and 9.1.0. Made here, because no wheel has them: everything of CUDA 10.1,
cuDNN 7.6.5, the driver's DLLs, the Visual C++ runtime, Python itself, torch's CUDA DLLs.
"""

import base64
import gzip
import json
import struct
from pathlib import Path

from gpuwhy.machine.windows import WindowsDiskMachine, drives_of
from tests.formats.made_pe import pe

SKELETONS = Path(__file__).parent / "skeletons"
SYSTEM = "C:/Windows/System32"
TOOLKITS = "C:/Program Files/NVIDIA GPU Computing Toolkit/CUDA"
RUNTIME = ("msvcp140.dll", "msvcp140_1.dll", "vcruntime140.dll", "vcruntime140_1.dll")
KERNEL = {"KERNEL32.dll": ["LoadLibraryA"]}
CUDA_10_1 = {
    "cudart64_101.dll": "10.1.243", "cublas64_10.dll": "10.2.1.243", "cublasLt64_10.dll": "10.2.1.243",
    "cufft64_10.dll": "10.1.1.243", "curand64_10.dll": "10.1.1.243", "cusolver64_10.dll": "10.2.0.243",
    "cusparse64_10.dll": "10.3.0.243", "nvrtc64_101_0.dll": "10.1.243", "cupti64_101.dll": "10.1.243",
}  # fmt: skip
CUDA_11_0 = {
    "cudart64_110.dll": "11.0.221", "cublas64_11.dll": "11.2.0.252", "cublasLt64_11.dll": "11.2.0.252",
    "cufft64_10.dll": "10.2.1.245", "curand64_10.dll": "10.2.1.245", "cusolver64_10.dll": "10.6.0.245",
    "cusparse64_11.dll": "11.1.1.245", "nvrtc64_110_0.dll": "11.0.221",
}  # fmt: skip


def made(description: str = "", version: tuple[int, int, int, int] | None = None, **more: object) -> bytes:
    """A library with a version resource."""
    return pe(KERNEL, version=version or (6, 14, 11, 0), strings={"FileDescription": description}, **more)  # type: ignore[arg-type]


def driver_dll(version: str) -> bytes:
    """nvcuda.dll of a driver: 431.60 has file version 26.21.14.3160."""
    digits = version.replace(".", "").zfill(5)
    return made("NVIDIA CUDA Driver", (26, 21, 10 + int(digits[0]), int(digits[1:])))


def cudnn7() -> bytes:
    """cudnn64_7.dll 7.6.5: its version call returns 7605; its resource names the CUDA it was built with."""
    return made(
        "NVIDIA CUDA 10.1.243 CUDNN Library", exports={"cudnnGetVersion": b"\xb8" + struct.pack("<I", 7605) + b"\xc3"}
    )


class Disk:
    """A C: drive below a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def at(self, path: str) -> Path:
        return self.folder / path.removeprefix("C:/")

    def put(self, path: str, data: bytes | str) -> None:
        target = self.at(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data.encode() if isinstance(data, str) else data)

    def real(self, path: str, skeleton: str = "") -> None:
        """A real library, as a sparse file of its true size."""
        name = skeleton or path.rpartition("/")[2]
        body = json.loads(gzip.decompress((SKELETONS / f"{name}.json.gz").read_bytes()))
        target = self.at(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            for offset, text in body["chunks"]:
                file.seek(offset)
                file.write(base64.b64decode(text))
            file.truncate(body["size"])

    def machine(self, **environ: str) -> WindowsDiskMachine:
        """The disk with these variables; without any, the environment is not known."""
        return WindowsDiskMachine(drives_of(str(self.folder)), environ or None)


def windows(folder: Path, driver: str = "431.60") -> Disk:
    """A Windows 10 with the Visual C++ runtime and a driver ("" = none)."""
    disk = Disk(folder)
    for name in ("ntdll.dll", "kernel32.dll"):
        disk.put(f"{SYSTEM}/{name}", pe())
    for name in RUNTIME:
        disk.put(f"{SYSTEM}/{name}", made("Microsoft C Runtime Library", (14, 26, 28720, 3)))
    if driver:
        disk.put(f"{SYSTEM}/nvcuda.dll", driver_dll(driver))
        disk.put(f"{SYSTEM}/nvml.dll", driver_dll(driver))
    return disk


def python(disk: Disk, version: str = "3.8.10", folder: str = "C:/Python38") -> str:
    """A Python of python.org; its site-packages folder."""
    short = "".join(version.split(".")[:2])
    numbers = tuple(map(int, version.split(".")))
    disk.put(
        f"{folder}/python.exe", pe({f"python{short}.dll": ["Py_Main"], **KERNEL}, dll=False, version=(*numbers, 1013))
    )
    disk.put(f"{folder}/python{short}.dll", made("Python Core", (*numbers, 1013)))
    disk.put(f"{folder}/vcruntime140.dll", made("Microsoft C Runtime Library", (14, 26, 28720, 3)))
    disk.put(f"{folder}/Lib/os.py", "")
    disk.at(f"{folder}/Lib/site-packages").mkdir(parents=True, exist_ok=True)
    return f"{folder}/Lib/site-packages"


def toolkit(disk: Disk, version: str, libraries: dict[str, str]) -> str:
    """A CUDA toolkit; its bin folder."""
    root = f"{TOOLKITS}/v{version}"
    major, minor = version.split(".")
    for name, exact in libraries.items():
        said = f"NVIDIA CUDA {exact} Library" if major == "10" else f"NVIDIA CUDA Library, Version {exact}"
        disk.put(f"{root}/bin/{name}", made(said, (6, 14, 11, int(major) * 1000 + int(minor) * 10)))
    disk.put(f"{root}/bin/nvcc.exe", pe(dll=False))
    disk.put(f"{root}/version.txt", f"CUDA Version {version}.243\n")
    return f"{root}/bin"


def tensorflow(disk: Disk, site: str, version: str = "2.3.4") -> str:
    """tensorflow-gpu with the real extension of its wheel; its package folder."""
    package = f"{site}/tensorflow"
    skeleton = "_pywrap_tensorflow_internal.pyd"
    disk.real(f"{package}/python/{skeleton}", skeleton if version == "2.3.4" else f"{version}-{skeleton}")
    names = {"2.3.4": ("64_101", "64_7", "cudart64_101.dll", "cudnn64_7.dll")}
    cuda, cudnn, cudart, cudnn_dll = names.get(version, ("64_112", "64_8", "cudart64_112.dll", "cudnn64_8.dll"))
    info = {
        "cuda_version": cuda, "cudnn_version": cudnn, "is_rocm_build": False, "is_cuda_build": True,
        "cudart_dll_name": cudart, "cudnn_dll_name": cudnn_dll, "msvcp_dll_names": "msvcp140.dll,msvcp140_1.dll",
        "nvcuda_dll_name": "nvcuda.dll",
    }  # fmt: skip
    disk.put(f"{package}/__init__.py", "")
    disk.put(f"{package}/python/__init__.py", "")
    disk.put(f"{package}/python/platform/build_info.py", f"build_info = {info!r}\n")
    disk.put(f"{package}/python/platform/self_check.py", 'MSVCP_DLL_NAMES = "msvcp_dll_names"\n')
    meta = f"{site}/tensorflow_gpu-{version}.dist-info"
    disk.put(f"{meta}/METADATA", f"Metadata-Version: 2.1\nName: tensorflow-gpu\nVersion: {version}\n")
    disk.put(f"{meta}/RECORD", f"tensorflow/python/{skeleton},,\ntensorflow/__init__.py,,\n")
    disk.put(f"{meta}/top_level.txt", "tensorflow\n")
    disk.put(f"{meta}/INSTALLER", "pip\n")
    return package
