"""Wires what follows a diagnosis: its fixes as steps, the repair, and the second look."""

from __future__ import annotations

import contextlib
import shlex
import time
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from gpuwhy import app
from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import Imported
from gpuwhy.model.repair import Action, Compared, Condition, Outcome, Steps, name_of
from gpuwhy.reason.compare import changed, compare, look, told_worse
from gpuwhy.reason.picture import picture_here
from gpuwhy.reason.remedy import doable, steps, why_none
from gpuwhy.repair import apply, condition
from gpuwhy.repair.begin import Call, Repair, begun, front, led_along, notes, real, settled, with_size
from gpuwhy.repair.belongings import bring
from gpuwhy.repair.candidates import candidates
from gpuwhy.repair.child import FailedError
from gpuwhy.repair.claim import held, sweep
from gpuwhy.repair.imports import tried
from gpuwhy.repair.installer import Installer
from gpuwhy.repair.metadata import fingerprint
from gpuwhy.repair.patient import Patient, RefusedError, patient
from gpuwhy.settling import is_placed, planned

__all__ = ["Call", "Outcome", "RefusedError", "Repair", "Steps", "apply_steps", "nothing_to_do", "prepare", "steps_of"]


Say = Callable[[str], None]
ROUNDS = 4
"""How often a second look is followed by another repair: a file, a build with CUDA, the libraries that it opens."""


def steps_of(run: app.Run, take: Mapping[str, int] = {}, only: Sequence[str] = ()) -> Steps:
    """The steps of a diagnosis; releases that have to change are chosen by the plan."""
    report, facts, interpreter = run.report(), run.facts, run.facts.target.interpreter
    found = steps(report, lambda fix: planned(fix, facts), take, only)
    python, prefix, kind = ("", "", "")
    if isinstance(interpreter, Known):
        python, prefix, kind = interpreter.value.path, interpreter.value.prefix, interpreter.value.kind
    told = tuple(with_size(step, run.host, facts) for step in found)
    said = notes(run.host, prefix) if found and prefix and run.live else []
    said += [report.not_tried] if report.not_tried else []
    return Steps(report.status, report.headline, python, prefix, kind, told, tuple(said))


def nothing_to_do(run: app.Run, found: Steps, only: Sequence[str] = ()) -> str:
    """Why gpuwhy carries out none of the steps; "" where it can begin."""
    return why_none(found.steps) if run.live and not doable(found.steps, only) else ""


def prepare(run: app.Run, found: Steps, call: Call, only: Sequence[str] = ()) -> Repair:
    """Everything that speaks against beginning, said before anything is touched; raises RefusedError."""
    if not run.live:
        raise RefusedError("the host is not this running machine: its fix can be read here and carried out there")
    mine = doable(found.steps, only)
    if not mine:
        raise RefusedError(why_none(found.steps))
    return begun(run.host, run.facts, mine, call, is_placed)


def _probing(run: app.Run) -> app.Run:
    """The same run with the stages of a probe, where there is a GPU to try them on and they were not asked for."""
    if run.options.probe or run.as_if or not isinstance(gpu_present(run.facts), Known):
        return run
    return app.Run(app.live_host(runs=True), replace(run.options, probe="gentle"))


def apply_steps(run: app.Run, repair: Repair, call: Call, say: Say) -> Outcome:
    """Carry the steps out, look again, and compare; what is worse anywhere is taken back."""
    start = time.monotonic()
    work = _Work(_probing(run), repair, call, say)
    try:
        outcome = work.carried_out()
    except apply.BrokenError as error:
        outcome = replace(work.outcome, failed=str(error), undo=error.undo, interrupted=error.interrupted)
    except KeyboardInterrupt:
        outcome = replace(work.outcome, failed=_INTERRUPTED, interrupted=True)
    return replace(outcome, took=round(time.monotonic() - start, 1))


def _joined(old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """Lists of folders that several repairs want, the newest first, each folder once."""
    names = dict.fromkeys((*old, *new))
    parts = {name: f"{new.get(name, '')}:{old.get(name, '')}".split(":") for name in names}
    return {name: ":".join(dict.fromkeys(filter(None, some))) for name, some in parts.items()}


_UNFIT = "install.inconsistent"


def _found(action: Action, failing: Imported) -> str:
    """What one of several tries came to, in words."""
    name = action.install[0]
    what = f"{name_of(name)} is brought to its newest release" if action.upgrade else f"{name} is taken"
    return f"{what}: the first of several that were tried with which {failing.deed} works"


_INTERRUPTED = "interrupted before it was verified; a copy was removed again, a change in place is there"
_CHANGED = (
    "{} was changed by somebody else while it was copied: nothing can be said of such a copy, and it was removed; "
    "try again once that has ended"
)


def _condition(run: app.Run, one: Patient, modules: Sequence[str], environ: Mapping[str, str]) -> Condition:
    report = run.report()
    return condition.condition(run.facts, report, picture_here(run.facts, report), one, modules, environ)


class _Work:
    """One repair from its first look to its last."""

    def __init__(self, run: app.Run, repair: Repair, call: Call, say: Say) -> None:
        self.run, self.repair, self.call, self.say = run, repair, call, say
        self.patient = repair.patient
        self.installer = Installer(call.environ, call.seconds, say, call.uv)
        self.environ: Mapping[str, str] = call.environ  # as it has to be for what was made
        self.actions = [real(step, run.host) for step in repair.steps]
        self.about = {cause for step in repair.steps for cause in step.causes}
        before = look(run.report(), self.about)
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
        modules = condition.modules_of(condition.gpu_packages(self.run.facts, self.patient))
        self.say(f"importing {', '.join(modules) or 'nothing'} as it is now")
        return _condition(self.run, self.patient, modules, self.call.environ)

    def _made(self) -> apply.Made:
        if self.call.in_place:
            made = apply.in_place(self.patient, self.actions, self.installer, self.repair.gpu)
        else:
            named = self.repair.folder_named
            made = apply.into_copy(self.patient, self.actions, self.installer, named, self.repair.gpu)
            self._belongings(made)
        self.environ = led_along(self.call.environ, self.patient.prefix, made.environment)
        made = self._without_the_old(made)
        if self.environ.get("LD_LIBRARY_PATH") != self.call.environ.get("LD_LIBRARY_PATH"):
            named = shlex.quote(self.environ["LD_LIBRARY_PATH"])
            made = replace(made, use=(*made.use, f"export LD_LIBRARY_PATH={named}    # it names the old one's folders"))
        done = tuple(step.number for step in self.repair.steps)
        self.outcome = replace(
            self.outcome, environment=made.environment, done=done, python=made.python, undo=made.undo, use=made.use
        )
        return made

    def _without_the_old(self, made: apply.Made) -> apply.Made:
        """As in a new shell: a variable is gone that is at fault and that the old activation set in this one."""
        seen = value_or(self.run.facts.environment.variables, ())
        host, prefix = self.run.host, f"{self.patient.prefix}/"
        old = [one.name for one in seen if one.faults and host.path(one.set_in or "/").startswith(prefix)]
        old = [name for name in old if name in self.environ and not self.call.in_place]
        self.environ = {name: value for name, value in self.environ.items() if name not in old}
        lines = (f"unset {name}    # set by the old activation in this shell; a new one has it not" for name in old)
        return replace(made, use=(*lines, *made.use))

    def _belongings(self, made: apply.Made) -> None:
        """What the old one has beside its packages; without it a copy is no stand-in for its user."""
        host, facts = self.run.host, self.run.facts
        led = {cause for step in self.repair.steps if step.action and step.action.folders for cause in step.causes}
        about = [cause for cause in self.about if cause not in led]  # what lacked a folder blames none that is there
        try:
            told = bring(host, facts, self.patient, made.environment, about, self.call.environ)
        except OSError as error:
            told = f"not everything: {error}"
        if told:
            self.say(f"carried over: {told}")

    def _verified(self, made: apply.Made, was: Condition) -> Outcome:
        """The second look, as in a shell where the environment is activated, and what follows from it."""
        made, again = self._further(made, self._second_look(made))
        if made.claim and self._tried_others(made, again):
            made, again = self._further(made, self._second_look(made))
        old, new = self.run.facts.target.releases, again.facts.target.releases
        added = sorted(set(new) - set(old))
        self.outcome = replace(
            self.outcome,
            after=look(again.report(), self.about),
            changed=changed(old, new),
            compared=self._compared(again, made, was),
        )
        if self.outcome.worse:
            return self._taken_back(made, added)
        if made.claim:
            made.claim.finish()
        elif added and not self.installer.uv:
            undo = (f"{made.python} -m pip uninstall -y {' '.join(added)}", *made.undo)
            self.outcome = replace(self.outcome, undo=undo)
        return self.outcome

    def _second_look(self, made: apply.Made) -> app.Run:
        self.say("$ gpuwhy check --python " + made.python)
        host = app.inspect_host(dict(self.environ), front(self.environ, made.path), runs=True)
        return app.Run(host, replace(self.run.options, python=made.python), elsewhere=self.run.elsewhere)

    def _further(self, made: apply.Made, again: app.Run) -> tuple[apply.Made, app.Run]:
        """What only came to light now, mended in the same go; what cannot be begun is left for the report."""
        for _ in range(ROUNDS):
            mine = doable(steps_of(again).steps, brought=self._brought(again))
            steps = [step for step in mine if real(step, again.host) not in self.actions]
            if not steps:
                break
            self.say(f"that brought to light: {'; '.join(step.text for step in steps)}")
            actions = [real(step, again.host) for step in steps]
            one = patient(again.host, again.facts, in_place=True)
            try:
                more = apply.in_place(one, actions, self.installer, settled(one, is_placed), way_back=False)
            except apply.BrokenError as error:
                if not error.untouched:
                    raise
                self.say(f"left for later: {error}")
                break
            self.actions += actions
            self.about |= {cause for step in steps for cause in step.causes}
            made = replace(made, path=_joined(made.path, more.path), use=(*made.use, *more.use))
            told = (*self.outcome.then, *(step.text for step in steps))
            self.outcome = replace(self.outcome, then=told, use=made.use)
            again = self._second_look(made)
        return made, again

    def _tried_others(self, made: apply.Made, again: app.Run) -> bool:
        """Other releases, one after another, where the import that it is about still fails; whether one of them helps.

        In a copy alone, which is a place to try: each starts from the releases that were there at first.
        """
        failing = self._still_failing(again)
        if failing is None:
            return False
        facts, one = again.facts, patient(again.host, again.facts, in_place=True)
        before, now = self.run.facts.target.releases, facts.target.releases
        moved = {name for action in self.actions for name in map(name_of, action.install) if name in before}
        staying = [framework.distribution for framework in value_or(facts.target.frameworks, ())]
        for action in candidates(failing, before, staying):
            if action in self.actions:
                continue
            asked = name_of(action.install[0])
            moved.add(asked)
            back = tuple(f"{name}=={before[name]}" for name in sorted(moved - {asked}))
            self.say(f"{failing.deed} still fails; trying {action.install[0]}")
            if self._goes_well(one, replace(action, install=(*action.install, *back)), failing, made):
                self.outcome = replace(self.outcome, instead=_found(action, failing))
                self.actions.append(action)
                return True
        self._put(one, Action(tuple(f"{name}=={now[name]}" for name in sorted(moved) if name in now)))
        return False

    def _still_failing(self, again: app.Run) -> Imported | None:
        """The import that still fails by releases that do not go together."""
        if not any(cause.id == _UNFIT and cause.found for cause in again.report().causes) or _UNFIT not in self.about:
            return None
        found = [one for one in value_or(again.facts.target.imports, ()) if one.ended == "raised" and not one.blame]
        return next((one for one in found if one.module.replace(".", "_").isidentifier()), None)

    def _put(self, one: Patient, action: Action) -> bool:
        """Whether releases could be installed into the copy."""
        try:
            apply.in_place(one, [action], self.installer, settled(one, is_placed), way_back=False)
        except apply.BrokenError as error:
            if error.interrupted:
                raise
            self.say(f"not to be had: {error}")
            return False
        return True

    def _goes_well(self, one: Patient, action: Action, failing: Imported, made: apply.Made) -> bool:
        environ = {**self.environ, **front(self.environ, made.path)}
        return self._put(one, action) and not tried(made.python, [failing.module], environ)[failing.module]

    def _brought(self, again: app.Run) -> frozenset[str]:
        """The causes of this repair's own making: with a GPU they would show, and they were not there before."""
        before = {one.id for one in self.run.report().causes}
        return frozenset(one.id for one in again.report().causes if one.with_gpu and one.id not in before)

    def _compared(self, again: app.Run, made: apply.Made, was: Condition) -> tuple[Compared, ...]:
        after = patient(again.host, again.facts, in_place=True)
        here = {one.name for one in after.distributions}
        gone = condition.removed(self.run.facts, self.patient, self.actions, here)
        modules = [name for name in was.imports if name not in gone]
        self.say(f"importing {', '.join(modules) or 'nothing'} after the change")
        environ = {**self.environ, **front(self.environ, made.path)}
        now = _condition(again, after, modules, environ)
        return compare(was, now, gone, condition.meant(self.run.facts, self.patient, self.actions))

    def _taken_back(self, made: apply.Made, new: Sequence[str]) -> Outcome:
        """A fix that makes something worse is none: the copy goes, or the old state comes back."""
        text, prefix = told_worse(self.outcome.worse), self.patient.prefix
        if made.claim:
            state = "was removed again" if made.claim.give_up() else "could not be removed: delete it yourself"
            return replace(self.outcome, failed=f"{text}. {prefix} is as it was; the copy {state}", undo=(), use=())
        try:
            apply.take_back(self.patient, made, self.installer, new)
        except FailedError as error:
            return replace(self.outcome, failed=f"{text}, and it could not be taken back: {error}")
        return replace(self.outcome, failed=f"{text}. It was taken back: {prefix} has its releases again", use=())
