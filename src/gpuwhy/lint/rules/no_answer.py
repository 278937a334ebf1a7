"""An installer that asks in a build, where nobody answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("no-answer", "error", "an installer that asks in a build, where nobody answers")

_KNOW = source("apt-get(8), conda install", "without -y they ask, and stop where no terminal answers")
_ASKING = re.compile(
    r"^(?:sudo )?(?:/\S+/)?(?:(?P<apt>apt|apt-get)(?: -[\w=:/-]+)* (?:install|upgrade|dist-upgrade)"
    r"|(?P<conda>conda|mamba) (?:install|create|update|remove)|(?P<yum>yum|dnf) (?:-\S+ )*(?:install|update))\b"
)
_ANSWERED = re.compile(
    r"(^| )(-\w*y\w*|--yes|--assume-yes|-qq|--assumeyes|-\w*q=\d|-f \S+\.txt --yes|--dry-run|--download-only)( |$)"
)
_BRINGS = re.compile(
    r" (git|python|build-essential|cmake|ffmpeg|lib\S|vim|wget|curl|openssh|nvidia|cuda|software|g\+\+|gcc|upgrade)"
)
"""Packages that bring others along: apt asks only then."""
_ALWAYS = re.compile(r"always_yes|CONDA_ALWAYS_YES|APT::Get::Assume-Yes|assumeyes", re.IGNORECASE)


def check(scope: Scope) -> Iterator[Mistake]:
    """The first such command of a Dockerfile's stage, of each installer."""
    stage = scope.environment
    said = [*(c.text for c in stage.commands), *(f"{v.name}={v.value}" for v in stage.variables.values())]
    if scope.kind not in ("dockerfile", "singularity") or not scope.for_gpus or any(map(_ALWAYS.search, said)):
        return
    told: set[str] = set()
    for before, command in zip([None, *stage.commands], stage.commands, strict=False):
        found = _ASKING.match(command.text)
        program = found.lastgroup or "" if found else ""
        if not found or program in told or _ANSWERED.search(command.text) or _is_fed(before):
            continue
        if program == "apt" and not _BRINGS.search(command.text):
            continue
        told.add(program)
        yield _mistake(scope, command)


def _is_fed(before: Command | None) -> bool:
    """Whether another program answers: yes | apt install …"""
    return before is not None and before.then == "|"


def _mistake(scope: Scope, command: Command) -> Mistake:
    name = command.words[0]
    text = f"`{command.text[:60].rstrip()}` asks whether to go on, and in a build nobody answers: it stops there"
    return RULE.mistake(Place(scope.environment.path, command.lines[0]), text, _KNOW, f"write {name} … -y")
