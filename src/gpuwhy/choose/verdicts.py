"""Verdicts: the releases of a demand, each judged once: one function per reason, in one table."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from msgspec import UNSET
from msgspec.structs import replace
from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.specifiers import SpecifierSet

from gpuwhy.choose.candidates import Candidate, candidates, sources, title
from gpuwhy.choose.choice import Judged, Passed, worst
from gpuwhy.choose.demand import Demand, Wanted, allows, parsed
from gpuwhy.choose.hardware import judge_library, on_hardware
from gpuwhy.choose.names import FRAMEWORKS, NAMES, is_planned, planned_as
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge.flaws import flaw as flaw_of
from gpuwhy.knowledge.floors import floors
from gpuwhy.knowledge.guests import is_guest
from gpuwhy.knowledge.needs import caps, split, states
from gpuwhy.knowledge.pairs import stated
from gpuwhy.knowledge.platforms import dropped
from gpuwhy.knowledge.releases import projects

_JETSON = ("5.3", "6.2", "7.2", "8.7")
_JETPACK = (
    "runs NVIDIA's JetPack, and the aarch64 wheels of the package index are made for servers: "
    "take NVIDIA's wheels for your JetPack release, or its l4t containers"
)


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
            found = []
            for one in self._every(root):
                reasons = OF_LIBRARIES if one.role == "library" else REASONS
                verdict = worst(reason(self, one) for reason in reasons)
                found.append(replace(one, verdict=verdict))
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
        return [
            one
            for one in self.of(root)
            if not (one.verdict.kind or (one.shares and alone))
            and (self.own_index or not one.index)
        ]

    def _every(self, root: str) -> list[Candidate]:
        """The releases of a root; sources where releases are asked for that never had a wheel."""
        found = list(candidates(root, self.demand.platform, bool(self.demand.driver_version)))
        limit = self.limits.get(root, "")
        if limit and root not in FRAMEWORKS:
            if not any(allows(limit, one.version) for one in found):
                found = [one for one in sources(root) if allows(limit, one.version)] + found
        elif is_guest(root) and root not in projects():  # the last patch that asks the same
            newest = {_series(one): one for one in reversed(found)}
            found = [one for one in found if newest[_series(one)] is one]
        said = {p: spec for p, spec in self.limits.items() if spec and not is_planned(p)}
        return [_narrowed(one, said) for one in found] if said else found

    def passed(self) -> tuple[Passed, ...]:
        """What was passed over, in groups of one reason, newest first."""
        groups: dict[tuple[str, Judged], set[str]] = {}
        for root, found in self.judged.items():
            limit = self.limits.get(root, "")
            for one in found:
                seen = one.verdict.kind and (self.own_index or not one.index)
                if seen and one.role != "library" and allows(limit, one.version):
                    groups.setdefault((root, one.verdict), set()).add(one.version)
        return tuple(
            Passed(root, tuple(sorted(of, key=parsed, reverse=True)), verdict.kind, verdict.why)
            for (root, verdict), of in groups.items()
            if verdict.kind
        )


# Reasons


def _build(market: Market, one: Candidate) -> Judged | None:
    """It is not the build that is named: cupy-cuda11x, jax[cuda13], +cu124."""
    if one.root in ("cupy", "mxnet"):
        named = sorted({w.name for w in market.held if w.name.startswith(f"{one.root}-cu")})
        other = bool(named) and one.row.name not in named
        return Judged("pin", f"{' and '.join(named)} is asked for") if other else None
    if one.root == "jax":
        wanted = {e for w in market.held if w.name == "jax" for e in w.extras if e[:4] == "cuda"}
        other = bool(wanted) and not any(f"[{extra}]" in one.requirement for extra in wanted)
        return Judged("pin", f"jax[{','.join(sorted(wanted))}] is asked for") if other else None
    builds = {w.build for w in market.held if w.build.startswith("cu")}
    own = one.index or "cu" + major_minor(str(one.row.cuda)).replace(".", "")
    if one.root != "torch" or not builds or own in builds:
        return None
    labels = " or +".join(sorted(builds))
    return Judged("pin", f"exists, but not as the build +{labels} that is asked for")


def _libc(market: Market, one: Candidate) -> Judged | None:
    here = market.demand.glibc
    if not one.glibc or not here or market.demand.system == "windows":
        return None
    enough = here != "musl" and at_least(here, one.glibc)
    return None if enough else Judged("libc", f"has wheels for glibc {one.glibc} and newer")


def _platform(market: Market, one: Candidate) -> Judged | None:
    row, demand, system = one.row, market.demand, market.demand.platform.split("-")[0]
    board = next((card for card in demand.gpus if card.capability in _JETSON), None)
    if board and demand.arch == "aarch64":
        return Judged("platform", f"{board} {_JETPACK}")
    if row.cuda is None and re.fullmatch(NAMES.own_code, row.name):
        name = row.name.removesuffix("-gpu").replace("jaxlib", "jax")
        gone = dropped(name, row.version, system, demand.arch, "glibc")
        if gone is None:
            return Judged("cpu", "is built without CUDA for this platform")
        return Judged("platform", ": ".join(filter(None, (gone.text, gone.instead))))
    for need in floors(row.name, row.version):
        if need.systems and system not in need.systems:
            only = " and ".join(need.systems).title()
            return Judged("platform", f"{row.name} runs on {only} only")
    where = "native Windows" if demand.system == "windows" else "Linux"
    text = f"{row.name} has no wheel for {where} on {demand.arch}"
    return None if one.here else Judged("platform", text)


def _published(market: Market, one: Candidate) -> Judged | None:
    """It is not one to take: withdrawn, a preview, broken; a release that is pinned may be."""
    row, named = one.row, _is_named(market, one)
    if row.yanked and not named:
        return Judged("yanked", "was withdrawn by its makers")
    if row.gone:
        return Judged("gone", "is no longer on the package index")
    if parsed(row.version).is_prerelease and not named:
        return Judged("preview", "is a preview or a release candidate")
    flaw = flaw_of(row.name, row.version)
    return Judged("broken", flaw.text) if flaw and not (named and flaw.cure) else None


def _is_named(market: Market, one: Candidate) -> bool:
    return f"=={one.version}" in market.limits.get(one.root, "").split(",")


def _python(market: Market, one: Candidate) -> Judged | None:
    python = market.demand.python or "any that is known"
    fits = one.pythons & set(market.demand.pythons)
    return None if fits else Judged("python", f"has no wheel for Python {python}")


def _gpu(market: Market, one: Candidate) -> Judged | None:
    """The driver and the GPUs; those of torch's companions follow torch's."""
    row, demand = one.row, market.demand
    if one.root in NAMES.of_torch:
        return None
    for need in floors(row.name, row.version):
        for card in demand.gpus if need.gpu else ():
            if not at_least(card.capability, need.gpu):
                why = f"is made for compute capability {need.gpu} and newer, not for {card}"
                return Judged("gpu", why)
    unread = row.cuda is UNSET and re.fullmatch(NAMES.own_code, row.name)
    if unread and (demand.gpus or demand.driver_version):
        text = "for which CUDA it was built was never read"
        return Judged(doubt=text) if _is_named(market, one) else Judged("unknown", text)
    return on_hardware(row, demand)


def _limits(market: Market, one: Candidate) -> Judged | None:
    """It demands of a package what the person limits to something else."""
    framework = title(one.root)
    asks = [*states(framework, one.version).items()]
    asks += [split(cap.requirement) for cap in caps(framework, one.version)]
    asks += [need for need in one.needs if one.role == "companion" and not is_planned(need[0])]
    every = [(package, [spec]) for package, spec in asks]
    for package, wishes in _stated(one).items():
        if not is_planned(package):
            every.append((package, [wish.partition(";")[0].strip() for wish in wishes]))
    for package, specs in every:
        mine = market.limits.get(package, "")
        if mine and not any(meets(mine, spec) for spec in specs):
            needs = f"{package}{' or '.join(specs)}"
            return Judged("pin", f"needs {needs}; {package}{mine} is asked for")
    return None


def _framework(market: Market, one: Candidate) -> Judged | None:
    """A companion whose framework has no release here that it takes."""
    for package, spec in one.needs if one.role == "companion" else ():
        root = planned_as(package)
        if root not in FRAMEWORKS or package in NAMES.without_cuda or root == one.root:
            continue
        bare, judged = spec.split("+")[0], market.of(root)
        if not any(not c.verdict.kind and allows(bare, c.version) for c in judged):
            gone = {c.verdict.why for c in judged if c.verdict.kind == "platform"}
            if len(gone) == 1:
                return Judged("platform", gone.pop())
            return Judged("set", f"needs {package}{spec}, of which no release runs here")
    return None


Reason = Callable[[Market, Candidate], "Judged | None"]
REASONS: tuple[Reason, ...] = (
    *(_build, _libc, _platform, _published, _python, _gpu, _limits, _framework),
)
OF_LIBRARIES: tuple[Reason, ...] = (
    _libc,
    lambda market, one: judge_library(one.row, market.demand),
)


# What others ask for


def _series(one: Candidate) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The minor release, and what it asks of frameworks."""
    return major_minor(one.version), tuple(need for need in one.needs if need[0] in FRAMEWORKS)


def _stated(one: Candidate) -> dict[str, tuple[str, ...]]:
    return stated("jax" if one.root == "jax" else one.row.name, one.version)


def _narrowed(one: Candidate, limits: Mapping[str, str]) -> Candidate:
    """A release on those Pythons for which its metadata takes what is limited beside it."""
    said = _stated(one)
    both = limits.keys() & said.keys()
    kept = frozenset(
        python
        for python in (one.pythons if both else ())
        if all(_meets_on(python, limits[name], said[name]) for name in both)
    )
    return replace(one, pythons=kept) if kept else one


def closeness(version: str, to: str) -> tuple[int, int, int, tuple[int, ...]]:
    """How far a release is from another: by minor release, newer ones first, last patch first.

    Of another major the newest is as close as any: programs have to be changed for it anyway.
    """
    mine, theirs = (*numbers(version), 0, 0, 0), (*numbers(to), 0, 0, 0)
    major = abs(mine[0] - theirs[0])
    minor = 0 if major else abs(mine[1] - theirs[1])
    return major, minor, int(not major and mine < theirs), tuple(-number for number in mine[:5])


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
