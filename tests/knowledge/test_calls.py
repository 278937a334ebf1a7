"""A status means something by the call that returned it."""

import pytest

from gpuwhy.knowledge.codes import call_in, family_of
from gpuwhy.api.text import explain as explain_text


def test_families():
    calls = {"cudaMemcpy2DAsync": "copy", "cuMemcpyDtoH_v2": "move", "cuLaunchKernelEx": "launch"}
    calls |= {"cudaEventElapsedTime": "event", "cuMemHostAlloc": "pinned", "cudaGraphLaunch": "graph"}
    calls |= {"cudaPeekAtLastError": "last", "cufftPlan1d": "create", "cusparseSpMV": "work"}
    assert {call: family_of(call) for call in calls} == calls
    assert call_in("x.cu:3 cudaErrorInvalidValue in cudaMemset(p, 0, n)") == "cudaMemset"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("cudaMemcpy2D returned 1", "program.shape"),
        ("cudaMemcpy returned 1", "program.illegal_access"),
        ("cudaEventElapsedTime returned 1", "program.order"),
        ("cuLaunchKernel failed: CUDA_ERROR_INVALID_VALUE", "program.launch"),
        ("cuMemHostAlloc failed: CUDA_ERROR_OUT_OF_MEMORY", "memory.host"),
        ("cusolverDnDpotrf failed: CUSOLVER_STATUS_NOT_INITIALIZED", "program.order"),
        ("curandSetGeneratorOffset failed: CURAND_STATUS_TYPE_ERROR", "program.shape"),
        ("cufftExecC2R: CUFFT_INVALID_PLAN", "program.order"),
        ("CUDA error: CUBLAS_STATUS_INVALID_VALUE when calling `cublasGemmEx(handle)`", "cuda.mixed_libraries"),
    ],
)
def test_code_by_call(text, cause):
    assert explain_text(text).causes[0].id == cause
