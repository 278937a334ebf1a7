"""Twelfth operators, JAX and CuPy: sparse matrices, attention, windows and gathers, calls of foreign functions, watchers; CuPy's own compiler in Python, signals, the runtime's calls, groups, Numba's linked code."""

from __future__ import annotations

from lab.random.eleventh import (
    BAD,
    BUILD,
    HOST,
    IDX,
    ILL,
    LAU,
    NCCL,
    OOM,
    ORD,
    OT,
    PATH,
    PEER,
    SEL,
    SET,
    SHA,
    C,
    Case,
    N,
    py,
)
from lab.random.eleventh_more import CU, jx
from lab.random.twelfth import enter

BC = "from jax.experimental import sparse\ns = sparse.BCOO.fromdense(x)\n"
enter(
    "jax-sparse-matrices",
    jx("product of unlike sizes", SHA, (OT,), BC + "print(s @ jnp.ones((5, 2)))\n", "(?i)dot_general|shape|dimension"),
    jx("positions of another rank", SHA, (OT,), BC + "print(sparse.BCOO((jnp.ones(3), jnp.zeros((3, 5), int)), shape=(4, 3)).todense())\n", "(?i)shape|dim|sparse|valid"),
    jx("function that knows no sparse", SHA, (OT,), BC + "print(jnp.sin(s))\n", "(?i)BCOO|abstract|valid JAX|type|sparse"),
    jx("more entries than there is room for", SHA, (OT, IDX), BC + "print(s.reshape(5, 5))\n", "(?i)reshape|size|shape"),
)  # fmt: skip
ATT = "q = jnp.ones((2, 16, 4, 32), @T@)\n"
enter(
    "jax-attention-and-layers",
    jx("heads that do not divide", SHA, (OT,), ATT.replace("@T@", "jnp.float32") + "print(jax.nn.dot_product_attention(q, q[:, :, :3], q[:, :, :3]))\n", "(?i)head|divis|multiple|shape"),
    jx("mask of another length", SHA, (OT,), ATT.replace("@T@", "jnp.float32") + "print(jax.nn.dot_product_attention(q, q, q, mask=jnp.ones((2, 1, 16, 9), bool)))\n", "(?i)mask|shape|broadcast|expected"),
    jx("cuDNN asked for whole floats", SHA, (OT, SET), "assert jax.default_backend() == 'gpu' and 'cuda' != 'cpu'\n" + ATT.replace("@T@", "jnp.float32") + "print(jax.nn.dot_product_attention(q, q, q, implementation='cudnn'))\n", "(?i)cudnn|dtype|float|bf16|fp16"),
    jx("way of another name", OT, (SET,), ATT.replace("@T@", "jnp.float16") + "print(jax.nn.dot_product_attention(q, q, q, implementation='flash9'))\n", "(?i)flash9|implementation"),
    jx("channels that do not fit the filter", SHA, (OT,), "print(jax.lax.conv(jnp.ones((1, 3, 8, 8)), jnp.ones((4, 5, 3, 3)), (1, 1), 'SAME'))\n", "(?i)feature|channel|conv|dimension"),
    jx("border of another name", OT, (SHA, SET), "print(jax.lax.conv(jnp.ones((1, 3, 8, 8)), jnp.ones((4, 3, 3, 3)), (1, 1), 'MIRROR'))\n", "(?i)MIRROR|padding"),
)  # fmt: skip
enter(
    "jax-windows-and-gathers",
    jx("window of another rank", SHA, (OT,), "print(jax.lax.reduce_window(x, 0.0, jax.lax.add, (2,), (1, 1), 'VALID'))\n", "(?i)window|rank|dimension|ndim|shape"),
    jx("piece larger than the whole", SHA, (OT, IDX), "print(jax.lax.dynamic_slice(x, (0, 0), (9, 3)))\n", "(?i)slice|size"),
    jx("gathered with wrong numbers", SHA, (OT,), "g = jax.lax.GatherDimensionNumbers(offset_dims=(0,), collapsed_slice_dims=(0,), start_index_map=(0, 1))\nprint(jax.lax.gather(x, jnp.zeros((2, 1), int), g, (1, 3)))\n", "(?i)gather"),
    jx("by a list with a fraction", SHA, (OT, IDX), "print(x[jnp.array([0.5, 1.0])])\n", "(?i)index|integer|type"),
    jx("positions that depend on values, compiled", ORD, (OT, SHA), "print(jax.jit(lambda v: jnp.nonzero(v))(x))\n", "(?i)size|concrete|nonzero"),
    jx("cut at a place known late", ORD, (OT, SHA), "print(jax.jit(lambda v, n: v[:n])(x, 2))\n", "(?i)static|concrete|slice|Tracer"),
    jx("axes turned twice", SHA, (OT,), "print(jnp.transpose(x, (0, 0)))\n", "(?i)transpose|permutation|axes|axis"),
)  # fmt: skip
enter(
    "jax-foreign-calls",
    jx("function nobody registered", BUILD, (OT, "cuda.missing_library", "framework.bug"), "f = jax.ffi.ffi_call('acme_rms_norm', jax.ShapeDtypeStruct(x.shape, x.dtype))\nprint(jax.jit(f)(x))\n", "(?i)acme_rms_norm|custom call"),
    jx("library of it is not here", OT, (PATH, "cuda.missing_library"), "import ctypes\nlib = ctypes.cdll.LoadLibrary('./libacme_ffi.so')\njax.ffi.register_ffi_target('acme', jax.ffi.pycapsule(lib.Acme), platform='CUDA')\n", "libacme_ffi"),
    jx("registered twice as two", ORD, (OT, BUILD, "install.conflict"), "import ctypes\nc = ctypes.CDLL(None)\njax.ffi.register_ffi_target('acme', jax.ffi.pycapsule(c.malloc), platform='cpu', api_version=0)\njax.ffi.register_ffi_target('acme', jax.ffi.pycapsule(c.free), platform='cpu', api_version=0)\nprint(float(jnp.ones(3).sum()))\n", "(?i)acme|already|duplicate"),
    jx("host's part answers another shape", SHA, (OT,), "import numpy\nf = lambda v: jax.pure_callback(lambda a: numpy.ones(7, 'f'), jax.ShapeDtypeStruct((4,), jnp.float32), v)\nprint(jax.jit(f)(x))\n", "(?i)callback|shape|size"),
    jx("watch begun twice", ORD, (OT,), "jax.profiler.start_trace('t1')\njax.profiler.start_trace('t2')\n", "(?i)profile|already|one"),
    jx("watch ended that never began", ORD, (OT,), "jax.profiler.stop_trace()\n", "(?i)no profile|started"),
)  # fmt: skip


def cp(target: str, cause: str, also: tuple[str, ...], body: str, expect: str, top: str = "") -> Case:
    """A program of CuPy that computes first."""
    return py(CU, target, cause, also, f"{C}import numpy\n{top}x = cupy.arange(12.0).reshape(3, 4)\nprint('sum', float(x.sum()), flush=True)\n{body}", expect)  # fmt: skip


KJ = "from cupyx import jit\n@jit.rawkernel()\ndef k(a, n):\n    i = jit.grid(1)\n    @B@\n"
RUN = "k[1, 32](x.ravel(), 12)\ncupy.cuda.Device().synchronize()\nprint(float(x.sum()))\n"


def kj(target: str, cause: str, also: tuple[str, ...], body: str, expect: str, run: str = RUN) -> Case:
    """A kernel that CuPy makes of Python."""
    return cp(target, cause, also, KJ.replace("@B@", body.replace("\n", "\n    ")) + run, expect)


enter(
    "cupy-kernels-by-jit",
    kj("word of Python it does not know", BUILD, (OT, SHA), "a[i] = sum([1, 2, n])", "(?i)Error"),
    kj("variable of two types", BUILD, (OT, SHA), "v = 1\nv = 2.5 * a[0]\nv = 'x'\na[i] = v", "(?i)Error"),
    kj("name that is nowhere", BUILD, (OT,), "a[i] = warp_speed", "(?i)warp_speed"),
    kj("far outside", ILL, (), "a[i + 100000000000] = 1.0", "(?i)illegal|ErrorIllegal|CUDA"),
    kj("too many threads", LAU, (), "a[i] = 1.0", "(?i)invalid|INVALID|CUDA", "k[1, 4096](x.ravel(), 12)\ncupy.cuda.Device().synchronize()\n"),
    kj("arguments too few", SHA, (OT, BUILD), "a[i] = n", "(?i)argument|positional|missing", "k[1, 32](x.ravel())\n"),
    kj("array of the host", SHA, (OT, SEL), "a[i] = n", "(?i)Unsupported|numpy|type|host|Error", "k[1, 32](numpy.ones(12), 12)\n"),
)  # fmt: skip
RT = "from cupy.cuda import runtime as rt\n"
enter(
    "cupy-calls-the-runtime",
    cp("properties of the eighth card", SEL, (), "print(rt.getDeviceProperties(7)['name'])\n", "(?i)device", RT),
    cp("current card is the third", SEL, (), "rt.setDevice(2)\n", "(?i)device", RT),
    cp("copy from nowhere", SHA, (ILL,), "rt.memcpy(x.data.ptr, 0x40, 1 << 40, rt.memcpyDeviceToDevice)\n", "(?i)invalid|illegal", RT),
    cp("given back though never taken", SHA, (ILL, ORD), "rt.free(0x7777000)\n", "(?i)invalid", RT),
    cp("more than any card", OOM, (), "rt.malloc(900 << 30)\n", "(?i)out of memory|MemoryAllocation", RT),
    cp("pinned beyond the host", HOST, (OOM,), "rt.hostAlloc(40 << 40, 0)\n", "(?i)out of memory|MemoryAllocation", RT),
    cp("attribute nobody knows", SHA, (OT,), "print(rt.deviceGetAttribute(99999, 0))\n", "(?i)invalid", RT),
    cp("peer of a card that is not", SEL, (), "print(rt.deviceCanAccessPeer(0, 3))\n", "(?i)device", RT),
)  # fmt: skip
SG = "import cupyx.scipy.signal as sg\nimport cupyx.scipy.ndimage as nd\nimport cupyx.scipy.interpolate as ip\n"
enter(
    "cupy-signals",
    cp("mode of another name", OT, (SHA, SET), "print(sg.convolve(x[0], x[1], mode='around'))\n", "(?i)around|mode", SG),
    cp("unlike ranks", SHA, (OT,), "print(sg.fftconvolve(x, x[0]))\n", "(?i)dimension", SG),
    cp("window longer than the signal's steps", SHA, (OT,), "print(sg.savgol_filter(x[0], 2, 5))\n", "(?i)polyorder|window", SG),
    cp("points not in order", SHA, (OT,), "print(ip.CubicSpline(cupy.array([2.0, 1.0, 3.0]), cupy.ones(3)) if hasattr(ip, 'CubicSpline') else ip.PchipInterpolator(cupy.array([2.0, 1.0, 3.0]), cupy.ones(3)))\n", "(?i)increasing|strict", SG),
    cp("fewer values than points", SHA, (OT,), "print(ip.PchipInterpolator(cupy.arange(4.0), cupy.ones(3)))\n", "(?i)shape|length|match|size|same", SG),
    cp("filter of an even order of none", SHA, (OT,), "print(sg.medfilt(x[0], 4))\n", "(?i)odd", SG),
    cp("signal of the host", SHA, (OT, SEL), "print(sg.convolve(numpy.ones(8), x[0]))\n", "(?i)numpy|type|unsupported|implicit|host|ndarray", SG),
)  # fmt: skip
enter(
    "cupy-groups",
    cp("rank beyond the group", OT, (SHA, SEL, NCCL, PEER), "from cupyx.distributed import init_process_group\ninit_process_group(2, 5, host='127.0.0.1', port=@O@)\n", "(?i)rank"),
    cp("group of nobody", OT, (SHA, SEL, NCCL), "from cupyx.distributed import init_process_group\ninit_process_group(0, 0, host='127.0.0.1', port=@O@)\n", "(?i)n_devices|device|0"),
    cp("way of another name", OT, (SET, NCCL), "from cupyx.distributed import init_process_group\ninit_process_group(1, 0, backend='pigeon', host='127.0.0.1', port=@O@)\n", "(?i)pigeon|backend"),
    cp("rank of a group by a negative number", NCCL, (SHA, SEL, OT), "from cupy.cuda import nccl\nnccl.NcclCommunicator(1, nccl.get_unique_id(), 3)\n", "(?i)nccl|invalid"),
    cp("cards twice in one group", NCCL, (SEL, OT), "from cupy.cuda import nccl\nnccl.NcclCommunicator.initAll([0, 0])\n", "(?i)nccl|invalid|duplicate"),
    cp("cards that are not here in one group", SEL, (NCCL, OT), "from cupy.cuda import nccl\nnccl.NcclCommunicator.initAll([0, 1])\n", "(?i)nccl|invalid|device"),
)  # fmt: skip
NB = N + "x = cuda.to_device(numpy.zeros(64, 'f'))\n"
enter(
    "numba-linked-code",
    py("numba-kernel", "linked file that is not here", BUILD, (OT, PATH), NB + "f = cuda.declare_device('scale', 'float32(float32)')\n@cuda.jit(link=['scale.ptx'])\ndef k(a):\n    a[0] = f(a[1])\nk[1, 1](x)\n", "(?i)scale.ptx|No such|linker|not found"),
    py("numba-kernel", "function that nobody links", BUILD, (OT,), NB + "f = cuda.declare_device('scale', 'float32(float32)')\n@cuda.jit\ndef k(a):\n    a[0] = f(a[1])\nk[1, 1](x)\n", "(?i)scale|unresolved|undefined|link"),
    py("numba-kernel", "linked file is a page", BAD, (BUILD, OT), "open('scale.ptx', 'w').write('<html>404</html>')\n" + NB + "f = cuda.declare_device('scale', 'float32(float32)')\n@cuda.jit(link=['scale.ptx'])\ndef k(a):\n    a[0] = f(a[1])\nk[1, 1](x)\n", "(?i)ptx|link|error"),
    py("numba-kernel", "signature of another kernel", SHA, (OT, BUILD), NB + "@cuda.jit('void(int32, int32)')\ndef k(a, b):\n    pass\nk[1, 1](x, x)\ncuda.synchronize()\n", "(?i)type|convert|array|argument|Error"),
    py("numba-kernel", "registers beyond all", BUILD, (LAU, SET, OT), NB + "@cuda.jit(max_registers='many')\ndef k(a):\n    a[0] = 1\nk[1, 1](x)\n", "(?i)many|int|register|type"),
    py("numba-kernel", "kernel that answers", BUILD, (OT, SHA), NB + "@cuda.jit\ndef k(a):\n    return a[0] + 1\nk[1, 1](x)\n", "(?i)return|void"),
)  # fmt: skip
