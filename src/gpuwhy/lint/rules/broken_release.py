"""A release that does not work as it was published."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import caps
from gpuwhy.knowledge.installs import gpu_requirement
from gpuwhy.lint.scope import TENSORFLOW, Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import LINUX, allowed, parsed
from gpuwhy.model.lint import Mistake, Rule, Severity

RULE = Rule("broken-release", "error", "a release that does not work as it was published")


def check(scope: Scope) -> Iterator[Mistake]:
    """Releases with a known flaw, where it hurts: TensorFlow's are flaws of the GPU part alone, in Linux' wheels."""
    if scope.for_windows:
        return
    for pin in scope.pins:
        row = scope.taken(pin) if pin.name in TENSORFLOW and pin.origin == "pip" and not pin.variant else None
        flaw = _flaw(scope, pin, row.version) if row and _gpu_wanted(scope, pin) else None
        if row is None or flaw is None:
            continue
        fix = f'write "{_good(pin, row.version, flaw)}"'
        if flaw.cure:
            fix += f", or add its folder: LD_LIBRARY_PATH=…/site-packages/nvidia/{flaw.cure}/lib"
        taken = "" if pin.version else f" (which {pin.name}{pin.specifier} takes)"
        severity: Severity = "error" if pin.version else "warning"
        yield RULE.mistake(pin.place, f"{pin.name} {row.version}{taken}: {flaw.text}", flaw.source, fix, severity)


def _flaw(scope: Scope, pin: Pin, version: str) -> caps.Flaw | None:
    """What is wrong with a release here: for every Python, or for the one that is named; None where it is cured."""
    flaw, pythons = caps.BROKEN.find(pin.name, version), scope.environment.pythons
    if flaw is None and len(pythons) == 1 and pythons[0] in caps.BROKEN.pythons(pin.name, version):
        flaw = next(row for row in caps.BROKEN.rows if (row.package, row.version) == (pin.name, version))
    if flaw is None or _cured(scope, flaw.cure):
        return None
    extra_only = "and-cuda" in flaw.text
    return None if extra_only and "and-cuda" not in pin.extras else flaw


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
