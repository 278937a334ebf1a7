"""What `gpuwhy inspect` shows: the Inspected as a document."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from gpuwhy._version import __version__
from gpuwhy.answer.blocks import item, items, pair, pairs, table
from gpuwhy.answer.text import counted, listed, size
from gpuwhy.answer.tree import (
    Block,
    Code,
    Document,
    Heading,
    Item,
    Line,
    Mark,
    Pair,
    Paragraph,
    Soft,
    Strong,
)
from gpuwhy.inspect.inspected import (
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
from gpuwhy.loader import linux, windows_system

_CONTRACT = re.compile(r"(api|ext)-ms-", re.IGNORECASE)
_WORDS = {
    "library": "a shared library",
    "program": "a program",
    "wheel": "a wheel",
    "environment": "a Python environment",
    "folder": "a folder",
}
_BRINGERS = {
    "driver": "of the driver",
    "cuda": "of CUDA",
    "framework": "of a framework",
    "system": "of the system",
    "glibc": "of glibc",
}
_FEW_PARTS, _FEW_PLACES, _FEW_NAMES = 5, 4, 6


def document(found: Inspected, detail: int = 0) -> Document:
    """The answer; without `detail` the libraries of CUDA and the frameworks alone."""
    blocks: list[Block] = [_heading(found)]
    if found.header:
        blocks.append(pairs(*_header(found, found.header)))
    if found.bundle:
        blocks += _bundle(found.bundle, found, detail)
    for one in found.frameworks:
        blocks.append(Heading((f"{one.title} {one.version}",), level=2))
        blocks += [pairs(_gpu(one.gpu)), *_tree(one.tree, detail)]
    if not found.frameworks and not found.bundle:
        blocks += _tree(found.tree, detail)
    if found.probe:
        blocks += _probe(found.probe)
    steering = [pair(name, value) for name, value in found.variables.items()]
    blocks.append(pairs(*steering, *(pair("note", text) for text in found.notes)))
    return Document(
        tuple(one for one in blocks if getattr(one, "rows", True)),
        title=f"{found.path.rpartition('/')[2] or found.path}: {_said(found)}",
        made_by=f"gpuwhy {__version__}",
        about=found.path,
    )


def _heading(found: Inspected) -> Heading:
    certain = found.searched and not _unsure(found) and all(one.path for one in found.opens)
    mark: Mark = "bad" if not found.sound else "ok" if certain else "unknown"
    return Heading((f"{found.path}, {_WORDS[found.kind]}: {_said(found)}",), mark)


def _said(found: Inspected) -> str:
    """What is wrong, else what was found."""
    unsure = _unsure(found)
    where = "could be on PATH alone, which is not known (--env PATH=…)"
    doubt = f"{listed(unsure)} {where}" if unsure else ""
    return "; ".join(filter(None, (*_problems(found), doubt))) or _fine(found)


def _trees(found: Inspected) -> list[Tree]:
    return [one.tree for one in found.frameworks] or [found.tree]


def _unsure(found: Inspected) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for tree in _trees(found) for name in tree.unsure))


def _problems(found: Inspected) -> Iterator[str]:
    missing = dict.fromkeys(one.name for tree in _trees(found) for one in tree.missing)
    unfit = len(found.tree.unmet) + len(found.tree.unmet_versions)
    if missing:
        yield f"{listed(tuple(missing))} not found"
    if unfit:
        yield f"{unfit} of its libraries {'does' if unfit == 1 else 'do'} not fit"
    if found.probe and found.probe.differences:
        yield "the loader does not do what was predicted"
    if found.bundle and found.bundle.problems:
        yield "not all of it could be read"
    elif found.bundle and not found.bundle.sound:
        yield "this machine's glibc is too old for it"


def _fine(found: Inspected) -> str:
    if found.bundle:
        many, asks = len(found.bundle.parts), len(found.bundle.asks)
        libraries = counted(many, "shared library", "shared libraries")
        return f"{libraries}, which need{'s' * (many == 1)} {counted(asks, 'other')}"
    if not found.searched:
        return f"for Windows, needs {counted(len(found.needed), 'library', 'libraries')}"
    loads = found.tree.libraries or found.frameworks
    fine = "everything it needs is found" if loads else "nothing to load"
    gone = tuple(one.name for one in found.opens if not one.path)
    named = f"it names {listed(gone)}, which it may open while it runs, not found"
    return f"{fine}; {named}" if gone else fine


def _header(found: Inspected, header: Header) -> tuple[Pair | None, ...]:
    kind = " · ".join(filter(None, (f"{header.machine}, {header.bits} bit", header.soname)))
    newest = [
        f"{last} of {name}" for name, asked in header.versions.items() if (last := _newest(asked))
    ]
    glibc = [f"glibc {header.glibc} or newer"] if header.glibc else []
    opens = [f"{one.name} ({one.path or 'not found'})" for one in found.opens]
    return (
        pair("is", kind),
        pair("version", header.version or ""),
        pair("build id", header.build_id),
        _gpu(found.gpu),
        pair("needs", ", ".join(_needed(found.needed)) or "no library"),
        pair("later", ", ".join(header.delayed)),
        pair("may open", ", ".join(opens)),
        pair("requires", ", ".join((*glibc, *newest))),
        pair("RPATH", _path(header.rpath)),
        pair("RUNPATH", _path(header.runpath)),
    )


def _needed(names: tuple[str, ...]) -> list[str]:
    """The names, with the many contracts of Windows as one."""
    others = [name for name in names if not _CONTRACT.match(name)]
    count = len(names) - len(others)
    return [*others, f"{count} api-ms-win-…"] if count > 1 else list(names)


def _newest(versions: tuple[str, ...]) -> str:
    numbered = [one for one in versions if re.fullmatch(r"GLIBCXX_[\d.]+", one)]
    return max(numbered, key=lambda one: [int(n) for n in one[8:].split(".")], default="")


def _path(text: str) -> str:
    folders = tuple(dict.fromkeys(text.split(":"))) if text else ()
    return listed(folders, 8) if len(folders) > 8 else ", ".join(folders)


def _gpu(gpu: Gpu) -> Pair | None:
    if not gpu.sass and not gpu.ptx:
        return None
    usual = gpu.usual_sass or gpu.sass
    more = [name for name in gpu.sass if name not in usual]
    text = " ".join(usual) + (f" (in parts also {' '.join(more)})" if more else "")
    ptx = f"PTX {' '.join(gpu.usual_ptx or gpu.ptx)}" if gpu.ptx else "no PTX"
    return pair("GPU code", f"{text}; {ptx}")


# ---------------------------------------------------------------- what would be loaded


def _tree(tree: Tree, detail: int) -> Iterator[Block]:
    """What fails first, then the libraries; the system's own only with `detail`."""
    failing = [*(_missing(one, detail) for one in tree.missing)]
    for symbol in tree.unmet:
        more = f" and {symbol.count - len(symbol.symbols)} more"
        shown = ", ".join(symbol.symbols) + more * (symbol.count > len(symbol.symbols))
        text = f"{symbol.library} needs {shown}, which {symbol.provider} does not define"
        failing.append(item(text, mark="bad"))
    for node in tree.unmet_versions:
        text = f"{node.asker} needs version {node.version}, which {node.provider} does not define"
        failing.append(item(text, mark="bad"))
    yield items(failing)
    shown_libraries = [one for one in tree.libraries if detail or _matters(one)]
    yield items(_library(one, detail) for one in shown_libraries)
    hidden = len(tree.libraries) - len(shown_libraries)
    if hidden:
        yield Paragraph(
            (Soft(f"and {counted(hidden, 'library', 'libraries')} of the system (-v)"),)
        )


def _matters(one: Library) -> bool:
    gpu = linux.concerns_gpu(one.path) or windows_system.concerns_gpu(one.path)
    return gpu or bool(one.lost) or one.closed


def _library(one: Library, detail: int) -> Item:
    lines: list[str | Line] = [(Code(one.path), Soft(f" by {one.via}"))]
    if one.closed:
        lines.append("closed again: something that it needs is missing")
    for copy in one.lost if detail else one.lost[:1]:
        version = f" {copy.version}" if copy.version else ""
        lines.append((Soft(f"before {copy.path}{version} ({copy.via})"),))
    return item((Strong(one.name), f" {one.version or ''}".rstrip()), *lines)


def _missing(gone: Missing, detail: int) -> Item:
    why = f" ({gone.reason})" if gone.refused else ""
    lines: list[str] = [f"{gone.name} not found{why}, needed by {gone.needed_by}"]
    lines += [f"it is in {path}, where the loader does not look" for path in gone.elsewhere]
    places = _places(gone.searched)
    shown = places if detail else places[:_FEW_PLACES]
    lines += [f"searched: {folder} ({why})" for why, folder in shown]
    if len(places) > len(shown):
        lines.append(f"and {counted(len(places) - len(shown), 'more place')} (-v)")
    return item(*lines, mark="bad")


def _places(searched: Sequence[Searched]) -> list[tuple[str, str]]:
    """Why a folder is searched, and the folder with what was skipped there; each once."""
    out: dict[tuple[str, str], None] = {}
    for place in searched:
        folder = posixpath.normpath(place.where.rpartition("/")[0] or "/")
        note = "" if place.outcome == "not there" else f": {place.outcome}"
        out.setdefault((place.why, f"{folder}{note}"))
    return list(out)


def _probe(probe: Probed) -> Iterator[Block]:
    if probe.skipped:
        yield pairs(pair("loader", f"not asked: {probe.skipped}"))
        return
    gone = sum(one.path is None for one in probe.libraries)
    count = counted(len(probe.libraries) - gone, "library", "libraries")
    done = "not as predicted" if probe.differences else "as predicted"
    said = probe.said if not any(probe.said in text for text in probe.differences) else ""
    missing = f", {gone} not found" if gone else ""
    yield pairs(pair("loader", f"{done}: {count}{missing}"), pair("it prints", said))
    yield items(item(text, mark="bad") for text in probe.differences)


# ---------------------------------------------------------------- wheels and folders


def _bundle(bundle: Bundle, found: Inspected, detail: int) -> Iterator[Block]:
    yield items(item(problem, mark="bad") for problem in bundle.problems)
    yield pairs(
        pair("is", f"{bundle.name} {bundle.version}".strip()),
        pair("tags", ", ".join(bundle.tags)),
        _gpu(found.gpu),
        pair("requires", _glibc(bundle)),
        pair("packages", *bundle.requires),
    )
    named = [
        (words, [one for one in bundle.asks if one.kind == kind])
        for kind, words in _BRINGERS.items()
    ]
    if bundle.asks and not detail:
        yield Heading(("What it asks of others",), level=2)
        yield pairs(*(pair(words, _names([one.name for one in asks])) for words, asks in named))
    elif bundle.asks:
        yield Heading(("What it asks of others",), level=2)
        head = ("library", "", "needed by", "here")
        nothing = "not found by a plain search" if found.searched else ""
        yield table(
            head,
            [
                (
                    one.name,
                    words,
                    _names([_file(name) for name in one.needed_by], 1),
                    one.found or nothing,
                )
                for words, asks in named
                for one in asks
            ],
        )
    largest = sorted(bundle.parts, key=lambda part: -part.size)
    shown = largest if detail else largest[:_FEW_PARTS]
    many = counted(len(largest), "shared library", "shared libraries")
    yield Heading(
        (many if len(shown) == len(largest) else f"{many}, the largest (-v: all)",), level=2
    )
    yield table(
        ("file", "version", "size", "GPU code"),
        [
            (
                one.name if detail else _file(one.name),
                one.version or "",
                size(one.size),
                _code(one.gpu),
            )
            for one in shown
        ],
    )


def _names(names: Sequence[str], most: int = _FEW_NAMES) -> str:
    if not names:
        return ""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def _file(path: str) -> str:
    return path.rpartition("/")[2]


def _code(gpu: Gpu) -> str:
    return " ".join((*(gpu.usual_sass or gpu.sass), *(f"{one} (PTX)" for one in gpu.usual_ptx)))


def _glibc(bundle: Bundle) -> str:
    if not bundle.glibc:
        return ""
    wrong = ", which is not enough" if newer(bundle.glibc, bundle.promised) else ""
    tag = f"; its tag says {bundle.promised}{wrong}" if bundle.promised else ""
    here = f"; here is {bundle.here}" if bundle.here else ""
    return f"glibc {bundle.glibc} or newer ({bundle.glibc_by}){tag}{here}"
