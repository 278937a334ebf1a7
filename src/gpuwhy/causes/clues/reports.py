"""Clues from what people report around an error. They say little, so they weigh little."""

from __future__ import annotations

from gpuwhy.causes.clues import of
from gpuwhy.causes.clues.conditions import all_of, field, in_container, in_wsl, line, no, on_windows, with_
from gpuwhy.model.symptom import Clue, Condition, Reading, Symptom
from gpuwhy.model.version import numbers

_MEMORY = with_("memory.", "cuda.out_of_memory", "cudnn.", "cublas.", "title.oom")
_UNSEEN = with_(
    "cuda.unknown", "cuda.launch", "cuda.not_init", "torch.unknown", "nvidia.", "nvml.", "cuda.no_device", "torch.no_", "title.gpu_unseen", "torch.unavailable"
)  # fmt: skip


def _nothing_else(s: Symptom, r: Reading) -> bool:
    """No message in the text says more than that something fails."""
    return all(
        o.speaker in ("title", "python", "signal") or o.role == "echo"
        for o in r.symptoms
        if o.role in ("error", "echo")
    )


def _of(pattern: str) -> Condition:
    """A failure in general words whose line speaks of something."""
    return all_of(_nothing_else, line(pattern))


def _two_cudas(s: Symptom, r: Reading) -> bool:
    """The text names two CUDA versions."""
    return len({numbers(v)[:2] for v in r.told.versions.get("cuda", ())}) > 1


_ANY = "the GPU is said to fail"
_NOT_FOUND = r"not (?:found|available|detect|recogni|us)"

CLUES: tuple[Clue, ...] = (
    *of(
        "driver.not_ready",
        ("title.sleep", 2.4, "it comes after the machine slept"),
        ("told.after_reboot", 1.2, "a restart of the machine cures it", _UNSEEN),
        ("title.trouble", 0.2, _ANY, _nothing_else),
    ),
    *of(
        "driver.library_mismatch",
        ("told.after_update", 1.4, "it began with an update of the system", with_("nvidia.", "nvml.", "cuda.", "torch.no_")),
        ("told.after_reboot", 1.0, "a restart of the machine cures it", with_("nvidia.mis", "nvml.", "cuda.system")),
        ("title.trouble", 0.9, "versions of the driver are said to be wrong", _of(r"driver[^\n]{0,40}(?:version|mismatch)")),
        ("title.trouble", 0.1, _ANY, _nothing_else),
    ),
    *of(
        "driver.permission",
        ("title.trouble", 2.0, "access is lost", all_of(_nothing_else, line(r"los(?:e|ing|t)[^\n]{0,20}access"))),
        ("told.as_root", 2.8, "root can, and others cannot", with_("nvidia.", "nvml.", "cuda.", "torch.", "title.", "container.", "tf.")),
        ("title.trouble", 1.9, "access is denied", _of(r"permission|denied|accessible")),
        ("title.trouble", 0.1, _ANY, _nothing_else),
    ),
    *of(
        "driver.missing",
        ("title.bare_false", 1.6, "CUDA is not available to PyTorch", with_("torch.asks_cuda")),
        ("told.after_update", 1.0, "it began with an update of the system", with_("nvidia.no_comm", "nvidia.smi", "kernel.")),
        ("title.no_cuda", 0.9, "there is said to be no CUDA", _nothing_else),
        ("title.trouble", 1.7, "the driver is said to fail", _of("driver")),
        ("title.trouble", 1.0, "no GPU is found", _of(_NOT_FOUND)),
        ("title.trouble", 0.4, _ANY, _nothing_else),
    ),
    *of(
        "driver.too_old",
        ("title.driver_needed", 2.5, "a newer driver is said to be needed"),
        ("title.trouble", 1.7, "the driver is said to fail", _of("driver")),
        ("title.trouble", 0.5, _ANY, _nothing_else),
    ),
    *of(
        "container.no_gpu",
        ("title.bare_false", 2.6, "CUDA is not available inside the container", all_of(with_("torch.asks_cuda"), in_container)),
        ("title.bare_false", 1.0, "CUDA is not available to PyTorch", with_("torch.asks_cuda")),
        ("told.on_host", 1.8, "on the host it works", in_container),
        ("title.trouble", 1.6, "a container is said to fail", _of(r"docker|container|\bpods?\b|kube")),
        ("title.trouble", 1.3, "the GPU is said to fail inside a container", all_of(_nothing_else, in_container)),
    ),
    *of("wsl.setup", ("title.trouble", 1.5, "the GPU is said to fail under WSL", all_of(_nothing_else, in_wsl))),
    *of(
        "device.hardware",
        ("told.random", 1.2, "it comes at random", with_("cuda.launch", "cuda.illegal", "cuda.unknown", "nvidia.", "kernel.", "cudnn.exec", "cuda.ecc")),
        ("title.shutdown", 2.2, "the machine goes down under load", _nothing_else),
        ("title.crash", 0.4, "it crashes", _nothing_else),
        ("title.trouble", 2.0, "the GPU vanishes", _of(r"disappear|vanish|\blost\b|temperature|overheat")),
    ),
    *of(
        "memory.oom",
        ("title.oom", 2.2, "memory is said to run out", _nothing_else),
        ("title.fragmented", 1.2, "memory is said to be in pieces", _nothing_else),
        ("title.held", 1.0, "memory is said not to be given back", _nothing_else),
        ("told.smaller", 1.8, "less at once is said to help", _MEMORY),
        ("title.trouble", 1.8, "memory is said to fail", _of(r"memory|vram|too (?:large|big)")),
    ),
    *of(
        "memory.fragmentation",
        ("title.fragmented", 2.8, "memory is said to be in pieces"),
        ("title.oom", 0.6, "memory is said to run out", _nothing_else),
    ),
    *of(
        "memory.other_process",
        ("title.held", 2.7, "another process, or a dead one, is said to hold the memory"),
        ("title.held", 3.4, "another process, or a dead one, is said to hold the memory", with_("memory.", "cuda.out_of_memory")),
        ("title.oom", 1.2, "memory is said to run out", _nothing_else),
        ("title.trouble", 0.9, "memory is said to fail", _of("memory|vram")),
    ),
    *of(
        "memory.host",
        ("title.oom", 2.4, "the host's memory is said to run out", line(r"\b(?:ram|system memory|host memory|cpu memory)\b")),
        ("title.oom", 0.9, "memory is said to run out", _nothing_else),
        ("title.killed", 2.2, "the process is said to be killed, as the kernel does for memory"),
        ("title.shutdown", 0.6, "the machine goes down", _nothing_else),
        ("title.crash", 0.5, "it crashes", _nothing_else),
    ),
    *of(
        "memory.preallocation",
        ("told.growth", 2.6, "memory growth is in play", _MEMORY),
        ("told.growth", 1.0, "memory growth is in play"),
    ),
    *of(
        "framework.extension_abi",
        ("title.undefined_symbol", 2.8, "a library lacks a symbol that is asked for", no(field("object", r".*lib(?:cu|nv)"))),
        ("title.undefined_symbol", 1.2, "a library lacks a symbol that is asked for"),
        ("title.trouble", 0.8, "an extension is said to fail", _of("extension")),
        ("title.trouble", 0.3, _ANY, _nothing_else),
    ),
    *of(
        "cuda.mixed_libraries",
        ("told.path_conflict", 2.4, "LD_LIBRARY_PATH leads to another copy first"),
        ("title.undefined_symbol", 2.8, "{object} meets another copy than its own", field("object", r".*lib(?:cu(?!dnn)|nv)")),
        ("title.undefined_symbol", 1.4, "a library lacks a symbol that is asked for"),
        ("title.trouble", 0.1, _ANY, _nothing_else),
    ),
    *of(
        "cudnn.mixed_libraries",
        ("title.undefined_symbol", 2.8, "{object} meets parts of another cuDNN", field("object", r".*cudnn")),
    ),
    *of(
        "cudnn.missing",
        ("title.undef_var", 3.2, "{library} is not found", field("library", "libcudnn")),
        ("title.trouble", 1.6, "cuDNN is said to fail", _of("cudnn")),
    ),
    *of(
        "cuda.missing_library",
        ("title.undef_var", 3.0, "{library} is not found", no(field("library", "libcudnn"))),
        ("title.trouble", 0.3, _ANY, _nothing_else),
    ),
    *of(
        "env.path",
        ("told.path_conflict", 1.6, "LD_LIBRARY_PATH is at fault"),
        ("title.undef_var", 1.8, "{library} may lie outside the folders the loader searches"),
        ("told.ide", 2.4, "one shell finds it, another does not", with_("loader.", "windows.", "build.", "tf.", "torch.", "title.")),
        ("title.trouble", 0.2, _ANY, _nothing_else),
    ),
    *of(
        "cuda.version_mismatch",
        ("title.trouble", 2.2, "two CUDA versions are named", all_of(_nothing_else, _two_cudas)),
        ("title.undef_var", 1.0, "{library} may be of another version"),
        ("title.trouble", 1.6, "versions are said to be wrong", _of("version|compatib")),
        ("title.trouble", 0.9, _ANY, _nothing_else),
    ),
    *of(
        "cudnn.version_mismatch",
        ("title.trouble", 1.7, "cuDNN is said to fail", _of("cudnn")),
        ("title.trouble", 0.3, _ANY, _nothing_else),
    ),
    *of(
        "framework.gpu_unsupported",
        ("told.other_gpu", 1.4, "with another GPU it works, or the GPU is new", with_("cuda.", "cudnn.", "cublas.", "title.", "nvrtc.", "triton.")),
        ("title.trouble", 1.5, "something is not supported", _of("not support|unsupported|capability")),
        ("title.trouble", 0.6, _ANY, _nothing_else),
    ),
    *of(
        "framework.cpu_only",
        ("title.bare_false", 2.4, "CUDA is not available to PyTorch", with_("torch.asks_cuda")),
        ("title.trouble", 1.2, "no GPU is found", _of(_NOT_FOUND)),
        ("title.trouble", 0.5, _ANY, _nothing_else),
    ),
    *of(
        "framework.platform_dropped",
        ("title.trouble", 1.8, "the system is said not to be supported", _of(r"(?:windows|macos|mac)\b[^\n]{0,40}(?:not|un) ?support")),
        ("title.trouble", 0.7, "the GPU is said to fail on Windows", all_of(_nothing_else, on_windows)),
    ),
    *of(
        "framework.bug",
        ("told.other_release", 1.6, "another release is said to work"),
        ("title.crash", 1.6, "it crashes", all_of(_nothing_else, no(with_("python.numpy_abi")))),
        ("title.held", 0.8, "memory is said not to be given back", _nothing_else),
        ("title.trouble", 1.0, _ANY, _nothing_else),
    ),
    *of("install.conflict", ("title.two_packages", 2.5, "two packages that provide the same files are named together")),
    *of(
        "distributed.nccl",
        ("told.second_gpu", 0.9, "several GPUs work together", with_("nccl.", "title.hang")),
        ("title.trouble", 1.8, "NCCL is said to fail", _of(r"nccl|distributed|multi-?(?:gpu|node)")),
        ("title.trouble", 1.2, "several GPUs work together", all_of(_nothing_else, with_("nccl.here", "told.second_gpu"))),
    ),
    *of(
        "program.build",
        ("title.trouble", 1.6, "a build is said to fail", _of(r"compil|\bbuild|nvcc|cmake")),
        ("title.trouble", 1.0, "a build is said to fail", all_of(_nothing_else, with_("build.here", "build.failed", "told.nvcc"))),
    ),
    *of(
        "other.not_gpu",
        ("title.trouble", 0.4, "the GPU need not be at fault", _nothing_else),
        ("title.crash", 0.6, "a crash that says nothing", all_of(_nothing_else, no(with_("python.numpy_abi")))),
    ),
)  # fmt: skip
