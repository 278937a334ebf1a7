"""The Case: what a text states, typed."""

import pytest

from gpuwhy.log.read import read

SMI = """| NVIDIA-SMI 535.104.05    Driver Version: 535.104.05    CUDA Version: 12.2     |
|   0  NVIDIA GeForce RTX 3090        On  | 00000000:01:00.0 Off |                  N/A |
| 30%   41C    P8    21W / 350W |  23010MiB / 24576MiB |      0%      Default |
|    0   N/A  N/A      4411      C   /opt/venv/bin/python3                 22980MiB |
"""
ENVIRONMENT = """PyTorch version: 2.1.2+cu118
CUDA used to build PyTorch: 11.8
Python version: 3.10.12 (main)
Nvidia driver version: 525.85.12
[pip3] numpy==1.26.4
[pip3] torch==2.1.2+cu118
"""


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        (SMI, "driver_version", "535.104.05"),
        (SMI, "driver_cuda", "12.2"),
        (ENVIRONMENT, "built_for_cuda", "11.8"),
        (ENVIRONMENT, "driver_version", "525.85.12"),
        ("Cuda compilation tools, release 12.4, V12.4.131", "toolkit_cuda", "12.4"),
        ("Loaded cuDNN version 8907", "runtime_cudnn", "8907"),
        ("Could not load library cudart64_110.dll", "runtime_cuda", "11.0"),
        ('  File "/usr/lib/python3.9/site.py"', "python", "3.9"),
        ("$ docker run --gpus all nvidia/cuda:12.4.1-base nvidia-smi", "container", "docker"),
        ("$ kubectl logs trainer-0", "container", "kubernetes"),
        ("FROM nvidia/cuda:11.8.0-base", "image", "nvidia/cuda:11.8.0-base"),
        ("#SBATCH --gres=gpu:1", "batch_system", "slurm"),
        ("$ torchrun --nproc-per-node 8 train.py", "launcher", "torchrun"),
        ("(base) u@h:~$ conda install pytorch", "manager", "conda"),
        ("$ uv pip install torch", "manager", "uv"),
        ("PS C:\\work> python train.py", "shell", "powershell"),
        ("PS C:\\work> python train.py", "os", "windows"),
        ("/usr/lib/wsl/lib/libcuda.so.1", "wsl", 2),
        ("/usr/lib/wsl/lib/libcuda.so.1", "os", "linux"),
        ("JetPack 5.1 on the Orin", "platform", "jetson"),
        ("/usr/local/lib/python3.12/dist-packages/google/colab/x.py", "platform", "colab"),
        ("Ubuntu 22.04.4 LTS", "distribution", "ubuntu 22.04.4"),
        ("Num GPUs Available:  0", "gpu_seen", 0),
        ("torch.cuda.device_count() = 4", "gpu_seen", 4),
    ],
)
def test_one_field(text, field, value):
    found = getattr(read(text).case, field)
    assert found is not None
    assert found.value == value


def test_gpus_and_processes():
    case = read(SMI).case
    assert [(one.name, one.capability) for one in case.gpus] == [("NVIDIA GeForce RTX 3090", "8.6")]
    assert case.gpus[0].memory == 24 << 30
    assert [(one.pid, one.memory >> 20) for one in case.processes] == [(4411, 22980)]


def test_packages_and_the_framework():
    case = read(ENVIRONMENT + "RuntimeError: CUDA error: out of memory\n").case
    assert case.version("numpy") == "1.26.4"
    assert (case.framework, case.framework_version) == ("torch", "2.1.2+cu118")


def test_memory_figures_are_bytes():
    text = (
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total "
        "capacity of 23.50 GiB of which 1.00 GiB is free. Process 4411 has 11.00 GiB memory "
        "in use. Of the allocated memory 10.00 GiB is allocated by PyTorch, and 512.00 MiB is reserved."
    )
    case = read(text).case
    assert case.memory is not None
    assert (case.memory.asked, case.memory.free) == (2 << 30, 1 << 30)
    assert case.processes == (), "in a container, that is the program itself"
    others = read(text.replace("10.00 GiB", "1.00 GiB")).case.processes
    assert [(one.pid, one.memory) for one in others][:1] == [(4411, 11 << 30)]


def test_commands_variables_and_what_was_done():
    text = (
        "u@h:~$ export LD_LIBRARY_PATH=/usr/local/cuda/lib64\n"
        "u@h:~$ pip install torch==2.1.0 --index-url https://example.org/whl\n"
        "Successfully installed torch-2.1.0\n"
        "u@h:~$ CUDA_VISIBLE_DEVICES=1 python train.py --bs 4\n"
        "RuntimeError: CUDA error: invalid device ordinal\n"
    )
    case = read(text).case
    assert case.variable("LD_LIBRARY_PATH") == "/usr/local/cuda/lib64"
    assert case.variable("CUDA_VISIBLE_DEVICES") == "1"
    assert case.commands[-1].words[-2:] == ("--bs", "4")
    assert case.commands[-1].failed
    done = {(one.action, one.what) for one in case.done}
    assert ("install", "torch==2.1.0") in done
    assert ("set", "LD_LIBRARY_PATH=/usr/local/cuda/lib64") in done
    assert not any("example.org" in one.what for one in case.done)


def test_what_a_person_tried():
    done = read("I tried to reinstall torch==2.0.1 but it did not help, same error").case.done
    tried = [(one.action, one.what, one.helped) for one in done]
    assert tried == [("install", "torch==2.0.1", False)]
