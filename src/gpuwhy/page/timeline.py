"""Timelines: a watched run from its start to its end; the experiments of a proof, one after the other."""

from __future__ import annotations

from gpuwhy.page.element import Child, Element, el
from gpuwhy.page.parts import listed, section, sign
from gpuwhy.page.values import Node, nodes

WIDE, LEFT, ROW = 760, 8, 22
OUTCOMES = {
    "passes": ("ok", "runs"),
    "same": ("bad", "fails the same"),
    "other": ("warn", "fails otherwise"),
    "unclear": ("unknown", "unclear"),
}


def seconds(count: float) -> str:
    """Seconds or minutes."""
    return f"{count:.1f} s" if count < 600 else f"{count / 60:.0f} min"


def of_run(report: Node) -> Element | None:
    """When it printed last, when memory was highest, what was sent to it, and how it ended."""
    facts = report.node("facts")
    took = facts.fact("run", "seconds")
    if not isinstance(took, (int, float)) or not took > 0:
        return None
    silent = facts.fact("run", "silent")
    quiet = min(float(silent), took) if isinstance(silent, (int, float)) else 0.0
    events = _events(facts, took, quiet)
    body = el(
        "svg",
        el("title", "the run"),
        *_bar(took, quiet, events),
        viewBox=f"0 0 {WIDE} 56",
        class_="chart",
        role="img",
        aria_label=f"the run, {seconds(took)} long",
    )
    return section("The run", "run", el("figure", body, listed(f"{seconds(at)}: {text}" for at, text in events)))


def _events(facts: Node, took: float, quiet: float) -> list[tuple[float, str]]:
    out = [(0.0, f"{facts.fact('run', 'program') or 'the program'} starts")]
    for use in nodes(facts.fact("run", "gpus")):
        peak = max(use.nodes("curve"), key=lambda m: m.number("own"), default=Node(None))
        if peak.number("own"):
            out.append((peak.number("seconds"), f"it holds most on GPU {use.text('index')}"))
    if quiet >= 1:
        out.append((took - quiet, "it prints its last line"))
    out.append((took, _end(facts)))
    return sorted(out, key=lambda one: one[0])


def _end(facts: Node) -> str:
    sent = facts.fact("run", "sent")
    told = [one for one in sent if isinstance(one, str)] if isinstance(sent, (list, tuple)) else []
    signal, code = facts.fact("run", "signal"), facts.fact("run", "exit")
    end = f"ended by {signal}" if signal else f"ends with code {code}" if code is not None else "ends"
    return end + (f"; {', '.join(told)} was sent to it" if told else "")


def _bar(took: float, quiet: float, events: list[tuple[float, str]]) -> list[Child]:
    wide = WIDE - 2 * LEFT
    loud = (took - quiet) / took * wide
    parts: list[Child] = [el("rect", x=LEFT, y=12, width=max(1.0, loud), height=18, class_="own")]
    if quiet:
        parts.append(el("rect", x=LEFT + loud, y=12.5, width=max(1.0, wide - loud), height=17, class_="quiet"))
    for at, _ in events:
        x = LEFT + min(1.0, at / took) * wide
        parts.append(el("line", x1=x, x2=x, y1=6, y2=36, class_="end" if at >= took else "axis"))
    parts += [el("text", "0 s", x=LEFT, y=50), el("text", seconds(took), x=WIDE - LEFT, y=50, text_anchor="end")]
    return parts


def of_proof(proof: Node) -> Element | None:
    """Every experiment as a bar where it stood in time; the shape and the word say its outcome too."""
    trials = proof.nodes("experiments")
    if not trials:
        return None
    total = sum(_length(one) for one in trials) or 1.0
    chart, at = [], 0.0
    for place, one in enumerate(trials):
        chart.append(_trial(place, at / total, _length(one) / total, one))
        at += _length(one)
    high = len(trials) * ROW + 26
    drawn = el(
        "svg",
        el("title", "the experiments in time"),
        *chart,
        el("text", "0 s", x=LEFT, y=high - 6),
        el("text", seconds(total), x=WIDE - LEFT, y=high - 6, text_anchor="end"),
        viewBox=f"0 0 {WIDE} {high}",
        class_="chart",
        role="img",
        aria_label=f"{len(trials)} experiments in {seconds(total)}; the table below has the same",
    )
    return section("The experiments", "experiments", el("figure", drawn), _table(trials))


def _length(one: Node) -> float:
    return max(0.0, one.number("seconds")) * max(1.0, one.number("n"))


def _trial(place: int, start: float, length: float, one: Node) -> Child:
    outcome = one.text("outcome") if one.text("outcome") in OUTCOMES else "unclear"
    wide, y = WIDE - 2 * LEFT, place * ROW + 4
    x = LEFT + start * wide
    width = max(3.0, length * wide)
    after = x + width < WIDE * 0.6
    text = f"{OUTCOMES[outcome][1]}: {one.text('change')}"[:70]
    return [
        el("rect", x=x, y=y, width=width, height=14, class_=f"bar-{outcome}"),
        el(
            "text",
            text,
            class_="label",
            x=x + width + 5 if after else x - 5,
            y=y + 12,
            text_anchor="start" if after else "end",
        ),
    ]


def _table(trials: list[Node]) -> Element:
    heads = el(
        "thead", el("tr", *(el("th", word, scope="col") for word in ("outcome", "what was changed", "runs", "each")))
    )
    return el("table", heads, el("tbody", *(_row(one) for one in trials)), class_="wide")


def _row(one: Node) -> Element:
    mark, word = OUTCOMES.get(one.text("outcome"), OUTCOMES["unclear"])
    ending = one.node("ending")
    said = ": ".join(filter(None, (ending.text("type"), ending.text("message").split("\n")[0][:300])))
    told = el("small", el("br"), said) if said and one.text("outcome") == "other" else None
    note = f" ({one.text('note')})" if one.text("note") else ""
    return el(
        "tr",
        el("td", sign(mark), " ", word),
        el("td", one.text("change"), note, told),
        el("td", f"{one.number('n'):g} ×"),
        el("td", seconds(one.number("seconds"))),
    )
