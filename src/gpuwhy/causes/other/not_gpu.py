"""other.not_gpu: the GPU stack is not at fault."""

from __future__ import annotations

from gpuwhy.causes.told import needs_output
from gpuwhy.model.cause import Case, Cause, Fix


def fixes(case: Case) -> tuple[Fix, ...]:
    """The most reversible first."""
    return (
        Fix("Read the last line of the traceback: it names the module or file", check="gpuwhy explain LOG"),
        Fix("NumPy 2 beside modules of NumPy 1", 'pip install "numpy<2"', safe=True, check="gpuwhy explain LOG"),
        Fix("protobuf beside an older TensorFlow", 'pip install "protobuf<4"', safe=True, check="gpuwhy explain LOG"),
        Fix("Windows: install the Microsoft Visual C++ redistributable", check="gpuwhy explain LOG"),
    )


CAUSE = Cause(
    id="other.not_gpu",
    title="the GPU stack is not at fault",
    signs=(needs_output,),
    fixes=fixes,
    effect="The GPU stack is not at fault",
    needs_log=True,
)
