"""Secrets: what must not leave the machine in anything that people share.

Every replacement is `REDACTED-n`, the same n for the same secret, so that a report stays readable and a path can be
turned back while we run. What looks like a version, a hash of a wheel or the path of a library stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from gpuwhy.border import shapes

MARK = "REDACTED"
VALUES = frozenset({"a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3", "d3"})
"""The groups of the expressions that hold what may be a secret."""
MOST_KNOWN, MOST_LENGTH = 500, 4000
"""How many secrets and names of machines are looked for out of their place, and how long they may be."""


class Redactor:
    """Replaces secrets in texts, each by its own mark, and can put them back into a path."""

    def __init__(self, host: str = "", *, learns: bool = True, environ: Mapping[str, str] | None = None) -> None:
        self._marks: dict[str, str] = {}
        name = host.partition(".")[0]
        wanted = [one for one in {host, name} if len(one) > 3 and one.lower() not in shapes.EMPTY]
        self._host = _words(wanted)
        self._learns = learns
        self._known: set[str] = set()
        self._learned: re.Pattern[str] | None = None
        for variable, value in (environ or {}).items():
            if shapes.TELLING.search(f"{variable}={value}") or "@" in value:
                self.hide(self.named(variable, value))

    def hide(self, text: str) -> str:
        """A text without what must not be shared."""
        if len(text) < 4:
            return text
        if "-----BEGIN" in text:
            text = shapes.PRIVATE.sub(self._private, text)
        if "://" in text and "@" in text:
            text = shapes.IN_URL.sub(lambda found: f"{found[1]}{self.mark(found[2])}@", text)
        text = shapes.SHAPES.sub(self._whole, text)
        if "@" in text:
            text = shapes.MAIL.sub(self._whole, text)
            text = shapes.PROMPT.sub(lambda found: f"{self.mark(found[1])}@{self._machine(found[2])}", text)
        if self._host is not None:
            text = self._host.sub("host", text)
        return self.again("".join(self._by_line(text)))

    def again(self, text: str) -> str:
        """A text without the secrets and names of machines that were betrayed somewhere else."""
        if self._known and self._learned is None:
            self._learned = _words(self._known)
        return self._learned.sub(self._whole, text) if self._learned else text

    def named(self, name: str, value: str) -> str:
        """The value that a name has in a table: hidden whole where the name says that it is a secret."""
        found = shapes.NAMED.fullmatch(f'{name}="{value}"') if '"' not in value and "\n" not in value else None
        return self._named(found)[len(name) + 2 : -1] if found else value

    def _by_line(self, text: str) -> Iterator[str]:
        """The text, the lines that say something of keys, addresses or people without them."""
        done = 0
        for place in sorted(_suspicious(text)):
            if place < done:
                continue
            start = text.rfind("\n", done, place) + 1 or done
            end = text.find("\n", place)
            end = end if end >= 0 else len(text)
            yield text[done:start]
            line = shapes.CAMEL.sub(self._named, shapes.NAMED.sub(self._named, text[start:end]))
            yield self._places(shapes.BEHIND.sub(self._behind, line))
            done = end
        yield text[done:]

    def _places(self, line: str) -> str:
        """Addresses and names of machines and people."""
        if line.count(".") >= 2:
            line = shapes.CARD.sub(
                self._whole, shapes.ADDRESS_NAMED.sub(self._second, shapes.ADDRESS.sub(self._whole, line))
            )
        if line.count(":") >= 3 or line.count("-") >= 5:
            line = shapes.ADDRESS_6.sub(self._whole, line)
        line = shapes.NODE.sub(lambda found: self._machine(found[0]), line)
        line = shapes.PAIRED.sub(self._second, line)
        line = shapes.NODE_NAMED.sub(lambda found: found[1] + self._machine(found[2]), line)
        if "\\\\" in line:
            line = shapes.UNC.sub(lambda found: found[1] + self._machine(found[2]), line)
        return shapes.USER_NAMED.sub(self._second, line)

    def _second(self, found: re.Match[str]) -> str:
        before, secret = [one for one in found.groups() if one is not None][:2]
        return before + self.mark(secret)

    def _behind(self, found: re.Match[str]) -> str:
        place = "path" if found["path"] else "value"
        before = found[0][: found.start(place) - found.start()]
        return before + self.mark(found[place]) if _drawn(found, place) else found[0]

    def _machine(self, name: str) -> str:
        """A machine's mark; names that are no common words are known wherever they stand from now on."""
        for one in {name, name.partition(".")[0]} if self._learns else ():
            self._know(one, _telling(one))
        return self.mark(name)

    def _know(self, word: str, sure: bool) -> None:
        if sure and word not in self._known and len(self._known) < MOST_KNOWN:
            self._known.add(word)
            self._learned = None

    def _private(self, found: re.Match[str]) -> str:
        """A key of many lines: as many lines stay."""
        for line in re.split(r"\n|\\n", found[0])[1:-1]:
            self._know(line.strip(), len(line) > 30)
        return self.mark(found[0]) + "\n" * found[0].count("\n")

    def back(self, text: str) -> str:
        """A path of ours with the secrets that are in it on this machine."""
        if MARK not in text:
            return text
        secrets = {mark: secret for secret, mark in self._marks.items()}
        return re.sub(rf"{MARK}-\d+", lambda found: secrets.get(found[0], found[0]), text)

    def mark(self, secret: str) -> str:
        """What stands for a secret."""
        if secret.startswith(MARK):
            return secret
        self._know(secret, _unmistakable(secret))
        return self._marks.setdefault(secret, f"{MARK}-{len(self._marks) + 1}")

    def _whole(self, found: re.Match[str]) -> str:
        return self.mark(found[0])

    def _named(self, found: re.Match[str]) -> str:
        groups = {name: value for name, value in found.groupdict().items() if value is not None}
        place = next((name for name in groups if name in VALUES), "")
        value = _secret(groups.get(place, ""), "weak" in groups, place == "d3")
        if not value:
            return found[0]
        start = found.start(place) - found.start()
        return found[0][:start] + self.mark(value) + found[0][start + len(value) :]


def _words(names: Iterable[str]) -> re.Pattern[str] | None:
    """An expression for names as whole words."""
    whole = "|".join(re.escape(one) for one in sorted(names, key=lambda one: (-len(one), one)))
    return re.compile(rf"(?<![\w.-])(?:{whole})(?![\w-])") if whole else None


def _telling(name: str) -> bool:
    """Whether a machine's name is no word or number that something else has too."""
    return (
        len(name) > 4
        and not shapes.COMMON.fullmatch(name)
        and any(map(str.isdigit, name))
        and not name.startswith(MARK)
    )


def _drawn(found: re.Match[str], place: str) -> bool:
    """Whether a word behind one for a key is a key, not the sum of a file."""
    word = found[place]
    if place == "path":
        return _random(word, 8)
    sums = shapes.HASHED.search(found.string[max(0, found.start() - 80) : found.end()])
    return not sums and not word.startswith(MARK) and sum(map(str.isdigit, word)) >= 4 and _random(word, 24)


def _suspicious(text: str) -> Iterator[int]:
    """Places in the lines that may hold something: of each word one a line, found with the speed of memory."""
    low = text.lower()
    if len(low) != len(text):  # a letter whose lower case is two
        low = text
    for word in shapes.WORDS:
        place = low.find(word)
        while place >= 0:
            yield place
            end = low.find("\n", place)
            place = low.find(word, end) if end >= 0 else -1
    for found in shapes.NUMBERS.finditer(text):
        yield found.start()


def _secret(value: str, weak: bool, bare: bool) -> str:
    """The part of a value that is a secret; "" where none is."""
    if value.startswith(MARK) or shapes.PLAIN.fullmatch(value):
        return ""
    if bare:
        return value if "=" in value or any(map(str.isdigit, value)) else ""
    if not weak:
        return value
    first = re.split(r"[/\\:?#]", value, maxsplit=1)[0]
    return first if _random(first, 8) or _mixed(first) else value if _random(value, 32) else ""


def _random(word: str, least: int) -> bool:
    """Whether a word looks drawn, not written: long, of letters and digits, without the dots of a name."""
    digits, letters = sum(map(str.isdigit, word)), sum(map(str.isalpha, word))
    return len(word) >= least and digits >= 2 and letters >= 2 and not re.search(r" |\w\.\w+\.", word)


def _unmistakable(secret: str) -> bool:
    """Whether a secret is no word that something else is called by."""
    if not 12 <= len(secret) < MOST_LENGTH or shapes.VERSION.search(secret):
        return False
    drawn = (
        len(secret) >= 16 and secret != secret.lower() and secret != secret.upper() and any(map(str.isdigit, secret))
    )
    return drawn or _random(secret, 12)


def _mixed(word: str) -> bool:
    """The same of one with a digit or none: its letters change their size more often than in a ThingForAnother."""
    turns = sum(1 for _ in re.finditer(r"[a-z]+|[A-Z]+|\d+", word))
    return len(word) >= 10 and word.isalnum() and word.isascii() and 2 * turns > len(word)


def of_values(value: object, hide: Callable[[str], str], named: Callable[[str, str], str] | None = None) -> object:
    """Plain values with every text in them hidden, names too; `named` hides one by the name it has in a table."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {hide(k) if isinstance(k, str) else k: _of_pair(k, v, hide, named) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [of_values(one, hide, named) for one in value]
    return value


def _of_pair(key: object, value: object, hide: Callable[[str], str], named: Callable[[str, str], str] | None) -> object:
    if named is not None and isinstance(key, str) and isinstance(value, str):
        value = named(key, value)
    return of_values(value, hide, named)
