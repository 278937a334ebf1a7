"""Reasons: which endings have a reason of their own, by their words and by whose code it was."""

from __future__ import annotations

import re
import sys

from msgspec.structs import replace

from gpuwhy.log.ending import Ending, Frame
from gpuwhy.log.endings import is_relayed, name_of
from gpuwhy.log.expressions import Expressions, names
from gpuwhy.log.runtimes import WHOLE
from gpuwhy.log.tracebacks import PYTHON, USER
from gpuwhy.log.words import (
    FRAMEWORKS,
    OUTSIDERS,
    TOOLS,
    WORDS,
    of_the_stack,
    says_stack_fails,
    spoken,
    words_of,
)

_E = Expressions("reasons")

FIRST = 500
"""What a message has to do with is said at its beginning; advice follows."""
WORDY = 6
"""Characters of a message of C++ that says something."""
PLAIN = frozenset(names("reasons.names_plain"))
STATUSES = names("reasons.names_statuses")
_PYTHONS = sys.stdlib_module_names - {
    *("subprocess", "ctypes", "multiprocessing", "concurrent", "asyncio", "os")
}
"""Modules of Python's own library that raise about data, not about a process or a library."""


def judged(ending: Ending) -> Ending:
    """The ending, marked where it has a reason of its own, and where the GPU stack has a part."""
    near = any(map(_is_near, (ending, *ending.chain)))
    return replace(ending, own=_is_own(ending), gpu=near)


def is_foreign(ending: Ending) -> bool:
    """Whether another language's runtime tells the end of its program."""
    return ending.kind == "fatal" and (ending.type == "panic" or ending.type in WHOLE)


def in_gpu_code(ending: Ending) -> bool:
    """Whether another language's runtime names a place in code for the GPU, or for arrays."""
    return is_foreign(ending) and bool(_E.gpu_place.search(ending.message))


def opaque(said: str) -> bool:
    """Whether words tell that something went wrong, and nothing of what."""
    return bool(_E.opaque.search(said) or WORDS.barely.match(said))


def by_users_call(ending: Ending) -> bool:
    """Whether the user's own code called what raised it: Python's library, or one for data."""
    last = next((one.owner for one in reversed(ending.stack) if one.owner != PYTHON), "")
    return last == USER and (_outsiders(ending) or name_of(ending) in PLAIN)


def by_outsider(ending: Ending) -> bool:
    """Whether a package for settings, data or services holds the line that raised it."""
    return ending.frame is not None and ending.frame.owner in OUTSIDERS


def by_hand(ending: Ending) -> bool:
    """Whether the user's own code raised it by a statement."""
    frame = ending.frame
    if frame is None or frame.owner != USER:
        return False
    if any(
        one.owner in FRAMEWORKS and not _E.fetches.search(one.file) for one in ending.stack[-2:]
    ):
        return False
    raised = re.search(r"(?:^|: )raise [A-Z]\w*\(", frame.code)
    return raised is not None and not _E.calls.search(ending.message)


def elsewhere(ending: Ending) -> bool:
    """Whether a whole traceback is shown in which no framework has a part."""
    return bool(ending.type and ending.stack) and not any(map(_has_part, ending.stack))


def _has_part(frame: Frame) -> bool:
    imports = _E.word.findall(frame.code) if "import" in frame.code else ()
    return bool(
        frame.owner in FRAMEWORKS
        or _E.gpu_files.search(frame.file)
        or _E.code.search(words_of(frame.code))
        or not FRAMEWORKS.isdisjoint(imports)
    )


def compared(ending: Ending) -> bool:
    """Whether a test compared two values: an error that stands in them is data."""
    frame = ending.frame
    by_method = frame is not None and "self.assert" in frame.code
    return _asserted(ending) and (by_method or ending.message.startswith("assert "))


def _is_near(ending: Ending) -> bool:
    """Whether the words of an ending, the code or the library that raised it are of the stack."""
    if is_relayed(ending) or ending.type.startswith("numpy."):
        return False
    said = _E.unsaid.sub("", spoken(ending.message[:FIRST]))
    if _near_by_words(said, ending) or name_of(ending) in STATUSES:
        return True
    frame = ending.frame
    return frame is not None and (
        frame.owner in FRAMEWORKS
        or bool(_E.gpu_files.search(frame.file) or _E.code.search(words_of(frame.code)))
    )


def _near_by_words(said: str, ending: Ending) -> bool:
    nobodys = ending.kind == "status" and not ending.type
    if ending.type in WHOLE or _E.by_tool.match(said) or nobodys:
        said = WORDS.given.sub("", said)
    if WORDS.api.search(said) or WORDS.library.search(said):
        return True
    return says_stack_fails(said) and not _E.loads.search(said)


def _is_own(ending: Ending) -> bool:
    if is_relayed(ending):
        found = _E.started.search(ending.message)
        return found is not None and found["name"] in TOOLS
    if name_of(ending) == "KeyboardInterrupt" and ending.message.startswith(">>>"):
        return False  # a prompt stands below it: the session went on
    if _E.built.search(ending.message):
        return False
    if ending.kind == "exception":
        return _raised_own(ending)
    if ending.kind == "fatal":
        return _fatal_alone(ending)
    if ending.type == "SIGABRT" and ending.chain and ending.chain[-1].kind == "fatal":
        return _fatal_alone(ending.chain[-1])  # C++ ends so after what nobody caught
    return ending.kind == "exit" and _said_alone(ending.message)


def _raised_own(ending: Ending) -> bool:
    cut_off = not ending.type and not ending.message
    if cut_off or WORDS.no_room.search(ending.message.partition("\n")[0]):
        return False
    return all(_raised_alone(one) for one in (ending, *ending.chain) if one.kind == "exception")


def _fatal_alone(ending: Ending) -> bool:
    """Whether the last word of a program that gave up has nothing to do with the GPU stack."""
    if ending.type == "usage":
        return True  # an option may well be named after the GPU
    if in_gpu_code(ending):
        return False
    if "not found" in ending.message and ending.type not in WHOLE:
        return not WORDS.hard.search(ending.message)
    cpp = "::" in ending.type and not _E.native.search(ending.type)
    if ending.type in ("panic", "assert", *WHOLE) or cpp:
        return _ended_alone(ending)
    by_tool = _E.by_tool.match(ending.message)
    said = WORDS.given.sub("", ending.message) if by_tool else ending.message
    hollow = _E.hollow.search(ending.message.split("\n", 1)[0])
    plain = ending.type.isalpha() and ending.type != "terminate" and not _E.shaped.search(said)
    return plain and not hollow and _said_alone(said)


def _ended_alone(ending: Ending) -> bool:
    """Whether the last words of a runtime say something, and nothing of the stack."""
    said = _E.panicked.sub("", words_of(ending.message)).strip()
    if ending.type in WHOLE:
        named = WORDS.given.sub("", said).strip()
        tells = bool(said) and not opaque(said.split("\n", 1)[0])
        return tells and (not named or _said_alone(named))
    least = 1 if _E.exact.match(ending.type) else WORDY
    return len(said) >= least and _said_alone(said) and not opaque(said.split("\n", 1)[0])


def _said_alone(message: str) -> bool:
    return bool(message) and not WORDS.stack.search(spoken(message))


def _raised_alone(ending: Ending) -> bool:
    """Whether neither the message nor the place of an exception is of the GPU stack."""
    name = name_of(ending)
    if _outsiders(ending):
        return _keyed(ending) or not WORDS.hard.search(spoken(WORDS.quoted.sub("", ending.message)))
    if name in PLAIN:
        return _keyed(ending) or not WORDS.hard.search(spoken(ending.message))
    if name == "CalledProcessError" and _E.builder.search(ending.message):
        return False
    if _asserted(ending) or (by_hand(ending) and not of_the_stack(ending.message)):
        return True
    if module := _E.module.search(ending.message):
        top = module["name"].split(".")[0].lstrip("_")
        return top not in FRAMEWORKS and "pywrap" not in module["name"]
    said = _E.unsaid.sub("", ending.message.split("\n\n", 1)[0][:FIRST])
    hands_on = name in STATUSES and _E.opaque.search(said.strip()) is not None
    if WORDS.stack.search(said) or hands_on:
        return False
    return elsewhere(ending) or (_telling(ending, said) and not _at_the_gpu(ending.frame))


def _outsiders(ending: Ending) -> bool:
    """Whether a package for settings, data or services raised it: it quotes values of theirs."""
    module, dot, _ = ending.type.partition(".")
    return module in OUTSIDERS or bool(dot and module in _PYTHONS) or by_outsider(ending)


def _telling(ending: Ending, said: str) -> bool:
    """Whether an exception has a name and words that say something."""
    named = bool(ending.type) and name_of(ending) not in STATUSES
    return named and bool(said.strip()) and not _E.opaque.search(said)


def _at_the_gpu(frame: Frame | None) -> bool:
    """Whether an exception came from code that deals with the GPU."""
    if frame is None:
        return False
    users = frame.owner == USER and bool(_E.code.search(words_of(frame.code)))
    return bool(_E.gpu_files.search(frame.file)) or users


def _keyed(ending: Ending) -> bool:
    """Whether the user's code asked a mapping of its own, or its settings, for a key."""
    if ending.type.split(".", 1)[0] in ("omegaconf", "hydra"):
        return True
    frame = ending.frame
    if name_of(ending) != "KeyError" or frame is None:
        return False
    return frame.owner == USER and "environ" not in frame.code


def _asserted(ending: Ending) -> bool:
    """Whether a condition of the user's own failed, which asks no part of the stack."""
    frame = ending.frame
    if name_of(ending) != "AssertionError":
        return False
    code = frame.code if frame is not None and frame.owner == USER else ""
    if not ending.message and "is not None" in code:
        return False  # it says that something before it failed
    asserted = _E.condition.search(code) or (frame is None and ending.message.startswith("assert "))
    said = WORDS.quoted.sub("", ending.message)
    asks = _E.calls.search(_E.variables.sub("", f"{code} {said}"))
    return bool(asserted) and not (asks or (WORDS.hard.search(said) and WORDS.broke.search(said)))
