"""What /etc/ld.so.conf names: the folders that ldconfig would list in the cache, in the order in which they count.

The cache is what the loader reads; the configuration tells what the next run of ldconfig makes of it. Between the two
lies whatever was copied in, or mounted, without that run.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Known, Unknown, value_or

CONFIGURATION = "/etc/ld.so.conf"
_DEEPEST = 4


def configured(host: Host) -> tuple[str, ...]:
    """The folders of ld.so.conf and of what it includes, in ldconfig's order; each once."""
    return tuple(dict.fromkeys(_named(host, CONFIGURATION, 0)))


def _named(host: Host, file: str, depth: int) -> Iterator[str]:
    text = host.read(file)
    for line in text.value.splitlines() if isinstance(text, Known) else ():
        words = line.partition("#")[0].replace(",", " ").replace(":", " ").split()
        if words[:1] != ["include"]:
            yield from (one.rstrip("/") for one in words if one.startswith("/"))
        elif depth < _DEEPEST:
            for pattern in words[1:]:
                for included in _matching(host, pattern):
                    yield from _named(host, included, depth + 1)


def _matching(host: Host, pattern: str) -> list[str]:
    """The files that an include means, sorted as ldconfig sorts them."""
    folder, _, name = (pattern if pattern.startswith("/") else f"/etc/{pattern}").rpartition("/")
    entries = host.list(folder)
    names = sorted(one.name for one in value_or(entries, ()))
    return [f"{folder}/{one}" for one in names if fnmatch.fnmatchcase(one, name)]


def unlisted(host: Host, name: str, machine: str) -> str:
    """The configured folder that holds a library of which the cache does not know; "" where there is none."""
    cache = host.ldcache()
    if isinstance(cache, Unknown):
        return ""
    if isinstance(cache, Known) and any(one.name == name and one.serves(machine) for one in cache.value):
        return ""
    return next((one for one in configured(host) if isinstance(host.stat(f"{one}/{name}"), Known)), "")
