"""Paths and variables as Windows writes them."""

from __future__ import annotations

import re

from gpuwhy.facts.fact import value_or
from gpuwhy.machine.machine import Machine


def tidy(path: str) -> str:
    """A path with forward slashes, without quotes around it and without a slash at its end."""
    plain = re.sub(r"(?<!^)/+", "/", path.strip().strip('"').strip().replace("\\", "/"))
    return plain if re.fullmatch(r"[A-Za-z]:/", plain) else plain.rstrip("/")


def is_whole(path: str) -> bool:
    """Whether a path starts at a drive or at a share."""
    return re.match(r"[A-Za-z]:/|//", path) is not None


def environ(machine: Machine) -> dict[str, str]:
    """The variables with upper-case names, as Windows compares them; {} where not seen."""
    return {name.upper(): value for name, value in value_or(machine.environ(), {}).items()}


def expanded(machine: Machine, text: str) -> str:
    """%NAME% replaced where the variable is known."""
    known = environ(machine)
    return re.sub(r"%([^%;]+)%", lambda found: known.get(found[1].upper(), found[0]), text)


def system_folder(machine: Machine) -> str:
    """System32."""
    return f"{tidy(environ(machine).get('SYSTEMROOT', '')) or 'C:/Windows'}/System32"


def program_files(machine: Machine) -> str:
    """The folder of 64-bit programs."""
    return tidy(environ(machine).get("PROGRAMFILES", "")) or "C:/Program Files"


def path_folders(machine: Machine) -> tuple[str, ...]:
    """The folders of PATH, each once, in order."""
    entries = environ(machine).get("PATH", "").split(";")
    tidied = [tidy(expanded(machine, one)) for one in entries]
    found: dict[str, str] = {}
    for one in tidied:
        if is_whole(one):
            found.setdefault(one.casefold(), one)
    return tuple(found.values())


def folders(machine: Machine, parent: str, match: str) -> list[str]:
    """The folders below another one whose names match, newest version last."""
    listed = value_or(machine.list(parent, match), ())
    names = [entry.name for entry in listed if entry.kind != "file"]
    names.sort(key=lambda name: [int(digits) for digits in re.findall(r"\d+", name)])
    return [f"{parent}/{name}" for name in names]
