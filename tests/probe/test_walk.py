"""The native stages on a machine of stand-ins: codes, crashes, hangs, and what is left out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gpuwhy.facts.fact import Fact, Known, Source, Unknown
from gpuwhy.machine.machine import Machine as Computer
from gpuwhy.probe.libraries import Stack
from gpuwhy.probe.stages import STEPS
from gpuwhy.probe.walk import walk
from tests.length import halved
from tests.probe.machines import Machine, build, limit, outcomes, silent

CODES = (2, 34, 35, 46, 100, 101, 200, 209, 304, 719, 802, 803, 804, 999)


def test_a_healthy_machine_passes_every_stage_in_order(machine: Machine):
    done, rates = walk(machine.host(), Stack(machine.libraries, ()), False, silent)
    assert [(stage.name, stage.outcome) for stage in done] == [
        (step.name, "passed") for step in STEPS
    ]
    assert [stage.why for stage in done] == [""] * len(done)
    assert {rate.what for rate in rates} == {"copy on the GPU", "float32 matmul"}
    libraries = {stage.name: stage.library for stage in done if stage.library}
    assert libraries["libcuda"] == str(machine.folder / "libcuda.so.1")
    assert libraries["cudnn_create"] == libraries["cudnn"] == machine.libraries["cudnn"]


def test_what_the_driver_says_of_each_gpu_is_kept(machine: Machine):
    devices = machine.told("driver", "devices=2,mode=3,driver=13000").stages[2]
    told = [call.text for call in devices.calls]
    assert told[:2] == ["CUDA 13.0", "2"]
    assert "GPU 1: Stand-in 9000" in told
    assert "GPU 1: 0000:0b:00.0" in told
    assert "GPU 0: capability 9.0, compute mode exclusive_process" in told


@pytest.mark.parametrize("code", (35, 100, 999))
def test_a_driver_that_does_not_start_stops_all_but_what_needs_no_gpu(machine: Machine, code: int):
    stages = machine.walk(f"cuInit={code},cudaGetDeviceCount={code}")
    assert outcomes(stages) == {"init": "failed"}
    assert (
        stages["init"].why == f"cuInit gave {code} CUDA_ERROR_STANDIN_{code}: the stand-in says no"
    )
    assert outcomes(stages, "passed") == dict.fromkeys(
        ("libcuda", "nvrtc", "cudart", "cudnn"), "passed"
    )
    assert stages["devices"].why == "needs cuInit, which failed"
    assert stages["cublas"].why == "needs a context, but cuInit failed"
    assert stages["cudart"].failing is not None  # told, although there is no GPU to find
    assert stages["cudart"].failing.code == code


@pytest.mark.parametrize(
    "call, stage, codes",
    [
        ("cuInit", "init", CODES),
        ("cuDriverGetVersion", "devices", (34,)),
        ("cuDeviceGetCount", "devices", (100, 999)),
        ("cuDeviceGet", "devices", (101,)),
        ("cuDevicePrimaryCtxRetain", "context", CODES),
        ("cuMemGetInfo_v2", "context", (201,)),
        ("cuMemAlloc_v2", "memory", (2,)),
        ("cuMemcpyHtoD_v2", "memory", (719,)),
        ("cuCtxSynchronize", "memory", (214, 719)),
        ("nvrtcCompileProgram", "nvrtc", (5, 6)),
        ("cuModuleLoadData", "launch", (200, 209)),
        ("cuLaunchKernel", "launch", (701, 719)),
    ],
)
def test_the_call_and_the_code_of_a_failing_stage_are_named(machine: Machine, call, stage, codes):
    group = next(step.group for step in STEPS if step.name == stage)
    for code in codes:
        told = machine.told(group, f"{call}={code}")
        failed = [one for one in told.stages if one.outcome == "failed"]
        assert [one.name for one in failed] == [stage]
        assert failed[0].failing is not None
        assert (failed[0].failing.name, failed[0].failing.code) == (call, code)
        assert f"{call} gave {code}" in failed[0].why


def test_a_driver_that_names_no_codes_gets_them_from_a_table(tmp_path: Path, machine: Machine):
    del machine
    old = Machine(build(tmp_path, "CUDA", "CUBLAS", old=True))
    names = {code: old.told("driver", f"cuInit={code}").stages[1].why for code in (34, 1234)}
    assert names == {
        34: "cuInit gave 34 CUDA_ERROR_STUB_LIBRARY",
        1234: "cuInit gave 1234 CUDA_ERROR_1234",
    }
    assert (
        old.told("blas", "cublasCreate_v2=3").stages[0].why
        == "cublasCreate_v2 gave 3 CUBLAS_STATUS_ALLOC_FAILED"
    )


def test_a_compiler_that_makes_no_machine_code_leaves_that_to_the_driver(
    tmp_path: Path, machine: Machine
):
    old = Machine(machine.folder)
    old.libraries = {"nvrtc": str(build(tmp_path, "NVRTC", old=True) / "libnvrtc.so.12")}
    compiled, launched = old.told("device").stages[2:]
    assert [call.text for call in compiled.calls if call.name == "nvrtcCompileProgram"] == [
        "for compute_90"
    ]
    assert launched.outcome == "passed"
    assert launched.why == "this NVRTC makes only PTX for this GPU: the driver compiled it"


FAULTS = [
    (
        "cublasCreate_v2=1",
        "cublas:0",
        "cublasCreate_v2 gave 1 CUBLAS_STATUS_STANDIN: the stand-in says no",
    ),
    ("cublasSgemm_v2=wrong", "cublas:0", "element (0, 0) is "),
    ("cuMemcpyDtoD_v2=wrong", "memory:0", "what came back from the GPU is not what was sent"),
    ("cuLaunchKernel=wrong", "launch:0", "element 77 is 156.0 instead of 155.0"),
    ("nvrtcGetPTX=wrong", "nvrtc:0", "the PTX has no kernel in it"),
    (
        "nvrtcCompileProgram=6",
        "nvrtc:0",
        "nvrtcCompileProgram gave 6 NVRTC_ERROR_STANDIN for sm_90: no builtins here",
    ),
    ("cc=61", "nvrtc:0", "NVRTC 12.8 compiles for sm_75 and newer; this GPU is sm_61"),
    (
        "cudaGetDeviceCount=35",
        "cudart",
        "cudaGetDeviceCount gave 35 cudaErrorStandin: the stand-in says no",
    ),
    (
        "cudart=13010,cudaGetDeviceCount=35",
        "cudart",
        "the runtime is newer than the driver: CUDA 13.1 with a driver",
    ),
    ("major=8", "cudnn", "cudnnGetVersion says 90100, cudnnGetProperty 8.1.1"),
    (
        "cudnnCnnVersionCheck=3009",
        "cudnn",
        "cudnnCnnVersionCheck gave 3009 CUDNN_STATUS_STANDIN: the stand-in says no",
    ),
    ("cudnnCreate=1001", "cudnn_create:0", "says no; 8.0 MiB of 64.0 MiB GPU memory was free"),
    ("cudnnConvolutionForward=wrong", "convolution:0", "element 0 of Forward is "),
    ("cudnnConvolutionBackwardData=wrong", "convolution:0", "element 0 of BackwardData is "),
    ("cudnnConvolutionBackwardFilter=wrong", "convolution:0", "element 0 of BackwardFilter is "),
    (
        "cudnnConvolutionForward=3000",
        "convolution:0",
        "in float32: cudnnConvolutionForward gave 3000 CUDNN_STATUS_NOT_S",
    ),
    (
        "ncclCommInitAll=2",
        "nccl",
        "ncclCommInitAll gave 2 ncclSystemError: unhandled system error; the stand-in says no",
    ),
    ("ncclGroupEnd=wrong", "nccl", "GPU 0 has 2.0 instead of 1"),
    ("devices=0", "devices", "the driver shows no GPU"),
]


@pytest.mark.parametrize("standin, stage, why", halved(FAULTS))
def test_each_fault_fails_its_own_stage_alone(machine: Machine, standin: str, stage: str, why: str):
    stages = machine.walk(standin)
    assert outcomes(stages) == {stage: "failed"}
    assert why in stages[stage].why
    assert outcomes(stages, "crashed", "hung") == {}


@pytest.mark.parametrize(
    "standin, stage, why",
    [
        ("cc=100", "launch:0", "this NVRTC makes only PTX for this GPU: the driver compiled it"),
        (
            "ptx=222",
            "launch:0",
            "machine code runs, but the driver does not take this NVRTC's PTX "
            "(CUDA_ERROR_STANDIN_222)",
        ),
        (
            "cudart=12090",
            "cudart",
            "CUDA 12.9 with a driver for up to CUDA 12.8: kernels run, PTX from this CUDA does not",
        ),
        ("bfloat16=3000", "convolution:0", "left out, not for this GPU and cuDNN: bfloat16"),
        ("cc=75", "convolution:0", "left out, not for this GPU and cuDNN: bfloat16"),
    ],
)
def test_what_is_only_narrower_passes_with_a_word(
    machine: Machine, standin: str, stage: str, why: str
):
    stages = machine.walk(standin)
    assert (stages[stage].outcome, stages[stage].why) == ("passed", why)
    assert outcomes(stages, "failed", "crashed", "hung", "skipped") == {}


def test_little_free_memory_makes_the_tests_smaller_and_they_say_so(machine: Machine):
    free = machine.told("device", "free=3000000").stages
    assert [stage.outcome for stage in free] == ["passed"] * 4
    assert "; the test takes 1.4 MiB instead of 96.0 MiB" in free[1].calls[0].text
    full = machine.told("device", "free=1100000").stages[1]
    assert (full.name, full.outcome, full.failing and full.failing.code) == ("memory", "failed", 2)


def test_a_limit_is_kept(machine: Machine):
    memory = machine.told("device", "", "--limit", "2097152").stages[1]
    assert "the test takes 2.0 MiB instead of 96.0 MiB" in memory.calls[0].text


DEADLY = [
    ("driver", "cuInit", "init"),
    ("driver", "cuDeviceGetName", "devices"),
    ("device", "cuDevicePrimaryCtxRetain", "context"),
    ("device", "cuMemcpyDtoD_v2", "memory"),
    ("device", "nvrtcCompileProgram", "nvrtc"),
    ("device", "cuLaunchKernel", "launch"),
    ("runtime", "cudaRuntimeGetVersion", "cudart"),
    ("blas", "cublasSgemm_v2", "cublas"),
    ("cudnn", "cudnnGetVersion", "cudnn"),
    ("convolution", "cudnnCreate", "cudnn_create"),
    ("convolution", "cudnnConvolutionBackwardData", "convolution"),
    ("nccl", "ncclCommInitAll", "nccl"),
]


@pytest.mark.parametrize("group, call, stage", halved(DEADLY))
def test_a_crash_in_any_stage_is_that_stage_s(machine: Machine, group: str, call: str, stage: str):
    told = machine.told(group, f"{call}=die6")
    last = told.stages[-1]
    assert told.broke
    assert (last.name, last.outcome, last.why) == (
        stage,
        "crashed",
        f"{call}: died by signal 6 (SIGABRT)",
    )
    assert {one.outcome for one in told.stages[:-1]} <= {"passed"}


def test_a_hang_in_any_stage_is_that_stage_s(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    limit(monkeypatch, 3.0)
    with ThreadPoolExecutor(len(DEADLY)) as pool:
        told = list(
            pool.map(lambda case: machine.told(case[0], f"{case[1]}=hang").stages[-1], DEADLY)
        )
    assert [(one.name, one.outcome) for one in told] == [(stage, "hung") for _, _, stage in DEADLY]
    assert [one.failing and one.failing.name for one in told] == [call for _, call, _ in DEADLY]


def test_a_library_that_ends_the_process_is_a_crash_with_its_words(machine: Machine):
    last = machine.told("cudnn", "cudnnGetVersion=exit3").stages[-1]
    assert (last.outcome, last.why) == (
        "crashed",
        "cudnnGetVersion: ended the process with code 3: standin: leaving",
    )


@pytest.mark.parametrize(
    "standin, crashed, skipped",
    [
        (
            "cuInit=die11",
            "init",
            {
                "devices": "needs cuInit, which crashed",
                "nccl": "needs a context, but cuInit crashed",
            },
        ),
        ("cuMemcpyDtoD_v2=die7", "memory:0", {"launch:0": "needs GPU memory, which crashed"}),
        (
            "nvrtcCompileProgram=die11",
            "nvrtc:0",
            {"launch:0": "needs a compiled kernel, which crashed"},
        ),
        (
            "cudnnGetVersion=die6",
            "cudnn",
            {"cudnn_create:0": "needs a cuDNN that is whole, which crashed"},
        ),
        (
            "cudnnCreate=die11",
            "cudnn_create:0",
            {"convolution:0": "needs a cuDNN handle, which crashed"},
        ),
        ("cublasCreate_v2=die8", "cublas:0", {}),
    ],
)
def test_after_a_crash_the_stages_that_do_not_need_it_go_on(
    machine: Machine, standin, crashed, skipped
):
    stages = machine.walk(standin)
    assert outcomes(stages, "crashed") == {crashed: "crashed"}
    assert {name: stages[name].why for name in skipped} == skipped
    assert outcomes(stages) == {}
    assert len(stages) == len(STEPS)


def test_a_dependency_that_kills_the_process_belongs_to_the_stage_that_wants_it(
    machine: Machine, tmp_path: Path
):
    whole = (machine.folder / "libcudnn.so.9").read_bytes()
    for name in ("libcublasLt.so.12", "libnvrtc-builtins.so.12.9"):
        (tmp_path / name).write_bytes(whole[:4096])  # the header promises more than there is
    preload = tuple(str(path) for path in sorted(tmp_path.iterdir()))
    done, _ = walk(machine.host(), Stack(machine.libraries, preload), False, silent)
    crashed = {stage.name: stage.why for stage in done if stage.outcome == "crashed"}
    assert crashed == {
        "nvrtc": "dlopen libnvrtc-builtins.so.12.9: died by signal 7 (SIGBUS)",
        "cublas": "dlopen libcublasLt.so.12: died by signal 7 (SIGBUS)",
        "cudnn_create": "dlopen libcublasLt.so.12: died by signal 7 (SIGBUS)",
    }


def test_a_crash_on_the_way_out_does_not_undo_what_passed(machine: Machine):
    done, _ = walk(machine.host("cuDevicePrimaryCtxRelease=die11"), Stack({}, ()), False, silent)
    assert [(s.name, s.device, s.outcome) for s in done if s.name in ("context", "memory")] == [
        ("context", 0, "passed"),
        ("memory", 0, "passed"),
    ]
    assert "cuDevicePrimaryCtxRelease: died by signal 11 (SIGSEGV)" in {stage.why for stage in done}


def test_after_a_crash_on_one_gpu_the_others_go_on(machine: Machine):
    stages = machine.walk(
        "devices=3,cuMemcpyDtoD_v2@0=die7,cublasCreate_v2@1=die11,cuDevicePrimaryCtxRetain@2=46"
    )
    assert outcomes(stages, "crashed", "failed") == {
        "memory:0": "crashed",
        "cublas:1": "crashed",
        "context:2": "failed",
    }
    assert (
        stages["launch:1"].outcome
        == stages["cublas:0"].outcome
        == stages["convolution:1"].outcome
        == "passed"
    )
    assert stages["cublas:2"].why == stages["memory:2"].why == "needs a context, which failed"
    assert stages["nccl"].outcome == "passed"
    assert stages["nccl"].failing is None


def test_a_gpu_that_hung_is_left_alone_afterwards(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
):
    limit(monkeypatch, 1.5)
    stages = machine.walk("devices=2,cuMemcpyDtoD_v2@1=hang")
    assert outcomes(stages, "hung") == {"memory:1": "hung"}
    assert stages["cublas:1"].why == stages["convolution:1"].why == "left out: GPU 1 hung before"
    assert stages["cublas:0"].outcome == "passed"


def test_a_driver_that_hangs_is_not_asked_again(machine: Machine, monkeypatch: pytest.MonkeyPatch):
    limit(monkeypatch, 1.5)
    stages = machine.walk("cuInit=hang,cudaGetDeviceCount=hang,cudaDriverGetVersion=hang")
    assert outcomes(stages, "hung") == {"init": "hung"}
    assert stages["cudart"].outcome == "passed"


def test_gentle_only_reads(machine: Machine):
    stages = machine.walk("cuDevicePrimaryCtxRetain=die11", gentle=True)
    assert set(outcomes(stages, "passed")) == {step.name for step in STEPS if step.gentle}
    assert {stage.why for stage in stages.values() if stage.outcome == "skipped"} == {
        "left out: --gentle only reads"
    }


def test_without_a_library_its_stages_are_left_out(machine: Machine):
    stages = machine.walk(without=("nvrtc", "cudnn"))
    assert stages["nvrtc"].why == stages["launch:0"].why == "no nvrtc library to test"
    assert stages["cudnn"].why == stages["convolution:0"].why == "no cudnn library to test"
    assert stages["cublas:0"].outcome == stages["cudart"].outcome == "passed"


def test_a_library_that_is_broken_or_missing_fails_at_dlopen(machine: Machine, tmp_path: Path):
    (tmp_path / "libcublas.so.12").write_text("not a library")
    broken = Machine(machine.folder)
    broken.libraries = {
        **machine.libraries,
        "cublas": str(tmp_path / "libcublas.so.12"),
        "nccl": "/nowhere/libnccl.so.2",
    }
    stages = broken.walk()
    assert stages["cublas:0"].why == "libcublas.so.12 cannot be loaded: file too short"
    assert stages["nccl"].why.startswith(
        "libnccl.so.2 cannot be loaded: cannot open shared object file"
    )
    assert stages["nccl"].failing is not None
    assert stages["nccl"].failing.name == "dlopen libnccl.so.2"


def test_a_driver_library_that_is_not_there_is_the_first_stage(machine: Machine):
    stages = {s.name: s for s in walk(Nowhere(machine), Stack({}, ()), False, silent)[0]}
    assert stages["libcuda"].outcome == "failed"
    assert stages["init"].why == "needs the driver library, which failed"


class Nowhere(Computer):
    """A host on which no driver library is found: the loader looks for another name."""

    def __init__(self, machine: Machine) -> None:
        self._inner = machine.host()

    def ask(self, op: str, *args: str) -> Fact:
        return self._inner.ask(op, *args, "--cuda", "libcuda.nowhere.so.1")


class Asked(Computer):
    """Keeps the questions, and answers each like a machine without a driver."""

    def __init__(self) -> None:
        self.questions: list[tuple[str, ...]] = []

    def ask(self, op: str, *args: str) -> Fact:
        self.questions.append((op, *args))
        lines = ({"stage": "libcuda"}, {"end": "libcuda", "ok": False})
        return Known(lines, Source("call", "probe"))


def test_a_child_gets_the_libraries_it_tests_and_the_dependencies_it_needs():
    host = Asked()
    preload = (
        "~/a/libcudart.so.12",
        "~/a/libcublasLt.so.12",
        "~/a/libnvrtc.so.12",
        "~/a/libnvrtc-builtins.so.12.9",
    )
    libraries = {
        "nvrtc": "~/a/libnvrtc.so.12",
        "cudnn": "~/b/libcudnn.so.9",
        "cuda": "~/c/libcuda.so.1",
    }
    notes: list[str] = []
    walk(host, Stack(libraries, preload), False, notes.append)
    assert sorted(host.questions) == [
        (
            "call",
            "probe",
            "cudnn",
            "--cudnn",
            "~/b/libcudnn.so.9",
            "--preload",
            "~/a/libcudart.so.12",
            "--no-gpu",
        ),
        (
            "call",
            "probe",
            "device",
            "--cuda",
            "~/c/libcuda.so.1",
            "--nvrtc",
            "~/a/libnvrtc.so.12",
            "--preload",
            "~/a/libnvrtc-builtins.so.12.9",
            "--no-gpu",
        ),
        ("call", "probe", "driver", "--cuda", "~/c/libcuda.so.1"),
    ]
    assert sorted(notes) == ["context", "cuDNN and its parts", "loading the driver library"]


@pytest.mark.parametrize(
    "cudnn, opened",
    [
        ("libcudnn.so.9", ["libcudart.so.12"]),
        ("libcudnn.so.8", ["libcublas.so.12", "libcudart.so.12"]),
    ],
)
def test_an_older_cudnn_finds_the_cublas_that_it_is_linked_with(cudnn: str, opened: list[str]):
    host = Asked()
    preload = ("/a/libcublas.so.12", "/a/libcudart.so.12", "/a/libz.so.1")
    walk(host, Stack({"cudnn": f"/b/{cudnn}"}, preload), False, silent)
    asked = next(question for question in host.questions if "cudnn" in question)
    assert [path for path in asked if path.startswith("/a/")] == [f"/a/{name}" for name in opened]


def test_a_child_that_cannot_be_started_is_no_result(machine: Machine):
    class Broken(Computer):
        def ask(self, op: str, *args: str) -> Fact:
            return Unknown("probe: cannot be started: no python")

    done, _ = walk(Broken(), Stack(machine.libraries, ()), False, silent)
    assert {stage.outcome for stage in done} == {"skipped"}
    assert [stage.why for stage in done if stage.name in ("libcuda", "cudnn")] == [
        "probe: cannot be started: no python"
    ] * 2
