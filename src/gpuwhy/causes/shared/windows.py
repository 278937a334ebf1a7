"""Fixes in the words of Windows: PATH in both shells, NVIDIA's installers, the conda packages that bring the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpuwhy.knowledge.windows import installer
from gpuwhy.model.cause import Fix
from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import Facts, Framework
from gpuwhy.model.version import major_minor

_ACTIVE = ("VIRTUAL_ENV", "CONDA_PREFIX", "PATH")


def on_windows(facts: Facts) -> bool:
    """Whether the machine runs Windows; for the form of a command only."""
    return value_or(facts.surroundings.system, "") == "windows"


def shown(path: str) -> str:
    """A path as Windows writes it; the user's folder as cmd.exe knows it."""
    return re.sub(r"^~(?=\\|$)", "%USERPROFILE%", path.replace("/", "\\"))


def _in_powershell(path: str) -> str:
    return shown(path).replace("%USERPROFILE%", "$env:USERPROFILE")


def active(facts: Facts) -> bool:
    """Whether the target is the Python that this shell finds by its plain name."""
    interpreter = value_or(facts.target.interpreter, None)
    return interpreter is None or interpreter.chosen_by in _ACTIVE


def path_first(text: str, folders: Sequence[str]) -> Fix:
    """Folders in front of PATH, in this window only."""
    prompt = ";".join(map(shown, folders))
    powershell = ";".join(map(_in_powershell, folders))
    command = f'set "PATH={prompt};%PATH%"\n$env:PATH = "{powershell};" + $env:PATH    # instead, in PowerShell'
    return Fix(text, command, safe=True)


def path_for_good(folders: Sequence[str]) -> Fix:
    """Folders on this user's PATH; not with setx, which cuts it off at 1024 characters."""
    value = ";".join(map(_in_powershell, folders))
    command = (
        f'[Environment]::SetEnvironmentVariable("Path", "{value};" + '
        '[Environment]::GetEnvironmentVariable("Path", "User"), "User")    # PowerShell'
    )
    return Fix("For good: put it on your PATH, and open a new window", command)


def toolkit(facts: Facts, framework: Framework, cuda: bool, cudnn: bool) -> tuple[Fix, ...]:
    """The CUDA and the cuDNN of a framework that brings none: NVIDIA's installers, or conda's packages."""
    built = major_minor(value_or(framework.built_for_cuda, ""))
    row = installer(built)
    if row is None:
        return (Fix(f"Install CUDA {built} and the cuDNN made for it, and put both bin folders on PATH"),)
    steps = [f"install {row.toolkit}"] if cuda else []
    steps += [f"unpack {row.archive} and put its bin folder on PATH"] if cudnn else []
    text = "; ".join(steps)
    by_hand = Fix(f"{text[:1].upper()}{text[1:]} (from NVIDIA's archive), then open a new window", root=cuda)
    conda = f"conda install cudatoolkit={built} cudnn={major_minor(row.cudnn)}"
    by_conda = Fix(f"With conda: CUDA {built} and its cuDNN into the active environment", conda, safe=True)
    interpreter = value_or(facts.target.interpreter, None)
    return (by_conda, by_hand) if interpreter and interpreter.kind == "conda" else (by_hand, by_conda)


def is_torch(facts: Facts, framework: Framework) -> bool:
    """Whether it is PyTorch on Windows, whose CUDA builds the default package index does not have."""
    return framework.name == "torch" and on_windows(facts)


def torch_again(framework: Framework) -> Fix:
    """PyTorch for Windows carries CUDA in torch/lib; the default index has only its CPU build."""
    cuda = value_or(framework.built_for_cuda, "")
    release = framework.version.split("+")[0]
    text = f"Install PyTorch {release} for CUDA {cuda} again: pytorch.org/get-started prints the command for Windows"
    return Fix(f"{text} (add --force-reinstall --no-cache-dir)", safe=True)


def activate(facts: Facts, folders: Sequence[str]) -> tuple[Fix, ...]:
    """For libraries of a conda environment that is not active: activating it puts its folders on PATH."""
    interpreter = value_or(facts.target.interpreter, None)
    if interpreter is None or interpreter.kind != "conda" or interpreter.chosen_by == "CONDA_PREFIX":
        return ()
    if not all(folder.startswith(f"{interpreter.prefix}/") for folder in folders):
        return ()
    command = f'conda activate "{shown(interpreter.prefix)}"'
    return (Fix("Activate the environment, which puts its folders on PATH", command, safe=True),)
