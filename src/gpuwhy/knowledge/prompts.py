"""Prompts: which of Windows' two shells a text was typed in, by its prompt."""

from __future__ import annotations

import re
from typing import Literal

WindowsShell = Literal["cmd", "powershell", ""]
_POWERSHELL = re.compile(r"^(?:\([\w.+-]+\) )?PS(?: [A-Za-z]:[^>\n]{0,120})?> ?\S", re.MULTILINE)
_CMD = re.compile(r"^(?:\([\w.+-]+\) ?)?[A-Za-z]:\\[^>\n]{0,120}>\s?\S", re.MULTILINE)


def windows_shell(text: str) -> WindowsShell:
    """The one whose prompt stands in a text; "" where neither does, or both."""
    power, cmd = bool(_POWERSHELL.search(text)), bool(_CMD.search(text))
    if power == cmd:
        return ""
    return "powershell" if power else "cmd"
