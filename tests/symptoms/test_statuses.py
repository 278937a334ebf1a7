"""Every status of every library, in the spellings that programs print: by name, by sentence, by bare number."""

from __future__ import annotations

from itertools import product

import pytest

from gpuwhy.knowledge import codes
from gpuwhy.symptoms.reader import read_text

CUDA = codes.table().cuda
LIBRARIES = [(library, slug) for library, rows in codes.table().libraries.items() for slug in rows]
WRITTEN = {
    "cudnn": "cuDNN", "cublas": "cuBLAS", "cusolver": "cuSOLVER", "cufft": "cuFFT", "curand": "cuRAND",
    "cusparse": "cuSPARSE", "nccl": "NCCL", "nvml": "NVML", "nvrtc": "NVRTC", "nvjitlink": "nvJitLink",
}  # fmt: skip


CUDA_NAMES = (
    "{name}",
    "error: {lower}",
    "E cuda_driver.cc:271] {upper}",
    "RuntimeError: CUDA error: {name}",
    "failed call to cuInit: {name}: some text",
    "cudaMalloc(&p, 4) failed: {name} ({number})",
    "cupy_backends.cuda.api.runtime.CUDARuntimeError: {name}: some text",
    "numba.cuda.cudadrv.driver.CudaAPIError: [{number}] Call to cuMemAlloc results in {name}",
)

CUDA_SENTENCES = (
    "RuntimeError: CUDA error: {says}",
    "cudaGetDevice() failed. Status: {says}",
    "InternalError: CUDA runtime implicit initialization on GPU:0 failed. Status: {says}",
    "THCudaCheck FAIL file=/x.cu line=1 error={number} : {says}",
    "RuntimeError: cuda runtime error ({number}) : {says} at x.cu:1",
    "CUDA error {number}: {says}",
    "GPUassert: {says} main.cu 12",
    "CUDA failure {number}: {says} ; GPU=0 ; expr=cudaSetDevice(0);",
)

CUDA_NUMBERS = (
    "CUDA error {}",
    "CUDA error: {}",
    "CUDA error code={}",
    "CUDA driver error {}",
    "CUDA runtime error ({})",
    "cudaGetDeviceCount returned {}",
    "cuInit(0) returned {}",
    "cuInit failed: {}",
    "CUresult({})",
    "cudaError_t: {}",
)

NAMES = (
    "{name}",
    "{lower}",
    "RuntimeError: {written} error: {name}",
    "Could not create {library} handle: {name}",
    "CUDA error: {name} when calling `x(handle)`",
    "{library}Create(&handle) failed ({name})",
    "Internal: call failed. Status: {name}",
)

NUMBERS = (
    "{written} error {number}",
    "{written} error: {number}",
    "{written} error: status {number}",
    "{written} error code {number}",
    "{written} status: {number}",
    "{written} failure {number}",
    "{library}Create failed: {number}",
    "{library}Create(&handle) returned {number}",
    "{library}Create() = {number}",
    "{library}Status_t: {number}",
)


def found(text: str) -> set[str]:
    """The symptoms, and the status that a symptom carries in a field."""
    symptoms = read_text(text).symptoms
    carried = {f"cudnn.{codes.library_by_name('cudnn', s.get('status'))}" for s in symptoms if s.get("status")}
    return {s.signature for s in symptoms} | carried


HALVES = pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.attack)])
"""Every status in some of the forms; in the others at length."""


def halved(rows, half):
    """Every second one, in a turn that fits no number of forms."""
    return (row for n, row in enumerate(rows) if (n + n // 3) % 2 == half)


@HALVES
def test_cuda_by_name(half):
    rows = ((one, *said) for one in CUDA for said in product(one.names, CUDA_NAMES))
    for row, name, line in halved(rows, half):
        text = line.format(name=name, lower=name.lower(), upper=name.upper(), number=row.code)
        assert f"cuda.{row.slug}" in found(text), text


@HALVES
def test_cuda_by_sentence(half):
    rows = ((one, *said) for one in CUDA for said in product(one.says, CUDA_SENTENCES))
    for row, says, line in halved(rows, half):
        word = codes.cuda_messages()[says.lower().rstrip(".")]
        text = line.format(says=says, number=row.code)
        assert f"cuda.{word}" in found(text), text


@HALVES
def test_cuda_by_number(half):
    for row, text in halved(((one, line.format(one.code)) for one in CUDA for line in CUDA_NUMBERS), half):
        assert f"cuda.{row.slug}" in found(text), text


@HALVES
def test_a_library_by_name(half):
    for (library, slug), line in halved(product(LIBRARIES, NAMES), half):
        name = codes.table().libraries[library][slug].name
        text = line.format(name=name, lower=name.lower(), library=library, written=WRITTEN[library])
        assert f"{library}.{slug}" in found(text), text


@HALVES
def test_a_library_by_number(half):
    known = codes.table().libraries
    asked = ((*one, number) for one in LIBRARIES for number in known[one[0]][one[1]].codes)
    for (library, _, number), line in halved(product(asked, NUMBERS), half):
        rows = known[library]
        text = line.format(number=number, library=library, written=WRITTEN[library])
        alike = {f"{library}.{other}" for other, row in rows.items() if number in row.codes}  # cuDNN 9 kept old names
        assert found(text) & alike, text


@pytest.mark.parametrize(
    "line",
    [
        "cuDNN version: 8902",
        "cudnnGetVersion() = 8",
        "cublasGetVersion returned 11",
        "NCCL version 2.18.1",
        "NVML error 0",
        "cudnn status 0",
        "built with cuDNN 8.9",
        "cublas workspace config :4096:8",
    ],
)
def test_numbers_that_are_no_status(line):
    words = {f"{library}.{slug}" for library, slug in LIBRARIES}
    assert not found(line) & words
