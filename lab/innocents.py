"""Innocent endings after harmless notes, composed at random: how often is the GPU stack accused?

    python -m lab.innocents NOTES.jsonl ENDINGS.jsonl [--seed 1] [--n 3000] [--out ACCUSED.jsonl] [-v]

Both are files of JSON lines with "name" and "log", or a name in lab/innocent/: "notes" of healthy
programs, "texts" and "ends" of other programs; "none" and "wholes" draw whole texts as people paste
them. A composition is one or two notes, what a training prints, an ending, and perhaps a launcher's
words or a prefix before each line (lab/restating.py). An accusation is a cause other than
other.not_gpu, or a fair neighbour of the ending, at 0.5 or more.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gpuwhy.diagnose.weigh import diagnose
from gpuwhy.log.read import read
from lab.restating import LAUNCHED, PREFIXES, STYLES

FOUND = 0.5
FAIR = ("other.not_gpu", "env.limit")
"""What accuses no part of the stack: a full disk, a limit or a closed folder is a cause by itself, GPU or not."""
TAILS = ("torchrun", "accelerate", "srun-exit", "conda-run", "wandb", "semaphores", "hydra", "ci", "docker-exit")
MARKS = ("kubernetes", "journald", "srun", "rank", "ray", "logging", "actions", "airflow", "clock-bracket", "quoted")


class Composed(NamedTuple):
    """A text, what it is made of, and the causes that may be named for its ending."""

    name: str
    log: str
    fair: tuple[str, ...]


KEPT = Path(__file__).parent / "innocent"


def rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a file, or of a name in lab/innocent/, that hold a text."""
    if str(path) == "none":
        return []
    own = KEPT / f"{path}.jsonl"
    text = (own if own.is_file() else path).read_text(encoding="utf-8")
    found = (json.loads(line) for line in text.splitlines())
    return [row for row in found if row["log"].strip()]


CAUGHT = (
    "[auto-batch] batch size {n} failed: CUDA out of memory. Tried to allocate 78.12 GiB. GPU 0 has a total capacity of 79.15 GiB "
    "of which 61.16 GiB is free.; halving",
    "batch {n}: RuntimeError('CUDA error: out of memory'), trying the next smaller one",
    "warm-up with compile failed (torch._inductor.exc.InductorError: CppCompileError), going on in eager mode",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.91 GiB. GPU 0 has a total capacity of 23.68 GiB.",
    "flash-attn not usable (No module named 'flash_attn'), using sdpa",
    "Trial {n} failed because of the following error: OutOfMemoryError('CUDA out of memory. Tried to allocate 2.25 GiB.').",
    "skipping candidate {n}: cuDNN error: CUDNN_STATUS_NOT_SUPPORTED",
)
"""GPU errors that a program met, told in its own words and went on from."""


def chatter(draw: random.Random) -> str:
    """What a training prints between its notes and its end."""
    shape = draw.choice(
        ("step {n} loss {x:.4f}", "Epoch {n}/10 - loss: {x:.4f} - acc: 0.8123", "[{n}/400] lr 1e-4 loss {x:.3f}", "")
    )
    if not shape:
        return ""
    caught = "".join(draw.choice(CAUGHT).format(n=n) + "\n" for n in range(draw.choice((0, 0, 0, 1, 3))))
    return caught + "\n".join(shape.format(n=n, x=draw.random()) for n in range(1, draw.randrange(3, 8))) + "\n"


def composed(
    notes: list[dict[str, Any]], endings: list[dict[str, Any]], draw: random.Random, number: int
) -> Iterator[Composed]:
    """So many texts; every ending comes about equally often."""
    order: list[dict[str, Any]] = []
    for _ in range(number):
        order = order or draw.sample(endings, len(endings))
        if not notes:
            yield _pasted(order.pop(), draw)
            continue
        ending, used = order.pop(), draw.sample(notes, draw.choice((0, 1, 1, 1, 2)))
        before = "".join(note["log"].rstrip() + "\n" for note in used)
        text = before + chatter(draw) + ending["log"].rstrip() + "\n"
        change = draw.choice(("", "", "", *(f"launcher {n}" for n in TAILS[:3]), "prefix"))
        if change == "prefix":
            change = draw.choice(MARKS)
            text = PREFIXES[change](text.rstrip("\n"), draw)
        elif change:
            change = draw.choice(TAILS)
            text = LAUNCHED[change](text, draw)
        name = "+".join([*(n["name"] for n in used), ending["name"], *([change] if change else [])])
        yield Composed(name, text, tuple(ending.get("fair", ())))


def _pasted(whole: dict[str, Any], draw: random.Random) -> Composed:
    """A whole text, as it is or as somebody pastes it."""
    name, change = draw.choice((("", None), *PREFIXES.items(), *STYLES.items()))
    text = change(whole["log"], draw) if change else whole["log"]
    return Composed("+".join(filter(None, (whole["name"], name))), text, ())


def accused(text: Composed) -> tuple[str, float] | None:
    """The cause that is named wrongly, and how surely."""
    first = next(iter(diagnose(read(text.log)).causes), None)
    if first is None or first.confidence < FOUND or first.cause in (*FAIR, *text.fair):
        return None
    return first.cause, first.confidence


def main() -> int:
    """Compose, ask, count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notes", type=Path)
    parser.add_argument("endings", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--n", type=int, default=3000)
    parser.add_argument("--out", type=Path, help="keep the texts that are accused")
    parser.add_argument("-v", "--verbose", action="store_true")
    args = parser.parse_args()
    by: Counter[str] = Counter()
    number, kept = 0, []
    for text in composed(rows(args.notes), rows(args.endings), random.Random(args.seed), args.n):
        found, number = accused(text), number + 1
        if found:
            by[found[0]] += 1
            kept.append({"id": text.name, "said": found, "log": text.log})
            if args.verbose:
                print(f"  {found[0]} {found[1]:.2f} {text.name}")
    if args.out:
        args.out.write_text("".join(json.dumps(one) + "\n" for one in kept), encoding="utf-8")
    print(f"{number} compositions, accused {by.total()}: {dict(by.most_common())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
