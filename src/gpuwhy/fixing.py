"""Wires what follows a diagnosis: its fixes as steps, the repair, and the second look."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from gpuwhy import app
from gpuwhy.causes.commands import change
from gpuwhy.knowledge.drivers import floor
from gpuwhy.model.cause import Fix
from gpuwhy.model.fact import Known
from gpuwhy.model.facts import Facts
from gpuwhy.model.repair import Action, Look, Outcome, Step, Steps, name_of
from gpuwhy.model.report import Report
from gpuwhy.reason.remedy import Chosen, steps
from gpuwhy.repair import apply
from gpuwhy.repair.installer import Installer
from gpuwhy.repair.patient import Patient, RefusedError, locked_by, patient
from gpuwhy.repair.pins import size

if TYPE_CHECKING:
    from gpuwhy.model.plan import Machine, Proposal

__all__ = ["Call", "Outcome", "RefusedError", "Repair", "Steps", "apply_steps", "prepare", "steps_of"]


class Call(msgspec.Struct, frozen=True):
    """How the steps are to be carried out."""

    environ: Mapping[str, str]
    in_place: bool = False
    into: str = ""
    seconds: float = 3600.0
    uv: str | None = None  # None: the one on PATH; "": none, pip does it


class Repair(msgspec.Struct, frozen=True):
    """Everything that is needed to begin, once nothing speaks against it."""

    patient: Patient
    steps: tuple[Step, ...]
    folder: str  # the new environment, or the target itself


def steps_of(run: app.Run, take: Mapping[str, int] = {}, only: Sequence[str] = ()) -> Steps:
    """The steps of a diagnosis; releases that have to change are chosen by the plan."""
    report, facts = run.report(), run.facts
    found = steps(report, lambda fix: _planned(fix, facts), take, only)
    interpreter = facts.target.interpreter
    python, prefix, kind = ("", "", "")
    if isinstance(interpreter, Known):
        python, prefix, kind = interpreter.value.path, interpreter.value.prefix, interpreter.value.kind
    told = tuple(_with_size(step, run) for step in found)
    return Steps(report.status, report.headline, python, prefix, kind, told, tuple(_notes(run, prefix)))


def _notes(run: app.Run, prefix: str) -> list[str]:
    if not prefix or not run.live:
        return []
    lock, half = locked_by(run.host.path(prefix)), apply.half_made(run.host.path(prefix))
    out = (
        [f"{run.host.hide(lock)} brings the old releases back at its next sync: change them there too"] if lock else []
    )
    if half:
        out.append(f"{run.host.hide(half)} is a half-made copy that an earlier call left: it can be deleted")
    return out


def _with_size(step: Step, run: app.Run) -> Step:
    """What is downloaded, as far as it is known: the size of a release that is installed already."""
    action, installed = step.action, run.facts.target.distributions
    if action is None or not action.install:
        return step
    if not action.again or not isinstance(installed, Known):
        text = "what the installer does not have yet; how much is not known beforehand"
    else:
        names = {name_of(text) for text in action.install}
        here = [
            msgspec.structs.replace(one, location=run.host.path(one.location))
            for one in installed.value
            if one.name in names
        ]
        total = size(here)
        text = f"{', '.join(action.install)}: {total / 1e6:,.0f} MB unpacked" if total else ", ".join(action.install)
    return msgspec.structs.replace(step, downloads=text)


def _planned(fix: Fix, facts: Facts) -> Chosen:
    """Where another release would do, the one that works on this machine, beside what is installed."""
    if not fix.wishes:
        return Chosen(fix)
    from gpuwhy.plan.answer import plan
    from gpuwhy.plan.machine import BadMachineError, seen
    from gpuwhy.plan.names import COMPANIONS
    from gpuwhy.plan.wishes import WishError, from_words

    try:
        machine = _as_driver(seen(facts, keep=("python",)), facts)
        beside = [name for name in COMPANIONS if name in machine.installed and "torch" in fix.wishes]
        answer = plan(from_words([*fix.wishes, *beside]), machine, least_change=True)
    except (BadMachineError, WishError) as error:
        return Chosen(fix, note=f"no plan: {error}")
    if answer.proposal is None:
        told = answer.conflict.text if answer.conflict else "nothing fits"
        return Chosen(fix, note=f"in this environment nothing else works: {told}; gpuwhy plan shows what is nearest")
    return _chosen(fix, facts, answer.proposal)


def _as_driver(machine: Machine, facts: Facts) -> Machine:
    """Where only the CUDA is known that the driver speaks (WSL), the oldest driver that runs such programs."""
    speaks = facts.driver.driver_cuda
    oldest = floor(speaks.value) if not machine.driver and isinstance(speaks, Known) else None
    return msgspec.structs.replace(machine, driver=oldest.driver) if oldest else machine


def _chosen(fix: Fix, facts: Facts, proposal: Proposal) -> Chosen:
    asked = [one for one in proposal.choices if one.asked]
    here = _releases(facts)
    if all(here.get(one.package, "").split("+")[0] == one.version for one in asked):
        return Chosen(fix)  # the plan sees nothing wrong with what is there: the cause knows better
    wanted = [*(one.requirement for one in asked), *(cap.requirement for cap in proposal.caps)]
    old = [name for name in fix.wishes if name not in {one.package for one in asked}]
    removing = tuple(dict.fromkeys((*fix.uninstall, *old)))
    text = f"Install {' and '.join(f'{one.package} {one.version}' for one in asked)}, which works here"
    made = change(facts, text, *wanted, because_of=fix.wishes[0], removing=removing, check=fix.check)
    why = "; ".join(line for one in asked[:1] for line in (_built(one.cuda), one.runs) if line)
    note = "; ".join(f"needs {part.name} {part.version}: {part.why}" for part in proposal.system)
    backend = next((one.backend for one in asked if one.backend), "")
    if backend:
        made = msgspec.structs.replace(made, command=_own_index(made.command, backend))
    return Chosen(made, why, note, backend)


def _built(cuda: str) -> str:
    return f"It is built for CUDA {cuda}" if cuda else ""


def _own_index(command: str, backend: str) -> str:
    """uv finds PyTorch's own index by the name of the build."""
    *before, last = command.split("\n")
    words = last.partition(" install ")[2]
    python = last.split(" -m pip")[0] if " -m pip" in last else ""
    target = f" --python {python}" if python else ""
    return "\n".join([*before, f"uv pip install{target} --torch-backend={backend} {words}"])


def prepare(run: app.Run, found: Steps, call: Call, only: Sequence[str] = ()) -> Repair:
    """Everything that speaks against beginning, said before anything is touched; raises RefusedError."""
    if not run.live:
        raise RefusedError("the host is not this running machine: its fix can be read here and carried out there")
    mine = [step for step in found.steps if step.by == "gpuwhy" and (step.sure or only)]
    if not mine:
        perhaps = next((s.causes[0] for s in found.steps if s.by == "gpuwhy"), "")
        hint = (
            f"; {perhaps} is only possible: gpuwhy fix {perhaps} --apply carries it out all the same" if perhaps else ""
        )
        raise RefusedError(f"there is no step that gpuwhy can carry out in the environment{hint}")
    target = patient(run.host, run.facts, call.in_place)
    folder = target.prefix if call.in_place else apply.free_name(target.prefix, call.into)
    return Repair(target, tuple(mine), folder)


def apply_steps(run: app.Run, repair: Repair, call: Call, say: Callable[[str], None]) -> Outcome:
    """Carry the steps out, look again, and compare."""
    start, before = time.monotonic(), _look(run.report())
    installer = Installer(call.environ, call.seconds, say, call.uv)
    actions = [_real(step, run) for step in repair.steps]
    outcome = Outcome((), repair.folder, repair.patient.python, call.in_place, before, None)
    try:
        if call.in_place:
            made = apply.in_place(repair.patient, actions, installer)
        else:
            made = apply.into_copy(repair.patient, actions, installer, repair.folder)
        outcome = msgspec.structs.replace(
            outcome, done=tuple(s.number for s in repair.steps), python=made.python, undo=made.undo, use=made.use
        )
        say("$ gpuwhy check --python " + made.python)
        outcome = _compared(run, made, call, outcome, bool(installer.uv))
    except apply.BrokenError as error:
        outcome = msgspec.structs.replace(outcome, failed=str(error), undo=error.undo, interrupted=error.interrupted)
    except KeyboardInterrupt:
        text = "interrupted while looking again; the steps themselves are carried out"
        outcome = msgspec.structs.replace(outcome, failed=text, interrupted=True)
    return msgspec.structs.replace(outcome, took=round(time.monotonic() - start, 1))


def _compared(run: app.Run, made: apply.Made, call: Call, outcome: Outcome, by_uv: bool) -> Outcome:
    """The second look, as in a shell where the environment is activated."""
    host = app.inspect_host(dict(call.environ), _front(call.environ, made.path))
    again = app.Run(host, msgspec.structs.replace(run.options, python=made.python))
    changed, new = _changed(run.facts, again.facts)
    undo = made.undo
    if call.in_place and not by_uv and new:
        undo = (f"{made.python} -m pip uninstall -y {' '.join(new)}", *undo)
    return msgspec.structs.replace(outcome, after=_look(again.report()), changed=changed, undo=undo)


def _real(step: Step, run: app.Run) -> Action:
    assert step.action is not None
    folders = tuple(run.host.path(folder) for folder in step.action.folders)
    return msgspec.structs.replace(step.action, folders=folders)


def _front(environ: Mapping[str, str], path: Mapping[str, str]) -> dict[str, str]:
    return {name: ":".join(filter(None, (value, environ.get(name, "")))) for name, value in path.items()}


def _look(report: Report) -> Look:
    names = (f"{c.id} ({c.subject})" if c.subject else c.id for c in report.causes)
    return Look(report.status, report.headline, tuple(names))


def _changed(before: Facts, after: Facts) -> tuple[tuple[str, ...], list[str]]:
    """Releases that differ, in words, and the names of those that are new."""
    old, new = _releases(before), _releases(after)
    told = [f"{name} {old.get(name, '–')} → {new.get(name, '–')}" for name in sorted({*old, *new})]
    same = {f"{name} {version} → {version}" for name, version in old.items()}
    return tuple(text for text in told if text not in same), sorted(set(new) - set(old))


def _releases(facts: Facts) -> dict[str, str]:
    found, interpreter = facts.target.distributions, facts.target.interpreter
    if not isinstance(found, Known) or not isinstance(interpreter, Known):
        return {}
    prefix = interpreter.value.prefix.rstrip("/") + "/"
    return {one.name: one.version for one in reversed(found.value) if one.location.startswith(prefix)}
