"""Preset: a variable that a file sets, at every start of Python or by the environment's activation."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.cause import Case, Fix
from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import Variable

OF_A_FILE = "keras.json:"
"""How the settings are called that a file of its own gives to Keras."""
SHOWN = "CUDA_VISIBLE_DEVICES"


def hiding(case: Case) -> Variable | None:
    """The variable where a file of the environment makes CUDA show no GPU, and something here could use one."""
    able = any(value_or(one.gpu_build, True) is not False for one in value_or(case.facts.target.frameworks, ()))
    found = value_or(case.facts.environment.variables, ())
    return next((v for v in found if able and v.name == SHOWN and v.set_in and v.faults), None)


def out_of(case: Case, variable: Variable) -> Fix:
    """The shell has no part in what a file sets when Python starts, or a framework reads."""
    if variable.name.startswith(OF_A_FILE):
        name, allowed = variable.name.removeprefix(OF_A_FILE), [one for f in variable.faults for one in f.allowed]
        takes = f", which takes {', '.join(allowed)}" if allowed else ""
        return Fix(f"Write another {name} into {variable.set_in}{takes}; without that file Keras makes it anew")
    if variable.set_in.endswith(".yaml"):
        name = variable.name.removeprefix("NUMBA_").lower()
        return Fix(f"Take the line with {name} out of {variable.set_in}, which Numba reads in this folder")
    if variable.set_in.startswith(("HKCU/", "HKLM/")):
        return _of_the_registry(variable)
    if variable.set_in == "/etc/environment":
        text = (
            f"Take the line with {variable.name} out of {variable.set_in}, which every login reads; then log in again"
        )
        return Fix(text, root=True)
    python = value_or(case.facts.target.interpreter, None)
    own = python is not None and python.kind == "venv" and variable.set_in.startswith(f"{python.prefix}/")
    by_start = any(variable.set_in == one.script for one in value_or(case.facts.environment.started, ()))
    who = "its activation" if variable.set_in.endswith(("/activate", ".sh")) else "Python"
    who = "the image" if by_start else who
    text = f"Take the line that sets {variable.name} out of {variable.set_in}, which {who} runs when it starts"
    return Fix(text, safe=own, anew=own)  # a copy of the environment has no such file


def _of_the_registry(variable: Variable) -> Fix:
    """Windows hands it to every program that is started: it goes where it is kept, and windows are opened anew."""
    own = variable.set_in.startswith("HKCU/")
    whose = "your account" if own else "the system"
    text = f"Delete the variable {variable.name} (Edit environment variables for {whose}), and open a new window"
    key = variable.set_in.replace("/", "\\")
    return Fix(text, on.cmd(f'reg delete "{key}" /v {variable.name} /f'), root=not own)
