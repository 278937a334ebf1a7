"""The driver library: its stages, and contexts with memory for the others. A part of probe.py."""

import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p

from probe_talk import Api, Failed, Stage, load, opened, say, shown, size, tell_library, version

SIGNATURES = {
    "cuInit": (c_int, [c_uint]),
    "cuDriverGetVersion": (c_int, [POINTER(c_int)]),
    "cuDeviceGetCount": (c_int, [POINTER(c_int)]),
    "cuDeviceGet": (c_int, [POINTER(c_int), c_int]),
    "cuDeviceGetName": (c_int, [c_char_p, c_int, c_int]),
    "cuDeviceGetAttribute": (c_int, [POINTER(c_int), c_int, c_int]),
    "cuDeviceGetPCIBusId": (c_int, [c_char_p, c_int, c_int]),
    "cuDeviceTotalMem_v2": (c_int, [POINTER(c_size_t), c_int]),
    "cuDevicePrimaryCtxRetain": (c_int, [POINTER(c_void_p), c_int]),
    "cuDevicePrimaryCtxRelease": (c_int, [c_int]),
    "cuCtxSetCurrent": (c_int, [c_void_p]),
    "cuCtxSynchronize": (c_int, []),
    "cuMemGetInfo_v2": (c_int, [POINTER(c_size_t), POINTER(c_size_t)]),
    "cuMemAlloc_v2": (c_int, [POINTER(c_uint64), c_size_t]),
    "cuMemFree_v2": (c_int, [c_uint64]),
    "cuMemcpyHtoD_v2": (c_int, [c_uint64, c_void_p, c_size_t]),
    "cuMemcpyDtoH_v2": (c_int, [c_void_p, c_uint64, c_size_t]),
    "cuMemcpyDtoD_v2": (c_int, [c_uint64, c_uint64, c_size_t]),
    "cuMemsetD8_v2": (c_int, [c_uint64, ctypes.c_ubyte, c_size_t]),
    "cuMemsetD32_v2": (c_int, [c_uint64, c_uint, c_size_t]),
    "cuModuleLoadData": (c_int, [POINTER(c_void_p), c_char_p]),
    "cuModuleGetFunction": (c_int, [POINTER(c_void_p), c_void_p, c_char_p]),
    "cuModuleUnload": (c_int, [c_void_p]),
    "cuLaunchKernel": (
        c_int,
        [c_void_p] + [c_uint] * 7 + [c_void_p, POINTER(c_void_p), POINTER(c_void_p)],
    ),
    "cuGetErrorName": (c_int, [c_int, POINTER(c_char_p)]),
    "cuGetErrorString": (c_int, [c_int, POINTER(c_char_p)]),
}
NAMES = {
    2: "OUT_OF_MEMORY",
    3: "NOT_INITIALIZED",
    34: "STUB_LIBRARY",
    46: "DEVICE_UNAVAILABLE",
    100: "NO_DEVICE",
    101: "INVALID_DEVICE",
    200: "INVALID_IMAGE",
    209: "NO_BINARY_FOR_GPU",
    304: "OPERATING_SYSTEM",
    719: "LAUNCH_FAILED",
    802: "SYSTEM_NOT_READY",
    803: "SYSTEM_DRIVER_MISMATCH",
    804: "COMPAT_NOT_SUPPORTED_ON_DEVICE",
    999: "UNKNOWN",
}
"""For drivers that do not name their own codes: stubs, and releases older than the code."""

COMPUTE_MODES = ("default", "exclusive_thread", "prohibited", "exclusive_process")
NAME = "nvcuda.dll" if os.name == "nt" else "libcuda.so.1"
MODE, MAJOR, MINOR = 20, 75, 76  # CUdevice_attribute


class Cuda(Api):
    """The driver's interface; opening it is a call like others."""

    def __init__(self, options):
        library = load(options.libraries.get("cuda", NAME))
        Api.__init__(self, library, SIGNATURES, self.name_of)

    def name_of(self, code):
        """The driver's name and words for a code."""
        words = []
        for name in ("cuGetErrorName", "cuGetErrorString"):
            text = c_char_p()
            known = self.has(name) and self.function(name)(code, byref(text)) == 0
            words.append(shown(text.value) if known else "")
        return words[0] or "CUDA_ERROR_" + NAMES.get(code, str(code)), words[1]

    def number(self, name, *arguments, **how):
        """The int that a call writes to its first argument."""
        value = c_int()
        self(name, byref(value), *arguments, text=lambda: how.get("text", "%d") % value.value)
        return value.value

    def attribute(self, which, device):
        """One attribute of a device."""
        value = c_int()
        self.quiet("cuDeviceGetAttribute", byref(value), which, device)
        return value.value

    def devices(self):
        """The devices' handles, by CUDA's number of them."""
        self.quiet("cuInit", 0)
        count, handles = c_int(), []
        self.quiet("cuDeviceGetCount", byref(count))
        for index in range(count.value):
            handle = c_int()
            self.quiet("cuDeviceGet", byref(handle), index)
            handles.append(handle.value)
        return handles

    def capability(self, device):
        """Compute capability as one number: 90."""
        return 10 * self.attribute(MAJOR, device) + self.attribute(MINOR, device)


def driver(options):
    """The group `driver`: libcuda, init, devices."""
    with Stage("libcuda") as loaded:
        cuda = Cuda(options)
        tell_library(cuda.function("cuInit"))
    if not loaded.ok:
        return
    with Stage("init") as started:
        cuda("cuInit", 0)
    if started.ok:
        with Stage("devices"):
            devices(cuda)


def devices(cuda):
    """What the driver says of itself and of each device."""
    release = c_int()
    cuda("cuDriverGetVersion", byref(release), text=lambda: version(release.value))
    count = cuda.number("cuDeviceGetCount")
    if count == 0:
        raise Failed("the driver shows no GPU")
    for index in range(count):
        handle = c_int()
        cuda.quiet("cuDeviceGet", byref(handle), index)
        describe(cuda, index, handle.value)


def describe(cuda, index, device):
    """Print what a device is."""
    lead = "GPU %d: " % index
    name, bus, total = ctypes.create_string_buffer(256), ctypes.create_string_buffer(32), c_size_t()
    cuda("cuDeviceGetName", name, 256, device, text=lambda: lead + shown(name.value))
    cuda("cuDeviceGetPCIBusId", bus, 32, device, text=lambda: lead + shown(bus.value).lower())
    cuda("cuDeviceTotalMem_v2", byref(total), device, text=lambda: lead + "%d bytes" % total.value)
    capability, mode = cuda.capability(device), cuda.attribute(MODE, device)
    known = COMPUTE_MODES[mode] if 0 <= mode < len(COMPUTE_MODES) else str(mode)
    text = "%scapability %d.%d, compute mode %s" % (lead, capability // 10, capability % 10, known)
    cuda("cuDeviceGetAttribute", byref(c_int()), MODE, device, text=lambda: text)


class Context(object):
    """A device's primary context and what is allocated in it, as a `with` block that gives all of
    it back.
    """

    def __init__(self, cuda, device, limit):
        self.cuda, self.device, self.limit = cuda, device, limit
        self.held, self.meter = [], Meter(cuda, device)
        handle = c_void_p()
        cuda("cuDevicePrimaryCtxRetain", byref(handle), device)
        self.handle = handle
        self.current()
        self.meter.mark()

    def current(self):
        """Make it the current context of this thread."""
        self.cuda.quiet("cuCtxSetCurrent", self.handle)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()
        return False

    def close(self):
        """Give memory and context back; errors are printed, and change nothing."""
        if self.cuda.attempt("cuCtxSetCurrent", self.handle, quiet=True) == 0:
            self.free()
        self.cuda.attempt("cuDevicePrimaryCtxRelease", self.device, quiet=True)

    def room(self, wanted):
        """How many bytes a test may take: what it wants, the limit, or half of what is free;
        printed if it is less.
        """
        free, total = c_size_t(), c_size_t()

        def text():
            allowed = min(wanted, self.limit, free.value // 2)
            cut = (
                ""
                if allowed == wanted
                else "; the test takes %s instead of %s" % (size(allowed), size(wanted))
            )
            return "%s of %s free%s" % (size(free.value), size(total.value), cut)

        self.cuda("cuMemGetInfo_v2", byref(free), byref(total), text=text)
        return min(wanted, self.limit, free.value // 2)

    def allocate(self, count, **how):
        """Device memory, given back at the end."""
        pointer = c_uint64()
        self.cuda("cuMemAlloc_v2", byref(pointer), count, text=lambda: size(count), **how)
        self.held.append(pointer.value)
        self.meter.mark()
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
        self.cuda.quiet(
            "cuMemcpyDtoH_v2", (ctypes.c_char * count).from_buffer(data), pointer, count
        )
        return data

    def wait(self, **how):
        """Until the device has done everything; where errors of kernels come up."""
        self.cuda("cuCtxSynchronize", **how)


class NvmlMemory(ctypes.Structure):
    """nvmlMemory_t."""

    _fields_ = [
        ("total", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    ]


class Meter(object):
    """How much more of a GPU's memory is used than when we came, by NVML; others' changes count
    too.
    """

    height = 0  # of all meters of this process

    def __init__(self, cuda, device):
        self.handle, self.before = None, 0
        bus = ctypes.create_string_buffer(32)
        try:
            cuda.quiet("cuDeviceGetPCIBusId", bus, 32, device)
            say({"calling": "nvmlInit_v2"})
            self.nvml = opened("nvml.dll" if os.name == "nt" else "libnvidia-ml.so.1")
            handle = c_void_p()
            self.nvml.nvmlDeviceGetHandleByPciBusId_v2.argtypes = [c_char_p, POINTER(c_void_p)]
            self.nvml.nvmlDeviceGetMemoryInfo.argtypes = [c_void_p, POINTER(NvmlMemory)]
            if (
                self.nvml.nvmlInit_v2() == 0
                and self.nvml.nvmlDeviceGetHandleByPciBusId_v2(bus, byref(handle)) == 0
            ):
                self.handle = handle
                self.before = self.used()
        except (Failed, OSError, AttributeError):  # without NVML nothing is said
            self.handle = None

    def used(self):
        """Bytes in use on the GPU."""
        info = NvmlMemory()
        return (
            info.used
            if self.nvml.nvmlDeviceGetMemoryInfo(self.handle, byref(info)) == 0
            else self.before
        )

    def mark(self):
        """Look now."""
        if self.handle is not None:
            Meter.height = max(Meter.height, self.used() - self.before)


def tell_memory():
    """Print the height, where it is known."""
    if Meter.height:
        say({"memory": Meter.height})
