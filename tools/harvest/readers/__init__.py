"""Readers: one file per family; `light` reads small members only, `deep` what binaries alone tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tools.harvest.reading import Reading, requirements
from tools.harvest.tags import Tagged
from tools.harvest.wheel import Wheel

Light = Callable[[Wheel, Tagged], Reading]
Deep = Callable[[Wheel, Tagged, Reading], None]


class Reader(NamedTuple):
    """How one family is read; `wants` says whether a light reading leaves something to the deep one."""

    light: Light
    deep: Deep | None = None
    wants: Callable[[Tagged, Reading], bool] = lambda _tagged, _reading: False
    version: int = 1  # raised when the reader reads more or otherwise: old readings are then read again


class Disagreement(Exception):  # noqa: N818 - the files disagree, we did not err
    """Two places of one file contradict each other; no row is written."""


def find(wheel: Wheel, ending: str) -> str:
    """The shortest member name that ends so; "" where none does."""
    return min((name for name in wheel.members if name.endswith(ending)), key=len, default="")


def text(wheel: Wheel, name: str) -> str:
    """A small member as text."""
    return wheel.read(name, 4 << 20).decode("utf-8", "replace") if name else ""


def metadata(wheel: Wheel) -> tuple[str, list[tuple[str, str, str, str]]]:
    """The METADATA member's name and its requirements."""
    name = find(wheel, ".dist-info/METADATA")
    return name, requirements(text(wheel, name))


def nvidia_requirements(rows: list[tuple[str, str, str, str]], tagged: Tagged, extra: str = "") -> dict[str, str]:
    """The nvidia-* (and cuda-toolkit) requirements that hold on this platform, with their ranges."""
    out = {}
    for name, extras, specifier, marker in rows:
        if not name.startswith(("nvidia-", "cuda-toolkit", "cuda-bindings")) or not _holds(marker, tagged, extra):
            continue
        out[name + (f"[{extras}]" if extras else "")] = specifier
    return dict(sorted(out.items()))


def _holds(marker: str, tagged: Tagged, extra: str) -> bool:
    from packaging.markers import InvalidMarker, Marker

    system, _, machine = tagged.platform.partition("-")
    names = {"linux": "Linux", "windows": "Windows", "macos": "Darwin"}
    plain = [p.rstrip("t+") for p in tagged.pythons]
    env = {
        "platform_system": names.get(system, "Linux"),
        "sys_platform": {"windows": "win32", "macos": "darwin"}.get(system, "linux"),
        "platform_machine": {"windows-x86_64": "AMD64"}.get(tagged.platform, machine or "x86_64"),
        "os_name": "nt" if system == "windows" else "posix",
        "python_version": plain[-1] if plain and "." in plain[-1] else "3.10",
        "platform_python_implementation": "CPython",
        "implementation_name": "cpython",
        "extra": extra,
    }
    try:
        return not marker or Marker(marker).evaluate(env)
    except (InvalidMarker, KeyError):
        return False
