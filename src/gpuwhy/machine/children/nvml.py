"""Asks NVML for everything about the GPUs: `nvml.py [all] FOLDER`; FOLDER holds pynvml.
With `all` also what only a comparison of machines reads: links, clocks, power.

Prints one JSON object a line: {"step": …} before what may die, {"init": …}, {"driver": …},
{"count": …}, {"gpu": index, query: answer} for each query, {"cuda": …}. An answer that failed is
{"error": NVML's name for it}.
"""

import ctypes
import os
import re
import sys
from contextlib import suppress

from talk import say

WINDOWS = os.name == "nt"
ERRORS = {}  # type: dict[int, str]  # code → name, from pynvml's constants
THROTTLE = (
    *("", "application_clocks", "sw_power_cap", "hw_slowdown", "sync_boost", "sw_thermal"),
    *("hw_thermal", "hw_power_brake", "display_clock"),
)
"""What holds the clocks down, by the number of its bit; the first, being idle, is no reason."""
COMPUTE_MODES = ("default", "exclusive_thread", "prohibited", "exclusive_process")
FABRIC = ("not supported", "not started", "in progress", "completed")
MAX_MIG = 64


def text(value):
    """A str from what pynvml of any age returns."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def short(uuid):
    """A UUID cut to the prefix that CUDA_VISIBLE_DEVICES accepts: it identifies nobody."""
    return re.sub(r"([0-9a-fA-F]{8})(-[0-9a-fA-F]+)+", r"\1", text(uuid))


def error_name(code):
    """NVML's name of a code."""
    return ERRORS.get(code, "NVML_ERROR_%d" % code)


def guarded(nvml, ask, *args):
    """The answer of a query, or {"error": …}."""
    try:
        return ask(nvml, *args)
    except nvml.NVMLError as error:
        return {"error": error_name(error.value)}
    except Exception as error:  # a pynvml older than the query, odd values or bytes
        return {"error": "%s: %s" % (type(error).__name__, error)}


def first(nvml, names, *args):
    """Call the first of some functions that both this pynvml and this driver have."""
    last = None
    for name in names:
        function = getattr(nvml, name, None)
        if function is None:
            continue
        try:
            return function(*args)
        except nvml.NVMLError as error:
            if error.value != nvml.NVML_ERROR_FUNCTION_NOT_FOUND:
                raise
            last = error
    raise last or AttributeError(names[0])


def pci(nvml, gpu):
    """Address as sysfs writes it."""
    domain, _, rest = text(nvml.nvmlDeviceGetPciInfo(gpu).busId).lower().partition(":")
    return "%04x:%s" % (int(domain, 16), rest)


def memory(nvml, gpu):
    """Total and free bytes."""
    info = nvml.nvmlDeviceGetMemoryInfo(gpu)
    return {"total": int(info.total), "free": int(info.free)}


def processes(nvml, gpu):
    """Who holds memory, compute and graphics, and whether it is this user's; None: not seen."""
    held = {}
    for kind in ("Compute", "Graphics"):
        names = ["nvmlDeviceGet%sRunningProcesses%s" % (kind, v) for v in ("_v3", "_v2", "")]
        for one in first(nvml, names, gpu):
            pid, used = int(one.pid), one.usedGpuMemory
            known = held.setdefault(pid, {"pid": pid, "memory": None, "mine": None})
            if used is not None:
                known["memory"] = max(known["memory"] or 0, int(used))
            with suppress(OSError):  # on Windows always
                known["mine"] = os.stat("/proc/%d" % pid).st_uid == os.getuid()
    return [held[pid] for pid in sorted(held)]


def mig(nvml, gpu):
    """MIG mode now and after the next reset, and the instances' UUIDs."""
    current, pending = nvml.nvmlDeviceGetMigMode(gpu)
    most = min(MAX_MIG, nvml.nvmlDeviceGetMaxMigDeviceCount(gpu)) if current else 0
    instances = []
    for index in range(most):
        try:
            part = nvml.nvmlDeviceGetMigDeviceHandleByIndex(gpu, index)
            instances.append(short(nvml.nvmlDeviceGetUUID(part)))
        except nvml.NVMLError as error:
            if error.value != nvml.NVML_ERROR_NOT_FOUND:
                raise
    return {"current": bool(current), "pending": bool(pending), "instances": instances}


def rows(nvml, gpu):
    """Remapped rows (Ampere and later)."""
    _, _, pending, failed = nvml.nvmlDeviceGetRemappedRows(gpu)
    return {"pending": bool(pending), "failed": bool(failed)}


def throttle(nvml, gpu):
    """What holds the clocks down now."""
    name = "nvmlDeviceGetCurrentClocks%sReasons"
    bits = int(first(nvml, (name % "Event", name % "Throttle"), gpu))
    return [reason for bit, reason in enumerate(THROTTLE) if reason and bits >> bit & 1]


def fabric(nvml, gpu):
    """How far the card is registered with the NVSwitch fabric."""
    info = nvml.c_nvmlGpuFabricInfo_t()
    nvml.nvmlDeviceGetGpuFabricInfo(gpu, ctypes.byref(info))
    if info.state == 3 and info.status != 0:
        return "failed: " + error_name(info.status)
    return FABRIC[info.state]


QUERIES = (
    ("name", lambda n, gpu: text(n.nvmlDeviceGetName(gpu))),
    ("uuid", lambda n, gpu: short(n.nvmlDeviceGetUUID(gpu))),
    ("pci", pci),
    ("capability", lambda n, gpu: "%d.%d" % tuple(n.nvmlDeviceGetCudaComputeCapability(gpu))),
    ("memory", memory),
    ("compute_mode", lambda n, gpu: COMPUTE_MODES[n.nvmlDeviceGetComputeMode(gpu)]),
    ("mig", mig),
    ("processes", processes),
    ("ecc", lambda n, gpu: int(n.nvmlDeviceGetTotalEccErrors(gpu, 1, 0))),
    ("pages", lambda n, gpu: {"pending": bool(n.nvmlDeviceGetRetiredPagesPendingStatus(gpu))}),
    ("rows", rows),
    ("throttle", throttle),
    ("fabric", fabric),
)
"""What is asked of each GPU; those of `pages` were retired before Ampere, those of `rows` since."""


def nvlink(nvml, gpu):
    """How many links are up; the first that the card does not have ends the count."""
    active = 0
    for link in range(int(getattr(nvml, "NVML_NVLINK_MAX_LINKS", 18))):
        try:
            active += int(nvml.nvmlDeviceGetNvLinkState(gpu, link))
        except nvml.NVMLError as error:
            if error.value in (nvml.NVML_ERROR_NOT_SUPPORTED, nvml.NVML_ERROR_INVALID_ARGUMENT):
                break
            raise
    return active


def clocks(nvml, gpu):
    """The highest SM clock in MHz, and the one that somebody set, where that can be told."""
    limit = guarded(nvml, lambda n: int(n.nvmlDeviceGetApplicationsClock(gpu, n.NVML_CLOCK_SM)))
    return {"max": int(nvml.nvmlDeviceGetMaxClockInfo(gpu, nvml.NVML_CLOCK_SM)), "limit": limit}


def link(nvml, gpu):
    """The PCIe link as it is and as it could be."""
    most = int(nvml.nvmlDeviceGetMaxPcieLinkGeneration(gpu))
    return {"width": int(nvml.nvmlDeviceGetCurrPcieLinkWidth(gpu)), "max_generation": most}


def ecc_mode(nvml, gpu):
    """Whether error correction is on, and whether that changes at the next reset."""
    now, then = ("on" if one else "off" for one in nvml.nvmlDeviceGetEccMode(gpu))
    return now if now == then else "%s, %s after a reset" % (now, then)


MORE = (
    ("pcie", link),
    ("nvlink", nvlink),
    ("clocks", clocks),
    ("power", lambda n, gpu: {"limit": int(n.nvmlDeviceGetEnforcedPowerLimit(gpu)) // 1000}),
    ("ecc_mode", ecc_mode),
)
"""What only a comparison of machines reads."""


def initialise(nvml):
    """Load and start NVML; what it said."""
    say({"step": "loading nvml.dll" if WINDOWS else "loading libnvidia-ml.so.1"})
    try:
        if not WINDOWS:  # there, the binding itself knows the folders of nvml.dll
            ctypes.CDLL("libnvidia-ml.so.1")
    except OSError as error:
        return {"code": 12, "name": error_name(12), "call": "dlopen", "detail": str(error)}
    say({"step": "nvmlInit"})
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        name, detail = error_name(error.value), str(error)
        return {"code": int(error.value), "name": name, "call": "nvmlInit", "detail": detail}
    return {"code": 0}


def main(folder, queries):
    """Initialise, then ask the system and each GPU."""
    if folder:  # an empty one would be the working folder
        sys.path.append(folder)
    try:
        import pynvml as nvml
    except ImportError as error:
        say({"missing": "nvidia-ml-py", "detail": str(error)})
        return
    codes = ((v, k) for k, v in vars(nvml).items() if k.startswith("NVML_ERROR_"))
    ERRORS.update((code, name) for code, name in codes if isinstance(code, int))
    started = initialise(nvml)
    say({"init": started})
    if started["code"] != 0:
        return
    say({"driver": guarded(nvml, lambda n: text(n.nvmlSystemGetDriverVersion()))})
    count = guarded(nvml, lambda n: int(n.nvmlDeviceGetCount()))
    say({"count": count})
    for index in range(count if isinstance(count, int) else 0):
        try:
            gpu = nvml.nvmlDeviceGetHandleByIndex(index)
        except nvml.NVMLError as error:
            say({"gpu": index, "error": error_name(error.value)})
            continue
        for name, query in queries:
            say({"gpu": index, name: guarded(nvml, query, gpu)})
    library = "nvcuda.dll" if WINDOWS else "libcuda.so.1"
    say({"step": "nvmlSystemGetCudaDriverVersion, which loads " + library})
    say({"cuda": guarded(nvml, lambda n: int(n.nvmlSystemGetCudaDriverVersion_v2()))})


if __name__ == "__main__":
    main(sys.argv[-1], QUERIES + (MORE if "all" in sys.argv[1:2] else ()))
