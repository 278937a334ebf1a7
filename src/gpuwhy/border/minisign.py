"""Minisign: signatures as the minisign tool makes them, checked with the public key that somebody named."""

from __future__ import annotations

import base64
import binascii
import hashlib

from gpuwhy.border.ed25519 import verified


class BadSignatureError(ValueError):
    """A key or a signature that is none, or does not fit; the text says which."""


def public_key(text: str) -> bytes:
    """The 42 bytes of a public key, from its one line or from the file of two lines."""
    line = (text.strip().splitlines() or [""])[-1].strip()
    data = _decoded(line, "the public key")
    if len(data) != 42 or data[:2] != b"Ed":
        raise BadSignatureError("that is no public key of minisign (one line that begins with RW)")
    return data


def check(data: bytes, signature: str, key: bytes) -> str:
    """The trusted comment of a signature that is right; raises BadSignatureError."""
    lines = signature.splitlines()
    if len(lines) < 4 or not lines[2].startswith("trusted comment: "):
        raise BadSignatureError("that is no signature of minisign (four lines)")
    made, seal = _decoded(lines[1], "the signature"), _decoded(lines[3], "the signature of the comment")
    if len(made) != 74 or len(seal) != 64 or made[:2] not in (b"Ed", b"ED"):
        raise BadSignatureError("the signature is damaged")
    if made[2:10] != key[2:10]:
        raise BadSignatureError("it is signed with another key")
    message = hashlib.blake2b(data).digest() if made[:2] == b"ED" else data
    comment = lines[2].removeprefix("trusted comment: ")
    if not verified(key[10:], message, made[10:]):
        raise BadSignatureError("the signature does not fit the file: one of them was changed or cut")
    if not verified(key[10:], made[10:] + comment.encode(), seal):
        raise BadSignatureError("the signature's comment was changed")
    return comment


def _decoded(text: str, what: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadSignatureError(f"{what} is not base64") from error
