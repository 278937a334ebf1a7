"""Possible: wishes that can never be met, on any platform, are said before anything is resolved."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec
from packaging.specifiers import SpecifierSet

from gpuwhy.knowledge.floors import BESIDE_THE_INDEX
from gpuwhy.knowledge.guests import guests, is_guest
from gpuwhy.knowledge.pairs import known_versions
from gpuwhy.knowledge.releases import family, projects
from gpuwhy.model.plan import Machine, Wish
from gpuwhy.model.version import at_least
from gpuwhy.plan_v0.candidates import allowed_pythons, parsed, specifier
from gpuwhy.plan_v0.names import NO_BACKEND, is_planned, planned_as
from gpuwhy.plan_v0.wishes import WishError, applies, joined

DEFAULT = Machine()
_NAMED = 8


def possible(wishes: Sequence[Wish], machine: Machine = DEFAULT) -> None:
    """Raise for wishes that no Python of the machine can meet: no known package, no release, no marker that holds."""
    first: WishError | None = None
    tried: list[list[Wish]] = []
    for python in allowed_pythons(machine):
        held = [wish for wish in wishes if applies(wish, machine, python)]
        if held in tried:
            continue
        tried.append(held)
        try:
            _possible(held)
        except WishError as error:
            first = first or _excluded(wishes, held, machine) or error
        else:
            return
    if first is not None:
        raise first


def _possible(wishes: Sequence[Wish]) -> None:
    """Raise for wishes without any package that is known, and for a specifier that no release meets."""
    if all(wish.constraint or is_other(wish) for wish in wishes):
        _raise_for_nothing(wishes)
    limits: dict[str, list[Wish]] = {}
    for wish in wishes:
        if wish.specifier:
            limits.setdefault(planned_as(wish.name), []).append(wish)
    for name, limiting in limits.items():
        _exists(name, limiting)


def _excluded(wishes: Sequence[Wish], held: Sequence[Wish], machine: Machine) -> WishError | None:
    """That what is asked for is not asked for here: its marker names another system or Python."""
    left = [wish for wish in wishes if not (wish.constraint or is_other(wish) or wish in held)]
    if not left or any(not (wish.constraint or is_other(wish)) for wish in held):
        return None
    one = left[0]
    where = f"{one.where}: " if one.where else ""
    python = f" with Python {machine.python}" if machine.python else ""
    system = {"windows": "Windows", "wsl": "WSL 2"}.get(machine.system, "Linux")
    said = f"{one.name} is asked for only where {one.marker.replace(chr(34), chr(39))}"
    return WishError(f"{where}{said}, which does not hold on {system}{python}: nothing that uses a GPU is left")


def is_other(wish: Wish) -> bool:
    """Whether a wish is left to the installer: a URL, a package that is not known, a guest's release that is not."""
    return bool(wish.url) or not is_planned(wish.name) or _is_unknown_release(wish.name, wish.specifier)


@lru_cache(maxsize=1024)
def _is_unknown_release(name: str, limit: str) -> bool:
    """Whether a guest's pin fits no release that was harvested: withdrawn ones and previews were not."""
    if not limit or not is_guest(name) or name in projects():
        return False
    return not any(specifier(limit).contains(guest.version) for guest in guests(name))


def with_cuda(wishes: Sequence[Wish], machine: Machine) -> list[Wish]:
    """RAPIDS has its CUDA in its names: cudf becomes cudf-cu12, or cudf-cu13 where the driver has CUDA 13."""
    newest = bool(machine.driver) and at_least(machine.driver, CUDA_13)
    return [_named(wish, "-cu13" if newest else "-cu12") for wish in wishes]


def _named(wish: Wish, ending: str) -> Wish:
    rapids = not wish.url and not is_planned(wish.name) and is_guest(f"{wish.name}-cu12")
    chosen = f"{wish.name}{ending}" if is_guest(f"{wish.name}{ending}") else f"{wish.name}-cu12"
    return msgspec.structs.replace(wish, name=chosen) if rapids else wish


CUDA_13 = "580"
"""The first driver with CUDA 13."""


def _raise_for_nothing(wishes: Sequence[Wish]) -> None:
    known = next((wish for wish in wishes if wish.url and is_planned(wish.name)), None)
    if known:
        text = f"{known.name} comes from a URL, and its build is not known; name a release of it"
        raise WishError(": ".join(filter(None, (known.where, text))))
    bare = next((wish.name for wish in wishes if wish.name in NO_BACKEND), "")
    if bare:
        raise WishError(f"{bare} brings no framework: name the one it runs on too, tensorflow, torch or jax")
    names = [wish.name or wish.url for wish in wishes if not wish.constraint]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    said = f"{', '.join(names[:_NAMED])}{more}" or "nothing"
    raise WishError(f"{said}: no package that uses a GPU is among them (gpuwhy releases lists those it knows)")


def _exists(name: str, wishes: list[Wish]) -> None:
    """Raise where no release of a package meets all that is asked of it."""
    versions = _versions(name)
    if not wishes or not versions:
        return
    spec = joined(wish.specifier for wish in wishes)
    if any(spec.contains(version, prereleases=True) for version in versions):
        return
    where = f"{wishes[-1].where}: " if wishes[-1].where else ""
    said = " and ".join(f"{wish.name}{wish.specifier}" for wish in wishes)
    elsewhere = f" on the package index. {BESIDE_THE_INDEX[name][0]}" if name in BESIDE_THE_INDEX else ""
    raise WishError(f"{where}no release meets {said}{elsewhere or _near(spec, versions)}")


def _near(spec: SpecifierSet, versions: list[str]) -> str:
    """The releases on both sides of a version that does not exist; of several clauses none is the one that fails."""
    if len(spec) != 1:
        return ""
    pin = parsed(next(iter(spec)).version.removesuffix(".*"))
    near = sorted(versions, key=parsed)
    both = [*[v for v in near if parsed(v) < pin][-1:], *[v for v in near if parsed(v) > pin][:1]]
    return f"; nearest {'are' if len(both) > 1 else 'is'} {' and '.join(both)}" if both else ""


def _versions(name: str) -> list[str]:
    """Every release of a root, on any platform; of guests not all are known, withdrawn ones and previews are not."""
    sources = {
        "tensorflow": ("tensorflow", "tensorflow-gpu"),
        "jax": ("jaxlib",),
        "onnxruntime-gpu": ("onnxruntime-gpu", "onnxruntime"),
    }
    names = sources.get(name, (name,))
    if name == "cupy":
        names = tuple(p for p in projects() if p.startswith("cupy-cuda"))
    harvested = [row.version for known in map(family, names) if known for row in known.rows]
    return [*harvested, *known_versions("jax")] if name == "jax" else harvested
