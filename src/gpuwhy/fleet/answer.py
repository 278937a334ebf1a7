"""Fleet: what each node said of itself, which of them differ, whether that explains a failure."""

from __future__ import annotations

from typing import Any, Union

import msgspec

from gpuwhy.fleet.kinds import Weight

NODE = "gpuwhy.node/1"
SCHEMA = "gpuwhy.fleet/1"
NONE = "none"
"""Looked for, and not there."""

Value = Union[str, int, float, None]
"""A fact as it is compared; None = not seen there, NONE = looked for, and not there."""


class CauseSeen(msgspec.Struct, frozen=True):
    """A cause in a node's own report."""

    id: str
    title: str = ""
    confidence: float = 0.0


class Answer(msgspec.Struct):
    """What one node said, checked and cut to size."""

    node: str  # as it calls itself: an alias, or the name it was told
    time: float
    gpuwhy: str
    status: str
    headline: str
    causes: tuple[CauseSeen, ...]
    own: dict[str, Value]  # its facts as far as they are not those of `base`; None = lacks it
    base: dict[str, Value] = {}  # facts that many nodes share
    whole: tuple[str, ...] = ()  # families of facts that it saw all of: "env", "package"
    label: str = ""  # what the launcher put before the line, where that names a node
    received: float = 0.0  # when the line came, by the reader's clock; 0 = nobody noted it

    @property
    def name(self) -> str:
        """The launcher's word for the node, else its own."""
        return self.label or self.node

    @property
    def facts(self) -> dict[str, Value]:
        """Everything that it told."""
        both = {**self.base, **self.own}
        return {fact: value for fact, value in both.items() if value is not None}


class Differs(msgspec.Struct, frozen=True, rename={"known": "of"}):
    """One fact of one node that the others have otherwise."""

    fact: str
    value: Value
    others: Value
    explains: str | None  # a cause that this can be
    weight: Weight
    shown: bool = False  # the node's own report names that cause
    same: int = 0  # how many nodes have the others' value
    known: int = 0  # of how many that told


class Odd(msgspec.Struct, frozen=True):
    """A node that differs from those it is compared with."""

    node: str
    status: str
    differs: tuple[Differs, ...]  # what explains a failure first
    causes: tuple[CauseSeen, ...] = ()  # of its own report

    @property
    def is_grave(self) -> bool:
        """Whether a job can fail by what it has otherwise."""
        return any(one.shown or (one.weight == 3 and one.explains) for one in self.differs)


class Group(msgspec.Struct, frozen=True):
    """Nodes that are equal in all that is compared."""

    nodes: tuple[str, ...]
    status: str
    headline: str
    describes: str  # what these nodes are: "8 × NVIDIA H200, driver 580.82.07"
    causes: tuple[CauseSeen, ...] = ()


class Silent(msgspec.Struct, frozen=True):
    """A node that was asked and did not answer."""

    node: str
    why: str = ""


class Scattered(msgspec.Struct, frozen=True):
    """A fact without a common value: no node is odd by it."""

    fact: str
    values: int
    example: Value


class Fleet(msgspec.Struct, frozen=True):
    """The answer for many nodes; `contract` is its JSON form."""

    groups: tuple[Group, ...]  # the largest first
    odd: tuple[Odd, ...]  # the gravest first
    silent: tuple[Silent, ...] = ()
    unreadable: tuple[str, ...] = ()  # lines that are no answers, and why
    unreadable_count: int = 0
    scattered: tuple[Scattered, ...] = ()
    unseen: dict[str, int] = {}  # facts that some nodes could not see, and how many
    repeated: dict[str, int] = {}  # nodes that answered more than once, and how often
    baseline: str = ""  # what they were compared with, where it was given
    versions: tuple[str, ...] = ()  # gpuwhy's own, of the nodes

    @property
    def nodes(self) -> int:
        """How many answered."""
        return sum(len(group.nodes) for group in self.groups)

    @property
    def bad(self) -> list[str]:
        """The nodes to keep a job away from: no answer, or a difference that can make it fail."""
        grave = [odd.node for odd in self.odd if odd.is_grave]
        return [*(one.node for one in self.silent), *grave]


def contract(fleet: Fleet) -> dict[str, Any]:
    """The comparison in plain values, `gpuwhy.fleet/1`: docs/fleet.schema.json."""
    plain = msgspec.to_builtins(fleet)
    return {
        "schema": SCHEMA,
        **{name: plain[name] for name in ("groups", "odd")},
        "silent": [one.node for one in fleet.silent],
        "why_silent": {one.node: one.why for one in fleet.silent if one.why},
        "exclude": fleet.bad,
        **{name: plain[name] for name in ("scattered", "unseen", "repeated")},
        "unreadable": {"count": fleet.unreadable_count, "lines": list(fleet.unreadable)},
        "baseline": fleet.baseline or None,
        "gpuwhy": list(fleet.versions),
    }
