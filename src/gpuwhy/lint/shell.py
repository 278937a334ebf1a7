"""Shell lines of a RUN instruction: commands with the line of every word; no shell is run, no substitution guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

import msgspec

from gpuwhy.lint.sheet import Command

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)|(?P<join>&&|\|\||;;|[;|&(){}](?=[\s]|$)|[;|&()])"
    r"|(?P<word>(?:\\.|'[^']{0,5000}'|\"(?:\\.|[^\"\\]){0,5000}\"|\$\{[^}]{0,200}\}"
    r"|\$\((?:[^()'\"\n]|'[^'\n]{0,300}'|\"(?:\\.|[^\"\\\n]){0,300}\"|\((?:[^()'\"\n]|'[^'\n]{0,300}'){0,200}\)){0,200}\)"
    r"|\$\([^)]{0,200}\)|[^\s;|&()'\"\\]|['\"])+)|(?P<other>.)",
    re.DOTALL,
)
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_ASIDE = re.compile(r"`#[^`]{0,500}`")
"""A comment amid the words of a command, as a substitution that gives nothing."""
_WORDS, _BODY = 20_000, -1
_WRAPPERS = frozenset({"sudo", "then", "do", "else", "time", "env", "exec", "command", "nice", "!", "if"})


def commands(text: str, line: int, variables: Mapping[str, str]) -> list[Command]:
    """The commands of a text; newlines inside it are joined lines, counted from `line`."""
    out: list[Command] = []
    words: list[str] = []
    lines: list[int] = []
    bare: list[tuple[str, int]] = []
    arms = _Arms(line)
    known = dict(variables)
    for token, seen, joins in _tokens(text, line):
        if not joins:
            found = (_split(token, known) if token[0] == "$" else []) or [expand(_unquoted(token), known)]
            words += found
            lines += [seen] * len(found)
            bare += [(token, seen)] if _BOUND.match(token) else []
            continue
        made = arms.placed(words, _command(words, lines, token), token)
        known |= {name: value for one in made if not one.words for name, value in one.assigned}
        arms.forget(made, known)
        out += _with(made, bare)
        words, lines, bare = [], [], []
    return out + _with(arms.placed(words, _command(words, lines, ""), ""), bare)


def _tokens(text: str, line: int) -> Iterator[tuple[str, int, bool]]:
    """Words and what joins commands (True), each with its line; comments left out."""
    text = _ASIDE.sub(lambda found: "\n" * found[0].count("\n"), text) if "`#" in text else text
    seen, position, silent = line, 0, 0
    for token in islice(_TOKEN.finditer(text), _WORDS):
        seen += text.count("\n", position, token.start())
        position = token.start()
        if token.lastgroup == "word" and token[0][0] == "#":
            silent = seen  # nothing more on this line
        if token.lastgroup == "join" or (token.lastgroup == "word" and seen != silent):
            yield token[0], seen, token.lastgroup == "join"


_BOUND = re.compile(r"[A-Za-z][\w.-]*(\[[\w,-]+\])?[<>]=?\d[\w.*]*(,[<>!=~]+[\w.*]+)*$")
"""A requirement with a bound and no quotes: torch>=2.6."""


def _with(made: list[Command], bare: list[tuple[str, int]]) -> list[Command]:
    return [msgspec.structs.replace(c, redirected=tuple(bare)) for c in made] if bare else made


def _split(word: str, variables: Mapping[str, str]) -> list[str]:
    """The words of a bare $NAME whose value has several; [] for every other word."""
    name = re.fullmatch(r"\$\{?(\w+)\}?", word)
    value = variables.get(name[1], "") if name else ""
    return value.split() if " " in value and "$" not in value and len(value) < 500 else []


class _Arms:
    """Which branches of `if` and `case` a command stands in, counted as the commands go by."""

    def __init__(self, line: int) -> None:
        self.open: list[tuple[int, int]] = []
        self.next = line * 1000  # another number for each fork of a file
        self.bodies = 0
        self.assigned: dict[str, tuple[tuple[int, int], ...]] = {}

    def forget(self, made: list[Command], known: dict[str, str]) -> None:
        """Variables that were set in a branch, where that was left: their value hangs on what nobody here knows."""
        for one in made if made and not made[0].words else ():
            self.assigned |= {name: _forks(one.arms) for name, _ in one.assigned}
        here = _forks(tuple(self.open))
        left = [name for name, arms in self.assigned.items() if here[: len(arms)] != arms]
        for name in left:
            known.pop(name, None)
            del self.assigned[name]

    def placed(self, words: list[str], found: list[Command], then: str) -> list[Command]:
        """A command with its branches; its words may open or close one."""
        first = words[0] if words else ""
        self._begin(first)
        arms = tuple(self.open) if first not in ("if", "elif", "case") else tuple(self.open[:-1])
        self._end(then)
        return [msgspec.structs.replace(c, arms=arms) for c in found] if arms else found

    def _begin(self, first: str) -> None:
        """What the first word of a command opens or closes."""
        if first in ("fi", "esac") and self.open:
            self.open.pop()
        elif first in ("else", "elif") and self.open:
            self._other_arm()
        elif first in ("if", "case"):
            self.next += 1
            self.open.append((self.next, 0))

    def _end(self, then: str) -> None:
        """What stands behind a command."""
        if then == ";;" and self.open:
            self._other_arm()
        elif then == "{":  # the body of a function: nobody knows which of them are called
            self.bodies += 1
            self.open.append((_BODY, self.bodies))
        elif then == "}" and self.open and self.open[-1][0] == _BODY:
            self.open.pop()

    def _other_arm(self) -> None:
        fork, arm = self.open[-1]
        self.open[-1] = (fork, arm + 1)


def _forks(arms: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """The branches without the bodies of functions."""
    return tuple(arm for arm in arms if arm[0] != _BODY)


def _command(words: list[str], lines: list[int], then: str) -> list[Command]:
    if words and words[0] == "export":
        pairs = tuple((found[1], found[2]) for found in map(_ASSIGNED.fullmatch, words[1:]) if found)
        return [Command((), (), pairs, then, set_on=lines[0])] if pairs else []
    assigned, start = _before(words)
    if start == len(words) and not assigned:
        return []
    on = lines[0] if assigned else 0
    order = [start + at for at in _pips_order(words[start:])]
    said, where = tuple(words[at] for at in order), tuple(lines[at] for at in order)
    return [Command(said, where, tuple(assigned), then, set_on=on, by_sudo="sudo" in words[:start])]


def _before(words: list[str]) -> tuple[list[tuple[str, str]], int]:
    """What is set before a command, and the place of its first word behind sudo and its kin."""
    assigned: list[tuple[str, str]] = []
    start = 0
    for word in words:
        found = _ASSIGNED.fullmatch(word)
        if found:
            assigned.append((found[1], found[2]))
        elif (
            word.rsplit("/", 1)[-1] not in _WRAPPERS
            and not word.startswith("--mount=")
            and (word not in ("-E", "-y") or start > 0)
        ):
            break
        start += 1
    return assigned, start


_PIP = re.compile(r"(?:.*/)?pip[\d.]*")
_FLAGS = re.compile(
    r"-[qv]+|--(?:no-cache-dir|quiet|verbose|no-input|isolated|disable-pip-version-check|no-color)|--[\w-]+=.*"
)
"""Options that pip takes before its subcommand as well as behind it, and that no word of their own follows."""


def _pips_order(words: list[str]) -> list[int]:
    """The places of a command's words, pip's subcommand before options that stand in front of it."""
    named = next((at for at, word in enumerate(words[:3]) if _PIP.fullmatch(word)), -1)
    behind = (
        next((at for at in range(named + 1, len(words)) if not _FLAGS.fullmatch(words[at])), 0) if named >= 0 else 0
    )
    if behind <= named + 1:
        return list(range(len(words)))
    return [*range(named + 1), behind, *range(named + 1, behind), *range(behind + 1, len(words))]


def _unquoted(word: str) -> str:
    if not any(sign in word for sign in "'\"\\"):
        return word
    return re.sub(
        r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"|\\(.)", lambda m: m[1] or m[2] or m[3] or "", word, flags=re.DOTALL
    )


def expand(text: str, variables: Mapping[str, str]) -> str:
    """`$NAME`, `${NAME}` and `${NAME:-other}` replaced where the value is known; the rest stays as it is written."""
    if "$" not in text:
        return text

    def value(found: re.Match[str]) -> str:
        name, other = found[1] or found[3], found[2]
        known = variables.get(name)
        if known is None and other is not None:
            return expand(other, variables) if "$" not in other else other
        return known if known is not None else found[0]

    return re.sub(r"\$\{(\w+)(?::?-([^}]*))?\}|\$(\w+)", value, text)[:5000]
