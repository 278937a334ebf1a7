"""What each reader makes of a variable's value: which values turn the GPU off, are rejected, or do nothing.

Two kinds of rows: authored ones, each judged by running the reader or by its documentation (`source`), and the types
that the harvested sources show, for readers that are known to stop at a value of another type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

from gpuwhy.facts.variables import Fault
from gpuwhy.facts.version import at_least
from gpuwhy.knowledge import grammars, xla_flags
from gpuwhy.knowledge.readings import FAMILIES, Reader, families, known_names, readers, source
from gpuwhy.knowledge.spelling import misspelt
from gpuwhy.knowledge.values import Judge, Wrong, off_when, one_of, real, truth, whole
from gpuwhy.knowledge.variables import FOREIGN, variable_row

TITLES = {
    "torch": "PyTorch", "jax": "JAX", "tensorflow": "TensorFlow", "numba": "Numba", "cupy": "CuPy", "triton": "Triton",
    "onnxruntime": "ONNX Runtime", "keras": "Keras",
}  # fmt: skip


ANYTHING: Mapping[str, str] = dict.fromkeys(TITLES, "")
"""What to judge by where nobody knows what is installed: every framework, of no known release."""


class Rule(NamedTuple):
    """How one framework ("" = NVIDIA's own libraries, whatever is installed) reads one variable."""

    framework: str
    judge: Judge
    source: str
    title: str = ""  # who speaks in the sentence, where it is not the framework


_RAN = "run on a machine without a GPU"
_JAXLIB = "jaxlib/xla_client.py, generate_pjrt_gpu_plugin_options"
_GUIDE = "CUDA Programming Guide, CUDA Environment Variables"
_NCCL = "NCCL documentation, Environment Variables"
_DRIVER, _NCCL_NAME = "the CUDA driver", "NCCL"
_FRACTION = Rule("jax", real(least=0, most=100), _JAXLIB)
_DISTANCES = ("LOC", "NVL", "PIX", "PXB", "PXN", "P2C", "PHB", "NODE", "SYS", "DIS")

RULES: dict[str, tuple[Rule, ...]] = {
    "JAX_PLATFORMS": (Rule("jax", grammars.platforms, f"JAX 0.4.30 and 0.12.0, {_RAN}"),),
    "JAX_PLATFORM_NAME": (Rule("jax", grammars.platform_name, f"JAX 0.4.30 and 0.12.0, {_RAN}"),),
    "JAX_DEFAULT_DEVICE": (Rule("jax", grammars.platform_name, f"JAX 0.12.0, {_RAN}"),),
    "XLA_FLAGS": (
        Rule("jax", xla_flags.judge_of("jaxlib"), f"jaxlib 0.4.20 to 0.12.0, {_RAN}"),
        Rule("tensorflow", xla_flags.judge_of("tensorflow"), f"TensorFlow 2.15 and 2.21, {_RAN}"),
    ),
    "TF_XLA_FLAGS": (Rule("tensorflow", xla_flags.judge_of("tf_xla"), f"TensorFlow 2.15 and 2.21, {_RAN}"),),
    "XLA_PYTHON_CLIENT_MEM_FRACTION": (_FRACTION,),
    "XLA_CLIENT_MEM_FRACTION": (_FRACTION,),
    "XLA_PYTHON_CLIENT_ALLOCATOR": (
        Rule("jax", one_of("default", "platform", "bfc", "cuda_async", "vmm", "address", fold=True, empty=False), _JAXLIB),
    ),
    "XLA_PYTHON_CLIENT_PREALLOCATE": (
        Rule("jax", one_of("true", "True", "1", "false", "False", "0", kind="ignored"), f"{_JAXLIB}: everything but false, False and 0 is yes"),
    ),
    "PYTORCH_CUDA_ALLOC_CONF": (Rule("torch", grammars.allocator, f"PyTorch 2.13.0, {_RAN}; strings of libc10 up to 2.15.0"),),
    "PYTORCH_ALLOC_CONF": (Rule("torch", grammars.allocator, f"PyTorch 2.13.0, {_RAN}; strings of libc10 up to 2.15.0"),),
    "TORCH_CUDA_ARCH_LIST": (Rule("torch", grammars.arch_list, "torch/utils/cpp_extension.py"),),
    "PYTORCH_JIT": (Rule("torch", one_of("0", "1"), f"PyTorch 2.13.0, {_RAN}"),),
    "TORCH_DISTRIBUTED_DEBUG": (Rule("torch", one_of("OFF", "INFO", "DETAIL", empty=False), f"PyTorch 2.13.0, {_RAN}"),),
    "TORCHINDUCTOR_WORKER_START": (Rule("torch", one_of("subprocess", "fork", "spawn", empty=False), f"PyTorch 2.13.0, {_RAN}"),),
    "TORCH_LOGS": (Rule("torch", grammars.log_names, f"PyTorch 2.13.0, {_RAN}"),),
    "TF_FORCE_GPU_ALLOW_GROWTH": (Rule("tensorflow", one_of("true", "false", kind="ignored", empty=False), "TensorFlow, gpu_bfc_allocator: in small letters only"),),
    "TF_GPU_ALLOCATOR": (Rule("tensorflow", one_of("cuda_malloc_async", "cuda_malloc", "memory_guard", kind="ignored"), "TensorFlow, gpu_process_state"),),
    "TF_DETERMINISTIC_OPS": (Rule("tensorflow", truth(words=("0", "1", "true", "false")), f"TensorFlow 2.21.0, {_RAN}"),),
    "TF_CUDNN_DETERMINISTIC": (Rule("tensorflow", truth(words=("0", "1", "true", "false")), "TensorFlow 2.21.0, determinism.cc, as TF_DETERMINISTIC_OPS"),),
    "TF_ENABLE_ONEDNN_OPTS": (Rule("tensorflow", truth("ignored", ("0", "1", "true", "false")), f"TensorFlow 2.21.0, {_RAN}"),),
    "TF_GPU_THREAD_MODE": (Rule("tensorflow", one_of("global", "gpu_private", "gpu_shared", fold=True), "TensorFlow, gpu_device: an unknown mode is an invalid argument"),),
    "NUMBA_NUM_THREADS": (Rule("numba", grammars.threads, f"Numba 0.68.1, {_RAN}"),),
    "NUMBA_THREADING_LAYER": (Rule("numba", one_of("default", "safe", "forksafe", "threadsafe", "tbb", "omp", "workqueue"), f"Numba 0.68.1, {_RAN}"),),
    "NUMBA_DISABLE_CUDA": (Rule("numba", off_when("1", text="leaves CUDA out"), "Numba documentation, Environment variables"),),
    "NUMBA_ENABLE_CUDASIM": (Rule("numba", off_when("1", text="simulates CUDA on the CPU"), "Numba documentation, Environment variables"),),
    "TRITON_INTERPRET": (Rule("triton", off_when("1", "true", "on", "y", "yes", text="interprets every kernel on the CPU"), "triton/knobs.py"),),
    "TRITON_CACHE_MANAGER": (Rule("triton", grammars.module_class, f"Triton 3.9.0, {_RAN}"),),
    "TRITON_OVERRIDE_ARCH": (Rule("triton", grammars.triton_arch, f"Triton 3.9.0, {_RAN}"),),
    "CUPY_ACCELERATORS": (Rule("cupy", grammars.accelerators, f"CuPy 14.2.0, {_RAN}"),),
    "CUPY_CUDA_PER_THREAD_DEFAULT_STREAM": (Rule("cupy", whole(), f"CuPy 14.2.0, {_RAN}"),),
    "CUPY_CUDA_ARRAY_INTERFACE_SYNC": (Rule("cupy", whole(), f"CuPy 14.2.0, {_RAN}"),),
    "CUPY_CUDA_ARRAY_INTERFACE_EXPORT_VERSION": (Rule("cupy", whole(), f"CuPy 14.2.0, {_RAN}"),),
    "CUPY_EXPERIMENTAL_SLICE_COPY": (Rule("cupy", whole(), f"CuPy 14.2.0, {_RAN}"),),
    "CUPY_GPU_MEMORY_LIMIT": (Rule("cupy", grammars.memory_limit, "CuPy documentation, Environment variables"),),
    "CUBLAS_WORKSPACE_CONFIG": (Rule("", grammars.workspace, "cuBLAS documentation, Results reproducibility", "cuBLAS"),),
    "CUDA_DEVICE_ORDER": (Rule("", one_of("FASTEST_FIRST", "PCI_BUS_ID", kind="ignored", fold=True), _GUIDE, _DRIVER),),
    "CUDA_MODULE_LOADING": (Rule("", one_of("LAZY", "EAGER", "DEFAULT", kind="ignored", fold=True), _GUIDE, _DRIVER),),
    "CUDA_MODULE_DATA_LOADING": (Rule("", one_of("LAZY", "EAGER", "DEFAULT", kind="ignored", fold=True), _GUIDE, _DRIVER),),
    "CUDA_LAUNCH_BLOCKING": (Rule("", one_of("0", "1", kind="ignored"), _GUIDE, _DRIVER),),
    "CUDA_CACHE_DISABLE": (Rule("", one_of("0", "1", kind="ignored"), _GUIDE, _DRIVER),),
    "CUDA_FORCE_PTX_JIT": (Rule("", one_of("0", "1", kind="ignored"), _GUIDE, _DRIVER),),
    "CUDA_DISABLE_PTX_JIT": (Rule("", one_of("0", "1", kind="ignored"), _GUIDE, _DRIVER),),
    "CUDA_CACHE_MAXSIZE": (Rule("", whole("ignored", 0), _GUIDE, _DRIVER),),
    "CUDA_DEVICE_MAX_CONNECTIONS": (Rule("", whole("ignored", 1), _GUIDE, _DRIVER),),
    "CUDA_DEVICE_DEFAULT_PERSISTING_L2_CACHE_PERCENTAGE_LIMIT": (Rule("", real(least=0, most=100), f"{_GUIDE}; 900 on an H200 with driver 580: no context can be made", _DRIVER),),
    "NVIDIA_TF32_OVERRIDE": (Rule("", one_of("0", "1", kind="ignored"), "cuBLAS documentation, NVIDIA_TF32_OVERRIDE", "cuBLAS"),),
    "NCCL_DEBUG": (Rule("", one_of("VERSION", "WARN", "INFO", "ABORT", "TRACE", kind="ignored", fold=True), _NCCL, _NCCL_NAME),),
    "NCCL_P2P_LEVEL": (Rule("", one_of(*_DISTANCES, *"0123456", kind="ignored"), _NCCL, _NCCL_NAME),),
    "NCCL_NET_GDR_LEVEL": (Rule("", one_of(*_DISTANCES, *"0123456", kind="ignored"), _NCCL, _NCCL_NAME),),
    "NCCL_SOCKET_FAMILY": (Rule("", one_of("AF_INET", "AF_INET6", kind="ignored"), _NCCL, _NCCL_NAME),),
    "NCCL_LAUNCH_MODE": (Rule("", one_of("PARALLEL", "GROUP", kind="ignored", fold=True), _NCCL, _NCCL_NAME),),
    **{
        name: (Rule("", whole("ignored"), _NCCL, _NCCL_NAME),)
        for name in (
            "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE", "NCCL_IB_DISABLE", "NCCL_BUFFSIZE", "NCCL_NTHREADS", "NCCL_MAX_NCHANNELS",
            "NCCL_MIN_NCHANNELS", "NCCL_IB_GID_INDEX", "NCCL_IB_TC", "NCCL_IB_SL", "NCCL_IB_TIMEOUT", "NCCL_CUMEM_ENABLE",
            "NCCL_NVLS_ENABLE", "NCCL_CROSS_NIC",
        )
    },
}  # fmt: skip

STRICT: dict[tuple[str, str], Judge] = {
    ("jax", "bool"): truth(),
    ("jax", "int"): whole(),
    ("jax", "float"): real(empty=False),
    ("torch", "int"): whole(),
    ("torch", "float"): real(empty=False),
    ("triton", "int"): whole(),
    ("cupy", "int"): whole(),
    ("numba", "int"): whole("ignored", empty=True),
    ("numba", "float"): real("ignored"),
}
"""Readers that do not take a value of another type than their source shows, as seen when they were run."""


def faults(name: str, value: str, installed: Mapping[str, str]) -> tuple[Fault, ...]:
    """What the readers that are installed here (framework → release) make of a value."""
    ruled = tuple(_ruled(name, value, installed))
    if ruled or name in RULES:
        return ruled
    typed = tuple(_typed(name, value, installed))
    return typed or _slip(name, installed)


def _ruled(name: str, value: str, installed: Mapping[str, str]) -> Iterator[Fault]:
    for rule in RULES.get(name, ()):
        if rule.framework and (
            rule.framework not in installed or _unread(name, rule.framework, installed)
        ):
            continue
        wrong = rule.judge(value, installed.get(rule.framework, ""))
        if wrong is not None:
            who = rule.title or TITLES[rule.framework]
            yield _fault(who, wrong, (rule.framework,) if rule.framework else (), rule.source)


def _unread(name: str, framework: str, installed: Mapping[str, str]) -> bool:
    """Whether the installed release is known not to read a variable that others of its family read."""
    marks = {
        r.at(installed[framework]) for r in readers(name) if FAMILIES.get(r.family) == framework
    }
    return marks == {"0"}


def _typed(name: str, value: str, installed: Mapping[str, str]) -> Iterator[Fault]:
    for reader in readers(name):
        framework = FAMILIES.get(reader.family, "")
        if framework not in installed or not reader.like(installed[framework]):
            continue
        judge = _judge(framework, reader)
        wrong = judge(value, installed[framework]) if judge else None
        if wrong is not None:
            yield _fault(TITLES[framework], wrong, (framework,), source(reader))
            return


def _judge(framework: str, reader: Reader) -> Judge | None:
    """By the type; JAX's enumerations also by their values."""
    if framework == "jax" and reader.type == "enum":
        return one_of(*reader.values, empty=False) if reader.values else None
    return STRICT.get((framework, reader.type))


def _fault(who: str, wrong: Wrong, frameworks: tuple[str, ...], where: str) -> Fault:
    return Fault(wrong.kind, frameworks, f"{who} {wrong.text}", wrong.allowed, wrong.instead, where)


def _slip(name: str, installed: Mapping[str, str]) -> tuple[Fault, ...]:
    """A name that nobody reads and that is nearly one that an installed reader, or NVIDIA's own libraries, read."""
    if name in known_names() or name.startswith(FOREIGN) or _authored(name):
        return ()
    meant = misspelt(name, _candidates(frozenset(installed)).get(name.partition("_")[0], ()))
    if not meant:
        return ()
    families = tuple(
        sorted({f for r in readers(meant) if (f := FAMILIES.get(r.family, "")) in installed})
    )
    return (
        Fault(
            "misspelt",
            families,
            f"nobody reads {name}; {meant} is meant, perhaps",
            (),
            meant,
            "the harvested names",
        ),
    )


def _authored(name: str) -> bool:
    row = variable_row(name)
    return row is not None and not row.name.endswith("*")


@cache
def _candidates(installed: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """The names that somebody here reads, by their first word."""
    read = (name for name in known_names() if families(name) & installed)
    out: dict[str, list[str]] = {}
    for name in sorted({*RULES, "CUDA_VISIBLE_DEVICES", *read}):
        out.setdefault(name.partition("_")[0], []).append(name)
    return {first: tuple(names) for first, names in out.items()}


def times(name: str, installed: Mapping[str, str]) -> str:
    """Where every reader of a variable is another release than the installed one: which reads it; else ""."""
    if name in RULES:
        return ""
    for reader in readers(name):
        framework = FAMILIES.get(reader.family, "")
        if not framework:
            return ""
        if framework not in installed or reader.at(installed[framework]) != "0":
            continue
        who = f"{TITLES[framework]} {installed[framework]}"
        if any(
            r.at(installed[f]) != "0"
            for r in readers(name)
            if (f := FAMILIES.get(r.family, "")) in installed
        ):
            return ""
        gone = reader.last and not _later(reader, installed[framework])
        return f"{who} does not read it{f': {reader.last} did' if gone else f': {reader.first} is the first that does'}"
    return ""


def _later(reader: Reader, release: str) -> bool:
    """Whether a newer release than this one reads it."""
    marked = zip(reader.releases, reader.reads, strict=True)
    return any(mark == "1" and not at_least(release, one) for one, mark in marked)
