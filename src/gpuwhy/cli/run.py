"""`gpuwhy run -- CMD…`: runs a program unchanged and, when it fails, says why."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from gpuwhy.cli import UsageError, forms, say

if TYPE_CHECKING:
    from gpuwhy.api.watched import Watched
    from gpuwhy.run.child import Ended


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "run", help="run a program unchanged and, when it fails, say why", usage="gpuwhy run [options] -- CMD [ARG ...]"
    )
    parser.add_argument(
        "--python", default="", metavar="PATH", help="the Python that CMD uses, if gpuwhy does not find it"
    )
    parser.add_argument("--record", metavar="FILE", help="keep output, samples and the machine's answers, for a report")
    parser.add_argument("--plot", metavar="FILE.svg", help="draw the GPU memory over time")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="evidence, other remedies; -vv: all facts")
    parser.add_argument("--why", action="store_true", help=argparse.SUPPRESS)  # the name of -v in version 0
    parser.add_argument(
        "--json",
        nargs="?",
        default="",
        const="-",
        metavar="FILE",
        help="the report as JSON (gpuwhy.report/1): into FILE, or without one on standard error",
    )
    forms.add_forms(parser)
    parser.add_argument(
        "--quiet", action="store_true", help="print nothing when the program succeeds without using the GPU"
    )
    parser.add_argument("program", nargs=argparse.REMAINDER, metavar="CMD", help="the program and its arguments")
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Run it; whatever happens to us afterwards, the exit is the program's."""
    argv = _command(options)
    sys.stderr = sys.stderr or os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")  # it was closed when we were started
    from gpuwhy.run.child import CannotStartError, die_by, watch

    try:
        ended = watch(argv)
    except CannotStartError as error:
        say(f"gpuwhy: cannot run {error}")
        return error.code
    try:
        _tell_within(options, argv, ended)
    except KeyboardInterrupt:
        pass
    except Exception as error:
        with contextlib.suppress(OSError):
            say(f"gpuwhy itself failed to explain this: {type(error).__name__}: {error}")
            traceback.print_exception(error)
    if ended.signal:
        with contextlib.suppress(OSError):
            sys.stderr.flush()
        die_by(ended.signal)
        return 128 + ended.signal
    return ended.code


def _command(options: argparse.Namespace) -> list[str]:
    if options.json not in ("", "-") and not options.rest and not options.json.endswith(".json"):
        options.program, options.json = [options.json, *options.program], "-"  # `run --json CMD`: no file, the program
    both = options.program and options.rest
    argv: list[str] = [*options.program, *(["--"] if both else []), *options.rest]
    if not argv:
        raise UsageError("run what? gpuwhy run -- python train.py")
    if not sys.platform.startswith("linux"):
        more = " (docs/windows.md says how to keep exit code and memory too)" if sys.platform == "win32" else ""
        raise UsageError(f"gpuwhy run works on Linux; elsewhere: CMD 2>&1 | gpuwhy explain{more}")
    forms.ready(options)
    for path in filter(None, (options.record, options.plot, options.json.rstrip("-"))):
        folder = os.path.dirname(os.path.abspath(path))
        if not os.access(folder, os.W_OK):
            raise UsageError(f"cannot write {path}: {folder} is not a folder that can be written to")
    if options.plot:
        _plottable(options.plot)
    return argv


def _plottable(path: str) -> None:
    if not path.endswith((".svg", ".png")):
        raise UsageError(f"--plot {path}: SVG is written (and PNG where cairosvg is installed)")
    if path.endswith(".png") and find_spec("cairosvg") is None:
        raise UsageError(f"--plot {path}: a PNG needs cairosvg, which is not installed; FILE.svg needs nothing")


def _tell_within(options: argparse.Namespace, argv: list[str], ended: Ended) -> None:
    """Explain, in a process of its own where the program's limit of processor time ends us too."""
    from gpuwhy.cli.apart import apart
    from gpuwhy.run.spare import bound, by_time

    seconds = bound()
    if not seconds:
        _tell(options, argv, ended)
        return
    if by_time(apart(lambda: _tell(options, argv, ended))):
        more = "the program was ended in the same way" if by_time(ended.signal) else "nothing more is told"
        say(
            f"gpuwhy: no process may use more than {seconds} s of processor time here (ulimit -t {seconds}), "
            f"so the report was cut off; {more} (cause env.limit: gpuwhy cause env.limit)"
        )


def _tell(options: argparse.Namespace, argv: list[str], ended: Ended) -> None:
    """Explain a failure, or a success that stayed away from the GPU; write the files that were asked for."""
    for text in ended.trouble:
        say(f"gpuwhy: {text}")
    worth = not ended.pipe_closed if ended.failed else not options.quiet and _had_framework(argv, ended)
    files = (options.record, options.plot, options.json.rstrip("-"))
    if not (worth or any(files) or forms.asked(options)):
        return
    from gpuwhy.api.watched import after_run
    from gpuwhy.cli.progress import Progress

    with Progress() as progress:
        after = after_run(argv, ended, os.path.expanduser(options.python), progress.note)
    if worth and after.worth_telling:
        _print(options, after)
    for what, write in _wanted(options, after, ended):
        try:
            write()
        except OSError as error:  # the other files are written all the same, and the program's code stays
            say(f"gpuwhy: cannot write {what}: {error.strerror or error}")
        except UsageError as error:
            say(f"gpuwhy: {error}")


def _had_framework(argv: list[str], ended: Ended) -> bool:
    """Whether a framework was seen, or stands in the program's text, and no GPU: the one success that we look into."""
    from gpuwhy.run.target import imported, wanted_gpu

    seen = ended.samples.seen.values()
    used = any(one.get("libraries") for one in seen) or (wanted_gpu(argv) and imported(argv))
    return bool(used) and not any(one.get("touched") for one in seen)


def _print(options: argparse.Namespace, after: Watched) -> None:
    """The report in one write, so that several ranks do not mix; each line with the rank where there are several."""
    from gpuwhy.answer import blocks, markdown
    from gpuwhy.cli import output
    from gpuwhy.cli.terminal import write
    from gpuwhy.run.ranks import own_rank

    if options.markdown:
        write(markdown.write(blocks.document(output.shared(after.answer), 1)), sys.stderr)
        return
    if options.json == "-":
        write(output.as_json(output.shared(after.answer)), sys.stderr)
        return
    from gpuwhy.run.circumstances import circumstances

    rank = own_rank(os.environ)
    before = f"[rank {rank}] " if rank else ""
    above = circumstances(after.facts.run, after.answer)
    document = blocks.document(after.answer, max(options.verbose, int(options.why)))
    text = above + output.text(document, sys.stderr)
    write("".join(f"{before}{line}\n" for line in text.splitlines()), sys.stderr)


def _wanted(options: argparse.Namespace, after: Watched, ended: Ended) -> Iterator[tuple[str, Callable[[], None]]]:
    """The files that were asked for, each with what writes it."""
    if options.record:
        yield options.record, lambda: _record(options.record, after, ended)
    if options.json.rstrip("-"):
        yield options.json, lambda: _json(options.json, after)
    if options.plot:
        yield options.plot, lambda: _plot(options.plot, after)
    if options.html:
        yield options.html, lambda: _page(options.html, after)


def _record(path: str, after: Watched, ended: Ended) -> None:
    from gpuwhy.machine.writing import keep

    data = after.recording(ended)
    if path.endswith(".gz"):
        import gzip

        data = gzip.compress(data, mtime=0)
    keep(path, data)
    say(f"gpuwhy: wrote {path} ({len(data):,} bytes); read it before you send it")


def _json(path: str, after: Watched) -> None:
    from gpuwhy.machine.writing import keep
    from gpuwhy.cli import output

    keep(path, output.as_json(output.shared(after.answer)).encode())
    say(f"gpuwhy: wrote {path}")


def _page(path: str, after: Watched) -> None:
    from gpuwhy.answer import blocks, html
    from gpuwhy.cli.output import shared

    forms.keep_page(path, html.page(blocks.document(shared(after.answer), 2)))


def _plot(path: str, after: Watched) -> None:
    from gpuwhy.machine.writing import keep
    from gpuwhy.run.plot import drawing

    drawn = drawing(after.facts.run)
    if not drawn:
        say("gpuwhy: no plot: GPU memory was not sampled (no GPU, or the program ended too soon)")
        return
    data = drawn.encode()
    if path.endswith(".png"):
        import cairosvg

        data = cairosvg.svg2png(bytestring=data)
    keep(path, data)
    say(f"gpuwhy: wrote {path}")
