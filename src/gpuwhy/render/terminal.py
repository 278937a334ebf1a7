"""The report for a person: the answer, what convinces, the picture, what could not be seen. 80 columns are enough."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from gpuwhy.border.plain import lines as plain_lines
from gpuwhy.border.plain import plain as as_plain
from gpuwhy.model.cause import Fix
from gpuwhy.model.report import Layer, Mark, Report, Shown, certainty
from gpuwhy.model.words import and_more

_GLYPH: dict[Mark, str] = {"ok": "✓", "bad": "✗", "warn": "!", "unknown": "?", "none": "–"}
_COLOUR: dict[Mark, str] = {"ok": "32", "bad": "31", "warn": "33", "unknown": "36", "none": "2"}
_STATUS: dict[str, Mark] = {"healthy": "ok", "broken": "bad", "degraded": "warn", "unknown": "unknown"}


class Paper:
    """Width and colour of the place we write to."""

    def __init__(self, width: int = 80, colour: bool = False) -> None:
        self.width = max(40, min(width, 120))
        self.colour = colour

    def tint(self, code: str, text: str) -> str:
        """Colour a text, where there is colour; a glyph always says the same without it."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour and text else text

    def wrap(self, text: str, indent: str, more: str) -> list[str]:
        """Fold a sentence; paths and commands are never broken inside."""
        return textwrap.wrap(
            text,
            self.width,
            initial_indent=indent,
            subsequent_indent=more,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [indent.rstrip()]


def render(report: Report, paper: Paper, verbose: bool = False) -> str:
    """The whole report as text."""
    lines = [*render_head(report, paper), ""]
    for cause in report.causes:
        lines += [*render_cause(cause, report, paper, verbose), ""]
    lines += render_picture(report, paper)
    lines += _noticed(report, paper)
    if report.stairs:
        lines += ["", "  probe", *_rows(_together(report.stairs), paper)]
    lines += _unseen(report, paper, verbose)
    lines += paper.wrap(report.not_tried, "  ", "    ") if report.not_tried else []
    if verbose:
        known = [f"knows releases published up to {report.knows_until}", ""] if report.knows_until else []
        lines += ["", *known, *_decided(report, paper), "", *_facts(report, paper)]
    return put(lines, paper)


def put(lines: Iterable[str], paper: Paper) -> str:
    """Lines as a text that ends with one; nothing in them begins another or steers the terminal."""
    return plain_lines(list(lines), paper.colour).rstrip() + "\n"


def plain(text: str, paper: Paper) -> str:
    """Without control characters: a file name must not steer the terminal."""
    return as_plain(text, paper.colour)


def render_head(report: Report, paper: Paper, mark: Mark | None = None) -> list[str]:
    """The first line: glyph and headline; the glyph is the status's unless one is given."""
    mark = mark or _STATUS[report.status]
    return [paper.tint(f"1;{_COLOUR[mark]}", line) for line in paper.wrap(report.headline, f"{_GLYPH[mark]} ", "  ")]


def render_cause(cause: Shown, report: Report, paper: Paper, verbose: bool, more: str = "--verbose") -> Iterator[str]:
    """One cause: what, why, how to fix it, what it is not."""
    head = f"cause  {cause.id}"
    about = (" · with a GPU" if cause.with_gpu else "") + (f" · {cause.subject}" if cause.subject else "")
    first, *rest = paper.wrap(f"{head} · {certainty(cause.confidence)}{about}", "", "       ")
    yield paper.tint("1", head) + first.removeprefix(head)
    yield from rest
    yield from paper.wrap(cause.title, "  ", "  ")
    for finding in cause.because:
        yield from paper.wrap(finding.text, "  because ", "          ")
        for evidence in finding.evidence:
            yield from paper.wrap(f"{evidence.text}  [{evidence.source}]", f"    {evidence.kind:<5} ", "          ")
    for number, fix in enumerate(cause.fixes, 1):
        yield from _fix(number, fix, paper, _rights(report))
    if cause.fixes:
        yield from paper.wrap(" or ".join(dict.fromkeys(f.check for f in cause.fixes)), "  check   ", "          ")
    if cause.explains:
        yield from paper.wrap(", ".join(cause.explains), "  explains ", "           ")
    if cause is report.causes[0] and report.ruled_out:
        yield from _not(report, paper, verbose, more)


def _rights(report: Report) -> str:
    system = report.facts.get("surroundings", {}).get("system", {}).get("value")
    return "needs an administrator" if system == "windows" else "needs root"


def _fix(number: int, fix: Fix, paper: Paper, rights: str) -> Iterator[str]:
    needs = [word for word, on in ((rights, fix.root), ("needs a reboot", fix.reboot)) if on]
    yield from paper.wrap(fix.text + (f" ({', '.join(needs)})" if needs else ""), f"  fix {number}   ", "          ")
    for line in fix.command.splitlines():
        yield "          " + paper.tint("1", line)


def _not(report: Report, paper: Paper, verbose: bool, option: str) -> Iterator[str]:
    rows = report.ruled_out if verbose else report.ruled_out[:2]
    text = ", ".join(f"{row.id} ({row.because})" for row in rows)
    more = len(report.ruled_out) - len(rows)
    yield from paper.wrap(text + (f", {more} more ({option})" if more else ""), "  not     ", "          ")


def render_picture(report: Report, paper: Paper) -> Iterator[str]:
    """The stack from GPU to program."""
    return _rows(report.layers, paper)


def _together(rows: Sequence[Layer]) -> list[Layer]:
    """The rows; steps in a row that were not tried for one reason are one."""
    out: list[Layer] = []
    for _, same in groupby(rows, key=lambda row: (row.text, row.note) if row.mark == "none" else row.name):
        group = list(same)
        why, names = group[0].text or group[0].note, ", ".join(row.name for row in group)
        out += [Layer(f"{len(group)} steps", f"not tried, {why}: {names}", "none")] if len(group) > 2 else group
    return out


def _rows(rows: Sequence[Layer], paper: Paper) -> Iterator[str]:
    names = max((len(row.name) for row in rows), default=0)
    indent = " " * (names + 6)
    for row in rows:
        text = "  ".join(part for part in (row.text, row.note) if part)
        first, *rest = paper.wrap(text, indent, indent)
        glyph = paper.tint(_COLOUR[row.mark], _GLYPH[row.mark])
        yield f"  {glyph} {row.name:<{names}}  {first.strip()}".rstrip()
        yield from rest


def _unseen(report: Report, paper: Paper, verbose: bool) -> Iterator[str]:
    for row in report.crashed:
        yield from paper.wrap(f"gpuwhy failed to judge {row.id}: {row.missing}; please report it", "  ", "    ")
    if verbose:
        for text in report.unseen:
            yield from paper.wrap(text, "  not seen: ", "    ")
        return
    open_by: dict[str, list[str]] = {}
    for item in report.undetermined:
        open_by.setdefault(item.missing + (f" ({item.how})" if item.how else ""), []).append(item.id)
    if open_by:
        yield "  could not tell:"
    for missing, ids in list(open_by.items())[:4]:
        names = ", ".join(ids[:2]) + and_more(len(ids), 2)
        yield from paper.wrap(f"{names}: {missing}", "    ", "      ")
    if len(open_by) > 4:
        yield f"    and {len(open_by) - 4} more (--verbose)"


def _noticed(report: Report, paper: Paper) -> Iterator[str]:
    """What is true, and nothing that was tried fails by it."""
    for one in report.noticed:
        yield from paper.wrap(f"also noticed: {one.id}: {one.text}", "  ", "    ")


def _decided(report: Report, paper: Paper) -> Iterator[str]:
    if not report.causes and report.ruled_out:
        yield "ruled out"
        for row in report.ruled_out:
            yield from paper.wrap(f"{row.id}: {row.because}", "  ", "    ")
    if report.undetermined:
        yield "undetermined"
        for item in report.undetermined:
            how = f" → {item.how}" if item.how else ""
            yield from paper.wrap(f"{item.id}: {item.missing}{how}", "  ", "    ")


def _facts(report: Report, paper: Paper) -> Iterator[str]:
    yield "facts"
    for subject, fields in report.facts.items():
        for name, fact in fields.items():
            yield from _fact(f"{subject}.{name}", fact, "  ")


def _fact(name: str, fact: dict[str, Any], indent: str) -> Iterator[str]:
    if fact["state"] == "unknown":
        yield f"{indent}{name}: unknown: {fact['reason']}"
        return
    source = fact["source"]
    where = f"{source['where']}{' (' + source['detail'] + ')' if source.get('detail') else ''}"
    value = fact.get("value")
    if isinstance(value, (list, tuple)):
        yield f"{indent}{name}: {len(value)}  [{where}]"
        for item in value:
            yield f"{indent}  {_short(item)}"
    else:
        yield f"{indent}{name}: {'absent' if fact['state'] == 'absent' else _short(value)}  [{where}]"


def _short(value: Any) -> str:
    """A value on one line: nested facts by their value."""
    if isinstance(value, dict) and isinstance(value.get("state"), str):  # a process has a state too, which is a fact
        return _short(value["value"]) if value["state"] == "known" else value["state"]
    if isinstance(value, dict):
        return " ".join(f"{k}={_short(v)}" for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_short(v) for v in value) + "]"
    return str(value)
