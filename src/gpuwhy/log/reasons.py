"""Reasons: which endings have a reason of their own, and which words are of the GPU stack."""

import sys

from msgspec.structs import replace

from gpuwhy.log.ending import Ending, Frame
from gpuwhy.log.expressions import Expressions, names
from gpuwhy.log.tracebacks import USER, WHOLE

WORDS = Expressions("words")
_E = Expressions("reasons")

FIRST = 500
"""What a message has to do with is said at its beginning; advice follows."""
FRAMEWORKS = frozenset(names("words.names_frameworks"))
OUTSIDERS = frozenset(names("words.names_outsiders"))
TOOLS = frozenset(names("words.names_tools"))
PLAIN = frozenset(names("reasons.names_plain"))
STATUSES = names("reasons.names_statuses")
_PROCESSES = {"subprocess", "ctypes", "multiprocessing", "concurrent", "asyncio", "os"}
_PYTHONS = sys.stdlib_module_names - _PROCESSES
"""Modules of Python's own library that raise about data, not about a process or a library."""


def judged(ending: Ending) -> Ending:
    """The ending, marked where it has a reason of its own, and where the GPU stack has a part."""
    near = any(map(_is_near, (ending, *ending.chain)))
    return replace(ending, own=_is_own(ending), gpu=near)


def is_foreign(ending: Ending) -> bool:
    """Whether another language's runtime tells the end of its program."""
    return ending.kind == "fatal" and (ending.type == "panic" or ending.type in WHOLE)


def elsewhere(ending: Ending) -> bool:
    """Whether a whole traceback is shown in which no framework has a part."""
    return bool(ending.type and ending.stack) and not any(map(_has_part, ending.stack))


def opaque(said: str) -> bool:
    """Whether words tell that something went wrong, and nothing of what."""
    return bool(_E.opaque.search(said) or WORDS.barely.match(said))


def _has_part(frame: Frame) -> bool:
    return frame.owner in FRAMEWORKS or bool(
        _E.gpu_files.search(frame.file) or _E.code.search(words_of(frame.code))
    )


def _is_near(ending: Ending) -> bool:
    """Whether the words of an ending, the code or the library that raised it are of the stack."""
    if ending.is_relayed:
        return False
    said = _E.unsaid.sub("", spoken(ending.message[:FIRST]))
    if ending.type in WHOLE or (ending.kind == "status" and not ending.type):
        said = WORDS.given.sub("", said)
    named = WORDS.api.search(said) or WORDS.library.search(said) or ending.name in STATUSES
    if named or (WORDS.stack.search(said) and WORDS.missed.search(said)):
        return True
    return ending.frame is not None and _has_part(ending.frame)


def _is_own(ending: Ending) -> bool:
    if ending.is_relayed:
        found = _E.started.search(ending.message)
        return found is not None and found["name"] in TOOLS
    if _E.built.search(ending.message):
        return False
    if ending.kind == "exception":
        every = [one for one in (ending, *ending.chain) if one.kind == "exception"]
        return all(map(_raised_alone, every))
    if ending.type == "SIGABRT" and ending.chain:
        ending = ending.chain[-1]  # C++ ends so after what nobody caught
    if ending.kind == "fatal":
        return _fatal_alone(ending)
    return ending.kind == "exit" and _said_alone(ending.message)


def _fatal_alone(ending: Ending) -> bool:
    """Whether the last word of a program that gave up has nothing to do with the GPU stack."""
    if ending.type == "usage":
        return True  # an option may well be named after the GPU
    if "not found" in ending.message and ending.type not in WHOLE:
        return not WORDS.hard.search(ending.message)
    cpp = "::" in ending.type and not _E.native.search(ending.type)
    if ending.type in ("panic", "assert", *WHOLE) or cpp:  # the last words of a runtime
        said = _E.panicked.sub("", words_of(ending.message)).strip()
        if not said or opaque(said.split("\n", 1)[0]):
            return False
        named = WORDS.given.sub("", said).strip() if ending.type in WHOLE else said
        return not named or _said_alone(named)
    by_tool = _E.by_tool.match(ending.message)
    said = WORDS.given.sub("", ending.message) if by_tool else ending.message
    hollow = _E.hollow.search(ending.message.split("\n", 1)[0]) or _E.shaped.search(said)
    return ending.type.isalpha() and not hollow and _said_alone(said)


def _said_alone(message: str) -> bool:
    return bool(message) and not WORDS.stack.search(spoken(message))


def _raised_alone(ending: Ending) -> bool:
    """Whether neither the message nor the place of an exception is of the GPU stack."""
    if not ending.type and not ending.message:
        return False  # cut off
    module, dot, _ = ending.type.partition(".")
    if module in OUTSIDERS or (dot and module in _PYTHONS):
        # a package for settings, data or services quotes values of theirs
        return not WORDS.hard.search(spoken(WORDS.quoted.sub("", ending.message)))
    if ending.name in PLAIN:
        return not WORDS.hard.search(spoken(ending.message))
    if missing := _E.module.search(ending.message):
        return missing["name"].split(".")[0].lstrip("_") not in FRAMEWORKS
    said = _E.unsaid.sub("", ending.message.split("\n\n", 1)[0][:FIRST])
    if WORDS.stack.search(said):
        return False
    if elsewhere(ending):
        return True
    tells = ending.type and ending.name not in STATUSES and said.strip()
    return bool(tells) and not _E.opaque.search(said) and not _at_the_gpu(ending.frame)


def _at_the_gpu(frame: Frame | None) -> bool:
    """Whether an exception came from code that deals with the GPU."""
    if frame is None:
        return False
    users = frame.owner == USER and bool(_E.code.search(words_of(frame.code)))
    return bool(_E.gpu_files.search(frame.file)) or users


# ---------------------------------------------------------------- words of the GPU stack


def spoken(message: str) -> str:
    """What a message says, without the names that somebody gave: of files, hosts, fields."""
    said = WORDS.path.sub(
        lambda found: found[0] if WORDS.stacks_file.search(found[0]) else "", words_of(message)
    )
    return WORDS.member.sub("", WORDS.identifier.sub("", said))


def words_of(message: str) -> str:
    """What a message says, without names of other files, and places in sources."""

    def kept(quoted: str) -> bool:
        return bool(WORDS.stacks_file.search(quoted)) or not WORDS.file_name.search(quoted)

    said = WORDS.quoted.sub(lambda found: found[0] if kept(found[0]) else "", message)
    return WORDS.placed.sub("", said)


def stack_prints(text: str) -> bool:
    """Whether words of the GPU stack, a framework or a library stand there, not as file names."""
    said = WORDS.identifier.sub("", words_of(text))
    named = WORDS.api.search(said) or WORDS.speakers.search(said)
    return bool(named or WORDS.installed.search(text))


def stack_named(text: str) -> bool:
    """Whether any word stands there that may be meant of the GPU stack."""
    named = WORDS.stack.search(words_of(text)) or WORDS.installed.search(text)
    return bool(named) or "tensor" in text.lower()
