"""Runs a script of this folder and ends with whoever started it: `start.py PARENT SCRIPT ARG…`.

`start.py PARENT become PROGRAM ARG…` becomes another program, which then ends with us too.
"""

import ctypes
import os
import sys

DEATH_SIGNAL, KILL = 1, 9


def die_with(parent):
    """Ask the kernel to end us when the thread that started us ends; see prctl(2)."""
    if sys.platform.startswith("linux"):
        try:
            ctypes.CDLL(None).prctl(DEATH_SIGNAL, KILL, 0, 0, 0)
        except (OSError, AttributeError):
            return
        if os.getppid() != parent:
            os._exit(1)


def main(parent, script):
    """Become the script, or the program."""
    die_with(int(parent))
    del sys.argv[:2]
    if script == "become":
        try:
            os.execvp(sys.argv[1], sys.argv[1:])
        except OSError as error:
            sys.exit("error: %s cannot be started: %s" % (sys.argv[1], error.strerror))
    sys.path.insert(0, os.path.dirname(script))
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec")
    exec(code, {"__name__": "__main__", "__file__": script})


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
