"""Begin: what a repair needs once nothing speaks against it, and what is said before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Known
from gpuwhy.model.facts import Distribution, Facts
from gpuwhy.model.repair import Action, Step, name_of
from gpuwhy.repair import apply
from gpuwhy.repair.claim import being_changed, half_made
from gpuwhy.repair.patient import Patient, RefusedError, locked_by, patient
from gpuwhy.repair.pins import size


class Call(msgspec.Struct, frozen=True):
    """How the steps are to be carried out."""

    environ: Mapping[str, str]
    in_place: bool = False
    into: str = ""
    seconds: float = 3600.0
    uv: str | None = None  # None: the one on PATH; "": none, pip does it


class Repair(msgspec.Struct, frozen=True):
    """Everything that is needed to begin, once nothing speaks against it."""

    patient: Patient
    steps: tuple[Step, ...]
    folder: str  # the new environment as it will probably be called, or the target itself
    folder_named: str = ""  # --into
    gpu: frozenset[str] = frozenset()  # packages that the plan has settled: the installer moves none of them


def begun(host: Host, facts: Facts, steps: Sequence[Step], call: Call, is_placed: Callable[[str], bool]) -> Repair:
    """The repair that some steps make; raises RefusedError where something speaks against it."""
    anew = any(step.action and step.action.anew for step in steps)
    target = patient(host, facts, call.in_place, anew)
    if anew and not target.distributions:
        raise RefusedError(
            f"no package of {target.prefix} can be seen, so an environment made again would be empty: bring its folder "
            "of packages back, or install what your project lists"
        )
    folder = target.prefix if call.in_place else apply.free_name(target.prefix, call.into)
    if being_changed(target.prefix):
        raise RefusedError(f"another gpuwhy fix is changing {target.prefix} at this moment: wait until it has ended")
    return Repair(target, tuple(steps), folder, call.into, settled(target, is_placed))


def settled(one: Patient, is_placed: Callable[[str], bool]) -> frozenset[str]:
    """The installed packages that the plan places."""
    return frozenset(d.name for d in one.distributions if is_placed(d.name))


def notes(host: Host, prefix: str) -> list[str]:
    """What to know of an environment before it is changed."""
    lock, left = locked_by(host.path(prefix)), half_made(host.path(prefix))
    out = [f"{host.hide(lock)} brings the old releases back at its next sync: change them there too"] if lock else []
    for half in left[:1]:
        out.append(f"{host.hide(half)} is a half-made copy that an earlier call left: the next --apply removes it")
    return out


def with_size(step: Step, host: Host, facts: Facts) -> Step:
    """A step with what it downloads, as far as that is known: the size of a release that is installed already."""
    action, installed = step.action, facts.target.distributions
    if action is None or not action.install:
        return step
    if not action.again or not isinstance(installed, Known):
        return replace(step, downloads="what the installer does not have yet; how much is not known beforehand")
    return replace(step, downloads=_downloads(action, host, installed.value))


def _downloads(action: Action, host: Host, installed: Sequence[Distribution]) -> str:
    names = {name_of(text) for text in action.install}
    total = size([replace(one, location=host.path(one.location)) for one in installed if one.name in names])
    told = ", ".join(action.install)
    return f"{told}: {total / 1e6:,.0f} MB unpacked" if total else told


def real(step: Step, host: Host) -> Action:
    """What a step changes, with folders as the machine names them."""
    assert step.action is not None
    return replace(step.action, folders=tuple(host.path(folder) for folder in step.action.folders))


def led_along(environ: Mapping[str, str], old: str, new: str) -> dict[str, str]:
    """The variables with the copy's folders for the loader in place of the old ones, as its user must set them."""
    named = [_moved(one, old, new) for one in environ.get("LD_LIBRARY_PATH", "").split(":")]
    return {**environ, **({"LD_LIBRARY_PATH": ":".join(named)} if any(named) else {})}


def _moved(folder: str, old: str, new: str) -> str:
    return new + folder[len(old) :] if folder == old or folder.startswith(f"{old}/") else folder


def front(environ: Mapping[str, str], path: Mapping[str, str]) -> dict[str, str]:
    """The variables of an activated environment: its folders before what is there."""
    return {name: ":".join(filter(None, (value, environ.get(name, "")))) for name, value in path.items()}
