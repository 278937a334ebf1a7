"""Libraries of the native stages, opened and called by ctypes; the groups `driver` and `device`.

A part of probe.py: the driver library, contexts, memory, a compiled kernel.
"""

import ctypes
import glob
import os
import struct
from ctypes import byref, c_int, c_size_t, c_uint64, c_void_p

from talk import Failed, Stage, clock, compare, failed, mapped, say, since

STARTED = clock()
SECONDS = 6.0  # after that, no further GPU is begun
ALTERED_SEARCH_PATH = 8  # LoadLibraryEx
NAMES = {
    "cuda": "CUDA_ERROR_ 34 STUB_LIBRARY",
    "cublas": "CUBLAS_STATUS_ 1 NOT_INITIALIZED 3 ALLOC_FAILED 7 INVALID_VALUE 8 ARCH_MISMATCH"
    " 11 MAPPING_ERROR 13 EXECUTION_FAILED 14 INTERNAL_ERROR 15 NOT_SUPPORTED 16 LICENSE_ERROR",
    "nccl": "nccl 1 UnhandledCudaError 2 SystemError 3 InternalError 4 InvalidArgument"
    " 5 InvalidUsage 6 RemoteError 7 InProgress",
}
"""Prefix, numbers and names of codes, for libraries that do not name them: NCCL never does, cuBLAS
since CUDA 11.4.2; the driver's stub does not.
"""
WORDS = {
    "cuda": ("cuGetErrorName", "cuGetErrorString"),
    "nvrtc": ("nvrtcGetErrorString", ""),
    "cudart": ("cudaGetErrorName", "cudaGetErrorString"),
    "cublas": ("cublasGetStatusName", "cublasGetStatusString"),
    "cudnn": ("cudnnGetErrorString", ""),
    "nccl": ("", "ncclGetErrorString"),
}
"""The functions of a library that give the name of a code, and words for it."""
DRIVER = "nvcuda.dll" if os.name == "nt" else "libcuda.so.1"
BUILTINS = "nvrtc-builtins64*" if os.name == "nt" else "libnvrtc-builtins.so*"
MAJOR, MINOR = 75, 76  # CUdevice_attribute
COPY = 48 << 20
LEAST = 1 << 16  # tried even where less is free: then the driver says what is wrong
KERNEL = b"""
extern "C" __global__ void twice_and_one(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * in[i] + 1.0f;
}
"""
THREADS, BLOCKS = 128, 8


def late():
    """Whether the time for beginning another GPU is spent."""
    return clock() - STARTED > SECONDS


def shown(value):
    """A str from what a library gives as text; "" for NULL."""
    return value.decode("utf-8", "replace").strip() if value else ""


def opened(path):
    """A library with its symbols for all; on Windows what it needs may lie beside it or on PATH."""
    base = os.path.basename(path)
    say({"calling": "dlopen " + base})
    start = clock()
    try:
        if os.name == "nt":
            return ctypes.CDLL(path, winmode=ALTERED_SEARCH_PATH if os.path.isabs(path) else 0)
        return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        text = str(error)
        failed("dlopen " + base, text=text, ms=since(start))
        words = text[len(path) + 2 :] if text.startswith(path) else text
        raise Failed("%s cannot be loaded: %s" % (base, words)) from None


def preload(paths):
    """Open dependencies first, as in the framework's process; one that fails may not be missed."""
    for path in paths:
        try:
            opened(path)
        except Failed:
            pass


class Api:
    """A library's functions; every integer is passed in 64 bits.

    Where a function takes an `int`, the calling conventions of x86-64 and of ARM's Linux have it
    in the lower half of the same register or stack slot.
    """

    def __init__(self, family, path, first=""):
        """With the name of its first function: print the file that is really mapped."""
        self.family, self.library = family, opened(path)
        self.error = ""  # of the last call that gave one, in words
        if first:
            self.function(first)
            address = ctypes.cast(self.library[first], c_void_p).value or 0
            files = [path for start, end, path in mapped() if start <= address < end]
            for path in files[:1]:
                say({"library": path.encode("utf-8", "backslashreplace").decode("utf-8")})

    def has(self, name):
        """Whether the library has a function."""
        return bool(name) and hasattr(self.library, name)

    def function(self, name, result=c_int):
        """A function that returns a status, if nothing else."""
        if not self.has(name):
            failed(name, text="the library has no such function")
            raise Failed("the library has no " + name)
        function = self.library[name]
        function.restype = result
        wide = ctypes.c_int64
        return lambda *args: function(*(wide(one) if isinstance(one, int) else one for one in args))

    def words(self, name, argument):
        """The text of a function, returned or (the driver) written; "" where there is none."""
        if not self.has(name):
            return ""
        if self.family != "cuda":
            return shown(self.function(name, ctypes.c_char_p)(argument))
        text = ctypes.c_char_p()
        return shown(text.value) if self.function(name)(argument, byref(text)) == 0 else ""

    def described(self, code):
        """The library's name and words for a code."""
        name, words = (self.words(one, code) for one in WORDS[self.family])
        if self.has("cudnnGetLastErrorString"):  # since cuDNN 9
            text = ctypes.create_string_buffer(1024)
            self.function("cudnnGetLastErrorString")(text, len(text))
            words = shown(text.value)
        elif self.has("ncclGetLastError"):
            words = "; ".join(filter(None, (words, self.words("ncclGetLastError", None))))
        if not name and self.family in NAMES:
            prefix, *names = NAMES[self.family].split()
            name = prefix + dict(zip(names[::2], names[1::2])).get(str(code), str(code))
        return name, words

    def attempt(self, name, *arguments):
        """Call, print the result where it is an error, return the code."""
        function = self.function(name)
        say({"calling": name})
        start = clock()
        code = function(*arguments)
        ms = since(start)
        if code != 0:
            status, words = self.described(code)  # once: some libraries forget it then
            failed(name, code, status, words, ms)
            answer = " ".join(filter(None, ("%s gave %d" % (name, code), status)))
            self.error = ": ".join(filter(None, (answer, words)))
        return code

    def __call__(self, name, *arguments):
        """As attempt; an error ends the stage."""
        if self.attempt(name, *arguments) != 0:
            raise Failed(self.error)

    def made(self, name, *arguments):
        """The number that a function writes to its first argument."""
        value = c_int()
        self(name, byref(value), *arguments)
        return value.value


# ---------------------------------------------------------------- the driver


class Cuda(Api):
    """The driver's interface; opening it is a call like others."""

    def __init__(self, options, first=""):
        super().__init__("cuda", options.cuda or DRIVER, first)

    def devices(self):
        """The devices' handles, by CUDA's number of them."""
        self("cuInit", 0)
        return [self.made("cuDeviceGet", index) for index in range(self.made("cuDeviceGetCount"))]

    def capability(self, device):
        """Compute capability as one number: 90."""
        major, minor = (self.made("cuDeviceGetAttribute", one, device) for one in (MAJOR, MINOR))
        return 10 * major + minor


def driver(options):
    """The group `driver`: libcuda, init, devices."""
    with Stage("libcuda") as loaded:
        cuda = Cuda(options, "cuInit")
    if not loaded.ok:
        return
    with Stage("init") as started:
        cuda("cuInit", 0)
    if started.ok:
        with Stage("devices"):
            if not cuda.devices():
                raise Failed("the driver shows no GPU")


class Context:
    """A device's primary context with its memory; `close` gives all of it back."""

    def __init__(self, cuda, device):
        self.cuda, self.device, self.held = cuda, device, []
        self.handle = c_void_p()
        cuda("cuDevicePrimaryCtxRetain", byref(self.handle), device)
        self.current()

    def current(self):
        """Make it the current context of this thread."""
        self.cuda("cuCtxSetCurrent", self.handle)

    def close(self):
        """Give memory and context back; errors are printed, and change nothing."""
        if self.cuda.attempt("cuCtxSetCurrent", self.handle) == 0:
            self.free()
        self.cuda.attempt("cuDevicePrimaryCtxRelease", self.device)

    def allocate(self, count):
        """Device memory, given back at the end."""
        pointer = c_uint64()
        self.cuda("cuMemAlloc_v2", byref(pointer), count)
        self.held.append(pointer.value)
        return pointer.value

    def free(self):
        """Give all memory back."""
        while self.held:
            self.cuda.attempt("cuMemFree_v2", self.held.pop())

    def upload(self, data):
        """New device memory with these bytes."""
        pointer = self.allocate(len(data))
        self.cuda("cuMemcpyHtoD_v2", pointer, bytes(data), len(data))
        return pointer

    def download(self, pointer, count):
        """Bytes of device memory."""
        data = bytearray(count)
        self.cuda("cuMemcpyDtoH_v2", (ctypes.c_char * count).from_buffer(data), pointer, count)
        return data

    def wait(self):
        """Until the device has done everything; where errors of kernels come up."""
        self.cuda("cuCtxSynchronize")


# ---------------------------------------------------------------- the compiler


class Nvrtc(Api):
    """The compiler, and the release and GPUs it knows."""

    def __init__(self, path):
        super().__init__("nvrtc", path, "nvrtcVersion")
        major, minor = c_int(), c_int()
        self("nvrtcVersion", byref(major), byref(minor))
        self.release, self.known = "%d.%d" % (major.value, minor.value), []
        if self.has("nvrtcGetSupportedArchs"):  # since CUDA 11.2
            known = (c_int * max(1, self.made("nvrtcGetNumSupportedArchs")))()
            self("nvrtcGetSupportedArchs", known)
            self.known = sorted(known)

    def target(self, capability):
        """The option for a GPU: machine code where this release knows it, else PTX for the newest
        it knows below.
        """
        if not self.known:
            return "compute_%d" % (capability or 52)
        if capability is None or capability in self.known:
            form = "sm" if self.has("nvrtcGetCUBIN") else "compute"
            return "%s_%d" % (form, capability or self.known[-1])
        below = [arch for arch in self.known if arch < capability]
        if not below:
            least = "NVRTC %s compiles for sm_%d and newer" % (self.release, self.known[0])
            raise Failed("%s; this GPU is sm_%d" % (least, capability))
        return "compute_%d" % below[-1]

    def text(self, program, what):
        """The log, the PTX or the machine code of a program."""
        length = c_size_t()
        self("nvrtcGet%sSize" % what, program, byref(length))
        data = ctypes.create_string_buffer(max(1, length.value))
        self("nvrtcGet" + what, program, data)
        return data.raw

    def compiled(self, capability):
        """The kernel as machine code; as PTX for the driver's compiler where there is no other."""
        target, program = self.target(capability), c_void_p()
        self("nvrtcCreateProgram", byref(program), KERNEL, b"gpuwhy.cu", 0, None, None)
        option = (ctypes.c_char_p * 1)(b"--gpu-architecture=" + target.encode())
        if self.attempt("nvrtcCompileProgram", program, 1, option):
            log = shown(self.text(program, "ProgramLog").rstrip(b"\0"))
            raise Failed("%s for %s: %s" % (self.error, target, log))
        code = ptx = self.text(program, "PTX")
        if target.startswith("sm_"):
            code = self.text(program, "CUBIN")
        self("nvrtcDestroyProgram", byref(program))
        compare("look at the code", b"twice_and_one" in ptx, "the PTX has no kernel in it")
        return code


# ---------------------------------------------------------------- the group `device`


def device(options):
    """All stages on one GPU, then the next; without a GPU the compiler alone."""
    if not options.gpu:
        compile_for(options, None, {}, None)
        return
    cuda, kernels = Cuda(options), {}
    for index, handle in enumerate(cuda.devices()):
        if not late():
            on_one(options, cuda, index, handle, kernels)


def on_one(options, cuda, index, handle, kernels):
    """All stages on one GPU."""
    context, usable = None, False
    if options.wants("context", index):
        with Stage("context", index) as stage:
            context = Context(cuda, handle)
        usable = stage.ok
    if usable:
        with Stage("memory", index) as stage:
            memory(context)
        usable = stage.ok
    code = compile_for(options, index, kernels, cuda.capability(handle))
    if usable and code:
        context.free()
        with Stage("launch", index):
            launch(context, code)
    if context is not None:
        context.close()


def compile_for(options, index, kernels, capability):
    """The kernel for a capability, compiled once; None where that failed or there is no NVRTC."""
    if options.nvrtc and capability not in kernels and options.wants("nvrtc", index):
        kernels[capability] = None
        folder = os.path.dirname(options.nvrtc)
        with Stage("nvrtc", index):  # its parts, which a framework's RPATH finds, are opened before
            parts = glob.glob(os.path.join(glob.escape(folder), BUILTINS)) if folder else []
            preload(options.preload + sorted(parts))
            kernels[capability] = Nvrtc(options.nvrtc).compiled(capability)
    return kernels.get(capability)


def memory(context):
    """Allocate two pieces, of half of what is free at most; copy there, across and back, set."""
    cuda, free, total = context.cuda, c_size_t(), c_size_t()
    cuda("cuMemGetInfo_v2", byref(free), byref(total))
    count = max(LEAST, min(COPY, free.value // 4))
    data = (bytes(range(251)) * (count // 251 + 1))[:count]  # a prime period: shifted pages show
    here, there = context.allocate(count), context.allocate(count)
    cuda("cuMemcpyHtoD_v2", here, data, count)
    cuda("cuMemcpyDtoD_v2", there, here, count)
    context.wait()
    same = context.download(there, count) == data
    compare("compare the copy", same, "what came back from the GPU is not what was sent")
    cuda("cuMemsetD8_v2", there, 0xA5, count)
    ends = context.download(there, 64) + context.download(there + count - 64, 64)
    right = ends == b"\xa5" * 128
    compare("compare what was set", right, "memory set to one value holds another")


def launch(context, code):
    """Run the kernel on a few blocks, out = 2 in + 1, and compare."""
    cuda, module, function, count = context.cuda, c_void_p(), c_void_p(), THREADS * BLOCKS - 5
    cuda("cuModuleLoadData", byref(module), code)
    values = [float(i % 97) for i in range(count)]
    result = context.upload(bytes(4 * count))
    source = context.upload(struct.pack("%df" % count, *values))
    cuda("cuModuleGetFunction", byref(function), module, b"twice_and_one")
    held = (c_uint64(result), c_uint64(source), c_int(count))
    arguments = (c_void_p * 3)(*(ctypes.addressof(one) for one in held))
    cuda("cuLaunchKernel", function, BLOCKS, 1, 1, THREADS, 1, 1, 0, None, arguments, None)
    context.wait()
    got = struct.unpack("%df" % count, context.download(result, 4 * count))
    wrong = [(i, got[i], 2 * values[i] + 1) for i in range(count) if got[i] != 2 * values[i] + 1]
    words = "element %d is %r instead of %r" % wrong[0] if wrong else ""
    compare("compare with the host", not wrong, words)
    cuda("cuModuleUnload", module)
