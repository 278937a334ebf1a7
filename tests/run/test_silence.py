"""A program that succeeded without the GPU: said only where a GPU build was used and a GPU is here or promised."""

import pytest

from gpuwhy.api.machine import judged
from gpuwhy.api.watched import told
from gpuwhy.facts.facts import Facts
from gpuwhy.run.judge import own_kills, stayed_away

from ..signs.fixtures import facts_of as made
from ..signs.fixtures import fixtures

RAN = {
    "run.program": {"known": "python"},
    "run.exit": {"known": 0},
    "run.signal": {"absent": "waitid"},
    "run.seconds": {"known": 30.0},
    "run.started": {"known": 100.0},
    "run.sent": {"known": []},
    "run.touched_gpu": {"known": False},
    "run.frameworks": {"known": ["torch"]},
}
BUILDS = made({}).frameworks.installed.need()


def facts_of(changes: dict | None = None) -> Facts:
    used = {"known": [BUILDS[0].name]}
    return made({**RAN, "run.frameworks": used, **(changes or {})})


def silence(facts: Facts):
    return told("done\n", judged(own_kills(facts)))


HIDDEN = next(
    one.facts["devices.visibility"]
    for one in fixtures()
    if one.cause == "device.selection" and "devices.visibility" in one.facts
)


def test_a_sound_machine_names_the_program():
    facts = facts_of()
    assert stayed_away(facts)
    found = silence(facts)
    assert found.causes == ()
    assert "did not ask for it" in found.headline


def test_a_broken_machine_names_its_cause():
    facts = facts_of({"devices.visibility": HIDDEN})
    assert stayed_away(facts)
    found = silence(facts)
    assert found.causes[0].id == "device.selection"
    assert found.causes[0].because[0].text in found.headline


NOBODY = {"known": []}
NO_GPU = {"devices.gpus": NOBODY, "devices.pci": NOBODY, "driver.module_version": {"absent": "/proc"}}
UNSEEN = {"run.touched_gpu": {"unknown": "too short"}, "run.frameworks": {"unknown": "too short"}}
ASKED = {"run.wanted_gpu": {"known": {"file": "train.py", "line": 5}}}


def test_a_program_too_short_to_be_looked_at():
    """Where no GPU is, none was open; and what its own text imports, it used."""
    facts = facts_of({**NO_GPU, **UNSEEN, **ASKED, "run.imports": {"known": ["onnxruntime"]}})
    assert stayed_away(facts)
    said = "python succeeded on the CPU (train.py, line 5 asks for a GPU): this machine has no GPU"
    assert silence(facts).headline == said


@pytest.mark.parametrize(
    "changes",
    [
        NO_GPU,
        {"run.touched_gpu": {"known": True}},
        {"run.touched_gpu": {"unknown": "not looked at"}},
        {"run.frameworks": {"known": []}},
        {"run.frameworks": {"unknown": "not looked at"}},
        {"run.exit": {"known": 1}},
        {**NO_GPU, **UNSEEN, **ASKED, "run.imports": {"known": []}},  # it may have used nothing
        {**UNSEEN, **ASKED, "run.imports": {"known": ["torch"]}},  # with a GPU here it may have used it
        {**NO_GPU, **UNSEEN, "run.imports": {"known": ["torch"]}},  # it did not ask
    ],
)
def test_nothing_is_said_of_other_programs(changes):
    assert not stayed_away(facts_of(changes))
