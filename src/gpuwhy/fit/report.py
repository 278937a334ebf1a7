"""Whether a model fits, as a document: the answer, the parts, what would make it fit."""

from gpuwhy.answer.blocks import fold, item, items, pair, pairs, table
from gpuwhy.answer.text import size as shown
from gpuwhy.answer.tree import Bar, Block, Code, Document, Heading, Mark
from gpuwhy.fit.answer import Fit
from gpuwhy.fit.dtypes import counted

_MARKS: dict[str, Mark] = {
    "fits": "ok",
    "only_just": "warn",
    "does_not_fit": "bad",
    "unknown": "unknown",
}


def document(found: Fit, detail: int = 0) -> Document:
    """The answer; every part of every GPU with its bounds where `detail` asks for it."""
    about, use = found.model, found.use
    used = [f"batch {use.batch}", f"{use.tokens} tokens" if use.tokens else "pictures"]
    used.append(use.framework)
    if use.task != "inference":
        used.append(use.optimizer + (", autocast" if use.amp else ""))
    under = f"{about.format} · {counted(about.parameters)} parameters · {', '.join(used)}"
    blocks: list[Block] = [Heading((found.headline,), _MARKS[found.status], under=(under,))]
    for share in found.shares if detail else found.shares[:1]:
        # what fragmentation gives back when memory runs short is not counted, as in the headline
        given = share.bytes - min(share.bytes, max(share.needs, share.card.room))
        parts = tuple(
            (str(part.name), part.bytes - given * (part.name == "fragmentation"))
            for part in share.parts
        )
        text = f"GPU {share.gpu}: {share.card.name}, {share.card.text}"
        blocks.append(Bar(parts, share.card.room, text))
        if detail:
            lines = [
                (
                    str(one.name),
                    f"{shown(one.least)} and {shown(one.most)}",
                    f"{one.how}: {one.text}",
                )
                for one in share.parts
            ]
            blocks.append(table(("part", "between", "of what"), lines))
    changes = [
        item((f"{one.text}: {shown(one.bytes)}, costs {one.cost}  ", Code(one.options)))
        for one in found.changes
    ]
    blocks += fold("What would make it fit", items(changes), open=True)
    if one := found.serving:
        left = f"what is left of {one.share:g} of the card (--gpu-memory-utilization)"
        cache = ("KV cache", f"{one.tokens:,} tokens", f"{shown(one.cache)}: {left}")
        requests = f"requests of {one.length:,} tokens at once"
        rows = [cache, ("concurrency", f"{one.concurrency:.2f}x", requests)]
        blocks.append(table(("vLLM", "", ""), rows))
    if found.status in ("fits", "only_just") and found.largest > use.batch:
        blocks.append(pairs(pair("At most", f"a batch of {found.largest}")))
    unknown = found.unknown[: None if detail else 3]
    blocks += fold("Not counted", items(item(one, mark="unknown") for one in unknown), open=True)
    return Document(tuple(blocks), title="gpuwhy fit", about=about.path)
