"""Add precedents: python tools/precedents.py ROWS.jsonl [--leave-out HASHES].

A row: {"cause", "says": [phrases, all of them], "text", and as they are known "not", "why",
"if_not", "do": [actions], "names", "root", "only", "source"}. A source
whose address stands in HASHES (sha256, the first 24 digits, one a line) is refused: what judges
may not teach.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import msgspec

from gpuwhy.knowledge.tables import DATA
from gpuwhy.advise.precedents import Precedent, precedents
from gpuwhy.advise.remedy import Action
from gpuwhy.causes.load import catalogue

LONGEST = 90


def address_hash(address: str) -> str:
    """The hash of an address without scheme, www., query, fragment and the slash at its end."""
    plain = re.sub(r"^\w+://", "", address.strip().lower()).removeprefix("www.")
    plain = re.split(r"[?#]", plain)[0].rstrip("/")
    return hashlib.sha256(plain.encode()).hexdigest()[:24]


def faults(row: dict[str, Any], left_out: set[str]) -> list[str]:
    """What is wrong with a row; nothing: it may be added."""
    cause = row.get("cause", "")
    if cause not in catalogue().causes:
        return [f"no cause {cause!r}"]
    found = [
        f"{one} is left out"
        for one in re.findall(r"https?://\S+", row.get("source", ""))
        if address_hash(one) in left_out
    ]
    try:
        read = msgspec.convert({key: row[key] for key in row if key != "cause"}, Precedent)
        msgspec.convert(read.do, tuple[Action, ...])
    except msgspec.ValidationError as error:
        return [*found, str(error)]
    if len(read.text) > LONGEST:
        found.append(f"text has {len(read.text)} characters, at most {LONGEST}")
    if any(read.says == one.says and read.not_ == one.not_ for one in precedents(cause)):
        found.append("its phrases are known already")
    return found


def main(arguments: list[str]) -> int:
    """Check every row, and add them all or none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--leave-out", type=Path)
    asked = parser.parse_args(arguments)
    left_out = set(asked.leave_out.read_text().split()) if asked.leave_out else set()
    rows = [json.loads(line) for line in asked.rows.read_text(encoding="utf-8").splitlines()]
    bad = [(at, fault) for at, row in enumerate(rows, 1) for fault in faults(row, left_out)]
    for at, fault in bad:
        print(f"row {at}: {fault}", file=sys.stderr)
    if bad:
        return 1
    for row in rows:
        file = DATA / "precedents" / f"{row.pop('cause')}.jsonl"
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(f"{len(rows)} rows added")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
