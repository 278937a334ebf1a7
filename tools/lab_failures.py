"""The failures that tools/capture_lab.py provokes: one table, the cause decided from the provocation.

Shell variables: LAB (the laboratory), VENV (the environment in use: a copy where `breaks` is given), SITE (its
site-packages), WORK (an empty folder, the working directory), PYTHONS (pyenv's interpreters).
"""

from __future__ import annotations

from typing import NamedTuple

ENVIRONMENTS: dict[str, tuple[str, str]] = {
    "t251": ("3.11.7", "torch==2.5.1 numpy"),
    "tv": ("3.11.7", "torch==2.5.1 torchvision==0.20.1 torchaudio==2.5.1 numpy"),
    "tvbad": ("3.11.7", "torch==2.5.1 numpy && --no-deps torchvision==0.17.0 torchaudio==2.2.0"),
    "big": ("3.12.1", "tensorflow[and-cuda]==2.21.0 torch==2.15.0 jax[cuda12]==0.12.0.1"),
    "cpu": ("3.11.7", "torch==2.13.0+cpu onnxruntime jax numpy --index-strategy unsafe-best-match"),
    "numba": ("3.11.7", "numba numba-cuda cupy-cuda12x nvidia-ml-py"),
    "jax": ("3.12.1", "jax[cuda12]==0.12.0.1"),
    "ort": ("3.11.7", "onnxruntime-gpu[cuda,cudnn]==1.31.1"),
    "ort-over": ("3.11.7", "onnxruntime-gpu[cuda,cudnn]==1.31.1 && onnxruntime==1.31.1"),
    "tf": ("3.12.1", "tensorflow[and-cuda]==2.21.0"),
    "tf-over": ("3.12.1", "tensorflow[and-cuda]==2.21.0 && tensorflow-cpu==2.21.0"),
    "tf115": ("3.7.16", "tensorflow-gpu==1.15.5 protobuf==3.20.3"),
    "tf21": ("3.7.16", "tensorflow==2.1.4 protobuf==3.20.3"),
    "tf234": ("3.8.18", "tensorflow-gpu==2.3.4 protobuf==3.20.3"),
    "tf210": ("3.10.13", "tensorflow==2.10.1 numpy<2"),
    "tf215": ("3.11.7", "tensorflow[and-cuda]==2.15.1"),
    "extra/numpy2-310": ("3.10.13", "numpy==2.2.6"),
    "extra/numpy124-38": ("3.8.18", "numpy==1.24.4"),
    "extra/protobuf4-37": ("3.7.16", "protobuf==4.24.4"),
    "extra/protobuf5-310": ("3.10.13", "protobuf==5.29.6"),
    "extra/nccl216": ("3.11.7", "nvidia-nccl-cu12==2.16.5"),
    "extra/plugin": ("3.12.1", "jax-cuda12-plugin==0.4.38"),
    "extra/tftext": ("3.10.13", "tensorflow-text==2.8.2"),
    "extra/setuptools": ("3.11.7", "setuptools==75.6.0"),
    "extra/bnb": ("3.11.7", "bitsandbytes==0.44.1"),
    "extra/torchtext": ("3.11.7", "torchtext==0.18.0"),
    "extra/arm": ("3.11.7", "--python-platform aarch64-manylinux2014 nvidia-cuda-runtime-cu12==12.4.127"),
}


class Failure(NamedTuple):
    """One way to fail: the cause, how it is provoked, where, and what the text cannot tell from the cause."""

    cause: str
    how: str
    where: str = ""
    code: str = ""
    shell: str = ""  # a command instead of Python code
    breaks: str = ""  # shell, run before in a copy of the environment
    environ: dict[str, str] = {}
    also: tuple[str, ...] = ()
    why: str = ""


TORCH = "import torch\nprint(torch.__version__, torch.cuda.is_available())\nprint(torch.ones(2, device='cuda'))\n"
TF1 = (
    "import tensorflow as tf\nprint(tf.__version__)\nwith tf.Session() as s:\n    print(s.run(tf.matmul(tf.ones((2, 2)), tf.ones((2, 2)))))\n"
    "print('GPU available:', tf.test.is_gpu_available())\n"
)
TF = "import tensorflow as tf\nprint(tf.__version__)\nprint('GPUs:', tf.config.list_physical_devices('GPU'))\n"
SAY_VISIBLE = "import os\nprint('CUDA_VISIBLE_DEVICES =', repr(os.environ['CUDA_VISIBLE_DEVICES']))\n"
JAX = "import jax\nprint(jax.__version__)\nprint(jax.devices('cuda'))\n"
ORT = """import onnxruntime as ort
def part(n, b): return bytes([n << 3 | 2, len(b)]) + b
def value(name): return part(1, name) + part(2, part(1, b"\\x08\\x01" + part(2, part(1, b"\\x08\\x02"))))
node = part(1, b"x") + part(2, b"y") + part(4, b"Relu")
graph = part(1, node) + part(2, b"g") + part(11, value(b"x")) + part(12, value(b"y"))
model = b"\\x08\\x08" + part(7, graph) + part(8, b"\\x10\\x0d")
print(ort.__version__, ort.get_available_providers())
s = ort.InferenceSession(model, providers=["CUDAExecutionProvider", "CPUExecutionProvider"])
print(s.get_providers())
"""
CUDNN9 = """import ctypes, glob, os, sys
site = os.environ["SITE"]
for name in ("cuda_runtime/lib/libcudart.so.12", "cuda_nvrtc/lib/libnvrtc.so.12", "cublas/lib/libcublasLt.so.12", "cublas/lib/libcublas.so.12"):
    ctypes.CDLL(f"{site}/nvidia/{name}", ctypes.RTLD_GLOBAL)
c = ctypes.CDLL(f"{site}/nvidia/cudnn/lib/libcudnn.so.9")
c.cudnnGetErrorString.restype = ctypes.c_char_p
print("cuDNN", c.cudnnGetVersion(), flush=True)
for name in ("Graph", "Ops", "Cnn", "Adv"):
    print(f"cudnn{name}VersionCheck", flush=True)
    r = getattr(c, f"cudnn{name}VersionCheck")()
    print("  status", r, c.cudnnGetErrorString(r).decode(), flush=True)
"""
CUDNN8 = """import ctypes, os
c = ctypes.CDLL(os.environ["CUDNN"] + "/libcudnn.so.8")
c.cudnnGetErrorString.restype = ctypes.c_char_p
print("cuDNN", c.cudnnGetVersion(), flush=True)
for name in ("OpsInfer", "CnnInfer"):
    print(f"cudnn{name}VersionCheck", flush=True)
    print("  ", c.cudnnGetErrorString(getattr(c, f"cudnn{name}VersionCheck")()).decode(), flush=True)
"""
NUMBA = """from numba import cuda
import numpy as np
@cuda.jit
def f(x): x[0] = 1
f[1, 1](np.zeros(4))
"""
CUPY = "import cupy\nprint(cupy.__version__)\nprint(cupy.arange(6).sum())\n"
NVML = "import pynvml\npynvml.nvmlInit()\nprint(pynvml.nvmlDeviceGetCount())\n"
NVRTC = """import ctypes, os
n = ctypes.CDLL(os.environ["SITE"] + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.12")
n.nvrtcGetErrorString.restype = ctypes.c_char_p
p = ctypes.c_void_p()
n.nvrtcCreateProgram(ctypes.byref(p), b"__global__ void f(float* x) { x[0] = 1; }", b"f.cu", 0, None, None)
r = n.nvrtcCompileProgram(p, 0, None)
size = ctypes.c_size_t()
n.nvrtcGetProgramLogSize(p, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value)
n.nvrtcGetProgramLog(p, log)
print(log.value.decode())
print(r, n.nvrtcGetErrorString(r).decode())
"""
CPP = r"""cat > demo.cu <<'END'
#include <cstdio>
#include <cuda_runtime.h>
int main() {
  int n = 0;
  cudaError_t e = cudaGetDeviceCount(&n);
  if (e != cudaSuccess) { std::fprintf(stderr, "demo.cu:6: CUDA error %d: %s\n", (int)e, cudaGetErrorString(e)); return 1; }
  std::printf("%d devices\n", n);
}
END
nvcc -o demo demo.cu
"""
SETUP = """from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
setup(name="fused", ext_modules=[CUDAExtension("fused", ["fused.cu"])], cmdclass={"build_ext": BuildExtension}, script_args=["build_ext", "--inplace"])
"""
LOADER = """import torch
class Data(torch.utils.data.Dataset):
    def __len__(self): return 64
    def __getitem__(self, i): return torch.ones(1 << 20)
for batch in torch.utils.data.DataLoader(Data(), batch_size=8, num_workers=2):
    print(batch.shape)
"""

POINTER = r"printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 281067080\n' 7"  # what git leaves without LFS
STANDIN = "$WORK/driver"
NVML_TOO = f"{STANDIN}:$LAB/nvml"
REAL = "$LAB/apt/x/usr/lib/x86_64-linux-gnu/nvidia/current"
SMI = '"$LAB/smi/usr/lib/nvidia/current/nvidia-smi"'
CUDA_10 = "cublas.so.10 cufft.so.10 curand.so.10 cusolver.so.10 cusparse.so.10"


def driver(**answers: object) -> dict[str, str]:
    """The stand-in driver first on the path, with these answers."""
    said = ";".join(f"{key}={value}" for key, value in answers.items())
    return {"LD_LIBRARY_PATH": STANDIN, "FAKECUDA": said}


def openable(names: str) -> str:
    """Shell that makes libraries that open and hold nothing: enough for TensorFlow's check whether they are there."""
    return (
        f"mkdir -p cuda; for n in {names}; do gcc -shared -fPIC -x c /dev/null -Wl,-soname,lib$n -o cuda/lib$n; done; "
    )


def in_wheel(name: str) -> str:
    """Shell that finds one file of the nvidia wheels as $F."""
    return f"F=$(find $SITE/nvidia -name '{name}' | head -1); test -n \"$F\"; "


NOBODY_TELLS = "no driver at all, a container without the GPU and device nodes that are not there print the same"
NOT_FOUND = "the loader's words are the same for a library that is nowhere and for one outside its search"
WHEEL_FILE = "a file gone from a wheel reads like a library that was never installed"
SAYS_35 = "35 is what the runtime says of no driver and of one too old"
NO_DEVICE = "100 is all there is: the variable is not printed"
CODE_803 = "803 is both: a library of another driver, or one of cuda-compat"
CODE_999 = "999 has no meaning of its own"
NO_GPU = ("container.no_gpu", "driver.permission")

FAILURES: dict[str, Failure] = {
    # --- no driver at all
    "tf115-no-driver": Failure(
        "driver.missing", "TensorFlow 1.15.5, no driver", "tf115", TF1, also=NO_GPU, why=NOBODY_TELLS
    ),
    "tf21-no-driver": Failure(
        "driver.missing",
        "TensorFlow 2.1.4, no driver; CUDA 10.1's libraries open",
        "tf21",
        TF,
        breaks=openable(f"cudart.so.10.1 cudnn.so.7 {CUDA_10}"),
        environ={"LD_LIBRARY_PATH": "$WORK/cuda"},
        also=NO_GPU,
        why=NOBODY_TELLS,
    ),
    "tf234-no-driver": Failure(
        "driver.missing",
        "TensorFlow 2.3.4, no driver; CUDA 10.1's libraries open",
        "tf234",
        TF,
        breaks=openable(f"cudart.so.10.1 cudnn.so.7 {CUDA_10}"),
        environ={"LD_LIBRARY_PATH": "$WORK/cuda"},
        also=NO_GPU,
        why=NOBODY_TELLS,
    ),
    "tf221-no-driver": Failure(
        "driver.missing", "TensorFlow 2.21.0 and its CUDA wheels, no driver", "tf", TF, also=NO_GPU, why=NOBODY_TELLS
    ),
    "tf21-nchw": Failure(
        "driver.missing",
        "a channels-first convolution; libcuda 535.261.03, no kernel module",
        "tf21",
        "import tensorflow as tf\nprint(tf.nn.conv2d(tf.ones((1, 3, 8, 8)), tf.ones((3, 3, 3, 4)), 1, 'SAME', data_format='NCHW'))\n",
        environ={"LD_LIBRARY_PATH": REAL},
        also=NO_GPU,
        why=NOBODY_TELLS,
    ),
    "tf215-device": Failure(
        "driver.missing",
        "an operation placed on the GPU where there is no driver",
        "tf215",
        "import tensorflow as tf\ntf.config.set_soft_device_placement(False)\nwith tf.device('/GPU:0'):\n    print(tf.ones(2) + 1)\n",
        also=(*NO_GPU, "device.selection"),
        why=NOBODY_TELLS + "; so does a device string for a GPU that is not there",
    ),
    "torch251-no-driver": Failure(
        "driver.missing", "torch 2.5.1, no driver", "t251", TORCH, also=NO_GPU, why=NOBODY_TELLS
    ),
    "torch215-no-driver": Failure(
        "driver.missing", "torch 2.15.0, no driver", "big", TORCH, also=NO_GPU, why=NOBODY_TELLS
    ),
    "torch-nccl-no-driver": Failure(
        "driver.missing",
        "torch.distributed asked for NCCL where there is no driver",
        "t251",
        "import torch.distributed as d\nd.init_process_group('nccl', init_method='tcp://127.0.0.1:29511', rank=0, world_size=1)\n",
        also=(*NO_GPU, "distributed.nccl", "device.selection"),
        why="torch says only that it found no GPU",
    ),
    "triton-no-driver": Failure(
        "driver.missing",
        "Triton's driver asked for where there is none",
        "big",
        "import triton\nprint(triton.__version__)\nprint(triton.runtime.driver.active.get_current_target())\n",
        also=NO_GPU,
        why=NOBODY_TELLS,
    ),
    "jax-no-driver": Failure(
        "driver.missing", "JAX with its CUDA plug-in, no driver", "jax", JAX, also=NO_GPU, why=NOBODY_TELLS
    ),
    "ort-no-driver": Failure(
        "driver.missing",
        "ONNX Runtime with its CUDA wheels, no driver",
        "ort",
        "import onnxruntime\nonnxruntime.preload_dlls()\n" + ORT,
        also=NO_GPU,
        why=NOBODY_TELLS,
    ),
    "numba-no-driver": Failure("driver.missing", "Numba, no driver", "numba", NUMBA, also=NO_GPU, why=NOBODY_TELLS),
    "cupy-no-driver": Failure(
        "driver.missing", "CuPy, no driver", "numba", CUPY, also=(*NO_GPU, "driver.too_old"), why=SAYS_35
    ),
    "cpp-no-driver": Failure(
        "driver.missing",
        "a C++ program of CUDA 13.0, no driver",
        "",
        shell=CPP + "./demo",
        also=(*NO_GPU, "driver.too_old"),
        why=SAYS_35,
    ),
    "nvml-no-library": Failure(
        "driver.missing", "nvidia-ml-py, no libnvidia-ml", "numba", NVML, also=NO_GPU, why=NOBODY_TELLS
    ),
    "smi-no-module": Failure(
        "driver.missing",
        "nvidia-smi and libnvidia-ml 535.261.03, no kernel module",
        shell=SMI,
        environ={"LD_LIBRARY_PATH": REAL},
        also=NO_GPU,
        why=NOBODY_TELLS,
    ),
    "smi-no-library": Failure(
        "driver.missing",
        "nvidia-smi 535.261.03 without libnvidia-ml",
        shell=SMI,
        also=(*NO_GPU, "env.path"),
        why=NOT_FOUND,
    ),
    "tf210-no-module": Failure(
        "driver.missing",
        "TensorFlow 2.10.1 and libcuda 535.261.03, no kernel module",
        "tf210",
        TF,
        environ={"LD_LIBRARY_PATH": REAL},
        also=(*NO_GPU, "cuda.missing_library"),
        why=NOBODY_TELLS + "; the CUDA libraries are not there either",
    ),
    "jax-no-module": Failure(
        "driver.missing",
        "JAX and libcuda 535.261.03, no kernel module",
        "jax",
        JAX,
        environ={"LD_LIBRARY_PATH": REAL},
        also=(*NO_GPU, "device.selection"),
        why="the driver says 'no device'",
    ),
    # --- states of the driver
    "torch215-driver-535": Failure(
        "driver.too_old",
        "torch 2.15.0 (CUDA 13) and libcuda 535.261.03 (CUDA 12.2)",
        "big",
        TORCH,
        environ={"LD_LIBRARY_PATH": REAL},
    ),
    "torch251-driver-11": Failure(
        "driver.too_old", "torch 2.5.1 on a stand-in driver of CUDA 11.4", "t251", TORCH, environ=driver(driver=11040)
    ),
    "cpp-driver-12": Failure(
        "driver.too_old",
        "a C++ program of CUDA 13.0 on a stand-in driver of CUDA 12.4",
        "",
        shell=CPP + "./demo",
        environ=driver(driver=12040),
        also=("driver.missing",),
        why=SAYS_35,
    ),
    "cupy-driver-11": Failure(
        "driver.too_old",
        "CuPy for CUDA 12 and its runtime on a stand-in driver of CUDA 11.4",
        "numba",
        CUPY,
        environ={
            **driver(driver=11040),
            "LD_LIBRARY_PATH": f"{STANDIN}:$LAB/t251/lib/python3.11/site-packages/nvidia/cuda_runtime/lib:$LAB/t251/lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib",
        },
        also=("driver.missing",),
        why=SAYS_35,
    ),
    "ort-driver-12": Failure(
        "driver.too_old",
        "ONNX Runtime for CUDA 13 on a stand-in driver of CUDA 12.4",
        "ort",
        "import onnxruntime\nonnxruntime.preload_dlls()\n" + ORT,
        environ=driver(driver=12040),
        also=("driver.missing",),
        why=SAYS_35,
    ),
    "tf221-stub": Failure(
        "driver.stub",
        "stand-in driver: cuInit answers 34, as the toolkit's stub does",
        "tf",
        TF,
        environ=driver(driver=12090, cuInit=34),
    ),
    "lab-jax-stub": Failure(
        "driver.stub", "stand-in driver: cuInit answers 34", "jax", JAX, environ=driver(driver=12090, cuInit=34)
    ),
    "tf215-busy": Failure(
        "device.busy", "stand-in driver: cuInit answers 46", "tf215", TF, environ=driver(driver=12090, cuInit=46)
    ),
    "torch215-busy": Failure(
        "device.busy", "stand-in driver: cuInit answers 46", "big", TORCH, environ=driver(driver=13020, cuInit=46)
    ),
    "tf221-os-call": Failure(
        "driver.permission",
        "stand-in driver: cuInit answers 304, as when a device node cannot be opened",
        "tf",
        TF,
        environ=driver(driver=12090, cuInit=304),
        also=("driver.not_ready", "driver.missing"),
        why="304 says that a system call failed, not which",
    ),
    "torch251-os-call": Failure(
        "driver.permission",
        "stand-in driver: cuInit answers 304",
        "t251",
        TORCH,
        environ=driver(driver=12090, cuInit=304),
        also=("driver.not_ready",),
        why="304 says that a system call failed, not which",
    ),
    "tf210-not-ready": Failure(
        "driver.not_ready", "stand-in driver: cuInit answers 802", "tf210", TF, environ=driver(driver=11080, cuInit=802)
    ),
    "jax-not-ready": Failure(
        "driver.not_ready", "stand-in driver: cuInit answers 802", "jax", JAX, environ=driver(driver=12090, cuInit=802)
    ),
    "tf115-mismatch": Failure(
        "driver.library_mismatch",
        "stand-in driver: cuInit answers 803",
        "tf115",
        TF1,
        environ=driver(driver=10020, cuInit=803, module="418.226.00"),
        also=("driver.compat_misuse",),
        why=CODE_803,
    ),
    "torch251-mismatch": Failure(
        "driver.library_mismatch",
        "stand-in driver: cuInit answers 803",
        "t251",
        TORCH,
        environ=driver(driver=12090, cuInit=803, module="550.54.15"),
        also=("driver.compat_misuse",),
        why=CODE_803,
    ),
    "jax-mismatch": Failure(
        "driver.library_mismatch",
        "stand-in driver: cuInit answers 803",
        "jax",
        JAX,
        environ=driver(driver=12090, cuInit=803, module="550.54.15"),
        also=("driver.compat_misuse",),
        why=CODE_803,
    ),
    "tf234-compat": Failure(
        "driver.compat_misuse",
        "stand-in driver: cuInit answers 804",
        "tf234",
        TF,
        environ=driver(driver=10020, cuInit=804),
    ),
    "torch251-compat": Failure(
        "driver.compat_misuse",
        "stand-in driver: cuInit answers 804",
        "t251",
        TORCH,
        environ=driver(driver=12090, cuInit=804),
    ),
    "numba-compat": Failure(
        "driver.compat_misuse",
        "stand-in driver: cuInit answers 804",
        "numba",
        NUMBA,
        environ=driver(driver=12090, cuInit=804),
    ),
    "tf21-unknown": Failure(
        "driver.permission",
        "stand-in driver: cuInit answers 999, as without /dev/nvidia-uvm",
        "tf21",
        TF,
        environ=driver(driver=10020, cuInit=999),
        also=("driver.not_ready", "device.hardware"),
        why=CODE_999,
    ),
    "torch251-unknown": Failure(
        "driver.permission",
        "stand-in driver: cuInit answers 999",
        "t251",
        TORCH,
        environ=driver(driver=12090, cuInit=999),
        also=("driver.not_ready", "device.hardware"),
        why=CODE_999,
    ),
    "cpp-unknown": Failure(
        "driver.permission",
        "a C++ program; stand-in driver: cuInit answers 999",
        "",
        shell=CPP + "./demo",
        environ=driver(driver=13000, cuInit=999),
        also=("driver.not_ready", "device.hardware"),
        why=CODE_999,
    ),
    "tf115-visible": Failure(
        "device.selection",
        "CUDA_VISIBLE_DEVICES=-1, which the program prints: the driver answers 100",
        "tf115",
        SAY_VISIBLE + TF1,
        environ={**driver(driver=10020, cuInit=100), "CUDA_VISIBLE_DEVICES": "-1"},
    ),
    "tf221-visible": Failure(
        "device.selection",
        "CUDA_VISIBLE_DEVICES=-1: the driver answers 100",
        "tf",
        TF,
        environ={**driver(driver=12090, cuInit=100), "CUDA_VISIBLE_DEVICES": "-1"},
        also=("driver.permission", "container.no_gpu", "driver.missing"),
        why=NO_DEVICE,
    ),
    "torch251-visible": Failure(
        "device.selection",
        "CUDA_VISIBLE_DEVICES empty: the driver answers 100",
        "t251",
        SAY_VISIBLE + TORCH,
        environ={**driver(driver=12090, cuInit=100), "CUDA_VISIBLE_DEVICES": ""},
    ),
    "smi-mismatch": Failure(
        "driver.library_mismatch",
        "nvidia-smi 535.261.03; stand-in NVML answers 18",
        shell=SMI,
        environ={"LD_LIBRARY_PATH": "$LAB/nvml", "FAKENVML": "18"},
    ),
    "smi-permission": Failure(
        "driver.permission",
        "nvidia-smi 535.261.03; stand-in NVML answers 4",
        shell=SMI,
        environ={"LD_LIBRARY_PATH": "$LAB/nvml", "FAKENVML": "4"},
    ),
    "nvml-lost": Failure(
        "device.hardware",
        "nvidia-ml-py; stand-in NVML answers 15",
        "numba",
        NVML,
        environ={"LD_LIBRARY_PATH": "$LAB/nvml", "FAKENVML": "15"},
    ),
    "nvml-mismatch": Failure(
        "driver.library_mismatch",
        "nvidia-ml-py; stand-in NVML answers 18",
        "numba",
        NVML,
        environ={"LD_LIBRARY_PATH": "$LAB/nvml", "FAKENVML": "18"},
    ),
    # --- libraries that are not there
    "tf115-no-cuda": Failure(
        "cuda.missing_library",
        "no CUDA library installed, the stand-in driver is well",
        "tf115",
        TF1,
        environ=driver(driver=10020, cc=75),
        also=("env.path",),
        why=NOT_FOUND,
    ),
    "tf115-no-cudnn": Failure(
        "cudnn.missing",
        "CUDA 10.0's libraries open, cuDNN 7 is nowhere",
        "tf115",
        TF1,
        breaks=openable("cudart.so.10.0 cublas.so.10.0 cufft.so.10.0 curand.so.10.0 cusolver.so.10.0 cusparse.so.10.0"),
        environ={**driver(driver=10020, cc=75), "LD_LIBRARY_PATH": f"$WORK/cuda:{STANDIN}"},
        also=("env.path",),
        why=NOT_FOUND,
    ),
    "tf21-no-cudnn": Failure(
        "cudnn.missing",
        "CUDA 10.1's libraries open, cuDNN 7 is nowhere",
        "tf21",
        TF,
        breaks=openable(f"cudart.so.10.1 {CUDA_10}"),
        environ={**driver(driver=10020, cc=75), "LD_LIBRARY_PATH": f"$WORK/cuda:{STANDIN}"},
        also=("env.path",),
        why=NOT_FOUND,
    ),
    "tf234-cudnn8": Failure(
        "cudnn.version_mismatch",
        "CUDA 10.1's libraries open; cuDNN 8.5 in the folder, 2.3 wants 7",
        "tf234",
        TF,
        shell="ls cuda; python train.py",
        breaks=openable(f"cudart.so.10.1 {CUDA_10}") + "cp -l $LAB/cudnn-8.5.0.96/nvidia/cudnn/lib/*.so.8 cuda/",
        environ={**driver(driver=10020, cc=75), "LD_LIBRARY_PATH": f"$WORK/cuda:{STANDIN}"},
    ),
    "tf234-cuda-11": Failure(
        "cuda.version_mismatch",
        "CUDA 11's libraries in the folder, 2.3 wants 10.1",
        "tf234",
        TF,
        shell="ls cuda; python train.py",
        breaks=openable(
            "cudart.so.11.0 cublas.so.11 cufft.so.10 curand.so.10 cusolver.so.11 cusparse.so.11 cudnn.so.8"
        ),
        environ={**driver(driver=11020, cc=75), "LD_LIBRARY_PATH": f"$WORK/cuda:{STANDIN}"},
        also=("cudnn.version_mismatch",),
        why="cuDNN 8 is in the folder too, where 2.3 wants 7",
    ),
    "tf210-no-cudnn": Failure(
        "cudnn.missing",
        "CUDA 11's libraries open, cuDNN 8 is nowhere",
        "tf210",
        TF,
        breaks=openable(
            "cudart.so.11.0 cublas.so.11 cublasLt.so.11 cufft.so.10 curand.so.10 cusolver.so.11 cusparse.so.11"
        ),
        environ={**driver(driver=11080, cc=75), "LD_LIBRARY_PATH": f"$WORK/cuda:{STANDIN}"},
        also=("env.path",),
        why=NOT_FOUND,
    ),
    "tf210-cuda-12": Failure(
        "cuda.version_mismatch",
        "CUDA 12's libraries (of TensorFlow 2.15's wheels) on the path, 2.10 wants 11",
        "tf210",
        TF,
        shell="ls $LAB/tf215/lib/python3.11/site-packages/nvidia/*/lib | grep '\\.so'; python train.py",
        environ={
            **driver(driver=12020, cc=80),
            "LD_LIBRARY_PATH": ":".join(
                [
                    STANDIN,
                    *(
                        f"$LAB/tf215/lib/python3.11/site-packages/nvidia/{n}/lib"
                        for n in ("cuda_runtime", "cublas", "cufft", "curand", "cusolver", "cusparse")
                    ),
                ]
            ),
        },
        also=("cuda.missing_library",),
        why="the names asked for say CUDA 11; that 12 is there only the listing tells",
    ),
    "tf215-no-cudnn": Failure(
        "cudnn.missing",
        "libcudnn.so.8 removed, the stand-in driver is well",
        "tf215",
        TF,
        breaks="rm $SITE/nvidia/cudnn/lib/libcudnn.so.8",
        environ=driver(driver=12020, cc=80),
        also=("cuda.missing_library", "env.path"),
        why="2.15 does not say which library it could not open",
    ),
    "tf221-no-cublas": Failure(
        "cuda.missing_library",
        "libcublas.so.12 removed, the stand-in driver is well",
        "tf",
        TF,
        breaks="rm $SITE/nvidia/cublas/lib/libcublas.so.12",
        environ={**driver(driver=12090, cc=80), "LD_LIBRARY_PATH": f"{NVML_TOO}:$SITE/nvidia/cusolver/lib"},
        also=("cudnn.missing", "env.path"),
        why="2.21 does not say which library it could not open",
    ),
    "tf221-cudnn8": Failure(
        "cudnn.version_mismatch",
        "cuDNN 8.9.2 in place of 9, the stand-in driver is well",
        "tf",
        TF,
        breaks="rm -r $SITE/nvidia/cudnn/lib; cp -rl $LAB/cudnn-8.9.2.26/nvidia/cudnn/lib $SITE/nvidia/cudnn/lib",
        environ={**driver(driver=12090, cc=80), "LD_LIBRARY_PATH": f"{NVML_TOO}:$SITE/nvidia/cusolver/lib"},
        also=("cudnn.missing", "cuda.missing_library"),
        why="2.21 does not say which library it could not open",
    ),
    "torch251-no-cudnn": Failure(
        "cudnn.missing",
        "libcudnn.so.9 removed",
        "t251",
        TORCH,
        breaks="rm $SITE/nvidia/cudnn/lib/libcudnn.so.9",
        also=("install.corrupted", "env.path"),
        why=WHEEL_FILE,
    ),
    "torch251-no-cufft": Failure(
        "cuda.missing_library",
        "nvidia-cufft removed",
        "t251",
        TORCH,
        breaks="rm -r $SITE/nvidia/cufft",
        also=("env.path",),
        why=NOT_FOUND,
    ),
    "torch215-no-nvshmem": Failure(
        "cuda.missing_library",
        "nvidia-nvshmem removed",
        "big",
        TORCH,
        breaks="rm -r $SITE/nvidia/nvshmem",
        also=("env.path", "distributed.nccl"),
        why=NOT_FOUND,
    ),
    "jax-no-cudnn": Failure(
        "cudnn.missing",
        "nvidia-cudnn removed, the stand-in driver is well",
        "jax",
        JAX,
        breaks="rm -r $SITE/nvidia/cudnn",
        environ=driver(driver=12090, cc=80),
        also=("env.path",),
        why=NOT_FOUND,
    ),
    "jax-no-cusparse": Failure(
        "cuda.missing_library",
        "nvidia-cusparse removed, the stand-in driver is well",
        "jax",
        JAX,
        breaks="rm -r $SITE/nvidia/cusparse",
        environ=driver(driver=12090, cc=80),
        also=("env.path",),
        why=NOT_FOUND,
    ),
    "ort-no-cublas": Failure(
        "cuda.missing_library",
        "the CUDA wheels removed",
        "ort",
        ORT,
        breaks="rm -r $SITE/nvidia",
        environ=driver(driver=13020),
        also=("env.path",),
        why=NOT_FOUND,
    ),
    "numba-no-nvvm": Failure(
        "cuda.compiler_missing",
        "Numba on a stand-in driver, no libNVVM or NVRTC installed",
        "numba",
        NUMBA,
        environ={**driver(driver=12090, cc=80), "CUDA_HOME": "/nonexistent"},
        also=("cuda.missing_library", "env.path"),
        why="libNVVM is both a CUDA library and the compiler",
    ),
    "nvrtc-no-builtins": Failure(
        "cuda.compiler_missing",
        "NVRTC 12.4 without its built-ins",
        "t251",
        NVRTC,
        breaks=in_wheel("libnvrtc-builtins*") + 'rm "$F"',
        also=("cuda.missing_library", "install.corrupted"),
        why=WHEEL_FILE,
    ),
    "program-no-cudnn": Failure(
        "env.path",
        "a C program linked to the wheel's cuDNN, started without LD_LIBRARY_PATH",
        "",
        shell="printf '#include <stddef.h>\\nsize_t cudnnGetVersion(void);\\nint main(){return cudnnGetVersion()==0;}' > a.c; D=$LAB/t251/lib/python3.11/site-packages/nvidia/cudnn/lib; gcc a.c -o net $D/libcudnn.so.9 && ls $D && ./net",
        also=("cudnn.missing",),
        why="the listing before it shows the file, the loader's words do not",
    ),
    # --- libraries that are there and wrong
    "torch251-empty": Failure(
        "install.corrupted",
        "libcudnn.so.9 emptied",
        "t251",
        TORCH,
        breaks=in_wheel("libcudnn.so.9") + 'rm "$F"; : > "$F"',
    ),
    "torch251-text": Failure(
        "install.corrupted",
        "a text file in place of libcusparse.so.12",
        "t251",
        TORCH,
        breaks=in_wheel("libcusparse.so.12") + 'rm "$F"; ' + POINTER + ' > "$F"',
    ),
    "torch251-truncated": Failure(
        "install.corrupted",
        "libcusparse.so.12 cut to its first megabyte",
        "t251",
        TORCH,
        breaks=in_wheel("libcusparse.so.12") + 'head -c 1000000 "$F" > t; rm "$F"; mv t "$F"',
        also=("memory.host",),
        why="a bus error alone is also what a full /dev/shm gives",
    ),
    "torch251-wrong-arch": Failure(
        "install.corrupted",
        "libcudart.so.12 of the aarch64 wheel",
        "t251",
        TORCH,
        breaks=in_wheel("libcudart.so.12")
        + 'rm "$F"; cp -l $LAB/extra/arm/nvidia/cuda_runtime/lib/libcudart.so.12 "$F"',
        also=("cuda.missing_library", "env.path"),
        why="glibc skips a library of another machine and says that there is none",
    ),
    "torch251-mode-000": Failure(
        "install.corrupted",
        "libcurand.so.10 with mode 000, no right to override it",
        "t251",
        shell="setpriv --bounding-set=-dac_override,-dac_read_search python train.py",
        code=TORCH,
        breaks=in_wheel("libcurand.so.10") + 'cp "$F" t; rm "$F"; mv t "$F"; chmod 000 "$F"',
        also=("cuda.missing_library", "env.path"),
        why="glibc skips a library it may not read and says that there is none",
    ),
    "torch251-no-python-file": Failure(
        "install.corrupted",
        "torch/version.py removed",
        "t251",
        TORCH,
        breaks="rm $SITE/torch/version.py",
        also=("other.not_gpu",),
        why="a module that is missing inside its own package is a plain import error to the eye",
    ),
    "tf234-empty-cudart": Failure(
        "install.corrupted",
        "an empty libcudart.so.10.1 first on the path",
        "tf234",
        TF,
        breaks=openable(f"cudnn.so.7 {CUDA_10}") + ": > cuda/libcudart.so.10.1",
        environ={**driver(driver=10020, cc=75), "LD_LIBRARY_PATH": f"$WORK/cuda:{STANDIN}"},
    ),
    "tf210-text-cudnn": Failure(
        "install.corrupted",
        "a text file named libcudnn.so.8 first on the path",
        "tf210",
        TF,
        breaks=openable(
            "cudart.so.11.0 cublas.so.11 cublasLt.so.11 cufft.so.10 curand.so.10 cusolver.so.11 cusparse.so.11"
        )
        + f"{POINTER} > cuda/libcudnn.so.8",
        environ={**driver(driver=11080, cc=75), "LD_LIBRARY_PATH": f"$WORK/cuda:{STANDIN}"},
    ),
    "tf215-truncated": Failure(
        "install.corrupted",
        "TensorFlow's own library cut to its first 100 MB",
        "tf215",
        TF,
        breaks='F=$(ls $SITE/tensorflow/libtensorflow_cc.so.2); head -c 100000000 "$F" > t; rm "$F"; mv t "$F"',
        also=("memory.host",),
        why="a bus error alone is also what a full /dev/shm gives",
    ),
    "torch251-nvjitlink": Failure(
        "cuda.mixed_libraries",
        "nvJitLink 12.1 on LD_LIBRARY_PATH before the wheel's 12.4",
        "t251",
        TORCH,
        environ={"LD_LIBRARY_PATH": "$LAB/nvj121/nvidia/nvjitlink/lib"},
        also=("cuda.version_mismatch",),
        why="one library of an older CUDA is both",
    ),
    "torch251-nccl": Failure(
        "cuda.version_mismatch",
        "nvidia-nccl-cu12 2.16.5 in place of 2.21.5",
        "t251",
        TORCH,
        breaks="rm -r $SITE/nvidia/nccl; cp -rl $LAB/extra/nccl216/nvidia/nccl $SITE/nvidia/nccl",
        also=("install.conflict", "distributed.nccl", "cuda.mixed_libraries"),
        why="a symbol that NCCL lacks does not say how the older file came there",
    ),
    "torch215-cudnn-912": Failure(
        "cudnn.version_mismatch",
        "cuDNN 9.12 in place of the 9.26 that torch 2.15 was built with",
        "big",
        "import torch\nprint(torch.__version__)\nprint(torch.backends.cudnn.version())\n",
        breaks="rm -r $SITE/nvidia/cudnn/lib; cp -rl $LAB/cudnn912/nvidia/cudnn/lib $SITE/nvidia/cudnn/lib",
    ),
    "cudnn-no-cnn": Failure(
        "cudnn.missing",
        "cuDNN 9.1 without libcudnn_cnn.so.9",
        "t251",
        CUDNN9,
        breaks="rm $SITE/nvidia/cudnn/lib/libcudnn_cnn.so.9",
        also=("install.corrupted", "cudnn.mixed_libraries"),
        why=WHEEL_FILE,
    ),
    "cudnn-no-graph": Failure(
        "cudnn.missing",
        "cuDNN 9.1 without libcudnn_graph.so.9",
        "t251",
        CUDNN9,
        breaks="rm $SITE/nvidia/cudnn/lib/libcudnn_graph.so.9",
        also=("install.corrupted", "cudnn.mixed_libraries"),
        why=WHEEL_FILE,
    ),
    "cudnn-mixed-graph": Failure(
        "cudnn.mixed_libraries",
        "cuDNN 9.1 with libcudnn_graph.so.9 of 9.12",
        "t251",
        CUDNN9,
        breaks="F=nvidia/cudnn/lib/libcudnn_graph.so.9; rm $SITE/$F; cp -l $LAB/cudnn912/$F $SITE/$F",
        also=("cudnn.version_mismatch", "cudnn.missing"),
        why="cuDNN's own words, 'cannot load symbol', are those of a missing sub-library",
    ),
    "cudnn-mixed-cnn": Failure(
        "cudnn.mixed_libraries",
        "cuDNN 9.1 with libcudnn_cnn.so.9 of 9.12",
        "t251",
        CUDNN9,
        breaks="F=nvidia/cudnn/lib/libcudnn_cnn.so.9; rm $SITE/$F; cp -l $LAB/cudnn912/$F $SITE/$F",
        also=("cudnn.version_mismatch", "cudnn.missing"),
        why="cuDNN's own words, 'cannot load symbol', are those of a missing sub-library",
    ),
    "cudnn8-no-cublas": Failure(
        "cudnn.dependency_missing",
        "cuDNN 8.5 for CUDA 11 where there is no cuBLAS 11",
        "",
        shell="$LAB/t251/bin/python train.py; exit $?",
        code=CUDNN8,
        environ={
            "CUDNN": "$LAB/cudnn-8.5.0.96/nvidia/cudnn/lib",
            "LD_LIBRARY_PATH": "$LAB/cudnn-8.5.0.96/nvidia/cudnn/lib",
        },
    ),
    "cudnn8-no-cnn": Failure(
        "cudnn.missing",
        "cuDNN 8.9.2 without libcudnn_cnn_infer.so.8",
        "t251",
        CUDNN8,
        breaks="mkdir -p d; cp -l $LAB/cudnn-8.9.2.26/nvidia/cudnn/lib/* d/ 2>/dev/null; rm d/libcudnn_cnn_infer.so.8",
        environ={"CUDNN": "$WORK/d", "LD_LIBRARY_PATH": "$WORK/d:$SITE/nvidia/cublas/lib:$SITE/nvidia/cuda_nvrtc/lib"},
        also=("install.corrupted", "env.path"),
        why=WHEEL_FILE,
    ),
    # --- builds of the framework that do not fit
    "torch-cpu": Failure("framework.cpu_only", "torch 2.13.0+cpu", "cpu", TORCH),
    "ort-cpu": Failure("framework.cpu_only", "onnxruntime, not onnxruntime-gpu, asked for CUDA", "cpu", ORT),
    "jax-cpu": Failure("framework.cpu_only", "jax without its CUDA plug-in, asked for a GPU", "cpu", JAX),
    "tf-over": Failure(
        "framework.cpu_only",
        "tensorflow-cpu installed over tensorflow",
        "tf-over",
        TF + "print('built with CUDA:', tf.test.is_built_with_cuda())\n",
        also=("install.conflict",),
        why="that two packages wrote the same files the text does not show",
    ),
    "ort-over": Failure(
        "framework.cpu_only",
        "onnxruntime installed over onnxruntime-gpu",
        "ort-over",
        ORT,
        also=("install.conflict",),
        why="that two packages wrote the same files the text does not show",
    ),
    "ort-uninstalled": Failure(
        "install.conflict",
        "onnxruntime installed over onnxruntime-gpu, then uninstalled",
        "ort-over",
        shell="python -m pip --version >/dev/null 2>&1; python train.py",
        code=ORT,
        breaks="F=$SITE/onnxruntime-*.dist-info/RECORD; (cd $SITE && cut -d, -f1 $(basename $(dirname $F))/RECORD | grep '^onnxruntime/' | xargs rm -f)",
        also=("install.corrupted", "other.not_gpu"),
        why="a package without its files does not say who took them",
    ),
    "jax-plugin": Failure(
        "install.inconsistent",
        "jax-cuda12-plugin 0.4.38 with jaxlib 0.12",
        "jax",
        JAX,
        breaks="rm -r $SITE/jax_cuda12_plugin*; cp -rl $LAB/extra/plugin/jax_cuda12_plugin* $SITE/",
        environ=driver(driver=12090, cuInit=0),
        also=("framework.extension_abi",),
        why="a plug-in of another release is a compiled library for another jaxlib too",
    ),
    "torchvision-nms": Failure(
        "framework.extension_abi",
        "torchvision 0.17.0 with torch 2.5.1",
        "tvbad",
        "import torchvision\nprint(torchvision.ops.nms)\n",
    ),
    "torchaudio-symbol": Failure(
        "framework.extension_abi",
        "torchaudio 2.2.0 with torch 2.5.1",
        "tvbad",
        "import torchaudio\nprint(torchaudio.__version__)\n",
    ),
    "torchtext-symbol": Failure(
        "framework.extension_abi",
        "torchtext 0.18.0 (for torch 2.3) with torch 2.5.1",
        "t251",
        "import torchtext\n",
        environ={"PYTHONPATH": "$LAB/extra/torchtext"},
    ),
    "tftext-symbol": Failure(
        "framework.extension_abi",
        "tensorflow-text 2.8.2 with TensorFlow 2.10.1",
        "tf210",
        "import tensorflow_text\n",
        environ={"PYTHONPATH": "$LAB/extra/tftext", "TF_CPP_MIN_LOG_LEVEL": "3"},
    ),
    "bnb-no-gpu": Failure(
        "driver.missing",
        "bitsandbytes 0.44.1 with torch 2.5.1, no driver",
        "t251",
        "import torch, bitsandbytes as b\nprint(b.nn.Linear8bitLt(8, 8, has_fp16_weights=False).cuda())\n",
        environ={"PYTHONPATH": "$LAB/extra/bnb:$LAB/extra/setuptools"},
        also=NO_GPU,
        why=NOBODY_TELLS,
    ),
    "pip-tf115": Failure(
        "framework.platform_dropped",
        "pip install tensorflow==1.15 on Python 3.12",
        "",
        shell="echo '$ pip install tensorflow==1.15'; $PYTHONS/3.12.1/bin/python -m pip install --dry-run --target t tensorflow==1.15",
    ),
    "pip-torch112": Failure(
        "framework.platform_dropped",
        "pip install torch==1.12.1 on Python 3.12",
        "",
        shell="echo '$ pip install torch==1.12.1 torchvision==0.13.1'; $PYTHONS/3.12.1/bin/python -m pip install --dry-run --target t torch==1.12.1 torchvision==0.13.1",
    ),
    "pip-tf-gpu": Failure(
        "framework.platform_dropped",
        "pip install tensorflow-gpu, a name that was given up",
        "",
        shell="echo '$ pip install tensorflow-gpu==2.12.0'; $PYTHONS/3.11.7/bin/python -m pip install --dry-run --no-cache-dir --target t tensorflow-gpu==2.12.0",
        also=("other.not_gpu",),
        why="nothing is wrong but the package's name",
    ),
    "pip-windows-nccl": Failure(
        "framework.platform_dropped",
        "pip asked for TensorFlow 2.21's CUDA extra for Windows",
        "",
        shell="echo '$ pip download --no-deps --platform win_amd64 --python-version 3.12 --only-binary=:all: -d d nvidia-nccl-cu12==2.25.1'; $PYTHONS/3.12.1/bin/python -m pip download --no-deps --platform win_amd64 --python-version 3.12 --only-binary=:all: -d d nvidia-nccl-cu12==2.25.1",
    ),
    "pip-conflict": Failure(
        "cudnn.version_mismatch",
        "pip install torch==2.5.1 with another cuDNN than it asks for",
        "",
        shell="echo '$ pip install torch==2.5.1 nvidia-cudnn-cu12==8.9.2.26'; $PYTHONS/3.11.7/bin/python -m pip install --dry-run --target t torch==2.5.1 nvidia-cudnn-cu12==8.9.2.26",
        also=("install.conflict", "other.not_gpu"),
        why="pip refuses before anything is broken",
    ),
    # --- builds from source
    "lab-link-cudnn": Failure(
        "program.build",
        "a C program linked without -lcudnn",
        shell="printf 'int cudnnCreate(void**);int main(){void*h;return cudnnCreate(&h);}' > a.c; gcc a.c -o a",
    ),
    "link-no-library": Failure(
        "program.build",
        "linked with -lcudnn where there is none",
        shell="printf 'int main(){}' > a.c; gcc a.c -o a -L/usr/local/cuda/lib64 -lcudnn -lcublas",
        also=("cudnn.missing",),
        why="cuDNN is not installed for the compiler",
    ),
    "no-header": Failure(
        "program.build",
        "cudnn.h is not there",
        shell="printf '#include <cudnn.h>\\nint main(){}' > a.cu; nvcc a.cu -o a",
        also=("cudnn.missing",),
        why="cuDNN is not installed for the compiler",
    ),
    "lab-nvcc-arch": Failure(
        "program.build",
        "nvcc 13.0 asked for compute_61",
        shell="printf '__global__ void f(){}\\nint main(){f<<<1,1>>>();}' > a.cu; nvcc -gencode arch=compute_61,code=sm_61 a.cu -o a",
        also=("framework.gpu_unsupported",),
        why="CUDA 13 gave that architecture up",
    ),
    "link-abi": Failure(
        "program.build",
        "a C++ program with the new string ABI linked to torch 2.5.1's old one",
        "t251",
        shell="printf '#include <torch/torch.h>\\n#include <iostream>\\nint main(){ TORCH_CHECK(false, std::string(\"x\")); }' > a.cpp; g++ -w -std=c++17 -D_GLIBCXX_USE_CXX11_ABI=1 -I$SITE/torch/include -I$SITE/torch/include/torch/csrc/api/include a.cpp -o a -L$SITE/torch/lib -ltorch_cpu -lc10 -Wl,--unresolved-symbols=ignore-in-shared-libs",
        also=("framework.extension_abi",),
        why="the wrong ABI flag is both",
    ),
    "cmake-no-nvcc": Failure(
        "program.build",
        "CMake asked for CUDA where there is no nvcc",
        shell="printf 'cmake_minimum_required(VERSION 3.18)\\nproject(a LANGUAGES CXX CUDA)\\n' > CMakeLists.txt; PATH=/usr/bin:/bin CUDACXX=/nonexistent/nvcc cmake -S . -B b",
        also=("cuda.compiler_missing", "env.path"),
        why="no compiler found is what all three say",
    ),
    "cmake-no-torch": Failure(
        "program.build",
        "CMake asked for Torch without CMAKE_PREFIX_PATH",
        shell="printf 'cmake_minimum_required(VERSION 3.18)\\nproject(a CXX)\\nfind_package(Torch REQUIRED)\\n' > CMakeLists.txt; cmake -S . -B b",
    ),
    "extension-no-cuda-home": Failure(
        "program.build",
        "a torch CUDA extension built where there is no nvcc",
        "t251",
        SETUP,
        environ={"PYTHONPATH": "$LAB/extra/setuptools"},
        shell="echo > fused.cu; unshare -m bash -c 'mount -t tmpfs none /usr/local; python train.py'",
        also=("env.path", "cuda.compiler_missing"),
        why="CUDA_HOME not set is what all three say",
    ),
    "extension-cuda-13": Failure(
        "cuda.version_mismatch",
        "a torch 2.5.1 (CUDA 12.4) extension built with nvcc 13.0",
        "t251",
        SETUP,
        environ={"PYTHONPATH": "$LAB/extra/setuptools"},
        shell="echo > fused.cu; CUDA_HOME=/usr/local/cuda-13.0 python train.py",
        also=("program.build",),
        why="it shows while building",
    ),
    # --- memory and limits of the host
    "torch251-ulimit": Failure(
        "memory.host", "2 GB of address space", "t251", TORCH, shell="ulimit -v 2000000; python train.py; exit $?"
    ),
    "tf215-ulimit": Failure(
        "memory.host", "0.9 GB of address space", "tf215", TF, shell="ulimit -v 900000; python train.py; exit $?"
    ),
    "numpy-ulimit": Failure(
        "memory.host",
        "an array of 40 GB in 8 GB of address space",
        "t251",
        "import numpy as np\nx = np.ones((100000, 50000))\n",
        shell="ulimit -v 8000000; python train.py; exit $?",
    ),
    "torch251-cpu-ulimit": Failure(
        "memory.host",
        "a CPU tensor of 40 GB in 12 GB of address space",
        "t251",
        "import torch\nx = torch.ones(10_000_000_000)\n",
        shell="ulimit -v 12000000; python train.py; exit $?",
    ),
    "torch251-shm": Failure(
        "memory.host",
        "DataLoader workers with 8 MB of /dev/shm",
        "t251",
        LOADER,
        shell="unshare -m bash -c 'mount -t tmpfs -o size=8m none /dev/shm; python train.py'",
    ),
    # --- the program itself
    "torch251-shape": Failure(
        "program.shape",
        "a linear layer of the wrong width",
        "t251",
        "import torch\nm = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.Linear(3, 2))\nprint(m(torch.ones(5, 8)))\n",
    ),
    "tf221-shape": Failure(
        "program.shape",
        "matrices that do not fit",
        "tf",
        "import tensorflow as tf\nprint(tf.matmul(tf.ones((2, 3)), tf.ones((4, 5))))\n",
        environ={"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
    ),
    "tf210-logits": Failure(
        "program.shape",
        "logits and labels of different shapes",
        "tf210",
        "import tensorflow as tf\nm = tf.keras.Sequential([tf.keras.layers.Dense(3)])\nm.compile('sgd', 'binary_crossentropy')\nm.fit(tf.ones((8, 4)), tf.ones((8, 2)))\n",
        environ={"TF_CPP_MIN_LOG_LEVEL": "3"},
    ),
    "jax-shape": Failure(
        "program.shape",
        "matrices that do not fit",
        "cpu",
        "import jax.numpy as jnp\nprint(jnp.ones((2, 3)) @ jnp.ones((4, 5)))\n",
    ),
    "torch251-index": Failure(
        "program.index",
        "an embedding index out of range",
        "t251",
        "import torch\nprint(torch.nn.Embedding(10, 4)(torch.tensor([3, 99])))\n",
    ),
    "tf215-index": Failure(
        "program.index",
        "an embedding index out of range",
        "tf215",
        "import tensorflow as tf\nprint(tf.keras.layers.Embedding(10, 4)(tf.constant([3, 99])))\n",
        environ={"TF_CPP_MIN_LOG_LEVEL": "3"},
    ),
    "torch251-label": Failure(
        "program.index",
        "a class label out of range",
        "t251",
        "import torch\nprint(torch.nn.functional.cross_entropy(torch.zeros(4, 3), torch.tensor([0, 1, 2, 7])))\n",
    ),
    # --- not the GPU
    "tf115-protobuf": Failure(
        "install.inconsistent",
        "protobuf 4.24 with TensorFlow 1.15",
        "tf115",
        TF1,
        environ={"PYTHONPATH": "$LAB/extra/protobuf4-37"},
    ),
    "tf210-protobuf": Failure(
        "install.inconsistent",
        "protobuf 5.29 with TensorFlow 2.10",
        "tf210",
        TF,
        environ={"PYTHONPATH": "$LAB/extra/protobuf5-310"},
    ),
    "tf210-numpy2": Failure(
        "install.inconsistent",
        "NumPy 2.2 with TensorFlow 2.10",
        "tf210",
        TF,
        environ={"PYTHONPATH": "$LAB/extra/numpy2-310"},
    ),
    "tf234-numpy124": Failure(
        "install.inconsistent",
        "NumPy 1.24 with TensorFlow 2.3",
        "tf234",
        TF,
        environ={"PYTHONPATH": "$LAB/extra/numpy124-38"},
    ),
    "numpy-other-python": Failure(
        "env.shadowed",
        "torch 2.5.1 with a NumPy for Python 3.10 on PYTHONPATH, under 3.11",
        "t251",
        "import torch, numpy\n",
        environ={"PYTHONPATH": "$LAB/extra/numpy2-310"},
    ),
    "tf2-session": Failure(
        "other.not_gpu",
        "a TensorFlow 1 program with TensorFlow 2.15",
        "tf215",
        TF1,
        environ={"TF_CPP_MIN_LOG_LEVEL": "3"},
    ),
    "torch-old-libstdcxx": Failure(
        "other.not_gpu",
        "a libstdc++ without the newer version nodes first on the path",
        "t251",
        TORCH,
        breaks="echo 'GLIBCXX_3.4 { *; };' > v; echo > e.c; mkdir old; gcc -shared -fPIC e.c -Wl,-soname,libstdc++.so.6 -Wl,--version-script=v -o old/libstdc++.so.6",
        environ={"LD_LIBRARY_PATH": "$WORK/old"},
        also=("env.path", "framework.platform_dropped"),
        why="the path put an old system library first",
    ),
    # --- nothing wrong
    "healthy-torch-cpu": Failure(
        "healthy",
        "a small training run of torch 2.13.0+cpu",
        "cpu",
        "import torch\nm = torch.nn.Linear(8, 1)\no = torch.optim.SGD(m.parameters(), 0.1)\nx = torch.randn(256, 8)\nfor epoch in range(5):\n    loss = (m(x) - x.sum(1, keepdim=True)).pow(2).mean()\n    o.zero_grad(); loss.backward(); o.step()\n    print(f'epoch {epoch} loss {loss.item():.4f}')\n",
    ),
    "healthy-torch-loader": Failure("healthy", "DataLoader workers", "t251", LOADER.replace("1 << 20", "1 << 8")),
    "healthy-torch-gloo": Failure(
        "healthy",
        "two ranks over gloo",
        "cpu",
        "import os, torch, torch.distributed as d\nd.init_process_group('gloo')\nx = torch.ones(3) * d.get_rank()\nd.all_reduce(x)\nprint('rank', d.get_rank(), x)\nd.destroy_process_group()\n",
        shell="OMP_NUM_THREADS=1 python -m torch.distributed.run --nproc-per-node 2 --master-port 29533 train.py",
    ),
    "healthy-torch-show": Failure(
        "healthy",
        "torch's build configuration",
        "t251",
        "import torch\nprint(torch.__config__.show())\nprint(torch.backends.cudnn.version(), torch.cuda.nccl.version())\n",
    ),
    "healthy-tf-cpu": Failure(
        "healthy",
        "Keras training with tensorflow-cpu 2.21",
        "tf-over",
        "import tensorflow as tf\nx = tf.random.normal((512, 8))\nm = tf.keras.Sequential([tf.keras.layers.Dense(8, activation='relu'), tf.keras.layers.Dense(1)])\nm.compile('adam', 'mse')\nm.fit(x, tf.reduce_sum(x, 1), epochs=3)\nm.summary()\n",
    ),
    "healthy-tf115": Failure(
        "healthy",
        "TensorFlow 1.15 imported, a graph built",
        "tf115",
        "import tensorflow as tf\nx = tf.placeholder(tf.float32, (None, 4))\nprint(tf.layers.dense(x, 2))\nprint(tf.__version__, tf.test.is_built_with_cuda())\n",
    ),
    "healthy-tf21-import": Failure(
        "healthy", "TensorFlow 2.1 imported", "tf21", "import tensorflow as tf\nprint(tf.__version__)\n"
    ),
    "healthy-tf215-fit": Failure(
        "healthy",
        "Keras training with TensorFlow 2.15 on the CPU",
        "tf215",
        "import tensorflow as tf\nx = tf.random.normal((512, 8))\nm = tf.keras.Sequential([tf.keras.layers.Dense(8, activation='relu'), tf.keras.layers.Dense(1)])\nm.compile('adam', 'mse')\nm.fit(x, tf.reduce_sum(x, 1), epochs=3, verbose=2)\n",
    ),
    "healthy-tf221-import": Failure(
        "healthy",
        "TensorFlow 2.21 imported, its build described",
        "tf",
        "import tensorflow as tf\nprint(tf.__version__)\nfor k, v in sorted(tf.sysconfig.get_build_info().items()):\n    print(k, v)\n",
    ),
    "healthy-jax-cpu": Failure(
        "healthy",
        "JAX on the CPU, asked for nothing else",
        "cpu",
        "import jax, jax.numpy as jnp\nprint(jax.grad(lambda x: jnp.sin(x).sum())(jnp.arange(4.0)))\n",
        environ={"JAX_PLATFORMS": "cpu"},
    ),
    "healthy-ort-cpu": Failure(
        "healthy",
        "ONNX Runtime on the CPU",
        "cpu",
        ORT.split("print")[0]
        + "s = ort.InferenceSession(model, providers=['CPUExecutionProvider'])\nimport numpy as np\nprint(s.run(None, {'x': np.array([-1, 2], 'f')}))\n",
    ),
    "healthy-numba-cpu": Failure(
        "healthy",
        "Numba on the CPU",
        "numba",
        "import numba, numpy as np\n@numba.njit\ndef f(x): return (x * x).sum()\nprint(f(np.arange(10.0)))\n",
    ),
    "healthy-pip": Failure(
        "healthy",
        "pip installs torch's metadata",
        "",
        shell="echo '$ pip install jax'; $PYTHONS/3.12.1/bin/python -m pip install --dry-run --target t 'jax[cuda12]==0.4.38' | tail -60",
    ),
    "healthy-pip-list": Failure(
        "healthy",
        "the packages of an environment with TensorFlow, torch and JAX",
        "",
        shell="uv pip list -p $LAB/big/bin/python",
    ),
    "healthy-nvcc": Failure(
        "healthy",
        "nvcc 13.0 builds a program, with ptxas's notes",
        "",
        shell="nvcc --version; printf '__global__ void scale(float* x, float a) { x[threadIdx.x] *= a; }\\nint main() {}\\n' > a.cu; nvcc -Xptxas -v -arch=sm_90 a.cu -o a && ldd a | sed 's/(.*//'",
    ),
    "healthy-cmake": Failure(
        "healthy",
        "CMake configures and builds a CUDA program",
        "",
        shell="printf 'cmake_minimum_required(VERSION 3.18)\\nproject(a LANGUAGES CXX CUDA)\\nadd_executable(a a.cu)\\n' > CMakeLists.txt; echo 'int main() {}' > a.cu; CUDACXX=/usr/local/cuda-13.0/bin/nvcc CUDAARCHS=90 cmake -S . -B b && cmake --build b",
    ),
    "healthy-cudnn": Failure("healthy", "cuDNN 9.1's own checks", "t251", CUDNN9),
    "healthy-ld-debug": Failure(
        "healthy",
        "what the loader opens for torch",
        "t251",
        "import torch\nprint(torch.__version__)\n",
        shell="LD_DEBUG=files python train.py 2>&1 | grep 'calling init: .*nvidia' | head -40",
    ),
}
