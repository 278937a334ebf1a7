"""memory.preallocation: the framework grabbed the GPU's memory and left none for its libraries."""

from __future__ import annotations

from gpuwhy.causes.told import needs_output
from gpuwhy.model.cause import Case, Cause, Fix


def fixes(case: Case) -> tuple[Fix, ...]:
    """The most reversible first."""
    return (
        Fix(
            "TensorFlow: take memory as it is needed",
            "export TF_FORCE_GPU_ALLOW_GROWTH=true",
            safe=True,
            check="gpuwhy explain LOG",
        ),
        Fix(
            "JAX: do not take memory ahead",
            "export XLA_PYTHON_CLIENT_PREALLOCATE=false",
            safe=True,
            check="gpuwhy explain LOG",
        ),
        Fix(
            "JAX: or take a smaller share",
            "export XLA_PYTHON_CLIENT_MEM_FRACTION=.60",
            safe=True,
            check="gpuwhy explain LOG",
        ),
        Fix("Windows: the same variables", "set TF_FORCE_GPU_ALLOW_GROWTH=true", safe=True, check="gpuwhy explain LOG"),
    )


CAUSE = Cause(
    id="memory.preallocation",
    title="the framework grabbed the GPU's memory and left none for its libraries",
    signs=(needs_output,),
    fixes=fixes,
    effect="cuDNN or cuBLAS found no GPU memory left",
    needs_log=True,
)
