"""Programs that really fail on a GPU, each in a known way: what `gpuwhy run` must name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Program(NamedTuple):
    """One wrong program; `names` are the causes that name its failure rightly, none where it succeeds in silence."""

    names: tuple[str, ...]
    why: str
    code: str
    environ: Mapping[str, str] = {}
    limit: str = ""  # ulimit
    hold: float = 0.0  # part of the GPU's memory that another process holds meanwhile
    setup: str = ""  # shell, inside a private mount namespace
    needs: str = "torch"  # the package without which it cannot be tried
    alone: bool = False


_KERNEL = "import cupy; k = cupy.RawKernel('extern \"C\" __global__ void f(float* p){{ {body} }}', 'f')"
_SYNC = "; cupy.cuda.runtime.deviceSynchronize()"

PROGRAMS: dict[str, Program] = {
    "succeeds": Program((), "nothing wrong", "import torch; print(torch.ones(4, device='cuda').sum().item())"),
    "index-embedding": Program(
        ("program.index",),
        "an embedding index out of range",
        "import torch; e = torch.nn.Embedding(10, 4).cuda(); print(e(torch.tensor([99]).cuda()).sum().item())",
    ),
    "index-label": Program(
        ("program.index",),
        "a class label out of range",
        "import torch; f = torch.nn.functional.cross_entropy\n"
        "print(f(torch.zeros(4, 3).cuda(), torch.tensor([0, 1, 2, 7]).cuda()).item())",
    ),
    "index-gather": Program(
        ("program.index",),
        "a gather index out of range",
        "import torch; x = torch.ones(4, 4).cuda(); print(x.gather(1, torch.full((4, 1), 44).cuda()).sum().item())",
    ),
    "illegal-write": Program(
        ("program.illegal_access",),
        "a kernel that writes past everything",
        _KERNEL.format(body="p[1ll << 40] = 1;") + "; k((1,), (1,), (cupy.zeros(4, dtype='f'),))" + _SYNC,
        needs="cupy",
    ),
    "misaligned": Program(
        ("program.illegal_access",),
        "a kernel that reads a misaligned address",
        _KERNEL.format(body="*(double*)((char*)p + 1) = 1;") + "; k((1,), (1,), (cupy.zeros(4, dtype='f'),))" + _SYNC,
        needs="cupy",
    ),
    "kernel-syntax": Program(
        ("other.not_gpu", "program.build"),
        "a kernel with a syntax error",
        "import cupy; cupy.RawKernel('extern \"C\" __global__ void f( { }', 'f')((1,), (1,), ())",
        needs="cupy",
    ),
    "oom-one": Program(
        ("memory.oom",),
        "one tensor larger than the card",
        "import torch; torch.empty(900 * 2**30, dtype=torch.uint8, device='cuda')",
    ),
    "oom-grow": Program(
        ("memory.oom",),
        "tensors until the card is full",
        "import torch; x = [torch.empty(2**30, dtype=torch.uint8, device='cuda') for _ in range(900)]",
        alone=True,
    ),
    "oom-cupy": Program(
        ("memory.oom",),
        "one array larger than the card",
        "import cupy; cupy.zeros(900 * 2**30, dtype='u1')",
        needs="cupy",
    ),
    "oom-jax": Program(
        ("memory.oom",),
        "one array larger than the card",
        "import jax.numpy as jnp; jnp.zeros((900 * 2**30,), dtype='uint8').block_until_ready()",
        needs="jax",
        alone=True,
    ),
    "oom-other": Program(
        ("memory.other_process",),
        "a modest tensor while another process holds nearly all",
        "import torch; torch.empty(4 * 2**30, dtype=torch.uint8, device='cuda')",
        hold=0.98,
        alone=True,
    ),
    "preallocation": Program(
        ("memory.preallocation",),
        "JAX takes three quarters of the card first, torch in the same program wants half",
        "import jax, jax.numpy as jnp; jnp.ones(4).block_until_ready()\n"
        "import torch; n = torch.cuda.get_device_properties(0).total_memory\n"
        "torch.empty(n // 2, dtype=torch.uint8, device='cuda')",
        needs="jax",
        alone=True,
    ),
    "fragmentation": Program(
        ("memory.fragmentation",),
        "one large segment split into forty tensors, every second given back, and more wanted than any hole holds",
        "import torch; free, _ = torch.cuda.mem_get_info()\n"
        "def new(n): return torch.empty(n, dtype=torch.uint8, device='cuda')\n"
        "x = new(int(free * 0.97)); del x; piece = int(free * 0.97 / 41)\n"
        "held = [new(piece) for _ in range(40)]; del held[::2]\n"
        "new(4 * piece)",
        alone=True,
    ),
    "shape-matmul": Program(
        ("program.shape",),
        "matrices that do not fit",
        "import torch; torch.ones(3, 4, device='cuda') @ torch.ones(5, 6, device='cuda')",
    ),
    "shape-channels": Program(
        ("program.shape",),
        "a convolution with the wrong number of channels",
        "import torch; torch.nn.functional.conv2d(torch.ones(1, 5, 8, 8).cuda(), torch.ones(4, 3, 3, 3).cuda())",
    ),
    "dtype": Program(
        ("program.shape",),
        "input and weight of different types",
        "import torch; torch.nn.Linear(4, 4).cuda()(torch.ones(2, 4, dtype=torch.float16).cuda())",
    ),
    "two-devices": Program(
        ("program.shape",),
        "tensors on two devices",
        "import torch; torch.nn.Linear(4, 4).cuda()(torch.ones(2, 4))",
    ),
    "shape-jax": Program(
        ("program.shape",),
        "matrices that do not fit",
        "import jax.numpy as jnp; jnp.ones((3, 4)) @ jnp.ones((5, 6))",
        needs="jax",
        alone=True,
    ),
    "fork": Program(
        ("program.fork",),
        "CUDA used in a forked child",
        "import torch, sys; torch.ones(1).cuda()\n"
        "import multiprocessing as m; p = m.get_context('fork').Process(target=lambda: torch.ones(1).cuda())\n"
        "p.start(); p.join(); sys.exit(p.exitcode)",
    ),
    "device-7": Program(
        ("device.selection",), "a device that does not exist", "import torch; torch.ones(1, device='cuda:7')"
    ),
    "visible-7": Program(
        ("device.selection",),
        "CUDA_VISIBLE_DEVICES names no GPU",
        "import torch; torch.ones(1, device='cuda')",
        {"CUDA_VISIBLE_DEVICES": "7"},
    ),
    "silent-cpu": Program(
        ("device.selection",),
        "a program that takes the CPU in silence because no GPU is visible",
        "import torch; d = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
        "print(torch.ones(64, 64, device=d).sum().item())",
        {"CUDA_VISIBLE_DEVICES": ""},
    ),
    "silent-jax": Program(
        ("device.selection",),
        "JAX falls back to the CPU in silence because no GPU is visible",
        "import jax.numpy as jnp; print(jnp.ones((64, 64)).sum())",
        {"CUDA_VISIBLE_DEVICES": "-1"},
        needs="jax",
    ),
    "shm": Program(
        ("memory.host",),
        "a DataLoader's workers with a full /dev/shm",
        "import torch, torch.utils.data as d\n"
        "class S(d.Dataset):\n"
        "    def __len__(self): return 64\n"
        "    def __getitem__(self, i): return torch.ones(8, 1024, 1024)\n"
        "for x in d.DataLoader(S(), batch_size=8, num_workers=2): x.cuda()",
        setup="mount -t tmpfs -o size=32m none /dev/shm",
    ),
    "host-memory": Program(
        ("memory.host",),
        "the host's memory limit reached",
        "import torch; torch.ones(1).cuda(); x = [bytearray(1 << 28) for _ in range(4000)]",
        limit="ulimit -d 12000000",
    ),
    "segfault": Program(
        ("other.not_gpu", "program.illegal_access", "framework.bug", "framework.extension_abi"),
        "a native extension that writes to address 0",
        "import torch, ctypes; torch.ones(1).cuda(); ctypes.memset(0, 1, 1)",
    ),
    "python-error": Program(
        ("other.not_gpu",), "a plain mistake in Python", "import torch; torch.ones(1).cuda(); {}['missing']"
    ),
    "nccl-interface": Program(
        ("distributed.nccl",),
        "NCCL told to use an interface that does not exist",
        "import torch, os, torch.distributed as d\n"
        "os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='29511', RANK='0', WORLD_SIZE='1')\n"
        "d.init_process_group('nccl'); d.all_reduce(torch.ones(1).cuda()); torch.cuda.synchronize()",
        {"NCCL_SOCKET_IFNAME": "=nope0"},
    ),
}
