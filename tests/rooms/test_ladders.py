"""Ladders: what stands among the first two fixes is made of what the text tells, whatever its message."""

import pytest

from gpuwhy.logs import explain_text
from gpuwhy.rooms.text.smi import cards, holders

STACK = 'Traceback (most recent call last):\n  File "/home/u/train.py", line 31, in step\n    y = net(x)\n'
TABLE = """|   0  Tesla T4            Off  | 00000000:00:04.0 Off |                    0 |
| N/A   38C    P8    20W / 250W |  10766MiB / 11178MiB |      0%      Default |
|   1  Tesla T4            Off  | 00000000:00:05.0 Off |                    0 |
| N/A   38C    P8    20W / 250W |    432MiB / 11178MiB |      0%      Default |
|    0      4242      C   python                                     10755MiB |
"""

CASES = {  # text: words that the first two fixes hold, and words that none of them holds
    "a layer's sizes": (
        f"{STACK}RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x40 and 50x11)\n",
        ["nn.Linear(40, 11)", "train.py, line 31"], ["TensorFlow"]),
    "a tensor's own size": (
        "ResourceExhaustedError: OOM when allocating tensor with shape[32,4,4096,4096] and type float on "
        "/job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n",
        ["8.0 GiB", "8 instead of 32"], ["torch", "JAX"]),
    "whose kernel it is": (
        "ggml_cuda_compute_forward: MUL_MAT failed\nCUDA error: an illegal memory access was encountered\n",
        ["llama.cpp"], ["torch"]),
    "the application's own option": (
        'File "/v/site-packages/sglang/srt/model.py", line 3, in f\ntorch.OutOfMemoryError: CUDA out of memory.\n',
        ["--mem-fraction-static"], ["TensorFlow"]),
    "the driver's CUDA and the Python": (
        'File "/opt/conda/lib/python3.7/site-packages/torch/cuda/__init__.py", line 1, in f\nRuntimeError: '
        "The NVIDIA driver on your system is too old (found version 10020).\n",
        ['torch==1.12.1+cu102', "cu102"], []),
    "an own kernel": (
        "CUDA error at solver.cu:226 code=700(cudaErrorIllegalAddress) \"cudaDeviceSynchronize()\"\n",
        ["solver.cu, line 226", "if (i >= n) return;"], ["python PROGRAM"]),
    "the start of a container, with its own options": (
        "$ docker run -it -p 8888:8888 acme/lab:gpu jupyter\nRuntimeError: Found no NVIDIA driver on your system.\n",
        ["docker run --gpus all -it -p 8888:8888 acme/lab:gpu"], ["driver's libraries, those for video"]),
    "a container without the GPU beside one with it": (
        "docker run --rm acme/train:2 python t.py\nRuntimeError: No CUDA GPUs are available\n\n"
        "docker run --rm --gpus all nvidia/cuda:12.1.0-base-ubuntu22.04 nvidia-smi works\n",
        ["docker run --gpus all --rm acme/train:2"], ["NVIDIA_DRIVER_CAPABILITIES"]),
    "an allocator before expandable segments": (
        "RuntimeError: CUDA out of memory. Tried to allocate 1.00 GiB (GPU 0; 8.00 GiB total capacity; 3.1 GiB already "
        "allocated; 0.9 GiB free; 6.90 GiB reserved in total by PyTorch)\n",
        ["max_split_size_mb"], ["expandable_segments"]),
    "a cuDNN newer than the build takes": (
        "Loaded runtime CuDNN library: 7501 (compatibility version 7500) but source was compiled with 7004 "
        "(compatibility version 7000).\n", ["cudnn=7.0"], ["cudnn=7.6"]),
    "what pip offers in place of a release": (
        "ERROR: Could not find a version that satisfies the requirement onnxruntime-gpu==1.20.1 (from versions: "
        "1.12.0, 1.19.2)\n", ["needs a newer Python", "onnxruntime-gpu==1.19.2"], ["wsl"]),
    "an encoder of Windows": (
        "[av1_nvenc @ 000001f7b2cc0480] Driver does not support the required nvenc API version. Required: 12.1 "
        "Found: 12.0\n"
        "[av1_nvenc @ 000001f7b2cc0480] The minimum required Nvidia driver for nvenc is 531.61 or newer\n",
        ["531.61", "for Windows"], ["ubuntu-drivers"]),
    "the step as a whole": (
        "ImportError: libcublas.so.9.0: cannot open shared object file: No such file or directory\n",
        ["folder=$(find / -name", "export LD_LIBRARY_PATH=\"${folder:?"], ["dirname"]),
    "a full card, whoever filled it": (
        "jcuda.CudaException: CUDA_ERROR_OUT_OF_MEMORY\n",
        ["--query-compute-apps", "less work at once"], []),
    "a user namespace": (
        "$ podman run --rm acme/a:1 nvidia-smi    # rootless\nFailed to initialize NVML: Insufficient Permissions\n",
        ["--group-add keep-groups"], ["usermod"]),
    "a node's engine": (
        "kubelet Error: nvidia-container-cli: initialization error: nvml error: insufficient permissions: unknown\n",
        ["On the node"], ["usermod"]),
    "an image for another processor": (
        'user@xavier: standard_init_linux.go:211: exec user process caused "exec format error"\n',
        ["l4t-base", "linux/arm64"], []),
    "an engine from snap": (
        'docker: could not select device driver "" with capabilities: [[gpu]].\n$ snap list docker\n',
        ["snap remove docker"], []),
    "paths are no packages": (
        "pip list\ntensorflow-gpu 2.0.0\nUnknown: CUDNN_STATUS_BAD_PARAM in tensorflow/stream_executor/cuda/cuda_dnn.cc"
        "(1424): 'cudnnSetRNNDataDescriptor( data_desc.get() )'\n", ["padding='post'"], ["uninstall"]),
    "weights are no batch": (
        "Limit:                        37363712\nResource exhausted: OOM when allocating tensor with "
        "shape[3,3,512,1024] and type float\n", ["only 35 MiB"], ["instead of 3"]),
    "the variable of a flag": (
        "Couldn't interpret value =x for flag tf_xla_cpu_global_jit.\n",
        ["export TF_XLA_FLAGS=--tf_xla_cpu_global_jit"], ["VARIABLE"]),
    "a build for the CPU that nobody wanted": (
        "ValueError: CUDAExecutionProvider is not available in onnxruntime\n",
        ["uninstall -y onnxruntime onnxruntime-gpu"], []),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_first_two_are_made_of_what_is_told(name):
    text, has, has_not = CASES[name]
    fixes = explain_text(text).causes[0].fixes[:2]
    said = "\n".join(f"{fix.text}\n{fix.command}" for fix in fixes)
    assert [word for word in has if word not in said] == [], said
    assert [word for word in has_not if word in said] == [], said


def test_the_table_of_nvidia_smi_names_who_holds_and_what_is_free():
    assert [(one.index, one.used) for one in cards(TABLE)] == [(0, 10766), (1, 432)]
    assert [(one.pid, one.used) for one in holders(TABLE)] == [(4242, 10755)]


MORE = {
    "the port that is taken": (
        "RuntimeError: The server socket has failed to bind to [::]:41234 (errno: 98 - Address already in use).\n",
        "41234", "--master-port 41245"),
    "the engine, not the toolkit": (
        "[TRT] [E] 1: Serialization assertion failed. Version tag does not match. Engine deserialization failed.\n",
        "again", "trtexec --onnx"),
    "the pair that pip shows": (
        "RuntimeError: operator torchvision::nms does not exist\nName: torch\nVersion: 2.4.0+cu121\n",
        "torch 2.4.0+cu121", '"torchvision==0.19.0"'),
}  # fmt: skip


@pytest.mark.parametrize("name", MORE)
def test_the_first_fix_names_what_the_text_names(name):
    text, said, command = MORE[name]
    fixes = explain_text(text).causes[0].fixes
    assert said in fixes[0].text
    assert command in fixes[0].command


def test_what_is_told_and_cannot_work_together_comes_first_whatever_the_message():
    handle = "E cuda/cuda_dnn.cc:385] could not create cudnn handle: CUDNN_STATUS_NOT_INITIALIZED\n"
    report = explain_text(f"I use a 3080ti, tensorflow 1.15.0, CUDA 10.1\n{handle}")
    assert report.causes[0].id == "memory.preallocation"
    assert "needs CUDA 11.1 or newer" in report.causes[0].fixes[0].text
    assert "nvidia-tensorflow" in report.causes[0].fixes[0].command


@pytest.mark.parametrize("one, other, word", [
    ("torch.FloatTensor", "torch.cuda.FloatTensor", "different devices"),
    ("torch.cuda.FloatTensor", "torch.FloatTensor", "different devices"),
    ("torch.cuda.HalfTensor", "torch.cuda.FloatTensor", "different types"),
])  # fmt: skip
def test_devices_and_types_are_told_apart(one, other, word):
    report = explain_text(f"RuntimeError: Input type ({one}) and weight type ({other}) should be the same\n")
    assert any(word in fix.text for fix in report.causes[0].fixes[:2])


def test_a_path_of_the_text_is_one_word_and_no_folder_of_the_system_is_given_away():
    said = "PermissionError: [Errno 13] Permission denied: '{}/x.lock'\n"
    own = explain_text(said.format("/tmp/triton; echo a")).causes[0].fixes
    assert any("chown $USER '/tmp/triton; echo a'" in fix.command for fix in own)
    for folder in ("/tmp", "/usr/lib/triton", "/"):
        fixes = explain_text(said.format(folder)).causes[0].fixes
        assert not any("chown" in fix.command for fix in fixes), folder
