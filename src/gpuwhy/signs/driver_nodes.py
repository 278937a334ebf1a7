"""The device nodes below /dev: there, the driver's own, and open to this user."""

from __future__ import annotations

import re

from gpuwhy.facts.driver import DeviceNode
from gpuwhy.facts.fact import Absent, Known, Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Finding, saw
from gpuwhy.signs.case import Case, against, proof, rows, strong
from gpuwhy.signs.driver_library import unreachable

_GPU = re.compile(r"/dev/nvidia(\d+)\Z")
_FIXED = {"/dev/nvidiactl": 255, "/dev/nvidia-modeset": 254}
_UVM = {"/dev/nvidia-uvm": 0, "/dev/nvidia-uvm-tools": 1}
_CARDS = ("nvidia", "nvidia-frontend", "nvidiactl")
_CAPS = "/dev/nvidia-caps/"


def node_denied(case: Case) -> Finding | None:
    """A node that CUDA must open, and that refuses this user."""
    facts = case.facts
    objection = unreachable(facts)
    if objection or seen_otherwise(facts):
        return objection
    nodes = _needed(facts)
    there = [node for node in nodes if node.present]
    for node in there:
        error = value_or(node.opened, "")
        if error in ("EACCES", "EPERM"):
            return proof(
                f"{{node}} ({{mode}}) cannot be opened: {{error}}{_why(facts, error, node.mode)}",
                saw(f"open {node.path}: {error}", node.opened),
                node=node.path,
                mode=node.mode,
                error=error,
            )
    for node in there:
        if node.opened.need() == "not a device":
            text = "{node} ({mode}) is a plain file in the place of the device node"
            seen = saw(f"{node.path} is not a device", node.opened)
            return proof(text, seen, node=node.path, mode=node.mode)
    if nodes and all(_opens(facts, node) for node in nodes) and not mig_denied(case):
        return against("this user may open every device node that CUDA needs")
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
    text = f"{{node}} is missing, while kernel module {{version}} is loaded{ending}"
    values = {"node": gone.path, "version": driver.module_version.need()}
    return (strong if unsure else proof)(text, *seen, **values)


def node_of_other_device(case: Case) -> Finding | None:
    """A node that leads to another device, or to none: of another driver, or made by hand."""
    facts = case.facts
    if unreachable(facts):
        return None
    for node in _needed(facts):
        number = _right_number(facts, node)
        if number:
            error = value_or(node.opened, "")
            more = "; opening it gives {error}" if error and error != "ok" else ""
            text = "{node} has number {has}, while the loaded driver answers under {number}"
            return proof(
                text + more,
                saw(f"{node.path} is {node.number}", facts.driver.nodes),
                saw(f"the driver has {number}", facts.driver.majors),
                node=node.path,
                has=node.number,
                number=number,
                error=error,
            )
    return None


def node_hidden(case: Case) -> Finding | None:
    """The program ran with a view of its own of /dev, with something else in a node's place."""
    seen, run = seen_otherwise(case.facts), case.facts.run
    if not seen or not run.failed:
        return None
    path, number = seen[0]
    saw_what = "did not see it" if number == "missing" else "saw device {number} in its place"
    text = f"{{node}} is the driver's here, and the program {saw_what}: its /dev is another one"
    return proof(text, saw(f"{path}: {number}", run.nodes), node=path, number=number)


def mig_denied(case: Case) -> Finding | None:
    """MIG is on, and this user may open the nodes of none of its parts."""
    facts = case.facts
    migs = [value_or(gpu.mig, None) for gpu in value_or(facts.devices.gpus, ())]
    if not any(mig and mig.current for mig in migs) or unreachable(facts):
        return None
    shut = _shut_parts(facts)
    if not shut:
        return None
    part, node = shut[0]
    error = value_or(node.opened, "")
    inside = isinstance(facts.system.container, Known)
    what = "is missing" + (": it was not passed to this container" if inside else "")
    if node.present:
        what = f"cannot be opened: {{error}}{_why(facts, error, node.mode)}"
    return proof(
        f"MIG is on, and {{node}}, by which the driver lets a program use {{part}}, {what}",
        saw(f"{node.path}: {error or 'not there'}", facts.driver.nodes),
        saw(f"{part} needs {node.path}", facts.driver.mig_nodes),
        node=node.path,
        part=part,
        error=error,
    )


def _shut_parts(facts: Facts) -> list[tuple[str, DeviceNode]]:
    """The parts whose nodes do not open; none where one compute instance can be used."""
    parts: dict[str, str] = facts.driver.mig_nodes.need() or {}
    seen = {node.path: node for node in facts.driver.nodes.need() or ()}
    nodes = {part: seen.get(path, _gone(path)) for part, path in parts.items()}
    shut = [(p, n) for p, n in nodes.items() if not n.present or n.opened.need() != "ok"]
    bad = {part for part, _ in shut}
    good = (part for part in parts if "/ci" in part and part not in bad)
    return [] if any(part.rpartition("/")[0] not in bad for part in good) else shut


def _gone(path: str) -> DeviceNode:
    return DeviceNode(path, True, False, "", Absent(Source("file", path)))


def _opens(facts: Facts, node: DeviceNode) -> bool:
    return node.present and value_or(node.opened, "") == "ok" and not _right_number(facts, node)


def _needed(facts: Facts) -> list[DeviceNode]:
    """The control nodes, and the GPUs' unless one opens: schedulers hand out single GPUs."""
    required = [node for node in facts.driver.nodes.need() or () if node.required]
    cards = [node for node in required if _GPU.match(node.path)]
    usable = any(_opens(facts, node) for node in cards)
    return [node for node in required if node not in cards or not usable]


def _right_number(facts: Facts, node: DeviceNode) -> str:
    """The number that a node should have, where it has another one; caps have any minor."""
    majors: dict[str, int] = value_or(facts.driver.majors, {})
    cards = next((majors[name] for name in _CARDS if name in majors), None)
    card = _GPU.match(node.path)
    wanted = ""
    if cards is not None and (card or node.path in _FIXED):
        wanted = f"{cards}:{int(card[1]) if card else _FIXED[node.path]}"
    elif "nvidia-uvm" in majors and node.path in _UVM:
        wanted = f"{majors['nvidia-uvm']}:{_UVM[node.path]}"
    elif "nvidia-caps" in majors and node.path.startswith(_CAPS):
        wanted = f"{majors['nvidia-caps']}:"
    if not wanted or not node.present or not node.number or node.number == wanted:
        return ""
    return "" if wanted.endswith(":") and node.number.startswith(wanted) else wanted


def seen_otherwise(facts: Facts) -> list[tuple[str, str]]:
    """Nodes that a watched program saw otherwise; none where it saw no node at all."""
    seen: dict[str, str] = value_or(facts.run.nodes, {})
    nodes = value_or(facts.driver.nodes, ())
    cards = [node.path for node in nodes if node.present and _GPU.match(node.path)]
    left = any(path not in seen for path in cards)
    found = [(p, n) for p, n in sorted(seen.items()) if not (left and _GPU.match(p))]
    if all(number == "missing" for _, number in found):
        return []
    return sorted(found, key=lambda row: row[1] == "missing")


def _why(facts: Facts, error: str, mode: str) -> str:
    container = value_or(facts.system.container, "")
    if error == "EACCES" and mode.endswith("rw-") and container:
        who = f"SELinux or the user namespace of {container}"
        return f", although its mode lets everybody in: {who} forbids it"
    if error == "EACCES":
        return ", the file mode does not let this user in"
    if not container:
        return ", the device rules (cgroup) forbid it"
    rules = f"the device rules (cgroup) of this {container} container forbid it"
    return f", {rules}; a daemon-reload on the host takes them away from a running one"


SIGNS = rows(
    "driver.permission",
    "machine",
    *(node_denied, node_of_other_device, node_missing, node_hidden, mig_denied),
)
