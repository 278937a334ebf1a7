"""As if: the facts of this environment on another machine: with a GPU and a driver that were told, or recorded there.

Everything of the environment stays as it was seen; what belongs to the machine is replaced, each value with a source
that says so. A part that was not told is Unknown, and decides nothing.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from gpuwhy.knowledge.drivers import cuda_of_driver, in_branch
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, value_or
from gpuwhy.model.facts import Device, Devices, Driver, DriverLibrary, Facts, PciDevice, Rule
from gpuwhy.model.version import numbers

T = TypeVar("T")

GIB = 1 << 30
TOLD = Source("none", "as if", "told on the command line")
NOT_TOLD = Unknown("as if on another machine: this was not told")
_BY_VARIABLE = (Rule.LD_PRELOAD, Rule.LD_LIBRARY_PATH)
_BY_FOLDER = (Rule.CACHE, Rule.DEFAULT)
Copies = Fact[tuple[DriverLibrary, ...]]
ANY = "a GPU"
"""The name of a GPU of which nothing is told."""


class Elsewhere(msgspec.Struct, frozen=True):
    """A machine as it was told: GPUs by name and compute capability, a driver, the memory of each GPU."""

    gpus: tuple[tuple[str, str], ...] = ()
    driver: str = ""
    memory: float = 0.0  # GiB

    def __str__(self) -> str:
        names = ", ".join(name for name, _ in self.gpus)
        memory = f" with {self.memory:g} GiB" if self.memory else ""
        return ", ".join(filter(None, (names + memory, self.driver and f"driver {self.driver}")))


def as_if(facts: Facts, machine: Elsewhere) -> Facts:
    """The facts of this environment on a machine that was told."""
    cards = machine.gpus or ((ANY, ""),)
    cuda = (*ahead(facts, facts.loads.libcuda, machine.driver), brought(machine, "libcuda.so.1"))
    nvml = (*ahead(facts, facts.loads.libnvml, machine.driver), brought(machine, "libnvidia-ml.so.1"))
    return _moved(facts, _devices(cards, machine), _driver(machine), Known(cuda, TOLD), Known(nvml, TOLD))


def ahead(facts: Facts, copies: Copies, driver: str = "") -> tuple[DriverLibrary, ...]:
    """The copies that programs get before the driver's on every machine: what variables lead to, and an image's files.

    A live machine's folders and cache belong to its driver; those of a folder or an image come along wherever it goes.
    Where driver and image have a copy in one folder, ldconfig links the newer one, whosever it is.
    """
    comes_along = isinstance(facts.surroundings.offline, Known)
    rules = (*_BY_VARIABLE, *_BY_FOLDER) if comes_along else _BY_VARIABLE
    kinds = ("stub", "compat", "driver") if comes_along else ("stub",)
    found = (one for one in value_or(copies, ()) if one.kind in kinds and one.rule in rules)
    return tuple(_kept(one) if one.yields else one for one in found if not one.yields or _is_newer(one, driver))


def _is_newer(one: DriverLibrary, driver: str) -> bool:
    """Whether a copy is of a newer release than the driver that was told, so that ldconfig's link stays with it."""
    version = value_or(one.version, "")
    return bool(driver and version) and one.kind == "driver" and numbers(version) > numbers(in_branch(driver))


def _kept(one: DriverLibrary) -> DriverLibrary:
    return msgspec.structs.replace(one, yields=False)


def like(facts: Facts, other: Facts) -> Facts:
    """The facts of this environment on a machine that was recorded."""
    moved = _moved(facts, other.devices, other.driver, other.loads.libcuda, other.loads.libnvml)
    around = msgspec.structs.replace(
        moved.surroundings,
        container=other.surroundings.container,
        injected=other.surroundings.injected,
        wsl=other.surroundings.wsl,
        wsl_device=other.surroundings.wsl_device,
        kernel_log=other.surroundings.kernel_log,
    )
    return msgspec.structs.replace(moved, surroundings=around)


def named_machine(elsewhere: Elsewhere | Facts) -> str:
    """The machine in a few words."""
    if isinstance(elsewhere, Elsewhere):
        return str(elsewhere)
    names = [one.name for one in value_or(elsewhere.devices.devices, ())]
    version = value_or(elsewhere.driver.module_version, "")
    return ", ".join(filter(None, (", ".join(dict.fromkeys(names)), version and f"driver {version}"))) or "that machine"


def somewhere(facts: Facts) -> Facts:
    """The facts on a machine like this one that has some GPU and a driver that fits it; more is not told."""
    return as_if(facts, Elsewhere())


def _moved(facts: Facts, devices: Devices, driver: Driver, libcuda: Copies, libnvml: Copies) -> Facts:
    absent = Absent(TOLD)
    around = msgspec.structs.replace(
        facts.surroundings, container=absent, injected=absent, wsl=absent, wsl_device=absent, kernel_log=Known((), TOLD)
    )
    loads = msgspec.structs.replace(facts.loads, libcuda=libcuda, libnvml=libnvml)
    return msgspec.structs.replace(facts, devices=devices, driver=driver, surroundings=around, loads=loads)


def _devices(cards: tuple[tuple[str, str], ...], machine: Elsewhere) -> Devices:
    return Devices(
        nvml_error=Absent(TOLD),
        devices=Known(tuple(_device(n, name, cap, machine) for n, (name, cap) in enumerate(cards)), TOLD),
        pci=Known(tuple(_card(n, name, cap) for n, (name, cap) in enumerate(cards)), TOLD),
        visibility=Absent(TOLD),
        order=Absent(TOLD),
    )


def _told(value: T | None) -> Fact[T]:
    return Known(value, TOLD) if value else NOT_TOLD


def _device(index: int, name: str, capability: str, machine: Elsewhere) -> Device:
    memory = _told(int(machine.memory * GIB))
    absent = Absent(TOLD)
    return Device(
        index, name, "", "", _told(capability), memory, memory, Known((), TOLD), Known("default", TOLD), absent, absent,
        Known((), TOLD), absent, absent, Known("not supported", TOLD), absent,
    )  # fmt: skip


def _card(index: int, name: str, capability: str) -> PciDevice:
    return PciDevice(f"as if {index}", "", Known(name, TOLD), _told(capability), Known("nvidia", TOLD))


def _driver(machine: Elsewhere) -> Driver:
    """A driver that is there and works; its version only where it was told."""
    version, cuda = in_branch(machine.driver), cuda_of_driver(machine.driver) if machine.driver else None
    absent, no = Absent(TOLD), Known(False, TOLD)
    return Driver(
        module_version=_told(version), module_flavour=NOT_TOLD, modules=Known(("nvidia", "nvidia_uvm"), TOLD),
        module_on_disk=absent, nouveau=no, secure_boot=no, dkms=Known((), TOLD), packages=Known((), TOLD),
        compat_packages=Known((), TOLD), driver_cuda=_told(cuda), behind_wsl=absent, nodes=Known((), TOLD),
        modprobe=absent, persistenced=absent, fabricmanager=absent,
    )  # fmt: skip


def brought(machine: Elsewhere, name: str) -> DriverLibrary:
    """The driver's own, as a machine that was told has it."""
    return DriverLibrary(
        name,
        f"/as if/{name}",
        f"/as if/{name}",
        Rule.TOLD.value,
        "driver",
        _told(in_branch(machine.driver)),
        Known("ok", TOLD),
    )
