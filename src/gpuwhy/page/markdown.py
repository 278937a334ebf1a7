"""Markdown for issue trackers: what a maintainer wants to see, folded, short, without secrets and without mentions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from gpuwhy.border.plain import one_line, plain
from gpuwhy.page.log import Line
from gpuwhy.page.page import REPORT, cleaned, lines_of
from gpuwhy.page.parts import certainty
from gpuwhy.page.ranks import title_of
from gpuwhy.page.stack import layers
from gpuwhy.page.values import Node, nodes, short

MOST = 200
"""Lines of the whole text."""
LOG, WIDE, LONG = 60, 300, 600
GLYPH = {"ok": "✓", "bad": "✗", "warn": "!", "unknown": "?", "none": "–"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~$&#])")
_MENTION = re.compile(r"(?<=[@#])(?=\w)")
_AUTO = re.compile(r"(?i)\b(https?|ftp)(://)|\bwww\.")
_TICKS = re.compile(r"`+")
FAMILY = re.compile(
    r"nvidia|cuda|cudnn|torch|triton|tensorflow|keras|jax|flax|onnx|cupy|numba|numpy|xla|nccl|vllm|flash|xformers|apex"
    r"|bitsandbytes|transformers|accelerate|deepspeed|lightning|rapids|cudf|protobuf|xgboost|paddle",
    re.IGNORECASE,
)


def said(text: str, most: int = LONG) -> str:
    """A text from outside in a sentence: it formats nothing, mentions nobody, links nowhere."""
    text = one_line(text)
    text = text if len(text) <= most else text[:most] + " …"
    text = _SPECIAL.sub(r"\\\1", text)
    text = _AUTO.sub(lambda found: (found[1] + ":<!-- -->//") if found[1] else "www<!-- -->.", text)
    return _MENTION.sub("<!-- -->", text)


def code(text: str, most: int = LONG) -> str:
    """A text from outside as code in a sentence."""
    text = one_line(text).strip()
    text = text if len(text) <= most else text[:most] + " …"
    if not text:
        return ""
    ticks = "`" * (max((len(one) for one in _TICKS.findall(text)), default=0) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def block(lines: Sequence[str], language: str = "") -> list[str]:
    """Lines as they are; none of them can end the block."""
    clean = [plain(line)[:WIDE].replace("\r", " ") for text in lines for line in text.split("\n")]
    longest = max((len(one) for line in clean for one in _TICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *clean, fence]


def folded(title: str, lines: Sequence[str]) -> list[str]:
    """A part that is opened when asked for."""
    return ["", "<details>", f"<summary>{title}</summary>", "", *lines, "", "</details>"] if lines else []


def render(values: Any, log: str = "", project: str = "") -> str:
    """The whole text; `project` is the framework that the issue is about."""
    clean, text = cleaned(values, log)
    found = Node(clean)
    draw = _report if found.text("schema") == REPORT else _other
    lines = list(draw(found, lines_of(text), project))
    return "\n".join(_short_enough(lines)) + "\n"


def _short_enough(lines: list[str]) -> list[str]:
    """At most MOST lines; a cut closes what it opens."""
    if len(lines) <= MOST:
        return lines
    kept = lines[: MOST - 8]
    fences = [line for line in kept if line.startswith("```")]
    end = [re.match(r"`+", fences[-1])[0]] if len(fences) % 2 else []  # type: ignore[index]
    inside = kept.count("<details>") - kept.count("</details>")
    return [
        *kept,
        *end,
        *["", "</details>"] * inside,
        "",
        f"… {len(lines) - len(kept)} lines more are in the full report",
    ]


def _report(report: Node, log: Sequence[Line], project: str) -> Iterator[str]:
    yield f"**{said(report.text('headline'))}**"
    yield from ("", *_environment(report, project))
    causes = report.nodes("causes")
    for one in causes[:2]:
        yield from ("", *_cause(one))
    for one in causes[2:6]:
        yield f"- or {code(one.text('id'))} ({certainty(one.number('confidence'))})"
    yield from folded("What the program printed", _log(report, log))
    yield from folded("Packages", _packages(report, project))
    yield from folded("Variables", _variables(report))
    yield from folded("What the loader picks", _loads(report, project))
    yield from folded(
        "Ruled out", [f"- {code(r.text('id'))}: {said(r.text('because'), 200)}" for r in report.nodes("ruled_out")[:20]]
    )
    yield from folded("Could not be seen", [f"- {said(text, 200)}" for text in report.texts("unseen")[:10]])
    yield from ("", f"Made by gpuwhy {said(report.text('gpuwhy'))}; user names, host names and secrets are left out.")


def _environment(report: Node, project: str) -> Iterator[str]:
    """The stack as a table, the framework that the issue is about first."""
    facts = report.node("facts")
    seen = bool(report.nodes("layers"))
    boxes = [box for box in layers(report) if seen or box.mark != "none"]  # a log alone tells of few layers
    rows = [(box.name, box.text, GLYPH.get(box.mark, "–"), box.note) for box in boxes]
    titles = set(filter(None, _titles(facts, project)))
    rows.sort(key=lambda row: row[0] not in titles)
    system = [short(facts.fact("surroundings", name), 120) for name in ("distribution", "kernel", "machine", "libc")]
    rows.append(("system", " · ".join(filter(None, system)), "", _container(facts)))
    yield from ("| | | |", "| --- | --- | --- |")
    for name, text, glyph, note in rows:
        if text or note:
            yield f"| {said(name, 60)} | {said(text, 200)} | {glyph} {said(note, 160)} |"


def _titles(facts: Node, project: str) -> list[str]:
    return [one.text("title") for one in nodes(facts.fact("target", "frameworks")) if one.text("name") == project]


def _container(facts: Node) -> str:
    found = facts.fact("surroundings", "container")
    return short(found, 120) if found else ""


def _cause(one: Node) -> Iterator[str]:
    yield f"**{code(one.text('id'))}** ({certainty(one.number('confidence'))}): {said(one.text('title'))}"
    for because in one.nodes("because")[:3]:
        yield f"- {said(because.text('text'))}"
        for kind in ("saw", "know", "told"):
            for row in because.nodes(kind)[:4]:
                yield f"  - {kind}: {said(row.text('text'), 300)} {code(row.text('source'), 200)}"
    for fix in one.nodes("fixes")[:2]:
        yield from ("", f"Suggested: {said(fix.text('text'))}")
        if fix.text("command"):
            yield from ("", *block(fix.text("command").rstrip("\n").split("\n")[:12], "sh"))


def _log(report: Node, log: Sequence[Line]) -> list[str]:
    """The end of it, and before that the first line that decides with what stands around."""
    symptoms = report.nodes("symptoms")
    if not log:
        return block([f"{one.number('line'):g}: {one.text('text')}" for one in symptoms[:20]]) if symptoms else []
    last = log[-LOG // 2 :]
    early = [line for line in _around(symptoms, log) if line.number < last[0].number]
    gap = ["…"] if early and early[-1].number + 1 < last[0].number else []
    return block([*(line.text for line in early), *gap, *(line.text for line in last)])


def _around(symptoms: Sequence[Node], log: Sequence[Line]) -> list[Line]:
    """The lines around the first error that follows from no other."""
    errors = [one for one in symptoms if one.text("role") == "error" and one.values.get("follows") is None]
    return [line for line in log if errors and abs(line.number - int(errors[0].number("line"))) <= LOG // 4]


def _packages(report: Node, project: str) -> list[str]:
    found = nodes(report.node("facts").fact("target", "distributions"))
    names = sorted({f"{one.text('name')}=={one.text('version')}" for one in found if FAMILY.search(one.text("name"))})
    return block(names[:40]) if names else []


def _variables(report: Node) -> list[str]:
    found = report.node("facts").fact("environment", "variables")
    rows: list[str] = []
    if isinstance(found, dict):
        rows = [f"{name}={short(value, 200)}" for name, value in found.items()]
    elif isinstance(found, list):
        rows = [f"{one.text('name')}={short(one.values.get('value'), 200)}" for one in nodes(found)]
    return block(rows[:20]) if rows else []


def _loads(report: Node, project: str) -> list[str]:
    rows: list[str] = []
    for tree in nodes(report.node("facts").fact("loads", "trees")):
        if project and tree.text("framework") != project:
            continue
        rows += [f"{tree.text('framework')}: {one.text('name')} is missing" for one in tree.nodes("missing")]
        rows += [
            f"{one.text('name')} => {one.text('path')}"
            for one in tree.nodes("libraries")
            if FAMILY.search(one.text("name"))
        ]
    return block(list(dict.fromkeys(rows))[:30]) if rows else []


def _other(found: Node, log: Sequence[Line], project: str) -> Iterator[str]:
    """A proof, a plan, an inspection, a lint."""
    kind = found.text("schema").removeprefix("gpuwhy.").partition("/")[0]
    drawn = {"proof": _proof, "plan": _plan, "lint": _lint, "inspect": _inspect, "fleet": _fleet, "ranks": _ranks}
    drawn["fit"] = _fit
    yield from drawn.get(kind, _plain)(found)


def _proof(found: Node) -> Iterator[str]:
    yield f"**{said(found.text('headline'))}**"
    change = found.node("change")
    if change:
        yield from ("", f"The smallest change that makes it run: {said(change.text('text'))}")
        if change.text("command"):
            yield from ("", *block(change.text("command").split("\n")[:12], "sh"))
    for one in found.nodes("causes")[:2]:
        yield from ("", *_cause(one))
    rows = [_trial(one) for one in found.nodes("experiments")[:60]]
    yield from folded(
        f"{found.number('runs'):g} runs", ["| outcome | change | runs | each |", "| --- | --- | --- | --- |", *rows]
    )
    ending = found.node("ending")
    yield from folded(
        "How it ended",
        block([f"{ending.text('type')}: {ending.text('message')}"[:3000]]) if ending.text("type") else [],
    )


def _trial(one: Node) -> str:
    cells = (
        said(one.text("outcome")),
        said(one.text("change"), 160),
        f"{one.number('n'):g}",
        f"{one.number('seconds'):.1f} s",
    )
    return f"| {' | '.join(cells)} |"


def _plan(found: Node) -> Iterator[str]:
    conflict = found.node("conflict")
    chosen = found.node("proposal") or conflict.node("nearest")
    if conflict:
        yield from (f"**{said(conflict.text('text'))}**", "")
        yield from (f"- {said(one.text('kind'))}: {said(one.text('text'))}" for one in conflict.nodes("lines")[:10])
    named = ", ".join(f"{one.text('package')} {one.text('version')}" for one in chosen.nodes("choices"))
    yield from ("", f"**{said(named)}** on Python {said(chosen.text('python'))}")
    for way in chosen.nodes("ways")[:1]:
        yield from ("", *block(way.text("text").split("\n")[:20], "sh"))
    rows = [
        f"- {said(one.text('package'))} {said(', '.join(one.texts('versions')[:6]))}: {said(one.text('why'), 200)}"
        for one in chosen.nodes("passed")[:30]
    ]
    yield from folded("Passed over", rows)


def _fit(found: Node) -> Iterator[str]:
    yield from (f"**{said(found.text('headline'))}**", "", "| part | GiB | how | |", "| --- | --- | --- | --- |")
    for one in next(iter(found.nodes("shares")), Node({})).nodes("parts"):
        size = f"{one.number('bytes') / (1 << 30):.2f}"
        yield f"| {said(one.text('name'))} | {size} | {said(one.text('how'))} | {said(one.text('text'), 200)} |"
    yield ""
    for one in found.nodes("changes"):
        yield f"- {said(one.text('text'))} ({code(one.text('options'))}): {said(one.text('cost'))}"
    yield from (f"- not counted: {said(one)}" for one in found.texts("unknown"))


def _lint(found: Node) -> Iterator[str]:
    counts = found.node("counts")
    yield f"**{counts.number('error'):g} errors, {counts.number('warning'):g} warnings**"
    for file in found.nodes("files"):
        for row in file.nodes("mistakes"):
            where = f"{code(file.text('path'))} line {row.number('line'):g}"
            yield f"- {where}, {said(row.text('severity'))} {code(row.text('rule'))}: {said(row.text('text'))}"
            yield f"  instead: {said(row.text('fix'))}"


def _inspect(found: Node) -> Iterator[str]:
    yield f"**{code(found.text('path'))}**: {said(found.text('kind'))}, needs {said(', '.join(found.texts('needed')))}"
    for tree in [found, *found.nodes("frameworks")]:
        for one in tree.nodes("missing"):
            yield f"- missing: {code(one.text('name'))}, for {code(one.text('needed_by'))}"
    rows = [
        f"{one.text('name')} => {one.text('path')} ({one.text('via')})"
        for tree in [found, *found.nodes("frameworks")]
        for one in tree.nodes("libraries")
    ]
    yield from folded("What the loader picks", block(rows[:100]) if rows else [])


def _ranks(found: Node) -> Iterator[str]:
    first, rows = found.texts("first"), found.nodes("ranks")
    yield from (f"**{said(title_of(rows, first))}**", "", said(found.text("why")), "")
    yield from ("| rank | host | ended | |", "| --- | --- | --- | --- |")
    for row in sorted(rows, key=lambda row: row.text("name") not in first)[:40]:
        cells = [said(row.text(name), 160) for name in ("name", "host", "ended", "text")]
        yield f"| {' | '.join(cells)} |"
    yield from (f"- {said(row.text('text'))}" for row in found.nodes("mismatches")[:10])
    for one in found.node("report").nodes("causes")[:1]:
        yield from ("", *_cause(one))


def _fleet(found: Node) -> Iterator[str]:
    yield f"**{said(found.text('headline') or 'the fleet')}**"
    for one in found.nodes("odd")[:40]:
        for row in one.nodes("differs")[:4]:
            here, there = (said(short(row.values.get(name)), 120) for name in ("value", "others"))
            explains = f" (explains {code(row.text('explains'))})" if row.text("explains") else ""
            yield f"- {said(one.text('node'))}: {code(row.text('fact'))} is {here}, elsewhere {there}{explains}"


def _plain(found: Node) -> Iterator[str]:
    yield said(found.text("headline") or found.text("schema"))
