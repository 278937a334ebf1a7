"""Solving: the pins of an environment as the installer gets them: what is asked for at once, on which Pythons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from gpuwhy.knowledge import asked, published
from gpuwhy.knowledge.releases import family, has_python
from gpuwhy.lint.index import JUDGED
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import PYTORCH, Pin, holds_only
from gpuwhy.lint.taking import Network
from gpuwhy.lint.versions import LINUX, PYTHONS, allowed, holds
from gpuwhy.model.version import numbers

_ANY = tuple(p for p in PYTHONS if p not in ("3.6", "3.15"))
_TOOLS = frozenset(
    [
        "python", "pip", "setuptools", "wheel", "git", "ffmpeg", "cudatoolkit", "cudnn", "cuda-toolkit", "cuda-nvcc",
        "gcc", "gxx", "ninja", "cmake", "make",
    ]
)  # fmt: skip


Arms = tuple[tuple[int, int], ...]
"""The branches of a script in which a command stands."""


def steps(scope: Scope, arms: Arms = ()) -> dict[int, list[Pin]]:
    """What each command installs by name; one command where a file is installed at once; of branches, those named."""
    out: dict[int, list[Pin]] = {}
    for pin in scope.environment.pins:
        if pin.origin == "pip" and not pin.reference and pin.arms in ((), arms) and not pin.optional:
            out.setdefault(pin.step, []).append(pin)
    return out


def is_compared(scope: Scope, step: int) -> bool:
    """Whether the installer looks at what the packages of a command ask for."""
    stage = scope.environment
    return (
        not scope.is_bare(step)
        and not stage.locked
        and not stage.forked
        and not stage.other_index
        and not _without(scope)
    )


def _without(scope: Scope) -> bool:
    return scope.kind == "requirements" and scope.without_dependencies


def pythons(scope: Scope) -> tuple[str, ...]:
    """The Pythons that an environment may have."""
    if not scope.environment.pythons and scope.hinted:
        return tuple(p for p in PYTHONS if p in scope.hinted)  # none where it is older than all that are known here
    return tuple(p for p in scope.environment.pythons if p in PYTHONS) or _ANY


def of_frameworks(scope: Scope) -> tuple[str, ...]:
    """The Pythons that every pinned framework of an environment has a wheel for; () where none is pinned."""
    rows = [row for pin in scope.pins if pin.version and family(pin.name) and (row := scope.taken(pin))]
    sets = [set(row.pythons) for row in rows if row.platform == LINUX and row.pythons]
    return tuple(sorted(set.intersection(*sets), key=numbers)) if sets else ()


def network(pins: Iterable[Pin], python: str) -> Network:
    """What is possible for some pins on a Python."""
    wanted: dict[str, list[str]] = {}
    limited: dict[str, list[str]] = {}
    for pin in pins:
        if holds(pin.marker, python):
            (limited if pin.limits else wanted).setdefault(pin.name, []).append(_public(pin))
    joined = {name: ",".join(filter(None, [*specs, *limited.get(name, ())])) for name, specs in wanted.items()}
    return _network(tuple(joined.items()), python)


@lru_cache(maxsize=256)
def _network(wanted: tuple[tuple[str, str], ...], python: str) -> Network:
    return Network(dict(wanted), python)


def _public(pin: Pin) -> str:
    """A specifier without a local label; nothing for a torch whose newest release another index decides."""
    free = pin.name in PYTORCH and not pin.version and any(holds_only(index.url) == "torch" for index in pin.indexes)
    return "" if free else pin.specifier.partition("+")[0] if pin.version else pin.specifier


@lru_cache(maxsize=256)
def _taken(wanted: tuple[tuple[str, str], ...], python: str, late: str) -> dict[str, str]:
    found = _network(wanted, python)
    return {} if found.empty else found.taken(late=late)


def taken(
    scope: Scope, name: str, among: Iterable[str], only: int = -1, late: bool = False, arms: Arms = ()
) -> Iterator[str]:
    """The releases of a package that an installer takes on these Pythons, if anything (of one command) brings it.

    `late`: after the newest of all others was taken, which may hold it back; without, as the first of what is brought.
    """
    by_step = _for(scope, name, arms)
    groups = list(by_step.values()) if only < 0 else [by_step.get(only, [])]
    for python in among:
        if any(is_refused(pins, python) for pins in groups):
            continue  # the installation fails there, so nothing comes
        release = _release([pin for pins in groups for pin in pins], python, name, late)
        ordered = groups if late else reversed(groups)  # what an earlier command brought stays, if it may
        one_by_one = (_release(pins, python, name, late) for pins in ordered)
        release = release or next(filter(None, one_by_one), "")
        if release:
            yield release


def _for(scope: Scope, name: str, arms: Arms) -> dict[int, list[Pin]]:
    """What each command may bring a package by: wheels that are named too, and nothing else where it brings none."""
    out = steps(scope, arms)
    for pin in scope.environment.pins:
        if pin.reference and pin.version and pin.origin == "pip":
            out.setdefault(pin.step, []).append(pin)
    return {step: [p for p in pins if p.name == name or not scope.is_bare(step)] for step, pins in out.items()}


def is_refused(pins: list[Pin], python: str) -> bool:
    """Whether one of some pins has no release, or as a framework no wheel, for a Python."""
    return bool(network(pins, python).lacking) or any(is_without_wheel(pin, python) for pin in pins)


def is_without_wheel(pin: Pin, python: str) -> bool:
    """Whether a framework, or what has no sources, is pinned to a release that has no wheel for a Python."""
    if not pin.version or pin.limits or not holds(pin.marker, python):
        return False
    if pin.name not in JUDGED:
        last = published.last_python(pin.name, pin.version)
        return bool(last) and numbers(python) > numbers(last)
    rows = allowed(pin.name, pin.specifier.partition("+")[0])
    wheels = [row for row in rows if row.platform == LINUX]
    return bool(wheels) and not any(has_python(row, python) for row in wheels)


def _release(pins: list[Pin], python: str, name: str, late: bool) -> str:
    found = network(pins, python)
    return _taken(tuple(found.wanted.items()), python, name if late else "").get(name, "")


def by_pip_alone(scope: Scope) -> bool:
    """Whether conda brings nothing but tools, and pip decides what is beside a package."""
    return all(pin.origin == "pip" or pin.name in _TOOLS for pin in scope.environment.pins)


def unread(scope: Scope, names: Iterable[str]) -> bool:
    """Whether one of some packages is pinned whose releases nobody here has read."""
    return any(pin.specifier and pin.name in names and not _is_read(pin) for pin in scope.environment.pins)


def _is_read(pin: Pin) -> bool:
    version = pin.version.partition("+")[0]
    return asked.knows(pin.name) and (not version or asked.has(pin.name, version))
