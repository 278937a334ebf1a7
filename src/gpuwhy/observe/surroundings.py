"""Surroundings: operating system, C library, WSL, virtual machine, limits, boot; beside them, container and log."""

from __future__ import annotations

import re
from collections.abc import Callable

from gpuwhy.host.base import Host, Uname
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, absent, known, or_unknown
from gpuwhy.observe import container, host_memory, kernel_log
from gpuwhy.observe.cgroup import tasks
from gpuwhy.observe.scene import Look, Scene

_OS_RELEASE = ("/etc/os-release", "/usr/lib/os-release")
_TREE_MARKS = (("linux", "/etc/os-release"), ("windows", "/Windows/System32"), ("linux", "/bin"), ("darwin", "/System"))
_LIBC_FOLDERS = ("/lib64", "/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib", "/usr/lib64", "/usr/lib")
_DMI = "/sys/class/dmi/id"
_COMPILED = (
    "/bin/sh", "/bin/bash", "/bin/busybox", "/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1",
    "/lib/ld-musl-x86_64.so.1", "/lib/ld-musl-aarch64.so.1", "/usr/bin/env", "/usr/local/bin/python3",
    "/usr/bin/python3",
)  # fmt: skip

# (in sys_vendor, in product_name, name of the platform); "" fits everything.
_PLATFORMS = (
    ("Amazon EC2", "", "amazon"),
    ("Google", "Google Compute Engine", "google"),
    ("Microsoft Corporation", "Virtual Machine", "hyperv"),
    ("VMware", "", "vmware"),
    ("innotek", "", "virtualbox"),
    ("", "VirtualBox", "virtualbox"),
    ("Xen", "", "xen"),
    ("Parallels", "", "parallels"),
    ("Alibaba Cloud", "", "alibaba"),
    ("DigitalOcean", "Droplet", "digitalocean"),
    ("Hetzner", "vServer", "hetzner"),
    ("OpenStack", "", "openstack"),
    ("", "OpenStack", "openstack"),
    ("QEMU", "", "kvm"),
    ("", "KVM", "kvm"),
    ("Bochs", "", "kvm"),
)


def system(scene: Scene) -> Fact[str]:
    """The operating system by uname; of a file tree, by the folders only that system has."""
    said = scene.host.uname()
    if isinstance(said, Known):
        return Known(said.value.system, said.source)
    for name, path in _TREE_MARKS:
        found = scene.host.stat(path)
        if isinstance(found, Known):
            return known(name, "file", path)
    return said


def offline(scene: Scene) -> Fact[str]:
    """What stands for a machine that does not run; Absent on a running one."""
    said = scene.host.offline()
    if not isinstance(said, Known):
        return said
    name = f" ({said.value.name})" if said.value.name else ""
    article = "a" if said.value.kind == "folder" else "an"
    return Known(f"{article} {said.value.kind}{name}", said.source)


def _from_uname(scene: Scene, part: Callable[[Uname], str]) -> Fact[str]:
    said = scene.host.uname()
    return Known(part(said.value), said.source) if isinstance(said, Known) else said


def kernel(scene: Scene) -> Fact[str]:
    """The running kernel's release."""
    return _from_uname(scene, lambda u: u.release)


def machine(scene: Scene) -> Fact[str]:
    """The processor architecture by uname; of a file tree, by what its shell or its loader is compiled for."""
    said = _from_uname(scene, lambda u: u.machine)
    for path in _COMPILED if isinstance(said, Unknown) else ():
        shell = scene.host.elf(path)
        if isinstance(shell, Known):
            return Known(shell.value.machine, shell.source)
    return said


def distribution(scene: Scene) -> Fact[str]:
    """The distribution by its os-release file, older Red Hat systems by theirs."""
    for path in _OS_RELEASE:
        found = scene.host.lines(path, "NAME=", "VERSION=")
        if isinstance(found, Known):
            return _named(found.value, path)
        if isinstance(found, Unknown):
            return found
    old = scene.host.read("/etc/redhat-release")
    if isinstance(old, Known):
        return known(old.value.strip()[:200], "file", "/etc/redhat-release")
    return absent("file", _OS_RELEASE[0])


def _named(lines: tuple[str, ...], path: str) -> Fact[str]:
    fields = dict(line.strip().split("=", 1) for line in lines if "=" in line)
    plain = {key: value.strip().strip("\"'") for key, value in fields.items()}
    name = plain.get("PRETTY_NAME") or f"{plain.get('NAME', '')} {plain.get('VERSION', '')}".strip()
    return known(name[:200], "file", path) if name else Unknown(f"{path}: names no distribution")


def resembles(scene: Scene) -> Fact[str]:
    """What a distribution says it is like, by its os-release file."""
    for path in _OS_RELEASE:
        found = scene.host.lines(path, "ID_LIKE=")
        if isinstance(found, Known):
            said = next((line.partition("=")[2] for line in found.value if line.startswith("ID_LIKE=")), "")
            words = " ".join(re.findall(r"[\w.-]+", said))[:200]
            return known(words, "file", path) if words else absent("file", path, "no ID_LIKE")
        if isinstance(found, Unknown):
            return found
    return absent("file", _OS_RELEASE[0])


def libc(scene: Scene) -> Fact[str]:
    """The C library and its version: from the file's name (glibc before 2.34), else from its banner."""
    for folder in _LIBC_FOLDERS:
        real = scene.host.real(f"{folder}/libc.so.6")
        if isinstance(real, Known):
            return _glibc(scene.host, real.value)
    musl = scene.host.list("/lib", r"ld-musl-")
    if isinstance(musl, Known) and musl.value:
        return known("musl", "file", f"/lib/{musl.value[0].name}")
    if isinstance(musl, Unknown):
        return musl
    return Unknown("neither libc.so.6 nor ld-musl is in a standard folder", "ldd --version")


def _glibc(host: Host, path: str) -> Fact[str]:
    named = re.search(r"/libc-(2\.\d+)\.so$", path)
    if named:
        return known(f"glibc {named[1]}", "file", path)
    banner = host.lines(path, "GNU C Library (")
    if not isinstance(banner, Known):
        return or_unknown(banner, f"{path}: gone while looking")
    version = re.search(r"GNU C Library \([^)]*\)[^\n]{0,80}? version (2\.\d+)", "\n".join(banner.value))
    return known(f"glibc {version[1]}", "file", path) if version else Unknown(f"{path}: has no glibc banner")


def wsl(scene: Scene) -> Fact[str]:
    """WSL 1 or 2 by the kernel's release; a custom WSL 2 kernel by the variable that only WSL sets, and /dev/dxg."""
    said = scene.host.uname()
    if not isinstance(said, Known):
        folder = scene.host.stat("/usr/lib/wsl") if isinstance(scene.host.offline(), Known) else said
        if isinstance(folder, Known):
            return known("2", "folder", "/usr/lib/wsl", "which WSL alone makes")
        return said if isinstance(said, Unknown) else absent("call", "uname")
    release = said.value.release
    if "microsoft" in release.lower():
        return Known("2" if "microsoft" in release else "1", said.source)
    variables = scene.host.environ()
    if isinstance(variables, Known) and {"WSL_DISTRO_NAME", "WSL_INTEROP"} & variables.value.keys():
        device = scene.host.stat("/dev/dxg")
        if isinstance(device, Known):
            return known("2", "file", "/dev/dxg")
    return Absent(Source("call", "uname", f"kernel {release}"))


def wsl_device(scene: Scene) -> Fact[bool]:
    """Whether /dev/dxg, WSL's way to the GPU, is there; Absent outside WSL."""
    if scene.facts.surroundings.wsl.need() is None:
        return absent("call", "uname", "not WSL")
    return scene.host.exists("/dev/dxg")


def vm(scene: Scene) -> Fact[str]:
    """The virtual machine's platform by its DMI tables; Absent on the metal."""
    vendor = scene.host.read(f"{_DMI}/sys_vendor")
    product = scene.host.read(f"{_DMI}/product_name")
    if isinstance(vendor, Known) and isinstance(product, Known):
        return _platform(vendor.value.strip(), product.value.strip())
    if isinstance(scene.facts.surroundings.wsl, Known):
        return Known("hyperv", Source("call", "uname", "WSL"))
    kind = scene.host.read("/sys/hypervisor/type")
    if isinstance(kind, Known) and kind.value.strip():
        return known(kind.value.strip()[:40], "file", "/sys/hypervisor/type")
    virtio = scene.host.list("/sys/bus/virtio/devices", r"virtio\d+$")
    if isinstance(virtio, Known) and virtio.value:
        return known("unnamed (virtio devices)", "folder", "/sys/bus/virtio/devices")
    return Unknown(f"{_DMI}: no DMI tables to tell a virtual machine by", "systemd-detect-virt")


def _platform(vendor: str, product: str) -> Fact[str]:
    if not product.endswith(".metal"):  # EC2's bare-metal instances carry Amazon's vendor string too
        for in_vendor, in_product, name in _PLATFORMS:
            if in_vendor in vendor and in_product in product:
                return known(name, "file", f"{_DMI}/sys_vendor", f"{vendor} {product}")
    return absent("file", f"{_DMI}/sys_vendor", f"{vendor} {product}".strip()[:100])


def uptime(scene: Scene) -> Fact[float]:
    """Seconds since boot."""
    said = scene.host.read("/proc/uptime")
    if not isinstance(said, Known):
        return said
    first = said.value.split()[:1]
    return _number(first[0] if first else "", "/proc/uptime")


def booted(scene: Scene) -> Fact[float]:
    """Unix time of the boot."""
    said = scene.host.lines("/proc/stat", "btime")
    if not isinstance(said, Known):
        return said
    fields = said.value[0].split() if said.value else []
    return _number(fields[1] if len(fields) == 2 else "", "/proc/stat")


def _number(text: str, path: str) -> Fact[float]:
    return (
        known(float(text), "file", path) if re.fullmatch(r"\d{1,15}(\.\d+)?", text) else Unknown(f"{path}: no number")
    )


LOOKS: tuple[Look, ...] = (
    Look("surroundings", "system", system, serves=("plan", "devices")),
    Look("surroundings", "distribution", distribution),
    Look("surroundings", "resembles", resembles),
    Look("surroundings", "kernel", kernel),
    Look("surroundings", "machine", machine),
    Look("surroundings", "libc", libc, serves=("plan",)),
    Look("surroundings", "offline", offline),
    Look("surroundings", "container", container.container),
    Look("surroundings", "injected", container.injected),
    Look("surroundings", "wsl", wsl, serves=("plan",)),
    Look("surroundings", "wsl_device", wsl_device),
    Look("surroundings", "vm", vm),
    Look("surroundings", "cgroup_devices", container.cgroup_devices),
    Look("surroundings", "open_files_limit", lambda scene: scene.host.limit("NOFILE")),
    Look("surroundings", "locked_memory_limit", lambda scene: scene.host.limit("MEMLOCK")),
    Look("surroundings", "address_space_limit", lambda scene: scene.host.limit("AS")),
    Look("surroundings", "tasks", tasks),
    Look("surroundings", "shm", host_memory.shm),
    Look("surroundings", "memory", host_memory.memory),
    Look("surroundings", "disks", host_memory.disks),
    Look("surroundings", "kernel_log", kernel_log.kernel_log),
    Look("surroundings", "uptime", uptime),
    Look("surroundings", "booted", booted),
)
