"""Eleventh operators, other libraries of the field: Lightning, metrics, graphs, equations, Gaussian processes, sampling, ONNX, JAX's neighbours, SciPy beside CuPy."""

from __future__ import annotations

from lab.random.eleventh import BAD, BUG, CPU, IDX, OOM, ORD, OT, SEL, SET, SHA, C, Case, J, T, enter, py

ON = "torch-matmul torch-train"
HERE = "print('on', torch.ones(1, device='@D@').device, flush=True)\n"
PL = "import logging, warnings\nwarnings.simplefilter('ignore')\nimport torch, pytorch_lightning as pl\nclass M(pl.LightningModule):\n    def __init__(self):\n        super().__init__()\n        self.l = torch.nn.Linear(4, 2)\n    def training_step(self, b, i):\n        @STEP@\n    def configure_optimizers(self):\n        return @OPT@\ndata = torch.utils.data.DataLoader(torch.ones(8, 4), batch_size=4)\ndef fit(model=None, **k):\n    base = dict(max_epochs=1, logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False, accelerator='gpu' if '@D@' == 'cuda' else 'cpu', devices=1)\n    pl.Trainer(**{**base, **k}).fit(model or M(), data)\n"


def lit(target: str, cause: str, also: tuple[str, ...], call: str, expect: str, step: str = "return self.l(b).sum()", opt: str = "torch.optim.SGD(self.parameters(), 0.1)") -> Case:  # fmt: skip
    """A small model of Lightning."""
    return py("torch-train", target, cause, also, PL.replace("@STEP@", step).replace("@OPT@", opt) + call + "\n", expect)  # fmt: skip


enter(
    "lightning-trainers",
    lit("four cards asked for", SEL, (OT, SET), "assert '@D@' == 'cuda'\ntorch.ones(1, device='cuda')\nfit(devices=4)", "(?i)gpu|device|machine"),
    lit("third card by its number", SEL, (OT, SET), "assert '@D@' == 'cuda'\ntorch.ones(1, device='cuda')\nfit(devices=[3])", "(?i)gpu|device|machine"),
    lit("accelerator of another name", OT, (SEL, SET), "fit(accelerator='hopper')", "(?i)hopper|accelerator"),
    lit("precision of another name", OT, (SET,), "fit(precision='8-hybrid')", "(?i)precision"),
    lit("accelerator of another maker", SEL, (OT, SET), "fit(accelerator='tpu')", "(?i)tpu|XLA"),
    lit("step without a loss to differentiate", ORD, (OT, SHA), "fit()", "(?i)grad", "return torch.ones(1).sum()"),
    lit("widths that do not fit", SHA, (), "fit()", "(?i)shapes cannot|mat1", "return self.l(b[:, :3]).sum()"),
    lit("labels made on the host", SHA, (SEL,), "assert '@D@' == 'cuda'\ntorch.ones(1, device='cuda')\nfit()", "(?i)same device|device", "return (self.l(b) - torch.ones(4, 2)).sum()"),
    lit("optimiser of nothing", OT, (ORD, SET), "fit()", "(?i)optimizer|SGD|param|empty", opt="torch.optim.SGD([], 0.1)"),
    lit("logged with a wrong word", OT, (ORD,), "fit()", "(?i)log|str|type|can't", "self.log('loss', 'low')\n        return self.l(b).sum()"),
)  # fmt: skip
MET = T + "import torchmetrics\n" + HERE
enter(
    "metrics-and-graphs",
    py(ON, "metric on the host, answers on the card", SHA, (SEL,), "assert '@D@' == 'cuda'\n" + MET + "m = torchmetrics.MeanSquaredError()\nm.update(torch.ones(4, device='cuda'), torch.ones(4, device='cuda'))\nprint(m.compute())\n", "(?i)device"),
    py(ON, "classes never told", OT, (SHA, SET), MET + "torchmetrics.Accuracy(task='multiclass')\n", "(?i)num_classes"),
    py(ON, "label above the classes, found by a check", IDX, (SHA, OT), MET + "m = torchmetrics.Accuracy(task='multiclass', num_classes=3).to('@D@')\nm(torch.rand(4, 3, device='@D@'), torch.tensor([0, 1, 9, 2], device='@D@'))\n", "(?i)target|unique|assert"),
    py(ON, "edge to a node that is not", IDX, (), "assert '@D@' == 'cuda'\n" + T + "from torch_geometric.nn import GCNConv\n" + HERE + "c = GCNConv(4, 2).to('cuda')\nprint(c(torch.ones(5, 4, device='cuda'), torch.tensor([[0, 1], [1, 9]], device='cuda')).sum().item())\n", "(?i)assert|CUDA error|index|bound"),
    py(ON, "edges of three rows", SHA, (OT,), T + "from torch_geometric.nn import GCNConv\n" + HERE + "c = GCNConv(4, 2).to('@D@')\nprint(c(torch.ones(5, 4, device='@D@'), torch.tensor([[0, 1], [1, 2], [2, 0]], device='@D@')))\n", "(?i)edge_index|shape|size|unpack"),
    py(ON, "edges on the host", SHA, (SEL,), "assert '@D@' == 'cuda'\n" + T + "from torch_geometric.nn import GCNConv\n" + HERE + "c = GCNConv(4, 2).to('cuda')\nprint(c(torch.ones(5, 4, device='cuda'), torch.tensor([[0, 1], [1, 2]])))\n", "(?i)device"),
    py(ON, "sampler's library is not here", OT, ("install.inconsistent", "cuda.missing_library"), T + "from torch_geometric.data import Data\nfrom torch_geometric.loader import NeighborLoader\n" + HERE + "d = Data(x=torch.ones(5, 4), edge_index=torch.tensor([[0, 1], [1, 2]]))\nfor b in NeighborLoader(d, [2]):\n    print(b)\n", "(?i)pyg.lib|torch.sparse"),
)  # fmt: skip
enter(
    "equations-and-processes",
    py(ON, "slope of another shape", SHA, (OT,), T + "from torchdiffeq import odeint\n" + HERE + "print(odeint(lambda t, y: torch.ones(3, device='@D@'), torch.ones(4, device='@D@'), torch.linspace(0, 1, 5, device='@D@')))\n", "(?i)shape|size|match|view|invalid"),
    py(ON, "times that do not grow", OT, (SHA,), T + "from torchdiffeq import odeint\n" + HERE + "print(odeint(lambda t, y: -y, torch.ones(4, device='@D@'), torch.tensor([0.0, 0.5, 0.5], device='@D@')))\n", "(?i)increasing|decreasing"),
    py(ON, "method nobody knows", OT, (SET,), T + "from torchdiffeq import odeint\n" + HERE + "print(odeint(lambda t, y: -y, torch.ones(4, device='@D@'), torch.linspace(0, 1, 3, device='@D@'), method='rk17'))\n", "(?i)rk17|method"),
    py(ON, "start and slope on two sides", SHA, (SEL,), "assert '@D@' == 'cuda'\n" + T + "from torchdiffeq import odeint\n" + HERE + "w = torch.ones(4, 4)\nprint(odeint(lambda t, y: w @ y, torch.ones(4, device='cuda'), torch.linspace(0, 1, 3, device='cuda')))\n", "(?i)device"),
    py(ON, "covariance that is not positive", OT, (SHA, "framework.bug"), T + "import gpytorch\n" + HERE + "m = -torch.eye(4, device='@D@')\nd = gpytorch.distributions.MultivariateNormal(torch.zeros(4, device='@D@'), m)\nprint(d.rsample())\n", "(?i)positive|Cholesky|NotPSD"),
    py(ON, "points and values of unlike number", SHA, (OT, ORD), T + "import gpytorch\n" + HERE + "class G(gpytorch.models.ExactGP):\n    def __init__(self, x, y, l):\n        super().__init__(x, y, l)\n        self.mean_module = gpytorch.means.ConstantMean()\n        self.covar_module = gpytorch.kernels.RBFKernel()\n    def forward(self, x):\n        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))\nl = gpytorch.likelihoods.GaussianLikelihood().to('@D@')\ng = G(torch.rand(6, 1, device='@D@'), torch.rand(4, device='@D@'), l).to('@D@')\ng.eval()\nprint(l(g(torch.rand(3, 1, device='@D@'))).mean)\n", "(?i)size|shape|match|expand|batch"),
)  # fmt: skip
NP = (
    J
    + "import numpyro, numpyro.distributions as D\nfrom numpyro.infer import MCMC, NUTS\nprint('on', jax.devices('@J@'), float(jnp.ones(4).sum()), flush=True)\n"
)
JX = "jax-matmul jax-grad"
enter(
    "chains-of-samples",
    py(JX, "more chains than cards, all at once", SEL, (OT, SHA, SET), NP + "from jax.sharding import Mesh\nimport numpy\nMesh(numpy.array(jax.devices('@J@')).reshape(4, 1), ('chain', 'data'))\n", "(?i)reshape|size"),
    py(JX, "begins where nothing is possible", OT, (SHA,), NP + "def f():\n    x = numpyro.sample('x', D.Normal(0, 1))\n    numpyro.factor('c', -jnp.inf)\nm = MCMC(NUTS(f), num_warmup=2, num_samples=2, progress_bar=False)\nm.run(jax.random.PRNGKey(0))\n", "(?i)initial|valid"),
    py(JX, "spread below nothing, checked", OT, (SHA,), NP + "numpyro.enable_validation()\nD.Normal(0, -1.0)\n", "(?i)scale|constraint|invalid"),
    py(JX, "one name for two", OT, (SHA,), NP + "from numpyro.infer.util import log_density\ndef f():\n    numpyro.sample('x', D.Normal(0, 1))\n    numpyro.sample('x', D.Normal(0, 1))\nlog_density(f, (), {}, {'x': 0.5})\n", "(?i)unique|x"),
    py(JX, "data of another length in a plate", SHA, (OT,), NP + "from numpyro.infer.util import log_density\ndef f(y):\n    with numpyro.plate('n', 5):\n        numpyro.sample('y', D.Normal(0, 1), obs=y)\nprint(log_density(f, (jnp.ones(7),), {}, {})[0])\n", "(?i)broadcast|shape|size|plate"),
)  # fmt: skip
OX = "import numpy, onnx, onnxruntime\nfrom onnx import TensorProto as P, helper as h\ndef model(op='Relu', shape=(4,), ir=8, opset=13):\n    v = lambda n: h.make_tensor_value_info(n, P.FLOAT, list(shape))\n    return h.make_model(h.make_graph([h.make_node(op, ['x'], ['y'])], 'g', [v('x')], [v('y')]), opset_imports=[h.make_opsetid('', opset)], ir_version=ir)\ndef load(m, **k):\n    return onnxruntime.InferenceSession(m.SerializeToString(), **k)\nprint('runtime', onnxruntime.get_available_providers(), flush=True)\n"
enter(
    "onnx-sessions",
    py(ON, "another shape than the model has", SHA, (OT,), OX + "load(model(), providers=['CPUExecutionProvider']).run(None, {'x': numpy.ones(7, dtype='f')})\n", "(?i)dimension|shape|INVALID"),
    py(ON, "another type than the model has", SHA, (OT,), OX + "load(model(), providers=['CPUExecutionProvider']).run(None, {'x': numpy.ones(4)})\n", "(?i)type|INVALID"),
    py(ON, "the card demanded of a build without it", CPU, (SEL, OT, SET), OX + "s = load(model(), providers=['CUDAExecutionProvider', 'CPUExecutionProvider'])\nif 'CUDAExecutionProvider' not in s.get_providers():\n    raise RuntimeError(f'CUDAExecutionProvider requested, session has {s.get_providers()}')\n", "(?i)requested, session|CUDAExecutionProvider"),
    py(ON, "bound to the card by a build without it", CPU, (SEL, OT, SHA), OX + "s = load(model(), providers=['CPUExecutionProvider'])\nb = s.io_binding()\nb.bind_output('y', 'cuda', 0)\ns.run_with_iobinding(b)\n", "(?i)cuda|device|allocator|provider"),
    py(ON, "operator nobody knows", OT, (BUG, "install.inconsistent"), OX + "load(model('FlashGelu'), providers=['CPUExecutionProvider'])\n", "(?i)FlashGelu"),
    py(ON, "set of operators of tomorrow", "install.inconsistent", (OT, BUG), OX + "load(model(opset=99), providers=['CPUExecutionProvider'])\n", "(?i)opset|99"),
    py(ON, "model's file is cut", BAD, (OT,), OX + "d = model().SerializeToString()\nopen('m.onnx', 'wb').write(d[:len(d) // 2])\nonnxruntime.InferenceSession('m.onnx', providers=['CPUExecutionProvider'])\n", "(?i)protobuf|INVALID|parsing|failed"),
)  # fmt: skip
SC = C + "import numpy\nx = cupy.arange(12.0).reshape(3, 4)\nprint('norm', float(cupy.linalg.norm(x)), flush=True)\n"
CU = "cupy-matmul cupy-fft"
enter(
    "cupy-beside-numpy",
    py(CU, "given to NumPy without a word", SHA, (OT,), SC + "print(numpy.asarray(x))\n", "(?i)implicit conversion|explicit"),
    py(CU, "given to a loop of compiled code", SHA, (OT,), SC + "import scipy.linalg\nprint(scipy.linalg.expm(x))\n", "(?i)implicit|explicit"),
    py(CU, "both sides in one sum", SHA, (OT, SEL), SC + "print(x + numpy.ones((3, 4)))\n", "(?i)unsupported"),
    py(CU, "truth of many", OT, (SHA,), SC + "if x > 3:\n    print('x')\n", "(?i)truth"),
    py(CU, "words on the card", SHA, (OT,), SC + "print(cupy.array(['a', 'b']))\n", "(?i)dtype|unsupported|U1"),
    py(CU, "index kept on the host", SHA, (OT,), SC + "print(x[[0, 1], numpy.array(['a', 'b'])])\n", "(?i)ind|type|dtype"),
    py(CU, "form changed in place", SHA, (OT, ORD), SC + "b = cupy.broadcast_to(cupy.ones(4), (3, 4))\nx.shape = (5, 5)\n", "(?i)shape|reshape|size"),
    py(CU, "fifth card for a moment", SEL, (OT,), SC + "with cupy.cuda.Device(4):\n    cupy.ones(2)\n", "(?i)device|ordinal|Invalid"),
)  # fmt: skip
MORE = "import os\nos.environ['XLA_PYTHON_CLIENT_MEM_FRACTION'] = '.01'\n" + J + "x = jax.device_put(jnp.ones((4, 3)), jax.devices('@J@')[0])\nprint('on', x.devices(), flush=True)\n"  # fmt: skip


def jx(target: str, cause: str, also: tuple[str, ...], body: str, expect: str) -> Case:
    """A program of JAX that computes first."""
    return py(JX, target, cause, also, MORE + body, expect)


enter(
    "jax-exports",
    jx("another shape than was exported", SHA, (OT,), "from jax import export\ne = export.export(jax.jit(jnp.sin))(x)\nprint(e.call(jnp.ones((5, 3))))\n", "(?i)shape|mismatch"),
    jx("exported for another platform", SEL, (OT, SET, "framework.gpu_unsupported"), "from jax import export\ne = export.export(jax.jit(jnp.sin), platforms=['tpu'])(x)\nprint(e.call(x))\n", "(?i)platform|tpu"),
    jx("bytes that are none", BAD, (OT,), "from jax import export\nexport.deserialize(bytearray(b'<html>proxy</html>' * 20))\n", "(?i)Error"),
    jx("size by a name that cannot be decided", SHA, (OT,), "from jax import export\ns = export.symbolic_shape('b, 3')\ndef f(v):\n    return v if v.shape[0] > 3 else -v\nexport.export(jax.jit(f))(jax.ShapeDtypeStruct(s, jnp.float32))\n", "(?i)inconclusive|symbolic|decided"),
    jx("compiled for one form, called with another", SHA, (OT,), "c = jax.jit(lambda v: v * 2).lower(x).compile()\nprint(c(jnp.ones((2, 3))))\n", "(?i)compiled|shape|differ"),
)  # fmt: skip
enter(
    "jax-given-away",
    jx("used after it was given away", ORD, (OT, SHA), "f = jax.jit(lambda v: v + 1, donate_argnums=0)\nx = jnp.ones((4, 3)) + 1\nf(x)\nprint(x.sum())\n", "(?i)deleted|donated"),
    jx("used after it was deleted", ORD, (OT,), "x.delete()\nprint(x + 1)\n", "(?i)deleted"),
    jx("a traced value kept outside", ORD, (OT,), "kept = []\njax.jit(lambda v: kept.append(v) or v)(x)\nprint(kept[0] + 1)\n", "(?i)leak|escaped|Tracer"),
    jx("written into by an index", OT, (ORD, SHA), "x[0] = 3\n", "(?i)immutable|item assignment"),
    jx("checked and found wrong", OT, (IDX,), "from jax.experimental import checkify\nf = checkify.checkify(lambda v: v[9], errors=checkify.index_checks)\ne, _ = jax.jit(f)(jnp.arange(4))\ne.throw()\n", "(?i)out.of.bounds|index"),
    jx("number that is none, watched for", OT, (SHA,), "jax.config.update('jax_debug_nans', True)\nprint(jnp.log(-x))\n", "(?i)nan"),
)  # fmt: skip
enter(
    "optimisers-and-modules-of-jax",
    jx("shard over an axis that does not divide", SHA, (OT, SEL), "from jax.sharding import NamedSharding, PartitionSpec as P, Mesh\nm = jax.make_mesh((1,), ('d',))\nprint(jax.device_put(x, NamedSharding(m, P('d', None, 'd'))))\n", "(?i)axis|rank|duplicate|dim|mesh|entries"),
    jx("mesh of eight", SEL, (SHA, OT), "m = jax.make_mesh((8,), ('d',))\n", "(?i)device|mesh|size|number"),
    jx("mapped by the old way over four", SEL, (SHA, OT), "print(jax.pmap(lambda v: v + 1)(x))\n", "(?i)device|pmap|size|axis"),
    jx("sum over a name outside", ORD, (OT, SHA), "print(jax.jit(lambda v: jax.lax.psum(v, 'batch'))(x))\n", "(?i)unbound|batch|axis"),
    jx("table of all pairs", OOM, (), "assert '@D@' == 'cuda'\ny = jnp.ones((60000, 64)) * float(len('cuda'))\nprint(jnp.sort((y[:, None, :] * y[None, :, :]), axis=-1).shape)\n", "(?i)RESOURCE_EXHAUSTED|out of memory"),
)  # fmt: skip
