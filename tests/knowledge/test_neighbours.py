"""Neighbours: what was seen of a pair says something of the releases it covers, and nothing of others."""

import pytest

from gpuwhy.knowledge import needs, tried
from gpuwhy.knowledge.tried import Pair


def seen(version: str, on: str, outcome: str, **more: str | bool) -> Pair:
    about = "jax" if outcome == "fails" else ""
    base = {"host": "jax", "package": "flax", "python": "3.11", "date": "2026-11-16", "forced": False, "about": about}
    return Pair(version=version, on=on, outcome=outcome, **{**base, **more})  # type: ignore[arg-type]


TABLE = (
    seen("0.7.5", "0.12.0", "fails"),
    seen("0.7.5", "0.5.3", "fails"),
    seen("0.7.5", "0.4.30", "imports"),
    seen("0.8.5", "0.12.0", "imports"),
    seen("0.6.11", "0.12.0", "fails", about=""),
    seen("0.9.0", "0.12.0", "fails", raised="chex", release="0.1.7"),
    seen("0.10.7", "0.4.30", "fails", forced=True),
)


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tried, "pairs", lambda: TABLE)
    tried._failures.cache_clear()
    yield
    tried._failures.cache_clear()


@pytest.mark.parametrize(
    ("package", "version", "on", "wants"),
    [
        ("flax", "0.7.5", "0.12.0", "<0.5.3"),
        ("flax", "0.7.2", "0.6.2", "<0.5.3"),  # an older patch, a framework between two that were tried
        ("flax", "0.7.5", "0.4.30", ""),
        ("flax", "0.7.5", "0.4.38", ""),  # between what works and what fails
        ("flax", "0.7.6", "0.12.0", ""),  # a newer patch may be mended
        ("flax", "0.8.5", "0.12.0", ""),
        ("flax", "0.6.11", "0.12.0", ""),  # the error was not of jax
        ("flax", "0.9.0", "0.12.0", ""),  # chex failed, not flax
        ("chex", "0.1.7", "0.12.0", "<0.12.0"),  # and was not seen to work with any
        ("chex", "0.1.4", "0.12.0", ""),  # another step of a package that has patches only
        ("flax", "0.10.7", "0.12.0", ""),  # forced: no limit
    ],
)
def test_broken(package: str, version: str, on: str, wants: str) -> None:
    found = tried.broken(package, version, "jax", on)
    assert (found.wants if found else "") == wants


def test_a_forced_pair_is_told_for_its_own_releases_and_a_broken_one_is_a_limit() -> None:
    assert tried.forced("flax", "0.10.7", "jax", "0.4.30") == TABLE[-1]
    assert tried.forced("flax", "0.10.7", "jax", "0.5.3") is None
    (row,) = needs.limits("flax", "0.7.5")
    assert (row.requirement, row.source.detail[:10]) == ("jax<0.5.3", "flax 0.7.5")
    assert row.because == "its import was seen to fail beside jax 0.5.3, and to work beside 0.4.30"
    assert needs.limits("flax", "") == ()


def test_the_shipped_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row of the framework's own doing has its error; no path of a machine is in it; works end before fails."""
    monkeypatch.undo()
    tried._failures.cache_clear()
    rows = tried.pairs()
    assert all(row.error and row.release for row in rows if row.outcome == "fails")
    assert not [row for row in rows if "/root" in row.error or "/work" in row.error]
    for row in rows:
        if row.outcome == "fails" and row.about and not row.forced:
            name, version = row.subject
            assert tried.broken(name, version, row.host, row.on), row
