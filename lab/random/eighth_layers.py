"""Eighth operators, layers, arrays handed on between frameworks, numbers without a solution, gradients, cuDNN's own refusals."""

from __future__ import annotations

from lab.random.eighth import ILL, OOM, ORD, OT, SEL, SHA, UNSUP, C, Case, F, J, T, enter

DEEP = "class Block(torch.nn.Module):\n    def __init__(self, inner):\n        super().__init__()\n        self.inner = inner\n    def forward(self, x):\n        return self.inner(x)\nmodel = torch.nn.Sequential(Block(torch.nn.Identity()), Block(Block({0}))).to('@D@')\nprint('parameters', sum(p.numel() for p in model.parameters()), flush=True)\nprint(model({1}).shape)\n"


def deep(target: str, layer: str, given: str, expect: str) -> Case:
    """A layer inside a model of blocks, given something of another shape."""
    return Case("torch-train", target, SHA, (), code=T + DEEP.format(layer, given), expect=expect)


enter(
    "layers-refuse",
    deep("normalised over another width", "torch.nn.LayerNorm(48)", "torch.randn(4, 10, 64, device='@D@')", "normalized_shape|shape"),
    deep("groups that do not divide", "torch.nn.GroupNorm(4, 32)", "torch.randn(2, 24, 8, 8, device='@D@')", "channels|weight"),
    deep("sequence of another width", "torch.nn.TransformerEncoderLayer(32, 4, batch_first=True)", "torch.randn(2, 7, 48, device='@D@')", "shape|embed|expect"),
    deep("picture smaller than the window", "torch.nn.Conv2d(3, 8, 11)", "torch.randn(1, 3, 8, 8, device='@D@')", "ernel size"),
    deep("pooled to less than nothing", "torch.nn.MaxPool2d(16)", "torch.randn(1, 3, 8, 8, device='@D@')", "(?i)size"),
    deep("one value per channel while training", "torch.nn.BatchNorm1d(16)", "torch.randn(1, 16, device='@D@')", "more than 1 value"),
    deep("colours last", "torch.nn.Conv2d(3, 8, 3)", "torch.randn(2, 32, 32, 3, device='@D@')", "channels"),
    deep("whole numbers into a layer", "torch.nn.Linear(8, 8)", "torch.ones(2, 8, dtype=torch.long, device='@D@')", "dtype|type"),
)  # fmt: skip
enter(
    "arrays-handed-on",
    Case("cupy-matmul", "NumPy's array to CuPy's function", SHA, (SEL, OT), code="import numpy\n" + C + "print(cupy.matmul(cupy.ones((4, 4)), numpy.ones((4, 4))))\n", expect="ndarray|type|Unsupported"),
    Case("cupy-matmul", "CuPy's array to NumPy's function", SHA, (SEL, OT), code="import numpy\n" + C + "x = cupy.ones((4, 4))\nprint(numpy.asarray(x).sum())\n", expect="[Ii]mplicit conversion"),
    Case("torch-graph", "tensor on the card drawn as a picture", SHA, (SEL, OT), code="import numpy\n" + T + "heat = torch.rand(8, 8, device='cuda')\nprint(numpy.histogram(heat, bins=4))\n", expect="numpy|host memory|cpu"),
    Case("torch-graph", "tensor with a history to NumPy", ORD, (OT, SHA), code=T + "w = torch.rand(8, requires_grad=True)\ny = (w * 2).to('cuda').cpu()\nprint(y.numpy())\n", expect="detach"),
    Case("jax-matmul", "torch's strided tensor to JAX", SHA, (OT, SEL, UNSUP), code=T + J + "t = torch.ones(8, 8, dtype=torch.complex128, device='@D@')[:, ::2]\nprint(jax.dlpack.from_dlpack(t.conj()).shape)\n", expect="(?i)conj|stride|dlpack|layout|support"),
    Case("torch-graph", "tensor's words for a list", OT, (SHA, SEL), code=T + "ids = torch.arange(4, device='cuda')\nnames = ['a', 'b', 'c', 'd', 'e']\nprint([names[i] for i in ids.float()])\n", expect="ndices|integer|index"),
    Case("cupy-raw", "array of another type to a kernel", SHA, (OT,), code=C + "f = cupy.ElementwiseKernel('float32 x', 'float32 y', 'y = x * 2', 'dbl')\nprint(f(cupy.arange(6, dtype='D')))\n", expect="(?i)type|cast"),
)  # fmt: skip
enter(
    "no-solution",
    Case("torch-solve", "matrix that is not positive", OT, (SHA,), code=T + "a = -torch.eye(6, device='@D@')\nprint(torch.linalg.cholesky(a).sum().item())\n", expect="positive"),
    Case("torch-solve", "matrix without an inverse", OT, (SHA,), code=T + "a = torch.ones(5, 5, device='@D@')\nprint(torch.linalg.inv(a).sum().item())\n", expect="singular|invert"),
    Case("torch-solve", "singular values of what is no number", OT, (SHA,), code=T + "a = torch.full((6, 6), float('nan'), device='@D@')\nprint(torch.linalg.eigh(a).eigenvalues.sum().item())\n", expect="(?i)converge|nan|ill-condition|linalg"),
    Case("cupy-svd", "matrix that is not positive", OT, (SHA,), code="import cupyx\n" + C + "with cupyx.errstate(linalg='raise'):\n    print(cupy.linalg.cholesky(-cupy.eye(4)))\n", expect="(?i)linalg|positive"),
    Case("torch-train", "gradient watched and none found", OT, (SHA, ORD), code=T + "torch.autograd.set_detect_anomaly(True)\nw = torch.zeros(4, device='@D@', requires_grad=True)\n(w.sqrt() * 0).sum().backward()\n", expect="nan"),
    Case("torch-train", "own function returns too many gradients", OT, (SHA, ORD), code=T + "class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        return g * 2, g, g\nx = torch.ones(3, device='@D@', requires_grad=True)\nTwice.apply(x).sum().backward()\n", expect="gradients"),
    Case("torch-train", "clipped where the norm is none", OT, (SHA,), code=T + "m = torch.nn.Linear(4, 4).to('@D@')\nm(torch.full((1, 4), float('inf'), device='@D@')).sum().backward()\ntorch.nn.utils.clip_grad_norm_(m.parameters(), 1.0, error_if_nonfinite=True)\n", expect="non-finite"),
)  # fmt: skip
enter(
    "cudnn-asked-wrongly",
    Case("torch-train", "weights left on the host", SHA, (SEL,), code=F + "x = torch.randn(2, 3, 16, 16, device='cuda')\nprint(F.conv2d(x, torch.randn(4, 3, 3, 3)).shape)\n", expect="type|device"),
    Case("torch-train", "recurrent state on the host", SHA, (SEL,), code=T + "r = torch.nn.LSTM(8, 16).to('cuda')\nprint(r(torch.randn(5, 2, 8, device='cuda'), (torch.zeros(1, 2, 16), torch.zeros(1, 2, 16)))[0].shape)\n", expect="device"),
    Case("torch-train", "lengths on the card", SHA, (SEL, OT), code=T + "x = torch.randn(2, 5, 4, device='cuda')\nprint(torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 3], device='cuda'), batch_first=True))\n", expect="lengths|CPU"),
    Case("torch-train", "gradient through a recurrent net that only infers", ORD, (OT,), code=T + "r = torch.nn.GRU(8, 16).to('cuda').eval()\nx = torch.randn(5, 2, 8, device='cuda', requires_grad=True)\nr(x)[0].sum().backward()\nprint(x.grad.norm().item())\n", expect="cudnn RNN backward|training"),
    Case("torch-train", "labels of CTC longer than the sound", SHA, (OT, "program.index"), code=F + "p = torch.randn(10, 2, 6, device='cuda').log_softmax(2)\nprint(F.ctc_loss(p, torch.ones(2, 4, dtype=torch.long, device='cuda'), torch.tensor([20, 20]), torch.tensor([4, 4])).item())\n", expect="(?i)length"),
    Case("torch-train", "output so large that no algorithm has room", OOM, (SHA,), code=F + "x = torch.randn(1, 8, 1 << 13, 1 << 13, device='cuda', dtype=torch.half)\nw = torch.randn(1 << 16, 8, 3, 3, device='cuda', dtype=torch.half)\nprint(F.conv2d(x, w).shape)\n", expect="(?i)memory|INT|large"),
    Case("jax-conv", "channels that do not fit", SHA, (OT,), code=J + "print(jax.lax.conv(jnp.ones((1, 3, 8, 8)), jnp.ones((4, 5, 3, 3)), (1, 1), 'SAME').shape)\n", expect="(?i)feature|channel|dim"),
    Case("torch-train", "padding mode of another release", OT, (SHA, ILL), code=F + "x = torch.randn(1, 3, 8, 8, device='cuda')\nprint(F.pad(x, (1, 1, 1, 1), mode='mirror').shape)\n", expect="(?i)mode|padding"),
)  # fmt: skip
