"""The first fix is for the message that was printed, by whoever printed it."""

from __future__ import annotations

import re
import shlex

import pytest

from gpuwhy.logs import explain_text
from gpuwhy.model.report import Report
from gpuwhy.model.signature import Signature
from gpuwhy.plan.describe import card as gpu
from gpuwhy.rooms.text.asked import SPEAKERS, Asked
from gpuwhy.rooms.text.meant import exact, meant
from gpuwhy.rooms.text.rooms import rooms
from gpuwhy.symptoms.catalogue import signatures
from gpuwhy.symptoms.text import unprefixed

ROWS = [(cause, row) for cause, room in rooms().items() for row in room.remedies]
GNU = (
    "/usr/local/cuda/include/crt/host_config.h:9:2: error: #error -- unsupported GNU version! gcc versions later than "
    "{} are not supported! The nvcc flag '-allow-unsupported-compiler' can be used to override this version check\n"
)
FORK = (
    "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the "
    "'spawn' start method\n"
)
CUDNN = "Loaded runtime CuDNN library: {} but source was compiled with: {}.\n"
HANDLE = "E external/xla/xla/cuda_dnn.cc:400] Could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED\n"

CASES: dict[str, tuple[str, str, list[str], list[str]]] = {
    "triton": (
        'File "/x/triton/runtime/build.py", line 35, in _build\n'
        "RuntimeError: Failed to find C compiler. Please specify via CC environment variable.\n",
        "cuda.compiler_missing", ["build-essential"], ["XLA", "nvcc", "stubs"]),
    "cuda-home": (
        "OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.\n",
        "env.path", ["export CUDA_HOME="], ["LD_LIBRARY_PATH", "ldconfig"]),
    "gcc-11": (GNU.format(11), "program.build", ["-ccbin g++-11"], ["gcc-12", "g++-12", "CUDA_HOME", "python3-dev"]),
    "gcc-14": (GNU.format(14), "program.build", ["-ccbin g++-14"], ["g++-11"]),
    "docker": (
        'docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n',
        "container.no_gpu", ["nvidia-container-toolkit", "nvidia-ctk runtime", "restart docker"], ["Compose"]),
    "image": (
        "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.4, please update your driver to a "
        "newer version, or use an earlier cuda container: unknown\n",
        "driver.too_old", ["host's driver", "550.54.14", "CUDA 12.4"], ["framework"]),
    "nccl-shm": (
        "node1:12:45 [0] misc/shmutils.cc:113 NCCL WARN Error while creating shared memory segment /dev/shm/nccl-aBc\n",
        "distributed.nccl", ["--shm-size=1g"], ["NCCL_DEBUG", "NCCL_SOCKET_IFNAME"]),
    "bitsandbytes": (
        "Could not find the bitsandbytes CUDA binary at PosixPath('/x/bitsandbytes/libbitsandbytes_cuda124.so')\n",
        "cuda.version_mismatch", ["pip install --upgrade bitsandbytes"], ["tensorflow", "onnxruntime", "CUDA_HOME"]),
    "bitsandbytes-old": (
        "CUDA SETUP: Required library version not found: libbitsandbytes_cuda117.so. Maybe compile it from source?\n",
        "cuda.version_mismatch", ['"bitsandbytes==0.45.5"'], ["tensorflow", "onnxruntime"]),
    "bitsandbytes-setup": (
        "RuntimeError: CUDA Setup failed despite GPU being available. Please run the following command to get more "
        "information:\n\npython -m bitsandbytes\n",
        "cuda.missing_library", ["bitsandbytes"], ["tensorflow", "onnxruntime", "cudatoolkit"]),
    "slurm": (
        "slurmstepd: error: Detected 1 oom_kill event in StepId=123.0. Some of the step tasks have been OOM Killed.\n",
        "memory.host", ["--mem="], ["shm", "WSL", "docker"]),
    "kubernetes": (
        "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.\n",
        "container.no_gpu", ["kubectl describe nodes"], ["docker"]),
    "fork": (FORK, "program.fork", ["torch.multiprocessing.set_start_method('spawn'"], ["VLLM", "PyCUDA"]),
    "fork-vllm": (f'File "/x/vllm/worker/worker.py"\n{FORK}', "program.fork", ["VLLM_WORKER_MULTIPROC_METHOD"], []),
    "secure-boot": (
        "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service\n",
        "driver.missing", ["mokutil --import"], ["ubuntu-drivers", "dkms autoinstall", "docker"]),
    "jax-plugin": (
        "JAX plugin jax_cuda12_plugin version 0.4.34 is installed, but it is not compatible with the installed jaxlib "
        "version 0.4.30, so it will not be used.\n",
        "install.inconsistent", ['pip install -U "jax[cuda12]==0.4.30"'], ["EXTENSION"]),
    "jax-newer": (
        "RuntimeError: jaxlib version 0.4.34 is newer than and incompatible with jax version 0.4.31. Please update\n",
        "install.inconsistent", ['pip install -U "jax[cuda12]==0.4.31"'], ["EXTENSION"]),
    "jax-cudnn": (
        f"E0000 00:00:1 cuda_dnn.cc:522] {CUDNN.format('9.1.0', '9.8.0')}"
        "XlaRuntimeError: FAILED_PRECONDITION: DNN library initialization failed.\njaxlib==0.6.2\n",
        "cudnn.version_mismatch", ['"jax[cuda12]==0.6.2"'], ["tensorflow"]),
    "tf-1.13": (
        CUDNN.format("7.1.4", "7.4.1"),
        "cudnn.version_mismatch", ["cudatoolkit=10.0", "cudnn=7."], ["and-cuda", "nvidia-cudnn", "10.1"]),
    "tf-2.15": (CUDNN.format("8.6.0", "8.9.4"), "cudnn.version_mismatch", ["tensorflow[and-cuda]==2.15"], ["cu11"]),
    "torchvision": (
        "RuntimeError: operator torchvision::nms does not exist\n",
        "framework.extension_abi", ["the torchvision that belongs to"], ["EXTENSION"]),
    "jax-windows": (
        f'File "C:\\x\\Lib\\site-packages\\jax\\_src\\a.py"\n{HANDLE}jaxlib.xla_extension.XlaRuntimeError: FAILED\n',
        "memory.preallocation", ['set "XLA_PYTHON_CLIENT_PREALLOCATE=false"'], ["TF_FORCE", "export"]),
    "numpy": (
        "A module that was compiled using NumPy 1.x cannot be run in\nNumPy 2.0.0 as it may crash. To support both\n",
        "install.inconsistent", ['"numpy<2"'], ["traceback"]),
    "segv": ("Segmentation fault (core dumped)\n", "framework.bug", ["-X faulthandler"], ["traceback", "torch"]),
}  # fmt: skip


def fixes_of(report: Report, cause: str) -> list[str]:
    shown = next(c for c in report.causes if c.id == cause)
    return [f"{fix.text}\n{fix.command}" for fix in shown.fixes]


@pytest.mark.parametrize("name", CASES)
def test_the_first_fix_is_for_the_message(name):
    """The first, or the second behind what cured others."""
    text, cause, first, nowhere = CASES[name]
    said = fixes_of(explain_text(text), cause)
    assert [word for word in first if not any(word in one for one in said[:2])] == [], said
    assert [word for word in nowhere if word in "\n".join(said)] == [], said


def test_the_old_driver_is_told_as_people_write_it():
    report = explain_text("RuntimeError: The NVIDIA driver on your system is too old (found version 11040). torch\n")
    assert "CUDA 11.4 at most" in report.causes[0].because[0].text
    said = "\n".join(fixes_of(report, "driver.too_old"))
    assert '"torch==2.7.1"' in said  # the last with a build for CUDA 11
    assert "whl/cu118" in said
    assert "cu114" not in said


def test_an_image_that_asks_for_more_can_be_exchanged():
    said = fixes_of(explain_text(CASES["image"][0]), "driver.too_old")
    assert any(re.search("image (?:for|with) a CUDA older than 12.4", one) for one in said[:2])


def test_memory_is_looked_at_in_the_program_itself_and_by_pytorch_only():
    torch = fixes_of(
        explain_text("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.\n"), "memory.oom"
    )
    looks = next(one for one in torch if "memory_summary" in one)
    assert "print(torch.cuda.memory_summary())" in looks
    assert "python -c" not in looks
    jax = explain_text(
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 9 bytes.\n"
    )
    assert "torch" not in "\n".join(fixes_of(jax, "memory.oom"))


def test_two_numpys_are_no_crash_that_says_nothing():
    report = explain_text(CASES["numpy"][0])
    assert not [f.text for c in report.causes for f in c.because if "crash" in f.text]


def test_no_command_stands_twice():
    for text, *_ in CASES.values():
        for cause in explain_text(text).causes:
            commands = [fix.command for fix in cause.fixes if fix.command]
            assert len(commands) == len(set(commands)), cause.id


def _fields(signature: Signature) -> set[str]:
    return {name.rstrip("0123456789") for name in re.compile(signature.pattern).groupindex}


def test_rows_are_filled_from_what_they_match():
    fields = [(one.id, _fields(one)) for one in signatures()]
    for cause, row in ROWS:
        about = f"{cause}: {row.fix.text}"
        wanted = set(re.findall(r"\{([a-z]+)\}", f"{row.fix.text} {row.fix.command}"))
        carried = [names for id, names in fields if row.said and id.startswith(row.said)]
        shared = set.intersection(*carried) if carried else set()
        assert wanted <= {"cu", *re.compile(row.line).groupindex, *shared}, about
        assert row.said or not row.line, f"{about}: a line alone would match every message"
        assert {*row.by, *row.unless} <= SPEAKERS, about


@pytest.mark.parametrize("cause", rooms())
def test_every_cause_has_a_fix_for_any_message(cause):
    assert any(not row.said and not row.line for row in rooms()[cause].remedies)


@pytest.mark.parametrize(
    "line, rest",
    [
        ("x when calling `cublasCreate(handle)`", "x when calling `cublasCreate(handle)`"),
        ("`RuntimeError: x`", "RuntimeError: x"),
        ("**RuntimeError: x**", "RuntimeError: x"),
        ("`calling `f(x)``", "calling `f(x)`"),
    ],
)
def test_the_last_backtick_stays_where_it_closes_one(line, rest):
    assert unprefixed(line) == rest


@pytest.mark.parametrize("text, name", [("sm_89", "an Ada GPU"), ("sm_80", "an Ampere GPU"), ("sm_90", "a Hopper GPU")])
def test_articles(text, name):
    assert gpu(text).name == name


def test_commands_are_words_of_a_shell():
    for _, row in ROWS:
        for line in row.fix.command.split("\n"):
            shlex.split(line, comments=True)


def test_a_remedy_speaks_with_the_fields_of_the_message():
    case = Asked(behind=(("shadow.renaming", "renaming /a b/torch.py", 0),), fields={"path": "/a b/torch.py"})
    row = meant("Rename {path}", "mv {path} {path}.old", said="shadow.")
    (fix,), _ = exact([row], case)
    assert (fix.text, fix.command) == ("Rename /a b/torch.py", "mv '/a b/torch.py' '/a b/torch.py'.old")


def test_a_package_that_is_too_new_is_not_made_newer():
    said = fixes_of(explain_text("ImportError: Numba needs NumPy 2.0 or less. Got NumPy 2.5."), "install.inconsistent")
    assert 'pip install "numpy<2.1"' in said[0]
    assert not [one for one in said if ">=2.0" in one]
