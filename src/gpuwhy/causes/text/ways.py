"""Ways: the remedies that a program has of its own, as fixes; and the small sentences that ladders share."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.causes.text.asked import Asked
from gpuwhy.knowledge.drivers import cuda_of_driver
from gpuwhy.knowledge.programs import APPLICATIONS, Program, Way
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import major_minor


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
    given = {**_defaults(case), **given}
    ways = [(program, way) for program in case.programs for way in _ways(program, field)]
    of_applications = [pair for pair in ways if pair[0].name in APPLICATIONS]
    for _, way in of_applications or ways:
        yield from of_way(way, **given)


def _defaults(case: Asked) -> dict[str, str]:
    """What a way may leave open, as far as the text tells it."""
    told = case.reading.told
    cuda = major_minor(told.version("cuda") or told.version("nvcc") or case.speaks or cuda_of_driver(case.driver) or "")
    cuda = cuda if "." in cuda else "12.4"
    capability = case.gpu or "8.6"
    return {"vram": "--medvram", "cuda": cuda, "dashed": cuda.replace(".", "-"), "major": cuda.partition(".")[0], "cap": capability, "arch": capability.replace(".", "")}  # fmt: skip


def _ways(program: Program, field: str) -> tuple[Way, ...]:
    found = getattr(program, field)
    return tuple(way for way in (found if field == "less" else (found,)) if way[0])


_MPS = "device = torch.device('mps' if torch.backends.mps.is_available() else 'cpu')"


def elsewhere(case: Asked) -> Iterator[Fix]:
    """A machine whose builds are not those of everybody: Jetson, Apple's, AMD's; Colab, whose GPU is chosen."""
    if "jetson" in case.tools:
        yield tried("Jetson: the package index has no build for its GPU: take NVIDIA's own of the JetPack that is installed, as a wheel or as an image", "docker run --runtime nvidia -it --rm nvcr.io/nvidia/l4t-pytorch:r35.2.1-pth2.0-py3    # the tag of your L4T: cat /etc/nv_tegra_release")  # fmt: skip
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
