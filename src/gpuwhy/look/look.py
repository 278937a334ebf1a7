"""look: every subject of a machine in its order, each guarded and timed."""

import threading
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from importlib import import_module
from typing import Any, Literal, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from gpuwhy.facts.fact import Fact, Undetermined, Unknown
from gpuwhy.facts.facts import Facts
from gpuwhy.machine.machine import Machine

EARLY: tuple[tuple[str, ...], ...] = (("call", "nvml"), ("call", "nodes"))
"""Questions that another process answers: begun before the files are read."""


class Options(Struct, frozen=True, omit_defaults=True):
    """What the user asked for; kept in a recording, because the questions depend on it."""

    python: str = ""  # --python: an executable or an environment's folder
    folder: str = ""  # working folder
    script: str = ""  # folder of a watched program's script; "-" where it looks into none
    files: Literal["some", "all"] = "some"  # how many installed files are looked at; all: by hash
    imports: bool = False  # --import
    probe: Literal["", "gentle", "full"] = ""  # --gentle, --probe
    crashed: bool = False  # a watched program crashed: the smaller libraries are hashed
    doubted: tuple[str, ...] = ()  # libraries that a failing program's last words name: hashed
    seconds: float = 1.0  # for looking at installed files, where the file system is slow


class Look(NamedTuple):
    """One step: `module:function` fills a subject of Facts, or one field of it."""

    place: str  # "system", "environment.python"
    function: str
    seconds: float = 10.0


LOOKS = (
    Look("system", "system:system"),
    Look("environment.python", "environment.python:python"),
    Look("environment.sites", "environment.python:sites"),
    Look("environment.packages", "environment.packages:packages", 30.0),
    Look("frameworks.installed", "frameworks.installed:installed", 30.0),
    Look("libraries", "libraries:libraries", 20.0),
    Look("installs.damage", "installs.damage:damage", 600.0),
    Look("installs.conflicts", "installs.damage:conflicts", 60.0),
    Look("installs.contradictions", "installs.contradictions:contradictions", 30.0),
    Look("installs.shadows", "installs.startup:shadows"),
    Look("installs.start_files", "installs.startup:start_files"),
    Look("installs.start", "installs.startup:start"),
    Look("variables.variables", "variables:variables"),
    Look("variables.set_at_start", "variables:set_at_start"),
    Look("driver", "driver:driver", 20.0),
    Look("devices", "devices:devices", 30.0),
)
"""Each may read what the ones before it found. Loads are filled by gpuwhy.loader afterwards."""
BY_IMPORTING = (
    Look("imports", "imports:imports", 900.0),
    Look("installs.damage", "imports:damage_named", 60.0),
)

Note = Callable[[str], None]


def look(
    machine: Machine,
    options: Options | None = None,
    only: Collection[str] = (),
    note: Note = lambda _: None,
) -> Facts:
    """Everything that can be seen; with `only`, some subjects. `note` is told each step.

    Give it a RecordingMachine where the machine is live: then nothing is asked twice, and what
    another process answers is begun first.
    """
    options = options or Options()
    facts = Facts()
    steps = [one for one in LOOKS if not only or one.place.partition(".")[0] in only]
    if only and "system" not in only:
        steps.insert(0, Look("system.os", "system:operating_system"))
    if not only or {"driver", "devices"} & set(only):
        machine.ahead(*EARLY)
    return _taken(steps, machine, facts, options, note)


def look_by_importing(
    machine: Machine, facts: Facts, options: Options, note: Note = lambda _: None
) -> Facts:
    """The facts with what `--import` tries; after the loader, whose findings it needs."""
    steps = BY_IMPORTING if options.imports else ()
    return _taken(steps, machine, facts, options, note)


def _taken(
    steps: Iterable[Look], machine: Machine, facts: Facts, options: Options, note: Note
) -> Facts:
    """The facts after each step; an Unknown fills a whole record."""
    for step in steps:
        note(step.place)
        found = _bounded(step, machine, facts, options)
        subject, _, field = step.place.partition(".")
        record = getattr(facts, subject)
        if field:
            found = replace(record, **{field: found})
        elif isinstance(found, Unknown):
            found = type(record)(**dict.fromkeys(record.__struct_fields__, found))
        facts = replace(facts, **{subject: found})
    return facts


def _bounded(step: Look, machine: Machine, facts: Facts, options: Options) -> Any:
    """What one step finds; Unknown where it raises or takes too long."""
    module, _, name = step.function.partition(":")
    found: list[Any] = []

    def run() -> None:
        place = f"gpuwhy.look.{module}"
        found.append(guarded(lambda: getattr(import_module(place), name)(machine, facts, options)))

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    worker.join(step.seconds)
    return found[0] if found else Unknown(f"no answer within {step.seconds:g} s")


def guarded(ask: Callable[[], Any]) -> Any:
    """What one function finds; Unknown where it cannot tell or fails."""
    try:
        return ask()
    except Undetermined as missing:
        return missing.unknown
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
        return Unknown(f"gpuwhy failed here: {type(error).__name__}: {error} ({where})")


Field = Callable[[Machine, Facts], Fact[Any]]


def filled(machine: Machine, facts: Facts, subject: str, fields: Mapping[str, Field]) -> Facts:
    """The facts with one subject's fields, each of which may read those before it.

    What one field lacks costs the others nothing.
    """
    for name, field in fields.items():
        found = guarded(partial(field, machine, facts))
        facts = replace(facts, **{subject: replace(getattr(facts, subject), **{name: found})})
    return facts


def is_windows(facts: Facts) -> bool:
    """Whether the machine is a Windows machine."""
    system = facts.system.os
    return not isinstance(system, Unknown) and system.need() == "windows"
