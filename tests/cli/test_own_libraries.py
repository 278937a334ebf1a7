"""gpuwhy starts in a world whose loader variables break Python's own modules, and sees that world."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the loader's variables of Linux")


def test_a_broken_library_before_our_own(tmp_path):
    (tmp_path / "libz.so.1").write_text("not a library\n")
    environ = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    broken = [sys.executable, "-c", "import zlib"]
    told = subprocess.run(broken, env=environ, capture_output=True, text=True, timeout=60)
    if not told.returncode:
        pytest.skip("this Python has zlib inside")
    if told.returncode == 127:
        pytest.skip("this Python does not even start without libz: nor does gpuwhy")
    watched = [sys.executable, "-m", "gpuwhy", "run", "--", *broken]
    done = subprocess.run(watched, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1, done.stderr
    assert f"ended with code {told.returncode}" in done.stderr
    assert f"ImportError: {tmp_path}/libz.so.1" in done.stderr
    assert "GPUWHY_KEPT" not in done.stderr
