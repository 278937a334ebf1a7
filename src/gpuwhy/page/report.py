"""The page of a report (`gpuwhy.report/1`): the picture, the words, the log, everything that was observed."""

from __future__ import annotations

from collections.abc import Sequence

from gpuwhy.page import loads, memory, timeline
from gpuwhy.page.element import Child, Element, el
from gpuwhy.page.log import Line, quoted
from gpuwhy.page.parts import cause, certainty, command, fold, foot, head, listed, many, section, sign
from gpuwhy.page.stack import drawing
from gpuwhy.page.values import Node, short

STATUS = {"healthy": "ok", "broken": "bad", "degraded": "warn", "unknown": "unknown"}
ROWS = 400


def mark_of(report: Node) -> str:
    """The mark of the headline; a guess and a failure beside a sound stack have their own."""
    status, causes = report.text("status"), report.nodes("causes")
    if status == "healthy" and causes:
        return "warn"
    if status == "broken" and causes and certainty(causes[0].number("confidence")) == "possible":
        return "unknown"
    return STATUS.get(status, "unknown")


def body(report: Node, log: Sequence[Line] = (), part: bool = False) -> list[Child]:
    """Everything between header and footer; `part` is the short form of a notebook."""
    picture = drawing(report, panels=not part)
    out: list[Child] = [section("The stack", "stack", picture) if picture else None]
    out += [memory.section_of(report), timeline.of_run(report)]
    out += [*causes(report), _noticed(report), _question(report)]
    if part:
        return out
    out += [quoted(report, log), _probe(report), loads.of_report(report), *_decided(report), _facts(report)]
    return out


def page(report: Node, log: Sequence[Line] = ()) -> list[Child]:
    """The whole page of a report."""
    as_if = report.text("as_if")
    more = [el("p", f"judged as on: {as_if}", class_="soft")] if as_if else []
    made = f"gpuwhy {report.text('gpuwhy')}".rstrip()
    return [head(mark_of(report), report.text("headline"), *more), el("main", *body(report, log)), foot(made)]


def causes(report: Node) -> list[Child]:
    """The first cause whole, the others folded."""
    found = report.nodes("causes")
    if not found:
        return []
    others = [
        fold([el("code", one.text("id")), f" · {certainty(one.number('confidence'))}: {one.text('title')}"], cause(one))
        for one in found[1:]
    ]
    title = "Or, or besides" if len(found) > 1 else ""
    return [section("Why", "why", cause(found[0]), el("h3", title) if title else None, *others)]


def _noticed(report: Node) -> Element | None:
    rows = [
        [el("code", one.text("id")), ": " if one.text("id") else "", one.text("text")]
        for one in report.nodes("noticed")
    ]
    about = el("p", "True, and not the reason.", class_="soft")
    return section("Also noticed", "noticed", about, listed(rows)) if rows else None


def _question(report: Node) -> Element | None:
    asked, origin = report.node("question"), report.node("origin")
    parts: list[Child] = []
    if asked:
        answers = [
            [el("code", cause), ": then add ", el("code", f"--answer {asked.text('id')}={outcome}")]
            for outcome, cause in asked.pairs("answers")
            if isinstance(cause, str)
        ]
        parts += [el("p", asked.text("text")), command(asked.text("command")), listed(answers)]
    if origin:
        parts.append(el("p", "The last complaint is ", origin.text("text")))
    return section("What to test next", "next", *parts) if parts else None


def _probe(report: Node) -> Element | None:
    rows = report.nodes("probe")
    if not rows:
        return None
    table = el(
        "table",
        el("caption", "Each stage as it was tried", class_="unseen"),
        el("thead", el("tr", *(el("th", name, scope="col") for name in ("stage", "time", "what it said")))),
        el(
            "tbody",
            *(
                el(
                    "tr",
                    el("td", sign(r.text("mark")), " ", r.text("name")),
                    el("td", r.text("text")),
                    el("td", r.text("note")[:2000]),
                )
                for r in rows
            ),
        ),
        class_="wide",
    )
    return section("The probe, stage by stage", "probe", table)


def _decided(report: Node) -> list[Child]:
    out = report.nodes("ruled_out")
    still = report.nodes("undetermined")
    crashed = report.nodes("crashed")
    parts: list[Child] = []
    if out:
        rows = [[el("code", one.text("id")), ": ", one.text("because")] for one in out]
        parts.append(fold(f"Ruled out: {many(len(out), 'cause')}", listed(rows)))
    if still:
        rows = [[el("code", one.text("id")), ": ", one.text("missing"), _how(one)] for one in still]
        parts.append(fold(f"Could not tell: {many(len(still), 'cause')}", listed(rows)))
    if crashed:
        rows = [[el("code", one.text("id")), ": ", one.text("error")] for one in crashed]
        parts.append(fold("gpuwhy failed to judge; please report it", listed(rows)))
    if report.texts("unseen"):
        parts.append(fold("What could not be seen", listed(report.texts("unseen"))))
    return [section("What it is not, and what is open", "decided", *parts)] if parts else []


def _how(one: Node) -> list[Child]:
    return [" → ", el("code", one.text("how"))] if one.text("how") else []


def _facts(report: Node) -> Element | None:
    rows = []
    for subject, fields in report.pairs("facts"):
        for name, fact in Node({"": fields}).pairs(""):
            one = Node(fact)
            if one.text("state") in ("known", "absent"):
                rows.append((f"{subject}.{name}", one))
    if not rows:
        return None
    cells = [
        el("tr", el("td", el("code", name)), el("td", _said(one)), el("td", el("code", _source(one))))
        for name, one in rows[:ROWS]
    ]
    heads = el("thead", el("tr", *(el("th", word, scope="col") for word in ("fact", "value", "source"))))
    return section(
        "Everything that was observed",
        "facts",
        fold(many(len(rows), "fact"), el("table", heads, el("tbody", *cells), class_="wide")),
    )


def _said(one: Node) -> str:
    return "absent" if one.text("state") == "absent" else short(one.values.get("value"))


def _source(one: Node) -> str:
    source = one.node("source")
    detail = source.text("detail")
    return source.text("where") + (f" ({detail})" if detail else "")
