"""Makes the Answer of a machine: a cause, a possible one, health, or too little seen to judge."""

from collections.abc import Sequence

import msgspec

from gpuwhy._version import __version__
from gpuwhy.answer import answer as of
from gpuwhy.answer.text import listed, sentence
from gpuwhy.diagnose.diagnosis import Diagnosis, Open, Ranked
from gpuwhy.facts.fact import NOT_OBSERVED, Absent, Fact, Known, Unknown, value_or
from gpuwhy.facts.facts import Facts, dump
from gpuwhy.facts.finding import Effect
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.imports import Ended, Tried
from gpuwhy.facts.libraries import LibraryCopy


def checked(facts: Facts, diagnosis: Diagnosis, undecided: Sequence[Open] = ()) -> of.Answer:
    """What a machine and an environment say of themselves."""
    told = [one for one in diagnosis.causes if one.effect is not Effect.NOTED]
    noted = [one for one in diagnosis.causes if one.effect is Effect.NOTED]
    found = [one for one in told if one.confidence >= of.FOUND and not one.with_gpu]
    verdict, status, head = _decided(facts, found, told)
    named = {one.cause for one in diagnosis.causes}
    unseen_causes = (one for one in undecided if one.cause not in named)
    untried = of.Untried("importing the frameworks", "gpuwhy check --import")
    imported = isinstance(facts.imports.tried, (Known, Absent))
    return of.Answer(
        status=status,
        headline=sentence(head),
        causes=_causes(told, facts) if told else (),
        ruled_out=tuple(of.RuledOut(one.cause, one.because) for one in diagnosis.ruled_out),
        undetermined=tuple(of.Open(one.cause, one.missing, one.how) for one in unseen_causes),
        crashed=(),
        layers=layers(facts, found),
        unseen=unseen(facts),
        facts=dump(facts),
        gpuwhy=__version__,
        took=0.0,
        verdict=verdict,
        noticed=tuple(of.Noticed(one.cause, one.because[0].text) for one in noted if one.because),
        tried=_tried(facts),
        not_tried=() if imported or _files(facts) else (untried,),
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
    stops = any(_stops(one) for one in (found or told))
    status: of.Status = "broken" if stops else "degraded"
    if told:
        first = (found or told)[0]
        head = first.because[0].text if first.because else first.cause
        if found:
            return "found", status, head
        head = f"With a GPU: {head}" if first.with_gpu else head
        if first.confidence >= of.FOUND and _files(facts) == "image":
            return "found", status, head  # an image is built for machines with a GPU
        return "undecided", "unknown", head
    if why := _unjudged(facts):
        return "undecided", "unknown", why
    able = [one for one in _frameworks(facts) if value_or(one.gpu_build, False)]
    names = ", ".join(f"{one.title} {one.version}" for one in able[:3])
    head = "Healthy, CPU only: this machine has no NVIDIA GPU"
    if where := _files(facts):
        head = f"nothing wrong with {names} as far as files tell; the {where} has no driver or GPU"
    elif value_or(facts.devices.gpus, ()):
        head = f"nothing wrong found: {names or 'the driver'} can use the GPU"
    return "healthy", "healthy", head


def _stops(cause: Ranked) -> bool:
    return cause.effect in (Effect.STOPS, Effect.PREVENTS_START)


def _frameworks(facts: Facts) -> tuple[Framework, ...]:
    return value_or(facts.frameworks.installed, ())


def _unjudged(facts: Facts) -> str:
    """Why nothing can be said; "" where enough was seen."""
    installed, python = facts.frameworks.installed, value_or(facts.environment.python, None)
    where, has_gpu = _files(facts), bool(value_or(facts.devices.gpus, ()))
    if where and python is None:
        return f"no Python was found in the {where}: name one with --python"
    if isinstance(installed, Unknown):
        return f"cannot tell which frameworks are installed: {installed.reason}"
    chosen = python and python.chosen_by in ("--python", "VIRTUAL_ENV", "CONDA_PREFIX")
    if not _frameworks(facts) and python and (has_gpu or chosen):
        return f"no GPU framework is installed in {python.prefix} (Python {python.version})"
    able = [one.title for one in _frameworks(facts) if value_or(one.gpu_build, False)]
    if where:
        return "" if able else f"no framework with a GPU build is in the {where}"
    bus, needs = facts.devices.pci, facts.loads.needs
    if not has_gpu and isinstance(bus, Unknown) and not isinstance(facts.system.wsl, Known):
        return f"cannot tell whether this machine has a GPU: {bus.reason}"
    for one in _not_tried(facts):
        return f"cannot tell whether {one.module} can be imported: {one.words}"
    if able and has_gpu and isinstance(needs, Unknown):
        return f"cannot tell whether {able[0]} finds its libraries: {needs.reason}"
    return ""


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


# ---------------------------------------------------------------- one line per layer of the stack

GIB = 1 << 30
LAYER_OF = {  # the first part of a cause's id → the layer that it marks; others mark a framework
    "device": "GPU",
    "memory": "GPU",
    "driver": "driver",
    "container": "driver",
    "wsl": "driver",
    "cuda": "CUDA",
    "cudnn": "cuDNN",
}


def layers(facts: Facts, found: Sequence[Ranked] = ()) -> tuple[of.Layer, ...]:
    """All rows, from the metal up, each with the first of the causes that concerns it."""
    copies = facts.libraries.copies
    rows = [*_gpus(facts), _driver(facts)]
    rows.append(_libraries("CUDA", copies, "cudart", "no runtime library found"))
    rows.append(_libraries("cuDNN", copies, "cudnn", "not found"))
    if python := value_or(facts.environment.python, None):
        place = python.prefix if python.kind in ("venv", "conda") else python.path
        text = f"{python.version} · {place} · by {python.chosen_by}"
        rows.append(of.Layer("Python", text, "bad" if python.gone else "ok", python.gone))
    for one in _frameworks(facts):
        parts = [one.version]
        if not value_or(one.gpu_build, True):
            parts.append("CPU build")
        elif isinstance(one.built_for_cuda, Known):
            parts.append(f"built for CUDA {one.built_for_cuda.value}")
        if isinstance(one.built_for_cudnn, Known):
            parts.append(f"cuDNN {one.built_for_cudnn.value}")
        rows.append(of.Layer(one.title, " · ".join(parts), "ok", ""))
    for number, row in enumerate(rows):
        cause = next((one for one in found if _concerns(one, row, rows)), None)
        if cause is not None:
            rows[number] = of.Layer(
                row.name, row.text, "bad" if _stops(cause) else "warn", cause.cause
            )
    return tuple(rows)


def _concerns(cause: Ranked, row: of.Layer, rows: Sequence[of.Layer]) -> bool:
    subjects = cause.subject.split(", ") if cause.subject else []
    if any(row.name in (one, one.rpartition(" ")[0]) for one in subjects):
        return True
    layer = LAYER_OF.get(cause.cause.split(".")[0], "Python")
    named = any(subject.startswith(one.name) for one in rows for subject in subjects)
    # a framework's cause marks the framework's row
    return row.name == layer and not (layer == "Python" and named)


def _gpus(facts: Facts) -> list[of.Layer]:
    bus = facts.devices.pci
    out = []
    for one in value_or(facts.devices.gpus, ()):
        parts = [one.name]
        if isinstance(one.capability, Known):
            parts.append("sm_" + one.capability.value.replace(".", ""))
        if isinstance(one.memory_free, Known) and isinstance(one.memory_total, Known):
            free, total = one.memory_free.value / GIB, one.memory_total.value / GIB
            parts.append(f"{free:.1f} of {total:.1f} GiB free")
        name = "GPU" if one.index == 0 else f"GPU {one.index}"
        out.append(of.Layer(name, " · ".join(parts), "ok", ""))
    if out:
        return out
    if isinstance(bus, Known) and bus.value:
        names = (str(value_or(one.name, f"NVIDIA device {one.device_id}")) for one in bus.value)
        return [of.Layer("GPU", f"{', '.join(names)} (seen on the PCI bus only)", "unknown", "")]
    if isinstance(facts.system.offline, Known):
        return [of.Layer("GPU", f"not part of the {_files(facts)}", "unknown", "")]
    if isinstance(bus, Unknown):
        return [of.Layer("GPU", f"could not look: {bus.reason}", "unknown", "")]
    return [of.Layer("GPU", "no NVIDIA GPU", "none", "")]


def _driver(facts: Facts) -> of.Layer:
    version, newest = facts.driver.module_version, facts.driver.driver_cuda
    cuda = f" · CUDA {newest.value}" if isinstance(newest, Known) else ""
    if isinstance(version, Known):
        return of.Layer("driver", version.value + cuda, "ok", "")
    if isinstance(facts.system.wsl, Known):
        windows = value_or(facts.driver.windows_version, "")
        text = f"Windows' driver {windows}".rstrip() + cuda
        return of.Layer("driver", text, "ok" if windows or cuda else "unknown", "")
    if isinstance(facts.system.offline, Known):
        return of.Layer("driver", f"not part of the {_files(facts)}", "unknown", "")
    if isinstance(version, Absent):
        return of.Layer("driver", "not loaded", "none", "")
    return of.Layer("driver", f"could not look: {version.reason}", "unknown", "")


def _libraries(
    layer: str, copies: Fact[tuple[LibraryCopy, ...]], family: str, nothing: str
) -> of.Layer:
    if isinstance(copies, Unknown):
        reason = "not looked at" if copies == NOT_OBSERVED else f"could not look: {copies.reason}"
        return of.Layer(layer, reason, "unknown", "")
    main = ("libcudart.", "cudart64", "libcudnn.", "cudnn64")
    found = {one.real: one for one in value_or(copies, ()) if one.family == family}
    texts = dict.fromkeys(
        f"{value_or(one.version, 'version not known')} ({one.where})"
        for one in sorted(found.values(), key=_release, reverse=True)
        if one.name.startswith(main)
    )
    if not texts:
        return of.Layer(layer, nothing, "none", "")
    more = f", {len(texts) - 3} more" if len(texts) > 3 else ""
    return of.Layer(layer, ", ".join(list(texts)[:3]) + more, "ok", "")


def _release(copy: LibraryCopy) -> tuple[int, ...]:
    parts = str(value_or(copy.version, "0")).split(".")
    return tuple(int(one) for one in parts if one.isdecimal())
