"""The quoted log: the lines that decide are marked, what lies between them is folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpuwhy.page.element import Child, Element, el
from gpuwhy.page.parts import fold, section
from gpuwhy.page.values import Node

AROUND = 3
"""Lines that stay open before and after one that is marked."""
WIDE = 1_000
FOLDED = 400
"""The most lines of one fold; of more, the first and the last half."""
BYTES = 450_000
"""The most characters of a log in a page."""


class Line(NamedTuple):
    """A line with its number in what the program printed."""

    number: int
    text: str


def quoted(report: Node, lines: Sequence[Line]) -> Element | None:
    """The log of a report; without it, the lines that the report itself holds."""
    marked = _marked(report, lines)
    ending = int(report.node("ending").number("line"))
    if ending and ending not in marked:
        marked[ending] = ("decides", "how it ended")
    whole = bool(lines)
    lines = lines or [Line(int(one.number("line")), one.text("text")) for one in report.nodes("symptoms")]
    if not lines:
        return None
    body = list(_blocks(_fitting(lines, marked), marked))
    about = "The lines that decide are marked; the rest is folded." if whole else "Only these lines are in the report."
    return section("What the program printed", "log", el("p", about, class_="soft"), el("div", *body, class_="log"))


def _marked(report: Node, lines: Sequence[Line]) -> dict[int, tuple[str, str]]:
    """The lines to mark. A number that leads to another line (a rank's log was read too) gives way to the words."""
    by_number = {line.number: line.text for line in lines}
    out: dict[int, tuple[str, str]] = {}
    for one in report.nodes("symptoms"):
        mark, number, words = _mark(one), int(one.number("line")), one.text("text").strip()[:60]
        if mark and lines and words not in by_number.get(number, ""):
            number = next((line.number for line in reversed(lines) if words in line.text), number)
        if mark:
            out.setdefault(number, mark)
    return out


def _mark(symptom: Node) -> tuple[str, str] | None:
    if symptom.text("role") != "error":
        return None
    if symptom.values.get("follows") is not None:
        return "follows", "follows from an earlier line"
    return "decides", f"decides: {symptom.text('id')}"


def _fitting(lines: Sequence[Line], marked: dict[int, tuple[str, str]]) -> list[Line]:
    """As many lines as a page takes: those near marked ones first, then from the end."""
    left = BYTES
    near = {number + step for number in marked for step in range(-AROUND, AROUND + 1)}
    kept = []
    for line in [
        *(one for one in lines if one.number in near),
        *(one for one in reversed(lines) if one.number not in near),
    ]:
        left -= min(len(line.text), WIDE) + 90
        if left < 0:
            break
        kept.append(line)
    return sorted(kept)


def _blocks(lines: Sequence[Line], marked: dict[int, tuple[str, str]]) -> Iterator[Element]:
    """Open stretches around what is marked, folds between them; nothing marked: the end is open."""
    opened = _opened(lines, marked)
    run: list[Line] = []
    for line in lines:
        last = run[-1].number if run else line.number - 1
        gap = line.number - last - 1
        if run and (gap > 0 or (line.number in opened) != (last in opened)):
            yield _block(run, last in opened, marked)
            run = []
        if gap > 0:
            yield el("p", f"… {gap:,} lines are not kept …", class_="soft")
        run.append(line)
    if run:
        yield _block(run, run[-1].number in opened, marked)


def _opened(lines: Sequence[Line], marked: dict[int, tuple[str, str]]) -> set[int]:
    if not marked:
        return {line.number for line in lines[-AROUND:]}
    return {number + step for number in marked for step in range(-AROUND, AROUND + 1)}


def _block(run: Sequence[Line], opened: bool, marked: dict[int, tuple[str, str]]) -> Element:
    if opened or len(run) < 3:
        return el("ol", *(_line(line, marked.get(line.number)) for line in run))
    first, last = run[0].number, run[-1].number
    shown = run if len(run) <= FOLDED else [*run[: FOLDED // 2], *run[-FOLDED // 2 :]]
    rest = (
        el("p", f"{len(run) - len(shown):,} of these lines are left out", class_="soft")
        if len(shown) < len(run)
        else None
    )
    return fold(
        f"{len(run):,} lines ({first:,} to {last:,})",
        rest,
        el("ol", *(_line(one, None) for one in shown)),
        class_="noise",
    )


def _line(line: Line, mark: tuple[str, str] | None) -> Element:
    text = line.text if len(line.text) <= WIDE else f"{line.text[:WIDE]} … ({len(line.text):,} characters)"
    code: Child = el("code", el("mark", text) if mark and mark[0] == "decides" else text)
    says = el("span", mark[1], class_="says") if mark else None
    return el("li", el("span", str(line.number), class_="number"), code, says, class_=mark[0] if mark else None)


def numbered(text: str, first: int = 1) -> list[Line]:
    """A text as lines."""
    return [Line(number, line.rstrip("\r")) for number, line in enumerate(text.rstrip("\n").split("\n"), first)]
