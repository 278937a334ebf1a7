"""The page of a fleet (`gpuwhy.fleet/1`): nodes side by side, and what is different where."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.page.element import Child, Element, el
from gpuwhy.page.parts import command, fold, foot, head, list_section, listed, many, section, sign
from gpuwhy.page.values import Node, short

ABREAST, ROWS = 12, 200
MARKS = {"healthy": "ok", "broken": "bad", "degraded": "warn", "unknown": "unknown", "silent": "unknown"}


def _mark(states: set[str], differing: bool) -> str:
    """The worst of the groups; a fleet is fine only where every group is known to be."""
    if "broken" in states:
        return "bad"
    if differing or "degraded" in states:
        return "warn"
    return "ok" if states == {"healthy"} else "unknown"


def fleet(found: Node) -> list[Child]:
    """The groups, the odd ones with their difference, the silent ones."""
    odd, silent = found.nodes("odd"), _names(found.values.get("silent"))
    groups = found.nodes("groups")
    count = sum(len(_names(one.values.get("nodes"))) for one in groups)
    mark = _mark({one.text("status") for one in groups}, bool(odd or silent))
    title = (
        found.text("headline")
        or f"{many(count, 'node')} in {many(len(groups), 'group')}, {len(odd)} odd, {len(silent)} silent"
    )
    why = dict(found.pairs("why_silent"))
    exclude = found.texts("exclude")
    body: list[Child] = [
        section("Groups", "groups", el("div", *(_group(one) for one in groups), class_="cards")) if groups else None,
        section("What differs", "odd", *_differences(odd)) if odd else None,
        list_section("No answer from", "silent", [_silent(one, why) for one in silent]),
        section("Nodes to leave out", "exclude", command(",".join(exclude))) if exclude else None,
    ]
    return [head(mark, title), el("main", *body), foot("gpuwhy fleet")]


def _silent(name: str, why: dict[str, object]) -> str:
    reason = why.get(name)
    return f"{name}: {reason}" if isinstance(reason, str) and reason else name


def _names(value: object) -> list[str]:
    """Node names, given as texts or as objects that hold one."""
    rows = value if isinstance(value, list) else []
    return [one if isinstance(one, str) else Node(one).text("node") for one in rows]


def _group(one: Node) -> Element:
    names = _names(one.values.get("nodes"))
    causes = one.texts("causes") or [row.text("id") for row in one.nodes("causes")]
    said = " · ".join(filter(None, (one.text("describes"), one.text("headline"))))
    return el(
        "div",
        el("h3", sign(MARKS.get(one.text("status"), "none")), f" {one.text('status')}: {many(len(names), 'node')}"),
        el("p", said) if said else None,
        el("p", ", ".join(names[:200])),
        listed(causes) if causes else None,
        class_="card",
    )


def _differences(odd: list[Node]) -> list[Child]:
    """A table with the odd nodes side by side, and below it what each difference can explain."""
    shown = odd[:ABREAST]
    heads = ["fact", "the others", *(one.text("node") for one in shown)]
    top = el("thead", el("tr", *(el("th", word, scope="col") for word in heads)))
    more = el("p", f"{len(odd) - len(shown)} more nodes differ", class_="soft") if len(odd) > len(shown) else None
    return [el("table", top, el("tbody", *_rows(shown))), more, *(_odd(one) for one in odd[:200])]


def _rows(shown: list[Node]) -> Iterator[Element]:
    """A row for each fact in which some of these nodes differ."""
    differs = [{row.text("fact"): row for row in one.nodes("differs")} for one in shown]
    for fact in list(dict.fromkeys(name for rows in differs for name in rows))[:ROWS]:
        here = [rows.get(fact) for rows in differs]
        others = next((short(row.values.get("others"), 80) for row in here if row), "")
        yield el("tr", el("th", el("code", fact), scope="row"), el("td", others), *map(_cell, here))


def _cell(row: Node | None) -> Element:
    if row is None:
        return el("td", "as the others")
    mark = "bad" if row.text("explains") else "warn"
    return el("td", sign(mark), " ", short(row.values.get("value"), 80))


def _odd(one: Node) -> Element:
    rows = [_difference(row) for row in one.nodes("differs")[:40]]
    causes = [[el("code", row.text("id")), ": ", row.text("title")] for row in one.nodes("causes")]
    own = [el("p", "Its own report says:"), listed(causes)] if causes else []
    return fold(f"{one.text('node')}: {many(len(rows), 'difference')}", listed(rows), *own)


def _difference(row: Node) -> list[Child]:
    here, there = (short(row.values.get(name), 120) for name in ("value", "others"))
    explains = [" · can be ", el("code", row.text("explains"))] if row.text("explains") else None
    return [el("code", row.text("fact")), f" is {here}, elsewhere {there}", explains]
