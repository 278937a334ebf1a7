"""What packages state that they need: lines read, markers judged, and the closure of it."""

import re
from functools import cache
from typing import NamedTuple

from gpuwhy.facts.fact import Owner, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.version import major_minor
from gpuwhy.look.environment.packages import gpu_related, normal

_MOST = 400  # packages whose metadata is read
_LINE = (
    r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?(@|(?=[<>=!~;)]|$))([^;)]*)\)?\s*(?:;(.*))?$"
)
Markers = tuple[tuple[str, str], ...]
"""The environment's own answers to markers."""


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


def wish(line: str, markers: Markers, extras: str = "") -> Wish | None:
    """What a line asks for here; `extras` matches names that count where an extra asks for them."""
    found = re.match(_LINE, line)
    if found is None:
        return None
    name, wanted = normal(found[1]), "" if found[2] else found[3].strip()
    holds = not found[4] or _holds(found[4].strip(), markers)
    by_extra = not holds and bool(extras) and is_optional(line) and bool(re.fullmatch(extras, name))
    return Wish(name, wanted, by_extra) if holds or by_extra else None


@cache
def _holds(marker: str, markers: Markers) -> bool:
    from packaging.markers import InvalidMarker, Marker, UndefinedComparison
    from packaging.markers import UndefinedEnvironmentName as Undefined

    try:
        return Marker(marker).evaluate(dict(markers))
    except (InvalidMarker, UndefinedComparison, Undefined, RecursionError):
        return False


class Asked(NamedTuple):
    """What the GPU stack requires: of each package the lines, and what markers are judged by."""

    lines: dict[str, tuple[str, ...]]
    markers: Markers
    owners: dict[str, Owner]  # required without a condition: who asks first
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
            return Asked({}, (), {}, requires)
        found[name] = value_or(requires, ())
        for need in (name_of(line) for line in found[name] if not is_optional(line)):
            owners.setdefault(need, installed[name].owner)
            if need in installed and not need.startswith("nvidia-"):
                waiting.append(need)
    return Asked(found, _markers(facts), owners)


def _markers(facts: Facts) -> Markers:
    python = value_or(facts.environment.python, None)
    version, machine = (python.version, python.machine) if python else ("3.12.0", "")
    windows = value_or(facts.system.os, "linux") == "windows"
    whole = version if version.count(".") > 1 else f"{version}.99"  # markers are about early ones
    said = {
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
    return tuple(said.items())


def refused(stack: Asked, name: str, version: str) -> tuple[str, str] | None:
    """Who in the GPU stack states a range that a release is not in, and the range."""
    from gpuwhy.knowledge.pairs import allows

    for by, lines in stack.lines.items():
        said = [wish(line, stack.markers) for line in lines if name_of(line) == name]
        ranges = [one.range for one in said if one]
        if ranges and not any(allows(one, version) for one in ranges):
            return by, ranges[0]
    return None
