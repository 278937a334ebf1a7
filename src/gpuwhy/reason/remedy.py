"""Remedy: of the fixes that the causes offer, those to carry out, as numbered steps."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec

from gpuwhy.model.cause import Fix
from gpuwhy.model.repair import Action, Step, name_of
from gpuwhy.model.report import Report, Shown
from gpuwhy.model.threshold import FOUND

_SHELL = ("export ", "unset ", "set ")


class Chosen(msgspec.Struct, frozen=True):
    """A fix that was chosen, as the plan has it: with releases for this machine where it asks for others."""

    fix: Fix
    why: str = ""
    note: str = ""
    backend: str = ""
    apart: bool = False  # no one environment holds it beside what is there


Planned = Callable[[Fix], Chosen]


def steps(report: Report, planned: Planned, take: Mapping[str, int], only: Sequence[str] = ()) -> tuple[Step, ...]:
    """A step for every fix that is needed; `take` chooses the n-th fix of a cause, `only` names the causes."""
    out: list[Step] = []
    for cause in report.causes:
        if only and cause.id not in only:
            continue
        for fix in chosen(cause.fixes, take.get(cause.id, 0)):
            step = _step(len(out) + 1, cause, fix, planned)
            same = next((n for n, one in enumerate(out) if _same(one, step)), None)
            if same is None:
                out.append(_after(out, step))
            else:
                out[same] = msgspec.structs.replace(out[same], causes=_both(out[same].causes, step.causes))
    return tuple(out)


def chosen(fixes: Sequence[Fix], number: int = 0) -> list[Fix]:
    """The fix with that number; else all parts where several are needed together; else the first real remedy."""
    if number:
        return list(fixes[number - 1 : number])
    parts = [fix for fix in fixes if fix.role == "part"]
    return parts or [fix for fix in fixes if fix.role == "remedy"][:1] or list(fixes[:1])


def _step(number: int, cause: Shown, fix: Fix, planned: Planned) -> Step:
    plan = planned(fix)
    done = plan.fix
    action = _action(done, plan.backend)
    return Step(
        number=number,
        causes=(cause.id,),
        subject=cause.subject,
        sure=cause.confidence >= FOUND and not cause.with_gpu,
        text=_alone(done.text),
        why=". ".join(filter(None, (cause.said, plan.why))),
        command=done.command,
        by="gpuwhy" if action and done.safe and not (done.root or done.reboot) else "you",
        root=done.root,
        reboot=done.reboot,
        check=done.check,
        undo=done.undo or _undo(done),
        action=action,
        alternatives=tuple(other.text for other in cause.fixes if other is not fix and other.role == "remedy"),
        note=plan.note,
        apart=plan.apart,
        moves=bool(fix.wishes and done.install),
    )


def _alone(text: str) -> str:
    """The words of a fix that stands by itself: "Or stay with cuDNN 8" is "Stay with cuDNN 8"."""
    rest = text.removeprefix("Or ")
    return rest[:1].upper() + rest[1:] if rest != text else text


def _action(fix: Fix, backend: str) -> Action | None:
    if not fix.install and not fix.uninstall and not fix.folders and not fix.anew:
        return None
    return Action(fix.install, fix.uninstall, fix.again, fix.upgrade, fix.folders, backend, fix.anew, fix.until)


def _undo(fix: Fix) -> str:
    """Of a change in a copy of the environment, and of what a shell alone remembers."""
    if fix.install and fix.safe:
        return "delete the copy that --apply makes; --in-place prints the command that brings the old state back"
    return "open another shell: this one alone remembers it" if fix.command.startswith(_SHELL) else ""


def _same(one: Step, other: Step) -> bool:
    return (one.text, one.command, one.action) == (other.text, other.command, other.action)


def _both(some: tuple[str, ...], others: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*some, *others)))


def _after(earlier: Sequence[Step], step: Step) -> Step:
    """A step waits for the next check where an earlier one changes what it installs, or the very thing it is about."""
    mine = set(requirements(step))
    for one in (one for one in earlier if one.by == step.by == "gpuwhy"):
        clash = {name for name, text in requirements(one) if any(n == name and t != text for n, t in mine)}
        changed = ", ".join(sorted(clash)) if clash else _moves(one) if one.subject == step.subject else ""
        if changed:
            note = f"step {one.number} changes {changed}{' too' if clash else ''}: check again before this one"
            return msgspec.structs.replace(step, by="you", note="; ".join(filter(None, (step.note, note))))
    return step


def _moves(step: Step) -> str:
    """The framework that a step replaces by another release, whose libraries are others; "" where it does not."""
    return step.subject if step.subject and step.moves else ""


def requirements(step: Step) -> Iterator[tuple[str, str]]:
    """Name and requirement of everything that a step installs."""
    for text in step.action.install if step.action else ():
        yield name_of(text), text


def doable(found: Sequence[Step], only: Sequence[str] = (), brought: Collection[str] = ()) -> list[Step]:
    """The steps that gpuwhy carries out: of causes that were found, that are named, or that a repair `brought`."""
    return [
        step
        for step in found
        if step.by == "gpuwhy" and (step.sure or only or any(cause in brought for cause in step.causes))
    ]


def why_none(found: Sequence[Step]) -> str:
    """Why there is nothing to carry out."""
    apart = next((step.note for step in found if step.apart), "")
    if apart:
        return f"{apart}. Nothing was changed; the commands are printed for you"
    perhaps = next((step.causes[0] for step in found if step.by == "gpuwhy"), "")
    text = "there is no step that gpuwhy can carry out in the environment, and nothing was changed"
    if not perhaps:
        return f"{text}: the steps are printed for you"
    return f"{text}; {perhaps} is only possible: gpuwhy fix {perhaps} --apply carries it out all the same"
