"""Which of some modules this Python cannot compile; none is run. Standard library only, Python 3.5 and newer.

A path with `-` before it is that of a file that got smaller: where it ends within a line, it was cut off.
"""

import json
import sys


def wrong(path, cut):
    """What is wrong with a module, "" where nothing is, or where it cannot be read."""
    try:
        with open(path, "rb") as file:
            text = file.read()
        compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = "line {}: ".format(line) if line else ""
        return "{}{}: {}".format(where, type(error).__name__, getattr(error, "msg", None) or error)[:200]
    except Exception:
        return ""
    return "it ends within a line" if cut and not text.endswith((b"\n", b"\r")) else ""


for named in sys.argv[1:]:
    found = named[1:] if named.startswith("-") else named
    told = wrong(found, named.startswith("-"))
    if told:
        print(json.dumps({"path": found, "told": told}), flush=True)
