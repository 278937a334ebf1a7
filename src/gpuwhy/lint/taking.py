"""Taking: which releases an installer can take, given all that is asked for at once, and where nothing is left.

Every package is a set of releases; what one asks of another takes away what cannot be. A set that becomes empty is a
proof that there is no solution, as far as the harvested metadata goes; what a package asks for that was not harvested
counts as nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from gpuwhy.knowledge import asked

_STEPS, _TRIES = 20_000, 30


class Asking(NamedTuple):
    """Who asks for what: the release (or the file, name '') whose demand took the last possible releases away."""

    name: str
    version: str
    other: str
    wish: str


_Kept = list[tuple[int, dict[str, asked.Demand]]]


class Network:
    """The packages of one installation on one Python, each with the releases that are possible."""

    def __init__(self, wanted: Mapping[str, str], python: str) -> None:
        self.python = python
        self.wanted = dict(wanted)
        self.sets: dict[str, int] = {}
        self.sure: dict[str, None] = {}
        self.askers: dict[str, set[str]] = {}  # who may have to be looked at again where a package lost releases
        self.empty: list[Asking] = []
        self.lacking: list[str] = []  # packages of which no wanted release takes this Python
        self.unread: set[str] = set()  # packages of which a release is wanted that was not harvested
        for name, spec in wanted.items():
            named = asked.allowed(name, spec) if asked.knows(name) else 0
            bits = asked.on_python(name, python) & named if named else 0
            self.lacking += [name] if named and not bits else []
            self.unread |= {name} if not named else set()
            if bits:  # a release that was not harvested asks for nothing
                self.sure[name], self.sets[name] = None, bits
        self._settle(self.sure)

    def possible(self, name: str) -> int:
        """The releases of a package that are possible."""
        return self.sets[name] if name in self.sets else asked.on_python(name, self.python)

    def _settle(self, names: Iterable[str]) -> None:
        """Take away what cannot be, until nothing changes."""
        waiting = dict.fromkeys(names)
        for _ in range(_STEPS):
            if self.empty or not waiting:
                return
            name = next(iter(waiting))
            del waiting[name]
            for changed in self._narrowed(name):
                touched = (changed, *self.askers.get(changed, ()))
                waiting.update(dict.fromkeys(one for one in touched if one in self.sure))

    def _narrowed(self, name: str) -> list[str]:
        """One package: its own releases by what they ask for, and others by what all of them ask for; who changed."""
        before = self.sets[name]
        groups = self._groups(name)
        for other in {other for _, asks in groups for other in asks}:
            self.askers.setdefault(other, set()).add(name)
        kept = [(bits, asks) for bits, asks in groups if all(self._meets(o, wish) for o, wish in asks.items())]
        self.sets[name] = sum(bits for bits, _ in kept)
        if groups and not kept:
            self.empty += list(self._blames(name, groups[-1]))
            return []
        changed = [other for other in _of_all(kept) if self._limit(other, kept)]
        return changed if self.sets[name] == before else [name, *changed]

    def _groups(self, name: str) -> _Kept:
        """The releases that are left, with what they ask for on this Python."""
        groups = enumerate(asked.project(name).groups)
        found = ((at, group.bits & self.sets[name]) for at, group in groups if group.bits & self.sets[name])
        return [(bits, asked.demands(name, at, self.python)) for at, bits in found]

    def asks(self, name: str) -> dict[str, str]:
        """What the newest possible release of a package asks for."""
        groups = self._groups(name)
        return {other: demand.wish for other, demand in groups[-1][1].items()} if groups else {}

    def _meets(self, other: str, demand: asked.Demand) -> bool:
        if other in self.unread:
            return asked.meets(self.wanted[other], demand.wish)
        return bool(self.possible(other) & demand.bits)

    def _blames(self, name: str, group: tuple[int, dict[str, asked.Demand]]) -> Iterator[Asking]:
        bits, asks = group
        for other, demand in asks.items():
            if not self._meets(other, demand):
                yield Asking(name, asked.newest(name, bits), other, demand.wish)

    def _limit(self, other: str, kept: _Kept) -> bool:
        """What every release that is left asks of another package."""
        if other in self.unread:
            return False
        before = self.possible(other)
        bits = 0
        for _, asks in kept:
            bits |= asks[other].bits
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
        out.lacking, out.askers, out.unread = self.lacking, self.askers, self.unread
        if bits != self.sets[name]:
            out._settle(one for one in (name, *self.askers.get(name, ())) if one in out.sure)
        return out


def _of_all(kept: _Kept) -> list[str]:
    """What each of some releases asks for."""
    if not kept:
        return []
    first, *rest = (asks for _, asks in kept)
    return [other for other in first if all(other in asks for asks in rest)]
