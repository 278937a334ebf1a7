"""Runs in a worker on a node of a Ray cluster: asks gpuwhy there, with the node's own variables.

Ray hides the GPUs from a task that asks for none, by an empty CUDA_VISIBLE_DEVICES; a job's own
tasks see them.
"""

import os
import subprocess
import sys

NAME = "CUDA_VISIBLE_DEVICES"


def started_with(pid):
    """The variables of a process when it was started; {} where nobody may look."""
    try:
        with open("/proc/%d/environ" % pid, "rb") as file:
            pairs = [one.split(b"=", 1) for one in file.read().split(b"\0") if b"=" in one]
    except (OSError, AttributeError):
        return {}
    return {os.fsdecode(name): os.fsdecode(value) for name, value in pairs}


def variables():
    """Our own variables, the GPUs as Ray's own process on this node may see them."""
    environ = dict(os.environ)
    above = started_with(os.getppid())
    if above or not environ.get(NAME):
        environ.pop(NAME, None)
    if NAME in above:
        environ[NAME] = above[NAME]
    return environ


def answer(seconds):
    """The one line, or "!" and the last words of what failed."""
    command = [sys.executable, "-m", "gpuwhy", "check", "--jsonl"]
    child = subprocess.Popen(
        command,
        env=variables(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        out, err = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        return "!gpuwhy did not end within %g s there" % seconds
    return (
        out.decode("utf-8", "replace").strip()
        or "!" + err.decode("utf-8", "replace").strip()[-300:]
    )
