"""Fleet: the kinds of facts that nodes are compared by, what each node said, and the answer."""

import re
from functools import cache
from importlib.resources import files
from typing import Any, Literal, Union

import msgspec

Worse = Literal["any", "less", "more"]
"""Which difference can do harm: any, a smaller value than the others', a greater one."""
Weight = Literal[0, 1, 2, 3]
"""3: a job can fail by it. 2: in some settings. 1: slower, or mostly harmless. 0: worth knowing."""


class Kind(msgspec.Struct, frozen=True):
    """One kind of fact that nodes are compared by."""

    name: str  # "gpu.count"; with a dot or a low line at the end: all names that begin so
    title: str
    weight: Weight
    worse: Worse = "any"
    causes: tuple[str, ...] = ()  # what such a difference can be, likeliest first
    tolerance: float = 0.0  # numbers that differ by less than this share are the same
    unlimited: bool = False  # -1 is the greatest value
    place: int = 0  # in the table: the earlier counts more

    @property
    def exact(self) -> bool:
        """Whether it is one fact, not a family of them."""
        return not self.name.endswith((".", "_"))


_TABLES = msgspec.toml.decode(files("gpuwhy.fleet").joinpath("tables.toml").read_bytes())


def table(name: str) -> Any:
    """One table of tables.toml."""
    return _TABLES[name]


@cache
def expression(name: str) -> re.Pattern[str]:
    """One expression of that file; a list is one of several."""
    given = table("expressions")[name]
    return re.compile(given if isinstance(given, str) else "|".join(given))


KINDS = {
    name: msgspec.convert({"name": name, "place": place, **row}, Kind)
    for place, (name, row) in enumerate(table("kinds").items())
}
_OTHER = Kind("", "", 0, place=len(KINDS))


@cache
def kind_of(fact: str) -> Kind:
    """The kind of a fact by its name, else by its longest beginning; others have no weight."""
    if fact in KINDS:
        return KINDS[fact]
    fits = [one for one in KINDS.values() if not one.exact and fact.startswith(one.name)]
    return max(fits, key=lambda kind: len(kind.name), default=_OTHER)


def title(fact: str) -> str:
    """What a fact is called: "NCCL", "variable NCCL_IB_HCA"."""
    kind = kind_of(fact)
    if not kind.name or kind.name == fact:
        return kind.title or fact
    return f"{kind.title} {fact.split('.', 1)[1]}"


NODE = "gpuwhy.node/1"
SCHEMA = "gpuwhy.fleet/1"
NONE = "none"  # looked for, and not there

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
