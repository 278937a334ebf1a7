"""An image made for a framework, and another build of it installed over it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.containers import Base
from gpuwhy.knowledge.tables import source
from gpuwhy.lint import ending
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import allows
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("image-overridden", "warning", "an image made for a framework, and another build of it installed over it")

_OVER = source("pip", "replaces the image's build with the one from the index")


def check(scope: Scope) -> Iterator[Mistake]:
    """Another build of the framework that the image was made for."""
    base = scope.base
    if base.family not in ("ngc", "pytorch", "tensorflow", "aws") or not base.framework:
        return
    yield from _unasked(scope)
    keeps = " (pip install --constraint keeps the image's build)" if base.family == "ngc" else ""
    for pin in scope.environment.pins:
        over = pin.name == base.framework and not pin.limits and pin.origin == "pip" and _replaces(pin, base)
        if over and not _is_gone(scope, pin) and not scope.is_explained(pin.place, _ON_PURPOSE):
            own = f"{base.framework} {base.version}" if base.version else f"a {base.framework} of its own"
            text = f"image {base.name} holds {own}, and {pin.name}{pin.specifier} is installed over it"
            fix = f"remove {pin.name} from what is installed, or start from a plain image{keeps}"
            yield RULE.mistake(pin.place, text, _OVER, fix)


_ON_PURPOSE = re.compile(
    r"(replac|overrid|overwrit|re-?install|upgrad|downgrad|uninstall|remov|instead|swap|newer|older|match|pin)\w*\b.{0,120}"
    r"(torch|tensorflow|image|ngc|container|version|build|wheel)",
    re.IGNORECASE,
)
"""A comment that says that the image's build is replaced."""


def _is_gone(scope: Scope, pin: Pin) -> bool:
    """Whether the image's own was taken away before."""
    return any(pin.name in ending.gone(scope, step) for step in range(1, pin.step))


def _unasked(scope: Scope) -> Iterator[Mistake]:
    """A package that brings another framework than the image's, on every Python that may be."""
    name, found = scope.base.framework, ending.ends(scope)
    changes = [next((c for c in end.changes if c.name == name and c.before.pin is None), None) for end in found]
    last = changes[-1] if changes and all(changes) and name in ("tensorflow", "torch") else None
    pin = _culprit(scope, last.after.pin, name) if last and last.after.pin else None
    if last and pin:
        said = f"{name} {last.after.version} in the place of {last.before.version} of image {scope.base.name}"
        fix = f"pin {pin.name} to the release for {name} {last.before.version}"
        yield RULE.mistake(pin.place, f"{pin.name} brings {said}", _OVER, fix)


def _culprit(scope: Scope, pin: Pin, name: str) -> Pin | None:
    """The pin that wants another release; where the framework is named without one, a neighbour that asks for more."""
    if pin.name != name:
        return pin if name == "tensorflow" or not pin.specifier else None  # torch-replaced tells of the others
    beside = (p for p in scope.pins if p.step == pin.step and p.name in _ASKING and name in scope.asks(p))
    return next(beside, None) if not pin.specifier else None


_ASKING = frozenset(
    ["kornia", "accelerate", "diffusers", "torchmetrics", "lightning", "pytorch-lightning", "peft", "timm"]
)


def _replaces(pin: Pin, base: Base) -> bool:
    """Whether a pin asks for another build than the image's; of NVIDIA's images every release is another build."""
    own = "a0+" in pin.version or pin.local.startswith("nv")  # NVIDIA's own builds, as the image has them
    if base.family == "ngc" and own:
        return False
    if base.version and allows(pin.specifier.split("+")[0], base.version) and _is_same_build(pin, base):
        return False
    return bool(pin.specifier if base.family == "ngc" else base.version)


def _is_same_build(pin: Pin, base: Base) -> bool:
    """Whether a pin leaves the build open, or names the one for the image's own CUDA."""
    return pin.local in ("", "cu" + base.cuda.replace(".", ""))
