"""The one place where secrets, people, machines and addresses are taken out of what is passed on.

Every replacement is `REDACTED-n`, the same n for the same secret, so that a report stays readable.
What looks like a version, a hash of a wheel or the path of a library stays.

A name below `/home` or `/Users` is a person. Below `/scratch` and its kind it is one unless all its
words name things (`conda`, `shared-data`): a name that merely holds such a word (`devika`) is one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gpuwhy.machine import reading
from gpuwhy.machine.machine import printable
from gpuwhy.machine.shapes import shape, words

MARK = "REDACTED"
_VALUES = frozenset({"a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "c3", "d1", "d3"})
"""The groups of the expressions that hold what may be a secret."""
_PLACES = (
    (".", "address", "_whole"),
    (".", "address_named", "_second"),
    ("10.", "address_10", "_of_10"),
    (".", "card", "_whole"),
    ("", "address_6", "_whole"),
    ("", "node", "_node"),
    ("", "paired", "_second"),
    (" NCCL ", "node_of_nccl", "_node"),
    ("[", "node_of_ucx", "_node"),
    ("", "node_named", "_node"),
    ("\\\\", "unc", "_node"),
    ("", "user_named", "_second"),
)
"""What a line must hold, the expression for what is hidden then, and how it is replaced."""
_MOST_KNOWN, _MOST_LENGTH = 500, 4000
"""How many secrets and machine names are looked for out of their place; how long they may be."""
_NVIDIA_SECOND, _NVIDIA_THIRD = 15, 12
"""No library of NVIDIA has a version 10.x.y with larger numbers: what has is an address."""
MOST_ACCOUNTS = 100
_MARKS = (
    *("/home", "sers", "SERS", "/user/", "/people/", "scratch", "rofiles", "ROFILES"),
    "\\",
)


def machine_name() -> str:
    """This machine's name, which nobody else needs to know."""
    if hasattr(os, "uname"):
        return os.uname().nodename
    return os.environ.get("COMPUTERNAME", "")


def of_this_machine(
    *, paths: bool = False, nodes: bool = False, home_as: str = "~", user_as: str = "$USER"
) -> Redactor:
    """What hides this machine's secrets and people; `paths` stay where a program needs them.

    With `nodes` for answers whose point is which machine it was.
    """
    environ = os.environ
    home = environ.get("USERPROFILE" if os.name == "nt" else "HOME") or os.path.expanduser("~")
    people = None if paths else People(home, (*logins(environ), *accounts()), home_as, user_as)
    return Redactor(machine_name(), people, learns=not nodes, environ=environ)


class Redactor:
    """Replaces secrets in texts, each by its own mark."""

    def __init__(
        self,
        host: str = "",
        people: People | None = None,
        *,
        learns: bool = True,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self._people, self._learns = people, learns
        self._marks: dict[str, str] = {}
        common, names = words("of_no_machine"), {host, host.partition(".")[0]}
        self._host = _words(one for one in names if len(one) > 3 and one.lower() not in common)
        self._known: set[str] = set()
        self._learned: re.Pattern[str] | None = None
        for variable, value in (environ or {}).items():
            if shape("telling").search(f"{variable}={value}") or "@" in value:
                self._secrets(self.named(variable, value))

    # ------------------------------------------------------------ what is asked

    def hide(self, text: str) -> str:
        """A text without what must not be passed on; bytes that are no UTF-8 as escapes."""
        text = printable(text)
        return self._secrets(self._people.hide(text) if self._people else text)

    def values(self, value: Any) -> Any:
        """Plain values (JSON's) with every text in them hidden, keys too; learnt secrets last."""
        return _each(self._values(value), self.again)

    def named(self, name: str, value: str) -> str:
        """The value that a name has: hidden whole where the name says that it is a secret."""
        if '"' in value or "\n" in value:
            return value
        found = shape("named").fullmatch(f'{name}="{value}"')
        return self._named(found)[len(name) + 2 : -1] if found else value

    def again(self, text: str) -> str:
        """A text without the secrets and names of machines that were betrayed somewhere else."""
        if self._known and self._learned is None:
            self._learned = _words(self._known)
        return self._learned.sub(self._whole, text) if self._learned else text

    def mark(self, secret: str) -> str:
        """What stands for a secret."""
        if secret.startswith(MARK):
            return secret
        self._know(secret, _unmistakable(secret))
        return self._marks.setdefault(secret, f"{MARK}-{len(self._marks) + 1}")

    # ------------------------------------------------------------ values

    def _values(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.hide(value)
        if isinstance(value, (list, tuple)):
            return [self._values(one) for one in value]
        if not isinstance(value, dict):
            return value
        out = {}
        for key, one in value.items():
            if isinstance(key, str) and isinstance(one, str):  # by its key, or the name beside it
                said = value.get("name") if key == "value" else None
                one = self.named(said if isinstance(said, str) else key, one)
            out[self.hide(key) if isinstance(key, str) else key] = self._values(one)
        return out

    # ------------------------------------------------------------ a text

    def _secrets(self, text: str) -> str:
        if len(text) < 4:
            return text
        if "-----BEGIN" in text:
            text = shape("private_key").sub(self._private, text)
        if "@" in text or "%40" in text:
            text = shape("in_url").sub(lambda found: f"{self._second(found)}@", text)
        text = shape("token").sub(self._whole, text)
        if "@" in text:
            text = shape("mail").sub(self._whole, text)
            text = shape("prompt").sub(
                lambda found: f"{self.mark(found[1])}@{self._machine(found[2])}", text
            )
        if self._host is not None:
            text = self._host.sub("host", text)
        return self.again("".join(self._by_line(text)))

    def _by_line(self, text: str) -> Iterator[str]:
        """The text; of lines that may hold a key, an address or a name, what is left of them."""
        done = 0
        for place in sorted(_suspicious(text)):
            if place < done:
                continue
            start = text.rfind("\n", done, place) + 1 or done
            end = text.find("\n", place)
            end = end if end >= 0 else len(text)
            yield text[done:start]
            line = shape("camel").sub(self._named, shape("named").sub(self._named, text[start:end]))
            line = shape("behind").sub(self._behind, line)
            for part, name, replacement in _PLACES:  # addresses, names of machines and people
                if part in line:
                    line = shape(name).sub(getattr(self, replacement), line)
            yield line
            done = end
        yield text[done:]

    def _of_10(self, found: re.Match[str]) -> str:
        """10.9.8.7 is an address or the version of a library: the numbers or the line decide."""
        small = int(found["second"]) <= _NVIDIA_SECOND and int(found["third"]) <= _NVIDIA_THIRD
        alone = not found.string[: found.start()].strip(" \t\"'([{")
        if small and (alone or shape("of_a_package").search(found.string)):
            return found[0]
        return self.mark(found[0])

    def _second(self, found: re.Match[str]) -> str:
        before, secret = [one for one in found.groups() if one is not None][:2]
        return before + self.mark(secret)

    def _behind(self, found: re.Match[str]) -> str:
        """A word behind one for a key, where it is drawn and not the sum of a file."""
        place = "path" if found["path"] else "value"
        word, before = found[place], found.string[max(0, found.start() - 80) : found.end()]
        drawn = _random(word, 8)
        if place == "value":
            of_a_file = shape("hashed").search(before) or word.startswith(MARK)
            drawn = not of_a_file and sum(map(str.isdigit, word)) >= 4 and _random(word, 24)
        return (
            found[0][: found.start(place) - found.start()] + self.mark(word) if drawn else found[0]
        )

    def _node(self, found: re.Match[str]) -> str:
        """A machine's name, alone or behind what betrays it."""
        before, name = found.groups() if found.re.groups == 2 else ("", found[0])
        return before + self._machine(name)

    def _machine(self, name: str) -> str:
        """A machine's mark; a name that is no common word is found everywhere from now on."""
        for one in {name, name.partition(".")[0]} if self._learns else ():
            common = shape("common").fullmatch(one) or one.startswith(MARK)
            self._know(one, len(one) > 4 and not common and any(map(str.isdigit, one)))
        return self.mark(name)

    def _know(self, word: str, sure: bool) -> None:
        if sure and word not in self._known and len(self._known) < _MOST_KNOWN:
            self._known.add(word)
            self._learned = None

    def _private(self, found: re.Match[str]) -> str:
        """A key of many lines: as many lines stay."""
        for line in re.split(r"\n|\\n", found[0])[1:-1]:
            self._know(line.strip(), len(line) > 30)
        return self.mark(found[0]) + "\n" * found[0].count("\n")

    def _whole(self, found: re.Match[str]) -> str:
        return self.mark(found[0])

    def _named(self, found: re.Match[str]) -> str:
        groups = {name: value for name, value in found.groupdict().items() if value is not None}
        place = next((name for name in groups if name in _VALUES), "")
        value = _secret(groups.get(place, ""), "weak" in groups, place == "d3")
        if not value:
            return found[0]
        start = found.start(place) - found.start()
        return found[0][:start] + self.mark(value) + found[0][start + len(value) :]


def _each(value: Any, change: Callable[[str], str]) -> Any:
    """Plain values with every text in them changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {_each(k, change): _each(v, change) for k, v in value.items()}
    return [_each(one, change) for one in value] if isinstance(value, list) else value


def _words(names: Iterable[str]) -> re.Pattern[str] | None:
    """An expression for names as whole words."""
    longest_first = sorted(names, key=lambda one: (-len(one), one))
    whole = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<![\w.-])(?:{whole})(?![\w-])") if whole else None


def _suspicious(text: str) -> Iterator[int]:
    """Places in the lines that may hold something: of each word one a line."""
    low = text.lower()
    if len(low) != len(text):  # a letter whose lower case is two
        low = text
    for word in words("suspicious"):
        place = low.find(word)
        while place >= 0:
            yield place
            end = low.find("\n", place)
            place = low.find(word, end) if end >= 0 else -1
    for found in shape("numbers").finditer(text):
        yield found.start()


def _secret(value: str, weak: bool, bare: bool) -> str:
    """The part of a value that is a secret; "" where none is."""
    if value.startswith(MARK) or shape("plain").fullmatch(value):
        return ""
    if bare:
        return value if "=" in value or any(map(str.isdigit, value)) else ""
    if not weak:
        return value
    first = re.split(r"[/\\:?#]", value, maxsplit=1)[0]
    if _random(first, 8) or _mixed(first):
        return first
    return value if _random(value, 32) else ""


def _random(word: str, least: int) -> bool:
    """Whether a word looks drawn, not written: long, letters and digits, no name with dots."""
    digits, letters = sum(map(str.isdigit, word)), sum(map(str.isalpha, word))
    enough = len(word) >= least and digits >= 2 and letters >= 2
    return enough and not re.search(r" |\w\.\w+\.", word)


def _unmistakable(secret: str) -> bool:
    """Whether a secret is no word that something else is called by."""
    if not 12 <= len(secret) < _MOST_LENGTH or shape("version").search(secret):
        return False
    both = secret not in (secret.lower(), secret.upper()) and any(map(str.isdigit, secret))
    return (len(secret) >= 16 and both) or _random(secret, 12)


def _mixed(word: str) -> bool:
    """The same with a digit or none: its letters change their size more than in a ThingForIt."""
    turns = sum(1 for _ in re.finditer(r"[a-z]+|[A-Z]+|\d+", word))
    return len(word) >= 10 and word.isalnum() and word.isascii() and 2 * turns > len(word)


# ------------------------------------------------------------ people in paths


def logins(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The names under which the person at this machine may be known, the variable's first."""
    named = [environ.get(name) or "" for name in ("USER", "LOGNAME", "USERNAME", "SUDO_USER")]
    with contextlib.suppress(ImportError, AttributeError, KeyError):  # Windows; a nameless id
        import pwd

        named.append(pwd.getpwuid(os.getuid()).pw_name)
    return tuple(dict.fromkeys(filter(None, named)))


def accounts(path: str = "/etc/passwd") -> tuple[str, ...]:
    """The people who have an account on this machine: their names stand in folders of all kinds."""
    try:
        text = reading.read(path, 1 << 20).decode("utf-8", "replace")
    except OSError:
        return ()
    rows = [row.split(":") for row in text.splitlines()]
    named = [row for row in rows if len(row) == 7 and row[2].isdigit()]
    people = [row[0] for row in named if 1000 <= int(row[2][:6]) < 60_000]
    return tuple(name for name in people if len(name) > 3)[:MOST_ACCOUNTS]


class People:
    """Takes the names of people out of paths; `home_as` stands for this user's home folder."""

    def __init__(
        self,
        home: str = "",
        users: Iterable[str] = (),
        home_as: str = "~",
        user_as: str = "$USER",
    ) -> None:
        windows = re.match(r"[A-Za-z]:[\\/]", home) is not None
        home = home.replace("\\", "/").rstrip("/") if windows else home.rstrip("/")
        given = dict.fromkeys([*users, home.rpartition("/")[2]])
        names = [name for name in given if len(name) > 2 and name not in words("of_nobody")]
        slash = r"(?<=[/\\])" if windows else r"(?<=/)"
        self._home = _home(home, windows) if windows or home.startswith("/") else None
        self._mark = "" if windows else home
        self._home_as, self._user_as = home_as, user_as
        self._user = names[0] if names else ""
        whole = "|".join(map(re.escape, names))
        self._names = re.compile(rf"({slash})({whole})(?![\w.-])") if names else None

    def hide(self, text: str) -> str:
        """The home folders in a text by other names; what is hidden already stays."""
        if self._home and self._mark in text:
            text = self._home.sub(lambda _: self._home_as, text)
        if self._names:
            text = self._names.sub(self._mine, text)
        if any(mark in text for mark in _MARKS):
            text = shape("windows").sub(self._windows, text)
            text = shape("domain").sub(self._domain, text)
            text = shape("sites").sub(self._below, shape("homes").sub(self._below, text))
        return text

    def _mine(self, found: re.Match[str]) -> str:
        own = found[2] == self._user
        return found[1] + (self._user_as if own else self._other(found[1], found[2]))

    def _other(self, root: str, name: str) -> str:
        if name in words("of_nobody") or name.startswith(("user-", "$USER")):
            return name
        same = name.casefold() if ":" in root or "\\" in root else name
        return "user-" + hashlib.sha256(same.encode("utf-8", "surrogateescape")).hexdigest()[:4]

    def _below(self, found: re.Match[str]) -> str:
        """/home/NAME is a person; /home/group/NAME and /scratch/NAME unless it names things."""
        person = found.re is shape("homes") and not found[2]
        if not person and names_a_thing(found[3]):
            return found[0]
        return found[1] + found[2] + self._other(found[1], found[3])

    def _domain(self, found: re.Match[str]) -> str:
        root, group, name = found.groups()
        if names_a_thing(name):
            return found[0]
        return f"{root}{self._other(root, group)}/{self._other(root, name)}"

    def _windows(self, found: re.Match[str]) -> str:
        kept = "sers" not in found[1].lower() and names_a_thing(found[2])
        return found[0] if kept else found[1] + self._other(found[1], found[2])


def _home(home: str, windows: bool) -> re.Pattern[str] | None:
    """The home folder in a text; on Windows with either slash, doubled in quotes, in any case."""
    if not home:
        return None
    if not windows:
        return re.compile(r"(?<![\w./-])" + re.escape(home) + r"(?![\w.-])")
    parts = r"[\\/]+".join(re.escape(part) for part in home.split("/"))
    return re.compile(r"(?<![\w./\\-])" + parts + r"(?![\w.-])", re.IGNORECASE)


def names_a_thing(name: str) -> bool:
    """Whether a folder's name is made of words for things, or holds one that no person has."""
    low = name.lower()
    if any(part in low for part in words("inside")):
        return True
    parts = re.findall(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])", name)
    plain = [one.lower() for one in parts if len(one) > 1]
    things = words("alone")
    return all(one in things or one.removesuffix("s") in things for one in plain)
