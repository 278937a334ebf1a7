"""Names: what {name} stands for in a row, and what its conditions ask for.

First a field of the message, then what is derived here, then the place, then the Case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import msgspec

from gpuwhy.advise import versions
from gpuwhy.advise.place import Place
from gpuwhy.diagnose.diagnosis import Ranked
from gpuwhy.knowledge.archs import last_driver_branch
from gpuwhy.knowledge.drivers import cuda_of_driver
from gpuwhy.knowledge.libraries import cuda_of
from gpuwhy.knowledge.torch_builds import index_of
from gpuwhy.log.case import Figures, Release, Stated
from gpuwhy.log.log import Log
from gpuwhy.log.message import Message

if TYPE_CHECKING:
    from gpuwhy.choose.choice import Pick
    from gpuwhy.facts.facts import Facts

GIB = 1 << 30
_STUBS = re.compile(r"(/[^\s:'\"]*?/stubs)\b")
_COMPAT = re.compile(r"(/[^\s:'\"]*?/compat)\b")
_AMD = re.compile(
    r"radeon|\bamdgpu|/rocm|\brocm-?\d|\bgfx\d{3,4}|\bamd gpu|\brx ?[4-9]\d{2,3}\b", re.IGNORECASE
)
_SO = re.compile(r"lib[\w+-]+\.so(?:\.\d+)*", re.IGNORECASE)
_DLL = re.compile(r"[\w.-]+\.dll", re.IGNORECASE)


class Around(msgspec.Struct, frozen=True):
    """What a remedy is chosen by."""

    ranked: Ranked
    log: Log
    facts: Facts | None
    place: Place
    holes: Mapping[str, str] = {}  # what the places of a precedent's phrases stand for


class Names:
    """The names of one message of one text."""

    def __init__(self, around: Around, message: Message | None = None) -> None:
        self.around = around
        self.message = message
        self._known: dict[str, str] = {}
        self._values = _values(around.ranked)

    def get(self, name: str) -> str:
        """What a name stands for; "" where the text does not state it."""
        if name not in self._known:
            self._known[name] = self._look(name)
        return self._known[name]

    def _look(self, name: str) -> str:
        if self.message is not None and (said := self.message.get(name)):
            return said
        if self.message is not None and name in ("line", "message"):
            return self.message.text if name == "line" else self.message.id
        derived = DERIVED.get(name)
        if derived is not None:
            self._known[name] = ""  # a name that asks for itself has no value
            return derived(self)
        if name in self._values:
            return self._values[name]
        if name in Place.__struct_fields__:
            return _plain(getattr(self.around.place, name))
        return _plain(getattr(self.around.log.case, name, ""))

    @property
    def lines(self) -> str:
        """Every message's line, the deciding ones first."""
        known = self.around.log.messages
        return "\n".join(one.text for one in sorted(known, key=lambda one: not one.decides))


def _values(ranked: Ranked) -> dict[str, str]:
    """What the findings behind a cause were filled with, the first one's first."""
    out: dict[str, str] = {}
    for reason in reversed(ranked.because):
        for name, value in reason.values.items():
            out[name] = ", ".join(value) if isinstance(value, tuple) else str(value)
    return out


def _plain(value: object) -> str:
    """A value of the Case or the Place as text."""
    if isinstance(value, Stated):
        return _plain(value.value)
    if isinstance(value, bool):
        return "yes" if value else ""
    if isinstance(value, Release):
        return value.name
    if isinstance(value, tuple):
        return _plain(value[0]) if value else ""
    if isinstance(value, dict) or value is None:
        return ""
    return str(value)


def size(amount: int | None) -> str:
    """Bytes as a person reads them."""
    if not amount:
        return ""
    return f"{amount / GIB:.2f} GiB" if amount >= GIB else f"{amount / (1 << 20):.0f} MiB"


_SAME = {"pytorch": "torch", "tensorflow-gpu": "tensorflow", "jaxlib": "jax", "keras": "tensorflow"}
_OF_FAMILY = {
    "torch": "torch",
    "tf": "tensorflow",
    "jax": "jax",
    "ort": "onnxruntime",
    "cupy": "cupy",
    "paddle": "paddle",
    "mxnet": "mxnet",
}
_OF_MESSAGE = {
    "memory.torch_oom": "torch",
    "memory.torch_oom_bare": "torch",
    "memory.tf_oom": "tensorflow",
    "memory.bfc": "tensorflow",
    "memory.xla_oom": "jax",
}
"""Messages that one framework alone prints."""
WITH_CUDA = {
    "torch": "torch",
    "tensorflow": "tensorflow[and-cuda]",
    "jax": "jax[cuda12]",
    "onnxruntime": "onnxruntime-gpu[cuda,cudnn]",
    "paddle": "paddlepaddle-gpu",
    "mxnet": "mxnet-cu112",
}
SEES_GPU = {
    "torch": "import torch; print(torch.cuda.is_available())",
    "tensorflow": "import tensorflow as tf; print(tf.config.list_physical_devices('GPU'))",
    "jax": "import jax; print(jax.devices())",
    "onnxruntime": "import onnxruntime as o; print(o.get_available_providers())",
    "cupy": "import cupy; print(cupy.cuda.runtime.getDeviceCount())",
}
"""What prints whether a framework sees the GPU."""
_GROWTH = {
    "tensorflow": "TF_FORCE_GPU_ALLOW_GROWTH=true",
    "jax": "XLA_PYTHON_CLIENT_PREALLOCATE=false",
}
"""What keeps a framework from taking the whole memory at its start."""


def framework_of(names: Names) -> str:
    """The framework that speaks, by the name of its package."""
    around = names.around
    found = around.log.case.framework.lower() or around.ranked.subject.partition(" ")[0].lower()
    if found:
        return _SAME.get(found, found)
    ids = [one.id for one in around.log.deciding if one.role in ("error", "echo")]
    of = (_OF_FAMILY.get(one.partition(".")[0]) or _OF_MESSAGE.get(one, "") for one in ids)
    return next(filter(None, of), "")


def _framework_release(names: Names) -> str:
    version = names.get("framework_version")
    return f"{names.get('framework')}=={version}" if version else names.get("framework")


def _with_cuda(names: Names) -> str:
    name, version = names.get("framework"), names.get("framework_version")
    spec = WITH_CUDA.get(name, name)
    old_tf = name == "tensorflow" and version and versions.older(version, "2.14")
    if old_tf:
        spec = "tensorflow" if not versions.older(version, "2.1") else "tensorflow-gpu"
    if name == "jax" and names.get("cuda_major") == "13":
        spec = "jax[cuda13]"
    return f"{spec}=={version}" if version and name != "jax" else spec


def _cuda(names: Names) -> str:
    case = names.around.log.case
    stated = case.built_for_cuda or case.runtime_cuda or case.toolkit_cuda
    return stated.value if stated else cuda_of(names.get("library"))


def _cuda_major(names: Names) -> str:
    major = names.get("cuda").partition(".")[0]
    return major if major.isdigit() else ""


def _suffix(names: Names) -> str:
    major = names.get("cuda_major") or versions.cuda_major_of(
        names.get("framework"), names.get("framework_version")
    )
    return "" if major == "13" else f"-cu{major or '12'}"


def _library(names: Names) -> str:
    """The file name of the library that the message names."""
    message = names.message
    said = (message.get("library") or message.get("file") or message.text) if message else ""
    found = _SO.search(said) or _DLL.search(said)
    return found[0] if found else ""


def _library_package(names: Names) -> str:
    file = names.get("library_file")
    of_any = "cudnn" in file or "nccl" in file  # their names do not show the CUDA release
    if of_any and names.get("framework") == "torch" and not names.get("cuda_major"):
        return ""
    return versions.package_of_library(names.get("library_file"), names.get("suffix"))


def _library_foreign(names: Names) -> str:
    """Whether the library is of another major CUDA release than the framework's build."""
    wanted = names.get("library_cuda").partition(".")[0].partition(" ")[0]
    own = names.get("cuda_major")
    return "yes" if wanted and own and wanted != own else ""


def _conda(names: Names) -> str:
    """Whether conda has the environment: it is the manager that the text names."""
    low = names.around.log.excerpt.lower()
    only = "conda" in low and "pip" not in low
    return "yes" if names.around.place.manager == "conda" or only else ""


def _program(names: Names) -> str:
    """The command line that the text shows for the program, else one to fill in."""
    for typed in names.around.log.case.commands:
        words = [word for word in typed.words if "=" not in word or word.startswith("-")]
        first = words[0].rpartition("/")[2] if words else ""
        if first.startswith("python") and len(words) > 1 and words[1] not in ("-c", "-m", "-V"):
            return " ".join(words)
        if first in ("torchrun", "accelerate", "deepspeed", "mpirun"):
            return " ".join(words)
    return f"python {names.get('script') or 'your_script.py'}"


def _script(names: Names) -> str:
    frame = names.around.log.ending.stack[0] if names.around.log.ending.stack else None
    file = frame.file.replace("\\", "/").rpartition("/")[2] if frame else ""
    return file if file.endswith(".py") else ""


def _at(names: Names) -> str:
    frame = names.around.log.ending.user_frame
    if frame is None:
        return ""
    file = frame.file.replace("\\", "/").rpartition("/")[2]
    return f"{file}:{frame.line}" if frame.line else file


def _memory(names: Names) -> Figures:
    return names.around.log.case.memory or Figures()


def _times(names: Names) -> str:
    """How many times too large the work is, where the figures show it."""
    figures = _memory(names)
    if not figures.asked or not figures.total:
        return ""
    held = figures.allocated or figures.held or 0
    most = figures.cap or figures.total
    return str(max(2, -(-(figures.asked + held) // most)))


def _cap_set_by(names: Names) -> str:
    """The variable or option that sets the cap that the text states."""
    variables = names.around.log.case.variables
    known = ("XLA_PYTHON_CLIENT_MEM_FRACTION", "TF_GPU_MEMORY_LIMIT", "CUPY_GPU_MEMORY_LIMIT")
    return next((one for one in known if one in variables), "")


_OF_GPU = (
    "tf.ignored_gpu",
    "torch.gpu_too_old",
    "torch.capability_min",
    "torch.capability_short",
    "tf.jit_from_ptx",
    "torch.arch_words",
    "said.built_for",
)
"""Messages whose field `has` is the GPU's compute capability."""
_BELOW = {
    "12.1": "9.0",
    "12.0": "9.0",
    "10.0": "9.0",
    "9.0": "8.0",
    "8.9": "8.6",
    "8.7": "8.6",
    "8.6": "8.0",
    "8.0": "7.5",
    "7.5": "7.0",
}
_CAPABILITY = re.compile(r"(?:sm_|compute_)?(\d+)\.?(\d)[af]?")


def _capability(names: Names) -> str:
    """The compute capability of the GPU that fails, by its message, else by what the text names."""
    said = [one for one in (names.message, *names.around.log.messages) if one is not None]
    for one in said:
        for field in ("capability", "arch", "sm", *(("has",) if one.id in _OF_GPU else ())):
            digits = _CAPABILITY.fullmatch(one.get(field))
            if digits:
                return f"{digits[1]}.{digits[2]}"
    return next((one.capability for one in names.around.log.case.gpus if one.capability), "")


def _folder(pattern: re.Pattern[str]) -> Callable[[Names], str]:
    def of(names: Names) -> str:
        case = names.around.log.case
        said = [one.value for one in (*case.libraries, *case.files)]
        said += [one.value for one in case.variables.values()]
        said += [names.get("path"), names.get("folder")]
        found = (pattern.search(one) for one in (*said, names.lines))
        return next((one[1] for one in found if one), "")

    return of


def _driver_wanted(names: Names) -> str:
    """The branch of a driver that is new enough for the CUDA that is named, and drives the GPU."""
    wanted = versions.driver_branch(names.get("wanted_cuda") or names.get("cuda"))
    last = names.get("driver_last")
    return "" if wanted and last and versions.older(last, wanted) else wanted


def _driver_cuda(names: Names) -> str:
    """The newest CUDA that the driver supports, as stated or by its version."""
    case = names.around.log.case
    if case.driver_cuda:
        return case.driver_cuda.value
    said = names.message.get("found") if names.message else ""
    if re.fullmatch(r"1\d0\d0", said):
        return f"{said[:2]}.{int(said[2:]) // 10}"
    return (cuda_of_driver(case.driver_version.value) or "") if case.driver_version else ""


def torch_pick(names: Names, version: str) -> Pick | None:
    """The PyTorch of a release for the stated driver, GPU and system; None where none goes with
    them, or nothing is known.
    """
    case = names.around.log.case
    driver = case.driver_version.value if case.driver_version else ""
    cuda, capability = names.get("driver_cuda"), names.get("capability")
    if not (version or driver or cuda or capability):
        return None
    system = "windows" if names.around.place.os == "windows" else "linux"
    return versions.torch_for(version.partition("+")[0], capability, driver, cuda, system)


def _torch_backend(names: Names) -> str:
    pick = torch_pick(names, names.get("framework_version"))
    return versions.backend_of(pick) if pick else ""


_WINDOWS_FOLDER = re.compile(r"[A-Za-z]:(?:\\{1,2}[^\\'\"\n:*?<>|\],;]+)+")


def _windows_folder(names: Names) -> str:
    """The first folder of Windows that the messages name."""
    found = _WINDOWS_FOLDER.search(names.get("line") or names.lines)
    return found[0].replace("\\\\", "\\").rstrip("\\ .") if found else ""


DERIVED: dict[str, Callable[[Names], str]] = {
    "framework": framework_of,
    "framework_version": lambda names: (
        names.around.log.case.framework_version
        or names.around.log.case.version(names.get("framework"))
    ),
    "framework_major": lambda names: names.get("framework_version").partition(".")[0],
    "framework_release": _framework_release,
    "with_cuda": _with_cuda,
    "sees_gpu": lambda names: SEES_GPU.get(names.get("framework"), ""),
    "cuda": _cuda,
    "cuda_major": _cuda_major,
    "cuda_minor": lambda names: ".".join(names.get("cuda").split(".")[:2]),
    "suffix": _suffix,
    "wanted_cuda": lambda names: (
        _plain(names.around.log.case.built_for_cuda or names.around.log.case.runtime_cuda)
        or names.get("cuda")
    ),
    "library_file": _library,
    "library_stem": lambda names: re.split(r"\.so\b|_\d|\.dll$", names.get("library_file"))[0],
    "library_package": _library_package,
    "cudnn_package": lambda names: (
        names.get("library_package") or f"nvidia-cudnn{names.get('suffix')}"
    ),
    "search_path_name": lambda names: (
        "PATH" if names.around.place.os == "windows" else "LD_LIBRARY_PATH"
    ),
    "growth": lambda names: _GROWTH.get(names.get("framework"), ""),
    "library_cuda": lambda names: cuda_of(names.get("library_file")),
    "library_cuda_first": lambda names: names.get("library_cuda").partition(" ")[0],
    "owner_pinned": lambda names: names.get("owner").replace(" ", "=="),
    "windows_folder": _windows_folder,
    "driver_cuda": _driver_cuda,
    "nv_given": lambda names: _plain(
        any("--nv" in one.words for one in names.around.log.case.commands)
    ),
    "arch_below": lambda names: _BELOW.get(names.get("capability"), ""),
    "amd_only": lambda names: _plain(
        not names.around.log.case.gpus and _AMD.search(names.around.log.excerpt) is not None
    ),
    "port": lambda names: _plain(names.around.log.case.ports),
    "library_foreign": _library_foreign,
    "conda": _conda,
    "library_conda": lambda names: versions.conda_of_library(names.get("library_file")),
    "program_command": _program,
    "script": _script,
    "at": _at,
    "pid": lambda names: (
        str(max(names.around.log.case.processes, key=lambda one: one.memory).pid)
        if names.around.log.case.processes
        else names.get("process")
    ),
    "asked": lambda names: size(_memory(names).asked),
    "total_memory": lambda names: size(_memory(names).total),
    "held": lambda names: size(_memory(names).held),
    "others": lambda names: size(_memory(names).others),
    "cap": lambda names: size(_memory(names).cap),
    "times_too_large": _times,
    "cap_set_by": _cap_set_by,
    "capability": _capability,
    "sm": lambda names: names.get("capability").replace(".", ""),
    "path_folder": lambda names: names.get("path").rpartition("/")[0],
    "stub_folder": _folder(_STUBS),
    "compat_folder": _folder(_COMPAT),
    "driver_wanted": _driver_wanted,
    "driver_last": lambda names: (last_driver_branch(names.get("capability")) or "").removeprefix(
        "R"
    ),
    "torch_backend": _torch_backend,
    "torch_index": lambda names: index_of(one) if (one := names.get("torch_backend")) else "",
    "torch_is_old": lambda names: _plain(
        versions.older(names.get("framework_version") or "9", "2.0")
    ),
    "rank_failed": lambda names: names.around.log.ending.rank,
    "ending": lambda names: names.around.log.ending.type,
    "ending_says": lambda names: names.around.log.ending.message,
    "devices_set": lambda names: _plain("CUDA_VISIBLE_DEVICES" in names.around.log.case.variables),
    "search_path_set": lambda names: _plain("LD_LIBRARY_PATH" in names.around.log.case.variables),
    "wsl_one": lambda names: _plain(_plain(names.around.log.case.wsl) == "1"),
    "cause": lambda names: names.around.ranked.cause,
}
