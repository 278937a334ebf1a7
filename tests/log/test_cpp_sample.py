"""The program of docs/cpp.md: it compiles, fails on purpose, and what it prints is understood."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gpuwhy.api.text import explain as explain_text

HERE = Path(__file__).parent
PAGE = (HERE.parents[1] / "docs" / "cpp.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    compiler = shutil.which("g++") or shutil.which("c++")
    if not compiler:
        pytest.skip("no C++ compiler")
    folder = tmp_path_factory.mktemp("cpp")
    source = re.search(r"```cpp\n(.*?)```", PAGE, re.DOTALL)
    (folder / "prog.cpp").write_text(source[1], encoding="utf-8")
    build = [compiler, "-O0", "-Wall", "-I", str(HERE / "standins"), "prog.cpp", "-o", "prog"]
    subprocess.run(build, cwd=folder, check=True, timeout=60)
    return folder / "prog"


@pytest.mark.parametrize(
    ("cuda", "cudnn", "causes"),
    [
        ("35", "0", {"driver.too_old"}),
        ("2", "0", {"memory.oom", "memory.other_process"}),
        ("0", "1002", {"cudnn.version_mismatch", "cudnn.mixed_libraries"}),
        ("0", "0", set()),
    ],
)
def test_what_it_prints_is_understood(program, cuda, cudnn, causes):
    environ = {"CUDA_SAYS": cuda, "CUDNN_SAYS": cudnn}
    done = subprocess.run([program], capture_output=True, text=True, timeout=30, env=environ)
    report = explain_text(done.stdout + done.stderr)
    assert done.returncode == (1 if causes else 0)
    assert {cause.id for cause in report.causes[:1]} <= causes
    assert bool(report.causes) == bool(causes)
