"""Seventh operators, the programs: graphs, layouts, indices, processes, allocators, kernels, exported models, other cards.

No request is larger than fails at once: nobody else starves.
"""

from __future__ import annotations

from lab.random.seventh import (
    BAD,
    BUILD,
    FORK,
    HOST,
    IDX,
    ILL,
    LAU,
    LIM,
    OOM,
    ORD,
    OT,
    PATH,
    PEER,
    SEL,
    SET,
    SHA,
    TR,
    UNSUP,
    C,
    Case,
    F,
    J,
    N,
    T,
    enter,
)

BUG = "framework.bug"
enter(
    "graph-later",
    Case("torch-graph", "graph reset, then replayed", ORD, (ILL,), code=T + "x = torch.zeros(4, device='cuda')\ng = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(g):\n    y = x + 1\ng.reset()\ng.replay()\ntorch.cuda.synchronize()\n"),
    Case("torch-graph", "graphed module, another batch", SHA, (ORD,), code=T + "net = torch.nn.Linear(8, 8).cuda()\nnet = torch.cuda.make_graphed_callables(net, (torch.randn(4, 8, device='cuda'),))\nprint(net(torch.randn(@S@ + 4, 8, device='cuda')).shape)\n"),
    Case("torch-compile", "output overwritten by the next run", ORD, (BUG, OT), code=T + "@torch.compile(mode='reduce-overhead')\ndef f(x):\n    return (x * 2).sin()\nkept = []\nfor i in range(5):\n    kept.append(f(torch.full((64,), float(i), device='cuda')))\nprint(sum(k.sum().item() for k in kept))\n"),
    Case("torch-graph", "another thread allocates", ORD, (), code="import threading\n" + T + "x = torch.zeros(4, device='cuda')\nmade = []\ndef other():\n    s = torch.cuda.Stream()\n    with torch.cuda.stream(s):\n        made.append(torch.ones(300 << 20, device='cuda', dtype=torch.uint8))\n    torch.cuda.synchronize()\nwith torch.cuda.graph(torch.cuda.CUDAGraph()):\n    y = x + 1\n    t = threading.Thread(target=other)\n    t.start()\n    t.join()\nprint(len(made), y.sum().item())\n"),
    Case("torch-graph", "side stream never joined", ORD, (), code=T + "x = torch.zeros(4, device='cuda')\ns = torch.cuda.Stream()\nwith torch.cuda.graph(torch.cuda.CUDAGraph()):\n    s.wait_stream(torch.cuda.current_stream())\n    with torch.cuda.stream(s):\n        y = x * 2\nprint('captured')\n"),
    Case("torch-graph", "graphed without requiring gradients alike", ORD, (SHA, OT), code=T + "net = torch.nn.Linear(8, 8).cuda()\nx = torch.randn(4, 8, device='cuda', requires_grad=True)\nf = torch.cuda.make_graphed_callables(net, (x.detach(),), allow_unused_input=False)\nf(x).sum().backward()\nprint(x.grad.sum().item())\n"),
    Case("cupy", "graph of an open capture launched", ORD, (ILL, OT), code=C + "s = cupy.cuda.Stream(non_blocking=True)\nwith s:\n    s.begin_capture()\n    g = cupy.cuda.graph.Graph()\n    g.launch()\n"),
)  # fmt: skip
enter(
    "layout-kinds",
    Case("torch-graph", "weights that are only promised", SHA, (ORD, OT), code=T + "with torch.device('meta'):\n    net = torch.nn.Linear(8, 8)\nnet.to('cuda')\n"),
    Case("torch-graph", "promised weights computed with", SHA, (SEL, ORD, OT), code=T + "w = torch.empty(8, 8, device='meta')\nprint((torch.ones(2, 8, device='cuda') @ w).sum().item())\n"),
    Case("torch", "window beyond the storage", SHA, (IDX, OT), code=T + "x = torch.ones(8, device='@D@')\nprint(x.as_strided((4, 4), (4, 1)).sum().item())\n"),
    Case("torch", "complex out of three", SHA, (OT,), code=T + "print(torch.view_as_complex(torch.ones(4, 3, device='@D@')))\n"),
    Case("torch-graph", "sum of eight-bit floats", SHA, (UNSUP, BUG, OT), code=T + "a = torch.ones(16, device='cuda').to(torch.float8_e5m2)\nprint((a + a).sum().item())\n"),
    Case("torch-graph", "unsigned sixteen bits", SHA, (UNSUP, BUG, OT), code=T + "a = torch.arange(8, device='cuda').to(torch.uint16)\nprint(a.cumsum(0), torch.sort(a), (a << 1) @ a)\n"),
    Case("torch-graph", "sparse where dense is meant", SHA, (OT, BUG), code=T + "a = torch.eye(8, device='cuda').to_sparse()\nprint(torch.nn.functional.conv1d(a, torch.ones(1, 8, 3, device='cuda')))\n"),
    Case("torch-graph", "CPU's own format", SHA, (SEL, OT, BUG), code=T + "a = torch.ones(4, 4).to_mkldnn()\nprint((a.to('cuda') @ torch.ones(4, 4, device='cuda')).sum())\n"),
    Case("torch", "ragged tensor reshaped", SHA, (OT, BUG), code=T + "n = torch.nested.nested_tensor([torch.ones(2, 4), torch.ones(3, 4)], device='@D@')\nprint(n.reshape(5, 4).shape)\n"),
    Case("torch", "whole numbers with a mean", SHA, (OT,), code=T + "print(torch.arange(8, device='@D@').mean())\n"),
    Case("cupy", "bytes seen as wider numbers", SHA, (OT,), code=C + "x = cupy.zeros((4, 6), dtype='u1')[:, ::2]\nprint(x.view('f4').shape)\n"),
    Case("cupy", "words on the card", SHA, (OT,), code=C + "print(cupy.array(['cat', 'dog']))\n"),
    Case("jax", "bits of another width", SHA, (OT,), code=J + "print(jax.lax.bitcast_convert_type(jnp.ones((3,), jnp.uint8), jnp.float32))\n"),
    Case("jax", "float for an index", SHA, (OT, IDX), code=J + "x = jnp.arange(8.0)\nprint(x[jnp.array([1.0, 2.0])])\n"),
    Case("numba-kernel", "columns copied as rows", SHA, (OT,), code=N + "x = cuda.to_device(numpy.zeros((4, 4)))\nx.copy_to_device(numpy.asfortranarray(numpy.arange(16.0).reshape(4, 4)))\n"),
)  # fmt: skip
enter(
    "index-host",
    Case("torch", "row that is not there", IDX, (SHA, OT), code=T + "x = torch.randn(@S@, 4, device='@D@')\nprint(x[40].sum().item())\n"),
    Case("torch", "dimension that is not there", IDX, (SHA, OT), code=T + "x = torch.randn(@S@, 4, device='@D@')\nprint(x.sum(dim=3).shape)\n"),
    Case("torch", "channel chosen in a loop", IDX, (SHA, OT), code=T + "x = torch.randn(2, 3, 8, 8, device='@D@')\nfor c in range(4):\n    print(x[:, c].mean().item())\n"),
    Case("torch", "narrow beyond the end", IDX, (SHA, OT), code=T + "print(torch.arange(8, device='@D@').narrow(0, 6, @S@ + 3))\n"),
    Case("torch", "split does not add up", SHA, (IDX, OT), code=T + "print(torch.arange(10, device='@D@').split([3, 3, 3]))\n"),
    Case("cupy", "row that is not there", IDX, (SHA, OT), code=C + "x = cupy.zeros((@S@, 4))\nprint(x[77])\n"),
    Case("cupy", "axis that is not there", IDX, (SHA, OT), code=C + "print(cupy.zeros((2, 2)).sum(axis=5))\n"),
    Case("jax", "too many indices", IDX, (SHA, OT), code=J + "x = jnp.zeros((4, 4))\nprint(x[0, 1, 2])\n"),
    Case("jax", "axis that is not there", IDX, (SHA, OT), code=J + "print(jnp.concatenate([jnp.ones(3), jnp.ones(3)], axis=1))\n"),
    Case("numba-kernel", "element read from the host", IDX, (OT, SHA), code=N + "x = cuda.to_device(numpy.zeros(8))\nprint(x[12])\n"),
)  # fmt: skip
enter(
    "index-deep",
    Case("torch", "index_copy", IDX, (SHA,), code=T + "x = torch.zeros(4, 3, device='@D@')\nx.index_copy_(0, torch.tensor([1, 9], device='@D@'), torch.ones(2, 3, device='@D@'))\nprint(x.sum().item())\n"),
    Case("torch", "index_fill", IDX, (SHA,), code=T + "x = torch.zeros(4, device='@D@')\nx.index_fill_(0, torch.tensor([2, 50], device='@D@'), 1.0)\nprint(x.sum().item())\n"),
    Case("torch", "scatter_reduce", IDX, (ILL,), code=T + "x = torch.zeros(4, device='@D@')\nx.scatter_reduce_(0, torch.tensor([0, 44], device='@D@'), torch.ones(2, device='@D@'), 'amax')\nprint(x.sum().item())\n"),
    Case("torch", "one-hot of too few classes", IDX, (SHA, OT), code=F + "print(F.one_hot(torch.tensor([0, 3, 11], device='@D@'), num_classes=10).sum().item())\n"),
    Case("torch", "unpooling to the wrong size", IDX, (SHA, ILL, OT), code=F + "x = torch.randn(1, 1, 8, 8, device='@D@')\ny, i = F.max_pool2d(x, 2, return_indices=True)\nprint(F.max_unpool2d(y, i + 500, 2).sum().item())\n"),
    Case("torch-compile", "inside a compiled function", IDX, (BUG,), code=T + "@torch.compile\ndef f(x, i):\n    return x[i] * 2 + 1\nprint(f(torch.randn(16, device='@D@'), torch.tensor([3, 900], device='@D@')).sum().item())\n"),
    Case("torch", "margin loss", IDX, (SHA, OT), code=F + "print(F.multi_margin_loss(torch.randn(2, 3, device='@D@'), torch.tensor([0, 7], device='@D@')).item())\n"),
    Case("torch-graph", "ignored label is another number", IDX, (), code=F + "y = torch.tensor([0, 1, -1, 2], device='cuda')\nprint(F.cross_entropy(torch.randn(4, 3, device='cuda'), y, ignore_index=-100).item())\n"),
    Case("numba-kernel", "kernel in debug mode", IDX, (OT, ILL, BUILD), code=N + "@cuda.jit(debug=True, opt=False)\ndef k(x):\n    x[cuda.threadIdx.x + 40] = 1\nx = cuda.to_device(numpy.zeros(8))\nk[1, 4](x)\ncuda.synchronize()\nprint(x.copy_to_host())\n"),
)  # fmt: skip
enter(
    "between-processes",
    Case("torch-graph", "received and sent on", FORK, (ORD, OT), code="import torch.multiprocessing as mp\n" + T + "def relay(a, b):\n    x = a.get()\n    b.put(x)\n    b.close()\n    b.join_thread()\nif __name__ == '__main__':\n    mp.set_start_method('spawn')\n    a, b = mp.Queue(), mp.Queue()\n    p = mp.Process(target=relay, args=(a, b))\n    p.start()\n    x = torch.ones(4, device='cuda')\n    a.put(x)\n    print(b.get(timeout=20))\n", ),
    Case("torch-graph", "giver has gone before", FORK, (ORD, PEER, OT, ILL), code="import torch.multiprocessing as mp\n" + T + "def give(q):\n    q.put(torch.ones(4, device='cuda'))\n    import os, time\n    time.sleep(1)\n    os._exit(0)\nif __name__ == '__main__':\n    mp.set_start_method('spawn')\n    q = mp.Queue()\n    p = mp.Process(target=give, args=(q,))\n    p.start()\n    p.join()\n    print(q.get(timeout=20).sum().item())\n"),
    Case("cupy", "own handle opened again", FORK, (ORD, ILL), code=C + "x = cupy.arange(8)\nh = cupy.cuda.runtime.ipcGetMemHandle(x.data.ptr)\nprint(cupy.cuda.runtime.ipcOpenMemHandle(h))\n"),
    Case("cupy", "handle of nothing", FORK, (ORD, ILL, OT, SHA), code=C + "cupy.ones(2)\nprint(cupy.cuda.runtime.ipcOpenMemHandle(bytes(64)))\n"),
    Case("torch-graph", "child of a spawned pool fails", SHA, (OT, FORK), code="import torch.multiprocessing as mp\n" + T + "def work(rank):\n    a = torch.ones(rank + 2, 3, device='cuda')\n    print((a @ a).sum().item())\nif __name__ == '__main__':\n    mp.spawn(work, nprocs=2)\n"),
    Case("torch-graph", "child of a spawned pool takes its own card", SEL, (FORK, OT), code="import torch.multiprocessing as mp\n" + T + "def work(rank):\n    torch.cuda.set_device(rank + 1)\n    print(torch.ones(2, device='cuda').sum().item())\nif __name__ == '__main__':\n    mp.spawn(work, nprocs=2)\n"),
    Case("torch-matmul torch-fft", "harmless: a child that does not touch it", FORK, (OT,), before="import multiprocessing as mp\np = mp.get_context('fork').Process(target=print, args=('child',))\np.start()\np.join()\n"),
    Case("cupy-matmul jax-matmul", "harmless: forked before the first use", FORK, (OT,), before="import os\nif os.fork() == 0:\n    os._exit(0)\nos.wait()\n"),
)  # fmt: skip
CLIPS = "from torch.utils.data import DataLoader, Dataset\nclass Clips(Dataset):\n    def __len__(self):\n        return 16\n    def __getitem__(self, i):\n@BODY@        return torch.zeros(4)\n"
FEED = "if __name__ == '__main__':\n    for x in DataLoader(Clips(), batch_size=2, num_workers=2@MORE@):\n        print(x.to('@D@').shape, flush=True)\n"


def loader(body: str, more: str = "") -> str:
    """A program whose workers do something at the ninth clip."""
    return "import os, signal, sys, time\n" + T + CLIPS.replace("@BODY@", body) + FEED.replace("@MORE@", more)


enter(
    "worker-lost",
    Case("torch-loader", "killed", OT, (HOST, LIM, PEER), code=loader("        if i == 9:\n            os.kill(os.getpid(), signal.SIGKILL)\n")),
    Case("torch-loader", "segmentation fault", OT, (ILL, HOST), code=loader("        if i == 9:\n            import ctypes\n            ctypes.string_at(8)\n")),
    Case("torch-loader", "exits by itself", OT, (HOST, LIM, PEER), code=loader("        if i == 9:\n            os._exit(3)\n")),
    Case("torch-loader", "too slow", OT, (LIM, PEER, HOST), code=loader("        if i == 9:\n            time.sleep(30)\n", ", timeout=4")),
    Case("torch-loader", "address space of its own", LIM, (HOST, OT), code=loader("        if i == 9:\n            import resource\n            resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))\n            bytearray(1 << 29)\n")),
    Case("torch-loader", "terabytes in a worker", HOST, (OT, LIM), code=loader("        if i == 9:\n            return torch.zeros(1 << 45)\n")),
    Case("torch-loader", "a card that is not there", SEL, (FORK, OT), code=loader("        if i == 9:\n            return torch.zeros(4, device='cuda:@S@')\n", ", multiprocessing_context='spawn'")),
    Case("torch-loader", "harmless: bad clips are left out", OT, (HOST,), before="import warnings\nwarnings.warn('clip 9: decoder was killed by signal 9, clip left out')\n"),
)  # fmt: skip
ALLOC = "import torch\na = torch.cuda.memory.CUDAPluggableAllocator({0})\ntorch.cuda.memory.change_current_allocator(a)\nprint(torch.ones(4, device='cuda').sum().item())\n"
MAKE_ALLOC = "printf '#include <stddef.h>\\nvoid* my_malloc(ptrdiff_t n, int d, void* s){return 0;}\\nvoid my_free(void* p, ptrdiff_t n, int d, void* s){}\\n' > $W/al.c; gcc -shared -fPIC -o $D/alloc.so $W/al.c || exit 97"
enter(
    "own-allocator",
    Case("torch-graph", "library is not there", OT, (PATH, BAD), code=ALLOC.format("'./build/alloc.so', 'my_malloc', 'my_free'")),
    Case("torch-graph", "function is not in it", OT, (BUILD, BAD), setup=MAKE_ALLOC, code=ALLOC.format("'./alloc.so', 'my_alloc', 'my_free'")),
    Case("torch-graph", "it gives nothing", OOM, (ILL, OT, BUILD), setup=MAKE_ALLOC, code=ALLOC.format("'./alloc.so', 'my_malloc', 'my_free'")),
    Case("torch-graph", "changed too late", ORD, (OT,), setup=MAKE_ALLOC, code="import torch\nx = torch.ones(4, device='cuda')\n" + ALLOC.format("'./alloc.so', 'my_malloc', 'my_free'")),
    Case("cupy", "pool with a small limit", OOM, (SET, LIM), code=C + "cupy.get_default_memory_pool().set_limit(size=64 << 20)\nx = cupy.ones((@S@, 16 << 20), dtype='f')\nprint(x.sum())\n"),
    Case("cupy", "allocator that returns nothing", OT, (SHA, OOM), code=C + "cupy.cuda.set_allocator(lambda n: None)\nprint(cupy.ones(4).sum())\n"),
    Case("numba-kernel", "memory manager is not there", SET, (OT, PATH, BAD), environ={"NUMBA_CUDA_MEMORY_MANAGER": "rmm_gone.allocators"}),
    Case("jax-matmul", "a small share, taken at once", SET, (OOM, "memory.preallocation", LIM), environ={"XLA_PYTHON_CLIENT_PREALLOCATE": "true", "XLA_PYTHON_CLIENT_MEM_FRACTION": ".01"}, code=J + "x = jax.device_put(jnp.ones((1 << 30,)), jax.devices('@J@')[0])\nprint('RESULT', float((x * 2).sum()))\n"),
    Case("torch-graph", "share above one", OT, (SET, OOM), code=T + "torch.cuda.set_per_process_memory_fraction(1.5)\nprint(torch.ones(2, device='cuda'))\n"),
    Case("torch-matmul torch-train", "harmless: a share of a fifth", OOM, (SET,), before="import torch\ntorch.cuda.set_per_process_memory_fraction(0.2, 'cuda')\n"),
    Case("cupy-matmul cupy-random", "harmless: no pool at all", OOM, (SET,), before="import cupy\ncupy.cuda.set_allocator(None)\ncupy.cuda.set_pinned_memory_allocator(None)\n"),
    Case("torch-matmul torch-fft", "harmless: driver's own pool", SET, (OOM,), environ={"PYTORCH_ALLOC_CONF": "backend:cudaMallocAsync", "PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}),
)  # fmt: skip
RESET = C + T + "x = torch.ones(1 << 16, device='cuda')\nprint(x.sum().item(), flush=True)\n"
enter(
    "context-lost",
    Case("cupy", "device reset under torch", ORD, (ILL, FORK), code=RESET + "cupy.cuda.runtime.deviceReset()\nprint((x @ x).item())\n"),
    Case("cupy", "device reset under cupy", ORD, (ILL, FORK), code=C + "k = cupy.ones(1 << 12)\nprint(float(k.sum()))\ncupy.cuda.runtime.deviceReset()\nprint(float((k * 3).sum()))\n"),
    Case("numba-kernel", "closed, arrays kept", ORD, (ILL, FORK), code=N + "@cuda.jit\ndef f(a):\n    a[0] += 1\nx = cuda.to_device(numpy.ones(64))\nf[1, 1](x)\ncuda.close()\nf[1, 1](x)\nprint(x.copy_to_host()[0])\n"),
    Case("numba-kernel", "reset by another thread", ORD, (ILL, FORK), code="import threading\n" + N + "x = cuda.to_device(numpy.ones(64))\nt = threading.Thread(target=lambda: cuda.current_context().reset())\nt.start()\nt.join()\nprint(x.copy_to_host().sum())\n"),
    Case("cupy", "stream used after its end", ORD, (ILL,), code=C + "s = cupy.cuda.Stream(non_blocking=True)\np = s.ptr\ncupy.cuda.runtime.streamDestroy(p)\nt = cupy.cuda.ExternalStream(p)\nwith t:\n    print(float(cupy.ones(8).sum()))\nt.synchronize()\n"),
    Case("torch-graph", "address for a stream", ORD, (ILL, SHA), code=T + "s = torch.cuda.ExternalStream(0x7f001234)\nwith torch.cuda.stream(s):\n    print(torch.ones(4, device='cuda').sum().item())\n"),
)  # fmt: skip
BLAS = "import numpy\nimport cupy\nfrom cupy_backends.cuda.libs import cublas\none = numpy.ones(1, 'f')\na = cupy.ones((8, 8), dtype='f')\nh = cupy.cuda.device.get_cublas_handle()\n"
enter(
    "library-calls",
    Case("cupy-matmul", "leading dimension too small", SHA, (OT,), code=BLAS + "cublas.sgemm(h, 0, 0, 8, 8, 8, one.ctypes.data, a.data.ptr, 2, a.data.ptr, 8, one.ctypes.data, a.data.ptr, 8)\n"),
    Case("cupy-matmul", "minus eight rows", SHA, (OT,), code=BLAS + "cublas.sgemm(h, 0, 0, -8, 8, 8, one.ctypes.data, a.data.ptr, 8, a.data.ptr, 8, one.ctypes.data, a.data.ptr, 8)\n"),
    Case("cupy-matmul", "no handle", ORD, (SHA, OT, ILL), code=BLAS + "cublas.sgemm(0, 0, 0, 8, 8, 8, one.ctypes.data, a.data.ptr, 8, a.data.ptr, 8, one.ctypes.data, a.data.ptr, 8)\n"),
    Case("cupy-matmul", "operation nine", SHA, (OT,), code=BLAS + "cublas.sgemm(h, 9, 0, 8, 8, 8, one.ctypes.data, a.data.ptr, 8, a.data.ptr, 8, one.ctypes.data, a.data.ptr, 8)\n"),
    Case("cupy-fft", "transform of length nothing", SHA, (OT,), code=C + "p = cupy.cuda.cufft.Plan1d(0, cupy.cuda.cufft.CUFFT_C2C, 1)\nprint(p)\n"),
    Case("cupy-fft", "input of another length", SHA, (OT,), code=C + "p = cupy.fft.fft\nx = cupy.ones(16, dtype='F')\nplan = cupy.cuda.cufft.Plan1d(32, cupy.cuda.cufft.CUFFT_C2C, 1)\nwith plan:\n    print(p(x))\n"),
    Case("cupy-random", "generator nobody knows", SHA, (OT,), code="from cupy_backends.cuda.libs import curand\n" + C + "cupy.ones(2)\nprint(curand.createGenerator(7777))\n"),
    Case("cupy", "runtime asked to copy from nowhere", ILL, (SHA, ORD), code=C + "x = cupy.zeros(64)\ncupy.cuda.runtime.memcpy(x.data.ptr, 0, 512, 1)\n"),
    Case("cupy", "runtime told a wrong direction", SHA, (ILL, ORD, OT), code=C + "x = cupy.zeros(64)\ncupy.cuda.runtime.memcpy(x.data.ptr, x.data.ptr + 256, 64, 99)\n"),
    Case("cupy", "attribute nobody knows", OT, (SHA, SEL), code=C + "print(cupy.cuda.runtime.deviceGetAttribute(9999, 0))\n"),
    Case("cupy", "peer that is itself", SEL, (OT, ORD, SHA), code=C + "cupy.ones(2)\ncupy.cuda.runtime.deviceEnablePeerAccess(0)\n"),
)  # fmt: skip
enter(
    "launch-other",
    Case("cupy", "registers times threads", LAU, (BUILD, OOM), code=C + "body = ' '.join(f'double v{i} = sin(p[{i}] * n);' for i in range(110)) + ' __syncthreads(); p[threadIdx.x] = ' + ' + '.join(f'v{i} * v{(i * 7) % 110}' for i in range(110)) + ';'\nk = cupy.RawKernel('extern \"C\" __global__ void k(double* p, double n) { ' + body + ' }', 'k', options=('--maxrregcount=255',))\nx = cupy.zeros(2048)\nk((1,), (1024,), (x, 2.0))\ncupy.cuda.runtime.deviceSynchronize()\n"),
    Case("cupy", "grid of minus one", LAU, (SHA, OT), code=C + "k = cupy.RawKernel('extern \"C\" __global__ void k(float* p) { p[0] = 1; }', 'k')\nk((-1,), (32,), (cupy.zeros(4, dtype='f'),))\ncupy.cuda.runtime.deviceSynchronize()\n"),
    Case("cupy", "block of 8 x 8 x 128", LAU, (SHA,), code=C + "k = cupy.RawKernel('extern \"C\" __global__ void k(float* p) { p[0] = 1; }', 'k')\nk((1,), (2, 2, 128), (cupy.zeros(4, dtype='f'),))\ncupy.cuda.runtime.deviceSynchronize()\n"),
    Case("cupy", "clusters that do not divide the grid", LAU, (BUILD, SHA), code=C + "k = cupy.RawKernel('extern \"C\" __global__ void __cluster_dims__(4, 1, 1) k(float* p) { p[0] = 1; }', 'k')\nk((5,), (32,), (cupy.zeros(4, dtype='f'),))\ncupy.cuda.runtime.deviceSynchronize()\n"),
    Case("triton-add", "sixty-four warps", LAU, (BUILD, SHA, OOM), code=TR + "@triton.jit\ndef k(x, B: tl.constexpr):\n    i = tl.arange(0, B)\n    tl.store(x + i, 1.0)\nk[(1,)](torch.zeros(4096, device='cuda'), B=4096, num_warps=64)\ntorch.cuda.synchronize()\n"),
    Case("triton-add", "three warps", LAU, (BUILD, OT, SHA), code=TR + "@triton.jit\ndef k(x, B: tl.constexpr):\n    tl.store(x + tl.arange(0, B), 1.0)\nk[(1,)](torch.zeros(64, device='cuda'), B=64, num_warps=3)\ntorch.cuda.synchronize()\n"),
    Case("triton-add", "grid in four parts", LAU, (OT, BUILD, SHA), code=TR + "@triton.jit\ndef k(x):\n    tl.store(x, 1.0)\nk[(1, 1, 1, 1)](torch.zeros(4, device='cuda'))\ntorch.cuda.synchronize()\n"),
    Case("numba-kernel", "no configuration", LAU, (OT, BUILD), code=N + "@cuda.jit\ndef k(x):\n    x[0] = 1\nk(cuda.to_device(numpy.zeros(4)))\n"),
    Case("numba-kernel", "cooperative grid too large", LAU, (ORD, BUILD), code=N + "@cuda.jit\ndef k(x):\n    cuda.cg.this_grid().sync()\n    x[0] = 1\nk[90000, 256](cuda.to_device(numpy.zeros(4)))\ncuda.synchronize()\n"),
    Case("numba-kernel", "four dimensions", LAU, (OT, SHA, BUILD), code=N + "@cuda.jit\ndef k(x):\n    x[0] = 1\nk[(1, 1, 1, 1), (32, 1, 1, 1)](cuda.to_device(numpy.zeros(4)))\n"),
)  # fmt: skip
