"""nvidia-modprobe: setuid, not setuid, absent, unseen."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.model.fact import Absent, Known, Unknown
from gpuwhy.observe.driver import LOOKS

from .machine import Machine, look


@pytest.mark.parametrize("mode, said", [(0o4755, "setuid"), (0o755, "not setuid")])
def test_mode_decides(tmp_path: Path, mode: int, said: str):
    machine = Machine(tmp_path)
    machine.write("/usr/bin/nvidia-modprobe", "x")
    (tmp_path / "usr/bin/nvidia-modprobe").chmod(mode)
    seen = look(machine.scene(), LOOKS, "modprobe")
    assert isinstance(seen, Known)
    assert seen.value == said


def test_absent_and_unseen(tmp_path: Path):
    machine = Machine(tmp_path)
    assert isinstance(look(machine.scene(), LOOKS, "modprobe"), Absent)
    machine.answers[("stat", "/usr/bin/nvidia-modprobe")] = Unknown("permission denied")
    assert isinstance(look(machine.scene(), LOOKS, "modprobe"), Unknown)
