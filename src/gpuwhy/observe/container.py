"""Container: are we in one, which kind, and what of the GPU did its runtime bring in?"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, absent, known, value_or
from gpuwhy.model.facts import Injected
from gpuwhy.observe.cgroup import own_folders
from gpuwhy.observe.scene import Scene

# Most telling first: a pod also has its engine's marks.
_VARIABLES = (
    ("KUBERNETES_SERVICE_HOST", "kubernetes"),
    ("SINGULARITY_NAME", "singularity"),
    ("APPTAINER_NAME", "singularity"),
)
_MARKS = (
    ("/var/run/secrets/kubernetes.io", "kubernetes"),
    ("/.singularity.d", "singularity"),
    ("/run/.containerenv", "podman"),
    ("/.dockerenv", "docker"),
)
_GROUPS = (("kubepods", "kubernetes"), ("libpod", "podman"), ("docker", "docker"), ("lxc", "lxc"))
_WSL_FOLDERS = frozenset({"/usr/lib/wsl", "/usr/lib/wsl/drivers", "/usr/lib/wsl/lib"})
_DXG_HELPER = "libnvdxgdmal.so.1"
_NOT_CONTAINERS = frozenset({"", "wsl"})  # systemd calls WSL a container; here it has a field of its own


def container(scene: Scene) -> Fact[str]:
    """The kind of container; Absent when variables and marker files were looked at and none is there.

    A virtual machine made from a container image keeps docker's or podman's marks: its root tells.
    """
    image = scene.host.offline()
    if isinstance(image, Known) and image.value.kind == "image":
        return Known("image", image.source)
    found = _marked(scene.host)
    if isinstance(found, Known) and found.value in ("docker", "podman") and _boots_from_disk(scene.host):
        return absent("file", "/proc/self/mountinfo", f"the marks of {found.value}, but / is a whole disk")
    return found


def _marked(host: Host) -> Fact[str]:
    """What variables, marker files, systemd and the control groups say."""
    variables = host.environ()
    if isinstance(variables, Known):
        for name, kind in _VARIABLES:
            if name in variables.value:
                return known(kind, "env", name)
    unseen = [variables] if isinstance(variables, Unknown) else []
    for path, kind in _MARKS:
        found = host.stat(path)
        if isinstance(found, Known):
            return known(kind, "file", path)
        if isinstance(found, Unknown):
            unseen.append(found)
    told: tuple[Fact[str], ...] = (*_by_systemd(host, variables), *_by_group(host), *unseen)
    return told[0] if told else absent("file", "/.dockerenv", "nor other marks")


def _boots_from_disk(host: Host) -> bool:
    """Whether / is the whole of a disk's file system, which no container engine mounts there."""
    mounts = host.lines("/proc/self/mountinfo", " / / ")
    for line in value_or(mounts, ()):
        left, _, right = line.partition(" - ")
        fields, source = left.split(), right.split()
        if fields[3:5] == ["/", "/"] and len(source) > 1 and source[1].startswith("/dev/"):
            return True
    return False


def _by_systemd(host: Host, variables: Fact[dict[str, str]]) -> Iterator[Known[str]]:
    """What the container's manager told systemd (LXC, nspawn), or left in the variable `container`."""
    said = host.read("/run/systemd/container")
    named = variables.value.get("container", "") if isinstance(variables, Known) else ""
    for text, source in ((_text(said), Source("file", "/run/systemd/container")), (named, Source("env", "container"))):
        kind = text.strip()[:40]
        if kind not in _NOT_CONTAINERS and re.fullmatch(r"[a-z][a-z0-9-]*", kind):
            yield Known(kind, source)


def _by_group(host: Host) -> Iterator[Known[str]]:
    lines = host.lines("/proc/1/cgroup", *(word for word, _ in _GROUPS))
    for word, kind in _GROUPS:
        if isinstance(lines, Known) and any(re.search(rf"[/-]{word}", line) for line in lines.value):
            yield known(kind, "file", "/proc/1/cgroup")


def _text(fact: Fact[str]) -> str:
    return value_or(fact, "")


def injected(scene: Scene) -> Fact[Injected]:
    """What the runtime brought in: device nodes, the host's libcuda, and what it had been asked for."""
    around = scene.facts.surroundings
    if around.container.need() is None:
        return absent("file", "/.dockerenv", "not in a container")
    if around.container.need() == "image":
        return Unknown("how a container of this image is started is not in the image", "gpuwhy check in the container")
    variables = scene.host.environ().need() or {}
    nodes = scene.host.list("/dev", r"nvidia(\d+|ctl)$|dxg$").need() or ()
    mounts = scene.host.lines("/proc/self/mountinfo", "libcuda.so", "/usr/lib/wsl").need() or ()
    libraries = any(_brings_libcuda(line) for line in mounts) or _beside(scene.host)
    value = Injected(
        devices=bool(nodes),
        libraries=libraries,
        requested=variables.get("NVIDIA_VISIBLE_DEVICES", ""),
        capabilities=variables.get("NVIDIA_DRIVER_CAPABILITIES", ""),
        lacking=_lacking(scene.host, mounts) if any(node.name == "dxg" for node in nodes) else (),
    )
    return known(value, "file", "/proc/self/mountinfo", "and /dev, NVIDIA_VISIBLE_DEVICES")


def _brings_libcuda(line: str) -> bool:
    """Whether a mountinfo line mounts libcuda itself, or WSL's folder of driver libraries."""
    fields = line.split()
    point = fields[4] if len(fields) > 4 else ""
    return "/libcuda.so" in point or point.startswith("/usr/lib/wsl")


def _lacking(host: Host, mounts: tuple[str, ...]) -> tuple[str, ...]:
    """WSL's driver libraries that an older container toolkit does not know; a folder brought in whole has them."""
    points = [fields[4] for fields in map(str.split, mounts) if len(fields) > 4]
    if any(point.rstrip("/") in _WSL_FOLDERS or point.endswith(f"/{_DXG_HELPER}") for point in points):
        return ()
    there = [host.stat(f"{folder}/{_DXG_HELPER}") for folder in ("/usr/lib/wsl/lib", "/usr/lib/x86_64-linux-gnu")]
    return (_DXG_HELPER,) if all(isinstance(one, Absent) for one in there) else ()


def _beside(host: Host) -> bool:
    """Runtimes that put the driver's libraries into a folder: `--nv`, and the Kubernetes nodes of Google."""
    folders = ("/.singularity.d/libs", "/usr/local/nvidia/lib64")
    found = [host.stat(f"{folder}/libcuda.so.1") for folder in folders]
    return any(isinstance(one, Known) for one in found)


def cgroup_devices(scene: Scene) -> Fact[str]:
    """The device rules of our control group: readable in version 1 only."""
    for folder in own_folders(scene.host, "devices"):
        rules = scene.host.read(f"{folder}/devices.list")
        if isinstance(rules, Unknown):
            return rules
        if isinstance(rules, Known):
            shown = "; ".join(line.strip() for line in rules.value.splitlines()[:64])
            return Known("all devices" if shown == "a *:* rwm" else shown, rules.source)
    second = scene.host.stat("/sys/fs/cgroup/cgroup.controllers")
    if isinstance(second, Known):
        return Unknown("cgroup v2 device rules are a kernel program and cannot be read")
    return second if isinstance(second, Unknown) else Absent(Source("folder", "/sys/fs/cgroup", "no device controller"))
