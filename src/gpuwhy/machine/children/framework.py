"""What a framework really does, in the Python under diagnosis: `framework.py NAME [--gentle]`.

Prints one JSON object a line: {"stage": …} before and {"end": stage, "ok": …, "why": …, "ms": …}
after each stage, {"calling": …} before and {"call": …, "ok": …, "text": …, "ms": …} after each
call, {"version": …, "built_for": …}, {"devices": […]}, {"mapped": […]}, {"exception": …}.
Standard library only, Python 3.5 and newer.
"""

import faulthandler
import importlib
import json
import os
import re
import sys
import time
import traceback

HERE = os.path.dirname(os.path.realpath(__file__))
MOST_TEXT = 6000
MOST_SHOWN = 300
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
        self.spoilt = False  # we have loaded libraries ourselves: what is mapped says nothing

    def say(self, value):
        """Print one JSON object, at once."""
        self.stream.write(json.dumps(value) + "\n")
        self.stream.flush()

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

    def compare(self, name, got, lowest, highest):
        """Hold the extremes of an array on the host against what they have to be."""
        name, found = "check " + name, (float(got.min()), float(got.max()))
        off = [abs(one - other) for one, other in zip(found, (lowest, highest))]
        text = "from %g to %g" % found
        if not all(one <= TOLERANCE * highest for one in off):  # false for NaN too
            self.fail(name, "wrong result: %s instead of %g to %g" % (text, lowest, highest))
        self.told(name, text)


def since(start):
    """Milliseconds since a moment."""
    return round((time.time() - start) * 1000, 2)


def shown(value):
    """A short answer as text; nothing for an object that has no short form."""
    if isinstance(value, (list, tuple)) and all(isinstance(one, (str, int)) for one in value):
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
    """The traceback from where the framework's code begins, a long one without its middle."""
    trace = error.__traceback__
    while trace is not None:
        if os.path.dirname(os.path.realpath(trace.tb_frame.f_code.co_filename)) != HERE:
            break
        trace = trace.tb_next
    text = "".join(traceback.format_exception(type(error), error, trace))
    if len(text) <= MOST_TEXT:
        return text
    return text[: MOST_TEXT // 3] + "\n[...]\n" + text[-MOST_TEXT * 2 // 3 :]


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


def computed(talk, work, wanted):
    """Each calculation of a stage, and its results against their extremes on the host."""
    for name, function in work:
        results = talk.call(name, function)
        for (part, lowest, highest), got in zip(wanted, results):
            talk.compare("%s, %s" % (name, part), got, lowest, highest)


def attempt(talk, name, step, *args):
    """Run one stage; whether it passed."""
    talk.say({"stage": name})
    start = time.time()
    ok, why = True, ""
    try:
        step(*args)
    except (Exception, SystemExit) as error:
        ok, why = False, reason(error)
        if not isinstance(error, Failed):
            talk.say({"exception": story(error)})
    talk.mapped()
    talk.say({"end": name, "ok": ok, "why": why, "ms": since(start)})
    return ok


def go(talk, name, gentle):
    """Every stage in order; without an import or a device there is no going on."""
    before = [path for path in sys.path if os.path.realpath(path) != HERE]  # as in the user's runs
    sys.path.insert(0, HERE)
    if os.name == "nt":
        importlib.import_module("windows_modules")
    probe = importlib.import_module("framework_stages").PROBES[name](talk, gentle)
    sys.path[:] = before
    if not attempt(talk, "import", probe.load) or (gentle and not probe.lists_gently):
        return
    if not attempt(talk, "devices", probe.devices) or gentle:
        return
    attempt(talk, "matmul", computed, talk, probe.matmul(), probe.product)
    attempt(talk, "convolution", computed, talk, probe.convolution(), probe.convolved)


def main(name, gentle):
    """Keep standard output for ourselves: frameworks print there too."""
    talk = Talk(os.fdopen(os.dup(1), "w"))
    os.dup2(2, 1)
    if os.name != "nt":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    faulthandler.enable()
    faulthandler.dump_traceback_later(HANGING)
    go(talk, name, gentle)


if __name__ == "__main__":
    main(sys.argv[1], "--gentle" in sys.argv)
    sys.stderr.flush()
    os._exit(0)  # what a framework does while Python ends is not asked for
