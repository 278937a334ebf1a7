"""Inside WSL: what has builds for Linux alone, brought into WSL by commands that are typed in Windows."""

from __future__ import annotations

from gpuwhy.model import on


def inside_wsl(folder: str, package: str) -> on.Command:
    """Ubuntu, an environment below its home folder, and a package in it; what stands behind the dashes is typed for Linux."""
    steps = ("-u root -- apt-get install -y python3-venv", f"-- python3 -m venv {folder}", f'-- {folder}/bin/pip install "{package}"')  # fmt: skip
    return on.across("\n".join(("wsl --install -d Ubuntu", *(f"wsl -d Ubuntu --cd ~ {step}" for step in steps))))
