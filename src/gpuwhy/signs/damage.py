"""install.corrupted: installed files that are gone, changed or for another platform."""

from collections import Counter
from contextlib import suppress

from msgspec.structs import replace

from gpuwhy.facts.fact import Known, Source, Undetermined, Unknown, value_or
from gpuwhy.facts.finding import Finding, saw
from gpuwhy.facts.installs import MISFITS, Damage, DamageKind, Part
from gpuwhy.facts.libraries import Flaw, LibraryCopy
from gpuwhy.knowledge.libraries import opened_later
from gpuwhy.signs import say
from gpuwhy.signs.builds import for_other_python
from gpuwhy.signs.case import Case, Row, rows
from gpuwhy.signs.expect import installed, offline
from gpuwhy.signs.needed import copies_of, flawed

_CERTAIN = MISFITS | {
    *(DamageKind.MISSING, DamageKind.EMPTY, DamageKind.TRUNCATED, DamageKind.NOT_A_LIBRARY),
    *(DamageKind.OTHER_HASH, DamageKind.DANGLING, DamageKind.UNREADABLE),
    *(DamageKind.NOT_LOADABLE, DamageKind.ZEROS, DamageKind.HALF_UPGRADED),
}
"""Of a library, of a first module or of a whole package: an import fails by it."""
_CERTAIN_PARTS = (Part.LIBRARY, Part.FIRST_MODULE, Part.PACKAGE)
_OVERWRITTEN = (DamageKind.OTHER_SIZE, DamageKind.OTHER_HASH)
_ELSEWHERE = (DamageKind.EDITED, DamageKind.NOEXEC)
"""Said by signs of their own."""
_MANY = 3
_SEARCHED = ("LD_LIBRARY_PATH", "ld.so.cache")
_BROKEN = (Flaw.EMPTY, Flaw.FOREIGN, Flaw.TRUNCATED)
"""What ends the loader's search with an error; a file for another machine is passed over."""


def not_as_installed(case: Case) -> Finding | None:
    """Files that differ from the list their package came with.

    Not what another package wrote over, which is a conflict; not libraries that were stripped, as
    images are made smaller.
    """
    facts = case.facts
    found = [one for one in facts.installs.damage.need() or () if one.kind not in _ELSEWHERE]
    stripped = Counter(one.owner for one in found if one.smaller)
    found = [one for one in found if not (one.smaller and stripped[one.owner] >= _MANY)]
    if any(one.kind in _OVERWRITTEN for one in found):
        conflicts = facts.installs.conflicts.need() or ()
        shared = {owner.name for conflict in conflicts for owner in conflict.owners}
        found = [o for o in found if o.kind not in _OVERWRITTEN or o.owner.name not in shared]
    if not found:
        return None
    found.sort(key=lambda one: (not one.stack, not _is_certain(one)))
    # a smaller library is a stripped one, unless it states another release than its package's
    trees = value_or(facts.loads.trees, ())
    states = {lib.path: value_or(lib.version, "") for tree in trees for lib in tree.libraries}
    stripped_only = all(
        one.smaller and one.owner.version.startswith(states.get(one.path, "")) for one in found
    )
    weigh = say.weak if stripped_only else say.strong
    weigh = say.proof if any(map(_is_certain, found)) else weigh
    seen = [saw(f"{one.kind.value}, of {one.owner}", Source("file", one.path)) for one in found[:3]]
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    finding = weigh(_said(found[0]) + more, *seen, owner=str(found[0].owner))
    return finding if any(one.stack for one in found) else say.noted(finding)


def _is_certain(one: Damage) -> bool:
    return one.kind in _CERTAIN and one.part in _CERTAIN_PARTS


def _said(one: Damage) -> str:
    """What is wrong with a file, or with the package that it stands for."""
    owner, kind, file = one.owner, one.kind.value, one.path.rpartition("-packages/")[2]
    if one.kind in MISFITS:
        return f"{owner} is built for {one.actual}, and this environment is one for {one.expected}"
    if one.kind is DamageKind.OTHER_RELEASE:
        return f"the files of {owner} are those of release {one.actual}: they were written over it"
    if one.kind is DamageKind.HALF_UPGRADED:
        return f"an upgrade of {owner} was broken off: {file} is gone"
    detail = f" ({one.actual})" if one.actual else ""
    if one.part not in (Part.LIBRARY, Part.FIRST_MODULE):
        if one.kind is DamageKind.NOT_COMPILING:
            return f"{file} of {owner} {kind}{detail}"
        return f"{file} of {owner} is {kind}"
    name = say.base_name(one.path)
    if one.kind is DamageKind.MISSING:
        return f"{name} of {owner} is missing"
    if one.size >= 0 and one.recorded_size >= 0 and one.size != one.recorded_size:
        detail = f" ({one.size} bytes; {one.recorded_size} expected)"
    return f"{name} of {owner} is damaged: {kind}{detail}"


def no_interpreter(case: Case) -> Finding | None:
    """An environment whose own Python is gone: moved, upgraded away, left in another stage."""
    fact = case.facts.environment.python
    python = value_or(fact, None)
    if python is None or not python.gone or not (offline(case.facts) or case.windows):
        return None  # on a running machine it is no GPU problem
    seen = f"{python.path}: {python.gone}"
    text = f"the environment {python.prefix} has no Python any more: {python.path} is {python.gone}"
    return say.proof(text, saw(seen, fact), path=python.path)


def start_file_blocks(case: Case) -> Finding | None:
    """A file that Python runs at every start makes a framework's module impossible to import."""
    names = {name for one in installed(case.facts) for name in (say.base_name(one.path), one.name)}
    for one in value_or(case.facts.installs.start_files, ()):
        blocked = next((name for name in one.blocks if name.partition(".")[0] in names), "")
        if blocked:
            text = f"{one.path} runs before every program of this environment and blocks {blocked}"
            seen = saw(f"blocks {blocked}", Source("file", one.path))
            return say.prevents_start(say.proof(text, seen))
    return None


def for_another_python(case: Case) -> Finding | None:
    """Windows: files for another Python, though the release has some for this one."""
    found = (for_other_python(case.facts, one, published=True) for one in installed(case.facts))
    return next(filter(None, found), None)


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
        if opened_later(say.base_name(one.name)):
            found.setdefault(one.refused, (framework, say.base_name(one.name), one.flaw.value))
    if not found:
        return None
    seen = [saw(f"{name}: {why}", Source("file", file)) for file, (_, name, why) in found.items()]
    file, (framework, library, why) = next(iter(found.items()))
    text = f"{framework} opens {library}, and the file it gets is broken: {file} ({why})"
    return say.proof(text, *seen[:3], framework=framework, library=library)


def loads_a_broken_copy(case: Case) -> Finding | None:
    """A file that the loader takes and that is not whole; copies that nobody loads do not count."""
    facts = case.facts
    needs = facts.loads.needs.need() or ()
    taken = {one.path.value for one in needs if isinstance(one.path, Known)}
    for tree in value_or(facts.loads.trees, ()):
        taken |= {one.path for one in tree.libraries if opened_later(one.name)}
    found = [one for one in facts.libraries.copies.need() or () if one.paths & taken]
    found = [one for one in found if flawed(one)]
    return _of_copies("{} is what is loaded, and the file is", found)


def passed_over(case: Case) -> Finding | None:
    """A wheel's library that the loader skips: for another machine, or unreadable."""
    wanted = {need.name for need in value_or(case.facts.loads.needs, ())}
    mine = [one for one in copies_of(case.facts) if one.where == "wheel" and one.name in wanted]
    found = [one for one in mine if _flaw(one) in (Flaw.MACHINE, Flaw.UNREADABLE)]
    return _of_copies("the loader skips {}:", found)


def _of_copies(text: str, found: list[LibraryCopy]) -> Finding | None:
    if not found:
        return None
    seen = []
    for one in found[:3]:
        owner = f", from {one.owner.value}" if isinstance(one.owner, Known) else ""
        seen.append(saw(f"{_flaw(one).value}{owner}", Source("file", one.path)))
    first = found[0]
    text = f"{text.format(first.name)} {_flaw(first).value}"
    return say.proof(text, *seen, library=first.name)


def _flaw(copy: LibraryCopy) -> Flaw:
    return value_or(copy.health, Flaw.NONE)


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
    one, who = found[0], f"a program that opens {found[0].name} gets this file and fails"
    seen = [saw(_flaw(one).value, Source("file", one.path)) for one in found[:3]]
    made = say.strong(f"{one.path} is damaged ({_flaw(one).value}): {who}", *seen, path=one.path)
    return replace(say.slows(made), subject="cuDNN" if one.family == "cudnn" else "CUDA")


def driver_library(case: Case) -> Finding | None:
    """The driver's own library that programs get, where the file is not whole."""
    for copies in (case.facts.loads.libcuda, case.facts.loads.libnvml):
        for one in value_or(copies, ())[:1]:
            if one.kind == "driver" and one.on_path and one.broken:
                flaw = value_or(one.health, Flaw.NONE).value
                gets = f"the driver's {one.name} is what programs get"
                text = f"{gets}, and the file is damaged: {flaw}"
                return say.proof(text, saw(flaw, one.health), library=one.name, flaw=flaw)
    return None


def all_whole(case: Case) -> Finding | None:
    """What rules it out."""
    whole = say.against("every installed GPU library that was looked at is whole")
    return None if case.facts.installs.start.need() else whole


SIGNS = (
    *rows("install.corrupted", "machine", no_interpreter, start_file_blocks, for_another_python),
    *rows("install.corrupted", "machine", not_as_installed, stops_the_search, loads_a_broken_copy),
    *rows("install.corrupted", "machine", first_but_broken, driver_library, passed_over),
    Row("install.corrupted", "machine", all_whole, last=True),
)
