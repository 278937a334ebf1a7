"""Containers: what the name and tag of a public image promise, and which packages belong on no image or need nvcc."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

import msgspec

from gpuwhy.knowledge import held
from gpuwhy.knowledge.tables import source

TAGS = source(
    "NVIDIA CUDA images: overview of the tags",
    "base: cudart alone; runtime: the libraries; devel: nvcc too",
)
NO_LATEST = source("NVIDIA CUDA images: overview of the tags", "there is no tag `latest`")
PYTORCH_TAGS = source(
    "tags of the pytorch/pytorch images", "VERSION-cudaX.Y-cudnnZ-runtime or -devel"
)
TENSORFLOW_TAGS = source(
    "TensorFlow installation guide, Docker",
    "tags ending in -gpu hold CUDA; the others are for the CPU",
)
TOOLKIT = source(
    "NVIDIA Container Toolkit: Docker specialized configurations",
    "NVIDIA_DRIVER_CAPABILITIES, NVIDIA_VISIBLE_DEVICES",
)
MOUNTED = source(
    "NVIDIA Container Toolkit: architecture",
    "the host's driver libraries are mounted into the container",
)
REQUEST = source(
    "NVIDIA Container Toolkit: running a sample workload",
    "a container sees a GPU only if one is asked for",
)
COMPOSE = source(
    "Compose specification, deploy: devices",
    "capabilities is required; count and device_ids exclude each other",
)
KUBERNETES = source(
    "Kubernetes: schedule GPUs", "whole numbers, under limits; requests may only repeat them"
)
PLUGIN = source(
    "NVIDIA device plugin for Kubernetes", "it gives each container the GPUs of its limit"
)
SHARED_MEMORY = source(
    "PyTorch notes, multiprocessing best practices; Docker run reference",
    "workers pass tensors through /dev/shm, 64 MB by default",
)
STUBS = source(
    "CUDA installation guide for Linux",
    "lib64/stubs holds a libcuda.so for linking that answers every call with an error",
)
BUILDS = source("Docker build reference", "no GPU is given to RUN steps")

_DISTROS: dict[str, str] = {
    "ubuntu16.04": "3.5", "ubuntu18.04": "3.6", "ubuntu20.04": "3.8", "ubuntu22.04": "3.10", "ubuntu24.04": "3.12",
    "ubuntubionic": "3.6", "ubuntufocal": "3.8", "ubuntujammy": "3.10", "ubuntunoble": "3.12",
    "debian10": "3.7", "debian11": "3.9", "debian12": "3.11", "debian13": "3.13",
    "debianbuster": "3.7", "debianbullseye": "3.9", "debianbookworm": "3.11", "debiantrixie": "3.13",
    "rockylinux8": "3.6", "rockylinux9": "3.9", "ubi8": "3.6", "ubi9": "3.9",
}  # fmt: skip
"""Distribution and release → the Python of its package `python3`."""

_APT_PYTHONS: dict[str, tuple[str, ...]] = {
    "18.04": ("3.6", "3.7", "3.8"), "20.04": ("3.8", "3.9"), "22.04": ("3.10", "3.11"), "24.04": ("3.12",),
}  # fmt: skip
APT_PYTHONS = source(
    "package lists of Ubuntu, main and universe", "one or two Pythons in each release"
)

DRIVER_PACKAGES = re.compile(
    r"(nvidia-driver(-|$)|libcuda1(-|$)|nvidia-kernel|nvidia-dkms|cuda-drivers|cuda(-\d+-\d+)?$|cuda-runtime-\d"
    r"|nvidia-(open-)?(utils|compute-utils|headless|modprobe|kernel-\w+|firmware)-\d{3}"
    r"|nvidia-\d{3}(-(dev|server|updates|open))*$|nvidia-(current|glx)|xserver-xorg-video-nvidia"
    r"|libnvidia-(compute|gl|cfg1|decode|encode|fbc1|ifr1|common|extra|ml\d?|nvcuvid\d?|ptxjitcompiler\d?|eglcore)-?\d*$"
    r"|libnvcuvid1?$|libnvidia-ml1$)"
)
"""Debian packages that hold, or pull in, a display driver and its libcuda."""

NVCC_PACKAGES = re.compile(
    r"(nvidia-cuda-toolkit|cuda-nvcc|cuda-toolkit|cuda-compiler|cuda(-\d+-\d+)?$)"
)
CUDNN_PACKAGES = re.compile(r"(lib)?cudnn\d")
LIBRARY_PACKAGES = re.compile(
    r"(cuda-libraries|libcublas|cuda-toolkit|cuda-runtime|nvidia-cuda-toolkit|cuda(-\d+-\d+)?$)"
)

COMPILED = {
    "apex": "NVIDIA's apex is compiled where it is installed",
    "pytorch3d": "pytorch3d has no wheels on the package index and is compiled where it is installed",
    "detectron2": "detectron2 is compiled where it is installed",
    "tiny-cuda-nn": "tiny-cuda-nn is compiled where it is installed",
    "diff-gaussian-rasterization": "diff-gaussian-rasterization is compiled where it is installed",
    "simple-knn": "simple-knn is compiled where it is installed",
    "mamba-ssm": "mamba-ssm has no wheels on the package index and is compiled where no prebuilt one fits",
    "causal-conv1d": "causal-conv1d has no wheels on the package index and is compiled where no prebuilt one fits",
    "flash-attn": "flash-attn has no wheels on the package index and is compiled where no prebuilt one fits",
}
"""Packages with CUDA code of their own and no wheels."""

PREBUILT = frozenset({"flash-attn", "mamba-ssm", "causal-conv1d"})
"""Of those: the ones whose setup first looks for a prebuilt wheel elsewhere."""

Family = Literal[
    "cuda", "pytorch", "tensorflow", "ngc", "aws", "jetson", "framework", "python", "distro", ""
]

_NGC = frozenset(
    {
        "pytorch",
        "tensorflow",
        "jax",
        "tritonserver",
        "nemo",
        "tensorrt",
        "paddlepaddle",
        "mxnet",
        "pyg",
        "dgl",
    }
)
_GPU_IMAGES = re.compile(
    r"(^|/)(vllm/vllm-openai|lmsysorg/sglang|huggingface/text-generation-inference|rapidsai/\w+|nvidia/cudagl"
    r"|huggingface/transformers-pytorch-gpu|huggingface/transformers-all-latest-gpu)$"
)


_AWS = re.compile(
    r"(?:huggingface-)?(pytorch|tensorflow|mxnet)(?:-tgi)?-(?:training|inference)(?:-\w+)?"
)
AWS = source(
    "AWS Deep Learning Containers: available images",
    "the tag says -gpu or -cpu, the Python and the CUDA",
)


class Base(msgspec.Struct, frozen=True):
    """What an image brings; "" where its name does not say."""

    name: str  # nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04
    family: Family = ""
    cuda: str = ""
    cudnn: str = ""  # its major; "none" where the tag says that there is none
    variant: str = ""  # base, runtime, devel
    python: str = ""  # that comes with it
    distro_python: str = ""  # of the distribution's own python3 package
    musl: bool = False
    windows: bool = False
    framework: str = ""
    version: str = ""
    gpu: bool | None = None  # holds a CUDA build; None: does not say
    untagged: bool = False


def read(text: str) -> Base:
    """What an image's name says; an unresolved variable in it says nothing."""
    name = text.strip().strip("\"'").partition("@")[0]
    if not name or "$" in name or "{" in name:
        return Base(name)
    path, tag = _split(name)
    short = "/".join(path.split("/")[-2:])
    if short in _READERS:
        return _READERS[short](name, tag)
    last = short.split("/")[-1]
    if short.startswith("nvidia/") and last in _NGC and path.startswith("nvcr.io"):
        return _ngc(name, last, tag)
    if last.startswith("l4t-"):
        return _jetson(name, tag)
    if found := _AWS.fullmatch(last):
        return _aws(name, found[1] or "", tag)
    if _GPU_IMAGES.search(path):
        return Base(name, "framework", gpu=True)
    return _plain(name, path, short, tag)


def _plain(name: str, path: str, short: str, tag: str) -> Base:
    """Images of Python, of conda and of distributions."""
    last = short.split("/")[-1]
    if last == "python" and "/" not in path.removeprefix("docker.io/").removeprefix("library/"):
        return _python(name, tag)
    if found := re.match(r"python-(3\.\d+)", tag):
        return Base(name, "python", python=found[1])
    if last == "uv" and (found := re.search(r"python(3\.\d+)", tag)):
        return Base(name, "python", python=found[1], musl="alpine" in tag)
    return _distro(name, short, last, tag)


def _ngc(name: str, last: str, tag: str) -> Base:
    """NVIDIA's monthly images: 23.10-py3."""
    number = held.month(tag)
    python, cuda, cudnn = held.ngc(number, last) if "py2" not in tag else ("", "", "")
    version = held.ngc_torch(number) if last == "pytorch" else ""
    framework = {"pytorch": "torch"}.get(last, last)
    return Base(
        name, "ngc", cuda, cudnn, python=python, framework=framework, version=version, gpu=True
    )


def _jetson(name: str, tag: str) -> Base:
    python, torch = held.jetson(tag)
    return Base(
        name, "jetson", python=python, framework="torch" if torch else "", version=torch, gpu=True
    )


def _aws(name: str, framework: str, tag: str) -> Base:
    """AWS Deep Learning Containers: 2.0.0-gpu-py310-cu118-ubuntu20.04-sagemaker."""
    version, cuda, python = (
        re.search(p, tag) for p in (r"^(\d+\.\d+(?:\.\d+)?)-", r"-cu(\d\d)(\d)", r"-py3(\d+)")
    )
    return Base(
        name,
        "aws",
        f"{cuda[1]}.{cuda[2]}" if cuda else "",
        python=f"3.{python[1]}" if python else "",
        framework={"pytorch": "torch"}.get(framework, framework),
        version=version[1] if version else "",
        gpu=True if "-gpu" in tag or cuda else False if "-cpu" in tag else None,
    )


def apt_pythons(base: Base) -> tuple[str, ...]:
    """The Pythons that apt has in an image of Ubuntu; () where it is none."""
    release = (
        re.search(r"ubuntu:?(\d\d\.\d\d)", base.name) if base.family in ("cuda", "distro") else None
    )
    return _APT_PYTHONS.get(release[1], ()) if release else ()


def toolkit_of(base: Base) -> str:
    """The CUDA whose nvcc an image brings, of NVIDIA's monthly images its major alone; '' where there is none."""
    if base.family in ("cuda", "pytorch") and base.variant == "devel":
        return base.cuda
    return base.cuda if base.family == "ngc" else ""


def _serving(name: str, tag: str) -> Base:
    return Base(name, "framework", framework="tensorflow", gpu=("gpu" in tag) if tag else False)


def _split(name: str) -> tuple[str, str]:
    head, colon, tag = name.rpartition(":")
    return (head, tag) if colon and "/" not in tag else (name, "")


def _cuda(name: str, tag: str) -> Base:
    found = re.match(
        r"(\d+\.\d+(?:\.\d+)?)(?:-(cudnn\d*))?(?:-(base|runtime|devel))?(?:-(\w[\w.]*))?", tag
    )
    if not found:
        return Base(name, "cuda", gpu=True, untagged=tag in ("", "latest"))
    cudnn = {"": "none", "cudnn": "9"}.get(found[2] or "", (found[2] or "").removeprefix("cudnn"))
    variant = found[3] or ("base" if "-base" in tag else "")
    distro = found[4] or _UNSAID.get(found[1].split(".")[0], "")
    return Base(
        name, "cuda", found[1], cudnn, variant, distro_python=_DISTROS.get(distro, ""), gpu=True
    )


_UNSAID = {"8": "ubuntu16.04", "9": "ubuntu16.04", "10": "ubuntu18.04"}
"""The Ubuntu of NVIDIA's tags that name none, by the major of their CUDA."""


def _pytorch(name: str, tag: str) -> Base:
    found = re.match(
        r"(\d+\.\d+(?:\.\d+)?)-cuda(\d+\.\d+)-cudnn(\d+)(?:\.\d+)?-(runtime|devel)", tag
    )
    if not found:
        return Base(name, "pytorch", framework="torch", gpu=True)
    version, cuda, cudnn, variant = found.groups()
    python = held.pytorch_python(version)
    return Base(
        name, "pytorch", cuda, cudnn, variant, python, framework="torch", version=version, gpu=True
    )


def _tensorflow(name: str, tag: str) -> Base:
    found = re.match(r"(\d+\.\d+(?:\.\d+)?)", tag)
    version = found[1] if found else ""
    python = held.tensorflow_python(version, tag)
    return Base(
        name, "tensorflow", framework="tensorflow", version=version, gpu="gpu" in tag, python=python
    )


def _python(name: str, tag: str) -> Base:
    found = re.match(r"(\d+\.\d+)", tag)
    windows = "windowsservercore" in tag or "nanoserver" in tag
    return Base(
        name, "python", python=found[1] if found else "", musl="alpine" in tag, windows=windows
    )


_ROS_PYTHON = {"noetic": "3.8", "foxy": "3.8", "galactic": "3.8", "humble": "3.10", "iron": "3.10", "jazzy": "3.12",
               "kilted": "3.12"}  # fmt: skip
"""Releases of ROS (REP 3 and REP 2000: their Ubuntu) and the Python of that Ubuntu."""
_ROS = re.compile(rf"({'|'.join(_ROS_PYTHON)})(-|$)")


def _distro(name: str, short: str, last: str, tag: str) -> Base:
    if python := held.latest_python(short, tag):
        return Base(name, "python", python=python)
    if last in ("cuda", "cudagl") and re.match(
        r"\d+\.\d+.*-(base|runtime|devel)-(ubuntu|centos|ubi|rocky)", tag
    ):
        return _cuda(name, tag)  # a copy under another name
    if last == "alpine":
        return Base(name, "distro", musl=True)
    if short.startswith("windows/") or last in ("servercore", "nanoserver"):
        return Base(name, "distro", windows=True)
    if last in ("ros", "ros2") and (found := _ROS.match(tag)):
        return Base(name, "distro", distro_python=_ROS_PYTHON[found[1]])
    if last in ("ubuntu", "debian", "rockylinux"):
        release = re.sub(r"-(slim|\d{8})$", "", tag)
        key = last + (release if last == "ubuntu" else release.split(".")[0])
        return Base(name, "distro", distro_python=_DISTROS.get(key, ""))
    return Base(name)


_READERS: dict[str, Callable[[str, str], Base]] = {
    **dict.fromkeys(("nvidia/cuda", "nvidia/cuda-arm64", "nvidia/cuda-ppc64le"), _cuda),
    "pytorch/pytorch": _pytorch,
    "tensorflow/tensorflow": _tensorflow,
    "tensorflow/serving": _serving,
    "pytorch/torchserve": lambda name, tag: Base(
        name, "framework", framework="torch", gpu="gpu" in tag
    ),
}
"""By the last two parts of an image's name."""
