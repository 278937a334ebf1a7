"""Limits, full or closed places, and host memory."""

from __future__ import annotations

from gpuwhy.facts.fact import Absent, Known, Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Finding, saw
from gpuwhy.facts.installs import DamageKind
from gpuwhy.facts.run import Limit, Place
from gpuwhy.facts.system import KernelLine
from gpuwhy.signs.case import Case, against, noted, proof, rows, slows, strong, sure, weak
from gpuwhy.signs.expect import gpu_present

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
_WORKERS = 256
_OUT_OF_MEMORY = 2
_SMALL = 1 << 20
_RECENT = 3600.0


def size(count: int) -> str:
    """4.1 GB."""
    if count >= GB:
        return f"{count / GB:.1f} GB"
    return f"{count / 1e6:.0f} MB" if count >= 1e6 else f"{count} bytes"


# ---------------------------------------------------------------- env.limit


def scarce(case: Case) -> Finding | None:
    """The program ran, and crashed, under a limit with which nothing of the stack starts."""
    run = case.facts.run
    aborted = value_or(run.signal, "") == "SIGABRT"
    if not run.failed or not (run.crashed or aborted):
        return None
    for name, least in _SCARCE.items():
        one = _limit_of(case.facts, name)
        if one is None or one.soft >= least:
            continue
        text = "the program ran under a limit of {limit} (ulimit {flag}), with which nothing starts"
        seen = saw(f"RLIMIT_{name} {one.soft}", run.limits)
        return sure(2 * one.soft <= least)(text, seen, limit=one.soft, flag=FLAGS[name])
    return None


def _limit_of(facts: Facts, name: str) -> Limit | None:
    """A limit that a watched program ran under; None where it had none."""
    found = value_or(facts.run.limits, ())
    return next((one for one in found if one.name == name and one.soft >= 0), None)


def processor_time(case: Case) -> Finding | None:
    """The kernel ended the program after its seconds of processor time."""
    run, one = case.facts.run, _limit_of(case.facts, "CPU")
    if one is None or value_or(run.signal, "") != "SIGXCPU":
        return None
    text = "the kernel ended the program; its processor time was limited to {limit} s (ulimit -t)"
    return proof(text, saw(f"RLIMIT_CPU {one.soft}", run.limits), limit=one.soft)


def file_size(case: Case) -> Finding | None:
    """The program wrote a file to the size that is allowed."""
    run, one = case.facts.run, _limit_of(case.facts, "FSIZE")
    if one is None or value_or(run.signal, "") != "SIGXFSZ":
        return None
    text = "a file grew to the size that the program may write: {limit} (ulimit -f)"
    return proof(text, saw(f"RLIMIT_FSIZE {one.soft}", run.limits), limit=size(one.soft))


def no_room_for_cuda(case: Case) -> Finding | None:
    """A limit on the addresses of a process fails in CUDA as out of memory."""
    facts, limit = case.facts, case.facts.system.address_space_limit
    most = limit.need()
    if most is None or not 0 <= most < _ADDRESSES:
        return None
    text = (
        "the address space of a process is limited to {limit} (ulimit -v), and CUDA reserves more"
    )
    seen = saw(f"RLIMIT_AS {most}", limit)
    for stage in value_or(facts.probe.stages, ()):
        call = stage.failing if stage.name in ("init", "context") else None
        if call is not None and call.code == _OUT_OF_MEMORY:
            more = saw(f"{call.name}: {call.status}", facts.probe.stages)
            values = {"limit": size(most), "call": call.name, "code": call.code}
            return proof(f"{text}: {{call}} answered {{code}}", seen, more, **values)
    has_gpu = isinstance(gpu_present(facts), Known)
    return strong(text, seen, limit=size(most)) if has_gpu else None


def full_or_closed(case: Case) -> Finding | None:
    """A place that the program's output names: full, read-only, of another user, or missing."""
    run = case.facts.run
    if not run.failed:
        return None
    for place in value_or(run.places, ()):
        if place.role != "named in the output":
            continue
        why = _full(place) or _closed(place)
        if why:
            text = "{place} {why}"
            seen = saw(f"{place.free} bytes and {place.inodes} files free", run.places)
            return strong(text, seen, place=place.nearest, why=why)
    return None


def _full(place: Place) -> str:
    if 0 <= place.inodes < 4:
        return f"is full: {place.inodes} more files can be made in it"
    if place.free < _SMALL and place.total:
        return f"is full: {size(place.free)} of {size(place.total)} are free"
    return ""


def _closed(place: Place) -> str:
    if place.read_only:
        return "is mounted read-only"
    return "" if place.writable else "cannot be written by this user"


def no_programs(case: Case) -> Finding | None:
    """The environment lies on a file system from which nothing may be run."""
    damage = case.facts.installs.damage
    one = _noexec(case.facts)
    text = "{folder} is mounted noexec: the loader refuses every library in it"
    return proof(text, saw(f"{one}: noexec", damage), folder=one) if one else None


def _noexec(facts: Facts) -> str:
    damage = value_or(facts.installs.damage, ())
    return next((one.path for one in damage if one.kind is DamageKind.NOEXEC), "")


def closed_site(case: Case) -> Finding | None:
    """Python finds nothing in a folder of packages that its user may not list."""
    found = case.facts.environment.packages
    if not isinstance(found, Unknown) or found.kind != "denied":
        return None
    python = value_or(case.facts.environment.python, None)
    where = Source("folder", python.prefix if python else "site-packages")
    text = "{reason}: Python finds none of the packages in it"
    return proof(text, saw(found.reason, where), reason=found.reason)


def few_files(case: Case) -> Finding | None:
    """PyTorch hands tensors from workers to the program as open files, of which few are allowed."""
    facts = case.facts
    most = value_or(facts.system.open_files_limit, -1)
    torch = any(one.name == "torch" for one in value_or(facts.frameworks.installed, ()))
    if not torch or not 0 <= most < _WORKERS:
        return None
    text = (
        "at most {limit} open files are allowed (ulimit -n), and PyTorch's DataLoader passes every "
        "tensor of its workers as one: 16 workers with 4 tensors a batch take 150"
    )
    seen = saw(f"RLIMIT_NOFILE {most}", facts.system.open_files_limit)
    return noted(weak(text, seen, limit=most))


def unlimited(case: Case) -> Finding | None:
    """Nothing limits the addresses of a program, and none was watched that ended by a limit."""
    facts, limit = case.facts, case.facts.system.address_space_limit
    most = limit.need()
    failed = any(one.failed for one in value_or(facts.imports.tried, ()))
    if facts.run.failed or failed or most is None or 0 <= most < _ADDRESSES:
        return None
    if _noexec(facts) or closed_site(case) or few_files(case):
        return None
    return against("no limit keeps CUDA from starting")


# ---------------------------------------------------------------- memory.host


def nearly_gone(left: int, total: int) -> bool:
    """Less than 2 % is left, or less than 500 MB where that is less than a tenth."""
    return left * 50 < total or (left < GB // 2 and left * 10 < total)


def ram(case: Case) -> Finding | None:
    """RAM that a new program could get."""
    fact = case.facts.system.memory
    memory = fact.need()
    if memory is None or not nearly_gone(memory.available, memory.total):
        return None
    text = "only {left} of {total} of RAM are available"
    seen = saw(f"MemAvailable {memory.available}", fact)
    return slows(proof(text, seen, left=size(memory.available), total=size(memory.total)))


def group_limit(case: Case) -> Finding | None:
    """What the control group (container, batch job) still allows."""
    memory = case.facts.system.memory.need()
    limit = memory.limit.need() if memory else None
    if memory is None or limit is None:
        return None
    used = memory.used_in_limit.need() or 0
    if not nearly_gone(limit - used, limit):
        return None
    text = "only {left} are left of the {limit} that this control group may use"
    seen = (
        saw(f"limit {limit}", memory.limit),
        saw(f"used {used}, file cache left out", memory.used_in_limit),
    )
    return slows(proof(text, *seen, left=size(max(0, limit - used)), limit=size(limit)))


def shared_memory(case: Case) -> Finding | None:
    """/dev/shm, through which data loaders and NCCL pass tensors; small is usual, full is not."""
    fact = case.facts.system.shm
    shm = fact.need()
    if shm is None or shm.total == 0 or shm.free * 20 >= shm.total:
        return None
    text = "/dev/shm is full: {left} of {total} are free"
    seen = saw(f"{shm.free} bytes free", fact)
    return slows(proof(text, seen, left=size(shm.free), total=size(shm.total)))


def killer(case: Case) -> Finding | None:
    """The kernel's killer within the last hour; in a container it may have been another's."""
    system, run = case.facts.system, case.facts.run
    log, uptime = system.kernel_log, system.uptime
    if not isinstance(log, Known) or not isinstance(uptime, Known):
        return None
    since = value_or(run.started, 0.0)
    kills = [one for one in log.value if _recent(one, uptime.value, since) and run.concerns(one)]
    if not kills:
        return None
    minutes = (uptime.value - kills[-1].seconds) / 60
    text = "the kernel ran out of memory {minutes} minutes ago and killed a process"
    say = strong if isinstance(system.container, Absent) else weak
    return slows(say(text, saw(kills[-1].text, log), minutes=f"{minutes:.0f}"))


def _recent(line: KernelLine, uptime: float, since: float) -> bool:
    recent = -5 <= uptime - line.seconds <= _RECENT and line.seconds >= since - 5
    return line.event == "killed for memory" and recent


def killed_for_memory(case: Case) -> Finding | None:
    """A watched program that was killed: the kernel's own counters show whether for memory."""
    run = case.facts.run
    if value_or(run.signal, "") != "SIGKILL" or not isinstance(run.oom_kills, Known):
        return None
    if run.oom_kills.value == 0:
        return against("the program was killed, but the kernel killed nothing for memory meanwhile")
    host = value_or(run.host, None)
    held = " held {peak} at their peak and" if host else ""
    text = f"the program's processes{held} were killed by the kernel for memory"
    seen = saw(f"{run.oom_kills.value} out-of-memory kills while it ran", run.oom_kills)
    return slows(proof(text, seen, peak=size(host.peak) if host else ""))


def at_the_limit(case: Case) -> Finding | None:
    """A watched program that was killed while its group, or the machine, was out of memory."""
    run, memory = case.facts.run, value_or(case.facts.system.memory, None)
    use = value_or(run.host, None)
    if value_or(run.signal, "") != "SIGKILL" or use is None:
        return None
    limit, held, left = use.limit, use.held, use.least_available
    most, used = value_or(limit, 0), value_or(held, 0)
    if most and isinstance(held, Known) and nearly_gone(most - used, most):
        text = "the control group held {held} of the {limit} it may use, and it was killed"
        values = {"held": size(used), "limit": size(most)}
        return slows(strong(text, saw(f"highest use {used}", held), **values))
    if memory and isinstance(left, Known) and nearly_gone(left.value, memory.total):
        text = "{left} of {total} of RAM were left when the program was killed"
        values = {"left": size(left.value), "total": size(memory.total)}
        return slows(strong(text, saw(f"least MemAvailable {left.value}", left), **values))
    return None


def plenty(case: Case) -> Finding | None:
    """Everything was looked at and nothing is short."""
    if case.facts.run.failed:
        return None
    memory, shm = case.facts.system.memory, case.facts.system.shm
    if any(sign(case) for sign in (ram, group_limit, shared_memory, killer)):
        return None
    value = memory.need()
    left = size(value.available) if value else "an unknown part"
    (saw(f"{left} available", memory), saw("/dev/shm has room", shm))
    return against("{left} of RAM are available", left=left)


SIGNS = (
    *rows(
        "env.limit",
        "machine",
        *(scarce, processor_time, file_size, no_room_for_cuda, full_or_closed, no_programs),
        *(closed_site, few_files, unlimited),
    ),
    *rows(
        "memory.host",
        "machine",
        *(ram, group_limit, shared_memory, killer, killed_for_memory, at_the_limit, plenty),
    ),
)
