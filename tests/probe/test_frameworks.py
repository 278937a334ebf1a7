"""Frameworks in their own interpreter: stand-ins that work, fail, crash and hang."""

import ast
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from gpuwhy.facts.fact import NOT_OBSERVED
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.probe import FrameworkRun, Stage
from gpuwhy.machine import live as live_machine
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.process import CHILDREN
from gpuwhy.probe.probe import read, run
from gpuwhy.probe.stages import FRAMEWORK_STAGES

from .fake_frameworks import CUPY, NUMPY, ONNXRUNTIME, TENSORFLOW, TORCH

ALL_PASSED = dict.fromkeys(FRAMEWORK_STAGES, "passed")
NO_DEVICES = {"import": "passed", "devices": "failed", "matmul": "skipped", "convolution": "skipped"}
NO_IMPORT = {**dict.fromkeys(FRAMEWORK_STAGES, "skipped"), "import": "failed"}


def one(name: str) -> Framework:
    return Framework(name, name, name, "", f"/x/{name}", *[NOT_OBSERVED] * 6)


def host(folder: Path, **variables: str) -> LiveMachine:
    given = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(folder)}
    return LiveMachine({**given, **variables})


@pytest.fixture
def tried(tmp_path):
    """Runs the child with a module of that name and code."""

    def go(name: str, code: str, gentle: bool = False, **variables: str) -> FrameworkRun:
        (tmp_path / f"{name}.py").write_text(code)
        (tmp_path / "numpy.py").write_text(NUMPY)
        return run(host(tmp_path, **variables), sys.executable, one(name), gentle)

    return go


def outcomes(found: FrameworkRun) -> dict[str, str]:
    return {stage.name: stage.outcome for stage in found.stages}


def stage(found: FrameworkRun, name: str) -> Stage:
    return next(one for one in found.stages if one.name == name)


@pytest.mark.parametrize(
    ("name", "code"),
    [("torch", TORCH), ("tensorflow", TENSORFLOW), ("onnxruntime", ONNXRUNTIME), ("cupy", CUPY)],
)
def test_frameworks_that_work(tried, name, code):
    found = tried(name, code, TF_CPP_MIN_LOG_LEVEL="3")
    assert (outcomes(found), found.said) == (ALL_PASSED, "")


@pytest.mark.parametrize(
    ("wrong", "words"), [("50", "wrong result: from 306 to 256 instead of"), ("nan", "from nan to 256")]
)
def test_a_wrong_result_fails_its_stage_and_the_next_is_tried(tried, wrong, words):
    found = tried("torch", TORCH, STANDIN_WRONG=wrong)
    matmul = stage(found, "matmul")
    assert (matmul.outcome, stage(found, "convolution").outcome) == ("failed", "failed")
    assert words in matmul.why
    assert matmul.failing.name == "check torch.matmul, float32, product"


def test_no_gpu_is_told_in_torchs_own_words(tried):
    words = "Found no NVIDIA driver on your system.\nInstall one"
    found = tried("torch", TORCH, STANDIN_GPUS="0", STANDIN_NO_INIT=words)
    assert outcomes(found) == NO_DEVICES
    assert stage(found, "devices").why == "RuntimeError: Found no NVIDIA driver on your system."
    assert stage(found, "matmul").why == "devices failed"
    assert "raise RuntimeError" in found.said
    assert "framework.py" not in found.said


def test_gentle_takes_no_context(tried):
    given = {"STANDIN_GPUS": "2", "STANDIN_NO_INIT": "this took a context"}
    found = tried("torch", TORCH, gentle=True, **given)
    assert outcomes(found) == {**NO_DEVICES, "devices": "passed"}
    assert "--gentle" in stage(found, "matmul").why
    found = tried("tensorflow", TENSORFLOW, gentle=True)  # listing takes one there
    assert outcomes(found) == {**NO_DEVICES, "devices": "skipped"}


JAX = """
import os, sys, types
__version__ = "1"
words = "cuInit failed, " + os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"]
sys.modules["jax._src.xla_bridge"] = types.SimpleNamespace(_backend_errors={"cuda": words})
def devices(kind):
    raise RuntimeError("Unknown backend gpu")
"""
WITHOUT_A_GPU = [
    ("tensorflow", TENSORFLOW, {"STANDIN_GPUS": "0"}, "TensorFlow lists no GPU"),
    ("tensorflow", TENSORFLOW, {"STANDIN_CPU_BUILD": "1"}, "this TensorFlow is built without CUDA"),
    ("onnxruntime", ONNXRUNTIME, {"STANDIN_PROVIDER": "CPU"}, "fell back to the CPU"),
    ("cupy", CUPY, {"STANDIN_NO_INIT": "too old"}, "RuntimeError: too old"),
    ("jax", JAX, {}, "cuInit failed, false"),  # by what its bridge kept, not its own error
    ("jax", JAX, {"XLA_PYTHON_CLIENT_PREALLOCATE": "true"}, "cuInit failed, true"),
]


@pytest.mark.parametrize(("name", "code", "variables", "words"), WITHOUT_A_GPU)
def test_without_the_gpu_each_says_why(tried, name, code, variables, words):
    found = tried(name, code, **variables)
    assert outcomes(found) == NO_DEVICES
    assert stage(found, "devices").why == words


def test_a_product_that_ran_on_the_cpu_is_no_success(tried):
    why = stage(tried("tensorflow", TENSORFLOW, STANDIN_DEVICE="CPU:0"), "matmul").why
    assert why == "ran on the CPU: /job:localhost/replica:0/task:0/device:CPU:0"


CUBLAS = "ImportError: libcublas.so.10.0: no"
NVRTC = "ImportError: libnvrtc.so.12: no"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("raise ImportError('libcudnn.so.9: no\\nInstall it')", "ImportError: libcudnn.so.9: no"),
        ("import sys; sys.exit('no CUDA, no fun')", "SystemExit: no CUDA, no fun"),
        ("x = 1", "AttributeError: module 'torch' has no attribute '__version__'"),
        (f"raise ImportError('Traceback (most recent):\\n  File x\\n{CUBLAS}\\n\\n')", CUBLAS),
        (f"raise ImportError('=\\nFailed\\n\\nOriginal error:\\n  {NVRTC}\\n=\\n')", NVRTC),
        ("raise MemoryError", "MemoryError"),
    ],
)
def test_an_import_that_fails_says_the_line_that_tells(tried, code, words):
    found = tried("torch", code)
    assert outcomes(found) == NO_IMPORT
    assert stage(found, "import").why == words
    assert words.split(":")[0] in found.said


@pytest.mark.parametrize("number", [6, 11])
def test_a_crash_is_an_outcome(tried, number):
    found = tried("torch", f"import os\nos.kill(os.getpid(), {number})\nimport time; time.sleep(9)")
    assert outcomes(found) == {**NO_IMPORT, "import": "crashed"}
    assert f"signal {number}" in stage(found, "import").why
    assert stage(found, "import").calls[-1].name == "import torch"
    assert "torch.py" in found.said  # Python's own word on where it was
    later = tried("torch", TORCH + f"\ndef zeros(*args, **kwargs): os.kill(os.getpid(), {number})\n")
    assert outcomes(later) == {**ALL_PASSED, "matmul": "crashed", "convolution": "skipped"}
    assert "torch.zeros" in stage(later, "matmul").why


def test_a_hang_is_an_outcome(tried, monkeypatch):
    monkeypatch.setitem(live_machine._LIMITS, "framework", (5.0, 0))
    found = tried("torch", TORCH + "\ndef init(): import time; time.sleep(60)\ncuda.init = init\n")
    assert outcomes(found) == {**NO_DEVICES, "devices": "hung"}
    assert "torch.cuda.init()" in stage(found, "devices").why


def test_what_a_framework_prints_is_not_taken_for_our_words(tried):
    noise = '{"end": "import", "ok": false, "why": "lies"}\n{"devices": ["a lie"]}\n\xff{'
    prints = f"print({noise!r})\nos.write(1, {noise!r}.encode('latin-1'))\nos.system('echo {{')\n"
    found = tried("torch", f"{TORCH}\n{prints}")
    assert outcomes(found) == ALL_PASSED
    assert "a lie" in found.said


def test_the_folder_of_the_script_is_not_on_the_path(tried):
    code = "import sys\nraise SystemExit('%d' % sum('children' in one for one in sys.path))"
    for variables in ({}, {"PYTHONSAFEPATH": "1"}):
        assert stage(tried("torch", code, **variables), "import").why == "SystemExit: 0"


def test_the_libraries_really_mapped_are_kept(tried, tmp_path):
    mine = tmp_path / "libcudart.so.12"
    shutil.copy(next(Path("/usr/lib").rglob("libz.so.1*")), mine)
    found = tried("torch", TORCH + f"\nimport ctypes\nctypes.CDLL({str(mine)!r})\n")
    assert found.mapped == (str(mine),)


def test_a_python_that_is_not_there_or_dies_at_its_start(tmp_path):
    found = run(host(tmp_path), "/nowhere/python", one("torch"), False)
    assert set(outcomes(found).values()) == {"skipped"}
    assert "cannot be started" in found.stages[0].why
    (tmp_path / "sitecustomize.py").write_text("import os; os.kill(os.getpid(), 7)")
    found = run(host(tmp_path), sys.executable, one("torch"), False)
    assert outcomes(found) == {**NO_IMPORT, "import": "crashed"}
    assert "signal 7" in found.stages[0].why


@pytest.mark.parametrize("key", ["stage", "call", "end", "ended", "mapped", "said"])
@pytest.mark.parametrize("value", [None, 7, "x", [7], {}, True, float("nan")], ids=repr)
def test_no_line_is_trusted(key, value):
    lines = ({"stage": "import"}, {key: value, "ok": value, "why": value, "ms": value})
    found = read("torch", (*lines, {key: value}))
    assert set(outcomes(found)) == set(FRAMEWORK_STAGES)
    json.dumps(found.mapped)


@pytest.mark.parametrize("name", ["framework", "talk", "importing"])
def test_children_that_run_in_other_pythons_are_readable_for_old_ones(name):
    text = Path(CHILDREN, f"{name}.py").read_text(encoding="utf-8")
    later = (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr)
    assert not [n for n in ast.walk(ast.parse(text, feature_version=(3, 5))) if isinstance(n, later)]


RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text(encoding="utf-8"))
"""What real frameworks printed on a machine without a driver, as the host kept it."""


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_what_real_frameworks_printed(name):
    one = RECORDED[name]
    found = read(one["framework"], one["lines"])
    assert [f"{part} {how}" for part, how in outcomes(found).items()] == one["outcomes"]
    assert stage(found, one["stage"]).why == one["why"]
    assert one["said"] in found.said
    assert found.mapped
