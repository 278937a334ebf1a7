"""A job of Slurm that does not get, or does not use, the GPUs that it means."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule, Severity

RULE = Rule("slurm-job", "error", "a job of Slurm that does not get, or does not use, the GPUs that it means")

_KNOW = source("Slurm: sbatch", "options end at the first command; output variables are set if their option was given")
_OPTION_OF = {
    "SLURM_GPUS": r"--gpus[= ]|(^|\s)-G\s*\S", "SLURM_GPUS_PER_NODE": r"--gpus-per-node",
    "SLURM_GPUS_PER_TASK": r"--gpus-per-task", "SLURM_CPUS_PER_TASK": r"--cpus-per-task|(^|\s)-c[ =\d]",
    "SLURM_NTASKS_PER_NODE": r"--ntasks-per-node", "SLURM_MEM_PER_NODE": r"--mem[= ]",
}  # fmt: skip
_LAUNCHES = r"torchrun|torch\.distributed\.(?:run|launch)|accelerate launch|deepspeed "


def check(scope: Scope) -> Iterator[Mistake]:
    """What the lines of a batch script say against each other."""
    text = scope.read(scope.environment.path) if scope.kind == "script" else None
    if not text or "#SBATCH" not in text or re.search(r"\bsbatch\b[^\n]*<<", text):  # the job is text within a script
        return
    lines = text.split("\n")
    first = next(
        (n for n, line in enumerate(lines, 1) if line.strip() and not line.lstrip().startswith("#")), len(lines)
    )
    asked = "\n".join(line for line in lines[: first - 1] if line.startswith("#SBATCH"))
    yield from _late(scope, lines, first)
    yield from _numbers(scope, lines[: first - 1])
    yield from _unset(scope, lines, asked)
    yield from _fixed(scope, lines, asked)
    yield from _counts(scope, lines, asked)


def _at(scope: Scope, line: int, text: str, fix: str, severity: Severity | None = None) -> Mistake:
    return RULE.mistake(Place(scope.environment.path, line), text, _KNOW, fix, severity or "error")


def _late(scope: Scope, lines: list[str], first: int) -> Iterator[Mistake]:
    """Options below the first command, which sbatch does not read."""
    for number, line in enumerate(lines[first:], first + 1):
        if re.match(r"#SBATCH\s+-", line) and re.search(r"gpu|gres", line):
            text = f"{line.strip()[:60]} stands below the first command (line {first}), where sbatch does not read it"
            yield _at(scope, number, text, "move it above the first command")
            return


def _numbers(scope: Scope, lines: list[str]) -> Iterator[Mistake]:
    """A value that is no number, where sbatch wants one."""
    for number, line in enumerate(lines, 1):
        found = re.match(
            r"#SBATCH\s+--(ntasks(?:-per-node)?|nodes|cpus-per-task|gpus(?:-per-(?:node|task))?)[= ](\S+)", line
        )
        value = found[2].strip("\"'") if found else ""
        if found and re.match(r"\d", value) and not re.fullmatch(r"\d+([-,]\d+)*[kKmM]?", value):
            text = f"--{found[1]}={value} is no number: sbatch refuses the job"
            yield _at(scope, number, text, "write the number alone, and a space before a comment")


def _unset(scope: Scope, lines: list[str], asked: str) -> Iterator[Mistake]:
    """A variable that Slurm sets only where its option was given."""
    told: set[str] = set()
    for number, line in enumerate(lines, 1):
        for name in re.findall(r"\$\{?(SLURM_\w+)(?=\}|[^\w:}-]|$)", line) if not line.startswith("#") else ():
            given = re.search(_OPTION_OF[name], asked) if name in _OPTION_OF else True
            if given or name in told or re.search(rf"\b{name}=", "\n".join(lines[: number - 1])):
                continue
            told.add(name)
            option = re.sub(r"[\[(|].*", "", _OPTION_OF[name])
            text = f"{name} is empty: Slurm sets it only where {option} is given, and the job does not give it"
            yield _at(
                scope,
                number,
                text,
                f"add #SBATCH {option}=…" + (", or use SLURM_GPUS_ON_NODE" if "GPU" in name else ""),
            )


def _fixed(scope: Scope, lines: list[str], asked: str) -> Iterator[Mistake]:
    """CUDA_VISIBLE_DEVICES written by hand where Slurm gives the GPUs."""
    count = gpus(asked)
    for number, line in enumerate(lines, 1):
        found = re.match(r"\s*(?:export\s+)?CUDA_VISIBLE_DEVICES=[\"']?(\d+(?:,\d+)*)", line)
        if found and count and "--exclusive" not in asked and _is_wrong(found[1], count):
            text = f"CUDA_VISIBLE_DEVICES={found[1]} replaces what Slurm gave the job ({count} GPU{'s' * (count > 1)})"
            yield _at(scope, number, text, "leave it out: Slurm sets it", "warning")
            return


def _is_wrong(value: str, count: int) -> bool:
    """Whether other GPUs are named than the first ones that were asked for."""
    return value.split(",") != [str(n) for n in range(count)]


def gpus(asked: str) -> int:
    """How many GPUs a job asks for on a node; 0 where it does not say."""
    found = re.search(r"--(?:gres|gpus-per-node|gpus)[= ](?:gpu:)?(?:[A-Za-z][\w.-]*:)?(\d+)", asked)
    return int(found[1]) if found else 1 if re.search(r"--gres[= ]gpu(:[A-Za-z]\w*)?\s*$", asked, re.MULTILINE) else 0


def _counts(scope: Scope, lines: list[str], asked: str) -> Iterator[Mistake]:
    """More processes than GPUs, and a launcher that every task starts anew."""
    tasks = re.search(r"--ntasks-per-node[= ](\d+)", asked)
    for number, line in enumerate(lines, 1):
        if not re.search(_LAUNCHES, line) or line.lstrip().startswith("#"):
            continue
        each = re.search(r"--(?:nproc[-_]per[-_]node|num_gpus)[= ](\d+)", _joined(lines, number))
        count = gpus(asked)
        if each and count and int(each[1]) > count:
            text = f"{each[1]} processes on a node, one for each GPU, and the job asks for {count}"
            yield _at(scope, number, text, f"ask for {each[1]} GPUs, or start {count}")
        started = re.match(r"\s*srun\b", line) and not re.search(r"--ntasks|\s-n\s*\d", line)
        if each and tasks and int(tasks[1]) > 1 and int(each[1]) > 1 and started:
            text = f"srun starts the launcher {tasks[1]} times on each node, and each starts {each[1]} processes"
            yield _at(scope, number, text, "write --ntasks-per-node=1, or let srun start the program itself")


def _joined(lines: list[str], number: int) -> str:
    out = lines[number - 1]
    while out.rstrip().endswith("\\") and number < len(lines):
        out = out.rstrip()[:-1] + lines[number]
        number += 1
    return out
