"""Catalogue: the releases that may be chosen for some wishes on one machine, each judged once, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import msgspec
from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName
from packaging.specifiers import SpecifierSet

from gpuwhy.knowledge.caps import caps, states
from gpuwhy.knowledge.guests import is_guest
from gpuwhy.knowledge.pairs import stated
from gpuwhy.model.plan import Machine, Passed, Wish
from gpuwhy.model.version import major_minor, numbers
from gpuwhy.plan_v0.candidates import Verdict, judge, libc_verdict, library_verdict, parsed, specifier
from gpuwhy.plan_v0.machine import PYTHONS
from gpuwhy.plan_v0.names import is_planned, planned_as, root
from gpuwhy.plan_v0.possible import is_other
from gpuwhy.plan_v0.roots import FRAMEWORKS, Candidate, candidates, framework_of, sources


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
        self.asked = {planned_as(w.name) for w in wishes if not w.constraint}
        self.builds = _Builds(wishes)
        self.own_index = machine.system == "windows"  # whether builds of PyTorch's own index may be chosen
        self.judged: dict[str, list[tuple[Candidate, Verdict]]] = {}

    def of(self, name: str) -> list[tuple[Candidate, Verdict]]:
        """Every release of a root with its verdict, best first."""
        if name not in self.judged:
            every = [self._narrowed(one) for one in self._every(name)]
            if is_guest(name) and name not in self.limits:
                every = last_patches(every)
            plain = name in self.plain
            found = [(_bare(one), Verdict()) if plain else (one, self._verdict(one)) for one in every]
            self._order(name, found)
            self.judged[name] = found
        return self.judged[name]

    def _every(self, name: str) -> list[Candidate]:
        """The releases of a root; its sources count where the user asks for releases that never had a wheel."""
        found, limit = candidates(name, self.machine), self.limits.get(name, "")
        if not limit or name in FRAMEWORKS or any(allows(limit, one.row.version) for one in found):
            return found
        return [*(one for one in sources(name) if allows(limit, one.row.version)), *found]

    def _order(self, name: str, found: list[tuple[Candidate, Verdict]]) -> None:
        """Best first; what is sorted last weighs most."""
        if name in FRAMEWORKS:  # a build of the same framework that is known to work goes first
            found.sort(key=lambda pair: bool(pair[1].unsure))
        if name in self.near:
            found.sort(key=_beside(found, self.near[name]))
        if self.least_change:
            found.sort(key=lambda pair: self.machine.installed.get(pair[0].row.name) != pair[0].row.version)

    @cached_property
    def _limits_of_others(self) -> dict[str, str]:
        """What the user limits of packages that are left to the installer."""
        return {package: spec for package, spec in self.limits.items() if spec and not is_planned(package)}

    def _narrowed(self, one: Candidate) -> Candidate:
        """A release on those Pythons for which its own metadata takes what the user limits beside it."""
        limits = self._limits_of_others
        said = stated("jax" if one.root == "jax" else one.row.name, one.row.version) if limits else {}
        both = limits.keys() & said.keys()
        kept = frozenset(p for p in one.pythons if all(_meets_on(p, limits[name], said[name]) for name in both))
        return msgspec.structs.replace(one, pythons=kept) if kept and kept != one.pythons else one

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
        other = self.builds.refuse(one)
        if other:
            return Verdict("pin", other)
        libc = libc_verdict(one.glibc, self.machine)
        if libc.kind or one.role == "library":
            return libc if libc.kind else library_verdict(row, self.machine)
        named = f"=={row.version}" in self.limits.get(one.root, "").split(",")
        follows = one.root in ("torchvision", "torchaudio")
        machine = msgspec.structs.replace(self.machine, gpus=(), driver="") if follows else self.machine
        verdict = judge(row, machine, named, framework_of(one.root) if one.root in FRAMEWORKS else "")
        return verdict if verdict.kind else self._beside(one) or self._framed(one) or verdict

    def _framed(self, one: Candidate) -> Verdict | None:
        """A companion whose framework has no release here that it takes; found at once, not by trying them all."""
        for package, spec in one.needs if one.role == "companion" else ():
            name = root(package)
            if name not in FRAMEWORKS or package in WITHOUT_CUDA:
                continue
            judged = self.of(name)
            bare = spec.split("+")[0]
            if not any(not verdict.kind and allows(bare, c.row.version) for c, verdict in judged):
                gone = {verdict.why for _, verdict in judged if verdict.kind == "platform"}
                return Verdict("platform", gone.pop()) if len(gone) == 1 else _lacks(package, spec)
        return None

    def _nowhere(self, one: Candidate) -> Verdict:
        """A release without a wheel for the platform; a stated system says it better."""
        said = judge(one.row, self.machine, False)
        if said.kind == "platform":
            return said
        return Verdict("platform", f"{one.row.name} has no wheel for {platform_named(self.machine)}")

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
        asked = demands([wish for wish in self.wishes if wish.constraint or not is_other(wish)])
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
            Passed(name, tuple(sorted(set(versions), key=parsed, reverse=True)), kind, why)  # type: ignore[arg-type]
            for (name, kind, why), versions in groups.items()
        )


def platform_named(machine: Machine) -> str:
    """The system and the processor that wheels are made for, in words."""
    return f"{'native Windows' if machine.system == 'windows' else 'Linux'} on {machine.machine}"


def has_wheels(name: str, machine: Machine) -> bool:
    """Whether some release of a root, not withdrawn, can be installed on the platform at all."""
    return not is_planned(name) or any(one.here and not one.row.yanked for one in candidates(name, machine))


def on_cpu_here(wish: Wish, machine: Machine) -> bool:
    """Whether every release that a wish lets in has wheels here, all of them without CUDA: TensorFlow on Windows."""
    name = planned_as(wish.name)
    if name not in FRAMEWORKS or wish.constraint or machine.system != "windows":
        return False
    asked = [one for one in candidates(name, machine) if allows(wish.specifier, one.row.version)]
    return bool(asked) and all(one.row.cuda is None for one in asked)


def _lacks(package: str, spec: str) -> Verdict:
    return Verdict("set", f"needs {package}{spec}, of which no release runs here")


WITHOUT_CUDA = ("onnxruntime", "tensorflow-cpu")
"""What a package asks for by these names it uses on the CPU, and means no other build."""


@lru_cache(maxsize=1 << 16)
def allows(spec: str, version: str) -> bool:
    """Whether a specifier lets a version in, previews included."""
    return specifier(spec).contains(version, prereleases=True)


class _Builds:
    """Which builds of a release the wishes name: cupy-cuda11x, jax[cuda13], torch==2.5.1+cu124."""

    def __init__(self, wishes: Sequence[Wish]) -> None:
        self.cupy = sorted({w.name for w in wishes if w.name.startswith("cupy-cuda")})
        self.jax = sorted({extra for w in wishes if w.name == "jax" for extra in w.extras if extra.startswith("cuda")})
        self.torch = sorted({w.build for w in wishes if w.build.startswith("cu")})

    def refuse(self, one: Candidate) -> str:
        """Why a release is not the build that is asked for; '' where it is, or none is named."""
        if one.root == "cupy" and self.cupy and one.row.name not in self.cupy:
            return f"{' and '.join(self.cupy)} is asked for"
        if one.root == "jax" and self.jax and not any(f"[{extra}]" in one.requirement for extra in self.jax):
            return f"jax[{','.join(self.jax)}] is asked for"
        if one.root == "torch" and self.torch and _label(one) not in self.torch:
            return f"is there, but not as the build +{' or +'.join(self.torch)} that is asked for"
        return ""


def _label(one: Candidate) -> str:
    """The label of a torch build: cu124."""
    return one.backend or "cu" + "".join(map(str, numbers(str(one.row.cuda))[:2]))


def _bare(one: Candidate) -> Candidate:
    """The release without its extras and what these bring."""
    pin = f"{one.row.name if one.root != 'jax' else 'jax'}=={one.row.version}"
    return msgspec.structs.replace(one, needs=(), cuda_major="", requirement=pin, pythons=frozenset(PYTHONS))


def demands(wishes: Sequence[Wish]) -> dict[str, str]:
    """Every root that is asked for, with all limits on it."""
    limits = _limits(wishes)
    out: dict[str, str] = {}
    for wish in wishes:
        if not wish.constraint and not wish.url:
            name = planned_as(wish.name)
            out[name] = limits.get(name, "")
    return out


def _limits(wishes: Iterable[Wish]) -> dict[str, str]:
    out: dict[str, list[str]] = {}
    for wish in wishes:
        name = planned_as(wish.name)
        if wish.specifier:
            out.setdefault(name, []).append(wish.specifier)
    return {name: ",".join(dict.fromkeys(specs)) for name, specs in out.items()}


def last_patches(every: Sequence[Candidate]) -> list[Candidate]:
    """The newest patch of each minor release that asks the same of frameworks: the others differ in nothing here."""
    out: dict[tuple[object, ...], Candidate] = {}
    for one in every:
        asked = tuple(need for need in one.needs if need[0] in FRAMEWORKS)
        out.setdefault((major_minor(one.row.version), asked), one)
    return list(out.values())


def closeness(version: str, to: str) -> tuple[int, int, int, tuple[int, ...]]:
    """How far a release is from another: by minor release, newer ones first, the last patch first.

    Of another major the newest is as close as any: programs have to be changed for it anyway.
    """
    mine, theirs = (*numbers(version), 0, 0, 0), (*numbers(to), 0, 0, 0)
    newest_first = tuple(-n for n in mine[:5])
    if mine[0] != theirs[0]:
        return abs(mine[0] - theirs[0]), 0, 0, newest_first
    return 0, abs(mine[1] - theirs[1]), int(mine < theirs), newest_first


def split(requirement: str) -> tuple[str, str]:
    """protobuf<3.21 → (protobuf, <3.21)."""
    at = next((n for n, c in enumerate(requirement) if c in "<>=!~"), len(requirement))
    return requirement[:at], requirement[at:]


@lru_cache(maxsize=1 << 14)
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


@lru_cache(maxsize=4096)
def _meets_on(python: str, mine: str, wishes: tuple[str, ...]) -> bool:
    """Whether a limit agrees with all that metadata asks of the package on one Python."""
    for wish in wishes:
        spec, _, marker = wish.partition(";")
        if marker and ("python_version" not in marker or not _holds(marker.strip(), python.rstrip("t"))):
            continue
        if not meets(mine, spec.strip()):
            return False
    return True


def _holds(marker: str, python: str) -> bool:
    try:
        return Marker(marker).evaluate({"python_version": python, "python_full_version": f"{python}.0", "extra": ""})
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        return False


def _beside(
    found: list[tuple[Candidate, Verdict]], near: str
) -> Callable[[tuple[Candidate, Verdict]], tuple[Any, ...]]:
    """The closest to a release first; one that spares the system a toolkit, if that release itself would spare it."""
    closest = min(found, key=lambda pair: closeness(pair[0].row.version, near), default=None)
    spared = closest is not None and not closest[0].system
    return lambda pair: (spared and pair[0].system, closeness(pair[0].row.version, near))
