"""program.index in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.model.signature import error
from gpuwhy.rooms.text.conditions import all_of, line, no, whole, with_, xid
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.program_ways import in_range
from gpuwhy.rooms.text.remedies import SYNCHRONOUS
from gpuwhy.rooms.text.room import Text

_TORCH = no(with_("tf.", "jax.", "harmless."))

TEXT = Text(
    "program.index",
    signatures=(
        error("program.bounds",
              r"\blabel_value (?:is )?(?:out of range|<)|\bcheck failed: label_value\b|\bboundserror\b"
              r"|out-of-bounds array access", "label_value", "boundserror", "out-of-bounds array"),
        error(  # a kernel closes with `, the host's own assert() with '
            "program.assertion",
            r"(?:block: \[[\d,]+\], thread: \[[\d,]+\]|\.cuh?:\d+:(?![^\n]*' failed)[^\n]*)\s*assertion `?(?P<what>[^`\n]*)[`'’]? ?failed",
            "assertion",
        ),
        error("torch.class_values", r"class values must be (?:smaller|non-negative)", "class values must be", covers=("python.exception",)),
    ),
    clues=(
        ("program.bounds", 4.6, "an index or a label lies outside of its range", whole(r"label_value|kernelexception|during kernel execution|\bcuarray\b|cudevicearray")),
        ("torch.class_values", 4.0, "a label is not below the number of classes"),
        ("torch.probability", 1.6, "the numbers went astray before an index was drawn"),
        ("program.assertion", 5.0, "a kernel's own check failed: {what}"),
        ("program.index", 4.2, "an index is out of range"),
        ("cuda.assert", 3.6, "a kernel's own check failed (error 710)"),
        ("cublas.alloc_failed", 2.6, "cuBLAS fails like this after an index out of range", all_of(_TORCH, line("cublascreate"))),
        ("cublas.not_initialized", 2.4, "cuBLAS fails like this after an index out of range", all_of(_TORCH, line("cublascreate"))),
        ("cublas.execution_failed", 2.1, "cuBLAS fails like this after an index out of range", _TORCH),
        ("cublas.internal_error", 1.7, "cuBLAS fails like this after an index out of range", _TORCH),
        ("cublas.invalid_value", 1.2, "cuBLAS fails like this after an index out of range", _TORCH),
        ("cuda.illegal_address", 1.5, "an index out of range may do this"),
        ("cudnn.execution_failed", 1.0, "cuDNN fails like this after an index out of range", _TORCH),
        ("program.illegal_words", 1.2, "an index out of range may do this"),
        ("kernel.xid", 1.8, "Xid {xid}: an index out of range ends like this", xid(13, 31)),
    ),
    ladder=in_range,
    remedies=(
        meant("Run the step on the CPU: it names the index", "CUDA_VISIBLE_DEVICES= python PROGRAM", safe=True),
        meant("Set CUDA_LAUNCH_BLOCKING=1, so that the traceback shows the line that really failed", SYNCHRONOUS, safe=True),
        meant("Restart the process: after an assertion its GPU work is lost"),
    ),
)  # fmt: skip
