"""A release that the package index does not have."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.releases import family
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.index import JUDGED, from_index, next_release
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.versions import allows, parsed, rows
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("no-such-release", "error", "a release that the package index does not have")


def check(scope: Scope) -> Iterator[Mistake]:
    """A number between the oldest and the newest release that nobody published."""
    for pin in scope.environment.pins:
        name = pin.name
        if name not in JUDGED or name == "jax" or not pin.version or not from_index(scope, pin):
            continue
        asked, known = parsed(pin.version), rows(name)
        if (
            not known
            or asked is None
            or asked.is_prerelease
            or asked.local
            or any(allows(pin.specifier, r.version) for r in known)
        ):
            continue
        oldest, newest = parsed(known[0].version), parsed(known[-1].version)
        if oldest and newest and oldest < asked < newest:
            near = next_release(name, pin.version)
            header = family(name)
            seen = header.header.newest if header else ""
            know = source("files of the package index", f"read up to {seen}")
            text = f"{name} {pin.version} is not on the package index"
            yield RULE.mistake(pin.place, text, know, f"write {name}=={near}")
