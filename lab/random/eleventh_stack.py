"""Eleventh operators, the stack itself: another copy of a library loaded first, programs that ask for versions, cards that others use, fragments."""

from __future__ import annotations

from lab.random.eleventh import (  # fmt: skip
    ABI,
    BAD,
    BUILD,
    BUSY,
    DNN_MIXED,
    DNN_OTHER,
    FRAG,
    LIB,
    MIXED,
    NCCL,
    ODD,
    OLD,
    OOM,
    OT,
    PATH,
    SEL,
    SET,
    SHADOW,
    TAKEN,
    UNSUP,
    VERSION,
    C,
    Case,
    T,
    enter,
    py,
)

COPY = "B=$(basename $(find -L @SITE@/nvidia @SITE@/torch/lib -name '@N@' -type f 2>/dev/null | sort | head -1)); case $B in lib*) ;; *) exit 97;; esac; mkdir -p $W/old; printf 'int @F@(void) { return 0; }\\n' > $W/o.c; gcc -shared -fPIC -Wl,-soname,$B -o $W/old/$B $W/o.c || exit 97; ln -sf $B $W/old/first.so"
FIRST = "import ctypes, os\nctypes.CDLL(os.environ['OLD_COPY'], mode=ctypes.RTLD_GLOBAL)\n"
NEAR = (ABI, VERSION, PATH, SET, BAD, SHADOW, LIB, DNN_MIXED)


def first(needs: str, name: str, function: str, how: str, cause: str = MIXED, also: tuple[str, ...] = NEAR) -> Case:
    """A poorer copy of a library, of another project, is loaded before the framework's own."""
    setup = COPY.replace("@N@", name).replace("@F@", function)
    environ = {"LD_PRELOAD": "$W/old/first.so"} if how == "preloaded" else {"OLD_COPY": "$W/old/first.so"}
    before = FIRST if how == "opened by the program" else ""
    return Case(needs, f"{name} {how}", cause, also, setup=setup, environ=environ, before=before, void="", dress="shell")  # fmt: skip


enter(
    "poorer-copies-first",
    *(first("torch-matmul torch-fft", name, function, how) for name, function in (("libcusparse.so.1?", "cusparseCreate"), ("libcufft.so.1?", "cufftPlan1d"), ("libcurand.so.1?", "curandCreateGenerator"), ("libcublas.so.1?", "cublasCreate_v2")) for how in ("preloaded", "opened by the program")),
    *(first("torch-train torch-matmul", "libcudnn.so.9", "cudnnGetVersion", how, DNN_MIXED, (MIXED, DNN_OTHER, *NEAR)) for how in ("preloaded", "opened by the program")),
    *(first("torch-nccl torch-matmul", "libnccl.so.2", "ncclGetVersion", how, MIXED, (NCCL, ODD, "install.conflict", *NEAR)) for how in ("preloaded", "opened by the program")),
)  # fmt: skip


def asks(target: str, cause: str, also: tuple[str, ...], after: str, expect: str, needs: str = "torch-matmul torch-fft") -> Case:  # fmt: skip
    """A program that looks at the versions around it, after its first work, and says no."""
    return Case(needs, target, cause, (OT, *also), after=after, expect=expect, void="")


enter(
    "programs-that-ask-for-versions",
    asks("a later cuDNN", DNN_OTHER, (ODD, VERSION), "v = torch.backends.cudnn.version() or 0\nif v < 98000:\n    raise RuntimeError(f'fused attention backward needs cuDNN >= 9.80.0, loaded is {v}')\n", "needs cuDNN"),
    asks("compiler and framework of unlike CUDA", VERSION, (BUILD, ODD), "want = '11.8'\nif torch.version.cuda != want:\n    raise RuntimeError(f'Cuda extensions are being compiled with a version of Cuda ({want}) that does not match the version used to compile Pytorch binaries ({torch.version.cuda}).')\n", "does not match the version"),
    asks("a later NCCL", NCCL, (ODD, VERSION), "v = (2, 0) if not torch.cuda.is_available() else torch.cuda.nccl.version()\nif v < (3, 1):\n    raise RuntimeError(f'symmetric memory windows need NCCL 3.1 or later, linked is {v}')\n", "need NCCL"),
    asks("a card of the next family", UNSUP, (SEL,), "cc = torch.cuda.get_device_capability() if torch.cuda.is_available() else (0, 0)\nif cc < (10, 0):\n    raise RuntimeError(f'NVFP4 kernels require compute capability >= 10.0 (Blackwell), got {cc[0]}.{cc[1]}')\n", "require compute capability"),
    asks("a later driver", OLD, (VERSION,), "import ctypes\nd = ctypes.c_int()\nctypes.CDLL('libcuda.so.1').cuDriverGetVersion(ctypes.byref(d))\nif d.value < 14010:\n    raise RuntimeError(f'this wheel was built with CUDA 14.1; the installed NVIDIA driver supports CUDA {d.value // 1000}.{d.value % 1000 // 10} at most, update the driver')\n", "update the driver"),
    asks("a compiler of kernels of another pair", ODD, (VERSION,), "import triton\nif triton.__version__.split('.')[0] != '9':\n    raise ImportError(f'torchfast 9.0 needs triton 9.x, found triton {triton.__version__} (torch {torch.__version__})')\n", "needs triton 9"),
    asks("more cards for its mesh", SEL, (), "n = torch.cuda.device_count()\nif n < 8:\n    raise ValueError(f'tensor_parallel_size (8) is larger than the number of available GPUs ({n})')\n", "tensor_parallel_size"),
)  # fmt: skip
HELD = "import subprocess, sys\nkid = subprocess.Popen([sys.executable, '-c', \"import torch, time; x = torch.empty(@G@ << 30, dtype=torch.uint8, device='cuda'); print('held', flush=True); time.sleep(30)\"], stdout=subprocess.PIPE, text=True)\nkid.stdout.readline()\nimport atexit\natexit.register(kid.kill)\n"
FREE = (
    T
    + "free, total = torch.cuda.mem_get_info()\nused = (total - free) >> 20\nprint('cuda:0 used', used, 'MiB', flush=True)\n"
)
enter(
    "cards-that-others-use",
    py("torch-graph", "picker of idle cards finds none", TAKEN, (BUSY, OT, SEL, OOM), HELD.replace("@G@", "3") + FREE + "if used > 2000:\n    raise RuntimeError(f'no idle GPU: GPU 0 has {used} MiB in use by other processes (limit 2000 MiB)')\n", "no idle GPU"),
    py("torch-graph", "service wants nearly the whole card", TAKEN, (OOM, OT, BUSY), HELD.replace("@G@", "4") + FREE + "want = int(total * 0.985)\nif free < want:\n    raise MemoryError(f'engine reserves {want >> 20} MiB, only {free >> 20} of {total >> 20} MiB are free; another process holds {used} MiB on GPU 0')\n", "another process holds"),
    py("torch-graph", "guard of one job a card", BUSY, (TAKEN, OT), HELD.replace("@G@", "1") + FREE + "if used > 600:\n    sys.exit('gpu-lock: GPU 0 is claimed by another job, exclusive use was requested')\n", "gpu-lock"),
)  # fmt: skip
SHARE = (
    T
    + "torch.cuda.set_per_process_memory_fraction((@M@ << 20) / torch.cuda.get_device_properties(0).total_memory)\nimport random\nrandom.seed(7)\ndef mb(n):\n    return torch.empty(n << 20, dtype=torch.uint8, device='cuda')\ndef told(word):\n    print(word, 'allocated', torch.cuda.memory_allocated() >> 20, 'reserved', torch.cuda.memory_reserved() >> 20, flush=True)\n"
)
enter(
    "fragments-of-service",
    py("torch-graph", "requests of unlike length come and go", FRAG, (), SHARE.replace("@M@", "1600") + "live = [mb(random.randint(3, 9)) for _ in range(250)]\nlive = [r for i, r in enumerate(live) if i % 3 == 0]\ntold('served')\nprefill = mb(800)\n", "(?i)out of memory"),
    py("torch-graph", "adapters swapped between requests", FRAG, (), SHARE.replace("@M@", "1400") + "slots = {i: mb(5) for i in range(265)}\nfor i in range(0, 265, 2):\n    del slots[i]\ntold('adapters unloaded')\nbase = mb(500)\n", "(?i)out of memory"),
    py("cupy", "tiles of a picture let go in a pattern", FRAG, (), C + "p = cupy.get_default_memory_pool()\np.set_limit(size=900 << 20)\nbig = cupy.empty(880 << 20, dtype='u1')\ndel big\ntiles = [cupy.empty(3 << 20, dtype='u1') for _ in range(290)]\ntiles = tiles[1::3]\nprint('pool free', p.free_bytes() >> 20, 'MB', flush=True)\nmosaic = cupy.empty(450 << 20, dtype='u1')\n", "(?i)out of memory|OutOfMemory"),
)  # fmt: skip
