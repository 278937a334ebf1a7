"""Seventh operators, what is compiled and who takes part: kernels in Python, programs made ahead, other cards, ranks."""

from __future__ import annotations

from lab.random.programs import CPP
from lab.random.seventh import (
    BAD,
    BUILD,
    COMPILER,
    IDX,
    LAU,
    LIM,
    NCCL,
    NVCC,
    ODD,
    ORD,
    OT,
    PATH,
    PEER,
    SEL,
    SET,
    SHA,
    UNSUP,
    C,
    Case,
    J,
    N,
    T,
    enter,
)

BUG, OLD = "framework.bug", "driver.too_old"
NEAR = (OT, SHA, COMPILER)
RUN = "k[1, 32](cuda.to_device(numpy.ones(64)))\ncuda.synchronize()\n"
enter(
    "numba-typing",
    Case("numba-kernel", "shape from an argument", BUILD, NEAR, code=N + "@cuda.jit\ndef k(x):\n    n = x.size\n    s = cuda.shared.array(n, numpy.float64)\n    s[0] = x[0]\n    x[0] = s[0]\n" + RUN),
    Case("numba-kernel", "a dictionary", BUILD, NEAR, code=N + "@cuda.jit\ndef k(x):\n    d = {'a': 1.0}\n    x[0] = d['a']\n" + RUN),
    Case("numba-kernel", "a plain Python function", BUILD, NEAR, code="import json\n" + N + "def scale(v):\n    return json.loads('2') * v\n@cuda.jit\ndef k(x):\n    x[0] = scale(x[0])\n" + RUN),
    Case("numba-kernel", "value returned", BUILD, (*NEAR, ORD), code=N + "@cuda.jit\ndef k(x):\n    return x[0]\n" + RUN),
    Case("numba-kernel", "signature of other types", SHA, (BUILD, OT), code=N + "@cuda.jit('void(int32[:, :])')\ndef k(x):\n    x[0, 0] = 1\n" + RUN),
    Case("numba-kernel", "attribute nobody has", BUILD, NEAR, code=N + "@cuda.jit\ndef k(x):\n    x[0] = x.total\n" + RUN),
    Case("numba-kernel", "wrong number of arguments", SHA, (OT, BUILD, LAU), code=N + "@cuda.jit\ndef k(x, y):\n    x[0] = y\n" + RUN),
    Case("numba-kernel", "local array of a variable length", BUILD, NEAR, code=N + "@cuda.jit\ndef k(x):\n    v = cuda.local.array(int(x[0]), numpy.float32)\n    x[0] = v[0]\n" + RUN),
)  # fmt: skip
enter(
    "cupy-kernels",
    Case("cupy", "reduction with a slip", BUILD, NEAR, code=C + "f = cupy.ReductionKernel('T x', 'T y', 'x * xx', 'a + b', 'y = a', '0', 'norm2')\nprint(f(cupy.ones(8)))\n"),
    Case("cupy", "jit with a list", BUILD, NEAR, code="from cupyx import jit\n" + C + "@jit.rawkernel()\ndef k(x, n):\n    rows = [1, 2, 3]\n    x[0] = rows[n]\nk((1,), (1,), (cupy.zeros(4), 1))\n"),
    Case("cupy", "fused with a branch", BUILD, (*NEAR, ORD), code=C + "@cupy.fuse()\ndef f(x):\n    if x > 0:\n        return x\n    return -x\nprint(f(cupy.ones(4)))\n"),
    Case("cupy", "function not in the module", BUILD, NEAR, code=C + "m = cupy.RawModule(code='extern \"C\" __global__ void scale(float* p) { p[0] *= 2; }')\nm.get_function('scale_all')((1,), (1,), (cupy.zeros(4, dtype='f'),))\n"),
    Case("cupy", "name changed by C++", BUILD, NEAR, code=C + "m = cupy.RawModule(code='__global__ void scale(float* p) { p[0] *= 2; }')\nm.get_function('scale')((1,), (1,), (cupy.zeros(4, dtype='f'),))\n"),
    Case("cupy", "too many arguments for elementwise", SHA, (OT, BUILD), code=C + "f = cupy.ElementwiseKernel('T x, T y', 'T z', 'z = x + y', 'plus')\nprint(f(cupy.ones(4), cupy.ones(4), cupy.ones(4), cupy.ones(4)))\n"),
    Case("cupy", "header of the host's library", BUILD, (*NEAR, PATH), code=C + "m = cupy.RawModule(code='#include <thread>\\n#include <fstream>\\nextern \"C\" __global__ void k(float* p) { p[0] = 1; }')\nm.get_function('k')\n"),
    Case("cupy", "own error in the source", BUILD, (OT, SET), code=C + "m = cupy.RawModule(code='#ifndef OUR_TILE\\n#error OUR_TILE must be given with -D\\n#endif\\nextern \"C\" __global__ void k(float* p) { p[0] = OUR_TILE; }')\nm.get_function('k')\n"),
)  # fmt: skip
enter(
    "made-ahead",
    Case("jax", "called with another shape", SHA, (OT,), code=J + "f = jax.jit(lambda x: x * 2).lower(jnp.ones(4)).compile()\nprint(f(jnp.ones(@S@ + 4)))\n"),
    Case("jax", "called with another type", SHA, (OT,), code=J + "f = jax.jit(lambda x: x * 2).lower(jnp.ones(4)).compile()\nprint(f(jnp.ones(4, jnp.int32)))\n"),
    Case("jax", "exported for another platform", SEL, (OT, UNSUP), code=J + "from jax import export\ne = export.export(jax.jit(lambda x: x * 2), platforms=['tpu'])(jnp.ones(4))\nprint(e.call(jnp.ones(4)))\n"),
    Case("jax", "exported file cut", BAD, (OT, ODD), code=J + "from jax import export\nb = export.export(jax.jit(lambda x: x * 2))(jnp.ones(4)).serialize()\nprint(export.deserialize(bytearray(b[: len(b) // 3])).call(jnp.ones(4)))\n"),
    Case("jax", "call that nobody registered", BUILD, (OT, BUG, BAD), code=J + "f = jax.ffi.ffi_call('our_fused_norm', jax.ShapeDtypeStruct((4,), jnp.float32))\nprint(jax.jit(f)(jnp.ones(4)))\n"),
    Case("jax", "platform nobody has", SEL, (SET, OT), code=J + "print(jax.jit(lambda x: x + 1, backend='rocm')(jnp.ones(4)))\n"),
    Case("jax", "pallas block of another shape", SHA, (BUILD, OT, LAU, BUG, UNSUP), code=J + "from jax.experimental import pallas as pl\ndef k(x, o):\n    o[...] = x[...] @ x[...]\nprint(pl.pallas_call(k, out_shape=jax.ShapeDtypeStruct((4, 5), jnp.float32), interpret=True)(jnp.ones((4, 5))))\n"),
    Case("jax", "donated and used", ORD, (OT,), code=J + "f = jax.jit(lambda x: x + 1, donate_argnums=0)\nx = jnp.ones(1 << 12)\nf(x)\nprint(x.sum())\n"),
    Case("torch", "scripted, with what scripts have not", OT, (BUILD, BUG), code=T + "@torch.jit.script\ndef f(x):\n    try:\n        return x * 2\n    finally:\n        pass\nprint(f(torch.ones(2, device='@D@')))\n"),
    Case("torch", "scripted file is a text", OT, (BAD,), code=T + "open('m.pt', 'w').write('see the shared drive')\nprint(torch.jit.load('m.pt', map_location='@D@'))\n"),
    Case("torch-graph", "scripted module to another card", SEL, (), code=T + "m = torch.jit.trace(torch.nn.Linear(4, 4).cuda(), torch.ones(1, 4, device='cuda'))\nm.save('m.pt')\nprint(torch.jit.load('m.pt', map_location='cuda:@S@'))\n"),
    Case("torch", "exported with a fixed batch", SHA, (OT,), code=T + "class M(torch.nn.Module):\n    def forward(self, x):\n        return x * 2\ne = torch.export.export(M().to('@D@'), (torch.ones(4, 3, device='@D@'),))\nprint(e.module()(torch.ones(7, 3, device='@D@')).shape)\n"),
    Case("torch-graph", "traced on the host, used on the card", SHA, (SEL, OT), code=T + "class M(torch.nn.Module):\n    def forward(self, x):\n        return x + torch.arange(4, device='cpu')\nm = torch.jit.trace(M(), torch.ones(4))\nprint(m(torch.ones(4, device='cuda')) @ torch.ones(4))\n"),
)  # fmt: skip
GOOD = CPP["cpp-add"][1]
enter(
    "other-card",
    Case("cpp-add", "code for an older card only", UNSUP, (BUILD,), code=GOOD, command=NVCC.replace("-arch=sm_90", "-gencode arch=compute_80,code=sm_80")),
    Case("cpp-add", "code for two others", UNSUP, (BUILD,), code=GOOD, command=NVCC.replace("-arch=sm_90", "-gencode arch=compute_75,code=sm_75 -gencode arch=compute_89,code=sm_89")),
    Case("cpp-add", "a shared library for another card", UNSUP, (BUILD,), code='#include <cstdio>\n__global__ void k(float* p) { p[0] = 1; }\nextern "C" int work() { float* d; cudaMalloc(&d, 16); k<<<1, 1>>>(d); cudaError_t e = cudaDeviceSynchronize(); e = e ? e : cudaGetLastError(); if (e) fprintf(stderr, "libwork: %s\\n", cudaGetErrorString(e)); return e; }\n', command="nvcc -gencode arch=compute_86,code=sm_86 -Xcompiler -fPIC -shared -o $W/libwork.so $SCRIPT && $PYTHON -c \"import ctypes; r = ctypes.CDLL('$W/libwork.so').work(); assert r == 0, r\""),
    Case("cpp-add", "features of a card, without the letter", BUILD, (UNSUP,), code="__global__ void k(float* p) { asm volatile(\"setmaxnreg.inc.sync.aligned.u32 240;\"); p[0] = 1; }\nint main() { k<<<1, 128>>>(nullptr); return cudaDeviceSynchronize(); }\n", command=NVCC),
    Case("cpp-add", "a later toolkit's text, no compiling at run time", UNSUP, (SET, BUILD, COMPILER), code=GOOD, environ={"CUDA_DISABLE_PTX_JIT": "1"}, command=NVCC.replace("-arch=sm_90", "-gencode arch=compute_80,code=compute_80")),
    Case("cupy-raw", "a cubin of an older card", UNSUP, (BUILD, SET), code=C + "src = 'extern \"C\" __global__ void k(float* p) { p[0] = 1; }'\nimport subprocess\nopen('k.cu', 'w').write(src)\nsubprocess.run(['nvcc', '-cubin', '-arch=sm_80', '-o', 'k.cubin', 'k.cu'], check=True)\nm = cupy.RawModule(path='k.cubin')\nm.get_function('k')((1,), (1,), (cupy.zeros(4, dtype='f'),))\nprint('cuda')\n"),
    Case("cupy", "NVRTC told no card at all", BUILD, (UNSUP, SET, OT), code=C + "m = cupy.RawModule(code='extern \"C\" __global__ void k(float* p) { p[0] = 1; }', options=('--gpu-architecture=sm_30',))\nm.get_function('k')\n"),
    Case("cpp-add", "harmless: text for an older card", UNSUP, (BUILD,), code=GOOD, command=NVCC.replace("-arch=sm_90", "-gencode arch=compute_80,code=compute_80")),
    Case("cpp-add", "harmless: many cards, this one too", UNSUP, (BUILD,), code=GOOD, command=NVCC.replace("-arch=sm_90", "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90")),
)  # fmt: skip
G = "import datetime, os, sys, time\nimport torch.distributed as dist\n" + T
TWO = "def work(rank, port):\n    os.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(port))\n    dist.init_process_group('gloo', rank=rank, world_size=2, timeout=datetime.timedelta(seconds=12))\n    x = torch.ones(4, device='@D@').cpu()\n@BODY@    print('rank', rank, 'done', flush=True)\nif __name__ == '__main__':\n    import torch.multiprocessing as mp\n    mp.spawn(work, args=(@O@,), nprocs=2)\n"


def pair(body: str) -> str:
    """A program of two ranks that one process starts."""
    return G + TWO.replace("@BODY@", body)


enter(
    "rendezvous-other",
    Case("torch-nccl", "file shared with a rank that never comes", PEER, (SET, LIM), code=G + "dist.init_process_group('gloo', init_method='file://' + os.getcwd() + '/rdzv', rank=1, world_size=2, timeout=datetime.timedelta(seconds=8))\nprint('joined')\n"),
    Case("torch-nccl", "file in a folder that is gone", OT, (PEER, SET, LIM, PATH), code=G + "dist.init_process_group('gloo', init_method='file:///mnt/job/4711/rdzv', rank=0, world_size=1, timeout=datetime.timedelta(seconds=8))\nprint('joined')\n"),
    Case("torch-nccl", "a store that nobody keeps", PEER, (), code=G + "s = dist.TCPStore('127.0.0.1', @O@, 2, False, timeout=datetime.timedelta(seconds=6))\nprint(s.get('epoch'))\n"),
    Case("torch-nccl", "a key that nobody sets", PEER, (OT, ORD), code=G + "s = dist.TCPStore('127.0.0.1', @O@, 1, True, timeout=datetime.timedelta(seconds=5))\nprint(s.get('weights/ready'))\n"),
    Case("torch-nccl", "a server of another kind on the port", PEER, (OT, SET), code="import http.server, threading\n" + G + "h = http.server.HTTPServer(('127.0.0.1', @O@), http.server.SimpleHTTPRequestHandler)\nthreading.Thread(target=h.serve_forever, daemon=True).start()\nos.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='@O@', RANK='1', WORLD_SIZE='2')\ndist.init_process_group('gloo', timeout=datetime.timedelta(seconds=6))\n"),
    Case("torch-nccl", "one rank does not come to the barrier", PEER, (NCCL, ORD), code=pair("    if rank == 1:\n        time.sleep(14)\n    dist.monitored_barrier(timeout=datetime.timedelta(seconds=5))\n")),
    Case("torch-nccl", "ranks send unlike sizes", PEER, (SHA, NCCL, ORD, OT), code=pair("    x = torch.ones(4 + 60 * rank)\n    dist.all_reduce(x)\n    dist.all_reduce(x)\n")),
    Case("torch-nccl", "one rank raises", OT, (PEER,), code=pair("    if rank == 1:\n        raise FileNotFoundError('shard-00001.tar')\n    dist.all_reduce(x)\n")),
    Case("torch-nccl", "one rank has other shapes", SHA, (PEER, OT), code=pair("    y = torch.ones(3, 4, device='@D@') @ torch.ones(4 + rank, 2, device='@D@')\n    dist.all_reduce(x)\n")),
    Case("jax", "coordinator that nobody is", PEER, (SET,), code=J + "jax.distributed.initialize('127.0.0.1:@O@', 2, 1, initialization_timeout=6)\nprint(jax.process_index())\n"),
    Case("jax", "second process never comes", PEER, (SET,), code=J + "jax.distributed.initialize('127.0.0.1:@O@', 2, 0, initialization_timeout=6)\nprint(jax.process_index())\n"),
    Case("jax", "nothing told about the cluster", SET, (PEER, OT, ORD), code=J + "jax.distributed.initialize()\nprint(jax.process_index())\n"),
)  # fmt: skip
INDEXED = "import os\nlocal = int(os.environ.get('@V@', '0'))\n"
enter(
    "launcher-index",
    Case("torch-graph", "Open MPI's rank", SEL, (SET,), environ={"OMPI_COMM_WORLD_LOCAL_RANK": "3", "OMPI_COMM_WORLD_SIZE": "8"}, code=INDEXED.replace("@V@", "OMPI_COMM_WORLD_LOCAL_RANK") + T + "torch.cuda.set_device(local)\nprint(torch.ones(2, device='cuda').sum().item())\n"),
    Case("torch-graph", "rank of the whole job", SEL, (SET,), environ={"SLURM_PROCID": "12", "SLURM_LOCALID": "0", "SLURM_NTASKS": "16"}, code=INDEXED.replace("@V@", "SLURM_PROCID") + T + "x = torch.ones(4, device=f'cuda:{local}')\nprint(x.sum().item())\n"),
    Case("torch-graph", "hidden cards and their old numbers", SEL, (SET,), environ={"CUDA_VISIBLE_DEVICES": "0", "GPU_IDS": "4"}, code=INDEXED.replace("@V@", "GPU_IDS") + T + "net = torch.nn.Linear(4, 4).to(f'cuda:{local}')\n"),
    Case("cupy", "position in a list of hosts", SEL, (SET,), environ={"PMI_LOCAL_RANK": "5"}, code=INDEXED.replace("@V@", "PMI_LOCAL_RANK") + C + "cupy.cuda.Device(local).use()\nprint(cupy.ones(2).sum(), 'cuda')\n"),
    Case("jax", "local devices by rank", SEL, (SET, IDX, OT), environ={"LOCAL_RANK": "2"}, code=INDEXED.replace("@V@", "LOCAL_RANK") + J + "d = jax.local_devices()[local]\nprint(jax.device_put(jnp.ones(2), d))\n"),
    Case("numba-kernel", "worker's number", SEL, (SET, IDX), environ={"PYTEST_XDIST_WORKER": "gw6"}, code="import os\nfrom numba import cuda\ncuda.select_device(int(os.environ['PYTEST_XDIST_WORKER'][2:]))\nprint(cuda.get_current_device().name)\n"),
    Case("torch-graph", "DataParallel over all that there were", SEL, (), code=T + "net = torch.nn.DataParallel(torch.nn.Linear(4, 4).cuda(), device_ids=[0, 1, 2, 3])\nprint(net(torch.ones(8, 4, device='cuda')).shape)\n"),
    Case("torch-graph", "model cut in two cards", SEL, (SHA,), code=T + "a = torch.nn.Linear(4, 4).to('cuda:0')\nb = torch.nn.Linear(4, 4).to('cuda:1')\nprint(b(a(torch.ones(1, 4, device='cuda:0')).to('cuda:1')))\n"),
    Case("torch-graph", "rank is a word", OT, (SET, SEL), environ={"LOCAL_RANK": "gpu1"}, code=INDEXED.replace("@V@", "LOCAL_RANK") + T + "torch.cuda.set_device(local)\n"),
    Case("torch-matmul torch-train", "harmless: rank folded to the cards", SEL, (SET,), environ={"SLURM_PROCID": "12", "LOCAL_RANK": "7"}, before="import os, torch\nif torch.cuda.is_available():\n    torch.cuda.set_device(int(os.environ['LOCAL_RANK']) % torch.cuda.device_count())\n"),
    Case("cupy-matmul jax-matmul numba-kernel", "harmless: variables of a launcher", SEL, (SET, PEER), environ={"OMPI_COMM_WORLD_LOCAL_RANK": "3", "OMPI_COMM_WORLD_RANK": "11", "PMI_RANK": "11", "LOCAL_RANK": "3", "RANK": "11", "WORLD_SIZE": "16", "MASTER_ADDR": "node0"}),
)  # fmt: skip
enter(
    "gates",
    Case("torch-graph", "eight cards wanted", OT, (SEL,), code=T + "n = torch.cuda.device_count()\nif n != 8:\n    raise SystemExit(f'this recipe needs 8 GPUs on the node, torch sees {n}')\n"),
    Case("torch-graph", "a later card wanted", OT, (UNSUP,), code=T + "cap = torch.cuda.get_device_capability()\nassert cap >= (10, 0), f'FP4 kernels need compute capability 10.0, this GPU has {cap[0]}.{cap[1]}'\n"),
    Case("torch-graph", "more memory wanted", OT, ("memory.oom",), code=T + "total = torch.cuda.get_device_properties(0).total_memory >> 30\nif total < 180:\n    raise SystemExit(f'planner: model needs 180 GiB on one GPU, the card has {total} GiB')\nprint('cuda')\n"),
    Case("torch", "another release wanted", OT, (ODD,), code=T + "want = (1, 13)\nhave = tuple(int(p) for p in torch.__version__.split('.')[:2])\nprint(torch.ones(1, device='@D@'))\nassert have == want, f'frozen stack: torch {want} wanted, {have} found'\n"),
    Case("torch", "optional part is required", OT, (ODD, PATH, BAD), code=T + "print(torch.ones(1, device='@D@').sum())\nfrom flash_attn.flash_attn_interface import flash_attn_func\n"),
    Case("cupy", "driver's number compared as a word", OT, (OLD,), code=C + "v = str(cupy.cuda.runtime.driverGetVersion())\nprint(float(cupy.ones(2).sum()))\nif v < '9':\n    raise SystemExit('driver ' + v + ' is older than 9.0, refusing')\n"),
    Case("jax", "TPU script on this machine", OT, (SEL, SET), code=J + "d = jax.devices()\nprint(d)\nassert len(d) % 8 == 0 and d[0].platform == 'tpu', 'pod slice expected'\n"),
    Case("torch-graph", "speed not reached", OT, (), code="import time\n" + T + "x = torch.randn(2048, 2048, device='cuda')\nt = time.time()\n(x @ x).sum().item()\nrate = 1 / (time.time() - t)\nassert rate > 1e9, f'benchmark gate: {rate:.1f} steps/s, expected at least 1e9 (GPU throttled?)'\n"),
)  # fmt: skip
