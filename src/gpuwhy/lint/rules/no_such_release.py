"""A release that the package index does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.version import Version

from gpuwhy.knowledge import published
from gpuwhy.knowledge.releases import family
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.index import JUDGED, from_elsewhere, from_index, next_release
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import allows, parsed, rows
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("no-such-release", "error", "a release that the package index does not have")


def check(scope: Scope) -> Iterator[Mistake]:
    """A number between the oldest and the newest release that nobody published."""
    yield from _beside(scope)
    for pin in scope.environment.pins:
        name = pin.name
        judged = name in JUDGED and name != "jax" and pin.version and from_index(scope, pin) and not _for_long(pin)
        if judged and _is_gap(pin):
            known = family(name)
            know = source("files of the package index", f"read up to {known.header.newest if known else ''}")
            text = f"{name} {pin.version} is not on the package index"
            yield RULE.mistake(pin.place, text, know, f"write {name}=={next_release(name, pin.version)}")


def _for_long(pin: Pin) -> bool:
    """Whether PyTorch's page of long-term releases is named, which has some that the index never had (1.8.2)."""
    return any("/lts/" in index.url for index in pin.indexes)


def _beside(scope: Scope) -> Iterator[Mistake]:
    """Packages beside the frameworks: a number that was never published, or one past the newest."""
    for pin in scope.pins if scope.for_gpus and not scope.environment.locked else ():
        if pin.name in (*JUDGED, "pytorch") or not pin.installed or pin.variant or from_elsewhere(scope, pin):
            continue
        newest = max((v for v in published.releases(pin.name) if not v.is_prerelease), default=None)
        if pin.version and published.is_missing(pin.name, pin.version):
            text = f"{pin.name} {pin.version} is not on the package index"
            yield RULE.mistake(pin.place, text, published.SOURCE, f"write a release that there is, as {_there(pin)}")
        elif newest and (floor := _floor(pin)) and floor.release[:2] > newest.release[:2]:
            text = f"{pin.name}{pin.specifier}: the package index had nothing newer than {newest}"
            fix = f"write {_SINCE.get(pin.name, f'{pin.name}>={newest}')}"
            yield RULE.mistake(pin.place, text, published.SOURCE, fix, "warning")


def _there(pin: Pin) -> Version:
    """The newest release; a trial version where there are no others."""
    return max(published.releases(pin.name), key=lambda one: (not one.is_prerelease, one))


_SINCE = {"faiss": "faiss-cpu, or faiss-gpu-cu12: its newer releases are there"}
"""Packages that go on under other names."""


def _floor(pin: Pin) -> Version | None:
    """The release that a pin asks for at least."""
    found = re.match(r"(?:>=|==|~=)\s*(\d[\w.]*)", pin.specifier)
    return parsed(found[1]) if found else None


_ENDED = ("tensorflow-gpu",)
"""Packages that will have no newer release."""


def _is_gap(pin: Pin) -> bool:
    """Whether the release lies between those that are known, and is none of them."""
    asked, known = parsed(pin.version), rows(pin.name)
    if not known or asked is None or asked.local:
        return False
    if asked.is_prerelease:
        return _is_dropped(pin, asked)
    oldest, newest = parsed(known[0].version), parsed(known[-1].version)
    if pin.name == "jaxlib" and oldest is not None and asked < oldest:
        return True  # its makers took the older ones from the index
    if pin.name in _ENDED and newest is not None and asked > newest:
        return True
    within = oldest is not None and newest is not None and oldest < asked < newest
    return within and not any(allows(pin.specifier, row.version) for row in known)


def _is_dropped(pin: Pin, asked: Version) -> bool:
    """Whether a trial version is gone: the index dropped those of TensorFlow 2.5 and older."""
    return not asked.is_devrelease and not pin.indexes and published.is_missing(pin.name, pin.version)
