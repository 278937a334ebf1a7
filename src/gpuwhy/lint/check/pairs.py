"""Packages of one environment that do not go together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least
from gpuwhy.knowledge import asked, needs
from gpuwhy.knowledge import pairs as known
from gpuwhy.knowledge.guests import guests
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint.mistakes import Mistake
from gpuwhy.lint.rules import told
from gpuwhy.lint.scope import Scope, is_of_gpus
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import (
    LINUX,
    Release,
    allowed,
    allows,
    meets_one,
    releases_of,
    rows,
    solve,
    together,
)

MANY = 12


def check(scope: Scope) -> Iterator[Mistake]:
    """What releases state of each other, heads of repositories, known floors."""
    pins = [pin for pin in scope.environment.pins if not _is_undone(scope, pin)]
    for pin in pins:
        if not pin.limits and not pin.reference:
            yield from _companions(scope, pin, pins)
            if pin.version and pin.origin == "pip" and not scope.without_dependencies:
                yield from _stated(scope, pin, pins)
    yield from _heads(scope)
    if not scope.environment.includes_unknown:
        yield from _floored(scope)


def _is_undone(scope: Scope, pin: Pin) -> bool:
    """Whether a later command asks for the same package in another release."""
    pins = (one for one in scope.environment.pins if one.name == pin.name and not one.arms)
    return any(one.step > pin.step and one.version not in ("", pin.version) for one in pins)


def _companions(scope: Scope, pin: Pin, pins: list[Pin]) -> Iterator[Mistake]:
    """torchvision for another torch, xformers for another torch … by the harvested rows."""
    paired = _paired(pin)
    for name in sorted({name for row in paired for name in row.pairs}):
        wishes = [row.pairs.get(name, "").split("+")[0] for row in paired]
        for other in pins:
            called = ("pytorch", "torch") if name == "torch" else (name,)
            beside = other.name in called and _is_beside(scope, pin, other)
            if not beside or name in scope.environment.overridden:
                continue
            asked_for = other.specifier.split("+")[0] if other.version else other.specifier
            choices = allowed(name, asked_for)
            if choices and not any(meets_one(wishes, row.version) for row in choices):
                row, fitting = paired[-1], _fitting(pin.name, name, choices)
                source = evidence_of(row, "pairs")
                yield _mismatch(pin, row.version, other, wishes[-1], fitting, source)
                break


def _paired(pin: Pin) -> list[Release]:
    """The releases that a pin allows, where each of them states what it goes with."""
    conda = pin.origin == "conda" and pin.name in ("torchvision", "torchaudio")
    found = releases_of(pin) if pin.origin == "pip" or conda else ()
    paired = [r for r in found if isinstance(r.pairs, dict) and r.platform in (LINUX, "any")]
    wheels = [row for row in found if row.platform != "source"]
    return paired if len(paired) == len(wheels) and len(paired) <= MANY else []


def _is_beside(scope: Scope, pin: Pin, other: Pin) -> bool:
    """Whether another pin names a release, for the same installer and the same environment."""
    if not other.specifier or other.reference or not together(pin, other):
        return False
    if pin.origin == other.origin == "conda":  # with pytorch-gpu any patch of a minor release fits
        return not pin.build and not {"pytorch-gpu", "pytorch-cpu"} & scope.names.keys()
    return pin.origin == other.origin or (pin.origin == "conda" and "pytorch" not in scope.names)


def _fitting(name: str, other: str, choices: tuple[Release, ...]) -> str:
    """The companion's release for the framework that was asked for."""
    for row in reversed(rows(name)):
        wanted = row.pairs.get(other) if isinstance(row.pairs, dict) else None
        fits = wanted and any(allows(wanted, choice.version) for choice in choices)
        if fits and row.platform == LINUX and not row.yanked:
            return f"{name}=={row.version} for {other} {choices[-1].version}"
    return ""


def _mismatch(
    pin: Pin, version: str, other: Pin, wish: str, fitting: str, source: Source
) -> Mistake:
    fix = f"write {other.name}{wish}" + (f", or {fitting}" if fitting else "")
    values = {"said": f"{pin.name} {version}", "other": other.name, "wish": wish}
    return told("pair-mismatch", pin, source, fix=fix, values=values, asked=other.said)


def _stated(scope: Scope, pin: Pin, pins: list[Pin]) -> Iterator[Mistake]:
    """Two exact pins of which one's published metadata excludes the other."""
    for other in pins:
        exact = other.version and other.installed and other is not pin and pin.step <= other.step
        bare = scope.is_bare(pin.step) and scope.is_bare(other.step)  # pip compares nothing
        if not exact or bare or other.name in scope.environment.overridden:
            continue
        wishes = _wishes(pin, other)
        if wishes and not meets_one(wishes, other.version) and together(pin, other):
            fitting = known.fitting(pin.name, other.name, other.public)
            fitting = f"{pin.name}=={fitting}" if fitting else ""
            wish = wishes[-1].partition(";")[0].strip()
            yield _mismatch(pin, pin.version, other, wish, fitting, known.STATED)


def _wishes(pin: Pin, other: Pin) -> tuple[str, ...]:
    """What a pin's release states of another package, unless its row in the releases says it."""
    if _is_of_cuda(pin, other):
        return ()
    if any(isinstance(r.pairs, dict) and other.name in r.pairs for r in releases_of(pin)):
        return ()
    stated = known.stated(pin.name, pin.public).get(other.name, ())
    if stated:
        return stated
    found = known.unstated(pin.name, pin.version).get(other.name, "")
    if not found and (pin.name, other.name) == ("torchcodec", "torch"):
        wanted = known.torchcodec(pin.version)
        found = f"=={wanted}.*" if wanted else ""
    if other.name == "jaxlib" and re.fullmatch(r"jax-cuda\d+-\w+", pin.name):
        found = f"=={pin.version}"
    return (found,) if found else ()


def _is_of_cuda(pin: Pin, other: Pin) -> bool:
    """Whether only the builds for CUDA ask for another package, and this one is none of them."""
    elsewhere = pin.name == "torch" and not pin.variant.startswith("cu") and bool(pin.variant)
    return elsewhere and other.name.startswith(("triton", "nvidia-", "cuda-"))


def _heads(scope: Scope) -> Iterator[Mistake]:
    """A repository's newest state over a framework that it no longer takes."""
    for pin in scope.pins:
        found = guests(pin.name) if pin.tag == "HEAD" else []
        wishes = (found[-1].asks or {}) if found else {}
        for other in scope.pins:
            wish = wishes.get(other.name, "") if other.version and other.origin == "pip" else ""
            if known.is_tight(wish) and not allows(wish, other.public) and together(pin, other):
                values = {"other": other.name, "wish": wish, "asked": other.said}
                yield told("pair-mismatch.head", pin, known.STATED, values=values)
                break


def _floored(scope: Scope) -> Iterator[Mistake]:
    """A package whose release needs a newer framework than the one that is pinned."""
    floors = needs.needs("floor")
    for package, framework in dict.fromkeys((row.package, row.other) for row in floors):
        flavours = ("tensorflow-gpu", "tensorflow-cpu") if framework == "tensorflow" else ()
        there, own = scope.by_pip(framework, *flavours), scope.by_pip(package)
        if not there or not own or not there.version or there.arms or own.reference:
            continue
        fitting = [one for one in scope.pythons if at_least(one, "3.9")]
        if not fitting or not together(own, there):
            continue
        taken = list(scope.solved(package, own.step))[-len(fitting) :]
        found = [(version, needs.floor(package, version)) for version in taken]
        short = [(v, row) for v, row in found if row and not at_least(there.public, row.floor)]
        if short and len(short) == len(found):
            version, row = short[-1]
            values = {"other": row.other, "floor": row.floor, "effect": row.because}
            values |= {"version": version, "asked": there.said}
            yield told("pair-mismatch.floor", own, row.source, values=values)


def no_solution(scope: Scope) -> Iterator[Mistake]:
    """Demands of a GPU package that no release satisfies, on every Python."""
    stage = scope.environment
    if (
        stage.other_index
        or scope.kind == "notebook"
        or stage.includes_unknown
        or scope.without_dependencies
    ):
        return
    for step in dict.fromkeys(pin.step for pin in scope.pins if pin.origin == "pip"):
        pins = scope.together(step) if not scope.is_bare(step) else []
        found = [solve(pins, python) for python in scope.pythons]
        clashes = [one.clash for one in found if not one.lacking]
        clash = clashes[-1] if clashes and all(clashes) else None
        if not clash or clash.name in stage.overridden:
            continue
        own = {pin.name: pin for pin in pins if not pin.limits}
        pin, other = own.get(clash.by), own.get(clash.name)
        if (
            not pin
            or not other
            or not other.specifier
            or not (is_of_gpus(pin.name) or is_of_gpus(other.name))
        ):
            continue
        compared = pin.version and other.version and _wishes(pin, other)
        paired = any(clash.name in (row.pairs or {}) for row in _paired(pin))
        if not compared and not paired and not _is_of_cuda(pin, other):
            yield told("no-solution", pin, asked.SOURCE, **clash._asdict(), asked=other.said)
