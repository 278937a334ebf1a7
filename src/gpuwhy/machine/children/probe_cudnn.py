"""The groups `cudnn` and `convolution`: cuDNN and its parts, and convolutions that are checked. A
part of probe.py.
"""

import ctypes
import os
import re
import struct
from ctypes import POINTER, byref, c_char_p, c_float, c_int, c_size_t, c_uint64, c_void_p

from probe_driver import Context, Cuda
from probe_math import Cudart
from probe_talk import (
    Api,
    Failed,
    Stage,
    compare,
    late,
    load,
    mapped,
    preload,
    shown,
    size,
    tell_library,
)

PARTS = (
    "Graph",
    "Ops",
    "Cnn",
    "Adv",
    "OpsInfer",
    "OpsTrain",
    "CnnInfer",
    "CnnTrain",
    "AdvInfer",
    "AdvTrain",
)
"""Each with its own library and cudnn…VersionCheck: the first four in cuDNN 9, the others in 8,
none before.
"""

POINTER_INT, FLOATS = POINTER(c_int), POINTER(c_float)
SIGNATURES = {
    "cudnnGetVersion": (c_size_t, []),
    "cudnnGetCudartVersion": (c_size_t, []),
    "cudnnGetProperty": (c_int, [c_int, POINTER_INT]),
    "cudnnGetErrorString": (c_char_p, [c_int]),
    "cudnnGetLastErrorString": (None, [c_char_p, c_size_t]),
    "cudnnCreate": (c_int, [POINTER(c_void_p)]),
    "cudnnDestroy": (c_int, [c_void_p]),
    "cudnnCreateTensorDescriptor": (c_int, [POINTER(c_void_p)]),
    "cudnnCreateFilterDescriptor": (c_int, [POINTER(c_void_p)]),
    "cudnnCreateConvolutionDescriptor": (c_int, [POINTER(c_void_p)]),
    "cudnnSetTensor4dDescriptor": (c_int, [c_void_p] + [c_int] * 6),
    "cudnnSetFilter4dDescriptor": (c_int, [c_void_p] + [c_int] * 6),
    "cudnnSetConvolution2dDescriptor": (c_int, [c_void_p] + [c_int] * 8),
    "cudnnSetConvolutionMathType": (c_int, [c_void_p, c_int]),
    "cudnnDestroyTensorDescriptor": (c_int, [c_void_p]),
    "cudnnDestroyFilterDescriptor": (c_int, [c_void_p]),
    "cudnnDestroyConvolutionDescriptor": (c_int, [c_void_p]),
}
SIGNATURES.update({"cudnn%sVersionCheck" % part: (c_int, []) for part in PARTS})
FILES = re.compile(r"libcudnn[_\w]*\.so|cudnn[_\w]*64_\d+\.dll$", re.IGNORECASE)
PASSES = ("Forward", "BackwardData", "BackwardFilter")
for _pass in PASSES:
    SIGNATURES["cudnnConvolution" + _pass] = (
        c_int,
        [
            c_void_p,
            FLOATS,
            c_void_p,
            c_uint64,
            c_void_p,
            c_uint64,
            c_void_p,
            c_int,
            c_uint64,
            c_size_t,
        ]
        + [FLOATS, c_void_p, c_uint64],
    )
    SIGNATURES["cudnnGetConvolution%sWorkspaceSize" % _pass] = (
        c_int,
        [c_void_p] * 5 + [c_int, POINTER(c_size_t)],
    )

BATCH, CHANNELS, SIDE, FILTERS, WINDOW = 2, 8, 16, 8, 3
X_SHAPE, W_SHAPE, Y_SHAPE = (
    (BATCH, CHANNELS, SIDE, SIDE),
    (FILTERS, CHANNELS, WINDOW, WINDOW),
    (BATCH, FILTERS, SIDE, SIDE),
)
KINDS = (("float32", 0), ("float16", 2), ("bfloat16", 9))  # cudnnDataType_t
TENSOR_OPS = 1  # cudnnMathType_t
NCHW, CROSS_CORRELATION, COMPUTE_FLOAT = 0, 1, 0
ALGORITHMS = (1, 0)
"""Implicit GEMM with precomputed indices, then without; the numbers mean alike in all passes."""


class Cudnn(Api):
    """cuDNN of any release from 7 on."""

    def __init__(self, options):
        Api.__init__(self, load(options.libraries["cudnn"]), SIGNATURES, self.name_of)

    def name_of(self, code):
        """cuDNN's name of a code, and since 9 what it says went wrong."""
        words = ctypes.create_string_buffer(1024)
        if self.has("cudnnGetLastErrorString"):
            self.function("cudnnGetLastErrorString")(words, len(words))
        return shown(self.function("cudnnGetErrorString")(code)), shown(words.value)


def cudnn(options):
    """The group `cudnn`: releases as the loaded copy gives them, and whether its parts are of one
    release.
    """
    with Stage("cudnn"):
        preload(options.preload)
        library = Cudnn(options)
        tell_library(library.function("cudnnGetVersion"))
        number = library.value("cudnnGetVersion")
        if library.has("cudnnGetCudartVersion"):
            library.value("cudnnGetCudartVersion")
        release = properties(library)
        step = 10000 if number >= 90000 else 1000
        compare(
            "compare the releases",
            ""
            if number // step == release[0]
            else "cudnnGetVersion says %d, cudnnGetProperty %s"
            % (number, ".".join(map(str, release))),
        )
        for part in PARTS:
            if library.has("cudnn%sVersionCheck" % part):
                library("cudnn%sVersionCheck" % part)
        parts()


def properties(library):
    """Major, minor, patch."""
    values = []
    for which in range(3):
        value = c_int()
        library.quiet("cudnnGetProperty", which, byref(value))
        values.append(value.value)
    return values


def parts():
    """Whether the mapped files are of one release, as far as their names tell; their folders, where
    there are two.
    """
    files = sorted({path for _, _, path in mapped() if FILES.match(os.path.basename(path))})
    releases = {
        found.group(1)
        for found in (re.search(r"\.so\.(\d+\.\d+\.\d+)", path) for path in files)
        if found
    }
    folders = sorted({os.path.dirname(path) for path in files})
    wrong = "parts of several releases are mapped: " + ", ".join(files) if len(releases) > 1 else ""
    compare("compare the parts", wrong, "%d libraries from %s" % (len(files), ", ".join(folders)))


def convolution(options):
    """The groups' stages on each GPU: a handle, then three passes in each number format."""
    preload(options.preload)
    cuda = Cuda(options)
    for index, handle in enumerate(cuda.devices()):
        if options.wants("cudnn_create", index) and not late():
            on_one(options, cuda, index, handle)


def on_one(options, cuda, index, device):
    """Both stages on one GPU."""
    context = handle = None
    with Stage("cudnn_create", index):
        context = Context(cuda, device, options.limit)
        library = Cudnn(options)
        tell_library(library.function("cudnnCreate"))
        handle = created(options, library, context)
        context.meter.mark()
    if handle is not None and options.wants("convolution", index):
        with Stage("convolution", index) as stage:
            left_out = [
                name for name, kind in KINDS if not convolve(library, handle, context, name, kind)
            ]
            stage.why = (
                "left out, not for this GPU and cuDNN: " + ", ".join(left_out) if left_out else ""
            )
            library("cudnnDestroy", handle)
            context.meter.mark()
    if context is not None:
        context.close()


def created(options, library, context):
    """A handle; when there is none, what CUDA says, so that memory can be told from the rest."""
    handle = c_void_p()
    if library.attempt("cudnnCreate", byref(handle)) == 0:
        return handle
    text = library.error
    context.cuda.attempt("cuCtxSynchronize")
    free, total = c_size_t(), c_size_t()
    if (
        context.cuda.attempt(
            "cuMemGetInfo_v2", byref(free), byref(total), text=lambda: size(free.value)
        )
        == 0
    ):
        text += "; %s of %s GPU memory was free" % (size(free.value), size(total.value))
    if "cudart" in options.libraries:
        Cudart(options).attempt("cudaGetLastError", text=lambda: "no error in the runtime")
    raise Failed(text)


class Tensor(object):
    """Small whole numbers in a shape, exact in every format; on the GPU in one format."""

    def __init__(self, context, shape, kind, step):
        self.shape, self.kind = shape, kind
        self.count = shape[0] * shape[1] * shape[2] * shape[3]
        self.values = [float((i * step) % 11 % 3 - 1) for i in range(self.count)]
        self.pointer = context.upload(pack(self.values, kind))

    def at(self, a, b, c, d):
        """One element; zero outside, which is the padding."""
        _, width, height, length = self.shape
        if not (0 <= c < height and 0 <= d < length):
            return 0.0
        return self.values[((a * width + b) * height + c) * length + d]


def pack(values, kind):
    """Numbers as float32, float16 or bfloat16 (the upper half of a float32)."""
    if kind == 2:
        return struct.pack("%de" % len(values), *values)
    whole = struct.pack("%df" % len(values), *values)
    return whole if kind == 0 else b"".join(whole[i + 2 : i + 4] for i in range(0, len(whole), 4))


def unpack(data, kind):
    """The reverse of pack."""
    if kind == 2:
        return struct.unpack("%de" % (len(data) // 2), data)
    if kind == 9:
        data = b"".join(b"\0\0" + bytes(data[i : i + 2]) for i in range(0, len(data), 2))
    return struct.unpack("%df" % (len(data) // 4), data)


def convolve(library, handle, context, name, kind):
    """All passes in one format; False where this GPU or cuDNN does not have it."""
    capability = context.cuda.capability(context.device)
    if (
        kind == 9
        and (capability < 80 or properties(library)[0] < 8)
        or kind == 2
        and capability < 53
    ):
        return False
    x, w, y = (
        Tensor(context, shape, kind, step)
        for shape, step in ((X_SHAPE, 3), (W_SHAPE, 5), (Y_SHAPE, 7))
    )
    made = [
        described(library, x.shape, kind),
        filtered(library, kind),
        described(library, y.shape, kind),
    ]
    how = convolving(library, kind)
    tried = []
    for one in PASSES:
        tried.append(one_pass(library, handle, context, (one, name), (x, w, y), made, how))
        if not tried[-1]:
            break
    library.quiet("cudnnDestroyTensorDescriptor", made[0])
    library.quiet("cudnnDestroyTensorDescriptor", made[2])
    library.quiet("cudnnDestroyFilterDescriptor", made[1])
    library.quiet("cudnnDestroyConvolutionDescriptor", how)
    context.free()
    return all(tried)


def described(library, shape, kind):
    """A tensor's descriptor."""
    made = c_void_p()
    library.quiet("cudnnCreateTensorDescriptor", byref(made))
    library.quiet("cudnnSetTensor4dDescriptor", made, NCHW, kind, *shape)
    return made


def filtered(library, kind):
    """The filter's descriptor."""
    made = c_void_p()
    library.quiet("cudnnCreateFilterDescriptor", byref(made))
    library.quiet("cudnnSetFilter4dDescriptor", made, kind, NCHW, *W_SHAPE)
    return made


def convolving(library, kind):
    """The convolution's descriptor: padding 1, stride 1, sums in float32."""
    made = c_void_p()
    library.quiet("cudnnCreateConvolutionDescriptor", byref(made))
    values = (1, 1, 1, 1, 1, 1, CROSS_CORRELATION, COMPUTE_FLOAT)
    library.quiet("cudnnSetConvolution2dDescriptor", made, *values)
    if kind != 0:
        library.quiet("cudnnSetConvolutionMathType", made, TENSOR_OPS)
    return made


def one_pass(library, handle, context, names, tensors, made, how):
    """One pass, checked; False where no algorithm is supported in a format other than float32."""
    one, name = names
    x, w, y = tensors
    of_x, of_w, of_y = made
    first, second, result = {
        "Forward": ((of_x, x), (of_w, w), (of_y, y)),
        "BackwardData": ((of_w, w), (of_y, y), (of_x, x)),
        "BackwardFilter": ((of_x, x), (of_y, y), (of_w, w)),
    }[one]
    width = 4 if result[1].kind == 0 else 2
    out = context.allocate(width * result[1].count, quiet=True)
    context.cuda.quiet(
        "cuMemsetD8_v2", out, 0xFF, width * result[1].count
    )  # no number: what is not written shows
    places = (first, second, (result[0], out))
    if not computed(library, handle, context, one, name, places, how):
        return False
    context.wait(quiet=True)
    got = unpack(context.download(out, width * result[1].count), result[1].kind)
    compare(
        "compare %s in %s" % (one, name),
        differs(one, tensors, got, result[1]),
        "%d numbers" % len(got),
    )
    return True


def computed(library, handle, context, one, name, places, how):
    """Call cuDNN with the first algorithm that it supports; False where there is none."""
    first, second, (of_out, out) = places
    for algorithm in ALGORITHMS:
        need = c_size_t()
        asked = (handle, first[0], second[0], how, of_out, algorithm, byref(need))
        code = library.attempt("cudnnGetConvolution%sWorkspaceSize" % one, *asked, quiet=True)
        if code == 0 and need.value > context.limit:
            continue
        if code == 0:
            space = context.allocate(need.value, quiet=True) if need.value else 0
            run = (handle, algorithm, space, need.value)
            code = execute(library, one, run, (first, second), (of_out, out), how, name)
        if code == 0:
            return True
        if "NOT_SUPPORTED" not in library.error:
            break
    if "NOT_SUPPORTED" in library.error and name != "float32":
        return False
    raise Failed(
        "in %s: %s" % (name, library.error or "every algorithm needs more workspace than the limit")
    )


def execute(library, one, run, inputs, output, how, name):
    """The call itself."""
    (handle, algorithm, space, count), (first, second) = run, inputs
    scale, add = c_float(1.0), c_float(0.0)
    return library.attempt(
        "cudnnConvolution" + one,
        handle,
        byref(scale),
        first[0],
        first[1].pointer,
        second[0],
        second[1].pointer,
        how,
        algorithm,
        space,
        count,
        byref(add),
        output[0],
        output[1],
        text=lambda: "%s, algorithm %d, %s of workspace" % (name, algorithm, size(count)),
    )


def differs(one, tensors, got, result):
    """What is wrong with a result: "" when every number is one and the sampled ones are what the
    host computes.
    """
    broken = next((i for i, value in enumerate(got) if not abs(value) < 1e6), None)
    if broken is not None:
        return "element %d of %s is %r" % (broken, one, got[broken])
    for place in sorted({i * result.count // 23 for i in range(23)} | {result.count - 1}):
        terms = list(TERMS[one](tensors, where(place, result.shape)))
        want = sum(terms)
        if abs(got[place] - want) > 1e-3 + 0.01 * sum(map(abs, terms)):
            return "element %d of %s is %r instead of %r" % (place, one, got[place], want)
    return ""


def where(place, shape):
    """The four indices of an element."""
    out = []
    for extent in reversed(shape):
        out.append(place % extent)
        place //= extent
    return tuple(reversed(out))


def forward(tensors, index):
    """The terms of one element of y."""
    x, w, _ = tensors
    n, k, p, q = index
    for c in range(CHANNELS):
        for r in range(WINDOW):
            for s in range(WINDOW):
                yield x.at(n, c, p + r - 1, q + s - 1) * w.at(k, c, r, s)


def backward_data(tensors, index):
    """The terms of one element of the gradient of x."""
    _, w, y = tensors
    n, c, h, v = index
    for k in range(FILTERS):
        for r in range(WINDOW):
            for s in range(WINDOW):
                yield y.at(n, k, h - r + 1, v - s + 1) * w.at(k, c, r, s)


def backward_filter(tensors, index):
    """The terms of one element of the gradient of w."""
    x, _, y = tensors
    k, c, r, s = index
    for n in range(BATCH):
        for p in range(SIDE):
            for q in range(SIDE):
                yield x.at(n, c, p + r - 1, q + s - 1) * y.at(n, k, p, q)


TERMS = {"Forward": forward, "BackwardData": backward_data, "BackwardFilter": backward_filter}
