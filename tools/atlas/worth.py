"""Worth: which strings of a library are messages that somebody may meet; the rest would only make the atlas large."""

from __future__ import annotations

import re

from tools.atlas.message import Message

_STACK = re.compile(
    r"cuda|gpu|cudnn|cublas|nccl|nvml|nvidia|ptx|nvlink|\bsm_|driver|device|kernel|stream|out of memory|allocat|pinned"
    r"|peer|plugin|xla|pjrt|tensorrt|onednn|shared memory|platform|backend|graph|collective|rendezvous|rank|library"
    r"|dlopen|symbol",
    re.IGNORECASE,
)
_TROUBLE = re.compile(
    r"fail|error|cannot|can't|could not|couldn't|unable|invalid|unsupported|not support|must|expect|mismatch|missing"
    r"|not found|exceed|too (many|large|small|old)|unknown|only|should|warning|required|no such|illegal|incompatible"
    r"|not (available|implemented|allowed|valid|registered|initialized|enough|compatible)|corrupt|timed? ?out|abort"
    r"|exhausted|insufficient|out of |tried to|does not|doesn't|already",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"(^|/)(llvm|mlir|onednn|oneDNN|mkl-dnn|ideep|absl|protobuf|grpc|boringssl|fbgemm|qnnpack|XNNPACK|kineto|tensorpipe|gloo"
    r"|cpuinfo|flatbuffers|nlohmann|cutlass|dnnl|re2|upb|icu|curl|sqlite|highwayhash|snappy|stablehlo|shardy)[^/]*/"
    r"|onednn|/mkldnn/|lib/(IR|CodeGen|Target|Dialect|Support|Transforms|AsmParser|Bytecode|Pass)/|\.inc$"
)
_COMPILERS = frozenset({"triton", "jaxlib", "jax-cuda-pjrt", "jax-cuda-plugin", "tensorflow", "numba-cuda"})
"""Their libraries hold a compiler, with thousands of messages about its own inner language."""
_ASSERTED = "INTERNAL ASSERT FAILED at"
"""Such a line names its file itself."""


def worth(package: str, message: Message) -> bool:
    """Whether a message goes into the atlas: all of Python's, of a library's strings those that tell of trouble."""
    text, module = message.text, message.module
    if module.endswith(".py") or package in ("python", "numpy"):
        return True
    if _ASSERTED in text or _ASIDE.search(module):
        return False
    if text[:1] in " ,.;:)'\"`]" and len(text) < 40:
        return False
    if "/" in module or not re.search(r"\.so[.\d]*$", module):
        return bool(_TROUBLE.search(text))
    return bool(_TROUBLE.search(text)) and (package not in _COMPILERS or bool(_STACK.search(text)))
