"""The architecture of a machine that is only a folder."""

from __future__ import annotations

import shutil

from gpuwhy.app import Run, root_host
from gpuwhy.model.fact import Known, Unknown
from gpuwhy.observe.scene import Options


def test_by_its_shell(tmp_path):
    (tmp_path / "bin").mkdir()
    shutil.copy("/bin/sh", tmp_path / "bin" / "sh")
    found = Run(root_host(str(tmp_path)), Options()).facts.surroundings.machine
    assert isinstance(found, Known)
    assert found.value in ("x86_64", "aarch64", "riscv64", "ppc64")


def test_not_guessed(tmp_path):
    assert isinstance(Run(root_host(str(tmp_path)), Options()).facts.surroundings.machine, Unknown)
