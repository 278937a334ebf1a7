"""Thirteenth operators, torch: spectra, losses, places written out of range, products of many, weights reworked, operators for other places, numbers too large, hooks, sequences, pipelines and checkpoints in parts."""

from __future__ import annotations

from lab.random.eleventh import BUILD, IDX, ORD, OT, SEL, SET, SHA, UNSUP
from lab.random.thirteenth import enter
from lab.random.twelfth import card, pt

WAVE = "w = torch.ones(2, 4000, device='@D@')\n"
enter(
    "spectra-and-windows",
    pt("window longer than the piece", SHA, (OT,), WAVE + "torch.stft(w, 256, window=torch.hann_window(512, device='@D@'), return_complex=True)\n", "(?i)window"),
    pt("piece longer than the sound", SHA, (OT,), WAVE + "torch.stft(w[:, :100], 512, return_complex=True, center=False)\n", "(?i)n_fft|expected"),
    card("window of the host", SHA, (SEL, OT), WAVE + "torch.stft(w, 256, window=torch.hann_window(256), return_complex=True)\n", "(?i)device"),
    pt("numbers in pairs never asked for", OT, (SHA, SET), WAVE + "torch.stft(w, 256)\n", "(?i)return_complex"),
    card("half precision, no power of two", SHA, (UNSUP, OT), "torch.fft.fft(torch.ones(100, device='cuda', dtype=torch.float16))\n", "(?i)power of two|powers of two|half"),
    pt("back from windows that leave holes", SHA, (OT,), WAVE + "s = torch.stft(w, 256, return_complex=True)\ntorch.istft(s, 256, hop_length=400)\n", "(?i)hop|window|overlap"),
    pt("back from numbers that are not complex", SHA, (OT,), "torch.istft(torch.ones(129, 10, device='@D@'), 256)\n", "(?i)complex"),
    pt("length of nought", SHA, (OT,), "torch.fft.fft(x, n=0)\n", "(?i)invalid number of data points|n"),
)  # fmt: skip
enter(
    "losses-told-wrongly",
    pt("likeness with one vector", SHA, (OT,), "F.cosine_embedding_loss(x, x, torch.ones(3, device='@D@'))\n", "(?i)size|shape|dim|match"),
    pt("classes of another count", SHA, (OT,), "F.nll_loss(x, torch.zeros(9, dtype=torch.long, device='@D@'))\n", "(?i)batch_size|size"),
    card("pixel of a class that is not", IDX, (), "print(F.nll_loss(torch.ones(1, 3, 4, 4, device='cuda'), torch.full((1, 4, 4), 7, device='cuda')).item())\n", "(?i)assert|CUDA error"),
    card("several labels, one beyond", IDX, (), "print(F.multilabel_margin_loss(x, torch.full((8, 4), 6, device='cuda')).item())\n", "(?i)assert|CUDA error|range"),
    card("margin to a class that is not", IDX, (), "print(F.multi_margin_loss(x, torch.full((8,), 40, device='cuda')).item())\n", "(?i)assert|CUDA error|range"),
    pt("smoothed by more than all", OT, (SHA, SET), "F.cross_entropy(x, torch.zeros(8, dtype=torch.long, device='@D@'), label_smoothing=1.7)\n", "(?i)label_smoothing"),
    pt("variance below nought", OT, (SHA,), "F.gaussian_nll_loss(x, x, -x)\n", "(?i)negative"),
    pt("classes as numbers with a fraction", SHA, (OT,), "F.nll_loss(x, torch.ones(8, device='@D@'))\n", "(?i)Long|dtype|type"),
    pt("reduced by another word", OT, (SET,), "F.mse_loss(x, x, reduction='average')\n", "(?i)average|reduction"),
)  # fmt: skip
FAR = "i = torch.tensor([0, 50], device='cuda')\n"
END = "print(x.sum().item())\n"
HIT = "(?i)assert|CUDA error|out of bounds|out of range"
enter(
    "places-written-out-of-range",
    card("rows copied in", IDX, (), FAR + "x.index_copy_(0, i, torch.ones(2, 4, device='cuda'))\n" + END, HIT),
    card("rows filled", IDX, (), FAR + "x.index_fill_(0, i, 3.0)\n" + END, HIT),
    card("greatest kept at", IDX, (), "x.scatter_reduce_(0, torch.full((2, 4), 70, device='cuda'), torch.ones(2, 4, device='cuda'), 'amax')\n" + END, HIT),
    card("put flat, added", IDX, (), "x.put_(torch.tensor([3, 500], device='cuda'), torch.ones(2, device='cuda'), accumulate=True)\n" + END, HIT),
    card("grown back at places that are not", IDX, (SHA,), "p, i = F.max_pool2d(torch.ones(1, 1, 8, 8, device='cuda'), 2, return_indices=True)\nprint(F.max_unpool2d(p, i + 9000, 2).sum().item())\n", "(?i)assert|CUDA error|invalid|index"),
    card("a cell by three lists", IDX, (), "v = torch.zeros(3, 3, 3, device='cuda')\ni = torch.tensor([0, 8], device='cuda')\nv[i, i, i] = 1\nprint(v.sum().item())\n", HIT),
    card("fewer values than marks", IDX, (SHA, OT), "x.masked_scatter_(x > 0, torch.ones(3, device='cuda'))\n" + END, "(?i)assert|CUDA error|elements|source"),
    card("rows renormed", IDX, (), "e = nn.Embedding(10, 4, max_norm=1.0).cuda()\nprint(e(torch.tensor([12], device='cuda')).sum().item())\n", HIT),
)  # fmt: skip
enter(
    "products-of-many",
    pt("batches of unlike count", SHA, (OT,), "torch.bmm(torch.ones(3, 2, 4, device='@D@'), torch.ones(5, 4, 2, device='@D@'))\n", "(?i)batch|size|expected"),
    pt("sum added of another shape", SHA, (OT,), "torch.addmm(torch.ones(7, 7, device='@D@'), x, x.t())\n", "(?i)size|expand|shape"),
    pt("axes of unlike length", SHA, (OT,), "torch.tensordot(x, torch.ones(5, 4, device='@D@'), dims=([0], [0]))\n", "(?i)contracted|dims|size|match"),
    pt("letters for more axes", SHA, (OT,), "torch.einsum('bijk,bk->bij', x, x)\n", "(?i)einsum|subscripts|dimensions"),
    pt("letter in the answer only", SHA, (OT,), "torch.einsum('ij,jk->iz', x, x.t())\n", "(?i)einsum|subscript|output"),
    pt("vector of another length", SHA, (OT,), "torch.mv(x, torch.ones(9, device='@D@'))\n", "(?i)size"),
    card("one factor of the host", SHA, (SEL, OT), "torch.linalg.multi_dot([x, torch.ones(4, 5), torch.ones(5, 2, device='cuda')])\n", "(?i)device"),
    pt("whole numbers by fractions", SHA, (OT,), "torch.ones(4, 4, dtype=torch.int32, device='@D@') @ torch.ones(4, 4, device='@D@')\n", "(?i)dtype|type"),
)  # fmt: skip
enter(
    "weights-reworked",
    pt("norm of a weight that has another name", OT, (SHA,), "nn.utils.parametrizations.weight_norm(nn.ReLU().to('@D@'), 'weight')\n", "(?i)weight"),
    pt("rotation of one row", SHA, (OT,), "nn.utils.parametrizations.orthogonal(nn.BatchNorm1d(4).to('@D@'))\n", "(?i)matrix|dim|orthogonal|expected"),
    pt("all but nothing cut away", OT, (SHA,), "import torch.nn.utils.prune as p\np.random_unstructured(nn.Linear(4, 4).to('@D@'), 'weight', amount=1.4)\n", "(?i)amount"),
    pt("cut more weights than there are", OT, (SHA,), "import torch.nn.utils.prune as p\np.l1_unstructured(nn.Linear(4, 4).to('@D@'), 'weight', amount=99)\n", "(?i)amount|parameters|smaller"),
    pt("made anew with another shape", SHA, (OT,), "import torch.nn.utils.parametrize as pz\nclass Q(nn.Module):\n    def forward(self, w):\n        return w[:2]\npz.register_parametrization(nn.Linear(4, 4).to('@D@'), 'weight', Q())\n", "(?i)shape"),
    pt("called with weights that are missing", OT, (SHA,), "m = nn.Linear(4, 2).to('@D@')\ntorch.func.functional_call(m, {'weight': m.weight, 'bais': m.bias}, (x,), strict=True)\n", "(?i)bais|unexpected|missing"),
    card("two weights tied on two sides", SHA, (SEL, OT), "a = nn.Linear(4, 4).cuda()\nb = nn.Linear(4, 4)\na.bias = b.bias\nprint(a(x).sum().item())\n", "(?i)device"),
    pt("vector into weights, too short", SHA, (OT,), "m = nn.Linear(4, 2).to('@D@')\nnn.utils.vector_to_parameters(torch.ones(5, device='@D@'), m.parameters())\n", "(?i)shape|invalid|size"),
)  # fmt: skip
enter(
    "operators-for-other-places",
    card("layout of the host's library", SHA, (SEL, UNSUP, OT), "x.to_mkldnn()\n", "(?i)mkldnn|cpu|could not run"),
    card("sum of the quantised kind", SHA, (UNSUP, SEL, OT), "torch.ops.quantized.add(x, x, 1.0, 0)\n", "(?i)quantized|could not run"),
    pt("operator of nobody", BUILD, (OT, "framework.extension_abi", "env.path"), "torch.ops.acme.rms_norm(x)\n", "(?i)acme|rms_norm"),
    pt("overload that is not", OT, (SHA, "framework.bug"), "torch.ops.aten.add.Vector(x, x)\n", "(?i)Vector|overload"),
    pt("library of operators not built", "env.path", (OT, BUILD, "cuda.missing_library"), "torch.ops.load_library('build/libacme_ops.so')\n", "(?i)libacme_ops|cannot open"),
    pt("key for another maker's card", SEL, (OT, "framework.cpu_only", UNSUP), "torch.ones(3, device='xpu')\n", "(?i)xpu"),
    pt("card of a phone", SEL, (OT, "framework.cpu_only", UNSUP), "torch.ones(3, device='mps')\n", "(?i)mps"),
    pt("words to a kind of dispatch", OT, (SET, BUILD), "torch.library.Library('acme13', 'DEF').impl('f', lambda a: a, 'CUDDA')\n", "(?i)CUDDA|dispatch|key|operator"),
)  # fmt: skip
enter(
    "numbers-too-large-for-their-type",
    pt("filled beyond thirty-two bits", SHA, (OT,), "torch.full((1,), 2 ** 40, dtype=torch.int32, device='@D@')\n", "(?i)overflow|converted"),
    pt("drawn beyond thirty-two bits", SHA, (OT,), "torch.randint(0, 2 ** 40, (3,), dtype=torch.int32, device='@D@')\n", "(?i)out of bounds|range"),
    pt("mixed more than halves can count", SHA, (OT,), "torch.randperm(70000, dtype=torch.float16, device='@D@')\n", "(?i)too large|n is|supported|Half"),
    card("categories beyond the kernel", SHA, (OT,), "torch.multinomial(torch.ones(1, (1 << 24) + 1, device='cuda'), 1)\n", "(?i)categories|2\\^24"),
    pt("from and to the wrong way round", SHA, (OT,), "torch.randint(9, 3, (2,), device='@D@')\n", "(?i)from|low|expects"),
    pt("size below nought", SHA, (OT, "memory.oom"), "torch.empty(3, -4, device='@D@')\n", "(?i)negative|dimension"),
    pt("spread below nought", SHA, (OT, IDX), "torch.normal(x, -x)\n", "(?i)std|negative|>= 0"),
    pt("step of nought", SHA, (OT,), "torch.arange(0, 5, 0, device='@D@')\n", "(?i)step"),
    pt("rows of unlike length", SHA, (OT,), "torch.tensor([[1, 2], [3]], device='@D@')\n", "(?i)length|sequence"),
)  # fmt: skip
enter(
    "hooks-that-answer-wrongly",
    pt("gradient of another shape", SHA, (OT,), "x.requires_grad_()\nx.register_hook(lambda g: g[:2])\n(x * 2).sum().backward()\n", "(?i)size|shape|hook"),
    card("kept on the host, never brought back", SHA, (SEL, ORD, OT), "x.requires_grad_()\nwith torch.autograd.graph.saved_tensors_hooks(lambda t: t.cpu(), lambda t: t):\n    y = (x * x.exp()).sum()\ny.backward()\n", "(?i)device"),
    pt("layer's hook takes one value too few", OT, (SHA,), "m = nn.Linear(4, 2).to('@D@')\nm.register_forward_hook(lambda mod, i: None)\nm(x)\n", "(?i)positional argument|takes"),
    card("hook looks up a label", IDX, (), "x.requires_grad_()\nx.register_hook(lambda g: g[torch.tensor([60], device='cuda')].expand(8, 4))\n(x * 2).sum().backward()\nprint(x.grad.sum().item())\n", HIT),
    pt("hook changes what is needed", ORD, (OT, SHA), "x.requires_grad_()\nm = nn.Linear(4, 4).to('@D@')\nm.register_forward_hook(lambda mod, i, o: o.exp())\ny = m(x)\nz = y.sum()\ny.detach().mul_(2)\nz.backward()\n", "(?i)in-?place|modified"),
    pt("state's hook wants a key", OT, (SHA,), "m = nn.Linear(4, 2).to('@D@')\nm.register_load_state_dict_pre_hook(lambda mod, d, *a: d.pop('scale'))\nm.load_state_dict(m.state_dict())\n", "(?i)scale"),
    pt("optimiser's hook divides by nothing", OT, (), "m = nn.Linear(4, 2).to('@D@')\no = torch.optim.SGD(m.parameters(), 0.1)\no.register_step_pre_hook(lambda *a: 1 / 0)\no.step()\n", "ZeroDivision"),
)  # fmt: skip
PACK = (
    "from torch.nn.utils.rnn import pack_padded_sequence as pack, pad_sequence\ns = torch.ones(3, 5, 4, device='@D@')\n"
)
enter(
    "sequences-and-second-passes",
    pt("lengths not in order", OT, (SHA, ORD), PACK + "pack(s, torch.tensor([2, 5, 3]), batch_first=True)\n", "(?i)sorted"),
    card("lengths on the card", SHA, (SEL, OT), PACK + "pack(s, torch.tensor([5, 3, 2], device='cuda'), batch_first=True)\n", "(?i)cpu"),
    pt("length of nought", SHA, (OT,), PACK + "pack(s, torch.tensor([5, 3, 0]), batch_first=True)\n", "(?i)greater than 0|length"),
    pt("lengths fewer than rows", SHA, (OT,), PACK + "pack(s, torch.tensor([5, 3]), batch_first=True)\n", "(?i)lengths|batch|size"),
    pt("unlike widths padded", SHA, (OT,), PACK + "pad_sequence([torch.ones(3, 4, device='@D@'), torch.ones(2, 5, device='@D@')])\n", "(?i)size"),
    pt("second pass goes another way", ORD, (OT, SHA), "from torch.utils.checkpoint import checkpoint\nn = [0]\ndef f(a):\n    n[0] += 1\n    return a.sin().cos() if n[0] == 1 else a.sin()\nx.requires_grad_()\ncheckpoint(f, x, use_reentrant=False).sum().backward()\n", "(?i)checkpoint|different number"),
    pt("second pass answers another shape", ORD, (OT, SHA), "from torch.utils.checkpoint import checkpoint\nn = [0]\ndef f(a):\n    n[0] += 1\n    b = a if n[0] == 1 else a[:3]\n    return b.sin().exp()\nx.requires_grad_()\ncheckpoint(f, x, use_reentrant=False).sum().backward()\n", "(?i)checkpoint|metadata"),
)  # fmt: skip
DCP = "import torch.distributed.checkpoint as dcp, warnings\nwarnings.simplefilter('ignore')\ndcp.save({'w': x, 'step': 3}, checkpoint_id='ck')\n"
ONE = "import os, datetime, torch.distributed as dist\nos.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT='@O@', RANK='0', WORLD_SIZE='1')\ndist.init_process_group('gloo', timeout=datetime.timedelta(seconds=10))\nfrom torch.distributed.pipelining import PipelineStage, ScheduleGPipe\nm = nn.Linear(4, 4).to('@D@')\n"
DI = "torch-nccl"
enter(
    "checkpoints-in-parts-and-pipelines",
    pt("weight that was never kept", OT, (SHA, "install.corrupted"), DCP + "dcp.load({'w': x, 'bias': torch.ones(4)}, checkpoint_id='ck')\n", "(?i)bias|missing", DI),
    pt("weight of another shape", SHA, (OT,), DCP + "dcp.load({'w': torch.ones(9, 9, device='@D@')}, checkpoint_id='ck')\n", "(?i)size|shape|mismatch", DI),
    pt("part of it lost", "install.corrupted", (OT, "env.path"), DCP + "import glob, os\nfor f in glob.glob('ck/*.distcp'):\n    os.remove(f)\ndcp.load({'w': torch.ones(8, 4, device='@D@')}, checkpoint_id='ck')\n", "(?i)distcp|No such file", DI),
    pt("its table cut", "install.corrupted", (OT,), DCP + "open('ck/.metadata', 'wb').write(b'\\x80')\ndcp.load({'w': x}, checkpoint_id='ck')\n", "(?i)EOF|pickle|truncated|metadata|Unpickling", DI),
    pt("folder of another run", OT, ("env.path",), DCP + "dcp.load({'w': x}, checkpoint_id='ck-0417')\n", "(?i)ck-0417|metadata|No such file", DI),
    pt("stage beyond the last", OT, (SHA, SEL, IDX), ONE + "PipelineStage(m, 3, 2, torch.device('@D@'))\n", "(?i)stage", DI),
    pt("batch that does not divide", SHA, (OT,), ONE + "s = ScheduleGPipe(PipelineStage(m, 0, 1, torch.device('@D@')), n_microbatches=16)\ns.step(x[:3])\n", "(?i)chunk|micro|divis|expect", DI),
)  # fmt: skip
