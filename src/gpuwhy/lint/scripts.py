"""Scripts: shell, batch and PowerShell files, and the shell lines of other files, as environments and `docker run`s."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from gpuwhy.lint import builds, installs, shell
from gpuwhy.lint.sheet import Command, Environment, Handed, Image, Sheet, Workload
from gpuwhy.model.lint import Place

_COMMENT = re.compile(r"^[ \t]*(#|rem\b|::|//).*$", re.IGNORECASE | re.MULTILINE)
_GPU = re.compile(r"nvidia|cuda|\bgpu", re.IGNORECASE)
_NEW = re.compile(r"(conda|mamba|micromamba) (env )?create\b|-m venv\b|virtualenv |uv venv\b")
_ONCE = re.compile(r"^[ \t]*(?:export[ \t]+|set[ \t]+)?([A-Za-z_]\w*)=[\"']?([\w./:+=<>-]+)[\"']?[ \t]*$", re.MULTILINE)
_MAY_ASK = re.compile(r"--privileged|/dev/nvidia|(^| )[\"']?\$[\w{(]+\}?\)?[\"']?( |$)|\{")
"""Options that see the devices, and variables that may hold any."""

_SHOWN = 40
_VALUED = frozenset(
    [
        "-p", "-v", "-e", "-w", "-u", "-m", "-l", "-h", "--name", "--env", "--volume", "--shm-size", "--workdir",
        "--user", "--memory", "--network", "--net", "--restart", "--entrypoint", "--cpus", "--mount", "--device",
        "--gpus", "--runtime", "--ulimit", "--env-file", "--platform", "--hostname", "--add-host", "--pid",
        "--label", "--log-driver", "--log-opt", "--cap-add", "--security-opt", "--publish", "--expose", "--tmpfs",
        "--link", "--volumes-from", "--ipc", "--group-add", "--cpuset-cpus", "--memory-swap", "--dns", "--cidfile",
        "--ip", "--annotation", "--pull", "--stop-timeout",
    ]
)  # fmt: skip


def read(path: str, text: str) -> Sheet:
    """A script of any shell, by its name's end."""
    sheet = Sheet(path, "script")
    windows = path.lower().endswith((".bat", ".cmd", ".ps1"))
    stage = Environment(path, system="windows" if windows else "linux")
    if windows:
        stage.forked = bool(re.search(r"\belse\b|^:\w+", text, re.IGNORECASE | re.MULTILINE))
        stage.gpu = "the script speaks of a GPU" if _GPU.search(_COMMENT.sub("", text)) else ""
    sheet.environments.append(stage)
    fill(sheet, _plain(path, text), 1, _constants(text))
    builds.join(sheet)
    if "#SBATCH" in text:
        sheet.workloads.append(_slurm(path, text))
    return sheet


def _slurm(path: str, text: str) -> Workload:
    """A job of Slurm: what its first lines ask for, and what says that it is for a GPU."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.startswith("#SBATCH")]
    number, asked = (lines[0][0] if lines else 1), "\n".join(line for _, line in lines)
    found = re.search(r"--(gres|gpus|tres)\b|--gpus-per|\s-G[ \d]|--constraint|\s-C ", asked)
    work = Workload("slurm", "the job", Place(path, number), request=Place(path, number) if found else None)
    work.exempt = "--exclusive" in asked or "sbatch <<" in text or "srun --gres" in text or "--array" in path
    named = re.search(r"(--partition[= ]|-p )\S*gpu", asked, re.IGNORECASE) or re.search(r"gpu|cuda", path.lower())
    work.command = "gpu" if named and not _is_idle(text) else ""
    return work


def _is_idle(text: str) -> bool:
    """Whether a job does nothing but wait and tell where it is: an exercise, a test of the queue."""
    lines = [line.strip() for line in text.splitlines()]
    told = [line for line in lines if line and not line.startswith("#")]
    return all(_IDLE.match(line) for line in told)


_IDLE = re.compile(r"(srun\s+)?(sleep|echo|hostname|date|pwd|whoami|env|uname|module|printf|exit|sinfo|squeue|ls|cd)\b")


def _plain(path: str, text: str) -> str:
    """The text in the shape of a POSIX script, line by line."""
    text = _COMMENT.sub("", text.replace("\r\n", "\n"))
    sign = {".bat": "^", ".cmd": "^", ".ps1": "`"}.get(path[path.rfind(".") :].lower(), "\\")
    text = re.sub(rf"{re.escape(sign)}[ \t]*\n", "\\\n", text)
    return re.sub(r"^[ \t]*@?(call|start)[ \t]+(/\w+[ \t]+)*", "", text, flags=re.IGNORECASE | re.MULTILINE)


def _constants(text: str) -> dict[str, str]:
    """Variables that are set once, to a plain value."""
    found = _ONCE.findall(text)
    counts = Counter(name for name, _ in found)
    return {name: value for name, value in found if counts[name] == 1}


def fill(sheet: Sheet, text: str, line: int, variables: Mapping[str, str]) -> None:
    """The commands of a script into the sheet: a new environment where one is made, `docker run` as a workload."""
    joined = re.sub(r"(?<!\\)\n", " ;\n", text).replace("\\\n", " \n")
    for command in shell.commands(joined, line, variables):
        stage = sheet.environments[-1]
        if _NEW.search(command.text) and stage.pins:
            stage = Environment(sheet.path, system=stage.system, forked=stage.forked, gpu=stage.gpu)
            sheet.environments.append(stage)
        stage.commands.append(command)
        installs.take(stage, sheet, command)
        started = _run(sheet.path, command)
        if started:
            sheet.workloads.append(started)


def _run(path: str, command: Command) -> Workload | None:
    """`docker run [options] image [command]`; None for everything else."""
    words = command.words
    if len(words) < 3 or words[0].rsplit("/", 1)[-1] not in ("docker", "podman", "nvidia-docker") or words[1] != "run":
        return None
    number, image = 2, ""
    while number < len(words) and not image:
        word = words[number]
        if not word.startswith("-"):
            image = word
        number += 2 if word in _VALUED and number + 1 < len(words) else 1
    if not image or "$" in image:
        return None
    options = " ".join(words[2 : number - 1])
    place = Place(path, command.lines[words.index(image)])
    work = Workload("script", image[:_SHOWN], Place(path, command.lines[0]), image=Image(image, place))
    asked = words[0].endswith("nvidia-docker") or re.search(r"--gpus|--runtime[= ]nvidia|nvidia\.com/gpu", options)
    work.request = work.place if asked else None
    work.asking = options
    work.exempt = bool(_MAY_ASK.search(options))
    work.shared_memory = bool(re.search(r"--shm-size|--ipc|/dev/shm", options))
    work.command = " ".join(words[number:])
    work.handed = Handed(work.command, place) if work.command and "--entrypoint" not in options else None
    return work
