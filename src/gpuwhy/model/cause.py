"""Cause and Sign: why a GPU stack fails, as a value; and the findings that signs return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeVar

import msgspec

from gpuwhy.model.ending import Ending
from gpuwhy.model.fact import Fact, Source, source_of, value_or
from gpuwhy.model.facts import Device, Facts, Framework
from gpuwhy.model.symptom import Symptom, Told

T = TypeVar("T")

Weight = Literal["proof", "strong", "weak", "against"]
Scope = Literal["machine", "framework", "device"]
LAYERS = ("device", "driver", "wsl", "container", "env", "install", "cuda", "cudnn", "framework", "memory", "program",
          "distributed", "other")  # fmt: skip
"""From the metal up: what lies below is told first, because it breaks what lies above."""


class Evidence(msgspec.Struct, frozen=True):
    """One checkable thing behind a sentence: what we saw, what is known in general, or what the program told."""

    kind: Literal["saw", "know", "told"]
    text: str
    source: Source


def saw(text: str, fact: Fact[T] | Source) -> Evidence:
    """Evidence read on this machine; the source is taken from the fact."""
    return Evidence("saw", text, fact if isinstance(fact, Source) else source_of(fact))


def know(text: str, source: Source) -> Evidence:
    """Evidence known in general, with its knowledge row."""
    return Evidence("know", text, source)


class Finding(msgspec.Struct, frozen=True):
    """What one sign says: how much it weighs, one sentence with the numbers, and the evidence."""

    weight: Weight
    text: str
    evidence: tuple[Evidence, ...] = ()
    linked: bool = False  # the sign itself ties it to how the program ended: the path, the limit, the variable it names
    stops: bool = True  # False: GPU work goes on, slower or narrower, although the cause as such would stop it
    noted: bool = False  # true, and nothing that was tried fails by it: told beside the answer, never as one
    ends: bool = False  # the program does not even start: its sentence is the headline, not the cause's usual effect


def proof(text: str, *evidence: Evidence) -> Finding:
    """The facts leave no other reading."""
    return Finding("proof", text, evidence)


def strong(text: str, *evidence: Evidence) -> Finding:
    """Very likely; another reading exists."""
    return Finding("strong", text, evidence)


def linked(finding: Finding) -> Finding:
    """The same finding, tied to how the program ended."""
    return msgspec.structs.replace(finding, linked=True)


def mild(finding: Finding) -> Finding:
    """The same finding, of something that does not stop GPU work."""
    return msgspec.structs.replace(finding, stops=False)


def noted(finding: Finding) -> Finding:
    """The same finding, of something that nothing which was tried fails by."""
    return msgspec.structs.replace(finding, noted=True, stops=False)


def ending_it(finding: Finding) -> Finding:
    """The same finding, of something by which the program ends before there is any question of a GPU."""
    return msgspec.structs.replace(finding, ends=True)


def weak(text: str, *evidence: Evidence) -> Finding:
    """Fits, and so do other causes."""
    return Finding("weak", text, evidence)


def against(text: str, *evidence: Evidence) -> Finding:
    """An observation that rules this cause out."""
    return Finding("against", text, evidence)


class Case(msgspec.Struct, frozen=True):
    """What a sign looks at: all facts, and the one framework or device that the engine has put in front of it."""

    facts: Facts
    framework: Framework | None = None
    device: Device | None = None
    symptoms: tuple[Symptom, ...] = ()  # what a failing program printed, where a text was given
    told: Told = Told()
    ending: Ending = Ending()  # how that program ended


class Fix(msgspec.Struct, frozen=True, omit_defaults=True):
    """One remedy: what to do, the command, and what it costs. Unsafe unless stated."""

    text: str
    command: str = ""
    safe: bool = False  # changes nothing outside this shell or this Python environment, and can be undone
    root: bool = False
    reboot: bool = False
    check: str = "gpuwhy check"
    undo: str = ""
    role: Literal["remedy", "part", "look"] = "remedy"  # enough by itself; one of several all needed; only a look
    install: tuple[str, ...] = ()  # the same as `command`, for `gpuwhy fix`, which reads no shell: requirements
    uninstall: tuple[str, ...] = ()  # distributions that are removed first
    again: bool = False  # the files of `install` are written anew, past every cache, and nothing else
    upgrade: bool = False
    folders: tuple[str, ...] = ()  # put in front of LD_LIBRARY_PATH
    anew: bool = False  # the environment is made again, with the same releases and a Python that is there
    until: str = ""  # a day: of `install`, what was published by then
    wishes: tuple[str, ...] = ()  # packages of which another release would do: `gpuwhy plan` chooses it
    of: str = ""  # the other cause that it is the remedy of, where it is told beside those of the first one


Sign = Callable[[Case], "Finding | None"]
Fixes = Callable[[Case], tuple[Fix, ...]]


def told_fixes(case: Case) -> tuple[Fix, ...]:
    """No fix by facts: the room of the cause has those for what a program printed."""
    return ()


class Cause(msgspec.Struct, frozen=True):
    """Why a GPU stack fails: id, title, signs, what it hides, fixes.

    A sign returns a Finding, or None when it has nothing to say; it asks facts with `.need()`, and an Unknown fact
    makes the verdict undetermined. `stops` is False for causes that only slow or narrow GPU work.
    """

    id: str
    title: str  # the state of the machine, lower case, no full stop
    signs: tuple[Sign, ...] = ()
    fixes: Fixes = told_fixes
    scope: Scope = "machine"
    effect: str = ""  # headline: "{subject} will not see the GPU"; by default said from the scope
    hides: tuple[str, ...] = ()  # causes that this one explains when both are shown
    stops: bool = True
    needs_log: bool = False  # only a program's output can show it: `gpuwhy check` does not ask
    shown_on: tuple[str, ...] = ()  # systems on which facts can show it all the same

    @property
    def layer(self) -> str:
        """The part of the id before the dot."""
        return self.id.split(".", 1)[0]

    def asked(self, facts: Facts) -> bool:
        """Whether the facts of this machine can show it, without a program's output."""
        return not self.needs_log or value_or(facts.surroundings.system, "") in self.shown_on
