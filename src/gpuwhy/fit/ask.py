"""`gpuwhy.fit(…)`: a model's files, the GPUs described or here, and what was measured."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any, Protocol

from gpuwhy.answer.text import size as shown
from gpuwhy.facts.fact import value_or
from gpuwhy.fit import dtypes
from gpuwhy.fit.answer import Card, Fit, FitError, Use
from gpuwhy.fit.judge import corrected, judged
from gpuwhy.fit.model import Model, Unreadable
from gpuwhy.fit.read import read
from gpuwhy.knowledge import gpus

_COUNT = re.compile(r"^\s*(\d{1,4})\s*[x×*]\s*(?=\D)", re.IGNORECASE)
_SEVERAL = {
    "a100": "40 or 80 GB: 40 is taken, write A100-80GB for the other",
    "v100": "16 or 32 GB: 16 is taken",
}
_KEPT, _KEPT_SHARE = 300 << 20, 0.0025
"""What the driver keeps of a card: 0.3 to 0.65 GiB on cards of 24 to 140 GiB."""


def _room(size: int) -> int:
    """What the driver leaves of a card of this size."""
    return size - int(_KEPT + _KEPT_SHARE * size)


def described(words: tuple[str, ...], memory: tuple[int, ...] = ()) -> tuple[Card, ...]:
    """The cards of a description: names, each possibly with a count, and sizes."""
    names = [name for text in words for name in _several(text)] or ["a GPU"] * len(memory)
    sizes = memory * len(names) if len(memory) == 1 else memory
    if not sizes:
        return tuple(map(_known, names))
    if len(sizes) != len(names):
        said = f"--gpu-memory is given {len(sizes)} times for {len(names)} GPUs"
        raise FitError(f"{said}: give one, or one for each")
    for size in sizes:
        if not 64 << 20 <= size <= 64 << 40:
            raise FitError(f"--gpu-memory: {shown(size)} is no size of a GPU's memory")
    return tuple(
        Card(name, size, size, "told", f"{shown(size)} by --gpu-memory")
        for name, size in zip(names, sizes, strict=True)
    )


def _several(text: str) -> list[str]:
    found = _COUNT.match(text)
    return [text[found.end() :]] * int(found[1]) if found else [text]


def _known(text: str) -> Card:
    if part := gpus.slice_of(text):
        name, size, sure = part
        said = f"{shown(size)} {'by its profile' if sure else 'guessed from its name'}"
        return Card(f"MIG {name}", size, size - (64 << 20), "know" if sure else "assumed", said)
    row = gpus.by_name(text)
    found = gpus.size_of(text) or (gpus.size_of(row.name) if row else None)
    if found is None:
        raise FitError(_unknown(text, row is not None))
    name = row.name.removeprefix("NVIDIA ") if row else text.strip()
    unstated = re.search(r"(a100|v100)(?!.*\d\s*gb?\b)", text.lower())
    note = f"; it has {_SEVERAL[unstated[1]]}" if unstated else ""
    said = f"{shown(found)}, less what the driver keeps{note}"
    return Card(name, found, _room(found), "assumed" if note else "know", said)


def _unknown(text: str, row: bool) -> str:
    if re.fullmatch(r"(sm_|compute_)?\d{1,2}\.?\d[af]?", text.strip().lower()):
        return f"--gpu {text}: a compute capability says nothing of memory; add --gpu-memory 24GB"
    if other := gpus.other_maker(text):
        return f"--gpu {text}: a GPU of {other[0]}; give its memory with --gpu-memory"
    names = list(gpus.memory().sizes)
    near = difflib.get_close_matches(text.lower(), names, 3, 0.6) if not row else []
    hint = f"did you mean {', '.join(near)}?" if near else "give it with --gpu-memory 24GB"
    return f"--gpu {text}: {'its memory is not known' if row else 'no such GPU is known'}; {hint}"


def seen() -> tuple[Card, ...]:
    """The cards of this machine that a program would see, and what is free of each now."""
    from gpuwhy.look.look import look
    from gpuwhy.machine.live import LiveMachine
    from gpuwhy.machine.recording import RecordingMachine

    devices = look(RecordingMachine(LiveMachine()), only=("variables", "devices")).devices
    order = getattr(value_or(devices.visibility, None), "visible", None)
    out = []
    for device in value_or(devices.gpus, ()):
        total = value_or(device.memory_total, None)
        if total is not None and (order is None or device.index in order):
            out.append(_seen(device.name, total, value_or(device.memory_free, None)))
    return tuple(out)


def _seen(name: str, total: int, free: int | None) -> Card:
    if free is None:
        return Card(name, total, _room(total), "assumed", "what is free now could not be seen")
    held = _room(total) - free
    others = f"; other processes hold {shown(held)} of it" if held > 256 << 20 else ""
    text = f"{shown(free)} of {shown(total)} free now, by NVML{others}"
    return Card(name, total, free, "saw", text)


TASKS = {"": "inference", "full": "train", "lora": "lora"}
NO_GPU = 'no GPU is seen here: say which one, as in --gpu "RTX 4090" or --gpu-memory 24GB'


class Tried(Protocol):
    """What `fit_batch` gives back."""

    @property
    def tries(self) -> Sequence[Any]:
        """Every batch that was tried, each with its `size` and whether it `fits`."""


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
    if unknown := [name for name in fields if name not in Use.__struct_fields__]:
        raise FitError(f"{unknown[0]}: no such option")
    if train not in TASKS:
        raise FitError(f"train={train!r}: expected '', 'full' or 'lora'")
    try:
        typed = {n: dtypes.asked(fields[n]) for n in ("dtype", "kv_dtype") if fields.get(n)}
    except ValueError as error:
        raise FitError(str(error)) from error
    return Use(**{**fields, **typed, "task": TASKS[train]})


def _cards(
    gpu: tuple[str, ...] | str, memory: tuple[str | int, ...] | str | int
) -> tuple[Card, ...]:
    names = (gpu,) if isinstance(gpu, str) else gpu
    given = memory if isinstance(memory, tuple) else (memory,)
    try:
        sizes = tuple(map(dtypes.memory, given))
    except ValueError as error:
        raise FitError(f"--gpu-memory {error}") from error
    return described(names, sizes) if names or sizes else ()
