"""select_gpu: by what is really free, in time, or with a clear error."""

import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest

import gpuwhy
from gpuwhy.api import select
from gpuwhy.api.select import SelectionError, choose, visible, wish
from tests.api.standins import gpu, machine


@pytest.fixture
def environ(monkeypatch):
    for name in ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return os.environ


@pytest.fixture
def here(monkeypatch, environ):
    def place(*gpus, **variables):
        monkeypatch.setattr(select, "cuda_started", lambda: False)
        monkeypatch.setattr(select, "_devices", lambda: machine(*gpus, environ=variables))
        for name, value in variables.items():
            monkeypatch.setenv(name, value)

    return place


def test_the_gpu_with_most_free_memory_becomes_the_only_visible_one(here, environ):
    here(gpu(0, free=3 << 30), gpu(1, free=60 << 30), gpu(2, free=20 << 30))
    (one,) = gpuwhy.select_gpu(free="8GB", capability=">=8.0")
    assert (one.index, one.free, one.capability, one.name) == (1, 60 << 30, "8.0", "NVIDIA A100")
    assert (environ["CUDA_VISIBLE_DEVICES"], environ["CUDA_DEVICE_ORDER"]) == ("1", "PCI_BUS_ID")


def test_several_and_by_uuid(here, environ):
    here(gpu(0, free=3 << 30), gpu(1, free=60 << 30), gpu(2, free=20 << 30))
    assert [one.index for one in gpuwhy.select_gpu(n=2, by="uuid")] == [1, 2]
    assert environ["CUDA_VISIBLE_DEVICES"] == "GPU-00000001,GPU-00000002"
    here(gpu(0, uuid="GPU-1"), gpu(1, uuid="GPU-1"))
    gpuwhy.select_gpu(n=2, by="uuid")
    assert environ["CUDA_VISIBLE_DEVICES"] == "0,1"


def test_each_gpu_is_named_with_why_it_is_not_as_wanted(here, environ):
    here(
        gpu(0, free=1 << 30),
        gpu(1, name="Tesla K80", capability="3.7"),
        gpu(2, compute_mode="prohibited"),
        gpu(3, mig={"current": True, "pending": True, "instances": ["MIG-1"]}),
        gpu(4, memory={"error": "NVML_ERROR_UNKNOWN"}),
        [{"gpu": 5, "error": "NVML_ERROR_GPU_IS_LOST"}],
        gpu(6, compute_mode="exclusive_process", processes=[{"pid": 1, "memory": 1, "mine": True}]),
    )
    with pytest.raises(SelectionError) as told:
        gpuwhy.select_gpu(free="8GiB", capability=">=8.0")
    text = str(told.value)
    assert text.startswith(
        "no GPU is as wanted: GPU 0 (NVIDIA A100) has 1 GiB free, 8 GiB wanted; "
    )
    for said in (
        "GPU 1 (Tesla K80) has compute capability 3.7, >=8.0 wanted",
        "GPU 2 (NVIDIA A100) is in compute mode prohibited",
        "GPU 3 (NVIDIA A100) is divided by MIG",
        "GPU 4 (NVIDIA A100) does not tell its free memory",
        "GPU 5 (unknown) does not answer: NVML_ERROR_GPU_IS_LOST",
        "GPU 6 (NVIDIA A100) is in compute mode exclusive_process and in use",
    ):
        assert said in text
    assert "CUDA_VISIBLE_DEVICES" not in environ


def test_what_the_variable_excludes_stays_excluded(here, environ):
    here(gpu(0), gpu(1, free=9 << 30), gpu(2, free=10 << 30), CUDA_VISIBLE_DEVICES="1,2")
    assert gpuwhy.select_gpu()[0].index == 2
    assert environ["CUDA_VISIBLE_DEVICES"] == "2"


@pytest.mark.parametrize(
    "value, said",
    [
        ("7", "CUDA stops reading it at '7': no GPU has this index"),
        ("", "hides every GPU|empty"),
        ("-1", "at '-1': negative"),
        ("GPU-ffffffff", "no GPU has this UUID"),
    ],
)
def test_a_variable_that_leaves_nothing(value, said):
    with pytest.raises(SelectionError, match=said):
        visible(machine(gpu(0), gpu(1), environ={"CUDA_VISIBLE_DEVICES": value}))


def test_indexes_in_cudas_own_order_are_not_guessed(monkeypatch, environ):
    mixed = gpu(0, name="Tesla T4"), gpu(1)
    with pytest.raises(SelectionError, match="fastest first, and the models here differ") as told:
        visible(machine(*mixed, environ={"CUDA_VISIBLE_DEVICES": "0"}))
    assert not told.value.certain
    monkeypatch.setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID")
    sure = {"CUDA_VISIBLE_DEVICES": "0"}
    assert [one.index for one in visible(machine(*mixed, environ=sure))] == [0]
    by_uuid = machine(*mixed, environ={"CUDA_VISIBLE_DEVICES": "GPU-00000001"})
    assert [one.index for one in visible(by_uuid)] == [1]


def test_no_gpu_says_why(here, monkeypatch):
    here()
    broken = SimpleNamespace(id="driver.missing", because=(SimpleNamespace(text="no driver"),))
    answer = SimpleNamespace(first=broken, status="broken")
    monkeypatch.setattr("gpuwhy.api.python.check", lambda: answer)
    with pytest.raises(SelectionError, match=r"^no GPU: driver.missing: no driver$"):
        gpuwhy.select_gpu()
    healthy = SimpleNamespace(first=None, status="healthy")
    monkeypatch.setattr("gpuwhy.api.python.check", lambda: healthy)
    with pytest.raises(SelectionError, match=r"^no GPU: this machine has none$"):
        gpuwhy.select_gpu()


LIBCUDA = """
static int ready;
int cuInit(unsigned flags) { ready = 1; return 0; }
int cuDeviceGetCount(int *count) { if (!ready) return 3; *count = 1; return 0; }
"""


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
def test_too_late_is_asked_of_the_driver_library_in_this_process(tmp_path):
    (tmp_path / "cuda.c").write_text(LIBCUDA)
    library = tmp_path / "libcuda.so.1"
    name, source = "-Wl,-soname,libcuda.so.1", str(tmp_path / "cuda.c")
    subprocess.run(["gcc", "-shared", "-fPIC", name, "-o", str(library), source], check=True)
    code = (
        "import ctypes, gpuwhy\nfrom gpuwhy.api.memory import cuda_started\n"
        f"print(cuda_started())\nlib = ctypes.CDLL({str(library)!r})\nprint(cuda_started())\n"
        "lib.cuInit(0)\n"
        "try:\n    gpuwhy.select_gpu()\nexcept gpuwhy.SelectionError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("False\nFalse\nCUDA is already initialised in this process: ")


def test_bounds_of_the_capability_that_8_0_has_and_has_not():
    one = visible(machine(gpu(0)))
    for capability in (">=8.0", "8.0", 8.0, "==8.0", ">=7.5,<9"):
        assert choose(one, wish(capability=capability), 1), capability
    for capability in ("<8", "!=8.0", ">8.0", "9"):
        with pytest.raises(SelectionError):
            choose(one, wish(capability=capability), 1)


@pytest.mark.parametrize(
    "wrong",
    [{"capability": "new"}, {"free": "much"}, {"free": "1.2.3GB"}, {"n": 0}, {"by": "name"}],
)
def test_wishes_that_make_no_sense(wrong):
    with pytest.raises(ValueError, match=r"write|needs|no number"):
        gpuwhy.select_gpu(**wrong)
