"""Toolkits on disk, by version file, header, folder name, conda and wheels."""

from pathlib import Path

import pytest

from gpuwhy.facts.fact import Absent, Unknown, known, source_of, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.libraries import Libraries
from gpuwhy.look.look import Options
from gpuwhy.look.libraries import libraries
from gpuwhy.look.toolkits import toolkit_version
from gpuwhy.machine.recording import SCHEMA, RecordedMachine, Recording

from .machines import SITE, Made


@pytest.fixture
def machine(tmp_path: Path) -> Made:
    return Made(tmp_path)


def see(machine: Made, **environ: str) -> Libraries:
    machine.answers[("environ",)] = known(environ, "env", "environment")
    return libraries(machine, machine.facts(), Options())


def seen(machine: Made, **environ: str) -> dict[str, tuple[str, str | None]]:
    found = see(machine, **environ).toolkits.need() or ()
    return {one.path: (one.kind, value_or(one.toolkit_cuda, None)) for one in found}


def test_two_toolkits_and_the_link_between_them_count_once_each(machine: Made) -> None:
    machine.write("/usr/local/cuda-12.4/version.json", '{"cuda": {"name": "CUDA SDK", "version": "12.4.1"}}')
    machine.write("/usr/local/cuda-12.4/bin/nvcc", "", 0o755)
    machine.write("/usr/local/cuda-10.1/version.txt", "CUDA Version 10.1.243\n")
    machine.symlink("/usr/local/cuda", "/etc/alternatives/cuda")
    machine.symlink("/etc/alternatives/cuda", "/usr/local/cuda-12.4")
    assert seen(machine, CUDA_HOME="/usr/local/cuda") == {
        "/usr/local/cuda-12.4": ("system", "12.4"),
        "/usr/local/cuda-10.1": ("system", "10.1"),
    }


def test_the_header_decides_before_the_folder_name(machine: Made) -> None:
    machine.write("/usr/local/cuda-11.2/include/cuda.h", "#define CUDA_VERSION 11080\n")
    machine.write("/opt/cuda-9.0/bin/nvcc", "", 0o755)
    assert seen(machine) == {"/usr/local/cuda-11.2": ("system", "11.8"), "/opt/cuda-9.0": ("system", "9.0")}
    by_name = toolkit_version(machine, "/opt/cuda-9.0")
    assert source_of(by_name).detail == "by its name only"


def test_debian_toolkit_takes_its_version_from_the_system_headers(machine: Made) -> None:
    machine.write("/usr/lib/nvidia-cuda-toolkit/bin/nvcc", "", 0o755)
    machine.write("/usr/include/cuda.h", "#define CUDA_VERSION 12020 /* x */\n")
    assert seen(machine) == {"/usr/lib/nvidia-cuda-toolkit": ("distribution", "12.2")}


def test_an_empty_leftover_folder_is_no_toolkit(machine: Made) -> None:
    machine.folder("/usr/local/cuda-11.8/extras")
    assert seen(machine) == {}


def test_conda_by_its_packages(machine: Made) -> None:
    machine.write("/conda/conda-meta/cuda-cudart-12.4.127-h99ab3db_0.json", "{}")
    machine.write("/conda/conda-meta/cuda-version-12.4-h3060b56_3.json", "{}")
    assert seen(machine, CONDA_PREFIX="/conda") == {"/conda": ("conda", "12.4")}


def test_wheels_in_both_layouts(machine: Made) -> None:
    machine.write(f"{SITE}/nvidia/cuda_nvcc/bin/ptxas", "")
    machine.write(f"{SITE}/nvidia/cu13/include/cuda_runtime_api.h", "#define CUDART_VERSION  13020\n")
    machine.wheel("nvidia-cuda-nvcc-cu12", "12.9.86")
    assert seen(machine) == {
        f"{SITE}/nvidia/cu13": ("wheel", "13.2"),
        f"{SITE}/nvidia/cuda_nvcc": ("wheel", "12.9"),
    }


def test_two_wheels_in_one_folder_without_headers_stay_unknown(machine: Made) -> None:
    machine.write(f"{SITE}/nvidia/cuda_nvcc/bin/ptxas", "")
    machine.wheel("nvidia-cuda-nvcc-cu11", "11.8.89")
    machine.wheel("nvidia-cuda-nvcc-cu12", "12.9.86")
    assert seen(machine) == {f"{SITE}/nvidia/cuda_nvcc": ("wheel", None)}


def test_nvcc_is_the_first_executable_on_path(machine: Made) -> None:
    machine.write("/a/nvcc", "", 0o644)
    machine.write("/b/bin/nvcc", "", 0o755)
    machine.symlink("/c/nvcc", "/b/bin/nvcc")
    found = see(machine, PATH="/missing::/a:/c:/b/bin").nvcc_on_path
    assert (found.need(), source_of(found).detail) == ("/c/nvcc", "leads to /b/bin/nvcc")
    assert isinstance(see(machine, PATH="/a").nvcc_on_path, Absent)
    assert isinstance(see(machine).nvcc_on_path, Absent)


def test_a_link_loop_and_garbage_version_files_do_no_harm(machine: Made) -> None:
    machine.symlink("/usr/local/cuda", "/usr/local/cuda")
    machine.write("/usr/local/cuda-12.0/version.json", b"\xff\xfe{{{")
    machine.write("/usr/local/cuda-12.0/bin/nvcc", "", 0o755)
    assert seen(machine) == {"/usr/local/cuda-12.0": ("system", "12.0")}


def test_nothing_seen_is_unknown() -> None:
    found = libraries(RecordedMachine(Recording(SCHEMA, "1", {}, {}, "/home/user")), Facts(), Options())
    assert isinstance(found.toolkits, Unknown)
    assert isinstance(found.nvcc_on_path, Unknown)
    assert isinstance(found.copies, Unknown)
