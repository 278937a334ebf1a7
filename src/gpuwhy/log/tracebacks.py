"""Tracebacks: the exceptions, fatal lines and signals that a text holds, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from gpuwhy.log.ending import Ending, Frame, Kind
from gpuwhy.log.expressions import Expressions, entry
from gpuwhy.log.tone import at_work

_RUNTIMES = Expressions("runtimes")
_E = TRACEBACKS = Expressions("tracebacks")

MESSAGE, FRAMES = 30, 200
"""How many lines of a message, and how many frames of one traceback, are kept."""
WIDE = 2000
USER, PYTHON = "user", "python"
SIGNALS: dict[str, str] = entry("tracebacks.table_signals")


def owner_of(file: str) -> str:
    """Whose file it is: a package by its folder, Python's own library, else the user's."""
    if found := _E.package.search(file):
        return found["package"].lower()
    return PYTHON if _E.standard.search(file) else USER


class Block(msgspec.Struct):
    """One exception, fatal line or signal, and how it is tied to the one before; places from 1."""

    ending: Ending
    tie: str = ""  # "cause", "handling" or "inner"
    logged: bool = False  # a logger wrote it: the program goes on
    perhaps: bool = False  # a line of the program's own above it may say so


def blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Everything in the text that may have ended a program, in order."""
    at, tie, logged = 0, "", False
    while at < len(lines):
        line = lines[at]
        if chained := _E.chain.search(line):
            tie, at = "cause" if chained["cause"] else "handling", at + 1
            continue
        taken = _taken(lines, at)
        if taken is None:
            at += 1
            continue
        ending, after = taken
        inner = _E.header.search(line) is not None and "Original" in line
        tie = tie or ("inner" if inner else "")
        logged = (logged and bool(tie)) or _below(_E.logger, lines, at)
        yield Block(ending, tie, logged, perhaps=_below(_E.outlived, lines, at))
        at, tie = max(after, at + 1), ""


def _below(words: re.Pattern[str], lines: Sequence[str], at: int) -> bool:
    """Whether a traceback stands below a line with such words."""
    header = _E.header.search(lines[at])
    if header is None or header[0].startswith("Original"):
        return False
    before = next((line for line in reversed(lines[max(0, at - 2) : at]) if line.strip()), "")
    return bool(words.search(before))


def _taken(lines: Sequence[str], at: int) -> tuple[Ending, int] | None:
    """The block that begins at a line, and the place after it."""
    line = lines[at]
    bare = line.strip()
    if not bare:
        return None
    if _E.header.search(line):
        return _traceback(lines, at)
    if found := _E.threw.match(bare):
        return _thrown(lines, at, found)
    if found := _E.fatal.match(bare):
        return _fatal(lines, at, found)
    if ended := runtime_end(lines, at):
        ending = Ending(
            "fatal", ended.name, ended.says[:WIDE], line=at + 1, first=at + 1, last=ended.after
        )
        return ending, ended.after
    raised = None if line.startswith((" ", "\t")) else _E.raised.match(line)
    if raised and not raised["type"].endswith("Warning"):
        return _exception(lines, at, at, (), raised)
    if len(line) < 300 and (found := _E.signal.match(bare)):
        name = SIGNALS[found["signal"].lower()]
        return _at(Ending("signal", name, bare[:WIDE]), at), at + 1
    return None


def _at(ending: Ending, at: int) -> Ending:
    return replace(ending, line=at + 1, first=at + 1, last=at + 1)


def _traceback(lines: Sequence[str], at: int) -> tuple[Ending, int] | None:
    """Frames, then the exception; None where the text ends before any frame."""
    start, margin, frames = at, _indent(lines[at]), list[Frame]()
    at += 1
    while at < len(lines) and not (_E.header.search(lines[at]) or _E.chain.search(lines[at])):
        line = lines[at]
        if found := _E.frame.match(line) or _E.ipython.match(line):
            code = _code_below(lines, at)
            frames.append(_frame(found.groupdict(), code))
            at += bool(code)
        elif pointed := _E.pointed.match(line.strip()):
            frames[-1:] = [_pointed(one, pointed) for one in frames[-1:]]
        elif _indent(line) <= margin and (raised := _raised(line.strip(), bool(frames))):
            return _exception(lines, start, at, tuple(frames[-FRAMES:]), raised)
        at += 1
    if not frames:
        return None
    kept = tuple(frames[-FRAMES:])
    return Ending("exception", "", "", kept, line=at, first=start + 1, last=at), at


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _code_below(lines: Sequence[str], at: int) -> str:
    """The line of source that a traceback shows below a frame."""
    after = lines[at + 1] if at + 1 < len(lines) else ""
    return after.strip() if after.startswith((" ", "\t")) and not _E.frame.match(after) else ""


def _raised(text: str, framed: bool) -> re.Match[str] | None:
    """The exception of a line; behind frames any name may be one."""
    return _E.raised.match(text) or (_E.any_type.match(text) if framed else None)


def _frame(found: Mapping[str, str | None], code: str) -> Frame:
    file = found["file"] or ""
    number = found.get("line") or found.get("cell") or "0"
    function = (found.get("function") or "").strip()[:120]
    owner = owner_of(file)
    if owner == USER and file.endswith((".pyx", ".pxd", ".pxi")) and "/" in file:
        owner = file.split("/", 1)[0].lower() or USER  # compiled modules name their source so
    return Frame(file, int(number), function, code[:300], owner)


def _pointed(frame: Frame, found: re.Match[str]) -> Frame:
    return replace(frame, line=int(found["line"]), code=found["code"].strip()[:300])


def _exception(
    lines: Sequence[str], start: int, at: int, frames: tuple[Frame, ...], found: re.Match[str]
) -> tuple[Ending, int]:
    said = (found["message"] or "").strip()
    text, after = _message(lines, at, said)
    ending = Ending("exception", found["type"], text, frames, at + 1, start + 1, after)
    return ending, after


def _message(lines: Sequence[str], at: int, begun: str) -> tuple[str, int]:
    """A message that begins at a line, with the lines that go on with it, and the place after."""
    after = at + 1
    while after < len(lines) and after - at < MESSAGE:
        if _ends_message(lines[after]) or _work_begins(lines, after):
            break
        after += 1
    while after > at + 1 and (
        not lines[after - 1].strip() or _E.status_line.match(lines[after - 1])
    ):
        after -= 1
    return "\n".join([begun, *lines[at + 1 : after]]).strip()[:WIDE], after


def after_message(lines: Sequence[str], ending: Ending) -> int:
    """The place behind all that the message of an exception could be."""
    if ending.kind != "exception" or not ending.line:
        return ending.last
    return max(ending.last, _message(lines, ending.line - 1, "")[1])


def _work_begins(lines: Sequence[str], at: int) -> bool:
    """Whether work goes on from a line: a further one soon tells of it."""
    return at_work(lines[at]) and any(map(at_work, lines[at + 1 : at + 3]))


def _ends_message(line: str) -> bool:
    """Whether a line cannot belong to the message of an exception."""
    bare = line.strip()
    return bool(
        _E.header.search(line)
        or _E.chain.search(line)
        or _E.fatal.match(bare)
        or _E.threw.match(bare)
        or _E.signal.match(bare)
        or _E.logged.match(line)
        or _E.launched.match(line)
        or _E.below_jax.match(line)
        or (not line.startswith((" ", "\t")) and _E.raised.match(line))
    )


def _thrown(lines: Sequence[str], at: int, found: re.Match[str]) -> tuple[Ending, int]:
    what = _E.what.match(lines[at + 1]) if at + 1 < len(lines) else None
    text, after = _message(lines, at + 1, what["message"]) if what else ("", at + 1)
    kind = found["type"] or "terminate"
    ending = Ending("fatal", kind, text, line=at + 1 + bool(what), first=at + 1, last=after)
    return ending, after


def _fatal(lines: Sequence[str], at: int, found: re.Match[str]) -> tuple[Ending, int]:
    groups = found.groupdict()
    if fault := groups["fault"]:
        name = next((signal for words, signal in SIGNALS.items() if words in fault.lower()), "")
        kind: Kind = "signal" if name else "fatal"
        stack = _fault_stack(lines, at)
        return _at(Ending(kind, name or "Fatal Python error", fault, stack), at), at + 1
    if groups["panic"]:
        text, after = _message(lines, at, groups["panic"])
        text = _E.stacked.split(text, maxsplit=1)[0].rstrip()
        return Ending("fatal", "panic", text, line=at + 1, first=at + 1, last=after), after
    said = next(
        groups[name]
        for name in ("message", "what", "assert", "usage", "shell")
        if groups[name] is not None
    )
    kind_of = next((name for name in ("usage", "assert", "shell") if groups[name]), "")
    what = groups["symbol"] or kind_of or groups["where"] or ""
    return _at(Ending("fatal", what, said[:WIDE]), at), at + 1


def _fault_stack(lines: Sequence[str], at: int) -> tuple[Frame, ...]:
    """The stack that faulthandler gives, turned so that the innermost frame comes last."""
    frames: list[Frame] = []
    for line in lines[at + 1 : at + FRAMES]:
        if found := _E.frame.match(line):
            frames.append(_frame(found.groupdict(), ""))
        elif frames and (not line.strip() or _E.thread.match(line)):
            break
    return tuple(reversed(frames))


# ---------------------------------------------------------------- other languages than Python

REACH = 6
"""Lines around a line in which its form goes on."""


class Runtime(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One form: the line that tells, and what stands above or below where the line is anybody's."""

    name: str
    line: str
    below: str = ""
    above: str = ""
    next_line: bool = False  # the words stand in the line below
    whole: bool = True  # a whole program ends so


RUNTIMES = tuple(msgspec.convert(one, Runtime) for one in entry("runtimes.runtime"))
WHOLE = frozenset(one.name for one in RUNTIMES if one.whole)
"""Those that end a whole program."""


class RuntimeEnd(NamedTuple):
    """A line by which a runtime ended: its name, its words, the place after it."""

    name: str
    says: str
    after: int


def runtime_end(lines: Sequence[str], at: int) -> RuntimeEnd | None:
    """The end that a line tells in the form of another language."""
    line = lines[at].strip()
    if not _RUNTIMES.hint.search(line[:400]):
        return None
    for one in RUNTIMES:
        found = _compiled(one.line).match(line)
        if not found:
            continue
        below, above = lines[at + 1 : at + 1 + REACH], lines[max(0, at - 2) : at]
        if _stands(one.below, below) and _stands(one.above, above):
            return _end(one, found, lines, at)
    return None


def _stands(wanted: str, lines: Sequence[str]) -> bool:
    return not wanted or any(_compiled(wanted).match(line) for line in lines)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _end(one: Runtime, found: re.Match[str], lines: Sequence[str], at: int) -> RuntimeEnd:
    says = found.groupdict().get("says") or ""
    after = at + 1
    if (one.next_line or not says.strip()) and after < len(lines):
        says, after = lines[after].strip(), after + 1
        if one.below and _compiled(one.below).match(says):
            says = ""  # only where it ended: what was printed above tells why
    return RuntimeEnd(one.name, says.strip(), after)
