"""The first fixes are for this very person: their shell, batch system, releases and folders."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text
from gpuwhy.model.cause import Fix


def first_two(text: str) -> tuple[Fix, ...]:
    causes = explain_text(text, None).causes
    return causes[0].fixes[:2] if causes else ()


def said(text: str) -> str:
    return "\n".join(f"{fix.text}\n{fix.command}" for fix in first_two(text))


NO_GPU = "RuntimeError: No CUDA GPUs are available\n"
ALLOCATOR = "RuntimeError: Unrecognized CachingAllocator option: "


def test_what_a_batch_system_hid_is_not_shown_by_hand() -> None:
    text = f"$ salloc -p short\nsalloc: Granted job allocation 991\n$ echo $CUDA_VISIBLE_DEVICES\nNoDevFiles\n$ python a.py\n{NO_GPU}"
    assert "unset CUDA_VISIBLE_DEVICES" not in said(text)
    assert "srun --gres=gpu:1 --pty" in said(text)


def test_what_somebody_set_by_hand_is_taken_back() -> None:
    assert "unset CUDA_VISIBLE_DEVICES" in said(f"$ export CUDA_VISIBLE_DEVICES=9\n$ python a.py\n{NO_GPU}")


def test_a_job_counts_its_gpus_from_0() -> None:
    text = '$ srun --gres=gpu:1 bash run.sh\nCUDA_VISIBLE_DEVICES=5\n  File "t.py", line 3, in <module>\n    torch.cuda.set_device(5)\nRuntimeError: CUDA error: invalid device ordinal\n'
    assert "export CUDA_VISIBLE_DEVICES" not in said(text)
    assert "set_device(0)" in said(text)


@pytest.mark.parametrize(
    ("prompt", "there", "absent"),
    [("PS C:\\work> ", "$env:", 'set "'), ("C:\\work>", 'set "', "$env:"), ("(env) C:\\work>", 'set "', "PowerShell")],
)
def test_a_prompt_tells_the_shell(prompt: str, there: str, absent: str) -> None:
    text = f"{prompt}python a.py\nF tensorflow/stream_executor/cuda/cuda_dnn.cc:328] Failed to get convolution algorithm. This is probably because cuDNN failed to initialize\nE cuda_dnn.cc:329] Could not create cudnn handle: CUDNN_STATUS_ALLOC_FAILED\n"
    assert "TF_FORCE_GPU_ALLOW_GROWTH" in said(text)
    assert there in said(text)
    assert absent not in said(text)


def test_a_value_is_put_right_where_the_text_shows_it_to_be_set() -> None:
    text = f'D:\\ui>type start.bat\n@echo off\nset PYTORCH_CUDA_ALLOC_CONF="max_split_size_mb:64"\npython launch.py\n\nD:\\ui>start.bat\n{ALLOCATOR}"max_split_size_mb\n'
    fix = first_two(text)[0]
    assert "start.bat" in fix.text
    assert fix.command == "set PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64"


def test_a_misspelt_option_is_put_right() -> None:
    text = f"$ export PYTORCH_CUDA_ALLOC_CONF=garbage_collection_treshold=0.7\n$ python a.py\n{ALLOCATOR}garbage_collection_treshold=0.7\n"
    assert "PYTORCH_CUDA_ALLOC_CONF=garbage_collection_threshold:0.7" in said(text)


def test_a_variable_of_a_service_is_named() -> None:
    text = "kubectl logs llm-0\nTraceback (most recent call last):\n  File \"/opt/lib/python3.12/site-packages/vllm/utils.py\", line 10, in get_open_port\n    port = envs.VLLM_RPC_PORT\n  File \"/opt/lib/python3.12/site-packages/vllm/envs.py\", line 99, in <lambda>\n    lambda: int(os.getenv('VLLM_RPC_PORT', '0'))\nValueError: invalid literal for int() with base 10: 'tcp://10.0.3.4:30000'\n"
    assert "enableServiceLinks: false" in first_two(text)[0].command
    assert "VLLM_RPC_PORT" in first_two(text)[0].text


def test_parts_that_belong_together_are_no_conflict() -> None:
    text = "$ pip list | grep jax\njax 0.4.31\njax-cuda12-pjrt 0.4.33\njax-cuda12-plugin 0.4.33\njaxlib 0.4.31\n$ python a.py\nRuntimeError: Unable to initialize backend 'cuda': INVALID_ARGUMENT: Mismatched PJRT plugin PJRT API version (0.54) and framework PJRT API version 0.51). (you may need to uninstall the failing plugin package, or set JAX_PLATFORMS=cpu to skip this backend.)\n"
    assert "uninstall" not in said(text)
    assert "jax[cuda12]==0.4.31" in said(text)
    assert "JAX_PLATFORMS=cpu" not in said(text)


def test_what_is_installed_anew_stays_its_release() -> None:
    text = "$ pip list\nonnxruntime 1.16.3\nonnxruntime-gpu 1.16.3\n$ python a.py\nUserWarning: Specified provider 'CUDAExecutionProvider' is not in available provider names.Available providers: 'AzureExecutionProvider, CPUExecutionProvider'\n"
    assert "onnxruntime-gpu==1.16.3" in said(text)
    assert "<1.24" not in said(text)


def test_a_library_that_lies_there_is_searched_there() -> None:
    text = "$ ls /sw/cudnn/8.9/lib/libcudnn.so.8\n/sw/cudnn/8.9/lib/libcudnn.so.8\n$ python a.py\n2024-05-08 13:20:05.5: W dso_loader.cc:67] Could not load dynamic library 'libcudnn.so.8'; dlerror: libcudnn.so.8: cannot open shared object file: No such file or directory; LD_LIBRARY_PATH: /sw/cuda/12.3/lib64\n"
    assert "/sw/cudnn/8.9/lib:$LD_LIBRARY_PATH" in first_two(text)[0].command


def test_no_image_is_built_where_a_sentence_says_run() -> None:
    text = "$ echo $LD_LIBRARY_PATH\n/usr/local/cuda/compat\nRuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 803: system has unsupported display driver / cuda driver combination (work/conda-bld/bin/sh -c)\ntorch.cuda.is_available() False\n"
    assert "TORCH_CUDA_ARCH_LIST" not in said(text.replace("/bin/sh -c", ""))


def test_a_copy_in_the_home_folder_of_a_container() -> None:
    text = '$ apptainer exec --nv tools.sif python -c "import torch; print(torch.__file__, torch.__version__, torch.cuda.is_available())"\n/home/u/.local/lib/python3.11/site-packages/torch/__init__.py 2.1.0+cpu False\n'
    assert "PYTHONNOUSERSITE=1 tools.sif" in said(text)


def test_a_dll_that_is_held() -> None:
    text = "(env) E:\\x>pip install -U torch\n  Attempting uninstall: torch\n    Found existing installation: torch 2.2.0\nERROR: Could not install packages due to an OSError: [WinError 5] Access is denied: 'E:\\\\x\\\\env\\\\Lib\\\\site-packages\\\\~orch\\\\lib\\\\cudnn64_8.dll'\n\n(env) E:\\x>python a.py\nWARNING: Ignoring invalid distribution ~orch (E:\\x\\env\\Lib\\site-packages)\nAttributeError: module 'torch' has no attribute 'nn'\n"
    assert 'rmdir /s /q "E:\\x\\env\\Lib\\site-packages\\~orch"' in said(text)
    assert "install -U torch" in said(text).replace("--torch-backend=auto", "").replace(
        "uv pip install -U", "install -U"
    )


def test_no_toolkit_of_another_cuda_is_put_first() -> None:
    text = 'Unhandled exception. Microsoft.ML.OnnxRuntime.OnnxRuntimeException: LoadLibrary failed with error 126 "" when trying to load "D:\\app\\bin\\Release\\net8.0\\onnxruntime_providers_cuda.dll"\n<PackageReference Include="Microsoft.ML.OnnxRuntime.Gpu" Version="1.17.0" />\nC:\\> dir /b "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA"\nv12.4\n'
    assert "v12.4" not in said(text)
    assert "add_dll_directory" not in said(text)
    assert "pip " not in said(text)


def test_a_variable_of_a_service_goes_into_its_unit() -> None:
    text = 'Oct 01 10:00:00 srv ollama[99]: level=INFO source=gpu.go:400 msg="user overrode visible devices" CUDA_VISIBLE_DEVICES=-1\nOct 01 10:00:00 srv ollama[99]: level=INFO msg="no compatible GPUs were discovered"\n'
    assert "UnsetEnvironment=CUDA_VISIBLE_DEVICES" in said(text)
    assert "torch" not in said(text)


def test_the_file_that_sets_a_variable_is_named() -> None:
    text = "$ echo $LD_LIBRARY_PATH\n/usr/local/cuda-11.4/lib64\n$ python -c 'import torch'\nImportError: /opt/e/lib/python3.10/site-packages/torch/lib/libtorch_cuda.so: undefined symbol: cublasLtGetStatusString, version libcublasLt.so.12\n$ grep -n LD_LIB ~/.profile\n31:export LD_LIBRARY_PATH=/usr/local/cuda-11.4/lib64\n"
    assert "line 31 of ~/.profile" in said(text)


def test_docker_desktop_gets_no_way_of_linux() -> None:
    text = 'PS C:\\> docker run --rm --gpus all ubuntu nvidia-smi\ndocker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\nPS C:\\> docker info | findstr Kernel\n Kernel Version: 6.6.12-linuxkit\n'
    assert "WSL 2" in first_two(text)[0].text


@pytest.mark.parametrize(
    ("told", "there"), [("Fedora release 41", "dnf install -y"), ("openSUSE Leap 15.6", "zypper ar"), ("Debian GNU/Linux 12", "/etc/apt/")]
)  # fmt: skip
def test_the_container_toolkit_by_each_distribution(told: str, there: str) -> None:
    text = f'$ cat /etc/os-release\n{told}\n$ docker run --gpus all x/y:1 nvidia-smi\ndocker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].\n'
    assert there in first_two(text)[0].command
    assert "libnvidia-container" in first_two(text)[0].command


def test_poetry_takes_what_is_said_for_pip() -> None:
    text = "$ poetry run python a.py\nAssertionError: Torch not compiled with CUDA enabled\n"
    assert "poetry add --source" in said(text)
    assert "python -m pip install --force" not in "\n".join(fix.command for fix in first_two(text))


def test_a_firewall_is_opened_where_the_others_meet() -> None:
    text = "torch.distributed.DistNetworkError: The client socket has timed out after 60s while trying to connect to (10.9.0.2, 29400).\n$ nc -vz 10.9.0.2 29400\nnc: connect to 10.9.0.2 port 29400 (tcp) failed: No route to host\n"
    assert "--add-port=29400/tcp" in said(text)


def test_a_full_disk_comes_before_what_it_cut_off() -> None:
    text = "ImportError: /data/e/lib/python3.10/site-packages/torch/lib/libtorch_cuda.so: file too short\n$ df -h /data\n/dev/sdb1  50G  50G  0 100% /data\n"
    assert "make room" in first_two(text)[0].text
