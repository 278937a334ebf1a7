"""An image of the CPU build where a GPU is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.lint.scope import base_of
from gpuwhy.lint.sheet import Workload
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.plan import Machine

RULE = Rule("cpu-image", "error", "an image of the CPU build where a GPU is asked for")


def check_workload(work: Workload, _: Machine | None) -> Iterator[Mistake]:
    """A GPU asked for, for an image of the CPU build."""
    base = base_of(work)
    if work.request and work.image and base.gpu is False and "latest" not in base.name.rpartition(":")[2]:
        text = f"{work.name} asks for a GPU, and {work.image.text} holds the CPU build"
        aws = base.family == "aws"
        instead = f"{work.image.text}{'-gpu' if ':' in work.image.text else ':latest-gpu'}"
        fix = "take the image of the same release whose tag says -gpu" if aws else f"write {instead}"
        yield RULE.mistake(work.image.place, text, containers.AWS if aws else containers.TENSORFLOW_TAGS, fix)
