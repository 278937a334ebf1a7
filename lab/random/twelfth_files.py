"""Twelfth operators, files: libraries of another class or kind, folders from which nothing runs, modules after a crash, parts that go while the program runs."""

from __future__ import annotations

from lab.random.eleventh import (  # fmt: skip
    ABI,
    BAD,
    COMPILER,
    DNN_MIXED,
    DNN_NEED,
    DNN_NONE,
    DNN_OTHER,
    LIB,
    LIM,
    OT,
    PATH,
    SHADOW,
    Case,
)
from lab.random.eleventh_files import lib
from lab.random.twelfth import enter

BYTE = "cp $O $W/k; rm -f $P; cp $W/k $P; printf '{0}' | dd of=$P bs=1 seek={1} conv=notrunc 2>/dev/null"
KINDS = (
    ("torch-fft torch-matmul", "libcufft.so.1*", "half as wide", r"\001", 4),
    ("torch-solve torch-matmul", "libcusparse.so.1*", "other end first", r"\002", 5),
    ("torch-matmul", "libcurand.so.1*", "for another system", r"\011", 7),
    ("torch-nccl torch-matmul", "libnccl.so.2*", "object not yet linked", r"\001", 16),
    ("torch-train", "libcudnn.so.9*", "half as wide", r"\001", 4),
    ("torch-matmul", "libcupti.so.1*", "for another machine", r"\267", 18),
    ("torch-matmul", "libcublas.so.1*", "version of the format", r"\007", 6),
)
TEXT = "rm -f $P; printf '/* GNU ld script */\\nGROUP ( {0} )\\n' > $P"
enter(
    "libraries-of-another-kind",
    *(lib(needs, name, target, BAD, (LIB, ABI, DNN_NONE, DNN_MIXED, "framework.platform_dropped"), BYTE.format(value, at)) for needs, name, target, value, at in KINDS),
    *(lib(needs, name, "the linker's text", BAD, (LIB, ABI, DNN_NONE), TEXT.format(name.rstrip("*"))) for needs, name in (("torch-matmul", "libcusolver.so.1*"), ("torch-train", "libcudnn.so.9*"))),
)  # fmt: skip
enter(
    "places-from-which-nothing-runs",
    *(lib(needs, name, "folder mounted so", LIM, (BAD, LIB, PATH, "driver.permission", DNN_NONE), "mount -o remount,bind,noexec $F", "(?i)failed to map segment|not permitted") for needs, name in (("torch-matmul torch-fft", "libcufft.so.1*"), ("torch-matmul torch-train", "libcudnn.so.9*"), ("torch-matmul", "libnccl.so.2*"))),
    Case("triton-add", "compiler of kernels mounted so", LIM, (COMPILER, PATH, BAD, "driver.permission"), setup="F=@SITE@/triton/backends/nvidia/bin; [ -d $F ] || exit 97; over $F; mount -o remount,bind,noexec $F", expect="(?i)permission denied|Errno 13|ptxas", void="", dress="shell"),
    Case("torch-matmul cupy-matmul jax-matmul", "own library in a share mounted so", LIM, (PATH, LIB, OT, "driver.permission"), setup="mkdir -p $W/share; mount -t tmpfs -o noexec,size=8m none $W/share; printf 'int f(void) { return 1; }' > $W/f.c; gcc -shared -fPIC -o $W/share/libdecode.so $W/f.c", environ={"OPS": "$W/share/libdecode.so"}, after="import ctypes, os\nctypes.CDLL(os.environ['OPS'])\n", expect="(?i)failed to map segment|not permitted", void=""),
)  # fmt: skip


def module(needs: str, path: str, target: str, how: str, expect: str, also: tuple[str, ...] = (OT,)) -> Case:
    """A module of a package holds something else than its text."""
    setup = f"P=@SITE@/{path}; [ -f $P ] || exit 97; F=$(dirname $P); over $F; O=$LOWER/$(basename $P); rm -rf $F/__pycache__; {how}"
    return Case(needs, f"{path}: {target}", BAD, also, setup=setup, expect=expect, void="", dress="shell")


ZERO = "rm -f $P; head -c $(stat -c %s $O) /dev/zero > $P"
GZ = "gzip -c $O > $W/z; rm -f $P; cp $W/z $P"
LATIN = "cp $O $W/z; rm -f $P; { printf '# gr\\366\\337e\\n'; cat $W/z; } > $P"
HALF = 'cp $O $W/z; rm -f $P; head -c 3000 $W/z > $P; printf \'\\n"""\' >> $P'
WIDE = "rm -f $P; iconv -f utf-8 -t utf-16 $O > $P"
NULLS = "(?i)null bytes|SyntaxError|ValueError"
enter(
    "modules-after-a-crash",
    module("torch-matmul torch-train", "torch/nn/functional.py", "only zeros", ZERO, NULLS),
    module("torch-matmul torch-train", "torch/cuda/memory.py", "packed", GZ, "(?i)SyntaxError|null|utf-8"),
    module("torch-train", "torch/optim/adam.py", "letters of another table", LATIN, "(?i)utf-8|Non-UTF"),
    module("jax-matmul jax-grad", "jax/_src/lax/lax.py", "only zeros", ZERO, NULLS),
    module("jax-matmul jax-fft", "jax/_src/api.py", "letters two bytes wide", WIDE, "(?i)SyntaxError|null|utf-8|Non-UTF"),
    module("cupy-matmul cupy-fft", "cupy/_creation/basic.py", "only zeros", ZERO, NULLS),
    module("cupy-matmul cupy-raw", "cupy/cuda/compiler.py", "packed", GZ, "(?i)SyntaxError|null|utf-8"),
    module("triton-add", "triton/runtime/jit.py", "cut", HALF, "(?i)SyntaxError|Error"),
    module("torch-compile", "torch/_inductor/codegen/triton.py", "only zeros", ZERO, NULLS),
)  # fmt: skip
FOUND = "import glob, os, sysconfig\nsite = sysconfig.get_paths()['purelib']\ndef upgrade(*patterns):\n    n = 0\n    for p in patterns:\n        for f in glob.glob(os.path.join(site, p), recursive=True):\n            os.remove(f)\n            n += 1\n    print('meanwhile', n, 'files went', flush=True)\n    assert n\n"
CUDNN = 'F=$(dirname $(find -L @SITE@/nvidia -name "libcudnn.so.9" | head -1)); [ -d "$F" ] || exit 97; over $F; '


def midway(needs: str, target: str, cause: str, also: tuple[str, ...], setup: str, code: str, expect: str) -> Case:
    """A program whose packages are exchanged by somebody while it runs."""
    return Case(needs, target, cause, also, setup=setup, code=FOUND + code, expect=expect, void="", dress="shell")


OPS = "import torch\nx = torch.ones(64, 64, device='cuda')\nprint('epoch 0', (x @ x).sum().item(), flush=True)\n"
GONE = (BAD, LIB, DNN_NEED, DNN_MIXED, DNN_OTHER, PATH)
enter(
    "parts-that-go-while-it-runs",
    midway("torch-train", "cuDNN's parts, before the first convolution", DNN_NONE, GONE, CUDNN, OPS + "upgrade('nvidia/**/libcudnn_*.so*')\nprint(torch.nn.functional.conv2d(torch.ones(1, 3, 8, 8, device='cuda'), torch.ones(4, 3, 3, 3, device='cuda')).sum().item())\n", "(?i)cudnn"),
    midway("jax-conv", "cuDNN's parts, JAX", DNN_NONE, GONE, CUDNN, "import jax, jax.numpy as jnp\nx = jnp.ones((64, 64))\nprint('epoch 0', float((x + x).sum()), 'cuda', flush=True)\nassert 'cuda' and jax.default_backend() == 'gpu'\nupgrade('nvidia/**/libcudnn_*.so*')\nprint(jax.lax.conv(jnp.ones((2, 3, 16, 16)), jnp.ones((4, 3, 3, 3)), (1, 1), 'SAME').sum())\n", "(?i)cudnn|dnn"),
    midway("triton-add", "assembler, before the second kernel", COMPILER, (BAD, PATH, OT), "F=@SITE@/triton/backends/nvidia/bin; [ -d $F ] || exit 97; over $F", OPS + "upgrade('triton/backends/nvidia/bin/ptxas*')\nimport triton, triton.language as tl\n@triton.jit\ndef k(p, B: tl.constexpr):\n    tl.store(p + tl.arange(0, B), 7.0)\nk[(1,)](x, B=64)\nprint(x.sum().item())\n", "(?i)ptxas"),
    midway("torch-compile", "compiler's modules, before the first use", BAD, (OT, "install.inconsistent"), "F=@SITE@/torch/_inductor; [ -d $F ] || exit 97; over $F", OPS + "upgrade('torch/_inductor/*.py')\nprint(torch.compile(lambda a: a.sin() + 1)(x).sum().item())\n", "(?i)inductor|No module|backend"),
    midway("torch-bessel", "library that compiles, before its first use", BAD, (LIB, COMPILER, PATH), "F=@SITE@/torch/lib; [ -d $F ] || exit 97; over $F", OPS + "upgrade('torch/lib/libcaffe2_nvrtc.so')\nprint(torch.special.bessel_j0(x).sum().item())\n", "(?i)nvrtc"),
    midway("torch-matmul torch-train", "own weights, before they are read", OT, (PATH, SHADOW, BAD), "", "import tempfile\n" + OPS + "d = tempfile.mkdtemp()\nw = os.path.join(d, 'last.pt')\ntorch.save({'w': x}, w)\nos.remove(w)\ntorch.load(w, map_location='cuda')\n", "(?i)last.pt"),
)  # fmt: skip
