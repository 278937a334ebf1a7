"""Thirteenth operators, surroundings: words that JAX, compilers and launchers read, cards by options, names and buses, standard modules of another team, limits lowered from outside, tools that children do not find, paths of wheels written in programs, threads and places in children."""

from __future__ import annotations

from collections.abc import Mapping

from lab.random.eleventh import (  # fmt: skip
    BAD,
    BUILD,
    COMPILER,
    HOST,
    LIB,
    LIGHT,
    LIM,
    MIXED,
    NVCC,
    ODD,
    OT,
    PATH,
    SEL,
    SET,
    SHA,
    SHADOW,
    VERSION,
    C,
    Case,
    J,
    N,
    T,
)
from lab.random.eleventh_cpp import HEAD
from lab.random.thirteenth import enter
from lab.random.twelfth import shell

ON, JM, CM = "torch-matmul torch-train", "jax-matmul jax-grad jax-fft", "cupy-matmul cupy-fft cupy-raw"


def word(needs: str, name: str, value: str, expect: str, also: tuple[str, ...] = (OT,), after: str = "") -> Case:
    """A variable with a value that its reader refuses."""
    return Case(needs, f"{name}={value}", SET, also, environ={name: value}, after=after, expect=expect, void="")


WORDS = "(?i)truth value|invalid|ValueError|must be|unknown|flag"
enter(
    "jax-words-not-told-before",
    word(JM, "JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "ten", WORDS),
    word(JM, "JAX_SOFTMAX_CUSTOM_JVP", "maybe", WORDS),
    word(JM, "JAX_ENABLE_CUSTOM_PRNG", "later", WORDS),
    word(JM, "JAX_USE_SHARDY_PARTITIONER", "auto", WORDS),
    word(JM, "JAX_TRANSFER_GUARD_DEVICE_TO_DEVICE", "never", WORDS),
    word(JM, "JAX_INCLUDE_FULL_TRACEBACKS_IN_LOCATIONS", "sometimes", WORDS),
    word(JM, "JAX_OPTIMIZATION_LEVEL", "O9", WORDS),
    word(JM, "JAX_MEMORY_FITTING_LEVEL", "tight", WORDS),
    word(JM, "JAX_COMPILER_DETAILED_LOGGING_MIN_OPS", "few", WORDS),
    word(JM, "JAX_MOCK_NUM_GPU_PROCESSES", "two", WORDS),
    word(JM, "JAX_REMOVE_SIZE_ONE_MESH_AXIS_FROM_TYPE", "x", WORDS),
)
GIVEN = "(?i)ValueError|invalid literal|could not convert|unknown|not a valid"
enter(
    "compilers-words-not-told-before",
    word("torch-compile", "TORCHINDUCTOR_MULTI_KERNEL", "auto", GIVEN),
    word("torch-compile", "TORCHINDUCTOR_COORDINATE_DESCENT_RADIUS", "wide", GIVEN),
    word("torch-compile", "TORCHINDUCTOR_CUTLASS_MAX_PROFILING_CONFIGS", "all", GIVEN),
    word("torch-compile", "TORCHINDUCTOR_MAX_POINTWISE_CAT_INPUTS", "eight", GIVEN),
    word("torch-compile", "TORCH_COMPILE_STROBELIGHT_MAX_STACK_LENGTH", "deep", GIVEN),
    shell("torch-nccl", "LOGLEVEL=chatty for a launcher", SET, (OT,), "export LOGLEVEL=chatty; exec $PYTHON -m torch.distributed.run --standalone --nproc-per-node 1 $SCRIPT", "(?i)chatty|Unknown level"),
    shell("torch-nccl", "PET_NPROC_PER_NODE=quarter for a launcher", SET, (OT, SEL), "export PET_NPROC_PER_NODE=quarter; exec $PYTHON -m torch.distributed.run --standalone $SCRIPT", "(?i)quarter|nproc"),
    shell("torch-nccl", "PET_MAX_RESTARTS=often for a launcher", SET, (OT,), "export PET_MAX_RESTARTS=often; exec $PYTHON -m torch.distributed.run --standalone --nproc-per-node 1 $SCRIPT", "(?i)often|invalid|restarts"),
)  # fmt: skip
ORDINAL = "(?i)ordinal|device|index|range"
ARGS = "import argparse\na = argparse.ArgumentParser('train')\na.add_argument('--device', default='cuda:0')\na.add_argument('--gpu-id', type=int, default=0)\na.add_argument('--config')\na = a.parse_args()\n"


def asked(needs: str, target: str, options: str, code: str, expect: str = ORDINAL, files: Mapping[str, str] | None = None) -> Case:  # fmt: skip
    """A program whose card is told on its command line or in its file of settings."""
    return Case(needs, target, SEL, (SET, OT), code=ARGS + code, command=f"exec $PYTHON $SCRIPT {options}", files=files or {}, expect=expect, void="")  # fmt: skip


ARGV = f"{HEAD}int main(int n, char** v) {{ int c = n > 1 ? atoi(v[1]) : 0; GO(cudaSetDevice(c)); float* d; GO(cudaMalloc(&d, 1 << 20)); fill<<<64, 256>>>(d, 1 << 14); DONE; return 0; }}\n"
enter(
    "cards-by-options",
    asked(ON, "--device cuda:3", "--device cuda:3", T + "print(torch.ones(3, device=a.device), 'cuda')\n"),
    asked(ON, "--gpu-id 1, as the cards are counted from one", "--gpu-id 1", T + "torch.cuda.set_device(a.gpu_id)\nprint(torch.ones(3, device='cuda'))\n"),
    asked(ON, "--device gpu", "--device gpu", T + "print(torch.ones(3).to(a.device), 'cuda')\n", "(?i)gpu|device type"),
    asked(JM, "--gpu-id 2, JAX", "--gpu-id 2", J + "assert 'cuda'\nprint(jax.device_put(jnp.ones(3), jax.devices('@J@')[a.gpu_id]))\n"),
    asked(CM, "--gpu-id 4, CuPy", "--gpu-id 4", C + "cupy.cuda.Device(a.gpu_id).use()\nprint(cupy.ones(3).sum(), 'cuda')\n"),
    asked("numba-kernel", "--gpu-id 1, Numba", "--gpu-id 1", N + "cuda.select_device(a.gpu_id)\nprint(cuda.to_device(numpy.ones(3)).shape, 'cuda')\n"),
    asked(ON, "file of settings with eight cards", "--config train.json", T + "import json\ns = json.load(open(a.config))\nm = [torch.nn.Linear(2, 2).to(f'cuda:{i}') for i in s['trainer']['devices']]\nprint(len(m))\n", files={"train.json": '{"trainer": {"devices": [0, 1, 2, 3, 4, 5, 6, 7], "strategy": "ddp"}}\n'}),
    asked(ON, "map of layers for two cards", "--config map.json", T + "import json\nfor layer, place in json.load(open(a.config)).items():\n    print(layer, torch.ones(1, device='cuda').to(place).device, flush=True)\n", files={"map.json": '{"embed": "cuda:0", "layers.0": "cuda:0", "layers.1": "cuda:1", "head": "cuda:1"}\n'}),
    Case("cpp-add", "argument 2, C++", SEL, (SET, OT), code=ARGV, command=f"{NVCC} 2", expect=r"\[fatal\]", void=""),
)  # fmt: skip
enter(
    "cards-by-names-and-buses",
    Case(ON, "name of another card", SEL, (OT, SET), code=T + "want = 'A100'\ncards = [i for i in range(torch.cuda.device_count()) if want in torch.cuda.get_device_name(i)]\nif not cards:\n    raise RuntimeError(f'no {want} among {[torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]}')\nprint('cuda')\n", expect="no A100"),
    Case(ON, "identity of a card that is gone", SEL, (OT, SET), code=T + "want = 'GPU-00000000-1111-2222-3333-444444444444'\nind = {'GPU-' + str(torch.cuda.get_device_properties(i).uuid): i for i in range(torch.cuda.device_count())}\ntorch.cuda.set_device(ind[want])\nprint('cuda')\n", expect="GPU-00000000"),
    Case(CM, "place on the bus", SEL, (OT, SHA), code=C + "print(cupy.ones(2).sum(), 'cuda')\nd = cupy.cuda.Device.from_pci_bus_id('0000:7f:1f.0')\nprint(d)\n", expect="(?i)device|invalid"),
    Case(ON, "two cards asked of a pool of one", SEL, (OT, SET), code=T + "need, have = 2, torch.cuda.device_count()\nif have < need:\n    raise SystemExit(f'tensor_parallel_size={need} but only {have} cuda device(s) are visible')\n", expect="tensor_parallel_size"),
    Case(ON, "card with more memory than any", SEL, (OT, SET, "memory.oom"), code=T + "need = 400 << 30\nbest = max(range(torch.cuda.device_count()), key=lambda i: torch.cuda.get_device_properties(i).total_memory)\nhave = torch.cuda.get_device_properties(best).total_memory\nif have < need:\n    raise RuntimeError(f'no device with {need >> 30} GiB: cuda:{best} has {have >> 30} GiB')\n", expect="no device with"),
    Case("jax-matmul", "kind of another card, JAX", SEL, (OT, SET), code=J + "d = [d for d in jax.devices('@J@') if 'TPU v5' in d.device_kind]\nassert 'cuda'\nprint(jax.device_put(jnp.ones(3), d[0]))\n", expect="IndexError"),
    Case("cpp-add", "place on the bus, C++", SEL, (SHA,), code=f'{HEAD}int main() {{ int c; GO(cudaDeviceGetByPCIBusId(&c, "0000:7f:1f.0")); return 0; }}\n', command=NVCC, expect=r"\[fatal\]"),
)  # fmt: skip
THEIRS = '"""Helpers of the data team."""\n\n\ndef load(path):\n    return open(path).read()\n'


def team(needs: str, name: str, text: str = THEIRS) -> Case:
    """A module of another team's folder that has the name of a standard one."""
    shown = rf"(?i)\b{name}\b|cannot import|has no attribute"
    return Case(needs, name, SHADOW, (OT,), files={f"dataops/{name}.py": text}, environ={"PYTHONPATH": "$D/dataops"}, expect=shown, void="", dress="shell")  # fmt: skip


enter(
    "standard-modules-of-another-team",
    *(team("torch-matmul torch-train jax-matmul cupy-matmul", name) for name in ("queue", "numbers", "platform", "uuid", "fractions", "bisect", "contextvars", "calendar", "pprint", "timeit", "html", "graphlib")),
)  # fmt: skip
LOWER = "import os, subprocess, sys\nprint('before', flush=True)\nsubprocess.run([sys.executable, '-c', 'import os, resource; resource.prlimit(os.getppid(), resource.@R@, (@V@, @V@))'], check=True)\n"


def lowered(needs: str, what: str, value: str, cause: str, also: tuple[str, ...], after: str, expect: str) -> Case:
    """A program that works, whose limits a janitor lowers from outside, and that goes on."""
    text = LOWER.replace("@R@", what).replace("@V@", value) + after
    return Case(needs, f"{what} {value}", cause, also, after=text, expect=expect, void="", dress="shell")


enter(
    "limits-lowered-from-outside",
    lowered(LIGHT, "RLIMIT_NOFILE", "8", LIM, (OT,), "fs = [open(__file__) for _ in range(64)]\n", "(?i)Too many open files"),
    lowered(LIGHT, "RLIMIT_FSIZE", "65536", LIM, (OT,), "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nopen('state.bin', 'wb', buffering=0).write(bytes(1 << 16))\nf = open('state.bin', 'ab', buffering=0)\nf.write(bytes(1 << 20))\n", "(?i)File too large"),
    lowered("torch-matmul torch-train", "RLIMIT_AS", "1 << 30", LIM, (HOST, OT), "b = torch.empty(1 << 31, dtype=torch.uint8)\n", "(?i)memory|allocate"),
    lowered(CM, "RLIMIT_AS", "1 << 29", LIM, (HOST, OT), "import numpy\nb = numpy.ones(1 << 31, dtype='u1')\n", "(?i)memory|allocate"),
    lowered(LIGHT, "RLIMIT_CPU", "1", LIM, (OT, HOST), "while True:\n    pass\n", "(?i)before"),
    lowered("torch-matmul torch-train", "RLIMIT_NOFILE", "4", LIM, (OT,), "from torch.utils.data import DataLoader\nif __name__ == '__main__':\n    print(next(iter(DataLoader(range(8), num_workers=2))))\n", "(?i)Too many open files"),
    lowered("torch-matmul torch-train", "RLIMIT_DATA", "1 << 20", LIM, (HOST, OT), "b = torch.ones(1 << 28)\n", "(?i)memory|allocate"),
)  # fmt: skip
BARE = {"PATH": "/usr/bin:/bin"}


def tool(needs: str, target: str, cause: str, also: tuple[str, ...], after: str, expect: str, environ: Mapping[str, str | None]) -> Case:  # fmt: skip
    """A program that works and then calls a tool of the toolkit."""
    return Case(needs, target, cause, also, after="import os, subprocess\n" + after, environ=environ, expect=expect, void="")  # fmt: skip


GONE = "(?i)No such file|not found|FileNotFound"
enter(
    "tools-that-children-do-not-find",
    tool(LIGHT, "compiler called by its name", COMPILER, (PATH, BUILD, OT), "subprocess.run(['nvcc', '--version'], check=True)\n", GONE, BARE),
    tool(LIGHT, "compiler called through a shell", COMPILER, (PATH, BUILD, OT), "open('k.cu', 'w').write('__global__ void k() {}')\nsubprocess.run('nvcc -cubin -arch=sm_90 k.cu', shell=True, check=True)\n", GONE, BARE),
    tool(LIGHT, "assembler called by its name", COMPILER, (PATH, BUILD, OT), "subprocess.run(['ptxas', '--version'], check=True)\n", GONE, BARE),
    tool(LIGHT, "reader of code called by its name", PATH, (COMPILER, BUILD, OT), "print(subprocess.check_output(['cuobjdump', '--version']))\n", GONE, BARE),
    tool(LIGHT, "compiler of another folder", PATH, (COMPILER, BUILD, OT, VERSION), "subprocess.run([os.environ['NVCC'], '--version'], check=True)\n", GONE, {"NVCC": "/usr/local/cuda-10.2/bin/nvcc"}),
    tool(LIGHT, "folder of the toolkit without a compiler", PATH, (COMPILER, BUILD, OT, VERSION), "home = os.environ['CUDA_HOME']\nnvcc = os.path.join(home, 'bin', 'nvcc')\nif not os.path.exists(nvcc):\n    raise FileNotFoundError(f'{nvcc} not found, set CUDA_HOME to a CUDA toolkit')\n", GONE, {"CUDA_HOME": "/opt/cuda-12.1"}),
    tool("torch-matmul torch-train", "host's compiler by a name nobody has", BUILD, (PATH, SET, COMPILER, OT), "from torch.utils.cpp_extension import load_inline\nload_inline('f13', 'int f() { return 1; }', functions=['f'], build_directory=os.getcwd())\n", "(?i)g\\+\\+-77|not found|Error", {"CXX": "g++-77"}),
)  # fmt: skip
WHEEL = "import ctypes, os, sysconfig\nsite = sysconfig.get_paths()['purelib']\n"


def wheel(path: str, cause: str = PATH, also: tuple[str, ...] = (LIB, VERSION, OT), needs: str = LIGHT) -> Case:
    """A program that has the place of a wheel's library written in it."""
    code = f"{WHEEL}lib = ctypes.CDLL(os.path.join(site, '{path}'))\nprint(lib)\n"
    return Case(needs, path, cause, also, after=code, expect="(?i)cannot open shared object", void="")


enter(
    "places-of-wheels-in-programs",
    wheel("nvidia/cublas/lib/libcublas.so.11", VERSION, (LIB, PATH, OT)),
    wheel("nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2", VERSION, (LIB, PATH, "cuda.compiler_missing", OT)),
    wheel("nvidia/cudnn/lib/libcudnn.so.8", "cudnn.version_mismatch", ("cudnn.missing", PATH, LIB, VERSION, OT)),
    wheel("nvidia/cusolver/lib/libcusolver.so.10", VERSION, (LIB, PATH, OT)),
    wheel("torch/lib/libtorch_cuda_cu.so", ODD, (PATH, LIB, BAD, VERSION, OT, "framework.extension_abi")),
    wheel("tensorrt_libs/libnvinfer.so.8", LIB, (VERSION, PATH, OT)),
    Case(LIGHT, "their folder by the module's file", PATH, (LIB, OT, VERSION), after="import os\nimport nvidia\nprint(os.listdir(os.path.join(os.path.dirname(nvidia.__file__ or ''), 'cublas10', 'lib')))\n", expect="(?i)cublas10|NoneType", void=""),
)  # fmt: skip
STRAY = "mkdir -p $W/old; printf 'int acme_marker;' > $W/x.c; gcc -shared -fPIC -Wl,-soname,@N@ -o $W/old/@N@ $W/x.c || exit 97"


def stray(needs: str, name: str, also: tuple[str, ...] = ()) -> Case:
    """A library of the right name and nothing in it stands first in the loader's folders."""
    return Case(needs, name, MIXED, (PATH, SHADOW, BAD, LIB, "framework.extension_abi", "cudnn.mixed_libraries", *also), setup=STRAY.replace("@N@", name), environ={"LD_LIBRARY_PATH": "$W/old:$OLD_LD"}, expect="(?i)undefined symbol|version|symbol|cannot", void="", dress="shell")  # fmt: skip


enter(
    "hollow-libraries-first",
    *(stray(ON, name) for name in ("libcusparseLt.so.0", "libnvshmem_host.so.3", "libcufile.so.0", "libnccl.so.2", "libcurand.so.10", "libgomp.so.1")),
    stray("cpp-cublas", "libcublasLt.so.13"),
    stray("cpp-cublas", "libcublasLt.so.12"),
    stray("cpp-cufft", "libcufft.so.12"),
    stray("cpp-cufft", "libcufft.so.11"),
)  # fmt: skip
enter(
    "words-of-its-own-settings",
    Case(ON, "hidden size as a word", SHA, (SET, OT), code=T + "import os\nh = os.environ['HIDDEN']\nm = torch.nn.Linear(64, int(h)).to('@D@')\nprint(m(torch.ones(2, 63, device='@D@')))\n", environ={"HIDDEN": "32"}, expect="(?i)shapes cannot"),
    Case(ON, "dtype by a word", OT, (SET, SHA), code=T + "import os\nd = getattr(torch, os.environ['DTYPE'])\nprint(torch.ones(2, dtype=d, device='@D@'))\n", environ={"DTYPE": "fp16"}, expect="fp16", void=""),
    Case(ON, "back end by a word", SET, (OT,), code=T + "import os\nx = torch.ones(2, device='@D@')\ntorch.backends.cuda.preferred_linalg_library(os.environ['LINALG'])\n", environ={"LINALG": "mkl"}, expect="(?i)mkl|Unknown"),
    Case(JM, "precision by a word, JAX", SET, (OT,), code=J + "import os\njax.config.update('jax_default_matmul_precision', os.environ['PREC'])\nprint(jnp.ones(3))\n", environ={"PREC": "fastest"}, expect="(?i)fastest|matmul"),
    Case(JM, "platform by a word of the program, JAX", SET, (SEL, OT, "framework.cpu_only"), code=J + "import os\njax.config.update('jax_platforms', os.environ['ACME_BACKEND'])\nprint(jnp.ones(3))\n", environ={"ACME_BACKEND": "nvidia"}, expect="(?i)nvidia|backend"),
    Case(CM, "limit of the pool by a word, CuPy", SET, (OT, SHA), code=C + "import os\ncupy.get_default_memory_pool().set_limit(fraction=float(os.environ['POOL']))\nprint(cupy.ones(3), 'cuda')\n", environ={"POOL": "1.5"}, expect="(?i)fraction"),
)  # fmt: skip
