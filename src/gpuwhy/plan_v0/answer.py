"""Answer: from wishes and a machine to a plan: resolve, explain, or say why nothing works."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

import msgspec
from packaging.specifiers import SpecifierSet

from gpuwhy.knowledge import imports, variants
from gpuwhy.knowledge.caps import BROKEN, CapRow, caps, caps_to_compile
from gpuwhy.knowledge.floors import floors
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.model.plan import Cap, Choice, Line, Machine, Passed, Plan, Proposal, SystemPart, Wish
from gpuwhy.plan_v0.candidates import allowed_pythons, fitting_driver, how_it_runs, named_gpu, parsed, specifier
from gpuwhy.plan_v0.catalogue import Catalogue, on_cpu_here
from gpuwhy.plan_v0.conflict import conflict, old_driver
from gpuwhy.plan_v0.names import planned_as
from gpuwhy.plan_v0.possible import possible, with_cuda
from gpuwhy.plan_v0.resolve import Found, Impossible, one_answer, resolve
from gpuwhy.plan_v0.roots import FRAMEWORKS, Candidate, framework_of
from gpuwhy.plan_v0.wishes import applies

__all__ = ["Machine", "Plan", "Proposal", "Wish", "attempt", "plan", "possible"]


def plan(wishes: Sequence[Wish], machine: Machine, least_change: bool = False) -> Plan:
    """The plan for some wishes on a machine; raises WishError for wishes that can never be met."""
    wishes = with_cuda(wishes, machine)
    possible(wishes, machine)
    with one_answer():
        return _answer(wishes, machine, least_change)


def _answer(wishes: Sequence[Wish], machine: Machine, least_change: bool) -> Plan:
    found = attempt(wishes, machine, least_change)
    if isinstance(found, Proposal) and not old_driver(machine):
        return Plan(tuple(wishes), machine, proposal=found)
    if isinstance(found, Impossible) and (beside := _beside_cpu(wishes, machine, least_change)) is not None:
        return Plan(tuple(wishes), machine, proposal=beside)
    against = found if isinstance(found, Impossible) else Impossible((), ())
    told = conflict(wishes, machine, against, lambda w, m, near=None: attempt(w, m, least_change, near))
    return Plan(tuple(wishes), machine, conflict=told)


def _beside_cpu(wishes: Sequence[Wish], machine: Machine, least_change: bool) -> Proposal | None:
    """The set of a file without those frameworks that have no CUDA on this system: they are installed, for the CPU."""
    aside = [wish for wish in wishes if wish.where and on_cpu_here(wish, machine)]
    rest = [wish for wish in wishes if wish not in aside]
    if not aside or old_driver(machine) or not any(wish.name in _GPU_ROOTS for wish in rest):
        return None
    found = attempt(rest, machine, least_change)
    if isinstance(found, Impossible):
        return None
    notes = tuple(f"{wish.name}{wish.specifier} has no CUDA on native Windows: {_ON_CPU}" for wish in aside)
    return msgspec.structs.replace(found, others=(*found.others, *aside), notes=(*found.notes, *notes))


_GPU_ROOTS = ("torch", "onnxruntime-gpu", "cupy", "tensorflow", "tensorflow-gpu")
_ON_CPU = "it runs on the CPU there, beside the rest on the GPU; WSL 2 gives it the GPU too"


def attempt(
    wishes: Sequence[Wish], machine: Machine, least_change: bool = False, near: Mapping[str, str] | None = None
) -> Proposal | Impossible:
    """A proposal, or what stood against it; `near` are releases to stay close to."""
    tries = [machine.python] if machine.python else [""]
    if machine.python and not machine.fixed_python:
        tries.append("")
    for python in tries:
        try:
            return _tried(wishes, machine, python, least_change, near)
        except Impossible as impossible:
            last = impossible
    return last


def _tried(
    wishes: Sequence[Wish], machine: Machine, python: str, least_change: bool, near: Mapping[str, str] | None
) -> Proposal:
    """A proposal, or Impossible; markers are read for the Python that comes out."""
    held: list[Wish] = []
    for _ in range(2):
        again = [w for w in wishes if applies(w, machine, python or allowed_pythons(machine)[0])]
        if held and again == held:
            break
        held = again
        catalogue = Catalogue(machine, held, least_change, near=near)
        found = resolve(catalogue, python)
        python = found.python
    return _proposal(held, machine, catalogue, found)


def _proposal(wishes: Sequence[Wish], machine: Machine, catalogue: Catalogue, found: Found) -> Proposal:
    chosen = _as_asked(wishes, found)
    kept = {one.root: why for one in chosen if one.role == "library" and (why := held(one, chosen, catalogue))}
    choices, libraries = _choices(wishes, machine, chosen, kept)
    return Proposal(
        found.python,
        _pythons(chosen),
        choices,
        libraries,
        (),
        caps_of(chosen),
        _system(chosen, machine),
        _environment(chosen, found.python),
        (*_newer(found), *_not_together(chosen, catalogue)),
        (*machine.lines, *_lines(chosen, machine), *(Line("know", _kept(found.chosen[n], w)) for n, w in kept.items())),
        unsure=tuple(f"{found.chosen[name].row.name}: {why}" for name, why in found.unsure.items()),
    )


def _choices(
    wishes: Sequence[Wish], machine: Machine, chosen: Sequence[Candidate], kept: Container[str]
) -> tuple[tuple[Choice, ...], tuple[Choice, ...]]:
    """The frameworks and companions of a set, and its libraries; asked for, or kept for a reason."""
    asked = {planned_as(wish.name) for wish in wishes if not wish.constraint}
    limited = {planned_as(wish.name) for wish in wishes if wish.specifier}
    frameworks = [one for one in chosen if one.role != "library"]
    libraries = sorted((one for one in chosen if one.role == "library" and "[" not in one.root), key=_by_root)
    return (
        tuple(_choice(_pinned(one, limited), machine, one.root in asked) for one in frameworks),
        tuple(_choice(one, machine, one.root in asked or one.root in kept) for one in libraries),
    )


def _by_root(one: Candidate) -> str:
    return one.root


def _as_asked(wishes: Sequence[Wish], found: Found) -> list[Candidate]:
    """What was chosen, in the order in which it was asked for."""
    names = dict.fromkeys(planned_as(wish.name) for wish in wishes)
    order = {name: number for number, name in enumerate(names)}
    return sorted(found.chosen.values(), key=lambda one: order.get(one.root, len(order)))


def _pythons(chosen: Sequence[Candidate]) -> tuple[str, ...]:
    """The Pythons that all of them have wheels for, without the free-threaded ones."""
    common = frozenset.intersection(*(one.pythons for one in chosen)) if chosen else frozenset[str]()
    return tuple(sorted((python for python in common if not python.endswith("t")), key=parsed))


def _choice(one: Candidate, machine: Machine, asked: bool) -> Choice:
    row = one.row
    runs = how_it_runs(row, machine.gpus[0].capability) if machine.gpus and one.role == "framework" else ""
    return Choice(
        row.name if one.root != "jax" else "jax",
        row.version,
        one.requirement,
        one.role,
        row.cuda if isinstance(row.cuda, str) else "",
        row.cudnn if isinstance(row.cudnn, str) else "",
        runs,
        asked,
        one.backend,
        _is_compiled(one),
        BROKEN.find(row.name, row.version) is not None,
        needs_first=tuple(dict.fromkeys(name for floor in floors(row.name, row.version) for name in floor.builds)),
        variables=tuple(pair for floor in floors(row.name, row.version) for pair in floor.variables),
    )


def _pinned(one: Candidate, limited: set[str]) -> Candidate:
    """A release that the installer would choose itself is pinned where the user limits it."""
    if "==" in one.requirement or one.root not in limited:
        return one
    return msgspec.structs.replace(one, requirement=f"{one.root}=={one.row.version}")


def _is_compiled(one: Candidate) -> bool:
    """Whether a release is compiled against the installed torch; a mere stub of a source is not."""
    return one.row.platform == "source" and any(row.builds for row in floors(one.row.name, one.row.version))


def held(one: Candidate, chosen: list[Candidate], catalogue: Catalogue) -> str:
    """Why an installer, left alone, would take a newer wheel that does not work; '' where it would not."""
    specs = ",".join(spec for other in chosen for name, spec in other.needs if name == one.root and spec)
    for other, verdict in sorted(catalogue.of(one.root), key=lambda pair: parsed(pair[0].row.version), reverse=True):
        passed_by = verdict.kind == "libc"  # an installer reads the same tag
        if not passed_by and specifier(specs).contains(other.row.version):
            newer = parsed(other.row.version) > parsed(one.row.version)
            return (verdict.why or f"{one.root} {one.row.version} is asked for or installed") if newer else ""
    return ""


def _kept(one: Candidate, why: str) -> str:
    return f"{why}: {one.row.version} is the newest that works here"


def caps_of(chosen: list[Candidate]) -> tuple[Cap, ...]:
    """The limits that releases need and do not state."""
    rows = {
        row.requirement: Cap(row.requirement, f"{one.row.name} {one.row.version}: {row.because}", row.source)
        for one in chosen
        for row in (*caps(framework_of(one.root), one.row.version), *_to_compile(one, chosen))
    }
    for one in chosen:
        for floor in floors(one.row.name, one.row.version):
            why = f"{one.row.name} {one.row.version} needs it and does not ask for it"
            rows |= {text: Cap(text, why, floor.source) for text in floor.adds}
    return tuple(rows.values())


def _to_compile(one: Candidate, chosen: list[Candidate]) -> tuple[CapRow, ...]:
    """The limits of a framework, where something of the set is compiled against it."""
    compiles = any(floor.compiler for other in chosen for floor in floors(other.row.name, other.row.version))
    return caps_to_compile(framework_of(one.root), one.row.version) if compiles else ()


def _system(chosen: list[Candidate], machine: Machine) -> tuple[SystemPart, ...]:
    out: list[SystemPart] = []
    for one in chosen:
        if one.system:
            out += _toolkit(one)
        out += _compiler(one, chosen)
    return (*out, *(() if machine.driver else _driver(chosen, machine)))


def _toolkit(one: Candidate) -> Iterator[SystemPart]:
    """The CUDA and the cuDNN that a release opens and does not bring."""
    who = f"{one.row.name} {one.row.version}"
    if isinstance(one.row.cuda, str):
        yield SystemPart("CUDA", one.row.cuda, f"{who} brings no CUDA libraries")
        if isinstance(one.row.cudnn, str) and one.root != "cupy":
            yield SystemPart("cuDNN", one.row.cudnn, f"{who} was compiled with it")


def _driver(chosen: list[Candidate], machine: Machine) -> Iterator[SystemPart]:
    """The driver that all of them run on."""
    built = [(one.row, one.row.cuda) for one in chosen if one.role == "framework" and isinstance(one.row.cuda, str)]
    known = [(driver, row) for row, cuda in built if (driver := fitting_driver(cuda, machine.system))]
    if known:
        driver, row = max(known, key=lambda pair: parsed(pair[0]))
        yield SystemPart("driver", driver, f"{row.name} {row.version} is built for CUDA {row.cuda}")


def _compiler(one: Candidate, chosen: list[Candidate]) -> list[SystemPart]:
    """nvcc of torch's CUDA, where something is compiled on the machine."""
    when = next((row.compiler for row in floors(one.row.name, one.row.version) if row.compiler), "")
    if not when:
        return []
    cuda = next((c.row.cuda for c in chosen if c.root == "torch" and isinstance(c.row.cuda, str)), "")
    who = f"{one.row.name} {one.row.version}"
    return [SystemPart("nvcc", cuda, f"{who} is compiled {when}")]


def _environment(chosen: list[Candidate], python: str) -> tuple[tuple[str, str], ...]:
    folders = [
        f"$VIRTUAL_ENV/lib/python{python}/site-packages/nvidia/{flaw.cure}/lib"
        for one in chosen
        if (flaw := BROKEN.find(one.row.name, one.row.version)) and flaw.cure and one.row.platform.startswith("linux")
    ]
    return (("LD_LIBRARY_PATH", ":".join(folders)),) if folders else ()


def _lines(chosen: list[Candidate], machine: Machine) -> list[Line]:
    out: list[Line] = []
    for one in chosen:
        row = one.row
        if one.role != "framework" or not isinstance(row.cuda, str):
            continue
        driver = fitting_driver(row.cuda, machine.system)
        need = f", which needs driver {driver} or newer" if driver else ""
        where = evidence_of(row, "cuda") if not one.backend else variants.listed_in(row.version, machine.machine)
        out.append(Line("know", f"{row.name} {row.version} is built for CUDA {row.cuda}{need}", where))
        for card in machine.gpus:
            how = how_it_runs(row, card.capability)
            if how:
                where = evidence_of(row, "sass") if not one.backend else variants.SCRIPTS
                out.append(Line("know", f"{row.name} {row.version} runs on {named_gpu(card)} by {how}", where))
        out.append(Line("know", *imports.told(framework_of(one.root), row.version)))
    return out


def _newer(found: Found) -> list[Passed]:
    """Of what was passed over, the releases newer than the one chosen; the older ones were never reached."""
    out = []
    for each in found.passed:
        one = found.chosen.get(each.package)
        newer = tuple(v for v in each.versions if one is None or parsed(v) > parsed(one.row.version))
        if newer:
            out.append(msgspec.structs.replace(each, versions=newer))
    return out


def _not_together(chosen: list[Candidate], catalogue: Catalogue) -> list[Passed]:
    """Newer releases that work on the machine, but not beside the others."""
    out = []
    for one in chosen:
        if one.root not in FRAMEWORKS or one.root in catalogue.near:
            continue
        spec = SpecifierSet(catalogue.limits.get(one.root, ""))
        newer = [
            c
            for c in catalogue.open(one.root)
            if parsed(c.row.version) > parsed(one.row.version) and spec.contains(c.row.version, prereleases=True)
        ]
        groups: dict[str, list[str]] = {}
        doubts = {id(c): verdict.unsure for c, verdict in catalogue.of(one.root)}
        for other in newer:
            groups.setdefault(doubts[id(other)] or _why_not(other, one, chosen), []).append(other.row.version)
        ordered = {why: tuple(sorted(set(v), key=parsed, reverse=True)) for why, v in groups.items()}
        out += [Passed(one.root, versions, "set", why) for why, versions in ordered.items()]
    return out


def _why_not(other: Candidate, one: Candidate, chosen: list[Candidate]) -> str:
    rival = next((c for c in chosen if c.root != one.root and c.cuda_major and c.cuda_major != other.cuda_major), None)
    if rival is not None and other.cuda_major:
        return (
            f"brings libraries of CUDA {other.cuda_major}, {rival.row.name} {rival.row.version} those of CUDA "
            f"{rival.cuda_major}: both would own the same files"
        )
    return "does not go with the others of this set"
