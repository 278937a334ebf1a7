"""Which words the texts of each cause have, as `tools/learn.py` found them: data/words.json.

And how texts read that are no failure of the GPU stack, by `tools/learn_strangers.py`: data/strangers.bin.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import msgspec

from gpuwhy.model.symptom import Likeness


@cache
def lexicon() -> dict[str, Likeness]:
    """The words by cause; "healthy" has those of successful runs."""
    raw = (resources.files("gpuwhy.causes.text") / "data" / "words.json").read_bytes()
    return msgspec.json.decode(raw, type=dict[str, Likeness])


def strangers() -> bytes:
    """The weights of words and pairs of words, for `reason/stranger.py`."""
    return (resources.files("gpuwhy.causes.text") / "data" / "strangers.bin").read_bytes()
