"""One environment as rules see it: its packages, its image, and what says that a GPU is meant."""

import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import msgspec
from packaging.version import Version

from gpuwhy.choose.demand import Demand
from gpuwhy.facts.fact import Source
from gpuwhy.knowledge import asked, images, releases
from gpuwhy.knowledge.guests import is_guest
from gpuwhy.knowledge.packages import flavour, library_wheel
from gpuwhy.lint.mistakes import Edit, Mistake, Place, Severity
from gpuwhy.lint.repository import Repository
from gpuwhy.lint.rules import pattern, read, table
from gpuwhy.lint.sheet import Environment, Pin, Read, holds_only
from gpuwhy.lint.solve import solve
from gpuwhy.lint.versions import LINUX, PYTHONS, Release, allowed, parsed

TENSORFLOW = ("tensorflow", "tensorflow-gpu", "tf-nightly", "tf-nightly-gpu")
ONE_BY_ONE = ("dockerfile", "script", "cog")
"""Kinds of files whose commands install one after the other."""
_CONDA_GPU = table("scope.conda_gpu")
_GPU_ONLY = table("scope.gpu_only")
_STACK = pattern("scope.stack")
_OTHERWISE = pattern("scope.otherwise")
_FOR_GPUS = re.compile(r"(^|[^a-z])(gpu|cuda|cu1\d\d|nvidia)([^a-z]|$)")
_LISTS = ("requirements", "pyproject", "conda", "script")
"""Kinds of files that others install, and that rarely name their Python themselves."""
_ANY = tuple(p for p in PYTHONS if p not in ("3.6", "3.15"))


@dataclass
class Scope:
    """One environment and the machine that was described."""

    environment: Environment
    target: Demand | None
    kind: str  # of the file
    read: Read
    repository: Repository

    def at(self, line: int) -> Place:
        """A line of the file itself."""
        return Place(self.environment.path, line)

    # ---------------------------------------------------------------- packages

    @cached_property
    def pins(self) -> list[Pin]:
        """What pip or conda installs, limits left out."""
        return [pin for pin in self.environment.pins if not pin.limits]

    @cached_property
    def names(self) -> dict[str, Pin]:
        """Installed packages by name."""
        return {pin.name: pin for pin in self.pins}

    def by_pip(self, *names: str) -> Pin | None:
        """The first pin of these names that pip installs."""
        return next((p for p in self.pins if p.name in names and p.origin == "pip"), None)

    def by_conda(self, *names: str) -> Pin | None:
        """The first pin of these names that conda installs."""
        return next((p for p in self.pins if p.name in names and p.origin == "conda"), None)

    def has_wheels(self, *starts: str) -> bool:
        """Whether NVIDIA's wheels with these beginnings are installed."""
        return any(name.startswith(starts) for name in self.names)

    def from_index(self, pin: Pin) -> bool:
        """Whether a pin is taken from the default index."""
        return pin.by_name and not pin.variant and not self.environment.other_index

    def is_elsewhere(self, pin: Pin) -> bool:
        """Whether another index, a page of files or the image may have a package."""
        if any(holds_only(index.url) not in ("torch", "mirror") for index in pin.indexes):
            return True
        if self.environment.other_index or self.base.family in ("ngc", "jetson"):
            return True
        return self.repository.other_index

    # ---------------------------------------------------------------- releases

    @cached_property
    def hinted(self) -> tuple[str, ...]:
        """The Pythons that the file asks for, or other files of the repository name."""
        known = self.environment.pythons
        return known or (self.repository.pythons if self.kind in _LISTS else ())

    @cached_property
    def pythons(self) -> tuple[str, ...]:
        """The Pythons that the environment may have."""
        return tuple(p for p in PYTHONS if p in self.hinted) if self.hinted else _ANY

    def taken(self, pin: Pin, name: str = "", platform: str = LINUX) -> Release | None:
        """The release that pip takes: the newest allowed with a wheel; None where not known."""
        found = allowed(name or pin.name, pin.specifier, platform) if not pin.reference else ()
        if found and found[-1].name == "tensorflow-gpu" and found[-1].platform == "source":
            return None  # the package that only fails: nothing else comes in its place
        fitting = [row for row in found if self._suits(row)]
        resolved = not self.environment.other_index and self.kind != "notebook"
        if len(fitting) > 1 and not pin.variant and resolved:
            held = set(self.solved(name or pin.name, pin.step))
            fitting = [row for row in fitting if row.version in held] or fitting
        among = fitting or (found if pin.version else ())
        return max(among, key=lambda row: parsed(row.version) or Version("0"), default=None)

    def _suits(self, row: Release) -> bool:
        if self.hinted and not set(self.hinted) & set(PYTHONS):
            return bool(set(row.pythons) & set(self.hinted))  # too old for wheels of any Python 3
        return not self.hinted or any(releases.has_python(row, one) for one in self.hinted)

    def together(self, step: int) -> list[Pin]:
        """What pip installs at once with a command's packages."""
        pins = (pin for pin in self.environment.pins if pin.origin == "pip")
        return [pin for pin in pins if pin.step == step or pin.limits]

    def solved(self, name: str, step: int = 0) -> Iterator[str]:
        """The releases of a package that pip takes with the rest of a command, on each Python."""
        for python in self.pythons if not self.is_bare(step) else ():
            found = solve(self.together(step), python)
            if not found.clash and name in found.releases:
                yield found.releases[name]

    def is_bare(self, step: int) -> bool:
        """Whether a command installs what it names and nothing else."""
        return "--no-deps" in self.environment.words_of(step)

    def asks(self, pin: Pin) -> dict[str, tuple[str, ...]]:
        """What the release of a pin brings along."""
        return {} if self.is_bare(pin.step) else asked.asks(pin.name, pin.version)

    # ---------------------------------------------------------------- what is meant

    @cached_property
    def base(self) -> images.Base:
        """What the image brings."""
        image = self.environment.image
        return images.read(image.text) if image else images.Base("")

    @property
    def over_unknown(self) -> bool:
        """Whether packages go into an image of which nobody here knows what it holds."""
        image = self.environment.image
        return image is not None and image.text != "scratch" and not self.base.family

    @cached_property
    def named_gpu(self) -> bool:
        """Whether the file's name says that it is for a GPU."""
        return bool(_FOR_GPUS.search(posixpath.basename(self.environment.path).lower()))

    @cached_property
    def named_otherwise(self) -> bool:
        """Whether the file's name says that it is for something without an NVIDIA GPU."""
        name = posixpath.basename(self.environment.path).lower()
        return bool(_OTHERWISE.search(name)) and not self.named_gpu

    @cached_property
    def gpu_meant(self) -> str:
        """What says that a GPU is meant, apart from the frameworks themselves; "" otherwise."""
        if self.environment.gpu:
            return self.environment.gpu
        if self.base.gpu:
            return f"the image {self.base.name} is made for a GPU"
        if self.target and self.target.system == "windows" and self.target.gpus:
            return "the machine described has one"
        seen = self.environment.variables.get("NVIDIA_VISIBLE_DEVICES")
        if seen and seen.text not in ("", "none", "void"):
            return f"NVIDIA_VISIBLE_DEVICES is set to {seen.text} on line {seen.place.line}"
        for pin in self.pins:
            owner = "conda's " if pin.origin == "conda" and pin.name in _CONDA_GPU else ""
            if owner or library_wheel(pin.name) or pin.name in _GPU_ONLY:
                return f"{owner}{pin.name} is for GPUs (line {pin.place.line})"
        return ""

    @property
    def meant(self) -> str:
        """What says that a GPU is meant, the file's name included; "" where it says otherwise."""
        named = "the file's name says GPU" if self.named_gpu else ""
        return "" if self.named_otherwise else self.gpu_meant or named

    @property
    def for_gpus(self) -> bool:
        """Whether anything here speaks of the GPU stack."""
        return bool(self.gpu_meant) or any(map(is_of_gpus, self.names))


def is_of_gpus(name: str) -> bool:
    """Whether a package is a framework, or runs on one."""
    return bool(_STACK.match(name)) or is_guest(name) or releases.family(name) is not None


def is_gpu_build(pin: Pin) -> bool:
    """Whether a pin is a framework's CUDA build on Linux."""
    if pin.name == "torch" or (pin.name == "pytorch" and pin.origin == "conda"):
        return pin.variant != "cpu" and "cpu" not in pin.build
    if pin.name in ("jax", "jaxlib"):
        return any(extra.startswith("cuda") for extra in pin.extras) or "cuda" in pin.local
    if pin.name in TENSORFLOW or pin.name in _GPU_ONLY:
        return True
    found = flavour(pin.name)
    return bool(found and found.cuda) or pin.name.startswith(("jax-cuda", "cupy-cuda"))


def newest_said(pin: Pin, row: Release) -> str:
    """torch 2.6.0; torch 2.9.1 (the newest)."""
    return f"{pin.name} {row.version}" + ("" if pin.is_pinned else " (the newest)")


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a check says: {names} in it are filled by the check."""

    text: str
    fix: str = ""
    severity: Severity = "error"
    where: str = ""
    detail: str = ""


def told(
    case: str,
    at: Pin | Place,
    source: Source | None = None,
    *,
    fix: str = "",
    severity: str = "",
    edit: Edit | None = None,
    values: Mapping[str, object] | None = None,
    **more: object,
) -> Mistake:
    """A mistake by its message, RULE or RULE.CASE; what is given here goes before the row's."""
    row = msgspec.convert(read("messages.toml")[case], Message)
    words: dict[str, object] = {}
    if isinstance(at, Pin):
        words = {"name": at.name, "version": at.version, "bound": at.specifier, "said": at.said}
    place = at.place if isinstance(at, Pin) else at
    words |= {"line": place.line, **(values or {}), **more}
    return Mistake(
        case.partition(".")[0],
        "error" if (severity or row.severity) == "error" else "warning",
        place,
        row.text.format(**words),
        source or Source("know", row.where, row.detail),
        fix or row.fix.format(**words),
        edit,
    )
