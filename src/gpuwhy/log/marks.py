"""Marks: what stands before every line of a text, found by what the lines have in common."""

from __future__ import annotations

import re
from collections.abc import Sequence

SAMPLE, MOST = 1 << 15, 200
"""How many bytes and lines of the beginning show what stands before each line."""
FEW = 3
"""Lines that show a mark which is more than some signs."""
LONGEST = 120
"""Bytes of a mark."""
_PADDED = re.compile(rb"^ +(?=\d)")
_DIGITS = re.compile(rb"\d+")
_BEGINS = re.compile(rb"[ \t]|Traceback \(most recent|$")
"""A line behind a mark is indented or empty somewhere, if the mark is not the program's own."""
_ENDS = re.compile(rb"[^\w.(\[{\"'`/<&-]$")
_SIGNS = re.compile(rb"[>#|/*%;:. \t0-]{1,8}")
_NAME = re.compile(rb"\S{2,40}[:|\]] ?")
_OWN = re.compile(
    rb"(?:error|exception|warning|fatal): ?$|failed|bash:|ld:|nvcc|gcc|collect2|\.cu|\.c|\.h\b",
    re.IGNORECASE,
)
"""Names that programs put before their own messages."""
_WORDS = re.compile(rb"\bat\b|\bFile \"|Error: |frame #|\b(?:in|with|from) |npm ERR!")
_COMPOSE = re.compile(
    rb"[\w.-]+ exited with code \d+ *(?:\(restarting\))?"
    rb"|(?:Gracefully stopping|Aborting on container).*"
)
_TRACED = re.compile(
    rb"^([^\n\"']{1,80}[^\w\n\"'])Traceback \(most recent call last\):[ \t]*\r?\n"
    rb"([^\n]{1,81})  File \"",
    re.MULTILINE,
)
_RANKED = re.compile(rb"rank|pid=|\[0(?:,0)?\][:<]|^\s*$")
"""Marks that show which of several processes prints: they are read later."""


def common_mark(data: bytes) -> re.Pattern[bytes] | None:
    """What stands before each line; None where nothing does, or it may be the program's own."""
    lines = [line.rstrip(b"\r") for line in data[:SAMPLE].split(b"\n")[:MOST] if line.strip()]
    lines = [line for line in lines if not _COMPOSE.fullmatch(line)] or lines
    common = _prefix(lines) if len(lines) > 1 else b""
    few = len(lines) < FEW and not _SIGNS.fullmatch(common)
    if not common.strip() or _WORDS.search(common) or few or _RANKED.search(common):
        return None
    mark = re.compile(rb"^" + _pattern(common), re.MULTILINE)
    behind = [line[found.end() :] for line in lines if (found := mark.match(line))]
    indented = sum(bool(_BEGINS.match(line)) for line in behind[1:])
    return mark if indented >= 1 + (len(behind) > 20) or _foreign(common, behind) else None


def _prefix(lines: Sequence[bytes]) -> bytes:
    """What lines begin with, all numbers being alike, up to a sign that ends such a mark."""
    forms = [_form(line) for line in lines]
    common = _common([form for form in forms if not _only_mark(form, forms)])
    while common and not _ENDS.search(common):
        common = common[:-1]
    return common


def _foreign(mark: bytes, behind: Sequence[bytes]) -> bool:
    """Whether a mark is not the program's own though no line behind it is indented."""
    if _SIGNS.fullmatch(mark):
        return True
    firsts = {line.split(b" ", 1)[0] for line in behind}
    several = len(firsts) >= min(3, len(behind))
    return bool(_NAME.fullmatch(mark)) and not _OWN.search(mark) and several


def _common(forms: Sequence[bytes]) -> bytes:
    """The bytes that all begin with."""
    first, last = min(forms, default=b""), max(forms, default=b"")
    pairs = enumerate(zip(first, last, strict=False))
    return first[: next((at for at, pair in pairs if pair[0] != pair[1]), len(first))]


def _only_mark(form: bytes, forms: Sequence[bytes]) -> bool:
    """Whether a line is only the mark, without the space that others have behind it."""
    return len(form) < LONGEST and all(other.startswith(form) for other in forms[:20])


def _pattern(form: bytes) -> bytes:
    """A form as an expression: digits of any number, spaces that may be cut off at its end."""
    body = form.rstrip()
    spaces = re.escape(form[len(body) :])
    parts = re.split(rb"(0| +)", body)
    made = b"".join(
        rb"\d+" if one == b"0" else rb" *" if one.isspace() else re.escape(one) for one in parts
    )
    start = rb"\ *" if form.startswith(b" ") else b""
    return start + made.removeprefix(rb" *") + (rb"(?:" + spaces + rb")?" if spaces else b"")


def _form(line: bytes) -> bytes:
    """The beginning of a line, all numbers being alike."""
    return _DIGITS.sub(b"0", _PADDED.sub(b" ", line[:LONGEST]))
