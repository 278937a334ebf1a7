"""Ed25519: whether a signature is right (RFC 8032, 5.1.7); verification alone, of public values: no secret here."""

from __future__ import annotations

import hashlib

_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, -1, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)

Point = tuple[int, int, int, int]
"""Extended coordinates: X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z."""


def verified(public: bytes, message: bytes, signature: bytes) -> bool:
    """Whether a signature of 64 bytes over a message is that of the holder of a public key of 32 bytes."""
    if len(public) != 32 or len(signature) != 64:
        return False
    key, half = _point(public), _point(signature[:32])
    scalar = int.from_bytes(signature[32:], "little")
    if key is None or half is None or scalar >= _L or _same(_times(8, key), (0, 1, 1, 0)):  # of small order: anybody's
        return False
    digest = hashlib.sha512(signature[:32] + public + message).digest()
    hashed = int.from_bytes(digest, "little") % _L
    return _same(_times(scalar, _BASE), _sum(half, _times(hashed, key)))


def _point(data: bytes) -> Point | None:
    """The point that 32 bytes encode; None where they encode none."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & ((1 << 255) - 1)
    x = _x(y, sign) if y < _P else None
    return None if x is None else (x, y, 1, x * y % _P)


def _x(y: int, sign: int) -> int | None:
    square = (y * y - 1) * pow(_D * y * y + 1, -1, _P) % _P
    if square == 0:
        return None if sign else 0
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if (x * x - square) % _P:
        return None
    return _P - x if x & 1 != sign else x


def _sum(one: Point, two: Point) -> Point:
    a, b = (one[1] - one[0]) * (two[1] - two[0]) % _P, (one[1] + one[0]) * (two[1] + two[0]) % _P
    c, d = 2 * one[3] * two[3] * _D % _P, 2 * one[2] * two[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(number: int, point: Point) -> Point:
    out: Point = (0, 1, 1, 0)
    while number:
        if number & 1:
            out = _sum(out, point)
        point, number = _sum(point, point), number >> 1
    return out


def _same(one: Point, two: Point) -> bool:
    return (one[0] * two[2] - two[0] * one[2]) % _P == 0 and (one[1] * two[2] - two[1] * one[2]) % _P == 0


_Y = 4 * pow(5, -1, _P) % _P
_BASE: Point = (_x(_Y, 0) or 0, _Y, 1, (_x(_Y, 0) or 0) * _Y % _P)
