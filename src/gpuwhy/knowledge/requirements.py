"""What an image asks of its host: the expressions in NVIDIA_REQUIRE_*, as the toolkit reads them.

"cuda>=12.4 brand=tesla,driver>=470,driver<471": words are alternatives, and what commas join in a
word must all hold.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence

from gpuwhy.facts.version import numbers
from gpuwhy.knowledge.tables import source

RULES = source("NVIDIA Container Toolkit documentation", "NVIDIA_REQUIRE_* constraints")
_CONSTRAINT = re.compile(r"(cuda|driver|arch)(>=|<=|!=|=|<|>)(\d+(?:\.\d+)*)")
_COMPARE: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "<": operator.lt,
    ">": operator.gt,
    "=": lambda has, wants: has[: len(wants)] == wants,
    "!=": lambda has, wants: has[: len(wants)] != wants,
}
_BRANDS = frozenset({"geforce", "geforcertx"})


def met(expression: str, has: dict[str, str]) -> bool | None:
    """Whether a host with these values (cuda, driver, arch, card) meets it; None: not certain."""
    if not expression.strip():
        return True
    words = re.sub(r"\s*(>=|<=|!=|[=<>])\s*", r"\1", expression).split()
    outcomes = {_all(word.split(","), has) for word in words}
    return True if True in outcomes else None if None in outcomes else False


def consumer(names: Sequence[str]) -> str:
    """ "geforce" where every GPU is one; of other cards the brand changed with the driver."""
    return "geforce" if names and all("geforce" in name.lower() for name in names) else ""


def _all(constraints: list[str], has: dict[str, str]) -> bool | None:
    outcomes = {_one(text, has) for text in constraints}
    return False if False in outcomes else None if None in outcomes else True


def _one(text: str, has: dict[str, str]) -> bool | None:
    brand = text.partition("brand=")[2].lower()
    if brand and has.get("card") and brand not in _BRANDS:
        return False  # which of its own two NVML names a GeForce has is not seen
    found = _CONSTRAINT.fullmatch(text)
    if not found or found[1] not in has:
        return None
    own, wanted = numbers(has[found[1]]), numbers(found[3])
    return _COMPARE[found[2]](own + (0,) * (len(wanted) - len(own)), wanted)


def first_wish(expression: str) -> str:
    """The CUDA release that an expression asks for in the first place: "12.4"; "" for none."""
    found = re.search(r"(?:^|\s)cuda\s*>=\s*([\d.]+)", expression)
    return found[1] if found else ""
