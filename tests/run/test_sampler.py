"""The sampler, with a stand-in for NVML's binding: whose memory is whose, which Python it was, how the chart looks."""

import signal
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from gpuwhy.machine.children import sampler as script
from gpuwhy.facts.fact import Unknown
from gpuwhy.run.child import Ended, watch
from gpuwhy.run.observed import observed
from gpuwhy.run.ring import Ring
from gpuwhy.run.sampler import MOST, Samples

from .programs import python, run

GIB = 1 << 30
NVML = """
import json, os
from types import SimpleNamespace as N
def state():
    with open(os.environ["FAKE_NVML"]) as file:
        return json.load(file)
def nvmlInit(): pass
def nvmlDeviceGetCount(): return 1
def nvmlDeviceGetHandleByIndex(n): return n
def nvmlDeviceGetMemoryInfo(h): return N(total=80 << 30, free=(80 << 30) - (state()["used"] << 30))
def nvmlDeviceGetComputeRunningProcesses(h):
    with open(os.environ["FAKE_NVML"] + ".seen", "w") as file:
        file.write(str(state()["used"]))
    return [N(pid=p, usedGpuMemory=None if m is None else m << 30) for p, m in state()["processes"]]
def nvmlDeviceGetUtilizationRates(h): return N(gpu=37)
"""
USES = """
import json, os, sys, time
own, others, used, foreign = json.loads(sys.argv[1])
path = os.environ["FAKE_NVML"]
with open(path + ".new", "w") as file:
    json.dump({"used": used, "processes": [[os.getpid() + foreign, own], [1, others]]}, file)
os.replace(path + ".new", path)
for _ in range(1200):  # until the sampler, which starts when the machine lets it, has seen that
    if os.path.exists(path + ".seen") and open(path + ".seen").read() == str(used):
        break
    time.sleep(0.05)
time.sleep(1.0)
sys.exit("RuntimeError: CUDA error: out of memory")
"""


@pytest.fixture
def nvml(tmp_path, monkeypatch) -> Path:
    (tmp_path / "pynvml.py").write_text(NVML)
    state = tmp_path / "state.json"
    state.write_text('{"used": 5, "processes": [[1, 5]]}')
    monkeypatch.setenv("FAKE_NVML", str(state))
    return tmp_path


def test_own_and_others(nvml):
    # a folder first on its own path, which no variable of the environment can put there
    code = f"import sys; sys.path.insert(0, {str(nvml)!r}); from gpuwhy.__main__ import main; main()"
    command = [sys.executable, "-I", "-c", code, "run"]
    done = run(*python(USES, "[60, 15, 76, 0]"), options=("--plot", str(nvml / "x.svg")), command=command)
    text = done.stderr.decode()
    assert "it held at most 60.0 GiB of 80.0 GiB" in " ".join(text.split())
    assert "others 16.0 GiB" in " ".join(text.split())
    drawing = ElementTree.parse(nvml / "x.svg").getroot()
    assert len(drawing.findall("{http://www.w3.org/2000/svg}polygon")) == 2
    assert "out of memory" in text


def test_numbers_of_another_world_are_estimated(nvml):
    """In a container the driver's process numbers are the host's; a process of ours has the node open."""
    samples = Samples()
    samples.start = {"nvml": "", "gpus": 1}
    for time, used, own in ((0.0, 5, 0), (1.0, 65, 60)):
        row = [0, 80 * GIB, used * GIB, own * GIB, 5 * GIB, 0]
        samples.take({"t": time, "gpus": [row], "rss": 1, "available": 9, "guessed": time > 0})
    (gpu,) = observed(["x"], ended(samples), "").gpus.need()
    assert (gpu.own, gpu.others_then, gpu.guessed) == (60 * GIB, 5 * GIB, True)
    of_start = script.Gpus.__new__(script.Gpus)
    of_start.at_start = {0: 5 * GIB}
    rows = of_start.estimated([[0, 80 * GIB, 65 * GIB, 0, 65 * GIB, 9]])
    assert rows == [[0, 80 * GIB, 65 * GIB, 60 * GIB, 5 * GIB, 9]]


def ended(samples: Samples, **more) -> Ended:
    plain = {"code": 1, "signal": 0, "seconds": 1.1, "started": 0.0, "began": 0.0, "ring": Ring(), "peak": 0}
    return Ended(samples=samples, sent=(), trouble=(), **{**plain, **more})


def test_without_samples_nothing_is_claimed():
    facts = observed(["/usr/bin/x"], ended(Samples()), "")
    for one in (facts.gpus, facts.touched_gpu, facts.frameworks, facts.oom_kills):
        assert isinstance(one, Unknown)
    assert facts.program.value == "x"


@pytest.mark.parametrize("code, name", [(137, "SIGKILL"), (139, "SIGSEGV"), (134, "SIGABRT")])
def test_a_shell_that_passes_a_signal_on(code, name):
    facts = observed(["sh"], ended(Samples(), code=code), "")
    assert (facts.signal.value, facts.exit.value) == (name, code)


def test_kernel_counters():
    samples = Samples()
    samples.take({"start": 0, "kills": {"machine": 3, "group": None}})
    samples.take({"end": 1, "kills": {"machine": 5, "group": None}})
    assert observed(["x"], ended(samples), "").oom_kills.value == 2


def test_samples_stay_few_and_keep_the_peak():
    samples = Samples()
    for number in range(10 * MOST):
        own = 70 if number == 1234 else number % 5
        samples.take({"t": float(number), "gpus": [[0, 80, 80, own, 1, 0]], "rss": 0})
    assert len(samples.points) <= MOST + 1
    use = observed(["x"], ended(samples), "").gpus.value[0]
    assert use.own == 70
    assert len(use.curve) <= 170
    assert max(moment.own for moment in use.curve) == 70


def test_descendants_and_python_are_seen(tmp_path, capfd):
    """A grandchild counts to the tree, and the Python is named as it was started: through its environment's link."""
    link = tmp_path / "bin" / "python"
    link.parent.mkdir()
    link.symlink_to(sys.executable)
    code = "import time; x = bytes([1]) * (90 << 20); time.sleep(5)"
    line = f"{link} -c '{code}' & wait"
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    result = watch(["sh", "-c", line])
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before
    assert max(point["rss"] for point in result.samples.points) > 80 << 20
    assert [one["python"] for one in result.samples.seen.values()] == [str(link)]


@pytest.mark.parametrize(
    "line, name, prefix",
    [
        ("/v/lib/python3.12/site-packages/torch/lib/libtorch_cuda.so", "torch", "/v"),
        ("/home/x y/v/lib/python3.9/site-packages/tensorflow/libtensorflow_framework.so.2", "tensorflow", "/home/x y/v"),
        ("/v/lib64/python3.11/site-packages/jaxlib/xla_extension.so", "jax", "/v"),
        ("/v/lib/python3.11/site-packages/onnxruntime/capi/onnxruntime_pybind11_state.so", "onnxruntime", "/v"),
        ("/v/lib/python3.11/site-packages/cupy/_core/core.cpython-311-x86_64-linux-gnu.so", "cupy", "/v"),
    ],
)
def test_libraries_in_maps(monkeypatch, line, name, prefix):
    maps = f"7f00-7f01 r-xp 00000000 08:01 12 {line}\n7f-80 rw-p 0 0:0 0 [heap]\n"
    monkeypatch.setattr(script, "read", lambda *_: maps)
    assert script.mapped(1) == {"libraries": [name], "prefix": prefix}
