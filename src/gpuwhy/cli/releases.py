"""`gpuwhy releases NAME [VERSION]`: which CUDA, cuDNN, Python and GPUs a release was built for."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Sequence
from platform import machine as processor
from typing import Any

import msgspec

from gpuwhy.answer.blocks import fold, pair, pairs, table
from gpuwhy.answer.tree import Block, Code, Document, Heading, Mark, Paragraph, Soft
from gpuwhy.choose import fitting
from gpuwhy.choose.fitting import Row
from gpuwhy.cli import HEALTHY, UsageError, output, refused
from gpuwhy.facts.version import major_minor
from gpuwhy.knowledge import naming, releases
from gpuwhy.knowledge.releases import FIELDS, Described, Release
from gpuwhy.knowledge.torch_builds import other_cudas

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
_SYSTEMS = {"win32": "windows", "darwin": "macos"}


def go(options: argparse.Namespace) -> int:
    """Look up, filter, print."""
    with refused(fitting.BadMachineError, "--works-with "):
        machine = fitting.machine(options.works_with)
    wanted = naming.asked(options.name, options.version)
    if options.name and wanted is None:
        raise UsageError(f"{options.name!r} is no package's name; for example torch==2.6")
    if wanted is None:
        names = sorted(releases.projects())
        filtered = options.works_with or options.platform or options.json
        return (_several if filtered else _index)(options, names, "", machine)
    names = naming.meant(wanted.name) or [wanted.name]
    if len(names) == 1:
        return _project(options, wanted, names[0], machine)
    if not options.platform and not options.json:
        options.platform = _here()
    return _several(options, names, wanted.spec, machine)


def _put(options: argparse.Namespace, rows: Sequence[Described], blocks: Sequence[Block]) -> int:
    """Print blocks, or the rows of the contract; what nobody could read is named in `unknown`."""
    out = []
    for row in rows:
        built = msgspec.to_builtins(row.release)
        absent = dict.fromkeys(("cudnn", "sass", "ptx", "opens"))
        value = {"requires": {}, **absent} | {k: v for k, v in built.items() if k != "deep"}
        value["evidence"] = msgspec.to_builtins(row.evidence)
        out.append(value | ({"unknown": list(row.unknown)} if row.unknown else {}))
    values = {"schema": "gpuwhy.releases/1", "releases": out}
    output.put(options, Document(tuple(blocks), title="gpuwhy releases"), values)
    return HEALTHY


def _versions(rows: Sequence[Release]) -> list[str]:
    return list(dict.fromkeys(row.version for row in rows))


def _note(text: str) -> Paragraph:
    return Paragraph((Soft(text),))


def _platform(options: argparse.Namespace) -> str:
    """The platform that was asked for; "" for all."""
    return "" if options.platform == "all" else str(options.platform)


def _here() -> str:
    """This platform as the rows name it."""
    system, machine = _SYSTEMS.get(sys.platform, "linux"), processor().lower()
    same = {"amd64": "x86_64"} if system == "macos" else {"amd64": "x86_64", "arm64": "aarch64"}
    return f"{system}-{same.get(machine, machine)}"


def _near(word: str, choices: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, choices, 3, 0.5)
    return f"; did you mean {', '.join(close)}?" if close else ""


def _project(
    options: argparse.Namespace, wanted: naming.Asked, name: str, machine: fitting.Machine
) -> int:
    """The table of a project, or the page of a release."""
    known = releases.family(name)
    if known is None:
        near = _near(wanted.name, list(releases.projects()))
        raise UsageError(f"nothing is known of {wanted.name!r}{near}")
    chosen, said = naming.chosen(wanted.spec, _versions(known.rows))
    platform = _platform(options)
    rows = [r for r in known.rows if platform in ("", r.platform) and r.version in chosen]
    if not chosen:
        near = _near(wanted.spec.lstrip("=<>~!"), _versions(known.rows))
        raise UsageError(f"{known.name} {wanted.spec} is not known{near}")
    if not rows:
        there = ", ".join(sorted({row.platform for row in known.rows if row.version in chosen}))
        raise UsageError(f"{known.name} is not known for {platform}; there is {there}")
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
    body: list[Block] = []
    one = len(_versions([row for row, _ in mine])) == 1
    if one and mine[-1][0].cuda is None:
        row = mine[-1][0]
        if other := releases.find(f"{row.name}-gpu", row.version, row.platform):
            built = f"{other.name} has it, with CUDA {other.cuda} and cuDNN {other.cudnn}: "
            code = Code(f"gpuwhy releases {other.name} {other.version}")
            body.append(
                Paragraph((f"{row.name} {row.version} is built without CUDA; {built}", code))
            )
    if wanted.spec and one:
        body += [block for row in shown for block in _page(row, bool(options.verbose))]
        row = mine[-1][0]
        more = other_cudas(row.version, str(row.cuda)) if row.name == "torch" else ""
        if more and row.platform.endswith("x86_64"):
            notes.append(f"PyTorch's own index has it for CUDA {more} too")
    else:
        body += _table(known.name, mine, bool(options.verbose))
        notes += [f"{len(known.rows)} rows, read from files published up to {known.header.newest}"]
    return _put(options, shown, [*body, *map(_note, notes)])


def _table(name: str, rows: Sequence[Row], every: bool) -> list[Block]:
    """Newest release last, beside the prompt; of many the last of each minor release."""
    shown = list(rows)
    if len(rows) > MOST and not every:
        last = {(major_minor(one[0].version), one[0].platform): one for one in rows}
        shown = list(last.values())[-MOST:]
    head = ("version", "platform", "CUDA", "cuDNN", "Python", "GPU code")
    out: list[Block] = [_rows(head, [_cells(row) for row, _ in shown], shown)]
    if any(verdict.fits == "unknown" for _, verdict in shown):
        out.append(_note("? = not known whether it fits; name a release to see what was read"))
    if len(shown) < len(rows):
        left = len(rows) - len(shown)
        out.append(_note(f"{name}: the last of each minor release; {left} more with -v"))
    return out


def _rows(head: Sequence[str], cells: Sequence[Sequence[str]], rows: Sequence[Row]) -> Block:
    marks = [_MARKS[verdict.fits] for _, verdict in rows]
    return table(head, cells, marks if any(marks) else ())


def _cells(row: Release) -> tuple[str, ...]:
    marks = " yanked" * row.yanked + " gone" * row.gone
    names = [name for name in row.pythons if not name.endswith("t")]
    run = len(names) > 2 and all("." in name and name[-1] != "+" for name in names)
    pythons = f"{names[0]}–{names[-1]}" if run else " ".join(names)
    archs = "?"
    if isinstance(row.sass, tuple):
        sass = [name.removeprefix("sm_") for name in row.sass]
        ptx = [n.removeprefix("compute_") for n in row.ptx] if isinstance(row.ptx, tuple) else []
        also = "" if ptx == sass else " ".join(ptx)
        archs = " ".join([*sass, *filter(None, ["+PTX" * bool(ptx), also])]) or "–"
    version = f"{row.version}{marks}"
    return (version, row.platform, _or(row.cuda), _or(row.cudnn), pythons, archs)


def _or(value: Any) -> str:
    return "?" if value is msgspec.UNSET else "–" if value is None else str(value)


def _page(row: Described, detail: bool) -> tuple[Block, ...]:
    """Every value; with -v the file, the member and the way it was read."""
    release = row.release
    marks = ", withdrawn" * release.yanked + ", no longer on the index" * release.gone
    shown, how = [], []
    for field in FIELDS:
        value, title = getattr(release, field), _TITLES.get(field, field)
        if value is msgspec.UNSET:
            continue
        if isinstance(value, dict):
            signs = (f"{n}{s if s[:1] in '=<>~!' else f' {s}'}".rstrip() for n, s in value.items())
            text = ", ".join(signs)
        else:
            text = " ".join(value) if isinstance(value, tuple) else _or(value)
        if detail or field not in ("ships", "requires", "also"):
            shown.append(pair(title, text or "none"))
        if read := row.evidence.get(field):
            member = f"{read.member}: " if read.member else ""
            how.append(pair(title, f"{member}{read.how} [{read.confidence}]"))
    body = pairs(
        pair("published", f"{release.uploaded or '?'}{marks}"),
        pair("Python", " ".join(release.pythons)) if release.pythons else None,
        pair("system", " ".join(release.systems)) if release.systems else None,
        *shown,
        pair("not known", ", ".join(row.unknown)) if row.unknown else None,
    )
    files = (pair("file", release.file), pair("sha256", release.sha256))
    evidence = fold("How it was read", pairs(*how, *files)) if detail else ()
    return (Heading((f"{release.name} {release.version} · {release.platform}",)), body, *evidence)


def _index(options: argparse.Namespace, names: Sequence[str], *_: object) -> int:
    """The names; NVIDIA's wheels and the many builds of a library by family."""
    bare = dict.fromkeys(map(_bare, names))
    own = [name for name in bare if not name.startswith("nvidia-")]
    wheels = [n.removeprefix("nvidia-").removesuffix("-cu*") for n in bare if n not in own]
    theirs = ", ".join(dict.fromkeys(wheels))
    rows = pairs(pair("Projects", ", ".join(own)), pair("NVIDIA's", theirs))
    note = _note("gpuwhy releases NAME [VERSION]; * is a CUDA release: 12, 11x, 102")
    return _put(options, (), (rows, note))


def _bare(name: str) -> str:
    """A name without its CUDA release."""
    return re.sub(r"-cu(da)?\d+(mkl|x)?(?=$|-)", "-cu*", name)


def _several(
    options: argparse.Namespace, names: Sequence[str], spec: str, machine: fitting.Machine
) -> int:
    """The newest release of each project that fits; of many the programs, not their wheels."""
    platform, described, rows = _platform(options), [], []
    for known in filter(None, map(releases.family, names)):
        chosen, _ = naming.chosen(spec, _versions(known.rows))
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
    return _put(options, described, (shown, _note(note)))
