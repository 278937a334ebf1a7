"""Tenth operators, files: archives of the toolkit, helpers' programs, parts of plug-ins and of Python itself, files of the machine."""

from __future__ import annotations

from lab.random.programs import CPP
from lab.random.tenth import (  # fmt: skip
    ABI,
    BAD,
    BUILD,
    COMPILER,
    CPU,
    HOST,
    LIB,
    LIM,
    NCCL,
    NVCC,
    ODD,
    OT,
    PATH,
    PEER,
    SEL,
    Case,
    T,
    enter,
)

WAYS = {
    "gone": "rm -f $P",
    "empty": "rm -f $P; : > $P",
    "cut in the middle": "rm -f $P; head -c $(($(stat -c %s $O) / 2)) $O > $P",
    "a page of a proxy": "rm -f $P; echo '<html>blocked</html>' > $P",
    "link to itself": "rm -f $P; ln -s $P $P",
}


def changed(folder: str, name: str, way: str) -> str:
    """Shell: change one file of a folder (by its real path) inside the draw's own view."""
    return f'Q=$(readlink -f {folder}); O=$(ls $Q/{name} 2>/dev/null | head -1); [ -f "$O" ] || exit 97; P=$O; over $Q; O=$LOWER/$(basename $P); {WAYS[way]}'


def built(name: str, way: str, folder: str = "@T@/lib64", flags: str = "") -> Case:
    """A good program, built while a part of the toolkit is spoilt."""
    command = NVCC.replace("nvcc", f"nvcc {flags}", 1) if flags else NVCC
    return Case("cpp-add", f"{name}: {way}", BAD, (BUILD, LIB, COMPILER, PATH), code=CPP["cpp-add"][1], setup=changed(folder, name, way), command=command, void="", dress="shell")  # fmt: skip


enter(
    "toolkit-archives",
    built("libcudart_static.a", "gone"),
    built("libcudart_static.a", "empty"),
    built("libcudart_static.a", "cut in the middle"),
    built("libcudadevrt.a", "gone"),
    built("libcudadevrt.a", "a page of a proxy"),
    built("nvlink", "empty", "@T@/bin", "-rdc=true"),
    built("nvlink", "gone", "@T@/bin", "-rdc=true"),
    built("link.stub", "gone", "@T@/bin/crt", "-rdc=true"),
)  # fmt: skip
enter(
    "toolkit-headers",
    *(built(name, way, "@T@/include") for name in ("cuda_runtime.h", "cuda_runtime_api.h", "vector_types.h") for way in ("gone", "cut in the middle", "a page of a proxy")),
    *(built(name, way, "@T@/include/crt") for name in ("host_config.h", "host_defines.h") for way in ("gone", "cut in the middle")),
)  # fmt: skip
SHARE = (
    T
    + "import torch.multiprocessing as mp\nprint('on', torch.ones(1, device='@D@').device, flush=True)\nmp.set_sharing_strategy('file_system')\nx = torch.ones(1 << 20).share_memory_()\nprint(x.sum().item())\n"
)


def helper(target: str, how: str) -> Case:
    """The small program that keeps torch's shared files."""
    setup = (
        f"[ -f @SITE@/torch/bin/torch_shm_manager ] || exit 97; over @SITE@/torch/bin; cd @SITE@/torch/bin; {how}; cd /"
    )
    return Case("torch-matmul", f"torch_shm_manager: {target}", BAD, (OT, LIM, HOST), code=SHARE, setup=setup, expect="(?i)shm_manager|shared", void="")  # fmt: skip


enter(
    "helpers-of-sharing",
    helper("gone", "rm -f torch_shm_manager"),
    helper("may not be started", "cp --remove-destination $LOWER/torch_shm_manager x; rm -f torch_shm_manager; mv x torch_shm_manager; chmod 644 torch_shm_manager"),
    helper("is a text", "rm -f torch_shm_manager; echo 'version https://git-lfs.github.com/spec/v1' > torch_shm_manager; chmod 755 torch_shm_manager"),
    helper("ends at once", "rm -f torch_shm_manager; printf '#!/bin/sh\\nexit 1\\n' > torch_shm_manager; chmod 755 torch_shm_manager"),
)  # fmt: skip


def part(needs: str, folder: str, name: str, way: str, also: tuple[str, ...]) -> Case:
    """A compiled part of a package."""
    return Case(needs, f"{folder}/{name}: {way}", BAD, also, setup=changed(f"@SITE@/{folder}", name, way), void="", dress="shell")  # fmt: skip


PLUG = (CPU, OT, ODD, ABI, LIB, SEL)
enter(
    "plugin-parts",
    *(part("jax-solve", "jax_cuda13_plugin", "_solver.so", way, PLUG) for way in ("gone", "empty", "a page of a proxy")),
    *(part("jax-matmul jax-solve", "jax_cuda13_plugin", "cuda_plugin_extension.so", way, PLUG) for way in ("gone", "empty", "cut in the middle")),
    *(part("jax-matmul jax-fft", "jax_plugins/xla_cuda13", "xla_cuda_plugin.so", way, PLUG) for way in ("empty", "a page of a proxy", "link to itself")),
    *(part("jax-matmul", "jax_plugins/xla_cuda13", "__init__.py", way, PLUG) for way in ("gone", "empty")),
)  # fmt: skip


def exchanged(needs: str, target: str, first: str, second: str, also: tuple[str, ...] = (ABI, OT, ODD)) -> Case:
    """One compiled module stands under the name of another."""
    setup = f'A=$(ls @SITE@/{first} | head -1); B=$(ls @SITE@/{second} | head -1); [ -f "$A" ] && [ -f "$B" ] || exit 97; over $(dirname $A); cp --remove-destination $(readlink -f $B) $W/x; rm -f $A; cp $W/x $A'
    return Case(needs, target, BAD, also, setup=setup, void="", dress="shell")


enter(
    "modules-exchanged",
    exchanged("jax-matmul cupy-matmul", "array core of NumPy is another module", "numpy/_core/_multiarray_umath.*.so", "numpy/random/_pcg64.*.so"),
    exchanged("cupy-matmul cupy-raw", "CuPy's core is another module", "cupy/_core/core.*.so", "cupy/_core/flags.*.so"),
    exchanged("cupy-matmul cupy-fft", "CuPy's driver is another module", "cupy_backends/cuda/api/driver.*.so", "cupy_backends/cuda/api/_driver_enum.*.so"),
    exchanged("jax-matmul jax-grad", "small types of JAX are another module", "ml_dtypes/_ml_dtypes_ext.*.so", "numpy/random/mtrand.*.so"),
    exchanged("triton-add torch-compile", "compiler of Triton is another module", "triton/_C/libtriton.so", "numpy/random/_mt19937.*.so"),
    exchanged("torch-matmul torch-train", "Python's side of torch is another module", "torch/_C.*.so", "numpy/random/bit_generator.*.so"),
)  # fmt: skip
DYN = 'unshare --mount --propagation private bash -c \'for f in $2/@N@.*.so; do mount --bind /dev/null $f; done; exec "$0" "$1"\' $PYTHON $SCRIPT $($PYTHON -c \'import sysconfig; print(sysconfig.get_config_var("DESTSHARED"))\')'


def python(needs: str, name: str, also: tuple[str, ...] = (OT, ODD)) -> Case:
    """A compiled part of Python itself cannot be found by this program alone, as in a Python built without a header."""
    return Case(needs, f"Python without {name}", BAD, also, command=DYN.replace("@N@", name), expect=name.lstrip("_"), void="")  # fmt: skip


enter(
    "python-without-parts",
    *(python("torch-matmul jax-matmul cupy-matmul triton-add", name) for name in ("_ctypes", "_bz2", "_lzma", "_multiprocessing", "_contextvars", "_socket", "_hashlib", "_posixsubprocess")),
)  # fmt: skip


def machine(needs: str, target: str, cause: str, also: tuple[str, ...], command: str, expect: str = "") -> Case:
    """A small file or name of the machine is not as programs expect it; the start script's own view has it so."""
    return Case(needs, target, cause, also, command=command, expect=expect, void="", seconds=40)


INSIDE = 'unshare --mount --propagation private bash -c \'@HOW@; exec "$0" @RUN@ "$1"\' $PYTHON $SCRIPT'
RUN = "-m torch.distributed.run --nnodes 1 --nproc-per-node 1 --rdzv-backend c10d --rdzv-conf read_timeout=8 --rdzv-endpoint localhost:@O@"
enter(
    "names-of-the-machine",
    machine("torch-nccl torch-matmul", "nobody knows localhost", PEER, (OT, NCCL, PATH), INSIDE.replace("@HOW@", "mount --bind /dev/null /etc/hosts; mount --bind /dev/null /etc/resolv.conf").replace("@RUN@", RUN), "(?i)resol|localhost|name|address"),
    machine("torch-nccl", "the machine's own name is unknown", PEER, (NCCL, OT), "unshare --uts sh -c 'hostname gpu-node-77.invalid; MASTER_ADDR=gpu-node-77.invalid exec \"$0\" \"$1\"' $PYTHON $SCRIPT", "(?i)gpu-node-77|resol|name"),
    machine("torch-nccl", "another address for localhost", PEER, (NCCL, OT), INSIDE.replace("@HOW@", "echo 203.0.113.5 localhost > $W/hosts; mount --bind $W/hosts /etc/hosts; export MASTER_ADDR=localhost MASTER_PORT=@O@").replace("@RUN@", "").replace("bash -c", "env W=$W bash -c"), "(?i)203.0.113|timed|connect|localhost|socket|unreach"),
    machine("torch-matmul jax-matmul cupy-matmul", "harmless: nobody knows localhost and nobody asks", OT, (), INSIDE.replace("@HOW@", "mount --bind /dev/null /etc/hosts").replace("@RUN@", "")),
)  # fmt: skip
