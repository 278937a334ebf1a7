"""Holding: the torch that comes where no pin says which: the last one of an index or a channel that ended."""

from __future__ import annotations

import re
from typing import NamedTuple

from gpuwhy.knowledge import indexes
from gpuwhy.lint.scope import Scope, is_pinned
from gpuwhy.lint.sheet import Index, Pin
from gpuwhy.lint.versions import allowed, allows

_CHANNEL = {"11.6": "1.13.1", "11.7": "2.0.1", "11.8": "2.5.1", "12.1": "2.5.1", "12.4": "2.5.1"}
"""pytorch-cuda → the last pytorch of its own channel that was built with it."""


class Held(NamedTuple):
    """A torch that an index or a channel holds back: its release, the words for it, and its pin."""

    version: str
    said: str
    pin: Pin


def torch(scope: Scope) -> Held | None:
    """The torch that is taken from where it ended; None where it goes on, is pinned, or nobody can tell."""
    pins = [pin for pin in scope.pins if pin.name in ("torch", "pytorch") and not pin.arms]
    if len(pins) != 1 or pins[0].reference or pins[0].build or pins[0].version:
        return None
    held = _by_conda(scope, pins[0]) if pins[0].origin == "conda" else by_index(pins[0])
    return (by_neighbour(scope, held) or held) if held else None


def by_neighbour(scope: Scope, held: Held) -> Held | None:
    """The older torch that another package of the same command asks for (xformers names one): it decides."""
    for pin in scope.pins:
        beside = pin.step == held.pin.step and pin.origin == held.pin.origin == "pip" and pin.version and not pin.arms
        wishes = [wish.partition(";")[0] for wish in scope.asks(pin).get("torch", ())] if beside else []
        rows = allowed("torch", ",".join(filter(None, wishes))) if wishes else ()
        if rows and not any(allows(wish, held.version) for wish in wishes):
            said = f"torch {rows[-1].version} comes, as {pin.name}=={pin.version} asks (line {pin.place.line})"
            return Held(rows[-1].version, said, held.pin)
    return None


def by_index(pin: Pin) -> Held | None:
    """torch without an upper limit from PyTorch's own index alone, which ended."""
    index = _alone(pin)
    last = indexes.ends(index.backend) if index else ""
    version = newest_patch(last)
    if not index or not last or is_pinned(pin) or not allows(pin.specifier, version):
        return None
    return Held(version, f"torch {version} is the last of the index {index.backend} (line {pin.place.line})", pin)


def _alone(pin: Pin) -> Index | None:
    """The index that is asked instead of the default one."""
    found = [index for index in pin.indexes if index.role in ("only", "first") and index.backend]
    ours = pin.name == "torch" and pin.by_name and len(pin.indexes) == 1
    trial = bool(found) and re.search(r"/(nightly|test)/", found[0].url)
    return found[0] if ours and found and not trial else None


def newest_patch(minor: str) -> str:
    """2.5 → 2.5.1; a whole release stays as it is."""
    rows = allowed("torch", f"=={minor}.*") if minor.count(".") == 1 else ()
    return rows[-1].version if rows else minor


def _by_conda(scope: Scope, pin: Pin) -> Held | None:
    """conda's pytorch of the channel pytorch, chosen by pytorch-cuda: the channel ended with 2.5.1."""
    channels, chosen = scope.environment.channels, scope.names.get("pytorch-cuda")
    wanted = re.match(r"={1,2}\s*(\d+\.\d+)", chosen.specifier) if chosen else None
    own = pin.channel == "pytorch" or ("pytorch" in channels and _is_before(channels, "pytorch", "conda-forge"))
    version = _CHANNEL.get(wanted[1], "") if wanted else ""
    if pin.name != "pytorch" or not own or not version or not allows(pin.specifier, version):
        return None
    said = f"pytorch {version} is the last of the channel pytorch for CUDA {wanted[1] if wanted else ''}"
    return Held(version, f"{said} (line {pin.place.line})", pin)


def _is_before(channels: list[str], first: str, second: str) -> bool:
    return second not in channels or channels.index(first) < channels.index(second)
