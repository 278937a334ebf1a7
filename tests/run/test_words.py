"""What is read from a launcher's words, a command line and a program's output."""

from __future__ import annotations

import json
import sys
import time

import pytest

from gpuwhy.model.fact import Absent, Known
from gpuwhy.run.ranks import error_file, error_text, first_rank, own_rank
from gpuwhy.run.secrets import without_secrets
from gpuwhy.run.target import python_of_command

SUMMARY = """
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2024-05-01_10:00:01
  host      : node
  rank      : 0 (local_rank: 0)
  exitcode  : 1 (pid: 101)
  error_file: <N/A>
  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2024-05-01_10:00:00
  host      : node
  rank      : 3 (local_rank: 1)
  exitcode  : -9 (pid: 104)
  error_file: /tmp/torchelastic_x/3/error.json
  traceback : Signal 9 (SIGKILL) received by PID 104
============================================================
"""


@pytest.mark.parametrize(
    "text, rank",
    [
        (SUMMARY, "rank 3 (signal 9, local rank 1)"),
        ("[rank2]: Traceback (most recent call last):\n[rank0]: Traceback (most recent call last):", "rank 2"),
        ("[default5]:RuntimeError: CUDA error", "rank 5"),
        ("[1,7]<stderr>:ValueError: x", "rank 7"),
        ("0: step 1\n4: torch.OutOfMemoryError: CUDA out of memory", "rank 4"),
        (
            "mpirun noticed that process rank 1 with PID 0 on node x exited on signal 11 (Segmentation fault).",
            "rank 1 (signal 11)",
        ),
        ("srun: error: node1: task 6: Exited with exit code 1\n", "rank 6 (Exited with exit code 1)"),
    ],
)
def test_first_failing_rank(text, rank):
    found = first_rank(text)
    assert isinstance(found, Known)
    assert found.value == rank


def test_no_rank_is_named():
    assert isinstance(first_rank("step 1: loss 2.3\nValueError: x\n12: 00"), Absent)


def test_the_file_of_the_first_failing_rank():
    assert error_file(SUMMARY) == "/tmp/torchelastic_x/3/error.json"
    assert error_file("nothing") == ""
    full = {"message": {"message": "RuntimeError: x", "extraInfo": {"py_callstack": "Traceback …\nRuntimeError: x"}}}
    assert error_text(json.dumps(full)) == "Traceback …\nRuntimeError: x"
    assert error_text(json.dumps({"message": "plain"})) == "plain"
    assert error_text("garbage") == error_text("[]") == error_text('{"message": 3}') == ""


def test_own_rank():
    assert own_rank({"SLURM_PROCID": "2", "SLURM_NTASKS": "4"}) == "2"
    assert own_rank({"RANK": "0", "WORLD_SIZE": "1"}) == ""
    assert own_rank({"RANK": "x"}) == own_rank({}) == ""


def test_python_of_a_command(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    python = tmp_path / "python3.99"
    files = {
        "python3.99": "",
        "tool": f"#!{python}\nimport x\n",
        "env": "#!/bin/sh\n",
        "by-env": "#!/usr/bin/env -S python3.99 -u\n",
        "long": f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n",
        "shell": "#!/bin/bash\npython train.py\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    assert {name: python_of_command([name]) for name in ("python3.99", "tool", "by-env", "long")} == {
        name: str(python) for name in ("python3.99", "tool", "by-env", "long")
    }
    assert python_of_command(["shell"]) == python_of_command(["nothing-like-it"]) == ""
    assert python_of_command([sys.executable]) == sys.executable


@pytest.mark.parametrize(
    "text, secret",
    [
        ("HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz12", "abcdefghij"),
        ("api_key: 'abc123def456'", "abc123def456"),
        ("Authorization: Bearer abcdef.ghijkl", "abcdef.ghijkl"),
        ("cloning https://ada:pass-word@example.org/x", "pass-word"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nok", "MIIE"),
    ],
)
def test_secrets_are_hidden(text, secret):
    hidden = without_secrets(f"before\n{text}\nafter")
    assert secret not in hidden
    assert hidden.startswith("before\n")
    assert hidden.endswith("\nafter")


def test_other_text_stays():
    text = "epoch 3: loss 0.12, tokens/s 1234, tokenizer: bert-base, key error: 'x'\nhttp://example.org:80/a"
    assert without_secrets(text) == text


def test_secrets_are_looked_for_in_time_that_grows_with_the_text():
    started = time.monotonic()
    without_secrets("x" * 200_000)
    assert time.monotonic() - started < 2, "every place in a long word was tried"
