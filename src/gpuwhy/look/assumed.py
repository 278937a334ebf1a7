"""The facts of this environment on a machine that was described, recorded, or starts a container.

Everything of the environment stays as it was seen; what belongs to the machine is replaced, each
value with a source that says so. What was not described is Unknown, and decides nothing.
"""

from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from gpuwhy.facts.devices import Devices, Fabric, Gpu, PciDevice, Visibility
from gpuwhy.facts.driver import DeviceNode, Driver
from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.libraries import Flaw
from gpuwhy.facts.loads import DriverLibrary, Found, Rule
from gpuwhy.facts.system import Injected
from gpuwhy.facts.version import numbers
from gpuwhy.knowledge.drivers import cuda_of_driver, in_branch
from gpuwhy.look.devices import VISIBLE, read_visible, reads_nothing

T = TypeVar("T")

_ASSUMED = Source("none", "assumed", "described on the command line")
_STARTED = Source("none", "assumed", "a container started with --gpus all")
_NOT_DESCRIBED = Unknown("on an assumed machine: this was not described")
_ABSENT = Absent(_ASSUMED)
_BY_VARIABLE = (Rule.LD_PRELOAD, Rule.LD_LIBRARY_PATH)
_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0")
_RED_HAT = ("rhel", "fedora", "centos", "rocky", "almalinux", "suse", "opensuse", "sles", "amzn")
Copies = Fact[tuple[DriverLibrary, ...]]


class AssumedMachine(msgspec.Struct, frozen=True):
    """A machine as it was described: GPUs by name and compute capability, a driver, GPU memory."""

    gpus: tuple[tuple[str, str], ...] = (("a GPU", ""),)
    driver: str = ""
    memory: float = 0.0  # GiB

    @property
    def described(self) -> bool:
        """Whether its GPUs were named."""
        return any(capability for _, capability in self.gpus)


def assume(facts: Facts, machine: AssumedMachine | Facts) -> Facts:
    """The facts on a machine that was described or recorded; of an image, in its container."""
    if isinstance(machine, Facts):
        names = ("container", "injected", "wsl", "wsl_device", "kernel_log")
        around = {name: getattr(machine.system, name) for name in names}
        copies = machine.loads.libcuda, machine.loads.libnvml
        return _moved(facts, machine.devices, machine.driver, *copies, **around)
    if isinstance(facts.system.offline, Known) and isinstance(facts.system.container, Known):
        return container_start(facts, machine)
    if isinstance(facts.system.offline, Known):
        return _disk(facts, machine)
    return on_machine(facts, machine)


def on_machine(facts: Facts, machine: AssumedMachine) -> Facts:
    """The facts of a live environment on a machine that was described."""
    cuda = (*_first(facts, facts.loads.libcuda), _brought(machine, "libcuda.so.1"))
    nvml = (*_first(facts, facts.loads.libnvml), _brought(machine, "libnvidia-ml.so.1"))
    copies = Known(cuda, _ASSUMED), Known(nvml, _ASSUMED)
    around = dict.fromkeys(("container", "injected", "wsl", "wsl_device"), _ABSENT)
    log = Known((), _ASSUMED)
    return _moved(facts, _devices(machine), _driver(machine), *copies, kernel_log=log, **around)


def container_start(facts: Facts, machine: AssumedMachine | None = None) -> Facts:
    """The facts in a container of an image, started with `--gpus all`.

    Such a start brings device nodes, and the driver's libraries that NVIDIA_DRIVER_CAPABILITIES
    allows, in a default folder. What the image itself puts before them stays as it is.
    """
    assumed = machine or AssumedMachine()
    moved = on_machine(facts, assumed)
    variables = {one.name: one.value for one in value_or(facts.variables.variables, ())}
    asked = variables.get("NVIDIA_DRIVER_CAPABILITIES", "")
    compute, utility = _allows(asked, "compute"), _allows(asked, "utility")
    given = Injected(True, compute, variables.get("NVIDIA_VISIBLE_DEVICES", ""), asked)
    system = replace(
        moved.system, container=facts.system.container, injected=Known(given, _STARTED)
    )
    cuda, nvml = _brought(assumed, "libcuda.so.1"), _brought(assumed, "libnvidia-ml.so.1")
    loads = replace(
        moved.loads,
        libcuda=_beside(facts, facts.loads.libcuda, cuda, compute, assumed.driver),
        libnvml=_beside(facts, facts.loads.libnvml, nvml, utility, assumed.driver),
    )
    opened: Fact[str] = Known("ok", _STARTED)
    nodes = tuple(DeviceNode(path, True, True, "crw-rw-rw-", opened) for path in _NODES)
    visible = _visible(moved, variables.get(VISIBLE), assumed.described)
    return replace(
        moved,
        system=system,
        loads=loads,
        driver=replace(moved.driver, nodes=Known(nodes, _STARTED)),
        devices=replace(moved.devices, visibility=visible),
    )


def _disk(facts: Facts, machine: AssumedMachine) -> Facts:
    """A disk with another card: its variables stay, and Windows' driver, unless described."""
    out = on_machine(facts, machine)
    variables = value_or(facts.variables.variables, ())
    value = next((one.value for one in variables if one.name == VISIBLE), None)
    visible = _visible(out, value, machine.described)
    out = replace(out, devices=replace(out.devices, visibility=visible))
    if machine.driver or value_or(facts.system.os, "") != "windows":
        return out
    own = replace(out.loads, libcuda=facts.loads.libcuda, libnvml=facts.loads.libnvml)
    return replace(out, driver=facts.driver, loads=own)


def _moved(
    facts: Facts, devices: Devices, driver: Driver, cuda: Copies, nvml: Copies, **system: Any
) -> Facts:
    loads = replace(facts.loads, libcuda=cuda, libnvml=nvml)
    around = replace(facts.system, **system)
    return replace(facts, devices=devices, driver=driver, system=around, loads=loads)


def _first(facts: Facts, copies: Copies) -> tuple[DriverLibrary, ...]:
    """The copies that programs get before the driver's on every machine: what variables lead to.

    A live machine's folders and cache belong to its driver; those of a folder or an image come with
    it.
    """
    offline = isinstance(facts.system.offline, Known)
    rules = (*_BY_VARIABLE, Rule.CACHE, Rule.DEFAULT) if offline else _BY_VARIABLE
    kinds = ("stub", "compat", "driver") if offline else ("stub",)
    mine = (one for one in value_or(copies, ()) if one.kind in kinds and not one.yields)
    return tuple(one for one in mine if one.found.rule in rules)


def _stated(value: T | None) -> Fact[T]:
    return Known(value, _ASSUMED) if value else _NOT_DESCRIBED


def _devices(machine: AssumedMachine) -> Devices:
    memory = _stated(int(machine.memory * (1 << 30)))
    gpus, cards = [], []
    for index, (name, capability) in enumerate(machine.gpus):
        gpu = Gpu(
            index=index,
            name=name,
            uuid="",
            pci="",
            capability=_stated(capability),
            memory_total=memory,
            memory_free=memory,
            processes=Known((), _ASSUMED),
            compute_mode=Known("default", _ASSUMED),
            mig=_ABSENT,
            ecc=_ABSENT,
            throttle=Known((), _ASSUMED),
            fabric=Known(Fabric("not supported"), _ASSUMED),
            error=_ABSENT,
        )
        gpus.append(gpu)
        said = (Known(name, _ASSUMED), gpu.capability, Known("nvidia", _ASSUMED))
        cards.append(PciDevice(f"assumed {index}", "", *said))
    found, bus = Known(tuple(gpus), _ASSUMED), Known(tuple(cards), _ASSUMED)
    return Devices(nvml_error=_ABSENT, gpus=found, pci=bus, visibility=_ABSENT)


def _driver(machine: AssumedMachine) -> Driver:
    """A driver that works; its version only where it was described."""
    cuda = cuda_of_driver(machine.driver) if machine.driver else None
    return Driver(
        module_version=_stated(in_branch(machine.driver)),
        modules=Known(("nvidia", "nvidia_uvm"), _ASSUMED),
        module_on_disk=_ABSENT,
        secure_boot=Known(False, _ASSUMED),
        packages=Known((), _ASSUMED),
        driver_cuda=_stated(cuda),
        windows_version=_ABSENT,
        nodes=Known((), _ASSUMED),
        modprobe_setuid=_ABSENT,
        fabricmanager=_ABSENT,
    )


def _brought(machine: AssumedMachine, name: str) -> DriverLibrary:
    """The driver's own library of a machine that was described."""
    path, version = f"/assumed/{name}", _stated(in_branch(machine.driver))
    health: Fact[Flaw] = Known(Flaw.NONE, _ASSUMED)
    return DriverLibrary(name, path, path, Found(Rule.ASSUMED), "driver", version, health)


def _allows(asked: str, name: str) -> bool:
    """Whether a list of capabilities holds one; without a list the runtime brings both."""
    listed = {one.strip() for one in asked.lower().split(",")} - {""}
    return not listed or bool(listed & {name, "all"})


def _visible(moved: Facts, value: str | None, described: bool) -> Fact[Visibility]:
    """What the image's own variable hides: from every machine, or from the described GPUs."""
    if value is None or not (described or reads_nothing(value)):
        return moved.devices.visibility
    gpus = value_or(moved.devices.gpus, ())
    return Known(read_visible(value, gpus), Source("env", VISIBLE))


def _beside(facts: Facts, own: Copies, host: DriverLibrary, comes: bool, driver: str) -> Copies:
    """The image's copies that are searched first, the host's, then the rest of the image's."""
    distro = value_or(facts.system.distro, None)
    red_hat = distro is not None and {distro.id, *distro.like} & set(_RED_HAT)
    machine = value_or(facts.system.machine, "x86_64")
    folder = "/usr/lib64" if red_hat else f"/usr/lib/{machine}-linux-gnu"
    path = f"{folder}/{host.name}"
    first = (*_first(facts, own), *(_newest(own, folder, driver) if comes else ()))
    taken = {one.path for one in first}
    rest = [one for one in value_or(own, ()) if one.path not in taken]
    placed = replace(host, path=path, real=path, found=Found(Rule.CONTAINER))
    return Known((*first, *((placed,) if comes else ()), *rest), _STARTED)


def _newest(own: Copies, folder: str, driver: str) -> tuple[DriverLibrary, ...]:
    """The image's copy in the folder that the host's is put into, of a newer driver.

    The runtime mounts libcuda.so.525.85.12 and runs ldconfig, which links libcuda.so.1 to the
    highest version in the folder.
    """
    places, wanted = (folder, folder.removeprefix("/usr")), numbers(driver)
    for one in value_or(own, ()):
        beside = one.real.rpartition("/")[0] in places and one.kind == "driver"
        if beside and wanted and numbers(value_or(one.version, ""))[: len(wanted)] > wanted:
            return (replace(one, yields=False, outranks=True),) if one.yields else ()
    return ()
