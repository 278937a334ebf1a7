"""GPUs by PCI id and by name: what the card is, its capability, memory and market.

Where NVML answers, NVML is right; this is for machines whose driver cannot be asked, and for names
in logs.
"""

import re
from functools import cache
from typing import Literal

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.knowledge import archs
from gpuwhy.knowledge.tables import load, source

Segment = Literal["data center", "workstation", "consumer", "embedded"]

# Words at the end that may go when the whole name is not known: sizes, form factors, slices.
_OVERLOOKED = re.compile(
    r"\d+gb?|\d+g\.\d+gb?|sxm\d?|pcie?|nvl\d*|hbm\d?e?|mig|ti|super|oem|d|v2|lc|pascal|embedded"
    r"|\d+[qcab]|\d+e|pg\d+|ac|dgx|spark|72gb|active"
)
_GLUED = re.compile(r"\b(rtx|gtx|gts|gt|quadro|titan|tesla|jetson|geforce|nvidia)(?=[a-z]?\d)")
_SUFFIX = re.compile(r"(?<=\d)(ti|super|laptop|mobile|gb|ada|(?<=\d{4})d)(?=\b|super|laptop)")
_COUNT = re.compile(r"^\s*\d+\s*(x|×|\*)\s+|\s+(x|×|\*)\s*\d+\s*$")
_SLICE = re.compile(r"(?<![\w.])(\d)g\.(\d{1,3})gb\b", re.IGNORECASE)
_GIGABYTES = re.compile(r"(?<![\w.])(\d{1,3})\s*g(?:i?b)?\b", re.IGNORECASE)
_USABLE = 0.94
"""The part of a slice's size that programs may use, where its row is not known."""


class GpuRow(msgspec.Struct, frozen=True):
    """A GPU: its name, its compute capability where known, and how we know."""

    name: str
    capability: str | None
    source: Source


class PciTable(msgspec.Struct, frozen=True):
    """pci_ids.json: device id → name; boards that share an id are under `other_names`."""

    source: str
    names: dict[str, str]
    other_names: dict[str, str]


class CapabilityTable(msgspec.Struct, frozen=True):
    """capabilities.json: compute capability → names."""

    source: str
    names: dict[str, list[str]]


class Chip(msgspec.Struct, frozen=True, array_like=True):
    """A block of PCI ids, which holds for every display controller in it."""

    first: str
    last: str
    chip: str
    capability: str

    @property
    def detail(self) -> str:
        """What the block says."""
        return f"ids {self.first}–{self.last} are {self.chip}, capability {self.capability}"


class Table(msgspec.Struct, frozen=True):
    """gpus.json."""

    source: str
    chips: tuple[Chip, ...]
    names: tuple[tuple[str, str, str], ...]  # that NVIDIA's lists leave out: capability, chip
    makers: tuple[tuple[str, str, str], ...]  # other makers' GPUs: pattern, maker, what can be said
    segments: tuple[tuple[str, Segment], ...]
    sold_with: dict[str, tuple[str, ...]]  # name: capabilities
    noise: frozenset[str]  # words that say nothing about the chip, wherever they stand


class Memory(msgspec.Struct, frozen=True):
    """gpu_memory.json: MiB as nvidia-smi shows it, by name, and of the slices that MIG cuts."""

    sizes: dict[str, int]  # the first whose words all stand in the name; a size in GB at its end
    slices: dict[str, int]


def table() -> Table:
    """Chips, names, makers and markets."""
    return load("gpus.json", Table)


def memory() -> Memory:
    """How much memory cards and slices have."""
    return load("gpu_memory.json", Memory)


def by_pci(device_id: str) -> GpuRow | None:
    """The GPU with a PCI device id (4 hex digits); named by its chip where it has no other name."""
    wanted = device_id.strip().removeprefix("0x").upper().zfill(4)
    if not re.fullmatch(r"[0-9A-F]{4}", wanted):
        return None
    chip = next((row for row in table().chips if row.first <= wanted <= row.last), None)
    listed = load("pci_ids.json", PciTable)
    name = listed.names.get(wanted)
    if name is not None:
        told = source(listed.source, chip.detail if chip else "")
        return GpuRow(_full(name), chip.capability if chip else None, told)
    if chip is None:
        return None
    arch = archs.of(chip.capability)
    name = f"NVIDIA {arch.name} GPU ({chip.chip})" if arch else "NVIDIA GPU"
    return GpuRow(name, chip.capability, source(table().source, chip.detail))


def by_name(name: str) -> GpuRow | None:
    """The GPU that somebody calls `name`; memory sizes, form factors and slices are overlooked."""
    for words in _spellings(name):
        while words:
            if row := _index().get(" ".join(words)):
                return row
            words = words[:-1] if _OVERLOOKED.fullmatch(words[-1]) else []
    return next((row for words in _spellings(name) if (row := _within(name, words))), None)


def _within(name: str, words: list[str]) -> GpuRow | None:
    """A part of longer names of one capability: "RTX PRO 6000" of both its editions."""
    text = " ".join(words)
    if len(text) < 4:
        return None
    found = [row for key, row in _index().items() if f" {text} " in f" {key} "]
    if len({row.capability for row in found}) != 1:
        return None
    return GpuRow(_full(" ".join(name.split())), found[0].capability, found[0].source)


def other_maker(name: str) -> tuple[str, str] | None:
    """The maker of a GPU that is not NVIDIA's, and what can be said; None without a sign of it."""
    text = " ".join(_plain(name))
    found = (row for row in table().makers if re.search(row[0], text))
    return next(((maker, said) for _, maker, said in found), None)


def sold_with(word: str) -> tuple[str, ...]:
    """The capabilities of a name that was sold with different chips, so that it tells nothing."""
    return table().sold_with.get(word, ())


def names() -> tuple[str, ...]:
    """Every name that `by_name` knows, in its plain words."""
    return tuple(_index())


def segment(name: str) -> Segment | None:
    """Which market a card was made for, from its name; None when the name does not tell."""
    row = by_name(name)
    text = " ".join(_plain(row.name if row else name))
    found = (market for pattern, market in table().segments if re.search(pattern, text))
    return next(found, None)


def slice_of(text: str) -> tuple[str, int, bool] | None:
    """The MIG profile in a text: its name, its bytes, and whether they are known, not guessed."""
    found = _SLICE.search(text)
    if found is None:
        return None
    name = found[0].lower()
    known = memory().slices.get(name)
    return name, (known or int(int(found[2]) * _USABLE * 1024)) << 20, known is not None


def size_of(name: str) -> int | None:
    """Bytes of the card that somebody calls `name`; a size in the name decides between several."""
    words = re.sub(r"[®™(),/\[\]_-]", " ", name.lower())
    words = re.sub(r"\b(rtx|gtx)(?=\d)", r"\1 ", re.sub(r"(?<=\d{4})ti\b", " ti", words))
    told = _GIGABYTES.search(words)
    flat = f" {' '.join(words.split())} "
    for row, size in memory().sizes.items():
        *model, last = row.split()
        numbered = bool(model) and last.isdigit() and len(last) <= 2
        if numbered and (told is None or told[1] != last):
            continue
        if all(f" {word} " in flat for word in (model if numbered else row.split())):
            return size << 20
    return int(told[1]) << 30 if told else None


def _plain(name: str) -> list[str]:
    """Lower-case words; trade marks and brackets removed, hyphens and slashes as spaces."""
    return re.sub(r"\((tm|r)\)|[®™(),/\[\]-]", " ", name.lower()).split()


def _words(name: str) -> list[str]:
    """The words that matter; '3050ti' is '3050 ti'."""
    apart = re.sub(r"(?<=\d{4})ti\b", " ti", name.lower())
    return [word for word in _plain(apart) if word not in table().noise]


def _spellings(name: str) -> list[list[str]]:
    """The words of a name as written, then as meant: rtx3090ti, 3090, 2x RTX_3090."""
    plain = _COUNT.sub("", name.lower()).replace("_", " ")
    apart = _words(_SUFFIX.sub(r" \1 ", _GLUED.sub(r"\1 ", plain)))
    out = [_words(name), apart]
    if apart and re.fullmatch(r"\d{3,4}", apart[0]):
        out += [["rtx", *apart], ["gtx", *apart]]
    return out


@cache
def _index() -> dict[str, GpuRow]:
    """Every name, by its words; NVIDIA's list is first; a Quadro also answers without its brand."""
    listed = load("capabilities.json", CapabilityTable)
    told = source(listed.source)
    found = [GpuRow(_full(n), c, told) for c, names in listed.names.items() for n in names]
    chips = table().source
    found += [GpuRow(_full(n), c, source(chips, f"chip {x}")) for n, c, x in table().names]
    known = load("pci_ids.json", PciTable)
    pairs = [(i, n) for i, n in known.names.items() if " / " not in n]
    pairs += [(i, n) for n, i in known.other_names.items()]
    found += [GpuRow(_full(n), row.capability, row.source) for i, n in pairs if (row := by_pci(i))]
    out: dict[str, GpuRow] = {}
    for row in found:
        out.setdefault(" ".join(_words(row.name)), row)
    for key, row in list(out.items()):
        out.setdefault(key.removeprefix("quadro "), row)
    return out


def _full(name: str) -> str:
    known = ("NVIDIA", "Tesla", "Quadro", "Matrox", "Jetson")
    return name if name.startswith(known) else f"NVIDIA {name}"
