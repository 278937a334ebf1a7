"""What a watched run adds to the answer: messages that were observed, and how its end is told."""

import re
from collections.abc import Collection

from msgspec.structs import replace

from gpuwhy.answer.answer import NOT_GPU, SURE, Answer, Fix, LogLine
from gpuwhy.facts.fact import Absent, Known, Source, source_of, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.run import Run
from gpuwhy.facts.system import KernelLine
from gpuwhy.log.message import Message
from gpuwhy.run.tables import pattern, tables
from gpuwhy.signs.expect import gpu_present, on_other_gpu

DRIFT, LATE, MOST = 0.5, 1e-4, 5.0
"""Seconds by which the kernel log's clock may lag behind the one that tells when a program started:
at once, per second of uptime, and at most."""
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
ELSEWHERE = Fix(
    "Run it on a machine with an NVIDIA GPU and its driver, or let it use the CPU",
    *("", True, False, False, ""),
)
LAST_WORDS, MOST_NAMED = 4096, 4
_INSTALLED = re.compile(r"(?:site|dist)-packages(/[\w./+-]{1,300}?\.so(?:\.\d{1,5}){0,4})(?![\w/])")


def named_libraries(output: str) -> tuple[str, ...]:
    """The libraries of installed packages that the last words of a program name."""
    return tuple(dict.fromkeys(_INSTALLED.findall(output[-LAST_WORDS:])))[-MOST_NAMED:]


# Observed messages


def observed_messages(facts: Facts, output: str) -> list[Message]:
    """The kernel's words while the program ran, and its end by a signal."""
    seen, found = source_of(facts.system.kernel_log), []
    for line in kernel_lines(facts, output):
        found.append(_seen("kernel.xid", line.text, seen, xid=str(line.xid)))
        found += [_seen(name, line.text, seen) for name in XIDS.get(line.xid or 0, ())]
    last = last_message(facts.run)
    return [*found, last] if last else found


def last_message(run: Run) -> Message | None:
    """The end by a signal or by `timeout`; a kill that the kernel's counters deny says nothing."""
    signal = value_or(run.signal, "")
    if value_or(run.program, "") == "timeout" and value_or(run.exit, 0) == TIMED_OUT:
        return _seen("limit.wall_time", "ended by timeout", source_of(run.exit))
    sent: tuple[str, ...] = value_or(run.sent, ())
    if signal in sent or (signal == "SIGKILL" and value_or(run.oom_kills, -1) == 0):
        return None
    text, seen = f"ended by {signal}", source_of(run.signal)
    limited = any(one.name == "CPU" and one.soft >= 0 for one in value_or(run.limits, ()))
    if signal == "SIGXFSZ":
        return _seen("limit.file_size", text, seen)
    if signal == "SIGXCPU" and limited:
        return _seen("limit.cpu_time", text, seen)
    if signal in tables().words["sent"]:
        return Message("signal.told", 0, text, "echo", {"what": signal}, observed=seen)
    if signal not in tables().crashes:
        return None
    one = _seen(tables().crashes[signal], text, seen)
    return replace(one, role="echo") if signal == "SIGABRT" else one


def _seen(name: str, text: str, source: Source, **fields: str) -> Message:
    return Message(name, 0, text, "error", fields, observed=source)


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
    crashed = value_or(facts.run.signal, "") not in ("", "SIGKILL", *tables().words["sent"])
    comparable = isinstance(facts.run.pids, Known)

    def own(line: KernelLine) -> bool:
        failed = "work_failed" if line.event == "stopped a program" else "gpu_failed"
        named = crashed or (line.pid and comparable) or pattern(failed).search(output)
        return bool(named) and facts.run.concerns(line) and not on_other_gpu(facts, line)

    rows = (line for line in log.value if line.xid is not None and line.seconds >= since)
    return tuple(filter(own, rows))


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


# How it is told


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
    said, seen = answer.first, by_machine.first
    if said and seen and said.id == seen.id and seen.confidence >= SURE:
        # the output and the machine show the same cause: in the machine's own words
        named = replace(said, subject=seen.subject, fixes=seen.fixes or said.fixes)
        head, causes = seen.because[0].text, (named, *answer.causes[1:])
        answer = replace(answer, headline=head, causes=causes)
    first = answer.causes[0] if answer.causes else None
    kind = answer.ending.kind if answer.ending else "exit"
    guessed = first is not None and first.id == NOT_GPU and answer.verdict == "undecided"
    unknown = first is None and answer.verdict in ("unrecognised", "healthy")
    if kind == "exit" and first and first.id == NOT_GPU:  # a code, and no error's text
        unknown = all(one.id == "ending.left" for one in answer.symptoms)
    if (unknown and kind in ("exit", "signal")) or (guessed and kind == "signal"):
        why = "nothing it printed says why"
        if value_or(run.signal, "") == "SIGKILL" and value_or(run.oom_kills, -1) == 0:
            why = "the kernel killed nothing for memory: somebody, or a job's limit, sent it"
        head = f"{how_it_ended(run)}; {why}"
        told = replace(answer, headline=head, status="unknown", causes=())
        end = answer.ending
        last = LogLine(end.line, end.message) if end and end.line and end.message else None
        return replace(told, verdict="unrecognised", question=None, last_line=last)
    asks = first is not None and first.id.split(".")[0] in tables().words["asks_gpu"]
    if first is None or not asks or not isinstance(gpu_present(facts), Absent):
        return answer
    named = replace(first, confidence=max(first.confidence, SURE), fixes=(ELSEWHERE,))
    head, causes = first.because[0].text, (named, *answer.causes[1:])
    head = f"{head}; this machine has no NVIDIA GPU"
    return replace(answer, headline=head, verdict="found", question=None, causes=causes)


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
    causes = (cause, *(one for one in answer.causes if one.id != cause.id))
    said = replace(answer, headline=head, causes=causes, question=None)
    return replace(said, status="broken", verdict="found")


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
        if first and first.id.partition(".")[0] not in tables().words["no_reason"]:
            head = f"{did}: {first.because[0].text}"
            told = replace(answer, headline=head, causes=one.causes, question=None)
            return replace(told, status="degraded", verdict="found")
    return _fine(answer, f"{did}; nothing here prevents it, so the program did not ask for it")


def _fine(answer: Answer, head: str) -> Answer:
    told = replace(answer, headline=head, causes=(), question=None)
    return replace(told, status="healthy", verdict="healthy")


def gpu_builds(facts: Facts, said: Collection[str] = ()) -> tuple[Framework, ...]:
    """The frameworks that the program used, by its processes or words, whose build is for GPUs."""
    falls_back = tables().falls_back
    used = {*value_or(facts.run.frameworks, ()), *(falls_back.get(one, "") for one in said)}
    found = value_or(facts.frameworks.installed, ())
    return tuple(one for one in found if one.name in used and value_or(one.gpu_build, False))


def stayed_away(facts: Facts, said: Collection[str] = ()) -> bool:
    """Whether the program succeeded and opened no GPU, although its text asks for one, or its build
    is for one that is here or promised.

    A GPU that only installed packages hint at does not count: the usual wheels bring CUDA to every
    laptop. Nobody may have looked in time, as with a short program; where no GPU is, none was open.
    """
    run, here = facts.run, gpu_present(facts)
    touched = value_or(run.touched_gpu, not isinstance(here, Absent))
    if run.failed or touched:
        return False
    falls_back = any(one in tables().falls_back for one in said)
    used = value_or(run.frameworks, ()) or value_or(run.imports, ()) or falls_back
    if isinstance(run.wanted_gpu, Known) and used:
        return True
    if not gpu_builds(facts, said) and "jax.cpu_build" not in said:
        return False
    injected = value_or(facts.system.injected, None)
    promised = injected is not None and injected.requested not in ("", "void", "none")
    return promised or isinstance(here, Known) or isinstance(facts.driver.module_version, Known)


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
