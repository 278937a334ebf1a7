"""Tools: programs that people run on a GPU, each with its own option for what a cause needs."""

import re
from functools import lru_cache

import msgspec

from gpuwhy.advise.fill import MissingNameError, filled
from gpuwhy.advise.names import Around, Names
from gpuwhy.advise.remedy import Action, Remedy, Run, Tell, can_be_undone
from gpuwhy.knowledge.tables import rows


class Way(msgspec.Struct, frozen=True, rename={"causes": "for"}, forbid_unknown_fields=True):
    """What a tool has for some causes."""

    causes: tuple[str, ...]
    text: str
    fits: int
    do: tuple[dict[str, object], ...] = ()
    worked_if: str = ""


class Tool(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One program: how a text names it, and its ways."""

    id: str
    title: str
    named: str  # an expression
    words: tuple[str, ...]  # one of them stands in every text that names it
    remedy: tuple[Way, ...]


def ways(around: Around) -> list[Remedy]:
    """The remedies of the tools that the text names."""
    cause, out = around.ranked.cause, list[Remedy]()
    names, low = Names(around), around.log.excerpt.lower()
    for tool in tools() if low else ():
        fitting = [one for one in tool.remedy if cause in one.causes]
        near = fitting and (not tool.words or any(one in low for one in tool.words))
        if near and _named(tool.named).search(around.log.excerpt):
            out += [made for one in fitting if (made := _made(one, names))]
    return out


def _made(way: Way, names: Names) -> Remedy | None:
    try:
        text = str(filled(way.text, names.get))
        do = filled(list(way.do), names.get)
    except MissingNameError:
        return None
    actions = msgspec.convert(do, tuple[Action, ...]) or (Tell(text),)
    cause = names.get("cause")
    back = can_be_undone(actions) and not any(isinstance(one, Run) for one in actions)
    seen = way.worked_if
    return Remedy(actions, cause, text, worked_if=seen, reversible=back, fits=way.fits)


def tools() -> tuple[Tool, ...]:
    """Every tool."""
    return rows("tools.jsonl", Tool)


@lru_cache(maxsize=128)
def _named(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)
