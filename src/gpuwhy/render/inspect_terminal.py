"""An inspection for a person: what it is, what it needs, what it would get, what is missing."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from gpuwhy.model.inspected import (
    Asked,
    Bundle,
    Gpu,
    Header,
    Inspected,
    Library,
    Missing,
    Probed,
    Searched,
    Tree,
    newer,
)
from gpuwhy.model.words import and_more
from gpuwhy.render.terminal import Paper

_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_CONTRACT = re.compile(r"(api|ext)-ms-", re.IGNORECASE)
_WORDS = {
    "library": "a shared library",
    "program": "a program",
    "wheel": "a wheel",
    "environment": "a Python environment",
    "folder": "a folder",
}
_BROUGHT_BY = {
    "driver": "the NVIDIA driver",
    "cuda": "CUDA libraries",
    "framework": "a framework",
    "system": "the system",
    "glibc": "glibc",
}


def render(found: Inspected, paper: Paper, verbose: bool = False) -> str:
    """The whole inspection as text."""
    lines = [*_heading(found, paper), *([] if found.frameworks else [""])]
    if found.header:
        lines += _header(found, found.header, paper)
    if found.bundle:
        lines += _bundle(found.bundle, found.gpu, paper, verbose, found.searched)
    for one in found.frameworks:
        lines += ["", *paper.wrap(f"{one.title} {one.version}", "", "  "), *_gpu(one.gpu, paper)]
        lines += _tree(one.tree, paper, verbose)
    if not found.frameworks and not found.bundle:
        lines += _tree(found.tree, paper, verbose)
    if found.probe:
        lines += _probe(found.probe, paper)
    for name, texts in (("with", found.variables), ("note", found.notes)):
        for text in texts:
            lines += paper.wrap(text, f"  {name:<12}", " " * 14)
    whole = "\n".join(_CONTROL.sub("?", line) for line in lines).rstrip() + "\n"
    first, _, rest = whole.partition("\n")
    return f"{paper.tint('1', first)}\n{rest}" if paper.colour else whole


def _probe(probe: Probed, paper: Paper) -> Iterator[str]:
    """What the system's own loader did."""
    if probe.skipped:
        yield from _row(paper, "loader", f"not asked: {probe.skipped}")
        return
    found = [one for one in probe.libraries if one.path is not None]
    gone = len(probe.libraries) - len(found)
    count = f"{len(found)} librar{'y' if len(found) == 1 else 'ies'}{f', {gone} not found' if gone else ''}"
    yield from _row(paper, "loader", f"{'not ' if probe.differences else ''}as predicted: {count}")
    for text in probe.differences:
        yield from paper.wrap(text, "  ✗ ", "    ")
    if probe.said and not any(probe.said in text for text in probe.differences):
        yield from _row(paper, "it says", probe.said)


def _heading(found: Inspected, paper: Paper) -> list[str]:
    trees = [one.tree for one in found.frameworks] or [found.tree]
    unsure = list(dict.fromkeys(name for tree in trees for name in tree.unsure))
    open_ = f"{_few(unsure)} could be on PATH alone, which is not known (--env PATH=…)" if unsure else ""
    verdict = "; ".join(filter(None, (*_problems(found, trees), open_))) or _fine(found)
    certain = found.searched and not unsure and all(one.path for one in found.opens)
    glyph = "✗" if not found.sound else "✓" if certain else "?"
    return paper.wrap(f"{found.path}, {_WORDS[found.kind]}: {verdict}", f"{glyph} ", "  ")


def _problems(found: Inspected, trees: Sequence[Tree]) -> Iterator[str]:
    """What is wrong, in short."""
    missing = list(dict.fromkeys(one.name for tree in trees for one in tree.missing))
    unfit = len(found.tree.unmet) + len(found.tree.unmet_versions)
    if missing:
        yield f"{_few(missing)} not found"
    if unfit:
        yield f"{unfit} of its libraries {'does' if unfit == 1 else 'do'} not fit"
    if found.probe and found.probe.differences:
        yield "the loader does not do what was predicted"
    if found.bundle and not found.bundle.sound:
        yield "could not all be read" if found.bundle.problems else "this machine's glibc is too old for it"


def _few(names: list[str]) -> str:
    return f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''}"


def _fine(found: Inspected) -> str:
    if found.bundle:
        count = len(found.bundle.asks)
        many = len(found.bundle.parts)
        return f"{_libraries(many)}, which need{'s' * (many == 1)} {count} other{'s' * (count != 1)}"
    if not found.searched:
        return f"for Windows, needs {len(found.needed)} librar{'y' if len(found.needed) == 1 else 'ies'}"
    fine = "everything it needs is found" if found.tree.libraries or found.frameworks else "nothing to load"
    gone = [one.name for one in found.opens if not one.path]
    return f"{fine}; it names {_few(gone)}, which it may open while it runs, not found" if gone else fine


def _libraries(count: int) -> str:
    return f"{count} shared librar{'y' if count == 1 else 'ies'}"


def _row(paper: Paper, name: str, text: str) -> list[str]:
    return paper.wrap(text, f"  {name:<12}", " " * 14) if text else []


def _header(found: Inspected, header: Header, paper: Paper) -> list[str]:
    asked = f"glibc {header.glibc} or newer" if header.glibc else ""
    newest = [f"{v} of {need.library}" for need in header.versions if (v := _newest(need.versions, "GLIBCXX_"))]
    return [
        *_row(paper, "is", " · ".join(filter(None, (f"{header.machine}, {header.bits} bit", header.soname)))),
        *_row(paper, "version", header.version or ""),
        *_row(paper, "build id", header.build_id),
        *_gpu(found.gpu, paper),
        *_row(paper, "needs", ", ".join(_needed(found.needed)) or "no library"),
        *_row(paper, "later", ", ".join(header.delayed)),
        *_row(paper, "may open", ", ".join(f"{one.name} ({one.path or 'not found'})" for one in found.opens)),
        *_row(paper, "asks for", ", ".join(filter(None, (asked, *newest)))),
        *_row(paper, "RPATH", _path(header.rpath)),
        *_row(paper, "RUNPATH", _path(header.runpath)),
    ]


def _needed(names: tuple[str, ...]) -> list[str]:
    """The names, with the many contracts of Windows as one."""
    others = [name for name in names if not _CONTRACT.match(name)]
    count = len(names) - len(others)
    return [*others, f"{count} api-ms-win-…"] if count > 1 else list(names)


def _newest(versions: tuple[str, ...], prefix: str) -> str:
    numbered = [v for v in versions if re.fullmatch(re.escape(prefix) + r"[\d.]+", v)]
    return max(numbered, key=lambda v: [int(n) for n in v.removeprefix(prefix).split(".")], default="")


def _path(text: str) -> str:
    folders = list(dict.fromkeys(text.split(":"))) if text else []
    return ", ".join(folders[:8]) + and_more(len(folders), 8)


def _gpu(gpu: Gpu, paper: Paper) -> list[str]:
    if not gpu.sass and not gpu.ptx:
        return []
    usual = gpu.usual_sass or gpu.sass
    more = [name for name in gpu.sass if name not in usual]
    text = " ".join(usual) + (f" (in parts also {' '.join(more)})" if more else "")
    ptx = f"; PTX {' '.join(gpu.usual_ptx or gpu.ptx)}" if gpu.ptx else "; no PTX"
    return _row(paper, "GPU code", text + ptx)


def _tree(tree: Tree, paper: Paper, verbose: bool) -> Iterator[str]:
    if tree.libraries:
        yield "  loads, in this order"
    for one in tree.libraries:
        yield from _library(one, paper)
    for gone in tree.missing:
        yield from _missing(gone, paper, verbose)
    for unmet in tree.unmet:
        more = f" and {unmet.count - len(unmet.symbols)} more" if unmet.count > len(unmet.symbols) else ""
        text = f"{unmet.library} needs {', '.join(unmet.symbols)}{more}, which {unmet.provider} does not define"
        yield from paper.wrap(text, "  ✗ ", "    ")
    for node in tree.unmet_versions:
        text = f"{node.asker} needs version {node.version}, which {node.provider} does not define"
        yield from paper.wrap(text, "  ✗ ", "    ")


def _library(one: Library, paper: Paper) -> Iterator[str]:
    version = f" {one.version}" if one.version else ""
    yield f"    {one.name}{version}"
    yield from paper.wrap(f"{one.path}", "      ", "        ")
    yield from paper.wrap(f"by {one.via}", "      ", "        ")
    if one.closed:
        yield "      closed again: something it needs is missing"
    for copy in one.lost:
        also = f" {copy.version}" if copy.version else ""
        yield from paper.wrap(f"lost: {copy.path}{also} ({copy.via})", "      ", "        ")


def _missing(gone: Missing, paper: Paper, verbose: bool) -> Iterator[str]:
    why = f" ({gone.why})" if gone.refused else ""
    yield from paper.wrap(f"{gone.name} not found{why}, needed by {gone.needed_by}", "  ✗ ", "    ")
    for path in gone.elsewhere:
        yield from paper.wrap(f"it lies in {path}, where the loader does not look", "      ", "        ")
    places = _places(gone.searched)
    shown = places if verbose else places[:8]
    why = ""
    for reason, folder in shown:
        if reason != why:
            yield from paper.wrap(f"searched by {reason}:", "      ", "        ")
        why = reason
        yield f"        {folder}"
    if len(places) > len(shown):
        yield f"      and {len(places) - len(shown)} places more (--verbose)"


def _places(searched: tuple[Searched, ...]) -> list[tuple[str, str]]:
    """(reason, folder and what was skipped there), each once, in order."""
    out: dict[tuple[str, str], None] = {}
    for place in searched:
        folder = posixpath.normpath(place.where.rpartition("/")[0] or "/")
        note = "" if place.outcome == "not there" else f": {place.outcome}"
        out.setdefault((place.why, f"{folder}{note}"))
    return list(out)


def _bundle(bundle: Bundle, gpu: Gpu, paper: Paper, verbose: bool, searched: bool) -> Iterator[str]:
    yield from _row(paper, "is", f"{bundle.name} {bundle.version}".strip())
    yield from _row(paper, "tags", ", ".join(bundle.tags))
    yield from _gpu(gpu, paper)
    if bundle.glibc:
        yield from _row(paper, "asks for", _glibc(bundle))
    for line in bundle.requires:
        yield from _row(paper, "brings", line)
    for kind, words in _BROUGHT_BY.items():
        asked = [one for one in bundle.asks if one.kind == kind]
        if asked:
            yield f"  asks of {words}"
            yield from (line for one in asked for line in _asked(one, paper, searched))
    yield from _parts(bundle, paper, verbose)
    for problem in bundle.problems:
        yield from paper.wrap(problem, "  ✗ ", "    ")


def _glibc(bundle: Bundle) -> str:
    wrong = ", which is not enough" if newer(bundle.glibc, bundle.promised) else ""
    tag = f"; its tag says {bundle.promised}{wrong}" if bundle.promised else ""
    here = f"; here is {bundle.here}" if bundle.here else ""
    return f"glibc {bundle.glibc} or newer ({bundle.glibc_by}){tag}{here}"


def _parts(bundle: Bundle, paper: Paper, verbose: bool) -> Iterator[str]:
    """The libraries in it, the largest first."""
    yield f"  holds {_libraries(len(bundle.parts))}"
    largest = sorted(bundle.parts, key=lambda part: -part.size)
    shown = largest if verbose else largest[:10]
    for part in shown:
        version = f" {part.version}" if part.version else ""
        yield f"    {part.name}{version} ({part.size / 1e6:,.1f} MB)"
        yield from (f"    {line}" for line in _gpu(part.gpu, paper))
    if len(largest) > len(shown):
        yield f"    and {len(largest) - 10} smaller (--verbose)"


def _asked(one: Asked, paper: Paper, searched: bool) -> Iterator[str]:
    here = f": here {one.found}" if one.found else ": not found here by a plain search" if searched else ""
    by = one.needed_by[0].rpartition("/")[2] + and_more(len(one.needed_by), 1)
    yield from paper.wrap(f"{one.name}{here} (needed by {by})", "    ", "      ")
