"""Zip archives, read from their end: members, and the bytes of each. Every number is hostile."""

import struct

import msgspec

from gpuwhy.formats import CutError, ForeignError, MalformedError, Pread
from gpuwhy.formats.compress import inflated

MAX_MEMBERS = 200_000
_MAX_DIRECTORY = 64 << 20
_MAX_COMMENT = 0xFFFF
_END, _END64, _LOCATOR64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_ENTRY, _LOCAL = b"PK\x01\x02", b"PK\x03\x04"
_STORED, _DEFLATED = 0, 8
_ENCRYPTED = 1
_WIDE = 0xFFFFFFFF  # the number stands in the zip64 extra
_MOST_DENSE = 1100  # deflate cannot shrink further than about 1032 to 1


class Member(msgspec.Struct, frozen=True):
    """One file of an archive, and where it lies."""

    name: str
    method: int
    flags: int
    packed: int
    size: int
    header: int  # offset of its local header
    entry: int  # offset of its entry in the directory


def read_members(pread: Pread, size: int) -> list[Member]:
    """Every member, in the directory's order; raises MalformedError where it is no archive."""
    count, length, start = _directory(pread, size)
    if count > MAX_MEMBERS or length > _MAX_DIRECTORY:
        what = f"zip directory of {count} members and {length} bytes is too large"
        raise MalformedError(what, start)
    data = pread(start, length) if start + length <= size else b""
    if len(data) < length:
        raise CutError(f"zip directory lies past the end of the file ({size} bytes)", start)
    out, place = [], 0
    for _ in range(count):
        member, place = _member(data, place, start)
        out.append(member)
    return out


def _directory(pread: Pread, size: int) -> tuple[int, int, int]:
    """(members, bytes, offset) of the directory."""
    base = max(0, size - _MAX_COMMENT - 22)
    tail = pread(base, size - base)
    place = tail.rfind(_END)
    if place < 0 or place + 22 > len(tail):
        if pread(0, 4) == _LOCAL:
            raise CutError("zip archive cut short: it has no directory", size)
        raise ForeignError("not a zip archive")
    count, length, start = struct.unpack_from("<HII", tail, place + 10)
    locator = place - 20
    if locator >= 0 and tail.startswith(_LOCATOR64, locator):
        (place64,) = struct.unpack_from("<Q", tail, locator + 8)
        record = pread(place64, 56) if place64 + 56 <= size else b""
        if len(record) < 56 or record[:4] != _END64:
            raise MalformedError("zip64 record is not where it should be", base + locator)
        count, length, start = struct.unpack_from("<QQQ", record, 32)
    return count, length, start


def _member(data: bytes, place: int, start: int) -> tuple[Member, int]:
    """The member whose entry begins at `place` of the directory, and where the next one begins."""
    at = start + place
    if place + 46 > len(data) or data[place : place + 4] != _ENTRY:
        raise MalformedError("zip directory entry makes no sense", at)
    flags, method = struct.unpack_from("<HH", data, place + 8)
    packed, size, names, extras, comment = struct.unpack_from("<IIHHH", data, place + 20)
    (header,) = struct.unpack_from("<I", data, place + 42)
    extra = place + 46 + names
    following = extra + extras + comment
    if following > len(data):
        raise MalformedError("zip directory entry makes no sense", at)
    name = data[place + 46 : extra].decode("utf-8", "replace")
    if _WIDE in (size, packed, header):
        sizes = _wide(data[extra : extra + extras], [size, packed, header])
        if sizes is None:
            raise MalformedError(f"zip member {name[:80]!r} lacks its 64-bit sizes", at)
        size, packed, header = sizes
    return Member(name, method, flags, packed, size, header, at), following


def _wide(extra: bytes, values: list[int]) -> list[int] | None:
    """The values, those that are too large for 32 bits out of the zip64 extra, in its order."""
    place = 0
    while place + 4 <= len(extra):
        tag, length = struct.unpack_from("<HH", extra, place)
        body = extra[place + 4 : place + 4 + length]
        if tag == 1:
            wide = [one for (one,) in struct.iter_unpack("<Q", body[: len(body) // 8 * 8])]
            if len(wide) < values.count(_WIDE):
                return None
            return [wide.pop(0) if value == _WIDE else value for value in values]
        place += 4 + length
    return None


def open_member(pread: Pread, size: int, member: Member) -> Pread:
    """A reader of the member's own bytes."""
    head = pread(member.header, 30) if member.header + 30 <= size else b""
    if len(head) < 30 or head[:4] != _LOCAL:
        raise MalformedError("no zip member", member.header)
    names, extras = struct.unpack_from("<HH", head, 26)
    start = member.header + 30 + names + extras
    if start + member.packed > size:
        what = f"zip member lies past the end of the file ({size} bytes)"
        raise CutError(what, member.header)
    if member.flags & _ENCRYPTED:
        raise MalformedError("encrypted zip member", member.header)
    if member.method == _STORED and member.packed == member.size:
        return lambda offset, length: pread(
            start + offset, max(0, min(length, member.size - offset))
        )
    if member.method != _DEFLATED:
        raise MalformedError(f"zip compression method {member.method}", member.header)
    if member.size > max(member.packed, 1) * _MOST_DENSE:
        what = f"zip member claims {member.size} bytes from {member.packed}"
        raise MalformedError(what, member.entry)
    return inflated(pread, start, member.packed, member.size)
