"""What a command looks at: the options that choose a machine and an environment, and the run that they ask for."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Literal

from gpuwhy.cli import UsageError, refused
from gpuwhy.cli.terminal import read_bytes

if TYPE_CHECKING:
    from gpuwhy.app import Elsewhere, Facts, Run


def add_target(parser: argparse.ArgumentParser) -> None:
    """The options that choose what is looked at."""
    parser.add_argument(
        "--python", default="", metavar="PATH", help="the Python, or environment folder, under diagnosis"
    )
    parser.add_argument(
        "--verify", action="store_true", help="check the installed CUDA libraries for damage (hashes; slow)"
    )
    parser.add_argument(
        "--probe", action="store_true", help="really use the GPU: each step from the driver to a convolution"
    )
    parser.add_argument(
        "--gentle", action="store_true", help="like --probe, but allocate no GPU memory and create no CUDA context"
    )


def add_imports(parser: argparse.ArgumentParser) -> None:
    """The options that run code of the environment: nothing of it is run without them."""
    parser.add_argument(
        "--import",
        dest="imports",
        action="store_true",
        help="start the environment's Python and import its packages, in child processes (takes as long as they do)",
    )
    parser.add_argument(
        "--deep", action="store_true", help="--import and --verify, and try packages and hash small files too (slow)"
    )
    parser.add_argument("--no-import", action="store_true", help=argparse.SUPPRESS)  # once an option, now the default


def add_elsewhere(parser: argparse.ArgumentParser) -> None:
    """The options that describe another machine to judge by."""
    parser.add_argument("--gpu", action="append", default=[], metavar="G", help="judge as on a machine with this GPU")
    parser.add_argument("--driver", default="", metavar="V", help="judge as with this driver: 535, 550.54.15")
    parser.add_argument(
        "--gpu-memory", type=float, default=0.0, metavar="GIB", help="judge as with this much GPU memory"
    )
    parser.add_argument("--like", default="", metavar="FILE", help="judge as on the machine of a recording")


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
    from gpuwhy.plan.describe import BadMachineError, described

    if options.gpu_memory and not options.gpu:
        raise UsageError("--gpu-memory: of which GPU? Name it with --gpu")
    with refused(BadMachineError):
        told = described((), options.driver, tuple(options.gpu))
    cards = tuple((one.name, one.capability) for one in told.gpus)
    return app.Elsewhere(cards, told.driver_version, options.gpu_memory)


def _recorded_facts(path: str) -> Facts:
    from gpuwhy import app

    with refused(app.BadRecordingError, "--like "):
        host, asked = app.recorded_host(read_bytes(path), path)
    return app.Run(host, asked).facts


def diagnose(options: argparse.Namespace) -> Run:
    """The run that the options ask for: live, from a recording, or below a folder."""
    from gpuwhy import app
    from gpuwhy.cli.progress import Progress

    if getattr(options, "recording", None):
        return _replayed(options)
    below = getattr(options, "root", None)
    options.python = _inside(options.python, below) if below else os.path.expanduser(options.python)
    if options.probe or options.gentle:
        raise UsageError("only `gpuwhy check` probes: leave --probe and --gentle out")
    imports, verify = _imports(options), options.verify or getattr(options, "deep", False)
    asked = app.Options(python=options.python, verify=verify, folder=".", imports=imports)
    with Progress() as progress:
        if below:
            if _asks_for_imports(options):
                raise UsageError("--root is another machine's files: nothing can be imported there")
            with refused(app.UnreadableError, "--root "):
                host = app.root_host(below, getattr(options, "image", ""), progress.note)
            return app.Run(host, asked, progress.note, elsewhere(options))
        if options.python and not os.path.exists(options.python):
            raise UsageError(f"--python {options.python}: no such file or folder")
        host = app.live_host(runs=imports in ("yes", "deep"))
        return app.Run(host, asked, progress.note, elsewhere(options))


def _inside(python: str, root: str) -> str:
    """A path as the person sees it here, below --root, as the files below it are named; any other as it is."""
    top, here = os.path.realpath(root), os.path.abspath(os.path.expanduser(python)) if python else ""
    for folder in dict.fromkeys((top, os.path.abspath(root))):
        if top != "/" and os.path.isdir(top) and here.startswith(f"{folder}/") and os.path.lexists(here):
            return here[len(folder) :]
    return python


def _imports(options: argparse.Namespace) -> Literal["", "no", "yes", "deep"]:
    """Real imports, by the options; a repair always makes them, and the probe has its own."""
    if not hasattr(options, "imports") or options.probe or options.gentle or getattr(options, "root", None):
        return ""
    if options.deep or getattr(options, "apply", False):
        return "deep"
    if options.imports:
        return "yes"
    return "" if getattr(options, "jsonl", False) or getattr(options, "health", None) else "no"


def _asks_for_imports(options: argparse.Namespace) -> bool:
    return bool(getattr(options, "imports", False) or getattr(options, "deep", False))


def _replayed(options: argparse.Namespace) -> Run:
    from gpuwhy import app

    if options.python:
        raise UsageError("--from replays the environment that was recorded; --python cannot choose another")
    if options.probe or options.gentle:
        raise UsageError("--from replays what was recorded: record it with --probe")
    if _asks_for_imports(options):
        raise UsageError("--from replays what was recorded: nothing can be imported there")
    with refused(app.BadRecordingError):
        host, asked = app.recorded_host(read_bytes(options.recording), options.recording)
    return app.Run(host, asked, elsewhere=elsewhere(options))
