"""What a watched program had around it: limits, folder, variables, the places it writes to."""

import os
import re
import resource
import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec

from gpuwhy.answer.answer import Answer
from gpuwhy.facts.fact import Fact, Known, Source, Unknown, absent, value_or
from gpuwhy.facts.run import Limit, Place, PlaceRole, PutFirst, Run
from gpuwhy.machine.live import permitted
from gpuwhy.machine.machine import Machine
from gpuwhy.run.child import Ended
from gpuwhy.run.judge import HANG, how_it_ended
from gpuwhy.run.tables import pattern, tables
from gpuwhy.run.target import settings

FIRST_NAMESPACE = "pid:[4026531836]"
"""The kernel's own numbering of processes, which its log uses; a container has another."""
NAMES = ("NOFILE", "NPROC", "AS", "FSIZE", "MEMLOCK", "CPU", "STACK", "DATA")
MOST_PLACES, TAIL = 12, 400
"""How many paths of the output are looked at, and how many of its last lines."""
TEMPORARY = ("TMPDIR", "TEMP", "TMP")
MOUNTS, MOST_MOUNTS = "/proc/self/mountinfo", 40
_PATH = re.compile(r"(?<![\w.:/~-])(~?/[^\s'\"`:,;()\[\]<>]{2,300})")
_OPENED = re.compile(
    r"""(?:open|save|makedirs|mkdir|memmap|FileWriter|SummaryWriter)\(\s*['"]([^'"\n]{1,300})['"]"""
)
MOST_FILES, MOST_FOLDERS, LAST = 400, 20, 60
"""How many files and folders are looked at, and how many of the last lines of the output."""
_LIBRARY = re.compile(r"lib[\w+.-]{1,80}\.so(?:\.[\d.]+)?$")
_OBJECT = re.compile(
    r"(?P<object>[~/][^\s:'\"]{1,400}\.so[\w.]{0,20}): "
    r"(?:undefined symbol|symbol lookup error|version [`'\"]|cannot)"
    r"|symbol lookup error: (?P<object2>[~/][^\s:'\"]{1,400}): "
)
Variable = Literal["LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH"]


def with_surroundings(
    run: Run, ended: Ended, machine: Machine, output: str, ours: Machine | None = None
) -> Run:
    """The facts of a run, with what was around it right after its end; `ours` has our variables,
    not the program's.
    """
    seen, folder = _of_framework(ended, "environ") or {}, folder_of(ended)
    variables = seen or value_or(machine.environ(), {})
    at = Known(folder, Source("call", "sampler")) if folder else machine.real(".")
    pids: Fact[tuple[int, ...]] = Unknown("its processes were not looked at")
    if listed := ended.samples.end.get("pids"):
        pids = Known(tuple(listed), Source("call", "sampler"))
        if value_or(machine.link("/proc/self/ns/pid"), "") != FIRST_NAMESPACE:
            pids = Unknown("processes have other numbers here than in the kernel log")
    ours_now = ((name, resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))) for name in NAMES)
    limits = (Limit(name, *both) for name, both in ours_now)  # which it inherited; -1 is none
    return msgspec.structs.replace(
        run,
        pids=pids,
        limits=Known(tuple(limits), Source("call", "getrlimit")),
        folder=at,
        variables=_otherwise(seen, (ours or machine).environ()),
        put_first=put_first(variables, machine, output),
        places=_places(machine, variables, value_or(at, "") or ".", output),
    )


def _of_framework(ended: Ended, name: str) -> Any:
    """What was seen of the process that loaded a framework, else of any."""
    seen = sorted(
        ended.samples.seen.values(),
        key=lambda one: (not one.get("libraries"), not one.get("python")),
    )
    return next((one[name] for one in seen if one.get(name)), None)


def folder_of(ended: Ended) -> str:
    """The working folder of the program as it was seen; "" where it is ours."""
    return _of_framework(ended, "folder") or ""


def environ_of(ended: Ended, argv: Sequence[str] = ()) -> dict[str, str] | None:
    """Our variables, those that steer the stack as the program had them or set them; None where
    nobody knows more.

    What a script sets counts where no process was seen with its own variables; what Python sets
    itself counts always.
    """
    seen, mine = _of_framework(ended, "environ") or {}, dict(os.environ)
    by_scripts, by_python = settings(argv) if argv else ({}, {})
    if not seen:
        own = {**by_scripts, **by_python}
        return {**mine, **own} if own else None
    steering = permitted(mine)
    rest = {name: value for name, value in mine.items() if name not in steering}
    return {**rest, **seen, **by_python}


def _otherwise(seen: Mapping[str, str], ours: Fact[dict[str, str]]) -> Fact[dict[str, str]]:
    """What it had otherwise than this shell."""
    if not seen or not isinstance(ours, Known):
        return Unknown("its processes ended before their variables were seen")
    before = ours.value
    found = {name: to for name, to in seen.items() if before.get(name) not in (to, "set")}
    found |= {name: "" for name in before if name not in seen}
    if not found:
        return absent("call", "sampler", "as in this shell")
    return Known(found, Source("call", "sampler", "/proc/PID/environ"))


def _places(
    machine: Machine, variables: Mapping[str, str], folder: str, output: str
) -> Fact[tuple[Place, ...]]:
    """Those that may be full; a full one is often not named."""
    temporary = (variables[name] for name in TEMPORARY if variables.get(name))
    wanted: list[tuple[str, PlaceRole, str]] = [
        (folder, "working folder", ""),
        (next(temporary, "/tmp"), "temporary", ""),
    ]
    for row in tables().cache:
        named_by = (variables[name] for name in row.names if variables.get(name))
        if path := next(named_by, row.usual):
            wanted.append((path, "cache", row.of))
    for path in list(named(output))[-MOST_PLACES:]:
        own = path if path.startswith(("/", "~")) else f"{folder}/{path}"
        wanted.append((own, "named in the output", ""))
    if pattern("space").search(output):  # then where file systems are mounted for writing, too
        lines = value_or(machine.lines(MOUNTS, " rw,", " rw "), ())
        rows = [line.split() for line in lines if pattern("writable").search(line)]
        mounts = (row[4].encode().decode("unicode_escape", "replace") for row in rows if row[5:])
        kept = [path for path in mounts if not path.startswith(("/proc", "/sys", "/dev", "/run"))]
        wanted += [(path, "file system", "") for path in kept[:MOST_MOUNTS]]
    found: dict[str, Place] = {}
    for path, role, of in wanted:
        whole = f"{machine.home}{path[1:]}" if path[:2] in ("~", "~/") else path
        said = machine.standing(whole)
        if isinstance(said, Known):
            one = Place(whole, role, **msgspec.structs.asdict(said.value), cache_of=of)
            found.setdefault(path, one)
    return Known(tuple(found.values()), Source("call", "statvfs"))


def named(output: str) -> Iterator[str]:
    """The paths in the last lines that complain of a file or a folder, and in those before."""
    lines = output.splitlines()[-TAIL:]
    found: dict[str, None] = {}
    for place, line in enumerate(lines):
        if pattern("complains").search(line):
            near = "\n".join(lines[max(0, place - 6) : place])
            for path in (*_PATH.findall(line), *_OPENED.findall(near)):
                found[path.rstrip(".")] = None
    yield from found


# Libraries that variables of the loader put first


def put_first(
    variables: Mapping[str, str], machine: Machine, output: str
) -> Fact[tuple[PutFirst, ...]]:
    """What is put first; before all, what an object needs that the output says cannot be loaded."""
    everywhere: tuple[Variable, ...] = ("LD_PRELOAD", "LD_AUDIT")
    found: list[tuple[str, Variable]] = []
    for variable in everywhere:
        paths = re.split(r"[: ]+", variables.get(variable, ""))
        found += [(path, variable) for path in paths if path]
    folders = variables.get("LD_LIBRARY_PATH", "").split(":")[:MOST_FOLDERS]
    for folder in filter(None, folders):
        for entry in value_or(machine.list(folder), ())[:MOST_FILES]:
            if _LIBRARY.match(entry.name):
                found.append((f"{folder.rstrip('/')}/{entry.name}", "LD_LIBRARY_PATH"))
    if not found:
        return absent("env", "LD_PRELOAD, LD_LIBRARY_PATH")
    needs: dict[str, str] = {}  # by the name of a library: the object that cannot be loaded
    for match in _OBJECT.finditer("\n".join(output.splitlines()[-LAST:])):
        path = match["object"] or match["object2"]
        elf = value_or(machine.elf(path), None)
        needs |= {name: path for name in elf.needed if name not in needs} if elf else {}
    rows = [PutFirst(path, name, needs.get(path.rpartition("/")[2], "")) for path, name in found]
    kept = [one for one in rows if one.needed_by or one.variable != "LD_LIBRARY_PATH"]
    kept.sort(key=lambda one: not one.needed_by)
    return Known(tuple(kept), Source("env", "LD_PRELOAD, LD_AUDIT, LD_LIBRARY_PATH"))


GIB = 1 << 30
RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK")
SIZES = ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")
MOST = 2
"""GPUs that are told of, the fullest first."""


def gib(count: int) -> str:
    """Bytes in GiB, one decimal."""
    return f"{count / GIB:.1f} GiB"


def circumstances(run: Run, answer: Answer) -> str:
    """The lines; "" where the program succeeded."""
    return "".join(f"{line}\n" for line in _lines(run, answer)) if run.failed else ""


def _lines(run: Run, answer: Answer) -> Iterator[str]:
    seconds, gpus = value_or(run.seconds, 0.0), value_or(run.gpus, ())
    took = f"{seconds:.1f} s" if seconds < 600 else f"{seconds / 60:.0f} min"
    yield f"── {how_it_ended(run)} after {took} "
    if isinstance(run.first_rank, Known):
        yield f"   rank {run.first_rank.value} failed first"
    sent = [name for name in value_or(run.sent, ()) if name != "SIGCONT"]
    if sent:
        silent = value_or(run.silent, None)
        text = "printed nothing" if silent is None else f"had printed nothing for {silent:.0f} s"
        busy = [f"GPU {use.index} was at most {use.busy} % busy" for use in gpus if use.own]
        names = ", ".join(dict.fromkeys(sent))
        yield "; ".join([f"   {names} was sent to it; it {text}", *busy])
        if value_or(run.silent, seconds) >= HANG and shutil.which("py-spy"):
            program = value_or(run.program, "python")
            yield f"   to see where it hangs: py-spy dump --pid $(pgrep -n {program})"
    if answer.causes and answer.causes[0].id.startswith("memory."):
        used = [use for use in gpus if use.own or use.others * 10 > use.total]
        for use in sorted(used, key=lambda use: (-use.own, -use.others))[:MOST]:
            held = f"{'about ' if use.guessed else ''}{gib(use.own)} of {gib(use.total)}"
            yield f"   GPU {use.index}: it held at most {held}; others {gib(use.others_then)} then"


def own_rank(environ: Mapping[str, str]) -> str:
    """Our rank where we were started once for each of several; else ""."""
    size = next((environ[name] for name in SIZES if name in environ), "")
    rank = next((environ[name] for name in RANKS if name in environ), "")
    return rank if rank.isdigit() and size != "1" else ""
