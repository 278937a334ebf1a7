"""Thirteenth operators, JAX, CuPy, Numba and NVIDIA's own bindings of Python: arrays that refuse, pictures, solvers, own primitives, kinds of memory; types that are not, generators; functions made for whole arrays; runtime, driver and compiler by their bindings."""

from __future__ import annotations

from lab.random.eleventh import (
    BAD,
    BUG,
    BUILD,
    FRAG,
    HOST,
    ILL,
    LAU,
    OOM,
    ORD,
    OT,
    PATH,
    SEL,
    SET,
    SHA,
    UNSUP,
    C,
    Case,
    J,
    N,
    py,
)
from lab.random.eleventh_more import CU, jx
from lab.random.thirteenth import enter

enter(
    "jax-arrays-refuse",
    jx("changed in place", ORD, (OT, SHA), "x[0, 0] = 3.0\n", "(?i)immutable|item assignment"),
    jx("words in an array", SHA, (OT,), "jnp.array(['cuda', 'cpu'])\n", "(?i)dtype|str|valid JAX"),
    jx("rows of unlike length", SHA, (OT,), "jnp.array([[1.0, 2.0], [3.0]])\n", "(?i)inhomogeneous|shape|length|element"),
    jx("truth of many", SHA, (OT,), "if x > 0:\n    print('positive')\n", "(?i)truth value|ambiguous"),
    jx("key of a table", SHA, (OT,), "{x: 1}\n", "(?i)unhashable"),
    jx("joined without a list", SHA, (OT,), "print(jnp.concatenate(x, x))\n", "(?i)concatenate|axis|hash|Error"),
    jx("none among the numbers", SHA, (OT,), "print(jnp.add(x, None))\n", "(?i)None|valid JAX|type"),
    jx("number of no kind", SHA, (OT,), "print(jnp.ones(3, dtype='float128'))\n", "(?i)float128|dtype|type"),
    jx("axis beyond", SHA, (OT, "program.index"), "print(x.sum(axis=4))\n", "(?i)axis|out of bounds"),
)  # fmt: skip
enter(
    "jax-pictures-and-signals",
    jx("enlarged by another way", OT, (SHA, SET), "print(jax.image.resize(x, (8, 6), method='sharp'))\n", "(?i)sharp|method"),
    jx("enlarged to fewer axes", SHA, (OT,), "print(jax.image.resize(x, (8,), method='linear'))\n", "(?i)dimension|shape|resize"),
    jx("folded with a plane", SHA, (OT,), "print(jax.scipy.signal.convolve(x, jnp.ones(3)))\n", "(?i)dimension"),
    jx("border of another kind", OT, (SHA, SET), "print(jnp.pad(x, 2, mode='mirror'))\n", "(?i)mirror|mode|pad"),
    jx("places for three axes of two", SHA, (OT,), "print(jax.scipy.ndimage.map_coordinates(x, [jnp.ones(3)] * 3, order=1))\n", "(?i)coordinates"),
    jx("order of the curve too high", OT, (SHA, UNSUP), "print(jax.scipy.ndimage.map_coordinates(x, [jnp.ones(3)] * 2, order=4))\n", "(?i)order"),
    jx("pieces that overlap wholly", SHA, (OT,), "print(jax.scipy.signal.stft(jnp.ones(400), nperseg=64, noverlap=64))\n", "(?i)noverlap"),
)  # fmt: skip
enter(
    "jax-solvers",
    jx("no square", SHA, (OT,), "print(jnp.linalg.inv(x))\n", "(?i)square|shape|ndim|dimension"),
    jx("factors of one row", SHA, (OT,), "print(jax.scipy.linalg.lu(jnp.ones(3)))\n", "(?i)dim|shape|rank|lu"),
    jx("triangle and side of unlike size", SHA, (OT,), "print(jax.scipy.linalg.solve_triangular(jnp.eye(3), jnp.ones(5)))\n", "(?i)shape|dim|size|incompatible"),
    jx("search by another way", OT, (SET,), "from jax.scipy.optimize import minimize\nprint(minimize(lambda v: (v ** 2).sum(), jnp.ones(3), method='adam'))\n", "(?i)adam|method"),
    jx("search for many at once", SHA, (OT,), "from jax.scipy.optimize import minimize\nprint(minimize(lambda v: v ** 2, jnp.ones(3), method='BFGS'))\n", "(?i)scalar|shape|grad"),
    jx("steps with an answer of another shape", SHA, (OT,), "from jax.scipy.sparse.linalg import cg\nprint(cg(lambda v: v[:2], jnp.ones(3)))\n", "(?i)shape|structure|matrix|square"),
    jx("moved through time by a shape that grows", SHA, (OT,), "from jax.experimental.ode import odeint\nprint(odeint(lambda y, t: jnp.ones(5), jnp.ones(3), jnp.linspace(0, 1, 3)))\n", "(?i)shape|broadcast|incompatible"),
)  # fmt: skip
PRIM = "from jax.extend.core import Primitive\nfrom jax.core import ShapedArray\np = Primitive('acme_scan')\n"
SHAPE = "p.def_abstract_eval(lambda a: ShapedArray(a.shape, a.dtype))\n"
enter(
    "jax-own-primitives",
    jx("nothing told of it", BUILD, (OT, BUG, ORD), PRIM + "print(p.bind(x))\n", "(?i)acme_scan|not implemented"),
    jx("no shape told, compiled", BUILD, (OT, BUG, ORD), PRIM + "print(jax.jit(lambda a: p.bind(a))(x))\n", "(?i)acme_scan|abstract"),
    jx("no code for any platform", BUILD, (OT, BUG, UNSUP), PRIM + SHAPE + "print(jax.jit(lambda a: p.bind(a))(x))\n", "(?i)acme_scan|translation|lowering"),
    jx("code for another platform only", UNSUP, (BUILD, OT, BUG), PRIM + SHAPE + "from jax.interpreters import mlir\nmlir.register_lowering(p, lambda ctx, a: [a], platform='tpu')\nprint(jax.jit(lambda a: p.bind(a))(x))\n", "(?i)acme_scan|platform|translation|lowering"),
    jx("no derivative", BUILD, (OT, BUG, ORD), PRIM + SHAPE + "from jax.interpreters import mlir\nmlir.register_lowering(p, lambda ctx, a: [a])\nprint(jax.grad(lambda a: p.bind(a).sum())(x))\n", "(?i)acme_scan|differentiation|not implemented"),
    jx("no rule for many at once", BUILD, (OT, BUG, ORD), PRIM + SHAPE + "from jax.interpreters import mlir\nmlir.register_lowering(p, lambda ctx, a: [a])\nprint(jax.vmap(lambda a: p.bind(a))(x))\n", "(?i)acme_scan|batching"),
)  # fmt: skip
KIND = (
    "from jax.sharding import SingleDeviceSharding\nd = jax.devices('@J@')[0]\nassert d.platform == 'gpu' and 'cuda'\n"
)
enter(
    "jax-kinds-of-memory",
    jx("kind of another name", SEL, (SET, OT, SHA), KIND + "jax.device_put(x, SingleDeviceSharding(d, memory_kind='vram'))\n", "(?i)vram|memory"),
    jx("sum across two kinds", SHA, (ORD, SEL, OT), KIND + "h = jax.device_put(x, SingleDeviceSharding(d, memory_kind='pinned_host'))\nprint(jax.jit(lambda a, b: a + b)(x, h))\n", "(?i)memory|host|device"),
    jx("card of a number that is not", SEL, (OT,), KIND + "jax.device_put(x, jax.devices('gpu')[6])\n", "(?i)index"),
    jx("platform of another maker", SEL, (SET, OT, "framework.cpu_only", UNSUP), KIND + "jax.devices('rocm')\n", "(?i)rocm"),
    jx("place by a word", SEL, (OT, SHA), KIND + "jax.device_put(x, 'cuda:0')\n", "(?i)cuda:0|device|sharding|Error"),
    jx("more than any card, on the card", OOM, (), KIND + "jnp.ones((1 << 20, 1 << 20)).block_until_ready()\n", "(?i)out of memory|RESOURCE_EXHAUSTED"),
)  # fmt: skip
POOL = {"XLA_PYTHON_CLIENT_PREALLOCATE": "true", "XLA_PYTHON_CLIENT_MEM_FRACTION": ".004"}
PIECES = "import gc\nimport numpy\nkeep = [jax.device_put(numpy.zeros(@A@ << 18, 'f')) for _ in range(@N@)]\nfor k in keep:\n    k.block_until_ready()\ndel k\nfor i in range(0, len(keep), 2):\n    keep[i] = None\ngc.collect()\nprint('half of the blocks given back, cuda', flush=True)\nbig = jax.device_put(numpy.zeros(@B@ << 18, 'f'))\nprint(big.block_until_ready().sum())\n"


def pieces(each: int, count: int, wanted: int, cause: str, also: tuple[str, ...]) -> Case:
    """A small pool of JAX, every second block of it given back, then a larger one asked for; sizes in MiB."""
    code = J + PIECES.replace("@A@", str(each)).replace("@N@", str(count)).replace("@B@", str(wanted))
    return Case("jax-matmul jax-grad", f"{count} of {each} MiB, then {wanted}", cause, also, code=code, environ=POOL, expect="(?i)RESOURCE_EXHAUSTED|out of memory")  # fmt: skip


enter(
    "jax-pools-in-pieces",
    pieces(32, 16, 160, FRAG, (OOM, SET)),
    pieces(16, 32, 128, FRAG, (OOM, SET)),
    pieces(48, 11, 180, FRAG, (OOM, SET)),
    pieces(8, 4, 4000, OOM, (SET,)),
)


def cp(target: str, cause: str, also: tuple[str, ...], body: str, expect: str) -> Case:
    """A program of CuPy that computes first."""
    return py(CU, target, cause, also, f"{C}import numpy\nx = cupy.arange(12.0).reshape(3, 4)\nprint('total', float(x.sum()), flush=True)\n{body}", expect)  # fmt: skip


enter(
    "cupy-types-it-has-not",
    cp("objects", SHA, (OT,), "cupy.array([1, None, 'a'])\n", "(?i)object|dtype|support"),
    cp("words", SHA, (OT,), "cupy.asarray(numpy.array(['gpu', 'cpu']))\n", "(?i)dtype|U3|support"),
    cp("dates", SHA, (OT,), "cupy.array(numpy.array(['2026-11-16'], dtype='datetime64[D]'))\n", "(?i)dtype|datetime|M8|support"),
    cp("records", SHA, (OT,), "cupy.zeros(3, dtype=[('a', 'f4'), ('b', 'i4')])\n", "(?i)dtype|void|support|V8"),
    cp("other end first", SHA, (OT,), "print(cupy.asarray(numpy.ones(3, '>f8')) + 1)\n", "(?i)byte|endian|order|dtype"),
    cp("longest floats", SHA, (OT, UNSUP), "cupy.ones(3, dtype=numpy.longdouble)\n", "(?i)float128|longdouble|dtype"),
    cp("mixed with the host's array", SHA, (SEL, OT), "print(x + numpy.ones((3, 4)))\n", "(?i)numpy|unsupported|implicit"),
    cp("taken by the host's library unasked", SHA, (SEL, OT), "print(numpy.asarray(x))\n", "(?i)implicit|get\\(\\)"),
)  # fmt: skip
enter(
    "cupy-generators-and-sets",
    cp("source of another name", OT, (SHA, SET), "cupy.random.Generator(cupy.random.PCG64(3))\n", "(?i)PCG64"),
    cp("seed that is a word", SHA, (OT,), "cupy.random.seed('lucky')\n", "(?i)Error"),
    cp("chance list of another length", SHA, (OT,), "cupy.random.choice(5, 3, p=cupy.array([0.5, 0.5]))\n", "(?i)size|p"),
    cp("more drawn than there are", SHA, (OT,), "cupy.random.choice(5, 9, replace=False)\n", "(?i)larger|replace|sample"),
    cp("edges not in order", SHA, (OT,), "cupy.histogram(x, bins=cupy.array([3.0, 1.0, 2.0]))\n", "(?i)monoton|increas|order"),
    cp("share above a hundred", SHA, (OT,), "print(cupy.percentile(x, 140))\n", "(?i)range|100"),
    cp("bounds the wrong way round", SHA, (OT,), "cupy.random.randint(9, 2)\n", "(?i)low|high"),
    cp("split in unlike parts", SHA, (OT,), "cupy.split(x, 5)\n", "(?i)split|division"),
)  # fmt: skip
VEC = "import numpy\nfrom numba import cuda, vectorize, guvectorize, float32\n"


def vec(target: str, cause: str, also: tuple[str, ...], body: str, expect: str) -> Case:
    """A function of whole arrays that Numba makes for the card."""
    return py("numba-kernel", target, cause, also, VEC + body, expect)


MUL = "@vectorize(['float32(float32, float32)'], target='cuda')\ndef mul(a, b):\n    return a * b\nprint(mul(numpy.ones(4, 'f'), numpy.ones(4, 'f')).sum(), flush=True)\n"
enter(
    "numba-functions-of-arrays",
    vec("types never told of", SHA, (OT,), MUL + "mul(numpy.ones(4, 'c16'), numpy.ones(4, 'c16'))\n", "(?i)type|Error"),
    vec("unlike lengths", SHA, (OT,), MUL + "mul(numpy.ones(4, 'f'), numpy.ones(7, 'f'))\n", "(?i)broadcast|shape|operands"),
    vec("place of another name", OT, (SET, SEL), MUL + "@vectorize(['float32(float32)'], target='gpu0')\ndef f(a):\n    return a\n", "(?i)gpu0|target"),
    vec("word of Python it does not know", BUILD, (OT, SHA), MUL + "@vectorize(['float32(float32)'], target='cuda')\ndef f(a):\n    return sorted([a])[0]\nf(numpy.ones(4, 'f'))\n", "(?i)Typing|sorted|Error"),
    vec("layout without an answer", OT, (SHA, BUILD), MUL + "@guvectorize(['void(float32[:], float32[:])'], '(n)', target='cuda')\ndef g(a, b):\n    b[0] = a[0]\n", "(?i)->|layout|signature|Error"),
    vec("rows of unlike length in a layout", SHA, (OT,), MUL + "@guvectorize(['void(float32[:], float32[:], float32[:])'], '(n),(n)->(n)', target='cuda')\ndef g(a, b, c):\n    c[0] = a[0]\ng(numpy.ones(4, 'f'), numpy.ones(5, 'f'))\n", "(?i)mismatch|dimension|shape"),
    vec("reduced by words", SHA, (OT, BUILD), MUL + "r = cuda.reduce(lambda a, b: a + 'x')\nprint(r(numpy.ones(8, 'f')))\n", "(?i)Typing|Error"),
)  # fmt: skip
RT = "import torch\nfrom cuda.bindings import runtime as rt\nprint('ready', torch.ones(1, device='cuda').item(), flush=True)\ndef ok(answer):\n    if answer[0]:\n        raise RuntimeError(f'{answer[0].name} ({int(answer[0])}): {rt.cudaGetErrorString(answer[0])[1].decode()}')\n    return answer[1:]\n"
ON = "torch-matmul torch-train"
TOLD = "(?i)cudaError"


def bound(target: str, cause: str, also: tuple[str, ...], body: str) -> Case:
    """A program that calls the runtime by NVIDIA's bindings."""
    return py(ON, target, cause, also, RT + body, TOLD)


enter(
    "runtime-by-its-bindings",
    bound("fifth card", SEL, (), "ok(rt.cudaSetDevice(4))\n"),
    bound("properties of the third card", SEL, (), "ok(rt.cudaGetDeviceProperties(2))\n"),
    bound("more than any card", OOM, (), "ok(rt.cudaMalloc(900 << 30))\n"),
    bound("pinned beyond the host", HOST, (OOM,), "ok(rt.cudaHostAlloc(50 << 40, 0))\n"),
    bound("given back though never taken", SHA, (ILL, ORD), "ok(rt.cudaFree(0x7777000))\n"),
    bound("copied from nowhere", SHA, (ILL,), "p, = ok(rt.cudaMalloc(4096))\nok(rt.cudaMemcpy(p, 0x40, 1 << 40, rt.cudaMemcpyKind.cudaMemcpyDeviceToDevice))\n"),
    bound("time between two events that never were", ORD, (SHA,), "a, = ok(rt.cudaEventCreate())\nb, = ok(rt.cudaEventCreate())\nok(rt.cudaEventElapsedTime(a, b))\n"),
    bound("limit below nought", SHA, (OOM, LAU, OT), "ok(rt.cudaDeviceSetLimit(rt.cudaLimit.cudaLimitStackSize, 1 << 50))\n"),
)  # fmt: skip
DRV = "import torch\nfrom cuda.bindings import driver, nvrtc\nprint('ready', torch.ones(1, device='cuda').item(), flush=True)\ndef ok(answer):\n    if int(answer[0]):\n        raise RuntimeError(f'call returned {answer[0].name} ({int(answer[0])})')\n    return answer[1:]\ndef build(text, *options):\n    p, = ok(nvrtc.nvrtcCreateProgram(text.encode(), b'cell.cu', 0, [], []))\n    r, = nvrtc.nvrtcCompileProgram(p, len(options), [o.encode() for o in options])\n    if int(r):\n        n, = ok(nvrtc.nvrtcGetProgramLogSize(p))\n        log = b' ' * n\n        nvrtc.nvrtcGetProgramLog(p, log)\n        raise RuntimeError(f'{r.name}: {log.decode()}')\n    n, = ok(nvrtc.nvrtcGetPTXSize(p))\n    ptx = b' ' * n\n    ok(nvrtc.nvrtcGetPTX(p, ptx))\n    return ptx\nGOOD = 'extern \"C\" __global__ void k(float* p) { p[0] = 1; }'\n"


def drv(target: str, cause: str, also: tuple[str, ...], body: str, expect: str = "(?i)CUDA_ERROR|NVRTC_ERROR") -> Case:
    """A program that compiles and launches by NVIDIA's bindings."""
    return py(ON, target, cause, also, DRV + body, expect)


MODULE = "m, = ok(driver.cuModuleLoadData(build(GOOD, '--gpu-architecture=compute_90')))\n"
enter(
    "driver-and-compiler-by-their-bindings",
    drv("slip in the kernel", BUILD, (OT,), "build(GOOD.replace('= 1', '= one'))\n"),
    drv("header that is not given", BUILD, (PATH, OT), "build('#include \"params.cuh\"\\n' + GOOD)\n"),
    drv("option nobody knows", BUILD, (SET, OT), "build(GOOD, '--make-it-fast')\n"),
    drv("module of text that is none", BAD, (BUILD, OT, SHA), "ok(driver.cuModuleLoadData(b'not a module\\0'))\n"),
    drv("kernel by another name", BUILD, (OT, SHA), MODULE + "ok(driver.cuModuleGetFunction(m, b'advance'))\n"),
    drv("launched too wide", LAU, (), MODULE + "f, = ok(driver.cuModuleGetFunction(m, b'k'))\nok(driver.cuLaunchKernel(f, 1, 1, 1, 2000, 1, 1, 0, 0, 0, 0))\n"),
    drv("seventh card", SEL, (), "ok(driver.cuDeviceGet(6))\n"),
    drv("more than any card", OOM, (), "ok(driver.cuMemAlloc(900 << 30))\n"),
    drv("file of kernels that was never made", OT, (PATH, BUILD), "ok(driver.cuModuleLoad(b'kernels/attn_sm90.cubin'))\n"),
)  # fmt: skip
NB = N + "x = cuda.to_device(numpy.zeros(64, 'f'))\n"
enter(
    "numba-streams-and-copies",
    py("numba-kernel", "room of the host too small", SHA, (OT,), NB + "x.copy_to_host(numpy.zeros(3, 'f'))\n", "(?i)size|shape|incompatible"),
    py("numba-kernel", "copied in from another type", SHA, (OT,), NB + "x.copy_to_device(numpy.zeros((8, 8), 'f'))\n", "(?i)shape|incompatible|dimension"),
    py("numba-kernel", "every second, copied in", SHA, (OT,), NB + "x[::2].copy_to_device(numpy.zeros(64, 'f')[::3])\n", "(?i)contiguous|incompatible|shape|buffer"),
    py("numba-kernel", "event timed before it was", ORD, (SHA,), NB + "a, b = cuda.event(), cuda.event()\nprint(cuda.event_elapsed_time(a, b))\n", "(?i)CUDA_ERROR|invalid|handle"),
    py("numba-kernel", "stream of a list", SHA, (OT,), NB + "@cuda.jit\ndef k(a):\n    a[0] = 1\nk[1, 1, [0]](x)\n", "(?i)stream|Error"),
    py("numba-kernel", "view of another rank", SHA, (OT,), NB + "x.reshape(7, 7)\n", "(?i)reshape|size"),
    py("numba-kernel", "used after all was closed", ORD, (ILL, SHA, "program.fork"), NB + "cuda.close()\nprint(x.copy_to_host().sum())\n", "(?i)CUDA_ERROR|Error|invalid|context"),
)  # fmt: skip
