"""Eighth operators, the programs: narrow floats, events, set-up too late, forks, checkpoints, kernels, compilers, devices."""

from __future__ import annotations

from lab.random.eighth import (
    BAD,
    BUG,
    FORK,
    HOST,
    IDX,
    ILL,
    LAU,
    LIM,
    OOM,
    ORD,
    OT,
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
    T,
    enter,
)

ATT = "from torch.nn.attention import SDPBackend, sdpa_kernel\n" + F
STEP = "m = torch.nn.Linear(8, 4).to('cuda')@H@\nopt = torch.optim.SGD(m.parameters(), 0.1)\nscaler = torch.amp.GradScaler('cuda')\nscaler.scale(m(torch.ones(2, 8, device='cuda')@H@).float().sum()).backward()\n"
enter(
    "narrow-floats",
    Case("torch-graph", "eight-bit product of 24 columns", SHA, (), code=T + "a = torch.ones(32, 24, device='cuda').to(torch.float8_e4m3fn)\none = torch.ones((), device='cuda')\nprint(torch._scaled_mm(a, a.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16).shape)\n", expect=r"divisible by 16|multiple of 16|mat1|mat2"),
    Case("torch-graph", "whole-number product of eight rows", SHA, (), code=T + "a = torch.ones(8, 32, device='cuda', dtype=torch.int8)\nb = torch.ones(32, 32, device='cuda', dtype=torch.int8)\nprint(torch._int_mm(a, b).shape)\n", expect="size"),
    Case("torch-graph", "flash attention told to take full floats", SHA, (UNSUP, SET, ORD), code=ATT + "q = torch.randn(1, 2, 64, 32, device='cuda')\nwith sdpa_kernel(SDPBackend.FLASH_ATTENTION):\n    print(F.scaled_dot_product_attention(q, q, q).shape)\n", expect="No available kernel"),
    Case("torch-graph", "flash attention with a mask", SHA, (UNSUP, SET, ORD), code=ATT + "q = torch.randn(1, 2, 64, 32, device='cuda', dtype=torch.half)\nmask = torch.ones(64, 64, dtype=torch.bool, device='cuda')\nwith sdpa_kernel(SDPBackend.FLASH_ATTENTION):\n    print(F.scaled_dot_product_attention(q, q, q, attn_mask=mask).shape)\n", expect="No available kernel"),
    Case("torch-graph", "pruned weights of 30 x 30", SHA, (UNSUP,), code=T + "from torch.sparse import to_sparse_semi_structured\nw = torch.ones(30, 30, dtype=torch.half, device='cuda')\nprint(to_sparse_semi_structured(w).shape)\n", expect="(?i)multiple|not supported"),
    Case("torch-graph", "gradients in half precision unscaled", SHA, (ORD, OT), code=T + STEP.replace("@H@", ".half()") + "scaler.unscale_(opt)\nscaler.step(opt)\n", expect="unscale"),
    Case("torch-graph", "unscaled twice", ORD, (OT,), code=T + STEP.replace("@H@", "") + "scaler.unscale_(opt)\ntorch.nn.utils.clip_grad_norm_(m.parameters(), 1.0)\nscaler.unscale_(opt)\nscaler.step(opt)\n", expect="unscale"),
)  # fmt: skip
LATER = "print('batch queued', flush=True)\nfor epoch in range(2):\n    torch.cuda.synchronize()\n    print('epoch', epoch, flush=True)\n"
enter(
    "assert-told-late",
    Case("torch-graph", "copied rows, found at the next wait", IDX, (), code=T + "bank = torch.zeros(64, 8, device='cuda')\nrows = torch.arange(@S@, device='cuda') * 40\nbank.index_copy_(0, rows, torch.ones(@S@, 8, device='cuda'))\n" + LATER, expect="assert"),
    Case("torch-graph", "added rows, found in the next product", IDX, (ILL,), code=T + "acc = torch.zeros(16, 4, device='cuda')\nacc.index_add_(0, torch.tensor([1, 2, 16 * @S@], device='cuda'), torch.ones(3, 4, device='cuda'))\nw = torch.randn(4, 4, device='cuda')\nprint((acc @ w).norm().item())\n", expect="assert|CUDA"),
    Case("torch-graph", "drawn from numbers that are none", IDX, (SHA, OT), code=T + "logits = torch.full((4, 16), float('nan'), device='cuda')\nprint('sampling', flush=True)\nprint(torch.multinomial(logits.softmax(-1), 1).tolist())\n", expect="assert|probability"),
    Case("torch-graph", "labels one too high, told by the optimiser's step", IDX, (), code=F + "m = torch.nn.Linear(8, 10).cuda()\nopt = torch.optim.Adam(m.parameters())\ny = torch.randint(1, 11, (64,), device='cuda')\ny[0] = 10\nfor i in range(3):\n    loss = F.cross_entropy(m(torch.randn(64, 8, device='cuda')), y)\n    opt.zero_grad(set_to_none=True)\n    loss.backward()\n    opt.step()\nprint(loss.item())\n", expect="assert|CUDA"),
    Case("torch-graph", "negative index in a scatter, on another stream", IDX, (), code=T + "s = torch.cuda.Stream()\nx = torch.zeros(8, device='cuda')\nwith torch.cuda.stream(s):\n    x.scatter_add_(0, torch.tensor([0, -@S@], device='cuda'), torch.ones(2, device='cuda'))\ns.synchronize()\nprint(x.sum().item())\n", expect="assert|CUDA"),
    Case("jax", "checked gather inside a step", IDX, (OT,), code=J + "from jax.experimental import checkify\n@jax.jit\ndef step(t, i):\n    checkify.check(jnp.all(i < t.shape[0]), 'token id {m} above the vocabulary of {n}', m=i.max(), n=jnp.array(t.shape[0]))\n    return t[i].sum()\nerr, out = checkify.checkify(step)(jnp.ones((32, 4)), jnp.array([3, 31 + @S@]))\ncheckify.check_error(err)\n", expect="token id"),
)  # fmt: skip
RAW = (
    C
    + "k = cupy.RawKernel(r'''extern \"C\" __global__ void k(float* p, long long n) {{ {0} }}''', 'k')\nx = cupy.zeros(1 << 12, dtype='f')\n"
)
END = "\ncupy.cuda.Device().synchronize()\nprint(float(x.sum()))\n"
enter(
    "kernel-wild",
    Case("cupy-raw", "product of ints overflows", ILL, (), code=RAW.format("int r = (int)n; int i = r * r; p[(long long)i * 4] = 1;") + "k((2,), (64,), (x, 60000))" + END, expect="CUDA|illegal|cuda"),
    Case("cupy-raw", "read at an odd address", ILL, (), code=RAW.format("double* q = (double*)((char*)p + n); q[threadIdx.x] = 2;") + "k((1,), (32,), (x, 4))" + END, expect="isalign|MISALIGNED|CUDA"),
    Case("cupy-raw", "kernel gives up by itself", ILL, (LAU,), code=RAW.format("if (threadIdx.x == n) __trap(); p[threadIdx.x] = 1;") + "k((1,), (32,), (x, 5))" + END, expect="CUDA|launch"),
    Case("cupy-raw", "pointer of nothing handed on", ILL, (), code=RAW.format("float* table = (float*)n; p[0] = table[threadIdx.x];") + "k((1,), (32,), (x, 0))" + END, expect="CUDA|illegal"),
    Case("cupy-raw", "foreign array with a made-up address", ILL, (SEL,), code=C + "class Frame:\n    __cuda_array_interface__ = {'shape': (1 << 16,), 'typestr': '<f4', 'data': (0x600000000000, False), 'version': 3}\nx = cupy.asarray(Frame())\nprint(float((x * 2).sum()))\n", expect="CUDA|cuda|illegal"),
    Case("triton-add", "row number in 32 bits", ILL, (), code=TR + "@triton.jit\ndef fill(x, stride, B: tl.constexpr):\n    r = tl.program_id(0)\n    tl.store(x + r * stride + tl.arange(0, B), 1.0)\nx = torch.zeros(1 << 16, device='cuda')\nfill[(64,)](x, 1 << 26, B=128)\nprint(x.sum().item())\n", expect="CUDA|illegal"),
    Case("triton-add", "view that was given back", ILL, (), code=TR + "import ctypes\n@triton.jit\ndef rd(x, o, B: tl.constexpr):\n    i = tl.arange(0, B)\n    tl.store(o + i, tl.load(x + i))\nrt = ctypes.CDLL('libcuda.so.1')\no = torch.zeros(128, device='cuda')\np = ctypes.c_uint64()\nassert rt.cuMemAlloc_v2(ctypes.byref(p), ctypes.c_size_t(64 << 20)) == 0\nrt.cuMemFree_v2(p)\nclass V:\n    dtype = torch.float32\n    def data_ptr(self):\n        return p.value\nrd[(1,)](V(), o, B=128)\nprint(o.sum().item())\n", expect="CUDA|illegal"),
)  # fmt: skip
enter(
    "events-and-streams",
    Case("torch-graph", "time between events never recorded", ORD, (OT,), code=T + "a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)\ny = torch.ones(64, device='cuda').sum()\nprint('step took', a.elapsed_time(b))\n", expect="event|resource|recorded|CUDA"),
    Case("torch-graph", "events made without a clock", ORD, (OT, SHA), code=T + "a, b = torch.cuda.Event(), torch.cuda.Event()\na.record()\ny = torch.ones(64, device='cuda').sum()\nb.record()\ntorch.cuda.synchronize()\nprint('step took', a.elapsed_time(b))\n", expect="timing|event"),
    Case("torch-graph", "asked before it was over", ORD, (OT,), code=T + "a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)\na.record()\ntorch.cuda._sleep(20_000_000_000)\nb.record()\nprint('step took', a.elapsed_time(b))\n", expect="not ready|completed"),
    Case("cupy-raw", "time between events never recorded", ORD, (OT, SHA, ILL), code=C + "a, b = cupy.cuda.Event(), cupy.cuda.Event()\ncupy.ones(8).sum()\nprint(cupy.cuda.get_elapsed_time(a, b))\n", expect="cuda"),
    Case("cupy-raw", "capture of the oldest stream", ORD, (OT,), code=C + "x = cupy.ones(8)\ns = cupy.cuda.Stream.null\ns.begin_capture()\nx += 1\ns.end_capture()\n", expect="captur|Captur"),
    Case("cupy-raw", "copied to the host while it captures", ORD, (), code=C + "x = cupy.ones(8)\nx += 1\ns = cupy.cuda.Stream(non_blocking=True)\nwith s:\n    s.begin_capture()\n    x += 1\n    print(x.get())\n    s.end_capture()\n", expect="captur|Captur"),
    Case("cupy-raw", "waited for while it captures", ORD, (), code=C + "x = cupy.ones(8)\nx += 1\ns = cupy.cuda.Stream(non_blocking=True)\nwith s:\n    s.begin_capture()\n    x += 1\n    s.synchronize()\n    s.end_capture()\n", expect="captur|Captur"),
)  # fmt: skip
G = (
    "import os\nos.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='@O@', RANK='0', WORLD_SIZE='1')\nimport torch.distributed as dist\n"
    + T
)
enter(
    "set-up-too-late",
    Case("jax", "more host devices after the first array", ORD, (SET, OT), code=J + "print(float(jnp.ones(4).sum()), flush=True)\njax.config.update('jax_num_cpu_devices', 4)\n", expect="initialized|before"),
    Case("jax", "cluster joined after the first array", ORD, (PEER, OT), code=J + "print(float(jnp.ones(4).sum()), flush=True)\njax.distributed.initialize('127.0.0.1:@O@', 1, 0)\n", expect="before|initialize"),
    Case("torch-nccl", "group made twice", ORD, (PEER, OT), code=G + "dist.init_process_group('gloo')\nx = torch.ones(2, device='@D@')\ndist.init_process_group('gloo')\n", expect="twice"),
    Case("torch-nccl", "reduced before there is a group", ORD, (PEER, OT), code=G + "x = torch.ones(2, device='@D@')\ndist.all_reduce(x)\n", expect="initialized"),
    Case("torch", "start method set twice", ORD, (OT, FORK), code="import torch.multiprocessing as mp\n" + T + "mp.set_start_method('spawn')\nprint(torch.ones(2, device='@D@').sum().item(), flush=True)\nmp.set_start_method('forkserver')\n", expect="context has already", dress="shell"),
    Case("torch", "gradients asked for twice", ORD, (OT,), code=T + "w = torch.ones(4, device='@D@', requires_grad=True)\nloss = (w * w).exp().sum()\nloss.backward()\nprint(w.grad.sum().item(), flush=True)\nloss.backward()\n", expect="second time"),
    Case("torch", "weights changed where gradients are kept", ORD, (OT, SHA), code=T + "w = torch.ones(4, device='@D@', requires_grad=True)\nprint('warm start', flush=True)\nw.mul_(0.5)\n", expect="leaf"),
    Case("torch", "result of inference trained on", ORD, (OT, SHA), code=T + "m = torch.nn.Linear(4, 4).to('@D@')\nwith torch.inference_mode():\n    h = m(torch.ones(2, 4, device='@D@'))\n(m(h) * h).sum().backward()\n", expect="nference"),
)  # fmt: skip
MP = "import multiprocessing as mp\n"
WARMED = (
    T + "model = torch.nn.Linear(8, 8).to('cuda')\nprint('model on', next(model.parameters()).device, flush=True)\n"
)
NO_INIT = "re-initialize|nitialization ?[Ee]rror|INITIALI|fork"
enter(
    "forked-after-use",
    Case("torch-graph", "pool of processes serves requests", FORK, (), code=MP + WARMED + "def infer(i):\n    return model(torch.ones(1, 8, device='cuda')).sum().item()\nif __name__ == '__main__':\n    with mp.get_context('fork').Pool(2) as pool:\n        print(pool.map(infer, range(4)))\n", dress="shell", expect=NO_INIT),
    Case("torch-graph", "futures in forked workers", FORK, (), code="import concurrent.futures as cf\n" + MP + WARMED + "def embed(n):\n    return torch.full((n,), 1.0, device='cuda').sum().item()\nif __name__ == '__main__':\n    with cf.ProcessPoolExecutor(2, mp_context=mp.get_context('fork')) as pool:\n        print(list(pool.map(embed, [1, 2, 3])))\n", dress="shell", expect=NO_INIT),
    Case("torch-graph", "server that forks per connection", FORK, (), code="import os, sys\n" + WARMED + "pid = os.fork()\nif pid == 0:\n    print('child', os.getpid(), 'serves', flush=True)\n    print(model(torch.ones(1, 8, device='cuda')).shape)\n    os._exit(0)\n_, status = os.waitpid(pid, 0)\nif status:\n    sys.exit(f'worker {pid} exited with status {os.waitstatus_to_exitcode(status)}')\n", dress="shell", expect=NO_INIT),
    Case("torch-loader", "batches put on the card by workers", FORK, (), code=T + "from torch.utils.data import DataLoader\nscale = torch.ones(1, device='cuda')\ndef collate(rows):\n    return torch.stack(rows).to('cuda') * 2\nif __name__ == '__main__':\n    data = [torch.ones(4) for _ in range(16)]\n    for x in DataLoader(data, 4, num_workers=2, collate_fn=collate, multiprocessing_context='fork'):\n        print(x.sum().item())\n", dress="shell", expect=NO_INIT),
    Case("cupy-matmul", "frames filtered in a pool", FORK, (), code=MP + C + "table = cupy.arange(256)\ndef look_up(i):\n    return int(table[i])\nif __name__ == '__main__':\n    print(int(table.sum()), flush=True)\n    with mp.get_context('fork').Pool(2) as pool:\n        print(pool.map_async(look_up, range(8)).get(timeout=30))\n", dress="shell", expect=NO_INIT),
)  # fmt: skip
enter(
    "batches",
    Case("torch-loader", "tensors on the card pinned", SHA, (ORD, OT, SEL), code=T + "from torch.utils.data import DataLoader\nfor x in DataLoader([torch.ones(4, device='cuda') for _ in range(8)], 2, pin_memory=True):\n    print(x.sum().item())\n", expect="pin"),
    Case("torch-loader", "pictures of unlike sizes", SHA, (OT,), code=T + "from torch.utils.data import DataLoader\ndata = [torch.ones(3, 8 + i % 2, 8) for i in range(8)]\nfor x in DataLoader(data, 4):\n    print(x.to('@D@').shape)\n", expect="equal size"),
    Case("torch-loader", "label missing in a worker", OT, (IDX,), code=T + "from torch.utils.data import DataLoader, Dataset\nclass Rows(Dataset):\n    names = {0: 'cat'}\n    def __len__(self):\n        return 8\n    def __getitem__(self, i):\n        return torch.ones(2), self.names[i // 6]\nif __name__ == '__main__':\n    for x, y in DataLoader(Rows(), 2, num_workers=2):\n        print(x.to('@D@').sum().item(), y, flush=True)\n", dress="shell", expect="KeyError"),
    Case("torch-loader", "a function without a name sent to a worker", OT, (FORK,), code=T + "from torch.utils.data import DataLoader\nif __name__ == '__main__':\n    print(torch.ones(1, device='@D@').item(), flush=True)\n    for x in DataLoader(list(range(8)), 2, num_workers=1, collate_fn=lambda b: torch.tensor(b), multiprocessing_context='spawn'):\n        print(x)\n", dress="shell", expect="pickle", void=""),
    Case("torch-loader", "a million workers' share", OT, (LIM, HOST), code=T + "from torch.utils.data import DataLoader\nprint(torch.ones(1, device='@D@').item(), flush=True)\nDataLoader([1, 2], batch_size=2, num_workers=-4)\n", expect="num_workers"),
)  # fmt: skip
SAVED = "import os, subprocess, sys\nsubprocess.run([sys.executable, '-c', \"import torch; torch.save({'w': torch.ones(4, device='cuda')}, 'm.pt', _use_new_zipfile_serialization=False)\"], check=True)\n"
enter(
    "checkpoints",
    Case("torch-graph", "kept on the sixth card", SEL, (), code=SAVED + "data = open('m.pt', 'rb').read().replace(b'cuda:0', b'cuda:5')\nopen('m.pt', 'wb').write(data)\n" + T + "print(torch.load('m.pt'))\n", expect="device"),
    Case("torch-graph", "kept on a card, read where none is visible", SEL, (SET,), code=SAVED + "os.environ['CUDA_VISIBLE_DEVICES'] = ''\n" + T + "print(torch.load('m.pt'))\n", expect="is_available"),
    Case("torch", "with a class of its own", OT, (SET, BUG), code=T + "import argparse\ntorch.save({'args': argparse.Namespace(lr=1), 'w': torch.ones(2, device='@D@')}, 'm.pt')\nprint(torch.load('m.pt', map_location='@D@'))\n", expect="eights only|WeightsUnpickler"),
    Case("torch", "of a wider model", OT, (SHA,), code=T + "a = torch.nn.Linear(8, 16).to('@D@')\ntorch.save(a.state_dict(), 'm.pt')\nb = torch.nn.Linear(8, 12).to('@D@')\nb.load_state_dict(torch.load('m.pt'))\n", expect="size mismatch"),
    Case("torch", "cut by a full disk", OT, (BAD, LIM), code=T + "import os\ntorch.save(torch.ones(4096, device='@D@'), 'm.pt')\nos.truncate('m.pt', 9000)\nprint(torch.load('m.pt').sum().item())\n", expect="PytorchStreamReader|archive|Invalid argument"),
)  # fmt: skip
enter(
    "more-than-there-is",
    Case("torch-graph", "all distances at once", OOM, (), code=T + "a = torch.randn(4_000_000, 4, device='cuda')\nprint(torch.cdist(a, a).min().item())\n", expect="out of memory"),
    Case("torch-graph", "a view made whole", OOM, (), code=T + "a = torch.ones(1024, device='cuda')\nprint(a.expand(@S@ << 30, 1024).contiguous().sum().item())\n", expect="out of memory"),
    Case("torch-graph", "one-hot of every user", OOM, (), code=F + "ids = torch.arange(3_000_000, device='cuda')\nprint(F.one_hot(ids).float().mean().item())\n", expect="out of memory"),
    Case("torch-graph", "above its own share", OOM, (SET, LIM), code=T + "torch.cuda.set_per_process_memory_fraction(0.004)\nx = torch.empty(@S@ << 30, dtype=torch.uint8, device='cuda')\nprint(x.numel())\n", expect="out of memory"),
    Case("jax", "outer product of millions", OOM, (), code=J + "v = jnp.ones(6_000_000)\nprint(float(jax.jit(lambda a: jnp.sort(jnp.outer(a, a), axis=0)[0, 0])(v)), 'cuda')\nassert jax.devices('gpu')\n", expect="RESOURCE_EXHAUSTED|ut of memory"),
    Case("cupy", "mesh of three axes", OOM, (), code=C + "g = cupy.meshgrid(*[cupy.linspace(0, 1, 30000)] * 3, indexing='ij')\nprint(g[0].shape)\n", expect="OutOfMemory|out of memory"),
    Case("torch", "tensor in the host's memory", HOST, (OOM, OT), code=T + "print(torch.ones(2, device='@D@').sum().item(), flush=True)\nbuffer = torch.empty(@S@ << 46)\n", expect="allocate"),
    Case("torch-graph", "pinned beyond all memory", HOST, (OOM,), code=T + "print(torch.ones(2, device='cuda').sum().item(), flush=True)\nbuffer = torch.empty(@S@ << 44, dtype=torch.uint8, pin_memory=True)\n"),
    Case("cupy", "pinned beyond all memory", HOST, (OOM,), code=C + "print(float(cupy.ones(2).sum()), flush=True)\nmem = cupy.cuda.alloc_pinned_memory(@S@ << 44)\n", expect="emory"),
)  # fmt: skip
