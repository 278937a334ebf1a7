"""Unmet: what the metadata of any package asks for and is not there, where an import or the code shows that it counts.

Metadata asks for more than programs need. So a requirement that is not met is a contradiction where an import failed by
it, or where the package's own code imports what is not there; of libraries that an extra brings, where most are there.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from gpuwhy.knowledge.modules import IMPORTED_AS
from gpuwhy.model.fact import Fact, Known, value_or
from gpuwhy.model.facts import Contradiction, Distribution, Imported
from gpuwhy.model.words import normal
from gpuwhy.observe.contradictions import Lines, stated, with_extra
from gpuwhy.observe.dependents import Dependent
from gpuwhy.observe.distributions import requirements
from gpuwhy.observe.roots import on_top
from gpuwhy.observe.scene import Scene

FAILS = "so its import fails"
_LIBRARIES = re.compile(r"nvidia-(?!ml-py).+|jax-cuda\d+-.+")
"""What nobody installs for its own sake."""
_EXTRA = re.compile(r"extra\s*==\s*['\"]([\w.-]+)['\"]")


def contradictions_seen(scene: Scene) -> Fact[tuple[Contradiction, ...]]:
    """The contradictions, with those that imports and the code of packages show."""
    fact = scene.facts.target.contradictions
    if not isinstance(fact, Known) or not isinstance(scene.facts.target.imports, Known):
        return fact
    known = {(one.by, one.name): one for one in fact.value}
    tree = on_top(scene)
    every: tuple[Distribution, ...] = value_or(scene.facts.target.distributions, ())
    installed = {one.name: one for one in reversed(every)}
    found = [*_of_packages(scene, tree, installed), *half_extras(scene, installed), *asked_extras(scene, installed)]
    new = [one for one in found if one.stops or (one.by, one.name) not in known]
    first = {(one.by, one.name): one for one in new if one.stops and not _stops(known.get((one.by, one.name)))}
    kept = (one for one in fact.value if (one.by, one.name) not in first)
    return Known((*first.values(), *kept, *(one for one in new if not one.stops)), fact.source)


def _stops(one: Contradiction | None) -> bool:
    return one is not None and one.stops


def lacking(scene: Scene, tree: Sequence[Dependent]) -> list[str]:
    """The modules of packages that ask for something which is not there at all: their parts may fail by that."""
    own = {one.dist.name: one for one in tree}
    every: tuple[Distribution, ...] = value_or(scene.facts.target.distributions, ())
    asked: Lines = {name: value_or(requirements(scene, one.dist), ()) for name, one in own.items()}
    found = stated(scene, {one.name: one for one in reversed(every)}, asked)
    return [module for one in found if not one.installed for module in own[one.by].modules]


def _of_packages(
    scene: Scene, tree: Sequence[Dependent], installed: Mapping[str, Distribution]
) -> Iterator[Contradiction]:
    asked: Lines = {name: value_or(requirements(scene, one), ()) for name, one in installed.items()}
    found = list(stated(scene, dict(installed), asked))
    counts = Counter(one.by for one in found if not one.installed)
    owners = {one.dist.name: one for one in tree}
    failed = [one for one in value_or(scene.facts.target.imports, ()) if one.failed and not one.blame]
    for one in found:
        mine = [tried for tried in failed if _way(tried) & _tops(owners, one.by)]
        if any(_is_behind(one, tried, counts[one.by] == 1) for tried in mine):
            yield structs.replace(one, effect=FAILS, stops=True)
        elif not one.installed and one.by in owners:
            yield _in_code(scene, installed[one.by], one)


def _tops(owners: Mapping[str, Dependent], name: str) -> set[str]:
    """The names that a distribution is imported by."""
    modules = owners[name].modules if name in owners else ()
    return {module.lstrip("~").partition(".")[0] for module in modules} or {_module(name)}


def _way(one: Imported) -> set[str]:
    """The packages whose files a failure went through, as they are imported."""
    inside = (path.rpartition("-packages/") for path in (one.source, *one.files))
    return {rest.partition("/")[0].removesuffix(".py") for _, found, rest in inside if found}


def _is_behind(one: Contradiction, tried: Imported, alone: bool) -> bool:
    """Whether a failure in the code of who asks names, or went through, what does not fit.

    A distribution's modules may have any name: of the only one that is not there, whatever was not found is taken.
    """
    if one.installed:
        return _module(one.name) in _way(tried) or _names(one, tried)
    return (alone and bool(tried.lost)) or tried.lost.partition(".")[0] == _module(one.name) or _names(one, tried)


def _names(one: Contradiction, tried: Imported) -> bool:
    said, names = tried.why, (one.name, _module(one.name))
    return any(re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", said) for name in names)


def _module(name: str) -> str:
    return IMPORTED_AS.get(name) or name.replace("-", "_")


def _in_code(scene: Scene, by: Distribution, one: Contradiction) -> Contradiction:
    """A requirement that is not there at all: it counts where the code of who asks imports it, else it is only said."""
    python, folder = value_or(scene.facts.target.interpreter, None), _folder(scene, by)
    if python is None or not folder:
        return one
    said = value_or(scene.host.python(python.path, "wants", folder, _module(one.name)), ())
    place = next((str(line.get("file", "")) for line in said), "")
    inside = place.rpartition("-packages/")[2]
    return structs.replace(one, effect=f"and {inside} imports it") if inside else one


def _folder(scene: Scene, one: Distribution) -> str:
    """The folder of its code; "" where that has another name."""
    path = f"{one.location.rpartition('/')[0]}/{_module(one.name)}"
    return path if isinstance(scene.host.stat(path), Known) else ""


def half_extras(scene: Scene, installed: Mapping[str, Distribution]) -> Iterator[Contradiction]:
    """Libraries of an extra of which some are there for nobody else, and others are not."""
    lines = {name: value_or(requirements(scene, one), ()) for name, one in installed.items()}
    always = {_name(line) for some in lines.values() for line in some if "extra" not in line.partition(";")[2]}
    for name, some in lines.items():
        for extra in dict.fromkeys(found for line in some for found in _EXTRA.findall(line)):
            yield from _half(scene, installed, name, extra, [line for line in some if extra in line], always)


def _half(
    scene: Scene, installed: Mapping[str, Distribution], by: str, extra: str, lines: Sequence[str], always: set[str]
) -> Iterator[Contradiction]:
    wanted = {n: wish for n, wish in with_extra(scene, lines, extra) if _LIBRARIES.fullmatch(n) and n not in always}
    there = sorted(name for name in wanted if name in installed)
    lost = sorted(name for name in wanted if name not in installed)
    if not lost or len(there) < len(lost):
        return
    own = installed[by]
    effect = f"though {there[0]}{f' and {len(there) - 1} more' if there[1:] else ''} of its extra [{extra}] are there"
    for name in lost:
        file = f"{own.location}/METADATA"
        yield Contradiction(by, own.version, name, wanted[name], "", "extra", file, effect)


def asked_extras(scene: Scene, installed: Mapping[str, Distribution]) -> Iterator[Contradiction]:
    """What an extra brings, of a package whose own code failed for want of one of its distributions."""
    for tried in (one for one in value_or(scene.facts.target.imports, ()) if one.failed):
        for own in (one for one in installed.values() if _module(one.name) in _way(tried)):
            lines = value_or(requirements(scene, own), ())
            extra = _missed(own, lines, tried, installed)
            wanted = with_extra(scene, [line for line in lines if extra in _EXTRA.findall(line)], extra)
            effect, file = (
                f"and a part of it fails without it (its extra [{extra}] brings it)",
                f"{own.location}/METADATA",
            )
            for name, wants in [one for one in wanted if extra and one[0] not in installed]:
                yield Contradiction(own.name, own.version, name, wants, "", "extra", file, effect, stops=True)


def _missed(own: Distribution, lines: Sequence[str], tried: Imported, installed: Mapping[str, Distribution]) -> str:
    """The extra that brings what a failure names, or that the failure itself names: "numba-cuda[cuXY]"."""
    every = _extras(lines)
    named = re.search(rf"{re.escape(own.name)}\[(?P<begins>[a-z]+)", tried.words)
    found = [one for one in every if _brings(lines, one, tried, installed)]
    return next((one for one in (*found, *every) if one in found or (named and one.startswith(named["begins"]))), "")


def _extras(lines: Sequence[str]) -> list[str]:
    """The extras that users ask for, in their order."""
    names = dict.fromkeys(found for line in lines for found in _EXTRA.findall(line))
    return [name for name in names if not re.match("test|dev|doc|all|ci|lint|build|bench", name)]


def _brings(lines: Sequence[str], extra: str, tried: Imported, installed: Mapping[str, Distribution]) -> bool:
    """Whether an extra asks for a distribution that is not there and that a failure names: "install the …"."""
    names = [_name(line) for line in lines if extra in _EXTRA.findall(line)]
    lost = [re.escape(name) for name in names if name not in installed]
    return any(re.search(rf"(?<![\w.-]){name}(?![\w-])", tried.words) for name in lost)


def _name(line: str) -> str:
    found = re.match(r"Requires-Dist:\s*([A-Za-z0-9][\w.-]*)", line)
    return normal(found[1]) if found else ""
