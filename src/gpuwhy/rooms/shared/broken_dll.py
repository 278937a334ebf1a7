"""Broken DLLs: what to do on Windows about a file that is no good, or was taken away."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from gpuwhy.knowledge.libraries import is_cudnn
from gpuwhy.model import on
from gpuwhy.model.cause import Case, Fix
from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import Framework, LibraryCopy, NeededLibrary
from gpuwhy.model.version import at_least
from gpuwhy.rooms.shared.needs import base_name
from gpuwhy.rooms.shared.windows import on_windows, path_first, shown, toolkit


def replaced(case: Case, stopping: Sequence[NeededLibrary]) -> list[Fix]:
    """A DLL that no package owns: which file to delete, and the archive that brings the right one."""
    need = next(iter(stopping), None)
    if need is None:
        return []
    copies = value_or(case.facts.libraries.copies, ())
    bad = next((copy for copy in reversed(copies) if copy.path == need.refused), None)
    why = value_or(bad.health, "no library for this Python") if bad else "no library for this Python"
    away = Fix(f"Delete {shown(need.refused)}, which is {why}", on.cmd(f'del "{shown(need.refused)}"'), role="part")
    whole = _whole_copy(need, copies)
    if whole:
        return [away, path_first("Then put the whole copy's folder on PATH", (whole.path.rpartition("/")[0],))]
    return [away, *_archive(case, need)]


def _whole_copy(need: NeededLibrary, copies: Sequence[LibraryCopy]) -> LibraryCopy | None:
    """Another copy of the same name in which nothing is wrong."""
    others = (copy for copy in copies if copy.path != need.refused and not copy.fault)
    return next((copy for copy in others if copy.name.lower() == need.name.lower()), None)


def _archive(case: Case, need: NeededLibrary) -> list[Fix]:
    framework = next((one for one in value_or(case.facts.target.frameworks, ()) if one.name == need.framework), None)
    cudnn = is_cudnn(need.name)
    if framework is None:
        return []
    if release := _of_the_others(case, need) if cudnn else "":
        return [_same_release(framework, need, release)]
    return [replace(fix, role="part") for fix in toolkit(case.facts, framework, not cudnn, cudnn)[:1]]


def _of_the_others(case: Case, need: NeededLibrary) -> str:
    """The release of the cuDNN that lies whole beside the broken file; its parts go together with no other."""
    folder = need.refused.rpartition("/")[0].lower()
    copies = (one for one in value_or(case.facts.libraries.copies, ()) if is_cudnn(one.name) and not one.fault)
    beside = (one for one in copies if one.path.rpartition("/")[0].lower() == folder)
    return next((version for one in beside if (version := value_or(one.version, ""))), "")


def _same_release(framework: Framework, need: NeededLibrary, release: str) -> Fix:
    """The same release again, from its archive: another one's file among these is refused or crashes."""
    cuda = value_or(framework.built_for_cuda, "").split(".")[0]
    archive = f"cudnn-windows-x86_64-{release}.*_cuda{cuda}-archive.zip" if at_least(release, "8.3") else "its archive"
    folder, name = shown(need.refused.rpartition("/")[0]), base_name(need.refused)
    text = (
        f"Then copy {name} of cuDNN {release}, the release of the files beside it, into {folder} ({archive}, from "
        f"NVIDIA's archive); or replace every cudnn*.dll there by those of one other release"
    )
    return Fix(text, role="part")


def quarantined(case: Case) -> list[Fix]:
    """On Windows, files that were installed and are gone have mostly been taken away by a virus scanner."""
    gone = [one for one in value_or(case.facts.target.damage, ()) if one.what == "missing"]
    if not gone or not on_windows(case.facts):
        return []
    text = (
        f"Look whether the virus scanner took {base_name(gone[0].path)} away (Windows Security, Protection history): "
    )
    return [Fix(f"{text}restore it and allow it, or it goes again", role="part")]
