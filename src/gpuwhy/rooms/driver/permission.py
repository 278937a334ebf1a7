"""driver.permission: the driver is loaded, but this user cannot open the nodes below /dev, or they are missing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, against, proof, saw, strong
from gpuwhy.model.fact import Absent, Known, Source, Unknown, value_or
from gpuwhy.model.facts import DeviceNode
from gpuwhy.rooms.shared.nodes import astray, seen_otherwise
from gpuwhy.rooms.shared.starting import with_nodes
from gpuwhy.rooms.shared.winner import no_driver, no_nodes_in_container

DENIED = ("EACCES", "EPERM")
UNKNOWN_ERROR = 999
NO_DEVICE = "not a device"
_GPU = re.compile(r".*/nvidia\d+\Z")


def node_denied(case: Case) -> Finding | None:
    """A node that CUDA must open, and that refuses this user."""
    objection = no_driver(case.facts) or no_nodes_in_container(case.facts)
    if objection or seen_otherwise(case):
        return objection
    fact = case.facts.driver.nodes
    nodes = _needed(case, fact.need() or ())
    there = [node for node in nodes if node.present]
    for node in there:
        error = value_or(node.opened, "")
        if error in DENIED:
            text = f"{node.path} ({node.mode}) cannot be opened: {error}{_why(case, error, node.mode)}"
            return proof(text, saw(f"open {node.path}: {error}", node.opened), *_unknown_error(case))
    for node in there:
        if node.opened.need() == NO_DEVICE:
            text = f"{node.path} ({node.mode}) is a plain file in the place of the device node"
            return proof(text, saw(f"{node.path} is not a device", node.opened))
    if nodes and all(_opens(case, node) for node in nodes) and not mig_denied(case):
        return against("this user may open every device node that CUDA needs", saw("nodes open", fact))
    return None


def node_missing(case: Case) -> Finding | None:
    """A node that CUDA must open and that is not there, where nothing will make it on first use."""
    if no_driver(case.facts) or no_nodes_in_container(case.facts):
        return None
    fact, driver = case.facts.driver.nodes, case.facts.driver
    gone = next((node for node in _needed(case, fact.need() or ()) if not node.present), None)
    if gone is None:
        return None
    text = f"{gone.path} is missing, while kernel module {driver.module_version.need()} is loaded"
    seen = (saw(f"no {gone.path}", fact), saw("the module is loaded", driver.module_version))
    if isinstance(case.facts.surroundings.container, Known):
        return proof(f"{text}: it was not handed to this container", *seen)
    if value_or(driver.modprobe, "") == "setuid":
        return None
    if isinstance(driver.modprobe, Unknown):
        return strong(text, *seen)
    return proof(f"{text}, and no setuid nvidia-modprobe makes it on first use", *seen)


def node_astray(case: Case) -> Finding | None:
    """A node that is there and leads to another device, or to none: left over from another driver, or made by hand."""
    if no_driver(case.facts) or no_nodes_in_container(case.facts):
        return None
    fact, majors = case.facts.driver.nodes, case.facts.driver.majors
    for node in _needed(case, fact.need() or ()):
        number = astray(case, node)
        if number:
            said = value_or(node.opened, "")
            opened = f"; opening it gives {said}" if said and said != "ok" else ""
            text = f"{node.path} has number {node.number}, while the loaded driver answers under {number}{opened}"
            return proof(text, saw(f"{node.path} is {node.number}", fact), saw(f"the driver has {number}", majors))
    return None


def node_hidden(case: Case) -> Finding | None:
    """The program ran with a view of its own of /dev, in which something else is in the place of a node."""
    if not seen_otherwise(case) or not case.facts.run.failed:
        return None
    fact = case.facts.run.nodes
    path, number = seen_otherwise(case)[0]
    there = "did not see it" if number == "missing" else f"saw device {number} in its place"
    text = f"{path} is the driver's here, and the program {there}: it ran with a view of its own of /dev"
    return proof(text, saw(f"{path}: {number}", fact))


def mig_denied(case: Case) -> Finding | None:
    """MIG is on, and of none of its parts this user may open the nodes: NVML and CUDA then see no instance."""
    if not _divided(case) or no_driver(case.facts) or no_nodes_in_container(case.facts):
        return None
    shut = _shut_parts(case)
    if not shut:
        return None
    parts, fact = case.facts.driver.mig_parts, case.facts.driver.nodes
    part, node = shut[0]
    error = value_or(node.opened, "")
    inside = isinstance(case.facts.surroundings.container, Known)
    missing = "is missing" + (": it was not handed to this container" if inside else "")
    how = f"cannot be opened: {error}{_why(case, error, node.mode)}" if node.present else missing
    text = f"MIG is on, and {node.path}, by which the driver lets a program use {part}, {how}"
    return proof(text, saw(f"{node.path}: {error or 'not there'}", fact), saw(f"{part} needs {node.path}", parts))


def _divided(case: Case) -> bool:
    """Whether MIG is on for a GPU that is seen."""
    migs = [value_or(gpu.mig, None) for gpu in value_or(case.facts.devices.devices, ())]
    return any(mig is not None and mig.current for mig in migs)


def _shut_parts(case: Case) -> list[tuple[str, DeviceNode]]:
    """The parts whose nodes do not open; none where one compute instance can be used with the instance around it."""
    parts: dict[str, str] = case.facts.driver.mig_parts.need() or {}
    seen = {node.path: node for node in case.facts.driver.nodes.need() or ()}
    nodes = {part: seen.get(path, _gone(path)) for part, path in parts.items()}
    shut = [(part, node) for part, node in nodes.items() if not node.present or node.opened.need() != "ok"]
    bad = {part for part, _ in shut}
    usable = [part for part in parts if "/ci" in part and part not in bad and part.rpartition("/")[0] not in bad]
    return [] if usable else shut


def _gone(path: str) -> DeviceNode:
    return DeviceNode(path, True, False, "", Absent(Source("file", path)))


def _opens(case: Case, node: DeviceNode) -> bool:
    return node.present and value_or(node.opened, "") == "ok" and not astray(case, node)


def _needed(case: Case, nodes: Sequence[DeviceNode]) -> list[DeviceNode]:
    """The control nodes, and the GPU nodes unless one of them opens: schedulers hand out single GPUs."""
    required = [node for node in nodes if node.required]
    cards = [node for node in required if _GPU.match(node.path)]
    usable = any(_opens(case, node) for node in cards)
    return [node for node in required if node not in cards or not usable]


def _why(case: Case, error: str, mode: str) -> str:
    container = case.facts.surroundings.container
    if error == "EACCES" and mode.endswith("rw-") and isinstance(container, Known):
        return f", although its mode lets everybody in: SELinux or the user namespace of {container.value} forbids it"
    if error == "EACCES":
        return ", the file mode does not let this user in"
    inside = f" of this {container.value} container" if isinstance(container, Known) else ""
    reload = "; a daemon-reload on the host takes them away from a running one" if inside else ""
    return f", the device rules (cgroup){inside} forbid it{reload}"


def _unknown_error(case: Case) -> tuple[Evidence, ...]:
    """What NVML says in a container whose device rules were taken away while it ran."""
    error = case.facts.devices.nvml_error
    if not isinstance(error, Known) or error.value.code != UNKNOWN_ERROR:
        return ()
    return (saw(f"{error.value.call} returned {error.value.code} ({error.value.name})", error),)


def fixes(case: Case) -> tuple[Fix, ...]:
    """A program with a view of its own gets ours; else the nodes are mended."""
    hidden = seen_otherwise(case)
    return (_as_here(hidden),) if hidden else _mended(case)


def _mended(case: Case) -> tuple[Fix, ...]:
    """Containers are started again with the nodes; hosts get the nodes made or their mode opened."""
    container = case.facts.surroundings.container
    seen: tuple[DeviceNode, ...] = value_or(case.facts.driver.nodes, ())
    nodes = _needed(case, seen)
    wrong = [node for node in nodes if astray(case, node)]
    bad = [node for node in nodes if node in wrong or _shut(node)]
    parts = _shut_parts(case) if not bad and mig_denied(case) else []
    bad += [node for _, node in parts]
    if not isinstance(container, Known):
        return tuple(_parts_given(parts)) if parts else (*_made(bad, wrong), *_opened(bad))
    if wrong:
        return _anew(container.value)
    denied = next((value_or(node.opened, "") for node in bad if node.present), "")
    return with_nodes(container.value, denied, tuple(node.path for node in bad))


def _as_here(hidden: Sequence[tuple[str, str]]) -> Fix:
    names = " and ".join(path for path, _ in hidden)
    by = "what starts it (unshare, a sandbox, a prolog) puts something in their place"
    text = f"Start the program without its own view of /dev, or hand it {names} there: {by}"
    return Fix(text, check=on.linux("ls -l /dev/nvidia*"))


def _shut(node: DeviceNode) -> bool:
    return not node.present or value_or(node.opened, "") in (*DENIED, NO_DEVICE)


def _made(bad: Sequence[DeviceNode], wrong: Sequence[DeviceNode]) -> Iterator[Fix]:
    """Nodes that are not there, or that something else stands in the place of."""
    files = [node.path for node in bad if node in wrong or value_or(node.opened, "") == NO_DEVICE]
    if files:
        text = "Remove the file that is in the place of the device file, then create it"
        yield Fix(text, on.linux(f"sudo rm {' '.join(files)}"), root=True, role="part")
    if files or not all(node.present for node in bad):
        yield Fix("Create the device files", on.host("sudo nvidia-modprobe -u -c0"), root=True, role="part")


def _parts_given(parts: Sequence[tuple[str, DeviceNode]]) -> Iterator[Fix]:
    """Nodes of the parts of a GPU that are not there, or closed to this user."""
    gone = [part for part, node in parts if not node.present]
    if gone:
        places = [f"/proc/driver/nvidia/capabilities/{part.replace('/', '/mig/', 1)}/access" for part in gone]
        command = "sudo nvidia-modprobe " + " ".join(f"-f {place}" for place in places)
        yield Fix("Create the device files of MIG's instances", on.host(command), root=True, role="part")
    shut = [node.path for _, node in parts if node.present]
    if shut:
        text = "Let this user read the device files of the instance, until the next reboot"
        yield Fix(text, on.linux(f"sudo chmod a+r {' '.join(shut)}"), root=True, role="part")


def _opened(bad: Sequence[DeviceNode]) -> Iterator[Fix]:
    """Nodes that are there and closed to this user."""
    answers = {value_or(node.opened, "") for node in bad}
    if "EACCES" in answers:
        yield Fix(
            "Join the groups that own the nodes, then log in again",
            on.linux("sudo usermod -aG video,render $USER"),
            root=True,
            check=on.linux("ls -l /dev/nvidia*; id"),
            role="part",
            undo=on.linux("sudo gpasswd -d $USER video; sudo gpasswd -d $USER render"),
        )
        paths = " ".join(node.path for node in bad)
        yield Fix(
            "Or give every user access to the device files, until the next reboot",
            on.linux(f"sudo chmod a+rw {paths}"),
            root=True,
        )
    if "EPERM" in answers:
        yield Fix("Ask the scheduler for a GPU, or allow the nodes in the service's DeviceAllow= rules", root=True)


def _anew(where: str) -> tuple[Fix, ...]:
    """A container keeps the nodes of its start: after a reload of the driver only a new start brings the right ones."""
    command = {
        "docker": "docker restart NAME",
        "podman": "podman restart NAME",
        "kubernetes": "kubectl delete pod NAME",
    }
    look = Fix(
        "Check the device numbers on the host",
        on.linux("ls -l /dev/nvidia*; grep nvidia /proc/devices"),
        safe=True,
        role="look",
    )
    return look, Fix(
        "Start the container again: it keeps the device files that it was started with", command.get(where, "")
    )


CAUSE = Cause(
    id="driver.permission",
    title="no permission to open the GPU's device files (/dev/nvidia*)",
    signs=(node_denied, node_astray, node_missing, node_hidden, mig_denied),
    fixes=fixes,
    hides=("driver.not_ready",),
)
