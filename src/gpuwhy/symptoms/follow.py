"""Which message is explained by an earlier one: the first error decides, not the loudest."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from gpuwhy.knowledge.messages import UNSEEN
from gpuwhy.model.ending import Ending
from gpuwhy.model.symptom import Symptom

NONE = Ending()

# What went wrong before a container's program began; "OCI runtime create failed" only says that something did.
_STARTED = (
    *(
        f"container.{name}"
        for name in ("no_", "cdi", "k8s", "requirement", "load_ml", "denied", "cgroup", "plugin", "wsl")
    ),
    *(f"container.{name}" for name in ("device_error", "smi_missing", "singularity", "driver_release", "ngc_banner")),
)

# An earlier message that starts with the key explains later ones that start with one of the values.
FOLLOWS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (
        ("program.assertion", "program.index", "cuda.assert"),
        ("cuda.", "cublas.", "cudnn.", "cusolver.", "cusparse.", "nccl.", "torch.internal_assert", "program.illegal"),
    ),
    (
        (  # errors that stay: every later call in the process answers with one
            "cuda.illegal_address",
            "cuda.illegal_instruction",
            "cuda.launch_failed",
            "cuda.launch_timeout",
            "cuda.misaligned_address",
            "cuda.invalid_address_space",
            "cuda.invalid_pc",
            "cuda.hardware_stack_error",
            "cuda.ecc_uncorrectable",
            "program.illegal_words",
            "said.debugger",
        ),
        (
            "cublas.",
            "cudnn.",
            "cusolver.",
            "cusparse.",
            "cufft.",
            "curand.",
            "nccl.unhandled",
            "cuda.",
            "tf.",
            "program.context",
            "said.dead_context",
        ),
    ),
    (("kernel.xid", "kernel.off_bus", "nvidia.lost"), ("cuda.", "cublas.", "cudnn.", "nccl.", "nvidia.no_handle")),
    (
        ("memory.torch_oom", "cuda.out_of_memory", "memory.tf_grab", "memory.bfc"),
        ("cublas.", "cudnn.", "tf.blas", "tf.cudnn_handle", "tf.conv_algorithm", "tf.no_algorithm"),
    ),
    (("tf.cudnn_loaded",), ("tf.conv_algorithm", "tf.cudnn_handle", "tf.dnn_init", "cudnn.", "tf.no_algorithm")),
    (
        (
            "loader.tf_skip",
            "tf.skipping",
            "tf.no_kernel_driver",
            "tf.no_cuda_drivers",
            "torch.no_",
            "tf.ignored_gpu",
            "torch.cpu_build",
        ),
        (*UNSEEN, "torch.falls_back"),
    ),
    (("tf.cudnn_version",), ("cudnn.", "tf.skipping", "loader.tf_skip")),
    (
        (
            "jax.unable_to_load",
            "jax.found_version",
            "jax.plugin_abi",
            "jax.unable_to_use",
            "cuda.shared_object_init_failed",
        ),
        ("jax.cpu_build", "jax.falls_back", "jax.unknown_backend", "jax.no_visible", "title.no_cuda"),
    ),
    (("loader.tf_skip",), ("tf.skipping",)),
    (  # the GPU was lost before: an operation that only it has is refused on the CPU
        (
            "cuda.no_device",
            "cuda.shared_object_init_failed",
            "tf.no_kernel_driver",
            "tf.no_cuda_drivers",
            "loader.tf_skip",
        ),
        ("program.layout",),
    ),
    (
        ("tf.cudnn_handle", "cudnn."),
        ("tf.conv_algorithm", "tf.dnn_init", "tf.conv_check", "tf.blas", "tf.no_algorithm"),
    ),
    (
        ("loader.", "windows."),
        (
            "tf.skipping",
            "tf.libcuda_absent",
            "tf.cpu_device_only",
            "loader.tf_skip",
            *UNSEEN,
            "ort.create_failed",
            "ort.not_available",
            "ort.listed",
            "torch.unavailable",
            "cuda.shared_object_init_failed",
            "tf.no_kernel_driver",
            "tf.no_cuda_drivers",
            "jax.backend",
            "jax.no_visible",
        ),
    ),
    (
        (
            "cuda.stub_library",
            "cuda.system_",
            "cuda.compat_",
            "cuda.no_device",
            "cuda.unknown",
            "cuda.insufficient_driver",
            "cuda.device_unavailable",
            "torch.driver_too_old",
        ),
        (
            "jax.",
            "tf.no_kernel_driver",
            *UNSEEN,
            "torch.unavailable",
            "torch.no_gpus",
            "ort.",
            "nccl.unhandled",
            "tf.cpu_device_only",
            "nccl.other",
        ),
    ),
    (("torch.arch_unsupported", "torch.gpu_too_old", "cuda.no_binary_for_gpu"), ("cuda.", "cublas.", "cudnn.")),
    (("memory.shm", "memory.worker_killed", "memory.killer"), ("signal.", "nccl.", "memory.worker_gone")),
    (_STARTED, ("nvidia.", "container.generic", "cuda.")),
    (("torch.fork", "numba.forked"), ("cuda.not_initialized", "program.fork", "cuda.")),
    (("torch.xformers_unbuilt",), ("torch.capability_short", "program.dtype", "program.shape")),
    (("build.",), ("build.failed", "packages.no_match_other")),
    (
        (
            "cuda.",
            "cudnn.",
            "cublas.",
            "nccl.",
            "loader.",
            "torch.",
            "tf.",
            "memory.",
            "jax.",
            "ort.",
            "build.",
            "program.",
            "limit.",
            "order.",
            "launch.",
        ),
        (
            "signal.abort",
            "signal.segv",
            "signal.kernel_died",
            "signal.windows",
            "ntstatus.",
            "torch.elastic",
            "tf.native_runtime",
            "nccl.timeout",
            "python.module",
            "python.import_name",
            "python.attribute",
            "python.exception",
            "python.runtime",
            "python.keras",
            "python.http",
            "python.command",
            "python.glibc",
        ),
    ),
)


FALLBACKS = ("jax.cpu_build", "jax.falls_back", "jax.backend", "jax.unknown_backend", "jax.no_visible")
"""By which JAX goes on without its plugin, or misses it later."""


def attached(
    symptoms: Sequence[Symptom], ending: Ending = NONE, outlived: Sequence[Ending] = ()
) -> tuple[Symptom, ...]:
    """The same symptoms, each follow-on tied to the first that explains it; nothing before explains its own ending.

    `outlived` are the exceptions that were written down: where a plugin's start raised one, that is why it is missed.
    """
    reasons = [one for one in outlived if any(f.owner.startswith("jax_plugins") for f in one.stack)]
    out: list[Symptom] = []
    for one in symptoms:
        cause = _cause(one, [earlier for earlier in out if earlier.follows < 0], ending, reasons)
        out.append(msgspec.structs.replace(one, follows=cause) if cause >= 0 else one)
    return _outranked(_lost(_mended(out)))


def _cause(one: Symptom, first: Sequence[Symptom], ending: Ending, reasons: Sequence[Ending]) -> int:
    """Which of the symptoms before it explains it; -1 where none does."""
    explains = (e for e in first if _linked(e, one, ending) and _explains(e, one))
    if one.role in ("error", "echo") and (found := next(explains, None)):
        return found.order
    errors = [e for e in first if e.role == "error"]
    if one.signature.startswith(FALLBACKS):
        return next((e.order for e in errors if _holds(reasons, e.line)), -1)
    return _refused(one, errors, ending)


def _refused(one: Symptom, errors: Sequence[Symptom], ending: Ending) -> int:
    """What tells why there is no GPU, of an ending that takes one from a framework's list."""
    if one.signature not in _OWN or not one.within(ending) or not _asks_for_gpu(ending):
        return -1
    return next((e.order for e in errors if e.signature.startswith(_REFUSED)), -1)


def _asks_for_gpu(ending: Ending) -> bool:
    """Whether the line that raised it takes a GPU from those that a framework finds."""
    return ending.frame is not None and _TAKES.search(ending.frame.code) is not None


_TAKES = re.compile(
    r"list_physical_devices|list_logical_devices|\bdevices\(|is_available|device_count|gpus?\[|get_device"
)
_REFUSED = ("cuda.", "loader.", "windows.", "tf.no_cuda_drivers", "tf.no_kernel_driver", "tf.skipping", "jax.unable")
"""What tells why a framework finds none."""


def _holds(endings: Sequence[Ending], line: int) -> bool:
    return any(one.holds(line) for one in endings)


_AROUND = "limit.moved_cache"


def _mended(symptoms: Sequence[Symptom]) -> list[Symptom]:
    """The same symptoms; a closed folder tied to the note that another one was taken, a mere warning of one calmed."""
    notes = [s for s in symptoms if s.signature == _AROUND]

    def by(one: Symptom) -> int:
        near = (s.order for s in notes if 0 <= s.line - one.line <= 3)
        return next(near, -1) if one.signature.startswith(("limit.cache", "limit.closed", "limit.read_only")) else -1

    tied = (msgspec.structs.replace(s, follows=by(s)) if by(s) >= 0 else s for s in symptoms)
    return [msgspec.structs.replace(s, role="harmless", follows=s.order) if _only_warned(s) else s for s in tied]


def _only_warned(one: Symptom) -> bool:
    """A place that Python warned of: the program went on without it."""
    return one.role == "error" and one.warned and one.signature.startswith(_PLACES)


_PLACES = ("limit.cache", "limit.closed", "limit.read_only", "limit.space", "limit.temporary")


_LOST = ("peer.gone", "peer.late", "peer.died", "nccl.remote_error", "torch.elastic")
"""What the others see of a process that ended for a reason of its own, before or after it told that reason."""
_REASONS = (
    "cuda.", "cudnn.", "cublas.", "cusolver.", "loader.", "memory.", "program.", "limit.", "order.", "launch.",
    "kernel.", "build.", "install.", "jax.unable", "torch.", "tf.", "ort.", "packages.partial",
    "python.module", "python.import_name", "python.attribute", "python.exception",
)  # fmt: skip


def _lost(symptoms: Sequence[Symptom]) -> list[Symptom]:
    """The same symptoms, a lost peer tied to the error that tells why it was lost, wherever that stands."""
    reason = next(
        (
            s.order
            for s in symptoms
            if s.role == "error" and s.follows < 0 and not s.warned and s.signature.startswith(_REASONS)
            and not s.signature.startswith(_LOST)
        ),
        -1,
    )  # fmt: skip
    return _told_by(_told_by(symptoms, _LOST, reason), ("memory.shm",), _first_of(symptoms, "limit.files"))


def _first_of(symptoms: Sequence[Symptom], signature: str) -> int:
    return next((s.order for s in symptoms if s.role == "error" and s.signature == signature), -1)


def _told_by(symptoms: Sequence[Symptom], which: tuple[str, ...], reason: int) -> list[Symptom]:
    """The same symptoms, some of them tied to a reason, wherever that stands; as they are where there is none."""
    return [
        msgspec.structs.replace(s, follows=reason)
        if reason >= 0 and s.follows < 0 and s.signature.startswith(which)
        else s
        for s in symptoms
    ]


# TensorFlow goes on without the library it misses: what Python itself raises later has a reason of its own.
_NOTES = ("loader.tf_dso", "loader.tf_skip", "tf.skipping", "windows.could_not_find")
_OWN = ("python.module", "python.import_name", "python.attribute", "python.exception")
_PLAIN = (*_OWN, "tf.old_api", "python.http", "ort.no_model", "limit.", "order.", "peer.")
_ENDS = (*_PLAIN, "memory.", "program.")
"""What ends a program for a reason of its own: a warning before it is another matter."""
_OPTIONAL = ("tf.ptxas_missing",)
"""What is only noted where the program goes on."""
_GPU = re.compile(r"cuda|gpu|nvidia|cudnn|nccl|device|driver|libcu|backend|provider", re.IGNORECASE)


def _ends_after(end: Symptom, one: Symptom) -> bool:
    return end.line > one.line and (end.signature.startswith(_PLAIN) or end.speaker != one.speaker)


def _outranked(symptoms: Sequence[Symptom]) -> tuple[Symptom, ...]:
    """A warning that the program outlived and that does not explain its end is told beside that, not before it."""
    own = [one for one in symptoms if one.role == "error" and one.follows < 0 and not one.warned]
    ends = [one for one in own if one.signature.startswith(_ENDS)]
    return tuple(msgspec.structs.replace(one, role="echo") if _gives_way(one, ends) else one for one in symptoms)


def _gives_way(one: Symptom, ends: Sequence[Symptom]) -> bool:
    mild = one.role == "error" and (one.warned or one.signature in _OPTIONAL)
    return mild and any(_ends_after(end, one) for end in ends)


def _linked(early: Symptom, late: Symptom, ending: Ending) -> bool:
    return not ending.own or early.within(ending) == late.within(ending)


def _explains(early: Symptom, late: Symptom) -> bool:
    if early.role != "error" or early.line > late.line or early.signature == late.signature:
        return False
    if late.signature in _OWN and (early.signature in _NOTES or (early.warned and not _GPU.search(late.text))):
        return False
    return any(early.signature.startswith(keys) and late.signature.startswith(values) for keys, values in FOLLOWS)
