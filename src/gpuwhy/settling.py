"""Wires the fixes of version 0 and the chooser: a fix that installs anything gets exact releases.

Goes with rooms/ and repair/.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from gpuwhy.choose import Choice, Demand, Wanted, choose
from gpuwhy.choose.names import framework, planned_as
from gpuwhy.choose.market import split
from gpuwhy.choose.verdicts import allows
from gpuwhy.knowledge.caps import caps
from gpuwhy.knowledge.drivers import floor
from gpuwhy.knowledge.releases import projects
from gpuwhy.knowledge.versions import major_minor, numbers
from gpuwhy.model.cause import Fix
from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import Facts
from gpuwhy.model.repair import name_of
from gpuwhy.model.report import Report
from gpuwhy.plan.requirements import RequirementError, from_words
from gpuwhy.reason.remedy import Chosen
from gpuwhy.rooms.shared.commands import change, of_own_index
from gpuwhy.shell.gate import to_fill_in
from gpuwhy.shell.place import system_of

PLACED = ("torchvision", "torchaudio", "xformers", "bitsandbytes", "vllm")
"""Companions whose rows say which torch they go with."""
_NUMBERED = ("tf-keras", "tensorflow-text")
_JAX = ("jaxlib", "jax-cuda12-plugin", "jax-cuda12-pjrt", "jax-cuda13-plugin", "jax-cuda13-pjrt")


class Mend(msgspec.Struct, frozen=True):
    """What is installed and removed for a fix; nothing where the cause knows better."""

    wanted: tuple[str, ...] = ()
    text: str = ""
    because_of: str = ""  # the package whose own way of installing is taken
    removing: tuple[str, ...] = ()
    why: str = ""
    note: str = ""
    backend: str = ""


def settled(report: Report, facts: Facts) -> Report:
    """The report whose fixes name exact releases; not for an image, nor for Windows."""
    here = system_of(facts) in ("linux", "wsl") and not isinstance(facts.surroundings.offline, Known)
    if not here or not any(_installs(fix) for cause in report.causes for fix in cause.fixes):
        return report
    causes = (replace(one, fixes=tuple(planned(fix, facts).fix for fix in one.fixes)) for one in report.causes)
    return replace(report, causes=tuple(causes))


def _installs(fix: Fix) -> bool:
    """Whether releases are left to choose: what is installed again has its own."""
    return bool(fix.wishes or (fix.install and not fix.again))


def is_placed(name: str) -> bool:
    """Whether the chooser places a package: the installer alone may then not move it."""
    return bool(name.startswith("nvidia-") or name in PLACED or (framework(name) and name != "jaxlib"))


def planned(fix: Fix, facts: Facts) -> Chosen:
    """The fix with releases that work on this machine, beside everything that is installed."""
    if not _installs(fix):
        return Chosen(fix)
    mend = _another(fix, facts) if fix.wishes else _moved(fix, facts)
    if not mend.wanted:
        return replace(Chosen(fix, note=mend.note), fix=to_fill_in(fix))
    made = change(facts, mend.text, *mend.wanted, because_of=mend.because_of, removing=mend.removing, check=fix.check)
    command = of_own_index(made.command, mend.backend) if mend.backend else made.command
    own = to_fill_in(replace(made, command=command, role=fix.role))
    return Chosen(own, mend.why, mend.note, mend.backend)


def _demand(facts: Facts, packages: list[Wanted], without: tuple[str, ...] = ()) -> Demand:
    from gpuwhy.cli.plan_here import of_facts

    made, _ = of_facts(facts, tuple(packages), keep=("python",), least_change=True)
    speaks = facts.driver.driver_cuda
    if not made.driver_version and isinstance(speaks, Known):  # WSL tells only which CUDA it has
        oldest = floor(speaks.value)
        made = replace(made, driver_version=oldest.driver) if oldest else made
    return replace(made, installed={n: v for n, v in made.installed.items() if n not in without})


def _working(facts: Facts) -> set[str]:
    """The frameworks whose libraries are all found, and whose symbols are all there."""
    needs, trees = value_or(facts.loads.needs, ()), value_or(facts.loads.trees, ())
    bad = {need.framework for need in needs if not need.optional and isinstance(need.found, Absent)}
    bad |= {tree.framework for tree in trees if tree.unmet}
    names = {one.name for one in value_or(facts.target.frameworks, ())} - bad
    return {"onnxruntime-gpu" if name == "onnxruntime" else name for name in names}


def _another(fix: Fix, facts: Facts) -> Mend:
    """Where another release would do: the one that works on this machine beside what is installed."""
    found = (one.version for one in value_or(facts.target.frameworks, ()) if one.name == "tensorflow")
    tensorflow, name = next(found, ""), fix.wishes[0]
    if tensorflow and len(fix.wishes) == 1 and name in _NUMBERED:
        text = f"Install the {name} that is numbered as TensorFlow {tensorflow}"
        return Mend((f"{name}=={major_minor(tensorflow)}.*",), text, name)
    here = facts.target.releases
    beside = [one for one in PLACED if one in here and "torch" in fix.wishes]
    beside += [one for one in _working(facts) if one in here and one not in fix.wishes]
    choice = choose(_demand(facts, [Wanted(one) for one in (*fix.wishes, *beside)]))
    if not choice.fits:
        told = f"in this environment nothing else works: {choice.why_not}"
        return Mend(note=f"{told}; gpuwhy plan shows what is nearest")
    asked = [pick for pick in choice.picks if pick.asked]
    if all(here.get(pick.package, "").split("+")[0] == pick.version for pick in asked):
        return Mend()  # the tables see nothing wrong with what is installed
    names = {pick.package for pick in asked}
    first = asked[0]
    built = f"It is built for CUDA {first.cuda}" if first.cuda else ""
    return Mend(
        (*(pick.requirement for pick in asked), *(bound.requirement for bound in choice.bounds)),
        f"Install {' and '.join(f'{p.package} {p.version}' for p in asked)}, which works here",
        fix.wishes[0],
        tuple(dict.fromkeys((*fix.uninstall, *(one for one in fix.wishes if one not in names)))),
        "; ".join(filter(None, (built, first.runs))),
        "; ".join(f"needs {part.name} {part.version}: {part.why}" for part in choice.needs),
        next((pick.backend for pick in asked if pick.backend), ""),
    )


def _moved(fix: Fix, facts: Facts) -> Mend:
    """Exact pins for all GPU packages that have to move, so that nothing else is left behind."""
    try:
        wishes = [one for one in from_words(list(fix.install)) if _is_known(one)]
    except RequirementError:
        return Mend()
    if not wishes:
        return Mend()
    choice = _beside_the_rest(wishes, fix, facts) or _beside_the_rest([_series(w) for w in wishes], fix, facts)
    if choice is None:
        return Mend()
    here = {n: v for n, v in facts.target.releases.items() if n not in fix.uninstall}
    moves = [pick.requirement for pick in choice.picks if not _stays(pick.package, pick.version, here)]
    brought = {pick.package for pick in choice.picks if pick.requirement in moves}
    for one in choice.libraries:
        missing = one.package not in here and (one.asked or not brought)
        if missing or (one.package in here and here[one.package] != one.version):
            moves.append(one.requirement)
    if not moves:
        return Mend()
    others = [text for text in fix.install if not any(map(_is_known, from_words([text])))]
    limits = [bound.requirement for bound in choice.bounds if _breaks(bound.requirement, here)]
    rows = [row for text in moves for row in caps(name_of(text), text.partition("==")[2])]
    unstated = [row.requirement for row in rows if row.always and name_of(row.requirement) not in here]
    wanted = tuple(dict.fromkeys((*moves, *others, *limits, *unstated)))
    named = {name_of(text) for text in fix.install}
    also = [text for text in moves if name_of(text) not in named and not text.startswith("nvidia-")]
    told = ", ".join(f"{name_of(t)} {here.get(name_of(t), '–')} → {t.partition('==')[2]}" for t in also)
    note = f"moves too, so that all of it fits: {told}" if told else ""
    return Mend(wanted, fix.text, name_of(fix.install[0]), tuple(fix.uninstall), note=note)


def _beside_the_rest(wishes: list[Wanted], fix: Fix, facts: Facts) -> Choice | None:
    """The set for some releases and what is installed beside them; None where there is none."""
    here = {n: v for n, v in facts.target.releases.items() if n not in fix.uninstall}
    roots = {planned_as(one.name) for one in wishes}
    stay: list[Wanted] = []
    for name in ("torch", "tensorflow", "tensorflow-gpu", "onnxruntime-gpu", "jax"):
        plugin = name != "jax" or any(one in here for one in _JAX[1:])
        if name in here and plugin and planned_as(name) not in roots:
            stay.append(Wanted(name, f"=={here[name].split('+')[0]}"))
    stay += [Wanted(name) for name in PLACED if name in here and name not in roots]
    choice = choose(_demand(facts, [*wishes, *stay], tuple(fix.uninstall)))
    return choice if choice.fits else None


def _stays(package: str, version: str, here: dict[str, str]) -> bool:
    names = (package, *_JAX) if package == "jax" else (package,)
    return all(here[name].split("+")[0] == version for name in names if name in here) and package in here


def _is_known(one: Wanted) -> bool:
    fixed = one.name.startswith("cupy-cuda")  # which CUDA it is for was decided by what fits
    return not one.url and not fixed and bool(framework(one.name) or one.name in projects())


def _series(one: Wanted) -> Wanted:
    """A pinned release as any of its minor series."""
    pin = one.specifier.removeprefix("==")
    exact = one.specifier.startswith("==") and "," not in pin and "*" not in pin and len(numbers(pin)) > 2
    return replace(one, specifier=f"=={major_minor(pin)}.*") if exact else one


def _breaks(bound: str, here: dict[str, str]) -> bool:
    """Whether an installed release is outside a limit."""
    name, spec = split(bound)
    return name in here and not allows(spec, here[name])


__all__: list[Any] = ["is_placed", "planned", "settled"]
