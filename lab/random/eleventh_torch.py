"""Eleventh operators, torch: exported programs, packages ahead of time, own pools, graphs of callables, streams, RPC, shards, pipelines, tables, packs."""

from __future__ import annotations

from lab.random.eleventh import BAD, BUG, FORK, IDX, LIM, OOM, ORD, OT, PEER, SEL, SET, SHA, Case, T, enter, py

ON = "torch-matmul torch-fft"


def pt(target: str, cause: str, also: tuple[str, ...], body: str, expect: str, needs: str = ON) -> Case:
    """Torch computes on the device, then does what the body says."""
    head = (
        T
        + "x = torch.arange(12.0, device='@D@').view(3, 4)\nprint('on', x.device, (x @ x.T).sum().item(), flush=True)\n"
    )
    return py(needs, target, cause, also, head + body, expect)


EX = "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.l = torch.nn.Linear(4, 2)\n    def forward(self, a):\n        return self.l(a).relu()\nm = M().to('@D@')\n"
enter(
    "exported-programs",
    pt("called with another batch", SHA, (OT,), EX + "e = torch.export.export(m, (x,))\nprint(e.module()(torch.ones(5, 4, device='@D@')))\n", "(?i)guard|shape|expected|size"),
    pt("called with another number of inputs", SHA, (OT,), EX + "e = torch.export.export(m, (x,))\nprint(e.module()(x, x))\n", "(?i)argument|input|pytree|structure|spec|mapped|trying"),
    pt("file that is another archive", BAD, (OT,), "import zipfile\nzipfile.ZipFile('m.pt2', 'w').writestr('readme.txt', 'x')\ntorch.export.load('m.pt2')\n", "(?i)archive|pt2|version|file|export|locat|open"),
    pt("package for the card is a text", BAD, (OT,), "open('m.pt2', 'w').write('<html>')\ntorch._inductor.aoti_load_package('m.pt2')\n", "(?i)pt2|zip|archive|load"),
    pt("sizes promised free and used as fixed", SHA, (OT, BUG), EX.replace("self.l(a)", "self.l(a[:3].view(3, 4))") + "e = torch.export.export(m, (x,), dynamic_shapes=({0: torch.export.Dim('b', min=4, max=9)},))\n", "(?i)constraint|dim|range|specializ|bound"),
    pt("branches on a value", OT, (ORD, BUG, SHA), "class N(torch.nn.Module):\n    def forward(self, a):\n        return a if a.sum() > 3 else -a\ntorch.export.export(N(), (x,), strict=False)\n", "(?i)data-?dependent|guard|control flow|bool"),
)  # fmt: skip
GC = "assert '@D@' == 'cuda'\nz = torch.zeros(1, device='cuda')\n"
enter(
    "callables-in-graphs",
    pt("other size than was taken in", SHA, (ORD,), GC + "m = torch.nn.Linear(4, 4).cuda()\ng = torch.cuda.make_graphed_callables(m, (torch.ones(8, 4, device='cuda', requires_grad=True),))\nprint(g(torch.ones(5, 4, device='cuda')).shape)\n", "(?i)size|shape|must match"),
    pt("sample on the host", SHA, (SEL, ORD), GC + "m = torch.nn.Linear(4, 4).cuda()\ntorch.cuda.make_graphed_callables(m, (torch.ones(8, 4),))\n", "(?i)device|same"),
    pt("replayed before it was taken", ORD, (), GC + "g = torch.cuda.CUDAGraph()\ng.replay()\n", "(?i)captur|replay"),
    pt("taken twice into one", ORD, (), GC + "g = torch.cuda.CUDAGraph()\nfor i in range(2):\n    with torch.cuda.graph(g):\n        y = x * 2\n    if i == 0:\n        g.capture_begin()\n", "(?i)captur|graph"),
    pt("pool of a graph that is a number", SHA, (ORD, OT), GC + "g = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(g, pool=7):\n    y = x * 2\n", "(?i)pool|argument|tuple|incompatible|type"),
    pt("wait for the host in the middle", ORD, (), GC + "g = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(g):\n    y = x * 2\n    if y.max() > 3:\n        y = y + 1\n", "(?i)captur"),
    pt("module with a hook taken", ORD, (OT,), GC + "m = torch.nn.Linear(4, 4).cuda()\nm.register_forward_hook(lambda *a: None)\ntorch.cuda.make_graphed_callables(m, (torch.ones(8, 4, device='cuda'),))\n", "(?i)hook"),
)  # fmt: skip
enter(
    "own-pools-and-streams",
    pt("pool's library is gone", OT, (BAD, "env.path", "cuda.missing_library"), GC + "a = torch.cuda.memory.CUDAPluggableAllocator('./liballoc_acme.so', 'my_malloc', 'my_free')\n", "(?i)liballoc_acme"),
    pt("allocator changed too late", ORD, (), GC + "import ctypes.util\ntorch.cuda.memory.change_current_allocator(torch.cuda.memory.CUDAPluggableAllocator(ctypes.util.find_library('c') or 'libc.so.6', 'malloc', 'free'))\n", "(?i)already|initialized"),
    pt("stream of another card", SEL, (), GC + "s = torch.cuda.Stream(device=3)\n", "(?i)ordinal|device"),
    pt("stream of no card", SEL, (SHA, OT), GC + "torch.cuda.Stream(device='cpu')\n", "(?i)cpu|device"),
    pt("events that were never recorded", ORD, (), GC + "a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)\nprint(a.elapsed_time(b))\n", "(?i)record"),
    pt("events without a clock", ORD, (OT,), GC + "a, b = torch.cuda.Event(), torch.cuda.Event()\na.record()\nb.record()\nb.synchronize()\nprint(a.elapsed_time(b))\n", "(?i)timing"),
    pt("share of two cards", SEL, (OT, SHA), GC + "torch.cuda.set_per_process_memory_fraction(0.5, 2)\n", "(?i)device"),
    pt("share of one and a half", OT, (SHA, SET), GC + "torch.cuda.set_per_process_memory_fraction(1.5)\n", "(?i)fraction|between|range"),
)  # fmt: skip
ONE = "import os, datetime\nimport torch.distributed as dist\nos.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='@O@', RANK='0', WORLD_SIZE='1')\n"
PG = ONE + "dist.init_process_group('gloo', timeout=datetime.timedelta(seconds=10))\n"
DI = "torch-nccl"
enter(
    "sharded-models",
    pt("sharded before any group", ORD, (OT,), "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\nFSDP(torch.nn.Linear(4, 4).to('@D@'))\n", "(?i)process group|initialized", DI),
    pt("strategy of a word", OT, (SET,), PG + "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\nFSDP(torch.nn.Linear(4, 4), sharding_strategy='full', device_id='@D@')\n", "(?i)sharding|str|full", DI),
    pt("sharded to the fourth card", SEL, (), PG + "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\nFSDP(torch.nn.Linear(4, 4), device_id=torch.device('cuda', 4))\n", "(?i)ordinal|device", DI),
    pt("a list sharded", OT, (SHA,), PG + "from torch.distributed.fsdp import fully_shard\nfully_shard(torch.nn.ModuleList([torch.nn.Linear(2, 2)]))\n", "(?i)forward|ModuleList|containers", DI),
    pt("parallel plan for a layer that is none", OT, (SHA,), PG + "from torch.distributed.device_mesh import init_device_mesh\nfrom torch.distributed.tensor.parallel import parallelize_module\nmesh = init_device_mesh('cpu', (1,))\nparallelize_module(torch.nn.Sequential(torch.nn.ReLU()), mesh, {'0': 'colwise'})\n", "(?i)ParallelStyle|str|expect|colwise", DI),
    pt("checkpoint of shards from nowhere", OT, (BAD, "env.path"), PG + "import torch.distributed.checkpoint as dcp\ndcp.load({'w': torch.zeros(4)}, checkpoint_id='run7/step_400')\n", "(?i)run7|metadata|No such", DI),
    pt("checkpoint without a name it wants", OT, (BAD, SHA), PG + "import torch.distributed.checkpoint as dcp\ndcp.save({'w': torch.zeros(4)}, checkpoint_id='ck')\ndcp.load({'w': torch.zeros(4), 'b': torch.zeros(2)}, checkpoint_id='ck')\n", "(?i)missing key|b\\b", DI),
    pt("checkpoint of another shape", SHA, (OT, BAD), PG + "import torch.distributed.checkpoint as dcp\ndcp.save({'w': torch.zeros(4)}, checkpoint_id='ck')\ndcp.load({'w': torch.zeros(6)}, checkpoint_id='ck')\n", "(?i)size|shape", DI),
)  # fmt: skip
enter(
    "stores-and-rpc",
    pt("key that nobody sets", PEER, (OT, ORD), "import datetime, torch.distributed as dist\ns = dist.TCPStore('127.0.0.1', @O@, 1, True, timeout=datetime.timedelta(seconds=3))\nprint(s.get('rank1/ready'))\n", "(?i)timeout|timed|wait", DI),
    pt("server that nobody started", PEER, (OT,), "import datetime, torch.distributed as dist\ndist.TCPStore('127.0.0.1', @O@, 2, False, timeout=datetime.timedelta(seconds=4))\n", "(?i)timed|connect|refused", DI),
    pt("file of the store in a closed place", LIM, (OT, "env.path", PEER), "import torch.distributed as dist\ns = dist.FileStore('/proc/self/rendezvous', 1)\ns.set('a', 'b')\n", "(?i)/proc|open|No such|denied|permission", DI),
    pt("map of cards that are not here", SEL, (OT, SET), ONE + "import torch.distributed.rpc as rpc\nrpc.init_rpc('w0', rank=0, world_size=1, rpc_backend_options=rpc.TensorPipeRpcBackendOptions(init_method='tcp://127.0.0.1:@O@', device_maps={'w1': {0: 6}}))\n", "(?i)device|w1|map", DI),
    pt("same store's number twice", OT, (PEER, ORD, SHA), PG + "dist.new_group([0, 0])\n", "(?i)duplicate|rank|same", DI),
)  # fmt: skip
enter(
    "masks-and-nests",
    pt("block mask of another length", SHA, (OT, BUG), "from torch.nn.attention.flex_attention import create_block_mask, flex_attention\nb = create_block_mask(lambda b, h, q, k: q >= k, None, None, 256, 256, device='@D@')\nq = torch.ones(1, 1, 512, 16, device='@D@')\nprint(flex_attention(q, q, q, block_mask=b).shape)\n", "(?i)block_mask|length|shape"),
    pt("heads grouped without leave", SHA, (OT,), "from torch.nn.attention.flex_attention import flex_attention\nprint(flex_attention(torch.ones(1, 8, 128, 16, device='@D@'), torch.ones(1, 2, 128, 16, device='@D@'), torch.ones(1, 2, 128, 16, device='@D@')).shape)\n", "(?i)gqa|head|match"),
    pt("kernel of attention that cannot", SHA, (OT, ORD), GC + "from torch.nn.attention import sdpa_kernel, SDPBackend\nq = torch.ones(1, 1, 8, 16, device='cuda')\nwith sdpa_kernel(SDPBackend.FLASH_ATTENTION):\n    print(torch.nn.functional.scaled_dot_product_attention(q, q, q).shape)\n", "(?i)no available kernel|kernel"),
    pt("widths that differ within a nest", SHA, (OT,), "n = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 5)], layout=torch.jagged, device='@D@')\nprint(n.shape)\n", "(?i)ragged|dim|shape|match"),
    pt("packed sequence of unsorted lengths", SHA, (OT,), "torch.nn.utils.rnn.pack_padded_sequence(torch.ones(3, 4, 2, device='@D@'), torch.tensor([2, 4, 1]), batch_first=True)\n", "(?i)sorted|enforce"),
    pt("lengths on the card", SHA, (SEL, OT), GC + "torch.nn.utils.rnn.pack_padded_sequence(torch.ones(3, 4, 2, device='cuda'), torch.tensor([4, 2, 1], device='cuda'), batch_first=True)\n", "(?i)cpu|lengths"),
)  # fmt: skip
enter(
    "rules-of-training",
    pt("gradients unscaled twice", ORD, (OT,), GC + "m = torch.nn.Linear(4, 4).cuda()\no = torch.optim.SGD(m.parameters(), 0.1)\ns = torch.amp.GradScaler('cuda')\ns.scale(m(x).sum()).backward()\ns.unscale_(o)\ns.unscale_(o)\n", "(?i)unscale"),
    pt("step without any gradient", ORD, (OT,), GC + "m = torch.nn.Linear(4, 4).cuda()\no = torch.optim.SGD(m.parameters(), 0.1)\ns = torch.amp.GradScaler('cuda')\ns.scale(torch.ones(1, device='cuda'))\ns.step(o)\n", "(?i)inf checks|No inf"),
    pt("gradients of half precision unscaled", ORD, (SHA, OT), GC + "m = torch.nn.Linear(4, 4).cuda().half()\no = torch.optim.SGD(m.parameters(), 0.1)\ns = torch.amp.GradScaler('cuda')\ns.scale(m(x.half()).sum().float()).backward()\ns.unscale_(o)\n", "(?i)FP16|unscale"),
    pt("backward a second time", ORD, (OT,), "w = torch.ones(4, device='@D@', requires_grad=True)\nl = (w.exp() * 2).sum()\nl.backward()\nl.backward()\n", "(?i)second time"),
    pt("leaf changed in place", ORD, (OT,), "w = torch.ones(4, device='@D@', requires_grad=True)\nw += 1\n", "(?i)leaf"),
    pt("value changed that was needed", ORD, (OT, SHA), "w = torch.ones(4, device='@D@', requires_grad=True)\ny = w.exp()\ny += 1\ny.sum().backward()\n", "(?i)inplace|in-place"),
    pt("anomaly found on purpose", OT, (SHA,), "torch.autograd.set_detect_anomaly(True)\nw = torch.zeros(3, device='@D@', requires_grad=True)\n(w.sqrt() * 0).sum().backward()\n", "(?i)nan values|returned nan"),
    pt("checkpointed part gives another number", ORD, (OT, SHA), "from torch.utils.checkpoint import checkpoint\nn = [0]\ndef f(a):\n    n[0] += 1\n    return a.sin().cos() if n[0] > 1 else a.sin()\nw = x.clone().requires_grad_()\ncheckpoint(f, w, use_reentrant=False).sum().backward()\n", "(?i)recomput|checkpoint|different"),
)  # fmt: skip
enter(
    "indices-of-other-layers",
    pt("one of many classes, made for fewer", IDX, (), GC + "print(torch.nn.functional.one_hot(torch.tensor([1, 9], device='cuda'), 4).sum().item())\n", "(?i)assert|CUDA error|Class values"),
    pt("several targets beyond the end", IDX, (), GC + "print(torch.nn.functional.multi_margin_loss(torch.rand(2, 3, device='cuda'), torch.tensor([0, 5], device='cuda')).item())\n", "(?i)assert|CUDA error"),
    pt("copied to rows that are not", IDX, (), GC + "x.index_copy_(0, torch.tensor([0, 8], device='cuda'), torch.ones(2, 4, device='cuda'))\nprint(x.sum().item())\n", "(?i)assert|CUDA error|index"),
    pt("likelihood of a class too many", IDX, (), GC + "print(torch.nn.functional.nll_loss(torch.rand(4, 3, device='cuda'), torch.tensor([0, 1, 2, 3], device='cuda')).item())\n", "(?i)assert|CUDA error"),
    pt("scattered to the left of the row", IDX, (), GC + "x.scatter_add_(1, torch.tensor([[-3, 1]], device='cuda'), torch.ones(1, 2, device='cuda'))\nprint(x.sum().item())\n", "(?i)assert|CUDA error|index"),
    pt("counted into too few", IDX, (SHA, OT), GC + "print(torch.bincount(torch.tensor([-1, 2], device='cuda')).tolist())\n", "(?i)non-?negative|assert|CUDA error"),
)  # fmt: skip
SHARE = "torch.cuda.set_per_process_memory_fraction((@M@ << 20) / torch.cuda.get_device_properties(0).total_memory)\n"
enter(
    "engine-takes-all-first",
    pt("cache of keys takes the whole share", OOM, ("memory.preallocation",), GC + SHARE.replace("@M@", "1200") + "kv = torch.empty(1150 << 20, dtype=torch.uint8, device='cuda')\nprint('kv cache ready', flush=True)\na = torch.randn(4096, 4096, device='cuda')\nprint((a @ a)[0, 0].item())\n", "(?i)out of memory"),
    pt("three models in one process", OOM, (), GC + SHARE.replace("@M@", "900") + "class E:\n    def __init__(self, n):\n        self.w = torch.empty(n << 20, dtype=torch.uint8, device='cuda')\nfleet = [E(320) for _ in range(2)]\nprint('2 engines up', flush=True)\nfleet.append(E(320))\n", "(?i)out of memory"),
    pt("caught, tried smaller, never let go", OOM, (), GC + SHARE.replace("@M@", "600") + "kept = []\nfor b in (512, 256, 128, 64, 32):\n    try:\n        while True:\n            kept.append(torch.empty(b << 20, dtype=torch.uint8, device='cuda'))\n    except torch.OutOfMemoryError as e:\n        print('batch', b, 'too large, halving', flush=True)\nraise RuntimeError('no batch size fits') from None\n", "(?i)no batch size"),
    pt("average of all checkpoints", OOM, (), GC + SHARE.replace("@M@", "1000") + "import io\nb = io.BytesIO()\ntorch.save(torch.zeros(60 << 20, device='cuda'), b)\nstates = []\nfor i in range(9):\n    b.seek(0)\n    states.append(torch.load(b, map_location='cuda'))\n", "(?i)out of memory"),
)  # fmt: skip
enter(
    "tensors-sent-away",
    pt("handed on to a child that forked", FORK, (), GC + "import os, sys\npid = os.fork()\nif not pid:\n    try:\n        torch.cuda.synchronize()\n        (x * 2).sum().item()\n    except Exception as e:\n        print(f'child: {type(e).__name__}: {e}', flush=True)\n        os._exit(8)\n    os._exit(0)\nsys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n", "(?i)child:"),
    pt("fork server that had the card", FORK, (), GC + "from concurrent.futures import ProcessPoolExecutor\nimport multiprocessing as mp\ndef f(i):\n    return (x + i).sum().item()\nwith ProcessPoolExecutor(1, mp_context=mp.get_context('fork')) as p:\n    print(p.submit(f, 1).result(timeout=20))\n", "(?i)re-initialize|fork"),
    pt("with its history to another process", OT, (SHA, FORK), "import pickle\nfrom torch.multiprocessing.reductions import ForkingPickler\nw = torch.ones(4, device='@D@', requires_grad=True) * 2\nForkingPickler.dumps(w)\n", "(?i)grad|leaf"),
    pt("generator's state pickled", OT, (SHA,), "import pickle\nm = torch.nn.Linear(2, 2).to('@D@')\nm.act = lambda v: v\npickle.dumps(m)\n", "(?i)pickle|lambda|local"),
)  # fmt: skip
