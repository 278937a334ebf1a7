"""Conda: its build of a framework for the CPU, and its build with CUDA in its place, of the channel that is used there."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.companions import going_with
from gpuwhy.knowledge.drivers import cuda_of_driver
from gpuwhy.knowledge.variants import variants
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import at_least
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import tried

_LISTED = Later(r"(?<![\w-])(?P<name>pytorch|tensorflow|jaxlib)\s+(?P<version>\d[\w.]*)\s+(?P<build>(?:\S*_)?(?:cpu|mkl|eigen)_\S+)(?=\s|$)")  # fmt: skip
_CREATED = Later(r"\b(?P<tool>conda|mamba|micromamba) (?:create|install)[^\n]*?\s(?P<name>pytorch|tensorflow|jaxlib|jax)(?P<version>=+\d[\d.]*)?(?=\s|$)")  # fmt: skip
_OF = {"pytorch": "torch", "tensorflow": "tensorflow", "jaxlib": "jax", "jax": "jax"}


def of_conda(case: Asked) -> Iterator[Fix]:
    """conda's build for the CPU, which pip would take for the release that is asked for: conda's own with CUDA."""
    found = _LISTED.search(case.text) or _CREATED.search(case.text)
    if not found or (case.framework and _OF.get(found["name"], case.framework) != case.framework):
        return
    groups = found.groupdict()
    name, version = "jaxlib" if found["name"] == "jax" else found["name"], (groups["version"] or "").lstrip("=")
    old = (groups.get("build") or "").startswith(("mkl", "eigen"))
    if case.windows and (name != "pytorch" or old):
        return
    if command := _of_pytorch(version, case) if name == "pytorch" else "":
        yield tried(f"conda took the channel pytorch's build of {version} for the CPU: take that channel's build with CUDA, which pytorch-cuda chooses", command)  # fmt: skip
        return
    yield tried(f"conda chose its build of {name} for the CPU, as it does where it sees no driver (a login node, a machine without GPU): take conda's build with CUDA, and tell conda the CUDA of the machine that will run it", _by_conda(name, version, old, case))  # fmt: skip
    yield tried("Or make the environment on a machine with the GPU, where conda sees the driver")


def _by_conda(name: str, version: str, old: bool, case: Asked) -> str:
    pinned = f"{name}={version}" if version and "." in version else name
    if old:  # of Anaconda's own channel
        return f'conda install "{name}={version or "*"}=gpu*"'
    speaks = case.speaks or cuda_of_driver(case.driver) or "12.4"
    cuda = speaks if at_least(speaks, "11.2") else "11.8"
    also = " jax" if name == "jaxlib" else " torchvision" if "torchvision" in case.text and name == "pytorch" else ""
    wanted = f'"{pinned}=*cuda*"' if pinned != name else f'"{name}=*=*cuda*"'
    return on.linux(f"CONDA_OVERRIDE_CUDA={cuda} conda install -c conda-forge {wanted}{also}") if not case.windows else f"conda install -c conda-forge {wanted}{also}"  # fmt: skip


_CHANNEL = Later(r"(?<![\w-])pytorch\s+\d[\w.]*\s+\S*cpu\S*\s+pytorch(?![\w-])")


def _of_pytorch(version: str, case: Asked) -> str:
    """PyTorch of its own channel, which a listing names, with the CUDA that the driver runs; "" where it has no such build."""
    builds = [one.cuda for one in variants(version)] if version else []
    of_channel = at_least(version or "0", "1.13") and not at_least(version, "2.6")
    speaks = case.speaks or cuda_of_driver(case.driver) or "12.1"
    fits = [one for one in builds if at_least(speaks, one)] or builds[-1:]
    if not of_channel or not fits or not _CHANNEL.search(case.text):
        return ""
    vision = going_with("torchvision", version)
    also = f" torchvision={vision}" if vision and "torchvision" in case.text else ""
    return f"conda install -y -c pytorch -c nvidia pytorch={version}{also} pytorch-cuda={fits[0]}"
