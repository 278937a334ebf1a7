"""The libraries in this process on Windows; a part of probe.py and framework.py. Python 3.5 and
newer.
"""

import ctypes

MOST = 4096
LONGEST = 32768  # characters of a path


class Span(ctypes.Structure):
    """MODULEINFO."""

    _fields_ = [("start", ctypes.c_void_p), ("size", ctypes.c_uint32), ("entry", ctypes.c_void_p)]


def modules():
    """(start, end, path) of every library, in load order; paths with forward slashes."""
    kernel = ctypes.WinDLL("kernel32")
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    process = ctypes.c_void_p(kernel.GetCurrentProcess())
    handles, needed = (ctypes.c_void_p * MOST)(), ctypes.c_uint32()
    if not kernel.K32EnumProcessModules(
        process, handles, ctypes.sizeof(handles), ctypes.byref(needed)
    ):
        return []
    text, out = ctypes.create_unicode_buffer(LONGEST), []
    for handle in handles[: needed.value // ctypes.sizeof(ctypes.c_void_p)]:
        span, module = Span(), ctypes.c_void_p(handle)
        told = kernel.K32GetModuleInformation(
            process, module, ctypes.byref(span), ctypes.sizeof(span)
        )
        if told and kernel.GetModuleFileNameW(module, text, LONGEST):
            out.append((span.start, span.start + span.size, text.value.replace("\\", "/")))
    return out
