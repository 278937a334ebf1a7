"""Operators on files: hide, cut, swap, close, downgrade.

`over D` mounts a writable overlay on a folder inside the namespace, so that files are broken by plain commands and the
machine keeps its own; the untouched folder stays readable at `$W/lower/…`.
"""

from __future__ import annotations

import random
import re
import shlex

from lab.random.draw import Draw, Machine, operator

OVER = (
    'over() { local k=$(echo "$1" | tr / _); LOWER=$W/lower/$k; mountpoint -q $LOWER && return; mkdir -p $LOWER $W/ov; '
    "mountpoint -q $W/ov || mount -t tmpfs none $W/ov || exit 97; mkdir -p $W/ov/$k/u $W/ov/$k/w; "
    'mount --bind "$1" $LOWER && mount -t overlay overlay -o lowerdir="$1",upperdir=$W/ov/$k/u,workdir=$W/ov/$k/w "$1" '
    '|| exit 97; : > $W/ov/$k/u/.overlay && [ -e "$1/.overlay" ] && rm -f "$1/.overlay" && return; exit 97; }'
)
"""A folder is broken only where its overlay is seen to be in place: else the world ends (97) and nothing is touched."""
FRAMEWORK = ("torch", "jax", "cupy", "triton", "numba", "onnx")


def over(path: str, then: str) -> str:
    """Shell that opens the folder of a file for writing and breaks the file; `$F` is it, `$G` the untouched one."""
    folder, _, name = path.rpartition("/")
    return f"over {shlex.quote(folder)}; F={shlex.quote(path)}; G=$LOWER/{shlex.quote(name)}; {then}"


def layer(path: str) -> str:
    """Which part of the stack a file belongs to."""
    name = path.rpartition("/")[2]
    for pattern, part in (
        (r"libcudnn", "cudnn"),
        (r"nvrtc|nvvm|libdevice|ptxas|nvJitLink", "compiler"),
        (r"nccl|nvshmem", "nccl"),
        (r"cublas|cudart|cufft|curand|cusolver|cusparse|cupti|nvtx|nvToolsExt|cufile|cutensor", "cuda"),
    ):
        if re.search(pattern, name) and ".cpython-" not in name:  # an extension module is its package's own
            return part
    return "framework" if path.rpartition("site-packages/")[2].startswith(FRAMEWORK) else "other"


GONE = {
    "cudnn": ("cudnn.missing", ("install.corrupted", "cudnn.mixed_libraries", "cudnn.version_mismatch")),
    "compiler": ("cuda.missing_library", ("install.corrupted", "cuda.compiler_missing", "cuda.mixed_libraries")),
    "nccl": ("cuda.missing_library", ("install.corrupted", "distributed.nccl")),
    "cuda": ("cuda.missing_library", ("install.corrupted", "cuda.mixed_libraries", "cuda.version_mismatch")),
    "framework": ("install.corrupted", ("cuda.missing_library",)),
    "other": ("install.corrupted", ("other.not_gpu",)),
}


def victim(rng: random.Random, machine: Machine, pattern: str = r"\.so") -> tuple[str, str] | None:
    """A program and a library that it loads on a healthy machine, every part of the stack as likely."""
    program = rng.choice(machine.programs())
    by_layer: dict[str, list[str]] = {}
    for path in machine.libraries(program, pattern):
        by_layer.setdefault(layer(path), []).append(path)
    if not by_layer:
        return None
    return program, rng.choice(by_layer[rng.choice(sorted(by_layer))])


@operator("hide-library", "tune")
def hide_library(rng: random.Random, machine: Machine) -> Draw | None:
    """A library that the program loads is gone from its folder."""
    found = victim(rng, machine)
    if not found:
        return None
    program, path = found
    cause, also = GONE[layer(path)]
    return Draw("hide-library", path, program, cause, also, over(path, "rm -f $F"))


CUTS = {"empty": "0", "head": "100", "page": "4096", "part": "1000000", "most": "48000000"}


@operator("cut-library", "judge")
def cut_library(rng: random.Random, machine: Machine) -> Draw | None:
    """A library that ends too early: nothing, a header, a page, a part."""
    found = victim(rng, machine)
    if not found:
        return None
    program, path = found
    how = rng.choice(sorted(CUTS))
    shell = f"rm -f $F; head -c {CUTS[how]} $G > $F"
    if how == "most":
        shell = (
            "rm -f $F; S=$(stat -Lc %s $G); S=$((S * 9 / 10)); [ $S -gt 48000000 ] && S=48000000; head -c $S $G > $F"
        )
    return Draw("cut-library", f"{path} ({how})", program, "install.corrupted", (), over(path, shell))


SWAPS = {
    "text": "echo '<html><title>404 Not Found</title></html>' > $F",
    "other-machine": "cp $G $F && printf '\\267' | dd of=$F bs=1 seek=18 conv=notrunc status=none",
    "zeros": "head -c 200000 /dev/zero > $F",
    "another": "cp $(ls $LOWER/*.so* | grep -v $(basename $G) | head -1) $F",
    "folder": "mkdir $F",
    "dangling": "ln -s /nonexistent/$(basename $G) $F",
}


@operator("swap-library", "tune")
def swap_library(rng: random.Random, machine: Machine) -> Draw | None:
    """Something else stands under the library's name."""
    found = victim(rng, machine)
    if not found:
        return None
    program, path = found
    how = rng.choice(sorted(SWAPS))
    also = () if how in ("text", "zeros") else GONE[layer(path)][1] + (GONE[layer(path)][0],)
    also = tuple(sorted({*also} - {"install.corrupted"}))
    return Draw(
        "swap-library", f"{path} ({how})", program, "install.corrupted", also, over(path, "rm -rf $F; " + SWAPS[how])
    )


@operator("close-library", "judge")
def close_library(rng: random.Random, machine: Machine) -> Draw | None:
    """A library that this user may not read."""
    found = victim(rng, machine)
    if not found:
        return None
    program, path = found
    also = tuple(sorted({*GONE[layer(path)][1], GONE[layer(path)][0], "env.limit"} - {"install.corrupted"}))
    return Draw("close-library", path, program, "install.corrupted", also, over(path, "chmod 000 $F"), user="nobody")


@operator("other-release", "judge")
def other_release(rng: random.Random, machine: Machine) -> Draw | None:
    """One library of the wheel taken from the system's copy of another release, where there is one."""
    programs = machine.programs("torch", "jax", "cupy")
    if not programs:
        return None
    program = rng.choice(programs)
    names = machine.libraries(program, r"^lib(cudnn|cublas|cufft|curand|cusparse|cusolver|nvrtc|nvJitLink|cudart)")
    if not names:
        return None
    path = rng.choice(names)
    base = path.rpartition("/")[2]
    cause, also = ("cudnn.mixed_libraries", ("cudnn.version_mismatch", "install.corrupted"))
    if layer(path) != "cudnn":
        cause, also = ("cuda.mixed_libraries", ("cuda.version_mismatch", "install.corrupted"))
    shell = f'O=$(readlink -f $(ls /usr/lib/x86_64-linux-gnu/{base} {machine.toolkit}/lib64/{base} 2>/dev/null | head -1)); [ -f "$O" ] && cp --remove-destination $O $F'
    return Draw("other-release", path, program, cause, also, over(path, shell))


@operator("system-cudnn-whole", "tune")
def system_cudnn(rng: random.Random, machine: Machine) -> Draw | None:
    """All of the wheel's cuDNN replaced by the system's older one."""
    programs = [p for p in machine.programs("torch", "jax") if machine.libraries(p, "libcudnn")]
    if not programs:
        return None
    program = rng.choice(programs)
    path = machine.libraries(program, "libcudnn")[0]
    shell = "for f in /usr/lib/x86_64-linux-gnu/libcudnn*.so.9; do cp --remove-destination $(readlink -f $f) $(dirname $F)/$(basename $f); done"
    return Draw(
        "system-cudnn-whole",
        "libcudnn*",
        program,
        "cudnn.version_mismatch",
        ("cudnn.mixed_libraries", "install.corrupted"),
        over(path, shell),
    )


def module_file(rng: random.Random, machine: Machine) -> tuple[str, str] | None:
    """A program and the package whose Python files it imports."""
    program = rng.choice(machine.programs("torch", "jax", "cupy", "numba", "triton", "onnx"))
    package = {"onnx": "onnxruntime"}.get(program.partition("-")[0], program.partition("-")[0])
    inner = {
        "torch": ("torch/version.py", "torch/_utils.py", "torch/nn/functional.py", "torch/cuda/__init__.py"),
        "jax": ("jax/version.py", "jaxlib/version.py", "jaxlib/xla_client.py", "jax/numpy/__init__.py"),
        "cupy": ("cupy/_core/__init__.py", "cupy/_environment.py", "cupy/cuda/__init__.py"),
        "numba": ("numba/core/config.py", "numba/cuda/__init__.py", "numba/_version.py"),
        "triton": ("triton/runtime/jit.py", "triton/compiler/compiler.py", "triton/language/core.py"),
        "onnxruntime": ("onnxruntime/capi/_pybind_state.py", "onnxruntime/__init__.py"),
    }[package]
    return program, f"{machine.site}/{rng.choice(inner)}"


@operator("cut-module", "judge")
def cut_module(rng: random.Random, machine: Machine) -> Draw | None:
    """A Python file of the framework that is empty, cut in the middle or full of zeros, as after a broken download."""
    found = module_file(rng, machine)
    if not found:
        return None
    program, path = found
    how = rng.choice(
        (
            "rm -f $F; : > $F",
            "rm -f $F; head -c $(($(stat -c %s $G) / 3)) $G > $F",
            "rm -f $F; head -c 900 /dev/zero > $F",
            "rm -f $F",
        )
    )
    clean = f"; find {shlex.quote(path.rpartition('/')[0])} -maxdepth 2 -name '{path.rpartition('/')[2][:-3]}.*.pyc' -delete"
    return Draw(
        "cut-module",
        path,
        program,
        "install.corrupted",
        ("other.not_gpu", "install.inconsistent"),
        over(path, how + clean),
    )


DOWNGRADES: tuple[tuple[str, str, str, str], ...] = (
    (
        "jax",
        "jaxlib/version.py",
        r"s/^\(_version = \).*/\1'0.4.1'/; s/^__version__ = .*/__version__ = '0.4.1'/",
        "jaxlib",
    ),
    ("jax", "jax/version.py", r"s/^_version = .*/_version = '0.4.20'/", "jax"),
    (
        "jax",
        "jax_cuda13_plugin/version.py",
        r"s/^_version = .*/_version = '0.7.0'/; s/^__version__ = .*/__version__ = '0.7.0'/",
        "plugin",
    ),
    (
        "numba",
        "numpy/version.py",
        r"s/^version = .*/version = \"1.19.0\"/; s/^short_version = .*/short_version = version/",
        "numpy",
    ),
    (
        "numba",
        "numpy/version.py",
        r"s/^version = .*/version = \"9.1.0\"/; s/^short_version = .*/short_version = version/",
        "numpy",
    ),
    ("numba", "llvmlite/_version.py", r"s/[0-9]*\.[0-9]*\.[0-9]*/0.30.0/", "llvmlite"),
    ("torch-vision", "torchvision/_C.so", "", "torchvision"),
    ("jax", "ml_dtypes/__init__.py", r"s/^__version__ = .*/__version__ = '0.1.0'/", "ml_dtypes"),
)


@operator("downgrade", "tune")
def downgrade(rng: random.Random, machine: Machine) -> Draw | None:
    """A package that says it is another release than its neighbours need."""
    prefix, file, edit, target = rng.choice([d for d in DOWNGRADES if d[2]])
    programs = machine.programs(prefix)
    if not programs:
        return None
    path = f"{machine.site}/{file}"
    shell = f"[ -f $G ] && sed {shlex.quote(edit)} $G > $W/edited && cp --remove-destination $W/edited $F; find $(dirname $F) -maxdepth 2 -name 'version.*.pyc' -delete"
    also = ("framework.extension_abi", "install.corrupted", "other.not_gpu")
    return Draw("downgrade", target, rng.choice(programs), "install.inconsistent", also, over(path, shell))


@operator("hide-tool", "tune")
def hide_tool(rng: random.Random, machine: Machine) -> Draw | None:
    """A compiler's part is gone everywhere: ptxas, libdevice, NVRTC's built-ins, the host compiler."""
    tool, programs, cause, also = rng.choice(
        (
            (
                "ptxas*",
                machine.programs("triton", "torch-compile", "jax"),
                "cuda.compiler_missing",
                ("install.corrupted",),
            ),
            (
                "libdevice*.bc",
                machine.programs("jax", "numba-kernel", "triton", "torch-compile"),
                "cuda.compiler_missing",
                ("install.corrupted",),
            ),
            (
                "libnvrtc-builtins*",
                machine.programs("cupy-raw", "torch-bessel", "cupy-random"),
                "cuda.compiler_missing",
                ("cuda.missing_library", "install.corrupted"),
            ),
            (
                "libnvvm*",
                machine.programs("numba-kernel"),
                "cuda.compiler_missing",
                ("cuda.missing_library", "install.corrupted"),
            ),
        )
    )
    if not programs:
        return None
    shell = (
        f"for f in $(find -L {machine.site}/nvidia {machine.site}/triton {machine.site}/jaxlib {machine.site}/jax_plugins {machine.toolkit} "
        f"-name '{tool}' -type f 2>/dev/null); do mkdir -p $W/e; r=$(readlink -f $f); mount --bind $W/e $(dirname $r) 2>/dev/null; done; true"
        if tool == "ptxas*"
        else f"for f in $(find -L {machine.site} {machine.toolkit} -name '{tool}' -type f 2>/dev/null); do over $(dirname $(readlink -f $f)); rm -f $(readlink -f $f); done; true"
    )
    return Draw("hide-tool", tool, rng.choice(programs), cause, also, shell)


@operator("no-host-compiler", "judge")
def no_host_compiler(rng: random.Random, machine: Machine) -> Draw | None:
    """No C compiler for what builds its launcher at run time."""
    programs = machine.programs("triton", "torch-compile")
    if not programs:
        return None
    shell = 'for c in gcc cc g++ c++ clang x86_64-linux-gnu-gcc x86_64-linux-gnu-gcc-13 x86_64-linux-gnu-gcc-12 gcc-13 gcc-12; do f=$(readlink -f /usr/bin/$c) && [ -f "$f" ] && mount --bind /dev/null $f; done; true'
    return Draw(
        "no-host-compiler",
        "gcc",
        rng.choice(programs),
        "cuda.compiler_missing",
        ("program.build", "env.path", "other.not_gpu"),
        shell,
    )


@operator("hide-package", "judge")
def hide_package(rng: random.Random, machine: Machine) -> Draw | None:
    """A package folder of the stack is empty, its metadata still there."""
    choices = (
        ("jax", "jax_plugins", "framework.cpu_only", ("install.corrupted",)),
        ("jax", "jaxlib", "install.corrupted", ("other.not_gpu",)),
        (
            "torch",
            "nvidia/cudnn",
            "cudnn.missing",
            ("install.corrupted", "cudnn.version_mismatch", "cudnn.mixed_libraries"),
        ),
        ("torch", "nvidia/nccl", "cuda.missing_library", ("install.corrupted",)),
        ("torch-compile", "triton", "install.corrupted", ("cuda.compiler_missing", "framework.bug", "other.not_gpu")),
        ("cupy", "cupy_backends", "install.corrupted", ("other.not_gpu",)),
        ("numba", "llvmlite", "install.corrupted", ("other.not_gpu",)),
    )
    prefix, folder, cause, also = rng.choice(choices)
    programs = machine.programs(prefix)
    if not programs:
        return None
    return Draw(
        "hide-package",
        folder,
        rng.choice(programs),
        cause,
        also,
        f"mkdir -p $W/e; mount --bind $W/e {machine.site}/{folder}",
    )
