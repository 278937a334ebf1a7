"""Parts that every page has: marks, commands, evidence, causes, folds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpuwhy.page.element import Child, Element, el
from gpuwhy.page.values import Node

SHAPES = {
    "ok": "M12 2a10 10 0 1 0 .01 0zM7.5 12.5l3 3 6-7",  # a circle and a tick
    "bad": "M8 2h8l6 6v8l-6 6H8l-6-6V8zM8.5 8.5l7 7M15.5 8.5l-7 7",  # an octagon and a cross
    "warn": "M12 3L2 21h20zM12 10v5M12 18v.01",  # a triangle
    "unknown": "M12 1.5L22.5 12 12 22.5 1.5 12zM9.5 10a2.5 2.5 0 1 1 2.5 3M12 16.5v.01",  # a diamond
    "none": "M4 4h16v16H4zM8 12h8",  # a square and a dash
}
WORDS = {"ok": "fine", "bad": "broken", "warn": "beware", "unknown": "not known", "none": "not there"}
KINDS = {"saw": "seen on this machine", "know": "known in general", "told": "told by the program", "assumed": "assumed"}
CERTAIN, LIKELY = 0.97, 0.7


def sign(mark: str) -> Element:
    """A mark: a shape, a colour and a word."""
    mark = mark if mark in SHAPES else "none"
    drawn = el("svg", el("path", d=SHAPES[mark]), class_="sign", viewBox="0 0 24 24", aria_hidden="true")
    return el("span", drawn, el("span", f"{WORDS[mark]} ", class_="unseen"), class_=mark)


def heading(text: str, name: str) -> Element:
    """The heading of a section, which names it."""
    return el("h2", text, id=name)


def section(title: str, name: str, *body: Child) -> Element:
    """A part of the page with its heading."""
    return el("section", heading(title, name), *body, aria_labelledby=name)


def fold(title: Child, *body: Child, opened: bool = False, class_: str | None = None) -> Element:
    """What is shown when asked for; works without a script."""
    return el("details", el("summary", title), *body, open=opened, class_=class_)


def command(text: str) -> Element | None:
    """A command or a file to copy."""
    return el("pre", text.rstrip("\n"), data_copy=True) if text.strip() else None


def listed(rows: Iterable[Child]) -> Element:
    """A plain list."""
    return el("ul", *(el("li", row) for row in rows))


def list_section(title: str, name: str, rows: Sequence[Child], *before: Child) -> Element | None:
    """A list with its heading; None where there is nothing in it."""
    return section(title, name, *before, listed(rows)) if rows else None


def evidence(because: Node) -> list[Element]:
    """A sentence and what is behind it: saw, know and told told apart by word, colour and border."""
    rows = [(kind, row) for kind in ("saw", "know", "told") for row in because.nodes(kind)]
    out = [el("p", because.text("text"))]
    if rows:
        out.append(
            el("ul", *(item(kind, row.text("text"), row.text("source")) for kind, row in rows), class_="evidence")
        )
    return out


def item(kind: str, text: str, source: str = "") -> Element:
    """One thing behind a sentence."""
    kind = kind if kind in KINDS else "told"
    label = el("span", kind, el("span", f" ({KINDS[kind]})", class_="unseen"), class_=f"kind {kind}")
    return el("li", label, el("span", text, el("code", source, class_="source") if source else None))


def certainty(confidence: float) -> str:
    """A confidence in a word, as everywhere."""
    return "certain" if confidence >= CERTAIN else "likely" if confidence >= LIKELY else "possible"


def cause(one: Node, word: str = "") -> Element:
    """One cause: what, how sure, why, what to do."""
    about = [word or certainty(one.number("confidence")), *(["with a GPU"] if one.flag("with_gpu") else [])]
    about += [one.text("subject")] if one.text("subject") else []
    explains = one.texts("explains")
    return el(
        "div",
        el("h3", el("code", one.text("id")), " ", el("span", " · ".join(about), class_="tag")),
        el("p", el("strong", _sentence(one.text("title")))),
        [evidence(because) for because in one.nodes("because")],
        fixes(one.nodes("fixes")),
        el("p", "It explains ", ", ".join(explains), class_="soft") if explains else None,
        class_="cause",
    )


def fixes(rows: Sequence[Node]) -> list[Child]:
    """Remedies in their order, each with what it costs, its command and how to check."""
    if not rows:
        return []
    checks = list(dict.fromkeys(filter(None, (one.text("check") for one in rows))))
    then = [el("code", check) if place else ["Then check: ", el("code", check)] for place, check in enumerate(checks)]
    after = el("p", *(part for one in then for part in (one, " ")), class_="soft") if then else None
    return [el("h3", "What to do"), el("ol", *(_fix(one) for one in rows), class_="fixes"), after]


def _fix(one: Node) -> Element:
    tags = [("needs root", "root"), ("needs a reboot", "reboot"), ("can be undone", "safe")]
    return el(
        "li",
        one.text("text"),
        [el("span", word, class_="tag") for word, name in tags if one.flag(name)],
        command(one.text("command")),
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def many(count: int, word: str) -> str:
    """A number of things."""
    return f"{count} {word}{'' if count == 1 else 's'}"


def head(mark: str, headline: str, *more: Child) -> Element:
    """The answer, first of all."""
    return el("header", el("h1", sign(mark), el("span", headline or "gpuwhy"), class_="answer"), *more)


def foot(text: str) -> Element:
    """Who made it."""
    return el("footer", el("small", text))
