"""memory.oom: the work needs more GPU memory than there is."""

from __future__ import annotations

from gpuwhy.causes.told import needs_output
from gpuwhy.model.cause import Case, Cause, Fix


def fixes(case: Case) -> tuple[Fix, ...]:
    """The most reversible first."""
    return (
        Fix("Make the batch, the sequence or the image smaller, or accumulate gradients", check="gpuwhy explain LOG"),
        Fix("Use half precision or quantised weights", check="gpuwhy explain LOG"),
        Fix("Split the model over several GPUs, or offload parts to the host", check="gpuwhy explain LOG"),
        Fix(
            "TensorFlow, PyTorch: see what holds the memory",
            'python -c "import torch; print(torch.cuda.memory_summary())"',
            safe=True,
            check="gpuwhy explain LOG",
        ),
    )


CAUSE = Cause(
    id="memory.oom",
    title="the work needs more GPU memory than there is",
    signs=(needs_output,),
    fixes=fixes,
    effect="The GPU's memory is too small for this work",
    needs_log=True,
)
