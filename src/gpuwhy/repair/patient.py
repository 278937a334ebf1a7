"""Patient: the environment that a repair may touch, and why some may not be touched."""

from __future__ import annotations

import os
import sys

import msgspec

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Known
from gpuwhy.model.facts import Distribution, Facts


class RefusedError(Exception):
    """The repair is not begun; the text says why, and what to do instead."""


class Patient(msgspec.Struct, frozen=True):
    """An environment on this machine, with paths as the machine writes them."""

    python: str
    version: str
    prefix: str
    kind: str
    distributions: tuple[Distribution, ...]  # those inside the prefix, not what it borrows from the system
    system_site: bool = False


def patient(host: Host, facts: Facts, in_place: bool) -> Patient:
    """The target of a live host; raises RefusedError."""
    interpreter, installed = facts.target.interpreter, facts.target.distributions
    if not sys.platform.startswith("linux"):
        raise RefusedError("fixes are carried out on Linux only; elsewhere, run the commands that gpuwhy fix prints")
    if not isinstance(interpreter, Known) or not isinstance(installed, Known):
        raise RefusedError("there is no Python environment to change: name one with --python")
    one = interpreter.value
    prefix, python = host.path(one.prefix), host.path(one.path)
    _may_change(one.kind, prefix, in_place)
    if not os.access(python, os.X_OK):
        raise RefusedError(f"{python} cannot be run, so nothing can be installed for it")
    inside = tuple(
        msgspec.structs.replace(d, location=location)
        for d in installed.value
        if (location := host.path(d.location)).startswith(prefix.rstrip("/") + "/")
    )
    return Patient(python, one.version, prefix.rstrip("/"), one.kind, inside, _borrows(prefix))


def _may_change(kind: str, prefix: str, in_place: bool) -> None:
    if kind == "conda" and not in_place:
        clone = f"conda create --prefix {prefix}-gpuwhy --clone {prefix}"
        raise RefusedError(
            "a conda environment holds more than Python packages, which gpuwhy cannot copy: make the copy with "
            f"`{clone}`, then gpuwhy fix --apply --in-place --python {prefix}-gpuwhy"
        )
    if kind not in ("venv", "conda"):
        raise RefusedError(
            f"{prefix} is no environment of its own but a Python that others use too ({kind}): make one with "
            "`python -m venv FOLDER`, install there, and name it with --python"
        )
    if in_place and not os.access(prefix, os.W_OK):
        raise RefusedError(f"{prefix} cannot be written to by this user")


def _borrows(prefix: str) -> bool:
    try:
        with open(f"{prefix}/pyvenv.cfg", encoding="utf-8", errors="replace") as file:
            text = file.read(65536).lower().replace(" ", "")
    except OSError:
        return False
    return "include-system-site-packages=true" in text
