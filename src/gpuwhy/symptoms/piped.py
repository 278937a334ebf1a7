"""Piped: failures in what brings the data in, before any of it reaches a device."""

from __future__ import annotations

import re

from gpuwhy.model.ending import Ending
from gpuwhy.symptoms.wording import HARD, spoken

DEEP = 4
"""How many of the innermost frames are looked at: below a pipeline stand its helpers, and the user's own reader."""
_PIPELINE = re.compile(
    r"[\\/]utils[\\/]data[\\/]|[\\/]data[\\/](?:ops|experimental|util)[\\/]|data_adapter|data_collator|[\\/]_?collat\w*\.py"
    r"|dataset_utils|iterator_ops|[\\/]datasets?[\\/]|[\\/]datasets?\w*\.py|tokenization_|input_pipeline"
)
"""Files by which a framework reads, batches and collates."""
_COMPUTES = re.compile(r"\.cuda\(|\.to\(|\bcuda\b|\bdevice\b|\bmodel\(|\bnet\(", re.IGNORECASE)
_SHAPES = ("program.shape", "program.dimensions", "refused.operands")


def from_data(ending: Ending) -> bool:
    """Whether what brings the data in raised it, or the user's reader below that, and it has no word of the stack."""
    inner = ending.stack[-DEEP:]
    last = next((at for at in range(len(inner) - 1, -1, -1) if _PIPELINE.search(inner[at].file)), -1)
    if ending.kind != "exception" or last < 0 or HARD.search(spoken(_NODE.sub("", ending.message))):
        return False
    return not any(_COMPUTES.search(frame.code) for frame in inner[last + 1 :])


_NODE = re.compile(r"\{\{[^}\n]*\}\}|\S*device:CPU:\d+")
"""Where TensorFlow says that a node stands."""


def of_samples(signature: str, ending: Ending) -> bool:
    """Whether a message about shapes is about samples that do not go together."""
    return signature.startswith(_SHAPES) and from_data(ending)
