"""Eighth operators, who takes part: ranks that die, ports that are taken, launchers, collectives used wrongly."""

from __future__ import annotations

from lab.random.eighth import HOST, NCCL, ORD, OT, PATH, PEER, SEL, SET, SHA, Case, J, T, enter

DIST = "import datetime, os, signal, sys, time\nimport torch.distributed as dist\n" + T
TWO = (
    DIST
    + "rank = int(os.environ['RANK'])\nx = torch.ones(4, device='@D@').cpu()\ndist.init_process_group('gloo', timeout=datetime.timedelta(seconds=15))\nprint(f'rank {rank} joined', flush=True)\n@BODY@for i in range(3):\n    dist.all_reduce(x)\n    time.sleep(0.2)\nprint(f'rank {rank} done', flush=True)\n"
)
LAUNCH = "$PYTHON -m torch.distributed.run --standalone --nproc_per_node 2 $SCRIPT"


def ranks(target: str, cause: str, also: tuple[str, ...], body: str, expect: str = "") -> Case:
    """Two ranks under torchrun, one of which does something else."""
    return Case("torch-nccl", target, cause, also, code=TWO.replace("@BODY@", body), command=LAUNCH, expect=expect)


enter(
    "rank-ends",
    ranks("killed from outside", PEER, (HOST, OT), "if rank == 1:\n    os.kill(os.getpid(), signal.SIGKILL)\n", "SIGKILL|-9|peer"),
    ranks("leaves without a word", PEER, (OT,), "if rank == 1:\n    os._exit(17)\n", "17|peer"),
    ranks("has no data", OT, (PEER,), "if rank == 1:\n    raise FileNotFoundError(2, 'No such file or directory', 'shards/rank1.parquet')\n", "rank1.parquet"),
    ranks("has other shapes", SHA, (PEER,), "if rank == 1:\n    torch.ones(3, 4, device='@D@') @ torch.ones(5, 2, device='@D@')\n", "mat1|shapes"),
    ranks("takes a card of its own", SEL, (PEER,), "if '@D@' == 'cuda':\n    torch.cuda.set_device(rank)\n", "ordinal|device"),
    ranks("says good-bye early", PEER, (ORD, OT), "if rank == 1:\n    dist.destroy_process_group()\n    print('rank 1 leaves', flush=True)\n    sys.exit(0)\n", "peer|rank"),
    ranks("crashes in a decoder", OT, (PEER, "program.illegal_access"), "if rank == 1:\n    import ctypes\n    ctypes.string_at(16)\n", "SIGSEGV|-11|peer"),
)  # fmt: skip
ENV = "os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='@O@', RANK='0', WORLD_SIZE='1')\n"
enter(
    "meeting-place",
    Case("torch-nccl", "port is taken", PEER, (), code="import socket\ns = socket.socket()\ns.bind(('0.0.0.0', @O@))\ns.listen()\n" + DIST + ENV + "dist.init_process_group('gloo', timeout=datetime.timedelta(seconds=8))\n", expect="ddress already|EADDRINUSE|listen"),
    Case("torch-nccl", "name of the master is unknown", PEER, (SET,), code=DIST + ENV + "os.environ.update(MASTER_ADDR='trainer-0.gpu.invalid', RANK='1', WORLD_SIZE='2')\ndist.init_process_group('gloo', timeout=datetime.timedelta(seconds=8))\n", expect="invalid|resolve|timed out|known"),
    Case("torch-nccl", "port is none", SET, (PEER, OT), code=DIST + ENV + "os.environ['MASTER_PORT'] = '99999'\ndist.init_process_group('gloo', timeout=datetime.timedelta(seconds=8))\n", expect="(?i)port|99999|65535"),
    Case("torch-nccl", "rank above the world", SET, (PEER, OT), code=DIST + ENV + "os.environ['RANK'] = '4'\ndist.init_process_group('gloo', timeout=datetime.timedelta(seconds=8))\n", expect="rank|Rank|timed out"),
    Case("jax", "coordinator's port is taken", PEER, (), code="import socket\ns = socket.socket()\ns.bind(('127.0.0.1', @O@))\ns.listen()\n" + J + "jax.distributed.initialize('127.0.0.1:@O@', 1, 0, initialization_timeout=8)\nprint(jax.process_index())\n"),
    Case("jax", "number of this process is above the count", SET, (PEER, OT), code=J + "jax.distributed.initialize('127.0.0.1:@O@', 2, 5, initialization_timeout=6)\n", expect="(?i)process|task|timed|deadline"),
)  # fmt: skip
ONE = (
    DIST
    + ENV
    + "dist.init_process_group('nccl', timeout=datetime.timedelta(seconds=12))\ntorch.cuda.set_device(0)\nx = torch.ones(4, device='cuda')\ndist.all_reduce(x)\nprint('first reduce', x.tolist(), flush=True)\n"
)
enter(
    "collectives-wrong",
    Case("torch-nccl", "tensor of the host", SHA, (NCCL, SEL, ORD), code=ONE + "dist.all_reduce(torch.ones(4))\n", expect="cpu|CPU|device"),
    Case("torch-nccl", "type that NCCL has not", SHA, (NCCL,), code=ONE + "dist.all_reduce(torch.ones(4, device='cuda', dtype=torch.int16))\n", expect="(?i)type|Short"),
    Case("torch-nccl", "tensor not in one piece", SHA, (NCCL, OT), code=ONE + "dist.all_reduce(torch.ones(8, 8, device='cuda')[:, ::2])\n", expect="(?i)contiguous|dense"),
    Case("torch-nccl", "from a rank that is not in it", OT, (SHA, NCCL, PEER, SEL, SET), code=ONE + "dist.broadcast(x, src=3)\n", expect="(?i)rank"),
    Case("torch-nccl", "list of another length", SHA, (NCCL, OT), code=ONE + "dist.all_gather([torch.empty(4, device='cuda') for _ in range(3)], x)\n", expect="(?i)invalid|size|tensor"),
    Case("torch-nccl", "after the group was taken down", ORD, (NCCL, PEER), code=ONE + "dist.destroy_process_group()\ndist.barrier()\n", expect="initialized"),
    Case("torch-nccl", "part of 12 by 5", SHA, (NCCL, OT), code=ONE + "dist.reduce_scatter_tensor(torch.empty(5, device='cuda'), torch.ones(12, device='cuda'))\n", expect="size|must"),
)  # fmt: skip
enter(
    "launcher-told-wrong",
    Case("torch-nccl", "a word for the number of ranks", OT, (SET, SEL), command="$PYTHON -m torch.distributed.run --standalone --nproc_per_node gpus $SCRIPT", expect="nproc"),
    Case("torch-nccl", "a script that is not there", OT, (PATH, PEER), command="$PYTHON -m torch.distributed.run --standalone --nproc_per_node 1 $W/d/train_gpu.py", expect="train_gpu"),
    Case("torch-matmul", "an option that the script does not know", OT, (PEER,), code="import argparse\np = argparse.ArgumentParser()\np.add_argument('--epochs', type=int)\na = p.parse_args()\n" + T + "print(torch.ones(2, device='@D@'))\n", command="$PYTHON -m torch.distributed.run --standalone --nproc_per_node 1 $SCRIPT --local-rank=0 --gpu 1", expect="unrecognized"),
    Case("torch-nccl", "an end point that nobody resolves", PEER, (SET,), command="$PYTHON -m torch.distributed.run --nnodes 2 --nproc_per_node 1 --rdzv_backend c10d --rdzv_conf timeout=6,join_timeout=6,read_timeout=6 --rdzv_endpoint head.cluster.invalid:29400 $SCRIPT", expect="(?i)rendezvous|rdzv|resolve|connect"),
    Case("torch-nccl", "second node never comes", PEER, (SET,), command="$PYTHON -m torch.distributed.run --nnodes 2 --nproc_per_node 1 --rdzv_backend c10d --rdzv_conf timeout=8,join_timeout=8,last_call_timeout=2 --rdzv_endpoint 127.0.0.1:@O@ $SCRIPT", expect="(?i)rendezvous|rdzv|timed?"),
    Case("torch-matmul", "workers fail at once, twice restarted", SHA, (PEER, OT), code=T + "a = torch.ones(2, 3, device='@D@')\nprint(a @ a)\n", command="$PYTHON -m torch.distributed.run --standalone --max_restarts 2 --nproc_per_node 2 $SCRIPT", expect="mat1"),
)  # fmt: skip
