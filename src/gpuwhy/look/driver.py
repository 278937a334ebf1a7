"""The NVIDIA driver: kernel module, device nodes, packages, DKMS, secure boot, services."""

import re

import msgspec

from gpuwhy.facts.driver import DeviceNode, Driver, SystemPackage
from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown, known, or_unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.look.devices import gpu_minors, nvml
from gpuwhy.look.files import exists, lines, names, paths, text
from gpuwhy.look.look import Field, filled, is_windows
from gpuwhy.machine.machine import Machine

_VERSION = "/proc/driver/nvidia/version"
_MODULES = "/sys/module"
_DOTTED = re.compile(r"\d{2,4}(?:\.\d+)+$")
_OURS = r"(nvidia(_uvm|_modeset|_drm|_peermem|_fs|_vgpu_vfio)?|nouveau)$"


def driver(machine: Machine, facts: Facts, _options: object = None) -> Driver:
    """Everything of the subject."""
    fields = dict(FIELDS)
    if is_windows(facts):
        from gpuwhy.look.windows import DRIVER

        fields.update(DRIVER)
    return filled(machine, facts, "driver", fields).driver


def _loaded(machine: Machine, _facts: Facts) -> Fact[tuple[str, ...]]:
    """Our modules, and nouveau, the free driver that keeps them out."""
    entries = machine.list(_MODULES, _OURS)
    if isinstance(entries, Known):
        return Known(tuple(entry.name for entry in entries.value), entries.source)
    return or_unknown(entries, f"there is no {_MODULES} to look at", "lsmod")


def _module_version(machine: Machine, facts: Facts) -> Fact[str]:
    """The version of the loaded kernel module, in its own words or in those of sysfs."""
    said, other = machine.read(_VERSION), f"{_MODULES}/nvidia/version"
    pattern = r"NVRM version:.*Kernel Module\b.*?\s(\d{2,4}(?:\.\d+)+)"
    if match := re.search(pattern, value_or(said, "")):
        return known(match[1], "file", _VERSION)
    version = text(machine, other).strip()
    if _DOTTED.match(version):
        return known(version, "file", other)
    if not isinstance(said, Absent):
        return or_unknown(said, f"{_VERSION} has no version in it", f"cat {_VERSION}")
    loaded = _loaded(machine, facts)
    if "nvidia" in value_or(loaded, ()):
        return Unknown(f"nvidia is loaded, but neither {_VERSION} nor {other} can be read")
    return loaded if isinstance(loaded, Unknown) else said


def _module_on_disk(machine: Machine, _facts: Facts) -> Fact[str]:
    """What modprobe would load for the running kernel; Absent when it has no nvidia.ko."""
    uname = machine.uname()
    if not isinstance(uname, Known):
        return uname
    release, processor = uname.value.release, uname.value.machine
    folder = f"/lib/modules/{release}"
    listed = machine.lines(f"{folder}/modules.dep", "/nvidia.ko", "/nvidia-current.ko")
    if not isinstance(listed, Known):
        reason = f"{folder} is not there to look at, as is usual in a container"
        return or_unknown(listed, reason, "modinfo -F version nvidia")
    files = [line.partition(":")[0] for line in listed.value]
    ours = [file for file in files if re.search(r"/nvidia(-current)?\.ko(\.\w+)?$", file)]
    if not ours:
        return Absent(Source("file", f"{folder}/modules.dep", "no nvidia.ko for this kernel"))
    if "/dkms/" in ours[0]:  # DKMS links kernel-RELEASE-MACHINE to VERSION/RELEASE/MACHINE
        for tree in ("nvidia", "nvidia-current"):
            link = machine.link(f"/var/lib/dkms/{tree}/kernel-{release}-{processor}")
            if isinstance(link, Known) and _DOTTED.match(link.value.split("/")[0]):
                return Known(link.value.split("/")[0], link.source)
    path = ours[0] if ours[0].startswith("/") else f"{folder}/{ours[0]}"
    said = machine.module_info(path)
    if isinstance(said, Known) and _DOTTED.match(said.value):
        return said
    return Unknown(f"the version of {path} could not be read", "modinfo -F version nvidia")


def _secure_boot(machine: Machine, _facts: Facts) -> Fact[bool]:
    """Whether the firmware lets only signed modules in; Absent where it is not EFI."""
    firmware, how = names(machine, "/sys/firmware"), "mokutil --sb-state"
    if not firmware:
        return Unknown("/sys/firmware cannot be seen from here", how)
    if "efi" not in firmware:
        return Absent(Source("folder", "/sys/firmware/efi", "not booted by EFI"))
    variables = paths(machine, "/sys/firmware/efi/efivars", "SecureBoot-")
    value = text(machine, variables[0]) if variables else ""
    if value[-1:] in ("\x00", "\x01"):
        return known(value[-1] == "\x01", "file", variables[0])
    return Unknown("the EFI variable SecureBoot cannot be read from here", how)


def _driver_cuda(machine: Machine, facts: Facts) -> Fact[str]:
    """The newest CUDA that the driver supports: by NVML, else by the table of drivers."""
    said, how = nvml(machine), "nvidia-smi"
    stated: Fact[str] = or_unknown(said, "NVML was not asked")
    if isinstance(said, Known):
        number = said.value.system.get("cuda")
        wrong = number.get("error") if isinstance(number, dict) else ""
        wrong = wrong or said.value.init.get("name") or said.value.ended
        stated = Unknown(f"NVML does not tell the driver's CUDA version: {wrong}", how)
        if isinstance(number, int):
            cuda = f"{number // 1000}.{number % 1000 // 10}"
            stated = known(cuda, "call", "nvmlSystemGetCudaDriverVersion")
    version = facts.driver.module_version
    if isinstance(version, Known) and not isinstance(stated, Known):
        from gpuwhy.knowledge.drivers import cuda_of_driver, packaged

        by_table = cuda_of_driver(version.value)
        return Known(by_table, packaged()) if by_table else stated
    none = isinstance(version, Absent) and isinstance(facts.system.wsl, Absent)
    return version if none and not isinstance(stated, Known) else stated


def _windows_version(machine: Machine, facts: Facts) -> Fact[str]:
    """The version of Windows' driver by NVML, which is its own library under WSL too."""
    wsl, said = facts.system.wsl, nvml(machine)
    if not isinstance(wsl, Known):
        return wsl
    if not isinstance(said, Known):
        return said
    version = said.value.system.get("driver")
    return known(version, "call", "NVML") if version else Unknown("NVML names no driver version")


def _modprobe_setuid(machine: Machine, _facts: Facts) -> Fact[bool]:
    for path in ("/usr/bin/nvidia-modprobe", "/usr/sbin/nvidia-modprobe"):
        seen = machine.stat(path)
        if isinstance(seen, Known):
            return Known(seen.value.mode[3:4] == "s", seen.source)
        if isinstance(seen, Unknown):
            return seen
    return Absent(Source("file", "/usr/bin/nvidia-modprobe"))


def _fabricmanager(machine: Machine, _facts: Facts) -> Fact[bool]:
    """Running by its pid file or, in a container, by its socket; Absent when not installed."""
    folder, program = "/run/nvidia-fabricmanager", "nv-fabricmanager"
    if not exists(machine, "/proc/version"):
        return Unknown("no running system to look at", "systemctl status nvidia-fabricmanager")
    pid, socket = machine.read(f"{folder}/{program}.pid"), machine.stat(f"{folder}/socket")
    number = value_or(pid, "").strip()
    alive = re.fullmatch(r"[0-9]{1,10}", number) is not None
    running = lines(machine, f"/proc/{number}/status", "Name:") if alive else ()
    if program[:15] in "".join(running):
        return known(True, "file", f"{folder}/{program}.pid")
    if isinstance(pid, Absent) and isinstance(socket, Known):
        return Known(True, socket.source)
    for path in (f"/usr/bin/{program}", f"/usr/sbin/{program}"):
        if exists(machine, path):
            stopped = known(False, "file", path, "installed, no live pid file")
            return pid if isinstance(pid, Unknown) else stopped
    return Absent(Source("file", f"/usr/bin/{program}"))


_ALWAYS = ("/dev/nvidiactl", "/dev/nvidia-uvm")
_WSL_NODE = "/dev/dxg"
_GPU_NODE = re.compile(r"/dev/nvidia\d+$")


def _nodes(machine: Machine, facts: Facts) -> Fact[tuple[DeviceNode, ...]]:
    """Every node that is there, and those that should be: the control and memory nodes, and one
    per GPU; under WSL only /dev/dxg.
    """
    there = machine.list("/dev", r"nvidia(ctl|-uvm|-uvm-tools|-modeset|\d+)$|dxg$")
    null = value_or(machine.stat("/dev/null"), None)
    running = (null and null.kind == "char") or isinstance(machine.offline(), Absent)
    if not isinstance(there, Known) or not running:
        return Unknown("/dev is not that of a running system", "run gpuwhy on that machine")
    present = [f"/dev/{entry.name}" for entry in there.value]
    present += paths(machine, "/dev/nvidia-caps", r"nvidia-cap\d+$")
    if _WSL_NODE in present or isinstance(facts.system.wsl, Known):
        needed = {_WSL_NODE}
    else:
        needed = {*_ALWAYS, *(path for path in present if _GPU_NODE.match(path))}
        needed |= {f"/dev/nvidia{number}" for number in gpu_minors(machine, facts)}
    opened = _opened(machine)
    seen = []
    gpu = _GPU_NODE.match
    every = sorted({*present, *needed}, key=lambda p: (p not in _ALWAYS, not gpu(p), len(p), p))
    for path in every:
        found, outcome = machine.stat(path), opened.get(path, opened[""])
        if isinstance(found, Absent):
            outcome = Absent(Source("file", path))
        stat = value_or(found, None)
        mode, number = (stat.mode, stat.number) if stat else ("", "")
        is_there = not isinstance(found, Absent)
        seen.append(DeviceNode(path, path in needed, is_there, mode, outcome, number))
    return Known(_withheld(facts, seen), Source("folder", "/dev"))


def _opened(machine: Machine) -> dict[str, Fact[str]]:
    """What the child got for each node; under "", what holds for the others."""
    said = machine.call("nodes")
    out: dict[str, Fact[str]] = {"": Unknown("opening it was not tried")}
    if not isinstance(said, Known):
        return {"": or_unknown(said, "nobody tried to open it")}
    for line in said.value:
        path = str(line.get("opening", line.get("path", "")))
        hung = Unknown(f"{path}: open hung")  # until its answer comes
        got = known(str(line.get("opened", "")), "call", f"open({path})")
        if path:
            out[path] = hung if "opening" in line else got
    return out


def _withheld(facts: Facts, seen: list[DeviceNode]) -> tuple[DeviceNode, ...]:
    """A GPU that a container or a job was not given is no fault while another GPU's node opens.

    A batch system's cgroup denies with EPERM where file modes deny with EACCES; a container leaves
    nodes out.
    """
    opens = any(_GPU_NODE.match(one.path) and value_or(one.opened, "") == "ok" for one in seen)
    inside = not isinstance(facts.system.container, Absent)
    out = []
    for node in seen:
        denied = value_or(node.opened, "") == "EPERM" or (inside and not node.present)
        spare = opens and denied and _GPU_NODE.match(node.path)
        out.append(msgspec.structs.replace(node, required=False) if spare else node)
    return tuple(out)


def _majors(machine: Machine, _facts: Facts) -> Fact[dict[str, int]]:
    """The major numbers of the loaded driver; Absent where it has none."""
    said = machine.lines("/proc/devices", "nvidia")
    if not isinstance(said, Known):
        return or_unknown(said, "/proc/devices: not there")
    found = (re.match(r"\s*(\d{1,4}) (nvidia[\w-]*)$", line) for line in said.value)
    rows = {match[2]: int(match[1]) for match in found if match}
    return Known(rows, said.source) if rows else Absent(said.source)


_MIG_MADE = "/proc/driver/nvidia/capabilities"
_MIG_MINORS = "/proc/driver/nvidia-caps/mig-minors"
_STATUS = "/proc/self/status"
_ADMIN = 1 << 21
"""CAP_SYS_ADMIN: who has it needs none of the MIG nodes."""


def _mig_nodes(machine: Machine, _facts: Facts) -> Fact[dict[str, str]]:
    """Each MIG part with its node; Absent where none was made, or where nobody needs the nodes."""
    cards = machine.list(_MIG_MADE, r"gpu\d+$")
    if not isinstance(cards, Known):
        return Unknown(f"{_MIG_MADE} cannot be read, which lists the parts that MIG made")
    parts: list[str] = []
    for card in (entry.name for entry in cards.value):
        for part in names(machine, f"{_MIG_MADE}/{card}/mig", r"gi\d+$"):
            inner = names(machine, f"{_MIG_MADE}/{card}/mig/{part}", r"ci\d+$")
            parts += [f"{card}/{part}", *(f"{card}/{part}/{one}" for one in inner)]
    if not parts:
        return Absent(cards.source)
    rights = re.search(r"CapEff:\s*([0-9a-f]{1,16})$", "".join(lines(machine, _STATUS, "CapEff:")))
    if not rights:
        return Unknown(f"{_STATUS} does not tell what this process may do")
    if int(rights[1], 16) & _ADMIN:
        return Absent(Source("file", _STATUS))
    minors = machine.lines(_MIG_MINORS, "/access")
    pattern = re.compile(r"(gpu\d+/gi\d+(?:/ci\d+)?)/access (\d+)$")
    rows = filter(None, (pattern.match(line.strip()) for line in value_or(minors, ())))
    numbers = {row[1]: row[2] for row in rows}
    if not isinstance(minors, Known) or not all(part in numbers for part in parts):
        return Unknown(f"{_MIG_MINORS} does not name the node of every part that was made")
    nodes = {part: f"/dev/nvidia-caps/nvidia-cap{numbers[part]}" for part in parts}
    return Known(nodes, minors.source)


_NAMES = (
    r"(?:lib|linux-modules-|linux-objects-|linux-signatures-|xserver-xorg-video-|firmware-)?nvidia-"
    r"|cuda-(?:compat|drivers)|libcuda1|libcudnn|libnccl"
)


def _packages(machine: Machine, _facts: Facts) -> Fact[tuple[SystemPackage, ...]]:
    """By dpkg; of others only how to ask."""
    debian, found = machine.dpkg(_NAMES), []
    if not isinstance(debian, Known):
        how = "rpm -qa '*nvidia*' 'cuda-compat*'"
        return or_unknown(debian, "no package database that gpuwhy reads (dpkg)", how)
    source, unlisted = Source("package", "/var/lib/dpkg/info"), Unknown("no file list")
    for one in debian.value:
        changed = unlisted if one.changed is None else Known(one.changed, source)
        if not one.name.startswith("cuda-compat"):
            found.append(SystemPackage(one.name, one.version, one.status, changed))
    return Known(tuple(found), debian.source)


FIELDS: dict[str, Field] = {
    "module_version": _module_version,
    "modules": _loaded,
    "module_on_disk": _module_on_disk,
    "secure_boot": _secure_boot,
    "packages": _packages,
    "driver_cuda": _driver_cuda,
    "windows_version": _windows_version,
    "nodes": _nodes,
    "majors": _majors,
    "mig_nodes": _mig_nodes,
    "modprobe_setuid": _modprobe_setuid,
    "fabricmanager": _fabricmanager,
}
