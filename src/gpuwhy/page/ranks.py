"""The page of a job (`gpuwhy.ranks/1`): who failed first, how that is known, every rank on one clock."""

from __future__ import annotations

from gpuwhy.page import report
from gpuwhy.page.element import Child, Element, el, nested
from gpuwhy.page.parts import fold, foot, head, listed, many, section, sign
from gpuwhy.page.values import Node

MARKS = {"failed": "bad", "killed": "bad", "waited": "warn", "silent": "unknown", "stopped": "none", "well": "ok"}
WORDS = {
    "failed": "failed",
    "killed": "was killed",
    "waited": "waited for another",
    "silent": "its log just ends",
    "stopped": "was told to stop",
    "well": "ended well",
}
MOST = 512
"""Rows of the table: the bad ones first, so that what is cut is what went well."""


def ranks(found: Node) -> list[Child]:
    """The answer first, then the ranks, then the report of the one that failed first."""
    rows = found.nodes("ranks")
    first = found.texts("first")
    evidence = [found.text("why"), *found.texts("notes")]
    body: list[Child] = [
        section("How this is known", "how", listed(row for row in evidence if row)) if any(evidence) else None,
        section("Ranks", "ranks", *_table(rows, first)) if rows else None,
        _noted(found),
    ]
    own = found.node("report")
    if own:
        name = first[0] if first else "the log"
        inner = nested(report.body(own, part=True), "own-")
        body.append(section(f"Why {name} failed", "why", el("p", own.text("headline")), inner))
    return [head(_mark(rows, first), title_of(rows, first)), el("main", *body), foot("gpuwhy explain --ranks")]


def _mark(rows: list[Node], first: list[str]) -> str:
    if first:
        return "bad"
    ended = {row.text("ended") for row in rows}
    return "unknown" if not ended or ended & {"failed", "killed", "waited", "silent"} else "ok"


def title_of(rows: list[Node], first: list[str]) -> str:
    """The answer in one sentence."""
    if not first:
        bad = _mark(rows, first) != "ok"
        return (
            "which rank failed first cannot be told" if bad else f"{many(len(rows), 'rank')}: none tells of a failure"
        )
    one = next((row for row in rows if row.text("name") == first[0]), Node(None))
    names = ", ".join(first[:4]) + (f" and {len(first) - 4} more" if len(first) > 4 else "")
    if one.text("ended") not in ("failed", "killed"):
        return f"{names}: this is what the others waited for"
    return f"{names} failed first" + (f": {one.text('text')}" if one.text("text") else "")


def _table(rows: list[Node], first: list[str]) -> list[Child]:
    """One row a rank, the first failure on top, seconds counted from it."""
    begin = next((row.number("time") for row in rows if row.text("name") in first and row.number("time")), 0.0)
    order = sorted(rows, key=lambda row: (row.text("name") not in first, list(MARKS).index(_ended(row))))
    heads = ("rank", "host", "how it ended", "after the first", "last step", "cause")
    top = el("thead", el("tr", *(el("th", word, scope="col") for word in heads)))
    more = el("p", f"{len(order) - MOST} more ranks", class_="soft") if len(order) > MOST else None
    return [el("table", top, el("tbody", *(_row(row, begin) for row in order[:MOST]))), more]


def _ended(row: Node) -> str:
    return row.text("ended") if row.text("ended") in MARKS else "silent"


def _row(row: Node, begin: float) -> Element:
    after = f"{row.number('time') - begin:+.1f} s" if begin and row.number("time") else ""
    said = f": {row.text('text')}" if row.text("text") else ""
    return el(
        "tr",
        el("th", row.text("name"), scope="row"),
        el("td", row.text("host")),
        el("td", sign(MARKS[_ended(row)]), f" {WORDS[_ended(row)]}{said}"[:300]),
        el("td", after),
        el("td", row.text("step")),
        el("td", el("code", row.text("cause")) if row.text("cause") else None),
    )


def _noted(found: Node) -> Element | None:
    """What else the logs and the flight recorder tell."""
    parted = [row.text("text") for row in found.nodes("mismatches")]
    xids = [f"{row.text('host')} {row.text('pci')} {row.text('text')}".strip() for row in found.nodes("xids")]
    behind, absent = found.texts("behind"), found.texts("absent")
    parts = [
        fold("Collectives that do not match", listed(parted), opened=True) if parted else None,
        fold("Errors that the driver logged (Xid)", listed(xids), opened=True) if xids else None,
        fold("Behind the others", listed(behind)) if behind else None,
        fold("No log of", listed(f"rank {one}" for one in absent)) if absent else None,
    ]
    return section("Also seen", "also", *parts) if any(parts) else None
