"""Before: what steers a program before its first line runs, and keeps it from starting or from its framework."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.cause import Case, Evidence, Finding, Fix, ending_it, linked, proof, saw
from gpuwhy.model.fact import Known, Source, value_or
from gpuwhy.model.facts import Interpreter, LoadedLibrary, OldRuntime, Rule, Start
from gpuwhy.model.version import major_minor
from gpuwhy.rooms.shared.commands import word
from gpuwhy.rooms.shared.windows import on_windows

PRELOAD_FILE = "/etc/ld.so.preload"
BY_VARIABLE = {Rule.LD_PRELOAD: "LD_PRELOAD", Rule.LD_LIBRARY_PATH: "LD_LIBRARY_PATH"}
PRELOADS, SEARCHED = ("LD_PRELOAD", PRELOAD_FILE), ("LD_LIBRARY_PATH",)
"""What names a library itself (env.setting), and what names folders to search (env.path)."""
OWN_LIBRARIES = {
    "tensorflow": ("libtensorflow",), "torch": ("libtorch", "libc10"), "onnxruntime": ("libonnxruntime",),
    "paddle": ("libpaddle",), "mxnet": ("libmxnet",),
}  # fmt: skip
"""How the names of libraries begin that a framework brings for itself."""


def start_of(case: Case) -> Start | None:
    """How Python starts, where that went wrong."""
    found = value_or(case.facts.target.start, None)
    return found if found is not None and found.wrong else None


def happens(one: Start) -> str:
    """What comes of it, in words."""
    are = "are" if len(one.lost) > 1 else "is"
    return one.ends or f"Python does not find {' and '.join(one.lost[:3])}, which {are} installed"


def told_by_start(case: Case, one: Start, text: str, *evidence: Evidence) -> Finding:
    """A finding about a start that was tried; a program that failed failed by it."""
    finding = ending_it(proof(text, *evidence, saw(happens(one), case.facts.target.start)))
    return linked(finding) if case.symptoms or case.facts.run.failed else finding


def looks_elsewhere(case: Case) -> Start | None:
    """A start of which Python is as it should be, and looks into another folder than the one its packages lie in."""
    start, python = start_of(case), value_or(case.facts.target.interpreter, None)
    if start is None or python is None or start.variable or start.file:
        return None
    other = bool(start.version) and major_minor(start.version) != major_minor(python.version)
    return start if start.aside or other else None


def explains_it(case: Case) -> bool:
    """Whether a program ended by what was there before its first line: it is no mistake of its own."""
    if not (case.symptoms or case.facts.run.failed):
        return False
    trees = value_or(case.facts.loads.trees, ())
    old = (one for tree in trees for one in tree.old if put_first(one))
    return start_of(case) is not None or any(told_by_name(case, one) for one in old)


def old_runtimes(case: Case) -> list[OldRuntime]:
    """The C and C++ libraries that are too old for this framework."""
    name = case.framework.name if case.framework else ""
    trees = value_or(case.facts.loads.trees, ())
    return [one for tree in trees if tree.framework == name for one in tree.old]


def put_first(one: OldRuntime) -> str:
    """The variable or the file that puts a library before the system's; "" where it is the usual one."""
    return PRELOAD_FILE if one.via == PRELOAD_FILE else BY_VARIABLE.get(one.rule, "")


def older_first(case: Case, *by: str) -> Finding | None:
    """One of these puts a C or C++ library first that is too old for the framework."""
    found = next((one for one in old_runtimes(case) if put_first(one) in by), None)
    if found is None or case.framework is None:
        return None
    asker = found.needed_by.rpartition("/")[2]
    text = (
        f"{put_first(found)} puts {found.path} before the system's {found.name}, and it lacks {found.version}, "
        f"which {asker} needs: the import of {case.framework.title} {case.framework.version} fails"
    )
    return told_old(case, found, text)


def another_first(case: Case, *by: str) -> Finding | None:
    """One of these puts a library of the framework's own name before the framework's own."""
    found = _another_copy(case, by)
    if found is None or case.framework is None:
        return None
    variable, version = BY_VARIABLE[found.rule], f"{case.framework.title} {case.framework.version}"
    text = f"{variable} puts {found.path} before the {found.name} that {version} came with: its import fails"
    return ending_it(proof(text, saw(f"found by {variable}", Source("file", found.path, found.via))))


def without_first(case: Case, *by: str) -> tuple[Fix, ...]:
    """Take such a library out of what puts it first; () where there is none."""
    old = next((one for one in old_runtimes(case) if put_first(one) in by), None)
    if old is not None:
        return without(case, put_first(old), old.path)
    copy = _another_copy(case, by)
    return without(case, BY_VARIABLE[copy.rule], copy.path) if copy is not None else ()


def _another_copy(case: Case, by: tuple[str, ...]) -> LoadedLibrary | None:
    one = case.framework
    names = OWN_LIBRARIES.get(one.name, ()) if one else ()
    trees = (tree for tree in value_or(case.facts.loads.trees, ()) if one and tree.framework == one.name)
    for library in (lib for tree in trees for lib in tree.libraries):
        own = one is not None and library.path.startswith(one.path.rpartition("/")[0])
        if BY_VARIABLE.get(library.rule, "") in by and library.name.startswith(names or "/") and not own:
            return library
    return None


def without_part(case: Case, variable: str, part: str) -> tuple[Fix, ...]:
    """Take one part out of a variable, or all of it away."""
    away = Fix("Unset the variable in this shell", f"unset {variable}", safe=True)
    value = value_or(case.facts.environment.value(variable), "") if part else ""
    left = ":".join(one for one in value.split(":") if one and one != part)
    if not left:
        return (away,)
    return (Fix(f"Take {part} out of it", f"export {variable}={word(left)}", safe=True), away)


def told_old(case: Case, one: OldRuntime, text: str) -> Finding:
    """A finding about a library that is too old; linked where the program's ending names it."""
    evidence = (
        saw(f"lacks {one.version}", Source("file", one.path, one.via)),
        saw(f"asks for {one.version} of {one.name}", Source("file", one.needed_by)),
    )
    finding = ending_it(proof(text, *evidence))
    return linked(finding) if told_by_name(case, one) else finding


def told_by_name(case: Case, one: OldRuntime) -> bool:
    """Whether the program's ending names the library, or one of the versions that only such a library has."""
    return any(word in case.ending.message for word in (one.path, one.name, "GLIBCXX_", "CXXABI_"))


def without(case: Case, variable: str, path: str) -> tuple[Fix, ...]:
    """Take a library out of what puts it first."""
    if variable == PRELOAD_FILE:
        return (Fix(f"Take the line with {path} out of {PRELOAD_FILE}", root=True),)
    value = value_or(case.facts.environment.value(variable), "")
    gone = path if variable == "LD_PRELOAD" else path.rpartition("/")[0]
    parts = [part for part in value.replace(" ", ":").split(":") if part]
    left = [part for part in parts if part.rstrip("/") != gone.rstrip("/")]
    if variable == "LD_PRELOAD" and len(left) == len(parts):  # by a link, or by its name alone
        left = [part for part in parts if part.rpartition("/")[2] != path.rpartition("/")[2]]
    away = Fix("Start without the variable (and take it out of the shell's start file)", f"unset {variable}", safe=True)
    if not left:
        return (away,)
    return (Fix(f"Take {gone} out of it", f"export {variable}={word(':'.join(left))}", safe=True), away)


def told_as_python(case: Case) -> bool:
    """Whether a Python that is gone is told as what it is: on a running machine, without a log."""
    return not (case.symptoms or on_windows(case.facts) or isinstance(case.facts.surroundings.offline, Known))


def made_again(python: Interpreter) -> Fix:
    """The same releases with another Python of the same minor release."""
    short = ".".join(python.version.split(".")[:2])
    new = f"{python.prefix.rstrip('/')}-gpuwhy"
    text = f"Make the environment again with a Python {short} that is there, and the same releases"
    return Fix(
        text,
        f"uv venv --python {word(short)} {word(new)}    # then install what the old one lists, or: gpuwhy fix --apply",
        safe=python.kind == "venv",
        check=f"gpuwhy check --python {word(new)}",
        undo=on.linux(f"rm -r {word(new)}"),
        anew=python.kind == "venv",
    )
