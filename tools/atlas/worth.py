"""Worth: which strings of a library are messages that somebody may meet; the rest would only make the atlas large."""

from __future__ import annotations

import os
import re

from gpuwhy.knowledge import codes
from tools.atlas.message import Message

_TROUBLE = re.compile(
    r"fail|error|cannot|can't|could not|couldn't|unable|invalid|unsupported|not support|must|expect|mismatch|missing"
    r"|not found|exceed|too (many|large|small|old)|unknown|only|should|warning|required|no such|illegal|incompatible"
    r"|not (available|implemented|allowed|valid|registered|initialized|enough|compatible)|corrupt|timed? ?out|abort"
    r"|exhausted|insufficient|out of |tried to|does not|doesn't|already|requires|being used",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"(^|/)(llvm|mlir|onednn|oneDNN|mkl-dnn|ideep|absl|protobuf|grpc|boringssl|fbgemm|qnnpack|XNNPACK|kineto|tensorpipe|gloo"
    r"|cpuinfo|flatbuffers|nlohmann|cutlass|dnnl|re2|upb|icu|curl|sqlite|highwayhash|snappy|stablehlo|shardy)[^/]*/"
    r"|onednn|/mkldnn/|lib/(IR|CodeGen|Target|Dialect|Support|Transforms|AsmParser|Bytecode|Pass)/|\.inc$"
)
_OWN = re.compile(
    r"cuda|\bgpus?\b|cudnn|cublas|nccl|nvml|nvidia|\bptx|nvlink|nvshmem|driver|out of memory|pinned|peer|pjrt"
    r"|tensorrt|shared memory|dlopen|compute capability|libdevice",
    re.IGNORECASE,
)
_COMPILERS = frozenset({"triton", "jaxlib", "jax-cuda-pjrt", "jax-cuda-plugin", "tensorflow", "numba-cuda"})
"""Their libraries hold a compiler, with thousands of messages about its own inner language."""
_SYSTEM = frozenset(
    {
        *(os.strerror(number).lower() for number in range(1, 134)),
        *codes.cuda_messages(),
        "cannot open shared object file",
        "out of memory",
    }
)
"""What the C library and the CUDA runtime say: every program that contains them has it, and none is its origin."""
_LATER = frozenset({"FutureWarning", "DeprecationWarning", "PendingDeprecationWarning"})
"""What will be an error one day is none yet, and all projects say it alike."""
_ASSERTED = "INTERNAL ASSERT FAILED at"
"""Such a line names its file itself."""


def worth(package: str, message: Message) -> bool:
    """Whether a message goes into the atlas: all of Python's, of a library's strings those that tell of trouble."""
    text, module = message.text, message.module
    if text.strip(" .:\0\n").lower() in _SYSTEM:
        return False
    if message.kind in _LATER or "will be removed in" in text:
        return False
    if module.endswith(".py") or package in ("python", "numpy"):
        return True
    if _ASSERTED in text or _ASIDE.search(module):
        return False
    if text[:1] in " ,.;:)'\"`]" and len(text) < 40:
        return False
    if "/" in module or not re.search(r"\.so[.\d]*$", module):
        return bool(_TROUBLE.search(text))
    return bool(_TROUBLE.search(text)) and (package not in _COMPILERS or bool(_OWN.search(text)))
