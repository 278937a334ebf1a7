"""Packages of one environment that do not go together."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from itertools import product

from gpuwhy.facts.version import at_least, major_minor
from gpuwhy.knowledge import asked, caps, limits
from gpuwhy.knowledge import pairs as known
from gpuwhy.knowledge.guests import guests
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint import solving
from gpuwhy.lint.mistakes import Mistake, know, mistake
from gpuwhy.lint.scope import Scope, of_gpus
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import (
    LINUX,
    Release,
    allowed,
    allows,
    is_pinned,
    releases_of,
    rows,
    together,
)

MANY = 12
_KERAS_1 = know("Keras 2.3.0 release notes", "the first release that supports TensorFlow 2")
_RIVALS = know("installed and started, Linux x86_64", known.RIVALS_TRIED)
_CLONES = know("setup.py of these projects", "assert torch_ver >= [1, 8]")
_CLONED = (
    (r"facebookresearch/detectron2", "detectron2", "1.8"),
    (r"vllm-project/vllm", "vllm", "2.8"),
)
"""Projects whose newest state needs a newer torch: repository, name, the oldest torch."""


def check(scope: Scope) -> Iterator[Mistake]:
    """Companions by the harvested rows, exact pins by published metadata, known floors."""
    yield from _companions(scope)
    yield from _stated(scope)
    yield from _heads(scope)
    yield from _floored(scope)
    yield from _old_keras(scope)
    yield from _rival_plugins(scope)


def _companions(scope: Scope) -> Iterator[Mistake]:
    """torchvision for another torch, xformers for another torch …"""
    for pin in scope.environment.pins:
        paired = _paired(pin) if not pin.limits and not _is_undone(scope, pin) else []
        names = {name for row in paired for name in row.pairs} - scope.environment.overridden
        for name in sorted(names):
            yield from _pair(scope, pin, paired, name)


def _paired(pin: Pin) -> list[Release]:
    """The releases that a pin allows, where each of them states what it goes with."""
    conda = pin.origin == "conda" and pin.name in ("torchvision", "torchaudio")
    found = releases_of(pin) if pin.origin == "pip" or conda else ()
    paired = [r for r in found if isinstance(r.pairs, dict) and r.platform in (LINUX, "any")]
    wheels = [row for row in found if row.platform != "source"]
    return paired if len(paired) == len(wheels) and len(paired) <= MANY else []


def _pair(scope: Scope, pin: Pin, paired: list[Release], name: str) -> Iterator[Mistake]:
    called = "pytorch" if pin.origin == "conda" and name == "torch" else name
    wanted = [row.pairs.get(name, "").split("+")[0] for row in paired]
    for other in scope.environment.pins:
        if other.name not in (called, name) or not _is_beside(scope, pin, other):
            continue
        choices = allowed(name, other.specifier.split("+")[0] if other.version else other.specifier)
        if not choices or any(allows(one, row.version) for one, row in product(wanted, choices)):
            continue
        row = paired[-1]
        text = f"{pin.name} {row.version} goes with {other.name}{wanted[-1]}; "
        text += f"{other.said} is asked for"
        fix = f"write {other.name}{wanted[-1]}{_fitting(pin.name, name, choices)}"
        yield mistake("pair-mismatch", pin.place, text, evidence_of(row, "pairs"), fix)
        return


def _fitting(name: str, other: str, choices: tuple[Release, ...]) -> str:
    """The companion's release for the framework that was asked for."""
    for row in reversed(rows(name)):
        wanted = row.pairs.get(other) if isinstance(row.pairs, dict) else None
        fits = wanted and any(allows(wanted, choice.version) for choice in choices)
        if fits and row.platform == LINUX and not row.yanked:
            return f", or {name}=={row.version} for {other} {choices[-1].version}"
    return ""


def _is_beside(scope: Scope, pin: Pin, other: Pin) -> bool:
    """Whether another pin names a release, for the same installer and the same environment."""
    named = bool(other.specifier) and not other.reference and not _is_undone(scope, other)
    alone = pin.origin == "conda" and other.origin == "pip" and "pytorch" not in scope.names
    forge = {"pytorch-gpu", "pytorch-cpu"} & scope.names.keys()  # any patch of a minor release
    loose = pin.origin == "conda" and (pin.build or forge)
    return named and ((other.origin == pin.origin and not loose) or alone) and together(pin, other)


def _is_undone(scope: Scope, pin: Pin) -> bool:
    """Whether a later command asks for the same package in another release."""
    pins = (one for one in scope.environment.pins if one.name == pin.name and not one.arms)
    return any(one.step > pin.step and one.version not in ("", pin.version) for one in pins)


def _stated(scope: Scope) -> Iterator[Mistake]:
    """Two exact pins of which one's published metadata excludes the other."""
    pins = (p for p in scope.environment.pins if p.version and p.installed)
    exact = [pin for pin in pins if not _is_undone(scope, pin)]
    for pin, other in itertools.permutations(exact, 2):
        if pin.step > other.step or other.name in scope.environment.overridden:
            continue
        wishes = [wish.partition(";")[0] for wish in _wishes(pin, other)]
        fits = not wishes or any(allows(wish, other.version) for wish in wishes)
        if fits or not together(pin, other) or _is_uncompared(scope, pin, other):
            continue
        wanted = wishes[-1].strip()
        text = f"{pin.name} {pin.version} goes with {other.name}{wanted}; {other.said} is asked for"
        fitting = known.fitting(pin.name, other.name, other.public)
        fix = f"write {other.name}{wanted}" + (f", or {pin.name}=={fitting}" if fitting else "")
        yield mistake("pair-mismatch", pin.place, text, known.STATED, fix)


def _wishes(pin: Pin, other: Pin) -> tuple[str, ...]:
    """What a pin's release states of another package, unless its row in the releases says it."""
    if _is_of_cuda(pin, other):
        return ()
    if any(isinstance(r.pairs, dict) and other.name in r.pairs for r in releases_of(pin)):
        return ()
    stated = known.stated(pin.name, pin.public).get(other.name, ())
    if stated:
        return stated
    found = caps.PAIRS.get((pin.name, pin.version), {}).get(other.name, "")
    if not found and pin.name == "torchcodec" and other.name == "torch":
        wanted = limits.TORCHCODEC.get(major_minor(pin.version), "")
        found = f"=={wanted}.*" if wanted else ""
    if not found and other.name == "jaxlib" and re.fullmatch(r"jax-cuda\d+-\w+", pin.name):
        found = f"=={pin.version}"
    return (found,) if found else ()


def _is_of_cuda(pin: Pin, other: Pin) -> bool:
    """Whether only the builds for CUDA ask for another package, and this one is none of them."""
    elsewhere = pin.name == "torch" and not pin.variant.startswith("cu") and bool(pin.variant)
    return elsewhere and other.name.startswith(("triton", "nvidia-", "cuda-"))


def _is_uncompared(scope: Scope, *pins: Pin) -> bool:
    """Whether pip is told to install both without their dependencies, and compares nothing."""
    return scope.without_dependencies or all(scope.is_bare(pin.step) for pin in pins)


def _heads(scope: Scope) -> Iterator[Mistake]:
    """A repository's newest state over a framework that it no longer takes."""
    exact = [pin for pin in scope.pins if pin.version and pin.origin == "pip"]
    for pin in scope.pins:
        found = guests(pin.name) if pin.tag == "HEAD" else []
        wishes = (found[-1].asks or {}) if found else {}
        for other in exact:
            wish = wishes.get(other.name, "")
            if known.is_tight(wish) and not allows(wish, other.public) and together(pin, other):
                text = f"{pin.name} is taken from its repository; its newest release goes with "
                text += f"{other.name}{wish}; {other.said} is asked for"
                fix = f"name a release of {pin.name} for that {other.name} (@v…)"
                yield mistake("pair-mismatch", pin.place, text, known.STATED, fix)
                break
    torch = next((pin for pin in exact if pin.name == "torch" and not pin.arms), None)
    version = (
        torch.public if torch else scope.base.version if scope.base.framework == "torch" else ""
    )
    said = torch.said if torch else f"torch {version} of the image"
    commands = scope.environment.commands
    if version and not any("checkout" in command.words for command in commands):
        yield from _cloned(scope, version, said)


def _cloned(scope: Scope, version: str, said: str) -> Iterator[Mistake]:
    """A repository that is cloned as it is today, and installed."""
    for command in scope.environment.commands:
        for repository, name, oldest in _CLONED:
            pattern = rf"git clone (?!.*(-b|--branch)\b).*{repository}(\.git)?( |$)"
            if re.search(pattern, command.text) and not at_least(version, oldest):
                text = f"{name} is cloned as it is today and needs torch {oldest} or newer; {said}"
                place = scope.environment.image.place if scope.environment.image else None
                place = type(place)(scope.environment.path, command.line) if place else None
                if place:
                    fix = f"check out a {name} of that torch's time"
                    yield mistake("pair-mismatch", place, text, _CLONES, fix)


def _floored(scope: Scope) -> Iterator[Mistake]:
    """A package whose release needs a newer framework than the one that is pinned."""
    if scope.environment.includes_unknown:
        return
    for package, framework in dict.fromkeys((row.package, row.other) for row in limits.FLOORS):
        names = ("tensorflow", "tensorflow-gpu", "tensorflow-cpu")
        there = scope.by_pip(*(names if framework == "tensorflow" else (framework,)))
        own = scope.by_pip(package)
        if not there or not own or not there.version or there.arms or own.reference:
            continue
        if not together(own, there):
            continue
        fitting = [one for one in scope.pythons if at_least(one, "3.9")]
        taken = list(scope.solved(package, own.step))[-len(fitting) :] if fitting else []
        found = [(version, limits.floor(package, version)) for version in taken]
        short = [(v, row) for v, row in found if row and not at_least(there.public, row.floor)]
        if short and len(short) == len(found):
            version, row = short[-1]
            text = f"{package} {version}, which pip takes, needs {row.other}>={row.floor}; "
            text += f"{there.said}: {row.effect}"
            fix = f"take an older {package}, or {row.other} {row.floor} or newer"
            yield mistake("pair-mismatch", own.place, text, limits.FLOORED, fix)


def _old_keras(scope: Scope) -> Iterator[Mistake]:
    """Keras of before 2.4, which runs on TensorFlow 1, beside a TensorFlow that is left open."""
    keras = scope.by_pip("keras")
    found = re.match(r"={1,2}\s*(\d+\.\d+)", keras.specifier) if keras else None
    pin = scope.by_pip("tensorflow", "tensorflow-gpu")
    if keras and found and not at_least(found[1], "2.3") and pin and not is_pinned(pin):
        text = (
            f"keras {found[1]} runs on TensorFlow 1; {pin.name}{pin.specifier} takes TensorFlow 2"
        )
        fix = "write tensorflow<2 (Python 3.7 or older), or keras>=2.4"
        yield mistake("pair-mismatch", pin.place, text, _KERAS_1, fix, "warning")


def _rival_plugins(scope: Scope) -> Iterator[Mistake]:
    """JAX's plugins for two CUDA majors in one environment."""
    found = [pin for pin in scope.pins if re.fullmatch(r"jax-cuda\d+-plugin", pin.name)]
    for pin, other in itertools.combinations(found, 2):
        if pin.name != other.name and together(pin, other):
            text = f"{pin.name} (line {pin.place.line}) and {other.name} are both installed"
            fix = f"keep the one for the CUDA that the driver runs: {pin.name}, or {other.name}"
            text = f"{text}, {known.RIVAL_PLUGINS}"
            yield mistake("pair-mismatch", other.place, text, _RIVALS, fix)
            return


def no_solution(scope: Scope) -> Iterator[Mistake]:
    """Demands of a GPU package that no release satisfies, on every Python."""
    if not scope.is_resolved or scope.environment.includes_unknown:
        return
    for step in dict.fromkeys(pin.step for pin in scope.pins if pin.origin == "pip"):
        pins = scope.together(step)
        if scope.is_bare(step) or scope.without_dependencies:
            continue
        found = [solving.taken(pins, python) for python in scope.pythons]
        clashes = [one.clash for one in found if not one.lacking]
        if clashes and all(clashes) and clashes[-1]:
            yield from _clashing(scope, clashes[-1], pins)


def _clashing(scope: Scope, clash: solving.Clash, pins: list[Pin]) -> Iterator[Mistake]:
    own = {pin.name: pin for pin in pins if not pin.limits}
    pin, other = own.get(clash.by), own.get(clash.name)
    told = pin and other and any(_wishes(pin, other)) and bool(pin.version and other.version)
    paired = pin and other and any(clash.name in (row.pairs or {}) for row in _paired(pin))
    if (
        not pin
        or not other
        or told
        or _is_of_cuda(pin, other)
        or paired
        or clash.name in scope.environment.overridden
    ):
        return
    if not (of_gpus(pin) or of_gpus(other)) or not other.specifier:
        return
    text = (
        f"{clash.by} {clash.version} asks for {clash.name}{clash.wish}; {other.said} is asked for"
    )
    fix = f"leave one of the two free, or ask for a set: gpuwhy plan {clash.by} {clash.name}"
    yield mistake("no-solution", pin.place, f"{text}: no release fits both", asked.SOURCE, fix)
