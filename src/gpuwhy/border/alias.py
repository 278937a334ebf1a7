"""Alias: keeps user names out of everything we keep or show, in a way that a shell still understands.

The home folder is written `~` (on Windows too, with either slash after it), this user's name as a path component
`$USER`, another user's home `/home/user-1a2b` (a short hash). Text from the machine is aliased on the way in; paths
in questions are turned back on the way out. A `~` that the machine itself wrote is kept apart as `\\~`; a byte that is
not UTF-8 is written `\\udcXX`, so that every answer is text that JSON and a terminal can hold.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterable, Mapping

from gpuwhy.border import people, reading
from gpuwhy.border.secrets import Redactor

_GENERIC = frozenset(
    {"root", "user", "users", "ubuntu", "debian", "admin", "nobody", "runner", "vscode", "jovyan", "ec2-user"}
    | {"azureuser", "opc", "vagrant", "work", "home", "data", "mnt", "opt", "usr", "tmp", "var", "lib", "lib64", "bin"}
    | {"Public", "Default", "All Users", "Default User", "Administrator", "runneradmin"}
    | {"share", "local", "conda", "miniconda3", "app", "src", "code", "project", "python3", "nvidia", "cuda"}
)
MOST_ACCOUNTS = 100
_BYTE = re.compile(r"\\udc([89a-f][0-9a-f])")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def printable(text: str) -> str:
    """Write the bytes that are not UTF-8 (lone surrogates in a Python string) as backslash escapes."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _bytes_back(path: str) -> str:
    return _BYTE.sub(lambda byte: chr(0xDC00 + int(byte.group(1), 16)), path) if "\\udc" in path else path


_TILDE = re.compile(r"(?:(?<=^)|(?<=[\s:=]))(\\*)~(?=/|$)")
_KEPT = re.compile(r"(?:(?<=^)|(?<=[\s:=]))(\\*)\\~(?=/|$)")
"""A `~` of the machine's own, as it writes it and as we keep it: with one backslash more."""


def logins(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The names under which the person at this machine may be known, the variable's first."""
    named = [environ.get(name) or "" for name in ("USER", "LOGNAME", "USERNAME", "SUDO_USER")]
    with contextlib.suppress(ImportError, AttributeError, KeyError):  # Windows; an id without a name
        import pwd

        named.append(pwd.getpwuid(os.getuid()).pw_name)
    return tuple(dict.fromkeys(filter(None, named)))


def accounts(path: str = "/etc/passwd") -> tuple[str, ...]:
    """The people who have an account on this machine itself: their names stand in folders of every kind."""
    try:
        rows = [row.split(":") for row in reading.read(path, 1 << 20).decode("utf-8", "replace").splitlines()]
    except OSError:
        return ()
    people = [row[0] for row in rows if len(row) == 7 and row[2].isdigit() and 1000 <= int(row[2][:6]) < 60_000]
    return tuple(name for name in people if len(name) > 3)[:MOST_ACCOUNTS]


def _tells(name: str) -> bool:
    """Whether a user's name says who it is."""
    return len(name) > 2 and name not in _GENERIC


def _home(home: str, windows: bool) -> re.Pattern[str] | None:
    """The home folder in a text; on Windows with either slash, doubled where a program quotes it, in any case."""
    if not home:
        return None
    if not windows:
        return re.compile(r"(?<![\w./-])" + re.escape(home) + r"(?![\w.-])")
    parts = r"[\\/]+".join(re.escape(part) for part in home.split("/"))
    return re.compile(r"(?<![\w./\\-])" + parts + r"(?![\w.-])", re.IGNORECASE)


class Alias:
    """Both directions of the mapping for one machine."""

    def __init__(self, home: str = "", user: str = "", host: str = "", also: Iterable[str] = ()) -> None:
        self.redactor = Redactor(host)
        self._windows = _DRIVE.match(home) is not None
        home = home.replace("\\", "/") if self._windows else home
        self.home = printable(home.rstrip("/")) if self._windows or home.startswith("/") else ""
        user = printable(user) or self.home.rpartition("/")[2]
        self.user = user if _tells(user) else ""
        self._others: dict[str, str] = {}
        slash = r"(?<=[/\\])" if self._windows else r"(?<=/)"
        self._home = _home(self.home, self._windows)
        self._user = re.compile(slash + re.escape(self.user) + r"(?![\w.-])") if self.user else None
        names = [re.escape(name) for name in map(printable, also) if _tells(name) and name != self.user]
        self._also = re.compile(f"({slash})({'|'.join(names)})" + r"(?![\w.-])") if names else None

    def hide(self, text: str) -> str:
        """Alias the paths inside a text that came from the machine."""
        text = printable(text)
        if "~" in text:
            text = _TILDE.sub(r"\1\\~", text)
        return self.redactor.hide(self.people(text))

    def people(self, text: str) -> str:
        """The home folders in a text, aliased; what is aliased already stays."""
        if self._home and (self._windows or self.home in text):
            text = self._home.sub("~", text)
        if self._user and self.user in text:
            text = self._user.sub("$USER", text)
        if self._also:
            text = self._also.sub(lambda found: found[1] + self._other(found[1], found[2]), text)
        return people.hidden(text, self._other)

    def path(self, path: str) -> str:
        """Turn an aliased path back into one the machine understands."""
        path = self.redactor.back(path)
        if self.home and (path == "~" or path.startswith(("~/", "~\\"))):
            path = self.home + path[1:]
        if self.user and "$USER" in path:
            path = re.sub(r"(?<=/)\$USER(?![\w.-])", lambda _: self.user, path)
        if "/user-" in path:
            for alias, name in self._others.items():
                path = re.sub(rf"(?<=/){alias}(?=/|$)", name.replace("\\", r"\\"), path)
        if "\\~" in path:
            path = _KEPT.sub(r"\1~", path)
        return _bytes_back(path)

    def _other(self, root: str, name: str) -> str:
        if name in _GENERIC or name.startswith(("user-", "$USER")):
            return name
        same = name.casefold() if ":" in root or "\\" in root else name
        alias = "user-" + hashlib.sha256(same.encode("utf-8", "surrogateescape")).hexdigest()[:4]
        self._others[alias] = name
        return alias


class Plain(Alias):
    """Hides nothing: for answers that go back to the person whose files they are, and to their programs."""

    def hide(self, text: str) -> str:
        """Only make the text printable."""
        return printable(text)

    def path(self, path: str) -> str:
        """Only undo that."""
        return _bytes_back(path)
