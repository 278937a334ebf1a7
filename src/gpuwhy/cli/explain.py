"""`gpuwhy explain`: why did this log, traceback or error happen?"""

from __future__ import annotations

import argparse
import io
import os
import re
import shlex
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from gpuwhy.machine import reading
from gpuwhy.cli import FOUND, HEALTHY, UsageError, forms, refused
from gpuwhy.cli.target import add_target

if TYPE_CHECKING:
    from gpuwhy.answer.answer import Answer
    from gpuwhy.api.machine import Seen
    from gpuwhy.log.log import Log

LINE = 64 << 20
"""The longest line of --batch."""
PAUSE = 0.5
_WORDS = re.compile(r": |\n|\S\s+\S")
_FILE_NAME = re.compile(r"\.(log|txt|out|err|gz|jsonl?|md|py|cpp|cc|cu)$", re.IGNORECASE)


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("explain", help="why did this log, traceback or error happen?")
    parser.add_argument(
        "words",
        nargs="*",
        metavar="FILE",
        help="the log, an error's own words, or a question; standard input when it is - or missing",
    )
    add_target(parser)
    parser.add_argument(
        "--from",
        dest="recording",
        metavar="FILE",
        help="the facts, and without a log the output, of `gpuwhy run --record`",
    )
    parser.add_argument("--log-only", action="store_true", help="do not look at this machine")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="evidence, other remedies; -vv: all facts")
    parser.add_argument("--why", action="store_true", help=argparse.SUPPRESS)  # the name of -v in version 0
    parser.add_argument("--json", action="store_true", help="the report as JSON (gpuwhy.report/1)")
    parser.add_argument("--follow", action="store_true", help="go on reading as the file grows")
    parser.add_argument(
        "--answer",
        action="append",
        default=[],
        metavar="NAME=ANSWER",
        help="what was seen, for the question of an earlier report (-v prints them)",
    )
    parser.add_argument("--batch", metavar="FILE", help='JSON lines {"id", "log"} in, {"id", "causes"} out; - is stdin')
    forms.add_forms(parser)
    forms.add_ci(parser)
    parser.add_argument(
        "--ranks", nargs="+", metavar="PATH", help="the logs of a job's processes: which one failed first, and why"
    )
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Read, judge, print."""
    forms.ready(options)
    options.verbose = max(options.verbose, int(options.why))
    options.file = _one(options.words)
    _sensible(options)
    if options.ranks:
        from gpuwhy.cli.explain_ranks import go as explain_ranks

        return explain_ranks(options)
    if options.batch:
        return _batch(options.batch)
    if options.follow:
        return _follow(options)
    answer = _replayed(options) if options.recording and not options.file else _explained(options)
    return _printed(answer, options)


def _sensible(options: argparse.Namespace) -> None:
    if forms.asked(options) and (options.batch or options.follow):
        raise UsageError("--html and --markdown show one report: they do not go with --batch and --follow")
    if options.ranks and (options.batch or options.follow or options.file):
        raise UsageError("--ranks takes all its logs itself: no FILE, --batch or --follow beside it")


def _explained(options: argparse.Namespace) -> Answer:
    """One text."""
    from gpuwhy.log.read import read

    with _opened(options.file) as file:
        log = read(_pieces(file, name(options)))
    if log.genre in ("empty", "binary") or not log.lines:
        raise UsageError(f"nothing to explain: no text in {name(options)}")
    return _answered(log, _seen(options), options)


def _answered(log: Log, seen: Seen | None, options: argparse.Namespace) -> Answer:
    from gpuwhy.api import text

    with refused(text.BadChoiceError):
        return text.chosen(text.answer_of(log, seen), options.answer)


def _replayed(options: argparse.Namespace) -> Answer:
    """The answer on a recorded run again."""
    from gpuwhy.api.watched import again
    from gpuwhy.cli.machine import asked_for

    answer, _ = again(*asked_for(options))
    if answer.command != "run":
        raise UsageError(f"{options.recording} holds no program's output: name a log too")
    return answer


def _seen(options: argparse.Namespace) -> Seen | None:
    """What this machine shows; None where only the log counts."""
    if options.log_only:
        return None
    from gpuwhy.cli import machine

    return machine.seen(options)


def _printed(answer: Answer, options: argparse.Namespace) -> int:
    """Print it in the form that was asked for."""
    from msgspec.structs import replace

    from gpuwhy.cli.output import put_answer

    put_answer(options, replace(answer, about=_about(options), more=_again(options)))
    return answer.exit_code


def _about(options: argparse.Namespace) -> str:
    return "" if _pasted(options.file) else os.path.basename(options.file or "")


def name(options: argparse.Namespace) -> str:
    """What is read, in words."""
    return "standard input" if options.file in (None, "-") else str(options.file)


def _one(words: list[str]) -> str | None:
    """The file, or the words of an error put together where nobody quoted them."""
    files = [word for word in words if os.path.exists(word)]
    if len(words) > 1 and len(files) == len(words):
        raise UsageError("explain reads one log; for the logs of several processes: gpuwhy explain --ranks FILE FILE …")
    return " ".join(words) if words else None


def _pasted(path: str | None) -> bool:
    """Whether the text itself was given where a file's name is expected: words or a known name, and no such file."""
    if path in (None, "-") or os.path.exists(path) or (_FILE_NAME.search(path) and " " not in path.strip()):
        return False
    if _WORDS.search(path):
        return not (os.sep in path.split()[0] and os.path.isdir(os.path.dirname(path)))
    from gpuwhy.log.read import read

    return os.sep not in path and bool(read(path).messages)


def _again(options: argparse.Namespace) -> str:
    """The command that shows the rest; what came through a pipe has to come again."""
    if options.verbose or options.file in (None, "-"):
        return ""
    words = ["gpuwhy", "explain", "-v", *["--log-only"] * options.log_only]
    words += ["--python", options.python] if options.python else []
    return shlex.join([*words, options.file]) if len(options.file) < 60 else ""


def _opened(path: str | None) -> BinaryIO:
    if path in (None, "-"):
        if sys.stdin and sys.stdin.isatty():
            raise UsageError("explain what? Give a file, or pipe the output: python train.py 2>&1 | gpuwhy explain")
        return _standard_input()
    assert path is not None
    if _pasted(path):
        return io.BytesIO(os.fsencode(path))
    try:
        return reading.source(path)
    except OSError as error:
        hint = '; what does it say? gpuwhy explain "the error\'s own words"' if not os.path.exists(path) else ""
        raise UsageError(f"cannot read {path}: {error.strerror}{hint}") from error


def _standard_input() -> BinaryIO:
    try:
        return os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    except (AttributeError, OSError, ValueError) as error:
        raise UsageError("cannot read standard input: it is closed") from error


def _lines(file: BinaryIO, path: str) -> Iterator[bytes | None]:
    with refused(OSError, f"cannot read {path}: "):
        yield from reading.lines(file, LINE)


def _pieces(file: BinaryIO, path: str) -> Iterator[bytes]:
    with refused(OSError, f"cannot read {path}: "):
        yield from reading.pieces(file)


def _batch(path: str) -> int:
    import msgspec

    from gpuwhy.api.text import batch

    found, bad = False, []
    with _opened(path) as file:
        for answer in batch(_lines(file, path)):
            found = found or bool(answer.get("causes"))
            bad += [answer["error"]] if "error" in answer else []
            sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()
    if bad:
        raise UsageError(f"--batch {path}: {bad[0]}" + (f" (and {len(bad) - 1} more lines)" if bad[1:] else ""))
    return FOUND if found else HEALTHY


def _follow(options: argparse.Namespace) -> int:
    """Print an answer whenever it changes, first of all on what is there already; Ctrl-C ends it."""
    ends = options.file in (None, "-") or _pasted(options.file)
    seen, code, said = _seen(options), HEALTHY, ""
    while True:
        with _opened(options.file) as file:
            for log in _grown(options, file, ends):
                answer = _answered(log, seen, options)
                if answer.causes and answer.headline != said:
                    code, said = _printed(answer, options), answer.headline
        if ends:
            return code


def _grown(options: argparse.Namespace, file: BinaryIO, ends: bool) -> Iterator[Log]:
    """What is read of a file, again after each growth, until it ends or another file begins under its name."""
    from gpuwhy.causes.load import catalogue
    from gpuwhy.log.decode import decoded
    from gpuwhy.log.read import Reader

    reader = Reader(catalogue())
    while True:
        pieces = list(decoded(_pieces(file, name(options)), reader.decoder))
        for piece in pieces:
            reader.feed(piece)
        if pieces:
            yield reader.log()
        if ends or _begun_anew(options.file, file):
            return
        time.sleep(PAUSE)


def _begun_anew(path: str, file: BinaryIO) -> bool:
    """Whether the log was cut to be written anew, or another file has its name now; one that is gone may come back."""
    try:
        now, ours = os.stat(path), os.fstat(file.fileno())
    except OSError:
        return False
    return not os.path.samestat(now, ours) or ours.st_size < file.tell()
