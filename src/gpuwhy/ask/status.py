"""Names a status that stands as a number beside an API's name."""

from typing import Any

from gpuwhy.ask.question import Point, Reply, known
from gpuwhy.knowledge import codes
from gpuwhy.log.message import Message

Code = Any
"""A row of knowledge/codes: names, numbers, meaning, source."""
TITLES = {"cuda": "CUDA", "cudnn": "cuDNN"}


def decoded(text: str, asked: bool) -> Reply | None:
    """The status that a text names by number; by name only where its meaning is asked for."""
    for form in ("status_number", "status_xid", "status_before"):
        if found := known().expression(form).search(text):
            return _of_number(found["api"].lower(), found["number"])
    if not asked:
        return None
    if plain := known().expression("status_plain").search(text):
        return _of_number("cuda", plain["number"])
    named = known().expression("status_name").search(text)
    rows = codes.find(named[0]) if named else ()
    return _reply(rows[0], f"{named[0]} is {_numbers(rows[0])}") if named and rows else None


def _of_number(api: str, number: str) -> Reply | None:
    """What a number is called."""
    found = codes.find(f"{api} {number}")
    if not found or number == "0":
        return None
    if not found[0].names:
        return _reply(found[0], f"Xid {number}: {found[0].meaning}", f"xid {number}")
    title = TITLES.get(api, found[0].title)
    text = f"{title} status {number} is {found[0].names[0]}{_where(found[0], number)}"
    return _reply(found[0], text)


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
    points = [] if name else [Point("Means", code.meaning)]
    points += [Point("Numbers", _numbers(code))] if len(code.numbers) > 1 else []
    points.append(Point("More", command=f"gpuwhy code {name or code.names[0]}"))
    return Reply("decode", headline, points=tuple(points), source=code.source.where)


def dotted(number: str) -> str:
    """A cuDNN version as it is published: 8907 is 8.9.7, 90300 is 9.3.0."""
    if not number.isdigit():
        return ""
    major, rest = divmod(int(number), 10000 if int(number) >= 90000 else 1000)
    return f"{major}.{rest // 100}.{rest % 100}"
