"""Reads the cause, message and program files: the compiled one where it is fresh, else the TOML."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from gpuwhy.causes.schema import CauseFile, MessageRow, MessagesFile, ProgramFile

PACKAGE = Path(__file__).parent.parent
COMPILED = PACKAGE / "causes" / "compiled.msgpack"
FOLDERS = ("causes", "knowledge/messages", "knowledge/programs", "knowledge/reader")

Stamp = tuple[tuple[str, int, int], ...]
F = TypeVar("F", CauseFile, ProgramFile, MessagesFile)


class BadDataError(Exception):
    """A data file that the schema rejects; the text names the file and the key."""


class Catalogue(msgspec.Struct, frozen=True):
    """All that is known of causes, messages and programs; `stamp` says what it was made of."""

    stamp: Stamp
    causes: dict[str, CauseFile]
    messages: tuple[MessageRow, ...]  # of every file, a program's with its id as speaker
    programs: dict[str, ProgramFile]
    sets: dict[str, tuple[str, ...]]  # names for messages that mean one thing
    reader: dict[str, dict[str, Any]] = {}  # knowledge/reader: what log/ knows of texts, by file


@cache
def catalogue() -> Catalogue:
    """The data of this installation."""
    stamp = _stamp(PACKAGE)
    if COMPILED.is_file():
        kept = msgspec.msgpack.decode(COMPILED.read_bytes(), type=Catalogue)
        if kept.stamp == stamp or not stamp:  # a wheel has the compiled file alone
            return kept
    return from_toml(PACKAGE)


def from_toml(package: Path) -> Catalogue:
    """Read and check every data file below a package folder."""
    causes = {one.id: one for one in _files(package / "causes", CauseFile)}
    programs = {one.id: one for one in _files(package / "knowledge" / "programs", ProgramFile)}
    shared = list(_files(package / "knowledge" / "messages", MessagesFile))
    messages = [row for one in shared for row in one.message]
    messages += [row for one in causes.values() for row in one.message]
    messages += [_spoken_by(one.id, row) for one in programs.values() for row in one.message]
    for row in messages:
        if unknown := [one.cause for one in row.for_ if one.cause not in causes]:
            raise BadDataError(f"message {row.id}: there is no cause {unknown[0]!r}")
    sets = {name: ids for one in shared for name, ids in one.sets.items()}
    folder = package / "knowledge" / "reader"
    reader = {file.stem: _toml(file) for file in sorted(folder.glob("*.toml"))}
    return Catalogue(_stamp(package), causes, tuple(messages), programs, sets, reader)


def compiled(package: Path) -> bytes:
    """The same as one file, for the wheel."""
    return msgspec.msgpack.encode(from_toml(package))


def _toml(file: Path) -> dict[str, Any]:
    try:
        return msgspec.toml.decode(file.read_bytes(), type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise BadDataError(f"{file.parent.name}/{file.name}: {error}") from error


def _files(folder: Path, kind: type[F]) -> Iterator[F]:
    for file in sorted(folder.glob("*.toml")):
        try:
            yield msgspec.toml.decode(file.read_bytes(), type=kind)
        except msgspec.DecodeError as error:
            raise BadDataError(f"{file.parent.name}/{file.name}: {error}") from error


def _spoken_by(program: str, row: MessageRow) -> MessageRow:
    return row if row.speaker else msgspec.structs.replace(row, speaker=program)


def _stamp(package: Path) -> Stamp:
    """Name, size and time of every data file; () in a wheel."""
    files = (file for folder in FOLDERS for file in sorted((package / folder).glob("*.toml")))
    return tuple((file.name, (seen := file.stat()).st_size, seen.st_mtime_ns) for file in files)


def page(cause: str) -> str | None:
    """The page of a cause as Markdown; None where there is no such cause."""
    if not cause.replace(".", "").replace("_", "").isalnum():
        return None
    file = PACKAGE / "causes" / f"{cause}.md"
    return file.read_text(encoding="utf-8") if file.is_file() else None
