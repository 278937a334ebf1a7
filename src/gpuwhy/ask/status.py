"""Names a status that stands as a number beside an API's name."""

from __future__ import annotations

import re
from typing import Any

from gpuwhy.ask.question import Point, Reply
from gpuwhy.knowledge import codes
from gpuwhy.log.message import Message

Code = Any
"""A row of knowledge/codes: names, numbers, meaning, source."""

_APIS = r"cudnn|cublas|cusolver|cusparse|cufft|curand|nccl|nvml|cuda|xid"
_SAYS = r"(?:status|error|code|fail|return|xid)"
_NUMBER = re.compile(
    rf"\b({_APIS})\w*\b(?! ?v?\d+\.\d)[^\d\n]{{0,30}}?{_SAYS}[^\d\n]{{0,24}}?"
    r"\b(?:0x[0-9a-f]+|\d{1,4})\b(?!\.\d)",
    re.IGNORECASE,
)
_LAST = re.compile(r"(0x[0-9a-f]+|\d+)$", re.IGNORECASE)
_XID = re.compile(r"\bxid\W{0,6}(\d{1,3})\b", re.IGNORECASE)
_BEFORE = re.compile(
    rf"\b(?:status|error|code|returns?|returned)\W{{0,6}}(\d{{1,4}})\b(?!\.\d)[^\n]{{0,40}}\b({_APIS})\b",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"\b((?:CUDNN|CUBLAS|CUSOLVER|CUSPARSE|CURAND)_STATUS_\w+"
    r"|CUDA_ERROR_\w+|cudaError[A-Z]\w+|CUFFT_[A-Z]\w+)\b"
)


def decoded(text: str, asked: bool) -> Reply | None:
    """The status that a text names by number; by name only where its meaning is asked for."""
    api, number = _number(text)
    if api:
        return of_number(api, number)
    named = _NAME.search(text)
    if not named or not asked:
        return None
    found = codes.find(named[1])
    return _reply(found[0], f"{named[1]} is {_numbers(found[0])}") if found else None


def _number(text: str) -> tuple[str, str]:
    found = _NUMBER.search(text)
    if found:
        last = _LAST.search(found[0])
        return found[1].lower(), last[1] if last else ""
    if xid := _XID.search(text):
        return "xid", xid[1]
    before = _BEFORE.search(text)
    return (before[2].lower(), before[1]) if before else ("", "")


def of_number(api: str, number: str) -> Reply | None:
    """What a number is called."""
    found = codes.find(f"{api} {number}")
    if not found or number == "0":
        return None
    if not found[0].names:
        return _reply(found[0], f"Xid {number}: {found[0].meaning}", f"xid {number}")
    title = {"cuda": "CUDA", "cudnn": "cuDNN"}.get(api, found[0].title)
    return _reply(
        found[0], f"{title} status {number} is {found[0].names[0]}{_where(found[0], number)}"
    )


def named(message: Message) -> dict[str, str]:
    """The names of a message's status: {status}, {numbered}, for a row that quotes a number."""
    api, number = message.get("api") or "cudnn", message.get("code")
    found = codes.find(f"{api.lower()} {number}") if number else ()
    if not found or not found[0].names:
        return {}
    return {"status": found[0].names[0], "numbered": _where(found[0], number).strip(" ()")}


def _where(code: Code, number: str) -> str:
    """In which releases the number means this."""
    where = next((one.where for one in code.numbers if str(one.code) == number), "")
    return f" ({where})" if where else ""


def _numbers(code: Code) -> str:
    """4 in cuDNN 8 and older, 4000 in cuDNN 9."""
    return ", ".join(f"{one.code}{f' in {one.where}' if one.where else ''}" for one in code.numbers)


def _reply(code: Code, headline: str, name: str = "") -> Reply:
    points = (
        Point("Means", "" if name else code.meaning),
        Point("Numbers", _numbers(code) if len(code.numbers) > 1 else ""),
        Point("More", command=f"gpuwhy code {name or code.names[0]}"),
    )
    return Reply(
        "decode",
        headline,
        points=tuple(one for one in points if one.text or one.command),
        source=code.source.where,
    )


def dotted(number: str) -> str:
    """A cuDNN version as it is published: 8907 is 8.9.7, 90300 is 9.3.0."""
    if not number.isdigit():
        return ""
    scale = 10000 if int(number) >= 90000 else 1000
    major, rest = divmod(int(number), scale)
    return f"{major}.{rest // 100}.{rest % 100}"
