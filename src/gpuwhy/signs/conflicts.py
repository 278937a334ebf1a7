"""install.conflict: two installed packages that claim the same files."""

from __future__ import annotations

from gpuwhy.facts.fact import Absent, Known, Source, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, saw
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.installs import Conflict, Share
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.knowledge.flavours import flavour, library_wheel
from gpuwhy.knowledge.installs import gpu_flavour
from gpuwhy.signs.case import Case, against, proof, rows, slows, strong, weak
from gpuwhy.signs.expect import gpu_present

_CUDA_MAJOR_MATTERS = ("nvidia-cudnn",)


def flavours_overwrite(case: Case) -> Finding | None:
    """Two flavours of one framework: bad when the one without CUDA won, fragile otherwise."""
    facts = case.facts
    pairs = [(_lost_its_gpu(facts, one), one) for one in flavour_conflicts(facts)]
    found = sorted(pairs, key=lambda pair: not pair[0])
    if not found:
        return None
    lost, first = found[0]
    values = _values(first)
    if lost and not isinstance(gpu_present(facts), Absent):
        text = f"{_SHARE} of {{module}}; the build without CUDA was written last"
        return proof(text, _on_disk(first), **values)
    if of_two_series(first):
        files = "; the files are those of {winner}" if values["winner"] else ""
        text = f"{_SHARE}{files}, and the other is installed in name only"
        return slows(strong(text, _on_disk(first), **values))
    return weak(f"{_SHARE}; {_FRAGILE}", _on_disk(first), **values)


_SHARE = "{owners} write the same {files}"
_FRAGILE = "removing or updating one of them breaks the other"


def wheels_overwrite(case: Case) -> Finding | None:
    """Two wheels of one library: bad for a framework of another CUDA major than the winner."""
    facts = case.facts
    if isinstance(gpu_present(facts), Absent):
        return None
    found = wheel_conflicts(facts)
    for one in found:
        framework = _wronged(facts, one)
        if framework is None:
            continue
        mixed = is_mixed(one)
        built = value_or(framework.built_for_cuda, "")
        won = "{winner} lie mixed" if mixed else "{winner} was written last"
        return (proof if mixed else strong)(
            f"{_SHARE}; {won}, and {{framework}}, built for CUDA {{cuda}}, loads from there",
            _on_disk(one),
            saw(f"{framework.title} is built for CUDA {built}", framework.built_for_cuda),
            framework=f"{framework.title} {framework.version}",
            cuda=built,
            **_values(one),
        )
    if not found:
        return None
    return weak(f"{_SHARE}; {_FRAGILE}", _on_disk(found[0]), **_values(found[0]))


def no_conflict(case: Case) -> Finding | None:
    """What rules it out; files that harmless packages share (an empty __init__.py) do not count."""
    facts, present = case.facts, gpu_present(case.facts)
    wheels = wheel_conflicts(facts)
    if flavour_conflicts(facts) or (wheels and not isinstance(present, Absent)):
        return None
    if wheels:
        text = "this machine has no NVIDIA GPU, so it does not matter whose libraries are on disk"
        return against(text)
    return against("no two GPU packages write the same files")


def _values(one: Conflict) -> dict[str, object]:
    winners = shares(one)
    several = f"{one.files} files"
    return {
        "owners": tuple(str(owner) for owner in one.owners),
        "files": several if one.files > 1 else f"file {one.example.rpartition('-packages/')[2]}",
        "module": module_of(one),
        "winner": " and ".join(str(share.owner) for share in winners),
    }


def _on_disk(one: Conflict) -> Evidence:
    winners = " and ".join(f"{share.owner}" for share in shares(one))
    return saw(f"on disk: {winners or 'one of them'}", Source("file", one.example))


# ---------------------------------------------------------------- questions of other signs


def shares(one: Conflict) -> tuple[Share, ...]:
    """Whose files are on disk, the largest share first; () when it cannot be known."""
    return value_or(one.winners, ())


def is_mixed(one: Conflict) -> bool:
    """Files of several owners lie side by side, as after an installer that works in parallel."""
    return len(shares(one)) > 1


def module_of(one: Conflict) -> str:
    """The import name that flavours share."""
    kinds = (flavour(owner.name) for owner in one.owners)
    return next((kind.module for kind in kinds if kind), one.module)


def flavour_conflicts(facts: Facts) -> list[Conflict]:
    """Conflicts between flavours of one framework: tensorflow and tensorflow-cpu."""
    found = facts.installs.conflicts.need() or ()
    return [
        one for one in found if _alike([f.module for o in one.owners if (f := flavour(o.name))])
    ]


def wheel_conflicts(facts: Facts) -> list[Conflict]:
    """Conflicts between wheels of one library: nvidia-cudnn-cu12 and nvidia-cudnn-cu13."""
    found = facts.installs.conflicts.need() or ()
    return [
        one for one in found if _alike([w[0] for o in one.owners if (w := library_wheel(o.name))])
    ]


def _alike(kinds: list[str]) -> bool:
    return len(kinds) > 1 and len(set(kinds)) == 1


def of_two_series(one: Conflict) -> bool:
    """Whether the owners are of different minor releases."""
    return len({major_minor(owner.version) for owner in one.owners if owner.version}) > 1


def in_name_only(facts: Facts) -> frozenset[str]:
    """Flavours over one another in different series: what their metadata requires is void."""
    known = isinstance(facts.installs.conflicts, Known)
    mixed = [one for one in flavour_conflicts(facts) if of_two_series(one)] if known else []
    return frozenset(owner.name for one in mixed for owner in one.owners)


def _lost_its_gpu(facts: Facts, one: Conflict) -> bool:
    """What is on disk has no CUDA, and one of the owners would have it."""
    if not gpu_flavour(tuple(owner.name for owner in one.owners)):
        return False
    winners = shares(one)
    won = flavour(winners[0].owner.name) if winners else None
    if won is not None and not is_mixed(one):
        return not won.cuda
    for framework in facts.frameworks.installed.need() or ():
        if framework.name == module_of(one) and isinstance(framework.gpu_build, Known):
            return not framework.gpu_build.value
    return False


def _wronged(facts: Facts, one: Conflict) -> Framework | None:
    """A framework of another CUDA major than the winner's that loads from the shared folder."""
    winners = shares(one)
    won = library_wheel(winners[0].owner.name) if winners else None
    if won is None or won[0] not in _CUDA_MAJOR_MATTERS:
        return None
    folder = one.example.rpartition("/")[0]
    needs = facts.loads.needs.need() or ()
    users = {
        need.framework for need in needs if value_or(need.path, "").rpartition("/")[0] == folder
    }
    for framework in facts.frameworks.installed.need() or ():
        built = numbers(value_or(framework.built_for_cuda, ""))
        if framework.name in users and built and (is_mixed(one) or built[0] != won[1]):
            return framework
    return None


SIGNS = rows("install.conflict", "machine", flavours_overwrite, wheels_overwrite, no_conflict)
