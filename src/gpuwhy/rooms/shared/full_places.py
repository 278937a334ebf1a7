"""Places of a watched program: which of them its last words concern, and whether they are full."""

from __future__ import annotations

from gpuwhy.model.cause import Case
from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import Place

SMALL = 1 << 20
"""Bytes below which a place counts as full: what failed has most often been removed again."""
NAMED = "named in the output"
_SPEAKERS = ("limit.",)
_ROLES = {
    "temporary": ("temporary", "tmpxft", "tempfile", "mkdtemp", "/cc", "preprocess"),
    "cache of Triton": (".triton", "triton"),
    "cache of PyTorch's compiler": ("inductor", "torchinductor"),
    "folder of PyTorch's extensions": ("torch_extensions", "cpp_extension"),
    "cache of Numba": ("numba", "locator"),
    "folder of Matplotlib": ("matplotlib",),
}
"""Words of a message that mean a place which it does not name."""


def linked(case: Case) -> list[Place]:
    """The places that the messages name by their path, then those they mean by their words, then the working folder."""
    places: tuple[Place, ...] = value_or(case.facts.run.places, ())
    texts = " ".join(one.text for one in case.symptoms if one.signature.startswith(_SPEAKERS)).lower()
    by_path = [one for one in places if one.role == NAMED or _names(texts, one.path)]
    by_words = [one for one in places if any(word in texts for word in _ROLES.get(one.role, ()))]
    rest = [] if by_path else [one for one in places if one.role in ("working folder", "temporary")]
    return list(dict.fromkeys([*by_path, *by_words, *rest]))


def _names(texts: str, path: str) -> bool:
    return len(path) > 4 and path.lower() in texts


def full(place: Place) -> str:
    """What is used up in a place, in words; "" where there is room."""
    if place.inodes == 0 or 0 < place.inodes < 4:
        return f"{place.inodes} more files can be made in it, though {size(place.free)} are free"
    return f"{size(place.free)} of {size(place.total)} are free" if place.free < SMALL and place.total else ""


def size(count: int) -> str:
    """ "4.1 GB" """
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB" if count >= 1e6 else f"{count} bytes"
