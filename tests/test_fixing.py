"""The fix of recorded machines: releases chosen by the plan, the contract of the JSON form, and what is told."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import msgspec
import pytest

from gpuwhy import fixing, settling
from gpuwhy.model.fact import Known
from gpuwhy.model.repair import Action, Look, Outcome, Steps
from gpuwhy.reason.judge import judge
from gpuwhy.reason.remedy import steps
from gpuwhy.reason.report import report
from gpuwhy.render.fix import render, render_json
from gpuwhy.render.terminal import Paper
from gpuwhy.repair.apply import BrokenError, Made
from gpuwhy.repair.patient import Patient
from gpuwhy.rooms import CAUSES
from gpuwhy.shell.place import place_of

from .rooms.facts import HERE, load
from .hosts import hosts

SCHEMA = json.loads((Path(__file__).parent.parent / "docs" / "fix.schema.json").read_text())
FIXTURES = sorted(HERE.glob("*/*/shown*.json"))


def told(fixture: str) -> Steps:
    facts = load(HERE / fixture)[1]
    found = report([c for c in CAUSES if not c.needs_log], facts, 0.0)
    return Steps(
        found.status, found.headline, "", "", "venv", steps(found, lambda fix: settling.planned(fix, facts), {})
    )


@pytest.mark.parametrize("fixture, wanted", [
    ("driver/too_old/shown-libcuda-unseen.json", ("torch==2.10.0",)),  # driver 550: the last build for CUDA 12
    ("driver/too_old/shown-wsl.json", ("torch==2.10.0",)),  # only the CUDA that Windows' driver speaks is known
    ("framework/gpu_unsupported/shown.json", ("torch==2.7.1",)),  # GTX 1080: the last with code for sm_60
    ("framework/cpu_only/shown.json", ("torch==2.11.0",)),
    ("framework/cpu_only/shown-3.json", ("tensorflow[and-cuda]==2.20.0",)),  # 2.21.0 does not find its libraries
])  # fmt: skip
def test_the_release_that_works_there_is_chosen(fixture, wanted):
    first = told(fixture).steps[0]
    assert first.by == "gpuwhy"
    assert first.action is not None
    assert first.action.install == wanted
    assert all(f'"{one}"' in first.command for one in wanted)


def test_check_says_what_fix_carries_out():
    """Every command that the steps carry out stands among the fixes of the report that `check` and `run` print."""
    seen = 0
    for fixture in FIXTURES:
        facts = load(fixture)[1]
        if place_of(facts).system not in ("linux", "wsl") or isinstance(facts.surroundings.offline, Known):
            continue
        found = report([c for c in CAUSES if not c.needs_log], facts, 0.0)
        printed = {fix.command for cause in settling.settled(found, facts).causes for fix in cause.fixes}
        for step in steps(found, lambda fix, facts=facts: settling.planned(fix, facts), {}):
            if step.action is not None and step.action.install:
                assert step.command in printed, (fixture, step.command, printed)
                seen += all("==" in one for one in step.action.install)
    assert seen > 20


def test_a_plan_that_changes_nothing_is_not_taken(monkeypatch):
    """What the cause says stays, where the plan cannot see the reason."""
    facts = load(HERE / "driver/too_old/shown-wsl.json")[1]
    monkeypatch.setattr(settling, "floor", lambda _: None)
    (fix, *_) = next(v for v in judge([c for c in CAUSES if c.id == "driver.too_old"], facts) if v.fixes).fixes
    assert settling.planned(fix, facts).fix == fix


def test_actions_say_what_commands_say():
    """What gpuwhy carries out is what it prints: every requirement, every removal, every folder, and nothing unsafe."""
    seen = 0
    for fixture in FIXTURES:
        mine = [c for c in CAUSES if c.id == ".".join(fixture.parts[-3:-1])]
        for fix in (fix for verdict in judge(mine, load(fixture)[1]) for fix in verdict.fixes):
            words = fix.command.replace('"', "").split()
            assert set(fix.install) | set(fix.uninstall) <= set(words), (fixture, fix)
            assert all(folder in fix.command for folder in fix.folders), (fixture, fix)
            if fix.install or fix.uninstall or fix.folders:
                assert fix.safe, (fixture, fix)
                assert not fix.root, (fixture, fix)
                seen += 1
    assert seen > 20


@pytest.mark.parametrize("name", [n for n in hosts.NAMES if hosts.described(n).get("expect")])
def test_every_recorded_fault_has_a_step_and_none_is_carried_out_elsewhere(name):
    run = hosts.run(name)
    found = fixing.steps_of(run)
    assert found.steps, "a cause without a fix"
    jsonschema.validate(json.loads(render_json(found, None)), SCHEMA)
    with pytest.raises(fixing.RefusedError, match="not this running machine"):
        fixing.prepare(run, found, fixing.Call({}))


def test_healthy_machines_have_nothing_to_fix():
    found = fixing.steps_of(hosts.run("h200"))
    assert found.steps == ()
    assert "Nothing to fix." in render(found, None, Paper())


def test_what_is_broken_without_a_step_is_not_called_fixed():
    found = msgspec.structs.replace(fixing.steps_of(hosts.run("h200")), status="broken", headline="it does not start")
    assert "Nothing to fix" not in render(found, None, Paper())


def outcome(**more) -> Outcome:
    before = Look("broken", "torch will not see the GPU", ("driver.too_old (PyTorch 2.11.0)",))
    return Outcome(
        (1,), "/e-gpuwhy", "/e-gpuwhy/bin/python", False, before, Look("healthy", "Nothing wrong", ()), **more
    )


def test_before_after_and_undo_are_told():
    found = told("driver/too_old/shown-libcuda-unseen.json")
    done = outcome(changed=("torch 2.11.0 → 2.10.0",), undo=("rm -r /e-gpuwhy",), use=("source x",))
    jsonschema.validate(json.loads(render_json(found, done)), SCHEMA)
    text = render(found, done, Paper())
    assert "1 ✓ Install torch 2.10.0" in text
    for line in ("before  torch will not see", "after   Nothing wrong", "changed torch 2.11.0 → 2.10.0"):
        assert line in text
    assert "undo    rm -r /e-gpuwhy" in text


def test_nothing_steers_the_terminal():
    found = told("driver/too_old/shown-libcuda-unseen.json")
    text = render(found, outcome(failed="evil \x1b[2J name"), Paper())
    assert "\x1b" not in text


@pytest.mark.parametrize("after, worked", [
    (Look("healthy", "fine", ()), True),
    (Look("unknown", "cannot tell", ()), True),
    (Look("unknown", "perhaps", ("driver.too_old (PyTorch 2.11.0)",)), False),
    (Look("unknown", "perhaps", (OLD := "driver.too_old (PyTorch 2.11.0)",), frozenset({OLD})), True),
    (Look("broken", "another", ("driver.missing",)), False),
    (None, False),
])  # fmt: skip
def test_when_a_fix_counts_as_one(after, worked):
    assert msgspec.structs.replace(outcome(), after=after).worked is worked


def later(monkeypatch, looks: list[tuple[Action, ...]], fails: bool = False):
    """A repair whose looks, one after the other, call for these actions; and what was carried out."""
    step = told("driver/too_old/shown-libcuda-unseen.json").steps[0]
    host = SimpleNamespace(path=lambda path: path)
    none = SimpleNamespace(causes=())
    runs = [SimpleNamespace(host=host, facts=None, wants=actions, report=lambda: none) for actions in looks]
    done: list[Action] = []

    def in_place(patient, actions, installer, gpu, way_back):
        if fails:
            raise BrokenError("no such release", untouched=True)
        done.extend(actions)
        return made

    def steps_of(run):
        found = tuple(msgspec.structs.replace(step, action=one, text=one.install[0]) for one in run.wants)
        return Steps("broken", "", "", "", "venv", found)

    made = Made("/e", "/e/bin/python", (), (), {})
    work = object.__new__(fixing._Work)
    work.actions, work.about, work.installer, work.outcome = [], set(), None, outcome()
    work.run = runs[0]
    work.say, work._second_look = (lambda text: None), (lambda made: rest.pop(0))
    rest = runs[1:]
    monkeypatch.setattr(fixing, "steps_of", steps_of)
    monkeypatch.setattr(fixing, "patient", lambda *_, **__: Patient("/e/bin/python", "3.11", "/e", "venv", ()))
    monkeypatch.setattr(fixing.apply, "in_place", in_place)
    _, last = work._further(made, runs[0])
    return done, work.outcome.then, next(n for n, run in enumerate(runs) if run is last)


A, B, C, D, E = (Action(install=(f"{name}==1",)) for name in "abcde")


@pytest.mark.parametrize(
    "looks, carried_out",
    [
        ([()], []),
        ([(A,), ()], [A]),
        ([(A,), (B,), ()], [A, B]),
        ([(A,), (A,)], [A]),  # the same again: it did not help, and is not repeated
        ([(A,), (B,), (C,), (D,), (E,)], [A, B, C, D]),  # there is an end
    ],
)
def test_what_the_second_look_brings_to_light_is_mended_in_the_same_go(monkeypatch, looks, carried_out):
    done, then, last = later(monkeypatch, looks)
    assert done == carried_out
    assert then == tuple(one.install[0] for one in carried_out)
    assert last == len(carried_out)


def test_what_cannot_be_begun_is_left(monkeypatch):
    assert later(monkeypatch, [(A,), ()], fails=True) == ([], (), 0)
