"""Wires what follows a diagnosis: its fixes as steps, the repair, and the second look."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from gpuwhy import app, verifying
from gpuwhy.model.fact import Known
from gpuwhy.model.facts import Facts
from gpuwhy.model.repair import Action, Compared, Condition, Look, Outcome, Step, Steps, name_of
from gpuwhy.model.report import Report
from gpuwhy.reason.compare import compare
from gpuwhy.reason.remedy import steps
from gpuwhy.repair import apply
from gpuwhy.repair.child import FailedError
from gpuwhy.repair.claim import being_changed, half_made, held, sweep
from gpuwhy.repair.installer import Installer
from gpuwhy.repair.metadata import fingerprint
from gpuwhy.repair.patient import Patient, RefusedError, locked_by, patient
from gpuwhy.repair.pins import size
from gpuwhy.settling import is_placed, planned, releases

__all__ = ["Call", "Outcome", "RefusedError", "Repair", "Steps", "apply_steps", "prepare", "steps_of"]


Say = Callable[[str], None]
ROUNDS = 2
"""How often a second look is followed by another repair: a build with CUDA, then the libraries that it opens."""


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
    folder: str  # the new environment as it will probably be called, or the target itself
    folder_named: str = ""  # --into
    gpu: frozenset[str] = frozenset()  # packages that the plan has settled: the installer moves none of them


def steps_of(run: app.Run, take: Mapping[str, int] = {}, only: Sequence[str] = ()) -> Steps:
    """The steps of a diagnosis; releases that have to change are chosen by the plan."""
    report, facts = run.report(), run.facts
    found = steps(report, lambda fix: planned(fix, facts), take, only)
    interpreter = facts.target.interpreter
    python, prefix, kind = ("", "", "")
    if isinstance(interpreter, Known):
        python, prefix, kind = interpreter.value.path, interpreter.value.prefix, interpreter.value.kind
    told = tuple(_with_size(step, run) for step in found)
    return Steps(report.status, report.headline, python, prefix, kind, told, tuple(_notes(run, prefix)))


def _notes(run: app.Run, prefix: str) -> list[str]:
    if not prefix or not run.live:
        return []
    lock, left = locked_by(run.host.path(prefix)), half_made(run.host.path(prefix))
    out = (
        [f"{run.host.hide(lock)} brings the old releases back at its next sync: change them there too"] if lock else []
    )
    for half in left[:1]:
        out.append(f"{run.host.hide(half)} is a half-made copy that an earlier call left: the next --apply removes it")
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
        here = [replace(one, location=run.host.path(one.location)) for one in installed.value if one.name in names]
        total = size(here)
        text = f"{', '.join(action.install)}: {total / 1e6:,.0f} MB unpacked" if total else ", ".join(action.install)
    return replace(step, downloads=text)


def prepare(run: app.Run, found: Steps, call: Call, only: Sequence[str] = ()) -> Repair:
    """Everything that speaks against beginning, said before anything is touched; raises RefusedError."""
    if not run.live:
        raise RefusedError("the host is not this running machine: its fix can be read here and carried out there")
    mine = [step for step in found.steps if step.by == "gpuwhy" and (step.sure or only)]
    apart = next((step.note for step in found.steps if step.apart), "")
    if not mine and apart:
        raise RefusedError(f"{apart}. Nothing was changed; gpuwhy fix without --apply prints the commands")
    if not mine:
        perhaps = next((s.causes[0] for s in found.steps if s.by == "gpuwhy"), "")
        hint = (
            f"; {perhaps} is only possible: gpuwhy fix {perhaps} --apply carries it out all the same" if perhaps else ""
        )
        raise RefusedError(f"there is no step that gpuwhy can carry out in the environment{hint}")
    anew = any(step.action and step.action.anew for step in mine)
    target = patient(run.host, run.facts, call.in_place, anew)
    folder = target.prefix if call.in_place else apply.free_name(target.prefix, call.into)
    if being_changed(target.prefix):
        raise RefusedError(f"another gpuwhy fix is changing {target.prefix} at this moment: wait until it has ended")
    return Repair(target, tuple(mine), folder, call.into, _settled(target))


def _settled(one: Patient) -> frozenset[str]:
    return frozenset(d.name for d in one.distributions if is_placed(d.name))


def apply_steps(run: app.Run, repair: Repair, call: Call, say: Say) -> Outcome:
    """Carry the steps out, look again, and compare; what is worse anywhere is taken back."""
    start = time.monotonic()
    work = _Work(verifying.probing(run), repair, call, say)
    try:
        outcome = work.carried_out()
    except apply.BrokenError as error:
        outcome = replace(work.outcome, failed=str(error), undo=error.undo, interrupted=error.interrupted)
    except KeyboardInterrupt:
        outcome = replace(work.outcome, failed=_INTERRUPTED, interrupted=True)
    return replace(outcome, took=round(time.monotonic() - start, 1))


_INTERRUPTED = "interrupted before it was verified; a copy was removed again, a change in place is there"
_CHANGED = (
    "{} was changed by somebody else while it was copied: nothing can be said of such a copy, and it was removed; "
    "try again once that has ended"
)


class _Work:
    """One repair from its first look to its last."""

    def __init__(self, run: app.Run, repair: Repair, call: Call, say: Say) -> None:
        self.run, self.repair, self.call, self.say = run, repair, call, say
        self.patient = repair.patient
        self.installer = Installer(call.environ, call.seconds, say, call.uv)
        self.actions = [_real(step, run) for step in repair.steps]
        self.about = {cause for step in repair.steps for cause in step.causes}
        before = _look(run.report(), self.about)
        self.outcome = Outcome((), repair.folder, self.patient.python, call.in_place, before, None)

    def carried_out(self) -> Outcome:
        """What came of it; in place, nobody else may repair meanwhile."""
        one = self.patient
        with held(one.prefix) if self.call.in_place else contextlib.nullcontext():
            for gone in sweep(one.prefix):
                self.say(f"removed {gone}, which an earlier call left half-made")
            was, seen = self._before(), fingerprint(one.distributions)
            made = self._made()
            try:
                if made.claim and fingerprint(one.distributions) != seen:
                    raise apply.BrokenError(_CHANGED.format(one.prefix))
                return self._verified(made, was)
            except BaseException:
                if made.claim:
                    made.claim.give_up()
                raise

    def _before(self) -> Condition:
        modules = verifying.modules_of(verifying.gpu_packages(self.run.facts, self.patient))
        self.say(f"importing {', '.join(modules) or 'nothing'} as it is now")
        return verifying.condition(self.run.facts, self.run.report(), self.patient, modules, self.call.environ)

    def _made(self) -> apply.Made:
        if self.call.in_place:
            made = apply.in_place(self.patient, self.actions, self.installer, self.repair.gpu)
        else:
            named = self.repair.folder_named
            made = apply.into_copy(self.patient, self.actions, self.installer, named, self.repair.gpu)
        done = tuple(step.number for step in self.repair.steps)
        self.outcome = replace(
            self.outcome, environment=made.environment, done=done, python=made.python, undo=made.undo, use=made.use
        )
        return made

    def _verified(self, made: apply.Made, was: Condition) -> Outcome:
        """The second look, as in a shell where the environment is activated, and what follows from it."""
        made, again = self._further(made, self._second_look(made))
        changed, new = _changed(self.run.facts, again.facts)
        self.outcome = replace(
            self.outcome,
            after=_look(again.report(), self.about),
            changed=changed,
            compared=self._compared(again, made, was),
        )
        if self.outcome.worse:
            return self._taken_back(made, new)
        if made.claim:
            made.claim.finish()
        elif new and not self.installer.uv:
            undo = (f"{made.python} -m pip uninstall -y {' '.join(new)}", *made.undo)
            self.outcome = replace(self.outcome, undo=undo)
        return self.outcome

    def _second_look(self, made: apply.Made) -> app.Run:
        self.say("$ gpuwhy check --python " + made.python)
        host = app.inspect_host(dict(self.call.environ), _front(self.call.environ, made.path))
        return app.Run(host, replace(self.run.options, python=made.python), elsewhere=self.run.elsewhere)

    def _further(self, made: apply.Made, again: app.Run) -> tuple[apply.Made, app.Run]:
        """What only came to light now, mended in the same go; what cannot be begun is left for the report."""
        for _ in range(ROUNDS):
            mine = [s for s in steps_of(again).steps if s.by == "gpuwhy" and s.sure]
            steps = [step for step in mine if _real(step, again) not in self.actions]
            if not steps:
                break
            self.say(f"that brought to light: {'; '.join(step.text for step in steps)}")
            actions = [_real(step, again) for step in steps]
            one = patient(again.host, again.facts, in_place=True)
            try:
                more = apply.in_place(one, actions, self.installer, _settled(one), way_back=False)
            except apply.BrokenError as error:
                if not error.untouched:
                    raise
                self.say(f"left for later: {error}")
                break
            self.actions += actions
            self.about |= {cause for step in steps for cause in step.causes}
            made = replace(made, path={**made.path, **more.path}, use=(*made.use, *more.use))
            told = (*self.outcome.then, *(step.text for step in steps))
            self.outcome = replace(self.outcome, then=told, use=made.use)
            again = self._second_look(made)
        return made, again

    def _compared(self, again: app.Run, made: apply.Made, was: Condition) -> tuple[Compared, ...]:
        after = patient(again.host, again.facts, in_place=True)
        here = {one.name for one in after.distributions}
        gone = verifying.removed(self.run.facts, self.patient, self.actions, here)
        modules = [name for name in was.imports if name not in gone]
        self.say(f"importing {', '.join(modules) or 'nothing'} after the change")
        environ = {**self.call.environ, **_front(self.call.environ, made.path)}
        now = verifying.condition(again.facts, again.report(), after, modules, environ)
        return compare(was, now, gone, verifying.meant(self.run.facts, self.patient, self.actions))

    def _taken_back(self, made: apply.Made, new: Sequence[str]) -> Outcome:
        """A fix that makes something worse is none: the copy goes, or the old state comes back."""
        first, others = self.outcome.worse[0], len(self.outcome.worse) - 1
        text = f"the fix failed: {first.what}, before: {first.before}; with it: {first.after}"
        text += f", and {others} more got worse" if others else ""
        prefix = self.patient.prefix
        if made.claim:
            state = "was removed again" if made.claim.give_up() else "could not be removed: delete it yourself"
            return replace(self.outcome, failed=f"{text}. {prefix} is as it was; the copy {state}", undo=(), use=())
        try:
            apply.take_back(self.patient, made, self.installer, new)
        except FailedError as error:
            return replace(self.outcome, failed=f"{text}, and it could not be taken back: {error}")
        return replace(self.outcome, failed=f"{text}. It was taken back: {prefix} has its releases again", use=())


def _real(step: Step, run: app.Run) -> Action:
    assert step.action is not None
    folders = tuple(run.host.path(folder) for folder in step.action.folders)
    return replace(step.action, folders=folders)


def _front(environ: Mapping[str, str], path: Mapping[str, str]) -> dict[str, str]:
    return {name: ":".join(filter(None, (value, environ.get(name, "")))) for name, value in path.items()}


def _look(report: Report, about: Collection[str]) -> Look:
    """A diagnosis in short; what only a GPU would bring to light counts where the steps are about it."""
    seen = [c for c in report.causes if not c.with_gpu or c.id in about]
    names = (f"{c.id} ({c.subject})" if c.subject else c.id for c in seen)
    later = bool(report.causes) and all(c.with_gpu for c in report.causes)  # nothing is wrong here, without a GPU
    return Look("unknown" if later else report.status, report.headline, tuple(names))


def _changed(before: Facts, after: Facts) -> tuple[tuple[str, ...], list[str]]:
    """Releases that differ, in words, and the names of those that are new."""
    old, new = releases(before), releases(after)
    told = [f"{name} {old.get(name, '–')} → {new.get(name, '–')}" for name in sorted({*old, *new})]
    same = {f"{name} {version} → {version}" for name, version in old.items()}
    return tuple(text for text in told if text not in same), sorted(set(new) - set(old))
