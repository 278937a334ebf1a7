"""Changes: the smallest by which it fits, found by trying them in the account, one at a time and then two."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import msgspec

from gpuwhy.fit.account import width_of
from gpuwhy.fit.bits import shown
from gpuwhy.fit.model import Model
from gpuwhy.fit.view import whole
from gpuwhy.knowledge.gpu_memory import SIZES
from gpuwhy.model.fit import Card, Change, Share, Use

WANTED = 3
NARROW = 1.5
"""What a change that only just fits weighs more."""


@dataclass(frozen=True)
class Move:
    """One thing that could be otherwise, how much it hurts, and in which words."""

    kind: str
    text: str
    options: str
    cost: str
    weight: float
    use: dict[str, Any] = field(default_factory=dict)
    ranks: bool = False  # changes how many GPUs there are


def smallest(model: Model, use: Use, cards: tuple[Card, ...], wanted: int = WANTED) -> tuple[Change, ...]:
    """The cheapest changes that make it fit, of different kinds; pairs where no single one does."""
    tries = _Tries(model, cards)
    found = list(_single(tries, use))
    if len(found) < wanted:
        found += _paired(tries, use, {change.kind for _, change in found})
    if len(found) < wanted:
        found += _other_card(model, use, cards)
    if len(found) < wanted:
        tries.strict = False
        again = [*_single(tries, use), *_paired(tries, use, {change.kind for _, change in found})]
        found += [(weight + NARROW, change) for weight, change in again]
    best: dict[str, tuple[float, Change]] = {}
    for weight, change in sorted(found, key=lambda row: row[0]):
        best.setdefault(" + ".join(sorted(change.kind.split(" + "))), (weight, change))
    return tuple(change for _, change in sorted(best.values(), key=lambda row: row[0])[:wanted])


class _Tries:
    """The account asked again and again, each question once."""

    def __init__(self, model: Model, cards: tuple[Card, ...]) -> None:
        self.model, self.cards = model, cards
        self.known: dict[Use, Share | None] = {}
        self.strict = True

    def fullest(self, use: Use) -> Share | None:
        """The GPU with the least left; None where the use makes no sense."""
        from gpuwhy.fit.answer import shares_of

        if use not in self.known:
            ranks = use.ranks
            cards = self.cards if len(self.cards) >= ranks else self.cards[:1] * ranks
            self.known[use] = shares_of(self.model, use, cards[:ranks])[0]
        return self.known[use]

    def fits(self, use: Use) -> bool:
        """Whether it fits, safely where that is asked for."""
        share = self.fullest(use)
        return share is not None and share.status in (("fits",) if self.strict else ("fits", "only_just"))


def _single(tries: _Tries, use: Use) -> Iterator[tuple[float, Change]]:
    for move in moves(tries, use):
        changed = msgspec.structs.replace(use, **move.use)
        if tries.fits(changed):
            yield move.weight, _change(tries, changed, (move,))


def _paired(tries: _Tries, use: Use, seen: set[str]) -> Iterator[tuple[float, Change]]:
    """Two at once: each second move is looked for after the first is made."""
    firsts = [move for move in moves(tries, use, searching=False) if move.kind not in seen and not move.ranks]
    for first in firsts:
        middle = msgspec.structs.replace(use, **first.use)
        for second in moves(tries, middle):
            if second.kind == first.kind or second.kind in seen:
                continue
            changed = msgspec.structs.replace(middle, **second.use)
            if tries.fits(changed):
                yield first.weight + second.weight, _change(tries, changed, (first, second))


def _change(tries: _Tries, use: Use, made: tuple[Move, ...]) -> Change:
    share = tries.fullest(use)
    assert share is not None
    return Change(
        kind=" + ".join(move.kind for move in made),
        text=" and ".join(move.text for move in made),
        options=" ".join(move.options for move in made),
        cost="; ".join(move.cost for move in made),
        bytes=share.bytes,
        room=share.card.room,
        status=share.status,
    )


def moves(tries: _Tries, use: Use, searching: bool = True) -> Iterator[Move]:
    """Everything that could be otherwise in this use; `searching` includes those that are found by bisection."""
    yield from _kinder(tries, use)
    yield from _narrower(tries, use)
    if searching:
        yield from _fewer(tries, use)
        yield from _split(tries, use)
    yield from _elsewhere(use)


def _kinder(tries: _Tries, use: Use) -> Iterator[Move]:
    """What costs time or nothing."""
    if use.attention == "eager":
        yield Move(
            "attention", "use fused attention (SDPA or flash)", "--attention fused", "none", 0.5, {"attention": "fused"}
        )
    if use.logits == "all" and use.task == "inference":
        yield Move(
            "logits",
            "compute the last token's logits only",
            "--logits last",
            "scores of the prompt",
            1.5,
            {"logits": "last"},
        )
    if use.task == "inference":
        return
    if not use.checkpointing:
        cost = "about a third more time for each step"
        yield Move("checkpointing", "checkpoint the activations", "--checkpointing", cost, 1.0, {"checkpointing": True})
    if use.optimizer in ("adam", "adamw", "adamw-fused"):
        cost = "none that is usually seen in the loss; needs bitsandbytes or torchao"
        yield Move(
            "optimizer",
            "keep the optimizer's state in 8 bits",
            "--optimizer adamw8bit",
            cost,
            1.2,
            {"optimizer": "adamw8bit"},
        )
        cost = "other learning rates; slower to converge for some models"
        yield Move("optimizer", "use Adafactor", "--optimizer adafactor", cost, 2.5, {"optimizer": "adafactor"})
    if use.task == "train":
        cost = "only adapters are trained"
        yield Move("lora", "train adapters (LoRA) instead of all weights", "--train lora", cost, 3.5, {"task": "lora"})


_EIGHT = Move(
    "quantise",
    "load the weights in 8 bits",
    "--quantise 8bit",
    "a little quality, and speed",
    2.0,
    {"quantise": "8bit"},
)
_FOUR = Move(
    "quantise", "load the weights in 4 bits", "--quantise 4bit", "some quality, and speed", 2.6, {"quantise": "4bit"}
)
_HALF = Move("dtype", "use bf16 weights", "--dtype bf16", "less precise numbers", 1.5, {"dtype": "bf16"})
_HALF_TRAINED = replace(_HALF, cost="less precise sums; small updates may be lost", weight=2.2)
_AUTOCAST = Move(
    "amp",
    "compute in bf16 by autocast",
    "--amp",
    "none that is usually seen in the loss",
    1.1,
    {"amp": True, "dtype": "f32"},
)
_CACHE = Move(
    "kv cache", "keep the KV cache in fp8", "--kv-dtype fp8", "a little quality", 1.6, {"kv_dtype": "f8_e4m3"}
)


def _narrower(tries: _Tries, use: Use) -> Iterator[Move]:
    """Narrower numbers."""
    view = whole(tries.model, use)
    if not use.amp:
        yield from _narrower_weights(use, use.dtype or view.weights.dtype)
    cached = use.task == "inference" and view.shape is not None and view.shape.causal
    if cached and not use.kv_dtype and width_of(view, use).low >= 2:
        yield _CACHE


def _narrower_weights(use: Use, now: str) -> Iterator[Move]:
    if now in ("f32", "f64"):
        yield _HALF if use.task == "inference" else _HALF_TRAINED
    if use.task == "train":
        if now == "f32":
            yield _AUTOCAST
    elif now in ("f32", "f16", "bf16") and not use.quantise:
        yield _EIGHT
        yield _FOUR


def _fewer(tries: _Tries, use: Use) -> Iterator[Move]:
    """Less at a time: the largest batch, the most tokens, the largest picture that fits."""
    best = _largest(1, use.batch - 1, lambda n: tries.fits(msgspec.structs.replace(use, batch=n)))
    if best:
        cost = (
            f"{use.batch / best:.1f} times as many steps" if use.task == "inference" else _accumulate(use.batch, best)
        )
        yield Move(
            "batch",
            f"a batch of {best}",
            f"--batch {best}",
            cost,
            1.0 + math.log2(use.batch / best) / 2,
            {"batch": best},
        )
    for name, step, what in (("tokens", 64, "tokens"), ("image", 32, "pixels a side")):
        now = getattr(use, name)
        fits = _at(tries, use, name, step)
        best = _largest(1, max(0, (now - 1) // step), fits) if now else 0
        if best and best * step < now:
            cost = f"{now - best * step} {what} less"
            weight = 2.0 + math.log2(now / (best * step))
            yield Move(name, f"{best * step} {what}", f"--{name} {best * step}", cost, weight, {name: best * step})


def _at(tries: _Tries, use: Use, name: str, step: int) -> Callable[[int], bool]:
    return lambda n: tries.fits(msgspec.structs.replace(use, **{name: n * step}))


def _accumulate(now: int, best: int) -> str:
    return f"accumulate {-(-now // best)} steps for the same batch; a little more time"


def _largest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """The largest number that fits, by bisection; 0 where none does."""
    if high < low or not fits(low):
        return 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _split(tries: _Tries, use: Use) -> Iterator[Move]:
    """More GPUs of the same kind, as few as it takes."""
    if len({card.room for card in tries.cards}) > 1:
        return
    if use.task == "inference":
        ways = _tensor_parallel(use) if use.pp == 1 else ()
    else:
        ways = _shared(use) if use.tp * use.pp == 1 else ()
    yield from islice((move for move in ways if tries.fits(msgspec.structs.replace(use, **move.use))), 1)


def _tensor_parallel(use: Use) -> Iterator[Move]:
    for count in _more_gpus(use):
        text = f"split it over {count} GPUs (tensor parallel)"
        yield _over(count, text, f"--tp {count}", {"tp": count})


def _shared(use: Use) -> Iterator[Move]:
    for count in _more_gpus(use):
        yield _over(count, f"share it by FSDP over {count} GPUs", f"--fsdp {count}", {"gpus": count, "zero": 3})


def _more_gpus(use: Use) -> list[int]:
    return [count for count in (2, 4, 8, 16, 32, 64) if count > use.ranks]


def _over(count: int, text: str, options: str, moved: dict[str, Any]) -> Move:
    return Move("split", text, options, f"{count} GPUs of this kind", 3.0 + math.log2(count), moved, ranks=True)


def _elsewhere(use: Use) -> Iterator[Move]:
    """On the host's side of the bus."""
    if use.task != "inference" and "optimizer" not in use.offload:
        cost = "each step waits for the host; needs its memory"
        moved = {"offload": (*use.offload, "optimizer")}
        yield Move("offload", "keep the optimizer on the host", "--offload optimizer", cost, 4.0, moved)
    if "weights" not in use.offload:
        cost = "every pass reads all weights over PCIe: many times slower"
        moved = {"offload": (*use.offload, "weights")}
        yield Move("offload", "keep the weights on the host", "--offload weights", cost, 6.0, moved)


def _other_card(model: Model, use: Use, cards: tuple[Card, ...]) -> Iterator[tuple[float, Change]]:
    """The smallest common card that takes it as it is."""
    from gpuwhy.fit.answer import shares_of
    from gpuwhy.fit.cards import described

    common = ("rtx 3060", "rtx 4090", "rtx 5090", "l40s", "a100 80", "h100", "h200", "b200")
    sizes = dict(SIZES)
    for name in sorted(common, key=lambda one: sizes[one]):
        word = {"a100 80": "A100-80GB"}.get(name, name.upper())
        card = described((word,))[0]
        if card.room <= cards[0].room:
            continue
        full = shares_of(model, use, (card,) * len(cards))[0]
        if full.status == "fits":
            text, cost = f"use a {word} ({shown(card.total)})", "another GPU"
            yield 5.0, Change("gpu", text, f'--gpu "{word}"', cost, full.bytes, card.room, full.status)
            return
