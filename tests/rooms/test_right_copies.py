"""What a text shows to be right is neither replaced nor removed; what is typed is of the release, the program and the place that the text tells of."""

from __future__ import annotations

import re

import pytest

from gpuwhy.logs import explain_text

_REFUSED = "E tensorflow/stream_executor/cuda/cuda_dnn.cc:352] Loaded runtime CuDNN library: {loaded} but source was compiled with: {built}.  CuDNN library needs to have matching major version and equal or higher minor version.\n"
TWO_IN_ONE = "PS D:\\w> python both.py\ntorch 1.8.0+cu111 cudnn 8005 cuda True\n" + _REFUSED.format(
    loaded="8.0.5", built="8.1.0"
)
CONDAS = (
    "(tf) kim@box:~$ python fit.py\n"
    + _REFUSED.format(loaded="8.1.1", built="8.6.0")
    + "(tf) kim@box:~$ conda list | grep cudnn\ncudnn                     8.8.0.121            h0800d71_0    conda-forge\n"
)
OLDER_CONDAS = CONDAS.replace("8.8.0.121", "8.2.1.32")
IN_HOME = """(dl) [kim@box run]$ conda list | grep '^pytorch '
pytorch                   2.3.0           py3.11_cuda12.1_cudnn8.9.2_0    pytorch
(dl) [kim@box run]$ python -c "import torch; print(torch.__file__); torch.zeros(1).cuda()"
/home/kim/.local/lib/python3.11/site-packages/torch/__init__.py
AssertionError: Torch not compiled with CUDA enabled
"""
OLD_PTXAS = """W tensorflow/compiler/xla/service/gpu/nvptx_compiler.cc:487] *** WARNING *** You are using ptxas 10.1.243, which is older than 11.1.
F tensorflow/compiler/xla/service/gpu/nvptx_compiler.cc:442] ptxas returned an error during compilation of ptx to sass: 'INTERNAL: ptxas exited with non-zero error code 65280, output: ptxas fatal   : Value 'sm_86' is not defined for option 'gpu-name'
$ ls -d /usr/local/cuda*
/usr/local/cuda  /usr/local/cuda-11.4
"""
TOOLKITS = """kim@PC MINGW64 /d/ext (main)
$ python setup.py install
  File "C:\\Users\\kim\\miniconda3\\envs\\dl\\lib\\site-packages\\torch\\utils\\cpp_extension.py", line 413, in _check_cuda_version
RuntimeError:
The detected CUDA version (12.4) mismatches the version that was used to compile
PyTorch (11.8). Please make sure to use the same CUDA versions.
$ echo $CUDA_PATH
C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA\\v12.4
"""
OF_10_0 = """(tf) C:\\w>dir "C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA"
08/18/2019  04:55 PM    <DIR>          v10.2
(tf) C:\\w>python train.py
ImportError: Could not find 'cudart64_100.dll'. TensorFlow requires that this DLL be installed in a directory that is named in your %PATH% environment variable.
"""
A_CELL = """E tensorflow/stream_executor/cuda/cuda_dnn.cc:329] Could not create cudnn handle: CUDNN_STATUS_ALLOC_FAILED
<ipython-input-4-0b9f1d3f3c59> in <module>
~\\Anaconda3\\envs\\tf\\lib\\site-packages\\tensorflow_core\\python\\keras\\engine\\training.py in fit(self)
UnknownError:  Failed to get convolution algorithm. This is probably because cuDNN failed to initialize
"""
BY_SCRIPT = """kim@box:~/yolov5$ python train.py --img 640 --data d.yaml --batch-size 24
  File "/home/kim/yolov5/models/common.py", line 33, in forward
RuntimeError: CUDA out of memory. Tried to allocate 38.00 MiB (GPU 0; 2.00 GiB total capacity; 1.21 GiB already allocated; 11.62 MiB free; 1.26 GiB reserved in total by PyTorch)
"""
SAID_YES = """E tensorflow/core/common_runtime/gpu/gpu_bfc_allocator.cc:33] The TF_FORCE_GPU_ALLOW_GROWTH environment variable is set but could not be parsed: "on". Valid values are "true" or "false". Using original config value of 0.
"""
LOST = """RuntimeError: No CUDA GPUs are available
root@0123456789ab:/w# nvidia-smi
Failed to initialize NVML: Unknown Error
root@0123456789ab:/w# ls /dev/nvidia*
/dev/nvidia-uvm  /dev/nvidia0  /dev/nvidiactl
kim@host:~$ nvidia-smi -L
GPU 0: NVIDIA A10 (UUID: GPU-f15ae561)
"""
OF_AMAZON = """[ec2-user@ip-10-0-0-1 w]$ docker run --gpus=all example.org/a/b:1
Emulate Docker CLI using podman. Create /etc/containers/nodocker to quiet msg.
Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all
"""
NO_TRITON = """PS D:\\w> python .\\go.py
  File "D:\\w\\env\\Lib\\site-packages\\torch\\_inductor\\scheduler.py", line 3436, in create_backend
RuntimeError: Cannot find a working triton installation. Either the package is not installed or it is too old.
PS D:\\w> python -c "import torch; print(torch.__version__)"
2.7.1+cu128
"""
WITHOUT_WHEEL = """C:\\w>py -m pip install -r needs.txt
ERROR: Could not find a version that satisfies the requirement torch==1.12.1+cu116 (from versions: 2.2.0, 2.4.0)
ERROR: No matching distribution found for torch==1.12.1+cu116
C:\\w>py --version
Python 3.12.4
"""
OTHER_KERNEL = """kim@box:~$ nvidia-smi
NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.

kim@box:~$ uname -r; dkms status
6.8.0-45-generic
nvidia, 535.183, 6.5.0-44-generic, x86_64: installed
"""
AT_HOME = """(tf) kim@WIN10:~/kaggle$ python -c "import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))"
2024-03-12 19:33:41.410441: W tensorflow/core/common_runtime/gpu/gpu_device.cc:2251] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.
Skipping registering GPU devices...
(tf) kim@WIN10:~/kaggle$ pip list | grep cudnn
nvidia-cudnn-cu12 8.9.7.29
(tf) kim@WIN10:~/kaggle$ which python
/home/kim/miniconda3/envs/tf/bin/python
"""
OLD_WINDOWS = """PS C:\\w> docker compose up
nvidia-container-cli: initialization error: WSL environment detected but no adapters were found: unknown
PS C:\\w> [System.Environment]::OSVersion.Version

Major  Minor  Build  Revision
-----  -----  -----  --------
10     0      19041  0
"""
SHORT = """ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device
(venv) kim@box:~$ python -c "import torch"
ImportError: /home/kim/venv/lib/python3.10/site-packages/torch/lib/libtorch_cuda.so: file too short
"""
A_HINT = "OMP: Error #15: Initializing libiomp5md.dll, but found libiomp5md.dll already initialized.\nOMP: Hint This is unsafe. As an unsafe, unsupported, undocumented workaround you can set the environment variable KMP_DUPLICATE_LIB_OK=TRUE to allow the program to continue to execute.\n"


def told(text: str, count: int = 99) -> str:
    causes = explain_text(text).causes
    return "\n".join(f"{fix.text}\n{fix.command}" for fix in causes[0].fixes[:count])


@pytest.mark.parametrize(
    ("text", "count", "wanted"),
    [
        (TWO_IN_ONE, 1, r"PyTorch's own.*before torch"),
        (CONDAS, 1, r"LD_LIBRARY_PATH=\$CONDA_PREFIX/lib:"),
        (OLDER_CONDAS, 9, r"install[^\n]*cudnn"),
        (IN_HOME, 1, r"PYTHONNOUSERSITE=1"),
        (OLD_PTXAS, 1, r"export PATH=/usr/local/cuda-11\.4/bin"),
        (TOOLKITS, 1, r"--version 11\.8[^\0]*CUDA_HOME[^\n]*v11\.8"),
        (OF_10_0, 1, r"CUDA 10\.0"),
        (A_CELL, 1, r'os\.environ\["TF_FORCE_GPU_ALLOW_GROWTH"\] = "true"'),
        (BY_SCRIPT, 1, r"python train\.py --img 640 --data d\.yaml --batch-size 8$"),
        (SAID_YES, 1, r"TF_FORCE_GPU_ALLOW_GROWTH=true"),
        (LOST, 1, r"docker restart 0123456789ab"),
        (OF_AMAZON, 1, r"nvidia-ctk cdi generate"),
        (NO_TRITON, 1, r'"triton-windows<3\.4"'),
        (OTHER_KERNEL, 1, r"6\.8\.0-45-generic runs.*\n.*dkms autoinstall"),
        (OLD_WINDOWS, 1, r"older than 21H2"),
        (SHORT, 1, r"--force-reinstall --no-cache-dir torch$"),
        (WITHOUT_WHEEL, 1, r"-r needs\.txt --extra-index-url \S+/cu116"),
    ],
)  # fmt: skip
def test_the_first_remedies_are_of_the_very_case(text: str, count: int, wanted: str) -> None:
    assert re.search(wanted, told(text, count), re.MULTILINE | re.IGNORECASE)


@pytest.mark.parametrize(
    ("text", "unwanted"),
    [
        (TWO_IN_ONE, r"replace all cudnn|install[^\n]*cudnn"),
        (CONDAS, r"unset LD_LIBRARY_PATH|install[^\n]*\bcudnn"),
        (IN_HOME, r"conda remove|reinstall|uninstall -y torch torchvision"),
        (OLD_PTXAS, r"LD_LIBRARY_PATH=|cu12"),
        (TOOLKITS, r"v12\.4"),
        (OF_10_0, r"v10\.2"),
        (BY_SCRIPT, r"yolo train"),
        (LOST, r"--gpus all|plug-in"),
        (AT_HOME, r"%CUDA_PATH%|\bcolab\b"),
        (A_HINT, r"unset VARIABLE"),
    ],
)  # fmt: skip
def test_what_is_right_is_left_alone(text: str, unwanted: str) -> None:
    assert not re.search(unwanted, told(text), re.IGNORECASE)
