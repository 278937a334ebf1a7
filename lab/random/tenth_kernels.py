"""Tenth operators, kernels in Python: Numba's arrays, launches and cards, Triton's arguments, types and tuning, CuPy's many functions."""

from __future__ import annotations

from lab.random.tenth import BUILD, FORK, IDX, ILL, LAU, OOM, ORD, OT, SEL, SET, SHA, TR, UNSUP, C, Case, N, enter, py

NB = "numba-kernel"
ADD = (
    N
    + "@cuda.jit\ndef add(x, n):\n    i = cuda.grid(1)\n    if i < n:\n        x[i] += 1\nx = cuda.to_device(numpy.zeros(4096, dtype='f'))\nadd[16, 256](x, 4096)\ncuda.synchronize()\nprint('warm', flush=True)\n"
)


def nb(target: str, cause: str, also: tuple[str, ...], body: str, expect: str) -> Case:
    """Numba: a kernel that works, then something else."""
    return py(NB, target, cause, also, ADD + body, expect)


END = "cuda.synchronize()\nprint(x.copy_to_host().sum())\n"
WILD = "(?i)ILLEGAL|MISALIGN|LAUNCH_FAILED|700|716|719|invalid"
enter(
    "numba-wild",
    nb("length of another array", ILL, (), "add[1 << 16, 256](x, 1 << 40)\n" + END, WILD),
    nb("index from a wild number", ILL, (), "@cuda.jit\ndef far(x, o):\n    x[cuda.threadIdx.x + o] = 1\nfar[1, 32](x, 1 << 38)\n" + END, WILD),
    nb("neighbours before the beginning", ILL, (), "@cuda.jit\ndef blur(x, k):\n    i = cuda.grid(1)\n    x[i] = x[i - k * 100000000] + 1\nblur[4, 256](x, 999)\n" + END, WILD),
    nb("foreign array with a made-up address", ILL, (SHA,), "class Frame:\n    __cuda_array_interface__ = {'shape': (4096,), 'typestr': '<f4', 'data': (0x7000deadb000, False), 'version': 3}\ny = cuda.as_cuda_array(Frame(), sync=False)\nadd[16, 256](y, 4096)\n" + END, WILD),
)  # fmt: skip
enter(
    "numba-launches",
    nb("two thousand threads", LAU, (), "add[1, 2048](x, 10)\n" + END, "(?i)INVALID|CUDA|block"),
    nb("no blocks", LAU, (SHA, OT), "n = 100 // 256\nadd[n, 256](x, 100)\n" + END, "(?i)INVALID|CUDA|block|grid"),
    nb("shared memory of 300 kB", LAU, (OOM,), "@cuda.jit\ndef k(x):\n    s = cuda.shared.array(0, dtype=numpy.float32)\n    s[cuda.threadIdx.x] = x[0]\n    x[0] = s[0]\nk[1, 32, 0, 300 * 1024](x)\n" + END, "(?i)INVALID|CUDA|shared"),
    nb("fixed shared memory of 100 kB", LAU, (BUILD,), "@cuda.jit\ndef k(x):\n    s = cuda.shared.array(25600, numpy.float32)\n    s[cuda.threadIdx.x] = x[cuda.threadIdx.x]\n    cuda.syncthreads()\n    x[cuda.threadIdx.x] = s[31 - cuda.threadIdx.x]\nk[1, 32](x)\n" + END, "(?i)shared|ptxas|Link|CUDA|0x"),
    nb("started without brackets", LAU, (OT, SHA, ORD), "add(x, 4096)\n" + END, "(?i)configur|launch"),
    nb("words for the grid", LAU, (OT, SHA), "add['16', 256](x, 4096)\n" + END, "(?i)int|type|str"),
)  # fmt: skip
enter(
    "numba-arrays",
    nb("objects to the card", SHA, (OT, BUILD), "d = cuda.to_device(numpy.array(['a', None], dtype=object))\n", "(?i)object|type|dtype"),
    nb("every second row copied", SHA, (OT,), "h = numpy.zeros((8, 8), dtype='f')\nd = cuda.to_device(h)\nprint(d[::2, ::2].reshape(4, 5).shape)\n", "(?i)reshape|size|contiguous|stride"),
    nb("copied into one too short", SHA, (OT,), "h = numpy.zeros(100, dtype='f')\nx.copy_to_host(h)\n", "(?i)shape|size|incompat"),
    nb("copied from another type", SHA, (OT,), "x.copy_to_device(numpy.zeros(4096, dtype='f8'))\n", "(?i)dtype|type"),
    nb("row that is not there", IDX, (OT, SHA), "print(x[9000])\n", "(?i)index|bound|range"),
    nb("seen as wider numbers", SHA, (OT,), "d = cuda.to_device(numpy.zeros(7, dtype='u1'))\nprint(d.view('f4'))\n", "(?i)view|itemsize|size|multiple|divisible"),
)  # fmt: skip
enter(
    "numba-cards-and-contexts",
    nb("fourth card selected", SEL, (), "cuda.close()\ncuda.select_device(3)\n", "(?i)device|INVALID|index|range"),
    nb("list of cards beyond its end", SEL, (OT, IDX), "with cuda.gpus[2]:\n    pass\n", "(?i)index|device|range|INVALID"),
    py(NB, "forked after the first kernel", FORK, (), "import os, sys\n" + ADD + "pid = os.fork()\nif pid == 0:\n    add[1, 32](x, 32)\n    cuda.synchronize()\n    print(x.copy_to_host()[0], flush=True)\n    os._exit(0)\ncode = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])\nif code:\n    sys.exit(f'child ended with {code}')\n", "(?i)INITIALI|fork|child ended"),
    nb("time between events of nothing", ORD, (OT, SHA), "a, b = cuda.event(), cuda.event()\nprint(cuda.event_elapsed_time(a, b))\n", "(?i)INVALID|event|CUDA"),
    nb("memory used after its context", ORD, (ILL, OT, SHA), "y = x\ncuda.close()\nprint(y.copy_to_host().sum())\n", "(?i)CUDA|context|INVALID|destroy"),
)  # fmt: skip
enter(
    "numba-raises-inside",
    py(NB, "value that is not allowed", OT, (IDX, ILL), N + "@cuda.jit(debug=True, opt=False)\ndef k(x):\n    if x[cuda.threadIdx.x] > 2:\n        raise ValueError('depth above two')\nk[1, 8](numpy.arange(8.0))\ncuda.synchronize()\n", "(?i)depth above|ValueError"),
    py(NB, "asserts the length", IDX, (OT, ILL), N + "@cuda.jit(debug=True, opt=False)\ndef k(x, n):\n    i = cuda.threadIdx.x\n    assert i < n\n    x[i] = 1\nk[1, 64](numpy.zeros(64), 40)\ncuda.synchronize()\n", "(?i)assert"),
    py(NB, "divides whole numbers by nothing", OT, (ILL, IDX), N + "@cuda.jit(debug=True, opt=False)\ndef k(x, d):\n    x[0] = 7 // d[0]\nk[1, 1](numpy.zeros(1, dtype='i8'), numpy.zeros(1, dtype='i8'))\ncuda.synchronize()\n", "(?i)zero"),
)  # fmt: skip
NEAR = (OT, SHA)


def tri(target: str, cause: str, also: tuple[str, ...], kernel: str, call: str, expect: str, head: str = "") -> Case:
    """Triton: one kernel and its launch."""
    body = "".join(f"    {line}\n" for line in kernel.splitlines())
    code = f"{TR}{head}x = torch.ones(4096, device='cuda')\n@triton.jit\ndef k(x, n, B: tl.constexpr):\n{body}{call}\ntorch.cuda.synchronize()\nprint(x.sum().item())\n"  # fmt: skip
    return py("triton-add", target, cause, also, code, expect)


GOOD = "i = tl.arange(0, B)\ntl.store(x + i, tl.load(x + i) * n)"
enter(
    "triton-arguments",
    tri("tensor of the host", SHA, (SEL, OT, ILL), GOOD, "k[(1,)](torch.ones(64), 2, B=64)", "(?i)cannot be accessed|cpu tensor"),
    tri("size not given", OT, (SHA, BUILD), GOOD, "k[(1,)](x, 2)", "(?i)missing|argument|B"),
    tri("name that the kernel has not", OT, (SHA, BUILD), GOOD, "k[(1,)](x, 2, BLOCK=64)", "(?i)argument|BLOCK|KeyError|unexpected"),
    tri("a list for a pointer", SHA, (OT, BUILD), GOOD, "k[(1,)]([1.0, 2.0], 2, B=64)", "(?i)list|type|float|error"),
    tri("called as a function", LAU, (OT, ORD), GOOD, "k(x, 2, B=64)", "(?i)launch grid|outside of the scope|Cannot call"),
    tri("no blocks in one direction", LAU, (SHA, OT), GOOD, "k[(64, 70000)](x, 2, B=64)", "(?i)invalid|CUDA"),
    tri("array of NumPy", SHA, (SEL, OT, BUILD), GOOD, "import numpy\nk[(1,)](numpy.ones(64, dtype='f'), 2, B=64)", "(?i)numpy|ndarray|type|data_ptr"),
)  # fmt: skip
enter(
    "triton-types",
    tri("tile above a million", SHA, (BUILD, LAU, OT), GOOD, "k[(1,)](x, 2, B=1 << 21)", "(?i)numel|maximum"),
    tri("halves times floats", SHA, (BUILD, OT), "i = tl.arange(0, 16)\na = tl.load(x + i[:, None] * 16 + i[None, :])\ntl.store(x + i[:, None] * 16 + i[None, :], tl.dot(a.to(tl.float16), a))", "k[(1,)](x, 2, B=64)", "(?i)dtype|type|float16|fp16"),
    tri("blocks of unlike length added", SHA, (BUILD, OT), "a = tl.load(x + tl.arange(0, 64))\nb = tl.load(x + tl.arange(0, 32))\ntl.store(x + tl.arange(0, 64), a + b)", "k[(1,)](x, 2, B=64)", "(?i)shape|broadcast|incompatible"),
    tri("number where a pointer is meant", BUILD, (SHA, OT), "tl.store(n, 1.0)", "k[(1,)](x, 7, B=64)", "(?i)pointer|store"),
    tri("branch with two types", BUILD, (SHA, OT), "if n > 3:\n    v = tl.load(x)\nelse:\n    v = tl.arange(0, B)\ntl.store(x, v)", "k[(1,)](x, 7, B=64)", "(?i)type|mismatch"),
    tri("bits of floats", BUILD, (SHA, OT), "a = tl.load(x)\ntl.store(x, a & 1)", "k[(1,)](x, 7, B=64)", "(?i)type|float|fp32|int"),
    tri("sum along an axis too many", SHA, (BUILD, IDX, OT), "a = tl.load(x + tl.arange(0, B))\ntl.store(x, tl.sum(a, axis=2))", "k[(1,)](x, 7, B=64)", "(?i)axis|rank|dim"),
)  # fmt: skip
TUNE = "import torch, triton, triton.language as tl\n@triton.autotune(configs=[{0}], key=[{1}])\n@triton.jit\ndef k(x, n, B: tl.constexpr):\n    i = tl.program_id(0) * B + tl.arange(0, B)\n    tl.store(x + i, 1.0, mask=i < n)\nx = torch.zeros(4096, device='cuda')\n{2}\nprint(x.sum().item())\n"


def tuned(target: str, cause: str, also: tuple[str, ...], configs: str, key: str, call: str, expect: str) -> Case:
    """Triton: a kernel with configurations to choose from."""
    return py("triton-add", target, cause, also, TUNE.format(configs, key, call), expect)


CALL = "k[lambda m: (triton.cdiv(4096, m['B']),)](x, 4096)"
enter(
    "triton-tuning",
    tuned("size told twice", OT, (SHA, ORD), "triton.Config({'B': 128}), triton.Config({'B': 256})", "'n'", "k[(32,)](x, 4096, B=128)", "(?i)auto.?tun|Conflict|conflict"),
    tuned("key of another name", OT, (SHA,), "triton.Config({'B': 128}), triton.Config({'B': 256})", "'rows'", CALL, "(?i)rows"),
    tuned("grid asks for another size", OT, (SHA,), "triton.Config({'B': 128}), triton.Config({'B': 256})", "'n'", "k[lambda m: (triton.cdiv(4096, m['BLOCK_M']),)](x, 4096)", "(?i)BLOCK_M"),
    tuned("configurations for another kernel", OT, (SHA, BUILD), "triton.Config({'B': 128, 'SPLIT': 2}), triton.Config({'B': 256, 'SPLIT': 4})", "'n'", CALL, "(?i)SPLIT"),
)  # fmt: skip


def cp(target: str, cause: str, also: tuple[str, ...], body: str, expect: str) -> Case:
    """CuPy: arrays on the card, then something else."""
    head = C + "a, b = cupy.ones((4, 3)), cupy.ones((4, 3))\nprint('norm', float(cupy.linalg.norm(a)), flush=True)\n"
    return py("cupy-matmul", target, cause, also, head + body, expect)


enter(
    "cupy-sums-and-shapes",
    cp("letters that do not fit", SHA, (OT,), "print(cupy.einsum('ij,jk->ik', a, b))\n", "(?i)dimension|size|einsum|operand|match"),
    cp("axes of unlike length", SHA, (OT,), "print(cupy.tensordot(a, b, axes=([0], [1])))\n", "(?i)axes|shape|dim"),
    cp("turned about axes twice", SHA, (OT,), "print(cupy.transpose(a, (0, 0)))\n", "(?i)axis|axes|transpose|repeated|permut"),
    cp("stacked of unlike shapes", SHA, (OT,), "print(cupy.stack([a, a[:2]]))\n", "(?i)shape|size|dimension"),
    cp("cut into parts of unlike size", SHA, (OT,), "print(cupy.split(a, 3))\n", "(?i)split|equal|division"),
    cp("moved to an axis that is not there", SHA, (OT, IDX), "print(cupy.moveaxis(a, 0, 5))\n", "(?i)axis"),
    cp("written into a narrower shape", SHA, (OT,), "a[:2] = cupy.ones((3, 3))\n", "(?i)broadcast|shape"),
)  # fmt: skip
enter(
    "cupy-chance-and-counts",
    cp("counted below nothing", SHA, (OT, IDX), "print(cupy.bincount(cupy.array([1, -2, 3])))\n", "(?i)negative|non-?negative"),
    cp("drawn without putting back", SHA, (OT,), "print(cupy.random.choice(4, size=9, replace=False))\n", "(?i)sample|population|larger|replace"),
    cp("edges that go down", SHA, (OT,), "print(cupy.histogram(a, bins=cupy.array([3.0, 1.0, 2.0])))\n", "(?i)bins|monoton|increase"),
    cp("shares above a hundred", SHA, (OT,), "print(cupy.percentile(a, 140))\n", "(?i)percentile|range"),
    cp("generator of another name", SHA, (OT, SET), "print(cupy.random.Generator(cupy.random.MT19937(7)))\n", "(?i)MT19937|attribute"),
    cp("chances that do not add up", SHA, (OT,), "print(cupy.random.choice(3, size=2, p=[0.1, 0.1, 0.1]))\n", "(?i)prob|sum"),
)  # fmt: skip
JIT = (
    C
    + "from cupyx import jit\n@jit.rawkernel()\ndef k(x, n):\n{0}\nx = cupy.zeros(4096, dtype='f')\n{1}\ncupy.cuda.Device().synchronize()\nprint(float(x.sum()))\n"
)
enter(
    "cupy-kernels-in-python",
    py("cupy-raw", "name from nowhere", BUILD, NEAR, JIT.format("    x[jit.threadIdx.x] = factor * n", "k((1,), (64,), (x, 4))"), "(?i)factor|name"),
    py("cupy-raw", "loop over a list", BUILD, NEAR, JIT.format("    for v in [1, 2, 3]:\n        x[0] += v", "k((1,), (64,), (x, 4))"), "(?i)range|for|support|list"),
    py("cupy-raw", "type that changes", BUILD, NEAR, JIT.format("    v = 0\n    v = x[0] * 0.5\n    x[0] = v", "k((1,), (64,), (x, 4))"), "(?i)type|mismatch"),
    py("cupy-raw", "far beyond the array", ILL, (), JIT.format("    x[jit.threadIdx.x + n * n] = 1", "k((1,), (64,), (x, cupy.int64(1 << 20)))"), "(?i)illegal|CUDA"),
    py("cupy-raw", "a grid of strings", LAU, (OT, SHA, BUILD), JIT.format("    x[jit.threadIdx.x] = n", "k(('1',), (64,), (x, 4))"), "(?i)int|str|type"),
)  # fmt: skip
enter(
    "triton-beyond-the-card",
    tri("shared memory for a long row", LAU, (OOM, SHA, BUILD), "i = tl.arange(0, 256)\nj = tl.arange(0, 512)\na = tl.load(x + (i[:, None] * 0 + j[None, :]) % 4096)\nb = tl.load(x + (j[:, None] + i[None, :] * 0) % 4096)\nc = tl.dot(a, b)\ntl.store(x + (i[:, None] + i[None, :]) % 4096, c)", "k[(1,)](x, 2, B=64, num_warps=8)", "(?i)out of resource|shared memory|OutOfResources"),
    tri("clusters of forty", LAU, (BUILD, SHA, OT), GOOD, "k[(80,)](x, 2, B=64, num_ctas=64)", "(?i)cta|cluster|CUDA|invalid|error|assert|abort"),
    tri("registers for one only", LAU, (BUILD, SHA, OT, SET), GOOD, "k[(1,)](x, 2, B=64, maxnreg=9999)", "(?i)maxnreg|register|ptxas|error|invalid"),
    tri("eight-bit floats of another maker", SHA, (UNSUP, BUILD, OT), "i = tl.arange(0, B)\ntl.store(x + i, tl.load(x + i).to(tl.float8e4b8).to(tl.float32))", "k[(1,)](x, 2, B=64)", "(?i)fp8|float8|e4b8|dtype|type"),
)  # fmt: skip
