"""The NVIDIA driver: kernel module, device nodes, packages, DKMS, secure boot, services."""

from __future__ import annotations

import re

from gpuwhy.knowledge.drivers import PACKAGED, cuda_of_driver
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, known, or_unknown, value_or
from gpuwhy.observe import nvml
from gpuwhy.observe.migs import mig_parts
from gpuwhy.observe.nodes import majors, nodes
from gpuwhy.observe.scene import Look, Scene
from gpuwhy.observe.system_packages import compat_packages, packages

VERSION = "/proc/driver/nvidia/version"
MODULES = "/sys/module"
_NVRM = re.compile(r"NVRM version:.*Kernel Module\b.*?\s(\d{2,4}(?:\.\d+)+)")
_DOTTED = re.compile(r"\d{2,4}(?:\.\d+)+$")
_OURS = r"(nvidia(_uvm|_modeset|_drm|_peermem|_fs|_vgpu_vfio)?|nouveau)$"


def module_version(scene: Scene) -> Fact[str]:
    """The version of the loaded kernel module, in its own words or in sysfs's."""
    text = scene.host.read(VERSION)
    match = _NVRM.search(text.value) if isinstance(text, Known) else None
    if match:
        return known(match.group(1), "file", VERSION)
    other = f"{MODULES}/nvidia/version"
    fallback = scene.host.read(other)
    if isinstance(fallback, Known) and _DOTTED.match(fallback.value.strip()):
        return known(fallback.value.strip(), "file", other)
    if isinstance(text, Known):
        return Unknown(f"{VERSION} has no version in it", f"cat {VERSION}")
    if isinstance(text, Unknown):
        return text
    loaded = modules(scene)
    if isinstance(loaded, Known) and "nvidia" in loaded.value:
        return Unknown(f"the nvidia module is loaded, but neither {VERSION} nor {other} can be read")
    return loaded if isinstance(loaded, Unknown) else text


def module_flavour(scene: Scene) -> Fact[str]:
    """Open or proprietary, by the module's own words; else by whether it taints the kernel as proprietary."""
    text = scene.host.read(VERSION)
    if isinstance(text, Known) and "Kernel Module" in text.value:
        return known("open" if "Open Kernel Module" in text.value else "proprietary", "file", VERSION)
    taint = scene.host.read(f"{MODULES}/nvidia/taint")
    if isinstance(taint, Known):
        return Known("proprietary" if "P" in taint.value else "open", taint.source)
    version = module_version(scene)
    return version if not isinstance(version, Known) else Unknown("the module does not say whether it is the open one")


def _loaded(scene: Scene) -> Fact[tuple[str, ...]]:
    entries = scene.host.list(MODULES, _OURS)
    if isinstance(entries, Known):
        return Known(tuple(entry.name for entry in entries.value), entries.source)
    return or_unknown(entries, f"there is no {MODULES} to look at", "lsmod")


def modules(scene: Scene) -> Fact[tuple[str, ...]]:
    """The loaded modules of the NVIDIA driver."""
    loaded = _loaded(scene)
    if not isinstance(loaded, Known):
        return loaded
    return Known(tuple(name for name in loaded.value if name != "nouveau"), loaded.source)


def nouveau(scene: Scene) -> Fact[bool]:
    """Whether the free driver, which keeps the NVIDIA one out, is loaded."""
    loaded = _loaded(scene)
    return Known("nouveau" in loaded.value, loaded.source) if isinstance(loaded, Known) else loaded


def module_on_disk(scene: Scene) -> Fact[str]:
    """The version that modprobe would load for the running kernel; Absent when it has no nvidia.ko."""
    machine = scene.host.uname()
    if not isinstance(machine, Known):
        return machine
    folder = f"/lib/modules/{machine.value.release}"
    listed = scene.host.lines(f"{folder}/modules.dep", "/nvidia.ko", "/nvidia-current.ko")
    if isinstance(listed, Unknown):
        return listed
    if isinstance(listed, Absent):
        return Unknown(f"{folder} is not there to look at, as is usual in a container", "modinfo -F version nvidia")
    files = [line.partition(":")[0] for line in listed.value]
    ours = [file for file in files if re.search(r"/nvidia(-current)?\.ko(\.\w+)?$", file)]
    if not ours:
        return Absent(Source("file", f"{folder}/modules.dep", "no nvidia.ko for this kernel"))
    built = _installed_by_dkms(scene, machine.value.release, machine.value.machine)
    if built is not None and "/dkms/" in ours[0]:
        return built
    return _modinfo(scene, ours[0] if ours[0].startswith("/") else f"{folder}/{ours[0]}")


def _installed_by_dkms(scene: Scene, release: str, machine: str) -> Known[str] | None:
    """DKMS links kernel-RELEASE-MACHINE to VERSION/RELEASE/MACHINE for what it installed."""
    for tree in ("nvidia", "nvidia-current"):
        link = scene.host.link(f"/var/lib/dkms/{tree}/kernel-{release}-{machine}")
        if isinstance(link, Known) and _DOTTED.match(link.value.split("/")[0]):
            return Known(link.value.split("/")[0], link.source)
    return None


def _modinfo(scene: Scene, path: str) -> Fact[str]:
    """Ask modinfo: the file is often compressed."""
    said = scene.host.run("/sbin/modinfo", "-F", "version", path)
    text = said.value.out.strip() if isinstance(said, Known) and said.value.code == 0 else ""
    if _DOTTED.match(text):
        return known(text, "command", f"modinfo -F version {path}")
    return Unknown(f"the version of {path} could not be read", "modinfo -F version nvidia")


def secure_boot(scene: Scene) -> Fact[bool]:
    """Whether the firmware only lets signed modules in; Absent on a machine that did not boot by EFI."""
    firmware = scene.host.list("/sys/firmware", "")
    how = "mokutil --sb-state"
    if not isinstance(firmware, Known) or not firmware.value:
        return Unknown("/sys/firmware cannot be seen from here", how)
    if "efi" not in {entry.name for entry in firmware.value}:
        return Absent(Source("folder", "/sys/firmware/efi", "not booted by EFI"))
    names = scene.host.list("/sys/firmware/efi/efivars", "SecureBoot-")
    if not isinstance(names, Known) or not names.value:
        return Unknown("the EFI variables cannot be seen from here", how)
    value = scene.host.read(f"/sys/firmware/efi/efivars/{names.value[0].name}")
    if isinstance(value, Known) and value.value[-1:] in ("\x00", "\x01"):
        return Known(value.value[-1] == "\x01", value.source)
    return Unknown("the SecureBoot variable cannot be read", how)


def dkms(scene: Scene) -> Fact[tuple[str, ...]]:
    """Each NVIDIA source that DKMS keeps, and whether it is built for the running kernel."""
    trees = scene.host.list("/var/lib/dkms", r"nvidia(-(current|legacy|tesla|srv|open).*)?$")
    if not isinstance(trees, Known):
        return trees
    machine = scene.host.uname()
    if not trees.value or not isinstance(machine, Known):
        return machine if isinstance(machine, Unknown) else Absent(Source("folder", "/var/lib/dkms", "no nvidia"))
    kernel = machine.value.release
    out = []
    for tree in trees.value:
        folder = f"/var/lib/dkms/{tree.name}"
        versions = scene.host.list(folder, r"\d+\.")
        for version in value_or(versions, ()):
            built = scene.host.stat(f"{folder}/{version.name}/{kernel}/{machine.value.machine}/module")
            if not isinstance(built, Unknown):
                state = "built" if isinstance(built, Known) else "missing"
                out.append(f"{tree.name}/{version.name} {kernel}: {state}")
    return Known(tuple(out), trees.source)


def driver_cuda(scene: Scene) -> Fact[str]:
    """The newest CUDA that the driver speaks: by NVML, else by the table of drivers."""
    said = nvml.said(scene)
    told = nvml.driver_cuda(said.value) if isinstance(said, Known) else said
    if isinstance(told, Known):
        return told
    version = scene.facts.driver.module_version
    cuda = cuda_of_driver(version.value) if isinstance(version, Known) else None
    if cuda:
        return Known(cuda, PACKAGED)
    if isinstance(version, Absent) and isinstance(scene.facts.surroundings.wsl, Absent):
        return version
    return told


def behind_wsl(scene: Scene) -> Fact[str]:
    """The version of Windows' driver by NVML, which is its own library under WSL too."""
    around = scene.facts.surroundings.wsl
    if not isinstance(around, Known):
        return around
    said = nvml.said(scene)
    if not isinstance(said, Known):
        return said
    version = said.value.system.get("driver")
    return known(version, "call", "NVML") if isinstance(version, str) else Unknown("NVML names no driver version")


def modprobe(scene: Scene) -> Fact[str]:
    """nvidia-modprobe, through which a user's first CUDA call makes missing nodes if it is setuid root."""
    for path in ("/usr/bin/nvidia-modprobe", "/usr/sbin/nvidia-modprobe"):
        seen = scene.host.stat(path)
        if isinstance(seen, Known):
            return Known("setuid" if seen.value.mode[3:4] == "s" else "not setuid", seen.source)
        if isinstance(seen, Unknown):
            return seen
    return Absent(Source("file", "/usr/bin/nvidia-modprobe"))


def persistenced(scene: Scene) -> Fact[str]:
    """The daemon that keeps the GPU initialised."""
    return _service(scene, "nvidia-persistenced", "nvidia-persistenced")


def fabricmanager(scene: Scene) -> Fact[str]:
    """The daemon without which CUDA does not start on a machine with NVSwitch."""
    return _service(scene, "nvidia-fabricmanager", "nv-fabricmanager")


def _service(scene: Scene, folder: str, program: str) -> Fact[str]:
    """Running by its pid file or, in a container, by its socket; Absent when the program is not installed."""
    if not isinstance(scene.host.stat("/proc/version"), Known):
        return Unknown("no running system to look at", f"systemctl status {folder}")
    pid = scene.host.read(f"/run/{folder}/{program}.pid")
    if isinstance(pid, Known) and _is_alive(scene, pid.value.strip(), program):
        return Known("running", pid.source)
    socket = scene.host.stat(f"/run/{folder}/socket")
    if isinstance(pid, Absent) and isinstance(socket, Known):
        return Known("running", socket.source)
    for path in (f"/usr/bin/{program}", f"/usr/sbin/{program}"):
        if isinstance(scene.host.stat(path), Known):
            return pid if isinstance(pid, Unknown) else known("stopped", "file", path, "installed, no live pid file")
    return Absent(Source("file", f"/usr/bin/{program}"))


def _is_alive(scene: Scene, pid: str, program: str) -> bool:
    """Whether a process has that number and that name, of which the kernel keeps 15 letters."""
    if not re.fullmatch(r"[0-9]{1,10}", pid):
        return False
    name = scene.host.lines(f"/proc/{pid}/status", "Name:")
    return isinstance(name, Known) and program[:15] in "".join(name.value)


LOOKS: tuple[Look, ...] = (
    Look("driver", "module_version", module_version, serves=("plan", "devices")),
    Look("driver", "module_flavour", module_flavour),
    Look("driver", "modules", modules),
    Look("driver", "module_on_disk", module_on_disk),
    Look("driver", "nouveau", nouveau),
    Look("driver", "secure_boot", secure_boot),
    Look("driver", "dkms", dkms),
    Look("driver", "packages", packages),
    Look("driver", "compat_packages", compat_packages),
    Look("driver", "driver_cuda", driver_cuda),
    Look("driver", "behind_wsl", behind_wsl),
    Look("driver", "nodes", nodes),
    Look("driver", "majors", majors),
    Look("driver", "mig_parts", mig_parts),
    Look("driver", "modprobe", modprobe),
    Look("driver", "persistenced", persistenced),
    Look("driver", "fabricmanager", fabricmanager),
)
