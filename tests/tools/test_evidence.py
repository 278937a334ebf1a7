"""The tables of evidence in the docs are those of the rows; empty libraries stand in for what a file asks for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.repair.breaks import BASES as BROKEN
from tools import empty_cuda
from tools.evidence_docs import BASES, PAGES, ROOT, filled


@pytest.mark.parametrize("page", PAGES)
def test_the_docs_have_the_tables_of_today(page: str) -> None:
    text = (ROOT / page).read_text()
    assert filled(text) == text


def test_every_environment_that_is_broken_has_its_row() -> None:
    assert BASES.keys() == BROKEN.keys()


def test_nvidias_wheels_are_left_out() -> None:
    asked = ["nvidia-cublas-cu12", "cuda-toolkit[cudart,nvrtc]", "sympy", "triton"]
    lines = "cuda-toolkit; sys_platform == 'none'\nnvidia-cublas-cu12; sys_platform == 'none'\n"
    assert empty_cuda.left_out(asked) == lines


def test_calls_bear_the_versions_that_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """cudart's calls have its name as their version, NVSHMEM's another word, cuDNN's none."""
    needs = "".join(f" NEEDED [{n}]\n" for n in ("libcudart.so.12", "libnvshmem_host.so.3", "libcudnn.so.9"))
    calls = " U cudaMalloc@libcudart.so.12\n U nvshmem_init@NVSHMEM\n U cudnnCreate\n"
    monkeypatch.setattr(empty_cuda, "said_by", lambda *command: needs if command[0] == "readelf" else calls)
    built: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        built.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    assert empty_cuda.make([tmp_path / "libtorch.so"], tmp_path)
    assert (
        tmp_path / "libcudart.so.12.map"
    ).read_text() == "libcudart.so.12 { global: cudaMalloc; };\nNVSHMEM { global: nvshmem_init; };\n"
    assert (tmp_path / "libnvshmem_host.so.3.map").read_text() == "NVSHMEM { global: nvshmem_init; };\n"
    assert "cudnnCreate" in (tmp_path / "libcudnn.so.9.c").read_text()
    assert len(built) == 3
