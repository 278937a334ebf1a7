"""Symbol versions: what a loaded file needs of another that the copy loaded for it does not define.

A program with such a pair does not start (``version `GLIBCXX_3.4.32' not found``). A provider without any version is
taken as it is: glibc only warns of it.
"""

from __future__ import annotations

import msgspec

from gpuwhy.observe.loader_v0.process import Process
from gpuwhy.model.fact import Known


class UnmetVersion(msgspec.Struct, frozen=True):
    """A version that `asker` needs of `library`, which is loaded from `provider`, where it is not defined."""

    asker: str
    library: str
    provider: str
    version: str


def unmet_versions(process: Process) -> tuple[UnmetVersion, ...]:
    """Every version node that is asked for in vain, in load order."""
    return tuple(unmet for one in process.loaded for unmet in _of(process, one.path))


def _of(process: Process, asker: str) -> list[UnmetVersion]:
    versions = process.world.host.versions(asker)
    out = []
    for need in versions.value.needs if isinstance(versions, Known) else ():
        provider = process.get(need.library)
        offered = process.world.host.versions(provider.path) if provider else None
        if provider and isinstance(offered, Known) and offered.value.defines:
            lacking = [node for node in need.versions if node not in offered.value.defines]
            out += [UnmetVersion(asker, need.library, provider.path, node) for node in lacking]
    return out
