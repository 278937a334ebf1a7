"""The groups `runtime`, `blas`, `cudnn`, `convolution` and `nccl`: libraries on top of the driver.

A part of probe.py. Each computes something small of which every number of the result is known.
"""

import ctypes
import os
import re
import struct
from array import array
from ctypes import byref, c_float, c_int, c_size_t, c_void_p

from probe_driver import Context, Cuda, tell_rate
from probe_talk import Api, Failed, Stage, compare, late, mapped, preload, shown, size, version

SIGNATURES = {
    "cudaRuntimeGetVersion": "p",
    "cudaDriverGetVersion": "p",
    "cudaGetDeviceCount": "p",
    "cudaPeekAtLastError": "",
    "cudaGetLastError": "",
    "cudaGetErrorName": "s=i",
    "cudaGetErrorString": "s=i",
    "cublasCreate_v2": "p",
    "cublasDestroy_v2": "p",
    "cublasGetVersion_v2": "pp",
    "cublasSgemm_v2": "piiiiipqiqipqi",
    "cublasGetStatusName": "s=i",
    "cublasGetStatusString": "s=i",
    "cudnnGetVersion": "z=",
    "cudnnGetProperty": "ip",
    "cudnnGetErrorString": "s=i",
    "cudnnGetLastErrorString": "pz",
    "cudnnCreate": "p",
    "cudnnDestroy": "p",
    "cudnnCreateTensorDescriptor": "p",
    "cudnnCreateFilterDescriptor": "p",
    "cudnnCreateConvolutionDescriptor": "p",
    "cudnnSetTensor4dDescriptor": "piiiiii",
    "cudnnSetFilter4dDescriptor": "piiiiii",
    "cudnnSetConvolution2dDescriptor": "piiiiiiii",
    "cudnnSetConvolutionMathType": "pi",
    "ncclGetVersion": "p",
    "ncclCommInitAll": "pip",
    "ncclAllReduce": "qqziipp",
    "ncclGroupStart": "",
    "ncclGroupEnd": "",
    "ncclCommDestroy": "p",
    "ncclGetErrorString": "s=i",
    "ncclGetLastError": "s=p",
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


def each_device(options, stage_name):
    """The number and the handle of every GPU on which a stage is to run."""
    preload(options.preload)
    cuda = Cuda(options)
    for index, handle in enumerate(cuda.devices()):
        if options.wants(stage_name, index) and not late():
            yield cuda, index, handle


# ---------------------------------------------------------------- the runtime


def cudart_named(cudart, code):
    """The runtime's name and words for a code."""
    return cudart.words("cudaGetErrorName", code), cudart.words("cudaGetErrorString", code)


def runtime(options):
    """The group `runtime`: its release, and whether it works with the driver."""
    with Stage("cudart") as stage:
        preload(options.preload)
        cudart = Api(options.cudart, SIGNATURES, cudart_named)
        cudart.tell_file("cudaRuntimeGetVersion")
        ours = cudart.number("cudaRuntimeGetVersion", form=version)
        if options.driver:
            with_driver(options, cudart, stage, ours)


def with_driver(options, cudart, stage, ours):
    """What the runtime says of driver and devices; that there is none is not its fault."""
    drivers = cudart.number(
        "cudaDriverGetVersion", form=lambda found: version(found) if found else "no driver"
    )
    count = c_int()
    code = cudart.attempt("cudaGetDeviceCount", byref(count), text=lambda: "%d" % count.value)
    error = cudart.error
    cudart.attempt("cudaPeekAtLastError", quiet=True)
    pair = "%s with a driver for up to %s" % (version(ours), version(drivers))
    if drivers and ours // 1000 > drivers // 1000:
        stage.why = "the runtime is newer than the driver: " + pair
    elif drivers and ours > drivers:
        stage.why = pair + ": kernels run, PTX from this CUDA does not"
    if code and options.gpu:
        raise Failed(error + ("; " + stage.why if stage.why else ""))


# ---------------------------------------------------------------- cuBLAS


def cublas_named(cublas, code):
    """cuBLAS's name and words for a code."""
    name = cublas.words("cublasGetStatusName", code)
    known = name or "CUBLAS_STATUS_" + CUBLAS_NAMES.get(code, str(code))
    return known, cublas.words("cublasGetStatusString", code)


def blas(options):
    """The group `blas`: a matmul that is checked, and a larger one for its rate."""
    for cuda, index, handle in each_device(options, "cublas"):
        with Stage("cublas", index), Context(cuda, handle, options.limit) as context:
            cublas = Api(options.cublas, SIGNATURES, cublas_named)
            cublas.tell_file("cublasCreate_v2")
            room = context.room(3 * 4 * LARGE * LARGE)
            made = c_void_p()
            cublas("cublasCreate_v2", byref(made))
            small(context, cublas, made)
            large(context, cublas, made, room, index)
            cublas.quiet("cublasDestroy_v2", made)


def multiply(cublas, handle, n, a, b, c, **how):
    """c = a b, square and by columns."""
    factors = byref(c_float(1.0)), byref(c_float(0.0))
    rest = (factors[0], a, n, b, n, factors[1], c, n)
    cublas("cublasSgemm_v2", handle, 0, 0, n, n, n, *rest, **how)


def small(context, cublas, handle):
    """Small whole numbers, which every rounding leaves alone; a few entries are computed here."""
    n = SMALL
    rows = [(i * 5) % 17 - 8 for i in range(251)], [(i * 7) % 17 - 8 for i in range(251)]
    a, b = (array("f", row * (n * n // 251 + 1))[: n * n] for row in rows)
    on_a, on_b = context.upload(a.tobytes()), context.upload(b.tobytes())
    on_c = context.allocate(4 * n * n, quiet=True)
    multiply(cublas, handle, n, on_a, on_b, on_c, text=lambda: "%d x %d" % (n, n))
    context.wait()
    c = array("f", struct.unpack("%df" % (n * n), context.download(on_c, 4 * n * n)))
    wrong = ""
    for i, j in ((0, 0), (n - 1, 0), (0, n - 1), (n - 1, n - 1), (17, 91), (128, 127), (200, 3)):
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

    tell_rate("float32 matmul", index, 2.0 * n**3, "FLOP/s", again, 5)
    ends = context.download(parts[2], 4) + context.download(parts[2] + 4 * (n * n - 1), 4)
    got = struct.unpack("2f", ends)
    compare("compare with ones", "" if got == (n, n) else "entries are %r instead of %d" % (got, n))


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
PASSES = (
    ("Forward", "x", "w", "y"),
    ("BackwardData", "w", "y", "x"),
    ("BackwardFilter", "x", "y", "w"),
)
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
SIGNATURES.update({"cudnn%sVersionCheck" % part: "" for part in PARTS})
SIGNATURES.update({"cudnnConvolution" + one[0]: "pppqpqpiqzppq" for one in PASSES})
SIGNATURES.update({"cudnnGetConvolution%sWorkspaceSize" % one[0]: "pppppip" for one in PASSES})


def cudnn_named(cudnn, code):
    """cuDNN's name of a code, and since 9 what it says went wrong."""
    words = ctypes.create_string_buffer(1024)
    if cudnn.has("cudnnGetLastErrorString"):
        cudnn.function("cudnnGetLastErrorString")(words, len(words))
    return cudnn.words("cudnnGetErrorString", code), shown(words.value)


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
        library = Api(options.cudnn, SIGNATURES, cudnn_named)
        library.tell_file("cudnnGetVersion")
        number = library.value("cudnnGetVersion")
        found = release(library)
        text = "cudnnGetVersion says %d, cudnnGetProperty %s" % (number, ".".join(map(str, found)))
        same = number // (10000 if number >= 90000 else 1000) == found[0]
        compare("compare the releases", "" if same else text)
        for part in PARTS:
            if library.has("cudnn%sVersionCheck" % part):
                library("cudnn%sVersionCheck" % part)
        parts()


def parts():
    """Whether the mapped files are of one release, as far as their names tell."""
    files = sorted({path for _, _, path in mapped() if FILES.match(os.path.basename(path))})
    named = (re.search(r"\.so\.(\d+\.\d+\.\d+)", path) for path in files)
    several = len({found.group(1) for found in named if found}) > 1
    folders = ", ".join(sorted({os.path.dirname(path) for path in files}))
    wrong = "parts of several releases are mapped: " + ", ".join(files)
    right = "%d libraries from %s" % (len(files), folders)
    compare("compare the parts", wrong if several else "", right)


def convolution(options):
    """The group `convolution`, on each GPU: a handle, then three passes in each number format."""
    for cuda, index, handle in each_device(options, "cudnn_create"):
        context = made = None
        with Stage("cudnn_create", index):
            context = Context(cuda, handle, options.limit)
            library = Api(options.cudnn, SIGNATURES, cudnn_named)
            library.tell_file("cudnnCreate")
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
        text += "; %s of %s GPU memory was free" % (size(free.value), size(total.value))
    if options.cudart:
        cudart = Api(options.cudart, SIGNATURES, cudart_named)
        cudart.attempt("cudaGetLastError", text=lambda: "no error in the runtime")
    raise Failed(text)


class Convolution(object):
    """One number format: descriptors, and tensors of ones; padding 1, sums in float32."""

    def __init__(self, library, handle, context, name, kind, one):
        self.library, self.handle, self.context = library, handle, context
        self.name, self.kind, self.width = name, kind, len(one)
        self.described, self.counts, self.ones = {}, {}, {}
        for tensor, shape in SHAPES.items():
            n, c, h, w = shape
            self.counts[tensor] = n * c * h * w
            self.ones[tensor] = context.upload(one * self.counts[tensor])
            what = "Filter" if tensor == "w" else "Tensor"
            made = self.described[tensor] = library.made("cudnnCreate%sDescriptor" % what)
            form = (kind, NCHW) if tensor == "w" else (NCHW, kind)
            library.quiet("cudnnSet%s4dDescriptor" % what, made, *(form + shape))
        self.how = library.made("cudnnCreateConvolutionDescriptor")
        values = (1, 1, 1, 1, 1, 1, CROSS_CORRELATION, COMPUTE_FLOAT)
        library.quiet("cudnnSetConvolution2dDescriptor", self.how, *values)
        if kind != 0:
            library.quiet("cudnnSetConvolutionMathType", self.how, TENSOR_OPS)

    def checked(self, one, first, second, result):
        """One pass, checked; False where no algorithm is there in a format other than float32."""
        context, count = self.context, self.counts[result]
        out = context.allocate(self.width * count, quiet=True)
        context.cuda.quiet("cuMemsetD8_v2", out, 0xFF, self.width * count)  # no number
        if not self.computed(one, first, second, result, out):
            return False
        context.wait(quiet=True)
        got = unpacked(context.download(out, self.width * count), self.kind)
        wrong = differs(one, got, SHAPES[result])
        compare("compare %s in %s" % (one, self.name), wrong, "%d numbers" % len(got))
        return True

    def computed(self, one, first, second, result, out):
        """Call cuDNN with the first algorithm that it supports; False where there is none."""
        library, described = self.library, self.described
        for algorithm in ALGORITHMS:
            need = c_size_t()
            asked = (described[first], described[second], self.how, described[result], algorithm)
            code = library.attempt(
                "cudnnGetConvolution%sWorkspaceSize" % one,
                *((self.handle,) + asked + (byref(need),)),
                quiet=True,
            )
            if code == 0 and need.value > self.context.limit:
                continue
            if code == 0:
                code = self.execute(one, first, second, result, out, (algorithm, need.value))
            if code == 0:
                return True
            if "NOT_SUPPORTED" not in library.error:
                break
        if "NOT_SUPPORTED" in library.error and self.kind != 0:
            return False
        why = library.error or "every algorithm needs more workspace than the limit"
        raise Failed("in %s: %s" % (self.name, why))

    def execute(self, one, first, second, result, out, how):
        """The call itself."""
        algorithm, need = how
        space = self.context.allocate(need, quiet=True) if need else 0
        scale, add = c_float(1.0), c_float(0.0)
        inputs = (
            self.described[first],
            self.ones[first],
            self.described[second],
            self.ones[second],
        )
        work = (self.how, algorithm, space, need)
        given = (
            (self.handle, byref(scale)) + inputs + work + (byref(add), self.described[result], out)
        )
        text = "%s, algorithm %d, %s of workspace" % (self.name, algorithm, size(need))
        return self.library.attempt("cudnnConvolution" + one, *given, text=lambda: text)


def convolve(library, handle, context, name, kind, one, since):
    """All passes in one format; False where this GPU or cuDNN does not have it."""
    too_old = kind == 9 and release(library)[0] < 8
    if too_old or context.cuda.capability(context.device) < since:
        return False
    work = Convolution(library, handle, context, name, kind, one)
    done = all(work.checked(*names) for names in PASSES)
    context.free()
    return done


def unpacked(data, kind):
    """Numbers of float32, float16 or bfloat16, which is the upper half of a float32."""
    if kind == 2:
        return struct.unpack("%de" % (len(data) // 2), data)
    if kind == 9:
        data = b"".join(b"\0\0" + bytes(data[i : i + 2]) for i in range(0, len(data), 2))
    return struct.unpack("%df" % (len(data) // 4), data)


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
            return "element %d of %s is %r instead of %r" % (place, one, value, want)
    return ""


# ---------------------------------------------------------------- NCCL


def nccl_named(nccl, code):
    """Our name, and NCCL's words with the last error that it kept."""
    words = nccl.words("ncclGetErrorString", code), nccl.words("ncclGetLastError", None)
    return NCCL_NAMES.get(code, "ncclResult %d" % code), "; ".join(filter(None, words))


def nccl(options):
    """The group `nccl`: a sum over all GPUs; nothing is sent over a network."""
    os.environ.pop("NCCL_DEBUG", None)  # its lines begin with the host's name
    for name, value in (("SOCKET_IFNAME", "lo"), ("IB_DISABLE", "1"), ("MAX_NCHANNELS", "2")):
        os.environ.setdefault("NCCL_" + name, value)
    with Stage("nccl"):
        preload(options.preload)
        cuda, library = Cuda(options), Api(options.nccl, SIGNATURES, nccl_named)
        library.tell_file("ncclGetVersion")
        library.number("ncclGetVersion")
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
    comms, buffers = (c_void_p * total)(), []
    library("ncclCommInitAll", comms, total, (c_int * total)(*numbers))
    for context in contexts:
        context.current()
        pair = [context.allocate(4 * count, quiet=True) for _ in range(2)]
        buffers.append(pair)
        context.cuda.quiet("cuMemsetD32_v2", pair[0], ONE, count)
        context.wait(quiet=True)
    library.quiet("ncclGroupStart")
    for comm, (here, there) in zip(comms, buffers):
        library("ncclAllReduce", here, there, count, FLOAT, SUM, comm, None)
    library("ncclGroupEnd")
    for index, context, (_, there) in zip(numbers, contexts, buffers):
        context.current()
        context.wait()
        got = struct.unpack("f", context.download(there + 4 * (count - 1), 4))[0]
        wrong = "" if got == total else "GPU %d has %r instead of %d" % (index, got, total)
        compare("compare the sum", wrong)
    for comm in comms:
        library.quiet("ncclCommDestroy", comm)
