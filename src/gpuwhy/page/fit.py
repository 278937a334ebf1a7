"""The page of a fit: a bar of the parts beside what the GPU has, the parts in numbers, the changes."""

from __future__ import annotations

from gpuwhy.page.element import Child, Element, el
from gpuwhy.page.memory import gib
from gpuwhy.page.parts import fold, foot, head, item, listed, section
from gpuwhy.page.values import Node

MARKS = {"fits": "ok", "only_just": "warn", "does_not_fit": "bad", "unknown": "unknown"}
WIDE, EDGE = 760, 24
FILLS = ("own", "bar-passes", "bar-other", "others", "bar-unclear", "bar-same")


def fit(found: Node) -> list[Child]:
    """The answer, the picture, the parts, what would make it fit."""
    shares = found.nodes("shares")
    body: list[Child] = [_share(one, place) for place, one in enumerate(shares[:16])]
    body.append(_changes(found.nodes("changes")))
    rows = [*(item("assumed", one) for one in found.texts("notes")), *_model(found)]
    body.append(section("What it rests on", "rests", el("ul", *rows, class_="evidence")))
    unknown = found.texts("unknown")
    body.append(section("Not counted", "unknown", listed(unknown)) if unknown else None)
    mark = MARKS.get(found.text("status"), "unknown")
    return [head(mark, found.text("headline")), el("main", *body), foot("gpuwhy fit")]


def _model(found: Node) -> list[Element]:
    model = found.node("model")
    if not model:
        return []
    text = f"{model.number('parameters'):,.0f} parameters, {gib(model.number('bytes'))} in {model.text('format')}"
    return [item(model.text("how"), text, model.text("path"))]


def _share(share: Node, place: int) -> Element:
    card = share.node("card")
    title = f"GPU {share.text('gpu')}: {card.text('name')}"
    return section(title, f"gpu-{place}", _bar(share, card), _table(share), el("p", card.text("text"), class_="soft"))


def _bar(share: Node, card: Node) -> Element:
    room, taken = card.number("room"), share.number("bytes")
    whole, wide = max(room, taken, 1.0), WIDE - 2 * EDGE
    said = f"About {gib(taken)} of {gib(room)}; between {gib(share.number('least'))} and {gib(share.number('most'))}."
    drawn: list[Child] = []
    at = float(EDGE)
    for number, one in enumerate(share.nodes("parts")):
        size = max(0.0, one.number("bytes")) / whole * wide
        name = f"{one.text('name')}: {gib(one.number('bytes'))}"
        drawn.append(el("rect", el("title", name), x=at, y=8, width=size, height=26, class_=FILLS[number % len(FILLS)]))
        at += size
    limit = EDGE + room / whole * wide
    label = el("text", f"{gib(room)} can be had", x=float(min(limit, WIDE - EDGE)), y=50.0, text_anchor="end")
    picture = el(
        "svg",
        el("title", said),
        *drawn,
        el("path", d=f"M{limit:.1f} 2V40", class_="limit"),
        label,
        viewBox=f"0 0 {WIDE} 56",
        class_="chart",
        role="img",
        aria_label=said,
    )
    return el("figure", el("figcaption", said), picture)


def _table(share: Node) -> Element:
    heads = el("thead", el("tr", *(el("th", word, scope="col") for word in ("part", "size", "between", "how", "why"))))
    rows = [
        el(
            "tr",
            el("td", one.text("name")),
            el("td", gib(one.number("bytes"))),
            el("td", f"{gib(one.number('least'))} and {gib(one.number('most'))}"),
            el("td", one.text("how")),
            el("td", one.text("text"), el("code", one.text("source"), class_="source") if one.text("source") else None),
        )
        for one in share.nodes("parts")
    ]
    return fold("the parts in numbers", el("table", heads, el("tbody", *rows), class_="wide"), opened=True)


def _changes(rows: list[Node]) -> Element | None:
    if not rows:
        return None
    items: list[Child] = [
        el(
            "li",
            one.text("text"),
            el("span", f"{gib(one.number('bytes'))} of {gib(one.number('room'))}", class_="tag"),
            el("p", f"Costs: {one.text('cost')}", class_="soft"),
            el("pre", one.text("options"), data_copy=True),
        )
        for one in rows
    ]
    return section("What would make it fit", "changes", el("ol", *items, class_="fixes"))
