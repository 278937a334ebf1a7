"""The data file: per variable and family the releases that read it, as a string of 0 and 1 over the releases read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from packaging.version import Version

from tools.variables.binary_reads import NOT_VARIABLES
from tools.variables.families import FAMILIES
from tools.variables.kept import Kept

OF_THE_SYSTEM = frozenset(
    {"LD_LIBRARY_PATH", "LD_PRELOAD", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}
)


def write(path: Path, kept: Kept) -> None:
    """Write what is kept; flags of XLA that an earlier run of tools.variables.flags left in the file stay."""
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    by_family: dict[str, dict[str, list[dict[str, Any]]]] = {}
    names = {family.name for family in FAMILIES}
    for row in (row for row in kept.rows() if row["family"] in names):
        by_family.setdefault(row["family"], {}).setdefault(row["release"], []).append(row)
    families: dict[str, Any] = {}
    variables: dict[str, dict[str, Any]] = {}
    for name, releases in sorted(by_family.items()):
        ordered = sorted(releases, key=Version)
        parts = [sorted({r["part"] for r in releases[one]}) for one in ordered]
        files = [
            [releases[one][0]["file"], releases[one][0]["sha256"], " ".join(p)]
            for one, p in zip(ordered, parts, strict=True)
        ]
        families[name] = {"releases": ordered, "files": files}
        for variable, entry in _variables([releases[one] for one in ordered]).items():
            variables.setdefault(variable, {})[name] = entry
    data = {"families": families, "variables": dict(sorted(variables.items())), "flags": old.get("flags", {})}
    path.write_text(encoded(data), encoding="utf-8")


def encoded(data: dict[str, Any]) -> str:
    """JSON with one variable or flag a line, so that a difference can be read."""
    parts = []
    for key, value in data.items():
        lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in value.items())
        parts.append(f" {json.dumps(key)}: {{\n{lines}\n }}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _variables(releases: list[list[dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Each variable of one family: where, since when, and what the newest release that tells says of its value.

    A place of `in` holds 1 where the release reads it, 0 where it does not, ? where nobody can say: a part of the
    wheel was not read, or libraries read it too, whose compilers may take strings apart;
    one of `as` 1 where the release shows that type (left out where all that read it do). Values are those of all.
    """
    out: dict[str, dict[str, Any]] = {}
    for place, rows in enumerate(releases):
        for row in rows:
            for name, (kind, default, values, member) in row["found"].items():
                if name in OF_THE_SYSTEM or (row["part"] != "python" and NOT_VARIABLES.fullmatch(name)):
                    continue
                entry = out.setdefault(name, {"in": ["0"] * len(releases), "told": {}, "string": False})
                entry["in"][place] = "1"
                entry["string"] |= row["part"] != "python"
                entry["told"][place] = entry["told"].get(place) or kind
                values = list(dict.fromkeys([*values, *entry.get("values", [])]))
                told = {"type": kind, "default": default, "values": values, "where": member}
                entry.update({key: value for key, value in told.items() if value not in ("", None, [])})
    parts = {row["part"] for rows in releases for row in rows}
    for entry in out.values():
        told, string = entry.pop("told"), entry.pop("string")
        same = "".join("01"[told.get(place) == entry.get("type")] for place in range(len(releases)))
        if "type" in entry and same != "".join(entry["in"]):
            entry["as"] = same
        for place, rows in enumerate(releases):
            if entry["in"][place] == "0" and (string or {row["part"] for row in rows} != parts):
                entry["in"][place] = "?"
        entry["in"] = "".join(entry["in"])
    return out
