"""Text from outside made safe, its width on a terminal, and sizes in words."""

REPLACED = "\N{REPLACEMENT CHARACTER}"

GLYPHS = {"": "", "ok": "✓", "bad": "✗", "warn": "!", "unknown": "?", "none": "–"}
_SIGNS = dict(zip("✓✗·–—×’‘“”│█▓▒░" + REPLACED, "+x---x''\"\"|#=+-?", strict=True))
_ASCII = str.maketrans({**_SIGNS, "…": "...", "→": "->", "≥": ">=", "≤": "<="})


def plain(text: str) -> str:
    """A text without what steers a terminal or changes the direction of writing; one line."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else " " if c.isspace() else REPLACED for c in text)


def lines_of(text: str) -> list[str]:
    """A text of several lines as lines, each of them plain."""
    return [plain(one.rstrip("\r").expandtabs(4)) for one in text.rstrip("\n").split("\n")]


def as_ascii(text: str) -> str:
    """The same for a terminal that shows ASCII alone; what has no likeness is named by number."""
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode()


def clip(text: str, most: int) -> str:
    """The beginning of a quotation, cut after a word where there is one."""
    if len(text) <= most:
        return text
    kept = text[:most]
    word = kept.rfind(" ")
    return (kept[:word] if word > most // 2 else kept).rstrip(" ,;:.") + " …"


def width(text: str) -> int:
    """How many columns a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    wide = {c: 2 if east_asian_width(c) in "WF" else 1 for c in set(text)}
    return sum(0 if category(c) in ("Mn", "Me") else wide[c] for c in text)


def size(count: int) -> str:
    """Bytes in words: 76.2 GiB, 512 MiB."""
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit:
            value = count / unit
            return f"{value:.0f} {name}" if value >= 100 else f"{value:.3g} {name}"
    return f"{count} bytes"


def listed(names: tuple[str, ...], most: int = 3) -> str:
    """Names as `a, b and c`; of more than `most`, how many more there are."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def counted(count: int, one: str, several: str = "") -> str:
    """`1 cause`, `3 causes`."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


COMMANDS = ("nvcc", "pip", "conda", "uv", "apt", "ldconfig", "ldd", "torch", "jax", "torchvision")
"""Names that keep their case where a sentence begins."""


def sentence(text: str) -> str:
    """A sentence that begins a line; names keep their case."""
    first = text.split(" ", 1)[0]
    plain = first.islower() and first.isalpha() and first not in COMMANDS
    return text[:1].upper() + text[1:] if plain else text
