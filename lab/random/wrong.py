"""Operators on the program itself: a wrong call, drawn with its numbers; the machine is healthy."""

from __future__ import annotations

import random

from lab.random.draw import Draw, Machine, operator


def _draw(
    rng: random.Random, machine: Machine, name: str, rows: tuple[tuple[str, str, str, tuple[str, ...]], ...]
) -> Draw | None:
    rows = tuple(row for row in rows if machine.programs(row[0]))
    if not rows:
        return None
    prefix, code, cause, also = rng.choice(rows)
    number, small = rng.choice((1500, 2048, 4096, 70000)), rng.randrange(2, 9)
    text = code.replace("@N@", str(number)).replace("@S@", str(small)).replace("@D@", machine.device)
    program = f"{prefix}-wrong"
    return Draw(name, code.splitlines()[-1][:80], program, cause, also, code=text)


RAW = "import cupy\nk = cupy.RawKernel('extern \"C\" __global__ void k(float* p, int n) {{ {0} }}', 'k')\nx = cupy.zeros(64, dtype='f')\n"
NUMBA = "import numpy\nfrom numba import cuda\n"
LAUNCH = (
    (
        "cupy",
        RAW.format("p[0] = n;") + "k((1,), (@N@,), (x, 1))\ncupy.cuda.runtime.deviceSynchronize()",
        "program.launch",
        (),
    ),
    (
        "cupy",
        RAW.format("p[0] = n;")
        + "k((1,), (32,), (x, 1), shared_mem=@N@ * 1024)\ncupy.cuda.runtime.deviceSynchronize()",
        "program.launch",
        ("memory.oom",),
    ),
    (
        "cupy",
        RAW.format("__shared__ float s[@N@ * 64]; s[n] = n; p[0] = s[0];") + "k((1,), (32,), (x, 1))",
        "program.launch",
        ("program.build",),
    ),
    (
        "numba-kernel",
        NUMBA + "@cuda.jit\ndef f(x):\n    x[0] = 1\nf[1, @N@](cuda.to_device(numpy.zeros(8)))\ncuda.synchronize()",
        "program.launch",
        (),
    ),
    (
        "numba-kernel",
        NUMBA + "@cuda.jit\ndef f(x):\n    x[0] = 1\nf[0, 32](cuda.to_device(numpy.zeros(8)))\ncuda.synchronize()",
        "program.launch",
        (),
    ),
    (
        "numba-kernel",
        NUMBA
        + "from numba import float64\n@cuda.jit\ndef f(x):\n    s = cuda.shared.array(200000, float64)\n    s[cuda.threadIdx.x] = 1\n    x[0] = s[0]\nf[1, 32](cuda.to_device(numpy.zeros(8)))\ncuda.synchronize()",
        "program.launch",
        ("cuda.compiler_missing", "program.build"),
    ),
    (
        "triton",
        "import torch, triton, triton.language as tl\n@triton.jit\ndef f(x, B: tl.constexpr):\n    i = tl.arange(0, B)\n    a = tl.load(x + i[:, None] * B + i[None, :])\n    tl.store(x + i[:, None] * B + i[None, :], tl.dot(a, a))\nf[(1,)](torch.ones(512, 512, device='cuda'), B=512)\ntorch.cuda.synchronize()",
        "program.launch",
        ("memory.oom",),
    ),
)
ACCESS = (
    (
        "cupy",
        RAW.format("p[(long long)n << 36] = 1;") + "k((1,), (1,), (x, @S@))\nprint(float(x.sum()))",
        "program.illegal_access",
        (),
    ),
    (
        "cupy",
        RAW.format("*(double*)((char*)p + n) = 1;") + "k((1,), (1,), (x, 3))\nprint(float(x.sum()))",
        "program.illegal_access",
        (),
    ),
    (
        "cupy",
        RAW.format('asm("trap;");') + "k((1,), (1,), (x, @S@))\nprint(float(x.sum()))",
        "program.illegal_access",
        ("program.index",),
    ),
    (
        "cupy",
        RAW.format("float* q = 0; q[n] = 1;") + "k((1,), (1,), (x, @S@))\nprint(x.get()[0])",
        "program.illegal_access",
        (),
    ),
    (
        "numba-kernel",
        NUMBA
        + "@cuda.jit\ndef f(x):\n    x[cuda.grid(1) + 10**12] = 1\nx = cuda.to_device(numpy.zeros(8))\nf[1, 32](x)\nprint(x.copy_to_host())",
        "program.illegal_access",
        (),
    ),
    (
        "triton",
        "import torch, triton, triton.language as tl\n@triton.jit\ndef f(x):\n    tl.store(x + 987654321012, 1.0)\nx = torch.ones(8, device='cuda')\nf[(1,)](x)\nprint(x.sum().item())",
        "program.illegal_access",
        (),
    ),
)
INDEX = (
    (
        "torch",
        "import torch\nt = torch.nn.Embedding(@S@, 4).to('@D@')\nprint(t(torch.tensor([0, @N@], device='@D@')).sum().item())",
        "program.index",
        (),
    ),
    (
        "torch",
        "import torch\nx = torch.randn(@S@, 3, device='@D@')\nprint(torch.nn.functional.nll_loss(x, torch.full((@S@,), @S@ + 5, device='@D@')).item())",
        "program.index",
        (),
    ),
    (
        "torch",
        "import torch\nx = torch.zeros(@S@, device='@D@')\nx.index_add_(0, torch.tensor([@N@], device='@D@'), torch.ones(1, device='@D@'))\nprint(x.sum().item())",
        "program.index",
        (),
    ),
    (
        "torch",
        "import torch\nx = torch.zeros(4, @S@, device='@D@').scatter(1, torch.full((4, 1), -@S@, device='@D@'), 1.0)\nprint(x.sum().item())",
        "program.index",
        (),
    ),
    (
        "torch",
        "import torch\nx = torch.arange(@S@, device='@D@')[torch.tensor([@N@], device='@D@')]\nprint(x)",
        "program.index",
        (),
    ),
    (
        "torch",
        "import torch\nprint(torch.bernoulli(torch.full((4,), 1.0 + @S@, device='@D@')))",
        "program.index",
        ("program.shape", "program.illegal_access"),
    ),
    (
        "torch",
        "import torch\np = torch.full((4, @S@), -1.0, device='@D@')\nprint(torch.multinomial(p, 1))",
        "program.index",
        ("program.shape", "program.illegal_access"),
    ),
)
SHAPE = (
    (
        "torch",
        "import torch\nprint(torch.randn(@S@, 7, device='@D@') @ torch.randn(@S@ + 9, 3, device='@D@'))",
        "program.shape",
        (),
    ),
    (
        "torch",
        "import torch\nprint(torch.nn.LSTM(@S@, 4).to('@D@')(torch.randn(5, 2, @S@ + 1, device='@D@')))",
        "program.shape",
        (),
    ),
    (
        "torch",
        "import torch\nprint(torch.cat([torch.ones(2, @S@, device='@D@'), torch.ones(2, @S@ + 1, device='@D@')]))",
        "program.shape",
        (),
    ),
    (
        "torch",
        "import torch\nprint(torch.nn.Conv1d(@S@, 4, 3).to('@D@')(torch.randn(2, @S@ + 1, 9, device='@D@')))",
        "program.shape",
        (),
    ),
    (
        "torch-matmul",
        "import torch\nprint(torch.nn.Linear(4, 4)(torch.ones(2, 4, device='cuda')))",
        "program.shape",
        ("device.selection",),
    ),
    (
        "torch",
        "import torch\nprint(torch.nn.Linear(4, 4).to('@D@').double()(torch.ones(2, 4, device='@D@')))",
        "program.shape",
        (),
    ),
    ("jax", "import jax, jax.numpy as jnp\nprint(jnp.ones((@S@, 3)) @ jnp.ones((@S@ + 4, 2)))", "program.shape", ()),
    (
        "jax",
        "import jax, jax.numpy as jnp\nprint(jax.lax.conv(jnp.ones((1, @S@, 8, 8)), jnp.ones((4, @S@ + 1, 3, 3)), (1, 1), 'SAME'))",
        "program.shape",
        (),
    ),
    ("cupy", "import cupy\nprint(cupy.ones((@S@, 3)) @ cupy.ones((@S@ + 4, 2)))", "program.shape", ("other.not_gpu",)),
    (
        "onnx",
        "import numpy, onnxruntime\nfrom onnx import TensorProto as T, helper as h\nv = lambda n: h.make_tensor_value_info(n, T.FLOAT, [4])\nm = h.make_model(h.make_graph([h.make_node('Relu', ['x'], ['y'])], 'g', [v('x')], [v('y')]), opset_imports=[h.make_opsetid('', 13)], ir_version=8)\ns = onnxruntime.InferenceSession(m.SerializeToString())\nprint(s.run(None, {'x': numpy.ones(@S@ + 4, dtype='f')}))",
        "program.shape",
        ("other.not_gpu",),
    ),
)
ORDER = (
    (
        "torch-graph",
        "import torch\nx = torch.ones(4, device='cuda')\nwith torch.cuda.graph(torch.cuda.CUDAGraph()):\n    print((x * 2).sum().item())",
        "program.order",
        (),
    ),
    (
        "torch-graph",
        "import torch\nx = torch.ones(4, device='cuda')\nwith torch.cuda.graph(torch.cuda.CUDAGraph()):\n    y = x.cpu()",
        "program.order",
        (),
    ),
    (
        "torch-graph",
        "import torch\nx = torch.ones(@S@, device='cuda')\nwith torch.cuda.graph(torch.cuda.CUDAGraph()):\n    torch.cuda.synchronize()",
        "program.order",
        (),
    ),
    (
        "cupy",
        "import cupy\ns = cupy.cuda.Stream(non_blocking=True)\nwith s:\n    s.begin_capture()\n    s.synchronize()\n    s.end_capture()",
        "program.order",
        (),
    ),
    (
        "jax",
        "import jax\nimport jax.numpy as jnp\njnp.ones(2)\njax.distributed.initialize('127.0.0.1:1', 1, 0)",
        "program.order",
        ("distributed.peer",),
    ),
    (
        "torch",
        "import torch\nx = torch.ones(2, device='@D@', requires_grad=True)\ny = (x * 2).sum()\ny.backward()\ny.backward()",
        "program.order",
        ("other.not_gpu", "program.shape"),
    ),
    (
        "torch-deterministic",
        "import torch\ntorch.use_deterministic_algorithms(True)\nx = torch.ones(4, 8, 8, 8, device='cuda', requires_grad=True)\ntorch.nn.functional.adaptive_avg_pool2d(x, 2).sum().backward()",
        "program.order",
        ("other.not_gpu", "framework.bug", "env.setting"),
    ),
)
FORK = (
    (
        "torch-matmul",
        "import multiprocessing as m, sys, torch\nx = torch.ones(2, device='cuda')\nif __name__ == '__main__':\n    p = m.get_context('fork').Process(target=lambda: print((x + 1).sum().item()))\n    p.start()\n    p.join()\n    sys.exit(p.exitcode)",
        "program.fork",
        (),
    ),
    (
        "torch-matmul",
        "import os, sys, torch\ntorch.cuda.init()\nif os.fork() == 0:\n    print(torch.zeros(3, device='cuda'))\n    os._exit(0)\nsys.exit(os.waitstatus_to_exitcode(os.wait()[1]))",
        "program.fork",
        (),
    ),
    (
        "cupy",
        "import concurrent.futures as f, cupy, multiprocessing as m\ncupy.ones(3).sum()\ndef work(i): return float(cupy.ones(i).sum())\nif __name__ == '__main__':\n    print(list(f.ProcessPoolExecutor(2, m.get_context('fork')).map(work, [1, 2])))",
        "program.fork",
        (),
    ),
    (
        "torch-loader",
        "import torch\nfrom torch.utils.data import DataLoader, Dataset\ntorch.zeros(1, device='cuda')\nclass S(Dataset):\n    def __len__(self): return 4\n    def __getitem__(self, i): return torch.ones(2, device='cuda') * i\nfor x in DataLoader(S(), num_workers=1): print(x)",
        "program.fork",
        (),
    ),
)
DEVICE = (
    ("torch-matmul", "import torch\ntorch.cuda.set_device(@S@)", "device.selection", ()),
    ("torch-matmul", "import torch\nprint(torch.ones(2).to('cuda:@S@'))", "device.selection", ()),
    ("cupy", "import cupy\nwith cupy.cuda.Device(@S@):\n    print(cupy.ones(2))", "device.selection", ()),
    (
        "jax",
        "import jax\nprint(jax.devices('@J@')[@S@])".replace("@J@", "gpu"),
        "device.selection",
        ("program.index", "other.not_gpu"),
    ),
    ("numba-kernel", "from numba import cuda\ncuda.select_device(@S@)", "device.selection", ("program.index",)),
    ("torch-matmul", "import torch\nprint(torch.ones(2, device='gpu'))", "device.selection", ("other.not_gpu",)),
)
TOO_MUCH = (
    ("torch-matmul", "import torch\nx = torch.empty(@N@ * 2**30, dtype=torch.uint8, device='cuda')", "memory.oom", ()),
    (
        "torch-matmul",
        "import torch\nx = torch.randn(300000, 300000, device='cuda')\nprint((x @ x).sum())",
        "memory.oom",
        (),
    ),
    ("cupy", "import cupy\nprint(cupy.zeros((@N@, 2**30), dtype='u1').sum())", "memory.oom", ()),
    ("jax", "import jax.numpy as jnp\nprint(jnp.zeros((@N@, 2**28)).sum())", "memory.oom", ()),
    (
        "numba-kernel",
        "from numba import cuda\nimport numpy\nx = cuda.device_array((@N@, 2**30), dtype=numpy.uint8)",
        "memory.oom",
        (),
    ),
    (
        "torch-matmul",
        "import torch\ntorch.cuda.set_per_process_memory_fraction(0.001)\nx = torch.empty(4 * 2**30, dtype=torch.uint8, device='cuda')",
        "memory.oom",
        ("env.setting", "env.limit"),
    ),
)
PLAIN = (
    (
        "torch",
        "import torch, json\nx = torch.ones(4, device='@D@')\nprint('loss', x.sum().item())\njson.loads('{\"lr\": 0.1,}')",
        "other.not_gpu",
        (),
    ),
    (
        "torch",
        "import torch, sys\nprint(torch.ones(4, device='@D@').mean().item())\nsys.exit(@S@)",
        "other.not_gpu",
        ("healthy",),
    ),
    ("jax", "import jax.numpy as jnp\nprint(jnp.ones(4).sum())\n{}['weights']", "other.not_gpu", ()),
    ("cupy", "import cupy\nprint(float(cupy.ones(4).sum()))\nopen('data/train.csv')", "other.not_gpu", ()),
    (
        "torch",
        "import torch\ntry:\n    raise torch.OutOfMemoryError('CUDA out of memory. Tried to allocate 20.00 GiB')\nexcept torch.OutOfMemoryError as e:\n    print('caught:', e)\nassert len([]) == @S@, 'no samples found'",
        "other.not_gpu",
        (),
    ),
    (
        "torch-train",
        "import torch, argparse\np = argparse.ArgumentParser()\np.add_argument('--epochs', type=int, required=True)\nprint(torch.cuda.is_available())\np.parse_args()",
        "other.not_gpu",
        (),
    ),
    (
        "triton",
        "import torch, triton\nprint(triton.__version__)\nraise NotImplementedError('backward of my kernel')",
        "other.not_gpu",
        (),
    ),
    (
        "torch",
        "import torch\nm = torch.nn.Linear(2, 2).to('@D@')\nm.load_state_dict({'w': torch.ones(2)})",
        "other.not_gpu",
        ("program.shape",),
    ),
)


def _enter(name: str, part: str, rows: tuple[tuple[str, str, str, tuple[str, ...]], ...]) -> None:
    operator(name, part)(lambda rng, machine: _draw(rng, machine, name, rows))


_enter("wrong-launch", "judge", LAUNCH)
_enter("wrong-access", "tune", ACCESS)
_enter("wrong-index", "judge", INDEX)
_enter("wrong-shape", "tune", SHAPE)
_enter("wrong-order", "judge", ORDER)
_enter("wrong-process", "tune", FORK)
_enter("wrong-device", "judge", DEVICE)
_enter("too-much", "tune", TOO_MUCH)
_enter("plain-error", "judge", PLAIN)
