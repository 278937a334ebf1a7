"""Imports and tries frameworks in the Python under diagnosis; kept by keeper.py.

`importing.py FD ORDER`: each line of JSON goes to the descriptor FD: {"begins": number} before a
try and {"try": number, "ok": …} after it. ORDER is JSON: {"tries": [[kind, module, target …]],
"sites": […], "start_file": path}. With sites (Python started with -S) only these folders are
searched, and of what Python runs at its start only that file is run.
Standard library only, Python 3.5 and newer.
"""

import importlib
import json
import os
import sys
import time
import traceback

MOST_TEXT = 6000
MOST_WORDS = 2000
MOST_FILES = 24
HERE = os.path.dirname(os.path.realpath(__file__))


class Asked(object):
    """Sees the name of every module that is looked for, and finds none itself."""

    last = []  # type: list[tuple[str, object]]

    def find_spec(self, name, path=None, target=None):
        """Keep the last few."""
        self.last[:] = self.last[-3:] + [(name, path)]


def compute(module):
    """A sum on the CPU; with PyTorch's bridge to NumPy, which is compiled against one release."""
    found = importlib.import_module(module)
    if module == "torch":
        made = found.ones(2) + 1
        if importlib.machinery.PathFinder.find_spec("numpy") is not None:
            made.numpy()
    elif module == "tensorflow":
        found.constant([1.0]) + 1
    elif module == "jax":
        try:
            found.config.update("jax_platforms", "cpu")
        except AttributeError:
            return found  # before 0.3.15
        importlib.import_module("jax.numpy").ones(2) + 1
    return found


def imported(module):
    """The module, or the part of it behind a colon, which its package loads when asked for."""
    name, _, part = module.partition(":")
    found = importlib.import_module(name)
    if not getattr(found, "__file__", None) and getattr(found, "__path__", None) is not None:
        folder = next(iter(found.__path__), name)
        raise ImportError("%s has no __init__.py that can be read" % name, path=folder)
    one = found
    for word in filter(None, part.split(".")):
        one = getattr(one, word)
    return found


def opened(paths):
    """Libraries that a framework opens with a GPU; one that needs another of them comes after."""
    import ctypes

    for again in (False, True):
        left = []
        for path in paths:
            sys.stderr.write('File "%s", line 0, opened\n' % path)  # the last is where a crash was
            sys.stderr.flush()
            try:
                ctypes.CDLL(path)
            except OSError as error:
                left.append(path)
                error.filename = path
                if again:
                    raise
        paths = left


def started(path):
    """A program that a framework starts where there is a GPU."""
    import subprocess

    none, pipe, both = subprocess.DEVNULL, subprocess.PIPE, subprocess.STDOUT
    done = subprocess.Popen([path, "--version"], stdin=none, stdout=pipe, stderr=both)
    said = done.communicate()[0].decode("utf-8", "replace").strip().splitlines()
    if done.returncode:
        words = "%s --version ends with code %d" % (path, done.returncode)
        raise OSError(words + (": " + said[-1] if said else ""))


def attempt(say, number, one):
    """One try, told."""
    say({"begins": number})
    start = time.time()
    told = {"try": number, "ok": True, "prefix": sys.prefix}
    told["python"] = "%d.%d.%d" % sys.version_info[:3]
    try:
        kind, module, targets = one[0], one[1], one[2:]
        if kind in ("open", "run"):
            found = opened(targets) if kind == "open" else started(targets[0])
        else:
            found = compute(module) if kind == "compute" else imported(module)
        known = vars(found) if found is not None else {}
        told["version"] = str(known.get("__version__", ""))[:80]
        told["file"] = str(known.get("__file__", "") or "")
    except BaseException as error:
        told.update(raised(error), ok=False)
    told["ms"] = round((time.time() - start) * 1000, 1)
    say(told)
    return told["ok"]


def chain(error):
    """An exception and those behind it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def named(error):
    """The file that an exception names."""
    return str(getattr(error, "path", "") or getattr(error, "filename", "") or "")


def raised(error):
    """What is reported of an exception; `errno`: of the first of the chain that has one."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    if len(text) > MOST_TEXT:
        text = text[: MOST_TEXT // 3] + "\n[...]\n" + text[-MOST_TEXT * 2 // 3 :]
    lost = getattr(error, "name", None) if isinstance(error, ImportError) else None
    gone = type(error).__name__ == "ModuleNotFoundError" or str(error).startswith("No module named")
    numbers = [one.errno for one in chain(error) if isinstance(getattr(one, "errno", None), int)]
    return {
        "error": type(error).__name__,
        "words": str(error)[:MOST_WORDS],
        "missing": str(lost or "") if gone else "",
        "source": named(error),
        "errno": next(filter(None, reversed(numbers)), 0),
        "text": text,
        "files": files(error),
    }


def files(error):
    """The files on the way to it, the innermost first."""
    out = [path for path in map(origin, reversed(Asked.last)) if path]
    for one in chain(error):
        own = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(one.__traceback__)]
        paths = [named(one) or "<"] + own[::-1]
        out += [path for path in paths if path not in out and not path.startswith("<")]
    ours = (HERE, os.path.dirname(os.path.realpath(importlib.__file__)))
    return [one for one in out if os.path.dirname(os.path.realpath(one)) not in ours][:MOST_FILES]


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


def search(sites, start_file):
    """Look into some folders alone, with those that plain lines of their .pth files name, and run
    one file as Python does when it starts.
    """
    code = ("import ", "import\t")
    for site in sites:
        sys.path.append(site)
        for name in sorted(one for one in os.listdir(site) if one.endswith(".pth")):
            try:
                with open(os.path.join(site, name)) as file:
                    lines = [line.strip() for line in file]
            except (OSError, ValueError):
                continue
            plain = [line for line in lines if line and not line.startswith(code + ("#",))]
            folders = [os.path.join(site, line) for line in plain]
            sys.path.extend(folder for folder in folders if os.path.isdir(folder))
    if not start_file:
        return
    with open(start_file) as file:
        text = file.read()
    if start_file.endswith(".pth"):
        for line in text.splitlines():
            if line.startswith(code):
                exec(line, {"sitedir": sites[0] if sites else ""})
    else:
        names = {"__name__": "sitecustomize", "__file__": start_file}
        exec(compile(text, start_file, "exec"), names)


def main(number, order):
    """Each try in turn; what comes after one that failed is tried all the same."""
    import faulthandler

    orders = json.loads(order)

    def say(value):
        os.write(number, (json.dumps(value) + "\n").encode())

    faulthandler.enable()
    sys.path[:] = [one for one in sys.path if one and os.path.realpath(one) != HERE]
    before = dict(os.environ)
    search(orders.get("sites") or [], orders.get("start_file") or "")
    changed = sorted(name for name in os.environ if before.get(name) != os.environ[name])
    say({"sets": changed})
    sys.meta_path.insert(0, Asked())
    for place, one in enumerate(orders["tries"]):
        if not attempt(say, place, one) and one[0] == "import" and place == 0:
            break  # nothing of a framework can be tried that cannot be imported
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # what a framework does while Python ends is not asked for


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
