"""`gpuwhy.fit(…)`: a model's files, and the GPUs described or here."""

import difflib
import re
from typing import Any

from gpuwhy.answer.text import size as shown
from gpuwhy.facts.fact import value_or
from gpuwhy.fit import dtypes
from gpuwhy.fit.answer import Card, Fit, FitError, Use
from gpuwhy.fit.judge import judged
from gpuwhy.fit.model import Model, Unreadable
from gpuwhy.fit.read import read
from gpuwhy.knowledge import gpus

_COUNT = re.compile(r"^\s*(\d{1,4})\s*[x×*]\s*(?=\D)", re.IGNORECASE)
TASKS = {"": "inference", "full": "train", "lora": "lora"}
NO_GPU = 'no GPU is seen here: say which one, as in --gpu "RTX 4090" or --gpu-memory 24GB'


def fit(
    model: str | Model,
    *,
    train: str = "",
    gpu: tuple[str, ...] | str = (),
    gpu_memory: tuple[str | int, ...] | str | int = (),
    changes: bool = True,
    **use: Any,
) -> Fit:
    """Whether a use of a model fits; `use` are the fields of Use: batch, tokens, dtype, tp …

    `train` is "", "full" or "lora". Without `gpu` and `gpu_memory` it is this machine's GPUs and
    what is free of them.
    """
    try:
        found = read(model) if isinstance(model, str) else model
    except Unreadable as error:
        raise FitError(str(error)) from error
    asked = used(train, use)
    names = (gpu,) if isinstance(gpu, str) else gpu
    given = gpu_memory if isinstance(gpu_memory, tuple) else (gpu_memory,)
    try:
        sizes = tuple(map(dtypes.memory, given))
    except ValueError as error:
        raise FitError(f"--gpu-memory {error}") from error
    where = described(names, sizes) if names or sizes else seen()[: asked.ranks]
    if not where:
        raise FitError(NO_GPU)
    return judged(found, asked, where, changes=changes)


def used(train: str, fields: dict[str, Any]) -> Use:
    """The use that somebody asks for; raises FitError."""
    if unknown := [name for name in fields if name not in Use.__struct_fields__]:
        raise FitError(f"{unknown[0]}: no such option")
    if train not in TASKS:
        raise FitError(f"train={train!r}: expected '', 'full' or 'lora'")
    typed = {}
    for name in ("dtype", "kv_dtype"):
        if word := fields.get(name):
            typed[name] = dtypes.named(word.strip())
            if typed[name] == "?":
                known = "write f32, f16, bf16, fp8 or int8"
                raise FitError(f"{word} is no type that is known; {known}")
    return Use(**{**fields, **typed, "task": TASKS[train]})


def _room(size: int) -> int:
    """What the driver leaves of a card: all but 0.3 to 0.65 GiB on cards of 24 to 140 GiB."""
    return size - int((300 << 20) + 0.0025 * size)


def described(words: tuple[str, ...], memory: tuple[int, ...] = ()) -> tuple[Card, ...]:
    """The cards of a description: names, each possibly with a count, and sizes."""
    names = []
    for text in words:
        found = _COUNT.match(text)
        names += [text[found.end() :]] * int(found[1]) if found else [text]
    names = names or ["a GPU"] * len(memory)
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


def _known(text: str) -> Card:
    """A card, or a slice of one, by its name; raises FitError."""
    if part := gpus.slice_of(text):
        name, size, sure = part
        said = f"{shown(size)} {'by its profile' if sure else 'guessed from its name'}"
        return Card(f"MIG {name}", size, size - (64 << 20), "know" if sure else "assumed", said)
    row = gpus.by_name(text)
    found = gpus.size_of(text) or (gpus.size_of(row.name) if row else None)
    if found is not None:
        sizes = re.search(r"(a100|v100)(?!.*\d\s*gb?\b)", text.lower())
        note = "; there are larger ones: write A100-80GB or V100-32GB" if sizes else ""
        name = row.name.removeprefix("NVIDIA ") if row else text.strip()
        said = f"{shown(found)}, less what the driver keeps{note}"
        return Card(name, found, _room(found), "assumed" if note else "know", said)
    near = [] if row else difflib.get_close_matches(text.lower(), gpus.memory().sizes, 3, 0.6)
    hint = f"did you mean {', '.join(near)}?" if near else "give it with --gpu-memory 24GB"
    why = "its memory is not known" if row else "no such GPU is known"
    raise FitError(f"--gpu {text}: {why}; {hint}")


def seen() -> tuple[Card, ...]:
    """The cards of this machine that a program would see, and what is free of each now."""
    from gpuwhy.look.look import look
    from gpuwhy.machine.live import LiveMachine
    from gpuwhy.machine.recording import RecordingMachine

    devices = look(RecordingMachine(LiveMachine()), only=("variables", "devices")).devices
    order = getattr(value_or(devices.visibility, None), "visible", None)
    out = []
    for device in value_or(devices.gpus, ()):
        total, free = value_or(device.memory_total, None), value_or(device.memory_free, None)
        if total is None or (order is not None and device.index not in order):
            continue
        if free is None:
            said = "what is free now could not be seen"
            out.append(Card(device.name, total, _room(total), "assumed", said))
            continue
        held = _room(total) - free
        others = f"; other processes hold {shown(held)} of it" if held > 256 << 20 else ""
        said = f"{shown(free)} of {shown(total)} free now, by NVML{others}"
        out.append(Card(device.name, total, free, "saw", said))
    return tuple(out)
