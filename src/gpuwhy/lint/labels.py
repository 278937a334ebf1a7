"""Labels: a release that a correction names, and that was not seen working with today's packages, is told as such."""

from __future__ import annotations

import re

import msgspec

from gpuwhy.knowledge import imports
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake

_NAMED = re.compile(
    r"(?<![\w-])(?P<command>gpuwhy plan [^,;]*)?"
    r"(?P<name>tensorflow(?:-gpu|-cpu)?|torch|jax(?:lib)?|onnxruntime(?:-gpu)?|cupy)(?:-cuda\w+)?(?:\[[^\]]*\])?"
    r"==(?P<version>\d[\d.]*\d)"
)
_FRAMEWORK = {
    "tensorflow-gpu": "tensorflow", "tensorflow-cpu": "tensorflow", "jaxlib": "jax", "onnxruntime-gpu": "onnxruntime",
}  # fmt: skip


def labelled(mistake: Mistake, scope: Scope) -> Mistake:
    """The mistake, with what was seen of the releases that its correction names where that is not that they work."""
    said = [text for found in _NAMED.finditer(mistake.fix) if (text := _said(found, scope))]
    return msgspec.structs.replace(mistake, fix="; ".join((mistake.fix, *said))) if said else mistake


def _said(found: re.Match[str], scope: Scope) -> str:
    """'' for a release that works, that a plan is asked about, or whose cure stands in the file."""
    name = found["name"]
    if found["command"]:
        return ""
    row = imports.tried(_FRAMEWORK.get(name, name), found["version"])
    if row is not None and row.outcome == "imports":
        return ""
    cures = re.findall(r"([\w-]+)[<=>]", row.cure) if row else []
    if cures and all(cure in scope.names for cure in cures):
        return ""
    return imports.told(_FRAMEWORK.get(name, name), found["version"])[0]
