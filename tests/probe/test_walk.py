"""The native stages on a machine of stand-ins: codes, crashes, hangs, and what is left out."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gpuwhy.facts.fact import Fact, Known, Source, Unknown
from gpuwhy.machine.machine import Machine as Computer
from gpuwhy.probe.stages import STEPS, Stack
from gpuwhy.probe.walk import walk
from tests.probe.machines import Machine, build, limit, outcomes, silent


def test_a_healthy_machine_passes_every_stage_in_order(machine: Machine):
    done = walk(machine.host(), Stack(machine.libraries, ()), False, silent)
    assert [(one.name, one.outcome, one.why) for one in done] == [(step.name, "passed", "") for step in STEPS]
    libraries = {stage.name: stage.library for stage in done if stage.library}
    assert libraries["libcuda"] == str(machine.folder / "libcuda.so.1")
    assert libraries["cudnn_create"] == libraries["cudnn"] == machine.libraries["cudnn"]


def test_a_driver_that_does_not_start_stops_all_but_what_needs_no_gpu(machine: Machine):
    stages = machine.walk("cuInit=100,cudaGetDeviceCount=100")
    assert outcomes(stages) == {"init": "failed"}
    assert stages["init"].why == "cuInit gave 100 CUDA_ERROR_STANDIN_100: the stand-in says no"
    assert set(outcomes(stages, "passed")) == {"libcuda", "nvrtc", "cudart", "cudnn"}
    assert stages["devices"].why == "needs cuInit, which failed"
    assert stages["cublas"].why == "needs a context, but cuInit failed"
    assert stages["cudart"].failing.code == 100  # told, although there is no GPU to find


def test_a_driver_that_names_no_codes_gets_them_from_a_table(tmp_path: Path):
    old = Machine(build(tmp_path, "CUDA", "CUBLAS", old=True))
    stub, unknown = (old.told("driver", f"cuInit={code}").stages[1].why for code in (34, 1234))
    assert stub == "cuInit gave 34 CUDA_ERROR_STUB_LIBRARY"
    assert unknown == "cuInit gave 1234 CUDA_ERROR_1234"
    blas = old.told("blas", "cublasCreate_v2=3").stages[0]
    assert blas.why == "cublasCreate_v2 gave 3 CUBLAS_STATUS_ALLOC_FAILED"


def test_a_compiler_that_makes_no_machine_code_leaves_that_to_the_driver(tmp_path: Path, machine: Machine):
    old = Machine(machine.folder)
    old.libraries = {"nvrtc": str(build(tmp_path, "NVRTC", old=True) / "libnvrtc.so.12")}
    assert [stage.outcome for stage in old.told("device").stages] == ["passed"] * 4
    assert set(outcomes(machine.walk("cc=100"), "passed")) == set(machine.walk())


FAULTS = [
    ("cublasSgemm_v2=wrong", "cublas:0", "element (0, 0) is "),
    ("cuMemcpyDtoD_v2=wrong", "memory:0", "what came back from the GPU is not what was sent"),
    ("cuLaunchKernel=wrong", "launch:0", "element 77 is 156.0 instead of 155.0"),
    ("nvrtcGetPTX=wrong", "nvrtc:0", "the PTX has no kernel in it"),
    ("nvrtcCompileProgram=6", "nvrtc:0", "gave 6 NVRTC_ERROR_STANDIN for sm_90: no builtins here"),
    ("cc=61", "nvrtc:0", "NVRTC 12.8 compiles for sm_75 and newer; this GPU is sm_61"),
    ("cudart=13010,cudaGetDeviceCount=35", "cudart", "the runtime is newer than the driver: CUDA"),
    ("major=8", "cudnn", "cudnnGetVersion says 90100, cudnnGetProperty 8.1.1"),
    ("cudnnCnnVersionCheck=3009", "cudnn", "gave 3009 CUDNN_STATUS_STANDIN: the stand-in says no"),
    ("cudnnCreate=1001", "cudnn_create:0", "says no; 8 of 64 MiB GPU memory was free"),
    ("ncclCommInitAll=2", "nccl", "gave 2 ncclSystemError: unhandled system error; the stand-in"),
    ("ncclGroupEnd=wrong", "nccl", "GPU 0 has 2.0 instead of 1"),
    ("devices=0", "devices", "the driver shows no GPU"),
]


@pytest.mark.parametrize(("standin", "stage", "why"), FAULTS)
def test_each_fault_fails_its_own_stage_alone(machine: Machine, standin: str, stage: str, why: str):
    stages = machine.walk(standin)
    assert outcomes(stages, "failed", "crashed", "hung") == {stage: "failed"}
    assert why in stages[stage].why


def test_little_free_memory_makes_the_test_smaller(machine: Machine):
    free = machine.told("device", "free=3000000").stages
    assert [stage.outcome for stage in free] == ["passed"] * 4
    full = machine.told("device", "free=110000").stages[1]
    assert (full.name, full.outcome, full.failing and full.failing.code) == ("memory", "failed", 2)


DEADLY = [
    ("driver", "cuInit", "init"),
    ("driver", "cuDeviceGetCount", "devices"),
    ("device", "cuDevicePrimaryCtxRetain", "context"),
    ("device", "nvrtcCompileProgram", "nvrtc"),
    ("device", "cuLaunchKernel", "launch"),
    ("runtime", "cudaRuntimeGetVersion", "cudart"),
    ("blas", "cublasSgemm_v2", "cublas"),
    ("cudnn", "cudnnGetVersion", "cudnn"),
    ("convolution", "cudnnCreate", "cudnn_create"),
    ("nccl", "ncclCommInitAll", "nccl"),
]


@pytest.mark.parametrize(("end", "outcome"), [("die6", "crashed"), ("hang", "hung")])
def test_a_crash_or_a_hang_is_that_stage_s(machine: Machine, end, outcome, monkeypatch):
    limit(monkeypatch, 40.0 if end == "die6" else 5.0)
    with ThreadPoolExecutor(4) as pool:
        told = [*pool.map(lambda case: machine.told(case[0], f"{case[1]}={end}"), DEADLY)]
    last = [one.stages[-1] for one in told]
    assert [(one.name, one.outcome) for one in last] == [(name, outcome) for *_, name in DEADLY]
    assert [one.failing and one.failing.name for one in last] == [call for _, call, _ in DEADLY]
    assert all(one.broke for one in told)
    last = machine.told("cudnn", "cudnnGetVersion=exit3").stages[-1]
    assert (last.outcome, last.why) == ("crashed", "cudnnGetVersion: ended the process with code 3: standin: leaving")


@pytest.mark.parametrize(
    ("standin", "crashed", "skipped"),
    [
        ("cuInit=die11", "init", {"nccl": "needs a context, but cuInit crashed"}),
        ("nvrtcCompileProgram=die11", "nvrtc:0", {"launch:0": "needs a compiled kernel, which cr"}),
        ("cudnnGetVersion=die6", "cudnn", {"cudnn_create:0": "needs a cuDNN that is whole, which"}),
    ],
)
def test_after_a_crash_the_stages_that_do_not_need_it_go_on(machine: Machine, standin, crashed, skipped):
    stages = machine.walk(standin)
    assert outcomes(stages, "crashed", "failed") == {crashed: "crashed"}
    assert all(why in stages[name].why for name, why in skipped.items())
    assert len(stages) == len(STEPS)


def test_a_dependency_that_kills_the_process_belongs_to_the_stage_that_wants_it(machine: Machine, tmp_path: Path):
    whole = (machine.folder / "libcudnn.so.9").read_bytes()
    for name in ("libcublasLt.so.12", "libnvrtc-builtins.so.12.9"):
        (tmp_path / name).write_bytes(whole[:4096])  # the header promises more than there is
    preload = tuple(str(path) for path in sorted(tmp_path.iterdir()))
    done = walk(machine.host(), Stack(machine.libraries, preload), False, silent)
    crashed = {stage.name: stage.why for stage in done if stage.outcome == "crashed"}
    assert crashed == {
        "nvrtc": "dlopen libnvrtc-builtins.so.12.9: died by signal 7 (SIGBUS)",
        "cublas": "dlopen libcublasLt.so.12: died by signal 7 (SIGBUS)",
        "cudnn_create": "dlopen libcublasLt.so.12: died by signal 7 (SIGBUS)",
    }


def test_a_crash_on_the_way_out_does_not_undo_what_passed(machine: Machine):
    done = walk(machine.host("cuDevicePrimaryCtxRelease=die11"), Stack({}, ()), False, silent)
    found = {one.name: one.outcome for one in done}
    assert (found["context"], found["memory"]) == ("passed", "passed")
    assert "cuDevicePrimaryCtxRelease: died by signal 11 (SIGSEGV)" in {stage.why for stage in done}


def test_after_a_crash_on_one_gpu_the_others_go_on(machine: Machine):
    faults = "cuMemcpyDtoD_v2@0=die7,cublasCreate_v2@1=die11,cuDevicePrimaryCtxRetain@2=46"
    stages = machine.walk(f"devices=3,{faults}")
    broken = {"memory:0": "crashed", "cublas:1": "crashed", "context:2": "failed"}
    assert outcomes(stages, "crashed", "failed") == broken
    on = ("launch:1", "cublas:0", "cudnn_create:1", "nccl")
    assert {stages[name].outcome for name in on} == {"passed"}
    assert stages["cublas:2"].why == stages["memory:2"].why == "needs a context, which failed"


def test_a_gpu_or_a_driver_that_hung_is_left_alone_afterwards(machine: Machine, monkeypatch):
    limit(monkeypatch, 4.0)
    stages = machine.walk("devices=2,cuMemcpyDtoD_v2@1=hang")
    assert outcomes(stages, "hung") == {"memory:1": "hung"}
    assert stages["cublas:1"].why == stages["cudnn_create:1"].why == "left out: GPU 1 hung before"
    assert stages["cublas:0"].outcome == "passed"
    stages = machine.walk("cuInit=hang,cudaGetDeviceCount=hang,cudaDriverGetVersion=hang")
    assert outcomes(stages, "hung") == {"init": "hung"}
    assert stages["cudart"].outcome == "passed"


def test_gentle_only_reads(machine: Machine):
    stages = machine.walk("cuDevicePrimaryCtxRetain=die11", gentle=True)
    assert set(outcomes(stages, "passed")) == {step.name for step in STEPS if step.gentle}
    skipped = {stage.why for stage in stages.values() if stage.outcome == "skipped"}
    assert skipped == {"left out: --gentle only reads"}


def test_libraries_that_are_missing_or_broken(machine: Machine, tmp_path: Path):
    (tmp_path / "libcublas.so.12").write_text("not a library")
    broken = Machine(machine.folder)
    broken.libraries = {
        "cudart": machine.libraries["cudart"],
        "cublas": str(tmp_path / "libcublas.so.12"),
        "nccl": "/nowhere/libnccl.so.2",
    }
    stages = broken.walk()
    assert stages["nvrtc"].why == stages["launch:0"].why == "no nvrtc library to test"
    assert stages["cublas:0"].why == "libcublas.so.12 cannot be loaded: file too short"
    assert stages["nccl"].why.startswith("libnccl.so.2 cannot be loaded: cannot open shared obj")
    assert stages["nccl"].failing.name == "dlopen libnccl.so.2"
    assert stages["cudart"].outcome == "passed"


class Asked(Computer):
    """Keeps the questions, and answers each with the same."""

    def __init__(self, answer: Fact | tuple) -> None:
        self.questions: list[tuple[str, ...]] = []
        self.answer = Known(answer, Source("call", "x")) if isinstance(answer, tuple) else answer

    def ask(self, op: str, *args: str) -> Fact:
        self.questions.append((op, *args))
        return self.answer


NO_DRIVER = ({"stage": "libcuda"}, {"end": "libcuda", "ok": False})


def test_a_child_gets_the_libraries_it_tests_and_the_dependencies_it_needs():
    host = Asked(NO_DRIVER)
    names = ("libcudart.so.12", "libcublasLt.so.12", "libnvrtc.so.12", "libnvrtc-builtins.so.12.9")
    nvrtc, cudnn, cuda = "/a/libnvrtc.so.12", "/b/libcudnn.so.9", "/c/libcuda.so.1"
    notes: list[str] = []
    libraries = {"nvrtc": nvrtc, "cudnn": cudnn, "cuda": cuda}
    walk(host, Stack(libraries, tuple(f"/a/{name}" for name in names)), False, notes.append)
    assert sorted(" ".join(one) for one in host.questions) == [
        f"call probe cudnn --cudnn {cudnn} --preload /a/libcudart.so.12 --no-gpu",
        f"call probe device --cuda {cuda} --nvrtc {nvrtc} --preload /a/{names[3]} --no-gpu",
        f"call probe driver --cuda {cuda}",
    ]
    assert sorted(notes) == ["context", "cuDNN and its parts", "loading the driver library"]


@pytest.mark.parametrize(
    ("cudnn", "opened"),
    [
        ("libcudnn.so.9", ["libcudart.so.12"]),
        ("libcudnn.so.8", ["libcublas.so.12", "libcudart.so.12"]),
        ("cudnn64_8.dll", ["libcublas.so.12", "libcudart.so.12"]),
    ],
)
def test_an_older_cudnn_finds_the_cublas_that_it_is_linked_with(cudnn: str, opened: list[str]):
    host = Asked(NO_DRIVER)
    preload = ("/a/libcublas.so.12", "/a/libcudart.so.12", "/a/libz.so.1")
    walk(host, Stack({"cudnn": f"/b/{cudnn}"}, preload), False, silent)
    asked = next(question for question in host.questions if "cudnn" in question)
    assert [path for path in asked if path.startswith("/a/")] == [f"/a/{name}" for name in opened]


def test_a_child_that_does_not_begin_says_why():
    why = "probe ended with code 1: No module named 'x'"
    for answer in (Unknown(why), ({"ended": why},)):
        first = walk(Asked(answer), Stack({}, ()), True, silent)[0]
        assert (first.name, first.outcome, first.why) == ("libcuda", "skipped", why)
