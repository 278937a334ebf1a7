"""What the first rank that failed and others wrote, in the output and into files."""

import json
import os
import time

import pytest

from gpuwhy.run.child import Ended
from gpuwhy.run.around import own_rank
from gpuwhy.run.sampler import Samples
from gpuwhy.run.written import elsewhere, first_rank, of_first_rank

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
        (SUMMARY, "3"),
        ("[rank2]: Traceback (most recent call last):\n[rank0]: Traceback (most recent call last):", "2"),
        ("[default5]:RuntimeError: CUDA error", "5"),
        ("[1,7]<stderr>:ValueError: x", "7"),
        ("0: step 1\n4: torch.OutOfMemoryError: CUDA out of memory", "4"),
        ("mpirun noticed that process rank 1 with PID 0 on node x exited on signal 11 (Segmentation fault).", "1"),
        ("srun: error: node1: task 6: Exited with exit code 1\n", "6"),
        ("step 1: loss 2.3\nValueError: x\n12: 00", ""),
    ],
)
def test_first_failing_rank(text, rank):
    assert first_rank(text) == rank


def test_what_the_first_failing_rank_wrote(tmp_path):
    file, log = tmp_path / "error.json", tmp_path / "none_x" / "attempt_0" / "1" / "stderr.log"
    log.parent.mkdir(parents=True)
    log.write_text("RuntimeError: mat1 and mat2")
    output = SUMMARY.replace("/tmp/torchelastic_x/3/error.json", str(file))

    def said(text, *options):
        file.write_text(text)
        return of_first_rank(["torchrun", *options, "t.py"], output)

    whole = "Traceback …\nRuntimeError: x"
    full = {"message": {"message": "RuntimeError: x", "extraInfo": {"py_callstack": whole}}}
    assert said(json.dumps(full)) == ([], [whole])
    assert said(json.dumps({"message": "plain"})) == ([], ["plain"])
    assert said("garbage") == said("[]") == ([], [])
    for options in (("--log-dir", str(tmp_path)), (f"--log_dir={tmp_path}",)):
        assert said("[]", *options) == (["RuntimeError: mat1 and mat2"], [])
    assert of_first_rank(["torchrun", "t.py"], "nothing") == ([], [])


def test_own_rank():
    assert own_rank({"SLURM_PROCID": "2", "SLURM_NTASKS": "4"}) == "2"
    assert own_rank({"RANK": "0", "WORLD_SIZE": "1"}) == ""
    assert own_rank({"RANK": "x"}) == own_rank({}) == ""


def ended(*writes):
    samples = Samples()
    samples.take({"seen": 7, "writes": list(writes)})
    return Ended(1, 0, 1.0, 100.0, time.monotonic() - 1, (), samples, 0, (), ())


def test_the_log_that_its_last_words_name_and_the_file_that_its_errors_went_to(tmp_path):
    for name in ("out", "err"):
        (tmp_path / name).write_text(f"{name}\n")
    told = ended([2, str(tmp_path / "err")], [1, str(tmp_path / "out")])
    assert elsewhere(told, "", "") == ("out\n", "err\n")
    (tmp_path / "train.log").write_text("ValueError: no samples\n")
    (tmp_path / "old.log").write_text("from last week\n")
    os.utime(tmp_path / "old.log", (1, 1))
    said = "see old.log\ntraining failed, see train.log\n"
    assert elsewhere(ended(), said, str(tmp_path)) == ("ValueError: no samples\n",)
