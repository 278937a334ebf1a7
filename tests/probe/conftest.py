"""The stand-ins are built once."""

import shutil

import pytest

from tests.probe.machines import Machine, build


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    return Machine(build(tmp_path_factory.mktemp("standins")))
