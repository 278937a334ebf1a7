"""Deaths: what a notebook is told after its kernel died, and while its process has lost the GPU."""

from __future__ import annotations

from msgspec.structs import replace

from gpuwhy._version import __version__
from gpuwhy.inside.diagnosis import look
from gpuwhy.inside.kernels import EVENTS, Died
from gpuwhy.logs import Facts, read, report_on
from gpuwhy.model.fact import NOT_OBSERVED, known
from gpuwhy.model.facts import Run
from gpuwhy.model.report import Noticed, Report

ANEW = "a new kernel runs now: what the old one held is gone, so run the cells again from the first"
LOST = (
    "CUDA answers every call of this process with the same error until the process ends: restart the kernel, then run"
    " the cells again; what is in the host's memory can still be saved"
)


def of_kernel(died: Died, seconds: float = 5.0) -> Report:
    """Why a kernel died, from what its fault handler wrote, what the system counted and this machine's facts."""
    seen = look(seconds)
    facts = replace(seen.facts, run=_run(died)) if seen else None
    reading = read((died.dump.encode("utf-8", "replace"),), signal=died.signal)
    report = report_on(reading, facts, where="kernel")
    how = f"The kernel (process {died.pid}) was ended by {died.signal} while cell [{died.cell}] ran"
    named = report.causes and report.causes[0].confidence >= 0.5 and report.status != "healthy"
    why = report.headline if named else _unknown(died, facts)
    return replace(report, headline=f"{how}: {why[:1].lower()}{why[1:]}", noticed=(Noticed("", ANEW), *report.noticed))


def _unknown(died: Died, facts: Facts | None) -> str:
    if died.signal != "SIGKILL":
        return "a crash in compiled code; the stack at that moment is below"
    if died.killed > 0:
        return "the system killed a process of this container for memory meanwhile"
    return "nothing was left to say why: the system (out of memory), a person, or a restart while it was busy"


def _run(died: Died) -> Run:
    noted = "the note of the kernel before"
    return Run(
        program=known("python", "call", "the notebook's kernel"),
        signal=known(died.signal, "call", noted),
        pids=known((died.pid,), "call", noted),
        oom_kills=known(died.killed, "file", EVENTS) if died.killed >= 0 else NOT_OBSERVED,
    )


def of_context(cell: int, words: str) -> Report:
    """The report for the cell after a status that leaves the process without a GPU."""
    headline = f"Since cell [{cell}] this kernel cannot use the GPU any more ({words}): it must be restarted"
    return Report("broken", headline, (), (), (), (), (), (), {}, __version__, 0.0, noticed=(Noticed("", LOST),))
