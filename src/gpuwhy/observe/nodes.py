"""The device nodes that CUDA opens, and what opening them gave this user."""

from __future__ import annotations

import re

import msgspec

from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, known, or_unknown
from gpuwhy.model.facts import DeviceNode
from gpuwhy.observe.pci import gpu_minors
from gpuwhy.observe.scene import Scene

ALWAYS = ("/dev/nvidiactl", "/dev/nvidia-uvm")
WSL = "/dev/dxg"
_GPU = re.compile(r"/dev/nvidia\d+$")


def nodes(scene: Scene) -> Fact[tuple[DeviceNode, ...]]:
    """Every node that is there, and those that should be."""
    there = scene.host.list("/dev", r"nvidia(ctl|-uvm|-uvm-tools|-modeset|\d+)$|dxg$")
    null = scene.host.stat("/dev/null")
    if not isinstance(there, Known) or not isinstance(null, Known) or null.value.kind != "char":
        return Unknown("/dev is not that of a running system", "run gpuwhy on that machine")
    present = [f"/dev/{entry.name}" for entry in there.value]
    caps = scene.host.list("/dev/nvidia-caps", r"nvidia-cap\d+$")
    if isinstance(caps, Known):
        present += [f"/dev/nvidia-caps/{entry.name}" for entry in caps.value]
    opened = _opened(scene)
    needed = _needed(scene, present)
    paths = sorted({*present, *needed}, key=_order)
    seen = tuple(_node(scene, path, path in needed, opened) for path in paths)
    return Known(_spare(scene, seen), Source("folder", "/dev"))


def _order(path: str) -> tuple[bool, bool, str, int]:
    """nvidiactl, nvidia-uvm, the GPUs by number, the rest."""
    digits = re.search(r"\d+$", path)
    stem = path[: digits.start()] if digits else path
    return path not in ALWAYS, not _GPU.match(path), stem, int(digits.group()) if digits else 0


def _needed(scene: Scene, present: list[str]) -> set[str]:
    """What CUDA cannot do without: the control and memory nodes, and one per GPU; under WSL only /dev/dxg."""
    if WSL in present or isinstance(scene.facts.surroundings.wsl, Known):
        return {WSL}
    minors = gpu_minors(scene)
    gpus = {f"/dev/nvidia{n}" for n in minors.value} if isinstance(minors, Known) else set()
    return {*ALWAYS, *gpus, *(path for path in present if _GPU.match(path))}


def _opened(scene: Scene) -> dict[str, str] | Unknown:
    """What the child got for each node; Unknown when it told nothing."""
    lines = scene.host.call("nodes")
    if not isinstance(lines, Known):
        return Unknown(lines.reason if isinstance(lines, Unknown) else "nobody tried to open it")
    out: dict[str, str] = {}
    for line in lines.value:
        if "opening" in line:
            out[str(line["opening"])] = "hung"  # until its answer comes
        elif "path" in line:
            out[str(line["path"])] = str(line.get("opened", ""))
    return out


def _node(scene: Scene, path: str, required: bool, opened: dict[str, str] | Unknown) -> DeviceNode:
    found = scene.host.stat(path)
    if isinstance(found, Absent):
        return DeviceNode(path, required, False, "", Absent(Source("file", path)))
    mode, number = (found.value.mode, found.value.number) if isinstance(found, Known) else ("", "")
    return DeviceNode(path, required, True, mode, _outcome(path, opened), number)


def _outcome(path: str, opened: dict[str, str] | Unknown) -> Fact[str]:
    if isinstance(opened, Unknown):
        return opened
    said = opened.get(path)
    if said is None or said == "not tried":
        return Unknown(f"opening {path} was not tried")
    if said == "hung":
        return Unknown(f"{path}: open hung")
    return known(said, "call", f"open({path})")


def _spare(scene: Scene, seen: tuple[DeviceNode, ...]) -> tuple[DeviceNode, ...]:
    """A GPU that a container or a job was not given is nobody's fault while another GPU's node opens.

    A batch system's cgroup denies with EPERM where file modes deny with EACCES; a container leaves nodes out.
    """
    if not any(_GPU.match(n.path) and _is(n, "ok") for n in seen):
        return seen
    inside = not isinstance(scene.facts.surroundings.container, Absent)
    out = []
    for node in seen:
        withheld = _GPU.match(node.path) and (_is(node, "EPERM") or (inside and not node.present))
        out.append(msgspec.structs.replace(node, required=False) if withheld else node)
    return tuple(out)


def _is(node: DeviceNode, outcome: str) -> bool:
    return isinstance(node.opened, Known) and node.opened.value == outcome


def majors(scene: Scene) -> Fact[dict[str, int]]:
    """The major numbers under which the loaded driver is registered; Absent where it has none."""
    said = scene.host.lines("/proc/devices", "nvidia")
    if not isinstance(said, Known):
        return or_unknown(said, "/proc/devices: not there")
    found = (re.match(r"\s*(\d{1,4}) (nvidia[\w-]*)$", line) for line in said.value)
    rows = {match[2]: int(match[1]) for match in found if match}
    return Known(rows, said.source) if rows else Absent(said.source)
