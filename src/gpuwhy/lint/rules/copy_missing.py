"""COPY of a file that the repository does not have."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("copy-missing", "error", "COPY of a file that the repository does not have")

_KNOW = source("Dockerfile reference, COPY", "a source that is not in the build's folder stops the build")
_LISTED = re.compile(r"[\w./-]+\.(txt|in|ya?ml|toml|py|sh|cfg|lock)")
"""Kinds of files that belong into a repository, and no wildcard."""

_SECRET = re.compile(r"\.\.|key|secret|cred|licen[cs]e|token|passw|\.env|local", re.IGNORECASE)
"""What everybody has to bring himself, and paths that lead out of the folder."""


def check(scope: Scope) -> Iterator[Mistake]:
    """The first such file, where the whole repository is at hand and no folder of it has the file."""
    stage = scope.environment
    if scope.kind != "dockerfile" or not stage.sources or not scope.repository.is_listed:
        return
    if not scope.for_gpus and not scope.repository.imports(
        "torch", "tensorflow", "jax", "cupy", "onnxruntime", "keras"
    ):
        return
    if any(_is_seen_from_above(scope, written) for written, _ in stage.sources):
        return
    for written, line in stage.sources:
        path = posixpath.normpath(written.lstrip("/"))
        if _LISTED.fullmatch(path) and not _SECRET.search(path) and _is_missing(scope, path):
            text = f"COPY {written}: the repository has no such file, so the build stops"
            yield RULE.mistake(Place(stage.path, line), text, _KNOW, "add the file, or name the one that is there")
            return


def _is_missing(scope: Scope, path: str) -> bool:
    around = scope.repository
    return not around.holds(path) and not around.keeps_out(path) and not around.makes(path)


def _is_seen_from_above(scope: Scope, written: str) -> bool:
    """Whether a path begins with a folder that is not here, and goes on as a file of here does: the folder above."""
    first, _, rest = posixpath.normpath(written.lstrip("/")).partition("/")
    around = scope.repository
    return bool(_LISTED.fullmatch(rest)) and not around.holds(first) and around.holds(rest)
