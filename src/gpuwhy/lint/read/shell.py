"""Shell lines: commands with the line of every word; no shell is run, nothing is substituted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

import msgspec

from gpuwhy.lint.sheet import Arms, Command

_QUOTED = r"'[^'\n]{0,300}'|\"(?:\\.|[^\"\\\n]){0,300}\""
_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)|(?P<join>&&|\|\||;;|[;|&(){}](?=[\s]|$)|[;|&()])"
    r"|(?P<word>(?:\\.|'[^']{0,5000}'|\"(?:\\.|[^\"\\]){0,5000}\"|\$\{[^}]{0,200}\}"
    rf"|\$\((?:[^()'\"\n]|{_QUOTED}|\((?:[^()'\"\n]|'[^'\n]{{0,300}}'){{0,200}}\)){{0,200}}\)"
    r"|\$\([^)]{0,200}\)|[^\s;|&()'\"\\]|['\"])+)|(?P<other>.)",
    re.DOTALL,
)
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_ASIDE = re.compile(r"`#[^`]{0,500}`")
"""A comment amid the words of a command, as a substitution that gives nothing."""
_MOST_WORDS, _BODY = 20_000, -1
_WRAPPERS = (
    *("sudo", "then", "do", "else", "time", "env", "exec", "command", "nice"),
    *("!", "if", "-E", "-y"),
)


def commands(text: str, line: int, variables: Mapping[str, str]) -> list[Command]:
    """The commands of a text; newlines inside it are joined lines, counted from `line`."""
    out: list[Command] = []
    words: list[str] = []
    lines: list[int] = []
    arms = _Arms(line)
    known = dict(variables)
    for token, seen, joins in _tokens(text, line):
        if not joins:
            found = _split(token, known) or [expand(_unquoted(token), known)]
            words += found
            lines += [seen] * len(found)
            continue
        made = arms.placed(words, _command(words, lines, token), token)
        known |= {name: value for one in made if not one.words for name, value in one.assigned}
        arms.forget(made, known)
        out += made
        words, lines = [], []
    return out + arms.placed(words, _command(words, lines, ""), "")


def _tokens(text: str, line: int) -> Iterator[tuple[str, int, bool]]:
    """Words and what joins commands (True), each with its line; comments left out."""
    text = _ASIDE.sub(lambda found: "\n" * found[0].count("\n"), text)
    seen, position, silent = line, 0, 0
    for token in islice(_TOKEN.finditer(text), _MOST_WORDS):
        seen, position = seen + text.count("\n", position, token.start()), token.start()
        if token.lastgroup == "word" and token[0][0] == "#":
            silent = seen  # nothing more on this line
        if token.lastgroup == "join" or (token.lastgroup == "word" and seen != silent):
            yield token[0], seen, token.lastgroup == "join"


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
        self.assigned: dict[str, Arms] = {}

    def forget(self, made: list[Command], known: dict[str, str]) -> None:
        """Variables that were set in a branch, where that was left."""
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
        if first in ("fi", "esac") and self.open:
            self.open.pop()
        elif first in ("else", "elif") and self.open:
            self._other_arm()
        elif first in ("if", "case"):
            self.next += 1
            self.open.append((self.next, 0))
        arms = self.open[:-1] if first in ("if", "elif", "case") else self.open
        made = [msgspec.structs.replace(one, arms=tuple(arms)) for one in found]
        if then == ";;" and self.open:
            self._other_arm()
        elif then == "{":  # the body of a function: nobody knows which of them are called
            self.bodies += 1
            self.open.append((_BODY, self.bodies))
        elif then == "}" and self.open and self.open[-1][0] == _BODY:
            self.open.pop()
        return made

    def _other_arm(self) -> None:
        fork, arm = self.open[-1]
        self.open[-1] = (fork, arm + 1)


def _forks(arms: Arms) -> Arms:
    """The branches without the bodies of functions."""
    return tuple(arm for arm in arms if arm[0] != _BODY)


def _command(words: list[str], lines: list[int], then: str) -> list[Command]:
    if words and words[0] == "export":
        pairs = [(one[1], one[2]) for one in map(_ASSIGNED.fullmatch, words[1:]) if one]
        return [Command((), (), tuple(pairs), then)] if pairs else []
    assigned, start = _before(words)
    if start == len(words) and not assigned:
        return []
    order = [start + at for at in _pips_order(words[start:])]
    said, where = tuple(words[at] for at in order), tuple(lines[at] for at in order)
    return [Command(said, where, tuple(assigned), then)]


def _before(words: list[str]) -> tuple[list[tuple[str, str]], int]:
    """What is set before a command, and the place of its first word behind sudo and its kin."""
    assigned: list[tuple[str, str]] = []
    start = 0
    for word in words:
        found = _ASSIGNED.fullmatch(word)
        if found:
            assigned.append((found[1], found[2]))
        elif word.rsplit("/", 1)[-1] not in _WRAPPERS and not word.startswith("--mount="):
            break
        start += 1
    return assigned, start


_PIP = re.compile(r"(?:.*/)?pip[\d.]*")
_FLAG = re.compile(
    r"-[qv]+|--(?:no-cache-dir|quiet|verbose|no-input|isolated|no-color)|--[\w-]+=.*"
)
"""Options that pip takes before its subcommand as well as behind it."""


def _pips_order(words: list[str]) -> list[int]:
    """The places of a command's words, pip's subcommand before options in front of it."""
    named = next((at for at, word in enumerate(words[:3]) if _PIP.fullmatch(word)), -1)
    after = range(named + 1, len(words)) if named >= 0 else ()
    behind = next((at for at in after if not _FLAG.fullmatch(words[at])), 0)
    if behind <= named + 1:
        return list(range(len(words)))
    moved = [*range(named + 1, behind), *range(behind + 1, len(words))]
    return [*range(named + 1), behind, *moved]


def _unquoted(word: str) -> str:
    return re.sub(
        r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"|\\(.)",
        lambda found: found[1] or found[2] or found[3] or "",
        word,
        flags=re.DOTALL,
    )


def expand(text: str, variables: Mapping[str, str]) -> str:
    """`$NAME`, `${NAME}`, `${NAME:-other}`, `${NAME:+other}` replaced where the value is known; the
    rest stays.
    """

    def value(found: re.Match[str]) -> str:
        known, other = variables.get(found[1] or found[3] or found[4]), found[2]
        if found[4]:
            return found[0] if known is None else expand(found[5], variables) if known else ""
        if known is None and other is not None:
            return expand(other, variables)
        return known if known is not None else found[0]

    if "$" not in text:
        return text
    form = r"\$\{(\w+)(?::?-([^}$]*))?\}|\$(\w+)|\$\{(\w+):?\+([^}]{0,200})\}"
    return re.sub(form, value, text)[:5000]
