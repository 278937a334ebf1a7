"""Blocks: the exceptions with their tracebacks, the fatal lines and the signals that a text holds, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gpuwhy.model.ending import PYTHON, USER, Ending, Frame, Kind
from gpuwhy.symptoms.single import NOTED, one_line
from gpuwhy.symptoms.tongues import told_end

MESSAGE, FRAMES = 30, 200
"""How many lines of a message, and how many frames of one traceback, are kept."""
WIDE = 2000
SIGNALS = {
    "segmentation fault": "SIGSEGV", "aborted": "SIGABRT", "abort": "SIGABRT", "bus error": "SIGBUS",
    "killed": "SIGKILL", "illegal instruction": "SIGILL", "floating point exception": "SIGFPE",
    "access violation": "SIGSEGV", "terminated": "SIGTERM", "alarm clock": "SIGALRM",
    "virtual timer expired": "SIGVTALRM",
    "profiling timer expired": "SIGPROF", "user defined signal 1": "SIGUSR1", "user defined signal 2": "SIGUSR2",
    "hangup": "SIGHUP", "cpu time limit exceeded": "SIGXCPU", "file size limit exceeded": "SIGXFSZ",
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
_ANY_TYPE = re.compile(
    r"(?P<type>(?=[\w.]*[A-Z.])(?:[A-Za-z_]\w{0,80}\.){0,12}[A-Za-z_]\w{1,80})(?P<rest>: (?P<message>.*)|:?$)"
)
_TESTED = re.compile(r"(?P<file>[\w./\\-]{1,200}\.py):(?P<line>\d+): (?P<type>[A-Z]\w{1,60}(?:Error|Exception|Exit))$")
"""Where pytest says that a test failed, below the source and the message."""
_CHAIN = re.compile(r"(?P<cause>The above exception was the direct cause of)|During handling of the above exception")
_THREW = re.compile(r"terminate called (?:after throwing an instance of '(?P<type>[^']{1,200})'|without an active)")
_WHAT = re.compile(r"\s*what\(\): {1,3}(?P<message>.*)")
FATAL = re.compile(
    r"(?:\d{4}-\d\d-\d\d \d\d:\d\d:[\d.]+: |\[[^\]]{1,40}\] )?F(?:\d{4}(?: [\d:.]+)?(?: +\d+)?)? "
    r"(?P<where>[\w./-]+\.\w{1,4}:\d+)\] ?(?P<message>.*)"
    r"|(?:\S{1,80}: )?(?P<symbol>symbol lookup error|error while loading shared libraries): (?P<what>.*)"
    r"|(?P<assert>\S{1,200}: Assertion [`'].{1,300}' failed\.?.*)"
    r"|(?P<usage>[\w./-]{1,80}: error: (?:the following arguments|unrecognized arguments|argument |invalid choice).*)"
    r"|(?P<panic>panic: .*|thread '[^'\n]{1,80}'(?: \(\d+\))? panicked at .*|Exception in thread \"[^\"\n]{1,80}\" .*"
    r"|Unhandled exception\. .*|Uncaught \w*Error: .*)"
    r"|(?P<fault>Fatal Python error: .*)"
    r"|(?:[\w./-]{1,60}: )(?:(?:line )?\d+: )?"
    r"(?P<shell>[^:\s]{1,120}: (?:(?:command )?not found|No such file or directory|Permission denied|unbound variable"
    r"|bad substitution|ambiguous redirect|cannot execute[^\n]{0,60}|Is a directory|Exec format error))$"
)
_SIGNAL = re.compile(
    r"(?:.{0,160}?(?:\d{1,9}|:) )?(?P<signal>Segmentation fault|Aborted|Bus error|Killed|Illegal instruction"
    r"|Floating point exception|Terminated|Alarm clock|(?:Virtual|Profiling) timer expired|User defined signal [12]"
    r"|(?<=\d )Hangup|(?:CPU time|File size) limit exceeded)(?: *\(core dumped\))?(?: +\S.{0,200})?$"
)
LEVELLED = re.compile(r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):[\w.]{1,60}:")
"""How Python's logging begins a line where nobody set a format."""
LOGGED = re.compile(
    r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL):[\w.]{1,60}:"
    r"|[EWIF]\d{4} \d\d:|\d{4}-\d\d-\d\d[ T]\d\d:\d\d|\[[EWI]\d{3,4} |[EWI]\d{4} 00:00"
)
"""The line of a logger, by its level or time."""
LAUNCHED = re.compile(
    r"srun: (?:error: \S+ task|terminating|job step aborted)|slurmstepd: error|make(?:\[\d+\])?: \*\*\*|\W*wandb: "
    r"|ERROR conda\.cli\.main_run"
    r"|##\[error\]|\S+ exited with code \d|exit(?:ed)? (?:status|code):? \d|command terminated with (?:non-zero )?exit"
    r"|(?:error: )?process completed with exit code|post job cleanup|error executing job with overrides"
    r"|set the environment variable hydra_full_error|npm err!|error: recipe |(?:real|user|sys)\s+\d+m[\d.]+s"
    r"|error: (?:command|job|task) [^\n]{0,80}(?:failed|exited)|ninja: build stopped|\S+: error: \S+ exited with"
    r"|conda\.cli|error: process [^\n]{0,60}exited|the command [^\n]{1,120}returned a non-zero code",
    re.IGNORECASE,
)
"""What a launcher says below the program that it started: that it ended, not why."""
WORDY = 300
"""Characters of a line that tells of work."""
_WORKS = re.compile(
    r"\b(?:epoch|step|iter(?:ation)?|batch|trial|round|fold|rank)s?\b.{0,12}\d.{0,80}"
    r"(?:\bloss\b|\bacc|it/s|s/it|\bfits?\b|finished|done|ok\b|\d%)"
    r"|\bloss\b.{0,6}\d|\d(?:it/s|s/it)\b|\d%\||\b(?:test|val|train|best)[ _/]\w{2,20}\b[^\w\n]{0,4}\d"
    r"|\bfinished trials\b"
    r"|\b(?:saved|wrote|written) \S.{0,60}(?:\.\w{1,6}|to )",
    re.IGNORECASE,
)
"""What a program prints while it works."""
_BELOW = re.compile(r"-{12,}$|For simplicity, JAX has removed|Set JAX_TRACEBACK_FILTERING")
"""What JAX prints below every traceback."""
_LOGGER = re.compile(
    r"^(?:debug|info|warn(?:ing)?|error|critical|fatal):[\w.]{1,60}:"
    r"|^[a-z_][\w.]{1,60}:(?:debug|info|warn|error|critical)"
    r"|exception when calling|exception ignored|configuration error",
    re.IGNORECASE,
)
_OF_A_RANK = re.compile(r"taking the entire process down|ProcessGroup\w+|\bwatchdog\b", re.IGNORECASE)
"""What another process of a job says: that one failed first."""
_IGNORED = re.compile(r"^exception ignored (?:in|on|while)", re.IGNORECASE)
_OUTLIVED = re.compile(
    r"\bcaught\b|retry|continuing|ignor(?:ed|ing)|exception in (?:thread|callback)"
    r"|\bfall(?:s|ing)? back\b|\bproceeding\b|\bgoing on\b|\bskipp(?:ed|ing)\b|\boptional\b"
    r"|\bwill not be (?:enabled|used|available)\b|\bdisabl(?:ed|ing)\b|\bwithout (?:it|them)\b",
    re.IGNORECASE,
)
"""A program's own word that something did not end it: of the traceback below, or of what came before it."""
_STACKED = re.compile(r"\n(?:stack backtrace:|\s*\d+: |goroutine \d+ \[|\[signal |\s+at |   at |note: |Stack trace:)")
"""Where the words of a runtime's last message end and its frames begin."""
_THREAD = re.compile(r"(?:Current thread|Thread) 0x[0-9a-f]+")
_PACKAGE = re.compile(r"(?:site|dist)-packages[\\/](?P<package>[\w-]+)")
_STDLIB = re.compile(
    r"[\\/]lib(?:64)?[\\/]python\d[\d.]*[\\/]|[\\/]Lib[\\/](?!site-packages)\w+(?:\.py|[\\/])"
    r"|^<frozen |python\d{2,3}\.zip"
)


def at_work(line: str) -> bool:
    """Whether a line tells of work that goes on."""
    return len(line) < WORDY and bool(_WORKS.search(line))


def works(text: str) -> bool:
    """Whether two lines of a text tell of work going on, so that it is the output of a program, line by line."""
    return sum(map(at_work, text.splitlines())) > 1


def owner_of(file: str) -> str:
    """Whose file it is: a package by its folder, Python's own library, else the user's."""
    if found := _PACKAGE.search(file):
        return found["package"].lower()
    return PYTHON if _STDLIB.search(file) else USER


class Block(msgspec.Struct):
    """One exception, fatal line or signal in the text, and how it is tied to the one before."""

    ending: Ending
    tie: str = ""  # "cause", "handling" or "inner": how it is tied to the block before it
    ignored: bool = False  # Python says that it ignored it: raised where objects are freed
    logged: bool = False  # a logger wrote it: the program goes on
    perhaps: bool = False  # a line of the program's own above it may say so: it does where the program went on


def blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Everything in the text that may have ended a program, in order."""
    at, tie, logged = 0, "", False
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
        tie = tie or ("inner" if inner else "")
        logged = (logged and bool(tie)) or _below(_LOGGER, lines, at)  # what it was raised from is of the same record
        yield Block(ending, tie, _below(_IGNORED, lines, at), logged, _below(_OUTLIVED, lines, at))
        at, tie = max(after, at + 1), ""


_NOTED = re.compile(r"^(?:debug|info|warn(?:ing)?):[\w.]{1,60}:|^[a-z_][\w.]{1,60}:(?:debug|info|warn)", re.IGNORECASE)
"""A logger's note: seldom is an exception written down so, and often something else ends the program after it."""


def after_a_note(lines: Sequence[str], at: int) -> bool:
    """Whether a traceback stands below a logger's note or warning, not below an error."""
    return _below(_NOTED, lines, at)


def worked_between(block: Block, later: Sequence[Block], lines: Sequence[str]) -> bool:
    """Whether lines that tell of work stand between a traceback and a later one that is not raised from it."""
    after = next((one for one in later if not one.tie and one.ending.kind == "exception"), None)
    return after is not None and any(map(at_work, lines[block.ending.last : after.ending.first - 1]))


def _below(words: re.Pattern[str], lines: Sequence[str], at: int) -> bool:
    """Whether a traceback stands below a line with such words."""
    before = next((line for line in reversed(lines[max(0, at - 2) : at]) if line.strip()), "")
    header = _HEADER.search(lines[at])
    return header is not None and not header[0].startswith("Original") and bool(words.search(before))


def _taken(lines: Sequence[str], at: int) -> tuple[Ending, int] | None:
    """The block that begins at a line, and the line after it."""
    line = lines[at]
    if _HEADER.search(line):
        return _traceback(lines, at)
    if found := _THREW.match(line.strip()):
        return _thrown(lines, at, found)
    if found := FATAL.match(line.strip()):
        return _fatal(lines, at, found)
    if told := told_end(lines, at):
        return told, told.last
    if found := _TESTED.match(line):
        return _tested(lines, at, found)
    if not line.startswith((" ", "\t")) and (found := _RAISED.match(line)) and not found["type"].endswith("Warning"):
        return _exception(lines, at, at, (), found)
    if (found := _SIGNAL.match(line.strip())) and len(line) < 300:
        name = SIGNALS[found["signal"].lower()]
        return Ending("signal", name, line.strip()[:WIDE], line=at + 1, first=at + 1, last=at + 1), at + 1
    return None


def _traceback(lines: Sequence[str], at: int) -> tuple[Ending, int] | None:
    """Frames, then the exception; None where the text ends before it."""
    start, margin, frames = at, _indent(lines[at]), list[Frame]()
    at += 1
    while at < len(lines) and not (_HEADER.search(lines[at]) or _CHAIN.search(lines[at])):
        line = lines[at]
        if found := _FRAME.match(line) or _IPYTHON.match(line):
            code = _code_below(lines, at)
            frames.append(_frame(found.groupdict(), code))
            at += bool(code)
        elif pointed := _POINTED.match(line.strip()):
            frames[-1:] = [_pointed(one, pointed) for one in frames[-1:]]
        elif _indent(line) <= margin and (raised := _raised(line.strip(), bool(frames))):
            return _exception(lines, start, at, tuple(frames[-FRAMES:]), raised)
        at += 1
    if not frames:
        return None
    return Ending("exception", "", "", tuple(frames[-FRAMES:]), line=at, first=start + 1, last=at), at


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _code_below(lines: Sequence[str], at: int) -> str:
    """The line of source that a traceback shows below a frame."""
    after = lines[at + 1] if at + 1 < len(lines) else ""
    return after.strip() if after.startswith((" ", "\t")) and not _FRAME.match(after) else ""


def _raised(text: str, framed: bool) -> re.Match[str] | None:
    """The exception of a line; behind frames any name may be one."""
    return _RAISED.match(text) or (_ANY_TYPE.match(text) if framed else None)


def _frame(found: dict[str, Any], code: str) -> Frame:
    file = str(found["file"])
    number = found.get("line") or found.get("cell") or 0
    return Frame(file, int(number), (found.get("function") or "").strip()[:120], code[:300], owner_of(file))


def _pointed(frame: Frame, found: re.Match[str]) -> Frame:
    return msgspec.structs.replace(frame, line=int(found["line"]), code=found["code"].strip()[:300])


def _tested(lines: Sequence[str], at: int, found: re.Match[str]) -> tuple[Ending, int]:
    """The exception of a test, at its place: its source is marked above, and its message between."""
    above = lines[max(0, at - MESSAGE) : at]
    marked = next((place for place in range(len(above) - 1, -1, -1) if above[place].startswith(">  ")), len(above))
    code = above[marked][1:].strip() if marked < len(above) else ""
    said = [line for line in above[marked + 1 :] if line.strip()]
    raised = _RAISED.match(said[0]) if said else None
    first = (raised["message"] or "") if raised else (said[0] if said else "")
    frame = _frame({"file": found["file"], "line": found["line"]}, code)
    start = at - len(above) + marked
    return Ending(
        "exception", raised["type"] if raised else found["type"], "\n".join([first, *said[1:]])[:WIDE], (frame,),
        line=start + 2, first=start + 1, last=at + 1,
    ), at + 1  # fmt: skip


def _exception(
    lines: Sequence[str], start: int, at: int, frames: tuple[Frame, ...], found: re.Match[str]
) -> tuple[Ending, int]:
    if at + 1 < len(lines) and _FRAME.match(lines[at + 1]) and (inner := _traceback(lines, at)) and inner[0].type:
        carried = (*frames, *inner[0].stack)[-FRAMES:]  # it carries another one, with that one's frames
        return msgspec.structs.replace(
            inner[0], stack=carried, first=start + 1, wrappers=(found["type"], *inner[0].wrappers)
        ), inner[1]
    said = (found["message"] or "").strip()
    others = any(map(_OF_A_RANK.search, lines[at + 1 : at + 4]))
    alone = not others and one_line(frames, found["type"], said)
    text, after = (said[:WIDE], at + 1) if alone else _message(lines, at, said)
    return Ending("exception", found["type"], text, frames, line=at + 1, first=start + 1, last=after), after


def _message(lines: Sequence[str], at: int, begun: str) -> tuple[str, int]:
    """A message that begins at a line, with the lines that go on with it, and the line after them."""
    after = at + 1
    while after < len(lines) and after - at < MESSAGE and not (_ends_message(lines[after]) or _at_work(lines, after)):
        after += 1
    while after > at + 1 and (not lines[after - 1].strip() or NOTED.match(lines[after - 1])):
        after -= 1
    return "\n".join([begun, *lines[at + 1 : after]]).strip()[:WIDE], after


def after_message(lines: Sequence[str], ending: Ending) -> int:
    """The line behind all that the message of an exception could be: what was written late may stand in it."""
    if ending.kind != "exception" or not ending.line:
        return ending.last
    return max(ending.last, _message(lines, ending.line - 1, "")[1])


def _at_work(lines: Sequence[str], at: int) -> bool:
    """Whether work goes on from a line: a further one soon tells of it."""
    return at_work(lines[at]) and any(map(at_work, lines[at + 1 : at + 3]))


def _ends_message(line: str) -> bool:
    """Whether a line cannot belong to the message of an exception."""
    return bool(
        _HEADER.search(line)
        or _CHAIN.search(line)
        or FATAL.match(line.strip())
        or _THREW.match(line.strip())
        or _SIGNAL.match(line.strip())
        or LOGGED.match(line)
        or LAUNCHED.match(line)
        or _BELOW.match(line)
        or (not line.startswith((" ", "\t")) and _RAISED.match(line))
    )


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
        name = next((signal for words, signal in SIGNALS.items() if words in fault.lower()), "")
        kind: Kind = "signal" if name else "fatal"
        return Ending(kind, name or "Fatal Python error", fault, _faulted(lines, at), at + 1, at + 1, at + 1), at + 1
    if groups["panic"]:
        text, after = _message(lines, at, groups["panic"])
        text = _STACKED.split(text, maxsplit=1)[0].rstrip()
        return Ending("fatal", "panic", text, line=at + 1, first=at + 1, last=after), after
    said = next(groups[k] for k in ("message", "what", "assert", "usage", "shell") if groups[k] is not None)
    return Ending("fatal", _giver_up(groups), said[:WIDE], line=at + 1, first=at + 1, last=at + 1), at + 1


def _giver_up(groups: dict[str, str | None]) -> str:
    """What gave up: a symbol, a kind of complaint, or the place."""
    kind = next((name for name in ("usage", "assert", "shell") if groups[name]), "")
    return groups["symbol"] or kind or groups["where"] or ""


def _faulted(lines: Sequence[str], at: int) -> tuple[Frame, ...]:
    """The stack that faulthandler gives, turned so that the innermost frame comes last."""
    frames: list[Frame] = []
    for line in lines[at + 1 : at + FRAMES]:
        if found := _FRAME.match(line):
            frames.append(_frame(found.groupdict(), ""))
        elif (frames and not line.strip()) or (frames and _THREAD.match(line)):
            break
    return tuple(reversed(frames))
