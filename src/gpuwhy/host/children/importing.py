"""Imports modules as a program of this Python would: `importing.py MODULES SECONDS [--site FOLDER]... [--run FILE]`.

With --uses, what people do first with some packages is done too, where their import alone does not try it.

A module with "?" before it is tried while there is time (--budget SECONDS for all; {"untried": true} where there was
none), with the parts of it that stand on a framework, where the package loads those when they are asked for; with "??"
after those. "??~" is a part of one of these, of which only what tells that packages do not fit together counts,
unless "!" and its module say that the package lacks what it asks for.

Run by the Python under diagnosis. The first module is imported here, each further one in a fork, so that what was
loaded once is there for all and none falls with another; "tensorflow:keras.layers" is a part that its package loads
when it is first asked for. One JSON object a line: {"module", "ok", "ms"} with "version" and "file", or with "kind",
"why", "lost", "text", "files" of what was raised; {"stand_ins": {name: path}} for files of the working folder that have
the names of modules which were asked for: that folder is left out of the search, for nothing of the user's own may run.
With --site (Python started with -S) only those folders are searched, and nothing of theirs is run but FILE; the
variables that FILE sets are told ({"sets": names}), and --unset NAME gives one of them its old value.
Standard library only, Python 3.5 and newer.
"""

import sys


class Asked:
    """Sees the name of every module that is looked for, and finds none itself."""

    def __init__(self):
        self.names = []
        self.last = []  # names with dots too

    def find_spec(self, name, path=None, target=None):
        """Keep a name without a dot."""
        if "." not in name and name not in self.names:
            self.names.append(name)
        self.last = [*self.last[-3:], (name, path)]


ASKED = Asked()
sys.meta_path.insert(0, ASKED)

import importlib.machinery  # noqa: E402 - what is asked for from here on is seen
import json  # noqa: E402
import os  # noqa: E402
import time  # noqa: E402
import traceback  # noqa: E402

from importing_faults import fault, outside, sought  # noqa: E402 - beside this file
from importing_inner import inner  # noqa: E402
from importing_opened import opened, started, with_path  # noqa: E402
from importing_parts import TELLING, facing, hollow, short  # noqa: E402
from importing_search import given, search  # noqa: E402
from importing_uses import used, uses_of  # noqa: E402

MOST_TEXT = 6000
MOST_MESSAGE = 1500
MOST_FILES = 24
LEAST = 10  # seconds for one that is begun
MARK = "\x1e"
HERE = os.path.dirname(os.path.realpath(__file__))
ENDINGS = (".py", os.sep + "__init__.py", ".so", ".abi3.so")
OURS = (
    "importlib", "json", "os", "time", "traceback", "re", "importing_faults", "importing_inner", "importing_opened",
    "importing_parts", "importing_search", "importing_uses", "faulthandler", "resource", "signal",
)  # fmt: skip
USE_SECONDS, USES_SECONDS = 40, 60  # for one small use; for all
PLAIN_SECONDS = 30  # for what has nothing to do with a GPU


class Talk:
    """One JSON object a line on a stream that nobody else writes to."""

    def __init__(self):
        self.number = os.dup(1)
        os.dup2(2, 1)

    def say(self, value):
        """In one write: forks share the stream."""
        os.write(self.number, (json.dumps(value) + "\n").encode())


def torch_sum():
    """A sum on the CPU, and PyTorch's bridge to the NumPy that is installed."""
    torch = importlib.import_module("torch")
    made = torch.ones(2) + 1
    if importlib.machinery.PathFinder.find_spec("numpy") is not None:
        made.numpy()


def jax_sum():
    """A sum on the CPU; a GPU would be taken whole, so where JAX can use one, its own choice is not tried."""
    jax = importlib.import_module("jax")
    jaxlib = os.path.dirname(str(importlib.import_module("jaxlib").__file__))
    try:
        if importlib.machinery.PathFinder.find_spec("jax_plugins") or os.path.isdir(jaxlib + "/cuda"):
            jax.config.update("jax_platforms", "cpu")
    except AttributeError:
        return  # before 0.3.15
    importlib.import_module("jax.numpy").ones(2) + 1


def tensorflow_sum():
    """A sum on the CPU; the GPUs are hidden from this process, which nothing has shown them to yet."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    importlib.import_module("tensorflow").constant([1.0]) + 1


SUMS = {"torch": torch_sum, "jax": jax_sum, "tensorflow": tensorflow_sum}


def imported(name):
    """The module, and the part of it that was asked for."""
    if name.startswith("sum:"):
        SUMS[name[4:]]()
        return sys
    if name.startswith("open:"):
        return opened(name[5:].split("|"))
    if name.startswith("run:"):
        return with_path(name[4:], started, name[4:])
    if name.startswith("use:"):
        return used(name)
    module, _, part = name.partition(":")
    found = importlib.import_module(module)
    if not getattr(found, "__file__", None) and getattr(found, "__path__", None) is not None:
        folder = next(iter(found.__path__), module)
        raise ImportError("%s is an empty folder: it has no __init__.py that can be read" % module, path=folder)
    if module == "torch" and getattr(found.version, "cuda", None):
        found.backends.cudnn.version()  # raises where cuDNN is not the one that it was built for
    one = found
    for word in filter(None, part.split(".")):
        one = getattr(one, word)
    return found


def attempt(talk, name):
    """Import, and tell how that went."""
    sys.stdout.flush()
    sys.stderr.write("\n%s%s\n" % (MARK, name))  # what is printed from here on is this one's
    sys.stderr.flush()
    start, lenient = time.time(), name.startswith("~")
    name = name.lstrip("~")
    told = {"module": name, "ok": True}
    try:
        module = imported(name)
        told["prefix"], told["python"] = sys.prefix, "%d.%d.%d" % sys.version_info[:3]
        known = vars(module)  # a package that loads parts by their names is not asked
        told["version"], told["file"] = str(known.get("__version__", ""))[:80], str(known.get("__file__", ""))
    except BaseException as error:
        if lenient and not TELLING.search(str(error)):
            return True  # a part for which something has to be installed
        told.update(raised(error), ok=False)
    told["ms"] = round((time.time() - start) * 1000, 1)
    talk.say(told)
    return told["ok"]


def raised(error):
    """An exception and those behind it: its words, the module that was not found, the files that led to it."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    lines = [line.strip() for line in str(error).splitlines() if any(map(str.isalnum, line))]
    first = lines[0] + (" " + lines[-1] if lines[0].endswith(":") and lines[1:] else "") if lines else ""
    why = type(error).__name__ + (": " + short(first) if first else "")
    lost = (getattr(error, "name", "") or "") if isinstance(error, ImportError) else ""
    empty = hollow(error)
    if empty:
        return dict(EMPTY, prefix=sys.prefix, why=why, message=str(error), source=empty, text=text, files=files(error))
    return {
        "kind": type(error).__name__,
        "prefix": sys.prefix,
        "python": "%d.%d.%d" % sys.version_info[:3],
        "why": why,
        "message": str(error)[-MOST_MESSAGE:],
        "lost": lost,
        "missing": type(error).__name__ == "ModuleNotFoundError" or str(error).startswith("No module named"),
        "source": getattr(error, "path", "") or getattr(error, "filename", "") or "",
        "text": text if len(text) <= MOST_TEXT else text[: MOST_TEXT // 3] + "\n[...]\n" + text[-MOST_TEXT * 2 // 3 :],
        "files": files(error),
        "fault": fault(error),
        "outside": outside(error),
        "sought": sought(error),
    }


EMPTY = {"kind": "EmptyFolder", "python": "%d.%d.%d" % sys.version_info[:3], "lost": "", "missing": False}


def files(error):
    """The files on the way to it, the innermost first: modules that were being loaded, libraries that were not."""
    out = [path for path in map(origin, reversed(ASKED.last)) if path]
    while error is not None and len(out) < MOST_FILES:
        own = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
        own.append(getattr(error, "path", None) or getattr(error, "filename", None) or "<")
        out += [one for one in reversed(own) if one not in out and not str(one).startswith("<")]
        error = error.__cause__ or error.__context__
    return [one for one in out if os.path.dirname(os.path.realpath(one)) != HERE][:MOST_FILES]


def origin(asked):
    """The file of a module that was asked for and is not there now: its own code failed."""
    name, path = asked
    if name in sys.modules:
        return ""
    try:
        found = importlib.machinery.PathFinder.find_spec(name, path)
    except Exception:
        return ""
    return getattr(found, "origin", "") or ""


def stand_ins():
    """Files of the working folder with the names of modules that were asked for; those in use from there are meant."""
    here, out = os.getcwd(), {}
    if getattr(sys.flags, "safe_path", False):
        return out
    for name in [one for one in ASKED.names if one not in OURS and one not in sys.builtin_module_names]:
        path = next((here + os.sep + name + end for end in ENDINGS if os.path.isfile(here + os.sep + name + end)), "")
        used = getattr(sys.modules.get(name), "__file__", None)
        if path and used and os.path.realpath(used) != os.path.realpath(path):
            out[name] = path
    return out


def told_stand_ins(talk):
    """The same for who reads."""
    found = stand_ins()
    if found:
        talk.say({"stand_ins": found})


def quiet():
    """A crash leaves no file and tells the stack."""
    import faulthandler

    faulthandler.enable()
    if os.name != "nt":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def on_the_way(talk, name, waiting):
    """What else was imported with it, and the parts of all of them; the names are for who waits to skip them."""
    found = [one for one in waiting if one == name or one in sys.modules]
    for one in found:
        if one != name:
            talk.say({"module": one, "ok": True, "ms": 0, "with": name})
    for part in [part for one in found for part in facing(one)]:
        attempt(talk, part)
    return found


def forked(talk, name, seconds, waiting=()):
    """The same in a fork, which ends itself in time; a crash there is told here. What needs no try of its own then."""
    sys.stderr.flush()
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        import signal

        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        if attempt(talk, name) and not name.startswith(("use:", "~")):
            signal.alarm(0)
            found = on_the_way(talk, name, waiting) if waiting else [name]
            small(talk, found)
            os.write(writes, ",".join(found if waiting else ()).encode())
        told_stand_ins(talk)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as file:
        done = file.read().split(",")
    status = os.waitpid(child, 0)[1]
    if status:
        how = "late" if status & 127 == 14 else "crashed"
        talk.say({"module": name.lstrip("~"), "ok": False, "signal": status & 127, "code": status >> 8, "how": how})
    return done


def small(talk, modules):
    """Parts of modules that are imported and load nothing, and small uses if asked for; each in a fork of its own."""
    for name in [name for one in modules for name in [*(uses_of(one) if USES else ()), *parts(one)]]:
        left = int(LATEST[0] - time.time())
        if left > 0:
            forked(talk, name, min(USE_SECONDS, left))
        elif not name.startswith("~"):
            talk.say({"module": name, "untried": True})


def parts(module):
    """Of a module that is imported: what commands and plug-ins take of it, and parts where it loads nothing."""
    taken = [one for one in ENTRIES if (one.partition(":")[0] + ".").startswith(module + ".")]
    lenient = "" if module in LACKING else "~"
    return [lenient + one for one in [*taken, *inner(module)]]


ENTRIES = []  # type: list[str]
LACKING = []  # type: list[str]
"""What is tried after the module that it belongs to; modules of packages that lack what they ask for: they may fail."""
LATEST = [0.0]
"""When the last small use is begun."""
USES = []  # type: list[str]
"""Empty where no small uses are asked for."""


def further(talk, names, seconds, budget):
    """The others, each in a fork; those that may be left out as long as there is time, those with "??" after them."""
    for name in [one for one in names if not one.startswith("?")]:
        forked(talk, name, seconds)
    first = [one[1:] for one in names if one.startswith("?") and not one.startswith("??")]
    in_turn(talk, first, seconds, budget)
    LATEST[0] = min(LATEST[0], time.time() + PLAIN_SECONDS)
    last = [one[2:] for one in names if one.startswith("??") and not one.startswith("??~")]
    in_turn(talk, last, seconds, min(budget, PLAIN_SECONDS))


def in_turn(talk, waiting, seconds, budget):
    """Each in a fork as long as there is time; what came along with one is not tried again."""
    start = time.time()
    while waiting and time.time() - start < budget:
        left = int(budget - (time.time() - start)) + LEAST
        done = forked(talk, waiting[0], min(seconds, left), waiting)
        waiting = [one for one in waiting[1:] if one not in done]
    for name in waiting:
        talk.say({"module": name, "untried": True})


def main(argv):
    """The first module here, the others after it."""
    talk, seconds = Talk(), int(argv[1])
    LACKING.extend(one[1:] for one in argv[0].split("\n") if one.startswith("!"))
    names = [one for one in argv[0].split("\n") if not one.startswith("!")]
    quiet()
    changed = search(argv)
    if changed:
        talk.say({"sets": changed})
    ASKED.names, ASKED.last = [], []
    LATEST[0] = time.time() + seconds + USES_SECONDS
    ENTRIES.extend(one[3:] for one in names if one.startswith("??~"))
    USES.extend(one for one in argv if one == "--uses")
    if attempt(talk, names[0]) and hasattr(os, "fork"):
        small(talk, names[:1])
        further(talk, names[1:], seconds, float(given(argv, "--budget") or 0))
    told_stand_ins(talk)


if __name__ == "__main__":
    main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(0)  # what a framework does while Python ends is not asked for
