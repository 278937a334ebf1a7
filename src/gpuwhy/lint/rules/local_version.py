"""A build of PyTorch's index is asked for, and nothing names that index."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import PYTORCH
from gpuwhy.model.lint import Edit, Mistake, Rule

RULE = Rule("local-version", "error", "a +cu121 or +cpu build, and nothing names PyTorch's index")

_KNOW = source("version specifiers of Python packages", "local versions are not allowed on the package index")


def check(scope: Scope) -> Iterator[Mistake]:
    """The first such pin; its neighbours need the same line."""
    stage = scope.environment
    if stage.other_index or stage.told_elsewhere or stage.locked or scope.base.family in ("ngc", "pytorch"):
        return
    for pin in stage.pins:
        if pin.name not in PYTORCH or not pin.local or pin.origin != "pip" or pin.reference or pin.limits:
            continue
        if pin.indexes or pin.backend or not pin.local.startswith(("cu", "cpu", "rocm")):
            continue
        url = f"https://download.pytorch.org/whl/{pin.local}"
        text = f"{pin.name}=={pin.version} is on PyTorch's index alone, and nothing here names it"
        first = scope.kind == "requirements"
        fix = f"add the line --extra-index-url {url}" if first else f"install with --extra-index-url {url}"
        written = f"{pin.name}{pin.specifier}"
        edit = Edit(written, f"--extra-index-url {url}\n{written}") if first else None
        yield RULE.mistake(pin.place, text, _KNOW, fix, edit=edit)
        return
