"""The steps of an answer: the first remedy of each cause that changes anything, in order."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from gpuwhy.advise.already import MANAGERS, changes, changes_nothing
from gpuwhy.advise.remedy import Action, Install, Remove
from gpuwhy.answer.answer import FOUND, Answer, CauseFound, Fix, Status
from gpuwhy.answer.tree import Language
from gpuwhy.facts.environment import Python
from gpuwhy.facts.fact import value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.fix.outcome import Outcome

KINDS = ("venv", "conda")
"""Environments that belong to one user; others are never changed."""


class Change(msgspec.Struct, frozen=True):
    """What a step changes in the environment, summed up; `do` of the step says it in order."""

    install: tuple[str, ...] = ()
    uninstall: tuple[str, ...] = ()
    again: bool = False  # reinstalled, past every cache
    upgrade: bool = False
    folders: tuple[str, ...] = ()  # of version 0
    backend: str = ""  # of version 0
    index: str = ""


class Step(msgspec.Struct, frozen=True):
    """One remedy, and who can carry it out."""

    number: int
    causes: tuple[str, ...]
    subject: str
    sure: bool  # False: the cause is only possible
    text: str
    why: str
    command: str
    by: Literal["gpuwhy", "you"]
    root: bool = False
    reboot: bool = False
    downloads: str = ""
    check: str = ""
    undo: str = ""
    action: Change | None = None
    alternatives: tuple[str, ...] = ()
    note: str = ""
    do: tuple[Action, ...] = ()
    worked_if: str = ""
    language: Language = "sh"


class Target(msgspec.Struct, frozen=True):
    """The Python environment under diagnosis; empty where there is none."""

    python: str = ""
    prefix: str = ""
    kind: str = ""


class Steps(msgspec.Struct, frozen=True, tag_field="schema", tag="gpuwhy.fix/1"):
    """What `gpuwhy fix --json` prints: fields may be added, never renamed."""

    status: Status
    headline: str
    environment: Target
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()
    applied: Outcome | None = None
    here: bool = True  # False: of another machine's recording or files


def steps_of(
    answer: Answer, facts: Facts, take: Mapping[str, int] | None = None, only: Sequence[str] = ()
) -> Steps:
    """The steps of `check`'s answer; `take` chooses the n-th remedy of a cause."""
    python: Python | None = value_or(facts.environment.python, None)
    target = Target(python.path, python.prefix, python.kind) if python else Target()
    causes = [one for one in answer.causes if one.id in only] if only else list(answer.causes)
    sure = [one for one in causes if one.confidence >= FOUND]
    steps: list[Step] = []
    notes: list[str] = []
    for cause in causes if only or not sure else sure:
        number = (take or {}).get(cause.id, 0)
        changing = (one for one in cause.fixes if not changes_nothing(one.action, facts))
        chosen = cause.fixes[number - 1] if number else next(changing, None)
        if chosen is None:
            none = "check again after the steps"
            known = "what is known to help is in place already"
            notes += [f"{cause.id}: {known if cause.fixes else none}"]
            continue
        _add(steps, _step(cause, chosen, target))
    numbered = (replace(one, number=number) for number, one in enumerate(steps, 1))
    status, head = answer.status, answer.headline
    return Steps(status, head, target, tuple(numbered), tuple(dict.fromkeys(notes)))


def _step(cause: CauseFound, fix: Fix, target: Target) -> Step:
    change = change_of(fix.action)
    doable = change is not None and target.kind in KINDS and not fix.root
    return Step(
        number=0,
        causes=(cause.id,),
        subject=cause.subject,
        sure=cause.confidence >= FOUND,
        text=fix.text,
        why=cause.because[0].text,
        command=fix.command,
        by="gpuwhy" if doable else "you",
        root=fix.root,
        reboot=fix.reboot,
        check=fix.check,
        undo="delete the copy; with --in-place, a command is printed" if doable else "",
        action=change,
        alternatives=tuple(one.text for one in cause.fixes if one is not fix),
        do=fix.action,
        worked_if=fix.worked_if,
        language=fix.language,
    )


def _add(steps: list[Step], step: Step) -> None:
    """One step for a remedy that several causes share; a later one that contradicts it waits."""
    for at, one in enumerate(steps):
        if one.do == step.do and (one.command == step.command != "" or one.text == step.text):
            both = tuple(dict.fromkeys((*one.causes, *step.causes)))
            steps[at] = replace(one, causes=both, sure=one.sure or step.sure)
            return
    wanted = dict(_packages(step))
    for number, one in enumerate(steps, 1):
        same = [name for name, text in _packages(one) if wanted.get(name, text) != text]
        if same and one.by == step.by == "gpuwhy":
            note = f"step {number} changes {', '.join(same)} too: check again before this one"
            step = replace(step, by="you", note=note)
    steps.append(step)


def _packages(step: Step) -> Iterator[tuple[str, str]]:
    """Name and requirement of what a step installs and removes."""
    for action in step.do:
        if isinstance(action, Install):
            yield from ((name_of(text), text) for text in action.packages)
        elif isinstance(action, Remove):
            yield from ((name_of(text), "") for text in action.packages)


def name_of(requirement: str) -> str:
    """The package that a requirement names; "" where it is none."""
    try:
        return canonicalize_name(Requirement(requirement).name)
    except InvalidRequirement:
        return ""


def can_be_applied(action: Action) -> bool:
    """Whether `--apply` carries it out: packages of the environment, by pip or uv."""
    if not isinstance(action, (Install, Remove)) or action.where != "here":
        return False
    if isinstance(action, Install) and action.new_environment:
        return False
    if isinstance(action, Remove) and action.files:
        return False
    return action.manager in MANAGERS and all(map(_is_of_an_index, action.packages))


def _is_of_an_index(requirement: str) -> bool:
    """Whether it is a name with bounds: a path or an address could be built and run, and a name
    in capitals stands for one that the person has to fill in.
    """
    try:
        want = Requirement(requirement)
    except InvalidRequirement:
        return False
    return want.url is None and not want.name.isupper()


def change_of(do: Sequence[Action]) -> Change | None:
    """What `--apply` would change; None where it cannot carry out every part."""
    changing = [one for one in do if changes(one)]
    if not changing or not all(map(can_be_applied, changing)):
        return None
    put = [one for one in changing if isinstance(one, Install)]
    return Change(
        install=tuple(text for one in put for text in one.packages),
        uninstall=tuple(
            text for one in changing if isinstance(one, Remove) for text in one.packages
        ),
        again=any(one.reinstall for one in put),
        upgrade=any(one.upgrade for one in put),
        index=next((one.index for one in put if one.index), ""),
    )
