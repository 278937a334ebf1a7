"""install.conflict: two installed packages that claim the same files."""

from __future__ import annotations

from collections.abc import Callable

from gpuwhy.facts.fact import Absent, Known, Source, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, saw
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.installs import Conflict, Share
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.knowledge.flavours import flavour, library_wheel
from gpuwhy.knowledge.installs import gpu_flavour
from gpuwhy.signs.case import Case, otherwise, proof, rows, slows, strong, weak
from gpuwhy.signs.expect import gpu_present
from gpuwhy.signs.words import release

_SHARE = "{owners} write the same {files}"
_FRAGILE = f"{_SHARE}; removing or updating one of them breaks the other"


def flavours_overwrite(case: Case) -> Finding | None:
    """Two flavours of one framework: bad when the one without CUDA won, fragile otherwise."""
    facts = case.facts
    found = sorted(flavour_conflicts(facts), key=lambda one: not _lost_its_gpu(facts, one))
    if not found:
        return None
    first, values = found[0], _values(found[0])
    if _lost_its_gpu(facts, first) and not isinstance(gpu_present(facts), Absent):
        text = f"{_SHARE} of {{module}}; the build without CUDA was written last"
        return proof(text, _on_disk(first), **values)
    if of_two_series(first):
        files = "; the files are those of {winner}" if values["winner"] else ""
        text = f"{_SHARE}{files}, and the other is installed in name only"
        return slows(strong(text, _on_disk(first), **values))
    return weak(_FRAGILE, _on_disk(first), **values)


def wheels_overwrite(case: Case) -> Finding | None:
    """Two wheels of one library: bad for a framework of another CUDA major than the winner."""
    facts = case.facts
    found = _alike(facts, _wheel_kind)
    if isinstance(gpu_present(facts), Absent) or not found:
        return None
    for one in found:
        framework = _wronged(facts, one)
        if framework is None:
            continue
        mixed = len(_shares(one)) > 1
        built = value_or(framework.built_for_cuda, "")
        won = "{winner} lie mixed" if mixed else "{winner} was written last"
        return (proof if mixed else strong)(
            f"{_SHARE}; {won}, and {{framework}}, built for CUDA {{cuda}}, loads from there",
            _on_disk(one),
            saw(f"{framework.title} is built for CUDA {built}", framework.built_for_cuda),
            framework=release(framework),
            cuda=built,
            **_values(one),
        )
    return weak(_FRAGILE, _on_disk(found[0]), **_values(found[0]))


def _values(one: Conflict) -> dict[str, object]:
    file = f"file {one.example.rpartition('-packages/')[2]}"
    return {
        "owners": tuple(str(owner) for owner in one.owners),
        "files": f"{one.files} files" if one.files > 1 else file,
        "module": _module_of(one),
        "winner": " and ".join(str(share.owner) for share in _shares(one)),
    }


def _on_disk(one: Conflict) -> Evidence:
    winners = " and ".join(str(share.owner) for share in _shares(one))
    return saw(f"on disk: {winners or 'one of them'}", Source("file", one.example))


def _shares(one: Conflict) -> tuple[Share, ...]:
    """Whose files are on disk, as their RECORDs tell; files of several lie side by side after an
    installer that works in parallel.
    """
    return value_or(one.winners, ())


def _module_of(one: Conflict) -> str:
    """The import name that flavours share."""
    kinds = (flavour(owner.name) for owner in one.owners)
    return next((kind.module for kind in kinds if kind), one.module)


def _alike(facts: Facts, kind: Callable[[str], str]) -> list[Conflict]:
    """Conflicts whose owners are of one kind."""
    found = []
    for one in facts.installs.conflicts.need() or ():
        kinds = list(filter(None, (kind(owner.name) for owner in one.owners)))
        found += [one] if len(kinds) > 1 and len(set(kinds)) == 1 else []
    return found


def _flavour_kind(package: str) -> str:
    kind = flavour(package)
    return kind.module if kind else ""


def _wheel_kind(package: str) -> str:
    wheel = library_wheel(package)
    return wheel[0] if wheel else ""


def flavour_conflicts(facts: Facts) -> list[Conflict]:
    """Conflicts between flavours of one framework: tensorflow and tensorflow-cpu."""
    return _alike(facts, _flavour_kind)


def of_two_series(one: Conflict) -> bool:
    """Whether the owners are of different minor releases."""
    return len({major_minor(owner.version) for owner in one.owners if owner.version}) > 1


def in_name_only(facts: Facts) -> frozenset[str]:
    """Flavours over one another in different series: what their metadata requires is void."""
    found = flavour_conflicts(facts) if isinstance(facts.installs.conflicts, Known) else []
    return frozenset(owner.name for one in found if of_two_series(one) for owner in one.owners)


def _lost_its_gpu(facts: Facts, one: Conflict) -> bool:
    """What is on disk has no CUDA, and one of the owners would have it."""
    if not gpu_flavour(tuple(owner.name for owner in one.owners)):
        return False
    winners = _shares(one)
    won = flavour(winners[0].owner.name) if len(winners) == 1 else None
    if won is not None:
        return not won.cuda
    for framework in facts.frameworks.installed.need() or ():
        if framework.name == _module_of(one) and isinstance(framework.gpu_build, Known):
            return not framework.gpu_build.value
    return False


def _wronged(facts: Facts, one: Conflict) -> Framework | None:
    """A framework of another CUDA major than the winner's that loads from the shared folder."""
    winners = _shares(one)
    won = library_wheel(winners[0].owner.name) if winners else None
    if won is None or won[0] != "nvidia-cudnn":
        return None
    folder = one.example.rpartition("/")[0]
    needs = facts.loads.needs.need() or ()
    users = {n.framework for n in needs if value_or(n.path, "").rpartition("/")[0] == folder}
    for framework in facts.frameworks.installed.need() or ():
        built = numbers(value_or(framework.built_for_cuda, ""))
        if framework.name in users and built and (len(winners) > 1 or built[0] != won[1]):
            return framework
    return None


SIGNS = (
    *rows("install.conflict", "machine", flavours_overwrite, wheels_overwrite),
    otherwise(
        "install.conflict",
        "machine",
        "no two GPU packages write the same files",
        "installs.conflicts",
    ),
)
