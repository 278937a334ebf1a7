"""The Python environment under diagnosis: interpreter, distributions, frameworks, what is wrong among them."""

from __future__ import annotations

from typing import Literal

from gpuwhy.model.fact import NOT_OBSERVED, Fact, Known
from gpuwhy.model.facts.record import Record

BARRED = "a file that nobody may run"
"""What is said of an executable without the right to be run."""


class Interpreter(Record, frozen=True):
    """The Python of the environment under diagnosis."""

    path: str
    version: str  # 3.12.1
    prefix: str
    kind: str  # "venv", "conda", "system", "pyenv", "store" …
    chosen_by: str  # "--python", "VIRTUAL_ENV", "CONDA_PREFIX", ".venv", "PATH"
    machine: str  # x86_64, aarch64
    gone: str = ""  # what is wrong with its executable: "a link that leads nowhere" | "not there" | BARRED
    managed: bool = False  # the system's package manager owns it, and pip refuses to change it (PEP 668)


class Distribution(Record, frozen=True):
    """An installed distribution, read from its metadata folder."""

    name: str  # normalised: tensorflow-cpu
    version: str
    location: str  # the dist-info or egg-info folder
    installer: Fact[str]


class Opened(Record, frozen=True):
    """A library that a framework asks the loader for, and the file that asks."""

    name: str  # libcudnn.so.9
    by: str  # path of the file whose NEEDED entry or dlopen call asks
    optional: bool  # the framework works on the GPU without it


class Framework(Record, frozen=True):
    """A framework installed in the target, and what it was built for."""

    name: str  # tensorflow, torch, jax, onnxruntime, cupy …
    title: str  # TensorFlow
    distribution: str  # tensorflow-cpu
    version: str
    path: str  # package folder
    gpu_build: Fact[bool]
    built_for_cuda: Fact[str]  # Absent for a build without CUDA
    built_for_cudnn: Fact[str]
    sass: Fact[tuple[str, ...]]  # sm_70 …
    ptx: Fact[tuple[str, ...]]  # compute_90 …
    opens: Fact[tuple[Opened, ...]]  # the CUDA libraries it opens, before anybody looks for them


class Conflict(Record, frozen=True):
    """Files that two installed distributions both claim."""

    owners: tuple[str, ...]  # "tensorflow 2.21.0", "tensorflow-cpu 2.21.0"
    files: int
    example: str
    module: str  # import name whose files are shared
    winner: Fact[str]  # the distribution whose bytes are on disk


class Unfit(Record, frozen=True):
    """A version that an installed GPU package asks of another, and that the installed one is not."""

    by: str  # torch
    by_version: str
    name: str  # nvidia-nvjitlink-cu12
    wants: str  # ==12.4.127
    installed: str  # 12.1.105
    file: str  # the metadata that asks


class Contradiction(Record, frozen=True):
    """An installed release that another installed one cannot work with, and how that is known."""

    by: str  # jax
    by_version: str
    name: str  # jaxlib; the distribution that is installed for it may be a flavour: tensorflow-cpu
    wants: str  # "<=0.4.35,>=0.4.34"; a sentence's object, as its source says it; of a build the CUDA
    installed: str  # "0.4.31"; "" = not installed
    how: Literal[
        "stated", "extra", "unstated", "compiled", "generated", "same release", "wheel", "late", "rival", "build"
    ]
    file: str  # the metadata or the library that tells
    effect: str = ""  # what then happens, where that is known: "so its import fails"
    know: str = ""  # the knowledge row behind it, where there is one
    stops: bool = False  # `by` cannot be imported, or not be used on a GPU, whatever else is right
    near: bool = True  # `by` belongs to the GPU stack, or something of it needs it


MISFITS = ("wrong architecture", "for another system", "for another C library", "for another Python")
"""What is said of a distribution that was built for something else than the environment is."""


NO_EXEC = "no programs"
"""What is said of a folder on a file system from which nothing may be run."""


COMMAND_GONE, COMMAND_LOST, NOT_RUN, OTHER_PYTHON = (
    "command gone", "command without its Python", "command may not be run", "command of another Python",
)  # fmt: skip
COMMANDS = (COMMAND_GONE, COMMAND_LOST, NOT_RUN, OTHER_PYTHON)
"""What is said of a command in an environment's bin that does not start, or starts another Python."""


EDITED, DATA_BROKEN = "edited", "data broken"
"""What is said of a file that is not what was installed and can be read; of data that cannot."""


class Damage(Record, frozen=True):
    """An installed file that is not what its RECORD says."""

    path: str
    owner: str  # "nvidia-cudnn-cu12 9.27.0.5"
    what: str  # "empty", "missing", "truncated", "not ELF", "wrong architecture", "other size", "other hash" …
    expected: str
    actual: str


SCRIPT_FOLDER, WORKING_FOLDER = "the script's folder", "the working folder"
USER_SITE = "the user's site-packages"


class Shadow(Record, frozen=True):
    """A file or folder that Python imports instead of the module that was meant."""

    module: str  # torch
    path: str  # what is imported
    instead: str  # the folder that holds what was meant, or "Python's own library"; "" = only other Pythons have it
    via: str  # SCRIPT_FOLDER, WORKING_FOLDER, "PYTHONPATH", USER_SITE, or a .pth file
    version: str = ""  # of what is imported, where it is an installed package
    meant: str = ""  # of what was meant
    other_python: str = ""  # the Python that the folder's packages were installed for, where that is another
    parts: tuple[str, ...] = ()  # of a shared name: what cannot be imported beside it, "cuda.pathfinder"
    wanted_by: str = ""  # the installed package that asks for them, or for another release; "" = none is known to


class Start(Record, frozen=True, omit_defaults=True):
    """How the environment's Python starts as its user starts it; all empty where it starts as it should."""

    ends: str = ""  # how it ends before it runs anything: "it ends with code 1: Fatal Python error: …"
    lost: tuple[str, ...] = ()  # installed frameworks that it does not find
    version: str = ""  # which Python it says it is; "" = not tried, since nothing steers its start
    variable: str = ""  # the variable without which it starts as it should
    file: str = ""  # the file of site-packages that is enough to make it go wrong
    aside: str = ""  # the folder of packages beside it that it does not look into
    sets: tuple[tuple[str, str], ...] = ()  # variables of the GPU stack that start-up sets, with their values

    @property
    def wrong(self) -> bool:
        """Whether it does not start, or not find what is installed."""
        return bool(self.ends or self.lost)


class Exported(Record, frozen=True):
    """A variable that the environment's activation sets."""

    name: str
    file: str
    line: (
        str  # as it stands there; of VIRTUAL_ENV, where that is another folder, its value; of PATH, what python is then
    )

    @property
    def leads_away(self) -> bool:
        """Whether it tells that the shell is then in another environment, not a variable of its own."""
        return self.name in ("PATH", "VIRTUAL_ENV")


class Sourced(Record, frozen=True):
    """What goes wrong where a shell runs the environment's activation."""

    kind: Literal["ends", "said", "unbound", "limit", "python"]
    file: str
    text: str  # bash's own words; the name of a limit; what `python` is afterwards
    line: int = 0
    value: int = 0  # of a limit


class Imported(Record, frozen=True, omit_defaults=True):
    """How the import of one module went, in a child of the environment's own Python, as its user starts it."""

    module: str  # torch; "tensorflow:keras.layers"; what it does: "sum:torch", "open:LIBRARY|LIBRARY", "run:PROGRAM" …
    framework: str  # the framework that it is, or is built on: Framework.name
    ended: Literal["well", "raised", "crashed", "late", "without driver", "without extra", "untried"]
    seconds: float = 0.0
    file: str = ""  # what was imported
    version: str = ""
    kind: str = ""  # raised: the exception's type
    why: str = ""  # its words, or the signal
    lost: str = ""  # the module that was not found
    sought: str = ""  # the one that was meant first, where the error is of what was tried in its place
    source: str = ""  # the file that lacks a name, or that could not be loaded
    text: str = ""  # the traceback, and the end of what was printed
    files: tuple[str, ...] = ()  # on the way to it, the innermost first
    blame: str = ""  # "variable", "file", "compiled", "user site", "home", "limit": without it, it goes well
    culprit: str = ""  # which of them
    part: str = ""  # of a list of folders, the one; of a file that Python runs at its start, the variable that it sets
    prefix: str = ""  # the environment of the Python that was started, where that is another than was meant
    package: str = ""  # "transformers 4.40.0": what it belongs to, where that only stands on the framework

    @property
    def failed(self) -> bool:
        """Whether it is known that a program cannot import it."""
        return self.ended in ("raised", "crashed")

    @property
    def words(self) -> str:
        """What the exception itself says: somebody else's words, which may be read for the names in them."""
        return self.why if self.ended == "raised" else ""

    @property
    def top(self) -> str:
        """The module itself, without its parts."""
        kind, _, what = self.module.partition(":")
        return (what if kind == "use" else self.module).partition(":")[0].partition(".")[0]

    @property
    def deed(self) -> str:
        """What was tried, as one would type it."""
        kind, _, what = self.module.partition(":")
        if kind == "use":
            return what.partition(":")[2]
        if kind in ("open", "sum"):
            return "opening the CUDA libraries" if kind == "open" else f"a sum with {what} on the CPU"
        return f"{what} --version" if kind == "run" else f"import {self.module.replace(':', '.')}"


class Target(Record, frozen=True):
    """The Python environment under diagnosis."""

    interpreter: Fact[Interpreter] = NOT_OBSERVED
    activation: Fact[tuple[Exported, ...]] = NOT_OBSERVED  # beyond what every activation sets
    sourced: Fact[tuple[Sourced, ...]] = NOT_OBSERVED  # what goes wrong where a shell runs it
    site_packages: Fact[tuple[str, ...]] = NOT_OBSERVED
    distributions: Fact[tuple[Distribution, ...]] = NOT_OBSERVED
    conda: Fact[dict[str, str]] = NOT_OBSERVED  # what conda itself installed, and its version; Absent elsewhere
    frameworks: Fact[tuple[Framework, ...]] = NOT_OBSERVED
    conflicts: Fact[tuple[Conflict, ...]] = NOT_OBSERVED
    damage: Fact[tuple[Damage, ...]] = NOT_OBSERVED
    unfit: Fact[tuple[Unfit, ...]] = NOT_OBSERVED  # of what PyTorch and JAX ask for in their metadata
    contradictions: Fact[tuple[Contradiction, ...]] = NOT_OBSERVED  # among the GPU packages and their neighbours
    shadows: Fact[tuple[Shadow, ...]] = NOT_OBSERVED  # what stands in for modules of the stack
    start: Fact[Start] = NOT_OBSERVED
    imports: Fact[tuple[Imported, ...]] = NOT_OBSERVED  # tried by `check` and `fix` where nothing else is wrong
    kernels: Fact[tuple[str, ...]] = NOT_OBSERVED  # Jupyter kernels: "name: interpreter"

    @property
    def releases(self) -> dict[str, str]:
        """What is installed in the environment itself, not what it borrows; {} where that was not seen."""
        if not isinstance(self.distributions, Known) or not isinstance(self.interpreter, Known):
            return {}
        prefix = self.interpreter.value.prefix.rstrip("/") + "/"
        return {d.name: d.version for d in reversed(self.distributions.value) if d.location.startswith(prefix)}
