"""`gpuwhy prove` over real frameworks in broken environments: `GPUWHY_PROVE=ENVIRONMENT pytest -m real tests/proving`.

ENVIRONMENT is a virtual environment with jax, scipy and onnxruntime; copies of it are broken, never itself.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lab.prove_local import CASES, Local

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif("GPUWHY_PROVE" not in os.environ, reason="GPUWHY_PROVE names no environment"),
]


@pytest.mark.parametrize("name", CASES)
def test_ends_in_the_true_cause_and_the_smallest_change(name, tmp_path):
    row = Local(Path(os.environ["GPUWHY_PROVE"]), tmp_path).judge(name, CASES[name])
    assert row["verdict"] in ("right", "does not bite"), row
    assert not list(Path(os.environ["GPUWHY_PROVE"]).parent.glob(".gpuwhy-prove-*")), "a copy was left behind"
