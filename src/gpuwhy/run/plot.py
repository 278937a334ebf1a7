"""GPU memory over time as an SVG drawing, a panel for each GPU, written without any library."""

from collections.abc import Iterator
from xml.sax.saxutils import escape

from gpuwhy.facts.fact import value_or
from gpuwhy.facts.run import GpuUse, Moment, Run
from gpuwhy.run.around import gib
from gpuwhy.run.judge import how_it_ended

WIDTH, PANEL, LEFT, RIGHT, TOP, BOTTOM = 720, 220, 84, 16, 44, 40
OWN, OTHERS, INK = "#2f6fde", "#b9bec7", "#333333"


def drawing(run: Run) -> str:
    """The whole drawing; "" where no GPU memory was sampled."""
    gpus = value_or(run.gpus, ())
    if not gpus:
        return ""
    title, high = f"GPU memory: {how_it_ended(run)}", TOP + len(gpus) * PANEL
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{high}"'
        f' viewBox="0 0 {WIDTH} {high}" font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{high}" fill="white"/>',
        _text(LEFT, 20, title, size=14),
    ]
    for left, colour, name in ((LEFT, OWN, "this program"), (LEFT + 110, OTHERS, "others")):
        lines.append(f'<rect x="{left}" y="28" width="10" height="10" fill="{colour}"/>')
        lines.append(_text(left + 14, 37, name))
    for place, use in enumerate(gpus):
        lines += _panel(use, TOP + place * PANEL)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _panel(use: GpuUse, top: int) -> Iterator[str]:
    high, wide = PANEL - BOTTOM - 20, WIDTH - LEFT - RIGHT
    base, right = top + 20 + high, LEFT + wide
    end = max((moment.seconds for moment in use.curve), default=0.0) or 1.0

    def place(moment: Moment, count: int) -> str:
        left = LEFT + moment.seconds / end * wide
        return f"{left:.1f},{base - min(1.0, count / use.total) * high:.1f}"

    own = [place(m, m.own) for m in use.curve]
    both = [place(m, m.own + m.others) for m in use.curve]
    floor = [place(m, 0) for m in use.curve]
    yield f'<polygon fill="{OTHERS}" points="{" ".join([*both, *reversed(own)])}"/>'
    yield f'<polygon fill="{OWN}" points="{" ".join([*own, *reversed(floor)])}"/>'
    yield f'<path fill="none" stroke="{INK}" d="M{LEFT} {base - high}V{base}H{right}"/>'
    yield _text(LEFT - 6, base - high + 4, gib(use.total), anchor="end")
    yield _text(LEFT - 6, base + 4, "0", anchor="end")
    yield _text(LEFT, base + 16, "0 s")
    yield _text(right, base + 16, f"{end:.1f} s", anchor="end")
    about = f"GPU {use.index}, peak {gib(use.own)}"
    yield _text(right, base - high - 6, about, anchor="end")


def _text(x: float, y: float, text: str, anchor: str = "start", size: int = 12) -> str:
    place = f'x="{x}" y="{y}" text-anchor="{anchor}" font-size="{size}"'
    return f'<text {place} fill="{INK}">{escape(text)}</text>'
