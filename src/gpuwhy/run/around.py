"""What a watched program had around it: limits, folder, variables, the places it writes to."""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from gpuwhy.facts.fact import Fact, Known, Source, Unknown, absent, value_or
from gpuwhy.facts.run import Limit, Place, PlaceRole, Run
from gpuwhy.machine.live import permitted
from gpuwhy.machine.machine import Machine
from gpuwhy.run.child import Ended
from gpuwhy.run.put_first import put_first
from gpuwhy.run.scripts import settings

FIRST_NAMESPACE = "pid:[4026531836]"
"""The kernel's own numbering of processes, which its log uses; a container has another."""
NAMES = ("NOFILE", "NPROC", "AS", "FSIZE", "MEMLOCK", "CPU", "STACK", "DATA")
MOST_PLACES, TAIL = 12, 400
"""How many paths of the output are looked at, and how many of its last lines."""
CACHES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("", ("XDG_CACHE_HOME",), "~/.cache"),
    ("Triton", ("TRITON_CACHE_DIR", "TRITON_HOME"), "~/.triton"),
    ("CUDA's compiler", ("CUDA_CACHE_PATH",), "~/.nv/ComputeCache"),
    ("PyTorch's compiler", ("TORCHINDUCTOR_CACHE_DIR",), ""),
    ("PyTorch's extensions", ("TORCH_EXTENSIONS_DIR",), ""),
    ("Numba", ("NUMBA_CACHE_DIR",), ""),
    ("CuPy", ("CUPY_CACHE_DIR",), ""),
    ("JAX", ("JAX_COMPILATION_CACHE_DIR",), ""),
    ("models", ("HF_HOME", "TORCH_HOME"), ""),
    ("Matplotlib", ("MPLCONFIGDIR",), ""),
)
"""Whose cache it is, the variables that name it, the first that is set, and where it is else."""
TEMPORARY = ("TMPDIR", "TEMP", "TMP")
_COMPLAINS = re.compile(
    r"errno (?:2|13|27|28|30|122)\b|no space|read-only|permission denied|quota|file too large"
    r"|(?:cannot|could not|failed to) (?:create|write|open)"
    r"|requested and|not writable|no locator|temporary",
    re.IGNORECASE,
)
_SPACE = re.compile(
    r"no space left|errno 28\b|enospc|quota exceeded|requested and \d+ written|unexpected pos \d",
    re.IGNORECASE,
)
_WRITABLE = re.compile(
    r" - (?:ext[234]|xfs|btrfs|tmpfs|overlay|zfs|nfs4?|fuse[\w.]*|lustre|gpfs|beegfs|vfat|9p"
    r"|virtiofs|cifs) "
)
MOUNTS, MOST_MOUNTS = "/proc/self/mountinfo", 40
_PATH = re.compile(r"(?<![\w.:/~-])(~?/[^\s'\"`:,;()\[\]<>]{2,300})")
_OPENED = re.compile(
    r"""(?:open|save|makedirs|mkdir|memmap|FileWriter|SummaryWriter)\(\s*['"]([^'"\n]{1,300})['"]"""
)


def with_surroundings(
    run: Run, ended: Ended, machine: Machine, output: str, ours: Machine | None = None
) -> Run:
    """The facts of a run, with what was around it right after its end; `ours` has our variables,
    not the program's.
    """
    variables = _variables(ended)
    folder = _folder(ended, machine)
    return msgspec.structs.replace(
        run,
        pids=_pids(ended, machine),
        limits=_limits(ended),
        folder=folder,
        variables=_otherwise(variables, ours or machine),
        nodes=_nodes(ended),
        put_first=put_first(variables or _ours(machine), machine, output),
        places=_places(machine, variables or _ours(machine), value_or(folder, ""), output),
    )


def _pids(ended: Ended, machine: Machine) -> Fact[tuple[int, ...]]:
    """Its processes, where this system numbers them as the kernel log does."""
    seen = ended.samples.end.get("pids")
    if not seen:
        return Unknown("its processes were not looked at")
    if value_or(machine.link("/proc/self/ns/pid"), "") != FIRST_NAMESPACE:
        return Unknown("processes have other numbers here than in the kernel log")
    return Known(tuple(seen), Source("call", "sampler"))


def _limits(ended: Ended) -> Fact[tuple[Limit, ...]]:
    """Ours, which it inherited, unless one of its processes was seen with tighter ones."""
    rows = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in NAMES}
    rows["CPU"] = ended.processor or rows["CPU"]
    ours = {name: [_plain(soft), _plain(hard)] for name, (soft, hard) in rows.items()}
    found = {
        name: min((ours[name], ended.samples.limits.get(name, ours[name])), key=_tight)
        for name in NAMES
    }
    return Known(
        tuple(Limit(name, *found[name][:2]) for name in NAMES), Source("call", "getrlimit")
    )


def _plain(number: int) -> int:
    return -1 if number == resource.RLIM_INFINITY else number


def _tight(row: list[int]) -> float:
    return row[0] if row[0] >= 0 else float("inf")


def _of_framework(ended: Ended, name: str) -> object:
    """What was seen of the process that loaded a framework, else of any."""
    seen = sorted(
        ended.samples.seen.values(),
        key=lambda one: (not one.get("libraries"), not one.get("python")),
    )
    return next((one[name] for one in seen if one.get(name)), None)


def _folder(ended: Ended, machine: Machine) -> Fact[str]:
    found = _of_framework(ended, "folder")
    source = Source("call", "sampler")
    return Known(found, source) if isinstance(found, str) else machine.real(".")


def folder_of(ended: Ended) -> str:
    """The working folder of the program as it was seen; "" where it is ours."""
    found = _of_framework(ended, "folder")
    return found if isinstance(found, str) else ""


def _variables(ended: Ended) -> dict[str, str]:
    found = _of_framework(ended, "environ")
    return found if isinstance(found, dict) else {}


def environ_of(ended: Ended, argv: Sequence[str] = ()) -> dict[str, str] | None:
    """Our variables, those that steer the stack as the program had them or set them; None where
    nobody knows more.

    What a script sets counts where no process was seen with its own variables; what Python sets
    itself counts always.
    """
    seen = _of_framework(ended, "environ")
    mine = dict(os.environ)
    known = seen if isinstance(seen, dict) else None
    given = settings(argv, mine) if argv else {}
    own = {name: one.value for name, one in given.items() if one.inside or known is None}
    if known is None:
        return {**mine, **own} if own else None
    steering = permitted(mine)
    rest = {name: value for name, value in mine.items() if name not in steering}
    return {**rest, **known, **own}


def _nodes(ended: Ended) -> Fact[dict[str, str]]:
    """The GPU's nodes that one of its processes saw otherwise than we, by a mount of its own."""
    source = Source("call", "sampler", "/proc/PID/root/dev")
    every = (one.get("nodes") for one in ended.samples.seen.values())
    seen = [one for one in every if isinstance(one, dict)]
    if not seen:
        return Unknown("its processes ended before their device files were seen")
    found: dict[str, str] = next((one for one in seen if one), {})
    return Known(found, source) if found else absent("call", "sampler", "as here")


def _ours(machine: Machine) -> dict[str, str]:
    said = machine.environ()
    return value_or(said, {})


def _otherwise(variables: Mapping[str, str], machine: Machine) -> Fact[dict[str, str]]:
    """What it had otherwise than this shell."""
    ours = machine.environ()
    if not variables or not isinstance(ours, Known):
        return Unknown("its processes ended before their variables were seen")
    found = {
        name: value
        for name, value in variables.items()
        if ours.value.get(name) not in (value, "set")
    }
    gone = {name: "" for name in ours.value if name not in variables}
    source = Source("call", "sampler", "/proc/PID/environ")
    if found or gone:
        return Known({**found, **gone}, source)
    return absent("call", "sampler", "as in this shell")


def _places(
    machine: Machine, variables: Mapping[str, str], folder: str, output: str
) -> Fact[tuple[Place, ...]]:
    wanted: dict[str, tuple[PlaceRole, str]] = {}
    for path, role, of in _wanted(machine, variables, folder or ".", output):
        wanted.setdefault(path, (role, of))
    found = [_place(machine, path, *row) for path, row in wanted.items()]
    return Known(tuple(one for one in found if one), Source("call", "statvfs"))


def _wanted(
    machine: Machine, variables: Mapping[str, str], folder: str, output: str
) -> Iterator[tuple[str, PlaceRole, str]]:
    """Places that may be full: path, role, whose cache it is."""
    yield folder, "working folder", ""
    temporary = (variables[name] for name in TEMPORARY if variables.get(name))
    yield next(temporary, "/tmp"), "temporary", ""
    for of, names, usual in CACHES:
        path = next((variables[name] for name in names if variables.get(name)), usual)
        if path:
            yield path, "cache", of
    for path in list(named(output))[-MOST_PLACES:]:
        own = path if path.startswith(("/", "~")) else f"{folder}/{path}"
        yield own, "named in the output", ""
    if _SPACE.search(output):
        yield from ((path, "file system", "") for path in _mounted(machine))


def _mounted(machine: Machine) -> list[str]:
    """Where file systems are mounted that can be written: a full one is often not named."""
    lines = value_or(machine.lines(MOUNTS, " rw,", " rw "), ())
    rows = [line.split() for line in lines if _WRITABLE.search(line)]
    paths = (row[4].encode().decode("unicode_escape", "replace") for row in rows if len(row) > 5)
    kept = [path for path in paths if not path.startswith(("/proc", "/sys", "/dev", "/run"))]
    return kept[:MOST_MOUNTS]


def _place(machine: Machine, path: str, role: PlaceRole, of: str) -> Place | None:
    whole = f"{machine.home}{path[1:]}" if path[:2] in ("~", "~/") else path
    said = machine.standing(whole)
    if not isinstance(said, Known):
        return None
    return Place(whole, role, **msgspec.structs.asdict(said.value), cache_of=of)


def named(output: str) -> Iterator[str]:
    """The paths in the last lines that complain of a file or a folder, and in those before."""
    lines = output.splitlines()[-TAIL:]
    found: dict[str, None] = {}
    for place, line in enumerate(lines):
        if _COMPLAINS.search(line):
            near = "\n".join(lines[max(0, place - 6) : place])
            for path in (*_PATH.findall(line), *_OPENED.findall(near)):
                found[path.rstrip(".")] = None
    yield from found
