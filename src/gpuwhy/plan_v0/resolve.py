"""Resolve: one release of every package, so that all demands hold together; backtracking by resolvelib."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from datetime import date
from functools import cached_property
from typing import Any

import msgspec
from resolvelib import AbstractProvider, BaseReporter, ResolutionImpossible, ResolutionTooDeep, Resolver

from gpuwhy.knowledge.releases import projects
from gpuwhy.model.plan import Passed
from gpuwhy.plan_v0.candidates import allowed_pythons, specifier
from gpuwhy.plan_v0.catalogue import WITHOUT_CUDA, Catalogue, allows
from gpuwhy.plan_v0.catalogue import meets as meets
from gpuwhy.plan_v0.catalogue import split as split
from gpuwhy.plan_v0.names import is_planned, planned_as
from gpuwhy.plan_v0.roots import FRAMEWORKS, MIRRORED, TOOLKIT, Candidate, newest_with

PYTHON, CUDA = "python", "cuda"
_ROUNDS, _FEW = 200, 60  # sets that can be found at all were found in fewer than 150 rounds, on 237 real files
_ALL, _LAST = 1_500, 40  # rounds of one answer; and of each search after these are spent
_TOLD = 12
_TRIES = 12


class Need(msgspec.Struct, frozen=True):
    """A demand on one package: a specifier, or one of a few values (Pythons, CUDA majors)."""

    name: str
    spec: str = ""
    one_of: frozenset[str] | None = None
    by: str = ""
    said: str = ""  # what `by` itself asks for, where the user's own limit is in `spec` too


class Value(msgspec.Struct, frozen=True):
    """A Python or a CUDA major, chosen like a package."""

    root: str
    value: str


class Impossible(Exception):  # noqa: N818 - an answer, not an error
    """No set meets all demands."""

    def __init__(self, passed: tuple[Passed, ...], causes: tuple[tuple[str, str, str], ...]) -> None:
        super().__init__("no set meets all demands")
        self.passed = passed
        self.causes = causes  # (who, package, specifier)


class Found(msgspec.Struct, frozen=True):
    """What was chosen, and what was passed over on the way."""

    python: str
    chosen: dict[str, Candidate]
    passed: tuple[Passed, ...]
    unsure: dict[str, str]


class Effort(BaseReporter[Need, "Candidate | Value", str]):
    """What one answer may cost: every search counts its rounds here, and late ones get few."""

    def __init__(self) -> None:
        self.spent = 0

    def starting_round(self, index: int) -> None:
        """One round of any search."""
        self.spent += 1

    def rounds(self, wanted: int) -> int:
        """How many rounds a search gets."""
        return min(wanted, _LAST) if self.is_spent else wanted

    @property
    def is_spent(self) -> bool:
        """Whether an answer has cost what it may."""
        return self.spent >= _ALL


_EFFORT: ContextVar[Effort] = ContextVar("effort")


def _effort() -> Effort:
    return _EFFORT.get(None) or Effort()


@contextlib.contextmanager
def one_answer() -> Iterator[None]:
    """Everything within is one answer, with one bound for its effort."""
    token = _EFFORT.set(Effort())
    try:
        yield
    finally:
        _EFFORT.reset(token)


class Provider(AbstractProvider[Need, "Candidate | Value", str]):
    """Tells resolvelib what exists, what it demands, and what to prefer."""

    def __init__(self, catalogue: Catalogue, order: Sequence[str], pinned: frozenset[str]) -> None:
        self.catalogue, self.pinned = catalogue, pinned
        self.order = {name: n for n, name in enumerate(order)}
        self.pythons = allowed_pythons(catalogue.machine)

    def identify(self, requirement_or_candidate: Need | Candidate | Value) -> str:
        """The package that a demand or a release is about."""
        if isinstance(requirement_or_candidate, Need):
            return requirement_or_candidate.name
        return requirement_or_candidate.root

    def get_preference(self, identifier: str, *_: Any, **__: Any) -> tuple[int, int, str]:
        """Pins and frameworks first, then CUDA, which rule most out; the rest in its order; Python follows them all."""
        return (self._rank(identifier), self.order.get(identifier, len(self.order)), identifier)

    def _rank(self, identifier: str) -> int:
        """How much a package rules out: what rules out most is chosen first, so that little has to be undone."""
        if identifier in FRAMEWORKS or identifier in self.pinned:
            return 0
        if identifier in (CUDA, PYTHON):
            return 1 if identifier == CUDA else 5
        if identifier in self.order:
            return 2 if identifier in projects() else 3
        return 4

    def find_matches(
        self,
        identifier: str,
        requirements: Mapping[str, Iterator[Need]],
        incompatibilities: Mapping[str, Iterator[Any]],
    ) -> Iterable[Candidate | Value]:
        """What meets every demand so far, best first."""
        demands = list(requirements[identifier])
        banned = {_key(one) for one in incompatibilities[identifier]}
        found = [one for one in self._pool(identifier) if all(_met(need, one) for need in demands)]
        return [one for one in found if _key(one) not in banned] if banned else found

    def _pool(self, identifier: str) -> list[Candidate | Value]:
        if identifier == PYTHON:
            return [Value(PYTHON, python) for python in self.pythons]
        if identifier == CUDA:
            return [Value(CUDA, str(major)) for major in range(14, 6, -1)]
        return list(self.catalogue.open(identifier))

    def is_satisfied_by(self, requirement: Need, candidate: Candidate | Value) -> bool:
        """Whether a release meets a demand."""
        return _met(requirement, candidate)

    def get_dependencies(self, candidate: Candidate | Value) -> Iterable[Need]:
        """What a release demands: its Pythons, its CUDA major, its companions and NVIDIA's wheels."""
        if isinstance(candidate, Value):
            return []
        version = candidate.row.version
        by = f"{candidate.row.name} {version}"
        out = [Need(PYTHON, one_of=candidate.pythons, by=by)]
        if candidate.cuda_major:
            out.append(Need(CUDA, one_of=frozenset({candidate.cuda_major}), by=by))
        limits = self.catalogue.limits
        for package, spec in candidate.needs:
            name = planned_as(package)
            if self._counts(package):
                both = ",".join(filter(None, (spec.split("+")[0], limits.get(package, ""))))
                out.append(Need(name, both, by=by, said=spec))
        if candidate.backend:
            out += [Need(name, f"<={last}", by=by) for name in self._mirrored if (last := newest_with(name, version))]
        return out

    @cached_property
    def _mirrored(self) -> tuple[str, ...]:
        """Companions of torch that somebody asks for, and that come from the index that torch comes from."""
        asked = self.catalogue.asked
        guests = [name for name in asked if is_planned(name) and name not in FRAMEWORKS]
        wanted = {name for guest in guests for one, _ in self.catalogue.of(guest) for name, _ in one.needs}
        return tuple(name for name in MIRRORED if name in asked or name in wanted)

    def _counts(self, package: str) -> bool:
        """Whether a demand on a package is resolved here; a guest's guest only where the user asks for both."""
        if package in WITHOUT_CUDA:
            return False
        placed = planned_as(package) in FRAMEWORKS or package in projects() or package.startswith(TOOLKIT)
        return placed or (is_planned(package) and package in self.catalogue.asked)


def resolve(catalogue: Catalogue, python: str, own_index: bool = True) -> Found:
    """A set for the wishes, or Impossible; builds that only PyTorch's own index has are the second choice, if any."""
    try:
        return _resolve(catalogue, python)
    except Impossible:
        if not own_index:
            raise
        own = any(one.backend and not verdict.kind for one, verdict in catalogue.judged.get("torch", ()))
        if catalogue.own_index or not own:
            raise
    catalogue.own_index = True
    return _resolve(catalogue, python)


def _resolve(catalogue: Catalogue, python: str) -> Found:
    """A set for the wishes in their order; frameworks first where a guest would take one years back."""
    order = list(catalogue.demands())
    found = _in_order(catalogue, python, order)
    behind = _behind(found, catalogue)
    if not catalogue.near and not catalogue.least_change and behind > _LONG and not _effort().is_spent:
        with contextlib.suppress(Impossible):
            other = _in_order(catalogue, python, sorted(order, key=lambda name: name not in FRAMEWORKS))
            if _behind(other, catalogue) < behind - _LONG:
                return other
    return found


_LONG = 180  # days


def _behind(found: Found, catalogue: Catalogue) -> int:
    """How many days the wish that is furthest behind is older than its newest release that could be chosen alone."""
    loose = [name for name in catalogue.demands() if not _is_other(name) and not catalogue.limits.get(name)]
    if len(loose) < 2 or not any(name in FRAMEWORKS for name in loose):
        return 0
    return max(_days(found.chosen[name], catalogue) for name in loose if name in found.chosen)


def _days(one: Candidate, catalogue: Catalogue) -> int:
    """How much older a release is than the newest that may be chosen."""
    newest = max((other.row.uploaded for other in catalogue.open(one.root)), default="")
    if not newest or not one.row.uploaded:
        return 0
    return (date.fromisoformat(newest) - date.fromisoformat(one.row.uploaded)).days


def _in_order(catalogue: Catalogue, python: str, order: Sequence[str]) -> Found:
    """A set in which each wish, in its order, has the best release that the ones before it leave open."""
    found = _any_set(catalogue, python, {})
    fixed: dict[str, str] = {}
    for name in order:
        for better in _better(name, found, catalogue, fixed):
            try:
                found = _any_set(catalogue, python, {**fixed, name: better.row.version})
                break
            except Impossible:
                continue
        if name in found.chosen:
            fixed[name] = found.chosen[name].row.version
    return found


def _better(name: str, found: Found, catalogue: Catalogue, fixed: dict[str, str]) -> Iterator[Candidate]:
    """Releases preferred to the chosen one that may still fit; a few, since each costs a resolution."""
    chosen = found.chosen.get(name)
    if chosen is None or _is_other(name):
        return
    majors = {found.chosen[other].cuda_major for other in fixed if other in found.chosen} - {""}
    limit = specifier(catalogue.limits.get(name, ""))
    tried = 0
    for one in catalogue.open(name):
        if _key(one) == _key(chosen) or tried >= _TRIES:
            return
        if (not one.cuda_major or majors <= {one.cuda_major}) and limit.contains(one.row.version, prereleases=True):
            tried += 1
            yield one


def _any_set(catalogue: Catalogue, python: str, fixed: dict[str, str]) -> Found:
    """A set; where the search goes astray, a pair that cannot meet is looked for, then a set for each CUDA major."""
    try:
        return _set(catalogue, python, fixed)
    except ResolutionTooDeep as error:
        if _effort().is_spent:
            raise Impossible(catalogue.passed(), ()) from error
        _pairs(catalogue, python, fixed)
    for major in _majors(catalogue):
        try:
            return _set(catalogue, python, fixed, major)
        except (Impossible, ResolutionTooDeep):
            continue
    raise Impossible(catalogue.passed(), ())


def _pairs(catalogue: Catalogue, python: str, fixed: dict[str, str]) -> None:
    """Raise Impossible where one wish or two of them cannot be met: cheaper to see than in the whole set."""
    names = [name for name in catalogue.demands() if not _is_other(name)]
    for some in (*itertools.combinations(names, 1), *itertools.combinations(names, 2)):
        kept = {name: version for name, version in fixed.items() if name in some}
        with contextlib.suppress(ResolutionTooDeep):
            _set(catalogue, python, kept, some=frozenset(some))


def _majors(catalogue: Catalogue) -> list[str]:
    """The CUDA majors that every wish for a framework has a release for."""
    wanted = [name for name in catalogue.demands() if name in FRAMEWORKS]
    offered = [{one.cuda_major for one in catalogue.open(name)} for name in wanted]
    common = set[str].intersection(*(each for each in offered if "" not in each)) if offered else set[str]()
    return sorted(common - {""}, key=int, reverse=True)


def _set(
    catalogue: Catalogue, python: str, fixed: dict[str, str], major: str = "", some: frozenset[str] = frozenset()
) -> Found:
    """A set for all wishes, or for some of them; raises Impossible, or ResolutionTooDeep where nobody knows yet."""
    provider, needs = _asked(catalogue, python, fixed, major, some)
    try:
        effort = _effort()
        result = Resolver(provider, effort).resolve(needs, max_rounds=effort.rounds(_FEW if some else _ROUNDS))
    except ResolutionImpossible as error:
        causes = tuple(_told(cause.requirement) for cause in list(error.causes)[:_TOLD])
        raise Impossible(catalogue.passed(), causes) from error
    chosen = {name: one for name, one in result.mapping.items() if isinstance(one, Candidate)}
    value = result.mapping[PYTHON]
    python = value.value if isinstance(value, Value) else ""
    return Found(python, chosen, catalogue.passed(), dict(_unsure(catalogue, chosen)))


def _asked(
    catalogue: Catalogue, python: str, fixed: dict[str, str], major: str, some: frozenset[str]
) -> tuple[Provider, list[Need]]:
    """What the resolver is asked for: the wishes, what is fixed, one Python, one CUDA."""
    demands = {name: spec for name, spec in catalogue.demands().items() if not some or name in some}
    needs = [Need(name, spec, by="asked") for name, spec in demands.items() if not _is_other(name)]
    order = [need.name for need in needs]
    needs += [Need(name, f"=={version}", by="asked") for name, version in fixed.items()]
    pinned = frozenset(need.name for need in needs if need.spec.startswith("=="))
    provider = Provider(catalogue, order, pinned)
    pythons = frozenset((python,) if python else provider.pythons)
    needs.append(Need(PYTHON, one_of=pythons, by="asked"))
    if major:
        needs.append(Need(CUDA, one_of=frozenset({major}), by="asked"))
    return provider, needs


def _told(need: Need) -> tuple[str, str, str]:
    """Who asks, for what, and which of it."""
    return need.by, need.name, need.said or need.spec or ", ".join(sorted(need.one_of or ()))


def _unsure(catalogue: Catalogue, chosen: Mapping[str, Candidate]) -> Iterator[tuple[str, str]]:
    """What could not be decided of what was chosen."""
    for name, mine in chosen.items():
        for one, verdict in catalogue.of(name):
            if verdict.unsure and one is mine:
                yield one.root, verdict.unsure


def _is_other(name: str) -> bool:
    return not is_planned(name)


def _key(one: Candidate | Value) -> tuple[str, str]:
    return (one.requirement, one.backend) if isinstance(one, Candidate) else (one.root, one.value)


def _met(need: Need, one: Candidate | Value) -> bool:
    if isinstance(one, Value):
        return need.one_of is None or one.value in need.one_of
    return allows(need.spec, one.row.version)
