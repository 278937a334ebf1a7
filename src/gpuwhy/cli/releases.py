"""`gpuwhy releases NAME [VERSION]`: which CUDA, cuDNN, Python and GPUs a release was built for."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterable, Sequence
from platform import machine as processor
from typing import Any

import msgspec

from gpuwhy.answer.blocks import fold, pair, pairs, table
from gpuwhy.answer.tree import Block, Code, Document, Heading, Mark, Pair, Paragraph, Soft
from gpuwhy.choose import fitting
from gpuwhy.choose.fitting import Machine, Row
from gpuwhy.cli import HEALTHY, UsageError, output, refused
from gpuwhy.facts.version import major_minor
from gpuwhy.knowledge import naming, releases
from gpuwhy.knowledge.naming import Asked
from gpuwhy.knowledge.releases import FIELDS, Described, Release, Releases

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
    output.ready(options)
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
    if len(names) < 2:
        return _family(options, wanted, names[0] if names else wanted.name, machine)
    # a library that is published once for each CUDA
    platform = _platform(options) if options.platform or options.json else _here()
    found = _newest(names, wanted.spec, machine, platform)
    if not found:
        raise UsageError(f"{wanted.name} {wanted.spec} is not known in {', '.join(names[:6])}")
    last = found[-1][0].name
    note = f"{wanted.name} has several packages; gpuwhy releases {last} lists one of them"
    return _listed(options, found, note)


def _put(options: argparse.Namespace, rows: Iterable[Described], *blocks: Block | None) -> int:
    values = {"schema": "gpuwhy.releases/1", "releases": [_values(row) for row in rows]}
    shown = tuple(block for block in blocks if block)
    output.put(options, Document(shown, title="gpuwhy releases"), values)
    return HEALTHY


def _values(row: Described) -> dict[str, Any]:
    """A row of the contract; what nobody could read is named in `unknown`, and null or left out."""
    built = msgspec.to_builtins(row.release)
    absent = dict.fromkeys(("cudnn", "sass", "ptx", "opens"))
    out = {"requires": {}, **absent} | {
        k: v for k, v in built.items() if k not in ("evidence", "deep")
    }
    out["evidence"] = msgspec.to_builtins(row.evidence)
    return out | ({"unknown": list(row.unknown)} if row.unknown else {})


def _versions(rows: Iterable[Release]) -> list[str]:
    return list(dict.fromkeys(row.version for row in rows))


def _note(text: str) -> Paragraph | None:
    return Paragraph((Soft(text),)) if text else None


def _platform(options: argparse.Namespace) -> str:
    """The platform that was asked for; "" for all."""
    return "" if options.platform == "all" else str(options.platform)


def _here() -> str:
    """This platform as the rows name it."""
    system, machine = _SYSTEMS.get(sys.platform, "linux"), processor().lower()
    same = {"amd64": "x86_64"} if system == "macos" else {"amd64": "x86_64", "arm64": "aarch64"}
    return f"{system}-{same.get(machine, machine)}"


def _near(word: str, choices: list[str]) -> str:
    close = difflib.get_close_matches(word, choices, 3, 0.5)
    return f"; did you mean {', '.join(close)}?" if close else ""


# ---------------------------------------------------------------- one project


def _family(options: argparse.Namespace, wanted: Asked, name: str, machine: Machine) -> int:
    """The table of a project, or the page of a release."""
    known = releases.family(name)
    if known is None:
        near = _near(wanted.name, list(releases.projects()))
        raise UsageError(f"nothing is known of {wanted.name!r}{near}")
    chosen, said = naming.chosen(wanted.spec, _versions(known.rows))
    platform = _platform(options)
    rows = [r for r in known.rows if platform in ("", r.platform) and r.version in chosen]
    if not rows:
        raise UsageError(_nothing(known, wanted.spec, bool(chosen), platform))
    kept = [(row, verdict) for row in rows if (verdict := fitting.fits(row, machine)).fits != "no"]
    if options.json:
        return _put(options, (known.describe(row) for row, _ in kept))
    here = [one for one in kept if one[0].platform in (_here(), "any")]
    mine = here if here and not options.platform else kept
    others = ", ".join(sorted({one[0].platform for one in kept if one not in mine}))
    notes = [f"{known.name} {said}"] if said else []
    notes += [f"also for {others}: --platform all, or the name of one"] if others else []
    if not kept:
        last = rows[-1]
        why = fitting.fits(last, machine).why
        notes.append(f"none fits; {last.version} on {last.platform}: {why}")
    shown = [known.describe(row) for row, _ in mine]
    one = len(_versions(row for row, _ in mine)) == 1
    body: tuple[Block | None, ...]
    if wanted.spec and one:
        body = tuple(block for row in shown for block in _page(row, bool(options.verbose)))
    else:
        body = _table(known.name, mine, bool(options.verbose))
        notes += [f"{len(known.rows)} rows, read from files published up to {known.header.newest}"]
    with_cuda = _with_cuda(mine[-1][0]) if one else None
    return _put(options, shown, with_cuda, *body, *map(_note, notes))


def _nothing(known: Releases, spec: str, exists: bool, platform: str) -> str:
    if not exists:
        near = _near(spec.lstrip("=<>~!"), _versions(known.rows))
        return f"{known.name} {spec} is not known{near}"
    having = {row.platform for row in known.rows if spec in ("", row.version)}
    there = ", ".join(sorted(having or {row.platform for row in known.rows}))
    return f"{known.name} is not known for {platform}; there is {there}"


def _with_cuda(row: Release) -> Paragraph | None:
    """That a release is without CUDA, and which name has its build with CUDA."""
    gpu = f"{row.name}-gpu"
    other = releases.find(gpu, row.version, row.platform) if row.cuda is None else None
    if other is None:
        return None
    built = f"CUDA {other.cuda} and cuDNN {other.cudnn}"
    text = f"{row.name} {row.version} is built without CUDA; {other.name} has it, with {built}: "
    return Paragraph((text, Code(f"gpuwhy releases {other.name} {other.version}")))


def _table(name: str, rows: Sequence[Row], every: bool) -> tuple[Block | None, ...]:
    """Newest release last, beside the prompt; of many the last of each minor release."""
    shown = list(rows)
    if len(rows) > MOST and not every:
        last = {(major_minor(one[0].version), one[0].platform): one for one in rows}
        shown = list(last.values())[-MOST:]
    head = ("version", "platform", "CUDA", "cuDNN", "Python", "GPU code")
    marks = [_MARKS[verdict.fits] for _, verdict in shown]
    unknown, left = "", ""
    if "unknown" in marks:
        unknown = "? = not known whether it fits; name a release to see what was read of it"
    if len(shown) < len(rows):
        left = f"{name}: the last of each minor release; {len(rows) - len(shown)} more with -v"
    cells = [_cells(row) for row, _ in shown]
    return table(head, cells, marks if any(marks) else ()), _note(unknown), _note(left)


def _cells(row: Release) -> tuple[str, ...]:
    marks = " yanked" * row.yanked + " gone" * row.gone
    names = [name for name in row.pythons if not name.endswith("t")]
    run = len(names) > 2 and all("." in name and name[-1] != "+" for name in names)
    pythons = f"{names[0]}–{names[-1]}" if run else " ".join(names)
    versions = (_or(row.cuda), _or(row.cudnn))
    return (f"{row.version}{marks}", row.platform, *versions, pythons, _archs(row))


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


# ---------------------------------------------------------------- one release


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
        signs = (f"{n}{s if s[:1] in '=<>~!' else f' {s}'}".rstrip() for n, s in value.items())
        return ", ".join(signs) or "none"
    return (" ".join(value) if isinstance(value, tuple) else _or(value)) or "none"


def _how(row: Described, field: str) -> Pair | None:
    read = row.evidence.get(field)
    if read is None:
        return None
    member = f"{read.member}: " if read.member else ""
    return pair(_TITLES.get(field, field), f"{member}{read.how} [{read.confidence}]")


# ---------------------------------------------------------------- several projects


def _newest(
    names: Sequence[str], spec: str, machine: Machine, platform: str
) -> list[tuple[Releases, Row]]:
    """The newest release of each project that fits."""
    found = []
    for known in filter(None, map(releases.family, names)):
        chosen, _ = naming.chosen(spec, _versions(known.rows))
        one = fitting.newest(known.only(set(chosen)), machine, platform)
        found += [(known, one)] if one else []
    return found


def _projects(options: argparse.Namespace, machine: Machine) -> int:
    """Every project; with a filter or as JSON, the newest release of each that fits."""
    names = sorted(releases.projects())
    if not (options.works_with or options.platform or options.json):
        return _index(options, names)
    found = _newest(names, "", machine, _platform(options))
    if not found:
        raise UsageError(f"nothing that fits is known for {_platform(options) or 'this machine'}")
    return _listed(options, found, f"of {len(names)} projects, the newest release that fits")


def _index(options: argparse.Namespace, names: Sequence[str]) -> int:
    """The names, frameworks first; NVIDIA's wheels and the many builds of a library by family."""
    bare = dict.fromkeys(map(_bare, names))
    own = [name for name in bare if not name.startswith("nvidia-")]
    wheels = [n.removeprefix("nvidia-").removesuffix("-cu*") for n in bare if n not in own]
    rows = pairs(
        pair("Projects", ", ".join(own)), pair("NVIDIA's", ", ".join(dict.fromkeys(wheels)))
    )
    return _put(
        options,
        (),
        rows,
        _note("gpuwhy releases NAME [VERSION]; * is a CUDA release: 12, 11x, 102"),
    )


def _bare(name: str) -> str:
    """A name without its CUDA release."""
    return re.sub(r"-cu(da)?\d+(mkl|x)?(?=$|-)", "-cu*", name)


def _listed(options: argparse.Namespace, found: Sequence[tuple[Releases, Row]], note: str) -> int:
    """One release of each project: those that fit, then those that may."""
    ordered = sorted((one for _, one in found), key=lambda one: one[1].fits != "yes")
    if not options.verbose and len(ordered) > MOST:  # programs before the wheels they bring
        last = sorted(ordered, key=lambda one: one[1].fits == "yes")
        ordered = list({_bare(one[0].name): one for one in last}.values())
        ordered.sort(key=lambda one: (one[1].fits != "yes", one[0].name.startswith("nvidia-")))
        ordered = sorted(ordered[:MOST], key=lambda one: one[0].name)
        note = f"the programs among {len(found)} projects that fit; -v shows all"
    head = ("project", "version", "platform", "CUDA", "cuDNN")
    cells = [(row.name, *_cells(row)[:4]) for row, _ in ordered]
    marks = [_MARKS[verdict.fits] for _, verdict in ordered]
    described = [family.describe(row) for family, (row, _) in found]
    shown = table(head, cells, marks if any(marks) else ())
    return _put(options, described, shown, _note(note))
