"""Search: the set of releases in which each package, in its order, is the newest that fits.

Depth first, newest first; after each step every package that is still open must have a release
left, so that a dead end is seen at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

import msgspec

from gpuwhy.choose.candidates import (
    TOOLKIT,
    Candidate,
    is_library,
    newest_with,
)
from gpuwhy.choose.market import Market
from gpuwhy.choose.names import (
    FRAMEWORKS,
    MIRRORED,
    WITHOUT_CUDA,
    planned_as,
)
from gpuwhy.choose.verdicts import (
    allows,
    parsed,
)
from gpuwhy.knowledge.releases import projects

_MOST = 300
"""Steps of one search; sets that can be found at all were found in fewer than 130."""
_LONG = 180
"""Days that a package may be behind before the other order is tried."""


Asks = tuple[tuple[str, str], ...]
"""Who asks for which versions of a package; "" is the person."""


class Clash(msgspec.Struct, frozen=True):
    """Why the search came to no end: what is asked of one package together, and by whom."""

    root: str = ""
    asks: Asks = ()  # (who, specifier); who "" is the person
    text: str = ""


class Found(msgspec.Struct, frozen=True):
    """A set that fits."""

    python: str
    chosen: dict[str, Candidate]
    libraries: dict[str, Candidate]


class State(msgspec.Struct):
    """What was chosen so far, and what it asks of the rest."""

    chosen: dict[str, Candidate]
    asks: dict[str, Asks]  # root → (who, specifier)
    pythons: frozenset[str]
    major: str = ""

    def also(self, one: Candidate) -> State:
        """The state with one more release."""
        asks = dict(self.asks)
        by = f"{one.row.name} {one.row.version}"
        for package, spec in one.needs:
            name = planned_as(package)
            if package not in WITHOUT_CUDA:
                asks[name] = (*asks.get(name, ()), (by, spec.split("+")[0]))
        if one.index:
            for name in MIRRORED:
                asks[name] = (*asks.get(name, ()), (by, f"<={newest_with(name, one.row.version)}"))
        chosen = {**self.chosen, one.root: one}
        return State(chosen, asks, self.pythons & one.pythons, self.major or one.cuda_major)


def search(market: Market) -> Found | Clash:
    """A set for what is asked; builds of PyTorch's own index are the second choice."""
    found = _both_orders(market)
    if isinstance(found, Found) or market.own_index:
        return found
    if not any(one.index and not verdict.kind for one, verdict in market.judged.get("torch", ())):
        return found
    market.own_index = True
    again = _both_orders(market)
    if isinstance(again, Clash):
        market.own_index = False
        return found
    return again


def _both_orders(market: Market) -> Found | Clash:
    """Companions before frameworks: few releases of them go together.

    Frameworks go first where a companion would take one of them years back.
    """
    have = market.demand.installed if market.demand.keep_installed else {}
    order = sorted(market.asked, key=lambda name: (name not in have, name in FRAMEWORKS))
    found = _Search(market, order).run()
    if isinstance(found, Clash) or market.near or market.demand.keep_installed:
        return found
    behind = _behind(found, market)
    if behind > _LONG:
        other = _Search(market, order[::-1]).run()
        if isinstance(other, Found) and _behind(other, market) < behind - _LONG:
            return other
    return found


def _behind(found: Found, market: Market) -> int:
    """How many days the package that is furthest behind is older than its newest usable release."""
    loose = [name for name in market.asked if not market.limits.get(name)]
    if len(loose) < 2 or not any(name in FRAMEWORKS for name in loose):
        return 0
    return max(_days(found.chosen[name], market) for name in loose)


def _days(one: Candidate, market: Market) -> int:
    newest = max((other.row.uploaded for other in market.open(one.root)), default="")
    if not newest or not one.row.uploaded:
        return 0
    return (date.fromisoformat(newest) - date.fromisoformat(one.row.uploaded)).days


class _Search:
    """One search."""

    def __init__(self, market: Market, order: Sequence[str]) -> None:
        self.market, self.order = market, list(order)
        self.steps = 0
        self.clash = Clash()
        self.depth = -1

    def run(self) -> Found | Clash:
        """The first set in order, or what the deepest try failed on."""
        limits: dict[str, Asks] = {r: (("", spec),) for r, spec in self.market.limits.items()}
        start = State({}, limits, frozenset(self.market.demand.pythons))
        return self._next(start) or self.clash

    def _next(self, state: State) -> Found | None:
        """A whole set that begins like this."""
        roots = self._roots(state)
        if not roots:
            return self._whole(state)
        if not all(self._fitting(root, state, first=True) for root in roots):
            return None
        for one in self._fitting(roots[0], state):
            self.steps += 1
            if self.steps > _MOST:
                return None
            after = state.also(one)
            if self._libraries(after) is None:
                continue
            found = self._next(after)
            if found:
                return found
        return None

    def _roots(self, state: State) -> list[str]:
        """What is still to be chosen: what is asked for, and the frameworks that this needs."""
        brought = [name for one in state.chosen.values() for name in _brought(one)]
        every = dict.fromkeys((*self.order, *brought))
        return [name for name in every if name not in state.chosen]

    def _fitting(self, root: str, state: State, first: bool = False) -> list[Candidate]:
        """The releases of a root that go with what was chosen."""
        asks = state.asks.get(root, ())
        out = []
        for one in self.market.open(root):
            if (
                all(allows(spec, one.row.version) for _, spec in asks)
                and (not state.major or not one.cuda_major or state.major == one.cuda_major)
                and state.pythons & one.pythons
                and self._takes(one, state)
            ):
                out.append(one)
                if first:
                    return out
        if not out:
            self._note(root, state, asks)
        return out

    def _takes(self, one: Candidate, state: State) -> bool:
        """Whether a release takes what was chosen before it."""
        for package, spec in one.needs:
            there = state.chosen.get(planned_as(package))
            if there is None or package in WITHOUT_CUDA:
                continue
            if not allows(spec.split("+")[0], there.row.version):
                return False
        if one.index:
            for name in MIRRORED:
                there = state.chosen.get(name)
                last = newest_with(name, one.row.version)
                if there and last and parsed(there.row.version) > parsed(last):
                    return False
        return True

    def _note(self, root: str, state: State, asks: Asks) -> None:
        """Keep the clash of the deepest try: the one that is nearest to a set."""
        if len(state.chosen) <= self.depth:
            return
        self.depth = len(state.chosen)
        text = ""
        each = (any(allows(s, c.row.version) for c in self.market.open(root)) for _, s in asks)
        if all(each) and len(asks) < 2:
            if state.major:
                text = f"the others use CUDA {state.major}"
            elif len(state.pythons) < 3:
                text = f"the others have wheels for Python {_listed(state.pythons)} only"
        known = tuple(dict.fromkeys((by, spec) for by, spec in asks if spec))
        self.clash = Clash(root, known, text)

    # NVIDIA's wheels

    def _libraries(self, state: State) -> dict[str, Candidate] | None:
        """NVIDIA's wheels that the set brings; None where their demands cannot be met together."""
        asks = {name: said for name, said in state.asks.items() if is_library(name)}
        if not any(name.startswith(TOOLKIT) for name in asks):
            return self._brought_together(asks, state)
        for one in self.market.open(TOOLKIT):  # its extras are of one release, which is free
            pin = ("", f"=={one.row.version}")
            parts = {name for name in asks if name.startswith(TOOLKIT)}
            pins = {name: (*asks[name], pin) for name in parts}
            found = self._brought_together({**asks, **pins}, state)
            if found is not None:
                return found
        return None

    def _brought_together(self, asks: dict[str, Asks], state: State) -> dict[str, Candidate] | None:
        """The newest of NVIDIA's wheels that meet all that is asked of them."""
        chosen: dict[str, Candidate] = {}
        todo = sorted((name for name in asks if name not in state.chosen), key=len)
        for _ in range(200):
            if not todo:
                return chosen
            name = todo.pop(0)
            one = self._library(name, asks.get(name, ()), state)
            if one is None:
                self._note(name, state, asks.get(name, ()))
                return None
            before = chosen.get(name)
            chosen[name] = one
            for other, spec in one.needs if one is not before else ():
                said = (f"{name} {one.row.version}", spec)
                if said not in asks.get(other, ()):
                    asks[other] = (*asks.get(other, ()), said)
                    todo.append(other)
        return chosen

    def _library(self, name: str, asks: Asks, state: State) -> Candidate | None:
        specs = ",".join(sorted({spec for _, spec in asks if spec}))
        for one in self.market.open(name):
            if allows(specs, one.row.version) and state.pythons & one.pythons:
                return one
        return None

    def _whole(self, state: State) -> Found | None:
        libraries = self._libraries(state)
        if libraries is None:
            return None
        python = next((one for one in self.market.demand.pythons if one in state.pythons), "")
        kept = {name: one for name, one in libraries.items() if name not in state.chosen}
        return Found(python, state.chosen, kept)


def _brought(one: Candidate) -> Iterator[str]:
    """What else has to be chosen: the frameworks and companions that a release needs beside it."""
    for package, _ in one.needs:
        root = planned_as(package)
        harvested = root in FRAMEWORKS or (root in projects() and not is_library(root))
        if harvested and package not in WITHOUT_CUDA:
            yield root


def _listed(pythons: frozenset[str]) -> str:
    plain = sorted((one for one in pythons if not one.endswith("t")), key=parsed)
    return " and ".join(plain)
