"""Short questions to a machine's files, for where what was not seen counts as not being there."""

from gpuwhy.facts.fact import Absent, Known, value_or
from gpuwhy.machine.machine import Machine


def exists(machine: Machine, path: str) -> bool:
    """Whether a path is known to lead somewhere."""
    return isinstance(machine.stat(path), Known)


def gone(machine: Machine, path: str) -> bool:
    """Whether a path is known to lead nowhere."""
    return isinstance(machine.stat(path), Absent)


def names(machine: Machine, folder: str, match: str = "") -> list[str]:
    """The names in a folder that match."""
    return [entry.name for entry in value_or(machine.list(folder, match), ())]


def paths(machine: Machine, folder: str, match: str = "") -> list[str]:
    """The paths of what a folder holds by some names."""
    return [f"{folder}/{name}" for name in names(machine, folder, match)]


def text(machine: Machine, path: str) -> str:
    """The text of a small file."""
    return value_or(machine.read(path), "")


def lines(machine: Machine, path: str, *words: str) -> tuple[str, ...]:
    """The lines of a file that hold one of some words."""
    return value_or(machine.lines(path, *words), ())


def real(machine: Machine, path: str) -> str:
    """The path after following every link; as it is where it leads nowhere."""
    return value_or(machine.real(path), path)


def environ(machine: Machine) -> dict[str, str]:
    """The variables that steer the GPU stack; {} where the shell was not seen."""
    return value_or(machine.environ(), {})
