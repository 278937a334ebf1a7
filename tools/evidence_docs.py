"""Write the tables of evidence into the docs, from the rows that the tools kept; `--check` says which page is stale.

    python tools/evidence_docs.py [--check]

A table stands between `<!-- evidence: NAME -->` and `<!-- end -->`.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.repair import remedies  # noqa: E402

from gpuwhy.knowledge import imports, neighbours  # noqa: E402
from gpuwhy.knowledge.neighbours import Seen  # noqa: E402
from tools.imports import cases  # noqa: E402

PYTHONS = ("3.6", "3.7", "3.8", "3.9", "3.10", "3.11", "3.12", "3.13")
PRELOADS = ROOT / "tests/loader/preload_cases.jsonl"
FAMILIES = {
    "torch": "PyTorch",
    "tensorflow": "TensorFlow",
    "jax": "JAX",
    "onnxruntime": "ONNX Runtime",
    "cupy": "CuPy",
    "ctranslate2": "CTranslate2",
    "mxnet": "MXNet",
}
BREAKS = ROOT / "tests/repair/scored.jsonl"
BASES = {
    "torch": "PyTorch 2.6", "tf": "TensorFlow 2.15", "tf1": "TensorFlow 1.15", "jax": "JAX 0.4.38",
    "ort": "ONNX Runtime 1.20", "cupy": "CuPy 13.3", "numba": "Numba 0.62 with numba-cuda 0.22",
    "ctranslate2": "CTranslate2 4.5", "plain": "no framework: gensim 4.3, matplotlib 3.9",
    "tf18": "TensorFlow 2.18", "torch1": "PyTorch 1.12", "cupy14": "CuPy 14.2", "cupy11": "CuPy 13.3 for CUDA 11",
    "numba-alone": "Numba 0.60",
}  # fmt: skip
PAGES = ("docs/commands/plan.md", "docs/commands/fix.md", "docs/accuracy.md", "docs/knowledge.md")
MARK = re.compile(r"<!-- evidence: (\w+) -->\n.*?<!-- end -->", re.S)


def main(argv: list[str]) -> int:
    """Write the pages, or name those that differ."""
    stale = [page for page in PAGES if filled((ROOT / page).read_text()) != (ROOT / page).read_text()]
    for page in stale:
        print(page)
        if "--check" not in argv:
            (ROOT / page).write_text(filled((ROOT / page).read_text()))
    return 1 if stale and "--check" in argv else 0


def filled(page: str) -> str:
    """A page with its tables as the rows have them now."""

    def made(found: re.Match[str]) -> str:
        return "\n".join([f"<!-- evidence: {found[1]} -->", "", *TABLES[found[1]](), "", "<!-- end -->"])

    return MARK.sub(made, page)


def table(head: str, rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """A table in Markdown."""
    yield f"| {head} |"
    yield f"|{' --- |' * (head.count('|') + 1)}"
    for row in rows:
        yield f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in row)} |"


def imported() -> Iterator[str]:
    """How many releases of each framework import, by the end of their dependencies."""
    count = Counter((row.framework, row.side, row.outcome) for row in imports.table())
    there = {(row.framework, row.version, row.side) for row in imports.table()}
    head = "framework | newest: imports | newest: fails | oldest: imports | oldest: fails | not installable | not tried"
    rows = []
    for framework in ("tensorflow", "jax", "onnxruntime", "cupy", "torch"):
        every = [case.key for case in cases(framework, PYTHONS)]
        left = [key for key in every if key not in there]
        seen = [count[framework, side, end] for side in ("newest", "oldest") for end in ("imports", "fails")]
        lost = sum(count[framework, side, "not installed"] for side in ("newest", "oldest"))
        rows.append([framework, *seen, lost, f"{len(left)} of {len(every)}"])
    return table(head, rows)


def preloaded() -> Iterator[str]:
    """How many worlds of each framework agree with the loader's model."""
    found = [json.loads(line) for line in PRELOADS.read_text().splitlines()]
    rows = []
    for name, title in FAMILIES.items():
        mine = [row for row in found if row["release"].startswith(name) and row["world"] != "-"]
        agree = [row for row in mine if not row.get("wrong", ["lab"])]
        releases = sorted({_release(row) for row in mine}, key=lambda text: (Version(text.split()[0]), text))
        rows.append([title, ", ".join(releases), len(mine), len(agree)])
    return table("framework | releases | worlds | agree", rows)


def _release(row: dict[str, Any]) -> str:
    package, version = row["release"].split("==")
    build = package.partition("-cu")[2]
    return f"{version} (cu{build})" if build else str(version)


def broken() -> Iterator[str]:
    """What became of the breaks of each environment, by the last run of each."""
    found = [json.loads(line) for line in BREAKS.read_text().splitlines()]
    rows = [_broken(title, [row for row in found if row["base"] == name]) for name, title in BASES.items()]
    rows.append(_broken("all", found))
    return table(
        "environment | breaks | cause named | ends verified | imports and computes afterwards | median, slowest", rows
    )


def _broken(title: str, rows: list[dict[str, Any]]) -> list[object]:
    tried = [row["works"] for row in rows if row["works"] is not None]  # where nothing can be carried out, none is
    right, verified = sum(row["right"] for row in rows), sum(row["ends"] == "verified" for row in rows)
    spent = [row["seconds"] for row in rows]
    works = f"{sum(tried)} of {len(tried)}"
    return [title, len(rows), right, verified, works, f"{median(spent):.0f} s, {max(spent):.0f} s"]


def states() -> Iterator[str]:
    """Which state of the code each break was last run with, the newest first."""
    found = [json.loads(line) for line in BREAKS.read_text().splitlines()]
    count = Counter((row["date"], row["commit"]) for row in found)
    verified = Counter((row["date"], row["commit"]) for row in found if row["ends"] == "verified")
    rows = [[commit, date, ran, verified[date, commit]] for (date, commit), ran in sorted(count.items(), reverse=True)]
    return table("state of the code | last run on | breaks | ends verified", rows)


def carried() -> Iterator[str]:
    """How many remedies that change an environment a break has carried out, and which none has."""
    done, every = remedies.carried_out(), remedies.remedies()
    bare = [one.where for one in every if not remedies.breaks_of(one, done)]
    why = "; ".join(f"`{where}`: {remedies.NOT_YET.get(where, 'no break yet')}" for where in bare)
    did = f"{len(every)}, of which {len(every) - len(bare)} were carried out by a break that ends verified"
    yield f"{did}, and {len(bare)} not ({why})."


def limited() -> Iterator[str]:
    """The neighbours that were seen to fail beside a framework that they let in."""
    failing = {(*row.subject, row.host): row for row in neighbours.table() if row.about and not row.forced}
    rows = []
    for name, version, host in sorted(failing, key=lambda key: (key[2], key[0], Version(key[1]))):
        found = next((one for of, one in neighbours.limits_of(name, version) if of == host), None)
        if found:
            until = f"{host} {found.until}" if found.until else "none tried yet"
            rows.append([f"{name} {version}", until, f"{host} {found.row.on}: {_short(found.row)}"])
    return table("release | newest seen to work beside | oldest seen to fail beside", rows)


def forced() -> Iterator[str]:
    """What happened where metadata forbids the pair."""
    rows = [row for row in neighbours.table() if row.forced and (row.outcome == "imports" or row.about)]
    order = sorted(rows, key=lambda r: (r.package, r.host, Version(r.on), r.outcome, _short(r), Version(r.version)))
    out = []
    for (package, host, on, error), same in groupby(order, lambda r: (r.package, r.host, r.on, _short(r))):
        versions = ", ".join(row.version for row in same)
        out.append([f"{package} {versions}", f"{host} {on}", error or "imports"])
    return table("release | forced beside | what its import does", out)


def _short(row: Seen) -> str:
    text = re.sub(r"\s*\(?PYTHON/\S+", "", row.error)
    return f"`{text[:110]}`" if text else ""


TABLES = {
    "imports": imported, "preloads": preloaded, "breaks": broken, "states": states, "remedies": carried,
    "neighbours": limited, "forced": forced,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
