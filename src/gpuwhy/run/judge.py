"""What a watched run adds to the answer: messages that were observed, and how its end is told."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from msgspec.structs import replace

from gpuwhy.answer.answer import NOT_GPU, SURE, Answer, Fix
from gpuwhy.facts.fact import Absent, Known, Source, source_of, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.run import Run
from gpuwhy.facts.system import KernelLine
from gpuwhy.log.message import Message
from gpuwhy.signs.expect import gpu_present, on_other_gpu

DRIFT, LATE, MOST = 0.5, 1e-4, 5.0
"""Seconds by which the kernel log's clock may lag behind the one that tells when a program started:
at once, per second of uptime, and at most."""
FALLS_BACK = {
    "torch.falls_back": "torch",
    "jax.cpu_build": "jax",
    "jax.falls_back": "jax",
    "jax.backend": "jax",
    "loader.tf_skip": "tensorflow",
    "ort.create_failed": "onnxruntime",
}
"""Messages by which a framework says itself that it goes on without the GPU."""
CRASHES = {
    "SIGSEGV": "signal.segv",
    "SIGABRT": "signal.abort",
    "SIGBUS": "signal.bus",
    "SIGKILL": "signal.kill",
    "SIGILL": "python.avx",
}
"""The message of such an end, as a shell would print it."""
SENT = frozenset(
    {"SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGXCPU"}
    | {"SIGUSR1", "SIGUSR2", "SIGPIPE"}
)
"""What no fault of a program raises: a person, a timer, a limit or another program sent it."""
ENDS = {"SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"}
TIMED_OUT = 124
"""What `timeout` ends with when the time of its program was over."""
ALONE = 0.6
"""The confidence that a crash without a framework and a GPU is no matter of the GPU stack."""
HANG = 10.0
"""Seconds without output that make an interrupted program one that hung."""
XIDS: dict[int, tuple[str, ...]] = {
    **dict.fromkeys((48, 63, 64, 92, 94, 95, 140), ("kernel.ecc",)),
    74: ("kernel.nvlink",),
    79: ("nvidia.lost", "kernel.off_bus"),
}
"""What an Xid tells beside its number: memory errors, a failing link, a lost GPU."""
ASKS_GPU = ("driver", "container", "wsl", "device")
"""Families of causes that show that a program asks for a GPU."""
NO_REASON = ("memory", "program", "distributed", "other")
"""Families of causes by which no program goes on without the GPU."""
ELSEWHERE = Fix(
    "Run it on a machine with an NVIDIA GPU and its driver, or let it use the CPU",
    *("", True, False, False, ""),
)
LAST_WORDS, MOST_NAMED = 4096, 4
_INSTALLED = re.compile(r"(?:site|dist)-packages(/[\w./+-]{1,300}?\.so(?:\.\d{1,5}){0,4})(?![\w/])")
_GPU_FAILED = re.compile(
    r"cuda ?_?error|cudaerror|(?:cublas|cudnn|cusolver|cusparse|cufft)_(?:status_)?\w+|nccl"
    r"|device-side|illegal (?:memory|instr)|launch (?:failure|failed|timed)|unspecified"
    r"|uncorrectable|fallen off|\bxid\b|gpu is lost",
    re.IGNORECASE,
)
"""What a program says that the GPU, or anything that speaks to it, failed."""
_WORK_FAILED = re.compile(
    r"illegal[_ ]?(?:memory|address|access|instr)|illegaladdress|illegalinstr|misaligned"
    r"|device-side|cudaerrorassert|cuda_error_assert|launch[_ ]?(?:fail|time)|hardware ?_?stack"
    r"|invalid ?_?(?:pc|addressspace|address_space)"
    r"|(?:cublas|cudnn|cusolver|cusparse|cufft)_\w{0,20}"
    r"(?:execution_failed|internal_error|mapping_error|exec_failed)"
    r"|(?:cuda|gpu)\w{0,20}:? ?\W?unknown(?: error)?|unhandled cuda|\bxid\b"
    r"|context ?_?is ?_?destroyed",
    re.IGNORECASE,
)
"""What a program says whose own work on the GPU was stopped."""


def named_libraries(output: str) -> tuple[str, ...]:
    """The libraries of installed packages that the last words of a program name."""
    return tuple(dict.fromkeys(_INSTALLED.findall(output[-LAST_WORDS:])))[-MOST_NAMED:]


# ---------------------------------------------------------------- observed messages


def observed_messages(facts: Facts, output: str) -> list[Message]:
    """The kernel's words while the program ran, and its end by a signal."""
    last = last_message(facts.run)
    return [*kernel_messages(facts, output), *([last] if last else ())]


def last_message(run: Run) -> Message | None:
    """The end by a signal or by `timeout`; a kill that the kernel's counters deny says nothing."""
    signal = value_or(run.signal, "")
    if value_or(run.program, "") == "timeout" and value_or(run.exit, 0) == TIMED_OUT:
        return _seen("limit.wall_time", "ended by timeout", source_of(run.exit))
    sent = value_or(run.sent, ())
    if signal in sent or (signal == "SIGKILL" and value_or(run.oom_kills, -1) == 0):
        return None
    text, seen = f"ended by {signal}", source_of(run.signal)
    if signal == "SIGXFSZ":
        return _seen("limit.file_size", text, seen)
    if signal == "SIGXCPU" and _limited(run, "CPU"):
        return _seen("limit.cpu_time", text, seen)
    if signal in SENT:
        return Message("signal.told", 0, text, "echo", {"what": signal}, observed=seen)
    if signal not in CRASHES:
        return None
    one = _seen(CRASHES[signal], text, seen)
    return replace(one, role="echo") if signal == "SIGABRT" else one


def _limited(run: Run, name: str) -> bool:
    return any(one.name == name and one.soft >= 0 for one in value_or(run.limits, ()))


def _seen(name: str, text: str, source: Source, **fields: str) -> Message:
    return Message(name, 0, text, "error", fields, observed=source)


def kernel_messages(facts: Facts, output: str) -> Iterator[Message]:
    """What the kernel said of the GPU while the program ran."""
    seen = source_of(facts.system.kernel_log)
    for line in kernel_lines(facts, output):
        yield _seen("kernel.xid", line.text, seen, xid=str(line.xid))
        yield from (_seen(name, line.text, seen) for name in XIDS.get(line.xid or 0, ()))


def kernel_lines(facts: Facts, output: str = "") -> tuple[KernelLine, ...]:
    """The kernel's lines with an Xid that are the program's own; a neighbour's crash is not.

    A line that names no process, or one that cannot be compared (a container numbers its own), is
    the program's own only where that crashed or says that the GPU failed it: a fault of the GPU,
    its work at all; a fault of some program, that its own work was stopped.
    """
    log, started = facts.system.kernel_log, facts.run.started
    if not isinstance(log, Known) or not isinstance(started, Known):
        return ()
    since = started.value - min(MOST, DRIFT + LATE * started.value)
    found = [line for line in log.value if line.xid is not None and line.seconds >= since]
    fell = value_or(facts.run.signal, "") not in ("", "SIGKILL", *SENT)
    if not fell:
        stopped, failed = bool(_WORK_FAILED.search(output)), bool(_GPU_FAILED.search(output))
        told = isinstance(facts.run.pids, Known)
        found = [
            line
            for line in found
            if (line.pid and told) or (stopped if line.event == "stopped a program" else failed)
        ]
    own = (line for line in found if facts.run.concerns(line))
    return tuple(line for line in own if not on_other_gpu(facts, line))


def own_kills(facts: Facts) -> Facts:
    """The facts without kills for memory, where the kernel log names the killed and none of them
    is the program's.
    """
    since = value_or(facts.run.started, 0.0) - MOST
    lines = value_or(facts.system.kernel_log, ())
    kills = [one for one in lines if one.event == "killed for memory" and one.seconds >= since]
    if not kills or any(facts.run.concerns(line) for line in kills):
        return facts
    none = Known(0, source_of(facts.system.kernel_log))
    return replace(facts, run=replace(facts.run, oom_kills=none))


# ---------------------------------------------------------------- how it is told


def how_it_ended(run: Run) -> str:
    """In words: python was ended by SIGSEGV."""
    program, code = value_or(run.program, "the program"), value_or(run.exit, None)
    if isinstance(run.signal, Known):
        inside = f" (exit code {code})" if code is not None else ""
        return f"{program} was ended by {run.signal.value}{inside}"
    return f"{program} ended with code {code or 0}"


def after_failure(answer: Answer, facts: Facts, by_machine: Answer) -> Answer:
    """A headline also where no cause was found, or where there is no GPU to ask for."""
    run = facts.run
    if run.crashed and answer.verdict != "found":
        answer = _of_crash(answer, run, by_machine)
    answer = _as_seen(answer, by_machine)
    first = answer.causes[0] if answer.causes else None
    silent = answer.ending is None or answer.ending.kind in ("exit", "signal")
    if first is None and silent and answer.verdict in ("unrecognised", "healthy"):
        why = "nothing it printed says why"
        if value_or(run.signal, "") == "SIGKILL" and value_or(run.oom_kills, -1) == 0:
            why = "the kernel killed nothing for memory: somebody, or a job's limit, sent it"
        head = f"{how_it_ended(run)}; {why}"
        return replace(answer, headline=head, status="unknown", verdict="unrecognised")
    asks = first is not None and first.id.split(".")[0] in ASKS_GPU
    if first is None or not asks or not isinstance(gpu_present(facts), Absent):
        return answer
    named = replace(first, confidence=max(first.confidence, SURE), fixes=(ELSEWHERE,))
    return replace(
        answer,
        headline=f"{first.because[0].text}; this machine has no NVIDIA GPU",
        verdict="found",
        question=None,
        causes=(named, *answer.causes[1:]),
    )


def _as_seen(answer: Answer, by_machine: Answer) -> Answer:
    """Where the output and the machine show the same cause, in the machine's own words."""
    said, seen = answer.first, by_machine.first
    if said is None or seen is None or said.id != seen.id or seen.confidence < SURE:
        return answer
    named = replace(said, subject=seen.subject, fixes=seen.fixes or said.fixes)
    head = seen.because[0].text
    return replace(answer, headline=head, causes=(named, *answer.causes[1:]))


def _of_crash(answer: Answer, run: Run, by_machine: Answer) -> Answer:
    """Of a crash whose output does not say why: what is broken on the machine, or that nothing of
    the GPU stack was in it.
    """
    broken = by_machine.first
    own = [one for one in by_machine.causes if one.id == NOT_GPU]
    if broken and by_machine.status == "broken" and broken.confidence >= SURE:
        head, cause = broken.because[0].text, broken
    elif own:
        head = f"Not a GPU problem: {how_it_ended(run)}"
        cause = replace(own[0], confidence=ALONE)
    else:
        return answer
    rest = tuple(one for one in answer.causes if one.id != cause.id)
    return replace(
        answer,
        headline=head,
        status="broken",
        verdict="found",
        causes=(cause, *rest),
        question=None,
    )


def after_success(answer: Answer, facts: Facts, by_machine: Answer) -> Answer:
    """Why a program that succeeded did not use the GPU: by the machine, else by its output."""
    said = {one.id for one in answer.symptoms}
    if not stayed_away(facts, said):
        return answer
    names = ", ".join(f"{one.title} {one.version}" for one in gpu_builds(facts, said))
    wanted = value_or(facts.run.wanted_gpu, None)
    asked = f" ({wanted.file}, line {wanted.line} asks for a GPU)" if wanted else ""
    program = value_or(facts.run.program, "The program")
    if isinstance(gpu_present(facts), Absent):
        return _fine(answer, f"{program} succeeded on the CPU{asked}: this machine has no GPU")
    built = f", though {names} is a build for it" if names else ""
    did = f"{program} succeeded without the GPU{asked}{built}"
    for one in (by_machine, answer):
        first = one.first
        if first and first.id.partition(".")[0] not in NO_REASON:
            head = f"{did}: {first.because[0].text}"
            return replace(
                answer,
                headline=head,
                status="degraded",
                verdict="found",
                causes=one.causes,
                question=None,
            )
    return _fine(answer, f"{did}; nothing here prevents it, so the program did not ask for it")


def _fine(answer: Answer, head: str) -> Answer:
    return replace(
        answer, headline=head, status="healthy", verdict="healthy", causes=(), question=None
    )


def gpu_builds(facts: Facts, said: Collection[str] = ()) -> tuple[Framework, ...]:
    """The frameworks that the program used, by its processes or words, whose build is for GPUs."""
    used = {*value_or(facts.run.frameworks, ()), *(FALLS_BACK.get(one, "") for one in said)}
    found = value_or(facts.frameworks.installed, ())
    return tuple(one for one in found if one.name in used and value_or(one.gpu_build, False))


def stayed_away(facts: Facts, said: Collection[str] = ()) -> bool:
    """Whether the program succeeded and opened no GPU, although its text asks for one, or its build
    is for one that is here or promised.

    A GPU that only installed packages hint at does not count: the usual wheels bring CUDA to every
    laptop.
    """
    run, here = facts.run, gpu_present(facts)
    if run.failed or _may_have_touched(run, here):
        return False
    falls_back = any(one in FALLS_BACK for one in said)
    used = value_or(run.frameworks, ()) or value_or(run.imports, ()) or falls_back
    if isinstance(run.wanted_gpu, Known) and used:
        return True
    if not gpu_builds(facts, said) and "jax.cpu_build" not in said:
        return False
    injected = value_or(facts.system.injected, None)
    promised = injected is not None and injected.requested not in ("", "void", "none")
    return promised or isinstance(here, Known) or isinstance(facts.driver.module_version, Known)


def _may_have_touched(run: Run, here: object) -> bool:
    """Whether it had a GPU open, or nobody looked in time, as with a short program; where no GPU
    is, none was.
    """
    touched = run.touched_gpu
    return touched.value if isinstance(touched, Known) else not isinstance(here, Absent)


def worth_telling(facts: Facts, answer: Answer) -> bool:
    """Whether it failed, or succeeded without the GPU that it was built for; what somebody ended
    only where a cause was found, or where it hung.
    """
    run = facts.run
    if not run.failed:
        return stayed_away(facts, {one.id for one in answer.symptoms})
    sent: tuple[str, ...] = value_or(run.sent, ())
    if not ENDS & set(sent):
        return True
    found = answer.first is not None and answer.first.id != NOT_GPU
    return found or value_or(run.silent, value_or(run.seconds, 0.0)) >= HANG
