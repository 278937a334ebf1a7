"""Stand-in frameworks: small modules that look enough like torch or TensorFlow."""

from __future__ import annotations

ARRAYS = '''
import os
WRONG = float(os.environ.get("STANDIN_WRONG", "0"))

class Array:
    """An array of which only the largest value is known; every difference has the value WRONG."""
    dtype = "float32"
    is_cuda = True
    enabled = True
    size = 4
    T = property(lambda self: self)

    def __init__(self, value=100.0, shape=(2, 2, 3, 3)):
        self.value, self.shape = value, shape

    def __sub__(self, other):
        return Array(WRONG if hasattr(other, "shape") else self.value)

    def same(self, *args, **kwargs):
        return self

    def backward(self):
        pass

    def __float__(self):
        return self.value

    def __getitem__(self, key):
        return self

    def __setitem__(self, key, value):
        pass

    grad = property(lambda self: self)
    __abs__ = __mul__ = __floordiv__ = __mod__ = __add__ = __iadd__ = same
    max = sum = reshape = float = double = to = cpu = clone = detach = requires_grad_ = same
    matmul = astype = dot = same
    transpose = copy = numpy = same
'''

NUMPY = (
    ARRAYS
    + """
def arange(count): return Array()
def zeros(shape, kind=None): return Array()
def tensordot(*args): return Array()
def int32(value): return value
"""
)

TORCH = (
    ARRAYS
    + """
import types
__version__ = "9.8.7"
version = types.SimpleNamespace(cuda="12.4")
float32, float16 = "torch.float32", "torch.float16"
_C = types.SimpleNamespace(_cudnn=types.SimpleNamespace(getCompileVersion=lambda: (9, 1, 0)))

def arange(count): return Array()
def zeros(*args, **kwargs): return Array()
def zeros_like(one): return Array()
def einsum(*args): return Array()

def init():
    if "STANDIN_NO_INIT" in os.environ:
        raise RuntimeError(os.environ["STANDIN_NO_INIT"])

cuda = types.SimpleNamespace(
    device_count=lambda: int(os.environ.get("STANDIN_GPUS", "1")),
    init=init,
    get_device_name=lambda index: "Stand-in 9000",
    get_device_capability=lambda index: (9, 0),
    get_arch_list=lambda: ["sm_80", "sm_90"],
    mem_get_info=lambda: (3 << 30, 4 << 30),
    synchronize=lambda: None,
)
backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(version=lambda: 90100, enabled=True))
nn = types.SimpleNamespace(functional=types.SimpleNamespace(conv2d=lambda a, b: Array()))
"""
)

TENSORFLOW = (
    ARRAYS
    + """
import contextlib, types
__version__ = "2.21.0"
test = types.SimpleNamespace(is_built_with_cuda=lambda: "STANDIN_CPU_BUILD" not in os.environ)

class Gpu:
    name = "/physical_device:GPU:0"

def done(*args, **kwargs): pass

config = types.SimpleNamespace(
    list_physical_devices=lambda kind: [Gpu()] * int(os.environ.get("STANDIN_GPUS", "1")),
    set_soft_device_placement=done,
    experimental=types.SimpleNamespace(set_visible_devices=done, set_memory_growth=done),
)

class Tensor(Array):
    device = "/job:localhost/replica:0/task:0/device:" + os.environ.get("STANDIN_DEVICE", "GPU:0")
    def numpy(self): return Array()

class GradientTape:
    def __enter__(self): return self
    def __exit__(self, *args): pass
    def watch(self, what): pass
    def gradient(self, of, to, output_gradients): return [Tensor(), Tensor()]

device = lambda name: contextlib.suppress()
constant = matmul = lambda *args: Tensor()
nn = types.SimpleNamespace(conv2d=lambda *args: Tensor())
"""
)

ONNXRUNTIME = (
    ARRAYS
    + """
__version__ = "1.20.0"
__file__ = "/nowhere/onnxruntime/__init__.py"
CUDA = "CUDAExecutionProvider"

def get_available_providers(): return [CUDA, "CPUExecutionProvider"]

class SessionOptions: pass

class InferenceSession:
    def __init__(self, model, options, providers):
        assert model[:2] == bytes([8, 4]) and providers[0][0] == CUDA
    def get_providers(self): return [os.environ.get("STANDIN_PROVIDER", CUDA)]
    def run(self, names, given): return [Array()]
"""
)

CUPY = (
    ARRAYS
    + """
import types
__version__ = "13.3.0"

def asarray(one): return Array()
def asnumpy(one): return Array()
def zeros(*args): return Array()

def RawKernel(code, name):
    assert "__global__" in code
    return lambda blocks, threads, given: None

def count():
    if "STANDIN_NO_INIT" in os.environ:
        raise RuntimeError(os.environ["STANDIN_NO_INIT"])
    return 1

cuda = types.SimpleNamespace(
    runtime=types.SimpleNamespace(
        getDeviceCount=count, getDeviceProperties=lambda index: {"name": b"Stand-in 9000"},
        runtimeGetVersion=lambda: 12040, memGetInfo=lambda: (3 << 30, 4 << 30),
    ),
    Stream=types.SimpleNamespace(null=types.SimpleNamespace(synchronize=lambda: None)),
)
"""
)
