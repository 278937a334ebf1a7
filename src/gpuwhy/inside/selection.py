"""select_gpu: the GPU with the memory and the capability that are wanted, made the only visible one in time."""

from __future__ import annotations

import operator
import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpuwhy.api.loaded import cuda_started
from gpuwhy.api.sizes import parse, shown
from gpuwhy.model.fact import Known, Unknown, value_or

if TYPE_CHECKING:
    from gpuwhy.model.facts import Device, Devices

VARIABLE, ORDER = "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    ">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, "<": operator.lt,
    "": operator.ge,
}  # fmt: skip
_BOUND = re.compile(r"\s{0,9}(>=|<=|==|!=|>|<|)\s{0,9}(\d{1,9})(?:\.(\d{1,9}))?\s{0,9}")


class SelectionError(RuntimeError):
    """No GPU could be selected; the text says why, GPU by GPU. `certain` is False where there may be one."""

    def __init__(self, text: str, certain: bool = True) -> None:
        super().__init__(text)
        self.certain = certain


@dataclass(frozen=True)
class Gpu:
    """A selected GPU, by the machine's own number."""

    index: int
    name: str
    uuid: str  # shortened to the prefix that CUDA_VISIBLE_DEVICES accepts
    free: int | None  # bytes
    total: int | None
    capability: str


@dataclass(frozen=True)
class Wish:
    """What a GPU must have."""

    free: int = 0
    bounds: tuple[tuple[str, tuple[int, int]], ...] = ()
    index: tuple[int, ...] | None = None


def wish(free: str | int = 0, capability: str | float = "", index: int | Sequence[int] | None = None) -> Wish:
    """A wish from what people write; raises ValueError where it makes no sense."""
    chosen = (index,) if isinstance(index, int) else index if index is None else tuple(index)
    return Wish(parse(free), _bounds(str(capability)), chosen)


def _bounds(text: str) -> tuple[tuple[str, tuple[int, int]], ...]:
    out = []
    for part in text.split(",") if text.strip() else ():
        match = _BOUND.fullmatch(part)
        if match is None:
            raise ValueError(f"capability={text!r}: write '>=8.0', '==7.5' or '>=7.0,<9'")
        out.append((match[1], (int(match[2]), int(match[3] or 0))))
    return tuple(out)


def select_gpu(
    free: str | int = 0,
    capability: str | float = "",
    n: int = 1,
    *,
    index: int | Sequence[int] | None = None,
    by: str = "index",
) -> tuple[Gpu, ...]:
    """Choose `n` GPUs by memory that is really free, and make them the only ones that CUDA will see in this process.

    `free` is a size ("8GB"), `capability` a bound (">=8.0"), `index` names GPUs by nvidia-smi's numbers. GPUs that
    CUDA_VISIBLE_DEVICES already excludes stay excluded. Call it before a framework touches CUDA; raises SelectionError.
    """
    wanted = wish(free, capability, index)
    if n < 1 or by not in ("index", "uuid"):
        raise ValueError("select_gpu needs n >= 1, and by='index' or by='uuid'")
    started = cuda_started()
    if started:
        raise SelectionError(f"{started}: {VARIABLE} is not read again. Call select_gpu() before the first use of CUDA")
    chosen = choose(_devices(), wanted, n)
    os.environ[ORDER] = "PCI_BUS_ID"
    os.environ[VARIABLE] = spelled(chosen, by)
    return tuple(_gpu(one) for one in chosen)


def _devices() -> Devices:
    from gpuwhy.app import devices_of, live_host

    return devices_of(live_host())


def choose(found: Devices, wanted: Wish, n: int) -> list[Device]:
    """The `n` fitting devices with the most free memory; raises SelectionError, naming each and why not."""
    fitting, refused = sorted_out(visible(found), wanted)
    for device in [one for one in fitting if isinstance(one.mig, Known) and one.mig.value.current]:
        fitting.remove(device)
        refused.append(f"{_called(device)} is divided by MIG: name one of its instances in {VARIABLE}")
    require(fitting, refused, n)
    return sorted(fitting, key=lambda one: (-value_or(one.memory_free, 0), one.index))[:n]


def sorted_out(allowed: Sequence[Device], wanted: Wish) -> tuple[list[Device], list[str]]:
    """The devices that are as wanted, and a sentence on each other; raises SelectionError where one does not exist."""
    missing = [i for i in wanted.index or () if i not in {device.index for device in allowed}]
    if missing:
        raise SelectionError(f"there is no GPU {missing[0]} to select: {_those(allowed)}")
    fitting, refused = [], []
    for device in allowed:
        why = unfit(device, wanted)
        if why:
            refused.append(f"{_called(device)} {why}")
        else:
            fitting.append(device)
    return fitting, refused


def require(fitting: Sequence[Device], refused: Sequence[str], n: int) -> None:
    """Raise SelectionError where fewer than `n` devices fit."""
    if len(fitting) < n:
        few = "no GPU is" if not fitting else f"only {len(fitting)} of the {n} GPUs wanted {_is_are(len(fitting))}"
        raise SelectionError(f"{few} as wanted: {'; '.join(refused) or _those(fitting)}")


def _is_are(count: int) -> str:
    return "is" if count == 1 else "are"


def _called(device: Device) -> str:
    return f"GPU {device.index} ({device.name})"


def _those(devices: Sequence[Device]) -> str:
    names = ", ".join(_called(one) for one in devices)
    limits = f" that {VARIABLE}={os.environ[VARIABLE]} leaves" if VARIABLE in os.environ else ""
    return f"those{limits} are {names}" if len(devices) != 1 else f"the only one{limits} is {names}"


def visible(found: Devices) -> tuple[Device, ...]:
    """The devices that CUDA_VISIBLE_DEVICES leaves, or all; raises SelectionError where there are none."""
    devices = found.devices
    if not isinstance(devices, Known) or not devices.value:
        why, certain = why_none(found)
        raise SelectionError(f"no GPU: {why}", certain)
    limits = found.visibility
    if isinstance(limits, Unknown):
        raise SelectionError(f"{VARIABLE} cannot be read: {limits.reason}", certain=False)
    if not isinstance(limits, Known):
        return devices.value
    if limits.value.first_bad:
        what = f"{VARIABLE}={limits.value.value}: {limits.value.first_bad} {limits.value.why_bad}"
        raise SelectionError(what)
    if not limits.value.visible:
        raise SelectionError(f"{VARIABLE} is {limits.value.value!r}, which hides every GPU")
    _check_order(devices.value, found, limits.value.value)
    return tuple(one for one in devices.value if one.index in limits.value.visible)


def _check_order(devices: Sequence[Device], found: Devices, value: str) -> None:
    """Indexes count in CUDA's order, fastest first; where models differ, only PCI order is the one we know."""
    by_index = value.strip()[:1].isdigit()
    if by_index and len({one.name for one in devices}) > 1 and value_or(found.order, "") != "PCI_BUS_ID":
        raise SelectionError(
            f"{VARIABLE}={value} counts GPUs in CUDA's own order, fastest first, and the models here differ: "
            f"set {ORDER}=PCI_BUS_ID, or name GPUs by UUID (nvidia-smi -L)",
            certain=False,
        )


def why_none(found: Devices) -> tuple[str, bool]:
    """Why there is no GPU, by a whole check of this machine, and whether that is certain."""
    from gpuwhy.app import check

    for cause in check(sys.executable or "").causes:
        if cause.stops and cause.found:
            return f"{cause.id}: {cause.said}", True
    if isinstance(found.devices, Unknown):
        return found.devices.reason, False
    return "this machine has none", True


def unfit(device: Device, wanted: Wish) -> str:
    """Why a device is not as wanted; "" where it is. What is not known of it is not as wanted."""
    if wanted.index is not None and device.index not in wanted.index:
        return "is not among those named"
    if isinstance(device.error, Known):
        return f"does not answer: {device.error.value}"
    mode = value_or(device.compute_mode, "default")
    if mode == "prohibited" or (mode.startswith("exclusive") and value_or(device.processes, ())):
        return f"is in compute mode {mode}" + (" and in use" if mode != "prohibited" else "")
    return _too_small(device, wanted) or _too_old(device, wanted)


def _too_small(device: Device, wanted: Wish) -> str:
    if not wanted.free:
        return ""
    if not isinstance(device.memory_free, Known):
        return "does not tell its free memory"
    free = device.memory_free.value
    return "" if free >= wanted.free else f"has {shown(free)} free, {shown(wanted.free)} wanted"


def _too_old(device: Device, wanted: Wish) -> str:
    if not wanted.bounds:
        return ""
    if not isinstance(device.capability, Known):
        return "does not tell its compute capability"
    major, _, minor = device.capability.value.partition(".")
    has = (int(major), int(minor or 0))
    failed = [f"{sign or '>='}{a}.{b}" for sign, (a, b) in wanted.bounds if not _COMPARE[sign](has, (a, b))]
    return f"has compute capability {device.capability.value}, {','.join(failed)} wanted" if failed else ""


def spelled(chosen: Sequence[Device], by: str) -> str:
    """The value of the variable: CUDA wants indexes only, or UUIDs only, and each UUID's beginning to be unique."""
    uuids = {one.uuid for one in chosen if one.uuid}
    if by == "uuid" and len(uuids) == len(chosen):
        return ",".join(one.uuid for one in chosen)
    return ",".join(str(one.index) for one in chosen)


def _gpu(device: Device) -> Gpu:
    return Gpu(
        device.index,
        device.name,
        device.uuid,
        value_or(device.memory_free, None),
        value_or(device.memory_total, None),
        value_or(device.capability, ""),
    )
