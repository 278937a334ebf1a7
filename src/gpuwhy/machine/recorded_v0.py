"""Recordings of version 0, read for ever: new questions are served from the answers to old ones.

Version 0 asked for single lines of RECORD and METADATA, for names by patterns, and let the Python
of the environment say where it looks. What it did not ask is Unknown, or known in part: the source
then says so. Its paths begin with `~` and hold `$USER`; they are written out as a user's here.
"""

import json
import posixpath
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from gpuwhy.facts.fact import Absent, Fact, Known, Source, SourceKind, Unknown, Why
from gpuwhy.machine.machine import Changed, Changes, Entry, Gathered, key_of
from gpuwhy.machine.recording import HOME, RecordedMachine, Recording, decoded

_HOME = re.compile(r"(?<![\w\\.~^\[/-])~(?=[/\\:'\" ,)]|$)")
_USER = re.compile(r"(?<=[/\\])\$USER(?![\w.-])")
_PARTLY = "partly: a recording of version 0"
_CHILDREN = r"died by signal|ran out of time|ended with code|took more than"
_REASONS: tuple[tuple[str, str, Why], ...] = (
    ("stat|list|elf|pe", "ermission denied", "denied"),
    ("stat|list|elf|pe", "symbolic links", "loop"),
    ("stat|list|elf|pe", "too long", "long"),
    ("stat|list|elf|pe", "not ELF|not PE", "foreign"),
    ("stat|list|elf|pe", "cut short|past the end", "cut"),
    ("call|python", _CHILDREN, "ended"),
    ("", "cannot be asked", "offline"),
)
"""What a reason's words meant before Unknown had a kind: of these questions, these words."""
_ENDED = re.compile(
    r"(?:died by signal (?P<signal>\d{1,4})|(?P<late>ran out of time)"
    r"|ended with code (?P<code>-?\d{1,19})|(?P<why>took more than [\w ]+))(?:: (?P<last>.*))?$",
    re.DOTALL,
)


class RecordedV0(RecordedMachine):
    """A machine as version 0 recorded it."""

    def __init__(self, recording: Recording) -> None:
        answers, options = _plain(recording.answers), _plain(recording.options)
        super().__init__(
            msgspec.structs.replace(recording, answers=answers, options=options, home=HOME["/"])
        )
        self._asked: dict[tuple[str, str], list[tuple[tuple[Any, ...], str]]] = {}
        for key in answers:
            question, args = split(key)
            if args and isinstance(args[0], str):
                path = posixpath.normpath(args[0])
                self._asked.setdefault((question, path), []).append((args, key))

    def _decode(self, question: str, args: tuple[Any, ...], key: str) -> Fact[Any]:
        found = self._as_asked(question, *args)
        serve = getattr(self, f"_{question}", None)
        if found is None and serve is not None:
            found = serve(*args)
        return Unknown(f"not in the recording: {key}") if found is None else found

    def _as_asked(self, question: str, *args: Any) -> Fact[Any] | None:
        """The answer to the very question, or to the same about another spelling of the path."""
        key = key_of(question, args)
        if key not in self.recording.answers and args and isinstance(args[0], str):
            same = self._asked.get((question, posixpath.normpath(args[0])), ())
            key = next((one for other, one in same if other[1:] == args[1:]), key)
        if key not in self.recording.answers:
            return None
        fact = decoded(question, args, self.recording.answers[key])
        if isinstance(fact, Unknown) and not fact.kind:
            told = (
                kind
                for of, words, kind in _REASONS
                if re.fullmatch(of or ".*", question) and re.search(words, fact.reason)
            )
            return msgspec.structs.replace(fact, kind=next(told, ""))
        if question in ("call", "python") and isinstance(fact, Known):
            return Known(tuple(map(with_end, fact.value)), fact.source)
        return fact

    def _old(self, question: str, path: str) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Every recorded question of a kind about a path: its arguments, its answer as it is."""
        for args, key in self._asked.get((question, posixpath.normpath(path)), ()):
            yield args, self.recording.answers[key]

    # ------------------------------------------------------------ texts and folders

    def _parts(self, question: str, path: str, where: SourceKind) -> Fact[list[Any]] | None:
        """What all recorded answers about a path hold together; None where nothing was asked."""
        found: dict[Any, None] = {}
        seen = None
        for args, answer in self._old(question, path):
            fact = decoded(question, args, answer)
            if not isinstance(fact, Known):
                return fact
            seen = Source(where, path, _PARTLY)
            found.update(dict.fromkeys(fact.value))
        return Known(list(found), seen) if seen else None

    def _read(self, path: str) -> Fact[str] | None:
        """The lines that were asked for."""
        found = self._parts("lines", path, "file")
        if isinstance(found, Known):
            return Known("".join(f"{line}\n" for line in found.value), found.source)
        return found

    def _lines(self, path: str, *containing: str) -> Fact[tuple[str, ...]] | None:
        """Those of a whole text, or of the lines that were asked for."""
        whole = self._as_asked("read", path)
        found = self._read(path) if whole is None else whole
        if not isinstance(found, Known):
            return found
        kept = [one for one in found.value.splitlines() if any(text in one for text in containing)]
        return Known(tuple(kept), found.source)

    def _list(self, path: str, match: str = "") -> Fact[tuple[Entry, ...]] | None:
        """The names of every pattern that was asked for, as far as they match."""
        found = self._parts("list", path, "folder")
        if not isinstance(found, Known):
            return found
        names = {one.name: one for one in found.value if re.match(match, one.name)}
        return Known(tuple(names[name] for name in sorted(names)), found.source)

    def _gather(self, path: str, match: str, *files: str) -> Fact[tuple[Gathered, ...]] | None:
        """The subfolders, and of their files what is known."""
        same = self._as_asked("list", path, match)
        folders = self._list(path, match) if same is None else same
        if not isinstance(folders, Known):
            return folders
        found = []
        for folder in folders.value:
            texts: dict[str, str] = {}
            unread: dict[str, str] = {}
            partly = []
            for file in files:
                whole = self._as_asked("read", f"{path}/{folder.name}/{file}")
                text = self._read(f"{path}/{folder.name}/{file}") if whole is None else whole
                if whole is None and not isinstance(text, Absent):
                    partly.append(file)
                if isinstance(text, Known):
                    texts[file] = text.value
                elif isinstance(text, Unknown):
                    unread[file] = text.reason
            found.append(Gathered(folder.name, texts, unread, tuple(partly)))
        return Known(tuple(found), Source("folder", path, _PARTLY))

    def _changes(self, record: str, _level: str) -> Fact[Changes] | None:
        """By the libraries of the RECORD that was asked for."""
        lines = self._parts("lines", record, "file")
        if not isinstance(lines, Known):
            return lines
        site = record.rsplit("/", 2)[0]
        found: list[Changed] = []
        looked_at = 0
        for line in lines.value:
            path, _, size = [*line.rstrip("\r").rsplit(",", 2), "", ""][:3]
            if size.isdecimal() and not path.startswith(("/", "..", '"')):
                looked_at += 1
                found += self._changed(f"{site}/{path}", path, int(size[:18]))
        return Known(Changes(tuple(found), looked_at), Source("file", record, _PARTLY))

    def _changed(self, place: str, path: str, recorded: int) -> Iterator[Changed]:
        stat, elf = self._as_asked("stat", place), self._as_asked("elf", place)
        if isinstance(stat, Absent):
            link = self._as_asked("link", place)
            yield Changed(path, "link" if isinstance(link, Known) else "missing", -1, recorded)
        elif any(isinstance(one, Unknown) and one.kind == "denied" for one in (stat, elf)):
            yield Changed(path, "denied", -1, recorded)
        elif isinstance(stat, Known) and stat.value.kind != "file":
            yield Changed(path, "folder", stat.value.size, recorded)
        elif isinstance(stat, Known) and stat.value.size != recorded:
            yield Changed(path, "size" if stat.value.size else "empty", stat.value.size, recorded)

    # ------------------------------------------------------------ the system

    def _offline(self) -> Fact[Any] | None:
        """Older recordings are of running machines: those of files came later."""
        uname = self._as_asked("uname")
        return Absent(uname.source) if isinstance(uname, Known) else None

    def _call(self, child: str, *args: str) -> Fact[Any] | None:
        """A group of the probe, for which version 0 opened other libraries before."""
        for old, _ in self._old("call", child) if child == "probe" else ():
            if _bare(old[1:]) == _bare(args):
                return self._as_asked("call", *old)
        return None


def _plain(value: Any) -> Any:
    """Without `~` and `$USER`."""
    if isinstance(value, str):
        value = _HOME.sub(HOME["/"], value) if "~" in value else value
        return _USER.sub("user", value) if "$USER" in value else value
    if isinstance(value, dict):
        return {_plain(k): _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, list) else value


def _bare(args: tuple[Any, ...]) -> list[Any]:
    """The arguments of the probe without --preload and its paths."""
    before = ("", *args)
    return [one for last, one in zip(before, args, strict=False) if "--preload" not in (last, one)]


def split(key: str) -> tuple[str, tuple[Any, ...]]:
    """The question and its arguments, of which those with a blank are JSON."""
    question, _, rest = key.partition(" ")
    args: list[Any] = []
    while rest:
        value, _, after = rest.partition(" ")
        if rest.startswith('"'):
            try:
                value, end = json.JSONDecoder().raw_decode(rest)
            except ValueError:
                value, end = rest, len(rest)
            after = rest[end:]
        number = question == "gpu_code" and value.isdecimal()
        args.append(int(value) if number else value)
        rest = after.lstrip(" ")
    return question, tuple(args)


def with_end(line: dict[str, Any]) -> dict[str, Any]:
    """The last line of a child, in a recording from before it had values."""
    words = line.get("ended")
    if not isinstance(words, str) or "how" in line:
        return line
    found = _ENDED.search(words)
    if found is None:
        return {"ended": words, "how": {}}
    signal, code = found["signal"], found["code"]
    number = -int(signal) if signal else int(code) if code else None
    how = {"code": number, "late": bool(found["late"]), "why": found["why"] or ""}
    return {"ended": words, "how": {**how, "last": found["last"] or ""}}
