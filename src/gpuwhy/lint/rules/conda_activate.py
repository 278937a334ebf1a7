"""conda activate, or source, in a shell that does not know it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command
from gpuwhy.model.fact import Source
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("conda-activate", "error", "conda activate, or source, in a shell that does not know it")

_CONDA = source("conda: managing environments", "activate is a function of the shell, which conda.sh or a hook defines")
_SH = source("Dockerfile reference, SHELL; dash", "RUN goes to /bin/sh, which is dash in Debian and Ubuntu")
_DEFINED = re.compile(
    r"conda\.sh|shell\.\w+ hook|conda shell|bashrc|\.profile|bash_profile|/activate\b|setup-miniconda|bash -i|bash -l"
)


def check(scope: Scope) -> Iterator[Mistake]:
    """In an image, and in a script that nobody's login has prepared."""
    if scope.kind == "dockerfile" and scope.for_gpus:
        yield from _in_image(scope)
    if scope.kind == "script":
        yield from _in_job(scope)


def _in_job(scope: Scope) -> Iterator[Mistake]:
    """A job of Slurm, whose shell reads no start-up file, and nothing that defines the function."""
    text = scope.read(scope.environment.path) or ""
    prepared = re.search(
        r"^#!.*-\w*[li]|\bsource\b|^\s*\. |\beval\b|\bmodule\b|\bml \b|conda\.sh|\bspack\b", text, re.MULTILINE
    )
    if prepared or not ("#SBATCH" in text or "conda create" in text) or _is_sourced(scope):
        return
    for command in scope.environment.commands:
        if command.words[:2] in (("conda", "activate"), ("mamba", "activate"), ("micromamba", "activate")):
            said = f"`{command.text[:50]}`: the shell of a script reads no start-up file, so it has no such function"
            fix = 'write eval "$(conda shell.bash hook)" before it, or #!/bin/bash -l as the first line'
            yield RULE.mistake(Place(scope.environment.path, command.lines[0]), said, _CONDA, fix, "warning")
            return


def _is_sourced(scope: Scope) -> bool:
    """Whether a README beside the script has it read by the shell that types: source install.sh."""
    folder, name = posixpath.split(scope.environment.path)
    wanted = re.compile(rf"(source|bash -i|\. )\s*(\./)?(\S*/)?{re.escape(name)}")
    texts = (scope.read(posixpath.join(f, "README.md")) or "" for f in {folder, posixpath.dirname(folder)})
    return any(map(wanted.search, texts)) or name.endswith((".bat", ".ps1", ".cmd"))


def _in_image(scope: Scope) -> Iterator[Mistake]:
    stage = scope.environment
    own = stage.shell
    for command in stage.commands:
        words = command.words
        if words[:1] == ("source",) and "bash" not in own and not _by_bash(scope, command) and _is_dash(scope):
            text = f"`{command.text[:50]}`: RUN goes to /bin/sh, which has no `source` in Debian and Ubuntu"
            yield _at(scope, command, text, _SH, 'write SHELL ["/bin/bash", "-c"] before it, or use a dot for source')
            return
        if words[:2] == ("conda", "activate") and _is_forgotten(scope, command):
            text = f"`{command.text[:50]}` ends its RUN: the next one has a shell of its own, and another Python"
            fix = "write the commands behind it with &&, or ENV PATH=…/envs/NAME/bin:$PATH"
            yield _at(scope, command, text, _CONDA, fix)
            return
        if words[:2] == ("conda", "activate") and not _knows(scope, command):
            text = f"`{command.text[:50]}`: the shell of a RUN has no such function, and the next RUN would not keep it"
            name = words[2] if len(words) > 2 else "NAME"
            fix = f"write conda run -n {name} …, or ENV PATH=/opt/conda/envs/{name}/bin:$PATH"
            yield _at(scope, command, text, _CONDA, fix)
            return


def _is_forgotten(scope: Scope, command: Command) -> bool:
    """Whether an activation that works is the last command of its RUN, and a later RUN installs or starts Python."""
    stage = scope.environment
    kept = re.search(r"-\w*[li]|--login|conda", stage.shell) or "BASH_ENV" in stage.variables
    path = stage.variables.get("PATH")
    if command.then or kept or (path and "/envs/" in path.value) or not _knows(scope, command):
        return False
    for one in stage.commands[stage.commands.index(command) + 1 :]:
        if re.match(r"(conda|mamba) (run|activate)|source |\. ", one.text):
            return False
        if re.match(r"(python|pip)[\d.]* ", one.text):
            return True
    return False


def _at(scope: Scope, command: Command, text: str, know: Source, fix: str) -> Mistake:
    return RULE.mistake(Place(scope.environment.path, command.lines[0]), text, know, fix)


def _knows(scope: Scope, command: Command) -> bool:
    """Whether the same RUN, the SHELL or a variable of bash defines the function."""
    stage = scope.environment
    login = re.search(r"-\w*[li]|--login", stage.shell)
    line = command.lines[0]
    near = [c.text for c in stage.commands if c.lines and line - 30 <= c.lines[0] <= line]
    return bool(login) or "BASH_ENV" in stage.variables or any(map(_DEFINED.search, near)) or _by_bash(scope, command)


def _by_bash(scope: Scope, command: Command) -> bool:
    """Whether the command is a text that the line itself hands to bash."""
    text = scope.read(scope.environment.path) or ""
    lines = text.split("\n")
    around = "\n".join(lines[max(0, command.lines[0] - 12) : command.lines[0]])
    return bool(re.search(r"bash\W+(-\w+\W+)*-\w*c|<<|/bin/bash", around))


def _is_dash(scope: Scope) -> bool:
    base = scope.base
    own = base.family in ("cuda", "python", "pytorch", "tensorflow", "distro")
    return own and not re.search(r"centos|ubi|rocky|fedora|alpine", base.name)
