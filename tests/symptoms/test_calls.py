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
        ("cudaStreamCreateWithFlags(&s, 0x77) -> cudaErrorInvalidValue: invalid argument", "program.shape"),
        ("cudaEventCreateWithFlags(&e, 64) -> cudaErrorInvalidValue: invalid argument", "program.shape"),
        ("cudaEventRecord(e, s) -> cudaErrorInvalidValue: invalid argument", "program.order"),
        ("cudaDeviceEnablePeerAccess(0, 0) -> cudaErrorPeerAccessUnsupported: peer access is not supported between these two devices", "device.selection"),
        ("cufftMakePlan3d(p, 9001, 9001, 9001, CUFFT_Z2Z, &w) -> CUFFT status 5", "memory.oom"),
        ("nvmlDeviceGetClockInfo(d, 77, &u) returned 2", "program.shape"),
        ("nvmlDeviceGetHandleByIndex_v2(9, &d) returned 2", "device.selection"),
        ("nvmlDeviceGetName(d, b, 64) returned 1", "program.order"),
        ("ptxas fatal   : Invalid value 'many' for option 'maxrregcount'", "program.build"),
        ("ptxas a.ptx, line 2; fatal   : Missing .version directive at start of file 'a.ptx'", "program.build"),
        ("fatbinary fatal   : Could not open input file 'a.cubin'", "program.build"),
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


OWN = 'Traceback (most recent call last):\n  File "/home/mara/a.py", line 19, in do\n    {code}\n{said}\n{late}'


def test_what_the_program_printed_of_a_framework_does_not_make_the_call_its():
    said = "Failed: curandCreateGenerator returned 103"
    for late in ("torch works\n", ""):
        text = OWN.format(code="raise Failed(f'{call} returned {e}')", said=said, late=late)
        assert first(text) == "program.shape"


@pytest.mark.parametrize(
    ("code", "said", "cause"),
    [
        ("raise LookupError(f'answered {x}, choices are {c} (device {d})')", "LookupError: answered 'E', choices are ['A'] (device cuda:0)", "other.not_gpu"),
        ("raise ValueError(f'score {s} is below {m} on GPU 0')", "ValueError: score 0.31 is below 0.5 on GPU 0", "other.not_gpu"),
        ("raise RuntimeError('no batch size fits') from None", "RuntimeError: no batch size fits", "memory.oom"),
    ],
)  # fmt: skip
def test_words_that_somebody_raised_by_hand(code, said, cause):
    assert (
        first("batch 64 too large, halving\n" * (cause == "memory.oom") + OWN.format(code=code, said=said, late=""))
        == cause
    )


def test_by_hand_of_the_stack_itself_is_no_innocent():
    said = "RuntimeError: the CUDA driver is too old"
    assert (
        first(OWN.format(code="raise RuntimeError('the CUDA driver is too old')", said=said, late=""))
        != "other.not_gpu"
    )


@pytest.mark.parametrize("library", ["libfastops.so", "/home/mara/l/libfastops.so"])
def test_a_library_of_the_programs_own_is_not_where_the_loader_looks(library):
    said = f"OSError: {library}: cannot open shared object file: No such file or directory"
    assert first(OWN.format(code=f'ctypes.CDLL("{library}")', said=said, late="")) == "env.path"
    system = "OSError: libsndfile.so.1: cannot open shared object file: No such file or directory"
    assert first(OWN.format(code="import soundfile", said=system, late="")) == "other.not_gpu"


def test_a_list_of_providers_does_not_say_that_one_was_asked_for():
    listed = "runtime ['AzureExecutionProvider', 'CPUExecutionProvider']\n"
    fail = "onnxruntime.capi.onnxruntime_pybind11_state.Fail: [ONNXRuntimeError] : 1 : FAIL : Opset 99 is under development"
    text = OWN.format(code="sess = C.InferenceSession(options, model)", said=fail, late=listed)
    assert first(text) != "framework.cpu_only"
    assert not {s.signature for s in read_text(text).symptoms} & {"ort.not_available"}
    assert first("why only cpu?\n" + listed) == "framework.cpu_only"


def test_no_allocator_is_a_device_that_is_not_there():
    said = "RuntimeError: Allocator not initialized for device : did you call init?"
    assert (
        first(OWN.format(code="torch.cuda.set_per_process_memory_fraction(0.5, 2)", said=said, late=""))
        == "device.selection"
    )


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        ("out of memory", "memory.oom"),
        ("no kernel image is available for execution on the device", "framework.gpu_unsupported"),
        ("invalid device ordinal", "device.selection"),
        ("an illegal memory access was encountered", "program.illegal_access"),
    ],
)
def test_an_error_that_opencv_tells_with_its_line_is_no_compilers(status, cause):
    text = f"OpenCV(4.8.0) /build/modules/core/src/cuda/gpu_mat.cu:121: error: (-217:Gpu API call) {status} in function 'allocate'"
    assert (
        explain_text(f"terminate called after throwing an instance of 'cv::Exception'\n  what():  {text}\n")
        .causes[0]
        .id
        == cause
    )
