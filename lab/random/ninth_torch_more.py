"""Ninth operators, around PyTorch: host arrays, files of weights, transforms, profilers, captures of libraries, built sources, vision."""

from __future__ import annotations

from lab.random.ninth import (
    BAD,
    BUG,
    BUILD,
    COMPILER,
    CPU,
    FORK,
    IDX,
    LIM,
    ORD,
    OT,
    PATH,
    SEL,
    SET,
    SHA,
    UNSUP,
    Case,
    enter,
)
from lab.random.ninth_torch import pt

NP = "import numpy\n"
enter(
    "arrays-from-elsewhere",
    pt("turned round", SHA, (OT,), NP + "a = numpy.arange(8.0)[::-1]\nprint(torch.from_numpy(a).to('@D@'))", "(?i)negative|stride"),
    pt("of the other byte order", SHA, (OT,), NP + "a = numpy.arange(4, dtype='>f4')\nprint(torch.from_numpy(a).to('@D@'))", "(?i)byte order"),
    pt("of objects", SHA, (OT,), NP + "a = numpy.array([1.0, None, 'x'], dtype=object)\nprint(torch.from_numpy(a).to('@D@'))", "(?i)object"),
    pt("of dates", SHA, (OT,), NP + "a = numpy.array(['2026-01-01'], dtype='datetime64[D]')\nprint(torch.as_tensor(a, device='@D@'))", "(?i)datetime|convert"),
    pt("fields of a record", SHA, (OT,), NP + "a = numpy.zeros(4, dtype=[('x', 'f4'), ('y', 'i4')])\nprint(torch.tensor(a, device='@D@'))", "(?i)void|convert|type"),
    pt("bytes that end too early", SHA, (OT,), "print(torch.frombuffer(bytearray(10), dtype=torch.float64, count=4).to('@D@'))", "(?i)buffer|length"),
    pt("rows of unlike length", SHA, (OT,), "print(torch.tensor([[1, 2, 3], [4, 5]], device='@D@'))", "(?i)expected sequence|length"),
    pt("none among numbers", SHA, (OT,), "print(torch.tensor([0.1, None, 0.3], device='@D@'))", "(?i)None|real number|float"),
    pt("frame of strings", SHA, (OT,), NP + "a = numpy.array([['4', 'cat']])\nprint(torch.from_numpy(a).float().to('@D@'))", "(?i)str|type"),
)  # fmt: skip
W = "torch.save({'w': torch.ones(64, 64, device='@D@'), 'step': 3}, 'm.pt')\nimport os, pickle, zipfile\n"
enter(
    "weights-on-disk",
    pt("mapped and cut", OT, (BAD, LIM), W + "os.truncate('m.pt', 9000)\nprint(torch.load('m.pt', mmap=True)['w'].sum())", "(?i)zip|archive|central|PytorchStream"),
    pt("another archive", OT, (BAD,), "import zipfile\nwith zipfile.ZipFile('m.pt', 'w') as z:\n    z.writestr('model.onnx', b'x' * 100)\nprint(torch.load('m.pt', map_location='@D@'))", "(?i)data.pkl|archive|file|locate"),
    pt("one record is gone", OT, (BAD,), W + "with zipfile.ZipFile('m.pt') as a, zipfile.ZipFile('n.pt', 'w') as b:\n    for i in a.infolist():\n        if not i.filename.endswith('data/0'):\n            b.writestr(i.filename, a.read(i))\nprint(torch.load('n.pt'))", "(?i)data/0|record|archive"),
    pt("a pointer of large-file storage", OT, (BAD,), "open('m.pt', 'w').write('version https://git-lfs.github.com/spec/v1\\noid sha256:4d7a\\nsize 1331\\n')\nprint(torch.load('m.pt', map_location='@D@'))", "(?i)Unpickl|weights_only|pickle"),
    pt("one bit turned", OT, (BAD,), W + "b = bytearray(open('m.pt', 'rb').read())\nk = b.find(b'data.pkl') + 60\nb[k:k + 30] = bytes(30)\nopen('m.pt', 'wb').write(b)\nprint(torch.load('m.pt')['w'].sum())\n", ""),
    pt("a plain pickle with a function", OT, (BAD, BUG), "import os, pickle\npickle.dump({'f': os.getcwd, 'x': 1}, open('m.pt', 'wb'))\nprint(torch.load('m.pt', map_location='@D@'))", "(?i)weights_only|unsupported|global"),
    pt("half of the names", OT, (SHA, BAD), "m = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)).to('@D@')\ns = {k: v for k, v in m.state_dict().items() if 'running' not in k}\nm.load_state_dict(s)", "(?i)Missing key"),
    pt("folder in the file's place", OT, (PATH, LIM, BAD), "import os\nos.makedirs('m.pt')\ntorch.save({'w': torch.ones(2, device='@D@')}, 'm.pt')", "(?i)directory|m.pt"),
    pt("tensors sent through a pipe that closed", OT, (LIM,), "import os\nr, w = os.pipe()\nos.close(r)\nwith os.fdopen(w, 'wb') as f:\n    torch.save(torch.ones(9, device='@D@'), f)", "(?i)pipe|errno|seek|write"),
)  # fmt: skip
enter(
    "function-transforms",
    pt("axis that one input has not", SHA, (OT, IDX), "print(torch.vmap(lambda a, b: a + b, in_dims=(0, 2))(torch.ones(3, 2, device='@D@'), torch.ones(3, 2, device='@D@')))", "(?i)in_dim|dim"),
    pt("batches of unlike size", SHA, (OT,), "print(torch.vmap(torch.dot)(torch.ones(3, 2, device='@D@'), torch.ones(4, 2, device='@D@')))", "(?i)size|vmap"),
    pt("a number taken out inside", ORD, (OT,), "print(torch.vmap(lambda a: a * a.sum().item())(torch.ones(3, 2, device='@D@')))", "(?i)item|vmap"),
    pt("chance inside, not allowed", ORD, (OT, SET), "print(torch.vmap(lambda a: a + torch.rand(2, device='@D@'))(torch.ones(3, 2, device='@D@')))", "(?i)random"),
    pt("gradient of a vector", SHA, (OT,), "print(torch.func.grad(lambda a: a * 2)(torch.ones(3, device='@D@')))", "(?i)scalar|grad"),
    pt("weights under other names", OT, (SHA,), "m = torch.nn.Linear(2, 2).to('@D@')\nprint(torch.func.functional_call(m, {'kernel': torch.ones(2, 2, device='@D@')}, torch.ones(1, 2, device='@D@'), strict=True))", "(?i)kernel|unexpected|missing"),
    pt("product of a Jacobian of another size", SHA, (OT,), "print(torch.func.jvp(torch.sin, (torch.ones(3, device='@D@'),), (torch.ones(4, device='@D@'),)))", "(?i)shape|size|tangent"),
    pt("traced for another rank", SHA, (OT, ORD), "from torch.fx import symbolic_trace\ndef f(x):\n    return x * 2 if x.sum() > 0 else x\nprint(symbolic_trace(f)(torch.ones(2, device='@D@')))", "(?i)symbolically traced|control flow"),
    pt("exported with a branch on data", ORD, (OT, SHA, BUG), "class M(torch.nn.Module):\n    def forward(self, x):\n        return x.sin() if x.sum() > 0 else x\nprint(torch.export.export(M(), (torch.ones(2, device='@D@'),)))", "(?i)data-dependent|Could not guard|control flow|dynamic"),
)  # fmt: skip
enter(
    "watchers",
    pt("profile ended before it began", ORD, (OT,), "torch.ones(2, device='@D@')\nfrom torch.profiler import profile\np = profile()\nprint(p.key_averages())\n", "(?i)profil"),
    pt("schedule without a wait", OT, (SET, ORD), "torch.ones(2, device='@D@')\nfrom torch.profiler import profile, schedule\nprofile(schedule=schedule(wait=-1, warmup=0, active=0))", "(?i)assert|schedule|invalid"),
    pt("trace into a folder that is none", OT, (LIM, PATH), "torch.ones(2, device='@D@')\nfrom torch.profiler import profile\nwith profile() as p:\n    torch.ones(8, device='@D@').sum()\np.export_chrome_trace('/proc/none/trace.json')\nimport os\nif not os.path.exists('/proc/none/trace.json'):\n    raise FileNotFoundError('/proc/none/trace.json')", "(?i)none/trace"),
    pt("memory history of another kind", OT, (SET, SHA), "torch.ones(2, device='cuda')\ntorch.cuda.memory._record_memory_history(enabled='everything')\ntorch.cuda.memory._dump_snapshot('s.pkl')", "(?i)everything|enabled|expected|history"),
    pt("snapshot into a closed place", LIM, (OT, PATH), "torch.cuda.memory._record_memory_history()\ntorch.ones(2, device='cuda')\ntorch.cuda.memory._dump_snapshot('/proc/none/s.pkl')", "(?i)none/s.pkl"),
    pt("clock of events on the host", ORD, (SEL, OT, SHA), "e = torch.Event(device='cpu', enable_timing=True)\ne.record()\nprint(e.elapsed_time(e))", "(?i)cpu|backend|support|event|device"),
    pt("hook on what has no gradient", ORD, (OT,), "x = torch.ones(2, device='@D@')\nx.register_hook(print)", "(?i)hook|require"),
    pt("copied with its history", ORD, (OT,), "import copy\nx = torch.ones(2, device='@D@', requires_grad=True) * 2\nprint(copy.deepcopy(x))", "(?i)deepcopy|graph leaves"),
)  # fmt: skip
CAP = "@BEFORE@torch.cuda.synchronize()\ng = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(g):\n    @IN@"


def captured(target: str, before: str, inside: str) -> Case:
    """A call inside a capture that needs the host's answer."""
    return pt(
        target, ORD, (), CAP.replace("@BEFORE@", before + "\n").replace("@IN@", inside), "(?i)captur", "torch-graph"
    )


enter(
    "captured-calls",
    captured("distinct values", "x = torch.arange(8, device='cuda')", "y = torch.unique(x)"),
    captured("eigenvalues", "a = torch.eye(8, device='cuda')\ntorch.linalg.eigh(a)", "w = torch.linalg.eigh(a)[0].cpu()"),
    captured("rows repeated", "x = torch.ones(3, device='cuda')\nr = torch.tensor([1, 2, 3], device='cuda')", "y = torch.repeat_interleave(x, r)"),
    captured("compared for an assertion", "x = torch.ones(3, device='cuda')", "assert torch.allclose(x, x)"),
    captured("printed", "x = torch.ones(3, device='cuda')", "print(x * 2)"),
    captured("list made", "x = torch.ones(3, device='cuda')", "y = x.tolist()"),
    captured("another stream waited for", "s = torch.cuda.Stream()\nx = torch.ones(3, device='cuda')", "y = x + 1; torch.cuda.synchronize()"),
    captured("pictures of a table loaded", "import torch.nn.functional as F\nx = torch.ones(4, device='cuda')", "y = x + torch.tensor([1.0, 2.0, 3.0, 4.0]).to('cuda')"),
)  # fmt: skip
enter(
    "handles-between",
    pt("event not made to be shared", FORK, (ORD, OT), "e = torch.cuda.Event()\ne.record()\nprint(len(e.ipc_handle()))", "(?i)CUDA|interprocess|ipc|invalid"),
    pt("event handle of nothing", FORK, (ORD, OT, SHA, "program.illegal_access"), "torch.ones(2, device='cuda')\nprint(torch.cuda.Event.from_ipc_handle(torch.device('cuda:0'), bytes(64)))", "(?i)CUDA|handle"),
    pt("stream of the second card", SEL, (ORD,), "s = torch.cuda.Stream(device=1)\nwith torch.cuda.stream(s):\n    print(torch.ones(2, device='cuda'))", "(?i)ordinal|device"),
    pt("storage rebuilt from made-up numbers", FORK, (OT, SHA, ORD, SEL), "torch.ones(2, device='cuda')\nprint(torch.UntypedStorage._new_shared_cuda(0, bytes(64), 16, 0, b'', 0, bytes(64), False))", "(?i)CUDA|ipc|handle|invalid|storage|byte"),
    pt("shared file that is gone", OT, (FORK, LIM, "memory.host"), "torch.ones(2, device='@D@')\nprint(torch.UntypedStorage._new_shared_filename_cpu(b'/gone_manager', b'/torch_gone_1', 64))", "(?i)shm|file|open|connect|socket|manager"),
)  # fmt: skip
SRC = "import os\nfrom torch.utils.cpp_extension import load\nprint('device', torch.ones(1, device='@D@').device, flush=True)\nopen('k@X@', 'w').write(@TEXT@)\nload(name='accel', sources=['k@X@'], build_directory=os.getcwd(), verbose=True@MORE@)"
INIT = 'extern "C" @V@ PyInit_accel() { return @R@; }\\n'


def built(target: str, cause: str, also: tuple[str, ...], text: str, expect: str, suffix: str = ".cpp", more: str = "") -> Case:  # fmt: skip
    """A small source that is built at run time; none of them includes PyTorch's headers, which take long."""
    code = SRC.replace("@X@", suffix).replace("@TEXT@", f"'{text}'").replace("@MORE@", more)
    return pt(target, cause, also, code, expect, "torch-matmul")


PLAIN = INIT.replace("@V@", "void*").replace("@R@", "nullptr")
enter(
    "built-at-run-time",
    built("header of a colleague", BUILD, (PATH, OT, COMPILER), "#include <acme/grid_hash.hpp>\\n" + PLAIN, "grid_hash"),
    built("flag of another compiler", BUILD, (SET, OT, COMPILER), PLAIN, "favx-turbo", more=", extra_cflags=['-favx-turbo']"),
    built("library that is not there", BUILD, (PATH, OT, COMPILER, "cuda.missing_library"), PLAIN, "lacme_geometry", more=", extra_ldflags=['-lacme_geometry']"),
    built("slip in the source", BUILD, (OT, COMPILER), "int half(int x) { return x / 2 }\\n" + PLAIN, "(?i)expected|error:"),
    built("slip in a kernel", BUILD, (COMPILER, PATH), "__global__ void k(float* p) { p[threadIdx.x] = alpha; }\\n" + PLAIN, "alpha", ".cu"),
    built("kernel for a card of tomorrow", BUILD, (UNSUP, COMPILER, PATH, SET), "__global__ void k(float* p) { p[0] = 1; }\\n" + PLAIN, "(?i)sm_190|gpu|arch", ".cu", ", extra_cuda_cflags=['-gencode=arch=compute_190,code=sm_190']"),
    built("function that nobody made", BUILD, ("framework.extension_abi", OT), "void launch(); " + INIT.replace("@V@", "void*").replace("@R@", "(launch(), nullptr)"), "(?i)undefined symbol|undefined reference|launch"),
    built("module of another name", BUILD, (OT, "framework.extension_abi"), PLAIN.replace("PyInit_accel", "PyInit_fast"), "(?i)PyInit|export function"),
)  # fmt: skip
V = "import torchvision\nb = torch.tensor([[0., 0., 4., 4.], [1., 1., 5., 5.]], device='@D@')\nx = torch.randn(1, 3, 16, 16, device='@D@')\n"


def seen(target: str, body: str, expect: str, also: tuple[str, ...] = (OT,)) -> Case:
    """Operators for pictures, asked wrongly."""
    return pt(target, SHA, also, V + body, expect, "torch-vision")


enter(
    "vision-operators",
    seen("boxes without scores", "print(torchvision.ops.nms(b, torch.ones(3, device='@D@'), 0.5))", "(?i)scores|boxes|element|size"),
    seen("boxes of five numbers", "print(torchvision.ops.nms(torch.ones(2, 5, device='@D@'), torch.ones(2, device='@D@'), 0.5))", "(?i)boxes|4|size"),
    seen("boxes in half precision", "print(torchvision.ops.roi_align(x, [b.half()], 2).shape)", "(?i)type|half|dtype"),
    seen("boxes on the host", "print(torchvision.ops.roi_align(torch.randn(1, 3, 8, 8, device='cuda'), [b.cpu()], 2).shape)", "(?i)device|GPU|cuda|CPU", (SEL, OT)),
    seen("offsets of another kernel", "print(torchvision.ops.deform_conv2d(x, torch.zeros(1, 8, 14, 14, device='@D@'), torch.randn(4, 3, 3, 3, device='@D@')).shape)", "(?i)offset|shape"),
    seen("picture of two axes made smaller", "from torchvision.transforms import v2\nprint(v2.functional.resize(torch.ones(8, device='@D@'), [4]).shape)", "(?i)dim|shape|size|spatial|unpack|type"),
    seen("picture drawn from floats", "print(torchvision.utils.draw_bounding_boxes(x, b).shape)", "(?i)3D|individual|uint8|images|type"),
)  # fmt: skip
QUANT = "x = torch.randn(4, 4, device='@D@')\n"
enter(
    "few-bits",
    pt("scale below nothing", SHA, (OT, BUG), QUANT + "q = torch.quantize_per_tensor(x, -0.1, 300, torch.quint8)\nprint(q + x)", "(?i)zero_point|quant|scale|implement|type"),
    pt("layer for the host only", CPU, (SHA, OT, UNSUP, SEL, BUG), "m = torch.ao.nn.quantized.Linear(4, 4)\nq = torch.quantize_per_tensor(torch.ones(2, 4, device='cuda'), 0.1, 0, torch.quint8)\nprint(m(q))", "(?i)quantized::|CUDA|backend|engine"),
    pt("eight-bit floats added", SHA, (OT, UNSUP), "x = torch.ones(4, device='@D@').to(torch.float8_e5m2)\nprint(x + x)", "(?i)Float8|not implemented|promot|support"),
    pt("four bits of a tensor", SHA, (OT, UNSUP), "x = torch.ones(4, device='@D@', dtype=torch.uint4)\nprint(x * 2)", "(?i)uint4|UInt4|not implemented|fill|support"),
    pt("table of scales too short", SHA, (OT,), QUANT + "print(torch.quantize_per_channel(x, torch.ones(2, device='@D@'), torch.zeros(2, dtype=torch.long, device='@D@'), 0, torch.qint8))", "(?i)scale|channel|number|expected"),
)  # fmt: skip
