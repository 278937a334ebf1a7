"""Commands: what somebody typed, set and did, as far as a text shows it."""

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpuwhy.log.case import Action, Done, Stated, Typed
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
    typed: Typed


def commands_of(page: Page) -> list[Ran]:
    """The commands that stand at a prompt, in order, with what came of them."""
    found = list(page.finditer(says("commands.says_prompt")))[:LIMIT]
    ends = [*(one.start() for one in found[1:]), len(page.text)]
    out = []
    for one, end in zip(found, ends, strict=False):
        command = one["command"].strip()
        outcome = page.text[one.end() : min(end, one.end() + 4000)].strip()
        try:
            words = shlex.split(command)
        except ValueError:
            words = command.split()
        failed = bool(_E.refused.search(outcome)) if outcome else None
        out.append(Ran(command, outcome, Typed(tuple(words), page.line(one.start()), failed)))
    return out


def variables_of(page: Page, commands: Sequence[Ran]) -> dict[str, Stated[str]]:
    """The variables that the text shows to be set for the program, the last value of each."""
    out: dict[str, Stated[str]] = {}
    for pattern in _SETS:
        for found in page.finditer(pattern):
            out[found["name"]] = Stated(found["value"], page.line(found.start()))
    for ran in commands:
        before = (*_E.prefix.finditer(ran.command), *_E.exported.finditer(ran.command))
        pairs = [pair for one in before for pair in _E.one.findall(one[1])]
        pairs += _E.passed.findall(ran.command)
        asked = _E.echoed.search(ran.command)
        if asked and ran.outcome:
            pairs.append((asked[1], ran.outcome.splitlines()[0].strip()[:400]))
        out.update((name, Stated(value, ran.typed.line)) for name, value in pairs)
    return out


def done_of(page: Page, commands: Sequence[Ran]) -> tuple[Done, ...]:
    """What was installed, removed, set, unset and restarted, by commands and by a person's word."""
    out = [done for ran in commands if not ran.typed.failed for done in _by_command(ran)]
    for found in page.finditer(says("commands.says_tried")):
        after = page.text[found.end() : found.end() + 160]
        helped = False if _E.helped.search(after) else None
        for action, what in _by_words(group(found, "verb").lower(), group(found, "rest")):
            out.append(Done(action, what, page.line(found.start()), helped))
    return tuple(dict.fromkeys(out))[:LIMIT]


def _by_command(ran: Ran) -> Iterator[Done]:
    line = ran.typed.line
    for found in _E.installs.finditer(ran.command):
        gone = found["verb"] in ("uninstall", "remove", "purge")
        skip = False
        for word in found["rest"].replace('"', " ").replace("'", " ").split():
            file = word.endswith((".txt", ".whl", ".yml", ".yaml"))
            if not skip and _E.word.fullmatch(word) and not file:
                yield Done("remove" if gone else "install", word, line)
            skip = not skip and word in _OPTION_WITH_VALUE
    for found in _E.unset.finditer(ran.command):
        for name in (found[1] or found[2]).split():
            yield Done("unset", name, line)
    for found in _E.exported.finditer(ran.command):
        for name, value in _E.one.findall(found[1]):
            yield Done("set", f"{name}={value}", line)
    if restarted := _E.restarts.search(ran.command):
        yield Done("restart", restarted["unit"] or restarted["unit2"] or "machine", line)


def _by_words(verb: str, rest: str) -> Iterator[tuple[Action, str]]:
    if verb.startswith("reboot"):
        yield "restart", "machine"
    elif verb.startswith("restart"):
        yield "restart", rest.strip()
    elif verb.startswith("set"):
        yield from (("set", f"{name}={value}") for name, value in _E.one.findall(rest))
    else:
        gone = verb.startswith(("uninstall", "remov"))
        for word in rest.split()[:6]:
            if _E.word.fullmatch(word) and re.search(r"\d|[=-]|torch|cuda|driver|jax|tensor", word):
                yield "remove" if gone else "install", word
