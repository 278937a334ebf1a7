"""gpuwhy starts where PYTHONPATH puts other modules before Python's own, once its own first line is reached."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

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
