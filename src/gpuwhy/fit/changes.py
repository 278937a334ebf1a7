"""The smallest changes by which it fits, found by trying them one at a time and then two."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from gpuwhy.answer.text import size as shown
from gpuwhy.fit.answer import Card, Change, Share, Use
from gpuwhy.fit.ask import described
from gpuwhy.fit.dtypes import table
from gpuwhy.fit.judge import bisected, shares_of
from gpuwhy.fit.model import Model
from gpuwhy.fit.view import whole

_WANTED, _NARROW = 3, 1.5  # how many are shown; what a change that only just fits weighs more
_COMMON = ("RTX 3060", "RTX 4090", "RTX 5090", "L40S", "A100-80GB", "H100", "H200", "B200")


class Move(msgspec.Struct, frozen=True):
    """One thing that could be otherwise, how much it hurts, and in which words."""

    kind: str
    text: str
    options: str
    cost: str
    weight: float
    use: dict[str, Any]


_MOVES = msgspec.convert(table("move"), dict[str, Move])


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
    best: dict[frozenset[str], Change] = {}
    for _, change in sorted(found, key=lambda row: row[0]):
        best.setdefault(frozenset(change.kind.split(" + ")), change)
    return tuple(best.values())[:_WANTED]


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

    def single(
        self, use: Use, made: tuple[Move, ...] = (), seen: Collection[str] = ()
    ) -> Iterator[tuple[float, Change]]:
        """One change, after those that were made."""
        for move in self.moves(use):
            changed = replace(use, **move.use)
            if move.kind not in seen and self.fits(changed):
                moves = (*made, move)
                yield sum(one.weight for one in moves), self.change(changed, moves)

    def paired(self, use: Use, seen: set[str]) -> Iterator[tuple[float, Change]]:
        """Two at once: each second move is looked for after the first is made."""
        for first in self.moves(use, searching=False):
            if first.kind not in seen:
                changed = replace(use, **first.use)
                yield from self.single(changed, (first,), {*seen, first.kind})

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
        yield from (_MOVES[name] for name, could in self._plain(use).items() if could)
        if searching:
            yield from self._fewer(use)
            yield from self._split(use)
        for name in ("weights", "optimizer"):
            row = _MOVES[f"offload_{name}"]
            if name not in use.offload and (name == "weights" or use.task != "inference"):
                yield replace(row, use={"offload": (*use.offload, name)})

    def _plain(self, use: Use) -> dict[str, bool]:
        """The moves of the table, and whether each would change something here."""
        view = whole(self.model, use)
        now, trains = use.dtype or view.weights.dtype, use.task != "inference"
        adam = trains and use.optimizer in ("adam", "adamw", "adamw-fused")
        loads = use.task != "train" and now in ("f32", "f16", "bf16") and not use.quantise
        causal = not trains and view.shape is not None and view.shape.causal
        return {
            "fused": use.attention == "eager",
            "last": not trains and use.logits == "all",
            "checkpoints": trains and not use.checkpointing,
            "eight_bits": adam,
            "adafactor": adam,
            "lora": use.task == "train",
            "half": not use.amp and now in ("f32", "f64"),
            "autocast": not use.amp and use.task == "train" and now == "f32",
            "load_8bit": not use.amp and loads,
            "load_4bit": not use.amp and loads,
            "fp8_cache": causal and not use.kv_dtype,
        }

    def _fewer(self, use: Use) -> Iterator[Move]:
        """Less at a time: the largest batch, the most tokens, the largest picture that fits."""
        best = self._most(use, "batch", 1)
        if best:
            cost = f"{use.batch / best:.1f} times as many steps"
            if use.task != "inference":
                steps = -(-use.batch // best)
                cost = f"accumulate {steps} steps for the same batch; a little more time"
            weight = 1.0 + math.log2(use.batch / best) / 2
            options = f"--batch {best}"
            yield Move("batch", f"a batch of {best}", options, cost, weight, {"batch": best})
        for name, step, what in (("tokens", 64, "tokens"), ("image", 32, "pixels a side")):
            now, best = getattr(use, name), self._most(use, name, step)
            if best:
                weight, cost = 2.0 + math.log2(now / best), f"{now - best} {what} less"
                options = f"--{name} {best}"
                yield Move(name, f"{best} {what}", options, cost, weight, {name: best})

    def _most(self, use: Use, name: str, step: int) -> int:
        """The most of something, in whole steps, that fits; 0 where nothing does."""

        def fits(count: int) -> bool:
            return self.fits(replace(use, **{name: count * step}))

        now: int = getattr(use, name)
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
                yield Move("split", text, options, cost, weight, moved)
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
            cost, room = "another GPU", card.room
            yield 5.0, Change("gpu", text, options, cost, full.bytes, room, full.status)
            return
