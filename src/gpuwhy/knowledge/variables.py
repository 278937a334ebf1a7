"""Variables: names of the environment that steer the GPU stack."""

from __future__ import annotations

import msgspec

from gpuwhy.knowledge.tables import load


class Table(msgspec.Struct, frozen=True):
    """steering.json."""

    names: frozenset[str]
    prefixes: tuple[str, ...]  # of many: TF_
    private: frozenset[str]  # their value may name hosts: only that they are set is kept
    foreign: tuple[str, ...]  # Terraform's, which only look like TensorFlow's
    written: frozenset[str]  # name a folder which programs write to
    container_folders: frozenset[str]  # on the search paths of NVIDIA's images, existing or not


_TABLE = load("steering.json", Table)
FOREIGN = _TABLE.foreign
WRITTEN = _TABLE.written
CONTAINER_FOLDERS = _TABLE.container_folders


def steers(name: str) -> bool:
    """Whether somebody of the GPU stack reads a variable of this name."""
    return name in _TABLE.names or name.startswith(_TABLE.prefixes)


def is_listed(name: str) -> bool:
    """Whether this very name is known, and not its beginning alone."""
    return name in _TABLE.names


def is_private(name: str) -> bool:
    """Whether its value may name hosts."""
    return name in _TABLE.private
