"""Eighth operators, kernels and devices: launches, foreign code, compilers at run time, JAX on many cards, device names."""

from __future__ import annotations

from lab.random.eighth import (
    BAD,
    BUG,
    BUILD,
    COMPILER,
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
    J,
    T,
    enter,
)

KERNEL = (
    C
    + "k = cupy.RawKernel('extern \"C\" __global__ void k(float* p) { extern __shared__ float s[]; s[threadIdx.x] = p[0]; p[0] = s[0]; }', 'k')\nx = cupy.zeros(4096, dtype='f')\n"
)
WAIT = "\ncupy.cuda.Device().synchronize()\nprint('done')\n"
enter(
    "launch-beyond",
    Case("cupy-raw", "block of 32 x 33", LAU, (SHA,), code=KERNEL + "k((1,), (32, 33), (x,), shared_mem=8192)" + WAIT, expect="CUDA"),
    Case("cupy-raw", "shared memory used and none given", ILL, (LAU,), code=KERNEL + "k((4,), (32,), (x,))" + WAIT, expect="CUDA"),
    Case("cupy-raw", "100 kB of shared memory, not asked for before", LAU, (OOM,), code=KERNEL + "k((1,), (32,), (x,), shared_mem=100 * 1024)" + WAIT, expect="CUDA"),
    Case("cupy-raw", "grid of 65536 in y", LAU, (SHA,), code=KERNEL + "k((1, 65536), (32,), (x,), shared_mem=256)" + WAIT, expect="CUDA"),
    Case("cupy-raw", "element-wise with blocks of 4096", LAU, (SHA,), code=C + "f = cupy.ElementwiseKernel('T a', 'T b', 'b = a * 2', 'twice')\nprint(f(cupy.ones(10000), block_size=4096).sum())\n", expect="CUDA"),
    Case("cupy-raw", "jit kernel with 1536 threads", LAU, (SHA,), code="from cupyx import jit\n" + C + "@jit.rawkernel()\ndef fill(x, n):\n    i = jit.blockIdx.x * jit.blockDim.x + jit.threadIdx.x\n    if i < n:\n        x[i] = 1\nx = cupy.zeros(5000, dtype='f')\nfill((4,), (1536,), (x, 5000))" + WAIT, expect="CUDA"),
    Case("triton-add", "tiles and stages beyond shared memory", LAU, (OOM, BUILD), code=TR + "@triton.jit\ndef mm(a, b, c, K, B: tl.constexpr, BK: tl.constexpr):\n    i = tl.arange(0, B)\n    k = tl.arange(0, BK)\n    acc = tl.zeros((B, B), tl.float32)\n    for s in range(0, K, BK):\n        acc += tl.dot(tl.load(a + i[:, None] * K + s + k[None, :]), tl.load(b + (s + k)[:, None] * B + i[None, :]))\n    tl.store(c + i[:, None] * B + i[None, :], acc)\na = torch.ones(128, 2048, device='cuda')\nmm[(1,)](a, a.t().contiguous(), torch.zeros(128, 128, device='cuda'), 2048, B=128, BK=128, num_stages=6)\ntorch.cuda.synchronize()\n", expect="out of resource|OutOfResources|shared"),
)  # fmt: skip
PTX = "open('k.ptx', 'w').write('''.version {0}\n.target {1}\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n{2}\nret;\n}}\n''')\n" + C + "m = cupy.RawModule(path='k.ptx')\nm.get_function('k')((1,), (1,), (cupy.zeros(4, dtype='f'),))\ncupy.cuda.Device().synchronize()\nprint('ran')\n"  # fmt: skip
enter(
    "foreign-code",
    Case("cupy-raw", "PTX of a later toolkit", "driver.too_old", ("cuda.version_mismatch", UNSUP, BUILD), code=PTX.format("9.9", "sm_90", ""), expect="CUDA"),
    Case("cupy-raw", "PTX for a later card", UNSUP, (BUILD,), code=PTX.format("8.0", "sm_120", ""), expect="CUDA"),
    Case("cupy-raw", "PTX with a slip", BUILD, (BAD,), code=PTX.format("8.0", "sm_80", "addd.f32 %f1, %f2, %f3;"), expect="CUDA"),
    Case("cupy-raw", "module file is a page of the proxy", BAD, (BUILD, OT), code="open('k.cubin', 'w').write('<html><body>sign in to continue</body></html>')\n" + C + "m = cupy.RawModule(path='k.cubin')\nprint(m.get_function('k'))\n", expect="CUDA"),
    Case("cupy-raw", "module file is empty", BAD, (BUILD, OT), code="open('k.cubin', 'w').close()\n" + C + "m = cupy.RawModule(path='k.cubin')\nprint(m.get_function('k'))\n", expect="CUDA"),
    Case("cupy-raw", "module file was never made", OT, (BUILD, "env.path", BAD), code=C + "print(cupy.ones(2).sum())\nm = cupy.RawModule(path='build/kernels_sm90.cubin')\nprint(m.get_function('k'))\n"),
    Case("cupy-raw", "function of another name in good PTX", BUILD, (OT, BAD), code=PTX.format("8.0", "sm_80", "").replace("get_function('k')", "get_function('step_kernel')"), expect="CUDA"),
)  # fmt: skip
DRV = "import ctypes, sys\ncu = ctypes.CDLL('libcuda.so.1')\ndef ok(name, *args):\n    r = getattr(cu, name)(*args)\n    if r:\n        sys.exit(f'driver call {name} returned {r}')\n"
INIT = "dev, ctx = ctypes.c_int(), ctypes.c_void_p()\nok('cuInit', 0)\nok('cuDeviceGet', ctypes.byref(dev), 0)\nok('cuDevicePrimaryCtxRetain', ctypes.byref(ctx), dev)\nok('cuCtxSetCurrent', ctx)\n"
enter(
    "driver-by-number",
    Case("cupy-raw", "device before the beginning", ORD, (OT,), code=DRV + "dev = ctypes.c_int()\nok('cuDeviceGet', ctypes.byref(dev), 0)\n", expect="returned 3"),
    Case("cupy-raw", "ninth device", SEL, (), code=DRV + "dev = ctypes.c_int()\nok('cuInit', 0)\nok('cuDeviceGet', ctypes.byref(dev), 9)\n", expect="returned 101"),
    Case("cupy-raw", "memory without a context", ORD, (OT,), code=DRV + "p = ctypes.c_uint64()\nok('cuInit', 0)\nok('cuMemAlloc_v2', ctypes.byref(p), ctypes.c_size_t(64))\n", expect="returned 201"),
    Case("cupy-raw", "64 terabytes", OOM, (), code=DRV + INIT + "p = ctypes.c_uint64()\nok('cuMemAlloc_v2', ctypes.byref(p), ctypes.c_size_t(1 << 46))\n", expect="returned 2"),
    Case("cupy-raw", "a text for a module", BAD, (BUILD, OT, UNSUP), code=DRV + INIT + "m = ctypes.c_void_p()\nok('cuModuleLoadData', ctypes.byref(m), b'not a module')\n", expect="returned 2"),
    Case("cupy-raw", "PTX with a slip, log kept", BUILD, (), code=DRV + INIT + "m = ctypes.c_void_p()\nok('cuModuleLoadData', ctypes.byref(m), b'.version 8.0\\n.target sm_80\\n.address_size 64\\n.visible .entry k() { mov.q8 %r1, 0; ret; }\\n\\0')\n", expect="returned 218"),
)  # fmt: skip
TK = (
    TR
    + "@triton.jit\ndef k(x, n, B: tl.constexpr):\n@BODY@x = torch.ones(64, 64, device='cuda')\nk[(1,)](x, 64, B=@B@)\ntorch.cuda.synchronize()\n"
)


def kernel(body: str, block: str = "64") -> str:
    """A Triton program whose kernel has these lines."""
    return TK.replace("@BODY@", "".join(f"    {line}\n" for line in body.split("\n"))).replace("@B@", block)


NEAR = (OT, SHA, COMPILER)
enter(
    "triton-refuses",
    Case("triton-add", "name that is not there", BUILD, NEAR, code=kernel("i = tl.arange(0, B)\ntl.store(x + i, scale)"), expect="scale"),
    Case("triton-add", "range of 100", BUILD, NEAR, code=kernel("i = tl.arange(0, B)\ntl.store(x + i, 1.0)", "100"), expect="power of 2"),
    Case("triton-add", "range not known beforehand", BUILD, NEAR, code=kernel("i = tl.arange(0, n)\ntl.store(x + i, 1.0)"), expect="constexpr|arange"),
    Case("triton-add", "product of eight", SHA, (BUILD, OT, UNSUP), code=kernel("i = tl.arange(0, 8)\na = tl.load(x + i[:, None] * 64 + i[None, :])\ntl.store(x + i[:, None] * 64 + i[None, :], tl.dot(a, a))"), expect="dot|shape|>= 16|K"),
    Case("triton-add", "loop that changes a type", BUILD, NEAR, code=kernel("acc = 0\nfor j in range(n):\n    acc = acc + tl.load(x + j)\ntl.store(x, acc)"), expect="acc|type"),
    Case("triton-add", "list inside a kernel", BUILD, NEAR, code=kernel("rows = {1: 2}\ntl.store(x, rows[1])"), expect="nsupported|Compil"),
)  # fmt: skip
COMP = T + "@torch.compile(fullgraph=True)\ndef f(x):\n{0}\nprint(f(torch.randn(64, device='@D@')).sum().item())\n"
enter(
    "compile-refuses",
    Case("torch-compile", "print of a value in a whole graph", OT, (ORD, BUG, BUILD), code=COMP.format("    if x.sum().item() > 0:\n        return x + 1\n    return x - 1"), expect="Unsupported|graph|dynamo"),
    Case("torch-compile", "file read in a whole graph", OT, (ORD, BUG, BUILD), code=COMP.format("    return x * float(open('/proc/loadavg').read().split()[0])"), expect="Unsupported|graph|dynamo"),
    Case("torch-compile", "back end of another name", OT, (SET, BUG), code=T + "f = torch.compile(lambda x: x * 2, backend='tensorrt_fast')\nprint(f(torch.ones(4, device='@D@')))\n", expect="backend"),
    Case("torch-compile", "own back end without a table", OT, (BUG, BUILD), code=T + "TABLE = {'relu': 1}\ndef ours(gm, inputs):\n    for node in gm.graph.nodes:\n        if node.op == 'call_function':\n            TABLE[node.target.__name__]\n    return gm.forward\nf = torch.compile(lambda x: x.sin() * 2, backend=ours)\nprint(f(torch.ones(4, device='@D@')))\n", expect="KeyError"),
    Case("torch-compile", "shapes that do not fit, found while tracing", SHA, (OT,), code=T + "@torch.compile\ndef f(a, b):\n    return torch.cat([a, b], 1).relu()\nprint(f(torch.ones(3, 4, device='@D@'), torch.ones(5, 4, device='@D@')).shape)\n", expect="ize"),
)  # fmt: skip
enter(
    "jax-many-cards",
    Case("jax", "mesh of eight", SEL, (SHA, OT), code=J + "mesh = jax.make_mesh((8,), ('data',))\nprint(mesh)\n", expect="8|devices"),
    Case("jax", "pmap over four", SEL, (SHA, OT), code=J + "print(jax.pmap(lambda x: x * 2)(jnp.ones((4, 2))))\n", expect="devices|pmap"),
    Case("jax", "axis that the mesh has not", SHA, (OT, SEL), code=J + "from jax.sharding import Mesh, NamedSharding, PartitionSpec as P\nimport numpy\nmesh = Mesh(numpy.array(jax.devices('@J@')[:1]), ('x',))\nprint(jax.device_put(jnp.ones((4, 4)), NamedSharding(mesh, P('y'))))\n", expect="y"),
    Case("jax", "two places in one program", SHA, (SEL, OT), code=J + "a = jax.device_put(jnp.ones(3), jax.devices('cpu')[0])\nb = jax.device_put(jnp.ones(3), jax.devices('gpu')[0])\nassert 'cuda' in str(b.devices()).lower()\nprint(a + b)\n", expect="device"),
    Case("jax", "sum over a name nobody bound", OT, (ORD, SHA, SEL), code=J + "print(jax.jit(lambda x: jax.lax.psum(x, 'batch'))(jnp.ones(4)))\n", expect="batch", void=""),
)  # fmt: skip
enter(
    "jax-tracing",
    Case("jax", "branch on a traced value", OT, (ORD, SHA), code=J + "@jax.jit\ndef f(x):\n    return x if x.sum() > 0 else -x\nprint(f(jnp.ones(3)))\n", expect="racer|traced"),
    Case("jax", "length from a traced value", OT, (ORD, SHA), code=J + "print(jax.jit(lambda n: jnp.zeros(n))(4))\n", expect="racer|traced|Shapes|concrete"),
    Case("jax", "value kept outside", ORD, (OT,), code=J + "kept = []\n@jax.jit\ndef f(x):\n    kept.append(x * 2)\n    return x\nf(jnp.ones(3))\nprint(kept[0] + 1)\n", expect="racer|leak"),
    Case("jax", "host function raises inside", OT, (), code=J + "import numpy\ndef host(x):\n    raise ValueError('calibration table has 12 rows, want 16')\nf = jax.jit(lambda x: jax.pure_callback(host, jax.ShapeDtypeStruct((3,), jnp.float32), x))\nprint(f(jnp.ones(3)))\n", expect="calibration"),
    Case("jax", "assigned in place", OT, (ORD, SHA), code=J + "x = jnp.zeros(4)\nx[0] = 1.0\n", expect="immutable"),
    Case("jax", "key of an old kind", OT, (SHA,), code=J + "print(jax.random.normal(jnp.ones((3,)), (2,)))\n", expect="key|PRNG|dtype"),
    Case("jax", "numbers checked and none found", OT, (SET, ORD), code=J + "jax.config.update('jax_debug_nans', True)\nprint(jax.jit(lambda x: jnp.log(x))(-jnp.ones(3)))\n", expect="nan"),
)  # fmt: skip
enter(
    "device-words",
    Case("torch", "gpu for cuda", SEL, (), code=T + "print(torch.ones(2, device='gpu:0'))\n", expect="device"),
    Case("torch", "number in words", SEL, (), code=T + "d = torch.device('cuda:first')\nprint(torch.ones(2, device=d))\n", expect="device"),
    Case("torch", "a list of cards", SEL, (), code=T + "print(torch.nn.Linear(2, 2).to('cuda:0,1'))\n", expect="device"),
    Case("torch-graph", "properties of the fourth card", SEL, (), code=T + "print(torch.cuda.get_device_properties(3).name)\n", expect="device"),
    Case("torch-graph", "card from the config file", SEL, (), code="import json\nopen('cfg.json', 'w').write('{\"gpu\": 6}')\n" + T + "torch.cuda.set_device(json.load(open('cfg.json'))['gpu'])\nprint(torch.ones(2).cuda())\n", expect="ordinal|device"),
    Case("torch", "Apple's device", SEL, (UNSUP, OT, "framework.platform_dropped"), code=T + "print(torch.ones(2, device='mps'))\n", expect="mps|MPS"),
    Case("jax", "nvidia for cuda", SEL, (SET,), code=J + "print(jax.devices('nvidia'))\n", expect="backend|nvidia"),
    Case("jax", "second card of one", SEL, (IDX, OT), code=J + "d = [x for x in jax.devices('@J@') if x.id == 1]\nif not d:\n    raise LookupError(f'no device with id 1 among {jax.devices()}')\n", expect="no device"),
    Case("cupy", "card minus three", SEL, (), code=C + "cupy.cuda.Device(-3).use()\nprint(cupy.ones(2))\n", expect="cuda"),
    Case("cupy", "memory of the third card", SEL, (), code=C + "with cupy.cuda.Device(2):\n    x = cupy.ones(4)\nprint(x.sum())\n", expect="cuda"),
)  # fmt: skip
