"""The ending of a text: its last exception, fatal line or signal, opened down to the innermost and with its chain."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gpuwhy.model.ending import PYTHON, USER, Ending, Frame
from gpuwhy.symptoms.text import unprefixed, warns

MESSAGE, FRAMES = 30, 200
"""How many lines of a message, and how many frames of one traceback, are kept."""
WIDE = 2000
LATEST = 6
"""How many lines from the end the word of a program that raises nothing may stand."""
SIGNALS = {
    "segmentation fault": "SIGSEGV", "aborted": "SIGABRT", "abort": "SIGABRT", "bus error": "SIGBUS",
    "killed": "SIGKILL", "illegal instruction": "SIGILL", "floating point exception": "SIGFPE",
    "access violation": "SIGSEGV", "terminated": "SIGTERM",
}  # fmt: skip

_HEADER = re.compile(r"(?:Original )?Traceback \(most recent call (?:last|first)\)")
_FRAME = re.compile(r'\s*File "(?P<file>[^"\n]{1,400})", line (?P<line>\d+)(?:, in (?P<function>.{1,200}))?')
_IPYTHON = re.compile(
    r"(?:File )?(?P<file>(?:[~/]|[A-Za-z]:\\|<ipython|/tmp/ipykernel)[^\n:]{0,300}?\.py(?:x|c)?"
    r"|<ipython-input[^>]{0,80}>|Cell In ?\[\d+\])(?::(?P<line>\d+))?"
    r"(?:, line (?P<cell>\d+))?(?:,? in (?P<function>[^\n(]{1,120}))?(?:\(|$)"
)
_POINTED = re.compile(r"-+> ?(?P<line>\d+) (?P<code>.*)")
_RAISED = re.compile(
    r"(?P<type>(?:[A-Za-z_]\w{0,80}\.){0,12}_?[A-Z]\w{0,80}?(?:Error|Exception|Interrupt|Exit|Failed|Failure|Timeout"
    r"|Expired|Unavailable|Fault|Traceback|Iteration|Warning|Abort|Busy|Exhausted|NotFound|Status)\d{0,2}|NVMLError_\w{1,40}"
    r"|subprocess\.\w+|queue\.(?:Empty|Full)|Exception)(?:\(\w[\w.]{0,60}\))?(?P<rest>: (?P<message>.*)|:?$)"
)
_ANY_TYPE = re.compile(r"(?P<type>(?:[A-Za-z_]\w{0,80}\.){0,12}[A-Za-z_]\w{1,80})(?P<rest>: (?P<message>.*)|:?$)")
_PYTEST = re.compile(r"E   +(?=[A-Za-z_])")
_CHAIN = re.compile(r"(?P<cause>The above exception was the direct cause of)|During handling of the above exception")
_THREW = re.compile(r"terminate called (?:after throwing an instance of '(?P<type>[^']{1,200})'|without an active)")
_WHAT = re.compile(r"\s*what\(\): {1,3}(?P<message>.*)")
_FATAL = re.compile(
    r"(?:\d{4}-\d\d-\d\d \d\d:\d\d:[\d.]+: |\[[^\]]{1,40}\] )?F(?:\d{4}(?: [\d:.]+)?(?: +\d+)?)? "
    r"(?P<where>[\w./-]+\.\w{1,4}:\d+)\] ?(?P<message>.*)"
    r"|(?:\S{1,80}: )?(?P<symbol>symbol lookup error|error while loading shared libraries): (?P<what>.*)"
    r"|(?P<assert>\S{1,200}: Assertion [`'].{1,300}' failed\.?.*)"
    r"|(?P<usage>[\w./-]{1,80}: error: (?:the following arguments|unrecognized arguments|argument |invalid choice).*)"
    r"|(?P<fault>Fatal Python error: .*)"
    r"|(?:[\w./-]{1,60}: )(?:line \d+: )?(?P<shell>[^:\s]{1,120}: (?:command not found|No such file or directory))$"
)
_SIGNAL = re.compile(
    r"(?:.{0,160}?(?:\d{1,9}|:) )?(?P<signal>Segmentation fault|Aborted|Bus error|Killed|Illegal instruction"
    r"|Floating point exception|Terminated)(?: *\(core dumped\))?(?: +\S.{0,200})?$"
)
_CALL = re.compile(
    r"(?=.*(?:[Ee]rror|ERROR|[Ff]ail|status))(?:.{0,200}?\b(?P<call>(?:cu(?:da|dnn|blas|fft|rand|solver|sparse)?|nccl|nvml|nvrtc)"
    r"[A-Z][a-z]\w{1,60})|.{0,200}?\b(?i:cuda|cudnn|cublas|nccl|nvml|gpu)\b)"
)
_WELL = re.compile(
    r"^\W{0,4}(?:all )?(?:done|finished|completed?|success\w*|ok|passed|bye|goodbye|saved|exiting normally)\b"
    r"|\b(?:training|run|job|test|evaluation|inference|everything)s? (?:is |has |was )?"
    r"(?:done|finished|completed?|succeeded|passed|ok)\b"
    r"|\bsuccessfully\b|\bwritten\W*$|\b(?:saved|written) (?:\w+ ){0,4}to\b|\b\d+ passed\b(?!.*failed)",
    re.IGNORECASE,
)
_COMPLAINS = re.compile(
    r"\W{0,3}(?P<word>usage|(?:fatal )?error|fatal|critical|abort(?:ed|ing)?|usage error)\b\W", re.IGNORECASE
)
_PEER = re.compile(
    r"closed by peer|reset by peer|broken pipe|remote process exited|peer (?:process )?(?:died|exited|is dead)"
    r"|connection (?:refused|was closed)|other rank|another (?:rank|worker|process) |store.*(?:timeout|timed out)"
    r"|watchdog|heartbeat|coordination service",
    re.IGNORECASE,
)
"""By which a process tells that another one is gone."""
_LOGGER = re.compile(
    r"^[a-z_][\w.]{1,60}:[^\s:/]|exception when calling|exception ignored|exception in (?:thread|callback)|\bcaught\b"
    r"|retry|configuration error|continuing|ignor(?:ed|ing)",
    re.IGNORECASE,
)
_THREAD = re.compile(r"(?:Current thread|Thread) 0x[0-9a-f]+")
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
LAUNCHERS = ("ChildFailedError", "ProcessExitedException", "RaySystemError", "BrokenProcessPool", "CalledProcessError",
             "SystemExit", "RayActorError", "ActorDiedError", "WorkerCrashedError")  # fmt: skip
"""Types by which one process tells that another ended: what that one said decides."""
_PACKAGE = re.compile(r"(?:site|dist)-packages[\\/](?P<package>[\w-]+)")
_STDLIB = re.compile(
    r"[\\/]lib(?:64)?[\\/]python\d[\d.]*[\\/]|[\\/]Lib[\\/](?!site-packages)\w+(?:\.py|[\\/])"
    r"|^<frozen |python\d{2,3}\.zip"
)


def owner_of(file: str) -> str:
    """Whose file it is: a package by its folder, Python's own library, else the user's."""
    if found := _PACKAGE.search(file):
        return found["package"].lower()
    return PYTHON if _STDLIB.search(file) else USER


def ending_of(text: str, exit_code: int | None = None, signal: str = "", first_line: int = 1) -> Ending:
    """How a program ended, from its output and, where they are known, its exit code and the signal that ended it."""
    if exit_code == 0 and not signal:
        return Ending(exit_code=0, well=True)
    numbers, lines = _lines(text, first_line)
    blocks = [one for one in _blocks(lines) if exit_code is not None or not _left_behind(one.ending, lines)]
    logged = tuple((one.ending.first, one.ending.last) for one in blocks if one.logged)
    found = msgspec.structs.replace(_last(_linked(blocks), exit_code, signal), logged=logged)
    at, printed = _spoken(lines), re.split(r"[\n\r]", text)
    if exit_code is None and not signal and at >= found.last and _WELL.search(lines[at]):
        return _numbered(Ending(message=lines[at].strip()[:WIDE], well=True, logged=logged), numbers)
    if found.kind in ("none", "exit"):
        found = msgspec.structs.replace(_status(lines, printed, logged) or _silent(found, lines), logged=logged)
    numbered = _numbered(found, numbers)
    return msgspec.structs.replace(numbered, exit_code=exit_code) if exit_code is not None else numbered


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
    marked = _PYTEST.sub("", line) if line.startswith("E  ") else line
    if marked.startswith((" ", "\t")) or not marked:
        return marked.rstrip()
    cut = unprefixed(marked)
    return marked.rstrip() if _FATAL.match(marked) else cut.rstrip()


def _left_behind(ending: Ending, lines: Sequence[str]) -> bool:
    """Whether so much was printed after a program's last word that it was none."""
    if ending.kind != "fatal" or ending.type == "terminate" or "::" in ending.type:
        return False
    after = [line for line in lines[ending.last : ending.last + 4 * LATEST] if line.strip() and not _LOGGED.match(line)]
    return len(after) >= LATEST


class _Block(msgspec.Struct):
    """One exception, fatal line or signal in the text, and how it is tied to the one before."""

    ending: Ending
    tie: str = ""  # "cause", "handling" or "inner": how it is tied to the block before it
    logged: bool = False  # a logger wrote it: the program goes on


def _blocks(lines: Sequence[str]) -> Iterator[_Block]:
    at, tie = 0, ""
    while at < len(lines):
        line = lines[at]
        if chained := _CHAIN.search(line):
            tie, at = "cause" if chained["cause"] else "handling", at + 1
            continue
        taken = _taken(lines, at)
        if taken is None:
            at += 1
            continue
        ending, after = taken
        inner = _HEADER.search(line) is not None and "Original" in line
        yield _Block(ending, tie or ("inner" if inner else ""), _is_logged(lines, at))
        at, tie = max(after, at + 1), ""


def _is_logged(lines: Sequence[str], at: int) -> bool:
    """Whether a traceback stands below the line of a logger."""
    before = next((line for line in reversed(lines[max(0, at - 2) : at]) if line.strip()), "")
    header = _HEADER.search(lines[at])
    return header is not None and not header[0].startswith("Original") and bool(_LOGGER.search(before))


def _taken(lines: Sequence[str], at: int) -> tuple[Ending, int] | None:
    """The block that begins at a line, and the line after it."""
    line = lines[at]
    if _HEADER.search(line):
        return _traceback(lines, at)
    if found := _THREW.match(line.strip()):
        return _thrown(lines, at, found)
    if found := _FATAL.match(line.strip()):
        return _fatal(lines, at, found)
    if not line.startswith((" ", "\t")) and (found := _RAISED.match(line)) and not found["type"].endswith("Warning"):
        return _exception(lines, at, at, (), found)
    if (found := _SIGNAL.match(line.strip())) and len(line) < 300:
        name = SIGNALS[found["signal"].lower()]
        return Ending("signal", name, line.strip()[:WIDE], line=at + 1, first=at + 1, last=at + 1), at + 1
    return None


def _traceback(lines: Sequence[str], at: int) -> tuple[Ending, int] | None:
    """Frames, then the exception; None where the text ends before it."""
    start, margin, frames = at, len(lines[at]) - len(lines[at].lstrip()), list[Frame]()
    at += 1
    while at < len(lines):
        line = lines[at]
        if _HEADER.search(line) or _CHAIN.search(line):
            break
        if found := _FRAME.match(line) or _IPYTHON.match(line):
            after = lines[at + 1] if at + 1 < len(lines) else ""
            code = after.strip() if after.startswith((" ", "\t")) and not _FRAME.match(after) else ""
            frames.append(_frame(found.groupdict(), code))
            at += 1 + bool(code)
            continue
        if pointed := _POINTED.match(line.strip()):
            frames = [*frames[:-1], _pointed(frames[-1], pointed)] if frames else frames
        elif line.strip() and len(line) - len(line.lstrip()) <= margin:
            raised = _RAISED.match(line.strip()) or (_ANY_TYPE.match(line.strip()) if frames else None)
            if raised:
                return _exception(lines, start, at, tuple(frames[-FRAMES:]), raised)
        at += 1
    if not frames:
        return None
    return Ending("exception", "", "", tuple(frames[-FRAMES:]), line=at, first=start + 1, last=at), at


def _frame(found: dict[str, Any], code: str) -> Frame:
    file = str(found["file"])
    number = found.get("line") or found.get("cell") or 0
    return Frame(file, int(number), (found.get("function") or "").strip()[:120], code[:300], owner_of(file))


def _pointed(frame: Frame, found: re.Match[str]) -> Frame:
    return msgspec.structs.replace(frame, line=int(found["line"]), code=found["code"].strip()[:300])


def _exception(
    lines: Sequence[str], start: int, at: int, frames: tuple[Frame, ...], found: re.Match[str]
) -> tuple[Ending, int]:
    text, after = _message(lines, at, found["message"] or "")
    return Ending("exception", found["type"], text, frames, line=at + 1, first=start + 1, last=after), after


def _message(lines: Sequence[str], at: int, begun: str) -> tuple[str, int]:
    """A message that begins at a line, with the lines that go on with it, and the line after them."""
    after = at + 1
    while after < len(lines) and after - at < MESSAGE and not _ends_message(lines[after]):
        after += 1
    while after > at + 1 and not lines[after - 1].strip():
        after -= 1
    return "\n".join([begun, *lines[at + 1 : after]]).strip()[:WIDE], after


def _ends_message(line: str) -> bool:
    """Whether a line cannot belong to the message of an exception."""
    return bool(
        _HEADER.search(line)
        or _CHAIN.search(line)
        or _FATAL.match(line.strip())
        or _THREW.match(line.strip())
        or _SIGNAL.match(line.strip())
        or _LOGGED.match(line)
        or (not line.startswith((" ", "\t")) and _RAISED.match(line))
    )


_LOGGED = re.compile(r"[EWIF]\d{4} \d\d:|\d{4}-\d\d-\d\d[ T]\d\d:\d\d|\[[EWI]\d{3,4} |[EWI]\d{4} 00:00")


def _thrown(lines: Sequence[str], at: int, found: re.Match[str]) -> tuple[Ending, int]:
    what = _WHAT.match(lines[at + 1]) if at + 1 < len(lines) else None
    text, after = _message(lines, at + 1, what["message"]) if what else ("", at + 1)
    ending = Ending(
        "fatal", found["type"] or "terminate", text, line=at + 1 + bool(what), first=at + 1, last=after
    )  # fmt: skip
    return ending, after


def _fatal(lines: Sequence[str], at: int, found: re.Match[str]) -> tuple[Ending, int]:
    groups = found.groupdict()
    if fault := groups["fault"]:
        name = next((s for words, s in SIGNALS.items() if words in fault.lower()), "")
        stack = _faulted(lines, at)
        after = at + 1
        return Ending(
            "signal" if name else "fatal", name or "Fatal Python error", fault, stack, at + 1, at + 1, after
        ), after
    said = next(groups[k] for k in ("message", "what", "assert", "usage", "shell") if groups[k] is not None)
    name = groups["symbol"] or ("usage" if groups["usage"] else groups["where"] or "")
    return Ending("fatal", name, said[:WIDE], line=at + 1, first=at + 1, last=at + 1), at + 1


def _faulted(lines: Sequence[str], at: int) -> tuple[Frame, ...]:
    """The stack that faulthandler gives, turned so that the innermost frame comes last."""
    frames: list[Frame] = []
    for line in lines[at + 1 : at + FRAMES]:
        if found := _FRAME.match(line):
            frames.append(_frame(found.groupdict(), ""))
        elif (frames and not line.strip()) or (frames and _THREAD.match(line)):
            break
    return tuple(reversed(frames))


def _linked(blocks: Sequence[_Block]) -> list[Ending]:
    """The blocks as endings, those that are tied together made one."""
    out: list[Ending] = []
    for block in blocks:
        ending = _opened(block.ending)
        if block.logged:
            continue
        if not out or not block.tie:
            out.append(ending)
        elif block.tie == "cause":
            out[-1] = _caused(out[-1], ending)
        elif block.tie == "inner":
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


def _caused(inner: Ending, outer: Ending) -> Ending:
    """`raise … from …`: the first decides, the second is what it was wrapped in; a remote traceback has it all."""
    if inner.name in ("RemoteTraceback", "_RemoteTraceback"):
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
    real = [
        one for one in found if one.name not in LAUNCHERS and not (one.kind == "signal" and signal and not one.stack)
    ]
    if signal:
        near = real[-1] if real and real[-1].kind in ("fatal", "signal") else None
        if near is not None:
            return msgspec.structs.replace(near, kind="signal", type=signal, chain=(*near.chain, near))
        return Ending("signal", signal, stack=real[-1].stack if real else (), chain=tuple(real[-1:]))
    spoken = [one for one in real if one.kind != "signal"]
    if spoken:
        first = [one for one in spoken if one.stack and not _PEER.search(one.message)]
        last = first[0] if _PEER.search(spoken[-1].message) and first else spoken[-1]
        return last if exit_code is not None else _among([one for one in spoken if not _PEER.search(one.message)], last)
    if found:
        return found[-1]
    return Ending("exit" if exit_code else "none")


def _among(raised: Sequence[Ending], last: Ending) -> Ending:
    """The last of several exceptions, where nobody knows whether the text is of one run: none of them is set aside."""
    others = [one for one in raised if one is not last and one.kind == "exception"]
    return msgspec.structs.replace(last, chain=(*others, *last.chain))


def _spoken(lines: Sequence[str]) -> int:
    """The place of the last line that the program printed itself; -1 where there is none."""
    return next((at for at in range(len(lines) - 1, -1, -1) if lines[at].strip() and not _LOGGED.match(lines[at])), -1)


def _status(lines: Sequence[str], printed: Sequence[str], logged: Sequence[tuple[int, int]]) -> Ending | None:
    """The failure that a program printed last, where it raised nothing: in words of its own, or a failing call."""
    last = _spoken(lines)
    if last >= 0 and (word := _COMPLAINS.match(printed[last])):
        return Ending("fatal", word["word"], lines[last].strip()[:WIDE], line=last + 1, first=last + 1, last=last + 1)
    spoken = [at for at, line in enumerate(lines) if line.strip()][-LATEST:]
    spoken = [at for at in spoken if not any(first <= at + 1 <= end for first, end in logged)]
    for at in reversed(spoken):
        if not warns(lines[at]) and (call := _CALL.search(lines[at])):
            return Ending(
                "status", call["call"] or "", lines[at].strip()[:WIDE], line=at + 1, first=at + 1, last=at + 1
            )
    return None


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
        chain=tuple(_numbered(one, numbers) for one in ending.chain),
        logged=tuple((number(first), number(last)) for first, last in ending.logged),
    )
