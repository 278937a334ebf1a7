"""All-reduce and point-to-point over NCCL (or gloo) in a group, with a deadline: what `fleet probe` runs by halves.

    torchrun --nproc-per-node 1 lab/nccl_collective.py [MIB]           one GPU: shows that NCCL starts at all
    gpuwhy fleet probe --nodes gpu[01-16] -- srun -N {count} -w {nodes} --ntasks-per-node 1 python nccl_collective.py

Needs torch only. Ranks come from torchrun, srun or mpirun; MASTER_ADDR and MASTER_PORT as usual. Rank 0 prints
`bandwidth GB/s: N`, which the search holds against the median of groups of one size. A stall ends by the time limit.
"""

from __future__ import annotations

import datetime
import os
import sys
import time


def number(*names: str, default: int) -> int:
    """The first of some variables that is set."""
    return next((int(os.environ[name]) for name in names if name in os.environ), default)


def main(mib: int = 64, seconds: float = 40.0) -> None:
    """Join, reduce, pass a ring, tell."""
    import torch
    import torch.distributed as dist

    rank = number("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", default=0)
    world = number("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", default=1)
    local = number("LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK", default=0)
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29517")
    gpu = torch.cuda.is_available()
    if gpu:
        torch.cuda.set_device(local)
    where = torch.device("cuda", local) if gpu else torch.device("cpu")
    limit = datetime.timedelta(seconds=seconds)
    dist.init_process_group("nccl" if gpu else "gloo", rank=rank, world_size=world, timeout=limit)
    tensor = torch.ones(mib * (1 << 18), device=where)
    dist.all_reduce(tensor)  # the first one connects
    settle(gpu)
    begun = time.perf_counter()
    for _ in range(5):
        dist.all_reduce(tensor)
    settle(gpu)
    took = (time.perf_counter() - begun) / 5
    ring(dist, torch, where, rank, world)
    settle(gpu)
    if rank == 0:
        share = 2 * (world - 1) / world if world > 1 else 1.0
        print(f"bandwidth GB/s: {tensor.numel() * 4 * share / took / 1e9:.3f}", flush=True)
    dist.destroy_process_group()


def ring(dist: object, torch: object, where: object, rank: int, world: int) -> None:
    """Point to point: each passes a little to the next."""
    if world < 2:
        return
    given, taken = torch.full((1024,), float(rank), device=where), torch.empty(1024, device=where)  # type: ignore[attr-defined]
    work = [dist.isend(given, (rank + 1) % world), dist.irecv(taken, (rank - 1) % world)]  # type: ignore[attr-defined]
    for one in work:
        one.wait()
    assert float(taken[0]) == float((rank - 1) % world)


def settle(gpu: bool) -> None:
    """Wait for the GPU."""
    if gpu:
        import torch

        torch.cuda.synchronize()


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:2]))
