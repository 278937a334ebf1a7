"""env.path: libraries and packages that are looked for in the wrong folders."""

from __future__ import annotations

from collections.abc import Sequence

from gpuwhy.facts.fact import Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Finding, saw
from gpuwhy.facts.installs import Start, StartProblem
from gpuwhy.facts.loads import Fate, Found, MissingLibrary, NeededLibrary, OldRuntime, Rule
from gpuwhy.facts.variables import PathProblem
from gpuwhy.facts.version import major_minor
from gpuwhy.signs import needed
from gpuwhy.signs.case import (
    Case,
    Row,
    and_more,
    base_name,
    prevents_start,
    proof,
    rows,
    slows,
    strong,
    sure,
)
from gpuwhy.signs.expect import is_image
from gpuwhy.signs.needed import anything, is_taken, lost, saw_file, usable

PRELOAD_FILE = "/etc/ld.so.preload"
_OWN_LIBRARIES = {
    "tensorflow": ("libtensorflow",),
    "torch": ("libtorch", "libc10"),
    "onnxruntime": ("libonnxruntime",),
    "paddle": ("libpaddle",),
    "mxnet": ("libmxnet",),
}

# ---------------------------------------------------------------- CUDA libraries


def outside_the_search(case: Case) -> Finding | None:
    """The right file exists; the loader never looks there."""
    found = [one for one in lost(case, anything, Fate.OFF_PATH) if not one.not_cached]
    if not found or taken_at_start(case):
        return None
    paths = [usable(case, one)[0] for one in found]
    folders = list(dict.fromkeys(path.rpartition("/")[0] for path in paths))
    what = "them" if len(found) > 1 else "it"
    holds = f"holds {what}" if len(folders) == 1 else f"and others hold {what}"
    assumed = case.windows and isinstance(case.facts.variables.variables, Unknown)
    ending = "the loader does not look there"
    if assumed:
        ending = "nothing usually puts that on PATH, which is not known"
    return sure(not assumed)(
        f"{{framework}} opens {{libraries}}; {{folder}} {holds}, and {ending}",
        *(saw_file(case.facts, path) for path in paths[:3]),
        needed.saw_search(found[0]),
        *needed.saw_variables(case, outside=True),
        libraries=and_more(one.name for one in found),
        folder=folders[0],
    )


def ldconfig_not_run(case: Case) -> Finding | None:
    """The loader's configuration names the folder; the cache was made before."""
    found = _not_cached(case)
    if not found:
        return None
    it, are = ("them", "they are") if len(found) > 1 else ("it", "it is")
    image = is_image(case.facts)
    unless = "; NVIDIA's container runtime runs it at the start, other starts do not"
    return sure(not image)(
        f"{{framework}} opens {{libraries}}; {{uncached}} holds {it} and /etc/ld.so.conf names "
        f"that folder, but {are} not in the loader's cache: ldconfig was not run since"
        f"{unless if image else ''}",
        *(saw_file(case.facts, f"{one.not_cached}/{one.name}") for one in found[:2]),
        needed.saw_search(found[0]),
        libraries=and_more(one.name for one in found),
        uncached=found[0].not_cached,
    )


def _not_cached(case: Case) -> Sequence[NeededLibrary | MissingLibrary]:
    """What the framework opens, and the parts that its cuDNN opens by itself."""
    opened = [one for one in lost(case, anything, Fate.OFF_PATH) if one.not_cached]
    return [*opened, *(one for one in _cudnn_parts(case) if one.not_cached)]


def _cudnn_parts(case: Case) -> list[MissingLibrary]:
    """The parts of cuDNN that the one that is loaded does not find."""
    tree = needed.tree_of(case)
    return [] if isinstance(tree, Finding) else needed.missing_parts(tree)


def taken_at_start(case: Case) -> Finding | None:
    """The image's ENV leads to the folder; its entrypoint sets LD_LIBRARY_PATH without it."""
    one, found = needed.unset_at_start(case.facts), _taken(case)
    if one is None or not found:
        return None
    config = Source("file", "image config", "Cmd")
    where = Source("file", one.script, f"line {one.line}") if one.script else config
    return proof(
        "{framework} opens {libraries}; the image's LD_LIBRARY_PATH names {folder}, which holds "
        "it, and {place} {changes} before the program starts",
        saw(f"{one.words} (before it: {one.before})", where),
        *(saw_file(case.facts, path) for path in found[:2]),
        libraries=and_more(map(base_name, found)),
        folder=found[0].rpartition("/")[0],
        place=f"line {one.line} of {one.script}" if one.script else "the command of the image",
        changes=f"sets it to {one.after}" if one.after else "unsets it",
    )


def _taken(case: Case) -> list[str]:
    """The copies of what is not found in folders that the start takes out of the search."""
    needs = lost(case, anything, Fate.OFF_PATH)
    paths = [path for one in needs for path in usable(case, one)]
    paths += filter(None, (needed.taken_part(case.facts, one) for one in _cudnn_parts(case)))
    return [path for path in dict.fromkeys(paths) if is_taken(case.facts, path)]


def folder_gone(case: Case) -> Finding | None:
    """Windows: CUDA_PATH names a folder that is gone, although PATH leads to the libraries."""
    if not case.windows or needed.irrelevant(case):
        return None
    if lost(case, anything, Fate.MISSING, Fate.OTHER_VERSION):
        return None
    for one in value_or(case.facts.variables.variables, ()):
        if one.name == "CUDA_PATH" and one.problems[:1]:
            if one.problems[0].kind is not PathProblem.NOT_THERE:
                return None
            text = (
                "CUDA_PATH names a folder that does not exist ({folder}): {framework} looks along "
                "PATH, but compilers, CuPy and ONNX Runtime look there"
            )
            seen = saw(f"CUDA_PATH={one.value}", Source("env", "CUDA_PATH"))
            return slows(strong(text, seen, folder=one.value, framework=case.framework.title))
    return None


def nothing_outside(case: Case) -> Finding | None:
    """What rules it out."""
    start = case.facts.installs.start.need()
    return None if start else needed.none_lost(case, anything, Fate.OFF_PATH)


# ---------------------------------------------------------------- older or other copies first


def first_by(found: Found) -> str:
    """The variable or file that puts a library before the system's; "" where it is the usual."""
    if found.rule in (Rule.LD_PRELOAD, Rule.LD_LIBRARY_PATH):
        return str(found.rule.value)
    return PRELOAD_FILE if found.of == PRELOAD_FILE else ""


def said_old(one: OldRuntime, template: str, **values: object) -> Finding:
    """A library that is too old: which version it lacks, and who needs it."""
    found = proof(
        template,
        saw(f"lacks {one.version}", Source("file", one.path, str(one.found))),
        saw(f"needs {one.version} of {one.name}", Source("file", one.needed_by)),
        path=one.path,
        library=one.name,
        version=one.version,
        asker=one.needed_by.rpartition("-packages/")[2],
        **values,
    )
    return prevents_start(found)


def put_first(case: Case, *by: str) -> Finding | None:
    """A variable puts a C or C++ library first that is too old for the framework, or a library of
    the framework's own name.
    """
    names = _OWN_LIBRARIES.get(case.framework.name, ("\0",))
    home = case.framework.path.rpartition("/")[0]
    trees = value_or(case.facts.loads.trees, ())
    tree = next((one for one in trees if one.framework == case.framework.name), None)
    for old in tree.old if tree else ():
        if (variable := first_by(old.found)) in by:
            text = (
                "{by} puts {path} before the system's {library}, and it lacks {version}, which "
                "{asker} needs: the import of {framework} fails"
            )
            return said_old(old, text, by=variable)
    for one in tree.libraries if tree else ():
        foreign = one.name.startswith(names) and not one.path.startswith(home)
        if foreign and (variable := first_by(one.found)) in by:
            text = "{by} puts {path} before the {library} that {framework} came with: its import "
            seen = saw(f"found by {variable}", Source("file", one.path, str(one.found)))
            found = proof(text + "fails", seen, by=variable, path=one.path, library=one.name)
            return prevents_start(found)
    return None


def by_library_path(case: Case) -> Finding | None:
    """LD_LIBRARY_PATH leads to such a library."""
    return put_first(case, "LD_LIBRARY_PATH")


# ---------------------------------------------------------------- the environment's Python


def start_problem(facts: Facts, *problems: StartProblem) -> Start | None:
    """The first of some problems that keep Python from starting as it should."""
    found = value_or(facts.installs.start, ())
    return next((one for one in found if one.problem in problems), None)


_STARTS = {
    StartProblem.NO_CONFIG: "{folder} has no pyvenv.cfg any more, and {python} does not look at "
    "the packages there",
    StartProblem.OTHER_PYTHON: "{python} is Python {version}, and the packages of {folder} are "
    "those of Python {meant}",
}


def another_python(case: Case) -> Finding | None:
    """The environment's Python is another than its packages are for, or lost its settings."""
    one = start_problem(case.facts, *_STARTS)
    python = value_or(case.facts.environment.python, None)
    if one is None or python is None:
        return None
    found = proof(
        _STARTS[one.problem] + (": it does not find the installed {lost}" if one.lost else ""),
        saw(one.problem.value, case.facts.installs.start),
        python=python.path,
        folder=one.path or python.prefix,
        version=one.version,
        meant=major_minor(python.version),
        lost=one.lost,
    )
    return prevents_start(found)


SIGNS = (
    *rows("env.path", "framework", another_python, by_library_path, ldconfig_not_run),
    *rows("env.path", "framework", taken_at_start, outside_the_search, folder_gone),
    Row("env.path", "framework", nothing_outside, last=True),
)
