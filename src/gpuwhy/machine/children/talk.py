"""How the children answer: one JSON object a line, and what may die or hang is named before it.

{"stage": …} begins a stage of `check --probe` and {"end": …} ends it; {"calling": NAME} comes
before a call, so that a crash or a hang has a name; {"call": NAME, …} is its error.
Standard library only, Python 3.5 and newer.
"""

import json
import os
import sys
import time

clock = time.perf_counter


class Failed(Exception):  # noqa: N818 - it is a result, not an error of ours
    """What ends a stage: a call that gave an error, or a wrong result."""


class _Out:
    fd = 1


def begin():
    """Keep standard output for our lines: libraries print there too. No core files either."""
    _Out.fd = os.dup(1)
    os.dup2(2, 1)
    if os.name != "nt":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def say(value):
    """Print one JSON object, at once and whole."""
    data = (json.dumps(value) + "\n").encode("ascii")
    while data:
        data = data[os.write(_Out.fd, data) :]


def since(start):
    """Milliseconds since then."""
    return round((clock() - start) * 1000, 3)


def failed(name, code=None, status="", text="", ms=0.0):
    """Print the result of a call that did not succeed."""
    say({"call": name, "ok": False, "code": code, "status": status, "text": text, "ms": ms})


def compare(name, right, wrong):
    """Check something ourselves; `wrong` says what is wrong where it is not right."""
    if not right:
        failed(name, text=wrong)
        raise Failed(wrong)


class Stage:
    """One stage as a `with` block; a Failed inside is its result."""

    def __init__(self, name, device=None):
        self.name, self.device, self.ok = name, device, False

    def __enter__(self):
        say({"stage": self.name, "device": self.device})
        self.start = clock()
        return self

    def __exit__(self, kind, error, trace):
        if error is not None and not isinstance(error, Exception):
            return False
        own = error is None or isinstance(error, Failed)
        why = str(error or "") if own else "the probe itself: %s: %s" % (kind.__name__, error)
        self.ok = error is None
        say({"end": self.name, "ok": self.ok, "why": why, "ms": since(self.start)})
        return True


def mapped():
    """(start, end, path) of every library in this process, in order; none where nobody tells."""
    out = []
    if os.path.exists("/proc/self/maps"):
        with open("/proc/self/maps", "rb") as maps:
            for line in os.fsdecode(maps.read()).splitlines():
                place, _, path = line.partition(" /")
                if path:
                    start, _, end = place.split()[0].partition("-")
                    out.append((int(start, 16), int(end, 16), "/" + path))
    return out


def leave():
    """End at once: what a library does while Python ends is not under test."""
    sys.stderr.flush()
    os._exit(0)
