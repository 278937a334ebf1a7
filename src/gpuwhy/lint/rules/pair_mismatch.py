"""A companion package for another release of its framework."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from itertools import product

from gpuwhy.knowledge import caps, limits, tables
from gpuwhy.knowledge import pairs as known_pairs
from gpuwhy.knowledge.guests import guests
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint import floors, solving
from gpuwhy.lint.demands import MANY
from gpuwhy.lint.index import from_index
from gpuwhy.lint.scope import Scope, is_pinned
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import LINUX, allowed, allows, releases_of, rows, together
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, major_minor

RULE = Rule("pair-mismatch", "error", "a companion package for another release of its framework")

_PLUGIN = re.compile(r"jax-cuda\d+-(plugin|pjrt)")


def check(scope: Scope) -> Iterator[Mistake]:
    """Companions by the harvested rows, then exact pins by the published metadata."""
    yield from _companions(scope)
    yield from _stated(scope)
    yield from _heads(scope)
    yield from _cloned(scope)
    yield from _old_jaxlib(scope)
    yield from _floored(scope)
    yield from _without_keras_2(scope)
    yield from _old_keras(scope)
    yield from _rival_plugins(scope)
    yield from _other_build(scope)


def _rival_plugins(scope: Scope) -> Iterator[Mistake]:
    """JAX's plugins for two CUDA majors in one environment."""
    found = [pin for pin in scope.pins if pin.origin == "pip" and re.fullmatch(r"jax-cuda\d+-plugin", pin.name)]
    for pin, other in itertools.combinations(found, 2):
        if pin.name != other.name and together(pin, other):
            text = f"{pin.name} (line {pin.place.line}) and {other.name} are both installed"
            fix = f"keep the one for the CUDA that the driver runs: {pin.name}, or {other.name}"
            yield RULE.mistake(other.place, f"{text}, {known_pairs.RIVAL_PLUGINS}", _RIVALS, fix)
            return


_RIVALS = tables.source("installed and started, Linux x86_64", known_pairs.RIVALS_TRIED)


def _old_keras(scope: Scope) -> Iterator[Mistake]:
    """Keras of before 2.4, which runs on TensorFlow 1, beside a TensorFlow that is left open."""
    keras = scope.names.get("keras")
    found = re.match(r"={1,2}\s*(\d+\.\d+)", keras.specifier) if keras else None
    if keras is None or found is None or at_least(found[1], "2.3"):
        return
    for pin in scope.pins:
        by_pip = keras.origin == pin.origin == "pip"  # conda's channels say themselves what an old Keras goes with
        if pin.name in ("tensorflow", "tensorflow-gpu") and by_pip and not is_pinned(pin) and together(keras, pin):
            text = f"keras {found[1]} runs on TensorFlow 1; {pin.name}{pin.specifier} takes TensorFlow 2"
            fix = "write tensorflow<2 (Python 3.7 or older), or keras>=2.4"
            yield RULE.mistake(pin.place, text, _KERAS_1, fix, "warning")
            return


_KERAS_1 = tables.source("Keras 2.3.0 release notes", "the first release that supports TensorFlow 2")


def _other_build(scope: Scope) -> Iterator[Mistake]:
    """torch of PyTorch's index for the CPU, and a torchvision of the default one, which is compiled for CUDA."""
    torch = next((p for p in _plain(scope, "torch") if p.variant == "cpu"), None)
    vision = _plain(scope, "torchvision")
    if torch is None or not vision or not all(map(_is_default, vision)):
        return
    pin = vision[0]
    alike = bool(torch.version) == bool(pin.version)  # else pip takes another torch for it
    if torch.step < pin.step and alike and from_index(scope, pin):
        text = f"torch comes from PyTorch's index for the CPU (line {torch.place.line}), torchvision from the default, "
        fix = "install torchvision with torch, from the same index"
        yield RULE.mistake(pin.place, f"{text}compiled for CUDA: torchvision::nms is missing", _BUILDS, fix)


def _plain(scope: Scope, name: str) -> list[Pin]:
    return [pin for pin in scope.pins if pin.name == name and pin.installed and not pin.arms]


def _is_default(pin: Pin) -> bool:
    return not (pin.variant or pin.indexes or pin.marker)


_BUILDS = tables.source(
    "torchvision 0.29.2 of the package index, _C_stable.so", "it needs libtorch_cuda.so and libc10_cuda.so"
)


def _without_keras_2(scope: Scope) -> Iterator[Mistake]:
    """TensorFlow Probability beside a TensorFlow with Keras 3 needs tf-keras, and only an extra of it asks for that."""
    pin = scope.by_pip("tensorflow-probability")
    if pin is None or pin.extras or pin.reference or _has_keras_2(scope):
        return
    among = [python for python in solving.pythons(scope) if at_least(python, "3.9")]
    taken = [*zip(*(solving.taken(scope, name, among) for name in ("tensorflow", pin.name)), strict=False)]
    if taken and all(at_least(tf, "2.16") and at_least(own, "0.24") for tf, own in taken):
        text = f"{pin.name} {taken[-1][1]} imports tf_keras beside TensorFlow {taken[-1][0]}, and nothing installs it"
        yield RULE.mistake(pin.place, text, limits.FLOORED, 'write "tensorflow-probability[tf]", or add tf-keras')


def _has_keras_2(scope: Scope) -> bool:
    """Whether tf-keras comes some other way, or may."""
    unknown = scope.environment.locked or scope.environment.includes_unknown or not solving.by_pip_alone(scope)
    return unknown or "tf-keras" in scope.names or scope.beside("tf-keras")


def _floored(scope: Scope) -> Iterator[Mistake]:
    """A package whose release needs a newer framework than the one that is pinned."""
    for place, package, version, row, there, since in floors.below(scope):
        text = f"{package} {version}, which pip takes, needs {row.other}>={row.floor}; {there}: {row.effect}"
        fix = f'write "{package}<{since}" (older ones take it), or {row.other} {row.floor} or newer'
        yield RULE.mistake(place, text, limits.FLOORED, fix)


def _companions(scope: Scope) -> Iterator[Mistake]:
    """torchvision for another torch, xformers for another torch …"""
    if scope.environment.forked:
        return
    for pin in scope.environment.pins:
        paired = _paired(pin) if not pin.limits and scope.is_single(pin) and not _is_undone(scope, pin) else []
        for name in sorted({name for row in paired for name in _pairs(row)} - scope.environment.overridden):
            yield from _pair(scope, pin, paired, name)


def _paired(pin: Pin) -> list[Release]:
    """The releases that a pin allows, where each of them states what it goes with."""
    conda = pin.origin == "conda" and pin.name in ("torchvision", "torchaudio")
    found = releases_of(pin) if pin.origin == "pip" or conda else ()
    paired = [row for row in found if isinstance(row.pairs, dict) and row.platform in (LINUX, "any")]
    wheels = [row for row in found if row.platform != "source"]
    return paired if len(paired) == len(wheels) and len(paired) <= MANY else []


def _pairs(row: Release) -> dict[str, str]:
    return row.pairs if isinstance(row.pairs, dict) else {}


def _pair(scope: Scope, pin: Pin, paired: list[Release], name: str) -> Iterator[Mistake]:
    called = "pytorch" if pin.origin == "conda" and name == "torch" else name
    wanted = [_pairs(row).get(name, "").split("+")[0] for row in paired]
    for other in scope.environment.pins:
        if other.name not in (called, name) or not _beside(scope, pin, other):
            continue
        choices = allowed(name, other.specifier.split("+")[0] if other.version else other.specifier)
        if not choices or any(allows(range_, row.version) for range_, row in product(wanted, choices)):
            continue
        row = paired[-1]
        asked = f"{other.name}{other.specifier} is asked for (line {other.place.line})"
        text = f"{pin.name} {row.version} goes with {other.name}{wanted[-1]}; {asked}"
        fix = f"write {other.name}{wanted[-1]}" + _fitting(pin.name, name, choices)
        yield RULE.mistake(pin.place, text, evidence_of(row, "pairs"), fix)
        return


def _beside(scope: Scope, pin: Pin, other: Pin) -> bool:
    """Whether another pin names a release, for the same installer and the same environment."""
    named = bool(other.specifier) and not other.reference and scope.is_single(other) and not _is_undone(scope, other)
    alone = pin.origin == "conda" and other.origin == "pip" and "pytorch" not in scope.names
    forge = "pytorch-gpu" in scope.names or "pytorch-cpu" in scope.names  # conda-forge's: any patch of a minor release
    same = other.origin == pin.origin and not (pin.origin == "conda" and (pin.build or forge))
    return named and (same or alone) and together(pin, other)


def _is_undone(scope: Scope, pin: Pin) -> bool:
    """Whether a later command, whatever happens, asks for the same package in another release."""
    return any(
        other.name == pin.name and other.step > pin.step and other.version not in ("", pin.version) and not other.arms
        for other in scope.environment.pins
    )


def _stated(scope: Scope) -> Iterator[Mistake]:
    """Two exact pins of which one's published metadata excludes the other: jax and its plugin, tensorflow and keras."""
    for pin, other in _exact_pairs(scope):
        wishes = [wish.partition(";")[0] for wish in _wishes(pin, other)] if together(pin, other) else []
        excluded = wishes and not any(allows(wish, other.version) for wish in wishes)
        if excluded and not _uncompared(scope, pin, other):
            yield _excluded(pin, other, wishes[-1].strip())


def _exact_pairs(scope: Scope) -> Iterator[tuple[Pin, Pin]]:
    """Two exact pins, in both orders; not what a later command installs over another, which pip then puts right."""
    kept = [p for p in scope.environment.pins if p.version and p.installed and scope.is_single(p)]
    exact = [p for p in kept if not _is_undone(scope, p)] if not scope.environment.forked else []
    free = scope.environment.overridden
    return (b for b in itertools.permutations(exact, 2) if b[0].step <= b[1].step and b[1].name not in free)


def _excluded(pin: Pin, other: Pin, wanted: str) -> Mistake:
    asked = f"{other.name}=={other.version} is asked for (line {other.place.line})"
    text = f"{pin.name} {pin.version} goes with {other.name}{wanted}; {asked}"
    fits = known_pairs.fitting(pin.name, other.name, other.version.split("+")[0])
    fix = f"write {other.name}{wanted}" + (f", or {pin.name}=={fits}" if fits else "")
    return RULE.mistake(pin.place, text, known_pairs.STATED, fix)


def _uncompared(scope: Scope, *pins: Pin) -> bool:
    """Whether pip is told to install both without their dependencies, and compares nothing."""
    commands = scope.environment.commands
    told = (0 < p.step <= len(commands) and "--no-deps" in commands[p.step - 1].words for p in pins)
    return scope.without_dependencies if scope.kind == "requirements" else all(told)


def _heads(scope: Scope) -> Iterator[Mistake]:
    """What a repository's newest state asks for, by its newest release, against what is pinned."""
    if scope.environment.forked:
        return
    exact = [p for p in scope.pins if p.version and p.origin == "pip" and not p.limits]
    for pin in scope.pins:
        found = guests(pin.name) if pin.tag == "HEAD" else []
        asks = (found[-1].asks or {}) if found else {}
        other = next((p for p in exact if _is_kept_out(p, asks.get(p.name, "")) and together(pin, p)), None)
        if other:
            yield _head(pin, other, asks[other.name])


_CLONED = (
    (re.compile(r"git clone (?!.*(-b|--branch)\b).*facebookresearch/detectron2(\.git)?( |$)"), "detectron2", "1.8"),
)
"""Projects whose newest state asserts a torch in its setup.py: the command, its name, the oldest torch."""
_ASSERTS = tables.source("facebookresearch/detectron2, setup.py", "assert torch_ver >= [1, 8]")


def _cloned(scope: Scope) -> Iterator[Mistake]:
    """A repository that is cloned as it is today, over a torch that it no longer takes."""
    torch = scope.by_pip("torch")
    version = torch.version.partition("+")[0] if torch and not torch.arms else ""
    moved = any("checkout" in command.words for command in scope.environment.commands)
    for command in scope.environment.commands if version and not moved else ():
        for pattern, name, oldest in _CLONED:
            if torch and pattern.search(command.text) and not at_least(version, oldest):
                text = f"{name} is cloned as it is today and asks for torch {oldest} or newer; torch=={torch.version}"
                text += f" is installed (line {torch.place.line})"
                place = Place(scope.environment.path, command.lines[0])
                yield RULE.mistake(place, text, _ASSERTS, f"check out a {name} of that torch's time")
                return


def _is_kept_out(pin: Pin, wanted: str) -> bool:
    """Whether a range has an upper end, and a pin lies outside."""
    return known_pairs.is_tight(wanted) and not allows(wanted, pin.version.partition("+")[0])


def _head(pin: Pin, other: Pin, wanted: str) -> Mistake:
    name = other.name
    asked = f"{name}=={other.version} is asked for (line {other.place.line})"
    text = f"{pin.name} is taken from its repository; its newest release goes with {name}{wanted}; {asked}"
    fix = f"name a release of {pin.name} for that {name} (@v…), or write {name}{wanted}"
    return RULE.mistake(pin.place, text, known_pairs.STATED, fix)


def _old_jaxlib(scope: Scope) -> Iterator[Mistake]:
    """jax without a release beside a jaxlib of long ago: jax refuses it, and its metadata did not say so then."""
    jax, jaxlib = scope.names.get("jax"), scope.names.get("jaxlib")
    if not jax or not jaxlib or jax.specifier or jax.reference or not jaxlib.version or not together(jax, jaxlib):
        return
    if not at_least(jaxlib.version.partition("+")[0], "0.4"):
        text = f"jax without a version is newer than jaxlib {jaxlib.version} (line {jaxlib.place.line}) and refuses it"
        yield RULE.mistake(jax.place, text, known_pairs.REFUSALS[0].source, "write the jax of that jaxlib's time")


def _wishes(pin: Pin, other: Pin) -> tuple[str, ...]:
    """What a pin's release states of another package, unless the harvested rows of the rule above already say it."""
    if any(isinstance(row.pairs, dict) and other.name in row.pairs for row in releases_of(pin)):
        return ()
    said = known_pairs.stated(pin.name, pin.version.partition("+")[0])
    found = said.get(other.name) or caps.PAIRS.get((pin.name, pin.version), {}).get(other.name, "")
    found = found or _by_series(pin, other)
    return (found,) if isinstance(found, str) and found else tuple(found)


def _by_series(pin: Pin, other: Pin) -> str:
    """Packages whose releases go with one series, or with their own number."""
    if pin.name == "torchcodec" and other.name == "torch":
        wanted = limits.TORCHCODEC.get(major_minor(pin.version), "")
        return f"=={wanted}.*" if wanted else ""
    return f"=={pin.version}" if other.name == "jaxlib" and _PLUGIN.fullmatch(pin.name) else ""


def _fitting(name: str, other: str, choices: tuple[Release, ...]) -> str:
    """The companion's release for the framework that was asked for."""
    for row in reversed(rows(name)):
        wanted = row.pairs.get(other) if isinstance(row.pairs, dict) and row.platform == LINUX else None
        if wanted and not row.yanked and any(allows(wanted, choice.version) for choice in choices):
            return f", or {name}=={row.version} for {other} {choices[-1].version}"
    return ""
