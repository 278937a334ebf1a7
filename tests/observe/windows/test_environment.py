"""What is wrong with PATH and CUDA_PATH on Windows."""

from __future__ import annotations

import pytest

from tests.observe.windows.seen import facts_of
from tests.windows.trees import CUDA_10_1, CUDA_11_0, TOOLKITS, Disk, toolkit, windows

V10 = TOOLKITS.replace("/", "\\") + "\\v10.1"


@pytest.fixture
def disk(tmp_path) -> Disk:
    made = windows(tmp_path)
    toolkit(made, "10.1", CUDA_10_1)
    return made


def problems(disk: Disk, name: str, **environ: str) -> tuple[str, ...]:
    found = {one.name: one.problems for one in facts_of(disk, **environ).environment.variables.need()}
    return found.get(name, ())


def test_a_toolkit_that_is_there_is_no_problem(disk):
    assert problems(disk, "CUDA_PATH", CUDA_PATH=V10) == ()
    assert problems(disk, "PATH", PATH=f"{V10}\\bin;C:\\Windows") == ()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (V10.replace("10.1", "9.0"), "does not exist"),
        (f'"{V10}"', "has quotes in it"),
        (f"{V10}\\bin", "has no bin/nvcc.exe; "),
        (f"{V10};C:\\other", "names several folders"),
        ("", "empty"),
        ("cuda", "does not start with a drive"),
        ("C:\\Windows\\System32\\ntdll.dll", "is not a folder"),
    ],
)
@pytest.mark.parametrize("name", ["CUDA_PATH", "CUDA_PATH_V10_1", "CUDA_HOME"])
def test_a_variable_that_names_no_toolkit(disk, name, value, said):
    assert said in " ".join(problems(disk, name, **{name: value}))


def test_cudnn_path(disk):
    assert "does not exist" in problems(disk, "CUDNN_PATH", CUDNN_PATH="C:\\cudnn")[0]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("C:\\cuda\\gone\\bin", "does not exist"),
        (f'"{V10}\\bin"', "has quotes in it"),
        ("%CUDA_PATH%\\bin", "contains %CUDA_PATH% literally"),
        ("$env:CUDA_PATH\\bin", "contains $env:CUDA_PATH literally"),
        ("cuda\\bin", "does not start with a drive"),
        (V10, "its DLLs are in"),
        (f"{V10}\\bin;" + "C:\\x;" * 2000, "a command prompt drops what goes beyond 8191"),
        ((f"{V10}\\bin;" + "C:\\folder;" * 500)[:2047], "seems to have cut it off"),
    ],
)
def test_path_entries(disk, value, said):
    assert said in " ".join(problems(disk, "PATH", PATH=value))


def test_what_nothing_replaced_in_path_is_told_with_what_was_meant(disk):
    (one,) = problems(disk, "PATH", PATH="%CUDA_PATH%\\bin", CUDA_PATH=V10)
    assert one.startswith("%CUDA_PATH%\\bin contains %CUDA_PATH% literally, and nothing replaces it; ")
    assert one.endswith("v10.1/bin is meant")


@pytest.mark.parametrize(
    "path, said",
    [
        (f" {V10}\\bin", "has a blank before it"), (f"{V10}\\bin ;C:\\x", "has a blank after it"),
        (f'"{V10}\\bin"', "has quotes in it"), (V10[:-3], "cut off after"),
        (f"C:\\x;{V10[:-8]}", "begins so"),
    ],
)  # fmt: skip
def test_entries_that_lead_nowhere(disk, path, said):
    assert any(said in one for one in problems(disk, "PATH", PATH=path))


def test_an_older_toolkit_before_a_newer_one(disk):
    toolkit(disk, "11.0", CUDA_11_0)
    path = f"{V10}\\bin;{V10.replace('10.1', '11.0')}\\bin"
    assert "is searched before CUDA 11.0" in problems(disk, "PATH", PATH=path)[-1]


def test_only_what_concerns_cuda_is_told_of_path(disk):
    found = facts_of(disk, PATH=f"C:\\secret\\tools;;{V10}\\bin;").environment.variables.need()
    assert [one.value for one in found] == [f"{TOOLKITS}/v10.1/bin"]
