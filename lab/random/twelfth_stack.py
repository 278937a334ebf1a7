"""Twelfth operators, memory and company: a card partly held by somebody else, a host asked for too much, ranks whose papers differ."""

from __future__ import annotations

from lab.random.eleventh import HOST, LIM, NVCC, OOM, OT, PEER, SEL, SET, SHA, TAKEN, C, Case, J, T, py
from lab.random.eleventh_cpp import cu
from lab.random.twelfth import ON, card, enter, pt, shell

HOLD = 'import torch, time; x = torch.empty(12 << 30, dtype=torch.uint8, device=\\"cuda\\"); print(\\"held\\", flush=True); time.sleep(60)'
AROUND = f'command -v nvcc > /dev/null; $PYTHON -c "{HOLD}" > $W/held & p=$!; for i in $(seq 80); do grep -q held $W/held && break; sleep 0.2; done; @RUN@; c=$?; kill $p; exit $c'
NEAR = (OOM,)
"""Without the neighbour it would fit: it holds 12 GiB, and all but 8 GiB of the card are asked for."""


def held(needs: str, target: str, code: str, expect: str) -> Case:
    """A program that asks for nearly the whole card while another process holds a part of it."""
    return shell(needs, target, TAKEN, NEAR, AROUND.replace("@RUN@", "$PYTHON $SCRIPT"), expect, code)


CPP = cu("", TAKEN, NEAR, 'size_t f, t; GO(cudaMemGetInfo(&f, &t)); printf("[info] %zu MiB free of %zu MiB\\n", f >> 20, t >> 20); void* q; GO(cudaMalloc(&q, t - (8ull << 30)));')  # fmt: skip
enter(
    "cards-partly-held",
    held(ON, "all weights at once, torch", T + "f, t = torch.cuda.mem_get_info()\nprint(f'{f / 2**30:.1f} GiB free of {t / 2**30:.1f} GiB', flush=True)\nw = torch.empty(t - (8 << 30), dtype=torch.uint8, device='cuda')\n", "(?i)out of memory"),
    held(ON, "all weights at once, told by its own words", T + "t = torch.cuda.get_device_properties(0).total_memory\ntry:\n    w = torch.empty(t - (8 << 30), dtype=torch.uint8, device='cuda')\nexcept torch.OutOfMemoryError as e:\n    raise SystemExit(f'engine: cannot place the weights: {e}')\n", "(?i)cannot place"),
    held("cupy-matmul cupy-fft", "a pool filled ahead, CuPy", C + "f, t = cupy.cuda.runtime.memGetInfo()\nprint(f // 2**20, 'MiB free of', t // 2**20, 'cuda', flush=True)\np = cupy.get_default_memory_pool().malloc(t - (8 << 30))\n", "(?i)out of memory"),
    held("numba-kernel", "a grid, Numba", "import numpy\nfrom numba import cuda\nf, t = cuda.current_context().get_memory_info()\nprint(f, t, 'cuda', flush=True)\nx = cuda.device_array(t - (8 << 30), dtype='u1')\n", "(?i)OUT_OF_MEMORY|out of memory"),
    shell("cpp-add", "a grid, C++", TAKEN, NEAR, AROUND.replace("@RUN@", NVCC), r"\[fatal\]", CPP.code),
)  # fmt: skip
BIG = "(?i)memory|allocate"
enter(
    "host-asked-for-too-much",
    pt("table of the host, torch", HOST, (OOM, OT), "b = torch.empty(1 << 46, dtype=torch.uint8)\n", BIG),
    pt("table of the host, NumPy", HOST, (OOM, OT), "import numpy\nb = numpy.ones((1 << 23, 1 << 23), dtype='u1')\n", BIG),
    card("answer spread out, then brought home", HOST, (OOM, OT), "y = torch.ones(1, device='cuda').cpu().expand(1 << 46).clone()\n", BIG),
    card("pinned rings, torch", HOST, (OOM,), "b = torch.empty(10 << 40, dtype=torch.uint8, pin_memory=True)\n", "(?i)memory|CUDA error|alloc"),
    py("cupy-matmul cupy-fft", "pinned rings, CuPy", HOST, (OOM,), C + "print(float(cupy.ones(3).sum()), 'cuda', flush=True)\nm = cupy.cuda.alloc_pinned_memory(10 << 40)\n", "(?i)memory|alloc"),
    py("jax-matmul jax-grad", "table of the host, JAX", HOST, (OOM, OT), J + "import numpy\nprint(float(jnp.ones(3).sum()), flush=True)\nx = jax.device_put(numpy.zeros(1 << 46, dtype='u1') + 1)\n", BIG),
    pt("text read whole", HOST, (OT, LIM), "import mmap\nm = mmap.mmap(-1, 1 << 46)\nb = bytes(bytearray(1 << 46))\n", "(?i)memory"),
    pt("shared between workers beyond the place", HOST, (LIM, OT), "from multiprocessing import shared_memory\nimport os\ns = shared_memory.SharedMemory(create=True, size=1 << 46, name='ring@O@')\nos.posix_fallocate(os.open('/dev/shm/ring@O@', os.O_RDWR), 0, 1 << 46)\n", "(?i)memory|space|large|Errno"),
)  # fmt: skip
RANK = "import datetime, os, sys, torch, torch.distributed as dist\nx = torch.ones(4, device='@D@')\nprint('rank', os.environ['RANK'], 'of', os.environ['WORLD_SIZE'], 'up', flush=True)\ndist.init_process_group('gloo', @I@timeout=datetime.timedelta(seconds=5))\ny = torch.ones(4)\ndist.all_reduce(y)\nprint('sum', y[0].item(), x.device)\n"
LOOP = "export MASTER_ADDR=127.0.0.1 MASTER_PORT=@O@; "


def papers(target: str, first: str, second: str, expect: str, before: str = "", init: str = "", also: tuple[str, ...] = (OT, SET)) -> Case:  # fmt: skip
    """Two ranks on one machine whose words about the job differ; the first one's end is the job's."""
    command = f"{LOOP}{before}( {second} $PYTHON $SCRIPT > $W/rank1.log 2>&1 & ); {first} $PYTHON $SCRIPT; c=$?; sed 's/^/[rank1] /' $W/rank1.log; exit $c"
    return shell("torch-nccl", target, PEER, also, command, expect, RANK.replace("@I@", init))


LATE = "(?i)timed? ?out|connect|refused|closed|address already in use|EADDRINUSE|wait"
SERVER = "$PYTHON -m http.server @O@ --bind 127.0.0.1 > /dev/null 2>&1 & h=$!; sleep 1.5; trap 'kill $h' EXIT; "
enter(
    "ranks-with-other-papers",
    papers("both are the first", "RANK=0 WORLD_SIZE=2", "RANK=0 WORLD_SIZE=2", LATE),
    papers("one expects two, the other three", "RANK=0 WORLD_SIZE=3", "RANK=1 WORLD_SIZE=2", LATE),
    papers("the other meets at another port", "RANK=0 WORLD_SIZE=2", "MASTER_PORT=9 RANK=1 WORLD_SIZE=2", LATE),
    papers("the port belongs to a web server", "RANK=0 WORLD_SIZE=1", "RANK=1 WORLD_SIZE=1", LATE, SERVER),
    papers("only the second was started", "RANK=1 WORLD_SIZE=2", "true RANK=0;", LATE),
    papers("rank beyond the number of ranks", "RANK=4 WORLD_SIZE=2", "RANK=1 WORLD_SIZE=2", "(?i)rank|timed|connect", also=(OT, SET, SEL, SHA)),
)  # fmt: skip
