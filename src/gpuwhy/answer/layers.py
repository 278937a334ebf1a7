"""Facts → one line per layer of the stack, from the GPU to the frameworks, with a mark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from gpuwhy.answer.answer import Layer
from gpuwhy.diagnose.diagnosis import Ranked
from gpuwhy.facts.devices import Gpu
from gpuwhy.facts.fact import NOT_OBSERVED, Absent, Fact, Known, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Effect
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.libraries import LibraryCopy

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


def layers(facts: Facts, found: Sequence[Ranked] = ()) -> tuple[Layer, ...]:
    """All rows, from the metal up; `found` are the causes that are named."""
    copies = facts.libraries.copies
    rows = [*_gpus(facts), _driver(facts)]
    rows.append(_libraries("CUDA", copies, "cudart", "no runtime library found"))
    rows.append(_libraries("cuDNN", copies, "cudnn", "not found"))
    rows += _python(facts)
    rows += [_framework(one) for one in value_or(facts.frameworks.installed, ())]
    return tuple(_marked(rows, found))


def _marked(rows: Sequence[Layer], found: Sequence[Ranked]) -> Iterator[Layer]:
    """Each row with the first cause that concerns it."""
    for row in rows:
        cause = next((one for one in found if _concerns(one, row, rows)), None)
        if cause is None:
            yield row
        else:
            stops = cause.effect in (Effect.STOPS, Effect.PREVENTS_START)
            yield Layer(row.name, row.text, "bad" if stops else "warn", cause.cause)


def _concerns(cause: Ranked, row: Layer, rows: Sequence[Layer]) -> bool:
    subjects = cause.subject.split(", ") if cause.subject else []
    if any(row.name in (one, one.rpartition(" ")[0]) for one in subjects):
        return True
    layer = LAYER_OF.get(cause.cause.split(".")[0], "Python")
    named = [one for one in rows for subject in subjects if subject.startswith(one.name)]
    if layer == "Python" and named:  # it is a framework's, whose row carries the mark
        return False
    return row.name == layer


def _gpus(facts: Facts) -> list[Layer]:
    gpus = facts.devices.gpus
    if isinstance(gpus, Known) and gpus.value:
        return [_gpu(one) for one in gpus.value]
    bus = facts.devices.pci
    if isinstance(bus, Known) and bus.value:
        names = (str(value_or(one.name, f"NVIDIA device {one.device_id}")) for one in bus.value)
        return [Layer("GPU", f"{', '.join(names)} (seen on the PCI bus only)", "unknown", "")]
    if isinstance(facts.system.offline, Known):
        return [Layer("GPU", f"not part of {_files(facts)}", "unknown", "")]
    if isinstance(bus, Unknown):
        return [Layer("GPU", f"could not look: {bus.reason}", "unknown", "")]
    return [Layer("GPU", "no NVIDIA GPU", "none", "")]


def _gpu(one: Gpu) -> Layer:
    parts = [one.name]
    if isinstance(one.capability, Known):
        parts.append("sm_" + one.capability.value.replace(".", ""))
    if isinstance(one.memory_free, Known) and isinstance(one.memory_total, Known):
        free, total = one.memory_free.value / GIB, one.memory_total.value / GIB
        parts.append(f"{free:.1f} of {total:.1f} GiB free")
    return Layer("GPU" if one.index == 0 else f"GPU {one.index}", " · ".join(parts), "ok", "")


def _driver(facts: Facts) -> Layer:
    version, newest = facts.driver.module_version, facts.driver.driver_cuda
    cuda = f" · CUDA {newest.value}" if isinstance(newest, Known) else ""
    if isinstance(version, Known):
        return Layer("driver", version.value + cuda, "ok", "")
    if isinstance(facts.system.wsl, Known):
        of_windows = value_or(facts.driver.windows_version, "")
        mark: Mark = "ok" if of_windows or cuda else "unknown"
        return Layer("driver", f"Windows' driver {of_windows}".rstrip() + cuda, mark, "")
    if isinstance(facts.system.offline, Known):
        return Layer("driver", f"not part of {_files(facts)}", "unknown", "")
    if isinstance(version, Absent):
        return Layer("driver", "not loaded", "none", "")
    return Layer("driver", f"could not look: {version.reason}", "unknown", "")


def _files(facts: Facts) -> str:
    offline = value_or(facts.system.offline, None)
    return f"the {offline.kind}" if offline else "the files"


def _libraries(
    layer: str, copies: Fact[tuple[LibraryCopy, ...]], family: str, nothing: str
) -> Layer:
    if isinstance(copies, Unknown):
        reason = "not looked at" if copies == NOT_OBSERVED else f"could not look: {copies.reason}"
        return Layer(layer, reason, "unknown", "")
    main = ("libcudart.", "cudart64", "libcudnn.", "cudnn64")
    found = {one.real: one for one in value_or(copies, ()) if one.family == family}
    texts = dict.fromkeys(
        f"{value_or(one.version, 'version not known')} ({one.where})"
        for one in sorted(found.values(), key=_release, reverse=True)
        if one.name.startswith(main)
    )
    if not texts:
        return Layer(layer, nothing, "none", "")
    more = f", {len(texts) - 3} more" if len(texts) > 3 else ""
    return Layer(layer, ", ".join(list(texts)[:3]) + more, "ok", "")


def _release(copy: LibraryCopy) -> tuple[int, ...]:
    parts = str(value_or(copy.version, "0")).split(".")
    return tuple(int(one) for one in parts if one.isdecimal())


def _python(facts: Facts) -> list[Layer]:
    found = facts.environment.python
    if not isinstance(found, Known):
        return []
    one = found.value
    place = one.prefix if one.kind in ("venv", "conda") else one.path
    text = f"{one.version} · {place} · by {one.chosen_by}"
    return [Layer("Python", text, "bad" if one.gone else "ok", one.gone)]


def _framework(one: Framework) -> Layer:
    parts = [one.version]
    if isinstance(one.gpu_build, Known) and not one.gpu_build.value:
        parts.append("CPU build")
    elif isinstance(one.built_for_cuda, Known):
        parts.append(f"built for CUDA {one.built_for_cuda.value}")
    if isinstance(one.built_for_cudnn, Known):
        parts.append(f"cuDNN {one.built_for_cudnn.value}")
    return Layer(one.title, " · ".join(parts), "ok", "")
