"""Whether a row's `when` and `unless` hold for a message of a Log, and its sentence filled in."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from gpuwhy.causes.schema import When
from gpuwhy.diagnose.libraries import cudnn_release, kind_of
from gpuwhy.diagnose.predicates import PREDICATES, call_of
from gpuwhy.diagnose.view import GENERAL, View, size
from gpuwhy.knowledge.codes import family_of
from gpuwhy.log.message import Message

Word = Callable[[Any, Message, View], bool]


def holds(when: When | None, unless: When | None, message: Message, view: View) -> bool:
    """Everything in `when` holds, and nothing in `unless`."""
    return all(_is(*one, message, view) for one in _pairs(when)) and not any(
        _is(*one, message, view) for one in _pairs(unless)
    )


def _pairs(when: When | None) -> list[tuple[str, Any]]:
    if when is None:
        return []
    if isinstance(when, str):
        return [(when, True)]
    return list(when.items()) if isinstance(when, Mapping) else [(name, True) for name in when]


def _is(key: str, wanted: Any, message: Message, view: View) -> bool:
    if word := WORDS.get(key):
        return word(wanted, message, view)
    if predicate := PREDICATES.get(key):
        return predicate(message, view) is bool(wanted)
    if key.startswith("version."):
        stated = view.stated(key[8:])
        return any(fits(one, wanted) for one in stated) if stated else fits("", wanted)
    return fits(message.get(key) or case_value(view, key), wanted)


def case_value(view: View, name: str) -> str:
    """A field of the Case as text; "" where the text does not state it."""
    found = getattr(view.case, name, None)
    if found is None:
        return view.case.variable(name) if name.isupper() else ""
    value = getattr(found, "value", found)
    return str(value) if isinstance(value, (str, int)) else "*" if value else ""


def fits(value: str, wanted: Any) -> bool:
    """Whether a value is what a row wants: see causes.schema.When."""
    if isinstance(wanted, bool):
        return bool(value) is wanted
    if isinstance(wanted, (list, tuple)):
        return any(fits(value, one) for one in wanted)
    if wanted in ("", "*"):
        return bool(value) is (wanted == "*")
    if wanted[0] == "~":
        return bool(_expression(wanted[1:]).search(value))
    if wanted[0] in "<>":
        return bool(value) and _compare(size(value), wanted)
    return value.lower() == str(wanted).lower()


def _compare(number: float, wanted: str) -> bool:
    bound = float(wanted[1:])
    return number >= 0 and (number > bound if wanted[0] == ">" else number < bound)


@cache
def _expression(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _ids(wanted: Any) -> tuple[str, ...]:
    return (wanted,) if isinstance(wanted, str) else tuple(wanted)


def _alone_beside(wanted: Any, message: Message, view: View) -> bool:
    others = ("title.", *_ids(wanted))
    return all(one.id == message.id or one.id.startswith(others) for one in view.errors)


def _differ(wanted: Any, message: Message, view: View) -> bool:
    one, other = (message.get(name) for name in wanted)
    return bool(one) and not (other and (one.startswith(other) or other.startswith(one)))


def _share_free(wanted: Any, message: Message, view: View) -> bool:
    free, total = size(message.get("free")), size(message.get("total"))
    return total > 0 and free >= 0 and _compare(free / total, wanted)


def _call(wanted: Any, message: Message, view: View) -> bool:
    call = call_of(message, view)
    return bool(call) if wanted == "*" else bool(call) and family_of(call) in _ids(wanted)


WORDS: dict[str, Word] = {
    "line": lambda wanted, message, view: bool(_expression(wanted).search(message.text)),
    "beside": lambda wanted, message, view: view.beside(_ids(wanted), message),
    "and_beside": lambda wanted, message, view: view.beside(_ids(wanted), message),
    "alone": lambda wanted, message, view: _alone_beside((), message, view) is bool(wanted),
    "alone_beside": _alone_beside,
    "nothing_else": lambda wanted, message, view: (
        all(one.family in GENERAL or one.role == "echo" for one in view.failing) is bool(wanted)
    ),
    "no_errors": lambda wanted, message, view: (
        all(one.id == "title.trouble" for one in view.failing) is bool(wanted)
    ),
    "call": _call,
    "differ": _differ,
    "of": lambda wanted, message, view: kind_of(message.get("library")) in _ids(wanted),
    "of_wanted": lambda wanted, message, view: kind_of(message.get("wanted")) in _ids(wanted),
    "missing": lambda wanted, message, view: any(
        one is not message and one.role == "error" and kind_of(one.get("library")) in _ids(wanted)
        for one in view.log.messages
    ),
    "share_free": _share_free,
}
"""The words of causes.schema.WORDS."""


# ---------------------------------------------------------------- sentences

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
