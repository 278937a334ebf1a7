"""The GPUs to fit into, described or seen, and how much of each a program can have."""

from __future__ import annotations

import difflib
import re

from gpuwhy.fit.answer import Card, FitError, How
from gpuwhy.fit.dtypes import shown
from gpuwhy.knowledge import gpus

_COUNT = re.compile(r"^\s*(\d{1,4})\s*[x×*]\s*(?=\D)", re.IGNORECASE)
_SEVERAL = {
    "a100": "40 or 80 GB: 40 is taken, write A100-80GB for the other",
    "v100": "16 or 32 GB: 16 is taken",
}
_KEPT, _KEPT_SHARE = 300 << 20, 0.0025
"""What the driver keeps of a card: 0.3 to 0.65 GiB on cards of 24 to 140 GiB."""


def kept(size: int) -> int:
    """What the driver keeps of a card of this size."""
    return int(_KEPT + _KEPT_SHARE * size)


def described(words: tuple[str, ...], memory: tuple[int, ...] = ()) -> tuple[Card, ...]:
    """The cards of a description: names, each possibly with a count, and sizes."""
    names = [name for text in words for name in _several(text)] or ["a GPU"] * len(memory)
    sizes = memory * len(names) if len(memory) == 1 else memory
    if sizes and len(sizes) != len(names):
        said = f"--gpu-memory is given {len(sizes)} times for {len(names)} GPUs"
        raise FitError(f"{said}: give one, or one for each")
    if sizes:
        return tuple(_told(name, size) for name, size in zip(names, sizes, strict=True))
    return tuple(map(_known, names))


def _several(text: str) -> list[str]:
    found = _COUNT.match(text)
    return [text[found.end() :]] * int(found[1]) if found else [text]


def _told(name: str, size: int) -> Card:
    if not 64 << 20 <= size <= 64 << 40:
        raise FitError(f"--gpu-memory: {shown(size)} is no size of a GPU's memory")
    return Card(name, size, size, "told", f"{shown(size)} by --gpu-memory")


def _known(text: str) -> Card:
    part = gpus.slice_of(text)
    if part is not None:
        name, size, sure = part
        what = "by its profile" if sure else "guessed from its name"
        how: How = "know" if sure else "assumed"
        return Card(f"MIG {name}", size, size - (64 << 20), how, f"{shown(size)} {what}")
    row = gpus.by_name(text)
    found = gpus.size_of(text) or (gpus.size_of(row.name) if row else None)
    if found is None:
        raise FitError(_unknown(text, row is not None))
    name = row.name.removeprefix("NVIDIA ") if row else text.strip()
    plain = re.sub(r"(a100|v100)(?!.*\d\s*gb?\b)", r"<\1>", text.lower())
    note = next((f"; it has {said}" for word, said in _SEVERAL.items() if f"<{word}>" in plain), "")
    text = f"{shown(found)}, less what the driver keeps{note}"
    return Card(name, found, found - kept(found), "assumed" if note else "know", text)


def _unknown(text: str, row: bool) -> str:
    if re.fullmatch(r"(sm_|compute_)?\d{1,2}\.?\d[af]?", text.strip().lower()):
        return f"--gpu {text}: a compute capability says nothing of memory; add --gpu-memory 24GB"
    other = gpus.other_maker(text)
    if other:
        return f"--gpu {text}: a GPU of {other[0]}; give its memory with --gpu-memory"
    names = list(gpus.memory().sizes)
    near = difflib.get_close_matches(text.lower(), names, 3, 0.6) if not row else []
    hint = f"did you mean {', '.join(near)}?" if near else "give it with --gpu-memory 24GB"
    return f"--gpu {text}: {'its memory is not known' if row else 'no such GPU is known'}; {hint}"
