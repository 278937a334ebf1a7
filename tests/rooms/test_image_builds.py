"""A build with CUDA for an image is the one that the told driver runs: while it is built no driver can be asked."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from gpuwhy.model.cause import Case
from gpuwhy.model.fact import Known, Source
from gpuwhy.rooms.framework.cpu_only import fixes
from tests.rooms.facts import load

HERE = Source("file", "test")
SHOWN = Path(__file__).parent / "framework" / "cpu_only" / "shown.json"


@pytest.mark.parametrize("cuda, index", [("12.4", " --index-url https://download.pytorch.org/whl/cu128"), ("13.0", "")])
def test_the_build_is_of_the_driver_s_cuda(cuda, index):
    """PyTorch 2.11 of the default index is for CUDA 13.0."""
    _, facts = load(SHOWN)
    around = msgspec.structs.replace(
        facts.surroundings, offline=Known("an image", HERE), container=Known("image", HERE)
    )
    driver = msgspec.structs.replace(facts.driver, driver_cuda=Known(cuda, HERE))
    facts = msgspec.structs.replace(facts, surroundings=around, driver=driver)
    found = fixes(Case(facts, framework=(facts.target.frameworks.need() or ())[0]))
    assert [one.command.partition(" --index-url")[1:] for one in found] == [index.partition(" --index-url")[1:]]
    assert "torch==2.11.0" in found[0].command
