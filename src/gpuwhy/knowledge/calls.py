"""Calls of CUDA and of its libraries: which one a text names, and what it works on."""

from __future__ import annotations

import re
from functools import cache

import msgspec

from gpuwhy.knowledge.tables import rows

_LIBRARY = re.compile(r"cu(blas|sparse|solver|fft|rand|dnn)|nv(rtc|jitlink|ml)|nccl")
_CALL = re.compile(
    r"\b(?P<call>(?:cublas(?:Lt|Xt)?|cusparse|cusolver|cufft|curand|cudnn|nvrtc|nvJitLink|nccl"
    r"|nvml)(?!Status|Result|Error)[A-Z]\w{2,60}"
    r"|cuda(?!Error|Success|Runtime|Driver|DevAttr|LimitM|FuncAttr|MemcpyHost|MemcpyDevice"
    r"|MemcpyDefault)[A-Z][a-z]\w{2,60}|cu(?!da)[A-Z][a-z]\w{2,60})\b"
)
_WORKS = re.compile(r"create$|createhandle|handlecreate|init(?:ialize)?$|setup|plan\w*$|makeplan")


class _Family(msgspec.Struct, frozen=True):
    """What calls work on, and how their names begin, without cuda or cu; the first row counts."""

    family: str
    pattern: str


def call_in(text: str) -> str:
    """The first call of CUDA or of its libraries that a text names; "" where it names none."""
    found = _CALL.search(text)
    return found["call"] if found else ""


@cache
def family_of(call: str) -> str:
    """The family of a call: what it works on; "" where its name does not tell."""
    lower = call.lower()
    library = _LIBRARY.match(lower)
    if library and library[0] == "nvml":
        return "handle" if "gethandleby" in lower else "work"
    if library:
        return "create" if _WORKS.search(lower.removesuffix("_v2")) else "work"
    bare = lower.removeprefix("cuda").removeprefix("cu")
    families = rows("calls.jsonl", _Family)
    return next((row.family for row in families if re.match(row.pattern, bare)), "")
