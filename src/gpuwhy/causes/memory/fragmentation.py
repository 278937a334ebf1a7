"""memory.fragmentation: the GPU's free memory is in pieces that are too small."""

from __future__ import annotations

from gpuwhy.causes.told import needs_output
from gpuwhy.model.cause import Case, Cause, Fix


def fixes(case: Case) -> tuple[Fix, ...]:
    """The most reversible first."""
    return (
        Fix(
            "PyTorch: let segments grow",
            "export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
            safe=True,
            check="gpuwhy explain LOG",
        ),
        Fix(
            "PyTorch before 2.1: keep large blocks whole",
            "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:128",
            safe=True,
            check="gpuwhy explain LOG",
        ),
        Fix(
            "TensorFlow: use CUDA's own pool",
            "export TF_GPU_ALLOCATOR=cuda_malloc_async",
            safe=True,
            check="gpuwhy explain LOG",
        ),
        Fix("Keep shapes the same from step to step", check="gpuwhy explain LOG"),
    )


CAUSE = Cause(
    id="memory.fragmentation",
    title="the GPU's free memory is in pieces that are too small",
    signs=(needs_output,),
    fixes=fixes,
    effect="The GPU's memory is in pieces",
    needs_log=True,
)
