"""The groups `driver` and `device`: the driver library, contexts, memory, a compiled kernel.

A part of probe.py; the other groups take their contexts from here.
"""

import ctypes
import glob
import os
import struct
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p

from probe_api import Api, late, preload, shown, size, version
from probe_talk import Failed, Stage, clock, compare, say

COMPUTE_MODES = ("default", "exclusive_thread", "prohibited", "exclusive_process")
NAME = "nvcuda.dll" if os.name == "nt" else "libcuda.so.1"
MODE, MAJOR, MINOR = 20, 75, 76  # CUdevice_attribute
COPY = 48 << 20
LEAST = 1 << 16  # tried even where less is free: then the driver says what is wrong
KERNEL = b"""
extern "C" __global__ void twice_and_one(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * in[i] + 1.0f;
}
"""
THREADS, BLOCKS = 128, 8


class Cuda(Api):
    """The driver's interface; opening it is a call like others."""

    def __init__(self, options, first=""):
        super().__init__("cuda", options.cuda or NAME, first)

    def attribute(self, which, device):
        """One attribute of a device."""
        return self.made("cuDeviceGetAttribute", which, device, kind=c_int)

    def devices(self):
        """The devices' handles, by CUDA's number of them."""
        self.quiet("cuInit", 0)
        return [self.device(index) for index in range(self.made("cuDeviceGetCount", kind=c_int))]

    def device(self, index):
        """The handle of one device."""
        return self.made("cuDeviceGet", index, kind=c_int)

    def capability(self, device):
        """Compute capability as one number: 90."""
        return 10 * self.attribute(MAJOR, device) + self.attribute(MINOR, device)


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
            cuda.number("cuDriverGetVersion", form=version)
            count = cuda.number("cuDeviceGetCount")
            if count == 0:
                raise Failed("the driver shows no GPU")
            for index in range(count):
                describe(cuda, "GPU %d: " % index, cuda.device(index))


def describe(cuda, lead, device):
    """Print what a device is."""
    words, total = ctypes.create_string_buffer(256), c_size_t()
    cuda("cuDeviceGetName", words, 256, device, text=lambda: lead + shown(words.value))
    cuda("cuDeviceGetPCIBusId", words, 32, device, text=lambda: lead + shown(words.value).lower())
    cuda("cuDeviceTotalMem_v2", byref(total), device, text=lambda: lead + size(total.value))
    capability, mode = cuda.capability(device), cuda.attribute(MODE, device)
    known = COMPUTE_MODES[mode] if 0 <= mode < len(COMPUTE_MODES) else str(mode)
    text = "%scapability %d.%d, compute mode %s" % ((lead,) + divmod(capability, 10) + (known,))
    cuda("cuDeviceGetAttribute", byref(c_int()), MODE, device, text=lambda: text)


class Context:
    """A device's primary context with its memory, as a `with` block that gives all of it back."""

    def __init__(self, cuda, device):
        self.cuda, self.device, self.held = cuda, device, []
        self.handle = c_void_p()
        cuda("cuDevicePrimaryCtxRetain", byref(self.handle), device)
        self.current()

    def current(self):
        """Make it the current context of this thread."""
        self.cuda.quiet("cuCtxSetCurrent", self.handle)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()

    def close(self):
        """Give memory and context back; errors are printed, and change nothing."""
        if self.cuda.attempt("cuCtxSetCurrent", self.handle, quiet=True) == 0:
            self.free()
        self.cuda.attempt("cuDevicePrimaryCtxRelease", self.device, quiet=True)

    def room(self, wanted):
        """How many bytes a test may take: what it wants, the limit, or half of what is free."""
        free, total = c_size_t(), c_size_t()

        def text():
            words = "%s of %s free" % (size(free.value), size(total.value))
            taken = min(wanted, free.value // 2)
            cut = "; the test takes %s instead of %s" % (size(taken), size(wanted))
            return words if taken == wanted else words + cut

        self.cuda("cuMemGetInfo_v2", byref(free), byref(total), text=text)
        return min(wanted, free.value // 2)

    def allocate(self, count, **how):
        """Device memory, given back at the end."""
        pointer = c_uint64()
        self.cuda("cuMemAlloc_v2", byref(pointer), count, text=lambda: size(count), **how)
        self.held.append(pointer.value)
        return pointer.value

    def free(self):
        """Give all memory back."""
        while self.held:
            self.cuda.attempt("cuMemFree_v2", self.held.pop(), quiet=True)

    def upload(self, data):
        """New device memory with these bytes."""
        pointer = self.allocate(len(data), quiet=True)
        self.cuda.quiet("cuMemcpyHtoD_v2", pointer, bytes(data), len(data))
        return pointer

    def download(self, pointer, count):
        """Bytes of device memory."""
        data = bytearray(count)
        view = (ctypes.c_char * count).from_buffer(data)
        self.cuda("cuMemcpyDtoH_v2", view, pointer, count)
        return data

    def wait(self, **how):
        """Until the device has done everything; where errors of kernels come up."""
        self.cuda("cuCtxSynchronize", **how)

    def rate(self, what, index, amount, unit, work):
        """Print how much of something is done a second, in the best of some tries."""
        taken = []
        for _ in range(4):
            start = clock()
            work()
            self.wait(quiet=True)
            taken.append(clock() - start)
        per_second = round(amount / max(min(taken), 1e-9), 1)
        say({"rate": what, "device": index, "per_second": per_second, "unit": unit})


# ---------------------------------------------------------------- NVRTC


class Nvrtc(Api):
    """The compiler, and the release and GPUs it knows."""

    def __init__(self, path):
        super().__init__("nvrtc", path, "nvrtcVersion")
        major, minor = c_int(), c_int()
        self("nvrtcVersion", byref(major), byref(minor))
        self.release, self.known = "%d.%d" % (major.value, minor.value), []
        if self.has("nvrtcGetSupportedArchs"):  # since CUDA 11.2
            known = (c_int * max(1, self.number("nvrtcGetNumSupportedArchs")))()
            self.quiet("nvrtcGetSupportedArchs", known)
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
        self.quiet("nvrtcGet%sSize" % what, program, byref(length))
        data = ctypes.create_string_buffer(max(1, length.value))
        self.quiet("nvrtcGet" + what, program, data)
        return data.raw

    def compiled(self, capability):
        """The kernel as machine code (nothing where only PTX can be made) and as PTX."""
        target, program = self.target(capability), c_void_p()
        self.quiet("nvrtcCreateProgram", byref(program), KERNEL, b"gpuwhy.cu", 0, None, None)
        option = (c_char_p * 1)(b"--gpu-architecture=" + target.encode())
        if self.attempt("nvrtcCompileProgram", program, 1, option, text=lambda: "for " + target):
            log = shown(self.text(program, "ProgramLog").rstrip(b"\0"))
            raise Failed("%s for %s: %s" % (self.error, target, log))
        machine = self.text(program, "CUBIN") if target.startswith("sm_") else b""
        ptx = self.text(program, "PTX")
        self.quiet("nvrtcDestroyProgram", byref(program))
        wrong = "" if b"twice_and_one" in ptx else "the PTX has no kernel in it"
        compare("look at the code", wrong)
        return machine, ptx


def builtins(path):
    """The compiler's parts, which a framework's RPATH finds and our process does not."""
    name = "nvrtc-builtins64*" if os.name == "nt" else "libnvrtc-builtins.so*"
    folder = os.path.dirname(path)
    return sorted(glob.glob(os.path.join(glob.escape(folder), name))) if folder else []


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
            context.room(0)
        usable = stage.ok
    if usable:
        with Stage("memory", index) as stage:
            memory(context, index)
        usable = stage.ok
    code = compile_for(options, index, kernels, cuda.capability(handle))
    if usable and code:
        context.free()
        with Stage("launch", index) as stage:
            launch(context, code, stage)
    if context is not None:
        context.close()


def compile_for(options, index, kernels, capability):
    """The kernel for a capability, compiled once; None where that failed or there is no NVRTC."""
    if options.nvrtc and capability not in kernels and options.wants("nvrtc", index):
        kernels[capability] = None
        with Stage("nvrtc", index):
            preload(options.preload + builtins(options.nvrtc))
            kernels[capability] = Nvrtc(options.nvrtc).compiled(capability)
    return kernels.get(capability)


def memory(context, index):
    """Allocate two pieces, copy there, across and back, compare, set, free."""
    cuda, count = context.cuda, max(LEAST, context.room(2 * COPY) // 2)
    data = (bytes(range(251)) * (count // 251 + 1))[:count]  # a prime period: shifted pages show
    here, there = context.allocate(count), context.allocate(count)
    cuda("cuMemcpyHtoD_v2", here, data, count)
    cuda("cuMemcpyDtoD_v2", there, here, count)
    context.wait()
    same = context.download(there, count) == data
    compare("compare the copy", "" if same else "what came back from the GPU is not what was sent")
    cuda("cuMemsetD8_v2", there, 0xA5, count)
    ends = context.download(there, 64) + context.download(there + count - 64, 64)
    wrong = "" if ends == b"\xa5" * 128 else "memory set to one value holds another"
    compare("compare what was set", wrong)
    copies = [lambda: cuda.quiet("cuMemcpyDtoD_v2", there, here, count)] * 4
    context.rate("copy on the GPU", index, 4 * count, "B/s", lambda: [one() for one in copies])
    context.free()


def launch(context, code, stage):
    """Run the kernel and compare; PTX for the driver's compiler is tried too, and only noted."""
    machine, ptx = code
    cuda, module = context.cuda, c_void_p()
    cuda("cuModuleLoadData", byref(module), machine or ptx)
    run(context, module)
    cuda.quiet("cuModuleUnload", module)
    if not machine:
        stage.why = "this NVRTC makes only PTX for this GPU: the driver compiled it"
        return
    refused = cuda.attempt("cuModuleLoadData", byref(module), ptx)
    if refused:
        name, _ = cuda.described(refused)
        stage.why = "machine code runs, but the driver does not take this NVRTC's PTX (%s)" % name
    else:
        cuda.quiet("cuModuleUnload", module)


def run(context, module):
    """out = 2 in + 1, on a few blocks."""
    cuda, function, count = context.cuda, c_void_p(), THREADS * BLOCKS - 5
    values = [float(i % 97) for i in range(count)]
    into = context.upload(bytes(4 * count))
    out_of = context.upload(struct.pack("%df" % count, *values))
    cuda.quiet("cuModuleGetFunction", byref(function), module, b"twice_and_one")
    held = (c_uint64(into), c_uint64(out_of), c_int(count))
    arguments = (c_void_p * 3)(*(ctypes.addressof(one) for one in held))
    cuda("cuLaunchKernel", function, BLOCKS, 1, 1, THREADS, 1, 1, 0, None, arguments, None)
    context.wait()
    got = struct.unpack("%df" % count, context.download(into, 4 * count))
    first = next((i for i in range(count) if got[i] != 2 * values[i] + 1), None)
    wrong = "element %d is %r instead of %r"
    compare(
        "compare with the host",
        "" if first is None else wrong % (first, got[first], 2 * values[first] + 1),
    )
