"""Secrets that programs print: left out of what is kept for others to read."""

from __future__ import annotations

import re

_KNOWN = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|AKIA[0-9A-Z]{16}"
    r"|xox[abprs]-[A-Za-z0-9-]{10,}|glpat-[\w-]{20,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*|AIza[\w-]{30,})"
)
_NAMED = re.compile(
    r"(?i)(?P<name>(?<![\w-])[\w-]*"
    r"(?:token(?![is])|secret|passw(?:or)?d|api[_-]?key|access[_-]?key|credential|authorization)[\w-]*"
    r"[\"']?\s*[=:]\s*[\"']?(?:bearer\s+)?)(?P<value>[^\s\"',;&}]{6,})"
)
_IN_ADDRESS = re.compile(r"(?P<name>\b[a-z][a-z0-9+.-]*://[^/\s:@]+:)[^/\s@]+(?=@)")
_BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)


def without_secrets(text: str) -> str:
    """The text with what looks like a password, token or key written as [hidden]."""
    text = _BLOCK.sub("[hidden]", text)
    text = _IN_ADDRESS.sub(r"\g<name>[hidden]", text)
    text = _KNOWN.sub("[hidden]", text)
    return _NAMED.sub(r"\g<name>[hidden]", text)
