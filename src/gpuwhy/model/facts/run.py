"""A program that `gpuwhy run` watched: how it ended, and on what."""

from __future__ import annotations

from gpuwhy.model.fact import NOT_OBSERVED, Fact, Known, value_or
from gpuwhy.model.facts.record import Record
from gpuwhy.model.facts.surroundings import KernelLine


class Moment(Record, frozen=True):
    """GPU memory at one moment of a watched program, in bytes."""

    seconds: float  # since its start
    own: int
    others: int


class GpuUse(Record, frozen=True):
    """One GPU while a watched program ran: bytes at the program's own peak and at the others' peak."""

    index: int
    total: int
    own: int  # peak of the program and its descendants
    others_then: int  # held by other processes at that moment
    free_then: int
    others: int  # peak of the others
    busy: int  # highest utilisation in per cent; -1 = the driver does not say
    guessed: bool  # the driver names processes by other numbers: what came since the start counts as the program's
    curve: tuple[Moment, ...]  # thinned; peaks stay


class HostMoment(Record, frozen=True):
    """Host memory at one moment of a watched program, in bytes."""

    seconds: float  # since its start
    own: int  # resident, the program and its descendants
    left: int  # what the machine could still give; -1 = not seen


class HostUse(Record, frozen=True):
    """Host memory while a watched program ran, in bytes."""

    peak: int  # resident, the program and its descendants
    least_available: Fact[int]
    limit: Fact[int]  # of the control group
    held: Fact[int]  # highest use within that limit, file cache left out
    curve: tuple[HostMoment, ...] = ()  # thinned; peaks stay


class Limit(Record, frozen=True):
    """A resource limit that a program ran under; -1 = unlimited."""

    name: str  # "NOFILE", as in RLIMIT_NOFILE
    soft: int
    hard: int


class Place(Record, frozen=True):
    """A folder that a program writes to, or a path that its output names, as it was right after the end."""

    path: str
    role: str  # "temporary", "cache of Triton", "working folder", "home", "named in the output"
    exists: bool
    nearest: str  # the folder that holds it: itself, or the nearest above it that exists
    writable: bool  # this user may write in `nearest`
    read_only: bool  # its file system is mounted so
    programs: bool  # libraries and programs in it may be run: not mounted noexec
    total: int
    free: int
    inodes: int  # how many files can still be made; -1 where the file system has no such count


class Ahead(Record, frozen=True):
    """A library that a variable of the loader puts before all others of its name."""

    path: str
    variable: str  # "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH"
    needed_by: str = ""  # the object that the output says cannot be loaded, where it needs a library of this name


class Run(Record, frozen=True):
    """A program that `gpuwhy run` watched; NOT_OBSERVED everywhere else."""

    program: Fact[str] = NOT_OBSERVED  # base name, nothing of its arguments
    exit: Fact[int] = NOT_OBSERVED  # Absent when a signal ended it
    signal: Fact[str] = NOT_OBSERVED  # SIGKILL; Absent when it exited, unless with 128 + n
    sent: Fact[tuple[str, ...]] = NOT_OBSERVED  # signals that somebody sent it through us or through the terminal
    seconds: Fact[float] = NOT_OBSERVED
    started: Fact[float] = NOT_OBSERVED  # seconds since boot
    silent: Fact[float] = NOT_OBSERVED  # seconds without output before the end; Absent when it printed nothing
    gpus: Fact[tuple[GpuUse, ...]] = NOT_OBSERVED
    host: Fact[HostUse] = NOT_OBSERVED
    oom_kills: Fact[int] = NOT_OBSERVED  # processes that the kernel killed for memory while it ran
    frameworks: Fact[tuple[str, ...]] = NOT_OBSERVED  # seen mapped in its processes: torch, tensorflow, jax …
    touched_gpu: Fact[bool] = NOT_OBSERVED  # whether a process of it was seen with a GPU open
    wanted_gpu: Fact[str] = NOT_OBSERVED  # where the program's own text asks for a GPU: "train.py, line 3"
    imports: Fact[tuple[str, ...]] = NOT_OBSERVED  # frameworks that its own text imports, seen mapped or not
    first_rank: Fact[str] = NOT_OBSERVED  # the rank that failed first, as the launcher's output tells
    pids: Fact[tuple[int, ...]] = NOT_OBSERVED  # its processes by the kernel's numbers, which the kernel log uses
    limits: Fact[tuple[Limit, ...]] = NOT_OBSERVED  # the tightest among its processes
    folder: Fact[str] = NOT_OBSERVED  # its working folder
    variables: Fact[dict[str, str]] = NOT_OBSERVED  # those that steer the stack and that it had otherwise than we
    nodes: Fact[dict[str, str]] = NOT_OBSERVED  # the GPU's nodes that it saw otherwise than we: a number, or "missing"
    places: Fact[tuple[Place, ...]] = NOT_OBSERVED
    ahead: Fact[tuple[Ahead, ...]] = NOT_OBSERVED  # what the loader's variables put first

    @property
    def failed(self) -> bool:
        """Whether a program was watched and ended badly; for refinement, never for a decision on what was not seen."""
        return isinstance(self.signal, Known) or (isinstance(self.exit, Known) and self.exit.value != 0)

    @property
    def crashed(self) -> bool:
        """Whether it ended in a way that puts the libraries themselves in doubt."""
        return isinstance(self.signal, Known) and self.signal.value in ("SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE")

    def concerns(self, line: KernelLine) -> bool:
        """Whether a kernel log line may speak of this program: not where it names a process that is none of its own."""
        return not line.pid or not isinstance(self.pids, Known) or line.pid in self.pids.value

    @property
    def how_it_ended(self) -> str:
        """In words: python was ended by SIGSEGV."""
        program = value_or(self.program, "the program")
        code = value_or(self.exit, None)
        if isinstance(self.signal, Known):
            inside = f" (exit code {code})" if code is not None else ""
            return f"{program} was ended by {self.signal.value}{inside}"
        return f"{program} ended with code {code or 0}"
