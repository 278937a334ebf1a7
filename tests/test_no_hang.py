"""The guard of tests/conftest.py: a test that hangs fails, and the next one runs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HANGS = {
    "blocked": "import os\ndef test_hangs():\n    r, w = os.pipe()\n    os.read(r, 1)\n",
    "setup": "import time, pytest\n@pytest.fixture\ndef slow():\n    time.sleep(500)\ndef test_it(slow):\n    pass\n",
    "expression": "import re\ndef test_hangs():\n    re.match('(a+)+b', 'a' * 60)\n",
}


def ran(folder: Path, text: str) -> str:
    (folder / "conftest.py").write_text((Path(__file__).parent / "conftest.py").read_text())
    (folder / "test_it.py").write_text(text + "def test_next():\n    pass\n")
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:gpuwhy", str(folder)]
    environment = {**os.environ, "GPUWHY_TEST_LIMIT": "0.5"}
    done = subprocess.run(argv, cwd=folder, env=environment, capture_output=True, text=True, timeout=100)
    return done.stdout + done.stderr


@pytest.mark.skipif(os.name == "nt", reason="no alarm signal there: the whole run ends instead")
@pytest.mark.parametrize("how", HANGS)
def test_a_hanging_test_fails_and_the_next_one_runs(tmp_path, how):
    said = ran(tmp_path, HANGS[how])
    assert "hangs: not done after 0.5 s" in said
    assert "1 passed" in said


@pytest.mark.skipif(os.name == "nt", reason="no signal masks there")
def test_where_no_signal_is_heard_the_run_ends(tmp_path):
    deaf = "import signal\ndef test_hangs():\n    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])\n"
    said = ran(tmp_path, deaf + "    while True:\n        pass\n")
    assert "Timeout" in said
    assert "test_hangs" in said
