"""A release that its makers withdrew."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.lint.index import next_release
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.versions import releases_of, rows
from gpuwhy.model.fact import Source
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("yanked", "warning", "a release that its makers withdrew")


def check(scope: Scope) -> Iterator[Mistake]:
    """Yanked, or no longer on the index."""
    for pin in scope.environment.pins:
        elsewhere = pin.local or pin.backend  # the marks are those of the default index
        found = releases_of(pin) if pin.version and pin.origin == "pip" and not elsewhere else ()
        gone = all(row.gone for row in found)
        if not found or not (gone or all(row.yanked for row in found)):
            continue
        said = "is no longer on the package index" if gone else "was yanked by its makers"
        near = next_release(pin.name, pin.version) or _newest(pin.name)
        know = Source("know", found[-1].file, f"sha256 {found[-1].sha256[:12]}…; marked so on the index")
        text, fix = f"{pin.name} {pin.version} {said}", f"write {pin.name}=={near}"
        yield RULE.mistake(pin.place, text, know, fix, "error" if gone else None)


def _newest(name: str) -> str:
    """The newest release that can be had."""
    sound = (row.version for row in reversed(rows(name)) if not row.yanked and not row.gone)
    return next((version for version in sound if "rc" not in version), "")
