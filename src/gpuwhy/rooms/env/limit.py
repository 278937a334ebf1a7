"""env.limit: a resource limit stands in the way, or a place is full or closed.

A limit that is merely low, and a folder that is merely small, is no cause: a sign speaks only where the way the program
ended names the limit or the place, or where CUDA cannot start under it at all.
"""

from __future__ import annotations

import msgspec

from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, ending_it, noted, proof, saw, strong, weak
from gpuwhy.model.cause import linked as tied
from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Known, Source, Unknown, value_or
from gpuwhy.model.facts import NO_EXEC, Limit, Place
from gpuwhy.rooms.shared import imported, sourced
from gpuwhy.rooms.shared.commands import word
from gpuwhy.rooms.shared.full_places import full, linked, size
from gpuwhy.rooms.shared.watched import said

GB = 1_000_000_000
ADDRESSES = 32 * GB
"""Below this many bytes of address space cuInit was seen to fail (12 GB did, on a GPU of 141 GB)."""
OUT_OF_MEMORY = 2
PLENTY_FILES, PLENTY_TASKS = 1 << 19, 1 << 20
"""Limits that no program of this kind reaches."""
MANY = 64 * GB
SPOKEN = ("limit.", "loader.no_map", "memory.cpu_allocator", "memory.xla", "nvrtc.temp", "signal.kill")
"""The messages that its fixes are for."""
REFUSED = ("memory.cpu_allocator", "loader.no_map", "memory.xla_oom", "memory.xla_request",
           "limit.address", "cuda.out_of_memory")  # fmt: skip
SCARCE = {"NOFILE": 64, "NPROC": 128, "STACK": 512 << 10, "AS": 8 * GB, "DATA": 2 * GB, "FSIZE": 1 << 20}
"""Below these no framework was seen to start; nobody has them unless somebody set them."""
REFUSING = ("cuda.operating_system", "cuda.system_", "cuda.unknown", "cuda.not_initialized", "cuda.no_device",
            "cuda.device_unavailable", "cuda.out_of_memory", "jax.", "loader.", "signal.", "limit.", "title.",
            "torch.", "python.", "tf.", "nccl.")  # fmt: skip
"""How a system's refusal comes out of the stack, where the reason is lost on the way."""
WORKERS = 256
"""Open files below which PyTorch's data loader is tight: 16 workers that hand over 4 tensors a batch were seen with 152
in the main process alone, and every batch that a program keeps holds its own."""
FLAGS = {
    "STACK": "-s",
    "NOFILE": "-n",
    "NPROC": "-u",
    "AS": "-v",
    "FSIZE": "-f",
    "MEMLOCK": "-l",
    "CPU": "-t",
    "DATA": "-d",
}


def limit_of(case: Case, name: str) -> Limit | None:
    """A limit that a watched program ran under; None where it had none, or was not watched."""
    found: tuple[Limit, ...] = value_or(case.facts.run.limits, ())
    return next((one for one in found if one.name == name and one.soft >= 0), None)


def _under(case: Case, name: str, text: str) -> Finding | None:
    one = limit_of(case, name)
    if one is None:
        return None
    most = "no hard limit" if one.hard < 0 else f"hard limit {one.hard}"
    seen = saw(f"RLIMIT_{name} {one.soft}, {most}", case.facts.run.limits)
    return tied(proof(f"{text} {one.soft} (ulimit {FLAGS[name]}; {most})", seen))


def files(case: Case) -> Finding | None:
    """The program was refused one more open file."""
    one = limit_of(case, "NOFILE")
    if said(case, "limit.files") is None or one is None or one.soft >= PLENTY_FILES:
        return None
    return _under(case, "NOFILE", "the program was refused another open file; the limit it ran under is")


def processes(case: Case) -> Finding | None:
    """The program was refused one more thread or process: by its user's limit or by the control group's."""
    if said(case, "limit.processes") is None:
        return None
    tasks, one = case.facts.surroundings.tasks, limit_of(case, "NPROC")
    if isinstance(tasks, Known) and (one is None or tasks.value.limit <= one.soft):
        text = f"no further thread or process was allowed; the control group allows {tasks.value.limit} in all"
        return proof(text, saw(f"pids.max {tasks.value.limit}", tasks))
    if one is None or one.soft >= PLENTY_TASKS:
        return None
    return _under(case, "NPROC", "no further thread or process was allowed; the limit for all of this user's is")


def file_size(case: Case) -> Finding | None:
    """The program wrote a file to the size that is allowed."""
    if said(case, "limit.file_size", "limit.half_written") is None and not _signalled(case, "SIGXFSZ"):
        return None
    return _under(case, "FSIZE", "a file grew to the size that the program may write:")


def processor_time(case: Case) -> Finding | None:
    """The kernel ended the program after its seconds of processor time."""
    one = limit_of(case, "CPU")
    ended = _signalled(case, "SIGXCPU") or (_signalled(case, "SIGKILL") and value_or(case.facts.run.oom_kills, 1) == 0)
    if one is None or not ended or value_or(case.facts.run.seconds, 0.0) < one.soft / 64:
        return None
    found = _under(case, "CPU", "the kernel ended the program; its seconds of processor time were limited to")
    if found is None or _signalled(case, "SIGXCPU") or value_or(case.facts.run.seconds, 0.0) >= one.soft / 2:
        return found
    return msgspec.structs.replace(found, weight="strong")  # anybody may send SIGKILL


def starved(case: Case) -> Finding | None:
    """The program ran under a limit with which nothing of the stack starts, and its end has no reason of its own."""
    if not case.facts.run.failed or case.ending.own:
        return None
    crashed = case.facts.run.crashed or _signalled(case, "SIGABRT")
    if not crashed and said(case, *REFUSING) is None:
        return None
    for name, least in SCARCE.items():
        one = limit_of(case, name)
        if one is not None and one.soft < least:
            seen = saw(f"RLIMIT_{name} {one.soft}", case.facts.run.limits)
            how = f"a limit of {one.soft} (ulimit {FLAGS[name]})"
            weighed = proof if 2 * one.soft <= least else strong
            return tied(weighed(f"the program ran under {how}, with which nothing of this kind starts", seen))
    return None


def _signalled(case: Case, name: str) -> bool:
    signal = case.facts.run.signal
    return isinstance(signal, Known) and signal.value == name


def addresses(case: Case) -> Finding | None:
    """The program was refused memory under a limit on its addresses."""
    one = limit_of(case, "AS") or limit_of(case, "DATA")
    if said(case, *REFUSED) is None or one is None or one.soft >= MANY:
        return None
    if said(case, "cuda.out_of_memory") is not None and one.soft >= ADDRESSES:
        return None
    how = f"{size(one.soft)} (ulimit {FLAGS[one.name]})"
    text = f"the program was refused memory; its address space is limited to {how}"
    return tied(proof(text, saw(f"RLIMIT_{one.name} {one.soft}", case.facts.run.limits)))


def no_room_for_cuda(case: Case) -> Finding | None:
    """CUDA reserves addresses for all GPU memory and more at its start; a limit on them fails as out of memory."""
    limit = case.facts.surroundings.address_space_limit
    if limit.need() is None or not isinstance(limit, Known) or not 0 <= limit.value < ADDRESSES:
        return None
    text = f"the address space of a process is limited to {size(limit.value)} here (ulimit -v), and CUDA reserves more"
    seen = saw(f"RLIMIT_AS {limit.value}", limit)
    stages = case.facts.probe.stages
    call = next((c for s in value_or(stages, ()) if s.name in ("init", "context") and (c := s.failing)), None)
    if call is not None and call.code == OUT_OF_MEMORY:
        return proof(f"{text}: {call.name} answered {call.code}", seen, saw(f"{call.name}: {call.status}", stages))
    return strong(text, seen) if isinstance(gpu_present(case.facts), Known) else None


def no_space(case: Case) -> Finding | None:
    """The place that the program could not write to is full: of bytes, or of files."""
    if said(case, "limit.space", "limit.half_written", "limit.temporary", "limit.preprocess") is None:
        return None
    for place in linked(case):
        reason = full(place)
        if reason:
            text = f"{place.nearest}, {place.role}, is full: {reason}"
            return proof(text, saw(f"{place.free} bytes and {place.inodes} files free", case.facts.run.places))
    return _somewhere(case)


def _somewhere(case: Case) -> Finding | None:
    """The one file system that is full, where the message names none."""
    found = [place for place in value_or(case.facts.run.places, ()) if place.role == "file system" and full(place)]
    if len({place.nearest for place in found}) != 1:
        return None
    text = f"of the file systems that can be written, one is full: {found[0].nearest}, {full(found[0])}"
    return strong(text, saw(f"{found[0].free} bytes and {found[0].inodes} files free", case.facts.run.places))


def closed(case: Case) -> Finding | None:
    """The place that the program could not write to is read-only, of another user, or not there."""
    one = said(case, "limit.read_only", "limit.closed", "limit.cache", "limit.temporary", "limit.no_exec")
    if one is None:
        return None
    for place in linked(case):
        why = _why_closed(place, programs=one.signature == "limit.no_exec")
        if why:
            text = f"{place.path if place.exists else place.nearest}, {place.role}, is {why}"
            named = one.signature != "limit.closed" or one.get("path")  # "Permission denied" alone may be anything's
            return (proof if named else weak)(text, saw(f"{place.nearest}: {why}", case.facts.run.places))
    return None


def _why_closed(place: Place, programs: bool) -> str:
    """Why nothing can be written to a place, or no program started from it; "" where nothing speaks against it."""
    if programs and not place.programs:
        return "mounted noexec"
    if place.read_only:
        return "mounted read-only"
    if not place.writable:
        return "not to be written by this user"
    return "not there, although TMPDIR names it" if place.role == "temporary" and not place.exists else ""


def no_programs(case: Case) -> Finding | None:
    """The environment lies on a file system from which nothing may be run: the loader refuses its libraries."""
    place = _noexec(case)
    if place is None:
        return None
    text = f"{place} is mounted noexec: the loader refuses every library in it (failed to map segment)"
    return proof(text, saw(f"{place}: noexec", case.facts.target.damage))


def closed_site(case: Case) -> Finding | None:
    """Python passes over a folder of packages that its user may not list, and finds nothing in it."""
    found = case.facts.target.distributions
    if not isinstance(found, Unknown) or found.kind != "denied":
        return None
    python = value_or(case.facts.target.interpreter, None)
    where = Source("folder", python.prefix if python else "site-packages")
    return proof(f"{found.reason}: Python finds none of the packages in it", saw(found.reason, where))


def _noexec(case: Case) -> str | None:
    found = value_or(case.facts.target.damage, ())
    return next((one.path for one in found if one.what == NO_EXEC), None)


def unlimited(case: Case) -> Finding | None:
    """Nothing limits the addresses of a program, and none was watched that ended by a limit."""
    limit = case.facts.surroundings.address_space_limit
    if case.facts.run.failed or case.symptoms or limit.need() is None or not isinstance(limit, Known):
        return None
    if _noexec(case) is not None or closed_site(case) is not None or imported.blamed(case, "limit"):
        return None
    if by_activation(case) or few_files(case) or starves_the_import(case):
        return None
    if 0 <= limit.value < ADDRESSES:
        return None
    return against("no limit keeps CUDA from starting", saw(f"RLIMIT_AS {limit.value}", limit))


def starves_the_import(case: Case) -> Finding | None:
    """The import of a framework was tried and fails, under a hard limit with which none was seen to start."""
    failed = [one for one in imported.failing(case) if not one.blame]
    found = _hard(case) if failed else None
    if found is None:
        return None
    name, value = found
    how = size(value) if name == "AS" else str(value)
    what = f"a limit of {how} (ulimit {FLAGS[name]}), with which no framework was seen to start"
    text = f"{failed[0].deed} fails under {what}"
    evidence = saw(f"RLIMIT_{name} {value}", Source("call", "getrlimit", f"RLIMIT_{name}"))
    return ending_it((proof if 2 * value <= SCARCE[name] else strong)(text, evidence, imported.seen(case, failed[0])))


def _hard(case: Case) -> tuple[str, int] | None:
    """The first of this shell's limits that is below what a framework starts with, and its value."""
    around = case.facts.surroundings
    seen = {"AS": value_or(around.address_space_limit, -1), "NOFILE": value_or(around.open_files_limit, -1)}
    return next(((name, value) for name, value in seen.items() if 0 <= value < SCARCE[name]), None)


def few_files(case: Case) -> Finding | None:
    """PyTorch hands tensors from workers to the program as open files, of which few are allowed."""
    most = case.facts.surroundings.open_files_limit
    torch = any(one.name == "torch" for one in value_or(case.facts.target.frameworks, ()))
    if not torch or case.symptoms or not isinstance(most, Known) or not 0 <= most.value < WORKERS:
        return None
    text = (
        f"at most {most.value} open files are allowed (ulimit -n), and PyTorch's DataLoader hands over every tensor of "
        "its workers as one: 16 workers with 4 tensors a batch take 150, and each batch that is kept its own"
    )
    return noted(weak(text, saw(f"RLIMIT_NOFILE {most.value}", most)))


def ends_the_import(case: Case) -> Finding | None:
    """The import of a framework was tried and fails; with limits as high as this user may set them it does not."""
    one = imported.blamed(case, "limit")
    if one is None:
        return None
    names = " or ".join(f"ulimit {FLAGS[name]}" for name in one.culprit.split() if name in FLAGS)
    text = f"{one.deed} fails under the limits of this shell ({names}), and goes well without them ({one.why})"
    return proof(text, imported.seen(case, one))


def _scarce(case: Case) -> str:
    """The limit that ended a watched program, where that is seen and not said."""
    if processor_time(case):
        return "CPU"
    found = (name for name, least in SCARCE.items() if (one := limit_of(case, name)) and one.soft < least)
    return next(found, "") if starved(case) else ""


def by_activation(case: Case) -> Finding | None:
    """The environment's activation sets a limit under which nothing of the stack starts, or CUDA does not."""
    for name, least in {**SCARCE, "AS": ADDRESSES}.items():
        one = sourced.limited(case, name)
        if one is not None and one.value < least:
            text = f"{one.file} sets a limit of {one.value} (ulimit {FLAGS[name]}), which every program then runs under"
            say = strong if one.value < SCARCE[name] else weak
            return say(f"{text}: {_under_it(name)}", saw(f"RLIMIT_{name} {one.value}", Source("file", one.file)))
    return None


def _under_it(name: str) -> str:
    return "CUDA does not start with so few addresses" if name == "AS" else "no framework was seen to start with it"


def fixes(case: Case) -> tuple[Fix, ...]:
    """Where only facts speak, the limit on addresses; what a program printed is answered by its message."""
    one = imported.blamed(case, "limit")
    if one is not None:
        flags = [f"ulimit -S {FLAGS[name]} $(ulimit -H {FLAGS[name]})" for name in one.culprit.split() if name in FLAGS]
        return (Fix("Raise the limits of this shell as far as it may", on.linux("; ".join(flags)), safe=True),)
    starved_by = _hard(case)
    if starved_by is not None and starves_the_import(case):
        return _raised(starved_by[0])
    if few_files(case):
        more = on.linux("ulimit -n $(ulimit -H -n)")
        return (Fix("Allow this shell as many open files as it may have", more, safe=True),)
    if by_activation(case):
        lowered = sourced.found(case, "limit")[0]
        return (sourced.mended(case, lowered),)
    scarce = _scarce(case)
    if scarce:
        return _raised(scarce)
    place = _noexec(case)
    if closed_site(case) is not None:
        return (Fix("Have its owner open it for you, or make an environment of your own", role="part"),)
    if place is not None:
        there = on.linux(f"findmnt -T {word(place)}")
        return (
            Fix("Make the environment again on a file system that allows programs: its libraries are programs too"),
            Fix("Or have that file system mounted without noexec; this names it", there, safe=True, role="look"),
        )
    if any(one.signature.startswith(SPOKEN) for one in case.symptoms):
        return ()
    return (
        Fix("Remove the limit on virtual memory in this shell", on.linux("ulimit -v unlimited"), safe=True),
        Fix(
            "Where that is refused, the hard limit is set elsewhere: look for it",
            on.linux("grep -rn . /etc/security/limits.*"),
            safe=True,
            role="look",
        ),
    )


def _raised(name: str) -> tuple[Fix, ...]:
    """Without a limit, or from where it is set."""
    return (
        Fix("Start the program from a shell without it", on.linux(f"ulimit {FLAGS[name]} unlimited"), safe=True),
        Fix(
            "Where that is refused, find who sets it: the shell's startup file, the service, the batch system",
            on.linux("ulimit -aH; grep -rn . /etc/security/limits.*"), safe=True, role="look",
        ),
    )  # fmt: skip


CAUSE = Cause(
    id="env.limit",
    title="a system limit is reached, or a disk or folder is full or cannot be written",
    signs=(
        files,
        processes,
        file_size,
        processor_time,
        starved,
        addresses,
        no_room_for_cuda,
        no_space,
        closed,
        no_programs,
        closed_site,
        ends_the_import,
        starves_the_import,
        few_files,
        by_activation,
        unlimited,
    ),
    fixes=fixes,
    hides=("other.not_gpu",),
    effect="A limit stands in the way of programs",
)
