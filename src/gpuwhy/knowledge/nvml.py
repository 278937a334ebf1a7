"""NVML's return codes by number and name."""

from __future__ import annotations

from gpuwhy.knowledge.tables import source

SOURCE = source("nvidia-ml-py 13.615.71, pynvml.py", "return codes")

# The position is the code.
_NAMES = (
    "SUCCESS", "UNINITIALIZED", "INVALID_ARGUMENT", "NOT_SUPPORTED", "NO_PERMISSION", "ALREADY_INITIALIZED",
    "NOT_FOUND", "INSUFFICIENT_SIZE", "INSUFFICIENT_POWER", "DRIVER_NOT_LOADED", "TIMEOUT", "IRQ_ISSUE",
    "LIBRARY_NOT_FOUND", "FUNCTION_NOT_FOUND", "CORRUPTED_INFOROM", "GPU_IS_LOST", "RESET_REQUIRED",
    "OPERATING_SYSTEM", "LIB_RM_VERSION_MISMATCH", "IN_USE", "MEMORY", "NO_DATA", "VGPU_ECC_NOT_SUPPORTED",
    "INSUFFICIENT_RESOURCES", "FREQ_NOT_SUPPORTED", "ARGUMENT_VERSION_MISMATCH", "DEPRECATED", "NOT_READY",
    "GPU_NOT_FOUND", "INVALID_STATE", "RESET_TYPE_NOT_SUPPORTED",
)  # fmt: skip

NAMES: dict[int, str] = {
    0: "NVML_SUCCESS",
    **{code: f"NVML_ERROR_{name}" for code, name in enumerate(_NAMES) if code},
    999: "NVML_ERROR_UNKNOWN",
}


def name_of(code: int) -> str:
    """The name of a return code; a code that is not in the table stays visible as a number."""
    return NAMES.get(code, f"NVML_ERROR_{code}")
