"""What a framework really does, in the Python under diagnosis: `framework.py NAME [--gentle]`.

Prints one JSON object a line: {"stage": …} before and {"end": stage, "ok": …, "why": …, "ms": …}
after each stage, {"calling": …} before and {"call": …, "ok": …, "text": …, "ms": …} after each
call, {"version": …, "built_for": …}, {"devices": […]}, {"mapped": […]}, {"note": …},
{"exception": …}. Standard library only, Python 3.5 and newer.
"""

import faulthandler
import importlib
import json
import os
import re
import sys
import time
import traceback

NAMES = ("tensorflow", "torch", "jax", "onnxruntime", "cupy")
HERE = os.path.dirname(os.path.realpath(__file__))
MOST_TEXT = 6000
MOST_SHOWN = 300
SLOW_MS = 3000.0
HANGING = 100.0  # seconds after which every thread's stack is printed; the parent ends us at 120
TOLERANCE = 0.02
MAPPED = re.compile(
    r".*/(lib(cuda|cudart|cublas|cudnn|cufft|curand|cusolver|cusparse|cupti|cutensor|nccl|nvrtc"
    r"|nvJitLink|nvinfer|nvshmem|nvidia|nvToolsExt|nvtx|cufile|torch|c10|caffe2|tensorflow"
    r"|onnxruntime|jax)[^/]*\.so"
    r"|[^/]*(xla_cuda_plugin|_pywrap_tensorflow|onnxruntime_pybind11|xla_extension|_jax)[^/]*\.so"
    r"|torch/_C\.[^/]*)[^/]*$"
    if os.name != "nt"
    else r"(?i).*/((cu(da|bl|dn|ff|pt|ra|so|sp)|nv(cuda|ml|rtc|jit|toolsext|infer)|torch|c10|caffe2"
    r"|onnxruntime)[^/]*\.dll|[^/]*(_pywrap_tensorflow|onnxruntime_pybind11)[^/]*\.pyd"
    r"|torch/_C\.[^/]*)$"
)
NESTED = re.compile(r"\w*(Error|Exception|Warning): .*\S")


class Failed(Exception):  # noqa: N818 - an answer of the probe
    """A framework that answered, but not what it had to."""


class Talk:
    """The way out: one JSON object a line on a stream that nobody else writes to."""

    def __init__(self, stream):
        self.stream = stream
        self.files = []
        self.spoilt = (
            False  # we have loaded libraries ourselves: what is mapped says nothing any more
        )

    def say(self, value):
        """Print one JSON object, at once."""
        self.stream.write(json.dumps(value) + "\n")
        self.stream.flush()

    def note(self, text):
        """Something that the reader has to know."""
        self.say({"note": text})

    def about(self, version, built_for):
        """What the framework says of itself."""
        self.say({"version": str(version), "built_for": ", ".join(built_for)})

    def call(self, name, function, *args):
        """Call, and tell before and after; what it raises goes on."""
        self.say({"calling": name})
        start = time.time()
        try:
            answer = function(*args)
        except BaseException as error:
            self.say({"call": name, "ok": False, "text": reason(error), "ms": since(start)})
            raise
        self.say({"call": name, "ok": True, "text": shown(answer), "ms": since(start)})
        return answer

    def mapped(self):
        """The libraries in this process, where they have changed."""
        files = mapped()
        if files != self.files and not self.spoilt:
            self.files = files
            self.say({"mapped": files})

    def told(self, name, text):
        """A question that was answered on the way."""
        self.say({"call": name, "ok": True, "text": text, "ms": 0.0})

    def fail(self, name, text):
        """A check that came out wrong."""
        self.say({"call": name, "ok": False, "text": text, "ms": 0.0})
        raise Failed(text)

    def memory(self, name, ask):
        """Free and total GPU memory, where the framework can say; nothing where it cannot."""
        try:
            free, total = ask()
        except Exception:
            return
        self.told(name, "%.1f of %.1f GiB free" % (free / 2.0**30, total / 2.0**30))

    def twice(self, name, function):
        """The answer of the first of two calls; a note where only the first is slow: code was
        compiled for it.
        """
        times = []
        answer = None
        for which in ("first", "second"):
            start = time.time()
            one = self.call("%s (%s)" % (name, which), function)
            answer = one if which == "first" else answer
            times.append(since(start))
        if times[0] > SLOW_MS and times[0] > 20 * times[1]:
            self.note(
                "%s: the first took %.1f s, the second %.1f ms" % (name, times[0] / 1000, times[1])
            )
        return answer

    def compare(self, name, got, wanted):
        """Hold a result against the host's; both are arrays of the same kind on the host."""
        name = "compare %s with the host" % name
        if tuple(got.shape) != tuple(wanted.shape):
            self.fail(
                name, "the result has shape %s, not %s" % (tuple(got.shape), tuple(wanted.shape))
            )
        worst = float(abs(got - wanted).max())
        largest = float(abs(wanted).max())
        if not worst <= TOLERANCE * largest:  # false for NaN too
            self.fail(
                name, "wrong result: off by %g where the largest value is %g" % (worst, largest)
            )
        self.told(name, "off by %g at most, largest value %g" % (worst, largest))


def since(start):
    """Milliseconds since a moment."""
    return round((time.time() - start) * 1000, 2)


def shown(value):
    """A short answer as text; nothing for an object that has no short form."""
    if isinstance(value, (list, tuple)) and all(
        isinstance(one, (str, int, float)) for one in value
    ):
        return " ".join(str(one) for one in value)[:MOST_SHOWN]
    return str(value)[:MOST_SHOWN] if isinstance(value, (str, int, float)) else ""


def reason(error):
    """The line of an exception that tells what happened: not a list of remedies, not the traceback
    inside it.
    """
    kind, text = type(error).__name__, str(error)
    lines = [line.strip() for line in text.splitlines() if re.search(r"\w", line)]
    inner = [line for line in lines if NESTED.match(line)]
    if inner and ("Original error" in text or lines[0].startswith("Traceback")):
        return inner[-1]
    if kind == "Failed":
        return text
    return "%s: %s" % (kind, lines[0]) if lines else kind


def story(error):
    """The traceback from where the framework's code begins."""
    trace = error.__traceback__
    while (
        trace is not None
        and os.path.dirname(os.path.realpath(trace.tb_frame.f_code.co_filename)) == HERE
    ):
        trace = trace.tb_next
    return "".join(traceback.format_exception(type(error), error, trace))


def cut(text):
    """A long text without its middle."""
    return (
        text
        if len(text) <= MOST_TEXT
        else text[: MOST_TEXT // 3] + "\n[...]\n" + text[-MOST_TEXT * 2 // 3 :]
    )


def files():
    """Every file in this process; a deleted one says so."""
    if os.name == "nt":
        return [path for _, _, path in sys.modules["windows_modules"].modules()]
    try:
        with open("/proc/self/maps", "rb") as file:
            lines = os.fsdecode(file.read()).splitlines()
    except OSError:
        return []
    return [line[line.index("/") :] for line in lines if "/" in line]


def mapped():
    """The files of CUDA, the driver and the frameworks in this process, in order of address."""
    out = []
    for path in files():
        if path not in out and MAPPED.match(path.replace(" (deleted)", "")):
            out.append(path)
    return out


def attempt(talk, name, step):
    """Run one stage; whether it passed."""
    talk.say({"stage": name})
    start = time.time()
    ok, why = True, ""
    try:
        step()
    except (Exception, SystemExit) as error:
        ok, why = False, reason(error)
        if not isinstance(error, Failed):
            talk.say({"exception": cut(story(error))})
    talk.mapped()
    talk.say({"end": name, "ok": ok, "why": why, "ms": since(start)})
    return ok


def go(talk, name, gentle):
    """Every stage in order; without an import or a device there is no going on."""
    before = [
        path for path in sys.path if os.path.realpath(path) != HERE
    ]  # HERE: not so in the user's own runs
    sys.path.insert(0, HERE)
    if os.name == "nt":
        importlib.import_module("windows_modules")
    probe = importlib.import_module("framework_" + name).Probe(talk, gentle)
    sys.path[:] = before
    if not attempt(talk, "import", probe.load):
        return
    if gentle and not probe.lists_gently:
        return
    if not attempt(talk, "devices", probe.devices) or gentle:
        return
    attempt(talk, "matmul", probe.matmul)
    attempt(talk, "convolution", probe.convolution)


def no_core_file():
    """A crash leaves no file."""
    if os.name != "nt":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def main(argv):
    """Keep standard output for ourselves: frameworks print there too."""
    if not argv or argv[0] not in NAMES:
        sys.exit("usage: framework.py %s [--gentle]" % "|".join(NAMES))
    talk = Talk(os.fdopen(os.dup(1), "w"))
    os.dup2(2, 1)
    no_core_file()
    faulthandler.enable()
    faulthandler.dump_traceback_later(HANGING)
    go(talk, argv[0], "--gentle" in argv)


if __name__ == "__main__":
    main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(0)  # what a framework does while Python ends is not asked for
