"""A CUDA image that a second FROM discards."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("discarded-image", "error", "a CUDA image that a second FROM discards")

_KNOW = source("Dockerfile reference, FROM", "each FROM starts anew; only the last stage is the image")


def check(scope: Scope) -> Iterator[Mistake]:
    """The stage that runs holds no CUDA, and an unnamed one before it, of which nothing is taken, does."""
    stage, base = scope.environment, scope.base
    if not stage.runs or not stage.discarded or base.gpu or stage.image is None:
        return
    lost = next((image for image in stage.discarded if is_for_gpus(image.text)), None)
    if lost and not is_for_gpus(stage.image.text) and not scope.gpu_framework("tensorflow", "jax"):
        text = f"this FROM discards {lost.text} (line {lost.place.line}): {stage.image.text} alone is the image"
        fix = f"keep one FROM, or copy from the first one by name (FROM {lost.text} AS cuda, COPY --from=cuda …)"
        yield RULE.mistake(stage.image.place, text, _KNOW, fix)


def is_for_gpus(image: str) -> bool:
    """Whether an image is for GPUs: by what is known of it, or by its name."""
    known = containers.read(image).gpu
    named = re.search(r"(^|[^a-z])(cuda|gpu|nvidia)([^a-z]|$)", image.lower())
    return bool(known) if known is not None else bool(named)
