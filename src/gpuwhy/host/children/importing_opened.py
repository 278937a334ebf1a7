"""What a framework opens and starts only where there is a GPU: libraries of the environment, and programs.

Run by the Python under diagnosis, as a part of importing.py. Standard library only, Python 3.5 and newer.
"""

import sys


def opened(paths):
    """Libraries that the framework opens where there is a GPU; one that needs another of them comes after it."""
    import ctypes

    left = []
    for path in paths:
        sys.stderr.write('File "%s", line 0, opened\n' % path)  # the last of them is where a crash happened
        sys.stderr.flush()
        try:
            ctypes.CDLL(path)
        except OSError:
            left.append(path)
    for path in left:
        with_path(path, ctypes.CDLL, path)
    return sys


def with_path(path, function, *args):
    """Call; what is raised names the file."""
    try:
        return function(*args)
    except OSError as error:
        error.path = path
        raise


def started(path):
    """A program that the framework starts where there is a GPU."""
    import subprocess

    sys.stderr.write('File "%s", line 0, started\n' % path)
    done = subprocess.Popen(
        [path, "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    said = done.communicate()[1].decode("utf-8", "replace").strip().splitlines()
    if done.returncode:
        raise OSError("%s --version ends with code %d%s" % (path, done.returncode, ": " + said[-1] if said else ""))
    return sys
