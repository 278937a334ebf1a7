"""env.path: a library that the framework opens is on this machine, but no search path leads to it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gpuwhy.knowledge.libraries import stem
from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Finding, Fix, ending_it, mild, proof, saw, strong, weak
from gpuwhy.model.fact import Known, Source, Unknown, value_or
from gpuwhy.model.facts import Exported, Fate, Imported, MissingLibrary, NeededLibrary
from gpuwhy.model.version import major_minor
from gpuwhy.rooms.shared import ahead, before, hindered, imported, needs, trees
from gpuwhy.rooms.shared.commands import word
from gpuwhy.rooms.shared.windows import activate, in_store_python, instead_of_store, on_windows, path_for_good, shown
from gpuwhy.rooms.shared.winner import in_image


def outside_the_search(case: Case) -> Finding | None:
    """The right file exists; the loader never looks there."""
    found = [one for one in needs.lost(case, needs.anything, "elsewhere") if not one.unlisted]
    if not found or taken_at_start(case):
        return None
    folders, what = needs.folders_of(case, found), "them" if len(found) > 1 else "it"
    holds = f"{folders[0]} holds {what}" if len(folders) == 1 else f"{folders[0]} and others hold {what}"
    assumed = on_windows(case.facts) and isinstance(case.facts.environment.variables, Unknown)
    ends = "the loader does not look there" if not assumed else "nothing usually puts that on PATH, which is not known"
    return (strong if assumed else proof)(
        f"{needs.named(case)} opens {needs.listed(found)}; {holds}, and {ends}",
        *(needs.saw_copy(case, needs.usable(case, need)[0]) for need in found[:3]),
        needs.saw_search(found[0]),
        *needs.saw_variables(case, outside=True),
    )


def never_listed(case: Case) -> Finding | None:
    """The loader's configuration names the folder; the cache, which is all that the loader reads, was made before."""
    found = _unlisted(case)
    if not found:
        return None
    what, they = ("them", "they are") if len(found) > 1 else ("it", "it is")
    image = in_image(case.facts)
    unless = "; NVIDIA's container runtime runs it at the start, any other start goes without it" if image else ""
    return (strong if image else proof)(
        f"{needs.named(case)} opens {_listed(found)}; {found[0].unlisted} holds {what} and /etc/ld.so.conf names "
        f"that folder, but {they} not in the loader's cache: ldconfig was not run since{unless}",
        *(needs.saw_copy(case, f"{need.unlisted}/{need.name}") for need in found[:2]),
        saw(f"opens {found[0].name}, {len(found[0].searched)} folders searched", Source("file", found[0].needed_by)),
    )


def _unlisted(case: Case) -> list[NeededLibrary | MissingLibrary]:
    """What the framework opens, and the parts that its cuDNN opens by itself."""
    opened = [one for one in needs.lost(case, needs.anything, "elsewhere") if one.unlisted]
    return [*opened, *(one for one in _parts(case) if one.unlisted)]


def _parts(case: Case) -> list[MissingLibrary]:
    """The parts of cuDNN that are not found by the one that is loaded."""
    tree = trees.of(case)
    if isinstance(tree, Finding) or trees.shim(tree) is None:
        return []
    return [one for one in tree.missing if stem(one.name) in trees.ESSENTIAL and one.fate is Fate.NOT_THERE]


def _listed(found: Sequence[NeededLibrary | MissingLibrary]) -> str:
    return found[0].name + (f" and {len(found) - 1} more" if len(found) > 1 else "")


def taken_at_start(case: Case) -> Finding | None:
    """The image's ENV leads to the folder; its entrypoint or command sets LD_LIBRARY_PATH anew, without it."""
    one, found = hindered.taken(case), _taken(case)
    if one is None or not found:
        return None
    names = [path.rpartition("/")[2] for path in found]
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    to = f"sets it to {one.after or 'nothing'}" if not one.words.startswith("unset") else "unsets it"
    return proof(
        f"{needs.named(case)} opens {names[0]}{more}; the image's LD_LIBRARY_PATH names {found[0].rpartition('/')[0]}, "
        f"which holds it, and {hindered.place(one)} {to} before the program starts",
        hindered.saw_statement(one),
        *(needs.saw_copy(case, path) for path in found[:2]),
    )


def _taken(case: Case) -> list[str]:
    """The copies of what is not found in folders that the start takes out of the search."""
    opened = [path for one in needs.lost(case, needs.anything, "elsewhere") for path in needs.usable(case, one)]
    parts = [path for one in _parts(case) if (path := hindered.taken_part(case, one))]
    return [path for path in dict.fromkeys((*opened, *parts)) if hindered.is_taken(case, path)]


def older_first(case: Case) -> Finding | None:
    """LD_LIBRARY_PATH leads to a C or C++ library that is too old for the framework."""
    return before.older_first(case, *before.SEARCHED)


def own_second(case: Case) -> Finding | None:
    """LD_LIBRARY_PATH leads to a library of the framework's own name before its own."""
    return before.another_first(case, *before.SEARCHED)


def ends_the_import(case: Case) -> Finding | None:
    """The import of this framework was tried and fails; without LD_LIBRARY_PATH, or a folder of it, it does not."""
    one = _searched(case)
    if one is None:
        return None
    what = one.part or value_or(case.facts.environment.value(one.culprit), "")
    text = f"{one.culprit} names {what}: {one.deed} fails with it, and goes well without it ({one.why})"
    finding = proof(text, saw("tried with it and without it", Source("env", one.culprit)), imported.seen(case, one))
    return ending_it(finding)


def _searched(case: Case) -> Imported | None:
    one = imported.blamed(case, "variable")
    return one if one is not None and one.culprit in before.SEARCHED else None


def another_python(case: Case) -> Finding | None:
    """The environment's Python is another than its packages are for, or has lost its settings: it looks elsewhere."""
    start, python = before.looks_elsewhere(case), value_or(case.facts.target.interpreter, None)
    if start is None or python is None:
        return None
    if start.aside:
        text = f"{start.aside} holds {' and '.join(start.lost[:3])}, and {python.path} does not look there"
        return before.told_by_start(case, start, f"{text}: the environment's pyvenv.cfg is gone")
    text = (
        f"{python.path} is Python {start.version} by now, and the packages of {python.prefix} are those of Python "
        f"{major_minor(python.version)}: {before.happens(start)}"
    )
    return before.told_by_start(case, start, text)


def _with_its_python(case: Case) -> tuple[Fix, ...]:
    """The environment's settings written again, or the same releases with the Python that its packages are for."""
    start, python = before.looks_elsewhere(case), value_or(case.facts.target.interpreter, None)
    if start is None or python is None:
        return ()
    if not start.aside:
        return (before.made_again(python),)
    prefix = start.aside.partition("/lib/python")[0]
    text = "Have the environment's settings written again; its packages stay"
    return (Fix(text, on.linux(f"{word(python.prefix)}/bin/python3 -m venv {word(prefix)}")),)


def activates_another(case: Case) -> Finding | None:
    """The environment was moved or copied: its activation, and its scripts, lead to the folder that it was made in."""
    one = _moved(case)
    if one is None:
        return None
    if one.name == "PATH":
        text = f"{one.file} changes PATH: in a shell that is activated by it, python is {one.line}"
        return mild(strong(text, saw(f"python is {one.line}", Source("file", one.file))))
    text = (
        f"{one.file} was written for {one.line}: in a shell that is activated by it, python is not this environment's"
    )
    return mild(weak(text, saw(f"VIRTUAL_ENV={one.line}", Source("file", one.file))))  # its Python works by its path


def _moved(case: Case) -> Exported | None:
    found = value_or(case.facts.target.activation, ())
    return next((one for one in found if one.leads_away), None) if not case.symptoms else None


def _renamed(case: Case, one: Exported) -> Fix:
    prefix = one.file.rpartition("/bin/")[0]
    if one.name == "PATH":
        text = f"Take the line that puts another folder before PATH out of {one.file}"
        return Fix(text, on.linux(f"grep -n 'PATH=' {word(one.file)}"), safe=True, anew=True)
    command = f'old={word(one.line)} new={word(prefix)}; grep -rlIF "$old" "$new/bin" | xargs sed -i "s#$old#$new#g"'
    text = "Write the folder's name of today into the activation and the scripts beside it"
    return Fix(text, on.linux(command), safe=True, anew=True)


def leads_nowhere(case: Case) -> Finding | None:
    """Windows: CUDA_PATH names a folder that is gone, although the libraries are found by PATH."""
    if not on_windows(case.facts) or needs.irrelevant(case) or needs.required_lost(case, needs.anything):
        return None
    variables = value_or(case.facts.environment.variables, ())
    gone = [one for one in variables if one.name == "CUDA_PATH" and one.gone]
    if not gone:
        return None
    text = f"CUDA_PATH names a folder that does not exist: {needs.the(case).title} looks along PATH"
    return mild(strong(f"{text}, but compilers, CuPy and ONNX Runtime look there", *needs.saw_problems(gone[0])))


def another_first(case: Case) -> Finding | None:
    """LD_LIBRARY_PATH puts a library first with which another one, that needs its name, cannot be loaded."""
    found = ahead.put_first(case, "LD_LIBRARY_PATH")
    return ahead.told(case, found) if found is not None else None


def _another_runtime(case: Case) -> bool:
    """Whether a symbol of the C or C++ runtime is missing: of that library's copies the GPU stack's say nothing."""
    found = (one for one in case.symptoms if one.signature == "loader.undefined_symbol")
    return any(one.get("version").upper().startswith(("GCC_", "GLIBCXX_", "CXXABI_", "GLIBC_")) for one in found)


def nothing_outside(case: Case) -> Finding | None:
    """What rules it out."""
    if _misses_another(case) or before.looks_elsewhere(case):
        return None
    if leads_nowhere(case) or _another_runtime(case) or another_first(case) or _moved(case):
        return None
    if older_first(case) or own_second(case) or _searched(case) or _unlisted(case) or _taken(case):
        return None
    return needs.nothing_lost(case, needs.anything, "elsewhere")


_STACK = re.compile(r"(?:\S*/)?(?:lib(?:cu|nv|nccl|torch|tensorflow|c10|onnx|xla|jax)|nv|cu)", re.IGNORECASE)


def _misses_another(case: Case) -> bool:
    """The program misses a library that is none of the stack's: what frameworks find says nothing of it."""
    missed = (s.get("library") for s in case.symptoms if s.signature == "loader.cannot_open")
    return any(name and not _STACK.match(name) for name in missed)


def fixes(case: Case) -> tuple[Fix, ...]:
    """This shell first; then for good, where the folder belongs to the system or to conda."""
    if before.looks_elsewhere(case):
        return _with_its_python(case)
    put, tried = before.without_first(case, *before.SEARCHED), _searched(case)
    if put or tried:
        return put or before.without_part(case, *((tried.culprit, tried.part) if tried else ("", "")))
    if _unlisted(case):
        return (_listed_now(case),)
    start = hindered.taken(case)
    if start is not None and _taken(case):
        return (hindered.kept(start),)
    first = ahead.put_first(case, "LD_LIBRARY_PATH")
    if first is not None:
        return before.without(case, first.variable, first.path)
    folders = needs.folders_of(case, needs.lost(case, needs.anything, "elsewhere"))
    moved = _moved(case)
    if moved is not None and not folders:
        return (_renamed(case, moved),)
    if on_windows(case.facts):
        return _on_windows(case, folders)
    return (needs.export(case, folders), *_for_good(case, folders))


def _for_good(case: Case, folders: Sequence[str]) -> tuple[Fix, ...]:
    """In the conda environment, or in the loader's configuration where the folder is the system's."""
    interpreter = case.facts.target.interpreter
    if isinstance(interpreter, Known) and interpreter.value.kind == "conda":
        value = ":".join(word(folder) for folder in folders)
        command = f"conda env config vars set LD_LIBRARY_PATH={value}"
        text = "Permanently: set it in the conda environment, and activate the environment again"
        return (Fix(text, command, safe=True),)
    if all(folder.startswith(("/usr/", "/opt/")) for folder in folders):
        lines = " ".join(word(folder) for folder in folders)
        command = on.linux(f"printf '%s\\n' {lines} | sudo tee /etc/ld.so.conf.d/cuda-libraries.conf && sudo ldconfig")
        undo = on.linux("sudo rm /etc/ld.so.conf.d/cuda-libraries.conf && sudo ldconfig")
        return (Fix("Permanently: add the folder to the loader's cache", command, root=True, undo=undo),)
    return ()


def _listed_now(case: Case) -> Fix:
    text = "Build the loader's cache anew, after the last library was copied in"
    if in_image(case.facts):
        return Fix(text, on.dockerfile("RUN ldconfig"), safe=True)
    return Fix(text, on.linux("sudo ldconfig"), root=True, safe=True)


def _on_windows(case: Case, folders: Sequence[str]) -> tuple[Fix, ...]:
    if not folders:
        return (_right_root(case),)
    if in_store_python(case.facts):
        return instead_of_store(case.facts, folders)
    if _too_long(case):
        return (SHORTER,)
    mended = _mended(case, folders)
    return (*activate(case.facts, folders), needs.export(case, folders), *mended, path_for_good(folders))


SHORTER = Fix(
    "Make PATH shorter (Edit the system environment variables, Path: remove what is not there, and entries that are "
    "there twice), so that every folder of it is handed to programs, and open a new window"
)


def _too_long(case: Case) -> bool:
    """Whether PATH has more characters than a program can be handed: then nothing can be put before it either."""
    return any(one.name == "PATH" and one.too_long for one in value_or(case.facts.environment.variables, ()))


def _mended(case: Case, folders: Sequence[str]) -> tuple[Fix, ...]:
    """The entry of PATH that means one of the folders and does not lead there; others are no business of this."""
    meant = [row for v in value_or(case.facts.environment.variables, ()) if v.name == "PATH" for row in v.meant]
    ours = {folder.lower() for folder in folders}
    wrong = [why for folder, why in meant if folder.lower() in ours]
    text = "Permanently: correct that entry (Edit the system environment variables, Path), and open a new window"
    return (Fix(f"{text}: {wrong[0]}"),) if wrong else ()


def _right_root(case: Case) -> Fix:
    """CUDA_PATH to the toolkit that the framework was built for, else to the newest that is there."""
    there = [t for t in value_or(case.facts.toolkits.toolkits, ()) if t.kind == "system"]
    built = value_or(needs.the(case).built_for_cuda, "")
    right = [t for t in there if value_or(t.toolkit_cuda, "") == built] or there
    if not right:
        return Fix("Remove the variable CUDA_PATH: there is no toolkit that it could name")
    return Fix("Set CUDA_PATH to the toolkit that is installed", on.cmd(f'setx CUDA_PATH "{shown(right[0].path)}"'))


CAUSE = Cause(
    id="env.path",
    title="a library is looked for in the wrong folders",
    signs=(
        another_python,
        older_first,
        own_second,
        ends_the_import,
        never_listed,
        taken_at_start,
        outside_the_search,
        another_first,
        leads_nowhere,
        activates_another,
        nothing_outside,
    ),
    fixes=fixes,
    scope="framework",
    effect="{subject} will not see the GPU",
)
