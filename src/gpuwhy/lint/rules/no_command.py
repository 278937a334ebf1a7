"""A shell as the only program of a container that is meant to stay."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.sheet import Workload
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.plan import Machine

RULE = Rule("no-command", "error", "a shell as the only program of a container that is meant to stay")

_KNOW = source("the images' own CMD", "a shell or an interpreter, which ends at once without a terminal")
_SHELLS = re.compile(
    r"(^|/)(pytorch/pytorch|nvidia/cuda|nvidia/cudagl|nvidia/(pytorch|tensorflow|jax)|rocm/(pytorch|tensorflow|dev-ubuntu[\w.-]*)"
    r"|tensorflow/tensorflow|library/(python|ubuntu|debian)|continuumio/(mini|ana)conda3|condaforge/mini\w+)(:|@|$)"
    r"|^(python|ubuntu|debian)(:|@|$)"
)


def check_workload(work: Workload, _: Machine | None) -> Iterator[Mistake]:
    """An image whose own command is a shell, and nothing else to run."""
    image = work.image
    if image is None or not work.stays or work.terminal or work.command or work.built or work.partial:
        return
    if _SHELLS.search(image.text) and "jupyter" not in image.text and "$" not in image.text:
        text = f"{work.name} has no command, and {image.text} starts a shell: it ends at once, and is started again"
        yield RULE.mistake(image.place, text, _KNOW, 'say what is to run (command: ["python", "serve.py"])')
