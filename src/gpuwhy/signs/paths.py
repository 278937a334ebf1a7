"""env.path: libraries and packages that are looked for in the wrong folders."""

from gpuwhy.facts.fact import Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Finding, saw
from gpuwhy.facts.installs import Start, StartProblem
from gpuwhy.facts.loads import Fate, Found, MissingLibrary, NeededLibrary, OldRuntime, Rule
from gpuwhy.facts.variables import PathProblem
from gpuwhy.facts.version import major_minor
from gpuwhy.signs import needed, say
from gpuwhy.signs.case import Case, Row, rows
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
    ending = "nothing usually puts that on PATH, which is not known" if assumed else ending
    return say.sure(not assumed)(
        f"{case.named} opens {say.and_more(one.name for one in found)}; {folders[0]} {holds}, and "
        f"{ending}",
        *(saw_file(case.facts, path) for path in paths[:3]),
        needed.saw_search(found[0]),
        *needed.saw_variables(case, outside=True),
        folder=folders[0],
    )


def ldconfig_not_run(case: Case) -> Finding | None:
    """The loader's configuration names the folder; the cache was made before."""
    opened = [one for one in lost(case, anything, Fate.OFF_PATH) if one.not_cached]
    found: list[NeededLibrary | MissingLibrary] = [*opened]
    found += [one for one in _cudnn_parts(case) if one.not_cached]
    if not found:
        return None
    it, are = ("them", "they are") if len(found) > 1 else ("it", "it is")
    image, folder = is_image(case.facts), found[0].not_cached
    unless = "; NVIDIA's container runtime runs it at the start, other starts do not"
    return say.sure(not image)(
        f"{case.named} opens {say.and_more(one.name for one in found)}; {folder} holds {it} and "
        f"/etc/ld.so.conf names that folder, but {are} not in the loader's cache: ldconfig was not "
        f"run since{unless if image else ''}",
        *(saw_file(case.facts, f"{one.not_cached}/{one.name}") for one in found[:2]),
        needed.saw_search(found[0]),
        uncached=folder,
    )


def _cudnn_parts(case: Case) -> list[MissingLibrary]:
    """The parts of cuDNN that the one that is loaded does not find."""
    tree = needed.tree_of(case)
    return [] if isinstance(tree, Finding) else needed.missing_parts(tree)


def taken_at_start(case: Case) -> Finding | None:
    """The image's ENV leads to the folder; its entrypoint sets LD_LIBRARY_PATH without it."""
    facts, one = case.facts, needed.unset_at_start(case.facts)
    needs = lost(case, anything, Fate.OFF_PATH)
    paths = [path for need in needs for path in usable(case, need)]
    found = [path for path in dict.fromkeys(paths) if is_taken(facts, path)]
    if one is None or not found:
        return None
    place = f"line {one.line} of {one.script}" if one.script else "the command of the image"
    where = Source(
        "file", one.script or "image config", f"line {one.line}" if one.script else "Cmd"
    )
    folder, changes = found[0].rpartition("/")[0], f"sets it to {one.after}"
    return say.proof(
        f"{case.named} opens {say.and_more(map(say.base_name, found))}; the image's "
        f"LD_LIBRARY_PATH names {folder}, which holds it, and {place} "
        f"{changes if one.after else 'unsets it'} before the program starts",
        saw(f"{one.words} (before it: {one.before})", where),
        *(saw_file(facts, path) for path in found[:2]),
        folder=folder,
    )


def folder_gone(case: Case) -> Finding | None:
    """Windows: CUDA_PATH names a folder that is gone, although PATH leads to the libraries."""
    if not case.windows or needed.irrelevant(case):
        return None
    if lost(case, anything, Fate.MISSING, Fate.OTHER_VERSION):
        return None
    for one in value_or(case.facts.variables.variables, ()):
        kind = one.problems[0].kind if one.problems else None
        if one.name == "CUDA_PATH" and kind is PathProblem.NOT_THERE:
            text = (
                f"CUDA_PATH names a folder that does not exist ({one.value}): "
                f"{case.framework.title} looks along PATH, but compilers, CuPy and ONNX Runtime "
                "look there"
            )
            seen = saw(f"CUDA_PATH={one.value}", Source("env", "CUDA_PATH"))
            return say.slows(say.strong(text, seen, folder=one.value))
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


def said_old(one: OldRuntime, text: str) -> Finding:
    """A library that is too old: which version it lacks, and who needs it."""
    lacks = saw(f"lacks {one.version}", Source("file", one.path, str(one.found)))
    needs = saw(f"needs {one.version} of {one.name}", Source("file", one.needed_by))
    return say.prevents_start(say.proof(text, lacks, needs))


def put_first(case: Case, *by: str) -> Finding | None:
    """A variable puts a C or C++ library first that is too old for the framework, or a library of
    the framework's own name.
    """
    names = _OWN_LIBRARIES.get(case.framework.name, ("\0",))
    home = case.framework.path.rpartition("/")[0]
    for tree in value_or(case.facts.loads.trees, ()):
        if tree.framework != case.framework.name:
            continue
        for old in tree.old:
            if (variable := first_by(old.found)) in by:
                asker = old.needed_by.rpartition("-packages/")[2]
                text = (
                    f"{variable} puts {old.path} before the system's {old.name}, and it lacks "
                    f"{old.version}, which {asker} needs: the import of {case.named} fails"
                )
                return said_old(old, text)
        for one in tree.libraries:
            foreign = one.name.startswith(names) and not one.path.startswith(home)
            if foreign and (variable := first_by(one.found)) in by:
                text = (
                    f"{variable} puts {one.path} before the {one.name} that {case.named} came "
                    "with: its import fails"
                )
                seen = saw(f"found by {variable}", Source("file", one.path, str(one.found)))
                return say.prevents_start(say.proof(text, seen))
    return None


def by_library_path(case: Case) -> Finding | None:
    """LD_LIBRARY_PATH leads to such a library."""
    return put_first(case, "LD_LIBRARY_PATH")


# ---------------------------------------------------------------- the environment's Python


def start_problem(facts: Facts, *problems: StartProblem) -> Start | None:
    """The first of some problems that keep Python from starting as it should."""
    found = value_or(facts.installs.start, ())
    return next((one for one in found if one.problem in problems), None)


def another_python(case: Case) -> Finding | None:
    """The environment's Python is another than its packages are for, or lost its settings."""
    one = start_problem(case.facts, StartProblem.NO_CONFIG, StartProblem.OTHER_PYTHON)
    python = value_or(case.facts.environment.python, None)
    if one is None or python is None:
        return None
    folder, meant = one.path or python.prefix, major_minor(python.version)
    text = f"{folder} has no pyvenv.cfg any more, and {python.path} does not look there"
    if one.problem is StartProblem.OTHER_PYTHON:
        theirs = f"the packages of {folder} are those of Python {meant}"
        text = f"{python.path} is Python {one.version}, and {theirs}"
    text += f": it does not find the installed {say.listed(one.lost)}" if one.lost else ""
    seen = saw(one.problem.value, case.facts.installs.start)
    return say.prevents_start(say.proof(text, seen, folder=folder))


SIGNS = (
    *rows("env.path", "framework", another_python, by_library_path, ldconfig_not_run),
    *rows("env.path", "framework", taken_at_start, outside_the_search, folder_gone),
    Row("env.path", "framework", nothing_outside, last=True),
)
