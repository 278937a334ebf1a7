"""Market: the releases that may be chosen for a demand, each judged once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec
from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.specifiers import SpecifierSet

from gpuwhy.choose.candidates import Candidate, candidates, sources, title
from gpuwhy.choose.choice import Passed
from gpuwhy.choose.demand import Demand, Wanted
from gpuwhy.choose.names import FRAMEWORKS, NAMES, is_planned, planned_as
from gpuwhy.choose.verdicts import Judged, allows, judge, judge_library, parsed, takes_glibc
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.knowledge.guests import is_guest
from gpuwhy.knowledge.needs import caps, split, states
from gpuwhy.knowledge.pairs import stated
from gpuwhy.knowledge.releases import projects


class Market:
    """The releases that may be chosen for one demand; `near` are releases to stay close to."""

    def __init__(
        self, demand: Demand, held: Sequence[Wanted], near: Mapping[str, str] | None = None
    ) -> None:
        self.demand = demand
        self.held = tuple(held)  # the requirements whose markers hold
        self.limits: dict[str, str] = {}
        for one in held:
            if one.specifier:
                name = planned_as(one.name)
                self.limits[name] = ",".join(filter(None, (self.limits.get(name), one.specifier)))
        named = [one for one in held if not one.constraint and not one.url]
        self.asked = list(dict.fromkeys(planned_as(w.name) for w in named if is_planned(w.name)))
        self.near = dict(near or {})
        self.own_index = demand.system == "windows"
        self.judged: dict[str, list[Candidate]] = {}

    def of(self, root: str) -> list[Candidate]:
        """Every release of a root with its verdict, best first."""
        if root not in self.judged:
            every = self._every(root)
            found = [msgspec.structs.replace(one, verdict=self._judge(one)) for one in every]
            if root in FRAMEWORKS:  # a build that is known to work goes first
                found.sort(key=lambda one: bool(one.verdict.doubt))
            if root in self.near:
                found.sort(key=lambda one: closeness(one.version, self.near[root]))
            if self.demand.keep_installed:
                have = self.demand.installed
                found.sort(key=lambda one: have.get(one.row.name) != one.version)
            self.judged[root] = found
        return self.judged[root]

    def open(self, root: str) -> list[Candidate]:
        """The releases that may be chosen."""
        alone = "torch" not in self.asked
        fitting = [one for one in self.of(root) if not one.verdict.kind]
        return [
            one
            for one in fitting
            if not (one.shares and alone) and (self.own_index or not one.index)
        ]

    def _every(self, root: str) -> list[Candidate]:
        """The releases of a root; sources where releases are asked for that never had a wheel."""
        found, limit = list(candidates(root, self.demand)), self.limits.get(root, "")
        if limit and root not in FRAMEWORKS:
            if not any(allows(limit, one.version) for one in found):
                found = [one for one in sources(root) if allows(limit, one.version)] + found
        elif is_guest(root) and root not in projects():  # the last patch that asks the same
            newest = {_series(one): one for one in reversed(found)}
            found = [one for one in found if newest[_series(one)] is one]
        said = {p: spec for p, spec in self.limits.items() if spec and not is_planned(p)}
        return [_narrowed(one, said) for one in found] if said else found

    def _judge(self, one: Candidate) -> Judged:
        demand, limit = self.demand, self.limits.get(one.root, "")
        if build := self._other_build(one):
            return Judged("pin", build)
        if not takes_glibc(one.glibc, demand):
            return Judged("libc", f"has wheels for glibc {one.glibc} and newer")
        if one.role == "library":
            return judge_library(one.row, demand)
        if one.root in NAMES.of_torch:  # their GPU code follows torch's
            demand = msgspec.structs.replace(demand, gpus=(), driver_version="")
        verdict = judge(one.row, one.pythons, demand, f"=={one.version}" in limit.split(","))
        if not one.here and verdict.kind != "platform":
            where = "native Windows" if demand.system == "windows" else "Linux"
            text = f"{one.row.name} has no wheel for {where} on {demand.arch}"
            return Judged("platform", text)
        return verdict if verdict.kind else self._beside(one) or self._framed(one) or verdict

    def _other_build(self, one: Candidate) -> str:
        """Why a release is not the build that is named: cupy-cuda11x, jax[cuda13], +cu124."""
        if one.root in ("cupy", "mxnet"):
            named = sorted({w.name for w in self.held if w.name.startswith(f"{one.root}-cu")})
            other = bool(named) and one.row.name not in named
            return f"{' and '.join(named)} is asked for" if other else ""
        if one.root == "jax":
            wanted = {e for w in self.held if w.name == "jax" for e in w.extras if e[:4] == "cuda"}
            other = bool(wanted) and not any(f"[{extra}]" in one.requirement for extra in wanted)
            return f"jax[{','.join(sorted(wanted))}] is asked for" if other else ""
        builds = {w.build for w in self.held if w.build.startswith("cu")}
        own = one.index or "cu" + major_minor(str(one.row.cuda)).replace(".", "")
        if one.root != "torch" or not builds or own in builds:
            return ""
        return f"exists, but not as the build +{' or +'.join(sorted(builds))} that is asked for"

    def _beside(self, one: Candidate) -> Judged | None:
        """A demand of the release on a package that the person limits to something else."""
        for package, specs in _demands(one):
            mine = self.limits.get(package, "")
            if mine and not any(meets(mine, spec) for spec in specs):
                needs = f"{package}{' or '.join(specs)}"
                return Judged("pin", f"needs {needs}; {package}{mine} is asked for")
        return None

    def _framed(self, one: Candidate) -> Judged | None:
        """A companion whose framework has no release here that it takes."""
        for package, spec in one.needs if one.role == "companion" else ():
            root = planned_as(package)
            if root not in FRAMEWORKS or package in NAMES.without_cuda or root == one.root:
                continue
            bare, judged = spec.split("+")[0], self.of(root)
            if not any(not c.verdict.kind and allows(bare, c.version) for c in judged):
                gone = {c.verdict.why for c in judged if c.verdict.kind == "platform"}
                if len(gone) == 1:
                    return Judged("platform", gone.pop())
                return Judged("set", f"needs {package}{spec}, of which no release runs here")
        return None

    def passed(self) -> tuple[Passed, ...]:
        """What was passed over, in groups of one reason, newest first."""
        groups: dict[tuple[str, Judged], set[str]] = {}
        for root, found in self.judged.items():
            limit = self.limits.get(root, "")
            for one in found:
                seen = one.verdict.kind and (self.own_index or not one.index)
                if seen and one.role != "library" and allows(limit, one.version):
                    groups.setdefault((root, one.verdict), set()).add(one.version)
        newest = {key: tuple(sorted(of, key=parsed, reverse=True)) for key, of in groups.items()}
        return tuple(
            Passed(root, versions, verdict.kind, verdict.why)
            for (root, verdict), versions in newest.items()
            if verdict.kind
        )


def _series(one: Candidate) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The minor release, and what it asks of frameworks."""
    return major_minor(one.version), tuple(need for need in one.needs if need[0] in FRAMEWORKS)


def _stated(one: Candidate) -> dict[str, tuple[str, ...]]:
    return stated("jax" if one.root == "jax" else one.row.name, one.version)


def _demands(one: Candidate) -> Iterator[tuple[str, list[str]]]:
    """What a release demands of other packages: of each one of some specifiers."""
    framework = title(one.root)
    asks = [*states(framework, one.version).items()]
    asks += [split(cap.requirement) for cap in caps(framework, one.version)]
    asks += [need for need in one.needs if one.role == "companion" and not is_planned(need[0])]
    yield from ((package, [spec]) for package, spec in asks)
    for package, wishes in _stated(one).items():
        if not is_planned(package):
            yield package, [wish.partition(";")[0].strip() for wish in wishes]


def _narrowed(one: Candidate, limits: Mapping[str, str]) -> Candidate:
    """A release on those Pythons for which its metadata takes what is limited beside it."""
    said = _stated(one)
    both = limits.keys() & said.keys()
    kept = frozenset(
        python
        for python in (one.pythons if both else ())
        if all(_meets_on(python, limits[name], said[name]) for name in both)
    )
    return msgspec.structs.replace(one, pythons=kept) if kept else one


def closeness(version: str, to: str) -> tuple[int, int, int, tuple[int, ...]]:
    """How far a release is from another: by minor release, newer ones first, last patch first.

    Of another major the newest is as close as any: programs have to be changed for it anyway.
    """
    mine, theirs = (*numbers(version), 0, 0, 0), (*numbers(to), 0, 0, 0)
    newest_first = tuple(-number for number in mine[:5])
    if mine[0] != theirs[0]:
        return abs(mine[0] - theirs[0]), 0, 0, newest_first
    return 0, abs(mine[1] - theirs[1]), int(mine < theirs), newest_first


@lru_cache(maxsize=1 << 14)
def meets(mine: str, theirs: str) -> bool:
    """Whether some version satisfies both, tried at every version that either names."""
    both = SpecifierSet(",".join(filter(None, (mine, theirs))))
    tries = {"0"}
    for clause in both:
        version = clause.version.removesuffix(".*")
        *front, last = parsed(version).release
        beside = ((*front, last + 1), (*front, max(last - 1, 0), 999))
        tries |= {".".join(map(str, one)) for one in beside}
        tries |= {version, f"{version}.0.1", f"{(*front, last)[0]}.999"}
    return any(both.contains(version, prereleases=True) for version in tries)


@lru_cache(maxsize=4096)
def _meets_on(python: str, mine: str, wishes: tuple[str, ...]) -> bool:
    """Whether a limit agrees with all that metadata asks of the package on one Python."""
    for wish in wishes:
        spec, _, marker = wish.partition(";")
        if marker and ("python_version" not in marker or not holds(marker.strip(), python)):
            continue
        if not meets(mine, spec.strip()):
            return False
    return True


def holds(marker: str, python: str, machine: Mapping[str, str] | None = None) -> bool | None:
    """Whether a marker holds on a Python, and on a machine; None where nobody can say."""
    bare = python.rstrip("t")
    environment = {"python_version": bare, "python_full_version": f"{bare}.0", "extra": ""}
    try:
        return Marker(marker).evaluate({**environment, **(machine or {})})
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        return None
