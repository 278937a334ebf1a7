"""The parts that MIG made of a GPU, and the device node by which the driver lets a program use each of them."""

from __future__ import annotations

import re

from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown
from gpuwhy.observe.scene import Scene

MADE = "/proc/driver/nvidia/capabilities"
MINORS = "/proc/driver/nvidia-caps/mig-minors"
STATUS = "/proc/self/status"
NODE = "/dev/nvidia-caps/nvidia-cap{}"
ADMIN = 1 << 21
"""CAP_SYS_ADMIN: who has it needs none of these nodes."""
_MINOR = re.compile(r"(?P<part>gpu\d+/gi\d+(?:/ci\d+)?)/access (?P<minor>\d+)$")


def mig_parts(scene: Scene) -> Fact[dict[str, str]]:
    """Each part with its node; Absent where none was made, or where this user may use all of them without."""
    made = _made(scene)
    if not isinstance(made, Known):
        return made
    if not made.value:
        return Absent(made.source)
    allowed = scene.host.lines(STATUS, "CapEff:")
    mask = _mask(allowed.value) if isinstance(allowed, Known) else None
    if mask is None:
        return Unknown(f"{STATUS} does not tell what this process may do")
    if mask & ADMIN:
        return Absent(Source("file", STATUS))
    minors = scene.host.lines(MINORS, "/access")
    if not isinstance(minors, Known):
        return Unknown(f"{MINORS} cannot be read: which nodes belong to the parts of the GPU is not told")
    numbers = {found["part"]: found["minor"] for line in minors.value if (found := _MINOR.match(line.strip()))}
    if not all(part in numbers for part in made.value):
        return Unknown(f"{MINORS} does not name every part that was made")
    return Known({part: NODE.format(numbers[part]) for part in made.value}, minors.source)


def _made(scene: Scene) -> Fact[tuple[str, ...]]:
    """The instances and the compute instances in them that the driver lists: gpu0/gi1, gpu0/gi1/ci0."""
    cards = scene.host.list(MADE, r"gpu\d+$")
    if not isinstance(cards, Known):
        return Unknown(f"{MADE} cannot be read: which parts MIG made is not told")
    parts: list[str] = []
    for card in cards.value:
        for one in _names(scene, f"{MADE}/{card.name}/mig", r"gi\d+$"):
            parts.append(f"{card.name}/{one}")
            within = _names(scene, f"{MADE}/{card.name}/mig/{one}", r"ci\d+$")
            parts += [f"{card.name}/{one}/{inner}" for inner in within]
    return Known(tuple(parts), cards.source)


def _names(scene: Scene, folder: str, match: str) -> tuple[str, ...]:
    found = scene.host.list(folder, match)
    return tuple(entry.name for entry in found.value) if isinstance(found, Known) else ()


def _mask(lines: tuple[str, ...]) -> int | None:
    found = next((re.match(r"CapEff:\s*([0-9a-f]{1,16})$", line) for line in lines), None)
    return int(found[1], 16) if found else None
