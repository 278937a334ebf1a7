"""program.illegal_access: a kernel touches memory that is not its own."""

from __future__ import annotations

from gpuwhy.causes.told import needs_output
from gpuwhy.model.cause import Case, Cause, Fix


def fixes(case: Case) -> tuple[Fix, ...]:
    """The most reversible first."""
    return (
        Fix("Find the kernel", "compute-sanitizer python PROGRAM", safe=True, check="gpuwhy explain LOG"),
        Fix(
            "Make the report synchronous, so that the right line is named",
            "CUDA_LAUNCH_BLOCKING=1 python PROGRAM",
            safe=True,
            check="gpuwhy explain LOG",
        ),
        Fix(
            "If the kernel is a library's, try its newest release",
            "pip install --upgrade torch",
            safe=True,
            check="gpuwhy explain LOG",
        ),
    )


CAUSE = Cause(
    id="program.illegal_access",
    title="a kernel touches memory that is not its own",
    signs=(needs_output,),
    fixes=fixes,
    effect="A kernel touched memory that is not its own",
    needs_log=True,
)
