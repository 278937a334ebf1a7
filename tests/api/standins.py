"""Exceptions and modules with the names and texts of real frameworks, and a machine with GPUs that NVML describes."""

import sys
from types import ModuleType

from gpuwhy.look.look import look
from gpuwhy.machine.recording import SCHEMA, RecordedMachine, Recording

TORCH_OOM = (
    "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.31 GiB is "
    "free. Process 4711 has 77.83 GiB memory in use. Of the allocated memory 70.12 GiB is allocated by PyTorch, and "
    "6.90 GiB is reserved by PyTorch but unallocated."
)
TORCH_OLD_OOM = (
    "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.79 GiB total capacity; 5.00 GiB already allocated; "
    "10.00 MiB free; 5.10 GiB reserved in total by PyTorch)"
)
TF_OOM = (
    "{{function_node __wrapped__Fill_device_/job:localhost/replica:0/task:0/device:GPU:0}} OOM when allocating tensor "
    "with shape[2049,1048576] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc"
)
JAX_OOM = "RESOURCE_EXHAUSTED: Out of memory allocating 2000683008 bytes."
XLA_OOM = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes."
XLA_REQUEST = (
    "RESOURCE_EXHAUSTED: Failed to allocate request for 2.0GiB (2147483648B) on device ordinal 0"
)
CUPY_OOM = "Out of memory allocating 8,000,000,000 bytes (allocated so far: 512 bytes)."
ORT_OOM = (
    "[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : Non-zero status code returned while running Conv node. Name:'Conv_0' "
    "Status Message: Failed to allocate memory for requested buffer of size 4294967296"
)
CPU_OOM = (
    "[enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate "
    "140737488355328 bytes. Error code 12 (Cannot allocate memory)"
)
TF_COPY = "Failed copying input tensor from CPU:0 to GPU:0 in order to run _EagerConst: Dst tensor is not initialized."
NO_DRIVER = (
    "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from "
    "http://www.nvidia.com/Download/index.aspx"
)
ASSERT = "CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported at some other call."


def error_type(module: str, name: str, base: type[Exception] = RuntimeError) -> type[Exception]:
    return type(name, (base,), {"__module__": module})


TorchOOM = error_type("torch", "OutOfMemoryError")
TfOOM = error_type("tensorflow.python.framework.errors_impl", "ResourceExhaustedError", Exception)
TfInternal = error_type("tensorflow.python.framework.errors_impl", "InternalError", Exception)
JaxError = error_type("jax.errors", "JaxRuntimeError")
CupyOOM = error_type("cupy.cuda.memory", "OutOfMemoryError", MemoryError)
OrtError = error_type("onnxruntime.capi.onnxruntime_pybind11_state", "RuntimeException", Exception)


def module(monkeypatch, name: str, **names: object) -> ModuleType:
    """A module that the program has imported."""
    made = ModuleType(name)
    made.__dict__.update(names)
    monkeypatch.setitem(sys.modules, name, made)
    return made


def gpu(
    index: int, name="NVIDIA A100", free=40 << 30, capability="8.0", **more: object
) -> list[dict[str, object]]:
    """What the NVML child says of one GPU."""
    said = {
        "name": name, "uuid": f"GPU-{index:08x}", "pci": f"0000:0{index}:00.0", "capability": capability,
        "memory": {"total": 80 << 30, "free": free}, "compute_mode": "default",
        "mig": {"error": "NVML_ERROR_NOT_SUPPORTED"}, "processes": [], "fabric": "not supported", **more,
    }  # fmt: skip
    return [{"gpu": index, query: answer} for query, answer in said.items()]


ENVIRONMENT = {"kind": "env", "where": "environment"}


def machine(*gpus: list[dict[str, object]], environ: dict[str, str] | None = None):
    """The devices of a machine with these GPUs."""
    begin = [{"init": {"code": 0}}, {"driver": "580.1"}, {"count": len(gpus)}]
    said = [*begin, *(line for one in gpus for line in one)]
    answers = {
        "call nvml": {"state": "known", "value": said, "source": {"kind": "call", "where": "nvml"}},
        "environ": {"state": "known", "value": environ or {}, "source": ENVIRONMENT},
    }
    recording = Recording(SCHEMA, "0", {}, answers, home="/home/user")
    return look(RecordedMachine(recording), only=("system", "driver", "devices")).devices
