"""Fixes by what a text tells of its place: notebooks, manifests, services, images, cards, listings, versions."""

from __future__ import annotations

import pytest

from gpuwhy.knowledge.notebooks import notebook_of
from gpuwhy.logs import explain_text
from gpuwhy.symptoms.reader import read_text


def told(text: str) -> tuple[str, list[str]]:
    """The first cause, and its fixes with their commands."""
    shown = explain_text(text).causes[0]
    return shown.id, [f"{fix.text}\n{fix.command}" for fix in shown.fixes]


@pytest.mark.parametrize(
    "text, kind",
    [
        ("RuntimeError: x\n  File /content/run.py\n", "colab"),
        ("7 frames\n/usr/local/lib/python3.11/dist-packages/a.py in f()\n", "colab"),
        ("  File /kaggle/working/a.py\n", "kaggle"),
        ("  File /srv/content/run.py\n", ""),
        ("C:\\x> python a.py\nit works on Colab: /content/run.py\n", ""),
    ],
)
def test_hosted_notebooks(text: str, kind: str):
    assert notebook_of(text) == kind


def test_a_notebook_installs_no_driver():
    _, fixes = told(
        "!nvidia-smi\n/bin/bash: line 1: nvidia-smi: command not found\nmodel = torch.load('/content/m.pt').cuda()\n"
        "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver\n"
    )
    assert "Change runtime type" in fixes[0]
    assert not any("ubuntu-drivers" in fix or "docker run" in fix for fix in fixes)


def test_what_a_build_reports_as_found_is_no_advice():
    _, fixes = told(
        "No CUDA runtime is found, using CUDA_HOME='/usr/local/cuda'\n7 frames\n"
        "/usr/local/lib/python3.7/dist-packages/torch/utils/cpp_extension.py in _get_cuda_arch_flags(cflags)\n"
        "-> 1606         arch_list[-1] += '+PTX'\nIndexError: list index out of range\n"
    )
    assert "Change runtime type" in fixes[0]
    assert not any("what the message itself names" in fix for fix in fixes)


STUB = "E tensorflow/stream_executor/cuda/cuda_driver.cc:271] failed call to cuInit: UNKNOWN ERROR (34)\n"


@pytest.mark.parametrize(
    "before, cause",
    [
        ("$ docker run -it -p 8888:8888 tensorflow/tensorflow:2.3.0-gpu bash\n", "container.no_gpu"),
        ('$ kubectl get pod a -o jsonpath={.spec}\n{"limits":{"cpu":"4"}}\n', "container.no_gpu"),
        ('$ kubectl get pod a -o jsonpath={.spec}\n{"limits":{"cpu":"4","nvidia.com/gpu":"1"}}\n', "driver.stub"),
        ("$ docker run --gpus all -it tensorflow/tensorflow:2.3.0-gpu bash\n", "driver.stub"),
    ],
)
def test_how_the_container_was_started_decides_between_stub_and_no_gpu(before: str, cause: str):
    assert told(before + STUB)[0] == cause


def test_a_compose_file_that_asks_for_no_gpu():
    cause, fixes = told(
        "whisper  | INFO ready\nwhisper  | RuntimeError: CUDA failed with error CUDA driver version is insufficient for CUDA runtime version\n"
        "whisper  | stopped\n$ cat docker-compose.yml\nservices:\n  whisper:\n    image: a/whisper:gpu\n    ports:\n      - 1:1\n"
    )
    assert cause == "container.no_gpu"
    assert "capabilities: [gpu]" in fixes[0]


def test_compose_is_told_by_the_name_before_a_traceback_alone():
    text = (
        "trainer_1  | RuntimeError: DataLoader worker (pid 94) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.\n"
        'trainer_1  | Traceback (most recent call last):\ntrainer_1  |   File "/app/t.py", line 6, in <module>\ntrainer_1  |     for b in loader:\n'
        "proj_trainer_1 exited with code 1\n"
    )
    reading = read_text(text)
    assert reading.service == "trainer_1"
    assert reading.told.container
    _, fixes = told(text)
    assert "shm_size" in fixes[0]
    assert not any("docker run" in fix for fix in fixes)


def test_a_card_beyond_every_release_gets_the_processor_or_another_card():
    _, fixes = told(
        "C:\\p>python d.py\nname: GeForce 820M major: 2 minor: 1 memoryClockRate(GHz): 1.25\n"
        "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1455] Ignoring visible gpu device (device: 0, name: GeForce 820M, pci bus id: 0000:08:00.0, compute capability: 2.1) with Cuda compute capability 2.1. The minimum required Cuda capability is 3.0.\n"
    )
    assert "No release of TensorFlow" in fixes[0]
    assert "Colab" in fixes[1]
    assert not any("pip install" in fix or "from source" in fix for fix in fixes)


def test_a_card_that_a_release_knows_is_not_replaced():
    _, fixes = told(
        "I tensorflow/core/common_runtime/gpu/gpu_device.cc:1483] Ignoring visible gpu device (device: 0, name: GeForce GTX 980 Ti, pci bus id: 0000:01:00.0, compute capability: 5.2) with Cuda compute capability 5.2. The minimum required Cuda capability is 6.0.\n"
    )
    assert not fixes[0].startswith("Use a card")


def test_a_dll_that_a_listing_shows_goes_on_path():
    _, fixes = told(
        'C:\\nn>dir "%CUDA_PATH%\\bin\\cudart64_90.dll"\n Directory of C:\\tools\\cu90\\bin\n02/09/2017  05:20           373,760 cudart64_90.dll\n\n'
        'C:\\nn>python n.py\n  File "C:\\Python36\\lib\\site-packages\\tensorflow\\python\\platform\\self_check.py", line 82, in preload_check\n'
        "ImportError: Could not find 'cudart64_90.dll'. TensorFlow requires that this DLL be installed in a directory that is named in your %PATH% environment variable.\n"
    )
    assert "lies in C:\\tools\\cu90\\bin" in fixes[0]
    assert 'set "PATH=C:\\tools\\cu90\\bin;%PATH%"' in fixes[0]
    assert not any("add_dll_directory" in fix for fix in fixes)


NO_MATCH = "ERROR: Could not find a version that satisfies the requirement tensorflow-gpu{0} (from versions: none)\nERROR: No matching distribution found for tensorflow-gpu{0}\n"


@pytest.mark.parametrize(
    "python, wanted, command",
    [
        ("3.9.13", "==2.11", "pip install tensorflow==2.10.1"),
        ("3.11.9", "", "--python 3.10"),
        ("3.12.1", "==2.15.0", "--python 3.10"),
    ],
)
def test_tensorflow_with_a_gpu_on_windows_by_the_python(python: str, wanted: str, command: str):
    typed = f"C:\\Users\\a>python --version\nPython {python}\nC:\\Users\\a>pip install tensorflow-gpu{wanted}\n"
    _, fixes = told(typed + NO_MATCH.format(wanted))
    assert command in fixes[0]
    assert "tensorflow==2.10.1" in fixes[0]
    assert "wsl --install" in fixes[1]


def test_cmake_under_pip_is_told_as_pip_takes_it():
    _, fixes = told(
        'PS C:\\Users\\u> $env:CMAKE_ARGS = "-DGGML_CUDA=on"; pip install llama-cpp-python --no-cache-dir\n'
        '  -- Found CUDAToolkit: C:/CUDA/v11.8/include (found version "11.8.89")\n'
        "  CMake Error at C:/CMake/Modules/CMakeDetermineCompilerId.cmake:503 (message):\n    No CUDA toolset found.\n"
        "  *** CMake configuration failed\n  error: subprocess-exited-with-error\n"
    )
    assert "pip install llama-cpp-python --no-cache-dir" in fixes[0]
    assert "fresh build folder" not in fixes[0]
    assert '$env:CMAKE_GENERATOR = "Ninja"' in fixes[1]
    assert "-DGGML_CUDA=on" in fixes[1]
    assert not any("cmake -B" in fix for fix in fixes)


def test_a_driver_under_wsl_has_windows_numbers():
    _, fixes = told(
        "CUDA error 222 at ggml-cuda.cu:5965: the provided PTX was compiled with an unsupported toolchain.\n"
        "me@DESKTOP-AB12:~$ nvidia-smi | head -3\n| NVIDIA-SMI 515.65.01    Driver Version: 516.94       CUDA Version: 11.7     |\n"
    )
    assert "580 or newer" in fixes[0]
    assert "525.60.13" not in fixes[0]
    assert not any("the container got no GPU" in fix for fix in fixes)


def test_a_step_without_nvcc_is_mended_in_the_first_line():
    _, fixes = told(
        "=> ERROR [12/13] RUN pip install flash-attn --no-build-isolation\n"
        "2.510       UserWarning: flash_attn was requested, but nvcc was not found.\n"
        "2.510       OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.\n"
        'ERROR: failed to solve: process "/bin/sh -c pip install flash-attn" did not complete successfully: exit code: 1\n'
    )
    assert "FROM nvidia/cuda:12.8.1-devel" in fixes[0]


def test_an_image_of_ones_own_is_named_and_built_on_another():
    _, fixes = told(
        "me@srv:~$ docker run -u $(id -u):$(id -g) --gpus all --rm mydream python d.py\n"
        "I tensorflow/stream_executor/platform/default/dso_loader.cc:48] Successfully opened dynamic library libcudart.so.10.1\n"
        "pciBusID: 0000:68:00.0 name: NVIDIA RTX A6000 computeCapability: 8.6\n"
        "tensorflow.python.framework.errors_impl.InternalError: CUDA runtime implicit initialization on GPU:0 failed. Status: device kernel image is invalid\n"
    )
    assert "mydream" in fixes[0]
    assert "FROM tensorflow/tensorflow:2.5.0-gpu" in fixes[0]


def test_libraries_that_lie_there_as_wheels_are_searched():
    _, fixes = told(
        "$ pip list | grep -E 'tensorflow |cudnn'\nnvidia-cudnn-cu12            8.9.7.29\ntensorflow                   2.16.1\n"
        "$ python3 -c 'import tensorflow as tf; print(tf.config.list_physical_devices())'\n"
        "W tensorflow/core/common_runtime/gpu/gpu_device.cc:2251] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly\nSkipping registering GPU devices...\n"
    )
    assert "nvidia.__path__" in fixes[0]


@pytest.mark.parametrize("release, cudnn", [("4.0.0", "8.9.*"), ("4.5.0", "9.*")])
def test_ctranslate2_gets_the_cudnn_of_its_release(release: str, cudnn: str):
    _, fixes = told(
        f"(a) D:\\G>pip list | findstr ctranslate2\nctranslate2              {release}\nfaster-whisper           1.0.0\n(a) D:\\G>python a.py\n"
        "RuntimeError: Library cublas64_12.dll is not found or cannot be loaded\n"
    )
    assert f'"nvidia-cudnn-cu12=={cudnn}"' in fixes[0]


def test_conda_mends_its_own_store_first():
    _, fixes = told(
        "(base) C:\\U>conda env update\nCondaVerificationError: The package for pytorch located at C:\\U\\Anaconda3\\pkgs\\pytorch-1.12.1-py3.10_cuda11.6_cudnn8_0\n"
        "appears to be corrupted. The path 'Lib/site-packages/torch/lib/torch_python.lib'\nspecified in the package manifest cannot be found.\n"
    )
    assert "conda clean" in fixes[0]
    assert not any("uv pip install" in fix for fix in fixes)


def test_a_card_in_tcc_mode_is_what_wsl_lacks():
    cause, fixes = told(
        "C:\\>nvidia-smi\n|   0  Tesla P100-PCIE... TCC   | 00000000:04:00.0 Off |                    0 |\nC:\\>wsl\n"
        "fz@WS1:/mnt/c/Users/fz$ nvidia-smi\nFailed to initialize NVML: Unknown Error\n"
    )
    assert cause == "wsl.setup"
    assert "-dm 0" in fixes[0]


def test_a_folder_that_hides_windows_driver_is_named():
    _, fixes = told(
        "jd@DESKTOP-P0:~$ export LD_LIBRARY_PATH=$LD_LIBRARY_PATH:/usr/lib/x86_64-linux-gnu\njd@DESKTOP-P0:~$ nvidia-smi\n"
        "Failed to initialize NVML: GPU access blocked by the operating system\n"
    )
    assert "LD_LIBRARY_PATH names /usr/lib/x86_64-linux-gnu" in fixes[0]


def test_a_sentence_with_unset_stays_on_windows():
    _, fixes = told(
        "C:\\Users\\n>python -m bitsandbytes\nCUDA SETUP: Loading binary C:\\e\\bitsandbytes\\libbitsandbytes_cuda121.dll...\n"
        "Could not find module 'C:\\e\\bitsandbytes\\libbitsandbytes_cuda121.dll' (or one of its dependencies).\n"
    )
    assert "bitsandbytes 0.43 or newer" in fixes[0]
    assert "not set" in fixes[0]


def test_an_option_is_no_complaint_about_shared_memory():
    cause, _ = told(
        "$ docker run --gpus all --shm-size 10g a/engine --model m\n"
        '  File "/usr/local/lib/python3.10/dist-packages/triton/runtime/cache.py", line 66, in __init__\n'
        "PermissionError: [Errno 13] Permission denied: '/app/engine/.triton'\n"
    )
    assert cause == "env.limit"


@pytest.mark.parametrize(
    "before, said",
    [("", "No release of TensorFlow 2"), (">>> import tensorflow as tf\n>>> sess = tf.Session()\n", "1.4.1")],
)
def test_a_kepler_card_is_only_for_tensorflow_1(before: str, said: str):
    _, fixes = told(
        f"{before}Ignoring visible gpu device (device: 0, name: Quadro K600, pci bus id: 0000:01:00.0, compute capability: 3.0) with Cuda compute capability 3.0. The minimum required Cuda capability is 3.5.\n"
    )
    assert said in fixes[0]


def test_a_trial_with_a_change_behind_it_is_no_trial():
    _, fixes = told(
        "$ docker build -t test .\n$ docker run -it test\nroot@00921839c781:/a# python -c 'import torch; print(torch.cuda.is_available())'\n"
        "UserWarning: CUDA initialization: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver\nFalse\n"
    )
    assert "--gpus all" in fixes[0]
