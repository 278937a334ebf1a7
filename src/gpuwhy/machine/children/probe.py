"""Walks one group of native stages of `check --probe`.

`probe.py GROUP [--FAMILY PATH …] [--preload PATH …] [--skip STAGE[:GPU] …]`
Groups: driver, device, runtime, blas, cudnn, convolution, nccl (see probe/stages.py).
`--no-gpu` says that the driver shows none, `--no-driver` that not even cuInit may be called.
Prints one JSON object a line (talk.py says which).
"""

import os
import re
import struct
import sys
from array import array
from contextlib import closing
from ctypes import byref, c_float, c_int, c_size_t, c_void_p

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from probe_driver import Api, Context, Cuda, device, driver, late, preload
from talk import Failed, Stage, begin, compare, leave, mapped, say

FLOAT, SUM = 7, 0  # ncclDataType_t, ncclRedOp_t
SIDE = 256
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
    with Stage("cudart"):
        preload(options.preload)
        cudart = Api("cudart", options.cudart, "cudaRuntimeGetVersion")
        ours, count = cudart.made("cudaRuntimeGetVersion"), c_int()
        if not options.driver:
            return
        drivers = cudart.made("cudaDriverGetVersion")
        code, error = cudart.attempt("cudaGetDeviceCount", byref(count)), cudart.error
        if drivers and ours // 1000 > drivers // 1000:
            pair = tuple(number // part % 100 for number in (ours, drivers) for part in (1000, 10))
            words = "; the runtime is newer than the driver: CUDA %d.%d with a driver for up to"
            error += words % pair[:2] + " CUDA %d.%d" % pair[2:]
        if code and options.gpu:
            raise Failed(error)


# ---------------------------------------------------------------- cuBLAS


def blas(options):
    """The group `blas`: c = a b, by columns, of small whole numbers, which every rounding leaves
    alone.
    """
    rows = [(i * 5) % 17 - 8 for i in range(251)], [(i * 7) % 17 - 8 for i in range(251)]
    n = SIDE
    a, b = (array("f", row * (n * n // 251 + 1))[: n * n] for row in rows)
    for cuda, index, handle in each_device(options, "cublas"):
        with Stage("cublas", index), closing(Context(cuda, handle)) as context:
            cublas, made = Api("cublas", options.cublas, "cublasCreate_v2"), c_void_p()
            cublas("cublasCreate_v2", byref(made))
            on_a, on_b = context.upload(a.tobytes()), context.upload(b.tobytes())
            on_c = context.allocate(4 * n * n)
            one, none = byref(c_float(1.0)), byref(c_float(0.0))
            cublas("cublasSgemm_v2", made, 0, 0, n, n, n, one, on_a, n, on_b, n, none, on_c, n)
            context.wait()
            c = array("f", bytes(context.download(on_c, 4 * n * n)))
            for i, j in ((0, 0), (n - 1, 0), (0, n - 1), (n - 1, n - 1), (17, 91), (128, 127)):
                got, want = c[i + j * n], sum(a[i + k * n] * b[k + j * n] for k in range(n))
                right = abs(got - want) <= 1e-3 * max(1.0, abs(want))
                words = "element (%d, %d) is %r instead of %r" % (i, j, got, want)
                compare("compare with the host", right, words)
            cublas("cublasDestroy_v2", made)


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
        number = library.function("cudnnGetVersion", c_size_t)()
        found = [c_int(), c_int(), c_int()]
        for which, value in enumerate(found):
            library("cudnnGetProperty", which, byref(value))
        stated = ".".join(str(one.value) for one in found)
        text = "cudnnGetVersion says %d, cudnnGetProperty %s" % (number, stated)
        same = number // (10000 if number >= 90000 else 1000) == found[0].value
        compare("compare the releases", same, text)
        for part in PARTS:
            if library.has("cudnn%sVersionCheck" % part):
                library("cudnn%sVersionCheck" % part)
        files = sorted({path for _, _, path in mapped() if FILES.match(os.path.basename(path))})
        named = (re.search(r"\.so\.(\d+\.\d+\.\d+)", path) for path in files)
        one_release = len({release.group(1) for release in named if release}) < 2
        wrong = "parts of several releases are mapped: " + ", ".join(files)
        compare("compare the parts", one_release, wrong)


def handle(options):
    """The group `convolution`: a handle on each GPU, which cuDNN's larger part is loaded for;
    where there is none, the free memory, so that this cause can be told from the rest.
    """
    for cuda, index, gpu in each_device(options, "cudnn_create"):
        with Stage("cudnn_create", index), closing(Context(cuda, gpu)):
            library, made = Api("cudnn", options.cudnn, "cudnnCreate"), c_void_p()
            if library.attempt("cudnnCreate", byref(made)):
                why, free, total = library.error, c_size_t(), c_size_t()
                if cuda.attempt("cuMemGetInfo_v2", byref(free), byref(total)) == 0:
                    sizes = (free.value >> 20, total.value >> 20)
                    why += "; %d of %d MiB GPU memory was free" % sizes
                raise Failed(why)
            library("cudnnDestroy", made)


# ---------------------------------------------------------------- NCCL


def nccl(options):
    """The group `nccl`: a sum over all GPUs; nothing is sent over a network."""
    os.environ.pop("NCCL_DEBUG", None)  # its lines begin with the host's name
    for name, value in (("SOCKET_IFNAME", "lo"), ("IB_DISABLE", "1"), ("MAX_NCHANNELS", "2")):
        os.environ.setdefault("NCCL_" + name, value)
    with Stage("nccl"):
        preload(options.preload)
        cuda, library = Cuda(options), Api("nccl", options.nccl, "ncclGetVersion")
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
        pair = [context.allocate(4 * count) for _ in range(2)]
        buffers.append(pair)
        context.cuda("cuMemsetD32_v2", pair[0], ONE, count)
        context.wait()
    library("ncclGroupStart")
    for comm, (here, there) in zip(comms, buffers):
        library("ncclAllReduce", here, there, count, FLOAT, SUM, comm, None)
    library("ncclGroupEnd")
    for (index, context), (_, there) in zip(contexts.items(), buffers):
        context.current()
        context.wait()
        got = struct.unpack("f", context.download(there + 4 * (count - 1), 4))[0]
        wrong = "GPU %d has %r instead of %d" % (index, got, total)
        compare("compare the sum", got == total, wrong)
    for comm in comms:
        library("ncclCommDestroy", comm)


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
