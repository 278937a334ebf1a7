"""An assumed machine: this environment beside a GPU and a driver that were described.

What belongs to the environment stays as it was seen; what belongs to the machine is replaced.
A part that was not described is Unknown, and decides nothing.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec
from msgspec.structs import replace

from gpuwhy.facts.devices import Devices, Gpu, PciDevice
from gpuwhy.facts.driver import Driver
from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.libraries import Flaw
from gpuwhy.facts.loads import DriverLibrary, Found, Rule
from gpuwhy.knowledge.drivers import cuda_of_driver, in_branch

T = TypeVar("T")
Copies = Fact[tuple[DriverLibrary, ...]]

GIB = 1 << 30
DESCRIBED = Source("none", "assumed", "described on the command line")
NOT_DESCRIBED = Unknown("of the assumed machine this was not described", kind="left out")
SOME_GPU = "a GPU"
"""The name of a GPU of which nothing is described."""
_BY_VARIABLE = (Rule.LD_PRELOAD, Rule.LD_LIBRARY_PATH)
_BY_FOLDER = (Rule.CACHE, Rule.DEFAULT)


class AssumedMachine(msgspec.Struct, frozen=True):
    """GPUs by name and compute capability, a driver, the memory of each GPU in GiB."""

    gpus: tuple[tuple[str, str], ...] = ()
    driver: str = ""
    memory: float = 0.0

    def __str__(self) -> str:
        names = ", ".join(name for name, _ in self.gpus)
        memory = f" with {self.memory:g} GiB" if self.memory else ""
        return ", ".join(filter(None, (names + memory, self.driver and f"driver {self.driver}")))


def assumed(facts: Facts, machine: AssumedMachine) -> Facts:
    """The facts of this environment on a machine that was described."""
    cards = machine.gpus or ((SOME_GPU, ""),)
    cuda = (*_first(facts, facts.loads.libcuda), _own(machine, "libcuda.so.1"))
    nvml = (*_first(facts, facts.loads.libnvml), _own(machine, "libnvidia-ml.so.1"))
    devices = Devices(
        nvml_error=Absent(DESCRIBED),
        gpus=_known(tuple(_gpu(n, *card, machine) for n, card in enumerate(cards))),
        pci=_known(tuple(_card(n, *card) for n, card in enumerate(cards))),
        visibility=Absent(DESCRIBED),
    )
    return _moved(facts, devices, _driver(machine), _known(cuda), _known(nvml))


def with_some_gpu(facts: Facts) -> Facts:
    """The facts on a machine like this one that has some GPU and a driver that fits it."""
    return assumed(facts, AssumedMachine())


def on_recorded(facts: Facts, other: Facts) -> Facts:
    """The facts of this environment on a machine that was recorded."""
    moved = _moved(facts, other.devices, other.driver, other.loads.libcuda, other.loads.libnvml)
    names = ("container", "injected", "wsl", "wsl_device", "kernel_log")
    system = replace(moved.system, **{name: getattr(other.system, name) for name in names})
    return replace(moved, system=system)


def name_of(facts: Facts) -> str:
    """A recorded machine in a few words."""
    names = dict.fromkeys(one.name for one in value_or(facts.devices.gpus, ()))
    version = value_or(facts.driver.module_version, "")
    parts = (", ".join(names), version and f"driver {version}")
    return ", ".join(filter(None, parts)) or "that machine"


def _first(facts: Facts, copies: Copies) -> tuple[DriverLibrary, ...]:
    """The copies that come before the driver's on every machine: by variables, or as an image's
    own files, which go wherever it goes.
    """
    image = isinstance(facts.system.offline, Known)
    rules = (*_BY_VARIABLE, *_BY_FOLDER) if image else _BY_VARIABLE
    kinds = ("stub", "compat", "driver") if image else ("stub",)
    found = value_or(copies, ())
    return tuple(o for o in found if o.kind in kinds and o.found.rule in rules and not o.yields)


def _moved(facts: Facts, devices: Devices, driver: Driver, libcuda: Copies, nvml: Copies) -> Facts:
    absent = Absent(DESCRIBED)
    system = replace(
        facts.system,
        container=absent,
        injected=absent,
        wsl=absent,
        wsl_device=absent,
        kernel_log=_known(()),
    )
    loads = replace(facts.loads, libcuda=libcuda, libnvml=nvml)
    return replace(facts, devices=devices, driver=driver, system=system, loads=loads)


def _known(value: T) -> Known[T]:
    return Known(value, DESCRIBED)


def _stated(value: T | None) -> Fact[T]:
    return _known(value) if value else NOT_DESCRIBED


def _gpu(index: int, name: str, capability: str, machine: AssumedMachine) -> Gpu:
    memory = _stated(int(machine.memory * GIB))
    absent = Absent(DESCRIBED)
    return Gpu(
        index=index,
        name=name,
        uuid="",
        pci="",
        capability=_stated(capability),
        memory_total=memory,
        memory_free=memory,
        processes=_known(()),
        compute_mode=_known("default"),
        mig=absent,
        ecc=absent,
        throttle=_known(()),
        fabric=absent,
        error=absent,
    )


def _card(index: int, name: str, capability: str) -> PciDevice:
    address = f"assumed {index}"
    return PciDevice(address, "", _known(name), _stated(capability), _known("nvidia"))


def _driver(machine: AssumedMachine) -> Driver:
    """A driver that works; its version only where it was described."""
    version = in_branch(machine.driver)
    absent, no = Absent(DESCRIBED), _known(False)
    return Driver(
        module_version=_stated(version),
        modules=_known(("nvidia", "nvidia_uvm")),
        module_on_disk=absent,
        nouveau=no,
        secure_boot=no,
        dkms=_known(()),
        packages=_known(()),
        compat_packages=_known(()),
        driver_cuda=_stated(cuda_of_driver(machine.driver) if machine.driver else None),
        windows_version=absent,
        nodes=_known(()),
        majors=absent,
        mig_nodes=absent,
        modprobe_setuid=absent,
        fabricmanager=absent,
    )


def _own(machine: AssumedMachine, name: str) -> DriverLibrary:
    """The driver's own library, as the assumed machine has it."""
    path = f"/assumed/{name}"
    version = _stated(in_branch(machine.driver))
    return DriverLibrary(
        name, path, path, Found(Rule.ASSUMED), "driver", version, _known(Flaw.NONE)
    )
