"""Written: folders that variables name for caches and temporary files, where they are not there and cannot be made."""

from __future__ import annotations

import posixpath

from gpuwhy.host.base import Host
from gpuwhy.knowledge.written import WRITTEN
from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import Fault
from gpuwhy.observe.scene import Scene

_OF_THE_KERNEL = ("/proc", "/sys")


def cannot_be_made(scene: Scene, name: str, value: str) -> tuple[Fault, ...]:
    """A folder that its reader would make, and cannot; one that is there may be meant to be read only."""
    row, installed = WRITTEN[name], {one.name for one in value_or(scene.facts.target.distributions, ())}
    if not value or "$" in value or (row.packages and installed.isdisjoint(row.packages)):
        return ()
    start = value_or(scene.host.real(scene.options.folder or "."), "")
    path = value if value.startswith(("/", "~")) else f"{start}/{value}" if start else ""
    why = _why_not(scene.host, posixpath.normpath(path)) if path else ""
    if not why:
        return ()
    here = tuple(one.name for one in value_or(scene.facts.target.frameworks, ()))[:1]
    text = f"this folder cannot be made ({why}); {row.then}"
    return (Fault(row.kind, row.frameworks or here, text, source=row.source),)


def _why_not(host: Host, path: str) -> str:
    """What keeps a folder from being made; "" where it is there, could be made, or that was not seen."""
    standing = host.standing(path)
    if not isinstance(standing, Known):
        return ""
    nearest = standing.value.nearest.rstrip("/")
    if path == nearest or not path.startswith(f"{nearest}/"):
        return ""
    first = f"{nearest}/{path[len(nearest) + 1 :].partition('/')[0]}"
    there = host.stat(first)
    if isinstance(there, Known):
        return f"{first} is no folder" if there.value.kind != "folder" else f"{first} is closed to this user"
    if isinstance(host.link(first), Known):
        return f"{first} is a link that leads nowhere"
    return _closed(standing.value.nearest, standing.value.read_only, standing.value.writable)


def _closed(nearest: str, read_only: bool, writable: bool) -> str:
    if read_only:
        return f"{nearest} is mounted read-only"
    if f"{nearest}/".startswith(tuple(f"{one}/" for one in _OF_THE_KERNEL)):
        return f"{nearest} is the kernel's own"
    return "" if writable else f"this user may not write to {nearest}"
