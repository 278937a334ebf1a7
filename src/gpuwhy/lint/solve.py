"""What pip takes for several requirements at once, by the harvested metadata."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from gpuwhy.knowledge import asked
from gpuwhy.lint.sheet import PYTORCH, Pin, holds_only
from gpuwhy.lint.versions import holds

_ROUNDS = 40


class Taken(NamedTuple):
    """The release of each package on one Python; two packages that leave each other none."""

    releases: Mapping[str, str]
    clash: tuple[str, ...] = ()


def solve(pins: Iterable[Pin], python: str) -> Taken:
    """What pip takes for these pins at once: the newest release of each that fits the others."""
    wanted: dict[str, list[str]] = {}
    limited: dict[str, list[str]] = {}
    for pin in pins:
        if pin.origin != "pip" or pin.reference or not holds(pin.marker, python):
            continue
        elsewhere = any(holds_only(index.url) == "torch" for index in pin.indexes)
        if pin.version:
            spec = pin.specifier.partition("+")[0]  # without a local label
        else:  # which torch comes, another index decides
            spec = "" if pin.name in PYTORCH and elsewhere else pin.specifier
        (limited if pin.limits else wanted).setdefault(pin.name, []).append(spec)
    specs = ((name, [*of, *limited.get(name, ())]) for name, of in wanted.items())
    return _taken(tuple((name, ",".join(filter(None, of))) for name, of in specs), python)


@lru_cache(maxsize=512)
def _taken(wanted: tuple[tuple[str, str], ...], python: str) -> Taken:
    """Exact pins narrow the rest first; then each package takes the newest release that fits."""
    possible: dict[str, int] = {}
    for name, spec in wanted:
        named = asked.allowed(name, spec) if asked.knows(name) else 0
        bits = asked.on_python(name, python) & named if named else 0
        if named and not bits:
            return Taken({})
        possible |= {name: bits} if bits else {}
    order = sorted(possible, key=lambda name: possible[name].bit_count() != 1)
    chosen: dict[str, str] = {}
    for _ in range(_ROUNDS):
        before = dict(possible)
        for name in dict.fromkeys((*order, *possible)):
            bits, lost = _fitting(name, possible, python)
            if lost:
                return Taken(chosen, (lost, name) if lost in dict(wanted) else ())
            chosen[name] = asked.newest(name, bits)
            for other, demand in _asks(name, bits, python).items():
                now = possible.get(other, asked.on_python(other, python)) & demand
                possible |= {other: now} if now else {}
        if possible == before:
            break
    return Taken(chosen)


def _fitting(name: str, possible: dict[str, int], python: str) -> tuple[int, str]:
    """The newest possible releases of a package whose demands can be met; else what stops them."""
    first = ""
    for group in reversed(asked.project(name).groups):
        bits = group.bits & possible[name]
        asks = _asks(name, bits, python) if bits else {}
        lost = next((one for one in asks if not possible.get(one, -1) & asks[one]), "")
        if bits and not lost:
            return bits, ""
        first = first or lost
    return possible[name], first


def _asks(name: str, bits: int, python: str) -> dict[str, int]:
    """What the newest of some releases asks for."""
    top = 1 << (bits.bit_length() - 1)
    groups = asked.project(name).groups
    at = next((at for at, group in enumerate(groups) if group.bits & top), None)
    return asked.demands(name, at, python) if at is not None else {}
