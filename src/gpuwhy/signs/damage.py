"""install.corrupted: installed files that are gone, changed or for another platform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gpuwhy.facts.fact import Known, Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Finding, saw
from gpuwhy.facts.installs import MISFITS, Damage, DamageKind, Part
from gpuwhy.facts.libraries import Flaw, LibraryCopy
from gpuwhy.facts.loads import DriverLibrary
from gpuwhy.knowledge.libraries import opened_later
from gpuwhy.signs.builds import other_python, published_for, said_other_python
from gpuwhy.signs.case import (
    Case,
    against,
    base_name,
    noted,
    prevents_start,
    proof,
    rows,
    slows,
    strong,
    weak,
)
from gpuwhy.signs.needed import flawed

_CERTAIN = MISFITS | {
    DamageKind.MISSING,
    DamageKind.EMPTY,
    DamageKind.TRUNCATED,
    DamageKind.NOT_A_LIBRARY,
    DamageKind.OTHER_HASH,
    DamageKind.DANGLING,
    DamageKind.UNREADABLE,
    DamageKind.NOT_LOADABLE,
    DamageKind.ZEROS,
}
"""Of a library, of a first module or of a whole package: an import fails by it."""
_CERTAIN_PARTS = (Part.LIBRARY, Part.FIRST_MODULE, Part.PACKAGE)
_OVERWRITTEN = (DamageKind.OTHER_SIZE, DamageKind.OTHER_HASH)
_TWICE = (*(DamageKind.SECOND_METADATA, DamageKind.UNLISTED_METADATA), DamageKind.HALF_UPGRADED)
_ELSEWHERE = (*_TWICE, DamageKind.EDITED, DamageKind.NOEXEC, DamageKind.SOURCE_GONE)
"""Said by signs of their own."""
_MANY = 3


def not_as_installed(case: Case) -> Finding | None:
    """Files that differ from the list their package came with."""
    found = _damage(case.facts)
    if not found:
        return None
    first = found[0]
    template, values = _said(first)
    if len(found) > 1:
        template, values["more"] = template + ", and {more} more", len(found) - 1
    stripped = all(one.smaller and not _other_release(case.facts, one) for one in found)
    say = proof if any(map(_is_certain, found)) else weak if stripped else strong
    evidence = [saw(f"{one.kind.value}, of {one.owner}", Source("file", one.path)) for one in found]
    finding = say(template, *evidence[:3], **values)
    return finding if any(one.stack for one in found) else noted(finding)


def _damage(facts: Facts) -> list[Damage]:
    """What counts, the certain kinds first.

    Not what another package wrote over, which is a conflict; not libraries that were stripped, as
    images are made smaller.
    """
    every = facts.installs.damage.need() or ()
    found = [one for one in every if one.kind not in _ELSEWHERE]
    stripped = Counter(one.owner for one in found if one.smaller)
    found = [one for one in found if not (one.smaller and stripped[one.owner] >= _MANY)]
    if any(one.kind in _OVERWRITTEN for one in found):
        conflicts = facts.installs.conflicts.need() or ()
        shared = {owner.name for conflict in conflicts for owner in conflict.owners}
        found = [o for o in found if o.kind not in _OVERWRITTEN or o.owner.name not in shared]
    return sorted(found, key=lambda one: (not one.stack, not _is_certain(one)))


def _is_certain(one: Damage) -> bool:
    return one.kind in _CERTAIN and one.part in _CERTAIN_PARTS


def _other_release(facts: Facts, one: Damage) -> bool:
    """Whether the file states a release that is not its package's: it was replaced."""
    for tree in value_or(facts.loads.trees, ()):
        for library in tree.libraries:
            version = value_or(library.version, "") if library.path == one.path else ""
            if version and not one.owner.version.startswith(version):
                return True
    return False


def _said(one: Damage) -> tuple[str, dict[str, object]]:
    """What is wrong with a file, or with the package that it stands for."""
    values: dict[str, object] = {
        "owner": str(one.owner),
        "file": one.path.rpartition("-packages/")[2],
        "name": base_name(one.path),
        "actual": one.actual,
        "expected": one.expected,
        "kind": one.kind.value,
        "size": one.size,
        "recorded": one.recorded_size,
    }
    if one.kind in MISFITS:
        return "{owner} is built for {actual}, and this environment is one for {expected}", values
    if one.kind is DamageKind.OTHER_RELEASE:
        return (
            "the files of {owner} are those of release {actual}: they were written over it",
            values,
        )
    if one.part not in (Part.LIBRARY, Part.FIRST_MODULE):
        if one.kind is DamageKind.NOT_COMPILING:
            return "{file} of {owner} {kind}" + (" ({actual})" if one.actual else ""), values
        return "{file} of {owner} is {kind}", values
    if one.kind is DamageKind.MISSING:
        return "{name} of {owner} is missing", values
    detail = " ({actual})" if one.actual else ""
    if one.size >= 0 and one.recorded_size >= 0 and one.size != one.recorded_size:
        detail = " ({size} bytes; {recorded} expected)"
    return f"{{name}} of {{owner}} is damaged: {{kind}}{detail}", values


def changed_since(case: Case) -> Finding | None:
    """Files that are not what was installed, and that can be read."""
    every = case.facts.installs.damage.need() or ()
    found = [one for one in every if one.kind is DamageKind.EDITED]
    if not found:
        return None
    more = ", and {more} more files likewise" if len(found) > 1 else ""
    evidence = [saw(f"differs, of {one.owner}", Source("file", one.path)) for one in found[:3]]
    text = f"{{file}} of {{owner}} is not what was installed{more}"
    values = {"file": found[0].path.rpartition("-packages/")[2], "owner": str(found[0].owner)}
    return noted(weak(text, *evidence, more=len(found) - 1, **values))


def two_metadata_folders(case: Case) -> Finding | None:
    """Installers and version checks may read the wrong one."""
    every = case.facts.installs.damage.need() or ()
    found = [one for one in every if one.kind in _TWICE]
    if not found:
        return None
    first = found[0]
    more = ", and {more} more packages likewise" if len(found) > 1 else ""
    text = "{package} has two metadata folders, {actual} and {expected}; its files are the latter's"
    evidence = [
        saw(f"{one.actual}, left by an interrupted upgrade", Source("folder", one.path))
        for one in found[:3]
    ]
    certain = any(one.kind is DamageKind.SECOND_METADATA for one in found)
    finding = (strong if certain else weak)(
        text + more,
        *evidence,
        package=first.owner.name,
        actual=first.actual,
        expected=first.expected,
        more=len(found) - 1,
    )
    return slows(finding) if any(one.stack for one in found) else noted(finding)


def source_gone(case: Case) -> Finding | None:
    """A project that was installed from a folder of source, which does not exist any more."""
    every = case.facts.installs.damage.need() or ()
    found = [one for one in every if one.kind is DamageKind.SOURCE_GONE and one.stack]
    if not found:
        return None
    more = ", and {more} more likewise" if len(found) > 1 else ""
    text = f"{{owner}} was installed from {{folder}}, which does not exist any more{more}"
    evidence = [saw(f"leads to {one.expected}", Source("file", one.path)) for one in found[:3]]
    values = {"owner": str(found[0].owner), "folder": found[0].expected}
    return proof(text, *evidence, more=len(found) - 1, **values)


def no_interpreter(case: Case) -> Finding | None:
    """An environment whose own Python is gone: moved, upgraded away, left in another stage."""
    fact = case.facts.environment.python
    python = value_or(fact, None)
    offline = isinstance(case.facts.system.offline, Known)
    if python is None or not python.gone or not (offline or case.windows):
        return None  # on a running machine it is no GPU problem
    text = "the environment {prefix} has no Python any more: {path} is {gone}"
    seen = saw(f"{python.path}: {python.gone}", fact)
    return proof(text, seen, prefix=python.prefix, path=python.path, gone=python.gone)


def for_another_python(case: Case) -> Finding | None:
    """Windows: files for another Python, though the release has some for this one."""
    for one in value_or(case.facts.frameworks.installed, ()):
        if other_python(case.facts, one) and published_for(case.facts, one)[0]:
            return said_other_python(case.facts, one)
    return None


def start_file_blocks(case: Case) -> Finding | None:
    """A file that Python runs at every start makes a framework's module impossible to import."""
    installed = value_or(case.facts.frameworks.installed, ())
    names = {one.path.rpartition("/")[2] for one in installed} | {one.name for one in installed}
    for one in value_or(case.facts.installs.start_files, ()):
        blocked = [name for name in one.blocks if name.partition(".")[0] in names]
        if blocked:
            text = "{file} runs before every program of this environment and blocks {module}"
            seen = saw(f"blocks {blocked[0]}", Source("file", one.path))
            return prevents_start(proof(text, seen, file=one.path, module=blocked[0]))
    return None


# ---------------------------------------------------------------- what the loader meets


def stops_the_search(case: Case) -> Finding | None:
    """A broken file under the right name, which ends the loader's search."""
    found = _refused(case.facts)
    if not found:
        return None
    framework, library, file, why = found[0]
    text = "{framework} opens {library}, and the file it gets is broken: {file} ({why})"
    evidence = [saw(f"{one[1]}: {one[3]}", Source("file", one[2])) for one in found[:3]]
    values = {"framework": framework, "library": library, "file": file, "why": why}
    return proof(text, *evidence, **values)


def _refused(facts: Facts) -> list[tuple[str, str, str, str]]:
    """Framework, library, the file at which the search ends, and why; each file once."""
    found: dict[str, tuple[str, str, str, str]] = {}
    trees = value_or(facts.loads.trees, ())
    missing = [(tree.framework, one) for tree in trees for one in tree.missing if one.refused]
    flaws = {one.refused: one.flaw.value for _, one in missing}
    for need in facts.loads.needs.need() or ():
        if isinstance(need.path, Unknown) and need.path.kind == "refused":
            file = need.refused or need.name
            why = flaws.get(file, need.path.reason)
            found.setdefault(file, (need.framework, need.name, file, why))
    for framework, one in missing:
        name = base_name(one.name)
        if opened_later(name):
            found.setdefault(one.refused, (framework, name, one.refused, one.flaw.value))
    return list(found.values())


def loads_a_broken_copy(case: Case) -> Finding | None:
    """A file that the loader takes and that is not whole; copies that nobody loads do not count."""
    found = _loaded_broken(case.facts)
    if not found:
        return None
    evidence = [saw(_state(one), Source("file", one.path)) for one in found[:3]]
    text = "{library} is what is loaded, and the file is {state}"
    return proof(text, *evidence, library=found[0].name, state=_flaw(found[0]).value)


def _loaded_broken(facts: Facts) -> list[LibraryCopy]:
    needs = facts.loads.needs.need() or ()
    taken = {one.path.value for one in needs if isinstance(one.path, Known)}
    for tree in value_or(facts.loads.trees, ()):
        taken |= {one.path for one in tree.libraries if opened_later(one.name)}
    copies = facts.libraries.copies.need() or ()
    return [one for one in copies if one.paths & taken and flawed(one)]


def _flaw(copy: LibraryCopy) -> Flaw:
    return value_or(copy.health, Flaw.NONE)


def _state(copy: LibraryCopy) -> str:
    owner = f", from {copy.owner.value}" if isinstance(copy.owner, Known) else ""
    return f"{_flaw(copy).value}{owner}"


def driver_library(case: Case) -> Finding | None:
    """The driver's own library that programs get, where the file is not whole."""
    for copies in (case.facts.loads.libcuda, case.facts.loads.libnvml):
        found = value_or(copies, ())
        one = _first_broken(found)
        if one:
            flaw = value_or(one.health, Flaw.NONE).value
            text = "the driver's {library} is what programs get, and the file is damaged: {flaw}"
            return proof(text, saw(flaw, one.health), library=one.name, flaw=flaw)
    return None


def _first_broken(copies: Sequence[DriverLibrary]) -> DriverLibrary | None:
    for one in copies[:1]:
        if one.kind == "driver" and one.on_path and one.broken:
            return one
    return None


def passed_over(case: Case) -> Finding | None:
    """A wheel's library that the loader skips: for another machine, or unreadable."""
    found = _skipped(case.facts)
    if not found:
        return None
    evidence = [saw(f"{one.path}: {_flaw(one).value}", one.health) for one in found[:3]]
    text = "the loader skips {library}: {state}"
    return proof(text, *evidence, library=found[0].name, state=_state(found[0]))


def _skipped(facts: Facts) -> list[LibraryCopy]:
    wanted = {need.name for need in value_or(facts.loads.needs, ())}
    copies = value_or(facts.libraries.copies, ())
    mine = [one for one in copies if one.where == "wheel" and one.name in wanted]
    return [one for one in mine if _flaw(one) in (Flaw.MACHINE, Flaw.UNREADABLE)]


def all_whole(case: Case) -> Finding | None:
    """What rules it out."""
    facts = case.facts
    files = not_as_installed(case) or two_metadata_folders(case) or source_gone(case)
    if files or changed_since(case) or start_file_blocks(case) or for_another_python(case):
        return None
    loaded = _refused(facts) or _loaded_broken(facts) or _skipped(facts)
    if loaded or driver_library(case) or facts.installs.start.need():
        return None
    return against("every installed GPU library that was looked at is whole")


SIGNS = rows(
    "install.corrupted",
    "machine",
    *(no_interpreter, start_file_blocks, for_another_python, source_gone, not_as_installed),
    *(two_metadata_folders, changed_since, stops_the_search, loads_a_broken_copy),
    *(driver_library, passed_over, all_whole),
)
