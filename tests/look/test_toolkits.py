"""Toolkits on disk, by version file, header, folder name, conda and wheels."""

import pytest

from gpuwhy.facts.fact import Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.look.look import Options
from gpuwhy.look.libraries import libraries
from gpuwhy.machine.recording import SCHEMA, RecordedMachine, Recording

from .machines import SITE, Made
from .test_libraries import see


def seen(machine: Made, **environ: str) -> dict[str, tuple[str, str | None]]:
    found = see(machine, **environ).toolkits.need() or ()
    return {one.path: (one.kind, value_or(one.toolkit_cuda, None)) for one in found}


JSON = '{"cuda": {"name": "CUDA SDK", "version": "12.4.1"}}'
PTXAS, CU13 = f"{SITE}/nvidia/cuda_nvcc/bin/ptxas", f"{SITE}/nvidia/cu13"
NVCC_12 = ("nvidia-cuda-nvcc-cu12", "12.9.86")
PLACES = {
    "two, by version files": (
        {"/usr/local/cuda-12.4/version.json": JSON, "/usr/local/cuda-10.1/version.txt": "CUDA Version 10.1.243\n"},
        [],
        {"/usr/local/cuda-12.4": ("system", "12.4"), "/usr/local/cuda-10.1": ("system", "10.1")},
    ),
    "the header before the folder's name": (
        {"/usr/local/cuda-11.2/include/cuda.h": "#define CUDA_VERSION 11080\n", "/opt/cuda-9.0/bin/nvcc": ""},
        [],
        {"/usr/local/cuda-11.2": ("system", "11.8"), "/opt/cuda-9.0": ("system", "9.0")},
    ),
    "Debian's, by the system's headers": (
        {"/usr/lib/nvidia-cuda-toolkit/bin/nvcc": "", "/usr/include/cuda.h": "#define CUDA_VERSION 12020 /* x */\n"},
        [],
        {"/usr/lib/nvidia-cuda-toolkit": ("distribution", "12.2")},
    ),
    "an empty folder that was left": ({"/usr/local/cuda-11.8/extras/README": ""}, [], {}),
    "conda, by its packages": (
        {"/conda/conda-meta/cuda-version-12.4-h3060b56_3.json": "{}"}, [], {"/conda": ("conda", "12.4")}
    ),
    "wheels in both layouts": (
        {PTXAS: "", f"{CU13}/include/cuda_runtime_api.h": "#define CUDART_VERSION  13020\n"},
        [NVCC_12],
        {CU13: ("wheel", "13.2"), f"{SITE}/nvidia/cuda_nvcc": ("wheel", "12.9")},
    ),
    "two wheels in one folder without headers": (
        {PTXAS: ""}, [("nvidia-cuda-nvcc-cu11", "11.8.89"), NVCC_12], {f"{SITE}/nvidia/cuda_nvcc": ("wheel", None)}
    ),
}


@pytest.mark.parametrize(("files", "wheels", "found"), PLACES.values(), ids=PLACES)
def test_places(machine: Made, files: dict, wheels: list, found: dict) -> None:
    for path, text in files.items():
        machine.write(path, text, 0o755 if path.endswith("nvcc") else 0o644)
    for wheel in wheels:
        machine.wheel(*wheel)
    assert seen(machine, CONDA_PREFIX="/conda") == found


def test_a_link_loop_and_garbage_version_files_do_no_harm(machine: Made) -> None:
    machine.symlink("/usr/local/cuda", "/usr/local/cuda")
    machine.write("/usr/local/cuda-12.0/version.json", b"\xff\xfe{{{")
    machine.write("/usr/local/cuda-12.0/bin/nvcc", "", 0o755)
    assert seen(machine) == {"/usr/local/cuda-12.0": ("system", "12.0")}


def test_nothing_seen_is_unknown() -> None:
    found = libraries(RecordedMachine(Recording(SCHEMA, "1", {}, {}, "/home/user")), Facts(), Options())
    assert isinstance(found.toolkits, Unknown)
    assert isinstance(found.copies, Unknown)
