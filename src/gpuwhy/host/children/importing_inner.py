"""Parts of packages that load next to nothing of their own: what people import instead.

Run by the Python under diagnosis, as a part of importing.py. Standard library only, Python 3.5 and newer.
"""

import importlib.machinery
import os
import sys

from importing_uses import USES  # beside this file

MOST_INNER = 4
PLAIN = ("api", "core", "main", "grpc", "http", "models")
"""How parts are called that people import first."""
ASIDE = (
    "_",
    "test",
    "doc",
    "example",
    "benchmark",
    "script",
    "tool",
    "conftest",
    "setup",
    "cli",
    "vendor",
    "thirdparty",
)


def inner(name):
    """Parts of a package that loads next to nothing of its own when it is imported: what people import instead."""
    found = sys.modules.get(name)
    first = str(getattr(found, "__file__", "") or "")
    loaded = [one for one in sys.modules if one.startswith(name + ".")]
    if os.path.basename(first) != "__init__.py" or name in USES or len(loaded) > MOST_INNER:
        return []
    folder = os.path.dirname(first)
    names = {module_of(folder, one) for one in os.listdir(folder)} - {""}
    names = sorted(one for one in names if not one.startswith(ASIDE) and name + "." + one not in sys.modules)
    best = sorted(names, key=lambda one: PLAIN.index(one) if one in PLAIN else len(PLAIN))
    return [name + "." + one for one in best[:MOST_INNER]]


def module_of(folder, entry):
    """The name of a package, a compiled module or one that people import first; "" for anything else."""
    ends = [one for one in (".py", *importlib.machinery.EXTENSION_SUFFIXES) if entry.endswith(one)]
    own = entry[: -len(ends[-1])] if ends else entry
    if ends == [".py"] and own not in PLAIN:
        return ""  # it may be a program
    package = not ends and os.path.exists(os.path.join(folder, entry, "__init__.py"))
    return own if (ends or package) and own.isidentifier() else ""
