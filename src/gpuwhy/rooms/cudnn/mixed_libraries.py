"""cudnn.mixed_libraries: the parts of cuDNN that get loaded come from different releases."""

from __future__ import annotations

import re

from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, against, mild, proof, strong
from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import LoadedLibrary, LoadTree, Rule
from gpuwhy.rooms.cudnn.version_mismatch import refused
from gpuwhy.rooms.shared import needs, trees
from gpuwhy.rooms.shared.commands import change
from gpuwhy.rooms.shared.windows import is_torch, on_windows, out_of_the_way, shown, torch_again

_BUNDLED = re.compile(r"\.libs/libcudnn-[0-9a-f]{8}\.so[^/]*$")
"""The shim as auditwheel puts it into a package: under a name of its own, that no other part asks for."""


def parts_differ(case: Case) -> Finding | None:
    """Sub-libraries of several releases: no engine is found for a convolution, or the process aborts."""
    tree = trees.of_gpu(case)
    if isinstance(tree, Finding):
        return tree
    shim, parts = trees.shim(tree), trees.parts(tree)
    if shim is None:
        return against(f"{needs.named(case)} loads no cuDNN", *_search(case))
    versions = trees.versions(parts)
    if len(versions) > 1:
        first, other = parts[0], _first_other(parts)
        return proof(
            f"{needs.named(case)} loads {first.name} {versions[0]}, found by {trees.how(first)}, and {other.name} "
            f"{trees.versions([other])[0]}, found by {trees.how(other)}; all cuDNN files must have the same version",
            trees.saw_loaded(first),
            trees.saw_loaded(other),
        )
    if parts and isinstance(shim.version, Known) and trees.short(shim.version.value) != versions[0]:
        return _shim_apart(case, shim, parts[0])
    shim.version.need()
    return against(f"libcudnn and its {len(parts)} parts are all {trees.versions([shim])[0]}", trees.saw_loaded(shim))


def _shim_apart(case: Case, shim: LoadedLibrary, part: LoadedLibrary) -> Finding:
    """All parts of one release under a libcudnn of another: it runs, as nobody has tested it."""
    (own,), (theirs,) = trees.versions([shim]), trees.versions([part])
    if refused(case):
        return against(f"every part is cuDNN {theirs}, which this framework refuses as a whole", trees.saw_loaded(part))
    if _BUNDLED.search(shim.path):
        text = f"{needs.named(case)} brings libcudnn {own} alone and takes its parts from outside: all are {theirs}"
        return against(text, trees.saw_loaded(part))
    return mild(
        strong(
            f"{needs.named(case)} loads libcudnn {own}, found by {trees.how(shim)}, and all its parts {theirs}, "
            f"found by {trees.how(part)}: a mixture that prints no error before the first convolution",
            trees.saw_loaded(shim),
            trees.saw_loaded(part),
        )
    )


def _first_other(parts: list[LoadedLibrary]) -> LoadedLibrary:
    return next(one for one in parts if trees.versions([one]) != trees.versions(parts[:1]))


def _search(case: Case) -> list[Evidence]:
    return [needs.saw_search(need) for need in needs.required(case, needs.is_cudnn)[:1]]


def fixes(case: Case) -> tuple[Fix, ...]:
    """Take the intruder off the path; where both lie in one folder, install one release anew."""
    tree = trees.of_gpu(case)
    assert isinstance(tree, LoadTree)
    loaded = [*filter(None, (trees.shim(tree),)), *trees.parts(tree)]
    ahead = next((one for one in loaded if one.rule in (Rule.LD_LIBRARY_PATH, Rule.LD_PRELOAD)), None)
    if ahead:
        return trees.let_win(case, ahead, "")
    if is_torch(case.facts, needs.the(case)):
        return (torch_again(needs.the(case)),)
    if on_windows(case.facts) and (away := _intruder(loaded)):
        return (away,)
    owners = [value_or(one.owner, "") for one in loaded]
    wheel = next((owner for owner in owners if owner.startswith("nvidia-")), "")
    if wheel:
        name, version = wheel.split(" ")[:2]
        text = "Write the files of one release anew, over all the others"
        return (change(case.facts, text, f"{name}=={version}", because_of=name, again=True),)
    return (_cleared(case, loaded),)


def _cleared(case: Case, loaded: list[LoadedLibrary]) -> Fix:
    """Nobody owns the files: all of them go, and one whole release comes."""
    folders = dict.fromkeys(one.path.rpartition("/")[0] for one in loaded)
    if not on_windows(case.facts) or len(folders) != 1:
        return Fix("Keep one cuDNN release in the folder that wins, and remove the other's files")
    folder = shown(next(iter(folders)))
    text = f"Delete every cuDNN file in {folder}, then copy all cudnn*.dll of one release there"
    return Fix(text, on.cmd(f'del "{folder}\\cudnn*.dll"'))


def _intruder(loaded: list[LoadedLibrary]) -> Fix | None:
    """Windows: the copy that lies where the search looks before PATH, while the others come along PATH."""
    if not any(one.rule is Rule.PATH for one in loaded):
        return None
    found = (out_of_the_way(one) for one in loaded)
    return next((fix for fix in found if fix), None)


CAUSE = Cause(
    id="cudnn.mixed_libraries",
    title="cuDNN files of different versions are mixed",
    signs=(parts_differ,),
    fixes=fixes,
    scope="framework",
    effect="{subject} loads a mixture of two cuDNN releases",
)
