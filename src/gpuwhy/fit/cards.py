"""Cards: the GPUs to fit into, seen here or described, and how much of each a program can have."""

from __future__ import annotations

import difflib
import re

from gpuwhy.fit.bits import shown
from gpuwhy.knowledge import gpu_memory, gpus
from gpuwhy.model.fact import Known
from gpuwhy.model.facts import Device, Devices
from gpuwhy.model.fit import Card, How

_COUNT = re.compile(r"^\s*(\d{1,4})\s*[x×*]\s*(?=\D)", re.IGNORECASE)
_SEVERAL = {"a100": "40 or 80 GB: 40 is taken, write A100-80GB for the other", "v100": "16 or 32 GB: 16 is taken"}
KEPT, KEPT_SHARE = 300 << 20, 0.0025
"""What the driver keeps of a card for itself: 0.3 to 0.65 GiB on cards of 24 to 140 GiB."""


class BadCardError(ValueError):
    """A GPU or a size that makes no sense; the text says why."""


def described(words: tuple[str, ...], memory: tuple[int, ...] = ()) -> tuple[Card, ...]:
    """The cards of a description: names, each possibly with a count, and sizes that go before what is known of them."""
    out: list[Card] = []
    names = [name for text in words for name in _several(text)] or ["a GPU"] * len(memory)
    sizes = memory * len(names) if len(memory) == 1 else memory
    if sizes and len(sizes) != len(names):
        raise BadCardError(f"--gpu-memory is given {len(sizes)} times for {len(names)} GPUs: give one, or one for each")
    for place, name in enumerate(names):
        out.append(told(name, sizes[place]) if sizes else _known(name))
    return tuple(out)


def _several(text: str) -> list[str]:
    found = _COUNT.match(text)
    return [text[found.end() :]] * int(found[1]) if found else [text]


def told(name: str, size: int) -> Card:
    """A card of a size that the user gives; nothing is taken off."""
    if not 64 << 20 <= size <= 64 << 40:
        raise BadCardError(f"--gpu-memory: {shown(size)} is no size of a GPU's memory")
    return Card(name, size, size, "told", f"{shown(size)} by --gpu-memory")


def _known(text: str) -> Card:
    part = gpu_memory.slice_of(text)
    if part is not None:
        return _slice(*part)
    row = gpus.by_name(text)
    size = gpu_memory.size_of(text) or (gpu_memory.size_of(row.name) if row else None)
    if size is None:
        raise BadCardError(_unknown(text, row is not None))
    name = row.name.removeprefix("NVIDIA ") if row else text.strip()
    note = next((f"; it has {told}" for word, told in _SEVERAL.items() if _bare(text, word)), "")
    how: How = "assumed" if note else "know"
    return Card(name, size, size - kept(size), how, f"{shown(size)}, less what the driver keeps{note}")


def _slice(name: str, size: int, sure: bool) -> Card:
    how: How = "know" if sure else "assumed"
    what = "by its profile" if sure else "guessed from its name"
    return Card(f"MIG {name}", size, size - (64 << 20), how, f"{shown(size)} {what}")


def _bare(text: str, word: str) -> bool:
    return word in text.lower() and not re.search(r"\d\s*gb?\b", text.lower().replace(word, ""))


def kept(size: int) -> int:
    """What the driver keeps of a card of this size."""
    return int(KEPT + KEPT_SHARE * size)


def _unknown(text: str, row: bool) -> str:
    if re.fullmatch(r"(sm_|compute_)?\d{1,2}\.?\d[af]?", text.strip().lower()):
        return f"--gpu {text}: a compute capability says nothing of memory; add --gpu-memory, as in --gpu-memory 24GB"
    other = gpus.other_maker(text)
    if other:
        return f"--gpu {text}: a GPU of {other[0]}; give its memory with --gpu-memory"
    near = difflib.get_close_matches(text.lower(), [name for name, _ in gpu_memory.SIZES], 3, 0.6) if not row else []
    hint = f"; did you mean {', '.join(near)}?" if near else "; give it with --gpu-memory, as in --gpu-memory 24GB"
    return f"--gpu {text}: {'its memory is not known' if row else 'no such GPU is known'}{hint}"


def seen(devices: Devices) -> tuple[Card, ...]:
    """The cards of this machine, and what is free of each now."""
    if not isinstance(devices.devices, Known):
        return ()
    visible = devices.visibility.value.visible if isinstance(devices.visibility, Known) else None
    return tuple(
        card
        for device in devices.devices.value
        if visible is None or device.index in visible
        for card in [_free(device)]
        if card is not None
    )


def _free(device: Device) -> Card | None:
    if not isinstance(device.memory_total, Known):
        return None
    total = device.memory_total.value
    if not isinstance(device.memory_free, Known):
        return Card(device.name, total, total - kept(total), "assumed", "what is free now could not be seen")
    free = device.memory_free.value
    held = total - free - kept(total)
    others = f"; other processes hold {shown(held)} of it" if held > 256 << 20 else ""
    return Card(device.name, total, free, "saw", f"{shown(free)} of {shown(total)} free now, by NVML{others}")
