"""install.corrupted: files of an installed GPU package are missing, empty, cut short or not what was installed."""

from __future__ import annotations

from itertools import chain

from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, linked, mild, noted, proof, saw, strong, weak
from gpuwhy.model.fact import Known, Source, Unknown, value_or
from gpuwhy.model.facts import Damage, DriverLibrary, LibraryCopy, NeededLibrary
from gpuwhy.rooms.shared import before, broken_dll, damages, imported, later, other_python, sourced, spoilt
from gpuwhy.rooms.shared.commands import change, word
from gpuwhy.rooms.shared.needs import base_name
from gpuwhy.rooms.shared.windows import on_windows
from gpuwhy.rooms.shared.winner import in_image

SECOND, UNLISTED, IN_THE_WAY = "second metadata", "unlisted metadata", "metadata in the way"
SOURCE, BUILT_ON, PROJECT = "source gone", "source of what needs it gone", "project gone"
LITTLE = 2 << 30  # bytes of free disk below which an installation may have been cut short


def not_as_installed(case: Case) -> Finding | None:
    """Files that differ from the list their package came with."""
    found = _damage(case)
    if not found:
        return None
    told = [one for one in found if _told(case, one)]
    shown_first = told or found
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    say = weak if all(damages.smaller(one) and not _another_release(case, one) for one in found) else strong
    say = proof if any(one.what in damages.CERTAIN or imported.on_the_way(case, one) for one in found) else say
    evidence = [saw(f"{one.what}, of {one.owner}", Source("file", one.path)) for one in shown_first[:3]]
    finding = say(f"{damages.told(shown_first[0])}{more}", *evidence)
    return linked(finding) if told or _crashed(case) else finding


def _another_release(case: Case, one: Damage) -> bool:
    """Whether the file tells a release that is not its package's: then it was replaced, not stripped."""
    release = one.owner.rpartition(" ")[2]
    loaded = (lib for tree in value_or(case.facts.loads.trees, ()) for lib in tree.libraries if lib.path == one.path)
    return any(not release.startswith(version) for lib in loaded if (version := value_or(lib.version, "")))


def _crashed(case: Case) -> bool:
    """Whether it crashed without a word, which is what code that is not what was installed does."""
    if any(one.role == "error" and one.speaker != "signal" for one in case.symptoms):
        return False
    return case.facts.run.crashed


def _told(case: Case, one: Damage) -> bool:
    """Whether the program's ending names the damaged file, or the module that the file is."""
    name = base_name(one.path)
    inside = one.path.rpartition("-packages/")[2].replace("/", ".")
    module = inside.removesuffix(".py").removesuffix(".__init__")
    words = (name, inside.partition(".cpython")[0], *([module] if "." in module else []))
    return bool(case.ending.message) and any(word in case.ending.message for word in words)


def left_half_way(case: Case) -> Finding | None:
    """Two metadata folders of one package: installers and version checks may read the wrong one."""
    found = _twice(case)
    if not found:
        return None
    first, more = found[0], f", and {len(found) - 1} more packages likewise" if len(found) > 1 else ""
    name = first.owner.partition(" ")[0]
    text = f"{name} has two metadata folders, {first.actual} and {first.expected}; its files are the latter's"
    evidence = (saw(f"{one.actual}, left by an interrupted upgrade", Source("folder", one.path)) for one in found[:3])
    stopped = imported.failing(case)
    if stopped and any(one.what == IN_THE_WAY for one in found):
        return proof(f"{text}{more}; {imported.told(stopped[0])}", *evidence, imported.seen(case, stopped[0]))
    say = strong if any(one.what == SECOND for one in found) else weak
    finding = mild(say(f"{text}{more}", *evidence))
    return noted(finding) if imported.all_well(case) else finding


def _twice(case: Case) -> list[Damage]:
    return [one for one in case.facts.target.damage.need() or () if one.what in (SECOND, UNLISTED, IN_THE_WAY)]


def _damage(case: Case) -> list[Damage]:
    """Damage, the certain kinds first; a file that another package wrote over is a conflict, not damage."""
    found = imported.heard_of(case, damages.without_stripped(case.facts.target.damage.need() or ()))
    found += [one for one in spoilt.edited(case) if imported.on_the_way(case, one)]
    if any(one.what in damages.OVERWRITTEN for one in found):
        conflicts = case.facts.target.conflicts.need() or ()
        shared = set(chain.from_iterable(conflict.owners for conflict in conflicts))
        found = [one for one in found if one.what not in damages.OVERWRITTEN or one.owner not in shared]
    return sorted(found, key=lambda one: one.what not in damages.CERTAIN)


def for_another_python(case: Case) -> Finding | None:
    """Windows: files of a release for another Python, of which there are some for this one: they were copied here."""
    found = other_python.put_wrongly(case.facts)
    if found is None:
        return None
    framework, missing, python = found
    text = other_python.said(case.facts, framework, missing, python)
    return proof(text, *other_python.evidence(case.facts, framework, missing))


def stops_the_search(case: Case) -> Finding | None:
    """A broken file under the right name, which ends the loader's search."""
    found = _stopping(case)
    if not found:
        return None
    first = found[0]
    return proof(
        f"{first.framework} opens {first.name}, and the file it gets is broken: {_reason(first)}",
        *(saw(_reason(need), Source("file", need.needed_by, f"opens {need.name}")) for need in found[:3]),
    )


def _stopping(case: Case) -> list[NeededLibrary]:
    needs = case.facts.loads.needs.need() or ()
    return [n for n in needs if isinstance(n.found, Unknown) and n.found.kind == "refused"] + later.refused(case.facts)


def _reason(need: NeededLibrary) -> str:
    return need.found.reason if isinstance(need.found, Unknown) else ""


def loads_a_broken_copy(case: Case) -> Finding | None:
    """A file that the loader takes and that is not whole; copies that nobody loads do not count."""
    found = _loaded(case)
    if not found:
        return None
    first = found[0]
    return proof(
        f"{first.name} is what gets loaded, and the file is {value_or(first.health, '')}",
        *(saw(f"{value_or(one.health, '')}{_from(one)}", Source("file", one.path)) for one in found[:3]),
    )


def _loaded(case: Case) -> list[LibraryCopy]:
    taken = {need.found.value for need in case.facts.loads.needs.need() or () if isinstance(need.found, Known)}
    taken |= later.loaded(case.facts)
    copies = case.facts.libraries.copies.need() or ()
    return [one for one in copies if one.paths & taken and one.fault]


def _from(copy: LibraryCopy) -> str:
    return f", from {copy.owner.value}" if isinstance(copy.owner, Known) else ""


def driver_library(case: Case) -> Finding | None:
    """The driver's own library that programs get, where the file is not whole."""
    for copies in (case.facts.loads.libcuda, case.facts.loads.libnvml):
        for one in _first_broken(value_or(copies, ())):
            state = value_or(one.health, "")
            return proof(
                f"the driver's {one.name} is what programs get, and the file is no good: {state}",
                saw(state, one.health),
            )
    return None


def _first_broken(copies: tuple[DriverLibrary, ...]) -> list[DriverLibrary]:
    return [c for c in copies[:1] if c.kind == "driver" and c.on_path and c.broken]


def no_interpreter(case: Case) -> Finding | None:
    """An environment whose own Python is gone: moved, upgraded away, or left behind in another stage of an image."""
    python = case.facts.target.interpreter
    if not isinstance(python, Known) or not python.value.gone or before.told_as_python(case):
        return None
    one = python.value
    text = f"the environment {one.prefix} has no Python any more: {one.path} is {one.gone}"
    return proof(text, saw(f"{one.path}: {one.gone}", python))


def source_gone(case: Case) -> Finding | None:
    """A project that was installed from a folder of source, which is not there any more."""
    found = sorted(_gone(case), key=lambda one: not _asked_for(case, one))
    if not found:
        return None
    first, more = found[0], f", and {len(found) - 1} more likewise" if len(found) > 1 else ""
    text = f"{first.owner} was installed from {first.expected}, which is not there any more{more}"
    finding = proof(text, *(saw(f"leads to {one.expected}", Source("file", one.path)) for one in found[:3]))
    return linked(finding) if _asked_for(case, first) else finding


def _gone(case: Case) -> list[Damage]:
    """Of the GPU stack, or what the program asked for."""
    found = [one for one in case.facts.target.damage.need() or () if one.what in (SOURCE, BUILT_ON, PROJECT)]
    return [one for one in found if one.what != PROJECT or _asked_for(case, one)]


def _asked_for(case: Case, one: Damage) -> bool:
    """Whether the program ended because it did not find this module."""
    lost = [said.get("name").partition(".")[0] for said in case.symptoms if said.signature == "python.module"]
    return one.actual.partition(".")[0] in lost


def ends_at_start(case: Case) -> Finding | None:
    """A file of the environment that Python runs before any program ends it, or hides a framework from it."""
    start = before.start_of(case)
    if start is None or not start.file:
        return None
    text = f"{start.file} is run before every program of this environment, and {before.happens(start)}"
    return before.told_by_start(case, start, text, saw("run at every start", Source("file", start.file)))


def starts_wrongly(case: Case) -> Finding | None:
    """The environment's Python does not start, or does not find what lies in its own folder."""
    start, python = before.start_of(case), value_or(case.facts.target.interpreter, None)
    if start is None or python is None or start.variable or start.file or before.looks_elsewhere(case):
        return None
    if not start.version:
        return before.told_by_start(case, start, f"the environment's Python does not start: {start.ends}")
    return before.told_by_start(case, start, f"{python.path}: {before.happens(start)}")


def passed_over(case: Case) -> Finding | None:
    """A wheel's library that the loader passes over, because it is no library for this machine or cannot be read."""
    found = _skipped(case)
    if not found:
        return None
    first = found[0]
    return proof(
        f"{first.name}{_from(first)} is passed over by the loader: {value_or(first.health, '')}",
        *(saw(f"{one.path}: {value_or(one.health, '')}", one.health) for one in found[:3]),
    )


def _skipped(case: Case) -> list[LibraryCopy]:
    wanted = {need.name for need in value_or(case.facts.loads.needs, ())}
    copies = value_or(case.facts.libraries.copies, ())
    return [c for c in copies if c.where == "wheel" and c.name in wanted and c.fault in ("machine", "unreadable")]


def all_whole(case: Case) -> Finding | None:
    """What rules it out."""
    files = _damage(case) or _twice(case) or spoilt.dead(case) or spoilt.edited(case)
    if files or _stopping(case) or _loaded(case) or _skipped(case) or driver_library(case):
        return None
    if _gone(case) or _of_another_python(case) or imported.hollow(case) or sourced.fails(case):
        return None
    return against(
        "every installed GPU library that was looked at is whole", saw("no damage", case.facts.target.damage)
    )


def _of_another_python(case: Case) -> bool:
    """Whether the environment's Python does not start as it should, or files of another one were put into it."""
    start = before.start_of(case)
    wrong = start is not None and not start.variable and not before.looks_elsewhere(case)
    return wrong or other_python.put_wrongly(case.facts) is not None


def fixes(case: Case) -> tuple[Fix, ...]:
    """Write the files again, with room on the disk."""
    full = [d for d in value_or(case.facts.surroundings.disks, ()) if d.free < LITTLE]
    room = [
        Fix(f"Make room first: {d.path} has {d.free >> 20} MiB left", on.linux(f"df -h {word(d.path)}"), role="part")
        for d in full[:2]
    ]
    if no_interpreter(case):
        return (*room, *_anew(case))
    if ends_at_start(case) or starts_wrongly(case):
        return (*room, *_starting(case))
    owners = list(dict.fromkeys(filter(None, _owners(case))))
    tried = _tried(case, owners)
    if tried:
        return (*room, *tried)
    room += broken_dll.quarantined(case)
    again = [_again(case, owner) for owner in owners[:3]]
    again += [_from_source(case, one) for one in _gone(case)[:2]]
    if driver_library(case):
        again.append(_driver_anew(case))
    again = again or (broken_dll.replaced(case, _stopping(case)) if on_windows(case.facts) else [])
    return (*room, *(again or (Fix("Remove the damaged file and install the package that owns it again"),)))


def _tried(case: Case, owners: list[str]) -> tuple[Fix, ...]:
    """What a trial, the files' own Python or their source tells better than that something is damaged."""
    found = other_python.for_this_one(case.facts) or spoilt.by_trial(case) or sourced.mending(case, owners)
    return tuple(found)


def _driver_anew(case: Case) -> Fix:
    """The driver is installed again; in files that only get one, what a mount or a copy left in its place goes."""
    loads = case.facts.loads
    left = [*_first_broken(value_or(loads.libcuda, ())), *_first_broken(value_or(loads.libnvml, ()))]
    if not left or left[0].yields or not isinstance(case.facts.surroundings.offline, Known):
        text = "Install the driver again, with the same installer or package that brought it"
        return Fix(text, root=True, role="part")
    text = f"Delete {left[0].path}, which is none of the driver's: the driver's own comes to that place with it"
    if in_image(case.facts):
        return Fix(text, on.dockerfile(f"RUN rm {left[0].path}"), role="part")
    return Fix(text, on.linux(f"sudo rm {left[0].path}"), root=True, role="part")


def _anew(case: Case) -> tuple[Fix, ...]:
    """An environment holds a link to its Python, not the Python."""
    made = before.made_again(case.facts.target.interpreter.need())  # type: ignore[arg-type]
    stages = (
        "An image in stages: copy the Python of the first stage too, to the same place, or make the environment "
        "in the last stage with that image's Python"
    )
    return (Fix(stages, role="part"), made) if isinstance(case.facts.surroundings.container, Known) else (made,)


def _starting(case: Case) -> tuple[Fix, ...]:
    """Put the file aside, or make the environment again with the Python that its packages are for."""
    start = before.start_of(case)
    if start is not None and start.file:
        return (spoilt.aside(start.file, value_or(case.facts.target.interpreter, None)),)
    python = value_or(case.facts.target.interpreter, None)
    return (before.made_again(python),) if python is not None else ()


def _from_source(case: Case, one: Damage) -> Fix:
    """A published release where there is one; else the source has to come back."""
    name, _, version = one.owner.partition(" ")
    if one.what != SOURCE:
        text = f"Bring {one.expected} back, or install {name} again from where its source is now"
        return Fix(text, f"pip install -e {word(one.expected)}", role="part")
    wanted = f"{name}=={version}" if version else name
    text = f"Install {name} from the index, or again from where its source is now (pip install -e FOLDER)"
    return change(case.facts, text, wanted, because_of=name, again=True, role="part")


def _owners(case: Case) -> list[str]:
    """'name version (how)' of what is damaged, as far as each fact was seen."""
    target, facts = case.facts.target, case.facts
    owners = (
        [one.owner for one in (*_damage(case), *_twice(case), *spoilt.dead(case))]
        if isinstance(target.damage, Known)
        else []
    )
    if isinstance(facts.loads.needs, Known) and isinstance(facts.libraries.copies, Known):
        stopping = {need.refused for need in _stopping(case)}
        broken = [c for c in facts.libraries.copies.value if c.path in stopping]
        owners += [value_or(c.owner, "") for c in (*broken, *_loaded(case), *_skipped(case))]
    return [owner.removesuffix(" (pip)") for owner in owners]


def _again(case: Case, owner: str) -> Fix:
    name, _, rest = owner.partition(" ")
    python = value_or(case.facts.target.interpreter, None)
    if name == "Python" and python is not None:
        return before.made_again(python)
    version, _, how = rest.partition(" ")
    if how == "(dpkg)":
        return Fix(
            f"Install {name} again", on.linux(f"sudo apt-get install --reinstall {word(name)}"), root=True, role="part"
        )
    if how:
        return Fix(f"Install {name} {version} again with the package manager that owns it {how}", role="part")
    wanted = f"{name}=={version}" if version else name
    check = "gpuwhy check --verify"
    return change(case.facts, f"Install {name} again", wanted, because_of=name, again=True, check=check, role="part")


CAUSE = Cause(
    id="install.corrupted",
    title="an installed GPU library is damaged",
    signs=(
        no_interpreter,
        ends_at_start,
        spoilt.spoils_the_import,
        spoilt.spoilt_copies,
        spoilt.leads_elsewhere,
        spoilt.hollow_folder,
        sourced.fails,
        starts_wrongly,
        for_another_python,
        source_gone,
        not_as_installed,
        left_half_way,
        spoilt.commands,
        spoilt.changed_since,
        stops_the_search,
        loads_a_broken_copy,
        driver_library,
        passed_over,
        all_whole,
    ),
    fixes=fixes,
    hides=("driver.missing",),
    effect="{because}",
)
