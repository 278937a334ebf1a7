"""Read: lines from any launcher to answers; whatever a line holds, the reader comes to no harm."""

import json
import math
import re
from collections.abc import Iterable, Iterator
from typing import Any, Union

import msgspec

from gpuwhy.answer.text import plain
from gpuwhy.fleet.answer import NODE, Answer, CauseSeen, Silent, Value, expression, kind_of, table
from gpuwhy.fleet.names import alias, short_name

MOST = 4 << 20  # the longest line that is read
MOST_FACTS, MOST_CAUSES, MOST_FAMILIES, MOST_NOISE, MOST_BAD = 1024, 64, 16, 2000, 20
LONGEST_NAME, LONGEST_VALUE = 128, 400
_CAUSE = re.compile(r"[a-z][a-z0-9_]{0,30}\.[a-z][a-z0-9_]{0,40}")
_FACT = re.compile(r"[a-z][a-z0-9_]{0,20}(?:\.[\w.+-]{1,100})?", re.ASCII)
_STATUS = ("healthy", "broken", "degraded", "unknown")
_NAME = re.compile(r"[\w.@:/+ -]{1,128}", re.ASCII)
_LABELS: tuple[re.Pattern[str], ...] = tuple(map(re.compile, table("labels")))
BEGINS = re.compile(rb'\{\s*"schema"\s*:\s*"gpuwhy\.node/')
"""How an answer begins, wherever a launcher put it in the line."""


class BadLineError(ValueError):
    """The line is no answer that can be used; the text says why."""


def encoded(
    node: str, time: float, report: dict[str, Any], facts: dict[str, Value], whole: list[str]
) -> str:
    """The one line: no secrets, no names of people, no line ends inside."""
    from gpuwhy.machine.redact import of_this_machine

    value = {
        "schema": NODE,
        "node": node,
        "time": round(time, 3),
        "gpuwhy": report.get("gpuwhy", ""),
        "facts": {name: value for name, value in sorted(facts.items()) if value is not None},
        "unseen": sorted(name for name, value in facts.items() if value is None),
        "whole": whole,
        "report": {**report, "facts": {}},
    }
    hidden = of_this_machine().values(value)
    return json.dumps({**hidden, "node": node}).replace("\x7f", "\\u007f")


class _Report(msgspec.Struct, frozen=True):
    status: str = "unknown"
    headline: str = ""
    causes: list[CauseSeen] = []


class _Line(msgspec.Struct, frozen=True):
    schema: str
    node: str
    time: float = 0.0
    gpuwhy: str = ""
    facts: dict[str, Union[str, int, float, bool, None]] = {}
    whole: list[str] = []
    report: _Report = _Report()
    label: str = ""


_DECODER = msgspec.json.Decoder(_Line)


def decoded(data: bytes) -> Answer:
    """An answer, cut to size and without what steers a terminal; else raises BadLineError."""
    if len(data) > MOST:
        raise BadLineError(f"longer than {MOST >> 20} MiB")
    try:
        line = _DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError, OverflowError) as error:
        raise BadLineError(_short(str(error), 160)) from error
    if line.schema != NODE:
        raise BadLineError(f"schema {_short(line.schema, 40)!r}; this gpuwhy reads {NODE!r}")
    if len(line.facts) > MOST_FACTS:
        raise BadLineError(f"{len(line.facts):,} facts; no node has more than {MOST_FACTS:,}")
    values = (
        (name, _value(name, raw)) for name, raw in line.facts.items() if _FACT.fullmatch(name)
    )
    causes = []
    for one in filter(lambda one: _CAUSE.fullmatch(one.id), line.report.causes[:MOST_CAUSES]):
        confidence = min(1.0, max(0.0, _finite(one.confidence)))
        causes.append(CauseSeen(one.id, _short(one.title), confidence))
    return Answer(
        node=clean_name(line.node),
        time=_finite(line.time),
        gpuwhy=_short(line.gpuwhy, 40),
        status=line.report.status if line.report.status in _STATUS else "unknown",
        headline=_short(line.report.headline),
        causes=tuple(causes),
        own={name: value for name, value in values if value is not None},
        whole=tuple(filter(_FACT.fullmatch, line.whole[:MOST_FAMILIES])),
        label=clean_name(line.label) if line.label else "",
    )


def _finite(number: float) -> float:
    return number if math.isfinite(number) and abs(number) < 1e15 else 0.0


def _value(fact: str, value: Value | bool) -> Value:
    """A value of its kind's type; a number where numbers are compared, or nothing."""
    if isinstance(value, bool):
        value = str(value).lower()
    if isinstance(value, (int, float)):
        return value if math.isfinite(value) and abs(value) < 2**63 else None
    if value is None or (kind_of(fact).worse != "any" and fact != "driver.cuda"):
        return None
    return _short(value)


def _short(text: str, most: int = LONGEST_VALUE) -> str:
    text = plain(text[: most * 2])
    return text if len(text) <= most else text[: most - 1] + "…"


def clean_name(name: str) -> str:
    """A node's name of harmless characters, never empty."""
    if _NAME.fullmatch(name):
        return name.strip() or "?"
    return re.sub(r"[^\w.@:/+-]", "?", plain(name[:LONGEST_NAME]), flags=re.ASCII) or "?"


class Heard:
    """What came from the nodes: answers, lines that are none, and words of launchers."""

    def __init__(self, keep: bool = False) -> None:
        self.keep = keep
        self.answers: list[Answer] = []
        self.bad: list[str] = []
        self.bad_count = 0
        self.noise: list[str] = []
        self.raw: list[bytes] = []  # the answers as they came, where they are kept
        self._shared: dict[Any, Any] = {}

    def add(self, answer: Answer) -> Answer:
        """One answer; what it has in common with others is kept once."""
        base = self.answers[0].base if self.answers else answer.facts
        facts: dict[str, Any] = dict.fromkeys(base) | answer.facts
        answer.own = {
            fact: value
            for fact, value in facts.items()
            if value != base.get(fact) or type(value) is not type(base.get(fact))
        }
        answer.base = base
        for field in ("headline", "causes", "whole", "gpuwhy"):
            value = getattr(answer, field)
            setattr(answer, field, self._shared.setdefault(value, value))
        self.answers.append(answer)
        return answer

    def take(self, line: bytes | None, where: str) -> None:
        """Add one line of a launcher's output; None is one that was too long."""
        begins = BEGINS.search(line[:4096]) if line else None
        if line is not None and begins is None:
            text = plain(line[:400].decode("utf-8", "replace")).strip()
            if text and len(self.noise) < MOST_NOISE:
                self.noise.append(text)
            return
        try:
            if line is None or begins is None:
                raise BadLineError(f"longer than {MOST >> 20} MiB")
            raw = line[begins.start() :].strip()
            answer = self.add(decoded(raw))
        except BadLineError as error:
            self.bad_count += 1
            self.bad += [f"{where}: {error}"] if len(self.bad) < MOST_BAD else []
            return
        before = line[: begins.start()].decode("utf-8", "replace")
        answer.label = label_of(before) or answer.label
        self.raw += [raw] if self.keep else []

    def kept(self) -> Iterator[bytes]:
        """The answers as lines again, with who gave them."""
        for raw, answer in zip(self.raw, self.answers, strict=True):
            named = {"label": answer.label} if answer.label else {}
            yield msgspec.json.encode({**msgspec.json.decode(raw), **named}) + b"\n"


def label_of(before: str) -> str:
    """The node that the words before an answer name; a bare number is a rank, not a node."""
    for shape in _LABELS:
        found = shape.fullmatch(before.lstrip())
        if found and not found["name"].isdigit():
            return clean_name(found["name"])
    return ""


def of_lines(lines: Iterable[bytes | None], where: str, heard: Heard | None = None) -> Heard:
    """Everything in a file."""
    heard = heard or Heard()
    for number, line in enumerate(lines, 1):
        if line is None or line.strip():
            heard.take(line, f"{where}:{number}")
    return heard


def name(answers: Iterable[Answer], names: Iterable[str]) -> None:
    """Give those nodes their names whose aliases are known."""
    known = {alias(one): one for one in names}
    for answer in answers:
        answer.label = answer.label or known.get(answer.node, "")


def silent(heard: Heard, expected: Iterable[str]) -> list[Silent]:
    """The nodes that were expected, or complained of, and did not answer; with the last word."""
    names = {one for answer in heard.answers for one in (answer.node, answer.name)}
    answered = names | set(map(short_name, names))
    shapes = {re.sub(r"\d+", "#", answer.label) for answer in heard.answers if answer.label}
    said: dict[str, str] = {}  # node → the last word on it: a launcher's, or its own
    for text in heard.noise:
        found = expression("complaint").match(text)
        spoke = found or expression("speaks").match(text)
        if spoke is None or spoke["name"].isdigit():
            continue
        if found or re.sub(r"\d+", "#", spoke["name"]) in shapes:
            said[spoke["name"]] = text
    out = []
    for one in dict.fromkeys([*expected, *said]):
        if not answered.intersection((one, alias(one), short_name(one))):
            word = re.compile(rf"(?<![\w.-]){re.escape(one)}(?![\w-])")
            mention = (text for text in reversed(heard.noise) if word.search(text))
            out.append(Silent(clean_name(one), said.get(one) or next(mention, "")))
    return out
