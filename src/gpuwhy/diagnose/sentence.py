"""The sentence of a clue, filled in with what the message and the Case state."""

from __future__ import annotations

import re

from gpuwhy.diagnose.conditions import case_value
from gpuwhy.diagnose.libraries import cudnn_release
from gpuwhy.diagnose.view import View
from gpuwhy.log.message import Message

_FIELD = re.compile(r"\{(\w+)(?::(\w+))?\}")


def said(template: str, message: Message, view: View) -> str:
    """A sentence, its fields filled in; "" where one of them is not stated."""
    missing = False

    def value(found: re.Match[str]) -> str:
        nonlocal missing
        stated = message.get(found[1]) or case_value(view, found[1])
        missing = missing or not stated
        return _FORMS.get(found[2] or "", _plain)(stated)

    text = _FIELD.sub(value, template)
    return "" if missing else text


def _plain(said: str) -> str:
    """9.12.0 of "9, 12, 0"."""
    return said.replace(", ", ".") if re.fullmatch(r"\d+(?:, \d+)+", said) else said


def _cudnn(said: str) -> str:
    """8.9 of 8902."""
    return ".".join(map(str, cudnn_release(said))) if said.isdigit() else _plain(said)


def _dotted(said: str) -> str:
    """12.8 of 12080."""
    number = int(said) if said.isdigit() else 0
    return f"{number // 1000}.{number % 1000 // 10}" if number >= 1000 else _plain(said)


_FORMS = {"cudnn": _cudnn, "dotted": _dotted}
