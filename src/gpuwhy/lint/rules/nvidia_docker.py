"""The nvidia-docker wrapper, which the container toolkit no longer brings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("nvidia-docker", "warning", "the nvidia-docker wrapper, which the container toolkit no longer brings")

_KNOW = source("NVIDIA/nvidia-docker (archived), NVIDIA Container Toolkit: installing", "docker run --gpus since 2019")
_REPOSITORY = re.compile(r"nvidia\.github\.io/nvidia-docker")
_PACKAGES = ("nvidia-docker", "nvidia-docker2")


def check(scope: Scope) -> Iterator[Mistake]:
    """The first call of the wrapper, and its packages."""
    stage = scope.environment
    calls = (command for command in stage.commands if _calls(command))
    for command in list(calls)[:1]:
        text = "nvidia-docker: the NVIDIA Container Toolkit has no such command, and its project was archived"
        place = Place(stage.path, command.lines[0])
        yield RULE.mistake(place, text, _KNOW, "write docker run --gpus all …")
    added = next((c for c in stage.commands if any(_REPOSITORY.search(word) for word in c.words)), None)
    if added and scope.kind in ("script", "dockerfile"):
        at = next(n for n, word in enumerate(added.words) if _REPOSITORY.search(word))
        text = "nvidia.github.io/nvidia-docker is the repository of a project that has ended: nothing new comes from it"
        fix = "take nvidia.github.io/libnvidia-container, with a key in /usr/share/keyrings (signed-by)"
        yield RULE.mistake(Place(stage.path, added.lines[at]), text, _KNOW, fix)
    for name in _PACKAGES:
        if name in stage.apt:
            text = f"{name}: that package has ended; the NVIDIA Container Toolkit took its place"
            place = Place(stage.path, stage.apt[name])
            yield RULE.mistake(place, text, _KNOW, "install nvidia-container-toolkit")


def _calls(command: Command) -> bool:
    words = command.words[1:] if command.words[:1] == ("sudo",) else command.words
    return len(words) > 1 and words[0].rsplit("/", 1)[-1] == "nvidia-docker" and not words[1].startswith("--version")
