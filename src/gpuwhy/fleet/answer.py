"""Fleet: what each node said of itself, which of them differ, whether that explains a failure."""

from __future__ import annotations

from typing import Any, Literal, Union

import msgspec

NODE = "gpuwhy.node/1"
SCHEMA = "gpuwhy.fleet/1"

Value = Union[str, int, float, None]
"""A fact as it is compared; None = not seen there, the word "none" = looked for, and not there."""
Worse = Literal["any", "less", "more"]
"""Which difference can do harm: any, a smaller value than the others', a greater one."""
Weight = Literal[0, 1, 2, 3]
"""3: a job can fail by it. 2: in some settings. 1: slower, or mostly harmless. 0: worth knowing."""


class Kind(msgspec.Struct, frozen=True):
    """One kind of fact that nodes are compared by."""

    name: str  # "gpu.count"; with a dot at the end it stands for all names that begin so
    title: str
    weight: Weight
    worse: Worse = "any"
    causes: tuple[str, ...] = ()  # what such a difference can be, likeliest first
    tolerance: float = 0.0  # numbers that differ by less than this share are the same
    unlimited: bool = False  # -1 is the greatest value


class CauseSeen(msgspec.Struct, frozen=True):
    """A cause in a node's own report."""

    id: str
    title: str = ""
    confidence: float = 0.0


class Answer(msgspec.Struct, frozen=True):
    """What one node said, checked and cut to size."""

    node: str  # as it calls itself: an alias, or the name it was told
    time: float
    gpuwhy: str
    status: str
    headline: str
    causes: tuple[CauseSeen, ...]
    facts: dict[str, Value]
    label: str = ""  # what the launcher put before the line, where that names a node
    whole: tuple[str, ...] = ()  # families of facts that it saw all of: "env", "package"
    received: float = 0.0  # when the line came, by the reader's clock; 0 = nobody noted it

    @property
    def name(self) -> str:
        """The launcher's word for the node, else its own."""
        return self.label or self.node


class Differs(msgspec.Struct, frozen=True):
    """One fact of one node that the others have otherwise."""

    fact: str
    value: Value
    others: Value
    explains: str  # a cause that this can be; "" = none is known
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
    def weight(self) -> int:
        """Of its gravest difference."""
        return max((one.weight for one in self.differs), default=0)


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
    def bad(self) -> tuple[str, ...]:
        """The nodes to keep a job away from: no answer, or a difference that can make it fail."""
        return (
            *(one.node for one in self.silent),
            *(one.node for one in self.odd if is_grave(one)),
        )


def is_grave(odd: Odd) -> bool:
    """Whether a job can fail by what a node has otherwise."""
    return any(one.shown or (one.weight == 3 and one.explains) for one in odd.differs)


def contract(fleet: Fleet) -> dict[str, Any]:
    """The comparison in plain values, `gpuwhy.fleet/1`: docs/fleet.schema.json."""
    return {
        "schema": SCHEMA,
        "groups": [msgspec.to_builtins(group) for group in fleet.groups],
        "odd": [_odd(one) for one in fleet.odd],
        "silent": [one.node for one in fleet.silent],
        "why_silent": {one.node: one.why for one in fleet.silent if one.why},
        "exclude": list(fleet.bad),
        "scattered": [msgspec.to_builtins(one) for one in fleet.scattered],
        "unseen": fleet.unseen,
        "repeated": fleet.repeated,
        "unreadable": {"count": fleet.unreadable_count, "lines": list(fleet.unreadable)},
        "baseline": fleet.baseline or None,
        "gpuwhy": list(fleet.versions),
    }


def _odd(one: Odd) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.to_builtins(one)
    for row in made["differs"]:
        row["explains"] = row["explains"] or None
        row["of"] = row.pop("known")
    return made
