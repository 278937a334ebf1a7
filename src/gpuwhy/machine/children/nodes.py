"""Opens every NVIDIA device node as CUDA would and closes it at once: `nodes.py [FOLDER for /dev]`.

Prints {"opening": path} before each and {"path": path, "opened": …} after it: "ok", the errno's
name, "hung" or "not a device".
"""

import errno
import os
import re
import stat
import sys
import threading

from talk import say

WANTED = re.compile(r"nvidia(ctl|-uvm|-uvm-tools|-modeset|\d+)$|dxg$")
CAPS = re.compile(r"nvidia-cap\d+$")
SECONDS = 1.0
MOST_HUNG = 3


def listed(folder, wanted):
    """The paths in a folder whose names fit, in a stable order."""
    try:
        return [folder + "/" + name for name in sorted(os.listdir(folder)) if wanted.match(name)]
    except OSError:
        return []


def attempt(path, flags, result):
    """Open and close one node; leave what happened in `result`."""
    try:
        if not stat.S_ISCHR(os.stat(path).st_mode):
            result.append("not a device")
            return
        os.close(os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC))
        result.append("ok")
    except OSError as error:
        result.append(errno.errorcode.get(error.errno, str(error.errno)))


def main(folder):
    """Try each node in turn, in a thread that may hang; give up after a few that do."""
    nodes = [(path, os.O_RDWR) for path in listed(folder, WANTED)]
    nodes += [(path, os.O_RDONLY) for path in listed(folder + "/nvidia-caps", CAPS)]
    hung = 0
    for path, flags in nodes:
        say({"opening": path})
        result = [] if hung < MOST_HUNG else ["not tried"]
        if not result:
            worker = threading.Thread(target=attempt, args=(path, flags, result), daemon=True)
            worker.start()
            worker.join(SECONDS)
        hung += not result
        say({"path": path, "opened": result[0] if result else "hung"})


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "/dev")
    os._exit(0)  # a thread that hangs in open() must not keep the process
