"""Makes the Answer of a machine: a cause, a possible one, health, or too little seen to judge."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gpuwhy._version import __version__
from gpuwhy.answer import answer as of
from gpuwhy.answer.layers import layers
from gpuwhy.answer.text import listed, sentence
from gpuwhy.diagnose.diagnosis import Diagnosis, Open, Ranked
from gpuwhy.facts.fact import NOT_OBSERVED, Absent, Known, Unknown, value_or
from gpuwhy.facts.facts import Facts, dump
from gpuwhy.facts.finding import Effect
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.imports import Ended, Tried

NOT_IMPORTED = of.Untried("importing the frameworks", "gpuwhy check --import")


def checked(facts: Facts, diagnosis: Diagnosis, undecided: Sequence[Open] = ()) -> of.Answer:
    """What a machine and an environment say of themselves."""
    told = [one for one in diagnosis.causes if one.effect is not Effect.NOTED]
    found = [one for one in told if one.confidence >= of.FOUND and not one.with_gpu]
    verdict, status, head = _decided(facts, found, told)
    causes = _causes(told, facts) if told else ()
    noted = [one for one in diagnosis.causes if one.effect is Effect.NOTED]
    named = {one.cause for one in diagnosis.causes}
    return of.Answer(
        status=status,
        headline=sentence(head),
        causes=causes,
        ruled_out=tuple(of.RuledOut(one.cause, one.because) for one in diagnosis.ruled_out),
        undetermined=tuple(
            of.Open(one.cause, one.missing, one.how) for one in undecided if one.cause not in named
        ),
        crashed=(),
        layers=layers(facts, found),
        unseen=unseen(facts),
        facts=dump(facts),
        gpuwhy=__version__,
        took=0.0,
        verdict=verdict,
        noticed=tuple(of.Noticed(one.cause, one.because[0].text) for one in noted if one.because),
        tried=_tried(facts),
        not_tried=() if _imported(facts) or _files(facts) else (NOT_IMPORTED,),
        command="check",
    )


def _causes(told: Sequence[Ranked], facts: Facts) -> tuple[of.CauseFound, ...]:
    """The causes with what to do, all that are sure; loaded only where there is one."""
    from gpuwhy.advise.places import place_of
    from gpuwhy.answer.compose import cause_found, remedied
    from gpuwhy.log.case import Case

    place = place_of(Case(), facts)
    return tuple(
        cause_found(one, None, place, facts, remedied(order, one.confidence >= of.FOUND))
        for order, one in enumerate(told)
    )


def _decided(
    facts: Facts, found: Sequence[Ranked], told: Sequence[Ranked]
) -> tuple[of.Verdict, of.Status, str]:
    """The verdict, the status and the headline."""
    if found:
        return "found", _status(found), _said(found[0])
    if told:
        head = f"With a GPU: {_said(told[0])}" if told[0].with_gpu else _said(told[0])
        if told[0].confidence >= of.FOUND and _files(facts) == "image":
            return "found", _status(told), head  # an image is built for machines with a GPU
        return "undecided", "unknown", head
    if why := _unjudged(facts):
        return "undecided", "unknown", why
    return "healthy", "healthy", _healthy(facts)


def _status(found: Sequence[Ranked]) -> of.Status:
    stops = any(one.effect in (Effect.STOPS, Effect.PREVENTS_START) for one in found)
    return "broken" if stops else "degraded"


def _said(one: Ranked) -> str:
    return one.because[0].text if one.because else one.cause


def _unjudged(facts: Facts) -> str:
    """Why nothing can be said; "" where enough was seen."""
    installed, python = facts.frameworks.installed, facts.environment.python
    where = _files(facts)
    if where and not isinstance(python, Known):
        return f"no Python was found in the {where}: name one with --python"
    if isinstance(installed, Unknown):
        return f"cannot tell which frameworks are installed: {installed.reason}"
    has_gpu = bool(value_or(facts.devices.gpus, ()))
    frameworks: tuple[Framework, ...] = value_or(installed, ())
    if not frameworks and isinstance(python, Known) and (has_gpu or _was_named(facts)):
        env = python.value.prefix
        return f"no GPU framework is installed in {env} (Python {python.value.version})"
    if where:
        return _files_tell(frameworks, where)
    bus = facts.devices.pci
    if not has_gpu and isinstance(bus, Unknown) and not isinstance(facts.system.wsl, Known):
        return f"cannot tell whether this machine has a GPU: {bus.reason}"
    for one in _not_tried(facts):
        return f"cannot tell whether {one.module} can be imported: {one.words}"
    return _loads_unknown(facts, frameworks)


def _was_named(facts: Facts) -> bool:
    python = value_or(facts.environment.python, None)
    return python is not None and python.chosen_by in ("--python", "VIRTUAL_ENV", "CONDA_PREFIX")


def _files_tell(frameworks: Sequence[Framework], where: str) -> str:
    """Of files alone: "" where a GPU build is there and no sign is against it."""
    if any(value_or(one.gpu_build, False) for one in frameworks):
        return ""
    return f"no framework with a GPU build is in the {where}"


def _loads_unknown(facts: Facts, frameworks: Sequence[Framework]) -> str:
    """Where it is not known whether a framework finds what it needs."""
    able = {one.name: one.title for one in frameworks if value_or(one.gpu_build, False)}
    needs = facts.loads.needs
    has_gpu = bool(value_or(facts.devices.gpus, ()))
    if able and has_gpu and isinstance(needs, Unknown):
        title = next(iter(able.values()))
        return f"cannot tell whether {title} finds its libraries: {needs.reason}"
    return ""


def _healthy(facts: Facts) -> str:
    frameworks = [
        one for one in value_or(facts.frameworks.installed, ()) if value_or(one.gpu_build, False)
    ]
    names = ", ".join(f"{one.title} {one.version}" for one in frameworks[:3])
    if where := _files(facts):
        return f"nothing wrong with {names} as far as files tell; the {where} has no driver or GPU"
    if value_or(facts.devices.gpus, ()):
        return f"nothing wrong found: {names or 'the driver'} can use the GPU"
    return "Healthy, CPU only: this machine has no NVIDIA GPU"


def _files(facts: Facts) -> str:
    """What stands for a machine that does not run: "image", "folder"; "" where it runs."""
    offline = value_or(facts.system.offline, None)
    return offline.kind if offline else ""


def _tried(facts: Facts) -> str:
    """What was imported well, and what the sandbox held."""
    tried = value_or(facts.imports.tried, ())
    well = tuple(o.module for o in tried if o.kind == "import" and o.ended is Ended.WELL)
    held = value_or(facts.imports.isolation, None)
    if not well or held is None:
        return ""
    kept = [name for name in ("network", "writes") if getattr(held, name) == "held"]
    how = f"without {' and '.join(kept)}" if kept else "not isolated: this system does not offer it"
    return f"{listed(well, 4)} ({how})"


def _not_tried(facts: Facts) -> list[Tried]:
    """What was to be imported, and why nobody knows whether it can be."""
    tried = value_or(facts.imports.tried, ())
    return [one for one in tried if one.ended is Ended.NOT_TRIED and one.words]


def _imported(facts: Facts) -> bool:
    return isinstance(facts.imports.tried, (Known, Absent))


def unseen(facts: Facts) -> tuple[str, ...]:
    """Every fact that is Unknown, as one sentence each; the same reason is said once."""
    out: dict[str, str] = {}
    for subject in msgspec.structs.fields(facts):
        record = getattr(facts, subject.name)
        for field in msgspec.structs.fields(record):
            fact = getattr(record, field.name)
            if isinstance(fact, Unknown) and fact != NOT_OBSERVED and fact.kind != "not tried":
                how = f" ({fact.how})" if fact.how else ""
                name = field.name.replace("_", " ")
                out.setdefault(fact.reason, f"{subject.name}, {name}: {fact.reason}{how}")
    for one in _not_tried(facts):
        out.setdefault(one.words, f"import of {one.module}: not tried: {one.words}")
    return tuple(out.values())
