"""What /etc/ld.so.conf names: the folders that ldconfig would list in the cache, in their order.

The cache is what the loader reads; the configuration tells what the next run of ldconfig makes of
it. Between the two lies whatever was copied in, or mounted, without that run.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator

from gpuwhy.facts.fact import Known, Unknown, value_or
from gpuwhy.machine.machine import Machine

CONFIGURATION = "/etc/ld.so.conf"
_DEEPEST = 4


def configured(machine: Machine) -> tuple[str, ...]:
    """The folders of ld.so.conf and of what it includes, in ldconfig's order; each once."""
    return tuple(dict.fromkeys(_named(machine, CONFIGURATION, 0)))


def _named(machine: Machine, file: str, depth: int) -> Iterator[str]:
    for line in value_or(machine.read(file), "").splitlines():
        words = line.partition("#")[0].replace(",", " ").replace(":", " ").split()
        if words[:1] != ["include"]:
            yield from (one.rstrip("/") for one in words if one.startswith("/"))
        elif depth < _DEEPEST:
            for pattern in words[1:]:
                for included in _matching(machine, pattern):
                    yield from _named(machine, included, depth + 1)


def _matching(machine: Machine, pattern: str) -> list[str]:
    """The files that an include means, sorted as ldconfig sorts them."""
    folder, _, name = (pattern if pattern.startswith("/") else f"/etc/{pattern}").rpartition("/")
    names = sorted(one.name for one in value_or(machine.list(folder), ()))
    return [f"{folder}/{one}" for one in names if fnmatch.fnmatchcase(one, name)]


def not_cached(machine: Machine, name: str, processor: str) -> str:
    """The configured folder that holds a library which is missing in the cache; "" for none."""
    cache = machine.ldcache()
    if isinstance(cache, Unknown):
        return ""
    if isinstance(cache, Known) and any(
        one.name == name and one.serves(processor) for one in cache.value
    ):
        return ""
    folders = configured(machine)
    return next((one for one in folders if isinstance(machine.stat(f"{one}/{name}"), Known)), "")
