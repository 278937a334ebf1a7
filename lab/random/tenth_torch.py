"""Tenth operators, PyTorch: places forgotten, mixed precision, gradients, modules, compiling, exchange, batches, asserts on the card."""

from __future__ import annotations

from lab.random.tenth import BUG, IDX, ORD, OT, SEL, SET, SHA, Case, F, T, enter, py


def card(target: str, cause: str, also: tuple[str, ...], body: str, expect: str, head: str = F) -> Case:
    """A program that needs a real card."""
    return py("torch-graph", target, cause, also, head + body, expect)


def pt(target: str, cause: str, also: tuple[str, ...], body: str, expect: str, needs: str = "torch-matmul") -> Case:
    """A program that fails on any device."""
    return py(needs, target, cause, also, f"{F}print('device', torch.ones(1, device='@D@').device, flush=True)\n{body}", expect)  # fmt: skip


TWO = "(?i)same device|cuda|device"
enter(
    "places-forgotten",
    card("mask that is no buffer", SHA, (SEL, OT), "class Block(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.lin = torch.nn.Linear(8, 8)\n        self.mask = torch.tril(torch.ones(8, 8))\n    def forward(self, x):\n        return self.lin(x).masked_fill(self.mask == 0, 0)\nm = Block().to('cuda')\nprint(m(torch.randn(8, 8, device='cuda')).sum().item())\n", TWO),
    card("layers in a plain list", SHA, (SEL, OT), "class Stack(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.layers = [torch.nn.Linear(4, 4) for _ in range(2)]\n    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x)\n        return x\nprint(Stack().cuda()(torch.ones(1, 4, device='cuda')))\n", TWO),
    card("positions made on the host", SHA, (SEL, OT), "emb = torch.nn.Embedding(64, 8).cuda()\nx = torch.randn(2, 16, 8, device='cuda')\nprint((x + emb(torch.arange(16))).shape)\n", TWO),
    card("indices on the card, rows on the host", SHA, (SEL, IDX, OT), "table = torch.randn(100, 4)\nrows = torch.tensor([3, 5], device='cuda')\nprint(table[rows])\n", TWO),
    card("weights of the classes on the host", SHA, (SEL, OT), "loss = torch.nn.CrossEntropyLoss(weight=torch.ones(5))\nprint(loss(torch.randn(4, 5, device='cuda'), torch.zeros(4, dtype=torch.long, device='cuda')))\n", TWO),
    card("state of the optimiser on the host", SHA, (SEL, ORD, OT), "m = torch.nn.Linear(4, 4)\nopt = torch.optim.SGD(m.parameters(), 0.1, momentum=0.9)\nm(torch.ones(1, 4)).sum().backward()\nopt.step()\nm.cuda()\nopt.zero_grad()\nm(torch.ones(1, 4, device='cuda')).sum().backward()\nopt.step()\nprint('stepped')\n", TWO),
)  # fmt: skip
GEN = "(?i)generator"
enter(
    "default-device",
    card("order of the batches drawn on the host", SHA, (SEL, OT, SET), "from torch.utils.data import DataLoader\ntorch.set_default_device('cuda')\ng = torch.Generator(device='cpu')\nfor b in DataLoader(list(range(8)), 2, shuffle=True, generator=g):\n    print(b)\n", "(?i)generator|device", T),
    card("generator of the card for numbers of the host", SHA, (SEL, OT), "g = torch.Generator(device='cuda').manual_seed(1)\nprint(torch.rand(4, device='cuda', generator=g).sum().item(), flush=True)\nprint(torch.randn(3, generator=g))\n", GEN, T),
    card("generator of the host for numbers of the card", SHA, (SEL, OT), "g = torch.Generator().manual_seed(1)\nprint(torch.randint(0, 5, (4,), device='cuda', generator=g))\n", GEN, T),
    card("default put on the sixth card", SEL, (), "torch.set_default_device('cuda:5')\nprint(torch.ones(2))\n", "(?i)ordinal|device", T),
    card("array of the host under a default of the card", SHA, (SEL, OT), "import numpy\ntorch.set_default_device('cuda')\nx = torch.from_numpy(numpy.ones((4, 4), dtype='f'))\nprint(torch.nn.Linear(4, 2)(x))\n", TWO, T),
)  # fmt: skip
enter(
    "precision-mixed-up",
    card("loss that is not safe", SHA, (OT, ORD), "with torch.autocast('cuda'):\n    p = torch.nn.Linear(4, 1).cuda()(torch.randn(2, 4, device='cuda')).sigmoid()\n    print(F.binary_cross_entropy(p, torch.ones(2, 1, device='cuda')))\n", "(?i)autocast"),
    card("left the region too early", SHA, (OT,), "m = torch.nn.Linear(4, 4).cuda()\nwith torch.autocast('cuda', dtype=torch.float16):\n    h = m(torch.randn(2, 4, device='cuda'))\nprint(m(h))\n", "(?i)dtype|Half|type"),
    card("model in halves, input in full", SHA, (OT,), "m = torch.nn.Conv2d(3, 8, 3).cuda().half()\nprint(m(torch.randn(1, 3, 16, 16, device='cuda')).shape)\n", "(?i)type|half"),
    card("attention of two types", SHA, (OT,), "q = torch.randn(1, 2, 16, 64, device='cuda', dtype=torch.bfloat16)\nprint(F.scaled_dot_product_attention(q, q.half(), q).shape)\n", "(?i)dtype|type"),
    card("region for a device of another name", OT, (SEL, SET, SHA), "with torch.autocast(device_type='gpu'):\n    print(torch.ones(2, device='cuda') * 2)\n", "(?i)autocast|device|gpu"),
    card("written into by another type", SHA, (OT,), "acc = torch.zeros(8, 8, device='cuda', dtype=torch.float16)\nacc.addmm_(torch.ones(8, 4, device='cuda'), torch.ones(4, 8, device='cuda'))\nprint(acc.sum().item())\n", "(?i)dtype|type"),
)  # fmt: skip
enter(
    "gradients-misused",
    pt("changed after it was used", ORD, (OT, SHA), "w = torch.ones(3, device='@D@', requires_grad=True)\ny = w.exp()\ny += 1\ny.mul_(2).sum().backward()", "(?i)inplace operation"),
    pt("nothing to derive", ORD, (OT, SHA), "m = torch.nn.Linear(2, 2).to('@D@')\nwith torch.no_grad():\n    loss = m(torch.ones(1, 2, device='@D@')).sum()\nloss.backward()", "(?i)does not require grad"),
    pt("derived by what was not used", ORD, (OT, SHA), "a, b = (torch.ones(2, device='@D@', requires_grad=True) for _ in range(2))\nprint(torch.autograd.grad((a * 2).sum(), [a, b]))", "(?i)not have been used"),
    pt("recomputed with another size", SHA, (OT, ORD), "from torch.utils.checkpoint import checkpoint\nsizes = iter((4, 6))\ndef f(x):\n    return (x * torch.ones(next(sizes), 1, device='@D@').exp()).sin().sum(0)\nx = torch.ones(1, 3, device='@D@', requires_grad=True)\ncheckpoint(f, x, use_reentrant=False).sum().backward()", "(?i)checkpoint|metadata|recomput"),
    pt("whole numbers learnt", SHA, (OT,), "w = torch.nn.Parameter(torch.ones(3, device='@D@', dtype=torch.long))", "(?i)floating point"),
    pt("view of a leaf written", ORD, (OT, SHA), "w = torch.zeros(4, device='@D@', requires_grad=True)\nw[0] = 1.0", "(?i)leaf"),
)  # fmt: skip
enter(
    "modules-misused",
    pt("names of a wrapped model", OT, (SHA,), "m = torch.nn.Linear(2, 2).to('@D@')\nstate = {'module.' + k: v for k, v in m.state_dict().items()}\nm.load_state_dict(state)", "(?i)Missing key"),
    pt("list that is called", OT, (SHA,), "m = torch.nn.ModuleList([torch.nn.Linear(2, 2)]).to('@D@')\nprint(m(torch.ones(1, 2, device='@D@')))", "(?i)forward|NotImplemented"),
    pt("made before its parent", ORD, (OT,), "class M(torch.nn.Module):\n    def __init__(self):\n        self.lin = torch.nn.Linear(2, 2)\n        super().__init__()\nM().to('@D@')", "(?i)__init__"),
    pt("lazy weights counted too early", ORD, (OT, SHA), "m = torch.nn.LazyLinear(4).to('@D@')\nprint(sum(p.numel() for p in m.parameters()))", "(?i)uninitialized|lazy"),
    pt("tuple of a recurrent net handed on", OT, (SHA,), "m = torch.nn.Sequential(torch.nn.GRU(4, 4), torch.nn.Linear(4, 2)).to('@D@')\nprint(m(torch.ones(3, 1, 4, device='@D@')))", "(?i)tuple"),
    pt("buffer under the name of a method", OT, (SHA,), "m = torch.nn.Linear(2, 2).to('@D@')\nm.register_buffer('forward', torch.ones(2, device='@D@'))", "(?i)exists|attribute"),
)  # fmt: skip
COMP = "torch-compile"
enter(
    "compiling-told-wrongly",
    pt("mode of another name", OT, (SET, BUG), "f = torch.compile(lambda x: x + 1, mode='fastest')\nprint(f(torch.ones(4, device='@D@')))", "(?i)mode", COMP),
    pt("option that nobody knows", OT, (SET, BUG), "f = torch.compile(lambda x: x + 1, options={'triton.warp_speed': True})\nprint(f(torch.ones(4, device='@D@')))", "(?i)option", COMP),
    pt("mode and options at once", OT, (SET, BUG), "f = torch.compile(lambda x: x + 1, mode='reduce-overhead', options={'max_autotune': True})\nprint(f(torch.ones(4, device='@D@')))", "(?i)mode", COMP),
    pt("size promised to vary and fixed inside", SHA, (OT, BUG, ORD), "x = torch.ones(8, 4, device='@D@')\ntorch._dynamo.mark_dynamic(x, 0)\n@torch.compile(fullgraph=True, backend='eager')\ndef f(x):\n    return x.view(8, 4) * 2\nprint(f(x).shape)", "(?i)constraint|dynamic|specializ", COMP),
    pt("compiled anew too often", OT, (SHA, BUG, ORD, SET), "torch._dynamo.config.recompile_limit = 2\ntorch._dynamo.config.fail_on_recompile_limit_hit = True\n@torch.compile(dynamic=False, backend='eager')\ndef f(x):\n    return x * 2\nfor n in range(2, 9):\n    f(torch.ones(n, device='@D@'))", "(?i)recompile|FailOnRecompile|limit", COMP),
    pt("generator in a whole graph", OT, (ORD, BUG), "import threading\nlock = threading.Lock()\n@torch.compile(fullgraph=True, backend='eager')\ndef f(x):\n    print('in', threading.get_ident(), lock.locked())\n    torch._dynamo.graph_break()\n    return x * 2\nprint(f(torch.ones(4, device='@D@')))", "(?i)graph.break|Unsupported|dynamo", COMP),
)  # fmt: skip
OWN = "def ours(gm, inputs):\n{0}\nf = torch.compile(lambda x: (x * 2).relu(), backend=ours)\nprint(f(torch.ones(4, device='@D@')))"
enter(
    "own-compilers",
    pt("gives back nothing", OT, (BUG, SHA), OWN.format("    return None"), "(?i)backend|callable|None", COMP),
    pt("gives back the wrong number", OT, (BUG, SHA), OWN.format("    return lambda *a: ()"), "(?i)unpack|iterate|length|index|tuple|assert|0-d|error", COMP),
    pt("changes a node that others use", OT, (BUG,), OWN.format("    node = next(n for n in gm.graph.nodes if n.op == 'call_function')\n    gm.graph.erase_node(node)\n    return gm"), "(?i)erase|users", COMP),
    pt("writes its graph to a folder that is not there", OT, (BUG, "env.limit"), OWN.format("    open('graphs/step.txt', 'w').write(str(gm.graph))\n    return gm"), "(?i)graphs/step", COMP),
)  # fmt: skip
enter(
    "exchange-by-capsules",
    pt("capsule opened twice", ORD, (OT, SHA), "from torch.utils.dlpack import from_dlpack, to_dlpack\nc = to_dlpack(torch.ones(4, device='@D@'))\nprint(from_dlpack(c).sum().item(), flush=True)\nprint(from_dlpack(c))", "(?i)consumed|capsule"),
    pt("with its history", SHA, (OT, ORD), "x = torch.ones(4, device='@D@', requires_grad=True) * 2\nprint(torch.from_dlpack(x.__dlpack__()))", "(?i)grad"),
    pt("conjugated view", SHA, (OT,), "x = torch.ones(4, device='@D@', dtype=torch.complex64).conj()\nprint(torch.from_dlpack(x))", "(?i)conj"),
    card("tensor of the host taken by CuPy", SHA, (SEL, OT), "import cupy\nprint(cupy.ones(1), flush=True)\nclass Frame:\n    __cuda_array_interface__ = {'shape': (4,), 'typestr': '<f9', 'data': (torch.ones(4, device='cuda').data_ptr(), False), 'version': 3}\nprint(torch.as_tensor(Frame(), device='cuda'))\n", "(?i)typestr|type|f9", T),
    card("strides that are no multiple", SHA, (OT,), "x = torch.ones(8, device='cuda')\nclass Frame:\n    __cuda_array_interface__ = {'shape': (2,), 'typestr': '<f4', 'data': (x.data_ptr(), False), 'strides': (6,), 'version': 3}\nprint(torch.as_tensor(Frame(), device='cuda'))\n", "(?i)stride", T),
    card("turned round by another library", SHA, (OT,), "import cupy\nprint(torch.as_tensor(cupy.arange(6.0)[::-1], device='cuda'))\n", "(?i)stride|negative", T),
)  # fmt: skip
LOADER = "from torch.utils.data import *\n"
enter(
    "batches-told-wrongly",
    pt("ahead of no workers", OT, (SET,), LOADER + "DataLoader([1, 2], prefetch_factor=4)", "(?i)prefetch"),
    pt("workers that stay and are none", OT, (SET,), LOADER + "DataLoader([1, 2], persistent_workers=True)", "(?i)persistent"),
    pt("two ways to make batches", OT, (SET,), LOADER + "d = [1, 2]\nDataLoader(d, batch_size=4, batch_sampler=BatchSampler(SequentialSampler(d), 2, False))", "(?i)mutually exclusive"),
    pt("order for a stream", OT, (SET, ORD), LOADER + "class S(IterableDataset):\n    def __iter__(self):\n        return iter(range(4))\nDataLoader(S(), shuffle=True)", "(?i)IterableDataset|shuffle"),
    pt("sampler beyond the end", OT, (IDX,), LOADER + "d = TensorDataset(torch.arange(8).to('@D@'))\nfor b in DataLoader(d, sampler=[0, 3, 11]):\n    print(b, flush=True)", "(?i)index"),
    pt("shares that do not add up", OT, (SHA,), LOADER + "print(random_split(range(10), [6, 5]))", "(?i)sum of input lengths"),
    pt("wrong kind in a batch", OT, (SHA,), LOADER + "import pathlib\nfor b in DataLoader([{'x': torch.ones(2, device='@D@'), 'p': pathlib.Path('a')}], 1):\n    print(b)", "(?i)collate|batch must contain"),
)  # fmt: skip
SAID = "(?i)assert|CUDA error"
enter(
    "asserts-of-kinds",
    card("chances outside nought and one", IDX, (SHA, OT), "p = torch.tensor([0.2, 1.7, -0.1], device='cuda')\nprint('epoch 1', flush=True)\nprint(F.binary_cross_entropy(p, torch.ones(3, device='cuda')).item())\n", SAID),
    card("taken from a flat table", IDX, (), "x = torch.arange(10.0, device='cuda')\nprint(torch.take(x, torch.tensor([1, 400], device='cuda')).tolist())\n", SAID),
    card("marks of pixels above the classes", IDX, (), "y = torch.randint(0, 21, (2, 16, 16), device='cuda')\ny[0, 3, 3] = 255\nprint(F.cross_entropy(torch.randn(2, 21, 16, 16, device='cuda'), y).item())\n", SAID),
    card("bags of words with a stranger", IDX, (), "e = torch.nn.EmbeddingBag(100, 8).cuda()\nprint(e(torch.tensor([3, 7, 100], device='cuda'), torch.tensor([0, 2], device='cuda')).sum().item())\n", SAID),
    card("checked on the card by itself", IDX, (OT,), "loss = torch.tensor(float('nan'), device='cuda')\ntorch._assert_async(loss == loss)\nprint(loss.item())\n", SAID),
    card("added where nothing is", IDX, (), "g = torch.zeros(16, 4, device='cuda')\ng.index_put_((torch.tensor([2, 16], device='cuda'),), torch.ones(2, 4, device='cuda'), accumulate=True)\nprint(g.sum().item())\n", SAID),
    card("neighbours of a graph gathered", IDX, (), "x = torch.randn(50, 8, device='cuda')\nedges = torch.tensor([[0, 1], [50, 2]], device='cuda')\nout = torch.gather(x, 0, edges[:, :1].expand(2, 8))\nprint(out.norm().item())\n", SAID),
)  # fmt: skip
