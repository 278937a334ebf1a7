"""Plain: what comes from outside, as a terminal and a workflow's log may see it: it steers nothing."""

from __future__ import annotations

import re

_STEERING = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\ud800-\udfff"
)
"""C0 and C1, marks of direction and of width nothing, line separators, tags, halves of characters."""
_STEERS = re.compile(f"[{_STEERING}]")
_STEERS_NOT_TINT = re.compile(rf"(?!\x1b\[[0-9;]{{1,12}}m)[{_STEERING}]")
_LINES = re.compile(r"[\n\r\t\v\f\x85\u2028\u2029]+")
_ORDER = re.compile(r"^(\s*)(?=::[A-Za-z-]{1,40}[ :]|##\[[a-z]{1,20}\])", re.MULTILINE)
"""A line that a workflow runner would obey."""


def plain(text: str, tinted: bool = False) -> str:
    """A text of several lines without what steers a terminal or a workflow; our own colours stay."""
    text = (_STEERS_NOT_TINT if tinted else _STEERS).sub("?", text)
    return _ORDER.sub(r"\1· ", text) if "::" in text or "##[" in text else text


def one_line(text: str, tinted: bool = False) -> str:
    """The same of what has to be one line: it cannot begin another."""
    return plain(_LINES.sub(" ", text), tinted)


def lines(parts: list[str], tinted: bool = False) -> str:
    """Lines put together, each of them one."""
    return "\n".join(one_line(part, tinted) if part.strip() else "" for part in parts)


_IN_JSON = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]")


def json_plain(text: str) -> str:
    """JSON with the same characters written as escapes: the value stays, a terminal sees letters."""
    return _IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
