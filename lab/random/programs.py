"""The programs that are run in broken worlds: each works on a healthy machine and ends with a line RESULT.

`@D@` stands for the device. `PREAMBLE` and what a program imports are all that it needs.
"""

from __future__ import annotations

PROGRAMS: dict[str, str] = {
    "torch-matmul": """
import torch
a = torch.randn(256, 256, device='@D@')
print('RESULT', a.device.type, tuple((a @ a).shape))
""",
    "torch-train": """
import torch
net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(10)).to('@D@')
x = torch.randn(16, 3, 32, 32, device='@D@')
y = torch.randint(0, 10, (16,), device='@D@')
net(x)
opt = torch.optim.Adam(net.parameters(), 1e-3)
for step in range(3):
    loss = torch.nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print('step', step)
print('RESULT', x.device.type, tuple(net(x).shape))
""",
    "torch-amp": """
import torch
with torch.autocast('@D@', dtype=torch.bfloat16):
    y = torch.nn.Linear(64, 64).to('@D@')(torch.randn(8, 64, device='@D@'))
print('RESULT', y.device.type, y.dtype)
""",
    "torch-fft": """
import torch
x = torch.fft.rfft(torch.randn(4, 1024, device='@D@'))
print('RESULT', x.device.type, tuple(x.shape))
""",
    "torch-solve": """
import torch
a = torch.randn(64, 64, device='@D@') + 64 * torch.eye(64, device='@D@')
print('RESULT', a.device.type, tuple(torch.linalg.solve(a, torch.ones(64, 1, device='@D@')).shape))
""",
    "torch-sparse": """
import torch
s = torch.eye(32, device='@D@').to_sparse_csr()
print('RESULT', s.device.type, tuple((s @ torch.ones(32, 4, device='@D@')).shape))
""",
    "torch-bessel": """
import torch
x = torch.special.bessel_j0(torch.linspace(0, 3, 64, device='@D@'))
print('RESULT', x.device.type, tuple(x.shape))
""",
    "torch-compile": """
import torch
@torch.compile
def f(x):
    return torch.nn.functional.gelu(x) * 2 + x.sin()
y = f(torch.randn(512, device='@D@'))
print('RESULT', y.device.type, tuple(y.shape))
""",
    "torch-loader": """
import torch
from torch.utils.data import DataLoader, Dataset
class Images(Dataset):
    def __len__(self): return 24
    def __getitem__(self, i): return torch.full((3, 256, 256), float(i)), i % 5
if __name__ == '__main__':
    seen = 0
    for x, y in DataLoader(Images(), batch_size=8, num_workers=2, pin_memory='@D@' == 'cuda'):
        seen += x.to('@D@', non_blocking=True).shape[0]
    print('RESULT', '@D@', seen)
""",
    "torch-nccl": """
import datetime, os, torch
import torch.distributed as dist
for key, value in dict(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(20000 + os.getpid() % 20000), RANK='0', WORLD_SIZE='1').items():
    os.environ.setdefault(key, value)
dist.init_process_group('nccl' if '@D@' == 'cuda' else 'gloo', timeout=datetime.timedelta(seconds=12))
x = torch.ones(4, device='@D@')
dist.all_reduce(x)
print('RESULT', x.device.type, x.sum().item())
dist.destroy_process_group()
""",
    "torch-graph": """
import torch
x = torch.zeros(64, device='@D@')
if '@D@' == 'cuda':
    torch.mm(torch.ones(8, 8, device='cuda'), torch.ones(8, 8, device='cuda'))
    g = torch.cuda.CUDAGraph()
    with torch.cuda.graph(g):
        y = x * 2 + 1
    g.replay()
    torch.cuda.synchronize()
print('RESULT', x.device.type)
""",
    "torch-deterministic": """
import torch
torch.use_deterministic_algorithms(True)
a = torch.randn(64, 64, device='@D@')
print('RESULT', a.device.type, tuple((a @ a).shape))
""",
    "torch-vision": """
import torch, torchvision
boxes = torch.tensor([[0., 0., 10., 10.], [1., 1., 11., 11.], [50., 50., 60., 60.]], device='@D@')
keep = torchvision.ops.nms(boxes, torch.tensor([0.9, 0.8, 0.7], device='@D@'), 0.5)
print('RESULT', keep.device.type, keep.tolist())
""",
    "torch-large": """
import torch
held = [torch.empty(2**30, dtype=torch.uint8, device='@D@') for _ in range(12)]
print('RESULT', held[0].device.type, len(held))
""",
    "jax-matmul": """
import jax, jax.numpy as jnp
device = jax.devices('@J@')[0]
a = jax.device_put(jnp.ones((256, 256)), device)
print('RESULT', device.platform, float((a @ a)[0, 0]))
""",
    "jax-conv": """
import jax, jax.numpy as jnp
device = jax.devices('@J@')[0]
x = jax.device_put(jnp.ones((2, 3, 16, 16)), device)
y = jax.lax.conv(x, jax.device_put(jnp.ones((4, 3, 3, 3)), device), (1, 1), 'SAME')
print('RESULT', device.platform, y.shape)
""",
    "jax-solve": """
import jax, jax.numpy as jnp
assert jax.default_backend() == ('gpu' if '@D@' == 'cuda' else 'cpu'), 'expected the GPU, have ' + jax.default_backend()
a = jnp.eye(32) * 3 + jnp.ones((32, 32))
print('RESULT', jax.default_backend(), jnp.linalg.solve(a, jnp.ones(32)).shape)
""",
    "jax-grad": """
import jax, jax.numpy as jnp
step = jax.jit(jax.value_and_grad(lambda w, x: jnp.mean(jnp.tanh(x @ w) ** 2)))
with jax.default_device(jax.devices('@J@')[0]):
    w = jnp.ones((32, 8))
    for _ in range(3):
        loss, g = step(w, jnp.ones((16, 32)))
        w = w - 0.1 * g
print('RESULT', loss.devices().pop().platform, w.shape)
""",
    "jax-fft": """
import jax, jax.numpy as jnp
device = jax.devices('@J@')[0]
x = jax.device_put(jnp.arange(1024.0), device)
print('RESULT', device.platform, jnp.fft.fft(x).shape)
""",
    "cupy-raw": """
import cupy
add = cupy.RawKernel('extern "C" __global__ void add(const float* a, float* b) { b[threadIdx.x] = a[threadIdx.x] + 1; }', 'add')
a, b = cupy.arange(64, dtype='f'), cupy.zeros(64, dtype='f')
add((1,), (64,), (a, b))
print('RESULT', 'cuda', float(b.sum()))
""",
    "cupy-matmul": """
import cupy
a = cupy.ones((128, 128), dtype='f')
print('RESULT', 'cuda', float((a @ a).sum()))
""",
    "cupy-fft": """
import cupy
print('RESULT', 'cuda', cupy.fft.fft(cupy.arange(256.0)).shape)
""",
    "cupy-random": """
import cupy
print('RESULT', 'cuda', cupy.random.rand(1000).shape, bool(cupy.sort(cupy.random.rand(1000))[0] >= 0))
""",
    "cupy-svd": """
import cupy
u, s, v = cupy.linalg.svd(cupy.eye(16, dtype='f'))
print('RESULT', 'cuda', s.shape)
""",
    "numba-kernel": """
import numpy, numba
from numba import cuda
@cuda.jit
def add(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = x[i] + 1
x = cuda.to_device(numpy.arange(256, dtype='f'))
y = cuda.device_array_like(x)
add[2, 128](x, y)
print('RESULT', 'cuda', float(y.copy_to_host().sum()))
""",
    "numba-cpu": """
import numba, numpy
@numba.njit
def total(x):
    s = 0.0
    for v in x:
        s += v
    return s
print('RESULT', 'cpu', total(numpy.arange(100.0)))
""",
    "triton-add": """
import torch, triton, triton.language as tl
@triton.jit
def add(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)
x = torch.arange(1000, device='cuda', dtype=torch.float32)
y = torch.empty_like(x)
add[(triton.cdiv(1000, 256),)](x, y, 1000, B=256)
print('RESULT', 'cuda', y.sum().item())
""",
    "onnx-cpu": """
import numpy, onnxruntime
from onnx import TensorProto, helper
node = helper.make_node('Relu', ['x'], ['y'])
value = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [4])
model = helper.make_model(helper.make_graph([node], 'g', [value('x')], [value('y')]), opset_imports=[helper.make_opsetid('', 13)], ir_version=8)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=['CPUExecutionProvider'])
print('RESULT', 'cpu', session.run(None, {'x': numpy.array([-1, 0, 1, 2], dtype='f')})[0].tolist())
""",
}

CPP: dict[str, tuple[str, str]] = {
    "cpp-add": (
        "",
        r"""
#include <cstdio>
#include <cstdlib>
#define CHECK(c) do { cudaError_t e = (c); if (e != cudaSuccess) { fprintf(stderr, "%s:%d: %s failed: %s (%d)\n", __FILE__, __LINE__, #c, cudaGetErrorString(e), e); exit(1); } } while (0)
__global__ void add(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += 1; }
int main() {
  int count = 0; CHECK(cudaGetDeviceCount(&count));
  float *x, h[256] = {0}; CHECK(cudaMalloc(&x, sizeof h));
  CHECK(cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice));
  add<<<2, 128>>>(x, 256); CHECK(cudaGetLastError()); CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost));
  printf("RESULT cuda %.0f\n", h[255]); return 0; }
""",
    ),
    "cpp-cublas": (
        "-lcublas -cudart shared",
        r"""
#include <cstdio>
#include <cublas_v2.h>
int main() {
  float *a, one = 1, zero = 0, h[4] = {1, 0, 0, 1};
  cudaError_t e = cudaMalloc(&a, sizeof h); if (e) { fprintf(stderr, "cudaMalloc: %s\n", cudaGetErrorName(e)); return 2; }
  cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);
  cublasHandle_t c; cublasStatus_t s = cublasCreate(&c);
  if (s) { fprintf(stderr, "cublasCreate failed: status %d\n", s); return 3; }
  s = cublasSgemm(c, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a, 2, a, 2, &zero, a, 2);
  if (s) { fprintf(stderr, "cublasSgemm failed: status %d\n", s); return 4; }
  e = cudaDeviceSynchronize(); if (e) { fprintf(stderr, "sync: %s\n", cudaGetErrorString(e)); return 5; }
  printf("RESULT cuda gemm\n"); return 0; }
""",
    ),
    "cpp-cufft": (
        "-lcufft -cudart shared",
        r"""
#include <cstdio>
#include <cufft.h>
int main() {
  cufftHandle p; cufftComplex* d; cudaError_t e = cudaMalloc(&d, 256 * sizeof *d);
  if (e) { fprintf(stderr, "CUDA error %d\n", e); return 1; }
  cufftResult r = cufftPlan1d(&p, 256, CUFFT_C2C, 1); if (r) { fprintf(stderr, "cufftPlan1d: %d\n", r); return 1; }
  r = cufftExecC2C(p, d, d, CUFFT_FORWARD); if (r) { fprintf(stderr, "cufftExecC2C: %d\n", r); return 1; }
  e = cudaDeviceSynchronize(); if (e) { fprintf(stderr, "CUDA error %d\n", e); return 1; }
  printf("RESULT cuda fft\n"); return 0; }
""",
    ),
}
"""C++ programs: what the linker needs, and the source."""

MAPS = (
    "\nimport sys as _s\n_s.stderr.flush()\n"
    "for _l in open('/proc/self/maps'):\n"
    "    if '/' in _l: print('MAPPED', _l[_l.index('/'):].rstrip())\n"
)
"""Appended to a program in its healthy run: the files that it mapped."""


def source(name: str, device: str) -> str:
    """A program's code for a device."""
    return PROGRAMS[name].lstrip("\n").replace("@D@", device).replace("@J@", "gpu" if device == "cuda" else "cpu")
