"""What `gpuwhy inspect` shows: the Inspected as a document."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from gpuwhy._version import __version__
from gpuwhy.answer import tree
from gpuwhy.answer.blocks import item, items, pair, pairs, table
from gpuwhy.answer.text import counted, listed, size
from gpuwhy.inspect import inspected as of
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


def document(found: of.Inspected, detail: int = 0) -> tree.Document:
    """The answer; without `detail` the libraries of CUDA and the frameworks alone."""
    blocks: list[tree.Block] = [_heading(found)]
    if found.header:
        blocks.append(pairs(*_header(found, found.header)))
    if found.bundle:
        blocks += _bundle(found.bundle, found, detail)
    for one in found.frameworks:
        blocks.append(tree.Heading((f"{one.title} {one.version}",), level=2))
        blocks += [pairs(_gpu(one.gpu)), *_tree(one.tree, detail)]
    if not found.frameworks and not found.bundle:
        blocks += _tree(found.tree, detail)
    steering = [pair(name, value) for name, value in found.variables.items()]
    blocks.append(pairs(*steering, *(pair("note", text) for text in found.notes)))
    return tree.Document(
        tuple(one for one in blocks if getattr(one, "rows", True)),
        title=f"{found.path.rpartition('/')[2] or found.path}: {_said(found)}",
        made_by=f"gpuwhy {__version__}",
        about=found.path,
    )


def _heading(found: of.Inspected) -> tree.Heading:
    certain = found.searched and not _unsure(found) and all(one.path for one in found.opens)
    mark: tree.Mark = "bad" if not found.sound else "ok" if certain else "unknown"
    return tree.Heading((f"{found.path}, {_WORDS[found.kind]}: {_said(found)}",), mark)


def _said(found: of.Inspected) -> str:
    """What is wrong, else what was found."""
    unsure = _unsure(found)
    where = "could be on PATH alone, which is not known (--env PATH=…)"
    doubt = f"{listed(unsure)} {where}" if unsure else ""
    return "; ".join(filter(None, (*_problems(found), doubt))) or _fine(found)


def _trees(found: of.Inspected) -> list[of.Tree]:
    return [one.tree for one in found.frameworks] or [found.tree]


def _unsure(found: of.Inspected) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for one in _trees(found) for name in one.unsure))


def _problems(found: of.Inspected) -> Iterator[str]:
    missing = dict.fromkeys(one.name for loads in _trees(found) for one in loads.missing)
    unfit = len(found.tree.unmet) + len(found.tree.unmet_versions)
    if missing:
        yield f"{listed(tuple(missing))} not found"
    if unfit:
        yield f"{unfit} of its libraries {'does' if unfit == 1 else 'do'} not fit"
    if found.bundle and found.bundle.problems:
        yield "not all of it could be read"
    elif found.bundle and not found.bundle.sound:
        yield "this machine's glibc is too old for it"


def _fine(found: of.Inspected) -> str:
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


def _header(found: of.Inspected, header: of.Header) -> tuple[tree.Pair | None, ...]:
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


def _gpu(gpu: of.Gpu) -> tree.Pair | None:
    if not gpu.sass and not gpu.ptx:
        return None
    usual = gpu.usual_sass or gpu.sass
    more = [name for name in gpu.sass if name not in usual]
    text = " ".join(usual) + (f" (in parts also {' '.join(more)})" if more else "")
    ptx = f"PTX {' '.join(gpu.usual_ptx or gpu.ptx)}" if gpu.ptx else "no PTX"
    return pair("GPU code", f"{text}; {ptx}")


# What would be loaded


def _tree(loads: of.Tree, detail: int) -> Iterator[tree.Block]:
    """What fails first, then the libraries; the system's own only with `detail`."""
    failing = [_missing(one, detail) for one in loads.missing]
    for symbol in loads.unmet:
        left = symbol.count - len(symbol.symbols)
        shown = ", ".join(symbol.symbols) + (f" and {left} more" if left else "")
        text = f"{symbol.library} needs {shown}, which {symbol.provider} does not define"
        failing.append(item(text, mark="bad"))
    for node in loads.unmet_versions:
        text = f"{node.asker} needs version {node.version}, which {node.provider} does not define"
        failing.append(item(text, mark="bad"))
    yield items(failing)
    libraries = [one for one in loads.libraries if detail or _matters(one)]
    yield items(_library(one, detail) for one in libraries)
    if hidden := len(loads.libraries) - len(libraries):
        text = f"and {counted(hidden, 'library', 'libraries')} of the system (-v)"
        yield tree.Paragraph((tree.Soft(text),))


def _matters(one: of.Library) -> bool:
    gpu = linux.concerns_gpu(one.path) or windows_system.concerns_gpu(one.path)
    return gpu or bool(one.lost) or one.closed


def _library(one: of.Library, detail: int) -> tree.Item:
    lines: list[str | tree.Part] = [(tree.Code(one.path), tree.Soft(f" by {one.via}"))]
    if one.closed:
        lines.append("closed again: something that it needs is missing")
    for copy in one.lost if detail else one.lost[:1]:
        version = f" {copy.version}" if copy.version else ""
        lines.append((tree.Soft(f"before {copy.path}{version} ({copy.via})"),))
    return item((tree.Strong(one.name), f" {one.version or ''}".rstrip()), *lines)


def _missing(gone: of.Missing, detail: int) -> tree.Item:
    why = f" ({gone.reason})" if gone.refused else ""
    lines: list[str] = [f"{gone.name} not found{why}, needed by {gone.needed_by}"]
    lines += [f"it is in {path}, where the loader does not look" for path in gone.elsewhere]
    places = _places(gone.searched)
    shown = places if detail else places[:_FEW_PLACES]
    lines += [f"searched: {folder} ({why})" for why, folder in shown]
    if len(places) > len(shown):
        lines.append(f"and {counted(len(places) - len(shown), 'more place')} (-v)")
    return item(*lines, mark="bad")


def _places(searched: Sequence[of.Searched]) -> list[tuple[str, str]]:
    """Why a folder is searched, and the folder with what was skipped there; each once."""
    out: dict[tuple[str, str], None] = {}
    for place in searched:
        folder = posixpath.normpath(place.where.rpartition("/")[0] or "/")
        note = "" if place.outcome == "not there" else f": {place.outcome}"
        out.setdefault((place.why, f"{folder}{note}"))
    return list(out)


# Wheels and folders


def _bundle(bundle: of.Bundle, found: of.Inspected, detail: int) -> Iterator[tree.Block]:
    yield items(item(problem, mark="bad") for problem in bundle.problems)
    yield pairs(
        pair("is", f"{bundle.name} {bundle.version}".strip()),
        pair("tags", ", ".join(bundle.tags)),
        _gpu(found.gpu),
        pair("requires", _glibc(bundle)),
        pair("packages", *bundle.requires),
    )
    if bundle.asks:
        yield tree.Heading(("What it asks of others",), level=2)
        yield _asks(bundle, detail, "not found by a plain search" if found.searched else "")
    largest = sorted(bundle.parts, key=lambda part: -part.size)
    shown = largest if detail else largest[:_FEW_PARTS]
    many = counted(len(largest), "shared library", "shared libraries")
    many += "" if len(shown) == len(largest) else ", the largest (-v: all)"
    yield tree.Heading((many,), level=2)
    rows = [
        (one.name if detail else _file(one.name), one.version or "", size(one.size), _code(one.gpu))
        for one in shown
    ]
    yield table(("file", "version", "size", "GPU code"), rows)


def _asks(bundle: of.Bundle, detail: int, nothing: str) -> tree.Block:
    """What it needs and does not hold, by who brings it; with `detail` for whom and from where."""
    kinds = {words: [o for o in bundle.asks if o.kind == kind] for kind, words in _BRINGERS.items()}
    if not detail:
        rows = (
            (words, _names([one.name for one in asks])) for words, asks in kinds.items() if asks
        )
        return pairs(*(pair(*row) for row in rows))
    lines = [
        (one.name, words, _names([_file(name) for name in one.needed_by], 1), one.found or nothing)
        for words, asks in kinds.items()
        for one in asks
    ]
    return table(("library", "", "needed by", "here"), lines)


def _names(names: Sequence[str], most: int = _FEW_NAMES) -> str:
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def _file(path: str) -> str:
    return path.rpartition("/")[2]


def _code(gpu: of.Gpu) -> str:
    return " ".join((*(gpu.usual_sass or gpu.sass), *(f"{one} (PTX)" for one in gpu.usual_ptx)))


def _glibc(bundle: of.Bundle) -> str:
    if not bundle.glibc:
        return ""
    wrong = ", which is not enough" if of.newer(bundle.glibc, bundle.promised) else ""
    tag = f"; its tag says {bundle.promised}{wrong}" if bundle.promised else ""
    here = f"; here is {bundle.here}" if bundle.here else ""
    return f"glibc {bundle.glibc} or newer ({bundle.glibc_by}){tag}{here}"
