"""Limits, full or closed places, and host memory."""

from gpuwhy.facts.fact import Absent, Known, value_or
from gpuwhy.facts.finding import Finding, saw
from gpuwhy.facts.installs import DamageKind
from gpuwhy.signs import say
from gpuwhy.signs.case import Case, Row, rows
from gpuwhy.signs.expect import gpu_present
from gpuwhy.signs.say import size

GB = 1_000_000_000
_ADDRESSES = 32 * GB
"""Of a process that uses CUDA, which reserves addresses for all GPU memory and more."""
_SCARCE = {
    "NOFILE": 64,
    "NPROC": 128,
    "STACK": 512 << 10,
    "AS": 8 * GB,
    "DATA": 2 * GB,
    "FSIZE": 1 << 20,
}
"""Below these no framework was seen to start."""
_SPENT = {
    "SIGXCPU": ("CPU", "its seconds of processor time"),
    "SIGXFSZ": ("FSIZE", "the bytes of a file"),
}
"""The signal of a limit that was reached."""
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
_OUT_OF_MEMORY = 2
_SMALL = 1 << 20
_RECENT = 3600.0

# ---------------------------------------------------------------- env.limit


def scarce(case: Case) -> Finding | None:
    """The program ended by a limit, or crashed under one with which nothing of the stack starts."""
    run = case.facts.run
    signal = value_or(run.signal, "")
    name, what = _SPENT.get(signal, ("", ""))
    for one in value_or(run.limits, ()):
        limit = f"{one.soft} (ulimit {FLAGS.get(one.name, one.name)})"
        seen = saw(f"RLIMIT_{one.name} {one.soft}", run.limits)
        if one.name == name and one.soft >= 0:
            text = f"the kernel ended the program; {what} were limited to {limit}"
            return say.proof(text, seen)
        least = _SCARCE.get(one.name, 0)
        if (run.crashed or signal == "SIGABRT") and 0 <= one.soft < least:
            text = f"the program ran under a limit of {limit}, with which nothing starts"
            return say.sure(2 * one.soft <= least)(text, seen)
    return None


def no_room_for_cuda(case: Case) -> Finding | None:
    """A limit on the addresses of a process fails in CUDA as out of memory."""
    facts, limit = case.facts, case.facts.system.address_space_limit
    most = limit.need()
    if most is None or not 0 <= most < _ADDRESSES:
        return None
    text = (
        f"the address space of a process is limited to {size(most)} (ulimit -v), and CUDA reserves "
        "more"
    )
    seen = saw(f"RLIMIT_AS {most}", limit)
    for stage in value_or(facts.probe.stages, ()):
        call = stage.failing if stage.name in ("init", "context") else None
        if call is not None and call.code == _OUT_OF_MEMORY:
            more = saw(f"{call.name}: {call.status}", facts.probe.stages)
            return say.proof(f"{text}: {call.name} answered {call.code}", seen, more)
    return say.strong(text, seen) if isinstance(gpu_present(facts), Known) else None


def full_or_closed(case: Case) -> Finding | None:
    """A place that the program's output names: full, read-only, of another user, or missing."""
    run = case.facts.run
    for place in value_or(run.places, ()) if run.failed else ():
        full = place.free < _SMALL and place.total
        states = (
            (0 <= place.inodes < 4, f"is full: {place.inodes} more files can be made in it"),
            (full, f"is full: {size(place.free)} of {size(place.total)} are free"),
            (place.read_only, "is mounted read-only"),
            (not place.writable, "cannot be written by this user"),
        )
        why = next((words for holds, words in states if holds), "")
        if why and place.role == "named in the output":
            seen = saw(f"{place.free} bytes and {place.inodes} files free", run.places)
            return say.strong(f"{place.nearest} {why}", seen)
    return None


def no_programs(case: Case) -> Finding | None:
    """The environment lies on a file system from which nothing may be run."""
    damage = case.facts.installs.damage
    found = (one.path for one in value_or(damage, ()) if one.kind is DamageKind.NOEXEC)
    folder = next(found, "")
    text = f"{folder} is mounted noexec: the loader refuses every library in it"
    return say.proof(text, saw(f"{folder}: noexec", damage)) if folder else None


def unlimited(case: Case) -> Finding | None:
    """Nothing limits the addresses of a program, and none was watched that ended by a limit."""
    facts, most = case.facts, case.facts.system.address_space_limit.need()
    failed = facts.run.failed or any(one.failed for one in value_or(facts.imports.tried, ()))
    if failed or most is None or 0 <= most < _ADDRESSES:
        return None
    return say.against("no limit keeps CUDA from starting")


# ---------------------------------------------------------------- memory.host


def nearly_gone(left: int, total: int) -> bool:
    """Less than 2 % is left, or less than 500 MB where that is less than a tenth."""
    return left * 50 < total or (left < GB // 2 and left * 10 < total)


def little_memory(case: Case) -> Finding | None:
    """What a new program could get: of RAM, or of its control group (container, batch job)."""
    fact = case.facts.system.memory
    memory = fact.need()
    if memory is None:
        return None
    if nearly_gone(memory.available, memory.total):
        text = f"only {size(memory.available)} of {size(memory.total)} of RAM are available"
        return say.slows(say.proof(text, saw(f"MemAvailable {memory.available}", fact)))
    limit, used = memory.limit.need(), memory.used_in_limit
    left = limit - (used.need() or 0) if limit is not None else 0
    if limit is None or not nearly_gone(left, limit):
        return None
    text = (
        f"only {size(max(0, left))} are left of the {size(limit)} that this control group may use"
    )
    seen = saw(f"limit {limit}", memory.limit), saw("used, file cache left out", used)
    return say.slows(say.proof(text, *seen))


def shared_memory(case: Case) -> Finding | None:
    """/dev/shm, through which data loaders and NCCL pass tensors; small is usual, full is not."""
    fact = case.facts.system.shm
    shm = fact.need()
    if shm is None or shm.total == 0 or shm.free * 20 >= shm.total:
        return None
    left, total = size(shm.free), size(shm.total)
    text, seen = (
        f"/dev/shm is full: {left} of {total} are free",
        saw(f"{shm.free} bytes free", fact),
    )
    return say.slows(say.proof(text, seen, left=left, total=total))


def killer(case: Case) -> Finding | None:
    """The kernel's killer within the last hour; in a container it may have been another's."""
    system, run = case.facts.system, case.facts.run
    log, uptime = system.kernel_log, value_or(system.uptime, None)
    if not isinstance(log, Known) or uptime is None:
        return None
    since = max(uptime - _RECENT, value_or(run.started, 0.0) - 5)
    kills = [one for one in log.value if one.event == "killed for memory" and run.concerns(one)]
    kills = [one for one in kills if since <= one.seconds <= uptime + 5]
    if not kills:
        return None
    minutes = f"{(uptime - kills[-1].seconds) / 60:.0f} minutes"
    text = f"the kernel ran out of memory {minutes} ago and killed a process"
    weigh = say.strong if isinstance(system.container, Absent) else say.weak
    return say.slows(weigh(text, saw(kills[-1].text, log)))


def killed_for_memory(case: Case) -> Finding | None:
    """A watched program that was killed: the kernel's own counters show whether for memory."""
    run = case.facts.run
    if value_or(run.signal, "") != "SIGKILL" or not isinstance(run.oom_kills, Known):
        return None
    if run.oom_kills.value == 0:
        none = "the program was killed, but the kernel killed nothing for memory meanwhile"
        return say.against(none)
    host = value_or(run.host, None)
    held = f" held {size(host.peak)} at their peak and" if host else ""
    text = f"the program's processes{held} were killed by the kernel for memory"
    seen = saw(f"{run.oom_kills.value} out-of-memory kills while it ran", run.oom_kills)
    return say.slows(say.proof(text, seen))


def at_the_limit(case: Case) -> Finding | None:
    """A watched program that was killed while its group, or the machine, was out of memory."""
    run, memory = case.facts.run, value_or(case.facts.system.memory, None)
    use = value_or(run.host, None)
    if value_or(run.signal, "") != "SIGKILL" or use is None:
        return None
    most, held, left = value_or(use.limit, 0), use.held, use.least_available
    if most and isinstance(held, Known) and nearly_gone(most - held.value, most):
        may = f"held {size(held.value)} of the {size(most)} it may use"
        text, seen = f"the control group {may}, and it was killed", f"highest use {held.value}"
        return say.slows(say.strong(text, saw(seen, held)))
    if memory and isinstance(left, Known) and nearly_gone(left.value, memory.total):
        were = f"{size(left.value)} of {size(memory.total)} of RAM were left"
        seen = f"least MemAvailable {left.value}"
        return say.slows(say.strong(f"{were} when the program was killed", saw(seen, left)))
    return None


def plenty(case: Case) -> Finding | None:
    """Everything was looked at and nothing is short."""
    return None if case.facts.run.failed else say.against("memory is available")


SIGNS = (
    *rows("env.limit", "machine", scarce, no_room_for_cuda, full_or_closed),
    *rows("env.limit", "machine", no_programs),
    Row("env.limit", "machine", unlimited, last=True),
    *rows("memory.host", "machine", little_memory, shared_memory, killer),
    *rows("memory.host", "machine", killed_for_memory, at_the_limit),
    Row("memory.host", "machine", plenty, last=True),
)
