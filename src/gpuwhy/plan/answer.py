"""Answer: from wishes and a machine to a plan: resolve, explain, or say why nothing works."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from packaging.specifiers import SpecifierSet

from gpuwhy.knowledge.caps import BROKEN, caps
from gpuwhy.knowledge.installs import PRELOADS
from gpuwhy.knowledge.releases import evidence_of, family, projects
from gpuwhy.model.fact import Source
from gpuwhy.model.plan import Cap, Choice, Line, Machine, Passed, Plan, Proposal, SystemPart, Wish
from gpuwhy.model.version import major_minor
from gpuwhy.plan.candidates import fitting_driver, how_it_runs, named_gpu, parsed, specifier
from gpuwhy.plan.conflict import conflict, old_driver
from gpuwhy.plan.machine import PYTHONS
from gpuwhy.plan.names import ALIKE, SWAPPED, root
from gpuwhy.plan.resolve import Catalogue, Found, Impossible, resolve
from gpuwhy.plan.roots import FRAMEWORKS, Candidate, framework_of
from gpuwhy.plan.ways import ways
from gpuwhy.plan.wishes import WishError, applies, joined

__all__ = ["Machine", "Plan", "Proposal", "Wish", "attempt", "plan", "possible"]


def plan(wishes: Sequence[Wish], machine: Machine, least_change: bool = False) -> Plan:
    """The plan for some wishes on a machine; raises WishError for wishes that can never be met."""
    possible(wishes)
    found = attempt(wishes, machine, least_change)
    if isinstance(found, Proposal) and not old_driver(machine):
        return Plan(tuple(wishes), machine, proposal=found)
    against = found if isinstance(found, Impossible) else Impossible((), ())
    told = conflict(wishes, machine, against, lambda w, m: attempt(w, m, least_change))
    return Plan(tuple(wishes), machine, conflict=told)


def attempt(wishes: Sequence[Wish], machine: Machine, least_change: bool = False) -> Proposal | Impossible:
    """A proposal, or what stood against it; markers are read for the Python that comes out."""
    tries = [machine.python] if machine.python else [""]
    if machine.python and not machine.fixed_python:
        tries.append("")
    last: Impossible | None = None
    for python in tries:
        held = [w for w in wishes if applies(w, machine, python or PYTHONS[0])]
        try:
            catalogue = Catalogue(machine, held, least_change)
            found = resolve(catalogue, python)
            again = [w for w in wishes if applies(w, machine, found.python)]
            if again != held:
                held = again
                catalogue = Catalogue(machine, held, least_change)
                found = resolve(catalogue, found.python)
        except Impossible as impossible:
            last = impossible
            continue
        return _proposal(held, machine, catalogue, found)
    assert last is not None
    return last


def possible(wishes: Sequence[Wish]) -> None:
    """Raise for a specifier that no release, on any platform, meets."""
    if not any(not w.constraint and not _is_other(w) for w in wishes):
        for wish in wishes:
            if wish.url and (root(wish.name) or wish.name in projects()):
                at = f"{wish.where}: " if wish.where else ""
                raise WishError(f"{at}{wish.name} comes from a URL, and its build is not known; name a release of it")
        names = ", ".join(w.name or w.url for w in wishes if not w.constraint) or "nothing"
        raise WishError(f"{names}: no package that uses a GPU is among them (gpuwhy releases lists those it knows)")
    for wish in wishes:
        name = root(wish.name) or wish.name
        together = [w for w in wishes if (root(w.name) or w.name) == name and w.specifier]
        if together and wish is together[-1]:
            _exists(name, together)


def _exists(name: str, wishes: list[Wish]) -> None:
    spec = joined(w.specifier for w in wishes)
    versions = _versions(name)
    if not versions or any(spec.contains(v, prereleases=True) for v in versions):
        return
    where = f"{wishes[-1].where}: " if wishes[-1].where else ""
    said = " and ".join(f"{w.name}{w.specifier}" for w in wishes)
    raise WishError(f"{where}no release meets {said}{_near(spec, versions)}")


def _near(spec: SpecifierSet, versions: list[str]) -> str:
    """The releases on both sides of a version that does not exist; of several clauses none is the one that fails."""
    if len(spec) != 1:
        return ""
    pin = parsed(next(iter(spec)).version.removesuffix(".*"))
    near = sorted(versions, key=parsed)
    both = [*[v for v in near if parsed(v) < pin][-1:], *[v for v in near if parsed(v) > pin][:1]]
    return f"; nearest {'are' if len(both) > 1 else 'is'} {' and '.join(both)}" if both else ""


def _versions(name: str) -> list[str]:
    sources = {"tensorflow": ("tensorflow", "tensorflow-gpu"), "jax": ("jaxlib",)}
    names = sources.get(name, (name,))
    if name == "cupy":
        names = tuple(p for p in projects() if p.startswith("cupy-cuda"))
    return [row.version for known in map(family, names) if known for row in known.rows]


def _is_other(wish: Wish) -> bool:
    return bool(wish.url) or (not root(wish.name) and wish.name not in projects())


def _proposal(wishes: Sequence[Wish], machine: Machine, catalogue: Catalogue, found: Found) -> Proposal:
    asked = {root(w.name) or w.name for w in wishes if not w.constraint}
    chosen = list(found.chosen.values())
    choices = tuple(_choice(one, machine, one.root in asked) for one in chosen if one.role != "library")
    kept = {one.root: why for one in chosen if one.role == "library" and (why := held(one, chosen, catalogue))}
    libraries = tuple(
        _choice(one, machine, one.root in asked or one.root in kept)
        for one in sorted(chosen, key=lambda c: c.root)
        if one.role == "library" and "[" not in one.root
    )
    others, notes = _others(wishes, found)
    common = frozenset.intersection(*(one.pythons for one in chosen)) if chosen else frozenset()
    out = Proposal(
        found.python,
        tuple(sorted((p for p in common if not p.endswith("t")), key=parsed)),
        choices,
        libraries,
        others,
        caps_of(chosen),
        _system(chosen, machine),
        _environment(chosen, found.python),
        (*_newer(found), *_not_together(chosen, catalogue)),
        (*machine.lines, *_lines(chosen, machine), *(Line("know", _kept(found.chosen[n], w)) for n, w in kept.items())),
        (*notes, *_notes(chosen, machine, found)),
    )
    return msgspec.structs.replace(out, ways=ways(out, machine))


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
        row.platform == "source",
        BROKEN.find(row.name, row.version) is not None,
    )


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
        for row in caps(framework_of(one.root), one.row.version)
    }
    return tuple(rows.values())


def _system(chosen: list[Candidate], machine: Machine) -> tuple[SystemPart, ...]:
    out: list[SystemPart] = []
    for one in chosen:
        who = f"{one.row.name} {one.row.version}"
        if one.system and isinstance(one.row.cuda, str):
            out.append(SystemPart("CUDA", one.row.cuda, f"{who} brings no CUDA libraries"))
            if isinstance(one.row.cudnn, str) and one.root != "cupy":
                out.append(SystemPart("cuDNN", one.row.cudnn, f"{who} was compiled with it"))
        if one.row.platform == "source":
            cuda = next((c.row.cuda for c in chosen if c.root == "torch" and isinstance(c.row.cuda, str)), "")
            out.append(SystemPart("nvcc", cuda, f"{who} has no wheel and is compiled while it is installed"))
    needs = [(fitting_driver(str(c.row.cuda), machine.system), c) for c in chosen if isinstance(c.row.cuda, str)]
    known = [(driver, c) for driver, c in needs if driver and c.role == "framework"]
    if known and not machine.driver:
        driver, one = max(known, key=lambda pair: parsed(pair[0]))
        out.append(SystemPart("driver", driver, f"{one.row.name} {one.row.version} is built for CUDA {one.row.cuda}"))
    return tuple(out)


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
        where = evidence_of(row, "cuda") if not one.backend else Source("know", "PyTorch's RELEASE.md")
        out.append(Line("know", f"{row.name} {row.version} is built for CUDA {row.cuda}{need}", where))
        for card in machine.gpus:
            how = how_it_runs(row, card.capability)
            if how:
                where = evidence_of(row, "sass") if not one.backend else where
                out.append(Line("know", f"{row.name} {row.version} runs on {named_gpu(card)} by {how}", where))
    return out


def _notes(chosen: list[Candidate], machine: Machine, found: Found) -> list[str]:
    out = [f"{one.row.name} {one.row.version}: {found.unsure[one.root]}" for one in chosen if one.root in found.unsure]
    for one in chosen:
        flaw = BROKEN.find(one.row.name, one.row.version)
        if flaw:
            out.append(f"{one.row.name} {one.row.version} {flaw.text}: LD_LIBRARY_PATH cures it")
        if framework_of(one.root) in PRELOADS and "[" in one.requirement:
            call = PRELOADS[framework_of(one.root)]
            out.append(f"{one.row.name} looks into these wheels only after {call} or import torch")
        if one.backend:
            guess = "; its GPU code is taken from the Linux wheel of the same CUDA" if one.guessed else ""
            out.append(f"torch {one.row.version} for CUDA {one.row.cuda} is on PyTorch's own index alone{guess}")
    if machine.python and found.python != machine.python:
        out.append(f"Python {machine.python} has no wheels of this set: Python {found.python} is needed")
    return out


def _others(wishes: Sequence[Wish], found: Found) -> tuple[tuple[Wish, ...], list[str]]:
    """The wishes left to the installer, and what was exchanged."""
    notes = [SWAPPED[w.name] for w in wishes if w.name in SWAPPED]
    if any(w.name == "tensorflow-gpu" for w in wishes) and found.chosen["tensorflow"].row.name == "tensorflow":
        notes.append("tensorflow-gpu ended with 2.12; since 2.1 tensorflow is the same build")
    others = [w for w in wishes if _is_other(w)]
    series = major_minor(found.chosen["tensorflow"].row.version) if "tensorflow" in found.chosen else ""
    if series:
        others = [_alike(w, series) if w.name in ALIKE and not w.specifier and not w.url else w for w in others]
    return tuple(others), notes


def _alike(wish: Wish, series: str) -> Wish:
    return msgspec.structs.replace(wish, specifier=f"=={series}.*", text=f"{wish.name}=={series}.*")


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
        if one.root not in FRAMEWORKS:
            continue
        spec = SpecifierSet(catalogue.limits.get(one.root, ""))
        newer = [
            c
            for c in catalogue.open(one.root)
            if parsed(c.row.version) > parsed(one.row.version) and spec.contains(c.row.version, prereleases=True)
        ]
        groups: dict[str, list[str]] = {}
        for other in newer:
            groups.setdefault(_why_not(other, one, chosen), []).append(other.row.version)
        out += [Passed(one.root, tuple(dict.fromkeys(v)), "set", why) for why, v in groups.items()]
    return out


def _why_not(other: Candidate, one: Candidate, chosen: list[Candidate]) -> str:
    rival = next((c for c in chosen if c.root != one.root and c.cuda_major and c.cuda_major != other.cuda_major), None)
    if rival is not None and other.cuda_major:
        return (
            f"brings libraries of CUDA {other.cuda_major}, {rival.row.name} {rival.row.version} those of CUDA "
            f"{rival.cuda_major}: both would own the same files"
        )
    return "does not go with the others of this set"
