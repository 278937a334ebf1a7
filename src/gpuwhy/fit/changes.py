"""The smallest changes by which it fits, found by trying them one at a time and then two."""

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
from gpuwhy.fit.view import view_of

_WANTED = 3  # how many are shown
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
    alone = {change.kind for _, change in found if change.status == "fits"}
    if len(alone) < _WANTED:  # two at once: each second move is looked for after the first is made
        for first in (move for move in tries.plain(use) if move.kind not in alone):
            seen = {*alone, first.kind}
            found += tries.single(replace(use, **first.use), (first,), seen)
    if sum(change.status == "fits" for _, change in found) < _WANTED:
        found += _other_card(model, use, cards)
    best: dict[frozenset[str], Change] = {}
    for _, change in sorted(found, key=lambda row: (row[1].status != "fits", row[0])):
        best.setdefault(frozenset(change.kind.split(" + ")), change)
    return tuple(best.values())[:_WANTED]


class _Tries:
    """The account asked again and again, each question once."""

    def __init__(self, model: Model, cards: tuple[Card, ...]) -> None:
        self.model, self.cards = model, cards
        self.known: dict[Use, Share] = {}

    def fullest(self, use: Use) -> Share:
        """The GPU with the least left."""
        if use not in self.known:
            enough = len(self.cards) >= use.ranks
            cards = self.cards if enough else self.cards[:1] * use.ranks
            self.known[use] = shares_of(self.model, use, cards[: use.ranks])[0]
        return self.known[use]

    def fits(self, use: Use) -> bool:
        """Whether it safely fits."""
        return self.fullest(use).status == "fits"

    def single(
        self, use: Use, made: tuple[Move, ...] = (), seen: Collection[str] = ()
    ) -> Iterator[tuple[float, Change]]:
        """One change, after those that were made, with what the fullest GPU then holds."""
        for move in self.moves(use):
            share = self.fullest(replace(use, **move.use))
            if move.kind in seen or share.status == "does_not_fit":
                continue
            moves = (*made, move)
            change = Change(
                kind=" + ".join(one.kind for one in moves),
                text=" and ".join(one.text for one in moves),
                options=" ".join(one.options for one in moves),
                cost="; ".join(one.cost for one in moves),
                bytes=share.bytes,
                room=share.card.room,
                status=share.status,
            )
            yield sum(one.weight for one in moves), change

    def plain(self, use: Use) -> Iterator[Move]:
        """The moves of the table that would change something here."""
        view = view_of(self.model, use)
        now, trains = use.dtype or view.weights.dtype, use.task != "inference"
        adam = trains and use.optimizer in ("adam", "adamw", "adamw-fused")
        loads = use.task != "train" and now in ("f32", "f16", "bf16") and not use.quantise
        could = {
            "fused": use.attention == "eager",
            "checkpoints": trains and not use.checkpointing,
            "eight_bits": adam,
            "adafactor": adam,
            "lora": use.task == "train",
            "half": not use.amp and now in ("f32", "f64"),
            "autocast": not use.amp and use.task == "train" and now == "f32",
            "load_8bit": not use.amp and loads,
            "load_4bit": not use.amp and loads,
            "fp8_cache": not trains and view.shape and view.shape.causal and not use.kv_dtype,
        }
        yield from (_MOVES[name] for name, helps in could.items() if helps)

    def moves(self, use: Use) -> Iterator[Move]:
        """Those, and what is found by bisection: a batch, a count of tokens, of GPUs."""
        yield from self.plain(use)
        if best := self.most(use, "batch", 1):
            cost = f"{use.batch / best:.1f} times as many steps"
            if use.task != "inference":
                steps = -(-use.batch // best)
                cost = f"accumulate {steps} steps for the same batch; a little more time"
            weight, text = 1.0 + math.log2(use.batch / best) / 2, f"a batch of {best}"
            yield Move("batch", text, f"--batch {best}", cost, weight, {"batch": best})
        if best := self.most(use, "tokens", 64):
            weight, cost = 2.0 + math.log2(use.tokens / best), f"{use.tokens - best} tokens less"
            text, options = f"{best} tokens", f"--tokens {best}"
            yield Move("tokens", text, options, cost, weight, {"tokens": best})
        serves, alike = use.task == "inference", len({card.room for card in self.cards}) == 1
        for count in (2, 4, 8, 16, 32, 64) if alike and (serves or use.tp == 1) else ():
            moved = {"tp": count} if serves else {"gpus": count, "zero": 3}
            if count > use.ranks and self.fits(replace(use, **moved)):
                text = f"share it by FSDP over {count} GPUs"
                if serves:
                    text = f"split it over {count} GPUs (tensor parallel)"
                options = f"--{'tp' if serves else 'fsdp'} {count}"
                cost, weight = f"{count} GPUs of this kind", 3.0 + math.log2(count)
                yield Move("split", text, options, cost, weight, moved)
                return

    def most(self, use: Use, name: str, step: int) -> int:
        """The most of something, in whole steps, that fits; 0 where nothing does."""

        def fits(count: int) -> bool:
            return self.fits(replace(use, **{name: count * step}))

        now: int = getattr(use, name)
        return bisected((now - 1) // step, fits) * step if now > step else 0


def _other_card(model: Model, use: Use, cards: tuple[Card, ...]) -> Iterator[tuple[float, Change]]:
    """The smallest common card that takes it as it is."""
    for card in sorted((described((name,))[0] for name in _COMMON), key=lambda one: one.total):
        full = shares_of(model, use, (card,) * len(cards))[0]
        if card.room > cards[0].room and full.status == "fits":
            name = card.name.removeprefix("GeForce ")
            text, options = f"use a {name} ({shown(card.total)})", f'--gpu "{name}"'
            cost, room = "another GPU", card.room
            yield 5.0, Change("gpu", text, options, cost, full.bytes, room, full.status)
            return
