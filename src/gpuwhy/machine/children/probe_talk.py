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


class Options(object):
    """What the command line asked for."""

    def __init__(self, arguments):
        self.libraries, self.preload, self.skip = {}, [], set()
        self.limit, self.gpu, self.driver = 300 * 10**6, True, True
        rest = list(arguments)
        while rest:
            self.take(rest.pop(0), rest)

    def take(self, name, rest):
        """One option with its value."""
        if name == "--no-gpu":
            self.gpu = False
        elif name == "--no-driver":
            self.gpu = self.driver = False
        elif name == "--preload":
            self.preload.append(rest.pop(0))
        elif name == "--skip":
            self.skip.add(rest.pop(0))
        elif name == "--limit":
            self.limit = int(rest.pop(0))
        else:
            self.libraries[name.lstrip("-")] = rest.pop(0)

    def wants(self, stage, device=None):
        """Whether a stage is to run: neither it nor it on this GPU is to be skipped."""
        return stage not in self.skip and "%s:%s" % (stage, device) not in self.skip


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
    """Open dependencies first, as they are in the framework's process; one that does not open may
    never be missed.
    """
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


def tell_library(function):
    """Print the file that holds a function."""
    address = ctypes.cast(function, ctypes.c_void_p).value or 0
    for start, end, path in mapped():
        if start <= address < end:
            say({"library": path.encode("utf-8", "backslashreplace").decode("utf-8")})
            return


class Api(object):
    """The functions of a loaded library with their signatures, and its own names for its codes."""

    def __init__(self, library, signatures, describe):
        self.library, self.signatures, self.describe = library, signatures, describe
        self.error = ""  # of the last call that gave one, in words

    def has(self, name):
        """Whether the library has a function."""
        return hasattr(self.library, name)

    def function(self, name):
        """A function with its types set."""
        result, arguments = self.signatures[name]
        try:
            function = getattr(self.library, name)
        except AttributeError:
            told(name, False, text="the library has no such function")
            raise Failed("the library has no %s" % name) from None
        function.restype, function.argtypes = result, arguments
        return function

    def value(self, name, *arguments):
        """What a function without a status returns."""
        function = self.function(name)
        say({"calling": name})
        start = clock()
        value = function(*arguments)
        told(name, True, text=str(value), ms=since(start))
        return value

    def attempt(self, name, *arguments, **how):
        """Call, print the result, return the code; `text` gives the value after success, `quiet`
        prints errors only.
        """
        function = self.function(name)
        say({"calling": name})
        start = clock()
        code = function(*arguments)
        ms = since(start)
        if code != 0:
            status, text = self.describe(code)  # once: some libraries forget it then
            told(name, False, code, status, text, ms)
            self.error = sentence(name, code, status, text)
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


def sentence(name, code, status, text):
    """What a call answered, in words."""
    return "%s gave %d%s%s" % (
        name,
        code,
        " " + status if status else "",
        ": " + text if text else "",
    )
