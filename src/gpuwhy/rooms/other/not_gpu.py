"""other.not_gpu: the GPU stack is not at fault."""

from __future__ import annotations

import re

from gpuwhy.knowledge.windows import REDISTRIBUTABLE, is_runtime
from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, proof, saw, strong
from gpuwhy.model.ending import Frame
from gpuwhy.model.fact import Known, Source, value_or
from gpuwhy.model.facts import BARRED, Damage, Imported, Interpreter, MissingLibrary, OldRuntime
from gpuwhy.rooms.shared import imported
from gpuwhy.rooms.shared.before import (
    explains_it,
    made_again,
    put_first,
    start_of,
    told_as_python,
    told_by_name,
    told_old,
)
from gpuwhy.rooms.shared.commands import change, python_of, word
from gpuwhy.rooms.shared.windows import on_windows

SEEN = 5.0
"""Seconds after which the sampler has surely looked into a program's processes."""


HALF = ("shadow.in_part", "packages.in_part", "packages.partial")
"""A framework was being imported, and is not whole."""


def fixes(case: Case) -> tuple[Fix, ...]:
    """Where no program has spoken: the runtime or the Python that is gone."""
    if not case.symptoms and _missing_runtime(case):
        return (REDISTRIBUTE,)
    if not case.symptoms and _missing_python(case):
        return (Fix(f"Install Python {python_of(case.facts)} again over this one: its installer offers to repair it"),)
    python = case.facts.target.interpreter
    if not case.symptoms and isinstance(python, Known) and python.value.gone:
        return (_barred(python.value) if python.value.gone == BARRED else made_again(python.value),)
    bare = imported.without_its_own(case)
    if bare is not None and isinstance(python, Known):
        return _whole_python(bare, python.value)
    old = _too_old(case)
    return _newer(case, old) if old is not None else _written_again(case)


def _barred(python: Interpreter) -> Fix:
    """The right to run it; a copy of the environment has a Python that can be."""
    own = python.kind == "venv"
    text = "Give Python its right to be run again; where that is refused, the file system allows no programs (noexec)"
    return Fix(text, on.linux(f"chmod a+x {word(python.path)}"), check="gpuwhy check", safe=own, anew=own)


def _written_again(case: Case) -> tuple[Fix, ...]:
    """The packages in whose code an import ends, the same releases anew: no list may tell what their files were."""
    found = imported.unexplained(case)
    names = list(imported.distributions_of(case, imported.packages_of(case, found[0]))) if found else []
    wanted = [text.replace(" ", "==") for text in names if text.partition(" ")[0] not in imported.LARGE][:2]
    if not wanted:
        return ()
    text = f"Write the files of {' and '.join(names[:2])} anew, in whose code the import ends"
    return (change(case.facts, text, *wanted, because_of=wanted[0].partition("==")[0], again=True),)


def _whole_python(one: Imported, python: Interpreter) -> tuple[Fix, ...]:
    """The library that the module is built on, or the package that a distribution keeps it in."""
    brings = BRINGS.get(one.lost.partition(".")[0].lstrip("_"), "")
    with_it = f" ({brings})" if brings else ""
    short = ".".join(python.version.split(".")[:2])
    text = f"Take a Python {short} that has {one.lost}{with_it}, and make the environment again"
    return (
        Fix(text, f"{word(python.path)} -c 'import {one.lost}'", check="gpuwhy check", safe=True, role="look"),
        made_again(python),
    )


BRINGS = {
    "ctypes": "built where libffi's headers are: apt install libffi-dev", "distutils": "apt install python3-distutils",
    "bz2": "built where bzip2's headers are: apt install libbz2-dev",
    "lzma": "apt install liblzma-dev before it is built",
    "ssl": "apt install libssl-dev before it is built", "sqlite3": "apt install libsqlite3-dev before it is built",
    "tkinter": "apt install python3-tk",
}  # fmt: skip
"""What brings modules of Python's own that builds lack."""


def nothing_of_it(case: Case) -> Finding | None:
    """A watched program that crashed or failed in plain Python without a framework in it or a GPU open."""
    run = case.facts.run
    if not run.failed or not isinstance(run.frameworks, Known) or not isinstance(run.touched_gpu, Known):
        return None
    if value_or(case.facts.target.shadows, ()) or _too_early(case) or explains_it(case) or _damaged(case):
        return None  # what stands in for a framework keeps it from being loaded; and who dies at once is hardly seen
    if run.frameworks.value or run.touched_gpu.value or not case.symptoms or _others_speak(case):
        return None
    text = "none of its processes had a GPU framework loaded or a GPU open"
    return strong(text, saw("no framework mapped", run.frameworks), saw("no GPU opened", run.touched_gpu))


def _others_speak(case: Case) -> bool:
    """Whether more than Python or a signal complains."""
    return any(one.role == "error" and one.speaker not in ("signal", "python") for one in case.symptoms)


def _too_early(case: Case) -> bool:
    """Whether it may have died while it loaded a framework: the sampler misses that, the traceback does not."""
    run, installed = case.facts.run, value_or(case.facts.target.frameworks, ())
    names = {framework.name for framework in installed}
    if case.ending.near or any(frame.owner in names or _imports(frame, names) for frame in case.ending.stack):
        return True
    if any(one.signature in HALF for one in case.symptoms) or isinstance(run.wanted_gpu, Known):
        return True
    return run.crashed and bool(installed) and value_or(run.seconds, 0.0) < SEEN


def _imports(frame: Frame, names: set[str]) -> bool:
    """Whether a line of the traceback imports a framework: what came of that decides."""
    return "import" in frame.code and not names.isdisjoint(_WORD.findall(frame.code))


_WORD = re.compile(r"\w+")


def before_its_first_line(case: Case) -> Finding | None:
    """What keeps every program of this environment from starting, or from its framework, is another cause."""
    if not explains_it(case):
        return None
    return against("what ended it is there before its first line runs", saw("started", case.facts.target.start))


def a_damaged_module(case: Case) -> Finding | None:
    """The module that was not found belongs to an installed GPU package whose files are gone."""
    found = _damaged(case)
    if found is None:
        return None
    return against(
        f"it asks for a module of {found.owner}, which is installed and not whole",
        saw(found.what, Source("file", found.path)),
    )


def _damaged(case: Case) -> Damage | None:
    lost = {said.get("name").partition(".")[0] for said in case.symptoms if said.signature == "python.module"}
    for one in value_or(case.facts.target.damage, ()) if lost else ():
        inside = one.path.rpartition("-packages/")[2].partition("/")[0]
        if inside in lost or one.actual.partition(".")[0] in lost:
            return one
    return None


def without_runtime(case: Case) -> Finding | None:
    """Windows: a DLL of the Visual C++ runtime, without which the framework itself cannot be imported."""
    trees = case.facts.loads.trees
    if not on_windows(case.facts):
        return None
    trees.need()
    found = _missing_runtime(case)
    if not found:
        return against("every DLL of the Visual C++ runtime that a framework asks for is there", saw("searched", trees))
    tree, first = found[0]
    titles = {f.name: f"{f.title} {f.version}" for f in value_or(case.facts.target.frameworks, ())}
    names = " and ".join(dict.fromkeys(m.name for _, m in found))
    return proof(
        f"{titles.get(tree, tree)} needs {names} of the Visual C++ runtime, which is nowhere in the DLL search: it "
        "cannot be imported, GPU or not",
        *(
            saw(f"asks for {m.name}, {len(m.searched)} folders searched", Source("file", m.needed_by))
            for _, m in found[:2]
        ),
        *(saw(f"not there: {place}", trees) for place in first.searched[:3]),
    )


def without_python_dll(case: Case) -> Finding | None:
    """Windows: python.exe without the DLL of its own release, in which all of Python is."""
    found = _missing_python(case)
    if found is None:
        return None
    return proof(
        f"{found.name}, in which all of Python is, is not beside its python.exe: no program starts, GPU or not",
        saw(f"asks for {found.name}, {len(found.searched)} folders searched", Source("file", found.needed_by)),
    )


def _missing_python(case: Case) -> MissingLibrary | None:
    trees = value_or(case.facts.loads.trees, ()) if on_windows(case.facts) else ()
    own = f"python{''.join(python_of(case.facts).split('.')[:2])}.dll"
    return next((m for tree in trees for m in tree.missing if m.name.lower() == own), None)


def without_python(case: Case) -> Finding | None:
    """An environment whose Python is gone: nothing in it runs, whatever its packages are."""
    found = case.facts.target.interpreter
    python = found.need()
    if not told_as_python(case):
        return None
    if python is None or not python.gone:
        if imported.unexplained(case):
            return None
        return against("the Python of the environment is there", saw("Python", found))
    why = "nothing in the environment runs"
    if python.gone != BARRED:
        why = "the Python that the environment was made from is gone, so nothing in it runs"
    return proof(
        f"{python.path} is {python.gone}: {why}",
        saw(python.gone, Source("file", python.path)),
    )


def older_runtime(case: Case) -> Finding | None:
    """The C or C++ library that the loader finds by itself is older than a framework needs: its import fails."""
    old = _too_old(case)
    if old is None:
        return None
    asker = old.needed_by.rpartition("-packages/")[2]
    text = f"{old.path} is older than {asker} needs: it lacks {old.version}, so the import fails, GPU or not"
    return told_old(case, old, text)


def python_without_its_own(case: Case) -> Finding | None:
    """The import of a framework ends because this Python was built, or is installed, without a module of its own."""
    one = imported.without_its_own(case)
    if one is None:
        return None
    python = value_or(case.facts.target.interpreter, None)
    which = f"Python {python.version}" if python else "this Python"
    text = f"{which} has no module {one.lost}, which belongs to Python itself: {one.deed} fails, GPU or not"
    return proof(text, imported.seen(case, one))


def cannot_be_imported(case: Case) -> Finding | None:
    """The import of a framework was tried and fails, whatever was changed around it; nothing else explains that."""
    found = [one for one in imported.unexplained(case) if one is not imported.of_another_release(case)]
    return strong(imported.told(found[0]), imported.seen(case, found[0])) if found else None


def _too_old(case: Case) -> OldRuntime | None:
    """The first such library that no variable put first, and that a program which failed names."""
    if start_of(case) is not None:
        return None
    found = [one for tree in value_or(case.facts.loads.trees, ()) for one in tree.old if not put_first(one)]
    ended = case.symptoms or case.facts.run.failed
    return next((one for one in found if not ended or told_by_name(case, one)), None)


def _newer(case: Case, old: OldRuntime) -> tuple[Fix, ...]:
    """A newer runtime where one can be had beside the old one; else an older build, or a newer system."""
    if old.name in ("libc.so.6", "libm.so.6"):
        text = f"Take a release of the framework that runs with this C library, which lacks {old.version}"
        return (Fix(f"{text}, or a newer system (a container image with one will do)"),)
    conda = value_or(case.facts.target.interpreter, None)
    if conda is not None and conda.kind == "conda" and old.path.startswith(conda.prefix):
        update = f"conda install --prefix {word(conda.prefix)} -c conda-forge libstdcxx-ng libgcc-ng"
        return (Fix("Bring the environment's own C++ runtime up to date", update),)
    return (NEWER,)


NEWER = Fix(
    "Install a newer C++ runtime (libstdc++) beside the system's, and let programs find it first: conda has one",
    on.linux(
        "conda install -c conda-forge libstdcxx-ng\n"
        "export LD_LIBRARY_PATH=$CONDA_PREFIX/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    ),
    safe=True,
)


def _missing_runtime(case: Case) -> list[tuple[str, MissingLibrary]]:
    """Framework, and the DLL that it does not find; each name once."""
    trees = value_or(case.facts.loads.trees, ()) if on_windows(case.facts) else ()
    lost = {m.name.lower(): (tree.framework, m) for tree in trees for m in tree.missing[::-1] if is_runtime(m.name)}
    return list(lost.values())


REDISTRIBUTE = Fix(
    "Install the Microsoft Visual C++ Redistributable 2015-2022 for x64 (vc_redist.x64.exe)", REDISTRIBUTABLE, root=True
)

CAUSE = Cause(
    id="other.not_gpu",
    title="this is not a GPU problem",
    signs=(
        nothing_of_it,
        before_its_first_line,
        a_damaged_module,
        without_runtime,
        without_python_dll,
        without_python,
        older_runtime,
        python_without_its_own,
        cannot_be_imported,
    ),
    fixes=fixes,
    effect="The GPU stack is not at fault",
    needs_log=True,
    shown_on=("linux", "windows"),
)
