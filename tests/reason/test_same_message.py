"""One message, many causes: the facts of the machine decide. The facts are those of the causes' own fixtures."""

from __future__ import annotations

import msgspec
import pytest

from gpuwhy.logs import explain_text
from gpuwhy.model.facts import Facts
from gpuwhy.rooms.text.rooms import admits
from tests.rooms.facts import HERE, base, load

CUDNN = ("memory/other_process/shown", "memory/other_process/shown-zombie", "cudnn/version_mismatch/shown",
         "cudnn/version_mismatch/shown-3", "cudnn/mixed_libraries/shown", "framework/gpu_unsupported/shown",
         "framework/gpu_unsupported/shown-cudnn", "device/hardware/shown", "device/hardware/shown-lost",
         "device/hardware/shown-ecc", "device/hardware/shown-remap", "install/corrupted/shown")  # fmt: skip
CUBLAS = ("memory/other_process/shown", "framework/gpu_unsupported/shown", "device/hardware/shown",
          "cuda/mixed_libraries/shown", "install/corrupted/shown")  # fmt: skip
DRIVER = ("device/hardware/shown", "device/hardware/shown-lost", "driver/library_mismatch/shown",
          "driver/permission/shown", "driver/permission/shown-uvm-missing", "driver/not_ready/shown",
          "driver/compat_misuse/shown-older", "container/no_gpu/shown", "wsl/setup/shown")  # fmt: skip
NO_GPU = (
    "device/selection/shown", "device/selection/shown-empty", "device/selection/shown-minus", "device/hardware/shown",
    "driver/missing/shown", "driver/missing/shown-kernel-update", "driver/library_mismatch/shown",
    "driver/permission/shown", "driver/permission/shown-cgroup", "driver/not_ready/shown", "driver/stub/shown",
    "driver/too_old/shown-wsl", "driver/compat_misuse/shown", "container/no_gpu/shown",
    "container/no_gpu/shown-capabilities", "framework/cpu_only/shown",
)  # fmt: skip
MEMORY = ("memory/other_process/shown", "memory/other_process/shown-zombie", "memory/other_process/shown-unseen",
          "memory/host/shown", "memory/host/shown-limit", "memory/host/shown-shm")  # fmt: skip

VAGUE = {
    "RuntimeError: cuDNN error: CUDNN_STATUS_INTERNAL_ERROR": CUDNN,
    "RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED": CUDNN,
    "E cuda_dnn.cc:329] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR": CUDNN,
    "UnknownError: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize": CUDNN,
    "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`": CUBLAS,
    "RuntimeError: CUDA error: unknown error": DRIVER,
    "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 999: unknown error": DRIVER,
    "RuntimeError: No CUDA GPUs are available": NO_GPU,
    ">>> torch.cuda.is_available()\nFalse": NO_GPU,
    ">>> tf.config.list_physical_devices('GPU')\n[]": NO_GPU,
    "RuntimeError: CUDA error: out of memory": MEMORY,
    "out of memory": MEMORY,
}
CLEARER = {
    "OSError: libcudnn.so.9: cannot open shared object file: No such file or directory": (
        "cudnn/missing/shown", "cudnn/version_mismatch/shown", "env/path/shown"),
    "ImportError: libcublas.so.12: cannot open shared object file: No such file or directory": (
        "cuda/missing_library/shown", "cuda/version_mismatch/shown", "env/path/shown"),
    "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU": (
        "driver/missing/shown", "container/no_gpu/shown", "driver/permission/shown", "wsl/setup/shown"),
    "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 803: system has unsupported display driver": (
        "driver/library_mismatch/shown", "driver/compat_misuse/shown", "driver/stub/shown"),
    "ImportError: undefined symbol: _ZN3c104cuda9SetDeviceEi": (
        "framework/extension_abi/shown", "cuda/mixed_libraries/shown", "install/conflict/shown"),
    "AssertionError: Torch not compiled with CUDA enabled": (
        "framework/cpu_only/shown",),
}  # fmt: skip
MESSAGES = {**VAGUE, **CLEARER}


@pytest.mark.parametrize(
    "message, fixture", [(message, fixture) for message, fixtures in MESSAGES.items() for fixture in fixtures]
)
def test_the_machine_decides(message, fixture):
    _, facts = load(HERE / f"{fixture}.json")
    causes = explain_text(message, facts).causes
    assert causes[0].id == ".".join(fixture.split("/")[:2]), [(c.id, c.confidence) for c in causes]
    assert causes[0].because[0].evidence[0].kind != "told", "what was seen on the machine comes first"


@pytest.mark.parametrize("message", VAGUE)
def test_a_healthy_machine_takes_back_what_it_contradicts(message):
    facts = msgspec.convert(base("healthy"), type=Facts)
    told = {c.id for c in explain_text(message, facts).causes if c.confidence >= 0.1}
    assert not told & {"cudnn.version_mismatch", "driver.missing", "driver.library_mismatch", "memory.other_process",
                       "framework.cpu_only", "framework.gpu_unsupported", "container.no_gpu"}  # fmt: skip


@pytest.mark.parametrize("message", VAGUE)
def test_the_text_alone_is_never_sure(message):
    assert all(c.confidence < 0.9 for c in explain_text(message).causes)


def test_a_clear_message_is_not_overruled_by_an_unrelated_fault():
    _, facts = load(HERE / "memory/other_process/shown.json")
    clear = "IndexKernel.cu:92: block: [0,0,0], thread: [1,0,0] Assertion `srcIndex < srcSelectDimSize` failed."
    assert explain_text(clear, facts).causes[0].id == "program.index"
    missing = "ModuleNotFoundError: No module named 'einops'"
    assert explain_text(missing, facts).causes[0].id == "other.not_gpu"


@pytest.mark.parametrize("fixture", ["install/corrupted/shown", "memory/other_process/shown", "driver/missing/shown"])
def test_a_fault_that_does_not_explain_a_clear_text_comes_after_its_own_cause(fixture):
    _, facts = load(HERE / f"{fixture}.json")
    report = explain_text("RuntimeError: CUDA error: no kernel image is available for execution on the device", facts)
    assert [c.id for c in report.causes[:2]] == ["framework.gpu_unsupported", ".".join(fixture.split("/")[:2])]
    assert report.status == "unknown"
    assert report.headline.startswith("Not certain. Perhaps this version of the framework does not support this GPU")


def test_what_a_shown_cause_hides_is_not_told_beside_it():
    _, facts = load(HERE / "driver/library_mismatch/shown.json")
    told = {c.id for c in explain_text("RuntimeError: No CUDA GPUs are available", facts).causes}
    assert "driver.library_mismatch" in told
    assert not told & {"driver.too_old", "driver.not_ready"}


def test_admitting_messages_exist():
    from gpuwhy.knowledge.codes import table
    from gpuwhy.symptoms.catalogue import signatures
    from gpuwhy.symptoms.raised import IDS as RAISED

    words = {f"{library}.{slug}" for library, rows in table().libraries.items() for slug in rows}
    known = {s.id for s in signatures()} | {*RAISED} | words | {f"cuda.{row.slug}" for row in table().cuda}
    assert set(admits()) <= known, set(admits()) - known
