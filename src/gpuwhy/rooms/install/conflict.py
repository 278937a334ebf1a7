"""install.conflict: two installed distributions write the same files, and the last one won."""

from __future__ import annotations

from gpuwhy.knowledge.flavours import flavour, library_wheel
from gpuwhy.knowledge.installs import gpu_flavour, gpu_requirement, sound
from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, against, mild, proof, saw, strong, weak
from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Absent, Known, Source, value_or
from gpuwhy.model.facts import Conflict, Framework, Imported
from gpuwhy.model.version import numbers
from gpuwhy.rooms.shared import imported
from gpuwhy.rooms.shared.commands import change
from gpuwhy.rooms.shared.keep import kept
from gpuwhy.rooms.shared.linked import stood_in
from gpuwhy.rooms.shared.rivals import flavours, is_mixed, module, names, of_two_series, wheels, winner

CUDA_MAJOR_MATTERS = ("nvidia-cudnn",)
"""Wheels that open libraries of their own CUDA major; NCCL and NVSHMEM carry their runtime with them."""


def flavours_overwrite(case: Case) -> Finding | None:
    """Two flavours of one framework: bad when the one without CUDA won, fragile otherwise."""
    found = sorted(flavours(case.facts), key=lambda one: not _lost_its_gpu(case, one))
    if not found:
        return None
    first, no_gpu = found[0], isinstance(gpu_present(case.facts), Absent)
    if other := stood_in(case, module(first)):
        text = f"the program imported {other.path} as {other.module}, and none of the installed files"
        return against(text, saw(f"imported as {other.module}", Source("file", other.path)))
    if _lost_its_gpu(case, first) and not no_gpu:
        return proof(f"{_share(first)} of {module(first)}; the build without CUDA was written last", _on_disk(first))
    if of_two_series(first):
        on_disk = f"; the files are those of {winner(first)}" if winner(first) else ""
        return mild(strong(f"{_share(first)}{on_disk}, and the other is there in name only", _on_disk(first)))
    return weak(f"{_share(first)}; removing or updating one of them breaks the other", _on_disk(first))


def wheels_overwrite(case: Case) -> Finding | None:
    """Two wheels of one library: bad for a framework that was built for another CUDA major than the winner."""
    if isinstance(gpu_present(case.facts), Absent):
        return None
    found = [(one, _wronged(case, one)) for one in wheels(case.facts)]
    for one, framework in found:
        if framework:
            built_for = f"built for CUDA {value_or(framework.built_for_cuda, '')}"
            won = f"{winner(one)} {'lie mixed' if is_mixed(one) else 'was written last'}"
            return (proof if is_mixed(one) else strong)(
                f"{_share(one)}; {won}, and {framework.title} {framework.version}, {built_for}, loads from there",
                _on_disk(one),
                saw(f"{framework.title} is {built_for}", framework.built_for_cuda),
            )
    if not found:
        return None
    return weak(f"{_share(found[0][0])}; removing or updating one of them breaks the other", _on_disk(found[0][0]))


def twins(case: Case) -> Finding | None:
    """What fails when it is tried is a package that two distributions own."""
    pair = _tried(case)
    if pair is None:
        return None
    one, failed = pair
    return strong(f"{_share(one)}, and {imported.told(failed)}", _on_disk(one), imported.seen(case, failed))


def _tried(case: Case) -> tuple[Conflict, Imported] | None:
    found = value_or(case.facts.target.conflicts, ())
    both = ((one, failed) for failed in imported.unexplained(case) for one in found if one.module == failed.top)
    return next((pair for pair in both if flavour(names(pair[0])[0]) is None), None)


def _apart(case: Case, one: Conflict) -> Fix:
    """Remove all, and install the one that is no nightly."""
    keep = min(one.owners, key=lambda owner: ("nightly" in owner, len(owner))).replace(" ", "==")
    text = f"Remove {' and '.join(names(one))}, then install {keep} alone"
    return _anew(case, one, keep, keep.partition("==")[0], text)


def no_rivals(case: Case) -> Finding | None:
    """What rules it out; files that harmless packages share (an empty __init__.py) are none of ours."""
    present = gpu_present(case.facts)
    if _tried(case):
        return None
    if flavours(case.facts) or (wheels(case.facts) and not isinstance(present, Absent)):
        return None
    if wheels(case.facts):
        return against(
            "this machine has no NVIDIA GPU, so no matter whose libraries won", saw("no NVIDIA GPU", present)
        )
    return against("no two GPU packages write the same files", saw("owners compared", case.facts.target.conflicts))


def _share(one: Conflict) -> str:
    what = f"{one.files} files" if one.files > 1 else f"file {one.example.rpartition('/site-packages/')[2]}"
    return f"{' and '.join(one.owners)} write the same {what}"


def _on_disk(one: Conflict) -> Evidence:
    return saw(f"on disk: {winner(one) or 'one of them'}", Source("file", one.example))


def _lost_its_gpu(case: Case, one: Conflict) -> bool:
    """What is on disk has no CUDA, and one of the owners would have it."""
    if not gpu_flavour(names(one)):
        return False
    won = flavour(winner(one).split(" ")[0])
    if won is not None and not is_mixed(one):
        return not won.cuda
    for framework in case.facts.target.frameworks.need() or ():
        if framework.name == module(one) and isinstance(framework.gpu_build, Known):
            return not framework.gpu_build.value
    return False


def _wronged(case: Case, one: Conflict) -> Framework | None:
    """A framework of another CUDA major than the winner's, whose library comes from the shared folder."""
    won = library_wheel(winner(one).split(" ")[0])
    if won is None or won[0] not in CUDA_MAJOR_MATTERS:
        return None
    folder, needs = one.example.rpartition("/")[0], case.facts.loads.needs.need() or ()
    users = {need.framework for need in needs if value_or(need.found, "").rpartition("/")[0] == folder}
    for framework in case.facts.target.frameworks.need() or ():
        built_for = numbers(value_or(framework.built_for_cuda, ""))
        if framework.name in users and built_for and (is_mixed(one) or built_for[0] != won[1]):
            return framework
    return None


def fixes(case: Case) -> tuple[Fix, ...]:
    """Remove all of them, then install the one that is wanted."""
    tried = _tried(case)
    if tried is not None:
        return (_apart(case, tried[0]),)
    pairs = [_reinstall(case, one) for one in flavours(case.facts)[:2]]
    return tuple(dict.fromkeys((*pairs, *(_separate(case, one) for one in wheels(case.facts)[:2]))))


def _reinstall(case: Case, one: Conflict) -> Fix:
    keep, why = kept(case, one)
    version = next(owner.partition(" ")[2] for owner in one.owners if owner.split(" ")[0] == keep)
    wanted = gpu_requirement(module(one), keep, sound(module(one), version), None) or f"{keep}=={version}"
    text = f"Remove both, then install {keep}: {why}; removing only one leaves the other half-deleted"
    return _anew(case, one, wanted, keep, text)


def _separate(case: Case, one: Conflict) -> Fix:
    majors = {numbers(value_or(f.built_for_cuda, ""))[:1] for f in case.facts.target.frameworks.need() or ()} - {()}
    wanted = [o for o in one.owners if (w := library_wheel(o.split(" ")[0])) and (w[1],) in majors]
    if len(wanted) != 1:
        return Fix("Give each framework its own environment: one folder cannot hold the libraries of two CUDA majors")
    name, _, version = wanted[0].partition(" ")
    text = f"Remove both, then install {name}, for whose CUDA the framework is built"
    return _anew(case, one, f"{name}=={version}", name, text)


def _anew(case: Case, one: Conflict, wanted: str, name: str, text: str) -> Fix:
    return change(case.facts, text, wanted, because_of=name, removing=names(one), role="part")


CAUSE = Cause(
    id="install.conflict",
    title="two installed packages overwrite each other's files",
    signs=(flavours_overwrite, wheels_overwrite, twins, no_rivals),
    fixes=fixes,
    effect="Two installed packages overwrite each other's GPU files",
)
