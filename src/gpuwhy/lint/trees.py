"""Trees: Python files of others as syntax, without the warnings that the compiler prints about them."""

from __future__ import annotations

import ast
import warnings


def parsed(text: str) -> ast.Module:
    """The tree of a file; raises what `ast.parse` raises, and says nothing on standard error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)
