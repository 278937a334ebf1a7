"""Market: the releases that may be chosen for a demand, each judged once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec
from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.specifiers import SpecifierSet

from gpuwhy.choose.candidates import Candidate, candidates, sources
from gpuwhy.choose.candidates import title as titled
from gpuwhy.choose.choice import Passed
from gpuwhy.choose.demand import Demand, Wanted
from gpuwhy.choose.names import (
    COMPANIONS_OF_TORCH,
    FRAMEWORKS,
    WITHOUT_CUDA,
    is_planned,
    planned_as,
)
from gpuwhy.choose.verdicts import Judged, allows, judge, judge_library, on_glibc, parsed
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.knowledge.guests import is_guest
from gpuwhy.knowledge.needs import caps, split, states
from gpuwhy.knowledge.pairs import stated
from gpuwhy.knowledge.releases import projects


class Market:
    """The releases that may be chosen for one demand, each judged once."""

    def __init__(self, demand: Demand, held: Sequence[Wanted]) -> None:
        self.demand = demand
        self.held = tuple(held)  # the requirements whose markers hold
        self.limits: dict[str, str] = {}
        for one in held:
            if one.specifier:
                name = planned_as(one.name)
                self.limits[name] = ",".join(filter(None, (self.limits.get(name), one.specifier)))
        named = [one for one in held if not one.constraint and not one.url]
        self.asked = list(dict.fromkeys(planned_as(w.name) for w in named if is_planned(w.name)))
        self.near: dict[str, str] = {}  # root → the release that was asked for
        self.own_index = demand.system == "windows"
        self.judged: dict[str, list[tuple[Candidate, Judged]]] = {}

    def of(self, root: str) -> list[tuple[Candidate, Judged]]:
        """Every release of a root with its verdict, best first."""
        if root not in self.judged:
            found = [(one, self._judge(one)) for one in self._every(root)]
            if root in FRAMEWORKS:  # a build that is known to work goes first
                found.sort(key=lambda pair: bool(pair[1].doubt))
            if root in self.near:
                found.sort(key=lambda pair: closeness(pair[0].row.version, self.near[root]))
            if self.demand.keep_installed:
                have = self.demand.installed
                found.sort(key=lambda pair: have.get(pair[0].row.name) != pair[0].row.version)
            self.judged[root] = found
        return self.judged[root]

    def open(self, root: str) -> list[Candidate]:
        """The releases that may be chosen."""
        alone = "torch" not in self.asked
        return [
            one
            for one, verdict in self.of(root)
            if not verdict.kind and not (one.shares and alone) and (self.own_index or not one.index)
        ]

    def _every(self, root: str) -> list[Candidate]:
        """The releases of a root; sources where releases are asked for that never had a wheel."""
        found, limit = list(candidates(root, self.demand)), self.limits.get(root, "")
        if limit and root not in FRAMEWORKS:
            if not any(allows(limit, one.row.version) for one in found):
                found = [one for one in sources(root) if allows(limit, one.row.version)] + found
            said = {p: spec for p, spec in self.limits.items() if spec and not is_planned(p)}
            return [self._narrowed(one, said) for one in found]
        if is_guest(root) and root not in projects() and not limit:
            found = _last_patches(found)
        said = {p: spec for p, spec in self.limits.items() if spec and not is_planned(p)}
        return [self._narrowed(one, said) for one in found] if said else found

    @staticmethod
    def _narrowed(one: Candidate, limits: dict[str, str]) -> Candidate:
        """A release on those Pythons for which its metadata takes what is limited beside it."""
        said = _stated(one) if limits else {}
        both = limits.keys() & said.keys()
        kept = frozenset(
            python
            for python in one.pythons
            if all(_meets_on(python, limits[name], said[name]) for name in both)
        )
        return msgspec.structs.replace(one, pythons=kept) if kept and both else one

    def _judge(self, one: Candidate) -> Judged:
        build = self._other_build(one)
        if build:
            return Judged("pin", build)
        libc = on_glibc(one.glibc, self.demand)
        if libc.kind or one.role == "library":
            return libc if libc.kind else judge_library(one.row, self.demand)
        limit = self.limits.get(one.root, "")
        named = f"=={one.row.version}" in limit.split(",")
        demand = self.demand
        if one.root in COMPANIONS_OF_TORCH:
            demand = msgspec.structs.replace(demand, gpus=(), driver_version="")
        verdict = judge(one.row, one.pythons, demand, named)
        if not one.here and verdict.kind != "platform":
            where = "native Windows" if self.demand.system == "windows" else "Linux"
            text = f"{one.row.name} has no wheel for {where} on {self.demand.arch}"
            return Judged("platform", text)
        return verdict if verdict.kind else self._beside(one) or self._framed(one) or verdict

    def _other_build(self, one: Candidate) -> str:
        """Why a release is not the build that is named: cupy-cuda11x, jax[cuda13], +cu124."""
        if one.root in ("cupy", "mxnet"):
            named = sorted({w.name for w in self.held if w.name.startswith(f"{one.root}-cu")})
            return (
                f"{' and '.join(named)} is asked for" if named and one.row.name not in named else ""
            )
        if one.root == "jax":
            wanted = {e for w in self.held if w.name == "jax" for e in w.extras if e[:4] == "cuda"}
            other = wanted and not any(f"[{extra}]" in one.requirement for extra in wanted)
            return f"jax[{','.join(sorted(wanted))}] is asked for" if other else ""
        builds = {w.build for w in self.held if w.build.startswith("cu")}
        if one.root != "torch" or not builds:
            return ""
        own = one.index or "cu" + "".join(map(str, numbers(str(one.row.cuda))[:2]))
        label = " or +".join(sorted(builds))
        return "" if own in builds else f"exists, but not as the build +{label} that is asked for"

    def _beside(self, one: Candidate) -> Judged | None:
        """A demand of the release on a package that the person limits to something else."""
        framework, version = titled(one.root), one.row.version
        demands = list(states(framework, version).items())
        demands += [split(cap.requirement) for cap in caps(framework, version)]
        if one.role == "companion":
            demands += [pair for pair in one.needs if not is_planned(pair[0])]
        for package, spec in demands:
            mine = self.limits.get(package, "")
            if mine and not meets(mine, spec):
                return Judged("pin", f"needs {package}{spec}; {package}{mine} is asked for")
        for package, wishes in _stated(one).items():
            mine = self.limits.get(package, "")
            specs = [wish.partition(";")[0].strip() for wish in wishes]
            if mine and not is_planned(package) and not any(meets(mine, spec) for spec in specs):
                either = " or ".join(specs)
                return Judged("pin", f"needs {package}{either}; {package}{mine} is asked for")
        return None

    def _framed(self, one: Candidate) -> Judged | None:
        """A companion whose framework has no release here that it takes."""
        for package, spec in one.needs if one.role == "companion" else ():
            root = planned_as(package)
            if root not in FRAMEWORKS or package in WITHOUT_CUDA or root == one.root:
                continue
            bare = spec.split("+")[0]
            judged = self.of(root)
            if not any(not v.kind and allows(bare, c.row.version) for c, v in judged):
                gone = {v.why for _, v in judged if v.kind == "platform"}
                if len(gone) == 1:
                    return Judged("platform", gone.pop())
                return Judged("set", f"needs {package}{spec}, of which no release runs here")
        return None

    def passed(self) -> tuple[Passed, ...]:
        """What was passed over, in groups of one reason, newest first."""
        groups: dict[tuple[str, Judged], set[str]] = {}
        for root, found in self.judged.items():
            limit = self.limits.get(root, "")
            for one, verdict in found:
                seen = self.own_index or not one.index
                wanted = allows(limit, one.row.version) and one.role != "library"
                if verdict.kind and seen and wanted:
                    groups.setdefault((root, verdict), set()).add(one.row.version)
        return tuple(
            Passed(
                root, tuple(sorted(versions, key=parsed, reverse=True)), verdict.kind, verdict.why
            )
            for (root, verdict), versions in groups.items()
            if verdict.kind
        )


def _stated(one: Candidate) -> dict[str, tuple[str, ...]]:
    return stated("jax" if one.root == "jax" else one.row.name, one.row.version)


def _last_patches(every: Sequence[Candidate]) -> list[Candidate]:
    """The newest patch of each minor release that asks the same of frameworks."""
    out: dict[tuple[object, ...], Candidate] = {}
    for one in every:
        asked = tuple(need for need in one.needs if need[0] in FRAMEWORKS)
        out.setdefault((major_minor(one.row.version), asked), one)
    return list(out.values())


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
        release = parsed(version).release
        tries |= {version, f"{version}.0.1", f"{release[0]}.999"}
        tries.add(".".join(map(str, (*release[:-1], release[-1] + 1))))
        tries.add(".".join(map(str, (*release[:-1], max(release[-1] - 1, 0), 999))))
    return any(both.contains(version, prereleases=True) for version in tries)


@lru_cache(maxsize=4096)
def _meets_on(python: str, mine: str, wishes: tuple[str, ...]) -> bool:
    """Whether a limit agrees with all that metadata asks of the package on one Python."""
    for wish in wishes:
        spec, _, marker = wish.partition(";")
        if marker and ("python_version" not in marker or not _holds(marker.strip(), python)):
            continue
        if not meets(mine, spec.strip()):
            return False
    return True


def _holds(marker: str, python: str) -> bool:
    bare = python.rstrip("t")
    environment = {"python_version": bare, "python_full_version": f"{bare}.0", "extra": ""}
    try:
        return Marker(marker).evaluate(environment)
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        return False
