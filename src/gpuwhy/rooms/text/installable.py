"""Installable: an install line ends in a state that works: a Python that the release has wheels for, the CUDA and cuDNN that it opens, the companions of one build."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from msgspec import structs

from gpuwhy.knowledge.companions import going_with
from gpuwhy.knowledge.drivers import floor
from gpuwhy.knowledge.installs import brings_libraries
from gpuwhy.knowledge.releases import family, find, has_python
from gpuwhy.knowledge.variants import variants
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.release import Release
from gpuwhy.model.steps import follows
from gpuwhy.model.version import numbers
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.shown import CONDA

_PIP = re.compile(r"^(?:python3? -m )?pip3? install(?= )")
_WANTED = re.compile(r"(?<![\w./=-])[\"']?(?P<name>tensorflow(?:-gpu)?|torch|onnxruntime-gpu|jax)(?:\[[\w,-]+\])?(?P<pin>(?:==[\d.]+)?)(?:\+\w+)?[\"']?(?=\s|$)")  # fmt: skip
_MINOR = re.compile(r"3\.\d+$")
_USUAL = "3.12"
"""The Python that most packages have wheels for."""
_STALE = (3, 9)
"""Below this Python pip takes a release of years ago where none is named."""
_PLATFORM = {True: "windows-x86_64", False: "linux-x86_64"}


def installable(fixes: Sequence[Fix], case: Asked) -> list[Fix]:
    """The fixes, with what their install lines need besides."""
    changes = (_one_build, _with_python, _with_libraries, _with_number, _with_conda)
    return [_changed(fix, case, changes) for fix in fixes]


def _changed(fix: Fix, case: Asked, changes: Sequence[Callable[[Fix, Asked], Fix]]) -> Fix:
    for change in changes:
        fix = change(fix, case)
    return fix


_BY_CONDA = re.compile(r"^(?:CONDA_\w+=\S+ )?conda (?:install|create)\b", re.MULTILINE)
_BRINGS = "; conda comes with Miniforge (conda-forge.org/download) where it is not there"


def _with_conda(fix: Fix, case: Asked) -> Fix:
    """Where nothing tells of conda: what brings it."""
    if not _BY_CONDA.search(fix.command) or "conda" in fix.text.lower().partition(": ")[2] or CONDA.search(case.text):
        return fix
    return structs.replace(fix, text=on.as_said(f"{fix.text}{_BRINGS}", fix.text))


_LAST = (5, 0)
"""Cards below have no driver of today."""
_DRIVER = re.compile(
    r"(?:Install|Update to) a newer (?:NVIDIA )?driver\b|Update the (?:NVIDIA )?driver\b", re.IGNORECASE
)


def _with_number(fix: Fix, case: Asked) -> Fix:
    """A newer driver by a number that suffices, where nothing tells which one is needed."""
    bare = fix.text.bare if isinstance(fix.text, on.Said) else fix.text
    enough = floor("13.0", "linux")
    old = bool(case.gpu) and numbers(case.gpu) < _LAST
    if enough is None or old or not _DRIVER.match(bare) or re.search(r"\d{3}", bare):
        return fix
    said = f" ({enough.driver.partition('.')[0]} or newer runs every build for CUDA 11, 12 and 13.0)"
    text = _DRIVER.sub(lambda found: found[0] + said, fix.text, count=1)
    return structs.replace(fix, text=on.as_said(text, fix.text))


def _row(fix: Fix, case: Asked) -> Release | None:
    """The release that a fix of one line installs: the one that it names, else the newest."""
    lines = str(fix.command).splitlines()
    if (
        len(lines) != 1
        or not _PIP.match(lines[0])
        or (isinstance(fix.command, on.Command) and fix.command.shell != "sh")
    ):
        return None
    found = _WANTED.search(lines[0])
    if found is None:
        return None
    platform, python = _PLATFORM[case.windows], _at_most(case)
    name = "jaxlib" if found["name"] == "jax" else found["name"]  # its own wheel is for every Python
    if found["pin"]:
        return find(name, found["pin"][2:], platform)
    return _newest(name, platform) if python and numbers(python) < _STALE else None


@cache
def _newest(name: str, platform: str) -> Release | None:
    known = family(name)
    rows = [one for one in (known.rows if known else ()) if one.platform == platform and re.fullmatch(r"[\d.]+", one.version) and not one.yanked]  # fmt: skip
    return max(rows, key=lambda one: numbers(one.version), default=None)


def _minors(row: Release) -> list[str]:
    return sorted((one for one in row.pythons if _MINOR.match(one)), key=numbers)


def _at_most(case: Asked) -> str:
    """The newest Python that can be there: the one that is told, else the last one that the framework's release has wheels for."""
    if case.python or not case.version:
        return case.python
    names = ("tensorflow", "tensorflow-gpu") if case.framework == "tensorflow" else (case.framework,)
    platform, release = _PLATFORM[case.windows], case.version.partition("+")[0]
    row = next((one for name in names if (one := find(name, release, platform))), None)
    return (_minors(row) or [""])[-1] if row else ""


def _with_python(fix: Fix, case: Asked) -> Fix:
    """An environment of a Python that the release has wheels for, where the one at hand has none."""
    row, python = _row(fix, case), _at_most(case)
    minors = _minors(row) if row else []
    if not row or not minors or not python or follows(fix) or has_python(row, python):
        return fix
    newer = numbers(python) > numbers(minors[-1])
    if not case.python and newer:
        return fix
    span = minors[0] if len(minors) == 1 else f"{minors[0]} to {minors[-1]}"
    best = minors[-1] if newer else _USUAL if _USUAL in minors else minors[len(minors) // 2]
    line = _PIP.sub("uv pip install --python .venv", str(fix.command))
    there = f"and not for {python}" if case.python else f"and what is there is for {python} at the newest"
    text = (
        f"{fix.text}; {row.name} {row.version} has wheels for Python {span}, {there}: so in an environment with {best}"
    )
    return structs.replace(fix, text=on.as_said(text, fix.text), command=f"uv venv --python {best} .venv\n{line}")


_TF = re.compile(r"(?<![\w./=-])[\"']?(tensorflow(?:-gpu)?)==([12]\.\d+(?:\.\d+)?)[\"']?(?=\s|$)")


def _with_libraries(fix: Fix, case: Asked) -> Fix:
    """Windows: the CUDA and the cuDNN that a TensorFlow opens, by number and place, where its fix names neither."""
    found = _TF.search(fix.command)
    if not found or not case.windows or re.search(r"cudatoolkit|cuDNN", f"{fix.text}\n{fix.command}"):
        return fix
    row = find(found[1], found[2], "windows-x86_64") or find("tensorflow-gpu", found[2], "windows-x86_64")
    if row is None or not isinstance(row.cuda, str) or not isinstance(row.cudnn, str) or brings_libraries("tensorflow", row.version):  # fmt: skip
        return fix
    text = f"{fix.text}. It opens CUDA {row.cuda} and cuDNN {row.cudnn}, which it does not bring: install that CUDA, copy cuDNN's bin, include and lib into its folder, and have its bin folder on PATH"
    return structs.replace(fix, text=on.as_said(text, fix.text))


_CPU = Later(r"\b(?:torch|pytorch)\S*?[ =:'\"(v]{1,12}(\d+\.\d+\.\d+)\+cpu\b", re.IGNORECASE)
_OVER = re.compile(r"(?P<head>\binstall (?:-\S+ )*(?:--(?:force-)?reinstall|--upgrade) )(?P<mark>[\"']?)torch(?P=mark)(?P<also>(?: torchvision| torchaudio)*)(?P<rest>(?: --\S+(?: https\S+)?)*)$")  # fmt: skip


def _one_build(fix: Fix, case: Asked) -> Fix:
    """PyTorch's GPU build over the CPU build that is told: the same release, and torchvision of the same build beside it."""
    told = _CPU.search(case.text)
    if not told or not variants(told[1]) or (case.python and not _has(told[1], case)):
        return fix
    lines = [_OVER.sub(lambda found: _the_same(found, told[1]), line) for line in str(fix.command).splitlines()]
    command = "\n".join(lines)
    return structs.replace(fix, command=on.like(command, fix.command)) if command != fix.command else fix


def _has(release: str, case: Asked) -> bool:
    row = find("torch", release, _PLATFORM[case.windows])
    return row is None or has_python(row, case.python)


def _the_same(found: re.Match[str], release: str) -> str:
    vision = going_with("torchvision", release)
    also = f' "torchvision=={vision}"' if vision else " torchvision"
    audio = f' "torchaudio=={release}"' if "torchaudio" in found["also"] else ""
    return f'{found["head"]}"torch=={release}"{also}{audio}{_INDEX.sub(_of_its_own(release), found["rest"])}'


_INDEX = re.compile(r"(?<=/whl/)cu\d+")


def _of_its_own(release: str) -> Callable[[re.Match[str]], str]:
    """The index that is named, where it has this release; else the one of the newest CUDA that has it."""
    there = [one.backend for one in variants(release)]
    return lambda found: found[0] if found[0] in there else there[0]
