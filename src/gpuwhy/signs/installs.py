"""install.inconsistent: installed releases that do not work with each other."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from gpuwhy.facts.fact import Absent, Source, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, know, saw
from gpuwhy.facts.imports import Ended
from gpuwhy.facts.installs import Basis, Contradiction, Damage, DamageKind
from gpuwhy.facts.version import numbers
from gpuwhy.knowledge.flavours import flavour
from gpuwhy.knowledge.installs import EXACT_PLUGIN, wheel_of
from gpuwhy.knowledge.pairs import allows, plugin_left_aside, refusal
from gpuwhy.signs.case import Case, Row, against, noted, proof, rows, slows, strong, weak
from gpuwhy.signs.conflicts import in_name_only
from gpuwhy.signs.expect import gpu_present, installed
from gpuwhy.signs.shadows import borrowed_packages
from gpuwhy.signs.words import table

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
    if gone := _source_gone(facts, found):
        template += "; {link} leads to {target}, which does not exist any more"
        values.update(link=gone.path, target=gone.expected)
        evidence.insert(0, saw(f"leads to {gone.expected}", Source("file", gone.path)))
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
    if one.basis is Basis.OTHER_CUDA and one.by.name == "bitsandbytes":
        return not isinstance(gpu_present(facts), Absent)  # without a GPU it uses the CPU
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


def _source_gone(facts: Facts, found: list[Contradiction]) -> Damage | None:
    """A file that adds a folder which is gone, where a framework is not found."""
    lacking = any(one.stops and not one.installed for one in found)
    if not lacking or installed(facts):
        return None
    damage = value_or(facts.installs.damage, ())
    return next((one for one in damage if one.kind is DamageKind.SOURCE_GONE), None)


# ---------------------------------------------------------------- in words

_SAYS: dict[Basis, str] = {
    Basis.OTHER_CUDA: "{by} {effect}",
    Basis.COMPILED: "{by} was compiled for NumPy 1; {name} {installed} is installed{comma_effect}",
    Basis.RIVAL: "{by} and {name} {installed} are installed together, {effect}",
    Basis.GENERATED: "{by} contains code generated for {name}{wants}; {installed} is installed"
    "{comma_effect}",
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
    return one.stops and one.basis is not Basis.COMPILED


def _evidence(facts: Facts, one: Contradiction) -> list[Evidence]:
    stated = one.basis in (Basis.STATED, Basis.EXTRA)
    words = {Basis.COMPILED: "names numpy.core, and not numpy._core"}
    words[Basis.GENERATED] = "the generated code"
    wants = words.get(one.basis, f"{one.name}{one.wants}" if stated else str(one.by))
    out = [saw(wants, Source("file", one.file))]
    if one.installed:
        out.append(saw(f"installed: {one.name} {one.installed}", facts.environment.packages))
    known = refusal(one.by.name, one.name)
    if one.source:
        text = "one plugin at a time" if one.basis is Basis.RIVAL else f"{one.by} needs {one.name}"
        out.append(know(f"{text}{one.wants}", Source("know", one.source)))
    elif known is not None:
        out.append(table(f"{one.by} with another {one.name}: {known.effect}", known.source))
    elif one.by.name.startswith("jax-cuda") or one.name.startswith("jax-cuda"):
        out.append(table(EXACT_PLUGIN.text, EXACT_PLUGIN.source))
    return out


SIGNS = (
    *rows("install.inconsistent", "machine", contradicted),
    Row("install.inconsistent", "machine", consistent, last=True),
)
