"""The device nodes below /dev: there, the driver's own, and open to this user."""

import re

from gpuwhy.facts.driver import DeviceNode
from gpuwhy.facts.fact import Absent, Known, Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Finding, saw
from gpuwhy.signs import say
from gpuwhy.signs.case import Case, rows
from gpuwhy.signs.driver_library import unreachable

_GPU = re.compile(r"/dev/nvidia(\d+)\Z")
_MINORS = {  # of the nodes with one of their own, by what the driver registers
    "/dev/nvidiactl": ("", 255),
    "/dev/nvidia-modeset": ("", 254),
    "/dev/nvidia-uvm": ("nvidia-uvm", 0),
    "/dev/nvidia-uvm-tools": ("nvidia-uvm", 1),
}
_CARDS = ("nvidia", "nvidia-frontend", "nvidiactl")
"""What releases of the driver call the major number of the cards."""


def node_denied(case: Case) -> Finding | None:
    """A node that CUDA must open, and that refuses this user."""
    facts = case.facts
    if objection := unreachable(facts):
        return objection
    nodes = _needed(facts)
    there = [node for node in nodes if node.present]
    for node in there:
        error = value_or(node.opened, "")
        if error in ("EACCES", "EPERM"):
            why = _why(facts, error, node.mode)
            text = f"{node.path} ({node.mode}) cannot be opened: {error}, {why}"
            seen = saw(f"open {node.path}: {error}", node.opened)
            return say.proof(text, seen, node=node.path, mode=node.mode)
    for node in there:
        if node.opened.need() == "not a device":
            text = f"{node.path} ({node.mode}) is a plain file in the place of the device node"
            seen = saw(f"{node.path} is not a device", node.opened)
            return say.proof(text, seen, node=node.path, mode=node.mode)
    if nodes and all(_opens(facts, node) for node in nodes) and not mig_denied(case):
        return say.against("this user may open every device node that CUDA needs")
    return None


def node_missing(case: Case) -> Finding | None:
    """A node that CUDA must open and that is not there, where nothing makes it on first use."""
    facts, driver = case.facts, case.facts.driver
    if unreachable(facts):
        return None
    gone = next((node for node in _needed(facts) if not node.present), None)
    inside = isinstance(facts.system.container, Known)
    if gone is None or (value_or(driver.modprobe_setuid, False) and not inside):
        return None
    seen = saw(f"no {gone.path}", driver.nodes), saw("the module is loaded", driver.module_version)
    unsure = isinstance(driver.modprobe_setuid, Unknown) and not inside
    ending = "" if unsure else ", and no setuid nvidia-modprobe makes it on first use"
    ending = ": it was not passed to this container" if inside else ending
    version = driver.module_version.need()
    text = f"{gone.path} is missing, while kernel module {version} is loaded{ending}"
    return say.sure(not unsure)(text, *seen, node=gone.path, version=version)


def node_of_other_device(case: Case) -> Finding | None:
    """A node that leads to another device, or to none: of another driver, or made by hand."""
    facts = case.facts
    if unreachable(facts):
        return None
    for node in _needed(facts):
        if number := _right_number(facts, node):
            return say.proof(
                f"{node.path} has number {node.number}, while the loaded driver answers under "
                f"{number}",
                saw(f"{node.path} is {node.number}", facts.driver.nodes),
                saw(f"the driver has {number}", facts.driver.majors),
                node=node.path,
            )
    return None


def mig_denied(case: Case) -> Finding | None:
    """MIG is on, and this user may open the nodes of none of its parts."""
    facts = case.facts
    migs = [value_or(gpu.mig, None) for gpu in value_or(facts.devices.gpus, ())]
    if not any(mig and mig.current for mig in migs) or unreachable(facts):
        return None
    parts: dict[str, str] = facts.driver.mig_nodes.need() or {}
    seen = {node.path: node for node in facts.driver.nodes.need() or ()}
    shut: dict[str, DeviceNode] = {}
    for part, path in parts.items():
        gone = DeviceNode(path, True, False, "", Absent(Source("file", path)))
        node = seen.get(path, gone)
        if not node.present or node.opened.need() != "ok":
            shut[part] = node
    # a compute instance can be used where its own node and that of its GPU instance open
    usable = (part for part in parts if "/ci" in part and part not in shut)
    if not shut or any(part.rpartition("/")[0] not in shut for part in usable):
        return None
    part, node = next(iter(shut.items()))
    error = value_or(node.opened, "")
    inside = isinstance(facts.system.container, Known)
    what = "is missing" + (": it was not passed to this container" if inside else "")
    if node.present:
        what = f"cannot be opened: {error}, {_why(facts, error, node.mode)}"
    return say.proof(
        f"MIG is on, and {node.path}, by which the driver lets a program use {part}, {what}",
        saw(f"{node.path}: {error or 'not there'}", facts.driver.nodes),
        saw(f"{part} needs {node.path}", facts.driver.mig_nodes),
        node=node.path,
    )


def _opens(facts: Facts, node: DeviceNode) -> bool:
    return node.present and value_or(node.opened, "") == "ok" and not _right_number(facts, node)


def _needed(facts: Facts) -> list[DeviceNode]:
    """The control nodes, and the GPUs' unless one opens: schedulers hand out single GPUs."""
    required = [node for node in facts.driver.nodes.need() or () if node.required]
    cards = [node for node in required if _GPU.match(node.path)]
    usable = any(_opens(facts, node) for node in cards)
    return [node for node in required if node not in cards or not usable]


def _right_number(facts: Facts, node: DeviceNode) -> str:
    """The number that a node should have, where it has another one; "" where it is right."""
    majors: dict[str, int] = value_or(facts.driver.majors, {})
    card = _GPU.match(node.path)
    group, minor = ("", int(card[1])) if card else _MINORS.get(node.path, ("unknown", 0))
    major = next((majors[one] for one in ((group,) if group else _CARDS) if one in majors), None)
    wanted = f"{major}:{minor}"
    right = major is None or not node.present or node.number in ("", wanted)
    return "" if right else wanted


def _why(facts: Facts, error: str, mode: str) -> str:
    container = value_or(facts.system.container, "")
    if error == "EACCES" and mode.endswith("rw-") and container:
        who = f"SELinux or the user namespace of {container}"
        return f"although its mode lets everybody in: {who} forbids it"
    if error == "EACCES":
        return "the file mode does not let this user in"
    if not container:
        return "the device rules (cgroup) forbid it"
    rules = f"the device rules (cgroup) of this {container} container forbid it"
    return f"{rules}; a daemon-reload on the host takes them away from a running one"


SIGNS = rows(
    "driver.permission", "machine", node_denied, node_of_other_device, node_missing, mig_denied
)
