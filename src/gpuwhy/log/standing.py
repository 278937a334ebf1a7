"""Standing: how each message counts in its text, given once, when the ending is known.

The order of judging: what is quoted, what the program outlived, what an earlier message explains,
what the ending has no link to, what its form says of the whole text. At the end silenced messages
are given back where nothing else explains the ending.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gpuwhy.log.ending import Ending
from gpuwhy.log.endings import Course, is_relayed, name_of
from gpuwhy.log.expressions import Expressions, names
from gpuwhy.log.follows import Follower, is_within
from gpuwhy.log.form import Form
from gpuwhy.log.match import Found
from gpuwhy.log.message import Standing
from gpuwhy.log.raised import raised
from gpuwhy.log.reasons import (
    FRAMEWORKS,
    PLAIN,
    elsewhere,
    is_foreign,
    names_library,
    opaque,
    stack_named,
    stack_prints,
)
from gpuwhy.log.tracebacks import PYTHON, USER

_E = Expressions("standing")

FOREIGN = "else.foreign"
FAILS = ("error", "echo")
SHORT, GOES_ON = 200, 3
"""Lines of a text that is read as a whole; lines below a warning that show that work went on."""


class Text(NamedTuple):
    """What is asked of the whole text."""

    excerpt: str
    lines: int
    genre: str
    form: Form


def stand(
    messages: list[Found], course: Course, text: Text, sets: Mapping[str, tuple[str, ...]]
) -> list[Found]:
    """The messages with the ending's own, in order, each with its standing."""
    ending = course.ending
    _mark_quoted(messages, text.form)
    messages = raised(messages, course)
    for one in messages:
        one.warning = _is_mild(one, course)
        _name_call(one, ending)
    Follower(course, sets).tie(messages)
    says = ending.own or any(_says(one) for one in messages)
    for one in messages:
        if one.quoted and says:
            one.standing = Standing.QUOTED
        elif _is_unlinked(one, course):
            one.standing = Standing.NOTED
    _free(messages)
    messages += _itself(messages, ending)
    _judge_the_whole(messages, course, text)
    for one in messages:
        _settle(one)
    return messages


# ---------------------------------------------------------------- what is quoted


def _mark_quoted(messages: Sequence[Found], form: Form) -> None:
    """Mark what the text only quotes, by its form."""
    collected = _is_collection(messages, form)
    for one in messages:
        if one.role not in FAILS or one.observed is not None:
            continue
        one.quoted |= collected or one.line in form.hits


def _is_collection(messages: Sequence[Found], form: Form) -> bool:
    """Whether all that failed stands in rows, and several of them tell of different parts."""
    failing = [one for one in messages if one.role in FAILS and one.family not in _VAGUE]
    several = len({one.family for one in failing}) > 1 and len({one.line for one in failing}) > 1
    return several and all(one.line in form.rows for one in failing)


_VAGUE = ("title", "python")


def _says(one: Found) -> bool:
    return one.role == "error" and not one.quoted and one.family != "title"


# ---------------------------------------------------------------- what the program outlived


def _is_mild(one: Found, course: Course) -> bool:
    mild = one.warning or course.is_logged(one.line) or _outlived(one, course)
    return one.family != "remark" and mild


def _outlived(one: Found, course: Course) -> bool:
    """Whether a program printed it and worked on: it is of no exception that was raised."""
    return one.role in FAILS and max(one.line, one.last) < course.busy


def _name_call(one: Found, ending: Ending) -> None:
    """A status gets the call that returned it, where the program names that before it."""
    named = ending.kind == "status" and ending.type and is_within(one, ending)
    if named and one.family == "cuda":
        one.fields = {**one.fields, "call": ending.type}


# ---------------------------------------------------------------- what the ending has no link to

_UNSILENCED = ("shadow", "waits", "remark", "refused")
_KNOWN = names("standing.names_known")
_OTHERS = names("standing.names_others")


def _speaks(one: Found) -> bool:
    return one.family not in _VAGUE or one.id in _KNOWN


def _is_unlinked(one: Found, course: Course) -> bool:
    """Whether a line is source text in a traceback, or came before an ending of another matter."""
    ending = course.ending
    if one.family in _UNSILENCED:
        return one.family == "remark" and ending.own and bool(ending.stack)
    if one.role in FAILS and ending.first <= one.line < ending.line and not one.last:
        # it stands in the source text that a traceback shows: all that is told where no word is
        return bool(ending.message) or ending.line - one.line > 2
    if _outlived(one, course) and (ending.kind in ("exception", "fatal") or one.family == "title"):
        return True
    if not ending.own:
        return False
    foreign = is_foreign(ending)
    if is_within(one, ending):
        anybodys = one.family in _OTHERS or (foreign and one.id != FOREIGN)
        return anybodys and (foreign or _is_plainly_anothers(ending, one))
    if one.role not in FAILS:
        return one.role == "context"
    if ending.kind != "exception" and not foreign:
        return one.warning  # a last word ends a program less surely
    return foreign or one.family != "title" or bool(ending.stack)


def _is_plainly_anothers(ending: Ending, one: Found) -> bool:
    """Whether an exception is the user's, by its frames."""
    frame = ending.frame
    if one.family == "peer":
        return frame is not None and frame.code.startswith("raise ")
    owners = {one.owner for one in ending.stack}
    by_python = frame is not None and frame.owner == PYTHON
    return by_python and owners <= {USER, PYTHON} and elsewhere(ending)


def _free(messages: Sequence[Found]) -> None:
    """What follows a message that was outlived follows nothing."""
    for one in messages:
        follows = one.explained_by >= 0 and one.standing is Standing.DECIDES
        if follows and messages[one.explained_by].standing is not Standing.DECIDES:
            one.explained_by = -1


def _itself(messages: Sequence[Found], ending: Ending) -> list[Found]:
    """The ending as a message, where it has a reason of its own and nothing else tells it."""
    if not ending.own:
        return []
    decides = [one for one in messages if one.standing is Standing.DECIDES]
    if ending.kind == "exit" and not is_relayed(ending):
        known = any(one.role in FAILS and one.family != "title" for one in decides)
        left = bool(ending.message) and not opaque(ending.message) and not known
        return [_as_message(ending)] if left else []
    told = any(one.role == "error" and _speaks(one) and is_within(one, ending) for one in decides)
    return [] if told else [_as_message(ending)]


def _as_message(ending: Ending) -> Found:
    first = ending.message.split("\n", 1)[0][:200]
    raised = ending.type and ending.kind == "exception"
    text = f"{ending.type}: {first}" if raised else first or ending.type
    code = f"left with code {ending.exit_code}"
    left = code if ending.kind == "exit" and ending.exit_code else "the program"
    fields = {"name": name_of(ending) or left, "what": first or name_of(ending)}
    users = (frame for frame in reversed(ending.stack) if frame.owner == USER)
    frame = next(users, ending.frame)
    if frame is not None:
        base = frame.file.replace("\\", "/").rsplit("/", 1)[-1]
        fields["where"] = f"{base}:{frame.line}"
    codes = (_E.read.search(one.code) for one in reversed(ending.stack[-4:]))
    if read := next(filter(None, codes), None):
        fields["variable"] = read["name"]
    return Found(f"ending.{_kind(ending)}", ending.line, text, "error", fields, rank=ending.rank)


def _kind(ending: Ending) -> str:
    if ending.type == "usage":
        return "usage"
    if ending.kind == "exit":
        return "left"
    inside = ending.frame is not None and ending.frame.owner in FRAMEWORKS
    return "inside" if inside and name_of(ending) not in PLAIN else "own"


# ---------------------------------------------------------------- the text as a whole

ANYBODYS = names("standing.names_anybodys")
UNNAMED = names("standing.names_unnamed")
PACKED = names("standing.names_packed")
PLAIN_CAUSES = names("standing.names_plain_causes")
VALUES = names("standing.names_values")


def _judge_the_whole(messages: Sequence[Found], course: Course, text: Text) -> None:
    """What the form of the text, and what came after, say of the messages that still decide."""
    deciding = [
        one
        for one in messages
        if one.standing is Standing.DECIDES and one.role in FAILS and one.explained_by < 0
    ]
    errors = [one for one in deciding if one.role == "error"]
    if text.genre == "source":
        _set(deciding, Standing.QUOTED)
    elif text.genre in ("words", "question") or _survived(errors, course, text):
        _set(deciding, Standing.NOTED)
    else:
        _set([one for one in errors if one.quoted], Standing.QUOTED)
        _set(_anybodys(deciding, text), Standing.NOTED)
        _set(_passed(errors, course, text), Standing.NOTED)
    for one in messages:  # what follows a message that does not decide, decides no more than it
        root = messages[one.explained_by] if one.explained_by >= 0 else one
        if root.standing in (Standing.NOTED, Standing.QUOTED):
            one.standing = root.standing
    failing = [one for one in messages if one.role in FAILS]
    if failing and not any(one.standing is Standing.DECIDES for one in failing):
        _set([one for one in messages if one.role in ("context", "fact")], Standing.NOTED)


def _set(messages: Sequence[Found], standing: Standing) -> None:
    for one in messages:
        if not one.id.startswith("ending."):
            one.standing = standing


def _survived(errors: Sequence[Found], course: Course, text: Text) -> bool:
    """Whether the program outlived everything that went wrong: it ended well, or worked on after
    what it only warned of. Warnings that are the last thing said decide.
    """
    ending = course.ending
    if not errors or ending.kind != "none":
        return False
    last = max(max(one.line, one.last) for one in errors)
    warned = all(one.warning and one.family != "title" for one in errors)
    went_on = last < course.busy or len(_own_lines(text, last)) >= GOES_ON
    return ending.well or (warned and went_on)


def _own_lines(text: Text, last: int) -> list[str]:
    """What a short text has below a line: not a logger's words, source, or a value of the GPU."""
    below = text.excerpt.splitlines()[last:] if text.lines < SHORT else []
    return [one for one in below if one.strip() and not _E.below_warning.match(one)]


def _passed(errors: Sequence[Found], course: Course, text: Text) -> Sequence[Found]:
    """The notes after which the program went on to an end of another matter."""
    ending = course.ending
    notes = [one for one in errors if _is_note(one)]
    if ending.kind != "none":
        cut_off = ending.kind == "exception" and not ending.type
        elsewhere = not (ending.gpu or cut_off)
        return [one for one in notes if elsewhere and not is_within(one, ending)]
    last = max((one.line for one in errors if not _is_note(one)), default=0)
    values = [one for one in notes if one.id in VALUES]
    if values and len(values) == len(errors) and _goes_on(values[-1].line, text):
        return values
    return [one for one in notes if one.line < last]


def _is_note(one: Found) -> bool:
    return one.warning or one.family == "title"


def _goes_on(line: int, text: Text) -> bool:
    """Whether a short text has more to tell below a line."""
    return any(one.strip() for one in text.excerpt.splitlines()[line:])


def _anybodys(deciding: Sequence[Found], text: Text) -> Sequence[Found]:
    """Messages in anybody's words, where the text does not speak of the GPU stack."""
    if not any(one.id.startswith((*UNNAMED, *PACKED)) for one in deciding):
        return []
    if stack_prints(text.excerpt):
        return []
    mute = not stack_named(text.excerpt)
    if not mute and names_library(text.excerpt):
        return []
    which = UNNAMED if mute else ANYBODYS
    if not _E.hinted.search(text.excerpt):
        which = (*which, *PACKED)
    anybodys = [one for one in deciding if one.id.startswith(which)]
    return [one for one in anybodys if not one.id.startswith(PLAIN_CAUSES)]


def _settle(one: Found) -> None:
    """The standing of a message that nothing above has set, by its role and by what explains it."""
    if one.standing is not Standing.DECIDES:
        return
    if one.role == "harmless":
        one.standing = Standing.HARMLESS
    elif one.explained_by >= 0:
        one.standing = Standing.FOLLOWS
