"""The table of breaks: real environments, what is done to them, what must be said, and what must hold once repaired.

Written before the repairing code it judges. `Break.works` and `Break.has` are judged by `lab.py` with the patient's own
Python and the installer's own consistency check, never with gpuwhy.
"""

from __future__ import annotations

from typing import NamedTuple

TORCH = "import torch, torchvision, torchaudio; torchvision.ops.nms; torch.zeros(2).numpy()"
TF = "import tensorflow as tf; assert float(tf.reduce_sum(tf.ones((2, 2)))) == 4"
JAX = "import jax; assert float(jax.numpy.ones(3).sum()) == 3"
ORT = "import onnxruntime as o; assert 'CUDAExecutionProvider' in o.get_available_providers()"
NUMBA = "import numba; assert numba.njit(lambda x: x + 1)(1) == 2; from numba import cuda; from cuda.bindings import nvrtc; import cuda.core"
CUPY = "import cupy._environment; import cupy; cupy.__version__"
LATE = "import cupy; from cupy.cuda import cufft; from cupy_backends.cuda.libs import curand; assert cufft.getVersion() and curand.getVersion()"
CUPY_CUDNN = "from cupy_backends.cuda.libs import cublas, cudnn; assert cudnn.getVersion() == 8600"
KEPT = """
import h5py, tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
with h5py.File("kept", "w", driver="core", backing_store=False) as file:
    tf.keras.models.save_model(model, file)
    tf.keras.models.load_model(file)
"""
CT2 = "import ctranslate2; ctranslate2.__version__"
GENSIM = "from gensim.models import Word2Vec; Word2Vec([['a', 'b']], min_count=1)"
CONTOUR = "import matplotlib; matplotlib.use('Agg'); import matplotlib.pyplot as p; p.contour([[1, 2], [3, 4]])"
ACTIVATED = """
import os, subprocess, sys
line = '. "$0/bin/activate" && python -c "import sys; print(sys.prefix)" && echo "$VIRTUAL_ENV:$CUDA_VISIBLE_DEVICES"'
said = subprocess.run(["bash", "-c", line, sys.prefix], capture_output=True, text=True, check=True).stdout.split("\\n")
told = [said[0], *said[1].split(":")]
{}
"""
"""What an activated shell has: sys.prefix, VIRTUAL_ENV, CUDA_VISIBLE_DEVICES."""


def activated(code: str) -> str:
    """Code that runs other code with the environment's own Python, in a shell that is activated."""
    line = '. "$0/bin/activate" && python -c "$1"'
    return f"import subprocess, sys\nsubprocess.run(['bash', '-c', {line!r}, sys.prefix, {code!r}], check=True)"


def leads(*folders: str) -> str:
    """The step whose activation sends the loader into folders of the environment."""
    return "exports LD_LIBRARY_PATH=" + ":".join(f"{{site}}/nvidia/{one}/lib" for one in folders)


def opens(*names: str) -> str:
    """Code that opens NVIDIA's libraries by the paths that their wheels have."""
    return (
        "import ctypes, glob, sysconfig; root = sysconfig.get_paths()['purelib']\n"
        f"for name in {names!r}: ctypes.CDLL(glob.glob(root + '/nvidia/*/lib/' + name)[0], ctypes.RTLD_GLOBAL)\n"
    )


def cudnn(major: int) -> str:
    """Code that asks the wheel's cuDNN for its version."""
    return (
        "import ctypes, glob, sysconfig; root = sysconfig.get_paths()['purelib']\n"
        "[ctypes.CDLL(f, ctypes.RTLD_GLOBAL) for n in ('cublas/lib/libcublasLt.so.12', 'cublas/lib/libcublas.so.12')"
        " for f in glob.glob(root + '/nvidia/' + n)]\n"
        f"one = ctypes.CDLL(glob.glob(root + '/nvidia/cudnn/lib/libcudnn.so.{major}')[0])\n"
        "one.cudnnGetVersion.restype = ctypes.c_size_t\n"
        f"v = one.cudnnGetVersion(); assert str(v)[0] == '{major}', v\n"
    )


BASES: dict[str, tuple[str, tuple[str, ...]]] = {
    "torch": ("3.10", ("torch==2.6.0 torchvision==0.21.0 torchaudio==2.6.0 numpy==2.2.6",)),
    "ort": ("3.12", ("onnxruntime-gpu==1.20.2 numpy==2.2.6",)),
    "cupy": ("3.10", ("cupy-cuda12x==13.3.0",)),
    "jax": (
        "3.11",
        (
            "jax[cuda12]==0.4.38 nvidia-cublas-cu12==12.4.5.8 nvidia-cudnn-cu12==9.1.0.70 "
            "nvidia-cuda-cupti-cu12==12.4.127 nvidia-cuda-runtime-cu12==12.4.127 nvidia-cuda-nvrtc-cu12==12.4.127 "
            "nvidia-cufft-cu12==11.2.1.3 nvidia-cusolver-cu12==11.6.1.9 nvidia-cusparse-cu12==12.3.1.170 "
            "nvidia-nccl-cu12==2.21.5 nvidia-nvjitlink-cu12==12.4.127",
        ),
    ),
    "tf": ("3.11", ("tensorflow[and-cuda]==2.15.1",)),
    "numba": ("3.12", ("numba-cuda[cu12]==0.22.1 numba==0.62.1 numpy==2.3.4",)),
    "ctranslate2": (
        "3.11",
        ("ctranslate2==4.5.0 numpy==2.2.6 nvidia-cudnn-cu12==9.1.0.70 nvidia-cublas-cu12==12.4.5.8",),
    ),
    "tf18": ("3.11", ("tensorflow[and-cuda]==2.18.1",)),
    "tf1": ("3.7", ("tensorflow-gpu==1.15.0 protobuf<3.21 h5py<3",)),
    "cupy14": ("3.11", ("cupy-cuda12x[ctk]==14.2.0 numpy==2.3.4",)),
    "cupy11": (
        "3.10",
        (
            "cupy-cuda11x==13.3.0 nvidia-cuda-nvrtc-cu11==11.8.89 nvidia-cuda-runtime-cu11==11.8.89 "
            "nvidia-cublas-cu11==11.11.3.6 nvidia-cudnn-cu11==8.6.0.163 nvidia-cufft-cu11==10.9.0.58 "
            "nvidia-curand-cu11==10.3.0.86 nvidia-cusolver-cu11==11.4.1.48 nvidia-cusparse-cu11==11.7.5.86",
        ),
    ),
    "torch1": ("3.10", ("torch==1.12.1 numpy==1.26.4",)),
    "numba-alone": ("3.11", ("numba==0.60.0 numpy==1.26.4",)),
    "plain": ("3.11", ("gensim==4.3.2 scipy==1.12.0 numpy==1.26.4 matplotlib==3.9.2",)),
}
"""Healthy environments: their Python, and what is installed in one go each."""

LATE_11 = ("cuda_nvrtc", "cuda_runtime", "cudnn", "cufft", "curand", "cusolver", "cusparse")
OF_ORT = (
    "nvidia-cublas-cu12==12.4.5.8 nvidia-cudnn-cu12==9.1.0.70 nvidia-cufft-cu12==11.2.1.3 nvidia-curand-cu12==10.3.5.147 "
    "nvidia-cuda-runtime-cu12==12.4.127 nvidia-cuda-nvrtc-cu12==12.4.127 nvidia-nvjitlink-cu12==12.4.127"
)
"""What the CUDA provider of ONNX Runtime 1.20 opens."""

ALL_NVIDIA = (
    "nvidia-cublas-cu12 nvidia-cuda-cupti-cu12 nvidia-cuda-nvrtc-cu12 nvidia-cuda-runtime-cu12 nvidia-cudnn-cu12 "
    "nvidia-cufft-cu12 nvidia-curand-cu12 nvidia-cusolver-cu12 nvidia-cusparse-cu12 nvidia-nccl-cu12 "
    "nvidia-nvjitlink-cu12"
)


class Break(NamedTuple):
    """One break: `steps` are done to a copy of `base`; one of `causes` must be named; then the rest must hold.

    In a step `{env}` is the environment's folder and `{site}` that of its packages.
    """

    id: str
    base: str
    steps: tuple[
        str, ...
    ]  # install …, uninstall …, cut FILE, empty, text, remove, marked, holed, gone GLOB, unlist …, foreign 3.X …, pth …, moved …, exports …, barred, toolkit NAME VERSION WHEEL…, graft FOLDER WHEEL, prefix NAME==VERSION…
    causes: tuple[str, ...]
    works: str = ""  # Python code that ends well in what the fix made
    has: tuple[str, ...] = ()  # requirements that what was made meets
    without: tuple[str, ...] = ()  # distributions that it has not
    as_if: bool = False  # only a GPU makes it bite: judged as on a machine with `gpu` and `driver`
    in_place: bool = False
    told: str = ""  # nothing can be carried out: these words are in the answer instead
    gpu: str = "A100"
    driver: str = "550.54.15"
    take: str = ""  # CAUSE=N: another remedy than the first
    hidden: str = ""  # a folder of this machine that gpuwhy sees empty, in a mount namespace of its own


COMPANION = ("framework.extension_abi", "install.inconsistent")
LIBRARY = ("cuda.version_mismatch", "cuda.mixed_libraries", "install.inconsistent")
LACK = ("cuda.missing_library", "cudnn.missing", "install.inconsistent")
DAMAGE = ("install.corrupted",)
VERSION = ("cudnn.version_mismatch", "install.inconsistent")
PYTHONS = ("other.not_gpu", "install.inconsistent")
SAME_TORCH = ("torch==2.6.0", "torchvision==0.21.0", "torchaudio==2.6.0", "numpy==2.2.6")
SAME_NUMBA = ("numba-cuda==0.22.1", "numba==0.62.1", "numpy==2.3.4")
SAME_TF = ("tensorflow==2.15.1", "nvidia-cudnn-cu12==8.9.4.25")

BREAKS: tuple[Break, ...] = (
    # ------------------------------------------------ PyTorch: NVIDIA's wheels mixed, downgraded, taken away
    Break("cudnn-8-under-torch", "torch", ("install --no-deps nvidia-cudnn-cu12==8.9.7.29",), VERSION, TORCH + "\n" + cudnn(9), (*SAME_TORCH, "nvidia-cudnn-cu12==9.1.0.70")),
    Break("cudnn-8-in-place", "torch", ("install --no-deps nvidia-cudnn-cu12==8.9.7.29",), VERSION, TORCH + "\n" + cudnn(9), (*SAME_TORCH, "nvidia-cudnn-cu12==9.1.0.70"), in_place=True),
    Break("torch-without-nvidia", "torch", (f"uninstall {ALL_NVIDIA} nvidia-nvtx-cu12 nvidia-cusparselt-cu12",), LACK, TORCH, SAME_TORCH),
    Break("no-cudnn", "torch", ("uninstall nvidia-cudnn-cu12",), LACK, TORCH, (*SAME_TORCH, "nvidia-cudnn-cu12==9.1.0.70")),
    Break("no-nvrtc", "torch", ("uninstall nvidia-cuda-nvrtc-cu12",), LACK, TORCH, (*SAME_TORCH, "nvidia-cuda-nvrtc-cu12==12.4.127")),
    Break("no-cufft-and-curand", "torch", ("uninstall nvidia-cufft-cu12 nvidia-curand-cu12",), LACK, TORCH, (*SAME_TORCH, "nvidia-cufft-cu12==11.2.1.3", "nvidia-curand-cu12==10.3.5.147")),
    Break("nccl-too-old", "torch", ("install --no-deps nvidia-nccl-cu12==2.18.1",), (*LIBRARY, "install.corrupted", "distributed.nccl"), TORCH, (*SAME_TORCH, "nvidia-nccl-cu12==2.21.5")),
    Break("nvjitlink-too-old", "torch", ("install --no-deps nvidia-nvjitlink-cu12==12.1.105",), LIBRARY, TORCH, (*SAME_TORCH, "nvidia-nvjitlink-cu12==12.4.127")),
    Break("cusparse-too-new", "torch", ("install --no-deps nvidia-cusparse-cu12==12.5.4.2",), LIBRARY, TORCH, (*SAME_TORCH, "nvidia-cusparse-cu12==12.3.1.170")),
    Break("cublas-of-cuda-11", "torch", ("uninstall nvidia-cublas-cu12", "install --no-deps nvidia-cublas-cu11==11.11.3.6"), (*LIBRARY, *LACK), TORCH, (*SAME_TORCH, "nvidia-cublas-cu12==12.4.5.8")),
    Break("cudnn-of-cuda-13-over-12", "torch", ("install --no-deps nvidia-cudnn-cu13==9.12.0.46",), ("install.conflict", *VERSION), TORCH, (*SAME_TORCH, "nvidia-cudnn-cu12==9.1.0.70"), without=("nvidia-cudnn-cu13",), as_if=True),
    Break("cudnn-of-cuda-13-gone-again", "torch", ("install --no-deps nvidia-cudnn-cu13==9.12.0.46", "uninstall nvidia-cudnn-cu13"), DAMAGE, TORCH + "\n" + cudnn(9), (*SAME_TORCH, "nvidia-cudnn-cu12==9.1.0.70")),
    Break("triton-of-another-torch", "torch", ("install setuptools==75.8.0", "install --no-deps triton==3.1.0"), COMPANION, TORCH + "; import triton", (*SAME_TORCH, "triton==3.2.0")),
    # ------------------------------------------------ PyTorch: companions and extensions
    Break("vision-and-audio-behind", "torch", ("install --no-deps torchvision==0.19.0 torchaudio==2.5.1",), COMPANION, TORCH, SAME_TORCH),
    Break("vision-behind", "torch", ("install --no-deps torchvision==0.20.1",), COMPANION, TORCH, SAME_TORCH),
    Break("audio-ahead-abi3", "torch", ("install --no-deps torchaudio==2.11.0",), COMPANION, TORCH, SAME_TORCH),
    Break("torch-gone-back", "torch", ("install --no-deps torch==2.5.1",), COMPANION, TORCH, ("numpy==2.2.6",)),
    Break("xformers-behind", "torch", ("install --no-deps xformers==0.0.28.post3",), COMPANION, TORCH + "; import xformers.ops", (*SAME_TORCH, "xformers==0.0.29.post3")),
    Break("xformers-ahead", "torch", ("install --no-deps xformers==0.0.35",), COMPANION, TORCH + "; import xformers.ops", (*SAME_TORCH, "xformers==0.0.29.post3")),
    Break("three-wrong-at-once", "torch", ("install --no-deps torchvision==0.20.1 xformers==0.0.28.post3 nvidia-cudnn-cu12==8.9.7.29",), (*COMPANION, *VERSION), TORCH + "; import xformers.ops", (*SAME_TORCH, "nvidia-cudnn-cu12==9.1.0.70")),
    # ------------------------------------------------ files cut, emptied, overwritten, removed
    Break("cublaslt-cut", "torch", ("cut nvidia/cublas/lib/libcublasLt.so.12",), DAMAGE, TORCH, SAME_TORCH),
    Break("cublaslt-cut-in-place", "torch", ("cut nvidia/cublas/lib/libcublasLt.so.12",), DAMAGE, TORCH, SAME_TORCH, in_place=True),
    Break("cudnn-part-empty", "torch", ("empty nvidia/cudnn/lib/libcudnn_cnn.so.9",), DAMAGE, TORCH + "\n" + opens("libcudnn.so.9"), SAME_TORCH),
    Break("nvrtc-is-text", "torch", ("text nvidia/cuda_nvrtc/lib/libnvrtc.so.12",), DAMAGE, TORCH, SAME_TORCH),
    Break("cusparse-removed", "torch", ("remove nvidia/cusparse/lib/libcusparse.so.12",), DAMAGE, TORCH, SAME_TORCH),
    Break("vision-extension-cut", "torch", ("cut torchvision/_C.so",), DAMAGE, TORCH, SAME_TORCH),
    Break("torch-python-file-empty", "torch", ("empty torch/version.py",), DAMAGE, TORCH, SAME_TORCH),
    Break("two-wheels-cut", "torch", ("cut nvidia/cufft/lib/libcufft.so.11", "remove nvidia/curand/lib/libcurand.so.10"), DAMAGE, TORCH, SAME_TORCH),
    Break("jax-cusolver-cut", "jax", ("cut nvidia/cusolver/lib/libcusolver.so.11",), DAMAGE, JAX + "\n" + opens("libnvJitLink.so.12", "libcublasLt.so.12", "libcublas.so.12", "libcusparse.so.12", "libcusolver.so.11"), ("jax==0.4.38", "nvidia-cusolver-cu12==11.6.1.9")),
    Break("tensorflow-library-cut", "tf", ("cut tensorflow/libtensorflow_framework.so.2",), DAMAGE, TF, SAME_TF),
    Break("tensorflow-cudnn-part-removed", "tf", ("remove nvidia/cudnn/lib/libcudnn_ops_infer.so.8",), DAMAGE, TF + "\n" + cudnn(8), SAME_TF),
    Break("jaxlib-extension-removed", "jax", ("remove jaxlib/xla_extension.so",), DAMAGE, JAX, ("jax==0.4.38",)),
    # ------------------------------------------------ TensorFlow
    Break("tensorflow-numpy-2", "tf", ("install --no-deps numpy==2.2.6",), PYTHONS, TF, (*SAME_TF, "numpy<2")),
    Break("tensorflow-protobuf-6", "tf", ("install --no-deps protobuf==6.33.1",), PYTHONS, TF, (*SAME_TF, "protobuf<5")),
    Break("tensorflow-keras-3", "tf", ("install --no-deps keras==3.4.1",), PYTHONS, TF + "; tf.keras.layers.Dense(1)", (*SAME_TF, "keras<2.16")),
    Break("tensorflow-keras-beside-of-another", "tf", ("install --no-deps tf-keras==2.18.0",), PYTHONS, TF, SAME_TF),
    Break("tensorflow-without-nvidia", "tf", (f"uninstall {ALL_NVIDIA} nvidia-cuda-nvcc-cu12",), LACK, TF + "\n" + cudnn(8), SAME_TF, as_if=True),
    Break("tensorflow-cudnn-9", "tf", ("install --no-deps nvidia-cudnn-cu12==9.1.0.70",), VERSION, TF + "\n" + cudnn(8), SAME_TF, as_if=True),
    Break("tensorflow-no-cufft", "tf", ("uninstall nvidia-cufft-cu12",), LACK, TF + "\n" + opens("libcufft.so.11"), (*SAME_TF, "nvidia-cufft-cu12==11.0.8.103"), as_if=True),
    Break("tensorflow-cpu-over-it", "tf", ("install --no-deps tensorflow-cpu==2.15.1",), ("install.conflict", "framework.cpu_only"), TF + "; assert tf.test.is_built_with_cuda()", SAME_TF, without=("tensorflow-cpu",)),
    Break("tensorflow-cpu-gone-again", "tf", ("install --no-deps tensorflow-cpu==2.15.1", "uninstall tensorflow-cpu"), DAMAGE, TF + "; assert tf.test.is_built_with_cuda()", SAME_TF),
    Break("tensorflow-text-behind", "tf", ("install --no-deps tensorflow-text==2.14.0 tensorflow-hub==0.16.1 tf-keras==2.15.1",), PYTHONS + COMPANION, TF + "; import tensorflow_text", (*SAME_TF, "tensorflow-text==2.15.*")),
    Break("tf1-protobuf-4", "tf1", ("install --no-deps protobuf==4.24.4",), PYTHONS, "import tensorflow", ("tensorflow-gpu==1.15.0", "protobuf<3.21")),
    Break("tf2-over-tf1", "tf1", ("install --no-deps tensorflow==2.11.0",), ("install.conflict", *PYTHONS), "import tensorflow as tf; tf.__version__", (), as_if=False),
    Break("tf1-h5py-3", "tf1", ("install --no-deps h5py==3.8.0",), PYTHONS, KEPT, ("tensorflow-gpu==1.15.0", "h5py<3")),
    # ------------------------------------------------ JAX
    Break("jax-plugin-behind", "jax", ("install --no-deps jax-cuda12-plugin==0.4.30 jax-cuda12-pjrt==0.4.30",), COMPANION, JAX + "; import jax_cuda12_plugin", ("jax==0.4.38", "jaxlib==0.4.38", "jax-cuda12-plugin==0.4.38", "jax-cuda12-pjrt==0.4.38")),
    Break("jaxlib-behind", "jax", ("install --no-deps jaxlib==0.4.30",), COMPANION, JAX, ("jax==0.4.38", "jaxlib==0.4.38")),
    Break("jaxlib-ahead", "jax", ("install --no-deps jaxlib==0.5.3",), COMPANION, JAX, ("jax==0.4.38", "jaxlib==0.4.38")),
    Break("jax-cudnn-8", "jax", ("install --no-deps nvidia-cudnn-cu12==8.9.7.29",), VERSION, JAX + "\n" + cudnn(9), ("jax==0.4.38", "nvidia-cudnn-cu12>=9.1,<10"), as_if=True),
    Break("jax-without-pjrt", "jax", ("uninstall jax-cuda12-pjrt",), (*COMPANION, "framework.cpu_only", *LACK), JAX + "; import jax_plugins.xla_cuda12", ("jax==0.4.38", "jax-cuda12-pjrt==0.4.38"), as_if=True),
    Break("jax-cpu-only", "jax", ("uninstall jax-cuda12-plugin jax-cuda12-pjrt",), ("framework.cpu_only",), JAX + "; import jax_plugins.xla_cuda12", ("jax==0.4.38", "jax-cuda12-plugin==0.4.38", "jax-cuda12-pjrt==0.4.38"), as_if=True),
    Break("jax-numpy-old", "jax", ("install --no-deps numpy==1.23.5 ml-dtypes==0.2.0",), PYTHONS, JAX, ("jax==0.4.38", "ml-dtypes>=0.4")),
    # ------------------------------------------------ ONNX Runtime, CuPy
    Break("onnxruntime-over-gpu", "ort", ("install --no-deps onnxruntime==1.20.1",), ("install.conflict",), ORT, ("onnxruntime-gpu==1.20.2", "numpy==2.2.6"), without=("onnxruntime",)),
    Break("onnxruntime-gone-again", "ort", ("install --no-deps onnxruntime==1.20.1", "uninstall onnxruntime"), DAMAGE, ORT, ("onnxruntime-gpu==1.20.2",)),
    Break("onnxruntime-numpy", "ort", ("install --no-deps numpy==1.26.4 onnxruntime-gpu==1.19.2 onnxruntime==1.19.2",), ("install.conflict",), ORT, ("onnxruntime-gpu==1.19.2",), without=("onnxruntime",), in_place=True),
    Break("onnxruntime-cpu-only", "ort", ("uninstall onnxruntime-gpu", "install --no-deps onnxruntime==1.20.1"), ("framework.cpu_only",), ORT, ("onnxruntime-gpu==1.20.*", "numpy==2.2.6"), without=("onnxruntime",), as_if=True),
    Break("cupy-12x-and-11x-over-it", "cupy", ("install --no-deps cupy-cuda11x==13.3.0",), ("install.conflict",), CUPY, ("cupy-cuda11x==13.3.0",), without=("cupy-cuda12x",)),
    Break("cupy-11x-and-12x-over-it", "cupy", ("install --no-deps cupy-cuda11x==13.3.0", "install --reinstall --no-deps cupy-cuda12x==13.3.0"), ("install.conflict",), CUPY, ("cupy-cuda12x==13.3.0",), without=("cupy-cuda11x",)),
    Break("cupy-11x-beside-torch", "torch", ("install cupy-cuda12x==13.3.0", "install --no-deps cupy-cuda11x==13.3.0"), ("install.conflict",), TORCH + "\n" + CUPY, (*SAME_TORCH, "cupy-cuda12x==13.3.0"), without=("cupy-cuda11x",)),
    # ------------------------------------------------ two frameworks in one environment
    Break("tensorflow-takes-torchs-cudnn", "tf", ("install --no-deps torch==2.6.0 filelock sympy==1.13.1 mpmath networkx jinja2 markupsafe fsspec triton==3.2.0 nvidia-cusparselt-cu12==0.6.2 nvidia-nvtx-cu12==12.4.127",), (*VERSION, *LIBRARY), told="cannot share"),
    Break("jax-and-torch-one-cudnn", "jax", ("install --no-deps torch==2.6.0 filelock sympy==1.13.1 mpmath networkx jinja2 markupsafe fsspec triton==3.2.0 typing-extensions nvidia-cusparselt-cu12==0.6.2 nvidia-nvtx-cu12==12.4.127 nvidia-curand-cu12==10.3.5.147 nvidia-cudnn-cu12==8.9.7.29",), VERSION, "import torch; " + JAX + "\n" + cudnn(9), ("torch==2.6.0", "jax==0.4.38", "nvidia-cudnn-cu12==9.1.0.70")),
    # ------------------------------------------------ metadata itself
    Break("two-metadata-of-cudnn", "torch", ("meta nvidia-cudnn-cu12 8.9.7.29",), (*VERSION, *DAMAGE, "install.conflict"), TORCH + "\n" + cudnn(9), (*SAME_TORCH, "nvidia-cudnn-cu12==9.1.0.70")),
    # ------------------------------------------------ changed after it was installed, or cut short
    Break("module-with-merge-markers", "jax", ("marked jax/version.py",), DAMAGE, JAX, ("jax==0.4.38",)),
    Break("torch-library-with-holes", "torch", ("holed torch/lib/libtorch_python.so",), DAMAGE, TORCH, SAME_TORCH),
    Break("numpy-stripped", "torch", ("strip numpy.libs/*.so*",), DAMAGE, TORCH, SAME_TORCH),
    Break("pure-dependency-gone", "torch", ("gone sympy/core",), DAMAGE, TORCH, SAME_TORCH),
    Break("dependency-of-a-dependency-gone", "torch", ("gone mpmath",), DAMAGE, TORCH, SAME_TORCH),
    Break("einsum-folder-gone", "jax", ("gone opt_einsum",), DAMAGE, JAX, ("jax==0.4.38",)),
    Break("grafted-libraries-gone", "torch", ("gone numpy.libs",), DAMAGE, TORCH, SAME_TORCH),
    Break("unlisted-and-cut", "torch", ("unlist torchvision", "cut torchvision/_C.so"), DAMAGE, TORCH, SAME_TORCH),
    Break("unlisted-and-a-module-gone", "torch", ("unlist torch", "remove torch/_tensor.py"), DAMAGE, TORCH, SAME_TORCH),
    Break("tensorflow-module-gone", "tf", ("gone six.py",), DAMAGE, TF, SAME_TF),
    Break("tensorflow-part-gone", "tf", ("gone absl/logging",), DAMAGE, TF, SAME_TF),
    # ------------------------------------------------ numba-cuda and NVIDIA's Python bindings
    Break("cuda-bindings-of-cuda-11", "numba", ("install --no-deps cuda-bindings==11.8.7",), COMPANION, NUMBA, (*SAME_NUMBA, "cuda-bindings==12.9.*")),
    Break("cuda-pathfinder-behind", "numba", ("install --no-deps cuda-pathfinder==1.1.0",), COMPANION, NUMBA, (*SAME_NUMBA, "cuda-pathfinder>=1.4.2")),
    Break("cuda-bindings-gone", "numba", ("uninstall cuda-bindings",), (*COMPANION, *DAMAGE), NUMBA, (*SAME_NUMBA, "cuda-bindings==12.9.*")),
    Break("numba-llvmlite-behind", "numba", ("install --no-deps llvmlite==0.44.0",), PYTHONS, NUMBA, (*SAME_NUMBA, "llvmlite==0.45.*")),
    Break("numba-numpy-ahead", "numba", ("install --no-deps numpy==2.4.1",), PYTHONS, NUMBA, ("numba==0.62.1", "numpy<2.4")),
    # ------------------------------------------------ flavours and companions, further
    Break("onnxruntime-beside-gpu", "ort", ("install --no-deps onnxruntime==1.19.2", "install --reinstall --no-deps onnxruntime-gpu==1.20.2"), ("install.conflict",), ORT, ("onnxruntime-gpu==1.20.2",), without=("onnxruntime",)),
    Break("onnxruntime-openvino-over-gpu", "ort", ("install --no-deps onnxruntime-openvino==1.20.0",), ("install.conflict",), ORT, ("onnxruntime-gpu==1.20.2",), without=("onnxruntime-openvino",)),
    Break("tensorflow-keras-gone", "tf", ("uninstall keras",), (*PYTHONS, *DAMAGE), TF + "; tf.keras.layers.Dense(1)", (*SAME_TF, "keras==2.15.*")),
    Break("tf-keras-of-another-imported", "tf", ("install --no-deps tf-keras==2.17.0",), PYTHONS, TF + "; import tf_keras; tf_keras.layers.Dense(1)", (*SAME_TF, "tf-keras==2.15.*")),
    Break("tensorflow-io-behind", "tf", ("install --no-deps tensorflow-io==0.32.0 tensorflow-io-gcs-filesystem==0.32.0",), PYTHONS + COMPANION, TF + "; import tensorflow_io as t; t.version", SAME_TF),
    Break("flax-behind-jax", "jax", ("install flax==0.10.2 numpy==2.0.2", "install --no-deps flax==0.6.1"), PYTHONS + COMPANION, JAX + "; import flax.linen", ("jax==0.4.38",)),
    # ------------------------------------------------ from elsewhere
    Break("numpy-of-another-python", "ort", ("foreign 3.11 numpy==2.2.6",), (*DAMAGE, *COMPANION, "other.not_gpu"), ORT, ("onnxruntime-gpu==1.20.2", "numpy==2.2.6")),
    Break("jaxlib-of-another-python", "jax", ("foreign 3.12 jaxlib==0.4.38",), (*DAMAGE, *COMPANION, "other.not_gpu"), JAX, ("jax==0.4.38", "jaxlib==0.4.38")),
    Break("pth-from-elsewhere", "ort", ("pth numpy==1.26.4",), ("env.shadowed", *PYTHONS), told="elsewhere.pth"),
    # ------------------------------------------------ what nobody can carry out here
    Break("base-python-gone", "ort", ("dead",), ("other.not_gpu", "env.path", "install.corrupted"), ORT, ("onnxruntime-gpu==1.20.2", "numpy==2.2.6")),
    Break("conda-prefix", "torch", ("conda", "cut nvidia/cublas/lib/libcublasLt.so.12"), DAMAGE, told="--clone"),
    Break("conda-prefix-in-place", "torch", ("conda", "cut nvidia/cublas/lib/libcublasLt.so.12"), DAMAGE, TORCH, SAME_TORCH, in_place=True),
    Break("conda-package-damaged", "ort", ("prefix numpy==2.2.6", "install onnxruntime-gpu==1.20.2", "gone numpy/_core/_multiarray_umath*"), DAMAGE, told="conda install --yes --prefix"),
    Break("conda-prefix-pip-package-cut", "ort", ("prefix numpy==2.2.6", "install onnxruntime-gpu==1.20.2", "cut onnxruntime/capi/onnxruntime_pybind11_state.cpython-312-x86_64-linux-gnu.so"), DAMAGE, ORT, ("onnxruntime-gpu==1.20.2", "numpy==2.2.6"), in_place=True),
    # ------------------------------------------------ remedies that no break above asks for
    Break("activation-of-another-folder", "jax", ("moved /srv/jax",), ("env.path",), JAX + ACTIVATED.format("assert told[:2] == [sys.prefix] * 2, told"), ("jax==0.4.38",)),
    Break("activation-edited-on-windows", "cupy", ("of_windows bin/activate",), ("env.path", "env.setting", "install.corrupted"), CUPY + ACTIVATED.format("assert told[:2] == [sys.prefix] * 2, told"), ("cupy-cuda12x==13.3.0",)),
    Break("tensorboard-of-the-night-over-it", "cupy", ("install tensorboard==2.20.0 protobuf==5.29.5 setuptools==80.9.0", "install --no-deps tb-nightly==2.21.0a20251023"), ("install.conflict",), CUPY + "\nfrom tensorboard import program; program.TensorBoard", ("tensorboard==2.20.0", "cupy-cuda12x==13.3.0"), without=("tb-nightly",)),
    Break("activation-hides-the-gpu", "ort", ("exports CUDA_VISIBLE_DEVICES=-1",), ("device.selection", "env.setting"), ORT + ACTIVATED.format("assert told[2] == '', told"), ("onnxruntime-gpu==1.20.2",), as_if=True),
    Break("compiled-copies-spoilt", "ort", ("compiled numpy",), DAMAGE, ORT, ("numpy==2.2.6",)),
    Break("start-up-file-in-the-way", "ort", ("starts import sys; sys.modules['numpy'] = None",), (*DAMAGE, "env.shadowed"), ORT, ("numpy==2.2.6",)),
    Break("jax-two-plugins", "jax", ("install --no-deps jax-cuda13-plugin==0.7.2 jax-cuda13-pjrt==0.7.2",), COMPANION, JAX, ("jax==0.4.38", "jax-cuda12-plugin==0.4.38"), without=("jax-cuda13-plugin", "jax-cuda13-pjrt")),
    Break("source-folder-gone", "jax", ("editable opt-einsum",), DAMAGE, JAX, ("jax==0.4.38",)),
    Break("unlisted-module-marked", "jax", ("unlist opt_einsum", "marked opt_einsum/__init__.py"), (*DAMAGE, "other.not_gpu"), JAX, ("jax==0.4.38",)),
    Break("jax-nvjitlink-too-old", "jax", ("install --no-deps nvidia-nvjitlink-cu12==12.1.105",), LIBRARY, JAX + "\n" + opens("libnvJitLink.so.12", "libcublasLt.so.12", "libcublas.so.12", "libcusparse.so.12", "libcusolver.so.11"), ("jax==0.4.38",), as_if=True),
    Break("jax-cudnn-of-two-releases", "jax", ("unlist nvidia_cudnn_cu12", "swap nvidia/cudnn/lib/libcudnn_ops.so.9 nvidia-cudnn-cu12==9.8.0.87"), ("cudnn.mixed_libraries", *DAMAGE), JAX + "\n" + cudnn(9), ("nvidia-cudnn-cu12==9.1.0.70",), as_if=True),
    Break("jax-cudnn-of-cuda-11", "jax", ("uninstall nvidia-cudnn-cu12", "install --no-deps nvidia-cudnn-cu11==9.1.0.70"), ("cudnn.dependency_missing", "install.inconsistent", *VERSION), JAX + "\n" + cudnn(9), ("nvidia-cudnn-cu12>=9.1,<10",), as_if=True),
    Break("jax-cudnn-without-the-card", "jax", ("install --no-deps nvidia-cudnn-cu12==9.12.0.46",), ("framework.gpu_unsupported",), JAX + "\n" + cudnn(9), ("nvidia-cudnn-cu12<9.11",), as_if=True, gpu="V100"),
    Break("ctranslate2-cudnn-8", "ctranslate2", ("install --no-deps nvidia-cudnn-cu12==8.9.7.29",), ("cudnn.missing", *VERSION), CT2 + "\n" + cudnn(8), ("ctranslate2<4.5", "nvidia-cudnn-cu12==8.9.7.29"), as_if=True, take="cudnn.missing=3"),
    Break("ctranslate2-cudnn-8-to-9", "ctranslate2", ("install --no-deps nvidia-cudnn-cu12==8.9.7.29",), ("cudnn.missing", *VERSION), CT2 + "\n" + cudnn(9), ("ctranslate2==4.5.0", "nvidia-cudnn-cu12>=9"), as_if=True),
    Break("jax-nvjitlink-as-pinned", "jax", ("install --no-deps nvidia-nvjitlink-cu12==12.1.105",), LIBRARY, JAX + "\n" + opens("libnvJitLink.so.12", "libcublasLt.so.12", "libcublas.so.12", "libcusparse.so.12", "libcusolver.so.11"), ("jax==0.4.38",), as_if=True, take="cuda.version_mismatch=2"),
    Break("vision-behind-torch-goes-back", "torch", ("install --no-deps torchvision==0.20.1",), COMPANION, TORCH, ("torch==2.5.1", "torchvision==0.20.1", "torchaudio==2.5.1"), take="framework.extension_abi=2"),
    Break("cupy-11x-beside-cuda-12", "cupy", ("uninstall cupy-cuda12x", "install --no-deps cupy-cuda11x==13.3.0", "install nvidia-cuda-nvrtc-cu12==12.4.127 nvidia-cuda-runtime-cu12==12.4.127 nvidia-cublas-cu12==12.4.5.8 nvidia-cufft-cu12==11.2.1.3 nvidia-curand-cu12==10.3.5.147 nvidia-cusolver-cu12==11.6.1.9 nvidia-cusparse-cu12==12.3.1.170"), LIBRARY, CUPY, ("cupy-cuda12x",), without=("cupy-cuda11x",), as_if=True, take="cuda.version_mismatch=2"),
    Break("onnxruntime-on-an-old-driver", "ort", ("uninstall pip",), ("driver.too_old",), ORT, ("onnxruntime-gpu<1.19",), as_if=True, driver="470.256.02"),
    Break("cupy-14-without-late-libraries", "cupy14", ("uninstall nvidia-cufft-cu12 nvidia-curand-cu12",), LACK, LATE, ("cupy-cuda12x==14.2.0", "nvidia-cufft-cu12", "nvidia-curand-cu12"), as_if=True),
    Break("cupy-13-without-late-libraries", "cupy", ("install nvidia-cuda-nvrtc-cu12==12.4.127 nvidia-cuda-runtime-cu12==12.4.127 nvidia-cublas-cu12==12.4.5.8", leads("cuda_nvrtc", "cuda_runtime", "cublas")), LACK, LATE, ("cupy-cuda12x>=14",), as_if=True, take="cuda.missing_library=2"),
    Break("cudnn-8-without-cublas", "cupy11", (leads(*LATE_11, "cublas"), "uninstall nvidia-cublas-cu11"), ("cudnn.dependency_missing", *LACK), activated(CUPY_CUDNN), ("cupy-cuda11x==13.3.0", "nvidia-cudnn-cu11==8.6.0.163", "nvidia-cublas-cu11"), as_if=True),
    Break("cudnn-8-cublas-unsearched", "cupy11", ("toolkit cuda 11.8.0 nvidia-cublas-cu11==11.11.3.6", "toolkit cudnn 8.6.0 nvidia-cudnn-cu11==8.6.0.163 nvidia-cusolver-cu11==11.4.1.48", "uninstall nvidia-cublas-cu11 nvidia-cudnn-cu11 nvidia-cusolver-cu11", leads(*LATE_11) + ":{env}-cudnn/lib64", "exports CUDA_HOME={env}-cuda"), ("cudnn.dependency_missing", "env.path"), activated(CUPY_CUDNN), ("cupy-cuda11x==13.3.0",), without=("nvidia-cublas-cu11", "nvidia-cudnn-cu11"), as_if=True),
    Break("cudnn-parts-in-another-folder", "ctranslate2", ("uninstall pip",), ("cudnn.missing",), activated(CT2 + "; import ctypes, glob, sysconfig; one = glob.glob(sysconfig.get_paths()['purelib'] + '/ctranslate2.libs/libcudnn-*.so.9*')[0]; v = ctypes.CDLL(one).cudnnGetVersion(); assert v == 90100, v; ctypes.CDLL('libcublas.so.12')"), ("ctranslate2==4.5.0", "nvidia-cudnn-cu12==9.1.0.70"), as_if=True),
    Break("jax-cudnn-of-an-older-minor", "jax", ("install --no-deps nvidia-cudnn-cu12==9.0.0.312",), VERSION, JAX + "\n" + cudnn(9), ("jax==0.4.38", "nvidia-cudnn-cu12>=9.1,<10"), as_if=True),
    Break("tensorflow-older-cudnn-first", "tf18", ("graft nvidia/cublas/lib nvidia-cudnn-cu12==9.1.0.70",), ("cudnn.version_mismatch",), activated(TF + "; import ctypes; v = ctypes.CDLL('libcudnn.so.9').cudnnGetVersion(); assert v == 90300, v"), ("tensorflow==2.18.1", "nvidia-cudnn-cu12==9.3.0.75"), as_if=True, in_place=True),
    Break("toolkit-unsearched", "ort", (f"toolkit cuda 12.4.0 {OF_ORT}", "exports CUDA_HOME={env}-cuda"), ("env.path",), activated("import ctypes; ctypes.CDLL('libcublas.so.12'); v = ctypes.CDLL('libcudnn.so.9').cudnnGetVersion(); assert v == 90100, v"), ("onnxruntime-gpu==1.20.2",), as_if=True),
    Break("bitsandbytes-of-other-cudas", "torch", ("install setuptools==75.8.0", "install --no-deps bitsandbytes==0.43.0"), COMPANION, TORCH + "; import ctypes, glob, os, bitsandbytes; assert glob.glob(os.path.dirname(bitsandbytes.__file__) + '/libbitsandbytes_cuda124.so')", (*SAME_TORCH, "bitsandbytes>=0.43.1"), as_if=True),
    Break("python-barred", "ort", ("barred",), ("other.not_gpu",), ORT, ("onnxruntime-gpu==1.20.2", "numpy==2.2.6")),
    Break("torch-without-the-card", "torch1", ("uninstall pip",), ("framework.gpu_unsupported",), "import torch; assert 'sm_80' in torch._C._cuda_getArchFlags()", ("torch>=1.13",), as_if=True, driver="470.256.02"),
    Break("numba-without-nvvm", "numba-alone", ("uninstall pip",), LACK, "import numba; assert numba.njit(lambda x: x + 1)(1) == 2; import numba_cuda; import glob, sysconfig; assert glob.glob(sysconfig.get_paths()['purelib'] + '/nvidia/cuda_nvcc/nvvm/lib64/libnvvm.so*')", ("numba-cuda",), as_if=True, hidden="/usr/local/cuda"),
    Break("cache-folder-below-a-file", "cupy", ("exports CUPY_CACHE_DIR={env}/pyvenv.cfg/kernels",), ("env.setting",), activated("import os; os.makedirs(os.environ.get('CUPY_CACHE_DIR', '.'), exist_ok=True); import cupy"), ("cupy-cuda12x==13.3.0",)),
    Break("no-framework-scipy-ahead", "plain", ("install --no-deps scipy==1.14.1",), ("install.inconsistent",), GENSIM, ("gensim", "scipy")),
    Break("no-framework-a-requirement-gone", "plain", ("uninstall contourpy",), ("install.inconsistent",), CONTOUR, ("contourpy", "matplotlib==3.9.2")),
)  # fmt: skip
