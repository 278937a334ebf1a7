"""The drawing of the stack: what stands on what, from the GPU up to the program, and the joint that breaks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuwhy.page.element import Child, Element, el
from gpuwhy.page.parts import evidence, listed, sign
from gpuwhy.page.told import told_layers
from gpuwhy.page.values import Node

LEVELS = ("GPU", "driver", "CUDA", "Python", "framework", "program")
ABOUT = {
    "GPU": ("device", "memory"),
    "driver": ("driver", "container", "wsl"),
    "CUDA": ("cuda",),
    "cuDNN": ("cudnn",),
    "Python": ("install",),
    "framework": ("framework", "env"),
    "program": ("program", "other", "distributed"),
}
"""The causes, by the beginning of their ids, that speak of a layer."""
UPWARD = frozenset({"driver.too_old", "driver.stub", "driver.compat_misuse"})
"""Causes of the driver that the GPU below it has no part in."""
WHOLE, BROKEN = "M12 0v24", "M12 0v7M7 9l10 6M7 15l10-6M12 17v7"
MOST = 12


class Layer:
    """One box of the drawing."""

    def __init__(self, place: int, row: Node) -> None:
        self.place = place
        self.name, self.text, self.note = row.text("name"), row.text("text"), row.text("note")
        self.mark = row.text("mark")
        self.cause = row.text("cause") or self.note  # what marks it
        self.id = f"layer-{place}"

    @property
    def level(self) -> str:
        """Where it stands."""
        word = self.name.split(" ")[0]
        if word == "cuDNN":
            return "CUDA"
        return word if word in LEVELS else "framework"


def layers(report: Node) -> list[Layer]:
    """The layers of a report, the program on top where one ran."""
    rows = report.nodes("layers") or [Node(row) for row in told_layers(report)]
    program = _program(report)
    return [Layer(place, row) for place, row in enumerate([*rows, *([Node(program)] if program else [])])]


def _program(report: Node) -> dict[str, str] | None:
    ending = report.node("ending")
    name = report.node("facts").fact("run", "program") or ""
    if ending:
        said = ": ".join(filter(None, (ending.text("type"), ending.text("message").split("\n")[0][:300])))
        code = f"exit code {ending.text('exit_code')}" if ending.text("exit_code") else ending.text("kind")
        first = next((one.text("id") for one in report.nodes("causes")), "")
        return {"name": "program", "text": str(name), "mark": "bad", "note": said or code, "cause": first}
    if report.node("facts").fact("run", "program"):
        return {"name": "program", "text": str(name), "mark": "ok", "note": ""}
    return None


def drawing(report: Node, panels: bool = True) -> Element | None:
    """The stack; with panels, the evidence of each layer beside it."""
    boxes = layers(report)
    if len(boxes) < 2:
        return None
    first, breaks = _first(boxes), _breaks(boxes)
    rows: list[Child] = []
    present = _present(boxes)
    for name in reversed(present):
        here = [el("li", _box(box, box is first, panels)) for box in boxes if box.level == name]
        rows.append(el("li", el("ul", *here, class_="peers")))
        if name != present[0]:
            rows.append(el("li", _joint(breaks.get(name, []))))
    stack = el("ol", *rows, class_="stack", aria_label="The stack, the program on top and the GPU at the bottom")
    whys = el("div", *(_why(box, report) for box in boxes)) if panels else None
    return el("div", stack, whys, class_="scene")


def _present(boxes: Sequence[Layer]) -> list[str]:
    """The levels that have a layer, the lowest first."""
    levels = {box.level for box in boxes}
    return [name for name in LEVELS if name in levels]


def _first(boxes: Sequence[Layer]) -> Layer:
    """The layer that is shown first: the lowest that is bad, else the lowest that is not well."""
    bad = [box for box in boxes if box.mark == "bad"]
    return (bad or [box for box in boxes if box.mark != "ok"] or boxes)[0]


def _box(box: Layer, first: bool, link: bool) -> Element:
    mark = box.mark if box.mark in ("bad", "warn", "unknown") else "fine"
    inside: list[Child] = [
        el("span", sign(box.mark), " ", el("span", box.name, class_="name")),
        el("span", box.text, class_="version"),
        el("span", box.note, class_="note") if box.note else None,
    ]
    class_ = f"layer {mark}" + (" first" if first else "")
    if not link:
        return el("div", *inside, class_=class_)
    return el("a", *inside, class_=class_, href=f"#why-{box.id}", data_shows=f"why-{box.id}")


def _breaks(boxes: Sequence[Layer]) -> dict[str, list[str]]:
    """By the level above it: what breaks at a joint. A cause that marks several layers breaks under the highest."""
    present = _present(boxes)
    out: dict[str, list[str]] = {}
    for note, box in _broken(boxes).items():
        place = max(1, present.index(box.level) + _upward(box))
        level = present[min(place, len(present) - 1)]
        out.setdefault(level, []).append(f"{box.name}: {note}" if note != box.name else note)
    return out


def _broken(boxes: Sequence[Layer]) -> dict[str, Layer]:
    """The bad layers by their cause; where only the program is bad, the layer that the same cause warns of."""
    bad = [box for box in boxes if box.mark == "bad"]
    below = {box.cause or box.name: box for box in bad if box.level != "program"}
    if below or not bad:
        return below
    program = bad[0]
    warned = [box for box in boxes if box.cause == program.cause and box.mark == "warn"]
    return {program.cause or program.name: (warned or [program])[-1]}


def _upward(box: Layer) -> bool:
    """Whether a layer fails what stands on it, not what it stands on."""
    return box.level == "CUDA" or box.cause in UPWARD


def _joint(broken: Sequence[str]) -> Element:
    drawn = el(
        "svg",
        el("path", d=BROKEN if broken else WHOLE),
        viewBox="0 0 24 24",
        aria_hidden="true",
        preserveAspectRatio="none" if not broken else None,
    )
    said = el("span", "breaks here: ", "; ".join(one[:160] for one in broken)) if broken else None
    return el("div", drawn, said, class_="joint bad" if broken else "joint")


def _why(box: Layer, report: Node) -> Element:
    """The evidence on one layer: what was found against it, and what was ruled out."""
    body = [
        [el("p", el("code", one.text("id"))), [evidence(because) for because in one.nodes("because")]]
        for one in report.nodes("causes")
        if _speaks(one, box)
    ]
    calm = "Nothing was found against it." if box.mark == "ok" else box.note or box.text
    title = el("h3", sign(box.mark), " ", box.name, " ", el("span", box.text, class_="soft"))
    said: list[Child] = [*body] if body else [el("p", calm)]
    return el("div", title, *said, *_ruled_out(box, report), class_="why", id=f"why-{box.id}", tabindex=-1)


def _ruled_out(box: Layer, report: Node) -> Iterator[Element]:
    about = ABOUT.get(box.name.split(" ")[0], ABOUT[box.level])
    out = [row for row in report.nodes("ruled_out") if row.text("id").split(".")[0] in about]
    if out:
        yield el("p", "Ruled out:", class_="soft")
        yield listed(_out(row) for row in out[:MOST])
    if len(out) > MOST:
        yield el("p", f"and {len(out) - MOST} more", class_="soft")


def _out(row: Node) -> list[Child]:
    return [el("code", row.text("id")), ": ", row.text("because")]


def _speaks(cause: Node, box: Layer) -> bool:
    if box.cause and box.cause == cause.text("id"):
        return True
    version = box.text.split(" ")[0]
    return box.mark in ("bad", "warn") and f"{box.name} {version}" in cause.text("subject").split(", ")
