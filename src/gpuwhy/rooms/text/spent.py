"""Spent: remedies that a text shows to have been tried, or to hold already: they did not help, so they go last."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import structs

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.deeds import LOOKS, PRINTS
from gpuwhy.model.steps import in_steps
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.shown import Ran, commands, variables

_QUICK = re.compile(rf"{LOOKS.pattern}|(?:export|unset|set) ")
_STEPS = re.compile(r" *(?:&&|;|\|\|) *")
_NOTE = re.compile(r"\s{2,}(?:#|& rem\b).*$")
_PIP = re.compile(r"^(?:\S*python[\d.]*(?:\.exe)? -m )?(?:uv )?pip[\d.]*(?= )")
_ALIKE = (("-U", "--upgrade"), ("apt-get", "apt"), ("--enable", "enable"), ("-i", "--index-url"))
_IDLE = frozenset({"-y", "--yes", "-it", "--rm", "--now", "-q", "--user", "-v", "--no-cache-dir", "-qq"})
"""Words of a command that change nothing of what it does to the fault."""


def without_spent(fixes: Sequence[Fix], case: Asked) -> list[Fix]:
    """The fixes that are still to be tried, then those that the text shows to be done; steps go with what they belong to."""
    ran, held = commands(case.text), variables(case.text)
    if not ran and not held:
        return list(fixes)
    groups = list(in_steps(fixes))
    fresh = [group for group in groups if not _spent(group, ran, held)]
    if not fresh:
        return list(fixes)
    return [_with_fresh_lines(fix, ran) for group in fresh for fix in group]


def _spent(group: Sequence[Fix], ran: Sequence[Ran], held: Mapping[str, str]) -> bool:
    """Whether all that mends in a group was done: what only looks mends nothing."""
    lines = [line for fix in group for line in _lines(fix)]
    mending = [line for line in lines if not LOOKS.match(_plain(line))]
    if not mending:
        only_looks = bool(lines) and (group[0].role == "look" or len(group[0].text) < _SHORT)
        return only_looks and all(_done(line, ran) for line in lines)
    return all(_done(line, ran) or _holds(line, held) for line in mending)


_SHORT = 60
"""Characters of a sentence that says no more than what is looked at."""


def _lines(fix: Fix) -> list[str]:
    if isinstance(fix.command, on.Command) and fix.command.shell in ("code", "dockerfile"):
        return [fix.command]
    return [line for line in fix.command.splitlines() if line.strip()]


def only_looks(fix: Fix) -> bool:
    """Whether none of its lines changes anything."""
    return all(LOOKS.match(_plain(line)) or PRINTS.search(line) for line in _lines(fix))


def mending(fix: Fix) -> frozenset[frozenset[str]]:
    """What its commands change, step by step, whoever types them; nothing of what only looks."""
    if isinstance(fix.command, on.Command) and fix.command.shell in ("code", "dockerfile"):
        return frozenset({frozenset({_BEFORE_CODE.sub("", fix.command).strip()})})
    lines = (line for line in _lines(fix) if not LOOKS.match(_plain(line)) and not PRINTS.search(line))
    return frozenset(words for line in lines for step in _STEPS.split(_plain(line)) if (words := _words(step)))


_BEFORE_CODE = re.compile(r"^if __name__ == '__main__': |\s+#[^\n]*$")


def said_apart(fixes: Sequence[Fix]) -> list[Fix]:
    """The fixes, last those that change only what an earlier one changes too: it would be tried twice."""
    kept: list[Fix] = []
    again: list[Fix] = []
    for fix in fixes:
        mine = mending(fix)
        twice = (
            mine and not fix.text.startswith("Then") and any(mine <= mending(one) and _alike(fix, one) for one in kept)
        )
        (again if twice else kept).append(fix)
    return [*kept, *again]


def _alike(one: Fix, other: Fix) -> bool:
    """Whether two sentences have most of the words of the shorter one in common: else the second has a reason of its own."""
    if set(_FIGURE.findall(one.text)) - set(_FIGURE.findall(other.text)):  # it names a release of its own
        return False
    mine, its = (frozenset(_LONGER.findall(fix.text.lower())) for fix in (one, other))
    return len(mine & its) >= _COMMON * min(len(mine), len(its))


_FIGURE = re.compile(r"\d[\w.]*")
_LONGER = re.compile(r"[a-z][\w-]{3,}")
_COMMON = 0.4


def _with_fresh_lines(fix: Fix, ran: Sequence[Ran]) -> Fix:
    """A fix without those of its lines that only look, or set, and that the text has."""
    lines = _lines(fix)
    kept = [line for line in lines if not (_QUICK.match(_plain(line)) and _done(line, ran))]
    if len(kept) == len(lines) or not kept:
        return fix
    return structs.replace(fix, command=on.like("\n".join(kept), fix.command))


def _done(line: str, ran: Sequence[Ran]) -> bool:
    """Whether every step of a line stands in the text as a command."""
    typed = [_words(step) for one in ran for step in _STEPS.split(one.command)]
    return all(any(words <= other for other in typed) for step in _STEPS.split(_plain(line)) if (words := _words(step)))


def _plain(line: str) -> str:
    return _NOTE.sub("", line.strip()).removeprefix("sudo ")


def _words(step: str) -> frozenset[str]:
    """What a step does, whoever types it: without sudo, quotes, variables before it and words that change nothing."""
    plain = _PIP.sub("pip", re.sub(r"^(?:[A-Z_]+=\S+ +)*(?:sudo (?:-\w+ )*)?", "", _NOTE.sub("", step.strip())))
    for old, new in _ALIKE:
        plain = re.sub(rf"(?<!\S){re.escape(old)}(?!\S)", new, plain)
    return frozenset(re.sub(r"[\"']", "", plain).split()) - _IDLE


_EXPORT = re.compile(r"^(?:export|set) (.+)$")
_PAIR = re.compile(r"\"?([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|\S*)")
_WHOLE = re.compile(r"\"([A-Za-z_]\w*)=([^\"]*)\"")
"""A pair as cmd has it: the quotes are around both."""


def _holds(line: str, held: Mapping[str, str]) -> bool:
    """Whether a line only sets variables, each to what it is set to already."""
    found = _EXPORT.match(_plain(line))
    pairs = (_WHOLE.findall(found[1]) or _PAIR.findall(found[1])) if found else []
    known = [_same(value, held[name]) for name, value in pairs if name in held]
    return bool(known) and all(known)  # what is set beside it, for another library, changes nothing of it


def _same(new: str, old: str) -> bool:
    """The same value, or folders that are all searched already."""
    plain, there = new.strip("\"'").lower(), old.strip("\"'").lower()
    if re.fullmatch(r"%\w+%|\$\{?\w+\}?", plain):  # what another variable has: it has something already
        return bool(re.match(r"/|[a-z]:", there))
    folders = {one.rstrip("/") for one in re.split(r"[:;]", plain) if one.startswith("/")}
    if folders:
        return folders <= {one.rstrip("/") for one in re.split(r"[:;]", there)}
    return plain in (there, {"1": "true", "true": "1"}.get(there, there))
