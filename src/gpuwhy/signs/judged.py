"""Asks every sign of every subject; one that lacks a fact, or fails, costs only itself."""

import traceback
from importlib import import_module

import msgspec
from msgspec.structs import replace

from gpuwhy.facts.fact import Known, Undetermined
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Effect, Finding, Weight
from gpuwhy.signs.case import Case, Row
from gpuwhy.signs.expect import lacks_gpu
from gpuwhy.signs.say import release

_FROM_BELOW = (
    *("devices", "driver", "driver_nodes", "driver_age", "containers", "variables", "paths"),
    *("limits", "installs", "damage", "libraries", "builds", "imports", "program"),
)
"""From the metal up: what lies below comes first, because it breaks what lies above."""
_EVERY = (row for name in _FROM_BELOW for row in import_module(f"gpuwhy.signs.{name}").SIGNS)
ROWS: list[Row] = sorted(_EVERY, key=lambda row: row.last)


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
    """The findings, and the signs that could not decide, each with what it lacked."""
    found: list[Finding] = []
    undecided: list[Undecided] = []
    for row in ROWS:
        try:
            subjects = _subjects(facts, row)
        except Undetermined as lacks:
            undecided.append(Undecided(row.cause, lacks.unknown.reason, lacks.unknown.how))
            continue
        for case, subject in subjects:
            said = {one.subject for one in found if one.cause == row.cause}
            said |= {one.subject for one in undecided if one.cause == row.cause}
            if row.last and (subject in said or (said and not subject)):
                continue
            try:
                found += _asked(row, case, subject)
            except Undetermined as lacks:
                how = lacks.unknown.how
                undecided.append(Undecided(row.cause, lacks.unknown.reason, how, subject))
            except Exception as bug:
                frame = traceback.extract_tb(bug.__traceback__)[-1]
                where = f"{frame.filename.rpartition('/')[2]}:{frame.lineno}"
                reason = f"gpuwhy failed here: {type(bug).__name__}: {bug} ({where})"
                undecided.append(Undecided(row.cause, reason, subject=subject, bug=True))
    return Judged(tuple(found), tuple(dict.fromkeys(undecided)))


def _subjects(facts: Facts, row: Row) -> list[tuple[Case, str]]:
    """The machine, or each framework or GPU; Undetermined where these were not seen."""
    if row.scope == "machine":
        return [(Case(facts), "")]
    if row.scope == "framework":
        several = facts.frameworks.installed.need() or ()
        return [(Case(facts, of_framework=one), release(one)) for one in several]
    gpus = facts.devices.gpus.need() or ()
    return [(Case(facts, of_gpu=one), f"GPU {one.index}") for one in gpus]


def _asked(row: Row, case: Case, subject: str) -> list[Finding]:
    """What one sign says of one subject, with its cause and subject."""
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


_LATER = ("cuda", "cudnn", "install", "env", "framework")
_CARRIED = ("driver.stub", "driver.compat_misuse", "driver.library_mismatch", "container.no_gpu")
"""What files and an image's variables do to the driver of whichever machine they come to."""
_CHOSEN = ("framework.cpu_only", "framework.platform_dropped")
"""A build for the CPU on a machine without a GPU is what somebody chose."""


def with_gpu(facts: Facts, assumed: Facts) -> tuple[Finding, ...]:
    """All findings of a machine without a GPU, with those of what would fail if it had one.

    `assumed` are the same facts with a GPU: `look.assumed.assume(facts, AssumedMachine())`. What
    rules a cause out here ("it is never opened") does not count for what would fail there.
    """
    here = judge(facts).findings
    if not lacks_gpu(facts):
        return here
    mine = {one.cause for one in here if one.weight in (Weight.PROOF, Weight.STRONG)}
    # a file of the environment may hide whatever GPU there is
    carried = _CARRIED if isinstance(facts.system.offline, Known) else ()
    wanted = ("device.selection", *carried)
    found: dict[tuple[str, str], list[Finding]] = {}
    for one in judge(assumed).findings:
        asked = one.cause.partition(".")[0] in _LATER or one.cause in wanted
        if asked and one.cause not in (*mine, *_CHOSEN) and one.effect is not Effect.NOTED:
            found.setdefault((one.cause, one.subject), []).append(one)
    later: dict[tuple[str, str], list[Finding]] = {}
    for key, several in found.items():
        speaking = [one for one in several if one.weight is not Weight.AGAINST]
        proven = any(one.weight is Weight.PROOF for one in several)
        if proven or len(speaking) == len(several):
            later[key] = [replace(one, with_gpu=True) for one in speaking]
    own = [one for one in here if (one.cause, one.subject) not in later]
    return (*own, *(one for several in later.values() for one in several))
