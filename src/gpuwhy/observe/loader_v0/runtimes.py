"""Runtimes: the C and C++ libraries that a framework's own files get, where those are older than they need.

Such a framework cannot be imported (``version `GLIBCXX_3.4.32' not found``), whatever else is right.
"""

from __future__ import annotations

import re

from gpuwhy.observe.loader_v0.outcome import Library
from gpuwhy.observe.loader_v0.systems import Process
from gpuwhy.model.fact import Known
from gpuwhy.model.facts import OldRuntime

RUNTIMES = ("libstdc++.so.6", "libgcc_s.so.1", "libc.so.6", "libm.so.6", "libgomp.so.1")
_OF_OTHERS = re.compile(r"/nvidia/|/lib(cu|nv|nccl)[^/]*$")


def old_runtimes(process: Process) -> tuple[OldRuntime, ...]:
    """The first file of the framework that each such library fails, and what it asks for in vain."""
    found: dict[str, OldRuntime] = {}
    for name in RUNTIMES:
        provider = process.get(name)
        for asker in process.loaded if provider else ():
            if provider and name in asker.needs and "-packages/" in asker.path and not _OF_OTHERS.search(asker.path):
                lacking = _lacking(process, asker, name, provider)
                if lacking and name not in found:
                    found[name] = OldRuntime(name, provider.path, provider.via, asker.path, lacking)
    return tuple(found.values())


def _lacking(process: Process, asker: Library, name: str, provider: Library) -> str:
    """The newest version that a file needs of a library and that its copy does not define."""
    needs, offers = process.host.versions(asker.path), process.host.versions(provider.path)
    if not isinstance(needs, Known) or not isinstance(offers, Known):
        return ""
    wanted = [node for need in needs.value.needs if need.library == name for node in need.versions]
    lacking = [node for node in wanted if node not in offers.value.defines]
    return max(lacking, key=_order, default="")


def _order(node: str) -> tuple[bool, tuple[int, ...]]:
    return node.startswith("GLIBC"), tuple(map(int, re.findall(r"\d+", node)))
