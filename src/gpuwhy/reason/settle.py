"""Settle: how sure the odds may make us. Certainty needs a link and a proof by facts, or two independent clues."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import msgspec

from gpuwhy.model.symptom import MISSPELT, QUESTION, SOURCE, Reading, Symptom
from gpuwhy.model.threshold import FOUND, LEAST
from gpuwhy.reason.tally import Score

UNSPELT = 0.69
"""The most that is made of a text which says something only once its spelling is set right."""
UNSUPPORTED = 0.9
"""The most that answers alone make of a cause which neither the text nor the machine speaks for."""
ONE_CLUE = 0.89
"""The most that a single line of a text makes of a cause, however clear its words are."""
FULL = 0.6
"""From this share on, texts held back were right nearly always (docs/accuracy.md)."""
SHORT = 200
SURVIVED = 0.45
"""The most that is made of failures which the program outlived: it went on, or ended well."""


ANYBODYS = ("title.", "order.", "peer.", "signal.", "packages.damaged_words", "memory.oom_words", "container.generic",
            "program.shape_words", "build.failed")  # fmt: skip
"""Messages in words that any program may use: they tell of the GPU stack where some part of it speaks beside them."""
UNNAMED = (*ANYBODYS, "said.", "memory.", "driver.", "generic.")
"""Messages that tell of the GPU stack only where at least a word of it stands in the text."""
PACKED = ("build.", "packages.damaged")
"""What is said of anybody's build or archive, where nothing in the text reminds of code or packages for the GPU."""
HINTED = re.compile(
    r"cu(?:da|dnn|blas|fft|rand|solver|sparse|rt|tlass|b/)|\.cuh?\b|-lnv|\bnv|gpu|torch|tensor|jax|xla|triton|onnx|thrust"
    r"|__\w|pybind|eigen|glibc|\bc\+\+|<<<|cxx11|\bpip\b|wheel|\.whl|packages",
    re.IGNORECASE,
)
PRECEDENT = "precedent"
"""The signature of a line that others had with the same cause."""
JOBS = ("order.", "peer.")
"""What processes of a job tell of one another, with or without a GPU."""
PLAIN = ("other.not_gpu", "env.limit", "memory.host")
"""Causes that a program without a GPU can have as well."""
UNTOUCHED = (*PLAIN, "program.shape", "program.index")
"""Causes that accuse no GPU: how strange the text is says nothing against them."""


def settled(
    scores: Sequence[Score],
    reading: Reading,
    seen: Collection[str] = (),
    answered: bool = False,
    lone: Collection[str] = (),
    strange: bool = False,
) -> tuple[Score, ...]:
    """The scores, none surer than what it rests on; `seen` are the causes that observations of this machine show.

    An answer to a question is a clue of its own; `lone` are causes that one observation shows, without a proof, and
    no word of the text speaks for. A `strange` text reads, by all its words, like no failure of the GPU stack.
    """
    outlived = survived(reading) and not answered

    def most(score: Score) -> float:
        if score.cause in seen:
            return ONE_CLUE if score.cause in lone and not answered else 1.0
        if SOURCE in reading.notes:
            return 0.0
        if outlived or QUESTION in reading.notes or _passed(score, reading):
            return SURVIVED
        if (_second_hand(score, reading) or _told_only(score)) and not answered:
            return SURVIVED
        if strange and score.cause not in UNTOUCHED and not answered:
            return SURVIVED
        return UNSPELT if MISSPELT in reading.notes else _by_lines(score, answered)

    first = max((s.confidence for s in scores), default=0.0)
    free = 1 - sum(s.confidence for s in scores)

    def share(score: Score) -> float:
        return _measured(first, free) if score.confidence == first else score.confidence

    capped = tuple(msgspec.structs.replace(s, confidence=min(share(s), most(s))) for s in scores)
    return capped if seen or answered else _without_a_link(capped, reading)


def _without_a_link(scores: tuple[Score, ...], reading: Reading) -> tuple[Score, ...]:
    """Where no part of the stack speaks in a text, a cause of the stack that rests on anybody's words comes second."""
    if not scores or not (reading.mute and reading.foreign) or survived(reading) or scores[0].confidence < LEAST:
        return scores
    if not _rests_on(scores[0], ANYBODYS) or any(p.symptom.signature.startswith(JOBS) for p in scores[0].points):
        return scores
    found = next((s for s in scores if s.cause == PLAIN[0]), Score(PLAIN[0], 0.0, 0.0, scores[0].points))
    first = msgspec.structs.replace(found, confidence=FOUND, points=found.points or scores[0].points)
    return (first, *(s for s in scores if s.cause != PLAIN[0]))


def _anybodys(score: Score, reading: Reading) -> bool:
    """Whether all that speaks for a cause of the stack are anybody's words, in a text where no part of it speaks."""
    if not (reading.foreign or reading.mute):
        return False
    hinted = () if HINTED.search(reading.excerpt) else PACKED
    return _rests_on(score, (UNNAMED if reading.mute else ANYBODYS) + hinted)


def _rests_on(score: Score, words: tuple[str, ...]) -> bool:
    """Whether such messages are all that speaks for a cause of the stack."""
    said = [point.symptom.signature for point in score.points if point.counted > 0]
    return score.cause not in PLAIN and all(one.startswith(words) for one in said)


def _quoted(score: Score) -> bool:
    """Whether the text only quotes what speaks for a cause of the stack: it tells of a failure, not of its own."""
    said = [point.symptom for point in score.points if point.counted > 0 and point.symptom.role in ("error", "echo")]
    return score.cause != PLAIN[0] and bool(said) and all(one.borrowed for one in said)


def _told_only(score: Score) -> bool:
    """Whether nothing that went wrong speaks for a cause of the stack, only who speaks in the text."""
    said = [point.symptom for point in score.points if point.counted > 0]
    return score.cause not in PLAIN and bool(said) and all(one.role == "context" for one in said)


def _second_hand(score: Score, reading: Reading) -> bool:
    """Whether what speaks for a cause is anybody's word, is only quoted, or is what others had."""
    return _anybodys(score, reading) or _quoted(score) or of_others(score)


def of_others(score: Score) -> bool:
    """Whether nothing but what others had speaks for a cause, and words that name none."""
    said = [point.symptom.signature for point in score.points if point.counted > 0]
    return PRECEDENT in said and all(one == PRECEDENT or one.startswith("title.") for one in said)


def _by_lines(score: Score, answered: bool) -> float:
    """What a cause can have by the number of lines that speak for it."""
    lines = {point.symptom.line for point in score.points if point.counted > 0}
    if not lines:
        return UNSUPPORTED
    return ONE_CLUE if len(lines) + answered == 1 else 1.0


def _measured(share: float, free: float) -> float:
    """A share between an even chance and ONE_CLUE as texts held back bear it out: more, of what no cause has."""
    if not FOUND <= share <= ONE_CLUE:
        return share
    more = (share - FOUND) * (ONE_CLUE - FOUND) / (FULL - FOUND) + FOUND - share
    return min(ONE_CLUE, share + min(more, max(0.0, free)))


VALUES = ("title.bare_false", "title.empty_devices", "title.empty_list", "title.cpu_device")
"""What a program prints that asks for the GPU: it may be content without."""


def _passed(score: Score, reading: Reading) -> bool:
    """Whether only notes speak for a cause, after which the program went on to an end that is no matter of the GPU."""
    said = [point.symptom for point in score.points if point.counted > 0]
    if _meant(said, reading):
        return True
    if reading.ending.kind != "none":
        return bool(said) and all(map(_is_note, said)) and not reading.ending.near
    if bool(said) and all(one.speaker == "kernel" or _is_note(one) for one in said) and _ends_elsewhere(said, reading):
        return True
    return bool(said) and (_listed(said, reading) or (all(map(_is_note, said)) and _left(said, reading)))


SWITCH = "setting.switch"
"""A variable by which a person turns the GPU off for one framework."""


def _meant(said: Sequence[Symptom], reading: Reading) -> bool:
    """Whether a person turned the GPU off, the program printed what it does then and more, and nobody complains."""
    switched = any(one.signature == SWITCH for one in said)
    values = all(one.signature == SWITCH or one.signature in VALUES for one in (*said, *reading.errors))
    if not (switched and values) or reading.ending.kind != "none":
        return False
    return _goes_on(max(one.line for one in said), reading) and not _WONDERS.search(reading.excerpt)


_WONDERS = re.compile(
    r"\?\s|\?$|\b(?:why|although|though|but|only|slow\w*|instead|still|expected|should|not|no|never|cannot|can't|doesn't|isn't|won't|wrong|problem|issue|help)\b",
    re.IGNORECASE,
)
"""By which a person says that something is not as it was meant."""


_TROUBLE = re.compile(
    r"\b(?:error|failed|failure|fatal|exception|not found|missing|cannot|can't|denied|refused|stop)\b", re.IGNORECASE
)
_KERNELS = re.compile(
    r"kernel:|\bNVRM\b|\bXid\b|^\[ *\d+\.\d+\]|nvidia|cuda|gpu (?:memory|error|\d)|\becc\b|\bpcie?\b", re.IGNORECASE
)


def _ends_elsewhere(said: Sequence[Symptom], reading: Reading) -> bool:
    """Whether a short text goes on, after what the kernel or a note said, to a complaint of something else."""
    if not any(one.speaker == "kernel" for one in said) or reading.lines >= SHORT:
        return False
    below = [one for one in reading.excerpt.splitlines()[max(one.line for one in said) :] if one.strip()]
    return any(map(_TROUBLE.search, below[-LAST:])) and not any(map(_KERNELS.search, below))


LAST = 6
"""Lines at the end of a text in which its last complaint stands."""


def _left(said: Sequence[Symptom], reading: Reading) -> bool:
    """Whether something else came after such notes: another error, or more of a text that only tells values."""
    if any(one.line > said[0].line and not _is_note(one) for one in reading.errors):
        return True
    values = all(one.warned or one.signature in VALUES for one in said)
    return values and _goes_on(max(one.line for one in said), reading)


def _is_note(symptom: Symptom) -> bool:
    return symptom.warned or symptom.speaker == "title"


def _listed(said: Sequence[Symptom], reading: Reading) -> bool:
    """Whether all that speaks are rows of a listing of the environment, in which nothing was tried and no GPU is."""
    rows = all(s.signature in ROWS or s.role == "told" for s in (*said, *reading.errors))
    return rows and LISTING in reading.excerpt and not reading.told.gpus


ROWS = ("torch.version_none", "torch.unavailable", "torch.cpu_build")
LISTING = "Collecting environment information"
"""How PyTorch's report on an environment begins."""


def _goes_on(line: int, reading: Reading) -> bool:
    """Whether a short text has more to tell below a line."""
    return reading.lines < SHORT and any(one.strip() for one in reading.excerpt.splitlines()[line:])


def survived(reading: Reading) -> bool:
    """Whether the program outlived everything that went wrong in it, as far as the text tells."""
    if reading.ending.kind != "none" and not reading.ending.relayed:
        return False
    if reading.ending.well:
        return bool(reading.errors)
    return bool(reading.errors) and all(s.warned and s.speaker != "title" for s in reading.errors)
