"""An image made for a framework, and another build of it installed over it."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.containers import Base
from gpuwhy.knowledge.tables import source
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
    keeps = " (pip install --constraint keeps the image's build)" if base.family == "ngc" else ""
    for pin in scope.environment.pins:
        if pin.name == base.framework and not pin.limits and pin.origin == "pip" and _replaces(pin, base):
            own = f"{base.framework} {base.version}" if base.version else f"a {base.framework} of its own"
            text = f"image {base.name} holds {own}, and {pin.name}{pin.specifier} is installed over it"
            fix = f"remove {pin.name} from what is installed, or start from a plain image{keeps}"
            yield RULE.mistake(pin.place, text, _OVER, fix)


def _replaces(pin: Pin, base: Base) -> bool:
    """Whether a pin asks for another build than the image's; of NVIDIA's images every release is another build."""
    if base.family == "ngc" and "a0+" in pin.version:  # NVIDIA's own builds, as the image has them
        return False
    if base.version and allows(pin.specifier.split("+")[0], base.version) and not pin.local:
        return False
    return bool(pin.specifier if base.family == "ngc" else base.version)
