"""Tenth operators, memory: fragments in a small share, what a program keeps by mistake, workspaces, states, graphs, the host's side.

Every program here stays inside a share of one or two gigabytes; what it then cannot have is decided by its own numbers.
"""

from __future__ import annotations

from lab.random.tenth import FRAG, HOST, LIM, OOM, ORD, OT, SHA, C, Case, F, J, N, T, enter, py

SHARE = "torch.cuda.set_per_process_memory_fraction((@M@ << 20) / torch.cuda.get_device_properties(0).total_memory)\n"
MB = "def mb(n):\n    return torch.empty(n << 20, dtype=torch.uint8, device='cuda')\n"
BIT = "(?i)out of memory"


def small(target: str, cause: str, also: tuple[str, ...], code: str, share: int = 2000, expect: str = BIT) -> Case:
    """A program of torch inside a share of so many megabytes."""
    head = F + SHARE.replace("@M@", str(share)) + MB
    return py("torch-graph", target, cause, also, head + code, expect)


enter(
    "torch-fragments",
    small("every second block given back", FRAG, (), "kept = [mb(4) for _ in range(470)]\ndel kept[::2]\nprint(torch.cuda.memory_reserved() - torch.cuda.memory_allocated(), flush=True)\nbig = mb(700)\n"),
    small("two of three given back, a batch wanted", FRAG, (), "kept = [mb(6) for _ in range(288)]\nkept = kept[::3]\nprint('warm', flush=True)\nbatch = torch.empty(1000, 800, 300, device='cuda')\n"),
    small("small rests pin large segments", FRAG, (), "rows = [(mb(9), mb(2), mb(9)) for _ in range(95)]\npins = [row[1] for row in rows]\ndel rows\nprint('epoch 1 done', flush=True)\nx = mb(640)\n"),
    small("rests of a beam search", FRAG, (), "beams = [[mb(2) for _ in range(8)] for _ in range(110)]\nbest = [row[3] for row in beams]\ndel beams\nprint('beams pruned', len(best), flush=True)\ncache = mb(1100)\n"),
)  # fmt: skip
POOL = (
    C
    + "pool = cupy.get_default_memory_pool()\npool.set_limit(size=@M@ << 20)\ndef mb(n):\n    return cupy.empty(n << 20, dtype='u1')\n"
)
BFC = "import os\nos.environ['XLA_PYTHON_CLIENT_MEM_FRACTION'] = '.015'\nos.environ['XLA_PYTHON_CLIENT_PREALLOCATE'] = '@P1@'\n" + J + "assert jax.default_backend() == 'gpu', 'cuda'\ndef mb(n):\n    return jnp.zeros((n << 18,), jnp.float32)\n"  # fmt: skip
enter(
    "pool-fragments",
    py("cupy", "one large block cut in pieces", FRAG, (), POOL.replace("@M@", "1200") + "big = mb(1100)\ndel big\nkept = [mb(2) for _ in range(540)]\ndel kept[::2]\nprint(pool.free_bytes() >> 20, 'MB free in the pool', flush=True)\nx = mb(400)\n", "(?i)OutOfMemory|out of memory"),
    py("cupy", "frames of unlike sizes", FRAG, (), POOL.replace("@M@", "1000") + "big = mb(990)\ndel big\nkept = [mb(1 + i % 5) for i in range(320)]\nkept = kept[::4]\nprint('frames', len(kept), flush=True)\nstack = mb(600)\n", "(?i)OutOfMemory|out of memory"),
    py("jax-matmul", "every second array deleted", FRAG, (OOM,), BFC.replace("@P1@", "true") + "kept = [mb(16) for _ in range(115)]\njax.block_until_ready(kept)\nfor a in kept[::2]:\n    a.delete()\nprint('half deleted', flush=True)\nx = mb(600)\nx.block_until_ready()\n", "(?i)RESOURCE_EXHAUSTED|out of memory"),
)  # fmt: skip
NET = "net = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(4)]).cuda()\n"
enter(
    "kept-by-mistake",
    small("losses with their graphs", OOM, (), NET + "total = 0\nfor step in range(400):\n    total = total + net(torch.randn(2048, 2048, device='cuda')).pow(2).mean()\nprint(total.item())\n", 1500),
    small("evaluated with a history", OOM, (), NET + "seen = []\nfor step in range(400):\n    seen.append(net(torch.randn(2048, 2048, device='cuda')))\nprint(len(seen))\n", 1500),
    small("activations kept by a hook", OOM, (), NET + "acts = []\nfor layer in net:\n    layer.register_forward_hook(lambda m, i, o: acts.append(o.detach()))\nwith torch.no_grad():\n    for step in range(400):\n        net(torch.randn(2048, 2048, device='cuda'))\nprint(len(acts))\n", 1200),
    small("replay memory on the card", OOM, (HOST,), "import collections\nreplay = collections.deque(maxlen=100000)\nfor step in range(100000):\n    replay.append(torch.rand(64, 256, 256, 4, device='cuda'))\nprint(len(replay))\n", 1000),
    small("gradient of a gradient kept", OOM, (), "w = torch.randn(4096, 4096, device='cuda', requires_grad=True)\nfor step in range(200):\n    g, = torch.autograd.grad((w.sin() ** 2).sum(), w, create_graph=True)\n    w = w - 0.1 * g\nprint(w.sum().item())\n", 1500),
    py("cupy", "results kept for a plot", OOM, (), POOL.replace("@M@", "800") + "kept = []\nfor frame in range(5000):\n    kept.append(cupy.fft.fft2(cupy.random.rand(1024, 1024)))\nprint(len(kept))\n", "(?i)OutOfMemory|out of memory"),
)  # fmt: skip
enter(
    "workspace-too-large",
    small("sort needs its size again", OOM, (), "x = torch.rand(180 << 20, device='cuda')\nprint('loaded', flush=True)\nv, i = x.sort()\n", 1500),
    small("transform needs its plan", OOM, (), "x = torch.rand(100 << 20, device='cuda', dtype=torch.complex64)\nprint('signal on the card', flush=True)\ny = torch.fft.fft(x)\nz = torch.fft.fft2(y.view(10240, 10240))\n", 1600),
    small("all true places listed", OOM, (), "m = torch.ones(200 << 20, dtype=torch.bool, device='cuda')\nprint('mask', flush=True)\nprint(m.nonzero().shape)\n", 1200),
    small("picture unfolded by hand", OOM, (), "x = torch.rand(8, 64, 256, 256, device='cuda')\nprint('batch', flush=True)\ncols = F.unfold(x, 7, padding=3)\n", 1500),
    small("scores of attention made whole", OOM, (), "q = torch.rand(1, 16, 8192, 64, device='cuda')\nprint('tokens 8192', flush=True)\na = (q @ q.transpose(-1, -2)).softmax(-1)\n", 2000),
    small("unit vectors for every class", OOM, (), "y = torch.randint(0, 50000, (8192,), device='cuda')\nprint('labels', flush=True)\nhot = F.one_hot(y, 50000)\n", 2000),
)  # fmt: skip
enter(
    "states-of-training",
    small("optimiser's first step", OOM, (), "net = torch.nn.Linear(10000, 12000, bias=False).cuda()\nopt = torch.optim.Adam(net.parameters(), foreach=False)\nnet(torch.ones(1, 10000, device='cuda')).sum().backward()\nprint('backward done', flush=True)\nopt.step()\n", 1300),
    small("gradients beside the weights", OOM, (), "net = torch.nn.Linear(12000, 14000, bias=False).cuda()\nprint('weights', torch.cuda.memory_allocated() >> 20, 'MB', flush=True)\nnet(torch.ones(1, 12000, device='cuda')).sum().backward()\n", 1100),
    small("average of the weights copied", OOM, (), "import copy\nnet = torch.nn.Linear(10000, 16000, bias=False).cuda()\nprint('model ready', flush=True)\nema = copy.deepcopy(net)\n", 1000),
    small("checkpoint read to the card beside the model", OOM, (), "net = torch.nn.Linear(4000, 8000, bias=False)\ntorch.save(net.state_dict(), 'last.pt')\nnet = net.cuda()\nprint('resuming', flush=True)\nstate = torch.load('last.pt', map_location='cuda')\n", 220),
    small("widened to double precision", OOM, (), "net = torch.nn.Linear(10000, 20000, bias=False).cuda()\nprint('model ready', flush=True)\nnet.double()\n", 1600),
)  # fmt: skip
enter(
    "graphs-kept",
    small("one graph for every length", OOM, (ORD,), "graphs = []\nx = torch.zeros(8 << 20, device='cuda')\ntorch.cuda.synchronize()\nfor n in range(200):\n    g = torch.cuda.CUDAGraph()\n    with torch.cuda.graph(g):\n        y = x * n\n        z = y + 1\n    graphs.append((g, y, z))\nprint(len(graphs))\n", 1000),
    small("a step too large for its capture", OOM, (ORD,), "x = torch.zeros(64 << 20, device='cuda')\ng = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(g):\n    a = [x + i for i in range(12)]\n", 1500),
)  # fmt: skip
NB = "numba-kernel"
enter(
    "numba-memory",
    py(NB, "array of terabytes", OOM, (), N + "print(cuda.get_current_device().name, flush=True)\nd = cuda.device_array((1 << 22, 1 << 20), dtype=numpy.float32)\n", "(?i)OUT_OF_MEMORY|out of memory"),
    py(NB, "pinned array of terabytes", HOST, (OOM,), N + "print(cuda.get_current_device().name, flush=True)\nh = cuda.pinned_array(1 << 43, dtype=numpy.uint8)\n", "(?i)memory"),
    py(NB, "mapped array of terabytes", HOST, (OOM,), N + "print(cuda.get_current_device().name, flush=True)\nh = cuda.mapped_array(1 << 43, dtype=numpy.uint8)\n", "(?i)memory"),
    py(NB, "host array copied that is not there", HOST, (OOM, OT), N + "print(cuda.get_current_device().name, flush=True)\nd = cuda.to_device(numpy.empty(1 << 47, dtype=numpy.float64))\n", "(?i)Unable to allocate|memory"),
)  # fmt: skip


def shm(needs: str, target: str, size: str, code: str, expect: str) -> Case:
    """A program that puts more into shared memory than the container has."""
    setup = f"mount -t tmpfs -o size={size} none /dev/shm || exit 97"
    return Case(needs, target, HOST, (LIM,), code=code, setup=setup, expect=expect, dress="shell")


START = "print('on', torch.ones(1, device='@D@').device, flush=True)\n"
enter(
    "shared-memory-small",
    shm("torch-matmul", "weights shared between processes", "8m", T + START + "w = torch.zeros(64 << 20)\nw.share_memory_()\nw.fill_(1)\nprint(w.sum().item())\n", "(?i)bus error|unable to|No space|resize|shm"),
    shm("torch-matmul", "tensors through a queue", "6m", "import torch.multiprocessing as mp\n" + T + "def give(q):\n    for i in range(8):\n        q.put(torch.full((4 << 20,), float(i)))\nif __name__ == '__main__':\n    " + START + "    q = mp.get_context('spawn').Queue()\n    p = mp.get_context('spawn').Process(target=give, args=(q,))\n    p.start()\n    got = q.get(timeout=20)\n    p.join()\n    print(got.sum().item())\n    raise SystemExit(p.exitcode)\n", "(?i)bus error|unable to|No space|Empty|shm"),
    shm("torch-matmul jax-matmul cupy-matmul", "block with a name", "4m", "from multiprocessing import shared_memory\nimport numpy\ns = shared_memory.SharedMemory(create=True, size=256 << 20)\nprint('ring buffer of 256 MB', flush=True)\nnumpy.frombuffer(s.buf, dtype='u1')[:] = 1\n", "(?i)bus error|No space|ring"),
)  # fmt: skip
enter(
    "host-side-of-a-copy",
    py("torch-graph", "moved to the host, then widened", HOST, (OT, OOM), T + "x = torch.ones(1024, device='cuda')\nh = x.cpu().expand(1 << 36, 1024)\nprint('report', flush=True)\nh = h.contiguous().numpy()\n", "(?i)allocate|memory"),
    py("cupy", "taken to the host with a border", HOST, (OT, OOM), C + "import numpy\nx = cupy.ones((64, 64))\nprint(float(x.sum()), flush=True)\nh = numpy.pad(cupy.asnumpy(x), 1 << 22)\n", "(?i)allocate|memory"),
    py("jax", "table on the host first", HOST, (OT, OOM), J + "import numpy\nprint(float(jnp.ones(4).sum()), flush=True)\nt = numpy.ones((1 << 23, 1 << 23))\nx = jnp.asarray(t)\n", "(?i)allocate|memory"),
    py("cupy", "pinned pool for every frame", HOST, (OOM,), C + "import cupyx\nprint(float(cupy.ones(2).sum()), flush=True)\nf = cupyx.empty_pinned((1 << 24, 1 << 20), dtype='f4')\n", "(?i)memory"),
    py("torch-graph", "whole file in pinned memory", HOST, (OOM, SHA), T + "print(torch.ones(1, device='cuda').item(), flush=True)\nh = torch.empty(1 << 45, dtype=torch.uint8).pin_memory()\n", "(?i)allocate|memory"),
)  # fmt: skip
