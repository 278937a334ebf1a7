"""A saved answer of any other contract as a document, drawn from its values alone.

The report of check, explain and run has a document of its own (blocks); a plan, a proof, an
inspection, a lint, a fit or a comparison that was kept as JSON is shown as headings, pairs and
tables, whichever version wrote it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from gpuwhy.answer import blocks, contract
from gpuwhy.answer.answer import SCHEMA
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
_COMMANDS = ("command", "ways")
_HIDDEN = ("schema", "gpuwhy", "headline", "took")
_WIDEST, _DEEPEST, _OPEN, _MOST = 5, 4, 12, 500
"""Columns of a table; levels of values in values; rows that are shown unfolded, and at all."""


def document(values: Mapping[str, Any], name: str = "") -> Document:
    """The answer with everything that it says."""
    kind = str(values["schema"]).removeprefix("gpuwhy.").partition("/")[0]
    title = _title(values) or f"{kind} {name}".strip()
    version = str(values.get("gpuwhy") or "")
    return Document(
        (Heading((title,), _mark(values)), *_object(values, 0)),
        title=title,
        made_by=f"gpuwhy {kind} {version}".strip(),
        about=name,
    )


def _title(values: Mapping[str, Any]) -> str:
    """The sentence that the answer gives for itself."""
    conflict = values.get("conflict")
    sentences = (values.get("headline"), conflict.get("text") if isinstance(conflict, dict) else "")
    texts = (*sentences, _chosen(values), _counted(values), values.get("path"))
    return next((one for one in texts if isinstance(one, str) and one), "")


def _chosen(plan: Mapping[str, Any]) -> str:
    """The packages of a plan."""
    proposal = plan.get("proposal")
    choices = proposal.get("choices") if isinstance(proposal, dict) else None
    rows = [one for one in choices if isinstance(one, dict)] if isinstance(choices, list) else []
    return ", ".join(f"{one.get('package')} {one.get('version')}" for one in rows)


def _counted(lint: Mapping[str, Any]) -> str:
    """How many mistakes of each kind."""
    counts = lint.get("counts")
    rows = counts.items() if isinstance(counts, dict) else ()
    return ", ".join(counted(many, name) for name, many in rows if isinstance(many, int) and many)


def _mark(values: Mapping[str, Any]) -> Mark:
    if values.get("conflict") or values.get("missing"):
        return "bad"
    return _MARKS.get(str(values.get("status") or values.get("verdict") or ""), "")


def _object(values: Mapping[str, Any], depth: int) -> Iterator[Block]:
    """What is short first, as pairs; then every list and object under its name."""
    own = {name: one for name, one in values.items() if name not in _HIDDEN or depth}
    short = {name: one for name, one in own.items() if _is_short(one)}
    if short:
        yield pairs(*(pair(_words(name), *_parts(name, one)) for name, one in short.items()))
    for name, one in own.items():
        if name in short or _is_empty(one):
            continue
        if isinstance(one, dict) and one.get("schema") == SCHEMA:
            yield from _report(one)
        elif depth > 1 or (isinstance(one, list) and len(one) > _OPEN):
            yield Fold(_words(name), tuple(_value(one, depth + 1)))
        else:
            yield Heading((_words(name),), level=depth + 2)
            yield from _value(one, depth + 1)


def _report(values: dict[str, Any]) -> Iterator[Block]:
    """A report inside another answer, in its own words."""
    with suppress(contract.UnreadableError):
        yield from blocks.document(contract.read(contract.as_json(values))).blocks


def _value(value: Any, depth: int) -> Iterator[Block]:
    if depth > _DEEPEST:
        yield items([item(_flat(value))])
    elif isinstance(value, dict):
        yield from _object(value, depth)
    elif isinstance(value, list):
        yield from _list(value[:_MOST], depth)
    else:
        yield pairs(pair("", _flat(value)))


def _list(rows: Sequence[Any], depth: int) -> Iterator[Block]:
    """Rows of short values as a table; others each under its first text."""
    objects = [one for one in rows if isinstance(one, dict)]
    if len(objects) != len(rows):
        yield items(item(_flat(one)) for one in rows)
        return
    names = list(dict.fromkeys(name for row in objects for name in row if row[name] not in _EMPTY))
    if not names:
        return
    if len(names) <= _WIDEST and all(_is_cell(row.get(name)) for row in objects for name in names):
        head = tuple(map(_words, names))
        yield table(head, [[_flat(row.get(name)) for name in names] for row in objects])
        return
    for row in objects:
        texts = ((name, one) for name, one in row.items() if isinstance(one, str) and one)
        first, title = next(texts, ("", "…"))
        rest = {name: one for name, one in row.items() if name != first}
        yield Heading((title,), _MARKS.get(str(row.get("severity", "")), ""), level=3)
        yield from _object(rest, depth + 1)


_EMPTY: tuple[Any, ...] = ("", None, [], {})


def _is_empty(value: Any) -> bool:
    return value in _EMPTY or (isinstance(value, dict) and all(map(_is_empty, value.values())))


def _is_short(value: Any) -> bool:
    """Whether it is one value, or a list of a few."""
    if _is_empty(value):
        return False
    if isinstance(value, list):
        return len(value) <= _OPEN and not any(isinstance(one, (dict, list)) for one in value)
    return not isinstance(value, dict) or (all(map(_is_cell, value.values())) and len(value) < 3)


def _is_cell(value: Any) -> bool:
    if isinstance(value, list):
        return len(value) <= 3 and not any(isinstance(one, (dict, list)) for one in value)
    return not isinstance(value, dict) and "\n" not in str(value)


def _parts(name: str, value: Any) -> tuple[Part | str, ...]:
    if isinstance(value, str) and (name in _COMMANDS or "\n" in value):
        return (Command(value),)
    if name in ("id", "rule", "path", "file") and isinstance(value, str):
        return ((Code(value),),)
    return (_flat(value),)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _flat(value: Any) -> str:
    """A value on one line."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, dict):
        return " · ".join(
            f"{_words(name)} {_flat(one)}" for name, one in value.items() if one not in _EMPTY
        )
    return ", ".join(map(_flat, value)) if isinstance(value, (list, tuple)) else str(value)
