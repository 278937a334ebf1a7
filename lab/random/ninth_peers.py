"""Ninth operators, groups: back ends by word, meshes and shards, ranks that the program starts itself, objects that are sent."""

from __future__ import annotations

from lab.random.ninth import CPU, NCCL, ORD, OT, PEER, SEL, SET, SHA, UNSUP, Case, T, enter

BEGIN = (
    "import datetime, os\nimport torch.distributed as dist\n"
    + T
    + "os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='@O@', RANK='0', WORLD_SIZE='1')\nx = torch.ones(4, device='@D@')\nprint('device', x.device, flush=True)\nsoon = datetime.timedelta(seconds=8)\n"
)


def group(target: str, cause: str, also: tuple[str, ...], body: str, expect: str) -> Case:
    """A program that makes or uses a group of one."""
    return Case("torch-nccl", target, cause, also, code=f"{BEGIN}{body}\n", expect=expect)


WORD = (SET, NCCL, SEL, CPU, SHA, ORD, UNSUP, "framework.platform_dropped")
enter(
    "backends-by-word",
    group("one that is not built in", OT, WORD, "dist.init_process_group('mpi', timeout=soon)", "(?i)mpi"),
    group("misspelt", OT, WORD, "dist.init_process_group('ncll', timeout=soon)", "(?i)ncll|backend"),
    group("of another maker", OT, WORD, "dist.init_process_group('rccl', timeout=soon)", "(?i)rccl|backend"),
    group("by device, one unknown", OT, WORD, "dist.init_process_group('cpu:gloo,cuda:pigeon', timeout=soon)\ndist.all_reduce(x)", "(?i)pigeon|backend"),
    group("address without a scheme", SET, (OT, PEER, NCCL), "dist.init_process_group('gloo', init_method='127.0.0.1:@O@', rank=0, world_size=1, timeout=soon)", "(?i)rendezvous|method|scheme|handler|url|init"),
    group("scheme nobody knows", SET, (OT, PEER, NCCL), "dist.init_process_group('gloo', init_method='zk://master:2181/job', rank=0, world_size=1, timeout=soon)", "(?i)zk|rendezvous|handler"),
    group("store and address at once", OT, (SET, ORD, SHA, PEER), "s = dist.HashStore()\ndist.init_process_group('gloo', init_method='env://', store=s, rank=0, world_size=1)", "(?i)store|init_method"),
    group("time in seconds as a number", OT, (SET, SHA), "dist.init_process_group('gloo', timeout=30)", "(?i)timeout|timedelta"),
)  # fmt: skip
ONE = "dist.init_process_group('gloo', timeout=soon)\nx = x.cpu()\n"
MESH = (
    ONE
    + "from torch.distributed.device_mesh import init_device_mesh\nfrom torch.distributed.tensor import Replicate, Shard, distribute_tensor\n"
)
enter(
    "meshes",
    group("of two where there is one", SEL, (SHA, SET, OT, PEER, NCCL), MESH + "print(init_device_mesh('cpu', (2,)))", "(?i)mesh|world|size"),
    group("more names than axes", OT, (SHA, SET), MESH + "print(init_device_mesh('cpu', (1,), mesh_dim_names=('a', 'b')))", "(?i)mesh_dim_names|length"),
    group("axis that is not there", OT, (SHA, SEL, SET), MESH + "m = init_device_mesh('cpu', (1,), mesh_dim_names=('dp',))\nprint(m['tp'])", "(?i)tp|dim"),
    group("cut along an axis too many", SHA, (OT, "program.index"), MESH + "m = init_device_mesh('cpu', (1,))\nprint(distribute_tensor(torch.ones(4), m, [Shard(3)]))", "(?i)dim|Shard|index|range"),
    group("two ways for one axis", SHA, (OT,), MESH + "m = init_device_mesh('cpu', (1,))\nprint(distribute_tensor(torch.ones(4), m, [Shard(0), Replicate()]))", "(?i)placement|length|mesh"),
    group("shards added to plain numbers", SHA, (OT, ORD), MESH + "m = init_device_mesh('cpu', (1,))\nprint(distribute_tensor(torch.ones(4), m, [Shard(0)]) + torch.ones(4))", "(?i)mixed|DTensor"),
    group("model put on the fourth card", SEL, (SHA, OT, ORD), ONE + "m = torch.nn.Linear(2, 2).to('@D@')\nif '@D@' == 'cuda':\n    torch.nn.parallel.DistributedDataParallel(m, device_ids=[3])\nelse:\n    raise RuntimeError('invalid device ordinal')", "(?i)device|ordinal"),
    group("model of cards, ids for the host", SEL, (SHA, OT, ORD), ONE + "m = torch.nn.Linear(2, 2)\ntorch.nn.parallel.DistributedDataParallel(m, device_ids=[0])", "(?i)device"),
)  # fmt: skip
SPAWN = "import datetime, os, sys, time\nimport torch, torch.distributed as dist, torch.multiprocessing as mp\ndef work(rank):\n    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='@O@', RANK=str(rank), WORLD_SIZE='2')\n    dist.init_process_group('@B@', timeout=datetime.timedelta(seconds=6))\n    x = torch.ones(4, device='@D@')@C@\n@BODY@    print(rank, 'done', flush=True)\nif __name__ == '__main__':\n    mp.spawn(work, nprocs=2)\n"


def two(target: str, cause: str, also: tuple[str, ...], body: str, expect: str, nccl: bool = False) -> Case:
    """Two ranks that the program starts itself."""
    code = SPAWN.replace("@B@", "nccl" if nccl else "gloo").replace("@C@", "" if nccl else ".cpu()")
    code = code.replace("'@D@'", "'cuda'") if nccl else code
    return Case(
        "torch-nccl", target, cause, also, code=code.replace("@BODY@", body), expect=expect, seconds=40, dress="shell"
    )


enter(
    "ranks-by-itself",
    two("both on one card", NCCL, (SEL, ORD, SET), "    dist.all_reduce(x)\n    torch.cuda.synchronize()\n", "(?i)NCCL|Duplicate", True),
    two("one raises", OT, (PEER,), "    if rank == 1:\n        raise KeyError('shard_1')\n    dist.all_reduce(x)\n", "(?i)shard_1|peer|closed"),
    two("one exits early", PEER, (OT,), "    if rank == 1:\n        sys.exit(9)\n    dist.all_reduce(x)\n", "(?i)exit|terminated|closed|peer"),
    two("unlike sizes", SHA, (PEER, NCCL, ORD), "    dist.all_gather([torch.empty(4) for _ in range(2)], torch.ones(4 + rank))\n", "(?i)size|mismatch|closed|enforce|reset"),
    two("one waits for a message nobody sends", PEER, (ORD, NCCL), "    if rank == 0:\n        dist.recv(x, src=1)\n    else:\n        time.sleep(1)\n        os._exit(0)\n", "(?i)closed|timed out|peer|reset|terminated"),
    two("number of another order", OT, (SHA, PEER, "program.index"), "    dist.broadcast(x, src=0)\n    names = ['train']\n    print(names[rank])\n", "(?i)index|range"),
)  # fmt: skip
enter(
    "sent-objects",
    group("a function without a name", OT, (SHA,), ONE + "got = [None]\ndist.all_gather_object(got, lambda v: v)", "(?i)pickle"),
    group("group with a stranger", OT, (SHA, SEL, SET, PEER), ONE + "dist.new_group([0, 5])", "(?i)rank|group|world"),
    group("scattered from nothing", SHA, (OT, ORD), ONE + "dist.scatter(x, None, src=0)", "(?i)scatter|list|must"),
    group("sent to itself", ORD, (OT, SHA, NCCL, PEER), ONE + "dist.send(x, dst=0)", "(?i)self|rank|dst|destination"),
    group("gathered into one of another size", SHA, (OT, NCCL), ONE + "dist.all_gather_into_tensor(torch.empty(9), x)", "(?i)size|output|numel|invalid"),
    group("operations that are none", SHA, (OT, ORD), ONE + "dist.batch_isend_irecv([dist.P2POp(print, x, 0)])", "(?i)op|isend|invalid|func"),
    group("reduced by a word", SHA, (OT, NCCL), ONE + "dist.all_reduce(x, op='avg')", "(?i)op|type|incompatible|argument|avg"),
    group("ended twice", ORD, (OT, NCCL), ONE + "dist.destroy_process_group()\ndist.destroy_process_group()", "(?i)group|init|assert"),
)  # fmt: skip
