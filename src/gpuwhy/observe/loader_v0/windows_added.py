"""Folders that a Python adds with os.add_dll_directory before any program runs: in sitecustomize, usercustomize, .pth.

They are searched for what Python itself loads (extension modules, ctypes); a plain LoadLibrary, as TensorFlow opens
CUDA, does not see them (Microsoft: AddDllDirectory).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuwhy.host.base import Host
from gpuwhy.observe.loader_v0.windows import tidy
from gpuwhy.model.fact import value_or

_CALL = "add_dll_directory"
_LITERAL = re.compile(rf"{_CALL}\(\s*r?[\"']([^\"']+)[\"']\s*\)")
_JOINED = re.compile(
    rf"{_CALL}\(\s*os\.path\.join\(\s*os\.environ(?:\[|\.get\()[\"'](\w+)[\"'][\])]\s*((?:,\s*r?[\"'][^\"']+[\"']\s*)*)\)\s*\)"
)
_PART = re.compile(r"[\"']([^\"']+)[\"']")


def added_at_start(host: Host, sites: Sequence[str], environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each folder, and the file that adds it."""
    for site in sites:
        listed = value_or(host.list(site, r"(?i)(site|user)customize\.py$|[^/]*\.pth$"), ())
        for path in (f"{site}/{entry.name}" for entry in listed):
            lines = host.lines(path, _CALL)
            for line in value_or(lines, ()):
                yield from ((folder, f"added by {path}") for folder in _folders(line, environ))


def _folders(line: str, environ: Mapping[str, str]) -> Iterator[str]:
    if line.lstrip().startswith("#"):
        return
    for found in _LITERAL.finditer(line):
        yield tidy(found[1].replace("\\\\", "\\"))
    for found in _JOINED.finditer(line):
        if root := environ.get(found[1].upper()) or environ.get(found[1]):
            yield tidy("/".join((root, *_PART.findall(found[2]))))
