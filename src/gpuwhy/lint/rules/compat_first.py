"""LD_LIBRARY_PATH with cuda-compat before the host's driver, in the image that runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule(
    "compat-first", "warning", "LD_LIBRARY_PATH with cuda-compat before the host's driver, in the image that runs"
)


def check(scope: Scope) -> Iterator[Mistake]:
    """cuda-compat's libcuda on the search path of the image that runs, whatever driver the host has."""
    path = scope.environment.variables.get("LD_LIBRARY_PATH")
    if (
        scope.environment.runs
        and path
        and re.search(r"/(cuda[^/:]*/compat|cuda-compat[^/:]*)(/(?!lib\b)|:|$)", path.value)
    ):
        text = (
            "LD_LIBRARY_PATH has a folder of cuda-compat: its libcuda hides the host's, and fails under a newer driver"
        )
        fix = "leave it out: the NVIDIA runtime brings cuda-compat in by itself where it is needed"
        yield RULE.mistake(path.place, text, containers.MOUNTED, fix)
