"""The ending of a text: its last exception, fatal line or signal, opened down to the innermost and with its chain."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from gpuwhy.model.ending import Ending, Kind
from gpuwhy.symptoms.blocks import (
    FATAL,
    LAUNCHED,
    LEVELLED,
    LOGGED,
    WIDE,
    Block,
    after_a_note,
    after_message,
    at_work,
    blocks,
    owner_of,
    worked_between,
)
from gpuwhy.symptoms.series import settled
from gpuwhy.symptoms.stages import of_another
from gpuwhy.symptoms.text import unprefixed, warns
from gpuwhy.symptoms.tongues import ENDS

__all__ = ["ending_of", "owner_of"]
LATEST = 6
"""How many lines from the end the word of a program that raises nothing may stand."""
BRIEF = 40
"""Characters of a line that ends a program in a word."""
_PYTEST = re.compile(r"E   +(?=[A-Za-z_])")
_GROUPED = re.compile(
    r"\s{2,40}\| (?=\s*(?:File \"|Traceback|raise |[A-Za-z_][\w.]{1,80}(?:Error|Exception|Interrupt|Iteration|Group)\b"
    r"|\S.*\(|\^|~))"
)
"""The margin of what is raised within a group of exceptions."""
_CALL = re.compile(
    r"(?=.*(?:[Ee]rror|ERROR|[Ff]ail|status))(?:.{0,200}?\b(?P<call>(?:cu(?:da|dnn|blas|fft|rand|solver|sparse)?|nccl|nvml|nvrtc)"
    r"[A-Z][a-z]\w{1,60})|.{0,200}?(?<![\w/.-])(?i:cuda|cudnn|cublas|nccl|nvml|gpu)\b(?![-/.]\w))"
)
_WELL = re.compile(
    r"^\W{0,4}(?:all )?(?:done|finished|completed?|success\w*|ok|passed|bye|goodbye|saved|exiting normally)\b"
    r"|\b(?:training|run|job|test|evaluation|inference|everything)s? (?:is |has |was )?"
    r"(?:done|finished|completed?|succeeded|passed|ok)\b(?!, [1-9]\d* (?:tests? )?failed)"
    r"|\bBuilt target\b|stopped: `?max_(?:epochs|steps)"
    r"|\bsuccessfully\b|\bwritten\W*$|\b(?:saved|written) (?:\w+ ){0,4}to\b|(?<!failed, )\b\d+ passed\b(?!.*failed)"
    r"|\bexit(?:ing|ed)? normally\b|\bexit(?:[_ ]?(?:code|status))? ?[=:] ?0\b"
    r"|\b(?:health|status|result) ?[=:] ?(?:ok|pass(?:ed)?|success)\b"
    r"|\b(?:job|run|task|pod|step|worker|build)s? \S{1,40} (?:succeeded|completed|finished)\W*$"
    r"|\bshutdown complete\W*$|^&&&& PASSED\b",
    re.IGNORECASE,
)
_SUCCEEDED = re.compile(r"\b(?:SUCCEEDED|succeeded|exited with 0|exit code 0)\W*$")
_COMPLAINS = re.compile(
    r"\W{0,3}(?P<word>usage|(?:fatal )?error|fatal|critical|abort(?:ed|ing)?|usage error)\b\W", re.IGNORECASE
)
_HEADING = re.compile(r"\W{0,3}(?P<word>fatal|error|critical)(?: error)?:\s{0,4}", re.IGNORECASE)
"""A heading below which a program tells in a line why it ends."""
_PERROR = re.compile(
    r"(?:\[[\w .:-]{1,30}\] |[\w.-]{1,30}: )?[^\s:]{1,120}: "
    r"(?:No such file or directory|Permission denied|Is a directory|Not a directory"
    r"|No space left on device|Address already in use|Connection refused|Broken pipe|Invalid argument"
    r"|File exists|Directory not empty|Bad file descriptor|Input/output error)$"
)
"""A program's last word in C: the name of what it wanted, and what the system said."""
_TOLD = re.compile(
    r"(?:[^\s:]{1,160}:(?:\d+:){0,2} ){1,2}(?:fatal )?error: (?!ld returned|linker command|command )\S", re.IGNORECASE
)
"""A compiler or another program that tells its own error, by its name or the place."""
_USAGE = re.compile(r"usage: \S", re.IGNORECASE)
_PEER = re.compile(
    r"closed by peer|reset by peer|broken pipe|remote process exited|peer (?:process )?(?:died|exited|is dead)"
    r"|connection (?:refused|was closed)|other rank|another (?:rank|worker|process) |store.*(?:timeout|timed out)"
    r"|watchdog|heartbeat|coordination service",
    re.IGNORECASE,
)
"""By which a process tells that another one is gone."""
_INNER = re.compile(
    r"(?:^|[:>\]] |\n ?)(?P<type>(?:[A-Za-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception))"
    r"(?:\([^()\n]{0,80}\))?: (?P<message>\S[\s\S]*)"
)
_OPENED = (
    "BackendCompilerFailed", "InductorError", "RayTaskError", "TorchRuntimeError", "LoweringException", "RemoteError",
    "ProcessRaisedException", "WrappedException", "MultiprocessingException", "FailedFunctionError", "TrialError",
    "RemoteTraceback", "_RemoteTraceback", "TransformError", "JoblibException", "CppCompileError", "SubprocException",
)  # fmt: skip
"""Types that carry another exception in their message."""
_REMOTE = ("RemoteTraceback", "_RemoteTraceback")  # by Python's pools, before the traceback of a process of theirs
LAUNCHERS = ("ChildFailedError", "ProcessExitedException", "RaySystemError", "BrokenProcessPool", "CalledProcessError",
             "SystemExit", "RayActorError", "TuneError", "ActorDiedError", "WorkerCrashedError")  # fmt: skip
"""Types by which one process tells that another ended: what that one said decides."""


def ending_of(text: str, exit_code: int | None = None, signal: str = "", first_line: int = 1) -> Ending:
    """How a program ended, from its output and, where they are known, its exit code and the signal that ended it."""
    return endings_of(text, exit_code, signal, first_line)[0]


def endings_of(
    text: str, exit_code: int | None = None, signal: str = "", first_line: int = 1
) -> tuple[Ending, tuple[Ending, ...]]:
    """How a program ended, and the exceptions that it wrote down and outlived."""
    if exit_code == 0 and not signal:
        return Ending(exit_code=0, well=True), ()
    numbers, lines = _lines(text, first_line)
    done = settled(lines)
    busy = max(_busy(lines), done)
    found = _found(lines, exit_code is not None, busy)
    past = [one.ending for one in found if one.logged]
    logged, ignored = tuple((one.first, one.last) for one in past), _ignored(found)
    outlived = tuple(_numbered(one, numbers) for one in past)
    ending = _last(_linked(found), exit_code, signal)
    well = _well(ending, lines, done) if exit_code is None and not signal else None
    if well is not None:
        return _numbered(msgspec.structs.replace(well, logged=logged, ignored=ignored), numbers), outlived
    if ending.kind in ("none", "exit") and not ending.relayed:
        ending = _status(lines, re.split(r"[\n\r]", text), logged, busy) or _silent(ending, lines)
    ending = _numbered(msgspec.structs.replace(ending, logged=logged, ignored=ignored, busy=busy), numbers)
    return ending if exit_code is None else msgspec.structs.replace(ending, exit_code=exit_code), outlived


def _ignored(found: Sequence[Block]) -> tuple[tuple[int, int], ...]:
    return tuple((one.ending.first - 1, one.ending.last) for one in found if one.ignored)


def _found(lines: Sequence[str], one_run: bool, busy: int) -> list[Block]:
    """The blocks, marked where the program outlived them; without those of another run, where there may be several."""
    found = [one for one in blocks(lines) if one_run or not _left_behind(one.ending, lines)]
    _outlived(found, lines, busy)
    return found


def _well(found: Ending, lines: Sequence[str], done: int) -> Ending | None:
    """The end by a last line that says that all went well, or by a series of tries that outlived one of them."""
    at = _spoken(lines)
    if done > found.line:
        return Ending(message=lines[done - 1].strip()[:WIDE], well=True)
    if at < 0 or not _ends_well(found, at, lines[at]):
        return None
    return Ending(message=lines[at].strip()[:WIDE], well=True)


def _ends_well(found: Ending, at: int, line: str) -> bool:
    """Whether the last line says that all went well; it may stand where the lines of a message could."""
    if at >= found.last or (at >= found.line and _SUCCEEDED.search(line)):
        return bool(_WELL.search(line))
    return bool(found.stack) and at >= found.line and len(line) <= BRIEF and bool(_WELL.match(line))


def _lines(text: str, first: int) -> tuple[list[int], list[str]]:
    """The lines without their prefixes, and the number of each; a carriage return begins a piece of the same line."""
    numbers, lines = [], []
    for number, line in enumerate(text.split("\n"), first):
        for piece in line.split("\r"):
            numbers.append(number)
            lines.append(_bare(piece[:WIDE]))
    return numbers, lines


def _bare(line: str) -> str:
    """A line without rank, time and process, its indentation kept."""
    grouped = _GROUPED.match(line)
    if grouped:
        return line[grouped.end() :].rstrip()
    marked = _PYTEST.sub("", line) if line.startswith("E  ") else line
    if marked.startswith((" ", "\t")) or not marked:
        return marked.rstrip()
    cut = unprefixed(marked)
    return marked.rstrip() if FATAL.match(marked) or LEVELLED.match(marked) else cut.rstrip()


def _left_behind(ending: Ending, lines: Sequence[str]) -> bool:
    """Whether so much was printed after a program's last word that it was none."""
    if ending.kind != "fatal" or ending.type in ("terminate", "panic", *ENDS) or "::" in ending.type:
        return False
    after = [line for line in lines[ending.last : ending.last + 4 * LATEST] if line.strip() and not LOGGED.match(line)]
    return len(after) >= LATEST


def _outlived(blocks: Sequence[Block], lines: Sequence[str], busy: int) -> None:
    """Mark the exceptions that the program says to have outlived, or only printed, and after which it printed more.

    A traceback alone tells nothing: what was printed earlier may be written later, behind it and any later one.
    """
    for at, block in enumerate(blocks):
        raised = block.ending.kind == "exception" and not block.ending.stack and not block.tie
        said = block.perhaps and any(line.strip() for line in lines[after_message(lines, block.ending) :])
        worked = block.ending.kind == "exception" and worked_between(block, blocks[at + 1 :], lines)
        block.logged = block.logged or said or worked or (raised and block.ending.line < busy)
    _end_after_a_note(blocks, lines)


def _end_after_a_note(blocks: Sequence[Block], lines: Sequence[str]) -> None:
    """An exception below a logger's note that is the last thing in the text was not written down by it: it ended."""
    first = next((at for at in range(len(blocks) - 1, -1, -1) if not blocks[at].tie), -1)
    if first < 0 or not after_a_note(lines, blocks[first].ending.first - 1):
        return
    if all(not line.strip() or _passing(line) for line in lines[blocks[-1].ending.last :]):
        for block in blocks[first:]:
            block.logged = False


def _busy(lines: Sequence[str]) -> int:
    """The last place but one at which the text tells of work; 0 where there are not two."""
    found = [at + 1 for at, line in enumerate(lines) if at_work(line)]
    return found[-2] if len(found) > 1 else 0


def _linked(blocks: Sequence[Block]) -> list[Ending]:
    """The blocks as endings, those that are tied together made one."""
    out: list[Ending] = []
    for block in blocks:
        ending = _opened(block.ending)
        if block.logged:
            continue
        tie = block.tie or ("inner" if out and _hands_over(out[-1], ending) else "")
        if not out or not tie:
            out.append(ending)
        elif tie == "cause":
            out[-1] = _caused(out[-1], ending)
        elif tie == "inner":
            out[-1] = msgspec.structs.replace(
                ending,
                first=out[-1].first,
                wrappers=(*out[-1].wrappers, out[-1].type, *ending.wrappers),
                chain=out[-1].chain,
            )
        else:
            out[-1] = msgspec.structs.replace(
                ending, chain=(*out[-1].chain, msgspec.structs.replace(out[-1], chain=()))
            )
    return out


def _hands_over(outer: Ending, inner: Ending) -> bool:
    """Whether an exception ends with the announcement of another one, whose traceback stands below it."""
    if outer.message.endswith("raised:"):
        return inner.kind == "exception" and inner.first - outer.last <= 1
    if outer.name in _REMOTE and not outer.message.strip('" '):
        return inner.kind == "exception"
    return outer.message.endswith("error:") and bool(inner.stack) and inner.first - outer.last <= 2


def _caused(inner: Ending, outer: Ending) -> Ending:
    """`raise … from …`: the first decides, the second is what it was wrapped in; a remote traceback has it all."""
    if inner.name in _REMOTE:
        return msgspec.structs.replace(outer, stack=inner.stack or outer.stack, first=inner.first, chain=inner.chain)
    return msgspec.structs.replace(
        inner, last=outer.last, wrappers=(outer.type, *outer.wrappers, *inner.wrappers), chain=inner.chain
    )


def _opened(ending: Ending) -> Ending:
    """An exception whose message carries another one, opened down to that."""
    for _ in range(6):
        if ending.kind != "exception" or not (ending.name in _OPENED or _INNER.match(ending.message)):
            break
        found = _INNER.search(ending.message)
        if not found:
            break
        ending = msgspec.structs.replace(
            ending,
            type=found["type"],
            message=found["message"].strip(),
            line=ending.line + ending.message[: found.start("type")].count("\n"),
            wrappers=(*ending.wrappers, ending.type),
        )
    return ending


def _last(found: Sequence[Ending], exit_code: int | None, signal: str) -> Ending:
    """The one that ended the program; a launcher's word for another's end gives way to what that one said."""
    real = [one for one in found if one.name not in LAUNCHERS]
    if signal:
        return _signalled([one for one in real if one.kind != "signal" or one.stack], signal)
    spoken = [one for one in real if one.kind != "signal"]
    if spoken:
        return _last_spoken(spoken, exit_code is not None)
    return _relayed(found[-1]) if found else Ending("exit" if exit_code else "none")


def _last_spoken(spoken: Sequence[Ending], one_run: bool) -> Ending:
    """The last that said something; where that one only missed a peer, the first other that was stopped in its code."""
    alone = [one for one in spoken if not _missed(one)]
    last = spoken[-1]
    if last not in alone:
        last = next((one for one in alone if one.stack), last)
    return _after_stages(alone, last) if one_run else _among(alone, last)


def _missed(one: Ending) -> bool:
    """Whether it only tells that another process is gone, or that nothing came from it."""
    return bool(_PEER.search(one.message)) or (one.name == "Empty" and not one.message)


def _after_stages(alone: Sequence[Ending], last: Ending) -> Ending:
    """The last; where it misses a file, after the ends of other programs of the run that may have had to write it."""
    if last.name != "FileNotFoundError" or not last.stack:
        return last
    return _among([one for one in alone if one.line < last.line and of_another(one, last.stack[0])], last)


def _relayed(last: Ending) -> Ending:
    """A signal as it is; of a launcher's exception only that what it started ended."""
    return msgspec.structs.replace(last, kind="exit") if last.kind == "exception" else last


def _signalled(real: Sequence[Ending], signal: str) -> Ending:
    """The end by a signal that was seen, with what the program said last."""
    if not real:
        return Ending("signal", signal)
    last = real[-1]
    if signal == "SIGABRT" and last.kind == "fatal" and "::" in last.type:  # how C++ ends what nobody catches
        return last
    if last.kind in ("fatal", "signal"):
        return msgspec.structs.replace(last, kind="signal", type=signal, chain=(*last.chain, last))
    return Ending("signal", signal, stack=last.stack, chain=(last,))


def _among(raised: Sequence[Ending], last: Ending) -> Ending:
    """The last of several exceptions, where nobody knows whether the text is of one run: none of them is set aside."""
    others = [one for one in raised if one is not last and one.kind == "exception"]
    return msgspec.structs.replace(last, chain=(*others, *last.chain))


def _spoken(lines: Sequence[str]) -> int:
    """The place of the last line that the program printed itself; -1 where there is none."""
    return next((at for at in range(len(lines) - 1, -1, -1) if lines[at].strip() and not _passing(lines[at])), -1)


def _passing(line: str) -> bool:
    """Whether a line is a logger's or a launcher's."""
    return bool(LOGGED.match(line) or LAUNCHED.match(line))


def _status(
    lines: Sequence[str], printed: Sequence[str], logged: Sequence[tuple[int, int]], busy: int
) -> Ending | None:
    """The failure that a program printed last, where it raised nothing: in words of its own, or a failing call."""
    said = _complained(lines, printed)
    if said is not None:
        return said
    spoken = [at for at, line in enumerate(lines) if line.strip()][-LATEST:]
    for at in reversed(spoken):
        if _TOLD.match(lines[at].strip()) and not _passing(lines[at]):
            return _said_at("fatal", "error", lines, at)
    outlived = {line for first, end in logged for line in range(first, end + 1)}
    for at in reversed(spoken):
        call = _CALL.search(lines[at])
        if call and at + 1 >= busy and at + 1 not in outlived and not warns(lines[at]):
            return _said_at("status", call["call"] or "", lines, at)
    return None


def _complained(lines: Sequence[str], printed: Sequence[str]) -> Ending | None:
    """The last word of a program that complains: of a system call, or of how it was called."""
    last = _spoken(lines)
    if last < 0:
        return None
    if _PERROR.fullmatch(lines[last].strip()):
        return _said_at("fatal", "perror", lines, last)
    if last and (headed := _HEADING.fullmatch(printed[last - 1])):
        return _said_at("fatal", headed["word"].lower(), lines, last)
    last = next((at for at in range(max(0, last - LATEST), last) if _USAGE.match(printed[at])), last)
    word = _COMPLAINS.match(printed[last])
    return _said_at("fatal", word["word"].lower(), lines, last) if word else None


def _said_at(kind: Kind, what: str, lines: Sequence[str], at: int) -> Ending:
    return Ending(kind, what, lines[at].strip()[:WIDE], line=at + 1, first=at + 1, last=at + 1)


def _silent(found: Ending, lines: Sequence[str]) -> Ending:
    """A program that left with a code and raised nothing: with the last line that it printed itself."""
    at = _spoken(lines)
    if found.kind != "exit" or at < 0:
        return found
    return msgspec.structs.replace(found, message=lines[at].strip()[:WIDE], line=at + 1, first=at + 1, last=at + 1)


def _numbered(ending: Ending, numbers: Sequence[int]) -> Ending:
    """The same, its places in the list turned into line numbers."""

    def number(place: int) -> int:
        return numbers[min(place, len(numbers)) - 1] if place else 0

    return msgspec.structs.replace(
        ending,
        line=number(ending.line),
        first=number(ending.first),
        last=number(ending.last),
        busy=number(ending.busy),
        chain=tuple(_numbered(one, numbers) for one in ending.chain),
        logged=tuple((number(first), number(last)) for first, last in ending.logged),
        ignored=tuple((number(first), number(last)) for first, last in ending.ignored),
    )
