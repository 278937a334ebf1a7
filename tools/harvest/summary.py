"""What a harvest brought, for the person who reviews it: `python -m tools.harvest.summary BEFORE AFTER [--log FILE]`.

BEFORE and AFTER are folders of family files (knowledge/data/releases). Prints Markdown: what wants a second look, then
the new releases. A second look want values of published files that changed (they should not), releases that are gone or
withdrawn, GPU architectures and Pythons that came or went, CUDA versions whose driver nobody wrote down, fields that
could be read in the release before and not in this one, files that were not read. `--title` prints one line alone.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from gpuwhy.knowledge import drivers

Key = tuple[str, str, str]
Row = dict[str, Any]
READ = ("cuda", "cudnn", "sass", "ptx", "requires", "opens", "ships", "pairs", "also", "pythons", "sha256")
"""What was read from a file, which does not change once it is published (`pythons` grows: files are added)."""
ASKED = ("cuda", "cudnn", "sass", "opens")
MOST = 60


def rows_of(folder: Path) -> dict[Key, Row]:
    """Every row of every family file, by project, version and platform."""
    out: dict[Key, Row] = {}
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_bytes().splitlines()[1:]:
            row: Row = msgspec.json.decode(line)
            out[row["name"], row["version"], row["platform"]] = row
    return out


def title(before: dict[Key, Row], after: dict[Key, Row]) -> str:
    """The summary in one line."""
    new = {key[:2] for key in after if key not in before} - {key[:2] for key in before}
    projects = {name for name, _ in new}
    changed = sum(1 for _ in changes(before, after))
    dates = [str(row.get("uploaded", "")) for row in after.values()]
    parts = [f"{len(new)} new releases of {len(projects)} projects"] if new else ["no new release"]
    parts += [f"{changed} values changed"] if changed else []
    return f"Knowledge up to {max(dates, default='?')}: {', '.join(parts)}"


def summary(before: dict[Key, Row], after: dict[Key, Row], log: str = "") -> str:
    """The whole text."""
    doubts = list(second_look(before, after, log))
    lines = [f"# {title(before, after)}", ""]
    lines += ["## Look at these first", "", *_cut(doubts), ""] if doubts else ["Nothing that wants a second look.", ""]
    new = list(_new(before, after))
    lines += ["## New releases", "", *_TABLE, *_cut(new), ""] if new else []
    return "\n".join(lines)


_TABLE = ("| release | platforms | CUDA | cuDNN | GPU code | Pythons |", "| --- | --- | --- | --- | --- | --- |")


def _cut(lines: list[str]) -> list[str]:
    return lines if len(lines) <= MOST else [*lines[:MOST], f"… and {len(lines) - MOST} more"]


def _new(before: dict[Key, Row], after: dict[Key, Row]) -> Iterator[str]:
    """A line for each new release; platforms with the same values share one."""
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for key, row in after.items():
        if key not in before:
            groups[(f"{key[0]} {key[1]}", *_cells(row))].append(key[2])
    for (release, *cells), platforms in sorted(groups.items(), key=lambda one: _order(one[0][0])):
        yield f"| {release} | {', '.join(sorted(platforms))} | {' | '.join(cells)} |"


def _order(release: str) -> tuple[str, list[int]]:
    name, _, version = release.partition(" ")
    return name, [int(part) for part in re.findall(r"\d+", version)]


def _cells(row: Row) -> tuple[str, ...]:
    cuda = "not known" if "cuda" not in row else row["cuda"] or "none"
    code = [*row.get("sass", ()), *row.get("ptx", ())]
    return cuda, row.get("cudnn") or "–", " ".join(code) or "–", " ".join(row.get("pythons", ())) or "–"


def second_look(before: dict[Key, Row], after: dict[Key, Row], log: str = "") -> Iterator[str]:
    """What a person should check, the gravest first."""
    yield from _changed(before, after)
    yield from (f"- **{_name(key)}** is gone from the data" for key in before if key not in after)
    for key, row in after.items():
        was = before.get(key, {})
        for field, word in (("yanked", "withdrawn (yanked)"), ("gone", "no longer on the index")):
            if row.get(field) and not was.get(field):
                yield f"- {_name(key)} is {word}"
    yield from _cuda(before, after)
    yield from _moves(before, after)
    yield from _unread(before, after)
    yield from (f"- {line}" for line in log.splitlines() if line.startswith("not read: "))


def _changed(before: dict[Key, Row], after: dict[Key, Row]) -> Iterator[str]:
    """Values that were read otherwise from the same file; the same change of several releases in one line."""
    found: dict[str, list[Key]] = defaultdict(list)
    for key, field, old, now in changes(before, after):
        found[f"**{key[0]}**: `{field}` was {_said(old)} and is {_said(now)}"].append(key)
    for text, keys in found.items():
        versions = list(dict.fromkeys(key[1] for key in keys))
        named = versions[0] if len(versions) == 1 else f"{versions[0]} … {versions[-1]}, {len(versions)} releases"
        platforms = ", ".join(sorted({key[2] for key in keys}))
        yield f"- {text} in {named} ({platforms}): the file is the same, the reading is not"


def changes(before: dict[Key, Row], after: dict[Key, Row]) -> Iterator[tuple[Key, str, Any, Any]]:
    """Values of rows that were there and are others now; what was not known before, or more Pythons, is no change."""
    for key, old in before.items():
        now = after.get(key)
        for field in READ if now is not None and old.get("file") == now.get("file") else ():
            same = set(old.get(field) or ()) <= set(now.get(field) or ()) if field == "pythons" else False
            if field in old and not same and old.get(field) != now.get(field):
                yield key, field, old[field], now.get(field)


def _cuda(before: dict[Key, Row], after: dict[Key, Row]) -> Iterator[str]:
    """CUDA versions that appear for the first time, with the driver that they need."""
    known = {row.get("cuda") for row in before.values()}
    for cuda in sorted({str(row["cuda"]) for row in after.values() if row.get("cuda")} - {str(one) for one in known}):
        first = next(key for key, row in after.items() if row.get("cuda") == cuda)
        floor = drivers.floor(cuda)
        written = floor.native if floor else ""
        needs = f"its driver is {written}" if written else "**no driver is written down for it** (knowledge/data/drivers.json)"
        yield f"- CUDA {cuda} appears for the first time ({_name(first)}): {needs}"


def _moves(before: dict[Key, Row], after: dict[Key, Row]) -> Iterator[str]:
    """Architectures and Pythons that a new release has and the one before it had not, or the other way round."""
    found: dict[str, list[str]] = defaultdict(list)
    for key, old in _with_former(before, after):
        for field, word in (("sass", "GPU code"), ("pythons", "Pythons")):
            now = after[key].get(field)
            if old.get(field) and now and set(old[field]) != set(now):
                found[f"{key[0]} {key[1]}: {word} {_difference(old[field], now)}"].append(key[2])
    yield from (f"- {text} ({', '.join(platforms)})" for text, platforms in found.items())


def _with_former(before: dict[Key, Row], after: dict[Key, Row]) -> Iterator[tuple[Key, Row]]:
    """New rows of projects that were known, each with the row of the release before it."""
    for (name, platform), versions in sorted(_series(after).items()):
        for former, version in pairwise(versions):
            if (name, version, platform) not in before and (name, versions[0], platform) in before:
                yield (name, version, platform), after[name, former, platform]


def _series(rows: dict[Key, Row]) -> dict[tuple[str, str], list[str]]:
    out: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, version, platform in rows:
        out[name, platform].append(version)
    return out


def _difference(old: list[str], now: list[str]) -> str:
    came, went = [one for one in now if one not in old], [one for one in old if one not in now]
    parts = [f"came {' '.join(came)}"] if came else []
    return ", ".join([*parts, f"went {' '.join(went)}"] if went else parts)


def _unread(before: dict[Key, Row], after: dict[Key, Row]) -> Iterator[str]:
    """What could be read in the release before, and not in a new one."""
    found: dict[str, list[str]] = defaultdict(list)
    for key, old in _with_former(before, after):
        missing = [field for field in ASKED if field in old and field not in after[key]]
        if missing:
            found[f"{key[0]} {key[1]}: nobody could read {', '.join(missing)}"].append(key[2])
    yield from (f"- {text} ({', '.join(platforms)})" for text, platforms in found.items())


def _name(key: Key) -> str:
    return f"{key[0]} {key[1]} ({key[2]})"


def _said(value: Any) -> str:
    text = (" ".join(map(str, value)) or "nothing") if isinstance(value, list) else str(value)
    return text if len(text) <= 80 else text[:78] + " …"


def main(argv: list[str]) -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(prog="python -m tools.harvest.summary")
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--log", type=Path, help="what the harvester printed")
    parser.add_argument("--title", action="store_true", help="one line")
    options = parser.parse_args(argv)
    before, after = rows_of(options.before), rows_of(options.after)
    log = options.log.read_text(encoding="utf-8") if options.log else ""
    print(title(before, after) if options.title else summary(before, after, log))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
