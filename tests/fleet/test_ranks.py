"""The rank that failed first, from logs as each launcher leaves them."""

import json

import jsonschema
import pytest

from gpuwhy.answer import terminal
from gpuwhy.api.text import answer_of, explain
from gpuwhy.cli.explain import gathered
from gpuwhy.fleet.ranks.decide import decide, document, without_hosts
from gpuwhy.fleet.ranks.gather import Gathered
from tests.fleet.test_cli import gpuwhy
from tests.house.test_house import SRC

CLOSED = "RuntimeError: [/x/gloo/transport/tcp/pair.cc:553] Connection closed by peer [10.0.0.2]:23703"
LATE = "RuntimeError: [/x/gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 6000ms for recv operation to complete"
OWN = "ValueError: bad sample 17"


def log(raised="", steps=4, start=0, line=19, call="dist.all_reduce(t)", done=False):
    rows = [f"2026-11-15 12:00:{start + n:02d},000 INFO step {n} loss 0.{n}" for n in range(steps)]
    if raised:
        frame = f'  File "/job/train.py", line {line}, in <module>\n    {call}'
        rows += ["Traceback (most recent call last):", frame, raised]
    if done:
        rows.append(f"2026-11-15 12:00:{start + steps:02d},500 INFO done")
    return "\n".join(rows) + "\n"


def job(tmp_path, files):
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text) if isinstance(text, bytes) else path.write_text(text)
    return decide(gathered([str(tmp_path)]), answer_of)


def text_of(found, detail=0):
    return terminal.write(document(found, detail))


def first(found):
    return [found.ranks[place].number for place in found.first]


SHAPES = [
    "train_{}.out",
    "1763_rank{}.log",
    "llm-worker-{}.log",
    "slurm-88-{}.out",
    "run/attempt_0/{}/stderr.log",
    "{}.log",
]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_a_rank(tmp_path, shape):
    found = job(tmp_path, {shape.format(n): log(OWN if n == 2 else CLOSED) for n in range(4)})
    assert first(found) == [2]
    assert [rank.ended for rank in found.ranks] == ["waited", "waited", "failed", "waited"]
    assert "3 report its absence" in found.why
    assert found.report is not None


PREFIXES = [
    "[rank{}]: ",
    "[default{}]:",
    "[1,{}]<stderr>:",
    "{}: ",
    "[pod/llm-worker-{}/pytorch] ",
    "(train pid={}, ip=10.0.0.1) ",
]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_one_stream_with_prefixes(tmp_path, prefix):
    rows = [
        (n, rank, prefix.format(rank) + line)
        for rank in range(3)
        for n, line in enumerate(log(OWN if rank == 1 else CLOSED).splitlines())
    ]
    found = job(tmp_path, {"job.log": "\n".join(row for _, _, row in sorted(rows))})
    assert len(found.ranks) == 3
    assert found.ranks[found.first[0]].text == OWN


def test_nodes_and_attempts_with_the_same_local_ranks(tmp_path):
    pairs = [(a, b) for a in (0, 1) for b in (0, 1)]
    logs = {one: log(OWN if one == (1, 0) else CLOSED) for one in pairs}
    nodes = {f"node{a}/r/attempt_0/{b}/stderr.log": text for (a, b), text in logs.items()}
    found = job(tmp_path / "nodes", nodes)
    assert [found.ranks[place].name for place in found.first] == ["node1/r/rank 0"]
    logs[0, 0], logs[1, 0], logs[1, 1] = log(OWN), log(CLOSED), log(OWN)
    attempts = {f"r/attempt_{a}/{b}/stderr.log": text for (a, b), text in logs.items()}
    assert first(job(tmp_path / "attempts", attempts)) == [1], "the last attempt counts"


def test_clocks_are_set_right(tmp_path):
    early = log("KeyError: 'a'", steps=4)
    late = log("KeyError: 'b'", steps=6).replace(" 12:00:", " 11:40:")  # 20 minutes behind
    found = job(tmp_path, {"r_0.out": log(CLOSED, 4), "r_1.out": early, "r_2.out": late})
    assert first(found) == [1]
    assert found.ranks[2].offset == pytest.approx(-1200, abs=1)


def test_an_exception_that_was_only_logged_did_not_end_the_rank(tmp_path):
    frame = "  File \"/job/train.py\", line 3, in cache\n    raise RuntimeError('no cache')\n"
    logged = f"2026-11-15 11:59:00,000 ERROR cache\nTraceback (most recent call last):\n{frame}"
    logged += "RuntimeError: no cache\n\n" + log(CLOSED)
    assert first(job(tmp_path, {"r_0.out": logged, "r_1.out": log(OWN)})) == [1]


LISTEN = "torch.distributed.DistNetworkError: The server socket has failed to listen: EADDRINUSE"
BROADCAST = log(LATE, line=25, call="dist.broadcast(t, 0)")
QUIET = {
    "silent": ([log(CLOSED), log(), log(CLOSED)], [1], "killed, or left"),
    "hangs": ([log(LATE), log(), log(LATE)], [1], "it hangs"),
    "ends early": ([log(CLOSED), log(CLOSED), log(done=True)], [2], "ended well"),
    "another way": ([log(LATE), BROADCAST, log(LATE)], [1], "dist.broadcast"),
    "late comer": ([log(LATE), log(LATE), log(CLOSED)], [2], "after they had gone"),
    "a port of its own": ([log(LISTEN), log(LATE), log(LATE)], [0], "only rank"),
    "nobody": ([log(done=True), log(done=True)], [], ""),
    "all alike": ([log(OWN), log(OWN)], [0, 1], "same way"),
}


@pytest.mark.parametrize("logs, wanted, why", QUIET.values(), ids=QUIET)
def test_ranks_without_a_reason_of_their_own(tmp_path, logs, wanted, why):
    found = job(tmp_path, {f"r_{n}.out": text for n, text in enumerate(logs)})
    assert first(found) == wanted
    assert why in found.why


TORCHRUN = """
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-11-15_12:00:09
  host      : gpu03
  rank      : 0 (local_rank: 0)
  exitcode  : -15 (pid: 11)
  error_file: <N/A>
Root Cause (first observed failure):
[0]:
  time      : 2026-11-15_12:00:08
  host      : gpu04
  rank      : 1 (local_rank: 1)
  exitcode  : -9 (pid: 12)
  error_file: <N/A>
"""


def test_torchruns_summary_names_who_was_killed(tmp_path):
    found = job(tmp_path, {"job.log": TORCHRUN})
    assert first(found) == [1]
    assert found.ranks[1].host == "gpu04"
    assert "SIGKILL" in found.ranks[1].text
    assert [rank.host for rank in without_hosts(found).ranks][:2] == ["node-1", "node-2"]


def test_sruns_words(tmp_path):
    words = "srun: error: gpu07: task 2: Out Of Memory\nsrun: error: gpu01: tasks 0-1: Terminated\n"
    logs = {f"job_{n}.out": log(CLOSED if n < 2 else "") for n in range(3)}
    assert first(job(tmp_path, {"slurm.out": words, **logs})) == [2]


def test_the_debug_mode_of_pytorch(tmp_path):
    ran = "CollectiveFingerPrint(SequenceNumber=3, OpType=ALLREDUCE, TensorShape="
    said = "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: "
    said += f"{ran}[4]), but Rank 2 is running collective: {ran}[9])."
    other = said.replace("Rank 2 is", "Rank 1 is").replace("[9]", "[4]")
    found = job(tmp_path, {"r_0.out": log(said), "r_1.out": log(other), "r_2.out": log(CLOSED)})
    assert first(found) == [2]


def watchdog(rank, number, operation="ALLREDUCE", elements=4096, begun=None):
    work = f"SeqNum={number}, OpType={operation}, NumelIn={elements}, Timeout(ms)=600000"
    status = f"last enqueued work: {begun or number}, last completed work: {number - 1}"
    return (
        f"[rank{rank}]:[E1115 12:10:00.123456 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog "
        f"caught collective operation timeout: WorkNCCL({work}) ran for 600012 milliseconds\n"
        f"[rank{rank}]:[E1115 12:10:00.123999 ProcessGroupNCCL.cpp:2268] [PG ID 0 Rank {rank}] "
        f"failure detected by watchdog at work sequence id: {number} PG status: {status}\n"
    )


SAME = [watchdog(rank, 12) for rank in range(3)]
WATCHED = {
    "behind": ([watchdog(0, 12, begun=14), watchdog(1, 11), watchdog(2, 12, begun=14)], [1]),
    "another one": ([*SAME[:2], watchdog(2, 12, "BROADCAST")], [2]),
    "another size": ([watchdog(0, 12, elements=8), *SAME[1:]], [0]),
    "the silent one": ([SAME[0], "", SAME[2]], [1]),
    "all alike": (SAME, []),
}


@pytest.mark.parametrize("logs, wanted", WATCHED.values(), ids=WATCHED)
def test_the_watchdog_of_nccl(tmp_path, logs, wanted):
    logs = {f"r_{n}.out": log() + text for n, text in enumerate(logs)}
    assert first(job(tmp_path, logs)) == wanted


def test_xids_with_their_node(tmp_path):
    kern = "Nov 15 12:00:07 gpu03 kernel: [123.4] NVRM: Xid (PCI:0000:3b:00): 79, pid=7, GPU has fallen off the bus.\n"
    found = job(tmp_path, {"kern.log": kern, "r_0.out": log(CLOSED), "r_1.out": log()})
    assert [(one.number, one.host, one.pci) for one in found.xids] == [(79, "gpu03", "0000:3b:00")]
    assert "gpu03" in text_of(found)


def test_stragglers_and_missing_logs(tmp_path):
    logs = {f"r_{n}.out": log(LATE, steps=6) for n in (0, 1, 3)}
    logs |= {"r_0.out": "world size 5\n" + logs["r_0.out"], "r_2.out": log("", steps=3)}
    found = job(tmp_path, logs)
    assert [found.ranks[place].number for place in found.behind] == [2]
    assert found.absent == (4,)


def test_rubbish_is_no_crash(tmp_path):
    endless = b"\x1b[2J" + b"x" * 3_000_000
    files = {"a": b"\xff\xfe\x00" * 500, "b_1.log": b"", "r_2.out": endless, "e/error.json": b"{}"}
    assert text_of(job(tmp_path, files))


def test_the_command_and_its_contract(tmp_path):
    for n in range(3):
        (tmp_path / f"r_{n}.out").write_text(log(OWN if n == 1 else CLOSED))
    code, out, err = gpuwhy("explain", "--ranks", str(tmp_path))
    assert code == 1, err
    assert out.startswith("✗ rank 1 failed first: ValueError: bad sample 17")
    files = [str(tmp_path / f"r_{n}.out") for n in range(3)]
    value = json.loads(gpuwhy("explain", "--json", "--ranks", *files)[1])
    schema = json.loads((SRC.parent.parent / "docs" / "ranks.schema.json").read_text())
    jsonschema.validate(value, schema)
    assert set(schema["properties"]) == set(value)
    assert value["first"] == ["rank 1"]
    assert gpuwhy("explain", "--ranks", str(tmp_path / "not-there"))[0] == 2


def decided(lines):
    gathered = Gathered(2026)
    gathered.file("job.log", -1, lines)
    return decide(gathered, answer_of)


def test_a_log_that_names_no_rank_is_read_as_one_process_and_never_ticked():
    job = decided(log("KeyError: 'x'").splitlines())
    assert [rank.ended for rank in job.ranks] == ["failed"]
    assert "no rank is named" in job.notes[0]


def test_no_line_of_a_long_stream_is_lost():
    quiet = [f"[rank{n % 2}]: step {n}" for n in range(200)]
    job = decided([*quiet, f"[rank1]: {OWN}", *(one.replace("[rank1]", "[rank0]") for one in quiet)])
    assert [job.ranks[place].text for place in job.first] == [OWN]


def test_explain_without_ranks_names_the_one_that_the_launcher_saw_fail_first():
    headline = explain(TORCHRUN).headline
    assert headline.startswith("Rank 1 failed first: "), headline
    one = explain("[rank0]: Traceback (most recent call last):\n[rank0]: KeyError: 'lr'\n").headline
    assert "first" not in one
