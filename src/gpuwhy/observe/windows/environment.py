"""Variables on Windows: PATH entry by entry, and the folders that CUDA_PATH and its kin name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise

import msgspec

from gpuwhy.knowledge.variables import FOREIGN
from gpuwhy.model.fact import Absent, Fact, Known, value_or
from gpuwhy.model.facts import Variable
from gpuwhy.model.version import numbers
from gpuwhy.observe.environment import CHECKS, Problems, hides_every_gpu, installed_releases, variable
from gpuwhy.observe.scene import Scene
from gpuwhy.observe.windows.paths import environ, expanded, is_whole, tidy
from gpuwhy.observe.windows.toolkits import NAMED, nvcc_of, version_of

_CUDA = re.compile(r"cuda|cudnn|nvidia|tensorrt", re.IGNORECASE)
_UNREPLACED = re.compile(r"%[^%;]+%|\$env:\w+|\$\{?\w+", re.IGNORECASE)
_PLACES = ("SYSTEMROOT", "PROGRAMFILES", "PROGRAMDATA", "LOCALAPPDATA")  # read to find others, steer nothing
_CUDNN = ("CUDNN_PATH", "CUDNN_HOME", "CUDNN_ROOT")
_CHECKED_ELSEWHERE = re.compile(r"(LD_|CUDA_|CUDNN_)")
EDITOR, PROMPT, LONGEST = 2047, 8191, 32767
"""Characters that the old dialog for variables and `setx` keep at most, that a command line of cmd.exe may have, and
that a variable may have at all."""
_SET_BY = ("HKCU/Environment", "HKLM/SYSTEM/CurrentControlSet/Control/Session Manager/Environment")
"""Where Windows keeps the variables of a user and those of all; the user's own is the one that programs get."""
_APP_PATHS = "HKLM/SOFTWARE/Microsoft/Windows/CurrentVersion/App Paths/python.exe"


def variables(scene: Scene) -> Fact[tuple[Variable, ...]]:
    """Every variable that may be read, PATH only where something in it matters."""
    seen = scene.host.environ()
    if not isinstance(seen, Known):
        return seen
    installed = installed_releases(scene)
    out = []
    for name, value in environ(scene.host).items():
        if name == "PATH":
            out += _path(scene, value)
        elif name not in _PLACES and not name.startswith(FOREIGN):
            found = variable(scene, name, value, installed, _checks(name))
            notes = tuple(note.replace("TensorFlow on Linux", "TensorFlow on Windows") for note in found.notes)
            found = msgspec.structs.replace(found, notes=notes, gone=_gone(scene, name, value))
            out.append(_of_registry(scene, found))
    return Known(tuple(out), seen.source)


def _of_registry(scene: Scene, one: Variable) -> Variable:
    """A variable that hides every GPU, with the key of the registry that hands it to every program."""
    wrong = hides_every_gpu(one.name, one.value)
    for key in _SET_BY if wrong else ():
        found = scene.host.registry(key)
        values = {name.upper(): text for name, text in found.value.values.items()} if isinstance(found, Known) else {}
        if values.get(one.name) == one.value:
            return msgspec.structs.replace(one, faults=one.faults or wrong, set_in=key)
    return one


def _checks(name: str) -> dict[str, Callable[[Scene, str], Problems]]:
    if NAMED.match(name):
        return {name: _toolkit}
    if name in _CUDNN:
        return {name: _folder}
    return {} if _CHECKED_ELSEWHERE.match(name) else CHECKS


def _gone(scene: Scene, name: str, value: str) -> bool:
    """Whether a variable that must name one folder names one that is not there."""
    if not NAMED.match(name) and name not in _CUDNN:
        return False
    one = is_whole(tidy(value)) and '"' not in value and ";" not in value.rstrip("; ")
    return one and isinstance(scene.host.stat(tidy(value)), Absent)


def _folder(scene: Scene, value: str) -> Problems:
    """A variable that must name one folder."""
    if not value.strip():
        return ("it is set, but empty",)
    if '"' in value:
        return (f"{value} has quotes in it, which become part of the folder's name",)
    if ";" in value.rstrip("; "):
        return (f"{value} names several folders; it takes one",)
    folder = tidy(value)
    if not is_whole(folder):
        return (f"{value} does not start with a drive",)
    found = scene.host.stat(folder)
    if isinstance(found, Absent):
        return (f"{folder} does not exist",)
    return (f"{folder} is not a folder",) if isinstance(found, Known) and found.value.kind != "folder" else ()


def _toolkit(scene: Scene, value: str) -> Problems:
    """A variable that must name a toolkit's top folder."""
    problems = _folder(scene, value)
    root = tidy(value)
    if not problems and isinstance(nvcc_of(scene.host, root), Absent):
        meant = f"; {root[:-4]} is meant" if root.lower().endswith("/bin") else ""
        return (f"{root} has no bin/nvcc.exe{meant}",)
    return problems


# ---------------------------------------------------------------- PATH


def _path(scene: Scene, value: str) -> list[Variable]:
    """PATH, cut down to its CUDA entries: the others are nobody's business."""
    known = environ(scene.host)
    entries = [entry for entry in value.split(";") if _CUDA.search(entry)]
    folders = list(dict.fromkeys(tidy(expanded(entry, known)) for entry in entries))
    problems = [*(p for e in dict.fromkeys(entries) for p in _entry(scene, e, known)), *_cut(scene, value)]
    problems += [*_length(value), *older_first(scene, folders), *_app_paths(scene, folders)]
    return (
        [Variable("PATH", ";".join(folders)[:4096], "the DLL search", tuple(problems), too_long=len(value) > LONGEST,
                  meant=tuple(_meant(scene, entries, known)))]
        if entries or problems
        else []
    )  # fmt: skip


def _meant(scene: Scene, entries: list[str], known: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The folders that entries mean without leading there, each with the complaint about its entry."""
    for entry in dict.fromkeys(entries):
        folder = tidy(expanded(entry.replace('"', "").strip(), known))
        for wrong in _entry(scene, entry, known):
            yield from ((place, wrong) for place in (folder, f"{folder}/bin", folder.rpartition("/lib")[0] + "/bin"))


def _app_paths(scene: Scene, folders: list[str]) -> list[str]:
    """Folders that only ShellExecute puts on PATH (the Start menu, Explorer, `start`), never a command prompt."""
    key = scene.host.registry(_APP_PATHS)
    added = key.value.values.get("Path", "") if isinstance(key, Known) else ""
    there = {one.casefold() for one in folders}
    own = [tidy(one) for one in added.split(";") if _CUDA.search(one)]
    return [
        f"App Paths adds {one} for a python.exe that is started from the Start menu or Explorer, not from a prompt"
        for one in own
        if one.casefold() not in there
    ]


def _length(value: str) -> list[str]:
    if len(value) > LONGEST:
        lost = [tidy(one) for one in value[LONGEST:].split(";") if _CUDA.search(one)]
        which = f": {', '.join(lost[:3])} is lost" if lost else ""
        return [f"it has {len(value)} characters; no program is handed more than {LONGEST}{which}"]
    if len(value) > PROMPT:
        return [f"it has {len(value)} characters; a command prompt drops what goes beyond {PROMPT}"]
    if len(value) in (1024, EDITOR, EDITOR + 1):
        return [f"it has exactly {len(value)} characters: setx or the dialog for variables seems to have cut it off"]
    return []


def _cut(scene: Scene, value: str) -> list[str]:
    """The last entry, where it is no folder and a folder that is there begins so."""
    last = value.rpartition(";")[2]
    folder = tidy(last)
    parent, _, start = folder.rpartition("/")
    if not is_whole(folder) or not start or '"' in last or not isinstance(scene.host.stat(folder), Absent):
        return []
    longer = value_or(scene.host.list(parent, rf"(?i){re.escape(start)}."), ())
    names = [one.name for one in longer if one.kind != "file"]
    return (
        [f"it ends in {folder}, cut off after {len(value)} characters: {parent}/{names[0]} begins so"] if names else []
    )


def _entry(scene: Scene, entry: str, known: dict[str, str]) -> list[str]:
    """The complaint about an entry of PATH: how it is written, else what it leads to."""
    written = _written(entry, known)
    return [written] if written else list(filter(None, [_leads_to(scene, tidy(entry))]))


def _written(entry: str, known: dict[str, str]) -> str:
    if '"' in entry:
        return f"{entry.strip()} has quotes in it: the DLL search takes them as part of the folder's name"
    unreplaced = _UNREPLACED.search(entry.replace("$USER", ""))
    if unreplaced:
        means = tidy(expanded(entry, known))
        meant = f"; {means} is meant" if means != tidy(entry) else ""
        return f"{entry.strip()} contains {unreplaced.group()} literally, and nothing replaces it{meant}"
    if entry != entry.strip():
        end = "before" if entry[0] == " " else "after"
        return f"{tidy(entry)} has a blank {end} it, which the DLL search takes as part of the folder's name"
    if not is_whole(tidy(entry)):
        return f"{tidy(entry)} does not start with a drive: it means another folder wherever a program is started"
    return ""


def _leads_to(scene: Scene, folder: str) -> str:
    found = scene.host.stat(folder)
    if isinstance(found, Absent):
        return f"{folder} does not exist"
    if isinstance(found, Known) and found.value.kind == "file":
        return f"{folder} is a file; PATH takes its folder, {folder.rpartition('/')[0]}"
    if _TOP.search(folder):
        return f"{folder} is a toolkit's top folder; its DLLs are in {folder}/bin"
    return f"{folder} holds what programs are linked with; the DLLs are in bin" if _LINKED.search(folder) else ""


_TOP = re.compile(r"(?i)/cuda/v?\d[\d.]*$")
_LINKED = re.compile(r"(?i)cud(a|nn).*/lib(/x64)?$")


def older_first(scene: Scene, folders: list[str]) -> list[str]:
    """The complaint that an older toolkit is searched before a newer one."""
    found = [(version_of(scene.host, f[:-4]), f) for f in folders if re.search(r"(?i)cuda.*/bin$", f)]
    versions = [(value_or(version, ""), folder) for version, folder in found if isinstance(version, Known)]
    for (earlier, folder), (later, behind) in pairwise(versions):
        if numbers(earlier) < numbers(later):
            return [f"CUDA {earlier} ({folder}) is searched before CUDA {later} ({behind})"]
    return []
