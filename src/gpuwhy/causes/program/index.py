"""program.index: an index or label is out of range."""

from __future__ import annotations

from gpuwhy.causes.told import needs_output
from gpuwhy.model.cause import Case, Cause, Fix


def fixes(case: Case) -> tuple[Fix, ...]:
    """The most reversible first."""
    return (
        Fix(
            "Run the step on the CPU: it names the index",
            "CUDA_VISIBLE_DEVICES= python PROGRAM",
            safe=True,
            check="gpuwhy explain LOG",
        ),
        Fix(
            "Make the report synchronous",
            "CUDA_LAUNCH_BLOCKING=1 python PROGRAM",
            safe=True,
            check="gpuwhy explain LOG",
        ),
        Fix(
            "Check labels against the number of classes, and token ids against the size of the embedding",
            check="gpuwhy explain LOG",
        ),
        Fix("Restart the process: after an assertion its GPU work is lost", check="gpuwhy explain LOG"),
    )


CAUSE = Cause(
    id="program.index",
    title="an index or label is out of range",
    signs=(needs_output,),
    fixes=fixes,
    effect="The program uses an index that is out of range",
    needs_log=True,
)
