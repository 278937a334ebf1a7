"""Standing: how each message counts in its text, given once, when the ending is known.

The order of judging: what is quoted, what the program outlived, what an earlier message explains,
what the ending has no link to, what its form says of the whole text.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

from gpuwhy.log.ending import Ending
from gpuwhy.log.endings import Course
from gpuwhy.log.expressions import Expressions, entry, names
from gpuwhy.log.form import Form
from gpuwhy.log.message import Message, Standing
from gpuwhy.log.raised import raised
from gpuwhy.log.reasons import (
    FRAMEWORKS,
    PLAIN,
    WORDS,
    elsewhere,
    is_foreign,
    opaque,
    stack_named,
    stack_prints,
)
from gpuwhy.log.tracebacks import PYTHON, USER

_E, _FOLLOWS = Expressions("standing"), Expressions("follows")

FOREIGN = "else.foreign"
FAILS = ("error", "echo")
SHORT, GOES_ON = 200, 3
"""Lines of a text that is read as a whole; lines below a warning that show that work went on."""
VAGUE = ("title", "python")
UNSILENCED = ("shadow", "waits", "remark", "refused")
KNOWN = names("standing.names_known")
OTHERS = names("standing.names_others")
ANYBODYS = names("standing.names_anybodys")
UNNAMED = names("standing.names_unnamed")
PACKED = names("standing.names_packed")
PLAIN_CAUSES = names("standing.names_plain_causes")
VALUES = names("standing.names_values")


class Text(NamedTuple):
    """What is asked of the whole text."""

    excerpt: str
    lines: int
    genre: str
    form: Form


def stand(
    messages: list[Message], course: Course, text: Text, sets: Mapping[str, tuple[str, ...]]
) -> list[Message]:
    """The messages with the ending's own, in order, each with its standing."""
    ending = course.ending
    _mark_quoted(messages, text.form)
    messages = raised(messages, course)
    for one in messages:
        mild = one.warning or course.is_logged(one.line) or _is_outlived(one, course)
        one.warning = one.family != "remark" and mild
        called = ending.kind == "status" and ending.type and one.family == "cuda"
        if called and _is_within(one, ending):  # the program names the call before its status
            one.fields = {**one.fields, "call": ending.type}
    _tie(messages, ending, sets)
    _tie_lost_peers(messages)
    _mark_unlinked(messages, course)
    if ending.own and not _is_told(messages, ending):
        messages.append(_as_message(ending))
    _judge_the_whole(messages, course, text)
    for one in messages:
        if one.decides and one.role == "harmless":
            one.standing = Standing.HARMLESS
        elif one.decides and one.explained_by >= 0:
            one.standing = Standing.FOLLOWS
    return messages


def _mark_quoted(messages: Sequence[Message], form: Form) -> None:
    """Mark what the text only quotes, by its form: a line, or a collection of failures in rows."""
    failing = [one for one in messages if one.role in FAILS]
    plain = [one for one in failing if one.family not in VAGUE]
    several = len({one.family for one in plain}) > 1 and len({one.line for one in plain}) > 1
    collected = several and all(one.line in form.rows for one in plain)
    for one in failing:
        if one.observed is None and (collected or one.line in form.hits):
            one.quoted = True


def _is_outlived(one: Message, course: Course) -> bool:
    """Whether a program printed it and worked on: it is of no exception that was raised."""
    return one.role in FAILS and max(one.line, one.last) < course.busy


def _is_within(one: Message, ending: Ending) -> bool:
    """Whether the ending says it, though it may have been said before."""
    return ending.holds(one.line) or (one.last > 0 and ending.holds(one.last))


# ---------------------------------------------------------------- what an earlier message explains

LOST = names("follows.names_lost")
REASONS = names("follows.names_reasons")
_OWN = ("python.module", "python.import_name", "python.attribute", "python.exception")


def _tie(messages: Sequence[Message], ending: Ending, sets: Mapping[str, tuple[str, ...]]) -> None:
    """Tie each message to the first that explains it: the first error decides, not the loudest."""
    table = []
    for row in entry("follows.follows"):
        named = (sets.get(one.removeprefix("messages:"), (one,)) for one in row["explains"])
        table.append((tuple(row["by"]), tuple(chain.from_iterable(named))))

    @cache
    def explains(early: str, late: str) -> bool:
        return early != late and any(
            early.startswith(keys) and late.startswith(values) for keys, values in table
        )

    for place, one in enumerate(messages):
        if one.explained_by >= 0 or one.role not in FAILS:
            continue
        own = one.id in _OWN and not _FOLLOWS.gpu.search(one.text)
        for at, early in enumerate(messages[:place]):
            first = early.explained_by < 0 and early.role == "error" and early.line <= one.line
            if not first or (own and early.warning) or not explains(early.id, one.id):
                continue
            if _is_linked(early, one, ending):
                one.explained_by = at
                break


def _is_linked(early: Message, late: Message, ending: Ending) -> bool:
    """Whether two messages are of one process, and both or none of them of the ending."""
    if early.rank != late.rank and early.rank and late.rank:
        return late.id.startswith((*LOST, "nccl.", "peer."))
    return not ending.own or _is_within(early, ending) == _is_within(late, ending)


def _tie_lost_peers(messages: Sequence[Message]) -> None:
    """A lost peer is tied to the error that tells why it was lost, wherever that stands."""
    errors = [(place, one) for place, one in enumerate(messages) if one.role == "error"]
    reasons = (
        place
        for place, one in errors
        if one.explained_by < 0
        and not one.warning
        and one.id.startswith(REASONS)
        and not one.id.startswith(LOST)
    )
    reason = next(reasons, -1)
    files = next((place for place, one in errors if one.id == "limit.files"), -1)
    for one in messages:
        if one.explained_by < 0 and one.id.startswith(LOST):
            one.explained_by = reason
        elif one.explained_by < 0 and one.id.startswith("memory.shm"):
            one.explained_by = files


# ---------------------------------------------------------------- what the ending has no link to


def _mark_unlinked(messages: Sequence[Message], course: Course) -> None:
    says = any(one.role == "error" and not one.quoted and one.family != "title" for one in messages)
    for one in messages:
        if one.quoted and (says or course.ending.own):
            one.standing = Standing.QUOTED
        elif _is_unlinked(one, course):
            one.standing = Standing.NOTED
    for one in messages:  # what follows a message that was outlived follows nothing
        if one.explained_by >= 0 and one.decides and not messages[one.explained_by].decides:
            one.explained_by = -1


def _is_unlinked(one: Message, course: Course) -> bool:
    """Whether a line is source text in a traceback, or came before an ending of another matter."""
    ending = course.ending
    if one.family in UNSILENCED:
        return one.family == "remark" and ending.own and bool(ending.stack)
    if one.role in FAILS and ending.first <= one.line < ending.line and not one.last:
        # it stands in the source text that a traceback shows: all that is told where no word is
        return bool(ending.message) or ending.line - one.line > 2
    if _is_outlived(one, course) and (
        ending.kind in ("exception", "fatal") or one.family == "title"
    ):
        return True
    if not ending.own:
        return False
    foreign = is_foreign(ending)
    if _is_within(one, ending):
        anybodys = one.family in OTHERS or (foreign and one.id != FOREIGN)
        return anybodys and (foreign or _is_plainly_anothers(ending, one))
    if one.role not in FAILS:
        return one.role == "context"
    if ending.kind != "exception" and not foreign:
        return one.warning  # a last word ends a program less surely
    return foreign or one.family != "title" or bool(ending.stack)


def _is_plainly_anothers(ending: Ending, one: Message) -> bool:
    """Whether an exception is the user's, by its frames."""
    frame = ending.frame
    if frame is None or one.family == "peer":
        return frame is not None and frame.code.startswith("raise ")
    owners = {one.owner for one in ending.stack}
    return frame.owner == PYTHON and owners <= {USER, PYTHON} and elsewhere(ending)


def _is_told(messages: Sequence[Message], ending: Ending) -> bool:
    """Whether a message tells an ending that has a reason of its own."""
    decides = [one for one in messages if one.decides]
    if ending.kind == "exit" and not ending.is_relayed:
        known = any(one.role in FAILS and one.family != "title" for one in decides)
        return known or not ending.message or opaque(ending.message)
    errors = [one for one in decides if one.role == "error" and _is_within(one, ending)]
    return any(one.family not in VAGUE or one.id in KNOWN for one in errors)


def _as_message(ending: Ending) -> Message:
    first = ending.message.split("\n", 1)[0][:200]
    raised = ending.type and ending.kind == "exception"
    text = f"{ending.type}: {first}" if raised else first or ending.type
    code = f"left with code {ending.exit_code}"
    left = code if ending.kind == "exit" and ending.exit_code else "the program"
    fields = {"name": ending.name or left, "what": first or ending.name}
    if frame := ending.user_frame or ending.frame:
        base = frame.file.replace("\\", "/").rsplit("/", 1)[-1]
        fields["where"] = f"{base}:{frame.line}"
    codes = (_E.read.search(one.code) for one in reversed(ending.stack[-4:]))
    if read := next(filter(None, codes), None):
        fields["variable"] = read["name"]
    inside = ending.frame and ending.frame.owner in FRAMEWORKS and ending.name not in PLAIN
    kind = "left" if ending.kind == "exit" else "inside" if inside else "own"
    kind = "usage" if ending.type == "usage" else kind
    return Message(f"ending.{kind}", ending.line, text, "error", fields, rank=ending.rank)


# ---------------------------------------------------------------- the text as a whole


def _judge_the_whole(messages: Sequence[Message], course: Course, text: Text) -> None:
    """What the form of the text, and what came after, say of the messages that still decide."""
    failing = [one for one in messages if one.role in FAILS]
    deciding = [one for one in failing if one.decides and one.explained_by < 0]
    errors = [one for one in deciding if one.role == "error"]
    if text.genre == "source":
        _set(deciding, Standing.QUOTED)
    elif text.genre in ("words", "question") or _is_survived(errors, course, text):
        _set(deciding, Standing.NOTED)
    else:
        _set([one for one in errors if one.quoted], Standing.QUOTED)
        _set(_anybodys(deciding, text), Standing.NOTED)
        _set(_passed(errors, course.ending, text), Standing.NOTED)
    for one in messages:  # what follows a message that does not decide, decides no more than it
        root = messages[one.explained_by] if one.explained_by >= 0 else one
        if root.standing in (Standing.NOTED, Standing.QUOTED):
            one.standing = root.standing
    if failing and not any(one.decides for one in failing):
        _set([one for one in messages if one.role in ("context", "fact")], Standing.NOTED)


def _set(messages: Sequence[Message], standing: Standing) -> None:
    for one in messages:
        if not one.id.startswith("ending."):
            one.standing = standing


def _is_survived(errors: Sequence[Message], course: Course, text: Text) -> bool:
    """Whether the program outlived everything that went wrong: it ended well, or worked on after
    what it only warned of. Warnings that are the last thing said decide.
    """
    if not errors or course.ending.kind != "none":
        return False
    last = max(max(one.line, one.last) for one in errors)
    warned = all(one.warning and one.family != "title" for one in errors)
    # what it says below: no logger's words, source, or value of the GPU
    below = [line for line in _below(last, text) if not _E.below_warning.match(line)]
    return course.ending.well or (warned and (last < course.busy or len(below) >= GOES_ON))


def _below(line: int, text: Text) -> list[str]:
    """What a short text has below a line."""
    lines = text.excerpt.splitlines()[line:] if text.lines < SHORT else []
    return [one for one in lines if one.strip()]


def _passed(errors: Sequence[Message], ending: Ending, text: Text) -> Sequence[Message]:
    """The notes after which the program went on to an end of another matter."""
    notes = [one for one in errors if one.warning or one.family == "title"]
    if ending.kind != "none":
        cut_off = ending.kind == "exception" and not ending.type
        if ending.gpu or cut_off:
            return []
        return [one for one in notes if not _is_within(one, ending)]
    if notes and len(notes) == len(errors):
        values = all(one.id in VALUES for one in notes)
        return notes if values and _below(notes[-1].line, text) else []
    last = max((one.line for one in errors if one not in notes), default=0)
    return [one for one in notes if one.line < last]


def _anybodys(deciding: Sequence[Message], text: Text) -> Sequence[Message]:
    """Messages in anybody's words, where the text does not speak of the GPU stack."""
    if not any(one.id.startswith((*UNNAMED, *PACKED)) for one in deciding):
        return []
    if stack_prints(text.excerpt):
        return []
    which = ANYBODYS if stack_named(text.excerpt) else UNNAMED
    if which is ANYBODYS and WORDS.library.search(text.excerpt):
        return []  # a library or a compiler of the stack is named: words that mean nothing else
    if not _E.hinted.search(text.excerpt):
        which = (*which, *PACKED)
    anybodys = [one for one in deciding if one.id.startswith(which)]
    return [one for one in anybodys if not one.id.startswith(PLAIN_CAUSES)]
