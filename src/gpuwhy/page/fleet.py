"""The page of a fleet (`gpuwhy.fleet/1`): nodes side by side, and what is different where."""

from __future__ import annotations

from gpuwhy.page.element import Child, Element, el
from gpuwhy.page.parts import foot, head, listed, section, sign
from gpuwhy.page.values import Node, short

MARKS = {"healthy": "ok", "broken": "bad", "degraded": "warn", "unknown": "unknown", "silent": "unknown"}


def fleet(found: Node) -> list[Child]:
    """The groups, the odd ones with their difference, the silent ones."""
    odd, silent = found.nodes("odd"), _names(found.values.get("silent"))
    groups = found.nodes("groups")
    count = sum(len(_names(one.values.get("nodes"))) for one in groups)
    mark = "bad" if any(one.text("status") == "broken" for one in groups) else "warn" if odd or silent else "ok"
    title = found.text("headline") or f"{count} nodes in {len(groups)} groups, {len(odd)} odd, {len(silent)} silent"
    body: list[Child] = [
        section("Groups", "groups", el("div", *(_group(one) for one in groups), class_="cards")) if groups else None,
        section("What differs", "odd", _differences(odd)) if odd else None,
        section("No answer from", "silent", listed(silent)) if silent else None,
    ]
    return [head(mark, title), el("main", *body), foot("gpuwhy fleet")]


def _names(value: object) -> list[str]:
    """Node names, given as texts or as objects that hold one."""
    rows = value if isinstance(value, list) else []
    return [one if isinstance(one, str) else Node(one).text("node") for one in rows]


def _group(one: Node) -> Element:
    names = _names(one.values.get("nodes"))
    causes = one.texts("causes") or [row.text("id") for row in one.nodes("causes")]
    said = one.text("headline")
    return el(
        "div",
        el("h3", sign(MARKS.get(one.text("status"), "none")), f" {one.text('status')}: {len(names)} nodes"),
        el("p", said) if said else None,
        el("p", ", ".join(names[:200])),
        listed(causes) if causes else None,
        class_="card",
    )


def _differences(odd: list[Node]) -> Element:
    heads = el(
        "thead", el("tr", *(el("th", word, scope="col") for word in ("node", "fact", "here", "elsewhere", "explains")))
    )
    rows = []
    for one in odd:
        for row in one.nodes("differs"):
            rows.append(
                el(
                    "tr",
                    el("td", el("b", one.text("node"))),
                    el("td", el("code", row.text("fact"))),
                    el("td", short(row.values.get("value"))),
                    el("td", short(row.values.get("others"))),
                    el("td", row.text("explains") or "–"),
                )
            )
    return el("table", heads, el("tbody", *rows[:1000]), class_="wide")
