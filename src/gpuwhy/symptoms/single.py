"""Single: exceptions whose message is one line, whatever stands below it.

A program's output is written when its buffer is emptied, at its end: below the traceback of an error that came later.
Such lines are no part of the message. Where that ends is told by the statement that raised it, or by Python itself.
"""

from __future__ import annotations

import re

from gpuwhy.model.ending import PYTHON, USER, Frame

_RAISE = re.compile(
    r"(?:^|: )raise [\w.]+\((?P<prefix>[fFrR]{0,2})(?P<quote>['\"])(?P<text>(?:(?!(?P=quote)).)*)(?P=quote)\)"
    r"(?: from \w+)?$"
)
_ASSERT = re.compile(
    r"(?:^|: )assert .*, (?P<prefix>[fFrR]{0,2})(?P<quote>['\"])(?P<text>(?:(?!(?P=quote)).)*)(?P=quote)$"
)
NOTED = re.compile(
    r"(?:RESULT|DONE|OK)\b[^\n]{0,80}$"
    r"|(?:\[\w{1,12}\] )?(?:[\w-]{1,20} ){1,3}(?:ready|works|loaded|started|begins|done|up)\W*$"
    r"|(?:\[\w{1,12}\] )?(?:[\w-]{1,20}[ :=]{1,2}){0,4}"
    r"\W?(?:cuda|gpu|CudaDevice)(?::?\d+|\(id=\d+\))?[\s\d.,()\]}x-]*$",
    re.IGNORECASE,
)
"""A line that a program prints of itself: that it is ready, or on which device it works."""
_FIELD = re.compile(r"\{[^{}]*\}")
_ALWAYS = frozenset(
    """KeyError NameError UnboundLocalError ZeroDivisionError ModuleNotFoundError RecursionError FileNotFoundError
    PermissionError FileExistsError IsADirectoryError NotADirectoryError ConnectionRefusedError BrokenPipeError
    UnicodeDecodeError""".split()  # noqa: SIM905
)
"""What Python raises itself, in one line."""
_PYTHONS = re.compile(
    r"(?:max|min)\(\) (?:iterable argument|arg) is|(?:list|tuple|string|bytearray|pop) (?:index out|from empty)"
    r"|not enough values to unpack|too many values to unpack|invalid literal for int|could not convert string"
    r"|math domain error|'[\w.]+' object (?:has no|is not|cannot|does not)|unsupported operand type"
    r"|'[<>=!]+' not supported|can only concatenate|unhashable type|module '[\w.]+' has no attribute"
    r"|[\w.<>]+\(\) (?:missing \d|takes |got an unexpected|argument after)|cannot import name|time data '"
    r"|object of type '|\w+ indices must be|sequence item \d|list\.\w+\(x\)"
)
"""What Python says of values of its own."""


def one_line(frames: tuple[Frame, ...], kind: str, said: str) -> bool:
    """Whether an exception that was raised at the last of these frames says no more than its first line."""
    if not frames or frames[-1].owner not in (USER, PYTHON):
        return False
    return kind in _ALWAYS or bool(_PYTHONS.match(said)) or _as_written(frames[-1].code, said)


def _as_written(code: str, said: str) -> bool:
    """Whether the statement that raised it shows the whole message: its words, and values of one word at its end."""
    found = _RAISE.search(code) or _ASSERT.search(code)
    if found is None or "\\" in found["text"]:
        return False
    text = found["text"]
    if "f" not in found["prefix"].lower():
        return text == said
    words = [re.escape(part) for part in _FIELD.split(text)]
    return re.fullmatch(".*".join(words[:-1]) + (".*" if words[-1] else r"\S{1,40}") + words[-1], said) is not None
