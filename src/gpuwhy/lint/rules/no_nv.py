"""singularity or apptainer without --nv in a job that has a GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("no-nv", "error", "singularity or apptainer without --nv in a job that has a GPU")

_KNOW = source("Apptainer user guide, GPU support", "--nv mounts the driver's libraries; without it no GPU is seen")
_ASKS = re.compile(
    r"^#SBATCH\s.*(gres=gpu|--gpus|-G\s*\d|gpus-per-)|^#PBS\s.*(ngpus|gpus=)|^#BSUB\s.*-gpu|^#\$\s.*gpu|^#COBALT\s.*gpu",
    re.MULTILINE | re.IGNORECASE,
)
_GIVEN = re.compile(r" --(nv|nvccli|rocm)\b")
_STARTS = ("exec", "run", "shell")


def check(scope: Scope) -> Iterator[Mistake]:
    """The first such command, and a shell in it that the lines after it do not run in."""
    text = (scope.read(scope.environment.path) or "") if scope.kind == "script" else ""
    if not _ASKS.search(text) or re.search(r"(SINGULARITY|APPTAINER)_NV\b|instance start", text):
        return
    for command in scope.environment.commands:
        words = _container(command)
        if words and not _GIVEN.search(command.text) and "$" not in _options(words):
            place = Place(scope.environment.path, command.lines[0])
            said = f"{words[0].rsplit('/', 1)[-1]} {words[1]} without --nv"
            fix = f"write {said.split(' without')[0]} --nv …"
            yield RULE.mistake(place, f"{said}: the container sees no GPU, and the job has asked for one", _KNOW, fix)
            return


def _container(command: Command) -> tuple[str, ...]:
    """The words from the program on, which srun or mpirun may start; () where there is none."""
    names = [word.rsplit("/", 1)[-1] for word in command.words]
    at = next((n for n, name in enumerate(names) if name in ("singularity", "apptainer")), len(names))
    started = at == 0 or names[0] in ("srun", "mpirun", "mpiexec", "time", "numactl", "ibrun", "jsrun")
    words = command.words[at:]
    return words if started and len(words) > 2 and words[1] in _STARTS else ()


def _options(words: tuple[str, ...]) -> str:
    """The words before the image: a variable among them may hold --nv."""
    taken: list[str] = []
    for word in words[2:]:
        taken.append(word)
        if not word.startswith("-") and re.search(r"\.(sif|simg|img)\b|://", word):
            return " ".join(taken[:-1])
    return " ".join(taken)
