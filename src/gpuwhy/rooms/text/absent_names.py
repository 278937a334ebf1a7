"""Absent names: a package that the index does not have, or not for this system: what is meant, or where its makers lay it; lint knows the same names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.absent import ABSENT, FAILING, OTHERS
from gpuwhy.knowledge.extension_wheels import BY_FILE
from gpuwhy.knowledge.extensions import BUILT_BY
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import tried

_SOUGHT = Later(
    r"(?:No matching distribution found for|satisfies the requirement) (?P<name>[A-Za-z][\w.-]*)", re.IGNORECASE
)
_GIT = re.compile(r"pip install git\+\S+")
_PLAIN = re.compile(r"[A-Za-z][\w.-]*(?:\[[\w,]+\])?$")


def not_on_the_index(case: Asked) -> Iterator[Fix]:
    """What to install in place of a name that the index does not have, or how that is built."""
    found = _SOUGHT.search(case.text)
    name = found["name"].lower() if found else ""
    module = name.replace("-", "_")
    if instead := {**OTHERS, **FAILING, **ABSENT}.get(name):
        yield _meant(name, instead)
    elif module in BY_FILE and case.windows:
        yield tried(on.in_windows(f"{name} has no wheel for Windows on the index: take the one whose name has your torch, CUDA and Python from the release page of {BY_FILE[module]} on GitHub"), f"pip install {module}-RELEASE-win_amd64.whl")  # fmt: skip
    elif module in BUILT_BY:
        yield from _built(name, BUILT_BY[module], case)


def _meant(name: str, instead: str) -> Fix:
    git = _GIT.search(instead)
    command = git[0] if git else f'pip install "{instead}"' if _PLAIN.match(instead) else ""
    said = "its repository" if git else instead
    return tried(f"The index has no {name}: what is meant is {said}", command.replace("pip install git", "pip install --no-build-isolation git"))  # fmt: skip


def _built(name: str, command: str, case: Asked) -> Iterator[Fix]:
    """A package that is compiled where it is installed: with a compiler there."""
    again = re.sub(r" (?:--force-reinstall|--no-cache-dir|--no-deps)", "", command)
    text = f"The index has no wheel of {name} for this system: build it against the PyTorch that is installed"
    if case.windows:
        yield tried(on.in_windows(f"{text}, in the x64 Native Tools prompt of Visual Studio, with the CUDA toolkit of PyTorch's CUDA and the environment active (an hour at most)"), on.cmd(f"pip install ninja wheel setuptools\nset DISTUTILS_USE_SDK=1\n{again}"))  # fmt: skip
        yield tried(on.in_windows("Or work in WSL 2, where it is compiled as on Linux"), on.across("wsl --install -d Ubuntu"))  # fmt: skip
    else:
        yield tried(f"{text}, where nvcc of its CUDA is", f"pip install ninja wheel setuptools\n{again}")
