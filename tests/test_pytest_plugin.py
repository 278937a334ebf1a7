"""The pytest plugin, in a pytest of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import gpuwhy
from gpuwhy.api import select as available
from gpuwhy.api.select import SelectionError
from tests.api.standins import gpu, machine

SRC = str(Path(gpuwhy.__file__).parent.parent)
LOAD = ("-p", "no:gpuwhy", "-p", "no:hypothesispytest", "-p", "gpuwhy.pytest_plugin", "-p", "no:cacheprovider")

TESTS = """
import pytest

@pytest.mark.gpu
def test_marked(): pass

@pytest.mark.gpu(free="8GB", capability=">=8.0", n=2)
def test_wishes(): pass

def test_plain(): pass
"""
FAILING = """
OOM = "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 7.79 GiB total capacity; 7.00 GiB already allocated)"
def test_a(): raise RuntimeError(OOM)
def test_b(): raise RuntimeError(OOM)
def test_c():
    cuda_out_of_memory = 1
    assert cuda_out_of_memory == 2
"""


def run(folder: Path, text: str, *options: str, patch: str = "") -> str:
    (folder / "test_it.py").write_text(text)
    (folder / "conftest.py").write_text(patch)
    argv = [sys.executable, "-m", "pytest", "--strict-markers", "-rs", "--color=no", "-o", "addopts=", *LOAD, *options]
    environ = {**os.environ, "PYTHONPATH": SRC, "COLUMNS": "160"}
    environ.pop("PYTEST_ADDOPTS", None)
    done = subprocess.run(argv, cwd=folder, env=environ, capture_output=True, text=True)
    return done.stdout + done.stderr


def test_marked_tests_skip_with_the_reason(tmp_path):
    patch = "from gpuwhy.api import select\nselect._visible = lambda: 'no GPU: driver.missing: no driver'"
    out = run(tmp_path, TESTS, patch=patch)
    assert "1 passed, 2 skipped" in out
    assert "no GPU: driver.missing: no driver" in out


def test_marked_tests_run_where_there_is_a_gpu_or_nobody_can_tell(tmp_path):
    patch = "from gpuwhy.api import select\nselect._visible = lambda: ()"
    assert "3 passed" in run(tmp_path, TESTS, patch=patch)


def test_another_name_for_the_marker(tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\ngpuwhy_marker =\nmarkers = gpu: our own\n")
    assert "3 passed" in run(tmp_path, TESTS)


def test_a_marker_that_makes_no_sense(tmp_path):
    text = "import pytest\ndef test_y(): pass\n@pytest.mark.gpu(fre='8GB')\ndef test_x(): pass"
    out = run(tmp_path, text)
    known = "@pytest.mark.gpu: there is no keyword 'fre'; its keywords are free, capability, n"
    assert f"ERROR: test_it.py::test_x: {known}\n" in out
    assert "Traceback" not in out
    assert "passed" not in out
    assert "1 passed, 1 deselected" in run(tmp_path, text, "-m", "not gpu")
    worker = run(tmp_path, text, patch="def pytest_configure(config): config.workerinput = {}")
    assert known in worker
    assert "1 passed, 1 error" in worker


@pytest.mark.parametrize("given, says", [("free='lots'", "lots is no size"), ("1, '>=8', 1, 2", "4 were given")])
def test_a_marker_with_values_that_make_no_sense(tmp_path, given, says):
    out = run(tmp_path, f"import pytest\n@pytest.mark.gpu({given})\ndef test_x(): pass")
    assert "@pytest.mark.gpu: " in out
    assert says in out
    assert "why_not(*mark.args" not in out, "no lines of our own"
    assert "1 error" in out


def test_failures_are_explained_once_per_cause(tmp_path):
    out = run(tmp_path, FAILING, "--gpuwhy")
    section = out[out.index(" gpuwhy ===") :]
    assert "test_it.py::test_a, test_it.py::test_b" in section
    assert section.count("gpuwhy: ") == 1
    assert "  memory.oom" in section
    assert "test_it.py::test_c\nnothing of the GPU stack in it" in section


def test_without_the_option_nothing_is_explained(tmp_path):
    assert "gpuwhy" not in run(tmp_path, FAILING).replace("gpuwhy.pytest_plugin", "")


def test_unused_it_loads_next_to_nothing(tmp_path):
    heavy = ("gpuwhy.api", "msgspec")
    text = f"import sys\ndef test_x(): assert not [n for n in sys.modules if n.startswith({heavy})]"
    assert "1 passed" in run(tmp_path, text)


@pytest.fixture
def here(monkeypatch):
    def place(found):
        monkeypatch.setattr(sys, "platform", "linux")
        monkeypatch.setattr(available, "_visible", lambda: found)

    return place


def test_why_not(here):
    here(machine(gpu(0, free=9 << 30), gpu(1, free=1 << 30)).gpus.value)
    assert available.why_not() == ""
    assert available.why_not(n=2) == ""
    assert available.why_not(free="8GB") == ""
    said = available.why_not(free="8GB", n=2)
    assert said.startswith("only 1 of the 2 GPUs wanted is as wanted: GPU 1 (NVIDIA A100) has 1 GiB free")
    here("no GPU: this machine has none")
    assert available.why_not() == "no GPU: this machine has none"
    here(())
    assert available.why_not(free="8GB") == ""


def test_what_is_not_certain_skips_nothing(monkeypatch):
    def refuse(certain):
        def visible(found):
            raise SelectionError("no GPU: who knows", certain)

        return visible

    for certain, want in ((True, "no GPU: who knows"), (False, ())):
        available._visible.cache_clear()
        monkeypatch.setattr(available, "visible", refuse(certain))
        assert available._visible() == want
    available._visible.cache_clear()
