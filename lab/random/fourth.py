"""Operators for real environments without a GPU: driver's answers, links, markers in sources, interpreters' variables.

    python -m lab.random.fourth --device cpu --python ENV/bin/python --carry FOLDER --own PYTHON --out OUT --seed 41

As root; a C compiler builds the stand-in driver of a draw (two functions that answer with a status).
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable

from lab.random.draw import Draw, Machine, Operator, operator
from lab.random.files import GONE, layer, over
from lab.random.programs import CPP, PROGRAMS

NAMES: list[str] = []
OT, SET, BAD, SHADOW = "other.not_gpu", "env.setting", "install.corrupted", "env.shadowed"
NONE = ("container.no_gpu", "driver.permission", "cuda.missing_library", "framework.cpu_only", "env.path")
"""What a program may be told on a machine without a driver, beside driver.missing."""


def fourth(name: str) -> Callable[[Operator], Operator]:
    """Enter an operator of this file."""
    NAMES.append(name)
    return operator(name, "judge")


LIGHT = {
    "jax-sum": "import jax.numpy as jnp\nprint('RESULT', float(jnp.arange(5.0).sum()))\n",
    "jax-jit": "import jax, jax.numpy as jnp\nprint('RESULT', float(jax.jit(lambda x: (x @ x).sum())(jnp.ones((4, 4)))))\n",
    "jax-scan": "import jax, jax.numpy as jnp\nc, _ = jax.lax.scan(lambda c, x: (c + x, c), 0.0, jnp.ones(4))\nprint('RESULT', float(c))\n",
    "ort-list": "import onnxruntime as ort\nprint('RESULT', ort.__version__, len(ort.get_all_providers()) > 2)\n",
    "cupy-import": "import cupy, cupyx\nprint('RESULT', cupy.__version__)\n",
    "cupy-nvrtc": "from cupy.cuda import nvrtc\nprint('RESULT', nvrtc.getVersion()[0] > 10)\n",
    "numba-njit": "import numba\n@numba.njit\ndef f(n):\n    s = 0\n    for i in range(n):\n        s += i\n    return s\nprint('RESULT', f(10))\n",
    "numba-vec": "import numba, numpy\n@numba.vectorize(['float64(float64)'])\ndef f(x):\n    return x * 2\nprint('RESULT', f(numpy.ones(3)).tolist())\n",
    "tensorflow-add": "import tensorflow as tf\nprint('RESULT', int(tf.add(2, 3)))\n",
    "tensorflow-grad": "import tensorflow as tf\nx = tf.Variable(3.0)\nwith tf.GradientTape() as t:\n    y = x * x\nprint('RESULT', float(t.gradient(y, x)))\n",
    "torch-sum": "import torch\nprint('RESULT', float(torch.arange(5.0).sum()))\n",
    "torch-linear": "import torch\nm = torch.nn.Linear(4, 2)\nprint('RESULT', tuple(m(torch.ones(3, 4)).shape))\n",
    "torch-fft": "import torch\nprint('RESULT', torch.fft.fft(torch.ones(8)).shape[0])\n",
}  # fmt: skip
ASKS = {
    "jax": ("import jax\nprint(jax.devices('gpu'))\n", "import jax\njax.config.update('jax_platforms', 'cuda')\nprint(jax.numpy.ones(2))\n"),
    "cupy": ("import cupy\nprint(cupy.arange(3).sum())\n", "import cupy\ncupy.cuda.Device(0).use()\n", "import cupy\nprint(cupy.show_config(), cupy.cuda.runtime.getDeviceCount())\n"),
    "numba": ("from numba import cuda\nprint(cuda.get_current_device())\n", "import numpy\nfrom numba import cuda\n@cuda.jit\ndef k(a):\n    a[0] = 1\nk[1, 1](numpy.zeros(1))\n"),
    "tensorflow": ("import tensorflow as tf\ntf.config.set_visible_devices(tf.config.list_physical_devices('GPU')[0], 'GPU')\n", "import tensorflow as tf\ngpus = tf.config.list_physical_devices('GPU')\nassert gpus, 'no GPU found'\n"),
    "torch": ("import torch\nprint(torch.ones(2, device='cuda'))\n", "import torch\nprint(torch.cuda.get_device_name(0))\n", "import torch\nm = torch.nn.Linear(2, 2).cuda()\n", "import torch\nassert torch.cuda.is_available(), 'CUDA is not available'\n"),
}  # fmt: skip
CODES = {
    34: ("driver.stub", ()), 46: ("device.busy", ("driver.permission",)), 100: ("driver.missing", (*NONE, "device.selection", "driver.not_ready")),
    101: ("device.selection", ()), 304: ("driver.permission", ("container.no_gpu", "driver.missing", "driver.not_ready", "env.limit")),
    802: ("driver.not_ready", ()), 803: ("driver.compat_misuse", ("driver.library_mismatch",)), 804: ("driver.compat_misuse", ()),
    214: ("device.hardware", ()), 999: ("driver.not_ready", ("device.hardware", "driver.missing", "driver.permission", "driver.library_mismatch", "container.no_gpu")),
}  # fmt: skip
DRIVER = (
    "mkdir -p $W/drv; printf 'int cuInit(unsigned f){{return {code};}}\\nint cuDriverGetVersion(int *v){{*v={version};return 0;}}\\n'"
    " > $W/d.c; gcc -shared -fPIC -Wl,-soname,libcuda.so.1 -o $W/drv/libcuda.so.1 $W/d.c; rm $W/d.c"
)


def _family(rng: random.Random, machine: Machine) -> tuple[str, str] | None:
    """A framework that is here, and a program of it."""
    here = sorted({name.partition("-")[0] for name in machine.programs()} & set(ASKS))
    if not here:
        return None
    family = rng.choice(here)
    return family, rng.choice(machine.programs(family))


@fourth("driver-answers")
def driver_answers(rng: random.Random, machine: Machine) -> Draw | None:
    """A driver that refuses: its first call returns a status, or it is too old. For the text alone: it is a stand-in."""
    found = _family(rng, machine)
    if not found:
        return None
    family, program = found
    old = rng.random() < 0.2
    code = 0 if old else rng.choice(sorted(CODES))
    cause, also = ("driver.too_old", ("driver.stub",)) if old else CODES[code]
    shell = DRIVER.format(code=code, version=10010 if old else 13010)
    asks = rng.choice(ASKS[family])
    target = "driver 10.1" if old else f"cuInit {code}"
    return Draw("driver-answers", target, program, cause, also, shell, {"LD_LIBRARY_PATH": "$W/drv"}, code=asks)


@fourth("no-driver")
def no_driver(rng: random.Random, machine: Machine) -> Draw | None:
    """A program that insists on the GPU, on this machine without one."""
    found = _family(rng, machine)
    if not found:
        return None
    asks = rng.choice(ASKS[found[0]])
    return Draw("no-driver", asks.splitlines()[-1], found[1], "driver.missing", NONE, code=asks)


@fourth("odd-library")
def odd_library(rng: random.Random, machine: Machine) -> Draw | None:
    """A library that has become a loop of links, a link to nowhere, a folder, or lost its execute page."""
    program = rng.choice(machine.programs())
    paths = [p for p in machine.libraries(program) if p.startswith(machine.site)]
    if not paths:
        return None
    path = rng.choice(paths)
    how = rng.choice(
        (
            "rm -f $F; ln -s $F $F",
            "rm -f $F; ln -s /mnt/gone/lib.so $F",
            "rm -f $F; mkdir $F",
            "rm -f $F; ln -s $W/old/$(basename $F) $F; mkdir -p $W/old; : > $W/old/$(basename $F)",
        )
    )
    cause, also = GONE[layer(path)]
    return Draw(
        "odd-library", f"{path.rpartition('/')[2]}: {how[9:30]}", program, cause, (*also, BAD, OT), over(path, how)
    )


MARKS = (
    "sed -i '20i <<<<<<< HEAD' $F", "printf 'x = (\\n' >> $F", "sed -i 's/^import /imoprt /' $F", "printf '\\377\\376\\n' >> $F",
    "sed -i 's/^    /\\t/;40s/^/  /' $F", "head -c 400 /dev/urandom > $F", "printf 'raise SystemError(\"half written\")\\n' >> $F",
    "echo '<!DOCTYPE html><html><body>404</body></html>' > $F",
)  # fmt: skip


@fourth("marked-source")
def marked_source(rng: random.Random, machine: Machine) -> Draw | None:
    """A source file of a package with the marks of a merge, a slip of the hand or a wrong download in it."""
    found = _family(rng, machine)
    if not found:
        return None
    folder = {
        "jax": "jax/_src",
        "torch": "torch/nn",
        "tensorflow": "tensorflow/python/framework",
        "cupy": "cupy",
        "numba": "numba/core",
    }
    names = {
        "jax": ("core.py", "api.py", "dtypes.py", "config.py"), "torch": ("modules/linear.py", "functional.py", "parameter.py"),
        "tensorflow": ("dtypes.py", "ops.py", "errors_impl.py"), "cupy": ("__init__.py", "_version.py"), "numba": ("types/__init__.py", "config.py", "errors.py"),
    }  # fmt: skip
    path = f"{machine.site}/{folder[found[0]]}/{rng.choice(names[found[0]])}"
    mark = rng.choice(MARKS)
    clean = f"; rm -f {path.rpartition('/')[0]}/__pycache__/{path.rpartition('/')[2][:-3]}.*"
    shell = over(path, f"cp --remove-destination $G $F; {mark}{clean}")
    return Draw("marked-source", f"{path.rpartition('/')[2]}: {mark[:24]}", found[1], BAD, (OT,), shell)


PYTHONS = (
    ("PYTHONHASHSEED", "abc"), ("PYTHONHOME", "/opt/python-old"), ("PYTHONWARNINGS", "error"), ("PYTHONOPTIMIZE", "2"), ("PYTHONIOENCODING", "latin-99"),
    ("PYTHONUTF8", "7"), ("PYTHONMALLOC", "fast"), ("PYTHONTRACEMALLOC", "x"), ("PYTHONINTMAXSTRDIGITS", "5"), ("PYTHONPLATLIBDIR", "lib32"), ("PYTHONDEVMODE", "1"),
    ("PYTHONNODEBUGRANGES", "1"), ("PYTHONSAFEPATH", "1"), ("PYTHONPATH", "$W/d/main.py"), ("PYTHONCASEOK", "1"), ("PYTHONDONTWRITEBYTECODE", "x"),
)  # fmt: skip
OTHERS = (
    ("OPENBLAS_CORETYPE", "Foo"), ("NPY_DISABLE_CPU_FEATURES", "SSE2"), ("NPY_DISABLE_CPU_FEATURES", "AVX512F NOPE"), ("OMP_NUM_THREADS", "many"),
    ("NUMBA_NUM_THREADS", "0"), ("NUMBA_NUM_THREADS", "9999"), ("NUMBA_CPU_NAME", "z9"), ("NUMBA_THREADING_LAYER", "fast"), ("NUMBA_CACHE_DIR", "/proc/none"), ("NUMBA_DEBUG", "yes"),
    ("JAX_ENABLE_X64", "maybe"), ("JAX_PLATFORMS", "gpux"), ("JAX_DEFAULT_DTYPE_BITS", "48"), ("JAX_TRACEBACK_FILTERING", "no"), ("XLA_FLAGS", "--xla_cpu_nope=1"), ("XLA_FLAGS", "xla_dump_to=/x"),
    ("JAX_COMPILATION_CACHE_DIR", "/proc/none"), ("JAX_LOG_COMPILES", "often"), ("JAX_NUM_CPU_DEVICES", "-1"), ("JAX_DEBUG_NANS", "2"),
    ("TF_CPP_MIN_LOG_LEVEL", "high"), ("TF_XLA_FLAGS", "--tf_xla_nope"), ("TF_NUM_INTRAOP_THREADS", "x"), ("TF_USE_LEGACY_KERAS", "1"), ("TF_ENABLE_ONEDNN_OPTS", "perhaps"), ("KERAS_BACKEND", "theano"),
    ("TORCH_LOGS", "everything"), ("TORCH_SHOW_CPP_STACKTRACES", "x"), ("TORCH_DEVICE_BACKEND_AUTOLOAD", "2"), ("TORCHINDUCTOR_CACHE_DIR", "/proc/none"), ("PYTORCH_JIT", "maybe"), ("ATEN_CPU_CAPABILITY", "avx9"),
    ("TORCH_COMPILE_DEBUG", "x"), ("TORCH_NUM_THREADS", "none"), ("CUPY_CACHE_DIR", "/proc/none"), ("CUPY_ACCELERATORS", "fast"), ("CUPY_TF32", "yes"), ("CUDA_PATH", "/opt/none"), ("CUPY_NVCC_GENERATE_CODE", "sm_xx"),
    ("MKL_THREADING_LAYER", "FOO"), ("KMP_AFFINITY", "nowhere"), ("GLIBC_TUNABLES", "glibc.malloc.nope=1"), ("MALLOC_CONF", "x"), ("LD_BIND_NOW", "1"), ("LC_ALL", "xx_YY.UTF-99"),
)  # fmt: skip


READ_BY = {
    "jax": ("JAX_", "XLA_"), "tensorflow": ("TF_", "KERAS_"), "torch": ("TORCH", "PYTORCH_", "ATEN_"), "numba": ("NUMBA_",), "cupy": ("CUPY_", "CUDA_"),
}  # fmt: skip
ANY = ("OPENBLAS_", "NPY_", "OMP_", "MKL_", "KMP_", "GLIBC_", "MALLOC_", "LD_", "LC_")


@fourth("odd-variable")
def odd_variable(rng: random.Random, machine: Machine) -> Draw | None:
    """A variable of the interpreter, of the numerical libraries or of a framework with a value nobody expects."""
    program = rng.choice(machine.programs())
    mine = READ_BY.get(program.partition("-")[0], ())
    others = [one for one in OTHERS if one[0].startswith((*mine, *ANY))]
    name, value = rng.choice(PYTHONS) if rng.random() < 0.3 else rng.choice(others)
    also = (OT, "env.path", "env.limit", "env.shadowed", "device.selection")
    return Draw("odd-variable", f"{name}={value}", program, SET, also, environ={name: value})


@fourth("preload")
def preload(rng: random.Random, machine: Machine) -> Draw | None:
    """LD_PRELOAD with a library that breaks what is loaded after it, or that is not there."""
    program = rng.choice(machine.programs())
    names = sorted(
        {p.rpartition("/")[2] for p in machine.libraries(program, r"^lib.*\.so\.\d")} | {"libz.so.1", "libffi.so.8"}
    )
    name = rng.choice(names)
    build = f"echo 'int nothing;' > $W/p.c; gcc -shared -fPIC -Wl,-soname,{name} -o $W/{name} $W/p.c"
    environ = {"LD_PRELOAD": f"$W/{name}"}
    also = (
        "env.path",
        "cuda.mixed_libraries",
        "cudnn.mixed_libraries",
        "env.shadowed",
        BAD,
        OT,
        "framework.extension_abi",
    )
    return Draw("preload", name, program, SET, also, build, environ)


@fourth("path-file")
def path_file(rng: random.Random, machine: Machine) -> Draw | None:
    """A .pth file or sitecustomize that puts another module, or nothing, in the place of one that is needed."""
    program = rng.choice(machine.programs())
    names = {"jax": ("numpy", "jaxlib", "ml_dtypes", "opt_einsum", "scipy"), "ort": ("numpy", "onnxruntime", "flatbuffers"), "cupy": ("numpy", "fastrlock", "cupy_backends"),
             "numba": ("numpy", "llvmlite"), "tensorflow": ("numpy", "keras", "absl", "google", "wrapt"), "torch": ("numpy", "sympy", "typing_extensions", "torch")}  # fmt: skip
    name = rng.choice(names[program.partition("-")[0]])
    if rng.random() < 0.6:
        body = rng.choice(("__version__ = '0.0.1'", "raise ImportError('not for this host')", "", "from os import *"))
        shell = f"mkdir -p $W/fresh/{name}; echo {body!r} > $W/fresh/{name}/__init__.py; over {machine.site}; echo 'import sys; sys.path.insert(0, \"'$W/fresh'\")' > {machine.site}/aaa.pth"
        return Draw(
            "path-file",
            f"{name} by .pth: {body[:20]}",
            program,
            SHADOW,
            ("install.conflict", BAD, OT, "install.inconsistent"),
            shell,
        )
    block = f"import sys\\nsys.modules[\\'{name}\\'] = None\\n"
    shell = f"mkdir -p $W/fresh; printf '{block}' > $W/fresh/sitecustomize.py".replace("\\'", '"')
    return Draw(
        "path-file",
        f"{name} blocked by sitecustomize",
        program,
        SHADOW,
        (BAD, OT, SET, "install.inconsistent", "env.path"),
        shell,
        {"PYTHONPATH": "$W/fresh"},
    )


@fourth("wrong-tag")
def wrong_tag(rng: random.Random, machine: Machine) -> Draw | None:
    """Extension modules of a package that are those of another Python: renamed, or not there for this one."""
    program = rng.choice(machine.programs())
    names = {"jax": ("numpy/_core", "jaxlib", "ml_dtypes"), "ort": ("numpy/_core", "onnxruntime/capi"), "cupy": ("numpy/_core", "cupy/_core", "cupy_backends/cuda/api"),
             "numba": ("numpy/_core", "numba", "numba/core/typeconv"), "tensorflow": ("numpy/_core", "tensorflow/python/platform", "wrapt", "ml_dtypes"), "torch": ("torch", "numpy/_core")}  # fmt: skip
    folder = f"{machine.site}/{rng.choice(names[program.partition('-')[0]])}"
    shell = f"over {folder}; for f in {folder}/*.cpython-3*.so; do mv $f $(echo $f | sed 's/cpython-3[0-9]*/cpython-36m/'); done"
    also = ("install.inconsistent", OT, "framework.extension_abi", "framework.platform_dropped")
    return Draw("wrong-tag", folder.removeprefix(machine.site), program, BAD, also, shell)


OWN = {
    "own-kernel": "raise ValueError('kernel size must be odd, got 4')", "own-driver": "raise KeyError('driver')", "own-memory": "raise RuntimeError('replay memory is empty')",
    "own-device": "devices = {'lamp': 1}\nprint(devices['fan'])", "own-library": "open('library/books.csv')", "own-stream": "raise StopIteration('stream of events ended')",
    "own-graph": "class GraphError(Exception):\n    pass\nraise GraphError('cycle in the graph of tasks: a -> b -> a')", "own-cuda-class": "class CudaDemoError(Exception):\n    pass\nraise CudaDemoError('lesson 3 is not written yet')",
    "own-exit": "import sys\nsys.exit('no input files')", "own-code": "import sys\nsys.exit(7)", "own-assert": "x = 3\nassert x == 4, 'expected four layers'", "own-shape": "import numpy\nnumpy.ones(3) + numpy.ones(4)",
    "own-json": "import json\njson.loads('{a: 1}')", "own-argparse": "import argparse\np = argparse.ArgumentParser()\np.add_argument('--device', choices=['a', 'b'])\np.parse_args(['--device', 'gpu'])",
    "own-connect": "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:9/x', timeout=2)", "own-backend": "raise NotImplementedError('backend sqlite is read-only')", "own-recursion": "def f(n):\n    return f(n + 1)\nf(0)",
}  # fmt: skip


@fourth("own-error")
def own_error(rng: random.Random, machine: Machine) -> Draw | None:
    """A program that ends by an error of its own, in words that the stack uses for other things."""
    program, name = rng.choice(machine.programs()), rng.choice(sorted(OWN))
    begin = PROGRAMS[program]
    return Draw(
        "own-error", name, program, OT, ("program.shape",) if name == "own-shape" else (), code=f"{begin}{OWN[name]}\n"
    )


def main() -> int:
    """Run the lab with the operators and the programs of this file."""
    import lab.random_faults as faults

    PROGRAMS.clear()
    PROGRAMS.update(LIGHT)
    CPP.clear()
    if not any(name in NAMES for name in sys.argv[1:]):
        sys.argv += NAMES
    sys.argv[1:1] = ["--held", "0"]
    return faults.main()


if __name__ == "__main__":
    raise SystemExit(main())
