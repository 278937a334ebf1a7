"""Learn which words the texts of each cause have: writes src/gpuwhy/causes/text/data/words.json.

python tools/learn.py FOLDER|FILE…    JSON lines with "log" and "cause", optionally "also_acceptable" (or "also")
python tools/learn.py --check FOLDER|FILE…    cross-validated accuracy instead

A logistic regression without negative weights over the words of a text, divided by the root of their number. A word
counts only if three unrelated texts have it and this repository's own sources, pages or docs use it: so no names come
in. For each cause the sixty strongest words are kept. Texts that share most of their eight-word runs count as one.
Texts that are for measuring only must not be among those given. Needs numpy.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from gpuwhy.model.symptom import Likeness
from gpuwhy.reason.words import NOTHING, likened, words_of

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "src" / "gpuwhy" / "causes" / "text" / "data" / "words.json"
HEALTHY = ROOT / "tests" / "symptoms" / "healthy.txt"
TEXTS, KEPT, RUN, FOLDS = 3, 60, 8, 5
STEPS, STRENGTH = 200, 1e-4
ALSO = 0.3
"""The part of a label that goes to the neighbours it accepts."""
Row = dict[str, Any]


def read(places: list[Path]) -> list[Row]:
    """The labelled texts of files and folders, and the successful runs of the tests."""
    files = [f for p in places for f in (sorted(p.glob("*.jsonl")) if p.is_dir() else [p])]
    rows = [json.loads(line) for f in files for line in f.read_text(encoding="utf-8").splitlines()]
    parts = HEALTHY.read_text(encoding="utf-8").split("=== ")[1:]
    return rows + [{"log": part.split("\n", 1)[1], "cause": NOTHING} for part in parts]


def own_words() -> set[str]:
    """The words that this repository uses itself in sources, pages and docs."""
    files = [*ROOT.glob("src/**/*.py"), *ROOT.glob("src/**/*.md"), *ROOT.glob("docs/**/*.md")]
    return {word for f in files for word in words_of(re.sub(r"\\.|[/.\\]", " ", f.read_text(encoding="utf-8")))}


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


def descend(x: Any, y: Any, weights: Any, usual: Any, mask: Any) -> tuple[Any, Any]:
    """Adam on the cross-entropy; weights stay at or above zero, and zero where the mask is."""
    moments = [np.zeros_like(weights), np.zeros_like(weights), np.zeros_like(usual), np.zeros_like(usual)]
    for step in range(1, STEPS + 1):
        z = x @ weights + usual
        p = np.exp(z - z.max(1, keepdims=True))
        error = (p / p.sum(1, keepdims=True) - y) / len(x)
        rate = 0.05 * (1 - step / STEPS) + 0.001
        for at, value, slope in ((0, weights, (x.T @ error + STRENGTH * weights) * mask), (2, usual, error.sum(0))):
            moments[at] = 0.9 * moments[at] + 0.1 * slope
            moments[at + 1] = 0.99 * moments[at + 1] + 0.01 * slope * slope
            value -= rate * (moments[at] / (1 - 0.9**step)) / (np.sqrt(moments[at + 1] / (1 - 0.99**step)) + 1e-8)
        np.maximum(weights, 0, out=weights)
    return weights, usual


def table(rows: list[Row], vocabulary: list[str]) -> Any:
    """One line per text: which words it has, divided by the root of their number."""
    place = {word: j for j, word in enumerate(vocabulary)}
    out = np.zeros((len(rows), len(vocabulary)), np.float32)
    for i, row in enumerate(rows):
        out[i, [place[w] for w in set(words_of(row["log"])) if w in place]] = 1
    return out / np.sqrt(np.maximum(1, out.sum(1, keepdims=True)))


def learn(rows: list[Row], groups: list[int], allowed: set[str]) -> dict[str, Any]:
    """For each cause how usual it is and its words."""
    names = sorted({row["cause"] for row in rows})
    met: dict[str, set[int]] = defaultdict(set)
    for row, group in zip(rows, groups, strict=True):
        for word in set(words_of(row["log"])) & allowed:
            met[word].add(group)
    vocabulary = sorted(word for word, where in met.items() if len(where) >= TEXTS)
    y = labels(rows, names)
    usual = np.log((y.sum(0) + 2) / (y.sum() + 2 * len(names)))
    weights = np.zeros((len(vocabulary), len(names)), np.float32)
    weights, usual = descend(table(rows, vocabulary), y, weights, usual, 1.0)
    weights[np.argsort(np.argsort(-weights, axis=0), axis=0) >= KEPT] = 0
    used = weights.sum(1) > 0
    vocabulary, weights = [w for w, u in zip(vocabulary, used, strict=True) if u], weights[used]
    weights, usual = descend(table(rows, vocabulary), y, weights, usual, weights > 0)
    return {name: _likeness(vocabulary, weights[:, j], float(usual[j])) for j, name in enumerate(names)}


def _likeness(vocabulary: list[str], weights: Any, usual: float) -> dict[str, Any]:
    strongest = sorted((-round(float(w), 2), word) for word, w in zip(vocabulary, weights, strict=True) if w >= 0.05)
    return {"usual": round(usual, 2), "words": {word: -w for w, word in strongest}}


def check(rows: list[Row], groups: list[int], allowed: set[str]) -> str:
    """How often the words alone are right, each fold judged by the others."""
    right = three = failures = alarms = 0
    for fold in range(FOLDS):
        others = [i for i, g in enumerate(groups) if g % FOLDS != fold]
        found = learn([rows[i] for i in others], [groups[i] for i in others], allowed)
        lexicon = msgspec.convert(found, dict[str, Likeness])
        for row in (rows[i] for i, g in enumerate(groups) if g % FOLDS == fold):
            causes = [s.cause for s in likened(lexicon, row["log"])][:3]
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
        print(check(rows, groups, own_words()))
        return 0
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps(learn(rows, groups, own_words()), indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
