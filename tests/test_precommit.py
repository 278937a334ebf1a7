"""The hook of .pre-commit-hooks.yaml in the real pre-commit, which installs this repository to run it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.doors
def test_the_hook_finds_a_mistake_and_passes_what_is_clean(tmp_path):
    pytest.importorskip("pre_commit")
    work = tmp_path / "work"
    work.mkdir()
    subprocess.run(["git", "init", "-q", "."], cwd=work, check=True)
    (work / "requirements.txt").write_text("torch==2.5.1\ntorchvision==0.19.0\n")
    (work / "requirements-good.txt").write_text("torch==2.5.1\ntorchvision==0.20.1\n")
    subprocess.run(["git", "add", "-A"], cwd=work, check=True)
    environ = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home")}
    for name, code in (("requirements.txt", 1), ("requirements-good.txt", 0)):
        command = [sys.executable, "-m", "pre_commit", "try-repo", str(ROOT), "gpuwhy-lint", "--files", name]
        done = subprocess.run(command, cwd=work, env=environ, capture_output=True, text=True, timeout=600)
        assert done.returncode == code, done.stdout + done.stderr
        assert ("pair-mismatch" in done.stdout) == bool(code)
