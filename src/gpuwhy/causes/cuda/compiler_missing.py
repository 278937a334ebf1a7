"""cuda.compiler_missing: a compiler that is needed at run time is not found."""

from __future__ import annotations

from gpuwhy.causes.told import needs_output
from gpuwhy.model.cause import Case, Cause, Fix
from gpuwhy.model.fact import value_or


def fixes(case: Case) -> tuple[Fix, ...]:
    """The most reversible first."""
    return (
        Fix(
            "XLA: name the toolkit",
            "export XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda",
            safe=True,
            check="gpuwhy explain LOG",
        ),
        Fix(
            "Install nvcc's parts with pip",
            f"pip install nvidia-cuda-nvcc{_suffix(case)} nvidia-cuda-nvrtc{_suffix(case)}",
            safe=True,
            check="gpuwhy explain LOG",
        ),
        Fix("conda", "conda install -c nvidia cuda-nvcc cuda-nvrtc", safe=True, check="gpuwhy explain LOG"),
        Fix(
            "Triton: make libcuda.so findable for the linker",
            "export LIBRARY_PATH=/usr/local/cuda/lib64/stubs:$LIBRARY_PATH",
            safe=True,
            check="gpuwhy explain LOG",
        ),
        Fix("Install a C compiler", "sudo apt install build-essential", root=True, check="gpuwhy explain LOG"),
        Fix("Windows: install the CUDA toolkit, and set CUDA_PATH to it", check="gpuwhy explain LOG"),
    )


def _suffix(case: Case) -> str:
    """Of NVIDIA's wheels, by the CUDA that a framework here is built for: from 13 on they have none."""
    built = [value_or(one.built_for_cuda, "") for one in value_or(case.facts.target.frameworks, ())]
    majors = [text.split(".")[0] for text in built if text]
    return f"-cu{majors[0]}" if majors and majors[0] in ("11", "12") else "" if majors else "-cu12"


CAUSE = Cause(
    id="cuda.compiler_missing",
    title="a compiler that is needed at run time is not found",
    signs=(needs_output,),
    fixes=fixes,
    effect="A compiler needed at run time is not found",
    needs_log=True,
)
