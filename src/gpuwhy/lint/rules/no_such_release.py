"""A release that the package index does not have."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.releases import family
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.index import JUDGED, from_index, next_release
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import allows, parsed, rows
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("no-such-release", "error", "a release that the package index does not have")


def check(scope: Scope) -> Iterator[Mistake]:
    """A number between the oldest and the newest release that nobody published."""
    for pin in scope.environment.pins:
        name = pin.name
        judged = name in JUDGED and name != "jax" and pin.version and from_index(scope, pin)
        if judged and _is_gap(pin):
            known = family(name)
            know = source("files of the package index", f"read up to {known.header.newest if known else ''}")
            text = f"{name} {pin.version} is not on the package index"
            yield RULE.mistake(pin.place, text, know, f"write {name}=={next_release(name, pin.version)}")


def _is_gap(pin: Pin) -> bool:
    """Whether the release lies between those that are known, and is none of them."""
    asked, known = parsed(pin.version), rows(pin.name)
    if not known or asked is None or asked.is_prerelease or asked.local:
        return False
    oldest, newest = parsed(known[0].version), parsed(known[-1].version)
    if pin.name == "jaxlib" and oldest is not None and asked < oldest:
        return True  # its makers took the older ones from the index
    within = oldest is not None and newest is not None and oldest < asked < newest
    return within and not any(allows(pin.specifier, row.version) for row in known)
