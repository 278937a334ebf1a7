"""The machine that a command's options name: this one, a recording, a folder, an image."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from gpuwhy.cli import UsageError, refused
from gpuwhy.cli.terminal import Progress, read_bytes
from gpuwhy.look.look import Options
from gpuwhy.machine.recording import (
    BadRecordingError,
    RecordedMachine,
    RecordingMachine,
    read_recording,
    recorded_machine,
)

if TYPE_CHECKING:
    from gpuwhy.api.machine import Seen
    from gpuwhy.facts.facts import Facts
    from gpuwhy.machine.machine import Machine

Note = Callable[[str], None]
Assume = Callable[["Facts"], "Facts"]


def seen(options: argparse.Namespace) -> Seen:
    """What the machine that the options name shows."""
    from gpuwhy.api.machine import observe

    with Progress() as progress:
        machine, asked = asked_for(options, progress.note)
        assume, as_if = _assumed(options)
        found = observe(machine, asked, assume, as_if, progress.note)
    python = found.facts.environment.python
    if options.python and not hasattr(python, "value"):
        reason = getattr(python, "reason", "") or "no Python there"
        raise UsageError(f"--python {options.python}: {reason}")
    return found


def asked_for(options: argparse.Namespace, note: Note = lambda _: None) -> tuple[Machine, Options]:
    """The machine, and what is to be looked at there; not every command has every option."""
    given = vars(options).get
    imports = bool(given("imports") or given("deep"))
    probe = "gentle" if given("gentle") else "full" if given("probe") else ""
    if given("recording"):
        return recorded(options.recording)
    root, python = given("root") or "", os.path.expanduser(options.python)
    top = os.path.abspath(root).rstrip("/") if root else ""
    if top and os.path.abspath(python).startswith(f"{top}/"):  # as the files below --root name it
        python = os.path.abspath(python)[len(top) :]
    elif not root and python and not os.path.exists(python):
        raise UsageError(f"--python {python}: no such file or folder")
    files = "all" if given("verify") or given("deep") else "some"
    asked = {"python": python, "folder": ".", "files": files, "imports": imports, "probe": probe}
    machine = opened(root, given("image") or "", note=note)
    return RecordingMachine(machine), msgspec.convert(asked, Options)


def opened(
    root: str = "",
    image: str = "",
    variables: dict[str, str] | None = None,
    note: Note = lambda _: None,
) -> Machine:
    """This machine, or the files below `root`, with some variables given."""
    if not root:
        from gpuwhy.machine.live import LiveMachine

        return LiveMachine({**os.environ, **variables}) if variables else LiveMachine()
    from gpuwhy.machine.image import UnreadableImageError, open_image
    from gpuwhy.machine.windows import folder_machine

    with refused(UnreadableImageError, "--root "):
        found = open_image(root, image, note, variables)
    return found or folder_machine(root, variables or None)


def recorded(path: str, data: bytes | None = None) -> tuple[RecordedMachine, Options]:
    """A file that `gpuwhy record` or `run` wrote, with the options that it was made with."""
    with refused(BadRecordingError):
        machine = recorded_machine(read_recording(data or read_bytes(path), path))
    asked = machine.recording.options
    deep = asked.get("files") == "all" or bool(asked.get("verify"))
    probe = asked.get("probe") if asked.get("probe") in ("gentle", "full") else ""
    named = {one: asked.get(one) or "" for one in ("python", "folder", "script")}
    named |= {"probe": probe, "files": "all" if deep else "some"}
    with refused(msgspec.ValidationError, f"{path} was recorded with options that make no sense: "):
        return machine, msgspec.convert(named, Options)


def _assumed(options: argparse.Namespace) -> tuple[Assume | None, str]:
    """What makes the facts those of the machine that the options describe, and its name."""
    given = vars(options).get
    if not any(map(given, ("like", "gpu", "driver", "gpu_memory"))):
        return None, ""
    from gpuwhy.look.assumed import AssumedMachine, assume

    if given("like"):
        from gpuwhy.api.machine import observe
        from gpuwhy.facts.fact import value_or

        other = observe(*recorded(options.like)).facts
        names = [one.name for one in value_or(other.devices.gpus, ())]
        title = _title(names, value_or(other.driver.module_version, ""))
        return (lambda facts: assume(facts, other)), title or "that machine"
    from gpuwhy.plan import describe

    with refused(describe.BadMachineError):
        named = describe.described((), options.driver, tuple(options.gpu))
    cards = tuple((one.name, one.capability) for one in named.gpus) or (("a GPU", ""),)
    machine = AssumedMachine(cards, named.driver_version, options.gpu_memory)
    names = [one.name for one in named.gpus]
    if options.gpu_memory:
        names[-1] += f" with {options.gpu_memory:g} GiB"
    return (lambda facts: assume(facts, machine)), _title(names, named.driver_version)


def _title(names: list[str], driver: str) -> str:
    return ", ".join(filter(None, [*dict.fromkeys(names), driver and f"driver {driver}"]))
