"""Secrets: what must not leave the machine in anything that people share.

Every replacement is `REDACTED-n`, the same n for the same secret, so that a report stays readable and a path can be
turned back while we run. What looks like a version, a hash of a wheel or the path of a library stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gpuwhy.border import shapes

MARK = "REDACTED"
VALUES = frozenset({"a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3", "d3"})
"""The groups of the expressions that hold what may be a secret."""


class Redactor:
    """Replaces secrets in texts, each by its own mark, and can put them back into a path."""

    def __init__(self, host: str = "") -> None:
        self._marks: dict[str, str] = {}
        name = host.partition(".")[0]
        wanted = [one for one in {host, name} if len(one) > 3 and one.lower() not in shapes.EMPTY]
        whole = "|".join(re.escape(one) for one in sorted(wanted, key=len, reverse=True))
        self._host = re.compile(rf"(?<![\w.-])(?:{whole})(?![\w-])") if whole else None

    def hide(self, text: str) -> str:
        """A text without what must not be shared."""
        if len(text) < 4:
            return text
        if "-----BEGIN" in text:
            text = shapes.PRIVATE.sub(self._whole, text)
        if "://" in text and "@" in text:
            text = shapes.IN_URL.sub(lambda found: f"{found[1]}{self.mark(found[2])}@", text)
        text = shapes.SHAPES.sub(self._whole, text)
        if "@" in text:
            text = shapes.MAIL.sub(self._whole, text)
            text = shapes.PROMPT.sub(lambda found: f"{self.mark(found[1])}@{self.mark(found[2])}", text)
        if self._host is not None:
            text = self._host.sub("host", text)
        return "".join(self._by_line(text))

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
            yield self._places(shapes.CAMEL.sub(self._named, shapes.NAMED.sub(self._named, text[start:end])))
            done = end
        yield text[done:]

    def _places(self, line: str) -> str:
        """Addresses and names of machines and people."""
        if line.count(".") >= 3:
            line = shapes.ADDRESS_NAMED.sub(self._second, shapes.ADDRESS.sub(self._whole, line))
        if line.count(":") >= 3 or line.count("-") >= 5:
            line = shapes.ADDRESS_6.sub(self._whole, line)
        line = shapes.NODE.sub(self._whole, line)
        line = shapes.PAIRED.sub(self._second, line)
        return shapes.USER_NAMED.sub(self._second, shapes.NODE_NAMED.sub(self._second, line))

    def _second(self, found: re.Match[str]) -> str:
        return found[1] + self.mark(found[2])

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


def _mixed(word: str) -> bool:
    """The same of one with a digit or none: its letters change their size more often than in a ThingForAnother."""
    turns = sum(1 for _ in re.finditer(r"[a-z]+|[A-Z]+|\d+", word))
    return len(word) >= 10 and word.isalnum() and word.isascii() and 2 * turns > len(word)


def of_values(value: object, hide: Callable[[str], str]) -> object:
    """Plain values with every text in them hidden, names too."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {hide(k) if isinstance(k, str) else k: of_values(v, hide) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [of_values(one, hide) for one in value]
    return value
