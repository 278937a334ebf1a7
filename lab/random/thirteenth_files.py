"""Thirteenth operators, files: words replaced across packages, lines lost, modules of a neighbour, links in circles, folders where files were, versions that say nothing, and changes that do no harm."""

from __future__ import annotations

from lab.random.eleventh import (  # fmt: skip
    ABI,
    BAD,
    COMPILER,
    CONFLICT,
    DNN_MIXED,
    DNN_NONE,
    LIB,
    LIGHT,
    LIM,
    ODD,
    OT,
    PATH,
    SHADOW,
    Case,
)
from lab.random.eleventh_files import lib
from lab.random.thirteenth import enter

TM, JM, CM = "torch-matmul torch-train", "jax-matmul jax-grad", "cupy-matmul cupy-fft"


def module(needs: str, path: str, how: str, expect: str, also: tuple[str, ...] = (OT, ODD), target: str = "") -> Case:
    """A module of a package was changed by somebody's hand; `$O` is it as it was."""
    setup = f"P=@SITE@/{path}; [ -f $P ] || exit 97; F=$(dirname $P); over $F; O=$LOWER/$(basename $P); rm -rf $F/__pycache__; {how}"
    return Case(needs, f"{path}{': ' if target else ''}{target}", BAD, also, setup=setup, expect=expect, void="", dress="shell")  # fmt: skip


def swapped(old: str, new: str) -> str:
    """Shell that replaces a word in the module."""
    return f"rm -f $P; sed 's/{old}/{new}/g' $O > $P"


WRONG = "(?i)Error"
enter(
    "words-replaced-across-packages",
    module(TM, "torch/cuda/__init__.py", swapped("_cuda_", "_xpu_"), "(?i)_xpu_|Error"),
    module(TM, "torch/nn/modules/linear.py", swapped("Linear", "Dense"), "(?i)Linear|Dense"),
    module(TM, "torch/functional.py", swapped("import", "imports"), "(?i)SyntaxError|invalid"),
    module("torch-train", "torch/optim/optimizer.py", swapped("params", "parms"), WRONG),
    module(JM, "jax/_src/xla_bridge.py", swapped("platform", "plattform"), WRONG),
    module(JM, "jax/_src/dtypes.py", swapped("float32", "float_32"), WRONG),
    module(CM, "cupy/_core/__init__.py", swapped("core", "kern"), WRONG),
    module("triton-add", "triton/language/core.py", swapped("constexpr", "constant"), WRONG),
    module("numba-kernel", "numba/core/types/__init__.py", swapped("float32", "single"), WRONG),
)
LOST = "rm -f $P; awk 'NR < {0} || NR > {1}' $O > $P"
enter(
    "lines-lost-from-modules",
    module(TM, "torch/nn/modules/__init__.py", LOST.format(20, 60), WRONG),
    module(TM, "torch/_tensor.py", LOST.format(10, 30), WRONG),
    module(TM, "torch/serialization.py", "rm -f $P; head -n 12 $O > $P", WRONG),
    module("torch-train", "torch/optim/__init__.py", "rm -f $P; head -n 14 $O > $P", WRONG),
    module(JM, "jax/__init__.py", LOST.format(60, 160), WRONG),
    module(JM, "jax/numpy/__init__.py", "rm -f $P; head -n 40 $O > $P", WRONG),
    module(CM, "cupy/__init__.py", LOST.format(40, 140), WRONG),
    module("triton-add", "triton/language/__init__.py", "rm -f $P; head -n 30 $O > $P", WRONG),
    module("numba-kernel", "numba/__init__.py", LOST.format(20, 90), WRONG),
)  # fmt: skip


def other(needs: str, path: str, from_: str) -> Case:
    """A module holds the text of another one, as a copy by hand into the wrong place leaves it."""
    return module(needs, path, f"rm -f $P; cp @SITE@/{from_} $P", WRONG, (OT, ODD, CONFLICT), f"text of {from_}")


enter(
    "modules-of-a-neighbour",
    other(TM, "torch/nn/modules/conv.py", "torch/nn/modules/linear.py"),
    other(TM, "torch/cuda/memory.py", "torch/cuda/random.py"),
    other(TM, "torch/_utils.py", "torch/_utils_internal.py"),
    other(JM, "jax/_src/core.py", "jax/_src/config.py"),
    other(JM, "jax/_src/lax/lax.py", "jax/_src/lax/slicing.py"),
    other(CM, "cupy/_creation/basic.py", "cupy/_creation/ranges.py"),
    other("triton-add", "triton/runtime/jit.py", "triton/runtime/cache.py"),
    other("torch-compile", "torch/_dynamo/eval_frame.py", "torch/_dynamo/utils.py"),
)
LIBS = (
    (TM, "libcudnn.so.9*"),
    (TM, "libnccl.so.2*"),
    ("torch-fft torch-matmul", "libcufft.so.1*"),
    (TM, "libcublasLt.so.1*"),
    (TM, "libtorch_cuda.so"),
    (TM, "libc10_cuda.so"),
)
FEW = (LIB, PATH, DNN_NONE, DNN_MIXED, OT)
LOADED = "(?i)cannot open|cannot read|No such file|symbolic links|Is a directory|not found|could not load|Error"
enter(
    "links-in-circles",
    *(lib(needs, name, "points to itself", BAD, FEW, "rm -f $P; ln -s $B $P", LOADED) for needs, name in LIBS),
    *(
        lib(
            needs,
            name,
            "points to one that points back",
            BAD,
            FEW,
            "rm -f $P; ln -s $B.old $P; ln -s $B $P.old",
            LOADED,
        )
        for needs, name in LIBS[:3]
    ),
    module(JM, "jax/_src/api.py", "rm -f $P; ln -s api.py $P", WRONG, (OT, PATH)),
    module(TM, "torch/nn/functional.py", "rm -f $P; ln -s ../nn/functional.py $P", WRONG, (OT, PATH)),
)
enter(
    "folders-where-files-were",
    *(lib(needs, name, "a folder", BAD, FEW, "rm -f $P; mkdir $P", LOADED) for needs, name in LIBS),
    module(JM, "jax/_src/core.py", "rm -f $P; mkdir $P", WRONG, (OT, PATH)),
    module(TM, "torch/storage.py", "rm -f $P; mkdir $P; cp $O $P/storage.py", WRONG, (OT, PATH)),
    module("triton-add", "triton/runtime/driver.py", "rm -f $P; mkdir $P", WRONG, (OT, PATH)),
)  # fmt: skip
enter(
    "files-of-another-nature",
    *(lib(needs, name, "a device of the null kind", BAD, FEW, "rm -f $P; mknod -m 666 $P c 1 3", LOADED + "|too short|invalid") for needs, name in LIBS[1:4]),
    *(lib(needs, name, "the text of a pointer to large files", BAD, (LIB, ABI, DNN_NONE), "rm -f $P; printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\\nsize 12345678\\n' > $P", "(?i)invalid ELF|file too short|Error") for needs, name in LIBS),
    *(lib(needs, name, "an archive of itself", BAD, (LIB, ABI, DNN_NONE), "rm -f $P; head -c 4000000 $O | gzip -1 > $P", "(?i)invalid ELF|Error") for needs, name in LIBS[:4]),
    Case("triton-add", "assembler: the text of a pointer to large files", BAD, (COMPILER, PATH, LIM, OT), setup="F=@SITE@/triton/backends/nvidia/bin; [ -d $F ] || exit 97; over $F; for P in $F/ptxas*; do rm -f $P; printf 'version https://git-lfs.github.com/spec/v1\\n' > $P; chmod 755 $P; done", expect="(?i)ptxas|Exec format|Error", void="", dress="shell"),
)  # fmt: skip
EMPTY = "rm -f $P; : > $P"
NAMED = (OT, ODD, SHADOW)
enter(
    "versions-that-say-nothing",
    module(TM, "torch/version.py", EMPTY, WRONG, NAMED, "empty"),
    module(TM, "torch/torch_version.py", EMPTY, WRONG, NAMED, "empty"),
    module(JM, "jax/version.py", EMPTY, WRONG, NAMED, "empty"),
    module(JM, "jaxlib/version.py", EMPTY, WRONG, NAMED, "empty"),
    module(CM, "cupy/_version.py", EMPTY, WRONG, NAMED, "empty"),
    module("numba-kernel", "numba/_version.py", EMPTY, WRONG, NAMED, "empty"),
    module("numba-kernel", "numpy/version.py", EMPTY, WRONG, NAMED, "empty"),
    module(JM, "jaxlib/version.py", "rm -f $P; sed 's/^__version__ = .*/__version__ = \"dev\"/; s/^_version = .*/_version = \"dev\"/' $O > $P", WRONG, NAMED, "a word"),
    module("triton-add", "triton/__init__.py", EMPTY, WRONG, NAMED, "empty"),
)  # fmt: skip


def unharmed(needs: str, path: str, how: str, target: str) -> Case:
    """A change of an installed file after which everything works."""
    setup = f"P=@SITE@/{path}; [ -f $P ] || exit 97; F=$(dirname $P); over $F; O=$LOWER/$(basename $P); {how}"
    return Case(needs, f"harmless: {path}: {target}", BAD, (OT,), setup=setup, dress="none")


enter(
    "healthy-with-changed-files",
    unharmed(TM, "torch/nn/functional.py", "printf '\\n# checked by ops 2026-11-16\\n' >> $P", "a comment more"),
    unharmed(TM, "torch/cuda/__init__.py", "sed -i 's/$/\\r/' $P", "ends of lines of another system"),
    unharmed(TM, "torch/version.py", "touch -d 1999-01-01 $P", "a date of long ago"),
    unharmed(JM, "jax/__init__.py", "chmod 444 $P; touch $F/.DS_Store $F/__init__.py.orig", "a copy beside"),
    unharmed(CM, "cupy/__init__.py", "rm -rf $F/__pycache__", "no compiled modules"),
    unharmed(LIGHT, "numpy/__init__.py", "mkdir -p $F/tests; rm -rf $F/tests/*", "no tests"),
    unharmed(
        TM, "torch/lib/libtorch_cuda.so", "mkdir -p $F/cmake.old; : > $F/libtorch_cuda.so.bak", "an empty copy beside"
    ),
)
