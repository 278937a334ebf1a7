"""Series: what tries one thing after another (a sweep, a search, a batch finder) and goes on when one of them fails."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpuwhy.symptoms.blocks import at_work

WIDE = 400
"""Characters of a line that tells of one try."""
_TRY = r"\b(?:trial|run|config\w*|attempt|candidate|fold|experiment|batch(?:[ _-]?size)?|bs|width|point|job|block)s?\b"
_BROKE = re.compile(
    r"\bfail(?:ed|ure|ures|ing)\b|\berrored\b|\bERROR\b|\bOOM\b|out of (?:memory|resource)|Traceback \("
    r"|\w(?:Error|Exception)\b"
    r"|gives? up|giving up|did not (?:complete|finish)|no executable batch|\bkilled\b|shutting down|\babort"
    r"|\bFailedScheduling\b",
)
_SUMMED = re.compile(
    r"\bbest (?:trial|config\w*|(?:hyper)?param\w*|value|score|val\w*|width|batch\w*|run|is trial|so far)\b.{0,80}\d"
    r"|\bbest (?:trial|config\w*|hyperparameters)\b.{0,30}:"
    r"|\b(?:study|search|sweep|experiment|tuning|tuner)\b.{0,20}\b(?:done|finished|completed?|ended)\b"
    r"|\b\d+ (?:configs?|candidates?|trials?|runs?|points?) (?:evaluated|tried|finished|done)\b.{0,60}\bbest\b"
    r"|\blargest batch\w*\b.{0,30}\d|\bbatch size finder\b.{0,60}\bwill continue\b"
    r"|\b[1-9]\d* (?:TERMINATED|SUCCEEDED|succeeded)\b",
)
"""By which a series tells what came of it as a whole."""
_WENT = re.compile(
    rf"{_TRY}.{{0,60}}\b(?:finished|completed?|succeeded|SUCCEEDED|TERMINATED|ok|passed)\b"
    r"|\b(?:trial|config\w*|candidate|point)s?\b.{0,60}(?:\bval\w*=|\bvalue: |\d (?:ms|us|img/s|tokens/s)\b)"
    r"|^\W*\S{1,30}=\S{1,20} ok\b|\bScheduled\b.{0,160}\bSuccessfully assigned \S",
    re.IGNORECASE,
)
"""By which one try tells that it went well."""
_NEXT = re.compile(
    r"agent starting run|running trial|\btrying\b.{0,20}\bbatch|\bretrying with\b|\breduc(?:ed|ing)\b.{0,20}\bbatch"
    r"|\b(?:attempt|trial|try|run) #?\d+\b|using batch-?size \d+ instead",
    re.IGNORECASE,
)
"""By which a series tells that it goes on with another try."""


def settled(lines: Sequence[str]) -> int:
    """The number of the line by which a series that lost a try tells that it went on well; 0 where none does.

    What failed before that line was outlived; a failure after it is one of its own.
    """
    broke = following = well = -1
    for at, line in enumerate(lines):
        if len(line) > WIDE:
            broke = at if _BROKE.search(line) else broke
        elif _SUMMED.search(line):
            well = at
        elif _BROKE.search(line):
            broke = at
        elif _NEXT.search(line) and not _WENT.search(line):
            following = at
        elif _WENT.search(line) or (following > broke and at_work(line)):
            well = at
    return well + 1 if well > broke >= 0 else 0
