"""ONNX Runtime: the CUDA provider library, the module that opens libraries for it, and the build information."""

from __future__ import annotations

import re

from tools.harvest import binaries
from tools.harvest.readers import Reader, find, metadata, nvidia_requirements, text
from tools.harvest.readers.torch import needed
from tools.harvest.reading import Reading, assigned, major_minor
from tools.harvest.tags import Tagged
from tools.harvest.wheel import Wheel

_TOOLKIT = {  # PTX language version → the one CUDA release whose compiler writes it
    "6.4": "10.1", "6.5": "10.2", "7.0": "11.0", "7.1": "11.1", "7.2": "11.2", "7.3": "11.3", "7.4": "11.4",
    "7.5": "11.5", "7.6": "11.6", "7.7": "11.7", "7.8": "11.8", "8.0": "12.0", "8.1": "12.1", "8.2": "12.2",
    "8.3": "12.3", "8.4": "12.4", "8.7": "12.8", "8.8": "12.9", "9.0": "13.0",
}  # fmt: skip
_CUDA = re.compile(r"lib(cudart|cublas|cublasLt|cudnn|cufft|curand|cusparse|cusolver|nvrtc)\b[\w.]*\.so")


def _provider(wheel: Wheel) -> str:
    return find(wheel, "onnxruntime_providers_cuda.so") or find(wheel, "onnxruntime_providers_cuda.dll")


def light(wheel: Wheel, tagged: Tagged) -> Reading:
    """Build information (from 1.21 on), requirements, and the opening module (up to 1.15)."""
    reading = Reading()
    if not _provider(wheel):
        if "gpu" not in tagged.project:
            reading.cpu("nolibrary")
        return reading
    module = find(wheel, "capi/build_and_package_info.py")
    said = assigned(text(wheel, module)).get("cuda_version", "")
    if re.match(r"\d+\.\d+", said):
        reading.set("cuda", major_minor(said), "build_info", module)
    place, rows = metadata(wheel)
    requires = {**nvidia_requirements(rows, tagged, "cuda"), **nvidia_requirements(rows, tagged, "cudnn")}
    if requires:
        reading.set("requires", dict(sorted(requires.items())), "metadata", place)
        bound = next((s for n, s in requires.items() if n.startswith("nvidia-cudnn-cu")), "")
        if major := re.search(r"(?:~=|>=|==)(\d+)", bound):
            reading.set("cudnn", major[1], "lower", place)
    _opener(wheel, reading)
    return reading


def _opener(wheel: Wheel, reading: Reading) -> None:
    """Up to 1.15 a Python module opens the libraries whose NEEDED entries were removed."""
    opener = find(wheel, "capi/_ld_preload.py")
    names = list(dict.fromkeys(re.findall(r"lib(?:cu|nv)\w+\.so[.\d]*", text(wheel, opener))))
    names = [n for n in names if not n.startswith(("libcuda.so", "libnvinfer", "libnvonnxparser"))]
    if names:
        reading.set("opens", names, "opener", opener)
        _by_names(reading, names, "opener", opener)


def _by_names(reading: Reading, names: list[str], how: str, place: str) -> None:
    """What the names tell: libcudart.so.11.0 is CUDA 11 (of any minor), libcudnn.so.8 is cuDNN 8."""
    for name in names:
        runtime = re.match(r"(?:lib)?cudart(?:64_|\.so\.)(\d\d)", name)
        cudnn = re.match(r"(?:lib)?cudnn(?:64_|\.so\.)(\d+)", name)
        if runtime and "cuda" not in reading.values:
            reading.set("cuda", runtime[1], how, place)
        if cudnn and "cudnn" not in reading.values:
            reading.set("cudnn", cudnn[1], how, place)


def wants(tagged: Tagged, reading: Reading) -> bool:
    """Everything with a provider has its architectures read; older ones their names too."""
    return "gpu" in tagged.project and reading.values.get("cuda", "") is not None


def deep(wheel: Wheel, tagged: Tagged, reading: Reading) -> None:
    """The provider's head where names are known, the whole of it where they are not."""
    library = _provider(wheel)
    if not library:
        return
    if "opens" in reading.values or ("cuda" in reading.values and "." in reading.values["cuda"]):
        code = binaries.gpu_code(wheel.stream(library), 24, 2 << 30)
    else:
        data = wheel.whole(library)
        windows = tagged.platform.startswith("windows")
        names = binaries.imported(data) if windows else [n for n in needed(bytes(data)) if _CUDA.match(n)]
        if names:
            reading.set("opens", names, "needed", library)
            _by_names(reading, names, "soname", library)
        code = binaries.gpu_code(
            (bytes(data[i : i + (16 << 20)]) for i in range(0, len(data), 16 << 20)), 200, len(data)
        )
    if code.regions:
        reading.set("sass", code.sass, "fatbin", library)
        reading.set("ptx", code.ptx, "fatbin", library)
    exact = _TOOLKIT.get(code.isa, "")
    known = reading.values.get("cuda") or ""
    if exact and "." not in known and (not known or exact.startswith(known + ".")):
        reading.set("cuda", exact, "ptx", library)


READER = Reader(light, deep, wants, 2)
