"""select_gpu: the GPU with the memory and capability that are wanted, the only visible one."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from gpuwhy.answer.text import size as shown
from gpuwhy.api.memory import cuda_started
from gpuwhy.facts.devices import Devices
from gpuwhy.facts.devices import Gpu as Device
from gpuwhy.facts.fact import Known, Unknown, value_or
from gpuwhy.fit.dtypes import memory

VARIABLE, ORDER = "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"
AMD = "/dev/kfd"
"""The node of AMD's driver, whose GPUs NVML does not count."""


class SelectionError(RuntimeError):
    """No GPU could be selected; the text says why. `certain` is False where there may be one."""

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


Wish = tuple[int, SpecifierSet]
"""What a GPU must have: free bytes, and its compute capability."""


def wish(free: str | int = 0, capability: str | float = "") -> Wish:
    """A wish from what people write; raises ValueError where it makes no sense."""
    written = str(capability).strip()
    try:
        bounds = SpecifierSet(f">={written}" if written[:1].isdigit() else written)
    except InvalidSpecifier:
        text = f"capability={capability!r}: write '>=8.0', '==7.5' or '>=7.0,<9'"
        raise ValueError(text) from None
    return memory(free), bounds


def select_gpu(
    free: str | int = 0, capability: str | float = "", n: int = 1, *, by: str = "index"
) -> tuple[Gpu, ...]:
    """Choose `n` GPUs by memory that is free now, and make them the only ones that CUDA will see
    in this process.

    `free` is a size ("8GB"), `capability` a bound (">=8.0"). GPUs that CUDA_VISIBLE_DEVICES
    already excludes stay excluded. Call it before a framework uses CUDA; raises SelectionError.
    """
    wanted = wish(free, capability)
    if n < 1 or by not in ("index", "uuid"):
        raise ValueError("select_gpu needs n >= 1, and by='index' or by='uuid'")
    if cuda_started():
        late = f"{VARIABLE} is not read again. Call select_gpu() before the first use of CUDA"
        raise SelectionError(f"CUDA is already initialised in this process: {late}")
    chosen = choose(visible(_devices()), wanted, n)
    uuids = {one.uuid for one in chosen} - {""}
    by_uuid = by == "uuid" and len(uuids) == n  # CUDA wants indexes only, or UUIDs only
    os.environ[ORDER] = "PCI_BUS_ID"
    os.environ[VARIABLE] = ",".join(one.uuid if by_uuid else str(one.index) for one in chosen)
    selected = []
    for one in chosen:
        left, total = value_or(one.memory_free, None), value_or(one.memory_total, None)
        capable = value_or(one.capability, "")
        selected.append(Gpu(one.index, one.name, one.uuid, left, total, capable))
    return tuple(selected)


def why_not(free: str | int = 0, capability: str | float = "", n: int = 1) -> str:
    """Why there are no such GPUs, for the pytest marker; "" where there are, and where nobody can
    tell: no test is skipped on a guess.
    """
    wanted = wish(free, capability)
    found = _visible() if sys.platform == "linux" and not os.path.exists(AMD) else ()
    if isinstance(found, str):
        return found
    try:
        choose(found, wanted, n if found else 0, whole=False)
    except SelectionError as error:
        return str(error)
    return ""


@lru_cache(maxsize=1)
def _visible() -> tuple[Device, ...] | str:
    """The visible GPUs, or why there are none; () where that cannot be told."""
    try:
        return visible(_devices())
    except SelectionError as error:
        return str(error) if error.certain else ()


def _devices() -> Devices:
    from gpuwhy.look.look import look
    from gpuwhy.machine.live import LiveMachine
    from gpuwhy.machine.recording import RecordingMachine

    return look(RecordingMachine(LiveMachine()), only=("system", "driver", "devices")).devices


def choose(allowed: Sequence[Device], wanted: Wish, n: int, whole: bool = True) -> list[Device]:
    """The `n` fitting devices with the most free memory; raises SelectionError. `whole`: a device
    that MIG divides cannot be named by its own number.
    """
    fitting, refused = [], []
    for device in allowed:
        if reason := _unfit(device, wanted, whole):
            refused.append(f"GPU {device.index} ({device.name}) {reason}")
        else:
            fitting.append(device)
    if len(fitting) < n:
        verb = "is" if len(fitting) == 1 else "are"
        few = f"only {len(fitting)} of the {n} GPUs wanted {verb}" if fitting else "no GPU is"
        names = ", ".join(f"GPU {one.index} ({one.name})" for one in fitting)
        raise SelectionError(f"{few} as wanted: {'; '.join(refused) or names}")
    return sorted(fitting, key=lambda one: (-value_or(one.memory_free, 0), one.index))[:n]


def visible(found: Devices) -> tuple[Device, ...]:
    """The devices that CUDA_VISIBLE_DEVICES leaves, or all; raises SelectionError for none."""
    devices: tuple[Device, ...] = value_or(found.gpus, ())
    if not devices:
        from gpuwhy.api.python import check

        answer = check()
        if answer.first and answer.status == "broken":
            raise SelectionError(f"no GPU: {answer.first.id}: {answer.first.because[0].text}")
        if isinstance(found.gpus, Unknown):
            raise SelectionError(f"no GPU: {found.gpus.reason}", certain=False)
        raise SelectionError("no GPU: this machine has none")
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
        order = "in CUDA's own order, fastest first, and the models here differ"
        hint = f"set {ORDER}=PCI_BUS_ID, or name GPUs by UUID (nvidia-smi -L)"
        text = f"{VARIABLE}={said.value} counts GPUs {order}: {hint}"
        raise SelectionError(text, certain=False)
    return tuple(one for one in devices if one.index in said.visible)


def _unfit(device: Device, wanted: Wish, whole: bool) -> str:
    """Why a device is not as wanted; "" where it is. What is not known of it is not as wanted."""
    if isinstance(device.error, Known):
        return f"does not answer: {device.error.value}"
    mode = value_or(device.compute_mode, "default")
    exclusive = mode.startswith("exclusive") and value_or(device.processes, ())
    if mode == "prohibited" or exclusive:
        return f"is in compute mode {mode}{' and in use' if exclusive else ''}"
    least, bounds = wanted
    free = value_or(device.memory_free, -1)
    if least and least > free:
        has = f"has {shown(free)} free, {shown(least)} wanted"
        return has if free >= 0 else "does not tell its free memory"
    capability = value_or(device.capability, "")
    if bounds and not capability:
        return "does not tell its compute capability"
    if bounds and not bounds.contains(capability):
        return f"has compute capability {capability}, {bounds} wanted"
    mig = value_or(device.mig, None)
    divided = whole and mig and mig.current
    return f"is divided by MIG: name an instance in {VARIABLE}" if divided else ""
