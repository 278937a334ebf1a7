"""Opens every NVIDIA device node as CUDA would and closes it at once: `nodes.py [FOLDER for /dev]`.

Prints {"opening": path} before each and {"path": path, "opened": …} after it: "ok", the errno's
name, "hung" or "not a device".
"""

import errno
import json
import os
import re
import stat
import sys
import threading

WANTED = re.compile(r"nvidia(ctl|-uvm|-uvm-tools|-modeset|\d+)$|dxg$")
CAPS = re.compile(r"nvidia-cap\d+$")
SECONDS = 1.0
MOST_HUNG = 3


def say(value):
    """Print one JSON object, at once."""
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def listed(folder, wanted):
    """The paths in a folder whose names fit, in a stable order."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [folder + "/" + name for name in names if wanted.match(name)]


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


def opened(path, flags):
    """What opening a node gives, or "hung" when it does not come back in time."""
    result = []
    worker = threading.Thread(target=attempt, args=(path, flags, result))
    worker.daemon = True
    worker.start()
    worker.join(SECONDS)
    return result[0] if result else "hung"


def main(folder):
    """Try each node in turn; give up after a few that hang."""
    nodes = [(path, os.O_RDWR) for path in listed(folder, WANTED)]
    nodes += [(path, os.O_RDONLY) for path in listed(folder + "/nvidia-caps", CAPS)]
    hung = 0
    for path, flags in nodes:
        say({"opening": path})
        if hung >= MOST_HUNG:
            said = "not tried"
        else:
            said = opened(path, flags)
            hung += said == "hung"
        say({"path": path, "opened": said})


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "/dev")
    os._exit(0)  # a thread that hangs in open() must not keep the process
