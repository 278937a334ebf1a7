"""Blame needs a link: which endings leave room for what was printed before, and which have a reason of their own."""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence

import msgspec

from gpuwhy.model.ending import PYTHON, USER, Ending, Frame
from gpuwhy.model.symptom import Symptom

FIRST = 500
"""What a message has to do with is said at its beginning; advice follows."""
WORDY = 6
"""Characters of a message of C++ that says something."""
ENDINGS = ("ending.own", "ending.usage", "ending.inside")
"""Symptoms that no signature finds: an ending that speaks for itself, by wrong arguments, or inside a framework."""
PLAIN = frozenset(
    """KeyError NameError UnboundLocalError SyntaxError IndentationError TabError ZeroDivisionError FileNotFoundError
    FileExistsError NotADirectoryError IsADirectoryError JSONDecodeError UnicodeDecodeError UnicodeEncodeError
    RecursionError KeyboardInterrupt EOFError StopIteration ParserError ScannerError HTTPError URLError SSLError
    gaierror JSONError TOMLDecodeError ConfigKeyError ConfigAttributeError MissingMandatoryValue UsageError BadParameter
    ValidationError DatabaseError OperationalError UnpicklingError BadZipFile XMLSyntaxError NoSuchOption BadOptionUsage
    BrokenPipeError NoCredentialsError ConnectTimeout ReadTimeout EmptyDataError ArgumentError usage OverflowError
    FloatingPointError DivisionByZero InvalidOperation ConfigurationError TemplateNotFound Abort""".split()  # noqa: SIM905
)
"""Exceptions that no failure of a GPU stack ends in, unless their own words name it."""
STATUSES = ("XlaRuntimeError", "JaxRuntimeError", "InternalError", "UnknownError", "FailedPreconditionError")
"""Exceptions by which a runtime hands a status on, whatever it came from."""
FRAMEWORKS = frozenset(
    """torch tensorflow tensorflow_core keras jax jaxlib flax cupy cupy_backends numba triton onnxruntime tensorrt
    torchvision torchaudio torchtext xformers flash_attn bitsandbytes vllm deepspeed apex accelerate transformers
    lightning pytorch_lightning mxnet paddle xgboost cudf cuml rmm ray horovod diffusers""".split()  # noqa: SIM905
)
"""Packages whose own code raises on behalf of the GPU stack."""
_NAMED = (
    r"\bcu(?:da|dnn|blas|fft|rand|solver|sparse|pti|tensor|pynccl)|lib(?:cu|nv|nccl|torch|tensorflow|c10)|nvidia|nvcc|"
    r"nvrtc|nvvm|nvml|nvjitlink|ptxas|\bptx\b|nccl|\bgpus?\b|\bgpu[_:\d]|\bsm_\d|tensorrt|\bxla|pjrt|triton|"
    r"hip(?:error)?\b|rocm|\bcuinit"
)
_HARD = re.compile(_NAMED, re.IGNORECASE)
_STACK = re.compile(
    rf"{_NAMED}|(?<!left on )(?<!writing to )\bdevices?\b|capability|kernel image|driver version|dnn\b|\bblas\b|"
    r"convolution algorithm|shared object|\.so\b|\.dll\b|dll load|undefined symbol|out of memory|allocat|compiler|"
    r"on (?:the )?cpu\b|nhwc|stream|graph capture|accelerator|executionprovider|\bplatform\b",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"cuda|gpu|cudnn|(?<!left on )device|\.to\(|nvml|nccl|accelerator|memory_growth|init_process_group|jit\("
    r"|(?:torch|jax|model|tf)\.compile\(",
    re.IGNORECASE,
)
_OPAQUE = re.compile(
    r"\babove\b|native tensorflow runtime|initializ|see (?:the )?(?:log|output|stack)|could not be loaded|"
    r"failed to load|unknown error|internal error|terminated|died|exited|worker",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_MODULE = re.compile(r"no module named ['\"]?(?P<name>[\w.]+)", re.IGNORECASE)
_GPU_FILES = re.compile(
    r"xla_bridge|cuda_|[\\/]cuda[\\/]|cupy_?backends|triton[\\/](?:runtime|backends)|cpp_extension|self_check|"
    r"pywrap_tensorflow|[\\/]distributed[\\/]"
)
_BUILDER = re.compile(r"Command '\[?'?[^'\n]{0,80}\b(?:ninja|nvcc|cmake|make|gcc|g\+\+|cl|bazel)\b")
"""A compiler or a build tool that was started: what it said decides."""
_BUILT = re.compile(
    r"(?i)failed (?:building|to build)|could not build wheels|subprocess-exited-with-error|command '\S+' failed"
    r"|\bld returned \d|\*\*\* \[|build stopped|compilation terminated|configuring incomplete"
    r"|aborting due to \d+ previous|could not compile `|\d+ errors? (?:generated|detected)|generate step failed"
    r"|error compiling objects|error building extension|linker command failed"
)
"""The word of pip, make, ninja or the linker's driver that a build failed: what was said before it decides."""
_READ = re.compile(r"(?:environ|env)[\w.]*[\[(]\s*['\"]([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)['\"]")
"""Where a line of source reads an environment variable by its name."""
_UNSAID = re.compile(r"\{\{(?![^}\n]*GPU:)[^}\n]*\}\}|\[Op:[^\]\n]*\]|/?(?:job:\S*/)?device:CPU:\d+|\[\[[^\]\n]*\]\]")
"""What TensorFlow adds to every message: where the node stands."""


def judged(ending: Ending) -> Ending:
    """The ending, marked where it has a reason of its own, and where it has to do with the GPU stack."""
    return msgspec.structs.replace(ending, own=_own(ending), near=any(map(_near, (ending, *ending.chain))))


def _near(ending: Ending) -> bool:
    """Whether the words of an ending, the code that raised it or the library it happened in are of the GPU stack."""
    if ending.relayed or ending.type.startswith("numpy."):
        return False
    said = _UNSAID.sub("", ending.message[:FIRST])
    if _HARD.search(said) or (_STACK.search(said) and not _LOADS.search(said)) or ending.name in STATUSES:
        return True
    frame = ending.frame
    return frame is not None and (
        frame.owner in FRAMEWORKS or bool(_GPU_FILES.search(frame.file) or _CODE.search(frame.code))
    )


_LOADS = re.compile(r"cannot open shared object|undefined symbol|dll load", re.IGNORECASE)
"""A library that is none of the GPU stack's where no word of it is said."""


def _own(ending: Ending) -> bool:
    if ending.relayed or _BUILT.search(ending.message):
        return False
    if ending.kind == "exception":
        return all(_raised_alone(one) for one in (ending, *ending.chain) if one.kind == "exception")
    if ending.kind == "fatal":
        return _fatal_alone(ending)
    return ending.kind == "exit" and _said_alone(ending.message)


def _fatal_alone(ending: Ending) -> bool:
    """Whether the last word of a program that gave up has nothing to do with the GPU stack."""
    if ending.type == "usage":
        return True  # an option may well be named after the GPU
    if "not found" in ending.message:
        return not _HARD.search(ending.message)
    if ending.type in ("panic", "assert") or ending.type.startswith("std::"):
        said = ending.message.strip()
        return len(said) >= WORDY and _said_alone(said) and not _OPAQUE.search(said.split("\n", 1)[0])
    return ending.type.isalpha() and ending.type != "terminate" and _said_alone(ending.message)


def _said_alone(message: str) -> bool:
    return bool(message) and not _STACK.search(message)


def _raised_alone(ending: Ending) -> bool:
    """Whether neither the message nor the place of an exception has to do with the GPU stack."""
    if ending.name in PLAIN:
        return not _HARD.search(ending.message)
    if ending.name == "CalledProcessError" and _BUILDER.search(ending.message):
        return False
    if _asserted(ending) or _own_class(ending):
        return True
    if module := _MODULE.search(ending.message):
        return module["name"].split(".")[0].lstrip("_") not in FRAMEWORKS and "pywrap" not in module["name"]
    said = _UNSAID.sub("", ending.message.split("\n\n", 1)[0][:FIRST])
    if _STACK.search(said):
        return False
    return _elsewhere(ending) or (_telling(ending, said) and not _at_the_gpu(ending.frame))


def _telling(ending: Ending, said: str) -> bool:
    """Whether an exception has a name and words that say something."""
    named = bool(ending.name) and ending.name not in STATUSES
    return named and bool(said.strip()) and not _OPAQUE.search(said)


def _at_the_gpu(frame: Frame | None) -> bool:
    """Whether an exception came from code that deals with the GPU."""
    if frame is None:
        return False
    return bool(_GPU_FILES.search(frame.file)) or (frame.owner == USER and bool(_CODE.search(frame.code)))


def _elsewhere(ending: Ending) -> bool:
    """Whether a whole traceback is shown in which no framework has a part, nor the user's code asks for one."""
    return bool(ending.type and ending.stack) and not any(
        frame.owner in FRAMEWORKS
        or _GPU_FILES.search(frame.file)
        or _CODE.search(frame.code)
        or not FRAMEWORKS.isdisjoint(_WORD.findall(frame.code) if "import" in frame.code else ())
        for frame in ending.stack
    )


def _own_class(ending: Ending) -> bool:
    """Whether the user's code raised an exception of its own making, and its words do not miss the GPU."""
    frame = ending.frame
    if frame is None or frame.owner != USER or ending.name != ending.type or hasattr(builtins, ending.name):
        return False
    return frame.code.startswith(f"raise {ending.name}(") and not (
        _CALLS.search(ending.message) or _BROKE.search(ending.message)
    )


_BROKE = re.compile(
    r"cuda error|out of memory|cudnn|driver|\.so\b|\bfailed\b|not (?:found|available|supported)", re.IGNORECASE
)


def _asserted(ending: Ending) -> bool:
    """Whether a condition of the user's own failed: whatever its words say, the program itself wrote them."""
    frame = ending.frame
    asserted = frame is not None and frame.owner == USER and re.search(r"(?:^|: )assert\b", frame.code) is not None
    asked = f"{frame.code if frame else ''} {ending.message}"
    return ending.name == "AssertionError" and asserted and not _CALLS.search(asked)


_CALLS = re.compile(
    r"is_available|device_count|list_physical_devices|list_logical|get_device|devices\(|cuda\.|gpus?\(|backend\("
    r"|\bno (?:cuda|gpus?)\b|(?:gpu|cuda)\b.{0,20}\b(?:not|required|needed|missing|unavailable)"
    r"|(?:need|require|expect)\w*.{0,20}\bgpu",
    re.IGNORECASE,
)
"""A condition that asks the GPU stack, or words that miss it."""


def noted(symptoms: Sequence[Symptom], ending: Ending) -> tuple[Symptom, ...]:
    """The symptoms; what a logger wrote down or the program worked on after is only a warning."""
    return tuple(
        msgspec.structs.replace(one, warned=True) if _logged(one, ending) or _outlived(one, ending) else one
        for one in symptoms
    )


def aside(symptoms: Sequence[Symptom], ending: Ending) -> tuple[Symptom, ...]:
    """The symptoms; those before an ending of its own are only noticed, and that ending speaks for itself.

    A code without a word says nothing, not even that it is no matter of the GPU.
    """
    kept = tuple(msgspec.structs.replace(one, role="aside") if _unlinked(one, ending) else one for one in symptoms)
    kept = _called(tuple(_freed(one, kept) for one in kept), ending)
    if not ending.own:
        return kept
    told = any(s.role == "error" and _speaks(s) and (s.within(ending) or s.speaker in FRAMES) for s in kept)
    return kept if told or ending.kind == "exit" else (*kept, _itself(ending, len(kept)))


def _called(kept: tuple[Symptom, ...], ending: Ending) -> tuple[Symptom, ...]:
    """The symptoms; that another runtime ended says nothing where its last word tells what failed below it."""
    below = _TENSORS.search(ending.message) or _STACK.search(ending.message)
    said = next((s.order for s in kept if below and s.role == "error" and s.within(ending) and _deeper(s)), -1)
    return tuple(msgspec.structs.replace(s, follows=said) if said >= 0 and s.signature == FOREIGN else s for s in kept)


def _deeper(one: Symptom) -> bool:
    return one.signature != FOREIGN and _speaks(one)


FOREIGN = "else.foreign"


def _freed(one: Symptom, kept: Sequence[Symptom]) -> Symptom:
    """A symptom that follows one which was outlived follows nothing."""
    before = next((s for s in kept if s.order == one.follows), one)
    return msgspec.structs.replace(one, follows=-1) if before.role == "aside" and one.role != "aside" else one


FRAMES = ("shadow", "waits")
"""Speakers whose messages are the frames themselves: which file was imported, what was waited for."""
_KNOWN = ("python.protobuf", "python.numpy_abi", "python.numba_numpy", "python.glibc", "python.avx", "python.openmp")
"""Python's own words for a reason that is known: they say more than that the program raised something."""


def _speaks(one: Symptom) -> bool:
    return one.speaker not in ("python", "title") or one.signature in _KNOWN


def _logged(one: Symptom, ending: Ending) -> bool:
    """Whether it stands in an exception that a logger wrote down, or in the line above it that says so."""
    return any(first - 1 <= one.line <= last for first, last in ending.logged)


def _outlived(one: Symptom, ending: Ending) -> bool:
    """Whether a program printed it and worked on: it is of no exception that was raised."""
    return one.role in ("error", "echo") and max(one.line, one.last) < ending.busy and not one.within(ending)


def _wordless(ending: Ending, line: int) -> bool:
    """Whether a line shows what raised an exception that has no words, or whose words were cut off."""
    return not ending.message and (line == ending.line - 1 or (not ending.type and line >= ending.last - SHOWN))


SHOWN = 8
"""Lines around the one that raised, as notebooks show them."""


def _unlinked(one: Symptom, ending: Ending) -> bool:
    """Whether a line is source text in a traceback, or came before an ending that it does not lead to."""
    if one.speaker in FRAMES:
        return False
    if one.speaker in ("python", "title") and any(first <= one.line <= last for first, last in ending.ignored):
        return True
    if one.role in ("error", "echo") and one.quoted(ending):
        return not _wordless(ending, one.line)
    if _outlived(one, ending) and (ending.kind == "exception" or one.speaker == "title"):
        return True
    return _unlinked_within(one, ending) if one.within(ending) else _unlinked_before(one, ending)


def _unlinked_within(one: Symptom, ending: Ending) -> bool:
    if ending.relayed and one.speaker == "title":
        return True
    return ending.own and one.speaker in _OTHERS and _plainly(ending, one)


def _unlinked_before(one: Symptom, ending: Ending) -> bool:
    """Whether an ending with a reason of its own leaves nothing to what was said before it."""
    if not ending.own or one.role == "context":
        return ending.own
    if one.role not in ("error", "echo"):
        return False
    if ending.kind != "exception":  # a last word ends a program less surely than an exception
        return one.warned
    return one.speaker != "title" or bool(ending.stack)


_OTHERS = ("cuda", "peer", "container", "nvidia", "program", "packages")
"""Speakers whose general words ("file not found", "broken pipe") are anybody's where no framework has a part."""


def _plainly(ending: Ending, one: Symptom) -> bool:
    """Whether an ending is the user's or another runtime's, by its frames or its kind."""
    if ending.kind != "exception":
        return ending.type == "panic" and not _TENSORS.search(ending.message)
    if one.speaker == "peer":
        return ending.frame is not None and ending.frame.code.startswith("raise ") and ending.owner == USER
    native = ending.frame is not None and ending.frame.owner == USER and not _SAID_BY_PYTHON.search(ending.message)
    return _elsewhere(ending) and not native and all(frame.owner in (USER, PYTHON) for frame in ending.stack)


_TENSORS = re.compile(
    r"\bmat[12]\b|tensor|index out of range in self|\btorch|c10|gloo|tcpstore|server socket has failed|grpc|rendezvous"
    r"|dtype|init_process_group|distributed",
    re.IGNORECASE,
)
"""Words of a framework in the last word of another runtime that called it."""
_SAID_BY_PYTHON = re.compile(r"^\[Errno |for axis \d|^File |HTTP Error|list index|not a zip", re.IGNORECASE)
"""What Python's own library or NumPy says; compiled code of a framework raises in the user's frame, too."""


def _itself(ending: Ending, order: int) -> Symptom:
    """The ending as a symptom: what it is, and where."""
    frame = next((f for f in reversed(ending.stack) if f.owner == USER), ending.frame)
    inside = ending.owner in FRAMEWORKS and ending.name not in PLAIN
    first = ending.message.split("\n", 1)[0][:200]
    fields = {"name": ending.name or "the program", "what": first or ending.name}
    if frame is not None:
        fields["where"] = f"{frame.base}:{frame.line}"
    if variable := next((found[1] for f in reversed(ending.stack[-4:]) if (found := _READ.search(f.code))), ""):
        fields["variable"] = variable
    text = f"{ending.type}: {first}" if ending.type and ending.kind == "exception" else first or ending.type
    kind = "usage" if ending.type == "usage" else "inside" if inside else "own"
    return Symptom(f"ending.{kind}", ending.line, text, order=order, fields=fields)
