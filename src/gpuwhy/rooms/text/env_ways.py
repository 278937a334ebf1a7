"""Env ways: the variable, the folder and the path that a text names, and how each is set right."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from gpuwhy.knowledge.installs import NEWEST, gpu_requirement
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.shared.commands import word
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import tried
from gpuwhy.rooms.text.where import by_conda

_LIST = Later(r"(CUDA_HOME|CUDA_PATH|CUDA_ROOT)=[\"']?[^\s\"']*:(/[\w./-]+)")
_GONE = Later(r"(/usr/local/cuda-[\d.]+|/opt/cuda[\w./-]*?)/(?:nvvm|bin|lib64|include)[\w./-]*: (?:cannot open|No such)")  # fmt: skip
_NVCC = '$(python -c "import nvidia.cuda_nvcc as n; print(list(n.__path__)[0])")'


def compilers(case: Asked) -> Iterator[Fix]:
    """A compiler that is not found: the variable that leads astray, the wheel and its folder, conda's."""
    if found := _LIST.search(case.text):
        yield tried(f"{found[1]} is one folder, never a list: name that folder alone", on.linux(f"export {found[1]}={found[2]}"))  # fmt: skip
    if gone := _GONE.search(case.text):
        yield tried(f"{gone[1]} is searched and is not there: a variable names it. Unset it, or name the toolkit that is installed (ls -d /usr/local/cuda*)", on.linux("unset CUDA_HOME CUDA_PATH NUMBAPRO_NVVM NUMBAPRO_LIBDEVICE"))  # fmt: skip
    if (
        not case.windows
        and 0 < case.cuda_major < 11
        and "." in case.cuda
        and re.search(r"nvrtc|builtins|nvvm", case.text)
    ):
        folder = f"/usr/local/cuda-{case.cuda}"
        yield tried(f"CUDA {case.cuda} has its compiler in the toolkit alone, and its parts (nvrtc-builtins, libdevice) are not found: have that toolkit's folders searched, by the process that fails", on.linux(f"export LD_LIBRARY_PATH={folder}/lib64:{folder}/nvvm/lib64${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}} CUDA_HOME={folder} CUDA_PATH={folder}"))  # fmt: skip
    if case.windows or not re.search(r"libdevice|nvvm|ptxas|cuda_data_dir", case.text):
        return
    if 0 < (case.cuda_major or case.era) < 11 and case.framework in ("tensorflow", "jax"):
        yield tried("This release is of the time of CUDA 10, whose ptxas is in the toolkit alone: install that toolkit (NVIDIA's archive has 10.0 and 10.1; a cluster: module load cuda/10.0), and name its folder", on.linux("export PATH=/usr/local/cuda-10.0/bin:$PATH XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda-10.0"))  # fmt: skip
        yield tried("Or conda's, which has it too", on.linux("conda install -c conda-forge cudatoolkit-dev=10.1.243\nexport PATH=$CONDA_PREFIX/pkgs/cuda-toolkit/bin:$PATH XLA_FLAGS=--xla_gpu_cuda_data_dir=$CONDA_PREFIX/pkgs/cuda-toolkit"))  # fmt: skip
    elif case.framework in ("tensorflow", "jax"):
        yield tried("Install nvcc's parts as a wheel, and tell XLA their folder", on.linux(f"pip install nvidia-cuda-nvcc{case.suffix}\nexport XLA_FLAGS=--xla_gpu_cuda_data_dir={_NVCC}"))  # fmt: skip
        if by_conda(case.reading):
            yield tried("Or, in a conda environment: conda's nvcc, and its folder", on.linux("conda install -c nvidia cuda-nvcc\nexport XLA_FLAGS=--xla_gpu_cuda_data_dir=$CONDA_PREFIX"))  # fmt: skip


_DENIED = Later(r"(?:Permission denied|Read-only file system|Errno 13\]|Errno 30\]|Errno 16\]|Errno 122\]|Disk quota exceeded|Errno 28\]|No space left on device)[^'\"\n]*['\"]([/~][^'\"\n]+)['\"]")  # fmt: skip
_CACHES = (("triton", "TRITON_CACHE_DIR"), ("inductor", "TORCHINDUCTOR_CACHE_DIR"), ("torch_extensions", "TORCH_EXTENSIONS_DIR"), ("huggingface", "HF_HOME"), ("numba", "NUMBA_CACHE_DIR"), ("matplotlib", "MPLCONFIGDIR"), ("cupy", "CUPY_CACHE_DIR"), (".nv", "CUDA_CACHE_PATH"), ("vllm", "VLLM_CACHE_ROOT"), ("torch/hub", "TORCH_HOME"), (".keras", "KERAS_HOME"), ("flashinfer", "FLASHINFER_WORKSPACE_BASE"), ("pip", "PIP_CACHE_DIR"), ("/uv/", "UV_CACHE_DIR"), (".conda/pkgs", "CONDA_PKGS_DIRS"), ("conda3/pkgs", "CONDA_PKGS_DIRS"), (".ollama", "OLLAMA_MODELS"), ("/ray/", "RAY_TMPDIR"), ("wandb", "WANDB_DIR"), ("cache", "XDG_CACHE_HOME"), ("tmp", "TMPDIR"))  # fmt: skip


_OWN_FOLDER = Later(r"/(?:home|data|mnt|scratch|workspace|tmp)/\w[\w.-]*")
"""Folders that may be somebody's: never the system's own."""


def of_its_owner(case: Asked) -> Iterator[Fix]:
    """The folder of a program that has a variable of its own for it: that variable, before any other."""
    found = _DENIED.search(case.text)
    if found and any(part in found[1] for part, _ in _CACHES[:-2]):
        yield from itertools.islice(writable(case), 1)


def writable(case: Asked) -> Iterator[Fix]:
    """A folder that may not be written: which, whose variable moves it, and who may open it."""
    found = _DENIED.search(case.text)
    if not found or case.windows:
        return
    path = found[1]
    variable = next((name for part, name in _CACHES if part in path), "XDG_CACHE_HOME")
    folder = path.rpartition("/")[0] or "/"
    name = variable.split("_")[0].lower()
    full = re.search(r"quota|No space|Errno 28|Errno 122", found[0])
    why = "lies on a disk that is full, or beyond your quota: have it written where there is room" if full else "may not be written: have it written to a folder of your own, on a local disk"  # fmt: skip
    cache = f"/BIG/{name}" if full else f"$HOME/.cache/{name}"
    yield tried(f"{path} {why}", on.linux(f"mkdir -p {cache} && export {variable}={cache}"))
    if _OWN_FOLDER.match(folder):
        yield tried("Or make that folder yours", on.linux(f"sudo chown $USER {word(folder)}"), root=True)


_BUNDLED = Later(r"(?:lib|_)(nvJitLink|cublasLt|cublas|cusparse|cudnn|nccl|cufft|cusolver)(?:\w*\.so(?:\.(\d+))?|[A-Z]\w*?_(\d+)_\d+)", re.IGNORECASE)  # fmt: skip
_WHEEL = {"nvjitlink": "nvidia-nvjitlink", "cublas": "nvidia-cublas", "cublaslt": "nvidia-cublas", "cusparse": "nvidia-cusparse", "cudnn": "nvidia-cudnn", "nccl": "nvidia-nccl", "cufft": "nvidia-cufft", "cusolver": "nvidia-cusolver"}  # fmt: skip


def _suffix(case: Asked, major: str) -> str:
    """Of the wheels for the CUDA that a library's or a symbol's name tells."""
    return f"-cu{major}" if major in ("11", "12") else case.suffix


def one_copy(case: Asked) -> Iterator[Fix]:
    """Two copies of a library: leave the search to the wheels, then put the wheels of one release in place."""
    if case.windows:
        return
    yield tried("Leave the framework to the libraries that it brings: a folder of another CUDA in this variable is searched first", on.linux("unset LD_LIBRARY_PATH"))  # fmt: skip
    found = [one.groups() for one in _BUNDLED.finditer(case.lines)]
    wheels = " ".join(dict.fromkeys(_WHEEL[name.lower()] + _suffix(case, one or other) for name, one, other in found))
    if case.framework == "torch" or "torch" in case.text:
        also = f" {wheels}" if wheels else ""
        yield tried("Install PyTorch again together with the libraries that it asks for, so that they are of one release", on.linux(f"pip uninstall -y torch{also}\npip install --no-cache-dir torch"))  # fmt: skip
    elif wheels:
        yield tried("Install these wheels again, of one release", on.linux(f"pip install --upgrade --force-reinstall {wheels}"))  # fmt: skip


def one_package(case: Asked) -> Iterator[Fix]:
    """Several packages of one module: all out, and the one of the release that is told in."""
    if case.framework == "tensorflow" and case.version:
        wanted = gpu_requirement("tensorflow", "tensorflow", case.version, None) or NEWEST["tensorflow"]
        yield tried(f"Remove all packages of TensorFlow, then install the one of {case.version} with GPU support", on.linux(f'pip uninstall -y tensorflow tensorflow-gpu tensorflow-cpu tf-nightly\npip install --no-cache-dir "{wanted}"'))  # fmt: skip
    elif case.framework == "onnxruntime" and case.version:
        yield tried(f"Remove all packages of ONNX Runtime, then install the GPU one of {case.version}", f'pip uninstall -y onnxruntime onnxruntime-gpu\npip install --no-cache-dir "onnxruntime-gpu=={case.version}"')  # fmt: skip


def of_the_host(case: Asked) -> Iterator[Fix]:
    """The computer's own memory: fewer workers and copies, by what asked for it."""
    if re.search(r"dataloader|worker", case.text, re.IGNORECASE):
        yield tried("Load with fewer workers, without pinned memory: each has its own copy of what the data set holds", on.code("DataLoader(dataset, num_workers=0, pin_memory=False)"))  # fmt: skip
    elif re.search(r"allocator (?:mklcpu|cpu)|device:CPU|DefaultCPUAllocator", case.text):
        yield tried("This tensor is on the CPU, and the computer's memory is full: make the batch or the tensor smaller, or keep it in float32 or less; or put the operation on the GPU")  # fmt: skip
    elif any(one.name in ("ollama", "ggml", "lmstudio") for one in case.programs):
        yield tried("Take a smaller model, or a smaller quantisation of it, and a shorter context; and end other programs", "ollama run llama3.2:1b    # OLLAMA_CONTEXT_LENGTH=2048")  # fmt: skip
        yield tried("Or add swap, which is slow but lets it load", on.linux("sudo fallocate -l 16G /swapfile && sudo chmod 600 /swapfile && sudo mkswap /swapfile && sudo swapon /swapfile"), root=True)  # fmt: skip
    elif case.tools & {"slurm"}:
        yield tried("Slurm: ask for more memory", on.linux("sbatch --mem=64G JOB"))
    else:
        yield tried("Load the model with less of the computer's memory: in half precision, part by part, straight to the GPU", on.code('AutoModel.from_pretrained(MODEL, torch_dtype="auto", low_cpu_mem_usage=True, device_map="auto")') if case.framework == "torch" else "")  # fmt: skip
        if case.windows or case.tools & {"container", "kubernetes", "wsl"}:
            yield tried("Or give the computer room: end other programs, add swap, or use a machine with more memory")
        else:
            yield tried("Or give the computer room: end other programs, and add swap, of 8 GB here (slow, but it lets the program load)", on.linux("sudo fallocate -l 8G /swapfile && sudo chmod 600 /swapfile && sudo mkswap /swapfile && sudo swapon /swapfile"), root=True)  # fmt: skip
