"""What a command's own files set, and what a program wrote to a file instead of to us."""

from __future__ import annotations

import os
import time

from gpuwhy.run.child import Ended
from gpuwhy.run.sampler import Samples
from gpuwhy.run.target import settings
from gpuwhy.run.written import elsewhere


def test_variables_that_a_job_script_and_the_program_set(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {
        "job_sh": "# export NCCL_DEBUG=INFO\nexport CUDA_VISIBLE_DEVICES='9'\nJAX_PLATFORMS=cpu python3 main.py --x=1\n"
        "export LD_PRELOAD=$HOME/hook.so AWS_SECRET=no\n",
        "main_py": "import os\nos.environ['XLA_FLAGS'] = '--xla_x=1'\nif cpu:\n    os.environ['TF_X'] = '1'\n",
    }
    for name, text in texts.items():
        (tmp_path / name.replace("_", ".")).write_text(text)
    assert settings(["bash", "job.sh"]) == (
        {"CUDA_VISIBLE_DEVICES": "9", "JAX_PLATFORMS": "cpu"},
        {"XLA_FLAGS": "--xla_x=1"},
    )


def ended(*writes):
    samples = Samples()
    samples.take({"seen": 7, "writes": list(writes)})
    return Ended(1, 0, 1.0, 100.0, time.monotonic() - 1, (), samples, 0, (), ())


def test_the_log_that_its_last_words_name(tmp_path):
    (tmp_path / "train.log").write_text("ValueError: no samples\n")
    (tmp_path / "old.log").write_text("from last week\n")
    os.utime(tmp_path / "old.log", (1, 1))
    said = "see old.log\ntraining failed, see train.log\n"
    assert elsewhere(ended(), said, str(tmp_path)) == ("ValueError: no samples\n",)


def test_the_file_that_its_errors_went_to_comes_last(tmp_path):
    for name in ("out", "err"):
        (tmp_path / name).write_text(f"{name}\n")
    told = ended([2, str(tmp_path / "err")], [1, str(tmp_path / "out")])
    assert elsewhere(told, "", "") == ("out\n", "err\n")
