"""Twice: a distribution with two metadata folders, as an interrupted upgrade leaves it, and whose files are there."""

from __future__ import annotations

from collections.abc import Sequence

from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import Damage, Distribution
from gpuwhy.observe.scene import Scene

IN_THE_WAY = "metadata in the way"
"""A second folder of a package that the words of a failed import name."""
MOST = 200  # lines of a RECORD that are asked for


def real_first(scene: Scene, found: Sequence[Distribution]) -> list[Distribution]:
    """The distributions of one folder in their order; of those that are there twice, the one with its files first."""
    names = [one.name for one in found]
    twice = {name for name in names if names.count(name) > 1}
    if not twice:
        return list(found)
    best = {name: max((d for d in found if d.name == name), key=lambda d: _present(scene, d)) for name in twice}
    return sorted(found, key=lambda d: d.name in best and best[d.name] is not d)


def _present(scene: Scene, one: Distribution) -> tuple[float, str]:
    """The share of its listed files that are there in their size; a newer release where both have all."""
    lines = value_or(scene.host.lines(f"{one.location}/RECORD", "sha256="), ())[:MOST]
    site = one.location.rpartition("/")[0]
    there = [_as_listed(scene, site, line) for line in lines if ".dist-info/" not in line]
    return (sum(there) / len(there) if there else 0.0), one.version


def _as_listed(scene: Scene, site: str, line: str) -> bool:
    path, _, size = [*line.rsplit(",", 2), "", ""][:3]
    stat = scene.host.stat(f"{site}/{path.strip(chr(34))}")
    return isinstance(stat, Known) and str(stat.value.size) == size.strip()


def left_over(found: Sequence[Distribution]) -> list[Distribution]:
    """The metadata folders that stand behind another of the same distribution in the same folder."""
    seen: set[tuple[str, str]] = set()
    out = []
    for one in found:
        key = (one.name, one.location.rpartition("/")[0])
        if key in seen:
            out.append(one)
        seen.add(key)
    return out


def damage_of(scene: Scene, found: Sequence[Distribution], ours: Sequence[Distribution]) -> list[Damage]:
    """Each left-over folder, as damage of the release whose files are there."""
    first = {d.name: d for d in reversed(found)}
    return [
        Damage(d.location, f"{d.name} {first[d.name].version}", _what(scene, d), first[d.name].version, d.version)
        for d in left_over(found)
        if d in ours and d.version != first[d.name].version
    ]


def _what(scene: Scene, one: Distribution) -> str:
    """A folder without a list claims no file: only installers and version checks read it."""
    listed = not isinstance(scene.host.stat(f"{one.location}/RECORD"), Absent)
    return "second metadata" if listed else "unlisted metadata"
