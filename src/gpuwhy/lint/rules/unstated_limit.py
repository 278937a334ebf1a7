"""A NumPy or protobuf newer than a release can use, which it does not forbid."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import caps
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import allows, parsed, together
from gpuwhy.model.lint import Mistake, Rule, Severity

RULE = Rule("unstated-limit", "error", "a NumPy or protobuf newer than a release can use, which it does not forbid")

_NEWER = {"numpy": ("2.0.2", "2.2.6", "2.3.5"), "protobuf": ("4.25.8", "5.29.5", "6.33.0")}


_OLDER = {"numpy": ("1.16.6", "1.19.5", "1.21.6", "1.24.4", "1.26.4"), "protobuf": ("3.8.0", "3.19.6", "3.20.3")}


def check(scope: Scope) -> Iterator[Mistake]:
    """A NumPy or protobuf that a release cannot use, and does not forbid."""
    if scope.environment.forked:
        return
    for pin in scope.pins:
        row = scope.taken(pin) if pin.origin == "pip" else None
        for cap in caps.caps(_framework(pin.name), row.version) if row else ():
            name, _, limit = cap.requirement.partition("<")
            other = next((p for p in scope.pins if p.name == name and together(pin, p)), None)
            if row and other and name in _NEWER and _beyond(scope, other, f"<{limit}"):
                asked = f"{name}{other.specifier}" if other.specifier else f"{name} without a limit"
                text = f"{pin.name} {row.version} needs {cap.requirement}; {asked} lets newer ones in: {cap.because}"
                severity: Severity = "error" if _forces(other, f"<{limit}") else "warning"
                yield RULE.mistake(other.place, text, cap.source, f'write "{cap.requirement}"', severity)


def _framework(name: str) -> str:
    return {"tensorflow-gpu": "tensorflow"}.get(name, name)


def _forces(pin: Pin, limit: str) -> bool:
    """Whether a pin allows nothing within a limit."""
    return not any(
        allows(f"{pin.specifier},{limit}".strip(","), version) for version in (*_OLDER[pin.name], pin.version)
    )


def _beyond(scope: Scope, pin: Pin, limit: str) -> bool:
    """Whether the newest one that a pin allows is past a limit; NumPy 2 needs Python 3.9."""
    if pin.version:
        return parsed(pin.version) is not None and not allows(limit, pin.version)
    pythons = scope.environment.pythons
    if pin.name == "numpy" and pythons and all(p in ("3.6", "3.7", "3.8") for p in pythons):
        return False
    return any(allows(pin.specifier, version) and not allows(limit, version) for version in _NEWER[pin.name])
