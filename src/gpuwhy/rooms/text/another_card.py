"""Another card: of several cards some are ones that the build has code for: let the program see those alone."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.gpus import by_name
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import numbers
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import tried

_LISTED = Later(r"(?:^|\b)GPU (?P<index>\d+): (?:NVIDIA )?(?P<name>(?:GeForce|Tesla|Quadro|RTX|A\d|T\d|L\d|H\d|TITAN)[\w .-]*?)(?= *(?:\(|,|$|\n))")  # fmt: skip
_SUPPORTS = Later(r"capability supported by this (?:version|library)[^\n]{0,40}?\(?(?P<least>\d+\.\d)\)?(?: ?- ?\(?(?P<most>\d+\.\d))?")  # fmt: skip
_CARRIES = Later(r"(?:supports CUDA capabilities|no kernel image)[^\n]*?(?P<codes>(?:sm_\d+ ?)+)")


def _cards(case: Asked) -> dict[str, str]:
    """The cards that a text lists, by their numbers, with their capabilities."""
    rows = ((one["index"], by_name(one["name"])) for one in _LISTED.finditer(case.text))
    return {index: row.capability for index, row in rows if row and row.capability}


_BLACKWELL = (12, 0)


def newest_beside_older(case: Asked) -> bool:
    """Whether a card of the newest family stands beside an older one: a build for the older one has no code for it."""
    told = [numbers(one) for one in _cards(case).values()]
    return any(one >= _BLACKWELL for one in told) and any(one < _BLACKWELL for one in told)


def another_card(case: Asked) -> Iterator[Fix]:
    """Two cards or more, of which the build has code for some only: those by their numbers, in the order of nvidia-smi."""
    cards = _cards(case)
    fits = [index for index, capability in cards.items() if _has_code(capability, case)]
    if not fits or len(fits) == len(cards):
        return
    chosen = ",".join(sorted(fits))
    yield tried(f"The build has code for GPU {chosen} and not for the other: let the program see that one alone, by its number in nvidia-smi", f"export CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES={chosen}")  # fmt: skip


def _has_code(capability: str, case: Asked) -> bool:
    """Whether a build has code for a capability, by the range or the list that it prints; not where it prints neither."""
    told = numbers(capability)
    if found := _SUPPORTS.search(case.text):
        return numbers(found["least"]) <= told and (not found["most"] or told <= numbers(found["most"]))
    listed = _CARRIES.search(case.text)
    codes = listed["codes"].split() if listed else []
    return any(one.split("_")[1][:-1] == str(told[0]) for one in codes)
