"""The pages of a proof, an inspection, a plan and a lint."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.page import loads, timeline
from gpuwhy.page.element import Child, Element, el
from gpuwhy.page.parts import cause, command, evidence, fold, foot, head, item, list_section, listed, section, sign
from gpuwhy.page.values import Node

PROOF = {"proven": "ok", "open": "unknown", "flaky": "warn", "not_failing": "ok"}


def proof(found: Node) -> list[Child]:
    """What was proven, the smallest change, the experiments in time."""
    causes = [cause(one, "proven" if one.flag("proven") else "") for one in found.nodes("causes")[:5]]
    notes = [*found.texts("notes"), *(f"not tried: {one}" for one in found.texts("left"))]
    ruled = [[el("code", one.text("id")), ": ", one.text("because")] for one in found.nodes("ruled_out")]
    ending = _ending(found.node("ending"))
    body: list[Child] = [
        _smallest(found.node("change")),
        timeline.of_proof(found),
        _sure(found),
        section("Why", "why", *causes) if causes else None,
        list_section("Ruled out", "ruled", ruled),
        section("How it ended", "ending", el("pre", ending)) if ending else None,
        list_section("Notes", "notes", notes),
    ]
    mark = PROOF.get(found.text("status"), "unknown")
    runs = f"{found.number('runs'):g} runs in {timeline.seconds(found.number('seconds'))}"
    return [head(mark, found.text("headline"), el("p", runs, class_="soft")), el("main", *body), foot("gpuwhy prove")]


def _smallest(change: Node) -> Element | None:
    if not change:
        return None
    title = "The smallest change that makes it run"
    return section(title, "change", el("p", change.text("text")), command(change.text("command")))


def _sure(found: Node) -> Element | None:
    if found.text("status") != "proven":
        return None
    return el("p", f"At most {found.node('counts').number('chance'):.1%} that these outcomes are chance.")


def _ending(ending: Node) -> str:
    return ": ".join(filter(None, (ending.text("type"), ending.text("message"))))


def inspection(found: Node) -> list[Child]:
    """What a file needs and would get."""
    mark, said = _whole(found)
    text = f"{found.text('path') or 'a file without a name'}: {said}"
    gpu = found.node("gpu")
    rows: list[tuple[str, str]] = [
        ("kind", found.text("kind")),
        ("version", found.text("version")),
        ("glibc", found.text("glibc")),
        ("GPU code", ", ".join(gpu.texts("sass")[:40])),
        ("PTX", ", ".join(gpu.texts("ptx")[:40])),
        ("RPATH", found.text("rpath")),
        ("RUNPATH", found.text("runpath")),
        ("needs", ", ".join(found.texts("needed"))),
    ]
    about = el("dl", *([el("dt", name), el("dd", value)] for name, value in rows if value))
    variables = [f"{name}={value}" for name, value in found.pairs("variables") if isinstance(value, str)]
    notes = [*found.texts("notes"), *variables]
    body = [
        section("What it is", "about", about),
        section("What the loader picks", "loads", *loads.of_inspection(found)),
        _bundle(found.node("bundle")),
        list_section("Notes", "notes", notes),
    ]
    return [head(mark, text), el("main", *body), foot("gpuwhy inspect")]


def _whole(found: Node) -> tuple[str, str]:
    """Whether all that a file needs is found; not known where the answer does not list what that is."""
    parts = [found, *found.nodes("frameworks")]
    missing = sum(len(one.nodes("missing")) for one in parts)
    if missing:
        return "bad", f"{_count(missing)} missing"
    if any(one.values.get(name) for one in parts for name in ("unmet", "unmet_versions")):
        return "bad", "it is given libraries that lack what it asks of them"
    if not any("missing" in one.values for one in parts):
        return "unknown", "what it needs is not told"
    return "ok", "everything it needs is found"


def _count(number: int) -> str:
    return f"{number} {'library' if number == 1 else 'libraries'}"


def _bundle(bundle: Node) -> Element | None:
    if not bundle:
        return None
    asks = [
        [el("code", one.text("name")), f" from {one.text('kind')}: ", el("code", one.text("found") or "not found here")]
        for one in bundle.nodes("asks")
    ]
    parts = [[el("code", one.text("name")), " ", one.text("version")] for one in bundle.nodes("parts")[:500]]
    problems = [[sign("bad"), " ", one] for one in bundle.texts("problems")]
    return section(
        "The bundle",
        "bundle",
        listed(problems) if problems else None,
        fold(f"what it asks of others: {len(asks)}", listed(asks), opened=len(asks) < 20) if asks else None,
        fold(f"its libraries: {len(parts)}", listed(parts)) if parts else None,
    )


def plan(found: Node) -> list[Child]:
    """What was chosen, how to install it, what was passed over and why."""
    conflict = found.node("conflict")
    chosen = found.node("proposal") or conflict.node("nearest")
    mark, title = ("bad", conflict.text("text")) if conflict else _planned(chosen)
    body = [
        *(_conflict(conflict, chosen) if conflict else ()),
        _chosen(chosen),
        _ways(chosen),
        _grounds(chosen),
        _passed([*chosen.nodes("passed"), *conflict.nodes("passed")]),
    ]
    return [head(mark, title or "nothing was chosen"), el("main", *body), foot("gpuwhy plan")]


def _planned(chosen: Node) -> tuple[str, str]:
    """The mark and the title of a plan that does not conflict."""
    named = ", ".join(f"{one.text('package')} {one.text('version')}" for one in chosen.nodes("choices"))
    title = f"{named} on Python {chosen.text('python')}"
    if chosen.texts("unsure"):
        return "warn", f"{title} may work, which is not known"
    return ("ok", title) if chosen.nodes("choices") else ("unknown", "No plan is told")


def _conflict(conflict: Node, nearest: Node) -> Iterator[Element]:
    yield section("Why nothing works", "conflict", _lines(conflict.nodes("lines")))
    if nearest:
        moved = listed(conflict.texts("migration"))
        yield section("What comes nearest", "nearest", el("p", conflict.text("gives_up")), moved)


def _chosen(found: Node) -> Element | None:
    cards = [
        el(
            "div",
            el("h3", f"{one.text('package')} {one.text('version')}"),
            el(
                "dl",
                *(
                    [el("dt", name), el("dd", value)]
                    for name, value in (
                        ("role", one.text("role")),
                        ("CUDA", one.text("cuda")),
                        ("cuDNN", one.text("cudnn")),
                        ("runs", one.text("runs")),
                        ("from", one.text("backend")),
                    )
                    if value
                ),
            ),
            _lines(one.nodes("lines")),
            class_="card",
        )
        for one in found.nodes("choices")
    ]
    wheels = [f"{one.text('package')} {one.text('version')}" for one in found.nodes("libraries")]
    more = fold(f"NVIDIA's wheels: {len(wheels)}", listed(wheels)) if wheels else None
    return section("What was chosen", "chosen", el("div", *cards, class_="cards"), more) if cards or wheels else None


def _ways(found: Node) -> Element | None:
    ways = found.nodes("ways")
    parts = [
        fold(
            f"{one.text('title')}" + (f" · {one.text('file')}" if one.text("file") else ""),
            command(one.text("text")),
            el("p", one.text("note"), class_="soft") if one.text("note") else None,
            opened=place == 0,
        )
        for place, one in enumerate(ways)
    ]
    return section("How to install it", "ways", *parts) if parts else None


def _grounds(found: Node) -> Element | None:
    system = [f"{one.text('name')} {one.text('version')}: {one.text('why')}" for one in found.nodes("system")]
    caps = [
        item("know", f"{one.text('requirement')}: {one.text('because')}", one.node("source").text("where"))
        for one in found.nodes("caps")
    ]
    rows: list[Child] = [_lines(found.nodes("lines")), el("ul", *caps, class_="evidence") if caps else None]
    rows += [listed(f"needs {one}" for one in system)] if system else []
    rows += (
        [listed([*found.texts("unsure"), *found.texts("notes")])]
        if found.texts("unsure") or found.texts("notes")
        else []
    )
    return section("Why these", "grounds", *rows) if any(row is not None for row in rows) else None


def _lines(rows: list[Node]) -> Element | None:
    return (
        el(
            "ul",
            *(item(one.text("kind"), one.text("text"), _where(one.node("source"))) for one in rows),
            class_="evidence",
        )
        if rows
        else None
    )


def _where(source: Node) -> str:
    detail = source.text("detail")
    return source.text("where") + (f" ({detail})" if detail else "")


def _passed(rows: list[Node]) -> Element | None:
    if not rows:
        return None
    cells = []
    for one in rows[:400]:
        versions = one.texts("versions")
        span = (
            versions[0]
            if len(versions) == 1
            else f"{versions[-1]} … {versions[0]} ({len(versions)})"
            if versions
            else ""
        )
        cells.append(el("tr", el("td", el("code", one.text("package"))), el("td", span), el("td", one.text("why"))))
    heads = el(
        "thead", el("tr", *(el("th", word, scope="col") for word in ("package", "releases", "passed over because")))
    )
    return section("What was passed over", "passed", el("table", heads, el("tbody", *cells), class_="wide"))


def lint(found: Node) -> list[Child]:
    """Mistakes by file, each with what is known and the fix."""
    counts, files = found.node("counts"), found.nodes("files")
    errors, warnings, unread = (int(counts.number(name)) for name in ("error", "warning", "unreadable"))
    mark, nothing = ("ok", "Nothing wrong") if files and counts else ("unknown", "Nothing was looked at")
    if warnings:
        mark = "warn"
    if errors or unread:
        mark = "bad"
    said = [_counted(n, word) for n, word in zip((errors, warnings, unread), _COUNTED, strict=True) if n]
    title = f"{', '.join(said) or nothing} in {_counted(len(files), 'file')}"
    body = [_file(place, one) for place, one in enumerate(files) if _says_something(one)]
    return [head(mark, title), el("main", *body), foot(f"gpuwhy lint {found.text('gpuwhy')}".rstrip())]


_COUNTED = ("error", "warning", "unreadable file")


def _counted(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _says_something(file: Node) -> bool:
    return any(file.nodes(name) for name in ("mistakes", "problems", "notes"))


def _file(place: int, one: Node) -> Element:
    rows: list[Child] = [
        el("p", sign("bad"), f" line {row.text('line')}: {row.text('text')}") for row in one.nodes("problems")
    ]
    rows += [_mistake(row) for row in one.nodes("mistakes")]
    rows += [el("p", f"line {row.text('line')}: {row.text('text')}", class_="soft") for row in one.nodes("notes")]
    return section(one.text("path"), f"file-{place}", *rows)


def _mistake(row: Node) -> Element:
    mark = "bad" if row.text("severity") == "error" else "warn"
    known = Node(
        {
            "text": row.text("text"),
            "know": [{"text": row.node("know").text("where"), "source": row.node("know").text("detail")}],
        }
    )
    return el(
        "div",
        el("h3", sign(mark), f" line {row.text('line')} ", el("code", row.text("rule"))),
        evidence(known),
        el("p", el("strong", "Instead: "), row.text("fix")),
        class_="cause",
    )
