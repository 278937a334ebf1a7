"""Memory over time: a watched program's own, what others held, what it asked for when it failed; and the host's."""

from __future__ import annotations

import re
from typing import Any

from gpuwhy.page.element import Child, Element, el
from gpuwhy.page.parts import fold, listed, section
from gpuwhy.page.values import Node, nodes

GIB = 1 << 30
WIDE, HIGH, LEFT, RIGHT, TOP, BOTTOM = 760, 230, 110, 24, 20, 30
POINTS = 400
_SIZE = re.compile(r"([\d.]+) ?([KMGT]?)", re.IGNORECASE)
_UNIT = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def gib(count: float) -> str:
    """Bytes as people say them."""
    return f"{count / GIB:.1f} GiB" if count >= GIB / 10 else f"{count / (1 << 20):.0f} MiB"


def section_of(report: Node) -> Element | None:
    """The charts of a watched run, and who held GPU memory; nothing where nothing was sampled."""
    facts = report.node("facts")
    charts: list[Child] = [
        _figure(use, _asked(report, use)) for use in nodes(facts.fact("run", "gpus")) if use.number("total")
    ]
    host = Node(facts.fact("run", "host"))
    charts = [one for one in (*(charts or [_told(report)]), _host(host) if host else None) if one is not None]
    holders = _holders(facts) if charts or _about_memory(report) else None
    return section("Memory", "memory", *charts, holders) if charts or holders else None


def _about_memory(report: Node) -> bool:
    return any(one.text("id").startswith("memory.") for one in report.nodes("causes"))


def _asked(report: Node, use: Node) -> float:
    """The allocation that failed on this GPU, in bytes; 0 where no line tells."""
    for one in report.nodes("symptoms"):
        fields = one.node("fields")
        device = fields.text("device")
        if fields.text("wanted") and device in ("", use.text("index")):
            return size(fields.text("wanted"))
    return 0.0


def _told(report: Node) -> Element | None:
    """Without samples: what the message itself says of the GPU's memory when an allocation failed."""
    for one in report.nodes("symptoms"):
        fields = one.node("fields")
        total, free, asked = (size(fields.text(name)) for name in ("total", "free", "wanted"))
        if total and asked and fields.text("free"):
            return _bar(total, max(0.0, total - free), asked)
    return None


def _bar(total: float, held: float, asked: float) -> Element:
    wide, top = WIDE - 2 * RIGHT, max(total, held + asked)
    here, limit = RIGHT + held / top * wide, RIGHT + total / top * wide
    free = f"{gib(total - held)} was free"
    said = f"The message says: {gib(held)} of {gib(total)} was held, {free}, {gib(asked)} was asked for."
    drawn = el(
        "svg",
        el("title", said),
        el("rect", x=RIGHT, y=8, width=max(1.0, here - RIGHT), height=22, class_="own"),
        el("rect", x=here, y=8, width=max(4.0, asked / top * wide), height=22, class_="asked"),
        el("path", d=f"M{limit:.1f} 2V36", class_="limit"),
        _label(RIGHT, 50, f"held {gib(held)}"),
        _label(WIDE - RIGHT, 50, f"asked for and refused: {gib(asked)}", "end"),
        viewBox=f"0 0 {WIDE} 56",
        class_="chart",
        role="img",
        aria_label=said,
    )
    return el("figure", el("figcaption", said), drawn)


def size(text: str) -> float:
    """The bytes of '2.50 GiB'."""
    found = _SIZE.match(text)
    return (
        float(found[1].rstrip(".") or 0) * _UNIT[found[2].upper()]
        if found and found[1].strip(".").count(".") < 2
        else 0.0
    )


def _figure(use: Node, asked: float) -> Element:
    total, own = use.number("total"), use.number("own")
    about = " (about: the driver does not say whose it is)" if use.flag("guessed") else ""
    said = (
        f"GPU {use.text('index')}: this program held at most {gib(own)} of {gib(total)}{about}; others held"
        f" {gib(use.number('others_then'))} then, and {gib(use.number('free_then'))} was free."
    )
    if asked:
        said += f" The allocation that failed asked for {gib(asked)}."
    curve = use.nodes("curve")
    curve = curve[:: len(curve) // POINTS + 1] + curve[-1:]
    rows = [
        el(
            "tr",
            el("td", f"{m.number('seconds'):.1f} s"),
            el("td", gib(m.number("own"))),
            el("td", gib(m.number("others"))),
        )
        for m in curve[:: len(curve) // 40 + 1]
    ]
    heads = el("thead", el("tr", *(el("th", word, scope="col") for word in ("time", "this program", "others"))))
    return el(
        "figure",
        el("figcaption", said),
        _legend(asked) if curve else None,
        _chart(use, curve, asked, f"GPU {use.text('index')}") if curve else None,
        fold("the same in numbers", el("table", heads, el("tbody", *rows))) if rows else None,
    )


def _chart(use: Node, curve: list[Node], asked: float, name: str) -> Element:
    total, wide, high = use.number("total"), WIDE - LEFT - RIGHT, HIGH - TOP - BOTTOM
    end = max((one.number("seconds") for one in curve), default=0.0) or 1.0
    top = max(total, use.number("own") + use.number("others_then") + asked)
    base = TOP + high

    def at(moment: Node, count: float) -> str:
        x = LEFT + max(0.0, moment.number("seconds")) / end * wide
        return f"{x:.1f},{base - min(1.0, max(0.0, count) / top) * high:.1f}"

    own = [at(m, m.number("own")) for m in curve]
    both = [at(m, m.number("own") + m.number("others")) for m in curve]
    floor = [at(m, 0) for m in curve]
    full = base - total / top * high
    parts: list[Child] = [
        el("polygon", points=" ".join([*both, *reversed(own)]), class_="others"),
        el("polygon", points=" ".join([*own, *reversed(floor)]), class_="own"),
        el("path", d=f"M{LEFT} {TOP}V{base}H{LEFT + wide}", class_="axis"),
        el("path", d=f"M{LEFT} {full:.1f}H{LEFT + wide}", class_="limit"),
        _label(LEFT - 6, full + 4, gib(total), "end"),
        _label(LEFT - 6, base + 4, "0", "end"),
        _label(LEFT, base + 18, "0 s"),
        _label(LEFT + wide, base + 18, f"{end:.1f} s", "end"),
    ]
    if asked:
        held = curve[-1].number("own") + curve[-1].number("others")
        low, tall = base - min(1.0, held / top) * high, max(4.0, asked / top * high)
        parts += [
            el("rect", x=LEFT + wide - 46.0, y=low - tall, width=46.0, height=tall, class_="asked"),
        ]
    name = f"{name}: memory over {end:.1f} seconds"
    return el(
        "svg", el("title", name), *parts, viewBox=f"0 0 {WIDE} {HIGH}", class_="chart", role="img", aria_label=name
    )


def _legend(asked: float) -> Element:
    rows = [("own", "this program"), ("others", "other processes")]
    rows += [("asked", f"asked for and refused: {gib(asked)}")] if asked else []
    return el("p", *(el("span", _swatch(name), f" {text} ", class_="key") for name, text in rows))


def _swatch(name: str) -> Element:
    inside = el("rect", x=1, y=1, width=12, height=12, class_=name)
    return el("svg", inside, viewBox="0 0 14 14", class_="chart swatch", aria_hidden="true")


def _label(x: float, y: float, text: str, anchor: str = "start") -> Element:
    return el("text", text, x=float(x), y=float(y), text_anchor=anchor)


def _host_chart(host: Node) -> list[Child]:
    """The program's own, and what others held: the rest of what the machine could give in all."""
    seen = [one for one in host.nodes("curve") if one.number("left") >= 0]
    total = max((one.number("own") + one.number("left") for one in seen), default=0.0)
    if len(seen) < 2 or not total:
        return []
    moments = [(one.number("seconds"), one.number("own"), one.number("left")) for one in seen]
    curve = [Node({"seconds": t, "own": own, "others": max(0.0, total - own - left)}) for t, own, left in moments]
    return [_legend(0.0), _chart(Node({"total": total}), curve, 0.0, "The host")]


def _host(host: Node) -> Element:
    rows = [f"the program and what it started held at most {gib(host.number('peak'))} of the host's memory"]
    for name, text in (
        ("limit", "the control group's limit is"),
        ("held", "within that limit at most"),
        ("least_available", "least that was left"),
    ):
        value = host.fact(name)
        if isinstance(value, (int, float)):
            rows.append(f"{text} {gib(value)}")
    return el("div", el("h3", "Host memory"), *_host_chart(host), listed(rows))


def _holders(facts: Node) -> Element | None:
    """The processes on each GPU as the driver names them."""
    rows: list[Child] = []
    for device in nodes(facts.fact("devices", "devices")):
        for one in nodes(_value(device.values.get("processes"))):
            used = one.values.get("memory") or one.values.get("used")
            held = _value(used)
            size_ = gib(held) if isinstance(held, (int, float)) else "an unknown amount"
            rows.append(f"GPU {device.text('index')}: process {one.text('pid')} {_name(one)} holds {size_}")
    return el("div", el("h3", "Processes on the GPU when it was looked at"), listed(rows)) if rows else None


def _name(process: Node) -> str:
    name = _value(process.values.get("name")) or _value(process.values.get("program"))
    return f"({name})" if isinstance(name, str) and name else ""


def _value(fact: Any) -> Any:
    return fact.get("value") if isinstance(fact, dict) and "state" in fact else fact
