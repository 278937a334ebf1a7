"""Whether a model fits, as a document: the answer, the parts, what would make it fit."""

from __future__ import annotations

from gpuwhy.answer.blocks import fold, item, items, pair, pairs, table
from gpuwhy.answer.text import size as shown
from gpuwhy.answer.tree import Bar, Block, Code, Document, Heading, Mark, Soft
from gpuwhy.fit.answer import Fit, Part, Serving, Share
from gpuwhy.fit.dtypes import counted

_MARKS: dict[str, Mark] = {
    "fits": "ok",
    "only_just": "warn",
    "does_not_fit": "bad",
    "unknown": "unknown",
}


def document(found: Fit, detail: int = 0) -> Document:
    """The answer; every part of every GPU with its bounds where `detail` asks for it."""
    about = found.model
    under = f"{about.format} · {counted(about.parameters)} parameters · {_use(found)}"
    blocks: list[Block] = [Heading((found.headline,), _MARKS[found.status], under=(under,))]
    for share in found.shares if detail else found.shares[:1]:
        blocks.append(_bar(share))
        if detail:
            blocks.append(table(("part", "between", "of what"), map(_row, share.parts)))
    changes = [
        item((f"{one.text}: {shown(one.bytes)}, costs {one.cost}  ", Code(one.options)))
        for one in found.changes
    ]
    blocks += fold("What would make it fit", items(changes), open=True)
    if found.serving:
        blocks.append(_serving(found.serving))
    if found.status in ("fits", "only_just") and found.largest > found.use.batch:
        blocks.append(pairs(pair("At most", f"a batch of {found.largest}")))
    unknown = found.unknown[: None if detail else 3]
    blocks += fold("Not counted", items(item(one, mark="unknown") for one in unknown), open=True)
    notes = items(item((Soft(one),)) for one in found.notes if detail)
    blocks += fold("Taken for granted", notes, open=True)
    return Document(tuple(blocks), title="gpuwhy fit", about=about.path)


def _use(found: Fit) -> str:
    use = found.use
    size = f"{use.tokens} tokens" if use.tokens else f"pictures of {use.image}"
    parts = [f"batch {use.batch}", size, use.framework]
    if use.task != "inference":
        parts.append(use.optimizer + (", autocast" if use.amp else ""))
    return ", ".join(parts)


def _bar(share: Share) -> Bar:
    """What fragmentation gives back when memory runs short is not counted, as in the headline."""
    given = share.bytes - min(share.bytes, max(share.needs, share.card.room))
    parts = tuple(
        (str(part.name), part.bytes - given * (part.name == "fragmentation"))
        for part in share.parts
    )
    return Bar(parts, share.card.room, f"GPU {share.gpu}: {share.card.name}, {share.card.text}")


def _row(part: Part) -> tuple[str, str, str]:
    text = f"{part.how}: {part.text}" + (f" [{part.source}]" if part.source else "")
    return part.name, f"{shown(part.least)} and {shown(part.most)}", text


def _serving(one: Serving) -> Block:
    share = f"what is left of {one.share:g} of the card (--gpu-memory-utilization)"
    requests = f"requests of {one.length:,} tokens at once"
    rows = [
        ("KV cache", f"{one.tokens:,} tokens", f"{shown(one.cache)}: {share}"),
        ("concurrency", f"{one.concurrency:.2f}x", requests),
    ]
    return table(("vLLM", "", ""), rows)
