"""`gpuwhy run -- CMD…`: runs a program unchanged and, when it fails, says why."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import traceback
from typing import TYPE_CHECKING

from gpuwhy.cli import UsageError, output, say

if TYPE_CHECKING:
    from gpuwhy.api.watched import Watched
    from gpuwhy.run.child import Ended


def go(options: argparse.Namespace) -> int:
    """Run it; whatever happens to us afterwards, the exit is the program's."""
    argv = _command(options)
    if sys.stderr is None:  # it was closed when we were started
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    from gpuwhy.run.child import CannotStartError, die_by, watch

    try:
        ended = watch(argv)
    except CannotStartError as error:
        say(f"gpuwhy: cannot run {error}")
        return error.code
    try:
        _explain(options, argv, ended)
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


def program(options: argparse.Namespace, lacking: str) -> list[str]:
    """The command line to start, with or without `--` before it."""
    both = ["--"] if options.program and options.rest else []
    argv = [*options.program, *both, *options.rest]
    if not argv:
        raise UsageError(lacking)
    if not sys.platform.startswith("linux"):
        more = " (docs/windows.md says how to keep exit code and memory too)"
        hint = f"CMD 2>&1 | gpuwhy explain{more if sys.platform == 'win32' else ''}"
        raise UsageError(f"gpuwhy {options.command} works on Linux; elsewhere: {hint}")
    return argv


def _command(options: argparse.Namespace) -> list[str]:
    if options.json not in ("", "-") and not options.rest and not options.json.endswith(".json"):
        options.program = [options.json, *options.program]  # `run --json CMD`: no file
        options.json = "-"
    argv = program(options, "run what? gpuwhy run -- python train.py")
    for path in filter(None, (options.record, options.plot, options.json.rstrip("-"))):
        output.writable(path)
    if options.plot and not options.plot.endswith(".svg"):
        raise UsageError(f"--plot {options.plot}: an SVG is written, so name it FILE.svg")
    return argv


def _explain(options: argparse.Namespace, argv: list[str], ended: Ended) -> None:
    """Explain a failure, or a success that stayed away from the GPU; write what was asked for."""
    for text in ended.trouble:
        say(f"gpuwhy: {text}")
    worth = not ended.pipe_closed if ended.failed else not options.quiet and _used(argv, ended)
    paths = (options.record, options.json.rstrip("-"), options.plot, options.html)
    if not (worth or any(paths) or options.markdown):
        return
    from gpuwhy.api.watched import after_run
    from gpuwhy.cli.terminal import Progress
    from gpuwhy.run.judge import worth_telling

    with Progress() as progress:
        after = after_run(argv, ended, os.path.expanduser(options.python), progress.note)
    if worth and worth_telling(after.facts, after.answer):
        _print(options, after)
    for name, path in zip(("record", "json", "plot", "html"), paths, strict=True):
        try:
            data = _file(name, path, after, ended) if path else ""
            if data:
                output.keep(path, data)
            elif path:
                say("gpuwhy: no plot: GPU memory was not sampled (no GPU, or too short)")
        except UsageError as error:  # the other files are written all the same
            say(f"gpuwhy: {error}")


def _used(argv: list[str], ended: Ended) -> bool:
    """Whether a framework was seen, or stands in the program's text, and no GPU was used."""
    from gpuwhy.run.target import imported, wanted_gpu

    seen = ended.samples.seen.values()
    used = any(one.get("libraries") for one in seen) or (wanted_gpu(argv) and imported(argv))
    return bool(used) and not any(one.get("touched") for one in seen)


def _print(options: argparse.Namespace, after: Watched) -> None:
    """The report in one write, so that several ranks do not mix; each line with the rank."""
    from gpuwhy.answer import blocks, contract, markdown
    from gpuwhy.cli.terminal import write
    from gpuwhy.run.around import circumstances, own_rank

    if options.markdown:
        shared = blocks.document(output.shareable(after.answer), 1)
        write(markdown.write(shared), sys.stderr)
    elif options.json == "-":
        write(contract.as_json(output.shareable(after.answer)), sys.stderr)
    else:
        rank = own_rank(os.environ)
        before = f"[rank {rank}] " if rank else ""
        document = blocks.document(after.answer, options.verbose)
        text = circumstances(after.facts.run, after.answer) + output.text(document, sys.stderr)
        write("".join(f"{before}{line}\n" for line in text.splitlines()), sys.stderr)


def _file(name: str, path: str, after: Watched, ended: Ended) -> bytes | str:
    """What a file that was asked for holds."""
    from gpuwhy.answer import blocks, contract, html
    from gpuwhy.cli.record import packed
    from gpuwhy.run.plot import drawing

    if name == "record":
        return packed(after.recording(ended), path)
    if name == "plot":
        return drawing(after.facts.run)
    answer = output.shareable(after.answer)
    return contract.as_json(answer) if name == "json" else html.page(blocks.document(answer, 2))
