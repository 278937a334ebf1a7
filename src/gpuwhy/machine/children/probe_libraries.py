"""The groups `runtime`, `blas`, `cudnn`, `convolution` and `nccl`: libraries on top of the driver.

A part of probe.py. Each computes something small of which every number of the result is known.
"""

import os
import re
import struct
from array import array
from ctypes import byref, c_float, c_int, c_size_t, c_void_p

from probe_driver import Context, Cuda, tell_rate
from probe_talk import (
    Api,
    Failed,
    Stage,
    clock,
    compare,
    late,
    mapped,
    preload,
    say,
    since,
    size,
    told,
    version,
)

FLOAT, SUM = 7, 0  # ncclDataType_t, ncclRedOp_t
SMALL, LARGE = 256, 2048
ONE = 0x3F800000  # 1.0 as float32


def each_device(options, stage_name):
    """The number and the handle of every GPU on which a stage is to run."""
    preload(options.preload)
    cuda = Cuda(options)
    for index, handle in enumerate(cuda.devices()):
        if options.wants(stage_name, index) and not late():
            yield cuda, index, handle


# ---------------------------------------------------------------- the runtime


def runtime(options):
    """The group `runtime`: its release, and whether it works with the driver."""
    with Stage("cudart") as stage:
        preload(options.preload)
        cudart = Api("cudart", options.cudart, "cudaRuntimeGetVersion")
        ours = cudart.number("cudaRuntimeGetVersion", form=version)
        if options.driver:
            with_driver(options, cudart, stage, ours)


def with_driver(options, cudart, stage, ours):
    """What the runtime says of driver and devices; that there is none is not its fault."""
    drivers = cudart.number(
        "cudaDriverGetVersion", form=lambda found: version(found) if found else "no driver"
    )
    count = c_int()
    code = cudart.attempt("cudaGetDeviceCount", byref(count), text=lambda: str(count.value))
    error = cudart.error
    cudart.attempt("cudaPeekAtLastError", quiet=True)
    pair = f"{version(ours)} with a driver for up to {version(drivers)}"
    if drivers and ours // 1000 > drivers // 1000:
        stage.why = "the runtime is newer than the driver: " + pair
    elif drivers and ours > drivers:
        stage.why = pair + ": kernels run, PTX from this CUDA does not"
    if code and options.gpu:
        raise Failed("; ".join(filter(None, (error, stage.why))))


# ---------------------------------------------------------------- cuBLAS


def blas(options):
    """The group `blas`: a matmul that is checked, and a larger one for its rate."""
    for cuda, index, handle in each_device(options, "cublas"):
        with Stage("cublas", index), Context(cuda, handle, options.limit) as context:
            cublas = Api("cublas", options.cublas, "cublasCreate_v2")
            room = context.room(3 * 4 * LARGE * LARGE)
            made = c_void_p()
            cublas("cublasCreate_v2", byref(made))
            small(context, cublas, made)
            large(context, cublas, made, room, index)
            cublas.quiet("cublasDestroy_v2", made)


def multiply(cublas, handle, n, a, b, c, **how):
    """c = a b, square and by columns."""
    one, none = byref(c_float(1.0)), byref(c_float(0.0))
    cublas("cublasSgemm_v2", handle, 0, 0, n, n, n, one, a, n, b, n, none, c, n, **how)


def small(context, cublas, handle):
    """Small whole numbers, which every rounding leaves alone; a few entries are computed here."""
    n = SMALL
    rows = [(i * 5) % 17 - 8 for i in range(251)], [(i * 7) % 17 - 8 for i in range(251)]
    a, b = (array("f", row * (n * n // 251 + 1))[: n * n] for row in rows)
    on_a, on_b = context.upload(a.tobytes()), context.upload(b.tobytes())
    on_c = context.allocate(4 * n * n, quiet=True)
    multiply(cublas, handle, n, on_a, on_b, on_c, text=lambda: f"{n} x {n}")
    context.wait()
    c = struct.unpack(f"{n * n}f", context.download(on_c, 4 * n * n))
    wrong = ""
    for i, j in ((0, 0), (n - 1, 0), (0, n - 1), (n - 1, n - 1), (17, 91), (128, 127), (200, 3)):
        got, want = c[i + j * n], sum(a[i + k * n] * b[k + j * n] for k in range(n))
        if abs(got - want) > 1e-3 * max(1.0, abs(want)):
            wrong = wrong or f"element ({i}, {j}) is {got!r} instead of {want!r}"
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
    multiply(cublas, handle, n, *parts, text=lambda: f"{n} x {n}")
    context.wait()

    def again():
        multiply(cublas, handle, n, *parts, quiet=True)
        context.wait(quiet=True)

    tell_rate("float32 matmul", index, 2.0 * n**3, "FLOP/s", again, 5)
    ends = context.download(parts[2], 4) + context.download(parts[2] + 4 * (n * n - 1), 4)
    got = struct.unpack("2f", ends)
    compare("compare with ones", "" if got == (n, n) else f"entries are {got!r} instead of {n}")


# ---------------------------------------------------------------- cuDNN

PARTS = (
    *("Graph", "Ops", "Cnn", "Adv"),
    *("OpsInfer", "OpsTrain", "CnnInfer", "CnnTrain", "AdvInfer", "AdvTrain"),
)
"""Each with a library and a cudnn…VersionCheck of its own: those of cuDNN 9, then those of 8."""
FILES = re.compile(r"libcudnn[_\w]*\.so|cudnn[_\w]*64_\d+\.dll$", re.IGNORECASE)
BATCH, CHANNELS, SIDE, WINDOW = 2, 8, 16, 3
SHAPES = {
    "x": (BATCH, CHANNELS, SIDE, SIDE),
    "w": (CHANNELS, CHANNELS, WINDOW, WINDOW),
    "y": (BATCH, CHANNELS, SIDE, SIDE),
}
PASSES = (("Forward", "xwy"), ("BackwardData", "wyx"), ("BackwardFilter", "xyw"))
"""Each with its two inputs and its result."""
KINDS = (
    ("float32", 0, b"\0\0\x80\x3f", 0),
    ("float16", 2, b"\0\x3c", 53),
    ("bfloat16", 9, b"\x80\x3f", 80),
)
"""A number format, its cudnnDataType_t, its 1.0, and the capability from which GPUs have it."""
TENSOR_OPS = 1  # cudnnMathType_t
NCHW, CROSS_CORRELATION, COMPUTE_FLOAT = 0, 1, 0
ALGORITHMS = (1, 0)
"""Implicit GEMM with precomputed indices, then without; the numbers mean alike in all passes."""


def release(library):
    """Major, minor and patch of cuDNN."""
    values = [c_int(), c_int(), c_int()]
    for which, value in enumerate(values):
        library.quiet("cudnnGetProperty", which, byref(value))
    return [one.value for one in values]


def cudnn(options):
    """The group `cudnn`: whether the loaded copy and its parts are of one release."""
    with Stage("cudnn"):
        preload(options.preload)
        library = Api("cudnn", options.cudnn, "cudnnGetVersion")
        say({"calling": "cudnnGetVersion"})
        start, number = clock(), library.function("cudnnGetVersion", c_size_t)()
        told("cudnnGetVersion", True, text=str(number), ms=since(start))
        found = release(library)
        text = f"cudnnGetVersion says {number}, cudnnGetProperty {'.'.join(map(str, found))}"
        same = number // (10000 if number >= 90000 else 1000) == found[0]
        compare("compare the releases", "" if same else text)
        for part in PARTS:
            if library.has(f"cudnn{part}VersionCheck"):
                library(f"cudnn{part}VersionCheck")
        compare_parts()


def compare_parts():
    """Whether the mapped files are of one release, as far as their names tell."""
    files = sorted({path for _, _, path in mapped() if FILES.match(os.path.basename(path))})
    named = (re.search(r"\.so\.(\d+\.\d+\.\d+)", path) for path in files)
    several = len({found.group(1) for found in named if found}) > 1
    folders = ", ".join(sorted({os.path.dirname(path) for path in files}))
    wrong = "parts of several releases are mapped: " + ", ".join(files)
    compare("compare the parts", wrong if several else "", f"{len(files)} libraries from {folders}")


def convolution(options):
    """The group `convolution`, on each GPU: a handle, then three passes in each number format."""
    for cuda, index, handle in each_device(options, "cudnn_create"):
        context = made = None
        with Stage("cudnn_create", index):
            context = Context(cuda, handle, options.limit)
            library = Api("cudnn", options.cudnn, "cudnnCreate")
            made = created(options, library, context)
        if made is not None and options.wants("convolution", index):
            with Stage("convolution", index) as stage:
                left_out = [one[0] for one in KINDS if not convolve(library, made, context, *one)]
                if left_out:
                    stage.why = "left out, not for this GPU and cuDNN: " + ", ".join(left_out)
                library("cudnnDestroy", made)
        if context is not None:
            context.close()


def created(options, library, context):
    """A handle; when there is none, what CUDA says, so that memory can be told from the rest."""
    handle = c_void_p()
    if library.attempt("cudnnCreate", byref(handle)) == 0:
        return handle
    text, cuda = library.error, context.cuda
    cuda.attempt("cuCtxSynchronize")
    free, total = c_size_t(), c_size_t()
    if cuda.attempt("cuMemGetInfo_v2", byref(free), byref(total)) == 0:
        text += f"; {size(free.value)} of {size(total.value)} GPU memory was free"
    if options.cudart:
        cudart = Api("cudart", options.cudart)
        cudart.attempt("cudaGetLastError", text=lambda: "no error in the runtime")
    raise Failed(text)


def convolve(library, handle, context, name, kind, one, capability):
    """All passes in one format; False where this GPU or cuDNN does not have it."""
    too_old = kind == 9 and release(library)[0] < 8
    if too_old or context.cuda.capability(context.device) < capability:
        return False
    work = Convolution(library, handle, context, name, kind, one)
    done = all(work.checked(*names) for names in PASSES)
    context.free()
    return done


class Convolution:
    """One number format: descriptors, and tensors of ones; padding 1, sums in float32."""

    def __init__(self, library, handle, context, name, kind, one):
        self.library, self.handle, self.context = library, handle, context
        self.name, self.kind, self.width = name, kind, len(one)
        self.described, self.counts, self.ones = {}, {}, {}
        for tensor, (n, c, h, w) in SHAPES.items():
            self.counts[tensor] = n * c * h * w
            self.ones[tensor] = context.upload(one * self.counts[tensor])
            what = "Filter" if tensor == "w" else "Tensor"
            made = self.described[tensor] = library.made(f"cudnnCreate{what}Descriptor")
            form = (kind, NCHW) if tensor == "w" else (NCHW, kind)
            library.quiet(f"cudnnSet{what}4dDescriptor", made, *form, n, c, h, w)
        self.how = library.made("cudnnCreateConvolutionDescriptor")
        values = (1, 1, 1, 1, 1, 1, CROSS_CORRELATION, COMPUTE_FLOAT)
        library.quiet("cudnnSetConvolution2dDescriptor", self.how, *values)
        if kind != 0:
            library.quiet("cudnnSetConvolutionMathType", self.how, TENSOR_OPS)

    def checked(self, one, tensors):
        """One pass, checked; False where no algorithm is there in a format other than float32."""
        context, result = self.context, tensors[2]
        count = self.width * self.counts[result]
        out = context.allocate(count, quiet=True)
        context.cuda.quiet("cuMemsetD8_v2", out, 0xFF, count)  # no number
        if not self.computed(one, tensors, out):
            return False
        context.wait(quiet=True)
        got = unpacked(context.download(out, count), self.kind)
        wrong = differs(one, got, SHAPES[result])
        compare(f"compare {one} in {self.name}", wrong, f"{len(got)} numbers")
        return True

    def computed(self, one, tensors, out):
        """Call cuDNN with the first algorithm that it supports; False where there is none."""
        library = self.library
        first, second, result = (self.described[tensor] for tensor in tensors)
        for algorithm in ALGORITHMS:
            need = c_size_t()
            asked = (self.handle, first, second, self.how, result, algorithm, byref(need))
            code = library.attempt(f"cudnnGetConvolution{one}WorkspaceSize", *asked, quiet=True)
            if code == 0 and need.value > self.context.limit:
                continue
            if code == 0:
                code = self.execute(one, tensors, out, algorithm, need.value)
            if code == 0:
                return True
            if "NOT_SUPPORTED" not in library.error:
                break
        if "NOT_SUPPORTED" in library.error and self.kind != 0:
            return False
        why = library.error or "every algorithm needs more workspace than the limit"
        raise Failed(f"in {self.name}: {why}")

    def execute(self, one, tensors, out, algorithm, need):
        """The call itself."""
        space = self.context.allocate(need, quiet=True) if need else 0
        inputs = [part[name] for name in tensors[:2] for part in (self.described, self.ones)]
        given = (self.handle, byref(c_float(1.0)), *inputs, self.how, algorithm, space, need)
        result = (byref(c_float(0.0)), self.described[tensors[2]], out)
        text = f"{self.name}, algorithm {algorithm}, {size(need)} of workspace"
        return self.library.attempt("cudnnConvolution" + one, *given, *result, text=lambda: text)


def unpacked(data, kind):
    """Numbers of float32, float16 or bfloat16, which is the upper half of a float32."""
    if kind == 2:
        return struct.unpack(f"{len(data) // 2}e", data)
    if kind == 9:
        data = b"".join(b"\0\0" + bytes(data[i : i + 2]) for i in range(0, len(data), 2))
    return struct.unpack(f"{len(data) // 4}f", data)


def differs(one, got, shape):
    """What is wrong with a result, "" where nothing is: ones are counted, at the edge there are
    fewer.
    """
    _, _, height, width = shape
    if one == "BackwardFilter":
        along, each = [SIDE - (at != 1) for at in range(WINDOW)], BATCH
    else:
        along, each = [WINDOW - (at in (0, SIDE - 1)) for at in range(SIDE)], CHANNELS
    for place, value in enumerate(got):
        want = each * along[place // width % height] * along[place % width]
        if not abs(value - want) <= 0.01 * want:  # false for NaN too
            return f"element {place} of {one} is {value!r} instead of {want!r}"
    return ""


# ---------------------------------------------------------------- NCCL


def nccl(options):
    """The group `nccl`: a sum over all GPUs; nothing is sent over a network."""
    os.environ.pop("NCCL_DEBUG", None)  # its lines begin with the host's name
    for name, value in (("SOCKET_IFNAME", "lo"), ("IB_DISABLE", "1"), ("MAX_NCHANNELS", "2")):
        os.environ.setdefault("NCCL_" + name, value)
    with Stage("nccl"):
        preload(options.preload)
        cuda, library = Cuda(options), Api("nccl", options.nccl, "ncclGetVersion")
        library.number("ncclGetVersion")
        contexts = {}
        try:
            for index, handle in enumerate(cuda.devices()):
                if options.wants("nccl", index):
                    contexts[index] = Context(cuda, handle, options.limit)
            all_reduce(library, contexts)
        finally:
            for context in contexts.values():
                context.close()


def all_reduce(library, contexts):
    """The sum of ones over the GPUs is how many there are, on each."""
    count, total = 1 << 16, len(contexts)
    comms, buffers = (c_void_p * total)(), []
    library("ncclCommInitAll", comms, total, (c_int * total)(*contexts))
    for context in contexts.values():
        context.current()
        pair = [context.allocate(4 * count, quiet=True) for _ in range(2)]
        buffers.append(pair)
        context.cuda.quiet("cuMemsetD32_v2", pair[0], ONE, count)
        context.wait(quiet=True)
    library.quiet("ncclGroupStart")
    for comm, (here, there) in zip(comms, buffers):
        library("ncclAllReduce", here, there, count, FLOAT, SUM, comm, None)
    library("ncclGroupEnd")
    for (index, context), (_, there) in zip(contexts.items(), buffers):
        context.current()
        context.wait()
        got = struct.unpack("f", context.download(there + 4 * (count - 1), 4))[0]
        wrong = "" if got == total else f"GPU {index} has {got!r} instead of {total}"
        compare("compare the sum", wrong)
    for comm in comms:
        library.quiet("ncclCommDestroy", comm)
