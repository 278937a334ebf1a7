"""Versions: which release to name, by the tables of knowledge; `choose/` will take its place."""

from __future__ import annotations

import re

NEWEST_BRANCH = "580"
"""The driver branch that distributions offer and that supports CUDA 13."""
TORCH_INDEX = "https://download.pytorch.org/whl/"

_WHEELS = {
    "cublas": "nvidia-cublas",
    "cublasLt": "nvidia-cublas",
    "cudart": "nvidia-cuda-runtime",
    "cufft": "nvidia-cufft",
    "curand": "nvidia-curand",
    "cusolver": "nvidia-cusolver",
    "cusolverMg": "nvidia-cusolver",
    "cusparse": "nvidia-cusparse",
    "cusparseLt": "nvidia-cusparselt",
    "cupti": "nvidia-cuda-cupti",
    "nvrtc": "nvidia-cuda-nvrtc",
    "nvJitLink": "nvidia-nvjitlink",
    "nccl": "nvidia-nccl",
    "nvToolsExt": "nvidia-nvtx",
    "cufile": "nvidia-cufile",
    "nvshmem_host": "nvidia-nvshmem",
}
_CONDA = {
    "cublas": "libcublas",
    "cublasLt": "libcublas",
    "cudart": "cuda-cudart",
    "cufft": "libcufft",
    "curand": "libcurand",
    "cusolver": "libcusolver",
    "cusparse": "libcusparse",
    "nvrtc": "cuda-nvrtc",
    "nvJitLink": "libnvjitlink",
    "cupti": "cuda-cupti",
    "nccl": "nccl",
    "cudnn": "cudnn",
}
_SAME_FOR_ALL = {"nvidia-cusparselt", "nvidia-nccl", "nvidia-nvshmem", "nvidia-cudnn"}
"""Wheels that keep the suffix of the CUDA release under CUDA 13."""
_NAME = re.compile(r"lib([A-Za-z][\w]*?)\.so(?:\.([\d.]+))?$")
_DLL = re.compile(r"([A-Za-z]+?)(?:64)?_([\d]+)(?:_\d+)?\.dll$", re.IGNORECASE)
_CUDNN_PART = re.compile(r"cudnn(?:_\w+)?$")


def older(version: str, bound: str) -> bool:
    """Whether a version is older than a bound."""
    mine, its = _numbers(version), _numbers(bound)
    return bool(mine) and mine < its


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(one) for one in re.findall(r"\d+", version.partition("+")[0])[:3])


def _stem(library: str) -> tuple[str, str]:
    """A library's name without lib and number, and the number."""
    found = _NAME.match(library) or _DLL.match(library)
    return (found[1], found[2] or "") if found else ("", "")


def cuda_of_library(library: str) -> str:
    """The CUDA release that a library's name belongs to: "12", "10.1 or 10.2"; "" where it does
    not show.
    """
    from gpuwhy.knowledge.sonames import cuda_of

    return cuda_of(library) if library else ""


def package_of_library(library: str, suffix: str) -> str:
    """The wheel that contains a library, with the major release that its name asks for."""
    stem, number = _stem(library)
    if _CUDNN_PART.match(stem):
        major = number.partition(".")[0]
        if major not in ("8", "9"):
            return ""
        return f"nvidia-cudnn{suffix or '-cu13'}=={major}.*"
    wheel = _WHEELS.get(stem, "")
    if not wheel:
        return ""
    cuda = cuda_of_library(library).partition(".")[0]
    if cuda.isdigit():
        suffix = "" if cuda == "13" else f"-cu{cuda}"
    if suffix not in ("", "-cu11", "-cu12"):
        return ""
    return wheel + ("-cu13" if not suffix and wheel in _SAME_FOR_ALL else suffix)


def conda_of_library(library: str) -> str:
    """The conda package that contains a library."""
    stem, number = _stem(library)
    if _CUDNN_PART.match(stem):
        return f"cudnn={number.partition('.')[0]}" if number else "cudnn"
    cuda = cuda_of_library(library)
    if cuda and older(cuda, "12"):
        return f"cudatoolkit={cuda.split(' ')[0]}"
    return _CONDA.get(stem, "")


def cuda_of_driver(driver: str) -> str:
    """The newest CUDA that a driver supports."""
    from gpuwhy.knowledge.drivers import cuda_of_driver as table

    return table(driver) or ""


def driver_for(cuda: str, system: str = "linux") -> str:
    """The oldest driver that runs a program built for a CUDA release."""
    from gpuwhy.knowledge.drivers import floor

    found = floor(cuda, system) if cuda else None
    return found.driver if found else ""


def driver_branch(cuda: str) -> str:
    """The branch of a driver that people can install today and that runs a CUDA release."""
    wanted = _numbers(driver_for(cuda))
    if not wanted:
        return NEWEST_BRANCH
    packaged = (470, 535, 550, 570, 580, 590)
    return str(next((one for one in packaged if one >= wanted[0]), packaged[-1]))


def torch_builds(version: str) -> tuple[str, ...]:
    """The CUDA releases that a PyTorch release was built for, the newest first."""
    from gpuwhy.knowledge.variants import variants

    release = ".".join(version.split(".")[:2])
    return tuple(one.cuda for one in variants(release))


def torch_backend(version: str, most: str, capability: str) -> str:
    """The build of PyTorch to take ("cu126"), by its release, by what the driver supports and by
    what the GPU needs.
    """
    builds = torch_builds(version) if version else ("13.0", "12.8", "12.6", "11.8")
    least = "12.8" if capability and not older(capability, "10.0") else "0"
    fits = [
        one
        for one in builds
        if not older(one, least)
        and not (most and older(most, one) and older(most, one.partition(".")[0] + ".0"))
    ]
    if most:
        exact = [one for one in fits if not older(most, one)]
        fits = exact or fits
    return f"cu{fits[0].replace('.', '')}" if fits and (version or most or capability) else ""


def cuda_major_of(framework: str, version: str) -> str:
    """The major CUDA release that a framework's own packages are built for."""
    if framework == "torch" and version:
        builds = torch_builds(version)
        if "+cu" in version:
            return version.partition("+cu")[2][:2]
        return builds[-1].partition(".")[0] if builds else ""
    if framework == "tensorflow" and version:
        return "11" if older(version, "2.15") else "12"
    if framework == "jax" and version:
        return "11" if older(version, "0.4.10") else ""
    return ""


def python_of(package: str, version: str) -> str:
    """The newest Python that a release has wheels for."""
    from gpuwhy.knowledge.releases import find

    row = find(package, version, "linux-x86_64")
    if row is None:
        return ""
    plain = [one for one in row.pythons if re.fullmatch(r"3\.\d+", one)]
    return max(plain, key=_numbers, default="")


def companion(package: str, torch: str) -> str:
    """The release of torchvision, torchaudio … that goes with a release of PyTorch."""
    from gpuwhy.knowledge.companions import going_with

    return going_with(package, torch)


def cudnn_of(framework: str, version: str) -> str:
    """The cuDNN that a release of a framework was built with."""
    if framework not in ("tensorflow", "torch") or not version:
        return ""
    from gpuwhy.knowledge.releases import find

    row = find(framework, version, "linux-x86_64")
    return row.cudnn if row is not None and isinstance(row.cudnn, str) else ""


def cudnn_dotted(number: str) -> str:
    """cuDNN's own numbers with dots: 7101 → 7.1.1, 90100 → 9.1.0; others stay."""
    if not re.fullmatch(r"\d{4,6}", number):
        return number
    value = int(number)
    major, rest = divmod(value, 10000 if value > 89999 else 1000)
    return f"{major}.{rest // 100}.{rest % 100}"
