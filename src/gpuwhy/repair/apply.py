"""Apply: the steps carried out, in a copy of the environment or in the environment itself."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
import time
from collections.abc import Collection, Mapping, Sequence
from itertools import count
from typing import NamedTuple

import msgspec

from gpuwhy.model.repair import Action, name_of
from gpuwhy.repair import hook
from gpuwhy.repair.carry import carry
from gpuwhy.repair.child import FailedError, interruptible, undisturbed
from gpuwhy.repair.claim import Claim, claim, half_made
from gpuwhy.repair.installer import Installer, is_reference
from gpuwhy.repair.outrun import outrun
from gpuwhy.repair.patient import Patient, RefusedError
from gpuwhy.repair.pins import backend, pins, size

Names = Collection[str]

ROOM = 200 << 20
"""Bytes that a copy leaves free, whatever the installer can link instead of copying."""


class Made(msgspec.Struct, frozen=True):
    """What an apply left: the environment to look at again, and how to take everything back."""

    environment: str
    python: str
    undo: tuple[str, ...]
    use: tuple[str, ...]
    path: Mapping[str, str]  # variables as they are once the environment is activated
    claim: Claim | None = None  # of a copy: finished once it is verified, given up otherwise
    before: Mapping[str, str] = {}  # in place: what was installed, as requirements


class BrokenError(Exception):
    """It failed half-way; `undo` says how to come back to the state before."""

    def __init__(
        self, text: str, undo: tuple[str, ...] = (), interrupted: bool = False, untouched: bool = False
    ) -> None:
        super().__init__(text)
        self.undo = undo
        self.interrupted = interrupted
        self.untouched = untouched  # it failed in the rehearsal


def free_name(prefix: str, into: str = "") -> str:
    """Where the copy will probably go: beside the environment, never onto something that is there."""
    if into:
        if os.path.lexists(into):
            raise RefusedError(f"--into {into}: it is there already, and nothing is ever overwritten")
        names = [os.path.abspath(into)]
    else:
        left = set(half_made(prefix))
        names = [f"{prefix}-gpuwhy{n}" for n in ("", *(f"-{n}" for n in range(2, 100)))]
        names = [name for name in names if name in left or not os.path.lexists(name)]
    folder = os.path.dirname(names[0] if names else prefix)
    if not names or not os.access(folder, os.W_OK):
        raise RefusedError(
            f"no copy can be made in {folder}: this user cannot write there; --into names another folder"
        )
    return names[0]


def into_copy(patient: Patient, actions: Sequence[Action], installer: Installer, into: str, gpu: Names = ()) -> Made:
    """A new environment with the same Python and the same releases, then the change; gone again if that fails.

    It stays marked as unfinished until `Made.claim` is finished; `gpu` are packages that the plan has settled.
    """
    mine = claim(patient.prefix, into)
    try:
        with interruptible():
            _enough_room(patient, mine.folder, installer)
            return _copied(patient, actions, installer, mine, gpu)
    except BaseException as error:
        with undisturbed():
            gone = mine.give_up()
        if not isinstance(error, (FailedError, OSError, KeyboardInterrupt)):
            raise
        state = "was removed again" if gone else "could not be removed: delete it yourself"
        text = f"{_said(error)}. {patient.prefix} is as it was; the half-made {mine.folder} {state}"
        raise BrokenError(text, interrupted=isinstance(error, KeyboardInterrupt)) from error


def _said(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "the disk is full: make room, or choose another folder with --into"
    return str(error)


def _copied(patient: Patient, actions: Sequence[Action], installer: Installer, mine: Claim, gpu: Names) -> Made:
    folder, python = mine.folder, f"{mine.folder}/bin/python"
    installer.venv(patient.python, folder, patient.system_site)
    replaced = {name for action in actions for name in _replaced(action)}
    kept = pins(patient, replaced, public="torch" in replaced)
    moving, again = _parted(actions)
    exact = _locked(patient, moving, again, kept, installer, folder, gpu)
    rest = {**exact, **{name: text for name, text in kept.items() if name not in exact}}
    for name in outrun(patient, exact, kept):
        del rest[name]
    _frozen(patient, rest, installer, folder, backend([*rest.values(), *_labels(actions if exact else ())]))
    for action in again if exact else actions:
        installer.carry_out(python, action, (), beside=kept)
    folders = [_moved(one, patient.prefix, folder) for action in actions for one in action.folders]
    if folders:
        hook.write(folder, "venv", folders)
    use = (f"source {shlex.quote(folder)}/bin/activate", *_without_activation(folders))
    return Made(folder, python, (f"rm -r {shlex.quote(folder)}",), use, _path(folders), mine)


def _parted(actions: Sequence[Action]) -> tuple[list[Action], list[Action]]:
    """What changes releases, and what writes the files of a release anew."""
    return [one for one in actions if not one.again], [one for one in actions if one.again]


def _frozen(patient: Patient, wanted: Mapping[str, str], installer: Installer, folder: str, label: str) -> None:
    """Exactly these; what no index has goes over as files."""
    left = dict(wanted)
    while left:
        try:
            return installer.freeze(f"{folder}/bin/python", left, folder, label)
        except FailedError as error:
            if error.kind == "network" and label:  # PyTorch's own index, which alone has the labelled builds
                label = ""
                left = _without_labelled(patient, left, installer, folder)
                continue
            name = name_of(error.which)
            here = [one for one in patient.distributions if one.name == name and name in left]
            if error.kind != "lacks" or not here or left[name] != f"{name}=={here[0].version}":
                raise
            installer.say(f"{name} {here[0].version} is not to be had as a wheel: its files are copied")
            carry(here[0], patient.prefix, folder)
            del left[name]
    return None


def _without_labelled(patient: Patient, wanted: Mapping[str, str], installer: Installer, folder: str) -> dict[str, str]:
    """What is left once the builds that only an index out of reach has went over as files."""
    here = {f"{one.name}=={one.version}": one for one in patient.distributions if "+" in one.version}
    carried = [one for text in wanted.values() if (one := here.get(text))]
    for one in carried:
        installer.say(f"PyTorch's index cannot be reached: the files of {one.name} {one.version} are copied")
        carry(one, patient.prefix, folder)
    return {name: text for name, text in wanted.items() if text not in here}


def _labels(actions: Sequence[Action]) -> list[str]:
    return [f"torch==0+{action.backend}" for action in actions if action.backend]


def _locked(
    patient: Patient,
    moving: Sequence[Action],
    again: Sequence[Action],
    kept: Mapping[str, str],
    installer: Installer,
    folder: str,
    gpu: Names,
) -> dict[str, str]:
    """One release of every package, so that all metadata holds: what is installed stays where it can.

    Empty where the installer cannot tell, or nothing but files is written anew.
    """
    wanted = [text for action in moving for text in action.install]
    installer.dated = _dated(moving)
    if not wanted or not installer.uv:
        return {}
    label = backend([*kept.values(), *_labels(moving)])
    same = {name: text for action in again for text in action.install if (name := name_of(text))}
    loose = {name: text if name in gpu or is_reference(text) else name for name, text in kept.items()}
    for rest in (dict(kept), loose):
        found = _asked(installer, patient.python, [*wanted, *same.values()], rest, kept, folder, label)
        if found:
            return {name: text for name, text in found.items() if name not in same}
    return {}


def _dated(moving: Sequence[Action]) -> dict[str, str]:
    """The packages that have to be published by a day."""
    return {name_of(text): one.until for one in moving if one.until for text in one.install}


def _asked(
    installer: Installer,
    python: str,
    wanted: Sequence[str],
    rest: dict[str, str],
    kept: Mapping[str, str],
    folder: str,
    label: str,
) -> dict[str, str]:
    """The lock; what the index does not have, or an index that cannot be reached, stays as it is and takes no part.

    Empty where a release that stays asks for one that the index has no wheel of: nothing can be locked then.
    """
    asked, aside = {name_of(text) for text in wanted}, list[str]()
    while True:
        try:
            return installer.lock(python, [*wanted, *rest.values()], kept, folder, label, aside)
        except FailedError as error:
            if error.kind == "network" and label and "+" not in "".join(wanted):
                aside = _labelled(kept, asked)
                label, rest = "", {name: text for name, text in rest.items() if name not in aside}
                continue
            name = name_of(error.which)
            if error.kind != "lacks" or name in asked:
                raise
            if rest.pop(name, None) is None:
                if name in kept:
                    return {}
                raise


def _labelled(kept: Mapping[str, str], asked: Names) -> list[str]:
    """The builds that stay and that only PyTorch's own index has."""
    return [name for name, text in kept.items() if "+" in text.partition("==")[2] and name not in asked]


def _replaced(action: Action) -> tuple[str, ...]:
    return (*action.uninstall, *(name_of(text) for text in action.install))


def _moved(path: str, old: str, new: str) -> str:
    return new + path[len(old) :] if path == old or path.startswith(old + "/") else path


def _enough_room(patient: Patient, folder: str, installer: Installer) -> None:
    """uv links what it has; pip always copies."""
    free, wanted = shutil.disk_usage(os.path.dirname(folder)).free, size(patient.distributions)
    least = ROOM if installer.uv else wanted + ROOM
    if free < least:
        raise RefusedError(
            f"{os.path.dirname(folder)} has {free >> 20} MiB left, and a copy takes {wanted >> 20} MiB: make room, "
            "choose another folder with --into, or change the environment itself with --in-place"
        )


def in_place(
    patient: Patient, actions: Sequence[Action], installer: Installer, gpu: Names = (), way_back: bool = True
) -> Made:
    """The environment itself, once everything to install was found to exist, and after a list for the way back."""
    _room_to_write(patient, actions)
    folders = [one for action in actions for one in action.folders]
    work = _rehearsed(patient, actions, installer, gpu)
    undo = [_undo(installer, patient, _written(patient))] if way_back else []
    present = {one.name for one in patient.distributions}
    try:
        with interruptible():
            for action in work.actions:
                installer.carry_out(patient.python, action, present, exactly=action is work.whole, beside=work.beside)
            if folders:
                undo.append(hook.undo(hook.write(patient.prefix, patient.kind, folders)))
    except (FailedError, OSError, KeyboardInterrupt) as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        text = f"{_said(error)}. {patient.prefix} may be half-changed"
        raise BrokenError(text, tuple(undo), interrupted) from error
    use = tuple(_without_activation(folders))
    return Made(patient.prefix, patient.python, tuple(undo), use, _path(folders), before=pins(patient))


class _Rehearsed(NamedTuple):
    """What is to be carried out in place, found to exist: all that moves as one where the installer told how."""

    actions: Sequence[Action]
    whole: Action | None
    beside: Mapping[str, str]  # what the installer may not move


def _rehearsed(patient: Patient, actions: Sequence[Action], installer: Installer, gpu: Names) -> _Rehearsed:
    moving, again = _parted(actions)
    gone = {name for action in actions for name in action.uninstall}
    replaced = {name for action in moving for name in _replaced(action)}
    kept = pins(patient, {*replaced, *gone}, public="torch" in replaced)
    try:
        exact = _locked(patient, moving, (), kept, installer, patient.prefix, gpu)
        for action in again if exact else actions:
            installer.rehearse(patient.python, action)
    except (FailedError, OSError) as error:
        text = f"{_said(error)}. That was a rehearsal: {patient.prefix} is as it was"
        raise BrokenError(text, untouched=True) from error
    if not exact:
        return _Rehearsed(actions, None, kept)
    changed = [text for name, text in exact.items() if kept.get(name) != text and not is_reference(text)]
    gone |= set(outrun(patient, exact, kept))
    changed = [text for text in changed if name_of(text) not in gone - replaced]
    whole = Action(tuple(changed), tuple(gone), backend=backend([*exact.values(), *_labels(moving)]))
    return _Rehearsed((whole, *again), whole, {})


def _room_to_write(patient: Patient, actions: Sequence[Action]) -> None:
    """Files are removed before they are written anew: on a full disk that would be the end of them."""
    names = {name for action in actions for name in _replaced(action)}
    wanted = size(one for one in patient.distributions if one.name in names)
    free = shutil.disk_usage(patient.prefix).free
    if wanted and free < wanted + ROOM:
        raise BrokenError(
            f"{patient.prefix} has {free >> 20} MiB left, and {wanted >> 20} MiB are removed and written anew: make "
            "room first, or choose another folder for a copy with --into. Nothing was changed",
            untouched=True,
        )


def take_back(patient: Patient, made: Made, installer: Installer, new: Sequence[str]) -> None:
    """The state before a change in place: what came goes, and every release of before is there again."""
    with undisturbed():
        installer.carry_out(made.python, Action(uninstall=tuple(new)), new)
        installer.freeze(made.python, made.before, patient.prefix, backend(made.before.values()))


def _written(patient: Patient) -> str:
    """The list of what is installed, kept in the environment."""
    stem = f"{patient.prefix}/gpuwhy-before-{time.strftime('%Y%m%d-%H%M%S')}"
    path = next(name for n in count(1) if not os.path.lexists(name := f"{stem}{f'-{n}' if n > 1 else ''}.txt"))
    with open(path, "x", encoding="utf-8") as file:
        file.write("# what was installed before gpuwhy fix --apply --in-place\n")
        file.writelines(f"{text}\n" for text in pins(patient).values())
    return path


def _undo(installer: Installer, patient: Patient, list_: str) -> str:
    python, file = shlex.quote(patient.python), shlex.quote(list_)
    if installer.uv:
        label = backend(pins(patient).values())
        more = f" --torch-backend={label}" if label else ""
        return f"uv pip sync --python {python}{more} {file}"
    return f"{python} -m pip install --no-deps --force-reinstall -r {file}"


def _without_activation(folders: Sequence[str]) -> list[str]:
    return [f"{hook.export(folders)}    # where the environment is not activated"] if folders else []


def _path(folders: Sequence[str]) -> dict[str, str]:
    return {"LD_LIBRARY_PATH": ":".join(folders)} if folders else {}
