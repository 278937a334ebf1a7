"""Rows: what is written, one JSON line per release and platform, the same bytes for the same input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from packaging.utils import InvalidSdistFilename, parse_sdist_filename
from packaging.version import InvalidVersion, Version

from tools.harvest.crawl import Release
from tools.harvest.families import Family
from tools.harvest.index import IndexFile
from tools.harvest.journal import Journal
from tools.harvest.reading import FIELDS, HOW, Reading
from tools.harvest.tags import is_stable, python_order

SCHEMA = "gpuwhy.knowledge.releases/1"
Row = dict[str, Any]


def row(release: Release, journal: Journal) -> Row | None:
    """One release on one platform; None where its file has not been read."""
    tagged, reader = release.tagged, release.family.reader
    known = journal.get(tagged.file.sha256, reader.version)
    if known is None:
        return None
    reading, deep = known
    out: Row = {"name": tagged.project, "version": tagged.version, "platform": tagged.platform}
    out["pythons"] = sorted({p for w in release.wheels for p in w.pythons}, key=python_order)
    out["systems"] = sorted({s for w in release.wheels for s in w.systems})
    times = [w.file.uploaded for w in release.wheels if w.file.uploaded]
    if times:
        out["uploaded"] = min(times)[:10]
    if all(w.file.yanked for w in release.wheels):
        out["yanked"] = True
    for field in FIELDS:
        if field in reading.values:
            out[field] = reading.values[field]
    out["file"], out["sha256"] = tagged.file.name, tagged.file.sha256
    out["evidence"] = {field: reading.evidence[field] for field in FIELDS if field in reading.evidence}
    if deep:
        out["deep"] = True
    return out


def source_rows(project: str, files: list[IndexFile], wheels: set[tuple[str, str]], prereleases: bool) -> list[Row]:
    """Releases that exist as source archives alone: nothing is read of them but name, date and hash."""
    out: dict[str, Row] = {}
    for file in files:
        try:
            version = str(parse_sdist_filename(file.name)[1])
        except (InvalidSdistFilename, InvalidVersion):
            continue
        if (project, version) in wheels or not (prereleases or is_stable(version)):
            continue
        one: Row = {"name": project, "version": version, "platform": "source", "pythons": [], "systems": []}
        one |= {"uploaded": file.uploaded[:10]} if file.uploaded else {}
        one |= {"yanked": True} if file.yanked else {}
        out[version] = {**one, "file": file.name, "sha256": file.sha256, "evidence": {}}
    return list(out.values())


def write_index(folder: Path) -> None:
    """Project → family file, from the family files that are there."""
    found = {}
    for path in sorted(folder.glob("*.jsonl")):
        found.update({one["name"]: path.stem for one in load(path)[1]})
    text = json.dumps(dict(sorted(found.items())), indent=0, ensure_ascii=False)
    (folder / "index.json").write_text(text + "\n", encoding="utf-8")
    newest = max((load(path)[0].get("newest", "") for path in folder.glob("*.jsonl")), default="")
    (folder / "newest.json").write_text(json.dumps({"newest": newest}) + "\n", encoding="utf-8")


def seed(path: Path, family: Family, journal: Journal) -> None:
    """Take the readings of a published family file into the journal, as far as this reader made them."""
    header, rows = load(path)
    if header.get("reader") == family.reader.version:
        for one in (r for r in rows if r["platform"] != "source"):
            reading = Reading()
            reading.values = {field: one[field] for field in FIELDS if field in one}
            reading.evidence = dict(one["evidence"])
            journal.seed(one["sha256"], one["file"], family.reader.version, reading, one.get("deep", False))


def load(path: Path) -> tuple[Row, list[Row]]:
    """A family file: header and rows; empty where there is none."""
    if not path.exists():
        return {}, []
    lines = path.read_text(encoding="utf-8").splitlines()
    return json.loads(lines[0]), [json.loads(line) for line in lines[1:]]


def write(path: Path, family: Family, fresh: list[Row], unread: set[tuple[str, str, str]], version: str) -> int:
    """Write a family file; rows of files that have left the index are kept and marked."""
    if not fresh and not path.exists():
        return 0
    _, old = load(path)
    have = {_key(one) for one in fresh}
    for one in old:
        if _key(one) not in have:
            fresh.append(one if _key(one) in unread else {**one, "gone": True})
    fresh.sort(key=lambda one: _order(one, family))
    newest = max((one.get("uploaded", "") for one in fresh), default="")
    hows = sorted({text.partition("@")[0] for one in fresh for text in one["evidence"].values()})
    header = {
        "schema": SCHEMA,
        "family": family.name,
        "generator": f"tools/harvest {version}",
        "reader": family.reader.version,
        "newest": newest,
        "releases": len({(one["name"], one["version"]) for one in fresh}),
        "rows": len(fresh),
        "how": {how: list(HOW[how]) for how in hows},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(one, separators=(",", ":"), ensure_ascii=False) for one in (header, *fresh)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(fresh)


def _key(one: Row) -> tuple[str, str, str]:
    return one["name"], one["version"], one["platform"]


def _order(one: Row, family: Family) -> tuple[int, str, Version, str]:
    place = family.projects.index(one["name"]) if one["name"] in family.projects else len(family.projects)
    return place, one["name"], Version(one["version"]), one["platform"]
