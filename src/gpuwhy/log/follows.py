"""Follows: which message an earlier one explains; the first error decides, not the loudest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpuwhy.log.ending import Ending
from gpuwhy.log.endings import Course
from gpuwhy.log.expressions import Expression
from gpuwhy.log.match import Found

UNSEEN = "messages:no_gpu_seen"
_STARTED = tuple(
    f"container.{name}"
    for name in (
        "no_ cdi k8s requirement load_ml denied cgroup plugin wsl device_error smi_missing "
        "singularity driver_release ngc_banner"
    ).split()
)
"""What went wrong before a container's program began."""

FOLLOWS: tuple[tuple[str, str], ...] = (
    (
        "program.assertion program.index cuda.assert",
        "cuda. cublas. cudnn. cusolver. cusparse. nccl. torch.internal_assert program.illegal",
    ),
    (  # errors that stay: every later call in the process answers with one
        "cuda.illegal_address cuda.illegal_instruction cuda.launch_failed cuda.launch_timeout "
        "cuda.misaligned_address cuda.invalid_address_space cuda.invalid_pc "
        "cuda.hardware_stack_error cuda.ecc_uncorrectable program.illegal_words said.debugger",
        "cublas. cudnn. cusolver. cusparse. cufft. curand. nccl.unhandled cuda. tf. "
        "program.context said.dead_context",
    ),
    (
        "kernel.xid kernel.off_bus nvidia.lost",
        "cuda. cublas. cudnn. nccl. nvidia.no_handle",
    ),
    (
        "memory.torch_oom cuda.out_of_memory memory.tf_grab memory.bfc",
        "cublas. cudnn. tf.blas tf.cudnn_handle tf.conv_algorithm tf.no_algorithm",
    ),
    (
        "tf.cudnn_loaded",
        "tf.conv_algorithm tf.cudnn_handle tf.dnn_init cudnn. tf.no_algorithm",
    ),
    (
        "loader.tf_skip tf.skipping tf.no_kernel_driver tf.no_cuda_drivers torch.no_ "
        "tf.ignored_gpu torch.cpu_build",
        f"{UNSEEN} torch.falls_back",
    ),
    ("tf.cudnn_version", "cudnn. tf.skipping loader.tf_skip"),
    (
        "jax.unable_to_load jax.found_version jax.plugin_abi jax.unable_to_use "
        "cuda.shared_object_init_failed",
        "jax.cpu_build jax.falls_back jax.unknown_backend jax.no_visible title.no_cuda",
    ),
    ("loader.tf_skip", "tf.skipping"),
    (  # the GPU was lost before: an operation that only it has is refused on the CPU
        "cuda.no_device cuda.shared_object_init_failed tf.no_kernel_driver tf.no_cuda_drivers "
        "loader.tf_skip",
        "program.layout",
    ),
    (
        "tf.cudnn_handle cudnn.",
        "tf.conv_algorithm tf.dnn_init tf.conv_check tf.blas tf.no_algorithm",
    ),
    (
        "loader. windows.",
        f"tf.skipping tf.libcuda_absent tf.cpu_device_only loader.tf_skip {UNSEEN} "
        "ort.create_failed ort.not_available ort.listed torch.unavailable "
        "cuda.shared_object_init_failed tf.no_kernel_driver tf.no_cuda_drivers jax.backend "
        "jax.no_visible",
    ),
    (
        "cuda.stub_library cuda.system_ cuda.compat_ cuda.no_device cuda.unknown "
        "cuda.insufficient_driver cuda.device_unavailable torch.driver_too_old",
        f"jax. tf.no_kernel_driver {UNSEEN} torch.unavailable torch.no_gpus ort. "
        "nccl.unhandled tf.cpu_device_only nccl.other",
    ),
    (
        "torch.arch_unsupported torch.gpu_too_old cuda.no_binary_for_gpu",
        "cuda. cublas. cudnn.",
    ),
    ("memory.shm memory.worker_killed memory.killer", "signal. nccl. memory.worker_gone"),
    (" ".join(_STARTED), "nvidia. container.generic cuda."),
    ("torch.fork numba.forked", "cuda.not_initialized program.fork cuda."),
    ("torch.xformers_unbuilt", "torch.capability_short program.dtype program.shape"),
    ("build.", "build.failed packages.no_match_other"),
    (
        "cuda. cudnn. cublas. nccl. loader. torch. tf. memory. jax. ort. build. program. limit. "
        "order. launch.",
        "signal.abort signal.segv signal.kernel_died signal.windows ntstatus. torch.elastic "
        "tf.native_runtime nccl.timeout python.module python.import_name python.attribute "
        "python.exception python.runtime python.keras python.http python.command python.glibc",
    ),
)
"""An earlier message of the first ids or families explains later ones of the second."""
FALLBACKS = (
    *("jax.cpu_build", "jax.falls_back", "jax.backend", "jax.unknown_backend"),
    "jax.no_visible",
)
"""By which JAX goes on without its plugin, or misses it later."""
_LOST = ("peer.gone", "peer.late", "peer.died", "nccl.remote_error", "torch.elastic")
"""What the others see of a process that ended for a reason of its own."""
_REASONS = (
    *("cuda.", "cudnn.", "cublas.", "cusolver.", "loader.", "memory.", "program.", "limit."),
    *("order.", "launch.", "kernel.", "build.", "install.", "jax.unable", "torch.", "tf.", "ort."),
    *("packages.partial", "python.module", "python.import_name", "python.attribute"),
    "python.exception",
)
_AROUND = "limit.moved_cache"
_PLACES = ("limit.cache", "limit.closed", "limit.read_only", "limit.space", "limit.temporary")
_NOTES = ("loader.tf_dso", "loader.tf_skip", "tf.skipping", "windows.could_not_find")
"""TensorFlow goes on without the library it misses."""
_OWN = ("python.module", "python.import_name", "python.attribute", "python.exception")
_PLAIN = (*_OWN, "tf.old_api", "python.http", "ort.no_model", "limit.", "order.", "peer.")
_ENDS = (*_PLAIN, "memory.", "program.")
"""What ends a program for a reason of its own: a warning before it is another matter."""
_OPTIONAL = ("tf.ptxas_missing",)
_REFUSED = (
    *("cuda.", "loader.", "windows.", "tf.no_cuda_drivers", "tf.no_kernel_driver"),
    *("tf.skipping", "jax.unable"),
)
"""What tells why a framework finds no GPU."""
_TAKES = Expression("follows.takes")
_GPU = Expression("follows.gpu")


class Follower:
    """Ties each message to the first that explains it."""

    def __init__(self, course: Course, sets: Mapping[str, tuple[str, ...]]) -> None:
        self.ending, self.course = course.ending, course
        self.table = [
            (tuple(keys.split()), _expanded(values.split(), sets)) for keys, values in FOLLOWS
        ]
        self._known: dict[tuple[str, str], bool] = {}
        self.plugins = [
            one
            for one in course.outlived
            if any(frame.owner.startswith("jax_plugins") for frame in one.stack)
        ]

    def tie(self, messages: Sequence[Found]) -> None:
        """Set `explained_by` of all that an earlier message explains."""
        for place, one in enumerate(messages):
            if one.explained_by < 0:
                one.explained_by = self._cause(one, messages[:place])
        _tie_to_notes(messages)
        _tie_lost_peers(messages)
        _outrank(messages)

    def _cause(self, one: Found, before: Sequence[Found]) -> int:
        first = [(place, e) for place, e in enumerate(before) if e.explained_by < 0]
        if one.role in ("error", "echo"):
            for place, early in first:
                if self._linked(early, one) and self._explains(early, one):
                    return place
        errors = [(place, e) for place, e in first if e.role == "error"]
        if one.id.startswith(FALLBACKS):
            held = (p for p, e in errors if any(two.holds(e.line) for two in self.plugins))
            return next(held, -1)
        if one.id in _OWN and is_within(one, self.ending) and self._takes_a_gpu():
            return next((p for p, e in errors if e.id.startswith(_REFUSED)), -1)
        return -1

    def _takes_a_gpu(self) -> bool:
        """Whether the line that raised it takes a GPU from those that a framework finds."""
        frame = self.ending.frame
        return frame is not None and _TAKES.search(frame.code) is not None

    def _linked(self, early: Found, late: Found) -> bool:
        if early.rank != late.rank and early.rank and late.rank:
            return late.id.startswith((*_LOST, "nccl.", "peer."))
        return not self.ending.own or is_within(early, self.ending) == is_within(late, self.ending)

    def _explains(self, early: Found, late: Found) -> bool:
        if early.role != "error" or early.line > late.line or early.id == late.id:
            return False
        if late.id in _OWN:
            mild = early.warning and not _GPU.search(late.text)
            if early.id in _NOTES or mild:
                return False
        pair = early.id, late.id
        if pair not in self._known:
            self._known[pair] = any(
                early.id.startswith(keys) and late.id.startswith(values)
                for keys, values in self.table
            )
        return self._known[pair]


def is_within(one: Found, ending: Ending) -> bool:
    """Whether the ending says it, though it may have been said before."""
    return ending.holds(one.line) or (one.last > 0 and ending.holds(one.last))


def _expanded(values: Sequence[str], sets: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    out: list[str] = []
    for one in values:
        named = one.removeprefix("messages:")
        out += [one] if named == one else sets.get(named, ())
    return tuple(out)


def _tie_to_notes(messages: Sequence[Found]) -> None:
    """A closed folder is tied to the note that another one was taken; a warning of one is calm."""
    notes = [(place, one) for place, one in enumerate(messages) if one.id == _AROUND]
    for place, one in enumerate(messages):
        if one.id.startswith(_PLACES[:3]):
            near = (at for at, note in notes if 0 <= note.line - one.line <= 3)
            one.explained_by = next(near, one.explained_by)
        if one.role == "error" and one.warning and one.id.startswith(_PLACES):
            one.role = "harmless"
            one.explained_by = place


def _tie_lost_peers(messages: Sequence[Found]) -> None:
    """A lost peer is tied to the error that tells why it was lost, wherever that stands."""
    reason = next(
        (
            place
            for place, one in enumerate(messages)
            if one.role == "error"
            and one.explained_by < 0
            and not one.warning
            and one.id.startswith(_REASONS)
            and not one.id.startswith(_LOST)
        ),
        -1,
    )
    files = next(
        (p for p, one in enumerate(messages) if one.role == "error" and one.id == "limit.files"), -1
    )
    for place, one in enumerate(messages):
        if one.explained_by >= 0:
            continue
        if one.id.startswith(_LOST):
            one.explained_by = reason if reason != place else -1
        elif one.id.startswith("memory.shm"):
            one.explained_by = files


def _outrank(messages: Sequence[Found]) -> None:
    """A warning that the program outlived gives way to what ended it for a reason of its own."""
    own = [
        one for one in messages if one.role == "error" and one.explained_by < 0 and not one.warning
    ]
    ends = [one for one in own if one.id.startswith(_ENDS)]
    for one in messages:
        mild = one.role == "error" and (one.warning or one.id in _OPTIONAL)
        if mild and any(_ends_after(end, one) for end in ends):
            one.role = "echo"


def _ends_after(end: Found, one: Found) -> bool:
    other = end.id.split(".")[0] != one.id.split(".")[0]
    return end.line > one.line and (end.id.startswith(_PLAIN) or other)
