"""torch without a version from an index of PyTorch's that ended years ago."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import indexes
from gpuwhy.knowledge.releases import has_python
from gpuwhy.knowledge.tables import source
from gpuwhy.lint import holding
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.versions import allowed
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.version import at_least

RULE = Rule("index-ended", "warning", "torch without a version from an index that ended: an old release is taken")

_OLD = "2.6"
"""Indexes that ended before it have no code for Blackwell, and no torch that transformers 5 takes."""


def check(scope: Scope) -> Iterator[Mistake]:
    """Each such torch, once in an environment."""
    yield from _channel(scope)
    for pin in scope.pins:
        held = holding.by_index(pin)
        if (
            held
            and not holding.by_neighbour(scope, held)
            and not at_least(held.version, _OLD)
            and not scope.environment.locked
        ):
            backend = pin.backend
            comes = _coming(scope, held.version)
            what = "that is" if comes == held.version else f"{comes}, the last for this Python, is"
            text = f"the index {backend} ended with torch {held.version}: {what} what comes, whatever is out since"
            lacks = " (no code for Blackwell GPUs, too old for transformers 5)" if backend.startswith("cu") else ""
            fix = f"take an index that goes on (cu126, cu130, rocm7.0), or write torch=={held.version} if it is meant"
            yield RULE.mistake(pin.place, text + lacks, indexes.ENDED, fix)
            return


def _coming(scope: Scope, last: str) -> str:
    """The newest release up to the last one that the Python of the file takes."""
    pythons = scope.environment.pythons or scope.hinted
    rows = [row for row in allowed("torch", f"<={last}") if any(has_python(row, one) for one in pythons)]
    return rows[-1].version if rows else last


def _channel(scope: Scope) -> Iterator[Mistake]:
    """A pytorch past 2.5 beside pytorch-cuda, which is of PyTorch's channel, where 2.5.1 is the last."""
    cuda = next((pin for pin in scope.pins if pin.name == "pytorch-cuda" and pin.origin == "conda"), None)
    channels = scope.environment.channels
    other = "conda-forge" in channels[: channels.index("pytorch")] if "pytorch" in channels else True
    for pin in scope.pins if cuda else ():
        if pin.name != "pytorch" or pin.origin != "conda":
            continue
        found = re.match(r"[=>~]{1,2}\s*(\d+\.\d+)", pin.specifier)
        if found and at_least(found[1], _OLD) and "conda-forge" not in channels:  # which has it, without that CUDA
            text = f"pytorch{pin.specifier} beside pytorch-cuda: PyTorch's channel ended with 2.5.1, so nothing fits"
            fix = "take pytorch-gpu from conda-forge with cuda-version, or torch from pip"
            yield RULE.mistake(pin.place, text, _CHANNEL, fix, "error")
        elif not pin.specifier and not other:
            comes = _coming(scope, "2.5.1")
            what = "that is" if comes == "2.5.1" else f"{comes}, the last for this Python, is"
            text = f"PyTorch's channel ended with 2.5.1 (2024): {what} what comes, whatever is out since"
            fix = "take torch from pip, or pytorch-gpu from conda-forge; or write pytorch=2.5.1 if it is meant"
            yield RULE.mistake(pin.place, text, _CHANNEL, fix)


_CHANNEL = source(
    "PyTorch: deprecation of the conda channel (pytorch/pytorch issue 138506)", "2.5.1 is its last release"
)
