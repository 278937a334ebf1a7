"""What stands above the answer on a failed run: how it ended, who ended it, the GPU's memory."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping

from gpuwhy.answer.answer import Answer
from gpuwhy.facts.fact import Known, value_or
from gpuwhy.facts.run import Run
from gpuwhy.run.judge import HANG, how_it_ended

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
    seconds = value_or(run.seconds, 0.0)
    took = f"{seconds:.1f} s" if seconds < 600 else f"{seconds / 60:.0f} min"
    yield f"── {how_it_ended(run)} after {took} "
    if isinstance(run.first_rank, Known):
        yield f"   rank {run.first_rank.value} failed first"
    sent = [name for name in value_or(run.sent, ()) if name != "SIGCONT"]
    if sent:
        yield f"   {', '.join(dict.fromkeys(sent))} was sent to it; {_before(run)}"
        if value_or(run.silent, seconds) >= HANG and shutil.which("py-spy"):
            program = value_or(run.program, "python")
            yield f"   to see where it hangs: py-spy dump --pid $(pgrep -n {program})"
    if answer.causes and answer.causes[0].id.startswith("memory."):
        yield from (f"   {line}" for line in _memory(run))


def _before(run: Run) -> str:
    """What it did before somebody ended it."""
    text = "it printed nothing"
    if isinstance(run.silent, Known):
        text = f"it had printed nothing for {run.silent.value:.0f} s"
    used = [use for use in value_or(run.gpus, ()) if use.own]
    return "; ".join([text, *(f"GPU {use.index} was at most {use.busy} % busy" for use in used)])


def _memory(run: Run) -> Iterator[str]:
    """The GPUs that the program used, or that others filled."""
    used = [use for use in value_or(run.gpus, ()) if use.own or use.others * 10 > use.total]
    for use in sorted(used, key=lambda use: (-use.own, -use.others))[:MOST]:
        held = f"{'about ' if use.guessed else ''}{gib(use.own)} of {gib(use.total)}"
        yield f"GPU {use.index}: it held at most {held}; others {gib(use.others_then)} then"


def own_rank(environ: Mapping[str, str]) -> str:
    """Our rank where we were started once for each of several; else ""."""
    size = next((environ[name] for name in SIZES if name in environ), "")
    rank = next((environ[name] for name in RANKS if name in environ), "")
    return rank if rank.isdigit() and size != "1" else ""
