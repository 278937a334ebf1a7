"""Started: the facts of an image as a container of it has them, started with `--gpus all` on a machine that was told.

What such a start brings is known: device nodes, and the driver's libraries that NVIDIA_DRIVER_CAPABILITIES allows, in
a default folder. What the image itself puts before them (LD_LIBRARY_PATH, CUDA_VISIBLE_DEVICES) stays as it is.
"""

from __future__ import annotations

import msgspec

from gpuwhy.model.fact import Fact, Known, Source, value_or
from gpuwhy.model.facts import DeviceNode, DriverLibrary, Facts, Injected, Rule, Visibility
from gpuwhy.observe.as_if import Copies, Elsewhere, ahead, as_if, brought, like
from gpuwhy.observe.visibility import VARIABLE, read, reads_nothing

STARTED = Source("none", "as started", "with --gpus all")
NOTHING = ("void", "none")
_ALWAYS = ("compute", "all")
"""The capabilities that bring libcuda."""
_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0")


def is_image(facts: Facts) -> bool:
    """Whether the facts are those of an image's files, or of a container's that were copied."""
    around = facts.surroundings
    return isinstance(around.offline, Known) and isinstance(around.container, Known)


def as_started(facts: Facts, machine: Elsewhere | None = None) -> Facts:
    """The facts in a container of this image, on a machine with a GPU and a driver that fits, or as they were told."""
    told = machine or Elsewhere()
    moved = as_if(facts, told)
    variables = {one.name: one.value for one in value_or(facts.environment.variables, ())}
    asked = variables.get("NVIDIA_DRIVER_CAPABILITIES", "")
    compute, utility = _brings(asked, _ALWAYS), _brings(asked, ("utility", "all"))
    given = Injected(True, compute, variables.get("NVIDIA_VISIBLE_DEVICES", ""), asked)
    around = msgspec.structs.replace(
        moved.surroundings, container=facts.surroundings.container, injected=Known(given, STARTED)
    )
    loads = msgspec.structs.replace(
        moved.loads,
        libcuda=_beside(facts, facts.loads.libcuda, brought(told, "libcuda.so.1"), compute),
        libnvml=_beside(facts, facts.loads.libnvml, brought(told, "libnvidia-ml.so.1"), utility),
    )
    nodes = Known(tuple(DeviceNode(path, True, True, "crw-rw-rw-", Known("ok", STARTED)) for path in _NODES), STARTED)
    return msgspec.structs.replace(
        moved,
        surroundings=around,
        loads=loads,
        driver=msgspec.structs.replace(moved.driver, nodes=nodes),
        devices=msgspec.structs.replace(
            moved.devices, visibility=_visible(moved, variables.get(VARIABLE), bool(machine and machine.gpus))
        ),
    )


def moved(facts: Facts, elsewhere: Elsewhere | Facts | None) -> Facts:
    """The facts as on another machine, where one was told or recorded."""
    if elsewhere is None:
        return facts
    if isinstance(elsewhere, Facts):
        return like(facts, elsewhere)
    if is_image(facts):
        return as_started(facts, elsewhere)
    return _disk(facts, elsewhere) if isinstance(facts.surroundings.offline, Known) else as_if(facts, elsewhere)


def _disk(facts: Facts, machine: Elsewhere) -> Facts:
    """A disk with another card: its variables stay with it, and so does Windows' driver, where no other was told.

    A distribution of WSL stays one, with the libraries that its loader finds: Windows brings the driver alone.
    """
    out = as_if(facts, machine)
    if value_or(facts.surroundings.wsl, ""):
        return _of_wsl(facts, out)
    value = next((one.value for one in value_or(facts.environment.variables, ()) if one.name == VARIABLE), None)
    devices = msgspec.structs.replace(out.devices, visibility=_visible(out, value, bool(machine.gpus)))
    out = msgspec.structs.replace(out, devices=devices)
    if machine.driver or value_or(facts.surroundings.system, "") != "windows":
        return out
    loads = msgspec.structs.replace(out.loads, libcuda=facts.loads.libcuda, libnvml=facts.loads.libnvml)
    return msgspec.structs.replace(out, driver=facts.driver, loads=loads)


def _of_wsl(facts: Facts, out: Facts) -> Facts:
    around = msgspec.structs.replace(
        out.surroundings, wsl=facts.surroundings.wsl, wsl_device=facts.surroundings.wsl_device
    )
    loads = msgspec.structs.replace(out.loads, libcuda=facts.loads.libcuda, libnvml=facts.loads.libnvml)
    driver = msgspec.structs.replace(out.driver, packages=facts.driver.packages)
    return msgspec.structs.replace(out, surroundings=around, loads=loads, driver=driver)


def _brings(asked: str, names: tuple[str, ...]) -> bool:
    """Whether a list of capabilities holds one of these; without a list the runtime brings compute and utility."""
    listed = {one.strip() for one in asked.lower().split(",")} - {""}
    return not listed or bool(listed & set(names))


def _visible(moved: Facts, value: str | None, told: bool) -> Fact[Visibility]:
    """What the image's own variable hides: from every machine, or from the GPUs that were told."""
    if value is None or not (told or reads_nothing(value)):
        return moved.devices.visibility
    devices = value_or(moved.devices.devices, ())
    return Known(read(value, devices), Source("env", VARIABLE))


def _beside(facts: Facts, own: Copies, host: DriverLibrary, comes: bool) -> Copies:
    """The image's copies that are searched first, the host's, and then the rest of the image's."""
    first = ahead(facts, own, value_or(host.version, ""))
    searched = {one.path for one in first}
    rest = [one for one in value_or(own, ()) if one.path not in searched]
    folder = "/usr/lib64" if _red_hat(facts) else f"/usr/lib/{value_or(facts.surroundings.machine, 'x86_64')}-linux-gnu"
    path = f"{folder}/{host.name}"
    placed = msgspec.structs.replace(host, path=path, real=path, found_via=Rule.BROUGHT.value)
    return Known((*first, *((placed,) if comes else ()), *rest), STARTED)


def _red_hat(facts: Facts) -> bool:
    name = value_or(facts.surroundings.distribution, "").lower()
    return any(word in name for word in ("red hat", "rocky", "alma", "centos", "fedora", "suse"))
