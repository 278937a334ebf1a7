"""program.shape: a tensor's shape, type or layout is not what the operation takes."""

from __future__ import annotations

from gpuwhy.causes.told import needs_output
from gpuwhy.model.cause import Case, Cause, Fix


def fixes(case: Case) -> tuple[Fix, ...]:
    """The most reversible first."""
    return (
        Fix("Print shape, type and device of the tensors before the failing line", check="gpuwhy explain LOG"),
        Fix(
            "Run the step on the CPU, where the message is plainer",
            "CUDA_VISIBLE_DEVICES= python PROGRAM",
            safe=True,
            check="gpuwhy explain LOG",
        ),
        Fix("For cuDNN's NOT_SUPPORTED: make the input contiguous (x.contiguous())", check="gpuwhy explain LOG"),
    )


CAUSE = Cause(
    id="program.shape",
    title="a tensor's shape, type or layout is not what the operation takes",
    signs=(needs_output,),
    fixes=fixes,
    effect="The program passes a tensor that does not fit",
    needs_log=True,
)
