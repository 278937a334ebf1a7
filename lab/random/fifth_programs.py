"""Fifth operators, the programs: wrong by themselves on a healthy GPU, ending by an error of their own, or ending well.

Part `fifth`. A row is a healthy program that must work for it, a name, the code, the cause, what is as right. `@D@` is the
device, `@S@` a small number, `@J@` JAX's name of the device. No request is larger than fails at once: nobody else starves.
"""

from __future__ import annotations

import random

from lab.random.draw import Draw, Machine
from lab.random.fifth_env import fifth
from lab.random.programs import source

IDX, ILL, LAU, SHA, ORD = "program.index", "program.illegal_access", "program.launch", "program.shape", "program.order"
FORK, BUILD, OOM, HOST, OT = "program.fork", "program.build", "memory.oom", "memory.host", "other.not_gpu"
SEL, SET, LIM = "device.selection", "env.setting", "env.limit"
Row = tuple[str, str, str, str, tuple[str, ...]]
T, J, C, N = (
    "import torch\n",
    "import jax, jax.numpy as jnp\n",
    "import cupy\n",
    "import numpy\nfrom numba import cuda\n",
)
F = "import torch, torch.nn.functional as F\n"
TR = "import torch, triton, triton.language as tl\n"
WORK = "x = torch.randn(512, 512, device='@D@')\nprint('loss', (x @ x).abs().mean().item() > 0, flush=True)\n"


def _program(rng: random.Random, machine: Machine, name: str, rows: tuple[Row, ...]) -> Draw | None:
    """A program of a table, where what it needs works here."""
    rows = tuple(r for r in rows if machine.programs(r[0]) and (machine.device == "cuda" or "'cuda" not in r[2]))
    if not rows:
        return None
    needs, target, code, cause, also = rng.choice(rows)
    text = code.replace("@D@", machine.device).replace("@S@", str(rng.randrange(2, 9)))
    text = text.replace("@J@", "gpu" if machine.device == "cuda" else "cpu")
    return Draw(name, target, f"{needs.partition('-')[0]}-own", cause, also, code=text)


def _enter(name: str, rows: tuple[Row, ...]) -> None:
    fifth(name)(lambda rng, machine: _program(rng, machine, name, rows))


# ------------------------------------------------------------------------------------------------ out of range
_enter(
    "mistake-index",
    (
        ("torch", "gather", T + "x = torch.randn(4, @S@, device='@D@')\nprint(x.gather(1, torch.full((4, 1), 90, device='@D@')).sum().item())\n", IDX, ()),
        ("torch", "index_select", T + "x = torch.randn(@S@, 16, device='@D@')\nprint(x.index_select(0, torch.tensor([0, 1, 77], device='@D@')).mean().item())\n", IDX, ()),
        ("torch", "segmentation label 255", F + "y = torch.randint(0, 5, (2, 8, 8), device='@D@')\ny[0, 0, 0] = 255\nx = torch.randn(2, 5, 8, 8, device='@D@', requires_grad=True)\nF.cross_entropy(x, y).backward()\nprint(x.grad.norm().item())\n", IDX, ()),
        ("torch", "bce outside 0..1", F + "p = torch.randn(64, device='@D@') * 3\nprint(F.binary_cross_entropy(p, torch.ones(64, device='@D@')).item())\n", IDX, (SHA, OT)),
        ("torch", "token above the vocabulary", T + "ids = torch.tensor([[5, 9, 50257]], device='@D@')\nwte = torch.nn.Embedding(50257, 32, device='@D@')\nh = wte(ids)\nlayer = torch.nn.TransformerEncoderLayer(32, 4, batch_first=True).to('@D@')\nprint(layer(h).shape, layer(h).sum().item())\n", IDX, ()),
        ("torch", "position beyond the table", T + "pos = torch.nn.Embedding(512, 16).to('@D@')\nx = pos(torch.arange(512 + @S@, device='@D@'))\nprint(x.sum().item())\n", IDX, ()),
    ),
)  # fmt: skip
_enter(
    "mistake-index-other",
    (
        ("torch", "index_put", T + "x = torch.zeros(8, device='@D@')\nx[torch.tensor([3, 100 * @S@], device='@D@')] = 1.0\nprint(x.sum().item())\n", IDX, ()),
        ("torch", "take", T + "x = torch.arange(6.0, device='@D@')\nprint(torch.take(x, torch.tensor([@S@ * 50], device='@D@')).item())\n", IDX, ()),
        ("torch", "assert_async", T + "x = torch.zeros(4, device='@D@')\ntorch._assert_async((x > 0).all())\nprint(x.sum().item())\n", IDX, (OT, ILL)),
        ("torch", "embedding_bag", F + "w = torch.randn(10, 3, device='@D@')\nprint(F.embedding_bag(torch.tensor([1, 2, 4000], device='@D@'), w, torch.tensor([0], device='@D@')).sum().item())\n", IDX, (ILL,)),
        ("triton", "device_assert", "import os\nos.environ['TRITON_DEBUG'] = '1'\n" + TR + "@triton.jit\ndef k(x, n, B: tl.constexpr):\n    i = tl.arange(0, B)\n    v = tl.load(x + i)\n    tl.device_assert(v < 10, 'class id above the table')\n    tl.store(x + i, v + 1)\nx = torch.arange(64, device='cuda')\nk[(1,)](x, 64, B=64)\nprint(x.sum().item())\n", IDX, (ILL,)),
        ("jax", "checkify", J + "from jax.experimental import checkify\nf = checkify.checkify(jax.jit(lambda x, i: x[i]), errors=checkify.index_checks)\nerr, y = f(jnp.arange(4.0), 4 + @S@)\nerr.throw()\n", IDX, (OT,)),
    ),
)  # fmt: skip
RAW = (
    C
    + "k = cupy.RawKernel(r'''extern \"C\" __global__ void k(float* p, long long n) {{ {0} }}''', 'k')\nx = cupy.zeros(256, dtype='f')\n"
)
_enter(
    "mistake-access",
    (
        ("torch-graph", "delete of a stranger's pointer", T + "x = torch.ones(4, device='cuda')\ntorch.cuda.caching_allocator_delete(x.data_ptr() + 8)\nprint(x)\n", ILL, (OT,)),
        ("triton", "addresses from data", TR + "@triton.jit\ndef k(table, out):\n    p = tl.load(table).to(tl.pointer_type(tl.float32))\n    tl.store(out, tl.load(p))\ntable = torch.tensor([0x1234560000 * @S@], device='cuda')\nout = torch.zeros(1, device='cuda')\nk[(1,)](table, out)\nprint(out.item())\n", ILL, ()),
        ("triton", "no mask, wrong stride", TR + "@triton.jit\ndef k(x, stride, B: tl.constexpr):\n    r = tl.program_id(0).to(tl.int64)\n    i = tl.arange(0, B)\n    tl.store(x + r * stride + i, 1.0)\nx = torch.zeros(64, 64, device='cuda')\nk[(64,)](x, 64 << 30, B=64)\nprint(x.sum().item())\n", ILL, ()),
        ("cupy", "freed memory", RAW.format("p[threadIdx.x] = n;") + "y = cupy.zeros(64 << 20, dtype='f')\np = y.data.ptr\ndel y\ncupy.get_default_memory_pool().free_all_blocks()\nk((1,), (64,), (cupy.uint64(p), 1))\nprint(float(x.sum()))\n", ILL, ()),
        ("cupy", "shared memory never given", RAW.format("extern __shared__ float s[]; s[n << 20] = 1; __syncthreads(); p[0] = s[n << 20];") + "k((1,), (32,), (x, @S@))\nprint(float(x.sum()))\n", ILL, ()),
        ("cupy", "vector load not aligned", RAW.format("float4 v = *(float4*)(p + n); p[0] = v.x;") + "k((1,), (1,), (x, 1))\nprint(float(x.sum()))\n", ILL, ()),
        ("numba-kernel", "wrong stride", N + "@cuda.jit\ndef k(x, stride):\n    i = cuda.grid(1)\n    x[i * stride] = 1.0\nx = cuda.to_device(numpy.zeros(1024))\nk[4, 256](x, 1 << 33)\ncuda.synchronize()\nprint(x.copy_to_host().sum())\n", ILL, (IDX,)),
    ),
)  # fmt: skip
_enter(
    "mistake-launch",
    (
        ("triton", "grid y", TR + "@triton.jit\ndef k(x):\n    tl.store(x, 1.0)\nx = torch.zeros(1, device='cuda')\nk[(1, 70000)](x)\ntorch.cuda.synchronize()\nprint(x.item())\n", LAU, ()),
        ("triton", "shared memory of a large tile", TR + "@triton.jit\ndef k(a, b, c, B: tl.constexpr):\n    i = tl.arange(0, B)\n    o = i[:, None] * B + i[None, :]\n    tl.store(c + o, tl.dot(tl.load(a + o), tl.load(b + o)))\na = torch.ones(256, 256, device='cuda')\nk[(1,)](a, a, a, B=256, num_warps=8)\ntorch.cuda.synchronize()\n", LAU, (OOM,)),
        ("numba-kernel", "block of 64 x 64", N + "@cuda.jit\ndef k(x):\n    i, j = cuda.grid(2)\n    x[i, j] = 1\nx = cuda.to_device(numpy.zeros((256, 256)))\nk[(4, 4), (64, 64)](x)\ncuda.synchronize()\n", LAU, ()),
        ("numba-kernel", "grid z", N + "@cuda.jit\ndef k(x):\n    x[0] = 1\nk[(1, 1, 70000 + @S@), 32](cuda.to_device(numpy.zeros(8)))\ncuda.synchronize()\n", LAU, ()),
        ("numba-kernel", "dynamic shared memory", N + "@cuda.jit\ndef k(x):\n    s = cuda.shared.array(0, dtype=numpy.float32)\n    s[cuda.threadIdx.x] = 1\n    x[0] = s[0]\nk[1, 32, 0, 300 * 1024](cuda.to_device(numpy.zeros(8)))\ncuda.synchronize()\n", LAU, (OOM,)),
        ("cupy", "cooperative grid too large", C + "k = cupy.RawKernel('extern \"C\" __global__ void k(float* p) { p[0] = 1; }', 'k', enable_cooperative_groups=True)\nk((1000000,), (256,), (cupy.zeros(4, dtype='f'),))\ncupy.cuda.runtime.deviceSynchronize()\n", LAU, ()),
        ("cupy", "shared memory above the card", RAW.format("extern __shared__ float s[]; s[threadIdx.x] = n; p[0] = s[0];") + "k.max_dynamic_shared_size_bytes = 400 * 1024\nk((1,), (32,), (x, 1), shared_mem=400 * 1024)\n", LAU, ()),
        ("cupy", "bounds of the kernel", C + "k = cupy.RawKernel('extern \"C\" __global__ void __launch_bounds__(64) k(float* p) { p[threadIdx.x] = 1; }', 'k')\nk((1,), (512,), (cupy.zeros(512, dtype='f'),))\ncupy.cuda.runtime.deviceSynchronize()\n", LAU, ()),
    ),
)  # fmt: skip
_enter(
    "mistake-shape-torch",
    (
        ("torch", "attention heads", F + "q, k = torch.randn(2, 8, 16, 64, device='@D@'), torch.randn(2, 8, 16, 32, device='@D@')\nprint(F.scaled_dot_product_attention(q, k, k).shape)\n", SHA, ()),
        ("torch", "batch norm", T + "m = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.BatchNorm1d(64)).to('@D@')\nprint(m(torch.randn(4, 16, device='@D@')).shape)\n", SHA, ()),
        ("torch", "einsum", T + "print(torch.einsum('bij,bjk->bik', torch.randn(2, 3, 4, device='@D@'), torch.randn(2, 5, 6, device='@D@')).shape)\n", SHA, ()),
        ("torch", "view", T + "x = torch.randn(4, 6, device='@D@').t()\nprint(x.view(-1).shape)\n", SHA, ()),
        ("torch", "mask", T + "x = torch.randn(8, 4, device='@D@')\nprint(x[torch.ones(9, dtype=torch.bool, device='@D@')].shape)\n", SHA, ("program.index", OT)),
        ("torch", "hidden state", T + "r = torch.nn.GRU(8, 16, batch_first=True).to('@D@')\nprint(r(torch.randn(4, 5, 8, device='@D@'), torch.zeros(1, 3, 16, device='@D@'))[0].shape)\n", SHA, ()),
    ),
)  # fmt: skip
_enter(
    "mistake-dtype",
    (
        ("torch", "whole numbers times a matrix", T + "x = torch.arange(16, device='cuda').reshape(4, 4)\nprint(x @ x)\n", SHA, ("framework.bug", OT)),
        ("torch", "float indices", T + "e = torch.nn.Embedding(10, 4).to('@D@')\nprint(e(torch.tensor([1.0, 2.0], device='@D@')).shape)\n", SHA, ()),
        ("torch", "float labels", F + "print(F.nll_loss(torch.randn(4, 3, device='@D@'), torch.ones(4, device='@D@')).item())\n", SHA, (OT,)),
        ("torch", "bfloat16 and float", T + "m = torch.nn.Conv2d(3, 4, 3).to('@D@', torch.bfloat16)\nprint(m(torch.randn(1, 3, 8, 8, device='@D@')).shape)\n", SHA, ()),
        ("torch-compile", "inside compile", T + "@torch.compile\ndef f(a, b):\n    return (a @ b).relu()\nprint(f(torch.randn(4, 5, device='@D@'), torch.randn(4, 5, device='@D@')))\n", SHA, (OT,)),
        ("torch", "groups", T + "m = torch.nn.Conv2d(6, 12, 3, groups=3).to('@D@')\nprint(m(torch.randn(1, 4, 8, 8, device='@D@')).shape)\n", SHA, ()),
    ),
)  # fmt: skip
_enter(
    "mistake-shape-other",
    (
        ("jax", "vmap sizes", J + "f = jax.vmap(lambda a, b: a + b)\nprint(f(jnp.ones((4, 3)), jnp.ones((5, 3))))\n", SHA, (OT,)),
        ("jax", "scan carry", J + "c, _ = jax.lax.scan(lambda c, x: (jnp.concatenate([c, c]), x), jnp.ones(2), jnp.ones(3))\nprint(c)\n", SHA, (OT,)),
        ("jax", "branches differ", J + "print(jax.jit(lambda x: jax.lax.cond(x.sum() > 0, lambda v: v, lambda v: v[:1], x))(jnp.ones(@S@ + 2)))\n", SHA, (OT,)),
        ("jax", "reshape", J + "x = jnp.ones((6, 7))\nprint(jax.jit(lambda v: v.reshape(5, -1))(x))\n", SHA, (OT,)),
        ("cupy", "concatenate", C + "print(cupy.concatenate([cupy.ones((2, 3)), cupy.ones((2, 4))]).shape)\n", SHA, (OT,)),
        ("cupy", "einsum", C + "print(cupy.einsum('ij,jk->ik', cupy.ones((2, 3)), cupy.ones((4, 5))).shape)\n", SHA, (OT,)),
        ("cupy", "list for a kernel", RAW.format("p[0] = n;") + "k((1,), (1,), ([1.0, 2.0], 1))\n", SHA, (OT,)),
        ("numba-kernel", "copy of another size", N + "x = cuda.to_device(numpy.zeros(64))\nx.copy_to_device(numpy.ones(65))\n", SHA, (OT,)),
        ("numba-kernel", "text for a kernel", N + "@cuda.jit\ndef k(x, s):\n    x[0] = len(s)\nk[1, 1](cuda.to_device(numpy.zeros(4)), {'a': 1})\n", SHA, (OT, BUILD)),
        ("triton", "tensor on the host", TR + "@triton.jit\ndef k(x):\n    tl.store(x, 1.0)\nk[(1,)](torch.zeros(4))\n", SHA, (SEL,)),
        ("triton", "dot of unlike tiles", TR + "@triton.jit\ndef k(x, A: tl.constexpr, B: tl.constexpr):\n    a = tl.load(x + tl.arange(0, A)[:, None] * A + tl.arange(0, A)[None, :])\n    b = tl.load(x + tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :])\n    tl.store(x + tl.arange(0, A), tl.sum(tl.dot(a, b), 1))\nk[(1,)](torch.ones(64, 64, device='cuda'), A=16, B=32)\n", SHA, (BUILD, OT)),
    ),
)  # fmt: skip
_enter(
    "mistake-mixed",
    (
        ("torch-graph", "buffer left behind", T + "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.f = torch.nn.Linear(4, 4)\n        self.scale = torch.ones(4)\n    def forward(self, x):\n        return self.f(x) * self.scale\nprint(Net().cuda()(torch.ones(2, 4, device='cuda')))\n", SHA, (SEL,)),
        ("torch-graph", "optimizer state", T + "m = torch.nn.Linear(4, 4)\no = torch.optim.Adam(m.parameters())\nm(torch.ones(1, 4)).sum().backward()\no.step()\nm.to('cuda')\no.zero_grad()\nm(torch.ones(1, 4, device='cuda')).sum().backward()\no.step()\nprint('stepped')\n", SHA, (SEL, ORD)),
        ("torch-graph", "to numpy", T + "x = torch.ones(4, device='cuda')\nprint(x.numpy())\n", SHA, (SEL, OT)),
        ("torch-graph", "cat of two places", T + "print(torch.cat([torch.ones(2, device='cuda'), torch.ones(2)]))\n", SHA, (SEL,)),
        ("torch-graph", "generator of another device", T + "g = torch.Generator()\nprint(torch.randn(4, device='cuda', generator=g))\n", SHA, (SEL, OT)),
        ("jax", "devices differ", J + "a = jax.device_put(jnp.ones(3), jax.devices('cpu')[0])\nb = jax.device_put(jnp.ones(3), jax.devices('gpu')[0])\nassert b.devices() != 'cuda'\nprint(jax.jit(jnp.add)(a, b))\n", SHA, (SEL, OT)),
        ("cupy", "numpy argument", RAW.format("p[0] = n;") + "import numpy\nk((1,), (1,), (numpy.zeros(4, dtype='f'), 1))\n", SHA, (SEL, OT)),
    ),
)  # fmt: skip
_enter(
    "mistake-order",
    (
        ("torch-graph", "random numbers set during capture", T + "g = torch.cuda.CUDAGraph()\nx = torch.zeros(4, device='cuda')\nwith torch.cuda.graph(g):\n    torch.cuda.manual_seed(3)\n    y = x + torch.nonzero(x).sum()\n", ORD, ()),
        ("torch-graph", "capture in a capture", T + "x = torch.zeros(4, device='cuda')\nwith torch.cuda.graph(torch.cuda.CUDAGraph()):\n    with torch.cuda.graph(torch.cuda.CUDAGraph()):\n        y = x + 1\n", ORD, ()),
        ("torch-graph", "copy from the host in capture", T + "x = torch.zeros(1 << 20, device='cuda')\nwith torch.cuda.graph(torch.cuda.CUDAGraph()):\n    x.copy_(torch.ones(1 << 20))\n", ORD, ()),
        ("torch", "changed in place", T + "x = torch.ones(4, device='@D@', requires_grad=True)\ny = x.exp()\ny.add_(1)\ny.sum().backward()\n", ORD, (OT, SHA)),
        ("torch", "threads set late", T + WORK + "torch.set_num_interop_threads(2)\ntorch.set_num_interop_threads(3)\n", ORD, (OT,)),
        ("torch-graph", "scaler twice", T + "m = torch.nn.Linear(4, 1).cuda()\no = torch.optim.SGD(m.parameters(), 0.1)\ns = torch.amp.GradScaler('cuda')\ns.scale(m(torch.ones(2, 4, device='cuda')).sum()).backward()\ns.unscale_(o)\ns.unscale_(o)\n", ORD, (OT,)),
    ),
)  # fmt: skip
_enter(
    "mistake-order-other",
    (
        ("jax", "deleted array", J + "x = jnp.arange(8.0)\nx.block_until_ready()\nx.delete()\nprint(x + 1)\n", ORD, (OT,)),
        ("jax", "donated in a loop", J + "step = jax.jit(lambda s, g: jax.tree.map(lambda a, b: a - b, s, g), donate_argnums=0)\nstate = {'w': jnp.ones((64, 64))}\nnew = step(state, {'w': jnp.ones((64, 64))})\nprint(float(new['w'].sum()))\nprint(float(state['w'].sum()))\n", ORD, (OT,)),
        ("jax", "devices set late", J + "print(jnp.ones(2).sum())\njax.config.update('jax_num_cpu_devices', 4)\n", ORD, (OT, SET)),
        ("jax", "value of a tracer", J + "@jax.jit\ndef f(x):\n    if x.sum() > 0:\n        return x\n    return -x\nprint(f(jnp.ones(3)))\n", ORD, (OT, SHA)),
        ("cupy", "capture never begun", C + "s = cupy.cuda.Stream(non_blocking=True)\nwith s:\n    cupy.ones(4)\n    s.end_capture()\n", ORD, (OT,)),
        ("cupy", "memory during capture", C + "cupy.cuda.set_allocator(None)\nx = cupy.ones(4)\ns = cupy.cuda.Stream(non_blocking=True)\nwith s:\n    s.begin_capture()\n    y = cupy.empty(1 << 22)\n    print(float(x.sum()))\n    s.end_capture()\n", ORD, ()),
    ),
)  # fmt: skip
_enter(
    "mistake-process",
    (
        ("torch-graph", "pool after the first tensor", "import multiprocessing as mp\n" + T + "print(torch.ones(2, device='cuda').sum().item())\ndef work(i):\n    return (torch.ones(i, device='cuda') * 2).sum().item()\nif __name__ == '__main__':\n    with mp.get_context('fork').Pool(2) as pool:\n        print(pool.map(work, [1, 2, 3]))\n", FORK, ()),
        ("torch-graph", "executor of processes", "import concurrent.futures as cf, multiprocessing as mp\n" + T + "net = torch.nn.Linear(4, 4).cuda()\ndef predict(i):\n    return net(torch.ones(1, 4, device='cuda')).sum().item()\nif __name__ == '__main__':\n    with cf.ProcessPoolExecutor(2, mp.get_context('fork')) as ex:\n        print(list(ex.map(predict, range(3))))\n", FORK, ()),
        ("torch-graph", "collate on the GPU", T + "from torch.utils.data import DataLoader\nmean = torch.zeros(3, device='cuda')\ndef collate(rows):\n    return torch.stack(rows).to('cuda') - mean\nif __name__ == '__main__':\n    for x in DataLoader([torch.ones(3) for _ in range(8)], batch_size=4, num_workers=2, collate_fn=collate, multiprocessing_context='fork'):\n        print(x.shape)\n", FORK, ()),
        ("numba-kernel", "numba after fork", "import multiprocessing as mp, sys\n" + N + "x = cuda.to_device(numpy.ones(8))\ndef child():\n    print(cuda.to_device(numpy.ones(4)).copy_to_host().sum())\nif __name__ == '__main__':\n    p = mp.get_context('fork').Process(target=child)\n    p.start()\n    p.join(30)\n    sys.exit(p.exitcode)\n", FORK, (ORD,)),
        ("cupy", "cupy after os.fork", "import os, sys\n" + C + "x = cupy.arange(8)\nprint(int(x.sum()))\npid = os.fork()\nif pid == 0:\n    print(int((x * 2).sum()))\n    os._exit(0)\nsys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n", FORK, ()),
        ("torch", "spawn without a guard", "import multiprocessing as mp\n" + T + "print(torch.ones(2, device='@D@').sum().item())\ndef work():\n    print('child')\np = mp.get_context('spawn').Process(target=work)\np.start()\np.join()\nraise SystemExit(p.exitcode)\n", OT, (FORK,)),
        ("torch", "lambda to a spawned process", "import torch.multiprocessing as mp\n" + T + "if __name__ == '__main__':\n    x = torch.ones(2, device='@D@')\n    mp.spawn(lambda rank: print(rank), nprocs=1)\n", OT, (FORK,)),
        ("torch", "model with an open file", "import pickle\n" + T + "m = torch.nn.Linear(2, 2).to('@D@')\nm.log = open('train.log', 'w')\npickle.dumps(m)\n", OT, ()),
    ),
)  # fmt: skip
_enter(
    "mistake-memory",
    (
        ("torch-matmul", "outer product", T + "v = torch.randn(1 << 20, device='cuda')\nd = v[:, None] - v[None, :]\nprint(d.abs().mean().item())\n", OOM, ()),
        ("torch-matmul", "table of a whole language", T + "e = torch.nn.Embedding(1 << 28, 4096, device='cuda')\nprint(e.weight.shape)\n", OOM, ()),
        ("torch-matmul", "scores of a long context", T + "q = torch.randn(1, 16, 400000, 8, device='cuda', dtype=torch.bfloat16)\nprint(torch.softmax(q @ q.transpose(-1, -2), -1).shape)\n", OOM, ()),
        ("torch-matmul", "one-hot images", "import torch, torch.nn.functional as F\ny = torch.zeros(256, 512, 512, dtype=torch.long, device='cuda')\nprint(F.one_hot(y, 20000).shape)\n", OOM, ()),
        ("cupy", "outer", C + "v = cupy.arange(2_000_000, dtype='f')\nprint(cupy.outer(v, v).shape)\n", OOM, ()),
        ("jax-matmul", "pairwise distances", J + "v = jax.device_put(jnp.arange(1_500_000.0), jax.devices('gpu')[0])  # 'cuda'\nd = v[:, None] - v[None, :]\nprint((d @ d).sum())\n", OOM, ()),
    ),
)  # fmt: skip
_enter(
    "mistake-host-memory",
    (
        ("torch", "a billion rows on the host", T + WORK + "rows = bytearray(1 << 52)\n", HOST, (OT,)),
        ("torch", "shared memory for all frames", T + WORK + "frames = torch.empty(1 << 47, dtype=torch.uint8)\nframes.share_memory_()\n", HOST, (OT,)),
        ("jax", "host array", "import numpy\n" + J + "print(jnp.ones(4).sum())\nx = numpy.zeros((1 << 25, 1 << 25))\nprint(jnp.asarray(x).shape)\n", HOST, (OT,)),
        ("torch", "limit of its own", "import resource\n" + T + WORK + "resource.setrlimit(resource.RLIMIT_AS, (1 << 20, 1 << 20))\nx = torch.ones(64 << 20)\n", LIM, (HOST, OT)),
    ),
)  # fmt: skip
_enter(
    "mistake-build",
    (
        ("triton", "name not defined", TR + "@triton.jit\ndef k(x, B: tl.constexpr):\n    i = tl.arange(0, B)\n    tl.store(x + i, tl.load(x + i) * scale)\nk[(1,)](torch.zeros(64, device='cuda'), B=64)\n", BUILD, (OT,)),
        ("triton", "shape not constant", TR + "@triton.jit\ndef k(x, n):\n    i = tl.arange(0, n)\n    tl.store(x + i, 1.0)\nk[(1,)](torch.zeros(64, device='cuda'), 64)\n", BUILD, (OT, SHA)),
        ("cupy", "header of a friend", C + "m = cupy.RawModule(code='#include <myutils/vec3.cuh>\\nextern \"C\" __global__ void k(float* p) { p[0] = 1; }')\nm.get_function('k')((1,), (1,), (cupy.zeros(1, dtype='f'),))\n", BUILD, ("cuda.compiler_missing", "env.path")),
        ("cupy", "elementwise typo", C + "f = cupy.ElementwiseKernel('float32 x', 'float32 y', 'y = x * scal', 'scale_it')\nprint(f(cupy.ones(4, dtype='f')))\n", BUILD, (OT,)),
        ("numba-kernel", "unknown function in a kernel", N + "@cuda.jit\ndef k(x):\n    x[0] = numpy.linalg.norm(x)\nk[1, 1](cuda.to_device(numpy.ones(8)))\n", BUILD, (OT, SHA)),
        ("numba-kernel", "types do not unify", N + "@cuda.jit\ndef k(x):\n    v = 1\n    if x[0] > 0:\n        v = (1, 2)\n    x[0] = v[0]\nk[1, 1](cuda.to_device(numpy.ones(8)))\n", BUILD, (OT, SHA)),
        ("torch-compile", "full graph with a branch", T + "@torch.compile(fullgraph=True)\ndef f(x):\n    if x.sum() > 0:\n        return x + 1\n    return x - 1\nprint(f(torch.ones(4, device='@D@')))\n", OT, (ORD, BUILD, SHA, "framework.bug")),
    ),
)  # fmt: skip
_enter(
    "mistake-callback",
    (
        ("jax", "callback raises", J + "def load(i):\n    raise ValueError('no shard %d in the index' % int(i))\nprint(jax.jit(lambda i: jax.pure_callback(load, jax.ShapeDtypeStruct((), jnp.float32), i))(@S@))\n", OT, (SHA,)),
        ("jax", "callback of another shape", "import numpy\n" + J + "def load(i):\n    return numpy.zeros(5, 'f')\nprint(jax.jit(lambda i: jax.pure_callback(load, jax.ShapeDtypeStruct((4,), jnp.float32), i))(1))\n", SHA, (OT,)),
        ("torch", "hook raises", T + "m = torch.nn.Linear(4, 4).to('@D@')\ndef hook(mod, i, o):\n    raise KeyError('layer.3.attn')\nm.register_forward_hook(hook)\nm(torch.ones(1, 4, device='@D@'))\n", OT, ()),
        ("torch", "own backward", T + "class Sq(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * x\n    @staticmethod\n    def backward(ctx, g):\n        return g, g\nx = torch.ones(3, device='@D@', requires_grad=True)\nSq.apply(x).sum().backward()\n", OT, (SHA, ORD)),
        ("torch", "worker raises", T + "from torch.utils.data import DataLoader, Dataset\nclass D(Dataset):\n    def __len__(self):\n        return 8\n    def __getitem__(self, i):\n        if i == 5:\n            raise OSError('image file is truncated (17 bytes not processed)')\n        return torch.zeros(2)\nif __name__ == '__main__':\n    for x in DataLoader(D(), num_workers=2):\n        x.to('@D@')\n", OT, ()),
        ("torch", "two locks", "import faulthandler, threading, time\n" + T + WORK + "a, b = threading.Lock(), threading.Lock()\ndef one():\n    with a:\n        time.sleep(0.3)\n        with b:\n            pass\ndef two():\n    with b:\n        time.sleep(0.3)\n        with a:\n            pass\nts = [threading.Thread(target=f, daemon=True) for f in (one, two)]\n[t.start() for t in ts]\nfaulthandler.dump_traceback_later(6, exit=True)\n[t.join() for t in ts]\n", OT, ()),
        ("torch", "queue never filled", "import queue\n" + T + WORK + "batches = queue.Queue()\nbatches.get(timeout=4)\n", OT, ()),
        ("jax", "nan in the loss", J + "jax.config.update('jax_debug_nans', True)\nprint(jax.jit(lambda x: jnp.log(x - 5).sum())(jnp.ones(4)))\n", OT, (SHA,)),
    ),
)  # fmt: skip
# ------------------------------------------------------------------------------------------------ C++
HEAD = r"""
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>
#define CHECK(c) do { cudaError_t e_ = (c); if (e_ != cudaSuccess) { fprintf(stderr, "%s:%d: %s: %s\n", "main.cu", __LINE__, #c, cudaGetErrorString(e_)); exit(1); } } while (0)
"""
FILL = "__global__ void fill(float* p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] = i; }\n"
GOOD = 'float* d; CHECK(cudaMalloc(&d, 4096)); fill<<<4, 256>>>(d, 1024); CHECK(cudaGetLastError()); CHECK(cudaDeviceSynchronize()); printf("computed\\n"); fflush(stdout);\n'
NVCC = "nvcc -arch=sm_90 -o $W/a $SCRIPT && $W/a"
SOURCES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("float4 not aligned", "__global__ void k(float* p) { float4 v = *reinterpret_cast<float4*>(p + 1); p[0] = v.x + v.w; }\n@MAIN@ k<<<1, 32>>>(d); CHECK(cudaGetLastError()); CHECK(cudaDeviceSynchronize()); return 0; }", ILL, ()),
    ("freed twice", "@MAIN@ CHECK(cudaFree(d)); CHECK(cudaFree(d)); return 0; }", ILL, (ORD,)),
    ("copy beyond the end", "@MAIN@ std::vector<float> h(1 << 20); CHECK(cudaMemcpy(h.data(), d + (1 << 28), 4096, cudaMemcpyDeviceToHost)); return 0; }", ILL, (SHA,)),
    ("host function pointer", "typedef float (*F)(float);\nfloat twice(float x) { return 2 * x; }\n__global__ void k(float* p, F f) { p[threadIdx.x] = f(p[threadIdx.x]); }\n@MAIN@ k<<<1, 1>>>(d, (F)twice); CHECK(cudaGetLastError()); CHECK(cudaDeviceSynchronize()); return 0; }", ILL, ()),
    ("no blocks", "@MAIN@ int n = 0; fill<<<n, 256>>>(d, n); CHECK(cudaGetLastError()); return 0; }", LAU, ()),
    ("shared memory attribute", "__global__ void k(float* p) { extern __shared__ float s[]; s[threadIdx.x] = p[threadIdx.x]; p[0] = s[0]; }\n@MAIN@ CHECK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 512 * 1024)); k<<<1, 32, 512 * 1024>>>(d); CHECK(cudaGetLastError()); return 0; }", LAU, ()),
    ("cooperative launch", "#include <cooperative_groups.h>\n__global__ void k(float* p) { cooperative_groups::this_grid().sync(); p[0] = 1; }\n@MAIN@ void* a[] = {&d}; CHECK(cudaLaunchCooperativeKernel((void*)k, dim3(50000), dim3(256), a)); CHECK(cudaDeviceSynchronize()); return 0; }", LAU, ()),
    ("stack of a kernel", "@MAIN@ CHECK(cudaDeviceSetLimit(cudaLimitStackSize, (size_t)1 << 40)); fill<<<1, 32>>>(d, 32); CHECK(cudaGetLastError()); return 0; }", LAU, (OOM, SET)),
    ("event destroyed", "@MAIN@ cudaStream_t s; cudaEvent_t a, b; CHECK(cudaStreamCreate(&s)); CHECK(cudaEventCreate(&a)); CHECK(cudaEventCreate(&b)); CHECK(cudaEventRecord(a, s)); float ms; CHECK(cudaEventElapsedTime(&ms, a, b)); return 0; }", ORD, (ILL,)),
    ("capture ended twice", "@MAIN@ cudaStream_t s; cudaGraph_t g; CHECK(cudaStreamCreate(&s)); CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); fill<<<1, 32, 0, s>>>(d, 32); CHECK(cudaStreamEndCapture(s, &g)); CHECK(cudaStreamEndCapture(s, &g)); return 0; }", ORD, ()),
    ("memory in capture", "@MAIN@ cudaStream_t s; void* q; CHECK(cudaStreamCreate(&s)); CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)); CHECK(cudaMalloc(&q, 1 << 20)); return 0; }", ORD, ()),
    ("terabytes", "@MAIN@ float* q; CHECK(cudaMalloc(&q, (size_t)1 << 44)); return 0; }", OOM, ()),
    ("function of another file", "extern __device__ float other(float);\n__global__ void k(float* p) { p[0] = other(p[0]); }\n@MAIN@ k<<<1, 1>>>(d); CHECK(cudaDeviceSynchronize()); return 0; }", BUILD, ()),
    ("library not named", "#include <curand.h>\n@MAIN@ curandGenerator_t g; return curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT); }", BUILD, ("env.path",)),
    ("host function in a kernel", "#include <string>\nint size(const std::string& s) { return s.size(); }\n__global__ void k(float* p) { p[0] = size(\"abc\"); }\n@MAIN@ k<<<1, 1>>>(d); return 0; }", BUILD, ()),
    ("own tolerance", "@MAIN@ fprintf(stderr, \"verification failed: max error 3.2e-02 exceeds tolerance 1.0e-03\\n\"); return 2; }", OT, ()),
    ("own exception", "@MAIN@ std::vector<int> v(3); printf(\"%d\\n\", v.at(7)); return 0; }", OT, (IDX,)),
    ("own file", "@MAIN@ FILE* f = fopen(\"mesh/bunny.obj\", \"r\"); if (!f) { perror(\"mesh/bunny.obj\"); return 1; } return 0; }", OT, ()),
    ("own usage", "@MAIN@ fprintf(stderr, \"usage: a --device N --steps N input.bin\\n\"); return 64; }", OT, ()),
)  # fmt: skip


def _cpp(rng: random.Random, machine: Machine, name: str, own: bool) -> Draw | None:
    """A C++ program, built and run."""
    if not machine.programs("cpp-add"):
        return None
    target, code, cause, also = rng.choice([s for s in SOURCES if (s[2] == OT) == own])
    text = HEAD + FILL + code.replace("@MAIN@", "int main() { " + GOOD)
    return Draw(name, target, "cpp-own", cause, also, code=text, command=NVCC)


fifth("mistake-cpp")(lambda rng, machine: _cpp(rng, machine, "mistake-cpp", False))
fifth("mistake-cpp-again")(lambda rng, machine: _cpp(rng, machine, "mistake-cpp-again", False))
fifth("ending-cpp")(lambda rng, machine: _cpp(rng, machine, "ending-cpp", True))
# ------------------------------------------------------------------------------------------------ endings of their own
BEGIN = {
    "torch": T
    + "net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)).to('@D@')\nopt = torch.optim.SGD(net.parameters(), 0.01)\nfor step in range(5):\n    loss = net(torch.randn(32, 64, device='@D@')).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\n    print(f'step {step} loss {loss.item():.4f} on @D@', flush=True)\n",
    "jax": J
    + "step = jax.jit(lambda w, x: w - 0.1 * jax.grad(lambda v: jnp.mean((x @ v) ** 2))(w))\nw = jax.device_put(jnp.ones((16, 4)), jax.devices('@J@')[0])\nfor i in range(4):\n    w = step(w, jnp.ones((8, 16)))\n    print('step', i, float(jnp.abs(w).mean()), flush=True)\n",
    "cupy": C
    + "a = cupy.random.rand(256, 256)\nprint('norm', float(cupy.linalg.norm(a @ a)), 'GPU memory', cupy.get_default_memory_pool().used_bytes(), flush=True)\n",
    "numba-kernel": N
    + "@cuda.jit\ndef add(x):\n    i = cuda.grid(1)\n    if i < x.size:\n        x[i] += 1\nx = cuda.to_device(numpy.zeros(512))\nadd[2, 256](x)\nprint('sum', x.copy_to_host().sum(), flush=True)\n",
}
ENDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "argparse": ("import argparse\np = argparse.ArgumentParser(prog='eval.py')\np.add_argument('--gpu-ids', type=int)\np.parse_args(['--gpu-ids', '0,1'])", ()),
    "key": ("cfg = {'device': 'cuda', 'kernel_size': 3}\ncfg['cudnn_benchmark']", ()),
    "json": ("import json\njson.loads('{\"gpu_memory_fraction\": 0.9, \"oom\": NaNN}')", ()),
    "http": ("import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9/models/gpu.bin', timeout=3)", ("distributed.peer",)),
    "http server": ("import http.server, threading, urllib.request\ns = http.server.HTTPServer(('127.0.0.1', 0), http.server.BaseHTTPRequestHandler)\nthreading.Thread(target=s.serve_forever, daemon=True).start()\nurllib.request.urlopen('http://127.0.0.1:%d/weights' % s.server_port, timeout=5)", ()),
    "unittest": ("import unittest\nclass TestMemory(unittest.TestCase):\n    def test_gpu_matches_cpu(self):\n        self.assertAlmostEqual(0.731, 0.734, places=3, msg='GPU and CPU results differ')\n    def test_ok(self):\n        pass\nunittest.main(argv=['t'])", ()),
    "exit code": ("import sys\nprint('early stopping: no gain in 10 epochs', file=sys.stderr)\nsys.exit(3)", ()),
    "exit text": ("raise SystemExit('error: found 0 GPU jobs in queue.txt')", ()),
    "interrupt": ("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(5)", ()),
    "disk full": ("with open('/dev/full', 'w') as f:\n    f.write('checkpoint' * 10000)", (LIM,)),
    "checkpoint gone": ("open('checkpoints/epoch_12_cuda.pt', 'rb').read()", ()),
    "csv": ("import csv, io\nfor row in csv.DictReader(io.StringIO('id,label\\n1,cat\\n')):\n    float(row['label'])", ()),
    "config": ("import configparser\nc = configparser.ConfigParser()\nc.read_string('[gpu]\\nindex = 0\\n')\nc.get('gpu', 'memory')", ()),
    "child": ("import subprocess\nsubprocess.run(['bash', '-c', 'echo ffmpeg: no decoder for h264_cuvid >&2; exit 8'], check=True)", ()),
    "unpack": ("def metrics():\n    return 1, 2, 3\nacc, loss = metrics()", ()),
    "none": ("best = None\nprint(best.score)", ()),
    "divide": ("batches = []\nprint(sum(batches) / len(batches))", ()),
    "unicode": ("b'\\xff\\xfecuda'.decode('utf-8')", ()),
    "asyncio": ("import asyncio\nasync def main():\n    await asyncio.wait_for(asyncio.sleep(30), 1)\nasyncio.run(main())", ()),
    "import": ("import gpu_dashboard.metrics", ()),
    "chained": ("try:\n    raise RuntimeError('CUDA out of memory. Tried to allocate 2.00 GiB')\nexcept RuntimeError:\n    print('batch halved, going on')\nraise ValueError('batch_size must be at least 8, got 4')", ()),
    "thread": ("import threading, os\ndef w():\n    raise LookupError('no worker for device queue 3')\nt = threading.Thread(target=w)\nt.start()\nt.join()\nos._exit(1)", ()),
    "broken pipe": ("import os\nr, w = os.pipe()\nos.close(r)\nos.write(w, b'frame')", ()),
    "own class": ("class DeviceError(Exception):\n    pass\nraise DeviceError('robot arm: device 2 did not answer on /dev/ttyUSB0')", ()),
}  # fmt: skip


@fifth("ending-own")
def ending_own(rng: random.Random, machine: Machine) -> Draw | None:
    """Real work on the GPU that ends well, then an error of the program's own."""
    return _ending(rng, machine, "ending-own", sorted(ENDS)[::2])


@fifth("ending-own-other")
def ending_own_other(rng: random.Random, machine: Machine) -> Draw | None:
    """The same, other endings."""
    return _ending(rng, machine, "ending-own-other", sorted(ENDS)[1::2])


def _ending(rng: random.Random, machine: Machine, name: str, ends: list[str]) -> Draw | None:
    here = [family for family in BEGIN if machine.programs(family)]
    if not here:
        return None
    family, end = rng.choice(here), rng.choice(ends)
    code = BEGIN[family] + ENDS[end][0] + "\n"
    code = code.replace("@D@", machine.device).replace("@J@", "gpu" if machine.device == "cuda" else "cpu")
    return Draw(name, f"{end} ({family})", f"{family.partition('-')[0]}-own", OT, ENDS[end][1], code=code)


# ------------------------------------------------------------------------------------------------ ending well, loudly
NOISE: dict[str, str] = {
    "old log": "print('''--- yesterday's run ---\nRuntimeError: CUDA error: device-side assert triggered\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 GiB\n--- end ---''', flush=True)\n",
    "caught": "import sys, traceback\ntry:\n    raise RuntimeError('cuDNN error: CUDNN_STATUS_NOT_INITIALIZED')\nexcept RuntimeError:\n    traceback.print_exc()\n    print('retrying with cudnn disabled', file=sys.stderr)\n",
    "logging": "import logging\nlogging.basicConfig()\nlogging.error('could not load dynamic library libnvinfer.so.7; TensorRT is off')\nlogging.critical('NCCL WARN Connect to 10.0.0.7 failed: Connection refused (self test)')\n",
    "warnings": "import warnings\nwarnings.warn('CUDA initialization: The NVIDIA driver on your system is too old (message of the demo)')\nwarnings.warn('Failed to load image Python extension: libpng16.so.16', stacklevel=1)\n",
    "child fails": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'raise MemoryError(\"cannot allocate page-locked memory\")'])\n",
    "no tool": "import subprocess\nsubprocess.run('nvidia-smi-old -L || echo nvidia-smi-old: command not found, skipping', shell=True)\n",
    "docs": 'print(\'Troubleshooting: if you see "no kernel image is available for execution on the device", reinstall; if "libcudart.so.11.0: cannot open shared object file", set LD_LIBRARY_PATH.\')\n',
    "thread dies": "import threading\ndef w():\n    raise OSError(28, 'No space left on device', '/tmp/events.log')\nt = threading.Thread(target=w)\nt.start()\nt.join()\n",
    "optional": "for name in ('tensorrt', 'apex', 'flash_attn', 'bitsandbytes'):\n    try:\n        __import__(name)\n    except Exception as e:\n        print('optional', name, 'not used:', e)\n",
    "atexit": "import atexit, sys\natexit.register(lambda: print('Error: telemetry could not be sent (gpu host unknown)', file=sys.stderr))\n",
    "real oom caught": "try:\n    import torch\n    torch.empty(1 << 50, dtype=torch.uint8, device='@D@')\nexcept Exception as e:\n    print('probe:', type(e).__name__, str(e)[:200])\n",
    "faulthandler": "import faulthandler, sys\nfaulthandler.enable()\nfaulthandler.dump_traceback(sys.stderr)\n",
    "progress": "import sys\nfor i in range(40):\n    sys.stderr.write('\\rloading shards: %d%% errors=0 retries=%d' % (i * 2.5, i % 3))\nsys.stderr.write('\\n')\n",
}


@fifth("loud-healthy")
def loud_healthy(rng: random.Random, machine: Machine) -> Draw | None:
    """A healthy program that says frightening things and ends well: a control."""
    return _loud(rng, machine, "loud-healthy", rng.choice((1, 1, 2, 3)))


def _loud(rng: random.Random, machine: Machine, name: str, count: int) -> Draw | None:
    programs = [p for p in machine.programs() if not p.startswith("cpp") and p not in ("torch-large", "torch-loader")]
    if not programs:
        return None
    program, picked = rng.choice(programs), rng.sample(sorted(NOISE), count)
    noise = "".join(NOISE[key] for key in picked).replace("@D@", machine.device)
    return Draw(name, " + ".join(picked), program, OT, (), code=noise + source(program, machine.device))
