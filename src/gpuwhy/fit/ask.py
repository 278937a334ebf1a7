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
    where = _cards(gpu, gpu_memory) or cards or gpus.seen()[: asked.ranks]
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
    return gpus.described(names, sizes) if names or sizes else ()
