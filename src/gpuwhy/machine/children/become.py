"""Becomes another program, which then ends with whoever started us: `become.py PROGRAM ARG…`."""

import os
import sys

if __name__ == "__main__":
    try:
        os.execvp(sys.argv[1], sys.argv[1:])
    except OSError as error:
        sys.exit("error: %s cannot be started: %s" % (sys.argv[1], error.strerror))
