"""Releases for a person and as JSON (`gpuwhy.releases/1`): a table for a project, the whole row for one release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from gpuwhy.border.shared import as_json as shared_json
from gpuwhy.model.release import FIELDS, Described, Release, Verdict
from gpuwhy.render.terminal import Paper

SCHEMA = "gpuwhy.releases/1"
LONG = 20
"""Rows of a table that has its head below too, where the eye is."""


def as_json(rows: Iterable[Described]) -> str:
    """The contract's shape; fields that nobody could read are named in `unknown` (and null; `cuda` is left out)."""
    releases = [_dict(row) for row in rows]
    return shared_json({"schema": SCHEMA, "releases": releases})


def _dict(row: Described) -> dict[str, Any]:
    out: dict[str, Any] = {k: v for k, v in msgspec.to_builtins(row.release).items() if k not in ("evidence", "deep")}
    out.setdefault("requires", {})
    for field in ("cudnn", "sass", "ptx", "opens"):
        out.setdefault(field, None)
    out["evidence"] = msgspec.to_builtins(row.evidence)
    if row.unknown:
        out["unknown"] = row.unknown
    return out


def table(name: str, rows: Sequence[tuple[Release, Verdict]], newest: str, paper: Paper) -> str:
    """Newest release last, beside the prompt; the columns that matter, the date where there is room."""
    head = ("version", "platform", "CUDA", "cuDNN", "Python", "GPU code")
    lines = [head, *(_cells(release, verdict) for release, verdict in rows)]
    dated = [(*line[:-1], date, line[-1]) for line, date in zip(lines, _dates(rows), strict=True)]
    grid = list(_grid(dated if _width(dated) <= paper.width else lines, paper))
    text = [*grid, *(grid[:1] if len(rows) > LONG else ()), *_uncertain(rows, paper)]
    text += paper.wrap(f"{name}: {len(rows)} rows, read from files published up to {newest}", "", "")
    return "\n".join(text) + "\n"


def projects(rows: Sequence[tuple[Release, Verdict]], known: int, paper: Paper) -> str:
    """One release of each project: those that fit, then those that may."""
    ordered = sorted(rows, key=lambda one: one[1].fits != "yes")
    cells = [(release.name, *_cells(release, verdict)[:4]) for release, verdict in ordered]
    text = [*_grid([("project", "version", "platform", "CUDA", "cuDNN"), *cells], paper), *_uncertain(rows, paper)]
    text += paper.wrap(
        f"the newest fitting release of {len(rows)} projects; nothing fits of {known - len(rows)}", "", ""
    )
    return "\n".join(text) + "\n"


def _dates(rows: Sequence[tuple[Release, Verdict]]) -> list[str]:
    return ["published", *(release.uploaded for release, _ in rows)]


def _uncertain(rows: Sequence[tuple[Release, Verdict]], paper: Paper) -> list[str]:
    count = sum(verdict.fits == "unknown" for _, verdict in rows)
    text = f"? = not known whether it fits ({count} rows; name a release to see what was read of it)"
    return paper.wrap(text, "", "    ") if count else []


def _widths(lines: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*lines, strict=True)]


def _width(lines: Sequence[Sequence[str]]) -> int:
    return sum(_widths(lines)) + 2 * (len(lines[0]) - 1)


def _grid(lines: Sequence[Sequence[str]], paper: Paper) -> Iterator[str]:
    """The head and the rows; the last column is folded where the line is full."""
    *widths, _ = _widths(lines)
    indent = " " * (sum(widths) + 2 * len(widths))
    for *cells, last in lines:
        before = "".join(f"{cell:<{width}}  " for cell, width in zip(cells, widths, strict=True))
        first, *rest = [indent + last] if lines[0][-1] == last else paper.wrap(last, indent, indent)
        line = before + first[len(indent) :]
        yield paper.tint("1", line) if lines[0][-1] == last else line
        yield from rest


def _cells(release: Release, verdict: Verdict) -> tuple[str, ...]:
    marks = (" ?" if verdict.fits == "unknown" else "") + " yanked" * release.yanked + " gone" * release.gone
    return (
        release.version + marks,
        release.platform,
        _or(release.cuda),
        _or(release.cudnn),
        _pythons(release.pythons),
        _archs(release),
    )


def _or(value: Any) -> str:
    return "?" if value is UNSET else "–" if value is None else str(value)


def _archs(release: Release) -> str:
    if not isinstance(release.sass, tuple):
        return "?"
    sass = [name.removeprefix("sm_") for name in release.sass]
    ptx = [name.removeprefix("compute_") for name in release.ptx] if isinstance(release.ptx, tuple) else []
    only = "+PTX" if sass and ptx == sass else "".join(f" +{name}" for name in ptx) and f" +PTX {' '.join(ptx)}"
    return (" ".join(sass) + only).strip() or "–"


def _pythons(names: tuple[str, ...]) -> str:
    """3.9–3.12 for a run of minor versions."""
    plain = [n for n in names if not n.endswith("t")]
    free = " t" if len(plain) < len(names) else ""
    if len(plain) > 2 and all("." in n and n[-1] != "+" for n in plain):
        return f"{plain[0]}–{plain[-1]}{free}"
    return " ".join(plain) + free


def page(rows: Iterable[Described], paper: Paper) -> str:
    """One release: every value with the file, the member and the way it was read."""
    out: list[str] = []
    for row in rows:
        out += [*_page(row, paper), ""]
    return "\n".join(out).rstrip() + "\n"


def _page(row: Described, paper: Paper) -> Iterator[str]:
    release = row.release
    yield paper.tint("1", f"{release.name} {release.version} · {release.platform}")
    marks = ", yanked" * release.yanked + ", no longer on the index" * release.gone
    yield f"  published  {release.uploaded or '?'}{marks}"
    if release.pythons:
        yield from paper.wrap(" ".join(release.pythons), "  Python     ", "             ")
    if release.systems:
        yield from paper.wrap(" ".join(release.systems), "  system     ", "             ")
    for field in FIELDS:
        value = getattr(release, field)
        if value is not UNSET:
            yield from _value(field, value, row, paper)
    if row.unknown:
        yield f"  not known  {', '.join(row.unknown)}"
    yield f"  file       {release.file}"
    yield f"             sha256 {release.sha256}"


_TITLES = {
    "cuda": "CUDA",
    "cudnn": "cuDNN",
    "sass": "GPU code",
    "ptx": "PTX",
    "pairs": "goes with",
    "also": "built with",
}


def _value(field: str, value: Any, row: Described, paper: Paper) -> Iterator[str]:
    if isinstance(value, dict):
        text = ", ".join(
            f"{name}{spec if spec[:1] in '=<>~!' else ' ' + spec}".rstrip() for name, spec in value.items()
        )
    else:
        text = " ".join(value) if isinstance(value, tuple) else _or(value)
    yield from paper.wrap(text or "none", f"  {_TITLES.get(field, field):<10} ", "             ")
    told = row.evidence.get(field)
    if told:
        member = f"{told.member}: " if told.member else ""
        yield from paper.wrap(f"{member}{told.how} [{told.confidence}]", "               ", "               ")
