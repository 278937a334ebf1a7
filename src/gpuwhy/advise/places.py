"""The place of a text and of a machine: the text decides where it states something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpuwhy.advise.place import Place
from gpuwhy.facts.fact import Known, Unknown, value_or
from gpuwhy.log.case import Case, Stated

if TYPE_CHECKING:
    from gpuwhy.facts.facts import Facts

FAMILIES = {
    "linux mint": "ubuntu",
    "pop!_os": "ubuntu",
    "kali": "debian",
    "raspbian": "debian",
    "centos": "rhel",
    "red hat": "rhel",
    "rocky": "rhel",
    "almalinux": "rhel",
    "amazon": "rhel",
    "oracle": "rhel",
    "opensuse": "suse",
    "sles": "suse",
    "manjaro": "arch",
    "endeavouros": "arch",
}
"""Distributions that take the packages of another."""
_OWN = ("ubuntu", "debian", "fedora", "rhel", "arch", "suse", "nixos", "alpine")
_ENGINES = ("docker", "compose", "kubernetes", "podman", "apptainer", "singularity")
_SHELLS = {"bash": "sh", "zsh": "sh", "sh": "sh", "fish": "sh"}
_MANAGERS = ("pip", "uv", "conda", "poetry", "pdm", "pixi")


def place_of(case: Case, facts: Facts | None) -> Place:
    """Where the remedy will be carried out."""
    own = _machine(facts) if facts is not None else {}
    stated = _text(case)
    if stated.get("os") and own.get("os") and stated["os"] != own["os"]:
        own = {}  # the text is of another machine
    if case.gpus or case.driver_version:
        own.pop("no_gpu", None)  # and so is one that states a GPU or its driver
    return Place(**{**own, **{key: value for key, value in stated.items() if value}})


def family_of(distribution: str) -> str:
    """Whose packages a distribution takes."""
    low = distribution.lower()
    known = next((own for name, own in FAMILIES.items() if name in low), "")
    return known or next((one for one in _OWN if one in low), "")


def _value(stated: Stated[Any] | None) -> str:
    return str(stated.value) if stated is not None else ""


def _text(case: Case) -> dict[str, Any]:
    engine = _value(case.container).lower()
    manager = _value(case.manager).lower()
    manager = {"mamba": "conda", "micromamba": "conda", "pip3": "pip"}.get(manager, manager)
    shell = _value(case.shell).lower()
    os = case.os.value if case.os else ""
    if not os and (case.wsl or case.distribution or engine in _ENGINES):
        os = "linux"
    return {
        "os": os,
        "wsl": case.wsl is not None,
        "shell": _SHELLS.get(shell, shell if shell in ("cmd", "powershell", "notebook") else ""),
        "distribution": family_of(_value(case.distribution)),
        "platform": _value(case.platform).lower(),
        "container": bool(engine),
        "engine": "apptainer" if engine == "singularity" else engine if engine in _ENGINES else "",
        "batch_system": _value(case.batch_system).lower(),
        "manager": manager if manager in _MANAGERS else "",
        "python_version": _value(case.python),
        "root": False if case.batch_system is not None else None,
        "program": case.programs[0].value if case.programs else "",
    }


def _machine(facts: Facts) -> dict[str, Any]:
    system, python = facts.system, facts.environment.python
    found: dict[str, Any] = {}
    if not isinstance(facts.devices.pci, Unknown) and not value_or(facts.devices.pci, ()):
        elsewhere = isinstance(system.wsl, Known) or isinstance(system.offline, Known)
        found["no_gpu"] = not value_or(facts.devices.gpus, ()) and not elsewhere
    if isinstance(system.os, Known):
        found["os"] = {"darwin": "macos"}.get(system.os.value, system.os.value)
    if isinstance(system.wsl, Known):
        found["wsl"] = True
    if isinstance(system.container, Known):
        found["container"] = True
        engine = system.container.value
        found["engine"] = "apptainer" if engine == "singularity" else engine
    if isinstance(system.distro, Known):
        distro = system.distro.value
        found["distribution"] = family_of(" ".join((distro.id, distro.title, *distro.like)))
    if isinstance(python, Known):
        active = python.value.chosen_by in ("VIRTUAL_ENV", "CONDA_PREFIX", "PATH")
        found["python"] = "" if active else python.value.path
        found["python_version"] = python.value.version
        found["manager"] = "conda" if python.value.kind == "conda" else ""
    return found
