"""`gpuwhy explain`: why did this log, traceback or error happen?"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import re
import shlex
import sys
import time
from typing import TYPE_CHECKING, BinaryIO

import msgspec
from msgspec.structs import replace

from gpuwhy.answer.answer import Answer
from gpuwhy.api import text
from gpuwhy.cli import FOUND, HEALTHY, UsageError, output, refused, terminal
from gpuwhy.cli.terminal import reading_of
from gpuwhy.log.log import Log
from gpuwhy.log.read import read
from gpuwhy.machine import reading

if TYPE_CHECKING:
    from gpuwhy.api.machine import Seen
    from gpuwhy.fleet.ranks.gather import Gathered

LINE = 64 << 20
"""The longest line of --batch."""
RANK_LINE, RANK_FILES = 1 << 20, 20_000
"""The longest line of --ranks, and how many files it reads."""
PAUSE = 0.5
_WORDS = re.compile(r": |\n|\S\s+\S")
_FILE_NAME = re.compile(r"\.(log|txt|out|err|gz|jsonl?|md|py|cpp|cc|cu)$", re.IGNORECASE)


def go(options: argparse.Namespace) -> int:
    """Read, judge, print."""
    options.file = " ".join(options.words)  # a file, or an error that nobody quoted
    if len(options.words) > 1 and all(map(os.path.exists, options.words)):
        raise UsageError("explain reads one log; those of a job: gpuwhy explain --ranks FILE …")
    if options.ranks:
        return _ranks(options)
    if options.batch:
        return _batch(options.batch)
    if options.follow:
        return _follow(options)
    if options.recording and not options.file:
        from gpuwhy.api.watched import again
        from gpuwhy.cli.machine import asked_for

        answer = again(*asked_for(options))
        if answer.command != "run":
            raise UsageError(f"{options.recording} holds no program's output: name a log too")
        return _printed(answer, options)
    log = _log(options.file)
    if log.genre in ("empty", "binary") or not log.lines:
        raise UsageError(f"nothing to explain: no text in {options.file or 'standard input'}")
    return _printed(_answered(log, _seen(options), options), options)


def _log(path: str) -> Log:
    with source(path) as file, reading_of(path):
        return read(reading.pieces(file))


def _answered(log: Log, seen: Seen | None, options: argparse.Namespace) -> Answer:
    with refused(text.BadChoiceError):
        return text.chosen(text.answer_of(log, seen), options.answer)


def _seen(options: argparse.Namespace) -> Seen | None:
    """What this machine shows; None where only the log counts."""
    from gpuwhy.cli import machine

    return None if options.log_only else machine.seen(options)


def _printed(answer: Answer, options: argparse.Namespace) -> int:
    """Print it in the form that was asked for, with the command that shows the rest."""
    file, more = options.file, ""
    if not options.verbose and file not in ("", "-") and len(file) < 60:
        words = ["gpuwhy", "explain", "-v", *["--log-only"] * options.log_only]
        words += ["--python", options.python] if options.python else []
        more = shlex.join([*words, file])
    about = "" if _is_pasted(file) else os.path.basename(file)
    return output.put_answer(options, replace(answer, about=about, more=more))


def _is_pasted(path: str) -> bool:
    """Whether the text itself was given where a file's name is expected, and no such file is."""
    if path in ("", "-") or os.path.exists(path):
        return False
    if _FILE_NAME.search(path) and " " not in path.strip():
        return False
    if _WORDS.search(path):
        return not (os.sep in path.split()[0] and os.path.isdir(os.path.dirname(path)))
    return os.sep not in path and bool(read(path).messages)


def source(path: str) -> BinaryIO:
    """A log: a file, standard input, or the words themselves."""
    if path in ("", "-") and sys.stdin and sys.stdin.isatty():
        example = "python train.py 2>&1 | gpuwhy explain"
        raise UsageError(f"explain what? Give a file, or pipe the output: {example}")
    if _is_pasted(path):
        return io.BytesIO(os.fsencode(path))
    return terminal.source(path, '; what does it say? gpuwhy explain "the error\'s own words"')


def _batch(path: str) -> int:
    code, bad = HEALTHY, []
    for answer in text.batch(terminal.lines_of(path, LINE)):
        code = FOUND if answer.get("causes") else code
        bad += [answer["error"]] if "error" in answer else []
        sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()
    if bad:
        more = f" (and {len(bad) - 1} more lines)" if bad[1:] else ""
        raise UsageError(f"--batch {path}: {bad[0]}{more}")
    return code


def _follow(options: argparse.Namespace) -> int:
    """Print an answer whenever it changes, first on what is there already; Ctrl-C ends it."""
    seen, code, said, before = _seen(options), HEALTHY, "", None
    while True:
        began, now = time.monotonic(), None
        with contextlib.suppress(OSError):  # gone, and perhaps back soon
            found = os.stat(options.file)
            now = (found.st_ino, found.st_size, found.st_mtime_ns)
        if before is None or now not in (None, before):
            answer = _answered(_log(options.file), seen, options)
            if answer.causes and answer.headline != said:
                code, said = _printed(answer, options), answer.headline
        if options.file in ("", "-") or _is_pasted(options.file):
            return code
        before = now or before
        time.sleep(max(PAUSE, 2 * (time.monotonic() - began)))


# ---------------------------------------------------------------- the logs of a job


def _ranks(options: argparse.Namespace) -> int:
    """Which process of a job failed first, and why."""
    from gpuwhy.fleet.ranks.decide import contract, decide, document, without_hosts

    if options.file:
        raise UsageError("--ranks takes all its logs itself: no FILE")
    job = decide(gathered(options.ranks), text.answer_of)
    shown = without_hosts(job) if options.html or options.markdown else job
    output.put(options, document(shown, bool(options.verbose)), contract(job), nodes=True)
    return FOUND if job.failed else HEALTHY


def gathered(given: list[str]) -> Gathered:
    """Everything below the given files and folders."""
    from gpuwhy.fleet.ranks.gather import Gathered, labels, last_attempts

    found = {}  # what the rank is read from, and the path
    for path in given:
        if not os.path.isdir(path):
            found[path] = path
        for folder, folders, names in os.walk(path):
            folders.sort()
            for one in (os.path.join(folder, name) for name in sorted(names)):
                if os.path.isfile(one):
                    found[os.path.relpath(one, path)] = one
            if len(found) > RANK_FILES:
                raise UsageError(f"{path}: more than {RANK_FILES:,} files; name one job's")
    if not found:
        raise UsageError(f"no logs in {', '.join(given[:3])}")
    out = Gathered(time.gmtime().tm_year)
    logs = [one for one in sorted(last_attempts(list(found))) if not one.endswith("error.json")]
    for short, (name, number) in labels(logs).items():
        read_lines = terminal.lines_of(found[short], RANK_LINE)
        lines = (one.decode("utf-8", "replace") for one in read_lines if one is not None)
        out.file(name, number, lines, os.path.getmtime(found[short]))
    return out
