"""Commands: what somebody typed, set and did, as far as a text shows it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.log.case import Done, Stated, Typed
from gpuwhy.log.expressions import Expressions, names, says
from gpuwhy.log.scan import Page, group

_E = Expressions("commands")

LIMIT = 200
_SETS = names("commands.names_sets")
_OPTION_WITH_VALUE = frozenset(names("commands.names_option_with_value"))


class Ran(NamedTuple):
    """A command of the text, and the lines below it up to the next one."""

    command: str
    outcome: str
    line: int


class Shell(NamedTuple):
    """What was typed, in order."""

    ran: tuple[Ran, ...] = ()
    commands: tuple[Typed, ...] = ()


def commands_of(page: Page) -> Shell:
    """The commands that stand at a prompt, with what came of them."""
    found = list(page.finditer(says("commands.prompt")))[:LIMIT]
    ends = [*(one.start() for one in found[1:]), len(page.text)]
    ran = tuple(
        Ran(
            one["command"].strip(),
            page.text[one.end() : min(end, one.end() + 4000)].strip("\n"),
            page.line(one.start()),
        )
        for one, end in zip(found, ends, strict=False)
    )
    typed = tuple(Typed(_split(one.command), one.line, _failed(one.outcome)) for one in ran)
    return Shell(ran, typed)


def _failed(outcome: str) -> bool | None:
    if not outcome.strip():
        return None
    return bool(_E.refused.search(outcome))


def _split(command: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(command))
    except ValueError:
        return tuple(command.split())


def variables_of(page: Page, shell: Shell) -> dict[str, Stated[str]]:
    """The variables that the text shows to be set for the program, the last value of each."""
    out: dict[str, Stated[str]] = {}
    for pattern in _SETS:
        for found in page.finditer(pattern):
            out[found["name"]] = Stated(found["value"], page.line(found.start()))
    for one in shell.ran:
        for name, value in _of_command(one):
            out[name] = Stated(value, one.line)
    return out


def _of_command(ran: Ran) -> Iterator[tuple[str, str]]:
    for before in (*_E.prefix.finditer(ran.command), *_E.exported.finditer(ran.command)):
        yield from _E.one.findall(before[1])
    yield from _E.passed.findall(ran.command)
    asked = _E.echoed.search(ran.command)
    if asked and ran.outcome.strip():
        yield asked[1], ran.outcome.strip().splitlines()[0].strip()[:400]


def done_of(page: Page, shell: Shell) -> tuple[Done, ...]:
    """What was installed, removed, set, unset and restarted, by commands and by a person's word."""
    out: list[Done] = []
    for ran in shell.ran:
        failed = _failed(ran.outcome)
        if not failed:
            out += _by_command(ran)
    for found in page.finditer(says("commands.tried")):
        line = page.line(found.start())
        after = page.text[found.end() : found.end() + 160]
        helped = False if _E.helped.search(after) else None
        out += _by_words(group(found, "verb").lower(), group(found, "rest"), line, helped)
    return tuple(dict.fromkeys(out))[:LIMIT]


def _by_command(ran: Ran) -> Iterator[Done]:
    for found in _E.installs.finditer(ran.command):
        verb = found["verb"]
        gone = verb in ("uninstall", "remove", "purge")
        for package in _names(found["rest"]):
            yield Done("remove" if gone else "install", package, ran.line)
    for found in _E.unset.finditer(ran.command):
        for name in (found[1] or found[2]).split():
            yield Done("unset", name, ran.line)
    for before in _E.exported.finditer(ran.command):
        for name, value in _E.one.findall(before[1]):
            yield Done("set", f"{name}={value}", ran.line)
    if re.search(r"\b(?:reboot|shutdown -r)\b", ran.command):
        yield Done("restart", "machine", ran.line)
    elif found_unit := re.search(
        r"\b(?:systemctl|service) (?:\S+ )?restart (\S+)|(\S+) restart$", ran.command
    ):
        yield Done("restart", (found_unit[1] or found_unit[2]), ran.line)


def _names(rest: str) -> Iterator[str]:
    """The packages of an installer's words."""
    skip = False
    for word in rest.replace('"', " ").replace("'", " ").split():
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = word in _OPTION_WITH_VALUE
        elif _E.word.fullmatch(word) and not word.endswith((".txt", ".whl", ".yml", ".yaml")):
            yield word


def _by_words(verb: str, rest: str, line: int, helped: bool | None) -> Iterator[Done]:
    if verb.startswith(("reboot", "restart")):
        yield Done(
            "restart", "machine" if verb.startswith("reboot") else rest.strip(), line, helped
        )
        return
    if verb.startswith("set"):
        for name, value in _E.one.findall(rest):
            yield Done("set", f"{name}={value}", line, helped)
        return
    gone = verb.startswith(("uninstall", "remov"))
    for word in rest.split()[:6]:
        if _E.word.fullmatch(word) and re.search(r"\d|[=-]|torch|cuda|driver|jax|tensor", word):
            yield Done("remove" if gone else "install", word, line, helped)
