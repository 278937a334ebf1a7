"""Plain values: exceptions that Python itself raises about numbers, texts and lists of the user's own."""

from __future__ import annotations

import re

from gpuwhy.model.ending import USER, Ending


def off_its_end(ending: Ending) -> bool:
    """Whether the user's code went beyond the end of a list that is none of devices."""
    frame = ending.frame
    if ending.name != "IndexError" or frame is None or frame.owner != USER or not _ENDED.match(ending.message):
        return False
    return "[" in frame.code and not _DEVICES.search(frame.code)


def of_plain_values(ending: Ending) -> bool:
    """Whether Python itself refuses what the user's own line does with values of its own kinds."""
    frame = ending.frame
    users = frame is None or frame.owner == USER
    return users and ending.type in ("TypeError", "ValueError") and bool(_PLAIN_VALUES.match(ending.message))


_KIND = r"'?(?:dict|list|tuple|str|int|float|bool|bytes|set|frozenset|datetime\.\w+|complex|range|function|method)'?"
_PLAIN_VALUES = re.compile(
    rf"'[<>=!]+' not supported between instances of {_KIND} and (?:{_KIND}|'NoneType')"
    rf"|unsupported operand type\(s\) for [^:\n]{{1,20}}: {_KIND} and (?:{_KIND}|'NoneType')|{_KIND} object is not \w+"
    rf"|can only concatenate {_KIND}|(?:string|list|tuple) indices must be|could not convert string to float: "
    rf"|invalid literal for int\(\) with base \d+: |unhashable type: {_KIND}|time data '|unconverted data remains"
    rf"|sequence item \d+: expected str|object of type {_KIND} has no len|argument of type {_KIND} is not iterable"
    rf"|not all arguments converted|not enough arguments for format|bad operand type for \S+: {_KIND}"
)
"""What Python says of numbers, texts and lists of its own; an array or a framework's object is another matter."""
_ENDED = re.compile(r"(?:list|tuple|string) index out of range")
_DEVICES = re.compile(r"(?:gpu|dev(?:ice)?)s?\w*(?:\([^()]*\))?\s*\[", re.IGNORECASE)
