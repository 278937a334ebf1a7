"""Remedies of whole texts: evidence before stock, possible at the place, nothing foreign."""

import pytest

from gpuwhy.advise.places import place_of
from gpuwhy.advise.remedies import remedies
from gpuwhy.advise.remedy import Said
from gpuwhy.advise.say import say
from gpuwhy.diagnose.diagnosis import Ranked
from gpuwhy.facts.devices import Devices
from gpuwhy.facts.fact import Known, Source
from gpuwhy.facts.facts import Facts
from gpuwhy.log.read import read

SITE = "/opt/env/lib/python3.11/site-packages"
OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total"
    " capacity of 23.65 GiB of which 512.00 MiB is free."
)


def said(cause: str, text: str) -> list[Said]:
    log = read(text.encode())
    place = place_of(log.case, None)
    return [say(one, place) for one in remedies(Ranked(cause, 0.9), log, None, place)]


@pytest.mark.parametrize(
    ("cause", "text", "wanted"),
    [
        pytest.param(
            "install.corrupted",
            f"ImportError: {SITE}/nvidia/cudnn/lib/libcudnn.so.9: file too short",
            "pip install --force-reinstall --no-deps",
            id="the very package of the damaged file",
        ),
        pytest.param(
            "install.corrupted",
            "OSError: /home/me/lib/libcudnn.so.9: file too short",
            "mv /home/me/lib/libcudnn.so.9 ",
            id="a damaged file of no package",
        ),
        pytest.param(
            "memory.oom",
            f"$ python train.py --batch-size 32\n{OOM}",
            "python train.py --batch-size 8",
            id="the option that was typed",
        ),
        pytest.param(
            "memory.other_process",
            f"{OOM} Process 4242 has 20.11 GiB memory in use.",
            "kill 4242",
            id="the process that is named",
        ),
        pytest.param(
            "distributed.peer",
            "RuntimeError: The server socket has failed to listen on any local network address."
            " port: 29500, useIpv6: false, error: EADDRINUSE: address already in use",
            "MASTER_PORT",
            id="another port",
        ),
        pytest.param(
            "cudnn.version_mismatch",
            "Loaded runtime CuDNN library: 8.5.0 but source was compiled with: 8.6.0.",
            "nvidia-cudnn-cu11>=8.6,<9",
            id="the bound of the build",
        ),
        pytest.param(
            "program.build",
            "error: #error -- unsupported GNU version! gcc versions later than 11 are not supported!",
            "g++-11",
            id="the compiler that is accepted",
        ),
    ],
)
def test_evidence_of_the_text_comes_first(cause: str, text: str, wanted: str) -> None:
    assert wanted in said(cause, text)[0].command


LINUX = ("sudo", "export ", "apt", "/usr/")
DLL = "C:\\Users\\x>python run.py\nCould not load dynamic library 'cudart64_110.dll'; not found"
CUDNN = "libcudnn.so.8: cannot open shared object file: No such file or directory"
SET = f"PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py\n{OOM}"


@pytest.mark.parametrize(
    ("cause", "text", "foreign"),
    [
        ("driver.missing", DLL, LINUX),
        ("driver.too_old", DLL, LINUX),
        ("cuda.missing_library", DLL, LINUX),
        pytest.param("memory.oom", OOM, ("TF_", "XLA_"), id="another framework's"),
        pytest.param("cudnn.missing", CUDNN, ("conda install",), id="conda only where it is named"),
        pytest.param("memory.fragmentation", SET, ("expandable_segments",), id="set already"),
    ],
)
def test_nothing_foreign_is_advised(cause: str, text: str, foreign: tuple[str, ...]) -> None:
    for one in said(cause, text):
        assert not any(word in one.command for word in foreign)


@pytest.mark.parametrize(("stated", "gpu"), [("", False), ("GPU 0: NVIDIA A100-SXM4-40GB\n", True)])
def test_a_machine_without_a_gpu_uses_the_cpu(stated: str, gpu: bool) -> None:
    """A text that names a GPU is of another machine."""
    log = read(f"{stated}AssertionError: Torch not compiled with CUDA enabled".encode())
    none = Known((), Source("folder", "/sys/bus/pci"))
    place = place_of(log.case, Facts(devices=Devices(gpus=none, pci=none)))
    best = remedies(Ranked("framework.cpu_only", 0.9), log, None, place)[0]
    assert ("--index-url" in say(best, place).command) is gpu
    assert ("'cpu'" in say(best, place).command) is not gpu
