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

from gpuwhy.border import reading
from gpuwhy.border.kept import Kept
from gpuwhy.cli import FOUND, HEALTHY, PERHAPS, UsageError, forms, refused
from gpuwhy.cli.target import add_target
from gpuwhy.cli.terminal import paper, write

if TYPE_CHECKING:
    from gpuwhy.app import Run
    from gpuwhy.logs import Facts, Reading, Report

LINE = 64 << 20
"""The longest line of --batch."""
PAUSE = 0.5
_WORDS = re.compile(r": |\n|\S\s+\S")
_FILE_NAME = re.compile(r"\.(log|txt|out|err|gz|jsonl?|md)$", re.IGNORECASE)


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("explain", help="why did this log, traceback or error happen?")
    parser.add_argument(
        "words",
        nargs="*",
        metavar="FILE",
        help="the log, or an error's own words; standard input when it is - or missing",
    )
    add_target(parser)
    parser.add_argument(
        "--from",
        dest="recording",
        metavar="FILE",
        help="the facts, and without a log the output, of `gpuwhy run --record`",
    )
    parser.add_argument("--log-only", action="store_true", help="do not look at this machine")
    parser.add_argument("--why", action="store_true", help="the full reasoning: every cause with its lines")
    parser.add_argument("--json", action="store_true", help="the report as JSON (gpuwhy.report/1)")
    parser.add_argument("--follow", action="store_true", help="go on reading as the file grows")
    parser.add_argument(
        "--answer",
        action="append",
        default=[],
        metavar="NAME=ANSWER",
        help="the outcome of the test that an earlier report asked for",
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
    options.file = _one(options.words)
    _sensible(options)
    if options.ranks:
        from gpuwhy.cli.explain_ranks import go as explain_ranks

        return explain_ranks(options)
    if options.batch:
        return _batch(options.batch)
    if options.follow:
        return _follow(options)
    return _replayed(options) if options.recording and not options.file else _explained(options)


def _sensible(options: argparse.Namespace) -> None:
    if forms.asked(options) and (options.batch or options.follow):
        raise UsageError("--html and --markdown show one report: they do not go with --batch and --follow")
    if options.ranks and (options.batch or options.follow or options.file):
        raise UsageError("--ranks takes all its logs itself: no FILE, --batch or --follow beside it")


def _explained(options: argparse.Namespace) -> int:
    """One text."""
    from gpuwhy import logs

    started = time.monotonic()
    quote = logs.Quote() if forms.asked(options) else None
    kept = Kept()
    with _opened(options.file) as file:
        pieces = map(kept.feed, _pieces(file, _name(options)))
        reading = logs.read(map(quote.feed, pieces) if quote else pieces)
    if not logs.is_text(reading):
        raise UsageError(f"nothing to explain: no text in {_name(options)}")
    run = _run(options)
    report = _refitted(_report(options, reading, run.facts if run else None, started), kept)
    _print(report, options, quote.text() if quote else "", run)
    return _code(report)


def _refitted(report: Report, kept: Kept) -> Report:
    """What would have fitted, where memory ran out and the text names the model."""
    if not report.causes or not report.causes[0].id.startswith("memory."):
        return report
    from gpuwhy.refit import advised

    return advised(report, kept.text())


def _replayed(options: argparse.Namespace) -> int:
    """The report on a recorded run again."""
    from gpuwhy.after import told
    from gpuwhy.cli.target import diagnose

    run = diagnose(options)
    if not run.output and not run.facts.run.failed:  # one that failed without a word is told too
        raise UsageError(f"{options.recording} holds no program's output: name a log too")
    report = told(run.output, run.facts)
    _print(report, options, run.output, run)
    return _code(report)


def _report(options: argparse.Namespace, reading: Reading, facts: Facts | None, started: float) -> Report:
    from gpuwhy import logs

    where = "input" if _pasted(options.file) else os.path.basename(options.file or "") or "input"
    with refused(logs.BadAnswerError):
        return logs.report_on(reading, facts, options.answer, started=started, where=where)


def _run(options: argparse.Namespace) -> Run | None:
    """The look at this machine; None where only the log counts."""
    if options.log_only:
        return None
    from gpuwhy.cli.target import diagnose

    return diagnose(options)


def _code(report: Report) -> int:
    """1: a cause was found, or an error that nothing explains. 4: causes that are only possible. 0: no failure."""
    if not report.causes and (report.status == "healthy" or report.guide):
        return HEALTHY
    return FOUND if any(c.found for c in report.causes) or not report.causes else PERHAPS


def _name(options: argparse.Namespace) -> str:
    return "standard input" if options.file in (None, "-") else str(options.file)


def _one(words: list[str]) -> str | None:
    """The file, or the words of an error put together where nobody quoted them."""
    files = [word for word in words if os.path.exists(word)]
    if len(words) > 1 and len(files) == len(words):
        raise UsageError("explain reads one log; for the logs of several processes: gpuwhy explain --ranks FILE FILE …")
    return " ".join(words) if words else None


def _pasted(path: str | None) -> bool:
    """Whether the text itself was given where a file's name is expected: words or a known name, and no such file."""
    if path in (None, "-") or os.path.exists(path) or _FILE_NAME.search(path):
        return False
    if _WORDS.search(path):
        return not (os.sep in path.split()[0] and os.path.isdir(os.path.dirname(path)))
    from gpuwhy import logs

    return os.sep not in path and bool(logs.read((path.encode("utf-8", "replace"),)).symptoms)


def _again(options: argparse.Namespace) -> str:
    """The command of this very call, for an answer to be added; what came through a pipe has to come again."""
    piped = not options.recording if options.file is None else options.file == "-"
    words = ["gpuwhy", "explain", *([options.file] if options.file else [])]
    words += ["--log-only"] * options.log_only + ["--verify"] * options.verify
    words += ["--python", options.python] if options.python else []
    words += ["--from", options.recording] if options.recording else []
    words += [word for one in options.answer for word in ("--answer", one)]
    if os.name != "nt":
        line = shlex.join(words)
    else:
        from gpuwhy.shell.render import quoted

        line = " ".join(map(quoted, words))
    return f"… | {line}" if piped else line


def _print(report: Report, options: argparse.Namespace, log: str = "", run: Run | None = None) -> None:
    if forms.told_ci(options, report) or (forms.asked(options) and forms.shown(options, report, log)):
        return
    if options.json:
        from gpuwhy.render.json import render as as_json

        write(as_json(report))
        return
    from gpuwhy.render.explained import render as as_text

    write(as_text(run.typed(report) if run else report, paper(), options.why, _again(options)))


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


def _lines(file: BinaryIO, name: str) -> Iterator[bytes | None]:
    with refused(OSError, f"cannot read {name}: "):
        yield from reading.lines(file, LINE)


def _pieces(file: BinaryIO, name: str) -> Iterator[bytes]:
    with refused(OSError, f"cannot read {name}: "):
        yield from reading.pieces(file)


def _batch(path: str) -> int:
    import msgspec

    from gpuwhy import logs

    found, bad = False, []
    with _opened(path) as file:
        for answer in logs.batch(_lines(file, path)):
            found = found or bool(answer.get("causes"))
            bad += [answer["error"]] if "error" in answer else []
            sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
    sys.stdout.buffer.flush()
    if bad:
        raise UsageError(f"--batch {path}: {bad[0]}" + (f" (and {len(bad) - 1} more lines)" if bad[1:] else ""))
    return FOUND if found else HEALTHY


def _follow(options: argparse.Namespace) -> int:
    """Print a report whenever the answer changes, first of all on what is there already; Ctrl-C ends it."""
    ends = options.file in (None, "-") or _pasted(options.file)
    run, said = _run(options), ""
    while True:
        with _opened(options.file) as file:
            for report in _answers(options, file, run.facts if run else None, ends):
                if report.headline != said:
                    _print(report, options, run=run)
                    said = report.headline
        if ends:
            return FOUND if said else HEALTHY


def _answers(options: argparse.Namespace, file: BinaryIO, facts: Facts | None, ends: bool) -> Iterator[Report]:
    """What is found in a file, again after each growth, until it ends or another file begins under its name."""
    from gpuwhy import logs

    reader = logs.LogReader()
    while True:
        pieces = list(map(reader.feed, _pieces(file, _name(options))))
        if pieces:
            report = _report(options, reader.reading(), facts, time.monotonic())
            if _code(report) != HEALTHY:
                yield report
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
