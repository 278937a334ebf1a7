"""A variable for CUDA that is set where nothing reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("lost-variable", "error", "a variable for CUDA that is set where nothing reads it")

_KNOW = source("Dockerfile reference, RUN and ENV", "every RUN has a shell of its own; ENV is kept")
_NAMES = re.compile(
    r"(LD_LIBRARY_PATH|CUDA_HOME|CUDA_PATH|CUDA_VISIBLE_DEVICES|NVIDIA_\w+|TORCH_CUDA_ARCH_LIST|XLA_FLAGS|TF_\w+"
    r"|FORCE_CUDA|CMAKE_ARGS|CUDNN_\w+|CUDACXX|MAX_JOBS)="
)


def check(scope: Scope) -> Iterator[Mistake]:
    """RUN export CUDA_HOME=…, and the command ends there."""
    yield from _folder(scope)
    for variable in scope.environment.lost:
        if _NAMES.match(f"{variable.name}=") and variable.name not in scope.environment.variables:
            text = f"RUN export {variable.name}=… ends with its own shell: no later command and no container has it"
            yield RULE.mistake(variable.place, text, _KNOW, f"write ENV {variable.name}=…")


def _folder(scope: Scope) -> Iterator[Mistake]:
    """RUN cd apex, and the next RUN installs from the folder that it left."""
    text = scope.read(scope.environment.path) if scope.kind == "dockerfile" and scope.for_gpus else None
    for found in _ALONE.finditer(text or ""):
        if text:
            line = text.count("\n", 0, found.start(1)) + 1
            said = f"RUN cd {found[1]} ends with its own shell: the next RUN is where it was before"
            place = Place(scope.environment.path, line)
            yield RULE.mistake(place, said, _KNOW, f"write WORKDIR {found[1]}, or cd {found[1]} && … in one RUN")


_ALONE = re.compile(
    r"^[ \t]*RUN[ \t]+cd[ \t]+([^\s&;|\\]+)[ \t]*\n(?=(?:[ \t]*(?:#.*)?\n)*[ \t]*RUN[ \t]+(?!cd[ \t]+/))",
    re.MULTILINE | re.IGNORECASE,
)
"""A RUN that only changes the folder, before another RUN that does not go to a whole path itself."""
