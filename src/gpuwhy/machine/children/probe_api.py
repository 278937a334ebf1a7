"""Libraries of the native stages, opened and called by ctypes; a part of probe.py."""

import ctypes
import os

from probe_talk import Failed, clock, mapped, say, since, told

STARTED = clock()
SECONDS = 6.0  # after that, no further GPU is begun
ALTERED_SEARCH_PATH = 8  # LoadLibraryEx
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
    "cuda": ("cuGetErrorName", "cuGetErrorString"),
    "nvrtc": ("nvrtcGetErrorString", ""),
    "cudart": ("cudaGetErrorName", "cudaGetErrorString"),
    "cublas": ("cublasGetStatusName", "cublasGetStatusString"),
    "cudnn": ("cudnnGetErrorString", ""),
    "nccl": ("", "ncclGetErrorString"),
}
"""The functions of a library that give the name of a code, and words for it."""


def late():
    """Whether the time for beginning another GPU is spent."""
    return clock() - STARTED > SECONDS


def shown(value):
    """A str from what a library gives as text; "" for NULL."""
    return value.decode("utf-8", "replace").strip() if value else ""


def size(count):
    """A number of bytes for people."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            return "%.1f %s" % (count / scale, unit)
    return "%d bytes" % count


def version(number):
    """12090 as CUDA 12.9."""
    return "CUDA %d.%d" % (number // 1000, number % 1000 // 10)


def opened(path):
    """A library with its symbols for all; on Windows what it needs may lie beside it or on PATH."""
    name = "dlopen " + os.path.basename(path)
    say({"calling": name})
    start = clock()
    try:
        if os.name == "nt":
            library = ctypes.CDLL(path, winmode=ALTERED_SEARCH_PATH if os.path.isabs(path) else 0)
        else:
            library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    except OSError as error:
        told(name, False, text=str(error), ms=since(start))
        words = str(error)[len(path) + 2 :] if str(error).startswith(path) else str(error)
        raise Failed("%s cannot be loaded: %s" % (os.path.basename(path), words)) from None
    told(name, text=path, ms=since(start))
    return library


def preload(paths):
    """Open dependencies first, as in the framework's process; one that fails may not be missed."""
    for path in paths:
        try:
            opened(path)
        except Failed:
            pass


class Api:
    """A library's functions; every integer is passed in 64 bits.

    Where a function takes an `int`, the calling conventions of x86-64 and of ARM's Linux have it
    in the lower half of the same register or stack slot.
    """

    def __init__(self, family, path, first=""):
        self.family, self.library = family, opened(path)
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
            raise Failed("the library has no " + name)
        function = self.library[name]
        function.restype = result
        return lambda *given: function(
            *(ctypes.c_int64(one) if isinstance(one, int) else one for one in given)
        )

    def words(self, name, argument):
        """The text of a function, returned or (the driver) written; "" where there is none."""
        if not self.has(name):
            return ""
        if self.family != "cuda":
            return shown(self.function(name, ctypes.c_char_p)(argument))
        text = ctypes.c_char_p()
        return shown(text.value) if self.function(name)(argument, ctypes.byref(text)) == 0 else ""

    def described(self, code):
        """The library's name and words for a code."""
        name, words = (self.words(one, code) for one in WORDS[self.family])
        if self.has("cudnnGetLastErrorString"):  # since cuDNN 9
            text = ctypes.create_string_buffer(1024)
            self.function("cudnnGetLastErrorString")(text, len(text))
            words = shown(text.value)
        elif self.has("ncclGetLastError"):
            words = "; ".join(filter(None, (words, self.words("ncclGetLastError", None))))
        if not name and self.family in NAMES:
            prefix, *names = NAMES[self.family].split()
            name = prefix + dict(zip(names[::2], names[1::2])).get(str(code), str(code))
        return name, words

    def tell_file(self, name):
        """Print the file that holds a function: the one that is really mapped."""
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
            answer = " ".join(filter(None, ("%s gave %d" % (name, code), status)))
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
