"""The reader: bytes, lines, ranks, endings and standings of small texts."""

import gzip

import pytest

from gpuwhy.log.message import Standing
from gpuwhy.log.read import read

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
NO_IMAGE = "RuntimeError: CUDA error: no kernel image is available for execution on the device"


def ids(text: str | bytes, standing: Standing = Standing.DECIDES) -> set[str]:
    errors = [one for one in read(text).messages if one.role == "error"]
    return {one.id for one in errors if one.standing is standing}


@pytest.mark.parametrize(
    "data",
    [
        NO_IMAGE.encode(),
        NO_IMAGE.encode("utf-16"),
        NO_IMAGE.encode("utf-16-le"),
        b"\xef\xbb\xbf" + NO_IMAGE.encode(),
        gzip.compress(NO_IMAGE.encode()),
        gzip.compress(b"") + gzip.compress(NO_IMAGE.encode()),
        b"\0" * 5000 + NO_IMAGE.encode(),
        f"\x1b[31m{NO_IMAGE}\x1b[0m".encode(),
        b"10%|#   |\r50%|##  |\r" + NO_IMAGE.encode(),
        f"{NO_IMAGE}\r\n".encode(),
        b'{"time": "x", "log": "' + NO_IMAGE.encode() + b'\\n"}',
    ],
    ids=range(11),
)
def test_bytes_of_every_kind_are_read(data):
    assert "cuda.no_binary_for_gpu" in ids(data)


@pytest.mark.parametrize(
    "prefix",
    [
        "2026-01-02T03:04:05.678Z ",
        "2026-01-02 03:04:05,678 - ",
        "train-1  | ",
        "[rank3]: ",
        "(RayTrainWorker pid=812, ip=10.0.0.1) ",
        "[1,0]<stderr>:",
        "Jan  2 03:04:05 node7 python[812]: ",
        "E0102 03:04:05.678901 140 executor.cpp:55] ",
        "time=2026-01-02T03:04:05Z level=ERROR source=server.go:10 msg=",
        "[pod/train-0/main] ",
        "ERROR ",
        "> ",
        "stderr: ",
        "0: ",
    ],
)
def test_prefixes_are_cut(prefix):
    assert "cuda.no_binary_for_gpu" in ids(f"{prefix}{NO_IMAGE}\n{prefix}what now\n")


def test_lines_keep_their_numbers_through_escapes_and_carriage_returns():
    text = 'one\n{"log": "a\\nb\\nc"}\n\r\r\r\n' + NO_IMAGE
    found = next(one for one in read(text).messages if one.id == "cuda.no_binary_for_gpu")
    assert found.line == 4


def test_a_large_text_keeps_its_line_numbers():
    lines = [f"step {at} of a training that goes on and on {at * 7919}" for at in range(60_000)]
    lines[30_000], lines[59_990] = NO_IMAGE, "RuntimeError: CUDA error: out of memory"
    log = read("\n".join(lines))
    found = {one.id: one.line for one in log.messages}
    assert found["cuda.no_binary_for_gpu"] == 30_001
    assert found["cuda.out_of_memory"] == 59_991
    assert log.lines == 60_000


def test_the_same_is_counted():
    log = read(f"{NO_IMAGE}\n" * 5)
    found = next(one for one in log.messages if one.id == "cuda.no_binary_for_gpu")
    assert (found.times, found.line, found.last) == (5, 1, 5)


TRACEBACK = """Traceback (most recent call last):
  File "/home/u/train.py", line 41, in <module>
    main()
  File "/venv/lib/python3.11/site-packages/torch/nn/modules/module.py", line 1736, in _call_impl
    return forward_call(*args)
{raised}
"""


def test_an_exception_ends_a_program():
    ending = read(TRACEBACK.format(raised=NO_IMAGE)).ending
    assert (ending.kind, ending.type, ending.line) == ("exception", "RuntimeError", 6)
    assert [one.owner for one in ending.stack] == ["user", "torch"]
    assert ending.user_frame is not None
    assert ending.user_frame.line == 41
    assert (ending.gpu, ending.own) == (True, False)


def test_an_ending_of_its_own_silences_what_came_before():
    text = "W tensorflow/dso_loader.cc:64] Could not load dynamic library 'libcudart.so.11.0'\n"
    text += 'Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n'
    text += "    x = d['lr']\nKeyError: 'lr'\n"
    log = read(text)
    assert (log.ending.own, log.ending.gpu) == (True, False)
    assert ids(text) == {"ending.own", "python.exception"}


def test_the_first_error_decides():
    text = f"{OOM}\nRuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"
    messages = read(text).messages
    late = next(one for one in messages if one.id.startswith("cublas."))
    assert late.standing is Standing.FOLLOWS
    assert messages[late.explained_by].id == "memory.torch_oom"


def test_chained_exceptions_are_one_ending():
    inner = TRACEBACK.format(raised=NO_IMAGE)
    between = "\nThe above exception was the direct cause of the following exception:\n\n"
    outer = TRACEBACK.format(raised="MyError: training failed")
    ending = read(inner + between + outer).ending
    assert (ending.type, ending.wrappers) == ("RuntimeError", ("MyError",))


def test_what_a_program_works_on_after_is_noted():
    text = f"batch 64: {OOM}; trying 32\n" + "".join(f"step {at} loss 0.{at}\n" for at in range(9))
    assert ids(text) == set()
    assert "memory.torch_oom" in ids(text, Standing.NOTED)


def test_a_source_only_quotes():
    text = "import torch\n\ndef f():\n    if x:\n        raise RuntimeError('CUDA out of memory')\n"
    log = read(text + "    return y\n\ndef g(a):\n    return f()\n" * 3)
    assert log.genre == "source"
    assert not [one for one in log.deciding if one.role == "error"]


@pytest.mark.parametrize(
    ("text", "genre"),
    [
        ("", "empty"),
        ("why does torch not see my GPU?", "question"),
        ("Collecting environment information...\nPyTorch version: 2.1.0\n", "listing"),
        (b"\x7fELF\x02\x01\x01" + b"\0\1" * 3000, "binary"),
        (NO_IMAGE, "output"),
    ],
)
def test_genres(text, genre):
    assert read(text).genre == genre


def test_the_first_rank_that_failed_decides():
    rank = TRACEBACK.replace("\n", "\n[rank1]: ")
    zero = TRACEBACK.replace("\n", "\n[rank0]: ")
    text = "[rank1]: " + rank.format(raised=NO_IMAGE)
    text += "\n[rank0]: " + zero.format(raised="torch.distributed.DistBackendError: NCCL error")
    log = read(text)
    assert log.ending.rank == "1"
    assert [one.value for one in log.case.ranks] == ["1", "0"]


def test_torchrun_names_the_rank_and_the_code():
    text = (
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n"
        "Root Cause (first observed failure):\n[0]:\n  time      : 2026-01-02_03:04:05\n"
        "  rank      : 5 (local_rank: 1)\n  exitcode  : -9 (pid: 4021)\n"
    )
    ending = read(text).ending
    assert (ending.kind, ending.rank, ending.exit_code) == ("exit", "5", -9)


def test_a_known_end_decides():
    assert read("all fine so far", exit_code=0).ending.well
    ending = read(f"x\n{NO_IMAGE}\n", exit_code=134, signal="SIGABRT").ending
    assert (ending.kind, ending.type) == ("signal", "SIGABRT")


def test_wrapped_lines_are_made_whole():
    line = (
        "ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory, "
        "which was needed by the library that the program opened at its start"
    )
    cut = "\n".join(line[at : at + 80] for at in range(0, len(line), 80))
    assert "loader.cannot_open" in ids(f"{cut}\n")


def test_a_stream_is_read_piece_by_piece():
    whole = f"{'x' * 70}\n" * 50_000 + NO_IMAGE
    pieces = [whole[at : at + 4097].encode() for at in range(0, len(whole), 4097)]
    log = read(iter(pieces))
    assert log.lines == 50_001
    assert "cuda.no_binary_for_gpu" in {one.id for one in log.deciding}


OLLAMA = 'time=2026-01-02T03:04:05.678Z level=INFO source=gpu.go:221 msg="looking for GPUs"\n'
JAX = "WARNING:jax._src.xla_bridge:No GPU/TPU found, falling back to CPU.\n"


def test_in_a_block_of_a_known_program_only_its_messages_count():
    assert "jax.falls_back" in ids(JAX)
    log = read(OLLAMA + JAX)
    assert [one.value for one in log.case.programs] == ["ollama"]
    assert not log.has("jax.falls_back")


def test_a_traceback_is_no_message_of_a_server_without_python():
    messages = read(OLLAMA + TRACEBACK.format(raised=NO_IMAGE)).messages
    found = next(one for one in messages if one.id == "cuda.no_binary_for_gpu")
    assert found.program == ""


def test_it_reads_without_the_automaton(monkeypatch):
    monkeypatch.setattr("gpuwhy.log.scan.Literals.fast", False)
    steps = (f"lr={at} throughput={at * 7} samples per second\n" for at in range(2000))
    whole = "".join(steps) + NO_IMAGE
    assert "cuda.no_binary_for_gpu" in ids(whole)
    log = read(f"{whole}\n" * 10)
    assert any("middle was not read" in note for note in log.notes)
    assert "cuda.no_binary_for_gpu" in {one.id for one in log.deciding}
