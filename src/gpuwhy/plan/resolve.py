"""Resolve: one release of every package, so that all demands hold together; backtracking by resolvelib."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from packaging.specifiers import SpecifierSet
from resolvelib import AbstractProvider, BaseReporter, ResolutionImpossible, ResolutionTooDeep, Resolver

from gpuwhy.knowledge.caps import caps, states
from gpuwhy.knowledge.pairs import stated
from gpuwhy.knowledge.releases import projects
from gpuwhy.model.plan import Machine, Passed, Wish
from gpuwhy.model.version import numbers
from gpuwhy.plan.candidates import (
    Verdict,
    allowed_pythons,
    judge,
    libc_verdict,
    library_verdict,
    parsed,
    specifier,
)
from gpuwhy.plan.machine import PYTHONS
from gpuwhy.plan.names import is_planned, root
from gpuwhy.plan.roots import FRAMEWORKS, TOOLKIT, Candidate, candidates, framework_of

PYTHON, CUDA = "python", "cuda"
_ROUNDS = 20_000
_TOLD = 12
_TRIES = 12


class Need(msgspec.Struct, frozen=True):
    """A demand on one package: a specifier, or one of a few values (Pythons, CUDA majors)."""

    name: str
    spec: str = ""
    one_of: frozenset[str] | None = None
    by: str = ""


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


class Catalogue:
    """The releases that may be chosen on one machine, judged once each."""

    def __init__(
        self,
        machine: Machine,
        wishes: Sequence[Wish],
        least_change: bool = False,
        plain: frozenset[str] = frozenset(),
        near: Mapping[str, str] | None = None,
    ) -> None:
        self.machine, self.wishes, self.least_change = machine, wishes, least_change
        self.plain = plain  # roots that stay as they are: what they demand of NVIDIA's wheels is not enforced
        self.near = near or {}  # root → the release that was asked for: the closest to it is the best
        self.limits = _limits(wishes)
        self.asked = {root(w.name) or w.name for w in wishes if not w.constraint}
        self.flavours = {w.name for w in wishes if w.name.startswith("cupy-cuda")}
        self.own_index = machine.system == "windows"  # whether builds of PyTorch's own index may be chosen
        self.judged: dict[str, list[tuple[Candidate, Verdict]]] = {}

    def of(self, name: str) -> list[tuple[Candidate, Verdict]]:
        """Every release of a root with its verdict, best first."""
        if name not in self.judged:
            every = candidates(name, self.machine)
            if name in self.plain:
                found = [(_bare(one), Verdict()) for one in every]
            else:
                found = [(one, self._verdict(one)) for one in every]
            if name in FRAMEWORKS:  # a build of the same framework that is known to work goes first
                found.sort(key=lambda pair: bool(pair[1].unsure))
            if name in self.near:
                near = self.near[name]  # a release that brings its libraries spares the system a toolkit
                found.sort(key=lambda pair: (pair[0].system, closeness(pair[0].row.version, near)))
            if self.least_change:
                found.sort(key=lambda pair: self.machine.installed.get(pair[0].row.name) != pair[0].row.version)
            self.judged[name] = found
        return self.judged[name]

    def open(self, name: str) -> Iterator[Candidate]:
        """The releases that may be chosen now."""
        for one, verdict in self.of(name):
            borrows = one.shares and "torch" not in self.asked
            if not verdict.kind and not borrows and (self.own_index or not one.backend):
                yield one

    def _verdict(self, one: Candidate) -> Verdict:
        row = one.row
        if not one.here:
            return self._nowhere(one)
        if one.root == "cupy" and self.flavours and row.name not in self.flavours:
            return Verdict("pin", f"{' and '.join(sorted(self.flavours))} is asked for")
        libc = libc_verdict(one.glibc, self.machine)
        if libc.kind or one.role == "library":
            return libc if libc.kind else library_verdict(row, self.machine)
        named = f"=={row.version}" in self.limits.get(one.root, "").split(",")
        follows = one.root in ("torchvision", "torchaudio")
        machine = msgspec.structs.replace(self.machine, gpus=(), driver="") if follows else self.machine
        verdict = judge(row, machine, named, framework_of(one.root) if one.root in FRAMEWORKS else "")
        return verdict if verdict.kind else self._beside(one) or verdict

    def _nowhere(self, one: Candidate) -> Verdict:
        """A release without a wheel for the platform; a stated system says it better."""
        said = judge(one.row, self.machine, False)
        if said.kind == "platform":
            return said
        names = {"windows": "native Windows", "linux": "Linux"}
        system, cpu = self.machine.platform.split("-")
        return Verdict("platform", f"{one.row.name} has no wheel for {names[system]} on {cpu}")

    def _beside(self, one: Candidate) -> Verdict | None:
        """A demand of the release on a package that the user limits to something else."""
        framework, version = framework_of(one.root), one.row.version
        demands = [(f"{package}{spec}", package, spec) for package, spec in states(framework, version).items()]
        for cap in caps(framework, version):
            package, spec = split(cap.requirement)
            demands.append((cap.requirement, package, spec))
        if one.role == "companion":
            demands += [(f"{package}{spec}", package, spec) for package, spec in one.needs if not is_planned(package)]
        for text, package, spec in demands:
            mine = self.limits.get(package, "")
            if mine and not meets(mine, spec):
                return Verdict("pin", f"needs {text}; {package}{mine} is asked for")
        return self._stated(one)

    def _stated(self, one: Candidate) -> Verdict | None:
        """What a release's own metadata states of a package that is left to the installer."""
        name = "jax" if one.root == "jax" else one.row.name
        for package, wishes in stated(name, one.row.version).items():
            mine = self.limits.get(package, "")
            specs = [wish.partition(";")[0].strip() for wish in wishes]
            if mine and not is_planned(package) and not any(meets(mine, spec) for spec in specs):
                return Verdict("pin", f"needs {package}{' or '.join(specs)}; {package}{mine} is asked for")
        return None

    def demands(self) -> dict[str, str]:
        """What is asked for; what goes with few others chooses first, unless what is installed is to stay."""
        asked = demands(self.wishes)
        return asked if self.least_change else dict(sorted(asked.items(), key=lambda pair: pair[0] in FRAMEWORKS))

    def passed(self) -> tuple[Passed, ...]:
        """What was passed over, in groups of one reason, newest first."""
        groups: dict[tuple[str, str, str], list[str]] = {}
        for name, found in self.judged.items():
            for one, verdict in found:
                inside = specifier(self.limits.get(name, "")).contains(one.row.version, prereleases=True)
                if verdict.kind and inside and one.role != "library" and (self.own_index or not one.backend):
                    groups.setdefault((name, verdict.kind, verdict.why), []).append(one.row.version)
        return tuple(
            Passed(name, tuple(dict.fromkeys(versions)), kind, why)  # type: ignore[arg-type]
            for (name, kind, why), versions in groups.items()
        )


class Provider(AbstractProvider[Need, "Candidate | Value", str]):
    """Tells resolvelib what exists, what it demands, and what to prefer."""

    def __init__(self, catalogue: Catalogue, order: Sequence[str]) -> None:
        self.catalogue = catalogue
        self.order = {name: n for n, name in enumerate(order)}
        self.pythons = allowed_pythons(catalogue.machine)

    def identify(self, requirement_or_candidate: Need | Candidate | Value) -> str:
        """The package that a demand or a release is about."""
        if isinstance(requirement_or_candidate, Need):
            return requirement_or_candidate.name
        return requirement_or_candidate.root

    def get_preference(self, identifier: str, *_: Any, **__: Any) -> tuple[int, str]:
        """Wishes first, in their order; Python last, so that it follows the releases unless it is fixed."""
        if identifier == PYTHON:
            return (len(self.order) + 2, "")
        return (self.order.get(identifier, len(self.order) + (identifier != CUDA)), identifier)

    def find_matches(
        self,
        identifier: str,
        requirements: Mapping[str, Iterator[Need]],
        incompatibilities: Mapping[str, Iterator[Any]],
    ) -> Iterable[Candidate | Value]:
        """What meets every demand so far, best first."""
        demands = list(requirements[identifier])
        banned = {_key(one) for one in incompatibilities[identifier]}
        if identifier in (PYTHON, CUDA):
            values = self.pythons if identifier == PYTHON else tuple(str(n) for n in range(14, 6, -1))
            pool: list[Candidate | Value] = [Value(identifier, value) for value in values]
        else:
            pool = list(self.catalogue.open(identifier))
        return [one for one in pool if _key(one) not in banned and all(_met(need, one) for need in demands)]

    def is_satisfied_by(self, requirement: Need, candidate: Candidate | Value) -> bool:
        """Whether a release meets a demand."""
        return _met(requirement, candidate)

    def get_dependencies(self, candidate: Candidate | Value) -> Iterable[Need]:
        """What a release demands: its Pythons, its CUDA major, its companions and NVIDIA's wheels."""
        if isinstance(candidate, Value):
            return []
        by = f"{candidate.row.name} {candidate.row.version}"
        out = [Need(PYTHON, one_of=candidate.pythons, by=by)]
        if candidate.cuda_major:
            out.append(Need(CUDA, one_of=frozenset({candidate.cuda_major}), by=by))
        limits = self.catalogue.limits
        for package, spec in candidate.needs:
            name = root(package) or package
            if self._counts(package):
                both = ",".join(filter(None, (spec.split("+")[0], limits.get(package, ""))))
                out.append(Need(name, both, by=by))
        return out

    def _counts(self, package: str) -> bool:
        """Whether a demand on a package is resolved here; a guest's guest only where the user asks for both."""
        if package in _BUILDS_WITHOUT_CUDA:
            return False
        placed = (root(package) or package) in FRAMEWORKS or package in projects() or package.startswith(TOOLKIT)
        return placed or (is_planned(package) and package in self.catalogue.asked)


_BUILDS_WITHOUT_CUDA = ("onnxruntime", "tensorflow-cpu")
"""What a package asks for by these names it uses on the CPU, and means no other build."""


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
    """A set in which each wish, in its order, has the best release that the ones before it leave open."""
    found = _any_set(catalogue, python, {})
    fixed: dict[str, str] = {}
    for name in catalogue.demands():
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
    needs = [Need(name, spec, by="asked") for name, spec in catalogue.demands().items() if not _is_other(name)]
    order = [need.name for need in needs]
    needs += [Need(name, f"=={version}", by="asked") for name, version in fixed.items()]
    provider = Provider(catalogue, order)
    needs.append(Need(PYTHON, one_of=frozenset(provider.pythons if not python else (python,)), by="asked"))
    try:
        result = Resolver(provider, BaseReporter()).resolve(needs, max_rounds=_ROUNDS)
    except ResolutionImpossible as error:
        causes = tuple(
            (
                cause.requirement.by,
                cause.requirement.name,
                cause.requirement.spec or ", ".join(sorted(cause.requirement.one_of or ())),
            )
            for cause in list(error.causes)[:_TOLD]
        )
        raise Impossible(catalogue.passed(), causes) from error
    except ResolutionTooDeep as error:
        raise Impossible(catalogue.passed(), ()) from error
    chosen = {name: one for name, one in result.mapping.items() if isinstance(one, Candidate)}
    value = result.mapping[PYTHON]
    unsure = {
        one.root: verdict.unsure
        for name in chosen
        for one, verdict in catalogue.of(name)
        if verdict.unsure and one is chosen[name]
    }
    return Found(value.value if isinstance(value, Value) else "", chosen, catalogue.passed(), unsure)


def _bare(one: Candidate) -> Candidate:
    """The release without its extras and what these bring."""
    pin = f"{one.row.name if one.root != 'jax' else 'jax'}=={one.row.version}"
    return msgspec.structs.replace(one, needs=(), cuda_major="", requirement=pin, pythons=frozenset(PYTHONS))


def demands(wishes: Iterable[Wish]) -> dict[str, str]:
    """Every root that is asked for, with all limits on it."""
    limits = _limits(wishes)
    out: dict[str, str] = {}
    for wish in wishes:
        if not wish.constraint and not wish.url:
            name = root(wish.name) or wish.name
            out[name] = limits.get(name, "")
    return out


def _limits(wishes: Iterable[Wish]) -> dict[str, str]:
    out: dict[str, list[str]] = {}
    for wish in wishes:
        name = root(wish.name) or wish.name
        if wish.specifier:
            out.setdefault(name, []).append(wish.specifier)
    return {name: ",".join(dict.fromkeys(specs)) for name, specs in out.items()}


def _is_other(name: str) -> bool:
    return not is_planned(name)


def closeness(version: str, to: str) -> tuple[int, int, int, tuple[int, ...]]:
    """How far a release is from another: by minor release, newer ones first, the last patch first.

    Of another major the newest is as close as any: programs have to be changed for it anyway.
    """
    mine, theirs = (*numbers(version), 0, 0, 0), (*numbers(to), 0, 0, 0)
    newest_first = tuple(-n for n in mine[:5])
    if mine[0] != theirs[0]:
        return abs(mine[0] - theirs[0]), 0, 0, newest_first
    return 0, abs(mine[1] - theirs[1]), int(mine < theirs), newest_first


def _key(one: Candidate | Value) -> tuple[str, str]:
    return (one.requirement, one.backend) if isinstance(one, Candidate) else (one.root, one.value)


def _met(need: Need, one: Candidate | Value) -> bool:
    if isinstance(one, Value):
        return need.one_of is None or one.value in need.one_of
    return specifier(need.spec).contains(one.row.version, prereleases=True)


def split(requirement: str) -> tuple[str, str]:
    """protobuf<3.21 → (protobuf, <3.21)."""
    at = next((n for n, c in enumerate(requirement) if c in "<>=!~"), len(requirement))
    return requirement[:at], requirement[at:]


def meets(mine: str, theirs: str) -> bool:
    """Whether some version satisfies both specifiers, tried at every version that either names and beside it."""
    both = SpecifierSet(",".join(filter(None, (mine, theirs))))
    tries = {"0"}
    for clause in both:
        version = clause.version.removesuffix(".*")
        release = parsed(version).release
        tries |= {version, f"{version}.0.1", ".".join(map(str, (*release[:-1], release[-1] + 1)))}
        tries |= {f"{release[0]}.999", ".".join(map(str, (*release[:-1], max(release[-1] - 1, 0), 999)))}
    return any(both.contains(version, prereleases=True) for version in tries)
