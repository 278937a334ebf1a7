"""The packages of each release of Ubuntu and Debian, as filters of bits.

    python -m tools.harvest.apt_names FOLDER     # writes knowledge/data/apt_names.bin

FOLDER holds the lists of each archive (Packages.xz) as FAMILY.CODE[-updates|-security].COMPONENT.xz, such as
ubuntu.jammy.main.xz.
A name that a filter does not hold is not in that release; one in twenty of those passes.
"""

from __future__ import annotations

import json
import lzma
import re
import sys
from pathlib import Path

from gpuwhy.knowledge.apt_names import bits

DATA = Path(__file__).parents[2] / "src" / "gpuwhy" / "knowledge" / "data"
NUMBERS = {
    "xenial": "16.04", "bionic": "18.04", "focal": "20.04", "jammy": "22.04", "noble": "24.04", "resolute": "26.04",
    "bullseye": "11", "bookworm": "12", "trixie": "13",
}  # fmt: skip
BITS = 6


def names_of(texts: list[str]) -> set[str]:
    """The packages of a release, and the names that one of them alone provides: apt refuses to choose among several."""
    found: set[str] = set()
    providers: dict[str, set[str]] = {}
    for block in (block for text in texts for block in text.split("\n\n")):
        name = re.search(r"^Package: (\S+)", block, re.MULTILINE)
        provided = re.search(r"^Provides: (.*)", block, re.MULTILINE)
        found |= {name[1]} if name else set()
        for one in provided[1].split(",") if name and provided else ():
            providers.setdefault(one.split()[0], set()).add(name[1] if name else "")
    return found | {one for one, by in providers.items() if len(by) == 1}


def filter_of(names: set[str]) -> bytes:
    """A filter with some bits for each name."""
    made = bytearray(len(names) * BITS // 8 + 1)
    for name in names:
        for bit in bits(name, len(made) * 8):
            made[bit >> 3] |= 1 << (bit & 7)
    return bytes(made)


def main(folder: str) -> None:
    """Read every list, write one filter for each release."""
    texts: dict[str, list[str]] = {}
    for path in sorted(Path(folder).glob("*.xz")):
        family, code, _, _ = path.name.split(".")
        key = f"{family} {NUMBERS[code.partition('-')[0]]}"
        texts.setdefault(key, []).append(lzma.decompress(path.read_bytes()).decode("utf-8", "replace"))
    held = {key: names_of(found) for key, found in texts.items()}
    filters = {key: filter_of(names) for key, names in held.items()}
    head = json.dumps({key: len(data) for key, data in filters.items()}).encode() + b"\n"
    (DATA / "apt_names.bin").write_bytes(head + b"".join(filters.values()))
    print({key: len(names) for key, names in held.items()})


if __name__ == "__main__":
    main(sys.argv[1])
