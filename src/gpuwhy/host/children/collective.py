"""Runs on every node of a group, with the job's own Python: all-reduce and a ring, by NCCL (gloo without GPUs).

Ranks come from torchrun, srun, mpirun or Ray; the rendezvous is MASTER_ADDR and MASTER_PORT as usual. Rank 0 prints
`bandwidth GB/s: N`. A group that stalls is ended by its time limit. One GPU of each node takes part: the local rank's.
"""

import datetime
import importlib
import os
import sys
import time

TIMES = 5


def number(*names):
    """The first of some variables that is set, the last word being what stands for none."""
    return next((int(os.environ[name]) for name in names[:-1] if name in os.environ), int(names[-1]))


def place():
    """Rank, size of the group, and which GPU of this node is ours."""
    rank = number("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "0")
    world = number("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "1")
    return rank, world, number("LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", "0")


def main(mib=64, seconds=40.0):
    """Join, reduce, pass a ring, tell."""
    try:
        torch, dist = importlib.import_module("torch"), importlib.import_module("torch.distributed")
    except ImportError as error:
        raise SystemExit(
            "%s cannot import torch (%s): name the job's Python with --python" % (sys.executable, error)
        ) from error
    rank, world, local = place()
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29517")
    gpu = torch.cuda.is_available() and dist.is_nccl_available()
    where = torch.device("cuda", local % torch.cuda.device_count()) if gpu else torch.device("cpu")
    settle = torch.cuda.synchronize if gpu else bool
    if gpu:
        torch.cuda.set_device(where)
    limit = datetime.timedelta(seconds=seconds)
    dist.init_process_group("nccl" if gpu else "gloo", rank=rank, world_size=world, timeout=limit)
    took = reduced(torch, dist, where, settle, mib)
    ring(torch, dist, where, rank, world)
    settle()
    if rank == 0:
        share = 2.0 * (world - 1) / world if world > 1 else 1.0
        print("bandwidth GB/s: %.3f (%s, %d ranks)" % (mib * 2**20 * share / took / 1e9, dist.get_backend(), world))
        sys.stdout.flush()
    dist.destroy_process_group()


def reduced(torch, dist, where, settle, mib):
    """Seconds of one all-reduce; the first one connects, and its sum is checked."""
    tensor = torch.ones(mib * 2**18, device=where)
    dist.all_reduce(tensor)
    if float(tensor[-1]) != dist.get_world_size():
        raise SystemExit("the sum over %d ranks is %s" % (dist.get_world_size(), float(tensor[-1])))
    settle()
    begun = time.time()
    for _ in range(TIMES):
        dist.all_reduce(tensor)
    settle()
    return max(time.time() - begun, 1e-6) / TIMES


def ring(torch, dist, where, rank, world):
    """Point to point: each passes a little to the next."""
    if world < 2:
        return
    given, taken = torch.full((1024,), float(rank), device=where), torch.empty(1024, device=where)
    before = (rank - 1) % world
    for one in dist.batch_isend_irecv(
        [dist.P2POp(dist.isend, given, (rank + 1) % world), dist.P2POp(dist.irecv, taken, before)]
    ):
        one.wait()
    if float(taken[0]) != before:
        raise SystemExit("rank %d sent %s instead of %d" % (before, float(taken[0]), before))


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:2]))
