"""An index of PyTorch that never was, or that is read as what it is not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import indexes
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import holds_only
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("no-such-index", "error", "an index of PyTorch that never was, or one that is read as a page of files")

_ROOT = re.compile(r"https?://download\.pytorch\.org/whl(/(nightly|test))?(/(cpu|cu\d+|rocm[\d.]+|xpu))?/?")
_LINKS = source("pip's documentation of --find-links", "of a page of HTML, only links to archives are read")


def check(scope: Scope) -> Iterator[Mistake]:
    """Each address once."""
    named = {index for pin in scope.environment.pins for index in pin.indexes}
    for index in sorted(named, key=lambda one: (one.place.path, one.place.line, one.url)):
        if index.backend in indexes.NEVER and holds_only(index.url) == "torch":
            alone = "nothing can be installed from it" if index.role == "only" else "the default index decides"
            text = f"PyTorch has no index {index.backend}: {index.url} is empty, and {alone}"
            fix = "take one that exists, such as cu126 or cu130 (or cu118 and cu121 for older releases)"
            yield RULE.mistake(index.place, text, indexes.MATRIX_NEVER, fix)
        elif index.role == "links" and _ROOT.fullmatch(index.url):
            text = (
                f"--find-links takes {index.url} for a page of files; it is an index of folders: nothing is found there"
            )
            yield RULE.mistake(index.place, text, _LINKS, f"write --extra-index-url {index.url}")
