"""Keep the fault lab's recordings as test hosts: the healthy one whole, the others as what differs from it.

    python tools/keep_host.py OUT tests/hosts h200-probe    (OUT as `python -m lab` leaves it)

Writes tests/hosts/NAME.json.gz for the machine as it is and one small JSON file per fault. `truth` is what the probe
saw: the first stage that failed. The `expect` of a new file is what gpuwhy says now; the lab's table says which cause
must come first, and a file whose first cause is none of those is refused.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from lab.faults import FAULTS

PLAIN = 60_000
VOLATILE = re.compile(r"^(now|disk (?!/dev/shm)|kernel_log|read /proc/uptime|lines /proc/meminfo|lines /proc/stat)")
TIMES = re.compile(r'"(ms|per_second|memory|used|free|pid)": ?-?[\d.]+|0x[0-9a-f]+|\b\d{4,}\b|[\d.]+ (?:ms|GiB|MiB)')


def steady(answer: Any) -> str:
    """An answer without what differs from run to run."""
    return TIMES.sub("", json.dumps(answer, sort_keys=True))


def difference(base: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """The answers that differ; what the other machine was not asked stays as the base answered."""
    return {
        k: v
        for k, v in other.items()
        if base.get(k) != v and not (k in base and (VOLATILE.match(k) or _same(k, base[k], v)))
    }


def _same(key: str, one: Any, other: Any) -> bool:
    return key.startswith(("call probe", "python ")) and steady(one) == steady(other)


def truth(report: dict[str, Any]) -> str:
    """What really happened: the stages that failed, or that all passed."""
    failed = [row for row in report.get("probe", []) if row["mark"] == "bad"]
    told = " | ".join(f"{row['name']}: {row['note'][:160]}" for row in failed[:4])
    return told or "every stage passed"


def shown(path: Path) -> dict[str, Any]:
    """gpuwhy's report on a recording."""
    argv = [sys.executable, "-m", "gpuwhy", "check", "--from", str(path), "--json"]
    report: dict[str, Any] = json.loads(subprocess.run(argv, capture_output=True, text=True).stdout)
    return report


def main(argv: list[str]) -> int:
    """Write the host files; the number of faults that are not named rightly."""
    folder, out, name = Path(argv[0]) / "work", Path(argv[1]), argv[2]
    base = json.loads((folder / "healthy.json").read_text())
    wrong = 0
    for file in sorted(folder.glob("*.json")):
        fault = FAULTS.get(file.stem)
        if fault is None or file.name.endswith(".report.json"):
            continue
        one, report = json.loads(file.read_text()), shown(file)
        found = [c["id"] for c in report["causes"] if c["confidence"] >= 0.5]
        if (found[:1] or [""])[0] not in (fault.names or ("",)):
            print(f"{file.stem}: {found[:1]} is none of {fault.names}: not kept")
            wrong += 1
            continue
        told = {"why": fault.why, "truth": truth(report), "expect": sorted(set(found)), "first": found[:1]}
        if file.stem == "healthy":
            whole = {**told, "kind": "this-machine", "options": one["options"], "answers": one["answers"]}
            write(out / f"{name}.json", lines(whole))
        else:
            changed = {"options": one["options"], "base": name, "answers": difference(base["answers"], one["answers"])}
            write(out / f"{name}-{file.stem}.json", lines({**told, **changed}))
    return wrong


def write(path: Path, text: str) -> None:
    """A small file as it is, so that a change can be read; a large one compressed."""
    zipped = path.with_name(path.name + ".gz")
    path.unlink(missing_ok=True)
    zipped.unlink(missing_ok=True)
    if len(text) < PLAIN:
        path.write_text(text)
    else:
        zipped.write_bytes(gzip.compress(text.encode(), mtime=0))


def lines(value: dict[str, Any]) -> str:
    """JSON with one answer a line: small diffs."""
    head = {k: v for k, v in value.items() if k != "answers"}
    text = ",\n".join(f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in head.items())
    body = ",\n".join(
        f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in sorted(value["answers"].items())
    )
    return "{\n" + text + ',\n"answers": {\n' + body + "\n}}\n"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
