"""Whether another Python starts as its user starts it, and finds some modules; if not, what is at fault.

Run by our own Python: `starts.py PYTHON MODULES VARIABLES SITE FILE…`, lists with commas. One line of JSON says how the
first start went; where it went badly, a second one names the variable without which, or the file with which alone, it
goes otherwise. Nothing is imported there but what Python imports by itself: each name is asked for by an import that
ends before the first file is read, so that what refuses it is seen. Standard library only, Python 3.5 on.
"""

import json
import os
import re
import subprocess
import sys

SECONDS = 4
LONGEST = 300
SECRET = re.compile("TOKEN|KEY|SECRET|PASS|CREDENTIAL|AUTH|^TF_(VAR|CLI)_|_(ADDR|ADDRESS|HOST|URL|URI|PROXY|USER)$")

STEERS = (
    "CUBLAS_", "CUDA_", "CUDNN_", "CUPY_", "JAX_", "KERAS_", "NCCL_", "NUMBA_", "NVIDIA_", "PROTOCOL_BUFFERS_",
    "PYTORCH_", "TF_", "TORCH_", "TRITON_", "XLA_",
)  # fmt: skip
"""How the variables begin that the GPU stack reads."""
LOOK = (
    "STEER = "
    + repr(STEERS)
    + """
import sys
def look(names):
    import json
    try:
        from importlib.util import find_spec
    except ImportError:
        names = []
    class Reached(BaseException):
        pass
    class Gate(object):
        def find_spec(self, name, path=None, target=None):
            if name in names:
                raise Reached()
    gate = Gate()
    lost = []
    for name in names:
        try:
            found = find_spec(name)
        except Exception:
            found = None
        if found is not None and name not in sys.modules:
            sys.meta_path.insert(0, gate)
            try:
                __import__(name)
            except Reached:
                pass
            except Exception:
                found = None
            sys.meta_path.remove(gate)
        if found is None:
            lost.append(name)
    version = "%d.%d.%d" % sys.version_info[:3]
    import os
    now = dict((name, os.environ[name]) for name in os.environ if name.startswith(STEER))
    sys.stdout.write("\\n" + json.dumps({"version": version, "lost": lost, "now": now}, sort_keys=False) + "\\n")
    sys.stdout.flush()
"""
)
ONE_FILE = """
import os
site, path = sys.argv[2:4]
sys.path.insert(0, site)
with open(path) as file:
    text = file.read()
if path.endswith(".pth"):
    sitedir = site
    for line in text.splitlines():
        if line.startswith(("import ", "import\\t")):
            exec(line)
else:
    exec(compile(text, path, "exec"), {"__name__": "sitecustomize", "__file__": path})
"""
ASK = "look([name for name in sys.argv[1].split(',') if name])\n"


def start(python, flags, code, arguments, environ):
    """One start: its answer, or how it ended instead."""
    try:
        done = subprocess.run(
            [python, "-B", *flags, "-c", code, *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS, env=environ,
            cwd="/",
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"ended": "Python does not answer within {} s".format(SECONDS)}
    except OSError as error:
        return {"ended": "Python cannot be started: {}".format(error.strerror)}
    said = [line for line in done.stdout.decode("utf-8", "replace").splitlines() if line.startswith('{"version"')]
    if said:
        return json.loads(said[-1])
    return {"ended": ended(done.returncode, done.stderr.decode("utf-8", "replace"))}


def ended(code, text):
    """How a start went that gave no answer."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and "<no Python frame>" not in line]
    raised = [line for line in lines if re.match(r"[\w.]*(Error|Exit|Exception|Interrupt)\b", line)]
    last = (raised or lines or [""])[-1][:LONGEST]
    how = "signal {}".format(-code) if code < 0 else "code {}".format(code)
    return "Python ends with {} before it runs anything{}".format(how, ": " + last if last else "")


def preset(answer, environ):
    """The variables that start-up set, or set otherwise than the shell."""
    now = answer.pop("now", {})
    return {name: now[name] for name in now if environ.get(name) != now[name] and not SECRET.search(name)}


def bad(answer):
    """Whether it did not start, or did not find what it should."""
    return bool("ended" in answer or answer["lost"])


def culprit(python, modules, variables, site, files, environ):
    """The variable without which, or the file with which alone, the start goes otherwise."""
    for name in variables:
        if environ.get(name):
            left = {key: value for key, value in environ.items() if key != name}
            if not bad(start(python, [], LOOK + ASK, [modules], left)):
                return {"variable": name}
    if bad(start(python, ["-S"], LOOK + ONE_FILE + ASK, [modules, site, os.devnull], environ)):
        return {}  # it goes no better without any of them
    for path in files:
        if bad(start(python, ["-S"], LOOK + ONE_FILE + ASK, [modules, site, path], environ)):
            return {"file": path}
    return {}


def asked():
    """The variables of the user's shell; those that steer the loader come under other names (see host/live.py)."""
    return {name[6:] if name.startswith("ASKED_LD_") else name: value for name, value in os.environ.items()}


def main(python, modules, variables, site, *files):
    """Start, and if that goes badly, look for what is at fault."""
    environ = asked()
    first = start(python, [], LOOK + ASK, [modules], environ)
    found = preset(first, environ)
    print(json.dumps(dict(first, sets=found) if found else first), flush=True)
    if bad(first):
        print(json.dumps(culprit(python, modules, variables.split(","), site, files, environ)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
