"""Other Python: an extension for Windows that asks for the DLL of another Python than the one that it was put into."""

from __future__ import annotations

import re

from gpuwhy.knowledge.windows import pythons_of
from gpuwhy.model.cause import Evidence, Fix, know, saw
from gpuwhy.model.fact import Source, value_or
from gpuwhy.model.facts import Facts, Framework, MissingLibrary
from gpuwhy.model.version import major_minor
from gpuwhy.rooms.shared.commands import change, python_of

_PYTHON = re.compile(r"(?i)python(3)(\d+)\.dll$")


def wanted(facts: Facts, framework: Framework) -> tuple[MissingLibrary, str] | None:
    """The python38.dll that a file of the framework misses, and that Python's version."""
    for tree in value_or(facts.loads.trees, ()):
        for missing in tree.missing if tree.framework == framework.name else ():
            found = _PYTHON.match(missing.name)
            if found and f"{found[1]}.{found[2]}" != major_minor(python_of(facts)):
                return missing, f"{found[1]}.{found[2]}"
    return None


def has_a_wheel(facts: Facts, framework: Framework) -> bool:
    """Whether the release has a wheel for the Python at hand: then the files of another one were put here."""
    return major_minor(python_of(facts)) in pythons_of(framework.distribution, framework.version)


def put_wrongly(facts: Facts) -> tuple[Framework, MissingLibrary, str] | None:
    """The framework whose files are for another Python, though there are some for this one."""
    for one in value_or(facts.target.frameworks, ()):
        if (found := wanted(facts, one)) and has_a_wheel(facts, one):
            return one, *found
    return None


def said(facts: Facts, framework: Framework, missing: MissingLibrary, python: str) -> str:
    """Which Python it is built for, and which this is."""
    return (
        f"{framework.title} {framework.version} is built for Python {python}, whose {missing.name} its "
        f"{missing.needed_by.rpartition('/')[2]} needs; this is Python {python_of(facts)}"
    )


def evidence(facts: Facts, framework: Framework, missing: MissingLibrary) -> tuple[Evidence, ...]:
    """The file that asks, the Python, and for which ones there are wheels."""
    published = pythons_of(framework.distribution, framework.version)
    name = f"{framework.distribution} {framework.version}"
    text = f"{name} has wheels for Python {', '.join(published)} on Windows"
    return (
        saw(f"needs {missing.name}", Source("file", missing.needed_by)),
        saw(f"Python {python_of(facts)}", facts.target.interpreter),
        *((know(text, Source("know", name, "its files")),) if published else ()),
    )


def for_this_one(facts: Facts) -> tuple[Fix, ...]:
    """Its wheel for this Python, and NumPy's, which was mostly copied along with it."""
    found = put_wrongly(facts)
    if found is None:
        return ()
    framework = found[0]
    beside = [f"numpy=={d.version}" for d in value_or(facts.target.distributions, ()) if d.name == "numpy"]
    text = "Install it again by this Python's own pip, which takes the files for this Python"
    own = f"{framework.distribution}=={framework.version}"
    return (change(facts, text, own, *beside[:1], because_of=framework.distribution, again=True),)
