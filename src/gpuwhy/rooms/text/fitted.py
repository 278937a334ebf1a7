"""Fitted: every remedy as it can be carried out where a text is from: what a place does not have is left out, or said in its words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec
from msgspec import structs

from gpuwhy.knowledge.drivers import cuda_of_driver
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import numbers
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.boxes import box_of
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.module_ways import gone
from gpuwhy.rooms.text.shown import typed_inside, variables
from gpuwhy.rooms.text.told_names import toolkits


class Bar(msgspec.Struct, frozen=True):
    """What cannot be done at a place: how its commands read, where that is so, and why."""

    command: Later
    there: Callable[[Asked], bool]
    of_host: bool = True  # also where the command is for the host, and not for the container


_LOGIN = Later(r"\blogin\d*\b|\bsbatch\b|\bsrun\b|\bsalloc\b|\bqsub\b|#SBATCH", re.IGNORECASE)


def inside(case: Asked) -> bool:
    """Whether the text was typed in a container."""
    return bool(case.tools & {"container", "kubernetes"}) or typed_inside(case.text)


def _managed(case: Asked) -> bool:
    return "externally-managed-environment" in case.text


_CHOSEN_BY_HAND = Later(
    r"(?:\b(?:export|setenv|set)|environ\[|^[^\n$#]*[$#]) *[\"']?CUDA_VISIBLE_DEVICES[\"']?\]? *=?|CUDA_VISIBLE_DEVICES=\S* +(?:srun|python|\./)",
    re.MULTILINE,
)


def given_by_batch(case: Asked) -> bool:
    """Whether a batch system chose the GPUs that are visible: what it hid belongs to others."""
    return bool(_BATCH.search(case.text)) and not _CHOSEN_BY_HAND.search(case.text)


_BATCH = Later(
    r"\bSLURM_|#SBATCH|\bsbatch\b|\bsrun\b|\bsalloc\b|slurmstepd|NoDevFiles|PBS_JOBID|#PBS\b|\bqsub\b|LSB_JOBID|\bbsub\b"
)


_ALL_OPEN = Later(r"^crw-rw-rw-[^\n]*/dev/nvidia", re.MULTILINE)
_SOME_CLOSED = Later(r"^crw-(?!rw-rw-)\S+[^\n]*/dev/nvidia|^c-[^\n]*/dev/nvidia", re.MULTILINE)


def _open_to_all(case: Asked) -> bool:
    """Whether a listing shows that everybody may open the device files."""
    return bool(_ALL_OPEN.search(case.text)) and not _SOME_CLOSED.search(case.text)


def _no_stubs(case: Asked) -> bool:
    """Whether the text shows a search that has no folder of stubs."""
    searched = variables(case.text).get("LD_LIBRARY_PATH", "stubs")
    return "stubs" not in searched


_OWN_ENGINE = Later(r"\bk3s\b|\brke2\b|microk8s|\bk0s\b", re.IGNORECASE)
_NO_CONTAINERD = frozenset({"crio", "openshift", "dockershim", "desktop", "snap", "desktop_linux"})

_BARS = (
    Bar(Later(r"grep -v stubs"), _no_stubs),
    Bar(Later(r"--runtime=(?:containerd|docker)\b(?! --config=/etc/k0s)"), lambda case: bool(_OWN_ENGINE.search(case.text))),
    Bar(Later(r"--runtime=containerd\b"), lambda case: box_of(case) in _NO_CONTAINERD),
    Bar(Later(r"--group-add|\bchmod (?:a\+rw|0?666)|\busermod\b"), _open_to_all),
    Bar(Later(r"^(?:unset CUDA_VISIBLE_DEVICES|export CUDA_VISIBLE_DEVICES=\d[\d,]*)\s*$", re.MULTILINE), given_by_batch),
    Bar(Later(r"\busermod\b[^\n]*\$USER\s*$"), inside, of_host=True),
    Bar(Later(r"\busermod\b"), inside, of_host=False),
    Bar(Later(r"\busermod\b"), lambda case: "kubernetes" in case.tools),
    Bar(Later(r"^module load cuda"), gone),
    Bar(Later(r"^sudo (?!apt install nvidia-fabricmanager)(?:apt|ubuntu-drivers|modprobe|dkms|systemctl|mokutil)\b"), lambda case: "kubernetes" in case.tools),
)  # fmt: skip


def barred(fix: Fix, case: Asked) -> bool:
    """Whether a remedy cannot be carried out where the text is from."""
    host = isinstance(fix.command, on.Command) and fix.command.host
    return any(bar.command.search(fix.command) and bar.there(case) for bar in _BARS if bar.of_host or not host)


def fitted(fixes: Sequence[Fix], case: Asked) -> list[Fix]:
    """The remedies that can be carried out, in the words of the place; all of them where none can."""
    kept = [fix for fix in fixes if not barred(fix, case)] or list(fixes)
    return list(_adapted(kept, case))


def _adapted(fixes: Sequence[Fix], case: Asked) -> Iterator[Fix]:
    for fix in fixes:
        fix = _other_toolkit(fix, case)
        command: str = fix.command
        for change in (_told_cuda, _in_an_environment):
            command = change(command, case)
        typed = command if isinstance(command, on.Command) else on.like(command, fix.command)
        yield structs.replace(fix, command=typed) if command != fix.command else fix


_GPU_BUILD = re.compile(r"^(?:conda|mamba|micromamba) install (?=[^\n]*(?:pytorch-gpu|tensorflow-gpu|\*cuda|=cuda))", re.MULTILINE)  # fmt: skip


def _told_cuda(command: str, case: Asked) -> str:
    """conda chooses a GPU build only where it sees a driver: on a login node it has to be told."""
    if case.windows or not _LOGIN.search(case.text):
        return command
    cuda = case.speaks or cuda_of_driver(case.driver) or "12.4"
    return _GPU_BUILD.sub(lambda found: f"CONDA_OVERRIDE_CUDA={cuda} {found[0]}", command)


_PIP_INSTALL = re.compile(r"^(?:python3? -m )?pip3? install ", re.MULTILINE)


def _in_an_environment(command: str, case: Asked) -> str:
    """A distribution's own Python takes no packages from pip: they go into a virtual environment."""
    if case.windows or not _managed(case) or not _PIP_INSTALL.match(command) or "venv" in command:
        return command
    return on.linux(f"python3 -m venv ~/venv && . ~/venv/bin/activate\n{command}")


_SEARCHED = re.compile(r"/usr/local/cuda-(\d+\.\d+)(?=/(?:lib64|nvvm|bin)|\b)")


def _other_toolkit(fix: Fix, case: Asked) -> Fix:
    """Where the toolkit that a command names is searched already, and there is one other that fits, that one."""
    named = set(_SEARCHED.findall(fix.command))
    if case.windows or "LD_LIBRARY_PATH=" not in fix.command or len(named) != 1:
        return fix
    mine = named.pop()
    searched = variables(case.text).get("LD_LIBRARY_PATH", "")
    others = [one for one in toolkits(case.text) if one != mine]
    numbered = bool(case.major and case.library)
    fits = len(others) == 1 and (not numbered or numbers(others[0])[0] == case.cuda_major)
    if f"/usr/local/cuda-{mine}/" not in searched or not fits:
        return fix
    command = on.like(fix.command.replace(f"/usr/local/cuda-{mine}", f"/usr/local/cuda-{others[0]}"), fix.command)
    text = f"CUDA {mine} is searched already, and CUDA {others[0]} is there too: have its folders searched instead, so that all parts are of one toolkit"
    return structs.replace(fix, text=text, command=command)
