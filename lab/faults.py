"""The faults of a machine: how each is made, and which causes are a right name for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from lab.worlds import (
    ALL_NODES,
    COMPAT,
    CONTAINER,
    NO_MODULE,
    NO_TOOLKIT,
    STUB,
    hide_distribution,
    instead,
    new_dev,
    without,
    without_driver_library,
)

OTHER_DRIVER = os.environ.get("OTHER_DRIVER", "")
CUT = "head -c 2000000 $F > $W/new"
HALF = "head -c $(( $(stat -Lc %s $F) / 2 )) $F > $W/new"
EMPTY = ": > $W/new"
TEXT = "echo hello > $W/new"
ARM = "cp $F $W/new && printf '\\267' | dd of=$W/new bs=1 seek=18 conv=notrunc status=none"


class Fault(NamedTuple):
    """One way to break a machine; `names` are the causes that name it rightly, none for a machine that works."""

    names: tuple[str, ...]
    why: str
    setup: str = ""  # shell, inside the private mount namespace
    environ: Mapping[str, str] = {}
    user: str = ""  # run as another user
    inside: str = ""  # a command that enters another root
    hold: float = 0.0  # part of the GPU's memory that another process holds meanwhile
    hold_user: str = ""
    stop: bool = False  # the holder is stopped (SIGSTOP)
    limit: str = ""  # ulimit, just before gpuwhy and the program start
    target: str = ""  # "none": no --python
    alone: bool = False  # nothing else may run meanwhile


FAULTS: dict[str, Fault] = {
    # ------------------------------------------------------------ machines that work
    "healthy": Fault((), "the machine as it is"),
    "bare": Fault((), "no LD_LIBRARY_PATH: the driver is found by the loader's cache", environ={"LD_LIBRARY_PATH": ""}),
    "container": Fault((), "in a container that was given the GPU", CONTAINER, inside="chroot $W/ov/m"),
    "nodes-made-by-root": Fault((), "no node at all, but root: the driver makes them on first use", new_dev("")),
    "visible-uuid": Fault((), "the GPU named by a prefix of its UUID", environ={"CUDA_VISIBLE_DEVICES": "$GPU"}),
    # ------------------------------------------------------------ driver
    "no-uvm-node": Fault(
        ("driver.permission",), "/dev/nvidia-uvm is missing", new_dev("nvidia0 nvidiactl nvidia-caps"), user="nobody"
    ),
    "no-gpu-node": Fault(
        ("driver.permission",),
        "/dev/nvidia0 is missing",
        new_dev("nvidiactl nvidia-uvm nvidia-uvm-tools nvidia-caps"),
        user="nobody",
    ),
    "no-nodes": Fault(("driver.permission",), "no NVIDIA node at all, module loaded", new_dev(""), user="nobody"),
    "no-permission": Fault(
        ("driver.permission",),
        "nodes that root alone may open",
        new_dev(ALL_NODES) + "; chmod 0600 /dev/nvidia0 /dev/nvidiactl /dev/nvidia-uvm",
        user="nobody",
    ),
    "no-uvm-permission": Fault(
        ("driver.permission",),
        "/dev/nvidia-uvm alone is closed to this user",
        new_dev(ALL_NODES) + "; chmod 0600 /dev/nvidia-uvm",
        user="nobody",
    ),
    "nodev": Fault(
        ("driver.permission",),
        "/dev on a mount that allows no devices, as a sandbox has it",
        new_dev(ALL_NODES, "nodev") + "; rm -f /dev/null; : > /dev/null; chmod 666 /dev/null",
    ),
    "uvm-is-a-file": Fault(
        ("driver.permission",),
        "/dev/nvidia-uvm is a plain file that something wrote",
        new_dev("nvidia0 nvidiactl nvidia-caps") + "; : > /dev/nvidia-uvm; chmod 666 /dev/nvidia-uvm",
        user="nobody",
    ),
    "container-no-gpu": Fault(
        ("container.no_gpu",),
        "a container started without --gpus: its mark, no node, no driver library, no /proc/driver/nvidia",
        f"{new_dev('')}; {without_driver_library('libcuda.so', 'libnvidia-ml')}; mount -t tmpfs none /proc/driver; "
        + CONTAINER,
        inside="chroot $W/ov/m",
    ),
    "no-libcuda": Fault(
        ("driver.missing",), "the driver library libcuda is gone", without_driver_library("libcuda.so")
    ),
    "no-module": Fault(
        ("driver.missing",),
        "no kernel module: its traces in /proc and /sys hidden, no nodes; the card is on the bus",
        f"{new_dev('')}; {NO_MODULE}",
        user="nobody",
    ),
    "stub-first": Fault(("driver.stub",), "the toolkit's stub first", STUB, {"LD_LIBRARY_PATH": "$W/stubs"}),
    "stub-preloaded": Fault(
        ("driver.stub",), "the toolkit's stub preloaded", STUB, {"LD_PRELOAD": "$W/stubs/libcuda.so.1"}
    ),
    "compat-first": Fault(
        ("driver.compat_misuse",), "an older cuda-compat first", COMPAT, {"LD_LIBRARY_PATH": "$W/c/compat"}
    ),
    "other-driver-libraries": Fault(
        ("driver.library_mismatch",),
        "libcuda and libnvidia-ml of another driver release first on the path (OTHER_DRIVER names their folder)",
        environ={"LD_LIBRARY_PATH": OTHER_DRIVER},
    ),
    "libcuda-cut": Fault(
        ("install.corrupted",),
        "the driver's libcuda cut short",
        "F=$(readlink -f $(ldconfig -p | awk '/libcuda.so.1 /{print $NF; exit}')); head -c 3000000 $F > $W/new; "
        "mount --bind $W/new $F",
    ),
    "libcuda-empty": Fault(
        ("install.corrupted",),
        "the driver's libcuda is empty",
        "F=$(readlink -f $(ldconfig -p | awk '/libcuda.so.1 /{print $NF; exit}')); : > $W/new; mount --bind $W/new $F",
    ),
    # ------------------------------------------------------------ files of the installation
    "cudnn-empty": Fault(
        ("install.corrupted",), "an empty libcudnn.so.9 in the wheel", instead("libcudnn.so.9", EMPTY)
    ),
    "cudnn-cut": Fault(("install.corrupted",), "libcudnn_graph.so.9 cut short", instead("libcudnn_graph.so.9", CUT)),
    "cudnn-engines-cut": Fault(
        ("install.corrupted",),
        "half of libcudnn_engines_precompiled.so.9",
        instead("libcudnn_engines_precompiled.so.9", HALF),
    ),
    "cudnn-cnn-gone": Fault(
        ("install.corrupted", "cudnn.missing"), "libcudnn_cnn.so.9 gone from the wheel", without("libcudnn_cnn.so.9")
    ),
    "cudnn-graph-gone": Fault(
        ("install.corrupted", "cudnn.missing"), "libcudnn_graph.so.9 gone", without("libcudnn_graph.so.9")
    ),
    "cudnn-gone": Fault(
        ("install.corrupted", "cudnn.missing", "cudnn.version_mismatch"),
        "libcudnn.so.9 gone from the wheel (an older one stays in the system)",
        without("libcudnn.so.9"),
    ),
    "cudnn-other-architecture": Fault(
        ("install.corrupted",), "libcudnn.so.9 for another processor in the wheel", instead("libcudnn.so.9", ARM)
    ),
    "cudnn-unreadable": Fault(
        ("install.corrupted",),
        "libcudnn.so.9 with mode 000, ordinary user",
        instead("libcudnn.so.9", "cp $F $W/new; chmod 000 $W/new"),
        user="nobody",
    ),
    "cudnn-cnn-of-another-release": Fault(
        ("cudnn.mixed_libraries", "install.corrupted"),
        "libcudnn_cnn of the system's cuDNN in the wheel",
        instead("libcudnn_cnn.so.9", "cp $(readlink -f /usr/lib/x86_64-linux-gnu/libcudnn_cnn.so.9) $W/new"),
    ),
    "cudnn-graph-of-another-release": Fault(
        ("cudnn.mixed_libraries", "install.corrupted"),
        "libcudnn_graph of the system's cuDNN in the wheel",
        instead("libcudnn_graph.so.9", "cp $(readlink -f /usr/lib/x86_64-linux-gnu/libcudnn_graph.so.9) $W/new"),
    ),
    "cublas-text": Fault(
        ("install.corrupted",), "a text file in place of libcublas", instead("libcublas.so.1[23]", TEXT)
    ),
    "cublaslt-cut": Fault(("install.corrupted",), "half of libcublasLt", instead("libcublasLt.so.1[23]", HALF)),
    "cudart-gone": Fault(
        ("install.corrupted", "cuda.missing_library"),
        "libcudart gone from the wheel and from the system",
        without("libcudart.so.1[23]")
        + "; S=$(dirname $(readlink -f /usr/local/cuda/targets/*/lib/libcudart.so.1[23] | "
        "head -1)); mkdir -p $W/nosys; mount --bind $W/nosys $S",
    ),
    "nvrtc-gone": Fault(
        ("install.corrupted", "cuda.missing_library", "cuda.version_mismatch", "cuda.mixed_libraries"),
        "libnvrtc gone from the wheel",
        without("libnvrtc.so.1[23]"),
    ),
    "nvrtc-builtins-gone": Fault(
        ("install.corrupted", "cuda.missing_library", "cuda.compiler_missing"),
        "libnvrtc-builtins gone from the wheel",
        "for f in $(find -L $SITE /usr/local/cuda*/ -name 'libnvrtc-builtins.*' 2>/dev/null); do "
        "mount --bind /dev/null $(readlink -f $f); done",
    ),
    "nccl-cut": Fault(("install.corrupted",), "the first half of libnccl alone", instead("libnccl.so.2", HALF)),
    "torch-cuda-cut": Fault(("install.corrupted",), "half of libtorch_cuda.so", instead("libtorch_cuda.so", HALF)),
    "c10-cuda-of-another-build": Fault(
        ("install.corrupted", "framework.extension_abi"),
        "libc10.so in the place of libc10_cuda.so",
        instead("libc10_cuda.so", "cp $(dirname $F)/libc10.so $W/new"),
    ),
    "ptxas-gone": Fault(
        ("cuda.compiler_missing",),
        "no ptxas for XLA: the folders that hold one are empty, in the toolkit and in NVIDIA's wheels",
        "mkdir -p $W/none; for f in $(find -L $SITE/nvidia /usr/local/cuda*/bin -name ptxas 2>/dev/null); do "
        "mount --bind $W/none $(dirname $f); done",
    ),
    "no-toolkit": Fault(
        ("cuda.compiler_missing",),
        "no CUDA toolkit and no system cuDNN: torch lives on its wheels, JAX finds no libdevice",
        NO_TOOLKIT,
        {"CUDA_HOME": "", "PATH": "/usr/local/nvidia/bin:/usr/bin:/bin:/usr/sbin:/sbin"},
    ),
    "jax-plugin-gone": Fault(
        ("framework.cpu_only", "install.corrupted"),
        "JAX without its CUDA plugin",
        "; ".join(hide_distribution(p) for p in ("jax_plugins", "jax_cuda1*_p*", "jax_cuda1*_plugin*.dist-info")),
    ),
    # ------------------------------------------------------------ variables
    "visible-7": Fault(
        ("device.selection",), "CUDA_VISIBLE_DEVICES names no GPU", environ={"CUDA_VISIBLE_DEVICES": "7"}
    ),
    "visible-empty": Fault(
        ("device.selection",), "CUDA_VISIBLE_DEVICES is empty", environ={"CUDA_VISIBLE_DEVICES": ""}
    ),
    "visible-minus": Fault(("device.selection",), "CUDA_VISIBLE_DEVICES=-1", environ={"CUDA_VISIBLE_DEVICES": "-1"}),
    "visible-wrong-uuid": Fault(
        ("device.selection",), "a UUID of another machine", environ={"CUDA_VISIBLE_DEVICES": "GPU-deadbeef"}
    ),
    "visible-mig": Fault(
        ("device.selection",),
        "a MIG instance where MIG is off",
        environ={"CUDA_VISIBLE_DEVICES": "MIG-7c6ee8d1-0000-5b2c-8c28-000000000000"},
    ),
    "visible-0-7": Fault(
        ("device.selection",), "the second entry is not there", environ={"CUDA_VISIBLE_DEVICES": "0,7"}
    ),
    "visible-words": Fault(
        ("device.selection",), "CUDA_VISIBLE_DEVICES=cuda:0", environ={"CUDA_VISIBLE_DEVICES": "cuda:0"}
    ),
    "system-cudnn-first": Fault(
        ("cudnn.mixed_libraries", "cudnn.version_mismatch"),
        "an older system cuDNN on LD_LIBRARY_PATH",
        environ={"LD_LIBRARY_PATH": "/usr/lib/x86_64-linux-gnu"},
    ),
    "allocator-words": Fault(
        ("env.setting",),
        "PYTORCH_CUDA_ALLOC_CONF with an option that does not exist",
        environ={"PYTORCH_CUDA_ALLOC_CONF": "max_splits_mb:64", "PYTORCH_ALLOC_CONF": "max_splits_mb:64"},
    ),
    "nccl-interface": Fault(
        ("distributed.nccl",), "NCCL_SOCKET_IFNAME names no interface", environ={"NCCL_SOCKET_IFNAME": "=nope0"}
    ),
    # ------------------------------------------------------------ memory and limits
    "memory-held": Fault(
        ("memory.other_process",), "another process of this user holds nearly all", hold=0.995, alone=True
    ),
    "memory-held-by-another-user": Fault(
        ("memory.other_process",),
        "another user's process holds nearly all",
        hold=0.995,
        hold_user="nobody",
        user="daemon",
        alone=True,
    ),
    "memory-held-by-a-stopped-process": Fault(
        ("memory.other_process",), "a stopped process holds nearly all", hold=0.995, stop=True, alone=True
    ),
    "shm-full": Fault(
        ("memory.host",),
        "/dev/shm is full",
        "mount -t tmpfs -o size=64m none /dev/shm; head -c 64m /dev/zero > /dev/shm/full 2>/dev/null; true",
    ),
    "address-space": Fault(
        ("env.limit", "memory.host"),
        "ulimit -v of 12 GB: CUDA cannot reserve its addresses",
        limit="ulimit -v 12000000",
    ),
}
