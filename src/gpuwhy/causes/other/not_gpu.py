"""other.not_gpu: the GPU stack is not at fault."""

from __future__ import annotations

from gpuwhy.causes.told import needs_output
from gpuwhy.model.cause import Case, Cause, Fix

_CHECK = "gpuwhy explain LOG"
_FITTING: tuple[tuple[frozenset[str], Fix], ...] = (
    (
        frozenset({"python.numpy_abi", "python.numba_numpy"}),
        Fix("NumPy 2 beside modules of NumPy 1", 'pip install "numpy<2"', safe=True, check=_CHECK),
    ),
    (
        frozenset({"python.protobuf"}),
        Fix("protobuf beside an older TensorFlow", 'pip install "protobuf<4"', safe=True, check=_CHECK),
    ),
    (
        frozenset({"windows.msvc", "windows.dll_load_failed", "windows.torch_dll", "windows.error"}),
        Fix("Windows: install the Microsoft Visual C++ redistributable", check=_CHECK),
    ),
)


def fixes(case: Case) -> tuple[Fix, ...]:
    """What fits the message; without one that is known, only where to look."""
    said = {s.signature for s in case.symptoms}
    fit = [fix for signatures, fix in _FITTING if said & signatures]
    return (*fit, Fix("Read the last line of the traceback: it names the module or file", check=_CHECK))


CAUSE = Cause(
    id="other.not_gpu",
    title="the GPU stack is not at fault",
    signs=(needs_output,),
    fixes=fixes,
    effect="The GPU stack is not at fault",
    needs_log=True,
)
