"""Names of nodes: aliases that tell nobody the name, and lists as schedulers write them."""

import hashlib
import re
from collections.abc import Iterable, Iterator

MOST = 1_000_000  # how many names one list may stand for
_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)
_TAIL = re.compile(r"(.*?)([0-9]{1,9})([^0-9]*)")
_ADDRESS = re.compile(r"[\d.]+")


class TooManyError(ValueError):
    """A list that stands for more names than anybody has nodes."""


def short_name(name: str) -> str:
    """A node's name without its domain."""
    return name if _ADDRESS.fullmatch(name) else name.split(".", 1)[0]


def alias(name: str) -> str:
    """A short hash of a node's name: the same on every run."""
    text = b"gpuwhy node " + short_name(name).encode("utf-8", "surrogateescape")
    return f"node-{hashlib.sha256(text).hexdigest()[:12]}"


def expand(text: str) -> list[str]:
    """The names of a host list: "gpu[001-003,7],login"; raises TooManyError."""
    out: dict[str, None] = {}
    uncommented = re.sub(r"#[^\n]*", "", text)
    for part in re.split(r"[,\s]+(?![^\[\]]*\])", uncommented):
        for name in _one(part) if part else ():
            out[name] = None
            if len(out) > MOST:
                raise TooManyError(f"the list stands for more than {MOST:,} nodes")
    return list(out)


def _one(part: str) -> Iterator[str]:
    """The names of one bracketed name: "a[1-2]b[3-4]" gives four."""
    found = re.match(r"([^\[\]]*)\[([\d,\s-]*)\](.*)$", part, re.DOTALL)
    if not found:
        yield part
        return
    for one in filter(None, (part.strip() for part in found[2].split(","))):
        span = _RANGE.fullmatch(one)
        first, last = (int(span[1]), int(span[2] or span[1])) if span else (0, 0)
        if last - first > MOST:
            raise TooManyError(f"{one}: more than {MOST:,} nodes")
        for number in range(first, last + 1):
            shown = str(number).zfill(len(span[1])) if span else one
            yield from (f"{found[1]}{shown}{rest}" for rest in _one(found[3]))


def fold(names: Iterable[str]) -> str:
    """The shortest host list as Slurm, pdsh and clush read it: gpu[001-003,007],login."""
    padded: dict[tuple[str, str, int], set[int]] = {}
    free: list[tuple[str, str, int]] = []
    out: list[str] = []
    for name in sorted(set(names)):
        found = _TAIL.fullmatch(name)
        if not found or "[" in name:
            out.append(name)
        elif found[2].startswith("0") and len(found[2]) > 1:
            padded.setdefault((found[1], found[3], len(found[2])), set()).add(int(found[2]))
        else:
            free.append((found[1], found[3], int(found[2])))
    for head, tail, number in free:  # 001 … 099 and 100 belong together
        home = (head, tail, len(str(number)))
        padded.setdefault(home if home in padded else (head, tail, 0), set()).add(number)
    for (head, tail, width), numbers in padded.items():
        spans: list[list[int]] = []
        for number in sorted(numbers):
            if spans and spans[-1][1] + 1 == number:
                spans[-1][1] = number
            else:
                spans.append([number, number])
        texts = ["-".join(f"{end:0{width}d}" for end in dict.fromkeys(span)) for span in spans]
        inner = ",".join(texts) if len(numbers) == 1 else f"[{','.join(texts)}]"
        out.append(f"{head}{inner}{tail}")
    return ",".join(sorted(out))
