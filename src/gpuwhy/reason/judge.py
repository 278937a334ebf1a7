"""Judge: put every cause to every subject it concerns, and turn its signs' findings into a verdict."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from gpuwhy.model.cause import Case, Cause, Finding, Fix
from gpuwhy.model.fact import Absent, Undetermined, Unknown, value_or
from gpuwhy.model.facts import Facts, Framework
from gpuwhy.model.report import State, Verdict
from gpuwhy.model.symptom import Reading
from gpuwhy.reason.exported import at_their_file

NOTHING = Reading()
CERTAIN, LIKELY, POSSIBLE = 0.99, 0.85, 0.4
NO_OUTPUT = Unknown("only a program's output tells", "gpuwhy explain LOG")


def judge(causes: Iterable[Cause], facts: Facts, reading: Reading = NOTHING) -> tuple[Verdict, ...]:
    """Every cause, judged for each framework, device or the machine, as its scope says."""
    return tuple(verdict for cause in causes for verdict in _judge_cause(cause, facts, reading))


def _judge_cause(cause: Cause, facts: Facts, reading: Reading) -> Iterator[Verdict]:
    case = Case(facts, symptoms=reading.symptoms, told=reading.told, ending=reading.ending)
    if cause.scope == "machine":
        yield judge_case(cause, case, "")
        return
    found = facts.target.frameworks if cause.scope == "framework" else facts.devices.devices
    if isinstance(found, Unknown):
        yield Verdict(cause, "undetermined", 0.0, missing=found.reason, how=found.how)
    elif cause.layer == "env" and cause.scope == "framework" and (alone := _alone(facts)):
        yield judge_case(cause, case, alone)
    elif isinstance(found, Absent) or not found.value:
        what = "no framework is installed" if cause.scope == "framework" else "no GPU answers"
        yield Verdict(cause, "ruled_out", 0.0, findings=(Finding("against", what),))
    elif cause.scope == "framework":
        yield from (_judge_framework(cause, case, one) for one in value_or(facts.target.frameworks, ()))
    else:
        for device in value_or(facts.devices.devices, ()):
            yield judge_case(cause, replace(case, device=device), f"GPU {device.index}")


def _alone(facts: Facts) -> str:
    """What was imported and fails where there is no framework: variables steer that, too."""
    failed = [one for one in value_or(facts.target.imports, ()) if one.failed]
    return "" if value_or(facts.target.frameworks, ()) or not failed else failed[0].package or failed[0].top


def _judge_framework(cause: Cause, case: Case, one: Framework) -> Verdict:
    verdict = judge_case(cause, replace(case, framework=one), f"{one.title} {one.version}")
    return replace(verdict, about=one.name)


def judge_case(cause: Cause, case: Case, subject: str) -> Verdict:
    """One cause for one subject. A sign that crashes is our bug and is shown as one; it decides nothing."""
    findings: list[Finding] = []
    missing = [NO_OUTPUT] if cause.needs_log and not case.symptoms else []
    error = ""
    for sign in cause.signs:
        try:
            findings += filter(None, [sign(case)])
        except Undetermined as unseen:
            missing.append(unseen.unknown)
        except Exception as bug:
            error = _told(bug)
    state, confidence = _weigh(findings, missing, error)
    fixes, failed = _fixes(cause, case) if state in ("shown", "possible") else ((), "")
    error = error or failed
    spoken = tuple(f for f in findings if (f.weight == "against") == (state == "ruled_out"))
    first = missing[0] if missing else Unknown("")
    return Verdict(cause, state, confidence, subject, spoken, fixes, first.reason, first.how, error)


def _fixes(cause: Cause, case: Case) -> tuple[tuple[Fix, ...], str]:
    """The remedies that can be made, and the bug that ended them; an Unknown fact costs remedies, never the report."""
    made: tuple[Fix, ...] = ()
    try:
        made = cause.fixes(case)
        return at_their_file(made, case.facts), ""
    except Undetermined:
        return made, ""
    except Exception as bug:
        return made, _told(bug)


def _told(bug: Exception) -> str:
    """An exception of our own in words, with its place."""
    frame = traceback.extract_tb(bug.__traceback__)[-1]
    return f"{type(bug).__name__}: {bug} ({frame.filename.rsplit('/', 1)[-1]}:{frame.lineno})"


def _weigh(findings: list[Finding], missing: list[Unknown], error: str) -> tuple[State, float]:
    """Proof decides; then an observation against; then strong signs; what was not seen keeps it open."""
    count = {weight: sum(f.weight == weight for f in findings) for weight in ("proof", "strong", "weak", "against")}
    if count["proof"]:
        return "shown", CERTAIN
    if error:
        return "crashed", 0.0
    if count["against"]:
        return "ruled_out", 0.0
    if count["strong"]:
        return "shown", min(0.95, LIKELY + 0.05 * (count["strong"] - 1))
    if missing:
        return "undetermined", 0.0
    if count["weak"]:
        return "possible", POSSIBLE
    return "ruled_out", 0.0
