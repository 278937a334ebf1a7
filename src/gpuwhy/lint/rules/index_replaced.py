"""PyTorch's index replaces the default one for packages that it does not have."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import indexes
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import PYTORCH, Index, Pin, holds_only
from gpuwhy.model.lint import Edit, Mistake, Rule

RULE = Rule(
    "index-replaced", "error", "PyTorch's index in the place of the default one, for packages that it does not have"
)


def check(scope: Scope) -> Iterator[Mistake]:
    """One mistake for each such index, with the packages that are lost."""
    lost: dict[Index, list[Pin]] = {}
    for pin in scope.pins:
        only = _only(pin) if pin.by_name and not indexes.is_mirrored(pin.name) else None
        if only:
            lost.setdefault(only, []).append(pin)
    for index, pins in lost.items():
        named = ", ".join(dict.fromkeys(pin.name for pin in pins[:4])) + (" …" if len(pins) > 4 else "")
        text = f"{index.url} takes the place of the default index, and has no {named}"
        fix = "write --extra-index-url, or install PyTorch in a line of its own"
        yield RULE.mistake(index.place, text, indexes.HELD, fix, edit=_edit(index, scope))
    yield from _outdone(scope)


def _outdone(scope: Scope) -> Iterator[Mistake]:
    """A second --index-url of a file, which counts for every line of it: PyTorch's, named before, is never asked."""
    pins = [pin for pin in scope.pins if pin.name in PYTORCH and pin.by_name and pin.origin == "pip"]
    for first, last in scope.environment.outdone:
        if pins and holds_only(first.url) == "torch" != holds_only(last.url):
            text = f"--index-url counts once for a file: {first.url} (line {first.place.line}) is never asked"
            fix = "write --extra-index-url for PyTorch's index, with its build (torch==2.4.1+cpu), or use two files"
            local = any(pin.local for pin in pins)
            yield RULE.mistake(last.place, text, _LAST, fix, "error" if local else "warning")


_LAST = source("pip, Requirements File Format", "options of a file are global; a later --index-url takes over")


def _only(pin: Pin) -> Index | None:
    """PyTorch's index, where no other is asked."""
    if any(index.role in ("extra", "first") for index in pin.indexes):
        return None
    return next((index for index in pin.indexes if index.role == "only" and holds_only(index.url) == "torch"), None)


def _edit(index: Index, scope: Scope) -> Edit | None:
    """--extra-index-url is right where PyTorch's packages are pinned to that build."""
    exact = [pin for pin in scope.pins if index in pin.indexes and pin.name in ("torch", "torchvision", "torchaudio")]
    sure = exact and all(pin.local for pin in exact)
    return Edit(f"--index-url {index.url}", f"--extra-index-url {index.url}") if sure else None
