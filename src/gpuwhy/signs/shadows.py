"""env.shadowed: what Python imports instead of the module that was meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuwhy.facts.fact import Known, Source, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, saw
from gpuwhy.facts.installs import Shadow
from gpuwhy.knowledge.modules import FRAMEWORK_MODULES
from gpuwhy.signs.case import Case, otherwise, proof, rows, slows, strong, weak
from gpuwhy.signs.words import and_more

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
    found = sorted(_that_matter(facts.installs.shadows.need() or ()), key=_order)
    if not found:
        return None
    first = found[0]
    names = [one.module for one in found[1:] if one.module != first.module]
    template = _said(first) + ("; {more} likewise" if names else "")
    evidence = dict.fromkeys(one for shadow in found[:3] for one in _evidence(shadow))
    always = bool(first.parts) and first.via not in (*_OWN_FOLDERS, "PYTHONPATH")
    mine = first.via == "script folder" or bool(first.other_python)
    certain = mine or facts.run.failed or always
    known = first.module in FRAMEWORK_MODULES
    harmless = isinstance(facts.run.exit, Known) and not facts.run.failed and not known
    guess = _perhaps(first) or harmless
    finding = (weak if guess else proof if certain else strong)(
        template, *evidence, **_values(first), more=and_more(names, 3)
    )
    stops = not _own_module(first) and (known or first.other_python or first.parts)
    return finding if guess or stops or first.wanted_by else slows(finding)


def _that_matter(found: Sequence[Shadow]) -> list[Shadow]:
    """Those that change something: not a second copy of the same release."""
    return [one for one in found if not (one.version and one.version == one.meant)]


def borrowed(facts: Facts, path: str) -> bool:
    """Whether a file lies in a folder that comes before the environment."""
    found = value_or(facts.installs.shadows, ())
    shadows = _that_matter(found)
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


def _own_module(one: Shadow) -> bool:
    """A compiled module of the program's own, which only another Python takes."""
    compiled = one.path.endswith(".so") and not one.parts
    return compiled and not one.instead and not one.standard


def _values(one: Shadow) -> dict[str, Any]:
    meant = f"{one.module} {one.meant}" if one.meant else f"the installed {one.module}"
    return {
        "path": one.path,
        "module": one.module,
        "name": f"{one.module} {one.version}".rstrip(),
        "meant": f"Python's own {one.module}" if one.standard else meant,
        "by": _BY.get(one.via, f"a line in {one.file or 'a .pth file'}"),
        "python": one.other_python,
        "wanted_by": str(one.wanted_by or ""),
        "wants": one.wants,
        "parts": one.parts[:2],
        "folder": one.path.rpartition("/")[0],
    }


def _said(one: Shadow) -> str:
    """What is imported, why it comes first, and what was meant."""
    if one.parts:
        kind = "a module" if one.path.endswith((".py", ".so")) else "a package"
        brought = " ({by} puts it first)" if one.via not in _OWN_FOLDERS else ""
        why = ", which {wanted_by} requires" if one.wanted_by else ""
        return (
            f"{{path}}{brought} is {kind} called {{module}}, so that Python does not find {{parts}}"
            f"{why}"
        )
    if _own_module(one):
        user = ", which {wanted_by} does" if one.wanted_by else ""
        made = "Python {python}" if one.other_python[:1].isdigit() else "{python}"
        text = f"{{path}} is compiled for {made}, and this Python ignores it: "
        return f"{text}import {{module}} fails{user}"
    if not one.instead and not one.standard:
        return (
            "{by} puts {folder} on Python's path: {name} there was compiled for Python {python}, "
            "and the environment has none of its own, so that its import fails"
        )
    if one.via in _OWN_FOLDERS:
        return "{path} is imported instead of {meant}: it has its name, and {by} comes first"
    made = ", which was installed for Python {python}," if one.other_python else ""
    refused = ", and {wanted_by} requires {module}{wants}" if one.wanted_by else ""
    return f"{{by}} puts {{path}} first: {{name}}{made} is imported instead of {{meant}}{refused}"


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


SIGNS = (
    *rows("env.shadowed", "machine", shadowed),
    otherwise("env.shadowed", "machine", "the installed modules come first", "installs.shadows"),
)
