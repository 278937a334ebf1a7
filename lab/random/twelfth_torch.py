"""Twelfth operators, torch: recurrent layers, pictures, chance checked on the card, several cards' wrappers, waits forbidden, storages, scripts, distributed tensors, collectives' sizes."""

from __future__ import annotations

from lab.random.eleventh import BUG, IDX, ILL, OOM, ORD, OT, PEER, SEL, SET, SHA, UNSUP
from lab.random.twelfth import card, enter, pt

RNN = "m = nn.LSTM(4, 6, num_layers=2, batch_first=True).to('@D@')\ns = torch.ones(3, 5, 4, device='@D@')\n"
enter(
    "recurrent-layers",
    pt("memory of one layer for two", SHA, (OT,), RNN + "m(s, (torch.zeros(1, 3, 6, device='@D@'), torch.zeros(1, 3, 6, device='@D@')))\n", "(?i)hidden\\[0\\] size"),
    pt("memory of another batch", SHA, (OT,), RNN + "m(s, (torch.zeros(2, 7, 6, device='@D@'), torch.zeros(2, 7, 6, device='@D@')))\n", "(?i)hidden\\[0\\] size"),
    pt("words of another width", SHA, (OT,), RNN + "m(torch.ones(3, 5, 9, device='@D@'))\n", "(?i)input.size"),
    card("memory left on the host", SHA, (SEL, OT), RNN + "m(s, (torch.zeros(2, 3, 6), torch.zeros(2, 3, 6)))\n", "(?i)same device|device"),
    card("gradients asked while evaluating", ORD, (BUG, OT), RNN + "m.eval()\nm(s.requires_grad_())[0].sum().backward()\n", "(?i)training mode"),
    card("sequences on the card, layer on the host", SHA, (SEL, OT), "m = nn.GRU(4, 6)\nm(torch.ones(5, 3, 4, device='cuda'))\n", "(?i)same device|device"),
    pt("four dimensions", SHA, (OT,), RNN + "m(torch.ones(2, 3, 5, 4, device='@D@'))\n", "(?i)2D or 3D|dimension"),
)  # fmt: skip
enter(
    "pictures-and-volumes",
    pt("mirrored border wider than the picture", SHA, (OT,), "F.pad(torch.ones(1, 3, 4, 4, device='@D@'), (5, 5, 5, 5), mode='reflect')\n", "(?i)padding size"),
    pt("volume enlarged as a picture", SHA, (OT,), "F.interpolate(torch.ones(1, 3, 4, 4, 4, device='@D@'), scale_factor=2, mode='bilinear')\n", "(?i)5D|4D|bilinear|got"),
    pt("kernel larger than the picture", SHA, (OT,), "nn.Conv2d(3, 8, 9).to('@D@')(torch.ones(1, 3, 5, 5, device='@D@'))\n", "(?i)kernel size"),
    pt("groups that do not divide", SHA, (OT,), "F.conv2d(torch.ones(1, 6, 8, 8, device='@D@'), torch.ones(4, 2, 3, 3, device='@D@'), groups=4)\n", "(?i)group|channels"),
    pt("pooled to nothing", SHA, (OT,), "F.max_pool3d(torch.ones(1, 2, 3, 3, 3, device='@D@'), 4)\n", "(?i)too small|output size"),
    pt("shuffled by a factor that does not divide", SHA, (OT,), "F.pixel_shuffle(torch.ones(1, 10, 4, 4, device='@D@'), 3)\n", "(?i)divisible|pixel_shuffle"),
    pt("pieces that do not make the picture", SHA, (OT,), "F.fold(torch.ones(1, 12, 9, device='@D@'), (4, 5), (2, 2))\n", "(?i)expected size|sliding|fold"),
    pt("one value in each channel, normalised", SHA, (OT,), "nn.BatchNorm1d(6).to('@D@')(torch.ones(1, 6, device='@D@'))\n", "(?i)more than 1 value"),
    pt("bytes into a layer of floats", SHA, (OT,), "nn.Conv2d(3, 8, 3).to('@D@')(torch.ones(1, 3, 8, 8, dtype=torch.uint8, device='@D@'))\n", "(?i)type|dtype|Byte"),
)  # fmt: skip
enter(
    "chance-checked-on-the-card",
    card("chance above one", IDX, (OT, SHA), "print(torch.bernoulli(x * 3).sum().item())\n", "(?i)assert|CUDA error"),
    card("weights below nought drawn from", IDX, (OT, SHA), "print(torch.multinomial(-x, 1).sum().item())\n", "(?i)assert|CUDA error|probability"),
    card("logits that are none drawn from", IDX, (OT, SHA), "p = torch.softmax(x * float('nan'), -1)\nprint(torch.multinomial(p, 1).sum().item())\n", "(?i)assert|CUDA error|probability"),
    card("cross entropy of yes and no above one", IDX, (OT, SHA), "print(F.binary_cross_entropy(x * 2, x).item())\n", "(?i)assert|CUDA error|between 0 and 1"),
    card("rows of a table looked up by minus one", IDX, (), "e = nn.Embedding(10, 4).cuda()\nprint(e(torch.tensor([3, -1], device='cuda')).sum().item())\n", "(?i)assert|CUDA error"),
    card("bags of words beyond the table", IDX, (), "e = nn.EmbeddingBag(10, 4).cuda()\nprint(e(torch.tensor([[3, 99999]], device='cuda')).sum().item())\n", "(?i)assert|CUDA error|illegal"),
    card("taken along by positions of another table", IDX, (), "print(torch.take(x, torch.tensor([0, 77], device='cuda')).sum().item())\n", "(?i)assert|CUDA error|index"),
    card("own promise on the card", IDX, (OT, ORD), "torch._assert_async((x < 0).all())\nprint(x.sum().item())\n", "(?i)assert|CUDA error"),
)  # fmt: skip
enter(
    "waits-that-are-forbidden",
    card("a value printed", ORD, (SET, OT), "torch.cuda.set_sync_debug_mode('error')\nprint(x.sum().item())\n", "(?i)synchroniz"),
    card("copied home", ORD, (SET, OT), "torch.cuda.set_sync_debug_mode('error')\nh = x.cpu()\n", "(?i)synchroniz"),
    card("picked by a mask", ORD, (SET, OT, SHA), "torch.cuda.set_sync_debug_mode(2)\ny = x[x > 0.5]\n", "(?i)synchroniz"),
    card("positions counted", ORD, (SET, OT), "torch.cuda.set_sync_debug_mode(2)\nprint(torch.nonzero(x).shape)\n", "(?i)synchroniz"),
    card("mode of another name", OT, (SET,), "torch.cuda.set_sync_debug_mode('strict')\n", "(?i)debug mode|strict"),
)  # fmt: skip
enter(
    "storages-and-views",
    pt("strides beyond the storage", SHA, (IDX, ILL, OT), "print(torch.as_strided(x, (100, 4), (4, 1)).sum().item())\n", "(?i)out of bounds|storage"),
    pt("turned, then viewed", SHA, (OT,), "x.t().view(32)\n", "(?i)view size|stride"),
    pt("eight bytes seen in a row of five", SHA, (OT,), "torch.ones(3, 5, dtype=torch.uint8, device='@D@').view(torch.float64)\n", "(?i)divisible|size"),
    pt("wide view written in place", SHA, (ORD, OT), "y = x[:1].expand(8, 4)\ny += 1\n", "(?i)single memory location|more than one element"),
    pt("sum written over its own input", SHA, (ORD, OT), "y = torch.arange(16.0, device='@D@')\ny[1:].copy_(y[:-1])\ntorch.add(y[1:], y[:-1], out=y[:-1].view(3, 5))\ny[:8].add_(y[4:13])\n", "(?i)overlap|memory|size"),
    card("storage of the host under a card's tensor", SHA, (SEL, OT), "x.set_(torch.ones(32).untyped_storage())\n", "(?i)device|storage"),
    card("pinned though on the card", SHA, (SEL, ORD, OT), "x.pin_memory()\n", "(?i)pin"),
    card("handed to NumPy as it is", SHA, (SEL, OT), "import numpy\nprint(numpy.asarray(x).sum())\n", "(?i)numpy|host memory"),
)  # fmt: skip
enter(
    "tensors-without-leave",
    pt("made in inference, trained later", ORD, (OT,), "with torch.inference_mode():\n    w = torch.ones(4, 4, device='@D@')\nm = nn.Linear(4, 4).to('@D@')\n(m(x) @ w).sum().backward()\n", "(?i)inference tensor"),
    pt("changed outside of inference", ORD, (OT,), "with torch.inference_mode():\n    w = torch.ones(4, device='@D@')\nw.requires_grad_()\nw.add_(1)\n", "(?i)inference"),
    pt("model without data", ORD, (OT, SHA), "with torch.device('meta'):\n    m = nn.Linear(4, 4)\nm.to('@D@')\n", "(?i)meta tensor"),
    pt("value of a tensor without data", ORD, (OT, SHA), "t = torch.ones(4, device='meta')\nprint(t.sum().item(), x)\n", "(?i)meta"),
    card("half the sum without data", SHA, (ORD, SEL, OT), "t = torch.ones(8, 4, device='meta')\nprint((x + t).cpu())\n", "(?i)meta"),
    pt("lazy layer counted before its first use", ORD, (OT,), "m = nn.LazyLinear(3).to('@D@')\nprint(sum(p.numel() for p in m.parameters()))\n", "(?i)uninitialized"),
    pt("gradient of whole numbers", OT, (SHA, ORD), "torch.ones(4, dtype=torch.int64, device='@D@').requires_grad_()\n", "(?i)floating point|only Tensors"),
)  # fmt: skip
enter(
    "wrappers-for-several-cards",
    card("two cards of one", SEL, (OT,), "m = nn.DataParallel(nn.Linear(4, 4).cuda(), device_ids=[0, 1])\nm(x)\n", "(?i)device"),
    card("model still on the host", SHA, (SEL, ORD, OT), "m = nn.DataParallel(nn.Linear(4, 4))\nm(x)\n", "(?i)parameters and buffers on device|device"),
    card("copied to the second card", SEL, (OT,), "torch.cuda.comm.broadcast(x, devices=[0, 1])\n", "(?i)device|ordinal"),
    card("cut into parts for three cards", SEL, (OT, SHA), "torch.nn.parallel.scatter(x, [0, 1, 2])\n", "(?i)device|ordinal"),
    card("gathered on the sixth", SEL, (OT,), "torch.cuda.comm.gather([x, x], destination=5)\n", "(?i)device|ordinal"),
    card("layers on two cards by hand", SEL, (OT,), "class N(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Linear(4, 4).to('cuda:0')\n        self.b = nn.Linear(4, 4).to('cuda:1')\nN()\n", "(?i)ordinal|device"),
    card("card with the most memory, counted from one", SEL, (OT,), "best = max(range(torch.cuda.device_count()), key=lambda i: torch.cuda.mem_get_info(i)[0]) + 1\ntorch.cuda.set_device(best)\n", "(?i)ordinal|device"),
)  # fmt: skip
enter(
    "optimisers-all-at-once",
    card("fused over layers of both sides", SHA, (SEL, OT, ORD), "a, b = nn.Linear(4, 4).cuda(), nn.Linear(4, 4)\nb.weight.data = b.weight.data.to(torch.int32).float()\no = torch.optim.Adam([*a.parameters(), torch.nn.Parameter(torch.ones(3, dtype=torch.complex64, device='cuda'))], fused=True)\n", "(?i)fused"),
    pt("fused and each by each", OT, (SET,), "m = nn.Linear(4, 4).to('@D@')\ntorch.optim.Adam(m.parameters(), fused=True, foreach=True)\n", "(?i)fused"),
    pt("two lists of unlike length", SHA, (OT,), "torch._foreach_add_([x, x], [x])\n", "(?i)same number|length|size"),
    pt("gradient of another shape", SHA, (OT,), "p = nn.Parameter(torch.ones(4, device='@D@'))\np.grad = torch.ones(5, device='@D@')\n", "(?i)grad|shape|size"),
    card("gradient of the host", SHA, (SEL, OT), "p = nn.Parameter(torch.ones(4, device='cuda'))\np.grad = torch.ones(4)\n", "(?i)grad|device"),
    pt("state of another optimiser", OT, (SHA,), "m = nn.Linear(4, 4).to('@D@')\na = torch.optim.SGD(m.parameters(), 0.1)\nb = torch.optim.SGD(nn.Linear(4, 4, bias=False).parameters(), 0.1)\na.load_state_dict(b.state_dict())\n", "(?i)parameter group|size"),
    card("captured step not meant for it", ORD, (SET, OT), "p = nn.Parameter(torch.ones(4, device='cuda'))\np.grad = torch.ones_like(p)\no = torch.optim.Adam([p])\no.step()\ng = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(g):\n    o.step()\n", "(?i)captur"),
)  # fmt: skip
enter(
    "scripts-of-torch",
    pt("word that scripts do not know", OT, (BUG, SHA), "@torch.jit.script\ndef f(a: torch.Tensor):\n    return a.warp_speed()\n", "(?i)warp_speed|nonexistent"),
    pt("scripted for floats, given a list", SHA, (OT,), "@torch.jit.script\ndef f(a: torch.Tensor):\n    return a * 2\nf([1.0, 2.0])\n", "(?i)expected.*Tensor|type"),
    pt("fails inside a script", SHA, (OT,), "@torch.jit.script\ndef f(a, b):\n    return torch.mm(a, b)\nf(x, torch.ones(5, 3, device='@D@'))\n", "(?i)shapes cannot|TorchScript"),
    card("index on the card inside a script", IDX, (), "@torch.jit.script\ndef f(a, i):\n    return a[i]\nprint(f(x, torch.tensor([50], device='cuda')).sum().item())\n", "(?i)assert|CUDA error|index"),
    pt("traced for another width", SHA, (OT,), "m = torch.jit.trace(nn.Linear(4, 2).to('@D@'), x)\nm(torch.ones(2, 9, device='@D@'))\n", "(?i)shapes cannot|TorchScript"),
    card("loaded for the fourth card", SEL, (OT,), "import io\nb = io.BytesIO()\ntorch.jit.save(torch.jit.trace(nn.Linear(4, 2).cuda(), x), b)\nb.seek(0)\ntorch.jit.load(b, map_location='cuda:3')\n", "(?i)device|ordinal"),
    card("constants left on the host by a trace", SHA, (SEL, OT), "c = torch.ones(4)\nclass N(nn.Module):\n    def forward(self, a):\n        return a + c.to('cpu')\nm = torch.jit.trace(N(), torch.ones(8, 4))\nprint(m(x))\n", "(?i)device"),
)  # fmt: skip
ONE = "import os, datetime, torch.distributed as dist\nos.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='@O@', RANK='0', WORLD_SIZE='1')\n"
NC = (
    ONE + "dist.init_process_group('nccl', timeout=datetime.timedelta(seconds=15), device_id=torch.device('cuda', 0))\n"
)
GL = ONE + "dist.init_process_group('gloo', timeout=datetime.timedelta(seconds=10))\n"
DI = "torch-nccl"
enter(
    "collectives-of-other-sizes",
    card("gathered into too small a place", SHA, (OT, "distributed.nccl"), NC + "dist.all_gather_into_tensor(torch.empty(3, device='cuda'), x)\n", "(?i)size|output", DI),
    card("scattered into too large a place", SHA, (OT, "distributed.nccl"), NC + "dist.reduce_scatter_tensor(torch.empty(99, device='cuda'), x)\n", "(?i)size|input", DI),
    card("parts that do not make the whole", SHA, (OT, "distributed.nccl"), NC + "dist.all_to_all_single(torch.empty(32, device='cuda'), x.flatten(), [5], [7])\n", "(?i)split|size|sum", DI),
    card("gathered in another type", SHA, (OT, "distributed.nccl"), NC + "dist.all_gather_into_tensor(torch.empty(32, device='cuda', dtype=torch.float16), x.flatten())\n", "(?i)type|dtype", DI),
    card("tensor of the host given to cards' library", SHA, (SEL, ORD, OT, "distributed.nccl"), NC + "dist.all_reduce(torch.ones(4))\n", "(?i)backend type|cpu|device", DI),
    card("every second element", SHA, (OT, "distributed.nccl"), NC + "dist.all_reduce(torch.ones(4, 8, device='cuda').t()[::2])\n", "(?i)contiguous|dense", DI),
    card("sent to a rank that is not", PEER, (SHA, OT, SEL, "distributed.nccl"), NC + "dist.send(x, 3)\n", "(?i)rank|dst|peer|invalid|group", DI),
    card("bits summed as an average", SHA, (OT, "distributed.nccl"), NC + "dist.all_reduce(torch.ones(4, device='cuda'), op=dist.ReduceOp.BXOR)\n", "(?i)BXOR|ReduceOp", DI),
    card("group made a second time", ORD, (OT, PEER), NC + "dist.init_process_group('nccl')\n", "(?i)twice|already", DI),
)  # fmt: skip
MESH = "from torch.distributed.device_mesh import init_device_mesh\nfrom torch.distributed.tensor import Shard, Replicate, distribute_tensor, DTensor\n"
enter(
    "tensors-over-a-mesh",
    pt("plain and spread in one sum", SHA, (OT,), GL + MESH + "m = init_device_mesh('cpu', (1,))\nd = distribute_tensor(torch.ones(8, 4), m, [Shard(0)])\nprint(d + torch.ones(8, 4))\n", "(?i)mixed torch.Tensor and DTensor", DI),
    pt("spread along an axis that is not", SHA, (OT, IDX), GL + MESH + "m = init_device_mesh('cpu', (1,))\ndistribute_tensor(torch.ones(8, 4), m, [Shard(3)])\n", "(?i)dim|shard|range", DI),
    pt("two ways for one axis", SHA, (OT,), GL + MESH + "m = init_device_mesh('cpu', (1,))\ndistribute_tensor(torch.ones(8, 4), m, [Shard(0), Replicate()])\n", "(?i)placements|ndim|mesh", DI),
    pt("mesh of eight by one process", SEL, (OT, SHA, PEER), GL + MESH + "init_device_mesh('cpu', (8,))\n", "(?i)world|mesh", DI),
    pt("part of a mesh by another name", OT, (SHA, SET), GL + MESH + "m = init_device_mesh('cpu', (1, 1), mesh_dim_names=('dp', 'tp'))\nm['pp']\n", "(?i)pp|mesh_dim|dim", DI),
    pt("names for fewer axes", OT, (SHA, SET), GL + MESH + "init_device_mesh('cpu', (1, 1), mesh_dim_names=('dp',))\n", "(?i)mesh_dim_names", DI),
)  # fmt: skip
SHARE = "torch.cuda.set_per_process_memory_fraction((@M@ << 20) / torch.cuda.get_device_properties(0).total_memory)\n"
enter(
    "memory-lost-slowly",
    card("losses kept with their history", OOM, (), SHARE.replace("@M@", "500") + "w = torch.ones(2 << 20, device='cuda', requires_grad=True)\ntotal = 0\nfor i in range(400):\n    total = total + (w * w.exp()).sum()\n    if i % 5 == 0:\n        print('step', i, flush=True)\n", "(?i)out of memory"),
    card("hooks that keep every answer", OOM, (), SHARE.replace("@M@", "400") + "seen = []\nm = nn.Linear(1024, 8192).cuda()\nm.register_forward_hook(lambda mod, i, o: seen.append(o.detach()))\nwhile True:\n    m(torch.ones(512, 1024, device='cuda'))\n", "(?i)out of memory"),
    card("exceptions that keep their frames", OOM, (), SHARE.replace("@M@", "400") + "errors = []\ndef step(i):\n    big = torch.empty(60 << 20, dtype=torch.uint8, device='cuda')\n    raise KeyError(f'sample {i}')\nfor i in range(20):\n    try:\n        step(i)\n    except KeyError as e:\n        errors.append(e)\n", "(?i)out of memory"),
    card("all batches sent ahead", OOM, (), SHARE.replace("@M@", "400") + "import queue\nq = queue.Queue()\nfor i in range(64):\n    q.put(torch.ones(4 << 20, pin_memory=True).to('cuda', non_blocking=True))\n", "(?i)out of memory"),
    card("weights averaged by a growing list", OOM, (), SHARE.replace("@M@", "400") + "import copy\nm = nn.Linear(4096, 4096).cuda()\nhistory = []\nfor i in range(40):\n    history.append(copy.deepcopy(m))\n", "(?i)out of memory"),
    card("second order kept for every sample", OOM, (), SHARE.replace("@M@", "600") + "w = torch.ones(3000, device='cuda')\nh = torch.autograd.functional.hessian(lambda a: (a ** 3).sum() * a.mean(), w)\nhs = [h.repeat(3, 3)]\nfor i in range(9):\n    hs.append(hs[-1] + 1)\n", "(?i)out of memory"),
    card("every pair of points", OOM, (), SHARE.replace("@M@", "600") + "p = torch.rand(40000, 3, device='cuda')\nprint(torch.cdist(p, p).min().item())\n", "(?i)out of memory"),
)  # fmt: skip
enter(
    "quantised-and-halved",
    pt("whole-number layer asked of the card", SHA, (UNSUP, OT, SEL), "q = torch.quantize_per_tensor(torch.ones(4, 4), 0.1, 0, torch.qint8)\nprint((q + q).sum(), x)\n", "(?i)could not run|quantized|not implemented"),
    pt("scales fewer than channels", SHA, (OT,), "torch.quantize_per_channel(torch.ones(4, 4), torch.tensor([0.1, 0.2]), torch.tensor([0, 0]), 0, torch.qint8)\n", "(?i)scale|length|size|channel"),
    pt("product of two kinds of half", SHA, (OT,), "x.half() @ x.t().bfloat16()\n", "(?i)same dtype|dtype"),
    pt("remainder of narrow floats", SHA, (OT, UNSUP), "x.to(torch.float8_e4m3fn) + x.to(torch.float8_e4m3fn)\n", "(?i)not implemented|Float8|promotion"),
    pt("factors in half precision", SHA, (OT, UNSUP), "torch.linalg.qr(x.half())\n", "(?i)half|not implemented|low precision"),
    pt("bits of numbers with a fraction", SHA, (OT,), "x & x\n", "(?i)not implemented|bitwise"),
)  # fmt: skip
