"""What the tables say of the versions that a question states: a verdict, and names for its row in
knowledge/versions.toml.
"""

import re
from collections.abc import Sequence
from functools import cache

import msgspec
from msgspec.structs import replace

from gpuwhy.ask.stated import TITLES, Stated
from gpuwhy.choose.demand import Card, Demand, System, Wanted
from gpuwhy.choose.fitting import with_cuda, with_cudnn
from gpuwhy.choose.hardware import knows, on_driver, on_hardware
from gpuwhy.choose.names import is_library, is_planned
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.knowledge import archs, cudnn_rules, drivers, installs, platforms, torch_builds
from gpuwhy.knowledge.releases import Release, family

PROJECTS = {
    "tensorflow": ("tensorflow", "tensorflow-gpu"),
    "torch": ("torch",),
    "jax": ("jax-cuda12-plugin", "jaxlib"),
    "onnxruntime": ("onnxruntime-gpu",),
    "cupy": ("cupy-cuda12x", "cupy-cuda11x"),
}
SYSTEMS = {"linux": "Linux", "windows": "Windows", "macos": "macOS", "wsl": "WSL 2"}
Names = dict[str, str]


class Build(msgspec.Struct, frozen=True):
    """A release with CUDA on one system."""

    framework: str
    row: Release
    version: str  # 2.3.4
    cuda: str
    cudnn: str  # "" where nobody read it

    @property
    def title(self) -> str:
        """TensorFlow 2.3."""
        return f"{TITLES[self.framework]} {major_minor(self.version)}"

    def runs_on(self, capability: str) -> bool | None:
        """Whether it has code for a GPU, and its CUDA libraries too; None where nobody read it."""
        if not isinstance(self.row.sass, tuple):
            return None
        alone = on_hardware(self.row, Demand((), gpus=(Card("", capability),)))
        return knows(str(numbers(self.cuda)[0]), capability) and not alone.kind

    def takes_cuda(self, cuda: str) -> bool:
        """Up to CUDA 10 the very release; from 11 on a later minor of the same major serves too."""
        return with_cuda(self.row, cuda).fits == "yes"

    def takes_cudnns(self, stated: Stated) -> bool:
        """Whether every stated cuDNN serves."""
        return not any(with_cudnn(self.row, one).kind for one in stated.cudnns)


@cache
def builds(framework: str, os: str = "") -> tuple[Build, ...]:
    """Every final release with CUDA on a system, oldest first."""
    platform = "windows-x86_64" if os == "windows" else "linux-x86_64"
    found: dict[str, Build] = {}
    for known in filter(None, map(family, PROJECTS.get(framework, ()))):
        for row in known.rows:
            final = re.fullmatch(r"[\d.]+", row.version) and not row.yanked
            if row.platform == platform and final and isinstance(row.cuda, str):
                cudnn = row.cudnn if isinstance(row.cudnn, str) else ""
                found.setdefault(row.version, Build(framework, row, row.version, row.cuda, cudnn))
    rows = sorted(found.values(), key=lambda one: numbers(one.version))
    return tuple(rows) or (builds(framework) if os == "windows" else ())


def build(framework: str, version: str, os: str = "") -> Build | None:
    """The newest release of a version as people write it ("2.3"); without one the newest."""
    wanted = numbers(version)
    kept = [b for b in builds(framework, os) if numbers(b.version)[: len(wanted)] == wanted]
    return kept[-1] if kept else None


def verdict(stated: Stated, required: bool) -> str:
    """The kind of answer, as knowledge/versions.toml names it; "" where too little is stated.
    `required`: the question is which versions are needed, and not whether these fit.
    """
    if stated.framework and stated.version:
        return _of_release(stated, required)
    if stated.framework and (stated.capability or stated.cuda):
        own = "torch_releases" if stated.framework == "torch" and stated.cuda else "releases"
        return own if _for_machine(stated) else "no_release"
    if stated.framework and required:
        return "newest"
    if stated.driver and stated.cuda:
        return "driver_enough" if _serves(stated, stated.cuda) else "driver_old"
    if stated.capability and stated.cuda:
        first, last = archs.first_toolkit(stated.capability), archs.last_toolkit(stated.capability)
        if numbers(stated.cuda)[:1] < numbers(first or "0")[:1]:
            return "cuda_too_old"
        late = last and numbers(stated.cuda)[:2] > numbers(last)[:2]
        return "cuda_too_new" if late else "cuda_right"
    if stated.cuda and stated.cudnn:
        fits = cudnn_rules.has_minor(numbers(stated.cudnn)[0], _minor(stated.cuda))
        return "cudnn_fits" if fits else "cudnn_wrong"
    parts = {"gpu": stated.capability, "cuda": stated.cuda, "driver": stated.driver}
    return next((kind for kind, value in parts.items() if value), "cudnn" if stated.cudnn else "")


def _of_release(stated: Stated, required: bool) -> str:
    found = build(stated.framework, stated.version, stated.os)
    gone = platforms.dropped(stated.framework, stated.version, stated.os, "", "")
    if gone and stated.os:
        return "dropped"
    if found is None:
        return "unknown_release"
    if stated.capability and found.runs_on(stated.capability) is False:
        later = [b for b in _for_machine(stated) if numbers(b.version) > numbers(found.version)]
        return "gpu_newer" if later else "gpu_older"
    if stated.cuda and not any(map(found.takes_cuda, stated.cudas)):
        return "other_cuda"
    if not found.takes_cudnns(stated):
        return "other_cudnn"
    if stated.driver and not _serves(stated, found.cuda):
        return "release_driver"
    if stated.python and _pythons(found) and stated.python not in found.row.pythons:
        return "release_python"
    beside = stated.cuda or stated.cudnn or stated.capability or stated.driver or stated.python
    if beside and not required:
        return "gpu_fits" if stated.capability else "fits"
    return "brings" if installs.brings_libraries(found.framework, found.version) else "release"


def _serves(stated: Stated, cuda: str) -> bool:
    """Whether the stated driver runs what is built for a CUDA."""
    system: System = "windows" if stated.os in ("windows", "wsl") else "linux"
    return not on_driver(cuda, Demand((), system, driver_version=stated.driver)).kind


def _minor(cuda: str) -> str:
    return cuda if "." in cuda else f"{cuda}.0"


def _for_machine(stated: Stated) -> list[Build]:
    """The releases that run on the stated card, and take the stated CUDA and cuDNN."""
    rows = builds(stated.framework, stated.os)
    if stated.capability:
        return [one for one in rows if one.runs_on(stated.capability)]
    exact = [b for b in rows if all(map(b.takes_cuda, stated.cudas))]
    return [b for b in exact if b.cudnn and b.takes_cudnns(stated)] or exact


def names(stated: Stated, release: str = "", newest: bool = False) -> Names:
    """What a sentence may name of a question: what it states, and what its release needs.
    `release` is the one that is named where the question names none; else the newest, if wanted.
    """
    framework, version = stated.framework, stated.version
    if release and not (framework and version):
        framework, version = release.split(" ", 1)
    rows = _for_machine(stated) if stated.framework else []
    last = rows[-1] if rows and newest else None
    found = build(framework, version, stated.os) if version else last
    gone = platforms.dropped(stated.framework, version, stated.os, "", "")
    out = {
        **_of_stated(stated),
        **(_of_build(found, stated) if found else {}),
        **(_of_card(stated, found, rows) if stated.capability else {}),
        "framework": TITLES.get(stated.framework, ""),
        "known_releases": _span_of(builds(stated.framework, stated.os)),
        "fitting_releases": _span_of(rows),
        "dropped": gone.text if gone else "",
        "instead": gone.instead if gone else "",
        "plan": _plan(stated, found),
    }
    return {name: value for name, value in out.items() if value or name in MAY_BE_EMPTY}


MAY_BE_EMPTY = ("on_system", "and_cudnn", "not_this")
"""Parts of a sentence that may be left out."""


def of_package(stated: Stated, words: str) -> tuple[str, Names]:
    """Whether a package that needs a framework runs on the stated card: flash-attn 2 on a T4."""
    from gpuwhy.choose.chooser import choose  # only here: it takes time to import

    system: System = "windows" if stated.os == "windows" else "linux"
    card = Card(stated.gpu or "the GPU", stated.capability)
    for name, version in re.findall(r"\b([a-z][\w-]{3,})(?:[ =]+v?(\d[\d.]*))?", words):
        if not is_planned(name) or is_library(name):
            continue
        wanted = Wanted(name, f"=={version.rstrip('.')}.*" if version else "")
        demand = Demand((wanted,), system, "x86_64", stated.python, driver_version=stated.driver)
        choice = choose(replace(demand, gpus=(card,)))
        pick, near = choice.pick(name), choice.nearest
        command = (
            f'gpuwhy plan "{name}{wanted.specifier}" --gpu "{stated.gpu or stated.capability}"'
        )
        told = {"chosen": f"{pick.package} {pick.version}" if pick else "", "why": choice.why_not}
        told |= {"change": near.text if near else "", "package_plan": command}
        kind = "package_runs" if pick else "package_fails" if choice.why_not else ""
        return kind, {name: value for name, value in told.items() if value}
    return "", {}


def _of_stated(stated: Stated) -> Names:
    """What it states, and what NVIDIA's tables say of that."""
    minor = _minor(stated.cuda)
    majors = [str(one) for one in cudnn_rules.table().cuda if cudnn_rules.has_minor(one, minor)]
    low, high = cudnn_rules.cuda_range((numbers(stated.cudnn) or (0,))[0]) or ((), ())
    rows = (("CUDA", stated.cuda), ("cuDNN", " and ".join(stated.cudnns)))
    more = (("driver", stated.driver), ("Python", stated.python))
    return {
        "version": stated.version,
        "on_system": f" on {SYSTEMS[stated.os]}" if stated.os else "",
        "stated": ", ".join(f"{name} {value}" for name, value in (*rows, *more) if value),
        "stated_cuda": stated.cuda,
        "stated_driver": stated.driver,
        "stated_python": stated.python,
        "stated_cudnn": stated.cudnn,
        "cudnn_number": stated.cudnn.split(".")[0],
        "cudnn_cudas": f"{'.'.join(map(str, low))} to {'.'.join(map(str, high))}" if low else "",
        "cuda_driver": driver(stated.cuda, stated.os) if stated.cuda else "",
        "cuda_cudnn": " or ".join(majors),
        "driver_cuda": (drivers.cuda_of_driver(stated.driver) or "") if stated.driver else "",
    }


def _of_build(found: Build, stated: Stated) -> Names:
    """What a release needs, and its files."""
    other = build(found.framework, found.version, "windows") if not stated.os else None
    exact = f"cuDNN {found.cudnn}; a later {found.cudnn.split('.')[0]}.x works too"
    if other and other.cudnn != found.cudnn:
        exact = f"cuDNN {found.cudnn} on Linux, {other.cudnn} on Windows"
    wrong = [one for one in stated.cudas if not found.takes_cuda(one)]
    opens = found.row.opens if isinstance(found.row.opens, tuple) else ()
    cudart, cudnn = (
        next((file for file in opens if file.removeprefix("lib").startswith(name)), "")
        for name in ("cudart", "cudnn")
    )
    yours = "yours fit" if not wrong and found.takes_cudnns(stated) else "yours do not fit"
    torch = found.framework == "torch"
    return {
        "release": found.title,
        "cuda": major_minor(found.cuda),
        "other_cudas": torch_builds.other_cudas(found.version, found.cuda) if torch else "",
        "cudnn": major_minor(found.cudnn),
        "and_cudnn": f" and cuDNN {major_minor(found.cudnn)}" if found.cudnn else "",
        "cudnn_major": found.cudnn.split(".")[0],
        "built_cudnn": found.cudnn,
        "exactly": exact if found.cudnn.count(".") == 2 else "",
        "not_this": f", not CUDA {wrong[0]}" if wrong and len(stated.cudas) > 1 else "",
        "cuda_library": cudart,
        "cudnn_library": cudnn,
        "libraries": " and ".join(filter(None, (cudart, cudnn))),
        "driver": driver(found.cuda, stated.os),
        "pythons": _span(_pythons(found)),
        "package": found.row.name if found.row.name == "tensorflow-gpu" else "",
        "yours": yours if stated.cudas or stated.cudnns else "",
    }


def _of_card(stated: Stated, found: Build | None, rows: list[Build]) -> Names:
    """What a card needs, and the releases nearest to the stated one that run on it."""
    sm = f"sm_{stated.capability.replace('.', '')}"
    card = f"the {stated.gpu} ({sm})" if stated.gpu else f"a GPU of compute capability {sm}"
    first, last = archs.first_toolkit(stated.capability), archs.last_toolkit(stated.capability)
    branch = archs.first_driver_branch(stated.capability, stated.os)
    later = [b for b in rows if found and numbers(b.version) > numbers(found.version)] or rows
    early = bool(later) and numbers(later[0].cuda) < numbers(first or "0")
    cudas = _span(list(dict.fromkeys(one.cuda for one in later)))
    out = {
        "gpu": card,
        "Gpu": card[:1].upper() + card[1:],
        "gpu_cuda": f"{first}{f' to {last}' if last else ' or newer'}" if first else "",
        "newer_cuda": str(numbers(first or "0")[0]) if early else first or "",
        "last_cuda": last or "",
        "gpu_driver": f"{branch} or newer" if branch else "",
        "nearest": f"{TITLES[stated.framework]} {_span_of(later)} (CUDA {cudas})" if later else "",
    }
    for name in ("tensorflow", "torch", "jax"):
        runs = [b for b in builds(name, stated.os) if b.runs_on(stated.capability)]
        out[f"{name}_releases"] = _span_of(runs)
    return out


def driver(cuda: str, os: str) -> str:
    """The oldest driver for a CUDA on a system; on both where none is named."""
    linux, windows = (drivers.floor(cuda, one) for one in ("linux", "windows"))
    if os in ("windows", "wsl") and windows:
        return f"{windows.driver} or newer"
    if os or not windows or not linux:
        return f"{linux.driver} or newer" if linux else ""
    return f"{linux.driver} or newer on Linux, {windows.driver} on Windows"


def _pythons(found: Build) -> list[str]:
    """Those with a wheel of their own."""
    return [one for one in found.row.pythons if re.fullmatch(r"\d\.\d+", one)]


def _span(values: list[str]) -> str:
    """3.5 to 3.8."""
    return f"{values[0]} to {values[-1]}" if len(values) > 1 else "".join(values)


def _span_of(rows: Sequence[Build]) -> str:
    return _span(list(dict.fromkeys(major_minor(one.version) for one in rows)))


def _plan(stated: Stated, found: Build | None) -> str:
    """The command that makes a plan of it, or of another release that runs on the card."""
    gpu = f' --gpu "{stated.gpu}"' if stated.gpu else ""
    if not stated.framework:
        return f"gpuwhy plan torch{gpu}" if gpu else ""
    wish = "onnxruntime-gpu" if stated.framework == "onnxruntime" else stated.framework
    if found and stated.version and (not stated.capability or found.runs_on(stated.capability)):
        wish = f'"{wish}=={major_minor(found.version)}.*"'
    return f"gpuwhy plan {wish}{' --os windows' if stated.os == 'windows' else ''}{gpu}"
