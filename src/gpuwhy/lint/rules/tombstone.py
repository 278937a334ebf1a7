"""Tensorflow-gpu after its last release."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.lint.scope import Scope
from gpuwhy.lint.versions import allowed, releases_of, rows
from gpuwhy.model.fact import Source
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.release import Release

RULE = Rule("tombstone", "error", "tensorflow-gpu after its last release")


def check(scope: Scope) -> Iterator[Mistake]:
    """tensorflow-gpu where pip takes 2.12.0, a source package that only refuses to be built."""
    for pin in scope.pins:
        found = releases_of(pin) if pin.name == "tensorflow-gpu" and pin.origin == "pip" else ()
        if not found or found[-1].platform != "source":
            continue
        last = _last_wheel()
        asked = f"tensorflow-gpu{pin.specifier}" if pin.specifier else "tensorflow-gpu without a version"
        text = f"{asked} takes {found[-1].version}, which has no wheel and only fails; {last.version} was the last one"
        know = Source("know", found[-1].file, f"sha256 {found[-1].sha256[:12]}…")
        version = pin.version if pin.version and allowed("tensorflow", pin.specifier) else ""
        fix = f'write "tensorflow[and-cuda]" (2.14 or newer), or tensorflow{"==" + version if version else "==2.11.1"}'
        yield RULE.mistake(pin.place, text, know, fix)


def _last_wheel() -> Release:
    wheels = (row for row in reversed(rows("tensorflow-gpu")) if row.platform != "source")
    return next(row for row in wheels if "rc" not in row.version)
