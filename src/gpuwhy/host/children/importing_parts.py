"""Parts of a package that stand on a framework and matter most, where it loads them late; what errors tell.

Run by the Python under diagnosis, as a part of importing.py. Standard library only, Python 3.5 and newer.
"""

import os
import re
import sys

MOST_PARTS = 3
MOST_READ = 600  # files of a package
BASES = ("torch", "tensorflow", "jax")
LAZY = re.compile(r"_LazyModule|LazyLoader|lazy_loader|def __getattr__")
USED = re.compile(r"^\s*from\s+[.\w]*?(\w+)\s+import", re.MULTILINE)

TELLING = re.compile(
    r"undefined symbol|cannot import name|binary incompatib|has no attribute|unexpected keyword|generated code"
    r"|compiled (using|against|for)|numpy\.core|No module named '\w+\.\w"
)
"""What is said where two packages do not fit together, and not where one is only missed."""


def short(line):
    """A line; of a long one its beginning and its end, where the reason stands."""
    return line if len(line) <= 300 else line[:100] + " ... " + line[-195:]


def hollow(error):
    """The folder without code that Python takes for a package, where an error is that it has nothing in it."""
    said = re.match(r"module '(\w+)' has no attribute", str(error)) if isinstance(error, AttributeError) else None
    found = sys.modules.get(said.group(1)) if said else None
    if found is None or getattr(found, "__file__", None):
        return ""
    return next(iter(getattr(found, "__path__", None) or ()), "")


def facing(name):
    """Parts of a package that loads them when they are asked for: those that import a framework, most used first."""
    first = str(getattr(sys.modules.get(name), "__file__", "") or "")
    there = "|".join(one for one in BASES if one in sys.modules)
    if not there or os.path.basename(first) != "__init__.py" or not LAZY.search(source(first)):
        return []
    folder = os.path.dirname(first)
    texts = {path: source(path) for path in parts_of(folder)}
    users = [source(path) for path in users_of(folder)]
    used = [found for text in [*texts.values(), *users] for found in USED.findall(text)]
    direct = re.compile(r"^(?:import|from) (?:%s)\b" % there, re.MULTILINE)
    counts = {path: used.count(os.path.basename(path)[:-3]) for path in texts if direct.search(texts[path])}
    best = sorted(filter(counts.get, counts), key=lambda path: -counts[path])[:MOST_PARTS]
    return [name + "." + os.path.relpath(path, folder)[:-3].replace(os.sep, ".") for path in best]


def parts_of(folder):
    """The modules of a package, and of the packages in it, without tests."""
    out = []
    if not os.path.isdir(folder):
        return out
    for below in [folder, *sorted(os.path.join(folder, name) for name in os.listdir(folder))]:
        if os.path.isdir(below) and "test" not in os.path.basename(below):
            names = [name for name in sorted(os.listdir(below)) if name.endswith(".py") and "test" not in name]
            out += [os.path.join(below, name) for name in names if not name.startswith("__")]
    return out[:MOST_READ]


def users_of(folder):
    """Modules a level further down, some of each package: they tell what is used most."""
    out = []
    for below in sorted(os.listdir(folder)):
        for part in (
            sorted(os.listdir(os.path.join(folder, below))) if os.path.isdir(os.path.join(folder, below)) else []
        ):
            out += parts_of(os.path.join(folder, below, part))[:4] if "test" not in part else []
    return out[:MOST_READ]


def source(path):
    """The text of a module, as far as it imports something."""
    try:
        with open(path, "rb") as file:
            return file.read(30000).decode("utf-8", "replace")
    except OSError:
        return ""
