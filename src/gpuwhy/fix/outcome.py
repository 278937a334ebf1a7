"""What came of `--apply`: the environment before and after, compared."""

from collections.abc import Collection, Iterator
from typing import Literal, NamedTuple

import msgspec

from gpuwhy.answer.answer import FOUND, Answer, Status
from gpuwhy.facts.fact import value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.imports import Ended, Tried

Verdict = Literal["same", "better", "worse", "left"]
"""left: as bad as it was."""


class Look(msgspec.Struct, frozen=True):
    """A diagnosis in short."""

    status: Status
    headline: str
    causes: tuple[str, ...]


class Compared(msgspec.Struct, frozen=True):
    """One thing, before and after."""

    what: str  # "import torch", or a cause
    before: str
    after: str
    verdict: Verdict
    module: str = ""  # of an import


class Outcome(msgspec.Struct, frozen=True):
    """What was done, and whether it helped."""

    done: tuple[int, ...]  # numbers of the steps
    environment: str  # the copy, or the environment itself
    python: str
    in_place: bool
    before: Look
    after: Look | None = None  # None: it failed before there was something to look at
    interrupted: bool = False
    failed: str = ""  # what went wrong, and in which state things are now
    changed: tuple[str, ...] = ()  # "torch 2.9.0 → 2.10.0"
    undo: tuple[str, ...] = ()
    use: tuple[str, ...] = ()
    took: float = 0.0
    compared: tuple[Compared, ...] = ()
    then: tuple[str, ...] = ()  # of version 0
    instead: str = ""  # of version 0
    taken_back: bool = False  # nothing of it is left
    stuck: bool = False  # it was to be taken back, and could not be

    @property
    def helped(self) -> bool:
        """Whether something is better and nothing worse."""
        found = {one.verdict for one in self.compared}
        return not self.failed and "better" in found and "worse" not in found

    @property
    def worked(self) -> bool:
        """Whether nothing is left of what it was for."""
        left = any(one.verdict == "left" for one in self.compared)
        healthy = self.after is not None and not self.after.causes
        return self.helped and healthy and not left


class Seen(NamedTuple):
    """An environment as `check` shows it, and as `check --import` does."""

    plain: Answer
    imported: Answer
    facts: Facts  # of the latter

    @property
    def found(self) -> dict[str, str]:
        """The causes that either names, with their reasons."""
        return {**_found(self.imported), **_found(self.plain)}


def look_of(seen: Seen) -> Look:
    """A diagnosis in short: the worse of the two, and the causes that are named."""
    answer = seen.plain if _found(seen.plain) else seen.imported
    return Look(answer.status, answer.headline, tuple(seen.found))


def compare(before: Seen, after: Seen, about: Collection[str]) -> tuple[Compared, ...]:
    """Everything that is judged: the imports, what the steps were for, what is new."""
    return (*_imports(before.facts, after.facts), *_causes(before.found, after.found, about))


def _causes(was: dict[str, str], now: dict[str, str], about: Collection[str]) -> Iterator[Compared]:
    for cause in dict.fromkeys(about):
        if cause in now:
            yield Compared(cause, was.get(cause, "possible"), now[cause], "left")
        else:
            yield Compared(cause, was.get(cause, "possible"), "gone", "better")
    for cause in now.keys() - was.keys() - set(about):
        # a broken install is made by the change; anything else was hidden by what is gone now
        verdict: Verdict = "worse" if cause.startswith("install.") else "left"
        yield Compared(cause, "not seen", now[cause], verdict)


def _found(answer: Answer) -> dict[str, str]:
    return {
        one.id: one.because[0].text for one in reversed(answer.causes) if one.confidence >= FOUND
    }


def _imports(before: Facts, after: Facts) -> Iterator[Compared]:
    was = {(one.kind, one.module): one for one in value_or(before.imports.tried, ())}
    now = {(one.kind, one.module): one for one in value_or(after.imports.tried, ())}
    for (kind, module), old in was.items():
        if (new := now.get((kind, module))) is None:
            continue
        what = f"import {module}" if kind == "import" else f"{module}: {kind}"
        verdict: Verdict = "better" if old.failed and new.ended is Ended.WELL else "same"
        if new.failed:
            verdict = "left" if old.failed else "worse"
        yield Compared(what, _ended(old), _ended(new), verdict, module)


def _ended(one: Tried) -> str:
    if one.ended is Ended.WELL:
        return "works"
    said = f"{one.error}: {one.words}" if one.error else one.signal or one.ended.value
    return said.split("\n", 1)[0][:120]


def changed(old: dict[str, str], new: dict[str, str]) -> tuple[str, ...]:
    """The releases that are other ones now."""
    names = sorted(old.keys() | new.keys())
    pairs = ((name, old.get(name, "–"), new.get(name, "–")) for name in names)
    return tuple(f"{name} {was} → {now}" for name, was, now in pairs if was != now)
