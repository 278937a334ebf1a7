"""`gpuwhy releases NAME [VERSION]`: which CUDA, cuDNN, Python and GPUs a release was built for."""

import argparse
import difflib
import re
import sys
from collections.abc import Sequence
from platform import machine as processor
from typing import Any

import msgspec

from gpuwhy.answer.blocks import fold, pair, pairs, table
from gpuwhy.answer.tree import Block, Document, Heading, Mark, Paragraph, Soft
from gpuwhy.choose import fitting
from gpuwhy.choose.fitting import Row
from gpuwhy.cli import HEALTHY, UsageError, output, refused
from gpuwhy.facts.version import major_minor
from gpuwhy.knowledge import naming, releases
from gpuwhy.knowledge.releases import FIELDS, Described, Release, Releases

MOST = 18
"""Rows of a table; -v shows all."""
_MARKS: dict[str, Mark] = {"yes": "", "unknown": "unknown", "no": "bad"}
_TITLES = {"cuda": "CUDA", "cudnn": "cuDNN", "sass": "GPU code", "ptx": "PTX"}
_TITLES |= {"pairs": "goes with", "also": "built with"}
_SYSTEMS = {"win32": "windows", "darwin": "macos"}


def go(options: argparse.Namespace) -> int:
    """Look up, filter, print."""
    with refused(fitting.BadMachineError, "--works-with "):
        machine = fitting.machine(options.works_with)
    wanted = naming.asked(options.name, options.version)
    if wanted is None and options.name:
        raise UsageError(f"{options.name!r} is no package's name; for example torch==2.6")
    if wanted is None and not (options.works_with or options.platform or options.json):
        return _put(options, (), _index(sorted(releases.projects())))
    spec = wanted.spec if wanted else ""
    names = naming.meant(wanted.name) if wanted else sorted(releases.projects())
    if wanted and not names:
        close = difflib.get_close_matches(wanted.name, releases.projects(), 3, 0.5)
        meant = f"; did you mean {', '.join(close)}?" if close else ""
        raise UsageError(f"nothing is known of {wanted.name!r}{meant}")
    if len(names) == 1:
        return _project(options, names[0], spec, machine)
    if wanted and not options.json:
        options.platform = options.platform or _here()
    return _several(options, names, spec, machine)


def _put(
    options: argparse.Namespace, rows: Sequence[Described], blocks: Sequence[Block], *notes: str
) -> int:
    """Print blocks, or the rows of the contract; what nobody could read is named in `unknown`."""
    out = []
    for row in rows:
        built = msgspec.to_builtins(row.release)
        absent = dict.fromkeys(("cudnn", "sass", "ptx", "opens"))
        value = {"requires": {}, **absent} | {k: v for k, v in built.items() if k != "deep"}
        value["evidence"] = msgspec.to_builtins(row.evidence)
        out.append(value | ({"unknown": list(row.unknown)} if row.unknown else {}))
    said = (Paragraph((Soft(note),)) for note in notes)
    document = Document((*blocks, *said), title="gpuwhy releases")
    output.put(options, document, {"schema": "gpuwhy.releases/1", "releases": out})
    return HEALTHY


def _versions(known: Releases) -> list[str]:
    return list(dict.fromkeys(row.version for row in known.rows))


def _here() -> str:
    """This platform as the rows name it."""
    system, machine = _SYSTEMS.get(sys.platform, "linux"), processor().lower()
    same = {"amd64": "x86_64"} if system == "macos" else {"amd64": "x86_64", "arm64": "aarch64"}
    return f"{system}-{same.get(machine, machine)}"


def _project(options: argparse.Namespace, name: str, spec: str, machine: fitting.Machine) -> int:
    """The table of a project, or the page of a release."""
    known = releases.family(name)
    assert known
    chosen, said = naming.chosen(spec, _versions(known))
    found = [row for row in known.rows if row.version in chosen]
    rows = [row for row in found if options.platform in ("", "all", row.platform)]
    if not rows:
        there = ", ".join(sorted({row.platform for row in found}))
        more = f" for {options.platform}; there is {there}" if found else ""
        raise UsageError(f"{known.name} {spec} is not known{more}")
    kept = [(row, verdict) for row in rows if (verdict := fitting.fits(row, machine)).fits != "no"]
    here = [one for one in kept if one[0].platform in (_here(), "any")]
    mine = kept if options.platform or options.json or not here else here
    shown = [known.describe(row) for row, _ in mine]
    notes = [f"{known.name} {said}"] if said else []
    if others := sorted({row.platform for row, _ in kept} - {row.platform for row, _ in mine}):
        notes.append(f"also for {', '.join(others)}: --platform all, or the name of one")
    if not kept:
        last = rows[-1]
        why = fitting.fits(last, machine).why
        notes.append(f"none fits; {last.version} on {last.platform}: {why}")
    if spec and len({row.version for row, _ in mine}) == 1:
        pages = [block for row in shown for block in _page(row, bool(options.verbose))]
        return _put(options, shown, pages, *notes)
    listed = mine
    if len(mine) > MOST and not options.verbose:  # the last of each minor release
        last_of = {(major_minor(one[0].version), one[0].platform): one for one in mine}
        listed = list(last_of.values())[-MOST:]
        left = len(mine) - len(listed)
        notes.append(f"{known.name}: the last of each minor release; {left} more with -v")
    if any(verdict.fits == "unknown" for _, verdict in listed):
        notes.append("? = not known whether it fits; name a release to see what was read")
    notes.append(f"{len(known.rows)} rows, read from files published up to {known.header.newest}")
    head = ("version", "platform", "CUDA", "cuDNN", "Python", "GPU code")
    return _put(options, shown, [_rows(head, [_cells(row) for row, _ in listed], listed)], *notes)


def _rows(head: Sequence[str], cells: Sequence[Sequence[str]], rows: Sequence[Row]) -> Block:
    marks = [_MARKS[verdict.fits] for _, verdict in rows]
    return table(head, cells, marks if any(marks) else ())


def _cells(row: Release) -> tuple[str, ...]:
    names = [name for name in row.pythons if not name.endswith("t")]
    run = len(names) > 2 and all("." in name and name[-1] != "+" for name in names)
    pythons = f"{names[0]}–{names[-1]}" if run else " ".join(names)
    archs = "?"
    if isinstance(row.sass, tuple):
        sass = [name.removeprefix("sm_") for name in row.sass]
        ptx = [n.removeprefix("compute_") for n in row.ptx] if isinstance(row.ptx, tuple) else []
        also = [] if ptx == sass else ptx
        archs = " ".join([*sass, *["+PTX"] * bool(ptx), *also]) or "–"
    version = row.version + " yanked" * row.yanked + " gone" * row.gone
    return (version, row.platform, _or(row.cuda), _or(row.cudnn), pythons, archs)


def _or(value: Any) -> str:
    if isinstance(value, dict):
        signs = (f"{n}{s if s[:1] in '=<>~!' else f' {s}'}".rstrip() for n, s in value.items())
        return ", ".join(signs) or "none"
    if isinstance(value, tuple):
        return " ".join(value) or "none"
    return "?" if value is msgspec.UNSET else "–" if value is None else str(value)


def _page(row: Described, detail: bool) -> tuple[Block, ...]:
    """Every value; with -v the file, the member and the way it was read."""
    release = row.release
    marks = ", withdrawn" * release.yanked + ", no longer on the index" * release.gone
    shown, how = [], []
    for field in FIELDS:
        value, title = getattr(release, field), _TITLES.get(field, field)
        if value is not msgspec.UNSET and (detail or field not in ("ships", "requires", "also")):
            shown.append(pair(title, _or(value)))
        if read := row.evidence.get(field):
            member = f"{read.member}: " if read.member else ""
            how.append(pair(title, f"{member}{read.how} [{read.confidence}]"))
    body = pairs(
        pair("published", f"{release.uploaded or '?'}{marks}"),
        pair("Python", " ".join(release.pythons)),
        pair("system", " ".join(release.systems)),
        *shown,
        pair("not known", ", ".join(row.unknown)),
    )
    files = (pair("file", release.file), pair("sha256", release.sha256))
    evidence = fold("How it was read", pairs(*how, *files)) if detail else ()
    return (Heading((f"{release.name} {release.version} · {release.platform}",)), body, *evidence)


def _index(names: Sequence[str]) -> list[Block]:
    """The names; NVIDIA's wheels and the many builds of a library by family."""
    bare = dict.fromkeys(map(_bare, names))
    own = ", ".join(name for name in bare if not name.startswith("nvidia-"))
    wheels = (name.removesuffix("-cu*") for name in bare if name.startswith("nvidia-"))
    theirs = ", ".join(dict.fromkeys(name.removeprefix("nvidia-") for name in wheels))
    note = "gpuwhy releases NAME [VERSION]; * is a CUDA release: 12, 11x, 102"
    shown = pairs(pair("Projects", own), pair("NVIDIA's", theirs))
    return [shown, Paragraph((Soft(note),))]


def _bare(name: str) -> str:
    """A name without its CUDA release."""
    return re.sub(r"-cu(da)?\d+(mkl|x)?(?=$|-)", "-cu*", name)


def _several(
    options: argparse.Namespace, names: Sequence[str], spec: str, machine: fitting.Machine
) -> int:
    """The newest release of each project that fits; of many the programs, not their wheels."""
    platform = options.platform.replace("all", "")
    described, rows = [], []
    for known in filter(None, map(releases.family, names)):
        chosen, _ = naming.chosen(spec, _versions(known))
        if one := fitting.newest(known.only(set(chosen)), machine, platform):
            described.append(known.describe(one[0]))
            rows.append(one)
    if not rows:
        where = platform or "this machine"
        raise UsageError(f"nothing that fits is known for {where}{spec and f': {spec}'}")
    note = f"of {len(names)} projects, the newest release that fits; gpuwhy releases NAME lists one"
    if not options.verbose and len(rows) > MOST:
        note = f"the programs among {len(rows)} projects that fit; -v shows all"
        each = list({_bare(one[0].name): one for one in rows}.values())
        each.sort(key=lambda one: (one[1].fits != "yes", one[0].name.startswith("nvidia-")))
        rows = sorted(each[:MOST], key=lambda one: one[0].name)
    head = ("project", "version", "platform", "CUDA", "cuDNN")
    shown = _rows(head, [(row.name, *_cells(row)[:4]) for row, _ in rows], rows)
    return _put(options, described, [shown], note)
