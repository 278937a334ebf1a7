"""Linked: whether what a program printed names a package or a file; what it does not name is not blamed."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpuwhy.model.cause import Case
from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import Shadow

_MODULES = {
    "protobuf": ("google.protobuf", "protobuf", "descriptor"),
    "scikit-learn": ("sklearn",),
    "opencv-python": ("cv2",),
    "opencv-python-headless": ("cv2",),
    "pillow": ("PIL",),
    "tensorflow-cpu": ("tensorflow",),
    "tensorflow-gpu": ("tensorflow",),
    "onnxruntime-gpu": ("onnxruntime",),
    "pyyaml": ("yaml",),
}
"""Distributions that are imported, or named in errors, by another name than their own."""


def names_of(distribution: str) -> tuple[str, ...]:
    """How errors name a distribution."""
    return (distribution, distribution.replace("-", "_"), *_MODULES.get(distribution, ()))


def named(case: Case, words: Iterable[str]) -> bool:
    """Whether an error that was printed has one of some words; True where nothing was printed and nobody is blamed."""
    if not case.symptoms and not case.facts.run.failed:
        return True
    wanted = re.compile("|".join(rf"(?<![\w-]){re.escape(one)}(?![\w-])" for one in words), re.IGNORECASE)
    said = [one.text for one in case.symptoms if one.role in ("error", "echo", "context")]
    return any(wanted.search(text) for text in (*said, case.ending.message, *(f.file for f in case.ending.stack[-4:])))


def stood_in(case: Case, module: str) -> Shadow | None:
    """What a program that failed imported by a module's name, so that the installed one had no part in it."""
    if not case.facts.run.failed:
        return None
    return next((one for one in value_or(case.facts.target.shadows, ()) if one.module == module), None)
