"""A package into which CUDA is linked is told by its GPU code; a build without any is none for the GPU."""

from __future__ import annotations

import pytest

from tests.formats.made import PTX, SASS, container, entry, library
from tests.observe.envs import World, shared_object

CODE = library(container(entry(SASS, 80), entry(PTX, 90)))


@pytest.mark.parametrize(
    ("name", "file", "sass"),
    [("xgboost", CODE, ("sm_80",)), ("xgboost", shared_object(), None), ("pillow", CODE, None)],
)
def test_gpu_code_tells(tmp_path, name, file, sass):
    world = World(tmp_path)
    world.venv()
    world.install(name, "2.1.4", {f"{name}/lib/lib{name}.so": file})
    found = world.look().frameworks.need() or ()
    assert [(one.name, one.sass.need(), one.opens.need()) for one in found] == ([(name, sass, ())] if sass else [])
