"""Learn how texts read that are no failure of the GPU stack: writes src/gpuwhy/rooms/text/data/strangers.bin.

python tools/learn_strangers.py FOLDER|FILE…            JSON lines with "log" (or "text") and "cause"
python tools/learn_strangers.py --without NAME… PLACES   learn without the files whose names hold NAME, judge those

A logistic regression over words and pairs of words (`gpuwhy.reason.stranger`). Endings that are anybody's (a shape that
does not fit, on the CPU) teach nothing: they are left out. Files of faults drawn at random count half, as their texts
are alike. Texts that are for measuring only must not be among those given. Needs numpy.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gpuwhy.reason.stranger import BITS, LAST, STRANGE, Weights, packed, places, strangeness

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "gpuwhy" / "rooms" / "text" / "data" / "strangers.bin"
TESTS = ROOT / "tests"
INNOCENT = ("other.not_gpu", "healthy")
EPOCHS, RATE, DECAY, COPIES = 25, 0.5, 2e-5, 4
Row = dict[str, Any]


def read(file: Path) -> list[Row]:
    """The labelled texts of a file, each with its weight."""
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    weight = 0.5 if file.name == "faults.jsonl" else 1.0
    return [row | {"text": _text(row), "weight": weight} for row in rows if _text(row) and row.get("cause")]


def own() -> list[Row]:
    """What this repository's own tests hold: outputs that show a cause, and those of successful runs."""
    shown = [(file.parent, json.loads(file.read_text())) for file in sorted(TESTS.glob("rooms/*/*/shown*.json"))]
    rows = [{"text": one["log"], "cause": f"{at.parent.name}.{at.name}"} for at, one in shown if one.get("log")]
    parts = (TESTS / "symptoms" / "healthy.txt").read_text(encoding="utf-8").split("=== ")[1:]
    rows += [{"text": part.split("\n", 1)[1], "cause": "healthy"} for part in parts]
    return [row | {"weight": 1.0} for row in rows]


def _text(row: Row) -> str:
    return str(row.get("log") or row.get("text") or "")


def teaches(row: Row) -> bool:
    """Whether a text is clearly one or the other."""
    also = row.get("also_acceptable") or row.get("acceptable") or row.get("also") or ()
    return row["cause"] not in INNOCENT or not any(name.startswith("program.") for name in also)


def mixed(rows: list[Row]) -> list[Row]:
    """The rows, and each failure again below the beginnings of innocent texts: what stands before tells nothing."""
    chance = random.Random(0)
    before = ["".join(row["text"].splitlines(True)[:-LAST]) for row in rows if row["cause"] in INNOCENT]
    before = [text for text in before if text]
    guilty = [row for row in rows if row["cause"] not in INNOCENT]
    return rows + [row | {"text": chance.choice(before) + row["text"]} for _ in range(COPIES) for row in guilty]


def learn(rows: list[Row]) -> Weights:
    """Adagrad on the logistic loss, one text after the other in an order that a seed gives."""
    seen = [np.array(sorted(places(row["text"])), np.int64) for row in rows]
    wanted = [row["cause"] in INNOCENT for row in rows]
    weights, squares, usual, usually = np.zeros(1 << BITS), np.full(1 << BITS, 1e-3), 0.0, 1e-3
    chance = np.random.default_rng(0)
    for _ in range(EPOCHS):
        for i in chance.permutation(len(rows)):
            at = seen[i]
            root = np.sqrt(max(1, len(at)))
            share = 1 / (1 + np.exp(-usual - weights[at].sum() / root))
            error = (share - wanted[i]) * rows[i]["weight"]
            slope = error / root + DECAY * weights[at]
            squares[at] += slope * slope
            weights[at] -= RATE * slope / np.sqrt(squares[at])
            usually += error * error
            usual -= RATE * error / np.sqrt(usually)
    return _scaled(weights, float(usual))


def _scaled(weights: Any, usual: float) -> Weights:
    scale = float(np.abs(weights).max()) / 127
    return Weights(scale, usual, np.round(weights / scale).astype(np.int8).tobytes())


def judged(weights: Weights, rows: list[Row]) -> str:
    """How many innocent and how many guilty texts are doubted."""
    kinds = [(row["cause"] in INNOCENT, strangeness(weights, row["text"]) > STRANGE) for row in rows]
    innocent, guilty = [d for i, d in kinds if i], [d for i, d in kinds if not i]
    return f"doubted: {sum(innocent)} of {len(innocent)} innocent, {sum(guilty)} of {len(guilty)} guilty"


def main(argv: list[str]) -> int:
    """Learn and write, or learn without some files and judge those."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("places", nargs="+", type=Path)
    parser.add_argument("--without", nargs="+", default=[])
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(argv)
    files = [f for p in options.places for f in (sorted(p.rglob("*.jsonl")) if p.is_dir() else [p])]
    held = [f for f in files if any(name in f.name for name in options.without)]
    taught = [*own(), *(row for f in files if f not in held for row in read(f))]
    weights = learn(mixed([row for row in taught if teaches(row)]))
    for file in held:
        print(file.name, judged(weights, read(file)))
    if not held or options.write:
        TARGET.write_bytes(packed(weights))
        print(f"{TARGET.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
