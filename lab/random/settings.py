"""Operators on a process's surroundings: variables, limits, places, shadows, another user, another folder."""

from __future__ import annotations

import random

from lab.random.draw import Draw, Machine, operator

S, D, P, L = "env.setting", "device.selection", "env.path", "env.limit"
Row = tuple[tuple[str, ...], str, tuple[str, ...], str, tuple[str, ...]]
"""Programs by prefix, variable, values, cause, also."""

VISIBLE: tuple[Row, ...] = (
    (
        (),
        "CUDA_VISIBLE_DEVICES",
        (
            "",
            "-1",
            "7",
            "GPU-deadbeef",
            "cuda:0",
            "none",
            "NoDevFiles",
            "MIG-7c6ee8d1-0000-5b2c-8c28-000000000000",
            "0x0g",
            "99,0",
            "GPU",
        ),
        D,
        (),
    ),
)
JAX: tuple[Row, ...] = (
    (
        ("jax",),
        "JAX_PLATFORMS",
        ("cpu", "tpu", "rocm", "cuda12", "gpu0", "CUDA", "nvidia", "metal", "cuda;cpu"),
        S,
        (D,),
    ),
    (("jax",), "JAX_PLATFORM_NAME", ("cpu", "nvidia"), S, (D,)),
    (
        ("jax",),
        "XLA_FLAGS",
        (
            "--xla_gpu_no_such_flag=1",
            "--xla_gpu_autotune_level=high",
            "xla_gpu_autotune_level",
            "--xla_gpu_cuda_data_dir",
            "--xla_dump_to",
            "--xla_gpu_enable_triton_gemm=perhaps",
        ),
        S,
        (),
    ),
    (("jax",), "XLA_PYTHON_CLIENT_MEM_FRACTION", ("abc", "150%", "0.5GB"), S, ("memory.preallocation",)),
    (("jax",), "XLA_PYTHON_CLIENT_ALLOCATOR", ("fast", "cudamalloc"), S, ()),
    (("jax",), "JAX_ENABLE_X64", ("maybe",), S, ("other.not_gpu",)),
    (("jax",), "JAX_DEFAULT_MATMUL_PRECISION", ("best",), S, ("other.not_gpu",)),
    (("jax",), "JAX_CUDA_VISIBLE_DEVICES", ("7", "none"), D, (S,)),
)
TORCH: tuple[Row, ...] = (
    (
        ("torch",),
        "PYTORCH_CUDA_ALLOC_CONF",
        (
            "max_split_size_mb",
            "max_split_size_mb:abc",
            "max_split_size_mb:1",
            "expandable_segments:maybe",
            "backend:malloc",
            "garbage_collection_threshold:5",
            "roundup_power2_divisions:3",
            "foo:1",
            "max_split_size_mb=128",
            "expandable_segments=True",
        ),
        S,
        ("memory.fragmentation",),
    ),
    (
        ("torch",),
        "PYTORCH_ALLOC_CONF",
        ("expandable_segments", "pinned_use_cuda_host_register:7x", "no_such_option:True", "backend:jemalloc"),
        S,
        ("memory.fragmentation",),
    ),
    (("torch",), "TORCH_LOGS", ("everything", "+inductorr"), S, ("other.not_gpu",)),
    (
        ("torch-deterministic",),
        "CUBLAS_WORKSPACE_CONFIG",
        (":1:1", "off", "4096"),
        S,
        ("program.order", "other.not_gpu"),
    ),
    (("torch",), "TORCH_BLAS_PREFER_CUBLASLT", ("x",), S, ()),
    (("torch-compile",), "TORCHINDUCTOR_COMPILE_THREADS", ("many",), S, ("other.not_gpu",)),
    (("torch-compile",), "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS", ("none",), S, ()),
    (
        ("torch-compile", "triton"),
        "CC",
        ("/nonexistent/gcc", "gcc-4.1"),
        P,
        (S, "cuda.compiler_missing", "program.build"),
    ),
    (
        ("torch-compile", "triton"),
        "TRITON_PTXAS_PATH",
        ("/nonexistent/ptxas", "/bin/false"),
        P,
        (S, "cuda.compiler_missing"),
    ),
    (("torch-compile", "triton"), "TRITON_LIBCUDA_PATH", ("/nonexistent",), P, (S, "driver.missing", "program.build")),
    (("triton",), "TRITON_INTERPRET", ("yes",), S, ()),
)
OTHERS: tuple[Row, ...] = (
    (("cupy",), "CUPY_GPU_MEMORY_LIMIT", ("abc", "-5", "10GB", "150%"), S, ()),
    (("cupy-matmul", "cupy-random"), "CUPY_GPU_MEMORY_LIMIT", ("1000",), S, ("memory.oom", L)),
    (("cupy",), "CUPY_ACCELERATORS", ("fast", "cub,foo"), S, ()),
    (("cupy",), "CUPY_CACHE_DIR", ("/proc/nowhere", "/dev/null/x"), L, (S, P)),
    (("cupy",), "CUPY_COMPILE_WITH_PTX", ("x",), S, ()),
    (("cupy",), "CUPY_TF32", ("yes",), S, ()),
    (("numba",), "NUMBA_DISABLE_CUDA", ("1",), S, (D,)),
    (("numba",), "NUMBA_CUDA_DRIVER", ("/nonexistent/libcuda.so", "/etc/passwd"), P, (S, "driver.missing")),
    (("numba",), "NUMBA_CUDA_DEFAULT_PTX_CC", ("9", "ninety"), S, ()),
    (("numba",), "NUMBA_THREADING_LAYER", ("fast",), S, ()),
    (("numba",), "NUMBA_CACHE_DIR", ("/proc/nowhere",), L, (S,)),
    (("numba",), "NUMBA_NUM_THREADS", ("0", "many", "4000"), S, ("other.not_gpu",)),
    (("numba-kernel",), "CUDA_DISABLE_PTX_JIT", ("1",), S, ("cuda.compiler_missing",)),
    (("torch", "cupy-matmul", "cpp", "jax"), "CUDA_FORCE_PTX_JIT", ("1",), S, ("framework.gpu_unsupported",)),
    (
        ("numba", "cupy", "torch-compile"),
        "CUDA_HOME",
        ("/nonexistent/cuda", "/usr/local/cuda/bin"),
        P,
        (S, "cuda.compiler_missing"),
    ),
    (("cupy", "numba"), "CUDA_PATH", ("/nonexistent/cuda",), P, (S, "cuda.compiler_missing")),
    (("torch-nccl",), "NCCL_SOCKET_IFNAME", ("nope0", "=eth99"), "distributed.nccl", (S, "distributed.peer")),
    (("torch-nccl",), "NCCL_NET", ("MyNet", "IB2"), S, ("distributed.nccl",)),
    (("torch-nccl",), "NCCL_ALGO", ("Circle", "ring,square"), S, ("distributed.nccl",)),
    (("torch-nccl",), "NCCL_PROTO", ("Fast",), S, ("distributed.nccl",)),
    (("torch-nccl",), "NCCL_COMM_ID", ("nohost:99999", "127.0.0.1"), S, ("distributed.nccl", "distributed.peer")),
    (("torch-nccl",), "MASTER_ADDR", ("no-such-host.invalid", "10.255.255.1"), "distributed.peer", (S,)),
    (("torch-nccl",), "MASTER_PORT", ("abc", "99999", "80x"), S, ("distributed.peer",)),
    (("torch-nccl",), "WORLD_SIZE", ("2", "4"), "distributed.peer", (S,)),
    (("torch-nccl",), "RANK", ("3", "-1", "x"), S, ("distributed.peer", "other.not_gpu")),
    ((), "PYTHONHOME", ("/nonexistent", "/usr"), P, (S, "env.shadowed", "other.not_gpu")),
    ((), "LD_PRELOAD", ("/etc/passwd", "/nonexistent/libfoo.so"), P, (S, "install.corrupted")),
)


def _variable(rng: random.Random, machine: Machine, name: str, rows: tuple[Row, ...]) -> Draw | None:
    prefixes, variable, values, cause, also = rng.choice(rows)
    skip = ("onnx-cpu", "numba-cpu") if variable.startswith(("CUDA", "NUMBA_CUDA")) or name == "visible" else ()
    programs = [p for p in machine.programs(*prefixes) if p not in skip]
    if variable == "PYTHONHOME":
        programs = [p for p in programs if not p.startswith("cpp")]
    if not programs:
        return None
    value = rng.choice(values)
    return Draw(name, f"{variable}={value}", rng.choice(programs), cause, also, environ={variable: value})


@operator("visible", "tune")
def visible(rng: random.Random, machine: Machine) -> Draw | None:
    """CUDA_VISIBLE_DEVICES that leaves no GPU."""
    return _variable(rng, machine, "visible", VISIBLE)


@operator("variable-jax", "judge")
def variable_jax(rng: random.Random, machine: Machine) -> Draw | None:
    """A variable that JAX or XLA reads, with a value it rejects or that turns the GPU off."""
    return _variable(rng, machine, "variable-jax", JAX)


@operator("variable-torch", "tune")
def variable_torch(rng: random.Random, machine: Machine) -> Draw | None:
    """A variable that PyTorch, Inductor or Triton reads, with a bad value."""
    return _variable(rng, machine, "variable-torch", TORCH)


@operator("variable-other", "judge")
def variable_other(rng: random.Random, machine: Machine) -> Draw | None:
    """A variable of CuPy, Numba, NCCL, the driver, the loader or Python, with a bad value."""
    return _variable(rng, machine, "variable-other", OTHERS)


@operator("library-path", "judge")
def library_path(rng: random.Random, machine: Machine) -> Draw | None:
    """LD_LIBRARY_PATH that brings the system's libraries before the wheels'."""
    programs = machine.programs("torch", "jax", "cupy", "cpp-cu")
    if not programs:
        return None
    folder = rng.choice(("/usr/lib/x86_64-linux-gnu", f"{machine.toolkit}/lib64", "/nonexistent"))
    cause, also = (
        ("cudnn.mixed_libraries", ("cudnn.version_mismatch", "cuda.mixed_libraries"))
        if folder.startswith("/usr/lib")
        else ("cuda.mixed_libraries", (P, "cuda.version_mismatch"))
    )
    if folder == "/nonexistent":
        cause, also = P, ("driver.missing", "cuda.missing_library")
    return Draw("library-path", folder, rng.choice(programs), cause, also, environ={"LD_LIBRARY_PATH": folder})


LIMITS = (
    ("ulimit -v {n}", (400_000, 1_500_000, 4_000_000, 9_000_000), ("memory.host",)),
    ("ulimit -n {n}", (5, 12, 24, 40, 64), ()),
    ("ulimit -f {n}", (0, 8), ()),
    ("ulimit -s {n}", (64, 128), ("other.not_gpu",)),
    ("ulimit -t {n}", (1, 2), ("other.not_gpu",)),
    ("ulimit -d {n}", (300_000, 1_000_000), ("memory.host",)),
    ("ulimit -u {n}", (1, 4, 12), ()),
)


@operator("limit", "judge")
def limit(rng: random.Random, machine: Machine) -> Draw | None:
    """A resource limit too low for the program."""
    shape, values, also = rng.choice(LIMITS)
    value = shape.format(n=rng.choice(values))
    user = "nobody" if "-u" in shape else ""  # root is not counted
    return Draw("limit", value, rng.choice(machine.programs()), L, also, limit=value, user=user)


PLACES: tuple[tuple[str, str, dict[str, str | None], tuple[str, ...]], ...] = (
    ("temporary folder gone", ":", {"TMPDIR": "/nonexistent/tmp"}, ()),
    (
        "temporary folder full",
        "mkdir -p $W/t; mount -t tmpfs -o size=16k none $W/t; head -c 16k /dev/zero > $W/t/f 2>/dev/null; mount --bind $W/t /tmp; true",
        {"TMPDIR": "/tmp"},
        (),
    ),
    (
        "temporary folder read-only",
        "mkdir -p $W/t; mount -t tmpfs -o ro none $W/t; mount --bind $W/t /tmp",
        {"TMPDIR": "/tmp"},
        (),
    ),
    (
        "no space for inodes",
        "mkdir -p $W/t; mount -t tmpfs -o nr_inodes=2 none $W/t; touch $W/t/a; true",
        {"TMPDIR": "$W/t", "HOME": "$W/t", "XDG_CACHE_HOME": "$W/t", "TRITON_CACHE_DIR": "$W/t/c"},
        (),
    ),
    ("home read-only", "mkdir -p $W/h; mount -t tmpfs -o ro none $W/h", {"HOME": "$W/h"}, ()),
    (
        "home full",
        "mkdir -p $W/h; mount -t tmpfs -o size=8k none $W/h; head -c 8k /dev/zero > $W/h/f 2>/dev/null; true",
        {"HOME": "$W/h"},
        (),
    ),
    (
        "cache full",
        "mkdir -p $W/c; mount -t tmpfs -o size=12k none $W/c; true",
        {
            "TRITON_CACHE_DIR": "$W/c/a",
            "CUPY_CACHE_DIR": "$W/c/b",
            "TORCHINDUCTOR_CACHE_DIR": "$W/c/d",
            "NUMBA_CACHE_DIR": "$W/c/e",
        },
        (),
    ),
    (
        "cache without execution",
        "mkdir -p $W/c; mount -t tmpfs -o noexec none $W/c; true",
        {"TRITON_CACHE_DIR": "$W/c/a", "TORCHINDUCTOR_CACHE_DIR": "$W/c/d", "TMPDIR": "$W/c"},
        ("install.corrupted",),
    ),
    (
        "cache is a file",
        "echo x > $W/cache",
        {"TRITON_CACHE_DIR": "$W/cache", "CUPY_CACHE_DIR": "$W/cache", "TORCHINDUCTOR_CACHE_DIR": "$W/cache"},
        ("env.setting",),
    ),
)


@operator("place", "tune")
def place(rng: random.Random, machine: Machine) -> Draw | None:
    """A temporary, home or cache folder that is full, closed or gone."""
    name, setup, environ, also = rng.choice(PLACES)
    programs = machine.programs("triton", "torch-compile", "torch-loader", "cupy", "numba", "torch-bessel", "jax-conv")
    return Draw("place", name, rng.choice(programs), L, also, setup, environ) if programs else None


@operator("shared-memory", "judge")
def shared_memory(rng: random.Random, machine: Machine) -> Draw | None:
    """/dev/shm too small, closed or gone."""
    programs = machine.programs("torch-loader", "torch-nccl")
    how = rng.choice(
        (
            "mount -t tmpfs -o size=256k none /dev/shm",
            "mount -t tmpfs -o ro none /dev/shm",
            "mount -t tmpfs -o size=1m none /dev/shm; head -c 1m /dev/zero > /dev/shm/f 2>/dev/null; true",
        )
    )
    return (
        Draw("shared-memory", how.split(";")[0], rng.choice(programs), "memory.host", (L, "distributed.nccl"), how)
        if programs
        else None
    )


SHADOWS = (
    "{m}",
    "{m}",
    "numpy",
    "random",
    "queue",
    "types",
    "inspect",
    "logging",
    "typing_extensions",
    "packaging",
    "ctypes",
    "copy",
    "json",
    "platform",
)
BODIES = ("", "x = 1\n", "print('my own module')\ndef helper():\n    return 3\n", "from math import *\n")


def _module(program: str) -> str:
    head = program.partition("-")[0]
    return {"onnx": "onnxruntime", "cpp": "torch"}.get(head, head)


@operator("shadow-file", "judge")
def shadow_file(rng: random.Random, machine: Machine) -> Draw | None:
    """A file beside the script with the name of a module that the framework needs."""
    program = rng.choice(machine.programs("torch", "jax", "cupy", "numba", "triton", "onnx"))
    name = rng.choice(SHADOWS).format(m=_module(program))
    return Draw("shadow-file", f"{name}.py", program, "env.shadowed", (), files={f"{name}.py": rng.choice(BODIES)})


@operator("shadow-path", "tune")
def shadow_path(rng: random.Random, machine: Machine) -> Draw | None:
    """PYTHONPATH or the user's own packages bring another module of that name first."""
    program = rng.choice(machine.programs("torch", "jax", "cupy", "numba", "triton", "onnx"))
    name = rng.choice((_module(program), "numpy", "typing_extensions", "packaging", "sympy", "filelock"))
    body = rng.choice((*BODIES, "raise ImportError('this copy is for another Python')\n"))
    files = {f"old/{name}/__init__.py": body, "old/note.txt": ""}
    return Draw(
        "shadow-path",
        name,
        program,
        "env.shadowed",
        ("install.conflict",),
        environ={"PYTHONPATH": "$D/old"},
        files=files,
    )


@operator("another-user", "tune")
def another_user(rng: random.Random, machine: Machine) -> Draw | None:
    """Another user with a home that is not his."""
    programs = machine.programs("triton", "torch-compile", "cupy", "numba")
    if not programs:
        return None
    setup = "mkdir -p $W/h/.cache $W/h/.triton $W/h/.cupy; chmod 700 $W/h"
    environ: dict[str, str | None] = {"HOME": "$W/h", "XDG_CACHE_HOME": None, "TMPDIR": "$W/h"}
    return Draw("another-user", "HOME", rng.choice(programs), L, ("other.not_gpu",), setup, environ, user="nobody")


@operator("wrong-folder", "judge")
def wrong_folder(rng: random.Random, machine: Machine) -> Draw | None:
    """The wrong working folder: inside a package, gone, or without the program's data."""
    program = rng.choice(machine.programs("torch", "jax", "cupy", "numba"))
    module = _module(program)
    choice = rng.choice(("inside", "data", "gone"))
    if choice == "inside":
        return Draw(
            "wrong-folder",
            f"in {module}/",
            program,
            "env.shadowed",
            ("install.corrupted", "other.not_gpu"),
            cwd=f"{machine.site}/{module}",
            command="$PYTHON -c \"exec(open('$SCRIPT').read())\"",
        )
    if choice == "data":
        code = "import os\n" + f"import {module}\n" + "config = open('config/settings.yaml').read()\n"
        return Draw("wrong-folder", "no data", program, "other.not_gpu", (), cwd="/", code=code)
    return Draw(
        "wrong-folder",
        "removed",
        program,
        L,
        ("other.not_gpu", "env.shadowed"),
        command='mkdir -p $W/gone; cd $W/gone; rmdir $W/gone; $PYTHON -c "import os; print(os.getcwd())" && $PYTHON $SCRIPT',
    )
