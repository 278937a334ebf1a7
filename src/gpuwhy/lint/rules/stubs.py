"""LD_LIBRARY_PATH with the stub libraries, in the image that runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("stubs", "error", "LD_LIBRARY_PATH with the stub libraries, in the image that runs")


def check(scope: Scope) -> Iterator[Mistake]:
    """The stub libcuda on the search path of the image that runs."""
    path = scope.environment.variables.get("LD_LIBRARY_PATH")
    if scope.base.variant in ("base", "runtime"):  # stubs come with the devel images alone
        return
    if scope.environment.runs and path and re.search(r"/stubs(/|:|$)", path.value):
        text = "LD_LIBRARY_PATH has a folder of stubs: its libcuda.so answers every call with an error"
        fix = "set it in the RUN line that links (LIBRARY_PATH is enough), not with ENV"
        yield RULE.mistake(path.place, text, containers.STUBS, fix)
