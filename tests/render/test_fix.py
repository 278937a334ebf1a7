"""The outcome of a fix as JSON."""

from __future__ import annotations

import json

from gpuwhy.model.repair import Look, Outcome, Steps
from gpuwhy.render import fix

LOOK = Look("healthy", "fine", ())


def test_what_was_made_has_its_real_path_in_json():
    made = Outcome((1,), "/scratch/ada/venv-gpuwhy", "/scratch/ada/venv-gpuwhy/bin/python", False, LOOK, LOOK)
    told = json.loads(fix.render_json(Steps("broken", "x", "", "", "venv", (), ()), made))
    assert told["applied"]["environment"] == "/scratch/ada/venv-gpuwhy"
    assert told["applied"]["python"] == "/scratch/ada/venv-gpuwhy/bin/python"
