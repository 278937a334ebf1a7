"""Shell lines: commands with the line of every word; no shell is run, nothing is substituted."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from gpuwhy.lint.sheet import Command

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
_UNQUOTED = re.compile(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"|\\(.)", re.DOTALL)
_MOST_WORDS = 20_000
_WRAPPERS = ("sudo", "then", "do", "else", "time", "env", "exec", "command", "nice")
_PREFIXES = (*_WRAPPERS, "!", "if", "-E", "-y")
_PIP = re.compile(r"(?:.*/)?pip[\d.]*")
_FLAG = re.compile(
    r"-[qv]+|--(?:no-cache-dir|quiet|verbose|no-input|isolated|no-color)|--[\w-]+=.*"
)
"""Options that pip takes before its subcommand as well as behind it."""


def commands(text: str, line: int, variables: Mapping[str, str]) -> list[Command]:
    """The commands of a text; newlines inside it are joined lines, counted from `line`."""
    out: list[Command] = []
    words: list[str] = []
    lines: list[int] = []
    forks = bodies = 0  # of `if` and `case`, of functions: nobody knows which of them run
    known = dict(variables)
    for token, seen, joins in _tokens(text, line):
        if not joins:
            name = re.fullmatch(r"\$\{?(\w+)\}?", token)
            value = known.get(name[1], "") if name else ""
            several = " " in value and "$" not in value and len(value) < 500
            found = value.split() if several else [expand(_unquoted(token), known)]
            words += found
            lines += [seen] * len(found)
            continue
        made = _command(words, lines)
        made.sure = not forks and not bodies
        if made.words or made.assigned:
            out.append(made)
        for one, value in made.assigned if not made.words else ():
            known[one] = value
            if forks:
                del known[one]
        first = words[0] if words else ""
        forks = max(0, forks + (first in ("if", "case")) - (first in ("fi", "esac")))
        bodies = max(0, bodies + (token == "{") - (token == "}"))
        words, lines = [], []
    return out


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
    yield "", seen, True


def _command(words: list[str], lines: list[int]) -> Command:
    """What is set before a command, and its words behind sudo and its kin."""
    if words and words[0] == "export":
        pairs = (_ASSIGNED.fullmatch(word) for word in words[1:])
        return Command((), (), tuple((one[1], one[2]) for one in pairs if one))
    assigned: list[tuple[str, str]] = []
    start = 0
    for word in words:
        found = _ASSIGNED.fullmatch(word)
        if found:
            assigned.append((found[1], found[2]))
        elif word.rsplit("/", 1)[-1] not in _PREFIXES and not word.startswith("--mount="):
            break
        start += 1
    order = list(range(start, len(words)))
    pip = next((at for at in order[:3] if _PIP.fullmatch(words[at])), len(words))
    behind = next((at for at in order if at > pip and not _FLAG.fullmatch(words[at])), 0)
    if behind > pip + 1:  # pip's subcommand before options in front of it
        order.insert(pip - start + 1, order.pop(behind - start))
    said, where = tuple(words[at] for at in order), tuple(lines[at] for at in order)
    return Command(said, where, tuple(assigned))


def _unquoted(word: str) -> str:
    return _UNQUOTED.sub(lambda found: found[1] or found[2] or found[3] or "", word)


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
