"""Device nodes by number: which major and minor each node must have, and which one leads elsewhere."""

from __future__ import annotations

import re

from gpuwhy.model.cause import Case
from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import DeviceNode

_GPU = re.compile(r"/dev/nvidia(\d+)\Z")
_FIXED = {"/dev/nvidiactl": 255, "/dev/nvidia-modeset": 254}
"""Minors that are the same everywhere."""
_UVM = {"/dev/nvidia-uvm": 0, "/dev/nvidia-uvm-tools": 1}
_CARDS = ("nvidia", "nvidia-frontend", "nvidiactl")
"""What the driver calls the cards' major in /proc/devices: the name changed with releases."""
_CAPS = "/dev/nvidia-caps/"


def wanted(case: Case, path: str) -> str:
    """The number that a node must have for the loaded driver, "" where that is not known; caps have any minor."""
    majors: dict[str, int] = value_or(case.facts.driver.majors, {})
    cards = next((majors[name] for name in _CARDS if name in majors), None)
    card = _GPU.match(path)
    if cards is not None and (card or path in _FIXED):
        return f"{cards}:{int(card[1]) if card else _FIXED[path]}"
    if "nvidia-uvm" in majors and path in _UVM:
        return f"{majors['nvidia-uvm']}:{_UVM[path]}"
    if "nvidia-caps" in majors and path.startswith(_CAPS):
        return f"{majors['nvidia-caps']}:"
    return ""


def astray(case: Case, node: DeviceNode) -> str:
    """The number that a node should have, where it has another one: it leads to another device or to none."""
    number = wanted(case, node.path)
    if not number or not node.present or not node.number:
        return ""
    return "" if node.number == number or (number.endswith(":") and node.number.startswith(number)) else number


def seen_otherwise(case: Case) -> list[tuple[str, str]]:
    """Nodes that CUDA must open and that a watched program saw otherwise; none where it saw no node at all."""
    seen: dict[str, str] = value_or(case.facts.run.nodes, {})
    cards = [node.path for node in value_or(case.facts.driver.nodes, ()) if node.present and _GPU.match(node.path)]
    left = any(path not in seen for path in cards)
    rows = [(path, number) for path, number in sorted(seen.items()) if not (left and _GPU.match(path))]
    if all(number == "missing" for _, number in rows):
        return []
    return sorted(rows, key=lambda row: row[1] == "missing")
