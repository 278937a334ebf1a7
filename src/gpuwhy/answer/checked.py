"""Makes the Answer of a machine: a cause, a possible one, health, or too little seen to judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from gpuwhy._version import __version__
from gpuwhy.answer import answer as of
from gpuwhy.answer.text import listed, sentence
from gpuwhy.diagnose.diagnosis import Diagnosis, Open, Ranked
from gpuwhy.facts.devices import Gpu
from gpuwhy.facts.fact import NOT_OBSERVED, Absent, Fact, Known, Unknown, value_or
from gpuwhy.facts.facts import Facts, dump
from gpuwhy.facts.finding import Effect
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.imports import Ended, Tried
from gpuwhy.facts.libraries import LibraryCopy

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


# ---------------------------------------------------------------- one line per layer of the stack

GIB = 1 << 30
Mark = Literal["ok", "bad", "warn", "unknown", "none"]

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
    """All rows, from the metal up; `found` are the causes that are named."""
    copies = facts.libraries.copies
    rows = [*_gpus(facts), _driver(facts)]
    rows.append(_libraries("CUDA", copies, "cudart", "no runtime library found"))
    rows.append(_libraries("cuDNN", copies, "cudnn", "not found"))
    rows += _interpreter(facts)
    rows += [_framework(one) for one in value_or(facts.frameworks.installed, ())]
    return tuple(_marked(rows, found))


def _marked(rows: Sequence[of.Layer], found: Sequence[Ranked]) -> Iterator[of.Layer]:
    """Each row with the first cause that concerns it."""
    for row in rows:
        cause = next((one for one in found if _concerns(one, row, rows)), None)
        if cause is None:
            yield row
        else:
            stops = cause.effect in (Effect.STOPS, Effect.PREVENTS_START)
            yield of.Layer(row.name, row.text, "bad" if stops else "warn", cause.cause)


def _concerns(cause: Ranked, row: of.Layer, rows: Sequence[of.Layer]) -> bool:
    subjects = cause.subject.split(", ") if cause.subject else []
    if any(row.name in (one, one.rpartition(" ")[0]) for one in subjects):
        return True
    layer = LAYER_OF.get(cause.cause.split(".")[0], "Python")
    named = [one for one in rows for subject in subjects if subject.startswith(one.name)]
    if layer == "Python" and named:  # it is a framework's, whose row carries the mark
        return False
    return row.name == layer


def _gpus(facts: Facts) -> list[of.Layer]:
    gpus = facts.devices.gpus
    if isinstance(gpus, Known) and gpus.value:
        return [_gpu(one) for one in gpus.value]
    bus = facts.devices.pci
    if isinstance(bus, Known) and bus.value:
        names = (str(value_or(one.name, f"NVIDIA device {one.device_id}")) for one in bus.value)
        return [of.Layer("GPU", f"{', '.join(names)} (seen on the PCI bus only)", "unknown", "")]
    if isinstance(facts.system.offline, Known):
        return [of.Layer("GPU", f"not part of the {_files(facts)}", "unknown", "")]
    if isinstance(bus, Unknown):
        return [of.Layer("GPU", f"could not look: {bus.reason}", "unknown", "")]
    return [of.Layer("GPU", "no NVIDIA GPU", "none", "")]


def _gpu(one: Gpu) -> of.Layer:
    parts = [one.name]
    if isinstance(one.capability, Known):
        parts.append("sm_" + one.capability.value.replace(".", ""))
    if isinstance(one.memory_free, Known) and isinstance(one.memory_total, Known):
        free, total = one.memory_free.value / GIB, one.memory_total.value / GIB
        parts.append(f"{free:.1f} of {total:.1f} GiB free")
    return of.Layer("GPU" if one.index == 0 else f"GPU {one.index}", " · ".join(parts), "ok", "")


def _driver(facts: Facts) -> of.Layer:
    version, newest = facts.driver.module_version, facts.driver.driver_cuda
    cuda = f" · CUDA {newest.value}" if isinstance(newest, Known) else ""
    if isinstance(version, Known):
        return of.Layer("driver", version.value + cuda, "ok", "")
    if isinstance(facts.system.wsl, Known):
        of_windows = value_or(facts.driver.windows_version, "")
        mark: Mark = "ok" if of_windows or cuda else "unknown"
        return of.Layer("driver", f"Windows' driver {of_windows}".rstrip() + cuda, mark, "")
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


def _interpreter(facts: Facts) -> list[of.Layer]:
    found = facts.environment.python
    if not isinstance(found, Known):
        return []
    one = found.value
    place = one.prefix if one.kind in ("venv", "conda") else one.path
    text = f"{one.version} · {place} · by {one.chosen_by}"
    return [of.Layer("Python", text, "bad" if one.gone else "ok", one.gone)]


def _framework(one: Framework) -> of.Layer:
    parts = [one.version]
    if isinstance(one.gpu_build, Known) and not one.gpu_build.value:
        parts.append("CPU build")
    elif isinstance(one.built_for_cuda, Known):
        parts.append(f"built for CUDA {one.built_for_cuda.value}")
    if isinstance(one.built_for_cudnn, Known):
        parts.append(f"cuDNN {one.built_for_cudnn.value}")
    return of.Layer(one.title, " · ".join(parts), "ok", "")
