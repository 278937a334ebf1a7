"""A release that its makers withdrew."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.lint.index import next_release
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import LINUX, releases_of, rows
from gpuwhy.model.fact import Source
from gpuwhy.model.lint import Mistake, Rule, Severity
from gpuwhy.model.release import Release

RULE = Rule("yanked", "warning", "a release that its makers withdrew")


def check(scope: Scope) -> Iterator[Mistake]:
    """Yanked, or no longer on the index."""
    for pin in scope.environment.pins:
        exact = pin.version and pin.origin == "pip" and not pin.variant  # the marks are those of the default index
        found = releases_of(pin) if exact else ()
        if found and all(row.gone for row in found):
            yield _mistake(pin, found[-1], "is no longer on the package index", "error")
        elif found and all(row.yanked for row in found) and not _is_by_accident(pin, found):
            yield _mistake(pin, found[-1], "was yanked by its makers", None)


def _is_by_accident(pin: Pin, found: tuple[Release, ...]) -> bool:
    """Whether a release is of Python alone, and the later ones are not: withdrawn lest a newer Python falls to it.

    Whoever names it gets it all the same, on the Python that it was for.
    """
    return all(row.platform == "any" for row in found) and any(row.platform == LINUX for row in rows(pin.name))


def _mistake(pin: Pin, row: Release, said: str, severity: Severity | None) -> Mistake:
    near = next_release(pin.name, pin.version) or _newest(pin.name)
    know = Source("know", row.file, f"sha256 {row.sha256[:12]}…; marked so on the index")
    return RULE.mistake(pin.place, f"{pin.name} {pin.version} {said}", know, f"write {pin.name}=={near}", severity)


def _newest(name: str) -> str:
    """The newest release that can be had."""
    sound = (row.version for row in reversed(rows(name)) if not row.yanked and not row.gone)
    return next((version for version in sound if "rc" not in version), "")
