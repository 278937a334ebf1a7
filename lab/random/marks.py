"""What tables of cases share: the healthy programs that a case can stand with, and what the marks in it stand for."""

from __future__ import annotations

import random
from collections.abc import Mapping

from lab.random.draw import Machine


def usable(machine: Machine, needs: str, code: str, command: str) -> list[str]:
    """The healthy programs with which a case can be run here."""
    names = [n for n in machine.programs(*needs.split()) if n not in ("onnx-cpu", "numba-cpu", "torch-large")]
    wants = "'cuda" in code or "nvcc" in command
    return names if machine.device == "cuda" or not wants else []


def filled(rng: random.Random, machine: Machine) -> Mapping[str, str]:
    """What the marks stand for in this draw."""
    marks = {"@D@": machine.device, "@J@": "gpu" if machine.device == "cuda" else "cpu"}
    marks |= {"@S@": str(rng.randrange(2, 9)), "@O@": str(rng.randrange(33000, 60000))}
    return marks | {"@P@": machine.python, "@T@": machine.toolkit, "@SITE@": machine.site}
