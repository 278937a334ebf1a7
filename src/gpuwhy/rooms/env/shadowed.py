"""env.shadowed: a file, a folder, PYTHONPATH or a user-site package stands in for the module that was meant."""

from __future__ import annotations

from collections.abc import Sequence

from gpuwhy.knowledge.modules import FRAMEWORK_MODULES
from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, against, linked, mild, proof, saw, strong, weak
from gpuwhy.model.fact import Known, Source, value_or
from gpuwhy.model.facts import SCRIPT_FOLDER, USER_SITE, WORKING_FOLDER, Imported, Shadow
from gpuwhy.rooms.shared.borrowed import that_matter
from gpuwhy.rooms.shared.commands import word
from gpuwhy.rooms.shared.imported import SEARCH, failing, seen
from gpuwhy.rooms.shared.linked import named

OWN_FOLDERS = (SCRIPT_FOLDER, WORKING_FOLDER)
JOIN = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)"
"""The line by which a package shares its name with the folders of others."""
DOES_WITHOUT = ("torch ",)
"""Who asks for parts of a shared name and imports none of them by itself."""


def stands_in(case: Case) -> Finding | None:
    """The first shadow is told; one of a framework, or of what a framework cannot do without, stops it."""
    found = sorted(_that_matter(case), key=lambda one: not _linked(case, one))
    if not found:
        return None
    first = found[0]
    text = told(first) + _likewise(first, found[1:])
    evidence = dict.fromkeys(e for one in found[:3] for e in _evidence(one))
    if not _linked(case, first) or _did_no_harm(case, first) or _perhaps(first):
        return weak(text, *evidence)
    finding = (proof if _certain(case, first) else strong)(text, *evidence)
    finding = linked(finding) if case.symptoms else finding
    if _own_module(first) and not first.wanted_by:
        return mild(finding)
    stops = first.module in FRAMEWORK_MODULES or first.other_python or first.parts or first.wanted_by
    return finding if stops else mild(finding)


def _perhaps(one: Shadow) -> bool:
    """Parts that nothing installed is known to import: only a program that does so fails."""
    return bool(one.parts) and (not one.wanted_by or one.wanted_by.startswith(DOES_WITHOUT))


def _did_no_harm(case: Case, one: Shadow) -> bool:
    """Whether a program ended well all the same, and what was replaced is no framework."""
    ended = case.facts.run.exit
    return isinstance(ended, Known) and not case.facts.run.failed and one.module not in FRAMEWORK_MODULES


def _likewise(first: Shadow, others: Sequence[Shadow]) -> str:
    names = [one.module for one in others if one.module != first.module]
    return f"; {', '.join(names[:3])} likewise" if names else ""


def _linked(case: Case, one: Shadow) -> bool:
    return named(case, (one.module, one.path))


def taken_from_elsewhere(case: Case) -> Finding | None:
    """A framework was imported, or its import tried: it came from another place than where it is installed."""
    for one in value_or(case.facts.target.imports, ()):
        meant = _meant(case, one)
        taken = _taken(one) if meant else ""
        if taken and not taken.startswith(f"{meant}/"):
            how = f", and fails: {one.why}" if one.failed else ""
            text = f"{one.deed} takes {taken}, and not what is installed in {meant}{how}"
            evidence = (
                saw("what Python imports", Source("file", taken)),
                saw("what is installed", Source("folder", meant)),
            )
            return proof(text, *evidence)
    return None


def _meant(case: Case, one: Imported) -> str:
    """The folder that a framework's own module is installed in."""
    folders = (f.path for f in value_or(case.facts.target.frameworks, ()) if f.name == one.framework)
    return next((path for path in folders if path.rpartition("/")[2] == one.module), "")


def _taken(one: Imported) -> str:
    first = f"/{one.module}/__init__.py"
    return one.file if one.file.endswith(first) else next((path for path in one.files if path.endswith(first)), "")


def borrowed(case: Case) -> Finding | None:
    """The import of a framework fails with packages of PYTHONPATH or of the user's own, and goes well without them."""
    one = _borrowing(case)
    if one is None:
        return None
    what = USER_SITE if one.blame == "user site" else one.culprit
    text = f"{one.deed} fails with the packages that {what} brings, and goes well without them ({one.why})"
    return proof(text, seen(case, one))


def _borrowing(case: Case) -> Imported | None:
    found = (one for one in failing(case) if one.blame == "user site" or one.culprit in SEARCH)
    return next(found, None)


def nothing_stands_in(case: Case) -> Finding | None:
    """What rules it out."""
    fact = case.facts.target.shadows
    fact.need()
    if any(one.signature == "shadow.frame" for one in case.symptoms):
        return None  # the program's own traceback goes through such a file
    if _that_matter(case) or taken_from_elsewhere(case) or borrowed(case):
        return None
    return against("Python finds the installed modules first", saw("the folders before the environment", fact))


def _that_matter(case: Case) -> list[Shadow]:
    """Frameworks first, then what is known to be of another release."""
    found = that_matter(case.facts.target.shadows.need() or ())
    return sorted(found, key=lambda one: (not _of_a_framework(one), _perhaps(one), not one.version))


def _of_a_framework(one: Shadow) -> bool:
    """A framework's own module, or one of a release that the stack states it cannot take."""
    return one.module in FRAMEWORK_MODULES or bool(one.wanted_by and not one.parts)


def _hides(one: Shadow) -> str:
    """A package or module that keeps the parts of a shared name from being found."""
    kind = "a package" if not one.path.endswith((".py", ".so")) else "a module"
    why = f", which {one.wanted_by} asks for" if one.wanted_by else ""
    brought = f" ({_by(one)} brings it)" if one.via and one.path.rpartition("/")[0] != one.via else ""
    parts = " and ".join(one.parts[:2])
    return f"{one.path}{brought} is {kind} called {one.module}, so that Python does not find {parts}{why}"


def told(one: Shadow) -> str:
    """One shadow as a sentence: what is imported, why it comes first, and what was meant."""
    if one.parts:
        return _hides(one)
    what = f"{one.module} {one.version}" if one.version else one.module
    if not one.instead:
        return _for_another_python(one, what)
    meant = f"{one.module} {one.meant}" if one.meant else f"the installed {one.module}"
    if not one.instead.startswith(("/", "~")):
        meant = f"Python's own {one.module}"
    if one.via in OWN_FOLDERS:
        return f"{one.path} has the name of a module, and {one.via} comes first: it is imported instead of {meant}"
    for_python = f", which was installed for Python {one.other_python}," if one.other_python else ""
    refused = f", and {one.wanted_by}" if one.wanted_by else ""
    return f"{_by(one)} puts {one.path} first: {what} there{for_python} is imported instead of {meant}{refused}"


def _by(one: Shadow) -> str:
    return one.via if one.via in (*OWN_FOLDERS, "PYTHONPATH", USER_SITE) else f"a line in {one.via}"


def _own_module(one: Shadow) -> bool:
    """A compiled module of the program's own, which only another Python takes."""
    return one.path.endswith(".so") and not one.instead and not one.parts


def _made_for(one: Shadow) -> str:
    return f"Python {one.other_python}" if one.other_python[:1].isdigit() else one.other_python


def _for_another_python(one: Shadow, what: str) -> str:
    folder = one.path.rpartition("/")[0]
    if _own_module(one):
        user = f", which {one.wanted_by} does" if one.wanted_by else ""
        return f"{one.path} is compiled for {_made_for(one)}, and this Python passes over it: import {what} fails{user}"
    return (
        f"{_by(one)} puts {folder} on Python's path: {what} there was compiled for Python {one.other_python}, and the "
        "environment has none of its own, so that its import fails"
    )


def _certain(case: Case, one: Shadow) -> bool:
    """A watched program's own script folder, or packages of another Python; else the program may start elsewhere."""
    always = bool(one.parts) and one.via not in (*OWN_FOLDERS, "PYTHONPATH")
    return one.via == SCRIPT_FOLDER or bool(one.other_python) or case.facts.run.failed or always


def _evidence(one: Shadow) -> tuple[Evidence, ...]:
    what = f"made for {_made_for(one)}" if _own_module(one) else f"imported as {one.module}"
    out = [saw(what, Source("file", one.path))]
    if one.instead.startswith(("/", "~")):
        meant = one.parts[0] if one.parts else f"{one.module} {one.meant}".rstrip()
        out.append(saw(f"meant: {meant}", Source("folder", one.instead)))
    if one.via == "PYTHONPATH":
        out.append(saw("PYTHONPATH comes before the environment", Source("env", "PYTHONPATH")))
    elif one.via.endswith(".pth"):
        out.append(saw("puts a folder on Python's path", Source("file", one.via)))
    return tuple(out)


def fixes(case: Case) -> tuple[Fix, ...]:
    """Take away what comes first; nothing is installed or removed in the environment."""
    out: dict[str, Fix] = {}
    for one in _that_matter(case)[:3]:
        ways = (*_join(one), *_off_pythonpath(case, one), _fix(one), *_own(one))
        for fix in (_built_again(case, one),) if _own_module(one) else ways:
            out.setdefault(fix.command or fix.text, fix)
    tried = _borrowing(case)
    if tried is not None and not out:
        return (_left_out(tried),)
    if not out and taken_from_elsewhere(case):
        return (Fix("Take the finder, the .pth file or the folder away that leads there, or finish what is in it"),)
    return tuple(out.values())


def _left_out(one: Imported) -> Fix:
    if one.blame == "user site":
        return Fix("Keep Python from the user's site-packages", "export PYTHONNOUSERSITE=1", safe=True)
    return Fix(
        f"Start without {one.culprit} (and take it out of the shell's start file)", f"unset {one.culprit}", safe=True
    )


def _join(one: Shadow) -> tuple[Fix, ...]:
    """A package of one's own may share its name; a module cannot."""
    if not one.parts or one.path.endswith((".py", ".so")):
        return ()
    text = f"Let the package share its name: put this line first in {one.path}/__init__.py"
    return (Fix(text, on.code(JOIN), safe=True),)


def _off_pythonpath(case: Case, one: Shadow) -> tuple[Fix, ...]:
    """The variable without this one folder, where it names others too."""
    value = value_or(case.facts.environment.value("PYTHONPATH"), "")
    folders = [part for part in value.split(":") if part]
    left = [part for part in folders if not one.path.startswith(f"{part.rstrip('/')}/")]
    if one.via != "PYTHONPATH" or not left or len(left) == len(folders):
        return ()
    gone = next(part for part in folders if part not in left)
    return (Fix(f"Take {gone} out of PYTHONPATH", f"export PYTHONPATH={word(':'.join(left))}", safe=True),)


def _built_again(case: Case, one: Shadow) -> Fix:
    """Its name tells that it was built in place, mostly by setuptools."""
    python = value_or(case.facts.target.interpreter, None)
    python_path = word(python.path) if python else "python"
    text = f"Build {one.module} again with this Python, in its project's folder, or start with {_made_for(one)}"
    return Fix(text, on.linux(f"{python_path} setup.py build_ext --inplace"), role="part")


def _own(one: Shadow) -> tuple[Fix, ...]:
    """What the environment lacks, for its own Python."""
    if one.instead or not one.other_python:
        return ()
    return (Fix(f"Then install what it brought into this environment, or start with Python {one.other_python}"),)


def _fix(one: Shadow) -> Fix:
    if one.via.endswith(".pth") and not one.instead:
        return Fix(f"Take the line with {one.path.rpartition('/')[0]} out of {one.via}")
    if one.via == "PYTHONPATH":
        text = "Start without PYTHONPATH (and take it out of the shell's start file), or take that folder out of it"
        return Fix(text, "unset PYTHONPATH", safe=True)
    if one.via == USER_SITE:
        return Fix("Keep Python from the user's site-packages", "export PYTHONNOUSERSITE=1", safe=True)
    if one.parts and one.via.endswith(".pth"):
        return Fix(f"Or take the folder {one.path.rpartition('/')[0]} out of {one.via}, or rename {one.module} in it")
    if one.via not in OWN_FOLDERS and not one.parts:
        return Fix(f"Remove the line with sys.path.insert from {one.via}")
    folder, _, name = one.path.rpartition("/")
    new = f"{folder}/my_{name}"
    text = f"Rename {name}, also where your own code imports it, and delete its compiled copy in __pycache__"
    return Fix(
        text,
        on.linux(f"mv {word(one.path)} {word(new)} && rm -f {word(folder)}/__pycache__/{one.module}.*.pyc"),
        role="part",
    )


CAUSE = Cause(
    id="env.shadowed",
    title="Python imports another file of the same name instead of the module",
    signs=(stands_in, taken_from_elsewhere, borrowed, nothing_stands_in),
    fixes=fixes,
    effect="{because}",
    hides=(),
)
