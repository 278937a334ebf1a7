"""A release that does not work as it was published."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import caps
from gpuwhy.knowledge.installs import gpu_requirement
from gpuwhy.lint.scope import TENSORFLOW, Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import LINUX, allowed, parsed
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("broken-release", "error", "a release that does not work as it was published")


def check(scope: Scope) -> Iterator[Mistake]:
    """Releases with a known flaw, where it hurts: TensorFlow's are flaws of the GPU part alone."""
    for pin in scope.pins:
        row = scope.taken(pin) if pin.name in TENSORFLOW and pin.origin == "pip" and not pin.variant else None
        if row is None or not _gpu_wanted(scope, pin):
            continue
        flaw = caps.BROKEN.find(pin.name, row.version)
        pythons = scope.environment.pythons
        if flaw is None and len(pythons) == 1 and pythons[0] in caps.BROKEN.pythons(pin.name, row.version):
            flaw = next(r for r in caps.BROKEN.rows if (r.package, r.version) == (pin.name, row.version))
        extra_only = flaw is not None and "and-cuda" in flaw.text
        if flaw is None or (extra_only and "and-cuda" not in pin.extras) or _cured(scope, flaw.cure):
            continue
        exact = "error" if pin.version else "warning"
        taken = "" if pin.version else f" (which {pin.name}{pin.specifier} takes)"
        fix = f'write "{_good(pin, row.version, flaw)}"'
        if flaw.cure:
            fix += f", or add its folder: LD_LIBRARY_PATH=…/site-packages/nvidia/{flaw.cure}/lib"
        text = f"{pin.name} {row.version}{taken}: {flaw.text}"
        yield RULE.mistake(pin.place, text, flaw.source, fix, exact)  # type: ignore[arg-type]


def _gpu_wanted(scope: Scope, pin: Pin) -> bool:
    return "and-cuda" in pin.extras or (bool(scope.gpu_meant) and not scope.gpu_framework(*TENSORFLOW))


def _cured(scope: Scope, cure: str) -> bool:
    path = scope.environment.variables.get("LD_LIBRARY_PATH")
    exported = [v for c in scope.environment.commands for n, v in c.assigned if n == "LD_LIBRARY_PATH"]
    system = scope.base.family in ("cuda", "pytorch", "ngc", "tensorflow") and scope.base.variant != "base"
    return bool(cure) and (system or any(cure in text for text in [path.value if path else "", *exported]))


def _good(pin: Pin, version: str, flaw: caps.Flaw) -> str:
    """The nearest release without a flaw: the next one, else the one before."""
    stable = [r for r in allowed(pin.name, "") if r.platform == LINUX and not caps.BROKEN.find(pin.name, r.version)]
    asked = parsed(version)
    later = [r for r in stable if asked and (found := parsed(r.version)) and found > asked]
    chosen = (later[0] if later else stable[-1]).version
    return gpu_requirement("tensorflow", pin.name, chosen, None) or f"{pin.name}=={chosen}"
