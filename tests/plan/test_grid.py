"""Every cell of the grid proposes what it proposed; and every proposal is accepted by a real installer."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from tests.plan.grid import KEPT, cells, outcome

ROWS = [json.loads(line) for line in KEPT.read_text(encoding="utf-8").splitlines()]
NEW_GLIBC = "2.34"
PATCHES = {"3.6": "3.6.15", "3.7": "3.7.16"}  # "3.6" alone is 3.6.0 for uv, which torch 1.10 refuses


def test_the_grid_is_large_and_complete():
    assert len(ROWS) >= 300
    assert [row["cell"] for row in ROWS] == [json.loads(json.dumps(cell)) for cell in cells()]


@pytest.mark.parametrize("part", range(8))
def test_proposals_are_those_that_were_kept(part):
    """After a change that is meant: `python -m tests.plan.grid`, and read the diff."""
    changed = []
    for cell, kept in list(zip(cells(), ROWS, strict=True))[part::8]:
        now = json.loads(json.dumps(outcome(cell)))
        if now != kept:
            changed.append(f"{cell.name}: {kept} → {now}")
    assert changed == []


def asked() -> dict[tuple[str, ...], list[str]]:
    """What to hand to the installer: (Python, platform, requirements …), and the pins of the libraries."""
    out = {}
    for row in ROWS:
        if "python" in row:
            key = (row["python"], platform_of(row), *(name.split("+")[0] for name in row["install"]))
            out.setdefault(key, row["libraries"])
    return out


def platform_of(row: dict[str, Any]) -> str:
    """The platform as uv names it."""
    *_, system, arch, glibc = row["cell"]
    given_up = row.get("gives_up", "")
    if system == "windows" and "WSL" not in given_up:
        return "x86_64-pc-windows-msvc"
    glibc = NEW_GLIBC if "glibc" in given_up or not glibc else glibc
    return f"{arch}-manylinux_{glibc.replace('.', '_')}"


@pytest.mark.network
@pytest.mark.skipif(not shutil.which("uv"), reason="uv is the judge")
@pytest.mark.parametrize("key", list(asked()), ids=" ".join)
def test_an_installer_accepts_every_proposal(key, tmp_path):
    """PyTorch's own index is not asked: a Windows build is looked up under the same version on the package index."""
    python, platform, *install = key
    pins = tmp_path / "constraints.txt"
    pins.write_text("\n".join(asked()[key]) + "\n")
    command = [
        "uv",
        "pip",
        "compile",
        "-",
        "-q",
        "--python-version",
        PATCHES.get(python, python),
        "--python-platform",
        platform,
        "-c",
        str(pins),
    ]
    done = subprocess.run(command, input="\n".join(install), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    names = {line.split("==")[0] for line in done.stdout.splitlines() if "==" in line}
    assert {pin.split("==")[0] for pin in asked()[key]} <= names, "a library that the set is said to bring is not there"
