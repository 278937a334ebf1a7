"""Deaths: what a notebook is told after its kernel died, and while its process has lost the GPU."""

from __future__ import annotations

from msgspec.structs import replace

from gpuwhy.inside.diagnosis import look
from gpuwhy.inside.kernels import Died
from gpuwhy.answer.answer import Answer, Noticed
from gpuwhy.answer.compose import plain_answer
from gpuwhy.api.seen import seen
from gpuwhy.api.text import explain

ANEW = "a new kernel runs now: what the old one held is gone, so run the cells again from the first"
LOST = (
    "CUDA answers every call of this process with the same error until the process ends: restart the kernel, then run"
    " the cells again; what is in the host's memory can still be saved"
)


def of_kernel(died: Died, seconds: float = 5.0) -> Answer:
    """Why a kernel died, from what its fault handler wrote, what the system counted and this machine's facts."""
    machine = look(seconds)
    answer = explain(died.dump, seen(machine.report()) if machine else None, signal=died.signal)
    how = f"The kernel (process {died.pid}) was ended by {died.signal} while cell [{died.cell}] ran"
    why = answer.headline if answer.first else _unknown(died)
    more = (Noticed(None, ANEW), *answer.noticed)
    return replace(answer, headline=f"{how}: {why[:1].lower()}{why[1:]}", noticed=more)


def _unknown(died: Died) -> str:
    if died.signal != "SIGKILL":
        return "a crash in compiled code; the stack at that moment is below"
    if died.killed > 0:
        return "the system killed a process of this container for memory meanwhile"
    return "nothing was left to say why: the system (out of memory), a person, or a restart while it was busy"


def of_context(cell: int, words: str) -> Answer:
    """The report for the cell after a status that leaves the process without a GPU."""
    headline = f"Since cell [{cell}] this kernel cannot use the GPU any more ({words}): it must be restarted"
    return plain_answer("found", headline, noticed=LOST)
