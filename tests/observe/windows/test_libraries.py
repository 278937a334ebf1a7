"""Copies of CUDA's DLLs: where they lie, their versions, and those that are broken."""

from __future__ import annotations

import pytest

from tests.observe.windows.seen import facts_of
from tests.windows.trees import CUDA_10_1, CUDA_11_0, TOOLKITS, Disk, cudnn7, made, python, toolkit, windows


@pytest.fixture
def disk(tmp_path) -> Disk:
    return windows(tmp_path)


def copies(disk: Disk, **environ: str) -> dict[str, tuple[str, str]]:
    found = facts_of(disk, **environ).libraries.copies.need()
    return {one.path: (one.where, one.health.need()) for one in found}


@pytest.mark.parametrize(
    ("folder", "where", "environ"),
    [
        ("C:/somewhere/cudnn", "PATH", {"PATH": "C:\\Somewhere\\CuDNN"}),
        ("C:/Windows/System32", "System32", {}),
        ("C:/cudnn-7.6/bin", "CUDNN_PATH", {"CUDNN_PATH": "C:\\cudnn-7.6"}),
        ("C:/Program Files/NVIDIA/CUDNN/v9.1/bin/12.4", "cuDNN installer", {}),
        ("C:/tools/cuda/bin", "unpacked", {}),
        (f"{TOOLKITS}/v10.1/bin", "toolkit", {}),
    ],
)
def test_where_a_copy_lies(disk, folder, where, environ):
    disk.put(f"{folder}/cudnn64_7.dll", cudnn7())
    disk.put(f"{folder}/nvcc.exe", made(""))
    found = facts_of(disk, **environ).libraries.copies.need()
    assert [(one.path.lower(), one.where, one.version.need()) for one in found] == [
        (f"{folder}/cudnn64_7.dll".lower(), where, "7.6.5")
    ]


def test_wheels_with_their_owner(disk):
    site = python(disk)
    disk.put(f"{site}/nvidia/cudnn/bin/cudnn64_8.dll", made("", (8, 9, 4, 25)))
    disk.put(f"{site}/nvidia_cudnn_cu11-8.9.4.25.dist-info/METADATA", "Name: nvidia-cudnn-cu11\nVersion: 8.9.4.25\n")
    (one,) = facts_of(disk).libraries.copies.need()
    assert (one.where, one.owner.need()) == ("wheel", "nvidia-cudnn-cu11 8.9.4.25 (pip)")


@pytest.mark.parametrize(
    ("data", "health"),
    [(b"", "empty"), (b"text", "not PE"), (b"MZ" + bytes(10), "not PE"), (made("")[:700], "truncated")],
)
def test_broken_copies(disk, data, health):
    disk.put("C:/cuda/bin/cudnn64_7.dll", data)
    assert copies(disk)["C:/cuda/bin/cudnn64_7.dll"][1].startswith(health)


def test_a_folder_in_place_of_a_library_and_a_loop(disk):
    disk.at("C:/cuda/bin/cudnn64_7.dll").mkdir(parents=True)
    disk.at("C:/cuda/bin/cudart64_101.dll").symlink_to("cudart64_101.dll")
    assert all(health != "ok" for _, health in copies(disk).values())


def test_toolkits_are_found_by_place_variable_and_path(disk):
    toolkit(disk, "10.1", CUDA_10_1)
    toolkit(disk, "11.0", CUDA_11_0)
    disk.put("C:/cuda-11.2/bin/cudart64_110.dll", made(""))
    disk.put("C:/my cuda/v11.8/bin/nvcc.exe", made(""))
    found = facts_of(disk, CUDA_PATH="C:\\cuda-11.2\\", PATH="C:\\my cuda\\v11.8\\bin").toolkits.toolkits.need()
    assert [one.toolkit_cuda.need() for one in found] == ["11.0", "10.1", "11.2", "11.8"]


def test_nvcc_on_path(disk):
    toolkit(disk, "10.1", CUDA_10_1)
    path = f"{TOOLKITS}/v10.1/bin".replace("/", "\\")
    assert facts_of(disk, PATH=path).toolkits.nvcc_on_path.need() == f"{TOOLKITS}/v10.1/bin/nvcc.exe"
