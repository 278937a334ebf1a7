"""From the fixes that causes offer to the steps that are carried out."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from gpuwhy.model.cause import Finding, Fix
from gpuwhy.model.fact import Known, Source
from gpuwhy.model.facts import Exported, Facts, Target
from gpuwhy.model.report import Report, Shown
from gpuwhy.reason.exported import at_their_file
from gpuwhy.reason.remedy import Chosen, chosen, doable, steps

EXPORT = Fix("Let the loader look there", "export LD_LIBRARY_PATH=/x", safe=True, folders=("/x",))
INSTALL = Fix("Install torch 2.10.0", 'pip install "torch==2.10.0"', safe=True, install=("torch==2.10.0",))
OLDER = Fix("Or install torch 2.5.1", 'pip install "torch==2.5.1"', safe=True, install=("torch==2.5.1",))
DRIVER = Fix("Install a newer driver", "sudo ubuntu-drivers install", root=True, reboot=True)
LOOK = Fix("See who holds it", "ps", safe=True, role="look")
PART = Fix("Write x anew", "pip install x", safe=True, install=("x==1",), again=True, role="part")
OTHER = Fix("Install zlib", "sudo apt install zlib1g", root=True, role="part")


def cause(name: str, *fixes: Fix, confidence: float = 0.99) -> Shown:
    because = (Finding("proof", f"{name} is so"),)
    return Shown(name, "a title", confidence, "", because, (), fixes, True)


def report(*causes: Shown) -> Report:
    return Report("broken", "broken", causes, (), (), (), (), (), {}, "0", 0.0)


def told(*causes: Shown, **more):
    return steps(report(*causes), more.pop("planned", Chosen), more.pop("take", {}), **more)


def test_the_first_real_remedy_is_taken():
    assert chosen((LOOK, EXPORT, INSTALL)) == [EXPORT]
    assert chosen((LOOK,)) == [LOOK]
    assert chosen(()) == []


def test_parts_are_needed_together():
    assert chosen((EXPORT, PART, OTHER)) == [PART, OTHER]


def test_another_fix_is_taken_by_its_number():
    (step,) = told(cause("a.b", EXPORT, OLDER), take={"a.b": 2})
    assert step.text == "Install torch 2.5.1"
    assert step.alternatives == (EXPORT.text,)
    (kept,) = told(cause("a.b", EXPORT, Fix("Or stay with cuDNN 8")), take={"a.b": 2})
    assert kept.text == "Stay with cuDNN 8"


@pytest.mark.parametrize("fix, stays", [
    (EXPORT, True),  # folders before what the activation sets
    (Fix("Take it out", "export LD_LIBRARY_PATH=$(without /x)", safe=True), False),
    (Fix("Take it out", "unset LD_LIBRARY_PATH", safe=True), False),
    (Fix("Take it out", "unset OTHER", safe=True), True),
])  # fmt: skip
def test_what_the_activation_sets_is_taken_away_there_and_added_to_here(fix, stays):
    line = Exported("LD_LIBRARY_PATH", "/env/bin/activate", "export LD_LIBRARY_PATH=/y")
    facts = Facts(target=Target(activation=Known((line,), Source("file", "/env/bin/activate"))))
    assert (at_their_file((fix,), facts) == (fix,)) is stays


def test_who_carries_it_out():
    by = {step.text: step.by for step in told(cause("a.a", DRIVER), cause("a.b", EXPORT), cause("a.c", LOOK))}
    assert by == {DRIVER.text: "you", EXPORT.text: "gpuwhy", LOOK.text: "you"}


def test_root_is_never_ours_even_if_it_installs():
    odd = Fix("odd", "sudo pip install x", safe=True, root=True, install=("x",))
    assert told(cause("a.a", odd))[0].by == "you"
    unsafe = Fix("odd", "pip install x", install=("x",))
    assert told(cause("a.a", unsafe))[0].by == "you"


def test_one_remedy_of_two_causes_is_one_step():
    (step,) = told(cause("a.a", INSTALL), cause("a.b", INSTALL))
    assert step.causes == ("a.a", "a.b")


def test_a_second_release_of_the_same_package_waits():
    first, second = told(cause("a.a", INSTALL), cause("a.b", OLDER))
    assert (first.by, second.by) == ("gpuwhy", "you")
    assert second.note == "step 1 changes torch too: check again before this one"


def test_libraries_of_a_framework_that_is_to_be_another_release_wait():
    """An onnxruntime-gpu for CUDA 11 in place of one for CUDA 12 opens other libraries."""
    other = replace(INSTALL, wishes=("torch",))
    moved, mine = (
        replace(cause("a.a", other), subject="PyTorch 2.6"),
        replace(cause("a.b", PART), subject="PyTorch 2.6"),
    )
    first, second, third = told(moved, mine, replace(cause("a.c", EXPORT), subject="JAX 0.4"))
    assert [one.by for one in (first, second, third)] == ["gpuwhy", "you", "gpuwhy"]
    assert second.note == "step 1 changes PyTorch 2.6: check again before this one"
    assert [one.by for one in told(replace(cause("a.a", INSTALL), subject="PyTorch 2.6"), mine)] == ["gpuwhy"] * 2


def test_only_the_named_causes_and_how_sure_they_are():
    (step,) = told(cause("a.a", INSTALL), cause("a.b", EXPORT, confidence=0.3), only=("a.b",))
    assert (step.number, step.sure) == (1, False)


def test_what_a_repair_brought_is_mended_too():
    found = told(cause("a.a", INSTALL, confidence=0.3), cause("a.b", EXPORT, confidence=0.3))
    assert doable(found) == []
    assert [step.causes for step in doable(found, brought={"a.b"})] == [("a.b",)]


def test_what_the_plan_says_is_told():
    planned = Chosen(INSTALL, "It is built for CUDA 12.8", "a note", "cu126")
    (step,) = told(cause("a.a", OLDER), planned=lambda _: planned)
    assert (step.text, step.why, step.note) == (INSTALL.text, "a.a is so. It is built for CUDA 12.8", "a note")
    assert step.action is not None
    assert (step.action.install, step.action.backend) == (("torch==2.10.0",), "cu126")


def test_the_way_back_is_stated():
    assert "another shell" in told(cause("a.a", EXPORT))[0].undo
    assert "delete the copy" in told(cause("a.a", INSTALL))[0].undo
