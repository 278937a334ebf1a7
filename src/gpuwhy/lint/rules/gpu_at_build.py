"""A build step that needs a GPU, which builds do not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("gpu-at-build", "error", "a build step that needs a GPU, which builds do not have")


def check(scope: Scope) -> Iterator[Mistake]:
    """Commands that fail without a GPU."""
    if scope.kind == "setup":
        yield from _setup(scope)
    if scope.kind not in ("dockerfile", "modal", "cog"):
        return
    yield from _native(scope)
    for command in scope.environment.commands:
        if _needs_gpu(command):
            place = Place(scope.environment.path, command.lines[0])
            name = command.words[0].rsplit("/", 1)[-1]
            text = f"{name} runs while the image is built, where there is no GPU and no driver"
            yield RULE.mistake(place, text, containers.BUILDS, "run it when the container starts (CMD, ENTRYPOINT)")


def _native(scope: Scope) -> Iterator[Mistake]:
    """Code for the GPU that is there, where none is: in a variable of the image, or of a command."""
    stage = scope.environment
    set_on = [(one.value, one.place.line) for one in stage.variables.values()]
    given = [(" ".join((c.text, *(value for _, value in c.assigned))), (*c.lines, c.set_on)[0]) for c in stage.commands]
    line = next((line for text, line in (*set_on, *given) if _NATIVE.search(text)), 0)
    if line:
        text = "CMAKE_CUDA_ARCHITECTURES=native asks the GPU what to compile for, and a build has none"
        fix = "name the architectures: -DCMAKE_CUDA_ARCHITECTURES=80;86;89"
        yield RULE.mistake(Place(stage.path, line), text, containers.BUILDS, fix)


_NATIVE = re.compile(r"CMAKE_CUDA_ARCHITECTURES(:\w+)?=[\"']?native\b")


def _setup(scope: Scope) -> Iterator[Mistake]:
    """A setup.py that refuses to build where no GPU is seen, though nvcc needs none."""
    text = scope.read(scope.environment.path) or ""
    found = _REFUSES.search(text) if "FORCE_CUDA" not in text and "TORCH_CUDA_ARCH_LIST" not in text else None
    if found:
        place = Place(scope.environment.path, text.count("\n", 0, found.start()) + 1)
        said = "setup.py builds only where it sees a GPU: in a docker build, on a login node or in CI it stops"
        fix = "ask for CUDA_HOME alone, or let a variable such as FORCE_CUDA=1 decide"
        yield RULE.mistake(place, said, containers.BUILDS, fix, "warning")


_REFUSES = re.compile(
    r"if torch\.cuda\.is_available\(\)[^\n]*:\n(?:[ \t]+[^\n]*\n|[ \t]*\n){1,40}?[ \t]*else:\s*raise "
)


def _needs_gpu(command: Command) -> bool:
    if not command.words or command.then == "||":
        return False
    name = command.words[0].rsplit("/", 1)[-1]
    asserts = bool(re.search(r"assert\s+torch\.cuda\.is_available\(\)", command.text))
    return name == "nvidia-smi" or (name.startswith("python") and asserts)
