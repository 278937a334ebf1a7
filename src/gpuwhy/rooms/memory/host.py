"""memory.host: the host's RAM, the control group's limit or /dev/shm is used up."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, proof, saw, strong, weak
from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import KernelLine
from gpuwhy.rooms.shared.watched import killed

GB = 1_000_000_000
RECENT = 3600.0


def nearly_gone(left: int, total: int) -> bool:
    """Less than 2 % is left, or less than 500 MB where that is less than a tenth."""
    return left * 50 < total or (left < GB // 2 and left * 10 < total)


def _size(count: int) -> str:
    return f"{count / GB:.1f} GB" if count >= GB else f"{count / 1_000_000:.0f} MB"


def ram(case: Case) -> Finding | None:
    """RAM that a new program could get."""
    memory = case.facts.surroundings.memory.need()
    if memory is None or not nearly_gone(memory.available, memory.total):
        return None
    text = f"only {_size(memory.available)} of {_size(memory.total)} of RAM are available"
    return proof(text, saw(f"MemAvailable {memory.available}", case.facts.surroundings.memory))


def group_limit(case: Case) -> Finding | None:
    """What the control group (container, batch job) still allows."""
    memory = case.facts.surroundings.memory.need()
    limit = memory.limit.need() if memory else None
    if memory is None or limit is None:
        return None
    used = memory.used_in_limit.need() or 0
    if not nearly_gone(limit - used, limit):
        return None
    text = f"only {_size(max(0, limit - used))} are left of the {_size(limit)} that this control group may use"
    return proof(
        text, saw(f"limit {limit}", memory.limit), saw(f"used {used}, file cache left out", memory.used_in_limit)
    )


def shared_memory(case: Case) -> Finding | None:
    """/dev/shm, through which data loaders and NCCL pass tensors; small is usual, full is not."""
    shm = case.facts.surroundings.shm.need()
    if shm is None or shm.total == 0 or shm.free * 20 >= shm.total:
        return None
    text = f"/dev/shm is full: {_size(shm.free)} of {_size(shm.total)} are free"
    return proof(text, saw(f"{shm.free} bytes free", case.facts.surroundings.shm))


def killer(case: Case) -> Finding | None:
    """The kernel's killer within the last hour; in a container it may have been somebody else's process."""
    around = case.facts.surroundings
    log, uptime = around.kernel_log, around.uptime
    if not isinstance(log, Known) or not isinstance(uptime, Known):
        return None
    since = value_or(case.facts.run.started, 0.0)
    kills = [line for line in log.value if _recent(line, uptime.value, since) and case.facts.run.concerns(line)]
    if not kills:
        return None
    minutes = (uptime.value - kills[-1].seconds) / 60
    say = strong if isinstance(around.container, Absent) else weak
    return say(f"the kernel ran out of memory {minutes:.0f} minutes ago and killed a process", saw(kills[-1].text, log))


def _recent(line: KernelLine, uptime: float, since: float) -> bool:
    recent = -5 <= uptime - line.seconds <= RECENT and line.seconds >= since - 5
    return line.event == "killed" and recent


def killed_for_memory(case: Case) -> Finding | None:
    """A watched program that was killed: the kernel's own counters tell whether it was for memory."""
    run = case.facts.run
    if not killed(case) or not isinstance(run.oom_kills, Known):
        return None
    if run.oom_kills.value == 0:
        text = "the program was killed, but the kernel killed nothing for memory meanwhile"
        return against(text, saw("no out-of-memory kill while it ran", run.oom_kills))
    held = f" held {_size(run.host.value.peak)} at their peak and" if isinstance(run.host, Known) else ""
    text = f"the program's processes{held} were killed by the kernel for memory"
    return proof(text, saw(f"{run.oom_kills.value} out-of-memory kills while it ran", run.oom_kills))


def at_the_limit(case: Case) -> Finding | None:
    """A watched program that was killed while its group was at its limit, or the machine out of memory."""
    use, memory = case.facts.run.host, case.facts.surroundings.memory
    if not killed(case) or not isinstance(use, Known):
        return None
    limit, held, left = use.value.limit, use.value.held, use.value.least_available
    if isinstance(limit, Known) and isinstance(held, Known) and nearly_gone(limit.value - held.value, limit.value):
        text = f"the control group held {_size(held.value)} of the {_size(limit.value)} it may use, and it was killed"
        return strong(text, saw(f"highest use {held.value}", held))
    if isinstance(memory, Known) and isinstance(left, Known) and nearly_gone(left.value, memory.value.total):
        text = f"{_size(left.value)} of {_size(memory.value.total)} of RAM were left when the program was killed"
        return strong(text, saw(f"least MemAvailable {left.value}", left))
    return None


def plenty(case: Case) -> Finding | None:
    """Everything was looked at and nothing is short; what a program held that has ended is free again."""
    if case.facts.run.failed:
        return None
    memory, shm = case.facts.surroundings.memory, case.facts.surroundings.shm
    if any(sign(case) for sign in (ram, group_limit, shared_memory, killer)):
        return None
    value = memory.need()
    text = f"{_size(value.available)} of RAM are available" if value else "there is no figure for RAM"
    return against(text, saw(text, memory), saw("/dev/shm has room", shm))


def fixes(case: Case) -> tuple[Fix, ...]:
    """See who holds it, then make room or allow more."""
    out = [
        Fix(
            "Check which processes hold the memory",
            on.linux("ps -eo pid,rss,comm --sort=-rss | head"),
            safe=True,
            role="look",
        )
    ]
    if isinstance(case.facts.surroundings.shm, Known) and shared_memory(case):
        out.append(
            Fix("Check what was left in /dev/shm, and remove what no program uses", on.linux("ls -lS /dev/shm | head"))
        )
        out.append(Fix("Start the container with more shared memory", "docker run --shm-size=8g IMAGE"))
    if isinstance(case.facts.surroundings.wsl, Known):
        text = "Give WSL more memory than half of the RAM: under [wsl2] in %UserProfile%\\.wslconfig, then restart it"
        out.append(Fix(text, on.code("memory=24GB    # then, in PowerShell: wsl --shutdown")))
    if isinstance(case.facts.surroundings.container, Known):
        out.append(Fix("Start the container with a higher limit", "docker run --memory=SIZE IMAGE"))
    out.append(Fix("Load less at once: fewer data-loader workers, no pinned memory, smaller batches"))
    return tuple(out)


CAUSE = Cause(
    id="memory.host",
    title="the computer's memory (RAM) is used up",
    signs=(
        ram,
        group_limit,
        shared_memory,
        killer,
        killed_for_memory,
        at_the_limit,
        plenty,
    ),
    fixes=fixes,
    effect="Host memory is used up: programs may be killed",
    stops=False,
)
