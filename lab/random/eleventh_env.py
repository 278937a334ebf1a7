"""Eleventh operators, variables and start files: proxies, CUDA's newer variables, profiles, modules, virtual environments, checks of the site, tools around a program."""

from __future__ import annotations

from collections.abc import Mapping

from lab.random.eleventh import (  # fmt: skip
    BUILD,
    BUSY,
    CLOSED,
    CPU,
    HOST,
    KERNEL_OTHER,
    LIB,
    LIGHT,
    LIM,
    NO_GPU,
    NONE,
    NOT_READY,
    OLD,
    OOM,
    ORD,
    OT,
    PATH,
    PEER,
    SEL,
    SET,
    SHADOW,
    TAKEN,
    VERSION,
    Case,
    enter,
    lines,
)


def var(needs: str, environ: Mapping[str, str | None], expect: str, also: tuple[str, ...] = (OT,), cause: str = SET) -> Case:  # fmt: skip
    """Variables with values that their readers do not like."""
    return Case(needs, " ".join(f"{k}={v}" for k, v in environ.items())[:80], cause, also, environ=environ, expect=expect, void="")  # fmt: skip


enter(
    "compiler-workers-by-variable",
    var("torch-compile", {"TORCHINDUCTOR_COMPILE_THREADS": "all"}, "(?i)all|invalid literal"),
    var("torch-compile", {"TORCHINDUCTOR_WORKER_START": "threads9", "TORCHINDUCTOR_COMPILE_THREADS": "2"}, "(?i)threads9|assert"),
    var("torch-compile", {"TORCHINDUCTOR_MAX_AUTOTUNE_GEMM_BACKENDS": "TURBO", "TORCHINDUCTOR_MAX_AUTOTUNE": "1"}, "(?i)TURBO|backend|choice"),
    var("torch-compile", {"TORCH_COMPILE_BACKEND": "inductor", "TORCH_LOGS": "+inductorr"}, "(?i)inductorr|log"),
    var("torch-compile", {"TORCH_TRACE": "/proc/self/trace"}, "(?i)/proc|trace", (LIM, OT, PATH)),
    var("torch-compile", {"TORCHINDUCTOR_CACHE_DIR": "/dev/null/inductor"}, "(?i)/dev/null|Not a directory", (LIM, OT, PATH)),
)  # fmt: skip
enter(
    "jax-files-by-variable",
    var("jax-matmul jax-grad", {"JAX_DEBUG_LOG_MODULES": "jax", "JAX_LOGGING_LEVEL": "LOUD"}, "(?i)LOUD|level"),
    var("jax-matmul jax-grad", {"JAX_DEFAULT_MATMUL_PRECISION": "tf128"}, "(?i)tf128|precision"),
    var("jax-matmul jax-grad", {"JAX_COMPILATION_CACHE_MAX_SIZE": "ten gigabytes"}, "(?i)ten giga|COMPILATION_CACHE"),
    var("jax-matmul jax-grad", {"JAX_DUMP_IR_TO": "/proc/self/ir"}, "(?i)/proc", (LIM, OT, PATH)),
    var("jax-matmul jax-grad", {"JAX_DISABLE_JIT": "maybe"}, "(?i)maybe|DISABLE_JIT"),
    var("jax-matmul jax-grad", {"JAX_CPU_COLLECTIVES_IMPLEMENTATION": "carrier-pigeon"}, "(?i)carrier|COLLECTIVES"),
    var("jax-matmul jax-grad", {"JAX_CUDA_VISIBLE_DEVICES": "5"}, "(?i)device|5|visible", (OT, SEL), SEL),
    var("jax-matmul jax-fft", {"XLA_FLAGS": "--xla_gpu_cuda_data_dir=/opt/none --xla_gpu_force_compilation_parallelism=lots"}, "(?i)lots|flag|xla"),
)  # fmt: skip
enter(
    "variables-that-only-speak",
    *(Case(LIGHT, f"harmless: {k}={v}", SET, (OT,), environ={k: v}) for k, v in (("CUDA_ENABLE_COREDUMP_ON_EXCEPTION", "1"), ("CUDA_LOG_FILE", "stderr"), ("CUBLASLT_LOG_LEVEL", "1"), ("CUDA_DISABLE_PERF_BOOST", "1"), ("CUDA_SCALE_LAUNCH_QUEUES", "2x"), ("CUDA_AUTO_BOOST", "0"), ("NVIDIA_TF32_OVERRIDE", "0"), ("CUDA_MODULE_DATA_LOADING", "LAZY"))),
)  # fmt: skip
MOD = "cd $W; printf '%s\\n' @PROFILE@ > env.sh; . ./env.sh; exec $PYTHON $SCRIPT"


def profile(needs: str, target: str, cause: str, also: tuple[str, ...], text: tuple[str, ...], expect: str) -> Case:
    """A start file that a site or a user keeps, read before the program."""
    return Case(needs, target, cause, also, command=MOD.replace("@PROFILE@", lines(*text)), expect=expect, void="", dress="none")  # fmt: skip


SAD = "(?i)No CUDA GPUs|no NVIDIA|cuda|device|gpu|backend|error"
enter(
    "start-files-of-a-site",
    profile("torch-matmul jax-matmul cupy-matmul", "card by the job's array number", SEL, (SET,), ("SLURM_ARRAY_TASK_ID=11", "export CUDA_VISIBLE_DEVICES=$SLURM_ARRAY_TASK_ID"), SAD),
    profile("torch-matmul jax-matmul cupy-matmul", "cards of another queue by their names", SEL, (SET,), ("export CUDA_VISIBLE_DEVICES=GPU-5f2d9c1e-77aa-b1c0-9d3e-0123456789ab",), SAD),
    profile("torch-matmul jax-matmul cupy-matmul", "slice of a card that is whole", SEL, (SET, BUSY), ("export CUDA_VISIBLE_DEVICES=MIG-11111111-2222-3333-4444-555555555555",), SAD),
    profile("jax-matmul jax-grad", "host only since the login node", SET, (SEL, CPU), ("case $(hostname) in login*) ;; *) export JAX_PLATFORMS=cpu;; esac",), "(?i)backend|gpu|cuda|platform"),
    profile(LIGHT, "cards cleared for short jobs, forgotten", SEL, (SET,), ("[ -n \"$GPU_QUEUE\" ] || export CUDA_VISIBLE_DEVICES=NoDevFiles",), SAD),
    profile(LIGHT, "harmless: colours and prompts", OT, (), ("export PS1='gpu> '", "alias ll='ls -l'", "export EDITOR=vi"), ""),
)  # fmt: skip


def shelled(target: str, cause: str, also: tuple[str, ...], command: str, expect: str, needs: str = LIGHT) -> Case:
    """A script's own step before, around or after a good program."""
    return Case(needs, target, cause, also, command=command, expect=expect, void="", dress="none")


SMI = "nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1"
enter(
    "prologs-that-check",
    shelled("a later driver demanded", OLD, (OT, VERSION), f"v=$({SMI}); m=${{v%%.*}}; [ \"${{m:-0}}\" -ge 640 ] || {{ echo \"prolog: NVIDIA driver $v is older than 640.00 which this image (CUDA 14.1) needs\" >&2; exit 41; }}; exec $PYTHON $SCRIPT", "older than 640"),
    shelled("requirement of an image not met", OLD, (OT, VERSION, NO_GPU), "echo 'nvidia-container-cli: requirement error: unsatisfied condition: cuda>=14.1, please update your driver to a newer version, or use an earlier cuda container: unknown' >&2; exit 125", "unsatisfied condition"),
    shelled("a free card demanded, another job is on it", TAKEN, (OT, BUSY, OOM), "$PYTHON -c 'import torch, time; x = torch.empty(3 << 30, dtype=torch.uint8, device=\"cuda\"); print(\"held\", flush=True); time.sleep(30)' > $W/held & p=$!; for i in $(seq 60); do grep -q held $W/held && break; sleep 0.3; done; $PYTHON -c 'import torch; f, t = torch.cuda.mem_get_info(); u = 0.99; exec(\"if f < u * t: raise ValueError(f\\\"Free memory on device cuda:0 ({f / 2**30:.2f}/{t / 2**30:.2f} GiB) on startup is less than desired GPU memory utilization ({u}, {u * t / 2**30:.2f} GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.\\\")\")'; c=$?; kill $p; exit $c", "less than desired"),
    shelled("more cards demanded", SEL, (OT,), "n=$(nvidia-smi -L | wc -l); [ $n -ge 8 ] || { echo \"launch: --gpus 8 requested but only $n GPU found on this node\" >&2; exit 33; }; exec $PYTHON $SCRIPT", "only . GPU found"),
    shelled("a card of another family demanded", "framework.gpu_unsupported", (SEL, OT), "c=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1); case $c in 10.*|12.*) ;; *) echo \"kernels in this package are built for sm_100 and sm_120 only; this GPU has compute capability $c\" >&2; exit 34;; esac; exec $PYTHON $SCRIPT", "built for sm_100"),
    shelled("too little memory of the host", HOST, (OT, LIM), "m=$(awk '/MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo); [ $m -ge 2000 ] || { echo \"loader: 2000 GiB of host memory wanted for the weights, $m GiB available\" >&2; exit 35; }; exec $PYTHON $SCRIPT", "GiB available"),
    shelled("an exclusive card demanded", BUSY, (OT, SET), "m=$(nvidia-smi --query-gpu=compute_mode --format=csv,noheader | head -1); echo \"compute mode: $m\"; [ \"$m\" = Exclusive_Process ] || { echo 'mps-guard: GPU 0 is not in EXCLUSIVE_PROCESS mode, cannot start the control daemon' >&2; exit 36; }; exec $PYTHON $SCRIPT", "mps-guard"),
)  # fmt: skip
SAN = "command -v compute-sanitizer > /dev/null || exit 97; "
KERN = "import cupy\nk = cupy.RawKernel('extern \"C\" __global__ void k(float* p, int n) { @B@ }', 'k')\nx = cupy.zeros(64, dtype='f')\nk((1,), (64,), (x, 64))\ncupy.cuda.Device().synchronize()\nprint('cuda', float(x.sum()))\n"


def tool(target: str, cause: str, also: tuple[str, ...], command: str, expect: str, code: str = "", needs: str = "cupy-raw") -> Case:  # fmt: skip
    """A good or bad program under one of NVIDIA's tools."""
    return Case(needs, target, cause, also, command=command, code=code, expect=expect, void="", dress="none")


enter(
    "under-nvidias-tools",
    tool("memory checker finds a write beyond", "program.illegal_access", (OT,), SAN + "compute-sanitizer --error-exitcode 9 $PYTHON $SCRIPT", "(?i)Invalid __global__ write", KERN.replace("@B@", "p[threadIdx.x + 100000000] = n;")),
    tool("race checker finds a race", "program.illegal_access", (OT, ORD), SAN + "compute-sanitizer --tool racecheck --error-exitcode 9 $PYTHON $SCRIPT", "(?i)race|hazard", KERN.replace("@B@", "__shared__ float s[64]; s[threadIdx.x] = n; p[threadIdx.x] = s[63 - threadIdx.x];")),
    tool("checker of another name", OT, (SET,), SAN + "compute-sanitizer --tool heapcheck $PYTHON $SCRIPT", "(?i)heapcheck|tool"),
    tool("disassembler given a text", OT, ("install.corrupted", BUILD), "command -v cuobjdump > /dev/null || exit 97; $PYTHON $SCRIPT && echo hello > $W/x.cubin && cuobjdump --dump-sass $W/x.cubin", "(?i)cuobjdump|not"),
    tool("counters of a kind nobody knows", OT, (SET,), "command -v ncu > /dev/null || exit 97; ncu --metrics sm__warp_speed --target-processes all $PYTHON $SCRIPT && exit 5; exit 5", "(?i)metric|warp_speed"),
    tool("management tool asked for a field it has not", OT, (SET,), "$PYTHON $SCRIPT && nvidia-smi --query-gpu=warp.speed --format=csv", "(?i)not a valid field|warp.speed"),
    tool("management tool asked for the ninth card", SEL, (OT,), "$PYTHON $SCRIPT && nvidia-smi -i 9 --query-gpu=name --format=csv", "(?i)No devices were found|not.*found|invalid"),
)  # fmt: skip
enter(
    "environments-of-python",
    shelled("an environment without packages", OT, (PATH, "install.inconsistent"), "$PYTHON -m venv --without-pip $W/v && exec $W/v/bin/python $SCRIPT", "(?i)No module named", "torch-matmul jax-matmul cupy-matmul"),
    shelled("the system's Python instead", PATH, (OT,), "exec /usr/bin/python3 -I $SCRIPT", "(?i)No module named", "torch-matmul jax-matmul cupy-matmul"),
    shelled("isolated, own helper beside it not found", OT, (PATH, SHADOW), "echo 'A = 1' > $(dirname $SCRIPT)/gpu_helpers.py; printf 'import gpu_helpers\\n' >> $SCRIPT; exec $PYTHON -I $SCRIPT", "gpu_helpers"),
    shelled("another folder for every package", SHADOW, (PATH, "install.conflict"), "mkdir -p $W/v/torch; echo '__version__ = \"0.1\"' > $W/v/torch/__init__.py; PYTHONPATH=$W/v exec $PYTHON $SCRIPT", "(?i)attribute|torch", "torch-matmul torch-fft"),
    shelled("a module of the user for the card's arrays", SHADOW, (PATH, "install.conflict"), "mkdir -p $W/v; echo 'def ones(*a, **k): raise NotImplementedError(\"course exercise 3\")' > $W/v/cupy.py; PYTHONPATH=$W/v exec $PYTHON $SCRIPT", "(?i)exercise 3|cupy", "cupy-matmul"),
    shelled("home's own packages first", SHADOW, (PATH, "install.conflict"), "u=$HOME/u; mkdir -p $u/jaxlib; echo '' > $u/jaxlib/__init__.py; PYTHONPATH=$u exec $PYTHON $SCRIPT", "(?i)jaxlib", "jax-matmul jax-grad"),
    shelled("zipped packages without their libraries", OT, (SHADOW, PATH, "install.corrupted"), "cd $W; mkdir -p z/numpy; echo 'from ._core import multiarray' > z/numpy/__init__.py; $PYTHON -c \"import shutil; shutil.make_archive('z', 'zip', 'z')\"; PYTHONPATH=$W/z.zip exec $PYTHON $SCRIPT", "(?i)numpy", "jax-matmul cupy-matmul"),
)  # fmt: skip
HIDE = (NO_GPU, NONE, NOT_READY, KERNEL_OTHER, LIM, PATH)
INSIDE = 'unshare --mount --propagation private bash -c \'@HOW@; exec "$0" "$1"\' $PYTHON $SCRIPT'


def seen(target: str, cause: str, also: tuple[str, ...], how: str, needs: str = LIGHT, expect: str = "") -> Case:
    """The program's own view of the machine lacks something of the driver."""
    return shelled(target, cause, also, INSIDE.replace("@HOW@", how), expect, needs)


enter(
    "views-without-the-driver",
    seen("devices made anew without the card", CLOSED, HIDE, "mkdir -p $W/dev; mount -t tmpfs none /dev/shm; for n in /dev/nvidia[0-9]*; do mount --bind /dev/zero $n; done"),
    seen("only the control node is another's", CLOSED, HIDE, "mount --bind /dev/full /dev/nvidiactl"),
    seen("memory manager's node is a folder's", CLOSED, HIDE, "mount --bind /dev/random /dev/nvidia-uvm"),
    seen("harmless: tools' node is a sink", OT, (), "[ -e /dev/nvidia-uvm-tools ] && mount --bind /dev/null /dev/nvidia-uvm-tools; true"),
    seen("harmless: no shared memory but a little", OT, (), "mount -t tmpfs -o size=64m none /dev/shm"),
    seen("harmless: an empty folder of modules", OT, (), "mount -t tmpfs none /lib/modules 2>/dev/null; true"),
)  # fmt: skip
enter(
    "net-by-variable",
    Case("torch-nccl", "interface by a pattern of nobody", "distributed.nccl", (SET, PEER), environ={"NCCL_SOCKET_IFNAME": "^lo,eth,ens,enp,docker,bond,veth,tap,tun,wl"}, expect="(?i)NCCL|nccl|interface", void=""),
    Case("torch-nccl", "algorithm of another name", SET, ("distributed.nccl",), environ={"NCCL_ALGO": "pigeon", "NCCL_DEBUG": "WARN"}, expect="(?i)NCCL|algo", void=""),
    Case("torch-nccl", "protocol that is none", SET, ("distributed.nccl",), environ={"NCCL_PROTO": "warp", "NCCL_DEBUG": "WARN"}, expect="(?i)NCCL|proto", void=""),
    Case("torch-nccl", "net plug-in demanded", "distributed.nccl", (SET, LIB, PATH), environ={"NCCL_NET": "AWS Libfabric", "NCCL_DEBUG": "WARN"}, expect="(?i)NCCL|network", void=""),
    Case("torch-nccl", "topology read from a page", "distributed.nccl", (SET, "install.corrupted"), setup="echo '<html><body>502' > $W/topo.xml", environ={"NCCL_TOPO_FILE": "$W/topo.xml"}, expect="(?i)NCCL|xml|topo", void=""),
    Case("torch-nccl", "graph read from a page", "distributed.nccl", (SET, "install.corrupted"), setup="echo '<html><body>502' > $W/graph.xml", environ={"NCCL_GRAPH_FILE": "$W/graph.xml"}, expect="(?i)NCCL|xml|graph", void=""),
)  # fmt: skip
enter(
    "words-of-the-loader",
    shelled("a list of libraries with blanks", PATH, (LIB, SET, BUILD), "printf 'int f(void) { return 1; }' > $W/f.c; mkdir -p \"$W/my libs\"; gcc -shared -fPIC -o \"$W/my libs/libfastops.so\" $W/f.c; export LD_LIBRARY_PATH=$W/my libs; echo 'import ctypes; ctypes.CDLL(\"libfastops.so\")' >> $SCRIPT; exec $PYTHON $SCRIPT", "libfastops"),
    shelled("a name with a tilde", PATH, (LIB, SET), "mkdir -p $HOME/l; printf 'int f(void) { return 1; }' > $W/f.c; gcc -shared -fPIC -o $HOME/l/libfastops.so $W/f.c; export LD_LIBRARY_PATH='~/l'; echo 'import ctypes; ctypes.CDLL(\"libfastops.so\")' >> $SCRIPT; exec $PYTHON $SCRIPT", "libfastops"),
    shelled("set inside the program, too late", PATH, (LIB, ORD, SET), "mkdir -p $W/l; printf 'int f(void) { return 1; }' > $W/f.c; gcc -shared -fPIC -o $W/l/libfastops.so $W/f.c; printf 'import os, ctypes\\nos.environ[\"LD_LIBRARY_PATH\"] = \"%s/l\"\\nctypes.CDLL(\"libfastops.so\")\\n' $W >> $SCRIPT; exec $PYTHON $SCRIPT", "libfastops"),
    shelled("dropped by another user's rights", PATH, (LIB, SET, LIM), "mkdir -p $W/l; printf 'int f(void) { return 1; }' > $W/f.c; gcc -shared -fPIC -o $W/l/libfastops.so $W/f.c; export LD_LIBRARY_PATH=$W/l:$LD_LIBRARY_PATH; echo 'import ctypes; ctypes.CDLL(\"libfastops.so\")' >> $SCRIPT; exec env -u LD_LIBRARY_PATH $PYTHON $SCRIPT", "libfastops", "jax-matmul cupy-matmul torch-matmul"),
    shelled("made for another machine", LIB, (PATH, BUILD, "install.corrupted"), "mkdir -p $W/l; printf 'int f(void) { return 1; }' > $W/f.c; gcc -shared -fPIC -o $W/l/libfastops.so $W/f.c; printf '\\267' | dd of=$W/l/libfastops.so bs=1 seek=18 conv=notrunc 2>/dev/null; echo 'import ctypes, os; ctypes.CDLL(os.environ[\"OPS\"])' >> $SCRIPT; OPS=$W/l/libfastops.so exec $PYTHON $SCRIPT", "libfastops"),
)  # fmt: skip
