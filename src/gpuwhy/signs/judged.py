"""Asks every sign of every subject; one that lacks a fact, or fails, costs only itself."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from importlib import import_module

import msgspec
from msgspec.structs import replace

from gpuwhy.facts.fact import Undetermined, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Effect, Finding, Weight
from gpuwhy.signs.case import Case, Row

MODULES = (
    *("devices", "driver", "driver_nodes", "driver_age", "containers", "variables", "paths"),
    *(
        "limits",
        "shadows",
        "conflicts",
        "installs",
        "damage",
        "libraries",
        "builds",
        "imports",
        "program",
    ),
    "probe",
)
"""From the metal up: what lies below comes first, because it breaks what lies above."""


class Undecided(msgspec.Struct, frozen=True):
    """A sign that could not decide: what it lacked, and what would show it."""

    cause: str
    missing: str
    how: str = ""
    subject: str = ""
    bug: bool = False  # gpuwhy itself failed


class Judged(msgspec.Struct, frozen=True):
    """What the signs conclude, and what they could not decide."""

    findings: tuple[Finding, ...]
    undecided: tuple[Undecided, ...]


def judge(facts: Facts) -> Judged:
    """Every sign of every module, in their order."""
    found: list[Finding] = []
    undecided: list[Undecided] = []
    for module in MODULES:
        for row in import_module(f"gpuwhy.signs.{module}").SIGNS:
            for case, subject in _subjects(facts, row):
                if isinstance(case, Unknown):
                    undecided.append(Undecided(row.cause, case.reason, case.how))
                    continue
                try:
                    found += _asked(row, case, subject)
                except Undetermined as lacks:
                    reason, how = lacks.unknown.reason, lacks.unknown.how
                    undecided.append(Undecided(row.cause, reason, how, subject))
                except Exception as bug:
                    undecided.append(_failed(row, subject, bug))
    return Judged(tuple(found), tuple(dict.fromkeys(undecided)))


_LATER = ("cuda", "cudnn", "install", "env", "framework")
_ALSO_LATER = ("device.selection",)  # a file of the environment may hide whatever GPU there is
_CARRIED = ("driver.stub", "driver.compat_misuse", "driver.library_mismatch", "container.no_gpu")
"""What files and an image's variables do to the driver of whichever machine they come to."""
_CHOSEN = ("framework.cpu_only", "framework.platform_dropped")
"""A build for the CPU on a machine without a GPU is what somebody chose."""


def together(here: Judged, assumed: Judged, offline: bool) -> tuple[Finding, ...]:
    """The findings of this machine, which has no GPU, and those of what would fail if it had one.

    What rules a cause out here ("it is never opened") does not count for what would fail there.
    """
    mine = {one.cause for one in here.findings if one.weight in (Weight.PROOF, Weight.STRONG)}
    wanted = (*_ALSO_LATER, *(_CARRIED if offline else ()))
    found: dict[tuple[str, str], list[Finding]] = {}
    for one in assumed.findings:
        asked = one.cause.partition(".")[0] in _LATER or one.cause in wanted
        if asked and one.cause not in (*mine, *_CHOSEN) and one.effect is not Effect.NOTED:
            found.setdefault((one.cause, one.subject), []).append(one)
    later: dict[tuple[str, str], list[Finding]] = {}
    for key, several in found.items():
        weights = {one.weight for one in several}
        if Weight.PROOF in weights or Weight.AGAINST not in weights:
            later[key] = [one for one in several if one.weight is not Weight.AGAINST]
    own = [one for one in here.findings if (one.cause, one.subject) not in later]
    return (*own, *(replace(one, with_gpu=True) for several in later.values() for one in several))


def _subjects(facts: Facts, row: Row) -> Iterator[tuple[Case | Unknown, str]]:
    """The machine, or each framework or GPU; Unknown where these were not seen."""
    if row.scope == "machine":
        yield Case(facts), ""
    elif row.scope == "framework":
        installed = facts.frameworks.installed
        if isinstance(installed, Unknown):
            yield installed, ""
        for one in value_or(installed, ()):
            yield Case(facts, of_framework=one), f"{one.title} {one.version}"
    else:
        gpus = facts.devices.gpus
        if isinstance(gpus, Unknown):
            yield gpus, ""
        for gpu in value_or(gpus, ()):
            yield Case(facts, of_gpu=gpu), f"GPU {gpu.index}"


def _asked(row: Row, case: Case, subject: str) -> list[Finding]:
    said = row.sign(case)
    several = (said,) if isinstance(said, Finding) else said or ()
    named = {"framework": subject} if row.scope == "framework" else {}
    return [
        replace(
            one,
            cause=one.cause or row.cause,
            subject=one.subject or subject,
            values={**named, **one.values},
        )
        for one in several
    ]


def _failed(row: Row, subject: str, bug: Exception) -> Undecided:
    frame = traceback.extract_tb(bug.__traceback__)[-1]
    where = f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
    reason = f"gpuwhy failed here: {type(bug).__name__}: {bug} ({where})"
    return Undecided(row.cause, reason, subject=subject, bug=True)
