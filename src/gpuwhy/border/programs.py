"""Programs: the system's own tools by absolute path, whatever PATH says."""

from __future__ import annotations

import os

FOLDERS = ("/usr/bin", "/bin", "/usr/sbin", "/sbin", "/run/wrappers/bin", "/run/current-system/sw/bin")
"""Where only the system's administrator writes: Debian's and Red Hat's folders, then those of NixOS."""


def system_program(name: str) -> str:
    """The path of a tool of the system; raises FileNotFoundError where it has none."""
    if "/" in name:
        return name
    for folder in FOLDERS:
        path = f"{folder}/{name}"
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    raise FileNotFoundError(2, "no such program of the system", name)
