"""Secrets that programs print: left out of what is kept for others to read."""

from __future__ import annotations

import os

from gpuwhy.border.secrets import Redactor


def without_secrets(text: str) -> str:
    """The text with what looks like a password, token, key, address or name of a machine written as REDACTED-n."""
    return Redactor(environ=os.environ).hide(text)
