"""How texts of each cause read, as `tools/learn.py` found it: data/likeness.bin.

And how texts read that are no failure of the GPU stack, by `tools/learn_strangers.py`: data/strangers.bin.
"""

from __future__ import annotations

from importlib import resources


def likenesses() -> bytes:
    """The weights of words and pairs of words for each cause, for `reason/words.py`."""
    return (resources.files("gpuwhy.rooms.text") / "data" / "likeness.bin").read_bytes()


def strangers() -> bytes:
    """The weights of words and pairs of words, for `reason/stranger.py`."""
    return (resources.files("gpuwhy.rooms.text") / "data" / "strangers.bin").read_bytes()
