"""From the JSON form of an answer to its page; by the schema that it names."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from gpuwhy.border.shapes import PRIVATE
from gpuwhy.border.shared import shareable
from gpuwhy.page import answers, document, fit, fleet, ranks, report
from gpuwhy.page.element import Child, el, nested
from gpuwhy.page.log import Line, numbered
from gpuwhy.page.parts import foot, head
from gpuwhy.page.values import Node

DRAWN: dict[str, Callable[[Node], list[Child]]] = {
    "gpuwhy.proof/1": answers.proof,
    "gpuwhy.inspect/1": answers.inspection,
    "gpuwhy.plan/1": answers.plan,
    "gpuwhy.lint/1": answers.lint,
    "gpuwhy.fit/1": fit.fit,
    "gpuwhy.fleet/1": fleet.fleet,
    "gpuwhy.ranks/1": ranks.ranks,
}
REPORT = "gpuwhy.report/1"
SCHEMAS = (REPORT, *DRAWN)
_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])")
_LEFT_OUT = re.compile(r"\[… [\d,]+ bytes, ([\d,]+) lines left out …\]\Z")


class UndrawableError(Exception):
    """A form that no page is made of; the text names its schema."""


def page(values: Any, log: str = "", name: str = "") -> str:
    """One self-contained file of an answer in plain values; `log` is what the program printed."""
    return pages([(values, log, name)])


def pages(given: Sequence[tuple[Any, str, str]]) -> str:
    """One file of one or more answers, each with the log and the name that belong to it."""
    drawn = [_drawn(values, log) for values, log, _ in given]
    title = next((one for one in (_title(values) for values, _, _ in given) if one), "gpuwhy")
    if len(drawn) == 1:
        return document.document(title, *drawn[0])
    return document.document(f"gpuwhy: {len(drawn)} reports", *_several(given, drawn))


def part(values: Any) -> str:
    """The short form for a notebook."""
    clean = Node(shareable(values))
    if clean.text("schema") == REPORT:
        made = [head(report.mark_of(clean), clean.text("headline")), *report.body(clean, part=True)]
    else:
        made = _of(clean)(clean)
    return document.fragment(nested(made, f"g{zlib.crc32(repr(clean.values).encode()):x}-"))


def _several(given: Sequence[tuple[Any, str, str]], drawn: Sequence[list[Child]]) -> list[Child]:
    names = [name or f"report {place}" for place, (_, _, name) in enumerate(given, 1)]
    clean = shareable(names)
    bodies = [
        el("details", el("summary", el("b", name)), el("div", nested(parts, f"r{place}-")), open=place == 0)
        for place, (name, parts) in enumerate(zip(clean, drawn, strict=True))
    ]
    return [head("none", f"{len(drawn)} reports"), *bodies, foot("gpuwhy report")]


def _drawn(values: Any, log: str) -> list[Child]:
    clean, text = cleaned(values, log)
    found = Node(clean)
    return report.page(found, lines_of(text)) if found.text("schema") == REPORT else _of(found)(found)


def cleaned(values: Any, log: str) -> tuple[Any, str]:
    """Both without secrets and names of people."""
    clean = shareable({"values": values, "log": _kept_lines(log)})
    return clean["values"], str(clean["log"])


def _of(found: Node) -> Callable[[Node], list[Child]]:
    draw = DRAWN.get(found.text("schema"))
    if draw is None:
        raise UndrawableError(f"there is no page for {found.text('schema') or 'a file without a schema'}")
    return draw


def _title(values: Any) -> str:
    clean = Node(
        shareable(
            {name: values.get(name) for name in ("headline", "path", "schema")} if isinstance(values, dict) else {}
        )
    )
    return clean.text("headline") or clean.text("path") or clean.text("schema")


def _kept_lines(log: str) -> str:
    """Without colours; a key of several lines becomes one mark, and its lines stay, so that numbers do."""
    log = _ANSI.sub("", log)
    return PRIVATE.sub(lambda found: "REDACTED" + "\n" * found[0].count("\n"), log) if "-----BEGIN" in log else log


def lines_of(log: str) -> list[Line]:
    """A log as lines, numbered as they were printed where some of them were not kept."""
    if not log.strip():
        return []
    out: list[Line] = []
    number = 1
    for line in numbered(log):
        gap = _LEFT_OUT.match(line.text)
        if gap:
            number += int(gap[1].replace(",", ""))
            continue
        out.append(Line(number, line.text))
        number += 1
    return out
