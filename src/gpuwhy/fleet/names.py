"""Names of nodes: aliases that tell nobody the name, and lists as schedulers write them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

MOST = 1_000_000
"""How many names one list may stand for."""
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)
_TAIL = re.compile(r"(.*?)([0-9]{1,9})([^0-9]*)")


class TooManyError(ValueError):
    """A list that stands for more names than anybody has nodes."""


def alias(name: str) -> str:
    """A short hash of a node's name: the same on every run."""
    short = name.split(".", 1)[0] if not re.fullmatch(r"[\d.]+", name) else name
    return (
        "node-"
        + hashlib.sha256(b"gpuwhy node " + short.encode("utf-8", "surrogateescape")).hexdigest()[
            :12
        ]
    )


def expand(text: str) -> list[str]:
    """The names of a host list: "gpu[001-003,7],login"; raises TooManyError."""
    out: list[str] = []
    for part in _parts(text):
        for name in _one(part):
            out.append(name)
            if len(out) > MOST:
                raise TooManyError(f"the list stands for more than {MOST:,} nodes")
    return list(dict.fromkeys(out))


def _parts(text: str) -> Iterator[str]:
    """Split at commas, spaces and lines outside of brackets, without comments."""
    text = re.sub(r"#[^\n]*", "", text)
    return (part for part in re.split(r"[,\s]+(?![^\[\]]*\])", text) if part)


def _one(part: str) -> Iterator[str]:
    """ "a[1-2]b[3-4]" gives four names."""
    found = re.match(r"([^\[\]]*)\[([\d,\s-]*)\](.*)$", part, re.DOTALL)
    if not found:
        yield part
        return
    for number in _numbers(found[2]):
        for rest in _one(found[3]):
            yield f"{found[1]}{number}{rest}"


def _numbers(text: str) -> Iterator[str]:
    for one in filter(None, (part.strip() for part in text.split(","))):
        span = _RANGE.fullmatch(one)
        if not span:
            yield one
            continue
        first, last = int(span[1]), int(span[2] or span[1])
        if last - first > MOST:
            raise TooManyError(f"{one}: more than {MOST:,} nodes")
        for number in range(first, last + 1):
            yield str(number).zfill(len(span[1]))


def fold(names: Iterable[str]) -> str:
    """The shortest host list as Slurm, pdsh and clush read it: gpu[001-003,007],login."""
    shapes: dict[tuple[str, str, int], list[int]] = {}
    plain: list[str] = []
    for name in sorted(set(names)):
        found = _TAIL.fullmatch(name)
        if not found or "[" in name:
            plain.append(name)
            continue
        width = len(found[2]) if found[2].startswith("0") and len(found[2]) > 1 else 0
        shapes.setdefault((found[1], found[3], width), []).append(int(found[2]))
    folded = [_folded(*shape, sorted(numbers)) for shape, numbers in _by_width(shapes).items()]
    return ",".join(sorted([*folded, *plain]))


def _by_width(
    shapes: dict[tuple[str, str, int], list[int]],
) -> dict[tuple[str, str, int], list[int]]:
    """001 … 099 and 100 belong together: a number joins those of its own length."""
    out = {shape: list(numbers) for shape, numbers in shapes.items() if shape[2]}
    for (head, tail, width), numbers in shapes.items():
        for number in numbers if not width else ():
            home = (head, tail, len(str(number)))
            out.setdefault(home if home in out else (head, tail, 0), []).append(number)
    return out


def _folded(head: str, tail: str, width: int, numbers: list[int]) -> str:
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] + 1 == number:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    texts = [f"{a:0{width}d}" if a == b else f"{a:0{width}d}-{b:0{width}d}" for a, b in spans]
    inner = ",".join(texts)
    return f"{head}{inner}{tail}" if len(numbers) == 1 else f"{head}[{inner}]{tail}"
