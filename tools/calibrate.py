"""How often a cause is right at each share of the odds: reliability, coverage, and the table of diagnose/weigh.py.

    python tools/calibrate.py LABELLED.jsonl... [--alike 20] [--at 0.98]

LABELLED holds JSON lines with "log", "cause" ("healthy" or "" for none) and, where several are right, "also" or
"also_acceptable". Rows and weights were made beside such texts, so that shares look better on them than they are: of
each tenth of the shares `--alike` imagined texts are added that are right as often as the share itself says.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from gpuwhy.diagnose.weigh import TABLE, calibrated
from gpuwhy.diagnose.weigh import diagnose
from gpuwhy.log.read import read

KNOTS = (0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
NONE = ("", "healthy")
MOST = 0.99


class Said(NamedTuple):
    """What was said first of one text: its share of the odds, and whether it was right."""

    share: float
    right: bool


def said(files: Iterable[Path]) -> Iterator[Said]:
    """The first cause of each text; one that should have none counts as wrong if it has one."""
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            row = msgspec.json.decode(line)
            fair = {row["cause"], *row.get("also", ()), *row.get("also_acceptable", ())}
            first = diagnose(read(row["log"].encode())).first
            if first is not None:
                yield Said(share_of(first.confidence), first.cause in fair - set(NONE))


def share_of(confidence: float) -> float:
    """The share that a confidence came from."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if calibrated(middle) < confidence else (low, middle)
    return (low + high) / 2


def reliability(texts: list[Said]) -> Iterator[str]:
    """One line per tenth of the confidence: how many texts, how many of them right."""
    for tenth in range(10):
        inside = [
            one for one in texts if tenth <= min(9.999, calibrated(one.share) * 10) < tenth + 1
        ]
        if inside:
            right = sum(one.right for one in inside)
            yield f"{tenth / 10:.1f}-{(tenth + 1) / 10:.1f}  {len(inside):4}  right {right / len(inside):.3f}"


def coverage(texts: list[Said], at: float) -> tuple[float, float]:
    """The part of the texts that can be said with this precision, and the share from which on."""
    right, best = 0, (0.0, 1.0)
    order = sorted(texts, reverse=True)
    for number, one in enumerate(order, 1):
        right += one.right
        if right / number >= at:
            best = (number / len(order), one.share)
    return best


def table(texts: list[Said], alike: int) -> list[tuple[float, float]]:
    """Share → share of right answers: never falling, drawn to the share itself where few texts are."""
    found = [(0.0, 0.0)]
    for low, knot, high in zip(KNOTS, KNOTS[1:], (*KNOTS[2:], 1.0), strict=False):
        near = [one for one in texts if (low + knot) / 2 <= one.share <= (knot + high) / 2]
        right = sum(one.right for one in near) + alike * knot
        found.append((knot, max(found[-1][1], round(min(MOST, right / (len(near) + alike)), 2))))
    return found


def main() -> int:
    """Read, count, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--alike", type=int, default=20)
    parser.add_argument("--at", type=float, default=0.98)
    args = parser.parse_args()
    texts = list(said(args.files))
    print(*reliability(texts), sep="\n")
    covered, share = coverage(texts, args.at)
    print(
        f"{args.at:.2f} right for {covered:.2f} of {len(texts)} texts, from a share of {share:.2f} on"
    )
    print("now  ", TABLE)
    print("TABLE =", tuple(table(texts, args.alike)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
