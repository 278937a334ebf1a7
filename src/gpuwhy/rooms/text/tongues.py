"""Tongues: a program of another language than Python, or one that is whole in itself, takes its own remedies only.

pip's wheels do nothing for Julia, and conda's toolkit nothing for a program that somebody built: which field of the table
of programs answers a cause is said here once, for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

from msgspec import structs

from gpuwhy.knowledge.drivers import cuda_of_driver
from gpuwhy.knowledge.programs import Program
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import major_minor
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import filled

_FIELDS: dict[str, tuple[str, ...]] = {
    "driver.too_old": ("release",),
    "cuda.missing_library": ("libraries", "newest"),
    "cuda.version_mismatch": ("release", "libraries"),
    "cuda.mixed_libraries": ("alone",),
    "cuda.compiler_missing": ("libraries",),
    "cudnn.missing": ("libraries",),
    "cudnn.version_mismatch": ("libraries",),
    "cudnn.dependency_missing": ("libraries",),
    "env.path": ("libraries",),
    "framework.cpu_only": ("cuda",),
    "framework.gpu_unsupported": ("newest",),
    "framework.bug": ("newest",),
    "framework.extension_abi": ("newest",),
    "other.not_gpu": ("newest",),
    "install.corrupted": ("newest",),
    "install.inconsistent": ("newest",),
    "device.selection": ("device",),
}
"""The fields of a program that answer a cause, in order."""

_PYTHON = Later(r"(?:site|dist)-packages|Traceback \(most recent call|\.py\b|\bpip3? |\bimport [a-z_]+\b|\bconda (?:install|list|activate)|python3?\b(?!-)", re.IGNORECASE)  # fmt: skip
_OF_PYTHON = re.compile(r"(?:^|&& |; |=\S+ )(?:uv )?(?:pip|python3? -m pip|conda|mim) (?:install|uninstall|create|remove)|^python ", re.MULTILINE)  # fmt: skip
_DRIVER_FIRST = ("driver.too_old",)


def tongue_of(case: Asked) -> Program | None:
    """The program of another tongue that speaks, where Python has no part in the text; the first of the table."""
    own = [one for one in case.programs if one.tongue != "python"]
    python = [one for one in case.programs if one.tongue == "python"]
    by_python = _PYTHON.search(case.text) if own and own[0].tongue in ("own", "rust") else None
    return own[0] if own and not (python and own[0].tongue == "own") and not by_python else None


def in_its_tongue(cause: str, case: Asked, fixes: Sequence[Fix]) -> Sequence[Fix]:
    """The remedies without those for Python's packages, where the program takes none; its own way among the first."""
    program = tongue_of(case)
    if program is None:
        return fixes
    made = {one: list(_ways((one,), cause, program, case)) for one in _FIELDS.get(cause, ())}
    said = {fix.text for fix in chain.from_iterable(made.values())}
    rest = [fix for fix in fixes if not _OF_PYTHON.search(fix.command) and fix.text not in said]
    last = made.pop("newest", [])
    place = 1 if cause in _DRIVER_FIRST and rest else 0
    kept = [*rest[:place], *chain.from_iterable(made.values()), *rest[place:]]
    return [*kept[:1], *last, *kept[1:]] or fixes


def _of_unix(fix: Fix) -> bool:
    """Whether Windows has no words for its command."""
    return isinstance(fix.command, on.Command) and bool(fix.command) and "windows" not in fix.command.systems


def _ways(fields: Sequence[str], cause: str, program: Program, case: Asked) -> Iterator[Fix]:
    cuda = _cuda(cause, case)
    for field in fields:
        way = getattr(program, field)
        if "{cuda}" in way[0] + way[1] and "." not in cuda:
            continue
        if "{arch}" not in way[1] and "{cap}" not in way[1]:
            made = filled(case, way, **({"cuda": cuda} if "." in cuda else {}))
            said = map(_at_console, made) if case.windows else made
            yield from (fix for fix in said if not (case.windows and _of_unix(fix)))


_LINE = re.compile(r"(?P<who>Rscript|julia)(?: --project=\S+)? -e '(?P<code>[^'\n]+)'")
_CONSOLES = {"Rscript": "R's console", "julia": "Julia's prompt"}


def _at_console(fix: Fix) -> Fix:
    """A line that a Unix shell hands to R or Julia, as it is typed in that program itself: Windows' shells quote otherwise."""
    found = _LINE.fullmatch(fix.command)
    if found is None:
        return fix
    text = on.as_said(f"{fix.text} (typed at {_CONSOLES[found['who']]}, in a new session)", fix.text)
    return structs.replace(fix, text=text, command=on.code(found["code"]))


def _cuda(cause: str, case: Asked) -> str:
    """The CUDA to take: what the driver runs, or what is installed."""
    speaks = case.speaks or cuda_of_driver(case.driver) or ""
    there = major_minor(case.reading.told.version("cuda") or case.reading.told.version("nvcc"))
    return speaks if cause == "driver.too_old" else there or speaks
