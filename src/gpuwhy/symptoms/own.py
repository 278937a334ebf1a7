"""Own: which endings have a reason of their own, by their words and by whose code raised them."""

from __future__ import annotations

import builtins
import re
import sys

import msgspec

from gpuwhy.model.ending import OUTSIDERS, PYTHON, TOOLS, USER, Ending, Frame
from gpuwhy.symptoms.tongues import ENDS
from gpuwhy.symptoms.values import of_plain_values, off_its_end
from gpuwhy.symptoms.wording import (
    API,
    BARELY,
    BROKE,
    EXACT,
    FRAMEWORKS,
    GIVEN,
    HARD,
    KIN,
    LIBRARY,
    MISSED,
    NO_ROOM,
    PANICKED,
    QUOTED,
    STACK,
    of_the_stack,
    spoken,
    words_of,
)

FIRST = 500
"""What a message has to do with is said at its beginning; advice follows."""
WORDY = 6
"""Characters of a message of C++ that says something."""
PLAIN = frozenset(
    """KeyError NameError UnboundLocalError SyntaxError IndentationError TabError ZeroDivisionError FileNotFoundError
    FileExistsError NotADirectoryError IsADirectoryError JSONDecodeError UnicodeDecodeError UnicodeEncodeError
    RecursionError KeyboardInterrupt EOFError StopIteration ParserError ScannerError HTTPError URLError SSLError
    gaierror JSONError TOMLDecodeError ConfigKeyError ConfigAttributeError MissingMandatoryValue UsageError BadParameter
    ValidationError DatabaseError OperationalError UnpicklingError BadZipFile XMLSyntaxError NoSuchOption BadOptionUsage
    BrokenPipeError NoCredentialsError ConnectTimeout ReadTimeout EmptyDataError ArgumentError usage OverflowError
    FloatingPointError DivisionByZero InvalidOperation ConfigurationError TemplateNotFound Abort LinAlgError
    _LinAlgError PatternError""".split()  # noqa: SIM905
)
"""Exceptions that no failure of a GPU stack ends in, unless their own words name it."""
STATUSES = ("XlaRuntimeError", "JaxRuntimeError", "InternalError", "UnknownError", "FailedPreconditionError")
"""Exceptions by which a runtime hands a status on, whatever it came from."""
_CODE = re.compile(
    r"cuda|gpu|cudnn|(?<!left on )device|\.to\(|nvml|nccl|accelerator|memory_growth|init_process_group|jit\("
    r"|(?:torch|jax|model|tf)\.compile\(",
    re.IGNORECASE,
)
_OPAQUE = re.compile(
    r"\babove\b|native tensorflow runtime|initializ|see (?:the )?(?:log|output|stack)|could not be loaded|"
    r"failed to load|unknown error|internal error|terminated|died|exited|worker|\bcompilation failed\W*$|"
    r"following operation failed|could not start|\braised:?$|\b(?:abort|segmentation|bus error) signal|core dumped|"
    r"segmentation fault|caught signal|access violation|fatal error is detected|failed to create session",
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
    r"(?i)failed (?:building|to build)|could not build wheels|subprocess-exited-with-error"
    r"|metadata-generation-failed|failed-wheel-build|command '\S+' failed"
    r"|\bld returned \d|\*\*\* \[|build stopped|compilation terminated|configuring incomplete"
    r"|aborting due to \d+ previous|could not compile `|\d+ errors? (?:generated|detected)|generate step failed"
    r"|error compiling objects|error building extension|linker command failed|^function '\w+' not found$"
)
"""The word of pip, make, ninja or the linker's driver that a build failed, or of ctypes that a library lacks a
function: what was said before it decides."""
_UNSAID = re.compile(
    r"\{\{(?![^}\n]*GPU:)[^}\n]*\}\}|\[Op:[^\]\n]*\]|/?(?:job:\S*/)?device:CPU:\d+|\[\[[^\]\n]*\]\]"
    r"|(?<=\. )(?:this|which|it|that) (?:may|might|could|can) (?:also )?(?:lead|cause|result|end|produce|give)\b[^.\n]*"
)
"""What TensorFlow adds to every message, where the node stands; and what might happen otherwise, which did not."""


def judged(ending: Ending) -> Ending:
    """The ending, marked where it has a reason of its own, and where it has to do with the GPU stack."""
    return msgspec.structs.replace(ending, own=_own(ending), near=any(map(_near, (ending, *ending.chain))))


def _near(ending: Ending) -> bool:
    """Whether the words of an ending, the code that raised it or the library it happened in are of the GPU stack."""
    if ending.relayed or ending.type.startswith("numpy."):
        return False
    if _near_by_words(_UNSAID.sub("", spoken(ending.message[:FIRST])), ending) or ending.name in STATUSES:
        return True
    frame = ending.frame
    return frame is not None and (
        frame.owner in FRAMEWORKS or bool(_GPU_FILES.search(frame.file) or _CODE.search(words_of(frame.code)))
    )


def _near_by_words(said: str, ending: Ending) -> bool:
    """Whether words name a part of the stack, or say something of the GPU; names that others quote are no words."""
    nobodys = ending.kind == "status" and not ending.type  # a word of the stack somewhere in a complaint
    if ending.type in ENDS or _BY_TOOL.match(said) or nobodys:
        said = GIVEN.sub("", said)
    if API.search(said) or LIBRARY.search(said):
        return True
    return bool(STACK.search(said) and MISSED.search(said)) and not _LOADS.search(said)


_LOADS = re.compile(r"cannot open shared object|undefined symbol|dll load", re.IGNORECASE)
"""A library that is none of the GPU stack's where no word of it is said."""


def _own(ending: Ending) -> bool:
    if ending.relayed:
        return _of_a_tool(ending)
    if ending.name == "KeyboardInterrupt" and ending.message.startswith(">>>"):
        return False  # a prompt stands below it: the session went on
    if _BUILT.search(ending.message):
        return False
    if ending.kind == "exception":
        return _raised_own(ending)
    if ending.kind == "fatal":
        return _fatal_alone(ending)
    if ending.type == "SIGABRT" and ending.chain and ending.chain[-1].kind == "fatal":
        return _fatal_alone(ending.chain[-1])  # C++ ends so after an exception that nobody caught
    return ending.kind == "exit" and _said_alone(ending.message)


def _raised_own(ending: Ending) -> bool:
    cut_off = not ending.type and not ending.message  # a traceback that ends above what it says
    if cut_off or NO_ROOM.search(ending.message.partition("\n")[0]):
        return False
    return all(_raised_alone(one) for one in (ending, *ending.chain) if one.kind == "exception")


def foreign(ending: Ending) -> bool:
    """Whether another language's runtime tells the end of its program."""
    return ending.kind == "fatal" and (ending.type == "panic" or ending.type in ENDS)


def in_gpu_code(ending: Ending) -> bool:
    """Whether another language's runtime names a place in code for the GPU, or for arrays, as that of its end."""
    return foreign(ending) and bool(_GPU_PLACE.search(ending.message))


_GPU_PLACE = re.compile(
    r"(?:cuda|tensor|candle|cudarc)\w*[\\/\w.-]*\.(?:rs|go|jl|java|kt|swift|cs):\d"
    r"|[\\/](?:gpu|cuda|kernels?)\w*\.(?:rs|go|jl|java|kt|swift|cs):\d",
    re.IGNORECASE,
)


def opaque(said: str) -> bool:
    """Whether words tell that something went wrong, and nothing of what."""
    return bool(_OPAQUE.search(said) or BARELY.match(said))


def _fatal_alone(ending: Ending) -> bool:
    """Whether the last word of a program that gave up has nothing to do with the GPU stack."""
    if ending.type == "usage":
        return True  # an option may well be named after the GPU
    if in_gpu_code(ending):
        return False
    if "not found" in ending.message and ending.type not in ENDS:
        return not HARD.search(ending.message)
    if ending.type in ("panic", "assert", *ENDS) or ("::" in ending.type and not _NATIVE.search(ending.type)):
        return _ended_alone(ending)
    said = GIVEN.sub("", ending.message) if _BY_TOOL.match(ending.message) else ending.message
    hollow = _HOLLOW.search(ending.message.split("\n", 1)[0])
    plain = ending.type.isalpha() and ending.type != "terminate" and not _SHAPED.search(said)
    return plain and not hollow and _said_alone(said)


_NATIVE = re.compile(
    rf"^(?:c10|at|thrust|cub|ort|cv|tsl|sycl|gloo|tensorpipe|dlib|faiss)\b|{KIN.pattern}", re.IGNORECASE
)
"""Exceptions of C++ that parts of the stack throw."""
_SHAPED = re.compile(
    r"\btensor|normalized_shape|\bmat[12]\b|\bdtype\b|expected input with shape|contracting dimensions", re.IGNORECASE
)
"""What a framework says of the tensors it was handed, in whosever last word."""


_HOLLOW = re.compile(
    r"(?:creating|starting|start|launch(?:ing)?) (?:the )?(?:\w+ )?(?:server|service|engine|worker)\b"
    r"|failed to load (?:all )?models?\b|^\W*conversion failed"
    r"|\b(?:open|initiali[sz])(?:ing|e)? (?:the )?(?:\w+ )?(?:encoder|decoder|filters?|output stream)\b",
    re.IGNORECASE,
)
"""The last word of a server that does not start, or of a converter: why was said before."""


def _ended_alone(ending: Ending) -> bool:
    """Whether the last words of a runtime, without the names in them, say something, and nothing of the stack."""
    said = PANICKED.sub("", words_of(ending.message)).strip()
    if ending.type in ENDS:
        named = GIVEN.sub("", said).strip()
        return bool(said) and not opaque(said.split("\n", 1)[0]) and (not named or _said_alone(named))
    least = 1 if EXACT.match(ending.type) else WORDY
    return len(said) >= least and _said_alone(said) and not opaque(said.split("\n", 1)[0])


def _said_alone(message: str) -> bool:
    return bool(message) and not STACK.search(spoken(message))


def _of_a_tool(ending: Ending) -> bool:
    """Whether what was started and ended is a tool of the system, by its name."""
    found = _STARTED.search(ending.message)
    return found is not None and found["name"] in TOOLS


_STARTED = re.compile(r"Command '\[?'?(?:\S*/)?(?P<name>[\w.-]{1,40})")
_BY_TOOL = re.compile(rf"(?:{'|'.join(sorted(TOOLS))})(?: \(child\))?: ")


def _raised_alone(ending: Ending) -> bool:
    """Whether neither the message nor the place of an exception has to do with the GPU stack."""
    if _outsiders(ending):
        return _keyed(ending) or not HARD.search(spoken(QUOTED.sub("", ending.message)))
    if ending.name in PLAIN:
        return _keyed(ending) or not HARD.search(spoken(ending.message))
    if ending.name == "CalledProcessError" and _BUILDER.search(ending.message):
        return False
    if _of_its_own(ending):
        return True
    if module := _MODULE.search(ending.message):
        return module["name"].split(".")[0].lstrip("_") not in FRAMEWORKS and "pywrap" not in module["name"]
    said = _UNSAID.sub("", ending.message.split("\n\n", 1)[0][:FIRST])
    if STACK.search(said) or _hands_on(ending, said):
        return False
    return elsewhere(ending) or (_telling(ending, said) and not _at_the_gpu(ending.frame))


def _of_its_own(ending: Ending) -> bool:
    return _users(ending) or off_its_end(ending) or of_plain_values(ending)


def _hands_on(ending: Ending, said: str) -> bool:
    """Whether a framework's status says nothing, whatever frames were left of its traceback."""
    return ending.name in STATUSES and _OPAQUE.search(said.strip()) is not None


def _outsiders(ending: Ending) -> bool:
    """Whether a package for settings, data or services raised it: what it quotes are values of theirs."""
    module, dot, _ = ending.type.partition(".")
    return module in OUTSIDERS or bool(dot and module in _PYTHONS) or raised_by_outsider(ending)


def raised_by_outsider(ending: Ending) -> bool:
    """Whether the very line that raised it is such a package's: a picture that is cut off, a sheet without a column."""
    return ending.frame is not None and ending.frame.owner in OUTSIDERS


_PYTHONS = sys.stdlib_module_names - {"subprocess", "ctypes", "multiprocessing", "concurrent", "asyncio", "os", "torch"}
"""Modules of Python's own library that raise about data, not about a process or a library that was loaded."""


def _users(ending: Ending) -> bool:
    """Whether the user's own code made it: a condition or a class of its own, a word by hand, a wrong question."""
    by_words = by_hand(ending) and not of_the_stack(ending.message)
    return by_words or asked_wrongly(ending) or asserted_by_user(ending) or _own_class(ending)


def _telling(ending: Ending, said: str) -> bool:
    """Whether an exception has a name and words that say something."""
    named = bool(ending.name) and ending.name not in STATUSES
    return named and bool(said.strip()) and not _OPAQUE.search(said)


def by_users_call(ending: Ending) -> bool:
    """Whether the user's own code called what raised it: Python's library, or a package for data and services."""
    last = next((f.owner for f in reversed(ending.stack) if f.owner != PYTHON), "")
    return last == USER and (_outsiders(ending) or ending.name in PLAIN)


def _at_the_gpu(frame: Frame | None) -> bool:
    """Whether an exception came from code that deals with the GPU."""
    if frame is None:
        return False
    return bool(_GPU_FILES.search(frame.file)) or (frame.owner == USER and bool(_CODE.search(words_of(frame.code))))


def _keyed(ending: Ending) -> bool:
    """Whether the user's code asked a mapping of its own, or its settings, for a key, whatever that is called."""
    if ending.type.split(".", 1)[0] in ("omegaconf", "hydra"):
        return True
    frame = ending.frame
    return ending.name == "KeyError" and frame is not None and frame.owner == USER and "environ" not in frame.code


_FETCHES = re.compile(r"[\\/]utils[\\/]data[\\/]")
"""Where a framework only calls the user's own data set."""


def by_hand(ending: Ending) -> bool:
    """Whether the user's own code raised it by a statement, or asks a C library for a function that it has not."""
    frame = ending.frame
    if frame is None or any(f.owner in FRAMEWORKS and not _FETCHES.search(f.file) for f in ending.stack[-2:]):
        return False
    if frame.owner == USER and re.search(r"(?:^|: )raise [A-Z]\w*\(", frame.code) is not None:
        return not _CALLS.search(ending.message)
    return False


def asked_wrongly(ending: Ending) -> bool:
    """Whether the user's code asks a library by ctypes for a function that it has not, or that it needs itself."""
    frame = ending.frame
    wrapped = frame is not None and frame.owner == PYTHON and "ctypes" in frame.file
    if not wrapped or ending.name not in ("AttributeError", "OSError"):
        return False
    library, _, symbol = ending.message.partition(": undefined symbol: ")
    users = bool(symbol) and all(f.owner in (USER, PYTHON) for f in ending.stack)
    return users and not HARD.search(library) and (ending.name == "AttributeError" or not API.search(symbol))


def elsewhere(ending: Ending) -> bool:
    """Whether a whole traceback is shown in which no framework has a part, nor the user's code asks for one."""
    return bool(ending.type and ending.stack) and not any(
        frame.owner in FRAMEWORKS
        or _GPU_FILES.search(frame.file)
        or _CODE.search(words_of(frame.code))
        or not FRAMEWORKS.isdisjoint(_WORD.findall(frame.code) if "import" in frame.code else ())
        for frame in ending.stack
    )


def _own_class(ending: Ending) -> bool:
    """Whether the user's code raised an exception of its own making, and its words do not miss the GPU."""
    frame = ending.frame
    warned = ending.name.endswith("Warning")  # made an error by -W error
    if frame is None or frame.owner != USER or ending.name != ending.type:
        return False
    if hasattr(builtins, ending.name) and not warned:
        return False
    made = frame.code.startswith((f"raise {ending.name}(", "warnings.warn("))
    return made and not (_CALLS.search(ending.message) or BROKE.search(ending.message))


def asserted_by_user(ending: Ending) -> bool:
    """Whether a condition of the user's own failed: whatever its words say, the program itself wrote them."""
    frame = ending.frame
    if ending.name != "AssertionError":
        return False
    code = frame.code if frame is not None and frame.owner == USER else ""
    asserted = _CONDITION.search(code) or (frame is None and ending.message.startswith("assert "))
    said = QUOTED.sub("", ending.message)
    asks = _CALLS.search(_VARIABLES.sub("", f"{code} {said}"))
    return bool(asserted) and not (asks or (HARD.search(said) and BROKE.search(said)))


_VARIABLES = re.compile(r"\b(?:gpu|cuda|device)s?_(?!count\b)\w+(?!\w*\()|\b\w+_(?:gpu|cuda|device)s?\b(?!\()")
"""Names that the user gave to things of his own."""


def compared(ending: Ending) -> bool:
    """Whether a test compared two values: an error that stands in them is data, unlike an assert's own words."""
    frame = ending.frame
    by_method = frame is not None and "self.assert" in frame.code
    return asserted_by_user(ending) and (by_method or ending.message.startswith("assert "))


_CONDITION = re.compile(r"(?:^|: )(?:assert\b|self\.assert\w+\()")
"""A condition as Python or a test writes it; what stands in quotes there is compared, not meant."""


_CALLS = re.compile(
    r"is_available|device_count|list_physical_devices|list_logical|get_device|devices\(|cuda\.|gpus?\(|backend\("
    r"|\bno (?:cuda|gpus?)\b|(?:gpu|cuda)\b.{0,20}\b(?:not|required|needed|missing|unavailable)"
    r"|(?:need|require|expect)\w*.{0,20}\bgpu",
    re.IGNORECASE,
)
"""A condition that asks the GPU stack, or words that miss it."""
