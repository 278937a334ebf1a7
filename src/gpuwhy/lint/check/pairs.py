"""Packages of one environment that do not go together."""

import re
from collections.abc import Iterator

from gpuwhy.facts.version import at_least
from gpuwhy.knowledge import needs
from gpuwhy.knowledge import pairs as known
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint.mistakes import Mistake
from gpuwhy.lint.scope import Scope, told
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import LINUX, Release, allowed, allows, meets_one, rows

MANY = 12


def check(scope: Scope) -> Iterator[Mistake]:
    """What releases state of each other, by their rows or their metadata."""
    pins = []
    for pin in scope.environment.pins:  # without those that a later command replaces
        same = (p for p in scope.environment.pins if p.name == pin.name)
        if not any(p.step > pin.step and p.version not in ("", pin.version) for p in same):
            pins.append(pin)
    for pin in pins:
        if pin.limits or pin.reference:
            continue
        paired = _paired(pin)
        names = {name for row in paired for name in row.pairs}
        for other in pins:
            name = "torch" if other.name == "pytorch" else other.name
            if name in scope.environment.overridden or not pin.beside(other):
                continue
            if name in names and _is_beside(scope, pin, other):
                yield from _by_rows(pin, other, name, paired)
            elif pin.version and pin.origin == "pip":
                yield from _by_metadata(scope, pin, other)


def _paired(pin: Pin) -> list[Release]:
    """The releases that a pin allows, where each of them states what it goes with."""
    conda = pin.origin == "conda" and pin.name in ("torchvision", "torchaudio")
    found = pin.releases if pin.origin == "pip" or conda else ()
    paired = [r for r in found if isinstance(r.pairs, dict) and r.platform in (LINUX, "any")]
    wheels = [row for row in found if row.platform != "source"]
    return paired if len(paired) == len(wheels) and len(paired) <= MANY else []


def _is_beside(scope: Scope, pin: Pin, other: Pin) -> bool:
    """Whether another pin names a release, for the same installer."""
    if not other.specifier or other.reference:
        return False
    if pin.origin == other.origin == "conda":  # with pytorch-gpu any patch of a minor release fits
        return not pin.build and not {"pytorch-gpu", "pytorch-cpu"} & scope.names.keys()
    return pin.origin == other.origin or (pin.origin == "conda" and "pytorch" not in scope.names)


def _by_rows(pin: Pin, other: Pin, name: str, paired: list[Release]) -> Iterator[Mistake]:
    """torchvision for another torch, xformers for another torch …"""
    wishes = [row.pairs.get(name, "").split("+")[0] for row in paired]
    choices = allowed(name, other.specifier.split("+")[0] if other.version else other.specifier)
    if not choices or any(meets_one(wishes, row.version) for row in choices):
        return
    newest, instead = choices[-1].version, ""
    for row in rows(pin.name):  # the companion's release for the framework that was asked for
        wanted = row.pairs.get(name) if isinstance(row.pairs, dict) else None
        fits = wanted and any(allows(wanted, choice.version) for choice in choices)
        if fits and row.platform == LINUX and not row.yanked:
            instead = f", or {pin.name}=={row.version} for {name} {newest}"
    said, source = f"{pin.name} {paired[-1].version}", evidence_of(paired[-1], "pairs")
    values = {"said": said, "other": other.name, "wish": wishes[-1], "asked": other.said}
    fix = f"write {other.name}{wishes[-1]}{instead}"
    yield told("pair-mismatch", pin, source, fix=fix, values=values)


def _by_metadata(scope: Scope, pin: Pin, other: Pin) -> Iterator[Mistake]:
    """Two exact pins of which one's published metadata excludes the other."""
    bare = scope.is_bare(pin.step) and scope.is_bare(other.step)  # pip compares nothing
    if not (other.version and other.installed) or pin.step > other.step or bare:
        return
    wishes = _wishes(pin, other)
    if wishes and not meets_one(wishes, other.version):
        fitting = known.fitting(pin.name, other.name, other.public)
        wish = wishes[-1].partition(";")[0].strip()
        fix = f"write {other.name}{wish}" + (f", or {pin.name}=={fitting}" if fitting else "")
        values = {"said": f"{pin.name} {pin.version}", "other": other.name, "wish": wish}
        yield told("pair-mismatch", pin, known.STATED, fix=fix, values=values, asked=other.said)


def _wishes(pin: Pin, other: Pin) -> tuple[str, ...]:
    """What a pin's release states of another package, unless its row in the releases says it."""
    if _is_of_cuda(pin, other):
        return ()
    if any(isinstance(r.pairs, dict) and other.name in r.pairs for r in pin.releases):
        return ()
    found = known.unstated(pin.name, pin.version).get(other.name, "")
    if not found and (pin.name, other.name) == ("torchcodec", "torch"):
        wanted = known.torchcodec(pin.version)
        found = f"=={wanted}.*" if wanted else ""
    if other.name == "jaxlib" and re.fullmatch(r"jax-cuda\d+-\w+", pin.name):
        found = f"=={pin.version}"
    stated = known.stated(pin.name, pin.public).get(other.name, ())
    return stated or ((found,) if found else ())


def _is_of_cuda(pin: Pin, other: Pin) -> bool:
    """Whether only the builds for CUDA ask for another package, and this one is none of them."""
    elsewhere = pin.name == "torch" and not pin.variant.startswith("cu") and bool(pin.variant)
    return elsewhere and other.name.startswith(("triton", "nvidia-", "cuda-"))


def floors(scope: Scope) -> Iterator[Mistake]:
    """A package whose release needs a newer framework than the one that is pinned."""
    known_ones = needs.needs("floor") if not scope.environment.includes_unknown else ()
    for package, framework in dict.fromkeys((row.package, row.other) for row in known_ones):
        flavours = ("tensorflow-gpu", "tensorflow-cpu") if framework == "tensorflow" else ()
        there, own = scope.by_pip(framework, *flavours), scope.by_pip(package)
        if not there or not own or not there.version or own.reference:
            continue
        fitting = [one for one in scope.pythons if at_least(one, "3.9")]
        if not fitting or not own.beside(there):
            continue
        taken = list(scope.solved(package, own.step))[-len(fitting) :]
        found = [(version, needs.floor(package, version)) for version in taken]
        short = [(v, row) for v, row in found if row and not at_least(there.public, row.floor)]
        if short and len(short) == len(found):
            version, row = short[-1]
            values = {"other": row.other, "floor": row.floor, "effect": row.because}
            values |= {"version": version, "asked": there.said}
            yield told("pair-mismatch.floor", own, row.source, values=values)
