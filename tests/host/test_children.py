"""The NVML and device-node children, against a stand-in NVML and stand-in nodes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gpuwhy.host import live, process
from gpuwhy.host.ends import of_words
from gpuwhy.host.live import LiveHost
from gpuwhy.model.fact import Known, Unknown

HERE = Path(__file__).parent
needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")


def build(source: str, to: Path) -> Path:
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", str(to), str(HERE / source), "-ldl"], check=True)
    return to


@pytest.fixture(scope="module")
def fake_nvml(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("fake_nvml.c", tmp_path_factory.mktemp("nvml") / "libnvidia-ml.so.1").parent


def environ(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], **more}


def lines(host: LiveHost, child: str, *args: str) -> list[dict[str, Any]]:
    said = host.call(child, *args)
    assert isinstance(said, Known), said
    return list(said.value)


def merged(said: list[dict[str, Any]], gpu: int) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for line in said:
        if line.get("gpu") == gpu:
            out.update(line)
    return out


@needs_gcc
def test_nvml_tells_everything_a_gpu_answers(fake_nvml: Path):
    said = lines(LiveHost(environ(LD_LIBRARY_PATH=str(fake_nvml))), "nvml")
    assert {"init": {"code": 0}} in said
    assert {"driver": "580.159.04"} in said
    assert {"cuda": 13000} in said
    gpu = merged(said, 0)
    assert gpu["name"] == "Stand-in 9000"
    assert gpu["uuid"] == "GPU-0a1b2c3d"  # never the whole UUID
    assert gpu["capability"] == "9.0"
    assert gpu["memory"] == {"total": 1000, "free": 400}
    assert gpu["compute_mode"] == "exclusive_process"
    assert gpu["processes"] == [{"pid": os.getpid(), "memory": 600, "mine": True}]
    assert gpu["throttle"] == ["sw_power_cap", "hw_thermal"]
    assert gpu["nvlink"] == 3
    assert gpu["ecc"] == 7
    assert gpu["rows"] == {"remapped": 3, "pending": True, "failed": False}


@needs_gcc
def test_nvml_names_the_error_of_each_query_and_each_gpu(fake_nvml: Path):
    said = lines(LiveHost(environ(LD_LIBRARY_PATH=str(fake_nvml))), "nvml")
    gpu = merged(said, 0)
    assert gpu["mig"] == {"error": "NVML_ERROR_NOT_SUPPORTED"}
    assert gpu["fabric"] == {"error": "NVML_ERROR_FUNCTION_NOT_FOUND"}
    assert merged(said, 1) == {"gpu": 1, "error": "NVML_ERROR_GPU_IS_LOST"}


@needs_gcc
@pytest.mark.parametrize(
    "code, name", [("9", "NVML_ERROR_DRIVER_NOT_LOADED"), ("18", "NVML_ERROR_LIB_RM_VERSION_MISMATCH")]
)
def test_nvml_that_does_not_start_says_why(fake_nvml: Path, code: str, name: str):
    said = lines(LiveHost(environ(LD_LIBRARY_PATH=str(fake_nvml), FAKE_NVML_INIT=code)), "nvml")
    init = said[-1]["init"]
    assert (init["code"], init["name"], init["call"]) == (int(code), name, "nvmlInit")


@needs_gcc
def test_nvml_that_dies_names_the_step(fake_nvml: Path):
    said = lines(LiveHost(environ(LD_LIBRARY_PATH=str(fake_nvml), FAKE_NVML_INIT="abort")), "nvml")
    assert said[-2] == {"step": "nvmlInit"}
    assert said[-1] == of_words("nvml died by signal 6")


@needs_gcc
def test_nvml_that_hangs_is_left(fake_nvml: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process, "CALL_SECONDS", 0.5)
    said = lines(LiveHost(environ(LD_LIBRARY_PATH=str(fake_nvml), FAKE_NVML_INIT="hang")), "nvml")
    assert said[-2] == {"step": "nvmlInit"}
    assert said[-1] == of_words("nvml ran out of time")


def test_a_broken_nvml_library_is_told_apart_from_a_missing_one(tmp_path: Path):
    (tmp_path / "libnvidia-ml.so.1").write_bytes(b"")
    said = lines(LiveHost(environ(LD_LIBRARY_PATH=str(tmp_path))), "nvml")
    assert said[-1]["init"]["name"] == "NVML_ERROR_LIBRARY_NOT_FOUND"
    assert "file too short" in said[-1]["init"]["detail"]


def test_without_nvidia_ml_py_the_child_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(live, "_libraries", lambda child: ())
    assert lines(LiveHost(environ()), "nvml")[-1]["missing"] == "nvidia-ml-py"


def stand_in_nodes(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to("/dev/null")


def outcomes(said: list[dict[str, Any]]) -> dict[str, str]:
    return {line["path"].rpartition("/")[2]: line["opened"] for line in said if "path" in line}


def test_nodes_are_opened_each_after_its_name_was_said(tmp_path: Path):
    stand_in_nodes(tmp_path, "nvidiactl", "nvidia0", "nvidia-caps/nvidia-cap1", "nvram", "nvidia0.backup")
    (tmp_path / "nvidia1").write_text("a plain file")
    (tmp_path / "nvidia2").symlink_to("nowhere")
    said = lines(LiveHost(environ()), "nodes", str(tmp_path))
    assert outcomes(said) == {
        "nvidia0": "ok", "nvidia1": "not a device", "nvidia2": "ENOENT", "nvidiactl": "ok", "nvidia-cap1": "ok"
    }  # fmt: skip
    for before, after in zip(said[::2], said[1::2], strict=True):
        assert before["opening"] == after["path"]


@pytest.mark.skipif(os.getuid() == 0, reason="root may open everything")
def test_a_node_without_permission_gives_its_errno(tmp_path: Path):
    (tmp_path / "nvidia0").symlink_to("/dev/mem")
    assert outcomes(lines(LiveHost(environ()), "nodes", str(tmp_path))) == {"nvidia0": "EACCES"}


@needs_gcc
def test_a_node_that_hangs_on_open_does_not_hide_the_others(tmp_path: Path):
    stand_in_nodes(tmp_path, "nvidia0", "nvidia1", "nvidiactl")
    shim = build("slow_open.c", tmp_path / "slow_open.so")
    said = lines(LiveHost(environ(LD_PRELOAD=str(shim))), "nodes", str(tmp_path))
    assert outcomes(said) == {"nvidia0": "ok", "nvidia1": "hung", "nvidiactl": "ok"}


def test_a_child_that_cannot_be_found_is_unknown():
    assert isinstance(LiveHost(environ()).call("no-such-child"), Unknown)
