"""Wires `gpuwhy fit`: a model's files, the GPUs here or described, the account and what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from gpuwhy.fit import bits, cards, measured
from gpuwhy.fit.answer import BadUseError
from gpuwhy.fit.answer import fit as answered
from gpuwhy.fit.guess import described
from gpuwhy.fit.model import Model, Unreadable
from gpuwhy.fit.reading import read
from gpuwhy.model.fit import Card, Fit, Use

if TYPE_CHECKING:
    from gpuwhy.fit.measured import Tried

__all__ = ["Fit", "FitError", "fit"]

TASKS = {"": "inference", "full": "train", "lora": "lora"}
NO_GPU = 'no GPU is seen here: say which one, as in --gpu "RTX 4090" or --gpu-memory 24GB'


class FitError(ValueError):
    """The question cannot be answered; the text is one sentence for people."""


def fit(
    model: str,
    *,
    train: str = "",
    gpu: tuple[str, ...] | str = (),
    gpu_memory: tuple[str | int, ...] | str | int = (),
    measured_by: Tried | None = None,
    changes: bool = True,
    **use: Any,
) -> Fit:
    """Whether a use of a model fits; `use` are the fields of Use: batch, tokens, dtype, optimizer, tp …

    `train` is "", "full" or "lora". Without `gpu` and `gpu_memory` it is this machine's GPUs and what is free of them
    now. `measured_by` is what `fit_batch` found with the real program: the account is corrected by it.
    """
    try:
        found = read(model)
    except Unreadable as error:
        raise FitError(str(error)) from error
    given: dict[str, Any] = {"train": train, "gpu": gpu, "gpu_memory": gpu_memory, "changes": changes}
    return fit_model(found, measured_by=measured_by, **given, **use)


def fit_model(
    model: Model,
    *,
    train: str = "",
    gpu: tuple[str, ...] | str = (),
    gpu_memory: tuple[str | int, ...] | str | int = (),
    measured_by: Tried | None = None,
    changes: bool = True,
    **use: Any,
) -> Fit:
    """The same of a model that was read."""
    found = described(model)
    try:
        asked = used(train, use)
        where = _cards(gpu, gpu_memory, asked.tp * asked.pp * asked.gpus)
        if measured_by is not None:
            asked = measured.corrected(found, asked, where, measured_by)
        answer = answered(found, asked, where, changes=changes)
    except (BadUseError, cards.BadCardError) as error:
        raise FitError(str(error)) from error
    largest = measured.largest(found, asked, where) if changes else 0
    return msgspec.structs.replace(answer, largest=largest)


def used(train: str, fields: dict[str, Any]) -> Use:
    """The use that somebody asks for; raises FitError."""
    unknown = [name for name in fields if name not in Use.__struct_fields__]
    if unknown or train not in TASKS:
        raise FitError(
            f"{unknown[0]}: no such option" if unknown else f"train={train!r}: expected '', 'full' or 'lora'"
        )
    try:
        for name in ("dtype", "kv_dtype"):
            if fields.get(name):
                fields = {**fields, name: bits.word(fields[name])}
    except ValueError as error:
        raise FitError(str(error)) from error
    return Use(**{**fields, "task": TASKS[train]})


def _cards(gpu: tuple[str, ...] | str, memory: tuple[str | int, ...] | str | int, count: int) -> tuple[Card, ...]:
    """The cards that are described; else the first ones that a program would see here, and what is free of them."""
    names = (gpu,) if isinstance(gpu, str) else gpu
    given = memory if isinstance(memory, tuple) else (memory,)
    try:
        sizes = tuple(bits.size(one) for one in given)
    except ValueError as error:
        raise FitError(f"--gpu-memory {error}") from error
    if names or sizes:
        return cards.described(names, sizes)
    from gpuwhy import app

    seen = cards.seen(app.devices_of(app.live_host()))
    if not seen:
        raise FitError(NO_GPU)
    return seen[:count]
