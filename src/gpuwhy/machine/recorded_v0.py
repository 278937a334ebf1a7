"""Recordings of version 0, read for ever: new questions are served from the answers to old ones.

Version 0 asked for single lines of RECORD and METADATA, for names by patterns, and let the Python
of the environment say where it looks. What it did not ask is Unknown, or known in part: the source
then says so. Its paths begin with `~` and hold `$USER`; they are written out as a user's here.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from gpuwhy.facts.fact import Absent, Fact, Known, Source, SourceKind, Unknown, Why
from gpuwhy.machine.machine import Changed, Changes, Entry, Gathered, Stat, key_of
from gpuwhy.machine.recording import HOME, RecordedMachine, Recording, decoded

_HOME = re.compile(r"(?<![\w\\.~^\[/-])~(?=[/\\:'\" ,)]|$)")
_USER = re.compile(r"(?<=[/\\])\$USER(?![\w.-])")
_PARTLY = "partly: a recording of version 0"
_OLD_NAMES = {"set_at_start": "started"}
_FILES = frozenset({"stat", "list", "elf", "pe"})
_REASONS: tuple[tuple[str, Why], ...] = (
    ("ermission denied", "denied"),
    ("symbolic links", "loop"),
    ("too long", "long"),
    ("not ELF", "foreign"),
    ("not PE", "foreign"),
    ("cut short", "cut"),
    ("past the end", "cut"),
)
_ENDS = ("died by signal", "ran out of time", "ended with code", "took more than")
"""What a reason's words mean in recordings from before Unknown had a kind: read here only."""
_ENDED = re.compile(
    r"(?:died by signal (?P<signal>\d{1,4})|(?P<late>ran out of time)"
    r"|ended with code (?P<code>-?\d{1,19})|(?P<why>took more than [\w ]+))(?:: (?P<last>.*))?$",
    re.DOTALL,
)
_CACHE = re.compile(r"(?:cache|folder) of (.+)")
_LINE = re.compile(r"(?P<file>.+), line (?P<line>\d{1,9})")
_HOW = {"bytes": "hash", "hole": "zeros", "added": "longer"}


class RecordedV0(RecordedMachine):
    """A machine as version 0 recorded it."""

    def __init__(self, recording: Recording) -> None:
        windows = any(key.startswith("registry ") for key in recording.answers)
        self._home_as = HOME["C" if windows else "/"]
        answers = {self._plain(k): self._plain(v) for k, v in recording.answers.items()}
        options = self._plain(recording.options)
        run = {**recording.run}
        if isinstance(run.get("facts"), dict):
            run["facts"] = _run_facts(self._plain(run["facts"]))
        recording = msgspec.structs.replace(
            recording, answers=answers, options=options, run=run, home=self._home_as
        )
        super().__init__(recording)
        self._asked: dict[tuple[str, str], list[tuple[tuple[Any, ...], str]]] = {}
        for key in answers:
            question, args = _split(key)
            if args and isinstance(args[0], str):
                path = posixpath.normpath(args[0])
                self._asked.setdefault((question, path), []).append((args, key))

    def _plain(self, value: Any) -> Any:
        """Without `~`, `$USER` and `\\~`."""
        if isinstance(value, str):
            if "~" in value:
                value = _HOME.sub(lambda _: self._home_as, value).replace("\\~", "~")
            return _USER.sub("user", value) if "$USER" in value else value
        if isinstance(value, dict):
            return {self._plain(k): self._plain(v) for k, v in value.items()}
        return [self._plain(v) for v in value] if isinstance(value, list) else value

    # ------------------------------------------------------------ answers

    def _decode(self, question: str, args: tuple[Any, ...], key: str) -> Fact[Any]:
        found = self._as_asked(question, args)
        if found is not None:
            return found
        serve = getattr(self, f"_{question}", None)
        served: Fact[Any] | None = serve(*args) if serve else None
        return Unknown(f"not in the recording: {key}") if served is None else served

    def _as_asked(self, question: str, args: tuple[Any, ...]) -> Fact[Any] | None:
        """The answer to the very question, or to the same about another spelling of the path."""
        old = _OLD_NAMES.get(question, question)
        key = key_of(old, args)
        if key not in self.recording.answers and args and isinstance(args[0], str):
            same = self._asked.get((old, posixpath.normpath(args[0])), ())
            key = next((one for other, one in same if other[1:] == args[1:]), key)
        if key not in self.recording.answers:
            return None
        fact = decoded(question, args, self.recording.answers[key])
        if isinstance(fact, Unknown) and not fact.kind:
            return msgspec.structs.replace(fact, kind=_kind(old, fact.reason))
        if question in ("call", "python") and isinstance(fact, Known):
            return Known(tuple(map(_with_end, fact.value)), fact.source)
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
        whole = self._as_asked("read", (path,))
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
        same = self._as_asked("list", (path, match))
        folders = self._list(path, match) if same is None else same
        if not isinstance(folders, Known):
            return folders
        found = [self._gathered(f"{path}/{one.name}", one.name, files) for one in folders.value]
        return Known(tuple(found), Source("folder", path, _PARTLY))

    def _gathered(self, folder: str, name: str, files: tuple[str, ...]) -> Gathered:
        texts: dict[str, str] = {}
        unread: dict[str, str] = {}
        partly = []
        for file in files:
            path = f"{folder}/{file}"
            whole = self._as_asked("read", (path,))
            text = self._read(path) if whole is None else whole
            if whole is None and not isinstance(text, Absent):
                partly.append(file)
            if isinstance(text, Known):
                texts[file] = text.value
            elif isinstance(text, Unknown):
                unread[file] = text.reason
        return Gathered(name, texts, unread, tuple(partly))

    # ------------------------------------------------------------ a RECORD

    def _changes(self, record: str, _level: str) -> Fact[Changes] | None:
        """By the libraries of the RECORD that was asked for, and by what version 0 told of it."""
        lines = self._parts("lines", record, "file")
        told = [*self._told(record)]
        if not isinstance(lines, Known) and not told:
            return lines
        site = record.rsplit("/", 2)[0]
        found = {one.path: one for one in told}
        looked_at = 0
        for line in lines.value if isinstance(lines, Known) else ():
            path, _, size = [*line.rstrip("\r").rsplit(",", 2), "", ""][:3]
            if size.isdecimal() and not path.startswith(("/", "..", '"')):
                looked_at += 1
                one = self._looked_at(site, path, int(size[:18]))
                if one is not None:
                    found.setdefault(path, one)
        return Known(Changes(tuple(found.values()), looked_at), Source("file", record, _PARTLY))

    def _looked_at(self, site: str, path: str, recorded: int) -> Changed | None:
        asked = (f"{site}/{path}",)
        stat, elf = self._as_asked("stat", asked), self._as_asked("elf", asked)
        if isinstance(stat, Absent):
            link = self._as_asked("link", asked)
            return Changed(path, "link" if isinstance(link, Known) else "missing", -1, recorded)
        if any(isinstance(one, Unknown) and one.kind == "denied" for one in (stat, elf)):
            return Changed(path, "denied", -1, recorded)
        found: Stat | None = stat.value if isinstance(stat, Known) else None
        if found is None or (found.kind == "file" and found.size == recorded):
            return None
        how: Any = "folder" if found.kind != "file" else "size" if found.size else "empty"
        return Changed(path, how, found.size, recorded)

    def _told(self, record: str) -> Iterator[Changed]:
        """The answers to `altered` and `unwritten`."""
        site = record.rsplit("/", 2)[0]
        for question in ("altered", "unwritten"):
            for text in [one for _, a in self._old(question, record) for one in _texts(a)]:
                how, _, path = text.partition(" ") if question == "altered" else ("", "", text)
                kind, _, size = how.partition(":")
                stat = self._as_asked("stat", (f"{site}/{path}",))
                known = isinstance(stat, Known)
                now = stat.value.size if isinstance(stat, Known) and kind else 0 if known else -1
                kind = _HOW.get(kind, kind) or ("empty" if known else "missing")
                recorded = int(size) if size.isdecimal() else -1
                yield Changed(path, kind, now, recorded)  # type: ignore[arg-type]

    # ------------------------------------------------------------ the system

    def _offline(self) -> Fact[Any] | None:
        """Older recordings are of running machines: those of files came later."""
        uname = self._as_asked("uname", ())
        return Absent(uname.source) if isinstance(uname, Known) else None

    def _module_info(self, path: str) -> Fact[str] | None:
        """By the system's modinfo, which version 0 ran."""
        answer = self.recording.answers.get(f"run /sbin/modinfo -F version {path}")
        said = answer.get("value") if isinstance(answer, dict) else None
        text = str(said.get("out", "")).strip() if isinstance(said, dict) else ""
        return Known(text, Source("command", f"modinfo -F version {path}")) if text else None

    def _call(self, child: str, *args: str) -> Fact[Any] | None:
        """A group of the probe, for which version 0 opened other libraries before."""
        same = (old for old, _ in self._old("call", child) if _bare(old[1:]) == _bare(args))
        old = next(same, None) if child == "probe" else None
        return self._as_asked("call", old) if old else None

    def _python_said(self, path: str) -> Fact[dict[str, Any]] | None:
        """What the Python of the environment told of itself."""
        for args, answer in self._old("python", path):
            if args[1:] == ("interpreter",) and isinstance(answer, dict):
                values = answer.get("value")
                lines = [one for one in values or () if isinstance(one, dict) and "version" in one]
                if lines:
                    return Known(lines[0], Source("call", path, "asked itself, by version 0"))
        return Absent(Source("call", path, "not asked"))


def _bare(args: tuple[Any, ...]) -> list[Any]:
    """The arguments of the probe without --preload and its paths."""
    before = ("", *args)
    return [one for last, one in zip(before, args, strict=False) if "--preload" not in (last, one)]


def _texts(answer: Any) -> tuple[str, ...]:
    values = answer.get("value") if isinstance(answer, dict) else None
    return tuple(one for one in values or () if isinstance(one, str))


def _split(key: str) -> tuple[str, tuple[Any, ...]]:
    """The question and its arguments, of which those with a blank are JSON."""
    question, _, rest = key.partition(" ")
    args: list[Any] = []
    decoder = json.JSONDecoder()
    while rest:
        if rest.startswith('"'):
            try:
                value, end = decoder.raw_decode(rest)
            except ValueError:
                value, end = rest, len(rest)
        else:
            end = rest.find(" ") if " " in rest else len(rest)
            value = rest[:end]
            value = int(value) if value.isdecimal() and question == "gpu_code" else value
        args.append(value)
        rest = rest[end:].lstrip(" ")
    return question, tuple(args)


def _run_facts(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts of a watched program with the names and values of today."""
    facts = {"put_first" if name == "ahead" else name: value for name, value in facts.items()}
    places, wanted = facts.get("places"), facts.get("wanted_gpu")
    for place in (places.get("value") or ()) if isinstance(places, dict) else ():
        cache = _CACHE.fullmatch(str(place.get("role"))) if isinstance(place, dict) else None
        if cache:
            place.update(role="cache", cache_of=cache[1])
    where = _LINE.fullmatch(str(wanted.get("value"))) if isinstance(wanted, dict) else None
    if isinstance(wanted, dict) and where:
        wanted["value"] = {"file": where["file"], "line": int(where["line"])}
    return facts


def _kind(question: str, reason: str) -> Why:
    """What kind of an Unknown its words tell."""
    if question in _FILES:
        return next((kind for words, kind in _REASONS if words in reason), "")
    if question in ("call", "python") and any(words in reason for words in _ENDS):
        return "ended"
    return "offline" if "cannot be asked" in reason else ""


def _with_end(line: dict[str, Any]) -> dict[str, Any]:
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
