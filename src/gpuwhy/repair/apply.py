"""Apply: the steps carried out, in a copy of the environment or in the environment itself."""

from __future__ import annotations

import os
import shlex
import shutil
import time
from collections.abc import Mapping, Sequence
from itertools import count

import msgspec

from gpuwhy.model.repair import Action, name_of
from gpuwhy.repair import hook
from gpuwhy.repair.child import FailedError, interruptible, undisturbed
from gpuwhy.repair.installer import Installer
from gpuwhy.repair.patient import Patient, RefusedError
from gpuwhy.repair.pins import backend, pins, size

UNFINISHED = "gpuwhy-unfinished"
"""A file that marks a copy as half-made, until it is whole."""

ROOM = 200 << 20
"""Bytes that a copy leaves free, whatever the installer can link instead of copying."""


class Made(msgspec.Struct, frozen=True):
    """What an apply left: the environment to look at again, and how to take everything back."""

    environment: str
    python: str
    undo: tuple[str, ...]
    use: tuple[str, ...]
    path: Mapping[str, str]  # variables as they are once the environment is activated


class BrokenError(Exception):
    """It failed half-way; `undo` says how to come back to the state before."""

    def __init__(self, text: str, undo: tuple[str, ...] = (), interrupted: bool = False) -> None:
        super().__init__(text)
        self.undo = undo
        self.interrupted = interrupted


def free_name(prefix: str, into: str = "") -> str:
    """Where the copy goes: beside the environment, never onto something that is there."""
    if into:
        if os.path.lexists(into):
            raise RefusedError(f"--into {into}: it is there already, and nothing is ever overwritten")
        names = [os.path.abspath(into)]
    else:
        names = [f"{prefix}-gpuwhy{n}" for n in ("", *(f"-{n}" for n in range(2, 100)))]
    found = next((name for name in names if not os.path.lexists(name)), "")
    folder = os.path.dirname(found or prefix)
    if not found or not os.access(folder, os.W_OK):
        raise RefusedError(
            f"no copy can be made in {folder}: this user cannot write there; --into names another folder"
        )
    return found


def half_made(prefix: str) -> str:
    """A copy that an earlier apply was not allowed to finish or to remove; "" where there is none."""
    names = [f"{prefix}-gpuwhy", *(f"{prefix}-gpuwhy-{n}" for n in range(2, 10))]
    return next((name for name in names if os.path.exists(f"{name}/{UNFINISHED}")), "")


def into_copy(patient: Patient, actions: Sequence[Action], installer: Installer, folder: str) -> Made:
    """A new environment with the same Python and the same releases, then the change; gone again if that fails."""
    _enough_room(patient, folder, installer)
    try:
        with interruptible():
            return _copied(patient, actions, installer, folder)
    except BaseException as error:
        with undisturbed():
            gone = _remove(folder)
        if not isinstance(error, (FailedError, OSError, KeyboardInterrupt)):
            raise
        state = "was removed again" if gone else "could not be removed: delete it yourself"
        text = f"{_said(error)}. {patient.prefix} is as it was; the half-made {folder} {state}"
        raise BrokenError(text, interrupted=isinstance(error, KeyboardInterrupt)) from error


def _said(error: BaseException) -> str:
    return "interrupted" if isinstance(error, KeyboardInterrupt) else str(error)


def _copied(patient: Patient, actions: Sequence[Action], installer: Installer, folder: str) -> Made:
    installer.venv(patient.python, folder, patient.system_site)
    marker = f"{folder}/{UNFINISHED}"
    with open(marker, "w", encoding="utf-8") as file:
        file.write("gpuwhy fix --apply is making this environment; without such a process it can be deleted\n")
    replaced = {name for action in actions for name in _replaced(action)}
    kept = pins(patient, replaced, public="torch" in replaced)
    python = f"{folder}/bin/python"
    if kept:
        installer.freeze(python, kept, backend(kept.values()))
    for action in actions:
        installer.carry_out(python, action, ())
    folders = [_moved(one, patient.prefix, folder) for action in actions for one in action.folders]
    if folders:
        hook.write(folder, "venv", folders)
    os.unlink(marker)
    use = (f"source {shlex.quote(folder)}/bin/activate", *_without_activation(folders))
    return Made(folder, python, (f"rm -r {shlex.quote(folder)}",), use, _path(folders))


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


def _remove(folder: str) -> bool:
    if os.path.islink(folder) or not os.path.lexists(folder):
        return not os.path.lexists(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return not os.path.lexists(folder)


def in_place(patient: Patient, actions: Sequence[Action], installer: Installer) -> Made:
    """The environment itself, once everything to install was found to exist, and after a list for the way back."""
    present = {one.name for one in patient.distributions}
    folders = [one for action in actions for one in action.folders]
    try:
        for action in actions:
            installer.rehearse(patient.python, action)
    except FailedError as error:
        raise BrokenError(f"{error}. That was a rehearsal: {patient.prefix} is as it was") from error
    list_ = _written(patient)
    undo = [_undo(installer, patient, list_)]
    try:
        with interruptible():
            for action in actions:
                installer.carry_out(patient.python, action, present)
            if folders:
                undo.append(hook.undo(hook.write(patient.prefix, patient.kind, folders)))
    except (FailedError, OSError, KeyboardInterrupt) as error:
        interrupted = isinstance(error, KeyboardInterrupt)
        text = f"{_said(error)}. {patient.prefix} may be half-changed"
        raise BrokenError(text, tuple(undo), interrupted) from error
    return Made(patient.prefix, patient.python, tuple(undo), tuple(_without_activation(folders)), _path(folders))


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
