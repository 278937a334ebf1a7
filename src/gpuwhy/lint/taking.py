"""Taking: which releases an installer can take, given all that is asked for at once, and where nothing is left.

Every package is a set of releases; what one asks of another takes away what cannot be. A set that becomes empty is a
proof that there is no solution, as far as the harvested metadata goes; what a package asks for that was not harvested
counts as nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gpuwhy.knowledge import asked

_ROUNDS, _TRIES = 12, 30


class Asking(NamedTuple):
    """Who asks for what: the release (or the file, name '') whose demand took the last possible releases away."""

    name: str
    version: str
    other: str
    wish: str


class Network:
    """The packages of one installation on one Python, each with the releases that are possible."""

    def __init__(self, wanted: Mapping[str, str], python: str) -> None:
        self.python = python
        self.wanted = dict(wanted)
        self.sets: dict[str, int] = {}
        self.sure: dict[str, None] = {}
        self.empty: list[Asking] = []
        self.lacking: list[str] = []  # packages of which no wanted release takes this Python
        for name, spec in wanted.items():
            named = asked.allowed(name, spec) if asked.knows(name) else 0
            bits = asked.on_python(name, python) & named if named else 0
            self.lacking += [name] if named and not bits else []
            if bits:  # a release that was not harvested asks for nothing
                self.sure[name], self.sets[name] = None, bits
        self.settle()

    def possible(self, name: str) -> int:
        """The releases of a package that are possible."""
        return self.sets.get(name, 0) if name in self.sets else asked.on_python(name, self.python)

    def settle(self) -> None:
        """Take away what cannot be, until nothing changes."""
        for _ in range(_ROUNDS):
            changed = [self._narrowed(name) for name in list(self.sure)]
            if self.empty or not any(changed):
                return

    def _narrowed(self, name: str) -> bool:
        """One package: its own releases by what they ask for, and others by what all of them ask for."""
        before = (self.sets[name], len(self.sure))
        groups = list(self._groups(name))
        kept = [(bits, asks) for bits, asks in groups if not any(not self._meets(o, w) for o, w in asks.items())]
        self.sets[name] = sum(bits for bits, _ in kept)
        if groups and not kept:
            self.empty += list(self._blames(name, groups[-1]))
            return False
        changed = [self._limit(other, [asks.get(other, "") for _, asks in kept]) for other in _of_all(kept)]
        return any(changed) or before != (self.sets[name], len(self.sure))

    def _groups(self, name: str) -> Iterator[tuple[int, dict[str, str]]]:
        """The releases that are left, with what they ask for on this Python."""
        for group in asked.project(name).groups:
            bits = group.bits & self.sets[name]
            if bits:
                yield bits, self._asks(group)

    def asks(self, name: str) -> dict[str, str]:
        """What the newest possible release of a package asks for."""
        groups = list(self._groups(name))
        return groups[-1][1] if groups else {}

    def _asks(self, group: asked.Group) -> dict[str, str]:
        out = {}
        for other, wishes in group.asks.items():
            here = [spec for spec, where in _parted(wishes) if not where or self.python in where.split(",")]
            wish = ",".join(filter(None, here))
            if here and asked.knows(other) and asked.allowed(other, wish):  # else it is older than what was harvested
                out[other] = wish
        return out

    def _meets(self, other: str, wish: str) -> bool:
        return bool(self.possible(other) & asked.allowed(other, wish))

    def _blames(self, name: str, group: tuple[int, dict[str, str]]) -> Iterator[Asking]:
        bits, asks = group
        for other, wish in asks.items():
            if not self._meets(other, wish):
                yield Asking(name, asked.newest(name, bits), other, wish)

    def _limit(self, other: str, wishes: list[str]) -> bool:
        """What every release that is left asks of another package."""
        before = self.possible(other)
        bits = 0
        for wish in wishes:
            bits |= asked.allowed(other, wish)
        self.sets[other] = before & bits
        new = other not in self.sure
        self.sure[other] = None
        return new or self.sets[other] != before

    def taken(self, there: Mapping[str, str] | None = None, late: str = "") -> dict[str, str]:
        """The release of each package that an installer takes: the newest that goes with the rest, asked ones first.

        What is there already stays, where it may. Installers differ in whom they ask first; `late` is asked last, so
        that the newest of all others limit it.
        """
        now, kept = self, there or {}
        order = [
            *sorted((n for n in self.sure if n in self.wanted), key=lambda n: self.sets[n].bit_count() > 1),
            *self.sure,
        ]
        for name in dict.fromkeys(one for one in order if one != late):
            now = now._with_kept(name, kept)
        later = [name for name in now.sure if name not in order or name == late]
        for name in sorted(later, key=lambda one: one == late):
            now = now._with_kept(name, kept)
        return {name: asked.newest(name, bits) for name, bits in now.sets.items() if bits and name in now.sure}

    def excludes(self, name: str, other: str, version: str) -> bool:
        """Whether the newest possible release of a package does not go with a release of another, which it brings."""
        if name not in self.sure or not self.sets[name]:
            return False
        newest = self._with_newest(name)
        return other in newest.sure and not newest.possible(other) & asked.allowed(other, f"=={version}")

    def _with_kept(self, name: str, there: Mapping[str, str]) -> Network:
        """With the release that is there, else with the newest."""
        bits = self.sets[name] & asked.allowed(name, f"=={there[name]}") if name in there else 0
        tried = self._only(name, bits) if bits else self
        return tried if bits and not tried.empty else self._with_newest(name)

    def _with_newest(self, name: str) -> Network:
        bits = self.sets[name]
        for _ in range(_TRIES):
            if not bits:
                return self
            top = 1 << (bits.bit_length() - 1)
            tried = self._only(name, top)
            if not tried.empty:
                return tried
            bits ^= top
        return self

    def _only(self, name: str, bits: int) -> Network:
        out = Network.__new__(Network)
        out.python, out.wanted = self.python, self.wanted
        out.sets, out.sure, out.empty = {**self.sets, name: bits}, dict(self.sure), []
        out.lacking = self.lacking
        if bits != self.sets[name]:
            out.settle()
        return out


def _parted(wishes: Iterable[str]) -> list[tuple[str, str]]:
    return [(spec, where) for spec, _, where in (wish.partition(";") for wish in wishes)]


def _of_all(kept: list[tuple[int, dict[str, str]]]) -> list[str]:
    """What each of some releases asks for."""
    if not kept:
        return []
    first, *rest = (asks for _, asks in kept)
    return [other for other in first if all(other in asks for asks in rest)]
