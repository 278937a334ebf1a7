"""Imported: what a failed import of a framework says for which cause, by the experiment that made it go well."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.knowledge.modules import BROUGHT_BY, IMPORTED_AS, NAMESPACES
from gpuwhy.model.cause import Case, Evidence, saw
from gpuwhy.model.fact import Source, value_or
from gpuwhy.model.facts import EDITED, Damage, Imported
from gpuwhy.model.words import normal

SEARCH = ("PYTHONPATH", "PYTHONUSERBASE", "PYTHONNOUSERSITE")
"""Variables that say where Python looks for packages."""


LARGE = ("torch", "tensorflow", "jax", "jaxlib", "triton")
"""Packages that are not written anew on a guess."""


_NOT_THERE = ("ImportError", "ModuleNotFoundError", "RuntimeError", "OptionalDependencyNotAvailable")
_BY_METADATA = ("PackageNotFoundError", "DistributionNotFound", "VersionConflict", "ContextualVersionConflict")
"""What is raised where a package looks for another's metadata, and finds none or another release's."""


def failing(case: Case) -> list[Imported]:
    """The imports that failed, of one framework where the case is about one."""
    found = [one for one in value_or(case.facts.target.imports, ()) if one.failed]
    if case.framework is None:
        return found
    every = [one.name for one in value_or(case.facts.target.frameworks, ())]
    others = case.framework.name == every[0]  # what belongs to none of them is told once
    return [one for one in found if one.framework == case.framework.name or (others and one.framework not in every)]


def all_well(case: Case) -> bool:
    """Whether everything that was imported was imported well, and something was."""
    found = [one for one in value_or(case.facts.target.imports, ()) if not one.blame]
    return any(one.ended == "well" for one in found) and not any(one.failed or one.ended == "late" for one in found)


def blamed(case: Case, *kinds: str) -> Imported | None:
    """The first import that goes well without something of these kinds."""
    return next((one for one in failing(case) if one.blame in kinds and not _only_bares(case, one)), None)


def _only_bares(case: Case, one: Imported) -> bool:
    """Whether without such a file something is merely not asked for that is not there: the file has no fault."""
    if one.blame not in ("file", "files") or one.part:
        return False
    file = one.culprit.rpartition("/")[2]
    own = any(name in file for name in packages_of(case, one) if len(name) > 3)  # a package's own part of the start
    return bool(misses(case, one)) or (own and _lacks_a_name(one))


def preset(case: Case) -> Imported | None:
    """The first import that goes well without a variable which a file sets when Python starts."""
    return next((one for one in failing(case) if one.blame == "file" and one.part), None)


def unexplained(case: Case) -> list[Imported]:
    """The imports that failed whatever was changed around them, and with files that are as installed."""
    bad: tuple[Damage, ...] = value_or(case.facts.target.damage, ())
    found = [one for one in failing(case) if not one.blame or _only_bares(case, one)]
    found = [one for one in found if not one.prefix and one.kind != "EmptyFolder"]
    return [one for one in found if not any(_near(one, damage) for damage in bad)]


def told(one: Imported) -> str:
    """What happened, in a sentence."""
    return f"{one.deed} fails: {one.why}"


def seen(case: Case, one: Imported) -> Evidence:
    """The import as evidence."""
    return saw(one.why, Source("call", f"{one.deed}", "in the environment's own Python"))


def misses(case: Case, one: Imported) -> str:
    """The distribution that would bring the module which was not found; "" where that is Python's own, or installed."""
    lost = one.lost or one.sought
    name, there = lost.partition(".")[0], {d.name for d in value_or(case.facts.target.distributions, ())}
    if not name:
        return next((dist for dist in _advised(one) if dist not in there), "")
    if own_of_python(case, name):
        return ""
    if lost != name:  # of a shared name the part is what a distribution is called after
        part = normal(".".join(lost.split(".")[:2]))
        return part if name in NAMESPACES and part not in there else ""
    if name in BROUGHT_BY:
        return BROUGHT_BY[name]
    meant = next((dist for dist, module in IMPORTED_AS.items() if module == name), normal(name))
    return "" if {meant, normal(name)} & there else meant


_ADVICE = re.compile(r"pip3? install (?:the )?[`'\"]?(?P<name>[A-Za-z][\w-]*[A-Za-z0-9])(?P<extra>\[)?")


def _advised(one: Imported) -> Iterator[str]:
    """The distribution that a package's own error says to install; extras of itself are no other one."""
    said = _ADVICE.search(one.words) if one.ended == "raised" and one.kind in _NOT_THERE else None
    yield from [normal(said["name"])] if said and not said["extra"] else ()


def with_framework(case: Case, one: Imported) -> bool:
    """Whether it is imported with a framework, whose release stays."""
    return any(one.framework == framework.name for framework in value_or(case.facts.target.frameworks, ()))


def own_of_python(case: Case, name: str) -> bool:
    """Whether a module belongs to Python itself."""
    import sys

    return name in sys.stdlib_module_names or name in ("distutils", "imp", "asyncore", "asynchat")


def without_its_own(case: Case) -> Imported | None:
    """An import that ends because Python lacks a module of its own."""
    return next(
        (one for one in unexplained(case) if one.lost and own_of_python(case, one.lost.partition(".")[0])), None
    )


def packages_of(case: Case, one: Imported) -> list[str]:
    """The packages on the way to a failure, the innermost first, by the folders of their files."""
    inside = (path.rpartition("-packages/") for path in (one.source, *one.files))
    return list(dict.fromkeys(rest.partition("/")[0].removesuffix(".py") for _, found, rest in inside if found))


def of_another_release(case: Case) -> Imported | None:
    """An import that ends because a package lacks what another takes from it, or is not there at all."""
    return next((one for one in unexplained(case) if misses(case, one) or _lacks_a_name(one)), None)


def _lacks_a_name(one: Imported) -> bool:
    """Code that was written for another release of the package that it uses: a name or a part is not there."""
    if (one.lost and "." in one.lost) or (one.module.startswith("use:") and one.ended == "raised"):
        return True
    return one.kind in ("AttributeError", "TypeError", *_BY_METADATA) or (
        one.kind == "ImportError" and (not one.source or one.source.endswith(".py"))  # raised by a package's own code
    )


def hollow(case: Case) -> Imported | None:
    """An import that ends in a folder without code, which Python takes for a package of that name."""
    return next((one for one in failing(case) if one.kind == "EmptyFolder"), None)


_LACKING = re.compile(
    r"module '(?P<a>[\w.]+)' has no attribute|cannot import name '[^']+' from (?:partially initialized module )?"
    r"'(?P<b>[\w.]+)'"
)


def names_partner(one: Imported) -> list[str]:
    """The package of which an error says that it lacks a name."""
    said = _LACKING.search(one.words)
    return [next(filter(None, said.groups())).partition(".")[0]] if said else []


def distributions_of(case: Case, packages: list[str]) -> Iterator[str]:
    """The distributions, with their releases, that packages are installed by."""
    known = {one.top: one.package for one in value_or(case.facts.target.imports, ()) if one.package}
    for d in value_or(case.facts.target.distributions, ()):
        known[IMPORTED_AS.get(d.name) or d.name.replace("-", "_")] = f"{d.name} {d.version}"
    yield from (known[name] for name in packages if name in known)


def on_the_way(case: Case, damage: Damage) -> bool:
    """Whether a damaged file is one that an import failed at, or of the same package."""
    return any(_near(one, damage) for one in failing(case))


def heard_of(case: Case, found: Sequence[Damage]) -> list[Damage]:
    """Damage without metadata that is gone, unless a failed import names the package: else nobody asked for it."""
    said = " ".join(one.why for one in failing(case))
    return [one for one in found if one.what != "metadata gone" or one.owner.partition(" ")[0] in said]


def _near(one: Imported, damage: Damage) -> bool:
    files = (one.source, *one.files)
    if damage.what == EDITED:  # people patch modules, and all is well: only where it ends counts
        return damage.path in files[:3] and not one.lost and not one.blame
    package = damage.path.rpartition("-packages/")[2].partition("/")[0]
    return damage.path in files or any(f"-packages/{package}/" in path for path in files if package)


def elsewhere(case: Case) -> Imported | None:
    """An import that another Python tried than the environment's own, although that was started."""
    return next((one for one in failing(case) if one.prefix), None)
