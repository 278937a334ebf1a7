"""GPU memory over time: a watched program's own and what others held, as a chart for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuwhy.model.facts import GpuUse, Moment
from gpuwhy.render.terminal import Paper

GIB = 1 << 30
ROWS = 6
OWN, OTHERS, FREE = "█", "░", " "


def gib(count: int) -> str:
    """Bytes in GiB, one decimal."""
    return f"{count / GIB:.1f} GiB"


def render(use: GpuUse, paper: Paper) -> Iterator[str]:
    """One GPU: title, rows from full to empty, time below."""
    label = len(gib(use.total)) + 2
    width = max(10, min(64, paper.width - label - 4))
    about = " (about: the driver does not say whose it is)" if use.guessed else ""
    yield from paper.wrap(
        f"GPU {use.index}: this program held at most {gib(use.own)} of {gib(use.total)}{about}, others"
        f" {gib(use.others_then)} then; {gib(use.free_then)} was free", "  ", "  "
    )  # fmt: skip
    columns = _columns(use.curve, width)
    for row in range(ROWS, 0, -1):
        name = gib(use.total) if row == ROWS else ""
        cells = "".join(_cell(column, row, use.total) for column in columns)
        yield f"  {name:>{label - 2}} ┤{cells}".rstrip()
    yield f"  {'0':>{label - 2}} └{'─' * len(columns)}"
    end = f"{use.curve[-1].seconds:.0f} s" if use.curve else ""
    legend = f"{OWN} this program  {OTHERS} others"
    yield f"  {'':>{label - 2}}  {legend}{end:>{max(1, len(columns) - len(legend))}}"


def _cell(moment: Moment, row: int, total: int) -> str:
    """A cell is filled where at least half of it is."""
    level = (row - 0.5) / ROWS * total
    if moment.own >= level:
        return OWN
    return OTHERS if moment.own + moment.others >= level else FREE


def _columns(curve: Sequence[Moment], width: int) -> list[Moment]:
    """The highest moment of each column's time; a column without one repeats the last."""
    if not curve:
        return []
    first, last = curve[0].seconds, curve[-1].seconds
    step = (last - first) / width or 1.0
    columns: dict[int, Moment] = {}
    for moment in curve:
        place = min(width - 1, int((moment.seconds - first) / step))
        if place not in columns or moment.own + moment.others > columns[place].own + columns[place].others:
            columns[place] = moment
    out = [curve[0]]
    for place in range(width):
        out.append(columns.get(place, out[-1]))
    return out[1:]
