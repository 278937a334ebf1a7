"""Tone: whether a line calls itself a warning, tells of another time, or says that all is well."""

from __future__ import annotations

import re

_LEVEL = r"^[^\w\n]{0,3}(?:\d[\d:., TZ-]{7,40}[^\w\n]{0,3})?"
_WARNING = re.compile(
    r"\b(?:User|Runtime|Import|Future|Deprecation|Resource)Warning: "
    r"|(?:^|[\s:\[])[WI](?:\d{3,4}(?: [\d:.]+)?(?: +\d+)?)? [\w./-]+\.\w{1,4}:\d+\]"
    rf"|{_LEVEL}WARN(?:ING)?\b|{_LEVEL}(?:warn|warning|fixme):|\blevel=warn|\[W:onnxruntime"
    r"|\[W\] \["
)
_INFORMS = re.compile(rf"{_LEVEL}(?:INFO|DEBUG|NOTICE)\b|\blevel=(?:info|debug)")
_GOES_ON = re.compile(
    r"failed call to cuinit|could not load dynamic library|cannot dlopen some"
    r"|skipping registering gpu|gpu will not be used"
    r"|\b(?:metrics|monitor\w*|support|acceleration|features?) disabled\b"
    r"|\bskip(?:ping)? logging\b|fall(?:ing|s) back|no gpu/tpu found"
    r"|unable to initialize backend|will not be used"
    r"|\b(?:going|goes|carrying|carries) on (?:with|without)\b"
    r"|\bcontinu(?:ing|es) (?:with|without|on)\b|\bretry(?:ing)? (?:with|at) (?:batch|size|\d)"
    r"|\breduc(?:ed|ing) (?:the )?batch(?: size)? to \d|\b0 (?:oom|out[- ]of[- ]memory)\b"
    r"|[(\[](?:skipped|skipping|ignored|ignoring|fine|harmless|expected|as expected|not fatal"
    r"|non-fatal|retried|retrying|pruned|handled|tolerated)"
    r"(?:[ ,:;][^()\n]{0,40})?[)\]]\s*$"
    r"|(?<!compiled )using (?:numpy|(?:the )?cpu)|gpu disabled"
    r"|^\W*\[?'(?:Azure|CPU)ExecutionProvider'",
    re.IGNORECASE,
)
_OTHER_TIME = re.compile(
    r"\b(?:fix(?:ed|es)|resolved|solved|no longer|(?:last|previous) (?:week|time|run|release)"
    r"|avoid(?:s|ing)?|prevent(?:s|ing)?|in case|if you|when you|may|might|hint|tip|consider)\b",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"\w(?:Error|Exception)\b|\berror \d|tried to allocate|_(?:STATUS|ERROR)_", re.IGNORECASE
)
_DENIES = re.compile(
    r"^# (?:HELP|TYPE) \w"
    r"|\S {2,}: +(?:no|not active|none|n/?a|0|0 \w{1,4}|\[n/a\]|not supported"
    r"|requested functionality has been \w+)\s*$",
    re.IGNORECASE,
)


def is_warning(line: str) -> bool:
    """Whether the program goes on after such a line: by its level, or by what it says."""
    return bool(_WARNING.search(line) or _GOES_ON.search(line))


def is_reminder(line: str) -> bool:
    """Whether a line that only informs speaks of a failure of another time."""
    return bool(_INFORMS.search(line) and _OTHER_TIME.search(line) and not _NOW.search(line))


def denies(line: str) -> bool:
    """Whether a row of a listing says that something is not so ("Reset Required   : No")."""
    return bool(_DENIES.search(line))


WELL = re.compile(
    r"^\W{0,4}(?:all )?(?:done|finished|completed?|success\w*|ok|passed|bye|goodbye|saved"
    r"|exiting normally)\b"
    r"|\b(?:training|run|job|test|evaluation|inference|everything)s? (?:is |has |was )?"
    r"(?:done|finished|completed?|succeeded|passed|ok)\b(?!, [1-9]\d* (?:tests? )?failed)"
    r"|\bBuilt target\b|stopped: `?max_(?:epochs|steps)"
    r"|\bsuccessfully\b|\bwritten\W*$|\b(?:saved|written) (?:\w+ ){0,4}to\b"
    r"|(?<!failed, )\b\d+ passed\b(?!.*failed)"
    r"|\bexit(?:ing|ed)? normally\b|\bexit(?:[_ ]?(?:code|status))? ?[=:] ?0\b"
    r"|\b(?:health|status|result) ?[=:] ?(?:ok|pass(?:ed)?|success)\b"
    r"|\b(?:job|run|task|pod|step|worker|build)s? \S{1,40} (?:succeeded|completed|finished)\W*$"
    r"|\bshutdown complete\W*$|^&&&& PASSED\b",
    re.IGNORECASE,
)
"""By which a program says that it ended well."""
SUCCEEDED = re.compile(r"\b(?:SUCCEEDED|succeeded|exited with 0|exit code 0)\W*$")
_WORKS = re.compile(
    r"\b(?:epoch|step|iter(?:ation)?|batch|trial|round|fold|rank)s?\b.{0,12}\d.{0,80}"
    r"(?:\bloss\b|\bacc|it/s|s/it|\bfits?\b|finished|done|ok\b|\d%)"
    r"|\bloss\b.{0,6}\d|\d(?:it/s|s/it)\b|\d%\|"
    r"|\b(?:test|val|train|best)[ _/]\w{2,20}\b[^\w\n]{0,4}\d"
    r"|\bfinished trials\b"
    r"|\b(?:saved|wrote|written) \S.{0,60}(?:\.\w{1,6}|to )",
    re.IGNORECASE,
)
WORDY = 300
"""Characters of a line that tells of work."""


def at_work(line: str) -> bool:
    """Whether a line tells of work that goes on."""
    return len(line) < WORDY and bool(_WORKS.search(line))


_TRY = (
    r"\b(?:trial|run|config\w*|attempt|candidate|fold|experiment|batch(?:[ _-]?size)?|bs|width"
    r"|point|job|block)s?\b"
)
_BROKE = re.compile(
    r"\bfail(?:ed|ure|ures|ing)\b|\berrored\b|\bERROR\b|\bOOM\b|out of (?:memory|resource)"
    r"|Traceback \(|\w(?:Error|Exception)\b|gives? up|giving up"
    r"|did not (?:complete|finish)|no executable batch|\bkilled\b|shutting down|\babort"
    r"|\bFailedScheduling\b"
)
_SUMMED = re.compile(
    r"\bbest (?:trial|config\w*|(?:hyper)?param\w*|value|score|val\w*|width|batch\w*|run"
    r"|is trial|so far)\b.{0,80}\d"
    r"|\bbest (?:trial|config\w*|hyperparameters)\b.{0,30}:"
    r"|\b(?:study|search|sweep|experiment|tuning|tuner)\b.{0,20}"
    r"\b(?:done|finished|completed?|ended)\b"
    r"|\b\d+ (?:configs?|candidates?|trials?|runs?|points?) (?:evaluated|tried|finished|done)\b"
    r".{0,60}\bbest\b|\blargest batch\w*\b.{0,30}\d|\bbatch size finder\b.{0,60}\bwill continue\b"
    r"|\b[1-9]\d* (?:TERMINATED|SUCCEEDED|succeeded)\b"
)
_WENT = re.compile(
    rf"{_TRY}.{{0,60}}\b(?:finished|completed?|succeeded|SUCCEEDED|TERMINATED|ok|passed)\b"
    r"|\b(?:trial|config\w*|candidate|point)s?\b.{0,60}"
    r"(?:\bval\w*=|\bvalue: |\d (?:ms|us|img/s|tokens/s)\b)"
    r"|^\W*\S{1,30}=\S{1,20} ok\b|\bScheduled\b.{0,160}\bSuccessfully assigned \S",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"agent starting run|running trial|\btrying\b.{0,20}\bbatch|\bretrying with\b"
    r"|\breduc(?:ed|ing)\b.{0,20}\bbatch|\b(?:attempt|trial|try|run) #?\d+\b"
    r"|using batch-?size \d+ instead",
    re.IGNORECASE,
)
TRY_WIDTH = 400


def series_ended_well(lines: list[str]) -> int:
    """The place (from 1) at which a series of tries that lost one says that it went on; 0 if none.

    A sweep, a search or a batch finder outlives what fails before that line.
    """
    broke = following = well = -1
    for at, line in enumerate(lines):
        if len(line) > TRY_WIDTH:
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
