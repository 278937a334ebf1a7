"""Update: newer rows of releases than those that came with gpuwhy, in one file; what is in it is checked before use."""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator

import msgspec

from gpuwhy.knowledge.releases import Header
from gpuwhy.model.release import Release

SCHEMA = "gpuwhy.update/1"
MOST_BYTES, MOST_FILES = 256 << 20, 500
"""What all files of an update may hold together, and how many there may be."""
_RAISED = (
    *(ValueError, LookupError, EOFError, OSError, RuntimeError, struct.error),
    *(zipfile.BadZipFile, zlib.error, msgspec.MsgspecError),
)
_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,80}\.jsonl?$")


class BadUpdateError(ValueError):
    """A file that is no update, or not one for this gpuwhy; the text says why."""


class Manifest(msgspec.Struct, frozen=True):
    """What an update says of itself."""

    schema: str
    made: str  # 2026-11-15T12:00:00Z
    newest: str  # upload date of the newest file that was read
    files: dict[str, str]  # name → sha256


def manifest(data: bytes) -> Manifest:
    """What the file says of itself; raises BadUpdateError."""
    with _told("it is no update of gpuwhy's knowledge, or it is damaged"), zipfile.ZipFile(io.BytesIO(data)) as packed:
        found = msgspec.json.decode(_part(packed, "manifest.json", 1 << 20), type=Manifest)
    if found.schema != SCHEMA:
        raise BadUpdateError(f"it is of the form {found.schema[:40]!r}, and this gpuwhy reads {SCHEMA!r}")
    if len(found.files) > MOST_FILES or "index.json" not in found.files or not all(map(_NAME.match, found.files)):
        raise BadUpdateError("its list of files makes no sense")
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", found.newest) or not re.fullmatch(r"\d{4}-[\d:T-]+Z", found.made):
        raise BadUpdateError("its dates make no sense")
    return found


def files(data: bytes) -> dict[str, bytes]:
    """Every file of an update, as large as it may be and as its manifest says; raises BadUpdateError."""
    told, left, out = manifest(data), MOST_BYTES, {}
    with _told("it is damaged"), zipfile.ZipFile(io.BytesIO(data)) as packed:
        for name, digest in told.files.items():
            out[name] = _whole(packed, name, left, digest)
            left -= len(out[name])
    return out


def reader(data: bytes) -> Callable[[str], bytes | None]:
    """Gives single files of an update that was checked when it was kept."""
    names = manifest(data).files

    def read(name: str) -> bytes | None:
        with _told(f"{name} in it is damaged"), zipfile.ZipFile(io.BytesIO(data)) as file:
            return _whole(file, name, MOST_BYTES, names[name]) if name in names else None

    return read


def checked(data: bytes) -> Manifest:
    """The manifest of an update whose every row this gpuwhy can read; raises BadUpdateError."""
    parts, told = files(data), manifest(data)
    try:
        if msgspec.json.decode(parts["newest.json"], type=dict[str, str])["newest"] != told.newest:
            raise BadUpdateError("its list of files and its rows are not of the same day")
        index = msgspec.json.decode(parts["index.json"], type=dict[str, str])
        rows = msgspec.json.Decoder(Release)
        for name in sorted(set(index.values())):
            first, *lines = parts[f"{name}.jsonl"].splitlines()
            msgspec.json.decode(first, type=Header)
            for line in lines:
                rows.decode(line)
    except BadUpdateError:
        raise
    except (msgspec.MsgspecError, KeyError, ValueError) as error:
        raise BadUpdateError(f"it holds rows that this gpuwhy cannot read ({error})") from error
    return told


def packed(parts: dict[str, bytes], made: str, newest: str) -> bytes:
    """An update from files: the same bytes for the same files and dates."""
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(parts.items())}
    told = msgspec.json.encode(Manifest(SCHEMA, made, newest, digests))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, data in [("manifest.json", told), *sorted(parts.items())]:
            file.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


@contextlib.contextmanager
def _told(text: str) -> Iterator[None]:
    """Whatever a damaged, encrypted or oddly packed file raises becomes one sentence."""
    try:
        yield
    except BadUpdateError:
        raise
    except _RAISED as error:
        raise BadUpdateError(text) from error


def _whole(file: zipfile.ZipFile, name: str, most: int, digest: str) -> bytes:
    """One member as the manifest describes it."""
    data = _part(file, name, most)
    if hashlib.sha256(data).hexdigest() != digest:
        raise BadUpdateError(f"{name} in it is damaged")
    return data


def _part(file: zipfile.ZipFile, name: str, most: int) -> bytes:
    """One member, never more than allowed, whatever its header says."""
    if file.getinfo(name).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise BadUpdateError("it is packed in a way that no update is")
    with file.open(name) as part:
        data = part.read(most + 1)
    if len(data) > most:
        raise BadUpdateError("it holds more than an update may")
    return data
