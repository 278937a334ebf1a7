"""What packages state that they need: lines read, markers and ranges judged, and the closure of it.

Plain markers and ranges are judged here, which is much faster; the rest by `packaging`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from gpuwhy.facts.fact import Owner, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.look.environment.packages import gpu_related, normal

_MOST = 400  # packages whose metadata is read
_LINE = r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;)]*)\)?\s*(?:;(.*))?$"
_CLAUSE = r"\s*(==|!=|<=|>=|~=|<|>)\s*(\d+(?:\.\d+)*)(\.\*)?\s*"
_COMPARED = r"""\s*\(?\s*([a-z_]+)\s*(==|!=|<=|>=|<|>)\s*['"]([^'"]*)['"]\s*\)?\s*"""


class Wish(NamedTuple):
    """One line of requirements that holds in this environment."""

    name: str
    range: str  # ">=1.26,<2"
    by_extra: bool = False  # only an extra asks for it


def name_of(line: str) -> str:
    """The normalised name that a line asks for; "" where it makes no sense."""
    found = re.match(_LINE, line)
    return normal(found[1]) if found else ""


def is_optional(line: str) -> bool:
    """Whether only an extra asks for it."""
    return "extra ==" in line or "extra==" in line


def wish(line: str, environment: Mapping[str, str], extras: str = "") -> Wish | None:
    """What a line asks for here; `extras` matches names that count where an extra asks for them."""
    found = re.match(_LINE, line)
    holds = None
    if found and re.match(r"\s*([<>=!~]|$)", found[2]):
        name, wanted = normal(found[1]), found[2].strip()
        holds = _holds(found[3], environment) if found[3] else True
    if holds is None:
        from packaging.markers import UndefinedComparison, UndefinedEnvironmentName
        from packaging.requirements import InvalidRequirement, Requirement

        try:
            read = Requirement(line)
            holds = read.marker is None or read.marker.evaluate(dict(environment))
        except (InvalidRequirement, UndefinedComparison, UndefinedEnvironmentName, RecursionError):
            return None
        name, wanted = normal(read.name), str(read.specifier)
    by_extra = not holds and bool(extras) and is_optional(line) and bool(re.fullmatch(extras, name))
    return Wish(name, wanted, by_extra) if holds or by_extra else None


def _holds(marker: str, environment: Mapping[str, str]) -> bool | None:
    """Whether a marker without nested parentheses holds; None where it is more than that."""
    either, both = marker.count(" or "), marker.count(" and ")
    if (either and both) or marker.count("(") > either + both + 1:
        return None
    every = []
    for part in re.split(r" and | or ", marker):
        found = re.fullmatch(_COMPARED, part)
        if not found or found[1] not in environment:
            return None
        (name, sign, right), left = found.groups(), environment[found[1]]
        if name.endswith("version") and left[:1].isdigit() and right[:1].isdigit():
            every.append(allows(f"{sign}{right}", left))
        elif not name.endswith("version") and sign in ("==", "!="):
            every.append((left == right) == (sign == "=="))
        else:
            return None
    return any(every) if either else all(every)


@cache
def allows(wanted: str, version: str) -> bool:
    """Whether `<2,>=1.23` lets a version in, as pip reads it, previews included."""
    plain = version.partition("+")[0]
    clauses = [re.fullmatch(_CLAUSE, one) for one in wanted.strip("() ").split(",") if one.strip()]
    if not re.fullmatch(r"\d+(\.\d+)*", plain) or not all(clauses):
        from gpuwhy.knowledge.pairs import allows as by_packaging

        return by_packaging(wanted, version)
    return all(_meets(numbers(plain), one[1], numbers(one[2]), one[3]) for one in clauses if one)


def _meets(left: tuple[int, ...], sign: str, right: tuple[int, ...], wild: str | None) -> bool:
    """Whether a version meets one clause; `wild` is the `.*` behind it."""
    width = max(len(left), len(right))
    full = left + (0,) * (width - len(left)), right + (0,) * (width - len(right))
    if wild or sign == "~=":
        start = right if wild else right[:-1]
        same = full[0][: len(start)] == start
        return not same if sign == "!=" else same and (sign != "~=" or full[0] >= full[1])
    low, equal = full[0] < full[1], full[0] == full[1]
    signs = {"==": equal, "!=": not equal, "<": low, ">=": not low, "<=": low or equal}
    return signs.get(sign, not low and not equal)


# ------------------------------------------------------------ the closure of the GPU stack


class Asked(NamedTuple):
    """What the GPU stack requires: of each package the lines, and what markers are judged by."""

    lines: dict[str, tuple[str, ...]]
    markers: Mapping[str, str]
    owners: Mapping[str, Owner]  # required without a condition: who asks first
    unseen: Unknown | None = None  # metadata that could not be read


def asked(facts: Facts) -> Asked:
    """The requirements of the GPU stack, its neighbours, and of all that these need."""
    from gpuwhy.knowledge.pairs import is_neighbour

    installed = facts.environment.by_name
    waiting = [
        name
        for name in installed
        if (gpu_related(name) or is_neighbour(name)) and not name.startswith("nvidia-")
    ]
    found: dict[str, tuple[str, ...]] = {}
    owners: dict[str, Owner] = {}
    while waiting and len(found) < _MOST:
        name = waiting.pop(0)
        if name in found:
            continue
        requires = installed[name].requires
        if isinstance(requires, Unknown):
            return Asked({}, {}, {}, requires)
        found[name] = value_or(requires, ())
        for need in (name_of(line) for line in found[name] if not is_optional(line)):
            owners.setdefault(need, installed[name].owner)
            if need in installed and not need.startswith("nvidia-"):
                waiting.append(need)
    return Asked(found, _markers(facts), owners)


def _markers(facts: Facts) -> dict[str, str]:
    """The environment's own answers to markers, as far as they decide."""
    python = value_or(facts.environment.python, None)
    version, machine = (python.version, python.machine) if python else ("3.12.0", "")
    windows = value_or(facts.system.os, "linux") == "windows"
    whole = version if version.count(".") > 1 else f"{version}.99"  # markers are about early ones
    return {
        "python_version": major_minor(version),
        "python_full_version": whole,
        "sys_platform": "win32" if windows else "linux",
        "platform_system": "Windows" if windows else "Linux",
        "platform_machine": machine or "x86_64",
        "os_name": "nt" if windows else "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        **dict.fromkeys(("platform_release", "platform_version", "extra"), ""),
        "implementation_version": version,
    }


def refused(stack: Asked, name: str, version: str) -> tuple[str, str] | None:
    """Who in the GPU stack states a range that a release is not in, and the range."""
    for by, lines in stack.lines.items():
        said = [wish(line, stack.markers) for line in lines if name_of(line) == name]
        ranges = [one.range for one in said if one]
        if ranges and not any(allows(one, version) for one in ranges):
            return by, ranges[0]
    return None
