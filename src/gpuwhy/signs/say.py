"""How a sign says what it concludes: a finding by its weight, and phrases that several need."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from gpuwhy.facts.fact import Source
from gpuwhy.facts.finding import Effect, Evidence, Finding, Weight, know
from gpuwhy.facts.frameworks import Framework


def said(weight: Weight, text: str, *evidence: Evidence, **values: Any) -> Finding:
    """A finding with the values that remedies ask for; the judge adds its cause and subject."""
    return Finding("", weight, text, values, evidence)


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


def listed(names: Sequence[str]) -> str:
    """`a, b and c`; long lists end in `and 3 more`."""
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def and_more(names: Iterable[str], shown: int = 1) -> str:
    """`a and 3 more`."""
    every = list(names)
    more = len(every) - shown
    return ", ".join(every[:shown]) + (f" and {more} more" if more > 0 else "")


def release(one: Framework) -> str:
    """TensorFlow 2.21.0."""
    return f"{one.title} {one.version}"


def size(count: int) -> str:
    """4.1 GB."""
    if count >= 1e9:
        return f"{count / 1e9:.1f} GB"
    return f"{count / 1e6:.0f} MB" if count >= 1e6 else f"{count} bytes"
