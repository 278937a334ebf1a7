"""`gpuwhy releases NAME [VERSION]`: which CUDA, cuDNN, Python and GPUs a release was built for."""

from __future__ import annotations

import argparse
import difflib
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from gpuwhy.answer.blocks import fold, pair, pairs, table
from gpuwhy.answer.tree import Block, Code, Document, Heading, Mark, Pair, Paragraph, Soft
from gpuwhy.cli import HEALTHY, UsageError, forms, output, refused
from gpuwhy.knowledge.release import FIELDS, Described, Release

if TYPE_CHECKING:
    from gpuwhy.knowledge.fitting import Judged, Machine
    from gpuwhy.knowledge.naming import Asked
    from gpuwhy.knowledge.releases import Releases

SCHEMA = "gpuwhy.releases/1"
MOST = 18
"""Rows of a table; -v shows all."""
_MARKS: dict[str, Mark] = {"yes": "", "unknown": "unknown", "no": "bad"}
_TITLES = {
    "cuda": "CUDA",
    "cudnn": "cuDNN",
    "sass": "GPU code",
    "ptx": "PTX",
    "pairs": "goes with",
    "also": "built with",
}


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    text = "which CUDA, cuDNN, Python and GPUs a release was built for"
    parser = commands.add_parser("releases", help=text)
    one: dict[str, Any] = {"nargs": "?", "default": ""}
    add_to = parser.add_argument
    add_to("name", **one, metavar="NAME", help="tensorflow, torch==2.6, cudnn; none: every project")
    add_to("version", **one, metavar="VERSION", help="one release; 1.15 is the newest 1.15.x")
    add_to("--platform", default="", metavar="P", help="linux-x86_64, windows-x86_64 …, all")
    add_to(
        "--works-with",
        nargs="+",
        default=[],
        metavar="KEY=VALUE",
        help="only what fits: driver=535 gpu=sm_89 python=3.10 cuda=10.1 cudnn=7.6.5",
    )
    add_to("--json", action="store_true", help="the rows as JSON (gpuwhy.releases/1)")
    add_to("-v", "--verbose", action="store_true", help="every row, and how each value was read")
    forms.add_forms(parser)
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Look up, filter, print."""
    forms.ready(options)
    from gpuwhy.knowledge import fitting, naming

    with refused(fitting.BadMachineError, "--works-with "):
        machine = fitting.machine(options.works_with)
    if options.works_with and not options.platform and sys.platform == "win32":
        options.platform = "windows-x86_64"
    if not options.name:
        return _projects(options, machine)
    wanted = naming.asked(options.name, options.version)
    if wanted is None:
        raise UsageError(f"{options.name!r} is no package's name; for example torch==2.6")
    names = naming.meant(wanted.name)
    if len(names) > 1:
        return _several(options, wanted, names, machine)
    return _family(options, wanted, names[0] if names else wanted.name, machine)


def _put(options: argparse.Namespace, rows: Iterable[Described], *blocks: Block) -> int:
    values = {"schema": SCHEMA, "releases": [_values(row) for row in rows]}
    output.put(options, Document(blocks, title="gpuwhy releases"), values)
    return HEALTHY


def _values(row: Described) -> dict[str, Any]:
    """A row of the contract; what nobody could read is named in `unknown`, and null or left out."""
    built = msgspec.to_builtins(row.release)
    out: dict[str, Any] = {k: v for k, v in built.items() if k not in ("evidence", "deep")}
    out.setdefault("requires", {})
    for field in ("cudnn", "sass", "ptx", "opens"):
        out.setdefault(field, None)
    out["evidence"] = msgspec.to_builtins(row.evidence)
    return out | ({"unknown": list(row.unknown)} if row.unknown else {})


# One project


def _family(options: argparse.Namespace, wanted: Asked, name: str, machine: Machine) -> int:
    """The table of a project, or the page of a release."""
    from gpuwhy.knowledge import fitting, naming, releases

    known = releases.family(name)
    if known is None:
        near = _near(wanted.name, list(releases.projects()))
        raise UsageError(f"nothing is known of {wanted.name!r}{near}")
    versions = list(dict.fromkeys(row.version for row in known.rows))
    chosen, said = naming.chosen(wanted.spec, versions)
    platform = "" if options.platform == "all" else options.platform
    rows = [r for r in known.rows if platform in ("", r.platform) and r.version in chosen]
    if not rows:
        raise UsageError(_nothing(known, wanted.spec, bool(chosen), platform))
    kept = [(row, verdict) for row in rows if (verdict := fitting.fits(row, machine)).fits != "no"]
    if options.json:
        return _put(options, (known.describe(row) for row, _ in kept))
    mine = kept if options.platform else _here_first(kept)
    notes = [f"{known.name} {said}"] if said else []
    notes += [_elsewhere([row for row, _ in kept if (row, _) not in mine])]
    if not kept:
        last = rows[-1]
        why = fitting.fits(last, machine).why
        notes.append(f"none fits; {last.version} on {last.platform}: {why}")
    page = bool(wanted.spec) and len({row.version for row, _ in mine}) == 1
    shown = [known.describe(row) for row, _ in mine]
    body = _pages(shown, options.verbose) if page else _table(known.name, mine, options.verbose)
    last_line = f"{len(known.rows)} rows, read from files published up to {known.header.newest}"
    blocks = (*_with_cuda(mine), *body, *_notes((*notes, "" if page else last_line)))
    return _put(options, shown, *blocks)


def _notes(texts: Sequence[str]) -> tuple[Block, ...]:
    return tuple(Paragraph((Soft(text),)) for text in texts if text)


def _here_first(kept: list[Judged]) -> list[Judged]:
    """Only the rows of this platform, where there are any."""
    mine = [one for one in kept if one[0].platform in (_here(), "any")]
    return mine or kept


def _here() -> str:
    """This platform as the rows name it."""
    system = {"linux": "linux", "win32": "windows", "darwin": "macos"}.get(sys.platform, "linux")
    machine = os.uname().machine if hasattr(os, "uname") else "AMD64"
    arm = "arm64" if system == "macos" else "aarch64"
    return f"{system}-{ {'amd64': 'x86_64', 'arm64': arm}.get(machine.lower(), machine.lower()) }"


def _elsewhere(others: Sequence[Release]) -> str:
    platforms = ", ".join(sorted({row.platform for row in others}))
    return f"also for {platforms}: --platform all, or the name of one" if platforms else ""


def _with_cuda(shown: Sequence[Judged]) -> tuple[Block, ...]:
    """That a release is without CUDA, and which name has its build with CUDA."""
    from gpuwhy.knowledge import releases

    row = shown[-1][0] if len({row.version for row, _ in shown}) == 1 else None
    if row is None or row.cuda is not None:
        return ()
    other = releases.find(f"{row.name}-gpu", row.version, row.platform)
    if other is None:
        return ()
    built = f"CUDA {other.cuda} and cuDNN {other.cudnn}"
    more = Code(f"gpuwhy releases {other.name} {other.version}")
    text = f"{row.name} {row.version} is built without CUDA; {other.name} has it, with {built}: "
    return (Paragraph((text, more)),)


def _table(name: str, rows: Sequence[Judged], every: bool) -> tuple[Block, ...]:
    """Newest release last, beside the prompt."""
    shown = rows if every else _newest_minors(rows)
    head = ("version", "platform", "CUDA", "cuDNN", "Python", "GPU code")
    cells = [_cells(row) for row, _ in shown]
    marks = [_MARKS[verdict.fits] for _, verdict in shown]
    out: list[Block] = [table(head, cells, marks if any(marks) else ())]
    if "unknown" in marks:
        out += _notes(["? = not known whether it fits; name a release to see what was read of it"])
    if len(shown) < len(rows):
        left = f"{name}: the last of each minor release; {len(rows) - len(shown)} more with -v"
        out += _notes([left])
    return tuple(out)


def _newest_minors(rows: Sequence[Judged]) -> Sequence[Judged]:
    """The last row of each minor release and platform, the newest of them."""
    from gpuwhy.knowledge.versions import major_minor

    if len(rows) <= MOST:
        return rows
    last = {(major_minor(row.version), row.platform): one for one in rows for row in one[:1]}
    return list(last.values())[-MOST:]


def _cells(row: Release) -> tuple[str, ...]:
    marks = " yanked" * row.yanked + " gone" * row.gone
    pythons = _pythons(row.pythons)
    return (
        f"{row.version}{marks}",
        row.platform,
        _or(row.cuda),
        _or(row.cudnn),
        pythons,
        _archs(row),
    )


def _or(value: Any) -> str:
    return "?" if value is msgspec.UNSET else "–" if value is None else str(value)


def _archs(row: Release) -> str:
    if not isinstance(row.sass, tuple):
        return "?"
    sass = [name.removeprefix("sm_") for name in row.sass]
    ptx = [n.removeprefix("compute_") for n in row.ptx] if isinstance(row.ptx, tuple) else []
    if sass and ptx == sass:
        return " ".join(sass) + " +PTX"
    return (" ".join(sass) + (f" +PTX {' '.join(ptx)}" if ptx else "")).strip() or "–"


def _pythons(names: tuple[str, ...]) -> str:
    """3.9–3.12 for a run of minor versions."""
    plain = [name for name in names if not name.endswith("t")]
    if len(plain) > 2 and all("." in name and name[-1] != "+" for name in plain):
        return f"{plain[0]}–{plain[-1]}"
    return " ".join(plain)


def _nothing(known: Releases, spec: str, exists: bool, platform: str) -> str:
    versions = list(dict.fromkeys(row.version for row in known.rows))
    if not exists:
        return f"{known.name} {spec} is not known{_near(spec.lstrip('=<>~!'), versions)}"
    having = {row.platform for row in known.rows if spec in ("", row.version)}
    there = ", ".join(sorted(having or {row.platform for row in known.rows}))
    return f"{known.name} is not known for {platform}; there is {there}"


def _near(word: str, choices: list[str]) -> str:
    close = difflib.get_close_matches(word, choices, 3, 0.5)
    return f"; did you mean {', '.join(close)}?" if close else ""


# One release


def _pages(rows: Sequence[Described], detail: bool) -> tuple[Block, ...]:
    return tuple(block for row in rows for block in _page(row, detail))


def _page(row: Described, detail: bool) -> tuple[Block, ...]:
    """Every value; with -v the file, the member and the way it was read."""
    release = row.release
    marks = ", withdrawn" * release.yanked + ", no longer on the index" * release.gone
    fields = [field for field in FIELDS if getattr(release, field) is not msgspec.UNSET]
    shown = [field for field in fields if detail or field not in ("ships", "requires", "also")]
    body = pairs(
        pair("published", f"{release.uploaded or '?'}{marks}"),
        pair("Python", " ".join(release.pythons)) if release.pythons else None,
        pair("system", " ".join(release.systems)) if release.systems else None,
        *(pair(_TITLES.get(name, name), _shown(getattr(release, name))) for name in shown),
        pair("not known", ", ".join(row.unknown)) if row.unknown else None,
    )
    how = pairs(*(_how(row, field) for field in fields), pair("file", release.file))
    where = pairs(pair("sha256", release.sha256))
    read = fold("How it was read", how, where) if detail else ()
    return (Heading((f"{release.name} {release.version} · {release.platform}",)), body, *read)


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        signs = (
            (name, spec if spec[:1] in "=<>~!" else f" {spec}") for name, spec in value.items()
        )
        return ", ".join(f"{name}{spec}".rstrip() for name, spec in signs) or "none"
    return (" ".join(value) if isinstance(value, tuple) else _or(value)) or "none"


def _how(row: Described, field: str) -> Pair | None:
    read = row.evidence.get(field)
    if read is None:
        return None
    member = f"{read.member}: " if read.member else ""
    return pair(_TITLES.get(field, field), f"{member}{read.how} [{read.confidence}]")


# Several projects


def _several(options: argparse.Namespace, wanted: Asked, names: list[str], machine: Machine) -> int:
    """A library that is published once for each CUDA: the newest fitting release of each."""
    from gpuwhy.knowledge import fitting, naming, releases

    platform = "" if options.platform == "all" or options.json else options.platform or _here()
    found = []
    for known in filter(None, map(releases.family, names)):
        chosen, _ = naming.chosen(wanted.spec, list(dict.fromkeys(r.version for r in known.rows)))
        one = fitting.newest(known.only(set(chosen)), machine, platform)
        found += [(known, one)] if one else []
    if not found:
        raise UsageError(f"{wanted.name} {wanted.spec} is not known in {', '.join(names[:6])}")
    last = found[-1][0].name
    note = f"{wanted.name} has several packages; gpuwhy releases {last} lists one of them"
    return _listed(options, found, len(names), note)


def _projects(options: argparse.Namespace, machine: Machine) -> int:
    """Every project; with a filter or as JSON, the newest release of each that fits."""
    from gpuwhy.knowledge import fitting, releases

    names = sorted(releases.projects())
    if not (options.works_with or options.platform or options.json):
        return _put(options, (), *_index(names))
    platform = "" if options.platform == "all" else options.platform
    families = [known for known in map(releases.family, names) if known is not None]
    found = [(k, one) for k in families if (one := fitting.newest(k, machine, platform))]
    if not found:
        raise UsageError(f"nothing that fits is known for {platform or 'this machine'}")
    return _listed(options, found, len(names), "")


def _index(names: Sequence[str]) -> tuple[Block, ...]:
    """The names, frameworks first; NVIDIA's wheels and the many builds of one library by family."""
    import re

    bare = dict.fromkeys(re.sub(r"-cu(da)?\d+(mkl|x)?(?=$|-)", "-cu*", name) for name in names)
    own = ", ".join(name for name in bare if not name.startswith("nvidia-"))
    wheels = [
        name.removeprefix("nvidia-").removesuffix("-cu*") for name in bare if name[:7] == "nvidia-"
    ]
    libraries = ", ".join(dict.fromkeys(wheels))
    return (
        pairs(pair("Projects", own), pair("NVIDIA's", libraries)),
        *_notes(["gpuwhy releases NAME [VERSION]; * is a CUDA release: 12, 11x, 102"]),
    )


def _listed(
    options: argparse.Namespace,
    found: Sequence[tuple[Releases, Judged]],
    known: int,
    note: str,
) -> int:
    """One release of each project: those that fit, then those that may."""
    described = [family.describe(row) for family, (row, _) in found]
    ordered = sorted((one for _, one in found), key=lambda one: one[1].fits != "yes")
    if not options.verbose and len(ordered) > MOST:  # programs before the wheels they bring
        ordered.sort(key=lambda one: (one[1].fits != "yes", one[0].name.startswith("nvidia-")))
        ordered = sorted(ordered[:MOST], key=lambda one: one[0].name)
        note = f"the programs among {len(found)} projects that fit; -v shows all"
    head = ("project", "version", "platform", "CUDA", "cuDNN")
    cells = [(row.name, *_cells(row)[:4]) for row, _ in ordered]
    marks = [_MARKS[verdict.fits] for _, verdict in ordered]
    count = f"the newest fitting release of {len(ordered)} of {known} projects"
    notes = _notes([note, count if not note else ""])
    return _put(options, described, table(head, cells, marks if any(marks) else ()), *notes)
