"""The gate: every command that we print passes here and leaves in the words of the place it will be typed at.

A remedy for another system is left out. Where no remedy has words there, the sentences that have a sense there stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import msgspec

from gpuwhy.knowledge.distributions import NIXOS_DRIVER
from gpuwhy.model.cause import Fix
from gpuwhy.model.report import Open, Shown
from gpuwhy.model.symptom import Question
from gpuwhy.shell.place import Place
from gpuwhy.shell.render import DOS, UNIX, rendered

_LABEL = re.compile(r"(Windows|Linux|WSL|macOS)(?: \d+)?(?:, [^:]{1,40})?: ")
_SYSTEMS = {"windows": "Windows", "linux": "Linux", "wsl": "WSL", "macos": "macOS"}
_DRIVER = re.compile(r"ubuntu-drivers|modprobe nvidia|dkms|nvidia-driver|akmod|mokutil|libnvidia-compute|libcuda1")
NO_GPU = Fix(
    "This machine has no NVIDIA GPU: let the program use the CPU, or run it on a machine that has one", safe=True
)


def placed(causes: Iterable[Shown], place: Place) -> tuple[Shown, ...]:
    """The causes, their fixes as they can be carried out at a place."""
    return tuple(msgspec.structs.replace(one, fixes=_fixes(one, place)) for one in causes)


def asked_at(question: Question | None, place: Place) -> Question | None:
    """A question whose command can be typed at a place; None where it cannot."""
    if question is None:
        return None
    if place.system == "windows" and question.windows:
        return msgspec.structs.replace(question, command=question.windows)
    command = rendered(question.command, place)
    return msgspec.structs.replace(question, command=command) if command is not None else None


def still_open(rows: Iterable[Open], place: Place, questions: Iterable[Question]) -> tuple[Open, ...]:
    """What would decide, as it can be typed at a place."""
    here = {one.command: asked_at(one, place) for one in questions}
    out = []
    for row in rows:
        asked = here.get(row.how)
        how = (asked.command if asked else "") if row.how in here else row.how
        out.append(msgspec.structs.replace(row, how=how))
    return tuple(out)


_ALIASED = re.compile(r"(\"?)((?:[A-Za-z]:)?[\\/](?:home|[Uu]sers)[\\/]user-[0-9a-f]{4}[^\s\"']*)")


def with_names(fix: Fix, real: Callable[[str], str]) -> Fix:
    """A fix whose commands name folders as they are, not by the alias that a shared report has."""

    def put(found: re.Match[str]) -> str:
        slash = "\\" if "\\" in found[2] else "/"
        path = real(found[2].replace("\\", "/")).replace("/", slash)
        return f"{found[1]}{path}" if found[1] or " " not in path else f'"{path}"'

    command, check = (_ALIASED.sub(put, text) for text in (fix.command, fix.check))
    return msgspec.structs.replace(fix, command=command, check=check)


def _fixes(cause: Shown, place: Place) -> tuple[Fix, ...]:
    if place.no_gpu and cause.id.startswith("driver.") and any(_DRIVER.search(fix.command) for fix in cause.fixes):
        return (NO_GPU,)
    return fitting(cause.fixes, place)


def fitting(fixes: Sequence[Fix], place: Place) -> tuple[Fix, ...]:
    """The fixes that a place has words for, its own first; the plain sentences of the others where none has."""
    kept = [one for fix in fixes if (one := at(fix, place))]
    if kept or not fixes:
        return tuple(sorted(kept, key=lambda fix: not _is_own(fix, place)))
    said = [
        msgspec.structs.replace(fix, command="", check="gpuwhy check", undo="")
        for fix in fixes
        if _speaks(fix.text, place)
    ]
    return tuple(said[:2])


def at(fix: Fix, place: Place) -> Fix | None:
    """One fix at a place; None where it is for another system, or where its command has no words there."""
    label = _LABEL.match(fix.text)
    if label and place.system and label[1] != _SYSTEMS.get(place.system) and not _covers(label[1], place):
        return None
    if not _speaks(fix.text, place):
        return None
    command, check, undo = (rendered(one, place) for one in (fix.command, fix.check, fix.undo))
    if command is None:
        return _elsewhere(fix, place)
    if check is None or undo is None:
        check, undo = check or "gpuwhy check", undo or ""
    text = fix.text[label.end() :] if label and place.system else fix.text
    return msgspec.structs.replace(fix, text=text[:1].upper() + text[1:], command=command, check=check, undo=undo)


def _covers(label: str, place: Place) -> bool:
    """Whether a label's system is the ground of a place: WSL and images are Linux too."""
    return label == "Linux" and place.system in ("wsl", "image")


def _is_own(fix: Fix, place: Place) -> bool:
    return place.system != "windows" or fix.role == "part" or bool(re.search(r"Windows|\bWSL\b|[A-Z]:\\", fix.text))


def _speaks(text: str, place: Place) -> bool:
    """Whether a sentence has a sense at a place."""
    if place.system == "windows":
        return not UNIX.search(text)
    return not (place.unix and DOS.search(text))


def _elsewhere(fix: Fix, place: Place) -> Fix | None:
    """A Linux family that has no such command: NixOS has a file for drivers, others a package of another name."""
    if not place.family or place.system not in ("linux", "wsl"):
        return None
    if place.family == "nixos" and "ubuntu-drivers" in fix.command:
        return msgspec.structs.replace(fix, text=f"{fix.text}: {NIXOS_DRIVER}", command="")
    packages = ", ".join(re.findall(r"install(?: --[\w-]+)* ([^&#\n]+)", fix.command)).strip()
    if not packages:
        return None
    return msgspec.structs.replace(
        fix, text=f"{fix.text} (Ubuntu calls it {packages}: look for its name here)", command=""
    )
