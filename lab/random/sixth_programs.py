"""Sixth operators, the programs: wrong by themselves on a healthy GPU, ending by an error of their own, or ending well.

Part `sixth`. A row is a healthy program that must work for it, a name, the code, the cause, what is as right. `@D@` is the
device, `@S@` a small number, `@J@` JAX's name of the device. No request is larger than fails at once: nobody else starves.
"""

from __future__ import annotations

import random

from lab.random.draw import Draw, Machine
from lab.random.programs import source
from lab.random.sixth import sixth, some

IDX, ILL, LAU, SHA, ORD = "program.index", "program.illegal_access", "program.launch", "program.shape", "program.order"
FORK, BUILD, OOM, HOST, OT = "program.fork", "program.build", "memory.oom", "memory.host", "other.not_gpu"
SEL, SET, LIM, NCCL, PEER = "device.selection", "env.setting", "env.limit", "distributed.nccl", "distributed.peer"
BAD, ODD, UNSUP, OLD = "install.corrupted", "install.inconsistent", "framework.gpu_unsupported", "driver.too_old"
Row = tuple[str, str, str, str, tuple[str, ...]]
T, J, C = "import torch\n", "import jax, jax.numpy as jnp\n", "import cupy\n"
F = "import torch, torch.nn.functional as F\n"
TR = "import torch, triton, triton.language as tl\n"
NET = (
    T
    + "net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4)).to('@D@')\nopt = torch.optim.AdamW(net.parameters(), 1e-3)\n"
)


def _fill(text: str, rng: random.Random, machine: Machine) -> str:
    """The marks of a row filled in."""
    text = text.replace("@D@", machine.device).replace("@S@", str(rng.randrange(2, 9)))
    return text.replace("@J@", "gpu" if machine.device == "cuda" else "cpu")


def _program(rng: random.Random, machine: Machine, name: str, rows: tuple[Row, ...]) -> Draw | None:
    """A program of a table, where what it needs works here."""
    rows = tuple(r for r in rows if machine.programs(r[0]) and (machine.device == "cuda" or "'cuda" not in r[2]))
    if not rows:
        return None
    needs, target, code, cause, also = rng.choice(rows)
    return Draw(name, target, f"{needs.partition('-')[0]}-own", cause, also, code=_fill(code, rng, machine))


def _enter(name: str, rows: tuple[Row, ...]) -> None:
    sixth(name)(lambda rng, machine: _program(rng, machine, name, rows))


SAVE = (
    NET
    + "net(torch.randn(4, 16, device='@D@')).sum().backward()\nopt.step()\ntorch.save({'net': net.state_dict(), 'opt': opt.state_dict()}, 'ckpt.pt')\n"
)
_enter(
    "checkpoint",
    (
        ("torch-graph", "to a card that is not there", SAVE + "c = torch.load('ckpt.pt', map_location='cuda:@S@')\nprint(len(c))\n", SEL, ()),
        ("torch-graph", "card by a function", SAVE + "c = torch.load('ckpt.pt', map_location=lambda s, loc: s.cuda(@S@))\nprint(len(c), 'cuda')\n", SEL, ()),
        ("torch", "another width", SAVE + "big = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)).to('@D@')\nbig.load_state_dict(torch.load('ckpt.pt')['net'])\n", SHA, (OT,)),
        ("torch", "names with a prefix", SAVE + "c = {'module.' + k: v for k, v in torch.load('ckpt.pt')['net'].items()}\nnet.load_state_dict(c)\n", OT, (SHA,)),
        ("torch", "optimizer of another model", SAVE + "o = torch.optim.AdamW(net[0].parameters(), 1e-3)\no.load_state_dict(torch.load('ckpt.pt')['opt'])\n", OT, (SHA,)),
        ("torch", "file cut short", SAVE + "import os\nos.truncate('ckpt.pt', os.path.getsize('ckpt.pt') // 2)\nprint(torch.load('ckpt.pt').keys())\n", OT, (BAD,)),
        ("torch", "a whole module", NET + "torch.save(net, 'whole.pt')\nprint(torch.load('whole.pt', map_location='@D@'))\n", OT, (ODD, "framework.bug")),
        ("torch", "a page instead of weights", NET + "open('w.pt', 'w').write('<!DOCTYPE html><html>Sign in</html>')\nnet.load_state_dict(torch.load('w.pt', map_location='@D@'))\n", OT, (BAD,)),
        ("jax", "array of another shape", "import numpy\n" + J + "numpy.savez('p.npz', w=numpy.ones((8, 4), 'f'))\nw = jnp.asarray(numpy.load('p.npz')['w'])\nprint(jax.jit(lambda x: x @ w)(jnp.ones((2, 7))))\n", SHA, (OT,)),
        ("torch-graph", "moments left on the host", SAVE + "c = torch.load('ckpt.pt', map_location='cpu')\nnet.cuda()\nopt.load_state_dict(c['opt'])\nfor s in opt.state.values():\n    s['exp_avg'] = s['exp_avg'].cpu()\nnet(torch.randn(4, 16, device='cuda')).sum().backward()\nopt.step()\n", SHA, (SEL,)),
    ),
)  # fmt: skip
_enter(
    "mixed-precision",
    (
        ("torch-graph", "step without backward", NET + "s = torch.amp.GradScaler('cuda')\ns.scale(net(torch.randn(4, 16, device='cuda')).sum())\ns.step(opt)\n", ORD, (OT,)),
        ("torch-graph", "half weights unscaled", NET + "net.half()\nopt = torch.optim.SGD(net.parameters(), 0.1)\ns = torch.amp.GradScaler('cuda')\ns.scale(net(torch.randn(4, 16, device='cuda').half()).sum()).backward()\ns.step(opt)\n", SHA, (ORD, OT)),
        ("torch-graph", "bce under autocast", F + "with torch.autocast('cuda'):\n    p = torch.sigmoid(torch.randn(8, device='cuda'))\n    print(F.binary_cross_entropy(p, torch.ones(8, device='cuda')).item())\n", SHA, (ORD, OT)),
        ("torch", "index put of two types", T + "out = torch.zeros(4, 8, device='@D@')\nwith torch.autocast('@D@', dtype=torch.bfloat16):\n    y = torch.nn.Linear(8, 8).to('@D@')(torch.randn(2, 8, device='@D@'))\nout[torch.tensor([0, 2], device='@D@')] = y\nprint(out.sum().item())\n", SHA, ()),
        ("torch", "out of another type", T + "a = torch.randn(8, 8, device='@D@', dtype=torch.bfloat16)\nprint(torch.mm(a, a, out=torch.empty(8, 8, device='@D@')).sum())\n", SHA, ()),
        ("torch", "loss in whole numbers", T + "x = torch.ones(4, device='@D@', dtype=torch.long)\nx.requires_grad_()\n", SHA, (OT,)),
        ("torch-graph", "flash attention in float32", F + "from torch.nn.attention import SDPBackend, sdpa_kernel\nq = torch.randn(1, 4, 64, 32, device='cuda')\nwith sdpa_kernel(SDPBackend.FLASH_ATTENTION):\n    print(F.scaled_dot_product_attention(q, q, q).shape)\n", SHA, (UNSUP,)),
        ("torch-graph", "eight bits, odd size", T + "a = torch.randn(32, 24, device='cuda').to(torch.float8_e4m3fn)\nb = torch.randn(24, 20, device='cuda').to(torch.float8_e4m3fn)\none = torch.ones((), device='cuda')\nprint(torch._scaled_mm(a, b, scale_a=one, scale_b=one).shape)\n", SHA, ()),
        ("torch-graph", "whole numbers, odd size", T + "a = torch.ones(17, 10, dtype=torch.int8, device='cuda')\nprint(torch._int_mm(a, torch.ones(10, 12, dtype=torch.int8, device='cuda')).shape)\n", SHA, ("framework.bug",)),
    ),
)  # fmt: skip
_enter(
    "own-gradient",
    (
        ("torch", "no number", NET + "net(torch.randn(4, 16, device='@D@')).backward()\n", SHA, (OT, ORD)),
        ("torch", "leaf changed", T + "w = torch.ones(4, device='@D@', requires_grad=True)\nw += 1\n", ORD, (OT,)),
        ("torch", "nothing to follow", T + "w = torch.ones(4, device='@D@')\n(w * 2).sum().backward()\n", ORD, (OT, SHA)),
        ("torch-graph", "gradient on the host", T + "class Sq(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * x\n    @staticmethod\n    def backward(ctx, g):\n        return g.cpu()\nx = torch.ones(3, device='cuda', requires_grad=True)\nSq.apply(x).sum().backward()\n", SHA, (SEL, OT)),
        ("torch", "gradient of another shape", T + "class Half(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x[::2]\n    @staticmethod\n    def backward(ctx, g):\n        return g\nx = torch.ones(8, device='@D@', requires_grad=True)\nHalf.apply(x).sum().backward()\n", SHA, (OT,)),
        ("torch", "saved value changed", T + "w = torch.randn(8, 8, device='@D@', requires_grad=True)\nh = torch.randn(4, 8, device='@D@')\ny = h @ w\nh.mul_(2)\ny.sum().backward()\n", ORD, (OT, SHA)),
        ("torch", "gradient given, wrong size", T + "x = torch.ones(4, device='@D@', requires_grad=True)\n(x * 2).backward(torch.ones(5, device='@D@'))\n", SHA, (OT,)),
        ("torch", "unused parameter asked for", T + "a = torch.ones(2, device='@D@', requires_grad=True)\nb = torch.ones(2, device='@D@', requires_grad=True)\nprint(torch.autograd.grad((a * 2).sum(), [a, b]))\n", OT, (ORD, SHA)),
        ("jax", "gradient of whole numbers", J + "print(jax.grad(lambda n: n * 2.0)(@S@))\n", SHA, (OT,)),
        ("jax", "gradient of an array", J + "print(jax.grad(lambda x: x ** 2)(jnp.ones(3)))\n", SHA, (OT,)),
        ("jax", "own rule of another form", J + "@jax.custom_vjp\ndef f(x, y):\n    return x * y\nf.defvjp(lambda x, y: (x * y, (x, y)), lambda r, g: (g * r[1],))\nprint(jax.grad(f)(2.0, 3.0))\n", OT, (SHA,)),
    ),
)  # fmt: skip
_enter(
    "streams",
    (
        ("torch-graph", "events without times", T + "a, b = torch.cuda.Event(), torch.cuda.Event()\na.record()\nx = torch.ones(8, device='cuda') * 2\nb.record()\nb.synchronize()\nprint(a.elapsed_time(b))\n", ORD, (OT, SET)),
        ("torch-graph", "graph of nothing replayed", T + "g = torch.cuda.CUDAGraph()\nx = torch.zeros(4, device='cuda')\ng.replay()\n", ORD, ()),
        ("torch-graph", "memory freed in capture", T + "x = torch.zeros(4, device='cuda')\ng = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(g):\n    y = x + 1\n    torch.cuda.empty_cache()\n    torch.cuda.current_stream().synchronize()\n", ORD, ()),
        ("torch-graph", "capture ended by hand", T + "g = torch.cuda.CUDAGraph()\ng.capture_end()\n", ORD, ()),
        ("torch-graph", "event waited for in capture", T + "e = torch.cuda.Event()\nx = torch.zeros(4, device='cuda')\nwith torch.cuda.graph(torch.cuda.CUDAGraph()):\n    y = x * 2\n    e.record()\n    e.synchronize()\n", ORD, ()),
        ("torch-graph", "size from data in capture", T + "x = torch.arange(8, device='cuda')\nwith torch.cuda.graph(torch.cuda.CUDAGraph()):\n    y = x[x > 3] * 2\n", ORD, ()),
        ("cupy", "time of an event never recorded", C + "a, b = cupy.cuda.Event(), cupy.cuda.Event()\na.record()\nprint(cupy.cuda.get_elapsed_time(a, b))\n", ORD, (ILL,)),
        ("cupy", "events without times", C + "a, b = cupy.cuda.Event(disable_timing=True), cupy.cuda.Event(disable_timing=True)\na.record()\nb.record()\nb.synchronize()\nprint(cupy.cuda.get_elapsed_time(a, b))\n", ORD, (ILL,)),
        ("cupy", "value read in capture", C + "x = cupy.arange(8)\ns = cupy.cuda.Stream(non_blocking=True)\nwith s:\n    s.begin_capture()\n    y = int(x[3])\n    s.end_capture()\n", ORD, ()),
        ("torch-graph", "pinned twice over", T + "x = torch.ones(4, device='cuda')\nprint(x.pin_memory().shape)\n", SHA, (SEL, ORD)),
    ),
)  # fmt: skip
CAI = "class Own:\n    def __init__(self, **k):\n        self.__cuda_array_interface__ = k\n"
_enter(
    "interop",
    (
        ("torch-graph", "numpy takes no GPU memory", "import numpy\n" + T + "print(numpy.from_dlpack(torch.ones(4, device='cuda')))\n", SHA, (SEL, OT)),
        ("torch-graph", "numpy through a list", "import numpy\n" + T + "rows = [torch.ones(3, device='cuda') for _ in range(4)]\nprint(numpy.stack(rows).mean())\n", SHA, (SEL, OT)),
        ("torch-graph", "host memory by the GPU's interface", "import numpy\n" + T + CAI + "h = numpy.ones(16, 'f')\nx = torch.as_tensor(Own(shape=(16,), typestr='<f4', data=(h.ctypes.data, False), version=2), device='cuda')\nprint((x + 1).sum().item())\n", ILL, (SHA, SEL, OT)),
        ("torch-graph", "strides that are no multiple", T + CAI + "x = torch.ones(64, device='cuda')\ny = torch.as_tensor(Own(shape=(4,), typestr='<f4', data=(x.data_ptr(), False), strides=(6,), version=2), device='cuda')\nprint(y.sum().item())\n", SHA, (ILL, OT)),
        ("torch-graph", "type that nobody has", T + CAI + "x = torch.ones(64, device='cuda')\ny = torch.as_tensor(Own(shape=(4,), typestr='<f3', data=(x.data_ptr(), False), version=2), device='cuda')\nprint(y.sum().item())\n", SHA, (OT,)),
        ("torch", "capsule used twice", "import torch.utils.dlpack as dl\n" + T + "c = dl.to_dlpack(torch.ones(4, device='@D@'))\na = dl.from_dlpack(c)\nb = dl.from_dlpack(c)\n", ORD, (OT,)),
        ("torch", "tensor that has a gradient", "import torch.utils.dlpack as dl\n" + T + "x = torch.ones(4, device='@D@', requires_grad=True)\nprint(torch.from_dlpack(x))\n", ORD, (OT, SHA)),
        ("jax", "jax takes a list of strings", J + "print(jnp.asarray(['cat', 'dog']))\n", SHA, (OT,)),
        ("jax", "object array", "import numpy\n" + J + "rows = numpy.array([[1, 2], [3]], dtype=object)\nprint(jax.device_put(rows))\n", SHA, (OT,)),
        ("cupy", "ragged rows", C + "print(cupy.asarray([[1, 2, 3], [4, 5]]))\n", SHA, (OT,)),
        ("cupy", "to numpy without asking", "import numpy\n" + C + "x = cupy.arange(8.0)\nprint(numpy.asarray(x).sum())\n", SHA, (OT, SEL)),
        ("cupy", "numpy in the middle", "import numpy\n" + C + "x = cupy.ones(8)\nprint(x + numpy.ones(8))\n", SHA, (OT, SEL)),
        ("torch-graph", "torch on an array of another place", T + "import array\nx = torch.frombuffer(array.array('f', [1.0] * 8), dtype=torch.float32)\nprint(torch.add(x, torch.ones(8, device='cuda'), out=torch.empty(8)))\n", SHA, (SEL,)),
    ),
)  # fmt: skip
_enter(
    "jax-transforms",
    (
        ("jax", "mesh of eight", "import numpy\n" + J + "from jax.sharding import Mesh\nm = Mesh(numpy.array(jax.devices()).reshape(2, 4), ('data', 'model'))\nprint(m)\n", SEL, (SHA, OT)),
        ("jax", "make_mesh", J + "print(jax.make_mesh((4,), ('data',)))\n", SEL, (SHA, OT)),
        ("jax", "axis that the mesh has not", J + "from jax.sharding import NamedSharding, PartitionSpec as P\nm = jax.make_mesh((1,), ('data',))\nprint(jax.device_put(jnp.ones((4, 4)), NamedSharding(m, P('model'))))\n", OT, (SHA, SEL)),
        ("jax", "more parts than dimensions", J + "from jax.sharding import NamedSharding, PartitionSpec as P\nm = jax.make_mesh((1,), ('data',))\nprint(jax.device_put(jnp.ones(4), NamedSharding(m, P('data', None, None))))\n", SHA, (OT, SEL)),
        ("jax", "while changes its length", J + "print(jax.lax.while_loop(lambda c: c.sum() < 5, lambda c: jnp.append(c, 1.0), jnp.zeros(2)))\n", SHA, (OT,)),
        ("jax", "scan over unlike lengths", J + "print(jax.lax.scan(lambda c, x: (c + x[0] * x[1], c), 0.0, (jnp.ones(4), jnp.ones(@S@ + 3))))\n", SHA, (OT,)),
        ("jax", "slice above the array", J + "print(jax.jit(lambda x: jax.lax.dynamic_slice(x, (0,), (9,)))(jnp.ones(4)))\n", SHA, (OT, IDX)),
        ("jax", "axis of vmap", J + "print(jax.vmap(lambda x: x * 2, in_axes=3)(jnp.ones((2, 2))))\n", SHA, (OT, IDX)),
        ("jax", "list as a static value", J + "f = jax.jit(lambda x, dims: x.sum(dims), static_argnums=1)\nprint(f(jnp.ones((2, 2)), [0, 1]))\n", OT, (SHA,)),
        ("jax", "length from a traced value", J + "print(jax.jit(lambda n: jnp.arange(n))(@S@))\n", ORD, (OT, SHA)),
        ("jax", "mask inside jit", J + "print(jax.jit(lambda x: x[x > 0].sum())(jnp.arange(-3.0, 3.0)))\n", ORD, (OT, SHA)),
        ("jax", "item assignment", J + "x = jax.device_put(jnp.zeros(4), jax.devices('@J@')[0])\nx[2] = 1.0\n", OT, (ORD, SHA)),
        ("jax", "numpy inside jit", "import numpy\n" + J + "print(jax.jit(lambda x: numpy.linalg.norm(numpy.asarray(x)))(jnp.ones(4)))\n", ORD, (OT, SHA)),
        ("jax", "one tree and another", J + "p = {'w': jnp.ones(3), 'b': jnp.ones(1)}\ng = {'w': jnp.ones(3)}\nprint(jax.tree.map(lambda a, b: a - b, p, g))\n", OT, (SHA,)),
        ("jax", "axis name nobody bound", J + "print(jax.jit(lambda x: jax.lax.psum(x, 'batch'))(jnp.ones(4)))\n", OT, (SHA, ORD, PEER)),
    ),
)  # fmt: skip
_enter(
    "library-limits",
    (
        ("torch-graph", "half transform, odd length", T + "print(torch.fft.fft(torch.randn(100, device='cuda', dtype=torch.half)).shape)\n", SHA, ()),
        ("torch", "not positive", T + "print(torch.linalg.cholesky(-torch.eye(8, device='@D@')))\n", OT, (SHA,)),
        ("torch", "singular", T + "print(torch.linalg.inv(torch.zeros(4, 4, device='@D@')))\n", OT, (SHA,)),
        ("torch", "not square", T + "print(torch.linalg.eigh(torch.ones(4, 5, device='@D@')))\n", SHA, (OT,)),
        ("torch", "transform of length nothing", T + "print(torch.fft.rfft(torch.randn(4, 0, device='@D@')).shape)\n", SHA, (OT,)),
        ("torch", "more than there are", T + "print(torch.randn(@S@, device='@D@').topk(50))\n", SHA, (IDX, OT)),
        ("torch", "sparse times unlike", T + "a = torch.eye(8, device='@D@').to_sparse_csr()\nprint((a @ torch.ones(9, 2, device='@D@')).shape)\n", SHA, ()),
        ("torch", "sparse rows out of order", T + "print(torch.sparse_csr_tensor(torch.tensor([0, 3, 2]), torch.tensor([0, 1]), torch.ones(2), size=(2, 2), device='@D@', check_invariants=True))\n", SHA, (IDX, OT)),
        ("cupy", "solve of unlike", C + "print(cupy.linalg.solve(cupy.eye(4), cupy.ones(5)))\n", SHA, (OT,)),
        ("cupy", "cholesky of a line", C + "print(cupy.linalg.cholesky(cupy.ones(5)))\n", SHA, (OT,)),
        ("cupy", "whole numbers of long", C + "print(cupy.linalg.svd(cupy.ones((2, 2), dtype='complex64').astype('float16')))\n", SHA, (OT,)),
        ("jax", "cholesky not square", J + "print(jnp.linalg.cholesky(jnp.ones((3, 4))))\n", SHA, (OT,)),
        ("torch", "grid of another kind", F + "print(F.grid_sample(torch.ones(1, 3, 8, 8, device='@D@'), torch.zeros(2, 4, 4, 2, device='@D@')).shape)\n", SHA, ()),
        ("torch", "one value a channel", T + "m = torch.nn.BatchNorm1d(8).to('@D@')\nprint(m(torch.ones(1, 8, device='@D@')))\n", SHA, (OT,)),
    ),
)  # fmt: skip
K = TR + "@triton.jit\ndef k(x, n, B: tl.constexpr):\n"
_enter(
    "triton-kernels",
    (
        ("triton", "block stored through one pointer", K + "    tl.store(x, tl.arange(0, B))\nk[(1,)](torch.zeros(64, device='cuda'), 64, B=64)\n", BUILD, (SHA, OT)),
        ("triton", "axis three", K + "    tl.store(x + tl.program_id(3), 1.0)\nk[(1,)](torch.zeros(64, device='cuda'), 64, B=64)\n", BUILD, (LAU, SHA, OT)),
        ("triton", "called like a function", K + "    tl.store(x, 1.0)\nk(torch.zeros(64, device='cuda'), 64, B=64)\n", OT, (BUILD, LAU, ORD)),
        ("triton", "argument forgotten", K + "    tl.store(x, 1.0)\nk[(1,)](torch.zeros(64, device='cuda'), B=64)\n", OT, (BUILD, LAU, SHA)),
        ("triton", "shapes that do not broadcast", K + "    a = tl.load(x + tl.arange(0, B))\n    b = tl.load(x + tl.arange(0, B * 2))\n    tl.store(x + tl.arange(0, B), a + b)\nk[(1,)](torch.zeros(128, device='cuda'), 64, B=64)\n", SHA, (BUILD, OT)),
        ("triton", "list in a kernel", K + "    v = [i for i in range(n)]\n    tl.store(x, v[0])\nk[(1,)](torch.zeros(64, device='cuda'), 64, B=64)\n", BUILD, (OT, SHA)),
        ("triton", "type changes in a loop", K + "    v = 0\n    for i in range(n):\n        v = v + tl.load(x + i)\n    tl.store(x, v)\nk[(1,)](torch.zeros(64, device='cuda'), 64, B=64)\n", BUILD, (SHA, OT)),
        ("triton", "very large tile", K + "    i = tl.arange(0, B)\n    tl.store(x + i, tl.load(x + i) * 2)\nk[(1,)](torch.zeros(1 << 22, device='cuda'), 64, B=1 << 22)\n", LAU, (BUILD, SHA, OT)),
        ("triton", "static assert", K + "    tl.static_assert(B % 128 == 0, 'block must be a multiple of 128')\n    tl.store(x, 1.0)\nk[(1,)](torch.zeros(64, device='cuda'), 64, B=64)\n", BUILD, (SHA, LAU, OT)),
        ("triton", "object for a pointer", K + "    tl.store(x, 1.0)\nk[(1,)]({'data': 1}, 64, B=64)\n", SHA, (OT, BUILD)),
    ),
)  # fmt: skip
DRV = (
    "import ctypes\ncu = ctypes.CDLL('libcuda.so.1')\ndef check(code, what):\n    if code:\n        name = ctypes.c_char_p()\n        cu.cuGetErrorName(code, ctypes.byref(name))\n"
    "        raise SystemExit(f'{what}: {(name.value or b\"unknown\").decode()} ({code})')\n    print(what, 'ok', flush=True)\n"
)
CTX = (
    DRV
    + "check(cu.cuInit(0), 'cuInit')\nctx = ctypes.c_void_p()\ncheck(cu.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), 0), 'cuDevicePrimaryCtxRetain')\ncheck(cu.cuCtxSetCurrent(ctx), 'cuCtxSetCurrent')\nmod, fun, ptr = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()\n"
)
PTX = "'.version {0}\\n.target {1}\\n.address_size 64\\n.visible .entry k()\\n{{\\n{2}ret;\\n}}\\n'"
LOAD = "check(cu.cuModuleLoadData(ctypes.byref(mod), ({0}).encode()), 'cuModuleLoadData')\n"
_enter(
    "driver-calls",
    (
        ("cupy", "text that is no PTX", CTX + LOAD.format(PTX.format("8.0", "sm_80", "frobnicate.u32 %r1;\\n")), BUILD, ("cuda.compiler_missing", UNSUP)),
        ("cupy", "PTX of a later toolkit", CTX + LOAD.format(PTX.format("9.9", "sm_80", "")), OLD, (BUILD, "cuda.version_mismatch", UNSUP)),
        ("cupy", "PTX for a later card", CTX + LOAD.format(PTX.format("8.8", "sm_121", "")), UNSUP, (BUILD, OLD)),
        ("cupy", "image of zeros", CTX + "open('k.cubin', 'wb').write(bytes(4096))\ncheck(cu.cuModuleLoad(ctypes.byref(mod), b'k.cubin'), 'cuModuleLoad')\n", BAD, (BUILD, UNSUP, OT)),
        ("cupy", "file not there", CTX + "check(cu.cuModuleLoad(ctypes.byref(mod), b'build/kernels.fatbin'), 'cuModuleLoad')\n", OT, (BUILD, "env.path", BAD)),
        ("cupy", "no such function", CTX + LOAD.format(PTX.format("8.0", "sm_80", "")) + "check(cu.cuModuleGetFunction(ctypes.byref(fun), mod, b'reduce_sum'), 'cuModuleGetFunction')\n", BUILD, (OT, UNSUP)),
        ("cupy", "no context", DRV + "check(cu.cuInit(0), 'cuInit')\np = ctypes.c_uint64()\ncheck(cu.cuMemAlloc_v2(ctypes.byref(p), 4096), 'cuMemAlloc')\n", ORD, (FORK, OT)),
        ("cupy", "never initialised", DRV + "n = ctypes.c_int()\ncheck(cu.cuDeviceGetCount(ctypes.byref(n)), 'cuDeviceGetCount')\n", ORD, ("driver.not_ready", OT)),
        ("cupy", "device seven", DRV + "check(cu.cuInit(0), 'cuInit')\nd = ctypes.c_int()\ncheck(cu.cuDeviceGet(ctypes.byref(d), 7), 'cuDeviceGet')\n", SEL, ()),
        ("cupy", "block of 4096", CTX + LOAD.format(PTX.format("8.0", "sm_80", "")) + "check(cu.cuModuleGetFunction(ctypes.byref(fun), mod, b'k'), 'cuModuleGetFunction')\ncheck(cu.cuLaunchKernel(fun, 1, 1, 1, 4096, 1, 1, 0, None, None, None), 'cuLaunchKernel')\n", LAU, (SHA,)),
        ("cupy", "stranger's memory freed", CTX + "check(cu.cuMemFree_v2(ctypes.c_uint64(0x1234000)), 'cuMemFree')\n", ILL, (ORD, SHA)),
        ("cupy", "option unknown to NVRTC", C + "m = cupy.RawModule(code='extern \"C\" __global__ void k() {}', options=('--make-it-fast',))\nm.get_function('k')\n", BUILD, (SET, "cuda.compiler_missing")),
        ("cupy", "PTX file with an error", C + "open('k.ptx', 'w').write(" + PTX.format("8.0", "sm_80", "ld.nowhere.f32 %f1;\\n") + ")\nm = cupy.RawModule(path='k.ptx')\nm.get_function('k')\n", BUILD, ("cuda.compiler_missing", UNSUP, BAD)),
        ("cupy", "template never named", C + "m = cupy.RawModule(code='template<typename T> __global__ void k(T* p) { p[0] = 1; }', options=('-std=c++17',))\nm.get_function('k<float>')((1,), (1,), (cupy.zeros(1, dtype='f'),))\n", BUILD, (OT, UNSUP)),
    ),
)  # fmt: skip
G = "import datetime, os, torch\nimport torch.distributed as dist\nos.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(20000 + os.getpid() % 20000), RANK='0', WORLD_SIZE='1')\ndist.init_process_group('nccl' if '@D@' == 'cuda' else 'gloo', timeout=datetime.timedelta(seconds=15))\nx = torch.ones(4, device='@D@')\n"
DDP = "from torch.nn.parallel import DistributedDataParallel as DDP\n"
_enter(
    "group-of-one",
    (
        ("torch-nccl", "list too long", G + "dist.all_gather([torch.empty_like(x) for _ in range(@S@)], x)\n", SHA, (NCCL, OT, PEER)),
        ("torch-nccl", "source that is nobody", G + "dist.broadcast(x, src=@S@)\n", OT, (PEER, NCCL, SHA, SEL)),
        ("torch-nccl", "group of two", G + "dist.new_group([0, 1])\n", OT, (PEER, NCCL, SET)),
        ("torch-nccl", "model on the host", G + DDP + "m = DDP(torch.nn.Linear(4, 4))\nprint(m(x.cpu()).sum().item(), 'cuda')\n".replace("'cuda'", "torch.device('cuda')"), SHA, (SEL, NCCL, OT)),
        ("torch-nccl", "type that is not sent", G + "t = torch.ones(4, dtype=torch.int16, device='cuda')\ndist.all_reduce(t)\nprint(t)\n", SHA, (NCCL,)),
        ("torch-nccl", "not contiguous", G + "t = torch.ones(8, 8, device='cuda')[:, ::2]\ndist.all_reduce(t)\nprint(t.sum().item())\n", SHA, (NCCL,)),
        ("torch-nccl", "sent to itself", G + "dist.send(x, 0)\n", OT, (ORD, PEER, NCCL)),
        ("torch-nccl", "after the end", G + "dist.destroy_process_group()\ndist.all_reduce(x)\n", ORD, (PEER, OT)),
        ("torch-nccl", "nothing to learn", G + DDP + "m = torch.nn.Linear(4, 4).to('@D@').requires_grad_(False)\nDDP(m)\n", OT, ()),
        ("torch-nccl", "parts of another size", G + "dist.reduce_scatter_tensor(torch.empty(3, device='cuda'), torch.ones(4, device='cuda'))\ntorch.cuda.synchronize()\n", SHA, (NCCL,)),
        ("torch-nccl", "card of another node", G + DDP + "DDP(torch.nn.Linear(4, 4).to('cuda:@S@'), device_ids=[@S@])\n", SEL, ()),
    ),
)  # fmt: skip
LOADER = "from torch.utils.data import DataLoader\n"
_enter(
    "training-loop",
    (
        ("torch", "rows of unlike length", T + LOADER + "for x in DataLoader([torch.ones(n) for n in (3, 4, 5, 6)], batch_size=2):\n    print(x.to('@D@').shape)\n", SHA, (OT,)),
        ("torch", "batch and labels", F + "print(F.cross_entropy(torch.randn(8, 3, device='@D@'), torch.zeros(4, dtype=torch.long, device='@D@')).item())\n", SHA, (OT,)),
        ("torch-graph", "lengths on the GPU", T + "x = torch.ones(2, 5, 4, device='cuda')\nprint(torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 3], device='cuda'), batch_first=True))\n", SHA, (SEL, OT)),
        ("torch-graph", "default device and shuffling", T + LOADER + "torch.set_default_device('cuda')\nfor x in DataLoader(list(range(8)), shuffle=True):\n    print(x)\n", SHA, (SEL, OT)),
        ("torch", "schedule at its end", NET + "s = torch.optim.lr_scheduler.OneCycleLR(opt, 0.1, total_steps=3)\nfor step in range(9):\n    opt.zero_grad()\n    net(torch.randn(4, 16, device='@D@')).sum().backward()\n    opt.step()\n    s.step()\n    print('step', step, flush=True)\n", OT, ()),
        ("torch", "gradients that are no numbers", NET + "(net(torch.randn(4, 16, device='@D@')).sum() * float('nan')).backward()\ntorch.nn.utils.clip_grad_norm_(net.parameters(), 1.0, error_if_nonfinite=True)\n", OT, (SHA,)),
        ("torch", "nothing to train", T + "m = torch.nn.ReLU().to('@D@')\ntorch.optim.SGD(m.parameters(), 0.1)\n", OT, ()),
        ("torch", "mask of another length", T + "a = torch.nn.MultiheadAttention(16, 4, batch_first=True).to('@D@')\nx = torch.randn(2, 6, 16, device='@D@')\nprint(a(x, x, x, attn_mask=torch.zeros(5, 5, device='@D@'))[0].shape)\n", SHA, (OT,)),
        ("torch", "loss kept as a picture", NET + "loss = net(torch.randn(4, 16, device='@D@')).sum()\nprint('mean', loss.cpu().numpy())\n", ORD, (OT, SHA)),
        ("torch-compile", "backend misspelt", T + "f = torch.compile(lambda x: x * 2, backend='inducter')\nprint(f(torch.ones(4, device='@D@')))\n", OT, (SET, BUILD)),
        ("torch", "heads do not divide", T + "m = torch.nn.TransformerEncoderLayer(30, 4, batch_first=True).to('@D@')\nprint(m(torch.ones(2, 3, 30, device='@D@')).shape)\n", OT, (SHA,)),
        ("torch", "images as bytes", T + "m = torch.nn.Conv2d(3, 8, 3).to('@D@')\nx = torch.zeros(2, 3, 16, 16, dtype=torch.uint8, device='@D@')\nprint(m(x).shape)\n", SHA, ()),
        ("torch", "channels at the end", T + "m = torch.nn.Conv2d(3, 8, 3).to('@D@')\nprint(m(torch.zeros(2, 16, 16, 3, device='@D@')).shape)\n", SHA, ()),
    ),
)  # fmt: skip
# ------------------------------------------------------------------------------------------------ a fault inside of something
INNER: tuple[Row, ...] = (
    ("torch", "shapes", "def work(n=4):\n    import torch\n    a = torch.randn(n, 5, device='@D@')\n    return (a @ a).sum().item()\n", SHA, ()),
    ("torch", "normalised shape", "def work(n=4):\n    import torch\n    return torch.nn.LayerNorm(12).to('@D@')(torch.randn(n, 10, device='@D@')).sum().item()\n", SHA, ()),
    ("torch-graph", "two places", "def work(n=4):\n    import torch\n    return torch.nn.Linear(4, 4).to('cuda')(torch.ones(n, 4)).sum().item()\n", SHA, (SEL,)),
    ("torch", "label above the classes", "def work(n=4):\n    import torch\n    y = torch.full((n,), 17, device='@D@')\n    return torch.nn.functional.cross_entropy(torch.randn(n, 10, device='@D@'), y).item()\n", IDX, ()),
    ("torch-graph", "petabyte", "def work(n=4):\n    import torch\n    return torch.empty(n << 48, dtype=torch.uint8, device='cuda').sum().item()\n", OOM, ()),
    ("torch-graph", "card five", "def work(n=4):\n    import torch\n    return torch.ones(n, device='cuda:5').sum().item()\n", SEL, ()),
    ("cupy", "block too large", "def work(n=4):\n    import cupy\n    k = cupy.RawKernel('extern \"C\" __global__ void k(float* p) { p[0] = 1; }', 'k')\n    x = cupy.zeros(4, dtype='f')\n    k((1,), (n * 1024,), (x,))\n    return float(x.sum())\n", LAU, ()),
    ("cupy", "wild address", "def work(n=4):\n    import cupy\n    k = cupy.RawKernel('extern \"C\" __global__ void k(float* p, long long n) { p[n << 34] = 1; }', 'k')\n    x = cupy.zeros(4, dtype='f')\n    k((1,), (1,), (x, n))\n    return float(x.sum())\n", ILL, ()),
    ("cupy", "kernel with a slip", "def work(n=4):\n    import cupy\n    k = cupy.RawKernel('extern \"C\" __global__ void k(float* p) { p[0] = alpha; }', 'k')\n    k((1,), (1,), (cupy.zeros(n, dtype='f'),))\n    return 0\n", BUILD, ()),
    ("jax", "shapes", "def work(n=4):\n    import jax.numpy as jnp\n    return float((jnp.ones((n, 5)) @ jnp.ones((n, 5))).sum())\n", SHA, (OT,)),
    ("jax", "no such platform", "def work(n=4):\n    import jax\n    return jax.devices('tpu')[0].id\n", SEL, (SET, OT)),
    ("torch-graph", "read in capture", "def work(n=4):\n    import torch\n    x = torch.ones(n, device='cuda')\n    with torch.cuda.graph(torch.cuda.CUDAGraph()):\n        return (x * 2).sum().item()\n", ORD, ()),
)  # fmt: skip
AROUND: dict[str, str] = {
    "task group": "import asyncio\nasync def main():\n    async with asyncio.TaskGroup() as g:\n        g.create_task(asyncio.sleep(20))\n        g.create_task(asyncio.to_thread(work))\nasyncio.run(main())\n",
    "raised from": "class TrainingError(Exception):\n    pass\ntry:\n    work()\nexcept Exception as e:\n    raise TrainingError('epoch 3, batch 118') from e\n",
    "while handling": "state = {}\ntry:\n    work()\nexcept Exception:\n    print('saving state of', state['run_id'])\n",
    "pool of threads": "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(3) as ex:\n    print(list(ex.map(work, [4, 6, 8])))\n",
    "logged": "import logging, sys\nlogging.basicConfig(format='%(asctime)s %(name)s[%(process)d] %(levelname)s %(message)s', level='INFO')\nlog = logging.getLogger('trainer')\nlog.info('device ready')\ntry:\n    work()\nexcept Exception:\n    log.exception('run failed')\n    sys.exit(1)\n",
    "one line": "import sys\ntry:\n    work()\nexcept Exception as e:\n    sys.exit('fatal: ' + ' '.join(str(e).split())[:600])\n",
    "tried again": "import time\nlast = None\nfor attempt in range(3):\n    try:\n        work()\n        break\n    except Exception as e:\n        last = e\n        print(f'attempt {attempt + 1} failed: {type(e).__name__}, waiting', flush=True)\n        time.sleep(0.2)\nelse:\n    raise RuntimeError(f'gave up after 3 attempts: {last!r}')\n",
    "unittest": "import unittest\nclass TestModel(unittest.TestCase):\n    def setUp(self):\n        self.rate = 0.1\n    def test_forward(self):\n        self.assertGreater(work(), 0)\n    def test_rate(self):\n        self.assertLess(self.rate, 1)\nunittest.main(argv=['t'], verbosity=2)\n",
    "child": "import subprocess, sys\nif len(sys.argv) > 1:\n    work()\n    sys.exit()\nprint('starting worker', flush=True)\nsubprocess.run([sys.executable, __file__, 'worker'], check=True)\n",
    "child kept quiet": "import subprocess, sys\nif len(sys.argv) > 1:\n    work()\n    sys.exit()\ndone = subprocess.run([sys.executable, __file__, 'worker'], capture_output=True, text=True)\nif done.returncode:\n    print('worker failed:')\n    print('\\n'.join('  | ' + line for line in done.stderr.splitlines()[-25:]))\n    sys.exit(done.returncode)\n",
    "spawned pool": "import multiprocessing as mp\nif __name__ == '__main__':\n    with mp.get_context('spawn').Pool(1) as pool:\n        print(pool.map(work, [4]))\n",
    "json log": "import json, sys, traceback\ntry:\n    work()\nexcept Exception as e:\n    print(json.dumps({'level': 'ERROR', 'ts': 1773000000, 'msg': str(e), 'stack': traceback.format_exc()}), file=sys.stderr)\n    sys.exit(70)\n",
    "note added": "try:\n    work()\nexcept Exception as e:\n    e.add_note('while running config exp/17.yaml')\n    e.add_note('owner: vision team')\n    raise\n",
    "in a thread": "import os, threading\nfailed = []\ndef go():\n    try:\n        work()\n    except BaseException:\n        failed.append(1)\n        raise\nt = threading.Thread(target=go, name='gpu-worker-0')\nt.start()\nt.join()\nos._exit(3 if failed else 0)\n",
    "generator": "import contextlib\n@contextlib.contextmanager\ndef session():\n    try:\n        yield 1\n    finally:\n        print('session closed', flush=True)\nwith session(), contextlib.suppress(KeyError):\n    work()\n",
    "exec": "exec(compile('result = work()\\nprint(result)', '<cell 12>', 'exec'))\n",
}  # fmt: skip


def _inner(rng: random.Random, machine: Machine) -> Row | None:
    rows = [r for r in INNER if machine.programs(r[0]) and (machine.device == "cuda" or "'cuda" not in r[2])]
    return rng.choice(rows) if rows else None


def _around(rng: random.Random, machine: Machine, name: str, keys: list[str]) -> Draw | None:
    row, key = _inner(rng, machine), rng.choice(keys)
    if not row:
        return None
    needs, target, code, cause, also = row
    also = (*also, OT) if key == "while handling" and OT not in also else also
    text = _fill(code + AROUND[key], rng, machine)
    return Draw(name, f"{target} ({key})", f"{needs.partition('-')[0]}-own", cause, also, code=text)


sixth("wrapped")(lambda rng, machine: _around(rng, machine, "wrapped", sorted(AROUND)[::2]))
sixth("wrapped-other")(lambda rng, machine: _around(rng, machine, "wrapped-other", sorted(AROUND)[1::2]))
HOOKED = "import logging, sys\nlogging.basicConfig(filename='app.log', format='%(asctime)s %(levelname)s %(message)s')\ndef died(kind, value, trace):\n    logging.critical('uncaught', exc_info=(kind, value, trace))\n    print('internal error, see app.log', file=sys.stderr)\nsys.excepthook = died\n"
FILED = (
    ("train.log", "$PYTHON $SCRIPT > train.log 2>&1 || { echo 'training failed, see train.log' >&2; exit 1; }", ""),
    ("last line only", "$PYTHON $SCRIPT > run.log 2>&1; c=$?; tail -n 1 run.log; exit $c", ""),
    ("own hook", "$PYTHON $SCRIPT", HOOKED),
    ("make", "mkdir -p logs; echo 'python3 train.py > logs/out.txt 2> logs/err.txt'; $PYTHON $SCRIPT > logs/out.txt 2> logs/err.txt || { echo 'make: *** [Makefile:12: train] Error 1' >&2; exit 2; }", ""),
    ("filtered", "set -o pipefail; $PYTHON $SCRIPT 2>&1 | grep -v '^  ' | cut -c1-120", ""),
    ("nohup", "nohup $PYTHON $SCRIPT > nohup.out 2>&1; c=$?; [ $c = 0 ] || { echo \"job left with $c, output in nohup.out\"; exit $c; }", ""),
)  # fmt: skip


@sixth("log-in-file")
def log_in_file(rng: random.Random, machine: Machine) -> Draw | None:
    """The fault is told in a file beside the program; the terminal shows next to nothing."""
    row, (target, command, head) = _inner(rng, machine), rng.choice(FILED)
    if not row:
        return None
    needs, name, code, cause, also = row
    text = _fill(head + code + "print('start', flush=True)\nprint(work())\n", rng, machine)
    return Draw(
        "log-in-file", f"{name} ({target})", f"{needs.partition('-')[0]}-own", cause, also, code=text, command=command
    )


# ------------------------------------------------------------------------------------------------ C++
HEAD = r"""
#include <cstdio>
#include <cstdlib>
#include <vector>
#define OK(c) do { cudaError_t e_ = (c); if (e_ != cudaSuccess) { fprintf(stderr, "[%s:%d] %s -> %s: %s\n", "main.cu", __LINE__, #c, cudaGetErrorName(e_), cudaGetErrorString(e_)); exit(1); } } while (0)
__global__ void scale(float* p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] *= 2; }
"""
GOOD = 'float* d; OK(cudaMalloc(&d, 4096)); scale<<<4, 256>>>(d, 1024); OK(cudaGetLastError()); OK(cudaDeviceSynchronize()); printf("warm-up done\\n"); fflush(stdout);\n'
NVCC = "nvcc -arch=sm_90 -o $W/a $SCRIPT && $W/a"
Source = tuple[str, str, str, str, tuple[str, ...]]
CALLS: tuple[Source, ...] = (
    ("pitch of a texture", "@MAIN@ cudaResourceDesc r = {}; r.resType = cudaResourceTypePitch2D; r.res.pitch2D.devPtr = d; r.res.pitch2D.desc = cudaCreateChannelDesc<float>(); r.res.pitch2D.width = 10; r.res.pitch2D.height = 10; r.res.pitch2D.pitchInBytes = 44; cudaTextureDesc t = {}; cudaTextureObject_t o; OK(cudaCreateTextureObject(&o, &r, &t, nullptr)); return 0; }", NVCC, SHA, (LAU, ILL)),
    ("constant too small", "__constant__ float c[16];\n@MAIN@ std::vector<float> h(1024); OK(cudaMemcpyToSymbol(c, h.data(), 4096)); return 0; }", NVCC, SHA, (ILL,)),
    ("managed memory to card five", "@MAIN@ float* m; OK(cudaMallocManaged(&m, 4096)); cudaMemLocation l = {}; l.type = cudaMemLocationTypeDevice; l.id = 5; OK(cudaMemPrefetchAsync(m, 4096, l, 0, 0)); return 0; }", NVCC, SEL, ()),
    ("own memory by handle", "@MAIN@ cudaIpcMemHandle_t h; void* q; OK(cudaIpcGetMemHandle(&h, d)); OK(cudaIpcOpenMemHandle(&q, h, cudaIpcMemLazyEnablePeerAccess)); return 0; }", NVCC, ORD, (FORK,)),
    ("registered twice", "@MAIN@ void* h = malloc(1 << 20); OK(cudaHostRegister(h, 1 << 20, 0)); OK(cudaHostRegister(h, 1 << 20, 0)); return 0; }", NVCC, ORD, (HOST,)),
    ("host memory freed as the card's", "@MAIN@ float* h = (float*)malloc(4096); OK(cudaFree(h)); return 0; }", NVCC, ILL, (ORD, SHA)),
    ("capture of the default stream", "@MAIN@ OK(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal)); return 0; }", NVCC, ORD, ()),
    ("events of another stream in capture", "@MAIN@ cudaStream_t s; cudaEvent_t e; cudaGraph_t g; OK(cudaStreamCreate(&s)); OK(cudaEventCreate(&e)); OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal)); scale<<<1, 32, 0, s>>>(d, 32); OK(cudaEventRecord(e, s)); OK(cudaEventQuery(e)); OK(cudaStreamEndCapture(s, &g)); return 0; }", NVCC, ORD, ()),
    ("handle never made", "#include <cublas_v2.h>\n@MAIN@ cublasHandle_t h = nullptr; float one = 1; cublasStatus_t s = cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, d, 8, d, 8, &one, d, 8); if (s) { fprintf(stderr, \"sgemm: %s\\n\", cublasGetStatusName(s)); return 1; } return 0; }", NVCC + " # -lcublas", ORD, ("memory.oom",)),
    ("transform of minus five", "#include <cufft.h>\n@MAIN@ cufftHandle p; cufftResult r = cufftPlan1d(&p, -5, CUFFT_C2C, 1); if (r) { fprintf(stderr, \"cufftPlan1d failed with %d\\n\", r); return 1; } return 0; }", NVCC + " # -lcufft", SHA, (OT,)),
    ("matrix not positive", "#include <cusolverDn.h>\n@MAIN@ cusolverDnHandle_t h; float *a, m[4] = {-1, 0, 0, -1}, *w; int *info, i, n; if (cusolverDnCreate(&h)) return 9; OK(cudaMalloc(&a, 16)); OK(cudaMalloc(&info, 4)); OK(cudaMemcpy(a, m, 16, cudaMemcpyHostToDevice)); cusolverDnSpotrf_bufferSize(h, CUBLAS_FILL_MODE_LOWER, 2, a, 2, &n); OK(cudaMalloc(&w, n * 4 + 4)); cusolverDnSpotrf(h, CUBLAS_FILL_MODE_LOWER, 2, a, 2, w, n, info); OK(cudaMemcpy(&i, info, 4, cudaMemcpyDeviceToHost)); if (i) { fprintf(stderr, \"potrf: leading minor %d is not positive definite\\n\", i); return 1; } return 0; }", NVCC + " # -lcusolver", OT, (SHA,)),
    ("source for NVRTC with a slip", "#include <nvrtc.h>\n@MAIN@ nvrtcProgram p; nvrtcCreateProgram(&p, \"extern \\\"C\\\" __global__ void k(float* x) { x[0] = beta; }\", \"gen.cu\", 0, nullptr, nullptr); nvrtcResult r = nvrtcCompileProgram(p, 0, nullptr); if (r) { size_t n; nvrtcGetProgramLogSize(p, &n); std::vector<char> l(n); nvrtcGetProgramLog(p, l.data()); fprintf(stderr, \"%s: %s\\n\", nvrtcGetErrorString(r), l.data()); return 1; } return 0; }", NVCC + " # -lnvrtc", BUILD, ("cuda.compiler_missing",)),
    ("cluster of 64", "__global__ void k(float* p) { p[0] = 1; }\n@MAIN@ cudaLaunchConfig_t c = {}; c.gridDim = 64; c.blockDim = 128; cudaLaunchAttribute a[1]; a[0].id = cudaLaunchAttributeClusterDimension; a[0].val.clusterDim.x = 64; a[0].val.clusterDim.y = 1; a[0].val.clusterDim.z = 1; c.attrs = a; c.numAttrs = 1; OK(cudaLaunchKernelEx(&c, k, d)); OK(cudaDeviceSynchronize()); return 0; }", NVCC, LAU, ()),
    ("host function as a kernel", "void helper(float*) {}\n@MAIN@ void* a[] = {&d}; OK(cudaLaunchKernel((void*)helper, dim3(1), dim3(32), a, 0, 0)); return 0; }", NVCC, LAU, (BUILD, UNSUP)),
    ("only the number 700", "__global__ void k(float* p) { p[(long long)blockIdx.x + (1ll << 40)] = 1; }\n@MAIN@ k<<<2, 32>>>(d); int e = cudaDeviceSynchronize(); if (e) { fprintf(stderr, \"solver: step 12 failed, CUDA error %d\\n\", e); return 1; } return 0; }", NVCC, ILL, ()),
    ("only the number 9", "@MAIN@ scale<<<1, 4096>>>(d, 4096); int e = cudaGetLastError(); if (e) { fprintf(stderr, \"solver: CUDA error %d\\n\", e); return e; } return 0; }", NVCC, LAU, ()),
    ("only the number 2", "@MAIN@ void* q; int e = cudaMalloc(&q, (size_t)1 << 46); if (e) { fprintf(stderr, \"allocation of grid failed (cudaError %d)\\n\", e); return 1; } return 0; }", NVCC, OOM, ()),
    ("only the number 101", "@MAIN@ int e = cudaSetDevice(6); if (e) { fprintf(stderr, \"cudaSetDevice returned %d\\n\", e); return 1; } return 0; }", NVCC, SEL, ()),
    ("error told too late", "__global__ void k(float* p) { asm(\"trap;\"); }\n@MAIN@ k<<<1, 1>>>(d); std::vector<float> h(16); cudaMemcpy(h.data(), d, 64, cudaMemcpyDeviceToHost); OK(cudaFree(d)); return 0; }", NVCC, ILL, (LAU,)),
)  # fmt: skip
BUILDS: tuple[Source, ...] = (
    ("kernel in a kernel", "__global__ void k(float* p) { scale<<<1, 32>>>(p, 32); }\n@MAIN@ k<<<1, 1>>>(d); return 0; }", NVCC, BUILD, ()),
    ("static shared memory", "__global__ void k(float* p) { __shared__ float s[40000]; s[threadIdx.x] = p[0]; __syncthreads(); p[threadIdx.x] = s[31 - threadIdx.x]; }\n@MAIN@ k<<<1, 32>>>(d); return 0; }", NVCC, BUILD, (LAU,)),
    ("constants above 64 KB", "__constant__ float table[20000];\n__global__ void k(float* p) { p[0] = table[threadIdx.x]; }\n@MAIN@ k<<<1, 1>>>(d); return 0; }", NVCC, BUILD, (LAU,)),
    ("lambda without its flag", "template <class F> __global__ void each(F f) { f(threadIdx.x); }\n@MAIN@ float* q = d; each<<<1, 32>>>([=] __device__(int i) { q[i] = i; }); return 0; }", NVCC, BUILD, ()),
    ("old standard", "#include <optional>\nstd::optional<int> best;\n@MAIN@ return best.value_or(0); }", NVCC.replace("nvcc", "nvcc -std=c++11", 1), BUILD, ()),
    ("instruction of a later card", "__global__ void k(float* p) { asm volatile(\"fence.proxy.async;\"); p[0] = 1; }\n@MAIN@ k<<<1, 1>>>(d); return 0; }", NVCC.replace("sm_90", "sm_80"), BUILD, (UNSUP,)),
    ("slip in inline PTX", "__global__ void k(int* p) { int r; asm(\"addd.s32 %0, %1, 4;\" : \"=r\"(r) : \"r\"(p[0])); p[0] = r; }\n@MAIN@ k<<<1, 1>>>((int*)d); return 0; }", NVCC, BUILD, ()),
    ("as plain C++", "@MAIN@ return 0; }", "cp $SCRIPT $W/main.cpp && g++ -o $W/a $W/main.cpp && $W/a", BUILD, ("env.path",)),
    ("two mains", "@MAIN@ return 0; }", "cp $SCRIPT $W/b.cu && nvcc -arch=sm_90 -o $W/a $SCRIPT $W/b.cu && $W/a", BUILD, ()),
    ("library not independent", "@MAIN@ return 0; }", "nvcc -arch=sm_90 -Xcompiler -fno-pic -shared -o $W/liba.so $SCRIPT && echo built", BUILD, ()),
    ("object of one part only", "__global__ void k(float* p);\n@MAIN@ k<<<1, 1>>>(d); return 0; }", NVCC, BUILD, ()),
    ("module of an older card", "#include <cuda.h>\n@MAIN@ CUmodule m; const char* n = \"?\"; CUresult r = cuModuleLoad(&m, getenv(\"CUBIN\")); if (r) { cuGetErrorName(r, &n); fprintf(stderr, \"cuModuleLoad(kernels.cubin): %s\\n\", n); return 1; } return 0; }", "nvcc -cubin -arch=sm_80 -o $W/kernels.cubin $SCRIPT && nvcc -arch=sm_90 -o $W/a $SCRIPT -lcuda && CUBIN=$W/kernels.cubin $W/a", UNSUP, (BUILD,)),
    ("module cut short", "#include <cuda.h>\n@MAIN@ CUmodule m; const char* n = \"?\"; CUresult r = cuModuleLoad(&m, getenv(\"CUBIN\")); if (r) { cuGetErrorName(r, &n); fprintf(stderr, \"cuModuleLoad(kernels.cubin): %s\\n\", n); return 1; } return 0; }", "nvcc -cubin -arch=sm_90 -o $W/k $SCRIPT && head -c 700 $W/k > $W/kernels.cubin && nvcc -arch=sm_90 -o $W/a $SCRIPT -lcuda && CUBIN=$W/kernels.cubin $W/a", BAD, (BUILD, UNSUP, OT)),
)  # fmt: skip
ENDINGS: tuple[Source, ...] = (
    ("divides by zero", "@MAIN@ volatile int n = 0; printf(\"%d\\n\", 10 / n); return 0; }", NVCC, OT, ()),
    ("own abort", "#include <cassert>\n@MAIN@ int layers = 3; assert(layers == 4 && \"model file has another depth\"); return 0; }", NVCC, OT, ()),
    ("wrong answer", "@MAIN@ fprintf(stderr, \"mismatch at 17: host 0.5310 device 0.5299\\nFAILED\\n\"); return 1; }", NVCC, OT, ()),
    ("own null pointer", "@MAIN@ volatile int* q = nullptr; return *q; }", NVCC, OT, (ILL,)),
    ("missing argument", "@MAIN@ fprintf(stderr, \"missing --input; cuda devices are chosen with --gpu\\n\"); return 2; }", NVCC, OT, ()),
    ("bad text", "#include <string>\n@MAIN@ return std::stoi(std::string(\"cuda:0\")); }", NVCC, OT, ()),
    ("disk full", "@MAIN@ FILE* f = fopen(\"/dev/full\", \"w\"); fprintf(f, \"frames\"); if (fclose(f)) { perror(\"result.bin\"); return 1; } return 0; }", NVCC, OT, (LIM,)),
    ("late message", "@MAIN@ fprintf(stderr, \"server closed the connection, 3 jobs lost\\n\"); exit(111); }", NVCC, OT, (PEER,)),
)  # fmt: skip


LACKS = (
    (r"fatal error: \w+[.]h: No such file|cannot find -l", BUILD),
)  # a part of the toolkit that is not on this machine


def _cpp(rng: random.Random, machine: Machine, name: str, rows: tuple[Source, ...]) -> Draw | None:
    """A C++ program, built and run; what the linker needs stands behind a `#` in the command."""
    if not machine.programs("cpp-add"):
        return None
    target, code, command, cause, also = rng.choice(rows)
    command, _, link = command.partition(" # ")
    text = HEAD + code.replace("@MAIN@", "int main() { " + GOOD)
    return Draw(name, target, "cpp-own", cause, also, code=text, command=command.replace("$SCRIPT &&", f"$SCRIPT {link} &&"), refine=LACKS)  # fmt: skip


sixth("cpp-calls")(lambda rng, machine: _cpp(rng, machine, "cpp-calls", CALLS))
sixth("cpp-builds")(lambda rng, machine: _cpp(rng, machine, "cpp-builds", BUILDS))
sixth("cpp-endings")(lambda rng, machine: _cpp(rng, machine, "cpp-endings", ENDINGS))
# ------------------------------------------------------------------------------------------------ innocents
BEGIN = {
    "torch": NET
    + "for step in range(4):\n    loss = net(torch.randn(8, 16, device='@D@')).pow(2).mean()\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\nprint(f'trained on @D@, loss {loss.item():.3f}', flush=True)\n",
    "jax": J
    + "x = jax.device_put(jnp.ones((64, 64)), jax.devices('@J@')[0])\nprint('norm', float(jnp.linalg.norm(x @ x)), flush=True)\n",
    "cupy": C + "x = cupy.random.rand(128, 128)\nprint('mean on GPU', float((x @ x).mean()), flush=True)\n",
}
ENDS = {
    "no answer": "name = input('run name (gpu or cpu): ')", "debugger left": "import pdb\npdb.set_trace()\nprint('after')", "folder is there": "import os\nos.makedirs('runs/a')\nos.makedirs('runs/a')",
    "unlike lists": "list(zip([1, 2], [3], strict=True))", "generator": "def g():\n    raise StopIteration\n    yield\nnext(g())", "regex": "import re\nre.compile('(cuda|gpu')", "date": "import datetime\ndatetime.datetime.strptime('2026-13-40', '%Y-%m-%d')",
    "tar": "import io, tarfile\ntarfile.open(fileobj=io.BytesIO(b'weights'))", "zlib": "import zlib\nzlib.decompress(b'not compressed cuda graph')", "hash": "import hashlib\nh = hashlib.sha256(b'model').hexdigest()\nif h[:4] != '0000':\n    raise ValueError('checksum of model_gpu.bin differs: ' + h[:12])",
    "host": "import socket\nsocket.getaddrinfo('storage.invalid', 80)", "toml": "import tomllib\ntomllib.loads('device = cuda')", "xml": "import xml.etree.ElementTree as e\ne.fromstring('<gpu><mem></gpu>')", "future": "import concurrent.futures as f, time\nwith f.ThreadPoolExecutor(1) as p:\n    p.submit(time.sleep, 3).result(timeout=0.5)",
    "goal": "acc = 0.61\nassert acc > 0.9, f'accuracy {acc} below the gate, kernel=rbf'", "argument": "def train(model, *, epochs):\n    pass\ntrain(None)", "attribute": "class Cfg:\n    gpu = 0\nprint(Cfg().gpus)", "struct": "import struct\nstruct.unpack('<I', b'abc')",
    "locked": "import sqlite3\na, b = sqlite3.connect('m.db'), sqlite3.connect('m.db', timeout=0.1)\na.execute('begin exclusive')\nb.execute('create table t (x)')", "exit": "import os\nos._exit(5)", "warning": "import warnings\nwarnings.simplefilter('error')\nwarnings.warn('old option --gpu is going away', DeprecationWarning)",
    "cycle": "import graphlib\nlist(graphlib.TopologicalSorter({'a': ['b'], 'b': ['a']}).static_order())",
}  # fmt: skip


def _ending(rng: random.Random, machine: Machine, name: str, ends: list[str]) -> Draw | None:
    here = [f for f in BEGIN if machine.programs(f)]
    if not here:
        return None
    family, end = rng.choice(here), rng.choice(ends)
    also = {"host": (PEER,), "locked": (LIM,), "goal": ()}.get(end, ())
    return Draw(
        name, f"{end} ({family})", f"{family}-own", OT, also, code=_fill(BEGIN[family] + ENDS[end] + "\n", rng, machine)
    )


sixth("ends-itself")(lambda rng, machine: _ending(rng, machine, "ends-itself", sorted(ENDS)[::2]))
sixth("ends-itself-other")(lambda rng, machine: _ending(rng, machine, "ends-itself-other", sorted(ENDS)[1::2]))
EDITED = (
    ("saved in two bytes", "iconv -f utf-8 -t utf-16 $SCRIPT > $W/d/e.py"), ("a space that is none", "sed 's/ = /\\xc2\\xa0= /' $SCRIPT > $W/d/e.py"), ("marks of a merge", "(echo '<<<<<<< HEAD'; cat $SCRIPT) > $W/d/e.py"),
    ("cell of a notebook", "(echo '%matplotlib inline'; echo '!nvidia-smi'; cat $SCRIPT) > $W/d/e.py"), ("a whole notebook", "echo '{\"cells\": [], \"metadata\": {\"gpu\": null}}' > $W/d/e.py"), ("exported magic", "(echo \"get_ipython().run_line_magic('env', 'CUDA_VISIBLE_DEVICES=0')\"; cat $SCRIPT) > $W/d/e.py"),
    ("quotes out of a wiki", "(echo 'print(“device ready”)'; cat $SCRIPT) > $W/d/e.py"), ("indented", "sed '2s/^/  /' $SCRIPT > $W/d/e.py"), ("half pasted", "(cat $SCRIPT; echo 'print(\"RESULT\", (') > $W/d/e.py"),
)  # fmt: skip


@sixth("edited")
def edited(rng: random.Random, machine: Machine) -> Draw | None:
    """The script was saved wrongly by an editor, or is a notebook: Python itself refuses it."""
    program, (target, how) = some(rng, machine), rng.choice(EDITED)
    return Draw("edited", target, program, OT, ("env.path",), command=f"{how}; $PYTHON $W/d/e.py") if program else None


AFTER = (
    "$PYTHON $SCRIPT && $W/d/upload.sh", "set -eo pipefail; $PYTHON $SCRIPT | grep -q 'accuracy'", "$PYTHON $SCRIPT && cp result.npz /mnt/results/", "$PYTHON $SCRIPT; test -s metrics.json || { echo 'post: metrics.json is empty' >&2; exit 4; }",
    "$PYTHON $SCRIPT && tar czf $W/out/run.tgz missing_dir", "$PYTHON $SCRIPT && { echo 'gpu job done, sending mail'; sendmail-team ops@lab; }", "$PYTHON $SCRIPT && echo '{bad' | $PYTHON -m json.tool", "$PYTHON $SCRIPT && kill -s TERM $$",
)  # fmt: skip


@sixth("step-after")
def step_after(rng: random.Random, machine: Machine) -> Draw | None:
    """The program ends well; the step behind it in the script does not."""
    program, command = some(rng, machine), rng.choice(AFTER)
    return Draw("step-after", command[:60], program, OT, ("env.path",), command=command) if program else None


LOUD: tuple[dict[str, str], ...] = (
    {"LD_DEBUG": "statistics"}, {"PYTHONPROFILEIMPORTTIME": "1"}, {"CUDNN_LOGLEVEL_DBG": "3", "CUDNN_LOGDEST_DBG": "stderr"}, {"CUBLASLT_LOG_LEVEL": "5"}, {"CUBLAS_LOGINFO_DBG": "1", "CUBLAS_LOGDEST_DBG": "stderr"},
    {"NCCL_DEBUG": "TRACE", "NCCL_DEBUG_SUBSYS": "ALL"}, {"TORCH_CPP_LOG_LEVEL": "INFO", "TORCH_DISTRIBUTED_DEBUG": "DETAIL"}, {"TRITON_PRINT_AUTOTUNING": "1", "MLIR_ENABLE_DUMP": "0"}, {"JAX_DEBUG_LOG_MODULES": "jax"}, {"PYTHONVERBOSE": "1"}, {"PYTHONMALLOCSTATS": "1"},
)  # fmt: skip


@sixth("left-loud")
def left_loud(rng: random.Random, machine: Machine) -> Draw | None:
    """Variables of yesterday's debugging make a healthy program very loud: a control."""
    program, environ = some(rng, machine), rng.choice(LOUD)
    return Draw("left-loud", " ".join(environ), program, SET, (OT,), environ=environ) if program else None


RECOVERS = (
    "import sys, traceback\ntry:\n    import torch\n    torch.empty(1 << 52, dtype=torch.uint8, device='@D@')\nexcept Exception:\n    traceback.print_exc()\n    print('smaller batch taken', file=sys.stderr)\n",
    "import traceback\ntry:\n    import torch\n    torch.ones(2, device='cuda:9')\nexcept Exception:\n    traceback.print_exc()\n    print('falling back to the first card')\n",
    "import ctypes\nfor n in ('libcudnn.so.7', 'libcudart.so.10.1', 'libnvinfer.so.8'):\n    try:\n        ctypes.CDLL(n)\n    except OSError as e:\n        print('WARNING: could not load dynamic library:', e)\n",
    "print('[ 4711.20] NVRM: Xid (PCI:0000:17:00): 79, pid=0, GPU has fallen off the bus.  (kept from node gpu-09, 2025-11-02)')\n",
    "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import os; os.abort()'])\nprint('helper crashed, not needed')\n",
    "print('slurmstepd: error: Detected 1 oom-kill event in StepId=81.batch (previous job on this node)')\n",
)


@sixth("recovers")
def recovers(rng: random.Random, machine: Machine) -> Draw | None:
    """Something really fails first, or an old failure is printed, and the program goes on and ends well: a control."""
    program = some(rng, machine, "torch-matmul", "torch-train", "torch-fft", "jax", "cupy", "triton")
    return Draw("recovers", "", program, OT, (), code=rng.choice(RECOVERS).replace("@D@", machine.device) + source(program, machine.device)) if program else None  # fmt: skip
