"""Eleventh operators, kernels in Python: Triton's descriptors, atomics and helpers, launches from lists, CuPy's reductions and modules, Numba's pieces."""

from __future__ import annotations

from lab.random.eleventh import (  # fmt: skip
    BUILD,
    FORK,
    HOST,
    IDX,
    ILL,
    LAU,
    OOM,
    ORD,
    OT,
    SEL,
    SET,
    SHA,
    TR,
    UNSUP,
    C,
    Case,
    N,
    enter,
    py,
)

NEAR = (OT, SHA)


def tri(target: str, cause: str, also: tuple[str, ...], kernel: str, call: str, expect: str, top: str = "") -> Case:
    """A kernel of Triton after a good one."""
    body = "\n".join("    " + line for line in kernel.split("\n"))
    code = f"{TR}@triton.jit\ndef good(x, B: tl.constexpr):\n    tl.store(x + tl.arange(0, B), 1.0)\nx = torch.zeros(4096, device='cuda')\ngood[(1,)](x, B=64)\nprint('warm', x.sum().item(), flush=True)\n{top}@triton.jit\ndef k(x, n, B: tl.constexpr):\n{body}\n{call}\ntorch.cuda.synchronize()\nprint(x.sum().item())\n"
    return py("triton-add", target, cause, also, code, expect)


RUN = "k[(1,)](x, 64, B=64)"
enter(
    "triton-helpers",
    tri("helper that is no kernel's", BUILD, NEAR, "tl.store(x, half(2.0))", RUN, "(?i)half|jit|function|cannot", "def half(v):\n    return v / 2\n"),
    tri("number from outside that may change", BUILD, NEAR, "tl.store(x + tl.arange(0, B), SCALE)", RUN, "(?i)SCALE|global", "SCALE = 3.0\n"),
    tri("list in a kernel", BUILD, NEAR, "v = [i * 2 for i in tl.arange(0, B)]\ntl.store(x, v[0])", RUN, "(?i)unsupported|comprehension|ListComp|iter|support|error"),
    tri("recursion", BUILD, NEAR, "tl.store(x, down(3))", RUN, "(?i)recurs|depth|error", "@triton.jit\ndef down(n: tl.constexpr):\n    return down(n + 1)\n"),
    tri("words in a kernel", BUILD, NEAR, "print(f'value {n}')\ntl.store(x, 1.0)", RUN, "(?i)unsupported|JoinedStr|string|print|f-string|error"),
    tri("loop left early", BUILD, NEAR, "for i in range(n):\n    if i > 3:\n        break\n    tl.store(x + i, 1.0)", RUN, "(?i)break|unsupported"),
)  # fmt: skip
enter(
    "triton-atomics-and-descriptors",
    tri("compare and exchange of floats in halves", SHA, (BUILD, OT), "tl.atomic_cas(x, 1.0, 2)", RUN, "(?i)type|cas|int|float|bit"),
    tri("order of memory nobody knows", BUILD, NEAR, "tl.atomic_add(x, 1.0, sem='eventually')", RUN, "(?i)eventually|semantic"),
    tri("minimum of what cannot be compared", BUILD, NEAR, "tl.atomic_xor(x, 1)", RUN, "(?i)type|int|float|fp32|xor"),
    tri("descriptor with a row between the steps", SHA, (BUILD, LAU, OT), "d = tl.make_tensor_descriptor(x, [64, 63], [63, 1], [16, 16])\nd.store([0, 0], tl.zeros((16, 16), tl.float32))", "triton.set_allocator(lambda s, a, st: torch.empty(s, dtype=torch.int8, device='cuda'))\n" + RUN, "(?i)stride|align|16|descriptor|CUDA|illegal|invalid"),
    tri("descriptor without room for it", ORD, (SHA, BUILD, OT, LAU), "d = tl.make_tensor_descriptor(x, [64, 64], [64, 1], [16, 16])\nd.store([0, 0], tl.zeros((16, 16), tl.float32))", RUN, "(?i)allocator"),
    tri("barrier of another name", BUILD, NEAR, "tl.cluster_barrier(x)\ntl.store(x, 1.0)", RUN, "(?i)cluster_barrier|attribute"),
)  # fmt: skip
enter(
    "triton-wild-in-use",
    tri("row length of another tensor", ILL, (), "i = tl.arange(0, B)\ntl.store(x + i * (n * 100000000).to(tl.int64) * 64, 1.0)", RUN, "(?i)illegal|CUDA error|CUDA"),
    tri("mask forgotten at the far end", ILL, (), "i = tl.program_id(0).to(tl.int64) * (1 << 32) + tl.arange(0, B)\ntl.store(x + i, 1.0)", "k[(64,)](x, 64, B=64)", "(?i)illegal|CUDA"),
    tri("number used as an address", ILL, (), "p = (n * 4096).to(tl.int64).to(tl.pointer_type(tl.float32))\ntl.store(p, 1.0)", RUN, "(?i)illegal|CUDA"),
    tri("checked on the card", IDX, (OT, ILL), "i = tl.arange(0, B)\ntl.device_assert(i < 40, 'row outside the table')\ntl.store(x + i, 1.0)", "k[(1,)](x, 64, B=64, debug=True)", "(?i)row outside|assert"),
    tri("checked at compile time", BUILD, (OT, SHA), "tl.static_assert(B >= 128, 'block must be at least 128')\ntl.store(x, 1.0)", RUN, "(?i)at least 128"),
    tri("tensor of the host", SHA, (SEL, OT, ILL), "tl.store(x + tl.arange(0, B), 1.0)", "k[(1,)](torch.zeros(64), 64, B=64)", "(?i)cpu tensor|Pointer argument"),
    tri("grid of three dimensions and one more", LAU, (OT, SHA), "tl.store(x, 1.0)", "k[(1, 1, 1, 1)](x, 64, B=64)", "(?i)grid|dimension|unpack|assert|argument"),
    tri("grid beyond the card in y", LAU, (), "tl.store(x, 1.0)", "k[(1, 70000)](x, 64, B=64)", "(?i)invalid|CUDA"),
    tri("no programs at all, from an empty batch", LAU, (OT, SHA), "tl.store(x, 1.0)", "k[(-1,)](x, 64, B=64)", "(?i)invalid|CUDA|grid|negative|range"),
)  # fmt: skip


def cp(target: str, cause: str, also: tuple[str, ...], body: str, expect: str) -> Case:
    """CuPy computes, then does what the body says."""
    return py("cupy-raw", target, cause, also, C + "x = cupy.arange(64, dtype='f')\nprint('cuda', float(x.sum()), flush=True)\n" + body, expect)  # fmt: skip


WILD = "(?i)illegal|misaligned|CUDA_ERROR|cudaError"
enter(
    "cupy-modules",
    cp("template never named", BUILD, (ORD, OT), "m = cupy.RawModule(code='template<class T> __global__ void k(T* p) { p[0] = 1; }')\nm.get_function('k<float>')((1,), (1,), (x,))\n", "(?i)NOT_FOUND|not found|named symbol|template|k<float>"),
    cp("named but not so", BUILD, (OT,), "m = cupy.RawModule(code='template<class T> __global__ void k(T* p) { p[0] = 1; }', name_expressions=['k<double, 3>'])\nm.get_function('k<double, 3>')((1,), (1,), (x,))\n", "(?i)error|template|argument"),
    cp("arguments of other sizes", ILL, (SHA, LAU), "m = cupy.RawKernel('extern \"C\" __global__ void k(long long n, float* p) { p[n] = 1; }', 'k')\nm((1,), (1,), (cupy.float32(1e30), cupy.int64(12345)))\ncupy.cuda.Device().synchronize()\n", WILD),
    cp("argument forgotten", ILL, (SHA, LAU, OT), "m = cupy.RawKernel('extern \"C\" __global__ void k(float* a, float* b) { b[threadIdx.x] = a[threadIdx.x]; }', 'k')\nm((1,), (64,), (cupy.int64(64), x))\ncupy.cuda.Device().synchronize()\n", WILD),
    cp("whole array of the host as an argument", SHA, (OT, ILL), "import numpy\nm = cupy.RawKernel('extern \"C\" __global__ void k(float* a) { a[0] = 1; }', 'k')\nm((1,), (1,), (numpy.ones(4, dtype='f'),))\n", "(?i)unsupported|type|numpy"),
    cp("asked for more shared memory than may be", LAU, (SHA,), "m = cupy.RawKernel('extern \"C\" __global__ void k(float* a) { a[0] = 1; }', 'k')\nm.max_dynamic_shared_size_bytes = 1 << 22\n", "(?i)invalid|CUDA|cuda"),
    cp("all at once, more than fit", LAU, (), "m = cupy.RawKernel('extern \"C\" __global__ void k(float* a) { a[0] = 1; }', 'k', enable_cooperative_groups=True)\nm((1 << 16,), (256,), (x,))\n", "(?i)cooperative|too large|CUDA"),
)  # fmt: skip
enter(
    "cupy-own-reductions",
    cp("body with a slip", BUILD, (OT,), "r = cupy.ReductionKernel('T a', 'T b', 'a * a', 'a +', 'b = a', '0', 'norm2')\nprint(r(x))\n", "(?i)error|CompileException"),
    cp("no start value for its type", BUILD, (OT, SHA), "r = cupy.ReductionKernel('T a', 'T b', 'a', 'a + b', 'b = a', 'nothing', 'total')\nprint(r(x))\n", "(?i)nothing|error"),
    cp("names of the same letter", BUILD, (OT, SHA), "f = cupy.ElementwiseKernel('T a, T a', 'T b', 'b = a', 'twice')\nprint(f(x, x))\n", "(?i)a|duplicate|name|error"),
    cp("fused over a branch", OT, (BUILD, SHA), "@cupy.fuse()\ndef f(v):\n    return v if v > 3 else -v\nprint(f(x))\n", "(?i)bool|fuse|truth|type|condition|error"),
    cp("index written out of range, checked", SHA, (IDX, OT), "print(cupy.take(x, cupy.array([1, 99]), mode='strict'))\n", "(?i)mode"),
    cp("sorted along an axis too many", SHA, (OT, IDX), "print(cupy.sort(x, axis=3))\n", "(?i)axis"),
)  # fmt: skip
enter(
    "cupy-streams-and-memory",
    cp("event waited for that belongs to nothing", ORD, (OT, SHA), "a, b = cupy.cuda.Event(disable_timing=True), cupy.cuda.Event(disable_timing=True)\na.record()\nb.record()\nb.synchronize()\nprint(cupy.cuda.get_elapsed_time(a, b))\n", "(?i)handle|invalid|CUDA|cuda"),
    cp("memory of somebody else's address", ILL, (SHA, OT), "m = cupy.cuda.UnownedMemory(0x7000dead0000, 4096, None)\ny = cupy.ndarray((64,), 'f', cupy.cuda.MemoryPointer(m, 0))\ny += 1\nprint(float(y.sum()))\n", "(?i)illegal|invalid|CUDA|cuda"),
    cp("stream of the second card", SEL, (OT,), "with cupy.cuda.Device(1):\n    s = cupy.cuda.Stream()\n", "(?i)ordinal|device"),
    cp("peer of itself", SEL, (ORD, SHA, OT), "cupy.cuda.runtime.deviceEnablePeerAccess(0)\n", "(?i)peer|device|cuda"),
    cp("limit below what is used", OOM, (SET,), "p = cupy.get_default_memory_pool()\np.set_limit(size=64 << 20)\nkept = [cupy.zeros(4 << 20, dtype='f8') for _ in range(9)]\n", "(?i)Out of memory|OutOfMemory"),
    cp("pinned ring beyond the host", HOST, (OOM,), "m = cupy.cuda.alloc_pinned_memory(60 << 40)\n", "(?i)memory"),
    cp("handle of shared memory from a number", SHA, (ILL, OT, FORK, ORD), "cupy.cuda.runtime.ipcOpenMemHandle(bytes(64))\n", "(?i)invalid|cuda|argument"),
)  # fmt: skip


def nb(target: str, cause: str, also: tuple[str, ...], body: str, expect: str) -> Case:
    """Numba: a kernel that works, then something else."""
    head = (
        N
        + "@cuda.jit\ndef one(x):\n    x[cuda.threadIdx.x] = 1\nx = cuda.to_device(numpy.zeros(64, dtype='f'))\none[1, 64](x)\nprint('cuda', x.copy_to_host().sum(), flush=True)\n"
    )
    return py("numba-kernel", target, cause, also, head + body, expect)


enter(
    "numba-pieces",
    nb("atomic of a type it has not", BUILD, NEAR, "@cuda.jit\ndef k(x):\n    cuda.atomic.add(x, 0, 1j)\nk[1, 1](x)\n", "(?i)typing|atomic|complex|No implementation"),
    nb("shared array of a size known late", BUILD, NEAR, "@cuda.jit\ndef k(x, n):\n    s = cuda.shared.array(n, numpy.float32)\n    x[0] = s[0]\nk[1, 1](x, 32)\n", "(?i)typing|constant|shape|No implementation|literal"),
    nb("list appended to", BUILD, NEAR, "@cuda.jit\ndef k(x):\n    v = []\n    v.append(x[0])\n    x[0] = v[0]\nk[1, 1](x)\n", "(?i)typing|list|NRT|unsupported|error"),
    nb("vector too many for the kernel", SHA, (OT, LAU), "one[1, 64](x, x)\n", "(?i)argument|signature|too many"),
    nb("sum by a decorator of unlike lengths", SHA, (OT,), "@cuda.reduce\ndef s(a, b):\n    return a + b\nprint(s(numpy.zeros((4, 4), dtype='f')))\n", "(?i)1d|dim|ndim|only|TypeError|assert"),
    nb("stream that is a word", SHA, (OT, LAU, ORD), "one[1, 64, 'fast'](x)\n", "(?i)stream|str|attribute|type"),
)  # fmt: skip
enter(
    "narrow-types-by-call",
    py("torch-graph", "scaled product of unlike order", SHA, (OT,), "import torch\na = torch.ones(32, 32, device='cuda').to(torch.float8_e4m3fn)\ns = torch.tensor(1.0, device='cuda')\nprint('cuda ready', flush=True)\nprint(torch._scaled_mm(a, a, s, s, out_dtype=torch.bfloat16))\n", "(?i)row.major|col|stride|layout|mat2|transpos"),
    py("torch-graph", "scaled product of a size between the steps", SHA, (OT, UNSUP), "import torch\na = torch.ones(32, 24, device='cuda').to(torch.float8_e4m3fn)\ns = torch.tensor(1.0, device='cuda')\nprint('cuda ready', flush=True)\nprint(torch._scaled_mm(a, a.t(), s, s, out_dtype=torch.bfloat16))\n", "(?i)divisible|16"),
    py("torch-graph", "both sides in the wide kind", SHA, (OT, UNSUP), "import torch\na = torch.ones(32, 32, device='cuda').to(torch.float8_e5m2)\ns = torch.tensor(1.0, device='cuda')\nprint('cuda ready', flush=True)\nprint(torch._scaled_mm(a, a.t(), s, s, out_dtype=torch.bfloat16))\n", "(?i)e5m2|Float8|support|CUBLAS"),
    py("torch-graph", "whole-number product of few rows", SHA, (OT,), "import torch\na = torch.ones(8, 32, device='cuda', dtype=torch.int8)\nprint('cuda ready', flush=True)\nprint(torch._int_mm(a, a.t()))\n", "(?i)size|greater|17|16"),
    py("torch-graph", "four bits without their packing", SHA, (OT, UNSUP), "import torch\na = torch.ones(32, 32, device='cuda')\nprint('cuda ready', flush=True)\nprint(a.to(torch.float4_e2m1fn_x2).float().sum().item())\n", "(?i)float4|Float4|not implemented|copy_"),
)  # fmt: skip
