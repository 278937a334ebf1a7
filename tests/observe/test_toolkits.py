from __future__ import annotations

from pathlib import Path

import pytest

from gpuwhy.host.recorded import RecordedHost
from gpuwhy.host.recording import SCHEMA, RecordingFile
from gpuwhy.model.fact import Absent, Known, Unknown
from gpuwhy.observe.engine import observe
from gpuwhy.observe.scene import Options, Scene
from gpuwhy.observe.toolkits import (
    LOOKS,
    conda_package,
    nvcc_on_path,
    toolkit_root,
    toolkit_version,
    toolkits,
    usr_local_cuda,
)
from tests.observe.worlds import SITE, World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def seen(world: World, **environ: str):
    found = toolkits(world.scene(**environ))
    assert isinstance(found, Known)
    return {t.path: (t.kind, t.toolkit_cuda.value if isinstance(t.toolkit_cuda, Known) else None) for t in found.value}


def test_two_toolkits_and_the_link_between_them_count_once_each(world: World) -> None:
    world.file("/usr/local/cuda-12.4/version.json", '{"cuda": {"name": "CUDA SDK", "version": "12.4.1"}}')
    world.file("/usr/local/cuda-12.4/bin/nvcc", "", 0o755)
    world.file("/usr/local/cuda-10.1/version.txt", "CUDA Version 10.1.243\n")
    world.link("/usr/local/cuda", "/etc/alternatives/cuda")
    world.link("/etc/alternatives/cuda", "/usr/local/cuda-12.4")
    scene = world.scene(CUDA_HOME="/usr/local/cuda")
    found = toolkits(scene)
    assert isinstance(found, Known)
    assert [(t.path, t.toolkit_cuda.need()) for t in found.value] == [
        ("/usr/local/cuda-12.4", "12.4"),
        ("/usr/local/cuda-10.1", "10.1"),
    ]
    assert found.value[0].nvcc.need() == "/usr/local/cuda-12.4/bin/nvcc"
    assert isinstance(found.value[1].nvcc, Absent)
    link = usr_local_cuda(scene)
    assert isinstance(link, Known)
    assert (link.value, link.source.detail) == ("/usr/local/cuda-12.4", "through /etc/alternatives/cuda")


def test_the_header_decides_before_the_folder_name(world: World) -> None:
    world.file("/usr/local/cuda-11.2/include/cuda.h", "#define CUDA_VERSION 11080\n")
    world.file("/opt/cuda-9.0/bin/nvcc", "", 0o755)
    assert seen(world) == {"/usr/local/cuda-11.2": ("system", "11.8"), "/opt/cuda-9.0": ("system", "9.0")}
    by_name = toolkit_version(world.scene().host, "/opt/cuda-9.0")
    assert isinstance(by_name, Known)
    assert by_name.source.detail == "by its name only"


def test_debian_toolkit_takes_its_version_from_the_system_headers(world: World) -> None:
    world.file("/usr/lib/nvidia-cuda-toolkit/bin/nvcc", "", 0o755)
    world.file("/usr/include/cuda.h", "#define CUDA_VERSION 12020 /* x */\n")
    assert seen(world) == {"/usr/lib/nvidia-cuda-toolkit": ("distribution", "12.2")}


def test_an_empty_leftover_folder_is_no_toolkit(world: World) -> None:
    world.folder("/usr/local/cuda-11.8/extras")
    assert seen(world) == {}


def test_variables_and_path_name_toolkits_elsewhere(world: World) -> None:
    world.file("/sw/CUDA/12.1.1/version.json", '{"cuda": {"version": "12.1.1"}}')
    world.file("/sw/CUDA/12.1.1/bin/nvcc", "", 0o755)
    world.file("/data/cuda-11.7/version.json", '{"cuda": {"version": "11.7.0"}}')
    found = seen(world, PATH="/sw/CUDA/12.1.1/bin:/usr/bin", LD_LIBRARY_PATH="/data/cuda-11.7/lib64")
    assert found == {"/sw/CUDA/12.1.1": ("system", "12.1"), "/data/cuda-11.7": ("system", "11.7")}


def test_conda_by_its_packages(world: World) -> None:
    world.file("/conda/conda-meta/cuda-cudart-12.4.127-h99ab3db_0.json", "{}")
    world.file("/conda/conda-meta/cuda-version-12.4-h3060b56_3.json", "{}")
    assert seen(world, CONDA_PREFIX="/conda") == {"/conda": ("conda", "12.4")}
    assert conda_package("libcublas-12.4.5.8-he02047a_2.json") == ("libcublas", "12.4.5.8")


def test_wheels_in_both_layouts(world: World) -> None:
    world.file(f"{SITE}/nvidia/cuda_nvcc/bin/ptxas", "")
    world.file(f"{SITE}/nvidia/cu13/include/cuda_runtime_api.h", "#define CUDART_VERSION  13020\n")
    world.wheel("nvidia-cuda-nvcc-cu12", "12.9.86")
    assert seen(world) == {f"{SITE}/nvidia/cu13": ("wheel", "13.2"), f"{SITE}/nvidia/cuda_nvcc": ("wheel", "12.9")}


def test_two_wheels_in_one_folder_without_headers_stay_unknown(world: World) -> None:
    world.file(f"{SITE}/nvidia/cuda_nvcc/bin/ptxas", "")
    world.wheel("nvidia-cuda-nvcc-cu11", "11.8.89")
    world.wheel("nvidia-cuda-nvcc-cu12", "12.9.86")
    assert seen(world) == {f"{SITE}/nvidia/cuda_nvcc": ("wheel", None)}


def test_nvcc_is_the_first_executable_on_path(world: World) -> None:
    world.file("/a/nvcc", "", 0o644)
    world.file("/b/bin/nvcc", "", 0o755)
    world.link("/c/nvcc", "/b/bin/nvcc")
    found = nvcc_on_path(world.scene(PATH="/missing::/a:/c:/b/bin"))
    assert isinstance(found, Known)
    assert (found.value, found.source.detail) == ("/c/nvcc", "leads to /b/bin/nvcc")
    assert isinstance(nvcc_on_path(world.scene(PATH="/a")), Absent)
    assert isinstance(nvcc_on_path(world.scene()), Absent)


def test_a_dangling_usr_local_cuda_is_told(world: World) -> None:
    world.link("/usr/local/cuda", "/usr/local/cuda-12.9")
    found = usr_local_cuda(world.scene())
    assert isinstance(found, Absent)
    assert "dangling link to /usr/local/cuda-12.9" in str(found.source)


def test_a_link_loop_and_garbage_version_files_do_no_harm(world: World) -> None:
    world.link("/usr/local/cuda", "/usr/local/cuda")
    world.file("/usr/local/cuda-12.0/version.json", b"\xff\xfe{{{")
    world.file("/usr/local/cuda-12.0/bin/nvcc", "", 0o755)
    scene = world.scene()
    assert observe(scene, LOOKS) is False
    assert isinstance(scene.facts.toolkits.usr_local_cuda, Unknown)
    assert [t.toolkit_cuda.need() for t in scene.facts.toolkits.toolkits.need() or ()] == ["12.0"]


def test_nothing_seen_is_unknown() -> None:
    scene = Scene(RecordedHost(RecordingFile(SCHEMA, "0", {}, {})), Options())
    observe(scene, LOOKS)
    assert isinstance(scene.facts.toolkits.toolkits, Unknown)
    assert isinstance(scene.facts.toolkits.nvcc_on_path, Unknown)
    assert isinstance(scene.facts.toolkits.usr_local_cuda, Unknown)


@pytest.mark.parametrize(
    "folder, root",
    [
        ("/usr/local/cuda-12.4/lib64", "/usr/local/cuda-12.4"),
        ("/usr/local/cuda/bin", "/usr/local/cuda"),
        ("/opt/nvidia/hpc_sdk/Linux_x86_64/24.3/cuda/12.3/lib64", "/opt/nvidia/hpc_sdk/Linux_x86_64/24.3/cuda/12.3"),
        ("/usr/local/cuda/targets/x86_64-linux/lib", "/usr/local/cuda"),
        ("/usr/lib", ""),
        ("/venv/lib", ""),
    ],
)
def test_toolkit_root(folder: str, root: str) -> None:
    assert toolkit_root(folder) == root
