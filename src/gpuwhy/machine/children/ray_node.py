"""Runs in a worker on a node of a Ray cluster: asks gpuwhy there, with the node's own GPUs.

Ray hides them from a task that asks for none, by an empty CUDA_VISIBLE_DEVICES.
"""

import os
import subprocess
import sys


def answer(seconds):
    """The one line, or "!" and the last words of what failed."""
    environ = dict(os.environ)
    if not environ.get("CUDA_VISIBLE_DEVICES"):
        environ.pop("CUDA_VISIBLE_DEVICES", None)
    command = [sys.executable, "-m", "gpuwhy", "check", "--jsonl"]
    given = {"env": environ, "stdin": subprocess.DEVNULL, "timeout": seconds}
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **given)
    except subprocess.TimeoutExpired:
        return "!gpuwhy did not end within %g s there" % seconds
    said = done.stderr.decode("utf-8", "replace").strip()[-300:] or "it said nothing"
    return done.stdout.decode("utf-8", "replace").strip() or "!" + said
