"""Tracebacks: the exceptions, fatal lines and signals that a text holds, in order."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

import msgspec
from msgspec.structs import replace

from gpuwhy.log.ending import Ending, Frame, Kind
from gpuwhy.log.expressions import Expressions, entry

_RUNTIMES, _TONE = Expressions("runtimes"), Expressions("tone")
_E = TRACEBACKS = Expressions("tracebacks")

MESSAGE, FRAMES = 30, 200
"""How many lines of a message, and how many frames of one traceback, are kept."""
WIDE = 2000
WORDY, LOUD = 300, 400
"""Characters of a line that tells of work, and of one that complains."""
USER, PYTHON = "user", "python"
SIGNALS: dict[str, str] = entry("tracebacks.table_signals")


def is_warning(line: str) -> bool:
    """Whether the program goes on after such a line: by its level, or by what it says."""
    return bool(_TONE.warning.search(line) or _TONE.goes_on.search(line))


def complains(line: str) -> bool:
    """Whether a line calls itself an error, and does not say that the program goes on."""
    return len(line) < LOUD and bool(_TONE.complains.search(line)) and not is_warning(line)


def at_work(line: str) -> bool:
    """Whether a line tells of work that goes on."""
    return len(line) < WORDY and bool(_TONE.works.search(line))


def owner_of(file: str) -> str:
    """Whose file it is: a package by its folder, Python's own library, else the user's."""
    if found := _E.package.search(file):
        return found["package"].lower()
    if file.endswith((".pyx", ".pxd", ".pxi")) and "/" in file:
        return file.split("/", 1)[0].lower() or USER  # compiled modules name their source so
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
        ending = _taken(lines, at)
        if ending is None:
            at += 1
            continue
        header, above = _E.header.search(line), ""
        if header and "Original" in line:
            tie = tie or "inner"
        if header and not header[0].startswith("Original"):
            above = next((one for one in lines[max(0, at - 2) : at][::-1] if one.strip()), "")
        logged = (logged and bool(tie)) or bool(_E.logger.search(above))
        yield Block(ending, tie, logged, perhaps=bool(_E.outlived.search(above)))
        at, tie = max(ending.last, at + 1), ""


def _taken(lines: Sequence[str], at: int) -> Ending | None:
    """The block that begins at a line; its last line is the place after it."""
    line = lines[at]
    bare = line.strip()
    if not bare:
        return None
    if _E.header.search(line):
        return _traceback(lines, at)
    if found := _E.threw.match(bare):
        what = _E.what.match(lines[at + 1]) if at + 1 < len(lines) else None
        text, after = _message(lines, at + 1, what["message"]) if what else ("", at + 1)
        kind = found["type"] or "terminate"
        return Ending("fatal", kind, text, line=at + 1 + bool(what), first=at + 1, last=after)
    if found := _E.fatal.match(bare):
        return _fatal(lines, at, found)
    if ended := runtime_end(lines, at):
        return ended
    raised = None if line.startswith((" ", "\t")) else _E.raised.match(line)
    if raised and not raised["type"].endswith("Warning"):
        return _exception(lines, at, at, [], raised)
    if len(line) < 300 and (found := _E.signal.match(bare)):
        return said_at("signal", SIGNALS[found["signal"].lower()], bare, at)
    return None


def said_at(kind: Kind, what: str, said: str, at: int, stack: tuple[Frame, ...] = ()) -> Ending:
    """The ending that one line tells."""
    return Ending(kind, what, said[:WIDE], stack, line=at + 1, first=at + 1, last=at + 1)


def _traceback(lines: Sequence[str], start: int) -> Ending | None:
    """Frames, then the exception; None where the text ends before any frame."""
    margin, frames, at = _indent(lines[start]), list[Frame](), start + 1
    while at < len(lines) and not (_E.header.search(lines[at]) or _E.chain.search(lines[at])):
        line = lines[at]
        bare = line.strip()
        if found := _E.frame.match(line) or _E.ipython.match(line):
            below = lines[at + 1] if at + 1 < len(lines) else ""  # the source of the frame
            code = below.startswith((" ", "\t")) and not _E.frame.match(below)
            frames.append(_frame(found, below.strip() if code else ""))
            at += bool(frames[-1].code)
        elif pointed := _E.pointed.match(bare):
            shown = {"line": int(pointed["line"]), "code": pointed["code"].strip()[:300]}
            frames[-1:] = [replace(one, **shown) for one in frames[-1:]]
        elif _indent(line) <= margin:
            # behind frames any name may be an exception
            raised = _E.raised.match(bare) or (_E.any_type.match(bare) if frames else None)
            if raised:
                return _exception(lines, start, at, frames, raised)
        at += 1
    if not frames:
        return None
    return Ending("exception", "", "", tuple(frames[-FRAMES:]), at, start + 1, at)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _frame(found: re.Match[str], code: str = "") -> Frame:
    said = found.groupdict()
    number = said.get("line") or said.get("cell") or "0"
    function = (said.get("function") or "").strip()[:120]
    return Frame(said["file"], int(number), function, code[:300], owner_of(said["file"]))


def _exception(
    lines: Sequence[str], start: int, at: int, frames: Sequence[Frame], found: re.Match[str]
) -> Ending:
    text, after = _message(lines, at, (found["message"] or "").strip())
    stack = tuple(frames[-FRAMES:])
    return Ending("exception", found["type"], text, stack, at + 1, start + 1, after)


def _message(lines: Sequence[str], at: int, begun: str) -> tuple[str, int]:
    """A message that begins at a line, with the lines that go on with it, and the place after."""
    after = at + 1
    while after < len(lines) and after - at < MESSAGE:
        line = lines[after]
        # work goes on from a line where a further one soon tells of it
        work = at_work(line) and any(map(at_work, lines[after + 1 : after + 3]))
        if work or _ends_message(line):
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


def _ends_message(line: str) -> bool:
    """Whether a line cannot belong to the message of an exception."""
    bare = line.strip()
    return bool(
        _E.header.search(line)
        or _E.chain.search(line)
        or any(one.match(bare) for one in (_E.fatal, _E.threw, _E.signal))
        or any(one.match(line) for one in (_E.logged, _E.launched, _E.below_jax))
        or (not line.startswith((" ", "\t")) and _E.raised.match(line))
    )


def _fatal(lines: Sequence[str], at: int, found: re.Match[str]) -> Ending:
    groups = found.groupdict()
    if fault := groups["fault"]:
        name = next((signal for words, signal in SIGNALS.items() if words in fault.lower()), "")
        frames: list[Frame] = []
        for line in lines[at + 1 : at + FRAMES]:
            if shown := _E.frame.match(line):
                frames.insert(0, _frame(shown))  # faulthandler gives the innermost one first
            elif frames and (not line.strip() or _E.thread.match(line)):
                break
        what = name or "Fatal Python error"
        return said_at("signal" if name else "fatal", what, fault, at, tuple(frames))
    if groups["panic"]:
        text, after = _message(lines, at, groups["panic"])
        text = _E.stacked.split(text, maxsplit=1)[0].rstrip()
        return Ending("fatal", "panic", text, line=at + 1, first=at + 1, last=after)
    kinds = ("message", "what", "assert", "usage", "shell")
    kind = next(name for name in kinds if groups[name] is not None)
    named = kind if kind in kinds[2:] and groups[kind] else ""
    return said_at("fatal", groups["symbol"] or named or groups["where"] or "", groups[kind], at)


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


def runtime_end(lines: Sequence[str], at: int) -> Ending | None:
    """The end that a line tells in the form of another language."""
    line = lines[at].strip()
    if not _RUNTIMES.hint.search(line[:400]):
        return None
    around = lines[at + 1 : at + 1 + REACH], lines[max(0, at - 2) : at]
    for one in RUNTIMES:
        found = _compiled(one.line).match(line)
        if not found or not all(map(_stands, (one.below, one.above), around)):
            continue
        says, after = (found.groupdict().get("says") or "").strip(), at + 1
        if (one.next_line or not says) and after < len(lines):
            says, after = lines[after].strip(), after + 1
            if one.below and _compiled(one.below).match(says):
                says = ""  # only where it ended: what was printed above tells why
        return Ending("fatal", one.name, says[:WIDE], line=at + 1, first=at + 1, last=after)
    return None


def _stands(wanted: str, lines: Sequence[str]) -> bool:
    return not wanted or any(_compiled(wanted).match(line) for line in lines)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
