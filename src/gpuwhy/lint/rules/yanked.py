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
        if not found or not (all(r.yanked for r in found) or all(r.gone for r in found)):
            continue
        gone = all(row.gone for row in found)
        said = "is no longer on the package index" if gone else "was yanked by its makers"
        good = next(
            (r.version for r in reversed(rows(pin.name)) if not r.yanked and not r.gone and "rc" not in r.version), ""
        )
        near = next_release(pin.name, pin.version) or good
        know = Source("know", found[-1].file, f"sha256 {found[-1].sha256[:12]}…; marked so on the index")
        yield RULE.mistake(
            pin.place,
            f"{pin.name} {pin.version} {said}",
            know,
            f"write {pin.name}=={near}",
            "error" if gone else None,
        )
