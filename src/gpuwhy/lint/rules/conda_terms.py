"""conda's default channels in a build, whose terms nobody has accepted there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("conda-terms", "error", "conda's default channels in a build, whose terms nobody has accepted there")

_KNOW = source(
    "lcaraffa/sparkling-wasure issue 1, NVlabs/FoundationStereo issue 181, UKGovernmentBEIS/inspect_evals issue 675",
    "CondaToSNonInteractiveError: Terms of Service have not been accepted for pkgs/main and pkgs/r",
)
_NEWEST = re.compile(r"(Miniconda3|Anaconda3)-latest-Linux")
_ASKS = re.compile(r"^(\S*/)?(conda|mamba) (install|create|update|env (create|update))\b")
_ACCEPTED = re.compile(
    r"conda tos|AUTO_ACCEPT_TOS|nodefaults|override-channels|default_channels|remove(-key)? .*defaults"
    r"|config .*--(add|prepend|set) default|channels:\s*\[?conda-forge\]?\s*>|conda-forge --strict"
    r"|mini-?forge|mambaforge",
    re.IGNORECASE,
)


def check(scope: Scope) -> Iterator[Mistake]:
    """The first command of a Dockerfile that lets the newest conda ask the default channels."""
    stage = scope.environment
    text = scope.read(stage.path) or "" if scope.kind in ("dockerfile", "singularity") else ""
    ours = scope.for_gpus or re.search(r"cuda|nvidia|torch|tensorflow", text, re.IGNORECASE)
    if not ours or not _NEWEST.search(text) or _ACCEPTED.search(text):
        return
    command = next((one for one in stage.commands if _is_asking(one, text)), None)
    if command:
        said = (
            "the newest conda stops before its default channels until their terms are accepted, which nobody does here"
        )
        fix = "run conda tos accept first (or ENV CONDA_PLUGINS_AUTO_ACCEPT_TOS=yes), or install Miniforge"
        yield RULE.mistake(Place(stage.path, command.lines[0]), said, _KNOW, fix)


def _is_asking(command: Command, text: str) -> bool:
    found = _ASKS.match(command.text)
    return bool(found) and "--offline" not in command.words and _is_newest(command.words[0], text)


def _is_newest(program: str, text: str) -> bool:
    """Whether a conda that is called by its path lies where the installer was told to put the newest one."""
    folder = re.sub(r"/(bin|condabin)/\w+$", "", program)
    written = re.search(rf"-p\s+[\"']?{re.escape(folder)}/?[\"']?(\s|$)", text, re.MULTILINE)
    return folder == program or bool(re.search(r"-p\s+[\"']?\$", text)) or bool(written)
