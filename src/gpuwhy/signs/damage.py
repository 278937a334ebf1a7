"""install.corrupted: installed files that are gone, changed or for another platform."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from gpuwhy.facts.fact import Known, Source, Undetermined, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, saw
from gpuwhy.facts.installs import MISFITS, Damage, DamageKind, Part
from gpuwhy.facts.libraries import Flaw, LibraryCopy
from gpuwhy.knowledge.libraries import opened_later
from gpuwhy.signs import case as of
from gpuwhy.signs.builds import for_other_python
from gpuwhy.signs.case import (
    Case,
    Row,
    base_name,
    noted,
    prevents_start,
    proof,
    rows,
    slows,
    strong,
)
from gpuwhy.signs.expect import installed, offline
from gpuwhy.signs.needed import copies_of, flawed

_CERTAIN = MISFITS | {
    *(DamageKind.MISSING, DamageKind.EMPTY, DamageKind.TRUNCATED, DamageKind.NOT_A_LIBRARY),
    *(DamageKind.OTHER_HASH, DamageKind.DANGLING, DamageKind.UNREADABLE),
    *(DamageKind.NOT_LOADABLE, DamageKind.ZEROS),
}
"""Of a library, of a first module or of a whole package: an import fails by it."""
_CERTAIN_PARTS = (Part.LIBRARY, Part.FIRST_MODULE, Part.PACKAGE)
_OVERWRITTEN = (DamageKind.OTHER_SIZE, DamageKind.OTHER_HASH)
_TWICE = (DamageKind.SECOND_METADATA, DamageKind.UNLISTED_METADATA, DamageKind.HALF_UPGRADED)
_ELSEWHERE = (*_TWICE, DamageKind.EDITED, DamageKind.NOEXEC)
"""Said by signs of their own."""
_MANY = 3
_SEARCHED = ("LD_LIBRARY_PATH", "ld.so.cache")
_BROKEN = (Flaw.EMPTY, Flaw.FOREIGN, Flaw.TRUNCATED)
"""What ends the loader's search with an error; a file for another machine is passed over."""


def not_as_installed(case: Case) -> Finding | None:
    """Files that differ from the list their package came with."""
    found = _damage(case.facts)
    if not found:
        return None
    first = found[0]
    stripped = all(one.smaller and not _other_release(case.facts, one) for one in found)
    say = proof if any(map(_is_certain, found)) else of.weak if stripped else strong
    different = first.size >= 0 and first.recorded_size >= 0 and first.size != first.recorded_size
    finding = say(
        _said(first, different) + (", and {more} more" if len(found) > 1 else ""),
        *_saw(found),
        owner=str(first.owner),
        file=first.path.rpartition("-packages/")[2],
        name=base_name(first.path),
        actual=f"{first.size} bytes; {first.recorded_size} expected" if different else first.actual,
        expected=first.expected,
        kind=first.kind.value,
        more=len(found) - 1,
    )
    return finding if any(one.stack for one in found) else noted(finding)


def _saw(found: list[Damage]) -> list[Evidence]:
    return [saw(f"{one.kind.value}, of {one.owner}", Source("file", one.path)) for one in found[:3]]


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
    trees = value_or(facts.loads.trees, ())
    same = (lib for tree in trees for lib in tree.libraries if lib.path == one.path)
    stated = (value_or(library.version, "") for library in same)
    return any(version and not one.owner.version.startswith(version) for version in stated)


def _said(one: Damage, different: bool) -> str:
    """What is wrong with a file, or with the package that it stands for."""
    if one.kind in MISFITS:
        return "{owner} is built for {actual}, and this environment is one for {expected}"
    if one.kind is DamageKind.OTHER_RELEASE:
        return "the files of {owner} are those of release {actual}: they were written over it"
    if one.part not in (Part.LIBRARY, Part.FIRST_MODULE):
        if one.kind is DamageKind.NOT_COMPILING:
            return "{file} of {owner} {kind}" + (" ({actual})" if one.actual else "")
        return "{file} of {owner} is {kind}"
    if one.kind is DamageKind.MISSING:
        return "{name} of {owner} is missing"
    detail = " ({actual})" if one.actual or different else ""
    return f"{{name}} of {{owner}} is damaged: {{kind}}{detail}"


def _note(text: str, found: list[Damage]) -> Finding | None:
    """Something that is worth a note about the first of some files."""
    if not found:
        return None
    more = ", and {more} more likewise" if len(found) > 1 else ""
    first = found[0]
    values: dict[str, Any] = {
        "owner": str(first.owner),
        "package": first.owner.name,
        "file": first.path.rpartition("-packages/")[2],
        "folder": first.expected,
        "actual": first.actual,
        "more": len(found) - 1,
    }
    return of.weak(text + more, *_saw(found), **values)


def changed_since(case: Case) -> Finding | None:
    """Files that are not what was installed, and that can be read."""
    every = case.facts.installs.damage.need() or ()
    edited = [one for one in every if one.kind is DamageKind.EDITED]
    finding = _note("{file} of {owner} is not what was installed", edited)
    return noted(finding) if finding else None


def two_metadata_folders(case: Case) -> Finding | None:
    """Installers and version checks may read the wrong one."""
    every = case.facts.installs.damage.need() or ()
    found = [one for one in every if one.kind in _TWICE]
    text = "{package} has two metadata folders, {actual} and {folder}; its files are the latter's"
    finding = _note(text, found)
    if finding is None:
        return None
    if any(one.kind is DamageKind.SECOND_METADATA for one in found):
        finding = strong(finding.template, *finding.evidence, **finding.values)
    return slows(finding) if any(one.stack for one in found) else noted(finding)


def no_interpreter(case: Case) -> Finding | None:
    """An environment whose own Python is gone: moved, upgraded away, left in another stage."""
    fact = case.facts.environment.python
    python = value_or(fact, None)
    if python is None or not python.gone or not (offline(case.facts) or case.windows):
        return None  # on a running machine it is no GPU problem
    text = "the environment {prefix} has no Python any more: {path} is {gone}"
    seen = saw(f"{python.path}: {python.gone}", fact)
    return proof(text, seen, prefix=python.prefix, path=python.path, gone=python.gone)


def for_another_python(case: Case) -> Finding | None:
    """Windows: files for another Python, though the release has some for this one."""
    found = (for_other_python(case.facts, one, published=True) for one in installed(case.facts))
    return next(filter(None, found), None)


def start_file_blocks(case: Case) -> Finding | None:
    """A file that Python runs at every start makes a framework's module impossible to import."""
    names = {name for one in installed(case.facts) for name in (base_name(one.path), one.name)}
    for one in value_or(case.facts.installs.start_files, ()):
        blocked = next((name for name in one.blocks if name.partition(".")[0] in names), "")
        if blocked:
            text = "{file} runs before every program of this environment and blocks {module}"
            seen = saw(f"blocks {blocked}", Source("file", one.path))
            return prevents_start(proof(text, seen, file=one.path, module=blocked))
    return None


# ---------------------------------------------------------------- what the loader meets


def stops_the_search(case: Case) -> Finding | None:
    """A broken file under the right name, which ends the loader's search."""
    facts = case.facts
    found: dict[str, tuple[str, str, str]] = {}  # each file once, with who asks for what, and why
    trees = value_or(facts.loads.trees, ())
    missing = [(tree.framework, one) for tree in trees for one in tree.missing if one.refused]
    flaws = {one.refused: one.flaw.value for _, one in missing}
    for need in facts.loads.needs.need() or ():
        if isinstance(need.path, Unknown) and need.path.kind == "refused":
            file = need.refused or need.name
            why = flaws.get(file, need.path.reason)
            found.setdefault(file, (need.framework, need.name, why))
    for framework, one in missing:
        if opened_later(base_name(one.name)):
            found.setdefault(one.refused, (framework, base_name(one.name), one.flaw.value))
    if not found:
        return None
    seen = [saw(f"{name}: {why}", Source("file", file)) for file, (_, name, why) in found.items()]
    file, (framework, library, why) = next(iter(found.items()))
    text = "{framework} opens {library}, and the file it gets is broken: {file} ({why})"
    return proof(text, *seen[:3], framework=framework, library=library, file=file, why=why)


def loads_a_broken_copy(case: Case) -> Finding | None:
    """A file that the loader takes and that is not whole; copies that nobody loads do not count."""
    facts = case.facts
    needs = facts.loads.needs.need() or ()
    taken = {one.path.value for one in needs if isinstance(one.path, Known)}
    for tree in value_or(facts.loads.trees, ()):
        taken |= {one.path for one in tree.libraries if opened_later(one.name)}
    found = [one for one in facts.libraries.copies.need() or () if one.paths & taken]
    found = [one for one in found if flawed(one)]
    return _of_copies("{library} is what is loaded, and the file is {state}", found)


def first_but_broken(case: Case) -> Finding | None:
    """A broken file that whoever asks for its name gets, though no framework here does."""
    said: set[str] = set()
    for sign in (stops_the_search, loads_a_broken_copy):
        with suppress(Undetermined):
            told = sign(case)
            said |= {seen.source.where for seen in told.evidence} if told else set()
    first: dict[str, LibraryCopy] = {}
    for one in copies_of(case.facts):
        first.setdefault(one.name, one)
    found = [one for one in first.values() if one.where in _SEARCHED and _flaw(one) in _BROKEN]
    found = [one for one in found if said.isdisjoint(one.paths)]
    if not found:
        return None
    one = found[0]
    text = "{path} is damaged ({state}): a program that opens {library} gets this file and fails"
    seen = [saw(_flaw(one).value, Source("file", one.path)) for one in found[:3]]
    made = strong(text, *seen, path=one.path, library=one.name, state=_flaw(one).value)
    return replace(slows(made), subject="cuDNN" if one.family == "cudnn" else "CUDA")


def passed_over(case: Case) -> Finding | None:
    """A wheel's library that the loader skips: for another machine, or unreadable."""
    wanted = {need.name for need in value_or(case.facts.loads.needs, ())}
    mine = [one for one in copies_of(case.facts) if one.where == "wheel" and one.name in wanted]
    found = [one for one in mine if _flaw(one) in (Flaw.MACHINE, Flaw.UNREADABLE)]
    return _of_copies("the loader skips {library}: {state}", found)


def _of_copies(text: str, found: list[LibraryCopy]) -> Finding | None:
    states = [
        _flaw(one).value + (f", from {one.owner.value}" if isinstance(one.owner, Known) else "")
        for one in found
    ]
    pairs = list(zip(states, found, strict=True))[:3]
    seen = [saw(state, Source("file", one.path)) for state, one in pairs]
    if not found:
        return None
    return proof(text, *seen, library=found[0].name, state=_flaw(found[0]).value)


def _flaw(copy: LibraryCopy) -> Flaw:
    return value_or(copy.health, Flaw.NONE)


def driver_library(case: Case) -> Finding | None:
    """The driver's own library that programs get, where the file is not whole."""
    for copies in (case.facts.loads.libcuda, case.facts.loads.libnvml):
        for one in value_or(copies, ())[:1]:
            if one.kind == "driver" and one.on_path and one.broken:
                flaw = value_or(one.health, Flaw.NONE).value
                text = (
                    "the driver's {library} is what programs get, and the file is damaged: {flaw}"
                )
                return proof(text, saw(flaw, one.health), library=one.name, flaw=flaw)
    return None


def all_whole(case: Case) -> Finding | None:
    """What rules it out."""
    whole = of.against("every installed GPU library that was looked at is whole")
    return None if case.facts.installs.start.need() else whole


SIGNS = (
    *rows("install.corrupted", "machine", no_interpreter, start_file_blocks, for_another_python),
    *rows("install.corrupted", "machine", not_as_installed, two_metadata_folders),
    *rows("install.corrupted", "machine", changed_since, stops_the_search, loads_a_broken_copy),
    *rows("install.corrupted", "machine", first_but_broken, driver_library, passed_over),
    Row("install.corrupted", "machine", all_whole, last=True),
)
