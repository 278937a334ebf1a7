"""Launch: a kernel's grid, block, registers, arguments or shared memory beyond what the card takes."""

from __future__ import annotations

from gpuwhy.model.signature import Signature, context, error
from gpuwhy.rooms.text.fragments import LAUNCH_COVERS

_CALL = r"(?P<call>cu(?:da)?launch\w*|cufuncsetattribute|cudafuncsetattribute)"

SIGNATURES: tuple[Signature, ...] = (
    error(
        "launch.shared",
        r"uses too much (?P<what>shared|local|constant|parameter) (?:data|space|memory)(?: \((?P<needed>0x[\da-f]+|\d+) bytes, (?P<limit>0x[\da-f]+|\d+) max)?"
        r"|shared memory size limit exceeded(?:\W{1,3}requested (?P<needed2>\d+), available\W{1,2}(?P<limit2>\d+))?"
        r"|(?:requested|required|needs?|dynamic) [^\n]{0,40}shared memory[^\n]{0,60}(?:exceed|too (?:large|big|much)"
        r"|more than|larger than)|shared memory[^\n]{0,60}exceeds[^\n]{0,40}(?:limit|available|maximum|capacity)"
        r"|too much shared memory",
        "uses too much", "shared memory", covers=(*LAUNCH_COVERS, "build.cu_error"),
    ),
    error("launch.parameters",
          r"formal parameter space overflowed(?: \((?P<needed>\d+) bytes required, max (?P<limit>\d+))?",
          "parameter space overflowed", covers=(*LAUNCH_COVERS, "build.cu_error")),
    error(
        "launch.block",
        r"(?:block size|grid size|threads? per block|thread ?block|num_?threads|block ?dim\w*"
        r"|grid ?dim\w*)[^\n]{0,60}(?:exceeds?|must be (?:<=|less|at most|smaller)"
        r"|too (?:large|big|many))[^\n]{0,60}\d"
        r"|no valid triton configs|exceeds? (?:the )?(?:maximum|max)[^\n]{0,30}(?:threads per block|block size|grid size)",
        "block size", "grid size", "block dim", "grid dim", "blockdim", "griddim", "threads per block",
        "thread per block", "thread block", "threadblock", "num_threads", "numthreads", "triton configs", covers=LAUNCH_COVERS,
    ),
    error(
        "launch.refused",
        rf"{_CALL}(?:\([^\n]{{0,120}}?\))?(?:[^\n]{{0,60}}(?:failed|returned|results? in|error)[^\n]{{0,60}}|\W{{1,4}})(?:invalid (?:argument|value|configuration)|cuda_error_invalid_value|cudaerrorinvalid(?:value|configuration)|too many (?:resources|blocks))"
        r"|failed to launch (?:cuda |rocm |gpu )?kernel[^\n]{0,200}|gpu_launch_config\.h:\d+\] check failed",
        "launchkernel", "cudalaunch", "culaunch", "funcsetattribute", "failed to launch", "gpu_launch_config",
        covers=("cuda.invalid_value", "cuda.says_short", "cuda.name", "cuda.number", "python."),
    ),
    context(
        "launch.here",
        r"file \"[^\"\n]*(?:dispatcher\.py|cudadrv/driver\.py|cuda/compiler\.py"
        r"|triton/runtime/(?:jit|driver|autotuner)\.py|triton/backends/nvidia/driver\.py|triton_heuristics\.py"
        r"|cuda/core/_?launcher\w*|_launcher\.pyx)\", line \d+, in (?:cuda\.core\._launcher\.)?(?:launch\w*|call|run"
        r"|_run|__call__|launch_kernel|kernel_call|_call|_bench|benchmark\w*)|\b(?:cuda_stream_)?launch_kernel\b"
        r"|cupy_backends\.cuda\.api\.driver\.launchkernel|_launcher\.pyx",
        "dispatcher.py", "cudadrv/driver.py", "triton/runtime", "backends/nvidia/driver.py", "triton_heuristics", "_launcher", "launch_kernel", "launchkernel",
    ),
)  # fmt: skip
