"""The environment that a fix may change, and why some may not be changed."""

from __future__ import annotations

import os
import sys

import msgspec

from gpuwhy.facts.environment import Python
from gpuwhy.facts.fact import Known, value_or
from gpuwhy.facts.facts import Facts

LOCKS = ("uv.lock", "poetry.lock", "Pipfile.lock", "pdm.lock")


class RefusedError(Exception):
    """It is not begun; the text says why, and what to do instead."""


class Environment(msgspec.Struct, frozen=True):
    """A Python environment on this machine, with what is installed in it."""

    python: str
    prefix: str
    kind: str
    releases: dict[str, str]


def environment(facts: Facts, in_place: bool) -> Environment:
    """The environment under diagnosis; raises RefusedError."""
    if not sys.platform.startswith("linux"):
        raise RefusedError("--apply works on Linux only: run the commands of gpuwhy fix yourself")
    python: Python | None = value_or(facts.environment.python, None)
    if python is None or not isinstance(facts.environment.packages, Known):
        raise RefusedError("there is no Python environment to change: name one with --python")
    prefix = python.prefix.rstrip("/")
    if python.kind == "conda" and not in_place:
        raise RefusedError(
            "a conda environment has more than Python packages, which gpuwhy does not copy: run"
            f" `conda create --prefix {prefix}-gpuwhy --clone {prefix}`, then gpuwhy fix --apply"
            f" --in-place --python {prefix}-gpuwhy"
        )
    if python.kind not in ("venv", "conda"):
        raise RefusedError(
            f"{prefix} is not an environment of its own, other programs use it too: make one with"
            " `python -m venv FOLDER`, install there, and name it with --python"
        )
    if python.own:
        raise RefusedError(f"{prefix} is gpuwhy's own environment: name another with --python")
    if not os.access(python.path, os.X_OK):
        raise RefusedError(f"{python.path} cannot be run, so nothing can be installed for it")
    if in_place and not os.access(prefix, os.W_OK):
        raise RefusedError(f"this user cannot write to {prefix}")
    return Environment(python.path, prefix, python.kind, facts.environment.releases)


def lock_file(prefix: str) -> str:
    """The lock file beside an environment, which would bring the old releases back; or ""."""
    folder = os.path.dirname(prefix)
    found = (f"{folder}/{name}" for name in LOCKS)
    return next((path for path in found if os.path.exists(path)), "")
