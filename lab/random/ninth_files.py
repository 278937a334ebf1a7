"""Ninth operators, files: headers, bit code and assemblers of the just-in-time compilers, dependencies' sources, folders, markers."""

from __future__ import annotations

from lab.random.files import over
from lab.random.ninth import (  # fmt: skip
    ABI,
    BAD,
    BUILD,
    CLOSED,
    COMPILER,
    CPU,
    LIB,
    LIM,
    MIXED,
    NONE,
    ODD,
    OT,
    PATH,
    SEL,
    SHADOW,
    UNSUP,
    Case,
    enter,
)

JIT = "triton-add torch-compile"
WAYS = {
    "empty": "rm -f $F; : > $F",
    "a page of a proxy": "rm -f $F; echo '<html><body>Access blocked by policy</body></html>' > $F",
    "cut at a third": "rm -f $F; head -c $(($(stat -c %s $G) / 3)) $G > $F",
    "zeros of its length": "rm -f $F; head -c $(stat -c %s $G) /dev/zero > $F",
    "a folder": "rm -f $F; mkdir $F",
    "gone": "rm -f $F",
}


def spoilt(needs: str, path: str, way: str, also: tuple[str, ...], seconds: int = 60) -> Case:
    """One file of the environment, changed in one of the ways."""
    clean = f"; find $(dirname $F) -maxdepth 2 -name '{path.rpartition('/')[2][:-3]}.*.pyc' -delete"
    shell = f"[ -f $G ] || exit 97; {WAYS[way]}" + (clean if path.endswith(".py") else "")
    return Case(needs, f"{path}: {way}", BAD, also, setup=over(f"@SITE@/{path}", shell), seconds=seconds, void="", dress="shell")  # fmt: skip


def each(needs: str, paths: tuple[str, ...], ways: tuple[str, ...], also: tuple[str, ...]) -> tuple[Case, ...]:
    """Every file in every one of these ways."""
    return tuple(spoilt(needs, path, way, also) for path in paths for way in ways)


NEAR = (COMPILER, BUILD, OT, LIM, PATH)
enter(
    "headers-spoilt",
    *each(JIT, ("triton/backends/nvidia/driver.c", "triton/backends/nvidia/include/cuda.h"), ("empty", "cut at a third", "a page of a proxy", "gone"), NEAR),
    *each("cupy-random cupy-raw cupy-matmul", ("cupy/_core/include/cupy/carray.cuh", "cupy/_core/include/cupy/complex.cuh", "cupy/_core/include/cupy/atomics.cuh"), ("empty", "cut at a third", "zeros of its length", "gone"), NEAR),
)  # fmt: skip
enter(
    "bitcode-spoilt",
    *each("torch-compile", ("triton/backends/nvidia/lib/libdevice.10.bc",), ("empty", "cut at a third", "a page of a proxy", "zeros of its length", "gone"), NEAR),
    *each("jax-grad", ("nvidia/cu13/nvvm/libdevice/libdevice.10.bc",), ("empty", "cut at a third", "gone"), NEAR),
)  # fmt: skip


def assembler(needs: str, path: str, target: str, text: str) -> Case:
    """Something else stands for the assembler and can be started."""
    shell = f"[ -f $G ] || exit 97; rm -f $F; printf '{text}' > $F; chmod 755 $F"
    return Case(needs, f"{path}: {target}", BAD, (COMPILER, BUILD, OT, PATH, UNSUP), setup=over(f"@SITE@/{path}", shell), void="", dress="shell")  # fmt: skip


TOOL = "triton/backends/nvidia/bin/ptxas"
enter(
    "assembler-spoilt",
    assembler(JIT, TOOL, "says no", "#!/bin/sh\\necho \"ptxas fatal : licence server not reachable\" >&2\\nexit 3\\n"),
    assembler(JIT, TOOL, "does nothing", "#!/bin/sh\\nexit 0\\n"),
    assembler(JIT, TOOL, "dies", "#!/bin/sh\\nkill -SEGV $$\\n"),
    assembler(JIT, TOOL, "interpreter is gone", "#!/opt/tools/bin/python9\\n"),
    assembler(JIT, TOOL, "of another machine", "\\177ELF\\002\\001\\001\\000\\000\\000\\000\\000\\000\\000\\000\\000\\002\\000\\267\\000"),
    assembler(JIT, TOOL, "is a text", "version https://git-lfs.github.com/spec/v1\\n"),
    assembler("jax-matmul jax-grad", "nvidia/cu13/bin/ptxas", "says no", "#!/bin/sh\\necho \"ptxas fatal : licence server not reachable\" >&2\\nexit 3\\n"),
)  # fmt: skip
SRC = ("empty", "cut at a third", "zeros of its length", "a page of a proxy", "gone")
OLD = (OT, ODD, ABI, SHADOW)
enter(
    "dependencies-spoilt",
    *each("torch-matmul torch-train", ("typing_extensions.py", "torch/utils/_pytree.py", "torch/_meta_registrations.py", "torch/optim/adam.py"), SRC, OLD),
    *each("torch-compile", ("sympy/core/__init__.py", "mpmath/__init__.py", "torch/_inductor/scheduler.py", "filelock/__init__.py"), SRC, (*OLD, COMPILER)),
    *each("jax-matmul jax-grad", ("ml_dtypes/_finfo.py", "opt_einsum/contract.py", "numpy/_core/numeric.py", "jax/_src/config.py"), SRC, OLD),
    *each("cupy-matmul cupy-raw", ("numpy/_core/fromnumeric.py", "cupy/_creation/basic.py", "cupy/cuda/compiler.py", "cupyx/_runtime.py"), SRC, OLD),
    *each("triton-add", ("triton/runtime/driver.py", "triton/backends/nvidia/compiler.py", "triton/backends/__init__.py"), SRC, (*OLD, COMPILER, NONE)),
)  # fmt: skip
LOST = (LIB, MIXED, PATH, "cudnn.missing", OT, "cudnn.mixed_libraries")


def folder(needs: str, path: str, target: str, how: str, also: tuple[str, ...] = LOST, user: str = "") -> Case:
    """A folder of the environment that is something else."""
    parent, _, name = path.rpartition("/")
    shell = (
        f"[ -d @SITE@/{path} ] || exit 97; over @SITE@/{parent}; cd @SITE@/{parent}; {how.replace('@N@', name)}; cd /"
    )
    return Case(needs, f"{path}: {target}", BAD, also, setup=shell, user=user, void="", dress="shell")


LOOP, TEXT, SHUT = "rm -rf @N@; ln -s @N@ @N@", "rm -rf @N@; echo ../store/@N@ > @N@", "chmod 700 @N@"
enter(
    "folders-unwound",
    folder("torch-matmul jax-matmul cupy-matmul", "nvidia/cu13/lib", "link to itself", LOOP),
    folder("torch-matmul jax-matmul cupy-fft", "nvidia/cu13/lib", "a text", TEXT),
    folder("torch-train jax-conv", "nvidia/cudnn/lib", "link to itself", LOOP),
    folder("torch-train torch-matmul", "nvidia/cusparselt/lib", "a text", TEXT),
    folder("torch-nccl torch-matmul", "nvidia/nccl/lib", "link to itself", LOOP),
    folder("torch-matmul jax-matmul cupy-matmul", "nvidia/cu13/lib", "closed to others", SHUT, (*LOST, LIM, CLOSED), "nobody"),
    folder("torch-matmul torch-fft", "torch/lib", "closed to others", SHUT, (*LOST, LIM, CLOSED), "nobody"),
    folder("cupy-matmul cupy-raw", "cupy/_core", "a text", TEXT, (OT, ODD, SHADOW, PATH)),
    folder("jax-matmul jax-fft", "jax_plugins/xla_cuda13", "a text", TEXT, (CPU, OT, ODD, PATH, SEL)),
    folder("triton-add torch-compile", "triton/backends/nvidia", "link to itself", LOOP, (OT, ODD, COMPILER, NONE, CPU, PATH)),
)  # fmt: skip


def marker(needs: str, target: str, setup: str, also: tuple[str, ...]) -> Case:
    """The small files by which an environment knows itself."""
    return Case(needs, target, BAD, also, setup=setup, void="", dress="shell")


VENV = "V=$(dirname $(dirname @P@)); [ -f $V/pyvenv.cfg ] || exit 97; over $V; "
META = "E=$(ls -d @SITE@/@N@-[0-9]*.dist-info | head -1); [ -d $E ] || exit 97; over $E; "
AWAY = (PATH, OT, ODD, SHADOW)
enter(
    "markers-spoilt",
    marker("torch-matmul jax-matmul cupy-matmul", "environment's own file is gone", VENV + "rm -f $V/pyvenv.cfg", AWAY),
    marker("torch-matmul jax-matmul cupy-matmul", "environment's own file is empty", VENV + "rm -f $V/pyvenv.cfg; : > $V/pyvenv.cfg", AWAY),
    marker("torch-matmul jax-matmul cupy-matmul", "environment's home is elsewhere", VENV + "rm -f $V/pyvenv.cfg; echo 'home = /opt/gone/bin' > $V/pyvenv.cfg", AWAY),
    marker(JIT, "entries of triton are empty", META.replace("@N@", "triton") + "rm -f $E/entry_points.txt; : > $E/entry_points.txt", (OT, ODD, COMPILER, NONE, CPU, PATH)),
    marker(JIT, "entries of triton name another module", META.replace("@N@", "triton") + "rm -f $E/entry_points.txt; printf '[triton.backends]\\nnvidia = triton.backends.cuda13\\n' > $E/entry_points.txt", (OT, ODD, COMPILER, NONE, CPU, PATH)),
    marker("torch-compile", "triton's metadata has no version", META.replace("@N@", "triton") + "rm -f $E/METADATA; echo 'Name: triton' > $E/METADATA", (OT, ODD, COMPILER)),
    marker("jax-matmul jax-grad", "plug-in's metadata is binary", META.replace("@N@", "jax_cuda13_plugin") + "rm -f $E/METADATA $E/entry_points.txt; head -c 300 /dev/urandom > $E/METADATA", (OT, ODD, CPU)),
    marker("cupy-matmul", "cupy's list of libraries is cut", over("@SITE@/cupy/.data/_wheel.json", "[ -f $G ] || exit 97; rm -f $F; head -c 40 $G > $F"), (OT, ODD)),
)  # fmt: skip
