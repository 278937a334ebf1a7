"""Does the answer survive harmless changes of the text? The share of texts whose first cause stays, per change.

    python -m lab.restated FILE.jsonl… [--seed 1] [--most 0] [--only NAME…] [-v]

FILE holds JSON lines with "log"; `restating.py` has the changes. A text that is told no cause must be told none still.
Wrappers that hide an exception's frames are also counted over the texts whose exception tells the same without them.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from gpuwhy.api.text import batch
from lab.restating import ALONE, KINDS, bare

Answer = tuple[str, float]


def texts(paths: list[Path]) -> Iterator[tuple[str, str]]:
    """Name and text of every case."""
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            row = json.loads(line)
            if isinstance(row.get("log"), str) and row["log"].strip():
                yield f"{path.stem}:{row.get('id', row.get('name', number))}", row["log"]


def first(text: str) -> Answer:
    """The first cause of a text, where it has half a chance, and how sure."""
    told = next(iter(batch([json.dumps({"id": 1, "log": text}).encode()])))["causes"]
    return (told[0]["id"], told[0]["confidence"]) if told else ("", 0.0)


def same(before: Answer, after: Answer) -> bool:
    """Whether both say the same: the same cause, or both none that is found."""
    return before[0] == after[0] or max(before[1], after[1]) < 0.35


def measure(cases: dict[str, str], seed: int, only: set[str], verbose: bool) -> Counter[str]:
    """Print the share of stable answers for every change."""
    before = {name: first(text) for name, text in cases.items()}
    framed = {name for name, text in cases.items() if not same(before[name], first(bare(text, random.Random(seed))))}
    total: Counter[str] = Counter()
    for kind, changes in KINDS.items():
        for name, change in changes.items():
            if only and name not in only and kind not in only:
                continue
            draw, kept, n = random.Random(seed), 0, 0
            for case, text in cases.items():
                changed = change(text, draw)
                if changed == text or (kind == "launcher" and not before[case][0]):
                    continue  # beside a text in which nothing failed a launcher's word is news
                after, n = first(changed), n + 1
                kept += same(before[case], after)
                if name in ALONE and case in framed:
                    total.update({"framed n": 1, "framed kept": int(same(before[case], after))})
                if verbose and not same(before[case], after):
                    print(f"    {name} {case}: {before[case]} -> {after}")
            total.update({f"{kind} kept": kept, f"{kind} n": n})
            print(f"{kind:9} {name:16} {kept / max(1, n):.3f} of {n}", flush=True)
    for kind in KINDS:
        n = total[f"{kind} n"]
        print(f"{kind:9} {'all':16} {total[f'{kind} kept'] / max(1, n):.4f} of {n}")
    n, kept = (total[f"wrapper {what}"] - total[f"framed {what}"] for what in ("n", "kept"))
    print(f"{'wrapper':9} {'told by words':16} {kept / max(1, n):.4f} of {n}")
    return total


def main() -> int:
    """Score the given files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=0, help="texts to draw; 0 takes all")
    parser.add_argument("--only", nargs="*", default=[], help="names or kinds of changes")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    cases = dict(texts(args.files))
    if 0 < args.most < len(cases):
        cases = dict(random.Random(args.seed).sample(sorted(cases.items()), args.most))
    measure(cases, args.seed, set(args.only), args.verbose)
    return 0


if __name__ == "__main__":
    sys.exit(main())
