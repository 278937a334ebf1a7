"""How the probe's children answer: one JSON object a line, each call named before it is made.

A part of probe.py. {"stage": …} begins a stage and {"end": …} ends it; {"calling": NAME} comes
before a call, so that a crash or a hang has a name; {"call": NAME, …} is its result.
"""

import ctypes
import json
import os
import time

OUT = os.dup(1)
os.dup2(2, 1)  # what libraries print belongs to the error stream
clock = time.perf_counter
STARTED = clock()
ALTERED_SEARCH_PATH = 8  # LoadLibraryEx
SECONDS = 6.0  # after that, no further GPU is begun
NAMES = {
    "cuda": "CUDA_ERROR_ 34 STUB_LIBRARY",
    "cublas": "CUBLAS_STATUS_ 1 NOT_INITIALIZED 3 ALLOC_FAILED 7 INVALID_VALUE 8 ARCH_MISMATCH"
    " 11 MAPPING_ERROR 13 EXECUTION_FAILED 14 INTERNAL_ERROR 15 NOT_SUPPORTED 16 LICENSE_ERROR",
    "nccl": "nccl 1 UnhandledCudaError 2 SystemError 3 InternalError 4 InvalidArgument"
    " 5 InvalidUsage 6 RemoteError 7 InProgress",
}
"""Prefix, numbers and names of codes, for libraries that do not name them: NCCL never does, cuBLAS
since CUDA 11.4.2; the driver's stub does not.
"""
WORDS = {
    "nvrtc": ("nvrtcGetErrorString", ""),
    "cudart": ("cudaGetErrorName", "cudaGetErrorString"),
    "cublas": ("cublasGetStatusName", "cublasGetStatusString"),
    "cudnn": ("cudnnGetErrorString", ""),
    "nccl": ("", "ncclGetErrorString"),
}
"""The functions of a library that return the name of a code, and words for it."""


def say(value):
    """Print one JSON object, at once and whole."""
    data = (json.dumps(value) + "\n").encode("ascii")
    while data:
        data = data[os.write(OUT, data) :]


def shown(value):
    """A str from what a library gives as text; "" for NULL."""
    return value.decode("utf-8", "replace").strip() if value else ""


def size(count):
    """A number of bytes for people."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            return f"{count / scale:.1f} {unit}"
    return f"{count} bytes"


def version(number):
    """12090 as CUDA 12.9."""
    return f"CUDA {number // 1000}.{number % 1000 // 10}"


def since(start):
    """Milliseconds since then."""
    return round((clock() - start) * 1000, 3)


def late():
    """Whether the time for beginning another GPU is spent."""
    return clock() - STARTED > SECONDS


class Failed(Exception):  # noqa: N818 - it is a result, not an error of ours
    """What ends a stage: a call that gave an error, or a wrong result."""


class Stage:
    """One stage as a `with` block; a Failed inside is its result."""

    def __init__(self, name, device=None):
        self.name, self.device, self.ok, self.why = name, device, False, ""

    def __enter__(self):
        say({"stage": self.name, "device": self.device})
        self.start = clock()
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, Failed):
            self.why = str(error)
        elif isinstance(error, Exception):
            self.why = f"the probe itself: {type(error).__name__}: {error}"
        elif error is not None:
            return False
        self.ok = error is None
        say({"end": self.name, "ok": self.ok, "why": self.why, "ms": since(self.start)})
        return True


def told(name, ok, code=None, status="", text="", ms=0.0):
    """Print the result of a call."""
    say({"call": name, "ok": ok, "code": code, "status": status, "text": text, "ms": ms})


def compare(name, wrong, right=""):
    """Print the result of a check of ours; `wrong` says what is wrong, "" when nothing is."""
    told(name, not wrong, text=wrong or right)
    if wrong:
        raise Failed(wrong)


def opened(path):
    """A library with its symbols for all; on Windows what it needs may lie beside it or on PATH."""
    if os.name == "nt":
        return ctypes.CDLL(path, winmode=ALTERED_SEARCH_PATH if os.path.isabs(path) else 0)
    return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)


def load(path):
    """Open a library by path or name."""
    file = os.path.basename(path)
    say({"calling": "dlopen " + file})
    start = clock()
    try:
        library = opened(path)
    except OSError as error:
        told("dlopen " + file, False, text=str(error), ms=since(start))
        raise Failed(f"{file} cannot be loaded: {str(error).removeprefix(path + ': ')}") from None
    told("dlopen " + file, True, text=path, ms=since(start))
    return library


def preload(paths):
    """Open dependencies first, as in the framework's process; one that fails may not be missed."""
    for path in paths:
        say({"calling": "dlopen " + os.path.basename(path)})
        try:
            opened(path)
        except OSError as error:
            told("dlopen " + os.path.basename(path), False, text=str(error))


def mapped():
    """(start, end, path) of every file mapping."""
    if os.name == "nt":
        import windows_modules

        return windows_modules.modules()
    out = []
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            fields = line.rstrip("\n").split(None, 5)
            if len(fields) == 6 and fields[5].startswith("/"):
                start, _, end = fields[0].partition("-")
                out.append((int(start, 16), int(end, 16), fields[5]))
    return out


class Api:
    """A library's functions; every integer is passed in 64 bits.

    Where a function takes an `int`, the calling conventions of x86-64 and of ARM's Linux have it
    in the lower half of the same register or stack slot.
    """

    def __init__(self, family, path, first=""):
        self.family, self.library = family, load(path)
        self.error = ""  # of the last call that gave one, in words
        if first:
            self.tell_file(first)

    def has(self, name):
        """Whether the library has a function."""
        return bool(name) and hasattr(self.library, name)

    def function(self, name, result=ctypes.c_int):
        """A function that returns a status, if nothing else."""
        if not self.has(name):
            told(name, False, text="the library has no such function")
            raise Failed(f"the library has no {name}")
        function = self.library[name]
        function.restype = result
        return lambda *given: function(
            *(ctypes.c_int64(one) if isinstance(one, int) else one for one in given)
        )

    def words(self, name, argument):
        """The text that a function returns; "" where the library has no such function."""
        return shown(self.function(name, ctypes.c_char_p)(argument)) if self.has(name) else ""

    def described(self, code):
        """The library's name and words for a code."""
        name, words = (self.words(one, code) for one in WORDS.get(self.family, ("", "")))
        if self.family == "cuda":
            name, words = map(self.written(code).get, ("cuGetErrorName", "cuGetErrorString"))
        elif self.has("cudnnGetLastErrorString"):  # since cuDNN 9
            text = ctypes.create_string_buffer(1024)
            self.function("cudnnGetLastErrorString")(text, len(text))
            words = shown(text.value)
        elif self.has("ncclGetLastError"):
            words = "; ".join(filter(None, (words, self.words("ncclGetLastError", None))))
        if not name and self.family in NAMES:
            prefix, *names = NAMES[self.family].split()
            name = prefix + dict(zip(names[::2], names[1::2])).get(str(code), str(code))
        return name, words

    def written(self, code):
        """What the driver writes of a code: each function, and its text."""
        out = {}
        for name in ("cuGetErrorName", "cuGetErrorString"):
            text = ctypes.c_char_p()
            known = self.has(name) and self.function(name)(code, ctypes.byref(text)) == 0
            out[name] = shown(text.value) if known else ""
        return out

    def tell_file(self, name):
        """Print the file that holds a function."""
        self.function(name)
        address = ctypes.cast(self.library[name], ctypes.c_void_p).value or 0
        for start, end, path in mapped():
            if start <= address < end:
                say({"library": path.encode("utf-8", "backslashreplace").decode("utf-8")})
                return

    def attempt(self, name, *arguments, text=str, quiet=False):
        """Call, print the result, return the code.

        `text` gives the value after success; `quiet` prints errors only.
        """
        function = self.function(name)
        say({"calling": name})
        start = clock()
        code = function(*arguments)
        ms = since(start)
        if code != 0:
            status, words = self.described(code)  # once: some libraries forget it then
            told(name, False, code, status, words, ms)
            answer = " ".join(filter(None, (f"{name} gave {code}", status)))
            self.error = ": ".join(filter(None, (answer, words)))
        elif not quiet:
            told(name, True, 0, text=text(), ms=ms)
        return code

    def __call__(self, name, *arguments, **how):
        """As attempt; an error ends the stage."""
        if self.attempt(name, *arguments, **how) != 0:
            raise Failed(self.error)

    def quiet(self, name, *arguments):
        """As a call whose success goes without saying."""
        self(name, *arguments, quiet=True)

    def made(self, name, *arguments, form=None, kind=ctypes.c_void_p):
        """What a function writes to its first argument: a handle, or a number that `form` shows."""
        value = kind()
        text = (lambda: form(value.value)) if form else str
        self(name, ctypes.byref(value), *arguments, text=text, quiet=form is None)
        return value if kind is ctypes.c_void_p else value.value

    def number(self, name, *arguments, form=str):
        """The int that a function writes to its first argument."""
        return self.made(name, *arguments, form=form, kind=ctypes.c_int)
