"""Ending: what is installed at the end, when the image and each command in turn have had their say.

pip keeps what is there and fits, takes the newest of what is missing or does not fit, and does not look back at what
earlier commands asked for. What nobody here can tell (a branch, a path, a file that is not there) is forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.knowledge import asked, held
from gpuwhy.lint import solving
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import PYTORCH, Pin, holds_only
from gpuwhy.lint.taking import Network
from gpuwhy.lint.versions import allowed, allows

_FAMILIES = ("pytorch", "tensorflow", "ngc", "aws")
_KINDS = ("dockerfile", "script", "workflow", "modal", "cog", "singularity")
_SOME = 3  # Pythons that are tried, the newest ones


class Put(NamedTuple):
    """A package as it is there: its release, and the pin whose command brought it; None = the image."""

    version: str
    pin: Pin | None


class Change(NamedTuple):
    """A command that puts another release over one that was there."""

    name: str
    before: Put
    after: Put


class End(NamedTuple):
    """What is there at the end, on one Python."""

    python: str
    packages: dict[str, Put]
    changes: tuple[Change, ...]


def ends(scope: Scope) -> list[End]:
    """The end on each Python that may be; nothing where commands do not follow each other."""
    stage = scope.environment
    if scope.kind not in _KINDS or stage.locked or stage.forked or stage.other_index or stage.includes_unknown:
        return []
    if not solving.by_pip_alone(scope):
        return []  # what conda put there before pip stays, and which release that is nobody here knows
    found = (_end(scope, python) for python in (stage.pythons or solving.pythons(scope))[-_SOME:])
    return [end for end in found if end is not None]


def of_image(scope: Scope) -> dict[str, str]:
    """The packages of the image that are known."""
    base = scope.base
    return held.packages(base.framework, base.version, base.python) if base.family in _FAMILIES else {}


def _end(scope: Scope, python: str) -> End | None:
    there = {name: Put(version, None) for name, version in of_image(scope).items()}
    changes: list[Change] = []
    for step, pins in sorted(_steps(scope).items()):
        after = _after(scope, there, step, pins, python)
        if after is None:
            return None
        changes += [
            Change(name, there[name], put)
            for name, put in after.items()
            if name in there and put.version != there[name].version
        ]
        there = after
    return End(python, there, tuple(changes))


def _steps(scope: Scope) -> dict[int, list[Pin]]:
    out: dict[int, list[Pin]] = {}
    for pin in (*scope.environment.pins, *scope.project):
        if pin.origin == "pip" and not pin.optional:
            out.setdefault(pin.step, []).append(pin)
    for step, command in enumerate(scope.environment.commands, 1):
        if re.search(r"\bpip[\d.]* uninstall\b", command.text):
            out.setdefault(step, [])
    return out


def _after(scope: Scope, there: dict[str, Put], step: int, pins: list[Pin], python: str) -> dict[str, Put] | None:
    """What is there after one command; None where it fails, or nobody can tell."""
    unsure = [pin for pin in pins if _is_unsure(pin)]
    sure = [pin for pin in pins if not _is_unsure(pin)]
    out = {name: put for name, put in there.items() if name not in gone(scope, step)}
    network = solving.network(sure, python)
    if network.empty or network.lacking or any(_is_for_another(pin, python) for pin in unsure):
        return None
    for name, version in _taken(scope, network, out, step).items():
        if name not in out or out[name].version != version:
            out[name] = Put(version, _bringer(sure, name))
    return _forgotten(out, unsure)


def _is_for_another(pin: Pin, python: str) -> bool:
    """Whether a wheel that is named by its file is for another Python: the command fails, and brings nothing."""
    tagged = re.fullmatch(r"cp(\d)(\d+)", pin.tag)
    return bool(tagged) and not pin.arms and not pin.marker and f"{tagged[1]}.{tagged[2]}" != python  # type: ignore[index]


def _forgotten(there: dict[str, Put], unsure: list[Pin]) -> dict[str, Put]:
    """Without what nobody can tell, and with what is named by its file."""
    names = {pin.name for pin in unsure}
    named = {pin.name: Put(pin.version.partition("+")[0], pin) for pin in unsure if pin.version and not pin.arms}
    return {name: put for name, put in there.items() if name not in names} | named


def _is_unsure(pin: Pin) -> bool:
    """Whether nobody here can tell which release a pin brings, or whether it does."""
    return pin.reference or bool(pin.arms) or (not pin.version and _from_others(pin))


def _from_others(pin: Pin) -> bool:
    """Whether one of the indexes that are named may decide the release."""
    held = {holds_only(index.url) for index in pin.indexes} - {"mirror"}
    return (
        "" in held or ("torch" in held and pin.name in PYTORCH) or bool(held - {"torch"} and _OF_OTHERS.match(pin.name))
    )


_OF_OTHERS = re.compile(r"torch-|jax|dgl|mmcv|flashinfer|auto-gptq|llama-cpp|paddle|nvidia|pyg|tensorrt")
"""Packages of the small indexes that are known."""


def gone(scope: Scope, step: int) -> set[str]:
    """What a command takes away."""
    commands = scope.environment.commands
    words = commands[step - 1].words if 0 < step <= len(commands) else ()
    return set(words) if "uninstall" in words else set()


def _taken(scope: Scope, network: Network, there: dict[str, Put], step: int) -> dict[str, str]:
    commands = scope.environment.commands
    words = commands[step - 1].words if 0 < step <= len(commands) else ()
    lifted = {"-U", "--upgrade"} & set(words)
    kept = {name: put.version for name, put in there.items() if not (lifted and name in network.wanted)}
    if "--no-deps" in words:
        return {n: asked.newest(n, network.sets[n]) for n in network.wanted if network.sets.get(n)}
    return network.taken(kept)


CONDA_NAMES = {
    "pytorch": "torch", "pytorch-gpu": "torch", "tensorflow": "tensorflow", "tensorflow-gpu": "tensorflow",
    "jax": "jax",
}  # fmt: skip
"""What conda calls a framework → what its package is called for pip, which finds it there."""


def is_after(pin: Pin, other: Pin) -> bool:
    """Whether a package of conda's is installed after one of pip's: by their commands, else by their lines."""
    if pin.step and other.step:
        return pin.step > other.step
    return pin.place.path == other.place.path and pin.place.line > other.place.line


def is_there_by_conda(scope: Scope, pin: Pin) -> bool:
    """Whether conda has put a framework there before, of a release that is good enough for pip's pin: pip keeps it."""
    if pin.variant or pin.reference or _LIFTED & set(_words(scope, pin.step)):
        return False
    rows = [row.version for p in _by_conda(scope, pin) for row in allowed(pin.name, p.specifier)[-1:]]
    return bool(rows) and all(allows(pin.specifier, version) for version in rows)


_LIFTED = {"-U", "--upgrade", "--force-reinstall", "-I"}


def _words(scope: Scope, step: int) -> tuple[str, ...]:
    commands = scope.environment.commands
    return commands[step - 1].words if 0 < step <= len(commands) else ()


def _by_conda(scope: Scope, pin: Pin) -> list[Pin]:
    """The packages of conda's, installed before, that pip knows by a pin's name."""
    there = [p for p in scope.environment.pins if p.origin == "conda" and p.arms == pin.arms]
    return [p for p in there if CONDA_NAMES.get(p.name) == pin.name and not is_after(p, pin)]


def _bringer(pins: list[Pin], name: str) -> Pin | None:
    """The pin that names a package, else the first whose newest release asks for it, or for who does."""
    own = next((pin for pin in pins if pin.name == name), None)
    asking = (pin for pin in pins if name in asked.asks(pin.name, pin.version))
    behind = (pin for pin in pins if any(name in asked.asks(one, "") for one in asked.asks(pin.name, pin.version)))
    return own or next(asking, None) or next(behind, None) or (pins[0] if pins else None)


def everywhere(found: list[End], name: str, limit: str) -> Iterator[Put]:
    """The package as it ends past a limit, where it does so on every Python."""
    puts = [end.packages[name] for end in found if name in end.packages]
    if puts and len(puts) == len(found) and not any(allows(limit, put.version) for put in puts):
        yield puts[-1]
