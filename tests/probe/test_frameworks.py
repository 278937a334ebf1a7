"""Frameworks in their own interpreter: stand-ins that work, fail, crash and hang; the real ones.

Behind the marker `real`: GPUWHY_LAB=/folder of virtual environments, on a machine without a GPU.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gpuwhy.facts.fact import NOT_OBSERVED
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.probe import FrameworkRun, Stage
from gpuwhy.machine import live as live_machine
from gpuwhy.machine.children import framework as child
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.recording import RecordingMachine, read_recording, recorded_machine
from gpuwhy.probe.frameworks import read, run
from gpuwhy.probe.stages import FRAMEWORK_STAGES

from .fake_frameworks import CUPY, NUMPY, ONNXRUNTIME, TENSORFLOW, TORCH

ALL_PASSED = [f"{name} passed" for name in FRAMEWORK_STAGES]
SKIPPED = ["matmul skipped", "convolution skipped"]
CHILDREN = Path(child.__file__).parent
LAB = Path(os.environ.get("GPUWHY_LAB", "/nonexistent"))


def one(name: str) -> Framework:
    unseen = [NOT_OBSERVED] * 6
    return Framework(name, name, name, "", f"/x/{name}", *unseen)


def host(folder: Path, **variables: str) -> LiveMachine:
    return LiveMachine(
        {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(folder), **variables}
    )


@pytest.fixture
def tried(tmp_path):
    """Runs the child with a module of that name and code."""

    def go(name: str, code: str, gentle: bool = False, **variables: str) -> FrameworkRun:
        (tmp_path / f"{name}.py").write_text(code)
        (tmp_path / "numpy.py").write_text(NUMPY)
        return run(host(tmp_path, **variables), sys.executable, one(name), gentle)

    return go


def outcomes(found: FrameworkRun) -> list[str]:
    return [f"{stage.name} {stage.outcome}" for stage in found.stages]


def stage(found: FrameworkRun, name: str) -> Stage:
    return next(one for one in found.stages if one.name == name)


def test_torch_that_works(tried):
    found = tried("torch", TORCH)
    assert outcomes(found) == ALL_PASSED, found
    calls = {call.name: call for found_stage in found.stages for call in found_stage.calls}
    assert calls["torch.cuda.get_device_capability(0)"].text == "9.0"
    assert calls["torch.cuda.get_arch_list()"].text == "sm_80 sm_90"
    assert calls["torch.backends.cudnn.version()"].text == "90100"
    assert calls["check conv2d, float16, input gradient"].text == "from 8 to 72"
    assert found.said == ""


@pytest.mark.parametrize(
    "wrong, words", [("50", "wrong result: from 306 to 256 instead of"), ("nan", "from nan to 256")]
)
def test_a_wrong_result_fails_its_stage_and_the_next_is_tried(tried, wrong, words):
    found = tried("torch", TORCH, STANDIN_WRONG=wrong)
    assert outcomes(found)[2:] == ["matmul failed", "convolution failed"]
    assert words in stage(found, "matmul").why
    failing = stage(found, "matmul").failing
    assert failing is not None
    assert failing.name == "check torch.matmul, float32, product"


def test_no_gpu_is_told_in_torchs_own_words(tried):
    found = tried(
        "torch",
        TORCH,
        STANDIN_GPUS="0",
        STANDIN_NO_INIT="Found no NVIDIA driver on your system.\nInstall one",
    )
    assert outcomes(found) == [
        "import passed",
        "devices failed",
        *SKIPPED
    ]
    assert stage(found, "devices").why == "RuntimeError: Found no NVIDIA driver on your system."
    assert stage(found, "matmul").why == "devices failed"
    assert "raise RuntimeError" in found.said
    assert "framework.py" not in found.said


def test_gentle_counts_and_does_not_initialise(tried):
    found = tried(
        "torch", TORCH, gentle=True, STANDIN_GPUS="2", STANDIN_NO_INIT="this took a context"
    )
    assert outcomes(found) == [
        "import passed",
        "devices passed",
        *SKIPPED
    ]
    assert [call.text for call in stage(found, "devices").calls] == ["2"]
    assert "--gentle" in stage(found, "matmul").why


def test_gentle_does_not_list_where_listing_takes_a_context(tried):
    found = tried("tensorflow", TENSORFLOW, gentle=True)
    assert outcomes(found)[:2] == ["import passed", "devices skipped"]


def test_tensorflow_that_works(tried):
    found = tried("tensorflow", TENSORFLOW, TF_CPP_MIN_LOG_LEVEL="3")
    assert outcomes(found) == ALL_PASSED, found


@pytest.mark.parametrize(
    "variables, name, words",
    [
        ({"STANDIN_GPUS": "0"}, "devices", "TensorFlow lists no GPU"),
        ({"STANDIN_CPU_BUILD": "1"}, "devices", "this TensorFlow is built without CUDA"),
        (
            {"STANDIN_DEVICE": "CPU:0"},
            "matmul",
            "ran on the CPU: /job:localhost/replica:0/task:0/device:CPU:0",
        ),
    ],
)
def test_tensorflow_without_the_gpu_says_which_way(tried, variables, name, words):
    found = tried("tensorflow", TENSORFLOW, **variables)
    assert stage(found, name).outcome == "failed"
    assert stage(found, name).why == words


def test_onnx_runtime_works_or_says_that_it_fell_back(tried):
    found = tried("onnxruntime", ONNXRUNTIME)
    assert outcomes(found) == ALL_PASSED, found
    found = tried("onnxruntime", ONNXRUNTIME, STANDIN_PROVIDER="CPUExecutionProvider")
    assert outcomes(found) == [
        "import passed",
        "devices failed",
        *SKIPPED
    ]
    assert stage(found, "devices").why == "fell back to the CPU"


def test_cupy_works_or_gives_the_runtimes_word(tried):
    found = tried("cupy", CUPY)
    assert outcomes(found) == ALL_PASSED, found
    found = tried("cupy", CUPY, STANDIN_NO_INIT="cudaErrorInsufficientDriver: too old")
    assert stage(found, "devices").why == "RuntimeError: cudaErrorInsufficientDriver: too old"


def test_jax_sets_its_memory_aside_only_where_nobody_has(tried):
    code = (
        "import os\n__version__ = '1'\n"
        "def devices(kind): raise ValueError(os.environ['XLA_PYTHON_CLIENT_PREALLOCATE'])"
    )
    assert stage(tried("jax", code), "devices").why == "ValueError: false"
    found = tried("jax", code, XLA_PYTHON_CLIENT_PREALLOCATE="true")
    assert stage(found, "devices").why == "ValueError: true"


def test_jax_tells_why_its_plugin_did_not_start(tried):
    code = (
        "import logging\n__version__ = '1'\n"
        "def devices(kind):\n"
        "  try: raise RuntimeError('operation cuInit(0) failed: 303')\n"
        "  except RuntimeError as e:\n"
        "    logging.getLogger('jax._src.xla_bridge').error('plugin', exc_info=e)\n"
        "  raise RuntimeError('Unknown backend gpu')\n"
    )
    found = tried("jax", code)
    assert stage(found, "devices").why == "operation cuInit(0) failed: 303"
    assert "operation cuInit(0) failed" in found.said  # and still printed


@pytest.mark.parametrize(
    "code, words",
    [
        (
            "raise ImportError('libcudnn.so.9: cannot open shared object file')",
            "ImportError: libcudnn.so.9: cannot open",
        ),
        ("import sys; sys.exit('no CUDA, no fun')", "SystemExit: no CUDA, no fun"),
        ("x = 1", "AttributeError: module 'torch' has no attribute"),
        ("def f(:", "SyntaxError: "),
    ],
)
def test_an_import_that_fails(tried, code, words):
    found = tried("torch", code)
    assert outcomes(found) == [
        "import failed",
        "devices skipped",
        *SKIPPED
    ]
    assert stage(found, "import").why.startswith(words)
    assert words.split(":")[0] in found.said


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL])
def test_a_crash_is_an_outcome(tried, number):
    found = tried(
        "torch", f"import os\nos.kill(os.getpid(), {int(number)})\nimport time; time.sleep(9)"
    )
    assert outcomes(found)[0] == "import crashed"
    assert f"signal {int(number)}" in stage(found, "import").why
    assert stage(found, "import").calls[-1].name == "import torch"
    assert "torch.py" in found.said  # Python's own word on where it was


def test_a_crash_later_keeps_what_went_before(tried):
    dying = TORCH + "\ndef zeros(*args, **kwargs): os.kill(os.getpid(), 11)\n"
    found = tried("torch", dying)
    assert outcomes(found) == [
        "import passed",
        "devices passed",
        "matmul crashed",
        "convolution skipped",
    ]
    assert "torch.zeros" in stage(found, "matmul").why


def test_a_hang_is_an_outcome(tried, monkeypatch):
    monkeypatch.setitem(live_machine._LIMITS, "framework", (1.5, 0))
    found = tried("torch", TORCH + "\ndef init(): import time; time.sleep(60)\ncuda.init = init\n")
    assert outcomes(found) == [
        "import passed",
        "devices hung",
        *SKIPPED
    ]
    assert "torch.cuda.init()" in stage(found, "devices").why


def test_what_a_framework_prints_is_not_taken_for_our_words(tried):
    noise = '{"end": "import", "ok": false, "why": "lies"}\n{"devices": ["a lie"]}\n\xff{'
    code = (
        TORCH
        + f"\nprint({noise!r})\nos.write(1, {noise!r}.encode('latin-1'))\nos.system('echo {{')\n"
    )
    found = tried("torch", code)
    assert outcomes(found) == ALL_PASSED
    assert "a lie" in found.said


def test_the_folder_of_the_script_is_not_on_the_path(tried):
    found = tried(
        "torch",
        "import sys\nfound = [path for path in sys.path if 'children' in path]\n"
        "raise SystemExit('%d of them' % len(found))",
    )
    assert stage(found, "import").why == "SystemExit: 0 of them"
    found = tried("torch", TORCH, PYTHONSAFEPATH="1")
    assert outcomes(found)[3] == "convolution passed"


def test_the_libraries_really_mapped_are_kept(tried, tmp_path):
    some = next(path for path in Path("/usr/lib").rglob("libz.so.1*"))
    shutil.copy(some, tmp_path / "libcudart.so.12")
    found = tried(
        "torch", TORCH + f"\nimport ctypes\nctypes.CDLL({str(tmp_path / 'libcudart.so.12')!r})\n"
    )
    assert found.mapped == (str(tmp_path / "libcudart.so.12"),)


def test_a_python_that_is_not_there_or_dies_at_its_start(tmp_path):
    found = run(host(tmp_path), "/nowhere/python", one("torch"), False)
    assert {stage.outcome for stage in found.stages} == {"skipped"}
    assert "cannot be started" in found.stages[0].why
    (tmp_path / "sitecustomize.py").write_text("import os; os.kill(os.getpid(), 7)")
    found = run(host(tmp_path), sys.executable, one("torch"), False)
    assert outcomes(found)[:2] == ["import crashed", "devices skipped"]
    assert "signal 7" in found.stages[0].why


def test_a_recording_replays_the_run(tmp_path):
    (tmp_path / "torch.py").write_text(
        "raise ImportError('libnccl.so.2: cannot open shared object file')"
    )
    live = RecordingMachine(host(tmp_path))
    found = run(live, sys.executable, one("torch"), False)
    replayed = recorded_machine(read_recording(live.dump({}), "x"))
    assert run(replayed, sys.executable, one("torch"), False).stages == found.stages
    assert "not in the recording" in run(replayed, sys.executable, one("jax"), False).stages[0].why


GARBAGE = (None, 7, "x", [], {}, [7], True, -1.5, float("nan"))


@pytest.mark.parametrize(
    "key",
    ["stage", "calling", "call", "end", "ended", "mapped", "said", "note"],
)
@pytest.mark.parametrize("value", GARBAGE, ids=repr)
def test_no_line_is_trusted(key, value):
    lines = (
        {"stage": "import"},
        {key: value, "ok": value, "why": value, "ms": value, "text": value},
        {key: value},
    )
    found = read("torch", lines)
    assert [one.name for one in found.stages] == ["import", "devices", "matmul", "convolution"]
    json.dumps(found.mapped)


@pytest.mark.parametrize(
    "error, said",
    [
        (
            RuntimeError("CUDA error: out of memory\nCompile with `TORCH_USE_CUDA_DSA`"),
            "RuntimeError: CUDA error: out of memory",
        ),
        (
            ImportError(
                "Traceback (most recent call last):\n  File x\nImportError: libcublas.so.10.0: no\n"
                "\n\nFailed to load"
            ),
            "ImportError: libcublas.so.10.0: no",
        ),
        (
            ImportError(
                "\n====\nFailed to import CuPy.\n\nOriginal error:\n"
                "  ImportError: libnvrtc.so.12: no\n=====\n"
            ),
            "ImportError: libnvrtc.so.12: no",
        ),
        (MemoryError(), "MemoryError"),
    ],
)
def test_the_line_that_tells(error, said):
    assert child.reason(error) == said


@pytest.mark.parametrize("name", ["framework", "importing", "windows_modules"])
def test_children_that_run_in_other_pythons_are_readable_for_old_ones(name):
    text = (CHILDREN / f"{name}.py").read_text(encoding="utf-8")
    tree = ast.parse(text, feature_version=(3, 5))
    assert not [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr))
    ]


RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text(encoding="utf-8"))
"""What real frameworks printed on a machine without a driver, as the host kept it."""


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_what_real_frameworks_printed(name):
    one = RECORDED[name]
    found = read(one["framework"], one["lines"])
    assert (outcomes(found), stage(found, one["stage"]).why) == (one["outcomes"], one["why"])
    assert one["said"] in found.said
    assert found.mapped


REAL = [
    ("tf115", "tensorflow", "TensorFlow lists no GPU"),
    ("tf234", "tensorflow", "TensorFlow lists no GPU"),
    ("tf210", "tensorflow", "TensorFlow lists no GPU"),
    ("tf", "tensorflow", "TensorFlow lists no GPU"),
    ("t251", "torch", "RuntimeError: Found no NVIDIA driver on your system."),
    ("big", "torch", "RuntimeError: Found no NVIDIA driver on your system."),
    ("jax", "jax", "operation cuInit(0) failed"),
    ("ort", "onnxruntime", "fell back to the CPU: libcublasLt.so.13: cannot open shared object"),
]


@pytest.mark.real
@pytest.mark.parametrize("venv, name, words", REAL)
def test_real_frameworks_without_a_gpu(venv, name, words):
    python = LAB / venv / "bin" / "python"
    if not python.exists() or Path("/dev/nvidiactl").exists():
        pytest.skip("no such environment, or a GPU")
    found = run(LiveMachine(), str(python), one(name), False)
    assert outcomes(found) == ["import passed", "devices failed", *SKIPPED], found
    assert words in stage(found, "devices").why
    assert found.mapped


ON_CPU = """
import sys
sys.path.insert(0, sys.argv[1])
import framework as stages, numpy, onnxruntime
side = (stages.SIDE, stages.SIDE)
cases = [("MatMul", side, side, side, 256), ("Conv", stages.PICTURES, stages.FILTERS, stages.RESULT, 72)]
for name, left, right, out, wanted in cases:
    model = stages.model(name, left, right, out)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    given = {"a": numpy.ones(left, "float32"), "b": numpy.ones(right, "float32")}
    (got,) = session.run(None, given)
    assert got.shape == out and (got == wanted).all(), name
print("same")
"""


@pytest.mark.real
def test_the_models_written_by_hand_are_onnx():
    python = LAB / "ort" / "bin" / "python"
    if not python.exists():
        pytest.skip("no such environment")
    done = subprocess.run(
        [python, "-B", "-c", ON_CPU, str(CHILDREN)], capture_output=True, text=True
    )
    assert done.stdout == "same\n", done.stderr
