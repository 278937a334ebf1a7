"""Blame needs a link: what no later ending silences, and what a rank's own end explains."""

from __future__ import annotations

from gpuwhy.logs import explain_text

FATAL = """\
main process: warm-up done, starting 4 workers
2024-03-02 11:20:39.551027: F tensorflow/stream_executor/cuda/cuda_driver.cc:148] Failed setting context: CUDA_ERROR_NOT_INITIALIZED: initialization error
worker 0 exited with -6
Traceback (most recent call last):
  File "sweep.py", line 88, in <module>
    run(models)
  File "sweep.py", line 41, in run
    raise RuntimeError("no worker is left")
RuntimeError: no worker is left
"""
RANKS = """\
[rank0]:[E ProcessGroupNCCL.cpp:616] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600010 milliseconds before timing out.
[rank1]: Traceback (most recent call last):
[rank1]:   File "/ws/train.py", line 20, in <module>
[rank1]:     for row in rows:
[rank1]: {last}
[rank0]:[E ProcessGroupNCCL.cpp:630] To avoid data inconsistency, we are taking the entire process down.
"""


def first(text: str) -> str:
    return explain_text(text).causes[0].id


def test_a_fatal_line_ended_a_process_whatever_its_parent_raises_then():
    assert first(FATAL) == "program.fork"
    assert first(FATAL.replace(": F ", ": E ").replace("exited with -6", "is done")) != "program.fork"


def test_a_rank_that_raised_itself_is_why_the_others_waited():
    assert first(RANKS.format(last="UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff")) == "distributed.peer"
    assert first(RANKS.replace("[rank1]: {last}", "[rank1]:     all_reduce(row)")) == "distributed.nccl"


def test_xlas_word_of_its_compiler_is_not_said_to_be_none_of_the_stack():
    text = 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    f(x)\njaxlib.xla_extension.XlaRuntimeError: INTERNAL: ptxas is older than what XLA takes\n'
    told = explain_text(text)
    assert not [one for one in told.causes if one.id == "other.not_gpu" and one.confidence >= 0.5]


def test_one_folder_of_windows_is_no_list():
    text = "Could not load dynamic library 'cusolver64_10.dll'; dlerror: cusolver64_10.dll not found\n(CUDA_PATH=C:\\Program Files\\CUDA\\v11.1)\n"
    assert all(one.signature != "said.list" for one in explain_text(text).symptoms)
    assert any(one.signature == "said.list" for one in explain_text("CUDA_HOME=/usr/local/cuda:/opt/cuda\nnvcc not found: error").symptoms)  # fmt: skip


def test_a_job_without_a_gpu_and_a_board_without_the_group():
    assert first("[error] Invalid CUDA_VISIBLE_DEVICES=NoDevFiles\n[error] no CUDA devices available.\nslurmstepd: error: *** JOB 8 ON n1 CANCELLED ***\n") == "device.selection"  # fmt: skip
    assert first("NvRmMemInitNvmap failed with Permission denied\n549: Memory Manager Not supported\nError: CUDA could not be initialised\n") == "driver.permission"  # fmt: skip


def test_a_warning_of_a_deadlock_leads_to_an_end_by_waiting_and_to_no_other():
    warned = (
        "/usr/lib/python3.12/multiprocessing/popen_fork.py:66: RuntimeWarning: os.fork() was called. os.fork() is "
        "incompatible with multithreaded code, and JAX is multithreaded, so this will likely lead to a deadlock.\n"
        '  self.pid = os.fork()\nTraceback (most recent call last):\n  File "/home/u/prog.py", line 11, in <module>\n'
    )
    waited = "    print(job.get(timeout=20))\nmultiprocessing.context.TimeoutError\n"
    other = "    print(table['b'])\nKeyError: 'b'\n"
    assert explain_text(warned + waited).causes[0].id == "program.fork"
    assert explain_text(warned + other).causes[0].id == "other.not_gpu"
