"""What a watched program had around it: its limits, its folder and variables, and the places it writes to."""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from gpuwhy.host.base import Host
from gpuwhy.host.live import permitted
from gpuwhy.model.fact import Fact, Known, Source, Unknown, absent, value_or
from gpuwhy.model.facts import Limit, Place, Run
from gpuwhy.run.ahead import ahead_of_all
from gpuwhy.run.child import Ended
from gpuwhy.run.scripts import settings

FIRST_NAMESPACE = "pid:[4026531836]"
"""The kernel's own numbering of processes, which its log uses; a container has another."""
NAMES = ("NOFILE", "NPROC", "AS", "FSIZE", "MEMLOCK", "CPU", "STACK", "DATA")
MOST_PLACES, TAIL = 12, 400
"""How many paths of the output are looked at, and how many of its last lines."""
PLACES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("temporary", ("TMPDIR", "TEMP", "TMP"), "/tmp"),
    ("cache", ("XDG_CACHE_HOME",), "~/.cache"),
    ("cache of Triton", ("TRITON_CACHE_DIR", "TRITON_HOME"), "~/.triton"),
    ("cache of CUDA's compiler", ("CUDA_CACHE_PATH",), "~/.nv/ComputeCache"),
    ("cache of PyTorch's compiler", ("TORCHINDUCTOR_CACHE_DIR",), ""),
    ("folder of PyTorch's extensions", ("TORCH_EXTENSIONS_DIR",), ""),
    ("cache of Numba", ("NUMBA_CACHE_DIR",), ""),
    ("cache of CuPy", ("CUPY_CACHE_DIR",), ""),
    ("cache of JAX", ("JAX_COMPILATION_CACHE_DIR",), ""),
    ("folder of models", ("HF_HOME", "TORCH_HOME"), ""),
    ("folder of Matplotlib", ("MPLCONFIGDIR",), ""),
)
"""What a place is for, the variables that name it, first that is set, and where it is else."""
_COMPLAINS = re.compile(
    r"errno (?:2|13|27|28|30|122)\b|no space|read-only|permission denied|quota|file too large"
    r"|cannot (?:create|write|open)|"
    r"could not (?:create|write|open)|failed to (?:create|write|open)|requested and|not writable|no locator|temporary",
    re.IGNORECASE,
)
_SPACE = re.compile(
    r"no space left|errno 28\b|enospc|quota exceeded|requested and \d+ written|unexpected pos \d", re.IGNORECASE
)
_WRITABLE = re.compile(
    r" - (?:ext[234]|xfs|btrfs|tmpfs|overlay|zfs|nfs4?|fuse[\w.]*|lustre|gpfs|beegfs|vfat|9p|virtiofs|cifs) "
)
MOUNTS, MOST_MOUNTS = "/proc/self/mountinfo", 40
_PATH = re.compile(r"(?<![\w.:/~-])(~?/[^\s'\"`:,;()\[\]<>]{2,300})")
_OPENED = re.compile(r"""(?:open|save|makedirs|mkdir|memmap|FileWriter|SummaryWriter)\(\s*['"]([^'"\n]{1,300})['"]""")


def with_surroundings(run: Run, ended: Ended, host: Host, output: str, ours: Host | None = None) -> Run:
    """The facts of a run, with what was around it right after its end; `ours` has our variables, not the program's."""
    variables = _variables(ended, host)
    folder = _folder(ended, host)
    return msgspec.structs.replace(
        run,
        pids=_pids(ended, host),
        limits=_limits(ended),
        folder=folder,
        variables=_otherwise(variables, ours or host),
        nodes=_nodes(ended),
        ahead=ahead_of_all(variables or _ours(host), host, output),
        places=_places(host, variables or _ours(host), value_or(folder, ""), output),
    )


def _pids(ended: Ended, host: Host) -> Fact[tuple[int, ...]]:
    """Its processes; where this system numbers them otherwise than the kernel log does, they cannot be compared."""
    seen = ended.samples.end.get("pids")
    if not seen:
        return Unknown("its processes were not looked at")
    if value_or(host.link("/proc/self/ns/pid"), "") != FIRST_NAMESPACE:
        return Unknown("processes have other numbers here than in the kernel log")
    return Known(tuple(seen), Source("call", "sampler"))


def _limits(ended: Ended) -> Fact[tuple[Limit, ...]]:
    """Ours, which it inherited, unless one of its processes was seen with tighter ones."""
    rows = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in NAMES}
    rows["CPU"] = ended.processor or rows["CPU"]
    ours = {name: [_plain(soft), _plain(hard)] for name, (soft, hard) in rows.items()}
    found = {name: min((ours[name], ended.samples.limits.get(name, ours[name])), key=_tight) for name in NAMES}
    return Known(tuple(Limit(name, *found[name][:2]) for name in NAMES), Source("call", "getrlimit"))


def _plain(number: int) -> int:
    return -1 if number == resource.RLIM_INFINITY else number


def _tight(row: list[int]) -> float:
    return row[0] if row[0] >= 0 else float("inf")


def _of_framework(ended: Ended, name: str) -> object:
    """What was seen of the process that loaded a framework, else of any."""
    seen = sorted(ended.samples.seen.values(), key=lambda one: (not one.get("libraries"), not one.get("python")))
    return next((one[name] for one in seen if one.get(name)), None)


def _folder(ended: Ended, host: Host) -> Fact[str]:
    found = _of_framework(ended, "folder")
    source = Source("call", "sampler")
    return Known(host.hide(found), source) if isinstance(found, str) else host.real(".")


def folder_of(ended: Ended) -> str:
    """The working folder of the program as it was seen; "" where it is ours."""
    found = _of_framework(ended, "folder")
    return found if isinstance(found, str) else ""


def _variables(ended: Ended, host: Host) -> dict[str, str]:
    found = _of_framework(ended, "environ")
    return {name: host.hide(value) for name, value in found.items()} if isinstance(found, dict) else {}


def environ_of(ended: Ended, argv: Sequence[str] = ()) -> dict[str, str] | None:
    """Our variables, those that steer the stack as the program had them or set them; None where nobody knows more.

    What a script sets counts where no process was seen with its own variables; what Python sets itself counts always.
    """
    seen = _of_framework(ended, "environ")
    mine = dict(os.environ)
    known = seen if isinstance(seen, dict) else None
    given = settings(argv, mine) if argv else {}
    own = {name: one.value for name, one in given.items() if one.inside or known is None}
    if known is None:
        return {**mine, **own} if own else None
    steering = permitted(mine)
    return {**{name: value for name, value in mine.items() if name not in steering}, **known, **own}


def _nodes(ended: Ended) -> Fact[dict[str, str]]:
    """The GPU's nodes that one of its processes saw otherwise than we, in a mount namespace of its own."""
    source = Source("call", "sampler", "/proc/PID/root/dev")
    seen = [one["nodes"] for one in ended.samples.seen.values() if isinstance(one.get("nodes"), dict)]
    if not seen:
        return Unknown("its processes ended before their device files were seen")
    found: dict[str, str] = next((one for one in seen if one), {})
    return Known(found, source) if found else absent("call", "sampler", "as here")


def _ours(host: Host) -> dict[str, str]:
    said = host.environ()
    return value_or(said, {})


def _otherwise(variables: Mapping[str, str], host: Host) -> Fact[dict[str, str]]:
    """What it had otherwise than this shell."""
    ours = host.environ()
    if not variables or not isinstance(ours, Known):
        return Unknown("its processes ended before their variables were seen")
    found = {name: value for name, value in variables.items() if ours.value.get(name) not in (value, "set")}
    gone = {name: "" for name in ours.value if name not in variables}
    source = Source("call", "sampler", "/proc/PID/environ")
    return Known({**found, **gone}, source) if found or gone else absent("call", "sampler", "as in this shell")


def _places(host: Host, variables: Mapping[str, str], folder: str, output: str) -> Fact[tuple[Place, ...]]:
    wanted: dict[str, str] = {}
    for path, role in _wanted(host, variables, folder or ".", output):
        wanted.setdefault(path, role)
    found = [_place(host, path, role) for path, role in wanted.items()]
    return Known(tuple(one for one in found if one), Source("call", "statvfs"))


def _wanted(host: Host, variables: Mapping[str, str], folder: str, output: str) -> Iterator[tuple[str, str]]:
    """Places that may be full, each with the part it plays."""
    yield folder, "working folder"
    for role, names, usual in PLACES:
        path = next((variables[name] for name in names if variables.get(name)), usual)
        if path:
            yield path, role
    for path in list(named(output))[-MOST_PLACES:]:
        if path.startswith("/"):
            path = host.hide(path)
        elif not path.startswith("~"):
            path = f"{folder}/{path}"
        yield path, "named in the output"
    if _SPACE.search(output):
        yield from ((path, "file system") for path in _mounted(host))


def _mounted(host: Host) -> list[str]:
    """Where file systems are mounted that can be written: a message of a full one often does not name it."""
    said = host.lines(MOUNTS, " rw,", " rw ")
    rows = [line.split() for line in said.value if _WRITABLE.search(line)] if isinstance(said, Known) else []
    paths = (row[4].encode().decode("unicode_escape", "replace") for row in rows if len(row) > 5)
    return [host.hide(path) for path in paths if not path.startswith(("/proc", "/sys", "/dev", "/run"))][:MOST_MOUNTS]


def _place(host: Host, path: str, role: str) -> Place | None:
    said = host.standing(path)
    if not isinstance(said, Known):
        return None
    return Place(path, role, **msgspec.structs.asdict(said.value))


def named(output: str) -> Iterator[str]:
    """The paths in the last lines of an output that complain of a file or a folder, and in the lines before those."""
    lines = output.splitlines()[-TAIL:]
    found: dict[str, None] = {}
    for place, line in enumerate(lines):
        if _COMPLAINS.search(line):
            for path in (
                *_PATH.findall(line),
                *(p for near in lines[max(0, place - 6) : place] for p in _OPENED.findall(near)),
            ):
                found[path.rstrip(".")] = None
    yield from found
