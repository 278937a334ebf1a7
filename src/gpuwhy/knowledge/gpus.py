"""GPUs by PCI device id and by name: what the card is, its compute capability, and which market it was made for.

Where NVML answers, NVML is right; this is for machines whose driver cannot be asked, and for names in logs.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

import msgspec

from gpuwhy.knowledge import archs
from gpuwhy.knowledge.tables import load, source
from gpuwhy.facts.fact import Source

Segment = Literal["data center", "workstation", "consumer", "embedded"]


class GpuRow(msgspec.Struct, frozen=True):
    """A GPU: its name, its compute capability where known, and how we know."""

    name: str
    capability: str | None
    source: Source


class PciTable(msgspec.Struct, frozen=True):
    """data/pci_ids.json: device id → name; boards that share an id are under `other_names`: name → id."""

    source: str
    names: dict[str, str]
    other_names: dict[str, str]


class CapabilityTable(msgspec.Struct, frozen=True):
    """data/capabilities.json: compute capability → names."""

    source: str
    names: dict[str, list[str]]


# (first id, last id, chip, capability). NVIDIA gives each chip a block of ids; the blocks were read off the PCI ID
# Repository of 2026-08-22 and hold for every display controller in it.
CHIPS: tuple[tuple[int, int, str, str], ...] = (
    (0x06C0, 0x06DF, "GF100", "2.0"), (0x0DC0, 0x0DDF, "GF106", "2.1"), (0x0DE0, 0x0DFF, "GF108", "2.1"),
    (0x0E22, 0x0E3F, "GF104", "2.1"), (0x0F00, 0x0F1F, "GF108", "2.1"), (0x0FC0, 0x0FFF, "GK107", "3.0"),
    (0x1001, 0x102C, "GK110", "3.5"), (0x102D, 0x102D, "GK210", "3.7"), (0x102E, 0x103F, "GK110", "3.5"),
    (0x1040, 0x107F, "GF119", "2.1"), (0x1080, 0x109F, "GF110", "2.0"), (0x1140, 0x1140, "GF117", "2.1"),
    (0x1180, 0x11BF, "GK104", "3.0"), (0x11C0, 0x11FF, "GK106", "3.0"), (0x1200, 0x121F, "GF114", "2.1"),
    (0x1241, 0x125F, "GF116", "2.1"), (0x1280, 0x12BF, "GK208", "3.5"), (0x1340, 0x137F, "GM108", "5.0"),
    (0x1380, 0x13AC, "GM107", "5.0"), (0x13AD, 0x13AE, "GM204", "5.2"), (0x13B0, 0x13BD, "GM107", "5.0"),
    (0x13BE, 0x13FF, "GM204", "5.2"), (0x1400, 0x143F, "GM206", "5.2"), (0x15C2, 0x15FF, "GP100", "6.0"),
    (0x1613, 0x167F, "GM204", "5.2"), (0x1725, 0x172F, "GP100", "6.0"), (0x174D, 0x174E, "GM108", "5.0"),
    (0x1789, 0x179C, "GM107", "5.0"), (0x17C0, 0x17FF, "GM200", "5.2"), (0x1B00, 0x1B7F, "GP102", "6.1"),
    (0x1B80, 0x1BFF, "GP104", "6.1"), (0x1C00, 0x1C7F, "GP106", "6.1"), (0x1C80, 0x1CFF, "GP107", "6.1"),
    (0x1D00, 0x1D7F, "GP108", "6.1"), (0x1D80, 0x1DFF, "GV100", "7.0"), (0x1E00, 0x1E7F, "TU102", "7.5"),
    (0x1E80, 0x1EFF, "TU104", "7.5"), (0x1F00, 0x1F7F, "TU106", "7.5"), (0x1F80, 0x1FFF, "TU117", "7.5"),
    (0x2080, 0x20FF, "GA100", "8.0"), (0x2180, 0x21FF, "TU116", "7.5"), (0x2200, 0x223F, "GA102", "8.6"),
    (0x2300, 0x23FF, "GH100", "9.0"), (0x2400, 0x247F, "GA103", "8.6"), (0x2480, 0x24FF, "GA104", "8.6"),
    (0x2500, 0x257F, "GA106", "8.6"), (0x2580, 0x25FF, "GA107", "8.6"), (0x2680, 0x26FF, "AD102", "8.9"),
    (0x2700, 0x277F, "AD103", "8.9"), (0x2780, 0x27FF, "AD104", "8.9"), (0x2800, 0x287F, "AD106", "8.9"),
    (0x2880, 0x28FF, "AD107", "8.9"), (0x2900, 0x297F, "GB100", "10.0"), (0x2980, 0x29FF, "GB102", "10.0"),
    (0x2B00, 0x2B00, "GB10B", "11.0"), (0x2B80, 0x2BFF, "GB202", "12.0"), (0x2C00, 0x2C7F, "GB203", "12.0"),
    (0x2D00, 0x2D7F, "GB206", "12.0"), (0x2D80, 0x2DFF, "GB207", "12.0"), (0x2E00, 0x2E2F, "GB20B", "12.1"),
    (0x2F00, 0x2F80, "GB205", "12.0"), (0x3180, 0x31FF, "GB110", "10.3"), (0x3200, 0x323F, "GB112", "10.3"),
)  # fmt: skip

CHIP_SOURCE = "PCI ID Repository (pci.ids, 2026-08-22)"

# Names that NVIDIA's lists leave out and people have; the chip decides the capability.
MORE_NAMES = (
    ("GeForce GT 1030", "6.1", "GP108"), ("GeForce GTX 1050 Ti", "6.1", "GP107"), ("GeForce MX150", "6.1", "GP108"),
    ("GeForce MX230", "6.1", "GP108"), ("GeForce MX250", "6.1", "GP108"), ("GeForce MX330", "6.1", "GP108"),
    ("GeForce MX350", "6.1", "GP107"), ("GeForce MX110", "5.0", "GM108"), ("GeForce MX130", "5.0", "GM108"),
    ("GeForce GTX 745", "5.0", "GM107"), ("GeForce 840M", "5.0", "GM108"),
    ("GeForce 830M", "5.0", "GM108"), ("GeForce 845M", "5.0", "GM107"), ("GeForce 945M", "5.0", "GM107"),
    ("GeForce GTX 965M", "5.2", "GM204"), ("GeForce GTX 870M", "3.0", "GK104"), ("GeForce GTX 880M", "3.0", "GK104"),
    ("Tesla K40c", "3.5", "GK180"), ("Tesla K40m", "3.5", "GK110"), ("Tesla K20c", "3.5", "GK110"),
    ("Tesla K20m", "3.5", "GK110"), ("Tesla K20X", "3.5", "GK110"), ("Tesla K20Xm", "3.5", "GK110"),
    ("GRID K520", "3.0", "GK104"), ("GRID K1", "3.0", "GK107"), ("GRID K2", "3.0", "GK104"),
    ("GeForce GTX 1630", "7.5", "TU117"), ("GeForce MX450", "7.5", "TU117"), ("GeForce MX550", "7.5", "TU117"),
    ("GeForce MX570", "8.6", "GA107"), ("P106-100", "6.1", "GP106"), ("P104-100", "6.1", "GP104"),
    ("CMP 30HX", "7.5", "TU116"), ("CMP 40HX", "7.5", "TU106"), ("CMP 50HX", "7.5", "TU102"),
    ("CMP 90HX", "8.6", "GA102"), ("CMP 170HX", "8.0", "GA100"),
    ("GeForce GT 710", "3.5", "GK208"), ("GeForce GT 720", "3.5", "GK208"), ("NVS 510", "3.0", "GK107"),
    ("GeForce 940MX", "5.0", "GM108"), ("GeForce 930MX", "5.0", "GM108"), ("GeForce 920MX", "5.0", "GM108"),
    ("GeForce GT 1010", "6.1", "GP108"), ("A100X", "8.0", "GA100"),
    ("A800", "8.0", "GA100"), ("A10G", "8.6", "GA102"), ("H20", "9.0", "GH100"), ("H800", "9.0", "GH100"),
    ("B100", "10.0", "GB100"), ("GB300", "10.3", "GB110"), ("V100S", "7.0", "GV100"), ("T4G", "7.5", "TU104"),
    ("RTX 5880 Ada", "8.9", "AD102"), ("L20", "8.9", "AD102"), ("L2", "8.9", "AD104"),
    ("Jetson TX1", "5.3", "GM20B"), ("Jetson AGX Thor", "11.0", "GB10B"), ("Jetson Thor", "11.0", "GB10B"),
    ("Jetson Xavier", "7.2", "GV10B"), ("Jetson Orin", "8.7", "GA10B"), ("DRIVE Orin", "8.7", "GA10B"),
    ("DRIVE Thor", "11.0", "GB10B"),
)  # fmt: skip

OTHERS: tuple[tuple[str, str, str], ...] = (
    (
        r"\b(amd|radeon|instinct|firepro|vega|navi|rx ?\d{3,4}|mi ?\d{2,3}[axp]?|gfx\d+|w7[89]00|strix|ryzen)\b",
        "AMD",
        "CUDA runs on NVIDIA's GPUs only. PyTorch has ROCm builds for Linux on its own index (its install page shows "
        "the address), JAX a ROCm plugin, TensorFlow tensorflow-rocm; AMD's compatibility matrix names the GPUs",
    ),
    (
        r"\b(intel|arc|iris|uhd|xe[23]?|gaudi ?\d?|ponte vecchio|flex ?\d{3}|b5[78]0|max 1[15]\d0)\b",
        "Intel",
        "CUDA runs on NVIDIA's GPUs only. PyTorch 2.5 and newer has builds for Intel's GPUs, device \"xpu\", on its "
        "own "
        "index (…/whl/xpu); ONNX Runtime has onnxruntime-openvino",
    ),
    (
        r"\b(apple|mac(book|os)?|m[1-5]( (pro|max|ultra))?|metal|mps)\b",
        "Apple",
        "CUDA runs on NVIDIA's GPUs only, and has none for macOS. On Apple's, PyTorch's ordinary wheel uses Metal as "
        'device "mps", TensorFlow takes tensorflow-metal, MLX is Apple\'s own',
    ),
)
"""Other makers' GPUs as people write them, the maker, and what can be said to their owners."""


def by_pci(device_id: str) -> GpuRow | None:
    """The GPU with a PCI device id (4 hex digits, any case); a chip without a name of its own is named by its chip."""
    wanted = device_id.strip().removeprefix("0x").upper().zfill(4)
    if not re.fullmatch(r"[0-9A-F]{4}", wanted):
        return None
    chip = _chip(int(wanted, 16))
    name = _pci_table().names.get(wanted)
    if name is None and chip is None:
        return None
    capability = chip[3] if chip else None
    if name is None:
        return GpuRow(_chip_name(chip), capability, source(CHIP_SOURCE, _chip_detail(chip)))
    return GpuRow(_full(name), capability, source(_pci_table().source, _chip_detail(chip)))


SOLD_WITH = {"860m": ("3.0", "5.0")}
"""Names that were sold with chips of different capabilities (NVIDIA's list of CUDA GPUs): they tell nothing."""


def by_name(name: str) -> GpuRow | None:
    """The GPU that a driver, a log or a person calls `name`; memory sizes, form factors and slices are overlooked."""
    for words in _spellings(name):
        row = _exact(words)
        if row:
            return row
    return next((row for words in _spellings(name) if (row := _within(name, words))), None)


def _exact(words: list[str]) -> GpuRow | None:
    index = _index()
    while words:
        row = index.get(" ".join(words))
        if row:
            return row
        if not _OVERLOOKED.fullmatch(words[-1]):
            return None
        words = words[:-1]
    return None


def _within(name: str, words: list[str]) -> GpuRow | None:
    """A part of longer names, where all of them are of one capability: "RTX PRO 6000" of both its editions."""
    text = " ".join(words)
    if len(text) < 4:
        return None
    found = [row for key, row in _index().items() if f" {text} " in f" {key} "]
    if len({row.capability for row in found}) != 1:
        return None
    return GpuRow(_full(" ".join(name.split())), found[0].capability, found[0].source)


def other_maker(name: str) -> tuple[str, str] | None:
    """The maker of a GPU that is not NVIDIA's, and what can be said; None where the name tells of none."""
    text = " ".join(_plain(name))
    return next(((maker, said) for pattern, maker, said in OTHERS if re.search(pattern, text)), None)


def names() -> tuple[str, ...]:
    """Every name that `by_name` knows, in its plain words."""
    return tuple(_index())


def segment(name: str) -> Segment | None:
    """Which market a card was made for, from its name; None when the name does not tell."""
    row = by_name(name)
    text = " ".join(_plain(row.name if row else name))
    for pattern, market in _SEGMENTS:
        if re.search(pattern, text):
            return market
    return None


_SEGMENTS: tuple[tuple[str, Segment], ...] = (
    (r"\b(geforce|titan|gtx|cmp|mx\d{3})\b", "consumer"),
    (r"\b(jetson|orin|xavier|tegra|thor|drive|gb10)\b", "embedded"),
    (r"\b(quadro|nvs|rtx (pro|a?\d)|t\d{3,4}e?\b)", "workstation"),
    (r"\b(tesla|grid|[pvkm]\d{2,3}|a(2|10|10g|10m|16|30|40|100|800)|ax800|l(2|4|20|40|40s)|t4g?"
     r"|g?[hb](100|200|300|800)|h20)\b", "data center"),
)  # fmt: skip

# Words that say nothing about the chip, wherever they stand.
_NOISE = frozenset({
    "nvidia", "corporation", "geforce", "tesla", "gpu", "graphics", "laptop", "mobile", "with", "max", "q", "design",
    "generation", "grid", "card",
})  # fmt: skip
# Words at the end that may go when the whole name is not known: sizes, form factors, slices, grades of one chip family.
_OVERLOOKED = re.compile(
    r"\d+gb?|\d+g\.\d+gb?|sxm\d?|pcie?|nvl\d*|hbm\d?e?|mig|ti|super|oem|d|v2|lc|pascal|embedded|\d+[qcab]|\d+e|pg\d+"
    r"|ac|dgx|spark|72gb|active"
)


def _plain(name: str) -> list[str]:
    """Lower-case words; trade marks and brackets removed, hyphens and slashes as spaces."""
    return re.sub(r"\((tm|r)\)|[®™(),/\[\]-]", " ", name.lower()).split()


_GLUED = re.compile(r"\b(rtx|gtx|gts|gt|quadro|titan|tesla|jetson|geforce|nvidia)(?=[a-z]?\d)")
_SUFFIX = re.compile(r"(?<=\d)(ti|super|laptop|mobile|gb|ada|(?<=\d{4})d)(?=\b|super|laptop)")
_COUNT = re.compile(r"^\s*\d+\s*(x|×|\*)\s+|\s+(x|×|\*)\s*\d+\s*$")


def _words(name: str) -> list[str]:
    """The words that matter; '3050ti' is '3050 ti'."""
    return [word for word in _plain(re.sub(r"(?<=\d{4})ti\b", " ti", name.lower())) if word not in _NOISE]


def _spellings(name: str) -> list[list[str]]:
    """The words of a name as it is written, then as people may have meant it: rtx3090ti, 3090, 2x RTX_3090."""
    plain = _COUNT.sub("", name.lower()).replace("_", " ")
    apart = _words(_SUFFIX.sub(r" \1 ", _GLUED.sub(r"\1 ", plain)))
    out = [_words(name), apart]
    if apart and re.fullmatch(r"\d{3,4}", apart[0]):
        out += [["rtx", *apart], ["gtx", *apart]]
    return out


@lru_cache(maxsize=1)
def _pci_table() -> PciTable:
    return load("pci_ids.json", PciTable)


@lru_cache(maxsize=1)
def _index() -> dict[str, GpuRow]:
    """Every name, by its words. NVIDIA's capability list is entered first; a Quadro also answers without its brand."""
    out: dict[str, GpuRow] = {}
    listed = load("capabilities.json", CapabilityTable)
    rows = [GpuRow(_full(n), c, source(listed.source)) for c, names in listed.names.items() for n in names]
    rows += [GpuRow(_full(n), c, source(CHIP_SOURCE, f"chip {chip}")) for n, c, chip in MORE_NAMES]
    table = _pci_table()
    pairs = [(i, n) for i, n in table.names.items() if " / " not in n] + [(i, n) for n, i in table.other_names.items()]
    rows += [GpuRow(_full(n), row.capability, row.source) for i, n in pairs if (row := by_pci(i))]
    for row in rows:
        out.setdefault(" ".join(_words(row.name)), row)
    for key, row in list(out.items()):
        out.setdefault(key.removeprefix("quadro "), row)
    return out


def _chip(device_id: int) -> tuple[int, int, str, str] | None:
    return next((row for row in CHIPS if row[0] <= device_id <= row[1]), None)


def _chip_name(chip: tuple[int, int, str, str] | None) -> str:
    row = archs.of(chip[3]) if chip else None
    return f"NVIDIA {row.name} GPU ({chip[2]})" if row and chip else "NVIDIA GPU"


def _chip_detail(chip: tuple[int, int, str, str] | None) -> str:
    return f"ids {chip[0]:04X}–{chip[1]:04X} are {chip[2]}, capability {chip[3]}" if chip else ""


def _full(name: str) -> str:
    return name if name.startswith(("NVIDIA", "Tesla", "Quadro", "Matrox", "Jetson")) else f"NVIDIA {name}"
