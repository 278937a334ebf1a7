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
TYPES = {
    "i": ctypes.c_int,
    "u": ctypes.c_uint,
    "z": ctypes.c_size_t,
    "q": ctypes.c_uint64,  # memory of the device
    "p": ctypes.c_void_p,
    "s": ctypes.c_char_p,
}


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
            return "%.1f %s" % (count / float(scale), unit)
    return "%d bytes" % count


def version(number):
    """12090 as CUDA 12.9."""
    return "CUDA %d.%d" % (number // 1000, number % 1000 // 10)


class Failed(Exception):  # noqa: N818 - it is a result, not an error of ours
    """What ends a stage: a call that gave an error, or a wrong result."""


class Stage(object):
    """One stage as a `with` block; a Failed inside is its result."""

    def __init__(self, name, device=None):
        self.name, self.device, self.ok, self.why, self.start = name, device, False, "", 0.0

    def __enter__(self):
        say({"stage": self.name, "device": self.device})
        self.start = clock()
        return self

    def __exit__(self, kind, error, trace):
        if error is None:
            self.ok = True
        elif isinstance(error, Failed):
            self.why = str(error)
        elif isinstance(error, Exception):
            self.why = "the probe itself: %s: %s" % (type(error).__name__, error)
        else:
            return False
        say({"end": self.name, "ok": self.ok, "why": self.why, "ms": since(self.start)})
        return True


def since(start):
    """Milliseconds since then."""
    return round((clock() - start) * 1000, 3)


def late():
    """Whether the time for beginning another GPU is spent."""
    return clock() - STARTED > SECONDS


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
    """Open a library by path or name, its symbols for all."""
    name = "dlopen " + os.path.basename(path)
    say({"calling": name})
    start = clock()
    try:
        library = opened(path)
    except OSError as error:
        words = str(error)
        told(name, False, text=words, ms=since(start))
        why = words[len(path) + 2 :] if words.startswith(path + ": ") else words
        raise Failed("%s cannot be loaded: %s" % (os.path.basename(path), why)) from None
    told(name, True, text=path, ms=since(start))
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


class Api(object):
    """A library's functions; `signatures` has their arguments' TYPES, before "=" the result's.

    `describe(api, code)` gives the library's name and words for a code.
    """

    def __init__(self, path, signatures, describe):
        self.library, self.signatures, self.describe = load(path), signatures, describe
        self.error = ""  # of the last call that gave one, in words

    def has(self, name):
        """Whether the library has a function."""
        return hasattr(self.library, name)

    def function(self, name):
        """A function with its types set."""
        result, _, arguments = self.signatures[name].rpartition("=")
        try:
            function = getattr(self.library, name)
        except AttributeError:
            told(name, False, text="the library has no such function")
            raise Failed("the library has no %s" % name) from None
        function.restype = TYPES[result or "i"]
        function.argtypes = [TYPES[one] for one in arguments]
        return function

    def words(self, name, *arguments):
        """The text that a function returns; "" where the library has no such function."""
        return shown(self.function(name)(*arguments)) if self.has(name) else ""

    def tell_file(self, name):
        """Print the file that holds a function."""
        address = ctypes.cast(self.function(name), ctypes.c_void_p).value or 0
        for start, end, path in mapped():
            if start <= address < end:
                say({"library": path.encode("utf-8", "backslashreplace").decode("utf-8")})
                return

    def attempt(self, name, *arguments, **how):
        """Call, print the result, return the code.

        `text` gives the value after success; `quiet` prints errors only.
        """
        function = self.function(name)
        say({"calling": name})
        start = clock()
        code = function(*arguments)
        ms = since(start)
        if code != 0:
            status, text = self.describe(self, code)  # once: some libraries forget it then
            told(name, False, code, status, text, ms)
            answer = " ".join(filter(None, ("%s gave %d" % (name, code), status)))
            self.error = ": ".join(filter(None, (answer, text)))
        elif not how.get("quiet"):
            told(name, True, 0, text=how["text"]() if "text" in how else "", ms=ms)
        return code

    def __call__(self, name, *arguments, **how):
        """As attempt; an error ends the stage."""
        if self.attempt(name, *arguments, **how) != 0:
            raise Failed(self.error)

    def quiet(self, name, *arguments):
        """As a call whose success goes without saying."""
        self(name, *arguments, quiet=True)

    def made(self, name):
        """A handle that a function writes to its only argument."""
        handle = ctypes.c_void_p()
        self.quiet(name, ctypes.byref(handle))
        return handle

    def value(self, name):
        """What a function without a status returns."""
        function = self.function(name)
        say({"calling": name})
        start = clock()
        value = function()
        told(name, True, text=str(value), ms=since(start))
        return value

    def number(self, name, *arguments, **how):
        """The int that a function writes to its first argument; `form` shows it."""
        value = ctypes.c_int()
        form = how.get("form", "{}".format)
        self(name, ctypes.byref(value), *arguments, text=lambda: form(value.value))
        return value.value
