"""Images: what the name and tag of a public image promise, and what an image asks of its host.

A month of NVIDIA's images stands for the release whose development state it was built from. Read in
NVIDIA's release notes (November 2026): Python 3.6 of PyTorch 19.03, Python 3.5 of TensorFlow 18.05
to 19.02, Python 3.8 of both in 21.05, TensorFlow 1 up to 23.03. The other rows are from memory of
the same notes and of Dockerfiles; months next to a change say nothing (""): nobody read them.
"""

import re
from typing import Literal

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least
from gpuwhy.knowledge.tables import load

Family = Literal[
    "cuda", "pytorch", "tensorflow", "ngc", "aws", "jetson", "framework", "python", "distro", ""
]
LIMITED = 2212
"""From this month on NVIDIA's images of PyTorch keep their packages by a file of constraints."""
_NUMBER = r"(\d+\.\d+(?:\.\d+)?)"
_AWS = r"(?:huggingface-)?(pytorch|tensorflow|mxnet)(?:-tgi)?-(?:training|inference)(?:-\w+)?"
_CUDA = rf"{_NUMBER}(?:-(cudnn\d*))?(?:-(base|runtime|devel))?(?:-(\w[\w.]*))?"
_COPY_OF_CUDA = r"\d+\.\d+.*-(base|runtime|devel)-(ubuntu|centos|ubi|rocky)"
_PYTORCH = rf"{_NUMBER}-cuda(\d+\.\d+)-cudnn(\d+)(?:\.\d+)?-(runtime|devel)"
_MODULES = {"pytorch": "torch"}
_SERVERS = {"tensorflow/serving": "tensorflow", "pytorch/torchserve": "torch"}

Steps = tuple[tuple[str, str], ...]
"""(since, value): the last row whose release is not newer holds."""
Months = tuple[tuple[int, str], ...]


class Base(msgspec.Struct, frozen=True):
    """What an image brings; "" where its name does not say."""

    name: str  # nvidia/cuda:12.4.1-cudnn-runtime-ubuntu22.04
    family: Family = ""
    cuda: str = ""
    cudnn: str = ""  # its major; "none" where the tag says that there is none
    variant: str = ""  # base, runtime, devel
    python: str = ""  # that comes with it
    distro_python: str = ""  # of the distribution's own python3 package
    framework: str = ""
    version: str = ""
    gpu: bool | None = None  # holds a CUDA build; None: does not say
    untagged: bool = False


class Table(msgspec.Struct, frozen=True):
    """images.json."""

    sources: dict[str, Source]
    apt: dict[str, str]  # what Debian packages hold: an expression
    distros: dict[str, str]  # distribution and release: its Python
    ros: dict[str, str]  # release of ROS (REP 3 and 2000): the Python of its Ubuntu
    unsaid: dict[str, str]  # CUDA's major: the Ubuntu of NVIDIA's tags that name none
    monthly: frozenset[str]  # NVIDIA's monthly images
    for_gpus: str  # others' images with a CUDA build: an expression
    pytorch_python: Steps
    tensorflow_python: Steps
    ngc_python: Months
    ngc_tensorflow_python: Months  # it kept Ubuntu 16.04 longer
    ngc_cuda: Months
    ngc_cudnn: Months
    ngc_torch: Months  # the release that a month's PyTorch precedes: 2.2 for 2.2.0a0
    jetson: dict[str, str]  # Jetson's releases: the Python of their Ubuntu
    latest: dict[str, str]  # conda's images: the Python of the newest tag
    installers: dict[str, Steps]  # conda's installers: the Python of their base environment


def _table() -> Table:
    return load("images.json", Table)


def source(name: str) -> Source:
    """Where something is said of images: tags, no_latest, toolkit, compose …"""
    return _table().sources[name]


def from_apt(what: str, package: str) -> bool:
    """Whether a Debian package holds, or pulls in, the driver, nvcc, cudnn or a CUDA library."""
    return re.match(_table().apt[what], package) is not None


def read(text: str) -> Base:
    """What an image's name says; an unresolved variable in it says nothing."""
    name = text.strip().strip("\"'").partition("@")[0]
    if not name or "$" in name or "{" in name:
        return Base(name)
    head, colon, tag = name.rpartition(":")
    path, tag = (head, tag) if colon and "/" not in tag else (name, "")
    short = "/".join(path.split("/")[-2:])
    last = short.split("/")[-1]
    if re.fullmatch(r"nvidia/cuda(-arm64|-ppc64le)?", short):
        return _cuda(name, tag)
    if short == "pytorch/pytorch":
        return _pytorch(name, tag)
    if short == "tensorflow/tensorflow":
        return _tensorflow(name, tag)
    if framework := _SERVERS.get(short):
        return Base(name, "framework", framework=framework, gpu="gpu" in tag)
    if short == f"nvidia/{last}" and last in _table().monthly and path.startswith("nvcr.io"):
        return _ngc(name, last, tag)
    if last.startswith("l4t-"):
        return _jetson(name, tag)
    if found := re.fullmatch(_AWS, last):
        return _aws(name, found[1], tag)
    if re.search(_table().for_gpus, path):
        return Base(name, "framework", gpu=True)
    return _plain(name, path, short, tag)


def _cuda(name: str, tag: str) -> Base:
    found = re.match(_CUDA, tag)
    if not found:
        return Base(name, "cuda", gpu=True, untagged=tag in ("", "latest"))
    cuda, said, variant, distro = found.groups("")
    cudnn = {"": "none", "cudnn": "9"}.get(said, said.removeprefix("cudnn"))
    python = _table().distros.get(distro or _table().unsaid.get(cuda.split(".")[0], ""), "")
    variant = variant or ("base" if "-base" in tag else "")
    return Base(name, "cuda", cuda, cudnn, variant, distro_python=python, gpu=True)


def _pytorch(name: str, tag: str) -> Base:
    found = re.match(_PYTORCH, tag)
    version, cuda, cudnn, variant = found.groups() if found else ("", "", "", "")
    python = _of(_table().pytorch_python, version)
    return Base(name, "pytorch", cuda, cudnn, variant, python, "", "torch", version, True)


def _tensorflow(name: str, tag: str) -> Base:
    """Tags before 2.2 say -py3, or hold Python 2."""
    found = re.match(_NUMBER, tag)
    version, gpu = found[1] if found else "", "gpu" in tag
    python = _of(_table().tensorflow_python, version)
    if re.fullmatch(r"(latest|nightly)(-gpu)?(-jupyter)?", tag):
        python = "3.11"
    elif not version:
        python = "3.6" if "py3" in tag else ""
    elif "py3" not in tag and "jupyter" not in tag and not at_least(version, "2.1"):
        python = "2.7"
    return Base(name, "tensorflow", python=python, framework="tensorflow", version=version, gpu=gpu)


def _ngc(name: str, last: str, tag: str) -> Base:
    """NVIDIA's monthly images: 23.10-py3."""
    known, number = _table(), month(tag)
    python = cuda = cudnn = ""
    if "py2" not in tag:
        early = last == "tensorflow" and number < known.ngc_python[1][0]
        python = _since(known.ngc_tensorflow_python if early else known.ngc_python, number)
        cuda, cudnn = _since(known.ngc_cuda, number), _since(known.ngc_cudnn, number)
    version = _since(known.ngc_torch, number) if last == "pytorch" else ""
    framework = _MODULES.get(last, last)
    return Base(name, "ngc", cuda, cudnn, "", python, "", framework, version, True)


def month(tag: str) -> int:
    """23.10-py3 → 2310; 0 where a tag names no month."""
    found = re.match(r"(\d\d)\.(\d\d)(?:\.\d+)?(?:-|$)", tag)
    return int(found[1] + found[2]) if found else 0


def _jetson(name: str, tag: str) -> Base:
    """An l4t image: r35.2.1-pth2.0-py3."""
    line, torch = re.search(r"(?:^|-)r(\d\d)\.", tag), re.search(r"pth(\d+\.\d+)", tag)
    python = _table().jetson.get(line[1], "") if line else ""
    if not torch:
        return Base(name, "jetson", python=python, gpu=True)
    return Base(name, "jetson", python=python, framework="torch", version=torch[1], gpu=True)


def _aws(name: str, framework: str, tag: str) -> Base:
    """AWS Deep Learning Containers: 2.0.0-gpu-py310-cu118-ubuntu20.04-sagemaker."""
    version = re.match(rf"{_NUMBER}-", tag)
    cuda, python = re.search(r"-cu(\d\d)(\d)", tag), re.search(r"-py3(\d+)", tag)
    return Base(
        name,
        "aws",
        cuda=f"{cuda[1]}.{cuda[2]}" if cuda else "",
        python=f"3.{python[1]}" if python else "",
        framework=_MODULES.get(framework, framework),
        version=version[1] if version else "",
        gpu=True if "-gpu" in tag or cuda else False if "-cpu" in tag else None,
    )


def _plain(name: str, path: str, short: str, tag: str) -> Base:
    """Images of Python, of conda and of distributions."""
    last = short.split("/")[-1]
    if last == "python" and "/" not in path.removeprefix("docker.io/").removeprefix("library/"):
        found = re.match(r"(\d+\.\d+)", tag)
        return Base(name, "python", python=found[1] if found else "")
    if found := re.match(r"python-(3\.\d+)", tag):
        return Base(name, "python", python=found[1])
    if last == "uv" and (found := re.search(r"python(3\.\d+)", tag)):
        return Base(name, "python", python=found[1])
    if tag in ("", "latest") and short in _table().latest:
        return Base(name, "python", python=_table().latest[short])
    if last in ("cuda", "cudagl") and re.match(_COPY_OF_CUDA, tag):
        return _cuda(name, tag)  # a copy under another name
    if last in ("ros", "ros2") and (ros := _table().ros.get(tag.partition("-")[0])):
        return Base(name, "distro", distro_python=ros)
    if last in ("ubuntu", "debian", "rockylinux"):
        release = re.sub(r"-(slim|\d{8})$", "", tag)
        key = last + (release if last == "ubuntu" else release.split(".")[0])
        return Base(name, "distro", distro_python=_table().distros.get(key, ""))
    windows = short.startswith("windows/") or last in ("servercore", "nanoserver")
    return Base(name, "distro" if windows or last == "alpine" else "")


def installer_python(name: str, version: str) -> str:
    """The Python that an installer of conda brings: Miniconda3 py39_4.12.0, Anaconda3 2021.11."""
    if found := re.match(r"py3(\d+)_", version):
        return f"3.{found[1]}"
    if version.startswith("latest") or name in ("Miniforge3", "Mambaforge"):
        newest = name != "Mambaforge" and version.startswith(("latest", "Linux", "uname"))
        return "3.13" if newest else ""
    return _of(_table().installers.get(name, ()), version) if version[:1].isdigit() else ""


def _since(rows: Months, number: int) -> str:
    found = [value for since, value in rows if since <= number]
    return found[-1] if found else ""


def _of(rows: Steps, version: str) -> str:
    found = [value for since, value in rows if version and at_least(version, since)]
    return found[-1] if found else ""
