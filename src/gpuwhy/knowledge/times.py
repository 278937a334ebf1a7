"""Times: until when releases were published that go with a framework, where no metadata tells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, timedelta

from gpuwhy.knowledge.releases import family
from gpuwhy.knowledge.versions import major_minor

FOLLOWS, SERIES, BESIDE = timedelta(days=30), timedelta(days=120), timedelta(days=180)
"""How long after a release those come that are made for it; after the first of its series, for what is mended long
after; and how long what stands beside it still fits."""

_TOLD_BY = {"jax": "jaxlib"}
"""Packages that are published with another, whose days are known."""


def of_its_time(name: str, version: str) -> str:
    """The day until which companions of a release were published; "" where it is not known when that one was."""
    rows = family(_TOLD_BY.get(name, name))
    days = {row.version: row.uploaded for row in (rows.rows if rows else ()) if row.uploaded}
    own = days.get(version.partition("+")[0], "")
    series = [day for one, day in days.items() if major_minor(one) == major_minor(version)]
    if not own:
        return ""
    return min(_later(own, FOLLOWS), _later(min(series), SERIES))


def beside(installed: Mapping[str, str], names: Iterable[str]) -> str:
    """The day until which a package was published that came into an environment with these; "" where none is known."""
    days = [day for name in names if (day := _published(name, installed.get(name, "")))]
    return _later(max(days), BESIDE) if days else ""


def _published(name: str, version: str) -> str:
    rows = family(_TOLD_BY.get(name, name)) if version else None
    return next((row.uploaded for row in (rows.rows if rows else ()) if row.version == version.partition("+")[0]), "")


def _later(day: str, more: timedelta) -> str:
    return (date.fromisoformat(day[:10]) + more).isoformat()
