"""What `gpuwhy inspect` shows: the Inspected as a document."""

import posixpath
import re
from collections.abc import Iterator, Sequence

from gpuwhy._version import __version__
from gpuwhy.answer import tree
from gpuwhy.answer.blocks import item, items, pair, pairs, table
from gpuwhy.answer.text import counted, listed, size
from gpuwhy.inspect import inspected as of
from gpuwhy.loader import linux, windows_system

_WORDS = {
    "library": "a shared library",
    "program": "a program",
    "wheel": "a wheel",
    "environment": "a Python environment",
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
    trees = [one.tree for one in found.frameworks] or [found.tree]
    unsure = tuple(dict.fromkeys(name for one in trees for name in one.unsure))
    where = "could be on PATH alone, which is not known (--env PATH=…)"
    doubt = [f"{listed(unsure)} {where}"] if unsure else []
    said = "; ".join([*_problems(found, trees), *doubt]) or _fine(found)
    certain = found.searched and not unsure and all(one.path for one in found.opens)
    mark: tree.Mark = "bad" if not found.sound else "ok" if certain else "unknown"
    blocks: list[tree.Block] = []
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
        (
            tree.Heading((f"{found.path}, {_WORDS[found.kind]}: {said}",), mark),
            *(one for one in blocks if getattr(one, "rows", True)),
        ),
        title=f"{found.path.rpartition('/')[2] or found.path}: {said}",
        made_by=f"gpuwhy {__version__}",
        about=found.path,
    )


def _problems(found: of.Inspected, trees: Sequence[of.Tree]) -> Iterator[str]:
    missing = dict.fromkeys(one.name for loads in trees for one in loads.missing)
    unfit = len(found.tree.unmet) + len(found.tree.unmet_versions)
    if missing:
        yield f"{listed(tuple(missing))} not found"
    if unfit:
        yield f"{unfit} of its libraries {'does' if unfit == 1 else 'do'} not fit"
    if found.bundle and found.bundle.problems:
        yield "not all of it could be read"


def _fine(found: of.Inspected) -> str:
    """What was found, where nothing is wrong."""
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


def _header(found: of.Inspected, header: of.Header) -> Iterator[tree.Pair | None]:
    # Windows' contracts are in JSON
    needed = [name for name in found.needed if not re.match(r"(?i)(api|ext)-ms-", name)]
    opens = [f"{one.name} ({one.path or 'not found'})" for one in found.opens]
    yield pair(
        "is", " · ".join(filter(None, (f"{header.machine}, {header.bits} bit", header.soname)))
    )
    yield pair("version", header.version or "")
    yield pair("build id", header.build_id)
    yield _gpu(found.gpu)
    yield pair("needs", ", ".join(needed) or "no library")
    yield pair("later", ", ".join(header.delayed))
    yield pair("may open", ", ".join(opens))
    yield pair("requires", f"glibc {header.glibc} or newer" if header.glibc else "")
    for name, path in (("RPATH", header.rpath), ("RUNPATH", header.runpath)):
        yield pair(name, listed(tuple(dict.fromkeys(path.split(":"))), 8) if path else "")


def _gpu(gpu: of.Gpu) -> tree.Pair | None:
    if not gpu.sass and not gpu.ptx:
        return None
    ptx = f"PTX {' '.join(gpu.usual_ptx or gpu.ptx)}" if gpu.ptx else "no PTX"
    return pair("GPU code", f"{' '.join(gpu.usual_sass or gpu.sass)}; {ptx}")


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
    kept = []
    for one in loads.libraries:
        of_gpu = linux.concerns_gpu(one.path) or windows_system.concerns_gpu(one.path)
        if detail or of_gpu or one.closed:
            kept.append(_library(one))
    yield items(kept)
    if hidden := len(loads.libraries) - len(kept):
        text = f"and {counted(hidden, 'library', 'libraries')} of the system (-v)"
        yield tree.Paragraph((tree.Soft(text),))


def _library(one: of.Library) -> tree.Item:
    why = "closed again: something that it needs is missing" if one.closed else ""
    where = (tree.Code(one.path), tree.Soft(f" by {one.via}"))
    return item((one.name, f" {one.version or ''}".rstrip()), where, *filter(None, [why]))


def _missing(gone: of.Missing, detail: int) -> tree.Item:
    why = f" ({gone.reason})" if gone.refused else ""
    lines: list[str] = [f"{gone.name} not found{why}, needed by {gone.needed_by}"]
    lines += [f"it is in {path}, where the loader does not look" for path in gone.elsewhere]
    places: dict[str, None] = {}  # each folder once, with why it is searched and what is skipped
    for place in gone.searched:
        folder = posixpath.normpath(place.where.rpartition("/")[0] or "/")
        note = "" if place.outcome == "not there" else f": {place.outcome}"
        places.setdefault(f"searched: {folder}{note} ({place.why})")
    lines += list(places)[: None if detail else _FEW_PLACES]
    return item(*lines, mark="bad")


def _bundle(bundle: of.Bundle, found: of.Inspected, detail: int) -> Iterator[tree.Block]:
    yield items(item(problem, mark="bad") for problem in bundle.problems)
    glibc = f"glibc {bundle.glibc} or newer ({bundle.glibc_by})" if bundle.glibc else ""
    yield pairs(
        pair("is", f"{bundle.name} {bundle.version}".strip()),
        pair("tags", ", ".join(bundle.tags)),
        _gpu(found.gpu),
        pair("requires", glibc),
        pair("packages", *bundle.requires),
    )
    if bundle.asks:
        yield tree.Heading(("What it asks of others",), level=2)
        rows = []
        for kind, words in _BRINGERS.items():
            names = tuple(one.name for one in bundle.asks if one.kind == kind)
            rows.append(pair(words, listed(names, len(names) if detail else _FEW_NAMES)))
        yield pairs(*rows)
    largest = sorted(bundle.parts, key=lambda part: -part.size)[: None if detail else _FEW_PARTS]
    yield tree.Heading(("Its largest libraries",), level=2)
    lines = []
    for one in largest:
        code = (*(one.gpu.usual_sass or one.gpu.sass), *(f"{c} (PTX)" for c in one.gpu.usual_ptx))
        lines.append((one.name, one.version or "", size(one.size), " ".join(code)))
    yield table(("file", "version", "size", "GPU code"), lines)
