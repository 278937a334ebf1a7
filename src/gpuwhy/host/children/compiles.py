"""Which of some modules this Python cannot compile; none is run. Standard library only, Python 3.5 and newer."""

import json
import sys

for path in sys.argv[1:]:
    try:
        with open(path, "rb") as file:
            compile(file.read(), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = "line {}: ".format(line) if line else ""
        told = "{}{}: {}".format(where, type(error).__name__, getattr(error, "msg", None) or error)
        print(json.dumps({"path": path, "told": told[:200]}), flush=True)
    except Exception:  # what cannot be read is told elsewhere
        pass
