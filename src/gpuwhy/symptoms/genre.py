"""What kind of text it is: a log, source code, or a question. Only the first can hold a failure."""

from __future__ import annotations

import re

from gpuwhy.model.symptom import QUESTION, SOURCE

_CODE = re.compile(
    r"^\s*(?:#\s*include\b|import [\w., ]+$|from [\w.]+ import |def \w+\(|class \w+[(:]|@\w|//|/\*|\*/|[})\]];?\s*$"
    r"|(?:if|for|while|try|else|elif|except|with|return|switch|catch)\b.*[:{(;]\s*$|.*[;{]\s*$|#\s*\w"
    r"|\w[\w.<>:*& \[\]]* ?=(?!=) ?\S|[\w.:<>]+\(.*\)[;{]?\s*$|print\(|std::|namespace |using |template ?<|__global__)"
)
_BEGINS = re.compile(
    r"^\s*(?:#\s*include\s*[<\"]|import \w|from [\w.]+ import |(?:int|void) main\(|__global__ |def \w+\()"
)
_RAN = re.compile(
    r"Traceback \(most recent|^\w*(?:Error|Exception)\b|\] |: (?:fatal )?error\b|core dumped|^\d{4}-\d\d-\d\d|^E\d{4} "
    r"|^\S+\(\d+\): error|nvidia-smi|^>>>|^In \[|^\$ ",
    re.MULTILINE,
)
_ASKS = re.compile(r"^\s*(?:why|how|what|which|when|can|does|is|should|where)\b[^\n]{5,300}\?\s*$", re.IGNORECASE)
SHARE, FEWEST = 0.6, 5


def genre(text: str) -> str:
    """SOURCE or QUESTION where a text is that and nothing that ran; "" for everything else."""
    if _ASKS.match(text) and len(text) < 400:
        return QUESTION
    lines = [line for line in text.splitlines()[:400] if line.strip()]
    if len(lines) < FEWEST or _RAN.search(text):
        return ""
    if not _BEGINS.match(lines[0]) and not _BEGINS.match(lines[1]):
        return ""
    return SOURCE if sum(bool(_CODE.match(line)) for line in lines) >= SHARE * len(lines) else ""
