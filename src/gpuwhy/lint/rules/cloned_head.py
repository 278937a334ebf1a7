"""A project at the head of its repository, in an image that is too old for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.version import at_least

RULE = Rule("cloned-head", "error", "the head of a repository, in an image that is too old for it")

_KNOW = source("each project's own build instructions", "the oldest CUDA and Python of its main branch, November 2026")
_FLOORS = {
    "pytorch/pytorch": ("12.0", "3.10"),
    "dmlc/xgboost": ("12.0", "3.10"),
    "dao-ailab/flash-attention": ("12.0", "3.9"),
    "hazyresearch/flash-attention": ("12.0", "3.9"),
    "vllm-project/vllm": ("12.0", "3.10"),
    "microsoft/onnxruntime": ("12.0", "3.10"),
    "tensorflow/tensorflow": ("12.0", "3.10"),
    "rapidsai/cudf": ("12.0", "3.10"),
    "cupy/cupy": ("12.0", "3.10"),
}
"""Repository → the oldest CUDA and the oldest Python that its main branch takes."""
_CLONED = re.compile(r"^git clone\b.*github\.com[:/]([\w.-]+/[\w.-]+?)(?:\.git)?(?:\s|/?$)", re.IGNORECASE)


def check(scope: Scope) -> Iterator[Mistake]:
    """git clone without a branch, where no checkout follows, against the CUDA of the image or its Python."""
    commands = scope.environment.commands
    for number, command in enumerate(commands):
        found = _CLONED.match(command.text)
        floors = _FLOORS.get(found[1].lower()) if found else None
        if found and floors and not _is_chosen(command, commands[number + 1 : number + 8]):
            lacks = _lacks(scope, *floors)
            if lacks:
                text = f"{found[1]} is cloned at its head, which asks for {lacks}"
                fix = "name a release of that time: git clone --branch v…"
                yield RULE.mistake(Place(scope.environment.path, command.lines[0]), text, _KNOW, fix)


def _is_chosen(command: Command, after: list[Command]) -> bool:
    """Whether a branch, a tag or a commit is named."""
    return bool(re.search(r" (-b|--branch)\b", command.text)) or any(
        re.match(r"git (-C \S+ )?(checkout|reset|switch)\b", one.text) for one in after
    )


def _lacks(scope: Scope, cuda: str, python: str) -> str:
    base, pythons = scope.base, scope.environment.pythons
    if base.family == "cuda" and base.cuda and not at_least(base.cuda, cuda):
        return f"CUDA {cuda} or newer; image {base.name} holds CUDA {base.cuda}"
    if pythons and not any(at_least(one, python) for one in pythons):
        return f"Python {python} or newer; {scope.environment.python_from}"
    return ""
