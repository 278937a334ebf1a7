"""Builds: files that two own, a CUDA that is not the one beside, no code for the GPU."""

import re
from collections.abc import Iterator
from itertools import combinations, product
from typing import NamedTuple

from gpuwhy.choose.demand import Demand
from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge import archs, drivers, images, packages
from gpuwhy.knowledge.installs import gpu_requirement
from gpuwhy.knowledge.packages import Flavour, brings_onnxruntime, flavour, library_wheel
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint.check.pairs import MANY
from gpuwhy.lint.mistakes import Mistake, Place
from gpuwhy.lint.rules import table
from gpuwhy.lint.scope import TENSORFLOW, Scope, is_gpu_build, newest_said, told
from gpuwhy.lint.sheet import Pin, Word
from gpuwhy.lint.versions import LINUX, Release, allowed, allows, major, rows

_SONAME = re.compile(r"^(?!libnv(ToolsExt|tx)).*\.so\.\d")
"""Files that a framework opens by their name; NVTX has one interface, whatever the CUDA."""
_MORE: dict[str, list[str]] = table("files.flavours")
"""Module → its packages without CUDA; those with CUDA end with -gpu and the like."""
_CONDA_NAMES: dict[str, str] = table("files.conda_names")


def flavours(scope: Scope) -> Iterator[Mistake]:
    """Two flavours of one module, such as onnxruntime and onnxruntime-gpu."""
    several: dict[str, list[Pin]] = {}
    for pin in scope.pins:
        found, known = _flavour(pin), pin.releases
        fails = bool(known) and all(row.platform == "source" for row in known)
        if pin.name == "tensorflow-gpu":  # its last release only fails, and installs nothing
            fails = known[-1].platform == "source" if known else bool(pin.version)
        if found and pin.origin == "pip" and not fails:
            several.setdefault(found.module, []).append(pin)
    for module, pins in several.items():
        both = ((a, b) for a, b in combinations(pins, 2) if a.name != b.name and a.beside(b))
        one, other = next(both, (None, None))
        if not one or not other:
            continue
        first, last = sorted((one, other), key=lambda pin: pin.step)
        between = scope.environment.commands[first.step : last.step]
        if any({"uninstall", first.name} <= set(command.words) for command in between):
            continue
        able = []
        for pin in (one, other):
            own = _flavour(pin)
            old = pin.name == "tensorflow" and pin.version and not at_least(pin.version, "1.15")
            able += [pin.name] if own and own.cuda and not old else []
        which = f" ({able[0]} is the one with CUDA)" if len(able) == 1 else ""
        values = {"other": other.name, "said": one.said, "module": module, "which": which}
        yield told("same-files.flavours", other, values=values)


def _flavour(pin: Pin) -> Flavour | None:
    for module, plain in _MORE.items():
        if pin.name in plain or pin.name.startswith(f"{module}-gpu"):
            return Flavour(module, pin.name not in plain)
    return flavour(pin.name)


def conda_and_pip(scope: Scope) -> Iterator[Mistake]:
    """conda's and pip's builds of one framework."""
    for pin in scope.pins:
        called = _CONDA_NAMES.get(pin.name, "") if pin.origin == "conda" else ""
        other = scope.by_pip(called) if called else None
        if other and pin.beside(other) and not keeps_conda(pin, other):
            yield told("same-files.conda", other, conda=pin.name, line=pin.place.line)


def keeps_conda(pin: Pin, other: Pin) -> bool:
    """Whether conda's release is good enough for pip's pin, which then keeps it."""
    if other.variant or other.reference:
        return False
    found = allowed(other.name, pin.specifier)[-1:]
    return any(allows(other.specifier, row.version) for row in found)


def brought(scope: Scope) -> Iterator[Mistake]:
    """onnxruntime-gpu, and a package whose own requirements bring onnxruntime."""
    gpu = scope.by_pip("onnxruntime-gpu")
    for pin in scope.pins if gpu and "onnxruntime" not in scope.names else ():
        if not gpu or pin.origin != "pip" or not pin.beside(gpu) or scope.is_bare(pin.step):
            continue
        late = gpu.step <= pin.step  # put over it by a later command, the one for GPUs wins
        if late and brings_onnxruntime(pin.name, pin.version, pin.extras):
            yield told("same-files.brought", pin, packages.ONNX_BROUGHT, line=gpu.place.line)
            return


def two_majors(scope: Scope) -> Iterator[Mistake]:
    """One library of NVIDIA's for two CUDA majors: by wheels that are named, or brought."""
    bringing = []
    for pin in scope.pins:
        found = _demands(scope, pin)
        wishes = found[-1].requires.items() if found else ()
        bringing += [(pin, Pin(name, pin.place, wish)) for name, wish in wishes]
    bringing += [(p, p) for p in scope.pins if library_wheel(p.name) and p.installed]
    said: set[str] = set()  # of each framework the first is enough
    for (one, a), (other, b) in combinations(bringing, 2):
        first, second = library_wheel(a.name), library_wheel(b.name)
        same_library = first and second and first[0] == second[0] and first[1] != second[1]
        if one is other or one.name in said or not same_library or not one.beside(other):
            continue
        ships = []  # what the newest allowed release of each installs
        for pin in (a, b):
            row = next((r for r in reversed(pin.releases) if r.platform == LINUX), None)
            ships.append(set(row.ships) if row and isinstance(row.ships, tuple) else set())
        file = min(filter(_SONAME.search, ships[0] & ships[1]), default="")
        if file:
            said.add(one.name)
            by = [p.said if p is w else f"{w.name} of {p.said}" for p, w in ((one, a), (other, b))]
            level = "" if a is one else "warning"
            values = {"first": by[0], "second": by[1], "file": file}
            yield told("same-files", other, severity=level, values=values)


def _demands(scope: Scope, pin: Pin) -> list[Release]:
    """The releases that a pin allows, with what they demand of NVIDIA's wheels."""
    extra = next((e for e in pin.extras if e.startswith(("cuda12", "cuda13"))), "")
    plugin = f"jax-{extra[:6]}-plugin" if pin.name == "jax" and extra else ""
    tensorflow = pin.name in TENSORFLOW and "and-cuda" in pin.extras
    if not scope.from_index(pin) or not (plugin or tensorflow or pin.name == "torch"):
        return []
    found = allowed(plugin or pin.name, pin.specifier)
    linux = [row for row in found if row.platform == LINUX and isinstance(row.requires, dict)]
    if not pin.specifier:
        row = scope.taken(pin, plugin)
        linux = [row] if row in linux else []
    return linux if len(linux) <= MANY else []


def nvidia_pin(scope: Scope) -> Iterator[Mistake]:
    """A pin of one of NVIDIA's wheels against what every allowed release demands of it."""
    wheels = [pin for pin in scope.pins if library_wheel(pin.name) and pin.specifier]
    for pin, wheel in product(scope.pins if wheels else (), wheels):
        found, known = _demands(scope, pin), rows(wheel.name)
        wishes = [row.requires.get(wheel.name, "") for row in found]
        bounds = [f"{wheel.specifier},{wish}" for wish in wishes]
        met = not known or not all(wishes)
        met = met or any(allows(bound, row.version) for bound in bounds for row in known)
        if found and not met and pin.beside(wheel):
            extras = f"[{','.join(pin.extras)}]" if pin.extras else ""
            said = f"{pin.name}{extras} {found[-1].version}"
            source = evidence_of(found[-1], "requires")
            yield told("nvidia-pin", wheel, source, wish=wishes[-1], said=said)


class Majors(NamedTuple):
    """Majors of CUDA and cuDNN, 0 where not known, and how that is known."""

    cuda: int
    cudnn: int
    said: str = ""
    source: Source | None = None


def borrowed(scope: Scope) -> Iterator[Mistake]:
    """CTranslate2 and ONNX Runtime against the torch, the wheels or the image that lend CUDA."""
    torch = scope.by_pip("torch")
    open_ = torch is not None and not torch.is_pinned
    full = scope.base.family in ("ngc", "framework", "tensorflow", "aws")
    if not scope.environment.runs or full or (open_ and scope.over_unknown):
        return
    for pin in scope.pins:
        opens = _opens(scope, pin) if pin.installed else None
        lent = _lent(scope, pin, torch) if opens else None
        if not opens or not lent or not _counts(scope, pin, torch):
            continue
        wrong, cuda = "", lent.cuda
        if cuda and opens.cuda != cuda:
            wrong = f"CUDA {opens.cuda} and cuDNN {opens.cudnn}"
        elif lent.cudnn and opens.cudnn and opens.cudnn != lent.cudnn:
            wrong = f"cuDNN {opens.cudnn}"
        if wrong:
            fix = "add nvidia-cublas-cu12 and nvidia-cudnn-cu12"
            if pin.name == "onnxruntime-gpu":
                fix = f"take an onnxruntime-gpu for CUDA {cuda}, or a torch for its CUDA"
            elif cuda == 11:
                fix = 'add "ctranslate2<4"'
            elif cuda == 12:
                fix = 'add "ctranslate2<4.5" for cuDNN 8, or take torch 2.4 or newer for cuDNN 9'
            level = "" if pin.version and not open_ else "warning"
            said = f"{pin.name} {pin.version or '(the newest)'}"
            values = {"said": said, "wrong": wrong, "lent": lent.said}
            yield told("borrowed-cuda", pin, opens.source, fix=fix, severity=level, values=values)
            return


def _counts(scope: Scope, pin: Pin, torch: Pin | None) -> bool:
    """CTranslate2 works without a GPU too: something has to say that one is meant."""
    if pin.name == "onnxruntime-gpu":
        return torch is not None or scope.has_wheels("nvidia-cudnn", "nvidia-cublas")
    held = torch and (torch.variant.startswith("cu") or torch.version)
    return bool(scope.gpu_meant or scope.named_gpu or held)


def _opens(scope: Scope, pin: Pin) -> Majors | None:
    found = None
    if pin.name == "ctranslate2":
        below = re.search(r"<=?\s*([\d.]+)", pin.specifier)
        ceiling = "3.24.0" if below and not at_least(below[1], "4.0.1") else "4.4.0"
        version = pin.version or (ceiling if below and not at_least(below[1], "4.5.1") else "")
        found = packages.ctranslate2(version)
    elif pin.name == "faster-whisper" and "ctranslate2" not in scope.names:
        found = packages.of_faster_whisper(pin.version)
    elif pin.name == "onnxruntime-gpu" and not pin.extras and not scope.environment.other_index:
        row = scope.taken(pin)
        cuda, cudnn = (major(row.cuda), major(row.cudnn)) if row else (0, 0)
        return Majors(cuda, cudnn, "", evidence_of(row, "cuda")) if row and cuda else None
    return Majors(int(found.cuda), int(found.cudnn), "", found.source) if found else None


def _lent(scope: Scope, pin: Pin, torch: Pin | None) -> Majors | None:
    """What wheels, the CUDA image or torch lend, in that order."""
    for own in scope.pins:
        name, cuda = (own.origin == "pip" and library_wheel(own.name)) or ("", 0)
        if name in ("nvidia-cublas", "nvidia-cudnn"):
            exact = re.match(r"={2,3}\s*(\d+)\.", own.specifier) if "cudnn" in name else None
            return Majors(cuda, int(exact[1]) if exact else 0, f"{own.said} is for CUDA {cuda}")
    base = scope.base
    if base.family == "cuda" and base.cuda and base.variant not in ("", "base"):
        if torch is None and pin.name == "onnxruntime-gpu":
            return None  # base-image compares them
        return Majors(major(base.cuda), 0, f"image {base.name} holds CUDA {base.cuda}")
    if torch is None or not pin.beside(torch) or base.family == "pytorch":
        return None
    label = re.fullmatch(r"cu(\d+)(\d)", torch.variant)
    named = allowed("torch", f"=={torch.public}") if torch.reference and torch.version else ()
    row = scope.taken(torch) or next(iter(named[-1:]), None)
    if row is None or (torch.variant and not label) or scope.environment.other_index:
        return None
    cuda, cudnn = int(label[1]) if label else major(row.cuda), major(row.cudnn)
    both = f"CUDA {cuda}" + (f" and cuDNN {cudnn}" if cudnn else "")
    said = f"{newest_said(torch, row)} beside it brings {both}"
    return Majors(cuda, cudnn, said) if cuda else None


_CPU = {"tensorflow": "tensorflow", "onnxruntime": "onnxruntime-gpu", "paddle": "paddlepaddle-gpu"}
_USERS = frozenset(table("cpu.users"))
"""Packages that may be what the GPU is for, where ONNX Runtime is somebody's helper."""


def cpu_wheel(scope: Scope) -> Iterator[Mistake]:
    """A build without CUDA, and nothing else that could be the one for the GPU."""
    if not scope.environment.runs or scope.named_otherwise:
        return
    for pin in scope.pins if scope.meant else ():
        found, known = flavour(pin.name), ()
        if pin.name == "torch" and pin.variant == "cpu":
            which, exact = pin.public or "of this line", f"=={pin.public}" if pin.public else ""
            what = f"torch {which} comes from PyTorch's cpu builds, without CUDA"
            fix = f"write torch{exact} without the cpu index or +cpu"
        elif pin.origin == "pip" and found and not found.cuda and found.module in _CPU:
            what, name = f"{pin.name} is built without CUDA", _CPU[found.module]
            known = allowed(name, f"=={pin.version}") if pin.version else ()
            wanted = gpu_requirement(found.module, name, pin.version, None) if known else ""
            fix = f"write {wanted or name + pin.specifier}"
        else:
            continue
        helper = pin.name.startswith(("onnxruntime", "ort-"))
        if _is_on_purpose(scope, pin) or (helper and _USERS & scope.names.keys()):
            continue
        severity = "warning" if helper else ""
        yield told("cpu-wheel", pin, fix=fix, severity=severity, what=what, meant=scope.meant)


def _is_on_purpose(scope: Scope, pin: Pin) -> bool:
    """Whether a build without CUDA is no mistake: too little speaks for a GPU, or others use it."""
    others = [other for other in scope.names.values() if other.name != pin.name]
    named = "-cpu" in pin.name or pin.local == "cpu" or pin.name == "paddlepaddle"
    return (
        bool(re.search("directml|openvino", pin.name))
        or (not scope.gpu_meant and not named)
        or scope.base.framework not in ("", pin.name)
        or scope.base.family in ("ngc", "framework")
        or (pin.name != "paddlepaddle" and any(map(is_gpu_build, others)))
    )


def conda_pip_mix(scope: Scope) -> Iterator[Mistake]:
    """conda's CUDA beside pip's builds that open the system's, of another major."""
    toolkit = scope.by_conda("cudatoolkit", "cuda-toolkit", "pytorch-cuda", "cuda-version")
    for pin in scope.pins if toolkit else ():
        opens = pin.name in (*TENSORFLOW, "onnxruntime-gpu") and "and-cuda" not in pin.extras
        if not toolkit or not opens or not pin.by_name or pin.variant:
            continue
        held = scope.by_conda(pin.name)
        row = scope.taken(pin) if not held or not keeps_conda(held, pin) else None
        if not row or not isinstance(row.cuda, str):
            continue
        bound = numbers(toolkit.specifier.lstrip("=").rstrip(".*"))
        length = 1 if at_least(row.cuda, "11") else 2
        beside = pin.name == "onnxruntime-gpu" and scope.by_pip("torch")
        ended = toolkit.name == "cudatoolkit" and major(row.cuda) > 11
        if not beside and (ended or (bound and bound[:length] != numbers(row.cuda)[:length])):
            fix = f"write {toolkit.name}={major_minor(row.cuda)}"
            if ended:
                fix = f"cudatoolkit ended with 11.8: take the wheels, or an older {pin.name}"
            values = {"version": row.version, "cuda": row.cuda, "toolkit": toolkit.said}
            yield told("conda-pip-mix", pin, evidence_of(row, "cuda"), fix=fix, values=values)


def machine(scope: Scope) -> Iterator[Mistake]:
    """Builds by their label, other releases by their rows, and the image, on that machine."""
    target, stage = scope.target, scope.environment
    if target is None or not stage.runs or scope.named_otherwise:
        return
    for pin in scope.pins:
        label = re.fullmatch(r"cu(\d+)(\d)", pin.variant)
        if label and pin.name in ("torch", "torchvision", "torchaudio"):
            said, cuda = f"{pin.name} +{pin.variant}", f"{label[1]}.{label[2]}"
            yield from _driver(target, cuda, f"{said} is built for", pin.place)
        extra = next((one for one in pin.extras if one.startswith("cuda")), "")
        plugin = f"jax-{extra[:6]}-plugin" if pin.name in ("jax", "jaxlib") else ""
        judged = scope.from_index(pin) and is_gpu_build(pin) and (extra or not plugin)
        row = scope.taken(pin, plugin, target.platform) if judged else None
        if row is None or row.platform != target.platform:
            continue
        if isinstance(row.cuda, str):
            said = f"{newest_said(pin, row)} is built for"
            yield from _driver(target, row.cuda, said, pin.place)
        known = isinstance(row.sass, tuple) and isinstance(row.ptx, tuple) and row.sass
        for gpu in target.gpus if known else ():
            if archs.runs_on(row.sass, row.ptx, gpu.capability) == "no":
                ptx = f" and PTX for {', '.join(row.ptx)}" if row.ptx else ""
                values = {"said": newest_said(pin, row), "code": ", ".join(row.sass) + ptx}
                values |= {"gpu": gpu.name, "capability": gpu.capability, "name": row.name}
                yield told("gpu-no-code", pin, evidence_of(row, "sass"), values=values)
    if stage.image:
        yield from image_driver(target, stage.image)


def image_driver(target: Demand, written: Word) -> Iterator[Mistake]:
    """The CUDA of an image against the driver."""
    cuda = images.read(written.text).cuda
    if cuda:
        yield from _driver(target, cuda, f"image {written.text} holds", written.place)


def _driver(target: Demand, cuda: str, said: str, place: Place) -> Iterator[Mistake]:
    system, driver = "windows" if target.system == "windows" else "linux", target.driver_version
    known = drivers.floor(cuda, system) if driver else None
    if known is None:
        return
    enough = numbers(driver)[:1] >= numbers(known.driver)[:1]
    if "." in driver:
        enough = at_least(driver, known.driver)
    if not enough:
        most = drivers.cuda_of_driver(driver)
        values = {"said": f"{said} CUDA {cuda}", "needs": known.driver, "driver": driver}
        values["most"] = f", or use a build for CUDA {most} or older" if most else ""
        yield told("driver-too-old", place, known.source, values=values)
