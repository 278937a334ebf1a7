"""What a sign looks at and how it says what it concludes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from operator import attrgetter
from typing import Any, Literal, NamedTuple, Union

from msgspec.structs import replace

from gpuwhy.facts.devices import Gpu
from gpuwhy.facts.fact import Source, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Effect, Evidence, Finding, Weight, know
from gpuwhy.facts.frameworks import Framework


class Case(NamedTuple):
    """All facts, and the one framework or GPU that is judged."""

    facts: Facts
    of_framework: Framework | None = None
    of_gpu: Gpu | None = None

    @property
    def framework(self) -> Framework:
        """The framework of a sign whose scope is one."""
        assert self.of_framework is not None
        return self.of_framework

    @property
    def gpu(self) -> Gpu:
        """The GPU of a sign whose scope is one."""
        assert self.of_gpu is not None
        return self.of_gpu

    @property
    def named(self) -> str:
        """TensorFlow 2.21.0."""
        return f"{self.framework.title} {self.framework.version}"

    @property
    def windows(self) -> bool:
        """Whether the machine is a Windows machine."""
        return value_or(self.facts.system.os, "") == "windows"


Sign = Callable[[Case], Union[Finding, Iterable[Finding], None]]
Scope = Literal["machine", "framework", "gpu"]


class Row(NamedTuple):
    """A sign: the cause that it is for, and what it is asked of."""

    cause: str
    scope: Scope
    sign: Sign
    last: bool = False  # asked where no other sign of the cause said anything


def rows(cause: str, scope: Scope, *signs: Sign) -> tuple[Row, ...]:
    """The signs of one cause."""
    return tuple(Row(cause, scope, sign) for sign in signs)


def otherwise(cause: str, scope: Scope, text: str, *seen: str) -> Row:
    """What rules a cause out where no sign shows it, and these facts were seen."""

    def sign(case: Case) -> Finding:
        for name in seen:
            attrgetter(name)(case.facts).need()
        return against(text)

    return Row(cause, scope, sign, last=True)


def said(weight: Weight, template: str, *evidence: Evidence, **values: Any) -> Finding:
    """A finding; the judge fills in its cause, its subject, and {framework}."""
    return Finding("", weight, template, values, evidence)


proof = partial(said, Weight.PROOF)
strong = partial(said, Weight.STRONG)
weak = partial(said, Weight.WEAK)
against = partial(said, Weight.AGAINST)


def sure(certain: bool) -> Callable[..., Finding]:
    """`proof` or `strong`."""
    return proof if certain else strong


def slows(finding: Finding) -> Finding:
    """The same, of something that does not stop GPU work."""
    return replace(finding, effect=Effect.SLOWS)


def noted(finding: Finding) -> Finding:
    """The same, of something that nothing which was tried fails by."""
    return replace(finding, effect=Effect.NOTED)


def prevents_start(finding: Finding) -> Finding:
    """The same, of something by which the program ends before there is any question of a GPU."""
    return replace(finding, effect=Effect.PREVENTS_START)


def table(text: str, source: Any) -> Evidence:
    """Evidence known in general: of a row of knowledge, whichever type its source still has."""
    return know(text, Source("know", source.where, source.detail))


def base_name(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2]


def and_more(names: Iterable[str], shown: int = 1) -> str:
    """`a and 3 more`."""
    listed = list(names)
    more = len(listed) - shown
    return ", ".join(listed[:shown]) + (f" and {more} more" if more > 0 else "")


def release(one: Framework) -> str:
    """TensorFlow 2.21.0."""
    return f"{one.title} {one.version}"


def size(count: int) -> str:
    """4.1 GB."""
    if count >= 1e9:
        return f"{count / 1e9:.1f} GB"
    return f"{count / 1e6:.0f} MB" if count >= 1e6 else f"{count} bytes"
