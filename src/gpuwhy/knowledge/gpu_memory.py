"""How much memory a card has, by name: MiB as nvidia-smi shows it; and the slices that MIG cuts of it."""

from __future__ import annotations

import re

SIZES: tuple[tuple[str, int], ...] = (
    ("gb300", 288 * 1024 - 4096), ("gb200", 189471), ("b300", 288 * 1024 - 4096), ("b200", 183359), ("b100", 183359),
    ("gh200", 97871), ("h200 nvl", 143771), ("h200", 143771), ("h100 nvl", 95830), ("h100 64", 65247), ("h100 96", 97871),
    ("h100", 81559), ("h800", 81559), ("h20 141", 143771), ("h20", 97871), ("a100 40", 40960), ("a100 80", 81920), ("a100", 40960),
    ("a800 40", 40960), ("a800", 81920), ("a30", 24576), ("a40", 46068), ("a16", 15356), ("a10g", 23028), ("a10", 23028),
    ("a2", 15356), ("l40s", 46068), ("l40", 46068), ("l20", 46068), ("l4", 23034), ("t4g", 15360), ("t4", 15360),
    ("v100s", 32768), ("v100 32", 32768), ("v100 16", 16384), ("v100", 16384), ("p100 12", 12288), ("p100", 16384),
    ("p40", 24576), ("p4", 7680), ("m60", 8192), ("m40 24", 24576), ("m40", 12288), ("k80", 11441), ("k40", 11441),
    ("rtx pro 6000", 97887), ("rtx pro 5000", 48935), ("rtx pro 4500", 32623), ("rtx pro 4000", 24467),
    ("rtx pro 2000", 16311), ("rtx 6000 ada", 49140), ("rtx 5880 ada", 49140), ("rtx 5000 ada", 32760),
    ("rtx 4500 ada", 24570), ("rtx 4000 ada", 20475), ("rtx 4000 sff", 20475), ("rtx 2000 ada", 16380),
    ("rtx a6000", 49140), ("rtx a5500", 24564), ("rtx a5000", 24564), ("rtx a4500", 20470), ("rtx a4000", 16376),
    ("rtx a2000 12", 12282), ("rtx a2000", 6138), ("quadro rtx 8000", 46080), ("quadro rtx 6000", 23040),
    ("quadro rtx 5000", 15360), ("quadro rtx 4000", 7680), ("rtx 8000", 46080), ("rtx 6000", 23040),
    ("5090 laptop", 24463), ("rtx 5090 d", 32607), ("rtx 5090", 32607), ("5080 laptop", 16303), ("rtx 5080", 16303),
    ("5070 ti laptop", 12227), ("rtx 5070 ti", 16303), ("5070 laptop", 8151), ("rtx 5070", 12227),
    ("rtx 5060 ti 8", 8151), ("rtx 5060 ti", 16311), ("rtx 5060", 8151), ("rtx 5050", 8151),
    ("4090 laptop", 16376), ("rtx 4090 d", 24564), ("rtx 4090", 24564), ("4080 laptop", 12282), ("rtx 4080", 16376),
    ("rtx 4070 ti super", 16376), ("4070 laptop", 8188), ("rtx 4070", 12282), ("rtx 4060 ti 16", 16380),
    ("rtx 4060", 8188), ("4050", 6141), ("rtx 3090", 24576), ("3080 ti laptop", 16384), ("rtx 3080 ti", 12288),
    ("rtx 3080 12", 12288), ("3080 laptop", 8192), ("rtx 3080", 10240), ("rtx 3070", 8192), ("rtx 3060 ti", 8192),
    ("3060 laptop", 6144), ("rtx 3060 8", 8192), ("rtx 3060", 12288), ("rtx 3050 6", 6144), ("3050 laptop", 4096),
    ("3050 ti", 4096), ("rtx 3050", 8192), ("titan rtx", 24576), ("titan v", 12288), ("titan xp", 12288),
    ("titan x", 12288), ("rtx 2080 ti", 11264), ("rtx 2080", 8192), ("rtx 2070", 8192), ("rtx 2060 12", 12288),
    ("rtx 2060 super", 8192), ("rtx 2060", 6144), ("gtx 1660", 6144), ("gtx 1650", 4096), ("gtx 1630", 4096),
    ("gtx 1080 ti", 11264), ("gtx 1080", 8192), ("gtx 1070", 8192), ("gtx 1060 3", 3072), ("gtx 1060", 6144),
    ("gtx 1050 ti", 4096), ("gtx 1050", 2048), ("gtx 980 ti", 6144), ("gtx 980", 4096), ("gtx 970", 4096),
)  # fmt: skip
"""The first whose words all stand in the name; a size in GB at its end tells variants apart."""

MIG = {
    "1g.5gb": 4864, "1g.10gb": 9728, "2g.10gb": 9856, "3g.20gb": 19968, "4g.20gb": 19968, "7g.40gb": 40192,
    "1g.20gb": 19968, "2g.20gb": 19968, "3g.40gb": 40192, "4g.40gb": 40192, "7g.80gb": 80640, "1g.6gb": 5952,
    "2g.12gb": 12032, "4g.24gb": 24256, "1g.12gb": 11264, "1g.24gb": 23552, "2g.24gb": 23552, "3g.48gb": 47616,
    "4g.48gb": 47616, "7g.96gb": 95232, "1g.18gb": 16384, "1g.35gb": 33280, "2g.35gb": 33280, "3g.71gb": 71424,
    "4g.71gb": 71424, "7g.141gb": 143360, "1g.23gb": 22016, "1g.45gb": 44544, "2g.45gb": 44544, "3g.90gb": 91648,
    "4g.90gb": 91648, "7g.180gb": 182272,
}  # fmt: skip
"""MiB of a slice, by its profile. Source: NVIDIA's MIG user guide, supported profiles, rounded down."""
SOURCE = "nvidia-smi's figures as NVIDIA's own pages and users show them, by card"
_SLICE = re.compile(r"(?<![\w.])(\d)g\.(\d{1,3})gb\b", re.IGNORECASE)
_GIGABYTES = re.compile(r"(?<![\w.])(\d{1,3})\s*g(?:i?b)?\b", re.IGNORECASE)


def slice_of(text: str) -> tuple[str, int, bool] | None:
    """The MIG profile in a text: its name, its bytes, and whether they are known rather than guessed."""
    found = _SLICE.search(text)
    if found is None:
        return None
    name = found[0].lower()
    known = MIG.get(name)
    return name, (known or int(int(found[2]) * 0.94 * 1024)) << 20, known is not None


def size_of(name: str) -> int | None:
    """Bytes of the card that somebody calls `name`; the size in the name decides where the card has several."""
    words = re.sub(r"[®™(),/\[\]_-]", " ", name.lower())
    words = re.sub(r"\b(rtx|gtx)(?=\d)", r"\1 ", re.sub(r"(?<=\d{4})ti\b", " ti", words))
    told = _GIGABYTES.search(words)
    flat = f" {' '.join(words.split())} "
    for row, size in SIZES:
        *model, last = row.split()
        numbered = bool(model) and last.isdigit() and len(last) <= 2
        if numbered and (told is None or told[1] != last):
            continue
        if all(f" {word} " in flat for word in (model if numbered else row.split())):
            return size << 20
    return int(told[1]) << 30 if told else None
