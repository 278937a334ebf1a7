"""select_gpu: the GPU with the memory and capability that are wanted, the only visible one."""

from __future__ import annotations

import operator
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from gpuwhy.api.loaded import cuda_started
from gpuwhy.api.sizes import parse, shown
from gpuwhy.facts.devices import Devices
from gpuwhy.facts.devices import Gpu as Device
from gpuwhy.facts.fact import Known, Unknown, value_or

VARIABLE, ORDER = "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"
AMD = "/dev/kfd"
"""The node of AMD's driver, whose GPUs NVML does not count."""
_COMPARE = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
    "": operator.ge,
}
_BOUND = re.compile(r"\s{0,9}(>=|<=|==|!=|>|<|)\s{0,9}(\d{1,9})(?:\.(\d{1,9}))?\s{0,9}")


class SelectionError(RuntimeError):
    """No GPU could be selected; the text says why, GPU by GPU. `certain` is False where there may
    be one.
    """

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


class Wish(NamedTuple):
    """What a GPU must have."""

    free: int = 0
    bounds: tuple[tuple[str, tuple[int, int]], ...] = ()
    numbers: tuple[int, ...] | None = None


def wish(
    free: str | int = 0, capability: str | float = "", index: int | Sequence[int] | None = None
) -> Wish:
    """A wish from what people write; raises ValueError where it makes no sense."""
    chosen = (index,) if isinstance(index, int) else index if index is None else tuple(index)
    bounds = []
    for part in str(capability).split(",") if str(capability).strip() else ():
        match = _BOUND.fullmatch(part)
        if match is None:
            raise ValueError(f"capability={capability!r}: write '>=8.0', '==7.5' or '>=7.0,<9'")
        bounds.append((match[1], (int(match[2]), int(match[3] or 0))))
    return Wish(parse(free), tuple(bounds), chosen)


def select_gpu(
    free: str | int = 0,
    capability: str | float = "",
    n: int = 1,
    *,
    index: int | Sequence[int] | None = None,
    by: str = "index",
) -> tuple[Gpu, ...]:
    """Choose `n` GPUs by memory that is free now, and make them the only ones that CUDA will see
    in this process.

    `free` is a size ("8GB"), `capability` a bound (">=8.0"), `index` names GPUs by nvidia-smi's
    numbers. GPUs that CUDA_VISIBLE_DEVICES already excludes stay excluded. Call it before a
    framework uses CUDA; raises SelectionError.
    """
    wanted = wish(free, capability, index)
    if n < 1 or by not in ("index", "uuid"):
        raise ValueError("select_gpu needs n >= 1, and by='index' or by='uuid'")
    if started := cuda_started():
        late = f"{VARIABLE} is not read again. Call select_gpu() before the first use of CUDA"
        raise SelectionError(f"{started}: {late}")
    chosen = choose(_devices(), wanted, n)
    os.environ[ORDER] = "PCI_BUS_ID"
    os.environ[VARIABLE] = spelled(chosen, by)
    return tuple(map(_gpu, chosen))


def why_not(free: str | int = 0, capability: str | float = "", n: int = 1) -> str:
    """Why there are no such GPUs, for the pytest marker; "" where there are, and where nobody can
    tell: no test is skipped on a guess.
    """
    wanted = wish(free, capability)
    found = _visible() if sys.platform == "linux" else None
    if found is None or isinstance(found, str):
        return found or ""
    try:
        _require(*_sorted_out(found, wanted), n)
    except SelectionError as error:
        return str(error)
    return ""


@lru_cache(maxsize=1)
def _visible() -> tuple[Device, ...] | str | None:
    """The visible GPUs, or why there are none; None where that cannot be told."""
    if os.path.exists(AMD):
        return None
    try:
        return visible(_devices())
    except SelectionError as error:
        return str(error) if error.certain else None


def _devices() -> Devices:
    from gpuwhy.look.look import look
    from gpuwhy.machine.live import LiveMachine
    from gpuwhy.machine.recording import RecordingMachine

    return look(RecordingMachine(LiveMachine()), only=("system", "driver", "devices")).devices


def choose(found: Devices, wanted: Wish, n: int) -> list[Device]:
    """The `n` fitting devices with the most free memory; raises SelectionError."""
    fitting, refused = _sorted_out(visible(found), wanted)
    for device in [one for one in fitting if isinstance(one.mig, Known) and one.mig.value.current]:
        fitting.remove(device)
        refused.append(f"{_called(device)} is divided by MIG: name an instance in {VARIABLE}")
    _require(fitting, refused, n)
    return sorted(fitting, key=lambda one: (-value_or(one.memory_free, 0), one.index))[:n]


def _sorted_out(allowed: Sequence[Device], wanted: Wish) -> tuple[list[Device], list[str]]:
    """The devices that are as wanted, and a sentence on each other."""
    missing = [i for i in wanted.numbers or () if i not in {device.index for device in allowed}]
    if missing:
        raise SelectionError(f"there is no GPU {missing[0]} to select: {_those(allowed)}")
    why = [(device, unfit(device, wanted)) for device in allowed]
    fitting = [device for device, reason in why if not reason]
    return fitting, [f"{_called(device)} {reason}" for device, reason in why if reason]


def _require(fitting: Sequence[Device], refused: Sequence[str], n: int) -> None:
    if len(fitting) < n:
        verb = "is" if len(fitting) == 1 else "are"
        few = f"only {len(fitting)} of the {n} GPUs wanted {verb}" if fitting else "no GPU is"
        raise SelectionError(f"{few} as wanted: {'; '.join(refused) or _those(fitting)}")


def _called(device: Device) -> str:
    return f"GPU {device.index} ({device.name})"


def _those(devices: Sequence[Device]) -> str:
    names = ", ".join(map(_called, devices))
    limits = f" that {VARIABLE}={os.environ[VARIABLE]} leaves" if VARIABLE in os.environ else ""
    return f"the only one{limits} is {names}" if len(devices) == 1 else f"those{limits} are {names}"


def visible(found: Devices) -> tuple[Device, ...]:
    """The devices that CUDA_VISIBLE_DEVICES leaves, or all; raises SelectionError for none."""
    devices: tuple[Device, ...] = value_or(found.gpus, ())
    if not devices:
        why, certain = _why_none(found)
        raise SelectionError(f"no GPU: {why}", certain)
    limits = found.visibility
    if isinstance(limits, Unknown):
        raise SelectionError(f"{VARIABLE} cannot be read: {limits.reason}", certain=False)
    if not isinstance(limits, Known):
        return devices
    said = limits.value
    if said.bad_entry:
        why = f"CUDA stops reading it at {said.bad_entry!r}: {said.bad.value}"
        raise SelectionError(f"{VARIABLE}={said.value}: {why}")
    if not said.visible:
        raise SelectionError(f"{VARIABLE} is {said.value!r}, which hides every GPU")
    by_index, mixed = said.value.strip()[:1].isdigit(), len({one.name for one in devices}) > 1
    if by_index and mixed and os.environ.get(ORDER) != "PCI_BUS_ID":
        raise SelectionError(
            f"{VARIABLE}={said.value} counts GPUs in CUDA's own order, fastest first, and the"
            f" models here differ: set {ORDER}=PCI_BUS_ID, or name GPUs by UUID (nvidia-smi -L)",
            certain=False,
        )
    return tuple(one for one in devices if one.index in said.visible)


def _why_none(found: Devices) -> tuple[str, bool]:
    """Why there is no GPU, by a check of this machine, and whether that is certain."""
    from gpuwhy.api.python import check

    answer = check()
    if answer.first and answer.status == "broken":
        return f"{answer.first.id}: {answer.first.because[0].text}", True
    if isinstance(found.gpus, Unknown):
        return found.gpus.reason, False
    return "this machine has none", True


def unfit(device: Device, wanted: Wish) -> str:
    """Why a device is not as wanted; "" where it is. What is not known of it is not as wanted."""
    if wanted.numbers is not None and device.index not in wanted.numbers:
        return "is not among those named"
    if isinstance(device.error, Known):
        return f"does not answer: {device.error.value}"
    mode = value_or(device.compute_mode, "default")
    if mode == "prohibited":
        return f"is in compute mode {mode}"
    if mode.startswith("exclusive") and value_or(device.processes, ()):
        return f"is in compute mode {mode} and in use"
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
    rows = [row for row in wanted.bounds if not _COMPARE[row[0]](has, row[1])]
    bounds = ",".join(f"{sign or '>='}{a}.{b}" for sign, (a, b) in rows)
    return f"has compute capability {device.capability.value}, {bounds} wanted" if rows else ""


def spelled(chosen: Sequence[Device], by: str) -> str:
    """The value of the variable: CUDA wants indexes only, or UUIDs only."""
    uuids = [one.uuid for one in chosen]
    if by == "uuid" and all(uuids) and len(set(uuids)) == len(uuids):
        return ",".join(uuids)
    return ",".join(str(one.index) for one in chosen)


def _gpu(device: Device) -> Gpu:
    free, total = value_or(device.memory_free, None), value_or(device.memory_total, None)
    return Gpu(device.index, device.name, device.uuid, free, total, value_or(device.capability, ""))
