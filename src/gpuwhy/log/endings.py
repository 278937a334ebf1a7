"""Endings: which of the exceptions, fatal lines and signals of a text ended the program."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from gpuwhy.log.ending import Ending
from gpuwhy.log.expressions import Expressions, names
from gpuwhy.log.lines import Line
from gpuwhy.log.reasons import judged
from gpuwhy.log.tracebacks import (
    TRACEBACKS,
    WHOLE,
    WIDE,
    Block,
    after_message,
    at_work,
    blocks,
    is_warning,
    said_at,
)

_E, _TONE = Expressions("endings"), Expressions("tone")

LATEST = 6
"""How many lines from the end the word of a program that raises nothing may stand."""
BRIEF = 40
"""Characters of a line that ends a program in a word."""
TRY = 400
"""Characters of a line that tells how a try of a series went."""
DEEPEST = 6
"""How many exceptions are opened that carry another one in their message."""
CARRIERS = names("endings.names_carriers")
LAUNCHERS = names("endings.names_launchers")


class Course(NamedTuple):
    """How a program went: its ending, and what it outlived; lines from 1."""

    ending: Ending = Ending()
    outlived: tuple[Ending, ...] = ()  # exceptions that were written down
    busy: int = 0  # the last line but one that tells of work going on
    one_run: bool = False  # the exit code is known: the text is of one run
    ranks: tuple[tuple[str, int], ...] = ()  # processes of a job that failed, and their lines

    def is_logged(self, line: int) -> bool:
        """Whether a line is of an exception that was written down, or the line above it."""
        return any(one.first - 1 <= line <= one.last for one in self.outlived)


def course_of(lines: Sequence[Line], exit_code: int | None = None, signal: str = "") -> Course:
    """How a program ended, from its lines and, where they are known, its code and signal."""
    if exit_code == 0 and not signal:
        return Course(Ending(exit_code=0, well=True), one_run=True)
    text = [one.bare[:WIDE] for one in lines]
    done = _series_ended_well(text)
    work = [place for place, line in enumerate(text, 1) if at_work(line)]
    busy = max(*work[-2:-1], done, 0)
    found = _blocks(lines, text, exit_code is not None, busy)
    past = tuple(one.ending for one in found if one.logged)
    linked = _linked(one for one in found if not one.logged)
    ending = _last(linked, exit_code, signal)
    ranks = tuple({one.rank: one.line for one in (ending, *linked) if one.rank}.items())
    places = range(len(text) - 1, -1, -1)
    own = next((at for at in places if text[at].strip() and not _is_passing(text[at])), -1)
    well = None if exit_code is not None or signal else _well(ending, text, own, done)
    if well is not None:
        ending, busy, ranks = well, 0, ()
    elif ending.kind in ("none", "exit") and not ending.is_relayed:
        said = _complaint(lines, text, own) or _failed_call(text, past, busy)
        if said is None and ending.kind == "exit" and own >= 0:
            said = said_at("exit", "", text[own].strip(), own)
        ending = said or ending
    if exit_code is not None:
        ending = replace(ending, exit_code=exit_code)
    if well is None:
        ending = _by_torchrun(ending, text)
    numbers = [one.number for one in lines]
    return Course(
        judged(_moved(ending, numbers)),
        tuple(_moved(one, numbers) for one in past),
        _number(busy, numbers),
        exit_code is not None,
        tuple((rank, _number(line, numbers)) for rank, line in ranks),
    )


def _moved(ending: Ending, numbers: Sequence[int]) -> Ending:
    """The ending with its places in a list of lines, from 1, turned into the numbers of those."""
    places = (ending.line, ending.first, ending.last)
    line, first, last = (_number(place, numbers) for place in places)
    chain = tuple(_moved(one, numbers) for one in ending.chain)
    return replace(ending, line=line, first=first, last=last, chain=chain)


def _number(place: int, numbers: Sequence[int]) -> int:
    return numbers[min(place, len(numbers)) - 1] if place > 0 and numbers else 0


def _series_ended_well(lines: Sequence[str]) -> int:
    """The place (from 1) at which a series of tries that lost one says that it went on; 0 if none.

    A sweep, a search or a batch finder outlives what fails before that line.
    """
    broke = following = well = -1
    for at, line in enumerate(lines):
        if len(line) > TRY:
            broke = at if _TONE.broke.search(line) else broke
        elif _TONE.summed.search(line):
            well = at
        elif _TONE.broke.search(line):
            broke = at
        elif _TONE.went.search(line):
            well = at
        elif _TONE.next.search(line):
            following = at
        elif following > broke and at_work(line):
            well = at
    return well + 1 if well > broke >= 0 else 0


def _blocks(lines: Sequence[Line], text: Sequence[str], one_run: bool, busy: int) -> list[Block]:
    """The blocks of every process, in the order of the text; marked where they were outlived."""
    processes: dict[str, list[int]] = {}
    for place, line in enumerate(lines, 1):
        processes.setdefault(line.rank, []).append(place)
    found: list[Block] = []
    for rank, places in processes.items():
        for block in blocks([text[place - 1] for place in places]):
            if len(processes) > 1:
                block.ending = replace(_moved(block.ending, places), rank=rank)
            found.append(block)
    found.sort(key=lambda one: one.ending.line)
    kept = []
    for block in found:
        ending = block.ending
        if not one_run and _is_left_behind(ending, text):
            continue
        # written down: with a program's own word that it goes on, or alone, and work goes on
        rest = text[after_message(text, ending) :] if block.perhaps else ()
        alone = ending.kind == "exception" and not ending.stack and ending.line < busy
        block.logged = block.logged or alone or any(line.strip() for line in rest)
        kept.append(block)
    return kept


def _is_left_behind(ending: Ending, lines: Sequence[str]) -> bool:
    """Whether so much was printed after a program's last word that it was none."""
    if ending.kind != "fatal" or ending.type in ("terminate", "panic", *WHOLE):
        return False
    after = lines[ending.last : ending.last + 4 * LATEST]
    return sum(bool(line.strip()) and not TRACEBACKS.logged.match(line) for line in after) >= LATEST


def _linked(found: Iterable[Block]) -> list[Ending]:
    """The blocks as endings, those that are tied together made one."""
    out: list[Ending] = []
    for block in found:
        ending, tie = _opened(block.ending), block.tie
        before = out[-1] if out else Ending()
        if before.message.endswith("error:") and ending.stack:
            tie = tie or "inner"  # an exception ends with the announcement of this one
        if not out or not tie or before.rank != ending.rank:
            out.append(ending)
        elif tie == "cause":  # raise … from …: the first decides, the second is its wrapper
            wrappers = (ending.type, *ending.wrappers, *before.wrappers)
            out[-1] = replace(before, last=ending.last, wrappers=wrappers)
        elif tie == "inner":
            wrappers = (*before.wrappers, before.type, *ending.wrappers)
            out[-1] = replace(ending, first=before.first, wrappers=wrappers, chain=before.chain)
        else:
            out[-1] = replace(ending, chain=(*before.chain, replace(before, chain=())))
    return out


def _opened(ending: Ending) -> Ending:
    """An exception whose message carries another one, opened down to that."""
    while ending.kind == "exception" and len(ending.wrappers) < DEEPEST:
        carries = ending.name in CARRIERS or _E.inner.match(ending.message)
        found = _E.inner.search(ending.message) if carries else None
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
    real = [one for one in found if one.name not in LAUNCHERS]
    spoken = [one for one in real if one.kind != "signal"]
    if signal:
        real = [one for one in real if one.kind != "signal" or one.stack]
        last = real[-1] if real else None
        if last is None:
            return Ending("signal", signal)
        if signal == "SIGABRT" and last.kind == "fatal" and "::" in last.type:
            return last  # how C++ ends what nobody catches
        if last.kind in ("fatal", "signal"):
            return replace(last, kind="signal", type=signal, chain=(*last.chain, last))
        return Ending("signal", signal, stack=last.stack, chain=(last,))
    if spoken:
        return _last_spoken(spoken, exit_code is not None)
    if not found:
        return Ending("exit" if exit_code else "none")
    return replace(found[-1], kind="exit") if found[-1].kind == "exception" else found[-1]


def _last_spoken(spoken: Sequence[Ending], one_run: bool) -> Ending:
    """The last that said something; of a job's processes the first that failed."""
    alone = [one for one in spoken if not _E.peer.search(one.message)]  # misses no other process
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


def _by_torchrun(ending: Ending, text: Sequence[str]) -> Ending:
    """With the rank and the exit code of torchrun's block on the process that failed first."""
    at = next((place for place, line in enumerate(text) if _E.root.match(line)), -1)
    if at < 0:
        return ending
    block = "\n".join(text[at + 1 : at + 10])
    rank, code = _E.root_rank.search(block), _E.root_code.search(block)
    if code and ending.exit_code is None:
        ending = replace(ending, exit_code=int(code["code"]))
    return replace(ending, rank=rank["rank"]) if rank and not ending.rank else ending


# ---------------------------------------------------------------- where nothing was raised


def _is_passing(line: str) -> bool:
    """Whether a line is a logger's or a launcher's."""
    return bool(TRACEBACKS.logged.match(line) or TRACEBACKS.launched.match(line))


def _well(found: Ending, lines: Sequence[str], own: int, done: int) -> Ending | None:
    """The end by a last line that says that all went well, or by a series that went on."""
    if done > found.line:
        return Ending(message=lines[done - 1].strip(), line=done, well=True)
    if own < 0:
        return None
    said = _TONE.well.search(lines[own])
    if own < found.last:  # it stands where a message could
        word = found.stack and own >= found.line and len(lines[own]) <= BRIEF
        said = _TONE.well.match(lines[own]) if word else None
    return Ending(message=lines[own].strip(), line=own + 1, well=True) if said else None


def _complaint(lines: Sequence[Line], text: Sequence[str], own: int) -> Ending | None:
    """The last word of a program that complains: of a system call, or of how it was called."""
    if own < 0:
        return None
    if _E.perror.fullmatch(text[own].strip()):
        return said_at("fatal", "perror", text[own].strip(), own)
    printed = {}  # what the program itself printed, with its own level before it
    for at in range(max(0, own - LATEST), own + 1):
        mark = _E.of_process.match(lines[at].raw) if lines[at].rank else None
        printed[at] = lines[at].raw[mark.end() if mark else 0 :]
    headed = _E.heading.fullmatch(printed[own - 1]) if own else None
    if headed:
        return said_at("fatal", headed["word"].lower(), text[own].strip(), own)
    at = next((at for at in printed if at < own and _E.usage.match(printed[at])), own)
    word = _E.complains.match(printed[at])
    return said_at("fatal", word["word"].lower(), text[at].strip(), at) if word else None


def _failed_call(lines: Sequence[str], past: Sequence[Ending], busy: int) -> Ending | None:
    """The failure that a program printed last: of a tool, or of a call of the stack."""
    spoken = [at for at, line in enumerate(lines) if line.strip()][: -LATEST - 1 : -1]
    for at in spoken:
        if _E.told.match(lines[at].strip()) and not _is_passing(lines[at]):
            return said_at("fatal", "error", lines[at].strip(), at)
    for at in spoken:
        call = _E.call.search(lines[at])
        outlived = at + 1 < busy or any(one.first <= at + 1 <= one.last for one in past)
        if call and not outlived and not is_warning(lines[at]):
            return said_at("status", call["call"] or "", lines[at].strip(), at)
    return None
