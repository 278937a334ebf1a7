"""Endings: which of the exceptions, fatal lines and signals of a text ended the program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from gpuwhy.log.ending import Ending, Kind
from gpuwhy.log.expressions import Expressions, names
from gpuwhy.log.lines import Line
from gpuwhy.log.tone import TONE, at_work, is_warning, series_ended_well
from gpuwhy.log.tracebacks import (
    TRACEBACKS,
    WHOLE,
    WIDE,
    Block,
    after_message,
    blocks,
)

_E = Expressions("endings")

LATEST = 6
"""How many lines from the end the word of a program that raises nothing may stand."""
BRIEF = 40
"""Characters of a line that ends a program in a word."""
_CARRIERS = names("endings.names_carriers")
LAUNCHERS = names("endings.names_launchers")


class Course(NamedTuple):
    """How a program went: its ending, and what it outlived; lines from 1."""

    ending: Ending = Ending()
    outlived: tuple[Ending, ...] = ()  # exceptions that were written down
    logged: tuple[tuple[int, int], ...] = ()  # their lines
    busy: int = 0  # the last line but one that tells of work going on
    one_run: bool = False  # the exit code is known: the text is of one run
    ranks: tuple[tuple[str, int], ...] = ()  # processes of a job that failed, and their lines

    def is_logged(self, line: int) -> bool:
        """Whether a line is of an exception that was written down, or the line above it."""
        return any(first - 1 <= line <= last for first, last in self.logged)


def course_of(lines: Sequence[Line], exit_code: int | None = None, signal: str = "") -> Course:
    """How a program ended, from its lines and, where they are known, its code and signal."""
    if exit_code == 0 and not signal:
        return Course(Ending(exit_code=0, well=True), one_run=True)
    text = [one.bare[:WIDE] for one in lines]
    done = series_ended_well(text)
    busy = max(_busy(text), done)
    found = _found(lines, text, exit_code is not None, busy)
    past = [one.ending for one in found if one.logged]
    logged = tuple((one.first, one.last) for one in past)
    linked = _linked(found)
    ending = _last(linked, exit_code, signal)
    ranks = tuple({one.rank: one.line for one in (ending, *linked) if one.rank}.items())
    root = _root_cause(text)
    if exit_code is None and not signal:
        well = _well(ending, text, done)
        if well is not None:
            return _numbered(Course(well, tuple(past), logged), lines)
    if ending.kind in ("none", "exit") and not is_relayed(ending):
        said = _status(text, [_printed(one) for one in lines], logged, busy)
        ending = said or _silent(ending, text)
    if exit_code is not None:
        ending = replace(ending, exit_code=exit_code)
    elif root and ending.exit_code is None:
        ending = replace(ending, exit_code=root[1])
    if root and root[0] and not ending.rank:
        ending = replace(ending, rank=root[0])
    course = Course(ending, tuple(past), logged, busy, exit_code is not None, ranks)
    return _numbered(course, lines)


def _printed(line: Line) -> str:
    """What the program itself printed, with its own level before it."""
    found = _E.of_process.match(line.raw) if line.rank else None
    return line.raw[found.end() :] if found else line.raw


def is_relayed(ending: Ending) -> bool:
    """Whether only a launcher's word is known: that what it started ended."""
    return ending.kind == "exit" and bool(ending.type)


def name_of(ending: Ending) -> str:
    """The type without its modules."""
    return ending.type.rsplit(".", 1)[-1]


def _root_cause(text: Sequence[str]) -> tuple[str, int | None] | None:
    """The rank and exit code of torchrun's block on the process that failed first."""
    at = next((place for place, line in enumerate(text) if _E.root.match(line)), -1)
    if at < 0:
        return None
    block = text[at + 1 : at + 10]
    rank = next((found["rank"] for line in block if (found := _E.root_rank.match(line))), "")
    code = next((found["code"] for line in block if (found := _E.root_code.match(line))), None)
    return rank, int(code) if code is not None else None


def _found(lines: Sequence[Line], text: Sequence[str], one_run: bool, busy: int) -> list[Block]:
    """The blocks of every process, in the order of the text; marked where they were outlived."""
    found: list[Block] = []
    for rank, places in _processes(lines).items():
        if len(places) == len(lines):
            found += blocks(text)
            break
        part = [text[place] for place in places]
        for one in blocks(part):
            one.ending = replace(_placed(one.ending, places), rank=rank)
            found.append(one)
    found.sort(key=lambda one: one.ending.line)
    if not one_run:
        found = [one for one in found if not _left_behind(one.ending, text)]
    _mark_outlived(found, text, busy)
    return found


def _processes(lines: Sequence[Line]) -> dict[str, list[int]]:
    """The places of the lines of each process of a job; all of them where there is one."""
    out: dict[str, list[int]] = {}
    for place, one in enumerate(lines):
        out.setdefault(one.rank, []).append(place)
    return out


def _placed(ending: Ending, places: Sequence[int]) -> Ending:
    def place(at: int) -> int:
        return places[min(at, len(places)) - 1] + 1 if at else 0

    return replace(
        ending, line=place(ending.line), first=place(ending.first), last=place(ending.last)
    )


def _well(found: Ending, lines: Sequence[str], done: int) -> Ending | None:
    """The end by a last line that says that all went well, or by a series that went on."""
    at = _last_own_line(lines)
    if done > found.line:
        return Ending(message=lines[done - 1].strip()[:WIDE], line=done, well=True)
    if at < 0 or not _ends_well(found, at, lines[at]):
        return None
    return Ending(message=lines[at].strip()[:WIDE], line=at + 1, well=True)


def _ends_well(found: Ending, at: int, line: str) -> bool:
    """Whether the last line says that all went well; it may stand where a message could."""
    if at >= found.last:
        return bool(TONE.well.search(line))
    short = bool(found.stack) and at >= found.line and len(line) <= BRIEF
    return short and bool(TONE.well.match(line))


def _left_behind(ending: Ending, lines: Sequence[str]) -> bool:
    """Whether so much was printed after a program's last word that it was none."""
    whole = ending.type in ("terminate", "panic", *WHOLE)
    if ending.kind != "fatal" or whole:
        return False
    after = lines[ending.last : ending.last + 4 * LATEST]
    return sum(bool(line.strip()) and not TRACEBACKS.logged.match(line) for line in after) >= LATEST


def _mark_outlived(found: Sequence[Block], lines: Sequence[str], busy: int) -> None:
    """Mark the exceptions that the program says to have outlived, or printed and worked on."""
    for block in found:
        ending = block.ending
        bare = ending.kind == "exception" and not ending.stack and ending.line < busy
        said = block.perhaps and any(line.strip() for line in lines[after_message(lines, ending) :])
        block.logged = block.logged or said or bare


def _busy(lines: Sequence[str]) -> int:
    """The last place but one at which the text tells of work; 0 where there are not two."""
    found = [at + 1 for at, line in enumerate(lines) if at_work(line)]
    return found[-2] if len(found) > 1 else 0


def _linked(found: Sequence[Block]) -> list[Ending]:
    """The blocks as endings, those that are tied together made one."""
    out: list[Ending] = []
    for block in found:
        if block.logged:
            continue
        ending = _opened(block.ending)
        tie = block.tie or ("inner" if out and _hands_over(out[-1], ending) else "")
        if not out or not tie or out[-1].rank != ending.rank:
            out.append(ending)
        elif tie == "cause":
            out[-1] = _caused(out[-1], ending)
        elif tie == "inner":
            before = out[-1]
            wrappers = (*before.wrappers, before.type, *ending.wrappers)
            out[-1] = replace(ending, first=before.first, wrappers=wrappers, chain=before.chain)
        else:
            out[-1] = replace(ending, chain=(*out[-1].chain, replace(out[-1], chain=())))
    return out


def _hands_over(outer: Ending, inner: Ending) -> bool:
    """Whether an exception ends with the announcement of another one, which stands below it."""
    return outer.message.endswith("error:") and bool(inner.stack)


def _caused(inner: Ending, outer: Ending) -> Ending:
    """`raise … from …`: the first decides, the second is what it was wrapped in."""
    wrappers = (outer.type, *outer.wrappers, *inner.wrappers)
    return replace(inner, last=outer.last, wrappers=wrappers, chain=inner.chain)


def _opened(ending: Ending) -> Ending:
    """An exception whose message carries another one, opened down to that."""
    for _ in range(6):
        if ending.kind != "exception":
            break
        if name_of(ending) not in _CARRIERS and not _E.inner.match(ending.message):
            break
        found = _E.inner.search(ending.message)
        if not found:
            break
        ending = replace(
            ending,
            type=found["type"],
            message=found["message"].strip(),
            line=ending.line + ending.message[: found.start("type")].count("\n"),
            wrappers=(*ending.wrappers, ending.type),
        )
    return ending


def _last(found: Sequence[Ending], exit_code: int | None, signal: str) -> Ending:
    """The one that ended the program; a launcher's word gives way to what the process said."""
    real = [one for one in found if name_of(one) not in LAUNCHERS]
    if signal:
        return _signalled([one for one in real if one.kind != "signal" or one.stack], signal)
    spoken = [one for one in real if one.kind != "signal"]
    if spoken:
        return _last_spoken(spoken, exit_code is not None)
    if found:
        last = found[-1]
        return replace(last, kind="exit") if last.kind == "exception" else last
    return Ending("exit" if exit_code else "none")


def _last_spoken(spoken: Sequence[Ending], one_run: bool) -> Ending:
    """The last that said something; of a job's processes the first that failed."""
    alone = [one for one in spoken if not _missed_a_peer(one)]
    last = spoken[-1]
    ranked = [one for one in alone if one.rank]
    if last.rank and ranked:
        last = ranked[0]
    elif last not in alone:
        last = next((one for one in alone if one.stack), last)
    if one_run:
        return last
    others = [one for one in alone if one is not last and one.kind == "exception"]
    if last.rank:  # what the other processes raised is the same failure, or follows from it
        others = [one for one in others if one.line < last.line]
    return replace(last, chain=(*others, *last.chain))


def _missed_a_peer(one: Ending) -> bool:
    """Whether it only tells that another process is gone, or that nothing came from it."""
    return bool(_E.peer.search(one.message))


def _signalled(real: Sequence[Ending], signal: str) -> Ending:
    """The end by a signal that was seen, with what the program said last."""
    if not real:
        return Ending("signal", signal)
    last = real[-1]
    if signal == "SIGABRT" and last.kind == "fatal" and "::" in last.type:
        return last  # how C++ ends what nobody catches
    if last.kind in ("fatal", "signal"):
        return replace(last, kind="signal", type=signal, chain=(*last.chain, last))
    return Ending("signal", signal, stack=last.stack, chain=(last,))


def _last_own_line(lines: Sequence[str]) -> int:
    """The place of the last line that the program printed itself; -1 where there is none."""
    places = range(len(lines) - 1, -1, -1)
    own = (at for at in places if lines[at].strip() and not _is_passing(lines[at]))
    return next(own, -1)


def _is_passing(line: str) -> bool:
    """Whether a line is a logger's or a launcher's."""
    return bool(TRACEBACKS.logged.match(line) or TRACEBACKS.launched.match(line))


def _status(
    lines: Sequence[str],
    printed: Sequence[str],
    logged: Iterable[tuple[int, int]],
    busy: int,
) -> Ending | None:
    """The failure that a program printed last, where it raised nothing."""
    said = _complaint(lines, printed)
    if said is not None:
        return said
    spoken = [at for at, line in enumerate(lines) if line.strip()][-LATEST:]
    for at in reversed(spoken):
        if _E.told.match(lines[at].strip()) and not _is_passing(lines[at]):
            return _said_at("fatal", "error", lines, at)
    outlived = {line for first, last in logged for line in range(first, last + 1)}
    for at in reversed(spoken):
        call = _E.call.search(lines[at])
        if call and at + 1 >= busy and at + 1 not in outlived and not is_warning(lines[at]):
            return _said_at("status", call["call"] or "", lines, at)
    return None


def _complaint(lines: Sequence[str], printed: Sequence[str]) -> Ending | None:
    """The last word of a program that complains: of a system call, or of how it was called."""
    last = _last_own_line(lines)
    if last < 0:
        return None
    if _E.perror.fullmatch(lines[last].strip()):
        return _said_at("fatal", "perror", lines, last)
    if last and (headed := _E.heading.fullmatch(printed[last - 1])):
        return _said_at("fatal", headed["word"].lower(), lines, last)
    near = range(max(0, last - LATEST), last)
    last = next((at for at in near if _E.usage.match(printed[at])), last)
    word = _E.complains.match(printed[last])
    return _said_at("fatal", word["word"].lower(), lines, last) if word else None


def _said_at(kind: Kind, what: str, lines: Sequence[str], at: int) -> Ending:
    said = lines[at].strip()[:WIDE]
    return Ending(kind, what, said, line=at + 1, first=at + 1, last=at + 1)


def _silent(found: Ending, lines: Sequence[str]) -> Ending:
    """A program that left with a code and raised nothing: with its last line."""
    at = _last_own_line(lines)
    if found.kind != "exit" or at < 0:
        return found
    said = lines[at].strip()[:WIDE]
    return replace(found, message=said, line=at + 1, first=at + 1, last=at + 1)


def _numbered(course: Course, lines: Sequence[Line]) -> Course:
    """The same, its places in the list turned into line numbers."""

    def number(place: int) -> int:
        return lines[min(place, len(lines)) - 1].number if place > 0 and lines else 0

    def ending(one: Ending) -> Ending:
        return replace(
            one,
            line=number(one.line),
            first=number(one.first),
            last=number(one.last),
            chain=tuple(map(ending, one.chain)),
        )

    return Course(
        ending(course.ending),
        tuple(map(ending, course.outlived)),
        tuple((number(first), number(last)) for first, last in course.logged),
        number(course.busy),
        course.one_run,
        tuple((rank, number(line)) for rank, line in course.ranks),
    )
