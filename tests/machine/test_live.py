"""The live machine: children that die, hang or babble; what it may see; NVML and device nodes."""

import ctypes
import errno
import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gpuwhy.facts.fact import Unknown
from gpuwhy.machine import live as module
from gpuwhy.machine import process
from gpuwhy.machine.live import LiveMachine

HERE = Path(__file__).parent
needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Runs a script as if it were one of machine/children."""
    shutil.copy(f"{process.CHILDREN}/start.py", tmp_path)
    monkeypatch.setattr(process, "CHILDREN", str(tmp_path))
    monkeypatch.setattr(module, "_OTHERS", (2.0, 0))

    def run(code: str, *args: str):
        (tmp_path / "child.py").write_text(code)
        return LiveMachine({}).call("child", *args)

    return run


def ended(words: str, code: int | None = None, late: bool = False) -> dict[str, Any]:
    how = {"code": code, "late": late, "why": "", "last": ""}
    return {"ended": f"child {words}", "how": how}


def test_a_child_that_hangs_or_crashes_keeps_what_it_said(call):
    said = "import sys\nprint('{\"a\": 1}')\nprint('noise')\nprint('{\"b\": \"%s\"}' % sys.argv[1])"
    assert call(said, "x").need() == ({"a": 1}, {"b": "x"})
    answer = call("import time\nprint('{\"a\": 1}', flush=True)\ntime.sleep(60)")
    assert answer.need() == ({"a": 1}, ended("ran out of time", late=True))
    answer = call("import time\ntime.sleep(60)")
    assert answer == Unknown("child: ran out of time", kind="ended")
    answer = call("import os\nprint('{\"a\": 1}', flush=True)\nos.abort()")
    assert answer.need() == ({"a": 1}, ended("died by signal 6", -6))
    answer = call("raise SystemError('no')")
    assert answer == Unknown("child: ended with code 1: SystemError: no", kind="ended")


@pytest.mark.parametrize("said", ["{", "{'a': 1}", "{} trailing", '{"a": ' + "[" * 5000])
def test_a_child_that_prints_garbage(call, said):
    (only,) = call(f"print({said!r})").need()
    assert list(only) == ["garbled"]
    assert len(only["garbled"]) <= 200


def test_modules_that_do_not_compile(tmp_path):
    texts = {"good.py": "x = 1\n", "bad.py": "x = (\n", "nul.py": "a\0b", "none.py": None}
    for name, text in texts.items():
        if text is not None:
            (tmp_path / name).write_text(text)
    said = lines({}, "compiles", *(str(tmp_path / name) for name in texts))
    assert [bool(line["wrong"]) for line in said] == [False, True, True, False]


def test_only_steering_variables_are_seen():
    steering = {"CUDA_VISIBLE_DEVICES": "0", "LD_LIBRARY_PATH": "/home/alice/lib"}
    steering |= {"TF_CPP_MIN_LOG_LEVEL": "3", "PATH": "/usr/bin"}
    secret = ("HOME", "USER", "AWS_SECRET_ACCESS_KEY", "HF_TOKEN", "NVIDIA_API_KEY", "JAX_AUTH")
    secret += ("TF_CREDENTIALS_FILE", "CUDAX", "HOSTNAME", "HISTFILE", "DATABASE_URL")
    secret += ("https_proxy", "NVIDIA_PAT", "NVIDIA_NGC_ORG", "PADDLE_TRAINER_ENDPOINTS")
    secret += ("PADDLE_MASTER", "TRITON_REDIS_HOST", "TF_CONFIG", "TORCH_SHOW_API_KEY")
    environ = {**steering, **dict.fromkeys(secret, "s3cret"), "WSL_DISTRO_NAME": "s3cret"}
    assert LiveMachine(environ).environ().need() == {**steering, "WSL_DISTRO_NAME": "set"}


def test_a_kernel_log_that_this_user_may_not_read_is_unknown(monkeypatch):
    data = b"<6>[1.0] NVRM: x\n<6>[2.0] usb: y\n"
    for number, asks in ((errno.EPERM, None), (0, data)):

        def klogctl(what: int, buffer: Any, size: int, asks: bytes | None = asks) -> int:
            if buffer is None or asks is None:
                return 1 << 16 if buffer is None else -1
            buffer.value = asks
            return len(asks)

        monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: SimpleNamespace(klogctl=klogctl))
        ctypes.set_errno(number)
        answer = LiveMachine({}).kernel_log()
        if asks:
            assert answer.need() == ("[1.0] NVRM: x",)
        else:
            assert isinstance(answer, Unknown)
            assert (answer.kind, answer.how) == ("denied", "sudo dmesg | gpuwhy explain")


def build(source: str, to: Path) -> Path:
    argv = ["gcc", "-shared", "-fPIC", "-o", str(to), str(HERE / source), "-ldl"]
    subprocess.run(argv, check=True)
    return to


@pytest.fixture(scope="module")
def fake_nvml(tmp_path_factory):
    return build("fake_nvml.c", tmp_path_factory.mktemp("nvml") / "libnvidia-ml.so.1").parent


def lines(environ: dict[str, str], child: str, *args: str) -> list[dict[str, Any]]:
    return list(LiveMachine({"PATH": os.environ["PATH"], **environ}).call(child, *args).need())


def merged(said: list[dict[str, Any]], gpu: int) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for line in said:
        if line.get("gpu") == gpu:
            out.update(line)
    return out


@needs_gcc
def test_nvml_tells_everything_a_gpu_answers(fake_nvml):
    said = lines({"LD_LIBRARY_PATH": str(fake_nvml)}, "nvml")
    for line in ({"init": {"code": 0}}, {"driver": "580.159.04"}, {"cuda": 13000}):
        assert line in said
    gpu = merged(said, 0)
    assert gpu["name"] == "Stand-in 9000"
    assert gpu["uuid"] == "GPU-0a1b2c3d"  # never the whole UUID
    assert gpu["capability"] == "9.0"
    assert gpu["memory"] == {"total": 1000, "free": 400}
    assert gpu["compute_mode"] == "exclusive_process"
    assert gpu["processes"] == [{"pid": os.getpid(), "memory": 600, "mine": True}]
    assert gpu["throttle"] == ["sw_power_cap", "hw_thermal"]
    assert gpu["ecc"] == 7
    assert gpu["rows"] == {"pending": True, "failed": False}
    assert gpu["mig"] == {"error": "NVML_ERROR_NOT_SUPPORTED"}
    assert gpu["fabric"] == {"error": "NVML_ERROR_FUNCTION_NOT_FOUND"}
    assert merged(said, 1) == {"gpu": 1, "error": "NVML_ERROR_GPU_IS_LOST"}
    more = merged(lines({"LD_LIBRARY_PATH": str(fake_nvml)}, "nvml", "all"), 0)
    compared = {"pcie", "nvlink", "clocks", "power", "ecc_mode"}
    assert set(more) - set(gpu) == compared, "asked only where machines are compared"


@needs_gcc
@pytest.mark.parametrize(
    "how, last",
    [
        ("9", "NVML_ERROR_DRIVER_NOT_LOADED"),
        ("18", "NVML_ERROR_LIB_RM_VERSION_MISMATCH"),
        ("abort", "nvml died by signal 6"),
        ("hang", "nvml ran out of time"),
    ],
)
def test_nvml_that_does_not_start_says_why(fake_nvml, monkeypatch, how, last):
    monkeypatch.setattr(module, "_OTHERS", (1.5 if how == "hang" else 8.0, 0))
    said = lines({"LD_LIBRARY_PATH": str(fake_nvml), "FAKE_NVML_INIT": how}, "nvml")
    assert {"step": "nvmlInit"} in said
    assert (said[-1].get("ended") or said[-1]["init"]["name"]) == last


def stand_in_nodes(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to("/dev/null")


def outcomes(said: list[dict[str, Any]]) -> dict[str, str]:
    return {line["path"].rpartition("/")[2]: line["opened"] for line in said if "path" in line}


def test_nodes_are_opened_each_after_its_name_was_said(tmp_path):
    names = ("nvidiactl", "nvidia0", "nvidia-caps/nvidia-cap1", "nvram", "nvidia0.backup")
    stand_in_nodes(tmp_path, *names)
    (tmp_path / "nvidia1").write_text("a plain file")
    (tmp_path / "nvidia2").symlink_to("nowhere")
    said = lines({}, "nodes", str(tmp_path))
    good = dict.fromkeys(("nvidia0", "nvidiactl", "nvidia-cap1"), "ok")
    assert outcomes(said) == {**good, "nvidia1": "not a device", "nvidia2": "ENOENT"}
    for before, after in zip(said[::2], said[1::2], strict=True):
        assert before["opening"] == after["path"]


@needs_gcc
def test_a_node_that_hangs_on_open_does_not_hide_the_others(tmp_path):
    stand_in_nodes(tmp_path, "nvidia0", "nvidia1", "nvidiactl")
    shim = build("slow_open.c", tmp_path / "slow_open.so")
    said = lines({"LD_PRELOAD": str(shim)}, "nodes", str(tmp_path))
    assert outcomes(said) == {"nvidia0": "ok", "nvidia1": "hung", "nvidiactl": "ok"}
