"""A saved answer of any other contract as a document, drawn from its values alone.

The report of check, explain and run has a document of its own (blocks); a plan, a proof, an
inspection, a lint, a fit or a comparison that was kept as JSON is shown as headings, pairs and
tables, whichever version wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from gpuwhy.answer.blocks import item, items, pair, pairs, table
from gpuwhy.answer.text import counted
from gpuwhy.answer.tree import Block, Code, Command, Document, Fold, Heading, Mark, Part

NEEDED = {
    "gpuwhy.plan/1": ("proposal", "conflict"),
    "gpuwhy.inspect/1": ("path",),
    "gpuwhy.lint/1": ("files",),
    "gpuwhy.fleet/1": ("groups",),
    "gpuwhy.proof/1": ("status",),
    "gpuwhy.fit/1": ("shares",),
    "gpuwhy.ranks/1": ("ranks",),
    "gpuwhy.fix/1": (),
}
"""The contracts that are drawn so, and what an answer of each cannot be without."""
_MARKS: dict[str, Mark] = {
    **dict.fromkeys(("healthy", "proven", "not_failing", "fits", "ok", "fixed"), "ok"),
    **dict.fromkeys(("broken", "does_not_fit", "failed", "error"), "bad"),
    **dict.fromkeys(("degraded", "flaky", "warning"), "warn"),
    **dict.fromkeys(("open", "unknown", "undecided"), "unknown"),
}
_HIDDEN = ("schema", "gpuwhy", "headline", "took")
_WIDEST, _DEEPEST, _OPEN, _MOST = 5, 4, 12, 500
"""Columns of a table; levels of values in values; rows that are shown unfolded, and at all."""


def document(values: Mapping[str, Any], name: str = "") -> Document:
    """The answer with everything that it says."""
    kind = str(values["schema"]).removeprefix("gpuwhy.").partition("/")[0]
    title = _title(values) or f"{kind} {name}".strip()
    status = str(values.get("status") or values.get("verdict") or "")
    failed = values.get("conflict") or values.get("missing")
    shown = {key: one for key, one in values.items() if key not in _HIDDEN}
    return Document(
        (Heading((title,), "bad" if failed else _MARKS.get(status, "")), *_object(shown, 0)),
        title=title,
        made_by=f"gpuwhy {kind} {values.get('gpuwhy') or ''}".strip(),
        about=name,
    )


def _title(values: Mapping[str, Any]) -> str:
    """The sentence of the answer itself, the packages of a plan, how many mistakes of each kind."""
    inner = {key: one for key, one in values.items() if isinstance(one, dict)}
    choices = inner.get("proposal", {}).get("choices")
    rows = [one for one in choices if isinstance(one, dict)] if isinstance(choices, list) else []
    counts = inner.get("counts", {}).items()
    texts = (
        values.get("headline"),
        inner.get("conflict", {}).get("text"),
        ", ".join(f"{one.get('package')} {one.get('version')}" for one in rows),
        ", ".join(counted(many, one) for one, many in counts if isinstance(many, int) and many),
        values.get("path"),
    )
    return next((one for one in texts if isinstance(one, str) and one), "")


def _object(values: Mapping[str, Any], depth: int) -> Iterator[Block]:
    """What is short first, as pairs; then every list and object under its name."""
    short = {name: one for name, one in values.items() if _is_short(one)}
    if short:
        yield pairs(*(pair(_words(name), *_part(name, one)) for name, one in short.items()))
    for name, one in values.items():
        if name in short or one in _EMPTY:
            continue
        if depth >= _DEEPEST:
            yield items([item(_flat(one))])
            continue
        body = tuple(
            _list(one[:_MOST], depth) if isinstance(one, list) else _object(one, depth + 1)
        )
        if depth > 1 or (isinstance(one, list) and len(one) > _OPEN):
            yield Fold(_words(name), body)
        elif body:
            yield from (Heading((_words(name),), level=depth + 2), *body)


def _list(rows: Sequence[Any], depth: int) -> Iterator[Block]:
    """Rows of short values as a table; others each under its first text."""
    objects = [one for one in rows if isinstance(one, dict)]
    names = list(dict.fromkeys(name for row in objects for name in row if row[name] not in _EMPTY))
    cells = [row.get(name) for row in objects for name in names]
    if len(objects) != len(rows) or depth >= _DEEPEST:
        yield items(item(_flat(one)) for one in rows)
    elif len(names) <= _WIDEST and all(map(_is_cell, cells)):
        head = tuple(map(_words, names))
        yield table(head, [[_flat(row.get(name)) for name in names] for row in objects])
    else:
        for row in objects:
            texts = ((name, one) for name, one in row.items() if isinstance(one, str) and one)
            first, title = next(texts, ("", "…"))
            mark = _MARKS.get(str(row.get("severity", "")), "")
            yield Heading((title,), mark, level=3)
            yield from _object({key: one for key, one in row.items() if key != first}, depth + 1)


_EMPTY: tuple[Any, ...] = ("", None, [], {})


def _is_short(value: Any) -> bool:
    """Whether it is one value, or a few."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    most = 2 if isinstance(value, dict) else _OPEN
    return value not in _EMPTY and len(inner) <= most and not any(map(_holds_more, inner))


def _is_cell(value: Any) -> bool:
    if isinstance(value, list):
        return len(value) <= 3 and not any(map(_holds_more, value))
    return not isinstance(value, dict) and "\n" not in str(value)


def _holds_more(value: Any) -> bool:
    return isinstance(value, (dict, list))


def _part(name: str, value: Any) -> tuple[Part | str, ...]:
    if isinstance(value, str) and (name in ("command", "ways") or "\n" in value):
        return (Command(value),)
    if name in ("id", "rule", "path", "file") and isinstance(value, str):
        return ((Code(value),),)
    return (_flat(value),)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _flat(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        shown = ((name, one) for name, one in value.items() if one not in _EMPTY)
        return " · ".join(f"{_words(name)} {_flat(one)}" for name, one in shown)
    if isinstance(value, list):
        return ", ".join(map(_flat, value))
    return f"{value:g}" if isinstance(value, float) else "" if value is None else str(value)
