"""Blame needs a link: which of the things printed before an ending lead there, and which are only noticed."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from gpuwhy.model.ending import PYTHON, USER, Ending, Frame
from gpuwhy.model.symptom import Symptom
from gpuwhy.symptoms.own import (
    PLAIN,
    asked_wrongly,
    by_hand,
    by_users_call,
    compared,
    elsewhere,
    foreign,
    in_gpu_code,
    opaque,
    raised_by_outsider,
)
from gpuwhy.symptoms.piped import of_samples
from gpuwhy.symptoms.wording import FRAMEWORKS, KIN, STACK, words_of

ENDINGS = ("ending.own", "ending.usage", "ending.inside", "ending.left")
"""Symptoms that no signature finds: an ending that speaks for itself, by wrong arguments, or inside a framework."""
_READ = re.compile(r"(?:environ|env)[\w.]*[\[(]\s*['\"]([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)['\"]")
"""Where a line of source reads an environment variable by its name."""


def noted(symptoms: Sequence[Symptom], ending: Ending) -> tuple[Symptom, ...]:
    """The symptoms; what a logger wrote down or the program worked on after is only a warning, a person's word none."""
    called = (_by_call(one, ending) for one in symptoms)
    return tuple(msgspec.structs.replace(one, warned=_mild(one, ending)) for one in called)


def _mild(one: Symptom, ending: Ending) -> bool:
    mild = one.warned or _logged(one, ending) or _outlived(one, ending)
    return one.speaker != "remark" and mild and not _foretold(one, ending)


def _by_call(one: Symptom, ending: Ending) -> Symptom:
    """A status with the call that returned it, where the program names that before it."""
    if ending.kind != "status" or not ending.type or one.speaker != "cuda" or not one.within(ending) or one.get("call"):
        return one
    return msgspec.structs.replace(one, fields={**one.fields, "call": ending.type})


def aside(symptoms: Sequence[Symptom], ending: Ending) -> tuple[Symptom, ...]:
    """The symptoms; those before an ending of its own are only noticed, and that ending speaks for itself.

    A code without a word says nothing, not even that it is no matter of the GPU.
    """
    symptoms = _without_borrowed(symptoms, ending)
    kept = tuple(msgspec.structs.replace(one, role="aside") if _unlinked(one, ending) else one for one in symptoms)
    kept = _called(tuple(_freed(one, kept) for one in kept), ending)
    if not ending.own:
        return kept
    told = any(s.role == "error" and _speaks(s) and _stays(s, ending) for s in kept)
    if ending.kind == "exit" and not ending.relayed:
        return (*kept, _itself(ending, len(kept))) if _left(kept, ending) else kept
    return kept if told else (*kept, _itself(ending, len(kept)))


def _left(kept: Sequence[Symptom], ending: Ending) -> bool:
    """Whether a program left by itself with a code, and nothing that went wrong in it is known."""
    return (
        bool(ending.message)
        and not opaque(ending.message)
        and not any(s.role in ("error", "echo") and s.speaker != "title" for s in kept)
    )


def _without_borrowed(symptoms: Sequence[Symptom], ending: Ending) -> tuple[Symptom, ...]:
    """The symptoms; what is only quoted is an aside where the program itself says something."""
    symptoms = [_unwrapped(one, ending) for one in symptoms]
    says = ending.own or any(map(_says, symptoms))
    return tuple(msgspec.structs.replace(one, role="aside") if one.borrowed and says else one for one in symptoms)


def _unwrapped(one: Symptom, ending: Ending) -> Symptom:
    """A symptom; what another runtime quotes as its own end (`panicked at '…'`) it says itself."""
    wrapped = one.borrowed and foreign(ending) and one.within(ending) and not ending.own
    return msgspec.structs.replace(one, borrowed=False) if wrapped else one


def _says(one: Symptom) -> bool:
    return one.role == "error" and not one.borrowed and one.speaker != "title" and one.signature != FOREIGN


def _called(kept: tuple[Symptom, ...], ending: Ending) -> tuple[Symptom, ...]:
    """The symptoms; that another runtime ended says nothing where its last word tells what failed below it."""
    said = words_of(ending.message)
    below = _TENSORS.search(said) or STACK.search(said) or in_gpu_code(ending)
    said_here = [s for s in kept if s.role == "error" and s.within(ending)]
    deeper = next((s.order for s in said_here if s.speaker == "refused" or (below and _deeper(s))), -1)
    if deeper < 0:
        return kept
    return tuple(msgspec.structs.replace(s, follows=deeper) if s.signature == FOREIGN else s for s in kept)


def _deeper(one: Symptom) -> bool:
    return one.signature != FOREIGN and _speaks(one)


FOREIGN = "else.foreign"


def _freed(one: Symptom, kept: Sequence[Symptom]) -> Symptom:
    """A symptom that follows one which was outlived follows nothing."""
    before = next((s for s in kept if s.order == one.follows), one)
    return msgspec.structs.replace(one, follows=-1) if before.role == "aside" and one.role != "aside" else one


FRAMES = ("shadow", "waits", "remark", "refused")
"""Speakers that no ending silences: the frames themselves (which file was imported, what was waited for), a person."""
_KNOWN = ("python.protobuf", "python.numpy_abi", "python.numba_numpy", "python.glibc", "python.avx", "python.openmp")
"""Python's own words for a reason that is known: they say more than that the program raised something."""


def _speaks(one: Symptom) -> bool:
    return one.speaker not in ("python", "title") or one.signature in _KNOWN


def _logged(one: Symptom, ending: Ending) -> bool:
    """Whether it stands in an exception that a logger wrote down, or in the line above it that says so."""
    return any(first - 1 <= one.line <= last for first, last in ending.logged)


def _outlived(one: Symptom, ending: Ending) -> bool:
    """Whether a program printed it and worked on: it is of no exception that was raised."""
    return one.role in ("error", "echo") and max(one.line, one.last) < ending.busy and not one.within(ending)


def _wordless(ending: Ending, line: int) -> bool:
    """Whether a line shows what raised an exception that has no words, or whose words were cut off."""
    return not ending.message and (
        0 < ending.line - line <= MARKED or (not ending.type and line >= ending.last - SHOWN)
    )


MARKED = 2
"""The line that raised, and the marks below it."""
SHOWN = 8
"""Lines around the one that raised, as notebooks show them."""


_SENT = ("SIGTERM", "SIGINT", "SIGHUP", "SIGALRM", "SIGXCPU")
"""Signals that somebody sends, or a clock: no warning before them led there."""


_FATAL = re.compile(r"F \S{1,200}\.(?:cc|cpp|h|cu):\d+\] ")
"""A line with which TensorFlow's or XLA's own process ends: what is raised after it is of another process."""


def _unsilenced(one: Symptom) -> bool:
    """Whether no ending after it makes it another matter."""
    return one.speaker in FRAMES or bool(_FATAL.match(one.text))


_DEADLOCK = re.compile(r"dead-?lock|\bhangs?\b", re.IGNORECASE)
_WAITED = re.compile(r"time(?:d )?-?out|^(?:queue\.)?Empty$", re.IGNORECASE)


def _foretold(one: Symptom, ending: Ending) -> bool:
    """Whether a warning says that the program will wait for ever, and it ended because it had waited too long."""
    return bool(_WAITED.search(ending.type or ending.message) and _DEADLOCK.search(one.text)) and one.role == "error"


def _stays(one: Symptom, ending: Ending) -> bool:
    return one.within(ending) or _unsilenced(one) or _foretold(one, ending)


def _unlinked(one: Symptom, ending: Ending) -> bool:
    """Whether a line is source text in a traceback, or came before an ending that it does not lead to."""
    if _unsilenced(one):
        return one.speaker == "remark" and ending.own and bool(ending.stack)
    return not _foretold(one, ending) and (_ignored(one, ending) or _led_nowhere(one, ending))


def _led_nowhere(one: Symptom, ending: Ending) -> bool:
    """The same, of a line that is neither a frame's nor foretold the ending."""
    if one.warned and ending.kind == "signal" and ending.type in _SENT and not one.within(ending):
        return one.role in ("error", "echo")
    if one.role in ("error", "echo") and one.quoted(ending):
        return not _wordless(ending, one.line)
    if _outlived(one, ending) and (ending.kind in ("exception", "fatal") or one.speaker == "title"):
        return True
    return _unlinked_within(one, ending) if one.within(ending) else _unlinked_before(one, ending)


def _ignored(one: Symptom, ending: Ending) -> bool:
    """Whether it stands in an exception that Python says to have ignored."""
    return one.speaker in ("python", "title") and any(first <= one.line <= last for first, last in ending.ignored)


def _unlinked_within(one: Symptom, ending: Ending) -> bool:
    if ending.relayed and one.speaker == "title":
        return True
    if compared(ending) or (ending.own and of_samples(one.signature, ending)):
        return one.role in ("error", "echo")
    anybodys = one.speaker in _OTHERS or one.signature in _ANYBODYS or (foreign(ending) and one.signature != FOREIGN)
    return ending.own and anybodys and _plainly(ending, one)


def _unlinked_before(one: Symptom, ending: Ending) -> bool:
    """Whether an ending with a reason of its own leaves nothing to what was said before it."""
    if not ending.own or one.role == "context":
        return ending.own
    if one.role not in ("error", "echo"):
        return False
    if ending.kind != "exception" and not foreign(ending):  # a last word ends a program less surely
        return one.warned
    if foreign(ending):
        return True
    return one.speaker != "title" or bool(ending.stack)


_OTHERS = ("cuda", "peer", "container", "nvidia", "program", "packages")
"""Speakers whose general words ("file not found", "broken pipe") are anybody's where no framework has a part."""
_ANYBODYS = ("memory.oom_words", "title.oom", "loader.undefined_symbol", "kernel.proc_missing")
"""Messages whose words anybody may use for a thing of his own."""


def _plainly(ending: Ending, one: Symptom) -> bool:
    """Whether an ending is the user's or another runtime's, by its frames or its kind."""
    if ending.kind != "exception":
        return foreign(ending) and not _TENSORS.search(ending.message)
    if one.speaker == "peer":
        return ending.frame is not None and ending.frame.code.startswith("raise ") and ending.owner == USER
    if any(holds(ending) for holds in (by_hand, asked_wrongly, by_users_call, raised_by_outsider)):
        return True
    native = ending.frame is not None and ending.frame.owner == USER and not _SAID_BY_PYTHON.search(ending.message)
    anybodys = one.signature in (*_ANYBODYS, "packages.damaged_words")
    near = any(_of_kin(frame, anybodys) for frame in ending.stack)
    return elsewhere(ending) and not native and not near


def _of_kin(frame: Frame, anybodys: bool) -> bool:
    """Whether a frame is of a package; where the words are anybody's, of one that stands on the GPU stack."""
    return frame.owner not in (USER, PYTHON) and (not anybodys or bool(KIN.search(frame.owner)))


_TENSORS = re.compile(
    r"\bmat[12]\b|tensor|index out of range in self|\btorch|c10|gloo|tcpstore|server socket has failed|grpc|rendezvous"
    r"|dtype|init_process_group|distributed",
    re.IGNORECASE,
)
"""Words of a framework in the last word of another runtime that called it."""
_SAID_BY_PYTHON = re.compile(r"^\[Errno |for axis \d|^File |HTTP Error|list index|not a zip", re.IGNORECASE)
"""What Python's own library or NumPy says; compiled code of a framework raises in the user's frame, too."""


def _itself(ending: Ending, order: int) -> Symptom:
    """The ending as a symptom: what it is, and where."""
    first = ending.message.split("\n", 1)[0][:200]
    text = f"{ending.type}: {first}" if ending.type and ending.kind == "exception" else first or ending.type
    left = f"left with code {ending.exit_code}" if ending.kind == "exit" and ending.exit_code else "the program"
    fields = {"name": ending.name or left, "what": first or ending.name, **_where(ending)}
    return Symptom(f"ending.{_kind(ending)}", ending.line, text, order=order, fields=fields)


def _kind(ending: Ending) -> str:
    if ending.type == "usage":
        return "usage"
    if ending.kind == "exit":
        return "left"
    return "inside" if ending.owner in FRAMEWORKS and ending.name not in PLAIN else "own"


def _where(ending: Ending) -> dict[str, str]:
    """The user's own line that it came from, and the variable that the code there reads."""
    frame = next((one for one in reversed(ending.stack) if one.owner == USER), ending.frame)
    read = next(filter(None, (_READ.search(one.code) for one in reversed(ending.stack[-4:]))), None)
    where = {"where": f"{frame.base}:{frame.line}"} if frame is not None else {}
    return {**where, "variable": read[1]} if read else where
