"""Learn how the texts of each cause read: writes src/gpuwhy/rooms/text/data/likeness.bin.

python tools/learn.py FOLDER|FILE…    JSON lines with "log" and "cause", optionally "also_acceptable" (or "also")
python tools/learn.py --check FOLDER|FILE…    cross-validated accuracy instead

A logistic regression over the words and pairs of words of a text (`gpuwhy.reason.words`), divided by the root of their
number. Only checksums of words are kept: no word and no name comes in. Texts that share most of their eight-word runs
count as one. Texts that are for measuring only must not be among those given. Needs numpy.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from gpuwhy.reason.stranger import places
from gpuwhy.reason.words import BITS, NOTHING, ZERO, Likeness, likened, shut

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "gpuwhy" / "rooms" / "text" / "data" / "likeness.bin"
HEALTHY = ROOT / "tests" / "symptoms" / "healthy.txt"
SHOWN = "tests/rooms/*/*/shown*.json"
RUN, FOLDS = 8, 5
EPOCHS, RATE, DECAY = 12, 0.5, 1e-4
LEAST = 4.0
"""Steps of the scale below which a weight says nothing: so the file stays small."""
ALSO = 0.3
"""The part of a label that goes to the neighbours it accepts."""
Row = dict[str, Any]


def read(places: list[Path]) -> list[Row]:
    """The labelled texts of files and folders, the outputs that show a cause and the successful runs of the tests."""
    files = [f for p in places for f in (sorted(p.rglob("*.jsonl")) if p.is_dir() else [p])]
    rows = [json.loads(line) for f in files for line in f.read_text(encoding="utf-8").splitlines()]
    shown = [(file.parent, json.loads(file.read_text(encoding="utf-8"))) for file in sorted(ROOT.glob(SHOWN))]
    rows += [{"log": one["log"], "cause": f"{at.parent.name}.{at.name}"} for at, one in shown if one.get("log")]
    parts = HEALTHY.read_text(encoding="utf-8").split("=== ")[1:]
    return rows + [{"log": part.split("\n", 1)[1], "cause": NOTHING} for part in parts]


def runs(text: str) -> set[str]:
    """The runs of eight words, numbers made equal."""
    words = re.sub(r"\d+", "0", re.sub(r"[\W_]+", " ", text.lower())).split()
    return {" ".join(words[i : i + RUN]) for i in range(max(1, len(words) - RUN + 1))}


def grouped(rows: list[Row], common: int = 12) -> tuple[list[Row], list[int]]:
    """The rows without near-duplicates, and for each the group of related texts it is in."""
    kept: list[Row] = []
    groups: list[int] = []
    having: dict[str, list[int]] = defaultdict(list)
    every = [runs(row["log"]) for row in rows]
    often = Counter(run for some in every for run in some)
    mine: list[set[str]] = []
    for row, some in zip(rows, every, strict=True):
        shared = Counter(i for run in some for i in having[run])
        if any(n / len(some | mine[i]) >= 0.6 for i, n in shared.items()):
            continue
        rare = Counter(i for run in some if often[run] <= common for i in having[run])
        related = {groups[i] for i, n in rare.items() if n / len(some | mine[i]) >= 0.25}
        group = min(related, default=len(kept))
        groups = [group if g in related else g for g in groups] + [group]
        for run in some:
            having[run].append(len(kept))
        kept.append(row)
        mine.append(some)
    return kept, groups


def labels(rows: list[Row], names: list[str]) -> Any:
    """A row of shares over the causes for each text."""
    out = np.zeros((len(rows), len(names)), np.float32)
    for i, row in enumerate(rows):
        also = [c for c in row.get("also_acceptable") or row.get("also") or () if c in names and c != row["cause"]]
        out[i, names.index(row["cause"])] = 1 - ALSO * bool(also)
        for cause in also:
            out[i, names.index(cause)] = ALSO / len(also)
    return out


def learn(rows: list[Row]) -> Likeness:
    """Adagrad on the cross-entropy, one text after the other in an order that a seed gives."""
    names = sorted({row["cause"] for row in rows})
    wanted = labels(rows, names)
    seen = [np.array(sorted({p & ((1 << BITS) - 1) for p in places(row["log"])}), np.int64) for row in rows]
    weights = np.zeros((1 << BITS, len(names)), np.float32)
    squares, usually = np.full((1 << BITS, 1), 1e-6, np.float32), np.full(len(names), 1e-6)
    usual = np.log((wanted.sum(0) + 2) / (wanted.sum() + 2 * len(names)))
    chance = np.random.default_rng(0)
    for _ in range(EPOCHS):
        for i in chance.permutation(len(rows)):
            at, root = seen[i], np.sqrt(max(1, len(seen[i])))
            z = weights[at].sum(0) / root + usual
            share = np.exp(z - z.max())
            error = share / share.sum() - wanted[i]
            slope = error / root + DECAY * weights[at]
            squares[at] += (slope * slope).sum(1, keepdims=True)
            weights[at] -= RATE * slope / np.sqrt(squares[at])
            usually += error * error
            usual -= RATE / 5 * error / np.sqrt(usually)
    return _scaled(weights, usual, names)


def _scaled(weights: Any, usual: Any, names: list[str]) -> Likeness:
    scale = float(np.abs(weights).max()) / 127
    steps = np.round(weights / scale)
    steps[np.abs(steps) < LEAST] = 0
    columns = tuple((steps[:, j] + ZERO).astype(np.uint8).tobytes() for j in range(len(names)))
    return Likeness(scale, tuple(names), tuple(round(float(one), 2) for one in usual), columns)


def check(rows: list[Row], groups: list[int]) -> str:
    """How often the words alone are right, each fold judged by the others."""
    right = three = failures = alarms = 0
    for fold in range(FOLDS):
        others = [i for i, g in enumerate(groups) if g % FOLDS != fold]
        likeness = learn([rows[i] for i in others])
        for row in (rows[i] for i, g in enumerate(groups) if g % FOLDS == fold):
            causes = [s.cause for s in likened(likeness, row["log"])][:3]
            fair = {row["cause"], *(row.get("also_acceptable") or row.get("also") or ())}
            if row["cause"] == NOTHING:
                alarms += bool(causes)
                continue
            failures += 1
            right, three = right + bool(fair & set(causes[:1])), three + bool(fair & set(causes))
    shares = f"{right / failures:.3f} first, {three / failures:.3f} among three"
    return f"{failures} failures: {shares}; {alarms} successes likened to a failure"


def main(argv: list[str]) -> int:
    """Learn and write, or check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("places", nargs="+", type=Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(argv)
    rows, groups = grouped(read(options.places))
    if options.check:
        print(check(rows, groups))
        return 0
    TARGET.write_bytes(shut(learn(rows)))
    print(f"{len(rows)} texts, {TARGET.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
