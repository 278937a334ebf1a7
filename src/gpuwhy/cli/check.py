"""`gpuwhy check`: is this machine and environment able to run GPU work, and if not, why?"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from typing import TYPE_CHECKING, Literal, TextIO

from gpuwhy.border import reading
from gpuwhy.border.plain import plain
from gpuwhy.cli import FOUND, HEALTHY, PERHAPS, UsageError

MOST = 256 << 20
"""The largest recording that is read."""

if TYPE_CHECKING:
    from gpuwhy.app import Elsewhere, Facts, Report, Run
    from gpuwhy.render.terminal import Paper


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("check", help="is this machine able to run GPU work, and if not, why? (the default)")
    add_target(parser)
    parser.add_argument("--from", dest="recording", metavar="FILE", help="diagnose a recording made by `gpuwhy record`")
    parser.add_argument(
        "--root", metavar="PATH", help="diagnose another machine's files: a folder, an OCI layout or an archive"
    )
    parser.add_argument("--image", default="", metavar="NAME", help="which image or platform of --root's several")
    add_elsewhere(parser)
    parser.add_argument("--json", action="store_true", help="the report as JSON (gpuwhy.report/1)")
    parser.add_argument("--jsonl", action="store_true", help="one line for `gpuwhy fleet compare` (gpuwhy.node/1)")
    parser.add_argument(
        "--node", default="", metavar="NAME", help="what --jsonl calls this machine instead of an alias"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="every fact with its source, and every verdict")
    parser.set_defaults(go=go)


def add_target(parser: argparse.ArgumentParser) -> None:
    """The options that choose what is looked at."""
    parser.add_argument(
        "--python", default="", metavar="PATH", help="the Python, or environment folder, under diagnosis"
    )
    parser.add_argument("--verify", action="store_true", help="hash the installed CUDA libraries against their RECORD")
    parser.add_argument("--probe", action="store_true", help="try it: each stage from the driver to a convolution")
    parser.add_argument("--gentle", action="store_true", help="probe, but only read: no memory or context on the GPU")


_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_PLAIN = str.maketrans({"✓": "+", "✗": "X", "·": "-", "–": "-", "…": "...", "→": "->", "“": '"', "”": '"'})


def add_elsewhere(parser: argparse.ArgumentParser) -> None:
    """The options that describe another machine to judge by."""
    parser.add_argument("--gpu", action="append", default=[], metavar="G", help="judge as on a machine with this GPU")
    parser.add_argument("--driver", default="", metavar="V", help="and with this driver: 535, 550.54.15")
    parser.add_argument("--gpu-memory", type=float, default=0.0, metavar="GIB", help="and so much memory on the GPU")
    parser.add_argument("--like", default="", metavar="FILE", help="judge as on the machine of a recording")


def go(options: argparse.Namespace) -> int:
    """Observe, judge, print."""
    if options.jsonl and not options.recording:
        options.recording = os.environ.get("GPUWHY_FROM")  # a node that answers as a recorded machine
    run = diagnose(options)
    if options.python and not run.found_python:
        raise UsageError(f"--python {options.python}: {run.why_no_python}")
    report = run.report()
    if options.jsonl:
        from gpuwhy.cli.fleet import node_line

        write(node_line(run, report, options.node))
        return exit_code(report)
    if options.json:
        from gpuwhy.render.json import render as as_json

        text = as_json(report)
    else:
        from gpuwhy.render.terminal import render as as_text

        text = as_text(report, paper(), options.verbose)
    write(text)
    return exit_code(report)


def exit_code(report: Report) -> int:
    """1: a cause was found. 4: one that is only possible, or that would show on a machine with a GPU. 0: none."""
    if any(c.found and not c.with_gpu for c in report.causes):
        return FOUND
    return PERHAPS if report.causes else HEALTHY


def elsewhere(options: argparse.Namespace) -> Elsewhere | Facts | None:
    """The machine that --gpu, --driver and --gpu-memory describe, or that --like recorded; None for this one."""
    if getattr(options, "like", ""):
        if options.gpu or options.driver or options.gpu_memory:
            raise UsageError("--like takes GPU and driver from a recording; --gpu, --driver and --gpu-memory tell them")
        return _recorded_facts(options.like)
    if not (getattr(options, "gpu", ()) or getattr(options, "driver", "") or getattr(options, "gpu_memory", 0)):
        return None
    if options.probe or options.gentle:
        raise UsageError("--probe tries this machine: it cannot try the one that --gpu and --driver describe")
    from gpuwhy import app
    from gpuwhy.plan import machine

    if options.gpu_memory and not options.gpu:
        raise UsageError("--gpu-memory: of which GPU? Name it with --gpu")
    try:
        told = machine.described(options.driver, tuple(options.gpu))
    except machine.BadMachineError as error:
        raise UsageError(str(error)) from error
    return app.Elsewhere(tuple((one.name, one.capability) for one in told.gpus), told.driver, options.gpu_memory)


def _recorded_facts(path: str) -> Facts:
    from gpuwhy import app

    try:
        host, asked = app.recorded_host(read_bytes(path), path)
    except app.BadRecordingError as error:
        raise UsageError(f"--like {error}") from error
    return app.Run(host, asked).facts


def diagnose(options: argparse.Namespace) -> Run:
    """The run that the options ask for: live, from a recording, or below a folder."""
    from gpuwhy import app
    from gpuwhy.cli.progress import Progress

    if getattr(options, "recording", None):
        if options.python:
            raise UsageError("--from replays the environment that was recorded; --python cannot choose another")
        if options.probe or options.gentle:
            raise UsageError("--from replays what was recorded: record it with --probe")
        try:
            host, asked = app.recorded_host(read_bytes(options.recording), options.recording)
        except app.BadRecordingError as error:
            raise UsageError(str(error)) from error
        return app.Run(host, asked, elsewhere=elsewhere(options))
    if not getattr(options, "root", None):
        options.python = os.path.expanduser(options.python)
    probe: Literal["", "gentle", "full"] = "gentle" if options.gentle else "full" if options.probe else ""
    asked = app.Options(python=options.python, verify=options.verify, folder=".", probe=probe)
    with Progress() as progress:
        if getattr(options, "root", None):
            if probe:
                raise UsageError("--root is another machine's files: nothing can be probed there")
            try:
                host = app.root_host(options.root, getattr(options, "image", ""), progress.note)
            except app.UnreadableError as error:
                raise UsageError(f"--root {error}") from error
            return app.Run(host, asked, progress.note, elsewhere(options))
        if options.python and not os.path.exists(options.python):
            raise UsageError(f"--python {options.python}: no such file or folder")
        return app.Run(app.live_host(), asked, progress.note, elsewhere(options))


def read_bytes(path: str) -> bytes:
    """A file the user named, or a UsageError that says what is wrong with it."""
    try:
        if path == "-":
            return reading.whole(sys.stdin.fileno(), MOST, "standard input")
        return reading.read(path, MOST)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error


def write(text: str, stream: TextIO | None = None, *, orders: bool = False) -> None:
    """Print without what steers a terminal, or a workflow unless that is meant.

    Where the terminal's encoding has no such signs, with plain ones, and JSON with escapes.
    """
    stream = stream or sys.stdout
    encoding = stream.encoding or "utf-8"
    if text.startswith(("{", "[")) and encoding.lower().replace("-", "") != "utf8":
        text = _NOT_ASCII.sub(lambda found: json.dumps(found[0])[1:-1], text)
    try:
        "✓✗·–…→".encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(_PLAIN)
    if not orders and not text.startswith(("{", "[")):
        text = plain(text, tinted=True)
    stream.write(text.encode(encoding, "replace").decode(encoding))
    stream.flush()


def paper(stream: TextIO | None = None) -> Paper:
    """Width and colour of standard output or another stream: NO_COLOR, FORCE_COLOR and pipes respected."""
    import shutil

    from gpuwhy.render.terminal import Paper

    colour = (stream or sys.stdout).isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    if os.environ.get("FORCE_COLOR"):
        colour = True
    return Paper(shutil.get_terminal_size((80, 24)).columns, colour)
