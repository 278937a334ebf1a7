"""Whether a model fits, as a document: the answer, the parts, what would make it fit."""

from __future__ import annotations

from gpuwhy.answer.tree import (
    Bar,
    Block,
    Code,
    Document,
    Fold,
    Heading,
    Item,
    Items,
    Line,
    Mark,
    Pair,
    Pairs,
    Soft,
    Table,
)
from gpuwhy.fit.answer import Fit, Part, Serving, Share
from gpuwhy.fit.dtypes import counted, shown

_MARKS: dict[str, Mark] = {
    "fits": "ok",
    "only_just": "warn",
    "does_not_fit": "bad",
    "unknown": "unknown",
}


def document(found: Fit, detail: int = 0) -> Document:
    """The answer; every part of every GPU with its bounds where `detail` asks for it."""
    about = found.model
    under: Line = (f"{about.format} · {counted(about.parameters)} parameters · {_use(found)}",)
    blocks: list[Block] = [Heading((found.headline,), _MARKS[found.status], under=under)]
    shares = found.shares if detail else found.shares[:1]
    for share in shares:
        blocks += [_bar(share)] + ([_parts(share)] if detail else [])
    if found.changes:
        rows = tuple(
            Item(((f"{one.text}: {shown(one.bytes)}, costs {one.cost}  ", Code(one.options)),))
            for one in found.changes
        )
        blocks.append(Fold("What would make it fit", (Items(rows),), open=True))
    if found.serving:
        blocks.append(_serving(found.serving))
    if found.status in ("fits", "only_just") and found.largest > found.use.batch:
        blocks.append(Pairs((Pair("At most", ((f"a batch of {found.largest}",),)),)))
    if found.unknown:
        rows = tuple(Item(((one,),), "unknown") for one in found.unknown[: None if detail else 3])
        blocks.append(Fold("Not counted", (Items(rows),), open=True))
    if found.notes and detail:
        rows = tuple(Item(((Soft(one),),)) for one in found.notes)
        blocks.append(Fold("Taken for granted", (Items(rows),), open=True))
    return Document(tuple(blocks), title="gpuwhy fit", about=about.path)


def _use(found: Fit) -> str:
    use = found.use
    parts = [f"batch {use.batch}"]
    parts += [f"{use.tokens} tokens"] if use.tokens else [f"pictures of {use.image}"]
    parts += [use.framework]
    if use.task != "inference":
        parts.append(use.optimizer + (", autocast" if use.amp else ""))
    return ", ".join(parts)


def _bar(share: Share) -> Bar:
    parts = tuple((str(part.name), part.bytes) for part in share.parts)
    return Bar(parts, share.card.room, f"GPU {share.gpu}: {share.card.name}, {share.card.text}")


def _parts(share: Share) -> Block:
    return Table(("part", "between", "of what"), tuple(map(_row, share.parts)))


def _row(part: Part) -> tuple[Line, ...]:
    text = f"{part.how}: {part.text}" + (f" [{part.source}]" if part.source else "")
    return (part.name,), (f"{shown(part.least)} and {shown(part.most)}",), (text,)


def _serving(one: Serving) -> Block:
    share = f"what is left of {one.share:g} of the card (--gpu-memory-utilization)"
    rows: tuple[tuple[Line, ...], ...] = (
        (("KV cache",), (f"{one.tokens:,} tokens",), (f"{shown(one.cache)}: {share}",)),
        (
            ("concurrency",),
            (f"{one.concurrency:.2f}x",),
            (f"requests of {one.length:,} tokens at once",),
        ),
    )
    return Table(("vLLM", "", ""), rows)
