"""Repair: the fix of a diagnosis as steps, and what came of carrying them out."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from gpuwhy.model.report import Layer, Status

SCHEMA = "gpuwhy.fix/1"


def name_of(requirement: str) -> str:
    """The distribution that a requirement names, normalised."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement.strip())
    return re.sub(r"[-_.]+", "-", name[0]).lower().rstrip("-") if name else ""


class Action(msgspec.Struct, frozen=True):
    """What a step changes in the target environment; nothing in it is shell text."""

    install: tuple[str, ...] = ()  # requirements
    uninstall: tuple[str, ...] = ()  # distributions, removed first
    again: bool = False  # written anew, past every cache, without what they need
    upgrade: bool = False
    folders: tuple[str, ...] = ()  # put in front of LD_LIBRARY_PATH when the environment is activated
    backend: str = ""  # cu126: the builds of PyTorch's own index, which uv knows by that name
    anew: bool = False  # the environment is made again, with the same releases and a Python that is there
    until: str = ""  # a day: of `install`, what was published by then, as far as the index tells


class Step(msgspec.Struct, frozen=True):
    """One remedy: what, why, what it costs, how to see that it worked and how to take it back."""

    number: int
    causes: tuple[str, ...]
    subject: str
    sure: bool  # False: the cause is only possible
    text: str
    why: str
    command: str
    by: Literal["gpuwhy", "you"]  # who can carry it out
    root: bool = False
    reboot: bool = False
    downloads: str = ""
    check: str = ""
    undo: str = ""
    action: Action | None = None
    alternatives: tuple[str, ...] = ()  # of the same cause, in words
    note: str = ""
    apart: bool = False  # no one environment holds it beside what is there: the note names the pair
    moves: bool = False  # another release of its subject is installed


class Steps(msgspec.Struct, frozen=True):
    """The fix of one diagnosis, in order."""

    status: Status
    headline: str
    python: str  # of the environment under diagnosis; "" when there is none
    prefix: str
    kind: str
    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()


class Look(msgspec.Struct, frozen=True):
    """A diagnosis in short."""

    status: Status
    headline: str
    causes: tuple[str, ...]  # "install.corrupted", with its subject where it has one
    perhaps: frozenset[str] = frozenset()  # those of them that are only possible


class Contradiction(msgspec.Struct, frozen=True):
    """What an installed distribution asks of another one in vain."""

    by: str
    name: str
    text: str
    lacks: bool = False  # a GPU package asks for something that is not installed at all


class Condition(msgspec.Struct, frozen=True):
    """An environment before or after a repair, as far as the two are compared."""

    imports: dict[str, str] = {}  # module → how its import failed; "" = it works
    contradictions: tuple[Contradiction, ...] = ()
    lost: dict[str, tuple[str, ...]] = {}  # framework → required libraries that the loader does not find
    layers: tuple[Layer, ...] = ()  # of the picture, and of the probe where there is one
    causes: tuple[str, ...] = ()  # "cudnn.missing (PyTorch 2.6.0)"
    unjudged: frozenset[str] = frozenset()  # frameworks that did not get far enough for the rest to be seen
    perhaps: frozenset[str] = frozenset()  # of the causes, those that are merely possible
    untried: bool = False  # nothing was imported by the look at it, since something else stood before that


Verdict = Literal["same", "better", "worse", "left"]
"""Left: as bad as it was."""


class Compared(msgspec.Struct, frozen=True):
    """One thing, before and after."""

    what: str  # import torch, metadata, libraries of TensorFlow, cause …
    before: str
    after: str
    verdict: Verdict
    module: str = ""  # of an import


class Outcome(msgspec.Struct, frozen=True):
    """What came of `--apply`."""

    done: tuple[int, ...]  # numbers of the steps that were carried out
    environment: str  # the new one, or the target itself
    python: str
    in_place: bool
    before: Look
    after: Look | None  # None: it failed before there was something to look at
    interrupted: bool = False
    failed: str = ""  # what went wrong, and in which state things are now
    changed: tuple[str, ...] = ()  # "torch 2.9.0 → 2.10.0"
    undo: tuple[str, ...] = ()
    use: tuple[str, ...] = ()  # how to use what was made
    took: float = 0.0
    compared: tuple[Compared, ...] = ()  # everything that was compared, before and after
    then: tuple[str, ...] = ()  # steps that only the second look brought to light, carried out in the same go
    instead: str = ""  # the releases that were taken where the step did not help, in words; it was undone

    @property
    def worse(self) -> tuple[Compared, ...]:
        """What the change made worse: a failed fix, whatever else it mended."""
        return tuple(one for one in self.compared if one.verdict == "worse")

    @property
    def worked(self) -> bool:
        """Whether the second look finds nothing wrong, nothing of what was to be fixed, and nothing worse."""
        if self.after is None or self.failed or any(one.verdict in ("worse", "left") for one in self.compared):
            return False
        left = set(self.before.causes) & set(self.after.causes) - self.after.perhaps
        return self.after.status in ("healthy", "unknown") and not left
