"""Ninth operators, PyTorch's calls: kinds of tensors, number types, random numbers, switches, attention, optimisers, own operators."""

from __future__ import annotations

from lab.random.ninth import BUG, CPU, IDX, ORD, OT, SEL, SET, SHA, UNSUP, Case, F, enter


def pt(target: str, cause: str, also: tuple[str, ...], body: str, expect: str = "", needs: str = "torch-graph torch-matmul") -> Case:  # fmt: skip
    """A program of PyTorch alone."""
    return Case(needs, target, cause, also, code=f"{F}{body}\n", expect=expect)


enter(
    "types-not-made",
    pt("inverse in half precision", SHA, (OT,), "a = torch.eye(4, device='@D@').half()\nprint(torch.linalg.inv(a))", "(?i)half|precision"),
    pt("decomposition in bfloat16", SHA, (OT,), "print(torch.linalg.svd(torch.eye(4, device='@D@', dtype=torch.bfloat16)))", "(?i)bfloat16|precision"),
    pt("bits of a float", SHA, (OT,), "x = torch.ones(4, device='@D@')\nprint(x & x)", "(?i)bitwise_and|not implemented|Float"),
    pt("counted floats", SHA, (OT,), "print(torch.bincount(torch.rand(8, device='@D@')))", "(?i)bincount|integral|not implemented|input"),
    pt("convolution of small whole numbers", SHA, (UNSUP,), "x = torch.ones(1, 1, 8, 8, device='cuda', dtype=torch.int8)\nprint(F.conv2d(x, x[..., :3, :3]).shape)", "(?i)char|int8|not implemented|support|engine"),
    pt("mean of words", SHA, (OT,), "print(torch.arange(6, device='@D@').mean())", "(?i)mean|dtype"),
    pt("softmax of whole numbers", SHA, (OT,), "print(torch.softmax(torch.arange(6, device='@D@'), 0))", "(?i)softmax|Long"),
    pt("shift of floats in place", SHA, (OT,), "x = torch.ones(4, device='@D@')\nx <<= 2\nprint(x.long() << 1, torch.bitwise_left_shift(x, 1))", "(?i)shift|not implemented"),
    pt("result into a narrower type", SHA, (OT,), "x = torch.ones(4, device='@D@', dtype=torch.int32)\nx += 0.5\nprint(x)", "(?i)cast|result type"),
    pt("step above the type", SHA, (OT,), "x = torch.zeros(4, device='@D@', dtype=torch.uint8)\nx.fill_(70000)\nprint(torch.full((2,), 300 * @S@, dtype=torch.uint8, device='@D@'), torch.tensor([1 << 70], device='@D@'))", "(?i)overflow"),
)  # fmt: skip
enter(
    "ragged-and-complex",
    pt("nested: parts of unlike rank", SHA, (OT,), "n = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4)], device='@D@')\nprint(n)", "(?i)nested|dim"),
    pt("nested: shape asked for", SHA, (OT,), "n = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(5, 3)], device='@D@')\nprint(n.size(1))", "(?i)irregular|nested|dimension"),
    pt("nested: added to another", SHA, (OT,), "a = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(5, 3)], device='@D@')\nb = torch.nested.nested_tensor([torch.ones(4, 3), torch.ones(1, 3)], device='@D@')\nprint(a + b)", "(?i)nested|size|expected"),
    pt("complex in a rectifier", SHA, (OT,), "x = torch.ones(4, device='@D@', dtype=torch.cfloat)\nprint(F.relu(x))", "(?i)complex|not implemented|Complex"),
    pt("complex compared", SHA, (OT,), "x = torch.ones(4, device='@D@', dtype=torch.cdouble)\nprint(x.max(), x > x)", "(?i)complex|not implemented"),
    pt("complex loss", SHA, (OT, ORD), "x = torch.ones(4, device='@D@', dtype=torch.cfloat, requires_grad=True)\n(x * x).sum().backward()", "(?i)complex|real"),
    pt("real part given as complex", SHA, (OT,), "print(torch.complex(torch.ones(3, device='@D@'), torch.ones(3, device='@D@').double()))", "(?i)expected|type|dtype"),
    pt("complex seen as real with a history", SHA, (OT,), "x = torch.ones(4, 3, device='@D@')\nprint(torch.view_as_complex(x))", "(?i)size 2|last dim|view_as_complex"),
)  # fmt: skip
enter(
    "sparse-kinds",
    pt("place outside the matrix", IDX, (SHA, OT), "i = torch.tensor([[0, 9], [1, 2]], device='@D@')\ns = torch.sparse_coo_tensor(i, torch.ones(2, device='@D@'), (4, 4), check_invariants=True)\nprint(s)", "(?i)size|ind"),
    pt("more values than places", SHA, (OT,), "i = torch.zeros(2, 3, dtype=torch.long, device='@D@')\nprint(torch.sparse_coo_tensor(i, torch.ones(4, device='@D@'), (4, 4)))", "(?i)number|nnz|values|size"),
    pt("blocks that do not divide", SHA, (OT,), "print(torch.eye(10, device='@D@').to_sparse_bsr((4, 4)))", "(?i)block|divisible|multiple"),
    pt("rows' starts too few", SHA, (OT, IDX), "print(torch.sparse_csr_tensor(torch.tensor([0, 1], device='@D@'), torch.tensor([0], device='@D@'), torch.ones(1, device='@D@'), (5, 5), check_invariants=True))", "(?i)crow|size|ind"),
    pt("sparse kinds added", SHA, (OT, BUG), "a = torch.eye(4, device='@D@')\nprint(a.to_sparse_csr() + a.to_sparse_csc())", "(?i)sparse|layout"),
    pt("view of a sparse tensor", SHA, (OT,), "s = torch.eye(4, device='@D@').to_sparse()\nprint(s.view(16), s.stride())", "(?i)sparse|view|stride"),
    pt("product of unlike parts", SHA, (), "s = torch.ones(4, 6, device='@D@').to_sparse()\nprint(torch.sparse.mm(s, torch.ones(5, 2, device='@D@')))", "(?i)size|dim|mat"),
)  # fmt: skip
enter(
    "memory-order",
    pt("channels last of three axes", SHA, (OT,), "x = torch.randn(3, 8, 8, device='@D@')\nprint(x.to(memory_format=torch.channels_last).shape)", "(?i)rank 4|channels_last"),
    pt("flat view of channels last", SHA, (OT,), "x = torch.randn(2, 3, 8, 8, device='@D@').to(memory_format=torch.channels_last)\nprint(x.view(2, -1).shape)", "(?i)view size|reshape"),
    pt("written where rows share memory", SHA, (ORD, OT), "x = torch.zeros(1, 4, device='@D@').expand(8, 4)\nx += torch.arange(8, device='@D@')[:, None]\nprint(x)", "(?i)single memory location|written-to"),
    pt("copied onto itself", SHA, (ORD, OT), "x = torch.arange(10.0, device='@D@')\ntorch.add(x[:-1], 1, out=x[1:])\nprint(x)", "(?i)overlap|memory"),
    pt("part resized", SHA, (ORD, OT), "x = torch.zeros(8, device='@D@', requires_grad=True)\nx.resize_(16)\nprint(x)", "(?i)resize"),
    pt("storage given away", SHA, (ORD, OT), "x = torch.zeros(8, device='@D@')\ny = x[2:6]\nx.untyped_storage().resize_(8)\nprint(y.set_(x.untyped_storage(), 4, (64,), (1,)))\nprint(y.sum(), y.view(3, 30))", "(?i)storage|out of bounds|invalid|shape"),
    pt("data of another type put in", SHA, (OT,), "p = torch.nn.Parameter(torch.ones(4, device='@D@'))\np.grad = torch.ones(4, device='@D@', dtype=torch.half)\nprint(p.grad)", "(?i)grad|type|dtype"),
    pt("reversed with a step", SHA, (OT,), "x = torch.arange(8, device='@D@')\nprint(x[::-1])", "(?i)step"),
)  # fmt: skip
DET = "torch.use_deterministic_algorithms(True)\n"
NEAR = (OT, SET, SHA, BUG)
enter(
    "always-the-same",
    pt("enlarged pictures, backward", ORD, NEAR, DET + "x = torch.randn(1, 2, 4, 4, device='cuda', requires_grad=True)\nF.interpolate(x, scale_factor=2, mode='bicubic').sum().backward()", "deterministic"),
    pt("three-dimensional pooling, backward", ORD, NEAR, DET + "x = torch.randn(1, 2, 4, 4, 4, device='cuda', requires_grad=True)\nF.max_pool3d(x, 2).sum().backward()", "deterministic"),
    pt("weighted counts", ORD, NEAR, DET + "print(torch.bincount(torch.ones(8, dtype=torch.long, device='cuda'), weights=torch.ones(8, device='cuda')))", "deterministic"),
    pt("sampled grid, backward", ORD, NEAR, DET + "x = torch.randn(1, 2, 4, 4, device='cuda', requires_grad=True)\nF.grid_sample(x, torch.zeros(1, 4, 4, 2, device='cuda'), align_corners=False).sum().backward()", "deterministic"),
    pt("median with its place", ORD, NEAR, DET + "print(torch.randn(4, 8, device='cuda').median(1))", "deterministic"),
    pt("reflected border, backward", ORD, NEAR, DET + "x = torch.randn(1, 2, 8, device='cuda', requires_grad=True)\nF.pad(x[None], (1, 1, 1, 1, 1, 1), mode='replicate').sum().backward()", "deterministic"),
)  # fmt: skip
enter(
    "chance",
    pt("chances above one", IDX, (SHA, OT), "p = torch.full((4,), 1.5, device='cuda')\nprint(torch.bernoulli(p).sum().item())", "(?i)assert|CUDA|range"),
    pt("state of another generator", SHA, (OT, SEL, ORD), "torch.cuda.set_rng_state(torch.ones(5056, dtype=torch.uint8))\nprint(torch.rand(2, device='cuda'))", "(?i)RNG|state|size"),
    pt("spread below nothing", OT, (SHA,), "d = torch.distributions.Normal(torch.zeros(2, device='@D@'), -torch.ones(2, device='@D@'))\nprint(d.sample())", "(?i)scale|constraint"),
    pt("chances that do not add up", OT, (SHA,), "d = torch.distributions.Categorical(probs=torch.tensor([0.5, float('nan')], device='@D@'))\nprint(d.sample())", "(?i)constraint|probs|Simplex"),
    pt("seed of eighty bits", OT, (SHA,), "torch.manual_seed(1 << 80)\nprint(torch.rand(2, device='@D@'))", "(?i)overflow|range|long|int"),
    pt("from and to exchanged", OT, (SHA,), "print(torch.randint(10, 2, (4,), device='@D@'))", "(?i)from|random_"),
    pt("more draws than there are", SHA, (OT, IDX), "print(torch.multinomial(torch.ones(4, device='@D@'), 9))", "(?i)sample|prob_dist|replacement"),
    pt("order of minus three", OT, (SHA,), "print(torch.randperm(-3, device='@D@'))", "(?i)negative|non-negative|n must"),
)  # fmt: skip
enter(
    "switches-in-code",
    pt("linear algebra of another maker", SET, (OT, SHA), "torch.backends.cuda.preferred_linalg_library('mkl')\nprint(torch.ones(2, device='cuda'))", "(?i)mkl|linalg|unknown"),
    pt("products by another library", SET, (OT, SHA), "torch.backends.cuda.preferred_blas_library('openblas')\nprint(torch.ones(2, device='cuda'))", "(?i)openblas|blas|unknown"),
    pt("default type of whole numbers", SET, (OT, SHA), "torch.set_default_dtype(torch.int32)\nprint(torch.ones(2, device='@D@'))", "(?i)floating|default"),
    pt("precision of another name", SET, (OT, SHA, ORD), "torch.backends.cuda.matmul.fp32_precision = 'fastest'\nprint(torch.ones(2, device='@D@'))", "(?i)precision|fastest"),
    pt("threads below one", SET, (OT, SHA), "torch.set_num_threads(0)\nprint(torch.ones(2, device='@D@'))", "(?i)positive|threads"),
    pt("every way of attention off", SET, (ORD, SHA, UNSUP, OT), "from torch.nn.attention import sdpa_kernel\nq = torch.randn(1, 2, 8, 16, device='cuda')\nwith sdpa_kernel([]):\n    print(F.scaled_dot_product_attention(q, q, q).shape)", "(?i)kernel|backend|assert"),
    pt("sharing of another kind", SET, (OT,), "import torch.multiprocessing as mp\nmp.set_sharing_strategy('named_pipe')\nprint(torch.ones(2, device='@D@'))", "(?i)assert|strateg"),
)  # fmt: skip
Q = "q = torch.randn(2, 4, 16, 32, device='@D@')\n"
enter(
    "attention-asked-wrongly",
    pt("fewer heads for the keys", SHA, (), Q + "k = torch.randn(2, 3, 16, 32, device='@D@')\nprint(F.scaled_dot_product_attention(q, k, k, enable_gqa=True).shape)", "(?i)head|size|gqa|divisible|match"),
    pt("mask of whole numbers", SHA, (OT,), Q + "print(F.scaled_dot_product_attention(q, q, q, attn_mask=torch.ones(16, 16, dtype=torch.long, device='@D@')).shape)", "(?i)mask|dtype|type"),
    pt("values of another type", SHA, (), Q + "print(F.scaled_dot_product_attention(q, q.half(), q).shape)", "(?i)dtype|type"),
    pt("query of one axis", SHA, (), "q = torch.randn(32, device='@D@')\nprint(F.scaled_dot_product_attention(q, q, q).shape)", "(?i)dim|size"),
    pt("padding mask turned", SHA, (OT,), "m = torch.nn.MultiheadAttention(32, 4, batch_first=True).to('@D@')\nx = torch.randn(2, 16, 32, device='@D@')\nprint(m(x, x, x, key_padding_mask=torch.zeros(16, 2, dtype=torch.bool, device='@D@'))[0].shape)", "(?i)key_padding_mask|shape|mask"),
    pt("decoder without its memory's width", SHA, (), "d = torch.nn.TransformerDecoderLayer(32, 4).to('@D@')\nprint(d(torch.randn(5, 2, 32, device='@D@'), torch.randn(7, 2, 48, device='@D@')).shape)", "(?i)mat1|shape|embed|expected|dim"),
)  # fmt: skip
M = "m = torch.nn.Linear(4, 4).to('@D@')\n"
enter(
    "optimisers-odd",
    pt("closure forgotten", ORD, (OT,), M + "o = torch.optim.LBFGS(m.parameters())\nm(torch.ones(2, 4, device='@D@')).sum().backward()\no.step()", "(?i)closure"),
    pt("fused and foreach", SET, (OT, ORD), M + "torch.optim.AdamW(m.parameters(), fused=True, foreach=True)", "(?i)fused|foreach"),
    pt("same weight twice", OT, (ORD, SHA), M + "o = torch.optim.SGD([{'params': m.parameters()}, {'params': [m.weight]}], 0.1)", "(?i)more than one parameter group|group"),
    pt("momentum of Nesterov without any", OT, (SET,), M + "torch.optim.SGD(m.parameters(), 0.1, nesterov=True)", "(?i)nesterov"),
    pt("rate below nothing", OT, (SET,), M + "torch.optim.Adam(m.parameters(), lr=-1e-3)", "(?i)learning rate"),
    pt("names for weights", OT, (SHA,), M + "torch.optim.SGD(dict(m.named_parameters()), 0.1)", "(?i)params|iterable|optimi|str|Tensor"),
    pt("sparse gradient", SHA, (OT,), "e = torch.nn.Embedding(8, 4, sparse=True).to('@D@')\no = torch.optim.Adam(e.parameters())\ne(torch.tensor([1, 2], device='@D@')).sum().backward()\no.step()", "(?i)sparse"),
    pt("graph of a step on the host", ORD, (SHA, SEL, OT), "p = torch.nn.Parameter(torch.ones(4))\np.grad = torch.ones(4)\ntorch.optim.Adam([p], capturable=True, foreach=True).step()\nprint(p.cuda())", "(?i)capturable|device"),
)  # fmt: skip
OP = (
    "@torch.library.custom_op('acme::@N@', mutates_args=())\ndef op(x: torch.Tensor) -> torch.Tensor:\n    return @R@\n"
)
enter(
    "own-operators",
    pt("made for the host only", CPU, (SHA, OT, UNSUP, SEL, BUG), "lib = torch.library.Library('acme', 'DEF')\nlib.define('scale(Tensor x) -> Tensor')\nlib.impl('scale', lambda x: x * 2, 'CPU')\nprint(torch.ops.acme.scale(torch.ones(2, device='cuda')))", "(?i)acme::scale"),
    pt("schema with a slip", OT, (SHA, BUG), "lib = torch.library.Library('acme', 'DEF')\nlib.define('scale(Tensr x) -> Tensor')\nprint(torch.ones(2, device='@D@'))", "(?i)Tensr|schema|type"),
    pt("defined twice", OT, (ORD,), "for _ in range(2):\n    lib = torch.library.Library('acme', 'DEF')\n    lib.define('scale(Tensor x) -> Tensor')\n    kept = globals().setdefault('all', [])\n    kept.append(lib)\n", "(?i)acme|regist"),
    pt("gives back what it was given", ORD, (OT, SHA), OP.replace("@N@", "same").replace("@R@", "x") + "print(op(torch.ones(2, device='@D@')))", "(?i)alias|input"),
    pt("no fake for the compiler", ORD, (OT, BUG, SHA), OP.replace("@N@", "nofake").replace("@R@", "x * 2") + "from torch._subclasses.fake_tensor import FakeTensorMode\nwith FakeTensorMode():\n    print(op(torch.ones(2, device='@D@')))", "(?i)fake|acme::nofake"),
    pt("called with another type", SHA, (OT,), OP.replace("@N@", "typed").replace("@R@", "x * 2") + "torch.ones(2, device='@D@')\nprint(torch.ops.acme.typed([1, 2]))", "(?i)acme::typed"),
    pt("never loaded", OT, (BUG, "framework.extension_abi", "install.inconsistent"), "torch.ones(2, device='@D@')\nprint(torch.ops.acme_kernels.flash_norm(torch.ones(2, device='@D@')))", "(?i)acme_kernels"),
)  # fmt: skip
