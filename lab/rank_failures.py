"""Provoked failures of several processes: real torch, gloo and torchrun on a machine without a GPU; the truth is known.

    python lab/rank_failures.py PYTHON OUT [NAME …]

PYTHON has torch; OUT gets a folder a case with the logs as a user would have them, and truth.jsonl: which rank failed
first, by construction. `python lab/rank_score.py OUT` scores `gpuwhy explain --ranks` on them.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

WORLD = 3
PROGRAM = """
import datetime, logging, os, signal, sys, time
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
victim, skew = int(os.environ["VICTIM"]), float(os.environ.get("SKEW%d" % rank, "0"))
class Shifted(logging.Formatter):
    def formatTime(self, record, datefmt=None):
        moment = datetime.datetime.fromtimestamp(record.created + skew)
        return moment.strftime("%Y-%m-%d %H:%M:%S,") + "%03d" % (moment.microsecond // 1000)
handler = logging.StreamHandler(sys.stderr)
handler.setFormatter(Shifted("%(asctime)s %(levelname)s %(message)s"))
logging.getLogger().handlers[:] = [handler]
logging.getLogger().setLevel(logging.INFO)
log = logging.getLogger("train")
step = -1
def before(): pass
def at(step): pass
def collective(step):
    t = torch.ones(4) * step
    dist.all_reduce(t)
    return t
BACKEND, STEPS, LIMIT, PAUSE = "gloo", 6, 6, 0.2
{fault}
before()
import torch
import torch.distributed as dist
log.info("starting, world size %d", world)
dist.init_process_group(BACKEND, timeout=datetime.timedelta(seconds=LIMIT))
log.info("process group is up")
for step in range(STEPS):
    if rank == victim:
        at(step)
    value = collective(step)
    log.info("step %d loss %.3f", step, 2.0 / (step + 1))
    time.sleep(PAUSE)
dist.destroy_process_group()
log.info("done")
"""


class Case(NamedTuple):
    """One failure: what is done to which rank, how the logs look, and what is true."""

    name: str
    victim: int
    fault: str
    layout: str
    kind: str = "own"  # own | killed | hang | early | mismatch | all | none
    cause: str = ""
    environ: dict[str, str] = {}  # noqa: RUF012
    also: tuple[int, ...] = ()  # ranks that are as right


def at(body: str, step: int = 3) -> str:
    """A fault of the victim at a step."""
    rows = "\n".join(f"        {row}" for row in body.splitlines())
    return f"def at(step):\n    if step == {step}:\n{rows}\n"


def before(body: str) -> str:
    """A fault of the victim before the group is made."""
    rows = "\n".join(f"        {row}" for row in body.splitlines())
    return f"def before():\n    if rank == victim:\n{rows}\n"


def otherwise(body: str, step: int = 3) -> str:
    """A collective that the victim does in another way."""
    rows = "\n".join(f"        {row}" for row in body.splitlines())
    return (
        "def collective(step):\n    t = torch.ones(4) * step\n"
        f"    if rank == victim and step == {step}:\n{rows}\n    dist.all_reduce(t)\n    return t\n"
    )


CASES = (
    Case("value_error", 1, at("raise ValueError('bad sample 17')"), "logdir", "own", "other.not_gpu"),
    Case("key_error", 2, at("{}['weights']"), "plain", "own", "other.not_gpu"),
    Case("file_missing", 0, at("open('/data/train/shard-0007.tar')"), "slurm", "own", "other.not_gpu"),
    Case("sigkill", 1, at("os.kill(os.getpid(), signal.SIGKILL)"), "plain", "killed"),
    Case("sigkill_files", 2, at("os.kill(os.getpid(), signal.SIGKILL)"), "slurm", "killed"),
    Case("sigsegv", 2, at("os.kill(os.getpid(), signal.SIGSEGV)"), "logdir", "killed"),
    Case("abort", 0, at("os.abort()"), "teed", "killed"),
    Case("exit_3", 1, at("os._exit(3)"), "deepspeed", "killed"),
    Case("memory", 2, at("import resource\nresource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\ntorch.ones(1 << 32)"), "k8s", "own", "memory.host"),
    Case("hang", 1, at("time.sleep(40)"), "slurm", "hang"),
    Case("hang_rank0", 0, at("time.sleep(40)"), "deepspeed", "hang"),
    Case("hang_torchrun", 2, at("time.sleep(40)"), "logdir", "hang"),
    Case("shape", 2, otherwise("t = torch.ones(9)"), "slurm", "mismatch"),
    Case("order", 1, otherwise("dist.broadcast(t, 0)\nreturn t"), "k8s", "mismatch"),
    Case("skipped", 2, otherwise("return t"), "deepspeed", "mismatch"),
    Case("never_joins", 1, before("time.sleep(60)"), "slurm", "hang"),
    Case("late_import", 1, before("import flash_attn_not_here"), "logdir", "own"),
    Case("nan", 1, at("assert False, 'loss is nan at step 3'"), "srun", "own", "other.not_gpu"),
    Case("cuda_call", 2, at("torch.ones(1).cuda()"), "mpi", "own", "framework.cpu_only"),
    Case("disk_full", 0, at("f = open('/dev/full', 'w')\nf.write('x' * 100000)\nf.close()"), "ray", "own"),
    Case("open_files", 2, at("import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (30, 30))\nkept = [open('/dev/null') for _ in range(60)]"), "pods", "own", "env.limit"),
    Case("clock_ahead", 1, at("raise ValueError('bad sample 17')"), "slurm", "own", "", {"SKEW1": "300"}),
    Case("clock_behind_other", 2, at("raise RuntimeError('corrupt record in shard 4')"), "k8s", "own", "", {"SKEW0": "-600"}),
    Case("clock_all", 0, at("raise IndexError('list index out of range')"), "deepspeed", "own", "", {"SKEW0": "90", "SKEW1": "-45"}),
    Case("slow", 2, "PAUSE = 0.1\ndef at(step):\n    time.sleep(min(1.5 * step, 9))\n", "slurm", "hang"),
    Case("port_taken", 0, before("import socket\ns = socket.socket(socket.AF_INET6)\ns.bind(('', int(os.environ['MASTER_PORT'])))\ns.listen()\nglobals()['kept'] = s"), "slurm", "own"),
    Case("world_size", 1, "if rank == victim:\n    os.environ['WORLD_SIZE'] = '4'\n", "slurm", "hang", "", {}, (0, 2)),
    Case("red_herring", 1, "def at(step):\n    if step == 3:\n        raise OSError(5, 'Input/output error')\ndef before():\n    if rank == 0:\n        try:\n            raise RuntimeError('no cache, making one')\n        except RuntimeError:\n            log.exception('cache')\n", "slurm", "own"),
    Case("noisy_rank0", 2, "def before():\n    if rank == 0:\n        log.error('could not open tensorboard, going on without')\n        log.warning('Error: something that does not matter')\ndef at(step):\n    if step == 4:\n        raise ZeroDivisionError('division by zero')\n", "teed", "own", "other.not_gpu"),
    Case("two_fail", 1, "def collective(step):\n    if rank == 2 and step == 3:\n        time.sleep(1.5)\n        raise KeyError('second')\n    t = torch.ones(4)\n    dist.all_reduce(t)\n    return t\ndef at(step):\n    if step == 3:\n        raise KeyError('first')\n", "slurm", "own", "other.not_gpu"),
    Case("sigbus", 1, at("os.kill(os.getpid(), signal.SIGBUS)"), "teed", "killed"),
    Case("no_nccl", 0, "BACKEND = 'nccl'\n", "logdir", "all", "", {}, (0, 1, 2)),
    Case("ends_early", 1, at("log.info('max steps reached')\nsys.exit(0)"), "slurm", "early"),
    Case("matmul", 2, at("torch.ones(3, 4) @ torch.ones(5, 6)"), "logdir", "own", "program.shape"),
    Case("dataloader", 0, "class Set:\n    def __len__(self): return 8\n    def __getitem__(self, n): os.kill(os.getpid(), signal.SIGKILL)\n" + at("list(torch.utils.data.DataLoader(Set(), num_workers=1))"), "mpi", "own"),
    Case("finished", -1, "", "slurm", "none"),
    Case("finished_torchrun", -1, "", "logdir", "none"),
)  # fmt: skip


RECORDED = """
import atexit, threading
def keep():
    import torch._C._distributed_c10d as c10d
    with open(os.environ["DUMPS"] + "/nccl_trace_rank_%d" % rank, "wb") as file:
        file.write(c10d._dump_fr_trace())
threading.Timer(float(os.environ.get("KEEP", "14")), keep).start()
"""
"""The flight recorder of PyTorch, whose dumps NCCL's watchdog would write."""

SECOND = (
    Case("b_import_error", 2, at("import tensorflow_not_here"), "k8s"),
    Case("b_assert", 0, at("assert torch.ones(2).sum() == 3, 'checksum of shard 9'"), "plain"),
    Case("b_sigkill", 0, at("os.kill(os.getpid(), signal.SIGKILL)"), "deepspeed", "killed"),
    Case("b_segv", 1, at("os.kill(os.getpid(), signal.SIGSEGV)"), "teed", "killed"),
    Case("b_hang", 2, at("time.sleep(30)"), "k8s", "hang"),
    Case("b_hang_torchrun", 1, at("time.sleep(30)"), "teed", "hang"),
    Case(
        "b_order",
        0,
        otherwise("dist.all_gather([torch.ones(4) for _ in range(world)], t)\nreturn t"),
        "slurm",
        "mismatch",
    ),
    Case("b_barrier", 2, otherwise("dist.barrier()\nreturn t"), "deepspeed", "mismatch"),
    Case("b_late", 2, before("time.sleep(45)"), "deepspeed", "hang"),
    Case(
        "b_logged",
        2,
        "def before():\n    if rank == 1:\n        try:\n            int('x')\n        except ValueError:\n            log.exception('ignored')\ndef at(step):\n    if step == 4:\n        raise TimeoutError('storage did not answer')\n",
        "slurm",
    ),
    Case(
        "b_clock",
        0,
        at("raise PermissionError(13, 'Permission denied')"),
        "k8s",
        "own",
        "",
        {"SKEW0": "120", "SKEW2": "-30"},
    ),
    Case(
        "b_two",
        2,
        "def collective(step):\n    if rank == 0 and step == 3:\n        time.sleep(2)\n        raise KeyError('second')\n    t = torch.ones(4)\n    dist.all_reduce(t)\n    return t\ndef at(step):\n    if step == 3:\n        raise KeyError('first')\n",
        "k8s",
    ),
    Case("b_exit", 0, at("sys.exit('bad config: no such model')"), "srun"),
    Case("b_detail", 1, otherwise("t = torch.ones(6)"), "slurm", "mismatch", "", {"TORCH_DISTRIBUTED_DEBUG": "DETAIL"}),
    Case(
        "b_fr_shape", 1, RECORDED + otherwise("t = torch.ones(9)\ntime.sleep(0)"), "slurm", "mismatch", "", {"FR": "1"}
    ),
    Case("b_fr_order", 2, RECORDED + otherwise("dist.broadcast(t, 0)\nreturn t"), "k8s", "mismatch", "", {"FR": "1"}),
    Case("b_fr_missing", 0, RECORDED + at("time.sleep(25)"), "slurm", "hang", "", {"FR": "1"}),
    Case("b_fr_type", 1, RECORDED + otherwise("t = t.int()"), "deepspeed", "mismatch", "", {"FR": "1"}),
)
"""Made after the first set was scored, and scored once before anything was mended by them."""


def main(python: str, out: str, names: list[str]) -> None:
    """Run the cases one after another."""
    for case in (*CASES, *SECOND):
        folder = Path(out) / case.name
        if (names and case.name not in names) or (folder / "truth.json").exists():
            continue
        folder.mkdir(parents=True, exist_ok=True)
        program = folder.parent / f"{case.name}.py"
        program.write_text(PROGRAM.replace("{fault}", case.fault))
        started = time.time()
        environ = {
            **os.environ,
            "VICTIM": str(case.victim),
            "OMP_NUM_THREADS": "1",
            "PYTHONUNBUFFERED": "1",
            **case.environ,
        }
        (folder / "logs").mkdir(exist_ok=True)
        if case.environ.get("FR"):
            environ.update(TORCH_FR_BUFFER_SIZE="2000", DUMPS=str(folder / "logs"), KEEP="13")
        if case.layout in ("logdir", "plain", "teed"):
            torchrun(python, program, folder / "logs", case.layout, environ)
        else:
            by_hand(python, program, folder / "logs", case.layout, environ)
        truth = {"name": case.name, "first": case.victim, "kind": case.kind, "cause": case.cause, "also": case.also}
        (folder / "truth.json").write_text(json.dumps({**truth, "layout": case.layout}))
        print(case.name, case.layout, f"{time.time() - started:.0f} s", flush=True)


def torchrun(python: str, program: Path, logs: Path, layout: str, environ: dict[str, str]) -> None:
    """With torchrun: a folder of logs, one stream, or one stream with prefixes."""
    logs.mkdir(exist_ok=True)
    more = {"logdir": ["--log-dir", str(logs), "--redirects", "3"], "plain": [], "teed": ["--tee", "3"]}[layout]
    argv = [
        python,
        "-m",
        "torch.distributed.run",
        "--nproc-per-node",
        str(WORLD),
        "--master-port",
        str(port()),
        *more,
        str(program),
    ]
    with (logs / ("torchrun.log" if layout == "logdir" else "job.log")).open("wb") as file:
        end(subprocess.Popen(argv, stdout=file, stderr=subprocess.STDOUT, env=environ, start_new_session=True), 90)


def by_hand(python: str, program: Path, logs: Path, layout: str, environ: dict[str, str]) -> None:
    """As a scheduler starts the ranks: a file a rank, or one stream with a prefix."""
    logs.mkdir(exist_ok=True)
    taken = str(port())
    children = []
    for rank in range(WORLD):
        mine = {
            **environ,
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(WORLD),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": taken,
        }
        file = (logs / f".{rank}").open("wb")
        children.append(
            subprocess.Popen(
                [python, str(program)], stdout=file, stderr=subprocess.STDOUT, env=mine, start_new_session=True
            )
        )
    until = time.monotonic() + 75
    for child in children:
        end(child, max(1.0, until - time.monotonic()))
    arrange(logs, layout)


def arrange(logs: Path, layout: str) -> None:
    """The files under the names, or in the one stream, that users of each launcher have."""
    files = {rank: logs / f".{rank}" for rank in range(WORLD)}
    names = {"slurm": "train-8841_{}.out", "deepspeed": "1763200000_rank{}.log", "k8s": "llm-worker-{}.log"}
    prefixes = {
        "srun": "{}: ",
        "mpi": "[1,{}]<stderr>:",
        "ray": "(train pid=4{}7, ip=10.0.0.{}) ",
        "pods": "[pod/llm-worker-{}/pytorch] ",
    }
    if layout in names:
        for rank, file in files.items():
            file.rename(logs / names[layout].format(rank))
        return
    rows = []
    for rank, file in files.items():
        for number, line in enumerate(file.read_text(errors="replace").splitlines()):
            rows.append((number, rank, prefixes[layout].format(rank, rank) + line))
        file.unlink()
    (logs / "job.log").write_text("\n".join(row for _, _, row in sorted(rows)) + "\n")


def end(child: subprocess.Popen[bytes], seconds: float) -> None:
    """Wait; a group that outlasts its time goes."""
    try:
        child.wait(seconds)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def port() -> int:
    """A free one."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
