"""Stand-in frameworks: small modules that look enough like torch or TensorFlow."""

ARRAYS = '''
import os
WRONG = float(os.environ.get("STANDIN_WRONG", "0"))

class Array:
    """An array of which only the shape and the lowest and highest value are known."""

    def __init__(self, low=1.0, high=None, shape=()):
        self.low, self.high, self.shape = low, low if high is None else high, shape

    def same(self, *args, **kwargs):
        return self

    def min(self):
        return self.low + WRONG

    def max(self):
        return self.high

    def backward(self):
        pass

    def dot(self, other):
        return Array(self.shape[0])

    @property
    def grad(self):
        return Array(392) if self.shape[2:] == (3, 3) else Array(8, 72)

    matmul = dot
    float = cpu = detach = requires_grad_ = sum = same
'''

NUMPY = ARRAYS + """
def ones(shape, kind): return Array(1, 1, shape)
def int32(value): return value
"""

TORCH = ARRAYS + """
import types
__version__ = "9.8.7"
version = types.SimpleNamespace(cuda="12.4")
float32, float16 = "torch.float32", "torch.float16"
_C = types.SimpleNamespace(_cudnn=types.SimpleNamespace(getCompileVersion=lambda: (9, 1, 0)))

def ones(*shape, **kwargs): return Array(1, 1, shape)
def zeros(*args, **kwargs): return Array(0)

def init():
    if "STANDIN_NO_INIT" in os.environ:
        raise RuntimeError(os.environ["STANDIN_NO_INIT"])

cuda = types.SimpleNamespace(
    device_count=lambda: int(os.environ.get("STANDIN_GPUS", "1")),
    init=init,
    get_device_name=lambda index: "Stand-in 9000",
    get_device_capability=lambda index: (9, 0),
    get_arch_list=lambda: ["sm_80", "sm_90"],
    synchronize=lambda: None,
)
backends = types.SimpleNamespace(cudnn=types.SimpleNamespace(version=lambda: 90100))
nn = types.SimpleNamespace(functional=types.SimpleNamespace(conv2d=lambda a, b: Array(72)))
"""

TENSORFLOW = ARRAYS + """
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
    numpy = Array.same

class GradientTape:
    def __enter__(self): return self
    def __exit__(self, *args): pass
    def watch(self, what): pass
    def gradient(self, of, to, output_gradients): return [Tensor(8, 72), Tensor(392)]

device = lambda name: contextlib.suppress()
constant = lambda one: one
matmul = lambda a, b: Tensor(256)
nn = types.SimpleNamespace(conv2d=lambda *args: Tensor(72))
"""

ONNXRUNTIME = ARRAYS + """
__version__ = "1.20.0"
__file__ = "/nowhere/onnxruntime/__init__.py"
CUDA = "CUDAExecutionProvider"

def get_available_providers(): return [CUDA, "CPUExecutionProvider"]

class SessionOptions: pass

class InferenceSession:
    def __init__(self, model, options, providers):
        assert model[:2] == bytes([8, 4]) and providers[0][0] == CUDA
        self.result = Array(72 if b"Conv" in model else 256)
    def get_providers(self): return [os.environ.get("STANDIN_PROVIDER", CUDA)]
    def run(self, names, given): return [self.result]
"""

CUPY = ARRAYS + """
import types
__version__ = "13.3.0"

def asarray(one): return one
def asnumpy(one): return one
def zeros(*args): return Array(2)

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
        runtimeGetVersion=lambda: 12040,
    ),
    Stream=types.SimpleNamespace(null=types.SimpleNamespace(synchronize=lambda: None)),
)
"""
