"""gpuwhy starts, and sees that world, where variables break Python's own modules or hide them."""

import os
import subprocess
import sys

import pytest


@pytest.mark.skipif(sys.platform != "linux", reason="the loader's variables of Linux")
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


SCRIPT = "import sys\nfrom gpuwhy.__main__ import main\nsys.exit(main())\n"
"""The console script as uv 0.13 and pip 26.3 write it; pip 23.2 imports `re` before they call us."""


@pytest.mark.skipif(sys.platform == "win32", reason="no exec there")
@pytest.mark.parametrize(
    "name", ["typing", "types", "enum", "contextlib", "functools", "collections", "re", "warnings"]
)
def test_a_module_of_that_name_on_pythonpath(name, tmp_path):
    (tmp_path / f"{name}.py").write_text(f"raise ImportError('another {name}')\n")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    call = [sys.executable, str(script), "code", "719"]
    environ = {**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "100"}
    done = subprocess.run(call, env=environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "cudaErrorLaunchFailure" in done.stdout
