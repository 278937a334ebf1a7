"""The conditions that have a name: questions about a message and the Log. None reads the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING

from gpuwhy.diagnose.libraries import (
    Version,
    cudnn_release,
    kind_of,
    numbers,
    span_of,
    within,
)
from gpuwhy.diagnose.view import View, size
from gpuwhy.knowledge.codes import call_in
from gpuwhy.log.ending import Frame
from gpuwhy.log.message import Message

if TYPE_CHECKING:
    from gpuwhy.knowledge.gpus import GpuRow

Predicate = Callable[[Message, View], bool]
PREDICATES: dict[str, Predicate] = {}
"""By name, as rows write them; at most 60."""
GIB = 1 << 30


def predicate(function: Predicate) -> Predicate:
    """Registers a condition under its function's name."""
    PREDICATES[function.__name__] = function
    return function


# ---------------------------------------------------------------- the allocator's message


def _figures(m: Message) -> dict[str, float]:
    names = ("wanted", "total", "free", "allocated", "reserved", "unused", "allowed")
    f = {name: size(m.get(name)) for name in names}
    if f["reserved"] < 0 <= min(f["allocated"], f["unused"]):  # a container hides the own process
        f["reserved"] = f["allocated"] + f["unused"]
    return f


@predicate
def has_figures(m: Message, v: View) -> bool:
    """The message states total, free and own memory."""
    f = _figures(m)
    return f["total"] > 0 and f["free"] >= 0 and max(f["reserved"], f["allocated"]) >= 0


@predicate
def capped(m: Message, v: View) -> bool:
    """The program set a limit of its own."""
    return size(m.get("allowed")) > 0


@predicate
def others_hold(m: Message, v: View) -> bool:
    """What is neither free nor held by this process is a large part of the GPU's memory."""
    f = _figures(m)
    own = max(f["reserved"], f["allocated"], 0)
    held = f["total"] - max(f["free"], 0) - own
    short = f["free"] < 1.5 * f["wanted"]
    return has_figures(m, v) and short and held > 0.35 * f["total"] and held > 0.6 * own


@predicate
def splintered(m: Message, v: View) -> bool:
    """This process reserves memory that it does not use, and more of it than was requested."""
    f = _figures(m)
    if capped(m, v):
        return f["unused"] > 0 and 0 <= f["allocated"] + f["wanted"] <= f["allowed"]
    if f["unused"] < 0 and 0 <= f["allocated"] < 0.1 * f["reserved"]:  # another framework's memory
        return False
    unused = f["unused"] if f["unused"] >= 0 else f["reserved"] - f["allocated"]
    known = f["reserved"] > 0 and (f["unused"] >= 0 or f["allocated"] >= 0)
    return has_figures(m, v) and known and unused > max(1.2 * f["wanted"], 0.06 * f["total"])


@predicate
def free_but_refused(m: Message, v: View) -> bool:
    """More is free than was requested."""
    f = _figures(m)
    return has_figures(m, v) and f["free"] > 1.5 * f["wanted"] and not capped(m, v)


@predicate
def own_little(m: Message, v: View) -> bool:
    """This process holds almost nothing."""
    f = _figures(m)
    return has_figures(m, v) and max(f["reserved"], f["allocated"]) < 0.1 * f["total"]


@predicate
def held_beside(m: Message, v: View) -> bool:
    """This process holds most of the memory, and PyTorch almost none of it."""
    f = _figures(m)
    most = f["reserved"] > 0.4 * f["total"]
    return has_figures(m, v) and most and 0 <= f["allocated"] < 0.1 * f["reserved"]


@predicate
def own_full(m: Message, v: View) -> bool:
    """This process itself fills the GPU, or requests more than it has."""
    f = _figures(m)
    own, total = max(f["reserved"], f["allocated"]), f["total"]
    return has_figures(m, v) and (
        own > 0.6 * total or f["wanted"] > total or own + f["wanted"] > 0.9 * total
    )


# ---------------------------------------------------------------- what the text states of memory


@predicate
def pool_idle(m: Message, v: View) -> bool:
    """The program's own pool has much more than it uses."""
    f = v.memory
    if v.log.has("memory.torch_oom"):  # it has figures of its own
        return False
    if f.held is None or f.allocated is None or not 256 << 20 <= f.held <= 1 << 41:
        return v.log.has("memory.pieces")
    return f.held - f.allocated > max(1.2 * (f.asked or 0), 0.3 * f.held)


@predicate
def others_fill(m: Message, v: View) -> bool:
    """Nothing is free, though what this process uses and requests would fit twice."""
    f = v.memory
    own = (f.allocated or f.held or 0) + (f.asked or 0)
    return f.free == 0 and 0 < own < 0.5 * (f.total or 0)


# ---------------------------------------------------------------- versions


@predicate
def newer_than_supported(m: Message, v: View) -> bool:
    """What is there is newer than everything that the message names as supported."""
    has, most = numbers(m.get("has")), numbers(m.get("most") or m.get("least"))
    return bool(has) and (not most or has[: len(most)] > most)


@predicate
def older_than_supported(m: Message, v: View) -> bool:
    """What is there is older than everything that the message names as supported."""
    has, least = numbers(m.get("has")), numbers(m.get("least"))
    return bool(has and least) and has[: len(least)] < least


@predicate
def cuda_unfit(m: Message, v: View) -> bool:
    """The stated TensorFlow or ONNX Runtime was not built for the stated CUDA."""
    built = [numbers(row.cuda)[:2] for row in v.built if isinstance(row.cuda, str)]
    fit = (t == b or t[0] == b[0] >= 11 for t, b in product(v.cuda, built))
    return bool(built and v.cuda) and not any(fit)


@predicate
def cudnn_unfit(m: Message, v: View) -> bool:
    """The stated cuDNN does not exist for the stated CUDA, or does not fit the build."""
    from gpuwhy.knowledge.cudnn_rules import cuda_range

    told = [cudnn_release(one) for one in v.stated("cudnn")]
    spans = [span for one in told if (span := cuda_range(one[0]))]
    if spans and v.cuda and not any(low <= c <= high for (low, high), c in product(spans, v.cuda)):
        return True
    built = [numbers(row.cudnn)[:2] for row in v.built if isinstance(row.cudnn, str)]
    serves = (t[0] == b[0] and (len(t) < 2 or t >= b) for t, b in product(told, built))
    return bool(told and built) and not any(serves)


@predicate
def driver_older_than_cuda(m: Message, v: View) -> bool:
    """The driver supports an older CUDA than the one that the stated framework was built for."""
    from gpuwhy.knowledge.releases import find

    most = [numbers(one)[:2] for one in v.stated("driver_cuda")]
    if v.case.driver_cuda:
        most.append(numbers(v.case.driver_cuda.value)[:2])
    torch = [one for one in v.stated("torch") if most]
    rows = [*v.built, *(find("torch", one, "linux-x86_64") for one in torch if "+" not in one)]
    built = [numbers(row.cuda)[:2] for row in rows if row and isinstance(row.cuda, str)]
    labels = [found[1] for one in torch if (found := re.search(r"\+cu(\d{2,3})$", one))]
    built += [(int(one[:-1]), int(one[-1])) for one in labels]
    old = (d[:1] < b[:1] if b[0] > 10 else d < b for d, b in product(most, built))
    return bool(most and built) and all(old)


@predicate
def gpu_newer_than_cuda(m: Message, v: View) -> bool:
    """The stated GPU is newer than the CUDA that is stated, or that the framework was built for."""
    from gpuwhy.knowledge import archs

    told = [one.get("gpu") for one in v.log.all("told.gpu")] + [one.name for one in v.case.gpus]
    rows = [row for name in dict.fromkeys(filter(None, told)) if (row := _gpu(name))]
    have = ("8.6" if row.capability == "8.9" else row.capability for row in rows)
    first = [archs.first_toolkit(one) for one in have if one]
    needs = [numbers(one)[:2] for one in first if one]
    cuda = v.cuda + [numbers(row.cuda)[:2] for row in v.built if isinstance(row.cuda, str)]
    return bool(needs and cuda) and max(cuda) < min(needs)


def _gpu(name: str) -> GpuRow | None:
    from gpuwhy.knowledge import gpus

    spaced = re.sub(r"(?i)(?<=tx)(?=\d)|(?<=\d)(?=ti\b|super\b)", " ", name)  # RTX3070ti
    row = gpus.by_name(spaced)
    return row if row and row.capability else None


@predicate
def driver_and_module_differ(m: Message, v: View) -> bool:
    """The text states one version of libcuda and another of the kernel module."""
    library = {_release(one) for one in v.log.all("tf.libcuda_version")}
    module = {_release(one) for one in v.log.all("tf.kernel_version", "told.module")}
    return bool(library and module) and library.isdisjoint(module)


def _release(m: Message) -> str:
    return re.sub(r"(?:\.0+)+$", "", m.get("version"))


@predicate
def xid_of_hardware(m: Message, v: View) -> bool:
    """The Xid reports hardware that failed and did not recover by itself."""
    from gpuwhy.knowledge.codes import xid_row

    row = xid_row((*numbers(m.get("xid")), 0)[0])
    return row is not None and row.hardware and not row.recovered


# ---------------------------------------------------------------- libraries


@predicate
def other_release_stated(m: Message, v: View) -> bool:
    """The text states only other releases than those that the requested library belongs to."""
    wanted, cudnn = span_of(m.get("library")), kind_of(m.get("library")) == "cudnn"
    if wanted is None:
        return False
    told: list[Version] = [numbers(one)[:2] for one in v.stated("cuda", "nvcc")]
    if cudnn:
        told = [cudnn_release(one)[:1] for one in v.stated("cudnn")]
    told = [one for one in told if len(one) > 1] or told  # "CUDA 10.1" says more than "CUDA 11"
    return bool(told) and not any(within(one, wanted) for one in told)


@predicate
def other_cudnn_there(m: Message, v: View) -> bool:
    """The text shows another major release of cuDNN than that of the requested library."""
    wanted = span_of(m.get("library")) if kind_of(m.get("library")) == "cudnn" else None
    there = {numbers(one.get("version"))[:1] for one in v.log.all("here.cudnn_there")}
    return wanted is not None and bool(there) and wanted[0] not in there


@predicate
def other_cuda_there(m: Message, v: View) -> bool:
    """The text shows another CUDA than that of the requested library, or than the required one."""
    there = [numbers(one.get("version"))[:2] for one in v.log.all("here.cuda_there")]
    there += [numbers(one)[:2] for one in v.stated("nvcc")]
    major = numbers(m.get("cuda"))[:1]
    wanted = (major, major) if major else None
    if kind_of(m.get("library")) in ("cuda", "nvrtc"):
        wanted = span_of(m.get("library"))
    return wanted is not None and bool(there) and not any(within(one, wanted) for one in there)


@predicate
def file_listed(m: Message, v: View) -> bool:
    """A listing in the text shows that the requested file exists."""
    wanted = m.get("library")
    return bool(wanted) and any(name.startswith(wanted) for name in v.files)


@predicate
def other_version_listed(m: Message, v: View) -> bool:
    """A listing shows the same library under another version."""
    wanted = m.get("library")
    if kind_of(wanted) == "cudnn":  # its parts change their names, not their number
        found = {span_of(name) for name in v.files if name.startswith("libcudnn")} - {None}
        return bool(found) and span_of(wanted) not in found
    stem = wanted.split(".so")[0]
    same = [name for name in v.files if name.split(".so")[0] == stem]
    return bool(stem and same) and not any(name.startswith(wanted) for name in same)


@predicate
def other_cudnn_listed(m: Message, v: View) -> bool:
    """The program requests another cuDNN than the one that a listing shows."""
    names = (re.search(r"cudnn(?:64_|\.so\.)(\d+)", one.get("library")) for one in v.log.messages)
    wanted = {found[1] for found in names if found}
    return bool(wanted) and m.get("found") not in wanted


@predicate
def beside_another_toolkit(m: Message, v: View) -> bool:
    """The folder of the library's own toolkit is named in the text, and that of another."""
    found = re.search(r"(?:\.so\.|64_)(\d{2})\.?(\d)", m.get("library"))
    told = list(v.log.all("here.toolkit_folder"))
    folders = {one.get(name) for one in told for name in ("version", "other")} - {""}
    return found is not None and f"{found[1]}.{found[2]}" in folders and len(folders) > 1


@predicate
def own_symbol(m: Message, v: View) -> bool:
    """A library lacks a symbol that it defines itself."""
    stem = re.search(r"lib([a-z]+)[\w.+-]*$", m.get("object"), re.IGNORECASE)
    wanted = m.get("version").lower()
    return stem is not None and bool(wanted) and wanted in (stem[1].lower(), stem[0].lower())


# ---------------------------------------------------------------- the ending and its frames

_CUPY = re.compile(
    r"cupy_backends\.cuda\.(?:api\.(?P<api>runtime|driver)|libs\.(?P<library>\w+))"
    r"\.(?P<name>(?!check_status)[a-zA-Z]\w+)$"
)
_DATA_PACKAGES = frozenset(
    (
        *("omegaconf", "hydra", "yaml", "pandas", "pyarrow", "h5py", "csv", "json", "pickle"),
        *("zipfile", "tarfile", "sqlite3", "PIL", "imageio", "openpyxl", "requests", "botocore"),
    )
)
_READS = re.compile(
    r"\b(?:listdir|scandir|iterdir|glob|walk|im?read\w*|load\w*|open\((?![^)]{0,200}['\"][wax]))"
)
_COMPILES = re.compile(
    r"cpp_extension|inductor|triton|compil|cache|subprocess|nvrtc|numba", re.IGNORECASE
)
_SENDS = re.compile(r"sock|conn|send|recv|\bdist|store|queue|rpc|mpi|pool|worker", re.IGNORECASE)
_COUNTS = re.compile(r"getdevicecount|numcudadevices|cuinit\b|device_count", re.IGNORECASE)
_GPU_LIST = re.compile(
    r"\b(?:\w*gpus?|\w*devices?)(?:\(\s*['\"]?\w*['\"]?\s*\))?\[\w+\]", re.IGNORECASE
)
_READERS = frozenset(
    ("torch", "jax", "jaxlib", "triton", "cupy", "cupy_backends", "numba", "keras", "tensorflow")
)
_CONFIGURATION = re.compile(
    r"(?:^|[\\/])(?:\w*config|knobs|_?environment|tfconfig_cluster_resolver)\.py$"
)
_OPENS = re.compile(r"CDLL|LoadLibrary|load_library|dlopen|cffi|\bload\(")
_JOB_ERRORS = re.compile(
    r"^Dist|^RuntimeError$|^ChildFailed|^SystemError$|Timeout|Rendezvous|Connection|BrokenPipe"
    r"|^OSError$"
)
_GAVE_UP = re.compile(
    r"fit|batch|small|memory|g[ia]ve?n? up|giving up|too (?:large|big)|no room", re.IGNORECASE
)
_PROVIDERS = re.compile(r"provider|cuda|gpu|device|tensorrt|\.so\b|\.dll\b", re.IGNORECASE)
_IMPORTS = re.compile(r"\bmodule\b|import name|circular|partially init|not a package")


def call_of(m: Message, v: View) -> str:
    """The call that returned a status: by its line, or by the frame that raised it."""
    if found := call_in(m.get("call")) or call_in(m.text):
        return found
    frames = v.ending.stack[-3:] if v.within(m) else ()
    for frame in reversed(frames):
        if spelt := _CUPY.search(frame.function):
            prefix = spelt["library"] or {"runtime": "cuda", "driver": "cu"}[spelt["api"]]
            return f"{prefix}{spelt['name'][0].upper()}{spelt['name'][1:]}"
    return ""


def _owner(v: View) -> str:
    return v.ending.frame.owner if v.ending.frame else ""


def _type(v: View) -> str:
    return v.ending.type.rsplit(".", 1)[-1]


def _inner(v: View) -> tuple[Frame, ...]:
    """The innermost places of the ending, Python's own left out."""
    return tuple(one for one in v.ending.stack if one.owner != "python")[-2:]


def _of_framework(frame: Frame) -> bool:
    return frame.owner in _READERS or frame.file.split("/", 1)[0] in _READERS


@predicate
def framework_called(m: Message, v: View) -> bool:
    """A framework has a part in the text, and no line of the user's own made the call."""
    frame = v.ending.frame
    raised = frame is not None and frame.owner == "user" and frame.code.startswith("raise ")
    if raised and v.within(m) and call_in(m.text):
        return False
    return v.log.has("here.framework")


@predicate
def counting(m: Message, v: View) -> bool:
    """The status came back while devices were counted."""
    last = v.ending.stack[-2:] if v.within(m) else ()
    told = any(_COUNTS.search(f"{one.function} {one.code}") for one in last)
    return told or bool(_COUNTS.search(m.text))


@predicate
def raised_by_package(m: Message, v: View) -> bool:
    """An installed package's own code raised what ended the program."""
    return _owner(v) not in ("", "user", "python")


@predicate
def misses_own_part(m: Message, v: View) -> bool:
    """An installed package misses a compiled part of its own."""
    name = m.get("name")
    return raised_by_package(m, v) and "." in name and name.split(".")[0].lower() == _owner(v)


@predicate
def user_reads_data(m: Message, v: View) -> bool:
    """The user's own code, or a package for data, could not read something."""
    readers = ("user", *_DATA_PACKAGES)
    last = next((one for one in reversed(v.ending.stack) if one.owner in readers), None)
    own = _owner(v) in (*readers, "python") and v.within(m)
    return own and last is not None and bool(_READS.search(last.code))


@predicate
def user_reads_this_file(m: Message, v: View) -> bool:
    """The user's own code asked for the very file that is missing; nothing below compiles."""
    stack = v.ending.stack
    asked = next((n for n in reversed(range(len(stack))) if stack[n].owner == "user"), -1)
    if asked < 0 or not v.within(m) or not _READS.search(stack[asked].code):
        return False
    return not any(_COMPILES.search(one.file) for one in stack[asked + 1 :])


@predicate
def own_output(m: Message, v: View) -> bool:
    """The user's own code wrote to a pipe whose reader is gone."""
    own = _owner(v) == "user" and _type(v) == "BrokenPipeError" and v.within(m)
    return own and not any(_SENDS.search(f"{one.code} {one.file}") for one in v.ending.stack)


@predicate
def while_framework_loads(m: Message, v: View) -> bool:
    """It was raised in a module of a framework that was being imported."""
    last = _inner(v)[-1:]
    return (
        bool(last) and _of_framework(last[0]) and last[0].function.startswith(("<module>", "init "))
    )


@predicate
def opens_own_library(m: Message, v: View) -> bool:
    """The program opens a library of its own."""
    last = next((one for one in reversed(v.ending.stack) if one.owner != "python"), None)
    opened = last is not None and last.owner == "user" and bool(_OPENS.search(last.code))
    return opened or "error while loading shared libraries" in m.text


@predicate
def asked_by_name(m: Message, v: View) -> bool:
    """The program's own code asks a library for a function by its name, as ctypes does."""
    stack = v.ending.stack
    asked = bool(stack) and "ctypes" in stack[-1].file and _type(v) == "AttributeError"
    return asked and v.within(m) and all(one.owner in ("user", "python") for one in stack)


@predicate
def beyond_a_list_of_gpus(m: Message, v: View) -> bool:
    """The line that raised takes an index beyond a list of GPUs."""
    frame = v.ending.frame
    return frame is not None and _type(v) == "IndexError" and bool(_GPU_LIST.search(frame.code))


# ---------------------------------------------------------------- the text as a whole


@predicate
def hides_every_gpu(m: Message, v: View) -> bool:
    """The stated value of CUDA_VISIBLE_DEVICES leaves no GPU."""
    found = v.case.variables.get("CUDA_VISIBLE_DEVICES")
    none = ("", "-1", "NoDevFiles", "none", "void")
    return found is not None and found.value.strip("\"' ") in none


@predicate
def no_gpu_stack_here(m: Message, v: View) -> bool:
    """The ending has a reason of its own, or no word of CUDA and no telling message is there."""
    if v.ending.own and v.within(m):
        return True
    little = ("else", "peer", "title", "python", "signal", "ending", "program")
    return not v.log.has("here.cuda") and all(one.family in little for one in v.errors)


# ---------------------------------------------------------------- in one line

PREDICATES |= {
    # Almost nothing of the GPU is free, and this process holds none of it.
    "holds_nothing": lambda m, v: (
        v.memory.held == 0 and 0 < (v.memory.free or 0) < 0.2 * (v.memory.total or 0)
    ),
    # The driver's video library is not found.
    "video_library_missing": lambda m, v: any(
        one.get("library").lower().startswith(("libnvidia-encode", "libnvcuvid"))
        for one in v.log.messages
    ),
    # The program ended while something was imported.
    "while_importing": lambda m, v: (
        any("import" in frame.code for frame in v.ending.stack)
        or bool(_IMPORTS.search(v.ending.message))
    ),
    # The program itself requested a gibibyte or more.
    "asks_much": lambda m, v: (v.memory.asked or 0) >= GIB,
    # Built for one version, loaded with another.
    "versions_differ": lambda m, v: numbers(m.get("built"))[:2] != numbers(m.get("loaded"))[:2],
    # The text states two CUDA versions.
    "two_cudas": lambda m, v: len({numbers(one)[:2] for one in v.stated("cuda")}) > 1,
    # The text states two packages that both are TensorFlow.
    "two_tensorflows": lambda m, v: (
        len({"tensorflow", "tensorflow-gpu", "tensorflow-cpu"} & v.versions.keys()) > 1
    ),
    # The text names DLLs of cuDNN in two folders.
    "cudnn_in_two_folders": lambda m, v: (
        len({one.get("folder").lower() for one in v.log.all("here.cudnn_dll")}) > 1
    ),
    # The program states the failing call as its end.
    "ends_in_status": lambda m, v: v.ending.kind == "status" and v.within(m),
    # Some rank raised an error of its own.
    "another_rank_raised": lambda m, v: (
        v.ending.kind == "exception" and bool(_type(v)) and not _JOB_ERRORS.search(_type(v))
    ),
    # The program ended by its own word, about what did not fit.
    "gave_up": lambda m, v: (
        v.ending.kind != "exception" or bool(_GAVE_UP.search(v.ending.message.split("\n")[0]))
    ),
    # No exception about another matter than ONNX Runtime's providers ended the program.
    "providers_matter": lambda m, v: (
        v.ending.kind != "exception" or bool(_PROVIDERS.search(v.ending.message.split("\n")[0]))
    ),
    # Some word of the text may be about the GPU stack.
    "mentions_gpu": lambda m, v: v.log.mentions_gpu,
    # Every error in the text is a plain Python one.
    "only_plain_errors": lambda m, v: all(
        one.family in ("python", "title", "signal", "packages") for one in v.errors
    ),
    # No program prints in the text; a person writes.
    "only_a_person": lambda m, v: all(one.family == "title" for one in v.errors),
    # The program had survived a warning before.
    "after_a_warning": lambda m, v: any(
        one.warning and one.role == "echo" and one.line < m.line for one in v.log.messages
    ),
    # It was raised where a framework reads its configuration.
    "in_configuration": lambda m, v: any(
        _of_framework(one) and _CONFIGURATION.search(one.file) for one in _inner(v)
    ),
}
