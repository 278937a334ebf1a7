"""Keep recordings as test hosts: the first whole, the others as what differs from it.

    python tools/keep_host.py FOLDER BASE=healthy tests/hosts    (FOLDER as tools/provoke.py leaves it)

Writes tests/hosts/BASE.json.gz and one small JSON file per breakage, with what torch did as its `truth`. The `expect`
of a new file is what gpuwhy says now: read it, hold it against the truth, and correct it by hand.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from pathlib import Path
from typing import Any

PLAIN = 60_000
VOLATILE = re.compile(r"^(now|disk (?!/dev/shm)|kernel_log|read /proc/uptime|lines /proc/meminfo|lines /proc/stat)")


def truth(folder: Path, name: str) -> str:
    """The last telling lines of what torch did."""
    text = (folder / f"{name}.truth.txt").read_text(errors="replace").strip().splitlines()
    kept = [line for line in text if line and not line.startswith(("  File", "Traceback", "    "))]
    return " | ".join(re.sub(r"/opt/\S*/site-packages/", "…/", line)[:160] for line in kept[-4:])


def difference(base: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The answers that differ; what the other machine was not asked stays as the base answered."""
    return {k: v for k, v in other.items() if base.get(k) != v and not (k in base and VOLATILE.match(k))}


def main(argv: list[str]) -> None:
    """Write the host files."""
    folder, spec, out = Path(argv[0]), argv[1], Path(argv[2])
    name, _, source = spec.partition("=")
    why = json.loads((folder / "index.json").read_text())
    base = json.loads((folder / "work" / f"{source}.json").read_text())
    for file in sorted((folder / "work").glob("*.json")):
        one = json.loads(file.read_text())
        told = {
            "why": why.get(file.stem, ""),
            "truth": truth(folder, file.stem),
            "expect": expected(out, name, file.stem),
        }
        if file.stem == source:
            whole = {**told, "kind": "this-machine", "options": one["options"], "answers": one["answers"]}
            write(out / f"{name}.json", lines(whole))
            continue
        changed = difference(base["answers"], one["answers"])
        write(out / f"{name}-{file.stem}.json", lines({**told, "base": name, "answers": changed}))


def write(path: Path, text: str) -> None:
    """A small file as it is, so that a change can be read; a large one compressed."""
    if len(text) < PLAIN:
        path.write_text(text)
    else:
        path.with_name(path.name + ".gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def expected(out: Path, name: str, stem: str) -> list[str]:
    """What the file said before; a new one starts empty."""
    file = out / f"{name}-{stem}.json"
    found: list[str] = json.loads(file.read_text())["expect"] if file.exists() else []
    return found


def lines(value: dict[str, Any]) -> str:
    """JSON with one answer a line: small diffs."""
    head = {k: v for k, v in value.items() if k != "answers"}
    text = ",\n".join(f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in head.items())
    body = ",\n".join(
        f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in sorted(value["answers"].items())
    )
    return "{\n" + text + ',\n"answers": {\n' + body + "\n}}\n"


if __name__ == "__main__":
    main(sys.argv[1:])
