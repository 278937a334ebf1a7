"""Names of apt's packages: which each release of Ubuntu and Debian has; tools/harvest/apt_names.py."""

from __future__ import annotations

import hashlib
import json
from functools import cache

from gpuwhy.knowledge.shipped import shipped
from gpuwhy.knowledge.tables import source

KNOW = source("the package lists of Ubuntu's and Debian's archives", "with updates and security, 18 November 2026")
_HASHES = 4


def bits(name: str, size: int) -> list[int]:
    """The places of a name in a filter of that many bits."""
    digest = hashlib.blake2b(name.encode(), digest_size=16).digest()
    return [int.from_bytes(digest[n * 4 : n * 4 + 4], "little") % size for n in range(_HASHES)]


def is_missing(name: str, family: str, release: str) -> bool:
    """Whether a release has no package of that name, of whatever component; False where it is not known."""
    held = _filters().get(f"{family} {release}", b"")
    return bool(held) and not all(held[bit >> 3] >> (bit & 7) & 1 for bit in bits(name, len(held) * 8))


def is_known(family: str, release: str) -> bool:
    """Whether the lists of a release were read."""
    return f"{family} {release}" in _filters()


def having(name: str, family: str) -> list[str]:
    """The releases of a family that have a package, or pass for it."""
    known = [key.split()[1] for key in _filters() if key.startswith(family)]
    return [release for release in known if not is_missing(name, family, release)]


@cache
def _filters() -> dict[str, bytes]:
    whole = shipped("apt_names.bin")
    head, _, rest = whole.partition(b"\n")
    out, at = {}, 0
    for key, size in json.loads(head).items():
        out[key], at = rest[at : at + size], at + size
    return out
