"""Keep: of several packages that write the same files, the one to keep, and why: by what fits, not by its name."""

from __future__ import annotations

from collections.abc import Callable

from gpuwhy.knowledge.flavours import flavour, library_wheel
from gpuwhy.knowledge.releases import family
from gpuwhy.model.cause import Case
from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import Conflict
from gpuwhy.model.version import numbers
from gpuwhy.rooms.shared.rivals import is_mixed, module, names, winner

Reason = Callable[[Case, Conflict, str], str]


def kept(case: Case, one: Conflict) -> tuple[str, str]:
    """The package with the weightiest reason, and that reason; a question is asked only where the last left several."""
    left = list(names(one))
    for ask in (_has_cuda, _fits_the_driver, _fits_the_others, _on_disk, _newest):
        told = {name: why for name in left if (why := ask(case, one, name))}
        if 0 < len(told) < len(left):
            left = list(told)
        if len(left) == 1:
            return left[0], told.get(left[0]) or "it is the one that fits here"
    return left[0], "nothing here speaks for one of them more than for the other"


def _has_cuda(case: Case, one: Conflict, name: str) -> str:
    kind = flavour(name)
    return "it is the build with CUDA" if kind and kind.cuda else ""


def _major(one: Conflict, name: str) -> int:
    """The CUDA major of a flavour, by its release's row or its name: cupy-cuda12x, mxnet-cu112."""
    version = next((owner.partition(" ")[2] for owner in one.owners if owner.split(" ")[0] == name), "")
    known = family(name)
    row = next((r for r in (known.rows if known else ()) if r.version == version), None)
    if row is not None and isinstance(row.cuda, str) and numbers(row.cuda):
        return numbers(row.cuda)[0]
    places = numbers(name.removeprefix(module(one)).lstrip("-cuda").rstrip("xmkl"))
    return 0 if not places else places[0] if places[0] < 20 else places[0] // 10


def _fits_the_driver(case: Case, one: Conflict, name: str) -> str:
    speaks = case.facts.driver.driver_cuda
    major = _major(one, name)
    if not isinstance(speaks, Known) or not major or not numbers(speaks.value):
        return ""
    fits = numbers(speaks.value)[0] >= major
    return f"the driver, which speaks CUDA {speaks.value}, runs its CUDA {major}" if fits else ""


def _fits_the_others(case: Case, one: Conflict, name: str) -> str:
    """The CUDA of the other frameworks and of NVIDIA's wheels in the environment."""
    major = _major(one, name)
    if not major:
        return ""
    for other in value_or(case.facts.target.frameworks, ()):
        built = numbers(value_or(other.built_for_cuda, ""))
        if other.name != module(one) and built and built[0] == major:
            return f"{other.title} {other.version} is built for CUDA {built[0]} too"
    wheels = [w for d in value_or(case.facts.target.distributions, ()) if (w := library_wheel(d.name))]
    return f"the environment has NVIDIA's wheels of CUDA {major}" if any(w[1] == major for w in wheels) else ""


def _on_disk(case: Case, one: Conflict, name: str) -> str:
    mine = winner(one).split(" ")[0] == name and not is_mixed(one)
    return "its files are the ones on disk" if mine else ""


def _newest(case: Case, one: Conflict, name: str) -> str:
    versions = {owner.split(" ")[0]: numbers(owner.partition(" ")[2]) for owner in one.owners}
    top = max(versions.values())
    return "it is the newer release" if versions.get(name) == top and list(versions.values()).count(top) == 1 else ""
