"""Notebooks: whether a text is from a hosted notebook, where nobody installs a driver or starts a container."""

from __future__ import annotations

import re
from typing import Literal

Notebook = Literal["colab", "kaggle", ""]
_KAGGLE = re.compile(
    r"/kaggle/(?:working|input|lib|temp)\b|Your notebook tried to allocate more memory than is available"
)
_COLAB = re.compile(
    r"(?<![\w/.~-])/content/(?!drive-)\S|^!\S[^\n]*/content\b|\bgoogle\.colab\b|/usr/lib64-nvidia|^\d+ frames\n"
    r"|https://localhost:8080/#|^(?:\[)?/tmp/ipython-input-\d",
    re.MULTILINE,
)
"""A folder of its own, its module, its driver's folder; and how it shortens a traceback."""
_AT_HOME = re.compile(
    r"works? (?:fine |well |perfectly )?(?:in|on) (?:google )?colab|\blocally\b|local (?:machine|pc|computer|gpu)"
    r"|[A-Za-z]:\\|\$ ?sudo ",
    re.IGNORECASE,
)


def notebook_of(text: str) -> Notebook:
    """The service whose notebook a text is from; "" where none shows itself, or it is of a machine at home too."""
    if _AT_HOME.search(text):
        return ""
    if _KAGGLE.search(text):
        return "kaggle"
    return "colab" if _COLAB.search(text) else ""
