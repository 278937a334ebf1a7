"""What a watched program's end adds to the report: its last words, why it did not use the GPU, how it is told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from gpuwhy.model.expect import gpu_present, on_other_gpu
from gpuwhy.model.fact import Absent, Known, source_of, value_or
from gpuwhy.model.facts import Facts, Framework, KernelLine, Run
from gpuwhy.model.report import Report, Status
from gpuwhy.model.symptom import Role, Symptom
from gpuwhy.model.threshold import FOUND

INNOCENT = "other.not_gpu"
DRIFT, LATE, MOST = 0.5, 1e-4, 5.0
"""Seconds by which the kernel log's clock may lag behind the one that tells when a program started: at once, per second
of uptime, and at most."""
FALLS_BACK = (
    "torch.falls_back",
    "jax.cpu_build",
    "jax.falls_back",
    "jax.backend",
    "loader.tf_skip",
    "ort.create_failed",
)
"""Messages by which a program says itself that it goes on without the GPU."""
SPEAKERS = {"jax": "jax", "loader": "tensorflow", "ort": "onnxruntime"}
SIGNALS: dict[str, tuple[str, Role]] = {
    "SIGSEGV": ("signal.segv", "error"), "SIGABRT": ("signal.abort", "echo"), "SIGBUS": ("signal.bus", "error"),
    "SIGKILL": ("signal.kill", "error"), "SIGILL": ("python.avx", "error"),
}  # fmt: skip
"""The signatures of such an end, as a shell would tell it."""
SENT = frozenset(
    "SIGTERM SIGHUP SIGINT SIGQUIT SIGALRM SIGVTALRM SIGPROF SIGXCPU SIGUSR1 SIGUSR2 SIGPIPE".split()  # noqa: SIM905
)
"""What no fault of a program raises: a person, a timer, a limit or another program sent it."""
TIMED_OUT = 124
"""What `timeout` ends with when the time of its program was over."""
XIDS: dict[int, tuple[str, ...]] = {
    **dict.fromkeys((48, 63, 64, 92, 94, 95, 140), ("kernel.ecc",)),
    74: ("kernel.nvlink",), 79: ("nvidia.lost", "kernel.off_bus"),
}  # fmt: skip
"""What an Xid tells beside its number: memory errors, a failing link, a lost GPU."""


LAST_WORDS, MOST_NAMED = 4096, 4
_INSTALLED = re.compile(r"(?:site|dist)-packages(/[\w./+-]{1,300}?\.so(?:\.\d{1,5}){0,4})\b")
ENDS = {"SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"}
HANG = 10.0
"""Seconds without output that make an interrupted program one that hung."""


def named_libraries(output: str) -> tuple[str, ...]:
    """The libraries of installed packages that the last words of a program name, from the package's folder on."""
    return tuple(dict.fromkeys(_INSTALLED.findall(output[-LAST_WORDS:])))[-MOST_NAMED:]


def worth_telling(facts: Facts, report: Report) -> bool:
    """Whether a program failed, or succeeded without the GPU that it was built for.

    An end that somebody asked for is told only where a cause was found, or where the program hung.
    """
    run = facts.run
    if not run.failed:
        return stayed_away(facts, report.symptoms)
    sent: tuple[str, ...] = value_or(run.sent, ())
    if not ENDS & set(sent):
        return True
    found = any(c.found and c.id != INNOCENT for c in report.causes)
    return found or value_or(run.silent, value_or(run.seconds, 0.0)) >= HANG


def last_symptom(run: Run) -> Symptom | None:
    """The end by a signal or by `timeout`, as a symptom; a kill that the kernel's counters deny says nothing."""
    signal = value_or(run.signal, "")
    if value_or(run.program, "") == "timeout" and value_or(run.exit, 0) == TIMED_OUT:
        return Symptom("limit.wall_time", 0, "ended by timeout", seen=source_of(run.exit))
    if signal in value_or(run.sent, ()) or (signal == "SIGKILL" and value_or(run.oom_kills, -1) == 0):
        return None
    if signal == "SIGXFSZ" or (signal == "SIGXCPU" and _limited(run, "CPU")):
        name = "limit.cpu_time" if signal == "SIGXCPU" else "limit.file_size"
        return Symptom(name, 0, f"ended by {signal}", seen=source_of(run.signal))
    if signal in SENT:
        return Symptom(
            "signal.told", 0, f"ended by {signal}", fields={"what": signal}, role="echo", seen=source_of(run.signal)
        )
    if signal not in SIGNALS:
        return None
    signature, role = SIGNALS[signal]
    return Symptom(signature, 0, f"ended by {signal}", role=role, seen=source_of(run.signal))


def _limited(run: Run, name: str) -> bool:
    return any(one.name == name and one.soft >= 0 for one in value_or(run.limits, ()))


_CUDA_FAILED = re.compile(
    r"cuda ?_?error|cudaerror|(?:cublas|cudnn|cusolver|cusparse|cufft)_(?:status_)?\w+|nccl"
    r"|device-side|illegal (?:memory|instr)|launch (?:failure|failed|timed)|unspecified|uncorrectable"
    r"|fallen off|\bxid\b|gpu is lost",
    re.IGNORECASE,
)
"""What a program says that the GPU, or anything that speaks to it, failed."""
_WORK_FAILED = re.compile(
    r"illegal[_ ]?(?:memory|address|access|instr)|illegaladdress|illegalinstr|misaligned|device-side|cudaerrorassert"
    r"|cuda_error_assert|launch[_ ]?(?:fail|time)|hardware ?_?stack|invalid ?_?(?:pc|addressspace|address_space)"
    r"|(?:cublas|cudnn|cusolver|cusparse|cufft)_\w{0,20}(?:execution_failed|internal_error|mapping_error|exec_failed)"
    r"|(?:cuda|gpu)\w{0,20}:? ?\W?unknown(?: error)?|unhandled cuda|\bxid\b|context ?_?is ?_?destroyed",
    re.IGNORECASE,
)
"""What a program says whose own work on the GPU was stopped."""


def kernel_symptoms(facts: Facts, output: str = "") -> Iterator[Symptom]:
    """What the kernel said of the GPU while the program ran, as symptoms."""
    seen = source_of(facts.surroundings.kernel_log)
    for line in kernel_lines(facts, output):
        yield Symptom("kernel.xid", 0, line.text, fields={"xid": str(line.xid)}, seen=seen)
        yield from (Symptom(name, 0, line.text, seen=seen) for name in XIDS.get(line.xid or 0, ()))


def kernel_lines(facts: Facts, output: str = "") -> tuple[KernelLine, ...]:
    """What the kernel said of the GPU while the program ran; a neighbour's crash is none of its business.

    A line that names no process, or one that cannot be compared (a container numbers its own), is taken for the
    program's own only where that crashed or says that the GPU failed it: a fault of the GPU, its work at all; a fault
    of some program, that its own work was stopped.
    """
    log, started = facts.surroundings.kernel_log, facts.run.started
    if not isinstance(log, Known) or not isinstance(started, Known):
        return ()
    since = started.value - min(MOST, DRIFT + LATE * started.value)
    found = [line for line in log.value if line.xid is not None and line.seconds >= since]
    fell = value_or(facts.run.signal, "") not in ("", "SIGKILL", *SENT)
    if not fell:
        failed = {True: bool(_WORK_FAILED.search(output)), False: bool(_CUDA_FAILED.search(output))}
        told = isinstance(facts.run.pids, Known)
        found = [line for line in found if (line.pid and told) or failed[line.event == "stopped"]]
    return tuple(line for line in found if facts.run.concerns(line) and not on_other_gpu(facts, line))


def by_process(facts: Facts) -> Facts:
    """The facts, without kills for memory where the kernel log names the killed and none of them is the program's."""
    lines: tuple[KernelLine, ...] = value_or(facts.surroundings.kernel_log, ())
    since = value_or(facts.run.started, 0.0) - MOST
    kills = [line for line in lines if line.killed and line.seconds >= since]
    if not kills or any(facts.run.concerns(line) for line in kills):
        return facts
    none = Known(0, source_of(facts.surroundings.kernel_log))
    return msgspec.structs.replace(facts, run=msgspec.structs.replace(facts.run, oom_kills=none))


def told_of_failure(report: Report, facts: Facts) -> Report:
    """The report, with a headline also where no cause was found, or where there is no GPU to ask for."""
    run = facts.run
    if not run.failed:
        return report
    if report.causes:
        asks = report.causes[0].id.split(".")[0] in ("driver", "container", "wsl", "device")
        none = f"{value_or(run.program, 'the program')} asks for a GPU, and this machine has no NVIDIA GPU"
        return _headed(report, "broken", none) if asks and isinstance(gpu_present(facts), Absent) else report
    tail = "nothing it printed and nothing on this machine tells why"
    if value_or(run.signal, "") == "SIGKILL" and value_or(run.oom_kills, -1) == 0:
        tail = "the kernel killed nothing for memory meanwhile, so somebody or a job's limit sent it"
    return _headed(report, "unknown", f"{run.how_it_ended}; {tail}")


def gpu_builds(facts: Facts, symptoms: Sequence[Symptom] = ()) -> tuple[Framework, ...]:
    """The frameworks that the program used, seen in its processes or by their words, whose build is one for GPUs."""
    used = {*value_or(facts.run.frameworks, ()), *(SPEAKERS.get(s.speaker, "") for s in symptoms if _falls_back(s))}
    found = value_or(facts.target.frameworks, ())
    return tuple(f for f in found if f.name in used and isinstance(f.gpu_build, Known) and f.gpu_build.value)


def _falls_back(symptom: Symptom) -> bool:
    return symptom.signature.startswith(FALLS_BACK)


def _says_cpu_build(symptom: Symptom) -> bool:
    """A framework sees that there is a GPU, and says that its own build is none for it."""
    return symptom.signature.startswith("jax.cpu_build")


def stayed_away(facts: Facts, symptoms: Sequence[Symptom] = ()) -> bool:
    """Whether the program succeeded and opened no GPU, although its text asks for one, or its build is for one that is
    here or promised.

    A GPU that only installed packages hint at does not count: the usual wheels bring CUDA to every laptop.
    """
    if facts.run.failed or _may_have_touched(facts):
        return False
    if isinstance(facts.run.wanted_gpu, Known) and _used_a_framework(facts, symptoms):
        return True
    if not gpu_builds(facts, symptoms) and not any(map(_says_cpu_build, symptoms)):
        return False
    injected = facts.surroundings.injected
    promised = isinstance(injected, Known) and injected.value.requested not in ("", "void", "none")
    return promised or isinstance(gpu_present(facts), Known) or isinstance(facts.driver.module_version, Known)


def _may_have_touched(facts: Facts) -> bool:
    """Whether it had a GPU open, or nobody looked in time, as with a short program; where no GPU is, none was."""
    touched = facts.run.touched_gpu
    return touched.value if isinstance(touched, Known) else not isinstance(gpu_present(facts), Absent)


def _used_a_framework(facts: Facts, symptoms: Sequence[Symptom]) -> bool:
    """Seen in its processes, imported by its own text, or heard."""
    run = facts.run
    return bool(value_or(run.frameworks, ()) or value_or(run.imports, ()) or any(map(_falls_back, symptoms)))


def told_of_silence(by_facts: Report, by_text: Report, facts: Facts) -> Report:
    """Why a program that succeeded did not use the GPU: by the machine, else by its output, else by itself."""
    names = ", ".join(f"{f.title} {f.version}" for f in gpu_builds(facts, by_text.symptoms))
    program, place = value_or(facts.run.program, "The program"), value_or(facts.run.wanted_gpu, "")
    asked = f" ({place} asks for a GPU)" if place else ""
    if isinstance(gpu_present(facts), Absent):
        text = f"{program} succeeded on the CPU{asked}: this machine has no NVIDIA GPU"
        return _headed(msgspec.structs.replace(by_facts, causes=()), "healthy", text)
    did = f"{program} succeeded without the GPU{asked}" + (f", though {names} is a build for it" if names else "")
    for report in (by_facts, by_text):
        if report.causes and report.causes[0].confidence >= FOUND and _keeps_away(report.causes[0].id):
            return _headed(report, "degraded", f"{did}: {report.causes[0].because[0].text}")
    why = "nothing here prevents it, so the program did not ask for it"
    return _headed(msgspec.structs.replace(by_facts, causes=()), "healthy", f"{did}; {why}")


def _keeps_away(cause: str) -> bool:
    """Whether a cause can keep a program from the GPU without ending it."""
    return cause.partition(".")[0] not in ("memory", "program", "distributed", "other")


def _headed(report: Report, status: Status, headline: str) -> Report:
    return msgspec.structs.replace(report, status=status, headline=headline)
