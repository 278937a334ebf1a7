"""`gpuwhy.fit(…)`: a model's files, the GPUs here or described, and what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from gpuwhy.fit import cards as gpus
from gpuwhy.fit import dtypes
from gpuwhy.fit.answer import Card, Fit, FitError, Use
from gpuwhy.fit.judge import corrected, judged
from gpuwhy.fit.model import Model, Unreadable
from gpuwhy.fit.read import read

TASKS = {"": "inference", "full": "train", "lora": "lora"}
NO_GPU = 'no GPU is seen here: say which one, as in --gpu "RTX 4090" or --gpu-memory 24GB'


class OneTry(Protocol):
    """A batch that was tried."""

    @property
    def size(self) -> int:
        """Its batch."""

    @property
    def fits(self) -> bool:
        """Whether it fitted."""


class Tried(Protocol):
    """What `fit_batch` gives back."""

    @property
    def tries(self) -> Sequence[OneTry]:
        """Every batch that was tried."""


def fit(
    model: str | Model,
    *,
    train: str = "",
    gpu: tuple[str, ...] | str = (),
    gpu_memory: tuple[str | int, ...] | str | int = (),
    cards: tuple[Card, ...] = (),
    measured_by: Tried | None = None,
    changes: bool = True,
    **use: Any,
) -> Fit:
    """Whether a use of a model fits; `use` are the fields of Use: batch, tokens, dtype, tp …

    `train` is "", "full" or "lora". Without `gpu`, `gpu_memory` and `cards` it is this machine's
    GPUs and what is free of them. `measured_by` is what `fit_batch` found with the real program.
    """
    try:
        found = read(model) if isinstance(model, str) else model
    except Unreadable as error:
        raise FitError(str(error)) from error
    asked = used(train, use)
    where = _cards(gpu, gpu_memory) or cards or seen()[: asked.ranks]
    if not where:
        raise FitError(NO_GPU)
    if measured_by is not None:
        tries = measured_by.tries
        good = max((one.size for one in tries if one.fits), default=0)
        failed = (one.size for one in tries if not one.fits and one.size > good)
        asked = corrected(found, asked, where, good, min(failed, default=0))
    return judged(found, asked, where, changes=changes)


def used(train: str, fields: dict[str, Any]) -> Use:
    """The use that somebody asks for; raises FitError."""
    unknown = [name for name in fields if name not in Use.__struct_fields__]
    if unknown or train not in TASKS:
        what = f"{unknown[0]}: no such option" if unknown else f"train={train!r}"
        raise FitError(f"{what}: expected '', 'full' or 'lora'" if not unknown else what)
    try:
        for name in ("dtype", "kv_dtype"):
            if fields.get(name):
                fields = {**fields, name: dtypes.asked(fields[name])}
    except ValueError as error:
        raise FitError(str(error)) from error
    return Use(**{**fields, "task": TASKS[train]})


def _cards(
    gpu: tuple[str, ...] | str, memory: tuple[str | int, ...] | str | int
) -> tuple[Card, ...]:
    names = (gpu,) if isinstance(gpu, str) else gpu
    given = memory if isinstance(memory, tuple) else (memory,)
    try:
        sizes = tuple(dtypes.memory(one) for one in given)
    except ValueError as error:
        raise FitError(f"--gpu-memory {error}") from error
    return gpus.described(names, sizes) if names or sizes else ()


def seen() -> tuple[Card, ...]:
    """The cards of this machine that a program would see, and what is free of each now."""
    from gpuwhy.look.look import look
    from gpuwhy.machine.live import LiveMachine
    from gpuwhy.machine.recording import RecordingMachine

    found = look(RecordingMachine(LiveMachine()), only=("variables", "devices")).devices
    order = getattr(getattr(found.visibility, "value", None), "visible", None)
    out = []
    for device in getattr(found.gpus, "value", ()):
        total = getattr(device.memory_total, "value", None)
        free = getattr(device.memory_free, "value", None)
        if total is not None and (order is None or device.index in order):
            out.append(_seen(device.name, total, free))
    return tuple(out)


def _seen(name: str, total: int, free: int | None) -> Card:
    if free is None:
        room = total - gpus.kept(total)
        return Card(name, total, room, "assumed", "what is free now could not be seen")
    held = total - free - gpus.kept(total)
    others = f"; other processes hold {dtypes.shown(held)} of it" if held > 256 << 20 else ""
    text = f"{dtypes.shown(free)} of {dtypes.shown(total)} free now, by NVML{others}"
    return Card(name, total, free, "saw", text)
