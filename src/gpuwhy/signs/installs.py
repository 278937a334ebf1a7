"""Installed packages that write over each other, do not fit, or are not the ones imported."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from gpuwhy.facts.fact import Absent, Known, Source, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, know, saw
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.imports import Ended
from gpuwhy.facts.installs import Basis, Conflict, Contradiction, Shadow, Share
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.knowledge.installs import EXACT_PLUGIN, gpu_flavour, wheel_of
from gpuwhy.knowledge.modules import FRAMEWORK_MODULES
from gpuwhy.knowledge.packages import flavour, library_wheel
from gpuwhy.knowledge.pairs import allows, plugin_left_aside, refusal
from gpuwhy.signs.case import (
    Case,
    Row,
    against,
    and_more,
    noted,
    otherwise,
    proof,
    release,
    rows,
    slows,
    strong,
    table,
    weak,
)
from gpuwhy.signs.expect import gpu_present, installed

# ---------------------------------------------------------------- install.conflict

_SHARE = "{owners} write the same {files}"
_FRAGILE = f"{_SHARE}; removing or updating one of them breaks the other"


def flavours_overwrite(case: Case) -> Finding | None:
    """Two flavours of one framework: bad when the one without CUDA won, fragile otherwise."""
    facts = case.facts
    found = sorted(flavour_conflicts(facts), key=lambda one: not _lost_its_gpu(facts, one))
    if not found:
        return None
    first, values = found[0], _conflict_values(found[0])
    if _lost_its_gpu(facts, first) and not isinstance(gpu_present(facts), Absent):
        text = f"{_SHARE} of {{module}}; the build without CUDA was written last"
        return proof(text, _on_disk(first), **values)
    if of_two_series(first):
        files = "; the files are those of {winner}" if values["winner"] else ""
        text = f"{_SHARE}{files}, and the other is installed in name only"
        return slows(strong(text, _on_disk(first), **values))
    return weak(_FRAGILE, _on_disk(first), **values)


def wheels_overwrite(case: Case) -> Finding | None:
    """Two wheels of one library: bad for a framework of another CUDA major than the winner."""
    facts = case.facts
    found = _alike(facts, _wheel_kind)
    if isinstance(gpu_present(facts), Absent) or not found:
        return None
    for one in found:
        framework = _wronged(facts, one)
        if framework is None:
            continue
        mixed = len(_shares(one)) > 1
        built = value_or(framework.built_for_cuda, "")
        won = "{winner} lie mixed" if mixed else "{winner} was written last"
        return (proof if mixed else strong)(
            f"{_SHARE}; {won}, and {{framework}}, built for CUDA {{cuda}}, loads from there",
            _on_disk(one),
            saw(f"{framework.title} is built for CUDA {built}", framework.built_for_cuda),
            framework=release(framework),
            cuda=built,
            **_conflict_values(one),
        )
    return weak(_FRAGILE, _on_disk(found[0]), **_conflict_values(found[0]))


def _conflict_values(one: Conflict) -> dict[str, object]:
    file = f"file {one.example.rpartition('-packages/')[2]}"
    return {
        "owners": tuple(str(owner) for owner in one.owners),
        "files": f"{one.files} files" if one.files > 1 else file,
        "module": _module_of(one),
        "winner": " and ".join(str(share.owner) for share in _shares(one)),
    }


def _on_disk(one: Conflict) -> Evidence:
    winners = " and ".join(str(share.owner) for share in _shares(one))
    return saw(f"on disk: {winners or 'one of them'}", Source("file", one.example))


def _shares(one: Conflict) -> tuple[Share, ...]:
    """Whose files are on disk, as their RECORDs tell; files of several lie side by side after an
    installer that works in parallel.
    """
    return value_or(one.winners, ())


def _module_of(one: Conflict) -> str:
    """The import name that flavours share."""
    kinds = (flavour(owner.name) for owner in one.owners)
    return next((kind.module for kind in kinds if kind), one.module)


def _alike(facts: Facts, kind: Callable[[str], str]) -> list[Conflict]:
    """Conflicts whose owners are of one kind."""
    found = []
    for one in facts.installs.conflicts.need() or ():
        kinds = list(filter(None, (kind(owner.name) for owner in one.owners)))
        found += [one] if len(kinds) > 1 and len(set(kinds)) == 1 else []
    return found


def _flavour_kind(package: str) -> str:
    kind = flavour(package)
    return kind.module if kind else ""


def _wheel_kind(package: str) -> str:
    wheel = library_wheel(package)
    return wheel[0] if wheel else ""


def flavour_conflicts(facts: Facts) -> list[Conflict]:
    """Conflicts between flavours of one framework: tensorflow and tensorflow-cpu."""
    return _alike(facts, _flavour_kind)


def of_two_series(one: Conflict) -> bool:
    """Whether the owners are of different minor releases."""
    return len({major_minor(owner.version) for owner in one.owners if owner.version}) > 1


def in_name_only(facts: Facts) -> frozenset[str]:
    """Flavours over one another in different series: what their metadata requires is void."""
    found = flavour_conflicts(facts) if isinstance(facts.installs.conflicts, Known) else []
    return frozenset(owner.name for one in found if of_two_series(one) for owner in one.owners)


def _lost_its_gpu(facts: Facts, one: Conflict) -> bool:
    """What is on disk has no CUDA, and one of the owners would have it."""
    if not gpu_flavour(tuple(owner.name for owner in one.owners)):
        return False
    winners = _shares(one)
    won = flavour(winners[0].owner.name) if len(winners) == 1 else None
    if won is not None:
        return not won.cuda
    for framework in facts.frameworks.installed.need() or ():
        if framework.name == _module_of(one) and isinstance(framework.gpu_build, Known):
            return not framework.gpu_build.value
    return False


def _wronged(facts: Facts, one: Conflict) -> Framework | None:
    """A framework of another CUDA major than the winner's that loads from the shared folder."""
    winners = _shares(one)
    won = library_wheel(winners[0].owner.name) if winners else None
    if won is None or won[0] != "nvidia-cudnn":
        return None
    folder = one.example.rpartition("/")[0]
    needs = facts.loads.needs.need() or ()
    users = {n.framework for n in needs if value_or(n.path, "").rpartition("/")[0] == folder}
    for framework in facts.frameworks.installed.need() or ():
        built = numbers(value_or(framework.built_for_cuda, ""))
        if framework.name in users and built and (len(winners) > 1 or built[0] != won[1]):
            return framework
    return None


# ---------------------------------------------------------------- env.shadowed

_OWN_FOLDERS = ("script folder", "working folder")
_BY = {
    "script folder": "the script's folder",
    "working folder": "the working folder",
    "PYTHONPATH": "PYTHONPATH",
    "user site": "the user's site-packages",
}


def shadowed(case: Case) -> Finding | None:
    """The first one is said; one of a framework, or of what a framework needs, stops it."""
    facts = case.facts
    found = sorted(_that_matter(facts.installs.shadows.need() or ()), key=_shadow_order)
    if not found:
        return None
    first = found[0]
    names = [one.module for one in found[1:] if one.module != first.module]
    template = _shadow_text(first) + ("; {more} likewise" if names else "")
    evidence = dict.fromkeys(one for shadow in found[:3] for one in _shadow_evidence(shadow))
    mine = first.via == "script folder" or bool(first.other_python)
    certain = mine or facts.run.failed
    known = first.module in FRAMEWORK_MODULES
    harmless = isinstance(facts.run.exit, Known) and not facts.run.failed and not known
    finding = (weak if harmless else proof if certain else strong)(
        template, *evidence, **_shadow_values(first), more=and_more(names, 3)
    )
    stops = not _own_module(first) and (known or first.other_python)
    return finding if harmless or stops or first.wanted_by else slows(finding)


def _that_matter(found: Sequence[Shadow]) -> list[Shadow]:
    """Those that change something: not a second copy of the same release."""
    return [one for one in found if not (one.version and one.version == one.meant)]


def borrowed(facts: Facts, path: str) -> bool:
    """Whether a file lies in a folder that comes before the environment."""
    found = value_or(facts.installs.shadows, ())
    before = [one for one in _that_matter(found) if one.via not in _OWN_FOLDERS]
    return any(path.startswith(f"{one.path.rpartition('/')[0]}/") for one in before)


def borrowed_packages(facts: Facts) -> frozenset[str]:
    """The packages that lie in such a folder, and not in the environment."""
    packages = value_or(facts.environment.packages, ())
    return frozenset(one.name for one in packages if borrowed(facts, one.location))


def _shadow_order(one: Shadow) -> tuple[bool, bool]:
    """Frameworks first, then what is known to be of another release."""
    framework = one.module in FRAMEWORK_MODULES or one.wanted_by is not None
    return not framework, not one.version


def _own_module(one: Shadow) -> bool:
    """A compiled module of the program's own, which only another Python takes."""
    return one.path.endswith(".so") and not one.instead and not one.standard


def _shadow_values(one: Shadow) -> dict[str, Any]:
    meant = f"{one.module} {one.meant}" if one.meant else f"the installed {one.module}"
    return {
        "path": one.path,
        "module": one.module,
        "name": f"{one.module} {one.version}".rstrip(),
        "meant": f"Python's own {one.module}" if one.standard else meant,
        "by": _BY.get(one.via, f"a line in {one.file or 'a .pth file'}"),
        "python": one.other_python,
        "wanted_by": str(one.wanted_by or ""),
        "wants": one.wants,
        "folder": one.path.rpartition("/")[0],
    }


def _shadow_text(one: Shadow) -> str:
    """What is imported, why it comes first, and what was meant."""
    if _own_module(one):
        user = ", which {wanted_by} does" if one.wanted_by else ""
        made = "Python {python}" if one.other_python[:1].isdigit() else "{python}"
        text = f"{{path}} is compiled for {made}, and this Python ignores it: "
        return f"{text}import {{module}} fails{user}"
    if not one.instead and not one.standard:
        return (
            "{by} puts {folder} on Python's path: {name} there was compiled for Python {python}, "
            "and the environment has none of its own, so that its import fails"
        )
    if one.via in _OWN_FOLDERS:
        return "{path} is imported instead of {meant}: it has its name, and {by} comes first"
    made = ", which was installed for Python {python}," if one.other_python else ""
    refused = ", and {wanted_by} requires {module}{wants}" if one.wanted_by else ""
    return f"{{by}} puts {{path}} first: {{name}}{made} is imported instead of {{meant}}{refused}"


def _shadow_evidence(one: Shadow) -> list[Evidence]:
    made = f"made for Python {one.other_python}" if _own_module(one) else ""
    out = [saw(made or f"imported as {one.module}", Source("file", one.path))]
    if one.instead:
        meant = f"{one.module} {one.meant}".rstrip()
        out.append(saw(f"meant: {meant}", Source("folder", one.instead)))
    if one.via == "PYTHONPATH":
        here = Source("env", "PYTHONPATH")
        out.append(saw("PYTHONPATH comes before the environment", here))
    elif one.file:
        out.append(saw("puts a folder on Python's path", Source("file", one.file)))
    return out


# ---------------------------------------------------------------- install.inconsistent

_SHOWN = 4
_OF_THE_GPU = re.compile(
    r"triton|torch|jax|cupy|numba|llvmlite|tensorrt|nvidia-|cuda-|xformers|flash-attn"
)
_STACK = re.compile(rf"{_OF_THE_GPU.pattern}|onnx|keras|numpy$")
_FRAMEWORKS = ("tensorflow", "torch", "jax", "jaxlib", "onnxruntime", "paddlepaddle", "mxnet")


def contradicted(case: Case) -> Finding | None:
    """The first contradiction is said, and how many others there are."""
    facts = case.facts
    found = sorted(_unexplained(facts), key=lambda one: (not one.stack, _only_stated(one)))
    if not found:
        return None
    first = found[0]
    template, values = _said(first), _values(first)
    more = len({(one.by.name, one.name) for one in found}) - 1
    if more:
        values["more"] = more
        several = "pairs of packages do not fit" if more > 1 else "does not"
        template += f"; {{more}} more {several}"
    evidence = [e for one in found[:_SHOWN] for e in _evidence(facts, one)]
    unique = tuple(dict.fromkeys(evidence))
    if not first.stack or (_only_stated(first) and _imported_well(facts)):
        return noted(weak(template, *unique, **values))
    finding = (proof if _certain(facts, first) else strong)(template, *unique, **values)
    return finding if first.stops else slows(finding)


def consistent(case: Case) -> Finding | None:
    """What rules it out."""
    case.facts.installs.contradictions.need()
    return against("the installed releases meet what they require of each other")


def _imported_well(facts: Facts) -> bool:
    """Whether everything that was imported was imported well, and something was."""
    tried = [one for one in value_or(facts.imports.tried, ()) if not one.without.name]
    well = any(one.ended is Ended.WELL for one in tried)
    return well and not any(one.failed or one.ended is Ended.TIMED_OUT for one in tried)


def _unexplained(facts: Facts) -> list[Contradiction]:
    """Without what misses symbols of the framework, and what is none of the environment."""
    found = facts.installs.contradictions.need() or ()
    broken = {one.owner.name for one in value_or(facts.loads.extensions, ()) if one.count}
    aside = in_name_only(facts) | borrowed_packages(facts)
    left = [one for one in found if one.by.name not in aside]
    left = [one for one in left if not (one.name == "torch" and one.by.name in broken)]
    wheels = any(one.basis is Basis.NO_WHEEL for one in left)
    missed = _missed_later(facts) if wheels else frozenset()
    return [one for one in left if _counts(facts, one, missed)]


def _counts(facts: Facts, one: Contradiction, missed: Collection[str]) -> bool:
    """A missing wheel counts where its library is missed, a late import not at all."""
    if one.basis is Basis.NO_WHEEL:
        return one.name in missed
    if _beyond_a_pin(one) and _imported_well(facts):
        return False
    return one.basis is not Basis.LATE


def _is_bare(one: Contradiction, gpu: re.Pattern[str]) -> bool:
    """Whether it is no more than a statement in metadata, of a package without GPU code."""
    if one.basis is not Basis.STATED or one.effect or one.stops:
        return False
    known = flavour(one.name) is not None or one.name in _FRAMEWORKS
    return not (one.installed and (known or gpu.match(one.name)))


def _only_stated(one: Contradiction) -> bool:
    return _is_bare(one, _OF_THE_GPU)


def _beyond_a_pin(one: Contradiction) -> bool:
    """Whether metadata merely does not allow a slightly newer release without GPU code."""
    newer = (_little_newer(clause.strip(), one.installed) for clause in one.wants.split(","))
    return bool(one.installed) and _is_bare(one, _STACK) and all(newer)


def _little_newer(clause: str, version: str) -> bool:
    """Whether a clause allows a version, or names an older one of the same series."""
    named = clause.lstrip("<>=~! ").removesuffix(".*")
    has, limit = numbers(version), numbers(named)
    deep = 1 if has[:1] != (0,) else 2
    new_series = clause.startswith("<") and not any(limit[deep:])  # where a series begins
    same = has[:deep] == limit[:deep] and has >= limit and not new_series
    return allows(clause, version) or (same and not clause.startswith(("!", ">")))


def _missed_later(facts: Facts) -> frozenset[str]:
    """The wheels of what a framework opens only when it first needs it, and will not find."""
    if isinstance(gpu_present(facts), Absent):
        return frozenset()
    built = {one.name: value_or(one.built_for_cuda, "") for one in installed(facts)}
    majors = {name: next(iter(numbers(cuda)), None) for name, cuda in built.items()}
    needs = value_or(facts.loads.needs, ())
    lost = [one for one in needs if one.optional and isinstance(one.path, Absent)]
    return frozenset(wheel_of(one.name, majors.get(one.framework)) for one in lost)


_SAYS: dict[Basis, str] = {
    Basis.OTHER_CUDA: "{by} {effect}",
    Basis.SAME_RELEASE: "{by} was built with {name} {by_version}; {installed} is installed"
    "{comma_effect}",
    Basis.UNSTATED: "{by} needs {name}{wants}{in_brackets}; {installed} is installed",
    Basis.LATE: "{by} needs {name}{wants}{in_brackets}; {installed} is installed",
}
_REQUIRES = "{by} requires {name}{wants}; {installed} is installed{comma_effect}"


def _said(one: Contradiction) -> str:
    """Who, what it requires, what is installed, what then happens."""
    if one.basis is Basis.NO_WHEEL:
        return "{by} requires {name}{wants}; neither it nor its library is installed"
    if not one.installed and one.basis in (Basis.UNSTATED, Basis.LATE):
        return "{by} needs {name}{wants} and does not state it{in_brackets}; it is not installed"
    if not one.installed:
        return "{by} requires {name}{wants}, which is not installed{comma_effect}"
    return _SAYS.get(one.basis, _REQUIRES)


def _values(one: Contradiction) -> dict[str, Any]:
    return {
        "by": str(one.by),
        "by_version": one.by.version,
        "name": one.name,
        "wants": one.wants,
        "installed": one.installed,
        "effect": one.effect,
        "comma_effect": f", {one.effect}" if one.effect else "",
        "in_brackets": f" ({one.effect})" if one.effect else "",
    }


def _certain(facts: Facts, one: Contradiction) -> bool:
    """Whether it is known what happens: the package checks it, or its code does."""
    if one.basis in (Basis.EXTRA, Basis.SAME_RELEASE):
        jaxlib = facts.environment.by_name.get("jaxlib")
        aside = plugin_left_aside(jaxlib.version if jaxlib else "0")
        return aside or bool(refusal(one.by.name, one.name))
    return one.stops


def _evidence(facts: Facts, one: Contradiction) -> list[Evidence]:
    stated = one.basis in (Basis.STATED, Basis.EXTRA)
    wants = f"{one.name}{one.wants}" if stated else str(one.by)
    out = [saw(wants, Source("file", one.file))]
    if one.installed:
        out.append(saw(f"installed: {one.name} {one.installed}", facts.environment.packages))
    known = refusal(one.by.name, one.name)
    if one.source:
        text = f"{one.by} needs {one.name}{one.wants}"
        out.append(know(text, Source("know", one.source)))
    elif known is not None:
        out.append(table(f"{one.by} with another {one.name}: {known.effect}", known.source))
    elif one.by.name.startswith("jax-cuda") or one.name.startswith("jax-cuda"):
        out.append(table(EXACT_PLUGIN.text, EXACT_PLUGIN.source))
    return out


SIGNS = (
    *rows("install.conflict", "machine", flavours_overwrite, wheels_overwrite),
    otherwise(
        "install.conflict",
        "machine",
        "no two GPU packages write the same files",
        "installs.conflicts",
    ),
    *rows("env.shadowed", "machine", shadowed),
    otherwise("env.shadowed", "machine", "the installed modules come first", "installs.shadows"),
    *rows("install.inconsistent", "machine", contradicted),
    Row("install.inconsistent", "machine", consistent, last=True),
)
