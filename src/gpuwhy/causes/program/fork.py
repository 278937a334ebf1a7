"""program.fork: CUDA is used in a forked child, or in a context that is not current."""

from __future__ import annotations

from gpuwhy.causes.told import needs_output
from gpuwhy.model.cause import Case, Cause, Fix


def fixes(case: Case) -> tuple[Fix, ...]:
    """The most reversible first."""
    return (
        Fix(
            "Start workers by spawn", "export VLLM_WORKER_MULTIPROC_METHOD=spawn", safe=True, check="gpuwhy explain LOG"
        ),
        Fix(
            "PyTorch: torch.multiprocessing.set_start_method('spawn') before CUDA is touched",
            check="gpuwhy explain LOG",
        ),
        Fix("Touch CUDA (also device_count) only in the children", check="gpuwhy explain LOG"),
        Fix("PyCUDA, TensorRT: make one context per thread, and push it before use", check="gpuwhy explain LOG"),
    )


CAUSE = Cause(
    id="program.fork",
    title="CUDA is used in a forked child, or in a context that is not current",
    signs=(needs_output,),
    fixes=fixes,
    effect="CUDA does not survive a fork",
    needs_log=True,
)
