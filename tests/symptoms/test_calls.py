# ruff: noqa: E501
"""A status by the call that returned it: libraries with and without a table, bindings, and what a folder is called."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text
from gpuwhy.symptoms.reader import read_text

CUPY = (
    'Traceback (most recent call last):\n  File "/home/mara/run.py", line 7, in <module>\n    {code}\n'
    '  File "/opt/{folder}/.venv/lib/python3.12/site-packages/cupy/_creation/basic.py", line 1, in f\n    return g()\n'
    '  File "cupy_backends/cuda/api/runtime.pyx", line 5, in cupy_backends.cuda.api.runtime.{name}\n'
    '  File "cupy_backends/cuda/api/runtime.pyx", line 146, in cupy_backends.cuda.api.runtime.check_status\n'
    "cupy_backends.cuda.api.runtime.CUDARuntimeError: cudaErrorInvalidValue: invalid argument\n"
)


def first(text: str) -> str:
    causes = explain_text(text).causes
    return causes[0].id if causes else ""


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ("cusparseSpMM(h, a, b, &one, m, d, &one, c, CUDA_R_32F, alg, buffer) -> status 3", "program.shape"),
        ("curandGenerateUniform(g, d, 3) gave 105", "program.shape"),
        ("cusolverDnCreate(&h): status=2", "memory.oom"),
        ("cufftExecC2C(plan, d, d, CUFFT_FORWARD) = 1", "program.order"),
        ("cusparseCreateCsr(&m) failed with error: operation not supported (10)", "program.shape"),
        ("cutensorContract(p): CUTENSOR_STATUS_INVALID_VALUE", "program.shape"),
        ("nvjpegDecode(h, s, d, n) -> NVJPEG_STATUS_BAD_JPEG", "program.shape"),
        ("cudssExecute: CUDSS_STATUS_NOT_INITIALIZED", "program.order"),
        ("cutensorCreate: CUTENSOR_STATUS_ARCH_MISMATCH", "framework.gpu_unsupported"),
        ("nvcompBatchedLZ4: nvcompErrorOutOfMemory", "memory.oom"),
        ("** On entry to cusolverDnSgetrf() parameter number 4 (lda) had an illegal value", "program.shape"),
        ("** On entry to cublasSgemm_v2() parameter number 1 (handle) had an illegal value", "program.order"),
        ("cudaGraphAddKernelNode(&n, g, 0, 0, &k): invalid resource handle", "program.launch"),
        ("cudaGraphLaunch(e, s): invalid resource handle", "program.order"),
        ("cudaCreateSurfaceObject(&o, &r): invalid resource handle", "program.shape"),
        ('cuLinkAddData(l, CU_JIT_INPUT_PTX, t, n, "a.ptx", 0, 0, 0) gave CUDA_ERROR_INVALID_IMAGE (200)', "program.build"),
        ("cuModuleLoad(&m, f) gave CUDA_ERROR_NO_BINARY_FOR_GPU (209)", "framework.gpu_unsupported"),
        ("cudaIpcOpenMemHandle(&p, h, 1): mapping of buffer object failed", "program.fork"),
    ],
)  # fmt: skip
def test_a_status_means_what_its_call_does(said, cause):
    assert first(f"[solver] started\n[solver] {said}\n") == cause


@pytest.mark.parametrize("folder", ["torch", "jax-env", "venvs"])
def test_a_folder_that_is_called_after_a_framework_has_no_part(folder):
    text = CUPY.format(code="runtime.malloc3DArray(d, 1, 2, 3)", folder=folder, name="malloc3DArray")
    assert first(text) == "program.shape"


def test_a_framework_that_makes_the_call_itself_has():
    plain = "cudaGraphAddKernelNode(&n, g, 0, 0, &k): invalid resource handle"
    assert first(f"{plain}\n") == "program.launch"
    assert first(f"[torch] {plain}\n") != "program.launch"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("OSError: [Errno 8] Exec format error: '/v/lib/python3.12/site-packages/nvidia/cuda_nvcc/bin/cicc'", "install.corrupted"),
        ("jax.errors.JaxRuntimeError: INVALID_ARGUMENT: While setting option xla_gpu_autotune_level, 'high' is not a valid int32 value.", "env.setting"),
        ("cupy.cuda.compiler.CompileException: /v/lib/python3.12/site-packages/cupy/_core/include/cupy/carray.cuh(90): error: expected a declaration", "install.corrupted"),
    ],
)  # fmt: skip
def test_damaged_tools_and_refused_options(text, cause):
    assert first(f"{text}\n") == cause


CRASHED = "main.cu(12): warning #177-D: variable was declared but never referenced\n    cudaGraph_t g; cudaGraphCreate(&g, 0);\n[sim] started\nrun.sh: line 2: 2815 Segmentation fault      ./a\n"


def test_a_crash_of_a_program_that_was_compiled_there_is_its_own():
    assert first(CRASHED) == "program.illegal_access"
    assert first(f"loaded torch 2.6\n{CRASHED}") != "program.illegal_access"


def test_a_table_in_which_mig_has_no_instance_explains_that_no_gpu_is_seen():
    smi = "| NVIDIA-SMI 550.54.15   Driver Version: 550.54.15   CUDA Version: 12.4 |\n| MIG devices:  |\n|  No MIG devices found  |\n"
    assert first(f"{smi}RuntimeError: No CUDA GPUs are available\n") == "device.busy"
    assert explain_text(smi).causes == ()


PARTS = "jax 0.4.28\njaxlib 0.4.28\njax-cuda12-pjrt 0.4.30\n{other} 0.4.30\nboth installed\nMismatched PJRT plugin PJRT API version (0.54) and framework PJRT API version 0.51).\n"


def test_the_two_parts_of_a_plugin_belong_together():
    assert first(PARTS.format(other="jax-cuda12-plugin")) == "install.inconsistent"
    assert "remark.both" in [s.signature for s in read_text(PARTS.format(other="jax-cuda13-pjrt")).symptoms]
