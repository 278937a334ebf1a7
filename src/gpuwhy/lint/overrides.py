"""Overrides: compose files that are read together, docker-compose.yml and docker-compose.gpu.yml."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping

from gpuwhy.lint import compose
from gpuwhy.lint.sheet import Read, Sheet


def asked_elsewhere(sheet: Sheet, sheets: Mapping[str, Sheet], read: Read) -> set[str]:
    """Services whose request for a GPU stands elsewhere: in an override beside, or in the file that it is laid over."""
    if sheet.kind != "compose":
        return set()
    folder, name = posixpath.split(sheet.path)
    stem, _, ending = name.rpartition(".")
    out = _completed(folder, stem, sheets, read)
    for added in (".override", ".gpu", "-gpu", ".nvidia", ".cuda"):
        path = posixpath.join(folder, f"{stem}{added}.{ending}")
        text = None if path in sheets else read(path)
        found = sheets.get(path) or (compose.read(path, text) if text else None)
        out |= {work.name for work in found.workloads if work.request} if found else set()
    return out


def _completed(folder: str, stem: str, sheets: Mapping[str, Sheet], read: Read) -> set[str]:
    """Compose: the services of the file that docker-compose.dev.yml beside it is laid over."""
    out: set[str] = set()
    for base in ("docker-compose", "compose") if re.match(r"(docker-)?compose[.-]", stem) else ():
        for ending in ("yml", "yaml"):
            path = posixpath.join(folder, f"{base}.{ending}")
            text = None if path in sheets else read(path)
            found = sheets.get(path) or (compose.read(path, text) if text else None)
            out |= {work.name for work in found.workloads} if found else set()
    return out
