"""What kind of text it is: a log, source code, or a question. Only the first can hold a failure."""

from __future__ import annotations

import re

import msgspec

from gpuwhy.model.symptom import QUESTION, SOURCE
from gpuwhy.symptoms.document import is_document, is_guide, tells_an_end
from gpuwhy.symptoms.settled import is_settled

_CODE = re.compile(
    r"^\s*(?:#\s*include\b|import [\w., ]+$|from [\w.]+ import |def \w+\(|class \w+[(:]|@\w|//|/\*|\*/|[})\]];?\s*$"
    r"|#\s*(?:define|if|ifdef|ifndef|endif|else|pragma)\b|.*\\\s*$"
    r"|(?:if|for|while|try|else|elif|except|with|return|switch|catch)\b.*[:{(;]\s*$|.*[;{]\s*$|#\s*\w"
    r"|(?:return|raise|yield|pass|break|continue)\b"
    r"|\w[\w.<>:*& \[\]]* ?=(?!=) ?\S|[\w.:<>]+\(.*\)[;{]?\s*$|print\(|std::|namespace |using |template ?<|__global__)"
)
_DOCSTRING = re.compile(r"^\s*(\"{3}|'{3})[\s\S]{0,4000}?\1\s*\n", re.MULTILINE)
_BEGINS = re.compile(
    r"^\s*(?:#\s*(?:include\s*[<\"]|define |pragma |ifdef |ifndef )|import \w|from [\w.]+ import |(?:int|void) main\("
    r"|__global__ |template ?<|namespace \w|using \w|def \w+\(|cmake_minimum_required|#!/)"
)
_RAN = re.compile(
    r"Traceback \(most recent|^\w*(?:Error|Exception)\b|^\[?[\w :.,-]{1,60}\] |: (?:fatal )?error\b"
    r"|core dumped|^\d{4}-\d\d-\d\d|^E\d{4} "
    r"|^\S+\(\d+\): error|#.{0,60}\b(?:returned|returns|prints|gives|outputs?)\b|nvidia-smi|^>>>|^In \[|^\$ ",
    re.MULTILINE,
)
_ASKS = re.compile(r"^\s*(?:why|how|what|which|when|can|does|is|should|where)\b[^\n]{5,300}\?\s*$", re.IGNORECASE)
_PATCH = re.compile(
    r"^diff --git |^> ?[+-] {2,}\S[^\n]*\n> ?[+-] {2,}\S|^@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@", re.MULTILINE
)
_HISTORY = re.compile(
    r"^#{1,4} (?:added|changed|fixed|removed|deprecated|security|bug fixes|features)\b"
    r"|[*-] [^\n]{5,200} by @[\w-]{1,40} in (?:#\d|https?:)",
    re.IGNORECASE | re.MULTILINE,
)
"""The headings of a list of changes, or its entries with who made them."""
_WONDERS = re.compile(
    r"\b(?:would|should|which|will i|do i need|is it worth|can i|does the)\b[^\n]{0,200}\?", re.IGNORECASE
)
_LETTER = re.compile(r"^(?:subject|from|to|re|hi|hello|dear|hey)\b[^\n]{0,120}$", re.IGNORECASE | re.MULTILINE)
_MANUAL = re.compile(
    r"^(?:NAME|SYNOPSIS|DESCRIPTION|OPTIONS|DIAGNOSTICS|EXIT STATUS|RETURN VALUES?|EXAMPLES?|AUTHORS?"
    r"|NOTES|COPYRIGHT|ENVIRONMENT|FILES|BUGS|SEE ALSO)$",
    re.MULTILINE,
)
"""The headings of a manual."""
_CODES = re.compile(
    r"^\W{0,20}(?:return|exit|error|status|result) (?:code|value) (-?\d+) ?[-–:=]", re.IGNORECASE | re.MULTILINE
)
CODES = 4
"""Numbers that are explained one below the other: nobody prints so many ends of one program."""
_USAGE = re.compile(r"\s*usage: \S", re.IGNORECASE)
_OPTION = re.compile(r"^ {1,8}-{1,2}\w[\w-]*", re.MULTILINE)
_REFUSED = re.compile(r"^\S+: (?:fatal )?error: |^error\b|Traceback \(most recent", re.IGNORECASE | re.MULTILINE)
_SETTING = re.compile(r"\s*(?:- )?[\w.$/-]+:(?: \S.*)?$|\s*- \S|\s*#|---$")
_REPORTED = re.compile(
    r"^\s*(?:- )?(?:status|state|message|reason|log|error|stderr|stdout|lastState|exitCode):", re.MULTILINE
)
"""Settings that tell what became of something."""
_RECORDS = re.compile(
    r"\"(?:status|state|message|msg|reason|log|err\w*|std\w+|exception|traceback|text|output|level|stack\w*|detail\w*)\"\s*:",
    re.IGNORECASE,
)
SHARE, FEWEST = 0.6, 5
PLAINLY, DEPTHS = 0.9, 3
"""Which part of a file of settings is settings, and how deep they are nested."""


def genre(text: str) -> str:
    """SOURCE or QUESTION where a text is that and nothing that ran; "" for everything else."""
    if _ASKS.match(text) and len(text) < 400:
        return QUESTION
    if any(written(text) for written in (_is_manual, _is_object, is_document, is_guide)):
        return SOURCE
    if is_settled(text):
        return QUESTION
    if _RAN.search(text):
        return ""
    if _HISTORY.search(text):
        return SOURCE
    if _LETTER.match(text.split(",", 1)[0]) and _WONDERS.search(text):
        return QUESTION
    if _PATCH.search(text):
        return SOURCE
    lines = list(filter(str.strip, text.splitlines()[:400]))
    return SOURCE if _is_code(lines) or (_are_settings(lines) and not _REPORTED.search(text)) else ""


def _is_object(text: str) -> bool:
    """Whether it is one value in JSON that reports nothing."""
    if not text.lstrip().startswith(("{", "[")) or _RECORDS.search(text):
        return False
    try:
        return isinstance(msgspec.json.decode(text.encode()), dict | list)
    except (msgspec.DecodeError, RecursionError):
        return False


def _is_manual(text: str) -> bool:
    """Whether it is a manual, or what a program says when it is asked how to use it."""
    if _REFUSED.search(text):
        return False
    if len(set(_CODES.findall(text))) >= CODES:
        return True
    return len(_MANUAL.findall(text)) > 1 or (bool(_USAGE.match(text)) and len(_OPTION.findall(text)) > 1)


def _are_settings(lines: list[str]) -> bool:
    """Whether nearly all lines are nested settings."""
    depths = {len(line) - len(line.lstrip()) for line in lines}
    found = sum(bool(_SETTING.match(line)) for line in lines)
    return len(lines) >= FEWEST and len(depths) >= DEPTHS and found >= PLAINLY * len(lines)


def _is_code(lines: list[str]) -> bool:
    """Whether it begins as a program does, and most of its lines are code."""
    if len(lines) < FEWEST or not any(_BEGINS.match(line) for line in lines[:2]) or tells_an_end(lines):
        return False
    lines = _DOCSTRING.sub("", "\n".join(lines)).splitlines()
    return sum(bool(_CODE.match(line)) for line in lines) >= SHARE * len(lines)
