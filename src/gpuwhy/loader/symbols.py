"""Symbols: what loaded files need of others that the copies loaded for them do not define.

A program with such a pair dies at import (`undefined symbol: __nvJitLinkComplete_12_4`, ``version
`GLIBCXX_3.4.32' not found``, error 127 on Windows), or at the first call.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from gpuwhy.facts.fact import Known
from gpuwhy.facts.loads import OldRuntime, UnmetSymbol
from gpuwhy.loader.outcome import Library
from gpuwhy.loader.systems import Process, System

RUNTIMES = ("libstdc++.so.6", "libgcc_s.so.1", "libc.so.6", "libm.so.6", "libgomp.so.1")
_OF_OTHERS = re.compile(r"/nvidia/|/lib(cu|nv|nccl)[^/]*$")


def unmet_symbols(
    process: Process, system: System, pinned: Callable[[Library], bool] = lambda _: False
) -> tuple[UnmetSymbol, ...]:
    """Every CUDA library and its provider with a symbol missing between them; a pair that was
    published for each other is not compared.
    """
    out = []
    for asker in process.loaded:
        for name in asker.needs if system.concerns_gpu(asker.path) else ():
            pattern = system.provides(name)
            provider = process.get(name) if pattern is not None else None
            if provider is None or provider is asker or (pinned(asker) and pinned(provider)):
                continue
            lacking = process.machine.unmet(asker.path, pattern, provider.path)
            if isinstance(lacking, Known) and lacking.value:
                first, count = lacking.value[:3], len(lacking.value)
                out.append(UnmetSymbol(asker.path, provider.path, first, count))
    return tuple(out)


class UnmetVersion(msgspec.Struct, frozen=True):
    """A version that `asker` needs of `library` and that `provider` does not define."""

    asker: str
    library: str
    provider: str
    version: str


def unmet_versions(process: Process, asker: str) -> list[UnmetVersion]:
    """The version nodes that one file asks for in vain.

    A provider without any version is taken as it is: glibc only warns of it.
    """
    needed = process.machine.versions(asker)
    out = []
    for need in needed.value.needs if isinstance(needed, Known) else ():
        provider = process.get(need.library)
        offered = process.machine.versions(provider.path) if provider else None
        if provider and isinstance(offered, Known) and offered.value.defines:
            lacking = [node for node in need.versions if node not in offered.value.defines]
            out += [UnmetVersion(asker, need.library, provider.path, node) for node in lacking]
    return out


def old_runtimes(process: Process) -> tuple[OldRuntime, ...]:
    """Each C or C++ library that is too old, and the first file of the framework that it fails,
    with the newest version that it lacks.
    """
    found: dict[str, OldRuntime] = {}
    for asker in process.loaded:
        if "-packages/" not in asker.path or _OF_OTHERS.search(asker.path):
            continue
        for name in RUNTIMES:
            provider = process.get(name) if name in asker.needs and name not in found else None
            needs = process.machine.versions(asker.path) if provider else None
            offers = process.machine.versions(provider.path) if provider else None
            if not provider or not isinstance(needs, Known) or not isinstance(offers, Known):
                continue
            wanted = [one.versions for one in needs.value.needs if one.library == name]
            lacking = {node for nodes in wanted for node in nodes} - {*offers.value.defines}
            if lacking:
                newest = max(lacking, key=_order)
                old = OldRuntime(name, provider.path, provider.rule, asker.path, newest)
                found[name] = old
    return tuple(found[name] for name in RUNTIMES if name in found)


def _order(node: str) -> tuple[bool, tuple[int, ...]]:
    return node.startswith("GLIBC"), tuple(map(int, re.findall(r"\d+", node)))
