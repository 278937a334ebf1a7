"""Sheet: what a file says, whatever its kind: environments with their pins, and jobs with their GPU requests."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

import msgspec

from gpuwhy.model.lint import Place, Problem

Origin = Literal["pip", "conda"]
Role = Literal["only", "extra", "first", "links"]
"""What a named index is to the default one: instead of it, beside it, before it (uv), a page of files."""
Read = Callable[[str], str | None]
"""The text of another file that a file names; None where there is none."""

_EXACT = re.compile(r"\s*===?\s*([^\s,*]+)\s*")


class Index(msgspec.Struct, frozen=True):
    """An index or a page of links that an installation is told to look at."""

    url: str
    role: Role
    place: Place

    @property
    def backend(self) -> str:
        """The build that PyTorch's index stands for: cu121; '' for others."""
        return backend_of(self.url)


class Pin(msgspec.Struct, frozen=True):
    """One package that a file asks for."""

    name: str  # normalised: flash-attn
    place: Place
    specifier: str = ""  # ">=2.4,<3"; "" = any
    extras: tuple[str, ...] = ()
    marker: str = ""
    origin: Origin = "pip"
    backend: str = ""  # cpu, cu121, rocm6.1: the index that its build comes from; "" = the default one
    build: str = ""  # conda's build string
    limits: bool = False  # a constraint: limits, does not install
    optional: bool = False  # of a lock file, and only some installations take it
    reference: bool = False  # a URL or a path: not from an index
    indexes: tuple[Index, ...] = ()  # beside or instead of the default one
    arms: tuple[tuple[int, int], ...] = ()  # branches of a script that it stands in: (which if, which arm)
    step: int = 0  # which command installs it, counted from 1; 0 = all at once
    tag: str = ""  # of a named wheel: cp310
    channel: str = ""  # of conda, where it is named: pytorch::pytorch
    path: str = ""  # of a reference to a file: file:///croot/…

    @property
    def version(self) -> str:
        """The one version that it allows, local part included; '' for a range."""
        found = _EXACT.fullmatch(self.specifier)
        return found[1] if found else ""

    @property
    def local(self) -> str:
        """The local part of that version: cu121, cpu."""
        return self.version.partition("+")[2]

    @property
    def variant(self) -> str:
        """The build that is asked for: cpu, cu121, rocm6.1; '' = the default one."""
        return self.local or self.backend

    @property
    def by_name(self) -> bool:
        """Whether pip takes it from an index by its name."""
        return self.origin == "pip" and not self.reference

    @property
    def installed(self) -> bool:
        """Whether pip installs it so: no mere limit."""
        return self.by_name and not self.limits


class Image(msgspec.Struct, frozen=True):
    """A container image, as it is written."""

    text: str
    place: Place


class Variable(msgspec.Struct, frozen=True):
    """An environment variable that the container will have."""

    name: str
    value: str
    place: Place


class Command(msgspec.Struct, frozen=True):
    """One command of a RUN line: its words, what is set before it, and how it is joined to the next one."""

    words: tuple[str, ...]
    lines: tuple[int, ...]  # of each word
    assigned: tuple[tuple[str, str], ...] = ()
    then: str = ""  # && || ; |
    arms: tuple[tuple[int, int], ...] = ()  # the branches that it stands in: (which if, which arm)
    set_on: int = 0  # the line of the first thing that is set
    redirected: tuple[tuple[str, int], ...] = ()  # name>=1.2 without quotes, with its line
    by_sudo: bool = False  # sudo stands before it

    @property
    def text(self) -> str:
        """The words with single spaces."""
        return " ".join(self.words)


class Call(msgspec.Struct, frozen=True):
    """One call of a CMake file, and the conditions that it stands under."""

    name: str  # lower case
    words: tuple[str, ...]
    line: int
    under: tuple[str, ...] = ()


class Handed(msgspec.Struct, frozen=True):
    """What an image's entry point is given: the words behind it."""

    text: str
    place: Place


class Include(msgspec.Struct, frozen=True):
    """Another file that a file takes in."""

    path: str
    place: Place
    limits: bool = False
    backend: str = ""
    must: bool = True  # its absence is worth a note
    indexes: tuple[Index, ...] = ()
    arms: tuple[tuple[int, int], ...] = ()
    step: int = 0


class Environment(msgspec.Struct):
    """One set of packages that ends up together: a requirements file, an extra, a stage of a Dockerfile."""

    path: str
    pins: list[Pin] = []
    carried: list[Pin] = []  # installed in another stage and copied
    includes: list[Include] = []
    carried_includes: list[Include] = []
    pythons: tuple[str, ...] = ()  # those it may run on; () = not known
    python_from: str = ""  # image python:3.12-slim
    python_line: int = 0  # where the file says so
    system: str = ""  # linux, windows, darwin; "" = any
    machine: str = ""
    image: Image | None = None
    variables: dict[str, Variable] = {}
    arguments: dict[str, Variable] = {}  # of a build, with their defaults
    calls: list[Call] = []  # of a CMake file
    extra: str = ""  # of a project: the optional part that brings torch here
    part: str = ""  # of a project: the extra or group that this is with
    runner: Variable | None = None  # of a workflow's job: the machine that runs it
    commands: list[Command] = []
    apt: dict[str, int] = {}  # package → line
    apt_pinned: dict[str, str] = {}  # those of them that name a version → that version
    lost: list[Variable] = []  # exported by the last command of a RUN
    discarded: list[Image] = []  # of stages before it that have no name and of which nothing is taken
    runs: bool = True  # not just a stage that builds
    other_index: bool = False  # packages may come from an index that nobody here has read
    outdone: list[tuple[Index, Index]] = []  # --index-url, and the later one that counts
    overridden: frozenset[str] = frozenset()  # [tool.uv] override-dependencies: nobody's bounds of these count
    locked: bool = False  # every version was chosen by a resolver
    forked: bool = False  # a lock for several installations: no two packages need to meet
    gpu: str = ""  # what says that a GPU is meant, where the file says it outright
    on: tuple[str, ...] = ()  # the GPUs that the file asks for by name: H100
    copied: dict[str, str] = {}  # file in the image → file in the build's folder
    channels: list[str] = []  # of conda, the first one first
    conda_files: list[Include] = []  # environments of conda that it makes
    refused: list[Problem] = []  # requirements that no installer takes: a local version with >=
    misplaced: list[Problem] = []  # options on a requirement's line, which pip does not read there
    includes_unknown: bool = False  # a file that it takes in cannot be read
    handed: Handed | None = None  # CMD, where no ENTRYPOINT is written
    starts: list[Command] = []  # ENTRYPOINT and CMD, as commands
    shell: str = ""  # of a Dockerfile: what SHELL says
    folders: list[tuple[int, str]] = []  # how many commands ran before WORKDIR names a folder, and which
    users: list[tuple[int, str]] = []  # how many commands ran before USER names somebody, and whom
    actions: list[Variable] = []  # of a workflow's job: actions with their versions
    copies: bool = False  # takes files of another stage or image
    copies_programs: bool = False  # and they may be programs of the system
    health: list[Command] = []  # HEALTHCHECK, as commands
    sources: list[tuple[str, int]] = []  # what COPY takes from the build's folder, with its line
    taken: list[Taken] = []  # what COPY takes from stages of the same file
    through: dict[str, Place] = {}  # file that it takes in → the line that does so
    no_gpu: int = 0  # the line that says that there is none: `gpu: false` of cog.yaml
    told_elsewhere: bool = False  # a file beside this one names PyTorch's index
    in_image: bool = False  # a Dockerfile installs it, whose image has the Python
    over_unknown: bool = False  # a Dockerfile installs it over an image of which nobody here knows what it holds
    made_elsewhere: bool = False  # another file names the image that it starts from

    def named(self, *names: str) -> list[Pin]:
        """The pins of some packages that are installed, copied ones included."""
        return [pin for pin in (*self.pins, *self.carried) if pin.name in names and not pin.limits]


class Taken(msgspec.Struct):
    """What a stage copies from another one: that stage, the paths as they are written, the line."""

    origin: Environment
    words: tuple[str, ...]
    line: int


class Workload(msgspec.Struct):
    """A container that somebody starts: a service, a container of a pod, a development container."""

    kind: Literal["compose", "kubernetes", "devcontainer", "script", "sagemaker", "slurm", "workflow"]
    name: str
    place: Place
    image: Image | None = None
    built: str = ""  # the Dockerfile it is built from
    arguments: dict[str, str] = {}  # of that build
    target: str = ""  # the stage that is built
    built_on: str = ""  # the image that this stage starts from
    built_sets: tuple[str, ...] = ()  # the variables that this stage sets
    variables: dict[str, Variable] = {}
    request: Place | None = None  # where GPUs are asked for
    asking: str = ""  # the options that ask for them
    partial: bool = False  # completed elsewhere (an override, extends, a patch): what is missing is not missed
    exempt: bool = False  # sees the devices another way: privileged, a daemon set
    runtime_class: bool = False
    only_runtime: bool = False  # of compose: `runtime: nvidia` is all that asks for a GPU
    shared_memory: bool = False
    command: str = ""
    handed: Handed | None = None  # what its image's own entry point gets
    stays: bool = False  # what starts it again when it ends: a Deployment, restart: always
    terminal: bool = False  # a shell in it would wait for somebody
    left_out: Place | None = None  # a GPU's limit that is commented out
    limit: tuple[str, Place] | None = None  # nvidia.com/gpu
    asked: tuple[str, Place] | None = None  # the same under requests
    wrong_request: list[Problem] = []
    device_parts: tuple[str, Place] | None = None  # what of the driver a device reservation names beside gpu


class Sheet(msgspec.Struct):
    """A file as it was understood."""

    path: str
    kind: str
    environments: list[Environment] = []
    workloads: list[Workload] = []
    problems: list[Problem] = []
    notes: list[Problem] = []


def backend_of(url: str) -> str:
    """The build that an index address stands for: …/whl/cu121 → cu121; '' for others."""
    found = re.search(r"/whl/(?:(?:nightly|test|lts/[\d.]+)/)?(cpu|cu\d{2,3}|rocm[\d.]+|xpu)(?:/|_|$|\?)", url.strip())
    return found[1] if found else ""


_FAMILIES = (
    (r"dgl\.ai|openmmlab\.com|flashinfer\.ai|autogptq|llama-cpp-python/whl|paddlepaddle\.org|pypi\.nvidia", "other"),
    (r"data\.pyg\.org|pytorch-geometric\.com", "pyg"),
    (r"jax-releases|jax_releases|jax_cuda_releases|jax-cuda-releases|libtpu", "jax"),
    (r"download\.pytorch\.org/|/whl/(nightly/|test/)?(cpu|cu\d|rocm|xpu)|torch_stable|torch_nightly", "torch"),
)
PYTORCH = frozenset(["torch", "torchvision", "torchaudio", "xformers", "triton", "torchtext", "torchdata", "torchao"])


def holds_only(url: str) -> str:
    """The family of packages that a known index holds: torch, jax …; 'mirror' of the default one; '' = not known."""
    found = next((family for pattern, family in _FAMILIES if re.search(pattern, url)), "")
    return found or (
        "mirror"
        if "/_packaging/" not in url  # a feed of Azure's, with packages of its own
        and re.search(r"/pypi/(web/)?simple/?$|/repository/pypi/simple/?$|//pypi\.[\w.]+/simple/?$", url)
        else ""
    )
