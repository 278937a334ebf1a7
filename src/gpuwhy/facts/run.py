"""A program that `gpuwhy run` watched: how it ended, and on what."""

from typing import Literal

from gpuwhy.facts.fact import NOT_OBSERVED, Fact, Known, Record
from gpuwhy.facts.system import KernelLine


class Moment(Record, frozen=True):
    """GPU memory at one moment of a watched program, in bytes."""

    seconds: float  # since its start
    own: int
    others: int


class GpuUse(Record, frozen=True):
    """One GPU while a watched program ran: bytes at the program's own peak and at the others'."""

    index: int
    total: int
    own: int  # peak of the program and its descendants
    others_then: int  # held by other processes at that moment
    free_then: int
    others: int  # peak of the others
    busy: int  # highest utilisation in per cent; -1 = the driver does not say
    guessed: bool  # the driver numbers processes otherwise: what came since the start counts as own
    curve: tuple[Moment, ...]  # thinned; peaks stay


class HostUse(Record, frozen=True):
    """Host memory while a watched program ran, in bytes."""

    peak: int  # resident, the program and its descendants
    least_available: Fact[int]
    limit: Fact[int]  # of the control group
    held: Fact[int]  # highest use within that limit, file cache left out


class Limit(Record, frozen=True):
    """A resource limit that a program ran under; -1 = unlimited."""

    name: str  # "NOFILE", as in RLIMIT_NOFILE
    soft: int
    hard: int


PlaceRole = Literal[
    "temporary", "cache", "working folder", "home", "named in the output", "file system"
]


class Place(Record, frozen=True, omit_defaults=True):
    """A folder that a program writes to, or a path that its output names, right after its end."""

    path: str
    role: PlaceRole
    exists: bool
    nearest: str  # the folder that holds it: itself, or the nearest above it that exists
    writable: bool  # this user may write in `nearest`
    read_only: bool  # its file system is mounted so
    programs: bool  # libraries and programs in it may be run: not mounted noexec
    total: int
    free: int
    inodes: int  # how many files can still be made; -1 where the file system has no such count
    cache_of: str = ""  # "Triton"


class CodeLine(Record, frozen=True):
    """A line of the program's own text."""

    file: str  # train.py
    line: int


class PutFirst(Record, frozen=True, omit_defaults=True):
    """A library that a variable of the loader puts before all others of its name."""

    path: str
    variable: Literal["LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH"]
    needed_by: str = ""  # the object that the output says cannot be loaded, where it needs one


class Run(Record, frozen=True):
    """A program that `gpuwhy run` watched; NOT_OBSERVED everywhere else."""

    program: Fact[str] = NOT_OBSERVED  # base name, nothing of its arguments
    exit: Fact[int] = NOT_OBSERVED  # Absent when a signal ended it
    signal: Fact[str] = NOT_OBSERVED  # SIGKILL; Absent when it exited, unless with 128 + n
    sent: Fact[tuple[str, ...]] = NOT_OBSERVED  # signals that somebody sent it through us
    seconds: Fact[float] = NOT_OBSERVED
    started: Fact[float] = NOT_OBSERVED  # seconds since boot
    silent: Fact[float] = NOT_OBSERVED  # seconds without output before the end; Absent: no output
    gpus: Fact[tuple[GpuUse, ...]] = NOT_OBSERVED
    host: Fact[HostUse] = NOT_OBSERVED
    oom_kills: Fact[int] = NOT_OBSERVED  # processes that the kernel killed for memory meanwhile
    frameworks: Fact[tuple[str, ...]] = NOT_OBSERVED  # seen mapped in its processes
    touched_gpu: Fact[bool] = NOT_OBSERVED  # whether a process of it was seen with a GPU open
    wanted_gpu: Fact[CodeLine] = NOT_OBSERVED  # where the program's own text asks for a GPU
    imports: Fact[tuple[str, ...]] = NOT_OBSERVED  # frameworks that its own text imports
    first_rank: Fact[str] = NOT_OBSERVED  # the rank that failed first, by the launcher's output
    pids: Fact[tuple[int, ...]] = NOT_OBSERVED  # its processes, as the kernel log numbers them
    limits: Fact[tuple[Limit, ...]] = NOT_OBSERVED  # the tightest among its processes
    folder: Fact[str] = NOT_OBSERVED  # its working folder
    variables: Fact[dict[str, str]] = NOT_OBSERVED  # those that it had otherwise than we
    places: Fact[tuple[Place, ...]] = NOT_OBSERVED
    put_first: Fact[tuple[PutFirst, ...]] = NOT_OBSERVED

    @property
    def failed(self) -> bool:
        """Whether a program was watched and ended badly; never for a decision on the unseen."""
        code = self.exit
        return isinstance(self.signal, Known) or (isinstance(code, Known) and code.value != 0)

    @property
    def crashed(self) -> bool:
        """Whether it ended in a way that puts the libraries themselves in doubt."""
        bad = ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE")
        return isinstance(self.signal, Known) and self.signal.value in bad

    def concerns(self, line: KernelLine) -> bool:
        """Whether a kernel log line may be about this program: it names no other process."""
        pids = self.pids
        return not line.pid or not isinstance(pids, Known) or line.pid in pids.value
