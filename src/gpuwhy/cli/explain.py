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

from gpuwhy.cli import FOUND, HEALTHY, UsageError, output, refused
from gpuwhy.machine import reading

if TYPE_CHECKING:
    from gpuwhy.answer.answer import Answer
    from gpuwhy.api.machine import Seen
    from gpuwhy.log.log import Log

LINE = 64 << 20
"""The longest line of --batch."""
PAUSE = 0.5
_WORDS = re.compile(r": |\n|\S\s+\S")
_FILE_NAME = re.compile(r"\.(log|txt|out|err|gz|jsonl?|md|py|cpp|cc|cu)$", re.IGNORECASE)


def go(options: argparse.Namespace) -> int:
    """Read, judge, print."""
    output.ready(options)
    options.verbose = max(options.verbose, int(options.why))
    options.file = _one(options.words)
    if output.shares(options) and (options.batch or options.follow):
        raise UsageError("--html and --markdown show one report: no --batch, no --follow")
    if options.ranks:
        if options.batch or options.follow or options.file:
            raise UsageError("--ranks takes all its logs itself: no FILE, --batch or --follow")
        from gpuwhy.cli.explain_ranks import go as explain_ranks

        return explain_ranks(options)
    if options.batch:
        return _batch(options.batch)
    if options.follow:
        return _follow(options)
    if options.recording and not options.file:
        return _printed(_replayed(options), options)
    with source(options.file) as file:
        log = _read(file, options)
    if log.genre in ("empty", "binary") or not log.lines:
        raise UsageError(f"nothing to explain: no text in {_name(options.file)}")
    return _printed(_answered(log, _seen(options), options), options)


def _read(file: BinaryIO, options: argparse.Namespace) -> Log:
    from gpuwhy.log.read import read

    with refused(OSError, f"cannot read {_name(options.file)}: "):
        return read(reading.pieces(file))


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
    """Print it in the form that was asked for, with the command that shows the rest."""
    from msgspec.structs import replace

    file = options.file
    about = "" if _is_pasted(file) else os.path.basename(file)
    more = ""
    if not options.verbose and file not in ("", "-") and len(file) < 60:
        words = ["gpuwhy", "explain", "-v", *["--log-only"] * options.log_only]
        words += ["--python", options.python] if options.python else []
        more = shlex.join([*words, file])
    output.put_answer(options, replace(answer, about=about, more=more))
    return answer.exit_code


# ---------------------------------------------------------------- what is read


def _name(file: str) -> str:
    return "standard input" if file in ("", "-") else file


def _one(words: list[str]) -> str:
    """The file, or the words of an error put together where nobody quoted them."""
    if len(words) > 1 and all(map(os.path.exists, words)):
        raise UsageError("explain reads one log; those of a job: gpuwhy explain --ranks FILE …")
    return " ".join(words)


def _is_pasted(path: str) -> bool:
    """Whether the text itself was given where a file's name is expected, and no such file is."""
    if path in ("", "-") or os.path.exists(path):
        return False
    if _FILE_NAME.search(path) and " " not in path.strip():
        return False
    if _WORDS.search(path):
        return not (os.sep in path.split()[0] and os.path.isdir(os.path.dirname(path)))
    from gpuwhy.log.read import read

    return os.sep not in path and bool(read(path).messages)


def source(path: str) -> BinaryIO:
    """A log: a file, standard input, or the words themselves."""
    if path in ("", "-"):
        return _standard_input()
    if _is_pasted(path):
        return io.BytesIO(os.fsencode(path))
    hint = ""
    if not os.path.exists(path):
        hint = '; what does it say? gpuwhy explain "the error\'s own words"'
    try:
        return reading.source(path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}{hint}") from error


def _standard_input() -> BinaryIO:
    if sys.stdin and sys.stdin.isatty():
        example = "python train.py 2>&1 | gpuwhy explain"
        raise UsageError(f"explain what? Give a file, or pipe the output: {example}")
    try:
        return os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    except (AttributeError, OSError, ValueError) as error:
        raise UsageError("cannot read standard input: it is closed") from error


def _batch(path: str) -> int:
    import msgspec

    from gpuwhy.api.text import batch

    found, bad = False, []
    with source(path) as file, refused(OSError, f"cannot read {path}: "):
        for answer in batch(reading.lines(file, LINE)):
            found = found or bool(answer.get("causes"))
            bad += [answer["error"]] if "error" in answer else []
            sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()
    if bad:
        more = f" (and {len(bad) - 1} more lines)" if bad[1:] else ""
        raise UsageError(f"--batch {path}: {bad[0]}{more}")
    return FOUND if found else HEALTHY


# ---------------------------------------------------------------- a log that grows


def _follow(options: argparse.Namespace) -> int:
    """Print an answer whenever it changes, first on what is there already; Ctrl-C ends it."""
    ends = options.file in ("", "-") or _is_pasted(options.file)
    seen, code, said = _seen(options), HEALTHY, ""
    while True:
        with source(options.file) as file:
            for log in _grown(options, file, ends):
                answer = _answered(log, seen, options)
                if answer.causes and answer.headline != said:
                    code, said = _printed(answer, options), answer.headline
        if ends:
            return code


def _grown(options: argparse.Namespace, file: BinaryIO, ends: bool) -> Iterator[Log]:
    """What is read of a file, again after each growth, until it ends or another takes its name."""
    from gpuwhy.causes.load import catalogue
    from gpuwhy.log.decode import decoded
    from gpuwhy.log.read import Reader

    reader = Reader(catalogue())
    while True:
        with refused(OSError, f"cannot read {_name(options.file)}: "):
            pieces = list(decoded(reading.pieces(file), reader.decoder))
        for piece in pieces:
            reader.feed(piece)
        if pieces:
            yield reader.log()
        if ends or _is_replaced(options.file, file):
            return
        time.sleep(PAUSE)


def _is_replaced(path: str, file: BinaryIO) -> bool:
    """Whether the log was cut, or another file has its name; one that is gone may come back."""
    try:
        now, ours = os.stat(path), os.fstat(file.fileno())
    except OSError:
        return False
    return not os.path.samestat(now, ours) or ours.st_size < file.tell()
