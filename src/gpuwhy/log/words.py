"""Words: which words of a message are of the GPU stack, and which name somebody's own things."""

from __future__ import annotations

from gpuwhy.log.expressions import Expressions, names

_E = WORDS = Expressions("words")

FRAMEWORKS = frozenset(names("words.names_frameworks"))
OUTSIDERS = frozenset(names("words.names_outsiders"))
TOOLS = frozenset(names("words.names_tools"))


def spoken(message: str) -> str:
    """What a message says, without the names that somebody gave: of files, hosts, fields."""
    said = _E.path.sub(
        lambda found: found[0] if _E.stacks_file.search(found[0]) else "", words_of(message)
    )
    return _E.member.sub("", _E.identifier.sub("", said))


def words_of(message: str) -> str:
    """What a message says, without names of other files, and places in sources."""
    said = _E.quoted.sub(lambda found: "" if _is_data(found[0]) else found[0], message)
    return _E.placed.sub("", said)


def _is_data(quoted: str) -> bool:
    return bool(_E.file_name.search(quoted)) and not _E.stacks_file.search(quoted)


def stack_prints(text: str) -> bool:
    """Whether words of the GPU stack, a framework or a library stand there, not as file names."""
    said = _E.identifier.sub("", words_of(text))
    return bool(_E.api.search(said) or _E.speakers.search(said) or _E.installed.search(text))


def stack_named(text: str) -> bool:
    """Whether any word stands there that may be meant of the GPU stack."""
    named = _E.stack.search(words_of(text)) or _E.installed.search(text)
    return bool(named) or "tensor" in text.lower()


def names_library(text: str) -> bool:
    """Whether a library or a compiler of the stack is named: words that mean nothing else."""
    return bool(_E.library.search(text))


def says_stack_fails(said: str) -> bool:
    """Whether words of the stack are said to miss, refuse or need something."""
    return bool(_E.stack.search(said) and _E.missed.search(said))


def of_the_stack(said: str) -> bool:
    """Whether words that somebody wrote himself tell of a failure of the stack."""
    if _E.status.search(said) or _E.api.search(said) or _E.no_room.search(said):
        return True
    words = spoken(_E.place.sub("", said))
    wrong = any(one.search(words) for one in (_E.broke, _E.missed, _E.wrong))
    return bool(_E.hard.search(words)) and wrong
