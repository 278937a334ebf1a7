"""The shipped atlas: not opened at start, its labels sound and about templates that it has, its files small."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from gpuwhy.knowledge import atlas
from gpuwhy.rooms import CAUSES

STAGES = {
    "import", "enumerate", "context", "allocate", "module", "compile", "launch", "synchronise", "capture",
    "communicate", "configure", "serialise", "transfer", "operate", "query", "build", "data",
}  # fmt: skip
PENDING = {
    "env.setting", "env.shadowed", "env.limit", "install.inconsistent", "program.launch", "program.order",
    "distributed.peer",
}  # fmt: skip
"""Causes of shared lists whose rooms others build at this time."""


def test_the_atlas_is_not_opened_at_start() -> None:
    code = "import sys, gpuwhy.logs; print('gpuwhy.knowledge.atlas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"


def test_labels_name_causes_that_exist_and_templates_that_the_atlas_has() -> None:
    ids, keys = {cause.id for cause in CAUSES}, {f"{key:08x}" for key in atlas.atlas().key}
    for key, some in atlas.labels().items():
        assert key in keys, some[0].where
        assert len({label.package for label in some}) == len(some), key
        for label in some:
            assert label.causes, label
            assert set(label.causes) <= ids | PENDING, label
            assert label.stage in STAGES, label
            assert label.says.strip("."), label


def test_the_files_stay_small() -> None:
    data = Path(atlas.__file__).parent / "data"
    assert (data / "atlas.bin").stat().st_size < 6_000_000
    assert (data / "atlas_labels.jsonl").stat().st_size < 1_000_000
