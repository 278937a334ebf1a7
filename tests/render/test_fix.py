"""The outcome of a fix as JSON."""

from __future__ import annotations

import json

from gpuwhy.model.repair import Look, Outcome, Step, Steps
from gpuwhy.render import fix
from gpuwhy.render.terminal import Paper

LOOK = Look("healthy", "fine", ())


def test_what_was_made_has_its_real_path_in_json():
    made = Outcome((1,), "/scratch/ada/venv-gpuwhy", "/scratch/ada/venv-gpuwhy/bin/python", False, LOOK, LOOK)
    told = json.loads(fix.render_json(Steps("broken", "x", "", "", "venv", (), ()), made))
    assert told["applied"]["environment"] == "/scratch/ada/venv-gpuwhy"
    assert told["applied"]["python"] == "/scratch/ada/venv-gpuwhy/bin/python"


def test_what_the_second_look_no_longer_shows_is_not_left_to_do():
    causes = ("cudnn.missing", "driver.too_old")
    steps = tuple(Step(n, (one,), "", True, f"step {n}", "why", "", "you") for n, one in enumerate(causes, 1))
    before = Look("broken", "bad", ("cudnn.missing (PyTorch 2.6.0)", "driver.too_old (Triton 3.8.0)"))
    told = Steps("broken", "x", "", "", "venv", steps, ())
    for after, left in ((LOOK, False), (Look("broken", "bad", ("driver.too_old (Triton 3.8.0)",)), True)):
        made = Outcome((1,), "/e", "/e/bin/python", False, before, after)
        assert ("still to do" in fix.render(told, made, Paper())) == left
    failed = Outcome((1,), "/e", "/e/bin/python", False, before, LOOK, failed="it is full")
    assert "still to do" in fix.render(told, failed, Paper())
