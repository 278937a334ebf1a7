"""Walks one group of native stages of `check --probe`.

`probe.py GROUP [--FAMILY PATH …] [--preload PATH …] [--skip STAGE[:GPU] …]`
Groups: driver, device, runtime, blas, cudnn, convolution, nccl (see probe/stages.py).
`--no-gpu` says that the driver shows none, `--no-driver` that not even cuInit may be called.
Prints one JSON object a line (talk.py says which).
"""

import functools
import os
import re
import struct
import sys
from array import array
from contextlib import closing
from ctypes import byref, c_float, c_int, c_size_t, c_void_p

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from probe_driver import Api, Context, Cuda, device, driver, late, preload, size, version
from talk import Failed, Stage, begin, clock, compare, leave, mapped, say, since, told

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
    """The group `runtime`: its release, and whether it works with the driver; that there is no GPU
    is not its fault.
    """
    with Stage("cudart") as stage:
        preload(options.preload)
        cudart = Api("cudart", options.cudart, "cudaRuntimeGetVersion")
        ours = cudart.made("cudaRuntimeGetVersion", form=version)
        if not options.driver:
            return
        drivers = cudart.made(
            "cudaDriverGetVersion", form=lambda found: version(found) if found else "no driver"
        )
        count = c_int()
        code = cudart.attempt("cudaGetDeviceCount", byref(count), text=lambda: str(count.value))
        error = cudart.error
        cudart.attempt("cudaPeekAtLastError", quiet=True)
        pair = "%s with a driver for up to %s" % (version(ours), version(drivers))
        if drivers and ours // 1000 > drivers // 1000:
            stage.why = "the runtime is newer than the driver: " + pair
        elif drivers and ours > drivers:
            stage.why = pair + ": kernels run, PTX from this CUDA does not"
        if code and options.gpu:
            raise Failed("; ".join(filter(None, (error, stage.why))))


# ---------------------------------------------------------------- cuBLAS


def blas(options):
    """The group `blas`: a matmul that is checked and timed, as large as the memory allows."""
    for cuda, index, handle in each_device(options, "cublas"):
        with Stage("cublas", index), closing(Context(cuda, handle)) as context:
            cublas = Api("cublas", options.cublas, "cublasCreate_v2")
            room = context.room(3 * 4 * LARGE * LARGE)
            made = c_void_p()
            cublas("cublasCreate_v2", byref(made))
            n = LARGE
            while n > SMALL and 3 * 4 * n * n > room:
                n //= 2
            matmul(context, cublas, made, n, index)
            cublas.quiet("cublasDestroy_v2", made)


def matmul(context, cublas, handle, n, index):
    """c = a b, by columns, of small whole numbers, which every rounding leaves alone."""
    rows = [(i * 5) % 17 - 8 for i in range(251)], [(i * 7) % 17 - 8 for i in range(251)]
    a, b = (array("f", row * (n * n // 251 + 1))[: n * n] for row in rows)
    on_a, on_b = context.upload(a.tobytes()), context.upload(b.tobytes())
    on_c = context.allocate(4 * n * n, quiet=True)
    one, none = byref(c_float(1.0)), byref(c_float(0.0))
    given = (handle, 0, 0, n, n, n, one, on_a, n, on_b, n, none, on_c, n)
    cublas("cublasSgemm_v2", *given, text=lambda: "%d x %d" % (n, n))
    context.wait()
    c = array("f", bytes(context.download(on_c, 4 * n * n)))
    wrong = ""
    for i, j in ((0, 0), (n - 1, 0), (0, n - 1), (n - 1, n - 1), (17, 91), (128, 127), (200, 3)):
        got, want = c[i + j * n], sum(a[i + k * n] * b[k + j * n] for k in range(n))
        if abs(got - want) > 1e-3 * max(1.0, abs(want)):
            wrong = wrong or "element (%d, %d) is %r instead of %r" % (i, j, got, want)
    compare("compare with the host", wrong)
    again = functools.partial(cublas.quiet, "cublasSgemm_v2", *given)
    context.rate("float32 matmul", index, 2.0 * n**3, "FLOP/s", again)


# ---------------------------------------------------------------- cuDNN

PARTS = (
    *("Graph", "Ops", "Cnn", "Adv"),
    *("OpsInfer", "OpsTrain", "CnnInfer", "CnnTrain", "AdvInfer", "AdvTrain"),
)
"""Each with a library and a cudnn…VersionCheck of its own: those of cuDNN 9, then those of 8."""
FILES = re.compile(r"libcudnn[_\w]*\.so|cudnn[_\w]*64_\d+\.dll$", re.IGNORECASE)


def cudnn(options):
    """The group `cudnn`: whether the loaded copy and its parts are of one release."""
    with Stage("cudnn"):
        preload(options.preload)
        library = Api("cudnn", options.cudnn, "cudnnGetVersion")
        say({"calling": "cudnnGetVersion"})
        start, number = clock(), library.function("cudnnGetVersion", c_size_t)()
        told("cudnnGetVersion", text=str(number), ms=since(start))
        found = [c_int(), c_int(), c_int()]
        for which, value in enumerate(found):
            library.quiet("cudnnGetProperty", which, byref(value))
        stated = ".".join(str(one.value) for one in found)
        text = "cudnnGetVersion says %d, cudnnGetProperty %s" % (number, stated)
        same = number // (10000 if number >= 90000 else 1000) == found[0].value
        compare("compare the releases", "" if same else text)
        for part in PARTS:
            if library.has("cudnn%sVersionCheck" % part):
                library("cudnn%sVersionCheck" % part)
        compare_parts()


def compare_parts():
    """Whether the mapped files are of one release, as far as their names tell."""
    files = sorted({path for _, _, path in mapped() if FILES.match(os.path.basename(path))})
    named = (re.search(r"\.so\.(\d+\.\d+\.\d+)", path) for path in files)
    several = len({found.group(1) for found in named if found}) > 1
    wrong = "parts of several releases are mapped: " + ", ".join(files)
    compare("compare the parts", wrong if several else "", "%d libraries" % len(files))


def handle(options):
    """The group `convolution`: a handle on each GPU, which cuDNN's larger part is loaded for."""
    for cuda, index, gpu in each_device(options, "cudnn_create"):
        with Stage("cudnn_create", index), closing(Context(cuda, gpu)) as context:
            library = Api("cudnn", options.cudnn, "cudnnCreate")
            made = c_void_p()
            if library.attempt("cudnnCreate", byref(made)):
                raise Failed(library.error + state(options, context.cuda))
            library("cudnnDestroy", made)


def state(options, cuda):
    """What CUDA says where there is no handle, so that memory can be told from the rest."""
    free, total = c_size_t(), c_size_t()
    cuda.attempt("cuCtxSynchronize")
    if options.cudart:
        cudart = Api("cudart", options.cudart)
        cudart.attempt("cudaGetLastError", text=lambda: "no error in the runtime")
    if cuda.attempt("cuMemGetInfo_v2", byref(free), byref(total)) != 0:
        return ""
    return "; %s of %s GPU memory was free" % (size(free.value), size(total.value))


# ---------------------------------------------------------------- NCCL


def nccl(options):
    """The group `nccl`: a sum over all GPUs; nothing is sent over a network."""
    os.environ.pop("NCCL_DEBUG", None)  # its lines begin with the host's name
    for name, value in (("SOCKET_IFNAME", "lo"), ("IB_DISABLE", "1"), ("MAX_NCHANNELS", "2")):
        os.environ.setdefault("NCCL_" + name, value)
    with Stage("nccl"):
        preload(options.preload)
        cuda, library = Cuda(options), Api("nccl", options.nccl, "ncclGetVersion")
        library.made("ncclGetVersion", form=str)
        contexts = {}
        try:
            for index, handle in enumerate(cuda.devices()):
                if options.wants("nccl", index):
                    contexts[index] = Context(cuda, handle)
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
        wrong = "" if got == total else "GPU %d has %r instead of %d" % (index, got, total)
        compare("compare the sum", wrong)
    for comm in comms:
        library.quiet("ncclCommDestroy", comm)


# ---------------------------------------------------------------- the command line

GROUPS = {
    "driver": driver,
    "device": device,
    "runtime": runtime,
    "blas": blas,
    "cudnn": cudnn,
    "convolution": handle,
    "nccl": nccl,
}


class Options:
    """What the command line asks for: a path for each family, what is opened before, what is not
    to run.
    """

    cuda = nvrtc = cudart = cublas = cudnn = nccl = None
    gpu = driver = True

    def __init__(self, arguments):
        self.preload, self.skip = [], []
        words = iter(arguments)
        for word in words:
            name = word[2:]
            if name in ("preload", "skip"):
                getattr(self, name).append(next(words))
            elif name in ("no-gpu", "no-driver"):
                setattr(self, name[3:], False)
            else:
                setattr(self, name, next(words))
        self.gpu = self.gpu and self.driver

    def wants(self, stage, device):
        """Whether a stage is to run: neither it nor it on this GPU is to be skipped."""
        return stage not in self.skip and "%s:%s" % (stage, device) not in self.skip


def main(group, arguments):
    """Run the group; a failure before its first stage is that stage's, which the reader names."""
    begin()
    os.environ["CUDA_CACHE_DISABLE"] = "1"  # the driver's compiler leaves no files
    try:
        GROUPS[group](Options(arguments))
    except Failed as failure:
        with Stage(""):
            raise failure


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
    leave()
