"""Guides: the answer to each topic: what it is called, its likely causes in order, what is worth knowing, how to go on."""

from __future__ import annotations

from gpuwhy.model.guide import Guide, Next
from gpuwhy.spoken.heard import Heard
from gpuwhy.spoken.tells import way

ANYTHING = "anything"
"""The topic of words about GPUs that are about nothing we know."""
_TITLES = {
    "torch": "PyTorch",
    "tensorflow": "TensorFlow",
    "jax": "JAX",
    "onnxruntime": "ONNX Runtime",
    "ollama": "Ollama or llama.cpp",
}
_PACKAGES = {"torch": "torch", "tensorflow": "tensorflow", "jax": "jax", "onnxruntime": "onnxruntime-gpu"}
_WHERE = {
    "container": " in a container",
    "wsl": " under WSL",
    "windows": " on Windows",
    "colab": " in a hosted notebook",
    "notebook": " in the notebook",
}
_INSIDE = {
    "container": ", in the container and on the host",
    "wsl": ", inside WSL",
    "colab": ", in a cell with ! before it",
    "notebook": ", in a cell with ! before it",
}
_LOG = Next("python PROGRAM 2>&1 | gpuwhy explain", "explains the program's own messages: much surer than words")
_RUN = Next("gpuwhy run -- python PROGRAM", "runs it, watches it, and explains how it ended")
_FRAMEWORKS_OWN: dict[str, tuple[str, ...]] = {
    "tensorflow": ("cuda.missing_library", "framework.cpu_only", "driver.missing", "device.selection"),
    "jax": ("framework.cpu_only", "driver.missing", "driver.too_old", "env.setting"),
    "onnxruntime": ("framework.cpu_only", "install.conflict", "cuda.missing_library", "driver.missing"),
    "ollama": ("driver.missing", "memory.oom", "container.no_gpu", "device.selection"),
    "torch": ("framework.cpu_only", "driver.missing", "driver.too_old", "device.selection"),
    "": ("driver.missing", "framework.cpu_only", "container.no_gpu", "device.selection"),
}


def _check(heard: Heard, gives: str = "looks for all of these on the machine") -> Next:
    return Next("gpuwhy check", f"{gives}; run it where the program runs{_INSIDE.get(heard.place, '')}")


def _who(heard: Heard) -> str:
    return _TITLES.get(heard.framework, "The program")


def _of(heard: Heard, topic: str, about: str, causes: tuple[str, ...], *more: Next, note: str = "") -> Guide:
    steps = more or (_check(heard), _LOG)
    return Guide(topic, about, tuple(way(cause, heard) for cause in dict.fromkeys(causes)), steps, note)


_AT: dict[str, tuple[str, ...]] = {
    "notebook": ("framework.cpu_only", "env.path", "device.selection"),
    "colab": ("driver.missing", "framework.cpu_only"),
}
"""The likely causes where the place alone decides."""


def unseen(heard: Heard) -> Guide:
    """Where it runs comes first, then what the framework usually lacks; a working nvidia-smi clears the driver."""
    causes = _there(heard)
    if heard.has("smi_works"):
        causes = (*_without(causes, "driver.missing"), "driver.too_old")
        causes = causes if heard.place else (*causes, "driver.permission")
    return _of(heard, "unseen", f"{_sees(heard)}{_WHERE.get(heard.place, '')}", causes[:5])


def _there(heard: Heard) -> tuple[str, ...]:
    if heard.place in _AT:
        return _AT[heard.place]
    if heard.place == "windows" and heard.framework == "tensorflow":
        return ("framework.platform_dropped", "driver.missing", "device.selection")
    causes: tuple[str, ...] = _FRAMEWORKS_OWN[heard.framework]
    if not heard.place:
        return causes
    causes = _without(causes, "container.no_gpu")
    if heard.place == "container":
        return ("container.no_gpu", *causes)
    return ("wsl.setup", *_without(causes, "driver.missing")) if heard.place == "wsl" else causes


def _without(causes: tuple[str, ...], cause: str) -> tuple[str, ...]:
    return tuple(one for one in causes if one != cause)


def _sees(heard: Heard) -> str:
    if heard.has("on_cpu") and not heard.has("unseen"):
        return f"{_who(heard)} uses the CPU instead of the GPU"
    return f"{_who(heard)} does not find the GPU" if heard.framework else "The GPU is not found"


def idle(heard: Heard) -> Guide:
    """The GPU is hardly used, or all is slow."""
    note = (
        "If the program's process and its memory are in nvidia-smi's list, the GPU is used and waits: for data (more workers in the "
        "loader, faster files), for the CPU, or for small batches. A profiler shows which. That is no failure of the GPU stack. "
        "If the process is not in the list, the program runs on the CPU, for one of these reasons"
    )
    return _of(heard, "idle", "The GPU is hardly used: first see whether the program runs on it at all",
               ("framework.cpu_only", *(c for c in _FRAMEWORKS_OWN[heard.framework] if c != "container.no_gpu"))[:4],
               Next("nvidia-smi", "while the program runs: is its process listed, with memory?"), _check(heard), note=note)  # fmt: skip


def oom(heard: Heard) -> Guide:
    """Out of memory, or so although memory looks free."""
    causes = ("memory.oom", "memory.other_process", "memory.fragmentation", "memory.preallocation", "memory.host")
    about = "Out of GPU memory: who needs or holds it"
    if heard.has("free"):
        causes = (
            "memory.other_process",
            "memory.fragmentation",
            "device.selection",
            "memory.preallocation",
            "memory.oom",
        )
        about = "Out of memory although memory looks free: nvidia-smi shows one moment, and one GPU of several"
    return _of(
        heard, "memory", about, causes, Next("gpuwhy fit MODEL", "says what a model needs, and what makes it fit"), _RUN
    )


def numbers(heard: Heard) -> Guide:
    """NaN and wrong results: not ours."""
    note = (
        "NaN, a loss that does not fall and wrong results come from the data, the learning rate, half precision without loss scaling, or "
        "the code. See whether the same step does it on the CPU (CUDA_VISIBLE_DEVICES= python PROGRAM). Only where the CPU gives other "
        "numbers for the same seed is the GPU stack worth a look"
    )
    return Guide("numbers", "Most likely not a GPU problem: gpuwhy finds failures of the GPU stack, not of training", (),
                 (Next("gpuwhy check --probe", "computes on the GPU and compares, if you doubt it"),), note)  # fmt: skip


def install(heard: Heard) -> Guide:
    """How to install."""
    name = _PACKAGES.get(heard.framework, "torch")
    note = (
        "PyTorch, JAX[cuda12] and tensorflow[and-cuda] bring CUDA and cuDNN in their own wheels: only the NVIDIA driver has to be "
        "installed for the whole machine. A CUDA toolkit is needed to compile"
    )
    return Guide("install", "What to install depends on the GPU, the driver and the Python: plan reads them and gives the commands", (),
                 (Next(f"gpuwhy plan {name}", "the versions that work together here, and the commands to install them"),
                  Next(f'gpuwhy plan {name} --gpu "RTX 4090" --driver 550', "the same for another machine")), note)  # fmt: skip


def have(heard: Heard) -> Guide:
    """Whether there is a GPU, and whether it is used."""
    tests = {
        "torch": "torch.cuda.is_available()",
        "tensorflow": "tf.config.list_physical_devices('GPU')",
        "jax": "jax.devices()",
    }
    test = tests.get(
        heard.framework, "torch.cuda.is_available(), tf.config.list_physical_devices('GPU') or jax.devices()"
    )
    note = f"In the program: {test}. While it runs, nvidia-smi lists its process and its memory if it uses the GPU"
    return Guide("have", "Which GPU there is, and whether a framework can use it: check looks", (),
                 (Next("gpuwhy check", "the GPU, the driver, and each framework of the active environment"),
                  Next("gpuwhy check --probe", "also runs something on the GPU")), note)  # fmt: skip


def two_versions(heard: Heard) -> Guide:
    """nvidia-smi and nvcc show different versions."""
    note = (
        "nvidia-smi shows the newest CUDA that the driver can run; nvcc shows the toolkit that compiles. They may differ: all is well as "
        "long as nvidia-smi's is the higher. PyTorch, TensorFlow and JAX use a third, the one in their own wheels"
    )
    return Guide("two versions", "Different CUDA versions in nvidia-smi and nvcc are no fault", (),
                 (Next("gpuwhy check", "which CUDA each framework was built for, and whether the driver runs it"),), note)  # fmt: skip


def other_card(heard: Heard) -> Guide:
    """A card that is not NVIDIA's."""
    note = (
        "AMD: install a build for ROCm (PyTorch has them for Linux, from its own index). Apple: PyTorch's device is called mps, TensorFlow has "
        "tensorflow-metal. Intel: PyTorch's device is called xpu. A build for CUDA never sees these cards"
    )
    return Guide(
        "other card",
        "CUDA runs on NVIDIA GPUs only",
        (),
        (Next("gpuwhy check", "says which GPU this machine has"),),
        note,
    )


def cudnn(heard: Heard) -> Guide:
    """cuDNN fails."""
    causes = ("memory.oom", "cudnn.version_mismatch", "memory.preallocation", "cudnn.missing", "cuda.mixed_libraries")
    return _of(
        heard,
        "cudnn",
        "cuDNN fails: its whole message decides between memory, version and a missing file",
        causes,
        _LOG,
        _check(heard),
    )


def cublas(heard: Heard) -> Guide:
    """cuBLAS fails."""
    causes = ("memory.oom", "memory.preallocation", "cuda.mixed_libraries", "program.index")
    return _of(
        heard, "cublas", "cuBLAS fails: its whole message and the lines before it decide", causes, _LOG, _check(heard)
    )


def toolkit(heard: Heard) -> Guide:
    """The toolkit is not found."""
    note = "PyTorch, TensorFlow and JAX from wheels need no toolkit to run. It is needed to compile CUDA code"
    return _of(
        heard,
        "toolkit",
        "The CUDA toolkit (nvcc) is not found",
        ("env.path", "cuda.compiler_missing"),
        _check(heard, "names the toolkits that it finds"),
        note=note,
    )


def wrong_gpu(heard: Heard) -> Guide:
    """The program takes another GPU."""
    note = (
        "CUDA_VISIBLE_DEVICES decides which GPUs a program sees, and in which order: CUDA_VISIBLE_DEVICES=1 python PROGRAM. CUDA numbers the "
        "fastest first; with CUDA_DEVICE_ORDER=PCI_BUS_ID the numbers are those of nvidia-smi"
    )
    return _of(
        heard,
        "wrong gpu",
        "The program uses another GPU than you want",
        ("device.selection",),
        _check(heard, "lists the GPUs"),
        note=note,
    )


def fit(heard: Heard) -> Guide:
    """What a model needs."""
    note = "Weights need 2 bytes a parameter in half precision: 7B is 14 GB, 70B is 140 GB, before the cache and the activations"
    return Guide("fit", "What a model needs: fit reads its files or its configuration, and counts", (),
                 (Next('gpuwhy fit MODEL --gpu "RTX 4090"', "whether it fits, what the memory is made of, and what makes it fit"),), note)  # fmt: skip


def held(heard: Heard) -> Guide:
    """Memory that is not given back."""
    note = "Memory comes back when the process that holds it ends: an earlier run that still lives, a notebook's kernel, or a worker of it"
    return _of(heard, "held", "GPU memory stays in use", ("memory.other_process", "memory.fragmentation"),
               Next("nvidia-smi --query-compute-apps=pid,name,used_memory --format=csv", "who holds it; end that process"), note=note)  # fmt: skip


def installing(heard: Heard) -> Guide:
    """An installation fails."""
    name = _PACKAGES.get(heard.framework, "torch")
    return Guide("installing", "An installation fails: its own message decides", (),
                 (Next(f"pip install {name} 2>&1 | gpuwhy explain", "reads what pip says"),
                  Next(f"gpuwhy plan {name}", "the versions for this Python, GPU and driver, and the commands")), "")  # fmt: skip


def forked(heard: Heard) -> Guide:
    """CUDA in worker processes."""
    causes = ("program.fork", "memory.host", "memory.oom")
    return _of(heard, "workers", "CUDA fails in worker processes", causes, _LOG)


def anything(heard: Heard) -> Guide:
    """Words about GPUs that name no failure we know: how to ask so that there is an answer."""
    return Guide(ANYTHING, "These words do not say what fails", (), (_LOG, _RUN, _check(heard, "what is wrong with the machine or the environment")),
                 "gpuwhy answers best to what the program itself printed: the whole error, with the lines before it")  # fmt: skip


def library(heard: Heard) -> Guide:
    """A library of CUDA is not found."""
    causes = ("cuda.missing_library", "env.path", "cuda.version_mismatch")
    return _of(heard, "library", "A CUDA library is not found", causes, _check(heard), _LOG)


def no_cudnn(heard: Heard) -> Guide:
    """cuDNN is not found."""
    causes = ("cudnn.missing", "cudnn.version_mismatch", "env.path")
    return _of(heard, "no cudnn", "cuDNN is not found", causes, _check(heard), _LOG)


def starts(heard: Heard) -> Guide:
    """CUDA does not start."""
    causes = ("driver.missing", "driver.library_mismatch", "device.selection", "driver.not_ready", "container.no_gpu")
    return _of(heard, "initialization", "CUDA does not start: the driver does not answer", causes, _check(heard), _LOG)


def driver(heard: Heard) -> Guide:
    """The driver does not answer."""
    causes: tuple[str, ...] = ("driver.missing", "driver.library_mismatch", "driver.permission")
    if heard.has("mismatch"):
        causes = ("driver.library_mismatch", "driver.missing")
    elif heard.has("updated"):
        causes = ("driver.missing", "driver.library_mismatch", "driver.too_old")
    if heard.place == "wsl":
        causes = ("wsl.setup",)
    if heard.place == "container":
        causes = ("container.no_gpu", "driver.missing")
    about = (
        "The NVIDIA driver is not installed, not loaded, or only half updated"
        if heard.place != "wsl"
        else "WSL does not reach the driver of Windows"
    )
    return _of(heard, "driver", about, causes, _check(heard))


def slept(heard: Heard) -> Guide:
    """After suspend."""
    return _of(
        heard,
        "suspend",
        "The GPU is gone after suspend: its memory module has to be loaded anew",
        ("driver.not_ready", "device.hardware"),
        _check(heard),
    )


def lost(heard: Heard) -> Guide:
    """The GPU disappears."""
    return _of(heard, "lost", "The GPU itself may be at fault: power, heat, the slot, or the card", ("device.hardware", "driver.library_mismatch"),
               Next("sudo dmesg | gpuwhy explain", "decodes the kernel's lines (Xid)"), _check(heard))  # fmt: skip


def crash(heard: Heard) -> Guide:
    """A crash without words."""
    causes = (
        "install.inconsistent",
        "framework.extension_abi",
        "install.corrupted",
        "cuda.mixed_libraries",
        "framework.bug",
    )
    return _of(heard, "crash", "A crash says nothing by itself: where it happens decides", causes, _RUN, _check(heard))


def hang(heard: Heard) -> Guide:
    """It hangs."""
    causes = (
        ("distributed.peer", "distributed.nccl", "framework.bug")
        if heard.has("many")
        else ("framework.bug", "device.hardware", "distributed.peer")
    )
    return _of(
        heard,
        "hang",
        "It hangs: find out who waits for whom",
        causes,
        Next("gpuwhy explain --ranks LOGS", "which process of a job failed first"),
        _RUN,
    )


def one_used(heard: Heard) -> Guide:
    """One of several GPUs is used."""
    note = (
        "A program uses one GPU unless it is written or started for several: torchrun or DistributedDataParallel (PyTorch), "
        "MirroredStrategy (TensorFlow), pmap or sharding (JAX). If the other GPU is not even listed, it is hidden"
    )
    return _of(
        heard,
        "one of several",
        "Only one of several GPUs is used",
        ("device.selection", "driver.permission"),
        _check(heard, "lists the GPUs that programs see"),
        note=note,
    )


def unsupported(heard: Heard) -> Guide:
    """The build has no code for the GPU."""
    name = _PACKAGES.get(heard.framework, "torch")
    return _of(heard, "unsupported", f"{_who(heard)} has no code for this GPU: it is newer or older than this build", ("framework.gpu_unsupported", "driver.too_old"),
               Next(f"gpuwhy releases {name} --works-with gpu=sm_120", "the releases for a GPU (your sm_ number)"), _check(heard))  # fmt: skip
