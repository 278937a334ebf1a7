"""The machine that a command's options name: this one, a recording, a folder, an image."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from gpuwhy.cli import UsageError, refused
from gpuwhy.cli.progress import Progress
from gpuwhy.cli.terminal import read_bytes

if TYPE_CHECKING:
    from gpuwhy.api.machine import Seen
    from gpuwhy.facts.facts import Facts
    from gpuwhy.look.look import Options
    from gpuwhy.machine.machine import Machine
    from gpuwhy.machine.recording import RecordedMachine


def seen(options: argparse.Namespace) -> Seen:
    """What the machine that the options name shows."""
    from gpuwhy.api.machine import observe

    with Progress() as progress:
        machine, asked = asked_for(options, progress.note)
        assume, as_if = _assumed(options)
        return observe(machine, asked, assume, as_if, progress.note)


def asked_for(
    options: argparse.Namespace, note: Callable[[str], None] = lambda _: None
) -> tuple[Machine, Options]:
    """The machine, and what is to be looked at there."""
    if getattr(options, "recording", None):
        return _recorded(options)
    from gpuwhy.look.look import Options
    from gpuwhy.machine.recording import RecordingMachine

    below = getattr(options, "root", None)
    python = _inside(options.python, below) if below else os.path.expanduser(options.python)
    deep = bool(options.verify or getattr(options, "deep", False))
    imports = bool(getattr(options, "imports", False) or getattr(options, "deep", False))
    if below:
        if imports or options.probe or options.gentle:
            raise UsageError("--root is another machine's files: nothing can be run there")
        machine = _files(below, getattr(options, "image", ""), note)
    else:
        if python and not os.path.exists(python):
            raise UsageError(f"--python {python}: no such file or folder")
        from gpuwhy.machine.live import LiveMachine

        machine = LiveMachine()
    asked = Options(python=python, folder=".", files="all" if deep else "some", imports=imports)
    return RecordingMachine(machine), asked


def _files(path: str, image: str, note: Callable[[str], None]) -> Machine:
    """An image, an archive, a folder or a Windows disk."""
    from gpuwhy.machine.image import open_image
    from gpuwhy.machine.image_files import UnreadableImageError
    from gpuwhy.machine.windows_disk import folder_machine

    with refused(UnreadableImageError, "--root "):
        opened = open_image(path, image, note)
    return opened or folder_machine(path)


def _recorded(options: argparse.Namespace) -> tuple[Machine, Options]:
    """A recording, with the options that it was made with."""
    if options.python:
        raise UsageError("--from replays the environment that was recorded; leave --python out")
    if options.probe or options.gentle:
        raise UsageError("--from replays what was recorded: record it with --probe")
    if getattr(options, "imports", False) or getattr(options, "deep", False):
        raise UsageError("--from replays what was recorded: nothing can be imported there")
    return recorded(options.recording)


def recorded(path: str) -> tuple[RecordedMachine, Options]:
    """A file that `gpuwhy record` or `run` wrote, in this version or an earlier one."""
    return replayed(read_bytes(path), path)


def replayed(data: bytes, path: str) -> tuple[RecordedMachine, Options]:
    """The same of bytes that were read."""
    from gpuwhy.look.look import Options
    from gpuwhy.machine.recording import BadRecordingError, read_recording, recorded_machine

    with refused(BadRecordingError):
        machine = recorded_machine(read_recording(data, path))
    asked = machine.recording.options
    deep = asked.get("files") == "all" or bool(asked.get("verify"))
    python, folder, script = (str(asked.get(one) or "") for one in ("python", "folder", "script"))
    return machine, Options(python, folder, script, files="all" if deep else "some")


def _assumed(options: argparse.Namespace) -> tuple[Callable[[Facts], Facts] | None, str]:
    """What makes the facts those of the machine that the options describe, and its name."""
    described = [n for n in ("gpu", "driver", "gpu_memory") if getattr(options, n, None)]
    if getattr(options, "like", ""):
        if described:
            raise UsageError(
                "--like takes GPU and driver from a recording: leave --gpu and --driver out"
            )
        return _like(options.like)
    if not described:
        return None, ""
    from gpuwhy.look.assumed import AssumedMachine, assumed
    from gpuwhy.plan.describe import BadMachineError
    from gpuwhy.plan.describe import described as read

    if options.gpu_memory and not options.gpu:
        raise UsageError("--gpu-memory: of which GPU? Name it with --gpu")
    with refused(BadMachineError):
        told = read((), options.driver, tuple(options.gpu))
    cards = tuple((one.name, one.capability) for one in told.gpus)
    machine = AssumedMachine(cards, told.driver_version, options.gpu_memory)
    return (lambda facts: assumed(facts, machine)), str(machine)


def _like(path: str) -> tuple[Callable[[Facts], Facts], str]:
    from gpuwhy.api.machine import observe
    from gpuwhy.look.assumed import name_of, on_recorded

    other = observe(*recorded(path)).facts
    return (lambda facts: on_recorded(facts, other)), name_of(other)


def _inside(python: str, root: str) -> str:
    """A path below --root as the files there name it; any other as it is."""
    here = os.path.abspath(os.path.expanduser(python)) if python else ""
    top = os.path.realpath(root)
    for folder in dict.fromkeys((top, os.path.abspath(root))):
        if top != "/" and os.path.isdir(top) and here.startswith(f"{folder}/"):
            return here[len(folder) :]
    return python
