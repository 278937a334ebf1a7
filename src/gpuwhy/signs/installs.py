"""Installed packages that write over each other, do not fit, or are not the ones imported."""

import re
from collections.abc import Callable

from gpuwhy.facts.fact import Absent, Known, Source, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, know, saw
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.installs import Basis, Conflict, Contradiction, Shadow
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.knowledge.installs import EXACT_PLUGIN, gpu_flavour, wheel_of
from gpuwhy.knowledge.modules import FRAMEWORK_MODULES
from gpuwhy.knowledge.packages import flavour, library_wheel
from gpuwhy.knowledge.pairs import plugin_left_aside, refusal
from gpuwhy.signs import say
from gpuwhy.signs.case import Case, otherwise, rows
from gpuwhy.signs.expect import gpu_present, installed

# ---------------------------------------------------------------- install.conflict

_FRAGILE = "removing or updating one of them breaks the other"


def flavours_overwrite(case: Case) -> Finding | None:
    """Two flavours of one framework: bad when the one without CUDA won, fragile otherwise."""
    facts = case.facts
    found = sorted(flavour_conflicts(facts), key=lambda one: not _lost_its_gpu(one))
    if not found:
        return None
    first = found[0]
    share, winner = _share(first), _winner(first)
    if _lost_its_gpu(first) and not isinstance(gpu_present(facts), Absent):
        text = f"{share} of {_module_of(first)}; the build without CUDA was written last"
        return say.proof(text, _on_disk(first))
    if of_two_series(first):
        files = f"; the files are those of {winner}" if winner else ""
        text = f"{share}{files}, and the other is installed in name only"
        return say.slows(say.strong(text, _on_disk(first)))
    return say.weak(f"{share}; {_FRAGILE}", _on_disk(first))


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
        mixed, named = len(value_or(one.winners, ())) > 1, say.release(framework)
        built = value_or(framework.built_for_cuda, "")
        won = "lie mixed" if mixed else "was written last"
        return say.sure(mixed)(
            f"{_share(one)}; {_winner(one)} {won}, and {named}, built for CUDA {built}, loads from "
            "there",
            _on_disk(one),
            saw(f"{framework.title} is built for CUDA {built}", framework.built_for_cuda),
            framework=named,
        )
    return say.weak(f"{_share(found[0])}; {_FRAGILE}", _on_disk(found[0]))


def _share(one: Conflict) -> str:
    owners = say.listed([str(owner) for owner in one.owners])
    file = f"file {one.example.rpartition('-packages/')[2]}"
    return f"{owners} write the same {f'{one.files} files' if one.files > 1 else file}"


def _winner(one: Conflict) -> str:
    """Whose files are on disk, as their RECORDs tell; files of several lie side by side after an
    installer that works in parallel.
    """
    return " and ".join(str(share.owner) for share in value_or(one.winners, ()))


def _on_disk(one: Conflict) -> Evidence:
    return saw(f"on disk: {_winner(one) or 'one of them'}", Source("file", one.example))


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


def _module_of(one: Conflict) -> str:
    """The import name that flavours share."""
    return next(filter(None, (_flavour_kind(owner.name) for owner in one.owners)), one.module)


def of_two_series(one: Conflict) -> bool:
    """Whether the owners are of different minor releases."""
    return len({major_minor(owner.version) for owner in one.owners if owner.version}) > 1


def _lost_its_gpu(one: Conflict) -> bool:
    """What is on disk has no CUDA, and one of the owners would have it."""
    if not gpu_flavour(tuple(owner.name for owner in one.owners)):
        return False
    winners = value_or(one.winners, ())
    won = flavour(winners[0].owner.name) if len(winners) == 1 else None
    return won is not None and not won.cuda


def _wronged(facts: Facts, one: Conflict) -> Framework | None:
    """A framework of another CUDA major than the winner's that loads from the shared folder."""
    winners = value_or(one.winners, ())
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


# ---------------------------------------------------------------- env.shadowed

_OWN_FOLDERS = ("script folder", "working folder")
_BY = {
    "script folder": "the script's folder",
    "working folder": "the working folder",
    "PYTHONPATH": "PYTHONPATH",
    "user site": "the user's site-packages",
}


def shadowed(case: Case) -> Finding | None:
    """The first one is said; one of a framework, or of what a framework needs, stops it."""
    facts = case.facts
    facts.installs.shadows.need()
    found = sorted(_that_matter(facts), key=_shadow_order)
    if not found:
        return None
    first = found[0]
    names = [one.module for one in found[1:] if one.module != first.module]
    likewise = f"; {say.and_more(names, 3)} likewise" if names else ""
    evidence = dict.fromkeys(one for shadow in found[:3] for one in _shadow_evidence(shadow))
    mine = first.via == "script folder" or bool(first.other_python)
    known = first.module in FRAMEWORK_MODULES
    harmless = isinstance(facts.run.exit, Known) and not facts.run.failed and not known
    weigh = say.weak if harmless else say.sure(mine or facts.run.failed)
    text = f"{_shadow_text(first)}{likewise}"
    finding = weigh(
        text,
        *evidence,
        name=f"{first.module} {first.version}".rstrip(),
        path=first.path,
        module=first.module,
    )
    own = not first.instead and not first.standard  # a module that the environment does not have
    stops = known or (first.other_python and not (own and first.path.endswith(".so")))
    return finding if harmless or stops or first.wanted_by else say.slows(finding)


def _that_matter(facts: Facts) -> list[Shadow]:
    """Those that change something: not a second copy of the same release."""
    found = value_or(facts.installs.shadows, ())
    return [one for one in found if not (one.version and one.version == one.meant)]


def borrowed(facts: Facts, path: str) -> bool:
    """Whether a file lies in a folder that comes before the environment."""
    before = [one for one in _that_matter(facts) if one.via not in _OWN_FOLDERS]
    return any(path.startswith(f"{one.path.rpartition('/')[0]}/") for one in before)


def _shadow_order(one: Shadow) -> tuple[bool, bool]:
    """Frameworks first, then what is known to be of another release."""
    framework = one.module in FRAMEWORK_MODULES or one.wanted_by is not None
    return not framework, not one.version


def _shadow_text(one: Shadow) -> str:
    """What is imported, why it comes first, and what was meant."""
    path, by = one.path, _BY.get(one.via, f"a line in {one.file or 'a .pth file'}")
    name = f"{one.module} {one.version}".rstrip()
    python = one.other_python
    if not one.instead and not one.standard:
        made = f"Python {python}" if python[:1].isdigit() else python
        return (
            f"{path} is compiled for {made}, and this Python ignores it: import {one.module} fails"
        )
    meant = f"{one.module} {one.meant}" if one.meant else f"the installed {one.module}"
    meant = f"Python's own {one.module}" if one.standard else meant
    if one.via in _OWN_FOLDERS:
        return f"{path} is imported instead of {meant}: it has its name, and {by} comes first"
    made = f", which was installed for Python {one.other_python}," if one.other_python else ""
    refused = f", and {one.wanted_by} requires {one.module}{one.wants}" if one.wanted_by else ""
    return f"{by} puts {path} first: {name}{made} is imported instead of {meant}{refused}"


def _shadow_evidence(one: Shadow) -> list[Evidence]:
    out = [saw(f"imported as {one.module}", Source("file", one.path))]
    if one.instead:
        meant = f"{one.module} {one.meant}".rstrip()
        out.append(saw(f"meant: {meant}", Source("folder", one.instead)))
    if one.via == "PYTHONPATH":
        here = Source("env", "PYTHONPATH")
        out.append(saw("PYTHONPATH comes before the environment", here))
    elif one.file:
        out.append(saw("puts a folder on Python's path", Source("file", one.file)))
    return out


# ---------------------------------------------------------------- install.inconsistent

_SHOWN = 4
_OF_THE_GPU = re.compile(
    r"triton|torch|jax|cupy|numba|llvmlite|tensorrt|nvidia-|cuda-|xformers|flash-attn"
)
_FRAMEWORKS = ("tensorflow", "torch", "jax", "jaxlib", "onnxruntime", "paddlepaddle", "mxnet")


def contradicted(case: Case) -> Finding | None:
    """The first contradiction is said, and how many others there are."""
    facts = case.facts
    found = sorted(_unexplained(facts), key=lambda one: (not one.stack, _only_stated(one)))
    if not found:
        return None
    first = found[0]
    text, more = _said(first), len({(one.by.name, one.name) for one in found}) - 1
    if more:
        text += f"; {more} more {'pairs of packages do not fit' if more > 1 else 'does not'}"
    evidence = dict.fromkeys(e for one in found[:_SHOWN] for e in _evidence(facts, one))
    weigh = say.sure(_certain(facts, first)) if first.stack else say.weak
    by = first.by
    finding = weigh(
        text, *evidence, by=str(by), by_version=by.version, name=first.name, wants=first.wants
    )
    if not first.stack:
        return say.noted(finding)
    return finding if first.stops else say.slows(finding)


def _unexplained(facts: Facts) -> list[Contradiction]:
    """Without what misses symbols of the framework, and what is none of the environment: flavours
    over one another in different series (what their metadata requires is void), packages that lie
    in a folder before the environment.
    """
    found = facts.installs.contradictions.need() or ()
    broken = {one.owner.name for one in value_or(facts.loads.extensions, ()) if one.count}
    written = flavour_conflicts(facts) if isinstance(facts.installs.conflicts, Known) else []
    aside = {owner.name for one in written if of_two_series(one) for owner in one.owners}
    packages = value_or(facts.environment.packages, ())
    aside |= {one.name for one in packages if borrowed(facts, one.location)}
    left = [one for one in found if one.by.name not in aside]
    left = [one for one in left if not (one.name == "torch" and one.by.name in broken)]
    return [one for one in left if _counts(facts, one)]


def _counts(facts: Facts, one: Contradiction) -> bool:
    """A missing wheel counts where its library is missed, a late import not at all."""
    if one.basis is Basis.NO_WHEEL:
        # the wheels of what a framework opens only when it first needs it, and will not find
        built = {of.name: numbers(value_or(of.built_for_cuda, "")) for of in installed(facts)}
        needs = value_or(facts.loads.needs, ())
        lost = [of for of in needs if of.optional and isinstance(of.path, Absent)]
        majors = ((of.name, next(iter(built.get(of.framework, ())), None)) for of in lost)
        absent = isinstance(gpu_present(facts), Absent)
        return not absent and one.name in {wheel_of(*pair) for pair in majors}
    return one.basis is not Basis.LATE


def _only_stated(one: Contradiction) -> bool:
    """Whether it is no more than a statement in metadata, of a package without GPU code."""
    if one.basis is not Basis.STATED or one.effect or one.stops:
        return False
    known = flavour(one.name) is not None or one.name in _FRAMEWORKS
    return not (one.installed and (known or _OF_THE_GPU.match(one.name)))


def _said(one: Contradiction) -> str:
    """Who, what it requires, what is installed, what then happens."""
    wants, then = f"{one.name}{one.wants}", f", {one.effect}" if one.effect else ""
    late = one.basis in (Basis.UNSTATED, Basis.LATE)
    why = f" ({one.effect})" if one.effect else ""
    if one.basis is Basis.NO_WHEEL:
        return f"{one.by} requires {wants}; neither it nor its library is installed"
    if not one.installed and late:
        return f"{one.by} needs {wants} and does not state it{why}; it is not installed"
    if not one.installed:
        return f"{one.by} requires {wants}, which is not installed{then}"
    here = f"{one.installed} is installed{then}"
    if late:
        return f"{one.by} needs {wants}{why}; {one.installed} is installed"
    if one.basis is Basis.SAME_RELEASE:
        return f"{one.by} was built with {one.name} {one.by.version}; {here}"
    return f"{one.by} requires {wants}; {here}"


def _certain(facts: Facts, one: Contradiction) -> bool:
    """Whether it is known what happens: the package checks it, or its code does."""
    if one.basis in (Basis.EXTRA, Basis.SAME_RELEASE):
        jaxlib = facts.environment.by_name.get("jaxlib")
        aside = plugin_left_aside(jaxlib.version if jaxlib else "0")
        return aside or bool(refusal(one.by.name, one.name))
    return one.stops


def _evidence(facts: Facts, one: Contradiction) -> list[Evidence]:
    stated = one.basis in (Basis.STATED, Basis.EXTRA)
    wants = f"{one.name}{one.wants}" if stated else str(one.by)
    out = [saw(wants, Source("file", one.file))]
    if one.installed:
        out.append(saw(f"installed: {one.name} {one.installed}", facts.environment.packages))
    known = refusal(one.by.name, one.name)
    if one.source:
        text = f"{one.by} needs {one.name}{one.wants}"
        out.append(know(text, Source("know", one.source)))
    elif known is not None:
        out.append(say.table(f"{one.by} with another {one.name}: {known.effect}", known.source))
    elif one.by.name.startswith("jax-cuda") or one.name.startswith("jax-cuda"):
        out.append(say.table(EXACT_PLUGIN.text, EXACT_PLUGIN.source))
    return out


SIGNS = (
    *rows("install.conflict", "machine", flavours_overwrite, wheels_overwrite),
    otherwise("install.conflict", "machine", "no packages share files", "installs.conflicts"),
    *rows("env.shadowed", "machine", shadowed),
    otherwise("env.shadowed", "machine", "the installed modules come first", "installs.shadows"),
    *rows("install.inconsistent", "machine", contradicted),
    otherwise(
        "install.inconsistent",
        "machine",
        "the installed releases meet what they require of each other",
        "installs.contradictions",
    ),
)
