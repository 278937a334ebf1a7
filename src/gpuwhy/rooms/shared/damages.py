"""Damages: what is wrong with an installed file, how sure that is, and in which words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gpuwhy.model.facts import (
    COMMAND_GONE,
    COMMAND_LOST,
    DATA_BROKEN,
    EDITED,
    MISFITS,
    NOT_RUN,
    OTHER_PYTHON,
    Damage,
)
from gpuwhy.rooms.shared.needs import base_name

CERTAIN = (
    "missing", "empty", "truncated", "not ELF", "not PE", "other hash", "dangling link", "unreadable", "not loadable",
    "full of holes", *MISFITS,
)  # fmt: skip
OVERWRITTEN = ("other size", "other hash")
RELEASE = "of another release"
MODULES = {
    "module missing": "missing",
    "module empty": "empty",
    "not executable": "not executable",
    "data missing": "missing",
    "metadata gone": "missing or empty",
    "module unreadable": "not readable for this user",
    "module broken": "nothing that Python can compile",
    DATA_BROKEN: "nothing that can be read any more",
}
"""Python files and what kernels are compiled with; nothing may ask for one of them."""
ALL = (*CERTAIN, *OVERWRITTEN, *MODULES, RELEASE)
COMMAND = {
    COMMAND_GONE: "is missing",
    COMMAND_LOST: "does not start: its first line names {}, which is not there",
    NOT_RUN: "may not be run ({})",
    OTHER_PYTHON: "is started by {}, which does not look at the packages of this environment",
}
"""Commands in the environment's bin: imports go well without them."""
MANY = 3  # libraries of one package that are smaller than they were: a tool went over all of them


def told(one: Damage) -> str:
    """What is wrong with a file, or with the distribution that it stands for."""
    if one.what in MISFITS:
        return f"{one.owner} is built for {one.actual}, and this environment is one for {one.expected}"
    if one.what in COMMAND:
        return f"bin/{base_name(one.path)} of {one.owner} {COMMAND[one.what].format(one.actual)}"
    if one.what == RELEASE:
        return f"the files of {one.owner} are those of release {one.actual}: they were written over it"
    if one.what == EDITED:
        return f"{one.path.rpartition('-packages/')[2]} of {one.owner} is not what was installed"
    if one.what in MODULES:
        detail = f" ({one.actual})" if one.what in ("module broken", DATA_BROKEN) else ""
        return f"{one.path.rpartition('-packages/')[2]} of {one.owner} is {MODULES[one.what]}{detail}"
    detail = f" ({one.actual}; {one.expected} expected)" if one.expected and one.actual else ""
    detail = detail or (f" ({one.actual})" if one.actual and not one.expected else "")
    how = one.what if one.what == "missing" else f"damaged: {one.what}"
    return f"{base_name(one.path)} of {one.owner} is {how}{detail}"


def smaller(one: Damage) -> bool:
    """A whole library that is smaller than what was installed: mostly one whose symbols were stripped."""
    sizes = [int(text.split(" ")[0]) for text in (one.actual, one.expected) if text.split(" ")[0].isdecimal()]
    return one.what == "other size" and len(sizes) == 2 and sizes[0] < sizes[1]


def without_stripped(found: Sequence[Damage]) -> list[Damage]:
    """Those that count: not libraries that were stripped, as images are made smaller."""
    count = Counter(one.owner for one in found if smaller(one))
    return [one for one in found if one.what in ALL and not (smaller(one) and count[one.owner] >= MANY)]
