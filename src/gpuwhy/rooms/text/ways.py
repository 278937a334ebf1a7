"""Ways: the remedies that a program has of its own, as fixes; and the small sentences that ladders share."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.drivers import cuda_of_driver
from gpuwhy.knowledge.programs import APPLICATIONS, Program, Way
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import at_least, major_minor
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later


def tried(text: str, command: str = "", *, safe: bool = True, root: bool = False, look: bool = False) -> Fix:
    """A fix that the next output shows to have helped."""
    return Fix(text, command, safe, root, check="gpuwhy explain LOG", role="look" if look else "remedy")


def of_way(way: Way, **given: str) -> Iterator[Fix]:
    """The way as a fix, with what it leaves open filled in; nothing where there is none."""
    text, command = way
    for name, value in given.items():
        text, command = text.replace(f"{{{name}}}", value), on.like(command.replace(f"{{{name}}}", value), command)
    if text:
        yield tried(text, command)


def own_ways(case: Asked, field: str, **given: str) -> Iterator[Fix]:
    """The ways of the programs that speak, for one kind of remedy; an application's in place of what it stands on."""
    ways = [(program, way) for program in case.programs for way in _ways(program, field)]
    of_applications = [pair for pair in ways if pair[0].name in APPLICATIONS]
    for _, way in of_applications or ways:
        yield from filled(case, way, **given)


def filled(case: Asked, way: Way, **given: str) -> Iterator[Fix]:
    """A way with what is given, and for the rest with what the text tells."""
    yield from of_way(way, **{**_defaults(case, given.get("cuda", "")), **given})


_OLD_CARD = Later(r"\bT4\b|\bV100|\bP100|\bGTX ?1\d|RTX ?20[5-9]0|/kaggle/|/content/")
"""Cards, and the services that hand them out, which have no bfloat16."""


def _defaults(case: Asked, cuda: str) -> dict[str, str]:
    """What a way may leave open, as far as the text tells it."""
    told = case.reading.told
    cuda = cuda or major_minor(
        told.version("cuda") or told.version("nvcc") or case.speaks or cuda_of_driver(case.driver) or ""
    )
    cuda = cuda if "." in cuda else "12.4"
    capability = case.gpu or "8.6"
    eleven = case.cuda_major == 11
    needs = "CUDA 11 and cuDNN 8" if eleven else "CUDA 12 and cuDNN 9"
    image = "11.8.0-cudnn8-runtime-ubuntu22.04" if eleven else "12.4.1-cudnn-runtime-ubuntu22.04"
    half = "fp16" if (capability and not at_least(case.gpu or "8.0", "8.0")) or _OLD_CARD.search(case.text) else "bf16"
    return {"half": half, "needs": needs, "image": image, "vram": "--medvram", "cuda": cuda, "dashed": cuda.replace(".", "-"), "major": cuda.partition(".")[0], "cap": capability, "arch": capability.replace(".", "")}  # fmt: skip


def _ways(program: Program, field: str) -> tuple[Way, ...]:
    found = getattr(program, field)
    return tuple(way for way in (found if field == "less" else (found,)) if way[0])


_L4T = Later(r"\bR(3[2-6])\b|JetPack[ -]?(\d)|\br(3[2-6])\.\d|(\d\.\d+)\.\d+-tegra", re.IGNORECASE)
_JETSON_IMAGES = {
    "32": "nvcr.io/nvidia/l4t-pytorch:r32.7.1-pth1.10-py3",
    "35": "nvcr.io/nvidia/l4t-pytorch:r35.2.1-pth2.0-py3",
    "36": "dustynv/l4t-pytorch:r36.2.0",
}
_OF_JETPACK = {"4": "32", "5": "35", "6": "36", "4.9": "32", "5.10": "35", "5.15": "36"}


def _jetson_image(text: str) -> str:
    """The image of PyTorch for the L4T, the JetPack or the kernel that a text names; that of R35 where it names none."""
    found = _L4T.search(text)
    told = next(filter(None, found.groups()), "") if found else ""
    return _JETSON_IMAGES.get(_OF_JETPACK.get(told, told), _JETSON_IMAGES["35"])


_MPS = "device = torch.device('mps' if torch.backends.mps.is_available() else 'cpu')"


def elsewhere(case: Asked) -> Iterator[Fix]:
    """A machine whose builds are not those of everybody: Jetson, Apple's, AMD's; Colab, whose GPU is chosen."""
    if "jetson" in case.tools:
        yield tried("Jetson: the package index has no build for its GPU: take NVIDIA's own of the JetPack that is installed, as a wheel or as an image", f"docker run --runtime nvidia -it --rm {_jetson_image(case.text)}    # the tag of your L4T: cat /etc/nv_tegra_release")  # fmt: skip
    if (
        "macos" in case.tools
        and case.framework in ("torch", "")
        and not case.programs
        and not re.search(r"GeForce|Quadro|CUDA \d", case.text)
    ):
        yield tried("macOS has no CUDA: on Apple's own GPU use the device mps, else the CPU", on.code(_MPS))
    if "rocm" in case.tools and case.framework in ("torch", ""):
        yield tried("AMD: install PyTorch's build for ROCm; a card that it does not name may run as its neighbour", on.linux("pip install --force-reinstall torch torchvision --index-url https://download.pytorch.org/whl/rocm6.4\nexport HSA_OVERRIDE_GFX_VERSION=10.3.0    # RX 6000; RX 7000: 11.0.0"))  # fmt: skip
    if re.search(r"\bcolab\b|/content/", case.text, re.IGNORECASE):
        yield tried("Colab: choose a GPU under Runtime, Change runtime type, then connect again")
