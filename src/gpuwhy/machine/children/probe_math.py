"""The groups `runtime`, `blas` and `nccl`: the CUDA runtime, a matmul, an all-reduce. A part of
probe.py.
"""

import os
import struct
from array import array
from ctypes import POINTER, byref, c_char_p, c_float, c_int, c_size_t, c_uint64, c_void_p

from probe_device import best, rate
from probe_driver import Context, Cuda
from probe_talk import (
    Api,
    Failed,
    Stage,
    compare,
    late,
    load,
    preload,
    shown,
    tell_library,
    version,
)

CUDART = {
    "cudaRuntimeGetVersion": (c_int, [POINTER(c_int)]),
    "cudaDriverGetVersion": (c_int, [POINTER(c_int)]),
    "cudaGetDeviceCount": (c_int, [POINTER(c_int)]),
    "cudaPeekAtLastError": (c_int, []),
    "cudaGetLastError": (c_int, []),
    "cudaGetErrorName": (c_char_p, [c_int]),
    "cudaGetErrorString": (c_char_p, [c_int]),
}
CUBLAS = {
    "cublasCreate_v2": (c_int, [POINTER(c_void_p)]),
    "cublasDestroy_v2": (c_int, [c_void_p]),
    "cublasGetVersion_v2": (c_int, [c_void_p, POINTER(c_int)]),
    "cublasSgemm_v2": (
        c_int,
        [c_void_p]
        + [c_int] * 5
        + [POINTER(c_float), c_uint64, c_int, c_uint64, c_int, POINTER(c_float), c_uint64, c_int],
    ),
    "cublasGetStatusName": (c_char_p, [c_int]),
    "cublasGetStatusString": (c_char_p, [c_int]),
}
CUBLAS_NAMES = {
    1: "NOT_INITIALIZED",
    3: "ALLOC_FAILED",
    7: "INVALID_VALUE",
    8: "ARCH_MISMATCH",
    11: "MAPPING_ERROR",
    13: "EXECUTION_FAILED",
    14: "INTERNAL_ERROR",
    15: "NOT_SUPPORTED",
    16: "LICENSE_ERROR",
}
"""For releases before CUDA 11.4.2, which do not name their own codes."""

NCCL = {
    "ncclGetVersion": (c_int, [POINTER(c_int)]),
    "ncclCommInitAll": (c_int, [POINTER(c_void_p), c_int, POINTER(c_int)]),
    "ncclAllReduce": (c_int, [c_uint64, c_uint64, c_size_t, c_int, c_int, c_void_p, c_void_p]),
    "ncclGroupStart": (c_int, []),
    "ncclGroupEnd": (c_int, []),
    "ncclCommDestroy": (c_int, [c_void_p]),
    "ncclGetErrorString": (c_char_p, [c_int]),
    "ncclGetLastError": (c_char_p, [c_void_p]),
}
NCCL_NAMES = {
    1: "ncclUnhandledCudaError",
    2: "ncclSystemError",
    3: "ncclInternalError",
    4: "ncclInvalidArgument",
    5: "ncclInvalidUsage",
    6: "ncclRemoteError",
    7: "ncclInProgress",
}
FLOAT, SUM = 7, 0  # ncclDataType_t, ncclRedOp_t

SMALL, LARGE = 256, 2048
ONE = 0x3F800000  # 1.0 as float32


class Cudart(Api):
    """The CUDA runtime."""

    def __init__(self, options):
        Api.__init__(self, load(options.libraries["cudart"]), CUDART, self.name_of)

    def name_of(self, code):
        """The runtime's name and words for a code."""
        return shown(self.function("cudaGetErrorName")(code)), shown(
            self.function("cudaGetErrorString")(code)
        )


def runtime(options):
    """The group `runtime`: which release, and whether it can work with the driver; no context is
    made.
    """
    with Stage("cudart") as stage:
        preload(options.preload)
        cudart = Cudart(options)
        tell_library(cudart.function("cudaRuntimeGetVersion"))
        ours, drivers = c_int(), c_int()
        cudart("cudaRuntimeGetVersion", byref(ours), text=lambda: version(ours.value))
        if options.driver:
            with_driver(options, cudart, stage, ours, drivers)


def with_driver(options, cudart, stage, ours, drivers):
    """What the runtime says of driver and devices; that there is none is not its fault."""
    cudart(
        "cudaDriverGetVersion",
        byref(drivers),
        text=lambda: version(drivers.value) if drivers.value else "no driver",
    )
    count = c_int()
    code = cudart.attempt("cudaGetDeviceCount", byref(count), text=lambda: "%d" % count.value)
    error = cudart.error
    cudart.attempt("cudaPeekAtLastError", quiet=True)
    pair = "%s with a driver for up to %s" % (version(ours.value), version(drivers.value))
    if drivers.value and ours.value // 1000 > drivers.value // 1000:
        stage.why = "the runtime is newer than the driver: " + pair
    elif drivers.value and ours.value > drivers.value:
        stage.why = pair + ": kernels run, PTX from this CUDA does not"
    if code and options.gpu:
        raise Failed(error + ("; " + stage.why if stage.why else ""))


class Cublas(Api):
    """cuBLAS."""

    def __init__(self, options):
        Api.__init__(self, load(options.libraries["cublas"]), CUBLAS, self.name_of)

    def name_of(self, code):
        """cuBLAS's name and words for a code."""
        if self.has("cublasGetStatusName"):
            name, words = (
                self.function("cublasGetStatusName"),
                self.function("cublasGetStatusString"),
            )
            return shown(name(code)), shown(words(code))
        return "CUBLAS_STATUS_" + CUBLAS_NAMES.get(code, str(code)), ""


def each_device(options, stage_name, work):
    """Run one stage on every GPU in turn, in a context of its own."""
    preload(options.preload)
    cuda = Cuda(options)
    for index, handle in enumerate(cuda.devices()):
        if options.wants(stage_name, index) and not late():
            with Stage(stage_name, index) as stage, Context(cuda, handle, options.limit) as context:
                work(options, context, index, stage)


def blas(options):
    """The group `blas`: a matmul that is checked, and a larger one for its rate."""
    each_device(options, "cublas", matmuls)


def matmuls(options, context, index, stage):
    """Both products on one GPU."""
    cublas = Cublas(options)
    tell_library(cublas.function("cublasCreate_v2"))
    room = context.room(3 * 4 * LARGE * LARGE)
    handle, release = c_void_p(), c_int()
    cublas("cublasCreate_v2", byref(handle))
    context.meter.mark()
    cublas("cublasGetVersion_v2", handle, byref(release), text=lambda: "%d" % release.value)
    small(context, cublas, handle)
    large(context, cublas, handle, room, index)
    cublas.quiet("cublasDestroy_v2", handle)


def multiply(cublas, handle, n, a, b, c, **how):
    """c = a b, square and by columns."""
    one, zero = c_float(1.0), c_float(0.0)
    cublas(
        "cublasSgemm_v2", handle, 0, 0, n, n, n, byref(one), a, n, b, n, byref(zero), c, n, **how
    )


def small(context, cublas, handle):
    """Small whole numbers, so that every rounding gives the same; sampled entries are computed here
    too.
    """
    n = SMALL
    a, b = (
        array("f", [(i * step) % 17 - 8 for i in range(251)]) * (n * n // 251 + 1)
        for step in (5, 7)
    )
    on_a, on_b = context.upload(a[: n * n].tobytes()), context.upload(b[: n * n].tobytes())
    on_c = context.allocate(4 * n * n, quiet=True)
    multiply(cublas, handle, n, on_a, on_b, on_c, text=lambda: "%d x %d" % (n, n))
    context.wait()
    c = array("f")
    c.frombytes(bytes(context.download(on_c, 4 * n * n)))
    wrong = ""
    for i, j in (
        (0, 0),
        (n - 1, 0),
        (0, n - 1),
        (n - 1, n - 1),
        (17, 91),
        (128, 127),
        (200, 3),
        (65, 250),
    ):
        want = sum(a[i + k * n] * b[k + j * n] for k in range(n))
        if abs(c[i + j * n] - want) > 1e-3 * max(1.0, abs(want)):
            wrong = wrong or "element (%d, %d) is %r instead of %r" % (i, j, c[i + j * n], want)
    compare("compare with the host", wrong)
    context.free()


def large(context, cublas, handle, room, index):
    """Ones, as large as the memory allows: every entry of the product is n."""
    n = LARGE
    while n > SMALL and 3 * 4 * n * n > room:
        n //= 2
    parts = [context.allocate(4 * n * n, quiet=True) for _ in range(3)]
    for part in parts:
        context.cuda.quiet("cuMemsetD32_v2", part, ONE, n * n)
    multiply(cublas, handle, n, *parts, text=lambda: "%d x %d" % (n, n))
    context.wait()

    def again():
        multiply(cublas, handle, n, *parts, quiet=True)
        context.wait(quiet=True)

    rate("float32 matmul", index, 2.0 * n**3 / best(again, 5), "FLOP/s")
    ends = context.download(parts[2], 4) + context.download(parts[2] + 4 * (n * n - 1), 4)
    got = struct.unpack("2f", ends)
    compare("compare with ones", "" if got == (n, n) else "entries are %r instead of %d" % (got, n))


class Nccl(Api):
    """NCCL."""

    def __init__(self, options):
        Api.__init__(self, load(options.libraries["nccl"]), NCCL, self.name_of)

    def name_of(self, code):
        """Our name, and NCCL's words with the last error that it kept."""
        words = shown(self.function("ncclGetErrorString")(code))
        last = (
            shown(self.function("ncclGetLastError")(None)) if self.has("ncclGetLastError") else ""
        )
        return NCCL_NAMES.get(code, "ncclResult %d" % code), "; ".join(filter(None, (words, last)))


def nccl(options):
    """The group `nccl`: a sum over all GPUs; nothing is sent over a network."""
    os.environ.pop("NCCL_DEBUG", None)  # its lines begin with the host's name
    for name, value in (("SOCKET_IFNAME", "lo"), ("IB_DISABLE", "1"), ("MAX_NCHANNELS", "2")):
        os.environ.setdefault("NCCL_" + name, value)
    with Stage("nccl"):
        preload(options.preload)
        cuda, library = Cuda(options), Nccl(options)
        tell_library(library.function("ncclGetVersion"))
        release = c_int()
        library("ncclGetVersion", byref(release), text=lambda: "%d" % release.value)
        contexts = []
        try:
            handles = cuda.devices()
            numbers = [index for index in range(len(handles)) if options.wants("nccl", index)]
            for index in numbers:
                contexts.append(Context(cuda, handles[index], options.limit))
            all_reduce(library, contexts, numbers)
        finally:
            for context in contexts:
                context.close()


def all_reduce(library, contexts, numbers):
    """The sum of ones over the GPUs is how many there are, on each."""
    count, total = 1 << 16, len(contexts)
    comms = (c_void_p * total)()
    library(
        "ncclCommInitAll",
        comms,
        total,
        (c_int * total)(*numbers),
        text=lambda: "%d GPUs" % total if total > 1 else "1 GPU",
    )
    buffers = []
    for context in contexts:
        context.current()
        context.meter.mark()
        buffers.append(
            (context.allocate(4 * count, quiet=True), context.allocate(4 * count, quiet=True))
        )
        context.cuda.quiet("cuMemsetD32_v2", buffers[-1][0], ONE, count)
        context.wait(quiet=True)
    library.quiet("ncclGroupStart")
    for index, (here, there) in enumerate(buffers):
        library("ncclAllReduce", here, there, count, FLOAT, SUM, comms[index], None)
    library("ncclGroupEnd")
    for index, context in enumerate(contexts):
        context.current()
        context.wait()
        got = struct.unpack("f", context.download(buffers[index][1] + 4 * (count - 1), 4))[0]
        wrong = "GPU %d has %r instead of %d" % (numbers[index], got, total)
        compare(
            "compare the sum", "" if got == total else wrong, "GPU %d: %d" % (numbers[index], total)
        )
    for comm in comms:
        library.quiet("ncclCommDestroy", comm)
