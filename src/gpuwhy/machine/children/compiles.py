"""Which of some Python modules do not compile, in gpuwhy's own Python: `compiles.py PATH…`.

Nothing of them is run. In a process of its own, because a hostile one may take all of the stack.
"""

import sys

from talk import say

MOST = 4 << 20  # bytes of a module


def wrong(path):
    """What is wrong with a module, "" where nothing is, or where it cannot be read."""
    try:
        with open(path, "rb") as file:
            compile(file.read(MOST), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = "line %d: " % line if line else ""
        words = getattr(error, "msg", None) or error
        return ("%s%s: %s" % (where, type(error).__name__, words))[:200]
    except Exception:
        return ""
    return ""


for named in sys.argv[1:]:
    say({"path": named, "wrong": wrong(named)})
