"""The report on a watched program for a person: how it ended, its GPU memory, then why."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import GpuUse, Run
from gpuwhy.render import memory
from gpuwhy.render.terminal import Paper, plain

def head(run: Run, paper: Paper, with_memory: bool = False) -> str:
    """What stands above the answer: how the program ended and, where memory is the matter, the GPU's."""
    if not run.failed:
        return ""
    first = f"── gpuwhy run: {run.how_it_ended} after {duration(value_or(run.seconds, 0.0))} "
    lines = [paper.tint("2", first.ljust(paper.width, "─")), *_circumstances(run, paper)]
    for use in _interesting(run) if with_memory else ():
        lines += memory.render(use, paper)
    return plain("\n".join(lines), paper) + "\n"


def duration(seconds: float) -> str:
    """Seconds or minutes."""
    return f"{seconds:.1f} s" if seconds < 600 else f"{seconds / 60:.0f} min"


def _circumstances(run: Run, paper: Paper) -> Iterator[str]:
    if isinstance(run.first_rank, Known):
        yield from paper.wrap(f"first to fail: {run.first_rank.value}, by {run.first_rank.source.where}", "  ", "  ")
    sent = [name for name in value_or(run.sent, ()) if name != "SIGCONT"]
    if sent:
        yield from paper.wrap(f"{', '.join(dict.fromkeys(sent))} was sent to it; {_before(run)}", "  ", "  ")


def _before(run: Run) -> str:
    """What it did before somebody ended it."""
    silent = run.silent
    text = f"it had printed nothing for {silent.value:.0f} s" if isinstance(silent, Known) else "it printed nothing"
    busy = [f"GPU {use.index} was busy for at most {use.busy} %" for use in value_or(run.gpus, ()) if use.own]
    return "; ".join([text, *busy])


def _interesting(run: Run) -> list[GpuUse]:
    """The GPUs that the program used, or that others filled; at most two, the fullest first."""
    used = [use for use in value_or(run.gpus, ()) if use.own or use.others * 10 > use.total]
    return sorted(used, key=lambda use: (-use.own, -use.others))[:2]
