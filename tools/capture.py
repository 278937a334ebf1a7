"""Make real programs fail on a real GPU, each in a known way, and keep what they print.

    python3 tools/capture.py OUT.jsonl        (on a machine with an NVIDIA GPU, torch, JAX and CuPy)

One JSON line per failure: {"id", "how", "cause", "log"}. The cause is certain because the failure was provoked. The
outputs, their paths shortened, are the captured logs that tests/symptoms replays.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

PYTHON = os.environ.get("PROVOKE_PYTHON", sys.executable)
OTHER = os.environ.get("OTHER_DRIVER", "/nonexistent")


class Failure(NamedTuple):
    """One way to fail."""

    cause: str
    how: str
    code: str
    environ: dict[str, str] = {}
    shell: str = ""  # a command instead of Python code


CONV = "import torch; x=torch.ones(8,3,64,64,device='cuda'); print(torch.nn.functional.conv2d(x, torch.ones(4,3,3,3,device='cuda')).sum())"
JAX = "import jax, jax.numpy as jnp; print(jax.devices()); print(jnp.ones((8,8)) @ jnp.ones((8,8)))"
JAX_GPU = "import jax; print(jax.devices('cuda'))"
CUPY = "import cupy; print((cupy.ones((8,8)) @ cupy.ones((8,8))).sum())"
STUBS = "/tmp/capture/stubs"
COMPAT = "/tmp/capture/compat"
SYSTEM = "/usr/lib/x86_64-linux-gnu"

FAILURES: dict[str, Failure] = {
    "torch-oom": Failure(
        "memory.oom",
        "one tensor larger than the card",
        "import torch; torch.empty(200*2**30, dtype=torch.uint8, device='cuda')",
    ),
    "torch-oom-grow": Failure(
        "memory.oom",
        "tensors until the card is full",
        "import torch; x=[torch.empty(8*2**30, dtype=torch.uint8, device='cuda') for _ in range(40)]",
    ),
    "cupy-oom": Failure(
        "memory.oom", "one array larger than the card", "import cupy; cupy.zeros(200*2**30, dtype='u1')"
    ),
    "jax-oom": Failure(
        "memory.oom",
        "one array larger than the card",
        "import jax.numpy as jnp; jnp.zeros((200*2**30,), dtype='uint8').block_until_ready()",
    ),
    "torch-index": Failure(
        "program.index",
        "an embedding index out of range",
        "import torch; e=torch.nn.Embedding(10,4).cuda(); print(e(torch.tensor([99]).cuda()).sum().item())",
    ),
    "torch-label": Failure(
        "program.index",
        "a class label out of range",
        "import torch; print(torch.nn.functional.cross_entropy(torch.zeros(4,3).cuda(), torch.tensor([0,1,2,7]).cuda()).item())",
    ),
    "torch-shape": Failure(
        "program.shape",
        "matrices that do not fit",
        "import torch; torch.ones(3,4,device='cuda') @ torch.ones(5,6,device='cuda')",
    ),
    "torch-conv-shape": Failure(
        "program.shape",
        "a convolution with the wrong number of channels",
        "import torch; torch.nn.functional.conv2d(torch.ones(1,5,8,8).cuda(), torch.ones(4,3,3,3).cuda())",
    ),
    "torch-dtype": Failure(
        "program.shape",
        "input and weight of different types",
        "import torch; torch.nn.Linear(4,4).cuda()(torch.ones(2,4,dtype=torch.float16).cuda())",
    ),
    "torch-device-mix": Failure(
        "program.shape", "tensors on two devices", "import torch; torch.ones(2,device='cuda') + torch.ones(2,3)[0][:2]"
    ),
    "torch-fork": Failure(
        "program.fork",
        "CUDA used in a forked child",
        "import torch, os; torch.ones(1).cuda(); import multiprocessing as m; p=m.get_context('fork').Process(target=lambda: torch.ones(1).cuda()); p.start(); p.join()",
    ),
    "torch-device-7": Failure(
        "device.selection", "a device index that does not exist", "import torch; torch.ones(1, device='cuda:7')"
    ),
    "torch-visible-7": Failure("device.selection", "CUDA_VISIBLE_DEVICES=7", CONV, {"CUDA_VISIBLE_DEVICES": "7"}),
    "jax-visible-empty": Failure(
        "device.selection", "CUDA_VISIBLE_DEVICES empty", JAX_GPU, {"CUDA_VISIBLE_DEVICES": ""}
    ),
    "cupy-visible-7": Failure("device.selection", "CUDA_VISIBLE_DEVICES=7", CUPY, {"CUDA_VISIBLE_DEVICES": "7"}),
    "torch-stub": Failure("driver.stub", "the toolkit's stub first", CONV, {"LD_LIBRARY_PATH": STUBS}),
    "jax-stub": Failure("driver.stub", "the toolkit's stub first", JAX, {"LD_LIBRARY_PATH": STUBS}),
    "cupy-stub": Failure("driver.stub", "the toolkit's stub first", CUPY, {"LD_LIBRARY_PATH": STUBS}),
    "torch-compat": Failure("driver.compat_misuse", "an older cuda-compat first", CONV, {"LD_LIBRARY_PATH": COMPAT}),
    "jax-compat": Failure("driver.compat_misuse", "an older cuda-compat first", JAX, {"LD_LIBRARY_PATH": COMPAT}),
    "cupy-compat": Failure("driver.compat_misuse", "an older cuda-compat first", CUPY, {"LD_LIBRARY_PATH": COMPAT}),
    "smi-other-driver": Failure(
        "driver.library_mismatch", "libnvidia-ml of another driver first", "", {"LD_LIBRARY_PATH": OTHER}, "nvidia-smi"
    ),
    "torch-cudnn-old": Failure(
        "cudnn.version_mismatch",
        "an older system cuDNN first",
        CONV + "; print(torch.backends.cudnn.version())",
        {"LD_LIBRARY_PATH": SYSTEM},
    ),
    "torch-illegal": Failure(
        "program.illegal_access",
        "a kernel that writes past everything",
        "import cupy; k=cupy.RawKernel('extern \"C\" __global__ void f(float* p){ p[1ll<<40] = 1; }','f'); k((1,),(1,),(cupy.zeros(4,dtype='f'),)); cupy.cuda.runtime.deviceSynchronize()",
    ),
    "cupy-nvrtc": Failure(
        "other.not_gpu",
        "a kernel with a syntax error",
        "import cupy; cupy.RawKernel('extern \"C\" __global__ void f( { }','f')((1,),(1,),())",
    ),
    "nvcc-arch": Failure(
        "program.build",
        "nvcc asked for an architecture it does not know",
        "",
        {},
        "echo 'int main(){}' > /tmp/capture/a.cu; nvcc -arch=sm_35 -o /tmp/capture/a /tmp/capture/a.cu",
    ),
    "nvcc-header": Failure(
        "program.build",
        "a missing header",
        "",
        {},
        "echo '#include <cudnn_frontend_nope.h>' > /tmp/capture/b.cu; nvcc -c -o /tmp/capture/b.o /tmp/capture/b.cu",
    ),
    "link-cudnn": Failure(
        "program.build",
        "a program linked without cuDNN",
        "",
        {},
        "printf '#include <cudnn.h>\\nint main(){cudnnHandle_t h; return cudnnCreate(&h);}' > /tmp/capture/c.cu; nvcc -o /tmp/capture/c /tmp/capture/c.cu",
    ),
    "torch-exclusive-none": Failure("healthy", "nothing wrong", CONV),
    "jax-none": Failure("healthy", "nothing wrong", JAX),
    "cupy-none": Failure("healthy", "nothing wrong", CUPY),
}


def run(one: Failure) -> str:
    """What the program printed, and how it ended."""
    argv = ["bash", "-c", one.shell] if one.shell else [PYTHON, "-c", one.code]
    done = subprocess.run(argv, env={**os.environ, **one.environ}, capture_output=True, text=True, timeout=90)
    text = done.stdout + done.stderr
    if done.returncode < 0:
        text += f"exit by signal {-done.returncode}\n"
    return re.sub(r"/opt/[\w./-]*?/site-packages/", "/venv/lib/python3.12/site-packages/", text)


def main(out: str) -> None:
    """Provoke every failure."""
    Path(STUBS).mkdir(parents=True, exist_ok=True)
    stub = next(Path("/usr/local").glob("cuda*/targets/*/lib/stubs/libcuda.so"), None)
    link = Path(STUBS, "libcuda.so.1")
    if stub and not link.exists():
        link.symlink_to(stub)
    compat = next(Path("/usr/local").glob("cuda-*/compat"), None)
    if compat and not Path(COMPAT).exists():
        Path(COMPAT).symlink_to(compat)
    with Path(out).open("w") as file:
        for name, one in FAILURES.items():
            try:
                log = run(one)
            except subprocess.TimeoutExpired:
                log = ""
            file.write(json.dumps({"id": name, "how": one.how, "cause": one.cause, "log": log[-8000:]}) + "\n")
            print(name, len(log), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
