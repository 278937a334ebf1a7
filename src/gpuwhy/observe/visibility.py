"""CUDA_VISIBLE_DEVICES as CUDA reads it, checked against the devices that exist.

The rules are those of the CUDA programming guide, and where it is silent what driver 580.159.04 did: an index is read
like C's strtol (blanks before it, anything after it), a UUID must start its entry, the first entry decides whether the
list is one of indexes or of UUIDs, and naming a device twice makes cuInit fail with error 101.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown
from gpuwhy.model.facts import Device, Visibility
from gpuwhy.observe.scene import Scene

VARIABLE = "CUDA_VISIBLE_DEVICES"
_INDEX = re.compile(r"\s*([+-]?\d+)")
_UUID = re.compile(r"(GPU|MIG)-\S", re.IGNORECASE)


def visibility(scene: Scene) -> Fact[Visibility]:
    """What the variable leaves visible; Absent when it is not set."""
    value = _variable(scene, VARIABLE)
    if not isinstance(value, Known):
        return value
    devices = scene.facts.devices.devices
    if isinstance(devices, Known):
        return Known(read(value.value, devices.value), value.source)
    if reads_nothing(value.value):
        return Known(read(value.value, ()), value.source)
    return Unknown(f"{VARIABLE} is set, but the devices are not known", "nvidia-smi -L")


def order(scene: Scene) -> Fact[str]:
    """CUDA_DEVICE_ORDER."""
    return _variable(scene, "CUDA_DEVICE_ORDER")


def _variable(scene: Scene, name: str) -> Fact[str]:
    variables = scene.host.environ()
    if not isinstance(variables, Known):
        return variables
    source = Source("env", name)
    return Known(variables.value[name], source) if name in variables.value else Absent(source)


def reads_nothing(value: str) -> bool:
    """Whether the first entry is bad on every machine."""
    first = value.split(",")[0]
    match = _INDEX.match(first)
    return int(match.group(1)) < 0 if match else not _UUID.match(first)


def read(value: str, devices: Sequence[Device]) -> Visibility:
    """Read a value against devices, entry by entry, up to the first that is bad."""
    chosen: list[str] = []
    visible: list[int] = []
    entries = value.split(",")
    by_index = bool(_INDEX.match(entries[0]))
    for position, entry in enumerate(entries):
        if not "".join(entries[position:]).strip():
            break  # commas at the end are no entries
        name, index, why = _by_index(entry, devices) if by_index else _by_uuid(entry, devices)
        if not why and name in chosen:
            visible = []
            why = f"names {name} a second time, and cuInit then fails with error 101 (invalid device)"
        if why:
            return Visibility(VARIABLE, value, _once(visible), entry.strip() or ",,", why)
        chosen.append(name)
        visible.append(index)
    return Visibility(VARIABLE, value, _once(visible), "", "")


def _once(indexes: list[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(indexes))


def _by_index(entry: str, devices: Sequence[Device]) -> tuple[str, int, str]:
    match = _INDEX.match(entry)
    if not match:
        return "", -1, _not_a_number(entry)
    index = int(match.group(1)[:12])
    if index < 0:
        return "", -1, "ends the list"
    if index >= len(devices):
        return "", -1, f"is no GPU of this machine, which has {_how_many(len(devices))}"
    return f"GPU {index}", devices[index].index, ""


def _how_many(count: int) -> str:
    return f"GPUs 0 to {count - 1}" if count > 1 else "GPU 0 only" if count else "no GPU that NVML sees"


def _not_a_number(entry: str) -> str:
    if not entry.strip():
        return "leaves an entry empty"
    if _UUID.match(entry.strip()):
        return "is a UUID in a list that starts with an index, and is not read"
    return "is neither an index nor a GPU's UUID"


def _by_uuid(entry: str, devices: Sequence[Device]) -> tuple[str, int, str]:
    if not _UUID.match(entry):
        blank = bool(_UUID.match(entry.strip()))
        return "", -1, "has a blank before it, where CUDA allows none" if blank else _not_a_uuid(entry)
    wanted = entry.strip().lower()
    names = [(uuid, device.index) for device in devices for uuid in _uuids(device, wanted)]
    found = [(uuid, index) for uuid, index in names if uuid and _fits(uuid.lower(), wanted)]
    if len(found) == 1:
        return found[0][0], found[0][1], ""
    return "", -1, "fits more than one device" if found else "is the UUID of no device here"


def _not_a_uuid(entry: str) -> str:
    if entry.strip() and _INDEX.match(entry):
        return "is an index in a list that starts with a UUID, and is not read"
    return _not_a_number(entry)


def _uuids(device: Device, wanted: str) -> tuple[str, ...]:
    if not wanted.startswith("mig-"):
        return (device.uuid,)
    return device.mig.value.instances if isinstance(device.mig, Known) else ()


def _fits(uuid: str, wanted: str) -> bool:
    """We know a UUID by its first digits only, so an entry fits as far as both go."""
    return uuid.startswith(wanted) or wanted.startswith(uuid)
