"""Files that two installed packages both list with other contents, and whose are on disk."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from gpuwhy.facts.fact import Fact, Known, Owner, Unknown, known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.installs import Conflict, Share
from gpuwhy.knowledge.packages import flavour
from gpuwhy.look.environment.packages import gpu_related
from gpuwhy.look.look import Options
from gpuwhy.machine.machine import Machine

_LIBRARY = r"(?i)(?![/\\]|\.\.|.:)(?!.*/\.\./).*\.(so(\.\d+)*|dll|pyd)$"
_HASHED = 2 << 20  # bytes: up to this size a hash costs less than a doubt


class Claim(NamedTuple):
    """One line of a RECORD: who lists a file, and what it should be."""

    owner: Owner
    sha256: str
    size: int


def conflicts(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Conflict, ...]]:
    """Packages of the GPU stack that list the same library with other contents.

    Beside the libraries, the file that their import begins with: what two flavours always share.
    """
    packages = facts.environment.packages.need() or ()
    among = [one for one in packages if gpu_related(one.name) and not one.second]
    ends = (".dll", ".pyd") if value_or(facts.system.os, "") == "windows" else (".so",)
    claims: dict[str, list[Claim]] = {}
    for one in among:
        rows = [row for row in one.files.ending(*ends) if re.match(_LIBRARY, row.path)]
        kind = flavour(one.name)
        first = one.files.find(f"{kind.module}/__init__.py") if kind else None
        for row in (*rows, first) if first else rows:
            claim = Claim(one.owner, row.sha256, row.size)
            claims.setdefault(f"{one.site}/{row.path}", []).append(claim)
    groups: dict[tuple[Owner, ...], list[str]] = {}
    for path, several in claims.items():
        owners = tuple(dict.fromkeys(claim.owner for claim in several))
        if len(owners) > 1 and len({(claim.sha256, claim.size) for claim in several}) > 1:
            groups.setdefault(owners, []).append(path)
    found = []
    for owners, paths in groups.items():
        won = Counter(filter(None, (_winner(machine, p, claims[p], options) for p in paths)))
        shares = tuple(Share(owner, count) for owner, count in won.most_common())
        unseen = Unknown("neither sizes nor hashes show whose files these are", "check --deep")
        winners = known(shares, "file", paths[0], "by size and hash") if won else unseen
        example = min(paths, key=lambda path: (len(path.rpartition("/")[2]), path))
        inside = re.split(r"/(?:site|dist)-packages/", example)[-1].split("/")
        module = inside[0].partition(".")[0]
        if inside[0] == "nvidia" and len(inside) > 2:
            module = ".".join(inside[:2])
        found.append(Conflict(owners, len(paths), example, module, winners))
    return known(tuple(found), "package", "RECORD", f"of {len(among)} packages")


def _winner(machine: Machine, path: str, claims: list[Claim], options: Options) -> Owner | None:
    """The one owner whose size, or hash where sizes agree, is the file's."""
    stat = machine.stat(path)
    size = stat.value.size if isinstance(stat, Known) else -1
    fits = [one for one in claims if one.size == size >= 0]
    if len(fits) > 1 and (size < _HASHED or options.files == "all"):
        digest = value_or(machine.sha256(path), "")
        fits = [one for one in fits if one.sha256 == digest]
    owners = {one.owner for one in fits}
    return owners.pop() if len(owners) == 1 else None
