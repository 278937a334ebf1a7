"""Picture: the stack from GPU to program, a row per layer with a mark; and what could not be seen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from gpuwhy.model.expect import LINKED, gpu_present
from gpuwhy.model.fact import NOT_OBSERVED, Absent, Fact, Known, Unknown, value_or
from gpuwhy.model.facts import Device, Facts, Framework, LibraryCopy, NeededLibrary
from gpuwhy.model.report import Layer, Mark, Report, Shown
from gpuwhy.model.version import numbers
from gpuwhy.model.words import and_more
from gpuwhy.reason.tried import imported

GIB = 1 << 30
_NVIDIA = re.compile(r"nvidia|cuda|/lib(cu|nv|nccl)|(^|[/\\])(cu|nv)[a-z]+64", re.IGNORECASE)
"""How what NVIDIA brings is called: packages, folders, libraries."""


def picture(facts: Facts, shown: Sequence[Shown]) -> tuple[Layer, ...]:
    """All rows, from the metal up."""
    rows = [
        *_gpus(facts, shown),
        _driver(facts, shown),
        _cuda(facts, shown),
        _cudnn(facts, shown),
        *_python(facts, shown),
    ]
    frameworks = facts.target.frameworks
    if isinstance(frameworks, Known):
        rows += [_framework(one, shown, facts) for one in frameworks.value]
    return tuple(rows)


def picture_here(facts: Facts, report: Report) -> tuple[Layer, ...]:
    """The rows without what only a GPU would bring to light, which may stand before something that shows here."""
    here = [one for one in report.causes if not one.with_gpu]
    return report.layers if len(here) == len(report.causes) else picture(facts, here)


class Marked(NamedTuple):
    """The mark of a row: by a cause, or with a note where no cause says it."""

    mark: Mark = "ok"
    cause: str = ""
    note: str = ""

    def row(self, name: str, text: str) -> Layer:
        """A row of the picture so marked."""
        return Layer(name, text, self.mark, self.note or self.cause, self.cause)


def _python(facts: Facts, shown: Sequence[Shown]) -> list[Layer]:
    """Which environment was looked at, and who chose it; marked by files of it that are no library's."""
    found = facts.target.interpreter
    if not isinstance(found, Known):
        return []
    one = found.value
    place = one.prefix if one.kind in ("venv", "conda") else one.path
    mark = _mark(_files_beside(facts, shown), ("install",))
    note = one.gone or mark.cause or f"by {one.chosen_by}"
    return [Layer("Python", f"{one.version} · {place}", "bad" if one.gone else mark.mark, note, mark.cause)]


def _mark(shown: Sequence[Shown], layers: tuple[str, ...], subject: str = "", otherwise: Mark = "ok") -> Marked:
    """By the first cause that was found in one of some layers, of a subject where one is named."""
    for cause in shown:
        fits = cause.id.split(".")[0] in layers and (not subject or subject in cause.subject.split(", "))
        if fits and cause.found:
            return Marked("bad" if cause.stops else "warn", cause.id)
    return Marked(otherwise)


def _broken_files(facts: Facts, shown: Sequence[Shown], cudnn: bool) -> list[Shown]:
    """Damaged or doubly owned files that are no framework's own, told apart by whether they are cuDNN's."""
    return [c for c in _elsewhere(facts, shown) if (_is_cudnn(c) if cudnn else _is_cuda(c))]


def _files_beside(facts: Facts, shown: Sequence[Shown]) -> list[Shown]:
    """Those of them that are none of NVIDIA's."""
    return [c for c in _elsewhere(facts, shown) if not (_is_cudnn(c) or _is_cuda(c))]


def _elsewhere(facts: Facts, shown: Sequence[Shown]) -> list[Shown]:
    whole = [c for c in shown if c.id in ("install.corrupted", "install.conflict") and not c.subject]
    homes = _homes(facts)
    return [c for c in whole if not _lies_in(c, homes)]


def _homes(facts: Facts) -> tuple[str, ...]:
    """The folders of the frameworks, and their files that open CUDA libraries."""
    found = value_or(facts.target.frameworks, ())
    folders = [f"{one.path}/" for one in found]
    return (*folders, *(opened.by for one in found for opened in value_or(one.opens, ())))


def _lies_in(cause: Shown, homes: tuple[str, ...]) -> bool:
    """Whether every file that a cause shows lies in one of some folders."""
    files = _files_of(cause)
    return bool(files) and all(path.startswith(homes) for path in files)


def _is_cuda(cause: Shown) -> bool:
    """Whether it is about a library or a package of NVIDIA's, cuDNN's aside."""
    return not _is_cudnn(cause) and any(_NVIDIA.search(place) for place in _places_of(cause))


def _is_cudnn(cause: Shown) -> bool:
    return any("cudnn" in place for place in _places_of(cause))


def _places_of(cause: Shown) -> set[str]:
    """The files, folders and packages that a cause shows as its evidence, and what they open."""
    return {text for f in cause.because for e in f.evidence for text in (e.source.where, e.source.detail)}


def _files_of(cause: Shown) -> set[str]:
    """The files that a cause shows as its evidence."""
    return {e.source.where for f in cause.because for e in f.evidence if e.source.kind == "file"}


def _needs_of(one: Framework, facts: Facts) -> list[NeededLibrary]:
    """What a framework cannot do without."""
    return [n for n in value_or(facts.loads.needs, ()) if n.framework == one.name and not n.optional]


def _harmed(one: Framework, shown: Sequence[Shown], facts: Facts) -> list[Shown]:
    """Damage of a framework's own files, or of a library that it cannot load without; unused without a GPU, if lazy."""
    idle = isinstance(gpu_present(facts), Absent) and one.name not in LINKED
    lost = set() if idle else {n.name for n in _needs_of(one, facts) if not isinstance(n.found, Known)}
    askers = {opened.by for opened in value_or(one.opens, ()) if not opened.optional}

    def harms(path: str) -> bool:
        return path.startswith(f"{one.path}/") or path in askers or path.rpartition("/")[2] in lost

    return [c for c in shown if c.id == "install.corrupted" and any(map(harms, _files_of(c)))]


def _gpus(facts: Facts, shown: Sequence[Shown]) -> list[Layer]:
    found = facts.devices.devices
    if isinstance(found, Known) and found.value:
        return [_gpu(one, shown) for one in found.value]
    bus = facts.devices.pci
    if isinstance(bus, Known) and bus.value:
        names = ", ".join(str(value_or(d.name, f"NVIDIA device {d.device_id}")) for d in bus.value)
        mark = _mark(shown, ("device",), otherwise="unknown")
        return [mark.row("GPU", f"{names} (seen on the PCI bus only)")]
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
    mark = _mark(shown, ("device", "memory"), f"GPU {one.index}")
    if mark.mark == "ok":
        mark = _mark([c for c in shown if not c.subject], ("device",))
    return mark.row("GPU" if one.index == 0 else f"GPU {one.index}", " · ".join(parts))


def _driver(facts: Facts, shown: Sequence[Shown]) -> Layer:
    version = facts.driver.module_version
    fallback: Mark = "ok" if isinstance(version, Known) else "none" if isinstance(version, Absent) else "unknown"
    return _mark(shown, ("driver", "container", "wsl"), otherwise=fallback).row("driver", _driver_told(facts))


def _driver_told(facts: Facts) -> str:
    version, speaks = facts.driver.module_version, facts.driver.driver_cuda
    cuda = f" · CUDA {speaks.value}" if isinstance(speaks, Known) else ""
    if isinstance(version, Known):
        return version.value + cuda
    if isinstance(facts.surroundings.wsl, Known):
        return " ".join(filter(None, ("Windows' driver", value_or(facts.driver.behind_wsl, "")))) + cuda
    if isinstance(facts.surroundings.offline, Known):
        return f"not in {_place(facts)}{_asked_of_host(facts)}"
    return "not loaded" if isinstance(version, Absent) else f"could not look: {version.reason}"


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
    mark = _mark(shown, ("cuda",), otherwise="ok" if copies else "none")
    if not mark.cause:
        mark = _mark(_broken_files(facts, shown, cudnn=False), ("install",), otherwise=mark.mark)
    return mark.row("CUDA", _described(copies) if copies else "no runtime library found")


def _cudnn(facts: Facts, shown: Sequence[Shown]) -> Layer:
    copies = [c for c in _copies(facts, "cudnn") if c.name.startswith(("libcudnn.so", "cudnn64"))]
    mark = _mark(shown, ("cudnn",), otherwise="ok" if copies else "none")
    if not mark.cause:
        mark = _mark(_broken_files(facts, shown, cudnn=True), ("install",), otherwise=mark.mark)
    return mark.row("cuDNN", _described(copies) if copies else "not found")


def _would_miss(one: Framework, facts: Facts) -> Marked:
    """On a machine without a GPU: what a framework that links its libraries does not find."""
    names = [need.name for need in _needs_of(one, facts) if isinstance(need.found, Absent)]
    if not names or one.name not in LINKED or not isinstance(gpu_present(facts), Absent):
        return Marked()
    more = and_more(len(names), 1)
    return Marked("none", note=f"it cannot load without {names[0]}{more}")


def _needs_unstated(one: Framework, facts: Facts) -> Marked:
    """What its own import needs and nothing states; who runs only what does without it never notices."""
    late = [c for c in value_or(facts.target.contradictions, ()) if c.how == "late" and c.by == one.distribution]
    return Marked("warn", note=f"its import fails: {late[0].name} is not installed") if late else Marked()


def _not_seen(one: Framework, facts: Facts) -> Marked:
    """In a folder or an image: the first library that would have to come from elsewhere."""
    offline = isinstance(facts.surroundings.offline, Known)
    names = [need.name for need in _needs_of(one, facts) if offline and isinstance(need.found, Unknown)]
    return Marked("unknown", note=f"{names[0]} is in no folder that files tell of") if names else Marked()


def _own_files(one: Framework, shown: Sequence[Shown]) -> list[Shown]:
    """What was found in a framework's folder."""
    return [c for c in shown if any(path.startswith(f"{one.path}/") for path in _files_of(c))]


def _contradicted(one: Framework, shown: Sequence[Shown], facts: Facts) -> list[Shown]:
    """That releases do not go together, where its own is one of them; what is missed late is told by its import."""
    pairs = [(c.by, c.name) for c in value_or(facts.target.contradictions, ()) if c.how != "late"]
    mine = any(one.distribution in pair for pair in pairs)
    return [c for c in shown if mine and c.id == "install.inconsistent"]


def _replaced(one: Framework, shown: Sequence[Shown], facts: Facts) -> list[Shown]:
    """That another folder's copy is imported in the place of its own module, or of one that it asks for."""
    mine = any(
        shadow.module == one.path.rpartition("/")[2] or shadow.wanted_by.startswith(f"{one.distribution} ")
        for shadow in value_or(facts.target.shadows, ())
    )
    return [c for c in shown if mine and c.id == "env.shadowed"]


def _framework(one: Framework, shown: Sequence[Shown], facts: Facts) -> Layer:
    """A framework, marked by the first of these that speaks."""
    marks = (
        _mark(shown, ("framework", "install", "cuda", "cudnn", "env"), f"{one.title} {one.version}"),
        _mark(_own_files(one, shown), ("other", "framework")),
        _mark(_contradicted(one, shown, facts), ("install",)),
        _mark(_harmed(one, shown, facts), ("install",)),
        _mark(_replaced(one, shown, facts), ("env",)),
        _needs_unstated(one, facts),
        _would_miss(one, facts),
        _not_seen(one, facts),
    )
    mark = next((mark for mark in marks if mark.cause or mark.note), Marked())
    return mark.row(one.title, " · ".join(filter(None, (*_built(one), imported(facts, one.name)))))


def _built(one: Framework) -> Iterator[str]:
    yield one.version
    if isinstance(one.gpu_build, Known) and not one.gpu_build.value:
        yield "CPU build"
    elif isinstance(one.built_for_cuda, Known):
        yield f"built for CUDA {one.built_for_cuda.value}"
    if isinstance(one.built_for_cudnn, Known):
        yield f"cuDNN {one.built_for_cudnn.value}"


def unseen(facts: Facts) -> tuple[str, ...]:
    """Every top-level fact that is Unknown, as one sentence each; the same reason is said once, unless by choice."""
    out: dict[str, str] = {}
    for subject in msgspec.structs.fields(facts):
        record = getattr(facts, subject.name)
        for field in msgspec.structs.fields(record):
            fact: Fact[object] = getattr(record, field.name)
            if isinstance(fact, Unknown) and fact != NOT_OBSERVED:
                how = f" ({fact.how})" if fact.how else ""
                said = f"{subject.name}.{field.name}: {fact.reason}{how}"
                out.setdefault(said if fact.kind == "not tried" else fact.reason, said)
    return tuple(out.values())
