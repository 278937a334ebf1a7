"""Whole: the GPU packages of an environment settled together: what is installed stays unless it must move."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

import msgspec

from gpuwhy.model.plan import Cap, Machine, Wish
from gpuwhy.model.version import numbers
from gpuwhy.plan_v0.answer import caps_of, held
from gpuwhy.plan_v0.candidates import rows_of, specifier
from gpuwhy.plan_v0.catalogue import Catalogue, meets
from gpuwhy.plan_v0.names import planned_as
from gpuwhy.plan_v0.resolve import Found, Impossible, resolve
from gpuwhy.plan_v0.roots import Candidate, candidates

PLACED = ("torchvision", "torchaudio", "xformers", "bitsandbytes", "vllm")
"""Companions whose rows say which torch they go with; Triton and flash-attn follow by metadata or are compiled."""

_JAX = ("jaxlib", "jax-cuda12-plugin", "jax-cuda12-pjrt", "jax-cuda13-plugin", "jax-cuda13-pjrt")


class Settled(msgspec.Struct, frozen=True):
    """A set that works together."""

    moves: tuple[str, ...]  # exact requirements of all that is missing or of another release now
    placed: frozenset[str]  # every package whose release was chosen here
    caps: tuple[Cap, ...] = ()


class Clash(msgspec.Struct, frozen=True):
    """Two frameworks of one environment that demand different releases of one package."""

    one: str  # torch 2.6.0
    other: str
    package: str  # nvidia-cudnn-cu12
    wants: str
    other_wants: str
    alone: tuple[str, ...] = ()  # exact requirements of the first one's own environment
    shares: tuple[tuple[str, ...], ...] = ()  # sets of releases of both that do share

    @property
    def text(self) -> str:
        """The pair that conflicts."""
        return (
            f"{self.one} and {self.other} cannot share one environment: {self.one} needs {self.package}{self.wants}, "
            f"{self.other} needs {self.package}{self.other_wants}"
        )


class Environment:
    """What is installed of what the plan knows, and what of it has to be kept working."""

    def __init__(self, machine: Machine, working: Collection[str], wishes: Sequence[Wish]) -> None:
        self.machine, self.wishes = machine, tuple(wishes)
        self.asked = [planned_as(w.name) for w in wishes]
        self.here = dict(_roots(machine.installed))
        self.working = set(working)

    def known(self) -> bool:
        """Whether every release that would have to stay is one that the plan knows; builds with labels are not."""
        here = self.here.items()
        return all(_candidate(name, version, self.machine) for name, version in here if name in ("torch", *self.asked))

    def plain(self) -> frozenset[str]:
        """Frameworks whose demands on NVIDIA's wheels are not met now, and not asked for: they stay as they are."""
        libraries = {w.name for w in self.wishes if w.name.startswith("nvidia-")}
        return frozenset(
            name
            for name, version in self.here.items()
            if name not in PLACED and not self._asked(name, libraries) and not self._satisfied(name, version)
        )

    def _asked(self, name: str, libraries: set[str]) -> bool:
        one = _candidate(name, self.here[name], self.machine)
        if name not in self.working and one and libraries & {package for package, _ in one.needs}:
            return True
        mine = [w for w in self.wishes if planned_as(w.name) == name]
        return any(w.extras for w in mine) or (bool(mine) and name in ("torch", "jax"))

    def demands(self, name: str, plain: frozenset[str]) -> dict[str, str]:
        """What a root demands of NVIDIA's wheels: by its metadata; of one that works as it is, the cuDNN it opens."""
        one = _candidate(name, self.here.get(name, ""), self.machine)
        if one is None or name not in plain:
            return dict(one.needs) if one else {}
        have = self.machine.installed
        mine = [p for p, _ in one.needs if p.startswith("nvidia-cudnn") and p in have and name in self.working]
        return {package: f"=={numbers(have[package])[0]}.*" for package in mine}

    def _satisfied(self, name: str, version: str) -> bool:
        one = _candidate(name, version, self.machine)
        have = self.machine.installed
        return one is not None and all(
            package in have and specifier(spec).contains(have[package], prereleases=True)
            for package, spec in one.needs
            if not package.startswith("cuda-toolkit")
        )


def settle(machine: Machine, wishes: Sequence[Wish], working: Collection[str] = ()) -> Settled | Clash | None:
    """The whole environment once the wishes are met; None where its releases are not known to the plan.

    `working` are the roots that load what they need now.
    """
    env = Environment(machine, working, wishes)
    if not env.known():
        return None
    plain = env.plain()
    stay, beside = _others(env)
    kept = [Wish(p, spec, constraint=True) for name in plain for p, spec in env.demands(name, plain).items()]
    every = [*wishes, *stay, *beside, *kept]
    catalogue = Catalogue(machine, every, True, plain)
    found = _found(catalogue)
    if found is not None:
        return _settled(found, env, plain, catalogue)
    pair = _pair([*(w for w in wishes if w.specifier), *stay], env, plain)
    return _with_ways_out(pair, [*wishes, *stay, *beside], machine, plain) if pair else None


def _others(env: Environment) -> tuple[list[Wish], list[Wish]]:
    """What is installed beside what is asked for: what stays as it is, and what goes along with torch."""
    others = {name: version for name, version in env.here.items() if name not in env.asked}
    stay = [Wish(name, f"=={version}") for name, version in others.items() if name not in PLACED]
    return stay, [Wish(name) for name in others if name in PLACED]


def _found(catalogue: Catalogue) -> Found | None:
    try:
        return resolve(catalogue, catalogue.machine.python, own_index=False)
    except Impossible:
        return None


def _roots(installed: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The frameworks and companions that are installed, by the name that the resolver has for them."""
    for name in ("torch", "tensorflow", "tensorflow-gpu", "onnxruntime-gpu", *PLACED):
        if name in installed:
            yield planned_as(name), installed[name]
    if "jax" in installed and any(name in installed for name in _JAX[1:]):
        yield "jax", installed["jax"]


def _candidate(name: str, version: str, machine: Machine) -> Candidate | None:
    found = (one for one in candidates(name, machine) if one.row.version == version and not one.backend)
    return next(found, None)


def _settled(found: Found, env: Environment, plain: frozenset[str], catalogue: Catalogue) -> Settled:
    """A library that is not there at all is left to the requirement of the framework that brings it."""
    have, chosen = env.machine.installed, {n: one for n, one in found.chosen.items() if "[" not in n}
    parts = {name: _parts(one, env.machine, plain) for name, one in chosen.items()}
    missing = {name: [] if _stays(name, env, chosen) else _missing(own, have) for name, own in parts.items()}
    moving = sorted(filter(missing.get, missing), key=lambda name: chosen[name].role == "library")
    bringing = [name for name, one in chosen.items() if one.role != "library" and name in (*moving, *env.asked)]
    moves: list[str] = []
    for name in moving:
        bringer = "" if name in have else _bringer(name, found, bringing, catalogue)
        moves += [chosen[bringer].requirement] if bringer else missing[name]
    placed = frozenset(package for own in parts.values() for package in own)
    return Settled(tuple(dict.fromkeys(moves)), placed, caps_of(list(chosen.values())))


def _stays(name: str, env: Environment, chosen: Mapping[str, Candidate]) -> bool:
    """Whether a library's installed release meets all that is demanded of it, be it one that the plan does not know."""
    have = env.machine.installed.get(name, "")
    if not have or chosen[name].role != "library" or name in env.asked:
        return False
    specs = [spec for one in chosen.values() for package, spec in one.needs if package == name]
    return bool(specs) and all(specifier(spec).contains(have, prereleases=True) for spec in specs)


def _missing(parts: Mapping[str, str], have: Mapping[str, str]) -> list[str]:
    """The requirements that what is installed does not meet."""
    return [text for package, text in parts.items() if have.get(package) != _pinned(text)]


def _bringer(name: str, found: Found, bringing: Iterable[str], catalogue: Catalogue) -> str:
    """The framework that brings a library by itself; "" where there is none, or where it must be held."""
    one = found.chosen[name]
    bringer = next((other for other in bringing if name in _brought(other, found.chosen)), "")
    if one.role != "library" or not bringer or held(one, list(found.chosen.values()), catalogue):
        return ""
    return bringer


def _brought(name: str, chosen: Mapping[str, Candidate]) -> set[str]:
    """Everything that a release asks for, and what that asks for (cuda-toolkit names the wheels behind it)."""
    out: set[str] = set()
    todo = [name]
    while todo:
        new = [package for package, _ in chosen[todo.pop()].needs if package in chosen and package not in out]
        out.update(new)
        todo += new
    return out


def _parts(one: Candidate, machine: Machine, plain: frozenset[str]) -> dict[str, str]:
    """The distributions of a root, each with its exact requirement."""
    if one.root != "jax":
        return {one.row.name: one.requirement}
    return {} if one.root in plain else _jax(one, machine)


def _pinned(requirement: str) -> str:
    return requirement.partition("==")[2]


def _jax(one: Candidate, machine: Machine) -> dict[str, str]:
    """JAX is four packages of one release."""
    version, plugin = one.row.version, one.row.name
    names = ("jaxlib", plugin, plugin.replace("-plugin", "-pjrt"))
    exist = [name for name in names if any(row.version == version for row in rows_of(name, machine.platform))]
    return {"jax": one.requirement, **{name: f"{name}=={version}" for name in exist}}


def _pair(wishes: Sequence[Wish], env: Environment, plain: frozenset[str]) -> Clash | None:
    """Two pinned frameworks whose demands on one package exclude each other; cuDNN's first."""
    exact = [wish for wish in wishes if wish.specifier.startswith("==")]
    pinned = {planned_as(wish.name): wish.specifier.removeprefix("==") for wish in exact}
    roots = {**{name: env.here[name] for name in env.asked if name in env.here}, **env.here, **pinned}
    found = [(c, env.demands(n, plain)) for n, v in roots.items() if (c := _candidate(n, v, env.machine))]
    clashes = [
        Clash(_named(one), _named(other), package, mine[package], theirs[package])
        for (one, mine), (other, theirs) in combinations(found, 2)
        for package in mine
        if package in theirs and not meets(mine[package], theirs[package])
    ]
    return min(clashes, key=lambda clash: "cudnn" not in clash.package, default=None)


def _named(one: Candidate) -> str:
    name = "jax" if one.root == "jax" else one.row.name
    return f"{name} {one.row.version}"


def _with_ways_out(clash: Clash, wishes: Sequence[Wish], machine: Machine, plain: frozenset[str]) -> Clash:
    """An environment for the first alone; and sets in which the releases of both are free."""
    roots = [planned_as(clash.one.split(" ")[0]), planned_as(clash.other.split(" ")[0])]
    one, other = roots
    named = [(planned_as(w.name), w) for w in wishes if not w.name.startswith("nvidia-")]
    bare = msgspec.structs.replace(machine, installed={})
    goes = (other, *PLACED) if other == "torch" else (other,)
    alone = _found(Catalogue(bare, [wish for name, wish in named if name not in goes], True, plain))
    found = [_found(Catalogue(bare, _freed(named, free), False, plain)) for free in ((other,), (one,), (one, other))]
    shares = [_both(each, roots) for each in found if each and not _falls_back(each, machine, roots)]
    return msgspec.structs.replace(
        clash, alone=_both(alone, roots) if alone else (), shares=tuple(dict.fromkeys(shares))
    )


def _freed(named: Sequence[tuple[str, Wish]], free: tuple[str, ...]) -> list[Wish]:
    """The wishes, with any release of some and of their companions."""
    return [msgspec.structs.replace(w, specifier="") if name in (*free, *PLACED) else w for name, w in named]


def _both(found: Found, roots: Sequence[str]) -> tuple[str, ...]:
    return tuple(one.requirement for name, one in found.chosen.items() if name in (*roots, *PLACED))


def _falls_back(found: Found, machine: Machine, roots: Sequence[str]) -> bool:
    """Whether a set takes a framework to an older major release: no way out that anybody wants."""
    here = dict(_roots(machine.installed))
    return any(numbers(found.chosen[name].row.version)[:1] < numbers(here[name])[:1] for name in roots if name in here)
