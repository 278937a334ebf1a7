"""Dependents: what is installed on top of the frameworks, by what its metadata asks for, and how it is imported."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from gpuwhy.knowledge.flavours import flavour
from gpuwhy.knowledge.modules import FOUNDATION, IMPORTED_AS, USED_BESIDE
from gpuwhy.knowledge.pairs import NEIGHBOURS
from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import Distribution
from gpuwhy.model.words import normal
from gpuwhy.observe.built import gpu_related
from gpuwhy.observe.distributions import project_folder, requirements
from gpuwhy.observe.scene import Scene

MOST = 40
"""Packages that are imported."""
NUMERIC = frozenset({"numpy", "scipy", "pandas"})
"""What asks for these is used in one program with a framework, and falls with the same moves of releases."""
_ASKED = re.compile(r"Requires-Dist:\s*([A-Za-z0-9][\w.-]*)")
_CUDA = re.compile(r"nvidia-(?!ml-py).+|cuda-(python|bindings|core)")
"""What brings CUDA itself: who asks for it, and for no framework, is imported by itself."""
_SUMMARY = re.compile(r"^(?:Summary|Keywords):[^\n]*\b(?:gpus?|cuda|nvidia)\b", re.IGNORECASE | re.MULTILINE)
_PRIVATE = ("_", "test", "doc", "example", "benchmark", "script", "tool")


_BASES = {"keras": "tensorflow", "tf_keras": "tensorflow"}
_FIRST = ("torch", "tensorflow", "jax")
"""Of several frameworks that a package can stand on, the one in whose process it is imported."""


class Asks(NamedTuple):
    """What a distribution's metadata asks for, by normalised names."""

    always: frozenset[str]
    with_extras: frozenset[str]


class Dependent(NamedTuple):
    """A distribution that stands on a framework."""

    dist: Distribution
    base: str  # the framework's module; "" where it stands on CUDA itself, or no framework is there
    modules: tuple[str, ...]
    asks: Asks
    plain: bool = False  # it has nothing to do with a GPU: see roots.py

    @property
    def told(self) -> str:
        """Its name and release."""
        return f"{self.dist.name} {self.dist.version}"

    def optional(self, lost: str) -> bool:
        """Whether a module that was not found is one that only an extra of it brings."""
        names = {normal(lost), *(dist for dist, module in IMPORTED_AS.items() if module == lost)}
        return bool(names & self.asks.with_extras) and not names & self.asks.always

    def has(self, module: str) -> bool:
        """Whether a module is one of its own, or a part of one."""
        bare = f"{module.partition(':')[0]}."
        return any(bare.startswith(f"{one.lstrip('~').partition(':')[0]}.") for one in self.modules)


def base_of(module: str, names: Collection[str]) -> str:
    """The framework in whose process a module is imported: its own where none of those it is built on is there."""
    if module in ("tensorflow", "jax", "onnxruntime", "cupy", "torch", "jaxlib", "paddle", "mxnet", "numba"):
        return module
    wanted = _BASES.get(module, "torch")
    return wanted if wanted in names else module


def on_frameworks(scene: Scene) -> list[Dependent]:
    """What is installed on top of the frameworks that are there."""
    modules = [one.path.rpartition("/")[2] for one in value_or(scene.facts.target.frameworks, ())]
    return dependents(scene, {module: base_of(module, modules) for module in modules})


def dependents(scene: Scene, bases: Mapping[str, str]) -> list[Dependent]:
    """Those that ask for a framework, or for one that does, the topmost first; then what frameworks ask for.

    `bases` has the modules of all frameworks that are there, each with the one in whose process it is imported. What
    has no module any more is among them, without modules.
    """
    every = value_or(scene.facts.target.distributions, ())
    installed = {one.name: one for one in reversed(every)}
    frameworks = {one.distribution for one in value_or(scene.facts.target.frameworks, ())}
    asks = {name: asks_of(scene, one) for name, one in installed.items()}
    below = _below(frameworks, asks)
    above = {name: one for name, one in asks.items() if name not in below}
    found = _directly(above, bases)
    if not bases:
        found |= _of_the_world(scene, above, installed, found)
    found |= {name: "" for name in above if name not in found and NEIGHBOURS.fullmatch(name)}
    _spread(found, above)
    found |= _beside(scene, above, installed, found)
    numeric = {name: "" for name, one in above.items() if name not in found and one.always & NUMERIC}
    first, then = (_made(scene, some, asks, installed) for some in (found, numeric))
    return [*first[:MOST], *then[: MOST // 2], *_comes_with(scene, below, asks, installed, bases)]


def _made(
    scene: Scene, found: Mapping[str, str], asks: Mapping[str, Asks], installed: Mapping[str, Distribution]
) -> list[Dependent]:
    """Distributions with their bases, the topmost first."""
    made = [Dependent(installed[n], base, tuple(modules_of(scene, installed[n])), asks[n]) for n, base in found.items()]
    return _topmost_first(made)


def _of_the_world(
    scene: Scene, asks: Mapping[str, Asks], installed: Mapping[str, Distribution], known: Collection[str]
) -> dict[str, str]:
    """Where no framework is, whatever people use with one, or that speaks of the GPU itself."""
    left = {name: one for name, one in asks.items() if name not in known}
    return {n: "" for n, one in left.items() if _is_of_the_world(n, one) or _speaks_of_it(scene, installed[n])}


def _beside(
    scene: Scene, asks: Mapping[str, Asks], installed: Mapping[str, Distribution], known: Collection[str]
) -> dict[str, str]:
    """What people use beside a framework, or that speaks of the GPU, by itself."""
    left = [name for name in asks if name not in known and not _CUDA.fullmatch(name)]
    return {n: "" for n in left if _is_known(n) or n in USED_BESIDE or _speaks_of_it(scene, installed[n])}


def _speaks_of_it(scene: Scene, one: Distribution) -> bool:
    """Whether a package's own summary names the GPU."""
    return bool(_SUMMARY.search(value_or(scene.host.read(f"{one.location}/METADATA"), "")))


def _is_of_the_world(name: str, one: Asks) -> bool:
    """Whether people use it with a framework: by its name, by what it stands on, or by what an extra of it asks for."""
    on_it = any(_is_known(other) for other in one.always) or any(map(gpu_related, one.with_extras))
    return _is_known(name) or on_it


def _is_known(name: str) -> bool:
    return gpu_related(name) or name in FOUNDATION or bool(NEIGHBOURS.fullmatch(name))


def _comes_with(
    scene: Scene,
    below: Mapping[str, str],
    asks: Mapping[str, Asks],
    installed: Mapping[str, Distribution],
    bases: Mapping[str, str],
) -> list[Dependent]:
    """What frameworks ask for, and import only when it is needed."""
    out = []
    for name, framework in below.items():
        base = bases.get(_module(framework), "")
        if base and name != framework and not gpu_related(name):
            out.append(Dependent(installed[name], base, tuple(modules_of(scene, installed[name])), asks[name]))
    return [one for one in out if one.modules][:MOST]


def _below(frameworks: Collection[str], asks: Mapping[str, Asks]) -> dict[str, str]:
    """The frameworks, and what they ask for themselves, each with the framework that it comes with."""
    found = dict[str, str]()
    left = [(name, name) for name in sorted(frameworks)]
    while left:
        name, framework = left.pop(0)
        if name in asks and name not in found:
            found[name] = framework
            left += [(other, framework) for other in sorted(asks[name].always)]
    return found


def _topmost_first(found: list[Dependent]) -> list[Dependent]:
    """Those first that none of the others asks for, and of them those that ask for most: they import the others."""
    names = {one.dist.name for one in found}
    asked = {name for one in found for name in one.asks.always}
    return sorted(found, key=lambda one: (one.dist.name in asked, -len(names & one.asks.always)))


def _directly(asks: Mapping[str, Asks], bases: Mapping[str, str]) -> dict[str, str]:
    """What asks for a framework, by an extra at least, or for CUDA itself, each with its base."""
    found: dict[str, str] = {}
    for names in ("always", "with_extras"):
        for name, one in asks.items():
            wanted = sorted(map(_module, getattr(one, names)), key=_rank)
            base = next((bases[m] for m in wanted if m in bases), "")
            if base:
                found.setdefault(name, base)
    for name, one in asks.items():
        if not _CUDA.fullmatch(name) and any(map(_CUDA.fullmatch, one.always)):
            found.setdefault(name, "")
    return found


def _spread(found: dict[str, str], asks: Mapping[str, Asks]) -> None:
    """Those too that ask for one of these."""
    more = True
    while more:
        more = False
        for name, one in asks.items():
            below = [found[other] for other in sorted(one.always) if other in found]
            if below and name not in found:
                found[name], more = max(below), True


def _rank(module: str) -> tuple[int, str]:
    return (_FIRST.index(module) if module in _FIRST else len(_FIRST)), module


def _module(name: str) -> str:
    """The module that a requirement's name stands for."""
    known = flavour(name)
    return known.module if known else name.replace("-", "_")


def asks_of(scene: Scene, one: Distribution) -> Asks:
    """What a distribution's metadata asks for."""
    lines = value_or(requirements(scene, one), ())
    named = [(normal(found[1]), "extra" in line.partition(";")[2]) for line in lines if (found := _ASKED.match(line))]
    return Asks(frozenset(n for n, extra in named if not extra), frozenset(n for n, extra in named if extra))


def modules_of(scene: Scene, one: Distribution) -> Iterator[str]:
    """The module of its own name, where there is one; else those that it lists, where they are few."""
    site, own = one.location.rpartition("/")[0], IMPORTED_AS.get(one.name) or one.name.replace("-", "_")
    if _is_there(scene, site, own) or _is_in_its_project(scene, one, own):
        yield own
        return
    said = value_or(scene.host.read(f"{one.location}/top_level.txt"), "").split()
    there = _public(scene, site, said) or _public(scene, site, _recorded(scene, one))
    yield from there if len(there) <= 3 else ()


def _public(scene: Scene, site: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if not _is_private(name) and _is_there(scene, site, name)]


def _is_private(name: str) -> bool:
    return name.rpartition(".")[2].startswith(_PRIVATE)


def _recorded(scene: Scene, one: Distribution) -> list[str]:
    """The packages that RECORD lists; of a name that several distributions share, the parts that are its own."""
    lines = value_or(scene.host.lines(f"{one.location}/RECORD", "/__init__.py,"), ())
    folders = {line.partition("/__init__.py,")[0] for line in lines}
    own = sorted(folder for folder in folders if folder.rpartition("/")[0] not in folders)
    least = min((folder.count("/") for folder in own), default=0)
    named = [folder.replace("/", ".") for folder in own if folder.count("/") == least]
    return named or _compiled(scene, one)


def _compiled(scene: Scene, one: Distribution) -> list[str]:
    """Modules that are a library, and nothing else."""
    lines = value_or(scene.host.lines(f"{one.location}/RECORD", ".so,"), ())
    return [line.partition(".")[0] for line in lines if "/" not in line.partition(",")[0]]


def _is_there(scene: Scene, site: str, module: str) -> bool:
    """Whether a folder of packages has it as a package or a module; names without a file of their own are none."""
    if not all(part.isidentifier() for part in module.split(".")):
        return False
    path = f"{site}/{module.replace('.', '/')}"
    if any(isinstance(scene.host.stat(one), Known) for one in (f"{path}/__init__.py", f"{path}.py")):
        return True
    return "." not in module and bool(value_or(scene.host.list(site, rf"{re.escape(module)}\.[\w.-]*so$"), ()))


def _is_in_its_project(scene: Scene, one: Distribution, module: str) -> bool:
    """The same for a project that is used from the folder of its source."""
    given = project_folder(scene, one)
    return bool(given) and any(_is_there(scene, f"{given}{below}", module) for below in ("", "/src"))
