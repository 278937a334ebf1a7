"""Picture: the stack from GPU to program, a row per layer with a mark; and what could not be seen."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from gpuwhy.model.expect import LINKED, gpu_present
from gpuwhy.model.fact import NOT_OBSERVED, Absent, Fact, Known, Unknown, value_or
from gpuwhy.model.facts import Device, Facts, Framework, LibraryCopy
from gpuwhy.model.report import Layer, Mark, Shown
from gpuwhy.model.version import numbers

GIB = 1 << 30


def picture(facts: Facts, shown: Sequence[Shown]) -> tuple[Layer, ...]:
    """All rows, from the metal up."""
    rows = [*_gpus(facts, shown), _driver(facts, shown), _cuda(facts, shown), _cudnn(facts, shown), *_python(facts)]
    frameworks = facts.target.frameworks
    if isinstance(frameworks, Known):
        rows += [_framework(one, shown, facts) for one in frameworks.value]
    return tuple(rows)


def _python(facts: Facts) -> list[Layer]:
    """Which environment was looked at, and who chose it."""
    found = facts.target.interpreter
    if not isinstance(found, Known):
        return []
    one = found.value
    place = one.prefix if one.kind in ("venv", "conda") else one.path
    return [Layer("Python", f"{one.version} · {place}", "bad" if one.gone else "ok", one.gone or f"by {one.chosen_by}")]


def _mark(
    shown: Sequence[Shown], layers: tuple[str, ...], subject: str = "", otherwise: Mark = "ok"
) -> tuple[Mark, str]:
    for cause in shown:
        fits = cause.id.split(".")[0] in layers and (not subject or subject in cause.subject.split(", "))
        if fits and cause.found:
            return ("bad" if cause.stops else "warn"), cause.id
    return otherwise, ""


def _broken_files(facts: Facts, shown: Sequence[Shown], cudnn: bool) -> list[Shown]:
    """Damaged or doubly owned files that are no framework's own, told apart by whether they are cuDNN's."""
    found = value_or(facts.target.frameworks, ())
    homes = (*(f"{one.path}/" for one in found), *(o.by for one in found for o in value_or(one.opens, ())))
    whole = [c for c in shown if c.id in ("install.corrupted", "install.conflict") and not c.subject]
    shared = [c for c in whole if not all(path.startswith(homes) for path in _files_of(c) or ("",))]
    return [c for c in shared if any("cudnn" in place for place in _places_of(c)) == cudnn]


def _places_of(cause: Shown) -> set[str]:
    """The files, folders and packages that a cause shows as its evidence, and what they open."""
    return {text for f in cause.because for e in f.evidence for text in (e.source.where, e.source.detail)}


def _files_of(cause: Shown) -> set[str]:
    """The files that a cause shows as its evidence."""
    return {e.source.where for f in cause.because for e in f.evidence if e.source.kind == "file"}


def _harmed(one: Framework, shown: Sequence[Shown], facts: Facts) -> list[Shown]:
    """Damage of a framework's own files, or of a library that it cannot load without; unused without a GPU, if lazy."""
    idle = isinstance(gpu_present(facts), Absent) and one.name not in LINKED
    needs = [] if idle else [n for n in value_or(facts.loads.needs, ()) if n.framework == one.name and not n.optional]
    lost = {n.name for n in needs if not isinstance(n.found, Known)}
    askers = {o.by for o in value_or(one.opens, ()) if not o.optional}
    damage = [c for c in shown if c.id == "install.corrupted"]
    return [
        c
        for c in damage
        if any(p.startswith(f"{one.path}/") or p in askers or p.rpartition("/")[2] in lost for p in _files_of(c))
    ]


def _gpus(facts: Facts, shown: Sequence[Shown]) -> list[Layer]:
    found = facts.devices.devices
    if isinstance(found, Known) and found.value:
        return [_gpu(one, shown) for one in found.value]
    bus = facts.devices.pci
    if isinstance(bus, Known) and bus.value:
        names = ", ".join(str(value_or(d.name, f"NVIDIA device {d.device_id}")) for d in bus.value)
        mark, note = _mark(shown, ("device",), otherwise="unknown")
        return [Layer("GPU", f"{names} (seen on the PCI bus only)", mark, note)]
    if isinstance(facts.surroundings.offline, Known):
        return [Layer("GPU", f"not in {_place(facts)}", "unknown")]
    if isinstance(bus, Unknown):
        return [Layer("GPU", f"could not look: {bus.reason}", "unknown")]
    return [Layer("GPU", "no NVIDIA GPU", "none")]


def _gpu(one: Device, shown: Sequence[Shown]) -> Layer:
    parts = [one.name]
    if isinstance(one.capability, Known):
        parts.append("sm_" + one.capability.value.replace(".", ""))
    if isinstance(one.memory_free, Known) and isinstance(one.memory_total, Known):
        parts.append(f"{one.memory_free.value / GIB:.1f} of {one.memory_total.value / GIB:.1f} GiB free")
    mark, note = _mark(shown, ("device", "memory"), f"GPU {one.index}")
    if mark == "ok":
        mark, note = _mark([c for c in shown if not c.subject], ("device",))
    name = "GPU" if one.index == 0 else f"GPU {one.index}"
    return Layer(name, " · ".join(parts), mark, note)


def _driver(facts: Facts, shown: Sequence[Shown]) -> Layer:
    version = facts.driver.module_version
    cuda = facts.driver.driver_cuda
    if isinstance(version, Known):
        text = version.value + (f" · CUDA {cuda.value}" if isinstance(cuda, Known) else "")
    elif isinstance(facts.surroundings.wsl, Known):
        text = " ".join(filter(None, ("Windows' driver", value_or(facts.driver.behind_wsl, ""))))
        text += f" · CUDA {cuda.value}" if isinstance(cuda, Known) else ""
    elif isinstance(facts.surroundings.offline, Known):
        text = f"not in {_place(facts)}{_asked_of_host(facts)}"
    else:
        text = "not loaded" if isinstance(version, Absent) else f"could not look: {version.reason}"
    fallback: Mark = "ok" if isinstance(version, Known) else "none" if isinstance(version, Absent) else "unknown"
    mark, note = _mark(shown, ("driver", "container", "wsl"), otherwise=fallback)
    return Layer("driver", text, mark, note)


def _place(facts: Facts) -> str:
    return str(value_or(facts.surroundings.offline, "")).split(" (")[0]


def _asked_of_host(facts: Facts) -> str:
    """What an image demands of the driver that it will meet."""
    wish = re.search(r"(?:^|\s)cuda\s*>=\s*([\d.]+)", str(value_or(facts.environment.value("NVIDIA_REQUIRE_CUDA"), "")))
    return f"; asks for a driver that speaks CUDA {wish[1]}" if wish else ""


def _copies(facts: Facts, family: str) -> list[LibraryCopy]:
    copies = facts.libraries.copies
    found = [c for c in copies.value if c.family == family] if isinstance(copies, Known) else []
    unique: dict[str, LibraryCopy] = {}
    for one in found:
        unique.setdefault(one.real, one)
    return sorted(unique.values(), key=lambda c: numbers(value_or(c.version, "0")), reverse=True)


def _described(copies: list[LibraryCopy]) -> str:
    texts: list[str] = []
    for one in copies:
        text = f"{value_or(one.version, 'unknown version')} ({one.where})"
        if text not in texts:
            texts.append(text)
    more = f", {len(texts) - 3} more" if len(texts) > 3 else ""
    return ", ".join(texts[:3]) + more


def _cuda(facts: Facts, shown: Sequence[Shown]) -> Layer:
    copies = _copies(facts, "cudart")
    mark, note = _mark(shown, ("cuda",), otherwise="ok" if copies else "none")
    if not note:
        mark, note = _mark(_broken_files(facts, shown, cudnn=False), ("install",), otherwise=mark)
    return Layer("CUDA", _described(copies) if copies else "no runtime library found", mark, note)


def _cudnn(facts: Facts, shown: Sequence[Shown]) -> Layer:
    copies = [c for c in _copies(facts, "cudnn") if c.name.startswith(("libcudnn.so", "cudnn64"))]
    mark, note = _mark(shown, ("cudnn",), otherwise="ok" if copies else "none")
    if not note:
        mark, note = _mark(_broken_files(facts, shown, cudnn=True), ("install",), otherwise=mark)
    return Layer("cuDNN", _described(copies) if copies else "not found", mark, note)


def _would_miss(one: Framework, facts: Facts) -> str:
    """On a machine without a GPU: what a framework that links its libraries does not find."""
    needs = facts.loads.needs
    names = [
        need.name
        for need in (needs.value if isinstance(needs, Known) else ())
        if need.framework == one.name and not need.optional and isinstance(need.found, Absent)
    ]
    if not names or one.name not in LINKED or not isinstance(gpu_present(facts), Absent):
        return ""
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"it cannot load without {names[0]}{more}"


def _not_seen(one: Framework, facts: Facts) -> str:
    """In a folder or an image: the first library that would have to come from elsewhere."""
    if not isinstance(facts.surroundings.offline, Known):
        return ""
    needs = [n for n in value_or(facts.loads.needs, ()) if n.framework == one.name and not n.optional]
    return next((n.name for n in needs if isinstance(n.found, Unknown)), "")


def _contradicted(one: Framework, facts: Facts) -> bool:
    """Whether its release and that of another package do not go together."""
    return any(one.distribution in (c.by, c.name) for c in value_or(facts.target.contradictions, ()))


def _framework(one: Framework, shown: Sequence[Shown], facts: Facts) -> Layer:
    parts = [one.version]
    if isinstance(one.gpu_build, Known) and not one.gpu_build.value:
        parts.append("CPU build")
    elif isinstance(one.built_for_cuda, Known):
        parts.append(f"built for CUDA {one.built_for_cuda.value}")
    if isinstance(one.built_for_cudnn, Known):
        parts.append(f"cuDNN {one.built_for_cudnn.value}")
    mark, note = _mark(shown, ("framework", "install", "cuda", "cudnn", "env"), f"{one.title} {one.version}")
    if not note:
        mine = [c for c in shown if any(path.startswith(f"{one.path}/") for path in _files_of(c))]
        mark, note = _mark(mine, ("other", "framework"), otherwise=mark)
    if not note:
        odd = [c for c in shown if c.id == "install.inconsistent" and _contradicted(one, facts)]
        mark, note = _mark(odd, ("install",), otherwise=mark)
    if not note:
        mark, note = _mark(_harmed(one, shown, facts), ("install",), otherwise=mark)
    if not note and (miss := _would_miss(one, facts)):
        mark, note = "none", miss
    if not note and (unseen_one := _not_seen(one, facts)):
        mark, note = "unknown", f"{unseen_one} is in no folder that files tell of"
    return Layer(one.title, " · ".join(parts), mark, note)


def unseen(facts: Facts) -> tuple[str, ...]:
    """Every top-level fact that is Unknown, as one sentence each; the same reason is said once."""
    out: dict[str, str] = {}
    for subject in msgspec.structs.fields(facts):
        record = getattr(facts, subject.name)
        for field in msgspec.structs.fields(record):
            fact: Fact[object] = getattr(record, field.name)
            if isinstance(fact, Unknown) and fact != NOT_OBSERVED:
                how = f" ({fact.how})" if fact.how else ""
                out.setdefault(fact.reason, f"{subject.name}.{field.name}: {fact.reason}{how}")
    return tuple(out.values())
