"""Names of people in paths: this user's home folder, and whose folder another path goes through.

A name below `/home` or `/Users` is a person. Below `/scratch` and its kind it is one unless all its
words name things (`conda`, `shared-data`): a name that merely holds such a word (`devika`) is one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Mapping

from gpuwhy.machine import reading
from gpuwhy.machine.shapes import shape, words

MOST_ACCOUNTS = 100
_MARKS = (
    *("/home", "sers", "SERS", "/user/", "/people/", "scratch", "rofiles", "ROFILES"),
    "\\",
)
Named = Callable[[str, str], str]
"""What stands for a name behind a root."""


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


def _tells(name: str) -> bool:
    """Whether a user's name says who it is."""
    return len(name) > 2 and name not in words("of_nobody")


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
        names = [name for name in dict.fromkeys([*users, home.rpartition("/")[2]]) if _tells(name)]
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
            text = self._names.sub(lambda found: found[1] + self._one(found), text)
        return hidden(text, self._other)

    def _one(self, found: re.Match[str]) -> str:
        return self._user_as if found[2] == self._user else self._other(found[1], found[2])

    def _other(self, root: str, name: str) -> str:
        if name in words("of_nobody") or name.startswith(("user-", "$USER")):
            return name
        same = name.casefold() if ":" in root or "\\" in root else name
        return "user-" + hashlib.sha256(same.encode("utf-8", "surrogateescape")).hexdigest()[:4]


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


def hidden(text: str, named: Named) -> str:
    """A text whose paths go through nobody's folder: `named(root, name)` stands for each name."""
    if not any(mark in text for mark in _MARKS):
        return text

    def below(found: re.Match[str]) -> str:
        return found[1] + found[2] + named(found[1], found[3])

    def of_site(found: re.Match[str]) -> str:
        return found[0] if names_a_thing(found[3]) else below(found)

    def of_home(found: re.Match[str]) -> str:
        return of_site(found) if found[2] else below(found)

    def of_domain(found: re.Match[str]) -> str:
        if names_a_thing(found[3]):
            return found[0]
        return f"{found[1]}{named(found[1], found[2])}/{named(found[1], found[3])}"

    def of_windows(found: re.Match[str]) -> str:
        kept = "sers" not in found[1].lower() and names_a_thing(found[2])
        return found[0] if kept else found[1] + named(found[1], found[2])

    text = shape("windows").sub(of_windows, text)
    text = shape("domain").sub(of_domain, text)
    return shape("sites").sub(of_site, shape("homes").sub(of_home, text))
