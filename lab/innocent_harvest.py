"""Run the programs of innocent_endings.py and keep what they print, for lab/innocents.py.

    python -m lab.innocent_harvest PYTHON ENDINGS.jsonl      PYTHON has the libraries; about twenty minutes on two cores

Notes are made by hand: the output of `python -c "import tensorflow …"` in the environments at hand, one JSON line each.
Names of temporary folders, of the environment and of the home are replaced.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from lab.innocent_endings import LIBRARIES, PYTHON, SHELL

PATIENCE = 150
SIGNALS = {1: "Hangup", 6: "Aborted (core dumped)", 9: "Killed", 11: "Segmentation fault (core dumped)",
           14: "Alarm clock", 15: "Terminated"}  # fmt: skip
"""What a shell says of a program that a signal ended."""


def ran(python: str, source: str, shell: bool) -> tuple[int, str]:
    """Status and output of one program, in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="innocent-") as folder:
        Path(folder, "train.py").write_text(source, encoding="utf-8")
        command = ["bash", "-c", source] if shell else [python, "train.py"]
        env = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        try:
            done = subprocess.run(
                command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=PATIENCE, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return 124, ""
        text = done.stdout.decode("utf-8", "replace") + SIGNALS.get(-done.returncode, "")
        return done.returncode, nameless(text, python, folder)


def nameless(text: str, python: str, folder: str) -> str:
    """The text without names of this machine."""
    for name, shown in (
        (folder, "/home/mara/proj"),
        (str(Path(python).parents[1]), "/home/mara/venv"),
        (str(Path.home()), "/home/mara"),
    ):
        text = text.replace(name, shown)
    return re.sub(r"/home/mara/\.pyenv/versions/[\d.]+/", "/usr/local/", text)


def main() -> int:
    """Run all, write those that ended badly."""
    python, out = sys.argv[1], Path(sys.argv[2])
    with out.open("w", encoding="utf-8") as file:
        for programs, shell in ((PYTHON, False), (LIBRARIES, False), (SHELL, True)):
            for name, source in programs.items():
                status, log = ran(python, source, shell)
                if status not in (0, 124) and log.strip():
                    file.write(json.dumps({"name": name, "fair": [], "log": log}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
