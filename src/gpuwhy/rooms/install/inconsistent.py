"""install.inconsistent: installed releases that contradict each other, by their metadata or as no known pair."""

from __future__ import annotations

import re
from collections.abc import Collection

from gpuwhy.knowledge.companions import with_build
from gpuwhy.knowledge.flavours import flavour
from gpuwhy.knowledge.installs import EXACT_PLUGIN, gpu_requirement, wheel_of
from gpuwhy.knowledge.neighbours import working
from gpuwhy.knowledge.pairs import allows, fitting, plugin_left_aside, refusal
from gpuwhy.model.cause import (
    Case,
    Cause,
    Evidence,
    Finding,
    Fix,
    against,
    know,
    linked,
    mild,
    noted,
    proof,
    saw,
    strong,
    weak,
)
from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Absent, Source, value_or
from gpuwhy.model.facts import Contradiction, Damage, Imported
from gpuwhy.model.version import numbers
from gpuwhy.rooms.shared import imported
from gpuwhy.rooms.shared.borrowed import borrowed_packages
from gpuwhy.rooms.shared.bringing import FRAMEWORKS, for_the_import, until
from gpuwhy.rooms.shared.commands import change, python_of, uninstall
from gpuwhy.rooms.shared.linked import named, names_of
from gpuwhy.rooms.shared.rivals import in_name_only

_SHOWN = 4
_STACK = re.compile(
    r"triton|torch|jax|cupy|numba|llvmlite|tensorrt|onnx|keras|nvidia-|cuda-|xformers|flash-attn|numpy$"
)
"""How packages are called whose releases belong together by more than a statement."""
_OF_THE_GPU = re.compile(r"triton|torch|jax|cupy|numba|llvmlite|tensorrt|nvidia-|cuda-|xformers|flash-attn")
"""Those of them of which a trial on the CPU does not tell all."""


def contradicted(case: Case) -> Finding | None:
    """The first contradiction is told, and how many others there are."""
    found = sorted(_unexplained(case), key=lambda one: (not _linked(case, one), only_said(one)))
    if not found:
        return None
    first = found[0]
    evidence = [e for one in _distinct(found)[:_SHOWN] for e in _evidence(case, one)]
    text = told(first) + _likewise(first, found[1:]) + _besides(first, found[1:])
    astray = _astray(case, found)
    if astray is not None:
        text += f"; {astray.path} leads to {astray.expected}, which is not there any more"
        evidence.insert(0, saw(f"leads to {astray.expected}", Source("file", astray.path)))
    if not _linked(case, first):
        return weak(text, *dict.fromkeys(evidence))
    if only_said(first) and imported.all_well(case):
        return noted(weak(text, *dict.fromkeys(evidence)))
    finding = (proof if _certain(case, first) else strong)(text, *dict.fromkeys(evidence))
    finding = linked(finding) if case.symptoms else finding
    return finding if first.stops else mild(finding)


def without_numpy(case: Case) -> Finding | None:
    """PyTorch imports without NumPy, and cannot hand an array over or take one."""
    torch = next((one for one in value_or(case.facts.target.frameworks, ()) if one.name == "torch"), None)
    tried = any(one.module == "torch" and one.ended == "well" for one in value_or(case.facts.target.imports, ()))
    if torch is None or not tried or _version(case, "numpy") or not _version(case, torch.distribution):
        return None
    text = (
        f"NumPy is not installed: {torch.title} {torch.version} then raises 'Numpy is not available' at every .numpy()"
    )
    return noted(weak(text, saw("no numpy", case.facts.target.distributions)))


def lacks_at_import(case: Case) -> Finding | None:
    """The import of a framework was tried and ends: a package is not there, or lacks what another takes of it."""
    one = imported.of_another_release(case)
    if one is None or _told_by(case, one):
        return None
    ways = dict.fromkeys((*imported.packages_of(case, one), *imported.names_partner(one)))
    names = list(imported.distributions_of(case, list(ways)))
    between = f"; on the way: {' and '.join(names[:3])}" if names else ""
    return strong(f"{imported.told(one)}{between}", imported.seen(case, one))


def _told_by(case: Case, one: Imported) -> bool:
    """Whether a contradiction tells why an import fails: it stops who asks, or the error names what does not fit."""
    said = one.why.casefold().replace("-", "_")
    return any(found.stops or found.name.replace("-", "_") in said for found in _unexplained(case))


def _astray(case: Case, found: list[Contradiction]) -> Damage | None:
    """A file that adds a folder to Python's search, which is gone, where a framework is not found."""
    if not any(one.stops and not one.installed for one in found) or value_or(case.facts.target.frameworks, ()):
        return None
    return next((one for one in value_or(case.facts.target.damage, ()) if one.what == "project gone"), None)


def _linked(case: Case, one: Contradiction) -> bool:
    return named(case, (*names_of(one.by), *names_of(one.name)))


def _distinct(found: list[Contradiction]) -> list[Contradiction]:
    """One for each package that asks, and one for all that is not installed."""
    unique: dict[str, Contradiction] = {}
    for one in found:
        unique.setdefault(one.by if one.installed else "", one)
    return list(unique.values())


def _likewise(first: Contradiction, others: list[Contradiction]) -> str:
    """The others that complain of the same package."""
    names = list(dict.fromkeys(f"{c.by} {c.by_version}" for c in others if c.name == first.name and c.by != first.by))
    if not names:
        return ""
    return f"; {' and '.join(names[:2])}{f' and {len(names) - 2} more' if len(names) > 2 else ''} likewise"


def _besides(first: Contradiction, others: list[Contradiction]) -> str:
    """What else does not fit: the next pair, and a count; all of JAX's parts are one story."""
    rest = [one for one in others if one.name != first.name and not (_of_jax(first) and _of_jax(one))]
    unfit, lacking = [one for one in rest if one.installed], [one for one in rest if not one.installed]
    out = f"; {told(unfit[0])}" if unfit else ""
    if len(unfit) > 1:
        out += f", and {len(unfit) - 1} more"
    return out + (_not_there(first, lacking) if lacking else "")


def _not_there(first: Contradiction, lacking: list[Contradiction]) -> str:
    if not first.installed:
        return f", and {len(lacking)} more"
    more = f"and {len(lacking) - 1} more are" if len(lacking) > 1 else "is"
    return f"; {lacking[0].name} {more} not installed"


def _of_jax(one: Contradiction) -> bool:
    return all(name in ("jax", "jaxlib") or _is_plugin(name) for name in (one.by, one.name))


def consistent(case: Case) -> Finding | None:
    """What rules it out."""
    fact = case.facts.target.contradictions
    if (fact.need() and _unexplained(case)) or imported.of_another_release(case) or without_numpy(case):
        return None
    if any(one.how not in ("wheel", "late") for one in fact.need() or ()):
        return against(
            "what contradicts the framework misses its symbols: framework.extension_abi", saw("compared", fact)
        )
    return against("the installed releases meet what they ask of each other", saw("requirements compared", fact))


def _unexplained(case: Case) -> list[Contradiction]:
    """Without what misses symbols of the framework, and what is none of the environment: causes beside this one."""
    found = case.facts.target.contradictions.need() or ()
    broken = {one.distribution for one in value_or(case.facts.loads.extensions, ()) if one.count}
    mixed = in_name_only(case.facts) | borrowed_packages(case.facts)
    left = [one for one in found if one.by not in mixed and not (one.name == "torch" and one.by in broken)]
    missed = _missed_later(case) if any(one.how == "wheel" for one in left) else frozenset()
    return [one for one in left if _counts(case, one, missed)]


def _counts(case: Case, one: Contradiction, missed: Collection[str]) -> bool:
    """A wheel that is not there counts where its library is missed, a late import where the program met it."""
    if one.how == "wheel":
        return one.name in missed
    if one.how == "build" and one.by == "bitsandbytes":  # without a GPU it takes its library for the CPU
        return not isinstance(gpu_present(case.facts), Absent)
    if beyond_a_pin(one) and imported.all_well(case):
        return False
    return one.how != "late" or (case.facts.run.failed and _linked(case, one))


def beyond_a_pin(one: Contradiction) -> bool:
    """Whether it is a mere statement that a somewhat newer release of a package without GPU code is not allowed."""
    gpu = flavour(one.name) is not None or one.name in FRAMEWORKS or _STACK.match(one.name)
    if one.how != "stated" or not one.installed or one.effect or one.stops or gpu:
        return False
    return all(_little_newer(clause.strip(), one.installed) for clause in one.wants.split(","))


def only_said(one: Contradiction) -> bool:
    """Whether it is no more than a statement in metadata, of a package that works the same with a GPU and without."""
    gpu = one.installed and (flavour(one.name) is not None or one.name in FRAMEWORKS or _OF_THE_GPU.match(one.name))
    return one.how == "stated" and not one.effect and not one.stops and not gpu


def _little_newer(clause: str, version: str) -> bool:
    """Whether a clause lets a version in, or names an older one of the same series: 1.13 of 1.14, 0.3.1 of 0.3.2."""
    named = clause.lstrip("<>=~! ").removesuffix(".*")
    there, limit = numbers(version), numbers(named)
    deep = 1 if there[:1] != (0,) else 2
    new_series = clause.startswith("<") and not any(limit[deep:])  # <2.0 and <0.5.0 name where one begins
    same = there[:deep] == limit[:deep] and there >= limit and not new_series
    return allows(clause, version) or (same and not clause.startswith(("!", ">")))


def _missed_later(case: Case) -> frozenset[str]:
    """The wheels that hold what a framework opens only when it first needs it, and will not find."""
    if isinstance(gpu_present(case.facts), Absent):
        return frozenset()
    cuda = {f.name: numbers(value_or(f.built_for_cuda, ""))[:1] for f in value_or(case.facts.target.frameworks, ())}
    lost = [n for n in value_or(case.facts.loads.needs, ()) if n.optional and isinstance(n.found, Absent)]
    return frozenset(wheel_of(n.name, next(iter(cuda.get(n.framework, ())), None)) for n in lost)


def told(one: Contradiction) -> str:
    """One contradiction as a sentence: who, what it asks for, what is there, what then happens."""
    if one.how == "wheel":
        by = f"{one.by} {one.by_version}"
        return f"{by} asks for {one.name}{one.wants}; neither it nor its library is there, and a part of {one.by} fails"
    return _there(one) if one.installed else _lacking(one)


def _lacking(one: Contradiction) -> str:
    by = f"{one.by} {one.by_version}"
    if one.how in ("unstated", "late"):
        return f"{by} needs {one.name}{one.wants} and does not state it ({one.effect}); it is not installed"
    return f"{by} asks for {one.name}{one.wants}, which is not installed{f', {one.effect}' if one.effect else ''}"


def _there(one: Contradiction) -> str:
    by, there = f"{one.by} {one.by_version}", f"{one.installed} is installed"
    if one.how == "build":
        return f"{by} {one.effect}"
    after = f", {one.effect}" if one.effect else ""
    if one.how == "compiled":
        return f"{by} was compiled for NumPy 1; {one.name} {there}{after}"
    if one.how == "rival":
        return f"{by} and {one.name} {one.installed} are installed together, {one.effect}"
    if one.how == "generated":
        return f"{by} carries code that was generated for {one.name}{one.wants}; {there}{after}"
    if one.how == "same release":
        return f"{by} was built with jaxlib {one.by_version}; jaxlib {there}{after}"
    if one.how == "unstated":
        why = f" ({one.effect})" if one.effect else ""
        return f"{by} needs {one.name}{one.wants}{why}; {there}"
    return f"{by} asks for {one.name}{one.wants}; {there}{after}"


def _certain(case: Case, one: Contradiction) -> bool:
    """Whether it is known what happens: the package checks it, its code does, or it was tried."""
    if one.how in ("extra", "same release"):
        return plugin_left_aside(_version(case, "jaxlib") or "0") or bool(refusal(one.by, one.name))
    return one.stops and one.how != "compiled"


def _evidence(case: Case, one: Contradiction) -> tuple[Evidence, ...]:
    says = {"compiled": "names numpy.core, and not numpy._core", "generated": "the generated code"}
    wants = says.get(
        one.how, f"{one.name}{one.wants}" if one.how in ("stated", "extra") else f"{one.by} {one.by_version}"
    )
    known = refusal(one.by, one.name)
    out = [saw(wants, Source("file", one.file))]
    if one.installed:
        out.append(saw(f"installed: {one.name} {one.installed}", case.facts.target.distributions))
    if one.know:
        text = "one plugin at a time" if one.how == "rival" else f"{one.by} needs {one.name}{one.wants}"
        out.append(know(text, Source("know", one.know)))
    elif known is not None:
        out.append(know(f"{one.by} with another {one.name}: {known.effect}", known.source))
    elif _is_plugin(one.by) or _is_plugin(one.name):
        out.append(know(EXACT_PLUGIN.text, EXACT_PLUGIN.source))
    return tuple(out)


def _is_plugin(name: str) -> bool:
    return name.startswith("jax-cuda")


def _version(case: Case, name: str) -> str:
    return next((d.version for d in value_or(case.facts.target.distributions, ()) if d.name == name), "")


# ---------------------------------------------------------------- what to do


def fixes(case: Case) -> tuple[Fix, ...]:
    """Keep the framework, move what does not fit it; a package of nobody's own moves into everybody's range."""
    found = _unexplained(case)
    astray = _astray(case, found)
    wrong, lacking = [one for one in found if one.installed], [one for one in found if not one.installed]
    out = _unfit(case, wrong)
    if lacking:
        wanted = tuple(dict.fromkeys(f"{one.name}{one.wants}" for one in lacking))
        text = f"Install what {lacking[0].by} {lacking[0].by_version} asks for"
        out["lacking"] = change(case.facts, text, *wanted, because_of=lacking[0].by, role="part")
    if astray is not None:
        right = Fix(f"Write into {astray.path} where {astray.expected} is now; or install it into this environment")
        return (right, *out.values())
    if without_numpy(case) and not out:
        return (change(case.facts, "Install NumPy", "numpy", because_of="torch", until=until(case)),)
    tried = imported.of_another_release(case)
    first = tried is not None and not _told_by(case, tried)
    return for_the_import(case, tried) if tried is not None and first else tuple(out.values())


def _unfit(case: Case, wrong: list[Contradiction]) -> dict[object, Fix]:
    """A fix for each of the first packages that do not fit."""
    moving = {one.name for one in wrong if one.how == "stated"}
    wrong = [one for one in wrong if one.how != "compiled" or one.by not in moving]  # that one is replaced anyhow
    out: dict[object, Fix] = {}
    for one in wrong:
        fix = _fix(case, one)
        if len(out) < _SHOWN:
            out.setdefault(fix.install or fix.text, fix)
    return out


def _fix(case: Case, one: Contradiction) -> Fix:
    if one.how == "rival":
        return _one_plugin(case, one)
    if one.how == "build" and (releases := with_build(one.by, one.wants)):
        text = f"Install a {one.by} that has a library for CUDA {one.wants}"
        return change(case.facts, text, f"{one.by}{releases}", because_of=one.by, role="part")
    if _of_jax(one):
        return _jax(case)
    if one.name in FRAMEWORKS or _framework(one.name):
        return _companion(case, one)
    return _neighbour(case, one)


def _one_plugin(case: Case, one: Contradiction) -> Fix:
    """Keep the plugin whose CUDA runtime is there (else the first), and take the other away with its half."""
    half = one.by.replace("-plugin", "-pjrt")
    names = [one.by, *([half] if _version(case, half) else [])]
    text = f"Keep {one.name}, and remove {' and '.join(names)}"
    return Fix(text, uninstall(case.facts, *names), safe=True, role="part", uninstall=tuple(names))


def _framework(name: str) -> bool:
    found = flavour(name)
    return found is not None and found.module in FRAMEWORKS


def _jax(case: Case) -> Fix:
    """JAX, jaxlib and the plugin by one requirement, which pins all of them."""
    jax = _version(case, "jax") or _version(case, "jaxlib")
    plugins = [d.name for d in value_or(case.facts.target.distributions, ()) if _is_plugin(d.name)]
    major = numbers(plugins[0].removeprefix("jax-cuda"))[:1] if plugins else ()
    wanted = gpu_requirement("jax", "jax", jax, major[0], python_of(case.facts)) if major else ""
    text = f"Install what belongs to JAX {jax}, all of one release"
    return change(case.facts, text, wanted or f"jax=={jax}", because_of="jax", role="part")


def _companion(case: Case, one: Contradiction) -> Fix:
    """The release of a companion that goes with the framework that is there."""
    there = one.installed.split("+")[0]
    release = fitting(one.by, one.name, there) or working(one.by, one.name, there, one.by_version)
    if not release:
        text = f"Install a release of {one.by} for {one.name} {one.installed}, or give it an environment of its own"
        return Fix(text, f'gpuwhy plan "{one.name}=={there}" {one.by}', wishes=(one.by,), role="part")
    text = f"Install the {one.by} that goes with {one.name} {one.installed}"
    return change(case.facts, text, f"{one.by}=={release}", because_of=one.by, role="part")


def _neighbour(case: Case, one: Contradiction) -> Fix:
    """A release of the package within what everybody who asked wants of it."""
    everybody = [c.wants for c in case.facts.target.contradictions.need() or () if c.name == one.name and c.wants]
    wanted = ",".join(dict.fromkeys(clause.strip() for wants in everybody for clause in wants.split(",")))
    text = f"Change {one.name} to a release that {one.by} {one.by_version} works with"
    return change(case.facts, text, f"{one.name}{wanted}", because_of=one.by, role="part")


CAUSE = Cause(
    id="install.inconsistent",
    title="installed package versions do not fit together",
    signs=(lacks_at_import, contradicted, without_numpy, consistent),
    fixes=fixes,
    effect="{because}",
)
