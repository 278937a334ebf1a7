"""Names of variables among a library's strings, found while it streams past: whole strings of a family's prefixes."""

from __future__ import annotations

import re
from collections.abc import Iterable

_OVERLAP = 128
NOT_VARIABLES = re.compile(
    r"(?:CUDA|CUDNN|CUBLAS|CUFFT|CURAND|CUSOLVER|CUSPARSE|NVML|NCCL|NVRTC|CUPTI)_"
    r"(?:ERROR|STATUS|SUCCESS|RESULT|ATTR|TYPE|BACKEND|DATA|TENSOR|POINTWISE|HEUR|KNOB|NUMERICAL|OP_|GEMM|COMPUTE_|R_|C_)\w*"
    r"|TF_(?:OK|FLOAT|DOUBLE|U?INT\d+|STRING|BOOL|RESOURCE|VARIANT|COMPLEX\w*|Q\w+|HALF|BFLOAT16|CANCELLED|UNKNOWN"
    r"|INVALID_ARGUMENT|DEADLINE_EXCEEDED|NOT_FOUND|ALREADY_EXISTS|PERMISSION_DENIED|UNAUTHENTICATED|RESOURCE_EXHAUSTED"
    r"|FAILED_PRECONDITION|ABORTED|OUT_OF_RANGE|UNIMPLEMENTED|INTERNAL|UNAVAILABLE|DATA_LOSS|FLOAT8\w*|INVALID\w*)"
    r"|CUDNN_(?!LOG|FRONTEND|ERRATA)\w+|CUBLAS_(?:ATOMICS|DEFAULT|DIAG|FILL|PEDANTIC|POINTER|SIDE|TF32|FP32|EMULATION_STRATEGY_)\w*"
    r"|CUDA_(?:API_FAILED|CPU)|NCCL_(?:LOG_\w+|INIT|CTA_POLICY_\w+)|TORCH_(?:FUNCTION_MODE_STACK|INCLUDE_\w+)|TPU_REPLICATED\w*|XLA_[CG]PU"
    r"|\w*_(?:VERSION_TUPLE|MAX_ENUM)|CUDA_[CR]_\d+[A-Z]+|TORCH_(?:CHECK|INTERNAL_ASSERT|WARN|LIBRARY|API)\w*"
)


def names(pieces: Iterable[bytes], prefixes: tuple[str, ...]) -> set[str]:
    """The whole strings that start with a prefix and look like a variable's name."""
    heads = b"|".join(p.encode() for p in prefixes)
    found = re.compile(rb"(?<=\0)((?:" + heads + rb")_[A-Z0-9_]{2,70})(?=\0)")
    out: set[bytes] = set()
    rest = b"\0"
    for piece in pieces:
        block = rest + piece
        out.update(found.findall(block))
        rest = block[-_OVERLAP:]
    out.update(found.findall(rest + b"\0"))
    return {one for name in out if not NOT_VARIABLES.fullmatch(one := name.decode("ascii")) and not one.endswith("_")}
