"""Poison: statuses after which CUDA answers every call of a process with the same error, until it is started anew."""

from __future__ import annotations

import re

_STICKY = re.compile(
    r"device-side assert triggered|an illegal memory access was encountered|misaligned address"
    r"|unspecified launch failure|an illegal instruction was encountered|hardware stack error|invalid program counter"
    r"|operation not supported on global/shared address space|uncorrectable (?:NVLink|ECC) error"
    r"|CUDA_ERROR_(?:ASSERT|ILLEGAL_ADDRESS|ILLEGAL_INSTRUCTION|MISALIGNED_ADDRESS|LAUNCH_FAILED|HARDWARE_STACK_ERROR"
    r"|INVALID_PC|INVALID_ADDRESS_SPACE|ECC_UNCORRECTABLE)\b"
    r"|cudaError(?:Assert|IllegalAddress|IllegalInstruction|MisalignedAddress|LaunchFailure|HardwareStackError|InvalidPc"
    r"|InvalidAddressSpace|ECCUncorrectable)\b",
    re.IGNORECASE,
)
"""What the CUDA documentation of each status says: the process must be terminated and relaunched."""


def poison(error: BaseException) -> str:
    """The words of a status that leaves the process without a GPU; "" where the error is none of them."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        found = _STICKY.search(str(one)[:32_000])
        if found:
            return found[0]
        one = one.__cause__ or one.__context__
    return ""
