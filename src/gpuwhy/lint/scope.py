"""Scope: one environment as rules see it: its pins, its image, and what says that a GPU is meant."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property

import msgspec
from packaging.specifiers import SpecifierSet

from gpuwhy.knowledge import asked, containers, releases
from gpuwhy.knowledge.flavours import flavour, library_wheel
from gpuwhy.knowledge.guests import is_guest
from gpuwhy.lint.folders import clones, folder_of, normal
from gpuwhy.lint.repository import Repository
from gpuwhy.lint.sheet import Command, Environment, Pin, Read, Workload, holds_only
from gpuwhy.lint.versions import LINUX, PYTHONS, allowed, allows, on_linux, parsed, releases_of, specifier
from gpuwhy.model.lint import Place
from gpuwhy.model.plan import Machine
from gpuwhy.model.release import Release
from gpuwhy.model.version import numbers

CONDA_CUDA = frozenset(
    {
        "cudatoolkit",
        "cudnn",
        "cuda-toolkit",
        "cuda-version",
        "cuda-runtime",
        "cuda-libraries",
        "pytorch-cuda",
        "cuda-nvcc",
    }
)
CONDA_GPU = CONDA_CUDA | {"pytorch-gpu", "tensorflow-gpu"}
TENSORFLOW = ("tensorflow", "tensorflow-gpu", "tf-nightly", "tf-nightly-gpu")
_GPU_ONLY = frozenset({"flash-attn", "vllm", "apex", "tensorrt", "nvidia-dali-cuda120", "nvidia-dali-cuda110"})
_NEIGHBOURS = (
    "requirements.txt", "base.txt", "common.txt", "core.txt", "main.txt", "default.txt", "runtime.txt",
    "constraints.txt", "requirements-base.txt", "requirements_base.txt", "requirements/base.txt", "pyproject.toml",
    "setup.py", "setup.cfg",
)  # fmt: skip
_SCRIPTS = ("install.sh", "Install.sh", "setup.sh", "install.bat", "Install.bat", "Dockerfile", "README.md")
_INTO_IMAGE = re.compile(
    r"pip[\d.]* install( \S+)*? ((-e )?\.(\[[^\]]*\])?( |$)|-r (\S*/)?pyproject\.toml)|^poetry install"
)
_INSTALLS_PROJECT = re.compile(
    r"pip[\d.]* install( \S+)*? (-e )?\.(\[[^\]]*\])?( |$)|poetry install|uv sync|pdm install"
)


_INDEX_IN_COMMENT = re.compile(r"^\s*#.*(?:index-url|find-links|pip.* -[if])[ =]+(http\S+)", re.MULTILINE)


_ABOVE = 14  # lines above a line whose comments may speak of it
_TAG = re.compile(r"cp([23])(\d+)")
_LISTS = ("requirements", "setup", "setup-config", "pyproject", "conda", "pipfile", "script")
"""Kinds of files that others install, and that rarely name their Python themselves."""


def _none(_: str) -> None:
    return None


class Scope:
    """One environment and the machine that was described."""

    def __init__(
        self,
        environment: Environment,
        machine: Machine | None,
        kind: str = "",
        read: Read = _none,
        repository: Repository | None = None,
    ) -> None:
        self.environment = environment
        self.machine = machine
        self.kind = kind  # of the file
        self.read = read
        self.repository = repository or Repository(environment.path, (), read)

    @cached_property
    def hinted(self) -> tuple[str, ...]:
        """The Pythons that wheels named by their file, or other files of the repository, leave; () = not known."""
        tags = {f"{tag[1]}.{tag[2]}" for pin in self.environment.pins if (tag := _TAG.fullmatch(pin.tag))}
        if tags:
            return tuple(tags)
        return self.repository.pythons if self.kind in _LISTS else ()

    def is_explained(self, place: Place, said: re.Pattern[str]) -> bool:
        """Whether a comment above a line, or in the command that it belongs to, says that it is so on purpose."""
        lines = (self.read(place.path) or "").split("\n")[max(0, place.line - _ABOVE) : place.line]
        comments = [line.partition("#")[2].strip() for line in lines if "#" in line]
        return bool(said.search(" ".join(comments)))

    def beside(self, name: str) -> bool:
        """Whether a file of packages beside a requirements file, which may be installed with it, names a package."""
        folder = posixpath.dirname(self.environment.path)
        if self.kind == "script":
            return self._is_made_before(folder, name)
        if self.kind != "requirements":
            return False
        above = posixpath.dirname(folder)
        paths = [posixpath.join(folder, one) for one in _NEIGHBOURS]
        paths += [posixpath.join(above, one) for one in _NEIGHBOURS] if folder not in ("", ".") else []
        texts = (self.read(path) for path in paths if path != self.environment.path)
        named = re.compile(r"(^|[\s\"'])" + re.escape(name) + r"\b", re.MULTILINE)
        return any(text is not None and named.search(text) for text in texts)

    def _is_made_before(self, folder: str, name: str) -> bool:
        """Whether an environment of conda's names a package, which a README says to make before a script is run."""
        readme = self.read(posixpath.join(folder, "README.md")) or ""
        script = posixpath.basename(self.environment.path)
        for one in ("environment.yml", "environment.yaml"):
            text = self.read(posixpath.join(folder, one)) if 0 <= readme.find(one) < readme.rfind(script) else None
            if text and re.search(rf"^\s*-\s*{re.escape(name)}\s*[=<~]", text, re.MULTILINE):
                return True
        return False

    def project_limits(self, name: str, *beyond: str) -> bool:
        """Whether the project that a Dockerfile installs keeps a package from all of some versions."""
        if self.kind != "dockerfile" or not any(
            re.search(r"install .*(^|\s)(-e\s+)?\.", c.text) for c in self._commands
        ):
            return False
        folder = posixpath.dirname(self.environment.path)
        for _ in range(3):
            text = self.read(posixpath.join(folder, "pyproject.toml")) or self.read(posixpath.join(folder, "setup.py"))
            found = re.search(rf"[\"']{re.escape(name)}\s*([<>=!~][^\"';]*)?[\"';]", text) if text else None
            if text:
                return bool(found and found[1]) and not any(allows(found[1].strip(), one) for one in beyond)  # type: ignore[index]
            folder = posixpath.dirname(folder)
        return False

    @cached_property
    def project(self) -> list[Pin]:
        """What the project beside a Dockerfile or a script asks for, as of the command that installs it."""
        for step, command in self._installing(_INSTALLS_PROJECT):
            if "--no-deps" not in command.words:
                line = command.lines[0] if command.lines else 0
                place = Place(self.environment.path, line)
                return [msgspec.structs.replace(p, step=step, place=place) for p in self._asked_by_project()]
        return []

    def _installing(self, pattern: re.Pattern[str]) -> Iterator[tuple[int, Command]]:
        """The commands that install the project itself, and no other one that was cloned, with their numbers."""
        own = re.search(r"^\s*name\s*=\s*[\"']([\w.-]+)", self._project_file, re.MULTILINE)
        cloned = clones(self._commands) - {normal(own[1]) if own else ""}
        for step, command in enumerate(self._commands, 1):
            if pattern.search(command.text) and normal(folder_of(self.environment, step)) not in cloned:
                yield step, command

    def is_bare(self, step: int) -> bool:
        """Whether a command installs what it names and nothing else."""
        return 0 < step <= len(self._commands) and "--no-deps" in self._commands[step - 1].words

    def asks(self, pin: Pin) -> Mapping[str, tuple[str, ...]]:
        """What the release of a pin brings along."""
        return {} if self.is_bare(pin.step) else asked.asks(pin.name, pin.version)

    @cached_property
    def project_unread(self) -> bool:
        """Whether a command installs a project whose demands cannot be read here: what it limits is not known."""
        installing = any("--no-deps" not in c.words for _, c in self._installing(_INSTALLS_PROJECT))
        return installing and self.kind in ("dockerfile", "script", "singularity") and not self._project_file

    @cached_property
    def _project_file(self) -> str:
        """The text of the file that says what the project asks for; '' where none is found."""
        folder = posixpath.dirname(self.environment.path)
        for _ in range(3):
            for name in ("pyproject.toml", "setup.py", "setup.cfg"):
                if text := self.read(posixpath.join(folder, name)):
                    return text
            folder = posixpath.dirname(folder)
        return ""

    @cached_property
    def requires_python(self) -> tuple[SpecifierSet, Place] | None:
        """The Pythons that the project takes which a command installs into this environment, and that command."""
        installing = (c for _, c in self._installing(_INTO_IMAGE) if "$" not in c.text)
        command = next(installing, None) if self.kind == "dockerfile" else None
        folder = posixpath.dirname(self.environment.path)
        for _ in range(3) if command else ():
            text = self.read(posixpath.join(folder, "pyproject.toml"))
            found = re.search(r"^requires-python\s*=\s*[\"']([^\"']+)", text, re.MULTILINE) if text else None
            if command and text:
                wanted = specifier(found[1]) if found else None
                return (wanted, Place(self.environment.path, command.lines[0])) if wanted else None
            folder = posixpath.dirname(folder)
        return None

    def _asked_by_project(self) -> list[Pin]:
        from gpuwhy.lint import pyproject, setup_file

        folder = posixpath.dirname(self.environment.path)
        for _ in range(3):
            for name, reader in (("pyproject.toml", pyproject.read), ("setup.py", setup_file.read)):
                text = self.read(posixpath.join(folder, name))
                made = reader(name, text).environments[:1] if text else []
                if made and made[0].pins:
                    return made[0].pins
            if folder in ("", ".", "/"):
                break
            folder = posixpath.dirname(folder)
        return []

    @cached_property
    def told_index(self) -> bool:
        """Whether a comment of a requirements file names an index of other packages that it is installed with."""
        text = self.read(self.environment.path) if self.kind == "requirements" else None
        named = _INDEX_IN_COMMENT.findall(text) if text else []
        return any(holds_only(url) not in ("torch", "mirror") for url in named)

    @cached_property
    def without_dependencies(self) -> bool:
        """Whether a script beside a requirements file, or above it, installs that with --no-deps."""
        folder, name = posixpath.split(self.environment.path)
        paths = (posixpath.join(f, s) for f in (folder, posixpath.dirname(folder)) for s in _SCRIPTS)
        wanted = re.compile(r"--no-deps[^\n]*" + re.escape(name))
        return any(wanted.search(self.read(path) or "") for path in paths)

    @property
    def _commands(self) -> list[Command]:
        return self.environment.commands

    @cached_property
    def named_gpu(self) -> bool:
        """Whether the file's name says that it is for a GPU."""
        return bool(re.search(r"(^|[^a-z])(gpu|cuda|cu1\d\d|nvidia)([^a-z]|$)", _basename(self.environment.path)))

    @cached_property
    def named_otherwise(self) -> bool:
        """Whether the file's name says that it is for something without an NVIDIA GPU: the CPU, a TPU, documents."""
        words = "cpu|tpu|(?:non?|without)[-_]?(?:cuda|gpu)|metal|mps|macos|mac|osx|rocm|amd|intel|docs?"
        words += "|readthedocs|rtd|ci|lint|dev|tests?"
        return bool(re.search(rf"(^|[^a-z])({words})([^a-z]|$)", _basename(self.environment.path)))

    @cached_property
    def has_gpu_twin(self) -> bool:
        """Whether a file beside this one has its name and `gpu` or `cuda`: then this one is for what has none."""
        stem, dot, ending = self.environment.path.rpartition(".")
        twins = (f"{stem}{joint}{word}{dot}{ending}" for joint in "-_." for word in ("gpu", "cuda"))
        listed = self.kind in ("requirements", "conda") and not self.named_gpu
        return listed and any(self.read(path) is not None for path in twins)

    @cached_property
    def base(self) -> containers.Base:
        """What the image brings."""
        image = self.environment.image
        return containers.read(image.text) if image else containers.Base("")

    @cached_property
    def over_unknown(self) -> bool:
        """Whether packages go into an image of which nobody here knows what it holds already."""
        image = self.environment.image
        foreign = image is not None and image.text != "scratch" and not self.base.family
        return foreign or self.environment.over_unknown

    @cached_property
    def pins(self) -> list[Pin]:
        """What pip or conda installs on Linux, limits left out."""
        return [pin for pin in self.environment.pins if not pin.limits and on_linux(pin)]

    @cached_property
    def names(self) -> dict[str, Pin]:
        """Installed packages by name, copied ones included."""
        found = {pin.name: pin for pin in self.environment.carried if not pin.limits}
        return found | {pin.name: pin for pin in self.pins}

    @cached_property
    def gpu_meant(self) -> str:
        """What says that a GPU is meant, apart from the frameworks themselves; '' where nothing does."""
        if self.environment.gpu:
            return self.environment.gpu
        if self.base.gpu:
            return f"the image {self.base.name} is made for a GPU"
        if self.machine and self.machine.system == "windows" and (self.machine.gpus or self.machine.driver):
            return "the machine described has one"
        visible = self.environment.variables.get("NVIDIA_VISIBLE_DEVICES")
        if visible and visible.value not in ("", "none", "void"):
            return f"NVIDIA_VISIBLE_DEVICES is set to {visible.value} on line {visible.place.line}"
        return next(filter(None, map(self._for_gpus, self.pins)), "")

    @property
    def for_windows(self) -> bool:
        """Whether the machine that was described is a Windows one: then what has no CUDA there is worth a warning."""
        return bool(self.machine and "windows" == self.machine.system == self.environment.system)

    def _for_gpus(self, pin: Pin) -> str:
        if (library_wheel(pin.name) and not self.environment.locked) or pin.name in _GPU_ONLY:
            return f"{pin.name} is for GPUs (line {pin.place.line})"
        if pin.origin == "conda" and pin.name in CONDA_GPU:
            return f"conda's {pin.name} is for GPUs (line {pin.place.line})"
        return ""

    @cached_property
    def for_gpus(self) -> bool:
        """Whether anything here speaks of the GPU stack: an image, a framework, a package that runs on one."""
        return bool(self.gpu_meant) or any(is_guest(p.name) or releases.family(p.name) for p in self.names.values())

    def gpu_framework(self, *but: str) -> str:
        """A framework with a CUDA build other than those named; '' where there is none."""
        return next((pin.name for pin in self.names.values() if pin.name not in but and is_gpu_build(pin)), "")

    def is_single(self, pin: Pin) -> bool:
        """Whether a lock has no other version of a package, for another installation."""
        return not self.environment.locked or self._counts[pin.name] == 1

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(pin.name for pin in self.environment.pins)

    def has_wheels(self, *starts: str) -> bool:
        """Whether NVIDIA's wheels with these beginnings are installed."""
        return any(name.startswith(starts) for name in self.names)

    def by_pip(self, name: str) -> Pin | None:
        """The first pin of that name that pip installs."""
        return next((pin for pin in self.pins if pin.name == name and pin.origin == "pip"), None)

    def taken(self, pin: Pin, name: str = "", platform: str = LINUX) -> Release | None:
        """The release that pip takes: the newest one allowed that has a wheel for the Python; None where not known."""
        found = allowed(name or pin.name, pin.specifier, platform) if not pin.reference else ()
        if found and found[-1].name == "tensorflow-gpu" and found[-1].platform == "source":
            return None  # the package that only fails: nothing else comes in its place
        fitting = self._fitting(found)
        held = self._held(name or pin.name, pin.step) if len(fitting) > 1 and not pin.variant else ()
        kept = [row for row in fitting if row.version in held]
        among = kept or fitting or (found if pin.version else ())
        return max(among, key=lambda row: _key(row.version), default=None)

    def _fitting(self, found: tuple[Release, ...]) -> list[Release]:
        """Those of some releases that a Python of the environment takes, all where none is known."""
        pythons = self.environment.pythons or self.hinted
        if pythons and not set(pythons) & set(PYTHONS):
            return [row for row in found if set(row.pythons) & set(pythons)]  # too old for wheels of any Python 3
        return [row for row in found if not pythons or any(releases.has_python(row, p) for p in pythons)]

    def _held(self, name: str, step: int) -> tuple[str, ...]:
        """The releases of a package that go with all others of its command, on the newest Pythons with a solution."""
        from gpuwhy.lint import solving

        return tuple(solving.taken(self, name, solving.pythons(self), step))[-2:] if self.is_resolved else ()

    @cached_property
    def is_resolved(self) -> bool:
        """Whether an installer chooses the releases, by names from the default index."""
        stage = self.environment
        return not stage.locked and not stage.forked and not stage.other_index and self.kind != "notebook"


def _basename(path: str) -> str:
    return path.rsplit("/", 1)[-1].lower()


def _key(version: str) -> tuple[bool, object]:
    found = parsed(version)
    return (found is not None, found)


def base_of(work: Workload) -> containers.Base:
    """What the image of something that is started brings."""
    return containers.read(work.image.text) if work.image else containers.Base("")


def is_pinned(pin: Pin) -> bool:
    """Whether a pin leaves no newer release to come."""
    return bool(pin.version) or "<" in pin.specifier or "~=" in pin.specifier or "*" in pin.specifier


def is_gpu_build(pin: Pin) -> bool:
    """Whether a pin is a framework's CUDA build on Linux."""
    if pin.name == "torch" or (pin.name == "pytorch" and pin.origin == "conda"):
        return pin.variant != "cpu" and "cpu" not in pin.build
    if pin.name in ("jax", "jaxlib"):
        return any(extra.startswith("cuda") for extra in pin.extras) or "cuda" in pin.local
    if pin.name in TENSORFLOW:
        return True
    found = flavour(pin.name)
    return (found is not None and found.cuda) or pin.name.startswith(("jax-cuda", "cupy-cuda")) or pin.name in _GPU_ONLY


def span(versions: tuple[str, ...]) -> str:
    """Pythons for a sentence: 3.7 to 3.10."""
    plain = sorted((v for v in versions if not v.endswith(("t", "+"))), key=numbers) or list(versions)
    if not plain:
        return "none"
    return plain[0] if len(plain) == 1 else f"{plain[0]} to {plain[-1]}"


def is_source_only(pin: Pin) -> bool:
    """Whether no allowed release has a wheel."""
    found = releases_of(pin)
    return bool(found) and all(row.platform == "source" for row in found)
