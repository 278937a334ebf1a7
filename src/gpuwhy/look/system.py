"""The system: distribution, C library, WSL, container, limits, memory, disks, boot."""

import re
from collections.abc import Iterator

from gpuwhy.facts.fact import Fact, Known, Unknown, absent, known, or_unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.system import Distro, Injected, Libc, Memory, Space, System
from gpuwhy.look.files import environ, exists, gone, lines
from gpuwhy.look.kernel_log import kernel_log
from gpuwhy.look.look import Field, filled, is_windows
from gpuwhy.machine.machine import Machine

_OS_RELEASE = ("/etc/os-release", "/usr/lib/os-release")
_TREE_MARKS = (
    ("linux", "/etc/os-release"),
    ("windows", "/Windows/System32"),
    ("linux", "/bin"),
    ("darwin", "/System"),
)
_LIBC_FOLDERS = (
    *("/lib64", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu"),
    *("/lib", "/usr/lib64", "/usr/lib"),
)
_COMPILED = (
    *("/bin/sh", "/bin/bash", "/bin/busybox"),
    *("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"),
    *("/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1"),
    *("/usr/bin/env", "/usr/local/bin/python3", "/usr/bin/python3"),
)
"""Files whose header tells the processor of a tree."""


def system(machine: Machine, facts: Facts, _options: object = None) -> System:
    """Everything of the subject; on Windows by its own ways."""
    facts = filled(machine, facts, "system", {"os": operating_system})
    fields = FIELDS
    if is_windows(facts):
        from gpuwhy.look.windows import SYSTEM

        fields = {**FIELDS, **SYSTEM}
    return filled(machine, facts, "system", fields).system


def operating_system(machine: Machine, _facts: Facts, _options: object = None) -> Fact[str]:
    """The operating system by uname; of a file tree, by the folders only that system has."""
    said = machine.uname()
    if isinstance(said, Known):
        return Known(said.value.system, said.source)
    found = ((name, path) for name, path in _TREE_MARKS if exists(machine, path))
    name, path = next(found, ("", ""))
    return known(name, "file", path) if name else said


def _kernel(machine: Machine, _facts: Facts) -> Fact[str]:
    said = machine.uname()
    return Known(said.value.release, said.source) if isinstance(said, Known) else said


def _processor(machine: Machine, _facts: Facts) -> Fact[str]:
    """The processor by uname; of a file tree, by what its shell or loader is compiled for."""
    said = machine.uname()
    if isinstance(said, Known):
        return Known(said.value.machine, said.source)
    for path in _COMPILED if isinstance(said, Unknown) else ():
        elf = machine.elf(path)
        if isinstance(elf, Known):
            return Known(elf.value.machine, elf.source)
    return said


def _distro(machine: Machine, _facts: Facts) -> Fact[Distro]:
    """The distribution by its os-release file."""
    for path in _OS_RELEASE:
        found = machine.lines(path, "NAME=", "VERSION=", "ID_LIKE=", "ID=", "VERSION_ID=")
        if isinstance(found, Unknown):
            return found
        if isinstance(found, Known):
            pairs = (line.strip().split("=", 1) for line in found.value if "=" in line)
            fields = {key: value.strip().strip("\"'")[:200] for key, value in pairs}
            named = f"{fields.get('NAME', '')} {fields.get('VERSION', '')}".strip()
            title = fields.get("PRETTY_NAME") or named
            if not title:
                return Unknown(f"{path}: names no distribution")
            like = tuple(re.findall(r"[\w.-]+", fields.get("ID_LIKE", "")))[:8]
            number = re.search(r"\d+(\.\d+)?", title)
            version = fields.get("VERSION_ID") or (number[0] if number else "")
            return known(Distro(fields.get("ID", ""), title, version, like), "file", path)
    return absent("file", _OS_RELEASE[0])


def _libc(machine: Machine, _facts: Facts) -> Fact[Libc]:
    """The C library: from the file's name (glibc before 2.34), else from its banner."""
    reals = (value_or(machine.real(f"{one}/libc.so.6"), "") for one in _LIBC_FOLDERS)
    if path := next(filter(None, reals), ""):
        version = re.search(r"/libc-(2\.\d+)\.so$", path)
        if not version:
            banner = machine.lines(path, "GNU C Library (")
            if not isinstance(banner, Known):
                return or_unknown(banner, f"{path}: gone while looking")
            pattern = r"GNU C Library \([^)]*\)[^\n]{0,80}? version (2\.\d+)"
            version = re.search(pattern, "\n".join(banner.value))
        if not version:
            return Unknown(f"{path}: has no glibc banner")
        return known(Libc("glibc", version[1]), "file", path)
    musl = machine.list("/lib", r"ld-musl-")
    if isinstance(musl, Known) and musl.value:
        return known(Libc("musl"), "file", f"/lib/{musl.value[0].name}")
    why = "neither libc.so.6 nor ld-musl is in a standard folder"
    return or_unknown(musl, why, "ldd --version")


def _wsl(machine: Machine, _facts: Facts) -> Fact[int]:
    """1 or 2, by the kernel's name, or by what WSL puts into a distribution's folders."""
    said = machine.uname()
    if not isinstance(said, Known):
        if isinstance(machine.offline(), Known) and exists(machine, "/usr/lib/wsl"):
            return known(2, "folder", "/usr/lib/wsl", "which WSL alone makes")
        return said if isinstance(said, Unknown) else absent("call", "uname")
    release = said.value.release
    if "microsoft" in release.lower():
        return Known(2 if "microsoft" in release else 1, said.source)
    named = {"WSL_DISTRO_NAME", "WSL_INTEROP"} & environ(machine).keys()
    if named and exists(machine, "/dev/dxg"):
        return known(2, "file", "/dev/dxg")
    return absent("call", "uname", f"kernel {release}")


def _wsl_device(machine: Machine, facts: Facts) -> Fact[bool]:
    if facts.system.wsl.need() is None:
        return absent("call", "uname", "not WSL")
    found = machine.stat("/dev/dxg")
    there = isinstance(found, Known)
    return found if isinstance(found, Unknown) else Known(there, found.source)


def _booted(machine: Machine, _facts: Facts) -> Fact[float]:
    said = machine.lines("/proc/stat", "btime")
    if not isinstance(said, Known):
        return said
    return _number(Known(" ".join(said.value).removeprefix("btime"), said.source))


def _number(said: Fact[str]) -> Fact[float]:
    if not isinstance(said, Known):
        return said
    good = re.match(r"\s*(\d{1,15}(\.\d+)?)(\s|$)", said.value)
    none = Unknown(f"{said.source.where}: no number")
    return Known(float(good[1]), said.source) if good else none


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
"""The most telling first: a pod also has its engine's marks."""
_GROUPS = (("kubepods", "kubernetes"), ("libpod", "podman"), ("docker", "docker"), ("lxc", "lxc"))
_WSL_FOLDERS = ("/usr/lib/wsl", "/usr/lib/wsl/drivers", "/usr/lib/wsl/lib")
_DXG_HELPER = "libnvdxgdmal.so.1"
_DXG_FOLDERS = ("/usr/lib/wsl/lib", "/usr/lib/x86_64-linux-gnu")


def _container(machine: Machine, _facts: Facts) -> Fact[str]:
    """The kind of container; Absent when variables and marks were looked at and none is there.

    A virtual machine made from a container image keeps docker's or podman's marks: there / is the
    whole of a disk's file system, which no container engine mounts.
    """
    offline = machine.offline()
    if isinstance(offline, Known) and offline.value.kind == "image":
        return Known("image", offline.source)
    found = next(_marked(machine))
    if isinstance(found, Known) and found.value in ("docker", "podman"):
        for line in lines(machine, "/proc/self/mountinfo", " / / "):
            left, _, right = line.partition(" - ")
            source = right.split()[1:2]
            if left.split()[3:5] == ["/", "/"] and source and source[0].startswith("/dev/"):
                why = "a container's marks, but / is a whole disk"
                return absent("file", "/proc/self/mountinfo", why)
    return found


def _marked(machine: Machine) -> Iterator[Fact[str]]:
    """What variables, marker files, systemd (for LXC, nspawn) and the control groups say."""
    seen, variables = machine.environ(), environ(machine)
    yield from (known(kind, "env", name) for name, kind in _VARIABLES if name in variables)
    unseen: list[Fact[str]] = [seen] if isinstance(seen, Unknown) else []
    for path, kind in _MARKS:
        found = machine.stat(path)
        if isinstance(found, Known):
            yield known(kind, "file", path)
        unseen += [found] if isinstance(found, Unknown) else []
    path = "/run/systemd/container"
    by_systemd = known(value_or(machine.read(path), ""), "file", path)
    for one in (by_systemd, known(variables.get("container", ""), "env", "container")):
        kind = one.value.strip()[:40]  # systemd calls WSL a container; here it has its own field
        if kind != "wsl" and re.fullmatch(r"[a-z][a-z0-9-]*", kind):
            yield Known(kind, one.source)
    groups = "\n".join(lines(machine, "/proc/1/cgroup", *(word for word, _ in _GROUPS)))
    for word, kind in _GROUPS:
        if re.search(rf"[/-]{word}", groups):
            yield known(kind, "file", "/proc/1/cgroup")
    yield from unseen
    yield absent("file", "/.dockerenv", "nor other marks")


def _injected(machine: Machine, facts: Facts) -> Fact[Injected]:
    """What the runtime brought in: device nodes, libcuda of the host, what it was asked for."""
    container = facts.system.container.need()
    if container is None:
        return absent("file", "/.dockerenv", "not in a container")
    if container == "image":
        reason = "how a container of this image is started is not in the image"
        return Unknown(reason, "gpuwhy check in the container")
    variables = machine.environ().need() or {}
    nodes = machine.list("/dev", r"nvidia(\d+|ctl)$|dxg$").need() or ()
    mounts = machine.lines("/proc/self/mountinfo", "libcuda.so", "/usr/lib/wsl").need() or ()
    points = [fields[4] for fields in map(str.split, mounts) if len(fields) > 4]
    mounted = any("/libcuda.so" in one or one.startswith("/usr/lib/wsl") for one in points)
    beside = ("/.singularity.d/libs", "/usr/local/nvidia/lib64")  # --nv; Google's Kubernetes nodes
    lacking: tuple[str, ...] = ()
    if any(one.name == "dxg" for one in nodes):  # WSL's, which an older toolkit does not bring
        brought = any(
            one.rstrip("/") in _WSL_FOLDERS or one.endswith(f"/{_DXG_HELPER}") for one in points
        )
        lost = all(gone(machine, f"{one}/{_DXG_HELPER}") for one in _DXG_FOLDERS)
        lacking = (_DXG_HELPER,) if lost and not brought else ()
    value = Injected(
        devices=bool(nodes),
        libraries=mounted or any(exists(machine, f"{one}/libcuda.so.1") for one in beside),
        requested=variables.get("NVIDIA_VISIBLE_DEVICES", ""),
        capabilities=variables.get("NVIDIA_DRIVER_CAPABILITIES", ""),
        lacking=lacking,
    )
    return known(value, "file", "/proc/self/mountinfo", "and /dev, NVIDIA_VISIBLE_DEVICES")


_CGROUP = "/sys/fs/cgroup"
_MOST_LEVELS = 16
_MEMORY_LINES = ("MemTotal", "MemAvailable", "MemFree", "Buffers", "Cached")
_MEMORY_FILES = (  # version 2, version 1
    ("memory.max", "memory.current"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes"),
)


def _own_groups(machine: Machine, controller: str) -> tuple[str, ...]:
    """The folders of our control group and of its parents for a controller, innermost first.

    Inside a container the path in /proc/self/cgroup may be the host's: then only the last exists.
    """
    said = lines(machine, "/proc/self/cgroup", f":{controller}", f",{controller}", "0::/")
    rows = [row for row in (line.split(":", 2) for line in said) if len(row) == 3]
    own = next((path for _, names, path in rows if controller in names.split(",")), None)
    root = _CGROUP if own is None else f"{_CGROUP}/{controller}"
    path = own or next((path for number, names, path in rows if number == "0" and not names), "/")
    parts = [part for part in path.split("/") if part]
    if ".." in parts:  # our group lies outside of this namespace: only the root can be seen
        parts = []
    levels = ["/".join([root, *parts[:n]]) for n in range(len(parts), -1, -1)]
    return tuple(levels[-_MOST_LEVELS:])


def _tasks(machine: Machine, _facts: Facts) -> Fact[int]:
    """The tightest number of processes and threads that our groups allow."""
    limits = [_bytes(machine.read(f"{one}/pids.max")) for one in _own_groups(machine, "pids")]
    found = [limit for limit in limits if isinstance(limit, Known)]
    none = absent("file", f"{_CGROUP}/pids.max", "no limit")
    return min(found, key=lambda one: one.value) if found else none


def _memory(machine: Machine, _facts: Facts) -> Fact[Memory]:
    """RAM in total and available to new programs, and how much of the group's limit is used."""
    said = machine.lines("/proc/meminfo", *(f"{name}:" for name in _MEMORY_LINES))
    if not isinstance(said, Known):
        return said
    rows = (re.match(r"(\w+):\s+(\d{1,15}) kB", line) for line in said.value)
    size = {row[1]: int(row[2]) << 10 for row in rows if row}
    if "MemTotal" not in size:
        return Unknown("/proc/meminfo: no MemTotal")
    limit, used = _tightest(machine, size["MemTotal"])
    return Known(
        Memory(size["MemTotal"], size.get("MemAvailable", size.get("MemFree", 0)), limit, used),
        said.source,
    )


def _tightest(machine: Machine, total: int) -> tuple[Fact[int], Fact[int]]:
    """The tightest limit among our group and its parents, and what cannot be freed of its use: the
    kernel drops the file cache before it kills.
    """
    found: list[tuple[int, Fact[int], Fact[int]]] = []
    for folder in _own_groups(machine, "memory"):
        for limit_file, used_file in _MEMORY_FILES:
            limit = _bytes(machine.read(f"{folder}/{limit_file}"))
            if isinstance(limit, Unknown):
                return limit, limit
            if not isinstance(limit, Known) or limit.value >= total:
                continue
            used = _bytes(machine.read(f"{folder}/{used_file}"))
            stat = value_or(machine.lines(f"{folder}/memory.stat", "active_file "), ())
            rows = (re.match(r"(\w+) (\d{1,20})$", line) for line in stat)
            fields = {row[1]: int(row[2]) for row in rows if row}
            prefix = "total_" if "total_active_file" in fields else ""
            cache = sum(fields.get(f"{prefix}{name}_file", 0) for name in ("active", "inactive"))
            if isinstance(used, Known):
                used = Known(max(0, used.value - cache), used.source)
            found.append((limit.value - value_or(used, 0), limit, used))
    if not found:
        none = absent("file", "memory.max", "no limit below the host's memory")
        return none, none
    return min(found, key=lambda one: one[0])[1:]


def _bytes(fact: Fact[str]) -> Fact[int]:
    if not isinstance(fact, Known):
        return fact
    text = fact.value.strip()
    if text == "max":
        return absent("file", fact.source.where, "max")
    good = re.fullmatch(r"\d{1,20}", text)
    return Known(int(text), fact.source) if good else Unknown(f"{fact.source}: no number")


def _shm(machine: Machine, _facts: Facts) -> Fact[Space]:
    disk, path = machine.disk("/dev/shm"), "/dev/shm"
    if not isinstance(disk, Known):
        return disk
    return Known(Space(path, disk.value.total, disk.value.free), disk.source)


FIELDS: dict[str, Field] = {
    "distro": _distro,
    "kernel": _kernel,
    "machine": _processor,
    "libc": _libc,
    "offline": lambda machine, _: machine.offline(),
    "container": _container,
    "injected": _injected,
    "wsl": _wsl,
    "wsl_device": _wsl_device,
    "open_files_limit": lambda machine, _: machine.limit("NOFILE"),
    "address_space_limit": lambda machine, _: machine.limit("AS"),
    "tasks": _tasks,
    "shm": _shm,
    "memory": _memory,
    "kernel_log": kernel_log,
    "uptime": lambda machine, _: _number(machine.read("/proc/uptime")),
    "booted": _booted,
}
