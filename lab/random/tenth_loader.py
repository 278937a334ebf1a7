"""Tenth operators, bindings and the loader: libraries of another year asked for by name, cuDNN and NCCL by ctypes, calls misused."""

from __future__ import annotations

from lab.random.tenth import ABI, ILL, LIB, MIXED, NCCL, ORD, OT, PATH, SEL, SHA, VERSION, Case, enter, py

MISSING = "cudnn.missing"
DNN = "cudnn.version_mismatch"


def opened(target: str, cause: str, also: tuple[str, ...], name: str) -> Case:
    """A user's own binding that opens a library by a name it had in another year."""
    code = f"import ctypes\nclass Backend:\n    def __init__(self, soname):\n        self.lib = ctypes.CDLL(soname)\nb = Backend('{name}')\nprint(b.lib)\n"
    return Case("torch-matmul jax-matmul cupy-matmul", target, cause, also, after=code, expect=name.replace(".", "[.]"))


enter(
    "bindings-of-another-year",
    opened("cuBLAS of CUDA 11", VERSION, (LIB,), "libcublas.so.11"),
    opened("runtime of CUDA 10.2", VERSION, (LIB,), "libcudart.so.10.2"),
    opened("cuSOLVER of CUDA 11", VERSION, (LIB,), "libcusolver.so.10"),
    opened("cuDNN 8", DNN, (MISSING,), "libcudnn.so.8"),
    opened("cuDNN 7", DNN, (MISSING,), "libcudnn.so.7"),
    opened("inference library that is nowhere", LIB, (OT, PATH), "libnvinfer.so.10"),
    opened("library of Windows", OT, (LIB, PATH), "nvcuda.dll"),
    opened("library of its own project", OT, (LIB, PATH), "libacme_decode.so.3"),
)  # fmt: skip
HEAD = "import ctypes\nimport torch\nx = torch.ones(64, device='cuda')\ntorch.nn.functional.conv2d(torch.ones(1, 1, 8, 8, device='cuda'), torch.ones(1, 1, 3, 3, device='cuda'))\ntorch.cuda.synchronize()\nprint('torch works', flush=True)\n"
CUDNN = (
    HEAD
    + "lib = ctypes.CDLL('libcudnn.so.9')\nlib.cudnnGetErrorString.restype = ctypes.c_char_p\ndef do(name, *a):\n    e = getattr(lib, name)(*a)\n    if e:\n        raise RuntimeError(f'{name}: {lib.cudnnGetErrorString(e).decode()} ({e})')\nh, t, f, c, o = (ctypes.c_void_p() for _ in range(5))\ndo('cudnnCreate', ctypes.byref(h))\ndo('cudnnCreateTensorDescriptor', ctypes.byref(t))\ndo('cudnnCreateFilterDescriptor', ctypes.byref(f))\n"
)
STATUS = "CUDNN_STATUS|cudnn[A-Z]"


def dnn(target: str, cause: str, also: tuple[str, ...], body: str) -> Case:
    """cuDNN's own functions, called from Python."""
    return py("torch-graph", target, cause, also, CUDNN + body, STATUS)


enter(
    "cudnn-by-ctypes",
    dnn("picture of minus one", SHA, (OT,), "do('cudnnSetTensor4dDescriptor', t, 0, 0, -1, 3, 8, 8)\n"),
    dnn("type nobody knows", SHA, (OT,), "do('cudnnSetTensor4dDescriptor', t, 0, 77, 1, 3, 8, 8)\n"),
    dnn("filter of no size", SHA, (OT,), "do('cudnnSetFilter4dDescriptor', f, 0, 0, 4, 3, 0, 0)\n"),
    dnn("description never filled", ORD, (SHA, OT), "one = ctypes.c_float(1)\np = ctypes.c_void_p(x.data_ptr())\ndo('cudnnAddTensor', h, ctypes.byref(one), t, p, ctypes.byref(one), t, p)\n"),
    dnn("no description at all", ORD, (SHA, OT, ILL), "do('cudnnSetTensor4dDescriptor', None, 0, 0, 1, 3, 8, 8)\n"),
    dnn("nine dimensions", SHA, (OT,), "d = (ctypes.c_int * 9)(*[2] * 9)\ndo('cudnnSetTensorNdDescriptor', t, 0, 9, d, d)\n"),
)  # fmt: skip
NC = "import ctypes, os\nos.environ.setdefault('NCCL_DEBUG', '@W@')\nimport torch\nx = torch.ones(64, device='cuda')\ntorch.cuda.synchronize()\nprint('torch works', flush=True)\nlib = ctypes.CDLL('libnccl.so.2')\nlib.ncclGetErrorString.restype = ctypes.c_char_p\nlib.ncclGetLastError.restype = ctypes.c_char_p\nclass Id(ctypes.Structure):\n    _fields_ = [('b', ctypes.c_char * 128)]\ndef do(name, *a):\n    e = getattr(lib, name)(*a)\n    if e:\n        raise RuntimeError(f'{name} failed with {e}: {lib.ncclGetErrorString(e).decode()}')\ncomm, u = ctypes.c_void_p(), Id()\n"


def nccl(target: str, cause: str, also: tuple[str, ...], body: str, words: str = "WARN") -> Case:
    """NCCL's own functions, called from Python."""
    return py("torch-nccl", target, cause, also, NC.replace("@W@", words) + body, "ncc[l]|NCCL")


BEGIN = "do('ncclGetUniqueId', ctypes.byref(u))\n"
enter(
    "nccl-by-ctypes",
    nccl("one card twice", NCCL, (SEL,), "two = (ctypes.c_void_p * 2)()\ndo('ncclCommInitAll', two, 2, (ctypes.c_int * 2)(0, 0))\n"),
    nccl("four cards where there is one", NCCL, (SEL,), "four = (ctypes.c_void_p * 4)()\ndo('ncclCommInitAll', four, 4, (ctypes.c_int * 4)(0, 1, 2, 3))\n"),
    nccl("rank above the count", NCCL, (SHA, OT, ORD), BEGIN + "do('ncclCommInitRank', ctypes.byref(comm), 2, u, 5)\n"),
    nccl("no ranks at all", NCCL, (SHA, OT, ORD), BEGIN + "do('ncclCommInitRank', ctypes.byref(comm), 0, u, 0)\n", "VERSION"),
    nccl("type that it has not", NCCL, (SHA, OT), BEGIN + "do('ncclCommInitRank', ctypes.byref(comm), 1, u, 0)\np = ctypes.c_void_p(x.data_ptr())\ndo('ncclAllReduce', p, p, ctypes.c_size_t(64), 99, 0, comm, None)\n"),
    nccl("sent from a root that is none", NCCL, (SHA, OT), BEGIN + "do('ncclCommInitRank', ctypes.byref(comm), 1, u, 0)\np = ctypes.c_void_p(x.data_ptr())\ndo('ncclBroadcast', p, p, ctypes.c_size_t(64), 7, 3, comm, None)\n"),
    nccl("group ended that never began", NCCL, (ORD, OT), "do('ncclGroupEnd')\n"),
)  # fmt: skip
RT = "import ctypes, glob, os\nimport torch\nx = torch.ones(64, device='cuda')\ntorch.cuda.synchronize()\nprint('torch works', flush=True)\nrt = ctypes.CDLL([l.split()[-1] for l in open('/proc/self/maps') if 'libcudart' in l][0])\nrt.cudaGetErrorString.restype = ctypes.c_char_p\ndef do(name, *a):\n    e = getattr(rt, name)(*a)\n    if e:\n        raise OSError(f'[gpuio] {name}: {rt.cudaGetErrorString(e).decode()}')\nS, P = ctypes.c_size_t, ctypes.c_void_p\n"


def run(target: str, cause: str, also: tuple[str, ...], body: str, expect: str = "gpuio") -> Case:
    """The runtime's own functions, called from Python beside a framework."""
    return py("torch-graph", target, cause, also, RT + body, expect)


enter(
    "runtime-by-ctypes",
    run("tensor of torch given back by hand, twice", ILL, (SHA, ORD, OT), "p = P()\ndo('cudaMalloc', ctypes.byref(p), S(4096))\ndo('cudaFree', p)\ndo('cudaFree', P(p.value + 256))\n"),
    run("copied to an address of Python's number", ILL, (SHA, OT), "do('cudaMemcpy', P(0x1000), P(x.data_ptr()), S(64), 2)\n", "gpuio|Segmentation"),
    run("more copied than the tensor has", ILL, (SHA, OT), "h = (ctypes.c_char * (1 << 16))()\np = P()\ndo('cudaMalloc', ctypes.byref(p), S(4096))\ndo('cudaMemcpy', h, P(p.value + (1 << 40)), S(1 << 16), 2)\n"),
    run("host's memory pinned twice", ORD, (SHA, OT, "memory.host"), "h = torch.empty(1 << 20, dtype=torch.uint8)\ndo('cudaHostRegister', P(h.data_ptr()), S(1 << 20), 0)\ndo('cudaHostRegister', P(h.data_ptr()), S(1 << 20), 0)\n"),
    run("pinned memory registered again", ORD, (SHA, OT, "memory.host"), "h = torch.empty(1 << 20, dtype=torch.uint8, pin_memory=True)\ndo('cudaHostRegister', P(h.data_ptr()), S(4096), 0)\n"),
    run("event of an address", ORD, (ILL, SHA, OT), "do('cudaEventSynchronize', None)\n"),
    run("function that this release has not", ABI, (VERSION, OT, "framework.bug"), "do('cudaBindTexture', None, None, None, None, S(4))\n", "cudaBindTexture"),
)  # fmt: skip


def preloaded(target: str, cause: str, also: tuple[str, ...], code: str, expect: str, needs: str = "torch-matmul jax-matmul cupy-matmul") -> Case:  # fmt: skip
    """A library of the site's own, put before everything, answers for the driver's or the C library's functions."""
    lines = code.replace("\\", "\\\\").replace("'", "'\\''").replace("%", "%%").replace("\n", "\\n")
    setup = f"printf '{lines}' > $W/site.c; gcc -shared -fPIC -o $W/libsite.so $W/site.c -ldl || exit 97; rm $W/site.c"
    return Case(needs, target, cause, also, setup=setup, command="export LD_PRELOAD=$W/libsite.so; exec $PYTHON $SCRIPT", expect=expect, void="")  # fmt: skip


enter(
    "site-library-answers",
    preloaded("wants a ticket", OT, (PATH, "env.limit", "env.setting"), "#include <stdlib.h>\n#include <stdio.h>\n__attribute__((constructor)) static void begin(void) { if (getenv(\"SITE_TICKET\") == NULL) { fprintf(stderr, \"libsite: no ticket for queue gpu-long, refusing to start\\n\"); _Exit(77); } }\n", "no ticket"),
    preloaded("ends what was started by hand", OT, (PATH, "env.limit", "env.setting"), "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n__attribute__((constructor)) static void begin(void) { if (!getenv(\"JOB_SLOT\")) { fprintf(stderr, \"libsite: interactive use of GPU nodes is not allowed, pid %d ends\\n\", (int)getpid()); abort(); } }\n", "interactive use"),
    preloaded("harmless: counts what is opened", OT, (), "#include <stdio.h>\n__attribute__((destructor)) static void end(void) { fprintf(stderr, \"libsite: 0 warnings, cuda hooks off\\n\"); }\n", ""),
)  # fmt: skip
LOCAL = "import ctypes, os\n"
enter(
    "opened-with-flags",
    Case("torch-matmul torch-train", "all names of the toolkit global first", MIXED, (VERSION, "cudnn.mixed_libraries", ABI), before=LOCAL + "for n in ('libcublasLt.so', 'libcublas.so', 'libcusparse.so'):\n    ctypes.CDLL('@T@/lib64/' + n, mode=os.RTLD_GLOBAL | os.RTLD_NOW)\n", void=""),
    Case("torch-matmul torch-train cupy-matmul", "a copy kept under another name", MIXED, (VERSION, "cudnn.mixed_libraries", ABI, OT), before=LOCAL + "import shutil\nshutil.copy('@T@/lib64/libcudart.so', 'libcudart_acme.so')\nctypes.CDLL('./libcudart_acme.so', mode=os.RTLD_GLOBAL)\n", void=""),
    Case("torch-matmul jax-matmul", "not loaded, only asked for", PATH, (LIB, OT), after=LOCAL + "ctypes.CDLL('libcudart_acme.so.13', mode=os.RTLD_NOLOAD | os.RTLD_NOW)\n", expect="libcudart_acme"),
    Case("torch-matmul jax-matmul cupy-matmul", "function misspelt", OT, (ABI, LIB), after=LOCAL + "d = ctypes.CDLL('libcuda.so.1')\nd.cuDeviceGetCounts(None)\n", expect="cuDeviceGetCounts"),
    Case("torch-matmul jax-matmul cupy-matmul", "called with too few words", OT, (SHA, ILL), after=LOCAL + "d = ctypes.CDLL('libcuda.so.1')\nd.cuDeviceGetName.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_int]\nd.cuDeviceGetName(None, 'x')\n", expect="(?i)argument"),
)  # fmt: skip
