"""Jetson ways: a board's CUDA is its JetPack's: which JetPack a text tells of, and NVIDIA's own build for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import major_minor
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.shown import commands
from gpuwhy.rooms.text.ways import tried


class JetPack(msgspec.Struct, frozen=True):
    """A range of releases: their names, L4T and CUDA, NVIDIA's folder of wheels, an image with PyTorch."""

    name: str
    l4t: str  # how the releases of L4T begin
    cuda: str
    folder: str
    image: str = ""


_PACKS = (
    JetPack("3.2 to 3.3", r"28\.[2-9]", "9.0", "v33"),
    JetPack("3.0 to 3.1", r"2[78]\.[01]", "8.0", ""),
    JetPack("4.2 to 4.3", r"32\.[1-3]\b", "10.0", "v43", "nvcr.io/nvidia/l4t-pytorch:r32.4.2-pth1.5-py3"),
    JetPack("4.4", r"32\.4", "10.2", "v44", "nvcr.io/nvidia/l4t-pytorch:r32.4.4-pth1.6-py3"),
    JetPack("4.5", r"32\.5", "10.2", "v45", "nvcr.io/nvidia/l4t-pytorch:r32.5.0-pth1.7-py3"),
    JetPack("4.6", r"32\.[67]", "10.2", "v461", "nvcr.io/nvidia/l4t-pytorch:r32.7.1-pth1.10-py3"),
    JetPack("5.0", r"34\.", "11.4", "v50", "nvcr.io/nvidia/l4t-pytorch:r34.1.1-pth1.12-py3"),
    JetPack("5.0.2", r"35\.1", "11.4", "v502", "nvcr.io/nvidia/l4t-pytorch:r35.1.0-pth1.13-py3"),
    JetPack("5.1", r"35\.", "11.4", "v512", "nvcr.io/nvidia/l4t-pytorch:r35.2.1-pth2.0-py3"),
    JetPack("6.0", r"36\.[0-3]", "12.2", "v60", "dustynv/l4t-pytorch:r36.2.0"),
    JetPack("6.1 and 6.2", r"36\.[4-9]", "12.6", "v61", "dustynv/l4t-pytorch:r36.4.0"),
)
"""NVIDIA, JetPack archive and Installing TensorFlow for Jetson."""
_RELEASE = Later(
    r"# R(\d\d) \(release\), REVISION: (\d+)|\bL4T[ :]*R?(\d\d)\.(\d+)|\br(\d\d)\.(\d+)\.\d", re.IGNORECASE
)
_TOOLKIT = Later(r"/usr/local/cuda(?: -> (?:/usr/local/)?cuda)?-(\d+\.\d)\b|release (\d+\.\d), V")
_WHEELS = "https://developer.download.nvidia.com/compute/redist/jp"
_THREAD = "forums.developer.nvidia.com/t/pytorch-for-jetson/72048"


_BOARD = Later(r"# R(\d\d) \(release\), REVISION: (\d+)(?:\.(\d+))?")


def board(text: str) -> JetPack | None:
    """The JetPack that the board itself says it has (/etc/nv_tegra_release)."""
    found = _BOARD.search(text)
    return next((one for one in _PACKS if re.match(one.l4t, f"{found[1]}.{found[2]}")), None) if found else None


_LINES = {"36": "r36.4.0", "35": "r35.4.1", "32": "r32.7.1"}
"""A tag of each line that the community's images have."""


def image_for(image: str, pack: JetPack) -> str:
    """The same image of a JetPack's line, where its makers have one; else NVIDIA's with PyTorch."""
    name, _, _ = image.partition(":")
    line = next((tag for l4t, tag in _LINES.items() if re.match(pack.l4t, f"{l4t}.4") or pack.l4t.startswith(l4t)), "")
    if name.startswith("dustynv/") and line:
        return f"{name}:{line}"
    if pack.l4t.startswith("36") and name.startswith("nvcr.io/nvidia/l4t-"):
        return "nvcr.io/nvidia/l4t-jetpack:r36.4.0"
    return pack.image


def installed(case: Asked) -> JetPack | None:
    """The JetPack of the board, by its L4T, else by the toolkit that is there."""
    if own := board(case.text):
        return own
    if found := _RELEASE.search(case.text):
        release = ".".join(one for one in found.groups() if one)
        return next((one for one in _PACKS if re.match(one.l4t, release)), None)
    toolkit = next((one[1] or one[2] for one in _TOOLKIT.finditer(case.text)), "")
    told = toolkit or major_minor(case.reading.told.version("nvcc"))
    return next((one for one in reversed(_PACKS) if one.cuda == told), None)


def _asking(case: Asked, asked: JetPack | None) -> str:
    """Which CUDA the build asks for, where the text tells it."""
    if not case.library or not case.cuda:
        return ""
    of = f" (JetPack {asked.name})" if asked else ""
    return f", and this build of {case.title} asks for CUDA {case.cuda}{of}"


def of_its_jetpack(case: Asked) -> Iterator[Fix]:
    """The framework's build for the JetPack that is there, in place of one for another, or for servers."""
    pack = installed(case)
    if pack is None or case.framework not in ("torch", "tensorflow"):
        return
    asked = next((one for one in _PACKS if one.cuda == case.cuda), None) if case.library else None
    if asked and asked.cuda == pack.cuda:
        return
    was = _asking(case, asked)
    text = f"The board has JetPack {pack.name} with CUDA {pack.cuda}{was}: remove it, and install NVIDIA's own build for that JetPack"
    if case.framework == "tensorflow" and pack.folder:
        yield tried(text, on.linux(f"pip3 uninstall -y tensorflow tensorflow-gpu\npip3 install --pre --extra-index-url {_WHEELS}/{pack.folder} tensorflow{'-gpu' if pack.folder < 'v42' else ''}"))  # fmt: skip
    elif pack.name.startswith("6"):
        yield tried(f"{text}, from the index of NVIDIA's community", on.linux(f"pip3 uninstall -y torch torchvision\npip3 install torch torchvision --index-url https://pypi.jetson-ai-lab.io/jp6/cu{pack.cuda.replace('.', '')}"))  # fmt: skip
    else:
        yield tried(f"{text} (its wheels: {_THREAD}, below JetPack {pack.name})", on.linux("pip3 uninstall -y torch torchvision\npip3 install torch-*-linux_aarch64.whl"))  # fmt: skip
    if case.framework == "torch" and pack.image:
        yield tried("Or run in NVIDIA's image, which has it", on.engine(f"sudo docker run --runtime nvidia -it --rm {pack.image}"), root=True)  # fmt: skip


_WHEEL = re.compile(r"pip3? install (?:-\S+ )*(\S*onnxruntime_gpu\S*\.whl)")


def one_onnxruntime(case: Asked) -> Iterator[Fix]:
    """Both packages of ONNX Runtime on a board: out with both, in with the wheel that it came from."""
    wheel = next((one[1] for ran in commands(case.text) if (one := _WHEEL.match(ran.command))), "")
    again = wheel or "onnxruntime_gpu-*-linux_aarch64.whl"
    yield tried("Remove both packages, which share one folder, then install the Jetson's GPU wheel again; what pulled the CPU one in comes back with --no-deps", on.linux(f"pip uninstall -y onnxruntime onnxruntime-gpu\npip install --force-reinstall --no-deps {again}"))  # fmt: skip
