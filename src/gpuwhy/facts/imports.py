"""What `--import` tried: imports of the frameworks in a sandbox, and what the sandbox held."""

from enum import Enum
from typing import Literal

from gpuwhy.facts.fact import NOT_OBSERVED, Fact, Record

TriedKind = Literal["import", "compute", "open", "run"]
"""What was done: a module imported, a small sum on the CPU, libraries opened, a program started."""


class Ended(Enum):
    """How a try ended."""

    WELL = "well"
    RAISED = "raised"
    CRASHED = "crashed"  # a signal
    TIMED_OUT = "timed out"
    TOO_LARGE = "too much memory"
    WANTS_DRIVER = "wants a driver"  # no verdict: this machine has none
    ISOLATION = "could not be tried isolated"  # what failed is what the sandbox forbids
    NOT_TRIED = "not tried"


class WithoutKind(Enum):
    """What was left out in a second try."""

    NONE = ""
    VARIABLE = "variable"
    START_FILE = "start file"  # a .pth file, sitecustomize
    USER_SITE = "user site"
    COMPILED = "compiled files"  # .pyc
    LIMIT = "limit"  # ulimit


class Without(Record, frozen=True, omit_defaults=True):
    """The one thing without which a failed try works."""

    kind: WithoutKind = WithoutKind.NONE
    name: str = ""  # the variable, file or limit
    part: str = ""  # of a list of folders, the one


class Tried(Record, frozen=True, omit_defaults=True):
    """One try in a child of the environment's own Python."""

    kind: TriedKind
    module: str  # torch; "open", "run": the framework's
    framework: str  # Framework.name
    ended: Ended
    targets: tuple[str, ...] = ()  # "open": the libraries; "run": the program
    seconds: float = 0.0
    file: str = ""  # what was imported
    version: str = ""
    error: str = ""  # RAISED: the exception's type
    words: str = ""  # its message: somebody else's words
    signal: str = ""  # SIGSEGV
    missing: str = ""  # the module that was not found
    source: str = ""  # the file that lacks a name, or that could not be loaded
    text: str = ""  # the traceback, and the end of what was printed
    files: tuple[str, ...] = ()  # on the way to it, the innermost first
    without: Without = Without()
    prefix: str = ""  # the Python that was started, where that is another than was meant

    @property
    def failed(self) -> bool:
        """Whether it is known that a program cannot do this."""
        return self.ended in (Ended.RAISED, Ended.CRASHED)


Hold = Literal["held", "partly", "not available"]


class Isolation(Record, frozen=True, omit_defaults=True):
    """What the sandbox held while it tried."""

    writes: Hold  # only into its own temporary folder and some devices (Landlock)
    network: Hold  # none (a network namespace); "partly": no TCP (Landlock)
    processes: Hold  # it signals nobody, and all it started is ended; "partly": the latter
    memory: int = 0  # bytes of resident memory at which a try is ended
    seconds: float = 0.0  # at which a try is ended
    why: tuple[str, ...] = ()  # for what is not available, the system's words


class Imports(Record, frozen=True):
    """What `--import` tried; NOT_OBSERVED where it was not asked for."""

    tried: Fact[tuple[Tried, ...]] = NOT_OBSERVED
    isolation: Fact[Isolation] = NOT_OBSERVED
