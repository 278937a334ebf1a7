"""An environment before and after a repair: what counts as worse, as mended, as left, and as none of its business."""

from __future__ import annotations

import pytest

from gpuwhy.model.facts import Facts
from gpuwhy.model.repair import Condition, Contradiction
from gpuwhy.model.report import Layer, Report, Shown
from gpuwhy.reason.compare import compare
from gpuwhy.repair.condition import condition
from gpuwhy.repair.patient import Patient


def verdicts(before: Condition, after: Condition, *more) -> dict[str, str]:
    return {one.what: one.verdict for one in compare(before, after, *more)}


@pytest.mark.parametrize("was, now, verdict", [
    ("", "", "same"),
    ("", "ImportError", "worse"),
    ("ImportError", "", "better"),
    ("ImportError: a", "ImportError: b", "left"),
    ("AttributeError: np.float_", "ImportError: libcuda.so.1: cannot open shared object file", "better"),
    ("ImportError: libcuda.so.1: cannot open", "ImportError: libcuda.so.1: cannot open", "same"),
])  # fmt: skip
def test_imports(was, now, verdict):
    assert verdicts(Condition({"torch": was}), Condition({"torch": now})) == {"import torch": verdict}


def test_what_fails_as_before_counts_only_where_the_repair_is_about_it():
    before = after = Condition({"torch": "dead", "triton": "no setuptools"})
    assert verdicts(before, after, (), {"torch"}) == {"import torch": "left", "import triton": "same"}


def test_what_goes_on_purpose_is_not_missed():
    before = Condition({"tensorflow": ""}, lost={"TensorFlow": ()}, layers=(Layer("TensorFlow", "2.15", "ok"),))
    assert verdicts(before, Condition(), {"tensorflow", "TensorFlow"}) == {}
    assert set(verdicts(before, Condition()).values()) == {"worse"}


def test_the_same_pair_in_other_versions_is_no_new_contradiction():
    old = Contradiction("xformers", "torch", "xformers 0.0.35 asks for torch>=2.10; 2.6.0 is installed")
    new = Contradiction("xformers", "torch", "xformers 0.0.34 asks for torch==2.10.0; 2.6.0 is installed")
    other = Contradiction("tensorflow", "numpy", "tensorflow 2.15.1 asks for numpy<2; 2.2.6 is installed")
    assert verdicts(Condition(contradictions=(old,)), Condition(contradictions=(new,))) == {}
    assert verdicts(Condition(contradictions=(old,)), Condition(contradictions=(old, other))) == {"metadata": "worse"}
    assert verdicts(Condition(contradictions=(other,)), Condition()) == {"metadata": "better"}


def test_libraries_of_another_framework_count():
    """Repairing PyTorch's cuDNN must not take TensorFlow's away."""
    before = Condition(lost={"PyTorch": ("libcudnn.so.9",), "TensorFlow": ()})
    after = Condition(lost={"PyTorch": (), "TensorFlow": ("libcudnn.so.8",)})
    told = verdicts(before, after)
    assert told == {"libraries of PyTorch": "better", "libraries of TensorFlow": "worse"}


def test_layers_and_causes():
    before = Condition(
        layers=(Layer("TensorFlow", "2.15", "ok"), Layer("GPU", "A100", "ok"), Layer("PyTorch", "2.6", "bad", "x")),
        causes=("cudnn.version_mismatch (PyTorch 2.6.0)",),
    )
    after = Condition(
        layers=(Layer("TensorFlow", "2.15", "none", "would miss libcudnn.so.8"), Layer("PyTorch", "2.7", "ok")),
        causes=("cudnn.version_mismatch (PyTorch 2.7.0)", "install.conflict"),
    )
    assert verdicts(before, after) == {"TensorFlow": "worse", "PyTorch": "better", "cause": "worse"}


def test_a_cause_behind_another_of_the_same_framework_is_left():
    before = Condition(causes=("framework.cpu_only (ONNX Runtime 1.20.1)",))
    after = Condition(causes=("cuda.missing_library (ONNX Runtime 1.20.2)",))
    assert verdicts(before, after) == {"cause": "left"}


def test_a_layer_further_is_no_step_back():
    """A file that is whole again shows what its framework opens: what is missing there was missing before."""
    before = Condition(
        layers=(Layer("CUDA", "12.6", "ok"), Layer("ONNX Runtime", "1.22", "bad", cause="install.corrupted")),
        causes=("install.corrupted",),
        unjudged=frozenset({"ONNX Runtime"}),
    )
    after = Condition(
        lost={"ONNX Runtime": ("libcudnn.so.9",)},
        layers=(Layer("CUDA", "12.6", "bad", cause="cuda.missing_library"), Layer("ONNX Runtime", "1.22", "bad")),
        causes=("cuda.missing_library (ONNX Runtime 1.22.0)",),
    )
    assert set(verdicts(before, after).values()) == {"left"}
    seen = Condition(layers=before.layers, causes=before.causes)
    assert "worse" in verdicts(seen, after).values()


@pytest.mark.parametrize("was, sure, verdict", [
    ("env.path (PyTorch 2.5.1)", False, ""),
    ("env.path (PyTorch 2.6.0)", True, "left"),
])  # fmt: skip
def test_what_was_possible_before_is_not_of_the_repairs_making(was, sure, verdict):
    before = Condition(causes=("cudnn.version_mismatch (PyTorch 2.6.0)", was), perhaps=frozenset({was}))
    now = "env.path (PyTorch 2.6.0)"
    after = Condition(causes=(now,), perhaps=frozenset() if sure else frozenset({now}))
    assert verdicts(before, after) == ({"cause": verdict} if verdict else {})


def shown(name: str, subject: str, confidence: float) -> Shown:
    return Shown(name, "", confidence, subject, (), (), (), stops=False)


def test_a_condition_has_what_was_not_told_and_names_every_subject():
    """What is merely possible is told where nothing else is: before a repair it stands behind the cause of that."""
    report = Report("broken", "", (shown("cudnn.missing", "PyTorch 2.6.0", 0.99),), (), (), (), (), (), {}, "", 0.0,
                    asides=(shown("env.path", "PyTorch 2.6.0, Triton 3.2.0", 0.3),))  # fmt: skip
    one = Patient("", "", "venv", "3.11", (), False)
    found = condition(Facts(), report, (), one, (), {})
    assert found.causes == ("cudnn.missing (PyTorch 2.6.0)", "env.path (PyTorch 2.6.0)", "env.path (Triton 3.2.0)")
    assert found.perhaps == set(found.causes[1:])


@pytest.mark.parametrize(("untried", "verdict"), [(True, "left"), (False, "worse")])
def test_what_imports_show_where_none_was_made_before_is_left(untried, verdict):
    before = Condition(causes=("install.corrupted",), untried=untried)
    assert verdicts(before, Condition(causes=("install.inconsistent",))) == {"cause": verdict}
