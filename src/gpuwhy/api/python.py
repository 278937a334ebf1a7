"""`gpuwhy.check` and `gpuwhy.explain`: the Answers that the commands print, for Python."""

import sys
from typing import Literal

from gpuwhy.answer.answer import Answer
from gpuwhy.api.machine import Seen, observe
from gpuwhy.api.text import explain as explain_text
from gpuwhy.look.look import Options
from gpuwhy.machine.live import LiveMachine
from gpuwhy.machine.recording import RecordingMachine


def seen(python: str = "", files: Literal["some", "all"] = "some") -> Seen:
    """This machine and a Python environment: that of this process unless another is named."""
    asked = Options(python=python or sys.executable or "", files=files)
    return observe(RecordingMachine(LiveMachine()), asked)


def check(python: str = "", *, verify: bool = False) -> Answer:
    """Diagnose this machine and a Python environment: this one unless `python` names another.

    `verify` looks at every installed file by its hash.
    """
    return seen(python, "all" if verify else "some").report


def explain(text: str, *, log_only: bool = False, python: str = "") -> Answer:
    """Why a program failed, from what it printed, and by this machine unless `log_only`."""
    return explain_text(text, None if log_only else seen(python))
