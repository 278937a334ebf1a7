"""A pinned framework that a later command replaces."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.guests import is_guest
from gpuwhy.knowledge.releases import family
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import together
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("pin-undone", "warning", "a pinned package that a later command replaces")

_KNOW = source("pip install --upgrade", "takes the newest release of what is named, whatever is installed")


def check(scope: Scope) -> Iterator[Mistake]:
    """pip install -U transformers after transformers==4.51.3; torch==1.1.0 after the wheel of torch 0.4.0."""
    if scope.kind not in ("dockerfile", "script", "singularity", "cog") or scope.environment.locked:
        return
    for pin in scope.pins:
        before = _pinned_before(scope, pin)
        if before and (_is_upgraded(scope, pin) or _is_other(pin, before)):
            takes = f"{pin.name}=={pin.version}" if pin.version else f"the newest {pin.name}"
            text = f"{takes} replaces {before.name} {before.version} (line {before.place.line}{_of(before, pin)})"
            yield RULE.mistake(_place(scope, pin), text, _KNOW, f"name {pin.name} once, with the version that is meant")
            return


def _pinned_before(scope: Scope, pin: Pin) -> Pin | None:
    """The pin of the same package in an earlier command, where both are of the GPU stack."""
    ours = is_guest(pin.name) or family(pin.name) is not None
    earlier = [p for p in scope.pins if p.name == pin.name and 0 < p.step < pin.step and p.version and together(p, pin)]
    return earlier[-1] if ours and earlier and pin.origin == "pip" and not pin.arms else None


def _is_upgraded(scope: Scope, pin: Pin) -> bool:
    commands = scope.environment.commands
    words = commands[pin.step - 1].words if 0 < pin.step <= len(commands) else ()
    return (
        not pin.specifier and not pin.reference and bool({"-U", "--upgrade"} & set(words)) and "--no-deps" not in words
    )


def _is_other(pin: Pin, before: Pin) -> bool:
    """Another exact release, of a framework itself."""
    plain, old = pin.version.partition("+")[0], before.version.partition("+")[0]
    return bool(plain) and plain != old and pin.name in ("torch", "tensorflow", "tensorflow-gpu", "jax", "jaxlib")


def _of(before: Pin, pin: Pin) -> str:
    return "" if before.place.path == pin.place.path else f" of {before.place.path.rsplit('/', 1)[-1]}"


def _place(scope: Scope, pin: Pin) -> Place:
    """The command of this file that installs it, also from another one."""
    commands = scope.environment.commands
    elsewhere = pin.place.path != scope.environment.path and 0 < pin.step <= len(commands)
    return Place(scope.environment.path, commands[pin.step - 1].lines[0]) if elsewhere else pin.place
