"""program.build: a build from source is not set up right."""

from __future__ import annotations

from gpuwhy.causes.told import needs_output
from gpuwhy.model.cause import Case, Cause, Fix


def fixes(case: Case) -> tuple[Fix, ...]:
    """The most reversible first."""
    return (
        Fix(
            "Name the toolkit",
            "export CUDA_HOME=/usr/local/cuda PATH=/usr/local/cuda/bin:$PATH",
            safe=True,
            check="gpuwhy explain LOG",
        ),
        Fix(
            "Use a host compiler that this nvcc accepts",
            "export NVCC_PREPEND_FLAGS='-ccbin gcc-12'",
            safe=True,
            check="gpuwhy explain LOG",
        ),
        Fix("Name the architecture", "export TORCH_CUDA_ARCH_LIST=8.6", safe=True, check="gpuwhy explain LOG"),
        Fix("Install Python's headers", "sudo apt install python3-dev", root=True, check="gpuwhy explain LOG"),
        Fix("Windows: build in the x64 Native Tools prompt of Visual Studio", check="gpuwhy explain LOG"),
    )


CAUSE = Cause(
    id="program.build",
    title="a build from source is not set up right",
    signs=(needs_output,),
    fixes=fixes,
    effect="The build against CUDA fails",
    needs_log=True,
)
