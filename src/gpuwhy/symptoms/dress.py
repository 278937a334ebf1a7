"""Dress: what stands before every line of a text, or breaks its lines, and is not what the program printed.

A launcher, a logger, a mail or a listing puts the same mark before each line; a terminal or a mail program breaks long
lines. The mark is found by what lines have in common, not by a list of programs. Lines keep their numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from gpuwhy.model.ending import TOOLS
from gpuwhy.symptoms.single import NOTED

SAMPLE, MOST = 1 << 15, 200
"""How many bytes and lines of the beginning tell what stands before each line."""
FEW = 3
"""Lines that show a mark which is more than some signs."""
LONGEST = 120
"""Of a mark, in bytes."""
NARROW, WIDE = 60, 140
"""Widths at which lines are broken."""
Broken = Callable[[str, str], bool]
"""Whether a line goes on in the next."""
_PADDED = re.compile(rb"^ +(?=\d)")
_DIGITS = re.compile(rb"\d+")
_BEGINS = re.compile(rb"[ \t]|Traceback \(most recent|$")
"""What a line behind a mark begins with where the mark is none of the program's own: it is indented, or empty."""
_ENDS = re.compile(rb"[^\w.(\[{\"'`/<&-]$")
_SIGNS = re.compile(rb"[>#|/*%;:. \t0-]{1,8}")
_NAME = re.compile(rb"\S{2,40}[:|\]] ?")
_OWN = re.compile(
    rb"(?:error|exception|warning|fatal): ?$|failed|bash:|ld:|nvcc|gcc|collect2|\.cu|\.c|\.h\b", re.IGNORECASE
)
"""Names that programs put before their own messages."""
_WORDS = re.compile(rb"\bat\b|\bFile \"|Error: |frame #|\b(?:in|with|from) |npm ERR!")
_NEW = re.compile(
    r"\s{2}\s*\S|Traceback |[\w.]*\w(?:Error|Exception): |\d{4}-\d\d-\d\d[ T]\d|\[?rank ?\d|[EWIF]\d{4} \d|\w+\.cu:\d"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:"
)
"""How a line begins that is no rest of one that a terminal cut."""
MOSTLY, MORE = 0.6, 1.5
SIGNS = 6
"""Different signs that a line has at least which is no rule."""
USUAL = (72, 76, 78, 79, 80, 100, 120, 132)
_RECORD = re.compile(
    r"\s|Traceback |File \"|[\w.]*\w(?:Error|Exception|Warning)\b[:(]|\d{4}-\d\d|\[[\w ]|\d\d:\d\d|[EWIF]\d{4} "
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:|[-=#*+]{2}|\$ |>>>|(?:INFO|DEBUG|WARN|ERROR)"
    r"|During handling|The above|[\w./-]+:\d+: "
)
"""How a line begins that is no rest of the one before it."""
_ALONE = re.compile(
    rf"(?:info|warn(?:ing)?|err(?:or)?|debug|trace|fixme|fatal|{'|'.join(sorted(TOOLS))}): ?\S|"
    r"[\w.-]{1,60}:\d+:\d+ \[\d+\] |"
    r"\W{0,2}(?:epoch|step|iter(?:ation)?|batch|trial|round|fold|rank|worker)s?\W{0,2}\d|\W{0,2}\d+ ?/ ?\d+\W"
    r"|(?:False|True|None|cpu|cuda|\[.*\]|[\d.,()]+)\s*$|[\w.]{1,60}(?:Error|Exception)\b"
    r"|\S{1,80}: (?:line \d|(?:fatal )?error:)",
    re.IGNORECASE,
)
"""How a line begins that tells something of its own: its level, a tool's name, work that goes on, a value, an error."""


def _alone(line: str) -> bool:
    return bool(_ALONE.match(line) or NOTED.match(line))


_LEFT = re.compile(
    rb"[\w.-]+ exited with code \d+ *(?:\(restarting\))?|(?:Gracefully stopping|Aborting on container).*"
)
"""What compose itself says among the lines of its services."""


def _first_lines(data: bytes) -> list[bytes]:
    """The lines that tell a mark, without those that compose itself puts among them."""
    lines = [line.rstrip(b"\r") for line in data[:SAMPLE].split(b"\n")[:MOST] if line.strip()]
    return [line for line in lines if not _LEFT.fullmatch(line)] or lines


def mark_of(data: bytes) -> re.Pattern[bytes] | None:
    """What stands before each line of a text; None where nothing does, or it may be the program's own."""
    lines = _first_lines(data)
    common = _prefix(lines) if len(lines) > 1 else b""
    if not common.strip() or _WORDS.search(common) or (len(lines) < FEW and not _SIGNS.fullmatch(common)):
        return None
    mark = re.compile(rb"^" + _pattern(common), re.MULTILINE)
    behind = [line[found.end() :] for line in lines if (found := mark.match(line))]
    indented = sum(bool(_BEGINS.match(line)) for line in behind[1:])
    return mark if indented >= 1 + (len(behind) > 20) or _foreign(common, behind) else None


def _prefix(lines: Sequence[bytes]) -> bytes:
    """What lines begin with, all numbers being alike, up to a sign that ends such a mark."""
    forms = [_form(line) for line in lines]
    common = _common([form for form in forms if not _bare(form, forms)])
    while common and not _ENDS.search(common):
        common = common[:-1]
    return common


def _foreign(mark: bytes, behind: Sequence[bytes]) -> bool:
    """Whether a mark without any indented line behind it is still none of the program's own: signs, or one name."""
    if _SIGNS.fullmatch(mark):
        return True
    firsts = {line.split(b" ", 1)[0] for line in behind}
    return bool(_NAME.fullmatch(mark)) and not _OWN.search(mark) and len(firsts) >= min(3, len(behind))


def _common(forms: Sequence[bytes]) -> bytes:
    """The bytes that all begin with."""
    first, last = min(forms, default=b""), max(forms, default=b"")
    return first[
        : next((at for at, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    ]


def _bare(form: bytes, forms: Sequence[bytes]) -> bool:
    """Whether a line is only a mark, without the space that others have behind it."""
    return len(form) < LONGEST and all(other.startswith(form) for other in forms[:20])


def _pattern(form: bytes) -> bytes:
    """A form as an expression: digits of any number, spaces that may have been cut off at its end."""
    body = form.rstrip()
    spaces = re.escape(form[len(body) :])
    parts = re.split(rb"(0| +)", body)
    made = b"".join(rb"\d+" if p == b"0" else rb" *" if p.isspace() else re.escape(p) for p in parts)
    return rb"\ *" * form.startswith(b" ") + made.removeprefix(rb" *") + (rb"(?:" + spaces + rb")?" if spaces else b"")


_TRACED = re.compile(
    rb"^([^\n\"']{1,80}[^\w\n\"'])Traceback \(most recent call last\):[ \t]*\r?\n([^\n]{1,81})  File \"", re.MULTILINE
)
_RANKED = re.compile(rb"rank|pid=|\[0(?:,0)?\][:<]|^\s*$")
"""Marks that tell which of several processes speaks: they are needed later."""


def traced_marks(data: bytes) -> Iterator[re.Pattern[bytes]]:
    """What stands before the lines of a traceback alone, where the rest of the text has nothing before its lines."""
    if b"Traceback (most" not in data:
        return
    told = {_form(one[1]) for one in _TRACED.finditer(data) if _form(one[1]) == _form(one[2])}
    yield from (re.compile(rb"^" + _pattern(form), re.MULTILINE) for form in sorted(told) if not _RANKED.search(form))


def _form(line: bytes) -> bytes:
    """The beginning of a line, all numbers being alike."""
    return _DIGITS.sub(b"0", _PADDED.sub(b" ", line[:LONGEST]))


def unmarked(data: bytes, mark: re.Pattern[bytes]) -> bytes:
    """The text without what stands before each line."""
    return mark.sub(b"", data)


class Rejoined(NamedTuple):
    """A text with its lines made whole, in how many places, and whether its shape leaves no doubt of that."""

    text: str
    places: int
    sure: bool


def rejoined(text: str) -> Iterator[Rejoined]:
    """The text with its lines made whole, as a terminal and as a mail program break them; nothing where none is."""
    lines = text.split("\n")
    cut, filled = _cut(lines), _filled(lines)
    if cut and cut.sure and filled and filled.places > MORE * cut.places:
        cut = None  # between words, so that few of the lines are full
    made = [one for one in (filled, cut) if one is not None]
    yield from sorted(made, key=lambda one: (not one.sure, (one is cut) != one.sure))


def _cut(lines: Sequence[str]) -> Rejoined | None:
    """Lines that were cut at a width, whatever stood there."""
    width = max(map(len, lines), default=0)
    if not NARROW <= width <= WIDE:
        return None
    full = set(_full(lines, width))
    made = _joined(lines, lambda one, after: one in full and _can_go_on(one, after), "") if full else None
    if made is None:
        return None
    cuts = [(one, rest) for one, rest in pairwise(lines) if one in full and _can_go_on(one, rest)]
    goes_on = sum(_goes_on(rest) for _, rest in cuts)
    if not goes_on or not _in_words(cuts):
        return None
    return Rejoined(made, len(cuts), (len(cuts) > 1 or width in USUAL) and goes_on >= MOSTLY * len(cuts))


_FRAME = re.compile(r"\s*File \".+\", line \d+(?:, in [\w<>]+)?$")


def _can_go_on(one: str, rest: str) -> bool:
    """Whether a line may go on in the next: a whole frame of a traceback does only in its number or its name."""
    return bool(rest) and not (_FRAME.match(one) and rest[0] not in "0123456789,")


def _in_words(cuts: Sequence[tuple[str, str]]) -> bool:
    """Whether a word was cut anywhere; a single line before a capital letter only happens to be the longest."""
    if len(cuts) == 1 and cuts[0][0][-1].islower() and cuts[0][1][0].isupper():
        return False
    return any(one[-1].isalnum() and rest[0].isalnum() for one, rest in cuts)


def _goes_on(rest: str) -> bool:
    return not _NEW.match(rest) and not _alone(rest)


def _full(lines: Sequence[str], width: int) -> Iterator[str]:
    """The lines that go to the edge, and are no rules."""
    return (line for line in lines if len(line) == width and len(set(line)) > SIGNS)


def _filled(lines: Sequence[str]) -> Rejoined | None:
    """Lines that were broken between words because the next word had no room."""
    width = max((len(line) for line in lines if 0 < line.strip().find(" ") < NARROW), default=0)
    if not NARROW <= width <= WIDE:
        return None

    def broken(one: str, after: str) -> bool:
        word = after.split(" ", 1)[0]
        full = len(one) <= width < len(one.rstrip()) + 1 + len(word)
        table = one.rstrip().endswith(("|", "+"))  # its rows are all as wide, and end there
        return full and bool(word) and not table and not _RECORD.match(after) and not _alone(after)

    made = _joined(lines, broken, " ")
    if made is None:
        return None
    long = list(_long(lines, width))
    pairs = [(one, after) for one, after in long if broken(one, after)]
    parted, ended = len(pairs), sum(_sentences(one, after) and one.rstrip().endswith(".") for one, after in pairs)
    if parted > 1 and parted >= MOSTLY * len(long) and ended <= parted / 2:
        return Rejoined(made, parted, True)
    doubtful = _joined(lines, lambda one, after: broken(one, after) and not _sentences(one, after), " ")
    return Rejoined(doubtful, parted, False) if doubtful else None


def _long(lines: Sequence[str], width: int) -> Iterator[tuple[str, str]]:
    """Lines that may have been broken, each with the one behind it."""
    return ((one, after) for one, after in pairwise(lines) if len(one) > width / 2 and after and not after[0].isspace())


def _sentences(one: str, after: str) -> bool:
    """Whether a line ends a sentence, or the next begins one."""
    return after[0].isupper() or one.rstrip().endswith((".", "!", "?"))


def _joined(lines: Sequence[str], broken: Broken, by: str) -> str | None:
    """The lines, those that were broken in one; empty ones after it keep the numbers of the rest."""
    out: list[str] = []
    debt, last = 0, ""
    for line in lines:
        if out and last and broken(last, line):
            out[-1] += line if out[-1].endswith(" ") else by + line
            debt += 1
        else:
            out.extend([""] * debt)
            out.append(line)
            debt = 0
        last = line
    return "\n".join([*out, *[""] * debt]) if out.count("") + debt > lines.count("") else None


SHORTEST = 0.5
"""Of a line that was wrapped, what its shortest part has of the longest."""


def even(text: str) -> bool:
    """Whether a text can be one line that somebody wrapped: all parts but the last are about as long."""
    parts = [len(one) for one in text.splitlines() if one.strip()][:-1]
    return not parts or min(parts) >= SHORTEST * max(parts)
