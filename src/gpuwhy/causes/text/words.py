"""Which words the texts of each cause have, as `tools/learn.py` found them: data/words.json."""

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
