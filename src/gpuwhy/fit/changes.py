"""The smallest changes by which it fits, found by trying them one at a time and then two."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from gpuwhy.fit.account import width_of
from gpuwhy.fit.answer import Card, Change, Share, Use
from gpuwhy.fit.cards import described
from gpuwhy.fit.dtypes import shown
from gpuwhy.fit.judge import bisected, shares_of
from gpuwhy.fit.model import Model
from gpuwhy.fit.tables import table
from gpuwhy.fit.view import whole

_WANTED, _NARROW = 3, 1.5
"""How many are shown; what a change that only just fits weighs more."""
_COMMON = ("RTX 3060", "RTX 4090", "RTX 5090", "L40S", "A100-80GB", "H100", "H200", "B200")


@dataclass(frozen=True)
class Move:
    """One thing that could be otherwise, how much it hurts, and in which words."""

    kind: str
    text: str
    options: str
    cost: str
    weight: float
    use: dict[str, Any]
    ranks: bool = False  # changes how many GPUs there are


_MOVES = {name: Move(**row) for name, row in table("move").items()}


def smallest(model: Model, use: Use, cards: tuple[Card, ...]) -> tuple[Change, ...]:
    """The cheapest changes that make it fit, of different kinds; pairs where no single one does."""
    tries = _Tries(model, cards)
    found = list(tries.single(use))
    if len(found) < _WANTED:
        found += tries.paired(use, {change.kind for _, change in found})
    if len(found) < _WANTED:
        found += _other_card(model, use, cards)
    if len(found) < _WANTED:
        tries.strict = False
        again = [*tries.single(use), *tries.paired(use, {change.kind for _, change in found})]
        found += [(weight + _NARROW, change) for weight, change in again]
    best: dict[str, tuple[float, Change]] = {}
    for weight, change in sorted(found, key=lambda row: row[0]):
        kind = " + ".join(sorted(change.kind.split(" + ")))
        best.setdefault(kind, (weight, change))
    ordered = sorted(best.values(), key=lambda row: row[0])
    return tuple(change for _, change in ordered[:_WANTED])


class _Tries:
    """The account asked again and again, each question once."""

    def __init__(self, model: Model, cards: tuple[Card, ...]) -> None:
        self.model, self.cards = model, cards
        self.known: dict[Use, Share] = {}
        self.strict = True

    def fullest(self, use: Use) -> Share:
        """The GPU with the least left."""
        if use not in self.known:
            enough = len(self.cards) >= use.ranks
            cards = self.cards if enough else self.cards[:1] * use.ranks
            self.known[use] = shares_of(self.model, use, cards[: use.ranks])[0]
        return self.known[use]

    def fits(self, use: Use) -> bool:
        """Whether it fits, safely where that is asked for."""
        return self.fullest(use).status in (("fits",) if self.strict else ("fits", "only_just"))

    def single(self, use: Use) -> Iterator[tuple[float, Change]]:
        """One change."""
        for move in self.moves(use):
            changed = replace(use, **move.use)
            if self.fits(changed):
                yield move.weight, self.change(changed, (move,))

    def paired(self, use: Use, seen: set[str]) -> Iterator[tuple[float, Change]]:
        """Two at once: each second move is looked for after the first is made."""
        for first in self.moves(use, searching=False):
            if first.kind in seen or first.ranks:
                continue
            middle = replace(use, **first.use)
            for second in self.moves(middle):
                if second.kind == first.kind or second.kind in seen:
                    continue
                changed = replace(middle, **second.use)
                if self.fits(changed):
                    yield first.weight + second.weight, self.change(changed, (first, second))

    def change(self, use: Use, made: tuple[Move, ...]) -> Change:
        """The moves in words, with what the fullest GPU then holds."""
        share = self.fullest(use)
        return Change(
            kind=" + ".join(move.kind for move in made),
            text=" and ".join(move.text for move in made),
            options=" ".join(move.options for move in made),
            cost="; ".join(move.cost for move in made),
            bytes=share.bytes,
            room=share.card.room,
            status=share.status,
        )

    def moves(self, use: Use, searching: bool = True) -> Iterator[Move]:
        """Everything that could be otherwise; `searching` includes what is found by bisection."""
        yield from self._kinder(use)
        yield from self._narrower(use)
        if searching:
            yield from self._fewer(use)
            yield from self._split(use)
        where = [("weights", 6.0, "every pass reads all weights over PCIe: many times slower")]
        if use.task != "inference":
            cost = "each step waits for the host; needs its memory"
            where.append(("optimizer", 4.0, cost))
        for name, weight, cost in where:
            if name not in use.offload:
                text, options = f"keep the {name} on the host", f"--offload {name}"
                yield Move(
                    "offload", text, options, cost, weight, {"offload": (*use.offload, name)}
                )

    def _kinder(self, use: Use) -> Iterator[Move]:
        """What costs time or nothing."""
        if use.attention == "eager":
            yield _MOVES["fused"]
        if use.task == "inference":
            yield from (_MOVES["last"],) if use.logits == "all" else ()
            return
        yield from () if use.checkpointing else (_MOVES["checkpoints"],)
        if use.optimizer in ("adam", "adamw", "adamw-fused"):
            yield from (_MOVES["eight_bits"], _MOVES["adafactor"])
        yield from (_MOVES["lora"],) if use.task == "train" else ()

    def _narrower(self, use: Use) -> Iterator[Move]:
        """Narrower numbers."""
        view = whole(self.model, use)
        now = use.dtype or view.weights.dtype
        if not use.amp:
            yield from (_MOVES["half"],) if now in ("f32", "f64") else ()
            if use.task == "train":
                yield from (_MOVES["autocast"],) if now == "f32" else ()
            elif now in ("f32", "f16", "bf16") and not use.quantise:
                yield from (_MOVES["load_8bit"], _MOVES["load_4bit"])
        causal = use.task == "inference" and view.shape is not None and view.shape.causal
        if causal and not use.kv_dtype and width_of(view, use).low >= 2:
            yield _MOVES["fp8_cache"]

    def _fewer(self, use: Use) -> Iterator[Move]:
        """Less at a time: the largest batch, the most tokens, the largest picture that fits."""

        def fits(batch: int) -> bool:
            return self.fits(replace(use, batch=batch))

        best = bisected(use.batch - 1, fits) if use.batch > 1 else 0
        if best:
            steps = -(-use.batch // best)
            cost = f"accumulate {steps} steps for the same batch; a little more time"
            if use.task == "inference":
                cost = f"{use.batch / best:.1f} times as many steps"
            weight = 1.0 + math.log2(use.batch / best) / 2
            text, options = f"a batch of {best}", f"--batch {best}"
            yield Move("batch", text, options, cost, weight, {"batch": best})
        for name, step, what in (("tokens", 64, "tokens"), ("image", 32, "pixels a side")):
            now: int = getattr(use, name)
            size = self._most(use, name, step, now)
            if size:
                weight = 2.0 + math.log2(now / size)
                text, options = f"{size} {what}", f"--{name} {size}"
                yield Move(name, text, options, f"{now - size} {what} less", weight, {name: size})

    def _most(self, use: Use, name: str, step: int, now: int) -> int:
        """The most tokens, or the largest picture, that fits; 0 where nothing does."""

        def fits(count: int) -> bool:
            return self.fits(replace(use, **{name: count * step}))

        return bisected((now - 1) // step, fits) * step if now > step else 0

    def _split(self, use: Use) -> Iterator[Move]:
        """More GPUs of the same kind, as few as it takes."""
        serves = use.task == "inference"
        single = use.pp == 1 if serves else use.tp * use.pp == 1
        if len({card.room for card in self.cards}) > 1 or not single:
            return
        for count in (2, 4, 8, 16, 32, 64):
            if count <= use.ranks:
                continue
            text = f"share it by FSDP over {count} GPUs"
            options, moved = f"--fsdp {count}", {"gpus": count, "zero": 3}
            if serves:
                text = f"split it over {count} GPUs (tensor parallel)"
                options, moved = f"--tp {count}", {"tp": count}
            if self.fits(replace(use, **moved)):
                cost, weight = f"{count} GPUs of this kind", 3.0 + math.log2(count)
                yield Move("split", text, options, cost, weight, moved, ranks=True)
                return


def _other_card(model: Model, use: Use, cards: tuple[Card, ...]) -> Iterator[tuple[float, Change]]:
    """The smallest common card that takes it as it is."""
    for card in sorted((described((name,))[0] for name in _COMMON), key=lambda one: one.total):
        if card.room <= cards[0].room:
            continue
        full = shares_of(model, use, (card,) * len(cards))[0]
        if full.status == "fits":
            name = card.name.removeprefix("GeForce ")
            text, options = f"use a {name} ({shown(card.total)})", f'--gpu "{name}"'
            yield (
                5.0,
                Change("gpu", text, options, "another GPU", full.bytes, card.room, full.status),
            )
            return
