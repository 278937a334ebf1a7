"""Statuses after which CUDA answers every call of a process with the same error."""

from __future__ import annotations

import re

_STATUSES = (
    "ASSERT|ILLEGAL_ADDRESS|ILLEGAL_INSTRUCTION|MISALIGNED_ADDRESS|LAUNCH_FAILED|INVALID_PC"
    "|HARDWARE_STACK_ERROR|INVALID_ADDRESS_SPACE|ECC_UNCORRECTABLE"
)
_STICKY = re.compile(
    r"device-side assert triggered|an illegal memory access was encountered|misaligned address"
    r"|unspecified launch failure|an illegal instruction was encountered|hardware stack error"
    r"|invalid program counter|operation not supported on global/shared address space"
    r"|uncorrectable (?:NVLink|ECC) error"
    rf"|CUDA_ERROR_(?:{_STATUSES})\b"
    rf"|cudaError(?:{_STATUSES.replace('_', '').replace('FAILED', 'FAILURE')})\b",
    re.IGNORECASE,
)
"""Of each, CUDA's documentation says that the process must be ended and started again."""


def poison(error: BaseException) -> str:
    """The words of a status that leaves the process without a GPU, or ""."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        found = _STICKY.search(str(one)[:32_000])
        if found:
            return found[0]
        one = one.__cause__ or one.__context__
    return ""
