"""env.shadowed: what Python imports instead of the module that was meant."""

from __future__ import annotations

from collections.abc import Sequence

from gpuwhy.facts.fact import Known, Source, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, saw
from gpuwhy.facts.installs import Shadow
from gpuwhy.knowledge.modules import FRAMEWORK_MODULES
from gpuwhy.signs.case import Case, against, and_more, proof, rows, slows, strong, weak

_OWN_FOLDERS = ("script folder", "working folder")
_WORKS_WITHOUT = ("torch",)
_BY = {
    "script folder": "the script's folder",
    "working folder": "the working folder",
    "PYTHONPATH": "PYTHONPATH",
    "user site": "the user's site-packages",
}


def shadowed(case: Case) -> Finding | None:
    """The first one is said; one of a framework, or of what a framework needs, stops it."""
    facts = case.facts
    found = sorted(_that_matter(facts), key=_order)
    if not found:
        return None
    first = found[0]
    template, values = _said(first)
    names = [one.module for one in found[1:] if one.module != first.module]
    if names:
        template, values["more"] = f"{template}; {{more}} likewise", and_more(names, 3)
    evidence = tuple(dict.fromkeys(one for shadow in found[:3] for one in _evidence(shadow)))
    if _perhaps(first) or _did_no_harm(facts, first):
        return weak(template, *evidence, **values)
    finding = (proof if _certain(facts, first) else strong)(template, *evidence, **values)
    if _own_module(first) and not first.wanted_by:
        return slows(finding)
    stops = first.module in FRAMEWORK_MODULES or first.other_python or first.parts
    return finding if stops or first.wanted_by else slows(finding)


def nothing_shadowed(case: Case) -> Finding | None:
    """What rules it out."""
    if _that_matter(case.facts):
        return None
    return against("Python finds the installed modules first")


def _that_matter(facts: Facts) -> list[Shadow]:
    return that_matter(facts.installs.shadows.need() or ())


def that_matter(found: Sequence[Shadow]) -> list[Shadow]:
    """Those that change something: not a second copy of the same release."""
    return [one for one in found if not (one.version and one.version == one.meant)]


def borrowed(facts: Facts, path: str) -> bool:
    """Whether a file lies in a folder that comes before the environment."""
    found = value_or(facts.installs.shadows, ())
    shadows = that_matter(found)
    before = [one for one in shadows if one.via not in _OWN_FOLDERS and not one.parts]
    return any(path.startswith(f"{one.path.rpartition('/')[0]}/") for one in before)


def borrowed_packages(facts: Facts) -> frozenset[str]:
    """The packages that lie in such a folder, and not in the environment."""
    packages = value_or(facts.environment.packages, ())
    return frozenset(one.name for one in packages if borrowed(facts, one.location))


def _order(one: Shadow) -> tuple[bool, bool, bool]:
    """Frameworks first, then what is known to be of another release."""
    framework = one.module in FRAMEWORK_MODULES or bool(one.wanted_by and not one.parts)
    return not framework, _perhaps(one), not one.version


def _perhaps(one: Shadow) -> bool:
    """Parts that nothing installed is known to import: only a program that does so fails."""
    needed = one.wanted_by is not None and one.wanted_by.name not in _WORKS_WITHOUT
    return bool(one.parts) and not needed


def _did_no_harm(facts: Facts, one: Shadow) -> bool:
    """Whether a program ended well all the same, and what was replaced is no framework."""
    ended = isinstance(facts.run.exit, Known) and not facts.run.failed
    return ended and one.module not in FRAMEWORK_MODULES


def _certain(facts: Facts, one: Shadow) -> bool:
    """A watched program's own folder, or packages of another Python; others may not be met."""
    always = bool(one.parts) and one.via not in (*_OWN_FOLDERS, "PYTHONPATH")
    mine = one.via == "script folder" or bool(one.other_python)
    return mine or facts.run.failed or always


def _own_module(one: Shadow) -> bool:
    """A compiled module of the program's own, which only another Python takes."""
    compiled = one.path.endswith(".so") and not one.parts
    return compiled and not one.instead and not one.standard


def _said(one: Shadow) -> tuple[str, dict[str, object]]:
    """What is imported, why it comes first, and what was meant."""
    values: dict[str, object] = {
        "path": one.path,
        "module": one.module,
        "name": f"{one.module} {one.version}".rstrip(),
        "meant": f"{one.module} {one.meant}" if one.meant else f"the installed {one.module}",
        "by": _BY.get(one.via, f"a line in {one.file or 'a .pth file'}"),
        "python": one.other_python,
        "wanted_by": str(one.wanted_by or ""),
        "wants": one.wants,
        "parts": one.parts[:2],
        "folder": one.path.rpartition("/")[0],
    }
    if one.standard:
        values["meant"] = f"Python's own {one.module}"
    if one.parts:
        kind = "a module" if one.path.endswith((".py", ".so")) else "a package"
        brought = " ({by} puts it first)" if one.via not in _OWN_FOLDERS else ""
        why = ", which {wanted_by} requires" if one.wanted_by else ""
        text = (
            f"{{path}}{brought} is {kind} called {{module}}, so that Python does not find {{parts}}"
        )
        return text + why, values
    if not one.instead and not one.standard:
        return _for_another_python(one), values
    if one.via in _OWN_FOLDERS:
        text = "{path} is imported instead of {meant}: it has its name, and {by} comes first"
        return text, values
    made = ", which was installed for Python {python}," if one.other_python else ""
    refused = ", and {wanted_by} requires {module}{wants}" if one.wanted_by else ""
    return (
        f"{{by}} puts {{path}} first: {{name}}{made} is imported instead of {{meant}}{refused}",
        values,
    )


def _for_another_python(one: Shadow) -> str:
    if _own_module(one):
        user = ", which {wanted_by} does" if one.wanted_by else ""
        made = "Python {python}" if one.other_python[:1].isdigit() else "{python}"
        text = f"{{path}} is compiled for {made}, and this Python ignores it: "
        return f"{text}import {{module}} fails{user}"
    return (
        "{by} puts {folder} on Python's path: {name} there was compiled for Python {python}, and "
        "the environment has none of its own, so that its import fails"
    )


def _evidence(one: Shadow) -> list[Evidence]:
    made = f"made for Python {one.other_python}" if _own_module(one) else ""
    out = [saw(made or f"imported as {one.module}", Source("file", one.path))]
    if one.instead:
        meant = one.parts[0] if one.parts else f"{one.module} {one.meant}".rstrip()
        out.append(saw(f"meant: {meant}", Source("folder", one.instead)))
    if one.via == "PYTHONPATH":
        here = Source("env", "PYTHONPATH")
        out.append(saw("PYTHONPATH comes before the environment", here))
    elif one.file:
        out.append(saw("puts a folder on Python's path", Source("file", one.file)))
    return out


SIGNS = rows("env.shadowed", "machine", shadowed, nothing_shadowed)
