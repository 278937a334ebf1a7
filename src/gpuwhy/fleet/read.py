"""Read: lines from any launcher to answers; what stands before an answer may name the node."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from gpuwhy.answer.text import plain
from gpuwhy.fleet.answer import Answer, Silent
from gpuwhy.fleet.line import BEGINS, MOST, BadLineError, clean_name, decoded
from gpuwhy.fleet.names import alias
from gpuwhy.fleet.pool import Node, Pool

MOST_NOISE = 2000
_LABELS = (
    re.compile(
        r"\[pod/(?P<name>[a-z0-9][a-z0-9.-]{0,252})(?:/[a-z0-9.-]{1,252})?\]\s*"
    ),  # kubectl logs --prefix
    re.compile(r"\((?:[^()]{0,80}?,\s*)?ip=(?P<name>[0-9a-fA-F.:]{3,45})\)\s*"),  # Ray
    re.compile(
        r"(?P<name>[A-Za-z0-9][\w.-]{0,252}) \| [A-Z]{2,12} \| rc=\d+ \| \(stdout\) ?"
    ),  # ansible -o
    re.compile(r"(?P<name>[A-Za-z0-9][\w.-]{0,252}): ?"),  # pdsh, clush
)
_COMPLAINT = re.compile(
    r"(?:pdsh@[\w.-]+|clush|srun: error|mpirun|ssh: connect to host|ansible)[: ]+"
    r"(?P<name>[A-Za-z0-9][\w.-]{0,252})"
    r"(?=: | port )"
)

_SPEAKS = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]{0,252}): ")


class Heard:
    """What came from the nodes: answers, lines that are none, and words of launchers."""

    def __init__(self) -> None:
        self.pool = Pool()
        self.answers: list[Node] = []
        self.versions: set[str] = set()  # gpuwhy's own, of the nodes
        self.bad: list[str] = []
        self.bad_count = 0
        self.noise: list[str] = []
        self.raw: list[bytes] = []  # the answers as they came, where somebody notes when

    def add(self, answer: Answer) -> Node:
        """One answer, in little memory."""
        self.versions.add(answer.gpuwhy)
        self.answers.append(self.pool.made(answer))
        return self.answers[-1]

    def complain(self, where: str, why: str) -> None:
        """Note a line that cannot be used."""
        self.bad_count += 1
        if len(self.bad) < 20:
            self.bad.append(f"{where}: {why}")


def label_of(before: str) -> str:
    """The node that the words before an answer name; a bare number is a rank, not a node."""
    before = before.lstrip()
    for shape in _LABELS:
        found = shape.fullmatch(before)
        if found and not found["name"].isdigit():
            return clean_name(found["name"])
    return ""


def take(heard: Heard, line: bytes | None, where: str, received: float = 0.0) -> None:
    """Add one line of a launcher's output."""
    if line is None:
        heard.complain(where, f"longer than {MOST >> 20} MiB")
        return
    begins = BEGINS.search(line[:4096])
    if not begins:
        text = plain(line[:400].decode("utf-8", "replace")).strip()
        if text and len(heard.noise) < MOST_NOISE:
            heard.noise.append(text)
        return
    try:
        answer = decoded(line[begins.start() :])
    except BadLineError as error:
        heard.complain(where, str(error))
        return
    node = heard.add(answer)
    node.label = label_of(line[: begins.start()].decode("utf-8", "replace")) or answer.label
    node.received = received or answer.received
    if received:
        heard.raw.append(line[begins.start() :].strip())


def kept(heard: Heard) -> Iterator[bytes]:
    """The answers as lines again, with who and when by the clock here."""
    for raw, answer in zip(heard.raw, heard.answers, strict=True):
        more = msgspec.json.encode(
            {"received": answer.received, **({"label": answer.label} if answer.label else {})}
        )
        yield (
            raw.rstrip(b"}")
            + b"}" * (len(raw) - len(raw.rstrip(b"}")) - 1)
            + b","
            + more[1:]
            + b"\n"
        )


def of_lines(lines: Iterable[bytes | None], where: str, heard: Heard | None = None) -> Heard:
    """Everything in a file."""
    heard = Heard() if heard is None else heard
    for number, line in enumerate(lines, 1):
        if line is None or line.strip():
            take(heard, line, f"{where}:{number}")
    return heard


def name(answers: Iterable[Node], names: Iterable[str]) -> None:
    """Give those nodes their names whose aliases are known."""
    known = {alias(one): one for one in names}
    for answer in answers:
        answer.label = answer.label or known.get(answer.node, "")


def silent(heard: Heard, expected: Iterable[str]) -> list[Silent]:
    """The nodes that were expected, or complained of, and did not answer; with the last word."""
    answered = {one for answer in heard.answers for one in (answer.node, *_spellings(answer.name))}
    said = _complaints(heard)
    out = []
    for name in dict.fromkeys([*expected, *said]):
        if not answered.intersection((name, alias(name), *_spellings(name))):
            out.append(Silent(clean_name(name), said.get(name) or _mentions(heard.noise, name)))
    return out


def _complaints(heard: Heard) -> dict[str, str]:
    """Node → the last word on it: a launcher's, or its own."""
    shapes = {_shape(answer.label) for answer in heard.answers if answer.label}
    said: dict[str, str] = {}
    for text in heard.noise:
        found = _COMPLAINT.match(text) or _SPEAKS.match(text)
        if (
            found
            and not found["name"].isdigit()
            and (found.re is _COMPLAINT or _shape(found["name"]) in shapes)
        ):
            said[found["name"]] = text
    return said


def _shape(name: str) -> str:
    return re.sub(r"\d+", "#", name)


def _spellings(name: str) -> tuple[str, str]:
    return name, name.split(".", 1)[0] if not re.fullmatch(r"[\d.]+", name) else name


def _mentions(noise: list[str], name: str) -> str:
    word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])")
    return next((text for text in reversed(noise) if word.search(text)), "")
