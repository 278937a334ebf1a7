"""Folders that a Python adds with os.add_dll_directory before any program runs.

That is in sitecustomize, usercustomize and .pth files. They are searched for what Python itself
loads (extension modules, ctypes); a plain LoadLibrary, as TensorFlow opens CUDA, does not see them
(Microsoft: AddDllDirectory).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuwhy.facts.fact import value_or
from gpuwhy.facts.loads import Found
from gpuwhy.loader.outcome import other
from gpuwhy.loader.windows import tidy
from gpuwhy.machine.machine import Machine

_CALL = "add_dll_directory"
_LITERAL = re.compile(rf"{_CALL}\(\s*r?[\"']([^\"']+)[\"']\s*\)")
_JOINED = re.compile(
    rf"{_CALL}\(\s*os\.path\.join\(\s*os\.environ(?:\[|\.get\()[\"'](\w+)[\"'][\])]\s*"
    r"((?:,\s*r?[\"'][^\"']+[\"']\s*)*)\)\s*\)"
)
_PART = re.compile(r"[\"']([^\"']+)[\"']")


def added_at_start(
    machine: Machine, sites: Sequence[str], environ: Mapping[str, str]
) -> Iterator[tuple[str, Found]]:
    """Each folder, and the file that adds it."""
    for site in sites:
        listed = value_or(machine.list(site, r"(?i)(site|user)customize\.py$|[^/]*\.pth$"), ())
        for path in (f"{site}/{entry.name}" for entry in listed):
            lines = machine.lines(path, _CALL)
            for line in value_or(lines, ()):
                rule = other(f"added by {path}")
                yield from ((folder, rule) for folder in _folders(line, environ))


def _folders(line: str, environ: Mapping[str, str]) -> Iterator[str]:
    if line.lstrip().startswith("#"):
        return
    for found in _LITERAL.finditer(line):
        yield tidy(found[1].replace("\\\\", "\\"))
    for found in _JOINED.finditer(line):
        if root := environ.get(found[1].upper()) or environ.get(found[1]):
            yield tidy("/".join((root, *_PART.findall(found[2]))))
