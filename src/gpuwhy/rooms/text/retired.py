"""Retired: a card that new drivers no longer drive: its last branch, and the builds that this one runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import archs
from gpuwhy.knowledge.gpus import by_name
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import numbers
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.pins import pin
from gpuwhy.rooms.text.ways import tried

_SPEAKS = {"R340": "6.5", "R390": "9.1", "R470": "11.4"}
"""The CUDA of a card's last branch, as nvidia-smi prints it; R580 speaks 13.0, which is enough for what is built today."""
_TAGS = {"R470": "11.4.3"}
_ON_WINDOWS = {"R340": "342.01", "R390": "391.35", "R470": "475.14"}
_CARDS = Later(r"\b((?:GeForce |NVIDIA |Tesla |Quadro )?(?:GTX? ?TITAN(?: Black| Z)?|TITAN(?: GTX| Black)|GTX? ?[4-7]\d{2}(?: ?Ti)?M?|GT ?7[1-4]0M?|K[1-6]?\d{1,3}M?|Tesla K\d\d|[CM]20[57]\d))\b", re.IGNORECASE)  # fmt: skip


_ARCH = Later(
    r"\b(?:for|my|a|this|old|an old|on)(?: NVIDIA)? (Kepler|Fermi)\b(?!\+| or newer| and newer)", re.IGNORECASE
)


def capability_told(case: Asked) -> str:
    """The compute capability of the card that a text names, also as people write it."""
    if case.gpu:
        return case.gpu
    for found in _CARDS.findall(case.text):
        name = re.sub(r"^(?:geforce |nvidia )", "", found, flags=re.IGNORECASE)
        name = "GTX TITAN" if re.search("titan", name, re.IGNORECASE) and "gtx" in name.lower() else name
        row = next((row for one in (found, f"GeForce {name}", f"Tesla {name}", f"Quadro {name}") if (row := by_name(one))), None)  # fmt: skip
        if row and row.capability:
            return row.capability
    named = _ARCH.search(case.text)
    return {"kepler": "3.5", "fermi": "2.0"}[named[1].lower()] if named else ""


def _there(case: Asked, branch: int) -> bool:
    """Whether the card's last branch, or a later one, is what the text has installed."""
    told = numbers(case.driver)
    return bool(told and told[0] >= branch) or bool(re.search(rf"\b{branch}\.\d{{2,3}}\b", case.text))


def is_retired(case: Asked) -> bool:
    """Whether the card is one that no driver of today drives."""
    capability = capability_told(case)
    return bool(capability) and (archs.last_driver_branch(capability) or "") in _SPEAKS


def last_driver(case: Asked) -> Iterator[Fix]:
    """The last branch that drives the card, the CUDA that it speaks, and the build of the framework for that."""
    capability = capability_told(case)
    branch = archs.last_driver_branch(capability) if capability else None
    speaks = _SPEAKS.get(branch or "")
    if not branch or not speaks:
        return
    row = archs.of(capability)
    which = f"{row.name} cards ({capability})" if row else f"cards of compute capability {capability}"
    number = numbers(branch.removeprefix("R"))[0]
    command = "" if case.windows else on.driver(f"sudo apt install nvidia-driver-{number}")
    named = f"{_ON_WINDOWS[branch]}, of NVIDIA's archive for this very card" if case.windows else f"branch {number}"
    if not _there(case, number):
        yield tried(f"No newer driver than {named}, drives {which}: install that one, then restart; it speaks CUDA {speaks}", command, safe=False, root=not case.windows)  # fmt: skip
    found = pin(case, speaks=speaks, gpu=capability) if case.framework == "torch" else None
    if "container" in case.tools:
        yield tried(f"And take a tag of the image for CUDA {speaks} or older: no driver that speaks a newer one drives this card", f"docker run --rm --gpus all nvidia/cuda:{_TAGS.get(branch, speaks)}-base-ubuntu20.04 nvidia-smi")  # fmt: skip
    elif found:
        yield found.fix(f"which has code for it and runs on that driver, of CUDA {speaks}")
    elif case.framework and case.programs == ():
        yield tried(f"And take a build of {case.title} for CUDA {speaks} or older that has code for it: list them", f"gpuwhy releases {case.framework} --works-with gpu=sm_{capability.replace('.', '')}")  # fmt: skip
    else:
        yield tried(f"Take an older release of the program, built with CUDA {speaks} or older (its release notes name it), or build it so for {capability}: nothing newer runs on that driver; else use a newer card", f"cmake -B build -DCMAKE_CUDA_ARCHITECTURES={capability.replace('.', '')}")  # fmt: skip
