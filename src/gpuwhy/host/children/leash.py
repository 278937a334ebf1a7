"""Leash: runs a command for a parent, and ends it with all it started when the parent is gone, even by SIGKILL.

Runs as a script of its own, in a session of its own; its standard input is a pipe that the parent holds open.
"""

import os
import signal
import subprocess
import sys
import threading


def main(argv):
    """Run the command; its own code, or death by its signal."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda *_: None)  # the command gets them too, and decides
    threading.Thread(target=_until_parent_is_gone, daemon=True).start()
    try:
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
    except OSError as error:
        sys.stderr.write("{} cannot be started: {}\n".format(argv[0], error.strerror))
        return 127
    code = child.wait()
    if code < 0:
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _until_parent_is_gone():
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
