"""Words: which words of a message are of the GPU stack, and which name somebody's own things."""

from __future__ import annotations

from gpuwhy.log.expressions import Expression, names

FRAMEWORKS = frozenset(names("words.names_frameworks"))
OUTSIDERS = frozenset(names("words.names_outsiders"))
TOOLS = frozenset(names("words.names_tools"))
KIN = Expression("words.kin")
HARD = Expression("words.hard")
STATUS = Expression("words.status")
STACK = Expression("words.stack")
_SPEAKERS = Expression("words.speakers")
_INSTALLED = Expression("words.installed")
API = Expression("words.api")
LIBRARY = Expression("words.library")
_IDENTIFIER = Expression("words.identifier")
QUOTED = Expression("words.quoted")
_PLACED = Expression("words.placed")
_STACKS_FILE = Expression("words.stacks_file")
_FILE_NAME = Expression("words.file_name")
_PATH = Expression("words.path")
_MEMBER = Expression("words.member")
_MISSED = Expression("words.missed")
GIVEN = Expression("words.given")
BARELY = Expression("words.barely")
BROKE = Expression("words.broke")
NO_ROOM = Expression("words.no_room")
_PLACE = Expression("words.place")
_WRONG = Expression("words.wrong")


def spoken(message: str) -> str:
    """What a message says, without the names that somebody gave: of files, hosts, fields."""
    said = _PATH.sub(
        lambda found: found[0] if _STACKS_FILE.search(found[0]) else "", words_of(message)
    )
    return _MEMBER.sub("", _IDENTIFIER.sub("", said))


def words_of(message: str) -> str:
    """What a message says, without names of other files, and places in sources."""
    said = QUOTED.sub(lambda found: "" if _is_data(found[0]) else found[0], message)
    return _PLACED.sub("", said)


def _is_data(quoted: str) -> bool:
    return bool(_FILE_NAME.search(quoted)) and not _STACKS_FILE.search(quoted)


def stack_prints(text: str) -> bool:
    """Whether words of the GPU stack, a framework or a library stand there, not as file names."""
    said = _IDENTIFIER.sub("", words_of(text))
    return bool(API.search(said) or _SPEAKERS.search(said) or _INSTALLED.search(text))


def stack_named(text: str) -> bool:
    """Whether any word stands there that may be meant of the GPU stack."""
    named = STACK.search(words_of(text)) or _INSTALLED.search(text)
    return bool(named) or "tensor" in text.lower()


def names_library(text: str) -> bool:
    """Whether a library or a compiler of the stack is named: words that mean nothing else."""
    return bool(LIBRARY.search(text))


def says_stack_fails(said: str) -> bool:
    """Whether words of the stack are said to miss, refuse or need something."""
    return bool(STACK.search(said) and _MISSED.search(said))


def of_the_stack(said: str) -> bool:
    """Whether words that somebody wrote himself tell of a failure of the stack."""
    if STATUS.search(said) or API.search(said) or NO_ROOM.search(said):
        return True
    words = spoken(_PLACE.sub("", said))
    wrong = any(one.search(words) for one in (BROKE, _MISSED, _WRONG))
    return bool(HARD.search(words)) and wrong
