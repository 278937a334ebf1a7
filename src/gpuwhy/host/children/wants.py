"""Where the code of a package imports a module that is not there: `wants.py FOLDER MODULE`; nothing of it is run.

One JSON object, {"file", "line"}, for the first such import that no `try` guards and that is not for type checkers.
Standard library only, Python 3.5 and newer.
"""

import ast
import json
import os
import re
import sys
import time

SECONDS = 5
ASIDE = re.compile(r"^(_?tests?|testing|docs?|examples?|benchmarks?|conftest|setup|_?vendor.*)(\.py)?$")
MOST = 1 << 20  # bytes of a module


def modules(folder):
    """The modules of a package, those of its own folder first."""
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if not ASIDE.match(one) and one != "__pycache__")
        for name in sorted(names):
            if name.endswith(".py") and not ASIDE.match(name):
                yield os.path.join(here, name)


def text_of(path):
    """The text of a module; "" where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(MOST).decode("utf-8", "replace")
    except OSError:
        return ""


def plain(nodes):
    """The statements that may run: what `try` guards is left out, and what is for type checkers."""
    for node in nodes:
        if isinstance(node, ast.Try) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)):
            continue
        yield node
        for field in ("body", "orelse"):
            part = getattr(node, field, None)
            for one in plain(part if isinstance(part, list) else []):
                yield one


def asks(node, module):
    """Whether a statement imports a module."""
    if isinstance(node, ast.Import):
        return any(one.name.partition(".")[0] == module for one in node.names)
    return isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").partition(".")[0] == module


def first(folder, module):
    """The place of the first import, or None."""
    said = re.compile(r"^\s*(import|from)\s+%s\b" % re.escape(module), re.MULTILINE)
    until = time.time() + SECONDS
    for path in modules(folder):
        if time.time() > until:
            return None
        text = text_of(path)
        if not said.search(text):
            continue
        try:
            found = [node.lineno for node in plain(ast.parse(text).body) if asks(node, module)]
        except (SyntaxError, ValueError, RecursionError):
            continue
        if found:
            return {"file": path, "line": found[0]}
    return None


if __name__ == "__main__":
    place = first(sys.argv[1], sys.argv[2])
    if place:
        print(json.dumps(place))
