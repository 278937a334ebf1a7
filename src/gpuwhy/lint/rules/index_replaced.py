"""PyTorch's index replaces the default one for packages that it does not have."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import indexes
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Index, Pin, holds_only
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
