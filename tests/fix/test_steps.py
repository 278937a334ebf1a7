"""The steps of an answer: what is printed, what --apply may do, and check's own remedies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from gpuwhy.advise.already import changes_nothing
from gpuwhy.advise.remedy import Action, Install, Look, Remove, Restart, Run, Set, Unset
from gpuwhy.answer import contract
from gpuwhy.answer.answer import Answer, CauseFound, Fix, Reason
from gpuwhy.answer.compose import plain_answer
from gpuwhy.answer.terminal import height, write
from gpuwhy.api.machine import judged, observe
from gpuwhy.cli.machine import recorded
from gpuwhy.facts.environment import Environment, Package, Python
from gpuwhy.facts.fact import Absent, Known, Unknown, known
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.variables import Variable, Variables
from gpuwhy.fix.document import MOST, document
from gpuwhy.fix.outcome import Outcome, Seen, compare, look_of
from gpuwhy.fix.steps import can_be_applied, steps_of
from tests.doors import inputs
from tests.signs.test_hosts import NAMES

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/fix.schema.json").read_text())
HOSTS = NAMES[::4]


def package(name: str, version: str) -> Package:
    return Package(name, version, f"/env/{name}.dist-info", "/env")


PACKAGES = (package("torch", "2.4.1+cpu"), package("numpy", "2.2.6"), package("jax", "0.4.30"))
PYTHON = Python("/env/bin/python", "3.12.1", "/env", "venv", "--python", "x86_64")
FACTS = Facts(
    environment=Environment(python=known(PYTHON, "file", "/env"), packages=known(PACKAGES, "folder", "/env")),
    variables=Variables(variables=known((Variable("CUDA_VISIBLE_DEVICES", "7"),), "env", "")),
)


def fix(*do: Action, text: str = "do it", command: str = "") -> Fix:
    return Fix(text, command, safe=True, root=False, reboot=False, check="", action=do)


def cause(name: str, *fixes: Fix, confidence: float = 0.97, with_gpu: bool = False) -> CauseFound:
    because = (Reason(f"{name} is so"),)
    return CauseFound(name, name, confidence, "", because, (), fixes, with_gpu)


def answer(*causes: CauseFound) -> Answer:
    return replace(plain_answer("found", "it is broken"), causes=causes)


def valid(steps: Any) -> Any:
    values = json.loads(contract.as_json(steps))
    jsonschema.validate(values, SCHEMA)
    return values


@pytest.mark.parametrize(
    ("action", "is_so"),
    [
        (Install(("torch==2.4.1",)), True),
        (Install(("torch>=2", "numpy<3")), True),
        (Install(("torch==2.4.1",), reinstall=True), False),
        (Install(("torch",), upgrade=True), False),
        (Install(("numpy<2",)), False),
        (Install(("numpy==2.2.6",), manager="conda"), False),
        (Remove(("tensorflow",)), True),
        (Remove(("torch",)), False),
        (Unset(("LD_LIBRARY_PATH",)), True),
        (Unset(("CUDA_VISIBLE_DEVICES",)), False),
        (Unset(("LD_LIBRARY_PATH",), file="/etc/environment"), False),
        (Set("CUDA_VISIBLE_DEVICES", "7"), True),
        (Set("CUDA_VISIBLE_DEVICES", "0"), False),
        (Run("true"), False),
    ],
)
def test_what_changes_nothing_is_known(action: Action, is_so: bool) -> None:
    assert changes_nothing((action, Restart("kernel")), FACTS) is is_so


def test_what_changes_nothing_is_neither_printed_nor_carried_out() -> None:
    done, other = fix(Install(("torch==2.4.1",))), fix(Install(("numpy<2",)), text="other")
    steps = steps_of(answer(cause("install.one", done, other), cause("install.two", done)), FACTS)
    assert [one.text for one in steps.steps] == ["other"]
    assert steps.notes == ("install.two: what is known to help is in place already",)


def test_one_remedy_of_two_causes_is_one_step_and_a_contradiction_waits() -> None:
    one, two = fix(Install(("numpy<2",))), fix(Install(("numpy>=3",)), text="more")
    found = answer(cause("install.one", one), cause("install.two", one), cause("cuda.three", two))
    first, second = steps_of(found, FACTS).steps
    assert first.causes == ("install.one", "install.two")
    assert (first.by, second.by) == ("gpuwhy", "you")
    assert second.note == "step 1 changes numpy too: check again before this one"


NOT_OURS = [Install((one,)) for one in ("x @ file:///x", "./x", "-r/x", "PACKAGE")]
NOT_OURS += [Install(("x",), manager="system"), Install(("x",), new_environment="y"), Install(("x",), where="host")]


@pytest.mark.parametrize("action", [*NOT_OURS, Remove(files=("/x",)), Run("pip install x")])
def test_only_packages_of_the_environment_are_carried_out(action: Action) -> None:
    assert not can_be_applied(action)
    (step,) = steps_of(answer(cause("install.one", fix(action))), FACTS).steps
    assert step.by == "you"


def test_a_possible_cause_waits_until_it_is_named_and_one_with_a_gpu_does_not() -> None:
    perhaps = cause("cuda.perhaps", fix(Install(("a",)), text="a"), confidence=0.3)
    gpu = cause("cuda.with_gpu", fix(Install(("b",)), text="b"), with_gpu=True)
    both = answer(gpu, perhaps)
    assert [one.text for one in steps_of(both, FACTS).steps] == ["b"]
    (named,) = steps_of(both, FACTS, only=("cuda.perhaps",)).steps
    assert (named.text, named.sure) == ("a", False)
    look = fix(Look("nvidia-smi"), text="look")
    (second,) = steps_of(answer(cause("a.b", look, fix())), FACTS, {"a.b": 2}).steps
    assert second.text == "do it"


def test_many_steps_are_cut_and_counted() -> None:
    many = [cause(f"a.b{n}", fix(Run("x"), text=f"do {n}", command=f"x{n}")) for n in range(12)]
    steps = steps_of(answer(*many), FACTS)
    assert len(steps.steps) == 12
    made = document(steps)
    assert height(made) <= MOST
    assert "more steps" in write(made)
    assert height(document(steps, all_of_it=True)) > MOST


def test_what_came_of_it_is_valid_and_honest() -> None:
    was = Seen(answer(cause("install.one")), plain_answer("healthy", "fine"), FACTS)
    now = Seen(answer(cause("install.one"), cause("install.new")), was.imported, FACTS)
    compared = compare(was, now, ["install.one"])
    assert {one.what: one.verdict for one in compared} == {"install.one": "left", "install.new": "worse"}
    steps = steps_of(was.plain, FACTS)
    outcome = Outcome((1,), "/c", "/c/bin/python", False, look_of(was), look_of(now))
    told = replace(steps, applied=replace(outcome, compared=compared, taken_back=True))
    assert valid(told)["applied"]["before"]["causes"] == ["install.one"]
    assert "made something worse, and it was taken back" in write(document(told))
    assert not outcome.worked


@pytest.mark.parametrize("name", HOSTS)
def test_every_recorded_machine_gets_the_remedies_of_check(name: str, tmp_path: Path) -> None:
    file = tmp_path / "host.json"
    file.write_bytes(inputs._merged(name, ""))
    seen = observe(*recorded(str(file)))
    steps = steps_of(seen.report, seen.facts)
    valid(steps)
    assert height(document(steps)) <= MOST
    known = {one.command for found in seen.report.causes for one in found.fixes}
    assert {one.command for one in steps.steps} <= known
    if seen.report.verdict == "found":
        assert steps.steps
        assert seen.report.causes[0].id in steps.steps[0].causes


def test_what_is_not_known_costs_no_answer_and_no_steps(tmp_path: Path) -> None:
    """Issue 47.1: each fact of a broken machine in turn, as if it could not be found out."""
    file = tmp_path / "host.json"
    file.write_bytes(inputs._merged("h200-visible-7", ""))
    facts = observe(*recorded(str(file))).facts
    for subject in facts.__struct_fields__:
        record = getattr(facts, subject)
        for name in getattr(record, "__struct_fields__", ()):
            if isinstance(getattr(record, name), (Known, Absent)):
                changed = replace(record, **{name: Unknown("nobody could look")})
                seen = judged(replace(facts, **{subject: changed}))
                document(steps_of(seen.report, seen.facts))
