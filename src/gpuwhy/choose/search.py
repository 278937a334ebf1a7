"""Search: the set of releases in which each package, in its order, is the newest that fits.

Depth first, newest first; after each step every package that is still open must have a release
left, so that a dead end is seen at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

import msgspec

from gpuwhy.choose.candidates import TOOLKIT, Candidate, newest_with
from gpuwhy.choose.demand import Demand, Wanted, allows, parsed
from gpuwhy.choose.names import FRAMEWORKS, NAMES, is_library, planned_as
from gpuwhy.choose.verdicts import Market, holds
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
    asks: Asks = ()
    text: str = ""


class Found(msgspec.Struct, frozen=True):
    """A set that fits."""

    python: str
    chosen: dict[str, Candidate]
    libraries: dict[str, Candidate]


class State(msgspec.Struct):
    """What was chosen so far, and what it asks of the rest."""

    chosen: dict[str, Candidate]
    asks: dict[str, Asks]  # by root
    pythons: frozenset[str]
    major: str = ""

    def also(self, one: Candidate) -> State:
        """The state with one more release."""
        asks = dict(self.asks)
        for name, spec in _asks(one):
            asks[name] = (*asks.get(name, ()), (one.called, spec))
        chosen = {**self.chosen, one.root: one}
        return State(chosen, asks, self.pythons & one.pythons, self.major or one.cuda_major)

    def takes(self, one: Candidate) -> bool:
        """Whether a release goes with what was chosen before it."""
        if self.major and one.cuda_major and self.major != one.cuda_major:
            return False
        if not self.pythons & one.pythons:
            return False
        if not all(allows(spec, one.version) for _, spec in self.asks.get(one.root, ())):
            return False
        there = ((self.chosen.get(name), spec) for name, spec in _asks(one))
        return all(other is None or allows(spec, other.version) for other, spec in there)


def _asks(one: Candidate) -> Iterator[tuple[str, str]]:
    """What a release asks of others: by its needs, and by what its index has beside it."""
    for package, spec in one.needs:
        if package not in NAMES.without_cuda:
            yield planned_as(package), spec.split("+")[0]
    for name in NAMES.of_torch if one.index else ():
        last = newest_with(name, one.version)
        yield name, f"<={last}" if last else ""


def attempt(demand: Demand, near: Mapping[str, str] | None = None) -> tuple[Market, Found | Clash]:
    """A set or a clash; `near`: releases to stay close to.

    Markers are read for the Python that comes out.
    """
    python, held = demand.pythons[0], None
    for _ in range(3):
        again = [one for one in demand.packages if applies(one, demand, python)]
        if again == held:
            break
        held, market = again, Market(demand, again, near)
        found = search(market)
        if isinstance(found, Clash):
            break
        python = found.python
    return market, found


def applies(one: Wanted, demand: Demand, python: str) -> bool:
    """Whether a requirement's marker holds on the machine; one that nobody can evaluate holds."""
    windows = demand.system == "windows"
    machine = {
        "sys_platform": "win32" if windows else "linux",
        "platform_system": "Windows" if windows else "Linux",
        "platform_machine": "AMD64" if windows else demand.arch,
        "os_name": "nt" if windows else "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }
    return not one.marker or holds(one.marker, python, machine) is not False


def search(market: Market) -> Found | Clash:
    """A set for what is asked; builds of PyTorch's own index are the second choice."""
    found = _both_orders(market)
    indexed = (one.index and not one.verdict.kind for one in market.judged.get("torch", ()))
    if isinstance(found, Found) or market.own_index or not any(indexed):
        return found
    market.own_index = True
    again = _both_orders(market)
    market.own_index = isinstance(again, Found)
    return again if market.own_index else found


def _both_orders(market: Market) -> Found | Clash:
    """Companions before frameworks: few releases of them go together.

    Frameworks go first where a companion would take one of them years back.
    """
    have = market.demand.installed if market.demand.keep_installed else {}
    order = sorted(market.asked, key=lambda name: (name not in have, name in FRAMEWORKS))
    found = _Search(market, order).run()
    loose = [name for name in market.asked if not market.limits.get(name)]
    mixed = len(loose) > 1 and any(name in FRAMEWORKS for name in loose)
    if isinstance(found, Clash) or market.near or market.demand.keep_installed or not mixed:
        return found
    behind = _behind(found, market, loose)
    other = _Search(market, order[::-1]).run() if behind > _LONG else found
    better = isinstance(other, Found) and _behind(other, market, loose) < behind - _LONG
    return other if better else found


def _behind(found: Found, market: Market, names: Sequence[str]) -> int:
    """How many days the package that is furthest behind is older than its newest usable release."""
    days = [0]
    for name in names:
        mine = found.chosen[name].row.uploaded
        newest = max((other.row.uploaded for other in market.open(name)), default="")
        if newest and mine:
            days.append((date.fromisoformat(newest) - date.fromisoformat(mine)).days)
    return max(days)


class _Search:
    """One search."""

    def __init__(self, market: Market, order: Sequence[str]) -> None:
        self.market, self.order = market, order
        self.steps, self.depth = 0, -1
        self.clash = Clash()

    def run(self) -> Found | Clash:
        """The first set in order, or what the deepest try failed on."""
        limits: dict[str, Asks] = {r: (("", spec),) for r, spec in self.market.limits.items()}
        start = State({}, limits, frozenset(self.market.demand.pythons))
        return self._next(start) or self.clash

    def _next(self, state: State) -> Found | None:
        """A whole set that begins like this."""
        brought = [name for one in state.chosen.values() for name in _brought(one)]
        roots = [name for name in (*self.order, *brought) if name not in state.chosen]
        if not roots:
            libraries = self._libraries(state)
            python = next((one for one in self.market.demand.pythons if one in state.pythons), "")
            return None if libraries is None else Found(python, state.chosen, libraries)
        for root in roots:
            if not any(map(state.takes, self.market.open(root))):
                self._note(root, state, state.asks.get(root, ()))
                return None
        for one in filter(state.takes, self.market.open(roots[0])):
            self.steps += 1
            if self.steps > _MOST:
                return None
            after = state.also(one)
            found = self._next(after) if self._libraries(after) is not None else None
            if found:
                return found
        return None

    def _note(self, root: str, state: State, asks: Asks) -> None:
        """Keep the clash of the deepest try: the one that is nearest to a set."""
        if len(state.chosen) <= self.depth:
            return
        self.depth = len(state.chosen)
        text = ""
        each = (any(allows(s, c.version) for c in self.market.open(root)) for _, s in asks)
        if len(asks) < 2 and all(each):
            if state.major:
                text = f"the others use CUDA {state.major}"
            elif len(state.pythons) < 3:
                plain = sorted((one for one in state.pythons if one[-1] != "t"), key=parsed)
                text = f"the others have wheels for Python {' and '.join(plain)} only"
        known = tuple(dict.fromkeys((by, spec) for by, spec in asks if spec))
        self.clash = Clash(root, known, text)

    # NVIDIA's wheels

    def _libraries(self, state: State) -> dict[str, Candidate] | None:
        """NVIDIA's wheels that the set brings; None where their demands cannot be met together."""
        asks = {name: said for name, said in state.asks.items() if is_library(name)}
        parts = [name for name in asks if name.startswith(TOOLKIT)]
        if not parts:
            return self._brought_together(asks, state)
        for one in self.market.open(TOOLKIT):  # its extras are of one release, which is free
            pin = ("", f"=={one.version}")
            pins = {name: (*asks[name], pin) for name in parts}
            found = self._brought_together({**asks, **pins}, state)
            if found is not None:
                return found
        return None

    def _brought_together(self, asks: dict[str, Asks], state: State) -> dict[str, Candidate] | None:
        """The newest of NVIDIA's wheels that meet all that is asked of them."""
        chosen: dict[str, Candidate] = {}
        todo = sorted((name for name in asks if name not in state.chosen), key=len)
        while todo:
            name = todo.pop(0)
            specs = ",".join(sorted({spec for _, spec in asks[name] if spec}))
            fitting = (c for c in self.market.open(name) if state.pythons & c.pythons)
            one = next((c for c in fitting if allows(specs, c.version)), None)
            if one is None:
                self._note(name, state, asks[name])
                return None
            before, chosen[name] = chosen.get(name), one
            for other, spec in one.needs if one is not before else ():
                said = (f"{name} {one.version}", spec)
                if said not in asks.get(other, ()):
                    asks[other] = (*asks.get(other, ()), said)
                    todo.append(other)
        return {n: one for n, one in chosen.items() if n not in state.chosen}


def _brought(one: Candidate) -> Iterator[str]:
    """What else has to be chosen: the frameworks and companions that a release needs beside it."""
    for package, _ in one.needs:
        root = planned_as(package)
        harvested = root in FRAMEWORKS or (root in projects() and not is_library(root))
        if harvested and package not in NAMES.without_cuda:
            yield root
