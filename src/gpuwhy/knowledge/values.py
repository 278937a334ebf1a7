"""Judges of a variable's value: what one reader does with a text that it does not take as it was meant."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

Kind = Literal["off", "rejected", "ignored"]


class Wrong(NamedTuple):
    """What is wrong with a value."""

    kind: Kind
    text: str  # a sentence without its subject, which is the reader: "takes …", "stops at …"
    allowed: tuple[str, ...] = ()
    instead: str = ""


Judge = Callable[[str, str], "Wrong | None"]
"""From a value and the reader's release ("" where none is known)."""

TRUE, FALSE = ("y", "yes", "t", "true", "on", "1"), ("n", "no", "f", "false", "off", "0")
_WHOLE, _REAL = (
    re.compile(r"\s*[+-]?\d+(_\d+)*\s*"),
    re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*"),
)


def one_of(*values: str, kind: Kind = "rejected", fold: bool = False, empty: bool = True) -> Judge:
    """One of these words; `fold`: in any case; `empty`: set to nothing is as good as not set."""

    def judge(value: str, release: str) -> Wrong | None:
        if (
            (empty and not value)
            or value in values
            or (fold and value.lower() in {v.lower() for v in values})
        ):
            return None
        near = next((v for v in values if v.lower() == value.strip().lower()), "")
        return Wrong(kind, _refuses(kind, value), values, near)

    return judge


def truth(
    kind: Kind = "rejected", words: tuple[str, ...] = (*TRUE, *FALSE), empty: bool = False
) -> Judge:
    """A yes or no, in any case."""

    def judge(value: str, release: str) -> Wrong | None:
        if value.lower() in words or (empty and not value):
            return None
        return Wrong(kind, _refuses(kind, value), words)

    return judge


def whole(kind: Kind = "rejected", least: int | None = None, empty: bool = False) -> Judge:
    """A whole number, perhaps with a smallest one."""

    def judge(value: str, release: str) -> Wrong | None:
        if empty and not value:
            return None
        if not _WHOLE.fullmatch(value):
            return Wrong(kind, f"{_refuses(kind, value)}: it wants a whole number")
        if least is not None and int(value) < least:
            return Wrong(kind, f"{_refuses(kind, value)}: it wants {least} or more")
        return None

    return judge


def real(
    kind: Kind = "rejected",
    least: float | None = None,
    most: float | None = None,
    empty: bool = True,
) -> Judge:
    """A number within limits."""

    def judge(value: str, release: str) -> Wrong | None:
        if empty and not value:
            return None
        if not _REAL.fullmatch(value):
            hint = (
                f"{float(value.strip()[:-1]) / 100:g}"
                if re.fullmatch(r"\s*\d+\s*%\s*", value)
                else ""
            )
            return Wrong(kind, f"{_refuses(kind, value)}: it wants a number", (), hint)
        if (least is not None and float(value) < least) or (
            most is not None and float(value) > most
        ):
            return Wrong(kind, f"{_refuses(kind, value)}: it wants a number from {least} to {most}")
        return None

    return judge


def off_when(*values: str, text: str, fold: bool = True) -> Judge:
    """Values that keep a framework from the GPU."""

    def judge(value: str, release: str) -> Wrong | None:
        written = value.strip().lower() if fold else value
        return Wrong("off", text) if written in values else None

    return judge


def _refuses(kind: Kind, value: str) -> str:
    return f"{'does not take' if kind == 'ignored' else 'stops at'} {shown(value)}"


def shown(value: str) -> str:
    """A value in quotes, cut where it is long."""
    return repr(value if len(value) <= 60 else value[:57] + "…")
