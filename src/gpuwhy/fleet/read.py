"""Read: lines from any launcher to answers; what stands before an answer may name the node."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from gpuwhy.answer.text import plain
from gpuwhy.fleet.answer import Answer, Silent
from gpuwhy.fleet.line import BEGINS, MOST, BadLineError, clean_name, decoded
from gpuwhy.fleet.names import alias, short_name

MOST_NOISE, MOST_BAD = 2000, 20
_NODE = r"(?P<name>[A-Za-z0-9][\w.-]{0,252})"
_LABELS = (
    # kubectl logs --prefix
    r"\[pod/(?P<name>[a-z0-9][a-z0-9.-]{0,252})(?:/[a-z0-9.-]{1,252})?\]\s*",
    # Ray
    r"\((?:[^()]{0,80}?,\s*)?ip=(?P<name>[0-9a-fA-F.:]{3,45})\)\s*",
    # ansible -o
    rf"{_NODE} \| [A-Z]{{2,12}} \| rc=\d+ \| \(stdout\) ?",
    # pdsh, clush
    rf"{_NODE}: ?",
)
_COMPLAINT = re.compile(
    r"(?:pdsh@[\w.-]+|clush|srun: error|mpirun|ssh: connect to host|ansible)[: ]+"
    rf"{_NODE}(?=: | port )"
)
_SPEAKS = re.compile(rf"{_NODE}: ")


class Heard:
    """What came from the nodes: answers, lines that are none, and words of launchers."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.bad: list[str] = []
        self.bad_count = 0
        self.noise: list[str] = []
        self.raw: list[bytes] = []  # the answers as they came, where somebody notes when
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

    def complain(self, where: str, why: str) -> None:
        """Note a line that cannot be used."""
        self.bad_count += 1
        if len(self.bad) < MOST_BAD:
            self.bad.append(f"{where}: {why}")

    def take(self, line: bytes | None, where: str, received: float = 0.0) -> None:
        """Add one line of a launcher's output; None is one that was too long."""
        if line is None:
            self.complain(where, f"longer than {MOST >> 20} MiB")
            return
        begins = BEGINS.search(line[:4096])
        if not begins:
            text = plain(line[:400].decode("utf-8", "replace")).strip()
            if text and len(self.noise) < MOST_NOISE:
                self.noise.append(text)
            return
        raw = line[begins.start() :].strip()
        try:
            answer = self.add(decoded(raw))
        except BadLineError as error:
            self.complain(where, str(error))
            return
        before = line[: begins.start()].decode("utf-8", "replace")
        answer.label = label_of(before) or answer.label
        answer.received = received or answer.received
        if received:
            self.raw.append(raw)

    def kept(self) -> Iterator[bytes]:
        """The answers as lines again, with who and when by the clock here."""
        for raw, answer in zip(self.raw, self.answers, strict=True):
            named = {"label": answer.label} if answer.label else {}
            line = {**msgspec.json.decode(raw), "received": answer.received, **named}
            yield msgspec.json.encode(line) + b"\n"


def label_of(before: str) -> str:
    """The node that the words before an answer name; a bare number is a rank, not a node."""
    for shape in _LABELS:
        found = re.fullmatch(shape, before.lstrip())
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
    said = _complaints(heard)
    out = []
    for one in dict.fromkeys([*expected, *said]):
        if not answered.intersection((one, alias(one), short_name(one))):
            out.append(Silent(clean_name(one), said.get(one) or _mention(heard.noise, one)))
    return out


def _complaints(heard: Heard) -> dict[str, str]:
    """Node → the last word on it: a launcher's, or its own."""
    shapes = {_shape(answer.label) for answer in heard.answers if answer.label}
    said: dict[str, str] = {}
    for text in heard.noise:
        found = _COMPLAINT.match(text)
        if not found and (found := _SPEAKS.match(text)) and _shape(found["name"]) not in shapes:
            continue
        if found and not found["name"].isdigit():
            said[found["name"]] = text
    return said


def _shape(name: str) -> str:
    return re.sub(r"\d+", "#", name)


def _mention(noise: list[str], name: str) -> str:
    word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
    return next((text for text in reversed(noise) if word.search(text)), "")
