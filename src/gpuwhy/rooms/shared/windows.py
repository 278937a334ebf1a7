"""Fixes in the words of Windows: PATH in both shells, NVIDIA's installers, the conda packages that bring the same."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.knowledge.windows import ZLIB_DLL, Installer, installer
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import Facts, Framework, LoadedLibrary, Rule
from gpuwhy.model.version import at_least, major_minor

UV = "python -m pip install uv"
"""Then `python -m uv pip …`: uv by itself refuses a Python that is in no virtual environment."""
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
    command = on.cmd(f'set "PATH={prompt};%PATH%"', f'$env:PATH = "{powershell};" + $env:PATH')
    return Fix(text, command, safe=True)


def path_for_good(folders: Sequence[str]) -> Fix:
    """Folders on this user's PATH; not with setx, which cuts it off at 1024 characters."""
    value = ";".join(map(_in_powershell, folders))
    command = on.powershell(
        f'[Environment]::SetEnvironmentVariable("Path", "{value};" + '
        '[Environment]::GetEnvironmentVariable("Path", "User"), "User")'
    )
    return Fix("Permanently: add it to your PATH, and open a new window", command)


def toolkit(facts: Facts, framework: Framework, cuda: bool, cudnn: bool) -> tuple[Fix, ...]:
    """The CUDA and the cuDNN of a framework that brings none: NVIDIA's installers, or conda's packages."""
    built = major_minor(value_or(framework.built_for_cuda, ""))
    row = installer(built)
    major = cudnn_major(framework) or (row.cudnn.split(".")[0] if row else "")
    if row is None:
        parts = [
            *([f"CUDA {built}"] if cuda else ()),
            *([f"cuDNN {major} for CUDA {built}".replace("  ", " ")] if cudnn else ()),
        ]
        return (Fix(f"Install {' and '.join(parts)} (NVIDIA's archive), with its bin folder on PATH"),)
    text = "; ".join([*([f"install {row.toolkit}"] if cuda else ()), *(_cudnn_steps(row, major) if cudnn else ())])
    by_hand = Fix(f"{text[:1].upper()}{text[1:]} (from NVIDIA's archive), then open a new window", root=cuda)
    version = major_minor(row.cudnn) if row.cudnn.startswith(f"{major}.") else major
    package = f"cudatoolkit={row.cuda}" if not at_least(row.cuda, "12") else f"cuda-version={row.cuda} cuda-libraries"
    conda = f"conda install -c conda-forge {package} cudnn={version}"
    by_conda = Fix(f"With conda: CUDA {row.cuda} and its cuDNN into the active environment", conda, safe=True)
    interpreter = value_or(facts.target.interpreter, None)
    return (by_conda, by_hand) if interpreter and interpreter.kind == "conda" else (by_hand, by_conda)


def _cudnn_steps(row: Installer, major: str) -> Iterator[str]:
    archive = row.archive if row.cudnn.startswith(f"{major}.") else f"the cuDNN {major} archive for CUDA {row.cuda}"
    yield f"unpack {archive} and put its bin folder on PATH"
    if needs_zlib(row, major):
        yield f"put {ZLIB_DLL} beside it (zlib123dllx64.zip, which the cuDNN guide links)"


def cudnn_major(framework: Framework) -> str:
    """The cuDNN major that a framework opens: 8 of cudnn64_8.dll."""
    names = (found[1] for one in value_or(framework.opens, ()) if (found := re.match(r"(?i)cudnn64_(\d+)", one.name)))
    return next(names, "")


def needs_zlib(row: Installer, major: str) -> bool:
    """Whether the archive of a row holds a cuDNN that opens zlib's DLL, which it does not bring."""
    return major == "8" and row.cudnn.startswith("8.") and at_least(row.cudnn, "8.3")


_FIRST = {
    Rule.PROGRAM: "beside the program", Rule.SYSTEM32: "in System32", Rule.SYSTEM: "in System",
    Rule.WINDOWS: "in the Windows folder", Rule.CURRENT: "in the current folder",
    Rule.LIBRARY: "beside the framework's own library",
}  # fmt: skip
"""Where the search looks before PATH, in words."""


def out_of_the_way(one: LoadedLibrary) -> Fix | None:
    """Delete a copy that lies where the search looks before PATH; None for one that PATH leads to."""
    if one.rule not in _FIRST:
        return None
    lies = f"it lies {_FIRST[one.rule]}, where it is found before any copy on PATH"
    command = on.cmd(f'del "{shown(one.path)}"')
    root = one.rule in (Rule.SYSTEM32, Rule.SYSTEM, Rule.WINDOWS)
    return Fix(f"Delete that {one.name}, or move it away: {lies}", command, root=root)


def in_store_python(facts: Facts) -> bool:
    """Whether the Python is the Microsoft Store's, whose DLL search never looks along PATH."""
    interpreter = value_or(facts.target.interpreter, None)
    return interpreter is not None and "/windowsapps/" in interpreter.path.lower()


def instead_of_store(facts: Facts, folders: Sequence[str]) -> tuple[Fix, ...]:
    """For the Store's Python: another Python, or DLLs that are loaded by path before the framework asks for them."""
    interpreter = value_or(facts.target.interpreter, None)
    short = major_minor(interpreter.version) if interpreter else "3.10"
    text = (
        f"Use the Python {short} of python.org: the Microsoft Store's never looks along PATH for DLLs "
        "(packaged programs search their own folder and System32 only)"
    )
    first = Fix(text, on.cmd(f"winget install --exact --id Python.Python.{short}\npy -{short} -m venv gpu"), safe=True)
    if not folders:
        return (first,)
    loads = Fix(
        "Or load its DLLs by their paths at the start of the program: a DLL that is loaded is not searched again",
        on.code(f"import ctypes, glob; [ctypes.WinDLL(f) for f in glob.glob(r'{shown(folders[0])}\\*64_*.dll')]"),
    )
    return first, loads


def is_torch(facts: Facts, framework: Framework) -> bool:
    """Whether it is PyTorch on Windows, whose CUDA builds the default package index does not have."""
    return framework.name == "torch" and on_windows(facts)


def torch_again(framework: Framework) -> Fix:
    """PyTorch for Windows carries CUDA in torch/lib; the default index has only its CPU build."""
    cuda = value_or(framework.built_for_cuda, "")
    release = framework.version.split("+")[0]
    text = f"Install PyTorch {release} for CUDA {cuda} again, past the cache (reinstall)"
    backend = f"cu{cuda.replace('.', '')}" if cuda else "auto"
    return Fix(
        text,
        f"{UV}\npython -m uv pip install --reinstall --no-cache torch=={release} --torch-backend={backend}",
        safe=True,
    )


def activate(facts: Facts, folders: Sequence[str]) -> tuple[Fix, ...]:
    """For libraries of a conda environment that is not active: activating it puts its folders on PATH."""
    interpreter = value_or(facts.target.interpreter, None)
    if interpreter is None or interpreter.kind != "conda" or interpreter.chosen_by == "CONDA_PREFIX":
        return ()
    if not all(folder.startswith(f"{interpreter.prefix}/") for folder in folders):
        return ()
    command = on.cmd(f'conda activate "{shown(interpreter.prefix)}"')
    return (Fix("Activate the environment, which puts its folders on PATH", command, safe=True),)
