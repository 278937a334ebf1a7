"""The group `device`: a context, memory, a kernel compiled by NVRTC and launched, per GPU. A part
of probe.py.
"""

import ctypes
import os
import struct
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p

from probe_driver import Context, Cuda
from probe_talk import (
    Api,
    Failed,
    Stage,
    clock,
    compare,
    late,
    load,
    opened,
    preload,
    say,
    shown,
    size,
    tell_library,
)

COPY = 48 << 20
LEAST = 1 << 16  # tried even where less is free: then the driver says what is wrong
KERNEL = b"""
extern "C" __global__ void twice_and_one(float *out, const float *in, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * in[i] + 1.0f;
}
"""
THREADS, BLOCKS = 128, 8
NVRTC = {
    "nvrtcVersion": (c_int, [POINTER(c_int), POINTER(c_int)]),
    "nvrtcGetNumSupportedArchs": (c_int, [POINTER(c_int)]),
    "nvrtcGetSupportedArchs": (c_int, [POINTER(c_int)]),
    "nvrtcCreateProgram": (
        c_int,
        [POINTER(c_void_p), c_char_p, c_char_p, c_int, c_void_p, c_void_p],
    ),
    "nvrtcCompileProgram": (c_int, [c_void_p, c_int, POINTER(c_char_p)]),
    "nvrtcGetProgramLogSize": (c_int, [c_void_p, POINTER(c_size_t)]),
    "nvrtcGetProgramLog": (c_int, [c_void_p, c_char_p]),
    "nvrtcGetPTXSize": (c_int, [c_void_p, POINTER(c_size_t)]),
    "nvrtcGetPTX": (c_int, [c_void_p, c_char_p]),
    "nvrtcGetCUBINSize": (c_int, [c_void_p, POINTER(c_size_t)]),
    "nvrtcGetCUBIN": (c_int, [c_void_p, c_char_p]),
    "nvrtcDestroyProgram": (c_int, [POINTER(c_void_p)]),
    "nvrtcGetErrorString": (c_char_p, [c_int]),
}


def open_beside(path, start):
    """Open the parts in a library's own folder, which a framework's RPATH finds for it and our
    process does not.
    """
    folder = os.path.dirname(path)
    for name in sorted(os.listdir(folder) if folder else []):
        if name.startswith(start):
            try:
                opened(os.path.join(folder, name))
            except OSError:
                pass  # the compiler itself will say what is wrong with it


class Nvrtc(Api):
    """The compiler, and the release and GPUs it knows."""

    def __init__(self, options):
        open_beside(
            options.libraries["nvrtc"],
            "nvrtc-builtins64" if os.name == "nt" else "libnvrtc-builtins.so",
        )
        Api.__init__(self, load(options.libraries["nvrtc"]), NVRTC, self.name_of)
        tell_library(self.function("nvrtcVersion"))
        major, minor = c_int(), c_int()
        self(
            "nvrtcVersion",
            byref(major),
            byref(minor),
            text=lambda: "%d.%d" % (major.value, minor.value),
        )
        self.release = "%d.%d" % (major.value, minor.value)
        self.known = self.architectures()

    def name_of(self, code):
        """NVRTC's name of a code; it has no other words."""
        return shown(self.function("nvrtcGetErrorString")(code)), ""

    def architectures(self):
        """The capabilities it compiles for; none before CUDA 11.2, which does not tell."""
        if not self.has("nvrtcGetSupportedArchs"):
            return []
        count = c_int()
        self.quiet("nvrtcGetNumSupportedArchs", byref(count))
        known = (c_int * max(1, count.value))()
        self(
            "nvrtcGetSupportedArchs", known, text=lambda: " ".join("sm_%d" % arch for arch in known)
        )
        return sorted(known)

    def target(self, capability):
        """The option for a GPU: machine code where this release knows it, else PTX for the newest
        it knows below.
        """
        if not self.known:
            return "compute_%d" % (capability or 52)
        if capability is None or capability in self.known:
            return ("sm_%d" if self.has("nvrtcGetCUBIN") else "compute_%d") % (
                capability or self.known[-1]
            )
        below = [arch for arch in self.known if arch < capability]
        if not below:
            text = "NVRTC %s compiles for sm_%d and newer; this GPU is sm_%d"
            raise Failed(text % (self.release, self.known[0], capability))
        return "compute_%d" % below[-1]


def text_of(nvrtc, program, what):
    """The log, the PTX or the machine code of a program."""
    length = c_size_t()
    nvrtc.quiet("nvrtcGet%sSize" % what, program, byref(length))
    data = ctypes.create_string_buffer(max(1, length.value))
    nvrtc.quiet("nvrtcGet" + what, program, data)
    return data.raw


def compiled(nvrtc, capability):
    """The kernel as machine code (nothing where only PTX can be made) and as PTX."""
    target = nvrtc.target(capability)
    program = c_void_p()
    nvrtc.quiet("nvrtcCreateProgram", byref(program), KERNEL, b"gpuwhy.cu", 0, None, None)
    option = (c_char_p * 1)(("--gpu-architecture=" + target).encode("ascii"))
    code = nvrtc.attempt("nvrtcCompileProgram", program, 1, option, text=lambda: "for " + target)
    if code != 0:
        log = shown(text_of(nvrtc, program, "ProgramLog").rstrip(b"\0"))
        raise Failed("%s for %s: %s" % (nvrtc.error, target, log))
    machine = text_of(nvrtc, program, "CUBIN") if target.startswith("sm_") else b""
    ptx = text_of(nvrtc, program, "PTX")
    nvrtc.quiet("nvrtcDestroyProgram", byref(program))
    right = "%s of machine code, %s of PTX" % (size(len(machine)), size(len(ptx)))
    compare(
        "look at the code", "" if b"twice_and_one" in ptx else "the PTX has no kernel in it", right
    )
    return machine, ptx


def device(options):
    """The group `device`: all on one GPU, then the next; without a GPU the compiler alone."""
    if not options.gpu:
        compile_for(options, None, {}, None)
        return
    cuda = Cuda(options)
    kernels = {}
    for index, handle in enumerate(cuda.devices()):
        if late():
            return
        on_one(options, cuda, index, handle, kernels)


def on_one(options, cuda, index, handle, kernels):
    """All stages on one GPU."""
    context, usable = None, False
    if options.wants("context", index):
        with Stage("context", index) as stage:
            context = Context(cuda, handle, options.limit)
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
    if "nvrtc" in options.libraries and capability not in kernels and options.wants("nvrtc", index):
        kernels[capability] = None
        with Stage("nvrtc", index):
            preload(options.preload)
            kernels[capability] = compiled(Nvrtc(options), capability)
    return kernels.get(capability)


def best(work, times=3):
    """The shortest time in which a piece of work was done."""
    taken = []
    for _ in range(times):
        start = clock()
        work()
        taken.append(clock() - start)
    return max(min(taken), 1e-9)


def rate(what, index, per_second, unit):
    """Print a rate."""
    say({"rate": what, "device": index, "per_second": round(per_second, 1), "unit": unit})


def memory(context, index):
    """Allocate two pieces, copy there, across and back, compare, set, free."""
    cuda, count = context.cuda, max(LEAST, context.room(2 * COPY) // 2)
    data = (bytes(range(251)) * (count // 251 + 1))[
        :count
    ]  # a prime period: shifted or doubled pages show
    here, there = context.allocate(count), context.allocate(count)
    cuda("cuMemcpyHtoD_v2", here, data, count)
    cuda("cuMemcpyDtoD_v2", there, here, count)
    context.wait()
    back = bytearray(count)
    view = (ctypes.c_char * count).from_buffer(back)
    cuda("cuMemcpyDtoH_v2", view, there, count)
    compare(
        "compare the copy",
        "" if back == data else "what came back from the GPU is not what was sent",
    )
    cuda("cuMemsetD8_v2", there, 0xA5, count)
    ends = context.download(there, 64) + context.download(there + count - 64, 64)
    compare(
        "compare what was set",
        "" if ends == b"\xa5" * 128 else "memory set to one value holds another",
    )
    rates(context, index, data, here, there)
    context.free()


def rates(context, index, data, here, there):
    """How fast copies are."""
    cuda, count = context.cuda, len(data)

    def across():
        for _ in range(4):
            cuda.quiet("cuMemcpyDtoD_v2", there, here, count)
        context.wait(quiet=True)

    there_s = best(lambda: cuda.quiet("cuMemcpyHtoD_v2", here, data, count))
    rate("copy to the GPU", index, count / there_s, "B/s")
    rate("copy on the GPU", index, 4 * count / best(across), "B/s")


def launch(context, code, stage):
    """Run the kernel and compare; PTX for the driver's compiler is tried too, and only noted."""
    machine, ptx = code
    cuda, module = context.cuda, c_void_p()
    text = "PTX, compiled by the driver" if not machine else "machine code"
    cuda("cuModuleLoadData", byref(module), machine or ptx, text=lambda: text)
    run(context, module)
    cuda.quiet("cuModuleUnload", module)
    if not machine:
        stage.why = "this NVRTC makes only PTX for this GPU: the driver compiled it"
    else:
        code = cuda.attempt(
            "cuModuleLoadData", byref(module), ptx, text=lambda: "PTX, compiled by the driver"
        )
        if code:
            stage.why = (
                "machine code runs, but the driver does not take this NVRTC's PTX (%s)"
                % cuda.name_of(code)[0]
            )
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
    wrong = next((i for i in range(count) if got[i] != 2 * values[i] + 1), None)
    compare(
        "compare with the host",
        ""
        if wrong is None
        else "element %d is %r instead of %r" % (wrong, got[wrong], 2 * values[wrong] + 1),
    )
